//! Tests of numbers and levels, with missing values or without, on one GPU.
//!
//! Questions come in batches (`batched` makes them from a level). For each question the GPU computes its cells (`run`; kernels/mixed/): rows by
//! the levels of its factors, with means and products of its numbers, summed in the CPU's order. The CPU computes p from them with the code that
//! it uses for its own cells (`ci::mixed`), so that answers equal the CPU's to the last bit. The CPU alone answers questions that take no cells,
//! or too many.
//!
//! `data`: columns on the GPU, all of them or, if these do not fit, those of a group of questions.

mod data;
mod run;

use std::sync::Arc;

use crate::ci::mixed::{self, Mixed};
use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::engine::cuda::arguments;
use crate::engine::cuda::asked::Asked;
use crate::engine::cuda::gpu::held::{Held, Holds};
use crate::engine::cuda::options::GpuOptions;
use crate::pool::{default_threads, Pool};
use crate::Result;

// The form of cells and the order of sums are written twice, in Rust and in CUDA C++.
const _: () = assert!(
    arguments::CELL_WORDS == mixed::CELL_WORDS as u64
        && arguments::CHUNK == mixed::CHUNK as u64
        && arguments::FEW_CELLS == mixed::FEW_CELLS
        && arguments::LANES == 1 << mixed::LANE_BITS
);

/// A test of numbers and levels on one GPU. Its p-values equal those of the CPU engine, bit for bit.
pub struct MixedCudaEngine<'a> {
    test: Arc<Mixed<'a>>,
    options: GpuOptions,
    held: Held,
    /// Where the data are on the GPU, once they are there.
    data: Option<data::Data>,
}

impl<'a> MixedCudaEngine<'a> {
    /// Makes an engine for the test, and opens its GPU (0.2 s once per process).
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the GPU cannot be used, [`Error::Argument`](crate::Error::Argument) if there is no GPU
    /// `ordinal`.
    pub fn new(test: Arc<Mixed<'a>>, options: GpuOptions) -> Result<Self> {
        let GpuOptions { ordinal, memory, memory_budget } = options;
        let held = Held::open(ordinal, Pool::at_most(default_threads()), memory, memory_budget)?;
        Ok(MixedCudaEngine { test, options, held, data: None })
    }

    /// Sets the CPU threads that help.
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.held.pool = pool;
        self
    }

    /// Returns the fewest words of cells for which a GPU pays: those of one test with few cells.
    fn fewest_cells(&self) -> usize {
        const FEW: usize = 64;
        FEW * self.test.sets()
    }
}

impl Holds for MixedCudaEngine<'_> {
    fn held(&mut self) -> &mut Held {
        &mut self.held
    }
}

impl Asked for MixedCudaEngine<'_> {
    fn gpu(&self) -> &Held {
        &self.held
    }

    fn ordinal(&self) -> usize {
        self.options.ordinal
    }

    fn batch(&self) -> usize {
        // Enough for a large GPU and to make the exchange between host and GPU cheap, but so few that few are asked in vain.
        ((2e9 / self.test.n()) as usize).clamp(1024, 16_384)
    }

    fn replies(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        Ok(run::p_values(self, batch, watch)?.into_iter().map(Reply::P).collect())
    }
}
