//! Tests that answer batches of questions on a GPU, as workers.

use crate::ci::Batch;
use crate::engine::batched::{self, Asker, Reply};
use crate::engine::cuda::gpu::held::{Held, Holds};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::book::Book;
use crate::search::shards::Work;
use crate::search::worker::{Column, Marginals, Worker};
use crate::team::{Moved, TeamReport};
use crate::Result;

/// A test that answers batches of questions on its GPU.
pub(super) trait Asked: Holds {
    /// Returns the GPU.
    fn gpu(&self) -> &Held;

    /// Returns the number of the GPU, from 0.
    fn ordinal(&self) -> usize;

    /// Returns the number of questions that keep the GPU busy; see [`Asker::batch`].
    fn batch(&self) -> usize;

    /// Returns the most questions of a batch; see [`Asker::largest`].
    fn largest(&self) -> usize {
        self.batch()
    }

    /// Answers a batch; see [`Asker::ask`]. The caller has bound the GPU to this thread and has set the account to the batch's level.
    fn replies(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>>;
}

impl<T: Asked> Asker for T {
    fn batch(&self) -> usize {
        Asked::batch(self)
    }

    fn largest(&self) -> usize {
        Asked::largest(self)
    }

    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        self.held().begin(batch.iter().next().map(|(_, _, s)| s.len()));
        self.watched(|engine| engine.replies(batch, watch))
    }

    fn moved(&self) -> Moved {
        self.gpu().moved()
    }

    fn planned(&self) -> Vec<(&'static str, u64)> {
        self.gpu().largest_plan().parts()
    }
}

impl<T: Asked> Worker for T {
    fn pool(&self) -> &Pool {
        &self.gpu().pool
    }

    fn shard_tests(&self) -> u64 {
        batched::SHARD_TESTS
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        batched::marginal(self, level, columns, observer)
    }

    fn is_gradual(&self) -> bool {
        false
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        batched::answer(self, work, book, observer)
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        batched::p_values(self, batch, observer)
    }

    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        self.planned()
    }

    fn team(&mut self) -> TeamReport {
        let ordinal = self.ordinal();
        self.held().report(ordinal)
    }
}
