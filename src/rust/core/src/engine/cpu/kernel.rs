//! What a test must offer to run on the CPU engine.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::CpuEngine;
use crate::graph::subsets;
use crate::pool::Stop;
use crate::search::answer::Answer;
use crate::search::level::{Neighbours, PairSide, Verdict};
use crate::search::shards::Work;
use crate::search::sweep::Sweeper;
use crate::search::worker::Marginals;
use crate::search::Options;

/// A test in the form that the CPU engine runs.
pub trait Kernel: Sync {
    /// Working memory of one thread, reused from side to side.
    type Scratch: Default + Send;

    /// Number of variables.
    fn p(&self) -> usize;

    /// Work below this many tests is done on the calling thread: starting threads would cost more.
    fn inline_tests(&self) -> f64 {
        5_000.0
    }

    /// Questions that one thread answers before it takes more.
    fn questions_at_once(&self) -> usize {
        256
    }

    /// Tests in a shard, about.
    fn shard_tests(&self) -> u64 {
        1 << 16
    }

    /// Writes p of (x, y) given nothing to `column[x]` for the pairs x < y of the level. [`Marginals::alpha`] and [`Marginals::keeps`]
    /// say which other numbers will do. Fails, naming x, where pcalg stops with an error. May return early, with anything, once
    /// the signal says so.
    fn marginal(
        &self,
        level: &Marginals,
        y: usize,
        column: &mut [f64],
        signal: &Signal,
    ) -> Result<(), (usize, &'static str)>;

    /// Decides pairs of one row whose candidates stand in ascending order, and calls `out` with the outcome of each, by its index among
    /// all lanes of the row: [`RowView::first`] and the index into [`RowView::places`]. May return
    /// early, without some outcomes, once the signal says so; otherwise the outcomes depend on the row and the data alone.
    fn row(&self, row: &RowView, scratch: &mut Self::Scratch, signal: &Signal, out: &mut dyn FnMut(&Answer));

    /// Decides all sets of the lanes of some rows whose other vertex lies in a range, row by row as [`Kernel::row`] or in any order;
    /// `out` hears of each with its row.
    fn tile(
        &self,
        work: &Work,
        rows: Range<usize>,
        others: &Range<u32>,
        scratch: &mut Self::Scratch,
        signal: &Signal,
        out: &mut dyn FnMut(u32, &Answer),
    ) {
        rows.for_each(|row| self.tile_row(work, row, others, scratch, signal, out));
    }

    /// One row of a tile, as [`Kernel::row`].
    fn tile_row(
        &self,
        work: &Work,
        row: usize,
        others: &Range<u32>,
        scratch: &mut Self::Scratch,
        signal: &Signal,
        out: &mut dyn FnMut(u32, &Answer),
    ) {
        let lanes = work.lanes_between(row, others);
        if lanes.is_empty() || signal.stop_requested() {
            return;
        }
        self.row(&RowView::new(work, row, lanes), scratch, signal, &mut |answer| out(row as u32, answer));
    }

    /// Decides all sets of some sides, by their index, as [`Kernel::walk`] or several at once; `out` hears of each with the number of
    /// exact tests.
    fn sides(
        &self,
        work: &Work,
        sides: Range<usize>,
        scratch: &mut Self::Scratch,
        stop: &Stop,
        out: &mut dyn FnMut(usize, Verdict, u64),
    ) {
        sides.for_each(|at| self.side(work, at, scratch, stop, out));
    }

    /// One whole side, as [`Kernel::walk`].
    fn side(
        &self,
        work: &Work,
        at: usize,
        scratch: &mut Self::Scratch,
        stop: &Stop,
        out: &mut dyn FnMut(usize, Verdict, u64),
    ) {
        let (signal, side) = (Signal::of(stop), &work.sides[at]);
        let verdict = self.walk(&SideView::new(work, side, 0..side.count), scratch, &signal);
        out(at, verdict, signal.exact_tests());
    }

    /// Decides the ranks of a side. May return early, with anything, once the signal says so; otherwise the verdict
    /// depends on the side and the data alone.
    fn walk(&self, side: &SideView, scratch: &mut Self::Scratch, signal: &Signal) -> Verdict;

    /// An engine of this kernel as one that sweeps, where it does.
    fn sweeper(_engine: &mut CpuEngine<Self>) -> Option<&mut dyn Sweeper>
    where
        Self: Sized,
    {
        None
    }

    /// One p-value, NaN where there is none; fails where pcalg stops with an error. May return early, with anything, once the
    /// signal says so.
    fn p_value(
        &self,
        x: usize,
        y: usize,
        s: &[u32],
        scratch: &mut Self::Scratch,
        signal: &Signal,
    ) -> Result<f64, &'static str>;
}

/// Pairs (row, other) with conditioning sets from the neighbours of `row`: a lane each. One enumeration of the subsets of
/// all neighbours serves all lanes; a lane skips the sets that hold its own vertex, and meets the others in its own order.
#[derive(Clone, Debug)]
pub struct RowView<'a> {
    /// The vertex whose neighbours are chosen from.
    pub row: u32,
    /// By lane: where the other vertex stands in the row's list. Ascending.
    pub places: &'a [u32],
    /// Number of lanes of the row before these.
    pub first: usize,
    /// The frozen neighbourhoods.
    pub neighbours: &'a Neighbours,
    /// Size of the conditioning sets.
    pub size: usize,
    /// Which sets, by their rank among the subsets of the row's whole list.
    pub sets: Range<u64>,
    /// By lane, where other tasks have sets before these: the smallest rank found to separate.
    pub found: Option<&'a [AtomicU64]>,
    /// The search's.
    pub options: &'a Options,
}

impl<'a> RowView<'a> {
    /// All sets of some lanes of a row.
    pub fn new(work: &'a Work, row: usize, lanes: Range<usize>) -> Self {
        RowView {
            row: row as u32,
            first: lanes.start,
            places: &work.lanes.of(row)[lanes],
            neighbours: work.neighbours,
            size: work.size,
            sets: 0..subsets::binomial(work.neighbours.degree(row), work.size).unwrap_or(u64::MAX),
            found: None,
            options: work.options,
        }
    }
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
    /// The search's.
    pub options: &'a Options,
}

impl<'a> SideView<'a> {
    /// The view of some ranks of a side.
    pub fn new(work: &Work<'a>, side: &PairSide, ranks: Range<u64>) -> Self {
        SideView { side: *side, neighbours: work.neighbours, size: work.size, ranks, options: work.options }
    }
}

/// Tells a kernel, between tests, whether to go on; counts its exact tests.
pub struct Signal<'a> {
    stop: &'a Stop,
    limit: &'a AtomicU64,
    exact: Cell<u64>,
}

/// No rank is left out.
static UNLIMITED: AtomicU64 = AtomicU64::new(u64::MAX);

impl<'a> Signal<'a> {
    pub(super) fn new(stop: &'a Stop, limit: &'a AtomicU64) -> Self {
        Signal { stop, limit, exact: Cell::new(0) }
    }

    /// Whether the run is to end.
    #[inline]
    pub fn stop_requested(&self) -> bool {
        self.stop.requested()
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

    /// A signal without a limit.
    pub(super) fn of(stop: &'a Stop) -> Self {
        Signal::new(stop, &UNLIMITED)
    }

    /// A signal of its own count, and of the limit of one lane.
    pub(super) fn for_lane(&self, limit: Option<&'a AtomicU64>) -> Signal<'a> {
        Signal { stop: self.stop, limit: limit.unwrap_or(&UNLIMITED), exact: Cell::new(0) }
    }

    pub(super) fn exact_tests(&self) -> u64 {
        self.exact.get()
    }
}
