//! Tests of discrete variables that the GPU leaves to the CPU. Their p is too near to alpha for two machines' rounding, or their table is
//! too large. Also p-values of arbitrary questions about discrete variables.

use crate::engine::cuda::arguments::{DiscreteArgs, ASKED_WORDS, COUNTING_THREADS};
use std::sync::atomic::{AtomicU64, Ordering};

use super::columns::{table_bytes, Parts, Places, Table};
use super::counting::{self, Scratch, Tables};
use crate::ci::discrete::{Counter, Discrete, Margins};
use crate::ci::Batch;
use crate::engine::batched::Reply;
use crate::engine::cuda::cut::by_columns;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::gpu::plan::MemoryPlan;
use crate::engine::cuda::questions::{each_launch, launched_bytes};
use crate::engine::cuda::CudaEngine;
use crate::memory;
use crate::pool::{Pool, Stop};
use crate::Result;

/// A test for the CPU.
#[derive(Clone, Debug)]
pub(in crate::engine::cuda) struct CpuTest {
    /// The row.
    pub x: usize,
    /// The other vertex.
    pub y: usize,
    /// The set, in the order of the side's candidates.
    pub set: Vec<u32>,
}

impl CpuTest {
    /// Replaces the GPU's numbers 0, 1, ... by the variables that they stand for.
    pub fn name(&mut self, variables: &[u32]) {
        let name = |v: u32| variables[v as usize];
        (self.x, self.y) = (name(self.x as u32) as usize, name(self.y as u32) as usize);
        self.set.iter_mut().for_each(|member| *member = name(*member));
    }
}

/// Copies the first `count` records of kernels to the host. A record has the words x, y, slot (2), key (2), members.
pub(in crate::engine::cuda) fn bring(engine: &mut CudaEngine, args: &DiscreteArgs, count: u64) -> Result<Vec<CpuTest>> {
    let (width, size) = ((ASKED_WORDS + args.largest_set) as usize, args.a.size as usize);
    let each = size_of::<CpuTest>() + 4 * size + 16;
    memory::room(each * count as usize, memory::Use::Level)?;
    let mut found = Vec::with_capacity(count as usize);
    engine.held.bring(
        args.asked,
        width * count as usize,
        |end| end / width * width,
        |_, piece| {
            found.extend(piece.chunks_exact(width).map(|record| CpuTest {
                x: record[0] as usize,
                y: record[1] as usize,
                set: record[ASKED_WORDS as usize..][..size].to_vec(),
            }));
            Ok(())
        },
    )?;
    Ok(found)
}

/// Samples times questions below which the calling thread answers alone: it is done before others have started.
const FEW_SAMPLES: usize = 100_000;

/// Returns p-values by the CPU's plain function, in the order of the questions, computed on the threads of the pool.
pub(in crate::engine::cuda) fn answer(
    test: &Discrete,
    questions: &[CpuTest],
    pool: &Pool,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<f64>> {
    memory::room(16 * questions.len(), memory::Use::Level)?;
    let answers: Vec<AtomicU64> = questions.iter().map(|_| AtomicU64::new(0)).collect();
    let work = |scratch: &mut (Counter, Margins), at: usize, _: &Stop| {
        let CpuTest { x, y, set } = &questions[at];
        let p = if test.surely_too_few(*x, *y, set) {
            1.0
        } else {
            test.test_with(*x, *y, set, &mut scratch.0, &mut scratch.1).p
        };
        answers[at].store(p.to_bits(), Ordering::Relaxed);
    };
    let inline = (questions.len() * test.data().n()) < FEW_SAMPLES;
    pool.run(questions.len(), inline, |_| 1.0, &mut |_| look(), work)?;
    Ok(answers.iter().map(|p| f64::from_bits(p.load(Ordering::Relaxed))).collect())
}

/// Most samples times questions of a launch: less than 0.1 s.
const QUESTION_SAMPLES: u64 = 1 << 32;

/// Divisors of the memory that questions and scratch each get if not all columns fit. The first that leaves enough is used.
const SHARES: [u64; 3] = [8, 64, u64::MAX];

/// Plan of a batch: most questions of a launch, shared memory and scratch of its blocks, and members of its largest set.
struct Plan {
    most: usize,
    tables: Tables,
    scratch: Scratch,
    widest: usize,
}

/// Plans a batch's questions and its scratch, in `room` bytes at most or in the least that is needed.
fn plan(engine: &mut CudaEngine, test: &Discrete, batch: &Batch, most: usize, room: Option<u64>) -> Result<Plan> {
    let widest = batch.iter().map(|(_, _, s)| s.len()).max().unwrap_or(0);
    let tables = counting::tables(widest as u64, engine.held.gpu.shared_limit);
    engine.held.plan.set(Buffer::Batch, launched_bytes(batch, most));
    engine.held.plan.set(Buffer::Asked, counting::asked_bytes(widest, 1));
    let room = match room {
        Some(room) => room,
        None => engine.scratch_room(test, &[], 0)?,
    };
    let scratch = counting::scratch(test, widest, tables.area, engine.held.gpu.processors, room);
    engine.held.plan.set(Buffer::Scratch, scratch.bytes * u64::from(scratch.blocks));
    Ok(Plan { most, tables, scratch, widest })
}

/// Returns the replies, in the order of the batch, and plans the GPU's memory. `watch` gets the share that is done.
pub(in crate::engine::cuda) fn replies(
    engine: &mut CudaEngine,
    test: &Discrete,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<Reply>> {
    let most = (QUESTION_SAMPLES / test.data().n() as u64).clamp(1, 1 << 20) as usize;
    if engine.coding.is_none() {
        engine.held.restart();
    }
    engine.held.plan = MemoryPlan::default();
    engine.held.plan.set(Buffer::Data, counting::data_bytes(test));
    let planned = plan(engine, test, batch, most, None)?;
    let values = if engine.held.fits()? {
        engine.held.commit()?;
        run(engine, test, batch, batch, &planned, watch)?
    } else {
        in_groups(engine, test, batch, watch)?
    };
    Ok(values.into_iter().map(Reply::P).collect())
}

/// Returns the p-values if the columns do not all fit. It runs some questions at a time, which have most columns in common.
fn in_groups(
    engine: &mut CudaEngine,
    test: &Discrete,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<f64>> {
    let p = test.data().p();
    let parts = Parts::of_sets(false);
    let bytes = (0..p).map(|v| parts.bytes(test, v)).max().unwrap_or(0);
    let column = bytes + table_bytes(1) - table_bytes(0);
    let mut needed = 0;
    for share in SHARES {
        engine.coding = None;
        engine.held.restart();
        let limit = engine.held.room(&[])?;
        // As many questions as their share has room for; one takes 256 bytes for each of its parts.
        let widest = batch.iter().map(|(_, _, s)| s.len()).max().unwrap_or(0) as u64;
        let most = (limit / share / (24 + 4 * widest)).clamp(1, 1 << 20) as usize;
        let planned = plan(engine, test, batch, most, Some(limit / share))?;
        let others = engine.held.plan.total() + table_bytes(0) + 2 * 256;
        let room = limit.saturating_sub(others);
        let groups = match by_columns(batch, p, |_| column, room) {
            Ok(groups) => groups,
            Err(columns) => {
                needed = others + columns;
                continue;
            }
        };
        engine.held.plan.set(Buffer::Data, limit - engine.held.plan.total());
        engine.held.commit()?;
        let mut values: Vec<f64> = memory::zeros(batch.len(), memory::Use::Level)?;
        let mut done = 0;
        for group in &groups {
            engine.held.piece(group.variables.len());
            let placed: Vec<(u32, u32)> = group.variables.iter().copied().zip(0..).collect();
            let places = Places { at: engine.held.device(Buffer::Data)?, bytes, parts };
            let table = Table::new([], &placed);
            let words = table.words(test, &places, engine.pack(test)?);
            let at = places.after(placed.len() as u64);
            engine.held.upload(at, &words)?;
            engine.coding = Some(table.fill(engine, test, &places, at)?);
            let mut within =
                |part: f64| watch((done as f64 + part * group.questions.len() as f64) / batch.len() as f64);
            let found = run(engine, test, &group.numbered(batch), &group.named(batch), &planned, &mut within);
            engine.coding = None;
            for (&at, value) in group.questions.iter().zip(found?) {
                values[at] = value;
            }
            done += group.questions.len();
        }
        return Ok(values);
    }
    Err(engine.held.too_little(needed))
}

/// Returns the p-values of a batch, in its order, as planned. `named`: the same questions with the CPU's numbers of variables.
fn run(
    engine: &mut CudaEngine,
    test: &Discrete,
    batch: &Batch,
    named: &Batch,
    planned: &Plan,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<f64>> {
    let Plan { most, tables, scratch, widest } = *planned;
    let mut args = engine.discrete_args(test)?;
    engine.place(&mut args, widest, tables, &scratch, 1)?;
    let mut values = memory::space(batch.len(), memory::Use::Level)?;
    each_launch(batch, most, watch, |questions, watch| {
        let done = values.len();
        values.resize(done + questions.count(), 0.0);
        engine.send_questions(&mut args.a, questions)?;
        let blocks = scratch.blocks.min(questions.count() as u32);
        let launch = Kernel::dis_batch.on((blocks, 1), COUNTING_THREADS, tables.bytes);
        // SAFETY: the addresses hold the data, `args.a.count` questions and scratch for the blocks, all planned for this batch. The answers
        // are waited for below.
        unsafe { engine.held.gpu.launch(launch, &args)? };
        engine.held.fetch(args.a.answers, &mut values[done..], "running a batch of tests")?;
        let left: Vec<usize> = (done..values.len()).filter(|&at| values[at] < 0.0).collect();
        let test_of = |&at: &usize| {
            let (x, y, set) = named.get(at);
            CpuTest { x, y, set: set.to_vec() }
        };
        let for_cpu: Vec<CpuTest> = left.iter().map(test_of).collect();
        let mut look = || watch(done as f64 / batch.len() as f64);
        for (at, p) in left.into_iter().zip(answer(test, &for_cpu, &engine.held.pool, &mut look)?) {
            values[at] = p;
        }
        Ok(())
    })?;
    Ok(values)
}
