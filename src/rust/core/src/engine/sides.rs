//! A list of sides as work for threads: shards of about equal cost.

use std::ops::Range;

use crate::search::level::{Neighbours, PairSide, Verdict};

/// A piece of work for one worker: whole sides, or a range of ranks of one heavy side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Indices into [`Sides::sides`].
    pub sides: Range<usize>,
    /// For one heavy side: which of its ranks.
    pub ranks: Option<Range<u64>>,
    /// Number of tests at most.
    pub cost: u64,
}

/// Sides to be decided, with conditioning sets of one size, cut into shards.
#[derive(Clone, Debug)]
pub struct Sides<'a> {
    /// Size of the conditioning sets, at least 1.
    pub size: usize,
    /// The frozen neighbourhoods.
    pub neighbours: &'a Neighbours,
    /// The work.
    pub sides: Vec<PairSide>,
    /// The work in pieces; every rank of every side is in exactly one.
    pub shards: Vec<Shard>,
    /// Significance level.
    pub alpha: f64,
    /// Whether a test without an answer separates.
    pub na_delete: bool,
}

/// A side is cut into at most this many pieces.
const MOST_PIECES: u64 = 4096;

impl<'a> Sides<'a> {
    /// Lays out sides as shards of about `shard_tests` tests.
    pub fn new(
        size: usize,
        neighbours: &'a Neighbours,
        sides: Vec<PairSide>,
        alpha: f64,
        na_delete: bool,
        shard_tests: u64,
    ) -> Self {
        let mut shards = Vec::new();
        let mut start = 0;
        let mut cost = 0u64;
        for (i, side) in sides.iter().enumerate() {
            if side.count > 2 * shard_tests {
                if start < i {
                    shards.push(Shard { sides: start..i, ranks: None, cost });
                }
                let piece = shard_tests.max(side.count.div_ceil(MOST_PIECES));
                let mut from = 0;
                while from < side.count {
                    let to = side.count.min(from.saturating_add(piece));
                    shards.push(Shard { sides: i..i + 1, ranks: Some(from..to), cost: to - from });
                    from = to;
                }
                start = i + 1;
                cost = 0;
            } else {
                cost += side.count;
                if cost >= shard_tests {
                    shards.push(Shard { sides: start..i + 1, ranks: None, cost });
                    start = i + 1;
                    cost = 0;
                }
            }
        }
        if start < sides.len() {
            shards.push(Shard { sides: start..sides.len(), ranks: None, cost });
        }
        Sides { size, neighbours, sides, shards, alpha, na_delete }
    }

    /// Bytes that so many sides take with their shards and verdicts, about: a shard has several sides.
    pub(crate) fn bytes(sides: usize) -> usize {
        sides.saturating_mul(2 * size_of::<PairSide>() + 2 * size_of::<Verdict>())
    }

    /// Number of tests if none is left out (as a float: it may exceed 64 bits).
    pub fn cost(&self) -> f64 {
        self.sides.iter().map(|s| s.count as f64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;
    use crate::search::level::CandidateOrder;

    #[test]
    fn shards_cover_every_rank_once() {
        let neighbours = Neighbours::of(Adjacency::complete(3));
        let counts = [3u64, 900, 5, 0, 64, 64, 64, 1, 2000];
        let sides: Vec<PairSide> = counts
            .iter()
            .map(|&count| PairSide { row: 0, other: 1, place: 0, order: CandidateOrder::Ascending, count })
            .collect();
        for shard_tests in [1, 7, 100, 1 << 20] {
            let level = Sides::new(1, &neighbours, sides.clone(), 0.05, true, shard_tests);
            let mut seen: Vec<Vec<Range<u64>>> = vec![Vec::new(); counts.len()];
            for shard in &level.shards {
                for i in shard.sides.clone() {
                    seen[i].push(shard.ranks.clone().unwrap_or(0..counts[i]));
                }
            }
            for (ranges, &count) in seen.iter().zip(&counts) {
                let mut next = 0;
                for range in ranges {
                    assert_eq!(range.start, next);
                    next = range.end;
                }
                assert_eq!(next, count);
            }
        }
    }
}
