//! The lists by which kernels go through a level's rows: a row's candidates, then the other vertices of its pairs that are not candidates.

use crate::search::level::{Neighbours, PairSide};

/// The neighbourhoods of a level, with the vertices of later tiers that its sides ask about. Such a vertex is in no set of its side.
pub(super) struct Lists<'n> {
    neighbours: &'n Neighbours,
    /// (row, other vertex) of each pair whose other vertex is not a candidate, ascending.
    behind: Vec<(u32, u32)>,
}

impl<'n> Lists<'n> {
    /// Makes the lists of the rows of `sides`.
    pub fn new(neighbours: &'n Neighbours, sides: impl Iterator<Item = PairSide>) -> Self {
        let mut behind: Vec<(u32, u32)> =
            sides.filter(PairSide::is_outside).map(|side| (side.row, side.other)).collect();
        behind.sort_unstable();
        behind.dedup();
        Lists { neighbours, behind }
    }

    pub fn neighbours(&self) -> &'n Neighbours {
        self.neighbours
    }

    /// Returns whether every list consists of candidates only.
    pub fn are_candidates(&self) -> bool {
        self.behind.is_empty()
    }

    /// Returns the number of vertices that a row's sets come from.
    pub fn candidates(&self, row: usize) -> usize {
        self.neighbours.degree(row)
    }

    fn behind(&self, row: usize) -> &[(u32, u32)] {
        let row = row as u32;
        let first = self.behind.partition_point(|&(of, _)| of < row);
        &self.behind[first..first + self.behind[first..].partition_point(|&(of, _)| of == row)]
    }

    /// Returns the number of vertices in a row's list.
    pub fn degree(&self, row: usize) -> usize {
        self.candidates(row) + self.behind(row).len()
    }

    /// Returns a row's list.
    pub fn of(&self, row: usize) -> impl Iterator<Item = u32> + '_ {
        self.neighbours.list(row).iter().copied().chain(self.behind(row).iter().map(|&(_, other)| other))
    }

    /// Returns the position of a side's other vertex in its row's list.
    pub fn place(&self, side: &PairSide) -> u32 {
        if !side.is_outside() {
            return side.place;
        }
        let row = side.row as usize;
        (self.candidates(row) + self.behind(row).partition_point(|&(_, other)| other < side.other)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;
    use crate::search::level::CandidateOrder;

    #[test]
    fn others_that_are_no_candidates_stand_behind_these() {
        let neighbours = Neighbours::of(Adjacency::from_lists(&[vec![1, 4], vec![0], vec![], vec![], vec![0], vec![]]));
        let side = |row: u32, other: u32| PairSide {
            row,
            other,
            place: neighbours.place_if_any(row as usize, other as usize),
            order: CandidateOrder::Ascending,
            count: 1,
        };
        let sides = [side(0, 5), side(0, 4), side(0, 3), side(2, 0), side(0, 5)];
        let lists = Lists::new(&neighbours, sides.into_iter());
        assert_eq!(lists.of(0).collect::<Vec<_>>(), [1, 4, 3, 5]);
        assert_eq!((lists.candidates(0), lists.degree(0), lists.degree(1), lists.degree(2)), (2, 4, 1, 1));
        for side in sides {
            assert_eq!(lists.of(side.row as usize).nth(lists.place(&side) as usize), Some(side.other));
        }
        assert!(!lists.are_candidates() && Lists::new(&neighbours, [side(0, 1)].into_iter()).are_candidates());
    }
}
