//! Checks that the CPU kernel of the nearest-neighbour test agrees with a plain implementation of the definition to the last bit. Searches with
//! it must not depend on threads, shards or order.

use std::time::{Duration, Instant};

use crate::support::mixed::{settings, Made};
use crate::support::patience::stops_within_half_a_second;
use pcgpu_core::ci::knn::{EarlyStop, Estimator, Knn, Settings, Transform};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cpu::{CpuEngine, KnnKernel};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, skeleton_one_by_one, Method, Options};
use pcgpu_core::Error;

#[test]
fn the_kernel_is_the_definition() {
    let questions: [(usize, usize, &[u32]); 9] = [
        (0, 1, &[]),
        (3, 2, &[]),
        (2, 5, &[]),
        (0, 2, &[1]),
        (4, 1, &[2]),
        (5, 0, &[3, 2]),
        (1, 3, &[0, 5]),
        (0, 5, &[4, 2, 1]),
        (2, 0, &[5]),
    ];
    let mut compared = 0;
    for (case, &(n, k, k_perm)) in
        [(20, 3, 5), (63, 1, 1), (64, 7, 40), (150, 30, 5), (301, 7, 8), (40, 39, 39)].iter().enumerate()
    {
        for estimator in [Estimator::FrenzelPompe, Estimator::MesnerShalizi, Estimator::Gao] {
            let mixed = estimator != Estimator::FrenzelPompe;
            let made = Made::new(case as u64, n, 6, mixed, case == 3);
            for transform in [Transform::Ranks, Transform::Uniform, Transform::Standardize, Transform::None] {
                let early = (case % 2 == 1).then_some(EarlyStop { alpha: 0.2, error: 0.05 });
                let knn = made.knn(Settings { k_perm, transform, early_stop: early, ..settings(estimator, k, 7) });
                let mut engine = CpuEngine::new(KnnKernel::new(&knn), 1);
                let mut batch = Batch::new();
                questions.iter().for_each(|&(x, y, s)| batch.push(x, y, s));
                let found = engine.p_values(&batch, &mut Unobserved).unwrap();
                for (&(x, y, s), found) in questions.iter().zip(found) {
                    let wanted = knn.test(x, y, s);
                    let label = format!("{estimator:?} {transform:?}: n {n}, k {k}, ({x}, {y} | {s:?})");
                    assert_eq!(found, wanted.p, "{label}");
                    let whole = KnnKernel::new(&knn).test(y, x, s, 2, &mut Unobserved).unwrap();
                    assert_eq!(whole, wanted, "{label}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 6 * 3 * 4 * 9);
}

/// Checks that graph, separating sets, counts and p-values are those of one test at a time.
#[test]
fn skeletons_do_not_depend_on_the_schedule() {
    for (seed, estimator, p) in [(1, Estimator::FrenzelPompe, 7), (2, Estimator::MesnerShalizi, 6)] {
        let made = Made::new(seed, 80, p, estimator != Estimator::FrenzelPompe, false);
        let mut knn = made.knn(settings(estimator, 5, 20));
        for method in [Method::Stable, Method::StableFast, Method::Original] {
            let options = Options { method, ..Options::new(p, 0.7) };
            let mut wanted = vec![0.0; p * p];
            let plain = skeleton_one_by_one(&mut knn, &options, &mut wanted, &mut Unobserved).unwrap();
            assert!(plain.graph.edge_count() > 0 && plain.tests.len() > 2, "{:?}", plain.tests);
            for (threads, shards) in [(1, 8), (2, 1), (4, 3), (3, 1 << 16)] {
                let mut p_max = vec![0.0; p * p];
                let mut engine = CpuEngine::with_shards(KnnKernel::new(&knn), threads, shards);
                let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
                let label = format!("{estimator:?} {method:?}, {threads} threads");
                assert_eq!(found.graph, plain.graph, "{label}");
                assert_eq!(found.tests, plain.tests, "{label}");
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

/// Checks that a test on its own columns alone equals the test on all columns.
#[test]
fn columns_may_be_left_out() {
    let made = Made::new(8, 60, 6, true, false);
    let settings = settings(Estimator::MesnerShalizi, 4, 50);
    let wanted = made.knn(settings).test(4, 1, &[5, 2]);
    let names = [1u32, 2, 4, 5];
    let data: Vec<f64> = names.iter().flat_map(|&c| made.data[c as usize * 60..][..60].to_vec()).collect();
    let discrete: Vec<bool> = names.iter().map(|&c| made.discrete[c as usize]).collect();
    let knn = Knn::of_columns(by_column(&data, 4).unwrap(), &discrete, &names, settings).unwrap();
    assert_eq!(knn.test(2, 0, &[1, 3]), wanted);
    assert_eq!(KnnKernel::new(&knn).test(0, 2, &[3, 1], 1, &mut Unobserved).unwrap(), wanted);
}

#[test]
fn a_seed_is_one_answer_and_another_seed_another() {
    let made = Made::new(5, 100, 4, false, false);
    let p = |seed| {
        let knn = made.knn(Settings { seed, ..settings(Estimator::FrenzelPompe, 7, 200) });
        let kernel = KnnKernel::new(&knn);
        [&[][..], &[1]].map(|s| kernel.test(0, 3, s, 2, &mut Unobserved).unwrap().count)
    };
    assert_eq!(p(3), p(3));
    assert!((4..30).any(|seed| p(seed)[0] != p(3)[0]) && (4..30).any(|seed| p(seed)[1] != p(3)[1]));
}

/// Checks that a constant variable is independent of everything, and that data with only one value are no error.
#[test]
fn variables_without_variation() {
    for estimator in [Estimator::FrenzelPompe, Estimator::MesnerShalizi, Estimator::Gao] {
        for transform in [Transform::Ranks, Transform::Standardize] {
            let settings = Settings { transform, ..settings(estimator, 3, 30) };
            let knn = Made::new(12, 50, 4, false, true).knn(settings);
            let kernel = KnnKernel::new(&knn);
            for (x, y, s) in [(0, 3, &[][..]), (3, 1, &[0]), (3, 2, &[0, 1])] {
                assert_eq!(kernel.test(x, y, s, 1, &mut Unobserved).unwrap().p, 1.0, "{estimator:?}, {x}, {y} | {s:?}");
            }
            // In S it changes only the random numbers.
            let with = kernel.test(0, 1, &[3], 1, &mut Unobserved).unwrap();
            assert!(with.p <= 0.1 && with.drawn == 30, "{with:?}");
            let flat = Made { data: vec![1.0; 60], discrete: vec![false; 3] };
            let outcome = KnnKernel::new(&flat.knn(settings)).test(0, 1, &[2], 1, &mut Unobserved).unwrap();
            assert!(outcome.p == 1.0 && outcome.estimate.is_finite(), "{outcome:?}");
        }
    }
}

#[test]
fn arguments_out_of_range_are_refused() {
    let made = Made::new(1, 10, 3, true, false);
    let refuse = |settings: Settings| match Knn::new(
        by_column(&made.data, made.discrete.len()).unwrap(),
        &made.discrete,
        settings,
    ) {
        Err(Error::Argument { argument, .. }) => argument,
        other => panic!("{other:?}"),
    };
    let good = settings(Estimator::Gao, 3, 5);
    assert_eq!(refuse(Settings { k: 10, ..good }), "suffStat$k");
    assert_eq!(refuse(Settings { k: 0, ..good }), "suffStat$k");
    assert_eq!(refuse(Settings { k_perm: 10, ..good }), "suffStat$k_perm");
    assert_eq!(refuse(Settings { estimator: Estimator::FrenzelPompe, ..good }), "suffStat$estimator");
    assert_eq!(refuse(Settings { permutations: 0, ..good }), "permutations");
}

/// Interrupts long tests, which must stop within a test, not after it.
#[test]
fn a_long_test_can_be_interrupted() {
    const PATIENCE: Duration = Duration::from_millis(100);
    struct Impatient(Instant);
    impl Observer for Impatient {
        fn progress(&mut self, _: usize, _: f64, _: f64) -> pcgpu_core::Result<()> {
            self.look()
        }
        fn look(&mut self) -> pcgpu_core::Result<()> {
            if self.0.elapsed() > PATIENCE {
                return Err(Error::Interrupted);
            }
            Ok(())
        }
    }
    let made = Made::new(9, 20_000, 4, false, false);
    let knn = made.knn(settings(Estimator::FrenzelPompe, 4000, 1000));
    let kernel = KnnKernel::new(&knn);
    let stops = |what: &str, run: &mut dyn FnMut(&mut Impatient) -> pcgpu_core::Result<()>| {
        stops_within_half_a_second(what, || {
            let began = Instant::now();
            assert_eq!(run(&mut Impatient(began)), Err(Error::Interrupted), "{what}");
            began.elapsed().saturating_sub(PATIENCE)
        });
    };
    stops("a test", &mut |observer| kernel.test(0, 1, &[], 2, observer).map(drop));
    let mut engine = CpuEngine::new(KnnKernel::new(&knn), 2);
    let options = Options::new(4, 0.05);
    stops("a search", &mut |observer| skeleton(&mut engine, &options, &mut vec![0.0; 16], observer).map(drop));
    let mut batch = Batch::new();
    batch.push(0, 1, &[2]);
    stops("a batch", &mut |observer| engine.p_values(&batch, observer).map(drop));
    // Also while it looks for neighbours in S.
    let large = Made::new(9, 60_000, 4, false, false);
    let knn = large.knn(Settings { k_perm: 30_000, ..settings(Estimator::FrenzelPompe, 4, 5) });
    stops("neighbours", &mut |observer| KnnKernel::new(&knn).test(0, 1, &[2, 3], 2, observer).map(drop));
}
