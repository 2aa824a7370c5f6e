//! Tests of discrete variables on the CPU: tables are counted for all pairs of a row that share a conditioning set.
//!
//! A p-value costs little compared with its table, and still is computed only if it can matter. Of the tests that do not separate a pair, only
//! the largest p is needed. p falls with the statistic and rises with the degrees of freedom.

use std::sync::OnceLock;

use super::kernel::{Kernel, RowView, SideView, Signal};
use crate::ci::chi_squared::{ln_upper_tail, upper_tail};
use crate::ci::discrete::{Bound, Counter, Discrete, Joints, Margins, Shared, Table, Way};
use crate::graph::subsets;
use crate::memory::{self, Use};
use crate::search::answer::Answer;
use crate::search::level::Verdict;
use crate::search::worker::Marginals;

/// A test of discrete variables in the form that the CPU engine runs.
pub struct DiscreteKernel<'a> {
    test: Discrete<'a>,
    way: Way,
    /// Tables that threads and levels share.
    shared: Shared,
    /// The bounds of statistics, made at first use.
    bound: OnceLock<Option<Bound>>,
}

/// The number of samples times tests from which threads pay.
const INLINE_SAMPLES: f64 = 1e6;

/// The approximate number of samples times tests in a shard.
const SHARD_SAMPLES: f64 = 1e6;

impl<'a> DiscreteKernel<'a> {
    /// Creates the kernel of a test.
    pub fn new(test: Discrete<'a>) -> Self {
        Self::counting(test, Way::Quickest)
    }

    /// Creates the kernel of a test that counts in one way.
    pub fn counting(test: Discrete<'a>, way: Way) -> Self {
        DiscreteKernel { test, way, shared: Shared::default(), bound: OnceLock::new() }
    }

    /// Returns the least and the largest value that the statistic may have, in a fraction of its time; `None` if no bounds are known.
    #[inline]
    fn bounds(&self, table: &Table) -> Option<(f64, f64)> {
        self.bound.get_or_init(|| Bound::new(&self.test)).as_ref()?.of(table)
    }
}

/// Working memory of one thread.
#[derive(Default)]
pub struct Scratch {
    joints: Option<Joints>,
    margins: Margins,
    candidates: Vec<u32>,
    positions: Vec<u32>,
    set: Vec<u32>,
    lanes: Vec<Lane>,
    counted: Vec<usize>,
    others: Vec<u32>,
}

/// An undecided lane.
struct Lane {
    index: usize,
    place: u32,
    vertex: u32,
    first_rank: u64,
    largest: Largest,
}

/// A test with the largest p among the tests of a pair so far, none of which separates.
#[derive(Default)]
struct Largest {
    test: Option<Known>,
    /// The table of the test, from which p is computed if it is needed. Most pairs have many tests and need one p.
    counts: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Known {
    /// The bounds of the statistic.
    least: f64,
    most: f64,
    df: f64,
    ln_p: LnP,
    p: Option<f64>,
    rank: u64,
}

/// The number of samples from which level 0 uses bounds. With fewer, the few tests that bounds spare take less time than the bounds' logarithms.
const BOUNDED_FROM: usize = 4096;

/// Maximal number of cells in a table that is kept.
const MOST_CELLS: usize = 1 << 10;

/// Returns a statistic that exceeds this one by more than rounding can explain, in it or in its p.
fn clearly(statistic: f64) -> f64 {
    statistic + 1e-6 + 1e-9 * statistic
}

/// The bounds of ln p; NaN if nothing is known of it.
#[derive(Clone, Copy)]
struct LnP(f64, f64);

/// ln p below which the digits of p run out, and below which p is 0.
const LN_FEW_DIGITS: f64 = -680.0;
const LN_ZERO: f64 = -760.0;

impl LnP {
    fn new(least: f64, most: f64, df: f64) -> Self {
        // ln p falls by less than the statistic rises.
        ln_upper_tail(least, df).map_or(LnP(f64::NAN, f64::NAN), |(low, high)| LnP(low - (most - least), high))
    }

    /// Returns whether p is certainly below alpha, and far from 1.
    fn is_below(self, alpha: f64) -> bool {
        self.1 < alpha.min(0.5).ln() - 1e-6
    }

    /// Returns whether p is certainly larger than the other p, by more than rounding, or the other p is 0.
    fn is_above(self, other: LnP) -> bool {
        other.1 < LN_ZERO || (other.1 + 1e-6 < self.0 && self.0 > LN_FEW_DIGITS)
    }
}

impl Known {
    /// Returns whether the p of another test is certainly no larger.
    #[inline]
    fn is_above(&self, least: f64, df: f64) -> bool {
        self.p.is_none_or(|p| p <= 0.5) && df <= self.df && least >= clearly(self.most)
    }

    /// Returns whether the p of another test is certainly larger.
    #[inline]
    fn is_below(&self, most: f64, df: f64, ln_p: LnP) -> bool {
        (df >= self.df && clearly(most) <= self.least) || (ln_p.0 > LN_FEW_DIGITS && ln_p.is_above(self.ln_p))
    }
}

impl Largest {
    /// Returns p of a test that separates. Otherwise returns `None`, and remembers the test if its p is the largest.
    #[inline]
    fn judge(&mut self, statistic: f64, df: f64, alpha: f64, rank: u64) -> Option<f64> {
        if self.test.is_some_and(|known| known.is_above(statistic, df)) {
            return None;
        }
        let p = upper_tail(statistic, df);
        if p >= alpha {
            return Some(p);
        }
        if self.test.is_none_or(|known| known.p.is_none_or(|largest| p > largest)) {
            let ln_p = LnP::new(statistic, statistic, df);
            self.test = Some(Known { least: statistic, most: statistic, df, ln_p, p: Some(p), rank });
        }
        None
    }

    /// Judges a test with too few samples, as [`Largest::judge`]: p is 1, which separates unless alpha is larger.
    fn judge_too_few(&mut self, alpha: f64, rank: u64) -> Option<f64> {
        self.judge(0.0, f64::INFINITY, alpha, rank)
    }

    /// Judges a test by its table, as [`Largest::judge`]. Computes only what bounds leave open.
    fn judge_table(
        &mut self,
        kernel: &DiscreteKernel,
        [x, y]: [usize; 2],
        s: &[u32],
        table: &Table,
        (alpha, rank): (f64, u64),
        margins: &mut Margins,
    ) -> Option<f64> {
        let test = &kernel.test;
        if let (Some((least, most)), Table::Dense { counts, .. }) = (kernel.bounds(table), *table) {
            let df = test.full_df(x, y, s);
            if self.test.is_some_and(|known| known.is_above(least, df)) {
                return None;
            }
            let ln_p = LnP::new(least, most, df);
            if self.test.is_some_and(|known| known.ln_p.is_above(ln_p)) {
                return None;
            }
            if self.test.is_none_or(|known| known.is_below(most, df, ln_p))
                && counts.len() <= MOST_CELLS
                && ln_p.is_below(alpha)
                && memory::prepare(&mut self.counts, counts.len(), Use::Tables)
            {
                self.counts.clear();
                self.counts.extend_from_slice(counts);
                self.test = Some(Known { least, most, df, ln_p, p: None, rank });
                return None;
            }
        }
        self.settle(kernel, [x, y], margins);
        let summary = test.summary(x, y, table, margins);
        let (statistic, df, _) = test.before_p(x, y, s, &summary);
        self.judge(statistic, df, alpha, rank)
    }

    /// Returns the largest p and the rank of its test, or `None` if there is no test.
    fn settle(&mut self, kernel: &DiscreteKernel, [x, y]: [usize; 2], margins: &mut Margins) -> Option<(f64, u64)> {
        let known = self.test.as_mut()?;
        if known.p.is_none() {
            let (lx, ly) = (kernel.test.data().levels(x), kernel.test.data().levels(y));
            let table = Table::Dense { counts: &self.counts, lx, ly };
            // A test that has bounds has the declared degrees of freedom and samples.
            let statistic = kernel.test.summary(x, y, &table, margins).statistic;
            *known = Known { least: statistic, most: statistic, p: Some(upper_tail(statistic, known.df)), ..*known };
        }
        known.p.map(|p| (p, known.rank))
    }
}

impl Kernel for DiscreteKernel<'_> {
    type Scratch = Scratch;

    fn p(&self) -> usize {
        self.test.data().p()
    }

    fn inline_tests(&self) -> f64 {
        INLINE_SAMPLES / self.test.data().n() as f64
    }

    fn shard_tests(&self) -> u64 {
        (SHARD_SAMPLES / self.test.data().n() as f64).clamp(64.0, 65_536.0) as u64
    }

    fn marginal(
        &self,
        level: &Marginals,
        y: usize,
        column: &mut [f64],
        _signal: &Signal,
    ) -> Result<(), (usize, &'static str)> {
        let alpha = level.alpha();
        let mut margins = Margins::default();
        let mut others = Vec::new();
        for x in level.pairs().neighbours(y).take_while(|&x| (x as usize) < y) {
            if self.test.surely_too_few(x as usize, y, &[]) {
                column[x as usize] = 1.0;
            } else {
                others.push(x);
            }
        }
        let mut joints = Joints::new(self.way);
        Counter::new(self.way).count(self.test.data(), y as u32, &[], &others, &mut |at, table| {
            let x = others[at] as usize;
            let bounds = if self.test.data().n() < BOUNDED_FROM { None } else { self.bounds(table) };
            let is_small = |(least, most)| LnP::new(least, most, self.test.full_df(x, y, &[])).is_below(alpha);
            column[x] = if bounds.is_some_and(is_small) {
                0.0
            } else {
                let summary = self.test.summary(y, x, table, &mut margins);
                self.test.outcome(x, y, &[], &summary).p
            };
            if column[x] < alpha {
                joints.keep_pair(self.test.data(), &self.shared, y as u32, x as u32, table);
            }
        });
        Ok(())
    }

    fn row(&self, row: &RowView, scratch: &mut Scratch, signal: &Signal, out: &mut dyn FnMut(&Answer)) {
        let Scratch { joints, margins, positions, set, lanes, counted, others, .. } = scratch;
        let joints = joints.get_or_insert_with(|| Joints::new(self.way));
        let (test, x) = (&self.test, row.row as usize);
        let list = row.neighbours.list(x);
        let d = list.len();
        positions.clear();
        positions.resize(row.size, 0);
        subsets::unrank(d, row.sets.start, positions);
        lanes.clear();
        lanes.extend(row.places.iter().enumerate().map(|(index, &place)| Lane {
            index,
            place,
            vertex: list[place as usize],
            first_rank: if row.sets.start == 0 { 0 } else { subsets::rank_without(d, positions, place as usize) },
            largest: Largest::default(),
        }));
        let mut rank = row.sets.start;
        while rank < row.sets.end && !lanes.is_empty() {
            if signal.stop_requested() {
                return;
            }
            if let Some(found) = row.found {
                // Drop the lanes that another task has decided with earlier sets.
                lanes.retain(|lane| found[lane.index].load(std::sync::atomic::Ordering::Relaxed) >= lane.first_rank);
            }
            set.clear();
            set.extend(positions.iter().map(|&at| list[at as usize]));
            let mut told = |lane: &Lane, p: f64| {
                let verdict =
                    Verdict::Independent { rank: subsets::rank_without(d, positions, lane.place as usize), p };
                out(&Answer { at: row.first + lane.index, verdict, set, exact_tests: 0 });
            };
            // Tests with too few samples need no table.
            counted.clear();
            let mut decided = false;
            for (i, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| !positions.contains(&lane.place)) {
                if !test.surely_too_few(x, lane.vertex as usize, set) {
                    counted.push(i);
                } else if let Some(p) = lane.largest.judge_too_few(row.options.alpha, rank) {
                    told(lane, p);
                    lane.index = usize::MAX;
                    decided = true;
                }
            }
            others.clear();
            others.extend(counted.iter().map(|&i| lanes[i].vertex));
            joints.count(test.data(), &self.shared, row.row, set, others, &mut |at, table| {
                let lane = &mut lanes[counted[at]];
                let pair = [x, lane.vertex as usize];
                if let Some(p) = lane.largest.judge_table(self, pair, set, table, (row.options.alpha, rank), margins) {
                    told(lane, p);
                    lane.index = usize::MAX;
                    decided = true;
                }
            });
            if decided {
                lanes.retain(|lane| lane.index != usize::MAX);
            }
            rank += 1;
            if !subsets::advance(d, positions) {
                break;
            }
        }
        for lane in lanes.iter_mut() {
            let mut verdict = Verdict::Dependent { rank: lane.first_rank, p: -1.0 };
            if let Some((p, rank)) = lane.largest.settle(self, [x, lane.vertex as usize], margins) {
                subsets::unrank(d, rank, positions);
                verdict = Verdict::Dependent { rank: subsets::rank_without(d, positions, lane.place as usize), p };
            }
            out(&Answer { at: row.first + lane.index, verdict, set: &[], exact_tests: 0 });
        }
    }

    fn walk(&self, side: &SideView, scratch: &mut Scratch, signal: &Signal) -> Verdict {
        let Scratch { joints, margins, candidates, positions, set, .. } = scratch;
        let joints = joints.get_or_insert_with(|| Joints::new(self.way));
        let (test, row, other) = (&self.test, side.side.row, side.side.other);
        let (x, y) = (row as usize, other as usize);
        side.side.candidates(side.neighbours, candidates);
        positions.clear();
        positions.resize(side.size, 0);
        subsets::unrank(candidates.len(), side.ranks.start, positions);
        let mut largest = Largest::default();
        for rank in side.ranks.clone() {
            if signal.leave_at(rank) {
                break;
            }
            set.clear();
            set.extend(positions.iter().map(|&at| candidates[at as usize]));
            let mut separates = None;
            if test.surely_too_few(x, y, set) {
                separates = largest.judge_too_few(side.options.alpha, rank);
            } else {
                joints.count(test.data(), &self.shared, row, set, &[other], &mut |_, table| {
                    separates = largest.judge_table(self, [x, y], set, table, (side.options.alpha, rank), margins);
                });
            }
            if let Some(p) = separates {
                return Verdict::Independent { rank, p };
            }
            if !subsets::advance(candidates.len(), positions) {
                break;
            }
        }
        match largest.settle(self, [x, y], margins) {
            Some((p, rank)) => Verdict::Dependent { rank, p },
            None => Verdict::Dependent { rank: side.ranks.start, p: -1.0 },
        }
    }

    fn p_value(
        &self,
        x: usize,
        y: usize,
        s: &[u32],
        _scratch: &mut Self::Scratch,
        _signal: &Signal,
    ) -> Result<f64, &'static str> {
        if self.test.surely_too_few(x, y, s) {
            return Ok(1.0);
        }
        let mut counter = Counter::new(self.way);
        Ok(self.test.test_with(x, y, s, &mut counter, &mut Margins::default()).p)
    }
}
