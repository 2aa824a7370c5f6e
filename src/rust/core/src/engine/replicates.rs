//! An ensemble of selections: replicates with newly drawn samples, run side by side on the available machines.
//!
//! The samples of a replicate are drawn as copies of the rows' codes, not as weights. So every machine counts as usual, and a copy costs no more
//! than a step of the selection. If only the CPU works, each thread runs whole replicates, because steps are short and threads would wait for
//! one another after each. Two kinds of replicates run one after the other on all threads: those left over when the threads do not divide their
//! number, and all if memory is short. [`dispatch`](super::dispatch) distributes the replicates.

use std::ops::Range;

use super::cpu::together;
use super::dispatch::follow::{Follow, Watch};
use super::dispatch::local::Members;
use super::dispatch::queue::Costs;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::selection::{CountLogs, Criterion, Resampling, Runner, Samples, Selection, Step, MOST_KEPT};
use crate::team::{Moved, TeamReport};
use crate::Result;

/// The number of samples times features below which a replicate's steps are too short for several threads.
const ALONE: usize = 100_000;

/// The replicates of an ensemble.
#[derive(Clone, Copy, Debug)]
pub struct Replicates<'a> {
    /// The samples to draw from.
    pub samples: &'a Samples,
    /// How samples are drawn.
    pub resampling: Resampling,
    /// The number of the first replicate, from 0. Others may be selected elsewhere.
    pub first: usize,
    /// Number of replicates.
    pub count: usize,
    /// The criteria by which each replicate selects, each on its own.
    pub criteria: &'a [Criterion],
    /// Number of features that each replicate selects by each criterion.
    pub k: usize,
}

/// The outcome of a replicate.
#[derive(Clone, Debug, PartialEq)]
pub struct Replicate {
    /// The selected features, by criterion.
    pub selections: Vec<Selection>,
    /// The number of the draw that gave its rows, see [`Resampling::draw`].
    pub draw: u32,
}

/// A machine, and what was copied to and from it.
struct Machine<'a> {
    runner: Runner<'a>,
    moved: Moved,
}

impl Machine<'_> {
    fn run(
        &mut self,
        of: &Replicates,
        logs: &CountLogs,
        replicate: usize,
        observer: &mut dyn Observer,
    ) -> Result<Replicate> {
        let (rows, draw) = of.resampling.draw(of.samples, (of.first + replicate) as u32)?;
        let samples = of.samples.of_rows(&rows, &self.runner.pool)?;
        drop(rows);
        let (selections, moved) = (self.runner.run)(&samples, logs, of.criteria, of.k, observer)?;
        self.moved += moved;
        Ok(Replicate { selections, draw })
    }
}

/// Returns the tables for all replicates.
fn logs(of: &Replicates) -> Result<CountLogs> {
    // Room for two tables by count, and for the answers.
    memory::room(24 * of.resampling.size + of.count * of.criteria.len() * (24 * of.k + 128), Use::Features)?;
    Ok(CountLogs::new(of.resampling.size))
}

/// Returns the first `count` replicates, and the machines' report.
fn side_by_side(
    of: &Replicates,
    logs: &CountLogs,
    count: usize,
    runners: Vec<Runner>,
    observer: &mut dyn Observer,
) -> Result<(Vec<Replicate>, TeamReport)> {
    let mut members = Members::new(|machine: &Machine| machine.moved);
    for runner in runners {
        members.add(runner.name.clone(), Machine { runner, moved: Moved::default() }, 0.0);
    }
    let work = |machine: &mut Machine, _: &Costs, replicates: &Range<usize>, watch: Watch| {
        let mut follow = Follow::new(watch, replicates.len() as f64);
        replicates.clone().map(|replicate| machine.run(of, logs, replicate, follow.next(1.0))).collect()
    };
    let mut answers: Vec<Option<Replicate>> = vec![None; count];
    let mut enter = |replicates: Range<usize>, found: Vec<Replicate>| {
        answers[replicates].iter_mut().zip(found).for_each(|(answer, found)| *answer = Some(found));
        Ok(())
    };
    let mut part = Step { observer, step: 0, count, steps: of.count };
    members.run_units(vec![1.0; count], Some(0), &work, &mut enter, &mut part)?;
    Ok((answers.into_iter().flatten().collect(), members.report()))
}

/// Selects on threads of the CPU. The answer does not depend on their number.
///
/// # Errors
/// Those of [`Resampling::draw`] and [`select`](crate::selection::select), and what the observer returns.
pub fn on_threads(of: Replicates, pool: &Pool, observer: &mut dyn Observer) -> Result<Vec<Replicate>> {
    let logs = logs(&of)?;
    let (threads, size) = (pool.threads(), of.resampling.size);
    let kept = if of.criteria.len() > 1 { MOST_KEPT } else { 0 };
    let bytes = of.samples.bytes(size) + 200 * of.samples.p() + 64 * size + kept;
    memory::room(bytes, Use::Features)?;
    let beside = if threads == 1 || memory::threads_with_room(threads, bytes) < threads {
        0
    } else if size * of.samples.p() < ALONE {
        of.count
    } else {
        of.count - of.count % threads
    };
    let runners = (0..threads).map(|_| together::runner(Pool::none())).collect();
    let (mut answers, _) = side_by_side(&of, &logs, beside, runners, observer)?;
    let mut all = Machine { runner: together::runner(pool.clone()), moved: Moved::default() };
    for replicate in beside..of.count {
        let mut part = Step { observer: &mut *observer, step: replicate, count: 1, steps: of.count };
        answers.push(all.run(&of, &logs, replicate, &mut part)?);
    }
    observer.progress(0, of.count as f64, of.count as f64)?;
    Ok(answers)
}

/// Selects on several machines, each on a thread of its own. If one fails with [`Error::Device`](crate::Error::Device), others run its
/// replicates.
///
/// # Errors
/// Those of [`Resampling::draw`] and of the machines, and what the observer returns. A device error is returned only if no machine is left.
pub fn on_machines(
    of: Replicates,
    runners: Vec<Runner>,
    observer: &mut dyn Observer,
) -> Result<(Vec<Replicate>, TeamReport)> {
    let found = side_by_side(&of, &logs(&of)?, of.count, runners, observer)?;
    observer.progress(0, of.count as f64, of.count as f64)?;
    Ok(found)
}
