//! Totals of rows, and how two totals are joined. They hold each column's mean, extremes and number of missing values, and the central sums
//! of squares and products.
//!
//! Two totals are joined by the formula of Chan, Golub and LeVeque 1983, "Algorithms for computing the sample variance", The American
//! Statistician 37, 242-247. Here d is the difference of the means of n_a and n_b rows, and M are the central sums of products:
//!
//! M_ab = M_a + M_b + d d' n_a n_b / (n_a + n_b)
//!
//! Means are kept minus an origin near the data, so that a deviation of 1 keeps all its digits even at a mean of 1e8. They are multiplied
//! by a power of two, so that squares stay within the range of a double.

use std::ops::Range;
use std::sync::Mutex;

use super::super::product::Moments;
use super::super::BLOCK;
use crate::matrix::symmetrise;
use crate::memory::{self, Use};
use crate::panels::{panels, Multiply, Row, DEEP, HIGH, WIDE};
use crate::pool::{Pool, Stop};
use crate::simd;
use crate::Result;

/// The columns' part of the totals. Each list has an entry for each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// Number of rows that count.
    pub n: u64,
    /// Number of rows that are left out because they have a missing value.
    pub left_out: u64,
    /// The smallest value, or infinity if there is none.
    pub least: Vec<f64>,
    /// The largest value, or -infinity if there is none.
    pub largest: Vec<f64>,
    /// Number of missing values, in all rows.
    pub missing: Vec<u64>,
    /// The power of two by which values are multiplied. Means and products are those of the multiplied values.
    pub power: Vec<i32>,
    /// The origin, which is subtracted from values before the multiplication.
    pub origin: Vec<f64>,
    /// The mean of the remainder, multiplied by the power of two.
    pub mean: Vec<f64>,
}

/// The way to join the products of two parts that both have rows.
pub(super) struct Joint {
    /// The factors of each part's products by column, or `None` if they are all 1.
    pub first: Option<Vec<f64>>,
    pub second: Option<Vec<f64>>,
    /// Differences of the means.
    apart: Vec<f64>,
    /// The weight n_a n_b / (n_a + n_b).
    weight: f64,
}

/// Returns the value times 2 to this power. It takes two steps, because the power itself may be out of range.
pub(in super::super) fn times_power(value: f64, power: i32) -> f64 {
    if power == 0 {
        return value;
    }
    let half = f64::from(power / 2).exp2();
    value * half * f64::from(power - power / 2).exp2()
}

/// Returns the exponent of a power of two that scales values up to `largest`. The squares of the scaled values, and sums of these, are
/// doubles.
pub(in super::super) fn power_for(largest: f64) -> i32 {
    match (1e-100..=1e100).contains(&largest) || largest == 0.0 || !largest.is_finite() {
        true => 0,
        // An even exponent has exact halves.
        false => 2 * (-largest.log2() / 2.0).trunc() as i32,
    }
}

impl Columns {
    /// Returns columns without rows.
    pub(super) fn none(p: usize) -> Result<Self> {
        let filled = |value: f64| -> Result<Vec<f64>> {
            let mut values = memory::space(p, Use::Correlations)?;
            values.resize(p, value);
            Ok(values)
        };
        Ok(Columns {
            n: 0,
            left_out: 0,
            least: filled(f64::INFINITY)?,
            largest: filled(f64::NEG_INFINITY)?,
            missing: memory::zeros(p, Use::Correlations)?,
            power: memory::zeros(p, Use::Correlations)?,
            origin: filled(0.0)?,
            mean: filled(0.0)?,
        })
    }

    /// Returns the number of columns.
    pub fn p(&self) -> usize {
        self.mean.len()
    }

    /// Returns the largest magnitude in a column, or 0 if it has no values.
    fn magnitude(&self, j: usize) -> f64 {
        if self.least[j] > self.largest[j] {
            0.0
        } else {
            self.least[j].abs().max(self.largest[j].abs())
        }
    }

    /// Joins numbers of rows, powers and means with those of `other`. Returns how the products are joined. Does not join extremes and
    /// missing values.
    pub(super) fn join(&mut self, other: &Columns) -> Result<Joint> {
        let p = self.p();
        let (a, b) = (self.n as f64, other.n as f64);
        let mut joint = Joint {
            first: None,
            second: None,
            apart: memory::zeros(p, Use::Correlations)?,
            weight: if self.n == 0 || other.n == 0 { 0.0 } else { a / (a + b) * b },
        };
        for j in 0..p {
            if self.n == 0 {
                (self.power[j], self.origin[j], self.mean[j]) = (other.power[j], other.origin[j], other.mean[j]);
                continue;
            }
            if other.n == 0 {
                continue;
            }
            // Larger values determine the power; zeros need none.
            let (own, others) = (self.magnitude(j), other.magnitude(j));
            let power = match (own, others) {
                (0.0, _) => other.power[j],
                (_, 0.0) => self.power[j],
                _ => self.power[j].min(other.power[j]),
            };
            let scaled = |of: &mut Option<Vec<f64>>, own: i32, magnitude: f64| -> Result<f64> {
                if own == power || magnitude == 0.0 {
                    return Ok(1.0);
                }
                if of.is_none() {
                    let mut ones = memory::space(p, Use::Correlations)?;
                    ones.resize(p, 1.0);
                    *of = Some(ones);
                }
                let factor = times_power(1.0, power - own);
                if let Some(of) = of {
                    of[j] = factor;
                }
                Ok(factor)
            };
            self.mean[j] *= scaled(&mut joint.first, self.power[j], own)?;
            let mean = other.mean[j] * scaled(&mut joint.second, other.power[j], others)?;
            self.power[j] = power;
            let origins = times_power(other.origin[j], power) - times_power(self.origin[j], power);
            let apart = origins + (mean - self.mean[j]);
            joint.apart[j] = apart;
            self.mean[j] += apart * (b / (a + b));
        }
        self.n += other.n;
        Ok(joint)
    }

    /// Joins the extremes and numbers of missing values with those of `other`.
    pub(super) fn widen(&mut self, other: &Columns) {
        for j in 0..self.p() {
            self.least[j] = self.least[j].min(other.least[j]);
            self.largest[j] = self.largest[j].max(other.largest[j]);
            self.missing[j] += other.missing[j];
        }
    }
}

impl Joint {
    /// Adds the effect of the distance of the means to column y of the products, from its top. The second part's products must have been
    /// added.
    pub fn add_apart(&self, y: usize, cells: &mut [f64]) {
        let of_y = self.apart[y];
        if self.weight > 0.0 && of_y != 0.0 {
            cells.iter_mut().zip(&self.apart).for_each(|(cell, apart)| *cell += self.weight * (apart * of_y));
        }
    }

    /// Multiplies column y, from its top, by its factors.
    pub fn scale(by: Option<&Vec<f64>>, y: usize, cells: &mut [f64]) {
        if let Some(by) = by {
            cells.iter_mut().zip(by).for_each(|(cell, factor)| *cell = *cell * factor * by[y]);
        }
    }
}

/// The upper triangle of a p x p matrix, in blocks of columns. Each block has the rows from the top to its last column.
#[derive(Clone, Debug, PartialEq)]
pub struct Triangle {
    p: usize,
    pub(super) blocks: Vec<Vec<f64>>,
}

/// Returns the columns of a block, and its number of rows, which is the distance from one column to the next.
pub(super) fn shape(block: usize, p: usize) -> (Range<usize>, usize) {
    let to = p.min((block + 1) * BLOCK);
    (block * BLOCK..to, to)
}

impl Triangle {
    pub(super) fn zeros(p: usize) -> Result<Self> {
        let mut blocks = memory::space(p.div_ceil(BLOCK), Use::Correlations)?;
        for block in 0..p.div_ceil(BLOCK) {
            let (columns, rows) = shape(block, p);
            blocks.push(memory::zeros(columns.len() * rows, Use::Correlations)?);
        }
        Ok(Triangle { p, blocks })
    }

    /// Returns column y, from the top to the diagonal.
    pub fn column(&self, y: usize) -> &[f64] {
        let rows = shape(y / BLOCK, self.p).1;
        let from = (y % BLOCK) * rows;
        &self.blocks[y / BLOCK][from..=from + y]
    }

    fn column_mut(&mut self, y: usize) -> &mut [f64] {
        let rows = shape(y / BLOCK, self.p).1;
        let from = (y % BLOCK) * rows;
        &mut self.blocks[y / BLOCK][from..=from + y]
    }
}

/// Totals of rows: all that is needed for correlations, and for joining with the totals of other rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// The totals by column.
    pub columns: Columns,
    /// Central sums of products, times the powers of two of both columns.
    pub products: Triangle,
}

impl Totals {
    /// Returns totals of no rows, with `p` columns.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error), also from the other functions.
    pub fn none(p: usize) -> Result<Self> {
        Ok(Totals { columns: Columns::none(p)?, products: Triangle::zeros(p)? })
    }

    /// Makes totals from the parts of others: the columns, and the upper triangle by column. Returns `None` if lengths do not fit.
    pub fn from_parts(columns: Columns, cells: &[f64]) -> Result<Option<Self>> {
        let p = columns.p();
        let lengths = [columns.least.len(), columns.largest.len(), columns.missing.len(), columns.power.len()];
        if p == 0 || columns.origin.len() != p || lengths != [p; 4] || cells.len() != p * (p + 1) / 2 {
            return Ok(None);
        }
        let mut products = Triangle::zeros(p)?;
        for y in 0..p {
            products.column_mut(y).copy_from_slice(&cells[y * (y + 1) / 2..][..=y]);
        }
        Ok(Some(Totals { columns, products }))
    }

    /// Joins these with the totals of other rows of the same columns.
    pub fn join(&mut self, other: &Totals, pool: &Pool) -> Result<()> {
        let joint = self.columns.join(&other.columns)?;
        self.columns.widen(&other.columns);
        self.columns.left_out += other.columns.left_out;
        let p = self.columns.p();
        pool.each_of(self.products.blocks.iter_mut().zip(&other.products.blocks).collect(), |block, (own, theirs)| {
            let (columns, rows) = shape(block, p);
            for (y, (own, theirs)) in columns.zip(own.chunks_mut(rows).zip(theirs.chunks(rows))) {
                let own = &mut own[..=y];
                Joint::scale(joint.first.as_ref(), y, own);
                match &joint.second {
                    None => own.iter_mut().zip(theirs).for_each(|(cell, add)| *cell += add),
                    Some(by) => {
                        let theirs = theirs.iter().zip(by).map(|(add, factor)| add * factor * by[y]);
                        own.iter_mut().zip(theirs).for_each(|(cell, add)| *cell += add);
                    }
                }
                joint.add_apart(y, own);
            }
        });
        Ok(())
    }

    /// Writes the correlations, p x p. They are symmetric, with ones on the diagonal and all values between -1 and 1. A value is NaN if a
    /// column does not vary.
    pub fn correlations(&self, pool: &Pool, c: &mut [f64], look: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let p = self.columns.p();
        let rests = memory::zeros(p, Use::Correlations)?;
        let mut variances = memory::space(p, Use::Correlations)?;
        variances.extend((0..p).map(|y| self.products.column(y)[y]));
        let n = self.columns.n as f64;
        let blocks: Vec<Mutex<&mut [f64]>> = c.chunks_mut(BLOCK * p).map(Mutex::new).collect();
        let work = |_: &mut (), block: usize, _: &Stop| {
            let Ok(mut cells) = blocks[block].lock() else { return };
            for (y, column) in (block * BLOCK..).zip(cells.chunks_mut(p)) {
                column[..=y].copy_from_slice(self.products.column(y));
                let before = Moments { rests: &rests[..y], variances: &variances[..y], n };
                before.correlate(&mut column[..y], 0.0, variances[y]);
            }
        };
        pool.run(blocks.len(), p < 256, |_| 1.0, &mut |_| look(), work)?;
        drop(blocks);
        symmetrise(c, p, pool);
        Ok(())
    }
}
/// Adds the products of the columns in the panels, of `rows` rows each, to `product`, a block of the p x p triangle.
pub(super) fn multiply(
    cells: &[Row],
    rows: usize,
    p: usize,
    block: usize,
    product: &mut [f64],
    stop: &dyn Fn() -> bool,
) {
    let (columns, height) = shape(block, p);
    for from in (0..rows).step_by(DEEP).take_while(|_| !stop()) {
        let to = rows.min(from + DEEP);
        let panel = |number: usize| &cells[number * rows + from..number * rows + to];
        for first in (0..panels(height)).step_by(HIGH) {
            for y in (columns.start / WIDE).max(first)..panels(columns.end) {
                // Panels up to the diagonal.
                let count = HIGH.min(y + 1 - first);
                let mut tiles = [Row::default(); HIGH * WIDE];
                let x = std::array::from_fn(|k| panel(first + k.min(count - 1)));
                simd::run_wide(Multiply { x, count, y: panel(y), tiles: &mut tiles, fused: false });
                for (x, tile) in (first..).zip(tiles.chunks(WIDE)).take(count) {
                    let at = (y * WIDE - columns.start) * height + x * WIDE;
                    let high = WIDE.min(height - x * WIDE);
                    for (sums, cells) in tile.iter().zip(product[at..].chunks_mut(height)).take(columns.end - y * WIDE)
                    {
                        match <&mut [f64; WIDE]>::try_from(&mut cells[..high]) {
                            Ok(cells) => (0..WIDE).for_each(|i| cells[i] += sums.0[i]),
                            Err(_) => cells[..high].iter_mut().zip(sums.0).for_each(|(cell, sum)| *cell += sum),
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_has_the_products_of_the_columns() {
        for (rows, p) in [(1, 1), (3, 8), (128, 9), (129, 70), (300, 130)] {
            let value = |row: usize, j: usize| ((row * 31 + j * 17 + 5) % 101) as f64 - 50.0;
            let mut cells = vec![Row::default(); panels(p) * rows];
            for j in 0..p {
                (0..rows).for_each(|row| cells[j / WIDE * rows + row].0[j % WIDE] = value(row, j));
            }
            for block in 0..p.div_ceil(BLOCK) {
                let (columns, height) = shape(block, p);
                let mut product = vec![1.0; columns.len() * height];
                multiply(&cells, rows, p, block, &mut product, &|| false);
                for y in columns.clone() {
                    for x in 0..=y {
                        let wanted: f64 = (0..rows).map(|row| value(row, x) * value(row, y)).sum();
                        assert_eq!(product[(y - columns.start) * height + x], 1.0 + wanted, "{rows} x {p}: {x}, {y}");
                    }
                }
            }
        }
    }
}
