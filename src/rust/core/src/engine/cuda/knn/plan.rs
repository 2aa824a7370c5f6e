//! The memory that a batch of nearest-neighbour tests needs on a GPU.

use super::shape::{Form, Shape, BUSY_IN_MEMORY, BUSY_IN_REGISTERS, WARPS};
use super::KnnStrategy;
use crate::engine::cuda::gpu::buffer::BufferId;
use crate::engine::cuda::gpu::plan::aligned;

/// Most samples times permutations of all tests that run at once.
const SLICE_STEPS: u64 = 400_000_000;

/// Most permutations of a test at once that a plan has room for: warps keep their sums in a block's shared memory.
const MOST_PERMUTATIONS: usize = 128;

/// Permutations of all tests together that keep a large GPU busy, with one thread drawing each.
const BUSY_DRAWING: usize = 1 << 14;

/// Places times permutations that fill a large GPU.
const BUSY_PLACES: usize = 1 << 18;

/// Members of sets per test that a plan has room for. Blocks with larger sets have fewer tests.
const MEMBERS_A_TEST: usize = 32;

/// Planes that a plan has room for if memory allows; a plan with more tests has one per test.
const PLANES: usize = 64;

/// How much runs at once, and the bytes that this takes by use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPlan {
    /// Tests at once.
    pub tests: usize,
    /// Permutations of each test at once; the unpermuted data count as one.
    pub permutations: usize,
    /// Members of all sets at once.
    pub members: usize,
    /// Planes of columns at once.
    pub planes: usize,
    /// Planes of permuted x at once.
    pub slots: usize,
    /// Warps with rows of distances in device memory: three rows each for sums, one for neighbours.
    pub row_warps: u64,
    /// Bytes of columns and terms.
    pub data: u64,
    /// Bytes of the tests' variables, sets, keys, guides and planes.
    pub of_tests: u64,
    /// Bytes of the sets.
    pub of_sets: u64,
    /// Bytes of the neighbours of each sample in each set.
    pub neighbours: u64,
    /// Bytes of permuted x.
    pub permuted: u64,
    /// Bytes of permutations that are drawn.
    pub drawn: u64,
    /// Blocks that draw at once with their claims in device memory, and the bytes of these; 0 if shared memory is enough.
    pub claim_rows: u64,
    pub claims: u64,
    /// Bytes of rows of distances.
    pub rows: u64,
    /// Bytes of planes of columns, and of the lists that describe them.
    pub of_planes: u64,
    /// Bytes of planes of permuted x.
    pub of_slots: u64,
    /// Bytes of the sums of terms, and of their comparisons with those of the data.
    pub sums: u64,
}

impl BlockPlan {
    /// Plans as many tests at once, of sets with up to `dims` members, as fit into `limit` bytes; at least one test with one permutation.
    pub fn new(shape: &Shape, dims: usize, limit: u64) -> BlockPlan {
        let all = shape.permutations + 1;
        let by_planes = shape.form() == Form::Planes;
        let needs_slots = by_planes && !shape.in_shared();
        let fewest = if by_planes { dims.max(1) } else { 0 };
        let in_memory = u64::from(shape.drawing().1 == 0);
        let least = BlockPlan::of(shape, 1, 1, WARPS, fewest, usize::from(needs_slots), in_memory).total();
        // Rows, slots and planes each get at most a quarter of the bytes beyond the least, and claims an eighth; tests get the rest.
        let quarter = limit.saturating_sub(least) / 4;
        let busy =
            u64::from(shape.processors) * if shape.in_registers() { BUSY_IN_REGISTERS / 2 } else { BUSY_IN_MEMORY };
        let a_warp = shape.rows_a_warp() * shape.row() * shape.cell() as u64;
        let row_warps = (WARPS + quarter / a_warp / WARPS * WARPS).min(busy.next_multiple_of(WARPS));
        let more_planes = (quarter / shape.plane_bytes()) as usize;
        let slots = if needs_slots { BUSY_PLACES.div_ceil(shape.n).min(1 + more_planes) } else { 0 };
        let planes = if by_planes { PLANES.max(fewest).min(fewest + more_planes) } else { 0 };
        let claim_rows = in_memory * (1 + quarter / (16 * shape.n as u64)).min(shape.processors.into());
        let of = |tests, permutations| BlockPlan::of(shape, tests, permutations, row_warps, planes, slots, claim_rows);
        let mut permutations = MOST_PERMUTATIONS.min(all);
        while of(1, permutations).total() > limit && permutations > 1 {
            permutations /= 2;
        }
        let by_strategy = match shape.strategy {
            KnnStrategy::Shared | KnnStrategy::Parallel { block: 0 } => usize::MAX,
            KnnStrategy::Single => 1,
            KnnStrategy::Parallel { block } => block as usize,
        };
        let by_time = SLICE_STEPS / (shape.n * permutations) as u64;
        let most = by_strategy.min(by_time as usize).max(1);
        let (mut fits, mut beyond) = (1, most + 1);
        while beyond - fits > 1 {
            let tests = fits + (beyond - fits) / 2;
            if of(tests, permutations).total() <= limit {
                fits = tests;
            } else {
                beyond = tests;
            }
        }
        of(fits, permutations)
    }

    fn of(
        shape: &Shape,
        tests: usize,
        permutations: usize,
        row_warps: u64,
        least_planes: usize,
        slots: usize,
        claim_rows: u64,
    ) -> BlockPlan {
        let Shape { n, p, k_perm, .. } = *shape;
        let by_planes = shape.form() == Form::Planes;
        let cell = if by_planes { 2 } else { shape.cell() };
        let all = tests * permutations;
        let members = (MEMBERS_A_TEST * tests).max(p);
        let planes = if by_planes { least_planes.max(tests) } else { 0 };
        BlockPlan {
            tests,
            permutations,
            members,
            planes,
            slots,
            row_warps,
            data: shape.data(),
            of_tests: 7 * aligned(4 * tests) + aligned(8 * tests),
            of_sets: aligned(4 * (tests + 1)) + aligned(4 * members) + aligned(8 * tests),
            neighbours: aligned(4 * tests * n * k_perm),
            permuted: aligned(all * shape.permuted_row() * cell),
            drawn: aligned(all * n * if by_planes { 2 } else { 4 }),
            claim_rows,
            claims: claim_rows * 8 * n as u64,
            rows: (row_warps * shape.rows_a_warp() * shape.row() * shape.cell() as u64).next_multiple_of(256),
            of_planes: planes as u64 * shape.plane_bytes() + 2 * aligned(4 * planes) + aligned(4 * members),
            of_slots: slots as u64 * shape.plane_bytes(),
            sums: aligned(8 * all) + aligned(8 * tests) + aligned(4 * (all / 32 + tests)),
        }
    }

    /// Returns the most permutations at once of each of `tests` tests. If few tests are left, they use the room of the others, too: drawing
    /// permutations for all takes no longer than for one while the GPU has threads for them.
    pub fn most_permutations(&self, form: Form, tests: usize) -> usize {
        let tests = tests.max(1);
        match form {
            Form::Warps => self.permutations,
            Form::Planes | Form::Paper => {
                self.permutations.max((self.tests * self.permutations).min(BUSY_DRAWING) / tests)
            }
        }
    }

    /// Returns the total bytes.
    pub fn total(&self) -> u64 {
        self.list().iter().map(|(_, bytes)| bytes).sum()
    }

    /// Returns the bytes by use.
    pub fn list(&self) -> [(BufferId, u64); 11] {
        [
            (BufferId::KnnData, self.data),
            (BufferId::KnnTests, self.of_tests),
            (BufferId::KnnSets, self.of_sets),
            (BufferId::KnnNeighbours, self.neighbours),
            (BufferId::KnnPermuted, self.permuted),
            (BufferId::KnnDrawn, self.drawn),
            (BufferId::KnnClaims, self.claims),
            (BufferId::KnnRows, self.rows),
            (BufferId::KnnPlanes, self.of_planes),
            (BufferId::KnnSlots, self.of_slots),
            (BufferId::KnnSums, self.sums),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::{tests::shape, SLICE_PAIRS};
    use super::*;
    use crate::engine::cuda::gpu::kernels::WARP;

    #[test]
    fn plans_fill_their_limit_and_do_not_pass_it() {
        for (n, k_perm) in [(20, 5), (1000, 900), (1500, 200), (1500, 700), (60_000, 5)] {
            for whole in [true, false] {
                for limit in [6 << 20, 16 << 20, 64 << 20, 1 << 30, 8 << 30, 100 << 30] {
                    let shape = Shape { k_perm, ..shape(n, whole, KnnStrategy::Shared) };
                    let plan = BlockPlan::new(&shape, 1, limit);
                    let of = |tests, permutations| {
                        let planes = plan.planes.min(PLANES);
                        BlockPlan::of(&shape, tests, permutations, plan.row_warps, planes, plan.slots, plan.claim_rows)
                    };
                    let least = BlockPlan::new(&shape, 1, 0).total();
                    assert!(plan.total() <= limit.max(least), "{shape:?} {limit}: {plan:?}");
                    let more = of(plan.tests + 1, plan.permutations);
                    let by_time = ((plan.tests + 1) * plan.permutations * n) as u64 > SLICE_STEPS;
                    assert!(more.total() > limit || by_time, "{shape:?} {limit}: {plan:?}");
                }
            }
        }
    }

    #[test]
    fn few_tests_have_the_room_of_many() {
        for limit in [0, 6 << 20, 1 << 30] {
            let shape = Shape { permutations: 1000, ..shape(1000, true, KnnStrategy::Shared) };
            let plan = BlockPlan::new(&shape, 1, limit);
            for tests in [1, 2, 7, plan.tests] {
                let most = plan.most_permutations(shape.form(), tests.min(plan.tests));
                assert!(most >= plan.permutations && most * tests.min(plan.tests) <= plan.tests * plan.permutations);
            }
            assert_eq!(plan.most_permutations(shape.form(), 1) > plan.permutations, limit > 0);
            assert_eq!(plan.most_permutations(Form::Warps, 1), plan.permutations);
        }
    }

    #[test]
    fn strategies_have_their_blocks() {
        assert_eq!(BlockPlan::new(&shape(100, true, KnnStrategy::Single), 1, 1 << 30).tests, 1);
        assert_eq!(BlockPlan::new(&shape(100, true, KnnStrategy::Parallel { block: 3 }), 1, 1 << 30).tests, 3);
        assert!(BlockPlan::new(&shape(100, true, KnnStrategy::Parallel { block: 0 }), 1, 1 << 30).tests > 1000);
    }

    #[test]
    fn launches_of_warps_are_short_and_fill_the_gpu() {
        for n in [60, 1000, 10_000, 60_000] {
            let shape = shape(n, false, KnnStrategy::Shared);
            let plan = BlockPlan::new(&shape, 1, 4 << 30);
            let samples = shape.samples_a_warp(plan.tests, plan.permutations, plan.row_warps);
            let blocks = shape.slice_blocks(plan.permutations, samples, plan.row_warps);
            let pairs = blocks * WARPS * samples * (n * plan.permutations) as u64;
            assert!(pairs <= 2 * SLICE_PAIRS, "{n}: {pairs}");
            let tiles = (n as u64).div_ceil(WARPS * samples);
            assert!(blocks.min(plan.tests as u64 * tiles) >= 132, "{n}: {blocks} blocks");
        }
    }

    #[test]
    fn teams_have_their_shared_memory() {
        for n in [3, 31, 60, 130, 512, 1000, 1250] {
            let shape = shape(n, true, KnnStrategy::Shared);
            assert!(shape.in_shared() && shape.form() == Form::Planes);
            for dims in [0, 1, 2, 9] {
                let (threads, teams, bytes) = shape.teams(dims);
                assert!(threads % WARP == 0 && threads * teams <= if dims <= 1 { 1024 } else { 512 }, "{n}");
                assert!(bytes <= shape.shared_limit && teams >= 1, "{n}");
            }
        }
        assert!(!shape(1400, true, KnnStrategy::Shared).in_shared());
        for (n, threads, bytes) in [(20, 32, 160), (1000, 512, 8000), (29_000, 512, 232_000), (60_000, 512, 0)] {
            let shape = shape(n, true, KnnStrategy::Shared);
            assert_eq!(shape.drawing(), (threads, bytes), "{n}");
            let plan = BlockPlan::new(&shape, 1, 8 << 30);
            assert_eq!(plan.claim_rows, if bytes == 0 { 132 } else { 0 }, "{n}");
            assert_eq!(BlockPlan::new(&shape, 1, 0).claim_rows, u64::from(bytes == 0), "{n}");
        }
    }
}
