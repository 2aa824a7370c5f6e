//! Storage for the largest p-value of each pair, or of each pair that level 0 leaves.

use super::cells::Cells;
use super::singly::each_pair;
use super::Options;
use crate::graph::{Adjacency, Ranked, Row};
use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::Result;

/// Columns of a matrix of p-values that a thread fills together.
const COLUMNS: usize = 64;

/// Storage for the largest p-values. Both `&mut` of p x p doubles and `&mut` of [`PairValues`] convert to it.
pub enum Largest<'a> {
    /// Values of every pair: p x p, column by column. They are overwritten with pcalg's `pMax`.
    Square(&'a mut [f64]),
    /// Values of the pairs that level 0 leaves.
    Left(&'a mut PairValues),
}

/// The largest p-values of the pairs that level 0 leaves: the remaining edges, and the pairs that later levels remove.
#[derive(Clone, Debug, Default)]
pub struct PairValues {
    /// The pairs, or `None` before level 0 has run.
    pairs: Option<Ranked>,
    values: Vec<f64>,
    /// What tests found before level 0 was over.
    early: Vec<([u32; 2], f64)>,
}

impl PairValues {
    /// Returns the largest p-value of a pair that level 0 left, or `None` for any other pair. [`Options::untested`] marks pairs that were
    /// never tested.
    #[inline]
    pub fn get(&self, x: usize, y: usize) -> Option<f64> {
        let pairs = self.pairs.as_ref().filter(|pairs| pairs.graph().has(x, y))?;
        Some(self.values[pairs.number(x, y)])
    }

    /// Returns the pairs (x, y) that level 0 left, as [`Adjacency::row`] does, or `None` before level 0 has run.
    pub fn row(&self, x: usize) -> Option<Row<'_>> {
        self.pairs.as_ref().map(|pairs| pairs.graph().row(x))
    }

    /// Calls `tell(y, value)` for the edges x - y, x < y, of a graph, ascending in y. The value is `None` if level 0 did not leave the
    /// pair.
    pub fn each_edge(&self, x: usize, graph: &Adjacency, mut tell: impl FnMut(usize, Option<f64>)) {
        let by_one = |tell: &mut dyn FnMut(usize, Option<f64>)| {
            graph.neighbours_above(x).for_each(|y| tell(y as usize, self.get(x, y as usize)));
        };
        let Some((pairs, values)) = self.parts() else { return by_one(&mut tell) };
        let (Row::Bits(of_graph), Row::Bits(of_pairs)) = (graph.row(x), pairs.graph().row(x)) else {
            return by_one(&mut tell);
        };
        let (first, mut number) = (x / 64, pairs.first_of(x));
        let mut larger = u64::MAX << (x % 64) & !(1 << (x % 64));
        for (word, (edges, left)) in of_graph.iter().zip(of_pairs).enumerate().skip(first) {
            let left = left & larger;
            let mut edges = edges & larger;
            while edges != 0 {
                let bit = edges & edges.wrapping_neg();
                let place = number + (left & (bit - 1)).count_ones() as usize;
                tell(64 * word + bit.trailing_zeros() as usize, (left & bit != 0).then(|| values[place]));
                edges ^= bit;
            }
            number += left.count_ones() as usize;
            larger = u64::MAX;
        }
    }

    /// Returns the pairs that level 0 left, and their values by number.
    pub(crate) fn parts(&self) -> Option<(&Ranked, &[f64])> {
        self.pairs.as_ref().map(|pairs| (pairs, &self.values[..]))
    }

    /// Enters the pairs that level 0 left, and their values by number.
    pub(crate) fn enter(&mut self, pairs: Ranked, values: Vec<f64>) {
        debug_assert_eq!(pairs.len(), values.len());
        *self = PairValues { pairs: Some(pairs), values, early: Vec::new() };
    }

    /// Restores the pairs that level 0 left, and their values by number.
    pub(super) fn restore(&mut self, left: Adjacency, values: Vec<f64>) -> Result<()> {
        self.enter(Ranked::new(left, &Pool::none())?, values);
        Ok(())
    }

    /// Restores what tests found before level 0 was over.
    pub(super) fn restore_early(&mut self, early: Vec<([u32; 2], f64)>) {
        *self = PairValues { early, ..PairValues::default() };
    }

    /// Sets up the values of the pairs that level 0 left. Pairs of `tested` begin with `floor`, others with [`Options::untested`].
    pub(crate) fn open(
        &mut self,
        options: &Options,
        left: &Adjacency,
        tested: &Adjacency,
        floor: f64,
        pool: &Pool,
    ) -> Result<()> {
        memory::room(Adjacency::bytes(options.p), Use::Pairs)?;
        let pairs = Ranked::new(left.copied(pool)?, pool)?;
        self.values = memory::zeros(pairs.len(), Use::Pairs)?;
        if floor != 0.0 {
            self.values.fill(floor);
        }
        let has_untested = |x: &usize| left.words_of(*x).any(|(w, word)| word & !tested.row(*x).word(w) != 0);
        for x in (0..options.p).filter(has_untested) {
            let number = pairs.first_of(x);
            for (y, value) in pairs.larger(x).zip(&mut self.values[number..]) {
                if !tested.has(x, y as usize) {
                    *value = options.untested();
                }
            }
        }
        let cells = Cells::of_left(&mut self.values, &pairs);
        for ([x, y], p) in std::mem::take(&mut self.early) {
            if left.has(x as usize, y as usize) {
                cells.raise(x as usize, y as usize, p);
            }
        }
        self.pairs = Some(pairs);
        Ok(())
    }
}

/// The known largest p-values.
pub(super) enum Known<'v> {
    /// Nothing.
    None,
    /// All values that are kept.
    Cells(Cells<'v>),
    /// What tests found before level 0 was over, in a search that keeps only the pairs that level 0 leaves.
    Early(&'v [([u32; 2], f64)]),
}

impl Largest<'_> {
    /// Reborrows the storage.
    pub fn again(&mut self) -> Largest<'_> {
        match self {
            Largest::Square(p_max) => Largest::Square(p_max),
            Largest::Left(left) => Largest::Left(left),
        }
    }

    /// Returns the cells that threads raise. `None` before level 0 has run, if the search keeps only the pairs that it leaves.
    pub(super) fn cells(&mut self, p: usize) -> Option<Cells<'_>> {
        match self {
            Largest::Square(p_max) => Some(Cells::of_square(p_max, p)),
            Largest::Left(PairValues { pairs, values, .. }) => {
                pairs.as_ref().map(|pairs| Cells::of_left(values, pairs))
            }
        }
    }

    /// Returns what is known, for a checkpoint. `filled`: whether anything is known.
    pub(super) fn known(&mut self, p: usize, filled: bool) -> Known<'_> {
        match self {
            _ if !filled => Known::None,
            Largest::Left(PairValues { pairs: None, early, .. }) => Known::Early(early),
            largest => largest.cells(p).map_or(Known::None, Known::Cells),
        }
    }

    /// Returns the values by the pairs' numbers in a graph, all of whose pairs level 0 left, if they are stored in that order.
    pub(super) fn numbered(&mut self, ranked: &Ranked) -> Option<&mut [f64]> {
        match self {
            // The graph has all pairs that level 0 left, so the numbers agree.
            Largest::Left(PairValues { values, .. }) if values.len() == ranked.len() => Some(values),
            _ => None,
        }
    }

    /// Raises the values of the pairs of a graph, all of which level 0 left, by their numbers there.
    pub(super) fn raise_numbered(&mut self, ranked: &Ranked, values: &[f64], pool: &Pool) {
        let p = ranked.graph().p();
        let Some(cells) = self.cells(p) else { return };
        // By columns, because cells of a column are neighbours in a matrix.
        pool.each(p.div_ceil(COLUMNS), |part| {
            let columns = part * COLUMNS..p.min((part + 1) * COLUMNS);
            each_pair(ranked, &(0..p), &columns, |x, y, at| cells.raise(x, y, values[at]));
        });
    }

    /// Raises the largest p-value of the pair, at any level.
    pub(super) fn raise(&mut self, x: usize, y: usize, p: f64, options: &Options) {
        if let Some(cells) = self.cells(options.p) {
            cells.raise(x, y, p);
        } else if let Largest::Left(left) = self {
            // A p of at least alpha, or NaN, removes the pair.
            if p < options.alpha {
                memory::push_noted(&mut left.early, ([x as u32, y as u32], p), Use::Pairs);
            }
        }
    }
}

impl<'a> From<&'a mut [f64]> for Largest<'a> {
    fn from(p_max: &'a mut [f64]) -> Self {
        Largest::Square(p_max)
    }
}

impl<'a> From<&'a mut Vec<f64>> for Largest<'a> {
    fn from(p_max: &'a mut Vec<f64>) -> Self {
        Largest::Square(p_max)
    }
}

impl<'a, const N: usize> From<&'a mut [f64; N]> for Largest<'a> {
    fn from(p_max: &'a mut [f64; N]) -> Self {
        Largest::Square(p_max)
    }
}

impl<'a> From<&'a mut PairValues> for Largest<'a> {
    fn from(left: &'a mut PairValues) -> Self {
        Largest::Left(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_come_in_order_with_their_values() {
        let mut random = 5u64;
        for p in [1usize, 2, 63, 64, 65, 200] {
            let mut graph = Adjacency::empty(p);
            for (x, y) in (0..p).flat_map(|x| (x + 1..p).map(move |y| (x, y))) {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                if (random >> 33) % 3 == 0 {
                    graph.insert(x, y);
                }
            }
            let pairs = Ranked::new(graph.clone(), &Pool::none()).unwrap();
            let mut left = PairValues::default();
            left.each_edge(0, &graph, |_, value| assert_eq!(value, None));
            let values = (0..pairs.len()).map(|number| 0.5 + number as f64).collect();
            left.enter(pairs, values);
            // Some of the pairs, and some that level 0 did not leave.
            let mut edges = Adjacency::empty(p);
            for (x, y) in (0..p).flat_map(|x| (x + 1..p).map(move |y| (x, y))).filter(|(x, y)| (x + 3 * y) % 7 < 4) {
                edges.insert(x, y);
            }
            for x in 0..p {
                let mut found = Vec::new();
                left.each_edge(x, &edges, |y, value| found.push((y, value)));
                let wanted: Vec<_> = edges.neighbours_above(x).map(|y| (y as usize, left.get(x, y as usize))).collect();
                assert_eq!(found, wanted, "{p}: {x}");
            }
        }
    }
}
