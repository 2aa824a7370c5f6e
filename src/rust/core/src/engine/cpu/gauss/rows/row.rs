//! A row that is being decided.

use super::super::rules::Rules;
use crate::engine::cpu::kernel::{RowView, Signal};
use crate::search::answer::Answer;
use crate::search::level::Verdict;

/// The lanes of a row, the rules that decide them, the signal that may stop it, and the function that gets the outcomes.
pub struct Row<'a> {
    pub rules: &'a Rules<'a>,
    pub view: &'a RowView<'a>,
    pub signal: &'a Signal<'a>,
    /// Gets the lanes that are decided.
    pub out: &'a mut dyn FnMut(&Answer),
    /// The set that is being tested.
    pub set: &'a mut Vec<u32>,
}

impl<'a> Row<'a> {
    /// Returns the vertex of the row.
    pub fn x(&self) -> usize {
        self.view.row as usize
    }

    /// Returns the neighbours of the vertex.
    pub fn list(&self) -> &'a [u32] {
        self.view.neighbours.list(self.view.row as usize)
    }

    /// Reports the verdict on a lane, given by its index into [`RowView::places`], with the current set.
    pub fn tell(&mut self, at: usize, verdict: Verdict, exact_tests: u64) {
        (self.out)(&Answer { at: self.view.first + at, verdict, set: self.set, exact_tests });
    }
}
