//! What workers find: plain data.

use super::level::Verdict;
use crate::memory::{self, Use};

/// The outcome of one shard's sets for one pair.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// For pairs in rows: the index among the row's [lanes](super::lanes::Lanes::of). For sides: the index into
    /// [`Work::sides`](super::shards::Work::sides).
    pub at: usize,
    /// The verdict. Its rank is among the side's own sets.
    pub verdict: Verdict,
    /// The set that separates or has no answer.
    pub set: &'a [u32],
    /// Number of tests decided by the exact formula.
    pub exact_tests: u64,
}

/// The findings of a worker in one shard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// Number of the shard.
    pub shard: u64,
    /// One answer for each pair.
    pub of_pairs: Vec<PairAnswer>,
}

/// An [`Answer`] that owns its set, and the row of its pair.
#[derive(Clone, Debug, PartialEq)]
pub struct PairAnswer {
    /// The row of the pair.
    pub row: u32,
    /// As in [`Answer`].
    pub at: usize,
    /// As in [`Answer`].
    pub verdict: Verdict,
    /// As in [`Answer`].
    pub set: Vec<u32>,
    /// As in [`Answer`].
    pub exact_tests: u64,
}

impl PairAnswer {
    /// Copies an answer.
    pub fn new(row: u32, answer: &Answer) -> Self {
        let Answer { at, verdict, set, exact_tests } = *answer;
        PairAnswer { row, at, verdict, set: set.to_vec(), exact_tests }
    }

    /// Returns the answer.
    pub fn answer(&self) -> Answer<'_> {
        Answer { at: self.at, verdict: self.verdict, set: &self.set, exact_tests: self.exact_tests }
    }
}

impl Answers {
    /// Returns an empty list for a shard.
    pub fn of_shard(shard: usize) -> Self {
        Answers { shard: shard as u64, of_pairs: Vec::new() }
    }

    /// Appends an answer.
    pub fn push(&mut self, row: u32, answer: &Answer) {
        memory::push_noted(&mut self.of_pairs, PairAnswer::new(row, answer), Use::Level);
    }
}
