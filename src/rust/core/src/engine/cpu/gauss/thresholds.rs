//! What one significance level makes of the Gaussian test, whichever correlations it is asked of.

use std::sync::OnceLock;

use crate::ci::gauss::{Cutoff, FisherZ};
use crate::ci::pcurve::PCurve;

/// The thresholds of a search among p variables, each made when it is first asked for.
pub(super) struct Thresholds {
    test: FisherZ,
    p: usize,
    pub alpha: f64,
    /// By level.
    cutoffs: Vec<OnceLock<Cutoff>>,
    /// For the levels that separate most pairs; none where it does not pay or cannot be made.
    curves: [OnceLock<Option<PCurve>>; CURVES],
}

/// Levels that have a [`PCurve`].
const CURVES: usize = 2;

/// Number of variables from which laying out a curve costs less than it saves. The choice must not depend on anything that a
/// schedule could change, as it shows in the last digits of pMax.
const CURVES_FROM: usize = 200;

impl Thresholds {
    pub fn new(test: FisherZ, p: usize, alpha: f64) -> Self {
        let cutoffs = std::iter::repeat_with(OnceLock::new).take(p).collect();
        Thresholds { test, p, alpha, cutoffs, curves: [const { OnceLock::new() }; CURVES] }
    }

    /// Of sets of this size.
    pub fn cutoff(&self, size: usize) -> Cutoff {
        *self.cutoffs[size].get_or_init(|| self.test.cutoff(self.alpha, size))
    }

    /// Likewise.
    pub fn curve(&self, size: usize) -> Option<&PCurve> {
        if self.p < CURVES_FROM {
            return None;
        }
        let curve = self.curves.get(size)?.get_or_init(|| {
            let end = self.cutoff(size).dependent_above.sqrt();
            (end < 1.0).then(|| PCurve::new(end, |r| self.test.p_of_correlation(r, size))).flatten()
        });
        curve.as_ref()
    }
}
