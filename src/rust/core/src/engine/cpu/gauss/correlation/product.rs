//! Products of columns.

/// Adds to `product`, whose columns are `stride` apart, `beta` times itself, the products of the columns of `left` with those of
/// `right`; both have columns of `rows` values.
pub(super) fn multiply(left: &[f64], right: &[f64], rows: usize, product: &mut [f64], stride: usize, beta: f64) {
    let (m, n) = (left.len() / rows, right.len() / rows);
    assert!(n == 0 || product.len() >= (n - 1) * stride + m);
    // SAFETY: `left` is rows x m and read as m x rows, `right` rows x n; `product` has m values in each of n columns.
    unsafe {
        matrixmultiply::dgemm(
            m,
            rows,
            n,
            1.0,
            left.as_ptr(),
            rows as isize,
            1,
            right.as_ptr(),
            1,
            rows as isize,
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
