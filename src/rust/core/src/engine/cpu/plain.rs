//! Tests whose questions share only the data: the first set that separates is searched for one question after another.

use super::kernel::{Kernel, RowView, SideView, Signal};
use crate::graph::subsets;
use crate::search::answer::Answer;
use crate::search::level::Verdict;
use crate::search::worker::Marginals;

/// A test whose questions share only the data.
pub trait Plain: Sync {
    /// Working memory of one thread. It may keep results shared by tests with the same conditioning set, because these follow each other.
    type Work: Default + Send;

    /// Returns the number of variables.
    fn p(&self) -> usize;

    /// Returns the number of tests below which work runs on the calling thread.
    fn inline_tests(&self) -> f64;

    /// Returns the number of questions that one thread answers before it takes more.
    fn questions_at_once(&self) -> usize;

    /// Returns the approximate number of tests in a shard.
    fn shard_tests(&self) -> u64;

    /// Returns p of (x, y) given S, NaN if there is none; or `None` if the signal requests an end of the run.
    fn test(&self, x: usize, y: usize, s: &[u32], work: &mut Self::Work, signal: &Signal) -> Option<f64>;
}

/// Working memory of one thread.
#[derive(Default)]
pub struct Scratch<W> {
    work: W,
    candidates: Vec<u32>,
    positions: Vec<u32>,
    set: Vec<u32>,
    lanes: Vec<Lane>,
}

/// An undecided lane.
struct Lane {
    index: usize,
    place: u32,
    vertex: u32,
    first_rank: u64,
    /// The largest p so far, and its set's rank in the row's list.
    largest: Option<(f64, u64)>,
}

impl<T: Plain> Kernel for T {
    type Scratch = Scratch<T::Work>;

    fn p(&self) -> usize {
        Plain::p(self)
    }

    fn inline_tests(&self) -> f64 {
        Plain::inline_tests(self)
    }

    fn questions_at_once(&self) -> usize {
        Plain::questions_at_once(self)
    }

    fn shard_tests(&self) -> u64 {
        Plain::shard_tests(self)
    }

    fn marginal(
        &self,
        level: &Marginals,
        y: usize,
        column: &mut [f64],
        signal: &Signal,
    ) -> Result<(), (usize, &'static str)> {
        let mut work = T::Work::default();
        for x in level.pairs().neighbours(y).take_while(|&x| (x as usize) < y) {
            let Some(p) = self.test(x as usize, y, &[], &mut work, signal) else { break };
            column[x as usize] = p;
        }
        Ok(())
    }

    fn row(&self, row: &RowView, scratch: &mut Self::Scratch, signal: &Signal, out: &mut dyn FnMut(&Answer)) {
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
                // Drop the lanes that another task has decided with earlier sets.
                lanes.retain(|lane| found[lane.index].load(std::sync::atomic::Ordering::Relaxed) >= lane.first_rank);
            }
            set.clear();
            set.extend(positions.iter().map(|&at| list[at as usize]));
            let mut ended = false;
            lanes.retain_mut(|lane| {
                if ended || positions.contains(&lane.place) {
                    return true;
                }
                let Some(p) = self.test(x, lane.vertex as usize, &set, &mut scratch.work, signal) else {
                    ended = true;
                    return true;
                };
                let p = row.options.read(p);
                let separates = p >= row.options.alpha;
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

    fn walk(&self, side: &SideView, scratch: &mut Self::Scratch, signal: &Signal) -> Verdict {
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
            let Some(p) = self.test(x, y, &set, &mut scratch.work, signal) else { break };
            let p = side.options.read(p);
            if p >= side.options.alpha {
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
        scratch: &mut Self::Scratch,
        signal: &Signal,
    ) -> Result<f64, &'static str> {
        Ok(self.test(x, y, s, &mut scratch.work, signal).unwrap_or(f64::NAN))
    }
}
