//! Compares every field of the recorded answers of pcalg's and bnlearn's discrete tests: in every way of counting, on 1, 2 and 4 threads, and
//! one test at a time.

use crate::support::golden::{cases, number, set};
use pcgpu_core::ci::discrete::{Counter, Discrete, Margins, Rule, Statistic, Way};
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel};
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Options};

const WAYS: [Way; 4] = [Way::Quickest, Way::Planes, Way::Codes, Way::Cells];

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * b.abs().max(1e-290)
}

#[test]
fn pcalg_skeletons() {
    let mut compared = 0;
    for case in cases("dis-").iter().chain(&cases("bin-")) {
        let data = case.coded();
        let adapt = case.json["adaptDF"].as_bool().unwrap();
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt });
        for (method, answer) in case.answers() {
            let options = case.options(method);
            let mut p_max = vec![0.0; case.p() * case.p()];
            for way in WAYS {
                for (threads, shard_tests) in [(1, 1 << 16), (2, 64), (4, 1)] {
                    let kernel = DiscreteKernel::counting(test, way);
                    let mut engine = CpuEngine::with_shards(kernel, threads, shard_tests);
                    let skeleton = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
                    case.check(&format!("{method:?} by {way:?}, {threads} threads"), answer, &skeleton, &p_max);
                    compared += 1;
                }
            }
            let skeleton = skeleton_one_by_one(&mut test.clone(), &options, &mut p_max, &mut Unobserved).unwrap();
            case.check(&format!("{method:?} one at a time"), answer, &skeleton, &p_max);
        }
    }
    assert_eq!(compared, 21 * 12);
}

#[test]
fn pcalg_single_tests() {
    let mut compared = 0;
    for case in cases("dis-").iter().chain(&cases("bin-")) {
        let data = case.coded();
        let adapt = case.json["adaptDF"].as_bool().unwrap();
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt });
        for single in case.json["single_tests"].as_array().unwrap() {
            let (x, y) = (number(&single["x"]) as usize - 1, number(&single["y"]) as usize - 1);
            let (s, want) = (set(&single["S"]), number(&single["p"]));
            let p = test.p_value_of(x, y, &s);
            assert!(close(p, want, 1e-10), "{}: p({x}, {y} | {s:?}) = {p:e}, recorded {want:e}", case.name);
            compared += 1;
        }
    }
    assert_eq!(compared, 11 * 60);
}

/// Compares statistic, df and p of `x2`, `mi` and their adjusted forms. The recorded `mi` is G².
#[test]
fn bnlearn_single_tests() {
    let mut compared = 0;
    for case in cases("bnlearn-") {
        let data = case.coded();
        let mut counters = WAYS.map(Counter::new);
        let mut margins = Margins::default();
        for single in case.json["single_tests"].as_array().unwrap() {
            let (x, y) = (number(&single["x"]) as usize - 1, number(&single["y"]) as usize - 1);
            let s = set(&single["S"]);
            for (name, statistic, adapt) in [
                ("x2", Statistic::X2, false),
                ("x2-adf", Statistic::X2, true),
                ("mi", Statistic::G2, false),
                ("mi-adf", Statistic::G2, true),
            ] {
                let want = &single[name];
                let test = Discrete::new(&data, statistic, Rule::Bnlearn { adapt });
                for (way, counter) in WAYS.iter().zip(&mut counters) {
                    let found = test.test_with(x, y, &s, counter, &mut margins);
                    let label =
                        format!("{} {name} of {x}, {y} | {s:?} by {way:?}: {found:?}, recorded {want}", case.name);
                    // A statistic that is 0 except for rounding has no exact digits.
                    let (g, stat) = (found.statistic, number(&want["statistic"]));
                    assert!(close(g, stat, 1e-12) || (g - stat).abs() < 1e-11, "{label}");
                    assert_eq!(found.df, number(&want["df"]), "{label}");
                    assert!(close(found.p, number(&want["p"]), 1e-9), "{label}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 12 * 60 * 16, "{compared}");
}

/// Compares edges, separating sets and their p-values.
#[test]
fn bnlearn_skeletons() {
    let mut compared = 0;
    for case in cases("bnlearn-") {
        let (data, p) = (case.coded(), case.p());
        for recorded in case.json["skeleton"].as_array().unwrap() {
            let statistic = match recorded["test"].as_str().unwrap() {
                "x2" => Statistic::X2,
                "mi" => Statistic::G2,
                other => panic!("{other}"),
            };
            let test = Discrete::new(&data, statistic, Rule::Bnlearn { adapt: false });
            let options = Options::new(p, number(&recorded["alpha"]));
            let pairs = |list: &serde_json::Value| -> Vec<(usize, usize)> {
                let pair = |e: &serde_json::Value| (number(&e[0]) as usize - 1, number(&e[1]) as usize - 1);
                list.as_array().unwrap().iter().map(pair).collect()
            };
            for threads in [1, 2, 4] {
                let mut p_max = vec![0.0; p * p];
                let mut engine = CpuEngine::with_shards(DiscreteKernel::new(test), threads, 64);
                let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
                let label = format!("{} {} at {}", case.name, recorded["test"], options.alpha);
                let edges: Vec<(usize, usize)> = (0..p)
                    .flat_map(|x| found.graph.neighbours(x).map(move |y| (x, y as usize)))
                    .filter(|(x, y)| x < y)
                    .collect();
                assert_eq!(edges, pairs(&recorded["edges"]), "{label}");
                for entry in recorded["sepset"].as_array().unwrap() {
                    let (x, y) = (number(&entry["x"]) as usize - 1, number(&entry["y"]) as usize - 1);
                    let ours = found.sepsets.get(x, y).or(found.sepsets.get(y, x));
                    assert_eq!(ours, Some(&set(&entry["S"])[..]), "{label}: {x}, {y}");
                    let largest = p_max[y.max(x) * p + y.min(x)];
                    assert!(close(largest, number(&entry["p"]), 1e-9), "{label}: {x}, {y}: {largest:e}");
                }
                compared += 1;
            }
        }
    }
    assert!(compared >= 12 * 6, "{compared}");
}
