//! Fisher's z test of a partial correlation, with pcalg's formulae and in pcalg's order of operations.
//!
//! pcalg has the test twice, and the two differ if a correlation matrix is degenerate. `gaussCItest` in R (methods "stable" and "original")
//! reads an undefined partial correlation as 0. The C++ of "stable.fast" reads it as the cut 0.9999999. Identical columns exist in real
//! data. For them (r_xy - r_xs r_ys)/sqrt((1 - r_ys²)(1 - r_xs²)) is 0/0 or rounding noise. Agreeing with pcalg then takes the same
//! operations in the same order, without fused multiply-add.

use std::ops::Deref;

use ndarray::{Array2, ArrayView2};

use super::{partial, CiTest};
use crate::matrix;
use crate::{shown, Error, Result};

/// The value at which partial correlations are cut (pcalg's `cut.at`).
pub const CUT: f64 = 0.9999999;

/// Number of variables up to which the matrix of a test is on the stack.
const FEW: usize = 8;

/// The implementation whose reading of degenerate cases to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// pcalg's R function `gaussCItest`: an undefined correlation is 0, an undefined z is 0 (so p is 1).
    GaussCItest,
    /// pcalg's C++ (`stable.fast`): NaN in the matrix gives p = NaN, an undefined partial correlation is [`CUT`].
    StableFast,
}

/// The reason why a test has no p-value, in a case in which pcalg stops with an error too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undefined(pub &'static str);

pub(crate) const TOO_FEW: Undefined =
    Undefined("n - |S| - 3 is negative; pcalg's \"stable.fast\" stops here, but \"stable\" assumes independence");

pub(crate) const MISSING: Undefined =
    Undefined("the correlation matrix of x, y and S contains NA and cannot be inverted");

/// Fisher's z test of a correlation, which may come from anywhere.
#[derive(Clone, Copy, Debug)]
pub struct FisherZ {
    n: f64,
    reading: Reading,
}

/// The Gaussian test on a correlation matrix.
#[derive(Clone, Copy, Debug)]
pub struct Gauss<'a> {
    /// By column, because loops run along columns. A slice, because a view would fix the lifetime of everything that holds a test.
    c: &'a [f64],
    p: usize,
    /// The index of each variable's column in `c`; empty if all columns are there, in order.
    places: &'a [u32],
    /// The test of a correlation.
    pub test: FisherZ,
}

impl Deref for Gauss<'_> {
    type Target = FisherZ;

    #[inline(always)]
    fn deref(&self) -> &FisherZ {
        &self.test
    }
}

/// The ranges of a squared partial correlation that decide p >= alpha at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cutoff {
    /// Below this value, x and y are certainly independent.
    pub independent_below: f64,
    /// Above this value, x and y are certainly dependent. Between the two only the exact formula decides.
    pub dependent_above: f64,
}

/// Half the width of the band around the critical |r| in which [`Gauss::p_value`] decides.
///
/// It covers the rounding of an engine's partial correlation that [`trusted_above`] lets the engine trust.
const GUARD: f64 = 1e-7;

/// Returns the bound above which engines may trust a partial correlation given l = `size` variables, computed by elimination. It applies to
/// the smallest pivot times the smaller of the remaining variances of x and y. Below it the exact formula decides.
///
/// Elimination is backward stable. Its result belongs to a matrix that differs from C by at most (l + 1) eps in each entry (Higham,
/// Accuracy and Stability of Numerical Algorithms, section 10.1; the squares of a row of the Cholesky factor sum to at most 1). Let lambda
/// be the smallest eigenvalue of C[S, S], and v the smaller of the two variances. The regression of x on S is bounded by sqrt(l / lambda),
/// so r moves by at most about 8 l (l + 1) eps / (lambda v). The smallest pivot stands for lambda. The error is then about 1e-8, a tenth of
/// [`GUARD`]; pcalg's own error, of the same kind, is another tenth. The smallest eigenvalue of the whole matrix is then far above 1e-14,
/// where pcalg's pseudo-inverse drops a dimension.
pub(crate) fn trusted_above(size: usize) -> f64 {
    1e-7 * (size * size) as f64
}

/// Returns the slack of an engine's r below [`trusted_above`]: r is still known to within `slack(l) / product`. The product is now det
/// C\[S, S\] times the smaller of the two variances times 1 - r², and must be above [`bounded_above`].
///
/// The determinant divided by e is a lower bound of the smallest eigenvalue, because the others sum to at most l. The error has the form
/// above. Ten times [`GUARD`] leaves room for the error of the exact formula, whose eigenvalues are off by a few eps more than elimination
/// is. A decision made in this way needs no exact formula; a largest p-value does.
#[cfg(feature = "cuda")]
pub(crate) fn slack(size: usize) -> f64 {
    10.0 * GUARD * trusted_above(size)
}

/// Returns the smallest product for which [`slack`] applies: r is then known to within 0.01.
#[cfg(feature = "cuda")]
pub(crate) fn bounded_above(size: usize) -> f64 {
    100.0 * slack(size)
}

/// The value of the product in [`trusted_above`] from which r is accurate to 1e-12, and so is the p-value computed from it.
pub(crate) const WELL_CONDITIONED: f64 = 1e-3;

/// The squared partial correlation from which the matrix of x, y and S may be near singular even if that of S is not.
pub(crate) const COLLINEAR: f64 = 1.0 - 1e-5;

impl FisherZ {
    /// Makes the test. `n`: sample size; fails with [`Error::Argument`] if it is not at least 1.
    pub fn new(n: f64, reading: Reading) -> Result<Self> {
        if !(n >= 1.0) {
            return Err(Error::Argument {
                argument: "suffStat$n",
                value: shown(n),
                hint: "give the sample size, which is at least 1".into(),
            });
        }
        // The C++ of "stable.fast" takes n as an unsigned integer.
        let n = if reading == Reading::StableFast { n.trunc() } else { n };
        Ok(FisherZ { n, reading })
    }

    /// Returns the sample size that the test uses.
    pub fn n(&self) -> f64 {
        self.n
    }

    /// Returns whose reading of degenerate cases the test follows.
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// Returns Fisher's z of a (partial) correlation `r` given `size` variables, NaN if n is too small for it.
    #[inline]
    pub fn z_of_correlation(&self, r: f64, size: usize) -> f64 {
        let r = match self.reading {
            Reading::GaussCItest if r.is_nan() => 0.0,
            Reading::GaussCItest => r.clamp(-CUT, CUT),
            // Not `min`: as in pcalg, an undefined r becomes the cut.
            Reading::StableFast if r.abs() < CUT => r.abs(),
            Reading::StableFast => CUT,
        };
        // Maechler's stable form of log((1+r)/(1-r)), as in pcalg.
        (self.n - size as f64 - 3.0).sqrt() * 0.5 * (2.0 * r / (1.0 - r)).ln_1p()
    }

    /// Returns the p-value of a (partial) correlation `r` given `size` variables.
    #[inline]
    pub fn p_of_correlation(&self, r: f64, size: usize) -> f64 {
        let z = self.z_of_correlation(r, size);
        if z.is_nan() {
            return 1.0;
        }
        // R's pnorm() has no smaller tail than this; the C++ continues to the last denormal number.
        if self.reading == Reading::GaussCItest && z.abs() >= 37.5193 {
            return 0.0;
        }
        two_sided(z.abs())
    }

    /// Returns the p-value of a correlation given no variables.
    #[inline]
    pub fn p_of_marginal(&self, r: f64) -> std::result::Result<f64, Undefined> {
        if self.reading == Reading::StableFast {
            if r.is_nan() {
                return Ok(f64::NAN);
            }
            if self.n < 3.0 {
                return Err(TOO_FEW);
            }
        }
        Ok(self.p_of_correlation(r, 0))
    }

    /// Returns the critical region at level `size`: p >= alpha exactly if |r| is at most the critical value.
    pub fn cutoff(&self, alpha: f64, size: usize) -> Cutoff {
        let dependent = |r: f64| self.p_of_correlation(r, size) < alpha;
        if !dependent(CUT) {
            return Cutoff { independent_below: f64::INFINITY, dependent_above: f64::INFINITY };
        }
        let (mut low, mut high) = (0.0, CUT);
        while high - low > 1e-12 {
            let middle = 0.5 * (low + high);
            if dependent(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        let below = (low - GUARD).max(0.0);
        let above = high + GUARD;
        Cutoff { independent_below: below * below, dependent_above: above * above }
    }

    /// Returns the p-value of two variables given `size` others, from their correlation given these. `r` is `None` if one of the
    /// correlations is missing.
    pub fn p_given(&self, size: usize, r: Option<f64>) -> std::result::Result<f64, Undefined> {
        if size == 0 {
            return self.p_of_marginal(r.unwrap_or(f64::NAN));
        }
        let fast = self.reading == Reading::StableFast;
        match r {
            None if fast => Ok(f64::NAN),
            None => Err(MISSING),
            Some(_) if fast && self.n - (size as f64) - 3.0 < 0.0 => Err(TOO_FEW),
            Some(r) => Ok(self.p_of_correlation(r, size)),
        }
    }
}

impl<'a> Gauss<'a> {
    /// Makes the test. `c`: correlation matrix, p x p, column-major; `n`: sample size. Fails with [`Error::Argument`].
    pub fn new(c: ArrayView2<'a, f64>, n: f64, reading: Reading) -> Result<Self> {
        let p = c.ncols();
        let Some(c) = matrix::cells(c).filter(|_| c.is_square()) else {
            return Err(Error::Argument {
                argument: "suffStat$C",
                value: format!("a {} x {p} matrix", c.nrows()),
                hint: format!("give a {p} x {p} correlation matrix"),
            });
        };
        Ok(Gauss { c, p, places: &[], test: FisherZ::new(n, reading)? })
    }

    /// Makes the test on some columns of a symmetric correlation matrix of p variables. `c` holds columns of p cells each. `places` holds
    /// for each of the p variables the index of its column, or is empty if `c` is the whole matrix. Tests given at most one variable need
    /// columns for their variables only. Other tests need the whole matrix of their variables.
    ///
    /// # Panics
    /// If `places` has neither p numbers nor, with a whole `c`, none.
    pub fn of_part(c: &'a [f64], p: usize, places: &'a [u32], test: FisherZ) -> Self {
        assert!(places.len() == p || (places.is_empty() && c.len() == p * p), "a column for each variable");
        Gauss { c, p, places, test }
    }

    /// Returns whether every variable has its column.
    #[inline(always)]
    pub(crate) fn is_whole(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the number of variables.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Returns the correlation matrix, p x p, column by column, if it is whole.
    pub fn matrix(&self) -> &'a [f64] {
        self.c
    }

    /// Returns `C[x, y]`; y must have a column.
    #[inline(always)]
    pub fn correlation(&self, x: usize, y: usize) -> f64 {
        self.c[self.place(y) * self.p + x]
    }

    /// Returns `C[x, k]`; x must have a column.
    #[inline(always)]
    pub(crate) fn with(&self, x: usize, k: usize) -> f64 {
        if self.is_whole() {
            self.c[k * self.p + x]
        } else {
            self.column(x)[k]
        }
    }

    /// Returns column y of C, which is also its row.
    #[inline(always)]
    pub fn column(&self, y: usize) -> &'a [f64] {
        let at = self.place(y);
        &self.c[at * self.p..(at + 1) * self.p]
    }

    #[inline(always)]
    fn place(&self, y: usize) -> usize {
        if self.is_whole() {
            y
        } else {
            self.places[y] as usize
        }
    }

    /// Returns the p-value of "x and y are independent given s", by pcalg's formulae. It is NaN only under [`Reading::StableFast`].
    pub fn p_value(&self, x: usize, y: usize, s: &[u32]) -> std::result::Result<f64, Undefined> {
        self.p_given(s.len(), self.partial(x, y, s))
    }

    /// Returns the partial correlation of x and y given s as pcalg computes it, not cut; `None` if a correlation is missing.
    pub fn partial(&self, x: usize, y: usize, s: &[u32]) -> Option<f64> {
        match s {
            [] => Some(self.correlation(x, y)),
            [k] => {
                let k = *k as usize;
                let (xy, xk, yk) = (self.correlation(x, y), self.with(x, k), self.with(y, k));
                let missing = self.reading == Reading::StableFast && (xy.is_nan() || xk.is_nan() || yk.is_nan());
                (!missing).then(|| given_one(xy, xk, yk))
            }
            _ => self.partial_correlation(x, y, s),
        }
    }

    /// Returns -P_xy / sqrt(P_xx P_yy), with P the pseudo-inverse of C[(x, y, S), (x, y, S)]; `None` if that submatrix holds a NaN.
    fn partial_correlation(&self, x: usize, y: usize, s: &[u32]) -> Option<f64> {
        let k = s.len() + 2;
        let (mut few, mut many) = ([0.0; FEW * FEW], Vec::new());
        let m = if k <= FEW {
            &mut few[..k * k]
        } else {
            many.resize(k * k, 0.0);
            &mut many[..]
        };
        let mut missing = false;
        for (col, cells) in m.chunks_exact_mut(k).enumerate() {
            let column = self.column(if col < 2 { [x, y][col] } else { s[col - 2] as usize });
            let (pair, set) = cells.split_at_mut(2);
            pair.copy_from_slice(&[column[x], column[y]]);
            set.iter_mut().zip(s).for_each(|(cell, &v)| *cell = column[v as usize]);
            missing |= cells.iter().fold(false, |missing, r| missing | r.is_nan());
        }
        if missing {
            return None;
        }
        partial::by_elimination(m, k).or_else(|| {
            let vertex = |i: usize| if i < 2 { [x, y][i] } else { s[i - 2] as usize };
            let of = |(row, col): (usize, usize)| self.correlation(vertex(row), vertex(col));
            Some(partial::by_pseudoinverse(Array2::from_shape_fn((k, k), of)))
        })
    }
}

/// Returns the partial correlation of x and y given k from the three correlations, in pcalg's order of operations.
#[inline(always)]
pub fn given_one(xy: f64, xk: f64, yk: f64) -> f64 {
    (xy - xk * yk) / ((1.0 - yk * yk) * (1.0 - xk * xk)).sqrt()
}

impl CiTest for Gauss<'_> {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        Gauss::p_value(self, x, y, s).map_err(|Undefined(reason)| Error::Numeric { x, y, s: s.to_vec(), reason })
    }
}

/// Returns P(|Z| > z) of a standard normal Z.
///
/// Does not use statrs 0.18. Its `erfc` differs from R by 1.0e-10 of p in the body (z = 0.71) and 8e-11 in the tail; this function differs
/// by 2e-15 and 2e-13. statrs takes 14 ns and this takes 37, but most p-values come from a [`PCurve`](super::pcurve::PCurve).
#[inline]
pub(super) fn two_sided(z: f64) -> f64 {
    libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::by_column;
    use ndarray::ShapeBuilder;

    /// Compares with pnorm.csv, which holds R's own values with 17 digits.
    #[test]
    fn p_values_agree_with_pnorm_of_r_down_to_1e_300() {
        // With n = 7 and S empty, z is 2 atanh(r), so r = tanh(z / 2) gives the z of the table.
        let gauss = FisherZ::new(7.0, Reading::GaussCItest).unwrap();
        let mut smallest = 1.0;
        for line in include_str!("pnorm.csv").lines().skip(1) {
            let (z, p) =
                line.split_once(',').map(|(z, p)| (z.parse::<f64>().unwrap(), p.parse::<f64>().unwrap())).unwrap();
            let tail = two_sided(z);
            assert!((tail / p - 1.0).abs() < if z < 8.0 { 1e-14 } else { 1e-12 }, "z = {z}: {tail:e} and R's {p:e}");
            // A second opinion, to the digits that statrs has.
            let second = statrs::function::erf::erfc(z * std::f64::consts::FRAC_1_SQRT_2);
            assert!((tail / second - 1.0).abs() < 2e-10, "z = {z}: {tail:e} and statrs' {second:e}");
            if z < 10.0 {
                let ours = gauss.p_of_correlation((z / 2.0).tanh(), 0);
                assert!((ours / p - 1.0).abs() < 1e-9, "z = {z} by way of r: {ours:e} and R's {p:e}");
            }
            smallest = p;
        }
        assert!(smallest < 1e-299);
    }

    #[test]
    fn cutoff_brackets_alpha() {
        let gauss = FisherZ::new(100.0, Reading::GaussCItest).unwrap();
        for alpha in [1e-8, 0.01, 0.05, 0.5, 0.999] {
            let cutoff = gauss.cutoff(alpha, 3);
            assert!(gauss.p_of_correlation(cutoff.independent_below.sqrt(), 3) >= alpha);
            assert!(gauss.p_of_correlation(cutoff.dependent_above.sqrt(), 3) < alpha);
        }
        let tiny = FisherZ::new(4.0, Reading::GaussCItest).unwrap();
        assert_eq!(tiny.cutoff(0.01, 2).independent_below, f64::INFINITY);
    }

    /// Computes r by elimination of S, as the engines do, and the product that divides [`slack`].
    #[cfg(feature = "cuda")]
    fn quickly(c: ArrayView2<f64>) -> (f64, f64) {
        let (mut m, k) = (c.to_owned(), c.ncols());
        let mut determinant = 1.0;
        for pivot in (2..k).rev() {
            let d = m[[pivot, pivot]];
            determinant *= d;
            for col in 0..pivot {
                let factor = m[[pivot, col]] / d;
                for row in 0..pivot {
                    m[[row, col]] = (-factor).mul_add(m[[row, pivot]], m[[row, col]]);
                }
            }
        }
        let r = m[[1, 0]] / (m[[0, 0]] * m[[1, 1]]).sqrt();
        (r, determinant * m[[0, 0]].min(m[[1, 1]]) * (1.0 - r * r))
    }

    #[test]
    #[cfg(feature = "cuda")]
    fn the_error_of_the_quick_form_stays_within_its_bound() {
        // Two or three factors, and variables that are factors plus a little noise: all conditions down to the limit.
        let mut state = 1u64;
        let mut normal = || {
            let mut sum = -6.0;
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                sum += (state >> 11) as f64 / (1u64 << 53) as f64;
            }
            sum
        };
        let (mut worst, mut judged) = (0.0f64, 0);
        for round in 0..40_000 {
            let size = 1 + round % 6;
            let k = size + 2;
            let n = k + 20;
            let factors: Vec<Vec<f64>> = (0..2 + round / 6 % 2).map(|_| (0..n).map(|_| normal()).collect()).collect();
            let columns: Vec<Vec<f64>> = (0..k)
                .map(|j| {
                    let noise = 10f64.powf(-(normal().abs() * 2.5));
                    let mut column: Vec<f64> =
                        factors[j % factors.len()].iter().map(|v| v + noise * normal()).collect();
                    let mean = column.iter().sum::<f64>() / n as f64;
                    column.iter_mut().for_each(|v| *v -= mean);
                    let norm = column.iter().map(|v| v * v).sum::<f64>().sqrt();
                    column.iter_mut().for_each(|v| *v /= norm);
                    column
                })
                .collect();
            let mut c = Array2::from_elem((k, k).f(), 1.0);
            for x in 0..k {
                for y in 0..x {
                    let r: f64 = columns[x].iter().zip(&columns[y]).map(|(a, b)| a * b).sum();
                    (c[[x, y]], c[[y, x]]) = (r, r);
                }
            }
            let (quick, product) = quickly(c.view());
            if !(product > bounded_above(size)) || product > trusted_above(size) {
                continue;
            }
            let gauss = Gauss::new(c.view(), 100.0, Reading::GaussCItest).unwrap();
            let set: Vec<u32> = (2..k as u32).collect();
            let exact = gauss.partial_correlation(0, 1, &set).unwrap();
            worst = worst.max((quick - exact).abs() * product / slack(size));
            judged += 1;
        }
        assert!(judged > 5_000 && worst < 0.1 && worst > 1e-6, "{judged} judged, the worst at {worst:e} of the bound");
    }

    #[test]
    fn the_two_readings_of_identical_columns_differ_as_pcalg_does() {
        // x and k are identical: 0/0.
        let c = [1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0];
        let c = by_column(&c, 3).unwrap();
        let r = Gauss::new(c, 50.0, Reading::GaussCItest).unwrap();
        let cpp = Gauss::new(c, 50.0, Reading::StableFast).unwrap();
        assert_eq!(r.p_value(0, 1, &[2]), Ok(1.0));
        assert!(cpp.p_value(0, 1, &[2]).unwrap() < 1e-20);
    }

    #[test]
    fn singular_sets_go_through_the_pseudoinverse() {
        // Two conditioning variables are identical. The pseudo-inverse splits their weight, so the partial correlation given both equals
        // that given either.
        let (a, b, c): (f64, f64, f64) = (0.5, 0.4, 0.3);
        let m = [1.0, a, b, b, a, 1.0, c, c, b, c, 1.0, 1.0, b, c, 1.0, 1.0];
        let gauss = Gauss::new(by_column(&m, 4).unwrap(), 60.0, Reading::GaussCItest).unwrap();
        let both = gauss.partial_correlation(0, 1, &[2, 3]).unwrap();
        let one = (a - b * c) / ((1.0 - b * b) * (1.0 - c * c)).sqrt();
        assert!((both - one).abs() < 1e-12);
    }
}
