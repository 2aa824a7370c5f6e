//! Engines run the tests that a search asks for. They are the only place that schedules.

#[cfg(all(feature = "cuda", not(target_os = "macos")))]
mod batched;
pub mod cpu;
#[cfg(all(feature = "cuda", not(target_os = "macos")))]
pub mod cuda;
pub mod sides;

use crate::ci::{Batch, CiTest};
use crate::graph::{Adjacency, SepSets};
use crate::pool::Pool;
use crate::search::level::Verdict;
use crate::search::{Observer, Options};
use crate::{Error, Result};
use sides::Sides;

/// A machine with a test on it.
///
/// Guarantee: what is returned depends on the arguments and the data alone, never on threads, devices or timing.
/// Engines call the observer from the calling thread and stop within about a tenth of a second when it says so.
pub trait Engine {
    /// Begins a PC-stable search ([`Method::Stable`](crate::search::Method) or `StableFast`), whose graph and answers stay
    /// on the machine until they are asked for. `p_max` is p x p, column by column; the p-value of a pair x < y belongs to
    /// `p_max[y * p + x]`, and nothing in it can be relied on before [`Search::finish`].
    fn begin<'s>(&'s mut self, options: &'s Options, p_max: &'s mut [f64]) -> Result<Box<dyn Search + 's>>;

    /// p-values of arbitrary questions, in their order; NaN where there is none.
    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>>;

    /// The threads that the call may use.
    fn pool(&self) -> &Pool;

    /// The bytes of device memory that the last search planned, by use; empty where a search plans nothing.
    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// This engine as one that decides lists of sides, if it can.
    fn as_side_engine(&mut self) -> Option<&mut dyn SideEngine> {
        None
    }
}

/// A PC-stable search on an engine: the graph as it is, and the levels that change it. Levels are run in order, each
/// once, beginning with [`Search::marginal`].
///
/// The pairs of a level are independent of one another: each is decided on the graph as the level found it. A pair
/// x < y has two sides. The first chooses conditioning sets from the neighbours of x without y, in lexicographic order of
/// ascending candidates. Where no set of it separates, the second chooses from the neighbours of y without x, in the
/// [order](crate::search::level::CandidateOrder) of the method. The first set with p >= alpha is the pair's separating set.
pub trait Search {
    /// Number of edges left.
    fn edge_count(&self) -> usize;

    /// Of the vertices that have a pair to be tested, one with the most neighbours. `None` when no pair is to be tested.
    fn widest(&self) -> Option<Widest>;

    /// Level 0.
    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport>;

    /// Level `size`, at least 1. No side has more than 2^63 - 1 sets (the caller has seen to it, by [`Search::widest`]).
    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport>;

    /// Completes `p_max`, all of its upper triangle: the largest p-value of every pair, and where none was tested the mark
    /// that was put there by [`Options::untested`]. The lower triangle and the diagonal hold the mark.
    fn finish(self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)>;
}

/// A vertex with the most neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widest {
    /// The vertex.
    pub x: usize,
    /// One of the vertices that it has a pair to be tested with.
    pub y: usize,
    /// Its number of neighbours.
    pub degree: usize,
}

/// The counts of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelReport {
    /// Number of tests that pcalg performs.
    pub tests: u64,
    /// Number of tests that the exact formula decided.
    pub exact_tests: u64,
    /// Whether a side was visited that has more candidates than the level's size (pcalg's reason for another level).
    pub go_on: bool,
}

/// An engine that decides any list of sides (what `method = "original"` needs, whose graph changes between visits).
pub trait SideEngine: Engine {
    /// Tests in a shard, about.
    fn shard_tests(&self) -> u64;

    /// Writes the p-value of each pair x < y of the graph, given nothing, to `p_max[y * p + x]`; NaN where there is none.
    /// Where p is below alpha, it may write any number from 0 to alpha instead.
    fn marginal_p(
        &mut self,
        pairs: &Adjacency,
        alpha: f64,
        p_max: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<()>;

    /// Decides every side; `verdicts`, whose memory is reused, gets them in the order of [`Sides::sides`]. Returns how many
    /// tests were decided by the exact formula.
    fn decide(&mut self, work: &Sides, verdicts: &mut Vec<Verdict>, observer: &mut dyn Observer) -> Result<u64>;
}

/// An engine as a test that is asked in batches (the conservative orientation).
pub struct EngineTest<'a> {
    /// Answers the questions.
    pub engine: &'a mut dyn Engine,
    /// Follows the run, and may stop it.
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

/// The error of [`Method::Original`](crate::search::Method) on an engine that cannot run it.
pub(crate) fn no_side_engine() -> Error {
    Error::Argument {
        argument: "device",
        value: "an engine without lists of sides".into(),
        mend: "method = \"original\" depends on the order of visits and runs on the CPU: give device = \"cpu\"".into(),
    }
}
