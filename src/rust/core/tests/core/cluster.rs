//! Checks that ranks of a cluster give the answer of one machine, even if some are slow, lost or wrong.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::one_answer::{Found, Problem, Task, Test, Wanted};
use crate::one_answer_problems::{problems, Size};
use crate::support::answer::{searched, Digits};
use crate::support::pairs::ByPairs;
use crate::support::ranks::{with_ranks, Manner};
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::{Error, Result};

fn on_ranks(problem: &Problem, manners: &[Manner], shard_tests: u64, compact: bool) -> Result<Found> {
    let Task::Search(_, options) = &problem.task else { panic!("{} is no search", problem.name) };
    // Making a rank's worker may fail, which shows here before there are ranks.
    problem.with_cpu(1, shard_tests, &mut |_, _| {})?;
    let make = |run: &mut dyn FnMut(&mut dyn Worker)| {
        problem.with_cpu(2, shard_tests, &mut |worker, _| run(worker)).unwrap();
    };
    with_ranks(manners, make, |cluster| searched(cluster, options, compact, &mut Unobserved)).map(Found::Search)
}

fn searches(size: Size) -> impl Iterator<Item = Problem> {
    problems(size).into_iter().filter(|problem| matches!(problem.task, Task::Search(..)))
}

#[test]
fn ranks_have_the_answer_of_one_machine() {
    let mut compared = 0;
    for problem in searches(Size::All) {
        let wanted = Wanted::new(problem.on_cpu(1, 1 << 16, false));
        for (ranks, shard_tests) in [(1, 1 << 16), (2, 64), (4, 8)] {
            for &compact in problem.results() {
                let found = on_ranks(&problem, &vec![Manner::Sound; ranks], shard_tests, compact);
                wanted.compare(format!("{} on {ranks} ranks", problem.name), compact, &found, Digits::All);
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{compared} comparisons");
}

#[test]
fn ranks_that_are_slow_or_lost_change_nothing() {
    let slow = Manner::Slow(Duration::from_millis(3));
    let (mut compared, mut all) = (0, 0);
    for (number, problem) in searches(Size::Few).enumerate() {
        all += 1;
        let wanted = Wanted::new(problem.on_cpu(1, 1 << 16, false));
        // A silent rank is waited for, so few problems have one.
        let silent = [Manner::Hangs(1), Manner::Repeats(1)][number / 16 % 2];
        let manner =
            if number % 16 == 0 { silent } else { [Manner::Dies(0), Manner::Dies(2), Manner::Damages(1)][number % 3] };
        {
            for manners in [vec![manner, Manner::Sound], vec![slow, manner, manner]] {
                let compact = number % 2 == 0;
                let found = on_ranks(&problem, &manners, 8, compact);
                wanted.compare(format!("{} on {manners:?}", problem.name), compact, &found, Digits::All);
                compared += 1;
            }
        }
    }
    assert!(compared > all, "{compared} comparisons of {all} problems");
}

#[test]
fn without_a_rank_the_call_ends() {
    let problem = searches(Size::Few).find(|problem| problem.on_cpu(1, 8, false).is_ok()).unwrap();
    for manner in [Manner::Dies(1), Manner::Damages(2)] {
        match on_ranks(&problem, &[manner, manner], 8, false) {
            Err(Error::Cluster { message, .. }) => {
                assert!(message.starts_with("no worker of the cluster is left: "), "{message}");
            }
            other => panic!("{manner:?}: {other:?}"),
        }
    }
}

/// Searches on ranks that decide pairs. Returns the answer, and how often they were asked for pairs.
fn on_deciding_ranks(problem: &Problem, manners: &[Manner], compact: bool, is_wrong: bool) -> (Result<Found>, usize) {
    let Task::Search(_, options) = &problem.task else { panic!("{} is no search", problem.name) };
    if let Err(error) = problem.with_cpu(1, 1 << 16, &mut |_, _| {}) {
        return (Err(error), 0);
    }
    let asked = AtomicUsize::new(0);
    let make = |run: &mut dyn FnMut(&mut dyn Worker)| {
        let mut deciding = |worker: &mut dyn Worker, _: &_| {
            let mut worker = ByPairs { worker, is_wrong, levels: 0 };
            run(&mut worker);
            asked.fetch_add(worker.levels, Ordering::Relaxed);
        };
        problem.with_cpu(1, 1 << 16, &mut deciding).unwrap();
    };
    let found = with_ranks(manners, make, |cluster| {
        // Answers of any length go aside, through memory that both see, or none do.
        cluster.aside_from(if compact { 0 } else { u64::MAX });
        searched(cluster, options, compact, &mut Unobserved)
    });
    (found.map(Found::Search), asked.into_inner())
}

fn gaussian(size: Size) -> impl Iterator<Item = Problem> {
    searches(size)
        .filter(|problem| matches!(problem.task, Task::Search(Test::Gauss { .. } | Test::GaussOfData { .. }, _)))
}

#[test]
fn ranks_that_decide_pairs_have_the_answer_of_one_machine() {
    let (mut asked, mut compared) = (0, 0);
    for (number, problem) in gaussian(Size::All).enumerate() {
        let wanted = Wanted::new(problem.on_cpu(1, 1 << 16, false));
        for &compact in problem.results() {
            let manners = match number % 4 {
                0 => vec![Manner::Sound, Manner::Dies(number % 5)],
                1 => vec![Manner::Damages(1 + number % 3), Manner::Sound],
                _ => vec![Manner::Sound; 1 + number % 3],
            };
            let (found, times) = on_deciding_ranks(&problem, &manners, compact, false);
            let label = format!("{} on {manners:?} that decide pairs", problem.name);
            // Single questions compute the same p by other operations.
            wanted.compare(label, compact, &found, Digits::Nine);
            (asked, compared) = (asked + times, compared + 1);
        }
    }
    assert!(compared > 100 && asked > 60, "{asked} pieces in {compared} searches");
}

#[test]
fn ranks_that_name_other_variables_are_lost() {
    let mut problems = gaussian(Size::Few);
    let asked = |problem: &Problem| on_deciding_ranks(problem, &[Manner::Sound], true, false).1 > 0;
    let problem = problems.find(|problem| asked(problem)).unwrap();
    match on_deciding_ranks(&problem, &[Manner::Sound; 2], true, true).0 {
        Err(Error::Cluster { message, .. }) => assert!(message.contains("not asked"), "{message}"),
        other => panic!("{other:?}"),
    }
}
