//! Conditional independence tests: each test has its own file, and is a plain function of (x, y, S).

mod batch;
pub mod chi_squared;
pub mod correlations;
pub mod discrete;
pub mod features;
pub mod gauss;
pub mod knn;
pub mod mixed;
mod partial;
pub mod pcurve;
mod tails;

pub use batch::Batch;

use crate::Result;

/// Returns a known reason why a test has no answer, given its text.
pub(crate) fn reason_of(text: &str) -> &'static str {
    let known = [gauss::MISSING, gauss::TOO_FEW];
    known
        .into_iter()
        .map(|gauss::Undefined(reason)| reason)
        .find(|reason| *reason == text)
        .unwrap_or("the reason is not known")
}

/// A conditional independence test that is asked in the caller's order.
///
/// The search and the conservative orientation use it if the order of the questions is part of the answer: a test written in R may draw
/// random numbers. Tests that the engines run natively implement it too.
pub trait CiTest {
    /// Returns the p-value of "x and y are independent given S"; NaN if the test has no answer. Vertices are numbered from 0.
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64>;

    /// Returns the p-values of a batch, in its order. An engine overrides this to run them together.
    fn p_values(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        batch.iter().map(|(x, y, s)| self.p_value(x, y, s)).collect()
    }

    /// Returns the number of questions to put into one batch. With 1, nothing is asked that a sequential run would not ask.
    fn batch_size(&self) -> usize {
        1
    }
}
