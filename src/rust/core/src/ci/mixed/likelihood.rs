//! Likelihoods of the conditional Gaussian distribution: levels by the shares of their cells, numbers as normal within each cell.
//!
//! S. L. Lauritzen and N. Wermuth (1989); the test of B. Andrews, J. Ramsey and G. F. Cooper (2018), as implemented in micd's `mixCItest`
//! by R. Foraita and J. Witte. A cell with few rows uses the covariance of all rows instead of its own.

use std::f64::consts::PI;

use super::cells::Cells;
use super::rows::triangle;

/// A cell uses the covariance of all rows unless its rows outnumber its numbers by more than this.
const FEW: f64 = 5.0;

/// The smallest variance that remains given the previous numbers, as a share of the variance over all rows. Anything smaller is rounding. A
/// number that is constant in a cell, or determined by others, then has a large likelihood. It cancels if it occurs in two parts of a test.
const LEAST: f64 = 1e-12;

/// micd's replacement for covariance entries that are 0.
const TINY: f64 = 1e-10;

/// A factored covariance.
#[derive(Clone, Debug, Default)]
pub(super) struct Normal {
    k: usize,
    /// Cholesky's factor, lower triangle by row: k(k + 1)/2 numbers.
    factor: Vec<f64>,
    /// The inverse of the factor, lower triangle by row.
    inverse: Vec<f64>,
    log_det: f64,
}

/// Returns the index of entry (row, col), row <= col, of a triangle column by column.
fn at(row: usize, col: usize) -> usize {
    triangle(col) + row
}

impl Normal {
    /// Factors a covariance, given as an upper triangle column by column, which is also the lower triangle by row. `variances` are those of
    /// all rows. Returns whether no variance had to be raised to [`LEAST`].
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

    /// Computes the inverse for [`Normal::trace`].
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

    /// Returns tr(covariance⁻¹ products); `products` is an upper triangle.
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

    /// Returns ln |2π covariance|.
    pub fn log_det(&self) -> f64 {
        self.k as f64 * (2.0 * PI).ln() + self.log_det
    }
}

/// A part of a test's variables: the cells of its factors, and its own numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub cells: &'a Cells,
    /// Indices among the numbers of the cells.
    pub numbers: &'a [usize],
    pub any_factor: bool,
}

impl Part<'_> {
    /// Returns the products of the part's numbers in a cell.
    pub fn products<'s>(&'s self, products: &'s [f64]) -> impl Fn(usize, usize) -> f64 + Copy + 's {
        let numbers = self.numbers;
        move |row, col| products[at(numbers[row].min(numbers[col]), numbers[row].max(numbers[col]))]
    }

    /// Returns the products of a cell divided by `rows`, as a triangle.
    pub fn covariance<'s>(&'s self, products: &'s [f64], rows: f64) -> impl Iterator<Item = f64> + 's {
        let of = self.products(products);
        (0..self.numbers.len()).flat_map(move |col| (0..=col).map(move |row| of(row, col) / rows))
    }

    /// Returns the variances of the numbers over all rows; `all` holds the products of all rows.
    pub fn variances<'s>(&'s self, all: &'s [f64], rows: f64) -> impl Iterator<Item = f64> + 's {
        self.numbers.iter().map(move |&number| all[at(number, number)] / rows)
    }

    /// Returns the largest log likelihood. `all`: products of all rows.
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

    /// Writes a cell's covariance for pooling imputations to `out`. It is that of the cell's rows, or of all rows if the cell has few. As
    /// in micd, a small number replaces 0.
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
            // A single row in total has no covariance.
            false if n < 2.0 => out.extend(std::iter::repeat_n(1.0, triangle(k))),
            false => out.extend(self.covariance(all, n)),
        }
        out.iter_mut().filter(|value| **value == 0.0).for_each(|value| *value = TINY);
    }
}

/// Returns the degrees of freedom of a part with k numbers. `levels` is the product of its factors' declared levels.
pub(super) fn parameters(levels: f64, k: usize) -> f64 {
    levels * (triangle(k) + k) as f64 + levels
}
