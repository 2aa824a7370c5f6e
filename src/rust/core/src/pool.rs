//! The threads of a call: all parallel work runs on them.
//!
//! Long work consists of numbered tasks, which threads take from a counter ([`Pool::run`]). If there are worker threads, the calling thread
//! (R's) does none of this work. It wakes every 20 ms to report progress and to ask whether to stop. Short work is distributed without
//! reports or questions ([`Pool::each`]). The threads live as long as the pool, which is one call. So a process that forks later
//! (`parallel::mclapply`) inherits none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::{memory, Error, Result};

/// Time between two checks by the calling thread.
const WATCH: Duration = Duration::from_millis(20);

/// How often a waiting thread checks without a pause (some tens of microseconds), and then how long it pauses between checks.
const BRIEFLY: u32 = 1 << 10;
const MOMENT: Duration = Duration::from_micros(20);

/// A request to end the run early. Running out of memory counts as a request.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Returns whether to end.
    #[inline]
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) || memory::is_short()
    }
}

/// Returns the number of threads to use if the caller names none: the cores available to the process when this was first called. Finding it
/// reads control group files, which in a sandbox takes longer than a small search.
pub fn default_threads() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Returns how many of `count` items make one part, for this many threads. Each thread gets several parts, because parts differ in cost.
/// Fewer than two threads get all items as one part, so that no thread is woken.
pub(crate) fn part_of(count: usize, threads: usize) -> usize {
    let parts = if threads < 2 { 1 } else { 4 * threads };
    count.div_ceil(parts).max(1)
}

/// A fixed number of threads, started when first needed. Clones share them.
#[derive(Clone, Debug)]
pub struct Pool(Arc<Threads>);

#[derive(Debug)]
struct Threads {
    count: usize,
    /// Whether the caller named the number. If so, it is an error that the threads cannot be started.
    named: bool,
    /// `None` if the calling thread does all work; the reason if threads could not be started.
    started: OnceLock<std::result::Result<Option<rayon::ThreadPool>, String>>,
}

/// Memory of a new thread in bytes: two MiB of stack, and what the C library keeps for it.
const BYTES_OF_THREAD: usize = 3 << 20;

impl From<usize> for Pool {
    /// Calls [`Pool::new`].
    fn from(threads: usize) -> Self {
        Pool::new(threads)
    }
}

impl Pool {
    /// Makes a pool with this many threads, at least 1 and at most four times the cores. A later call fails if they cannot be started.
    pub fn new(threads: usize) -> Self {
        // More threads than this only cost start-up time; the answer does not depend on their number.
        let count = threads.clamp(1, 4 * default_threads());
        Pool(Arc::new(Threads { count, named: true, started: OnceLock::new() }))
    }

    /// Makes a pool as [`Pool::new`] does, except that the calling thread does all work if the system refuses the threads.
    pub fn at_most(threads: usize) -> Self {
        let count = threads.clamp(1, 4 * default_threads());
        Pool(Arc::new(Threads { count, named: false, started: OnceLock::new() }))
    }

    /// Makes a pool without threads: the calling thread does all work.
    pub fn none() -> Self {
        Pool(Arc::new(Threads { count: 1, named: false, started: OnceLock::from(Ok(None)) }))
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.0.count
    }

    /// Returns the threads, or `None` if the calling thread does all work. If memory is short, there are fewer than [`Pool::threads`].
    fn workers(&self) -> Result<Option<&rayon::ThreadPool>> {
        let count = self.0.count;
        let started = self.0.started.get_or_init(|| {
            // If memory is short, fewer threads do the work; the answer does not change.
            let fit = memory::threads_with_room(count, BYTES_OF_THREAD);
            if fit == 0 {
                return Ok(None);
            }
            let threads = rayon::ThreadPoolBuilder::new().num_threads(fit).thread_name(|i| format!("pcgpu-{i}"));
            match threads.build() {
                Ok(pool) => {
                    if memory::is_limited() {
                        // Each thread now takes the memory that it must have, before anything else can.
                        pool.broadcast(|_| ());
                    }
                    Ok(Some(pool))
                }
                Err(_) if fit < count => Ok(None),
                Err(error) => Err(error.to_string()),
            }
        });
        match started {
            Ok(pool) => Ok(pool.as_ref()),
            Err(reason) if self.0.named => Err(Error::Argument {
                argument: "numCores",
                value: count.to_string(),
                hint: format!("the system could not start these threads ({reason}); give a smaller number"),
            }),
            Err(_) => Ok(None),
        }
    }

    /// Runs `work(task)` for every task in `0..tasks` on several threads, and waits for them. If they cannot be started, the calling thread
    /// does the work.
    pub fn each(&self, tasks: usize, work: impl Fn(usize) + Sync) {
        let workers = if self.0.count == 1 || tasks < 2 { None } else { self.workers().unwrap_or(None) };
        let Some(pool) = workers else { return (0..tasks).for_each(work) };
        let next = AtomicUsize::new(0);
        pool.scope(|scope| {
            for _ in 0..self.0.count.min(tasks) {
                scope.spawn(|_| loop {
                    let task = next.fetch_add(1, Ordering::Relaxed);
                    if task >= tasks {
                        break;
                    }
                    work(task);
                });
            }
        });
    }

    /// Runs `work(i, part)` for every part, as [`Pool::each`] does; each call owns its part.
    pub fn each_of<T: Send>(&self, parts: Vec<T>, work: impl Fn(usize, T) + Sync) {
        let parts: Vec<std::sync::Mutex<Option<T>>> = parts.into_iter().map(|part| Some(part).into()).collect();
        self.each(parts.len(), |task| {
            if let Some(part) = parts[task].lock().ok().and_then(|mut slot| slot.take()) {
                work(task, part);
            }
        });
    }

    /// Runs `beside` on up to `threads` threads while the calling thread runs `own`, and waits for them. If no thread can be started, the
    /// calling thread runs `beside` first.
    pub fn beside<R>(&self, threads: usize, beside: impl Fn() + Sync, own: impl FnOnce() -> R) -> R {
        let workers = if threads == 0 { None } else { self.workers().unwrap_or(None) };
        let Some(pool) = workers else {
            beside();
            return own();
        };
        pool.in_place_scope(|scope| {
            (0..threads.min(self.0.count)).for_each(|_| scope.spawn(|_| beside()));
            own()
        })
    }

    /// Makes a waiting thread useful: runs other work of the pool, which the awaited thread may depend on, or else waits a moment. `waited`
    /// counts the calls in a row without other work.
    pub fn give_way(waited: &mut u32) {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => *waited = 0,
            _ => Self::pause(waited),
        }
    }

    /// Waits a moment. `waited` counts the calls in a row.
    pub fn pause(waited: &mut u32) {
        if *waited < BRIEFLY {
            *waited += 1;
            std::hint::spin_loop();
        } else {
            std::thread::sleep(MOMENT);
        }
    }

    /// Runs `work(scratch, task, stop)` for every task in `0..tasks`. Calls `watch(done)` with the cost done so far.
    ///
    /// `inline` keeps all work on the calling thread.
    ///
    /// # Errors
    /// The errors of `watch`; [`Error::Argument`] if the caller named a number of threads that cannot be started; [`Error::Memory`] if
    /// memory has run out.
    pub fn run<S: Default + Send>(
        &self,
        tasks: usize,
        inline: bool,
        cost: impl Fn(usize) -> f64,
        watch: &mut dyn FnMut(f64) -> Result<()>,
        work: impl Fn(&mut S, usize, &Stop) + Sync,
    ) -> Result<()> {
        let stop = Stop::default();
        let workers = if inline || tasks == 0 { None } else { self.workers()? };
        let Some(pool) = workers else {
            let mut scratch = S::default();
            let mut looked = Instant::now();
            let mut done = 0.0;
            for task in 0..tasks {
                work(&mut scratch, task, &stop);
                memory::check()?;
                done += cost(task);
                if looked.elapsed() > WATCH {
                    watch(done)?;
                    looked = Instant::now();
                }
            }
            return watch(done);
        };
        let threads = self.0.count;
        let next = AtomicUsize::new(0);
        // The watcher adds up the costs, so workers only count tasks.
        let finished = AtomicUsize::new(0);
        let (leave, left) = mpsc::channel::<()>();
        let mut outcome = Ok(());
        pool.in_place_scope(|scope| {
            for _ in 0..threads.min(tasks) {
                let (leave, next, finished, stop, work) = (leave.clone(), &next, &finished, &stop, &work);
                scope.spawn(move |_| {
                    let mut scratch = S::default();
                    while !stop.requested() {
                        let task = next.fetch_add(1, Ordering::Relaxed);
                        if task >= tasks {
                            break;
                        }
                        work(&mut scratch, task, stop);
                        finished.fetch_add(1, Ordering::Relaxed);
                    }
                    drop(leave);
                });
            }
            drop(leave);
            let (mut counted, mut done) = (0, 0.0);
            // No message is ever sent: the channel closes when the last worker leaves.
            while let Err(mpsc::RecvTimeoutError::Timeout) = left.recv_timeout(WATCH) {
                let now = finished.load(Ordering::Relaxed).min(tasks);
                done += (counted..now).map(&cost).sum::<f64>();
                counted = now;
                if outcome.is_ok() {
                    // Workers notice by themselves that memory has run out. `watch` might need memory.
                    outcome = if memory::is_short() { Ok(()) } else { watch(done) };
                    if outcome.is_err() {
                        stop.0.store(true, Ordering::Relaxed);
                    }
                }
            }
            done += (counted..tasks).map(&cost).sum::<f64>();
            if outcome.is_ok() {
                // All threads are done, so the notice of short memory may be cleared here.
                outcome = memory::check().and_then(|()| watch(done));
            }
        });
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::sync::Mutex;

    #[test]
    fn every_part_is_given_away_once() {
        for pool in [Pool::none(), Pool::new(1), Pool::new(3), Pool::at_most(2)] {
            let seen: Vec<AtomicU64> = (0..500).map(|_| AtomicU64::new(0)).collect();
            pool.each_of((0..500u64).rev().collect(), |task, part| {
                assert_eq!(part, 499 - task as u64);
                seen[task].fetch_add(1, Ordering::Relaxed);
            });
            assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn no_more_threads_work_than_were_asked_for() {
        for (pool, most) in [(Pool::none(), 1), (Pool::new(1), 1), (Pool::new(2), 2)] {
            let workers = Mutex::new(std::collections::HashSet::new());
            let note = || {
                workers.lock().unwrap().insert(std::thread::current().id());
            };
            pool.each(200, |_| note());
            workers.lock().unwrap().clear();
            pool.run(200, false, |_| 1.0, &mut |_| Ok(()), |_: &mut (), _, _| note()).unwrap();
            assert!(workers.lock().unwrap().len() <= most);
        }
    }

    #[test]
    fn threads_that_cannot_be_started_are_an_error_only_where_they_were_asked_for() {
        let refused = |named| Pool(Arc::new(Threads { count: 2, named, started: OnceLock::from(Err("no".into())) }));
        let count = AtomicU64::new(0);
        let run = |pool: Pool| {
            pool.run(
                10,
                false,
                |_| 1.0,
                &mut |_| Ok(()),
                |_: &mut (), _, _| {
                    count.fetch_add(1, Ordering::Relaxed);
                },
            )
        };
        assert!(matches!(run(refused(true)), Err(Error::Argument { argument: "numCores", .. })));
        assert_eq!((run(refused(false)), count.load(Ordering::Relaxed)), (Ok(()), 10));
    }

    #[test]
    fn every_task_is_run_once_and_its_cost_is_reported() {
        for (threads, inline) in [(1, true), (1, false), (2, false), (5, false)] {
            let runs: Vec<AtomicU64> = (0..1000).map(|_| AtomicU64::new(0)).collect();
            let mut reported = 0.0;
            let mut watch = |done: f64| {
                reported = done;
                Ok(())
            };
            Pool::new(threads)
                .run(
                    1000,
                    inline,
                    |t| t as f64,
                    &mut watch,
                    |_: &mut (), task, _| {
                        runs[task].fetch_add(1, Ordering::Relaxed);
                    },
                )
                .unwrap();
            assert!(runs.iter().all(|r| r.load(Ordering::Relaxed) == 1));
            assert_eq!(reported, 999.0 * 500.0);
        }
    }

    #[test]
    fn a_watcher_that_says_stop_ends_the_run_early() {
        let runs = AtomicU64::new(0);
        let started = Instant::now();
        let result = Pool::new(2).run(
            1_000_000,
            false,
            |_| 1.0,
            &mut |_| Err(Error::Interrupted),
            |_: &mut (), _, _| {
                runs.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(1));
            },
        );
        assert_eq!(result, Err(Error::Interrupted));
        assert!(runs.load(Ordering::Relaxed) < 1000 && started.elapsed() < Duration::from_secs(2));
    }
}
