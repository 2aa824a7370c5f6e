//! How a piece of work is followed while a machine does it.

use crate::observer::Observer;
use crate::Result;

/// A callback that gets the finished share of a piece, and may end the piece.
pub(in crate::engine) type Watch<'w> = &'w mut dyn FnMut(f64) -> Result<()>;

/// An observer that follows a machine's work on a piece, some units at a time.
pub(in crate::engine) struct Follow<'w> {
    watch: Watch<'w>,
    /// The cost of the piece (`all`), of its finished units (`before`) and of the units in work (`own`).
    all: f64,
    before: f64,
    own: f64,
    share: f64,
}

impl<'w> Follow<'w> {
    pub fn new(watch: Watch<'w>, all: f64) -> Self {
        Follow { watch, all, before: 0.0, own: 0.0, share: 0.0 }
    }

    /// Begins the next units, which have this cost.
    pub fn next(&mut self, cost: f64) -> &mut Self {
        (self.before, self.own, self.share) = (self.before + self.own, cost, 0.0);
        self
    }
}

impl Observer for Follow<'_> {
    fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
        self.share = if total > 0.0 { done / total } else { 0.0 };
        self.look()
    }

    fn look(&mut self) -> Result<()> {
        (self.watch)((self.before + self.share * self.own) / self.all)
    }
}
