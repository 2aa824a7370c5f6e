//! p-values of arbitrary questions by the Gaussian test: the conservative and majority rules ask them.

use super::rules;
use crate::ci::gauss::{Gauss, Reading, Undefined, MISSING, TOO_FEW};
use crate::ci::Batch;
use crate::engine::cuda::arguments::SearchArgs;
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::kernels::{exact_doubles, WARP};
use crate::engine::cuda::card::plan::{aligned, MemoryPlan};
use crate::engine::cuda::CudaEngine;
use crate::memory;
use crate::observer::Observer;
use crate::{Error, Result};

/// A launch takes no more questions once pairs and sets have this many vertices: enough to fill a card, few enough to end soon.
const MEMBERS: usize = 1 << 22;

/// Threads of a block.
const QUESTION_THREADS: u32 = 128;

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
        args.ends = at + of_ends;
        args.sets = at + of_sets;
        args.answers = at + of_answers;
        self.held.card.upload(args.pairs, pairs)?;
        self.held.card.upload(args.ends, ends)?;
        self.held.card.upload(args.sets, sets)
    }
}

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
            observer.look()?;
            run(engine, gauss, c, &pairs, &ends, &sets, widest, &mut values)?;
            pairs.clear();
            ends.clear();
            sets.clear();
            widest = 0;
        }
    }
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
    // Every set has its own size: the kernel computes the scale from n.
    args.scale = gauss.n();
    engine.send_questions(&mut args, pairs, ends, sets)?;
    let warps = (count as u32).min(engine.held.card.processors * 32);
    let room = engine.working_memory(&mut args, exact_doubles(widest as u64), QUESTION_THREADS)?;
    let blocks = warps.div_ceil(room.threads / WARP);
    engine.held.card.launch("batch", (blocks, 1), room.threads, room.shared, &args)?;
    let done = values.len();
    values.resize(done + count, 0.0);
    // SAFETY: `values` has `count` elements from `done` on, and the stream is synchronised below.
    unsafe { engine.held.card.download(args.answers, values[done..].as_mut_ptr(), count)? };
    engine.held.card.synchronize("a batch of tests")
}
