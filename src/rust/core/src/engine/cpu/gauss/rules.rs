//! What decides a test of one level.

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

/// What a test given one variable says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Single {
    /// Dependent for certain; the squared partial correlation.
    Depends(f64),
    /// Dependent by the exact formula; p.
    DependsExactly(f64),
    /// It separates for certain; what [`Rules::p_of_square`] makes p of.
    Separates { q: f64, condition: f64 },
    /// It separates by the exact formula; p.
    SeparatesExactly(f64),
    /// It has no answer; why.
    Undefined(&'static str),
}

impl Rules<'_> {
    /// The test of x and y given k, and whether the exact formula decided it.
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

    /// p of a test whose squared partial correlation says that it separates; `condition` is its smallest pivot times the
    /// smaller variance that is left.
    #[inline(always)]
    pub fn p_of_square(&self, q: f64, condition: f64, x: usize, y: usize, set: &[u32]) -> f64 {
        if condition < WELL_CONDITIONED {
            // The decision is safe, but not the digits.
            if let Ok(p) = self.gauss.p_value(x, y, set) {
                return p;
            }
        }
        // Far from 0, p follows r: no need to compute r again.
        let r = q.sqrt();
        let p = self.curve.and_then(|curve| curve.at(r));
        p.unwrap_or_else(|| self.gauss.p_of_correlation(r, self.size))
    }

    /// A test by pcalg's formula: its p-value as pcalg reads it, and whether that separates.
    pub fn exactly(&self, x: usize, y: usize, set: &[u32]) -> Result<(f64, bool), &'static str> {
        let p = self.gauss.p_value(x, y, set).map_err(|Undefined(reason)| reason)?;
        let p = if p.is_nan() { f64::from(u8::from(self.na_delete)) } else { p };
        Ok((p, p >= self.alpha))
    }
}
