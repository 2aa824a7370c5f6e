//! Compares the nearest-neighbour test on a GPU with the CPU engine, to the last bit.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::support::cuda::{emulated, sets, Slowed};
use crate::support::mixed::{settings, Made};
use pcgpu_core::ci::knn::{EarlyStop, Estimator, Knn, Settings, Transform};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cpu::{CpuEngine, KnnKernel};
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions, KnnStrategy};
use pcgpu_core::engine::question_team::QuestionTeam;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Method, Options};
use pcgpu_core::{DeviceKind, Error, Result};

const STRATEGIES: [KnnStrategy; 4] =
    [KnnStrategy::Shared, KnnStrategy::Single, KnnStrategy::Parallel { block: 0 }, KnnStrategy::Parallel { block: 3 }];

const QUESTIONS: [(usize, usize, &[u32]); 10] = [
    (0, 1, &[]),
    (3, 2, &[]),
    (2, 5, &[]),
    (0, 2, &[1]),
    (4, 1, &[2]),
    (0, 4, &[2]),
    (5, 0, &[3, 2]),
    (1, 3, &[0, 5]),
    (0, 5, &[4, 2, 1]),
    (2, 0, &[5]),
];

fn with(strategy: KnnStrategy) -> KnnCudaOptions {
    KnnCudaOptions { strategy, ..KnnCudaOptions::default() }
}

fn questions() -> Batch {
    let mut batch = Batch::new();
    QUESTIONS.iter().for_each(|&(x, y, s)| batch.push(x, y, s));
    batch
}

#[test]
#[ignore = "needs a GPU"]
fn outcomes_are_the_cpus() {
    let mut compared = 0;
    let shapes =
        [(20, 3, 5), (64, 1, 1), (70, 7, 40), (250, 50, 5), (300, 7, 8), (1000, 256, 5), (1100, 7, 15), (40, 39, 39)];
    for (case, &(n, k, k_perm)) in shapes.iter().enumerate().filter(|(_, &(n, ..))| n < 500 || !emulated()) {
        let estimators = [Estimator::FrenzelPompe, Estimator::MesnerShalizi, Estimator::Gao];
        for (at, estimator) in estimators.into_iter().enumerate() {
            let made = Made::new(case as u64, n, 6, estimator != Estimator::FrenzelPompe, case == 3);
            let mut transforms = vec![Transform::Ranks, Transform::Uniform, Transform::Standardize];
            if emulated() {
                // Over all shapes, each estimator meets all transforms.
                transforms = vec![transforms[(case + at) % 3]];
            }
            for transform in transforms {
                let early = (case % 2 == 1).then_some(EarlyStop { alpha: 0.2, error: 0.05 });
                let permutations = match (emulated(), n) {
                    (false, ..500) => 150,
                    (false, _) => 20,
                    (true, ..100) => 5,
                    (true, _) => 2,
                };
                let of_case = settings(estimator, k, permutations);
                let knn = made.knn(Settings { k_perm, transform, early_stop: early, ..of_case });
                let kernel = KnnKernel::new(&knn);
                let wanted = QUESTIONS.map(|(x, y, s)| kernel.test(x, y, s, 4, &mut Unobserved).unwrap());
                for strategy in STRATEGIES {
                    let mut engine = KnnCudaEngine::new(&knn, with(strategy)).unwrap();
                    let label = format!("{estimator:?} {transform:?} {strategy:?}: n {n}, k {k}");
                    // Estimates, counts and p agree to the last bit.
                    assert_eq!(engine.outcomes(&questions(), &mut Unobserved).unwrap(), wanted, "{label}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, if emulated() { 6 } else { 8 * 3 } * 3 * 4);
}

/// Compares the short and the long list of neighbours of the papers' kernel.
#[test]
#[ignore = "needs a GPU"]
fn tests_by_short_and_by_long_lists_are_the_cpus() {
    let shapes = [(530, 512), (530, 513), (1040, 1025), (2100, 2048)];
    let mut compared = 0;
    for (n, k) in shapes.into_iter().filter(|&(n, _)| n < 2000 || !emulated()) {
        for (estimator, transform) in
            [(Estimator::FrenzelPompe, Transform::Ranks), (Estimator::MesnerShalizi, Transform::Standardize)]
        {
            let made = Made::new(6, n, 4, false, false);
            let knn = made.knn(Settings { k_perm: 3, transform, ..settings(estimator, k, 1) });
            let kernel = KnnKernel::new(&knn);
            let wanted = [(0, 1, &[2][..]), (1, 3, &[])]
                .map(|(x, y, s)| (x, y, s, kernel.test(x, y, s, 2, &mut Unobserved).unwrap()));
            let mut batch = Batch::new();
            wanted.iter().for_each(|&(x, y, s, _)| batch.push(x, y, s));
            for strategy in [KnnStrategy::Single, KnnStrategy::Parallel { block: 0 }] {
                let mut engine = KnnCudaEngine::new(&knn, with(strategy)).unwrap();
                let found = engine.outcomes(&batch, &mut Unobserved).unwrap();
                assert_eq!(found, wanted.map(|(.., outcome)| outcome), "{strategy:?}, {estimator:?}: n {n}, k {k}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, if emulated() { 12 } else { 16 });
}

/// Asks one test at a time, which runs more permutations at once than a plan has for each of many tests.
#[test]
#[ignore = "needs a GPU"]
fn a_test_alone_with_many_permutations_is_the_cpus() {
    for (whole, early_stop) in [(true, None), (false, None), (true, Some(EarlyStop { alpha: 0.2, error: 0.05 }))] {
        let made = Made::new(2, 24, 4, whole, false);
        let estimator = if whole { Estimator::MesnerShalizi } else { Estimator::FrenzelPompe };
        let transform = if whole { Transform::Ranks } else { Transform::Standardize };
        let knn = made.knn(Settings { early_stop, transform, ..settings(estimator, 3, 300) });
        let kernel = KnnKernel::new(&knn);
        for strategy in STRATEGIES {
            let mut engine = KnnCudaEngine::new(&knn, with(strategy)).unwrap();
            for (x, y, s) in [(0, 1, &[2][..]), (1, 3, &[])] {
                let wanted = kernel.test(x, y, s, 4, &mut Unobserved).unwrap();
                let mut batch = Batch::new();
                batch.push(x, y, s);
                let found = engine.outcomes(&batch, &mut Unobserved).unwrap();
                assert_eq!(found, [wanted], "{strategy:?}, {x} {y}, {early_stop:?}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn skeletons_are_the_cpus_five_times_over() {
    for (seed, estimator, p) in [(1, Estimator::FrenzelPompe, 9), (2, Estimator::MesnerShalizi, 8)] {
        let made = Made::new(seed, 100, p, estimator != Estimator::FrenzelPompe, false);
        let knn = made.knn(settings(estimator, 5, if emulated() { 15 } else { 40 }));
        for method in [Method::Stable, Method::StableFast] {
            let options = Options { method, ..Options::new(p, 0.7) };
            let mut wanted = vec![0.0; p * p];
            let mut cpu = CpuEngine::with_shards(KnnKernel::new(&knn), 3, 8);
            let plain = skeleton(&mut cpu, &options, &mut wanted, &mut Unobserved).unwrap();
            assert!(plain.tests.len() > 1 && plain.graph.edge_count() > 0);
            for repeat in if emulated() { 3..5 } else { 0..5 } {
                let strategy = STRATEGIES[repeat % STRATEGIES.len()];
                let mut p_max = vec![0.0; p * p];
                let budget = (repeat == 4).then_some(8 << 20);
                let cuda = KnnCudaOptions { memory_budget: budget, ..with(strategy) };
                let mut engine = KnnCudaEngine::new(&knn, cuda).unwrap();
                let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
                let label = format!("{estimator:?} {method:?} {strategy:?}");
                assert_eq!((&found.graph, &found.tests), (&plain.graph, &plain.tests), "{label}");
                assert_eq!(p_max, wanted, "{label}");
                for x in 0..p {
                    for y in 0..p {
                        assert_eq!(found.sepsets.get(x, y), plain.sepsets.get(x, y), "{label}: {x}, {y}");
                    }
                }
            }
        }
    }
}

/// Lowers the budget from what a search plans with all memory until one is refused. Questions and searches must have the same outcomes.
#[test]
#[ignore = "needs a GPU"]
fn every_budget_has_the_answer_of_all_memory() {
    for (n, p, estimator, transform, strategy) in [
        (40, 7, Estimator::FrenzelPompe, Transform::Ranks, STRATEGIES[0]),
        (30, 6, Estimator::MesnerShalizi, Transform::Ranks, STRATEGIES[0]),
        (30, 6, Estimator::FrenzelPompe, Transform::Standardize, STRATEGIES[0]),
        (30, 6, Estimator::Gao, Transform::Ranks, STRATEGIES[2]),
    ] {
        let made = Made::new(n as u64, n, p, estimator != Estimator::FrenzelPompe, false);
        let knn = made.knn(Settings { transform, ..settings(estimator, 3, 6) });
        let searched = |memory_budget| -> Result<(String, u64)> {
            let mut engine = KnnCudaEngine::new(&knn, KnnCudaOptions { memory_budget, ..with(strategy) })?;
            let mut found = String::new();
            if p > 6 {
                let mut p_max = vec![0.0; p * p];
                let options = Options { m_max: 2.0, ..Options::new(p, 0.3) };
                let searched = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved)?;
                found = format!("{:?} {:?} {p_max:?}", searched.tests, sets(&searched));
            }
            let outcomes = engine.outcomes(&questions(), &mut Unobserved)?;
            Ok((format!("{found} {outcomes:?}"), engine.memory_plan().iter().map(|(_, bytes)| bytes).sum()))
        };
        let (whole, planned) = searched(None).unwrap();
        let mut budget = planned;
        loop {
            let label = format!("{n} x {p}, {estimator:?}, {transform:?}, {strategy:?}: {budget} of {planned} bytes");
            match searched(Some(budget)) {
                Ok((found, planned)) => assert!(found == whole && planned <= budget, "{label}: {planned} planned"),
                Err(Error::Device(e)) if e.kind == DeviceKind::OutOfMemory => {
                    assert!(e.message.contains(&format!("{budget} bytes")), "{e:?}");
                    println!("{label} are refused");
                    break;
                }
                Err(e) => panic!("{label}: {e:?}"),
            }
            // Large budgets differ only in how many tests run at a time.
            budget /= if budget > 1 << 20 { 16 } else { 2 };
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn memory_stays_within_its_budget_and_changes_nothing() {
    use Transform::{Ranks, Standardize};
    for (n, budget, transform) in [
        (90, 1 << 20, Ranks),
        (300, 4 << 20, Ranks),
        (1500, 16 << 20, Ranks),
        (300, 2 << 20, Standardize),
        (1500, 16 << 20, Standardize),
    ] {
        if n > 1000 && emulated() {
            continue;
        }
        let made = Made::new(4, n, 6, true, false);
        let mut of_case = settings(Estimator::MesnerShalizi, 9, 12);
        of_case.transform = transform;
        let knn = made.knn(of_case);
        let kernel = KnnKernel::new(&knn);
        let wanted = QUESTIONS.map(|(x, y, s)| kernel.test(x, y, s, 4, &mut Unobserved).unwrap());
        for strategy in STRATEGIES {
            let mut engine =
                KnnCudaEngine::new(&knn, KnnCudaOptions { memory_budget: Some(budget), ..with(strategy) }).unwrap();
            assert_eq!(
                engine.outcomes(&questions(), &mut Unobserved).unwrap(),
                wanted,
                "{n}, {budget}, {transform:?}, {strategy:?}"
            );
            let planned: u64 = engine.memory_plan().iter().map(|(_, bytes)| bytes).sum();
            assert!(planned > 10_000 && planned <= budget, "{n}: {planned} of {budget}");
        }
    }
}

#[test]
fn what_cannot_run_is_refused() {
    let made = Made::new(3, 2100, 4, false, false);
    let knn = made.knn(settings(Estimator::FrenzelPompe, 2049, 5));
    let refused = KnnCudaEngine::new(&knn, with(KnnStrategy::Single)).map(|_| ());
    assert!(matches!(refused, Err(Error::Argument { argument: "strategy", .. })), "{refused:?}");
}

#[test]
#[ignore = "needs a GPU"]
fn too_little_memory_and_gpus_that_are_not_there_are_refused() {
    let made = Made::new(3, 700, 4, false, false);
    let knn = made.knn(settings(Estimator::FrenzelPompe, 600, 5));
    let small = KnnCudaOptions { memory_budget: Some(1000), ..KnnCudaOptions::default() };
    let mut engine = KnnCudaEngine::new(&knn, small).unwrap();
    let mut batch = Batch::new();
    batch.push(0, 1, &[]);
    match engine.p_values(&batch, &mut Unobserved) {
        Err(Error::Device(e)) => assert_eq!(e.kind, DeviceKind::OutOfMemory),
        other => panic!("{other:?}"),
    }
    let refused = KnnCudaEngine::new(&knn, KnnCudaOptions { ordinal: 99, ..KnnCudaOptions::default() }).map(|_| ());
    assert!(matches!(refused, Err(Error::Argument { argument: "device", .. })), "{refused:?}");
}

#[test]
#[ignore = "needs a GPU"]
fn a_long_batch_can_be_interrupted() {
    /// An observer that ends the run after 0.3 s, and keeps the longest time between two looks.
    struct Impatient {
        began: Instant,
        looked: Instant,
        longest: f64,
    }
    impl Observer for Impatient {
        fn look(&mut self) -> Result<()> {
            self.longest = self.longest.max(self.looked.elapsed().as_secs_f64());
            self.looked = Instant::now();
            if self.began.elapsed().as_millis() > 300 {
                return Err(Error::Interrupted);
            }
            Ok(())
        }
    }
    let made = Made::new(9, 20_000, 4, false, false);
    for transform in [Transform::Ranks, Transform::Standardize] {
        let of_case = settings(Estimator::FrenzelPompe, 4000, 1000);
        let knn: Knn = made.knn(Settings { transform, ..of_case });
        let mut engine = KnnCudaEngine::new(&knn, KnnCudaOptions::default()).unwrap();
        let mut batch = Batch::new();
        (0..100).for_each(|_| batch.push(0, 1, &[2]));
        let now = Instant::now();
        let mut observer = Impatient { began: now, looked: now, longest: 0.0 };
        assert_eq!(engine.p_values(&batch, &mut observer), Err(Error::Interrupted));
        // A launch takes about a tenth of a second. The first one waits for the driver's compiler, and other tests run at the same time.
        assert!(observer.looked.elapsed().as_secs_f64() < 1.0, "{transform:?}: {:?}", observer.looked.elapsed());
        assert!(observer.longest < 3.0, "{transform:?}: {} s", observer.longest);
        println!("{transform:?}: {:.3} s between two looks at most", observer.longest);
        drop(engine);
        let small = Made::new(9, 100, 4, false, false).knn(settings(Estimator::FrenzelPompe, 4, 20));
        let mut batch = Batch::new();
        batch.push(0, 1, &[2]);
        let found = KnnCudaEngine::new(&small, KnnCudaOptions::default()).unwrap().p_values(&batch, &mut Unobserved);
        assert_eq!(found.unwrap(), [small.test(0, 1, &[2]).p]);
    }
}

/// Returns a question team of these GPUs, by number and budget, and of the CPU unless `threads` is 0.
fn team<'a>(knn: &'a Knn, gpus: &[(usize, Option<u64>)], threads: usize) -> QuestionTeam<'a> {
    let mut team = QuestionTeam::new(Pool::new(threads.max(1)));
    // Long enough that no machine has taken all questions before another begins.
    let [of_gpu, of_cpu] = (if emulated() { [0, 5] } else { [2, 2] }).map(Duration::from_millis);
    for &(ordinal, memory_budget) in gpus {
        let options = KnnCudaOptions { ordinal, memory_budget, ..KnnCudaOptions::default() };
        let engine = KnnCudaEngine::new(knn, options).unwrap();
        team = team.with(format!("cuda:{ordinal}"), Slowed(engine, of_gpu));
    }
    match threads {
        0 => team,
        _ => team.with("cpu", Slowed(CpuEngine::new(KnnKernel::new(knn), threads), of_cpu)),
    }
}

/// Searches with question teams of `gpus`, alone and with the CPU, and compares with the CPU engine.
fn teams_are_the_cpu(gpus: &[(usize, Option<u64>)], lost: usize) {
    let mut shards: BTreeMap<String, u64> = BTreeMap::new();
    for (seed, estimator, p) in [(1, Estimator::FrenzelPompe, 9), (2, Estimator::MesnerShalizi, 8)] {
        let made = Made::new(seed, if emulated() { 60 } else { 300 }, p, estimator != Estimator::FrenzelPompe, false);
        let early_stop = (seed == 2).then_some(EarlyStop { alpha: 0.7, error: 0.05 });
        let knn = made.knn(Settings { early_stop, ..settings(estimator, 5, if emulated() { 20 } else { 100 }) });
        for method in [Method::Stable, Method::StableFast, Method::Original] {
            let options = Options { method, ..Options::new(p, 0.7) };
            let mut wanted = vec![0.0; p * p];
            let mut cpu = CpuEngine::with_shards(KnnKernel::new(&knn), 3, 8);
            let plain = skeleton(&mut cpu, &options, &mut wanted, &mut Unobserved).unwrap();
            let p_values = cpu.p_values(&questions(), &mut Unobserved).unwrap();
            assert!(plain.tests.len() > 1 && plain.graph.edge_count() > 0);
            for threads in if lost < gpus.len() { vec![0, 1, 2] } else { vec![1, 2] } {
                let label = format!("{estimator:?} {method:?}: {gpus:?}, {threads} threads");
                let mut team = team(&knn, gpus, threads);
                let mut p_max = vec![0.0; p * p];
                let found = skeleton(&mut team, &options, &mut p_max, &mut Unobserved).unwrap();
                assert_eq!((&found.graph, &found.tests), (&plain.graph, &plain.tests), "{label}");
                assert_eq!(p_max, wanted, "{label}");
                assert_eq!(sets(&found), sets(&plain), "{label}");
                assert_eq!(team.p_values(&questions(), &mut Unobserved).unwrap(), p_values, "{label}");
                let report = team.team();
                assert_eq!(report.lost.len(), lost, "{label}: {report:?}");
                for share in report.shares {
                    // A GPU that did work has received and sent data.
                    let copied = share.machine != "cpu" && share.shards > 0;
                    assert!((share.moved.to > 0 && share.moved.from > 0) || !copied, "{label}: {share:?}");
                    *shards.entry(share.machine).or_default() += share.shards;
                }
            }
        }
    }
    assert_eq!(shards.values().filter(|&&count| count > 0).count(), gpus.len() + 1 - lost, "{shards:?}");
}

#[test]
#[ignore = "needs a GPU"]
fn teams_of_a_gpu_and_the_cpu_are_the_cpu() {
    teams_are_the_cpu(&[(0, None)], 0);
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_that_fails_leaves_its_work_to_the_others() {
    teams_are_the_cpu(&[(0, Some(1000))], 1);
}

#[test]
#[ignore = "needs a GPU"]
fn teams_of_two_gpus_are_the_cpu() {
    if device::devices(false).unwrap().len() < 2 {
        return println!("skipped: this machine has one GPU");
    }
    teams_are_the_cpu(&[(0, None), (1, None)], 0);
    teams_are_the_cpu(&[(0, Some(8 << 20)), (1, Some(1000))], 1);
}
