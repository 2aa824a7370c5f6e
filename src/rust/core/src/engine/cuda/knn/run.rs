//! A batch of tests on the card.

use std::collections::HashMap;

use super::kernels::{number_of, sums_kernel, Args};
use super::{KnnCudaEngine, KnnStrategy};
use crate::ci::knn::{Decision, Values};
use crate::ci::Batch;
use crate::engine::cuda::kernels::WARP;
use crate::engine::cuda::memory::Use;
use crate::engine::cuda::plan::out_of_memory;
use crate::Result;

/// Pairs of samples of a launch, times permutations: some hundredths of a second.
const SLICE_PAIRS: u64 = 20_000_000_000;

/// Permutations of a launch at most: their sums lie in a block's shared memory.
const MOST_PERMUTATIONS: usize = 128;

/// Permutations of the first launch of tests that may stop early; launches grow from there.
const FIRST_PERMUTATIONS: usize = 8;

/// Threads of a block: those that sum and those that look for neighbours, those that permute, those of the paper.
const THREADS: u32 = 128;
const PAPER_THREADS: u32 = 32;

/// Device memory used unless told otherwise.
const USUAL_BUDGET: u64 = 4 << 30;

/// Left to the driver and to other programs.
const RESERVE: u64 = 256 << 20;

/// No set: `NO_SET` of kernels/knn.cuh.
const NO_SET: u32 = u32::MAX;

/// Where the data are on the card.
#[derive(Clone, Copy)]
pub(super) struct Data {
    values: u64,
    caps: u64,
    own: u64,
    joint: u64,
    /// Whether in single precision.
    single: bool,
    /// Bytes of device memory for everything else.
    room: u64,
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

fn aligned(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(256)
}

/// The p-values of a batch, in its order.
pub(super) fn p_values(
    engine: &mut KnnCudaEngine,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<f64>> {
    let knn = engine.knn;
    let data = upload_data(engine)?;
    // A constant x or y is independent of everything.
    let mut values = vec![1.0; batch.len()];
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
    let each = tests_at_once(engine, &data);
    let mut done = 0;
    while !tests.is_empty() {
        let block: Vec<Test> = tests.drain(..each.min(tests.len())).collect();
        let size = block.len();
        run_block(engine, &data, &sets, block, &mut values, &mut |share| {
            watch((done as f64 + share * size as f64) / all as f64)
        })?;
        done += size;
    }
    Ok(values)
}

/// Permutations of a launch, the data itself among them.
fn permutations_at_once(n: usize, decision: &Decision) -> usize {
    let slice = (SLICE_PAIRS / (n * n) as u64).max(1) as usize;
    slice.min(MOST_PERMUTATIONS).min(decision.permutations() + 1)
}

/// Tests of a block: as many as memory and a launch have room for.
fn tests_at_once(engine: &KnnCudaEngine, data: &Data) -> usize {
    let (n, k_perm) = (engine.knn.columns().n(), engine.knn.settings().k_perm);
    let count = permutations_at_once(n, engine.knn.decision());
    let cell = if data.single { 4 } else { 8 };
    // x, the order of samples, marks, a list; and the neighbours of a set of its own.
    let a_permutation = n * (cell + 4) + n.div_ceil(32) * 4 + k_perm * 4 + 8;
    let a_test = (a_permutation * count + n * k_perm * 4 + 256) as u64;
    let by_memory = (data.room / a_test).max(1);
    let by_time = (SLICE_PAIRS / ((n * n) as u64 * count as u64)).max(1);
    let by_strategy = match engine.options.strategy {
        KnnStrategy::Shared | KnnStrategy::Parallel { block: 0 } => u64::MAX,
        KnnStrategy::Single => 1,
        KnnStrategy::Parallel { block } => u64::from(block),
    };
    // A grid's second dimension ends at 65,535.
    let by_grid = (65_535 / count as u64).max(1);
    by_memory.min(by_time).min(by_strategy).min(by_grid) as usize
}

/// Copies columns and terms to the card, once, and settles how much memory there is for the rest.
fn upload_data(engine: &mut KnnCudaEngine) -> Result<Data> {
    if let Some(data) = engine.data {
        return Ok(data);
    }
    let knn = engine.knn;
    let columns = knn.columns();
    let terms = knn.terms();
    let single = matches!(columns.values(), Values::Whole(_));
    let cell = if single { 4 } else { 8 };
    let (cells, p) = (columns.n() * columns.p(), columns.p());
    let needed = aligned(cells * cell) + aligned(p * cell) + 2 * aligned(8 * (columns.n() + 1));
    let held = engine.memory().held();
    let free = engine.card.memory_info()?.0 + held;
    let budget = engine.options.memory_budget;
    let limit = budget.unwrap_or(USUAL_BUDGET + needed).min(free.saturating_sub(RESERVE));
    // One test with one permutation, and rows for a few warps.
    let least = (columns.n() * (2 * cell + 4 * knn.settings().k_perm + 64)) as u64 + (1 << 20);
    if needed + least > limit {
        return Err(out_of_memory(needed + least, free, budget));
    }
    let values = engine.memory().device(Use::KnnData, needed)?;
    let caps = values + aligned(cells * cell);
    let own = caps + aligned(p * cell);
    let joint = own + aligned(8 * (columns.n() + 1));
    let cap = |column: usize| if columns.discrete()[column] { columns.mismatch() } else { f64::INFINITY };
    match columns.values() {
        // Codes that are apart by more than the mismatch, rounding included: the distance of two levels is cut off there.
        Values::Whole(whole) => {
            let scaled = whole.chunks_exact(columns.n()).zip(columns.discrete()).flat_map(|(column, &discrete)| {
                let scale = if discrete { 2.0 * columns.mismatch() } else { 1.0 };
                column.iter().map(move |&value| (f64::from(value) * scale) as f32)
            });
            engine.card.upload(values, &scaled.collect::<Vec<f32>>())?;
            engine.card.upload(caps, &(0..p).map(|column| cap(column) as f32).collect::<Vec<f32>>())?;
        }
        Values::Real(real) => {
            let scaled = real.chunks_exact(columns.n()).zip(columns.discrete()).flat_map(|(column, &discrete)| {
                let scale = if discrete { 2.0 * columns.mismatch() } else { 1.0 };
                column.iter().map(move |&value| value * scale)
            });
            engine.card.upload(values, &scaled.collect::<Vec<f64>>())?;
            engine.card.upload(caps, &(0..p).map(cap).collect::<Vec<f64>>())?;
        }
    }
    engine.card.upload(own, terms.table())?;
    engine.card.upload(joint, terms.joint_table())?;
    let data = Data { values, caps, own, joint, single, room: limit - needed };
    engine.data = Some(data);
    Ok(data)
}

/// Runs tests until all are decided, and writes their p.
fn run_block(
    engine: &mut KnnCudaEngine,
    data: &Data,
    sets: &[Vec<u32>],
    mut tests: Vec<Test>,
    values: &mut [f64],
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
    place_sets(engine, data, sets, &mut tests, &mut args)?;
    let most = permutations_at_once(n, decision);
    let mut size = if decision.stops_early() { FIRST_PERMUTATIONS.min(most) } else { most };
    let mut first = 0;
    while !tests.is_empty() {
        let count = size.min(decision.permutations() + 1 - first);
        (args.first, args.count, args.tests) = (first as u64, count as u64, tests.len() as u64);
        let share = first as f64 / (decision.permutations() + 1) as f64;
        let sums = launch(engine, data, &tests, &mut args, &mut || watch(share))?;
        for (test, sums) in tests.iter_mut().zip(sums.chunks_exact(count)) {
            for (&sum, number) in sums.iter().zip(first..) {
                if number == 0 {
                    test.own = sum;
                } else if let Some(p) = decision.next(&mut test.drawn, &mut test.count, sum >= test.own) {
                    values[test.at] = p;
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
fn place_sets(
    engine: &mut KnnCudaEngine,
    data: &Data,
    sets: &[Vec<u32>],
    tests: &mut [Test],
    args: &mut Args,
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
    let (of_starts, of_members) = (aligned(4 * starts.len()), aligned(4 * members.len()));
    args.set_start = engine.memory().device(Use::KnnSets, of_starts + of_members + aligned(8 * keys.len()))?;
    args.set_members = args.set_start + of_starts;
    args.set_key = args.set_members + of_members;
    engine.card.upload(args.set_start, &starts)?;
    engine.card.upload(args.set_members, &members)?;
    engine.card.upload(args.set_key, &keys)?;
    args.neighbours = engine.memory().device(Use::KnnNeighbours, args.sets * args.n * args.k_perm * 4)?;
    let warps = u64::from(engine.card.processors) * 32;
    let blocks = (args.sets * args.n).min(warps).div_ceil(u64::from(THREADS / WARP)) as u32;
    place_rows(engine, data, args, 1, blocks)?;
    let name = if data.single { "knn_neighbours_f" } else { "knn_neighbours_d" };
    engine.card.launch(name, (blocks, 1), THREADS, 0, args)
}

/// Memory for `rows` rows of distances of each warp of some blocks.
fn place_rows(engine: &mut KnnCudaEngine, data: &Data, args: &mut Args, rows: u64, blocks: u32) -> Result<()> {
    args.rows_a_warp = rows * args.n.next_multiple_of(u64::from(WARP));
    let cells = args.rows_a_warp * u64::from(blocks * (THREADS / WARP));
    args.rows = engine.memory().device(Use::KnnRows, cells * if data.single { 4 } else { 8 })?;
    Ok(())
}

/// Permutes, sums, and brings the sums back: by test, `args.count` each.
fn launch(
    engine: &mut KnnCudaEngine,
    data: &Data,
    tests: &[Test],
    args: &mut Args,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<i64>> {
    let column = |value: fn(&Test) -> u32| tests.iter().map(value).collect::<Vec<u32>>();
    let a_column = aligned(4 * tests.len());
    args.test_x = engine.memory().device(Use::KnnTests, 3 * a_column + aligned(8 * tests.len()))?;
    args.test_y = args.test_x + a_column;
    args.test_set = args.test_y + a_column;
    args.test_key = args.test_set + a_column;
    engine.card.upload(args.test_x, &column(|test| test.x))?;
    engine.card.upload(args.test_y, &column(|test| test.y))?;
    engine.card.upload(args.test_set, &column(|test| test.set))?;
    engine.card.upload(args.test_key, &tests.iter().map(|test| test.key).collect::<Vec<[u32; 2]>>())?;

    let n = args.n;
    let permutations = args.tests * args.count;
    let cell = if data.single { 4 } else { 8 };
    args.permuted = engine.memory().device(Use::KnnPermuted, permutations * n * cell)?;
    let (of_order, of_taken) = (4 * permutations * n, 4 * permutations * n.div_ceil(32));
    args.order = engine.memory().device(Use::KnnWalks, of_order + of_taken + 4 * permutations * args.k_perm)?;
    args.taken = args.order + of_order;
    args.lists = args.taken + of_taken;
    args.sums = engine.memory().device(Use::KnnSums, 8 * permutations)?;
    engine.card.upload(args.sums, &vec![0i64; permutations as usize])?;
    let name = if data.single { "knn_permute_f" } else { "knn_permute_d" };
    engine.card.launch(name, (permutations.div_ceil(u64::from(THREADS)) as u32, 1), THREADS, 0, args)?;

    if engine.options.strategy == KnnStrategy::Shared {
        let (name, in_registers) = sums_kernel(n as usize, data.single);
        let warps_a_block = u64::from(THREADS / WARP);
        // Several samples a warp where there are more than the card has warps for, and where warps need memory.
        let resident = u64::from(engine.card.processors) * if in_registers { 64 } else { 16 };
        args.samples_a_warp = (args.tests * n / resident.max(1)).clamp(1, if in_registers { 32 } else { n });
        args.tiles = n.div_ceil(warps_a_block * args.samples_a_warp);
        let blocks = (args.tests * args.tiles) as u32;
        if !in_registers {
            place_rows(engine, data, args, 3, blocks)?;
        }
        engine.card.launch(name, (blocks, 1), THREADS, 8 * warps_a_block * args.count, args)?;
    } else {
        let name = if data.single { "knn_paper_f" } else { "knn_paper_d" };
        let blocks = (n.div_ceil(u64::from(PAPER_THREADS)) as u32, permutations as u32);
        engine.card.launch(name, blocks, PAPER_THREADS, 0, args)?;
    }
    engine.wait("the tests", look)?;
    let mut sums = vec![0i64; permutations as usize];
    // SAFETY: `sums` has as many elements, and the stream is synchronised before it is read.
    unsafe { engine.card.download(args.sums, sums.as_mut_ptr(), sums.len())? };
    engine.card.synchronize("the tests")?;
    Ok(sums)
}
