//! A search that keeps the p-values of the pairs that level 0 leaves gives what one gives that keeps all.

use crate::support::golden::cases;
use crate::support::problems::problem;
use pcgpu_core::ci::discrete::{Discrete, Rule, Statistic};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel, GaussKernel};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Method, Options, PairValues, Skeleton};
use pcgpu_core::Result;

fn reading(method: Method) -> Reading {
    match method {
        Method::StableFast => Reading::StableFast,
        _ => Reading::GaussCItest,
    }
}

/// Of the answers with all p-values and with few, all that both have.
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
        (Ok(whole), Ok(found)) => same(label, (&whole, &p_max), (&found, &left)),
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
        // Without a level, with level 0 alone, and with all.
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

/// On a GPU, values to 1e-9 of the CPU's.
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
    // Bit rows of several words; and of more than a warp has lanes, where level 0 leaves a band and some pairs far from it.
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
