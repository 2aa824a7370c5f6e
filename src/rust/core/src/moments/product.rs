//! Products of columns, and correlations computed from them.

use crate::simd::{self, Task};

/// Columns with one number of values, `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub values: &'a [f64],
    pub stride: usize,
    pub count: usize,
}

/// Sets `product` to `beta` times itself plus the products of the columns of `left` and `right`. Both have columns of `rows` values, one
/// after the other. The columns of `product` are `stride` apart.
pub(super) fn multiply(left: &[f64], right: &[f64], rows: usize, product: &mut [f64], stride: usize, beta: f64) {
    let of = |values| Columns { values, stride: rows, count: values.len() / rows };
    multiply_columns(of(left), of(right), rows, product, stride, beta);
}

/// Works as [`multiply`] for columns that may have gaps between them.
pub(super) fn multiply_columns(
    left: Columns,
    right: Columns,
    rows: usize,
    product: &mut [f64],
    stride: usize,
    beta: f64,
) {
    let (m, n) = (left.count, right.count);
    assert!(n == 0 || product.len() >= (n - 1) * stride + m);
    for of in [left, right] {
        assert!(of.count == 0 || of.values.len() >= (of.count - 1) * of.stride + rows);
    }
    // SAFETY: `left` is rows x m and read as m x rows, and `right` is rows x n. The asserts check that both have that many values, and that
    // `product` has m values in each of n columns.
    unsafe {
        matrixmultiply::dgemm(
            m,
            rows,
            n,
            1.0,
            left.values.as_ptr(),
            left.stride as isize,
            1,
            right.values.as_ptr(),
            1,
            right.stride as isize,
            beta,
            product.as_mut_ptr(),
            1,
            stride as isize,
        );
    }
}

/// Adds to `product` the products of the first `left` columns and the columns `right` of one matrix. The matrix has `width` columns, and is
/// stored by row. The columns of `product` are `stride` apart.
pub(super) fn multiply_rows(
    values: &[f64],
    width: usize,
    left: usize,
    right: std::ops::Range<usize>,
    product: &mut [f64],
    stride: usize,
) {
    let n = right.len();
    if n == 0 || left == 0 || values.is_empty() {
        return;
    }
    let rows = values.len() / width;
    assert!(left <= width && right.end <= width && product.len() >= (n - 1) * stride + left);
    // SAFETY: both are read as `rows` rows of at most `width` values, which exist. `product` has `left` values in each of n columns.
    unsafe {
        matrixmultiply::dgemm(
            left,
            rows,
            n,
            1.0,
            values.as_ptr(),
            1,
            width as isize,
            values[right.start..].as_ptr(),
            width as isize,
            1,
            1.0,
            product.as_mut_ptr(),
            1,
            stride as isize,
        );
    }
}

/// Returns a correlation from a covariance and two variances, all times the same number. Equal columns, up to a sign or a power of two,
/// have one sum of squares s. The root of s * s is s, so their correlation is exactly 1 or -1. Other values are clamped.
#[inline]
pub(super) fn ratio(covariance: f64, of_x: f64, of_y: f64) -> f64 {
    if !(of_x > 0.0 && of_y > 0.0) {
        return f64::NAN;
    }
    let product = of_x * of_y;
    let root = if product.is_normal() { product.sqrt() } else { of_x.sqrt() * of_y.sqrt() };
    (covariance / root).clamp(-1.0, 1.0)
}

/// The data besides products from which correlations are computed. `rests` are the sums that remain after subtracting the rounded means.
/// `variances` are the sums of squares minus the part due to the rests.
#[derive(Clone, Copy)]
pub(super) struct Moments<'a> {
    pub rests: &'a [f64],
    pub variances: &'a [f64],
    /// Number of rows.
    pub n: f64,
}

impl Moments<'_> {
    /// Turns products into correlations in place: products of these columns with one column, which has this rest and variance.
    pub fn correlate(self, products: &mut [f64], rest: f64, variance: f64) {
        simd::run(Correlate { of: self, cells: products, rest, variance });
    }
}

struct Correlate<'a> {
    of: Moments<'a>,
    cells: &'a mut [f64],
    rest: f64,
    variance: f64,
}

impl<S> Task<S> for Correlate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _simd: S) {
        let Correlate { of: Moments { rests, variances, n }, cells, rest, variance } = self;
        // Usually no special case of [`ratio`] occurs, and several correlations are computed at once.
        let is_plain = |product: f64| (f64::MIN_POSITIVE..=f64::MAX).contains(&product);
        let plain = variance > 0.0 && variances.iter().fold(true, |all, of| all & is_plain(of * variance));
        let cells = cells.iter_mut().zip(rests).zip(variances).map(|((cell, of_rest), of)| {
            *cell -= of_rest * rest / n;
            (cell, *of)
        });
        if plain {
            cells.for_each(|(cell, of)| *cell = (*cell / (of * variance).sqrt()).clamp(-1.0, 1.0));
        } else {
            cells.for_each(|(cell, of)| *cell = ratio(*cell, of, variance));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_made_at_once_are_those_made_one_by_one() {
        let ordinary = [3.5, 1e-3, 7e8, 2.0, 0.125, 11.0, 1e-9, 5.0, 6.0];
        let strange = [3.5, 0.0, 1e300, f64::NAN, 1e-300, -1.0, 1e-310, f64::INFINITY, 2.0];
        for variances in [ordinary, strange] {
            for variance in [2.0, 1e-20, 1e200, 0.0, -1.0, f64::NAN] {
                let rests = [0.0, 1e-3, -2.0, 5.0, 0.1, 0.2, 0.3, -0.4, 7.0];
                let products = [1.0, 2e-3, -3e5, f64::NAN, 0.0, 1e9, -1e-9, 0.5, 0.7];
                let mut cells = products;
                Moments { rests: &rests, variances: &variances, n: 7.0 }.correlate(&mut cells, 0.3, variance);
                for (i, cell) in cells.into_iter().enumerate() {
                    let wanted = ratio(products[i] - rests[i] * 0.3 / 7.0, variances[i], variance);
                    assert_eq!(cell.to_bits(), wanted.to_bits(), "{variance}, {i}: {cell}, {wanted}");
                }
            }
        }
    }
}
