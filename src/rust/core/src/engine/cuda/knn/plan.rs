//! What a batch of nearest-neighbour tests needs of a card's memory, and how it is cut into launches.

use super::kernels::sums_kernel;
use super::KnnStrategy;
use crate::engine::cuda::kernels::WARP;

/// Threads of a block: those that sum, look for neighbours and permute; those of the paper.
pub const THREADS: u32 = 128;
pub const PAPER_THREADS: u32 = 32;

/// Warps of a block of [`THREADS`].
const WARPS: u64 = (THREADS / WARP) as u64;

/// Pairs of samples times permutations of a launch: some hundredths of a second.
const SLICE_PAIRS: u64 = 20_000_000_000;

/// Samples times permutations of a launch that permutes: likewise.
const SLICE_STEPS: u64 = 400_000_000;

/// Permutations of a launch at most: their sums lie in a block's shared memory.
const MOST_PERMUTATIONS: usize = 128;

/// Warps of a processor that it keeps busy: of those with their distances in registers, and of those with rows in memory.
const BUSY_IN_REGISTERS: u64 = 64;
const BUSY_IN_MEMORY: u64 = 16;

/// Members of sets that there is room for, by test. Blocks whose sets are larger have fewer tests.
const MEMBERS: usize = 32;

/// Bytes, rounded up to what allocations are aligned to.
pub fn aligned(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(256)
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub n: usize,
    pub p: usize,
    /// Bytes of a value: 4 for whole numbers, 8 for others.
    pub cell: usize,
    pub k: usize,
    pub k_perm: usize,
    /// Permutations of a test.
    pub permutations: usize,
    pub strategy: KnnStrategy,
    /// Multiprocessors of the card.
    pub processors: u32,
}

impl Shape {
    /// Whether warps hold their distances in registers.
    pub fn in_registers(&self) -> bool {
        sums_kernel(self.n, self.cell == 4).1
    }

    /// Values in a row of distances.
    pub fn row(&self) -> u64 {
        self.n.next_multiple_of(WARP as usize) as u64
    }

    /// Samples, each with `count` permutations, of a launch that sums.
    fn slice_samples(&self, count: usize) -> u64 {
        // A sorted list is walked for every sample that enters it.
        let cost = if self.strategy == KnnStrategy::Shared { 1 } else { 8 + self.k as u64 / 2 };
        (SLICE_PAIRS / (cost * (self.n * count) as u64)).max(1)
    }

    /// Samples that each warp takes, of `tests` with `count` permutations each.
    pub fn samples_a_warp(&self, tests: usize, count: usize, row_warps: u64) -> u64 {
        let (warps, most) = if self.in_registers() {
            (u64::from(self.processors) * BUSY_IN_REGISTERS, 32)
        } else {
            (row_warps, self.n as u64)
        };
        ((tests * self.n) as u64).min(self.slice_samples(count)).div_euclid(warps.max(1)).clamp(1, most)
    }

    /// Blocks of a launch that sums `count` permutations, each warp of them so many samples.
    pub fn slice_blocks(&self, count: usize, samples_a_warp: u64, row_warps: u64) -> u64 {
        let by_time = (self.slice_samples(count) / (WARPS * samples_a_warp)).max(1);
        if self.in_registers() {
            by_time
        } else {
            by_time.min(row_warps / WARPS)
        }
    }

    /// Permutations of a launch by the paper's kernel.
    pub fn slice_permutations(&self) -> u64 {
        // A grid's second dimension ends at 65,535.
        (self.slice_samples(1) / self.n as u64).clamp(1, 65_535)
    }

    /// Samples whose neighbours in a set one launch looks for.
    pub fn slice_neighbours(&self) -> u64 {
        (SLICE_PAIRS / (8 * self.n as u64)).max(1)
    }
}

/// Bytes by use, and what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Tests at once.
    pub tests: usize,
    /// Permutations of each at once, the data itself among them.
    pub permutations: usize,
    /// Members of all sets at once.
    pub members: usize,
    /// Warps that have rows of distances in memory: three each for sums, one for neighbours.
    pub row_warps: u64,
    /// Columns, caps and terms.
    pub data: u64,
    /// Tests: their variables, sets and keys.
    pub of_tests: u64,
    /// Sets.
    pub of_sets: u64,
    /// Neighbours of each sample in each set.
    pub neighbours: u64,
    /// Permuted x.
    pub permuted: u64,
    /// What permutations are drawn in.
    pub walks: u64,
    /// Rows of distances.
    pub rows: u64,
    /// Sums of terms.
    pub sums: u64,
}

impl Plan {
    /// As many tests at once as there is room for in `limit` bytes; of one with one permutation where there is not.
    pub fn new(shape: &Shape, limit: u64) -> Plan {
        let all = shape.permutations + 1;
        let rows_of = if shape.in_registers() { 1 } else { 3 };
        let a_warp = rows_of * shape.row() * shape.cell as u64;
        let busy =
            u64::from(shape.processors) * if shape.in_registers() { BUSY_IN_REGISTERS / 2 } else { BUSY_IN_MEMORY };
        let data =
            aligned(shape.n * shape.p * shape.cell) + aligned(shape.p * shape.cell) + 2 * aligned(8 * (shape.n + 1));
        let room = limit.saturating_sub(data);
        let row_warps = (room / 3 / a_warp).min(busy).max(1).next_multiple_of(WARPS);
        let mut plan = Plan::of(shape, 1, MOST_PERMUTATIONS.min(all), row_warps);
        while plan.total() > limit && plan.permutations > 1 {
            plan = Plan::of(shape, 1, plan.permutations / 2, row_warps);
        }
        let by_strategy = match shape.strategy {
            KnnStrategy::Shared | KnnStrategy::Parallel { block: 0 } => usize::MAX,
            KnnStrategy::Single => 1,
            KnnStrategy::Parallel { block } => block as usize,
        };
        let by_time = SLICE_STEPS / (shape.n * plan.permutations) as u64;
        let most = by_strategy.min(by_time as usize).max(1);
        let (mut fits, mut beyond) = (1, most + 1);
        while beyond - fits > 1 {
            let tests = fits + (beyond - fits) / 2;
            if Plan::of(shape, tests, plan.permutations, row_warps).total() <= limit {
                fits = tests;
            } else {
                beyond = tests;
            }
        }
        Plan::of(shape, fits, plan.permutations, row_warps)
    }

    fn of(shape: &Shape, tests: usize, permutations: usize, row_warps: u64) -> Plan {
        let Shape { n, p, cell, k_perm, .. } = *shape;
        let all = tests * permutations;
        let members = (MEMBERS * tests).max(p);
        let rows_of = if shape.in_registers() { 1 } else { 3 };
        Plan {
            tests,
            permutations,
            members,
            row_warps,
            data: aligned(n * p * cell) + aligned(p * cell) + 2 * aligned(8 * (n + 1)),
            of_tests: 3 * aligned(4 * tests) + aligned(8 * tests),
            of_sets: aligned(4 * (tests + 1)) + aligned(4 * members) + aligned(8 * tests),
            neighbours: aligned(4 * tests * n * k_perm),
            permuted: aligned(all * n * cell),
            walks: aligned(4 * all * n) + aligned(4 * all * n.div_ceil(32)) + aligned(4 * all * k_perm),
            rows: (row_warps * rows_of * shape.row() * cell as u64).next_multiple_of(256),
            sums: aligned(8 * all),
        }
    }

    /// Bytes of all.
    pub fn total(&self) -> u64 {
        self.list().iter().map(|(_, bytes)| bytes).sum()
    }

    /// (use, bytes).
    pub fn list(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("data", self.data),
            ("tests", self.of_tests),
            ("sets", self.of_sets),
            ("neighbours", self.neighbours),
            ("permuted", self.permuted),
            ("walks", self.walks),
            ("rows", self.rows),
            ("sums", self.sums),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(n: usize, cell: usize, strategy: KnnStrategy) -> Shape {
        Shape { n, p: 50, cell, k: 7, k_perm: 5, permutations: 100, strategy, processors: 132 }
    }

    #[test]
    fn plans_fill_their_limit_and_do_not_pass_it() {
        for n in [20, 1000, 1100, 60_000] {
            for cell in [4, 8] {
                for limit in [64 << 20, 1 << 30, 8 << 30] {
                    let shape = shape(n, cell, KnnStrategy::Shared);
                    let plan = Plan::new(&shape, limit);
                    let least = Plan::of(&shape, 1, 1, plan.row_warps).total();
                    assert!(plan.total() <= limit || plan.total() == least, "{shape:?} {limit}: {plan:?}");
                    let more = Plan::of(&shape, plan.tests + 1, plan.permutations, plan.row_warps);
                    let by_time = ((plan.tests + 1) * plan.permutations * n) as u64 > SLICE_STEPS;
                    assert!(more.total() > limit || by_time, "{shape:?} {limit}: {plan:?}");
                }
            }
        }
    }

    #[test]
    fn strategies_have_their_blocks() {
        assert_eq!(Plan::new(&shape(100, 4, KnnStrategy::Single), 1 << 30).tests, 1);
        assert_eq!(Plan::new(&shape(100, 4, KnnStrategy::Parallel { block: 3 }), 1 << 30).tests, 3);
        assert!(Plan::new(&shape(100, 4, KnnStrategy::Parallel { block: 0 }), 1 << 30).tests > 1000);
    }

    #[test]
    fn launches_are_short_and_fill_the_card() {
        for n in [60, 1000, 10_000, 60_000] {
            let shape = shape(n, 4, KnnStrategy::Shared);
            let plan = Plan::new(&shape, 4 << 30);
            let samples = shape.samples_a_warp(plan.tests, plan.permutations, plan.row_warps);
            let blocks = shape.slice_blocks(plan.permutations, samples, plan.row_warps);
            let pairs = blocks * WARPS * samples * (n * plan.permutations) as u64;
            assert!(pairs <= 2 * SLICE_PAIRS, "{n}: {pairs}");
            let tiles = (n as u64).div_ceil(WARPS * samples);
            assert!(blocks.min(plan.tests as u64 * tiles) >= 4 * 132, "{n}: {blocks} blocks");
        }
    }
}
