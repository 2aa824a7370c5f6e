//! Checks that a search that keeps only the p-values of the pairs that level 0 leaves agrees with one that keeps all.

use crate::support::golden::cases;
use crate::support::problems::problem;
use pcgpu_core::ci::discrete::{Discrete, Rule, Statistic};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel, GaussKernel};
use pcgpu_core::flat::{self, Entries, Flat, Given, Listed, Sets, SetsMut, Values};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Method, Options, PairValues, Skeleton};
use pcgpu_core::Result;

fn reading(method: Method) -> Reading {
    match method {
        Method::StableFast => Reading::StableFast,
        _ => Reading::GaussCItest,
    }
}

/// Writes a result as flat arrays, reads them, and compares the graph, the separating sets and the known p-values.
fn same_when_flat(label: &str, options: &Options, p_max: &[f64], (found, left): (&Skeleton, &PairValues)) {
    let (pool, p, fast) = (Pool::new(2), options.p, options.method == Method::StableFast);
    let listed = |pairs: Listed| {
        let (mut to, mut values) = (vec![0; pairs.count()], vec![0; 8 * pairs.count()]);
        pairs.write(&pool, &mut to, &mut values);
        (pairs.starts().iter().map(|&start| start as f64).collect::<Vec<f64>>(), to, values)
    };
    let (edges, gaps) =
        (listed(Listed::edges(&pool, &found.graph, left)), listed(Listed::gaps(&pool, found, left, options)));
    let sets = Sets::new(&pool, &found.sepsets).unwrap();
    let (mut to, mut set, mut values) = (vec![0; sets.count()], vec![0; sets.code_bytes()], vec![0; 8 * sets.count()]);
    let (mut ends, mut members) = (vec![0.0; sets.large() + 1], vec![0; sets.members()]);
    let into = SetsMut { to: &mut to, set: &mut set, p: &mut values, ends: &mut ends, members: &mut members };
    sets.write(&pool, &Values::Left(left), into).unwrap();
    let start: Vec<f64> = sets.starts().iter().map(|&start| start as f64).collect();
    let mut mark = vec![0; edges.1.len()];
    flat::marks(&pool, &found.graph, &edges.0.iter().map(|&at| at as u64).collect::<Vec<u64>>(), None, &mut mark);
    let given = Given {
        p,
        fast,
        edges: Entries { start: &edges.0, to: &edges.1, p: &edges.2 },
        mark: &mark,
        sets: Entries { start: &start, to: &to, p: &values },
        set: &set,
        ends: &ends,
        members: &members,
        gaps: Entries { start: &gaps.0, to: &gaps.1, p: &gaps.2 },
    };
    let flat = Flat::new(given, &pool).unwrap();
    let graph = flat.graph(&pool).unwrap();
    assert_eq!(graph, found.graph, "{label}: graph");
    let sepsets = flat.sepsets(&graph, &Pool::new(3)).unwrap();
    let mut cells = vec![flat::na(); p * p];
    flat.fill_p_max(&mut cells);
    for x in 0..p {
        assert!((0..p).all(|y| x == y || sepsets.get(x, y) == found.sepsets.get(x, y)), "{label}: sets of {x}");
        for y in x + 1..p {
            let (cell, value) = (cells[y * p + x], p_max[y * p + x]);
            let is_known = left.get(x, y).is_some();
            assert!(!is_known || cell.to_bits() == value.to_bits(), "{label}: {x}, {y}: {cell:e}, {value:e}");
        }
    }
}

/// Compares what two answers share, one with all p-values and one with few.
fn same(label: &str, all: (&Skeleton, &[f64]), few: (&Skeleton, &PairValues)) {
    let ((whole, p_max), (found, left)) = (all, few);
    let p = whole.graph.p();
    assert_eq!(found.graph, whole.graph, "{label}: graph");
    assert_eq!((&found.tests, found.max_order), (&whole.tests, whole.max_order), "{label}: counts");
    assert_eq!(found.exact_tests, whole.exact_tests, "{label}: exact tests");
    for x in 0..p {
        assert!(found.sepsets.row(x).eq(whole.sepsets.row(x)), "{label}: separating sets of {x}");
        for y in x + 1..p {
            let sets = [whole.sepsets.get(x, y), whole.sepsets.get(y, x)];
            let later = sets.iter().flatten().any(|set| !set.is_empty());
            let kept = left.get(y, x);
            assert_eq!(kept.is_some(), later || whole.graph.has(x, y), "{label}: pair {x}, {y}");
            let value = p_max[y * p + x];
            assert!(kept.is_none_or(|kept| kept.to_bits() == value.to_bits()), "{label}: {kept:?}, {value:e}");
        }
    }
}

fn compare(label: &str, options: &Options, run: &mut dyn FnMut(pcgpu_core::search::Largest) -> Result<Skeleton>) {
    let mut p_max = vec![0.25; options.p * options.p];
    let mut left = PairValues::default();
    match (run((&mut p_max).into()), run((&mut left).into())) {
        (Ok(whole), Ok(found)) => {
            same(label, (&whole, &p_max), (&found, &left));
            same_when_flat(label, options, &p_max, (&found, &left));
        }
        (Err(whole), Err(found)) => assert_eq!(found, whole, "{label}"),
        (whole, found) => panic!("{label}: {whole:?}, {found:?}"),
    }
}

fn by_worker(label: &str, options: &Options, worker: &mut dyn Worker) {
    compare(label, options, &mut |largest| skeleton(worker, options, largest, &mut Unobserved));
}

#[test]
fn of_recorded_cases() {
    for case in cases("gauss-") {
        let c = case.correlations();
        for (method, _) in case.answers() {
            let options = case.options(method);
            let mut gauss = Gauss::new(by_column(&c, case.p()).unwrap(), case.n(), reading(method)).unwrap();
            let label = format!("{} {method:?}", case.name);
            by_worker(&label, &options, &mut CpuEngine::new(GaussKernel::new(gauss, options.alpha), 2));
            compare(&label, &options, &mut |largest| {
                skeleton_one_by_one(&mut gauss, &options, largest, &mut Unobserved)
            });
        }
    }
    for case in cases("dis-") {
        let data = case.coded();
        let rule = Rule::Pcalg { adapt: case.json["adaptDF"].as_bool().unwrap() };
        let test = Discrete::new(&data, Statistic::G2, rule);
        for (method, _) in case.answers() {
            let label = format!("{} {method:?}", case.name);
            by_worker(&label, &case.options(method), &mut CpuEngine::new(DiscreteKernel::new(test), 2));
        }
    }
}

#[test]
fn of_random_problems() {
    for number in 0..200 {
        let mut problem = problem(number);
        // No level (all levels for "stable.fast"), level 0, levels 0 and 1, and the problem's own bound.
        for m_max in [-1.0, 0.0, 1.0, problem.options.m_max] {
            problem.options.m_max = m_max;
            let options = &problem.options;
            let c = by_column(&problem.c, options.p).unwrap();
            let mut gauss = Gauss::new(c, problem.n, reading(options.method)).unwrap();
            let label = format!("problem {number}, m.max {m_max}");
            by_worker(&label, options, &mut CpuEngine::with_shards(GaussKernel::new(gauss, options.alpha), 2, 16));
            compare(&label, options, &mut |largest| skeleton_one_by_one(&mut gauss, options, largest, &mut Unobserved));
        }
    }
}

/// Compares searches on a GPU that keep all p-values with searches that keep few.
#[test]
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
#[ignore = "needs a GPU"]
fn compact_cuda() {
    use crate::support::cuda::emulated;
    use crate::support::problems::{correlation_matrix, samples, Random};
    use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions};
    use pcgpu_core::engine::LevelOne;
    for number in 0..if emulated() { 12 } else { 200 } {
        let mut problem = problem(number);
        for m_max in [-1.0, 0.0, 1.0, problem.options.m_max] {
            problem.options.m_max = m_max;
            let options = &problem.options;
            let c = by_column(&problem.c, options.p).unwrap();
            let gauss = Gauss::new(c, problem.n, reading(options.method)).unwrap();
            let mut engine = CudaEngine::new(gauss, options.alpha, CudaOptions::default()).unwrap();
            by_worker(&format!("problem {number}, m.max {m_max}"), options, &mut engine);
        }
    }
    // Rows with several words of bits, and with more words than a warp has lanes. There level 0 leaves a band and some pairs far from it.
    let wide = |p: usize| correlation_matrix(&samples(&mut Random(p as u64), p, 100, 0.05, 0.05));
    let banded = |p: usize| {
        let near = |x: usize, y: usize| x.abs_diff(y) < 3 || (x + y) % 1021 == 0;
        let value = |i: usize| if i / p == i % p { 1.0 } else { f64::from(u8::from(near(i / p, i % p))) * 0.3 };
        (0..p * p).map(value).collect::<Vec<f64>>()
    };
    for (p, c, m_max) in [(65, wide(65), 2.0), (200, wide(200), 1.0), (2113, banded(2113), 1.0)] {
        for (method, level_one) in [(Method::Stable, LevelOne::Masks), (Method::StableFast, LevelOne::Lists)] {
            let options = Options { method, m_max, ..Options::new(p, 0.05) };
            let gauss = Gauss::new(by_column(&c, p).unwrap(), 100.0, reading(method)).unwrap();
            let cuda = CudaOptions { level_one, ..CudaOptions::default() };
            by_worker(&format!("{p} {method:?}"), &options, &mut CudaEngine::new(gauss, 0.05, cuda).unwrap());
        }
    }
    for case in cases("dis-").into_iter().take(if emulated() { 2 } else { 20 }) {
        let data = case.coded();
        let rule = Rule::Pcalg { adapt: case.json["adaptDF"].as_bool().unwrap() };
        let test = Discrete::new(&data, Statistic::G2, rule);
        for (method, _) in case.answers() {
            let options = case.options(method);
            let mut engine = CudaEngine::discrete(test, options.alpha, CudaOptions::default()).unwrap();
            by_worker(&format!("{} {method:?}", case.name), &options, &mut engine);
        }
    }
}
