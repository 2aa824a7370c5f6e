//! Checks that several machines that select together have the answer of one, whichever features each has, even if some are slow or fail.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::patience::stops_within_half_a_second;
use crate::support::problems::Random;
use crate::support::selection::simulated;
use pcgpu_core::engine::cpu::selection::CpuCounting;
use pcgpu_core::engine::cpu::together::member;
use pcgpu_core::engine::shards::Shards;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::selection::{
    select, CountLogs, Counting, Criterion, Machines, Member, Partner, Samples, Selection, Sums,
};
use pcgpu_core::team::{Moved, Share};
use pcgpu_core::{DeviceError, DeviceKind, Error, Result};

fn broken() -> Error {
    Error::Device(DeviceError {
        kind: DeviceKind::Failed,
        message: "the fake is broken".into(),
        hint: "no hint".into(),
    })
}

/// How a machine behaves.
#[derive(Clone, Copy, Debug, Default)]
struct Manner {
    /// The time that a feature takes.
    a_feature: Duration,
    /// The number of counts before it fails; `None` if it does not fail.
    counts: Option<usize>,
    /// Whether making it fails.
    absent: bool,
    /// The time that making it takes.
    making: Duration,
    /// The count that takes 40 ms longer, as if another program delayed it.
    held_up: Option<usize>,
    /// Whether it has no memory for features beyond its first.
    full: bool,
}

/// A machine that counts as the CPU does, in its manner.
struct Fake<'a> {
    counting: CpuCounting<'a>,
    manner: Manner,
    /// The number of counts by all that was made for this machine.
    counted: &'a AtomicUsize,
}

impl Counting for Fake<'_> {
    fn count(&mut self, partner: Partner, skip: &[bool], sums: &mut [Sums], observer: &mut dyn Observer) -> Result<()> {
        let count = self.counted.fetch_add(1, Ordering::Relaxed);
        if self.manner.held_up == Some(count) {
            std::thread::sleep(Duration::from_millis(40));
        }
        if self.manner.counts.is_some_and(|counts| count >= counts) {
            // What it wrote before it failed must not be used.
            sums.iter_mut().step_by(2).for_each(|sum| *sum = Sums { pair: -5, with_class: 7 });
            return Err(broken());
        }
        for done in 0..skip.iter().filter(|skip| !**skip).count() {
            std::thread::sleep(self.manner.a_feature);
            observer.progress(0, done as f64, skip.len() as f64)?;
        }
        self.counting.count(partner, skip, sums, observer)
    }

    fn is_full(&self) -> bool {
        self.manner.full
    }

    fn narrow(&mut self, count: usize) {
        self.counting.narrow(count);
    }

    fn moved(&self) -> Moved {
        Moved { to: 8, from: 1 }
    }
}

struct Team<'a> {
    samples: &'a Samples,
    logs: &'a CountLogs,
    counted: Vec<AtomicUsize>,
}

impl<'a> Team<'a> {
    fn new(samples: &'a Samples, logs: &'a CountLogs) -> Self {
        Team { samples, logs, counted: (0..8).map(|_| AtomicUsize::new(0)).collect() }
    }

    fn of(&'a self, manners: &[(f64, Manner)]) -> Shards<'a> {
        let members = manners.iter().zip(&self.counted).enumerate().map(|(at, (&(speed, manner), counted))| {
            counted.store(0, Ordering::Relaxed);
            let make = move |range: Range<usize>| -> Result<Box<dyn Counting + Send + 'a>> {
                if manner.absent {
                    return Err(broken());
                }
                std::thread::sleep(manner.making);
                let counting = CpuCounting::new(self.samples, self.logs, range, 1);
                Ok(Box::new(Fake { counting, manner, counted }))
            };
            Member { name: format!("fake:{at}"), speed, make: Box::new(make) }
        });
        Shards::new(members.collect()).unwrap()
    }

    fn alone(&self, criterion: Criterion, k: usize) -> Selection {
        let mut cpu = CpuCounting::new(self.samples, self.logs, 0..self.samples.p(), 1);
        select(self.samples, self.logs, &mut cpu, criterion, k, &mut Unobserved).unwrap()
    }

    fn together(&self, shards: &mut Shards, criterion: Criterion, k: usize) -> Result<Selection> {
        select(self.samples, self.logs, shards, criterion, k, &mut Unobserved)
    }
}

#[test]
fn whoever_fails_and_whenever_the_answer_is_that_of_one_machine() {
    let mut random = Random(17);
    let mut failures = 0;
    for round in 0..60 {
        let (n, p) = (40 + random.below(60), 1 + random.below(if round % 4 == 0 { 4 } else { 60 }));
        let samples = simulated(n, p, 2 + random.below(6) as u32, 2 + random.below(3) as u32, round);
        let logs = CountLogs::new(n);
        let team = Team::new(&samples, &logs);
        let machines = 1 + random.below(5);
        let mut manners = Vec::new();
        for at in 0..machines {
            let counts = (at > 0 && random.below(2) == 0).then(|| random.below(12));
            let manner = Manner { counts, absent: at > 0 && random.below(6) == 0, ..Manner::default() };
            manners.push((0.1 + random.below(50) as f64, manner));
        }
        let k = 1 + random.below(p);
        for criterion in Criterion::ALL {
            let mut shards = team.of(&manners);
            let wanted = team.alone(criterion, k);
            // The second selection runs on the machines that are left, with the features they have.
            for _ in 0..2 {
                let found = team.together(&mut shards, criterion, k).unwrap();
                assert_eq!(found, wanted, "round {round}, {criterion:?}, {manners:?}");
                let report = shards.report();
                assert!(report.shares.len() <= machines && report.shares.iter().all(|share| share.level == Some(0)));
                assert!(report.lost.iter().all(|lost| lost.machine != "fake:0" && lost.reason.contains("broken")));
                failures += report.lost.len();
            }
        }
    }
    assert!(failures > 300, "{failures}");
}

#[test]
fn none_left_is_the_error_of_the_last() {
    let samples = simulated(60, 30, 4, 2, 5);
    let logs = CountLogs::new(60);
    let team = Team::new(&samples, &logs);
    let fails = |counts| (1.0, Manner { counts: Some(counts), ..Manner::default() });
    let mut shards = team.of(&[fails(2), fails(0), fails(5)]);
    assert_eq!(team.together(&mut shards, Criterion::Jmi, 20), Err(broken()));
    assert_eq!(shards.report().lost.len(), 3);
    // Lost machines stay lost.
    assert_eq!(team.together(&mut shards, Criterion::Jmi, 20), Err(broken()));
    assert!(Shards::new(Vec::new()).is_err());
}

#[test]
fn an_error_of_the_caller_is_no_loss() {
    let samples = simulated(60, 30, 4, 2, 5);
    let logs = CountLogs::new(60);
    let refused = || Error::Argument { argument: "strategy", value: "x".into(), hint: "y".into() };
    let make = move |_: Range<usize>| -> Result<Box<dyn Counting + Send>> { Err(refused()) };
    let bad = Member { name: "bad".into(), speed: 1.0, make: Box::new(make) };
    let mut shards = Shards::new(vec![member(&samples, &logs, Pool::new(1)), bad]).unwrap();
    let found = select(&samples, &logs, &mut shards, Criterion::Jmi, 3, &mut Unobserved);
    assert_eq!(found, Err(refused()));
    assert!(shards.report().lost.is_empty());
}

#[test]
fn features_move_from_a_slow_machine_to_a_fast_one() {
    let samples = simulated(50, 120, 4, 2, 3);
    let logs = CountLogs::new(50);
    let team = Team::new(&samples, &logs);
    let slow = Manner { a_feature: Duration::from_micros(300), ..Manner::default() };
    for criterion in [Criterion::Jmi, Criterion::Cmi] {
        let mut shards = team.of(&[(1.0, slow), (1.0, Manner::default())]);
        let found = team.together(&mut shards, criterion, 40).unwrap();
        assert_eq!(found, team.alone(criterion, 40));
        let report = shards.report();
        // A machine that was given features has received more than one piece of them.
        let copied = |share: &Share| share.moved.from > 0 && share.moved.to == 8 * share.moved.from;
        assert!(report.shares.len() == 2 && report.shares.iter().all(copied), "{report:?}");
        // The slow machine counts for a few of the 40 steps, until it has no feature left.
        assert!(report.shares[0].shards < 20 && report.shares[1].shards >= 40, "{report:?}");
        assert!(report.lost.is_empty());
        // Machines of equal speed keep their features. Other programs may make one of them slow for a while.
        let keep = || {
            let mut shards = team.of(&[(1.0, slow), (1.0, slow)]);
            team.together(&mut shards, criterion, 8).unwrap();
            // One piece of features is copied to each.
            shards.report().shares.iter().all(|share| share.moved.from == 1)
        };
        assert!((0..10).any(|_| keep()));
    }
}

#[test]
fn no_features_move_to_a_machine_without_memory_for_them() {
    let samples = simulated(50, 120, 4, 2, 3);
    let logs = CountLogs::new(50);
    let team = Team::new(&samples, &logs);
    let slow = Manner { a_feature: Duration::from_micros(300), ..Manner::default() };
    let full = Manner { full: true, ..Manner::default() };
    let mut shards = team.of(&[(1.0, slow), (1.0, full)]);
    let found = team.together(&mut shards, Criterion::Jmi, 40).unwrap();
    assert_eq!(found, team.alone(Criterion::Jmi, 40));
    let report = shards.report();
    // One piece of features was copied to each, and the slow machine counts in all steps.
    assert!(report.shares.iter().all(|share| share.moved.from == 1 && share.shards >= 40), "{report:?}");
}

/// Runs two selections on the same machines. The second must reckon with the time that getting features took in the first, though it gets none.
#[test]
fn features_stay_where_a_step_was_held_up_or_a_move_costs_more_than_it_saves() {
    let samples = simulated(50, 120, 4, 2, 3);
    let logs = CountLogs::new(50);
    let team = Team::new(&samples, &logs);
    let usual = Manner { a_feature: Duration::from_micros(100), ..Manner::default() };
    // The second step of the second selection.
    let held_up = Manner { held_up: Some(9), ..usual };
    let slower =
        |making| Manner { a_feature: Duration::from_micros(180), making: Duration::from_millis(making), ..usual };
    let stay = |manners: &[(f64, Manner)]| {
        let mut shards = team.of(manners);
        let mut selection = || {
            assert_eq!(team.together(&mut shards, Criterion::Jmi, 8).unwrap(), team.alone(Criterion::Jmi, 8));
            shards.report().shares.iter().map(|share| share.moved.from).sum::<u64>()
        };
        // One piece of features is copied to each.
        selection() + selection() == 2
    };
    // Other programs may make one of them slow for a while.
    assert!((0..10).any(|_| stay(&[(1.0, held_up), (1.0, usual)])));
    assert!((0..10).any(|_| stay(&[(1.0, slower(0)), (1.0, Manner { making: Duration::from_millis(200), ..usual })])));
    // Features move if it costs nothing.
    assert!((0..10).any(|_| !stay(&[(1.0, slower(0)), (1.0, usual)])));
}

struct StopAfter(Instant, Duration);

impl Observer for StopAfter {
    fn progress(&mut self, _: usize, done: f64, total: f64) -> Result<()> {
        assert!(done <= total);
        if self.0.elapsed() > self.1 {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

#[test]
fn a_stop_is_heard_by_all_and_the_next_selection_is_whole() {
    let samples = simulated(50, 90, 4, 2, 4);
    let logs = CountLogs::new(50);
    let team = Team::new(&samples, &logs);
    let slow = |micros| (1.0, Manner { a_feature: Duration::from_micros(micros), ..Manner::default() });
    let mut shards = team.of(&[slow(5_000), slow(20_000), slow(0)]);
    stops_within_half_a_second("a selection", || {
        let began = Instant::now();
        let mut stopper = StopAfter(began, Duration::from_millis(100));
        let stopped = select(&samples, &logs, &mut shards, Criterion::Jmi, 90, &mut stopper);
        assert_eq!(stopped, Err(Error::Interrupted));
        began.elapsed()
    });
    assert!(shards.report().lost.is_empty());
    assert_eq!(team.together(&mut shards, Criterion::Jmi, 2).unwrap(), team.alone(Criterion::Jmi, 2));
}

#[test]
fn a_panic_of_a_machine_reaches_the_caller() {
    let samples = simulated(50, 20, 4, 2, 4);
    let logs = CountLogs::new(50);
    let make = |_: Range<usize>| -> Result<Box<dyn Counting + Send>> { panic!("a bug") };
    let bad = Member { name: "bad".into(), speed: 1.0, make: Box::new(make) };
    let mut shards = Shards::new(vec![bad, member(&samples, &logs, Pool::new(1))]).unwrap();
    let run = std::panic::AssertUnwindSafe(|| {
        let _ = select(&samples, &logs, &mut shards, Criterion::Jmi, 3, &mut Unobserved);
    });
    let panic = std::panic::catch_unwind(run).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug"));
}
