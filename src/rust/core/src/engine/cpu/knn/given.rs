//! The data that all tests with one conditioning set share: an order of the samples, their values in S, their neighbours in S.
//!
//! Samples are ordered by one column, the guide. All samples within a distance, in any space that contains the guide, are then among consecutive
//! places, and only these need be checked. The guide is a column of S or, if S is empty, y: neither is permuted. This is a search by one
//! coordinate (J. H. Friedman, F. Baskett and L. J. Shustek 1975), in the form whose inner loop is over consecutive memory.

use std::ops::Range;

use ndarray::Array2;

use super::cell::Cell;
use super::loops::{count_within, padded, raise, BLOCK};
use super::wide::Wide;
use crate::ci::knn::{Choice, Knn, Shuffler};
use crate::memory::{self, Use};
use crate::random::Key;

/// The columns of a test as one type of cell.
#[derive(Clone, Copy)]
pub(super) struct Table<'a, C> {
    pub n: usize,
    pub values: &'a [C],
    pub discrete: &'a [bool],
    pub mismatch: C,
    /// For each column, the samples in ascending order of their values.
    pub orders: &'a [u32],
}

impl<'a, C: Cell> Table<'a, C> {
    /// Returns the values of a column, by sample.
    pub fn column(&self, column: usize) -> &'a [C] {
        &self.values[column * self.n..(column + 1) * self.n]
    }

    /// Returns the samples in the order of a column.
    pub fn order(&self, column: usize) -> &'a [u32] {
        &self.orders[column * self.n..(column + 1) * self.n]
    }

    /// Raises `distances` to the distances in a column from `own` to `values`, where these are larger.
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
    /// The sample at each place.
    pub order: Vec<u32>,
    /// The guide's value at each place.
    keys: Vec<C>,
    /// The columns of S, by place; whole blocks each.
    columns: Vec<C>,
    /// k_perm neighbours of each sample, a row each; empty if S is empty.
    pub neighbours: Array2<u32>,
}

/// Permutations that tests given one set share.
#[derive(Default)]
pub(super) struct Drawn {
    /// The first permutations, one after the other, as far as tests have drawn and [`KEPT`] allows: at each place, the sample whose x
    /// goes there.
    kept: Vec<u32>,
    /// Working memory: a permutation, by sample.
    own: Vec<u32>,
    shuffler: Shuffler,
}

/// Most bytes of permutations that a thread keeps.
const KEPT: usize = 8 << 20;

impl Drawn {
    /// Prepares for another set.
    pub fn forget(&mut self) {
        self.kept.clear();
    }

    /// Writes x, which is given by sample, to `out` by place, as permutation `m` has it.
    #[inline(always)]
    pub fn permute<C: Cell>(&mut self, given: &Given<C>, key: Key, m: usize, x: &[C], out: &mut [C]) {
        let Drawn { kept, own, shuffler } = self;
        let n = given.order.len();
        if m * n >= kept.len() {
            own.resize(n, 0);
            match given.s.is_empty() {
                true => shuffler.plain(key, m as u32, own),
                false => shuffler.local(key, m as u32, given.neighbours.view(), own),
            }
            if m * n > kept.len() || (m + 1) * n * size_of::<u32>() > KEPT {
                let values = given.order.iter().map(|&sample| x[own[sample as usize] as usize]);
                return out.iter_mut().zip(values).for_each(|(to, value)| *to = value);
            }
            kept.extend(given.order.iter().map(|&sample| own[sample as usize]));
        }
        out.iter_mut().zip(&kept[m * n..]).take(n).for_each(|(to, &sample)| *to = x[sample as usize]);
    }
}

/// Number of samples whose neighbours are searched between two checks whether to stop.
const LOOKED: usize = 64;

/// The number of samples from which it pays to look up which places can hold neighbours.
const ORDERED: usize = 2 * BLOCK + 1;

impl<C: Cell> Given<C> {
    /// Returns the column that orders the samples of tests of y given S (ascending).
    pub fn guide(table: &Table<C>, y: usize, s: &[u32]) -> usize {
        let continuous = s.iter().find(|&&column| !table.discrete[column as usize]);
        continuous.or(s.first()).map_or(y, |&column| column as usize)
    }

    /// Creates the data for tests given S (ascending), or of y = `guide` if S is empty. Returns `None` if `stop` says so, or if memory does not
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
        // For each sample: its place, its values; for the search of neighbours a distance, a copy of it, and a tie.
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

    /// Returns whole blocks of places that include all within a distance of one place in the guide's coordinate.
    #[inline(always)]
    pub fn places(&self, place: usize, distance: C) -> Range<usize> {
        let n = self.order.len();
        let own = self.keys[place];
        if n < ORDERED || self.guide_discrete && distance >= self.mismatch {
            return 0..padded(n);
        }
        // With a discrete guide only its own level is left, in which all distances are 0.
        let near = |key: &C| if self.guide_discrete { *key == own } else { key.apart(own) <= distance };
        let start = self.keys[..place].partition_point(|key| !near(key));
        let end = place + self.keys[place..n].partition_point(near);
        start / BLOCK * BLOCK..padded(end)
    }

    /// Writes the distances in S from a place to some places. Places after the last sample get the largest distance there is.
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

    /// Returns whether all neighbours were found: `false` if `stop` said so first, or if memory does not suffice, which is noted.
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
        let mut choice = Choice::new(knn.key(&self.s));
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
                    // The next place is near this one, and its neighbours are about as far.
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
