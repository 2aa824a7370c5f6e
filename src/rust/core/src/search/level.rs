//! The parts of a level of PC: frozen neighbourhoods, the sides of pairs, and the verdicts on sides.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::graph::{subsets, Adjacency, Tiers};
use crate::{Error, Result};

/// Neighbour lists frozen for a level, and the bit rows they came from.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// A number that no others have but copies of these.
    number: u64,
    graph: Option<Adjacency>,
    lists: Vec<u32>,
    starts: Vec<usize>,
}

impl Neighbours {
    /// Freezes a graph.
    pub fn of(graph: Adjacency) -> Self {
        let mut lists = vec![0; 2 * graph.edge_count()];
        let mut starts = Vec::with_capacity(graph.p() + 1);
        starts.push(0);
        let mut end = 0;
        for x in 0..graph.p() {
            for (w, &word) in graph.row(x).iter().enumerate() {
                let mut rest = word;
                // There may be a million: written without an iterator's or a vector's state.
                while rest != 0 {
                    lists[end] = w as u32 * 64 + rest.trailing_zeros();
                    end += 1;
                    rest &= rest - 1;
                }
            }
            starts.push(end);
        }
        Neighbours { graph: Some(graph), ..Self::checked(lists, starts) }
    }

    /// Kernels rely on it that every neighbour is a vertex.
    fn checked(lists: Vec<u32>, starts: Vec<usize>) -> Self {
        let p = starts.len() - 1;
        let in_range = |list: &[u32]| list.last().is_none_or(|&v| (v as usize) < p);
        assert!(starts.windows(2).all(|w| in_range(&lists[w[0]..w[1]])), "a neighbour that is no vertex");
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Neighbours { number: NUMBERS.fetch_add(1, Ordering::Relaxed), graph: None, lists, starts }
    }

    /// A number by which workers know what they have of these neighbourhoods.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Number of vertices.
    pub fn p(&self) -> usize {
        self.starts.len() - 1
    }

    /// The neighbours that sets are chosen from ([`Tiers::candidates`]) of some rows alone, ascending, for sides in ascending order of
    /// candidates.
    pub(super) fn of_rows(tiers: &Tiers, graph: &Adjacency, rows: impl IntoIterator<Item = usize>) -> Self {
        let mut lists = Vec::new();
        let mut starts = Vec::with_capacity(graph.p() + 1);
        starts.push(0);
        let mut rows = rows.into_iter().peekable();
        for x in 0..graph.p() {
            if rows.next_if_eq(&x).is_some() {
                lists.extend(tiers.candidates(graph, x));
            }
            starts.push(lists.len());
        }
        Self::checked(lists, starts)
    }

    /// Of p vertices, of which one has all others as neighbours, and these have none; without bit rows.
    pub(crate) fn of_star(p: usize, centre: usize) -> Self {
        let lists = (0..p as u32).filter(|&v| v as usize != centre).collect();
        let starts = (0..=p).map(|x| if x <= centre { 0 } else { p - 1 }).collect();
        Self::checked(lists, starts)
    }

    /// Of lists, each ascending, without bit rows.
    pub(super) fn of_lists(lists: &[Vec<u32>]) -> Self {
        let ends = lists.iter().scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        });
        Self::checked(lists.concat(), std::iter::once(0).chain(ends).collect())
    }

    /// Neighbours of x, ascending.
    #[inline]
    pub fn list(&self, x: usize) -> &[u32] {
        &self.lists[self.starts[x]..self.starts[x + 1]]
    }

    /// Number of neighbours of x.
    #[inline]
    pub fn degree(&self, x: usize) -> usize {
        self.starts[x + 1] - self.starts[x]
    }

    /// Where y stands in the list of x.
    pub fn place(&self, x: usize, y: usize) -> u32 {
        self.list(x).partition_point(|&v| (v as usize) < y) as u32
    }

    /// Likewise, or [`PairSide::OUTSIDE`].
    pub fn place_if_any(&self, x: usize, y: usize) -> u32 {
        let place = self.place(x, y);
        if self.list(x).get(place as usize) == Some(&(y as u32)) {
            place
        } else {
            PairSide::OUTSIDE
        }
    }

    /// The graph, unless only rows were frozen.
    pub fn graph(&self) -> Option<&Adjacency> {
        self.graph.as_ref()
    }

    /// Whether x and y are neighbours; `false` throughout where only rows were frozen.
    #[inline]
    pub fn adjacent(&self, x: usize, y: usize) -> bool {
        self.graph.as_ref().is_some_and(|graph| graph.has(x, y))
    }

    /// How many vertices are neighbours of both x and y.
    pub fn common(&self, x: usize, y: usize) -> usize {
        self.graph.as_ref().map_or(0, |graph| graph.common(x, y))
    }
}

/// The order in which the candidates of a side stand, and with it the ranks of its conditioning sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateOrder {
    /// Ascending.
    Ascending,
    /// Those that are no neighbours of the other vertex first, then the common ones, each ascending (pcalg's C++, second
    /// side). Sets of common neighbours alone come last and are not visited: the first side had them.
    CommonLast,
}

/// The tests of a pair whose conditioning sets come from the neighbours of `row` without `other`: they ask (row, other | S).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairSide {
    /// The vertex whose neighbours are chosen from.
    pub row: u32,
    /// The other vertex of the pair.
    pub other: u32,
    /// Where `other` stands in the row's list, or [`PairSide::OUTSIDE`].
    pub place: u32,
    /// How the candidates stand.
    pub order: CandidateOrder,
    /// How many sets are visited: ranks 0 up to this.
    pub count: u64,
}

impl PairSide {
    /// In place of a place: the other vertex is not in the row's list, as it is of a later tier.
    pub const OUTSIDE: u32 = u32::MAX;

    /// Whether it is.
    pub fn is_outside(&self) -> bool {
        self.place == PairSide::OUTSIDE
    }

    /// How many candidates a row with so many in its list has for this pair.
    pub fn candidates_of(&self, list: usize) -> usize {
        list.saturating_sub(usize::from(!self.is_outside()))
    }

    /// Writes the candidates in their order.
    pub fn candidates(&self, neighbours: &Neighbours, out: &mut Vec<u32>) {
        out.clear();
        let list = neighbours.list(self.row as usize);
        match self.order {
            CandidateOrder::Ascending => out.extend(list.iter().copied().filter(|&v| v != self.other)),
            CandidateOrder::CommonLast => {
                let other = self.other as usize;
                let common = |v: &u32| neighbours.adjacent(other, *v as usize);
                out.extend(list.iter().copied().filter(|v| *v != self.other && !common(v)));
                out.extend(list.iter().copied().filter(common));
            }
        }
    }

    /// Writes the conditioning set of a rank, without a walk over all candidates where that can be helped.
    pub fn set_into(&self, neighbours: &Neighbours, size: usize, rank: u64, set: &mut Vec<u32>) {
        let list = neighbours.list(self.row as usize);
        set.clear();
        set.resize(size, 0);
        match (self.order, &neighbours.graph) {
            (CandidateOrder::Ascending, _) => {
                subsets::unrank(self.candidates_of(list.len()), rank, set);
                for member in set {
                    *member = list[*member as usize + usize::from(*member >= self.place)];
                }
            }
            (CandidateOrder::CommonLast, Some(graph)) if size == 1 => {
                set[0] = graph.nth_without(self.row as usize, self.other as usize, rank).unwrap_or(u32::MAX);
            }
            (CandidateOrder::CommonLast, _) => {
                let mut candidates = Vec::with_capacity(list.len());
                self.candidates(neighbours, &mut candidates);
                subsets::unrank(candidates.len(), rank, set);
                for member in set {
                    *member = candidates[*member as usize];
                }
            }
        }
    }

    /// The rank of a conditioning set, in the order of its members: the inverse of [`PairSide::set_into`].
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

    /// The conditioning set of a rank.
    pub fn set(&self, neighbours: &Neighbours, size: usize, rank: u64) -> Vec<u32> {
        let mut set = Vec::new();
        self.set_into(neighbours, size, rank, &mut set);
        set
    }
}

/// The result of the tests of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The first set that separates has this rank; p there.
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
    /// The test at this rank has no numerical answer and pcalg stops there; no earlier set separates.
    Undefined {
        /// The rank.
        rank: u64,
        /// Why.
        reason: &'static str,
    },
}

impl Verdict {
    /// The rank that it rests on.
    pub fn rank(&self) -> u64 {
        match *self {
            Verdict::Independent { rank, .. } | Verdict::Dependent { rank, .. } | Verdict::Undefined { rank, .. } => {
                rank
            }
        }
    }

    /// How many tests pcalg performs on a side of `all` sets with this outcome.
    pub fn visited(&self, all: u64) -> u64 {
        match self {
            Verdict::Independent { rank, .. } => rank + 1,
            _ => all,
        }
    }

    /// Of two parts of one side: the one that pcalg meets first, or the larger p.
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

/// Number of subsets of `size` out of `candidates`, or the error that names the pair.
pub fn count_sets(x: usize, y: usize, candidates: usize, size: usize) -> Result<u64> {
    subsets::binomial(candidates, size).ok_or(Error::Overflow { x, y, level: size, candidates })
}

#[cfg(test)]
mod tests {
    use super::*;

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
                    for rank in 0..subsets::binomial(candidates, size).unwrap() {
                        assert_eq!(side.rank_of(&neighbours, &side.set(&neighbours, size, rank)), rank, "{side:?}");
                    }
                }
            }
        }
    }
}
