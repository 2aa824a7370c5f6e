//! The pairs of a level by row, for workers that decide a row's pairs together.

use std::ops::Range;

use super::level::Neighbours;
use crate::graph::Adjacency;

/// The pairs to be decided, by the row that their sets are chosen from. A lane is the index of the other vertex in the row's list,
/// ascending.
#[derive(Debug, Default)]
pub struct Lanes {
    /// Range of `places` of each row.
    of_row: Vec<Range<usize>>,
    places: Vec<u32>,
}

impl Lanes {
    /// Returns all pairs x < y whose row x has more than `size` neighbours.
    pub fn of_first(neighbours: &Neighbours, size: usize) -> Self {
        let widest = (0..neighbours.p()).map(|x| neighbours.degree(x)).max().unwrap_or(0);
        let of_row = |x: usize| match neighbours.degree(x) {
            // The places 0, 1, 2, ... serve every row.
            degree if degree > size => neighbours.place(x, x) as usize..degree,
            _ => 0..0,
        };
        Lanes { of_row: (0..neighbours.p()).map(of_row).collect(), places: (0..widest as u32).collect() }
    }

    /// Returns the pairs of [`Lanes::of_first`] that are in a graph.
    pub fn of_first_in(neighbours: &Neighbours, size: usize, pairs: &Adjacency) -> Self {
        let of_row = |x: usize| {
            let list = neighbours.list(x);
            let first = if list.len() > size { neighbours.place(x, x) } else { list.len() as u32 };
            (first..list.len() as u32).filter(move |&at| pairs.has(x, list[at as usize] as usize))
        };
        Self::of_rows((0..neighbours.p()).map(of_row))
    }

    /// Returns all pairs x < y of a graph whose row y has more than `size` neighbours.
    pub fn of_second_in(neighbours: &Neighbours, size: usize, pairs: &Adjacency) -> Self {
        let of_row = |y: usize| {
            let list = neighbours.list(y);
            let end = if list.len() > size { neighbours.place(y, y) } else { 0 };
            (0..end).filter(move |&at| pairs.has(y, list[at as usize] as usize))
        };
        Self::of_rows((0..neighbours.p()).map(of_row))
    }

    /// Returns the lanes of some rows only.
    pub(super) fn among(&self, rows: &Range<usize>) -> Self {
        let of_row = |row: usize| if rows.contains(&row) { self.of(row) } else { &[] };
        Self::of_rows((0..self.of_row.len()).map(|row| of_row(row).iter().copied()))
    }

    /// Collects lanes row by row.
    pub(super) fn of_rows(rows: impl IntoIterator<Item = impl IntoIterator<Item = u32>>) -> Self {
        let mut lanes = Lanes::default();
        for places in rows {
            let start = lanes.places.len();
            lanes.places.extend(places);
            lanes.of_row.push(start..lanes.places.len());
        }
        lanes
    }

    /// Returns the lanes of a row.
    pub fn of(&self, row: usize) -> &[u32] {
        self.of_row.get(row).map_or(&[], |of_row| &self.places[of_row.clone()])
    }

    /// Returns whether the row has any lanes.
    pub fn any(&self, row: usize) -> bool {
        !self.of_row[row].is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sides_are_those_of_a_graph_or_all() {
        let neighbours = Neighbours::of(Adjacency::from_lists(&[vec![1, 2, 3], vec![2], vec![3], vec![4], vec![]]));
        for lanes in [Lanes::of_first(&neighbours, 2), Lanes::of_first_in(&neighbours, 2, &Adjacency::complete(5))] {
            assert_eq!((lanes.of(0), lanes.of(2), lanes.of(3)), (&[0, 1, 2][..], &[2][..], &[2][..]));
            assert!(!lanes.any(1) && !lanes.any(4));
        }
    }

    #[test]
    fn second_sides_stand_by_row() {
        let neighbours = Neighbours::of(Adjacency::complete(5));
        let pairs = Adjacency::from_lists(&[vec![3, 4], vec![], vec![3, 4], vec![], vec![]]);
        let lanes = Lanes::of_second_in(&neighbours, 2, &pairs);
        assert_eq!((lanes.of(3), lanes.of(4), lanes.any(2)), (&[0, 2][..], &[0, 2][..], false));
    }
}
