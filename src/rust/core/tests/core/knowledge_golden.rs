//! Compares with tpc 1.0's recorded answers on tiers, on 1, 2 and 4 threads, one test at a time, and by other processes.

use crate::support::golden::{cases_in, number, set, tiers, Case};
use crate::support::ranks::{with_ranks, Manner};
use pcgpu_core::background::Background;
use pcgpu_core::ci::discrete::{Discrete, Rule, Statistic};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::ci::CiTest;
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel, GaussKernel, Kernel};
use pcgpu_core::graph::Adjacency;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::orient::{add_arrows, orient, Addition, ColliderRule, Options as Orientation, Pdag};
use pcgpu_core::search::worker::WorkerTest;
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Method, Options};
use serde_json::Value;

fn vertices(value: &Value) -> Vec<u32> {
    if value.is_null() {
        Vec::new()
    } else {
        set(value)
    }
}

fn arrows(value: &Value) -> Vec<[u32; 2]> {
    let all = value.as_array().map_or(&[][..], |all| all);
    all.iter().map(|arrow| [0, 1].map(|end| number(&arrow[end]) as u32 - 1)).collect()
}

/// Returns the background knowledge of a call of `tpc()`.
fn background(call: &Value) -> Background {
    Background {
        tiers: tiers(call),
        context_all: vertices(&call["context_all"]),
        context_tier: vertices(&call["context_tier"]),
        forbidden: arrows(&call["forbEdges"]),
        required: Vec::new(),
    }
}

/// Returns the entries of the matrix, numbered from 1.
fn entries(pdag: &Pdag) -> Vec<[usize; 3]> {
    let of = |i: usize| pdag.edges_from(i).map(move |(j, mark)| [i + 1, j as usize + 1, usize::from(mark)]);
    (0..pdag.p()).flat_map(of).collect()
}

/// Compares the graphs of a case. Returns how many calls were compared, and how many left out.
fn compare_oriented<K: Kernel>(case: &Case, kernel: impl Fn() -> K, test: &mut dyn CiTest) -> [usize; 2] {
    let (mut compared, mut left_out) = (0, 0);
    for call in case.json["tpc"].as_array().unwrap().iter().filter(|call| call["error"].is_null()) {
        let background = background(call);
        let mut options: Options = case.options_of(call, Method::Stable);
        background.enter(&mut options);
        let knowledge = background.knowledge(case.p());
        // tpc tests an edge even if neither of its arrows is possible, and deletes it at the end.
        let is_given = |[x, y]: [u32; 2]| background.forbidden.contains(&[y, x]);
        let bars = |[x, y]: [u32; 2]| knowledge.bars(y as usize, x as usize);
        if background.forbidden.iter().any(|&arrow| !is_given(arrow) && bars(arrow)) {
            left_out += 1;
            continue;
        }
        let rule = if call["maj_rule"] == true { ColliderRule::Majority } else { ColliderRule::Conservative };
        let how = Orientation { collider_rule: rule, solve_conflicts: true, knowledge, ..Orientation::default() };
        let mut p_max = vec![0.0; case.p() * case.p()];
        let wanted: Vec<[usize; 3]> = call["amat"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| [0, 1, 2].map(|at| number(&entry[at]) as usize))
            .collect();
        let mut engine = CpuEngine::with_shards(kernel(), 2, 64);
        let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
        let label = format!("{} tpc {}", case.name, call["note"]);
        case.check(&label, call, &found, &p_max);
        let mut never = |_| panic!("nothing to draw");
        let mut by = |test: &mut dyn CiTest| {
            let mut sets = found.sepsets.clone();
            let pdag = orient(&found.graph, &mut sets, &how, options.alpha, Some(test), &mut never).unwrap();
            assert_eq!(entries(&pdag), wanted, "{label} {call:?}");
        };
        by(&mut WorkerTest { worker: &mut engine, observer: &mut Unobserved });
        by(test);
        compared += 1;
    }
    [compared, left_out]
}

/// Compares the skeletons of a case. Returns the number of its calls.
fn compare<K: Kernel>(case: &Case, kernel: impl Fn() -> K + Sync, test: &mut dyn CiTest) -> usize {
    let calls = case.json["tskeleton"].as_array().unwrap();
    for call in calls {
        let method = match call["method"].as_str().unwrap() {
            "stable" => Method::Stable,
            "original" => Method::Original,
            other => panic!("{other}"),
        };
        let options = case.options_of(call, method);
        let mut p_max = vec![0.0; case.p() * case.p()];
        for (threads, shard_tests) in [(1, 1 << 16), (2, 5), (4, 1)] {
            let mut engine = CpuEngine::with_shards(kernel(), threads, shard_tests);
            let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
            case.check(&format!("{method:?} on {threads} threads"), call, &found, &p_max);
        }
        let found = skeleton_one_by_one(test, &options, &mut p_max, &mut Unobserved).unwrap();
        case.check(&format!("{method:?} one at a time"), call, &found, &p_max);
        let found = with_ranks(
            &[Manner::Sound; 2],
            |run| run(&mut CpuEngine::with_shards(kernel(), 1, 7)),
            |cluster| skeleton(cluster, &options, &mut p_max, &mut Unobserved).unwrap(),
        );
        case.check(&format!("{method:?} by two processes"), call, &found, &p_max);
    }
    calls.len()
}

#[test]
fn tiers_of_the_gaussian_test() {
    let (mut compared, mut oriented, mut left_out) = (0, 0, 0);
    for case in cases_in("knowledge", "tier-").iter().filter(|case| case.json["kind"] == "gauss") {
        let c = case.correlations();
        let gauss = Gauss::new(by_column(&c, case.p()).unwrap(), case.n(), Reading::GaussCItest).unwrap();
        let alpha = case.options(Method::Stable).alpha;
        compared += compare(case, || GaussKernel::new(gauss, alpha), &mut gauss.clone());
        let [some, others] = compare_oriented(case, || GaussKernel::new(gauss, alpha), &mut gauss.clone());
        (oriented, left_out) = (oriented + some, left_out + others);
    }
    assert!(compared == 105 && oriented == 287 && left_out == 50, "{compared} {oriented} {left_out}");
}

#[test]
fn tiers_of_discrete_tests() {
    let (mut compared, mut oriented) = (0, 0);
    for case in cases_in("knowledge", "tier-").iter().filter(|case| case.json["kind"] == "dis") {
        let data = case.coded();
        let adapt = case.json["adaptDF"].as_bool().unwrap();
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt });
        compared += compare(case, || DiscreteKernel::new(test), &mut test.clone());
        oriented += compare_oriented(case, || DiscreteKernel::new(test), &mut test.clone())[0];
    }
    assert!(compared >= 20 && oriented >= 40, "{compared} {oriented}");
}

/// Compares with pcalg's `addBgKnowledge()`, whose matrices have a mark at [i, j] alone for i <- j.
#[test]
fn arrows_added_afterwards() {
    let cases: Vec<Case> = ["bgk-", "manual-"].into_iter().flat_map(|prefix| cases_in("knowledge", prefix)).collect();
    let mut compared = 0;
    for case in &cases {
        let runs = case.json["runs"].as_array().map_or(&[][..], |runs| runs);
        let of_runs = runs.iter().flat_map(|run| run["bg"].as_array().unwrap());
        let queries = case.json["queries"].as_array().map_or(&[][..], |queries| queries);
        for query in queries.iter().chain(of_runs) {
            let mut skeleton = Adjacency::empty(case.p());
            let entries_of = |matrix: &Value| -> Vec<[u32; 2]> { arrows(matrix) };
            let given = entries_of(&query["amat_in"]);
            given.iter().for_each(|&[i, j]| skeleton.insert(i as usize, j as usize));
            let one_way = given.iter().filter(|&&[i, j]| !given.contains(&[j, i]));
            let directed: Vec<[u32; 2]> = one_way.map(|&[i, j]| [j, i]).collect();
            let check = query["checkInput"] == true;
            let found = add_arrows(&skeleton, &directed, &arrows(&query["arcs"]), check, None).unwrap();
            let label = format!("{} {query}", case.name);
            match (&found, query["reason"].as_str()) {
                (Addition::Graph(pdag), None) => {
                    let mut found: Vec<[u32; 2]> =
                        entries(pdag).iter().map(|&[i, j, _]| [j as u32 - 1, i as u32 - 1]).collect();
                    found.sort_unstable();
                    assert_eq!(found, entries_of(&query["amat"]), "{label}");
                }
                (Addition::Invalid | Addition::NotMaximal(_), Some("invalid_pdag"))
                | (Addition::NotMaximal(_), Some("not_maximal"))
                | (Addition::NoEdge(_), Some("no_edge"))
                | (Addition::Reversed(_), Some("reversed")) => {}
                other => panic!("{label}: {other:?}"),
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 333);
}
