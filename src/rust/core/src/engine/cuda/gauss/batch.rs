//! p-values of arbitrary questions by the Gaussian test: the conservative and majority rules ask them.

use super::rules;
use crate::ci::gauss::{Gauss, Reading, Undefined, MISSING, TOO_FEW};
use crate::ci::Batch;
use crate::engine::cuda::arguments::SearchArgs;
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::kernels::{exact_doubles, Kernel, WARP};
use crate::engine::cuda::card::plan::MemoryPlan;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::questions::{each_launch, launched_bytes, Questions};
use crate::engine::cuda::CudaEngine;
use crate::memory;
use crate::observer::Observer;
use crate::{Error, Result};

/// Threads of a block.
const QUESTION_THREADS: u32 = 128;

/// The p-values, in the order of the batch; NaN where "stable.fast" has none.
pub(in crate::engine::cuda) fn p_values(
    engine: &mut CudaEngine,
    gauss: &Gauss,
    batch: &Batch,
    observer: &mut dyn Observer,
) -> Result<Vec<f64>> {
    let widest = batch.iter().map(|(_, _, s)| s.len()).max().unwrap_or(0) as u64;
    let warps = (batch.len() as u32).min(engine.held.card.processors * 32);
    engine.held.plan = MemoryPlan::default();
    engine.held.plan.set(Buffer::Data, 8 * gauss.matrix().len() as u64);
    engine.held.plan.set(Buffer::Batch, launched_bytes(batch, usize::MAX));
    engine.held.plan.set(Buffer::Scratch, engine.scratch_of_warps(exact_doubles(widest), warps));
    engine.held.commit()?;
    let c = engine.upload_correlations(gauss)?;
    let mut values = memory::space(batch.len(), memory::Use::Level)?;
    each_launch(batch, usize::MAX, observer, |questions, _| run(engine, gauss, c, questions, &mut values))?;
    let fast = gauss.reading() == Reading::StableFast;
    for (value, (x, y, s)) in values.iter().zip(batch.iter()) {
        let too_few = fast && !value.is_nan() && gauss.n() - (s.len() as f64) - 3.0 < 0.0;
        if too_few || *value < 0.0 {
            let Undefined(reason) = if too_few { TOO_FEW } else { MISSING };
            return Err(Error::Numeric { x, y, s: s.to_vec(), reason });
        }
    }
    Ok(values)
}

fn run(
    engine: &mut CudaEngine,
    gauss: &Gauss,
    c: DevicePtr<f64>,
    questions: &Questions,
    values: &mut Vec<f64>,
) -> Result<()> {
    let count = questions.count();
    let mut args = SearchArgs { p: gauss.p() as u64, c, ..SearchArgs::default() };
    rules::fill(&mut args, gauss, engine.alpha, true, 0);
    // Every set has its own size: the kernel computes the scale from n.
    args.scale = gauss.n();
    engine.send_questions(&mut args, questions)?;
    let warps = (count as u32).min(engine.held.card.processors * 32);
    let block = engine.working_memory(&mut args, exact_doubles(questions.widest as u64), QUESTION_THREADS)?;
    let blocks = warps.div_ceil(block.threads / WARP);
    let launch = Kernel::batch.on((blocks, 1), block.threads, block.shared);
    // SAFETY: the addresses are those of the correlations, of as many questions as `args.count` says, and of working memory for
    // the blocks, all planned for this batch; the answers are waited for below.
    unsafe { engine.held.card.launch(launch, &args)? };
    let done = values.len();
    values.resize(done + count, 0.0);
    engine.held.fetch(args.answers, &mut values[done..], "a batch of tests")
}
