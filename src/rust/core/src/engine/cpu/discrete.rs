//! Tests of discrete variables on the CPU: tables counted for all pairs of a row that share a conditioning set.
//!
//! A p-value costs little beside its table, and still is computed only where it can matter: of the tests that do not
//! separate a pair, only the largest p is asked for, and p falls with the statistic and rises with the degrees of freedom.

use std::sync::OnceLock;

use super::kernel::{Kernel, RowView, SideView, Signal};
use crate::ci::chi_squared::upper_tail;
use crate::ci::discrete::{Bound, Counter, Discrete, Joints, Margins, Table, Way};
use crate::graph::{subsets, Adjacency};
use crate::search::answer::Answer;
use crate::search::level::Verdict;

/// A test of discrete variables in the form that the CPU engine runs.
pub struct DiscreteKernel<'a> {
    test: Discrete<'a>,
    way: Way,
    /// Made when first asked for.
    bound: OnceLock<Option<Bound>>,
}

/// From this many samples times tests on, threads pay.
const INLINE_SAMPLES: f64 = 1e6;

/// Samples times tests in a shard, about.
const SHARD_SAMPLES: f64 = 1e6;

impl<'a> DiscreteKernel<'a> {
    /// The kernel of a test.
    pub fn new(test: Discrete<'a>) -> Self {
        Self::counting(test, Way::Quickest)
    }

    /// The kernel of a test that counts in one way.
    pub fn counting(test: Discrete<'a>, way: Way) -> Self {
        DiscreteKernel { test, way, bound: OnceLock::new() }
    }

    /// Whether p of the test with this table is surely smaller than the largest so far.
    #[inline]
    fn is_below(&self, largest: &Option<Largest>, x: usize, y: usize, s: &[u32], table: &Table) -> bool {
        let Some(known) = largest.filter(|known| known.p <= 0.5) else { return false };
        let Some(bound) = self.bound.get_or_init(|| Bound::new(&self.test)) else { return false };
        bound.of(table).is_some_and(|least| known.is_above(least, self.test.full_df(x, y, s)))
    }

    /// Number of tests in a shard that suits the number of samples, for
    /// [`CpuEngine::with_shards`](super::CpuEngine::with_shards).
    pub fn shard_tests(&self) -> u64 {
        (SHARD_SAMPLES / self.test.data().n() as f64).clamp(64.0, 65_536.0) as u64
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

/// Of the tests so far, none of which separates: one with the largest p.
#[derive(Clone, Copy)]
struct Largest {
    statistic: f64,
    df: f64,
    p: f64,
    rank: u64,
}

/// A lane that is not decided.
struct Lane {
    index: usize,
    place: u32,
    vertex: u32,
    first_rank: u64,
    largest: Option<Largest>,
}

impl Largest {
    /// Whether a test's p is certainly smaller, by more than rounding.
    fn is_above(&self, statistic: f64, df: f64) -> bool {
        self.p <= 0.5 && df <= self.df && statistic >= self.statistic + 1e-6 + 1e-9 * self.statistic
    }
}

/// [`judge`] of a test with too few samples: p is 1, which separates unless alpha is beyond it.
fn judge_too_few(largest: &mut Option<Largest>, alpha: f64, rank: u64) -> Option<f64> {
    judge(largest, 0.0, f64::INFINITY, alpha, rank)
}

/// p of a test that separates; else it is remembered if it is the largest.
#[inline]
fn judge(largest: &mut Option<Largest>, statistic: f64, df: f64, alpha: f64, rank: u64) -> Option<f64> {
    if largest.is_some_and(|known| known.is_above(statistic, df)) {
        return None;
    }
    let p = upper_tail(statistic, df);
    if p >= alpha {
        return Some(p);
    }
    if largest.is_none_or(|known| p > known.p) {
        *largest = Some(Largest { statistic, df, p, rank });
    }
    None
}

impl Kernel for DiscreteKernel<'_> {
    type Scratch = Scratch;

    fn p(&self) -> usize {
        self.test.data().p()
    }

    fn inline_tests(&self) -> f64 {
        INLINE_SAMPLES / self.test.data().n() as f64
    }

    fn marginal(
        &self,
        y: usize,
        pairs: &Adjacency,
        _alpha: f64,
        column: &mut [f64],
        _signal: &Signal,
    ) -> Result<(), (usize, &'static str)> {
        let mut margins = Margins::default();
        let mut others = Vec::new();
        for x in pairs.neighbours(y).take_while(|&x| (x as usize) < y) {
            if self.test.surely_too_few(x as usize, y, &[]) {
                column[x as usize] = 1.0;
            } else {
                others.push(x);
            }
        }
        Counter::new(self.way).count(self.test.data(), y as u32, &[], &others, &mut |at, table| {
            let x = others[at] as usize;
            let summary = self.test.summary(y, x, table, &mut margins);
            column[x] = self.test.outcome(x, y, &[], &summary).p;
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
            largest: None,
        }));
        let mut rank = row.sets.start;
        while rank < row.sets.end && !lanes.is_empty() {
            if signal.stop_requested() {
                return;
            }
            if let Some(found) = row.found {
                // Lanes that a range of sets before this one has decided.
                lanes.retain(|lane| found[lane.index].load(std::sync::atomic::Ordering::Relaxed) >= lane.first_rank);
            }
            set.clear();
            set.extend(positions.iter().map(|&at| list[at as usize]));
            let mut told = |lane: &Lane, p: f64| {
                let verdict =
                    Verdict::Independent { rank: subsets::rank_without(d, positions, lane.place as usize), p };
                out(&Answer { at: lane.index, verdict, set, exact_tests: 0 });
            };
            // Too few samples for the table are known without one.
            counted.clear();
            let mut decided = false;
            for (i, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| !positions.contains(&lane.place)) {
                if !test.surely_too_few(x, lane.vertex as usize, set) {
                    counted.push(i);
                } else if let Some(p) = judge_too_few(&mut lane.largest, row.alpha, rank) {
                    told(lane, p);
                    lane.index = usize::MAX;
                    decided = true;
                }
            }
            others.clear();
            others.extend(counted.iter().map(|&i| lanes[i].vertex));
            joints.count(test.data(), row.row, set, others, &mut |at, table| {
                let lane = &mut lanes[counted[at]];
                if self.is_below(&lane.largest, x, lane.vertex as usize, set, table) {
                    return;
                }
                let summary = test.summary(x, lane.vertex as usize, table, margins);
                let (statistic, df, _) = test.before_p(x, lane.vertex as usize, set, &summary);
                if let Some(p) = judge(&mut lane.largest, statistic, df, row.alpha, rank) {
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
        for lane in lanes.iter() {
            let mut verdict = Verdict::Dependent { rank: lane.first_rank, p: -1.0 };
            if let Some(Largest { p, rank, .. }) = lane.largest {
                subsets::unrank(d, rank, positions);
                verdict = Verdict::Dependent { rank: subsets::rank_without(d, positions, lane.place as usize), p };
            }
            out(&Answer { at: lane.index, verdict, set: &[], exact_tests: 0 });
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
        let mut largest = None;
        for rank in side.ranks.clone() {
            if signal.leave_at(rank) {
                break;
            }
            set.clear();
            set.extend(positions.iter().map(|&at| candidates[at as usize]));
            let mut separates = None;
            if test.surely_too_few(x, y, set) {
                separates = judge_too_few(&mut largest, side.alpha, rank);
            } else {
                joints.count(test.data(), row, set, &[other], &mut |_, table| {
                    if self.is_below(&largest, x, y, set, table) {
                        return;
                    }
                    let summary = test.summary(x, y, table, margins);
                    let (statistic, df, _) = test.before_p(x, y, set, &summary);
                    separates = judge(&mut largest, statistic, df, side.alpha, rank);
                });
            }
            if let Some(p) = separates {
                return Verdict::Independent { rank, p };
            }
            if !subsets::advance(candidates.len(), positions) {
                break;
            }
        }
        match largest {
            Some(Largest { p, rank, .. }) => Verdict::Dependent { rank, p },
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
