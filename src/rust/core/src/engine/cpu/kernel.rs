//! The interface that a test implements to run on the CPU engine.

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

    /// Returns the number of variables.
    fn p(&self) -> usize;

    /// Returns the number of tests below which work runs on the calling thread, because starting threads would cost more.
    fn inline_tests(&self) -> f64 {
        5_000.0
    }

    /// Returns the number of questions that one thread answers before it takes more.
    fn questions_at_once(&self) -> usize {
        256
    }

    /// Returns the approximate number of tests in a shard.
    fn shard_tests(&self) -> u64 {
        1 << 16
    }

    /// Writes p of (x, y) given the empty set to `column[x]` for each pair x < y of the level. [`Marginals::alpha`] and [`Marginals::keeps`] say
    /// which other numbers are allowed instead. Fails with x and the reason if pcalg stops with an error. Once the signal requests it, may
    /// return early with any values.
    fn marginal(
        &self,
        level: &Marginals,
        y: usize,
        column: &mut [f64],
        signal: &Signal,
    ) -> Result<(), (usize, &'static str)>;

    /// Decides pairs of one row whose candidates are in ascending order. Calls `out` with the outcome of each pair under its index among all
    /// lanes of the row: [`RowView::first`] plus the index into [`RowView::places`]. Once the signal requests it, may return early without some
    /// outcomes; otherwise the outcomes depend only on the row and the data.
    fn row(&self, row: &RowView, scratch: &mut Self::Scratch, signal: &Signal, out: &mut dyn FnMut(&Answer));

    /// Decides all sets of the lanes of some rows whose other vertex lies in a range, row by row as [`Kernel::row`] or in any order. Calls `out`
    /// with each row and outcome.
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

    /// Decides one row of a tile, as [`Kernel::row`].
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

    /// Decides all sets of some sides, one by one as [`Kernel::walk`] or several at once. Calls `out` with the index, the verdict and the number
    /// of exact tests of each side.
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

    /// Decides one whole side, as [`Kernel::walk`].
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

    /// Decides the ranks of a side. Once the signal requests it, may return early with any verdict; otherwise the verdict depends only on the
    /// side and the data.
    fn walk(&self, side: &SideView, scratch: &mut Self::Scratch, signal: &Signal) -> Verdict;

    /// Returns an engine of this kernel as a sweeper, or `None` if the kernel does not sweep.
    fn sweeper(_engine: &mut CpuEngine<Self>) -> Option<&mut dyn Sweeper>
    where
        Self: Sized,
    {
        None
    }

    /// Returns one p-value, NaN if there is none. Fails if pcalg stops with an error. Once the signal requests it, may return early with any
    /// value.
    fn p_value(
        &self,
        x: usize,
        y: usize,
        s: &[u32],
        scratch: &mut Self::Scratch,
        signal: &Signal,
    ) -> Result<f64, &'static str>;
}

/// Pairs (row, other) with conditioning sets from the neighbours of `row`; each pair is a lane. One enumeration of the subsets of all neighbours
/// serves all lanes. A lane skips the sets that contain its own vertex, and meets the others in its own order.
#[derive(Clone, Debug)]
pub struct RowView<'a> {
    /// The vertex whose neighbours the sets are chosen from.
    pub row: u32,
    /// The place of each lane's other vertex in the row's list, ascending.
    pub places: &'a [u32],
    /// Number of lanes of the row before these.
    pub first: usize,
    /// The frozen neighbourhoods.
    pub neighbours: &'a Neighbours,
    /// Size of the conditioning sets.
    pub size: usize,
    /// The sets, by rank among the subsets of the row's whole list.
    pub sets: Range<u64>,
    /// For each lane, the smallest rank found to separate, if other tasks have earlier sets.
    pub found: Option<&'a [AtomicU64]>,
    /// The options of the search.
    pub options: &'a Options,
}

impl<'a> RowView<'a> {
    /// Creates a view of all sets of some lanes of a row.
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

/// A range of ranks of one side, with the level's neighbourhoods and options.
#[derive(Clone, Debug)]
pub struct SideView<'a> {
    /// The side.
    pub side: PairSide,
    /// The frozen neighbourhoods.
    pub neighbours: &'a Neighbours,
    /// Size of the conditioning sets.
    pub size: usize,
    /// The ranks.
    pub ranks: Range<u64>,
    /// The options of the search.
    pub options: &'a Options,
}

impl<'a> SideView<'a> {
    /// Creates a view of some ranks of a side.
    pub fn new(work: &Work<'a>, side: &PairSide, ranks: Range<u64>) -> Self {
        SideView { side: *side, neighbours: work.neighbours, size: work.size, ranks, options: work.options }
    }
}

/// The signal by which a kernel learns, between tests, whether to continue. It counts the kernel's exact tests.
pub struct Signal<'a> {
    stop: &'a Stop,
    limit: &'a AtomicU64,
    exact: Cell<u64>,
}

/// The limit of a signal that skips no rank.
static UNLIMITED: AtomicU64 = AtomicU64::new(u64::MAX);

impl<'a> Signal<'a> {
    pub(super) fn new(stop: &'a Stop, limit: &'a AtomicU64) -> Self {
        Signal { stop, limit, exact: Cell::new(0) }
    }

    /// Returns whether the run should end.
    #[inline]
    pub fn stop_requested(&self) -> bool {
        self.stop.requested()
    }

    /// Returns whether ranks from this one on may be skipped: another piece of the side has separated the pair at a smaller rank, or the run
    /// should end.
    #[inline]
    pub fn leave_at(&self, rank: u64) -> bool {
        self.stop.requested() || rank > self.limit.load(Ordering::Relaxed)
    }

    /// Counts a test decided by the exact formula.
    #[inline]
    pub fn count_exact(&self) {
        self.exact.set(self.exact.get() + 1);
    }

    /// Creates a signal without a limit.
    pub(super) fn of(stop: &'a Stop) -> Self {
        Signal::new(stop, &UNLIMITED)
    }

    /// Creates a signal with its own count, and with the limit of one lane.
    pub(super) fn for_lane(&self, limit: Option<&'a AtomicU64>) -> Signal<'a> {
        Signal { stop: self.stop, limit: limit.unwrap_or(&UNLIMITED), exact: Cell::new(0) }
    }

    pub(super) fn exact_tests(&self) -> u64 {
        self.exact.get()
    }
}
