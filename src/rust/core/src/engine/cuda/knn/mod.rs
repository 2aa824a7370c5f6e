//! The nearest-neighbour test on one GPU: GPU_CMIknn of Hagedorn, Lange, Huegle and Schlosser (2022) and what goes past it.
//!
//! Questions come in batches ([`BatchedSearch`] makes them of a level). `run` takes them to the card: neighbours in each set,
//! permutations of each test, the sums of terms of each permutation; what comes back are whole numbers, and p is made of them
//! here. `data`: columns on the card; `plan`: memory and launches; `kernels`: arguments; the sources are kernels/knn*.cu.

mod data;
mod kernels;
mod plan;
mod run;

#[cfg(test)]
pub(super) use kernels::ARGS_BYTES;

use super::held::{Held, Holds};
use crate::ci::knn::{Knn, Outcome};
use crate::ci::Batch;
use crate::engine::batched::{Asker, BatchedSearch};
use crate::engine::{Engine, Search};
use crate::pool::{default_threads, Pool};
use crate::search::{Observer, Options};
use crate::{Error, Result};

/// How tests are handed out on the GPU. All give one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnnStrategy {
    /// Ours: the distance to the k-th neighbour is found by counting, with no list of neighbours, whatever k is. Whole
    /// numbers (ranks and codes) are counted 32 at a time by the bits of planes; others by a warp a sample, which keeps the
    /// distances that no permutation changes in its registers.
    Shared,
    /// GPU_CMIknn-Single (algorithms 2 to 4 of the paper): one test at a time, a thread a sample and permutation with a sorted
    /// list of its nearest. k is at most 512.
    Single,
    /// GPU_CMIknn-Parallel (algorithm 5): the same kernel for many tests at once, `block` of them at most (the paper's blocked
    /// version); 0 is as many as memory allows.
    Parallel {
        /// Tests at once.
        block: u32,
    },
}

/// How to run the test on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnnCudaOptions {
    /// Which card, from 0.
    pub ordinal: usize,
    /// How to hand out the tests.
    pub strategy: KnnStrategy,
    /// Bytes of device memory that may be used, but for what the driver keeps for a kernel (for the paper's, about 1 GB); none:
    /// 4 GiB beside the data of what is free, and more from some 20,000 samples on.
    pub memory_budget: Option<u64>,
}

impl Default for KnnCudaOptions {
    fn default() -> Self {
        KnnCudaOptions { ordinal: 0, strategy: KnnStrategy::Shared, memory_budget: None }
    }
}

/// The nearest-neighbour test on one GPU. Its p-values are those of the CPU engine, bit for bit.
pub struct KnnCudaEngine<'a> {
    knn: &'a Knn,
    options: KnnCudaOptions,
    held: Held,
    /// Where the data are on the card, once they are.
    data: Option<data::Data>,
}

impl<'a> KnnCudaEngine<'a> {
    /// The test on a card, which is opened (0.2 s once a process).
    ///
    /// # Errors
    /// [`Error::Device`] where there is no card that can be used, [`Error::Argument`] where there are fewer cards than
    /// `ordinal` asks for, or k is more than a strategy can list.
    pub fn new(knn: &'a Knn, options: KnnCudaOptions) -> Result<Self> {
        if options.strategy != KnnStrategy::Shared && knn.settings().k > kernels::LISTED {
            return Err(Error::Argument {
                argument: "strategy",
                value: format!("{:?} with k = {}", options.strategy, knn.settings().k),
                mend: format!("it lists at most {} neighbours: give the strategy \"shared\"", kernels::LISTED),
            });
        }
        Ok(KnnCudaEngine {
            knn,
            options,
            held: Held::open(options.ordinal, Pool::at_most(default_threads()), options.memory_budget)?,
            data: None,
        })
    }

    /// With these threads of the CPU to help.
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.held.pool = pool;
        self
    }

    /// Estimates, p-values and counts of arbitrary questions, in their order.
    ///
    /// # Errors
    /// [`Error::Device`] where the card fails or has too little memory; what the observer returns.
    pub fn outcomes(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<Outcome>> {
        self.run(batch, &mut |_| observer.look())
    }

    fn run(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Outcome>> {
        self.watched(|engine| run::outcomes(engine, batch, watch))
    }
}

impl Holds for KnnCudaEngine<'_> {
    fn held(&mut self) -> &mut Held {
        &mut self.held
    }
}

impl Asker for KnnCudaEngine<'_> {
    fn pool(&self) -> &Pool {
        &self.held.pool
    }

    fn batch(&self) -> usize {
        // Enough warps for a large card, and few enough tests that little is asked in vain.
        (4_000_000 / self.knn.columns().n()).clamp(64, 8192)
    }

    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<f64>> {
        Ok(self.run(batch, watch)?.iter().map(|outcome| outcome.p).collect())
    }
}

impl Engine for KnnCudaEngine<'_> {
    fn begin<'s>(&'s mut self, options: &'s Options, p_max: &'s mut [f64]) -> Result<Box<dyn Search + 's>> {
        Ok(Box::new(BatchedSearch::new(self, options, p_max)))
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        self.ask(batch, &mut |_| observer.look())
    }

    fn pool(&self) -> &Pool {
        &self.held.pool
    }

    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        self.held.largest_plan().parts()
    }
}
