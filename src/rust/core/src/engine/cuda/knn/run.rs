//! A batch of tests on the card.

use std::collections::HashMap;

use super::kernels::{number_of, sums_kernel, Args};
use super::plan::{aligned, Plan, Shape, PAPER_THREADS, THREADS};
use super::{KnnCudaEngine, KnnStrategy};
use crate::ci::knn::{Outcome, Values};
use crate::ci::Batch;
use crate::engine::cuda::kernels::WARP;
use crate::engine::cuda::memory::Use;
use crate::engine::cuda::plan::{limit, out_of_memory};
use crate::Result;

/// Permutations of the first launch of tests that may stop early; launches grow from there.
const FIRST_PERMUTATIONS: usize = 8;

/// Device memory used unless told otherwise: more gains nothing.
const USUAL_BUDGET: u64 = 4 << 30;

/// No set: `NO_SET` of kernels/knn.cuh.
const NO_SET: u32 = u32::MAX;

/// Where the data are on the card, and how much there is room for beside them.
#[derive(Clone, Copy)]
pub(super) struct Data {
    values: u64,
    caps: u64,
    own: u64,
    joint: u64,
    shape: Shape,
    pub plan: Plan,
}

impl Data {
    /// A kernel's name for the values' type.
    fn kernel(&self, single: &'static str, double: &'static str) -> &'static str {
        if self.shape.cell == 4 {
            single
        } else {
            double
        }
    }
}

/// A test that is not decided.
struct Test {
    /// Its place in the batch.
    at: usize,
    x: u32,
    y: u32,
    set: u32,
    key: [u32; 2],
    own: i64,
    drawn: usize,
    count: usize,
}

/// What the tests of a batch come to, in its order.
pub(super) fn outcomes(
    engine: &mut KnnCudaEngine,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<Outcome>> {
    let knn = engine.knn;
    let data = upload_data(engine)?;
    let mut outcomes = vec![Outcome::CERTAIN; batch.len()];
    let mut tests: Vec<Test> = Vec::with_capacity(batch.len());
    let mut sets: Vec<Vec<u32>> = Vec::new();
    let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
    for (at, (x, y, s)) in batch.iter().enumerate().filter(|(_, (x, y, _))| !knn.constant(*x, *y)) {
        let mut sorted = s.to_vec();
        sorted.sort_unstable();
        let set = if s.is_empty() {
            NO_SET
        } else {
            *known.entry(sorted).or_insert_with_key(|sorted| {
                sets.push(sorted.clone());
                sets.len() as u32 - 1
            })
        };
        let (x, y) = (x.min(y), x.max(y));
        let key = knn.key(x, y, s).0;
        tests.push(Test { at, x: x as u32, y: y as u32, set, key, own: 0, drawn: 0, count: 0 });
    }
    // Tests given one set stand together: its neighbours are looked for once.
    tests.sort_by_key(|test| test.set);
    let all = tests.len();
    let mut done = 0;
    while !tests.is_empty() {
        let size = block_size(&tests, &sets, &data.plan);
        let block: Vec<Test> = tests.drain(..size).collect();
        run_block(engine, &data, &sets, block, &mut outcomes, &mut |share| {
            watch((done as f64 + share * size as f64) / all as f64)
        })?;
        done += size;
    }
    Ok(outcomes)
}

/// How many of these tests there is room for at once.
fn block_size(tests: &[Test], sets: &[Vec<u32>], plan: &Plan) -> usize {
    let mut members = 0;
    let mut last = NO_SET;
    let size = tests.iter().take(plan.tests).take_while(|test| {
        if test.set != last {
            last = test.set;
            members += sets.get(test.set as usize).map_or(0, Vec::len);
        }
        members <= plan.members
    });
    size.count()
}

/// Copies columns and terms to the card, once, and plans the rest of its memory.
fn upload_data(engine: &mut KnnCudaEngine) -> Result<Data> {
    if let Some(data) = engine.data {
        return Ok(data);
    }
    let knn = engine.knn;
    let (columns, terms, settings) = (knn.columns(), knn.terms(), knn.settings());
    let (n, p) = (columns.n(), columns.p());
    let shape = Shape {
        n,
        p,
        cell: if matches!(columns.values(), Values::Whole(_)) { 4 } else { 8 },
        k: settings.k,
        k_perm: settings.k_perm,
        permutations: knn.decision().permutations(),
        strategy: engine.options.strategy,
        processors: engine.held.card.processors,
    };
    let free = engine.held.available()?;
    let budget = engine.options.memory_budget;
    let within = limit(free, budget);
    let least = Plan::new(&shape, 0).total();
    let plan = Plan::new(&shape, if budget.is_none() { within.min(USUAL_BUDGET.max(2 * least)) } else { within });
    if plan.total() > within {
        return Err(out_of_memory(plan.total(), free, budget));
    }
    let cell = shape.cell;
    let values = engine.held.device(Use::KnnData, plan.data)?;
    let caps = values + aligned(n * p * cell);
    let own = caps + aligned(p * cell);
    let joint = own + aligned(8 * (n + 1));
    let cap = |column: usize| if columns.discrete()[column] { columns.mismatch() } else { f64::INFINITY };
    // Codes that are apart by more than the mismatch, rounding included: the distance of two levels is cut off there.
    let scale = |column: usize| if columns.discrete()[column] { 2.0 * columns.mismatch() } else { 1.0 };
    match columns.values() {
        Values::Whole(whole) => {
            let scaled = whole.iter().enumerate().map(|(at, &value)| (f64::from(value) * scale(at / n)) as f32);
            engine.held.card.upload(values, &scaled.collect::<Vec<f32>>())?;
            engine.held.card.upload(caps, &(0..p).map(|column| cap(column) as f32).collect::<Vec<f32>>())?;
        }
        Values::Real(real) => {
            let scaled = real.iter().enumerate().map(|(at, &value)| value * scale(at / n));
            engine.held.card.upload(values, &scaled.collect::<Vec<f64>>())?;
            engine.held.card.upload(caps, &(0..p).map(cap).collect::<Vec<f64>>())?;
        }
    }
    engine.held.card.upload(own, terms.table())?;
    engine.held.card.upload(joint, terms.joint_table())?;
    let data = Data { values, caps, own, joint, shape, plan };
    engine.data = Some(data);
    Ok(data)
}

/// Runs tests until all are decided, and writes what they come to.
fn run_block(
    engine: &mut KnnCudaEngine,
    data: &Data,
    sets: &[Vec<u32>],
    mut tests: Vec<Test>,
    outcomes: &mut [Outcome],
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let knn = engine.knn;
    let n = knn.columns().n();
    let decision = knn.decision();
    let mut args = Args {
        n: n as u64,
        k: knn.settings().k as u64,
        k_perm: knn.settings().k_perm as u64,
        values: data.values,
        caps: data.caps,
        own: data.own,
        joint: data.joint,
        all: knn.terms().all(),
        estimator: number_of(knn.terms().estimator()),
        ..Args::default()
    };
    find_neighbours(engine, data, sets, &mut tests, &mut args, &mut || watch(0.0))?;
    let all = decision.permutations() + 1;
    let most = data.plan.permutations;
    let mut size = if decision.stops_early() { FIRST_PERMUTATIONS.min(most) } else { most };
    let mut first = 0;
    while !tests.is_empty() {
        let count = size.min(all - first);
        (args.first, args.count, args.tests) = (first as u64, count as u64, tests.len() as u64);
        let mut within = |share| watch((first as f64 + share * count as f64) / all as f64);
        let sums = permute_and_sum(engine, data, &tests, &mut args, &mut within)?;
        for (test, sums) in tests.iter_mut().zip(sums.chunks_exact(count)) {
            for (&sum, number) in sums.iter().zip(first..) {
                if number == 0 {
                    test.own = sum;
                } else if let Some(p) = decision.next(&mut test.drawn, &mut test.count, sum >= test.own) {
                    let estimate = knn.terms().estimate(test.own, n);
                    outcomes[test.at] = Outcome { estimate, p, drawn: test.drawn, count: test.count };
                    test.at = usize::MAX;
                    break;
                }
            }
        }
        tests.retain(|test| test.at != usize::MAX);
        first += count;
        size = (2 * size).min(most);
    }
    Ok(())
}

/// Puts the sets of a block on the card, numbered anew from 0, and looks for their neighbours.
fn find_neighbours(
    engine: &mut KnnCudaEngine,
    data: &Data,
    sets: &[Vec<u32>],
    tests: &mut [Test],
    args: &mut Args,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let (mut starts, mut members, mut keys) = (vec![0u32], Vec::new(), Vec::new());
    let mut last = NO_SET;
    for test in tests.iter_mut().filter(|test| test.set != NO_SET) {
        if test.set != last {
            last = test.set;
            let set = &sets[last as usize];
            members.extend_from_slice(set);
            starts.push(members.len() as u32);
            keys.push(engine.knn.set_key(set).0);
        }
        test.set = keys.len() as u32 - 1;
    }
    args.sets = keys.len() as u64;
    if keys.is_empty() {
        return Ok(());
    }
    let Data { shape, plan, .. } = data;
    args.set_start = engine.held.device(Use::KnnSets, plan.of_sets)?;
    args.set_members = args.set_start + aligned(4 * (plan.tests + 1));
    args.set_key = args.set_members + aligned(4 * plan.members);
    engine.held.card.upload(args.set_start, &starts)?;
    engine.held.card.upload(args.set_members, &members)?;
    engine.held.card.upload(args.set_key, &keys)?;
    args.neighbours = engine.held.device(Use::KnnNeighbours, plan.neighbours)?;
    args.rows = engine.held.device(Use::KnnRows, plan.rows)?;
    args.rows_a_warp = shape.row();
    let tasks = args.sets * args.n;
    let name = data.kernel("knn_neighbours_f", "knn_neighbours_d");
    for from in (0..tasks).step_by(shape.slice_neighbours() as usize) {
        (args.from, args.until) = (from, tasks.min(from + shape.slice_neighbours()));
        let warps = (args.until - from).min(plan.row_warps);
        engine.held.card.launch(name, (warps.div_ceil(u64::from(THREADS / WARP)) as u32, 1), THREADS, 0, args)?;
        engine.held.wait("looking for neighbours", look)?;
    }
    Ok(())
}

/// Permutes, sums, and brings the sums back: by test, `args.count` each.
fn permute_and_sum(
    engine: &mut KnnCudaEngine,
    data: &Data,
    tests: &[Test],
    args: &mut Args,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<i64>> {
    let Data { shape, plan, .. } = data;
    let column = |value: fn(&Test) -> u32| tests.iter().map(value).collect::<Vec<u32>>();
    let a_column = aligned(4 * plan.tests);
    args.test_x = engine.held.device(Use::KnnTests, plan.of_tests)?;
    args.test_y = args.test_x + a_column;
    args.test_set = args.test_y + a_column;
    args.test_key = args.test_set + a_column;
    engine.held.card.upload(args.test_x, &column(|test| test.x))?;
    engine.held.card.upload(args.test_y, &column(|test| test.y))?;
    engine.held.card.upload(args.test_set, &column(|test| test.set))?;
    engine.held.card.upload(args.test_key, &tests.iter().map(|test| test.key).collect::<Vec<[u32; 2]>>())?;

    let permutations = args.tests * args.count;
    args.permuted = engine.held.device(Use::KnnPermuted, plan.permuted)?;
    args.order = engine.held.device(Use::KnnWalks, plan.walks)?;
    args.taken = args.order + aligned(4 * (permutations * args.n) as usize);
    args.lists = args.taken + aligned(4 * (permutations * args.n.div_ceil(32)) as usize);
    args.sums = engine.held.device(Use::KnnSums, plan.sums)?;
    let blocks = permutations.div_ceil(u64::from(THREADS)) as u32;
    engine.held.card.launch(data.kernel("knn_permute_f", "knn_permute_d"), (blocks, 1), THREADS, 0, args)?;

    if engine.options.strategy == KnnStrategy::Shared {
        let (name, in_registers) = sums_kernel(shape.n, shape.cell == 4);
        let count = args.count as usize;
        args.samples_a_warp = shape.samples_a_warp(tests.len(), count, plan.row_warps);
        args.tiles = args.n.div_ceil(u64::from(THREADS / WARP) * args.samples_a_warp);
        if !in_registers {
            args.rows = engine.held.device(Use::KnnRows, plan.rows)?;
            args.rows_a_warp = 3 * shape.row();
        }
        let shared = 8 * u64::from(THREADS / WARP) * args.count;
        let all = args.tests * args.tiles;
        let slice = shape.slice_blocks(count, args.samples_a_warp, plan.row_warps);
        for from in (0..all).step_by(slice as usize) {
            args.from = from;
            engine.held.card.launch(name, (slice.min(all - from) as u32, 1), THREADS, shared, args)?;
            engine.held.wait("the tests", &mut || watch(from as f64 / all as f64))?;
        }
    } else {
        let name = data.kernel("knn_paper_f", "knn_paper_d");
        let (tiles, slice) = (args.n.div_ceil(u64::from(PAPER_THREADS)) as u32, shape.slice_permutations());
        for from in (0..permutations).step_by(slice as usize) {
            args.from = from;
            engine.held.card.launch(name, (tiles, slice.min(permutations - from) as u32), PAPER_THREADS, 0, args)?;
            engine.held.wait("the tests", &mut || watch(from as f64 / permutations as f64))?;
        }
    }
    let mut sums = vec![0i64; permutations as usize];
    // SAFETY: `sums` has as many elements, and the stream is synchronised before it is read.
    unsafe { engine.held.card.download(args.sums, sums.as_mut_ptr(), sums.len())? };
    engine.held.card.synchronize("the tests")?;
    Ok(sums)
}
