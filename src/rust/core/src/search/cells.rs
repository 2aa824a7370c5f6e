//! Largest p-values that several threads raise.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::graph::Ranked;
use crate::matrix::atomics;

/// The caller's array while threads work on it. No two threads ever raise the same pair, so plain loads and stores suffice.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    bits: &'a [AtomicU64],
    place: Place<'a>,
}

/// The position of the cell of a pair x < y.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// At `y * p + x`, R's upper triangle.
    Square(usize),
    /// At its number.
    Left(&'a Ranked),
}

impl<'a> Cells<'a> {
    /// Borrows `p_max`, p x p, column by column.
    pub fn of_square(p_max: &'a mut [f64], p: usize) -> Self {
        assert_eq!(p_max.len(), p * p);
        Cells { bits: atomics(p_max), place: Place::Square(p) }
    }

    /// Borrows one value for each of these pairs, in their order.
    pub fn of_left(values: &'a mut [f64], pairs: &'a Ranked) -> Self {
        assert_eq!(values.len(), pairs.len());
        Cells { bits: atomics(values), place: Place::Left(pairs) }
    }

    /// Returns the pairs that have cells, or `None` if all have.
    pub fn pairs(&self) -> Option<&'a Ranked> {
        match self.place {
            Place::Square(_) => None,
            Place::Left(pairs) => Some(pairs),
        }
    }

    /// Returns the number at this position.
    pub fn at(&self, place: usize) -> f64 {
        f64::from_bits(self.bits[place].load(Ordering::Relaxed))
    }

    /// Returns the largest p-value of the pair.
    pub fn get(&self, x: usize, y: usize) -> f64 {
        self.at(self.place_of(x, y))
    }

    /// Sets the largest p-value of the pair.
    pub fn set(&self, x: usize, y: usize, p: f64) {
        self.bits[self.place_of(x, y)].store(p.to_bits(), Ordering::Relaxed);
    }

    #[inline(always)]
    fn place_of(&self, x: usize, y: usize) -> usize {
        match self.place {
            Place::Square(p) => x.max(y) * p + x.min(y),
            Place::Left(pairs) => pairs.number(x, y),
        }
    }

    /// Raises the largest p-value of the pair.
    #[inline(always)]
    pub fn raise(&self, x: usize, y: usize, p: f64) {
        let cell = &self.bits[self.place_of(x, y)];
        // Not `f64::max`: an earlier NaN stays, as `pMax[x, y] < pval` is then not TRUE in pcalg's C++.
        if p > f64::from_bits(cell.load(Ordering::Relaxed)) {
            cell.store(p.to_bits(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_value_stays_and_so_does_nan() {
        let mut p_max = vec![-1.0, f64::NAN, 0.5, -1.0, -1.0, f64::NAN, 0.25, 0.125, 0.0];
        let cells = Cells::of_square(&mut p_max, 3);
        cells.raise(1, 0, 0.75);
        cells.raise(0, 2, 0.125);
        cells.raise(2, 1, 0.5);
        assert_eq!((p_max[3], p_max[6], p_max[7]), (0.75, 0.25, 0.5));
        Cells::of_square(&mut p_max, 3).raise(2, 1, 0.25);
        assert_eq!(p_max[7], 0.5);
        p_max[3] = f64::NAN;
        Cells::of_square(&mut p_max, 3).raise(0, 1, 0.5);
        assert!(p_max[3].is_nan());
    }
}
