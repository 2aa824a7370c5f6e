//! The CUDA engine: the Gaussian test on one NVIDIA GPU.

pub mod device;
mod kernels;
mod memory;
pub mod plan;

/// How the tests of a level are handed out on the GPU. All give one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Ours: a set is tested for all pairs of its row at once, on covariances given its prefix.
    Shared,
    /// cuPC-E's (Zarebavani et al. 2020, algorithm 4): blocks of `beta` edges, `gamma` tests of each at a time.
    Edge {
        /// Edges in a block.
        beta: u32,
        /// Tests of an edge that run at a time.
        gamma: u32,
    },
    /// cuPC-S's (algorithm 5): threads invert the correlations of one set each and test it for all pairs of a row.
    Set {
        /// Sets in a block.
        theta: u32,
        /// Blocks a row.
        delta: u32,
    },
}

/// How to run on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaOptions {
    /// Which card, from 0.
    pub ordinal: usize,
    /// How to hand out the tests.
    pub strategy: Strategy,
    /// Bytes of device memory that a search may use; none: what is free.
    pub memory_budget: Option<u64>,
}

impl Default for CudaOptions {
    fn default() -> Self {
        CudaOptions { ordinal: 0, strategy: Strategy::Shared, memory_budget: None }
    }
}
