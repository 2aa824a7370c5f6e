//! Features made orthogonal: V = ZU⁻¹, for the factor A = U'U of their mean products with a ridge.

use std::ops::Range;

use super::linear::{subtract, Factor, Forward};
use crate::memory::{self, Use};
use crate::panels::{Row, DEEP, WIDE};
use crate::simd::{self, Task};

/// The inverse of an upper triangular matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct Inverse {
    /// By panel of columns: the rows down to the diagonal, with the other sign.
    cells: Vec<Row>,
}

impl Inverse {
    /// Returns the number of panels of rows before a panel of columns.
    fn before(panel: usize) -> usize {
        panel * (panel + 1) / 2
    }

    /// Returns the bytes of the inverse.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.cells[..])
    }

    /// Multiplies the columns Z in panels with `rows` rows by U⁻¹. Returns `None` if memory is short, which is noted.
    pub fn multiply(&self, panels: &mut [Row], rows: usize) -> Option<()> {
        let count = panels.len() / rows.max(1);
        let mut some = Vec::new();
        if !memory::grow(&mut some, count * DEEP, Row::default(), Use::Threads) {
            return None;
        }
        // Some rows of all panels at a time, which stay in the cache.
        for from in (0..rows).step_by(DEEP) {
            let deep = DEEP.min(rows - from);
            for (some, panel) in some.chunks_exact_mut(deep).zip(panels.chunks_exact(rows)) {
                some.copy_from_slice(&panel[from..from + deep]);
            }
            for (number, panel) in panels.chunks_exact_mut(rows).enumerate() {
                let product = &mut panel[from..from + deep];
                product.fill(Row::default());
                let by = &self.cells[WIDE * Self::before(number)..WIDE * Self::before(number + 1)];
                subtract(&some[..(number + 1) * deep], by, product);
            }
        }
        Some(())
    }
}

impl Factor {
    /// Returns U⁻¹, or `None` if memory is short, which is noted.
    pub fn inverse(&self) -> Option<Inverse> {
        let (width, panels) = (self.width, self.width / WIDE);
        let mut cells = Vec::new();
        let mut sides = Vec::new();
        if !memory::grow(&mut cells, WIDE * Inverse::before(panels), Row::default(), Use::Threads)
            || !memory::grow(&mut sides, width, Row::default(), Use::Threads)
        {
            return None;
        }
        for first in (0..width).step_by(WIDE) {
            // Eight rows of the inverse, which are columns of that of U'.
            sides.fill(Row::default());
            (0..WIDE).for_each(|l| sides[first + l].0[l] = 1.0);
            simd::run(Forward(&self.cells, width, &mut sides, first));
            for (at, side) in sides.iter().enumerate().skip(first) {
                let panel = WIDE * Inverse::before(at / WIDE) + first;
                (0..WIDE).for_each(|l| cells[panel + l].0[at % WIDE] = -side.0[l]);
            }
        }
        Some(Inverse { cells })
    }
}

struct Squares<'a>(&'a [Row], usize, Range<usize>, &'a mut [Row]);

impl<S> Task<S> for Squares<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: S) {
        let Squares(panels, rows, some, squares) = self;
        for panel in panels.chunks_exact(rows) {
            for (squares, row) in squares.iter_mut().zip(&panel[some.clone()]) {
                squares.0.iter_mut().zip(row.0).for_each(|(sum, value)| *sum = value.mul_add(value, *sum));
            }
        }
    }
}

/// Adds 1 - h and (1 - h)² of `rows` rows to sums, where h is |v|² / n for the row v of the panels. The sums of [`DEEP`] rows are added at a time.
pub(super) fn add_left(panels: &[Row], rows: usize, n: f64, sums: &mut [f64; 2]) {
    for from in (0..rows).step_by(DEEP) {
        let count = DEEP.min(rows - from);
        let mut squares = [Row::default(); DEEP];
        simd::run(Squares(panels, rows, from..from + count, &mut squares[..count]));
        let mut some = [0.0; 2];
        for square in &squares[..count] {
            let left = 1.0 - square.0.iter().fold(0.0, |sum, square| sum + square) / n;
            some = [some[0] + left, some[1] + left * left];
        }
        *sums = [sums[0] + some[0], sums[1] + some[1]];
    }
}
