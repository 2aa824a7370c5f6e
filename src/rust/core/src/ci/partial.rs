//! Partial correlation of the first two variables of a correlation matrix, given the others.

use ndarray::{Array2, ArrayView1, ArrayViewMut2, Axis};

/// The pivot above which the inverse is far from pcalg's rank decision at about 1e-15.
const SAFE_PIVOT: f64 = 1e-6;

/// Returns the partial correlation from the Schur complement of the last k-2 of k variables in `m`, k x k and column-major. Returns `None`
/// if a pivot is too small for this to replace pcalg's pseudo-inverse.
pub(in crate::ci) fn by_elimination(m: &mut [f64], k: usize) -> Option<f64> {
    // The two triangles of a data matrix may differ in the last digits. So the last variable's row replaces its column, and for the other
    // variables only the upper triangle is used.
    for col in 0..k - 1 {
        m[(k - 1) * k + col] = m[col * k + k - 1];
    }
    for pivot in (2..k).rev() {
        let (before, of_pivot) = m.split_at_mut(pivot * k);
        let d = of_pivot[pivot];
        if !(d > SAFE_PIVOT) {
            return None;
        }
        let of_pivot = &of_pivot[..pivot];
        for (col, column) in before.chunks_exact_mut(k).enumerate() {
            let factor = of_pivot[col] / d;
            for (cell, of_row) in column[..=col].iter_mut().zip(of_pivot) {
                *cell -= factor * of_row;
            }
        }
    }
    let (xx, xy, yy) = (m[0], m[k], m[k + 1]);
    if !(xx > SAFE_PIVOT && yy > SAFE_PIVOT && xx * yy - xy * xy > SAFE_PIVOT * xx * yy) {
        return None;
    }
    Some(xy / (xx * yy).sqrt())
}

/// Returns the partial correlation from the eigenvalues of the symmetric matrix. Its singular values are their absolute values; those up to
/// k · max · eps are dropped (corpcor's `pseudoinverse`, Armadillo's `pinv`).
pub(super) fn by_pseudoinverse(mut m: Array2<f64>) -> f64 {
    let vectors = jacobi(&mut m);
    let largest = m.diag().iter().map(|value| value.abs()).fold(0.0, f64::max);
    let tolerance = m.ncols() as f64 * largest * f64::EPSILON;
    let (mut pxx, mut pxy, mut pyy) = (0.0, 0.0, 0.0);
    for (&value, vector) in m.diag().iter().zip(vectors.axis_iter(Axis(1))) {
        if value.abs() > tolerance {
            let (vx, vy) = (vector[0], vector[1]);
            pxx += vx * vx / value;
            pxy += vx * vy / value;
            pyy += vy * vy / value;
        }
    }
    -pxy / (pxx * pyy).sqrt()
}

/// Finds eigenvalues by cyclic Jacobi rotations (Golub & Van Loan, section 8.5). On return the diagonal of `m` holds them, and column e of
/// the result is the eigenvector of the e-th.
fn jacobi(m: &mut Array2<f64>) -> Array2<f64> {
    let k = m.ncols();
    let mut vectors = Array2::eye(k);
    for _sweep in 0..60 {
        let above = |(col, column): (usize, ArrayView1<f64>)| column.iter().take(col).map(|v| v * v).sum::<f64>();
        if m.columns().into_iter().enumerate().map(above).sum::<f64>() == 0.0 {
            break;
        }
        for a in 0..k {
            for b in a + 1..k {
                let ab = m[[a, b]];
                // An entry too small to change either diagonal entry counts as zero.
                if ab != 0.0 && !(ab.abs() < 1e-3 * f64::EPSILON * m[[a, a]].abs().min(m[[b, b]].abs())) {
                    let tau = (m[[b, b]] - m[[a, a]]) / (2.0 * ab);
                    let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
                    let cos = 1.0 / (1.0 + t * t).sqrt();
                    let sin = t * cos;
                    rotate(m.view_mut(), a, b, cos, sin);
                    rotate(m.view_mut().reversed_axes(), a, b, cos, sin);
                    rotate(vectors.view_mut(), a, b, cos, sin);
                }
                (m[[a, b]], m[[b, a]]) = (0.0, 0.0);
            }
        }
    }
    vectors
}

/// Rotates columns a and b.
fn rotate(mut m: ArrayViewMut2<f64>, a: usize, b: usize, cos: f64, sin: f64) {
    for mut row in m.rows_mut() {
        (row[a], row[b]) = (cos * row[a] - sin * row[b], sin * row[a] + cos * row[b]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elimination_and_pseudoinverse_agree_where_both_apply() {
        // An AR(1) correlation matrix: the partial correlation of neighbours is known in closed form.
        let k = 6;
        let rho: f64 = 0.6;
        let m = Array2::from_shape_fn((k, k), |(row, col)| rho.powi(row.abs_diff(col) as i32));
        let by_elimination = by_elimination(&mut m.clone().into_raw_vec_and_offset().0, k).unwrap();
        let by_pseudoinverse = by_pseudoinverse(m);
        assert!((by_elimination - by_pseudoinverse).abs() < 1e-14);
        // x = 0 and y = 1 given 2..6 of an AR(1): P is tridiagonal with P00 = 1, P11 = 1 + rho², P01 = -rho (times a constant).
        assert!((by_elimination - rho / (1.0 + rho * rho).sqrt()).abs() < 1e-14);
    }
}
