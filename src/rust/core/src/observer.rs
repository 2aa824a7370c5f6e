//! How the caller follows a run and may end it.

use std::io;

use crate::Result;

/// A function that writes the state of a search.
pub type WriteState<'w> = dyn FnMut(&mut dyn io::Write) -> io::Result<()> + 'w;

/// Follows a search from the caller's thread, and may end it.
pub trait Observer {
    /// Reports that a level begins, with this number of edges.
    fn level(&mut self, _level: usize, _edges: usize) -> Result<()> {
        Ok(())
    }

    /// Reports what share of the work before the first level is done.
    fn preparing(&mut self, _share: f64) -> Result<()> {
        self.look()
    }

    /// Reports that `done` of `total` tests of the level are done. Both are estimates: tests that need not be run count as done. At the end
    /// of a level all are done.
    fn progress(&mut self, _level: usize, _done: f64, _total: f64) -> Result<()> {
        Ok(())
    }

    /// Reports that the possible-d-sep phase of FCI begins, with this number of edges and at most this number of tests (it may exceed 64
    /// bits).
    fn possible_d_sep(&mut self, _edges: usize, _most_tests: f64) -> Result<()> {
        Ok(())
    }

    /// Returns whether the observer wants the text that pcalg prints, see [`Observer::say`].
    fn says(&self) -> bool {
        false
    }

    /// Reports text that pcalg prints with `verbose = TRUE`.
    fn say(&mut self, _text: &str) -> Result<()> {
        Ok(())
    }

    /// Reports that the possible-d-sep phase has separated x and y by s, with this p-value.
    fn separated(&mut self, _x: usize, _y: usize, _s: &[u32], _p: f64) -> Result<()> {
        Ok(())
    }

    /// Gives the observer a chance to stop work that belongs to no level.
    fn look(&mut self) -> Result<()> {
        Ok(())
    }

    /// Reports that a search which asks one question at a time begins visit `number` (from 1) of the level's `visits`.
    fn visiting(&mut self, _number: usize, _visits: usize) -> Result<()> {
        Ok(())
    }

    /// Reports that a search which asks one question at a time has done the test (x, y | s), with this p-value.
    fn tested(&mut self, _x: usize, _y: usize, _s: &[u32], _p: f64) -> Result<()> {
        Ok(())
    }

    /// Reports that a search resumes from an earlier call's state: this many levels had run and, if `within`, a part of the next.
    fn resumed(&mut self, _levels: usize, _within: bool) -> Result<()> {
        Ok(())
    }

    /// Returns whether the search may have to return to the end of the last level, or its state is to be kept on the way.
    fn keeps(&self) -> bool {
        false
    }

    /// Returns whether the state in the middle of a level is to be kept now. `ending`: whether the search is about to be given up.
    fn is_due(&self, _ending: bool) -> bool {
        false
    }

    /// Keeps what `write` writes.
    fn keep(&mut self, _write: &mut WriteState) -> Result<()> {
        Ok(())
    }
}

/// An observer that ignores every report.
pub struct Unobserved;

impl Observer for Unobserved {}
