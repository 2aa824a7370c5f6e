//! A run of a batch of tests: questions in the order of their sets, as many at a time as there is room for.

use std::sync::{Mutex, PoisonError};

use super::data::{plan_part, shares, upload, whole_data, Data};
use super::FeaturesCudaEngine;
use crate::ci::features::{scale_of, upper_tail_of_sum, KernelTest};
use crate::ci::Batch;
use crate::engine::cuda::arguments::{
    cells_of_factor, doubles_of_test, FeaturesArgs, FeaturesGroup, FeaturesSet, FeaturesSide, FeaturesTest, ANSWERS,
    CROSS_THREADS, FACTOR_THREADS, GIVEN_THREADS, MOST_COLUMNS, OF_PART, ORTHOGONAL_THREADS, PER_SIDE, SIDE_THREADS,
    TEST_WARPS, WIDE,
};
use crate::engine::cuda::cut::{by_columns, in_groups, not_answered};
use crate::engine::cuda::gpu::held::Held;
use crate::engine::cuda::gpu::kernels::{Kernel, Launch, WARP};
use crate::memory::{self, Use};
use crate::Result;

/// Products of a launch on a GPU with quick doubles: some hundredths of a second. A launch with one block for each processor may take longer.
const LAUNCH_STEPS: u64 = 100_000_000_000;

/// Bytes of rows that a block holds in shared memory.
const STAGED: u64 = 32 << 10;

/// Most sides of a group: the features of S are read once for all of them.
const MOST_OF_GROUP: u64 = 8;

/// Most blocks of rows of a set in a launch.
const ROW_BLOCKS: u64 = 4096;

/// Answers per task of a thread.
const OF_TASK: usize = 256;

/// Returns the bytes of shared memory that the test needs at least.
pub(super) fn shared_bytes(test: &KernelTest) -> u64 {
    let (width, sides) = (test.panels() as u64 * u64::from(WIDE), test.settings().sides as u64);
    of_cross(width).max(8 * doubles_of_test(sides, sides))
}

/// Returns the bytes of shared memory of a block of `features_cross`: some rows of the features of S and of sides.
fn of_cross(width: u64) -> u64 {
    8 * u64::from(WARP) * (width + 1 + u64::from(MOST_COLUMNS) + 1)
}

/// Returns the rows of a block of `features_orthogonal`, and the bytes of shared memory for them and, if these fit, for the cells of the
/// inverse.
fn of_orthogonal(width: u64, cells: u64, limit: u64) -> (u64, u64, bool) {
    let bytes = |rows: u64, whole: bool| 8 * rows * (width + 1) + if whole { cells } else { 0 };
    let all = [(64, true), (32, true), (16, true), (32, false), (16, false), (8, false)];
    let (rows, whole) = all.into_iter().find(|&(rows, whole)| bytes(rows, whole) <= limit).unwrap_or((8, false));
    (rows, bytes(rows, whole), whole)
}

/// Returns the p-values of a batch of tests, in its order. `watch` gets the share that is done, and its error ends the run.
pub(super) fn p_values(
    engine: &mut FeaturesCudaEngine,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<f64>> {
    let test = engine.test;
    let mut p = not_answered(batch)?;
    if let Some(data) = whole_data(engine)?.cloned() {
        answer(engine, &data, batch, &mut p, watch)?;
        return Ok(p);
    }
    let widest = batch.iter().map(|(_, _, s)| s.len() + 2).max().unwrap_or(2);
    let plan = plan_part(engine, widest)?;
    let (bytes, room) = shares(test, &plan);
    let groups = by_columns(batch, test.p(), bytes, room).map_err(|needed| engine.held.too_little(needed))?;
    in_groups(batch, groups, watch, |group, named, p, within| {
        engine.held.piece(group.variables.len());
        let data = upload(engine, plan, &group.variables)?;
        answer(engine, &data, named, p, within)
    })
}

/// The questions of a batch that have answers, in the order of their sets: those without a set first.
struct Sorted {
    questions: Vec<Question>,
    /// The members of all sets, each set ascending.
    members: Vec<u32>,
}

/// A question.
struct Question {
    /// The set's hash; 0 only without a set.
    key: u64,
    /// The question's position in the batch.
    at: u32,
    /// Where its set's members begin, and their number.
    first: u32,
    count: u32,
    /// The variables, the smaller one first.
    pair: [u32; 2],
}

impl Sorted {
    fn new(test: &KernelTest, batch: &Batch) -> Self {
        let mut sorted = Sorted { questions: Vec::with_capacity(batch.len()), members: Vec::new() };
        for (at, (x, y, s)) in batch.iter().enumerate().filter(|(_, (_, _, s))| test.answers(s)) {
            let first = sorted.members.len();
            sorted.members.extend_from_slice(s);
            sorted.members[first..].sort_unstable();
            // Any numbers that seldom coincide: equal sets must only be neighbours.
            let mix = |hash: u64, &v: &u32| (hash ^ u64::from(v)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
            let hash = sorted.members[first..].iter().fold(0, mix);
            let key = if s.is_empty() { 0 } else { hash.max(1) };
            let pair = [x.min(y) as u32, x.max(y) as u32];
            let (at, first, count) = (at as u32, first as u32, s.len() as u32);
            sorted.questions.push(Question { key, at, first, count, pair });
        }
        sorted.questions.sort_unstable_by_key(|question| (question.key, question.at));
        sorted
    }

    fn set(&self, question: &Question) -> &[u32] {
        &self.members[question.first as usize..][..question.count as usize]
    }

    /// Returns whether two questions have the same set.
    fn have_one_set(&self, one: &Question, other: &Question) -> bool {
        // The comparison of two empty slices takes a tenth of a microsecond on some machines.
        one.key == other.key && (one.key == 0 || self.set(one) == self.set(other))
    }
}

/// Tests that run at the same time.
#[derive(Default)]
struct Piece {
    members: Vec<u32>,
    sets: Vec<FeaturesSet>,
    sides: Vec<FeaturesSide>,
    tests: Vec<FeaturesTest>,
    rows: Vec<u32>,
    /// Whether a side is joined with its set.
    joins: bool,
}

/// By variable and whether a set is joined to it: the last set that has this side, and the number of the side.
type Known = Vec<(usize, usize)>;

impl Piece {
    /// Cuts a piece from the questions, beginning with question `from`: as many as there is room for, all with a set or all without.
    fn cut(test: &KernelTest, data: &Data, sorted: &Sorted, from: usize, known: &mut Known) -> Self {
        let plan = &data.plan;
        let mut piece = Piece::default();
        let mut last: Option<&Question> = None;
        let has_set = sorted.questions[from].key > 0;
        known.fill((usize::MAX, 0));
        for question in sorted.questions[from..].iter().take(plan.tests) {
            let set = sorted.set(question);
            let is_known = !test.has_holes() && last.is_some_and(|last| sorted.have_one_set(last, question));
            let of_set = piece.sets.len() - usize::from(is_known);
            let ([x, y], joins) = (question.pair.map(|of| of as usize), test.joins(set));
            let places = [2 * x, 2 * y + usize::from(joins)];
            let more = places.iter().filter(|&&place| known[place].0 != of_set).count();
            if (question.key > 0) != has_set
                || of_set >= plan.sets
                || piece.sides.len() + more > plan.sides
                || (!is_known && piece.members.len() + set.len() > plan.members)
            {
                break;
            }
            if !is_known {
                piece.sets.push(FeaturesSet {
                    first_member: piece.members.len() as u64,
                    count: set.len() as u64,
                    rows: test.n() as u64,
                    scale: scale_of(set.len()),
                    joint_scale: scale_of(set.len() + 1),
                });
                piece.members.extend(set.iter().map(|&v| data.place(v as usize)));
            }
            let sides = [(x, false), (y, joins)].map(|(variable, joins)| {
                let known = &mut known[2 * variable + usize::from(joins)];
                if known.0 != of_set {
                    *known = (of_set, piece.sides.len());
                    let variable = u64::from(data.place(variable));
                    piece.sides.push(FeaturesSide { set: of_set as u64, variable, joins: u64::from(joins) });
                    piece.joins |= joins;
                }
                known.1 as u64
            });
            let count = |variable: usize, joins: bool| match joins {
                true => test.settings().sides as u64,
                false => test.sides(variable).1 as u64,
            };
            piece.tests.push(FeaturesTest { x: sides[0], y: sides[1], of_x: count(x, false), of_y: count(y, joins) });
            last = Some(question);
        }
        piece
    }

    /// Returns the sides in groups of at most `most`, each of one set.
    fn groups(&self, most: u64) -> Vec<FeaturesGroup> {
        let mut groups: Vec<FeaturesGroup> = Vec::new();
        for (at, side) in (0..).zip(&self.sides) {
            match groups.last_mut().filter(|group| group.set == side.set && group.count < most) {
                Some(group) => group.count += 1,
                None => groups.push(FeaturesGroup { set: side.set, first: at, count: 1 }),
            }
        }
        groups
    }

    /// Writes the rows of each test, which has a set of its own.
    fn find_rows(&mut self, engine: &FeaturesCudaEngine, batch: &Batch, questions: &[Question]) -> Result<()> {
        let test = engine.test;
        self.rows = memory::zeros(self.sets.len() * test.n(), Use::Level)?;
        let parts = self.sets.iter_mut().zip(self.rows.chunks_exact_mut(test.n().max(1))).zip(questions).collect();
        engine.held.pool.each_of(parts, |_, ((set, rows), question): ((&mut FeaturesSet, &mut [u32]), &Question)| {
            let (x, y, s) = batch.get(question.at as usize);
            let (mut present, mut found) = (Vec::new(), Vec::new());
            test.complete_rows(s.iter().map(|&v| v as usize).chain([x, y]), &mut present, &mut found);
            set.rows = found.len() as u64;
            rows[..found.len()].copy_from_slice(&found);
        });
        Ok(())
    }
}

/// Answers a batch with `data` on the GPU.
fn answer(
    engine: &mut FeaturesCudaEngine,
    data: &Data,
    batch: &Batch,
    p: &mut [f64],
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let (test, pool) = (engine.test, engine.held.pool.clone());
    let sorted = Sorted::new(test, batch);
    let all = sorted.questions.len();
    let known = Mutex::new(vec![(usize::MAX, 0); 2 * test.p()]);
    let cut = |from: usize| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        (from < all).then(|| Piece::cut(test, data, &sorted, from, &mut known))
    };
    let (mut from, mut next) = (0, cut(0));
    while let Some(mut piece) = next {
        let questions = &sorted.questions[from..from + piece.tests.len()];
        if test.has_holes() {
            piece.find_rows(engine, batch, questions)?;
        }
        let share = |done: usize| done as f64 / all as f64;
        let mut look = || watch(share(from));
        // A thread cuts the next piece while the GPU works.
        let later = Mutex::new(None);
        let cut_next = || {
            if let Ok(mut later) = later.try_lock() {
                later.get_or_insert_with(|| cut(from + questions.len()));
            }
        };
        let answers = pool.beside(1, cut_next, || run(engine, data, &piece, questions[0].key > 0, &mut look))?;
        let rows = |at: usize| piece.sets[piece.sides[piece.tests[at].x as usize].set as usize].rows;
        let mut found = vec![f64::NAN; questions.len()];
        pool.each_of(found.chunks_mut(OF_TASK).collect(), |task, found: &mut [f64]| {
            for (at, found) in (task * OF_TASK..).zip(found).filter(|(at, _)| rows(*at) > 0) {
                let [statistic, traces @ ..] = answers[at];
                *found = upper_tail_of_sum(statistic, traces);
            }
        });
        questions.iter().zip(found).for_each(|(of, found)| p[of.at as usize] = found);
        next =
            later.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(|| cut(from + questions.len()));
        from += questions.len();
        watch(share(from))?;
    }
    Ok(())
}

/// Has the GPU compute the answers of a piece: a statistic and three traces for each test.
fn run(
    engine: &mut FeaturesCudaEngine,
    data: &Data,
    piece: &Piece,
    has_set: bool,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<[f64; ANSWERS as usize]>> {
    let held = &mut engine.held;
    held.upload(data.args.members, &piece.members)?;
    held.upload(data.args.sets, &piece.sets)?;
    held.upload(data.args.of_sets, &piece.sides)?;
    held.upload(data.args.tests, &piece.tests)?;
    if !piece.rows.is_empty() {
        held.upload(data.args.rows, &piece.rows)?;
    }
    // Without a set, the constant is alone.
    let width = if has_set { data.args.width } else { u64::from(WIDE) };
    let limit = u64::from(held.gpu.shared_limit);
    let args = FeaturesArgs { width, ..data.args };
    let (n, sides) = (args.n, args.sides);
    let groups = piece.groups((u64::from(MOST_COLUMNS) / sides).clamp(1, MOST_OF_GROUP));
    held.upload(args.groups, &groups)?;
    let mut run = Run { held, look, args };

    let cells = 8 * cells_of_factor(width);
    let mut of_sets = |args: FeaturesArgs, launch: &dyn Fn(u32) -> Launch<FeaturesArgs>| {
        run.args = args;
        run.over(piece.sets.len(), n * width * width, 1, |args, first| args.first_set = first, launch)
    };
    let blocks = n.div_ceil(GIVEN_THREADS.into()).clamp(1, ROW_BLOCKS) as u32;
    of_sets(args, &|count| Kernel::features_given.on((blocks, count), GIVEN_THREADS, 0))?;
    let staged = (STAGED / (8 * (width + 1))).clamp(1, WARP.into());
    let shared = 8 * staged * (width + 1);
    let groups_of_width = width / u64::from(WIDE);
    let tiles = (groups_of_width * (groups_of_width + 1) / 2).div_ceil(GIVEN_THREADS.into()) as u32;
    of_sets(FeaturesArgs { staged, ..args }, &|count| {
        Kernel::features_products.on((count, tiles), GIVEN_THREADS, shared)
    })?;
    let in_shared = 2 * cells <= limit;
    let shared = if in_shared { 2 * cells } else { 0 };
    of_sets(FeaturesArgs { in_shared: in_shared.into(), ..args }, &|count| {
        Kernel::features_factor.on((count, 1), FACTOR_THREADS, shared)
    })?;
    let (staged, shared, in_shared) = of_orthogonal(width, cells, limit);
    let (blocks, threads) =
        (n.div_ceil(staged).max(1) as u32, (staged * width / 16).clamp(32, ORTHOGONAL_THREADS.into()));
    of_sets(FeaturesArgs { staged, in_shared: in_shared.into(), ..args }, &|count| {
        Kernel::features_orthogonal.on((blocks, count), threads.next_multiple_of(WARP.into()) as u32, shared)
    })?;
    of_sets(args, &|count| Kernel::features_share.on((count.div_ceil(8), 1), 8 * WARP, 0))?;

    run.args = args;
    let steps = n * width * sides;
    let of_sides = |run: &mut Run, launch: &dyn Fn(u32) -> Launch<FeaturesArgs>| {
        run.over(piece.sides.len(), steps, 4, |args, first| args.first_side = first, launch)
    };
    let of_groups = |run: &mut Run, launch: &dyn Fn(u32) -> Launch<FeaturesArgs>| {
        run.over(groups.len(), steps * MOST_OF_GROUP, 2, |args, first| args.first_group = first, launch)
    };
    if piece.joins {
        let shared = 8 * u64::from(SIDE_THREADS + 2 * WIDE);
        of_sides(&mut run, &|count| Kernel::features_joint.on((count, 1), SIDE_THREADS, shared))?;
    }
    let each = u64::from(PER_SIDE);
    let tiles = width / each * groups.iter().map(|group| (group.count * sides).div_ceil(each)).max().unwrap_or(1);
    let threads = tiles.next_multiple_of(WARP.into()).min(CROSS_THREADS.into()) as u32;
    of_groups(&mut run, &|count| Kernel::features_cross.on((count, 1), threads, of_cross(width)))?;
    let blocks = n.div_ceil(SIDE_THREADS.into()).max(1) as u32;
    let (shared, parts) = (8 * width * u64::from(OF_PART), MOST_COLUMNS / OF_PART);
    of_groups(&mut run, &|count| Kernel::features_subtract.on((blocks, count * parts), SIDE_THREADS, shared))?;
    let shared = 8 * u64::from(SIDE_THREADS);
    of_sides(&mut run, &|count| Kernel::features_squares.on((count, 1), SIDE_THREADS, shared))?;

    let of_warp = 8 * doubles_of_test(sides, sides);
    let warps = (limit / of_warp).clamp(1, u64::from(TEST_WARPS)) as u32;
    let shared = u64::from(warps) * of_warp;
    run.over(piece.tests.len(), n * (sides * sides).pow(2), 4, |args, first| args.first_test = first, &|count| {
        Kernel::features_tests.on((count.div_ceil(warps), 1), warps * WARP, shared)
    })?;
    let mut answers = memory::space(piece.tests.len(), Use::Level)?;
    answers.resize(piece.tests.len(), [0.0; ANSWERS as usize]);
    run.held.fetch(args.answers.cast(), &mut answers, "running tests")?;
    Ok(answers)
}

/// A run of kernels.
struct Run<'r> {
    held: &'r mut Held,
    look: &'r mut dyn FnMut() -> Result<()>,
    /// The addresses of the data and of a piece that fits the plan.
    args: FeaturesArgs,
}

impl Run<'_> {
    /// Launches a kernel for some of `total` items at a time, each of `steps` steps: `at_once` items or more for each processor of the GPU. Waits
    /// for the stream after each launch.
    fn over(
        &mut self,
        total: usize,
        steps: u64,
        at_once: u64,
        begin_at: fn(&mut FeaturesArgs, u64),
        launch: &dyn Fn(u32) -> Launch<FeaturesArgs>,
    ) -> Result<()> {
        let of_launch = LAUNCH_STEPS / self.held.gpu.double_cost;
        let most = (of_launch / steps.max(1)).max(u64::from(self.held.gpu.processors) * at_once);
        let mut first = 0;
        while first < total as u64 {
            let count = most.min(total as u64 - first);
            begin_at(&mut self.args, first);
            self.args.count = count;
            // SAFETY: the lists were uploaded before, and shared memory has the kernels' arrays at this width and number of columns.
            unsafe { self.held.gpu.launch(launch(count as u32), &self.args)? };
            self.held.wait("running tests", self.look)?;
            first += count;
        }
        Ok(())
    }
}
