//! Checks that engines allocate no more on a GPU than they planned. An emulated GPU (../driver/driver.cpp) measures the most that is allocated
//! at a time. It runs in its own process, because a process loads only one driver.

use std::ffi::{c_int, c_void};
use std::fmt::Debug;
use std::process::Command;

use crate::driver::{driver, own_function};
use crate::support::answer::{self, Answer, Digits};
use crate::support::cuda::planned;
use crate::support::discrete;
use crate::support::mixed::{settings, Made};
use crate::support::problems::{correlation_matrix, samples, Random};
use crate::support::selection::simulated;
use crate::support::ways::ways;
use pcgpu_core::ci::discrete::{Discrete, Rule, Statistic};
use pcgpu_core::ci::gauss::{FisherZ, Gauss, Reading};
use pcgpu_core::ci::knn::{Estimator, Transform};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cuda::gauss::correlation::correlation;
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions, KnnStrategy};
use pcgpu_core::engine::cuda::selection::{CudaCounting, SelectionOptions};
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions, SearchStrategy};
use pcgpu_core::graph::Adjacency;
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::Centred;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{Method, Options};
use pcgpu_core::selection::{select, CountLogs, Criterion};
use pcgpu_core::{DeviceKind, Error, Result};

const HERE: &str = "PCGPU_MEASURE_MEMORY";

#[test]
fn nothing_takes_more_memory_than_it_planned() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory_cuda::measured", "--nocapture"])
        .env(HERE, "1")
        .env("LD_LIBRARY_PATH", driver())
        // Bytes of shared memory a block: so few that working memory of sets and tables goes to device memory.
        .env("FAKE_CUDA_SHARED", "20480")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.matches(" planned, ").count() > 60, "{text}");
}

/// Runs in a process with the driver; does nothing elsewhere.
#[test]
fn measured() {
    if std::env::var_os(HERE).is_some() {
        gauss();
        discrete();
        neighbours();
        selection();
        correlations();
    }
}

/// Returns the most bytes that were allocated on the GPU at a time since the last call.
fn most_used() -> u64 {
    let found = own_function(c"emulated_most_used");
    // SAFETY: the driver has a function of this name and type.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> usize>(found)(0) as u64 }
}

/// The bytes planned, and the answer.
type Outcome<A> = Result<(u64, A)>;

/// Calls `run` with all memory and with a budget of what that planned. The answers must be the same, and neither may take more than planned.
/// Smaller budgets must be kept, too, or refused; 500 bytes must be refused.
fn measure<A: PartialEq + Debug>(label: &str, run: impl Fn(Option<u64>) -> Outcome<A>) {
    measure_as(label, |found: &A, wanted| assert_eq!(found, wanted, "{label}"), run);
}

/// Measures as [`measure`] does, with answers that `compare` accepts as equal.
fn measure_as<A>(label: &str, compare: impl Fn(&A, &A), run: impl Fn(Option<u64>) -> Outcome<A>)
where
    A: Debug,
{
    device::release();
    most_used();
    let (planned, answer) = run(None).unwrap();
    let used = most_used();
    println!("{label}: {planned} planned, {used} used");
    assert!(used > 0 && used <= planned, "{label}: {used} of {planned}");
    // Memory that the first run keeps must not hinder a run with a budget.
    for (kept, budget) in [(true, planned), (false, planned)] {
        if !kept {
            device::release();
        }
        most_used();
        let (again, same) = run(Some(budget)).unwrap();
        let used = most_used();
        assert!(used <= budget.max(if kept { planned } else { 0 }) && again <= budget, "{label}: {used} of {budget}");
        compare(&same, &answer);
    }
    for budget in [planned / 2, planned / 6] {
        device::release();
        most_used();
        match run(Some(budget)) {
            Ok((again, same)) => {
                let used = most_used();
                println!("{label}: {again} planned in parts, {used} used");
                assert!(again <= budget && used <= again, "{label}: {used} of {again} of {budget}");
                compare(&same, &answer);
            }
            Err(Error::Device(e)) => assert_eq!(e.kind, DeviceKind::OutOfMemory, "{label}"),
            Err(e) => panic!("{label}: {e:?}"),
        }
    }
    match run(Some(500)) {
        Err(Error::Device(e)) => assert_eq!(e.kind, DeviceKind::OutOfMemory, "{label}"),
        other => panic!("{label}: {other:?}"),
    }
}

fn searched(engine: &mut dyn Worker, options: &Options, compact: bool) -> Outcome<Answer> {
    let found = answer::searched(engine, options, compact, &mut Unobserved)?;
    Ok((planned(engine), found))
}

fn asked(engine: &mut dyn Worker, batch: &Batch) -> Outcome<Vec<f64>> {
    let answers = engine.p_values(batch, &mut Unobserved)?;
    Ok((planned(engine), answers))
}

fn questions(count: usize, p: usize, sizes: usize) -> Batch {
    let mut random = Random(3);
    let mut batch = Batch::new();
    for _ in 0..count {
        let size = random.below(sizes);
        let mut all: Vec<u32> = (0..p as u32).collect();
        (0..size + 2).for_each(|i| all.swap(i, i + random.below(p - i)));
        batch.push(all[0] as usize, all[1] as usize, &all[2..size + 2]);
    }
    batch
}

fn gauss() {
    let sparse = |p| correlation_matrix(&samples(&mut Random(p as u64), p, 400, 0.15, 0.1));
    // No test separates, so levels run to the last, with sets that shared memory does not hold.
    let dense = |p: usize| (0..p * p).map(|i| if i / p == i % p { 1.0 } else { 0.5 }).collect::<Vec<f64>>();
    let mut gaps = Adjacency::empty(40);
    (0..39).filter(|x| x % 3 == 0).for_each(|x| gaps.insert(x, x + 1));
    let fixed = Some(gaps.clone());
    for (name, c, options) in [
        ("sparse", sparse(40), Options::new(40, 0.05)),
        ("masks", sparse(40), Options { fixed_gaps: Some(gaps), fixed_edges: fixed, ..Options::new(40, 0.05) }),
        ("dense", dense(9), Options::new(9, 0.01)),
        ("empty", dense(9), Options::new(9, 0.0)),
        ("two", dense(2), Options::new(2, 0.01)),
    ] {
        for method in [Method::Stable, Method::StableFast] {
            let reading = if method == Method::Stable { Reading::GaussCItest } else { Reading::StableFast };
            let gauss = Gauss::new(by_column(&c, options.p).unwrap(), 400.0, reading).unwrap();
            let options = Options { method, ..options.clone() };
            for strategy in [
                SearchStrategy::Shared,
                SearchStrategy::Edge { beta: 2, gamma: 32 },
                SearchStrategy::Edge { beta: 3, gamma: 7 },
                SearchStrategy::Set { theta: 64, delta: 2 },
                SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 64 },
            ] {
                measure(&format!("{name} {method:?} {strategy:?}"), |budget| {
                    let options = &options;
                    let cuda = CudaOptions { strategy, memory_budget: budget, ..CudaOptions::default() };
                    searched(&mut CudaEngine::new(gauss, options.alpha, cuda)?, options, false)
                });
            }
        }
    }
    let c = sparse(60);
    let gauss = Gauss::new(by_column(&c, 60).unwrap(), 400.0, Reading::GaussCItest).unwrap();
    measure("compact", |budget| {
        let cuda = CudaOptions { memory_budget: budget, ..CudaOptions::default() };
        searched(&mut CudaEngine::new(gauss, 0.05, cuda)?, &Options::new(60, 0.05), true)
    });
    let batch = questions(100, 60, 40);
    measure("questions", |budget| {
        let cuda = CudaOptions { memory_budget: budget, ..CudaOptions::default() };
        asked(&mut CudaEngine::new(gauss, 0.05, cuda)?, &batch)
    });
}

fn discrete() {
    for (p, n) in [(12, 300), (20, 60)] {
        let data = discrete::problem(&mut Random(p as u64), p, n, 0.0).coded();
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt: false });
        for method in [Method::Stable, Method::StableFast] {
            let options = Options { method, ..Options::new(p, 0.3) };
            for strategy in [
                SearchStrategy::Shared,
                SearchStrategy::Edge { beta: 2, gamma: 32 },
                SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 64 },
            ] {
                let label = format!("discrete {p} {method:?} {strategy:?}");
                // In parts, our own kernel runs level 0, which adds up in another order.
                let digits = match strategy {
                    SearchStrategy::Gpucsl { .. } => Digits::Nine,
                    _ => Digits::All,
                };
                let compare =
                    |found: &Answer, wanted: &Answer| assert_eq!(found.difference(wanted, digits), None, "{label}");
                measure_as(&label, compare, |budget| {
                    let cuda = CudaOptions { strategy, memory_budget: budget, ..CudaOptions::default() };
                    searched(&mut CudaEngine::discrete(test, options.alpha, cuda)?, &options, false)
                });
            }
        }
        let batch = questions(300, p, 7);
        measure("discrete questions", |budget| {
            let cuda = CudaOptions { memory_budget: budget, ..CudaOptions::default() };
            asked(&mut CudaEngine::discrete(test, 0.3, cuda)?, &batch)
        });
    }
}

fn neighbours() {
    // The claims of 2,600 samples go to device memory.
    for (n, permutations, tests, estimator, transform) in [
        (50, 10, 10, Estimator::FrenzelPompe, Transform::Ranks),
        (50, 10, 10, Estimator::MesnerShalizi, Transform::Ranks),
        (50, 10, 10, Estimator::FrenzelPompe, Transform::Standardize),
        (2600, 2, 2, Estimator::FrenzelPompe, Transform::Ranks),
    ] {
        let made = Made::new(3, n, 6, estimator != Estimator::FrenzelPompe, false);
        let mut of_case = settings(estimator, 5, permutations);
        of_case.transform = transform;
        let knn = made.knn(of_case);
        for strategy in [KnnStrategy::Shared, KnnStrategy::Single, KnnStrategy::Parallel { block: 2 }] {
            measure(&format!("neighbours {n} {estimator:?} {transform:?} {strategy:?}"), |budget| {
                let cuda = KnnCudaOptions { strategy, memory_budget: budget, ..KnnCudaOptions::default() };
                asked(&mut KnnCudaEngine::new(&knn, cuda)?, &questions(tests, 6, 3))
            });
        }
    }
}

fn selection() {
    for (n, p, levels, classes) in [(90, 60, 64, 5), (700, 20, 300, 10)] {
        let samples = simulated(n, p, levels, classes, 7);
        let logs = CountLogs::new(n);
        for (way, options) in ways().into_iter().enumerate() {
            measure(&format!("selection {n} x {p} way {way}"), |memory_budget| {
                let options = SelectionOptions { memory_budget, ..options };
                let mut counting = CudaCounting::new(&samples, &logs, 0..p, options)?;
                let found = select(&samples, &logs, &mut counting, Criterion::Jmi, 4, &mut Unobserved)?;
                Ok((counting.plan().total(), found))
            });
        }
    }
}

fn correlations() {
    let (n, p) = (50, 130);
    let mut random = Random(1);
    let x: Vec<f64> = (0..n * p).map(|_| random.normal()).collect();
    measure("correlations", |budget| {
        let mut c = vec![0.0; p * p];
        correlation(&Centred::of_cells(&x, n), 0, MemoryKind::Device, budget, &Pool::new(2), &mut c, &mut |_| Ok(()))?;
        // Data, matrix and a number per column, each rounded up to the size of a piece of memory.
        Ok((8 * (n * p + p * p + p) as u64, c))
    });
    for method in [Method::Stable, Method::StableFast, Method::Original] {
        measure(&format!("search of data {method:?}"), |budget| {
            let cuda = CudaOptions { memory_budget: budget, ..CudaOptions::default() };
            let test = FisherZ::new(n as f64, Reading::GaussCItest)?;
            let options = Options { method, m_max: 1.0, ..Options::new(p, 0.01) };
            searched(&mut CudaEngine::of_data(test, by_column(&x, p)?, 0.01, cuda)?, &options, false)
        });
    }
}
