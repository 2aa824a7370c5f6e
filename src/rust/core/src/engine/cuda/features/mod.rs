//! Tests by random features on one GPU: RCoT, RCIT and RIT.
//!
//! Questions come in batches (`batched` makes them from a level). `run` groups them by their set S. The GPU makes what the tests given S share,
//! the residuals of each variable given S, and for each pair a statistic and three traces (kernels/features/). The CPU computes p from these.
//! Each sum has the order of the CPU engine, so that answers equal the CPU's to the last bit.
//!
//! `data`: columns on the GPU, all of them or, if these do not fit, those of a group of questions.

mod data;
mod run;

use crate::ci::features::{KernelTest, Settings, MOST_SIDES};
use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::engine::cuda::arguments;
use crate::engine::cuda::asked::Asked;
use crate::engine::cuda::gpu::held::{Held, Holds};
use crate::engine::cuda::options::GpuOptions;
use crate::error::{DeviceError, DeviceKind};
use crate::panels::{DEEP, WIDE};
use crate::pool::{default_threads, Pool};
use crate::{Error, Result};

// The form of panels and the order of sums are written twice, in Rust and in CUDA C++.
const _: () = assert!(arguments::WIDE as usize == WIDE && arguments::DEEP as usize == DEEP && MOST_SIDES <= WIDE);

/// A test by random features on one GPU. Its p-values equal those of the CPU engine, bit for bit.
pub struct FeaturesCudaEngine<'a> {
    test: &'a KernelTest,
    options: GpuOptions,
    held: Held,
    /// Where the data are on the GPU, once they are there.
    data: Option<data::Data>,
}

impl<'a> FeaturesCudaEngine<'a> {
    /// Makes an engine for the test, and opens its GPU (0.2 s once per process).
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU cannot be used, or has too little shared memory for the features. [`Error::Argument`] if there is no GPU
    /// `ordinal`, and for KCI.
    pub fn new(test: &'a KernelTest, options: GpuOptions) -> Result<Self> {
        let GpuOptions { ordinal, memory, memory_budget } = options;
        if test.is_kci() {
            return Err(Error::Argument {
                argument: "device",
                value: "a GPU for KCI".into(),
                hint: "give device = \"cpu\": the size of KCI's factors differs from set to set".into(),
            });
        }
        let held = Held::open(ordinal, Pool::at_most(default_threads()), memory, memory_budget)?;
        let (needed, limit) = (run::shared_bytes(test), u64::from(held.gpu.shared_limit));
        if needed > limit {
            let Settings { sides, given, .. } = test.settings();
            return Err(Error::Device(DeviceError {
                kind: DeviceKind::OutOfMemory,
                message: format!(
                    "{given} features of S and {sides} of x need {needed} bytes of a GPU's shared memory, which has {limit}"
                ),
                hint: "give fewer features, as in suff_kernel(features = c(5, 100)), or device = \"cpu\"".into(),
            }));
        }
        Ok(FeaturesCudaEngine { test, options, held, data: None })
    }

    /// Sets the CPU threads that help.
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.held.pool = pool;
        self
    }
}

impl Holds for FeaturesCudaEngine<'_> {
    fn held(&mut self) -> &mut Held {
        &mut self.held
    }
}

impl Asked for FeaturesCudaEngine<'_> {
    fn gpu(&self) -> &Held {
        &self.held
    }

    fn ordinal(&self) -> usize {
        self.options.ordinal
    }

    fn batch(&self) -> usize {
        // Some milliseconds, so that the exchange between host and GPU is cheap and few tests are asked in vain.
        (8_000_000 / self.test.n().max(1)).clamp(256, 16_384)
    }

    fn largest(&self) -> usize {
        // At level 1, questions about many sets of a pair share these sets with the questions about other pairs.
        (128_000_000 / self.test.n().max(1)).clamp(Asked::batch(self), 1 << 18)
    }

    fn replies(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        Ok(run::p_values(self, batch, watch)?.into_iter().map(Reply::P).collect())
    }
}
