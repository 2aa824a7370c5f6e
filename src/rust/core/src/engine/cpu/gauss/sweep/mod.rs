//! The Gaussian test of a pair given all subsets of its candidates, of many sizes.
//!
//! A set is a path from the root of a tree. Each step conditions on one more candidate after the last one. So the remaining covariances are one
//! elimination step from those of the set without its last member. Most sets end near the last candidates, where few are left, so a step is
//! short. Eight sets that differ only in three candidates run together. These three are conditioned on first, each subset of them in a lane of
//! its own. The tree of the other candidates is the same for all lanes.
//!
//! The order of eliminations depends on the candidates alone, so q does not depend on who runs which part when. As elsewhere, a test on which
//! the quick form cannot be trusted goes to pcalg's formula.

mod found;
mod lanes;
mod plan;

use super::quad::{Machine, Quad};
use super::rules::Rules;
use super::GaussKernel;
use crate::ci::gauss::{Gauss, COLLINEAR};
use crate::engine::cpu::CpuEngine;
use crate::graph::subsets;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::{Pool, Stop};
use crate::search::sweep::{Sweep, Sweeper, Swept};
use crate::simd::{self, Task};
use crate::Result;
pub use found::{Found, Sweeps};
use found::{OfSize, Part};
use lanes::{row_of, Eight, Lanes, Tail, LANES, ZEROS};
use plan::Plan;

/// Number of remaining candidates of the tree for which all sets run without a loop.
const OF_TAIL: usize = 3;

/// The least number of sets of its first size for which a sweep is taken.
const LEAST_SWEPT: u64 = 256;

impl Sweeper for CpuEngine<GaussKernel<'_>> {
    fn takes(&mut self, candidates: usize, size: usize, largest: usize) -> Option<usize> {
        let fits = size >= Sweep::FIRST_SIZE && candidates <= Sweep::MOST;
        let sets = subsets::binomial(candidates, size).filter(|_| fits);
        // From half of the candidates on, larger sets are no more numerous than smaller ones.
        let last = if 2 * size < candidates { size } else { largest };
        sets.is_some_and(|sets| sets >= LEAST_SWEPT).then_some(last)
    }

    fn sweep(&mut self, sweeps: &[Sweep], rules: (f64, bool), observer: &mut dyn Observer) -> Result<Vec<Swept>> {
        let total: f64 = sweeps.iter().map(Sweep::cost).sum();
        let size = sweeps.first().map_or(0, |sweep| *sweep.sizes.start());
        let mut follow = |share: f64| observer.progress(size, share * total, total);
        sweep_on_threads(&self.kernel.rules_of_sweeps(rules), &self.pool, sweeps, &mut follow)
    }
}

/// Returns the verdicts on sweeps, in their order. Calls `follow` with the share that is done.
pub(in crate::engine) fn sweep_on_threads(
    of: &Sweeps,
    pool: &Pool,
    sweeps: &[Sweep],
    follow: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<Swept>> {
    let mut starts = vec![0];
    for sweep in sweeps {
        starts.push(starts[starts.len() - 1] + Plan::new(sweep).parts());
    }
    let costs: Vec<f64> = sweeps.iter().map(Sweep::cost).collect();
    let total: f64 = costs.iter().sum();
    let of_task = |task: usize| starts.partition_point(|&start| start <= task) - 1;
    let cost = |task: usize| costs[of_task(task)] / (starts[of_task(task) + 1] - starts[of_task(task)]) as f64;
    let found: Vec<Found> = sweeps.iter().map(|sweep| of.open(sweep)).collect();
    let run = |scratch: &mut Scratch, task: usize, _: &Stop| {
        let at = of_task(task);
        of.run(&sweeps[at], task - starts[at], &found[at], scratch);
    };
    pool.run(starts[sweeps.len()], total < 1e5, cost, &mut |done| follow(done / total), run)?;
    let mut all: Vec<Option<Swept>> = vec![None; sweeps.len()];
    pool.each_of(all.iter_mut().enumerate().collect(), |_, (at, swept): (usize, &mut Option<Swept>)| {
        *swept = Some(of.close(&sweeps[at], &found[at]));
    });
    Ok(all.into_iter().flatten().collect())
}

/// Covariances of the variables left at a step, with x and y at the end. The upper triangle by rows, without gaps, so that the covariances of
/// the variables after a candidate are one block.
#[derive(Default)]
struct Left {
    cells: Vec<Lanes>,
    /// The smallest pivot so far.
    smallest: Lanes,
}

/// Working memory of one thread.
#[derive(Default)]
struct Scratch {
    /// The covariances of each depth.
    left: Vec<Left>,
    set: Vec<u32>,
}

impl Sweeps<'_> {
    /// Runs one part of a sweep.
    fn run(&self, sweep: &Sweep, part: usize, found: &Found, scratch: &mut Scratch) {
        let last = *sweep.sizes.end();
        let plan = Plan::new(sweep);
        let chosen = plan.part(part);
        if chosen.len() > found.limit() {
            return;
        }
        let rules: Vec<Rules> = (0..=last).map(|size| self.rules(size)).collect();
        let lanes = 1 << plan.of_lanes.len();
        let of_size = |size: usize| OfTree::new(size, lanes, &rules, sweep);
        let bounds = (0..=plan.of_tree.len()).map(of_size).collect();
        let (limit, gauss) = (found.limit(), self.gauss());
        let mut walk = Walk { gauss, rules, bounds, sweep, plan, found: Part::new(last), limit, scratch };
        if limit < last {
            walk.end_at(limit);
        }
        for (size, q) in found.smallest().into_iter().enumerate() {
            q.into_iter().for_each(|q| walk.look_below(size, q));
        }
        simd::run(Run { walk: &mut walk, chosen: &chosen });
        found.merge(walk.found);
    }
}

/// The bounds for sets with one number of candidates of the tree, by lane. Lanes have different set sizes.
struct OfTree {
    /// The lanes whose sets are wanted, as bits.
    wanted: u32,
    /// For each lane, the q below which a set is checked.
    look_below: Lanes,
    trusted_above: Lanes,
}

impl OfTree {
    fn new(size: usize, lanes: usize, rules: &[Rules], sweep: &Sweep) -> Self {
        let mut of = OfTree { wanted: 0, look_below: [[f64::INFINITY; 4]; LANES / 4], trusted_above: ZEROS };
        for lane in 0..lanes {
            let size = size + lane.count_ones() as usize;
            if sweep.sizes.contains(&size) {
                of.wanted |= 1 << lane;
                of.trusted_above.as_flattened_mut()[lane] = rules[size].trusted_above;
            }
        }
        of
    }
}

/// A part that is being run.
struct Walk<'a, 's> {
    gauss: &'a Gauss<'a>,
    /// The rules of each set size.
    rules: Vec<Rules<'a>>,
    /// The bounds for each number of candidates of the tree.
    bounds: Vec<OfTree>,
    sweep: &'a Sweep,
    plan: Plan,
    found: Part,
    /// The size above which sets do not matter any more.
    limit: usize,
    scratch: &'s mut Scratch,
}

struct Run<'w, 'a, 's> {
    walk: &'w mut Walk<'a, 's>,
    /// The candidates that define the part.
    chosen: &'w [u32],
}

impl Node {
    /// Returns the sets with one more candidate: the next one, the one after that, and so on.
    #[inline(always)]
    fn with_next(self) -> [Node; OF_TAIL] {
        std::array::from_fn(|i| {
            let at = self.next + i;
            Node { set: self.set | 1 << at, size: self.size + 1, next: at + 1 }
        })
    }
}

impl<S: Machine> Task<S> for Run<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        self.walk.run::<S::Quad>(simd, self.chosen);
    }
}

/// A set of the tree: its candidates as bits, and their number.
#[derive(Clone, Copy)]
struct Node {
    set: u64,
    size: usize,
    /// The first candidate of the tree that is left.
    next: usize,
}

impl Walk<'_, '_> {
    #[inline(always)]
    fn run<Q: Quad>(&mut self, simd: Q::Simd, chosen: &[u32]) {
        if !self.start::<Q>(simd, chosen) {
            return;
        }
        let set = chosen.iter().fold(0, |set, &at| set | 1 << at);
        let root = Node { set, size: chosen.len(), next: self.plan.of_parts };
        self.descend::<Q>(simd, root);
    }

    /// Computes the covariances given the candidates of the part and, in each lane, a subset of the lanes' candidates. Returns `false` if memory
    /// does not suffice.
    #[inline(always)]
    fn start<Q: Quad>(&mut self, simd: Q::Simd, chosen: &[u32]) -> bool {
        let Plan { of_lanes, of_tree, of_parts, .. } = &self.plan;
        let of_part = chosen.iter().map(|&at| at as usize).chain(*of_parts..of_tree.end);
        let candidates = of_lanes.clone().chain(of_part).map(|at| &self.sweep.candidates[at]);
        let vertices: Vec<usize> = candidates.chain(&self.sweep.pair).map(|&v| v as usize).collect();
        let (n, lanes) = (vertices.len(), of_lanes.len());
        let gauss = self.gauss;
        let pivots = lanes + chosen.len();
        let kept = n - pivots;
        let left = &mut self.scratch.left;
        if left.len() < kept {
            left.resize_with(kept, Left::default);
        }
        // Depth 0 first holds all n variables, and eliminates in place. Each step leaves one less.
        let of_depth = |depth: usize| if depth == 0 { n } else { kept - depth };
        for (depth, left) in left[..kept - 1].iter_mut().enumerate() {
            let n = of_depth(depth);
            if !memory::grow(&mut left.cells, n * (n + 1) / 2, ZEROS, Use::Threads) {
                return false;
            }
        }
        let Left { cells, smallest } = &mut left[0];
        let mut at = 0;
        for (i, &u) in vertices.iter().enumerate() {
            for &v in &vertices[i..] {
                cells[at] = [[gauss.correlation(u, v); 4]; LANES / 4];
                at += 1;
            }
        }
        *smallest = [[1.0; 4]; LANES / 4];
        for a in 0..pivots {
            let row = row_of(n, a);
            let pivot = cells[row];
            // A lane that does not condition on this pivot stays as it is.
            let mut inverse = ZEROS;
            let of_lane = inverse.as_flattened_mut().iter_mut().zip(pivot.as_flattened());
            for (lane, ((inverse, &pivot), smallest)) in of_lane.zip(smallest.as_flattened_mut()).enumerate() {
                if a >= lanes || lane >> a & 1 == 1 {
                    *inverse = 1.0 / pivot;
                    // -1 marks NaN: such a lane is never trusted.
                    *smallest = if pivot.is_nan() { -1.0 } else { smallest.min(pivot) };
                }
            }
            let inverse = Eight::<Q>::load(simd, &inverse);
            let (pivots, later) = cells[row..].split_at_mut(n - a);
            let mut to = 0;
            for i in 1..n - a {
                let weight = Eight::load(simd, &pivots[i]).mul(inverse);
                for (to, pivot) in later[to..].iter_mut().zip(&pivots[i..]) {
                    let step = weight.mul(Eight::load(simd, pivot));
                    Eight::load(simd, to).sub(step).store(to);
                }
                to += n - a - i;
            }
        }
        cells.copy_within(row_of(n, pivots)..n * (n + 1) / 2, 0);
        true
    }

    /// Visits a set and all that begin with it, depth first.
    #[inline(always)]
    fn descend<Q: Quad>(&mut self, simd: Q::Simd, root: Node) {
        let tree = self.plan.of_tree.len();
        let most = self.plan.of_lanes.len();
        self.enter::<Q>(simd, root, 0);
        // For each depth: the set, and the candidate that comes next.
        let mut way = Vec::with_capacity(tree + 1);
        if tree - root.next > OF_TAIL {
            way.push((root, root.next));
        }
        while let Some(&mut (node, ref mut next)) = way.last_mut() {
            let at = *next;
            let can_grow = at < tree && node.size < self.limit;
            // Sets that would stay too small even with all candidates left.
            if !can_grow || node.size + (tree - at) + most < *self.sweep.sizes.start() {
                way.pop();
                continue;
            }
            *next += 1;
            let depth = way.len() - 1;
            let n = tree - node.next + 2;
            let child = Node { set: node.set | 1 << at, size: node.size + 1, next: at + 1 };
            self.eliminate::<Q>(simd, depth, n, at - node.next);
            self.enter::<Q>(simd, child, depth + 1);
            if tree - child.next > OF_TAIL {
                way.push((child, child.next));
            }
        }
    }

    /// Conditions on the a-th of the n variables that are left at a depth.
    #[inline(always)]
    fn eliminate<Q: Quad>(&mut self, simd: Q::Simd, depth: usize, n: usize, a: usize) {
        let (above, below) = self.scratch.left.split_at_mut(depth + 1);
        let (above, below) = (&above[depth], &mut below[0]);
        let at = row_of(n, a);
        let m = n - a - 1;
        let pivot_row = &above.cells[at..at + m + 1];
        let pivot = Eight::<Q>::load(simd, &pivot_row[0]);
        let inverse = pivot.inverse(simd);
        Eight::load(simd, &above.smallest).min(pivot).store(&mut below.smallest);
        let row = &pivot_row[1..];
        let size = m * (m + 1) / 2;
        let from = &above.cells[at + m + 1..at + m + 1 + size];
        let to = &mut below.cells[..size];
        let mut k = 0;
        for i in 0..m {
            let weight = Eight::load(simd, &row[i]).mul(inverse);
            let (to, from) = (&mut to[k..k + m - i], &from[k..k + m - i]);
            for ((to, from), row) in to.iter_mut().zip(from).zip(&row[i..]) {
                let step = weight.mul(Eight::load(simd, row));
                Eight::load(simd, from).sub(step).store(to);
            }
            k += m - i;
        }
    }

    /// Checks a set. If no more than [`OF_TAIL`] candidates are left, checks all sets that begin with it, too.
    #[inline(always)]
    fn enter<Q: Quad>(&mut self, simd: Q::Simd, node: Node, depth: usize) {
        let left = self.plan.of_tree.len() - node.next;
        let Left { cells, smallest } = &self.scratch.left[depth];
        match left {
            0 => self.visit::<Q>(simd, node, &Tail::load(simd, cells, smallest)),
            1 => self.tail_of_1::<Q>(simd, node, &Tail::load(simd, cells, smallest)),
            2 => self.tail_of_2::<Q>(simd, node, &Tail::load(simd, cells, smallest)),
            OF_TAIL => {
                let tail: Tail<Q, 15> = Tail::load(simd, cells, smallest);
                let [first, second, third] = node.with_next();
                self.visit::<Q>(simd, node, &tail.last());
                if node.size < self.limit {
                    self.tail_of_2::<Q>(simd, first, &tail.given::<5, 0, 10>(simd));
                    self.tail_of_1::<Q>(simd, second, &tail.given::<5, 1, 6>(simd));
                    self.visit::<Q>(simd, third, &tail.given::<5, 2, 3>(simd));
                }
            }
            _ => {
                let end = (left + 2) * (left + 3) / 2;
                self.visit::<Q>(simd, node, &Tail::load(simd, &cells[end - 3..end], smallest));
            }
        }
    }

    /// Checks a set, and those with the two candidates that are left.
    #[inline(always)]
    fn tail_of_2<Q: Quad>(&mut self, simd: Q::Simd, node: Node, tail: &Tail<Q, 10>) {
        let [first, second, _] = node.with_next();
        self.visit::<Q>(simd, node, &tail.last());
        self.tail_of_1::<Q>(simd, first, &tail.given::<4, 0, 6>(simd));
        self.visit::<Q>(simd, second, &tail.given::<4, 1, 3>(simd));
    }

    /// Checks a set, and the one with the one candidate that is left.
    #[inline(always)]
    fn tail_of_1<Q: Quad>(&mut self, simd: Q::Simd, node: Node, tail: &Tail<Q, 6>) {
        let [first, ..] = node.with_next();
        self.visit::<Q>(simd, node, &tail.last());
        self.visit::<Q>(simd, first, &tail.given::<3, 0, 3>(simd));
    }

    /// Checks the tests given a set, in all lanes.
    #[inline(always)]
    fn visit<Q: Quad>(&mut self, simd: Q::Simd, node: Node, left: &Tail<Q, 3>) {
        let OfTree { wanted, look_below, trusted_above } = &self.bounds[node.size];
        let [xx, xy, yy] = left.cells;
        let (scale, square) = (xx.mul(yy), xy.mul(xy));
        let smaller = xx.min(yy);
        let [none, collinear] = [Eight::splat(simd, 0.0), Eight::splat(simd, COLLINEAR)];
        let clear = Eight::all_above([
            (square, Eight::load(simd, look_below).mul(scale)),
            (collinear.mul(scale), square),
            (smaller, none),
            (left.smallest.mul(smaller), Eight::load(simd, trusted_above)),
        ]);
        let suspects = wanted & !clear;
        if suspects != 0 {
            let mut lanes = [ZEROS; 4];
            for (lanes, of) in lanes.iter_mut().zip([xx, xy, yy, left.smallest]) {
                of.store(lanes);
            }
            self.look(node, &lanes, suspects);
        }
    }

    /// Checks single tests given a set.
    #[inline(never)]
    fn look(&mut self, node: Node, cells: &[Lanes; 4], mut suspects: u32) {
        let [x, y] = self.sweep.pair.map(|v| v as usize);
        while suspects != 0 {
            let lane = suspects.trailing_zeros() as usize;
            suspects &= suspects - 1;
            let set = node.set | (lane as u64) << self.plan.of_lanes.start;
            let size = set.count_ones() as usize;
            if size > self.limit {
                continue;
            }
            let [xx, xy, yy, smallest] = cells.each_ref().map(|lanes| lanes.as_flattened()[lane]);
            let q = xy * xy / (xx * yy);
            let condition = smallest * xx.min(yy);
            let rules = &self.rules[size];
            let of = &mut self.found.of_size[size];
            if (condition > rules.trusted_above) & (xx > 0.0) & (yy > 0.0) & (q < COLLINEAR) {
                if q > rules.cutoff.dependent_above {
                    if of.is_smallest(q, set) {
                        of.smallest = Some((q, set));
                        self.look_below(size, q);
                    }
                    continue;
                }
                if q < rules.cutoff.independent_below {
                    if !of.is_past(set) {
                        self.sweep.members(set, &mut self.scratch.set);
                        of.end = Some((set, Ok(rules.p_of_square(q, condition, x, y, &self.scratch.set))));
                        self.end_at(size);
                    }
                    continue;
                }
            }
            if of.is_past(set) {
                continue;
            }
            self.found.exact_tests += 1;
            self.sweep.members(set, &mut self.scratch.set);
            of.merge(OfSize::of_exact(set, rules.exactly(x, y, &self.scratch.set)));
            if of.is_past(set) || of.end.is_some_and(|(last, _)| last == set) {
                self.end_at(size);
            }
        }
    }

    /// Has sets of this size checked only if their q is below this.
    fn look_below(&mut self, size: usize, q: f64) {
        for (of_tree, bounds) in self.bounds.iter_mut().enumerate() {
            for (lane, bound) in bounds.look_below.as_flattened_mut().iter_mut().enumerate() {
                if of_tree + lane.count_ones() as usize == size {
                    *bound = q;
                }
            }
        }
    }

    /// Ends the sweep at this size: larger sets do not matter any more.
    fn end_at(&mut self, size: usize) {
        self.limit = self.limit.min(size);
        for (of_tree, bounds) in self.bounds.iter_mut().enumerate() {
            for lane in (0..LANES).filter(|lane| of_tree + lane.count_ones() as usize > size) {
                bounds.wanted &= !(1 << lane);
            }
        }
    }
}
