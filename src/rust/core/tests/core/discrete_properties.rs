//! Compares the counting engine and the searches on it with a plain reference, on random discrete problems: uneven numbers of levels, levels
//! that do not occur, constant columns, few samples, sparse strata, sets of up to six, missing values.

use std::collections::BTreeMap;

use crate::support::discrete::{problem, Problem, RULES};
use crate::support::problems::Random;
use crate::support::reference;
use pcgpu_core::ci::discrete::{Coded, Counter, Discrete, Margins, Rule, Statistic, Way};
use pcgpu_core::ci::CiTest;
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Method, Options, Skeleton};

const WAYS: [Way; 4] = [Way::Quickest, Way::Planes, Way::Codes, Way::Cells];
/// Returns statistic, df and p by the definitions, from a map of cells.
fn by_definition(
    problem: &Problem,
    statistic: Statistic,
    rule: Rule,
    x: usize,
    y: usize,
    s: &[u32],
) -> (f64, f64, f64) {
    let mut strata: BTreeMap<Vec<i32>, BTreeMap<(i32, i32), f64>> = BTreeMap::new();
    let at = |v: usize, i: usize| problem.codes[v * problem.n + i];
    let mut n = 0.0;
    for i in 0..problem.n {
        let stratum: Vec<i32> = s.iter().map(|&v| at(v as usize, i)).collect();
        if at(x, i) >= 0 && at(y, i) >= 0 && stratum.iter().all(|&c| c >= 0) {
            *strata.entry(stratum).or_default().entry((at(x, i), at(y, i))).or_default() += 1.0;
            n += 1.0;
        }
    }
    let (lx, ly) = (f64::from(problem.levels[x]), f64::from(problem.levels[y]));
    let domain: f64 = s.iter().map(|&v| f64::from(problem.levels[v as usize])).product();
    let (mut value, mut occupied, mut adjusted) = (0.0, 0.0, 0.0);
    for cells in strata.values() {
        let (mut of_x, mut of_y) = (BTreeMap::new(), BTreeMap::new());
        for (&(a, b), &count) in cells {
            *of_x.entry(a).or_insert(0.0) += count;
            *of_y.entry(b).or_insert(0.0) += count;
        }
        let total: f64 = of_x.values().sum();
        adjusted += (of_x.len() as f64 - 1.0) * (of_y.len() as f64 - 1.0);
        occupied += cells.len() as f64;
        for (a, nx) in &of_x {
            for (b, ny) in &of_y {
                let (count, expected) = (cells.get(&(*a, *b)).copied().unwrap_or(0.0), nx * ny / total);
                value += match statistic {
                    Statistic::X2 => (count - expected) * (count - expected) / expected,
                    Statistic::G2 if count > 0.0 => 2.0 * count * (count / expected).ln(),
                    Statistic::G2 => 0.0,
                };
            }
        }
    }
    let full = (lx - 1.0) * (ly - 1.0) * domain;
    let (df, too_few) = match rule {
        Rule::Pcalg { adapt } => {
            let less = lx * ly * domain - occupied + 4.0 * (2f64.powi(s.len() as i32) - domain);
            (if adapt && !s.is_empty() { (full - less).max(1.0) } else { full }, n < 10.0 * full)
        }
        Rule::Bnlearn { adapt: false } => (full, false),
        Rule::Bnlearn { adapt: true } => (adjusted, n < 5.0 * lx * ly * domain),
    };
    let value = if too_few { 0.0 } else { value };
    (value, df, pcgpu_core::ci::chi_squared::upper_tail(value, df))
}

#[test]
fn every_way_of_counting_gives_the_definition() {
    let (mut tested, mut below_one, mut deep) = (0, 0, 0);
    for number in 0..60 {
        let mut random = Random(number * 77 + 5);
        let n = [1, 2, 64, 65, 300, 2000, 10_000, 40_000][random.below(8)];
        let missing = if random.uniform() < 0.4 { 0.05 } else { 0.0 };
        let p = 9;
        let problem = problem(&mut random, p, n, missing);
        let data = problem.coded();
        let mut counters = WAYS.map(Counter::new);
        let mut margins = Margins::default();
        for _ in 0..12 {
            let mut order: Vec<u32> = (0..p as u32).collect();
            for i in (1..p).rev() {
                order.swap(i, random.below(i + 1));
            }
            let s = &order[2..2 + random.below(7)];
            let (x, y) = (order[0] as usize, order[1] as usize);
            for statistic in [Statistic::G2, Statistic::X2] {
                for rule in RULES {
                    let (value, df, p) = by_definition(&problem, statistic, rule, x, y, s);
                    let test = Discrete::new(&data, statistic, rule);
                    for (way, counter) in WAYS.iter().zip(&mut counters) {
                        let found = test.test_with(x, y, s, counter, &mut margins);
                        let label = format!("problem {number}, {statistic:?} {rule:?} {x}, {y} | {s:?} by {way:?}");
                        assert!((found.statistic - value).abs() <= 1e-10 * value + 1e-9, "{label}: {found:?}, {value}");
                        assert_eq!(found.df, df, "{label}");
                        // With df 0, p would show any rounding, because the definition above keeps such strata.
                        if df > 0.0 {
                            assert!((found.p - p).abs() <= 1e-8 * p + 1e-290, "{label}: {found:?}, {p:e}");
                        }
                        tested += 1;
                    }
                    below_one += usize::from(p < 1.0);
                    deep += usize::from(s.len() >= 5 && p < 1.0);
                }
            }
        }
    }
    assert!(tested > 20_000 && below_one > 1200 && deep > 100, "{tested} tests, {below_one} with p < 1, {deep} deep");
}

#[test]
fn the_ways_of_counting_agree_to_the_last_bit() {
    let mut random = Random(12);
    let problem = problem(&mut random, 7, 3000, 0.02);
    let data = problem.coded();
    let mut margins = Margins::default();
    for statistic in [Statistic::G2, Statistic::X2] {
        let test = Discrete::new(&data, statistic, Rule::Bnlearn { adapt: false });
        for s in [&[][..], &[2], &[3, 2], &[4, 5, 6], &[6, 3, 2, 5]] {
            let bits = [Way::Quickest, Way::Planes, Way::Codes]
                .map(|way| test.test_with(0, 1, s, &mut Counter::new(way), &mut margins).statistic.to_bits());
            assert!(bits.iter().all(|b| *b == bits[0]), "{s:?}");
        }
    }
}

#[test]
fn sets_of_five_and_more_are_conditioned_on() {
    // y copies x if the sum of the six others is odd, so the pair is dependent given all of them.
    let (n, p) = (20_000, 8);
    let mut random = Random(3);
    let mut codes: Vec<i32> = (0..n * p).map(|_| random.below(2) as i32).collect();
    for i in 0..n {
        if (2..p).map(|v| codes[v * n + i]).sum::<i32>() % 2 == 1 {
            codes[n + i] = codes[i];
        }
    }
    let data = Coded::new(by_column(&codes, 8).unwrap(), &[2; 8], false).unwrap();
    // Half of the 64 strata have two empty cells each, so the adjustment leaves only the last df.
    for (adapt, df) in [(false, 64.0), (true, 1.0)] {
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt });
        let found = test.test(0, 1, &[2, 3, 4, 5, 6, 7]);
        assert!(found.p < 1e-100 && found.df == df, "{found:?}");
        assert!(test.test(0, 1, &[2, 3, 4, 5, 6]).p < 1e-100);
        assert!(test.test(2, 3, &[0, 4, 5, 6, 7]).p > 1e-3);
    }
}

fn sets(skeleton: &Skeleton) -> Vec<(usize, u32, Vec<u32>)> {
    (0..skeleton.graph.p())
        .flat_map(|x| skeleton.sepsets.row(x).map(move |(y, s)| (x, y, s.to_vec())).collect::<Vec<_>>())
        .collect()
}

#[test]
fn searches_equal_the_plain_reference() {
    let mut deepest = 0;
    for number in 0..120 {
        let mut random = Random(number * 131 + 9);
        let p = 3 + random.below(9);
        let n = [50, 500, 3000, 12_000, 12_000][random.below(5)];
        let missing = if random.uniform() < 0.3 { 0.03 } else { 0.0 };
        let problem = problem(&mut random, p, n, missing);
        let data = problem.coded();
        let statistic = [Statistic::G2, Statistic::X2][random.below(2)];
        let rule = RULES[random.below(4)];
        let mut test = Discrete::new(&data, statistic, rule);
        let method = [Method::Stable, Method::StableFast, Method::Original][number as usize % 3];
        let options = Options { method, m_max: 6.0, ..Options::new(p, [0.001, 0.05, 0.3, 0.9, 0.99][random.below(5)]) };
        let want = reference::skeleton(&options, &mut |x, y, s| test.p_value_of(x, y, s));
        deepest = deepest.max(want.max_order);
        let check = |what: &str, found: &Skeleton, p_max: &[f64]| {
            let label = format!("problem {number}, {method:?}, {rule:?}, {what}");
            for x in 0..p {
                for y in 0..p {
                    assert_eq!(found.graph.has(x, y), want.adjacent[x][y], "{label}: {x}, {y}");
                    assert_eq!(found.sepsets.get(x, y), want.sepset[x][y].as_deref(), "{label}: sepset {x}, {y}");
                    let (a, b) = (p_max[y * p + x], want.p_max[x][y]);
                    assert!(a == b || (a - b).abs() <= 1e-9 * b.abs(), "{label}: pMax {x}, {y}: {a:e}, {b:e}");
                }
            }
            assert_eq!((&found.tests, found.max_order), (&want.tests, want.max_order), "{label}");
        };
        for (way, threads, shard_tests) in
            [(Way::Quickest, 1, 1 << 16), (Way::Planes, 2, 3), (Way::Codes, 4, 1), (Way::Cells, 2, 50)]
        {
            let mut p_max = vec![0.0; p * p];
            let mut engine = CpuEngine::with_shards(DiscreteKernel::counting(test, way), threads, shard_tests);
            let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
            check(&format!("{way:?} on {threads} threads"), &found, &p_max);
        }
        let mut p_max = vec![0.0; p * p];
        let found = skeleton_one_by_one(&mut test, &options, &mut p_max, &mut Unobserved).unwrap();
        check("one at a time", &found, &p_max);
    }
    assert!(deepest >= 5, "the problems reach level {deepest} only");
}

/// Compares larger problems, so that threads and rows cut into ranges are really used.
#[test]
fn threads_and_shards_change_nothing() {
    for (number, method) in [(1, Method::Stable), (2, Method::StableFast), (3, Method::Original)] {
        let mut random = Random(number);
        let p = 40;
        let data = problem(&mut random, p, 2500, 0.0).coded();
        let test = Discrete::new(&data, Statistic::X2, Rule::Bnlearn { adapt: false });
        let options = Options { method, m_max: 3.0, ..Options::new(p, 0.8) };
        let run = |threads: usize, shard_tests: u64| {
            let mut p_max = vec![0.0; p * p];
            let mut engine = CpuEngine::with_shards(DiscreteKernel::new(test), threads, shard_tests);
            let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
            (found, p_max.iter().map(|p| p.to_bits()).collect::<Vec<_>>())
        };
        let (one, one_p) = run(1, 1 << 16);
        assert!(one.tests.len() >= 3 && one.tests.iter().sum::<u64>() > 2000, "{:?}", one.tests);
        for (threads, shard_tests) in [(2, 1 << 10), (4, 64), (3, 5), (8, 1 << 30)] {
            let (many, many_p) = run(threads, shard_tests);
            assert_eq!(many.graph, one.graph);
            assert_eq!(sets(&many), sets(&one));
            assert_eq!((&many.tests, many.max_order), (&one.tests, one.max_order));
            // Equal to the last bit, because the schedule must not matter.
            assert!(many_p == one_p);
        }
    }
}

#[test]
fn batches_are_answered_in_order() {
    let mut random = Random(8);
    let data = problem(&mut random, 6, 700, 0.01).coded();
    let mut test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt: false });
    let mut batch = pcgpu_core::ci::Batch::new();
    for (x, y, s) in [(0, 1, &[][..]), (1, 0, &[2, 3]), (4, 5, &[0]), (0, 1, &[2, 3, 4, 5])] {
        batch.push(x, y, s);
    }
    let values = test.p_values(&batch).unwrap();
    for ((x, y, s), p) in batch.iter().zip(values) {
        assert_eq!(p.to_bits(), test.p_value_of(x, y, s).to_bits());
    }
}
