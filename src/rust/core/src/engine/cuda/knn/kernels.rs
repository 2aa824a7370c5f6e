//! What the kernels of the nearest-neighbour test are given, and which of them suits the data.

use crate::ci::knn::Estimator;

/// Neighbours that the papers' kernel lists: `LISTED` of kernels/knn_body.cuh.
pub const LISTED: usize = 512;

/// `KnnArgs` of kernels/knn.cuh, where every field is explained.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Args {
    pub n: u64,
    pub k: u64,
    pub k_perm: u64,
    pub tests: u64,
    pub count: u64,
    pub first: u64,
    pub from: u64,
    pub until: u64,
    pub sets: u64,
    pub values: u64,
    pub caps: u64,
    pub test_x: u64,
    pub test_y: u64,
    pub test_set: u64,
    pub test_key: u64,
    pub set_start: u64,
    pub set_members: u64,
    pub set_key: u64,
    pub neighbours: u64,
    pub permuted: u64,
    pub order: u64,
    pub taken: u64,
    pub lists: u64,
    pub rows: u64,
    pub rows_a_warp: u64,
    pub own: u64,
    pub joint: u64,
    pub all: i64,
    pub estimator: u64,
    pub sums: u64,
    pub tiles: u64,
    pub samples_a_warp: u64,
}

/// Bytes of [`Args`], which the kernels' PTX states too.
#[cfg(test)]
pub const ARGS_BYTES: usize = std::mem::size_of::<Args>();

/// The number that stands for an estimator: `Estimator` of kernels/knn.cuh.
pub fn number_of(estimator: Estimator) -> u64 {
    match estimator {
        Estimator::FrenzelPompe => 0,
        Estimator::MesnerShalizi => 1,
        Estimator::Gao => 2,
    }
}

/// The kernel for so many samples, and whether its warps hold their distances in registers.
pub fn sums_kernel(n: usize, single: bool) -> (&'static str, bool) {
    match (n.div_ceil(32), single) {
        (0..=2, true) => ("knn_sums_f2", true),
        (0..=8, true) => ("knn_sums_f8", true),
        (0..=16, true) => ("knn_sums_f16", true),
        (0..=32, true) => ("knn_sums_f32", true),
        (_, true) => ("knn_sums_f0", false),
        (0..=2, false) => ("knn_sums_d2", true),
        (0..=8, false) => ("knn_sums_d8", true),
        (0..=16, false) => ("knn_sums_d16", true),
        (0..=32, false) => ("knn_sums_d32", true),
        (_, false) => ("knn_sums_d0", false),
    }
}
