//! Compares feature selection on a GPU with the recorded answers and with the CPU. Counts, choices and scores agree to the last bit.

use crate::support::cuda::emulated;
use crate::support::golden::cases;
use crate::support::problems::Random;
use crate::support::selection::{follow, recorded, simulated, sparse_and_dense};
use crate::support::ways::ways;
use pcgpu_core::ci::discrete::Coded;
use pcgpu_core::engine::cpu::selection::CpuCounting;
use pcgpu_core::engine::cpu::together::{member as cpu_member, runner as cpu_runner};
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::selection::{member, runner, CudaCounting, SelectionOptions, SelectionStrategy};
use pcgpu_core::engine::replicates::{on_machines, on_threads, Replicates};
use pcgpu_core::engine::shards::Shards;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::selection::{
    select, CountLogs, Counting, Criterion, Joint, Machines, Member, Partner, Resampling, Runner, Samples, Sums,
};
use pcgpu_core::{DeviceError, DeviceKind, Error, Result};

#[test]
#[ignore = "needs a GPU"]
fn recorded_selections() {
    for case in cases("jmi-") {
        let samples = recorded(&case);
        if samples.n() * samples.p() > 20_000 && emulated() {
            continue;
        }
        let logs = CountLogs::new(samples.n());
        for options in ways() {
            let mut counting = CudaCounting::new(&samples, &logs, 0..samples.p(), options).unwrap();
            assert!(follow(&case, &samples, &logs, &mut counting) >= 20);
        }
    }
}

/// Returns the sums with no partner, with a few features, and with two of them as one.
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
        for (n, classes) in
            [(60, 2), (97, 43), (255, 3), (256, 10), (512, 2), (513, 3), (1500, 43), (3000, 2), (70_001, 10)]
        {
            seed += 1;
            let p = match (n > 10_000, emulated()) {
                (true, true) => 7,
                (true, false) => 12,
                (false, true) => 17,
                (false, false) => 40,
            };
            let samples = simulated(n, p, levels, classes, seed);
            let logs = CountLogs::new(n);
            let expected = sums(&samples, &mut CpuCounting::new(&samples, &logs, 0..p, 2)).unwrap();
            for options in ways() {
                let mut counting = CudaCounting::new(&samples, &logs, 0..p, options).unwrap();
                let found = match sums(&samples, &mut counting) {
                    Ok(found) => found,
                    // More joint states than the paper's 16 bits can number.
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

/// Counts so many features, with different numbers of levels, that a warp takes several. Each must leave the warp's table clear.
#[test]
#[ignore = "needs a GPU"]
fn warps_that_take_several_features_count_as_the_cpu() {
    // The emulated GPU has few multiprocessors.
    let p = if emulated() { 300 } else { 20_000 };
    for (n, classes) in [(60, 2), (300, 3)] {
        let levels: Vec<u32> = (0..p).map(|f| [2, 5, 40][f % 3]).chain([classes]).collect();
        let mut random = Random(7);
        let code = |at: usize| random.below(levels[at / n] as usize) as i32;
        let codes: Vec<i32> = (0..n * (p + 1)).map(code).collect();
        let samples = Samples::new(Coded::new(by_column(&codes, p + 1).unwrap(), &levels, false).unwrap()).unwrap();
        let logs = CountLogs::new(n);
        let mut cpu = CpuCounting::new(&samples, &logs, 0..p, 2);
        let mut skip = vec![false; p];
        skip[p / 2] = true;
        for options in ways() {
            let mut gpu = CudaCounting::new(&samples, &logs, 0..p, options).unwrap();
            for partner in [Partner::Nothing, Partner::Feature(1), Partner::Feature(p - 1)] {
                let mut found = [vec![Sums::default(); p], vec![Sums::default(); p]];
                cpu.count(partner, &skip, &mut found[0], &mut Unobserved).unwrap();
                gpu.count(partner, &skip, &mut found[1], &mut Unobserved).unwrap();
                assert!(found[0] == found[1], "{n} samples, {partner:?}, {options:?}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn selections_and_scores_are_those_of_the_cpu() {
    for (n, p, levels, classes) in [(97, 400, 64, 2), (90, 300, 64, 43), (2000, 100, 8, 20), (1200, 30, 256, 3)] {
        let p = if emulated() { p / 3 } else { p };
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
            let members = (0..3).map(|_| member(&samples, &logs, SelectionOptions::default(), Pool::new(2)));
            let mut shards = Shards::new(members.collect()).unwrap();
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

/// Computes sums, a selection, and sums after features were given away. The budget is lowered from what all memory plans until one is refused.
#[test]
#[ignore = "needs a GPU"]
fn every_budget_has_the_answer_of_all_memory() {
    for (n, p, levels, classes, some) in
        [(97, 80, 64, 2, &[0, 3, 5, 8][..]), (1040, 12, 300, 10, &[0]), (1040, 24, 3, 4, &[0, 7])]
    {
        let samples = simulated(n, p, levels, classes, 5);
        let logs = CountLogs::new(n);
        for options in some.iter().map(|&way: &usize| ways()[way]) {
            let counted = |memory_budget| -> Result<(String, u64)> {
                let options = SelectionOptions { memory_budget, ..options };
                let mut counting = CudaCounting::new(&samples, &logs, 0..p, options)?;
                let sums = sums(&samples, &mut counting)?;
                let chosen = select(&samples, &logs, &mut counting, Criterion::Jmi, 4, &mut Unobserved)?;
                // Counts ahead for a feature lack the feature that is skipped meanwhile.
                let mut all = vec![Sums::default(); p];
                counting.foresee(&[3]);
                let others: Vec<bool> = (0..p).map(|f| f == 1).collect();
                counting.count(Partner::Feature(2), &others, &mut all, &mut Unobserved)?;
                counting.count(Partner::Feature(3), &vec![false; p], &mut all, &mut Unobserved)?;
                let mut left = vec![Sums::default(); p / 3];
                counting.narrow(p / 3);
                counting.count(Partner::Feature(p - 2), &vec![false; p / 3], &mut left, &mut Unobserved)?;
                Ok((format!("{sums:?} {chosen:?} {all:?} {left:?}"), counting.plan().total()))
            };
            let (whole, planned) = counted(None).unwrap();
            let mut budget = planned - 1;
            let mut smaller = 0;
            loop {
                let label = format!("{n} x {p}, {levels} levels, {options:?}: {budget} of {planned} bytes");
                match counted(Some(budget)) {
                    Ok((found, planned)) => assert!(found == whole && planned <= budget, "{label}: {planned} planned"),
                    Err(Error::Device(e)) if e.kind == DeviceKind::OutOfMemory => {
                        assert!(e.message.contains(&format!("{budget} bytes")), "{e:?}");
                        println!("{label} are refused");
                        break;
                    }
                    Err(e) => panic!("{label}: {e:?}"),
                }
                (budget, smaller) = (budget / 3 * 2, smaller + 1);
            }
            assert!(smaller > 0 || !matches!(options.strategy, SelectionStrategy::Resident));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn too_little_memory_and_a_gpu_that_is_not_there_are_errors() {
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
fn a_selection_that_is_stopped_leaves_the_gpu_in_order() {
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

/// Returns the sums of the `kept` features that a GPU still has after it gave the others away.
fn narrowed(samples: &Samples, logs: &CountLogs, options: SelectionOptions, kept: usize) -> Vec<Sums> {
    let p = samples.p();
    let mut counting = CudaCounting::new(samples, logs, 0..p, options).unwrap();
    let mut sums = vec![Sums::default(); p];
    let skip: Vec<bool> = (0..p).map(|f| f % 7 == 2).collect();
    counting.count(Partner::Nothing, &skip, &mut sums, &mut Unobserved).unwrap();
    counting.narrow(kept);
    let mut sums = vec![Sums::default(); kept];
    // A partner that the GPU had and no longer has.
    counting.count(Partner::Feature(p - 1), &skip[..kept], &mut sums, &mut Unobserved).unwrap();
    let moved = counting.moved();
    assert!(moved.to as usize > 18 * samples.n() && moved.from > 0, "{moved:?}");
    sums
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_that_gives_features_away_counts_the_others() {
    for (n, p) in [(90, 60), (1500, 24)] {
        let samples = simulated(n, p, 40, 3, 21);
        let logs = CountLogs::new(n);
        for options in ways() {
            for kept in [1, p / 3, p - 1] {
                let mut cpu = CpuCounting::new(&samples, &logs, 0..p, 2);
                cpu.narrow(kept);
                let skip: Vec<bool> = (0..kept).map(|f| f % 7 == 2).collect();
                let mut wanted = vec![Sums::default(); kept];
                cpu.count(Partner::Feature(p - 1), &skip, &mut wanted, &mut Unobserved).unwrap();
                assert_eq!(narrowed(&samples, &logs, options, kept), wanted, "{options:?}, {kept} of {p}");
            }
        }
    }
}

/// Returns teams: of all GPUs (the same one twice if there is one), and of the CPU and a GPU.
fn teams<'a>(samples: &'a Samples, logs: &'a CountLogs) -> Vec<Vec<Member<'a>>> {
    let gpus = device::devices(false).unwrap().len();
    let gpu =
        |ordinal| member(samples, logs, SelectionOptions { ordinal, ..SelectionOptions::default() }, Pool::new(2));
    let cpu = || cpu_member(samples, logs, Pool::new(2));
    // A GPU that is assumed to be slow gets more features later.
    let slow = || Member { speed: 1.0, ..gpu(0) };
    vec![(0..gpus.max(2)).map(|at| gpu(at % gpus)).collect(), vec![cpu(), gpu(gpus - 1)], vec![cpu(), slow()]]
}

#[test]
#[ignore = "needs a GPU"]
fn teams_of_gpus_and_cpu_have_the_answer_of_one() {
    for (n, p, levels) in [(97, 300, 64), (1300, 60, 8)] {
        let samples = simulated(n, p, levels, 3, 12);
        let logs = CountLogs::new(n);
        for criterion in [Criterion::Jmi, Criterion::Cmi, Criterion::Mim] {
            let k = if emulated() { 9 } else { 50 };
            let mut cpu = CpuCounting::new(&samples, &logs, 0..p, 2);
            let expected = select(&samples, &logs, &mut cpu, criterion, k, &mut Unobserved).unwrap();
            for members in teams(&samples, &logs) {
                let mut shards = Shards::new(members).unwrap();
                for _ in 0..2 {
                    let found = select(&samples, &logs, &mut shards, criterion, k, &mut Unobserved).unwrap();
                    assert_eq!(found, expected);
                    assert!(shards.report().lost.is_empty());
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_without_memory_leaves_its_features_to_the_cpu() {
    let samples = simulated(500, 50, 64, 3, 2);
    let logs = CountLogs::new(500);
    let small = SelectionOptions { memory_budget: Some(10_000), ..SelectionOptions::default() };
    let members = vec![cpu_member(&samples, &logs, Pool::new(2)), member(&samples, &logs, small, Pool::new(2))];
    let mut shards = Shards::new(members).unwrap();
    let found = select(&samples, &logs, &mut shards, Criterion::Jmi, 5, &mut Unobserved).unwrap();
    let lost = shards.report().lost;
    assert!(lost.len() == 1 && lost[0].machine == "cuda:0", "{lost:?}");
    let mut cpu = CpuCounting::new(&samples, &logs, 0..50, 2);
    assert_eq!(found, select(&samples, &logs, &mut cpu, Criterion::Jmi, 5, &mut Unobserved).unwrap());
}

#[test]
#[ignore = "needs a GPU"]
fn ensembles_on_gpus_and_cpu_are_those_of_the_cpu() {
    let gpus = device::devices(false).unwrap().len();
    for (n, p) in [(90, 200), (1300, 40)] {
        let samples = simulated(n, p, 20, 3, 13);
        for (replace, size) in [(true, n), (false, n / 2)] {
            let resampling = Resampling { seed: 6, size, replace };
            let (count, k) = if emulated() { (5, 3) } else { (20, 10) };
            let criteria = if replace { &Criterion::ALL[..] } else { &[Criterion::Jmi] };
            let of = Replicates { samples: &samples, resampling, first: 0, count, criteria, k };
            let expected = on_threads(of, &Pool::new(2), &mut Unobserved).unwrap();
            let gpu = |ordinal| runner(SelectionOptions { ordinal, ..SelectionOptions::default() }, Pool::new(2));
            let teams: [Vec<Runner>; 3] = [
                vec![gpu(0)],
                (0..gpus.max(2)).map(|at| gpu(at % gpus)).collect(),
                vec![cpu_runner(Pool::new(2)), gpu(gpus - 1)],
            ];
            for team in teams {
                let (found, report) = on_machines(of, team, &mut Unobserved).unwrap();
                assert_eq!(found, expected);
                assert!(report.lost.is_empty(), "{report:?}");
            }
        }
    }
}
