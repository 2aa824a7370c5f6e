//! Arbitrary questions to the Gaussian test. The conservative and majority rules ask them, and so do orders of visiting that need shards.
//!
//! The GPU computes correlations that equal the CPU's bit for bit. The CPU turns them into p-values, so that no verdict rests on a GPU's
//! logarithm.

use super::rows::{Cells, Panel, Rows};
use super::rules;
use super::source::{Gaussian, Source};
use crate::ci::gauss::{FisherZ, Undefined};
use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::engine::cuda::arguments::{exact_doubles, SearchArgs};
use crate::engine::cuda::cut::by_columns;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::Held;
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::gpu::plan::MemoryPlan;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::questions::{each_launch, launched_bytes, Questions};
use crate::engine::cuda::CudaEngine;
use crate::memory;
use crate::moments::Centred;
use crate::Result;

/// Replies that a CPU thread computes at a time.
const PART: usize = 1 << 12;

/// Threads of a block.
const QUESTION_THREADS: u32 = 128;

/// Returns the replies, in the order of the batch; `watch` gets the share that is done.
pub(in crate::engine::cuda) fn replies(
    engine: &mut CudaEngine,
    gauss: &Gaussian,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<Reply>> {
    let values = correlations(engine, gauss, batch, watch)?;
    // Each takes about a hundred nanoseconds.
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

/// Returns the correlations that the questions ask for; NaN if there is none.
fn correlations(
    engine: &mut CudaEngine,
    gauss: &Gaussian,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<f64>> {
    let widest = batch.iter().map(|(_, _, s)| s.len()).max().unwrap_or(0) as u64;
    if let (Source::Matrix(cells), 0) = (gauss.source, widest) {
        let mut values = memory::space(batch.len(), memory::Use::Level)?;
        values.extend(batch.iter().map(|(x, y, _)| cells[x * gauss.p + y]));
        return Ok(values);
    }
    let warps = (batch.len() as u32).min(engine.held.gpu.processors * 32);
    match whole(engine, gauss, batch, [widest, u64::from(warps)], watch) {
        Err(error) if error.is_short_of_device_memory() => {
            by_groups(engine, gauss, batch, [widest, u64::from(warps)], watch)
        }
        found => found,
    }
}

/// Numbers that are turned into p-values at a time.
const VALUES: usize = 1 << 20;

/// Turns `count` correlations at `answers` into p-values given the empty set, as level 0 on the GPU computes them. No verdict rests on these.
pub(super) fn to_p_values(held: &Held, test: &FisherZ, alpha: f64, args: &mut SearchArgs) -> Result<()> {
    rules::fill(args, test, alpha, true, 0);
    let blocks = args.count.div_ceil(u64::from(QUESTION_THREADS)).min(1 << 12) as u32;
    // SAFETY: `args.count` numbers are there.
    unsafe { held.gpu.launch(Kernel::marginal_values.on((blocks, 1), QUESTION_THREADS, 0), &*args) }
}

/// Returns the p-values of questions with empty sets. The correlations are those of a matrix, or on the GPU.
pub(in crate::engine::cuda) fn marginal_values(
    engine: &mut CudaEngine,
    gauss: &Gaussian,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<f64>> {
    let mut values = correlations(engine, gauss, batch, watch)?;
    let held = &mut engine.held;
    held.plan = MemoryPlan::default();
    held.plan.set(Buffer::Batch, 8 * VALUES.min(values.len()) as u64);
    held.commit()?;
    let mut args = SearchArgs { answers: held.device(Buffer::Batch)?.cast(), ..SearchArgs::default() };
    for some in values.chunks_mut(VALUES) {
        held.upload(args.answers, some)?;
        args.count = some.len() as u64;
        to_p_values(held, &gauss.test, engine.alpha, &mut args)?;
        held.fetch(args.answers, some, "level 0")?;
        watch(1.0)?;
    }
    Ok(values)
}

/// Returns the correlations that the questions ask for, with those of all variables on the GPU; NaN if there is none. `widest` is the size
/// of the largest set, `warps` the number of warps.
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

/// Returns the correlations that the questions ask for, with those of some variables on the GPU at a time; NaN if there is none.
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
    // Half of the room is for questions. In the other half, m variables take 8 m (m + n) bytes.
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
        let launched = launched_bytes(&own, at_once).max(8);
        let mut look = || watch(done as f64 / batch.len() as f64);
        let c = place(&mut engine.held, gauss, &group.variables, launched, &mut look)?;
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

/// Puts the correlations of these variables with each other on the GPU, and leaves room for questions of `launched` bytes.
fn place(
    held: &mut Held,
    gauss: &Gaussian,
    variables: &[u32],
    launched: u64,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<DevicePtr<f64>> {
    let m = variables.len();
    let mut rows = Rows::default();
    let gathered: Vec<f64>;
    let columns: Centred;
    let cells = match gauss.source {
        Source::Matrix(cells) => {
            let row = |&x: &u32| variables.iter().map(move |&y| cells[x as usize * gauss.p + y as usize]);
            gathered = variables.iter().flat_map(row).collect();
            Cells::Matrix(&gathered)
        }
        Source::Data(cells, n) => {
            let column = |&v: &u32| &cells[v as usize * n..(v as usize + 1) * n];
            gathered = variables.iter().flat_map(column).copied().collect();
            columns = Centred::of_cells(&gathered, n);
            Cells::Data(&columns)
        }
    };
    held.plan.set(Buffer::Data, (8 * m * m) as u64);
    // The columns of a group fit.
    rows.plan(held, cells, m, u64::MAX);
    // The sums of squares are no longer needed when questions come.
    held.plan.raise(Buffer::Batch, launched);
    held.commit()?;
    rows.begin(held, cells, m, look)?;
    let at = held.device(Buffer::Data)?.cast();
    rows.make(held, cells, m, &Panel { rows: 0..m, columns: 0..m, at, ..Panel::default() }, look)?;
    held.wait("computing correlations", look)?;
    Ok(at)
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
    let warps = (count as u32).min(engine.held.gpu.processors * 32);
    let block = engine.working_memory(&mut args, exact_doubles(questions.widest as u64), QUESTION_THREADS)?;
    let blocks = warps.div_ceil(block.threads / WARP);
    let launch = Kernel::batch.on((blocks, 1), block.threads, block.shared);
    // SAFETY: the addresses hold the correlations, `args.count` questions and working memory for the blocks, all planned for this batch.
    // The answers are waited for below.
    unsafe { engine.held.gpu.launch(launch, &args)? };
    let done = values.len();
    values.resize(done + count, 0.0);
    engine.held.fetch(args.answers, &mut values[done..], "running a batch of tests")
}
