//! Tests of numbers and levels, with holes or without, on one GPU.
//!
//! Questions come in batches (`batched` makes them from a level). The GPU makes the cells of each (`run`; kernels/mixed/): rows by the levels of
//! its factors, with means and products of its numbers, summed up in the CPU's order. The CPU makes p of them with the code that it has for its own
//! (`ci::mixed`), so that answers are the CPU's to the last bit. Questions that take no cells, or too many, are the CPU's alone.
//! `data`: columns on the GPU, all of them or, where these do not fit, those of a group of questions.

mod data;
mod run;

use std::sync::Arc;

use crate::ci::mixed::{self, Mixed};
use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::engine::cuda::arguments;
use crate::engine::cuda::asked::Asked;
use crate::engine::cuda::gpu::held::{Held, Holds};
use crate::engine::cuda::gpu::unified::MemoryKind;
use crate::pool::{default_threads, Pool};
use crate::Result;

// The form of cells and the order of sums are written twice, as the languages are two.
const _: () = assert!(
    arguments::CELL_WORDS == mixed::CELL_WORDS as u64
        && arguments::CHUNK == mixed::CHUNK as u64
        && arguments::FEW_CELLS == mixed::FEW_CELLS
        && arguments::LANES == 1 << mixed::LANE_BITS
);

/// How to run the test on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MixedCudaOptions {
    /// Number of the GPU, from 0.
    pub ordinal: usize,
    /// Which memory it takes.
    pub memory: MemoryKind,
    /// Most bytes of it to use. None: what the columns take, and at most 90 MB beside them.
    pub memory_budget: Option<u64>,
}

/// A test of numbers and levels on one GPU. Its p-values are those of the CPU engine, bit for bit.
pub struct MixedCudaEngine<'a> {
    test: Arc<Mixed<'a>>,
    options: MixedCudaOptions,
    held: Held,
    /// Where the data are on the GPU, once they are.
    data: Option<data::Data>,
}

impl<'a> MixedCudaEngine<'a> {
    /// The test on a GPU, which is opened (0.2 s once a process).
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where no GPU can be used, [`Error::Argument`](crate::Error::Argument) where there is no GPU
    /// `ordinal`.
    pub fn new(test: Arc<Mixed<'a>>, options: MixedCudaOptions) -> Result<Self> {
        let MixedCudaOptions { ordinal, memory, memory_budget } = options;
        let held = Held::open(ordinal, Pool::at_most(default_threads()), memory, memory_budget)?;
        Ok(MixedCudaEngine { test, options, held, data: None })
    }

    /// Lets these threads of the CPU help.
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.held.pool = pool;
        self
    }

    /// Words of cells for which a GPU is worth it: those of one test of some cells.
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
        // Enough for a large GPU, and that a round's turn between host and GPU counts little; few enough that few are asked in vain.
        ((2e9 / self.test.n()) as usize).clamp(1024, 16_384)
    }

    fn replies(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        Ok(run::p_values(self, batch, watch)?.into_iter().map(Reply::P).collect())
    }
}
