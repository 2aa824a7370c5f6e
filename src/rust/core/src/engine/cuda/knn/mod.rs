//! The nearest-neighbour test on one GPU: GPU_CMIknn of Hagedorn, Lange, Huegle and Schlosser (2022) and what goes past it.
//!
//! Questions come in batches ([`BatchedSearch`] makes them of a level). `run` takes them to the card: neighbours in each set,
//! permutations of each test, the sums of terms of each permutation; what comes back are whole numbers, and p is made of them
//! here. `kernels`: arguments and launches; the sources are kernels/knn*.cu.

mod kernels;
mod run;

#[cfg(test)]
pub(super) use kernels::ARGS_BYTES;

use std::sync::Arc;
use std::time::Instant;

use super::device::{self, Card};
use super::memory::Memory;
use super::WATCH;
use crate::ci::knn::Knn;
use crate::ci::Batch;
use crate::engine::batched::{Asker, BatchedSearch};
use crate::engine::{Engine, Search};
use crate::error::{DeviceError, DeviceKind};
use crate::search::{Observer, Options};
use crate::{Error, Result};

/// How tests are handed out on the GPU. All give one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnnStrategy {
    /// Ours: a warp takes a sample with all permutations of a test, distances that do not change stay in its registers, and
    /// the k-th is found by counting: no list of neighbours, whatever k is.
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
    /// Bytes of device memory that may be used; none: 4 GiB of what is free.
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
    card: Arc<Card>,
    memory: Option<Memory>,
    /// Where the data are on the card, once they are.
    data: Option<run::Data>,
    /// Whether a failure was met after which nothing on the card can be relied on.
    failed: bool,
    looked: Instant,
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
        let card = Card::open(options.ordinal)?;
        let memory = Some(card.take_memory());
        Ok(KnnCudaEngine { knn, options, card, memory, data: None, failed: false, looked: Instant::now() })
    }

    fn memory(&mut self) -> &mut Memory {
        self.memory.get_or_insert_with(Memory::default)
    }

    /// Runs something on the card, and remembers when it failed for good.
    fn watched<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = device::guarded(|| {
            self.card.bind()?;
            run(self)
        });
        match &outcome {
            Ok(_) => (),
            Err(Error::Device(DeviceError { kind: DeviceKind::Failed, .. })) => self.failed = true,
            // What was launched before the error still runs on memory that is about to be reused.
            Err(_) => self.failed |= self.card.synchronize("ending a search").is_err(),
        }
        outcome
    }

    /// Waits for the stream, looking up now and then.
    fn wait(&mut self, doing: &str, look: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let began = Instant::now();
        while !self.card.is_idle(doing)? {
            if began.elapsed().as_millis() >= 2 {
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
            if self.looked.elapsed() > WATCH {
                self.looked = Instant::now();
                look()?;
            }
        }
        Ok(())
    }
}

impl Drop for KnnCudaEngine<'_> {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        if self.failed {
            self.card.abandon();
        } else if self.card.is_ours() && self.card.bind().is_ok() {
            if memory.is_modest() {
                self.card.keep_memory(memory);
            } else {
                memory.free();
            }
        }
    }
}

impl Asker for KnnCudaEngine<'_> {
    fn batch(&self) -> usize {
        // Enough warps for a large card, and few enough tests that little is asked in vain.
        (4_000_000 / self.knn.columns().n()).clamp(64, 8192)
    }

    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<f64>> {
        self.watched(|engine| run::p_values(engine, batch, watch))
    }
}

impl Engine for KnnCudaEngine<'_> {
    fn begin<'s>(&'s mut self, options: &'s Options, p_max: &'s mut [f64]) -> Result<Box<dyn Search + 's>> {
        Ok(Box::new(BatchedSearch::new(self, options, p_max)))
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        self.ask(batch, &mut |_| observer.look())
    }
}
