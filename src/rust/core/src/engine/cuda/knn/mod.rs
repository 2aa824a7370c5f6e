//! The nearest-neighbour test on one GPU: GPU_CMIknn of Hagedorn, Lange, Huegle and Schlosser (2022), and a strategy of our own.
//!
//! Questions come in batches (`batched` makes them from a level). For each batch, `run` has the GPU find the neighbours in each set, draw the
//! permutations of each test and sum the terms of each permutation. The sums are integers, and the CPU computes p from them.
//!
//! Both kernels of the paper are here. In its kernel for permutations (algorithm 3), the first thread that claims a neighbour has it; here the
//! earlier sample in an order of the permutation has it, so that a test has one p-value. Tests given one S share their permutations: the
//! paper's algorithm 5 shares those of x given S for all y, and here they are the same for all x, too.
//!
//! `data`: columns on the GPU, all of them or, if these do not fit, those of a group of questions. `shape`: launches. `plan`: memory. `kernels`:
//! choice of kernels, whose sources are in kernels/knn/.

mod data;
mod kernels;
mod plan;
mod run;
mod shape;

use crate::ci::knn::{Knn, Outcome};
use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::engine::cuda::arguments::LONG_LISTED;
use crate::engine::cuda::asked::Asked;
use crate::engine::cuda::gpu::held::{Held, Holds};
use crate::engine::cuda::gpu::unified::MemoryKind;
use crate::observer::Observer;
use crate::pool::{default_threads, Pool};
use crate::{Error, Result};

/// How tests are distributed over the GPU. All strategies give the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnnStrategy {
    /// Our own: finds the distance to the k-th neighbour by counting, without a list of neighbours, for any k. Integer samples (ranks and codes)
    /// are counted 32 at a time as bits of planes. Other samples are counted by one warp each, which keeps the distances that permutations do
    /// not change in registers.
    Shared,
    /// GPU_CMIknn-Single (algorithms 2 to 4 of the paper): one test at a time. One thread per sample and permutation keeps a sorted list of the
    /// nearest samples. k is at most 2,048.
    Single,
    /// GPU_CMIknn-Parallel (algorithm 5): the kernel of `Single` for many tests at once, at most `block` of them (the paper's blocked version).
    /// k is at most 2,048.
    Parallel {
        /// Most tests at once; 0: as many as memory allows.
        block: u32,
    },
}

/// How to run the test on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnnCudaOptions {
    /// Number of the GPU, from 0.
    pub ordinal: usize,
    /// How the tests are distributed.
    pub strategy: KnnStrategy,
    /// The kind of memory that the engine allocates.
    pub memory: MemoryKind,
    /// Most bytes of GPU memory to use, besides what the driver keeps for a kernel: about 1 GB for the paper's, 4 GB if k is above 512. `None`:
    /// of what is free, 4 GiB more than the least that is needed, and still more from about 23,000 samples on.
    pub memory_budget: Option<u64>,
}

impl Default for KnnCudaOptions {
    fn default() -> Self {
        KnnCudaOptions { ordinal: 0, strategy: KnnStrategy::Shared, memory: MemoryKind::Device, memory_budget: None }
    }
}

/// The nearest-neighbour test on one GPU. Its p-values equal those of the CPU engine, bit for bit.
pub struct KnnCudaEngine<'a> {
    knn: &'a Knn,
    options: KnnCudaOptions,
    held: Held,
    /// Where the data are on the GPU, once they are there.
    data: Option<data::Data>,
}

impl<'a> KnnCudaEngine<'a> {
    /// Makes an engine for the test, and opens its GPU (0.2 s once per process).
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU cannot be used. [`Error::Argument`] if there is no GPU `ordinal`, or if k is above 2,048 with a strategy
    /// other than [`KnnStrategy::Shared`].
    pub fn new(knn: &'a Knn, options: KnnCudaOptions) -> Result<Self> {
        if options.strategy != KnnStrategy::Shared && knn.settings().k as u64 > LONG_LISTED {
            return Err(Error::Argument {
                argument: "strategy",
                value: format!("{:?} with k = {}", options.strategy, knn.settings().k),
                hint: format!("this strategy supports k up to {}; give strategy = \"shared\"", LONG_LISTED),
            });
        }
        Ok(KnnCudaEngine {
            knn,
            options,
            held: Held::open(options.ordinal, Pool::at_most(default_threads()), options.memory, options.memory_budget)?,
            data: None,
        })
    }

    /// Sets the CPU threads that help.
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.held.pool = pool;
        self
    }

    /// Returns estimates, p-values and counts of arbitrary questions, in their order.
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU fails or has too little memory; any error that the observer returns.
    pub fn outcomes(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<Outcome>> {
        self.held.begin(batch.iter().next().map(|(_, _, s)| s.len()));
        self.watched(|engine| run::outcomes(engine, batch, &mut |_| observer.look()))
    }
}

impl Holds for KnnCudaEngine<'_> {
    fn held(&mut self) -> &mut Held {
        &mut self.held
    }
}

impl Asked for KnnCudaEngine<'_> {
    fn gpu(&self) -> &Held {
        &self.held
    }

    fn ordinal(&self) -> usize {
        self.options.ordinal
    }

    fn batch(&self) -> usize {
        // Enough warps for a large GPU, but so few tests that few are asked in vain.
        (4_000_000 / self.knn.columns().n()).clamp(64, 8192)
    }

    fn replies(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        Ok(run::outcomes(self, batch, watch)?.iter().map(|outcome| Reply::P(outcome.p)).collect())
    }
}
