//! The codes of estimators in the kernels of the nearest-neighbour test, and the choice of a kernel.

use crate::ci::knn::Estimator;
use crate::engine::cuda::arguments::{KnnArgs, FRENZEL_POMPE, GAO, MESNER_SHALIZI};
use crate::engine::cuda::gpu::kernels::Kernel;

/// Returns the code of an estimator in the kernels.
pub fn number_of(estimator: Estimator) -> u64 {
    match estimator {
        Estimator::FrenzelPompe => FRENZEL_POMPE,
        Estimator::MesnerShalizi => MESNER_SHALIZI,
        Estimator::Gao => GAO,
    }
}

/// Returns the kernel of [`super::shape::Form::Warps`] for n samples, and whether its warps hold their distances in registers.
pub fn warps_kernel(n: usize) -> (Kernel<KnnArgs>, bool) {
    match n.div_ceil(32) {
        0..=2 => (Kernel::knn_sums_d2, true),
        3..=8 => (Kernel::knn_sums_d8, true),
        9..=16 => (Kernel::knn_sums_d16, true),
        17..=32 => (Kernel::knn_sums_d32, true),
        _ => (Kernel::knn_sums_d0, false),
    }
}

/// Returns the kernel of [`super::shape::Form::Planes`] for tests with `dims` planes. `in_shared`: x's plane is in shared memory.
pub fn planes_kernel(dims: usize, in_shared: bool) -> Kernel<KnnArgs> {
    match (dims, in_shared) {
        (0, true) => Kernel::knn_shared_0,
        (1, true) => Kernel::knn_shared_1,
        (2, true) => Kernel::knn_shared_2,
        (3, true) => Kernel::knn_shared_3,
        (_, true) => Kernel::knn_shared_more,
        (0, false) => Kernel::knn_slots_0,
        (1, false) => Kernel::knn_slots_1,
        (2, false) => Kernel::knn_slots_2,
        (3, false) => Kernel::knn_slots_3,
        (_, false) => Kernel::knn_slots_more,
    }
}
