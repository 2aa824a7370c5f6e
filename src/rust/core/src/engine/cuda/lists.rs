//! The lists by which kernels go through a level's rows: a row's candidates, and behind these the others of its pairs that are none of them.

use crate::search::level::{Neighbours, PairSide};

/// Neighbourhoods of a level with the vertices of later tiers that its sides ask of: such a vertex is in no set of its side.
pub(super) struct Lists<'n> {
    neighbours: &'n Neighbours,
    /// Rows and other vertices of pairs whose other vertex is no candidate, ascending.
    behind: Vec<(u32, u32)>,
}

impl<'n> Lists<'n> {
    /// Of some sides.
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

    /// Whether every list is a row's candidates alone.
    pub fn are_candidates(&self) -> bool {
        self.behind.is_empty()
    }

    /// Number of vertices that a row's sets come from.
    pub fn candidates(&self, row: usize) -> usize {
        self.neighbours.degree(row)
    }

    fn behind(&self, row: usize) -> &[(u32, u32)] {
        let row = row as u32;
        let first = self.behind.partition_point(|&(of, _)| of < row);
        &self.behind[first..first + self.behind[first..].partition_point(|&(of, _)| of == row)]
    }

    /// Number of vertices in a row's list.
    pub fn degree(&self, row: usize) -> usize {
        self.candidates(row) + self.behind(row).len()
    }

    /// A row's list.
    pub fn of(&self, row: usize) -> impl Iterator<Item = u32> + '_ {
        self.neighbours.list(row).iter().copied().chain(self.behind(row).iter().map(|&(_, other)| other))
    }

    /// Where the other vertex of a side stands in its row's list.
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
