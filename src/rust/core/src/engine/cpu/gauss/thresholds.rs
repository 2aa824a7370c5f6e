//! The thresholds of the Gaussian test at one significance level, for any correlations.

use std::sync::OnceLock;

use crate::ci::gauss::{Cutoff, FisherZ};
use crate::ci::pcurve::PCurve;

/// The thresholds of a search among p variables, each computed at first use.
pub(super) struct Thresholds {
    test: FisherZ,
    p: usize,
    pub alpha: f64,
    /// The cutoff of each level.
    cutoffs: Vec<OnceLock<Cutoff>>,
    /// The curves of the levels that separate most pairs; `None` if a curve does not pay or cannot be made.
    curves: [OnceLock<Option<PCurve>>; CURVES],
}

/// Number of levels that have a [`PCurve`].
const CURVES: usize = 2;

/// Number of variables from which laying out a curve costs less than it saves. The choice shows in the last digits of pMax, so it must depend on
/// nothing that a schedule could change.
const CURVES_FROM: usize = 200;

impl Thresholds {
    pub fn new(test: FisherZ, p: usize, alpha: f64) -> Self {
        let cutoffs = std::iter::repeat_with(OnceLock::new).take(p).collect();
        Thresholds { test, p, alpha, cutoffs, curves: [const { OnceLock::new() }; CURVES] }
    }

    /// Returns the cutoff for sets of this size.
    pub fn cutoff(&self, size: usize) -> Cutoff {
        *self.cutoffs[size].get_or_init(|| self.test.cutoff(self.alpha, size))
    }

    /// Returns the curve for sets of this size, or `None` if there is none.
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
