//! A run of a batch of tests: the GPU computes the cells, the CPU the p-values from them.

use std::sync::atomic::{AtomicU64, Ordering};

use super::data::{plan_part, shares, upload, whole_data, Data};
use super::MixedCudaEngine;
use crate::ci::mixed::{Form, Frame, Mixed, Work, FEW_CELLS};
use crate::ci::Batch;
use crate::engine::cuda::arguments::{MixedArgs, CHUNK, MOST_KEYS, MOST_WARPS};
use crate::engine::cuda::cut::{by_columns, in_groups, not_answered};
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::Result;

/// Questions that are prepared together.
const PREPARED: usize = 1 << 14;

/// Questions per task of a thread.
const OF_TASK: usize = 64;

/// Limits of the number of keys by which jobs are grouped into launches: a launch has the shared memory that its limit needs.
const CLASSES: [u64; 6] = [4, 16, 64, 256, 1024, MOST_KEYS];

/// Most rows times values read and summed per row in a launch: some hundredths of a second.
const LAUNCH_STEPS: u64 = 4_000_000_000;

/// A question whose cells the GPU computes.
struct Asked {
    form: Form,
    /// Where its jobs' lists begin in the lists of its task.
    lists: usize,
    /// Words of one job's list.
    words: usize,
}

/// What a task has prepared: by question its jobs, `None` if the GPU computes nothing for it.
#[derive(Default)]
struct Prepared {
    asked: Vec<Option<Asked>>,
    lists: Vec<u32>,
}

/// A job of a launch.
struct Job {
    class: usize,
    start: u64,
    place: u64,
    steps: u64,
}

/// Returns the p-values of a batch of tests, in its order. `watch` gets the share that is done, and its error ends the run.
pub(super) fn p_values(
    engine: &mut MixedCudaEngine,
    batch: &Batch,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<f64>> {
    let test = engine.test.clone();
    let mut p = not_answered(batch)?;
    let Some(frame) = test.frame() else {
        finish(engine, &test, batch, 0, &[], &mut p, watch)?;
        return Ok(p);
    };
    if let Some(data) = whole_data(engine, frame)?.cloned() {
        answer(engine, &test, frame, &data, batch, &mut p, watch)?;
        return Ok(p);
    }
    let widest = batch.iter().map(|(_, _, s)| s.len() + 2).max().unwrap_or(2);
    let plan = plan_part(engine, frame, widest)?;
    let (bytes, room) = shares(frame, &plan);
    let groups = by_columns(batch, frame.p(), bytes, room).map_err(|needed| engine.held.too_little(needed))?;
    in_groups(batch, groups, watch, |group, named, p, within| {
        engine.held.piece(group.variables.len());
        let data = upload(engine, frame, plan, &group.variables)?;
        answer(engine, &test, frame, &data, named, p, within)
    })
}

/// Answers a batch with `data` on the GPU.
fn answer(
    engine: &mut MixedCudaEngine,
    test: &Mixed,
    frame: &Frame,
    data: &Data,
    batch: &Batch,
    p: &mut [f64],
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let all = batch.len();
    let mut from = 0;
    while from < all {
        let to = all.min(from + PREPARED);
        let share = |at: usize| at as f64 / all as f64;
        let prepared = prepare(engine, test, frame, data, batch, from..to, &mut || watch(share(from)))?;
        let mut at = from;
        while at < to {
            // As many of the prepared questions as there is room for.
            let piece = Piece::cut(test, frame, data, &prepared, at - from);
            // Powers of two, so that memory is seldom allocated again.
            let room = piece.words.next_power_of_two().min(data.plan.cells);
            let pinned = engine.held.pinned(8 * room)?.cast::<u64>();
            // SAFETY: pinned memory of as many words, which nobody else uses before the next piece. It holds zeros, or an earlier copy.
            let cells = unsafe { std::slice::from_raw_parts_mut(pinned, piece.words) };
            if !piece.jobs.is_empty() {
                make_cells(engine, data, &piece, cells, &mut || watch(share(at)))?;
            }
            let given: Vec<Option<(Form, &[u64])>> = piece.of_questions(cells);
            let next = at + given.len();
            let mut within = |done: f64| watch(share(at) + done * (share(next) - share(at)));
            finish(engine, test, batch, at, &given, &mut p[at..next], &mut within)?;
            at = next;
        }
        from = to;
    }
    Ok(())
}

/// Prepares the jobs of some questions of a batch, by task.
fn prepare(
    engine: &MixedCudaEngine,
    test: &Mixed,
    frame: &Frame,
    data: &Data,
    batch: &Batch,
    questions: std::ops::Range<usize>,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<Prepared>> {
    let mut prepared: Vec<Prepared> = Vec::new();
    prepared.resize_with(questions.len().div_ceil(OF_TASK), Prepared::default);
    let parts: Vec<&mut Prepared> = prepared.iter_mut().collect();
    engine.held.pool.each_of(parts, |task, part| {
        let mut work = Work::default();
        let first = questions.start + task * OF_TASK;
        for at in first..questions.end.min(first + OF_TASK) {
            let (x, y, s) = batch.get(at);
            let need = test.need(x, y, s, &mut work);
            part.asked.push(need.filter(|need| fits(data, test, frame, &need.form)).map(|need| {
                let lists = part.lists.len();
                (0..test.sets()).for_each(|set| data.list(frame, &need, set, &mut part.lists));
                Asked { form: need.form, lists, words: (part.lists.len() - lists) / test.sets() }
            }));
        }
    });
    look()?;
    Ok(prepared)
}

/// Returns whether the GPU can compute cells of this form.
fn fits(data: &Data, test: &Mixed, frame: &Frame, form: &Form) -> bool {
    form.keys <= MOST_KEYS && test.sets() * form.words(frame.n()) <= data.plan.cells
}

/// Consecutive questions whose cells are computed at once.
struct Piece {
    lists: Vec<u32>,
    /// Sorted by class.
    jobs: Vec<Job>,
    /// By question: the form of its cells and their range of words.
    asked: Vec<Option<(Form, std::ops::Range<usize>)>>,
    /// Words of all cells.
    words: usize,
}

impl Piece {
    /// Cuts a piece from the prepared questions, beginning with question `from`: as many as the plan has room for.
    fn cut(test: &Mixed, frame: &Frame, data: &Data, prepared: &[Prepared], from: usize) -> Self {
        let (sets, n) = (test.sets(), frame.n());
        let mut piece = Piece { lists: Vec::new(), jobs: Vec::new(), asked: Vec::new(), words: 0 };
        let questions = prepared.iter().flat_map(|part| part.asked.iter().map(move |asked| (part, asked)));
        for (part, asked) in questions.skip(from) {
            let Some(Asked { form, lists, words }) = asked else {
                piece.asked.push(None);
                continue;
            };
            let each = form.words(n);
            let plan = &data.plan;
            if piece.words + sets * each > plan.cells
                || piece.jobs.len() + sets > plan.jobs
                || piece.lists.len() + sets * words > plan.lists
            {
                break;
            }
            let class = CLASSES.iter().position(|&keys| form.keys <= keys).unwrap_or(0);
            // Codes and masks of a row are read three times, and its numbers once for each sum.
            let k = form.numbers as u64;
            let steps = n as u64 * (3 * *words as u64 + k + k * (k + 1));
            for set in 0..sets {
                let (start, place) = (piece.lists.len() + set * words, piece.words + set * each);
                piece.jobs.push(Job { class, start: start as u64, place: place as u64, steps });
            }
            piece.lists.extend_from_slice(&part.lists[*lists..][..sets * words]);
            piece.asked.push(Some((*form, piece.words..piece.words + sets * each)));
            piece.words += sets * each;
        }
        piece.jobs.sort_by_key(|job| job.class);
        piece
    }

    /// Returns the form and cells of each question.
    fn of_questions<'c>(&self, cells: &'c [u64]) -> Vec<Option<(Form, &'c [u64])>> {
        self.asked.iter().map(|asked| asked.as_ref().map(|(form, at)| (*form, &cells[at.clone()]))).collect()
    }
}

/// Has the GPU compute the cells of a piece.
fn make_cells(
    engine: &mut MixedCudaEngine,
    data: &Data,
    piece: &Piece,
    cells: &mut [u64],
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let column = |value: fn(&Job) -> u64| piece.jobs.iter().map(value).collect::<Vec<u64>>();
    engine.held.upload(data.args.lists, &piece.lists)?;
    engine.held.upload(data.args.starts, &column(|job| job.start))?;
    engine.held.upload(data.args.places, &column(|job| job.place))?;
    let limit = u64::from(engine.held.gpu.shared_limit);
    let mut first = 0;
    for jobs in piece.jobs.chunk_by(|a, b| a.class == b.class) {
        let mut left = jobs;
        while let Some(job) = left.first() {
            let mut steps = 0;
            let count = left.iter().take_while(|job| {
                let is_first = steps == 0;
                steps += job.steps;
                is_first || steps <= LAUNCH_STEPS
            });
            let (now, later) = left.split_at(count.count());
            let shape = Shape::new(data.args.n, CLASSES[job.class], limit);
            let args = MixedArgs { first_job: first, ..shape.arguments(data.args) };
            let launch = Kernel::mixed_cells.on((now.len() as u32, 1), shape.warps * WARP, shape.shared());
            // SAFETY: the addresses are those of the data and of a piece that fits the plan. Each job has room for the cells of all its keys.
            // Shared memory is what `Shape` needs for the largest number of keys. The stream is waited for below.
            unsafe { engine.held.gpu.launch(launch, &args)? };
            engine.held.wait("running tests", look)?;
            first += now.len() as u64;
            left = later;
        }
    }
    engine.held.fetch(data.args.cells, cells, "running tests")
}

/// The shape of blocks for jobs of at most `keys` keys.
#[derive(Clone, Copy, Debug)]
struct Shape {
    keys: u64,
    tile: u64,
    sums: u64,
    warps: u32,
}

impl Shape {
    fn new(n: u64, keys: u64, limit: u64) -> Self {
        // A warp has room for the sums of `FEW_CELLS` cells in each of its lanes. With more cells, fewer lanes use that room.
        let sums = u64::from(WARP) * keys.min(FEW_CELLS);
        let tile = n.min(CHUNK).next_multiple_of(u64::from(WARP));
        let mut shape = Shape { keys, tile, sums, warps: n.div_ceil(CHUNK).clamp(1, MOST_WARPS) as u32 };
        while shape.shared() > limit && shape.warps > 1 {
            shape.warps -= 1;
        }
        shape
    }

    /// Returns the bytes of shared memory per block.
    fn shared(&self) -> u64 {
        8 * MOST_WARPS + u64::from(self.warps) * (8 * self.sums + 2 * self.tile) + 8 * self.keys
    }

    fn arguments(&self, args: MixedArgs) -> MixedArgs {
        MixedArgs { domain: self.keys, tile: self.tile, sums: self.sums, ..args }
    }
}

/// Computes the p-values of a batch's questions from `first` on. `given` has the cells from the GPU; the CPU answers a question without such
/// cells by itself.
fn finish(
    engine: &MixedCudaEngine,
    test: &Mixed,
    batch: &Batch,
    first: usize,
    given: &[Option<(Form, &[u64])>],
    p: &mut [f64],
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let count = p.len();
    let found: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(f64::NAN.to_bits())).collect();
    let tasks = count.div_ceil(OF_TASK);
    engine.held.pool.run(
        tasks,
        tasks < 2,
        |_| 1.0,
        &mut |done| watch(done / tasks as f64),
        |work: &mut Work, task, stop| {
            for (at, found) in found.iter().enumerate().skip(task * OF_TASK).take(OF_TASK) {
                if stop.requested() {
                    return;
                }
                let (x, y, s) = batch.get(first + at);
                let p = match given.get(at) {
                    Some(&Some((form, words))) => test.p_of_cells(x, y, s, form, words, work),
                    _ => test.p_value(x, y, s, work),
                };
                found.store(p.to_bits(), Ordering::Relaxed);
            }
        },
    )?;
    p.iter_mut().zip(found).for_each(|(p, bits)| *p = f64::from_bits(bits.into_inner()));
    Ok(())
}
