//! Linear algebra on columns in panels. Each sum has one order of its terms, whatever the machine and the number of threads.

use std::ops::Range;

use crate::memory::{self, Use};
use crate::panels::{Multiply, Row, DEEP, HIGH, WIDE};
use crate::simd::{self, Task};

/// Adds to `sums` the products of the columns of all panels with those of `y`, over `rows` rows. `panels` holds one panel after the other.
/// Row a of `sums` has the products of column a of the panels.
pub(super) fn add_cross(panels: &[Row], y: &[Row], sums: &mut [Row]) {
    let rows = y.len();
    let mut tiles = [Row::default(); HIGH * WIDE];
    for from in (0..rows).step_by(DEEP) {
        let part = from..rows.min(from + DEEP);
        let y = &y[part.clone()];
        for (panel, sums) in panels.chunks_exact(rows).zip(sums.chunks_exact_mut(WIDE)) {
            // One panel of sides, which the kernel for several repeats.
            simd::run_wide(Multiply {
                x: [y; HIGH],
                count: 1,
                y: &panel[part.clone()],
                tiles: &mut tiles,
                fused: true,
            });
            sums.iter_mut().zip(&tiles).for_each(|(sums, tile)| add(sums, tile));
        }
    }
}

fn add(sums: &mut Row, more: &Row) {
    sums.0.iter_mut().zip(more.0).for_each(|(sum, more)| *sum += more);
}

/// Adds to the upper triangle of `sums`, a matrix by rows, the products of all columns of the panels with each other, over `rows` rows.
pub(super) fn add_gram(panels: &[Row], rows: usize, sums: &mut [f64]) {
    let count = panels.len() / rows.max(1);
    let width = count * WIDE;
    let mut tiles = [Row::default(); HIGH * WIDE];
    for from in (0..rows).step_by(DEEP) {
        let panel = |number: usize| &panels[number * rows + from..number * rows + rows.min(from + DEEP)];
        for above in 0..count {
            for first in (above..count).step_by(HIGH) {
                let some = HIGH.min(count - first);
                let x = std::array::from_fn(|k| panel(first + k.min(some - 1)));
                simd::run_wide(Multiply { x, count: some, y: panel(above), tiles: &mut tiles, fused: true });
                for (k, tile) in tiles.chunks_exact(WIDE).take(some).enumerate() {
                    for (row, tile) in tile.iter().enumerate() {
                        let at = (above * WIDE + row) * width + (first + k) * WIDE;
                        sums[at..at + WIDE].iter_mut().zip(tile.0).for_each(|(sum, more)| *sum += more);
                    }
                }
            }
        }
    }
}

/// Products of the columns of up to [`Tiles::COUNT`] panels with those of one panel.
pub(super) struct Tiles {
    /// The sums, and those of some rows.
    sums: [Row; HIGH * WIDE],
    some: [Row; HIGH * WIDE],
}

impl Default for Tiles {
    fn default() -> Self {
        Tiles { sums: [Row::default(); HIGH * WIDE], some: [Row::default(); HIGH * WIDE] }
    }
}

impl Tiles {
    /// Most panels at a time.
    pub const COUNT: usize = HIGH;

    /// Multiplies the panels in `x`, one after the other, by the panel `y`, which has as many rows as each.
    pub fn multiply(&mut self, x: &[Row], y: &[Row]) {
        let rows = y.len();
        let count = x.len() / rows.max(1);
        self.sums.fill(Row::default());
        for from in (0..rows).step_by(DEEP) {
            let part = from..rows.min(from + DEEP);
            let of = |k: usize| &x[k.min(count - 1) * rows..][part.clone()];
            let y = &y[part.clone()];
            simd::run_wide(Multiply { x: std::array::from_fn(of), count, y, tiles: &mut self.some, fused: true });
            self.sums.iter_mut().zip(&self.some).take(count * WIDE).for_each(|(sums, some)| add(sums, some));
        }
    }

    /// Returns the products with each panel of `x`: a row for each column of y.
    pub fn each(&self) -> impl Iterator<Item = &[Row]> {
        self.sums.chunks_exact(WIDE)
    }
}

/// Number of rows that are computed together.
const TOGETHER: usize = 4;

/// A factor of a symmetric positive definite matrix A = U'U, U upper triangular.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    pub width: usize,
    /// U by rows; what is below the diagonal has no meaning.
    pub cells: Vec<f64>,
}

struct Factorise<'a>(&'a mut [f64], usize);

impl<S> Task<S> for Factorise<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: S) {
        let Factorise(cells, width) = self;
        for k in 0..width {
            let (above, below) = cells.split_at_mut((k + 1) * width);
            let row = &mut above[k * width + k..];
            let root = row[0].sqrt();
            row.iter_mut().for_each(|cell| *cell /= root);
            for (i, other) in (1..).zip(below.chunks_exact_mut(width)) {
                let by = row[i];
                other[k + i..].iter_mut().zip(&row[i..]).for_each(|(cell, of)| *cell = (-by).mul_add(*of, *cell));
            }
        }
    }
}

/// Writes up to eight rows of the panels side by side, to be solved together.
fn across(panels: &[Row], rows: usize, some: Range<usize>, sides: &mut [Row]) {
    for (panel, sides) in panels.chunks_exact(rows).zip(sides.chunks_exact_mut(WIDE)) {
        for (l, row) in panel[some.clone()].iter().enumerate() {
            sides.iter_mut().zip(row.0).for_each(|(side, value)| side.0[l] = value);
        }
    }
}

/// Returns `values` less `by` times `own`, fused.
#[inline(always)]
fn less(mut values: [f64; WIDE], by: &f64, own: &[f64; WIDE]) -> [f64; WIDE] {
    values.iter_mut().zip(own).for_each(|(value, own)| *value = (-by).mul_add(*own, *value));
    values
}

/// Replaces the right sides b by the solutions of U'x = b, whose elements before the given one are 0.
pub(super) struct Forward<'a>(pub &'a [f64], pub usize, pub &'a mut [Row], pub usize);

impl<S> Task<S> for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: S) {
        let Forward(cells, width, sides, from) = self;
        // The width is a multiple of eight, and so is the first element.
        for first in (from..width).step_by(TOGETHER) {
            let rows: [&[f64]; TOGETHER] =
                std::array::from_fn(|k| &cells[(first + k) * width..(first + k + 1) * width]);
            let mut own = [[0.0; WIDE]; TOGETHER];
            for k in 0..TOGETHER {
                let mut value = sides[first + k].0;
                for j in 0..k {
                    value = less(value, &rows[j][first + k], &own[j]);
                }
                own[k] = value.map(|value| value / rows[k][first + k]);
                sides[first + k].0 = own[k];
            }
            let [a, b, c, d] = rows.map(|row| &row[first + TOGETHER..]);
            let behind = sides[first + TOGETHER..].iter_mut().zip(a).zip(b).zip(c).zip(d);
            let [of_a, of_b, of_c, of_d] = own;
            for ((((side, a), b), c), d) in behind {
                let value = less(less(less(less(side.0, a, &of_a), b, &of_b), c, &of_c), d, &of_d);
                side.0 = value;
            }
        }
    }
}

struct Solve<'a>(&'a [f64], usize, &'a mut [Row]);

impl<S> Task<S> for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        let Solve(cells, width, sides) = self;
        Forward(cells, width, &mut *sides, 0).run(simd);
        for first in (0..width).step_by(TOGETHER).rev() {
            let rows: [&[f64]; TOGETHER] =
                std::array::from_fn(|k| &cells[(first + k) * width..(first + k + 1) * width]);
            let mut own: [[f64; WIDE]; TOGETHER] = std::array::from_fn(|k| sides[first + k].0);
            let [a, b, c, d] = rows.map(|row| &row[first + TOGETHER..]);
            let [mut of_a, mut of_b, mut of_c, mut of_d] = own;
            // From the last one on, as a machine has them that subtracts a solution from all rows above it at once.
            for ((((side, a), b), c), d) in sides[first + TOGETHER..].iter().zip(a).zip(b).zip(c).zip(d).rev() {
                of_a = less(of_a, a, &side.0);
                of_b = less(of_b, b, &side.0);
                of_c = less(of_c, c, &side.0);
                of_d = less(of_d, d, &side.0);
            }
            own = [of_a, of_b, of_c, of_d];
            for k in (0..TOGETHER).rev() {
                for j in (k + 1..TOGETHER).rev() {
                    own[k] = less(own[k], &rows[k][first + j], &own[j]);
                }
                own[k] = own[k].map(|value| value / rows[k][first + k]);
                sides[first + k].0 = own[k];
            }
        }
    }
}

impl Factor {
    /// Factorises the mean products of `width` columns over n rows, with a ridge. Only the upper triangle of the sums is read.
    pub fn of_products(mut sums: Vec<f64>, width: usize, n: f64, ridge: f64) -> Self {
        sums.iter_mut().for_each(|cell| *cell /= n);
        (0..width).for_each(|k| sums[k * width + k] += ridge);
        simd::run(Factorise(&mut sums, width));
        Factor { width, cells: sums }
    }

    /// Returns the sum of Q_ii² over the rows divided by that of all squares of elements of Q = HR², or 1 if Q is 0. Here R = I - ZA⁻¹Z' / n with
    /// A = Z'Z / n + `ridge` I. Z is in the panels, with columns of mean 0, and H subtracts means. `None` if memory is short, which is noted.
    pub fn share_of_diagonal(&self, panels: &[Row], rows: usize, ridge: f64) -> Option<f64> {
        let (width, n) = (self.width, rows as f64);
        // R is 1 outside the space of Z, and has the eigenvalues of ridge A⁻¹ within.
        let mut inverse = Vec::new();
        if !memory::grow(&mut inverse, width * (width / WIDE), Row::default(), Use::Threads) {
            return None;
        }
        for (panel, columns) in inverse.chunks_exact_mut(width.max(1)).enumerate() {
            (0..WIDE).for_each(|l| columns[panel * WIDE + l].0[l] = ridge);
            self.solve(columns);
        }
        let mut square = memory::noted(memory::zeros(width * width, Use::Threads))?;
        add_gram(&inverse, width, &mut square);
        let squares = |a: usize| {
            square[a * width + a].powi(2)
                + 2.0 * square[a * width + a + 1..(a + 1) * width].iter().map(|cell| cell * cell).sum::<f64>()
        };
        let all = n - 1.0 - width as f64 + (0..width).map(squares).sum::<f64>();
        let mut diagonal = 0.0;
        let mut sides = vec![Row::default(); width];
        for from in (0..rows).step_by(WIDE) {
            let count = WIDE.min(rows - from);
            across(panels, rows, from..from + count, &mut sides);
            let mut squares = [0.0; WIDE];
            let own = sides.clone();
            self.solve(&mut sides);
            for (own, solved) in own.iter().zip(&sides) {
                for (l, sum) in squares.iter_mut().enumerate() {
                    // z'A⁻¹z + ridge z'A⁻²z.
                    *sum += solved.0[l] * (own.0[l] + ridge * solved.0[l]);
                }
            }
            diagonal += squares[..count].iter().map(|square| (1.0 - (square + 1.0) / n).powi(2)).sum::<f64>();
        }
        Some(if all > 0.0 { diagonal / all } else { 1.0 })
    }

    /// Replaces the right sides b by the solutions of A x = b; row a has element a of each.
    pub fn solve(&self, sides: &mut [Row]) {
        simd::run(Solve(&self.cells, self.width, sides));
    }
}

struct SumOfSquares<'a>(&'a [Row]);

impl<S> Task<S> for SumOfSquares<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self, _: S) -> f64 {
        let mut sum = 0.0;
        for some in self.0.chunks(DEEP) {
            let mut squares = [0.0; WIDE];
            for row in some {
                squares.iter_mut().zip(&row.0).for_each(|(sum, value)| *sum += value * value);
            }
            squares.iter().for_each(|square| sum += square);
        }
        sum
    }
}

/// Returns the mean of the squares of the rows of a panel.
pub(super) fn mean_square(rows: &[Row]) -> f64 {
    simd::run(SumOfSquares(rows)) / rows.len() as f64
}

struct Subtract<'a>(&'a [Row], &'a [Row], &'a mut [Row]);

impl<S> Task<S> for Subtract<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: S) {
        let Subtract(panels, by, sides) = self;
        let rows = sides.len();
        for first in (0..rows).step_by(TOGETHER) {
            // The last row is repeated, so that the number of rows is known to the compiler.
            let at: [usize; TOGETHER] = std::array::from_fn(|k| (first + k).min(rows - 1));
            let mut left = at.map(|at| sides[at].0);
            for (panel, by) in panels.chunks_exact(rows).zip(by.chunks_exact(WIDE)) {
                let some = at.map(|at| panel[at].0);
                for l in 0..WIDE {
                    let by = by[l].0;
                    for k in 0..TOGETHER {
                        for j in 0..WIDE {
                            left[k][j] = (-some[k][l]).mul_add(by[j], left[k][j]);
                        }
                    }
                }
            }
            at.iter().zip(left).for_each(|(&at, left)| sides[at].0 = left);
        }
    }
}

/// Subtracts from each row of `sides` the sum of the columns of the panels, each times its row of `by`.
pub(super) fn subtract(panels: &[Row], by: &[Row], sides: &mut [Row]) {
    simd::run(Subtract(panels, by, sides));
}

/// Returns the traces of M, M² and M³ for a symmetric matrix of `width` rows. Only its upper triangle is read.
pub(super) fn traces(cells: &mut [f64], width: usize) -> [f64; 3] {
    for i in 0..width {
        for j in 0..i {
            cells[i * width + j] = cells[j * width + i];
        }
    }
    let mut traces = [0.0; 3];
    let mut product = vec![0.0; width];
    for (i, row) in cells.chunks_exact(width).enumerate() {
        product.fill(0.0);
        for (of, by) in cells.chunks_exact(width).zip(row) {
            product.iter_mut().zip(of).for_each(|(sum, of)| *sum += by * of);
        }
        traces[0] += row[i];
        traces[1] += row.iter().map(|cell| cell * cell).sum::<f64>();
        traces[2] += row.iter().zip(&product).map(|(cell, product)| cell * product).sum::<f64>();
    }
    traces
}

#[cfg(test)]
mod tests {
    use super::super::orthogonal::add_left;
    use super::*;

    fn value(row: usize, column: usize) -> f64 {
        ((row * 37 + column * 101 + row * column) % 211) as f64 / 100.0 - 1.0
    }

    fn panels(rows: usize, columns: usize) -> Vec<Row> {
        let mut cells = vec![Row::default(); rows * columns.div_ceil(WIDE)];
        for column in 0..columns {
            (0..rows).for_each(|row| cells[column / WIDE * rows + row].0[column % WIDE] = value(row, column));
        }
        cells
    }

    #[test]
    fn products_factors_solutions_and_residuals_fit_together() {
        let (rows, columns) = (300, 21);
        let (width, cells) = (24, panels(rows, columns));
        let mut gram = vec![0.0; width * width];
        add_gram(&cells, rows, &mut gram);
        for a in 0..columns {
            for b in a..columns {
                let wanted: f64 = (0..rows).map(|row| value(row, a) * value(row, b)).sum();
                assert!((gram[a * width + b] - wanted).abs() < 1e-10, "{a} {b}");
            }
        }
        (0..width).for_each(|a| gram[a * width + a] += 1.0);
        let mut sides: Vec<Row> = (0..rows).map(|row| Row(std::array::from_fn(|l| value(row, 40 + l)))).collect();
        let mut cross = vec![Row::default(); width];
        add_cross(&cells, &sides, &mut cross);
        let wanted: f64 = (0..rows).map(|row| value(row, 20) * value(row, 43)).sum();
        assert!((cross[20].0[3] - wanted).abs() < 1e-10);
        let factor = Factor::of_products(gram.clone(), width, 1.0, 0.0);
        let mut found = cross.clone();
        factor.solve(&mut found);
        let full = |a: usize, b: usize| gram[a.min(b) * width + a.max(b)];
        for (a, cross) in cross.iter().enumerate() {
            for l in 0..WIDE {
                let back: f64 = (0..width).map(|b| full(a, b) * found[b].0[l]).sum();
                assert!((back - cross.0[l]).abs() < 1e-9, "{a} {l}");
            }
        }
        let mut wanted = [0.0; 2];
        for row in 0..rows {
            let mut own = vec![Row::default(); width];
            (0..columns).for_each(|a| own[a].0[0] = value(row, a));
            factor.solve(&mut own);
            let h: f64 = (0..columns).map(|a| value(row, a) * own[a].0[0]).sum::<f64>() / 500.0;
            wanted[0] += 1.0 - h;
            wanted[1] += (1.0 - h).powi(2);
        }
        let mut sums = [0.0; 2];
        let mut made = cells.clone();
        factor.inverse().unwrap().multiply(&mut made, rows).unwrap();
        add_left(&made, rows, 500.0, &mut sums);
        assert!((0..2).all(|k| (sums[k] / wanted[k] - 1.0).abs() < 1e-12), "{sums:?} {wanted:?}");
        let before = sides.clone();
        let (mut by, mut others) = (vec![Row::default(); width], sides.clone());
        add_cross(&made, &sides, &mut by);
        subtract(&made, &by, &mut others);
        subtract(&cells, &found, &mut sides);
        for (other, side) in others.iter().zip(&sides) {
            assert!((0..WIDE).all(|l| (other.0[l] - side.0[l]).abs() < 1e-11), "{other:?} {side:?}");
        }
        for row in [0, 3, 298, 299] {
            let fitted: f64 = (0..columns).map(|a| value(row, a) * found[a].0[5]).sum();
            assert!((before[row].0[5] - fitted - sides[row].0[5]).abs() < 1e-12, "{row}");
        }
        let [one, two, three] = traces(&mut gram.clone(), width);
        let square = |a: usize, b: usize| (0..width).map(|c| full(a, c) * full(c, b)).sum::<f64>();
        let wanted: [f64; 3] = [
            (0..width).map(|a| full(a, a)).sum(),
            (0..width).map(|a| square(a, a)).sum(),
            (0..width).map(|a| (0..width).map(|b| square(a, b) * full(a, b)).sum::<f64>()).sum(),
        ];
        for (found, wanted) in [one, two, three].into_iter().zip(wanted) {
            assert!((found / wanted - 1.0).abs() < 1e-12, "{found} {wanted}");
        }
    }
}
