//! A walk through the conditioning sets of a side in rank order, a block of q at a time.
//!
//! Sets of one variable are gathered from two columns of C. Larger sets share their prefix: {a_1 < .. < a_l} is the prefix {a_1, .., a_(l-1)}
//! and a last element s. The walk visits prefixes depth-first, one pivot a step. It keeps the covariances of x, y and every later candidate
//! given the prefix (rows of a Cholesky factor). A test is then one more elimination step: about a dozen operations for any l, and consecutive s
//! are consecutive lanes.

use super::judge::Judge;
use super::rules::Rules;
use crate::ci::gauss::COLLINEAR;
use crate::engine::cpu::kernel::{SideView, Signal};
use crate::graph::subsets;
use crate::memory::{self, Use};
use crate::search::level::{CandidateOrder, Verdict};
use crate::simd::{self, Task};

/// Number of tests in a block.
const BLOCK: usize = 64;

/// Working memory of one thread.
#[derive(Default)]
pub struct Scratch {
    candidates: Vec<u32>,
    walker: Walker,
}

/// Buffers of the walk.
#[derive(Default)]
struct Walker {
    /// Rows of C among the candidates, `rows[a * d + s]` for s > a, gathered when a first becomes a pivot.
    rows: Vec<f64>,
    gathered: Vec<bool>,
    /// For each depth: Cholesky row of the pivot, covariances of x and of y with the candidates, variances of the candidates.
    factor: Vec<f64>,
    with_x: Vec<f64>,
    with_y: Vec<f64>,
    variance: Vec<f64>,
    /// For each depth: var(x), var(y), cov(x, y) given the pivots above, and the smallest of these pivots.
    ends: Vec<[f64; 3]>,
    smallest: Vec<f64>,
    positions: Vec<u32>,
    set: Vec<u32>,
    block: Block,
}

/// A block of tests: for each, the candidate, its covariances with x and y, q, and how reliable q is.
struct Block {
    at: [u32; BLOCK],
    with_x: [f64; BLOCK],
    with_y: [f64; BLOCK],
    q: [f64; BLOCK],
    condition: [f64; BLOCK],
}

impl Default for Block {
    fn default() -> Self {
        Block { at: [0; BLOCK], with_x: [0.0; BLOCK], with_y: [0.0; BLOCK], q: [0.0; BLOCK], condition: [0.0; BLOCK] }
    }
}

/// Decides the ranks of a side. `smallest` is the smallest q of its earlier tests, with its rank, if known.
pub(super) fn judge_side(
    rules: &Rules,
    side: &SideView,
    scratch: &mut Scratch,
    signal: &Signal,
    smallest: Option<(f64, u64)>,
) -> Verdict {
    let mut judge = Judge::new(rules, side, signal, smallest);
    let Scratch { candidates, walker } = scratch;
    let ended = if side.size == 1 {
        simd::run(Singles(&mut judge, walker))
    } else {
        side.side.candidates(side.neighbours, candidates);
        simd::run(Sets(&mut judge, candidates, walker))
    };
    match ended {
        Some(verdict) => verdict,
        None => judge.dependent(),
    }
}

/// A task that runs sets of one variable.
struct Singles<'a, 'b>(&'a mut Judge<'b>, &'a mut Walker);

impl<S> Task<S> for Singles<'_, '_> {
    type Output = Option<Verdict>;

    #[inline(always)]
    fn run(self, _: S) -> Option<Verdict> {
        singles(self.0, self.1)
    }
}

/// A task that runs sets of two or more variables among these candidates.
struct Sets<'a, 'b>(&'a mut Judge<'b>, &'a [u32], &'a mut Walker);

impl<S> Task<S> for Sets<'_, '_> {
    type Output = Option<Verdict>;

    #[inline(always)]
    fn run(self, _: S) -> Option<Verdict> {
        sets(self.0, self.1, self.2)
    }
}

/// Returns q if the quick form may be trusted, else -1 (also for any NaN). Also returns the condition that says so: the smallest pivot times the
/// smaller remaining variance. `scale` is the last pivot, by which numerator and denominators are multiplied; `pivot` is the smallest of those
/// before.
#[inline(always)]
fn trusted(num: f64, den_x: f64, den_y: f64, scale: f64, pivot: f64, above: f64) -> (f64, f64) {
    let q = num * num / (den_x * den_y);
    let den = if den_x < den_y { den_x } else { den_y };
    // den / scale is the smaller variance. If the last pivot is the smallest, it cancels.
    let condition = if scale < pivot { den } else { den * pivot / scale };
    if (condition > above) & (den_x > 0.0) & (den_y > 0.0) & (scale > 0.0) & (q >= 0.0) {
        (q, condition)
    } else {
        (-1.0, condition)
    }
}

/// Runs conditioning sets of one variable. Most pairs are separated by one of their first sets, so candidates are taken when needed: from the
/// row's list, or without common neighbours. Those come last, and sets of them alone are not visited.
#[inline(always)]
fn singles(judge: &mut Judge, walker: &mut Walker) -> Option<Verdict> {
    let (x, y) = (judge.row(), judge.other());
    let neighbours = judge.side.neighbours;
    let place = judge.side.side.place as usize;
    let list = neighbours.list(x);
    let mut rank = judge.side.ranks.start as usize;
    match judge.side.side.order {
        CandidateOrder::CommonLast => {
            let mut candidates = neighbours.without(x, y);
            if rank > 0 {
                candidates.nth(rank - 1);
            }
            singles_of(judge, &mut walker.block, |block, wanted| {
                block[..wanted].fill_with(|| candidates.next().unwrap_or_default());
            })
        }
        CandidateOrder::Ascending => singles_of(judge, &mut walker.block, |block, wanted| {
            let before = place.saturating_sub(rank).min(wanted);
            block[..before].copy_from_slice(&list[rank..rank + before]);
            if before < wanted {
                block[before..wanted].copy_from_slice(&list[rank + before + 1..rank + wanted + 1]);
            }
            rank += wanted;
        }),
    }
}

/// Runs [`singles`] with `fill(block, n)`, which writes the next n candidates.
#[inline(always)]
fn singles_of(judge: &mut Judge, block: &mut Block, mut fill: impl FnMut(&mut [u32; BLOCK], usize)) -> Option<Verdict> {
    let (x, y) = (judge.row(), judge.other());
    let (cx, cy) = (judge.rules.gauss.column(x), judge.rules.gauss.column(y));
    let xy = cx[y];
    let (mut rank, end) = (judge.side.ranks.start, judge.side.ranks.end);
    assert!(
        judge.side.neighbours.p() <= cx.len() && cx.len() == cy.len(),
        "a graph on more vertices than the test has"
    );
    let Block { at, with_x: r_x, with_y: r_y, q, condition } = block;
    let above = judge.rules.trusted_above;
    // Short at first, because half of the pairs are separated within a few sets.
    let mut width = BLOCK / 4;
    while rank < end {
        if judge.signal.leave_at(rank) {
            break;
        }
        let n = ((end - rank) as usize).min(width);
        fill(at, n);
        for i in 0..n {
            let k = at[i] as usize;
            debug_assert!(k < cx.len());
            // SAFETY: candidates are vertices of the side's graph; `Neighbours` ensures it. The graph has no more vertices than the columns of C
            // have entries, as asserted above. Checks here would cost a third of level 1.
            unsafe {
                r_x[i] = *cx.get_unchecked(k);
                r_y[i] = *cy.get_unchecked(k);
            }
        }
        for i in 0..n {
            let (a, b) = (r_x[i], r_y[i]);
            (q[i], condition[i]) = trusted(xy - a * b, 1.0 - a * a, 1.0 - b * b, 1.0, 1.0, above);
        }
        let verdict = judge.block(&q[..n], &condition[..n], rank, |i| [at[i]]);
        if verdict.is_some() {
            return verdict;
        }
        rank += n as u64;
        width = BLOCK;
    }
    None
}

/// Runs conditioning sets of two or more variables.
#[inline(always)]
fn sets(judge: &mut Judge, candidates: &[u32], walker: &mut Walker) -> Option<Verdict> {
    let size = judge.side.size;
    let d = candidates.len();
    let (mut rank, end) = (judge.side.ranks.start, judge.side.ranks.end);
    if !walker.start(judge, candidates, size, rank) {
        return None;
    }
    // Depths below this one are up to date; `broken` is the first depth whose pivot is too small, if any.
    let mut fresh = 0;
    let mut broken: Option<usize> = None;
    while rank < end {
        if judge.signal.leave_at(rank) {
            break;
        }
        while fresh < size - 1 && broken.is_none() {
            if walker.eliminate(judge, candidates, fresh) {
                fresh += 1;
            } else {
                broken = Some(fresh);
            }
        }
        let first = walker.positions[size - 1] as usize;
        let last = d.min(first + (end - rank).min(d as u64) as usize);
        for (set, &at) in walker.set.iter_mut().zip(&walker.positions) {
            *set = candidates[at as usize];
        }
        if broken.is_some() {
            for (i, &candidate) in candidates[first..last].iter().enumerate() {
                walker.set[size - 1] = candidate;
                let verdict = judge.exactly(rank + i as u64, &walker.set);
                if verdict.is_some() {
                    return verdict;
                }
            }
        } else {
            let depth = (size - 1) * d;
            let [xx, yy, xy] = walker.ends[size - 1];
            let pivot = walker.smallest[size - 1];
            let above = judge.rules.trusted_above;
            let mut s = first;
            while s < last {
                let n = (last - s).min(BLOCK);
                let with_x = &walker.with_x[depth + s..depth + s + n];
                let with_y = &walker.with_y[depth + s..depth + s + n];
                let variance = &walker.variance[depth + s..depth + s + n];
                for i in 0..n {
                    let (v, a, b) = (variance[i], with_x[i], with_y[i]);
                    let (value, condition) = trusted(xy * v - a * b, xx * v - a * a, yy * v - b * b, v, pivot, above);
                    // If x and y are collinear given the set, pcalg's pseudo-inverse drops a dimension, and may not find them dependent. With
                    // one variable pcalg's formula is the recursion, which does.
                    walker.block.q[i] = if value < COLLINEAR { value } else { -1.0 };
                    walker.block.condition[i] = condition;
                }
                let set = &mut walker.set;
                let (q, condition) = (&walker.block.q[..n], &walker.block.condition[..n]);
                let verdict = judge.block(q, condition, rank + (s - first) as u64, |i| {
                    set[size - 1] = candidates[s + i];
                    set.clone()
                });
                if verdict.is_some() {
                    return verdict;
                }
                s += n;
            }
        }
        rank += (last - first) as u64;
        if rank >= end {
            break;
        }
        let place = subsets::advance_prefix(d, &mut walker.positions);
        fresh = fresh.min(place);
        if broken.is_some_and(|at| at >= place) {
            broken = None;
        }
    }
    None
}

impl Walker {
    /// Gathers the data of depth 0 and places the walk at a rank. Returns `false` if memory does not suffice.
    #[inline(always)]
    fn start(&mut self, judge: &Judge, candidates: &[u32], size: usize, rank: u64) -> bool {
        let d = candidates.len();
        let (x, y) = (judge.row(), judge.other());
        let (cx, cy) = (judge.rules.gauss.column(x), judge.rules.gauss.column(y));
        let buffers = [&mut self.factor, &mut self.with_x, &mut self.with_y, &mut self.variance];
        if !grow(&mut self.rows, d * d) || !buffers.into_iter().all(|buffer| grow(buffer, size * d)) {
            return false;
        }
        self.gathered.clear();
        self.gathered.resize(d, false);
        self.ends.clear();
        self.ends.resize(size, [0.0; 3]);
        self.smallest.clear();
        self.smallest.resize(size, 1.0);
        self.ends[0] = [cx[x], cy[y], cx[y]];
        for (s, &v) in candidates.iter().enumerate() {
            let v = v as usize;
            self.with_x[s] = cx[v];
            self.with_y[s] = cy[v];
            self.variance[s] = judge.rules.gauss.correlation(v, v);
        }
        self.positions.clear();
        self.positions.resize(size, 0);
        subsets::unrank(d, rank, &mut self.positions);
        self.set.clear();
        self.set.resize(size, 0);
        true
    }

    /// Conditions on the pivot of `depth`. Returns `false` if its variance, or the remaining variance of x or y, is too small.
    #[inline(always)]
    fn eliminate(&mut self, judge: &Judge, candidates: &[u32], depth: usize) -> bool {
        let d = candidates.len();
        let a = self.positions[depth] as usize;
        let here = depth * d;
        let pivot = self.variance[here + a];
        if !(pivot > judge.rules.trusted_above) {
            return false;
        }
        self.smallest[depth + 1] = self.smallest[depth].min(pivot);
        if !self.gathered[a] {
            self.gathered[a] = true;
            let column = judge.rules.gauss.column(candidates[a] as usize);
            for s in a + 1..d {
                self.rows[a * d + s] = column[candidates[s] as usize];
            }
        }
        let scale = 1.0 / pivot.sqrt();
        let from = a + 1;
        // Row of the Cholesky factor: C[a, s] minus what the pivots above explain, divided by the root of the pivot.
        {
            let (above, row) = self.factor.split_at_mut(here);
            let row = &mut row[from..d];
            row.copy_from_slice(&self.rows[a * d + from..a * d + d]);
            for m in 0..depth {
                let weight = above[m * d + a];
                for (value, &u) in row.iter_mut().zip(&above[m * d + from..m * d + d]) {
                    *value -= weight * u;
                }
            }
            for value in row.iter_mut() {
                *value *= scale;
            }
        }
        let row = &self.factor[here + from..here + d];
        let x_a = self.with_x[here + a] * scale;
        let y_a = self.with_y[here + a] * scale;
        step(&mut self.with_x, here, from, d, row, |value, u| value - x_a * u);
        step(&mut self.with_y, here, from, d, row, |value, u| value - y_a * u);
        step(&mut self.variance, here, from, d, row, |value, u| value - u * u);
        let [xx, yy, xy] = self.ends[depth];
        let left = [xx - x_a * x_a, yy - y_a * y_a, xy - x_a * y_a];
        self.ends[depth + 1] = left;
        self.smallest[depth + 1] * left[0].min(left[1]) > judge.rules.trusted_above
    }
}

/// Writes `f(value, u)` of one depth to the next, for the candidates after the pivot.
#[inline(always)]
fn step(buffer: &mut [f64], here: usize, from: usize, d: usize, row: &[f64], f: impl Fn(f64, f64) -> f64) {
    let (above, below) = buffer.split_at_mut(here + d);
    let above = &above[here + from..here + d];
    for ((out, &value), &u) in below[from..d].iter_mut().zip(above).zip(row) {
        *out = f(value, u);
    }
}

fn grow(buffer: &mut Vec<f64>, len: usize) -> bool {
    memory::grow(buffer, len, 0.0, Use::Threads)
}
