//! Thresholds that decide the Gaussian test at a level, in the form that the kernels read.

use crate::ci::gauss::{bounded_above, slack, trusted_above, FisherZ, Reading, CUT};
use crate::engine::cuda::arguments::SearchArgs;

/// Returns the largest |r| that the exact formula calls independent: infinity if all are, below 0 if none is. `sign` is the sign of r.
fn critical(gauss: &FisherZ, alpha: f64, size: usize, sign: f64) -> f64 {
    let independent = |r: f64| gauss.p_of_correlation(sign * r, size) >= alpha;
    if independent(CUT) {
        return f64::INFINITY;
    }
    if !independent(0.0) {
        return -1.0;
    }
    // Positive numbers are ordered as their bits are, so halving ends at two adjacent numbers.
    let (mut low, mut high) = (0.0f64.to_bits(), CUT.to_bits());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if independent(f64::from_bits(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::from_bits(low)
}

/// Returns a bound: any pair with a smaller |r| is independent given the empty set. It is infinite if all pairs are, and negative if none is.
pub(in crate::engine::cuda) fn surely_independent_below(gauss: &FisherZ, alpha: f64) -> f64 {
    critical(gauss, alpha, 0, 1.0).min(critical(gauss, alpha, 0, -1.0))
}

/// Sets the rules for sets of `size`.
pub(in crate::engine::cuda) fn fill(args: &mut SearchArgs, gauss: &FisherZ, alpha: f64, na_delete: bool, size: usize) {
    let cutoff = gauss.cutoff(alpha, size);
    let as_flag = |p: f64| u64::from(p >= alpha);
    args.size = size as u64;
    args.below = cutoff.independent_below;
    args.above = cutoff.dependent_above;
    args.trusted = trusted_above(size);
    args.bounded = bounded_above(size);
    args.slack = slack(size);
    args.critical = critical(gauss, alpha, size, 1.0);
    args.critical_neg = critical(gauss, alpha, size, -1.0);
    args.scale = (gauss.n() - size as f64 - 3.0).sqrt();
    args.scale_marginal = (gauss.n() - 3.0).sqrt();
    args.fast = u64::from(gauss.reading() == Reading::StableFast);
    args.nan_separates = as_flag(gauss.p_of_correlation(f64::NAN, size));
    args.missing_separates = as_flag(f64::from(u8::from(na_delete)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_critical_correlation_is_the_last_independent_one() {
        for reading in [Reading::GaussCItest, Reading::StableFast] {
            for (n, alpha, size) in [(47.0, 0.05, 1), (1000.0, 0.01, 0), (20.0, 0.5, 3), (300.0, 1e-12, 2)] {
                let gauss = FisherZ::new(n, reading).unwrap();
                for sign in [1.0, -1.0] {
                    let r = critical(&gauss, alpha, size, sign);
                    assert!(gauss.p_of_correlation(sign * r, size) >= alpha);
                    assert!(gauss.p_of_correlation(sign * f64::from_bits(r.to_bits() + 1), size) < alpha);
                }
            }
            let few = FisherZ::new(4.0, reading).unwrap();
            assert_eq!(critical(&few, 0.05, 2, 1.0), f64::INFINITY);
            assert_eq!(critical(&few, 1.5, 0, 1.0), -1.0);
        }
    }
}
