//! A run of a batch of tests on the GPU.

use crate::engine::cuda::arguments::{KnnArgs, KNN_THREADS, LISTED, NO_SET, PAPER_THREADS, SLOT_THREADS};
use std::collections::{HashMap, HashSet};

use super::data::{plan_part, upload_data, whole_data, Data};
use super::kernels::{planes_kernel, warps_kernel};
use super::plan::BlockPlan;
use super::shape::Form;
use super::KnnCudaEngine;
use crate::ci::knn::Outcome;
use crate::ci::Batch;
use crate::engine::cuda::cut::by_columns;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::kernels::{Kernel, Launch, WARP};
use crate::engine::cuda::gpu::plan::aligned;
use crate::engine::cuda::pointer::DevicePtr;
use crate::memory;
use crate::Result;

/// Permutations of the first launch of tests that may stop early; later launches double.
const FIRST_PERMUTATIONS: usize = 8;

/// Most places of a launch that permutes: some hundredths of a second.
const SLICE_PLACES: u64 = 1 << 31;

/// A test that is not decided yet.
struct OpenTest {
    /// Position of the test in the batch; `usize::MAX` once the test is decided.
    at: usize,
    x: u32,
    y: u32,
    /// Number of the test's set; [`NO_SET`]: S is empty.
    set: u32,
    /// The column that orders the samples, the number of planes (the size of S), and where the planes start in the block's list.
    guide: u32,
    dims: u32,
    planes: u32,
    key: [u32; 2],
    /// Sum of terms of the data, permutations drawn so far, and permutations whose sum is at least `own`.
    own: i64,
    drawn: usize,
    count: usize,
}

/// The sets of tests.
#[derive(Default)]
struct Sets {
    /// Members of each set, ascending, in the GPU's numbers of variables.
    members: Vec<Vec<u32>>,
    keys: Vec<[u32; 2]>,
    /// The column of each set that orders the samples.
    guides: Vec<u32>,
}

/// Returns the outcomes of a batch of tests, in its order. `watch` gets the share that is done, and its error ends the run.
pub(super) fn outcomes(
    engine: &mut KnnCudaEngine,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<Outcome>> {
    let widest = batch.iter().map(|(_, _, s)| s.len()).max().unwrap_or(0);
    let each = size_of::<Outcome>() + size_of::<OpenTest>() + 2 * (size_of::<(Vec<u32>, u32)>() + 4 * widest + 16);
    memory::room(each * batch.len(), memory::Use::Level)?;
    if let Some(data) = whole_data(engine, widest)? {
        return outcomes_of(engine, &data, batch, batch, watch);
    }
    let (shape, plan) = plan_part(engine, widest)?;
    let Ok(groups) = by_columns(batch, engine.knn.columns().p(), |_| 1, shape.p as u64) else { return Ok(Vec::new()) };
    let mut outcomes = vec![Outcome::CERTAIN; batch.len()];
    let mut done = 0;
    for group in groups {
        engine.held.piece(group.variables.len());
        let data = upload_data(engine, shape, plan, &group.variables)?;
        let count = group.questions.len();
        let mut within = |share: f64| watch((done as f64 + share * count as f64) / batch.len() as f64);
        let (own, named) = (group.numbered(batch), group.named(batch));
        for (&at, outcome) in group.questions.iter().zip(outcomes_of(engine, &data, &own, &named, &mut within)?) {
            outcomes[at] = outcome;
        }
        done += count;
    }
    Ok(outcomes)
}

/// Returns the outcomes with `data` on the GPU. `named` has the same tests in the CPU's numbers of variables.
fn outcomes_of(
    engine: &mut KnnCudaEngine,
    data: &Data,
    batch: &Batch,
    named: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<Outcome>> {
    let knn = engine.knn;
    let mut outcomes = vec![Outcome::CERTAIN; batch.len()];
    let mut tests: Vec<OpenTest> = Vec::with_capacity(batch.len());
    let mut sets = Sets::default();
    let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
    let all = batch.iter().zip(named.iter()).enumerate();
    for (at, ((x, y, s), (_, _, of_s))) in all.filter(|(_, (_, (x, y, _)))| !knn.constant(*x, *y)) {
        let mut sorted = of_s.to_vec();
        sorted.sort_unstable();
        let set = if s.is_empty() {
            NO_SET
        } else {
            *known.entry(sorted).or_insert_with_key(|sorted| {
                let guide = guide_of(sorted, knn.columns().discrete());
                let mut members = s.to_vec();
                members.sort_unstable();
                // `members` and `sorted` have the members in the same order.
                sets.guides.push(members[guide]);
                sets.members.push(members);
                sets.keys.push(knn.key(sorted).0);
                sets.keys.len() as u32 - 1
            })
        };
        let key = knn.key(of_s).0;
        let (x, y, dims) = (x.min(y) as u32, x.max(y) as u32, s.len() as u32);
        let guide = if s.is_empty() { y } else { sets.guides[set as usize] };
        tests.push(OpenTest { at, x, y, set, guide, dims, planes: 0, key, own: 0, drawn: 0, count: 0 });
    }
    // Tests with the same set are adjacent, so that its neighbours are found once.
    tests.sort_by_key(|test| (test.dims, test.set));
    let all = tests.len();
    let mut done = 0;
    let mut tests = tests.into_iter();
    while let Some(first) = tests.as_slice().first() {
        let size = block_size(tests.as_slice(), &sets.members, &data.plan);
        if size == 0 {
            let needed = data.plan.total() + u64::from(first.dims) * data.shape.plane_bytes();
            return Err(engine.held.too_little(needed));
        }
        let block: Vec<OpenTest> = tests.by_ref().take(size).collect();
        run_block(engine, data, &sets, block, &mut outcomes, &mut |share| {
            watch((done as f64 + share * size as f64) / all as f64)
        })?;
        done += size;
    }
    Ok(outcomes)
}

/// Returns the position of the column in a set that orders samples best: a continuous one, if there is one.
fn guide_of(set: &[u32], discrete: &[bool]) -> usize {
    set.iter().position(|&column| !discrete[column as usize]).unwrap_or(0)
}

/// Returns the columns for which a test has planes: y and S without the guide; none if S is empty, as y is then the guide.
fn plane_columns<'s>(test: &OpenTest, sets: &'s [Vec<u32>]) -> impl Iterator<Item = u32> + 's {
    let (y, guide) = ((test.dims > 0).then_some(test.y), test.guide);
    let set = sets.get(test.set as usize).map_or(&[][..], Vec::as_slice);
    y.into_iter().chain(set.iter().copied().filter(move |&column| column != guide))
}

/// Returns how many of the first tests, with sets of one size, the plan has room for at once.
fn block_size(tests: &[OpenTest], sets: &[Vec<u32>], plan: &BlockPlan) -> usize {
    let (mut members, mut listed) = (0, 0);
    let mut last = NO_SET;
    let mut planes = HashSet::new();
    let size = tests.iter().take(plan.tests).take_while(|test| {
        if test.set != last {
            last = test.set;
            members += sets.get(test.set as usize).map_or(0, Vec::len);
        }
        if plan.planes > 0 {
            planes.extend(plane_columns(test, sets).map(|column| (column, test.guide)));
            listed += test.dims as usize;
        }
        members.max(listed) <= plan.members && planes.len() <= plan.planes && test.dims == tests[0].dims
    });
    size.count()
}

/// Runs tests until all are decided, and stores their outcomes.
fn run_block(
    engine: &mut KnnCudaEngine,
    data: &Data,
    sets: &Sets,
    mut tests: Vec<OpenTest>,
    outcomes: &mut [Outcome],
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let knn = engine.knn;
    let n = knn.columns().n();
    let decision = knn.decision();
    let mut args = data.args;
    if data.shape.form() == Form::Planes {
        make_planes(engine, data, &sets.members, &mut tests, &mut args, &mut || watch(0.0))?;
    }
    find_neighbours(engine, data, sets, &mut tests, &mut args, &mut || watch(0.0))?;
    let all = decision.permutations() + 1;
    let most = |tests: &[OpenTest]| data.plan.most_permutations(data.shape.form(), tests.len());
    let mut size = if decision.stops_early() { FIRST_PERMUTATIONS.min(most(&tests)) } else { most(&tests) };
    let mut first = 0;
    while !tests.is_empty() {
        let count = size.min(all - first);
        (args.first_permutation, args.permutations, args.tests) = (first as u64, count as u64, tests.len() as u64);
        let mut within = |share| watch((first as f64 + share * count as f64) / all as f64);
        let votes = permute_and_vote(engine, data, &mut tests, &mut args, &mut within)?;
        for (test, votes) in tests.iter_mut().zip(votes.chunks_exact(count.div_ceil(32))) {
            for (at, &bits) in votes.iter().enumerate() {
                // The first bit of all is that of the data.
                let skipped = u32::from(first + at == 0);
                let many = (count - 32 * at).min(32) as u32 - skipped;
                if let Some(p) = decision.next_of_many(&mut test.drawn, &mut test.count, bits >> skipped, many) {
                    let estimate = knn.terms().estimate(test.own, n);
                    outcomes[test.at] = Outcome { estimate, p, drawn: test.drawn, count: test.count };
                    test.at = usize::MAX;
                    break;
                }
            }
        }
        tests.retain(|test| test.at != usize::MAX);
        first += count;
        size = (2 * size).min(most(&tests));
    }
    Ok(())
}

/// Makes the planes of the columns of a block of tests.
fn make_planes(
    engine: &mut KnnCudaEngine,
    data: &Data,
    sets: &[Vec<u32>],
    tests: &mut [OpenTest],
    args: &mut KnnArgs,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let Data { shape, plan, .. } = data;
    args.dims = u64::from(tests[0].dims);
    let (mut columns, mut guides, mut list): (Vec<u32>, Vec<u32>, Vec<u32>) = Default::default();
    let mut known = HashMap::new();
    for test in tests.iter_mut() {
        test.planes = list.len() as u32;
        for column in plane_columns(test, sets) {
            list.push(*known.entry((column, test.guide)).or_insert_with(|| {
                columns.push(column);
                guides.push(test.guide);
                columns.len() as u32 - 1
            }));
        }
    }
    if list.is_empty() {
        return Ok(());
    }
    args.planes = engine.held.device(Buffer::KnnPlanes)?.cast();
    args.plane_column = args.planes.carve(plan.planes as u64 * shape.plane_bytes());
    args.plane_guide = args.plane_column.carve(aligned(4 * plan.planes));
    args.plane_list = args.plane_guide.carve(aligned(4 * plan.planes));
    engine.held.upload(args.plane_column, &columns)?;
    engine.held.upload(args.plane_guide, &guides)?;
    engine.held.upload(args.plane_list, &list)?;
    // A thread makes one word of about 32 rows. The second dimension of a grid is at most 65,535.
    args.ranges = (args.n + 1).div_ceil(32);
    let blocks = (shape.plane_words() * args.ranges).div_ceil(u64::from(KNN_THREADS)) as u32;
    sliced(engine, args, [columns.len() as u64, 65_535], &mut |_| look(), |planes| {
        [Kernel::knn_planes.on((blocks, planes), KNN_THREADS, 0)]
    })
}

/// Copies the sets of a block of tests to the GPU, numbered from 0, and finds their neighbours there.
fn find_neighbours(
    engine: &mut KnnCudaEngine,
    data: &Data,
    sets: &Sets,
    tests: &mut [OpenTest],
    args: &mut KnnArgs,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let (mut starts, mut members, mut keys) = (vec![0u32], Vec::new(), Vec::new());
    let mut last = NO_SET;
    for test in tests.iter_mut().filter(|test| test.set != NO_SET) {
        if test.set != last {
            last = test.set;
            members.extend_from_slice(&sets.members[last as usize]);
            starts.push(members.len() as u32);
            keys.push(sets.keys[last as usize]);
        }
        test.set = keys.len() as u32 - 1;
    }
    if keys.is_empty() {
        return Ok(());
    }
    let Data { shape, plan, .. } = data;
    args.set_start = engine.held.device(Buffer::KnnSets)?.cast();
    args.set_members = args.set_start.carve(aligned(4 * (plan.tests + 1)));
    args.set_key = args.set_members.carve(aligned(4 * plan.members));
    engine.held.upload(args.set_start, &starts)?;
    engine.held.upload(args.set_members, &members)?;
    engine.held.upload(args.set_key, &keys)?;
    args.neighbours = engine.held.device(Buffer::KnnNeighbours)?;
    args.rows = engine.held.device(Buffer::KnnRows)?;
    args.row_values_a_warp = shape.row();
    let kernel = data.kernel(Kernel::knn_neighbours_f, Kernel::knn_neighbours_d);
    sliced(engine, args, [keys.len() as u64 * args.n, shape.slice_neighbours()], &mut |_| look(), |samples| {
        let warps = u64::from(samples).min(plan.row_warps);
        [kernel.on((warps.div_ceil(u64::from(KNN_THREADS / WARP)) as u32, 1), KNN_THREADS, 0)]
    })
}

/// Draws the permutations and sums their terms: `args.permutations` per test. Returns a bit for each, test after test in whole words: whether
/// its sum is at least that of the data. The data's sum is stored in the test.
fn permute_and_vote(
    engine: &mut KnnCudaEngine,
    data: &Data,
    tests: &mut [OpenTest],
    args: &mut KnnArgs,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<u32>> {
    let Data { shape, plan, .. } = data;
    let column = |value: fn(&OpenTest) -> u32| tests.iter().map(value).collect::<Vec<u32>>();
    let a_column = aligned(4 * plan.tests);
    args.test_x = engine.held.device(Buffer::KnnTests)?.cast();
    args.test_y = args.test_x.carve(a_column);
    args.test_set = args.test_y.carve(a_column);
    args.test_draw = args.test_set.carve(a_column);
    args.draw_set = args.test_draw.carve(a_column);
    args.test_guide = args.draw_set.carve(a_column);
    args.test_planes = args.test_guide.carve(a_column);
    args.draw_key = args.test_planes.carve(a_column);
    engine.held.upload(args.test_x, &column(|test| test.x))?;
    engine.held.upload(args.test_y, &column(|test| test.y))?;
    engine.held.upload(args.test_set, &column(|test| test.set))?;
    // Tests given one set are adjacent, and share their draws.
    let (mut sets, mut keys, mut draws): (Vec<u32>, Vec<[u32; 2]>, Vec<u32>) = Default::default();
    for test in tests.iter() {
        if sets.last() != Some(&test.set) {
            sets.push(test.set);
            keys.push(test.key);
        }
        draws.push(sets.len() as u32 - 1);
    }
    engine.held.upload(args.test_draw, &draws)?;
    engine.held.upload(args.draw_set, &sets)?;
    engine.held.upload(args.draw_key, &keys)?;
    args.draws = sets.len() as u64;

    let (permutations, drawn) = (args.tests * args.permutations, args.draws * args.permutations);
    args.permuted = engine.held.device(Buffer::KnnPermuted)?;
    args.drawn = engine.held.device(Buffer::KnnDrawn)?;
    args.sums = engine.held.device(Buffer::KnnSums)?;
    args.own_sums = args.sums.carve(aligned(8 * permutations as usize));
    args.votes = args.own_sums.carve(aligned(8 * plan.tests));
    if args.first_permutation > 0 {
        engine.held.upload(args.own_sums, &tests.iter().map(|test| test.own).collect::<Vec<_>>())?;
    }
    let (draw, permute) = if shape.form() == Form::Planes {
        engine.held.upload(args.test_guide, &column(|test| test.guide))?;
        engine.held.upload(args.test_planes, &column(|test| test.planes))?;
        (Kernel::knn_draw_p, Kernel::knn_permute_p)
    } else {
        (Kernel::knn_draw, data.kernel(Kernel::knn_permute_f, Kernel::knn_permute_d))
    };
    let (threads, shared) = shape.drawing();
    args.claims = if shared == 0 { engine.held.device(Buffer::KnnClaims)? } else { DevicePtr::NULL };
    sliced(engine, args, [drawn, shape.slice_draws()], &mut |_| watch(0.0), |count| {
        let blocks = if shared == 0 { count.min(plan.claim_rows as u32) } else { count };
        [draw.on((blocks, 1), threads, shared)]
    })?;
    let slice = (SLICE_PLACES / shape.n as u64).max(1);
    sliced(engine, args, [permutations, slice], &mut |_| watch(0.0), |count| {
        let blocks = (u64::from(count) * shape.n as u64).div_ceil(KNN_THREADS.into()).min(1 << 20) as u32;
        [permute.on((blocks, 1), KNN_THREADS, 0)]
    })?;
    match shape.form() {
        Form::Planes => sum_by_planes(engine, data, args, watch)?,
        Form::Warps => sum_by_warps(engine, data, args, watch)?,
        Form::Paper => sum_by_paper(engine, data, args, watch)?,
    }
    let words = args.tests * args.permutations.div_ceil(32);
    sliced(engine, args, [words, 1 << 31], &mut |_| watch(1.0), |words| {
        [Kernel::knn_vote.on((words.div_ceil(KNN_THREADS / WARP), 1), KNN_THREADS, 0)]
    })?;
    let mut votes = vec![0; words as usize];
    engine.held.fetch(args.votes, &mut votes, "running tests")?;
    if args.first_permutation == 0 {
        let mut own = vec![0; tests.len()];
        engine.held.fetch(args.own_sums, &mut own, "running tests")?;
        tests.iter_mut().zip(own).for_each(|(test, own)| test.own = own);
    }
    Ok(votes)
}

/// Launches kernels one after the other on slices of `all` blocks, permutations or samples. Each slice has at most `slice` of them:
/// `args.first_task` to `args.end_task` - 1. Waits after each slice, and calls `look` from time to time with the share that is done.
fn sliced<const N: usize>(
    engine: &mut KnnCudaEngine,
    args: &mut KnnArgs,
    [all, slice]: [u64; 2],
    look: &mut dyn FnMut(f64) -> Result<()>,
    launches: impl Fn(u32) -> [Launch<KnnArgs>; N],
) -> Result<()> {
    for from in (0..all).step_by(slice as usize) {
        (args.first_task, args.end_task) = (from, all.min(from + slice));
        for launch in launches((args.end_task - from) as u32) {
            // SAFETY: the addresses are those of the data, sets and tests of this block. Each is laid out in a buffer as `BlockPlan` has planned
            // it, with rows, slots and claims for the tasks that a slice runs at a time. Threads and shared memory of the launches come from
            // `Shape`. The stream is waited for below.
            unsafe { engine.held.gpu.launch(launch, args)? };
        }
        engine.held.wait("running tests", &mut || look(from as f64 / all as f64))?;
    }
    Ok(())
}

fn sum_by_planes(
    engine: &mut KnnCudaEngine,
    data: &Data,
    args: &mut KnnArgs,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let Data { shape, plan, .. } = data;
    let (tests, count, dims) = (args.tests as usize, args.permutations as usize, args.dims as usize);
    let kernel = planes_kernel(dims, shape.in_shared());
    if shape.in_shared() {
        let (threads, teams, shared) = shape.teams(dims);
        args.teams = u64::from(teams);
        args.permutations_a_block = shape.permutations_a_block(tests, count, teams);
        let all = args.tests * args.permutations.div_ceil(args.permutations_a_block);
        let slice = (shape.slice_planes(dims) / args.permutations_a_block).max(1);
        return sliced(engine, args, [all, slice], watch, |blocks| [kernel.on((blocks, 1), threads * teams, shared)]);
    }
    args.slots = engine.held.device(Buffer::KnnSlots)?;
    args.ranges = (args.n + 1).div_ceil(32);
    let of_planes = (shape.plane_words() * args.ranges).div_ceil(u64::from(KNN_THREADS)) as u32;
    let of_places = args.n.div_ceil(u64::from(SLOT_THREADS)) as u32;
    let slice = shape.slice_planes(dims).min(plan.slots as u64);
    sliced(engine, args, [args.tests * args.permutations, slice], watch, |slots| {
        [Kernel::knn_slots.on((of_planes, slots), KNN_THREADS, 0), kernel.on((of_places, slots), SLOT_THREADS, 0)]
    })
}

fn sum_by_warps(
    engine: &mut KnnCudaEngine,
    data: &Data,
    args: &mut KnnArgs,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let Data { shape, plan, .. } = data;
    let (kernel, in_registers) = warps_kernel(shape.n);
    let count = args.permutations as usize;
    let warps_a_block = u64::from(KNN_THREADS / WARP);
    args.samples_a_warp = shape.samples_a_warp(args.tests as usize, count, plan.row_warps);
    args.tiles = args.n.div_ceil(warps_a_block * args.samples_a_warp);
    if !in_registers {
        args.rows = engine.held.device(Buffer::KnnRows)?;
        args.row_values_a_warp = 3 * shape.row();
    }
    let slice = shape.slice_blocks(count, args.samples_a_warp, plan.row_warps);
    sliced(engine, args, [args.tests * args.tiles, slice], watch, |blocks| {
        [kernel.on((blocks, 1), KNN_THREADS, 8 * warps_a_block * count as u64)]
    })
}

fn sum_by_paper(
    engine: &mut KnnCudaEngine,
    data: &Data,
    args: &mut KnnArgs,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let kernel = if args.k <= LISTED {
        data.kernel(Kernel::knn_paper_f, Kernel::knn_paper_d)
    } else {
        data.kernel(Kernel::knn_paper_long_f, Kernel::knn_paper_long_d)
    };
    let tiles = args.n.div_ceil(u64::from(PAPER_THREADS)) as u32;
    let slice = data.shape.slice_permutations();
    sliced(engine, args, [args.tests * args.permutations, slice], watch, |permutations| {
        [kernel.on((tiles, permutations), PAPER_THREADS, 0)]
    })
}
