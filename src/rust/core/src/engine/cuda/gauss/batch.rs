//! Arbitrary questions to the Gaussian test: the conservative and majority rules ask them, and orders of visiting that need shards.
//!
//! The card computes correlations, bit for bit the CPU's, and the CPU makes p-values of them, so that no verdict rests on a card's
//! logarithm.

use super::rules;
use crate::ci::gauss::{Gauss, Undefined};
use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::engine::cuda::arguments::{exact_doubles, SearchArgs};
use crate::engine::cuda::card::kernels::WARP;
use crate::engine::cuda::card::memory::Buffer;
use crate::engine::cuda::card::plan::{aligned, Plan};
use crate::engine::cuda::CudaEngine;
use crate::memory;
use crate::Result;

/// A launch takes no more questions once pairs and sets have this many vertices: enough to fill a card, few enough to end soon.
const MEMBERS: usize = 1 << 22;

/// Replies that a thread of the CPU makes at a time.
const PART: usize = 1 << 12;

/// Threads of a block.
const THREADS: u32 = 128;

/// Where the ends of the sets, their members and the answers of `count` questions with so many members start, in bytes from their
/// pairs, and where the answers end.
fn places(count: usize, members: usize) -> [u64; 4] {
    let ends = aligned(8 * count);
    let sets = ends + aligned(8 * count);
    let answers = sets + aligned(4 * members);
    [ends, sets, answers, answers + 8 * count as u64]
}

/// Most bytes that a launch of a batch's questions takes: at most `most` questions, and none after the one that brings the sets
/// to `members` members.
pub(in crate::engine::cuda) fn launched_bytes(batch: &Batch, most: usize, members: usize) -> u64 {
    let (mut all, mut widest) = (0, 0);
    for (_, _, s) in batch.iter() {
        all += s.len();
        widest = widest.max(s.len());
    }
    let [.., end] = places(most.min(batch.len()), all.min(members + widest));
    end
}

impl CudaEngine<'_> {
    /// Copies questions to the card: `pairs` has two vertices each, `ends` where the members of each set end in `sets`.
    pub(in crate::engine::cuda) fn send_questions(
        &mut self,
        args: &mut SearchArgs,
        pairs: &[u32],
        ends: &[u64],
        sets: &[u32],
    ) -> Result<()> {
        let at = self.held.device(Buffer::Batch)?;
        let [of_ends, of_sets, of_answers, _] = places(ends.len(), sets.len());
        args.count = ends.len() as u64;
        args.pairs = at;
        args.set_ends = at + of_ends;
        args.sets = at + of_sets;
        args.answers = at + of_answers;
        self.held.card.upload(args.pairs, pairs)?;
        self.held.card.upload(args.set_ends, ends)?;
        self.held.card.upload(args.sets, sets)
    }
}

/// The replies, in the order of the batch; `watch` is told the share that is done.
pub(in crate::engine::cuda) fn replies(
    engine: &mut CudaEngine,
    gauss: &Gauss,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<Reply>> {
    let widest = batch.iter().map(|(_, _, s)| s.len()).max().unwrap_or(0) as u64;
    let warps = (batch.len() as u32).min(engine.held.card.processors * 32);
    engine.held.plan = Plan::default();
    engine.held.plan.set(Buffer::Data, 8 * gauss.matrix().len() as u64);
    engine.held.plan.set(Buffer::Batch, launched_bytes(batch, MEMBERS / 2, MEMBERS));
    engine.held.plan.set(Buffer::Scratch, engine.scratch_of_warps(exact_doubles(widest), warps));
    engine.held.commit()?;
    let c = engine.upload_correlations(gauss)?;
    let mut values = memory::space(batch.len(), memory::Use::Level)?;
    let (mut pairs, mut ends, mut sets) = (Vec::new(), Vec::new(), Vec::new());
    let mut widest = 0;
    for (i, (x, y, s)) in batch.iter().enumerate() {
        pairs.extend([x as u32, y as u32]);
        sets.extend_from_slice(s);
        ends.push(sets.len() as u64);
        widest = widest.max(s.len());
        if i + 1 == batch.len() || sets.len() + pairs.len() >= MEMBERS {
            watch(i as f64 / batch.len() as f64)?;
            run(engine, gauss, c, &pairs, &ends, &sets, widest, &mut values)?;
            pairs.clear();
            ends.clear();
            sets.clear();
            widest = 0;
        }
    }
    // A hundred nanoseconds each.
    let mut replies = memory::space(batch.len(), memory::Use::Level)?;
    replies.resize(batch.len(), Reply::P(f64::NAN));
    let parts: Vec<&mut [Reply]> = replies.chunks_mut(PART).collect();
    engine.held.pool.each_of(parts, |part, replies| {
        for (at, reply) in (part * PART..).zip(replies) {
            let (x, y, s) = batch.get(at);
            *reply = match gauss.p_given(x, y, s.len(), Some(values[at]).filter(|r| !r.is_nan())) {
                Ok(p) => Reply::P(p),
                Err(Undefined(reason)) => Reply::Undefined(reason),
            };
        }
    });
    Ok(replies)
}

#[allow(clippy::too_many_arguments)]
fn run(
    engine: &mut CudaEngine,
    gauss: &Gauss,
    c: u64,
    pairs: &[u32],
    ends: &[u64],
    sets: &[u32],
    widest: usize,
    values: &mut Vec<f64>,
) -> Result<()> {
    let count = ends.len();
    let mut args = SearchArgs { p: gauss.p() as u64, c, ..SearchArgs::default() };
    rules::fill(&mut args, gauss, engine.alpha, true, 0);
    engine.send_questions(&mut args, pairs, ends, sets)?;
    let warps = (count as u32).min(engine.held.card.processors * 32);
    let room = engine.working_memory(&mut args, exact_doubles(widest as u64), THREADS)?;
    let blocks = warps.div_ceil(room.threads / WARP);
    engine.held.card.launch("batch", (blocks, 1), room.threads, room.shared, &args)?;
    let done = values.len();
    values.resize(done + count, 0.0);
    // SAFETY: `values` has `count` elements from `done` on, and the stream is synchronised below.
    unsafe { engine.held.card.download(args.answers, values[done..].as_mut_ptr(), count)? };
    engine.held.card.synchronize("a batch of tests")
}
