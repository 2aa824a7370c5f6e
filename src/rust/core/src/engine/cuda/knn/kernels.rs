//! The arguments of the kernels of the nearest-neighbour test, and the choice of a kernel.

use crate::ci::knn::Estimator;

/// Neighbours that the paper's kernel lists, at most: `LISTED` of kernels/knn_body.cuh.
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
    pub whole: u64,
    pub orders: u64,
    pub places: u64,
    pub below: u64,
    pub plain: u64,
    pub test_guide: u64,
    pub test_planes: u64,
    pub plane_list: u64,
    pub plane_column: u64,
    pub plane_guide: u64,
    pub planes: u64,
    pub slots: u64,
    pub stride: u64,
    pub plane_bytes: u64,
    pub dims: u64,
    pub mismatch: u64,
    pub row: u64,
    pub permutations_a_block: u64,
    pub teams: u64,
}

/// Bytes of [`Args`], which a test compares with the kernels' PTX.
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

/// The kernel of [`super::plan::Form::Warps`] for n samples, and whether its warps hold their distances in registers.
pub fn warps_kernel(n: usize) -> (&'static str, bool) {
    match n.div_ceil(32) {
        0..=2 => ("knn_sums_d2", true),
        3..=8 => ("knn_sums_d8", true),
        9..=16 => ("knn_sums_d16", true),
        17..=32 => ("knn_sums_d32", true),
        _ => ("knn_sums_d0", false),
    }
}

/// The kernel of [`super::plan::Form::Planes`] for tests with `dims` planes; `in_shared`: x's plane is in shared memory.
pub fn planes_kernel(dims: usize, in_shared: bool) -> &'static str {
    match (dims, in_shared) {
        (0, true) => "knn_shared_0",
        (1, true) => "knn_shared_1",
        (2, true) => "knn_shared_2",
        (3, true) => "knn_shared_3",
        (_, true) => "knn_shared_more",
        (0, false) => "knn_slots_0",
        (1, false) => "knn_slots_1",
        (2, false) => "knn_slots_2",
        (3, false) => "knn_slots_3",
        (_, false) => "knn_slots_more",
    }
}
