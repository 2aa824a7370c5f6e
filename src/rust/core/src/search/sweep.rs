//! All subsets of some candidates at once, of many sizes, as the possible-d-sep phase asks them of an edge. This is for workers that can
//! share more between such sets than between sets of one size.

use std::ops::RangeInclusive;

use super::level::Verdict;
use crate::graph::subsets;
use crate::observer::Observer;
use crate::Result;

/// The tests of a pair (x, y) given all subsets of some candidates, of several sizes.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The pair, in the order in which a test is asked.
    pub pair: [u32; 2],
    /// The candidates, ascending, without x and y: at most [`Sweep::MOST`].
    pub candidates: Vec<u32>,
    /// The sizes, beginning with 2 or more.
    pub sizes: RangeInclusive<usize>,
}

/// The verdicts on a [`Sweep`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Swept {
    /// The verdicts by size, from the first size on, with ranks among the subsets of that size in lexicographic order. The list ends with
    /// the first verdict that is not [`Verdict::Dependent`].
    pub verdicts: Vec<Verdict>,
    /// Number of tests that the exact formula decided.
    pub exact_tests: u64,
}

impl Sweep {
    /// Largest number of candidates: a set is a word with a bit for each candidate.
    pub const MOST: usize = 62;

    /// Smallest size with which workers begin a sweep. Levels ask smaller sets.
    pub const FIRST_SIZE: usize = 3;

    /// Writes the members of a set to `out`.
    pub fn members(&self, set: u64, out: &mut Vec<u32>) {
        out.clear();
        out.extend(crate::graph::bits(0, set).map(|at| self.candidates[at as usize]));
    }

    /// Returns the rank of a set among those of its size.
    pub fn rank(&self, set: u64) -> u64 {
        let places: Vec<u32> = crate::graph::bits(0, set).collect();
        subsets::rank(self.candidates.len(), &places)
    }

    /// Returns the number of sets, as a float.
    pub fn cost(&self) -> f64 {
        let of = |size| subsets::binomial(self.candidates.len(), size).map_or(f64::MAX, |count| count as f64);
        self.sizes.clone().map(of).sum()
    }
}

/// Returns whether a set comes before another of its size: the smallest member that only one of them has belongs to `set`.
#[inline]
pub fn comes_before(set: u64, other: u64) -> bool {
    let apart = set ^ other;
    set & (apart & apart.wrapping_neg()) != 0
}

/// A worker that sweeps.
pub trait Sweeper {
    /// Returns the largest size of a sweep that begins with sets of `size` of these candidates, or `None` if levels are quicker. `largest`
    /// is the largest size that is wanted. A sweep begins with sizes that have many sets. It includes larger sizes if they add few sets in
    /// comparison, as the first size may end it.
    fn takes(&mut self, candidates: usize, size: usize, largest: usize) -> Option<usize>;

    /// Decides some sweeps, in their order. `rules`: the significance level, and whether a test without an answer separates. Progress is
    /// reported in units of [`Sweep::cost`].
    fn sweep(&mut self, sweeps: &[Sweep], rules: (f64, bool), observer: &mut dyn Observer) -> Result<Vec<Swept>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_in_lexicographic_order() {
        let sweep = Sweep { pair: [0, 1], candidates: (2..9).collect(), sizes: 2..=3 };
        let sets: Vec<u64> = (0..1u64 << 7).filter(|set| set.count_ones() == 3).collect();
        let mut by_rank = sets.clone();
        by_rank.sort_by_key(|&set| sweep.rank(set));
        let mut by_order = sets;
        by_order.sort_by(|&a, &b| comes_before(b, a).cmp(&comes_before(a, b)));
        assert_eq!(by_rank, by_order);
        let mut members = Vec::new();
        sweep.members(by_rank[1], &mut members);
        assert_eq!((members, sweep.cost()), (vec![2, 3, 5], 21.0 + 35.0));
    }
}
