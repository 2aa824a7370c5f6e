//! Several machines that select together, each with features of its own: shards.
//!
//! Each has a thread for the whole of a selection, while the calling thread makes the choices and asks the observer. The
//! features are cut by a guess of the machines' speeds, and are cut again where what the machines then take says that it pays
//! ([`chief`]). What is known of a feature moves with it, so that nothing is counted twice; a machine that fails loses its features
//! to the others in the same way, also within a step.

mod chief;
mod machine;

use std::ops::Range;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Instant;

use self::chief::apportion;
use self::chief::{Chief, Post, Told};
use self::machine::{Machine, Progress};
use super::select::{room, Machines};
use super::selector::{Choice, Problem};
use super::Counting;
use crate::memory::Use;
use crate::observer::Observer;
use crate::team::{Share, TeamReport};
use crate::{Error, Result};

/// Makes a machine count for a range of features; called on the thread that then counts.
pub type Maker<'a> = Box<dyn FnMut(Range<usize>) -> Result<Box<dyn Counting + Send + 'a>> + Send + 'a>;

/// A machine that is to select beside others.
pub struct Member<'a> {
    /// Its name, as R knows it: "cpu", "cuda:0".
    pub name: String,
    /// How fast it is beside the others, as a guess: the features are first cut by it. Above 0.
    pub speed: f64,
    /// Makes it count; for more features, where it takes some from others.
    pub make: Maker<'a>,
}

/// Several machines. Where one fails with [`Error::Device`], the others take over its features, and the report says so.
pub struct Shards<'a> {
    machines: Vec<Machine<'a>>,
    report: TeamReport,
}

impl<'a> Shards<'a> {
    /// Of these machines, in order.
    ///
    /// # Errors
    /// [`Error::Argument`] where there is none.
    pub fn new(members: Vec<Member<'a>>) -> Result<Self> {
        if members.is_empty() {
            return Err(Error::Argument {
                argument: "device",
                value: "empty".into(),
                mend: "give at least one machine".into(),
            });
        }
        Ok(Shards { machines: members.into_iter().map(Machine::new).collect(), report: TeamReport::default() })
    }

    /// Cuts p features by the machines' speeds, unless an earlier selection has left each feature to a machine.
    fn cut(&mut self, p: usize) -> Result<()> {
        if self.machines.iter().map(Machine::features).sum::<usize>() == p {
            return Ok(());
        }
        let speed = |machine: &Machine| if machine.failure.is_none() { machine.member.speed.max(1e-9) } else { 0.0 };
        let speeds: Vec<f64> = self.machines.iter().map(speed).collect();
        if speeds.iter().all(|&speed| speed == 0.0) {
            let failure = self.machines.iter().find_map(|machine| machine.failure.clone());
            return Err(failure.unwrap_or(Error::Interrupted));
        }
        let mut start = 0;
        for (machine, count) in self.machines.iter_mut().zip(apportion(p, &speeds)) {
            machine.assign(start..start + count);
            start += count;
        }
        Ok(())
    }
}

impl Machines for Shards<'_> {
    fn choose(
        &mut self,
        problem: &Problem,
        k: usize,
        observer: &mut dyn Observer,
        chosen: &mut dyn FnMut(Choice),
    ) -> Result<()> {
        room(problem, self.machines.len())?;
        self.cut(problem.samples.p())?;
        let began = Instant::now();
        let stop = AtomicBool::new(false);
        let progress: Vec<Progress> = self.machines.iter().map(|_| Progress::default()).collect();
        let (tell, told) = mpsc::channel();
        let report = &mut self.report;
        let machines = &mut self.machines;
        let mut outcome = Ok(());
        let mut making = Vec::new();
        std::thread::scope(|scope| {
            let mut posts = Vec::new();
            for (at, machine) in machines.iter_mut().enumerate() {
                let (order, orders) = mpsc::channel();
                posts.push(Post::new(order, machine));
                if machine.failure.is_some() {
                    continue;
                }
                let (tell, stop, progress) = (tell.clone(), &stop, &progress[at]);
                let selectors = machine.selectors(problem);
                let body = move || {
                    let mut answer = |answer, seconds, moved| {
                        // Nobody listens once the selection has ended.
                        let _ = tell.send(Told::Answer { from: at, answer, seconds, moved });
                    };
                    let served = AssertUnwindSafe(|| machine.serve(selectors, orders, stop, progress, &mut answer));
                    if let Err(panic) = catch_unwind(served) {
                        let _ = tell.send(Told::Panic(panic));
                    }
                };
                if std::thread::Builder::new().name(format!("pcgpu-{at}")).spawn_scoped(scope, body).is_err() {
                    outcome = Err(Use::Threads.error(2 << 20));
                    return;
                }
            }
            drop(tell);
            let mut chief = Chief::new(*problem, posts, told, &stop, &progress);
            outcome = chief.choose(k, observer, chosen);
            let elapsed = began.elapsed().as_secs_f64();
            for post in &chief.posts {
                let (machine, shards, moved, busy) = (post.name.clone(), post.counts, post.moved, post.busy);
                report.enter(Share { machine, level: Some(0), shards, moved, busy, elapsed, rows: 0 });
            }
            report.lost.append(&mut chief.lost);
            making.extend(chief.posts.iter().map(|post| post.making));
        });
        machines.iter_mut().zip(making).for_each(|(machine, making)| machine.making = making);
        if outcome.is_err() {
            // Features may be on their way from one to another, and machines that were stopped are none that failed.
            for machine in machines.iter_mut() {
                machine.assign(0..0);
                machine.failure.take_if(|failure| !matches!(failure, Error::Device(_)));
            }
        }
        outcome
    }

    fn report(&mut self) -> TeamReport {
        std::mem::take(&mut self.report)
    }
}
