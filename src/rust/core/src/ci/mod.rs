//! Conditional independence tests: one file a test, each a plain function of (x, y, S).

mod batch;
pub mod chi_squared;
pub mod correlations;
pub mod discrete;
pub mod gauss;
pub mod knn;
pub mod mixed;
mod partial;
pub mod pcurve;
mod tails;

pub use batch::Batch;

use crate::Result;

/// A reason why a test has no answer, by its text: one of those that this program knows.
pub(crate) fn reason_of(text: &str) -> &'static str {
    let known = [gauss::MISSING, gauss::TOO_FEW];
    known
        .into_iter()
        .map(|gauss::Undefined(reason)| reason)
        .find(|reason| *reason == text)
        .unwrap_or("the test has no answer")
}

/// A conditional independence test that is asked in the caller's order.
///
/// The search and the conservative orientation use it where the order of the questions is part of the answer (a test
/// written in R may draw random numbers). Tests that the engines run natively implement it too.
pub trait CiTest {
    /// p-value of "x and y are independent given S"; NaN when the test has no answer. Vertices from 0.
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64>;

    /// The p-values of a batch, in its order. An engine overrides this to run them at once.
    fn p_values(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        batch.iter().map(|(x, y, s)| self.p_value(x, y, s)).collect()
    }

    /// How many questions to put into one batch: 1 asks one at a time (nothing is asked that a sequential run would not).
    fn batch_size(&self) -> usize {
        1
    }
}
