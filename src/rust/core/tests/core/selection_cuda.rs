//! Feature selection on a GPU against the recorded answers and against the CPU: counts, choices and scores are the same to
//! the last bit.

use crate::support::cuda::emulated;
use crate::support::golden::cases;
use crate::support::selection::{follow, recorded, simulated, sparse_and_dense};
use crate::support::ways::ways;
use pcgpu_core::engine::cpu::selection::CpuCounting;
use pcgpu_core::engine::cuda::selection::{CudaCounting, SelectionOptions, SelectionStrategy};
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::selection::{select, CountLogs, Counting, Criterion, Joint, Partner, Samples, Shards, Sums};
use pcgpu_core::{DeviceError, DeviceKind, Error, Result};

#[test]
#[ignore = "needs a GPU"]
fn recorded_selections() {
    for case in cases("jmi-") {
        let samples = recorded(&case);
        if samples.n() * samples.p() > 50_000 && emulated() {
            continue;
        }
        let logs = CountLogs::new(samples.n());
        for options in ways() {
            let mut counting = CudaCounting::new(&samples, &logs, 0..samples.p(), options).unwrap();
            assert!(follow(&case, &samples, &logs, &mut counting) >= 20);
        }
    }
}

/// The sums with nothing, with a few features, and with two of them as one.
fn sums(samples: &Samples, counting: &mut dyn Counting) -> Result<Vec<Vec<Sums>>> {
    let p = samples.p();
    let mut joint = Joint::of_variable(samples, 0);
    joint.refine(samples, p / 2);
    let partners = [
        Partner::Nothing,
        Partner::Feature(0),
        Partner::Feature(p - 1),
        Partner::Feature(p / 2),
        Partner::Joint(&joint),
        Partner::Feature(4 % p),
    ];
    let all = partners.into_iter().map(|partner| {
        let mut sums = vec![Sums::default(); p];
        counting.count(partner, &vec![false; p], &mut sums, &mut Unobserved)?;
        Ok(sums)
    });
    all.collect()
}

#[test]
#[ignore = "needs a GPU"]
fn counts_are_those_of_the_cpu() {
    let mut seed = 0;
    for &levels in if emulated() { &[2, 300][..] } else { &[2, 8, 64, 256, 300] } {
        for (n, classes) in [(60, 2), (97, 43), (255, 3), (256, 10), (1500, 43), (3000, 2), (70_001, 10)] {
            seed += 1;
            let p = if n > 10_000 { 12 } else { 40 };
            let samples = simulated(n, p, levels, classes, seed);
            let logs = CountLogs::new(n);
            let expected = sums(&samples, &mut CpuCounting::new(&samples, &logs, 0..p, 2)).unwrap();
            for options in ways() {
                let mut counting = CudaCounting::new(&samples, &logs, 0..p, options).unwrap();
                let found = match sums(&samples, &mut counting) {
                    Ok(found) => found,
                    // More joint states than the paper's 16 bits number.
                    Err(Error::Argument { argument: "strategy", .. }) => {
                        assert!(
                            n > 65_535 && levels >= 256 && matches!(options.strategy, SelectionStrategy::Joined { .. })
                        );
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                };
                for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    assert_eq!(
                        found, expected,
                        "{levels} levels, {n} samples, {classes} classes, partner {at}, {options:?}"
                    );
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn selections_and_scores_are_those_of_the_cpu() {
    for (n, p, levels, classes) in [(97, 400, 64, 2), (90, 300, 64, 43), (2000, 100, 8, 20), (1200, 30, 256, 3)] {
        let samples = simulated(n, p, levels, classes, 11);
        let logs = CountLogs::new(n);
        let joined =
            SelectionOptions { strategy: SelectionStrategy::Joined { threads: 2 }, ..SelectionOptions::default() };
        for criterion in Criterion::ALL {
            let k = if emulated() { 4 } else { 20 };
            let mut cpu = CpuCounting::new(&samples, &logs, 0..p, 2);
            let expected = select(&samples, &logs, &mut cpu, criterion, k, &mut Unobserved).unwrap();
            for options in [SelectionOptions::default(), joined] {
                let mut counting = CudaCounting::new(&samples, &logs, 0..p, options).unwrap();
                // The second selection begins with features that the first has left out.
                for _ in 0..2 {
                    let found = select(&samples, &logs, &mut counting, criterion, k, &mut Unobserved).unwrap();
                    assert_eq!(found, expected, "{criterion:?}, {n} x {p}, {options:?}");
                }
            }
            let maker = |range| CudaCounting::new(&samples, &logs, range, SelectionOptions::default());
            let mut shards = Shards::new(p, vec![maker; 3]).unwrap();
            assert_eq!(select(&samples, &logs, &mut shards, criterion, k, &mut Unobserved).unwrap(), expected);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn sparse_features_have_the_sums_of_dense_ones() {
    for (n, p, seed) in [(80, 40, 1), (3000, 45, 3)] {
        let [sparse, dense] = sparse_and_dense(n, p, seed);
        let logs = CountLogs::new(n);
        let mut cpu = CpuCounting::new(&dense, &logs, 0..p, 2);
        for options in ways() {
            let mut counting = CudaCounting::new(&sparse, &logs, 0..p, options).unwrap();
            for partner in [Partner::Nothing, Partner::Feature(3), Partner::Feature(p - 1)] {
                let [mut found, mut wanted] = [(); 2].map(|()| vec![Sums::default(); p]);
                counting.count(partner, &vec![false; p], &mut found, &mut Unobserved).unwrap();
                cpu.count(partner, &vec![false; p], &mut wanted, &mut Unobserved).unwrap();
                assert_eq!(found, wanted, "{options:?}, {partner:?}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn sums_of_skipped_features_are_left_alone() {
    let samples = simulated(80, 20, 5, 3, 9);
    let logs = CountLogs::new(80);
    let mark = Sums { pair: -1, with_class: -1 };
    let skip: Vec<bool> = (0..20).map(|f| f % 3 == 0).collect();
    for options in ways() {
        let mut counting = CudaCounting::new(&samples, &logs, 0..20, options).unwrap();
        let mut sums = vec![mark; 20];
        counting.count(Partner::Feature(4), &skip, &mut sums, &mut Unobserved).unwrap();
        assert!((0..20).all(|f| (sums[f] == mark) == skip[f]));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn too_little_memory_and_a_card_that_is_not_there_are_errors() {
    let samples = simulated(500, 50, 64, 3, 2);
    let logs = CountLogs::new(500);
    let with = |options| CudaCounting::new(&samples, &logs, 0..50, options).map(|_| ());
    let small = with(SelectionOptions { memory_budget: Some(10_000), ..SelectionOptions::default() });
    assert!(matches!(small, Err(Error::Device(DeviceError { kind: DeviceKind::OutOfMemory, .. }))), "{small:?}");
    let absent = with(SelectionOptions { ordinal: 99, ..SelectionOptions::default() });
    assert!(matches!(absent, Err(Error::Argument { argument: "device", .. })), "{absent:?}");
    assert!(with(SelectionOptions::default()).is_ok());
}

struct Stopper;

impl Observer for Stopper {
    fn progress(&mut self, _: usize, _: f64, _: f64) -> Result<()> {
        Err(Error::Interrupted)
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_selection_that_is_stopped_leaves_the_card_in_order() {
    let samples = simulated(5000, 200, 64, 10, 4);
    let logs = CountLogs::new(5000);
    let mut counting = CudaCounting::new(&samples, &logs, 0..200, SelectionOptions::default()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30));
    let stopped = select(&samples, &logs, &mut counting, Criterion::Jmi, 100, &mut Stopper);
    assert_eq!(stopped, Err(Error::Interrupted));
    let mut cpu = CpuCounting::new(&samples, &logs, 0..200, 2);
    let expected = select(&samples, &logs, &mut cpu, Criterion::Jmi, 5, &mut Unobserved).unwrap();
    assert_eq!(select(&samples, &logs, &mut counting, Criterion::Jmi, 5, &mut Unobserved).unwrap(), expected);
}
