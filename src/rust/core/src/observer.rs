//! How the caller follows a run, and ends it.

use std::io;

use crate::Result;

/// Writes what a search knows.
pub type WriteState<'w> = dyn FnMut(&mut dyn io::Write) -> io::Result<()> + 'w;

/// Follows a search from the caller's thread, and may end it.
pub trait Observer {
    /// A level begins, with this number of edges.
    fn level(&mut self, _level: usize, _edges: usize) -> Result<()> {
        Ok(())
    }

    /// This share of what a search needs before its first level is done.
    fn preparing(&mut self, _share: f64) -> Result<()> {
        self.look()
    }

    /// `done` of `total` tests of the level (estimates: tests that need not be run count as done). At the end of a level all
    /// are done.
    fn progress(&mut self, _level: usize, _done: f64, _total: f64) -> Result<()> {
        Ok(())
    }

    /// The possible-d-sep phase of FCI begins, with this number of edges, and this number of tests at most (it may exceed 64 bits).
    fn possible_d_sep(&mut self, _edges: usize, _most_tests: f64) -> Result<()> {
        Ok(())
    }

    /// Whether what pcalg prints of its steps is to be told of, [`Observer::say`].
    fn says(&self) -> bool {
        false
    }

    /// Text that pcalg prints with `verbose = TRUE`.
    fn say(&mut self, _text: &str) -> Result<()> {
        Ok(())
    }

    /// The possible-d-sep phase has separated x and y by s, with this p-value.
    fn separated(&mut self, _x: usize, _y: usize, _s: &[u32], _p: f64) -> Result<()> {
        Ok(())
    }

    /// Something without a level is being worked on: only a chance to stop.
    fn look(&mut self) -> Result<()> {
        Ok(())
    }

    /// A search that asks one question at a time begins visit `number` (from 1) of `visits` of the level.
    fn visiting(&mut self, _number: usize, _visits: usize) -> Result<()> {
        Ok(())
    }

    /// A search that asks one question at a time has done the test (x, y | s), with this p-value.
    fn tested(&mut self, _x: usize, _y: usize, _s: &[u32], _p: f64) -> Result<()> {
        Ok(())
    }

    /// A search goes on from what was kept of an earlier call: so many levels had run, and, `within`, a part of the next.
    fn resumed(&mut self, _levels: usize, _within: bool) -> Result<()> {
        Ok(())
    }

    /// Whether the search may have to go back to the end of the last level, or is to be kept on the way.
    fn keeps(&self) -> bool {
        false
    }

    /// Whether what is known in the middle of a level is to be kept now; `ending`: the search is about to be given up.
    fn is_due(&self, _ending: bool) -> bool {
        false
    }

    /// Keeps what `write` writes.
    fn keep(&mut self, _write: &mut WriteState) -> Result<()> {
        Ok(())
    }
}

/// Follows nothing.
pub struct Unobserved;

impl Observer for Unobserved {}
