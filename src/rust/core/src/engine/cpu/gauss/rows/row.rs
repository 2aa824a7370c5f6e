//! A row that is being decided.

use super::super::rules::Rules;
use crate::engine::cpu::kernel::{RowView, Signal};
use crate::search::answer::Answer;
use crate::search::level::Verdict;

/// A row's lanes, by which rules they are decided, until when, and who hears of it.
pub struct Row<'a> {
    pub rules: &'a Rules<'a>,
    pub view: &'a RowView<'a>,
    pub signal: &'a Signal<'a>,
    /// Hears of the lanes that are decided.
    pub out: &'a mut dyn FnMut(&Answer),
    /// The set that is looked at.
    pub set: &'a mut Vec<u32>,
}

impl<'a> Row<'a> {
    /// The vertex.
    pub fn x(&self) -> usize {
        self.view.row as usize
    }

    /// Its neighbours.
    pub fn list(&self) -> &'a [u32] {
        self.view.neighbours.list(self.view.row as usize)
    }

    /// Tells what the set says of a lane, by its index into [`RowView::places`].
    pub fn tell(&mut self, at: usize, verdict: Verdict, exact_tests: u64) {
        (self.out)(&Answer { at: self.view.first + at, verdict, set: self.set, exact_tests });
    }
}
