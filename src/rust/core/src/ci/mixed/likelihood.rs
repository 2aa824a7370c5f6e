//! Likelihoods of the conditional Gaussian distribution: levels by the shares of their cells, numbers normal within each cell.
//!
//! S. L. Lauritzen and N. Wermuth (1989); the test of B. Andrews, J. Ramsey and G. F. Cooper (2018), as R. Foraita and J. Witte have it in micd's
//! `mixCItest`: a cell of few rows takes the covariance of all rows in place of its own.

use std::f64::consts::PI;

use super::cells::Cells;
use super::rows::triangle;

/// Cells of no more rows than there are numbers and this many take the covariance of all rows.
const FEW: f64 = 5.0;

/// A variance that is left given the numbers before is no less than this share of the variance over all rows. Less is rounding: a number that is
/// constant in a cell, or that others determine, has then a large likelihood that cancels where it stands in two parts of a test.
const LEAST: f64 = 1e-12;

/// micd's stand-in for entries of a covariance that are 0.
const TINY: f64 = 1e-10;

/// A covariance, factored.
#[derive(Clone, Debug, Default)]
pub(super) struct Normal {
    k: usize,
    /// Cholesky's factor, lower triangle by row: k(k + 1)/2.
    factor: Vec<f64>,
    /// Its inverse, likewise.
    inverse: Vec<f64>,
    log_det: f64,
}

/// Entry (row, col), row <= col, of a triangle column by column.
fn at(row: usize, col: usize) -> usize {
    triangle(col) + row
}

impl Normal {
    /// Of a covariance, an upper triangle column by column, which is also the lower triangle by row. `variances`: of all rows. Whether none was
    /// raised to the [`LEAST`].
    pub fn of(
        &mut self,
        covariance: impl Iterator<Item = f64>,
        variances: impl Iterator<Item = f64>,
        k: usize,
    ) -> bool {
        self.k = k;
        self.log_det = 0.0;
        self.factor.clear();
        self.factor.extend(covariance);
        let mut is_definite = true;
        let l = &mut self.factor;
        for (i, variance) in (0..k).zip(variances) {
            for j in 0..=i {
                let before: f64 = (0..j).map(|m| l[at(m, i)] * l[at(m, j)]).sum();
                let left = l[at(j, i)] - before;
                if i > j {
                    l[at(j, i)] = left / l[at(j, j)];
                    continue;
                }
                let least = (LEAST * variance).max(f64::MIN_POSITIVE);
                is_definite &= left > least;
                let left = if left > least { left } else { least };
                self.log_det += left.ln();
                l[at(i, i)] = left.sqrt();
            }
        }
        is_definite
    }

    /// Makes ready for [`Normal::trace`].
    pub fn invert(&mut self) {
        let (k, l) = (self.k, &self.factor);
        self.inverse.clear();
        self.inverse.resize(triangle(k), 0.0);
        for i in 0..k {
            self.inverse[at(i, i)] = 1.0 / l[at(i, i)];
            for j in 0..i {
                let sum: f64 = (j..i).map(|m| l[at(m, i)] * self.inverse[at(j, m)]).sum();
                self.inverse[at(j, i)] = -sum / l[at(i, i)];
            }
        }
    }

    /// tr(covariance⁻¹ products), the latter an upper triangle.
    pub fn trace(&self, products: impl Fn(usize, usize) -> f64) -> f64 {
        // |L⁻¹|² weighted by the products: the sum over rows i of u' P u with u the i-th row of L⁻¹.
        let u = |i: usize, j: usize| self.inverse[at(j, i)];
        let of_row = |i: usize| -> f64 {
            (0..=i)
                .map(|a| {
                    let below: f64 = (0..a).map(|b| u(i, b) * products(b, a)).sum();
                    u(i, a) * (2.0 * below + u(i, a) * products(a, a))
                })
                .sum()
        };
        (0..self.k).map(of_row).sum()
    }

    /// ln |2π covariance|.
    pub fn log_det(&self) -> f64 {
        self.k as f64 * (2.0 * PI).ln() + self.log_det
    }
}

/// A part of a test's variables: cells of its factors, and which of the numbers are its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub cells: &'a Cells,
    /// Places among the numbers of the cells.
    pub numbers: &'a [usize],
    pub any_factor: bool,
}

impl Part<'_> {
    /// The products of a cell's numbers.
    pub fn products<'s>(&'s self, products: &'s [f64]) -> impl Fn(usize, usize) -> f64 + Copy + 's {
        let numbers = self.numbers;
        move |row, col| products[at(numbers[row].min(numbers[col]), numbers[row].max(numbers[col]))]
    }

    /// The products of a cell, over `rows`, as a triangle.
    pub fn covariance<'s>(&'s self, products: &'s [f64], rows: f64) -> impl Iterator<Item = f64> + 's {
        let of = self.products(products);
        (0..self.numbers.len()).flat_map(move |col| (0..=col).map(move |row| of(row, col) / rows))
    }

    /// The variances of the numbers over all rows, of which `all` has the products.
    pub fn variances<'s>(&'s self, all: &'s [f64], rows: f64) -> impl Iterator<Item = f64> + 's {
        self.numbers.iter().map(move |&number| all[at(number, number)] / rows)
    }

    /// The largest log likelihood. `all`: products of all rows.
    pub fn log_likelihood(&self, all: &[f64], normal: &mut Normal, of_all: &mut Normal) -> f64 {
        let (k, n) = (self.numbers.len(), self.cells.rows());
        let t = triangle(self.cells.k);
        let mut sum = 0.0;
        let mut all_is_ready = false;
        for (cell, &count) in self.cells.counts.iter().enumerate() {
            if self.any_factor {
                sum += count * (count / n).ln();
            }
            if k == 0 {
                continue;
            }
            let products = &self.cells.products[cell * t..][..t];
            if !self.any_factor || count > k as f64 + FEW {
                normal.of(self.covariance(products, count), self.variances(all, n), k);
                sum -= 0.5 * count * (normal.log_det() + k as f64);
                continue;
            }
            if !all_is_ready {
                of_all.of(self.covariance(all, n), self.variances(all, n), k);
                of_all.invert();
                all_is_ready = true;
            }
            sum -= 0.5 * (count * of_all.log_det() + of_all.trace(self.products(products)));
        }
        sum
    }

    /// A cell's covariance by which imputations are pooled, into `out`: that of its own rows, or of all where they are few; micd puts a small
    /// number in place of 0.
    pub fn pooled_covariance(&self, cell: usize, all: &[f64], out: &mut Vec<f64>) {
        let (k, n) = (self.numbers.len(), self.cells.rows());
        let (count, t) = (self.cells.counts[cell], triangle(self.cells.k));
        out.clear();
        if !self.any_factor {
            out.extend(self.covariance(all, n));
            return;
        }
        let products = &self.cells.products[cell * t..][..t];
        match count > k as f64 + FEW {
            true => out.extend(self.covariance(products, count)),
            // Of one row in all there is none.
            false if n < 2.0 => out.extend(std::iter::repeat_n(1.0, triangle(k))),
            false => out.extend(self.covariance(all, n)),
        }
        out.iter_mut().filter(|value| **value == 0.0).for_each(|value| *value = TINY);
    }
}

/// Degrees of freedom of a part with `levels`, the product of the declared levels of its factors, and k numbers.
pub(super) fn parameters(levels: f64, k: usize) -> f64 {
    levels * (triangle(k) + k) as f64 + levels
}
