//! Regression coefficients from covariances.

use ndarray::ArrayView2;

/// Smallest share of a variable's variance that the others must leave; below it, the matrix counts as singular.
const SINGULAR: f64 = 16.0 * f64::EPSILON;

/// Solves A z = b in place for a covariance matrix A with m rows (row by row; it is overwritten). Gaussian elimination with pivoting, after
/// scaling by the diagonal. Returns false if A is singular.
pub(super) fn solve(a: &mut [f64], b: &mut [f64]) -> bool {
    let m = b.len();
    // The scale of each variable makes the result independent of units.
    let scale: Vec<f64> = (0..m).map(|i| a[i * m + i].abs().sqrt()).collect();
    if scale.iter().any(|s| !(*s > 0.0)) {
        return false;
    }
    for i in 0..m {
        for j in 0..m {
            a[i * m + j] /= scale[i] * scale[j];
        }
        b[i] /= scale[i];
    }
    for k in 0..m {
        let pivot = (k..m).max_by(|&i, &j| a[i * m + k].abs().total_cmp(&a[j * m + k].abs())).unwrap_or(k);
        if !(a[pivot * m + k].abs() > SINGULAR) {
            return false;
        }
        if pivot != k {
            (0..m).for_each(|j| a.swap(k * m + j, pivot * m + j));
            b.swap(k, pivot);
        }
        for i in k + 1..m {
            let factor = a[i * m + k] / a[k * m + k];
            if factor != 0.0 {
                for j in k..m {
                    a[i * m + j] -= factor * a[k * m + j];
                }
                b[i] -= factor * b[k];
            }
        }
    }
    for k in (0..m).rev() {
        let known: f64 = (k + 1..m).map(|j| a[k * m + j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k * m + k];
    }
    b.iter_mut().zip(&scale).for_each(|(z, s)| *z /= s);
    b.iter().all(|z| z.is_finite())
}

/// Returns the covariances among `of`, row by row.
pub(super) fn among(cov: ArrayView2<f64>, of: &[u32]) -> Vec<f64> {
    of.iter().flat_map(|&i| of.iter().map(move |&j| cov[[i as usize, j as usize]])).collect()
}

/// Returns weights w: multiplied by the covariances of `of` with any y, they sum to the coefficient of `of[at]` in the regression of y on
/// `of`. `None` if the covariances among `of` are singular.
pub(super) fn weights(cov: ArrayView2<f64>, of: &[u32], at: usize) -> Option<Vec<f64>> {
    let mut unit = vec![0.0; of.len()];
    unit[at] = 1.0;
    solve(&mut among(cov, of), &mut unit).then_some(unit)
}

/// Returns the coefficient of `of[at]` in the regression of y on `of`; NaN if there is none.
pub(super) fn coefficient(cov: ArrayView2<f64>, y: usize, of: &[u32], at: usize) -> f64 {
    let Some(weights) = weights(cov, of, at) else { return f64::NAN };
    of.iter().zip(weights).map(|(&v, weight)| weight * cov[[v as usize, y]]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::by_column;

    #[test]
    fn coefficients_solve_the_normal_equations() {
        let cells = [4.0, 1.0, 2.0, 1.0, 3.0, 0.5, 2.0, 0.5, 9.0];
        let cov = by_column(&cells, 3).unwrap();
        let (b0, b1) = (coefficient(cov, 2, &[0, 1], 0), coefficient(cov, 2, &[0, 1], 1));
        assert!((4.0 * b0 + b1 - 2.0).abs() < 1e-14 && (b0 + 3.0 * b1 - 0.5).abs() < 1e-14);
        // A variable's coefficient in its own regression is 1, whatever the units.
        assert!((coefficient(cov, 1, &[2, 1], 1) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn singular_and_missing_covariances_have_none() {
        let copies = [1.0, 1.0, 0.3, 1.0, 1.0, 0.3, 0.3, 0.3, 1.0];
        assert!(coefficient(by_column(&copies, 3).unwrap(), 2, &[0, 1], 0).is_nan());
        let holes = [1.0, f64::NAN, f64::NAN, 1.0];
        assert!(coefficient(by_column(&holes, 2).unwrap(), 1, &[0], 0).is_nan());
        assert!(coefficient(by_column(&holes, 2).unwrap(), 1, &[0, 1], 0).is_nan());
    }
}
