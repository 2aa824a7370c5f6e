//! Several machines with one test on them, as one worker. Each batch of questions is cut into pieces, and the next free machine takes one.
//!
//! The members are askers (`batched`): GPUs and the CPU. Each has a thread while a level or a batch is answered. The calling thread makes
//! rounds of questions and follows the progress. `questions` orders and cuts them, and [`dispatch`](super::dispatch) distributes the
//! pieces. A reply depends on its question alone, so it does not matter which member gives it. A member whose device fails gets no more
//! work; the others take over its pieces.

mod questions;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::ci::Batch;
use crate::engine::batched::{self, Asker, Desk, Reply};
use crate::engine::dispatch::follow::Watch;
use crate::engine::dispatch::local::{Front, Members};
use crate::engine::dispatch::queue::Units;
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::book::Book;
use crate::search::shards::Work;
use crate::search::sweep::{Sweep, Sweeper, Swept};
use crate::search::worker::{Column, Marginals, Worker};
use crate::team::TeamReport;
use crate::{DeviceError, Error, Result};
use questions::Questions;

/// Several machines with one test on them, as one worker.
///
/// All members give the same answers to the last bit, so the team gives them too.
pub struct QuestionTeam<'a> {
    members: Members<Box<dyn Asker + Send + 'a>>,
    pool: Pool,
}

impl<'a> QuestionTeam<'a> {
    /// Makes a question team without members. `pool` has the threads for other work of the calling thread.
    pub fn new(pool: Pool) -> Self {
        QuestionTeam { members: Members::new(|asker| asker.moved()), pool }
    }

    /// Adds a machine. Reports of the team call it by this name ("cpu", "cuda:0").
    pub fn with(mut self, name: impl Into<String>, asker: impl Asker + Send + 'a) -> Self {
        let batch = asker.batch() as f64;
        self.members.add(name, Box::new(asker), batch);
        self
    }

    /// Returns the threads for a CPU member that works together with this many GPUs: at least one. Two threads are left for each GPU, to
    /// keep it busy, and one for the calling thread, which makes the questions.
    pub fn threads_beside(pool: &Pool, gpus: usize) -> Pool {
        Pool::at_most(pool.threads().saturating_sub(2 * gpus + 1).max(1))
    }

    /// Records a machine that could not be opened, and the reason. It counts as one that failed.
    pub fn without(mut self, name: impl Into<String>, error: DeviceError) -> Self {
        self.members.without(name, error);
        self
    }

    /// Returns the bytes of device memory that each member has planned, by its name and by use.
    pub fn memory_plans(&self) -> Vec<(String, Vec<(&'static str, u64)>)> {
        self.members
            .seats
            .iter()
            .zip(&self.members.machines)
            .map(|(seat, asker)| (seat.name.clone(), asker.planned()))
            .collect()
    }

    /// Runs `run` while all members work on the batches that it gives to the desk.
    fn together<T>(&mut self, run: impl FnOnce(&mut dyn Desk) -> Result<T>) -> Result<T> {
        let work =
            |asker: &mut Box<dyn Asker + Send + 'a>, questions: &Questions, places: &Range<usize>, watch: Watch| {
                let replies = asker.ask(&questions.part(places)?, watch)?;
                assert_eq!(replies.len(), places.len(), "a reply to each question");
                Ok(replies)
            };
        let largest = self.members.machines.iter().map(|asker| asker.largest()).sum();
        self.members.together(&work, |front| run(&mut Counter { front, largest, jobs: VecDeque::new() }))
    }

    /// Returns the member that sweeps: the last one that can, because GPUs come after the CPU.
    fn sweeping(&mut self) -> Option<usize> {
        (0..self.members.seats.len()).rfind(|&number| self.sweeper_of(number).is_some())
    }

    fn sweeper_of(&mut self, number: usize) -> Option<&mut dyn Sweeper> {
        let Members { machines, seats, .. } = &mut self.members;
        machines.get_mut(number).filter(|_| !seats[number].is_lost)?.sweeper()
    }

    fn replies(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        let total = batch.len().max(1) as f64;
        self.together(|desk| {
            desk.give(batch.clone())?;
            desk.take(&mut |answered| watch(answered / total))
        })
    }
}

impl Worker for QuestionTeam<'_> {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        batched::SHARD_TESTS
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        self.together(|desk| batched::marginal_at(desk, level, columns, observer))
    }

    fn is_gradual(&self) -> bool {
        false
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        self.together(|desk| batched::answer_at(desk, work, book, observer))
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        let replies = self.replies(batch, &mut |_| observer.look())?;
        batched::values(replies, batch)
    }

    /// Returns the bytes by use, summed over members. [`QuestionTeam::memory_plans`] has those of each member.
    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        let mut all: Vec<(&'static str, u64)> = Vec::new();
        for (what, bytes) in self.members.machines.iter().flat_map(|asker| asker.planned()) {
            match all.iter_mut().find(|(known, _)| *known == what) {
                Some((_, sum)) => *sum += bytes,
                None => all.push((what, bytes)),
            }
        }
        all
    }

    fn team(&mut self) -> TeamReport {
        self.members.report()
    }

    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        match self.sweeping() {
            Some(_) => Some(self),
            None => None,
        }
    }
}

impl Sweeper for QuestionTeam<'_> {
    fn takes(&mut self, candidates: usize, size: usize, largest: usize) -> Option<usize> {
        let number = self.sweeping()?;
        self.sweeper_of(number)?.takes(candidates, size, largest)
    }

    fn sweep(&mut self, sweeps: &[Sweep], rules: (f64, bool), observer: &mut dyn Observer) -> Result<Vec<Swept>> {
        while let Some(number) = self.sweeping() {
            let Some(sweeper) = self.sweeper_of(number) else { break };
            match sweeper.sweep(sweeps, rules, observer) {
                Err(Error::Device(error)) => self.members.lose(number, error),
                outcome => return outcome,
            }
        }
        Err(self.members.nobody())
    }
}

/// A batch that is being answered.
struct Job {
    number: u64,
    questions: Arc<Questions>,
    left: usize,
    replies: Vec<Reply>,
}

/// The question team as the calling thread sees it.
struct Counter<'a, 'f> {
    front: &'f mut Front<'a, Questions, Vec<Reply>>,
    /// Most questions of a batch.
    largest: usize,
    jobs: VecDeque<Job>,
}

impl Desk for Counter<'_, '_> {
    fn batch(&self) -> usize {
        (self.front.batch() as usize).max(1)
    }

    fn largest(&self) -> usize {
        self.largest
    }

    fn ahead(&self) -> usize {
        2
    }

    fn give(&mut self, batch: Batch) -> Result<()> {
        let questions = Arc::new(Questions::new(batch)?);
        let left = questions.len();
        let number = self.front.give(questions.clone());
        self.jobs.push_back(Job { number, questions, left, replies: vec![Reply::P(f64::NAN); left] });
        Ok(())
    }

    fn take(&mut self, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        while self.jobs.front().is_some_and(|job| job.left > 0) {
            let (piece, replies) = self.front.next(watch)?;
            if let Some(job) = self.jobs.iter_mut().find(|job| job.number == piece.job) {
                job.left -= piece.units.len();
                job.questions.enter(piece.units, replies, &mut job.replies);
            }
        }
        let Some(job) = self.jobs.pop_front() else { return Ok(Vec::new()) };
        self.front.close(job.number);
        Ok(job.replies)
    }
}
