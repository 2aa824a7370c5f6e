//! The problem that a plan of nearest-neighbour tests is made for, and the sizes of its launches.

use super::kernels::warps_kernel;
use super::KnnStrategy;
use crate::engine::cuda::arguments::{
    most_team_threads, plane_stride, plane_words, team_bytes, DRAWING_THREADS, KNN_THREADS,
};
use crate::engine::cuda::gpu::kernels::WARP;
use crate::engine::cuda::gpu::plan::aligned;

/// Warps in a block of [`KNN_THREADS`].
pub(super) const WARPS: u64 = (KNN_THREADS / WARP) as u64;

/// Pairs of samples times permutations in a launch that visits every pair: some hundredths of a second.
pub(super) const SLICE_PAIRS: u64 = 10_000_000_000;

/// Most words of planes that a launch reads.
const SLICE_WORDS: u64 = 15_000_000_000;

/// Warps that keep a multiprocessor busy, with distances in registers and with rows of distances in device memory.
pub(super) const BUSY_IN_REGISTERS: u64 = 64;
pub(super) const BUSY_IN_MEMORY: u64 = 16;

/// How points are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By the bits of planes, for integers (kernels/knn/planes.cuh).
    Planes,
    /// By warps that visit every pair of samples (`sums_of` of kernels/knn/pairs.cuh), in double precision.
    Warps,
    /// By the paper's kernel.
    Paper,
}

/// The data, the test and the GPU that a plan is made for.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of samples (`n`) and of variables (`p`).
    pub n: usize,
    pub p: usize,
    /// Whether all values are integers.
    pub whole: bool,
    /// Neighbours of the estimator (`k`), and neighbours that a permutation draws from (`k_perm`).
    pub k: usize,
    pub k_perm: usize,
    /// Permutations of a test, without the unpermuted data.
    pub permutations: usize,
    pub strategy: KnnStrategy,
    /// Multiprocessors of the GPU.
    pub processors: u32,
    /// Bytes of shared memory that a block may have.
    pub shared_limit: u64,
}

impl Shape {
    /// Returns how points are counted.
    pub fn form(&self) -> Form {
        match self.strategy {
            KnnStrategy::Shared if self.whole => Form::Planes,
            KnnStrategy::Shared => Form::Warps,
            KnnStrategy::Single | KnnStrategy::Parallel { .. } => Form::Paper,
        }
    }

    /// Returns the bytes of a value in kernels that visit pairs.
    pub fn cell(&self) -> usize {
        if self.whole && self.form() != Form::Warps {
            4
        } else {
            8
        }
    }

    /// Returns the number of values in a row of distances: n, rounded up to whole warps.
    pub fn row(&self) -> u64 {
        self.n.next_multiple_of(WARP as usize) as u64
    }

    /// Returns the number of values in a row of permuted x.
    pub fn permuted_row(&self) -> usize {
        if self.form() == Form::Planes {
            self.n.next_multiple_of(8)
        } else {
            self.n
        }
    }

    pub(super) fn in_registers(&self) -> bool {
        self.form() != Form::Warps || warps_kernel(self.n).1
    }

    /// Returns the threads of a block that draws permutations, and its bytes of shared memory: 0 if that has no room for n claims.
    pub fn drawing(&self) -> (u32, u64) {
        let claims = 8 * self.n as u64;
        (self.row().min(DRAWING_THREADS.into()) as u32, if claims <= self.shared_limit { claims } else { 0 })
    }

    /// Returns the permutations of a launch that draws.
    pub fn slice_draws(&self) -> u64 {
        // A sample goes through its list some times.
        u64::from(self.processors).max(SLICE_PAIRS / (8 * self.n * (2 + self.k_perm)) as u64)
    }

    /// Returns the words of a plane's row that hold places, in groups of four.
    pub fn plane_words(&self) -> u64 {
        plane_words(self.n as u64)
    }

    /// Returns the words from row to row of a plane: an odd number of groups of four, so that rows begin in different banks of shared memory.
    pub fn plane_stride(&self) -> u64 {
        plane_stride(self.n as u64)
    }

    /// Returns the bytes of a plane in device memory.
    pub fn plane_bytes(&self) -> u64 {
        aligned(self.plane_stride() as usize * 4 * (self.n + 1))
    }

    /// Returns the bytes of shared memory of a team.
    fn team_bytes(&self) -> u64 {
        team_bytes(self.n as u64)
    }

    /// Returns whether a team's memory fits into shared memory.
    pub fn in_shared(&self) -> bool {
        self.team_bytes() <= self.shared_limit
    }

    /// Returns the threads of a team that counts in shared memory, the teams of a block, and the block's bytes of shared memory.
    pub fn teams(&self, dims: usize) -> (u32, u32, u64) {
        let threads = self.n.next_multiple_of(WARP as usize).min(most_team_threads(dims as u64) as usize);
        let teams = (256 / threads as u64).min(self.shared_limit / self.team_bytes()).max(1);
        (threads as u32, teams as u32, teams * self.team_bytes())
    }

    /// Returns the permutations of a block of `teams` teams, for `tests` tests with `count` permutations each.
    pub fn permutations_a_block(&self, tests: usize, count: usize, teams: u32) -> u64 {
        let fill = (tests * count) as u64 / (8 * u64::from(self.processors));
        fill.clamp(1, 32).next_multiple_of(u64::from(teams))
    }

    /// Returns the permutations of a launch that counts in planes.
    pub fn slice_planes(&self, dims: usize) -> u64 {
        (SLICE_WORDS / (self.n as u64 * self.plane_stride() * (dims as u64 + 1))).max(1)
    }

    /// Returns the samples of a launch that visits all pairs, with `count` permutations each.
    pub(super) fn slice_samples(&self, count: usize) -> u64 {
        // Every sample that enters a sorted list costs a walk through the list.
        let cost = if self.form() == Form::Paper { 8 + self.k as u64 / 2 } else { 1 };
        (SLICE_PAIRS / (cost * (self.n * count) as u64)).max(1)
    }

    /// Returns the samples that each warp takes, for `tests` tests with `count` permutations each.
    pub fn samples_a_warp(&self, tests: usize, count: usize, row_warps: u64) -> u64 {
        let (warps, most) = if self.in_registers() {
            (u64::from(self.processors) * BUSY_IN_REGISTERS, 32)
        } else {
            (row_warps, self.n as u64)
        };
        ((tests * self.n) as u64).min(self.slice_samples(count)).div_euclid(warps.max(1)).clamp(1, most)
    }

    /// Returns the blocks of a launch that sums `count` permutations by warps that take `samples_a_warp` samples each.
    pub fn slice_blocks(&self, count: usize, samples_a_warp: u64, row_warps: u64) -> u64 {
        let by_time = (self.slice_samples(count) / (WARPS * samples_a_warp)).max(1);
        if self.in_registers() {
            by_time
        } else {
            by_time.min(row_warps / WARPS)
        }
    }

    /// Returns the permutations of a launch by the paper's kernel.
    pub fn slice_permutations(&self) -> u64 {
        // The second dimension of a grid is at most 65,535.
        (self.slice_samples(1) / self.n as u64).clamp(1, 65_535)
    }

    /// Returns the samples for which one launch finds the neighbours in a set.
    pub fn slice_neighbours(&self) -> u64 {
        // If many samples are as far away as the last neighbour, choosing each of them takes a pass.
        (SLICE_PAIRS / ((8 + self.k_perm as u64) * self.n as u64)).max(1)
    }

    /// Returns the rows of distances per warp in device memory: three if registers do not hold them, otherwise one, for neighbours.
    pub(super) fn rows_a_warp(&self) -> u64 {
        if self.in_registers() {
            1
        } else {
            3
        }
    }

    /// Returns the bytes of the terms and of the columns in all forms that kernels read, as `upload_data` lays them out.
    pub fn data(&self) -> u64 {
        let Shape { n, p, .. } = *self;
        let words = if self.form() == Form::Planes { 2 * aligned(2 * n * p) + aligned(2 * (n + 1) * p) } else { 0 };
        aligned(n * p * self.cell()) + aligned(p * self.cell()) + 2 * aligned(8 * (n + 1)) + words
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn shape(n: usize, whole: bool, strategy: KnnStrategy) -> Shape {
        Shape { n, p: 50, whole, k: 7, k_perm: 5, permutations: 100, strategy, processors: 132, shared_limit: 232_448 }
    }
}
