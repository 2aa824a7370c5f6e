//! Threads that take numbered tasks off a counter while the calling thread watches.
//!
//! The calling thread (R's) does no work once there are workers: it wakes every few milliseconds to report progress and
//! to ask whether to stop. The threads live as long as the engine, that is one call, so that a process that forks later
//! (`parallel::mclapply`) inherits none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// Time between two looks of the calling thread.
const WATCH: Duration = Duration::from_millis(20);

/// Set when the run is to end early.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Whether to end.
    #[inline]
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Number of threads to use when the caller names none.
pub fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A fixed number of threads, started when first needed.
pub(super) struct Pool {
    threads: usize,
    pool: Option<rayon::ThreadPool>,
}

impl Pool {
    pub fn new(threads: usize) -> Self {
        // Far more threads than cores only cost their start; the answer does not depend on their number.
        Pool { threads: threads.clamp(1, 4 * default_threads()), pool: None }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work(scratch, task, stop)` for every task in `0..tasks`. `watch(done)` is called with the cost done so far.
    ///
    /// `inline` keeps it all on the calling thread.
    pub fn run<S: Default + Send>(
        &mut self,
        tasks: usize,
        inline: bool,
        cost: impl Fn(usize) -> f64,
        watch: &mut dyn FnMut(f64) -> Result<()>,
        work: impl Fn(&mut S, usize, &Stop) + Sync,
    ) -> Result<()> {
        let stop = Stop::default();
        if inline || tasks == 0 {
            let mut scratch = S::default();
            let mut looked = Instant::now();
            let mut done = 0.0;
            for task in 0..tasks {
                work(&mut scratch, task, &stop);
                done += cost(task);
                if looked.elapsed() > WATCH {
                    watch(done)?;
                    looked = Instant::now();
                }
            }
            return watch(done);
        }
        let threads = self.threads;
        let pool = match &mut self.pool {
            Some(pool) => pool,
            none => {
                let built = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .thread_name(|i| format!("pcgpu-{i}"))
                    .build()
                    .map_err(|e| Error::Argument {
                        argument: "numCores",
                        value: threads.to_string(),
                        mend: format!("the threads could not be started ({e}); give a smaller number"),
                    })?;
                none.insert(built)
            }
        };
        let next = AtomicUsize::new(0);
        // The watcher adds up costs itself, so that workers only count.
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
                    outcome = watch(done);
                    if outcome.is_err() {
                        stop.0.store(true, Ordering::Relaxed);
                    }
                }
            }
            done += (counted..tasks).map(&cost).sum::<f64>();
            if outcome.is_ok() {
                outcome = watch(done);
            }
        });
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

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
