//! Sets of two or more candidates: what sets with one prefix share, and their last step.

use std::ops::Range;

use super::super::quad::{Four, Quad};
use super::covariances::{grow, scale_by, step, step_square, two_depths, Pivots, Rows};
use super::row::Row;
use crate::ci::gauss::COLLINEAR;
use crate::engine::cpu::kernel::RowView;
use crate::graph::subsets;

/// Number of lanes that run together: one bit each in a word.
pub(super) const LANES: usize = 64;

/// Working memory for sets of two or more candidates, for up to [`LANES`] lanes.
///
/// Depth m has the values given the first m members of the set.
#[derive(Default)]
pub(super) struct Sets {
    /// By depth and candidate: entry of the pivot's Cholesky row, covariance with x, variance.
    factor: Vec<Four>,
    with_x: Vec<Four>,
    variance: Vec<Four>,
    /// For each depth: variance of x, and the smallest pivot.
    x: Vec<f64>,
    smallest: Vec<f64>,
    /// By depth and lane: entry of the pivot's Cholesky row, covariance with x, variance.
    pub(super) pivot_row: Vec<Four>,
    pub(super) lane_x: Vec<Four>,
    pub(super) lane_variance: Vec<Four>,
    /// Covariances of a candidate with the candidates after it, and with the lanes.
    among: Rows,
    pub(super) between: Rows,
    /// For each depth, the number of pivots that it has had.
    epoch: Vec<u32>,
    pub(super) lanes: Vec<Lane>,
    /// For each lane, the q below which a test is checked.
    pub(super) look_below: Vec<Four>,
    /// For each candidate, the lane of its vertex, or [`NO_LANE`].
    pub(super) lane_at: Vec<u8>,
    pub(super) positions: Vec<u32>,
}

const NO_LANE: u8 = u8::MAX;

/// Maximal number of doubles for the covariances among candidates, per thread. Depths beyond are not kept.
const MOST_AMONG: usize = 1 << 22;

/// The findings on a lane.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    pub(super) vertex: u32,
    pub(super) place: u32,
    /// Index into [`RowView::places`].
    pub(super) index: usize,
    /// Smallest q, and the rank of its set in the whole list.
    pub(super) smallest: (f64, u64),
    /// Largest p by the exact formula, and the lane's own rank.
    pub(super) exact: (f64, u64),
    pub(super) exact_tests: u64,
    pub(super) first_rank: u64,
}

/// The last step of a set, shared by its lanes.
pub(super) struct Leaf {
    /// Rank of the set in the whole list.
    pub(super) rank: u64,
    /// Position of the last member, and its entry of the last pivot's Cholesky row.
    pub(super) last: usize,
    pub(super) factor: f64,
    /// cov(x, s) / var(s), 1 / var(s), and var(x) given the whole set.
    pub(super) weight: f64,
    pub(super) inverse: f64,
    pub(super) var_x: f64,
    /// The smallest pivot, and whether its product with var(x) is large enough for q to be trusted.
    pub(super) pivot: f64,
    pub(super) trusted: bool,
}

impl Sets {
    /// Gathers the data of depth 0 and places the enumeration at its first set. Returns `false` if memory does not suffice.
    #[inline(always)]
    pub(super) fn start(&mut self, row: &Row, lanes: Range<usize>) -> bool {
        let (rules, row, list) = (row.rules, row.view, row.list());
        let x = row.row as usize;
        let (d, size) = (list.len(), row.size);
        let cx = rules.gauss.column(x);
        let (fours, of_list) = (lanes.len().div_ceil(4), d.div_ceil(4));
        let of_candidates = [&mut self.factor, &mut self.with_x, &mut self.variance];
        let of_lanes = [&mut self.pivot_row, &mut self.lane_x, &mut self.lane_variance];
        let enough = of_candidates.into_iter().all(|buffer| grow(buffer, size * of_list))
            && of_lanes.into_iter().all(|buffer| grow(buffer, size * fours))
            && self.among.start((MOST_AMONG / (d * d)).clamp(1, size - 1), d, of_list)
            && self.between.start(size - 1, d, fours);
        if !enough {
            return false;
        }
        self.epoch.clear();
        self.epoch.resize(size, 1);
        self.x.clear();
        self.x.resize(size, 0.0);
        self.x[0] = cx[x];
        self.smallest.clear();
        self.smallest.resize(size, 1.0);
        let (with_x, variance) = (self.with_x.as_flattened_mut(), self.variance.as_flattened_mut());
        for (s, &v) in list.iter().enumerate() {
            with_x[s] = cx[v as usize];
            variance[s] = rules.gauss.correlation(v as usize, v as usize);
        }
        self.positions.clear();
        self.positions.resize(size, 0);
        subsets::unrank(d, row.sets.start, &mut self.positions);
        self.lanes.clear();
        for index in lanes {
            let place = row.places[index];
            let first_rank = match row.sets.start {
                0 => 0,
                _ => subsets::rank_without(d, &self.positions, place as usize),
            };
            self.lanes.push(Lane {
                vertex: list[place as usize],
                place,
                index,
                smallest: (f64::INFINITY, row.sets.start),
                exact: (-1.0, first_rank),
                exact_tests: 0,
                first_rank,
            });
        }
        self.look_below.clear();
        self.look_below.resize(fours, [f64::INFINITY; 4]);
        self.lane_x[..fours].fill([0.0; 4]);
        self.lane_variance[..fours].fill([1.0; 4]);
        let (lane_x, lane_variance) = (self.lane_x.as_flattened_mut(), self.lane_variance.as_flattened_mut());
        for (i, lane) in self.lanes.iter().enumerate() {
            let y = lane.vertex as usize;
            lane_x[i] = cx[y];
            lane_variance[i] = rules.gauss.correlation(y, y);
        }
        self.place_lanes(d);
        true
    }

    fn place_lanes(&mut self, d: usize) {
        self.lane_at.clear();
        self.lane_at.resize(d, NO_LANE);
        for (i, lane) in self.lanes.iter().enumerate() {
            self.lane_at[lane.place as usize] = i as u8;
        }
    }

    /// Returns the lane of a candidate's vertex as a bit, or 0 if there is none.
    #[inline(always)]
    pub(super) fn bit_at(&self, at: usize) -> u64 {
        match self.lane_at[at] {
            NO_LANE => 0,
            lane => 1 << lane,
        }
    }

    /// Returns, as bits, the lanes whose verdict an earlier range of sets has found.
    pub(super) fn found_elsewhere(&self, row: &RowView) -> u64 {
        let Some(found) = row.found else { return 0 };
        let gone = |lane: &Lane| found[lane.index].load(std::sync::atomic::Ordering::Relaxed) < lane.first_rank;
        self.lanes.iter().enumerate().filter(|(_, lane)| gone(lane)).fold(0, |bits, (i, _)| bits | 1 << i)
    }

    /// Keeps only the lanes in `active`; depths up to `fresh` stay valid.
    #[inline(never)]
    pub(super) fn close_up(&mut self, active: u64, fresh: usize) {
        let stride = 4 * self.between.stride;
        let kept: Vec<usize> = (0..self.lanes.len()).filter(|i| active >> i & 1 == 1).collect();
        let look_below = self.look_below.as_flattened_mut();
        for (to, &from) in kept.iter().enumerate() {
            self.lanes[to] = self.lanes[from];
            look_below[to] = look_below[from];
            for m in 0..=fresh {
                for buffer in [&mut self.pivot_row, &mut self.lane_x, &mut self.lane_variance] {
                    let buffer = buffer.as_flattened_mut();
                    buffer[m * stride + to] = buffer[m * stride + from];
                }
            }
        }
        self.lanes.truncate(kept.len());
        self.between.forget();
        let d = self.lane_at.len();
        self.place_lanes(d);
    }

    /// Conditions on the pivot of a depth. Returns `false` if its variance is too small.
    #[inline(always)]
    pub(super) fn eliminate<Q: Quad, const W: usize>(
        &mut self,
        simd: Q::Simd,
        row: &Row,
        m: usize,
        fours: usize,
    ) -> bool {
        let a = self.positions[m] as usize;
        let stride = self.among.stride;
        let at = 4 * m * stride + a;
        let pivot = self.variance.as_flattened()[at];
        if !(pivot > row.rules.trusted_above) {
            return false;
        }
        self.smallest[m + 1] = self.smallest[m].min(pivot);
        let scale = 1.0 / pivot.sqrt();
        // Row of the Cholesky factor: C[a, s] minus what the pivots above explain, divided by the root of the pivot. Only the entries after the
        // pivot are needed; the four in which they begin is computed whole.
        let part = (a + 1) / 4..stride;
        let kept = m.min(self.among.depths - 1);
        self.make_among::<Q>(simd, row, kept, a);
        {
            let (above, own) = self.factor.split_at_mut(m * stride);
            let own = &mut own[part.clone()];
            own.copy_from_slice(&self.among.row(kept, a)[part.clone()]);
            for j in kept..m {
                let weight = Q::splat(simd, above.as_flattened()[4 * j * stride + a]);
                for (value, u) in own.iter_mut().zip(&above[j * stride..][part.clone()]) {
                    Q::load(simd, value).sub(weight.mul(Q::load(simd, u))).store(value);
                }
            }
            let scale = Q::splat(simd, scale);
            for value in own {
                scale.mul(Q::load(simd, value)).store(value);
            }
        }
        let x_a = self.with_x.as_flattened()[at] * scale;
        let factors = &self.factor[m * stride..][part.clone()];
        let (above, below) = two_depths(&mut self.with_x, m, stride, part.clone());
        step::<Q>(simd, below, above, factors, x_a);
        let (above, below) = two_depths(&mut self.variance, m, stride, part);
        step_square::<Q>(simd, below, above, factors);
        self.x[m + 1] = self.x[m] - x_a * x_a;

        self.make_between::<Q, W>(simd, row, m, a, fours);
        let stride = self.between.stride;
        let pivot_row = &mut self.pivot_row[m * stride..][..fours];
        scale_by::<Q>(simd, pivot_row, &self.between.row(m, a)[..fours], scale);
        let (above, below) = two_depths(&mut self.lane_x, m, stride, 0..fours);
        step::<Q>(simd, below, above, pivot_row, x_a);
        let (above, below) = two_depths(&mut self.lane_variance, m, stride, 0..fours);
        step_square::<Q>(simd, below, above, pivot_row);
        self.epoch[m + 1] += 1;
        true
    }

    /// Ensures that a depth has the covariances of candidate a with the candidates after it.
    #[inline(always)]
    fn make_among<Q: Quad>(&mut self, simd: Q::Simd, row: &Row, m: usize, a: usize) {
        let (list, part) = (row.list(), (a + 1) / 4..self.among.stride);
        let gather = |values: &mut [Four]| {
            let column = row.rules.gauss.column(list[a] as usize);
            for (value, &v) in values.as_flattened_mut()[a + 1..].iter_mut().zip(&list[a + 1..]) {
                *value = column[v as usize];
            }
        };
        let pivots = Pivots { epoch: &self.epoch, rows: &self.factor, factor: &self.factor, stride: self.among.stride };
        self.among.make::<Q>(simd, m, a, part, &pivots, gather);
    }

    /// Ensures that a depth has the covariances of candidate s with the lanes.
    #[inline(always)]
    fn make_between<Q: Quad, const W: usize>(&mut self, simd: Q::Simd, row: &Row, m: usize, s: usize, fours: usize) {
        let (list, lanes) = (row.list(), &self.lanes);
        let gather = |values: &mut [Four]| {
            let column = row.rules.gauss.column(list[s] as usize);
            for (value, lane) in values.as_flattened_mut().iter_mut().zip(lanes) {
                *value = column[lane.vertex as usize];
            }
        };
        let pivots =
            Pivots { epoch: &self.epoch, rows: &self.pivot_row, factor: &self.factor, stride: self.among.stride };
        self.between.make::<Q>(simd, m, s, 0..fours, &pivots, gather);
    }

    /// Computes the last step of the set that ends in candidate s.
    #[inline(always)]
    pub(super) fn leaf<Q: Quad, const W: usize>(
        &mut self,
        simd: Q::Simd,
        row: &Row,
        s: usize,
        rank: u64,
        depth: usize,
        fours: usize,
    ) -> Leaf {
        self.make_between::<Q, W>(simd, row, depth - 1, s, fours);
        let stride = 4 * self.among.stride;
        let variance = self.variance.as_flattened()[depth * stride + s];
        let with_x = self.with_x.as_flattened()[depth * stride + s];
        let inverse = 1.0 / variance;
        let weight = with_x * inverse;
        let var_x = self.x[depth] - with_x * weight;
        let pivot = self.smallest[depth].min(variance);
        Leaf {
            rank,
            last: s,
            factor: self.factor.as_flattened()[(depth - 1) * stride + s],
            weight,
            inverse,
            var_x,
            pivot,
            trusted: pivot * var_x > row.rules.trusted_above,
        }
    }

    /// Returns, as bits, the lanes to be checked; they may include padding.
    #[inline(always)]
    pub(super) fn suspects<Q: Quad, const W: usize>(
        &self,
        simd: Q::Simd,
        row: &Row,
        leaf: &Leaf,
        depth: usize,
        fours: usize,
    ) -> u64 {
        let stride = self.between.stride;
        let with_last = &self.between.row(depth - 1, leaf.last)[..fours];
        let pivot_row = &self.pivot_row[(depth - 1) * stride..][..fours];
        let lane_x = &self.lane_x[depth * stride..][..fours];
        let lane_variance = &self.lane_variance[depth * stride..][..fours];
        let look_below = &self.look_below[..fours];
        let (factor, weight, inverse) =
            (Q::splat(simd, leaf.factor), Q::splat(simd, leaf.weight), Q::splat(simd, leaf.inverse));
        let (var_x, pivot, collinear) =
            (Q::splat(simd, leaf.var_x), Q::splat(simd, leaf.pivot), Q::splat(simd, COLLINEAR));
        let trusted = Q::splat(simd, row.rules.trusted_above);
        let mut clear = 0;
        for i in 0..fours {
            let r = Q::load(simd, &with_last[i]).sub(factor.mul(Q::load(simd, &pivot_row[i])));
            let cov = Q::load(simd, &lane_x[i]).sub(weight.mul(r));
            let var_y = Q::load(simd, &lane_variance[i]).sub(r.mul(inverse).mul(r));
            let square = cov.mul(cov);
            let scale = var_x.mul(var_y);
            let above = square.above(Q::load(simd, &look_below[i]).mul(scale));
            clear |= (above & collinear.mul(scale).above(square) & pivot.mul(var_y).above(trusted)) << (4 * i);
        }
        !clear
    }
}
