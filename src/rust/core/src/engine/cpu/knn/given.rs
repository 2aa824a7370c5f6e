//! What all tests with one conditioning set share: an order of the samples, their values in S, their neighbours in S.
//!
//! Samples stand in the order of one column, the guide: those within a distance in any space that the guide belongs to are
//! then among consecutive places, and only these need be looked at. It is a column of S or, where S is empty, y: neither is
//! permuted. Of a search by one coordinate (J. H. Friedman, F. Baskett and L. J. Shustek 1975) this is the form whose inner
//! loop is over consecutive memory.

use std::ops::Range;

use ndarray::Array2;

use super::cell::Cell;
use super::loops::{count_within, padded, raise, BLOCK};
use super::wide::Wide;
use crate::ci::knn::{Choice, Knn};
use crate::memory::{self, Use};

/// The columns of a test as one type of cell.
#[derive(Clone, Copy)]
pub(super) struct Table<'a, C> {
    pub n: usize,
    pub values: &'a [C],
    pub discrete: &'a [bool],
    pub mismatch: C,
    /// By column: the samples in ascending order of their values.
    pub orders: &'a [u32],
}

impl<'a, C: Cell> Table<'a, C> {
    /// The values of a column, by sample.
    pub fn column(&self, column: usize) -> &'a [C] {
        &self.values[column * self.n..(column + 1) * self.n]
    }

    /// The samples in the order of a column.
    pub fn order(&self, column: usize) -> &'a [u32] {
        &self.orders[column * self.n..(column + 1) * self.n]
    }

    /// Writes the distances in a column from a value to others, or where they are larger what stands there.
    #[inline(always)]
    pub fn raise<W: Wide<Cell = C>>(&self, simd: W::Simd, column: usize, values: &[C], own: C, distances: &mut [C]) {
        if self.discrete[column] {
            raise::<W, true>(simd, values, own, self.mismatch, distances);
        } else {
            raise::<W, false>(simd, values, own, self.mismatch, distances);
        }
    }
}

/// A conditioning set, or the y of tests without one.
pub(super) struct Given<C> {
    /// S, ascending.
    pub s: Vec<u32>,
    /// The column that orders the samples.
    pub guide: usize,
    guide_discrete: bool,
    mismatch: C,
    /// By place: the sample.
    pub order: Vec<u32>,
    /// By place: the guide's value.
    keys: Vec<C>,
    /// The columns of S, by place; whole blocks each.
    columns: Vec<C>,
    /// k_perm neighbours of each sample, a row each; empty where S is.
    pub neighbours: Array2<u32>,
}

/// Samples whose neighbours are looked for between two looks at whether to stop.
const LOOKED: usize = 64;

/// From this many samples on, it pays to look up which places can hold neighbours.
const ORDERED: usize = 2 * BLOCK + 1;

impl<C: Cell> Given<C> {
    /// The column that orders the samples of tests of y given S (ascending).
    pub fn guide(table: &Table<C>, y: usize, s: &[u32]) -> usize {
        let continuous = s.iter().find(|&&column| !table.discrete[column as usize]);
        continuous.or(s.first()).map_or(y, |&column| column as usize)
    }

    /// For tests given S (ascending), or where it is empty of y = `guide`; `None` where `stop` says so, or memory does not
    /// suffice, which is noted.
    #[inline(always)]
    pub fn new<W: Wide<Cell = C>>(
        simd: W::Simd,
        table: &Table<C>,
        knn: &Knn,
        guide: usize,
        s: &[u32],
        stop: &dyn Fn() -> bool,
    ) -> Option<Self> {
        // By sample: its place, its values, and for the search of neighbours a distance, that again, and a tie.
        let by_sample = size_of::<u32>() + size_of::<C>() * (s.len() + 3) + size_of::<(u32, u32)>();
        memory::noted(memory::room((table.n + 2 * BLOCK) * by_sample, Use::Samples))?;
        let order = table.order(guide).to_vec();
        let by_place = |column: usize| {
            let values = table.column(column);
            let values = order.iter().map(|&sample| values[sample as usize]);
            values.chain(std::iter::repeat_n(C::ZERO, padded(table.n) - table.n)).collect::<Vec<C>>()
        };
        let mut given = Given {
            s: s.to_vec(),
            guide,
            guide_discrete: table.discrete[guide],
            mismatch: table.mismatch,
            keys: by_place(guide),
            columns: s.iter().flat_map(|&column| by_place(column as usize)).collect(),
            neighbours: Array2::default((0, 0)),
            order,
        };
        (s.is_empty() || given.find_neighbours::<W>(simd, table, knn, stop)).then_some(given)
    }

    /// Whole blocks of places, among which are all within a distance of one in the guide's coordinate.
    #[inline(always)]
    pub fn places(&self, place: usize, distance: C) -> Range<usize> {
        let n = self.order.len();
        let own = self.keys[place];
        if n < ORDERED || self.guide_discrete && distance >= self.mismatch {
            return 0..padded(n);
        }
        // A discrete guide leaves its own level, in which all distances are 0.
        let near = |key: &C| if self.guide_discrete { *key == own } else { key.apart(own) <= distance };
        let start = self.keys[..place].partition_point(|key| !near(key));
        let end = place + self.keys[place..n].partition_point(near);
        start / BLOCK * BLOCK..padded(end)
    }

    /// Writes the distances in S from a place to some places; they are the largest there are behind the last sample.
    #[inline(always)]
    pub fn distances<W: Wide<Cell = C>>(
        &self,
        simd: W::Simd,
        table: &Table<C>,
        place: usize,
        places: Range<usize>,
        out: &mut [C],
    ) {
        out.fill(C::ZERO);
        for (&column, values) in self.s.iter().zip(self.columns.chunks_exact(padded(table.n))) {
            table.raise::<W>(simd, column as usize, &values[places.clone()], values[place], out);
        }
        if places.end > table.n {
            out[table.n - places.start..].fill(C::MOST);
        }
    }

    /// Whether all were found before `stop` said so.
    #[inline(always)]
    fn find_neighbours<W: Wide<Cell = C>>(
        &mut self,
        simd: W::Simd,
        table: &Table<C>,
        knn: &Knn,
        stop: &dyn Fn() -> bool,
    ) -> bool {
        let n = self.order.len();
        let k_perm = knn.settings().k_perm;
        let Some(neighbours) = memory::noted(memory::zeros(n * k_perm, Use::Neighbours)) else { return false };
        let Ok(mut neighbours) = Array2::from_shape_vec((n, k_perm), neighbours) else { return false };
        let mut choice = Choice::new(knn.set_key(&self.s));
        let mut distances = vec![C::ZERO; padded(n)];
        let mut bound = C::MOST;
        for place in 0..n {
            if place % LOOKED == 0 && stop() {
                return false;
            }
            let mut enough = false;
            while !enough {
                let places = self.places(place, bound);
                let start = places.start;
                let distances = &mut distances[..places.len()];
                self.distances::<W>(simd, table, place, places, distances);
                enough = bound == C::MOST || count_within::<W>(simd, distances, bound) >= k_perm;
                if enough {
                    let sample = self.order[place];
                    let mut out = neighbours.row_mut(sample as usize);
                    let name = |at: usize| self.order[start + at];
                    let distances = &distances[..distances.len().min(n - start)];
                    let last = choice.nearest(sample, distances, name, out.as_slice_mut().unwrap_or_default());
                    // The next place is near this one, and its neighbours about as far.
                    bound = if last > C::ZERO { last.grown(1.5) } else { C::MOST };
                } else {
                    bound = if bound > C::ZERO { bound.grown(2.0) } else { C::MOST };
                }
            }
        }
        self.neighbours = neighbours;
        true
    }
}
