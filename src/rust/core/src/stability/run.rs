//! Runs of replicates on the machines at hand.
//!
//! A replicate stays on one thread, from its rows to its graph. Searches on one thread each never wait, whereas the steps of one search are
//! too short for several threads. Some replicates run one after the other on all threads instead: large ones that are left when the threads
//! do not divide their number, and all if memory does not allow several at a time. A GPU also runs them one after the other, as one search
//! fills it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::counts::Counts;
use super::drawn::{Drawn, Source};
use super::search::Search;
use crate::memory;
use crate::observer::Observer;
use crate::orient::Pdag;
use crate::pool::{Pool, Stop};
use crate::search::worker::Worker;
use crate::selection::Resampling;
use crate::{Error, Result};

/// Number of cells of a replicate's data, or of pairs of its variables, below which its search is too short for several threads.
const ALONE: usize = 100_000;

/// The result of a replicate.
pub struct Searched<'f> {
    /// The replicate's place among those that are run, from 0.
    pub place: usize,
    /// The rows that the replicate drew.
    pub rows: &'f [u32],
    /// The replicate's data.
    pub drawn: &'f Drawn,
    /// The replicate's graph.
    pub graph: &'f Pdag,
    /// Threads for further work on the result.
    pub pool: &'f Pool,
}

/// A function that takes the result of a replicate, on any thread.
pub type Take<'t> = dyn Fn(Searched, &mut dyn Observer) -> Result<()> + Sync + 't;

/// The replicates to run, and their data.
#[derive(Clone, Debug)]
pub struct Replicates<'a> {
    /// The data.
    pub source: Source<'a>,
    /// How rows are drawn.
    pub resampling: Resampling,
    /// The number of the first replicate, from 0: others may be run elsewhere.
    pub first: usize,
    /// Number of replicates.
    pub count: usize,
    /// The search on each replicate.
    pub search: Search,
}

/// A machine other than the threads. It searches one replicate after the other.
pub trait Machine {
    /// Returns the worker for a replicate.
    ///
    /// # Errors
    /// Those of the machine.
    fn worker<'d>(&self, drawn: &'d Drawn) -> Result<Box<dyn Worker + 'd>>;
}

impl Replicates<'_> {
    /// Runs one replicate and passes its result to `take`. Without `machine` it runs on the threads.
    fn run(
        &self,
        place: usize,
        pool: &Pool,
        machine: Option<&dyn Machine>,
        take: &Take,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let number = self.first + place;
        let rows = self.resampling.rows(self.source.n(), number as u32, 0)?;
        let drawn = self.source.draw(&rows, pool, &mut || observer.look())?;
        let mut worker = match machine {
            Some(machine) => machine.worker(&drawn)?,
            None => drawn.worker(self.search.options(), pool)?,
        };
        let graph = self.search.graph(&mut *worker, number, observer)?;
        drop(worker);
        observer.look()?;
        take(Searched { place, rows: &rows, drawn: &drawn, graph: &graph, pool }, observer)
    }

    /// Returns how many replicates run side by side on `threads` threads.
    fn beside(&self, threads: usize) -> usize {
        let (p, size) = (self.source.p(), self.resampling.size);
        if memory::threads_with_room(threads, self.source.bytes(size)) < threads {
            0
        } else if size * p < ALONE && p * p < ALONE {
            self.count
        } else {
            self.count - self.count % threads
        }
    }
}

/// Returns the sums over replicates. The answer does not depend on threads and machines.
///
/// # Errors
/// If replicates fail, the error of the first one: those of [`Resampling::rows`], [`Source::draw`] and [`Search::graph`]. Errors of the
/// observer, whose progress is in replicates.
pub fn run(of: &Replicates, pool: &Pool, machine: Option<&dyn Machine>, observer: &mut dyn Observer) -> Result<Counts> {
    let counts = Mutex::new(Counts::default());
    each(of, pool, machine, observer, &|found, _| {
        counts.lock().unwrap_or_else(PoisonError::into_inner).enter(found.graph, found.drawn.constant())
    })?;
    Ok(counts.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs replicates and passes each result to `take`.
///
/// # Errors
/// Those of [`run`], and errors of `take`.
pub fn each(
    of: &Replicates,
    pool: &Pool,
    machine: Option<&dyn Machine>,
    observer: &mut dyn Observer,
    take: &Take,
) -> Result<()> {
    let done = AtomicUsize::new(0);
    let beside = if machine.is_some() { 0 } else { of.beside(pool.threads()) };
    let none = Pool::none();
    // The error of the first replicate that fails, however threads take turns: earlier replicates still run.
    let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let fails = |replicate: usize, error: Error| {
        let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.as_ref().is_none_or(|(first, _)| replicate < *first) {
            *failure = Some((replicate, error));
        }
    };
    let is_off = |replicate: usize| {
        let failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.as_ref().is_some_and(|(first, _)| *first < replicate)
    };
    let work = |(): &mut (), replicate: usize, stop: &Stop| {
        if is_off(replicate) {
            return;
        }
        match of.run(replicate, &none, None, take, &mut Beside(stop)) {
            Ok(()) => _ = done.fetch_add(1, Ordering::Relaxed),
            Err(Error::Interrupted) if stop.requested() => {}
            Err(error) => fails(replicate, error),
        }
    };
    let total = of.count as f64;
    let told = |observer: &mut dyn Observer| {
        // The total is only reported at the end.
        observer.progress(0, (done.load(Ordering::Relaxed) as f64).min(total * (1.0 - 1e-9)), total)
    };
    pool.run(beside, false, |_| 0.0, &mut |_| told(observer), work)?;
    for replicate in beside..of.count {
        if is_off(replicate) {
            break;
        }
        told(observer)?;
        of.run(replicate, pool, machine, take, &mut Looking(observer))?;
        done.fetch_add(1, Ordering::Relaxed);
    }
    memory::check()?;
    if let Some((_, error)) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    observer.progress(0, total, total)
}

/// An observer of a replicate that is not on the calling thread.
struct Beside<'s>(&'s Stop);

impl Observer for Beside<'_> {
    fn level(&mut self, _level: usize, _edges: usize) -> Result<()> {
        self.look()
    }

    fn progress(&mut self, _level: usize, _done: f64, _total: f64) -> Result<()> {
        self.look()
    }

    fn look(&mut self) -> Result<()> {
        match self.0.requested() {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    }
}

/// An observer that checks whether to stop, and reports nothing about a single replicate.
struct Looking<'o>(&'o mut dyn Observer);

impl Observer for Looking<'_> {
    fn progress(&mut self, _level: usize, _done: f64, _total: f64) -> Result<()> {
        self.0.look()
    }

    fn look(&mut self) -> Result<()> {
        self.0.look()
    }
}
