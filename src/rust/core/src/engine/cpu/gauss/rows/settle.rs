//! The outcomes of sets of two or more candidates for single lanes.

use std::ops::Range;

use super::super::quad::Four;
use super::super::walk::{self, judge_side};
use super::row::Row;
use super::sets::{Lane, Leaf, Sets};
use crate::ci::gauss::COLLINEAR;
use crate::engine::cpu::kernel::{RowView, SideView};
use crate::graph::subsets;
use crate::search::level::{CandidateOrder, PairSide, Verdict};

impl Sets {
    /// Checks the suspects of a set. Returns, as bits, the lanes that it decides.
    #[inline(never)]
    pub(super) fn look(&mut self, row: &mut Row, leaf: &Leaf, mut suspects: u64) -> u64 {
        let d = self.lane_at.len();
        let depth = row.view.size - 1;
        let stride = 4 * self.between.stride;
        let mut decided = 0;
        while suspects != 0 {
            let i = suspects.trailing_zeros() as usize;
            suspects &= suspects - 1;
            let at = |buffer: &[Four], m: usize| buffer.as_flattened()[m * stride + i];
            let r =
                self.between.row(depth - 1, leaf.last).as_flattened()[i] - leaf.factor * at(&self.pivot_row, depth - 1);
            let cov = at(&self.lane_x, depth) - leaf.weight * r;
            let var_y = at(&self.lane_variance, depth) - (r * leaf.inverse) * r;
            let q = cov * cov / (leaf.var_x * var_y);
            let lane = &mut self.lanes[i];
            let own_rank = |lane: &Lane| subsets::rank_without(d, &self.positions, lane.place as usize);
            let condition = leaf.pivot * leaf.var_x.min(var_y);
            if leaf.trusted && (condition > row.rules.trusted_above) & (q < COLLINEAR) {
                if q > row.rules.cutoff.dependent_above {
                    if q < lane.smallest.0 {
                        lane.smallest = (q, leaf.rank);
                        self.look_below.as_flattened_mut()[i] = q;
                    }
                    continue;
                }
                if q < row.rules.cutoff.independent_below {
                    let p = row.rules.p_of_square(q, condition, row.x(), lane.vertex as usize, row.set);
                    let verdict = Verdict::Independent { rank: own_rank(lane), p };
                    row.tell(lane.index, verdict, lane.exact_tests);
                    decided |= 1 << i;
                    continue;
                }
            }
            if exactly(row, lane, own_rank) {
                decided |= 1 << i;
            }
        }
        decided
    }

    /// Decides a set by the exact formula for all these lanes. Returns, as bits, the lanes that it decides.
    #[inline(never)]
    pub(super) fn all_exactly(&mut self, row: &mut Row, mut lanes: u64) -> u64 {
        let d = self.lane_at.len();
        let mut decided = 0;
        while lanes != 0 {
            let i = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let own_rank = |lane: &Lane| subsets::rank_without(d, &self.positions, lane.place as usize);
            if exactly(row, &mut self.lanes[i], own_rank) {
                decided |= 1 << i;
            }
        }
        decided
    }

    /// Reports the lanes that no set has separated. If sets of the row are left, each lane is first walked to the end by itself.
    pub(super) fn finish(&mut self, row: &mut Row, active: u64, rank: u64, walks: &mut walk::Scratch) {
        let list = row.list();
        let d = list.len();
        let mut positions = std::mem::take(&mut self.positions);
        let of_lane = subsets::binomial(d - 1, row.view.size).unwrap_or(u64::MAX);
        let mut own = |rank: u64, lane: &Lane| {
            subsets::unrank(d, rank, &mut positions);
            subsets::rank_without(d, &positions, lane.place as usize)
        };
        for lane in self.lanes.iter().enumerate().filter(|(i, _)| active >> i & 1 == 1).map(|(_, lane)| lane) {
            let mut exact_tests = lane.exact_tests;
            let (q, at) = lane.smallest;
            let smallest = (q < f64::INFINITY).then(|| (q, own(at, lane)));
            let mut verdict = Verdict::Dependent { rank: lane.exact.1, p: lane.exact.0 };
            let start = if rank < row.view.sets.end { own(rank, lane) } else { of_lane };
            let all_sets = subsets::binomial(d, row.view.size).unwrap_or(u64::MAX);
            let end = if row.view.sets.end < all_sets { own(row.view.sets.end, lane) } else { of_lane };
            let rest = side_of(row.view, lane.place, start..end);
            row.set.clear();
            if start < end {
                let for_lane = row.signal.for_lane(row.view.found.map(|found| &found[lane.index]));
                verdict = judge_side(row.rules, &rest, walks, &for_lane, smallest).merge(verdict);
                exact_tests += for_lane.exact_tests();
                if let Verdict::Independent { rank, .. } | Verdict::Undefined { rank, .. } = verdict {
                    rest.side.set_into(row.view.neighbours, row.view.size, rank, row.set);
                }
            } else if let Some((_, rank)) = smallest {
                rest.side.set_into(row.view.neighbours, row.view.size, rank, row.set);
                // The quick form was trusted here, so pcalg's formula has an answer too.
                if let Ok(p) = row.rules.gauss.p_value(row.x(), lane.vertex as usize, row.set) {
                    verdict = Verdict::Dependent { rank, p }.merge(verdict);
                }
            }
            row.tell(lane.index, verdict, exact_tests);
        }
        self.positions = positions;
    }
}

/// Decides one test of a lane by the exact formula. Returns `true` if that decides the lane.
fn exactly(row: &mut Row, lane: &mut Lane, own_rank: impl Fn(&Lane) -> u64) -> bool {
    lane.exact_tests += 1;
    let verdict = match row.rules.exactly(row.x(), lane.vertex as usize, row.set) {
        Err(reason) => Verdict::Undefined { rank: own_rank(lane), reason },
        Ok((p, true)) => Verdict::Independent { rank: own_rank(lane), p },
        Ok((p, false)) => {
            if p > lane.exact.0 {
                lane.exact = (p, own_rank(lane));
            }
            return false;
        }
    };
    row.tell(lane.index, verdict, lane.exact_tests);
    true
}

/// Returns one lane as a side, for the walk of a pair.
fn side_of<'a>(row: &RowView<'a>, place: u32, ranks: Range<u64>) -> SideView<'a> {
    let list = row.neighbours.list(row.row as usize);
    SideView {
        side: PairSide {
            row: row.row,
            other: list[place as usize],
            place,
            order: CandidateOrder::Ascending,
            count: subsets::binomial(list.len() - 1, row.size).unwrap_or(u64::MAX),
        },
        neighbours: row.neighbours,
        size: row.size,
        ranks,
        options: row.options,
    }
}
