//! What a test must offer to run on the CPU engine.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::pool::Stop;
use crate::graph::Adjacency;
use crate::search::level::{Level, Neighbours, PairSide, Verdict};

/// A test in the form that the CPU engine runs.
pub trait Kernel: Sync {
    /// Working memory of one thread, reused from side to side.
    type Scratch: Default + Send;

    /// Number of variables.
    fn p(&self) -> usize;

    /// Writes p of (x, y) given nothing to `column[x]` for the neighbours x < y of y in `pairs`, or anything from 0 to alpha
    /// where p is below alpha. Fails, naming x, where pcalg stops with an error.
    fn marginal(
        &self,
        y: usize,
        pairs: &Adjacency,
        alpha: f64,
        column: &mut [f64],
    ) -> Result<(), (usize, &'static str)>;

    /// Decides the ranks of a side. May return early, with anything, once the signal says so; otherwise the verdict
    /// depends on the side and the data alone.
    fn walk(&self, side: &SideView, scratch: &mut Self::Scratch, signal: &Signal) -> Verdict;

    /// One p-value, NaN where there is none; fails where pcalg stops with an error.
    fn p_value(&self, x: usize, y: usize, s: &[u32]) -> Result<f64, &'static str>;
}

/// A range of ranks of one side, with what the level says about it.
#[derive(Clone, Debug)]
pub struct SideView<'a> {
    /// The side.
    pub side: PairSide,
    /// The frozen neighbourhoods.
    pub neighbours: &'a Neighbours,
    /// Size of the conditioning sets.
    pub size: usize,
    /// Which ranks.
    pub ranks: Range<u64>,
    /// Significance level.
    pub alpha: f64,
    /// Whether a test without an answer separates.
    pub na_delete: bool,
}

impl<'a> SideView<'a> {
    /// The view of some ranks of a side.
    pub fn new(level: &Level<'a>, side: &PairSide, ranks: Range<u64>) -> Self {
        SideView {
            side: *side,
            neighbours: level.neighbours,
            size: level.size,
            ranks,
            alpha: level.alpha,
            na_delete: level.na_delete,
        }
    }

    /// p with pcalg's reading of a test that has no answer.
    #[inline]
    pub fn read(&self, p: f64) -> f64 {
        if p.is_nan() {
            f64::from(u8::from(self.na_delete))
        } else {
            p
        }
    }
}

/// What a kernel looks at between tests, and where it counts.
pub struct Signal<'a> {
    stop: &'a Stop,
    limit: &'a AtomicU64,
    exact: Cell<u64>,
}

impl<'a> Signal<'a> {
    pub(super) fn new(stop: &'a Stop, limit: &'a AtomicU64) -> Self {
        Signal { stop, limit, exact: Cell::new(0) }
    }

    /// Whether ranks from this one on need not be run: another piece of the side has separated the pair before it, or
    /// the run is to end.
    #[inline]
    pub fn leave_at(&self, rank: u64) -> bool {
        self.stop.requested() || rank > self.limit.load(Ordering::Relaxed)
    }

    /// Counts a test decided by the exact formula.
    #[inline]
    pub fn count_exact(&self) {
        self.exact.set(self.exact.get() + 1);
    }

    pub(super) fn exact_tests(&self) -> u64 {
        self.exact.get()
    }
}
