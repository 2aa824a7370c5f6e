//! Searches that are kept in checkpoints, resumed, or ended by a time limit: from every state that they leave, by other workers, in all orders
//! of visiting.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::answer::{Answer, Digits};
use crate::support::kept::{allowed, compare, same, Collect, Late, Place, Told};
use crate::support::pairs::ByPairs;
use crate::support::problems::problem;
use crate::support::steps::Steps;
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::graph::{Form, Tiers};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::checkpoint::{Asked, Checkpoint, Limits};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton_one_by_one_within, skeleton_within, Largest, Method, Options, PairValues, Skeleton};
use pcgpu_core::{Error, Result};

/// The machine that runs a search.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Steps {
        shard_tests: u64,
        threads: usize,
        sides_at_once: usize,
    },
    /// A worker that decides whole pairs and closes all shards together, as workers that ask in batches do.
    Together,
    Cpu {
        shard_tests: u64,
        threads: usize,
    },
    OneByOne,
}

struct Task {
    c: Vec<f64>,
    n: f64,
    options: Options,
}

impl Task {
    fn gauss(&self) -> Gauss<'_> {
        let reading = match self.options.method {
            Method::StableFast => Reading::StableFast,
            _ => Reading::GaussCItest,
        };
        Gauss::new(by_column(&self.c, self.options.p).unwrap(), self.n, reading).unwrap()
    }

    fn run(
        &self,
        who: Who,
        compact: bool,
        observer: &mut dyn Observer,
        limits: &Limits,
    ) -> Result<(Answer, Option<usize>)> {
        let (p, mut left, mut p_max) = (self.options.p, PairValues::default(), vec![0.25; self.options.p.pow(2)]);
        let largest: Largest = if compact { (&mut left).into() } else { (&mut p_max).into() };
        let found: Skeleton = match who {
            Who::OneByOne => {
                let mut test = self.gauss();
                skeleton_one_by_one_within(&mut test, &self.options, largest, observer, limits)?
            }
            Who::Together => {
                let (gauss, pool, together) = (self.gauss(), Pool::new(1), true);
                let mut worker =
                    Steps { gauss, shard_tests: u64::MAX, sides_at_once: 1 << 16, together, pool, asked: 0 };
                skeleton_within(&mut worker, &self.options, largest, observer, limits)?
            }
            Who::Cpu { shard_tests, threads } => {
                let kernel = GaussKernel::new(self.gauss(), self.options.alpha);
                let mut engine = CpuEngine::with_shards(kernel, threads, shard_tests);
                skeleton_within(&mut engine, &self.options, largest, observer, limits)?
            }
            Who::Steps { shard_tests, threads, sides_at_once } => {
                let (gauss, pool) = (self.gauss(), Pool::new(threads));
                let mut worker = Steps { gauss, shard_tests, sides_at_once, together: false, pool, asked: 0 };
                skeleton_within(&mut worker, &self.options, largest, observer, limits)?
            }
        };
        assert_eq!(found.unkept, None);
        let values = if compact {
            (0..p * p).map(|at| left.get(at % p, at / p).filter(|_| at % p < at / p)).collect()
        } else {
            p_max.into_iter().map(Some).collect()
        };
        Ok((Answer::new(&found, values), found.ended))
    }

    fn plain(&self, who: Who, compact: bool) -> Result<Answer> {
        self.run(who, compact, &mut Unobserved, &Limits::default()).map(|(found, _)| found)
    }
}

fn tasks() -> Vec<Task> {
    // Tasks of all methods, with gaps, fixed edges, bounds, missing correlations and singular sets. A few have sets of two or more, some have
    // tiers.
    let mut tasks: Vec<Task> = (0..60).map(task).collect();
    for Task { options, .. } in tasks.iter_mut().step_by(3).filter(|task| task.options.method != Method::StableFast) {
        options.tiers = Tiers::of(&(0..options.p).map(|v| (v * 7 % 3) as f64).collect::<Vec<_>>());
    }
    tasks
}

fn task(number: u64) -> Task {
    let problem = problem(number);
    // Some keep their graphs as lists.
    let form = if number % 5 == 4 { Form::Lists } else { Form::Bits };
    Task { c: problem.c, n: problem.n, options: Options { form, ..problem.options } }
}

/// Returns a task with several levels.
fn deep() -> Task {
    let is_deep = |task: &Task| {
        let options = &task.options;
        let is_plain = options.method == Method::Stable && options.m_max.is_infinite() && options.fixed_edges.is_none();
        is_plain && task.plain(STEPS[0], false).is_ok_and(|found| found.tests.len() > 2)
    };
    (0..600).map(task).find(is_deep).unwrap()
}

const STEPS: [Who; 3] = [
    Who::Steps { shard_tests: 1, threads: 1, sides_at_once: 5 },
    Who::Steps { shard_tests: 4, threads: 2, sides_at_once: 1 << 16 },
    Who::Steps { shard_tests: 1 << 30, threads: 3, sides_at_once: 2 },
];

const CPU: [Who; 2] = [Who::Cpu { shard_tests: 3, threads: 2 }, Who::Cpu { shard_tests: 50, threads: 1 }];

#[test]
fn from_every_state_on_any_worker_finds_the_same() {
    let (mut states, mut within) = (0, 0);
    for (number, task) in tasks().iter().enumerate() {
        for (first, then) in [
            (STEPS[0], [STEPS[1], CPU[0]]),
            (STEPS[1], [STEPS[0], Who::Together]),
            (CPU[0], CPU),
            (Who::Together, [STEPS[1], Who::Together]),
            (Who::OneByOne, [Who::OneByOne, STEPS[1]]),
            (STEPS[0], [Who::OneByOne, STEPS[0]]),
        ] {
            let compact = number % 2 == 1;
            let place = Place::new();
            let limits = place.limits(Duration::ZERO);
            let later = place.limits(Duration::from_secs(1000));
            let wanted = task.plain(first, compact);
            let mut collect = Collect { file: &place.0, states: Vec::new() };
            let kept = task.run(first, compact, &mut collect, &limits).map(|(found, _)| found);
            same(&format!("{number} {first:?}, kept"), &kept, &wanted);
            collect.states.push(fs::read(&place.0).unwrap());
            collect.states.dedup();
            // Every state of short searches, and some of longer ones.
            let step = collect.states.len().div_ceil(20);
            for (at, state) in collect.states.iter().enumerate().step_by(step) {
                let who = then[at % 2];
                fs::write(&place.0, state).unwrap();
                let mut told = Told::default();
                let found = task.run(who, compact, &mut told, &later).map(|(found, _)| found);
                // The CPU's kernels and the plain function make the same decisions, and agree on p to nine digits.
                let digits = if CPU.contains(&who) && first != CPU[0] { Digits::Nine } else { Digits::All };
                compare(&format!("{number} {first:?} {who:?} from {at}"), &found, &wanted, digits);
                states += 1;
                within += usize::from(told.0.is_some_and(|(_, within)| within));
            }
        }
    }
    println!("{states} states, {within} within a level");
    assert!(states > 1000 && within > 500);
}

#[test]
fn a_search_whose_time_is_over_has_the_answer_of_its_last_level() {
    let mut ended = 0;
    for (number, task) in tasks().iter().enumerate().filter(|(_, task)| task.options.m_max > 1.0).step_by(4) {
        for who in [STEPS[0], Who::Together, Who::OneByOne] {
            let compact = number % 2 == 0;
            let Ok(wanted) = task.plain(who, compact) else { continue };
            for level in 1..wanted.tests.len() {
                for looks in [None, Some(0), Some(3)] {
                    let place = Place::new();
                    let mut limits = place.limits(Duration::from_secs(1000));
                    // Time runs out twice within the same level, then the search runs to its end.
                    let m_max = (level - 1) as f64;
                    let options = Options { m_max, ..task.options.clone() };
                    let began = Instant::now();
                    let bounded = Task { c: task.c.clone(), n: task.n, options }.plain(who, compact);
                    let seconds = allowed(began.elapsed());
                    for turn in 0..2 {
                        let until = Instant::now() + Duration::from_secs_f64(seconds);
                        limits.deadline = Some((until, seconds));
                        let mut late = Late { level, looks, until, now: 0, stops: false };
                        let found = task.run(who, compact, &mut late, &limits);
                        let Ok((found, Some(at))) = found else {
                            // There were so few shards that the search finished, or the machine was busy.
                            let is_done = matches!(found, Ok((_, None)) if looks.is_some());
                            assert!(
                                is_done || matches!(found, Err(Error::TimeLimit { .. })),
                                "{number} {who:?} {level}"
                            );
                            break;
                        };
                        // On a busy machine, time ran out before that level.
                        if at < level {
                            break;
                        }
                        assert_eq!(at, level, "{number} {who:?}");
                        same(&format!("{number} {who:?} {level} {looks:?}, turn {turn}"), &Ok(found), &bounded);
                        ended += 1;
                    }
                    limits.deadline = None;
                    let found = task.run(who, compact, &mut Unobserved, &limits).map(|(found, _)| found);
                    same(&format!("{number} {who:?} {level}, to the end"), &found, &Ok(wanted.clone()));
                }
            }
        }
    }
    println!("{ended} ended");
    assert!(ended > 50);
}

#[test]
fn without_a_whole_level_the_time_is_an_error() {
    let task = &tasks()[0];
    let limits = Limits { checkpoint: None, deadline: Some((Instant::now(), 0.5)) };
    for who in [STEPS[0], Who::OneByOne] {
        let found = task.run(who, false, &mut Unobserved, &limits);
        assert_eq!(found.map(drop), Err(Error::TimeLimit { seconds: 0.5 }));
    }
}

#[test]
fn an_interrupt_leaves_what_was_done() {
    let mut resumed = 0;
    for task in tasks().iter().filter(|task| task.options.m_max > 1.0) {
        for who in [STEPS[0], Who::OneByOne] {
            let Ok(wanted) = task.plain(who, false) else { continue };
            for level in 0..wanted.tests.len() {
                let place = Place::new();
                let limits = place.limits(Duration::from_secs(1000));
                let mut late = Late { level, looks: Some(2), until: Instant::now(), now: 0, stops: true };
                if task.run(who, false, &mut late, &limits).is_ok() {
                    continue;
                }
                let mut told = Told::default();
                let found = task.run(who, false, &mut told, &limits).map(|(found, _)| found);
                same(&format!("{who:?} {level}"), &found, &Ok(wanted.clone()));
                resumed += usize::from(told.0 == Some((level, true)));
            }
        }
    }
    println!("{resumed} resumed");
    assert!(resumed > 40);
}

fn refused(task: &Task, place: &Place) -> (&'static str, String) {
    match task.run(STEPS[0], false, &mut Unobserved, &place.limits(Duration::ZERO)) {
        Err(Error::Checkpoint { kind, reason, .. }) => (kind, reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_damaged_file_is_refused() {
    let task = &deep();
    let place = Place::new();
    task.run(STEPS[0], false, &mut Unobserved, &place.limits(Duration::ZERO)).unwrap();
    let whole = fs::read(&place.0).unwrap();
    assert!(whole.len() > 200, "{}", whole.len());
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&place.0, &bytes).unwrap();
        assert_eq!(refused(task, &place).0, if at < 8 { "other_file" } else { "damaged" }, "byte {at}");
    }
    for length in 0..whole.len() {
        fs::write(&place.0, &whole[..length]).unwrap();
        assert_eq!(refused(task, &place).0, if length < 8 { "other_file" } else { "damaged" }, "{length} bytes");
    }
    fs::write(&place.0, &whole).unwrap();
    same(
        "whole",
        &task.run(STEPS[0], false, &mut Unobserved, &place.limits(Duration::ZERO)).map(|(a, _)| a),
        &task.plain(STEPS[0], false),
    );
}

#[test]
fn another_search_is_refused_by_what_differs() {
    let of = |change: &dyn Fn(&mut Options)| {
        let mut task = deep();
        change(&mut task.options);
        task
    };
    let task = of(&|options| options.m_max = 1.0);
    let place = Place::new();
    task.run(STEPS[0], false, &mut Unobserved, &place.limits(Duration::ZERO)).unwrap();
    let file = fs::read(&place.0).unwrap();
    type Change<'c> = (&'c dyn Fn(&mut Options), &'c str);
    let changes: [Change; 5] = [
        (&|options| options.alpha = 0.123, "`alpha` "),
        (&|options| options.na_delete = !options.na_delete, "`NAdelete` "),
        (&|options| options.method = Method::StableFast, "`method` is stable instead of stable.fast"),
        (
            &|options| options.fixed_edges = Some(pcgpu_core::graph::Adjacency::complete(options.p)),
            "`fixedEdges` differs",
        ),
        (&|options| options.m_max = 0.0, "contains level 1, but `m.max` is 0"),
    ];
    for (change, told) in changes {
        let (kind, reason) = refused(&of(change), &place);
        assert!(kind == "arguments" && reason.contains(told), "{reason}");
    }
    let mut limits = place.limits(Duration::ZERO);
    limits.checkpoint.as_mut().unwrap().asked = vec![Asked::word("suffStat", "other")];
    let other = task.run(STEPS[0], false, &mut Unobserved, &limits);
    assert!(
        matches!(other, Err(Error::Checkpoint { kind: "arguments", reason, .. }) if reason.contains("`suffStat` is some instead of other"))
    );
    let compact = task.run(STEPS[0], true, &mut Unobserved, &place.limits(Duration::ZERO));
    assert!(
        matches!(compact, Err(Error::Checkpoint { kind: "arguments", reason, .. }) if reason.contains("`result` is pcAlgo"))
    );
    assert_eq!(fs::read(&place.0).unwrap(), file);
    // With a larger m.max, the search continues.
    let all = of(&|_| {});
    let mut told = Told::default();
    let found = all.run(STEPS[1], false, &mut told, &place.limits(Duration::ZERO)).map(|(found, _)| found);
    assert_eq!(told.0, Some((2, false)));
    same("a larger m.max", &found, &all.plain(STEPS[1], false));
}

#[test]
fn a_file_that_cannot_be_made_is_told_at_once() {
    let task = &tasks()[0];
    let limits = Limits { checkpoint: Some(Checkpoint::new("/nowhere/at/all", Vec::new())), deadline: None };
    let found = task.run(STEPS[0], false, &mut Unobserved, &limits);
    assert!(matches!(found, Err(Error::Checkpoint { kind: "write", .. })), "{found:?}");
}

#[test]
fn what_is_no_file_is_refused() {
    let limits = Limits { checkpoint: Some(Checkpoint::new("/dev/null", Vec::new())), deadline: None };
    let found = deep().run(STEPS[0], false, &mut Unobserved, &limits);
    assert!(matches!(found, Err(Error::Checkpoint { kind: "other_file", .. })), "{found:?}");
}

#[test]
fn two_searches_at_once_with_one_file_each_write_it_whole() {
    let task = &deep();
    let wanted = task.plain(STEPS[0], false);
    for _ in 0..5 {
        let place = Place::new();
        let limits = place.limits(Duration::ZERO);
        std::thread::scope(|scope| {
            let run = || task.run(STEPS[0], false, &mut Unobserved, &limits).map(|(found, _)| found);
            let both: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
            both.into_iter().for_each(|one| same("at once", &one.join().unwrap(), &wanted));
        });
        let folder = place.0.parent().unwrap();
        let name = place.0.file_name().unwrap().to_str().unwrap();
        let left = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
        assert_eq!(left.filter(|other| other.starts_with(&format!("{name}."))).count(), 0);
    }
}

/// Checks that a search kept within level 1 resumes by shards, even if its worker would decide the pairs of a new search. It asks no more shards
/// than a worker that never decides pairs.
#[test]
fn shards_of_level_one_go_on_where_the_worker_decides_pairs() {
    let mut stopped = 0;
    for task in &tasks() {
        let options = &task.options;
        if options.m_max <= 1.0 || options.method == Method::Original || options.tiers.is_none() {
            continue;
        }
        let asked = [false, true].map(|decides| {
            let place = Place::new();
            let limits = place.limits(Duration::from_secs(1000));
            let go = |observer: &mut dyn Observer| {
                let (gauss, pool) = (task.gauss(), Pool::new(1));
                let mut steps =
                    Steps { gauss, shard_tests: 3, sides_at_once: 1 << 16, together: false, pool, asked: 0 };
                let mut pairs = ByPairs { worker: &mut steps, is_wrong: false, levels: 0 };
                let worker: &mut dyn Worker = if decides { &mut pairs } else { &mut *pairs.worker };
                let is_whole = skeleton_within(worker, options, &mut PairValues::default(), observer, &limits).is_ok();
                assert_eq!(pairs.levels, 0, "it knows no tiers");
                (is_whole, steps.asked)
            };
            let mut late = Late { level: 1, looks: Some(12), until: Instant::now(), now: 0, stops: true };
            let (is_whole, _) = go(&mut late);
            stopped += usize::from(!is_whole);
            go(&mut Unobserved)
        });
        assert!(asked[0] == asked[1] && asked[0].0, "{asked:?}");
    }
    assert!(stopped > 10, "{stopped}");
}
