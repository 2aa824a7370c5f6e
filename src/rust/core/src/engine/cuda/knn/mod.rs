//! The nearest-neighbour test on one GPU: GPU_CMIknn of Hagedorn, Lange, Huegle and Schlosser (2022), and a strategy of our own.
//!
//! Questions come in batches (`batched` makes them from a level). `run` has the GPU find the neighbours in each set,
//! draw the permutations of each test and sum the terms of each permutation; the sums are whole numbers, and the CPU makes p
//! from them.
//!
//! Of the paper it has the kernel that estimates. Not built: its kernel for permutations (algorithm 3), and the reuse of the permutations of x
//! given S for all y (algorithm 5). A test draws its own, by its own key, which gives it one p-value alone and in a search.
//!
//! `data`: columns on the GPU, all of them or, where these do not fit, those of a group of questions; `shape`: launches; `plan`: memory; `kernels`: arguments; the sources are in kernels/knn/.

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

/// How tests are handed out on the GPU. All strategies give the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnnStrategy {
    /// Ours: the distance to the k-th neighbour is found by counting, with no list of neighbours, whatever k is. Samples of
    /// whole numbers (ranks and codes) are counted 32 at a time as bits of planes; others by a warp a sample, which keeps the
    /// distances that permutations do not change in its registers.
    Shared,
    /// GPU_CMIknn-Single (algorithms 2 to 4 of the paper): one test at a time, a thread a sample and permutation with a sorted
    /// list of its nearest. k is at most 2,048.
    Single,
    /// GPU_CMIknn-Parallel (algorithm 5): the same kernel for many tests at once, `block` of them at most (the paper's blocked
    /// version). k is at most 2,048.
    Parallel {
        /// Tests at once, at most; 0: as many as memory allows.
        block: u32,
    },
}

/// How to run the test on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnnCudaOptions {
    /// Number of the GPU, from 0.
    pub ordinal: usize,
    /// How to hand out the tests.
    pub strategy: KnnStrategy,
    /// Which memory it takes.
    pub memory: MemoryKind,
    /// Most bytes of it to use, beside what the driver keeps for a kernel (about 1 GB for the paper's, 4 GB where k is above
    /// 512). None: of what is free, 4 GiB more than the least that is needed, and still more from about 23,000 samples on.
    pub memory_budget: Option<u64>,
}

impl Default for KnnCudaOptions {
    fn default() -> Self {
        KnnCudaOptions { ordinal: 0, strategy: KnnStrategy::Shared, memory: MemoryKind::Device, memory_budget: None }
    }
}

/// The nearest-neighbour test on one GPU. Its p-values are those of the CPU engine, bit for bit.
pub struct KnnCudaEngine<'a> {
    knn: &'a Knn,
    options: KnnCudaOptions,
    held: Held,
    /// Where the data are on the GPU, once they are.
    data: Option<data::Data>,
}

impl<'a> KnnCudaEngine<'a> {
    /// The test on a GPU, which is opened (0.2 s once a process).
    ///
    /// # Errors
    /// [`Error::Device`] where no GPU can be used, [`Error::Argument`] where there is no GPU `ordinal`, or k is above 2,048 with
    /// a strategy other than [`KnnStrategy::Shared`].
    pub fn new(knn: &'a Knn, options: KnnCudaOptions) -> Result<Self> {
        if options.strategy != KnnStrategy::Shared && knn.settings().k as u64 > LONG_LISTED {
            return Err(Error::Argument {
                argument: "strategy",
                value: format!("{:?} with k = {}", options.strategy, knn.settings().k),
                hint: format!("it lists at most {} neighbours: give the strategy \"shared\"", LONG_LISTED),
            });
        }
        Ok(KnnCudaEngine {
            knn,
            options,
            held: Held::open(options.ordinal, Pool::at_most(default_threads()), options.memory, options.memory_budget)?,
            data: None,
        })
    }

    /// Lets these threads of the CPU help.
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.held.pool = pool;
        self
    }

    /// Estimates, p-values and counts of arbitrary questions, in their order.
    ///
    /// # Errors
    /// [`Error::Device`] where the GPU fails or has too little memory; what the observer returns.
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
        // Enough warps for a large GPU, and few enough tests that few are asked in vain.
        (4_000_000 / self.knn.columns().n()).clamp(64, 8192)
    }

    fn replies(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        Ok(run::outcomes(self, batch, watch)?.iter().map(|outcome| Reply::P(outcome.p)).collect())
    }
}
