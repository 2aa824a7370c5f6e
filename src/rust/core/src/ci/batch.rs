//! Arbitrary questions (x, y, S) in one flat block, as engines need them.

use crate::memory::{self, Use};
use crate::Result;

/// A list of questions "Are x and y independent given S?". Vertices are numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pairs: Vec<(u32, u32)>,
    ends: Vec<usize>,
    sets: Vec<u32>,
}

impl Batch {
    /// Makes an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty batch with space for this many questions, and this many members of their sets in total.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error).
    pub fn with_space(questions: usize, members: usize) -> Result<Self> {
        let (pairs, ends) = (memory::space(questions, Use::Level)?, memory::space(questions, Use::Level)?);
        Ok(Batch { pairs, ends, sets: memory::space(members, Use::Level)? })
    }

    /// Appends a question; the order of `s` is kept.
    pub fn push(&mut self, x: usize, y: usize, s: &[u32]) {
        self.pairs.push((x as u32, y as u32));
        self.sets.extend_from_slice(s);
        self.ends.push(self.sets.len());
    }

    /// Returns the number of questions.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether there are no questions.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Removes all questions, and keeps the memory.
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.ends.clear();
        self.sets.clear();
    }

    /// Returns question `i` as (x, y, S).
    pub fn get(&self, i: usize) -> (usize, usize, &[u32]) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let (x, y) = self.pairs[i];
        (x as usize, y as usize, &self.sets[start..self.ends[i]])
    }

    /// Iterates over all questions in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, &[u32])> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }
}
