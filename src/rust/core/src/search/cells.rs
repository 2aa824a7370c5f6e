//! Largest p-values that several threads raise.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::graph::Ranked;
use crate::pool::Pool;

/// The caller's array while threads work on it. No two threads ever raise the same pair, so that plain loads and stores suffice.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a> {
    bits: &'a [AtomicU64],
    place: Place<'a>,
}

/// Where the cell of a pair x < y is.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// At `y * p + x`, R's upper triangle.
    Square(usize),
    /// At its number.
    Left(&'a Ranked),
}

/// Borrows doubles as atomics.
fn atomics(values: &mut [f64]) -> &[AtomicU64] {
    // SAFETY: an AtomicU64 has the size and alignment of an f64 (8 bytes each on the 64-bit machines that R runs on, as
    // asserted), every bit pattern is valid for both, and the exclusive borrow is held for as long as the atomics live.
    const { assert!(align_of::<AtomicU64>() == align_of::<f64>() && size_of::<AtomicU64>() == size_of::<f64>()) };
    unsafe { std::slice::from_raw_parts(values.as_mut_ptr().cast::<AtomicU64>(), values.len()) }
}

impl<'a> Cells<'a> {
    /// Borrows `p_max`, p x p, column by column.
    pub fn of_square(p_max: &'a mut [f64], p: usize) -> Self {
        assert_eq!(p_max.len(), p * p);
        Cells { bits: atomics(p_max), place: Place::Square(p) }
    }

    /// Borrows a value of each of these pairs, in their order.
    pub fn of_left(values: &'a mut [f64], pairs: &'a Ranked) -> Self {
        assert_eq!(values.len(), pairs.len());
        Cells { bits: atomics(values), place: Place::Left(pairs) }
    }

    /// Of which pairs; none: of all.
    pub fn pairs(&self) -> Option<&'a Ranked> {
        match self.place {
            Place::Square(_) => None,
            Place::Left(pairs) => Some(pairs),
        }
    }

    /// The number with this place.
    pub fn at(&self, place: usize) -> f64 {
        f64::from_bits(self.bits[place].load(Ordering::Relaxed))
    }

    /// The largest p-value of the pair.
    pub fn get(&self, x: usize, y: usize) -> f64 {
        self.at(self.place_of(x, y))
    }

    /// Sets it.
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
        // Not `f64::max`: an earlier NaN stays, as `pMax[x, y] < pval` is then no TRUE in pcalg's C++.
        if p > f64::from_bits(cell.load(Ordering::Relaxed)) {
            cell.store(p.to_bits(), Ordering::Relaxed);
        }
    }
}

/// Copies the upper triangle to the lower one, in tiles that stay in cache, and sets the diagonal to 1.
pub(crate) fn symmetrise(m: &mut [f64], p: usize, pool: &Pool) {
    const TILE: usize = 64;
    let tiles = p.div_ceil(TILE);
    assert_eq!(m.len(), p * p);
    let cells = atomics(m);
    // Tiles of columns from the right: the longest come first. No two threads write one number, and none reads what another
    // writes.
    let run = |task: usize| {
        let left = (tiles - 1 - task) * TILE;
        for top in (0..=left).step_by(TILE) {
            for y in left..(left + TILE).min(p) {
                for x in top..(top + TILE).min(y) {
                    let value = cells[y * p + x].load(Ordering::Relaxed);
                    cells[x * p + y].store(value, Ordering::Relaxed);
                }
            }
        }
    };
    if p < LARGE {
        (0..tiles).for_each(run);
    } else {
        pool.each(tiles, run);
    }
    m.iter_mut().step_by(p + 1).for_each(|cell| *cell = 1.0);
}

/// From this many variables on, several threads are quicker than one.
const LARGE: usize = 1000;

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

    #[test]
    fn the_upper_triangle_is_copied_down() {
        for p in [1usize, 2, 63, 64, 65, 150, 1100] {
            let before: Vec<f64> = (0..p * p).map(|i| i as f64).collect();
            let mut m = before.clone();
            symmetrise(&mut m, p, &crate::pool::Pool::new(2));
            for x in 0..p {
                assert_eq!(m[x * p + x], 1.0);
                for y in x + 1..p {
                    let value = before[y * p + x];
                    assert_eq!((m[y * p + x], m[x * p + y]), (value, value));
                }
            }
        }
    }
}
