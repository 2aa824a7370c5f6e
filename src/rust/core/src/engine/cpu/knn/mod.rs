//! The nearest-neighbour test on the CPU.
//!
//! * `cell`: distances. `wide`: many at once. `loops`: the loops over them.
//! * `given`: what tests with one conditioning set share.
//! * `sums`: the estimates of a test's permutations.
//! * `work`: a test on one thread.
//! * `single`: one test on all threads.

mod cell;
mod given;
mod loops;
mod single;
mod sums;
mod wide;
mod work;

use super::kernel::{Kernel, RowView, SideView, Signal};
use crate::ci::knn::{Knn, Values};
use crate::graph::{subsets, Adjacency};
use crate::search::answer::Answer;
use crate::search::level::Verdict;
use cell::Cell;
use given::Table;
use work::Work;

/// The nearest-neighbour test in the form that the CPU engine runs.
pub struct KnnKernel<'a> {
    knn: &'a Knn,
    /// By column: the samples in ascending order of their values.
    orders: Vec<u32>,
}

/// From this many pairs of samples times permutations on, threads pay.
const INLINE_PAIRS: f64 = 1e7;

impl<'a> KnnKernel<'a> {
    /// The kernel of a test.
    pub fn new(knn: &'a Knn) -> Self {
        let n = knn.columns().n();
        let orders = match knn.columns().values() {
            Values::Whole(values) => orders(values, n),
            Values::Real(values) => orders(values, n),
        };
        KnnKernel { knn, orders }
    }

    /// Number of tests in a shard, for [`CpuEngine::with_shards`](super::CpuEngine::with_shards): a test takes milliseconds.
    pub fn shard_tests(&self) -> u64 {
        8
    }

    fn table<'b, C: Cell>(&'b self, values: &'b [C]) -> Table<'b, C> {
        let columns = self.knn.columns();
        Table {
            n: columns.n(),
            values,
            discrete: columns.discrete(),
            mismatch: C::floor_of(columns.mismatch()),
            orders: &self.orders,
        }
    }

    /// p of (x, y) given S; `None` where the run is to end.
    fn p(&self, x: usize, y: usize, s: &[u32], scratch: &mut Scratch, signal: &Signal) -> Option<f64> {
        let stop = || signal.stop_requested();
        match self.knn.columns().values() {
            Values::Whole(values) => scratch.whole.p(&self.table(values), self.knn, x, y, s, stop),
            Values::Real(values) => scratch.real.p(&self.table(values), self.knn, x, y, s, stop),
        }
    }
}

fn orders<C: Cell>(values: &[C], n: usize) -> Vec<u32> {
    let mut orders = Vec::with_capacity(values.len());
    for column in values.chunks_exact(n) {
        let from = orders.len();
        orders.extend(0..n as u32);
        orders[from..].sort_by(|&a, &b| C::by_size(&column[a as usize], &column[b as usize]));
    }
    orders
}

/// Working memory of one thread.
#[derive(Default)]
pub struct Scratch {
    whole: Work<u16>,
    real: Work<f64>,
    candidates: Vec<u32>,
    positions: Vec<u32>,
    set: Vec<u32>,
    lanes: Vec<Lane>,
}

/// A lane that is not decided.
struct Lane {
    index: usize,
    place: u32,
    vertex: u32,
    first_rank: u64,
    /// The largest p so far, and where.
    largest: Option<(f64, u64)>,
}

impl Kernel for KnnKernel<'_> {
    type Scratch = Scratch;

    fn p(&self) -> usize {
        self.knn.columns().p()
    }

    fn inline_tests(&self) -> f64 {
        let n = self.knn.columns().n() as f64;
        INLINE_PAIRS / (n * n * self.knn.decision().permutations() as f64)
    }

    fn questions_at_once(&self) -> usize {
        1
    }

    fn marginal(
        &self,
        y: usize,
        pairs: &Adjacency,
        _alpha: f64,
        column: &mut [f64],
        signal: &Signal,
    ) -> Result<(), (usize, &'static str)> {
        let mut scratch = Scratch::default();
        for x in pairs.neighbours(y).take_while(|&x| (x as usize) < y) {
            let Some(p) = KnnKernel::p(self, x as usize, y, &[], &mut scratch, signal) else { break };
            column[x as usize] = p;
        }
        Ok(())
    }

    fn row(&self, row: &RowView, scratch: &mut Scratch, signal: &Signal, out: &mut dyn FnMut(&Answer)) {
        let x = row.row as usize;
        let list = row.neighbours.list(x);
        let d = list.len();
        let mut positions = std::mem::take(&mut scratch.positions);
        let mut set = std::mem::take(&mut scratch.set);
        let mut lanes = std::mem::take(&mut scratch.lanes);
        positions.clear();
        positions.resize(row.size, 0);
        subsets::unrank(d, row.sets.start, &mut positions);
        lanes.clear();
        lanes.extend(row.places.iter().enumerate().map(|(index, &place)| Lane {
            index,
            place,
            vertex: list[place as usize],
            first_rank: if row.sets.start == 0 { 0 } else { subsets::rank_without(d, &positions, place as usize) },
            largest: None,
        }));
        let mut rank = row.sets.start;
        while rank < row.sets.end && !lanes.is_empty() {
            if let Some(found) = row.found {
                // Lanes that a range of sets before this one has decided.
                lanes.retain(|lane| found[lane.index].load(std::sync::atomic::Ordering::Relaxed) >= lane.first_rank);
            }
            set.clear();
            set.extend(positions.iter().map(|&at| list[at as usize]));
            let mut ended = false;
            lanes.retain_mut(|lane| {
                if ended || positions.contains(&lane.place) {
                    return true;
                }
                let Some(p) = KnnKernel::p(self, x, lane.vertex as usize, &set, scratch, signal) else {
                    ended = true;
                    return true;
                };
                let separates = p >= row.alpha;
                if separates {
                    let rank = subsets::rank_without(d, &positions, lane.place as usize);
                    let verdict = Verdict::Independent { rank, p };
                    out(&Answer { at: row.first + lane.index, verdict, set: &set, exact_tests: 0 });
                } else if lane.largest.is_none_or(|(largest, _)| p > largest) {
                    lane.largest = Some((p, rank));
                }
                !separates
            });
            if ended {
                return;
            }
            rank += 1;
            if !subsets::advance(d, &mut positions) {
                break;
            }
        }
        for lane in &lanes {
            let mut verdict = Verdict::Dependent { rank: lane.first_rank, p: -1.0 };
            if let Some((p, rank)) = lane.largest {
                subsets::unrank(d, rank, &mut positions);
                verdict = Verdict::Dependent { rank: subsets::rank_without(d, &positions, lane.place as usize), p };
            }
            out(&Answer { at: row.first + lane.index, verdict, set: &[], exact_tests: 0 });
        }
        (scratch.positions, scratch.set, scratch.lanes) = (positions, set, lanes);
    }

    fn walk(&self, side: &SideView, scratch: &mut Scratch, signal: &Signal) -> Verdict {
        let (x, y) = (side.side.row as usize, side.side.other as usize);
        let mut candidates = std::mem::take(&mut scratch.candidates);
        let mut positions = std::mem::take(&mut scratch.positions);
        let mut set = std::mem::take(&mut scratch.set);
        side.side.candidates(side.neighbours, &mut candidates);
        positions.clear();
        positions.resize(side.size, 0);
        subsets::unrank(candidates.len(), side.ranks.start, &mut positions);
        let mut verdict = Verdict::Dependent { rank: side.ranks.start, p: -1.0 };
        for rank in side.ranks.clone() {
            if signal.leave_at(rank) {
                break;
            }
            set.clear();
            set.extend(positions.iter().map(|&at| candidates[at as usize]));
            let Some(p) = KnnKernel::p(self, x, y, &set, scratch, signal) else { break };
            if p >= side.alpha {
                verdict = Verdict::Independent { rank, p };
                break;
            }
            verdict = verdict.merge(Verdict::Dependent { rank, p });
            if !subsets::advance(candidates.len(), &mut positions) {
                break;
            }
        }
        (scratch.candidates, scratch.positions, scratch.set) = (candidates, positions, set);
        verdict
    }

    fn p_value(
        &self,
        x: usize,
        y: usize,
        s: &[u32],
        scratch: &mut Scratch,
        signal: &Signal,
    ) -> Result<f64, &'static str> {
        Ok(KnnKernel::p(self, x, y, s, scratch, signal).unwrap_or(f64::NAN))
    }
}
