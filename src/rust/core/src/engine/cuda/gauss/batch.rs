//! Arbitrary questions to the Gaussian test: the conservative and majority rules ask them, and orders of visiting that need shards.
//!
//! The card computes correlations, bit for bit the CPU's, and the CPU makes p-values of them, so that no verdict rests on a card's
//! logarithm.

use super::rules;
use super::source::Gaussian;
use crate::ci::gauss::Undefined;
use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::engine::cuda::arguments::{exact_doubles, SearchArgs};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::kernels::{Kernel, WARP};
use crate::engine::cuda::card::plan::MemoryPlan;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::questions::{each_launch, launched_bytes, Questions};
use crate::engine::cuda::CudaEngine;
use crate::memory;
use crate::Result;

/// Replies that a thread of the CPU makes at a time.
const PART: usize = 1 << 12;

/// Threads of a block.
const QUESTION_THREADS: u32 = 128;

/// The replies, in the order of the batch; `watch` is told the share that is done.
pub(in crate::engine::cuda) fn replies(
    engine: &mut CudaEngine,
    gauss: &Gaussian,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<Reply>> {
    let widest = batch.iter().map(|(_, _, s)| s.len()).max().unwrap_or(0) as u64;
    let warps = (batch.len() as u32).min(engine.held.card.processors * 32);
    engine.make_correlations(gauss, &mut |_| watch(0.0))?;
    engine.held.plan = MemoryPlan::default();
    engine.held.plan.set(Buffer::Data, gauss.bytes());
    engine.held.plan.set(Buffer::Batch, launched_bytes(batch, usize::MAX));
    engine.held.plan.set(Buffer::Scratch, engine.scratch_of_warps(exact_doubles(widest), warps));
    engine.held.commit()?;
    let c = engine.place_correlations(gauss)?;
    let mut values = memory::space(batch.len(), memory::Use::Level)?;
    each_launch(batch, usize::MAX, watch, |questions, _| run(engine, gauss, c, questions, &mut values))?;
    // A hundred nanoseconds each.
    let mut replies = memory::space(batch.len(), memory::Use::Level)?;
    replies.resize(batch.len(), Reply::P(f64::NAN));
    let parts: Vec<&mut [Reply]> = replies.chunks_mut(PART).collect();
    engine.held.pool.each_of(parts, |part, replies| {
        for (at, reply) in (part * PART..).zip(replies) {
            let (_, _, s) = batch.get(at);
            *reply = match gauss.test.p_given(s.len(), Some(values[at]).filter(|r| !r.is_nan())) {
                Ok(p) => Reply::P(p),
                Err(Undefined(reason)) => Reply::Undefined(reason),
            };
        }
    });
    Ok(replies)
}

fn run(
    engine: &mut CudaEngine,
    gauss: &Gaussian,
    c: DevicePtr<f64>,
    questions: &Questions,
    values: &mut Vec<f64>,
) -> Result<()> {
    let count = questions.count();
    let mut args = SearchArgs { p: gauss.p as u64, pitch: gauss.p as u64, c, ..SearchArgs::default() };
    rules::fill(&mut args, &gauss.test, engine.alpha, true, 0);
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
