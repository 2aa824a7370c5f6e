//! The memory that a batch of nearest-neighbour tests needs on a card, and how the batch is cut into launches.

use super::kernels::warps_kernel;
use super::KnnStrategy;
use crate::engine::cuda::arguments::{
    most_team_threads, plane_stride, plane_words, shuffle_bytes, team_bytes, KNN_THREADS, SHUFFLING_THREADS,
};
use crate::engine::cuda::card::buffer::BufferId;
use crate::engine::cuda::card::kernels::WARP;
use crate::engine::cuda::card::plan::aligned;

/// Warps of a block of [`KNN_THREADS`].
const WARPS: u64 = (KNN_THREADS / WARP) as u64;

/// Pairs of samples times permutations of a launch that looks at every pair: some hundredths of a second.
const SLICE_PAIRS: u64 = 10_000_000_000;

/// Words of planes that a launch reads, at most.
const SLICE_WORDS: u64 = 15_000_000_000;

/// Samples times permutations of all tests at once.
const SLICE_STEPS: u64 = 400_000_000;

/// Permutations of a test at once that a plan has room for, at most: warps keep their sums in a block's shared memory.
const MOST_PERMUTATIONS: usize = 128;

/// Permutations of all tests together that keep a large card busy, a thread drawing each.
const BUSY_DRAWING: usize = 1 << 14;

/// Warps that keep a multiprocessor busy: with distances in registers, and with rows of distances in device memory.
const BUSY_IN_REGISTERS: u64 = 64;
const BUSY_IN_MEMORY: u64 = 16;

/// Places times permutations that fill a large card.
const BUSY_PLACES: usize = 1 << 18;

/// Room for members of sets, a test. Blocks with larger sets have fewer tests.
const MEMBERS_A_TEST: usize = 32;

/// Planes that there is room for, where memory allows; more where there are more tests.
const PLANES: usize = 64;

/// How points are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By the bits of planes: whole numbers (kernels/knn/planes.cuh).
    Planes,
    /// By warps that look at every pair of samples (`sums_of` of kernels/knn/pairs.cuh), in double precision.
    Warps,
    /// By the paper's kernel.
    Paper,
}

/// The data, the test and the card that a plan is made for.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Samples and variables.
    pub n: usize,
    pub p: usize,
    /// Whether all values are whole numbers.
    pub whole: bool,
    /// Neighbours of the estimator, and those that a permutation draws from.
    pub k: usize,
    pub k_perm: usize,
    /// Permutations of a test, without the data.
    pub permutations: usize,
    pub strategy: KnnStrategy,
    /// Multiprocessors of the card.
    pub processors: u32,
    /// Bytes of shared memory that a block may have.
    pub shared_limit: u64,
}

/// Warps of a multiprocessor that draw permutations where there are few of these, and threads of such a warp, at most.
const FEW_WARPS: u64 = 16;
const FEW_THREADS: u64 = 8;

impl Shape {
    /// How points are counted.
    pub fn form(&self) -> Form {
        match self.strategy {
            KnnStrategy::Shared if self.whole && self.shuffle_bytes() <= self.shared_limit => Form::Planes,
            KnnStrategy::Shared => Form::Warps,
            KnnStrategy::Single | KnnStrategy::Parallel { .. } => Form::Paper,
        }
    }

    /// Bytes of a value in kernels that look at pairs.
    pub fn cell(&self) -> usize {
        if self.whole && self.form() != Form::Warps {
            4
        } else {
            8
        }
    }

    /// Values in a row of distances: n, rounded up to whole warps.
    pub fn row(&self) -> u64 {
        self.n.next_multiple_of(WARP as usize) as u64
    }

    /// Values in a row of permuted x.
    pub fn permuted_row(&self) -> usize {
        if self.form() == Form::Planes {
            self.n.next_multiple_of(8)
        } else {
            self.n
        }
    }

    fn in_registers(&self) -> bool {
        self.form() != Form::Warps || warps_kernel(self.n).1
    }

    /// Whether the kernel that permutes by place keeps the order of the samples in shared memory: where that has room for two
    /// warps. Measured on an H200, microseconds a test with the order there and in device memory: 22 and 28 for n = 1,000 with S
    /// empty, 445 and 351 for n = 2,500 with one variable in S.
    pub fn orders_in_shared(&self) -> bool {
        2 * u64::from(WARP) * (self.shuffle_bytes() + 2 * self.n as u64) <= self.shared_limit
    }

    /// Bytes of shared memory for one permutation by place, without the order of its samples.
    fn shuffle_bytes(&self) -> u64 {
        shuffle_bytes(self.n as u64, self.k_perm as u64)
    }

    /// Threads of a block that permutes by place (whole warps, where there is room) and its bytes of shared memory.
    pub fn shuffling(&self) -> (u32, u64) {
        let warp = u64::from(WARP);
        if self.orders_in_shared() {
            return (WARP, warp * (self.shuffle_bytes() + 2 * self.n as u64));
        }
        let room = self.shared_limit / self.shuffle_bytes();
        let threads = if room < warp { room.max(1) } else { (room / warp * warp).min(u64::from(SHUFFLING_THREADS)) };
        (threads as u32, threads * self.shuffle_bytes())
    }

    /// Likewise where so few permutations are drawn that all run side by side in warps of few threads each, with the order of the samples in shared
    /// memory: the threads of a warp choose among their neighbours in turns.
    pub fn shuffling_of_few(&self, permutations: u64) -> Option<(u32, u64)> {
        let of_one = self.shuffle_bytes() + 2 * self.n as u64;
        let a_processor = permutations.div_ceil(u64::from(self.processors));
        (1..=FEW_THREADS)
            .map(|threads| (threads as u32, threads * of_one))
            .find(|&(threads, bytes)| a_processor <= u64::from(threads) * FEW_WARPS.min(self.shared_limit / bytes))
    }

    /// Permutations of a launch that permutes. A sample takes some microseconds and a copy of k_perm numbers; a multiprocessor
    /// runs as many permutations at a time as it has threads or, by place, shared memory for.
    pub fn slice_shuffles(&self) -> u64 {
        let threads = if self.form() == Form::Planes {
            let (threads, bytes) = self.shuffling();
            (self.shared_limit / bytes * u64::from(threads)).clamp(1, 2048)
        } else {
            2048
        };
        u64::from(self.processors) * threads * (600_000 / (self.n * (10 + self.k_perm)) as u64).max(1)
    }

    /// Words of a plane's row that hold places, in groups of four.
    pub fn plane_words(&self) -> u64 {
        plane_words(self.n as u64)
    }

    /// Words from row to row of a plane: an odd number of groups of four, so that rows begin in different banks of shared memory.
    pub fn plane_stride(&self) -> u64 {
        plane_stride(self.n as u64)
    }

    /// Bytes of a plane in device memory.
    pub fn plane_bytes(&self) -> u64 {
        aligned(self.plane_stride() as usize * 4 * (self.n + 1))
    }

    /// Bytes of shared memory of a team.
    fn team_bytes(&self) -> u64 {
        team_bytes(self.n as u64)
    }

    /// Whether a team's memory fits in shared memory.
    pub fn in_shared(&self) -> bool {
        self.team_bytes() <= self.shared_limit
    }

    /// Threads of a team that counts in shared memory, teams of a block, and the block's bytes.
    pub fn teams(&self, dims: usize) -> (u32, u32, u64) {
        let threads = self.n.next_multiple_of(WARP as usize).min(most_team_threads(dims as u64) as usize);
        let teams = (256 / threads as u64).min(self.shared_limit / self.team_bytes()).max(1);
        (threads as u32, teams as u32, teams * self.team_bytes())
    }

    /// Permutations of a block of `teams`, for `tests` with `count` permutations each.
    pub fn permutations_a_block(&self, tests: usize, count: usize, teams: u32) -> u64 {
        let fill = (tests * count) as u64 / (8 * u64::from(self.processors));
        fill.clamp(1, 32).next_multiple_of(u64::from(teams))
    }

    /// Permutations of a launch that counts in planes.
    pub fn slice_planes(&self, dims: usize) -> u64 {
        (SLICE_WORDS / (self.n as u64 * self.plane_stride() * (dims as u64 + 1))).max(1)
    }

    /// Samples of a launch that looks at all pairs, each with `count` permutations.
    fn slice_samples(&self, count: usize) -> u64 {
        // A sorted list is walked for every sample that enters it.
        let cost = if self.form() == Form::Paper { 8 + self.k as u64 / 2 } else { 1 };
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

    /// Blocks of a launch that sums `count` permutations by warps that take `samples_a_warp` each.
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
        // Where many samples are as far as the last neighbour, each that is chosen among them takes a pass.
        (SLICE_PAIRS / ((8 + self.k_perm as u64) * self.n as u64)).max(1)
    }
}

/// A plan: how much is run at once, and the bytes that it takes by use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPlan {
    /// Tests at once.
    pub tests: usize,
    /// Permutations of each at once, the data itself counted as one.
    pub permutations: usize,
    /// Members of all sets at once.
    pub members: usize,
    /// Planes of columns at once.
    pub planes: usize,
    /// Planes of permuted x at once.
    pub slots: usize,
    /// Warps that have rows of distances in device memory: three each for sums, one for neighbours.
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
    /// Bytes for drawing permutations; 0 where shared memory holds all.
    pub walks: u64,
    /// Bytes of rows of distances.
    pub rows: u64,
    /// Bytes of planes of columns, and of lists about them.
    pub of_planes: u64,
    /// Bytes of planes of permuted x.
    pub of_slots: u64,
    /// Bytes of the sums of terms.
    pub sums: u64,
}

impl BlockPlan {
    /// As many tests, of sets with up to `dims` members, at once as `limit` bytes have room for; one test with one permutation where
    /// there is no room for more.
    pub fn new(shape: &Shape, dims: usize, limit: u64) -> BlockPlan {
        let all = shape.permutations + 1;
        let by_planes = shape.form() == Form::Planes;
        let needs_slots = by_planes && !shape.in_shared();
        let fewest = if by_planes { dims.max(1) } else { 0 };
        let least = BlockPlan::of(shape, 1, 1, WARPS, fewest, usize::from(needs_slots)).total();
        // Rows, slots and planes get at most a quarter each of the bytes beyond the least; tests get the rest.
        let quarter = limit.saturating_sub(least) / 4;
        let busy =
            u64::from(shape.processors) * if shape.in_registers() { BUSY_IN_REGISTERS / 2 } else { BUSY_IN_MEMORY };
        let a_warp = shape.rows_a_warp() * shape.row() * shape.cell() as u64;
        let row_warps = (WARPS + quarter / a_warp / WARPS * WARPS).min(busy.next_multiple_of(WARPS));
        let more_planes = (quarter / shape.plane_bytes()) as usize;
        let slots = if needs_slots { BUSY_PLACES.div_ceil(shape.n).min(1 + more_planes) } else { 0 };
        let planes = if by_planes { PLANES.max(fewest).min(fewest + more_planes) } else { 0 };
        let of = |tests, permutations| BlockPlan::of(shape, tests, permutations, row_warps, planes, slots);
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
    ) -> BlockPlan {
        let Shape { n, p, k_perm, .. } = *shape;
        let by_planes = shape.form() == Form::Planes;
        let cell = if by_planes { 2 } else { shape.cell() };
        let all = tests * permutations;
        let members = (MEMBERS_A_TEST * tests).max(p);
        let planes = if by_planes { least_planes.max(tests) } else { 0 };
        let walks = if by_planes && shape.orders_in_shared() {
            0
        } else if by_planes {
            aligned(2 * all.next_multiple_of(WARP as usize) * n)
        } else {
            aligned(4 * all * n) + aligned(4 * all * n.div_ceil(32)) + aligned(4 * all * k_perm)
        };
        BlockPlan {
            tests,
            permutations,
            members,
            planes,
            slots,
            row_warps,
            data: shape.data(),
            of_tests: 5 * aligned(4 * tests) + aligned(8 * tests),
            of_sets: aligned(4 * (tests + 1)) + aligned(4 * members) + aligned(8 * tests),
            neighbours: aligned(4 * tests * n * k_perm),
            permuted: aligned(all * shape.permuted_row() * cell),
            walks,
            rows: (row_warps * shape.rows_a_warp() * shape.row() * shape.cell() as u64).next_multiple_of(256),
            of_planes: planes as u64 * shape.plane_bytes() + 2 * aligned(4 * planes) + aligned(4 * members),
            of_slots: slots as u64 * shape.plane_bytes(),
            sums: aligned(8 * all),
        }
    }

    /// Permutations of each of so many tests at once, at most: where few tests are left, they have the room of others, too. Drawing
    /// them takes as long for all as for one, while the card has threads for them.
    pub fn most_permutations(&self, form: Form, tests: usize) -> usize {
        let tests = tests.max(1);
        match form {
            Form::Warps => self.permutations,
            Form::Planes | Form::Paper => {
                self.permutations.max((self.tests * self.permutations).min(BUSY_DRAWING) / tests)
            }
        }
    }

    /// Bytes in all.
    pub fn total(&self) -> u64 {
        self.list().iter().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes by use.
    pub fn list(&self) -> [(BufferId, u64); 10] {
        [
            (BufferId::KnnData, self.data),
            (BufferId::KnnTests, self.of_tests),
            (BufferId::KnnSets, self.of_sets),
            (BufferId::KnnNeighbours, self.neighbours),
            (BufferId::KnnPermuted, self.permuted),
            (BufferId::KnnWalks, self.walks),
            (BufferId::KnnRows, self.rows),
            (BufferId::KnnPlanes, self.of_planes),
            (BufferId::KnnSlots, self.of_slots),
            (BufferId::KnnSums, self.sums),
        ]
    }
}

impl Shape {
    /// Rows of distances in device memory of a warp: three where registers do not hold them, else one, for neighbours.
    fn rows_a_warp(&self) -> u64 {
        if self.in_registers() {
            1
        } else {
            3
        }
    }

    /// Bytes of the columns, in all forms that kernels read, and of the terms: as `upload_data` lays them out.
    pub fn data(&self) -> u64 {
        let Shape { n, p, .. } = *self;
        let words = if self.form() == Form::Planes { 3 * aligned(2 * n * p) + aligned(2 * (n + 1) * p) } else { 0 };
        aligned(n * p * self.cell()) + aligned(p * self.cell()) + 2 * aligned(8 * (n + 1)) + words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(n: usize, whole: bool, strategy: KnnStrategy) -> Shape {
        Shape { n, p: 50, whole, k: 7, k_perm: 5, permutations: 100, strategy, processors: 132, shared_limit: 232_448 }
    }

    #[test]
    fn plans_fill_their_limit_and_do_not_pass_it() {
        for (n, k_perm) in [(20, 5), (1000, 900), (1500, 200), (1500, 700), (60_000, 5)] {
            for whole in [true, false] {
                for limit in [6 << 20, 16 << 20, 64 << 20, 1 << 30, 8 << 30, 100 << 30] {
                    let shape = Shape { k_perm, ..shape(n, whole, KnnStrategy::Shared) };
                    let plan = BlockPlan::new(&shape, 1, limit);
                    let of = |tests, permutations| {
                        BlockPlan::of(&shape, tests, permutations, plan.row_warps, plan.planes.min(PLANES), plan.slots)
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
    fn few_permutations_all_run_side_by_side() {
        for n in [30, 1000, 2500, 10_000, 50_000] {
            let shape = shape(n, true, KnnStrategy::Shared);
            let mut last = 1;
            for permutations in [1, 100, 1000, 5000, 20_000, 100_000] {
                let Some((threads, bytes)) = shape.shuffling_of_few(permutations) else { continue };
                let blocks = permutations.div_ceil(u64::from(threads));
                assert!(
                    blocks.div_ceil(u64::from(shape.processors)) * bytes <= shape.shared_limit,
                    "{n} {permutations}"
                );
                assert!((last..=FEW_THREADS as u32).contains(&threads));
                last = threads;
            }
            assert_eq!(shape.shuffling_of_few(100).map(|few| few.0), Some(1), "{n}");
            assert_eq!(shape.shuffling_of_few(100_000), None);
        }
    }

    #[test]
    fn strategies_have_their_blocks() {
        assert_eq!(BlockPlan::new(&shape(100, true, KnnStrategy::Single), 1, 1 << 30).tests, 1);
        assert_eq!(BlockPlan::new(&shape(100, true, KnnStrategy::Parallel { block: 3 }), 1, 1 << 30).tests, 3);
        assert!(BlockPlan::new(&shape(100, true, KnnStrategy::Parallel { block: 0 }), 1, 1 << 30).tests > 1000);
    }

    #[test]
    fn launches_of_warps_are_short_and_fill_the_card() {
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
        let narrow = Shape { shared_limit: 65_536, k_perm: 30_000, ..shape(60_000, true, KnnStrategy::Shared) };
        assert_eq!((narrow.form(), narrow.cell()), (Form::Warps, 8));
        for n in [20, 1000, 1600, 2500, 60_000] {
            let shape = shape(n, true, KnnStrategy::Shared);
            let (threads, bytes) = shape.shuffling();
            assert!(bytes <= shape.shared_limit && threads >= 1, "{n}");
            assert_eq!(shape.orders_in_shared(), n < 1700, "{n}");
        }
    }
}
