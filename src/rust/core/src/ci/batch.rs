//! Arbitrary questions (x, y, S) in one flat block, as an engine wants them.

use crate::memory::{self, Use};
use crate::Result;

/// A list of questions "x and y independent given S?". Vertices from 0.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pairs: Vec<(u32, u32)>,
    ends: Vec<usize>,
    sets: Vec<u32>,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty batch with space for so many questions whose sets have so many members together.
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

    /// Number of questions.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Forgets all questions, keeps the memory.
    pub fn clear(&mut self) {
        self.pairs.clear();
        self.ends.clear();
        self.sets.clear();
    }

    /// Question `i`.
    pub fn get(&self, i: usize) -> (usize, usize, &[u32]) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let (x, y) = self.pairs[i];
        (x as usize, y as usize, &self.sets[start..self.ends[i]])
    }

    /// All questions in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, &[u32])> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }
}
