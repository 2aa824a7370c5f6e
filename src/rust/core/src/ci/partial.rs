//! Partial correlation of the first two variables of a correlation matrix given the others.

/// A pivot above this keeps the inverse far from pcalg's rank decision at about 1e-15.
const SAFE_PIVOT: f64 = 1e-6;

/// Schur complement of the last k-2 variables; `None` when a pivot is too small to stand for pcalg's pseudo-inverse.
pub(super) fn by_elimination(m: &mut [f64], k: usize) -> Option<f64> {
    for pivot in (2..k).rev() {
        let d = m[pivot * k + pivot];
        if !(d > SAFE_PIVOT) {
            return None;
        }
        for col in 0..pivot {
            let factor = m[col * k + pivot] / d;
            for row in 0..=col {
                m[col * k + row] -= factor * m[row * k + pivot];
            }
        }
        // Keep the lower triangle in step with the upper one: the next pivot's row is read from it.
        for col in 0..pivot {
            for row in col + 1..pivot {
                m[col * k + row] = m[row * k + col];
            }
        }
    }
    let (xx, xy, yy) = (m[0], m[k], m[k + 1]);
    if !(xx > SAFE_PIVOT && yy > SAFE_PIVOT && xx * yy - xy * xy > SAFE_PIVOT * xx * yy) {
        return None;
    }
    Some(xy / (xx * yy).sqrt())
}

/// By the eigenvalues of the symmetric matrix: its singular values are their absolute values, and those up to
/// k · max · eps are dropped (corpcor's `pseudoinverse`, Armadillo's `pinv`).
pub(super) fn by_pseudoinverse(mut m: Vec<f64>, k: usize) -> f64 {
    let mut vectors = vec![0.0; k * k];
    for i in 0..k {
        vectors[i * k + i] = 1.0;
    }
    jacobi(&mut m, &mut vectors, k);
    let largest = (0..k).map(|i| m[i * k + i].abs()).fold(0.0, f64::max);
    let tolerance = k as f64 * largest * f64::EPSILON;
    let (mut pxx, mut pxy, mut pyy) = (0.0, 0.0, 0.0);
    for e in 0..k {
        let value = m[e * k + e];
        if value.abs() > tolerance {
            let (vx, vy) = (vectors[e * k], vectors[e * k + 1]);
            pxx += vx * vx / value;
            pxy += vx * vy / value;
            pyy += vy * vy / value;
        }
    }
    -pxy / (pxx * pyy).sqrt()
}

/// Cyclic Jacobi rotations (Golub & Van Loan, section 8.5): on return the diagonal of `m` holds the eigenvalues and
/// column e of `vectors` the eigenvector of the e-th.
fn jacobi(m: &mut [f64], vectors: &mut [f64], k: usize) {
    for _sweep in 0..60 {
        let mut off = 0.0;
        for col in 0..k {
            for row in 0..col {
                off += m[col * k + row] * m[col * k + row];
            }
        }
        if off == 0.0 {
            return;
        }
        for a in 0..k {
            for b in a + 1..k {
                let ab = m[b * k + a];
                // An entry that cannot change either diagonal entry is as good as zero.
                if ab == 0.0 || ab.abs() < 1e-3 * f64::EPSILON * m[a * k + a].abs().min(m[b * k + b].abs()) {
                    m[b * k + a] = 0.0;
                    m[a * k + b] = 0.0;
                    continue;
                }
                let tau = (m[b * k + b] - m[a * k + a]) / (2.0 * ab);
                let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
                let cos = 1.0 / (1.0 + t * t).sqrt();
                let sin = t * cos;
                for i in 0..k {
                    let (ia, ib) = (m[a * k + i], m[b * k + i]);
                    m[a * k + i] = cos * ia - sin * ib;
                    m[b * k + i] = sin * ia + cos * ib;
                }
                for i in 0..k {
                    let (ai, bi) = (m[i * k + a], m[i * k + b]);
                    m[i * k + a] = cos * ai - sin * bi;
                    m[i * k + b] = sin * ai + cos * bi;
                }
                m[b * k + a] = 0.0;
                m[a * k + b] = 0.0;
                for i in 0..k {
                    let (va, vb) = (vectors[a * k + i], vectors[b * k + i]);
                    vectors[a * k + i] = cos * va - sin * vb;
                    vectors[b * k + i] = sin * va + cos * vb;
                }
            }
        }
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
        let m: Vec<f64> = (0..k * k).map(|i| rho.powi(((i / k) as i32 - (i % k) as i32).abs())).collect();
        let by_elimination = by_elimination(&mut m.clone(), k).unwrap();
        let by_pseudoinverse = by_pseudoinverse(m, k);
        assert!((by_elimination - by_pseudoinverse).abs() < 1e-14);
        // x = 0 and y = 1 given 2..6 of an AR(1): P is tridiagonal with P00 = 1, P11 = 1 + rho², P01 = -rho (times a constant).
        assert!((by_elimination - rho / (1.0 + rho * rho).sqrt()).abs() < 1e-14);
    }
}
