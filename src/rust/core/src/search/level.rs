//! The parts of a level of PC: the sides of pairs, and the verdicts on sides.

pub use super::neighbours::{Neighbours, Without};

use std::ops::Range;

use super::neighbours;
use crate::graph::subsets;
use crate::{Error, Result};

/// The order of a side's candidates, which determines the ranks of its conditioning sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateOrder {
    /// Ascending.
    Ascending,
    /// First the candidates that are not neighbours of the other vertex, then the common neighbours, each ascending (pcalg's C++, second
    /// side). Sets of common neighbours alone come last and are not visited, as the first side had them.
    CommonLast,
}

/// The tests of a pair whose conditioning sets come from the neighbours of `row` without `other`: they ask (row, other | S).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairSide {
    /// The vertex whose neighbours the sets are chosen from.
    pub row: u32,
    /// The other vertex of the pair.
    pub other: u32,
    /// The index of `other` in the row's list, or [`PairSide::OUTSIDE`].
    pub place: u32,
    /// The order of the candidates.
    pub order: CandidateOrder,
    /// The number of sets that are visited, by rank from 0.
    pub count: u64,
}

impl PairSide {
    /// Value in place of an index: the other vertex is not in the row's list, as it is of a later tier.
    pub const OUTSIDE: u32 = neighbours::OUTSIDE;

    /// Returns whether the other vertex is not in the row's list.
    pub fn is_outside(&self) -> bool {
        self.place == PairSide::OUTSIDE
    }

    /// Returns the number of candidates for this pair, given the length of the row's list.
    pub fn candidates_of(&self, list: usize) -> usize {
        list.saturating_sub(usize::from(!self.is_outside()))
    }

    /// Writes the candidates to `out`, in their order.
    pub fn candidates(&self, neighbours: &Neighbours, out: &mut Vec<u32>) {
        out.clear();
        let list = neighbours.list(self.row as usize);
        match self.order {
            CandidateOrder::Ascending => out.extend(list.iter().copied().filter(|&v| v != self.other)),
            CandidateOrder::CommonLast => {
                let other = self.other as usize;
                out.extend(neighbours.without(self.row as usize, other));
                out.extend(list.iter().copied().filter(|&v| neighbours.adjacent(other, v as usize)));
            }
        }
    }

    /// Writes the conditioning set of a rank to `set`, without a walk over all candidates if possible.
    pub fn set_into(&self, neighbours: &Neighbours, size: usize, rank: u64, set: &mut Vec<u32>) {
        let list = neighbours.list(self.row as usize);
        set.clear();
        set.resize(size, 0);
        match self.order {
            CandidateOrder::Ascending => {
                subsets::unrank(self.candidates_of(list.len()), rank, set);
                for member in set {
                    *member = list[*member as usize + usize::from(*member >= self.place)];
                }
            }
            CandidateOrder::CommonLast if size == 1 => {
                let mut candidates = neighbours.without(self.row as usize, self.other as usize);
                set[0] = candidates.nth(rank as usize).unwrap_or(u32::MAX);
            }
            CandidateOrder::CommonLast => {
                let mut candidates = Vec::with_capacity(list.len());
                self.candidates(neighbours, &mut candidates);
                subsets::unrank(candidates.len(), rank, set);
                for member in set {
                    *member = candidates[*member as usize];
                }
            }
        }
    }

    /// Calls `each` with the conditioning sets of these ranks, in their order. `work`: working memory.
    pub fn each_set(
        &self,
        neighbours: &Neighbours,
        size: usize,
        ranks: Range<u64>,
        [set, positions, candidates]: &mut [Vec<u32>; 3],
        mut each: impl FnMut(&[u32]),
    ) {
        if ranks.start + 1 == ranks.end {
            self.set_into(neighbours, size, ranks.start, set);
            return each(set);
        }
        self.candidates(neighbours, candidates);
        positions.clear();
        positions.resize(size, 0);
        subsets::unrank(candidates.len(), ranks.start, positions);
        for _ in ranks {
            set.clear();
            set.extend(positions.iter().map(|&at| candidates[at as usize]));
            each(set);
            subsets::advance(candidates.len(), positions);
        }
    }

    /// Returns the rank of a conditioning set whose members stand in the order of the candidates: the inverse of [`PairSide::set_into`].
    pub fn rank_of(&self, neighbours: &Neighbours, set: &[u32]) -> u64 {
        let list = neighbours.list(self.row as usize);
        match self.order {
            CandidateOrder::Ascending => {
                let places: Vec<u32> = set.iter().map(|v| list.partition_point(|known| known < v) as u32).collect();
                if self.is_outside() {
                    subsets::rank(list.len(), &places)
                } else {
                    subsets::rank_without(list.len(), &places, self.place as usize)
                }
            }
            CandidateOrder::CommonLast => {
                let mut candidates = Vec::with_capacity(list.len());
                self.candidates(neighbours, &mut candidates);
                let place = |v: &u32| candidates.iter().position(|known| known == v).unwrap_or(0) as u32;
                let places: Vec<u32> = set.iter().map(place).collect();
                subsets::rank(candidates.len(), &places)
            }
        }
    }

    /// Returns the conditioning set of a rank.
    pub fn set(&self, neighbours: &Neighbours, size: usize, rank: u64) -> Vec<u32> {
        let mut set = Vec::new();
        self.set_into(neighbours, size, rank, &mut set);
        set
    }
}

/// The result of the tests of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// A set separates the pair.
    Independent {
        /// Smallest rank with p >= alpha.
        rank: u64,
        /// p at that rank.
        p: f64,
    },
    /// No set separates.
    Dependent {
        /// A rank where p is largest.
        rank: u64,
        /// The largest p.
        p: f64,
    },
    /// The test at this rank has no numerical answer, and pcalg stops there. No earlier set separates.
    Undefined {
        /// The rank of that test.
        rank: u64,
        /// Why it has no answer.
        reason: &'static str,
    },
}

impl Verdict {
    /// Returns the rank that the verdict rests on.
    pub fn rank(&self) -> u64 {
        match *self {
            Verdict::Independent { rank, .. } | Verdict::Dependent { rank, .. } | Verdict::Undefined { rank, .. } => {
                rank
            }
        }
    }

    /// Returns how many tests pcalg performs on a side with `all` sets and this outcome.
    pub fn visited(&self, all: u64) -> u64 {
        match self {
            Verdict::Independent { rank, .. } => rank + 1,
            _ => all,
        }
    }

    /// Merges the verdicts on two parts of a side: returns the one that pcalg meets first, or the one with the larger p.
    pub fn merge(self, other: Verdict) -> Verdict {
        let stop = |v: &Verdict| match *v {
            Verdict::Independent { rank, .. } | Verdict::Undefined { rank, .. } => Some(rank),
            Verdict::Dependent { .. } => None,
        };
        match (stop(&self), stop(&other)) {
            (Some(a), Some(b)) => {
                if a <= b {
                    self
                } else {
                    other
                }
            }
            (Some(_), None) => self,
            (None, Some(_)) => other,
            (None, None) => match (self, other) {
                (Verdict::Dependent { p: a, rank: ra }, Verdict::Dependent { p: b, rank: rb }) => {
                    if a > b || (a == b && ra <= rb) {
                        self
                    } else {
                        other
                    }
                }
                _ => self,
            },
        }
    }
}

/// Returns the number of subsets of `size` out of `candidates`, or an error that names the pair.
pub fn count_sets(x: usize, y: usize, candidates: usize, size: usize) -> Result<u64> {
    subsets::binomial(candidates, size).ok_or(Error::Overflow { x, y, level: size, candidates })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;

    #[test]
    fn common_neighbours_stand_last_on_the_second_side_of_stable_fast() {
        // 0 - {1, 2, 4}, 1 - {0, 2, 3, 4}: candidates of 1 against 0 are 3 first, then 2 and 4.
        let graph = Adjacency::from_lists(&[vec![1, 2, 4], vec![2, 3, 4], vec![], vec![], vec![]]);
        let neighbours = Neighbours::of(graph);
        let side = PairSide { row: 1, other: 0, place: 0, order: CandidateOrder::CommonLast, count: 2 };
        let mut out = Vec::new();
        side.candidates(&neighbours, &mut out);
        assert_eq!(out, [3, 2, 4]);
        assert_eq!(side.set(&neighbours, 2, 1), [3, 4]);
        assert_eq!(side.rank_of(&neighbours, &[3, 4]), 1);
        assert_eq!(neighbours.common(0, 1), 2);
    }

    #[test]
    fn lists_alone_say_what_bit_rows_say() {
        for (p, of_256) in [(1, 100), (2, 256), (63, 30), (64, 200), (65, 90), (130, 0), (130, 3), (130, 250), (700, 1)]
        {
            let is_edge =
                |x: usize, y: usize| (((x.min(y) * 7919 + x.max(y) * 104_729) * 2_654_435_761) >> 7) & 255 < of_256;
            let list = |x: usize| (0..p as u32).filter(|&y| y as usize != x && is_edge(x, y as usize)).collect();
            let graph = Adjacency::from_lists(&(0..p).map(list).collect::<Vec<Vec<u32>>>());
            let with = Neighbours::of(graph.clone());
            let alone = with.to_lists();
            assert!(with.graph().is_some() && alone.graph().is_none());
            for (x, y) in (0..p).flat_map(|x| (0..p).step_by(1 + p / 64).map(move |y| (x, y))).filter(|(x, y)| x != y) {
                let without: Vec<u32> =
                    graph.neighbours(x).filter(|&v| v as usize != y && !graph.has(y, v as usize)).collect();
                for neighbours in [&with, &alone] {
                    assert_eq!(neighbours.adjacent(x, y), graph.has(x, y));
                    assert_eq!(neighbours.place_if_any(x, y) != PairSide::OUTSIDE, graph.has(x, y));
                    assert_eq!(neighbours.common(x, y), graph.common(x, y));
                    assert_eq!(neighbours.without(x, y).collect::<Vec<_>>(), without);
                    for n in [0, 1, 7, 64, 65].into_iter().filter(|&n| n <= without.len()) {
                        let mut rest = neighbours.without(x, y);
                        assert_eq!((rest.nth(n), rest.next()), (without.get(n).copied(), without.get(n + 1).copied()));
                    }
                }
                let side = |order| PairSide {
                    row: x as u32,
                    other: y as u32,
                    place: with.place_if_any(x, y),
                    order,
                    count: 1,
                };
                for side in [CandidateOrder::Ascending, CandidateOrder::CommonLast].map(side) {
                    let (mut of_bits, mut of_lists) = (Vec::new(), Vec::new());
                    side.candidates(&with, &mut of_bits);
                    side.candidates(&alone, &mut of_lists);
                    assert_eq!(of_bits, of_lists);
                    for (size, rank) in [(1, 0), (1, 2), (2, 0), (2, 5)] {
                        let sets = if side.order == CandidateOrder::Ascending { of_bits.len() } else { without.len() };
                        if rank < sets as u64 && (size == 1 || sets > 4) {
                            assert_eq!(side.set(&with, size, rank), side.set(&alone, size, rank));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn sets_have_the_ranks_that_they_are_made_of() {
        let lists: Vec<Vec<u32>> =
            (0..12).map(|x: u32| (0..12).filter(|y| x != *y && (x * y + x + y) % 3 != 1).collect()).collect();
        let neighbours = Neighbours::of(Adjacency::from_lists(&lists));
        for (x, y) in (0..12).flat_map(|x| (0..12).map(move |y| (x, y))).filter(|(x, y)| x != y) {
            let place = neighbours.place_if_any(x, y);
            for order in [CandidateOrder::Ascending, CandidateOrder::CommonLast] {
                let side = PairSide { row: x as u32, other: y as u32, place, order, count: 0 };
                let candidates = side.candidates_of(neighbours.degree(x));
                for size in 1..=candidates.min(4) {
                    let all = subsets::binomial(candidates, size).unwrap();
                    // Sets of a common neighbour alone are not visited.
                    let common =
                        if order == CandidateOrder::CommonLast && size == 1 { neighbours.common(x, y) } else { 0 };
                    for rank in 0..all - common as u64 {
                        assert_eq!(side.rank_of(&neighbours, &side.set(&neighbours, size, rank)), rank, "{side:?}");
                    }
                }
            }
        }
    }
}
