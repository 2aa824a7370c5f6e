//! Engines run the work that the search lays out. They are the only place that schedules.

pub mod cpu;

use crate::ci::{Batch, CiTest};
use crate::graph::Adjacency;
use crate::search::level::{Level, PairSide, Verdict};
use crate::search::Observer;
use crate::Result;

/// In what portions an engine wants its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Sides that are laid out, run and entered at once: enough to keep the machine busy, few enough to be held.
    pub wave_sides: usize,
    /// Tests in a shard, about: enough to make handing it out cheap, few enough to balance and to stop quickly.
    pub shard_tests: u64,
}

/// A machine with a test on it.
///
/// Guarantee: what is returned depends on the arguments and the data alone, never on threads, devices or timing.
/// Engines call the observer from the calling thread and stop within about a tenth of a second when it says so.
pub trait Engine {
    /// In what portions to bring the work.
    fn layout(&self) -> Layout;

    /// Puts the sides of a wave, which stand by row, into the order in which this machine likes to run them.
    fn arrange(&mut self, _sides: &mut [PairSide]) {}

    /// Writes the p-value of each pair x < y of the graph, given nothing, to `p_max[y * p + x]`; NaN where there is none.
    /// Where p is below alpha, it may write any number from 0 to alpha instead.
    fn marginal(&mut self, pairs: &Adjacency, alpha: f64, p_max: &mut [f64], observer: &mut dyn Observer)
        -> Result<()>;

    /// Decides every side of a level; `verdicts`, whose memory is reused, gets them in the order of [`Level::sides`].
    fn run(&mut self, level: &Level, verdicts: &mut Vec<Verdict>, observer: &mut dyn Observer) -> Result<()>;

    /// p-values of arbitrary questions, in their order; NaN where there is none.
    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>>;

    /// How many tests were decided by the exact formula since the last call.
    fn take_exact_tests(&mut self) -> u64;
}

/// An engine as a test that is asked in batches (the conservative orientation).
pub struct EngineTest<'a> {
    /// Runs the questions.
    pub engine: &'a mut dyn Engine,
    /// Is told, and may stop.
    pub observer: &'a mut dyn Observer,
}

impl CiTest for EngineTest<'_> {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        let mut batch = Batch::new();
        batch.push(x, y, s);
        Ok(self.p_values(&batch)?[0])
    }

    fn p_values(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        self.engine.p_values(batch, self.observer)
    }

    fn batch_size(&self) -> usize {
        1 << 14
    }
}
