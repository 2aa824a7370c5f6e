//! Checks that unified memory changes no answer. Only on an emulated GPU does a test take more of it than the GPU has free: a real GPU that is
//! asked for more than it has can hang the machine.

use std::ffi::{c_int, c_void};
use std::fmt::Debug;

use crate::driver::{own_function, with_driver};
use crate::gauss_cuda::{on_cpu, reading};
use crate::support::answer::{self, Answer};
use crate::support::cuda::{emulated, same, Shardwise};
use crate::support::discrete::{self, RULES};
use crate::support::golden::cases;
use crate::support::mixed::{settings, Made};
use crate::support::problems::{correlations, dense_problem, problem, Random};
use crate::support::selection::simulated;
use crate::support::ways::ways;
use pcgpu_core::ci::discrete::{Discrete, Statistic};
use pcgpu_core::ci::gauss::{FisherZ, Gauss, Reading};
use pcgpu_core::ci::knn::Estimator;
use pcgpu_core::engine::cuda::gauss::correlation::correlation;
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions, KnnStrategy};
use pcgpu_core::engine::cuda::selection::{member, CudaCounting, SelectionOptions};
use pcgpu_core::engine::cuda::{self, CudaEngine, CudaOptions, SearchStrategy};
use pcgpu_core::engine::question_team::QuestionTeam;
use pcgpu_core::engine::shards::Shards;
use pcgpu_core::engine::team::Team;
use pcgpu_core::engine::LevelOne;
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::Centred;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Method, Options};
use pcgpu_core::selection::{select, CountLogs, Criterion};
use pcgpu_core::{DeviceKind, Error, Result};

const UNIFIED: MemoryKind = MemoryKind::Unified { gpus: 1 };

/// Compares the answers in both kinds of memory, in turn, so that each finds what the other kept.
fn compare<A: PartialEq + Debug>(label: &str, answer: impl Fn(MemoryKind) -> Result<A>) {
    let own = answer(MemoryKind::Device);
    assert!(own.is_ok(), "{label}: {own:?}");
    for repeat in 0..2 {
        assert!(answer(UNIFIED) == own, "{label}: unified memory, repeat {repeat}");
    }
    if !emulated() {
        assert!(answer(MemoryKind::Device) == own, "{label}: the GPU's own memory again");
    }
}

fn searched(worker: &mut dyn Worker, options: &Options) -> Result<Answer> {
    answer::searched(worker, options, false, &mut Unobserved)
}

/// Returns a team of the same GPU twice.
fn team<'a>(make: impl Fn() -> Result<CudaEngine<'a>>) -> Result<Team<'a>> {
    cuda::team(&["one".into(), "two".into()], |_| make())
}

#[test]
#[ignore = "needs a GPU"]
fn gaussian_searches() {
    for number in 0..if emulated() { 4 } else { 60 } {
        let problem = problem(number);
        let gauss =
            Gauss::new(by_column(&problem.c, problem.options.p).unwrap(), problem.n, reading(problem.options.method));
        let (gauss, options) = (gauss.unwrap(), &problem.options);
        for strategy in [
            SearchStrategy::Shared,
            SearchStrategy::Edge { beta: 2, gamma: 32 },
            SearchStrategy::Set { theta: 64, delta: 2 },
            SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 64 },
        ] {
            let cuda = CudaOptions { strategy, ..CudaOptions::default() };
            compare(&format!("problem {number} {strategy:?}"), |memory| {
                searched(&mut CudaEngine::new(gauss, options.alpha, CudaOptions { memory, ..cuda })?, options)
            });
        }
        let cuda = CudaOptions { launch_share: 1e-9, ..CudaOptions::default() };
        compare(&format!("problem {number} by a team"), |memory| {
            searched(&mut team(|| CudaEngine::new(gauss, options.alpha, CudaOptions { memory, ..cuda }))?, options)
        });
        compare(&format!("problem {number} by shards"), |memory| {
            let engine = CudaEngine::new(gauss, options.alpha, CudaOptions { memory, ..CudaOptions::default() })?;
            searched(&mut Shardwise(engine), options)
        });
    }
}

#[test]
#[ignore = "needs a GPU"]
fn dense_gaussian_searches() {
    for number in 0..if emulated() { 1 } else { 20 } {
        let dense = dense_problem(number);
        let options = Options { m_max: if emulated() { 1.0 } else { 2.0 }, ..dense.options.clone() };
        let gauss = Gauss::new(by_column(&dense.c, options.p).unwrap(), dense.n, reading(options.method)).unwrap();
        for level_one in [LevelOne::Lists, LevelOne::Columns, LevelOne::Masks] {
            let cuda = CudaOptions { level_one, launch_share: 1e-9, ..CudaOptions::default() };
            compare(&format!("dense {number} {level_one:?}"), |memory| {
                searched(&mut CudaEngine::new(gauss, options.alpha, CudaOptions { memory, ..cuda })?, &options)
            });
            if emulated() {
                continue;
            }
            compare(&format!("dense {number} {level_one:?} by a team"), |memory| {
                searched(&mut team(|| CudaEngine::new(gauss, options.alpha, CudaOptions { memory, ..cuda }))?, &options)
            });
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn correlations_and_searches_of_data() {
    let (n, p) = (80, 70);
    let mut random = Random(3);
    let mut x: Vec<f64> = (0..n * p).map(|_| random.normal()).collect();
    for column in x.chunks_mut(n) {
        let mean = column.iter().sum::<f64>() / n as f64;
        column.iter_mut().for_each(|value| *value -= mean);
    }
    compare("correlations", |memory| {
        let mut c = vec![0.0; p * p];
        correlation(&Centred::of_cells(&x, n), 0, memory, None, &Pool::new(2), &mut c, &mut |_| Ok(()))?;
        Ok(c)
    });
    let fisher = FisherZ::new(n as f64, Reading::GaussCItest).unwrap();
    for method in [Method::Stable, Method::Original] {
        let options = Options { method, m_max: 3.0, ..Options::new(p, 0.1) };
        let engine = |memory| {
            let cuda = CudaOptions { memory, launch_share: 1e-9, ..CudaOptions::default() };
            CudaEngine::of_data(fisher, by_column(&x, p)?, options.alpha, cuda)
        };
        compare(&format!("data {method:?}"), |memory| searched(&mut engine(memory)?, &options));
        if method == Method::Stable {
            compare("data by a team", |memory| searched(&mut team(|| engine(memory))?, &options));
            compare("compactly", |memory| answer::searched(&mut engine(memory)?, &options, true, &mut Unobserved));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn discrete_searches() {
    for case in &cases("dis-")[..if emulated() { 1 } else { 7 }] {
        let data = case.coded();
        let test = Discrete::new(&data, Statistic::G2, RULES[0]);
        let options = Options::new(case.p(), 0.05);
        compare(&case.name, |memory| {
            let cuda = CudaOptions { memory, ..CudaOptions::default() };
            searched(&mut CudaEngine::discrete(test, options.alpha, cuda)?, &options)
        });
    }
    for number in 0..if emulated() { 2 } else { 40 } {
        let data = discrete::problem(&mut Random(number), 10, 400, 0.01).coded();
        let test = Discrete::new(&data, Statistic::X2, RULES[number as usize % 4]);
        let options = Options::new(10, 0.2);
        let engine = |memory, strategy| {
            let cuda = CudaOptions { memory, strategy, launch_share: 1e-9, ..CudaOptions::default() };
            CudaEngine::discrete(test, options.alpha, cuda)
        };
        for strategy in [
            SearchStrategy::Shared,
            SearchStrategy::Edge { beta: 2, gamma: 32 },
            SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 64 },
        ] {
            compare(&format!("discrete {number} {strategy:?}"), |memory| {
                searched(&mut engine(memory, strategy)?, &options)
            });
        }
        compare(&format!("discrete {number} by a team"), |memory| {
            searched(&mut team(|| engine(memory, SearchStrategy::Shared))?, &options)
        });
    }
}

#[test]
#[ignore = "needs a GPU"]
fn nearest_neighbours() {
    for estimator in [Estimator::FrenzelPompe, Estimator::MesnerShalizi] {
        let made = Made::new(1, 60, 6, estimator != Estimator::FrenzelPompe, false);
        let knn = made.knn(settings(estimator, 5, if emulated() { 5 } else { 40 }));
        let options = Options::new(6, 0.6);
        for strategy in [KnnStrategy::Shared, KnnStrategy::Single, KnnStrategy::Parallel { block: 3 }] {
            let engine = |memory| {
                let (ordinal, memory_budget) = (0, Some(64 << 20));
                KnnCudaEngine::new(&knn, KnnCudaOptions { ordinal, strategy, memory, memory_budget })
            };
            compare(&format!("{estimator:?} {strategy:?}"), |memory| searched(&mut engine(memory)?, &options));
            if strategy == KnnStrategy::Shared {
                compare(&format!("{estimator:?} by a team"), |memory| {
                    let team =
                        QuestionTeam::new(Pool::new(2)).with("one", engine(memory)?).with("two", engine(memory)?);
                    searched(&mut { team }, &options)
                });
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn selections() {
    for (n, p, levels, classes) in [(97, 60, 64, 3), (1500, 20, 300, 10)] {
        let samples = simulated(n, p, levels, classes, 5);
        let logs = CountLogs::new(n);
        for (way, options) in ways().into_iter().enumerate() {
            compare(&format!("selection {n} x {p} way {way}"), |memory| {
                let mut counting = CudaCounting::new(&samples, &logs, 0..p, SelectionOptions { memory, ..options })?;
                select(&samples, &logs, &mut counting, Criterion::Jmi, 4, &mut Unobserved)
            });
        }
        compare(&format!("selection {n} x {p} by shards"), |memory| {
            let options = SelectionOptions { memory, ..SelectionOptions::default() };
            let members = (0..2).map(|_| member(&samples, &logs, options, Pool::new(2)));
            let mut shards = Shards::new(members.collect())?;
            select(&samples, &logs, &mut shards, Criterion::Jmi, 4, &mut Unobserved)
        });
    }
}

const ADVISED: &str = "PCGPU_ADVISE";
const LARGER: &str = "PCGPU_LARGER_THAN_THE_CARD";

/// Returns bytes of the first GPU's unified memory so far: allocated, advised to be located there, advised as only read, and brought there.
fn managed() -> [usize; 4] {
    let found = own_function(c"emulated_managed");
    // SAFETY: the driver has a function of this name and type.
    let managed = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(c_int, c_int) -> usize>(found) };
    [0, 1, 2, 3].map(|what| managed(0, what))
}

#[test]
fn the_driver_is_told_where_it_belongs_and_what_is_only_read() {
    with_driver("unified_cuda::advised", &[(ADVISED, "1")]);
}

/// Runs in a process with the driver; does nothing elsewhere.
#[test]
fn advised() {
    if std::env::var_os(ADVISED).is_none() {
        return;
    }
    let p = 60;
    let c = correlations(&mut Random(7), p, 100, 0.2);
    let gauss = Gauss::new(by_column(&c, p).unwrap(), 100.0, Reading::GaussCItest).unwrap();
    let options = Options::new(p, 0.05);
    let search = |memory| {
        let mut engine = CudaEngine::new(gauss, 0.05, CudaOptions { memory, ..CudaOptions::default() }).unwrap();
        searched(&mut engine, &options).unwrap()
    };
    search(MemoryKind::Device);
    assert_eq!(managed(), [0; 4]);
    search(UNIFIED);
    let first @ [all, belongs, read, brought] = managed();
    assert!(all > 8 * p * p && belongs == all && brought == all, "{first:?}");
    assert_eq!(read, 8 * p * p);
    // Kept memory is brought there again, and is filled again before it is only read.
    search(UNIFIED);
    let again = managed();
    assert_eq!(again[..3], [all, all, read]);
    assert!(again[3] > brought + all / 2, "{again:?}");
    // Unified memory serves no search that wants the GPU's own.
    search(MemoryKind::Device);
    search(UNIFIED);
    assert!(managed()[0] > all + all / 2, "{:?}", managed());
    // Also only read: the codes of discrete tests and of a selection, and the data of the nearest-neighbour test.
    let data = discrete::problem(&mut Random(1), 12, 500, 0.0).coded();
    let test = Discrete::new(&data, Statistic::G2, RULES[0]);
    let fresh = || {
        device::release();
        managed()[2]
    };
    let before = fresh();
    let cuda = CudaOptions { memory: UNIFIED, ..CudaOptions::default() };
    searched(&mut CudaEngine::discrete(test, 0.3, cuda).unwrap(), &Options::new(12, 0.3)).unwrap();
    let discrete = fresh();
    assert!(discrete > before, "{discrete} {before}");
    let knn = Made::new(1, 50, 6, false, false).knn(settings(Estimator::FrenzelPompe, 5, 8));
    let mut engine = KnnCudaEngine::new(&knn, KnnCudaOptions { memory: UNIFIED, ..Default::default() }).unwrap();
    searched(&mut engine, &Options::new(6, 0.6)).unwrap();
    drop(engine);
    let neighbours = fresh();
    assert!(neighbours > discrete, "{neighbours} {discrete}");
    let samples = simulated(97, 60, 64, 3, 5);
    let logs = CountLogs::new(97);
    let options = SelectionOptions { memory: UNIFIED, ..SelectionOptions::default() };
    let mut counting = CudaCounting::new(&samples, &logs, 0..60, options).unwrap();
    select(&samples, &logs, &mut counting, Criterion::Jmi, 4, &mut Unobserved).unwrap();
    assert!(managed()[2] > neighbours, "{:?} {neighbours}", managed());
}

/// Runs on an emulated GPU that has too little memory for a search.
#[test]
fn what_a_gpu_cannot_hold_runs_in_unified_memory() {
    let room = (256u64 << 20) + 150_000;
    with_driver("unified_cuda::larger", &[(LARGER, "1"), ("FAKE_CUDA_MEMORY", &room.to_string())]);
}

/// Runs in a process with the driver; does nothing elsewhere.
#[test]
fn larger() {
    if std::env::var_os(LARGER).is_none() {
        return;
    }
    let p = 200;
    let c = correlations(&mut Random(7), p, 100, 0.05);
    let gauss = Gauss::new(by_column(&c, p).unwrap(), 100.0, Reading::GaussCItest).unwrap();
    let options = Options::new(p, 0.01);
    let search = |cuda: CudaOptions| {
        let mut engine = CudaEngine::new(gauss, options.alpha, cuda)?;
        let mut p_max = vec![0.25; p * p];
        let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved)?;
        Ok((found, p_max, engine.plan().total()))
    };
    let refused = |cuda| match search(cuda).map(|_| ()) {
        Err(Error::Device(e)) if e.kind == DeviceKind::OutOfMemory => e.message,
        other => panic!("{other:?}"),
    };
    assert!(!refused(CudaOptions::default()).contains("host"));
    let unified = CudaOptions { memory: UNIFIED, ..CudaOptions::default() };
    let (found, p_max, planned) = search(unified).unwrap();
    assert!(planned > 500_000, "{planned}");
    same("larger than the GPU", &(found, p_max), &on_cpu(gauss, &options).unwrap());
    assert!(refused(CudaOptions { memory_budget: Some(100_000), ..unified }).contains("of the host's memory"));
}
