//! Orders of visiting, each with a ledger for everything that orders share.

use super::checkpoint::{Found, Part, Within};
use super::largest::Largest;
use super::ledger::Ledger;
use super::levels::{LevelReport, Levels, Widest};
use super::Options;
use crate::graph::{Adjacency, SepSets};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::Result;

/// An order of visiting, which decides a search level by level. The ledger holds everything else.
pub(super) trait Order {
    /// Returns what [`Levels::numbers_sets`] returns.
    fn numbers_sets(&self) -> bool {
        true
    }

    /// Returns whether the order can continue from this part of the level with sets of `size`, 0 or more. Another order may have left it.
    fn goes_on_from(&self, size: usize, part: &Part) -> bool;

    /// Runs level 0.
    fn marginal(&mut self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<LevelReport>;

    /// Runs level `size`, at least 1.
    fn conditional(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<LevelReport>;

    /// Completes the p-values, and returns the ledger's graph and separating sets.
    fn finish(self, ledger: Ledger, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)>;
}

/// A search in an order of visiting.
struct Ordered<'s, O> {
    order: O,
    ledger: Ledger<'s>,
}

/// Begins a search in an order of visiting. `pool`: threads for work that needs no worker.
pub(super) fn ordered<'s>(
    order: impl Order + 's,
    options: &'s Options,
    largest: Largest<'s>,
    pool: Pool,
) -> Box<dyn Levels + 's> {
    Box::new(Ordered { order, ledger: Ledger::new(options, largest, pool) })
}

impl<O: Order> Levels for Ordered<'_, O> {
    fn edge_count(&self) -> usize {
        self.ledger.edge_count()
    }

    fn widest(&self) -> Option<Widest> {
        self.ledger.widest()
    }

    fn numbers_sets(&self) -> bool {
        self.order.numbers_sets()
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.ledger.begin_level(0, observer.keeps(), |part| self.order.goes_on_from(0, part));
        let report = self.order.marginal(&mut self.ledger, observer)?;
        self.ledger.open()?;
        self.ledger.end_level();
        Ok(report)
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.ledger.begin_level(size, observer.keeps(), |part| self.order.goes_on_from(size, part));
        let report = self.order.conditional(&mut self.ledger, size, observer)?;
        self.ledger.end_level();
        Ok(report)
    }

    fn resume(&mut self, found: Found, within: Option<Within>, _observer: &mut dyn Observer) -> Result<()> {
        self.ledger.resume(found, within);
        Ok(())
    }

    fn keep(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.ledger.keep(None, observer)
    }

    fn give_up(mut self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        self.ledger.rewind();
        self.finish(observer)
    }

    fn finish(self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        self.order.finish(self.ledger, observer)
    }
}
