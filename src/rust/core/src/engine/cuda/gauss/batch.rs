//! Arbitrary questions to the Gaussian test: the conservative and majority rules ask them, and orders of visiting that need shards.
//!
//! The card computes correlations, bit for bit the CPU's, and the CPU makes p-values of them, so that no verdict rests on a card's
//! logarithm.

use super::rules;
use super::source::{Gaussian, Source};
use crate::ci::gauss::Undefined;
use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::engine::cuda::arguments::{
    exact_doubles, CorrelationArgs, SearchArgs, CORRELATION_THREADS, PRODUCT_BYTES, TILE,
};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::held::Held;
use crate::engine::cuda::card::kernels::{Kernel, WARP};
use crate::engine::cuda::card::plan::MemoryPlan;
use crate::engine::cuda::cut::by_columns;
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
    let values = match whole(engine, gauss, batch, [widest, u64::from(warps)], watch) {
        Err(error) if error.is_short_of_device_memory() => {
            by_groups(engine, gauss, batch, [widest, u64::from(warps)], watch)?
        }
        found => found?,
    };
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

/// The correlations of the questions, NaN where there is none, with those of all variables on the card; `of_warps`: the members of
/// the largest set, and how many warps there are.
fn whole(
    engine: &mut CudaEngine,
    gauss: &Gaussian,
    batch: &Batch,
    [widest, warps]: [u64; 2],
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<f64>> {
    engine.make_correlations(gauss, &mut |_| watch(0.0))?;
    engine.held.plan = MemoryPlan::default();
    engine.held.plan.set(Buffer::Data, gauss.bytes());
    engine.held.plan.set(Buffer::Batch, launched_bytes(batch, usize::MAX));
    engine.held.plan.set(Buffer::Scratch, engine.scratch_of_warps(exact_doubles(widest), warps as u32));
    engine.held.commit()?;
    let c = engine.place_correlations(gauss)?;
    let mut values = memory::space(batch.len(), memory::Use::Level)?;
    each_launch(batch, usize::MAX, watch, |questions, _| run(engine, gauss, c, questions, &mut values))?;
    Ok(values)
}

/// Likewise with the correlations of some variables at a time, where the card does not hold those of all.
fn by_groups(
    engine: &mut CudaEngine,
    gauss: &Gaussian,
    batch: &Batch,
    [widest, warps]: [u64; 2],
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<f64>> {
    engine.correlations = None;
    let of_data = match gauss.source {
        Source::Data(_, n) => n as u64,
        Source::Matrix(_) => 0,
    };
    engine.held.plan = MemoryPlan::default();
    engine.held.plan.set(Buffer::Scratch, engine.scratch_of_warps(exact_doubles(widest), warps as u32));
    let room = engine.held.room(&[])?;
    // Half of it for questions; of the rest, m variables take 8 m (m + n) bytes.
    let half = (room / 2) as f64 / 8.0;
    let n = of_data as f64 + 1.0;
    let most = (((n * n / 4.0 + half).sqrt() - n / 2.0) as u64).min(gauss.p as u64);
    let least = (64 + widest) * 16;
    let groups = match by_columns(batch, gauss.p, |_| 1, most) {
        Ok(groups) if room >= least => groups,
        Ok(_) => return Err(engine.held.too_little(engine.held.plan.total() + least)),
        Err(variables) => {
            let needed = engine.held.plan.total() + 16 * variables * (variables + of_data);
            return Err(engine.held.too_little(needed));
        }
    };
    let mut values = memory::zeros(batch.len(), memory::Use::Level)?;
    let mut done = 0;
    for group in groups {
        let own = group.numbered(batch);
        let m = group.variables.len();
        let at_once = (room / 2 / (32 + 4 * widest + 16)).max(1) as usize;
        let held = &mut engine.held;
        held.plan.set(Buffer::Data, (8 * m * m) as u64);
        held.plan.set(Buffer::Columns, 8 * of_data * m as u64);
        held.plan.set(Buffer::Ranks, if of_data > 0 { 8 * m as u64 } else { 0 });
        held.plan.set(Buffer::Batch, launched_bytes(&own, at_once).max(8));
        held.commit()?;
        let c = place(held, gauss, &group.variables, &mut || watch(done as f64 / batch.len() as f64))?;
        let part = Gaussian { p: m, ..*gauss };
        let mut found = memory::space(own.len(), memory::Use::Level)?;
        each_launch(&own, at_once, &mut |_| watch(done as f64 / batch.len() as f64), |questions, _| {
            run(engine, &part, c, questions, &mut found)
        })?;
        done += own.len();
        for (at, value) in group.questions.iter().zip(found) {
            values[*at] = value;
        }
    }
    Ok(values)
}

/// Has the correlations of these variables with each other on the card.
fn place(
    held: &mut Held,
    gauss: &Gaussian,
    variables: &[u32],
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<DevicePtr<f64>> {
    let m = variables.len();
    let at: DevicePtr<f64> = held.device(Buffer::Data)?.cast();
    match gauss.source {
        Source::Matrix(cells) => {
            let row = |&x: &u32| variables.iter().map(move |&y| cells[x as usize * gauss.p + y as usize]);
            let part: Vec<f64> = variables.iter().flat_map(row).collect();
            held.upload(at, &part)?;
        }
        Source::Data(cells, n) => {
            let columns: Vec<f64> =
                variables.iter().flat_map(|&v| &cells[v as usize * n..(v as usize + 1) * n]).copied().collect();
            of_columns(held, &columns, [n, m], at, look)?;
        }
    }
    Ok(at)
}

/// The correlations of m centred columns of n rows, at a place for m x m.
fn of_columns(
    held: &mut Held,
    columns: &[f64],
    [n, m]: [usize; 2],
    at: DevicePtr<f64>,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let x = held.device(Buffer::Columns)?;
    held.send(x, columns)?;
    let args = CorrelationArgs {
        n: n as u64,
        p: m as u64,
        x,
        c: at,
        squares: held.device(Buffer::Ranks)?.cast(),
        left: x,
        rows: m as u64,
        columns: m as u64,
        pitch: m as u64,
        ..CorrelationArgs::default()
    };
    let tiles = m.div_ceil(TILE as usize) as u32;
    let launch = |kernel: Kernel<CorrelationArgs>, blocks: (u32, u32), shared: u64| {
        // SAFETY: the columns are there, with room for their sums of squares and for all correlations.
        unsafe { held.card.launch(kernel.on(blocks, CORRELATION_THREADS, shared), &args) }
    };
    launch(Kernel::cor_centre, (m.min(65_535) as u32, 1), u64::from(CORRELATION_THREADS / WARP) * 8)?;
    launch(Kernel::cor_norms, (tiles, 1), PRODUCT_BYTES)?;
    launch(Kernel::cor_panel, (tiles, tiles), PRODUCT_BYTES)?;
    held.wait("the correlations", look)
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
