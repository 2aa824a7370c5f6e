//! An order of visiting, with a ledger for all that orders share.

use super::checkpoint::{Found, Part, Within};
use super::largest::Largest;
use super::ledger::Ledger;
use super::levels::{LevelReport, Levels, Widest};
use super::Options;
use crate::graph::{Adjacency, SepSets};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::Result;

/// An order of visiting: what it has decided, level by level. The ledger has all else.
pub(super) trait Order {
    /// As [`Levels::numbers_sets`].
    fn numbers_sets(&self) -> bool {
        true
    }

    /// Whether it can go on from this part of the level with sets of `size`, 0 or more: another order may have left it.
    fn goes_on_from(&self, size: usize, part: &Part) -> bool;

    /// Level 0.
    fn marginal(&mut self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<LevelReport>;

    /// Level `size`, at least 1.
    fn conditional(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<LevelReport>;

    /// Completes the p-values, and hands the ledger over.
    fn finish(self, ledger: Ledger, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)>;
}

/// A search in an order of visiting.
struct Ordered<'s, O> {
    order: O,
    ledger: Ledger<'s>,
}

/// Begins a search in an order of visiting, with these threads for what needs no worker.
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
