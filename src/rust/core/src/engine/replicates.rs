//! An ensemble of selections: replicates, each from samples drawn anew, side by side on what there is.
//!
//! The samples of a replicate are drawn as copies of the rows' codes, not as weights: every machine then counts as ever, and the copy is
//! no more than a step of the selection. On the CPU alone a replicate is a thread's, as steps are short and threads would wait for
//! one another at the end of each; those that are left when the threads do not divide their number, and replicates for
//! which memory is short, are run one after the other on all threads. Several machines take replicates from one queue. Who finds none left
//! runs what slower ones have not finished: the first answer counts, and all are the same.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{mpsc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::cpu::selection::CpuCounting;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::{Pool, Stop};
use crate::selection::{select, CountLogs, Criterion, Resampling, Runner, Samples, Selection};
use crate::team::{Lost, Share, TeamReport};
use crate::{Error, Result};

/// Time between two looks of the calling thread.
const WATCH: Duration = Duration::from_millis(20);

/// Time between two looks of a machine that has nothing to do.
const IDLE: Duration = Duration::from_millis(2);

/// Below this many samples times features the steps of a replicate are too short for several threads.
const ALONE: usize = 100_000;

/// The replicates of an ensemble.
#[derive(Clone, Copy, Debug)]
pub struct Replicates<'a> {
    /// What is drawn from.
    pub samples: &'a Samples,
    /// How.
    pub resampling: Resampling,
    /// The number of the first replicate, from 0: others may be selected elsewhere.
    pub first: usize,
    /// Number of replicates.
    pub count: usize,
    /// By which each selects ...
    pub criterion: Criterion,
    /// ... so many features.
    pub k: usize,
}

/// What a replicate has selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Replicate {
    /// The features.
    pub selection: Selection,
    /// The draw that its rows are, see [`Resampling::draw`].
    pub draw: u32,
}

/// What is known of replicates that are under way.
struct Board<'a> {
    of: Replicates<'a>,
    logs: CountLogs,
    /// Bits of the share of each that is done.
    shares: Vec<AtomicU64>,
    answers: Vec<Mutex<Option<Result<Replicate>>>>,
    stop: AtomicBool,
}

impl<'a> Board<'a> {
    fn new(of: Replicates<'a>) -> Result<Self> {
        let size = of.resampling.size;
        // Two tables by count, and the answers.
        memory::room(24 * size + of.count * (24 * of.k + 128), Use::Features)?;
        Ok(Board {
            of,
            logs: CountLogs::new(size),
            shares: (0..of.count).map(|_| AtomicU64::new(0)).collect(),
            answers: (0..of.count).map(|_| Mutex::new(None)).collect(),
            stop: AtomicBool::new(false),
        })
    }

    fn is_done(&self, replicate: usize) -> bool {
        self.answers[replicate].lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn enter(&self, replicate: usize, answer: Result<Replicate>) {
        self.answers[replicate].lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(answer);
    }

    /// Draws a replicate and selects by `run`.
    fn run(
        &self,
        replicate: usize,
        pool: &Pool,
        run: &mut dyn FnMut(&Samples, &CountLogs) -> Result<Selection>,
    ) -> Result<Replicate> {
        let (rows, draw) = self.of.resampling.draw(self.of.samples, (self.of.first + replicate) as u32)?;
        let samples = self.of.samples.of_rows(&rows, pool)?;
        drop(rows);
        Ok(Replicate { selection: run(&samples, &self.logs)?, draw })
    }

    fn report(&self, observer: &mut dyn Observer) -> Result<()> {
        let done = self.shares.iter().map(|share| f64::from_bits(share.load(Ordering::Relaxed)));
        let (done, total) = (done.sum::<f64>(), self.of.count as f64);
        // The whole is for the end.
        observer.progress(0, done.min(total * (1.0 - 1e-9)), total)
    }

    fn answers(self, observer: &mut dyn Observer) -> Result<Vec<Replicate>> {
        let answers = self.answers.into_iter();
        let answers = answers.map(|answer| {
            answer.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or(Err(Error::Interrupted))
        });
        let answers = answers.collect::<Result<Vec<Replicate>>>()?;
        observer.progress(0, self.of.count as f64, self.of.count as f64)?;
        Ok(answers)
    }
}

/// Follows a replicate that is not on the calling thread.
struct Follow<'s> {
    share: &'s AtomicU64,
    ended: &'s dyn Fn() -> bool,
}

impl Observer for Follow<'_> {
    fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
        let share = if total > 0.0 { done / total } else { 0.0 };
        // Of two machines that run it the one that is ahead.
        self.share.fetch_max(share.to_bits(), Ordering::Relaxed);
        self.look()
    }

    fn look(&mut self) -> Result<()> {
        if (self.ended)() {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

/// On threads of the CPU. The answer does not depend on their number.
///
/// # Errors
/// Those of [`Resampling::draw`] and [`select`], and what the observer returns.
pub fn on_threads(of: Replicates, pool: &Pool, observer: &mut dyn Observer) -> Result<Vec<Replicate>> {
    let board = Board::new(of)?;
    let (threads, size) = (pool.threads(), of.resampling.size);
    let bytes = of.samples.bytes(size) + 200 * of.samples.p() + 64 * size;
    memory::room(bytes, Use::Features)?;
    let beside = if threads == 1 || memory::threads_with_room(threads, bytes) < threads {
        0
    } else if size * of.samples.p() < ALONE {
        of.count
    } else {
        of.count - of.count % threads
    };
    let none = Pool::none();
    let work = |(): &mut (), replicate: usize, stop: &Stop| {
        let ended = || stop.requested();
        let mut follow = Follow { share: &board.shares[replicate], ended: &ended };
        let answer = board.run(replicate, &none, &mut |samples, logs| {
            let mut counting = CpuCounting::new(samples, logs, 0..samples.p(), none.clone());
            select(samples, logs, &mut counting, of.criterion, of.k, &mut follow)
        });
        board.enter(replicate, answer);
    };
    pool.run(beside, false, |_| 0.0, &mut |_| board.report(observer), work)?;
    for replicate in beside..of.count {
        let mut watched = Whole { board: &board, replicate, observer: &mut *observer };
        let answer = board.run(replicate, pool, &mut |samples, logs| {
            let mut counting = CpuCounting::new(samples, logs, 0..samples.p(), pool.clone());
            select(samples, logs, &mut counting, of.criterion, of.k, &mut watched)
        });
        board.enter(replicate, Ok(answer?));
    }
    board.answers(observer)
}

/// The progress of one replicate, on the calling thread, as that of all.
struct Whole<'s, 'a> {
    board: &'s Board<'a>,
    replicate: usize,
    observer: &'s mut dyn Observer,
}

impl Observer for Whole<'_, '_> {
    fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
        let share = if total > 0.0 { done / total } else { 0.0 };
        self.board.shares[self.replicate].store(share.to_bits(), Ordering::Relaxed);
        self.board.report(self.observer)
    }

    fn look(&mut self) -> Result<()> {
        self.observer.look()
    }
}

/// Who runs what.
struct Queue {
    next: usize,
    /// By replicate: the machines that have begun it.
    begun: Vec<Vec<usize>>,
    report: TeamReport,
    /// Why all end.
    failure: Option<Error>,
}

/// On several machines, each on a thread of its own. Where one fails with [`Error::Device`], others run its replicates.
///
/// # Errors
/// Those of [`Resampling::draw`] and of the machines, where it is not one of a device or none is left, and what the observer returns.
pub fn on_machines(
    of: Replicates,
    runners: Vec<Runner>,
    observer: &mut dyn Observer,
) -> Result<(Vec<Replicate>, TeamReport)> {
    let board = Board::new(of)?;
    let begun = (0..of.count).map(|_| Vec::new()).collect();
    let queue = Mutex::new(Queue { next: 0, begun, report: TeamReport::default(), failure: None });
    let (leave, left) = mpsc::channel::<()>();
    let mut outcome = Ok(());
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for (at, runner) in runners.into_iter().enumerate() {
            let (leave, board, queue) = (leave.clone(), &board, &queue);
            let body = move || {
                serve(at, runner, board, queue);
                drop(leave);
            };
            match std::thread::Builder::new().name(format!("pcgpu-{at}")).spawn_scoped(scope, body) {
                Ok(thread) => running.push(thread),
                Err(_) => outcome = Err(Use::Threads.error(2 << 20)),
            }
        }
        drop(leave);
        loop {
            if outcome.is_err() {
                board.stop.store(true, Ordering::Relaxed);
            }
            match left.recv_timeout(WATCH) {
                Err(mpsc::RecvTimeoutError::Timeout) if outcome.is_ok() => outcome = board.report(observer),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                _ => break,
            }
        }
        for thread in running {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    outcome?;
    memory::check()?;
    let Queue { report, failure, .. } = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failure {
        Some(error) if !(0..of.count).all(|replicate| board.is_done(replicate)) => Err(error),
        _ => Ok((board.answers(observer)?, report)),
    }
}

/// A machine runs replicates until there are none.
fn serve(at: usize, mut runner: Runner, board: &Board, queue: &Mutex<Queue>) {
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let began = Instant::now();
    let mut share = Share { machine: runner.name.clone(), level: Some(0), ..Share::default() };
    while !board.stop.load(Ordering::Relaxed) && !memory::is_short() {
        let mut queued = lock();
        let replicate = if queued.next < board.of.count {
            queued.next += 1;
            Some(queued.next - 1)
        } else {
            // Of those that nobody has finished, the one that the fewest have begun.
            let open = (0..board.of.count).filter(|&replicate| !board.is_done(replicate));
            let mut open = open.peekable();
            if open.peek().is_none() {
                break;
            }
            open.filter(|&replicate| !queued.begun[replicate].contains(&at))
                .min_by_key(|&replicate| queued.begun[replicate].len())
        };
        if let Some(replicate) = replicate {
            queued.begun[replicate].push(at);
        }
        drop(queued);
        let Some(replicate) = replicate else {
            std::thread::sleep(IDLE);
            continue;
        };
        let worked = Instant::now();
        let ended = || board.stop.load(Ordering::Relaxed) || board.is_done(replicate);
        let mut follow = Follow { share: &board.shares[replicate], ended: &ended };
        let (pool, run, moved) = (&runner.pool, &mut runner.run, &mut share.moved);
        let answer = board.run(replicate, pool, &mut |samples, logs| {
            let (selection, copied) = run(samples, logs, board.of.criterion, board.of.k, &mut follow)?;
            *moved += copied;
            Ok(selection)
        });
        share.busy += worked.elapsed().as_secs_f64();
        match answer {
            Ok(found) => {
                share.shards += u64::from(!board.is_done(replicate));
                board.enter(replicate, Ok(found));
            }
            // Another machine was first, or all are to end.
            Err(Error::Interrupted) if ended() => {}
            Err(error) => {
                let mut queued = lock();
                if let Error::Device(_) = error {
                    queued.report.lost.push(Lost::by(runner.name.clone(), &error));
                } else {
                    board.stop.store(true, Ordering::Relaxed);
                }
                queued.failure = Some(error);
                break;
            }
        }
    }
    share.elapsed = began.elapsed().as_secs_f64();
    lock().report.enter(share);
}
