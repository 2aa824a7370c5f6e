//! The Gaussian test for all pairs of a row at once.
//!
//! A set S of neighbours of x serves every pair (x, y) with y outside S: lanes run over y. What depends on x and S alone, the
//! pivots and the variance of x, is computed once, and a lane adds about a dozen operations whatever the size of S is. Given
//! the prefix S' = S without its last member s, a lane keeps cov(x, y | S') and var(y | S'); with r = cov(s, y | S')
//!
//! cov(x, y | S) = cov(x, y | S') - cov(x, s | S') r / var(s | S'),   var(y | S) = var(y | S') - r² / var(s | S').
//!
//! The rows cov(s, . | S') are kept by depth and made when they are first asked for, one step from the depth above. A lane is
//! looked at by itself only when its q lies below the smallest seen so far or in the critical band: about log(tests) times.
//!
//! Most pairs fall to one of their first sets, so lanes are closed up as they are decided. What few lanes remain of a long
//! row is left to the [`walk`](super::walk) of a pair, whose lanes run over the sets.

use std::ops::Range;

use super::gauss::{judge_side, Rules, Scratch, PIVOT};
use super::kernel::{LaneOutcome, RowView, SideView, Signal};
use super::simd::{Avx2, Four, Portable, Quad};
use super::walk::COLLINEAR;
use crate::graph::subsets;
use crate::search::level::{CandidateOrder, PairSide, Verdict};

/// Lanes of larger sets that are run together: one bit each in a word.
const LANES: usize = 64;

/// So few lanes of single candidates are walked one by one, with the candidates side by side.
const FEW_SINGLES: usize = 12;

/// So few lanes of larger sets are left to the walk of a pair where it finds runs of at least this length.
const FEW_SETS: u32 = 3;
const LONG_RUN: usize = 40;

/// Sets between two looks at the signal.
const LOOK: u64 = 1 << 12;

/// Buffers of a thread.
#[derive(Default)]
pub struct RowScratch {
    singles: Singles,
    sets: Sets,
    set: Vec<u32>,
}

/// Decides the lanes of a row in the widest SIMD that this machine has. The results are the same in all.
pub(super) fn dispatch(
    rules: &Rules,
    row: &RowView,
    scratch: &mut Scratch,
    signal: &Signal,
    out: &mut dyn FnMut(&LaneOutcome),
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        unsafe fn avx2(
            rules: &Rules,
            row: &RowView,
            scratch: &mut Scratch,
            signal: &Signal,
            out: &mut dyn FnMut(&LaneOutcome),
        ) {
            decide::<Avx2>(rules, row, scratch, signal, out);
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, asked for in the line above.
            return unsafe { avx2(rules, row, scratch, signal, out) };
        }
    }
    decide::<Portable>(rules, row, scratch, signal, out);
}

#[inline(always)]
fn decide<Q: Quad>(
    rules: &Rules,
    row: &RowView,
    scratch: &mut Scratch,
    signal: &Signal,
    out: &mut dyn FnMut(&LaneOutcome),
) {
    // Taken out, so that the walk of a pair can have the rest.
    let mut own = std::mem::take(&mut scratch.rows);
    let RowScratch { singles, sets, set } = &mut own;
    if row.size == 1 {
        singles.run(rules, row, set, signal, out);
    } else {
        for first in (0..row.places.len()).step_by(LANES) {
            let lanes = first..(first + LANES).min(row.places.len());
            sets.run::<Q>(rules, row, lanes, scratch, set, signal, out);
        }
    }
    scratch.rows = own;
}

/// One lane as a side, for the walk of a pair.
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
        alpha: row.alpha,
        na_delete: row.na_delete,
    }
}

/// Sets of one candidate.
#[derive(Default)]
struct Singles {
    /// Of the lanes still there: index into [`RowView::places`], the other vertex, its correlation with x and with the
    /// candidate, 1 where it must be looked at.
    lane: Vec<u32>,
    other: Vec<u32>,
    with_x: Vec<f64>,
    with_candidate: Vec<f64>,
    suspect: Vec<u64>,
    /// Which are to be looked at.
    suspects: Vec<u32>,
    /// By candidate: its correlation with x, and what it leaves of the variance of x.
    of_x: Vec<f64>,
    left_x: Vec<f64>,
    /// By index into [`RowView::places`]: number of tests by the exact formula.
    exact_tests: Vec<u64>,
}

/// What is known of a lane whose sets are walked by themselves.
struct Walked {
    smallest: (f64, u64),
    exact: (f64, u64),
}

impl Singles {
    #[inline(always)]
    fn run(
        &mut self,
        rules: &Rules,
        row: &RowView,
        set: &mut Vec<u32>,
        signal: &Signal,
        out: &mut dyn FnMut(&LaneOutcome),
    ) {
        let x = row.row as usize;
        let list = row.neighbours.list(x);
        let cx = rules.gauss.column(x);
        let above = rules.cutoff.dependent_above;
        assert!(row.neighbours.p() <= cx.len(), "a graph on more vertices than the test has");
        self.start(row, list, cx);
        let (start, end) = (row.sets.start as usize, row.sets.end as usize);
        let mut n = row.places.len();
        let mut at = start;
        while at < end && n > FEW_SINGLES {
            if at % 64 == 0 && signal.stop_requested() {
                return;
            }
            let ck = rules.gauss.column(list[at] as usize);
            for (value, &y) in self.with_candidate[..n].iter_mut().zip(&self.other[..n]) {
                debug_assert!((y as usize) < ck.len());
                // SAFETY: `other` holds vertices of the graph, and that has no more of them than a column of C has entries,
                // as asserted above. Checks here would cost a third of level 1.
                *value = unsafe { *ck.get_unchecked(y as usize) };
            }
            let (of_x, left_x) = (self.of_x[at], self.left_x[at]);
            let least = above * left_x;
            let mut any = 0u64;
            let lanes = self.with_candidate[..n].iter().zip(&self.with_x[..n]).zip(&mut self.suspect[..n]);
            for ((&r, &with_x), suspect) in lanes {
                let left_y = 1.0 - r * r;
                let cov = with_x - of_x * r;
                let clear = (cov * cov > least * left_y) & (left_y > PIVOT) & (left_x > PIVOT);
                *suspect = u64::from(!clear);
                any |= *suspect;
            }
            if any != 0 {
                n = self.look_at_suspects(rules, row, n, at, set, out);
            }
            at += 1;
        }
        for i in 0..n {
            let lane = self.lane[i] as usize;
            let limit = row.found.map(|found| &found[lane]);
            self.walk(rules, row, lane, start, at, end, set, &signal.for_lane(limit), out);
        }
    }

    #[inline(always)]
    fn start(&mut self, row: &RowView, list: &[u32], cx: &[f64]) {
        self.lane.clear();
        self.lane.extend(0..row.places.len() as u32);
        self.other.clear();
        self.other.extend(row.places.iter().map(|&place| list[place as usize]));
        self.with_x.clear();
        self.with_x.extend(self.other.iter().map(|&y| cx[y as usize]));
        self.exact_tests.clear();
        self.exact_tests.resize(row.places.len(), 0);
        self.with_candidate.resize(row.places.len().max(self.with_candidate.len()), 0.0);
        self.suspect.resize(row.places.len().max(self.suspect.len()), 0);
        self.of_x.clear();
        self.of_x.extend(list.iter().map(|&k| cx[k as usize]));
        self.left_x.clear();
        self.left_x.extend(self.of_x.iter().map(|r| 1.0 - r * r));
    }

    /// Looks at the lanes marked by `suspect`, and closes up those that stay; returns their number.
    #[inline(always)]
    fn look_at_suspects(
        &mut self,
        rules: &Rules,
        row: &RowView,
        n: usize,
        at: usize,
        set: &mut Vec<u32>,
        out: &mut dyn FnMut(&LaneOutcome),
    ) -> usize {
        self.suspects.resize(n.max(self.suspects.len()), 0);
        let mut hits = 0;
        for (i, &suspect) in self.suspect[..n].iter().enumerate() {
            self.suspects[hits] = i as u32;
            hits += suspect as usize;
        }
        for hit in 0..hits {
            let i = self.suspects[hit] as usize;
            if !self.decides(rules, row, self.lane[i] as usize, self.with_x[i], at, set, out) {
                self.suspect[i] = 0;
            }
        }
        let first = self.suspects[0] as usize;
        let mut left = first;
        for i in first..n {
            self.other[left] = self.other[i];
            self.with_x[left] = self.with_x[i];
            self.lane[left] = self.lane[i];
            left += (1 - self.suspect[i]) as usize;
        }
        left
    }

    /// Looks at one lane and the candidate `at`; `true` when that decides it.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn decides(
        &mut self,
        rules: &Rules,
        row: &RowView,
        lane: usize,
        with_x: f64,
        at: usize,
        set: &mut Vec<u32>,
        out: &mut dyn FnMut(&LaneOutcome),
    ) -> bool {
        let (of_x, left_x) = (self.of_x[at], self.left_x[at]);
        let list = row.neighbours.list(row.row as usize);
        let place = row.places[lane] as usize;
        if at == place {
            return false;
        }
        let (k, y) = (list[at], list[place] as usize);
        let r = rules.gauss.correlation(y, k as usize);
        let left_y = 1.0 - r * r;
        let cov = with_x - of_x * r;
        let q = cov * cov / (left_x * left_y);
        let rank = (at - usize::from(at > place)) as u64;
        let trusted = (left_x > PIVOT) & (left_y > PIVOT);
        let verdict = if trusted & (q < rules.cutoff.independent_below) {
            Verdict::Independent { rank, p: rules.p_of_square(q) }
        } else if trusted & (q > rules.cutoff.dependent_above) {
            return false;
        } else {
            self.exact_tests[lane] += 1;
            match rules.exactly(row.row as usize, y, &[k]) {
                Err(reason) => Verdict::Undefined { rank, reason },
                Ok((p, true)) => Verdict::Independent { rank, p },
                Ok((_, false)) => return false,
            }
        };
        set.clear();
        set.push(k);
        out(&LaneOutcome { lane, verdict, set, exact_tests: self.exact_tests[lane] });
        true
    }

    /// Decides a lane that the candidates from `start` to `at` do not separate, by those from `at` to `end`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn walk(
        &mut self,
        rules: &Rules,
        row: &RowView,
        lane: usize,
        start: usize,
        at: usize,
        end: usize,
        set: &mut Vec<u32>,
        signal: &Signal,
        out: &mut dyn FnMut(&LaneOutcome),
    ) {
        let mut walked = Walked { smallest: (f64::INFINITY, 0), exact: (-1.0, 0) };
        let known = self.exact_tests[lane];
        if self.walk_part(rules, row, lane, at, end, &mut walked, set, signal, out) {
            return;
        }
        // Of the first candidates only the largest p is not known yet, and that of few lanes is ever asked for.
        let exact_tests = self.exact_tests[lane];
        self.exact_tests[lane] = known;
        let again = signal.for_lane(None);
        if self.walk_part(rules, row, lane, start, at, &mut walked, set, &again, out) {
            return;
        }
        let list = row.neighbours.list(row.row as usize);
        let place = row.places[lane];
        let mut verdict = Verdict::Dependent { rank: walked.exact.1, p: walked.exact.0 };
        let (smallest, rank) = walked.smallest;
        if smallest < f64::INFINITY {
            let k = list[rank as usize + usize::from(rank >= u64::from(place))];
            // The quick form was trusted here, so pcalg's has an answer too.
            if let Ok(p) = rules.gauss.p_value(row.row as usize, list[place as usize] as usize, &[k]) {
                verdict = Verdict::Dependent { rank, p }.merge(verdict);
            }
        }
        out(&LaneOutcome { lane, verdict, set: &[], exact_tests });
    }

    /// Walks the candidates from one to another for one lane; `true` when that decides it.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn walk_part(
        &mut self,
        rules: &Rules,
        row: &RowView,
        lane: usize,
        mut from: usize,
        to: usize,
        walked: &mut Walked,
        set: &mut Vec<u32>,
        signal: &Signal,
        out: &mut dyn FnMut(&LaneOutcome),
    ) -> bool {
        const BLOCK: usize = 64;
        let list = row.neighbours.list(row.row as usize);
        let place = row.places[lane] as usize;
        let y = list[place] as usize;
        let cy = rules.gauss.column(y);
        let with_x = rules.gauss.correlation(row.row as usize, y);
        let mut r_y = [0.0; BLOCK];
        while from < to {
            let own = |at: usize| (at - usize::from(at > place)) as u64;
            if signal.leave_at(own(from)) {
                break;
            }
            let n = (to - from).min(BLOCK);
            for (value, &k) in r_y[..n].iter_mut().zip(&list[from..from + n]) {
                debug_assert!((k as usize) < cy.len());
                // SAFETY: as in `run`.
                *value = unsafe { *cy.get_unchecked(k as usize) };
            }
            let look_below = rules.cutoff.dependent_above.max(walked.smallest.0);
            let mut suspects = 0u64;
            let of_x = self.of_x[from..from + n].iter().zip(&self.left_x[from..from + n]);
            for ((&r, (&of_x, &left_x)), &bit) in r_y[..n].iter().zip(of_x).zip(&BITS) {
                let left_y = 1.0 - r * r;
                let cov = with_x - of_x * r;
                let clear = (cov * cov > look_below * (left_x * left_y)) & (left_y > PIVOT) & (left_x > PIVOT);
                suspects |= if clear { 0 } else { bit };
            }
            while suspects != 0 {
                let i = suspects.trailing_zeros() as usize;
                suspects &= suspects - 1;
                let at = from + i;
                let (left_x, left_y) = (self.left_x[at], 1.0 - r_y[i] * r_y[i]);
                let cov = with_x - self.of_x[at] * r_y[i];
                let q = cov * cov / (left_x * left_y);
                if (left_x > PIVOT) & (left_y > PIVOT) & (q > rules.cutoff.dependent_above) {
                    if q < walked.smallest.0 {
                        walked.smallest = (q, own(at));
                    }
                    continue;
                }
                let before = self.exact_tests[lane];
                if self.decides(rules, row, lane, with_x, at, set, out) {
                    return true;
                }
                if self.exact_tests[lane] > before {
                    // Not separated, by the exact formula: asked again for its p, which is rare.
                    if let Ok((p, _)) = rules.exactly(row.row as usize, y, &[list[at]]) {
                        if p > walked.exact.0 {
                            walked.exact = (p, own(at));
                        }
                    }
                }
            }
            from += n;
        }
        false
    }
}

/// Sets of two candidates and more, for up to [`LANES`] lanes.
///
/// Depth m is what holds given the first m members of the set.
#[derive(Default)]
struct Sets {
    /// By depth and candidate: entry of the pivot's Cholesky row, covariance with x, variance.
    factor: Vec<Four>,
    with_x: Vec<Four>,
    variance: Vec<Four>,
    /// By depth: variance of x.
    x: Vec<f64>,
    /// By depth and lane: entry of the pivot's Cholesky row, covariance with x, variance.
    pivot_row: Vec<Four>,
    lane_x: Vec<Four>,
    lane_variance: Vec<Four>,
    /// Covariances of a candidate with the candidates behind it, and with the lanes.
    among: Rows,
    between: Rows,
    /// By depth: counts its pivots.
    epoch: Vec<u32>,
    lanes: Vec<Lane>,
    /// By lane: below what q to look at it.
    look_below: Vec<Four>,
    /// By candidate: the lane of its vertex, or [`NO_LANE`].
    lane_at: Vec<u8>,
    positions: Vec<u32>,
}

/// By depth and candidate: a row of covariances, made when it is first asked for.
#[derive(Default)]
struct Rows {
    values: Vec<Four>,
    /// Number of the depth's pivot that the row was made with.
    made: Vec<u32>,
    /// Fours in a row.
    stride: usize,
    /// Number of depths that are kept.
    depths: usize,
}

impl Rows {
    fn start(&mut self, depths: usize, d: usize, stride: usize) {
        self.stride = stride;
        self.depths = depths;
        grow(&mut self.values, depths * d * stride);
        self.made.clear();
        self.made.resize(depths * d, 0);
    }

    #[inline(always)]
    fn row(&self, m: usize, s: usize, d: usize) -> &[Four] {
        &self.values[(m * d + s) * self.stride..][..self.stride]
    }

    /// Makes row s of depth m, from its fours `part`. `gather` writes it for depth 0; a step subtracts a multiple of the
    /// pivot's row, `pivots` by depth with as many fours a row, and `factor` by depth of candidate s.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn make<Q: Quad>(
        &mut self,
        m: usize,
        s: usize,
        d: usize,
        part: Range<usize>,
        epoch: &[u32],
        pivots: &[Four],
        factor: impl Fn(usize) -> f64,
        gather: impl FnOnce(&mut [Four]),
    ) {
        if self.made[m * d + s] == epoch[m] {
            return;
        }
        let mut good = m;
        while good > 0 && self.made[good * d + s] != epoch[good] {
            good -= 1;
        }
        if good == 0 && self.made[s] != epoch[0] {
            self.made[s] = epoch[0];
            gather(&mut self.values[s * self.stride..][..self.stride]);
        }
        for to in good + 1..=m {
            self.made[to * d + s] = epoch[to];
            let (above, below) = self.values.split_at_mut((to * d + s) * self.stride);
            let above = &above[((to - 1) * d + s) * self.stride..][part.clone()];
            let pivots = &pivots[(to - 1) * self.stride..][part.clone()];
            step::<Q>(&mut below[part.clone()], above, pivots, factor(to - 1));
        }
    }
}

/// `out = value - factor * u`, four by four.
#[inline(always)]
fn step<Q: Quad>(out: &mut [Four], values: &[Four], u: &[Four], factor: f64) {
    let factor = Q::splat(factor);
    for ((out, value), u) in out.iter_mut().zip(values).zip(u) {
        Q::load(value).sub(factor.mul(Q::load(u))).store(out);
    }
}

/// `out = value - u * u`, four by four.
#[inline(always)]
fn step_square<Q: Quad>(out: &mut [Four], values: &[Four], u: &[Four]) {
    for ((out, value), u) in out.iter_mut().zip(values).zip(u) {
        let u = Q::load(u);
        Q::load(value).sub(u.mul(u)).store(out);
    }
}

/// `out = factor * value`, four by four.
#[inline(always)]
fn scale_by<Q: Quad>(out: &mut [Four], values: &[Four], factor: f64) {
    let factor = Q::splat(factor);
    for (out, value) in out.iter_mut().zip(values) {
        factor.mul(Q::load(value)).store(out);
    }
}

/// A depth of a buffer and the one below it.
#[inline(always)]
fn two_depths(buffer: &mut [Four], m: usize, stride: usize, part: Range<usize>) -> (&[Four], &mut [Four]) {
    let (above, below) = buffer.split_at_mut((m + 1) * stride);
    (&above[m * stride..][part.clone()], &mut below[part])
}

const NO_LANE: u8 = u8::MAX;

/// Doubles that the covariances among candidates may take, by thread. Depths beyond are not kept.
const MOST_AMONG: usize = 1 << 22;

/// What is known of a lane.
#[derive(Clone, Copy)]
struct Lane {
    vertex: u32,
    place: u32,
    /// Index into [`RowView::places`].
    index: usize,
    /// Smallest q, and the rank of its set in the whole list.
    smallest: (f64, u64),
    /// Largest p by the exact formula, and the lane's own rank.
    exact: (f64, u64),
    exact_tests: u64,
    first_rank: u64,
}

/// Where the enumeration of a row's sets stands.
struct Cursor {
    /// Rank of the next set in the whole list.
    rank: u64,
    /// The lanes that are not decided, as bits.
    active: u64,
    /// Depths up to this one are up to date; `broken` is the first whose pivot is too small, if any.
    fresh: usize,
    broken: Option<usize>,
    /// Rank at which to look at the signal.
    look_at: u64,
}

/// The last step of a set, shared by its lanes.
struct Leaf {
    /// Rank of the set in the whole list.
    rank: u64,
    /// Position of the last member, and its entry of the last pivot's Cholesky row.
    last: usize,
    factor: f64,
    /// cov(x, s) / var(s), 1 / var(s), and var(x) given the whole set.
    weight: f64,
    inverse: f64,
    var_x: f64,
    /// Whether var(s) and var(x) are large enough.
    trusted: bool,
}

impl Sets {
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn run<Q: Quad>(
        &mut self,
        rules: &Rules,
        row: &RowView,
        lanes: Range<usize>,
        scratch: &mut Scratch,
        set: &mut Vec<u32>,
        signal: &Signal,
        out: &mut dyn FnMut(&LaneOutcome),
    ) {
        self.start(rules, row, lanes);
        let mut cursor = Cursor {
            rank: row.sets.start,
            active: if self.lanes.len() == LANES { !0u64 } else { (1u64 << self.lanes.len()) - 1 },
            fresh: 0,
            broken: None,
            look_at: row.sets.start + LOOK,
        };
        loop {
            // Loops over a few registers whose number is known are written out by the compiler.
            let goes_on = match self.lanes.len().div_ceil(4) {
                1 => self.enumerate::<Q, 1>(rules, row, &mut cursor, set, signal, out),
                2 => self.enumerate::<Q, 2>(rules, row, &mut cursor, set, signal, out),
                3 => self.enumerate::<Q, 3>(rules, row, &mut cursor, set, signal, out),
                4 => self.enumerate::<Q, 4>(rules, row, &mut cursor, set, signal, out),
                _ => self.enumerate::<Q, 0>(rules, row, &mut cursor, set, signal, out),
            };
            if !goes_on {
                break;
            }
            // Half of the lanes are decided: they are closed up.
            self.close_up(cursor.active, cursor.fresh);
            cursor.active = (1u64 << self.lanes.len()) - 1;
        }
        if signal.stop_requested() {
            return;
        }
        self.finish(rules, row, cursor.active, cursor.rank, scratch, set, signal, out);
    }

    /// Runs sets from where the cursor stands, with lanes in `W` fours (0: as many as there are); `true` when it is time to
    /// close up the lanes.
    #[inline(always)]
    fn enumerate<Q: Quad, const W: usize>(
        &mut self,
        rules: &Rules,
        row: &RowView,
        cursor: &mut Cursor,
        set: &mut Vec<u32>,
        signal: &Signal,
        out: &mut dyn FnMut(&LaneOutcome),
    ) -> bool {
        let list = row.neighbours.list(row.row as usize);
        let (d, size) = (list.len(), row.size);
        let depth = size - 1;
        let fours = if W == 0 { self.lanes.len().div_ceil(4) } else { W };
        let Cursor { mut rank, mut active, mut fresh, mut broken, mut look_at } = *cursor;
        let mut close_up = false;
        while rank < row.sets.end && active != 0 {
            if active.count_ones() <= FEW_SETS && d / size >= LONG_RUN {
                break;
            }
            if rank >= look_at {
                look_at = rank + LOOK;
                if signal.stop_requested() {
                    break;
                }
                active &= !self.found_elsewhere(row);
            }
            if fours > 1 && active.count_ones() as usize <= 2 * fours {
                close_up = active != 0;
                break;
            }
            while fresh < depth && broken.is_none() {
                if self.eliminate::<Q, W>(rules, list, fresh, fours) {
                    fresh += 1;
                } else {
                    broken = Some(fresh);
                }
            }
            let first = self.positions[depth] as usize;
            let last = d.min(first + (row.sets.end - rank).min(d as u64) as usize);
            let blocked = self.positions[..depth].iter().fold(0, |lanes, &at| lanes | self.bit_at(at as usize));
            if broken.is_some() {
                set.clear();
                set.extend(self.positions.iter().map(|&at| list[at as usize]));
                for (s, &last_member) in list.iter().enumerate().take(last).skip(first) {
                    set[depth] = last_member;
                    self.positions[depth] = s as u32;
                    let allowed = active & !blocked & !self.bit_at(s);
                    active &= !self.all_exactly(rules, row, allowed, set, out);
                }
            } else if active & !blocked != 0 {
                for s in first..last {
                    let allowed = active & !blocked & !self.bit_at(s);
                    if allowed == 0 {
                        continue;
                    }
                    let leaf = self.leaf::<Q, W>(rules, list, s, rank + (s - first) as u64, depth, fours);
                    let suspects =
                        if leaf.trusted { allowed & self.suspects::<Q, W>(&leaf, depth, fours, d) } else { allowed };
                    if suspects != 0 {
                        self.positions[depth] = s as u32;
                        set.clear();
                        set.extend(self.positions.iter().map(|&at| list[at as usize]));
                        active &= !self.look(rules, row, &leaf, suspects, set, out);
                    }
                }
            }
            self.positions[depth] = first as u32;
            rank += (last - first) as u64;
            if rank >= row.sets.end {
                break;
            }
            // The next prefix: the last place of it that can still move.
            let mut place = depth;
            loop {
                place -= 1;
                if (self.positions[place] as usize) < d - size + place {
                    break;
                }
            }
            self.positions[place] += 1;
            for later in place + 1..size {
                self.positions[later] = self.positions[later - 1] + 1;
            }
            fresh = fresh.min(place);
            if broken.is_some_and(|at| at >= place) {
                broken = None;
            }
        }
        *cursor = Cursor { rank, active, fresh, broken, look_at };
        close_up
    }

    /// Gathers what depth 0 needs and places the enumeration at its first set.
    #[inline(always)]
    fn start(&mut self, rules: &Rules, row: &RowView, lanes: Range<usize>) {
        let x = row.row as usize;
        let list = row.neighbours.list(x);
        let (d, size) = (list.len(), row.size);
        let cx = rules.gauss.column(x);
        let (fours, of_list) = (lanes.len().div_ceil(4), d.div_ceil(4));
        for buffer in [&mut self.factor, &mut self.with_x, &mut self.variance] {
            grow(buffer, size * of_list);
        }
        for buffer in [&mut self.pivot_row, &mut self.lane_x, &mut self.lane_variance] {
            grow(buffer, size * fours);
        }
        self.among.start((MOST_AMONG / (d * d)).clamp(1, size - 1), d, of_list);
        self.between.start(size - 1, d, fours);
        self.epoch.clear();
        self.epoch.resize(size, 1);
        self.x.clear();
        self.x.resize(size, 0.0);
        self.x[0] = cx[x];
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
    }

    fn place_lanes(&mut self, d: usize) {
        self.lane_at.clear();
        self.lane_at.resize(d, NO_LANE);
        for (i, lane) in self.lanes.iter().enumerate() {
            self.lane_at[lane.place as usize] = i as u8;
        }
    }

    /// The lane of a candidate's vertex as a bit.
    #[inline(always)]
    fn bit_at(&self, at: usize) -> u64 {
        match self.lane_at[at] {
            NO_LANE => 0,
            lane => 1 << lane,
        }
    }

    /// Lanes whose verdict a range of sets before this one has found.
    fn found_elsewhere(&self, row: &RowView) -> u64 {
        let Some(found) = row.found else { return 0 };
        let gone = |lane: &Lane| found[lane.index].load(std::sync::atomic::Ordering::Relaxed) < lane.first_rank;
        self.lanes.iter().enumerate().filter(|(_, lane)| gone(lane)).fold(0, |bits, (i, _)| bits | 1 << i)
    }

    /// Keeps the lanes in `active` alone; depths up to `fresh` stay good.
    #[inline(never)]
    fn close_up(&mut self, active: u64, fresh: usize) {
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
        self.between.made.fill(0);
        let d = self.lane_at.len();
        self.place_lanes(d);
    }

    /// Conditions on the pivot of a depth; `false` when its variance is too small.
    #[inline(always)]
    fn eliminate<Q: Quad, const W: usize>(&mut self, rules: &Rules, list: &[u32], m: usize, fours: usize) -> bool {
        let d = list.len();
        let a = self.positions[m] as usize;
        let stride = self.among.stride;
        let at = 4 * m * stride + a;
        let pivot = self.variance.as_flattened()[at];
        if !(pivot > PIVOT) {
            return false;
        }
        let scale = 1.0 / pivot.sqrt();
        // Row of the Cholesky factor: C[a, s] less what the pivots above explain, over the root of the pivot. Only what
        // stands behind the pivot is needed; the fours that it begins in are computed whole.
        let part = (a + 1) / 4..stride;
        let kept = m.min(self.among.depths - 1);
        self.make_among::<Q>(rules, list, kept, a);
        {
            let (above, row) = self.factor.split_at_mut(m * stride);
            let row = &mut row[part.clone()];
            row.copy_from_slice(&self.among.row(kept, a, d)[part.clone()]);
            for j in kept..m {
                let weight = Q::splat(above.as_flattened()[4 * j * stride + a]);
                for (value, u) in row.iter_mut().zip(&above[j * stride..][part.clone()]) {
                    Q::load(value).sub(weight.mul(Q::load(u))).store(value);
                }
            }
            let scale = Q::splat(scale);
            for value in row {
                scale.mul(Q::load(value)).store(value);
            }
        }
        let x_a = self.with_x.as_flattened()[at] * scale;
        let factors = &self.factor[m * stride..][part.clone()];
        let (above, below) = two_depths(&mut self.with_x, m, stride, part.clone());
        step::<Q>(below, above, factors, x_a);
        let (above, below) = two_depths(&mut self.variance, m, stride, part);
        step_square::<Q>(below, above, factors);
        self.x[m + 1] = self.x[m] - x_a * x_a;

        self.make_between::<Q, W>(rules, list, m, a, fours);
        let stride = self.between.stride;
        let pivot_row = &mut self.pivot_row[m * stride..][..fours];
        scale_by::<Q>(pivot_row, &self.between.row(m, a, d)[..fours], scale);
        let (above, below) = two_depths(&mut self.lane_x, m, stride, 0..fours);
        step::<Q>(below, above, pivot_row, x_a);
        let (above, below) = two_depths(&mut self.lane_variance, m, stride, 0..fours);
        step_square::<Q>(below, above, pivot_row);
        self.epoch[m + 1] += 1;
        true
    }

    /// Sees to it that the covariances of candidate a with those behind it are there at a depth.
    #[inline(always)]
    fn make_among<Q: Quad>(&mut self, rules: &Rules, list: &[u32], m: usize, a: usize) {
        let (factor, stride) = (&self.factor, self.among.stride);
        let gather = |row: &mut [Four]| {
            let column = rules.gauss.column(list[a] as usize);
            for (value, &v) in row.as_flattened_mut()[a + 1..].iter_mut().zip(&list[a + 1..]) {
                *value = column[v as usize];
            }
        };
        let factor_of = |m: usize| factor.as_flattened()[4 * m * stride + a];
        self.among.make::<Q>(m, a, list.len(), (a + 1) / 4..stride, &self.epoch, factor, factor_of, gather);
    }

    /// Sees to it that the covariances of candidate s with the lanes are there at a depth.
    #[inline(always)]
    fn make_between<Q: Quad, const W: usize>(&mut self, rules: &Rules, list: &[u32], m: usize, s: usize, fours: usize) {
        let (factor, stride, lanes) = (&self.factor, self.among.stride, &self.lanes);
        let gather = |row: &mut [Four]| {
            let column = rules.gauss.column(list[s] as usize);
            for (value, lane) in row.as_flattened_mut().iter_mut().zip(lanes) {
                *value = column[lane.vertex as usize];
            }
        };
        let factor_of = |m: usize| factor.as_flattened()[4 * m * stride + s];
        self.between.make::<Q>(m, s, list.len(), 0..fours, &self.epoch, &self.pivot_row, factor_of, gather);
    }

    /// The last step of the set that ends in candidate s.
    #[inline(always)]
    fn leaf<Q: Quad, const W: usize>(
        &mut self,
        rules: &Rules,
        list: &[u32],
        s: usize,
        rank: u64,
        depth: usize,
        fours: usize,
    ) -> Leaf {
        self.make_between::<Q, W>(rules, list, depth - 1, s, fours);
        let stride = 4 * self.among.stride;
        let variance = self.variance.as_flattened()[depth * stride + s];
        let with_x = self.with_x.as_flattened()[depth * stride + s];
        let inverse = 1.0 / variance;
        let weight = with_x * inverse;
        let var_x = self.x[depth] - with_x * weight;
        Leaf {
            rank,
            last: s,
            factor: self.factor.as_flattened()[(depth - 1) * stride + s],
            weight,
            inverse,
            var_x,
            trusted: (variance > PIVOT) & (var_x > PIVOT),
        }
    }

    /// The lanes to be looked at, as bits (those of padding among them).
    #[inline(always)]
    fn suspects<Q: Quad, const W: usize>(&self, leaf: &Leaf, depth: usize, fours: usize, d: usize) -> u64 {
        let stride = self.between.stride;
        let row = &self.between.row(depth - 1, leaf.last, d)[..fours];
        let pivot_row = &self.pivot_row[(depth - 1) * stride..][..fours];
        let lane_x = &self.lane_x[depth * stride..][..fours];
        let lane_variance = &self.lane_variance[depth * stride..][..fours];
        let look_below = &self.look_below[..fours];
        let (factor, weight, inverse) = (Q::splat(leaf.factor), Q::splat(leaf.weight), Q::splat(leaf.inverse));
        let (var_x, pivot, collinear) = (Q::splat(leaf.var_x), Q::splat(PIVOT), Q::splat(COLLINEAR));
        let mut clear = 0;
        for i in 0..fours {
            let r = Q::load(&row[i]).sub(factor.mul(Q::load(&pivot_row[i])));
            let cov = Q::load(&lane_x[i]).sub(weight.mul(r));
            let var_y = Q::load(&lane_variance[i]).sub(r.mul(inverse).mul(r));
            let square = cov.mul(cov);
            let scale = var_x.mul(var_y);
            let above = square.above(Q::load(&look_below[i]).mul(scale));
            clear |= (above & collinear.mul(scale).above(square) & var_y.above(pivot)) << (4 * i);
        }
        !clear
    }

    /// Looks at the suspects of a set; returns those that it decides.
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn look(
        &mut self,
        rules: &Rules,
        row: &RowView,
        leaf: &Leaf,
        mut suspects: u64,
        set: &[u32],
        out: &mut dyn FnMut(&LaneOutcome),
    ) -> u64 {
        let d = self.lane_at.len();
        let depth = row.size - 1;
        let stride = 4 * self.between.stride;
        let mut decided = 0;
        while suspects != 0 {
            let i = suspects.trailing_zeros() as usize;
            suspects &= suspects - 1;
            let at = |buffer: &[Four], m: usize| buffer.as_flattened()[m * stride + i];
            let r = self.between.row(depth - 1, leaf.last, d).as_flattened()[i]
                - leaf.factor * at(&self.pivot_row, depth - 1);
            let cov = at(&self.lane_x, depth) - leaf.weight * r;
            let var_y = at(&self.lane_variance, depth) - (r * leaf.inverse) * r;
            let q = cov * cov / (leaf.var_x * var_y);
            let lane = &mut self.lanes[i];
            let own_rank = |lane: &Lane| subsets::rank_without(d, &self.positions, lane.place as usize);
            if leaf.trusted && (var_y > PIVOT) & (q < COLLINEAR) {
                if q > rules.cutoff.dependent_above {
                    if q < lane.smallest.0 {
                        lane.smallest = (q, leaf.rank);
                        self.look_below.as_flattened_mut()[i] = q;
                    }
                    continue;
                }
                if q < rules.cutoff.independent_below {
                    let verdict = Verdict::Independent { rank: own_rank(lane), p: rules.p_of_square(q) };
                    out(&LaneOutcome { lane: lane.index, verdict, set, exact_tests: lane.exact_tests });
                    decided |= 1 << i;
                    continue;
                }
            }
            if exactly(rules, row, lane, own_rank, set, out) {
                decided |= 1 << i;
            }
        }
        decided
    }

    /// Decides a set by the exact formula for all of the lanes; returns those that it decides.
    #[inline(never)]
    fn all_exactly(
        &mut self,
        rules: &Rules,
        row: &RowView,
        mut lanes: u64,
        set: &[u32],
        out: &mut dyn FnMut(&LaneOutcome),
    ) -> u64 {
        let d = self.lane_at.len();
        let mut decided = 0;
        while lanes != 0 {
            let i = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let own_rank = |lane: &Lane| subsets::rank_without(d, &self.positions, lane.place as usize);
            if exactly(rules, row, &mut self.lanes[i], own_rank, set, out) {
                decided |= 1 << i;
            }
        }
        decided
    }

    /// Tells of the lanes that no set has separated; those of a long row are walked to the end one by one.
    #[allow(clippy::too_many_arguments)]
    fn finish(
        &mut self,
        rules: &Rules,
        row: &RowView,
        active: u64,
        rank: u64,
        scratch: &mut Scratch,
        set: &mut Vec<u32>,
        signal: &Signal,
        out: &mut dyn FnMut(&LaneOutcome),
    ) {
        let list = row.neighbours.list(row.row as usize);
        let d = list.len();
        let mut positions = std::mem::take(&mut self.positions);
        let of_lane = subsets::binomial(d - 1, row.size).unwrap_or(u64::MAX);
        let mut own = |rank: u64, lane: &Lane| {
            subsets::unrank(d, rank, &mut positions);
            subsets::rank_without(d, &positions, lane.place as usize)
        };
        for lane in self.lanes.iter().enumerate().filter(|(i, _)| active >> i & 1 == 1).map(|(_, lane)| lane) {
            let mut exact_tests = lane.exact_tests;
            let (q, at) = lane.smallest;
            let smallest = (q < f64::INFINITY).then(|| (q, own(at, lane)));
            let mut verdict = Verdict::Dependent { rank: lane.exact.1, p: lane.exact.0 };
            let start = if rank < row.sets.end { own(rank, lane) } else { of_lane };
            let all_sets = subsets::binomial(d, row.size).unwrap_or(u64::MAX);
            let end = if row.sets.end < all_sets { own(row.sets.end, lane) } else { of_lane };
            let rest = side_of(row, lane.place, start..end);
            set.clear();
            if start < end {
                let for_lane = signal.for_lane(row.found.map(|found| &found[lane.index]));
                verdict = judge_side(rules, &rest, scratch, &for_lane, smallest).merge(verdict);
                exact_tests += for_lane.exact_tests();
                if let Verdict::Independent { rank, .. } | Verdict::Undefined { rank, .. } = verdict {
                    rest.side.set_into(row.neighbours, row.size, rank, set);
                }
            } else if let Some((_, rank)) = smallest {
                rest.side.set_into(row.neighbours, row.size, rank, set);
                // The quick form was trusted here, so pcalg's has an answer too.
                if let Ok(p) = rules.gauss.p_value(row.row as usize, lane.vertex as usize, set) {
                    verdict = Verdict::Dependent { rank, p }.merge(verdict);
                }
            }
            out(&LaneOutcome { lane: lane.index, verdict, set, exact_tests });
        }
        self.positions = positions;
    }
}

/// Decides one test of a lane by the exact formula; `true` when that decides the lane.
fn exactly(
    rules: &Rules,
    row: &RowView,
    lane: &mut Lane,
    own_rank: impl Fn(&Lane) -> u64,
    set: &[u32],
    out: &mut dyn FnMut(&LaneOutcome),
) -> bool {
    lane.exact_tests += 1;
    let verdict = match rules.exactly(row.row as usize, lane.vertex as usize, set) {
        Err(reason) => Verdict::Undefined { rank: own_rank(lane), reason },
        Ok((p, true)) => Verdict::Independent { rank: own_rank(lane), p },
        Ok((p, false)) => {
            if p > lane.exact.0 {
                lane.exact = (p, own_rank(lane));
            }
            return false;
        }
    };
    out(&LaneOutcome { lane: lane.index, verdict, set, exact_tests: lane.exact_tests });
    true
}

fn grow(buffer: &mut Vec<Four>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, [0.0; 4]);
    }
}

/// The bit of each lane.
pub(super) const BITS: [u64; LANES] = {
    let mut bits = [0; LANES];
    let mut i = 0;
    while i < LANES {
        bits[i] = 1 << i;
        i += 1;
    }
    bits
};
