//! What a machine with a test on it offers to a search.

use std::ops::Range;

use super::book::{Book, Page};
use super::largest::Largest;
use super::levels::Levels;
pub use super::marginals::{Column, Marginals};
use super::pairs::Pairwise;
use super::shards::Work;
use super::sweep::Sweeper;
use super::Options;
use crate::ci::{Batch, CiTest};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::team::{Moved, TeamReport};
use crate::{Error, Result};

/// A machine with a test on it, which answers the shards of a level.
///
/// Guarantee: what is entered depends on the work and the data alone, never on threads, devices or timing. Workers call the
/// observer from the calling thread and stop within about a tenth of a second when it says so.
pub trait Worker {
    /// The threads that the call may use.
    fn pool(&self) -> &Pool;

    /// Tests in a shard, about.
    fn shard_tests(&self) -> u64;

    /// Into how many hands the shards of a level go, at least 1.
    fn hands(&self) -> usize {
        self.pool().threads()
    }

    /// Whether p given nothing may depend on which vertex comes first, so that both are asked, as pcalg does.
    fn asks_both_sides(&self) -> bool {
        false
    }

    /// Sides that are laid out at once where a level has many, about.
    fn sides_at_once(&self) -> usize {
        1 << 16
    }

    /// Level 0: the p-value of every pair x < y of `level`, given nothing, column by column. A column is [opened](Column::open),
    /// filled and [closed](Column::close), on any thread and in any order.
    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()>;

    /// Whether [`Worker::marginal`] writes p itself also where it may write less.
    fn is_exact(&self) -> bool {
        false
    }

    /// Decides all shards of `work`, on any threads and in any order, and enters their outcomes in `book`.
    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()>;

    /// Whether shards are closed one after the other, so that a search can be kept between them. A worker that closes them together is given
    /// a few rows at a time where a search is kept.
    fn is_gradual(&self) -> bool {
        true
    }

    /// p-values of arbitrary questions, in their order; NaN where there is none.
    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>>;

    /// p-values of pairs given nothing, for which [`Worker::marginal`] may have written less: its own, to the last digit.
    fn marginal_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        self.p_values(batch, observer)
    }

    /// The bytes of device memory that the last search planned, by use; empty where a search plans nothing.
    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Who did what since this was asked last, where several machines are this worker, or a GPU.
    fn team(&mut self) -> TeamReport {
        TeamReport::default()
    }

    /// This worker as one that sweeps, where it does.
    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        None
    }

    /// This worker as one that decides pairs, where it does.
    fn pairwise(&mut self) -> Option<&mut dyn Pairwise> {
        None
    }

    /// This worker as one that takes whole levels and keeps what comes of them, where it is quicker so.
    fn alone(&mut self) -> Option<&mut dyn Alone> {
        None
    }
}

/// A worker that takes parts of a level while others on the same test take the rest.
pub trait Parted: Worker {
    /// Tests that keep it busy.
    fn busy(&self) -> f64;

    /// Whether it had better run a search [alone](Worker::alone), until a level takes long.
    fn leads(&self) -> bool {
        false
    }

    /// What was copied to it and from it so far.
    fn moved(&self) -> Moved {
        Moved::default()
    }

    /// Decides some shards of `work`, by number, and enters their outcomes in pages of `book`, which the caller closes.
    fn answer_some<'b, 'w>(
        &mut self,
        work: &Work,
        shards: Range<usize>,
        book: &'b Book<'w>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Page<'b, 'w>>>;
}

/// A worker that takes a level as one shard: the graph and the outcomes stay on its machine until they are asked for. Such a search cannot be
/// kept, nor gone on with: where it ends early the search begins again, by shards.
pub trait Alone {
    /// Begins a search with [`Method::Stable`](super::Method) or `StableFast`; none where it is quicker by shards. Of a p x p matrix the p-value of a
    /// pair x < y belongs to `[y * p + x]`; nothing in `largest` can be relied on before [`Levels::finish`].
    fn begin<'s>(&'s mut self, options: &'s Options, largest: Largest<'s>) -> Result<Option<Box<dyn Levels + 's>>>;

    /// Whether other machines would take a part of a search by shards.
    fn has_helpers(&self) -> bool {
        false
    }

    /// The search has ended with an error, none: for the sake of a level that takes long. Whether it begins again by shards.
    fn ends(&mut self, error: Option<&Error>) -> bool;
}

/// A worker as a test that is asked in batches (the conservative orientation).
pub struct WorkerTest<'a> {
    /// Answers the questions.
    pub worker: &'a mut dyn Worker,
    /// Follows the run, and may stop it.
    pub observer: &'a mut dyn Observer,
}

impl CiTest for WorkerTest<'_> {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        let mut batch = Batch::new();
        batch.push(x, y, s);
        Ok(self.p_values(&batch)?[0])
    }

    fn p_values(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        self.worker.p_values(batch, self.observer)
    }

    fn batch_size(&self) -> usize {
        1 << 14
    }
}
