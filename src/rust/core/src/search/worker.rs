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
/// Guarantee: what a worker enters depends only on the work and the data, never on threads, devices or timing. Workers call the observer
/// from the calling thread. They stop within about a tenth of a second after it returns an error.
pub trait Worker {
    /// Returns the threads that the call may use.
    fn pool(&self) -> &Pool;

    /// Returns about how many tests a shard should have.
    fn shard_tests(&self) -> u64;

    /// Returns among how many threads the shards of a level are divided, at least 1.
    fn hands(&self) -> usize {
        self.pool().threads()
    }

    /// Returns whether p given nothing may depend on which vertex comes first. Both orders are then asked, as pcalg does.
    fn asks_both_sides(&self) -> bool {
        false
    }

    /// Returns about how many sides are prepared at once if a level has many.
    fn sides_at_once(&self) -> usize {
        1 << 16
    }

    /// Runs level 0: computes the p-value, given nothing, of every pair x < y of `level`, column by column. The worker
    /// [opens](Column::open), fills and [closes](Column::close) each column, on any thread and in any order.
    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()>;

    /// Returns whether [`Worker::marginal`] writes p itself even when a smaller number would do.
    fn is_exact(&self) -> bool {
        false
    }

    /// Decides all shards of `work`, on any threads and in any order, and enters their outcomes in `book`.
    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()>;

    /// Returns whether shards are closed one after the other, so that a search can be saved between them. A worker that closes them
    /// together gets a few rows at a time if the search is saved.
    fn is_gradual(&self) -> bool {
        true
    }

    /// Returns the p-values of arbitrary questions, in their order; NaN if there is none.
    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>>;

    /// Returns the p-values, given nothing, of pairs for which [`Worker::marginal`] may have written less. They equal that function's own
    /// to the last digit.
    fn marginal_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        self.p_values(batch, observer)
    }

    /// Returns the bytes of device memory that the last search planned, by use; empty if a search plans nothing.
    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Returns what each machine did since the last call, if several machines or a GPU form this worker.
    fn team(&mut self) -> TeamReport {
        TeamReport::default()
    }

    /// Returns this worker as a [`Sweeper`], if it is one.
    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        None
    }

    /// Returns this worker as a [`Pairwise`] worker, if it is one.
    fn pairwise(&mut self) -> Option<&mut dyn Pairwise> {
        None
    }

    /// Returns this worker as one that takes whole levels and keeps their results, if that is quicker.
    fn alone(&mut self) -> Option<&mut dyn Alone> {
        None
    }
}

/// A worker that takes parts of a level while others with the same test take the rest.
pub trait Parted: Worker {
    /// Returns the number of tests that keep the worker busy.
    fn busy(&self) -> f64;

    /// Returns whether the worker should run a search [alone](Worker::alone) until a level takes long.
    fn leads(&self) -> bool {
        false
    }

    /// Returns what was copied to the worker and from it so far.
    fn moved(&self) -> Moved {
        Moved::default()
    }

    /// Decides some shards of `work`, by number. Enters their outcomes in pages of `book`, which the caller closes.
    fn answer_some<'b, 'w>(
        &mut self,
        work: &Work,
        shards: Range<usize>,
        book: &'b Book<'w>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Page<'b, 'w>>>;
}

/// A worker that takes a level as one shard: the graph and the outcomes stay on its machine until the search asks for them. Such a search
/// cannot be saved or resumed. If it ends early, it begins again by shards.
pub trait Alone {
    /// Begins a search with [`Method::Stable`](super::Method) or `StableFast`. Returns `None` if shards are quicker. In a p x p matrix the
    /// p-value of a pair x < y belongs to `[y * p + x]`. The contents of `largest` are undefined before [`Levels::finish`].
    fn begin<'s>(&'s mut self, options: &'s Options, largest: Largest<'s>) -> Result<Option<Box<dyn Levels + 's>>>;

    /// Returns whether other machines would take part in a search by shards.
    fn has_helpers(&self) -> bool {
        false
    }

    /// Returns whether level 1 is expected to take so long that helpers should share the search from its start.
    fn expects_long_level(&self, _options: &Options) -> bool {
        false
    }

    /// Ends a search that failed or did not begin. `error` is `None` if it did not begin, or ended because a level takes long. Returns
    /// whether the search begins again by shards.
    fn ends(&mut self, error: Option<&Error>) -> bool;
}

/// A worker as a test that is asked in batches, for the conservative orientation.
pub struct WorkerTest<'a> {
    /// The worker that answers the questions.
    pub worker: &'a mut dyn Worker,
    /// The observer, which follows the run and may stop it.
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
