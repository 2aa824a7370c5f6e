//! How a test runs on a GPU: which GPU, how much memory, how tests are distributed.

use crate::engine::cuda::gpu::kernels::WARP;
use crate::engine::cuda::gpu::unified::MemoryKind;
use crate::engine::LevelOne;
use crate::{Error, Result};

/// How the tests of a level are distributed over the GPU. All strategies give the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStrategy {
    /// Our own: a set is tested for all pairs of its row at once. The Gaussian test starts from covariances given the set's prefix. Tests of
    /// discrete variables compute the strata of the samples once for each set.
    Shared,
    /// cuPC-E (Zarebavani et al. 2020, algorithm 4): blocks of `beta` edges, with `gamma` tests of each edge at a time. For discrete variables
    /// this is disc-cupc, the baseline of gpuPC's authors.
    Edge {
        /// Edges in a block.
        beta: u32,
        /// Tests of an edge that run at a time.
        gamma: u32,
    },
    /// cuPC-S (algorithm 5): each thread inverts the correlations of one set and tests the set for all pairs of a row. For the Gaussian test
    /// only.
    Set {
        /// Sets per block.
        theta: u32,
        /// Blocks per row.
        delta: u32,
    },
    /// gpucsl (C. Hagedorn's dissertation, 2023). Gaussian test (algorithms 4 to 7): one block per edge, whose threads share the edge's sets.
    /// Discrete variables: gpuPC (Hagedorn and Huegle 2021; algorithms 9 to 11), whose threads share a table.
    Gpucsl {
        /// Edges in a block, for discrete variables only; 0 means 1.
        beta: u32,
        /// Tests of an edge that run at a time, for discrete variables only; 0 means 2.
        gamma: u32,
        /// Threads that share an edge's sets, or a table; a multiple of 32.
        delta: u32,
    },
}

impl SearchStrategy {
    /// Returns the edges per block and the tests of each edge at a time in gpuPC's mapping, with its defaults for 0.
    pub(super) fn tables(beta: u32, gamma: u32) -> [u32; 2] {
        [if beta == 0 { 1 } else { beta }, if gamma == 0 { 2 } else { gamma }]
    }
}

/// How to run a test that answers batches of questions on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct GpuOptions {
    /// Number of the GPU, from 0.
    pub ordinal: usize,
    /// The kind of memory that the engine allocates.
    pub memory: MemoryKind,
    /// Most bytes of GPU memory to use. `None`: what the columns take, and room for tests that run at the same time.
    pub memory_budget: Option<u64>,
}

/// How to run on the GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CudaOptions {
    /// Number of the GPU, from 0.
    pub ordinal: usize,
    /// How the tests are distributed.
    pub strategy: SearchStrategy,
    /// The kind of memory that the engine allocates.
    pub memory: MemoryKind,
    /// Most bytes of GPU memory that a search may use; `None`: all that is free. A search that needs more runs in parts.
    pub memory_budget: Option<u64>,
    /// How sets of one variable are run with [`SearchStrategy::Shared`].
    pub level_one: LevelOne,
    /// Rows of the correlation matrix that the Gaussian search has on the GPU at a time, rounded up to 64. The search then goes by blocks
    /// however much memory there is. `None`: by blocks only if memory is short, with the largest blocks that fit.
    pub block: Option<usize>,
    /// Thresholds in place of those by density, for tests: 64 rows with at least this many neighbours in all run sets of one variable by columns
    /// (first number) or by masks (second number).
    pub level_one_ends: Option<[u64; 2]>,
    /// Relative size of launches (level 1 and the papers' strategies) and of a team's shards; 1 is some hundredths of a second. For tests, whose
    /// problems would otherwise never need several launches.
    pub launch_share: f64,
    /// Neighbours from which a row is run by whole blocks, in single precision first, with [`SearchStrategy::Shared`] and sets of at least two
    /// members. `None`: the number from which this pays.
    pub wide_from: Option<u64>,
}

impl Default for CudaOptions {
    fn default() -> Self {
        CudaOptions {
            ordinal: 0,
            strategy: SearchStrategy::Shared,
            memory: MemoryKind::Device,
            memory_budget: None,
            level_one: LevelOne::ByDensity,
            block: None,
            level_one_ends: None,
            launch_share: 1.0,
            wide_from: None,
        }
    }
}

impl CudaOptions {
    /// Checks the strategy. `discrete`: whether the test is one of discrete variables.
    pub(super) fn check(&self, discrete: bool) -> Result<()> {
        let refused = |hint: &str| {
            Err(Error::Argument { argument: "strategy", value: format!("{:?}", self.strategy), hint: hint.into() })
        };
        // 1024 threads would be allowed, but their working memory must fit.
        let threads = match self.strategy {
            SearchStrategy::Shared => 1,
            SearchStrategy::Edge { beta, gamma } => u64::from(beta) * u64::from(gamma),
            SearchStrategy::Set { .. } if discrete => {
                return refused(
                    "only the Gaussian test has this strategy; give \"shared\", \"edge\" or \"gpucsl\" for discrete variables",
                );
            }
            SearchStrategy::Set { theta, delta } => u64::from(theta) * u64::from(delta.min(1)),
            SearchStrategy::Gpucsl { beta, gamma, .. } if !discrete && (beta > 0 || gamma > 0) => {
                return refused("`beta` and `gamma` are for discrete variables; leave them out for the Gaussian test");
            }
            SearchStrategy::Gpucsl { delta, .. } if delta % WARP != 0 => {
                return refused("give a multiple of 32 as `delta`");
            }
            SearchStrategy::Gpucsl { delta, .. } if !discrete => u64::from(delta),
            SearchStrategy::Gpucsl { beta, gamma, delta } => {
                let [beta, gamma] = SearchStrategy::tables(beta, gamma);
                u64::from(beta) * u64::from(gamma) * u64::from(delta)
            }
        };
        if threads == 0 || threads > 256 {
            return refused(
                "give blocks of 1 to 256 threads: beta * gamma (\"edge\"), theta (\"set\"), or delta (\"gpucsl\"; beta * gamma * delta for discrete variables)",
            );
        }
        Ok(())
    }
}
