//! Tests of numbers and levels, with or without missing values, on the CPU.

use std::sync::Arc;

use super::kernel::Signal;
use super::plain::Plain;
use crate::ci::mixed::{Holes, Mixed, Sums, Work};
use crate::memory::{self, Use};
use crate::moments::{of_centred, Centred};
use crate::numbers::Numbers;
use crate::pool::Pool;
use crate::{Error, Result};

/// A test of mixed data in the form that the CPU engine runs.
pub struct MixedKernel<'a> {
    test: Arc<Mixed<'a>>,
}

/// The number of rows times tests from which threads pay.
const INLINE_ROWS: f64 = 1e5;

impl<'a> MixedKernel<'a> {
    /// Creates the kernel of a test.
    pub fn new(test: Arc<Mixed<'a>>) -> Self {
        MixedKernel { test }
    }
}

impl Plain for MixedKernel<'_> {
    type Work = Work;

    fn p(&self) -> usize {
        self.test.p()
    }

    fn inline_tests(&self) -> f64 {
        INLINE_ROWS / self.test.n()
    }

    fn questions_at_once(&self) -> usize {
        (1e5 / self.test.n()).clamp(1.0, 256.0) as usize
    }

    fn shard_tests(&self) -> u64 {
        // A shard takes milliseconds.
        (4e6 / self.test.n()).clamp(8.0, 4096.0) as u64
    }

    fn test(&self, x: usize, y: usize, s: &[u32], work: &mut Work, signal: &Signal) -> Option<f64> {
        (!signal.stop_requested()).then(|| self.test.p_value(x, y, s, work))
    }
}

/// Returns the test with the correlations of its numeric variables, in which missing values count as the mean. They make tests of numbers alone
/// quicker. Without memory for them, or with fewer than two such variables, returns the test unchanged: the answers are the same.
///
/// # Errors
/// What `watch` returns; it is called with the share that is done.
pub fn with_sums<'a>(test: Mixed<'a>, pool: &Pool, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Mixed<'a>> {
    let Some(frame) = test.frame() else { return Ok(test) };
    let numbers: Vec<usize> = (0..frame.p()).filter(|&variable| frame.is_number(variable)).collect();
    let q = numbers.len();
    if q < 2 {
        return Ok(test);
    }
    let mut places = vec![Sums::NONE; frame.p()];
    numbers.iter().enumerate().for_each(|(place, &variable)| places[variable] = place as u32);
    let sets = frame.sets();
    let mut all = Vec::with_capacity(sets);
    for set in 0..sets {
        let mut c = match memory::zeros(q * q, Use::Correlations) {
            Ok(c) => c,
            Err(Error::Memory { .. }) => return Ok(test),
            Err(error) => return Err(error),
        };
        let columns = numbers.iter().map(|&variable| Numbers::Doubles(frame.numbers(variable, set))).collect();
        let mut told = |share: f64| watch((set as f64 + share) / sets as f64);
        of_centred(&Centred::as_they_are(columns), pool, &mut c, &mut told)?;
        all.push(match test.holes() {
            Holes::TestWise => Sums::with_holes(c.into(), places.clone(), frame),
            _ => Sums::correlations(c.into(), places.clone()),
        });
    }
    Ok(test.with_sums(all))
}
