//! When a partial correlation separates a variable from the target.

use crate::ci::gauss::{FisherZ, Reading, CUT};
use crate::Result;

/// Half the width of the band around the critical |r| in which z itself decides.
const GUARD: f64 = 1e-9;

/// The rule of pcalg's `pcSelect()`: a set separates if the absolute value of Fisher's z is at most `cutoff`.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    test: FisherZ,
    cutoff: f64,
}

impl Rule {
    /// Makes the rule. `n`: the sample size, which must be at least 1.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error).
    pub fn new(n: f64, cutoff: f64) -> Result<Self> {
        Ok(Rule { test: FisherZ::new(n, Reading::GaussCItest)?, cutoff })
    }

    /// Returns z of a partial correlation given `size` variables; 0 if it has none.
    pub fn signed_z(&self, r: f64, size: usize) -> f64 {
        let z = self.test.z_of_correlation(r, size);
        if z.is_nan() {
            0.0
        } else {
            z
        }
    }

    /// Returns |z| of a partial correlation given `size` variables.
    pub fn z(&self, r: f64, size: usize) -> f64 {
        self.signed_z(r, size).abs()
    }

    /// Returns the test of a correlation, for the formulae of partial correlations.
    pub(super) fn test(&self) -> FisherZ {
        self.test
    }

    /// Returns the rule for sets of one size.
    pub(super) fn at(&self, size: usize) -> Bounds {
        let scale = (self.test.n() - size as f64 - 3.0).sqrt();
        let critical = (self.cutoff / scale).tanh();
        let (below, above) = match () {
            // Without a degree of freedom, z is 0.
            () if !(scale > 0.0) => (f64::INFINITY, f64::INFINITY),
            () if critical + GUARD >= CUT => (CUT.min(critical) - GUARD, f64::INFINITY),
            () => (critical - GUARD, critical + GUARD),
        };
        Bounds { rule: *self, size, below, above }
    }
}

/// The rule for sets of one size, with the weakest partial correlation so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    rule: Rule,
    size: usize,
    /// Below this |r|, a set separates. Above the other, it does not.
    below: f64,
    above: f64,
}

impl Bounds {
    /// Returns whether a partial correlation separates.
    #[inline]
    pub fn separates(&self, r: f64) -> bool {
        let size = r.abs();
        if size < self.below {
            return true;
        }
        // If r is not a number, z is 0.
        !(size > self.above) && self.rule.z(r, self.size) <= self.rule.cutoff
    }

    /// Returns the smaller of a |z| and that of a partial correlation.
    pub fn smaller_z(&self, z: f64, r: f64) -> f64 {
        z.min(self.rule.z(r, self.size))
    }
}

/// Returns the weaker of two partial correlations. One that is not a number is the weakest.
#[inline]
pub(super) fn weaker(a: f64, b: f64) -> f64 {
    if a.is_nan() || a.abs() < b.abs() {
        a
    } else {
        b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_decide_as_z_does() {
        for n in [1.0, 4.0, 5.0, 7.5, 30.0, 1e3, 1e9] {
            for cutoff in [0.0, 0.5, 1.96, 5.0, 40.0, f64::INFINITY] {
                for size in [0, 1, 2, 5] {
                    let rule = Rule::new(n, cutoff).unwrap();
                    let bounds = rule.at(size);
                    let critical = (cutoff / (n - size as f64 - 3.0).sqrt()).tanh();
                    let near = [-1e-8, -1e-10, 0.0, 1e-16, 1e-10, 1e-8].map(|by| critical + by);
                    for r in [0.0, 1e-9, 0.3, 0.9, CUT, 1.0, f64::NAN].into_iter().chain(near) {
                        for r in [r, -r] {
                            assert_eq!(bounds.separates(r), rule.z(r, size) <= cutoff, "{n} {cutoff} {size} {r}");
                        }
                    }
                }
            }
        }
        assert!(weaker(f64::NAN, 0.1).is_nan() && weaker(0.1, f64::NAN).is_nan() && weaker(0.3, -0.2) == -0.2);
    }
}
