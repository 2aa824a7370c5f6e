//! The three nearest-neighbour estimators of conditional mutual information: the term of a point, from the counts around it.
//!
//! Let rho be the Chebyshev distance from a point to its k-th neighbour in (x, y, S). Let n_xS, n_yS and n_S be the numbers of points
//! within a radius of it in the subspaces. With ψ the digamma function, all estimators are means over the points, in nats, of
//!
//! ψ(k~) - ψ(n_xS) - ψ(n_yS) + ψ(n_S).
//!
//! They differ in the radius, in whether the point itself is counted, and in k~. If S is empty, n_S is the number of all points.

/// An estimator of conditional mutual information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// S. Frenzel and B. Pompe (2007), M. Vejmelka and M. Paluš (2008), for continuous variables, with the conventions of CMIknn (Runge
    /// 2018; tigramite 5.2.10). Counts points strictly nearer than rho, and the point itself. A distance that equals rho to nine digits is
    /// not nearer (the radius is 0.999999999 rho). k~ = k.
    FrenzelPompe,
    /// O. C. Mesner and C. R. Shalizi (2021), for mixed variables. Counts points within rho, without the point itself. k~ is the number of
    /// points within rho in (x, y, S), which exceeds k if distances are equal.
    MesnerShalizi,
    /// W. Gao, S. Kannan, S. Oh and P. Viswanath (2017), for mixed variables, with the conventions of their code. Counts points nearer than
    /// rho (the radius is rho - 1e-15), and the point itself. k~ = k unless rho = 0; then it is the number of points at distance 0,
    /// including the point itself. If S is empty, log n replaces ψ(n_S). The paper has only the mutual information; a set S enters here as
    /// in the other two estimators.
    Gao,
}

/// The unit of fixed-point terms. Terms are multiples of 2^-36, so that their sum is exact and the same in any order. The error of a term
/// is below 1e-11, and a sum of 2^20 terms fits in 63 bits.
const ONE: f64 = (1u64 << 36) as f64;

/// The largest number of samples.
pub const MOST_SAMPLES: usize = 1 << 20;

/// The terms of an estimator for n samples.
#[derive(Clone, Debug)]
pub struct Terms {
    estimator: Estimator,
    k: usize,
    /// ψ of a count in fixed point, indexed by the count including the point itself. `own[0]` is not used.
    own: Vec<i64>,
    /// ψ(k~) in fixed point, indexed by the number of points in (x, y, S) including the point itself.
    joint: Vec<i64>,
    /// The fixed-point value that replaces ψ(n_S) if S is empty.
    all: i64,
}

impl Estimator {
    /// Returns the radius within which points of the subspaces count.
    #[inline(always)]
    pub fn radius(self, rho: f64) -> f64 {
        match self {
            Estimator::FrenzelPompe => rho * 0.999999999,
            Estimator::MesnerShalizi => rho,
            Estimator::Gao if rho == 0.0 => 1e-15,
            Estimator::Gao => rho - 1e-15,
        }
    }
}

impl Terms {
    /// Tabulates the terms for `n` samples and their k-th neighbours.
    pub fn new(estimator: Estimator, n: usize, k: usize) -> Self {
        // ψ(1) = -γ, ψ(m + 1) = ψ(m) + 1 / m (Abramowitz and Stegun 1964, 6.3.2). statrs 0.18 is as accurate, but differs in the last
        // fixed-point unit at one count in sixty. Its estimates would differ from those on record.
        const EULER: f64 = 0.577_215_664_901_532_9;
        let mut digamma = Vec::with_capacity(n + 2);
        digamma.extend([f64::NAN, -EULER]);
        for m in 1..=n {
            digamma.push(digamma[m] + 1.0 / m as f64);
        }
        let fixed = |value: f64| (value * ONE).round() as i64;
        let without_itself = usize::from(estimator == Estimator::MesnerShalizi);
        let own: Vec<i64> =
            (0..=n).map(|count| count.checked_sub(without_itself).map_or(0, |count| fixed(digamma[count]))).collect();
        let all = if estimator == Estimator::Gao { fixed((n as f64).ln()) } else { fixed(digamma[n]) };
        let joint = match estimator {
            Estimator::FrenzelPompe => vec![fixed(digamma[k]); n + 1],
            _ => own.clone(),
        };
        Terms { estimator, k, own, joint, all }
    }

    /// Returns the estimator.
    #[inline(always)]
    pub fn estimator(&self) -> Estimator {
        self.estimator
    }

    /// Returns k, the number of the neighbour.
    #[inline(always)]
    pub fn k(&self) -> usize {
        self.k
    }

    /// Returns ψ(k~) in fixed point, from rho and the number of points within rho in (x, y, S), including the point itself.
    #[inline(always)]
    pub fn joint(&self, rho: f64, within: usize) -> i64 {
        if self.estimator == Estimator::Gao && rho > 0.0 {
            self.own[self.k]
        } else {
            self.joint[within]
        }
    }

    /// Returns the fixed-point ψ of a count of points in a subspace, which includes the point itself.
    #[inline(always)]
    pub fn subspace(&self, within: usize) -> i64 {
        self.own[within]
    }

    /// Returns the fixed-point value that replaces ψ(n_S) if S is empty.
    #[inline(always)]
    pub fn all(&self) -> i64 {
        self.all
    }

    /// Returns the fixed-point ψ for each number of points within the radius in a subspace, including the point itself. For devices.
    pub fn table(&self) -> &[i64] {
        &self.own
    }

    /// Returns the table of ψ(k~), as [`Terms::table`], for each number of points within rho in (x, y, S).
    pub fn joint_table(&self) -> &[i64] {
        &self.joint
    }

    /// Returns the estimate in nats, given the sum of the terms over all points.
    pub fn estimate(&self, sum: i64, n: usize) -> f64 {
        sum as f64 / ONE / n as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digammas() {
        // Abramowitz and Stegun (1964), table 6.1: ψ(2) = 0.42278 43351, ψ(10) = 2.25175 25890 66721.
        let terms = Terms::new(Estimator::FrenzelPompe, 10, 2);
        assert!((terms.estimate(terms.subspace(10), 1) - 2.251_752_589_066_721).abs() < 1e-11);
        assert!((terms.estimate(terms.joint(1.0, 7), 1) - 0.422_784_335_098_467_1).abs() < 1e-11);
        assert_eq!(terms.all(), terms.subspace(10));
        let terms = Terms::new(Estimator::MesnerShalizi, 10, 2);
        assert_eq!(terms.joint(0.0, 3), terms.subspace(3));
        assert!((terms.estimate(terms.subspace(3), 1) - 0.422_784_335_098_467_1).abs() < 1e-11);
        let terms = Terms::new(Estimator::Gao, 10, 2);
        assert_eq!((terms.joint(0.0, 5), terms.joint(0.5, 5)), (terms.subspace(5), terms.subspace(2)));
        assert!((terms.estimate(terms.all(), 1) - 10f64.ln()).abs() < 1e-11);
    }

    #[test]
    fn statrs_says_the_same_to_the_last_unit() {
        let terms = Terms::new(Estimator::FrenzelPompe, MOST_SAMPLES, 1);
        for count in (1..=2000).chain((2000..=MOST_SAMPLES).step_by(997)) {
            let second = (statrs::function::gamma::digamma(count as f64) * ONE).round() as i64;
            assert!((terms.subspace(count) - second).abs() <= 1, "{count}");
        }
    }

    #[test]
    fn the_largest_sum_fits() {
        let most = (MOST_SAMPLES as f64).ln() + 1.0;
        assert!(4.0 * most * ONE * MOST_SAMPLES as f64 <= i64::MAX as f64);
    }
}
