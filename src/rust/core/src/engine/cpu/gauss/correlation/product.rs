//! Products of columns.

/// Columns of as many values each, `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub values: &'a [f64],
    pub stride: usize,
    pub count: usize,
}

/// Adds to `product`, whose columns are `stride` apart, `beta` times itself, the products of the columns of `left` with those of
/// `right`; both have columns of `rows` values, one after the other.
pub(super) fn multiply(left: &[f64], right: &[f64], rows: usize, product: &mut [f64], stride: usize, beta: f64) {
    let of = |values| Columns { values, stride: rows, count: values.len() / rows };
    multiply_columns(of(left), of(right), rows, product, stride, beta);
}

/// [`multiply`] of columns that may stand apart.
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
    // SAFETY: `left` is rows x m and read as m x rows, `right` rows x n, and both have as many values, as asserted; `product` has m
    // values in each of n columns.
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

/// A correlation from a covariance and two variances, all times the same number. Equal columns, up to a sign or a power of two, have
/// one sum of squares s; the root of s * s is s, so that they come out as exactly 1 or -1. Others are clamped.
#[inline]
pub(super) fn ratio(covariance: f64, of_x: f64, of_y: f64) -> f64 {
    if !(of_x > 0.0 && of_y > 0.0) {
        return f64::NAN;
    }
    let product = of_x * of_y;
    let root = if product.is_normal() { product.sqrt() } else { of_x.sqrt() * of_y.sqrt() };
    (covariance / root).clamp(-1.0, 1.0)
}
