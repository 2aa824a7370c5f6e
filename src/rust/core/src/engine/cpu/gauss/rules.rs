//! The rules that decide the tests of one level.

use crate::ci::gauss::{Cutoff, Gauss, Undefined, WELL_CONDITIONED};
use crate::ci::pcurve::PCurve;

/// The thresholds that decide a test of one level.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub gauss: &'a Gauss<'a>,
    pub cutoff: Cutoff,
    /// See [`trusted_above`](crate::ci::gauss::trusted_above).
    pub trusted_above: f64,
    pub curve: Option<&'a PCurve>,
    pub size: usize,
    pub alpha: f64,
    pub na_delete: bool,
}

/// The outcome of a test given one variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Single {
    /// Dependent for certain, with the squared partial correlation.
    Depends(f64),
    /// Dependent by the exact formula, with p.
    DependsExactly(f64),
    /// Separates for certain, with the values from which [`Rules::p_of_square`] computes p.
    Separates { q: f64, condition: f64 },
    /// Separates by the exact formula, with p.
    SeparatesExactly(f64),
    /// Has no answer, with the reason.
    Undefined(&'static str),
}

impl Rules<'_> {
    /// Tests x and y given k. Returns the outcome, and whether the exact formula decided it.
    #[inline(always)]
    pub fn single(&self, x: usize, y: usize, k: u32) -> (Single, bool) {
        let of = |x| self.gauss.with(x, k as usize);
        let (of_x, of_y) = (of(x), of(y));
        let (left_x, left_y) = (1.0 - of_x * of_x, 1.0 - of_y * of_y);
        let covariance = self.gauss.correlation(x, y) - of_x * of_y;
        let q = covariance * covariance / (left_x * left_y);
        let condition = left_x.min(left_y);
        let trusted = condition > self.trusted_above;
        if trusted & (q < self.cutoff.independent_below) {
            (Single::Separates { q, condition }, false)
        } else if trusted & (q > self.cutoff.dependent_above) {
            (Single::Depends(q), false)
        } else {
            let found = match self.exactly(x, y, &[k]) {
                Err(reason) => Single::Undefined(reason),
                Ok((p, true)) => Single::SeparatesExactly(p),
                Ok((p, false)) => Single::DependsExactly(p),
            };
            (found, true)
        }
    }

    /// Returns p of a test that separates by its squared partial correlation. `condition` is its smallest pivot times the smaller remaining
    /// variance.
    #[inline(always)]
    pub fn p_of_square(&self, q: f64, condition: f64, x: usize, y: usize, set: &[u32]) -> f64 {
        if condition < WELL_CONDITIONED {
            // The decision is safe, but the digits of p are not.
            if let Ok(p) = self.gauss.p_value(x, y, set) {
                return p;
            }
        }
        // Far from 0, p follows r: no need to compute r again.
        let r = q.sqrt();
        let p = self.curve.and_then(|curve| curve.at(r));
        p.unwrap_or_else(|| self.gauss.p_of_correlation(r, self.size))
    }

    /// Tests by pcalg's formula. Returns the p-value as pcalg reads it, and whether it separates. Fails with the reason if there is no answer.
    pub fn exactly(&self, x: usize, y: usize, set: &[u32]) -> Result<(f64, bool), &'static str> {
        let p = self.gauss.p_value(x, y, set).map_err(|Undefined(reason)| reason)?;
        let p = if p.is_nan() { f64::from(u8::from(self.na_delete)) } else { p };
        Ok((p, p >= self.alpha))
    }
}
