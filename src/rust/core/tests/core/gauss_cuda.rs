//! Compares the CUDA engine with pcalg's recorded answers and with the CPU engine.
//!
//! Without a GPU, only the errors are tested.

use std::time::Duration;

use crate::support::cuda::{emulated, same, Shardwise, StopAt};
use crate::support::golden::cases;
use crate::support::problems::{correlation_matrix, correlations, problem, samples, Random};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions, SearchStrategy};
use pcgpu_core::engine::LevelOne;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Method, Options, Skeleton};
use pcgpu_core::{DeviceKind, Error, Result};

/// Ways of our strategy: by default; level 1 by columns and no row by whole blocks; and, as in dense graphs, level 1 by masks and all rows by
/// whole blocks.
const WAYS: [(LevelOne, Option<u64>); 3] =
    [(LevelOne::ByDensity, None), (LevelOne::Columns, Some(u64::MAX)), (LevelOne::Masks, Some(0))];

const STRATEGIES: [SearchStrategy; 6] = [
    SearchStrategy::Shared,
    SearchStrategy::Edge { beta: 2, gamma: 32 },
    SearchStrategy::Set { theta: 64, delta: 2 },
    SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 64 },
    SearchStrategy::Edge { beta: 3, gamma: 7 },
    SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 32 },
];

pub(crate) fn reading(method: Method) -> Reading {
    match method {
        Method::StableFast => Reading::StableFast,
        _ => Reading::GaussCItest,
    }
}

fn with(strategy: SearchStrategy) -> CudaOptions {
    CudaOptions { strategy, ..CudaOptions::default() }
}

pub(crate) fn on_cuda(gauss: Gauss, options: &Options, cuda: CudaOptions) -> Result<(Skeleton, Vec<f64>)> {
    let mut p_max = vec![0.25; options.p * options.p];
    let mut engine = CudaEngine::new(gauss, options.alpha, cuda)?;
    let skeleton = skeleton(&mut engine, options, &mut p_max, &mut Unobserved)?;
    Ok((skeleton, p_max))
}

/// Searches on the GPU shard by shard.
pub(crate) fn by_shards(gauss: Gauss, options: &Options) -> Result<(Skeleton, Vec<f64>)> {
    let mut p_max = vec![0.25; options.p * options.p];
    let mut worker = Shardwise(CudaEngine::new(gauss, options.alpha, CudaOptions::default())?);
    let skeleton = skeleton(&mut worker, options, &mut p_max, &mut Unobserved)?;
    Ok((skeleton, p_max))
}

pub(crate) fn on_cpu(gauss: Gauss, options: &Options) -> Result<(Skeleton, Vec<f64>)> {
    let mut p_max = vec![0.0; options.p * options.p];
    let mut engine = CpuEngine::new(GaussKernel::new(gauss, options.alpha), 2);
    let skeleton = skeleton(&mut engine, options, &mut p_max, &mut Unobserved)?;
    Ok((skeleton, p_max))
}

/// Runs both engines, with every strategy and some repeats, and compares them, errors included.
fn compare(label: &str, c: &[f64], n: f64, options: &Options, strategies: &[SearchStrategy], repeats: usize) {
    let gauss = Gauss::new(by_column(c, options.p).unwrap(), n, reading(options.method)).unwrap();
    let cpu = on_cpu(gauss, options);
    for &strategy in strategies {
        let ways = if strategy == SearchStrategy::Shared { &WAYS[..] } else { &WAYS[..1] };
        for (&(level_one, wide_from), repeat) in
            ways.iter().flat_map(|way| (0..repeats).map(move |repeat| (way, repeat)))
        {
            let label = format!("{label} {strategy:?} {level_one:?} {wide_from:?} repeat {repeat}");
            match (on_cuda(gauss, options, CudaOptions { level_one, wide_from, ..with(strategy) }), &cpu) {
                (Ok(cuda), Ok(cpu)) => same(&label, &cuda, cpu),
                (Err(cuda), Err(cpu)) => assert_eq!(cuda, *cpu, "{label}"),
                (cuda, cpu) => panic!("{label}: {:?} and {:?}", cuda.err(), cpu.as_ref().err()),
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn golden_cases() {
    let mut compared = 0;
    for case in cases("gauss-") {
        if case.p() > 100 && emulated() {
            continue;
        }
        let c = case.correlations();
        for (method, answer) in case.answers() {
            let options = case.options(method);
            let gauss = Gauss::new(by_column(&c, case.p()).unwrap(), case.n(), reading(method)).unwrap();
            let (skeleton, p_max) = by_shards(gauss, &options).unwrap();
            case.check(&format!("{method:?} by shards"), answer, &skeleton, &p_max);
            if method == Method::Original {
                continue;
            }
            for strategy in STRATEGIES {
                let forced: &[LevelOne] = match strategy {
                    SearchStrategy::Shared => &[LevelOne::Columns, LevelOne::Masks],
                    _ => &[],
                };
                for &level_one in forced {
                    let cuda = CudaOptions { level_one, wide_from: Some(0), ..with(strategy) };
                    let (skeleton, p_max) = on_cuda(gauss, &options, cuda).unwrap();
                    case.check(&format!("{method:?} {level_one:?}"), answer, &skeleton, &p_max);
                }
                for repeat in 0..if strategy == SearchStrategy::Shared && !emulated() { 5 } else { 1 } {
                    let (skeleton, p_max) = on_cuda(gauss, &options, with(strategy)).unwrap();
                    case.check(&format!("{method:?} {strategy:?} {repeat}"), answer, &skeleton, &p_max);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= if emulated() { 130 } else { 200 }, "only {compared} comparisons");
}

#[test]
#[ignore = "needs a GPU"]
fn random_problems() {
    let mut compared = 0;
    let numbers = if emulated() { 120 } else { 300 };
    for number in 0..numbers {
        let problem = problem(number);
        if problem.options.method == Method::Original {
            continue;
        }
        compare(&format!("problem {number}"), &problem.c, problem.n, &problem.options, &STRATEGIES, 1);
        compared += 1;
    }
    assert_eq!(compared, numbers / 3 * 2);
}

/// Compares all three orders of visiting, errors included.
#[test]
#[ignore = "needs a GPU"]
fn shards_are_answered_as_on_the_cpu() {
    for number in 0..if emulated() { 60 } else { 300 } {
        let problem = problem(number);
        let gauss =
            Gauss::new(by_column(&problem.c, problem.options.p).unwrap(), problem.n, reading(problem.options.method))
                .unwrap();
        match (by_shards(gauss, &problem.options), on_cpu(gauss, &problem.options)) {
            (Ok(found), Ok(cpu)) => same(&format!("problem {number}"), &found, &cpu),
            (found, cpu) => assert_eq!(found.map(drop), cpu.map(drop), "problem {number}"),
        }
    }
    let p = 12;
    let mut c = one_factor(p);
    c[2 * p + 7] = f64::NAN;
    c[7 * p + 2] = f64::NAN;
    for (n, na_delete) in [(1e5, true), (1e5, false), (2.0, true), (4.0, true)] {
        for method in [Method::Stable, Method::StableFast, Method::Original] {
            let options = Options { method, na_delete, ..Options::new(p, 0.01) };
            let gauss = Gauss::new(by_column(&c, p).unwrap(), n, reading(method)).unwrap();
            match (by_shards(gauss, &options), on_cpu(gauss, &options)) {
                (Ok(found), Ok(cpu)) => same(&format!("missing, n = {n}, {method:?}"), &found, &cpu),
                (found, cpu) => assert_eq!(found.map(drop), cpu.map(drop), "missing, n = {n}, {method:?}"),
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn wide_and_singular_problems() {
    // Rows with more neighbours than a warp has lanes, over several levels, with copies and sums among the columns.
    for (seed, p, n, density, singular, alpha) in [
        (1, 70, 60, 0.15, 0.0, 0.2),
        (2, 80, 400, 0.1, 0.2, 0.05),
        (3, 60, 2000, 0.5, 0.1, 0.01),
        (4, 130, 40, 0.05, 0.0, 0.3),
    ] {
        if seed > 2 && emulated() {
            continue;
        }
        let c = correlation_matrix(&samples(&mut Random(seed), p, n, density, singular));
        for method in [Method::Stable, Method::StableFast] {
            let m_max = if emulated() { 2.0 } else { 3.0 };
            let options = Options { method, m_max, ..Options::new(p, alpha) };
            compare(&format!("wide {seed} {method:?}"), &c, n as f64, &options, &STRATEGIES[..4], 2);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn nearly_collinear_problems() {
    // Variables are sums of factors with little noise, so the quick form cannot answer all tests to all digits.
    for (seed, p, factors, noise, alpha) in [(1u64, 40, 6, 1e-4, 0.05), (2, 48, 3, 1e-3, 0.01), (3, 36, 9, 1e-5, 0.2)] {
        let mut random = Random(seed);
        let n = 300;
        let of: Vec<Vec<f64>> = (0..factors).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
        let columns: Vec<Vec<f64>> = (0..p)
            .map(|j| {
                let noise = noise * 10f64.powf(2.0 * random.uniform());
                let other = random.below(factors);
                (0..n).map(|i| of[j % factors][i] + 0.1 * of[other][i] + noise * random.normal()).collect()
            })
            .collect();
        let c = correlation_matrix(&columns);
        for method in [Method::Stable, Method::StableFast] {
            let options = Options { method, m_max: 3.0, ..Options::new(p, alpha) };
            compare(&format!("collinear {seed} {method:?}"), &c, n as f64, &options, &STRATEGIES[..1], 2);
        }
    }
}

/// Returns the correlations of variables with one factor behind them all. Every pair stays dependent given any set, so levels run to the last.
fn one_factor(p: usize) -> Vec<f64> {
    (0..p * p).map(|i| if i / p == i % p { 1.0 } else { 0.5 + 0.001 * ((i / p + i % p) % 7) as f64 }).collect()
}

#[test]
#[ignore = "needs a GPU"]
fn levels_beyond_the_specialised_ones() {
    // 170 million tests if p is 19.
    let p = if emulated() { 11 } else { 19 };
    let c = one_factor(p);
    for method in [Method::Stable, Method::StableFast] {
        let options = Options { method, ..Options::new(p, 0.01) };
        compare("one factor", &c, 100_000.0, &options, &[SearchStrategy::Shared], 1);
        let gauss = Gauss::new(by_column(&c, p).unwrap(), 100_000.0, reading(method)).unwrap();
        let (skeleton, _) = on_cuda(gauss, &options, CudaOptions::default()).unwrap();
        assert!(skeleton.tests.len() >= p - 2, "levels to {}", skeleton.tests.len() - 1);
    }
    let p = p.min(12);
    let options = Options { m_max: 10.0, ..Options::new(p, 0.01) };
    compare("one factor", &one_factor(p), 100_000.0, &options, &STRATEGIES, 1);
}

#[test]
#[ignore = "needs a GPU"]
fn batches_of_questions() {
    let p = 40;
    for singular in [0.0, 0.3] {
        let mut c = correlation_matrix(&samples(&mut Random(9), p, 200, 0.2, singular));
        for reading in [Reading::GaussCItest, Reading::StableFast] {
            let gauss = Gauss::new(by_column(&c, p).unwrap(), 200.0, reading).unwrap();
            let mut random = Random(5);
            let mut batch = Batch::new();
            for _ in 0..3000 {
                let size = random.below(9);
                let mut all: Vec<u32> = (0..p as u32).collect();
                (0..size + 2).for_each(|i| all.swap(i, i + random.below(p - i)));
                batch.push(all[0] as usize, all[1] as usize, &all[2..size + 2]);
            }
            let mut cuda = CudaEngine::new(gauss, 0.05, CudaOptions::default()).unwrap();
            let ours = cuda.p_values(&batch, &mut Unobserved).unwrap();
            let mut cpu = CpuEngine::new(GaussKernel::new(gauss, 0.05), 1);
            let theirs = cpu.p_values(&batch, &mut Unobserved).unwrap();
            for ((a, b), question) in ours.iter().zip(&theirs).zip(batch.iter()) {
                assert_eq!(a.to_bits(), b.to_bits(), "{question:?}: {a:e} and {b:e}");
            }
            assert!(cuda.p_values(&Batch::new(), &mut Unobserved).unwrap().is_empty());
        }
        // If a correlation is missing, "stable" has no answer and "stable.fast" returns NaN.
        c[3 * p + 4] = f64::NAN;
        c[4 * p + 3] = f64::NAN;
        let mut batch = Batch::new();
        batch.push(3, 4, &[5, 6]);
        let fast = Gauss::new(by_column(&c, p).unwrap(), 200.0, Reading::StableFast).unwrap();
        let mut cuda = CudaEngine::new(fast, 0.05, CudaOptions::default()).unwrap();
        assert!(cuda.p_values(&batch, &mut Unobserved).unwrap()[0].is_nan());
        let stable = Gauss::new(by_column(&c, p).unwrap(), 200.0, Reading::GaussCItest).unwrap();
        let mut cuda = CudaEngine::new(stable, 0.05, CudaOptions::default()).unwrap();
        let ours = cuda.p_values(&batch, &mut Unobserved).unwrap_err();
        let theirs = CpuEngine::new(GaussKernel::new(stable, 0.05), 1).p_values(&batch, &mut Unobserved).unwrap_err();
        assert_eq!(ours, theirs);
    }
}

/// Checks a missing correlation among conditioning variables: pcalg's "stable" stops with an error at level 2.
#[test]
#[ignore = "needs a GPU"]
fn missing_correlations_stop_stable_at_level_two() {
    let p = 12;
    let mut c = one_factor(p);
    c[2 * p + 7] = f64::NAN;
    c[7 * p + 2] = f64::NAN;
    for na_delete in [true, false] {
        let options = Options { na_delete, ..Options::new(p, 0.01) };
        compare("missing", &c, 100_000.0, &options, &STRATEGIES, 1);
        let fast = Options { method: Method::StableFast, ..options };
        compare("missing", &c, 100_000.0, &fast, &STRATEGIES, 1);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn too_few_samples_are_refused_as_on_the_cpu() {
    let c = correlations(&mut Random(3), 6, 20, 0.4);
    for n in [1.0, 2.0, 3.0, 4.0, 5.0] {
        for method in [Method::Stable, Method::StableFast] {
            compare(&format!("n = {n}"), &c, n, &Options { method, ..Options::new(6, 0.05) }, &STRATEGIES[..1], 1);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn memory_that_does_not_suffice_is_named_and_the_next_search_works() {
    let p = 50;
    let c = correlations(&mut Random(7), p, 100, 0.2);
    let options = Options::new(p, 0.05);
    let gauss = Gauss::new(by_column(&c, p).unwrap(), 100.0, Reading::GaussCItest).unwrap();
    let cpu = on_cpu(gauss, &options).unwrap();
    for budget in [500, 1_000, 4_000] {
        let cuda = CudaOptions { memory_budget: Some(budget), ..CudaOptions::default() };
        let Err(Error::Device(e)) = on_cuda(gauss, &options, cuda) else { panic!("{budget} bytes sufficed") };
        assert_eq!(e.kind, DeviceKind::OutOfMemory);
        assert!(
            e.message.contains(&format!("({budget} bytes)")) || e.message.contains(&format!("{budget} bytes")),
            "{e:?}"
        );
        same("after", &on_cuda(gauss, &options, CudaOptions::default()).unwrap(), &cpu);
    }
    let enough = CudaOptions { memory_budget: Some(10_000_000), ..CudaOptions::default() };
    same("10 MB", &on_cuda(gauss, &options, enough).unwrap(), &cpu);
}

#[test]
#[ignore = "needs a GPU"]
fn interrupts_are_heard_within_half_a_second_and_the_next_search_works() {
    // Billions of tests from level 5 on.
    let p = 60;
    let c = one_factor(p);
    let gauss = Gauss::new(by_column(&c, p).unwrap(), 1e6, Reading::GaussCItest).unwrap();
    let options = Options::new(p, 1e-6);
    let mut p_max = vec![0.0; p * p];
    for strategy in &STRATEGIES[..4] {
        // The first round waits for the driver, which compiles a level's kernels at their first use.
        for first in [true, false] {
            let mut engine = CudaEngine::new(gauss, options.alpha, with(*strategy)).unwrap();
            let mut observer = StopAt(if *strategy == SearchStrategy::Shared { 7 } else { 4 }, None);
            let ended = skeleton(&mut engine, &options, &mut p_max, &mut observer);
            assert_eq!(ended.err(), Some(Error::Interrupted));
            let took = observer.1.unwrap().elapsed();
            println!("{strategy:?}, first use {first}: interrupted after {took:?}");
            assert!(first || took < Duration::from_millis(500), "{strategy:?}: {took:?}");
        }
    }
    let short = Options { m_max: 2.0, ..options };
    compare("after an interrupt", &c, 1e6, &short, &STRATEGIES[..1], 1);
}

#[test]
#[ignore = "needs a GPU"]
fn two_engines_share_a_gpu() {
    std::thread::scope(|scope| {
        for thread in 0..2u64 {
            scope.spawn(move || {
                for round in 0..4 {
                    let problem = problem(3 * (10 * thread + round) + 1);
                    compare("two at once", &problem.c, problem.n, &problem.options, &STRATEGIES[..1], 3);
                }
            });
        }
    });
    device::release();
    let problem = problem(4);
    compare("after a release", &problem.c, problem.n, &problem.options, &STRATEGIES[..1], 1);
}

#[test]
fn numbers_that_make_no_block_and_gpus_that_are_not_there_are_refused() {
    let c = [1.0, 0.5, 0.5, 1.0];
    let gauss = Gauss::new(by_column(&c, 2).unwrap(), 10.0, Reading::GaussCItest).unwrap();
    for strategy in [
        SearchStrategy::Edge { beta: 0, gamma: 1 },
        SearchStrategy::Edge { beta: 100, gamma: 100 },
        SearchStrategy::Set { theta: 1, delta: 0 },
        SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 0 },
        SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 48 },
        SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 288 },
        SearchStrategy::Gpucsl { beta: 0, gamma: 2, delta: 64 },
    ] {
        let refused = CudaEngine::new(gauss, 0.05, with(strategy)).err();
        assert!(matches!(refused, Some(Error::Argument { argument: "strategy", .. })), "{refused:?}");
    }
    let refused = CudaEngine::new(gauss, 0.05, CudaOptions { ordinal: 99, ..CudaOptions::default() }).err();
    if device::devices(false).is_ok_and(|gpus| !gpus.is_empty()) {
        assert!(matches!(refused, Some(Error::Argument { argument: "device", .. })), "{refused:?}");
    } else {
        // Without a GPU, the error has one of three causes, and a remedy.
        let Some(Error::Device(e)) = refused else { panic!("{refused:?}") };
        let kinds = [DeviceKind::NoDriver, DeviceKind::NoDevice, DeviceKind::OldDriver];
        assert!(kinds.contains(&e.kind) && e.hint.contains("device = \"cpu\""), "{e:?}");
        assert_eq!(device::devices(false).err(), Some(Error::Device(e)));
        device::release();
    }
}
