//! Conditional mutual information by nearest neighbours with a local permutation test. This is CMIknn (J. Runge 2018, "Conditional
//! independence testing based on a nearest-neighbor estimator of conditional mutual information", AISTATS), and the same test with
//! estimators for mixed data.
//!
//! * [`Columns`]: distances between samples in a variable.
//! * [`Estimator`], [`Terms`]: the terms of an estimate. They are whole numbers (counts of points, and digammas in fixed point), so the
//!   order and the machine of their sum do not change an estimate.
//! * `local`: permutations, drawn by [`crate::random`].
//! * [`Decision`]: p, and when to stop drawing.
//!
//! The statistic is symmetric in x and y, but the permutation is not. The variable with the smaller number is permuted, so that p(x, y | S)
//! equals p(y, x | S). The papers and tigramite before 5.2 permute x, tigramite 5.2 permutes y.
//!
//! All tests given S draw the same permutations, which depend on the seed and S only. So they are drawn once for many tests. Each p-value is
//! as valid as with permutations of its own, because a permutation does not look at x or y. (GPU_CMIknn-Parallel shares those of x and S
//! among all y.)
//!
//! The code here follows the definitions literally. Engines are quicker, and agree to the last bit.

mod columns;
mod decision;
mod estimator;
mod local;

pub use columns::{Columns, Ties, Transform, Values};
pub use decision::{Decision, EarlyStop};
pub use estimator::{Estimator, Terms, MOST_SAMPLES};
pub use local::{Choice, Shuffler};

use ndarray::{Array2, ArrayView2};

use super::CiTest;
use crate::memory::{self, Use};
use crate::random::Key;
use crate::{Error, Result};

/// The settings of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The neighbour whose distance estimates use, k from 1 to n - 1.
    pub k: usize,
    /// Number of neighbours in S that a sample may take its x from, 1 to n - 1; the sample itself is one of them.
    pub k_perm: usize,
    /// Number of permutations.
    pub permutations: usize,
    /// The estimator.
    pub estimator: Estimator,
    /// The transform of continuous columns.
    pub transform: Transform,
    /// Whether p is (1 + count) / (1 + permutations) instead of count / permutations.
    pub add_one: bool,
    /// The seed of the permutations, and of the order of equal values.
    pub seed: u64,
    /// When to stop before all permutations are drawn.
    pub early_stop: Option<EarlyStop>,
}

/// The nearest-neighbour test on data.
#[derive(Clone, Debug)]
pub struct Knn {
    columns: Columns,
    /// For each column its number in the full data, ascending.
    names: Vec<u32>,
    settings: Settings,
    terms: Terms,
    decision: Decision,
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The estimate of the conditional mutual information in nats; may be negative.
    pub estimate: f64,
    /// The p-value.
    pub p: f64,
    /// Number of permutations drawn.
    pub drawn: usize,
    /// Number of drawn permutations whose estimate is at least as large as the data's.
    pub count: usize,
}

impl Outcome {
    /// The outcome if x or y is constant: independent without a test.
    pub const CERTAIN: Outcome = Outcome { estimate: 0.0, p: 1.0, drawn: 0, count: 0 };
}

impl Knn {
    /// Makes the test from `data`, n x p and column-major; `discrete` says which columns are discrete.
    ///
    /// # Errors
    /// [`Error::Argument`]: data as in [`Columns::new`]; k or k_perm not from 1 to n - 1; a discrete column with an estimator for
    /// continuous variables; permutations or early stop as in [`Decision::new`]. [`Error::Memory`].
    pub fn new(data: ArrayView2<f64>, discrete: &[bool], settings: Settings) -> Result<Self> {
        let names: Vec<u32> = (0..discrete.len() as u32).collect();
        Self::of_columns(data, discrete, &names, settings)
    }

    /// Makes the test as [`Knn::new`] does, on some columns of larger data. `names` holds their numbers there, ascending. The answers are
    /// the same as on all columns.
    pub fn of_columns(data: ArrayView2<f64>, discrete: &[bool], names: &[u32], settings: Settings) -> Result<Self> {
        let Settings { k, k_perm, permutations, estimator, transform, add_one, seed, early_stop } = settings;
        let ties = if estimator == Estimator::FrenzelPompe { Ties::Random { seed } } else { Ties::Kept };
        let columns = Columns::new(data, discrete, names, transform, ties)?;
        let n = columns.n();
        for (argument, value) in [("suffStat$k", k), ("suffStat$k_perm", k_perm)] {
            if !(1..n).contains(&value) {
                let hint = format!("give a whole number from 1 to {}, less than the {n} samples", n - 1);
                return Err(Error::Argument { argument, value: value.to_string(), hint });
            }
        }
        if let (Estimator::FrenzelPompe, Some(column)) = (estimator, discrete.iter().position(|&discrete| discrete)) {
            return Err(Error::Argument {
                argument: "suffStat$estimator",
                value: "\"frenzel-pompe\"".into(),
                hint: format!(
                    "this estimator needs continuous variables, but column {} is discrete; give \"mesner-shalizi\" or \"gao\"",
                    column + 1
                ),
            });
        }
        // The terms for every count, and what an engine keeps: an order of the samples for each column.
        memory::room(data.len().saturating_mul(4).saturating_add(64 * n), Use::Samples)?;
        let terms = Terms::new(estimator, n, k);
        Ok(Knn {
            columns,
            names: names.to_vec(),
            settings,
            terms,
            decision: Decision::new(permutations, add_one, early_stop)?,
        })
    }

    /// Returns the data.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the estimator's terms.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns the rule that computes p.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Returns the key of the random numbers of all tests given S.
    pub fn key(&self, s: &[u32]) -> Key {
        let names: Vec<u32> = s.iter().map(|&column| self.names[column as usize]).collect();
        Key::of_set(self.settings.seed, &names)
    }

    /// Returns the estimate of I(x; y | S) in nats.
    pub fn estimate(&self, x: usize, y: usize, s: &[u32]) -> f64 {
        let same: Vec<u32> = (0..self.columns.n() as u32).collect();
        self.terms.estimate(self.sum(x, y, s, &same), self.columns.n())
    }

    /// Returns whether x or y is constant, and so independent of everything.
    pub fn constant(&self, x: usize, y: usize) -> bool {
        self.columns.constant(x) || self.columns.constant(y)
    }

    /// Runs the test as defined.
    pub fn test(&self, x: usize, y: usize, s: &[u32]) -> Outcome {
        if self.constant(x, y) {
            return Outcome::CERTAIN;
        }
        let n = self.columns.n();
        let (x, y) = (x.min(y), x.max(y));
        let key = self.key(s);
        let mut permuted: Vec<u32> = (0..n as u32).collect();
        let own = self.sum(x, y, s, &permuted);
        let neighbours = if s.is_empty() { Array2::default((0, 0)) } else { self.neighbours(s) };
        let mut shuffler = Shuffler::default();
        let (mut drawn, mut count) = (0, 0);
        loop {
            if s.is_empty() {
                shuffler.plain(key, drawn as u32, &mut permuted);
            } else {
                shuffler.local(key, drawn as u32, neighbours.view(), &mut permuted);
            }
            let at_least = self.sum(x, y, s, &permuted) >= own;
            if let Some(p) = self.decision.next(&mut drawn, &mut count, at_least) {
                return Outcome { estimate: self.terms.estimate(own, n), p, drawn, count };
            }
        }
    }

    /// Returns the k_perm neighbours in S of every sample, one row for each sample.
    pub fn neighbours(&self, s: &[u32]) -> Array2<u32> {
        let n = self.columns.n();
        let mut neighbours = Array2::zeros((n, self.settings.k_perm));
        let mut choice = Choice::new(self.key(s));
        for (a, mut out) in neighbours.rows_mut().into_iter().enumerate() {
            let distances: Vec<f64> = (0..n).map(|b| self.apart(s, a, b)).collect();
            choice.nearest(a as u32, &distances, |b| b as u32, out.as_slice_mut().unwrap_or_default());
        }
        neighbours
    }

    /// Returns the Chebyshev distance between two samples in some columns.
    fn apart(&self, columns: &[u32], a: usize, b: usize) -> f64 {
        columns.iter().fold(0.0, |most, &column| self.columns.distance(column as usize, a, b).max(most))
    }

    /// Returns the sum of the terms if sample i has the x of sample `permuted[i]`.
    fn sum(&self, x: usize, y: usize, s: &[u32], permuted: &[u32]) -> i64 {
        let n = self.columns.n();
        let (mut of_x, mut of_y, mut of_s, mut joint) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let mut sum = 0;
        for a in 0..n {
            for b in 0..n {
                of_s[b] = self.apart(s, a, b);
                of_x[b] = self.columns.distance(x, permuted[a] as usize, permuted[b] as usize).max(of_s[b]);
                of_y[b] = self.columns.distance(y, a, b).max(of_s[b]);
                joint[b] = of_x[b].max(of_y[b]);
            }
            let mut sorted = joint.clone();
            sorted.sort_by(f64::total_cmp);
            // The point itself is the first.
            let rho = sorted[self.terms.k()];
            let radius = self.terms.estimator().radius(rho);
            let within = |distances: &[f64], radius: f64| distances.iter().filter(|&&d| d <= radius).count();
            let given = if s.is_empty() { self.terms.all() } else { self.terms.subspace(within(&of_s, radius)) };
            sum += self.terms.joint(rho, within(&joint, rho))
                - self.terms.subspace(within(&of_x, radius))
                - self.terms.subspace(within(&of_y, radius))
                + given;
        }
        sum
    }
}

impl CiTest for Knn {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        Ok(self.test(x, y, s).p)
    }
}
