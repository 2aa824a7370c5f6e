//! Kernel tests on the CPU. Threads share what tests given one set have in common.

use super::kernel::Signal;
use super::plain::Plain;
use crate::ci::features::{KernelTest, Shared, Work};

/// A kernel test in the form that the CPU engine runs.
pub struct FeaturesKernel<'a> {
    test: &'a KernelTest,
    shared: Shared,
}

/// The number of rows times tests from which threads pay.
const INLINE_ROWS: f64 = 1e3;

impl<'a> FeaturesKernel<'a> {
    /// Creates the kernel of a test.
    pub fn new(test: &'a KernelTest) -> Self {
        FeaturesKernel { test, shared: Shared::default() }
    }
}

impl Plain for FeaturesKernel<'_> {
    type Work = Work;

    fn p(&self) -> usize {
        self.test.p()
    }

    fn inline_tests(&self) -> f64 {
        INLINE_ROWS / self.test.effort()
    }

    fn questions_at_once(&self) -> usize {
        1
    }

    fn shard_tests(&self) -> u64 {
        // A shard takes milliseconds.
        (1e5 / self.test.effort()).clamp(1.0, 1024.0) as u64
    }

    fn test(&self, x: usize, y: usize, s: &[u32], work: &mut Work, signal: &Signal) -> Option<f64> {
        let stop = || signal.stop_requested();
        (!stop()).then(|| self.test.p_value((x, y, s), &self.shared, work, &stop))
    }
}
