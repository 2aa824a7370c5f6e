//! Sweeps on a GPU: all subsets of the candidates of pairs, see kernels/gauss/sweep.cu. The CPU decides by the exact formula what a GPU is
//! not certain of. q equals the CPU's bit for bit, so it does not matter which machine swept what.

use std::ops::Range;

use crate::ci::gauss::Gauss;
use crate::engine::cpu::{sweep_on_threads, Found, GaussKernel, Sweeps};
use crate::engine::cuda::arguments::{
    sweep_doubles, SweepArgs, SweepOutcome, SweepTask, LEAST_CANDIDATES, OF_BLOCK, OF_LANES, SWEEP_SIZES, SWEEP_THREADS,
};
use crate::engine::cuda::gauss::source::Source;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::Holds;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::gpu::plan::{aligned, MemoryPlan};
use crate::engine::cuda::pointer::Plain;
use crate::engine::cuda::{CudaEngine, CudaTest};
use crate::graph::subsets;
use crate::matrix::by_column;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::sweep::{Sweep, Sweeper, Swept};
use crate::Result;

/// Most sweeps on a GPU at a time, and most numbers of their correlations.
const TOGETHER: usize = 1024;
const CELLS: usize = 1 << 21;

/// Most tests of a batch that a GPU may leave to the CPU: some tenths of a second on many threads.
const DOUBTS: usize = 1 << 18;

/// Most candidates of a sweep. An H200 takes some minutes for 2^44 sets.
const MOST_CANDIDATES: usize = 44;

/// Approximate number of sets that a GPU sweeps in the time of one question.
const SETS_A_QUESTION: u64 = 2000;

/// Blocks of a launch for each multiprocessor. A launch takes some milliseconds on a GPU for computing, about 0.1 s on one for games.
const BLOCKS_OF_PROCESSOR: usize = 64;

/// Returns the largest set size of a sweep that begins with sets of `size`, or `None` if levels are quicker. See [`Sweeper::takes`].
pub(in crate::engine::cuda) fn takes(candidates: usize, size: usize, largest: usize) -> Option<usize> {
    let fits = (LEAST_CANDIDATES as usize..=MOST_CANDIDATES).contains(&candidates) && size >= Sweep::FIRST_SIZE;
    let sets = subsets::binomial(candidates, size).filter(|_| fits)?;
    (1 << candidates <= sets.saturating_mul(SETS_A_QUESTION)).then_some(largest)
}

/// Returns the number of blocks of a sweep.
fn blocks(candidates: usize) -> usize {
    1 << (candidates - OF_LANES as usize).saturating_sub(OF_BLOCK as usize)
}

// SAFETY: doubles and whole numbers of 8 bytes, without padding.
unsafe impl Plain for SweepOutcome {}

/// Sweeps that are on the GPU together.
struct Batch<'s> {
    sweeps: &'s [Sweep],
    tasks: Vec<SweepTask>,
    cells: Vec<f64>,
    /// By set size: q below which a set separates, q above which it does not, and the condition above which that is certain.
    rules: [Vec<f64>; 3],
    blocks: usize,
}

impl<'s> Batch<'s> {
    fn new(sweeps: &'s [Sweep], host: &Sweeps) -> Result<Self> {
        let (mut tasks, mut cells, mut blocks_before) = (Vec::new(), Vec::new(), 0);
        for sweep in sweeps {
            let candidates = sweep.candidates.len();
            let (least, most) = (*sweep.sizes.start() as u64, *sweep.sizes.end() as u64);
            let (first_block, of_cells) = (blocks_before as u64, cells.len() as u64);
            tasks.push(SweepTask { first_block, cells: of_cells, candidates: candidates as u64, least, most });
            memory::room(8 * (cells.len() + (candidates + 2).pow(2)), Use::Level)?;
            let vertices: Vec<usize> = sweep.candidates.iter().chain(&sweep.pair).map(|&v| v as usize).collect();
            for &u in &vertices {
                cells.extend(vertices.iter().map(|&v| host.correlation(u, v)));
            }
            blocks_before += blocks(candidates);
        }
        let last = sweeps.iter().map(|sweep| *sweep.sizes.end()).max().unwrap_or(0);
        let of_sizes: Vec<[f64; 3]> = (0..=last).map(|size| host.bounds(size)).collect();
        // A tree is compared with the condition of its largest sets, so that condition must not be less than that of smaller sets.
        let mut trusted = 0.0f64;
        let rules = [0, 1, 2].map(|which| {
            let of_size = |of: &[f64; 3]| match which {
                2 => {
                    trusted = trusted.max(of[2]);
                    trusted
                }
                _ => of[which],
            };
            of_sizes.iter().map(of_size).collect()
        });
        Ok(Batch { sweeps, tasks, cells, rules, blocks: blocks_before })
    }

    /// Returns the blocks of each launch, `blocks_each` of them except in the last.
    fn launches(&self, blocks_each: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.blocks).step_by(blocks_each).map(move |start| start..self.blocks.min(start + blocks_each))
    }
}

/// Results of a GPU by sweep and size, and the sweeps and sets that the CPU has to decide.
type OnGpu = (Vec<SweepOutcome>, Vec<[u64; 2]>);

/// A GPU that sweeps.
struct Gpu<'e, 'a> {
    engine: &'e mut CudaEngine<'a>,
    args: SweepArgs,
    /// Bytes of shared memory of a block.
    shared: u64,
}

impl Gpu<'_, '_> {
    /// Copies a batch to the GPU.
    fn place(&mut self, batch: &Batch) -> Result<()> {
        let Gpu { engine, args, shared } = self;
        let widest = batch.sweeps.iter().map(|sweep| sweep.candidates.len()).max().unwrap_or(0);
        *shared = 8 * sweep_doubles(widest as u64);
        engine.watched(|engine| {
            let tasks = batch.tasks.len();
            let outcomes = tasks * SWEEP_SIZES as usize;
            let sizes = batch.rules[0].len();
            let lengths = [
                size_of::<SweepTask>() * tasks,
                8 * batch.cells.len(),
                8 * sizes,
                8 * sizes,
                8 * sizes,
                size_of::<SweepOutcome>() * outcomes,
                8 * tasks,
                8,
                16 * DOUBTS,
            ];
            engine.plan_batch(lengths.iter().map(|&bytes| aligned(bytes)).sum())?;
            let at = engine.held.device(Buffer::Batch)?;
            let mut place = 0;
            let [task, cells, below, above, trusted, outcome, limit, doubts, doubted] = lengths.map(|bytes| {
                let here = at.carve::<u8>(place);
                place += aligned(bytes);
                here
            });
            *args = SweepArgs {
                tasks: tasks as u64,
                first_block: 0,
                task: task.cast(),
                cells: cells.cast(),
                below: below.cast(),
                above: above.cast(),
                trusted: trusted.cast(),
                outcome: outcome.cast(),
                limit: limit.cast(),
                doubted: doubted.cast(),
                doubts: doubts.cast(),
                room: DOUBTS as u64,
            };
            engine.held.upload(args.task, &batch.tasks)?;
            engine.held.upload(args.cells, &batch.cells)?;
            for (at, rules) in [args.below, args.above, args.trusted].into_iter().zip(&batch.rules) {
                engine.held.upload(at, rules)?;
            }
            let none = SweepOutcome { smallest: f64::INFINITY, ..SweepOutcome::default() };
            engine.held.upload(args.outcome, &vec![none; outcomes])?;
            let limits: Vec<u64> = batch.tasks.iter().map(|task| task.most).collect();
            engine.held.upload(args.limit, &limits)?;
            engine.held.upload(args.doubts, &[0])
        })
    }

    /// Sweeps all of a batch that is on the GPU; `follow` gets the share that is done.
    fn sweep(&mut self, batch: &Batch, follow: &mut dyn FnMut(f64) -> Result<()>) -> Result<()> {
        let Gpu { engine, args, shared } = self;
        let each = BLOCKS_OF_PROCESSOR * engine.held.gpu.processors as usize;
        engine.watched(|engine| {
            for blocks in batch.launches(each) {
                args.first_block = blocks.start as u64;
                let launch = Kernel::sweep.on((blocks.len() as u32, 1), SWEEP_THREADS, *shared);
                // SAFETY: `place` has copied what `args` refers to; `shared` suffices for the most candidates of the batch, whose blocks
                // these are.
                unsafe { engine.held.gpu.launch(launch, args)? };
                engine.held.wait("a sweep", &mut || follow(blocks.start as f64 / batch.blocks as f64))?;
            }
            Ok(())
        })
    }

    /// Returns the results of the GPU, or `None` if it leaves more to the CPU than there is room for.
    fn fetch(&mut self, batch: &Batch) -> Result<Option<OnGpu>> {
        let Gpu { engine, args, .. } = self;
        engine.watched(|engine| {
            let mut doubts = [0u64];
            engine.held.fetch(args.doubts, &mut doubts, "a sweep")?;
            let doubts = doubts[0] as usize;
            if doubts > DOUBTS {
                return Ok(None);
            }
            let mut outcomes = vec![SweepOutcome::default(); batch.tasks.len() * SWEEP_SIZES as usize];
            engine.held.fetch(args.outcome, &mut outcomes, "a sweep")?;
            let mut doubted = vec![[0u64; 2]; doubts];
            if doubts > 0 {
                engine.held.fetch(args.doubted.cast(), &mut doubted, "a sweep")?;
            }
            Ok(Some((outcomes, doubted)))
        })
    }
}

impl CudaEngine<'_> {
    /// Plans `bytes` for a batch. Correlations on the GPU stay if there is room for both.
    fn plan_batch(&mut self, bytes: u64) -> Result<()> {
        for keeps in [self.correlations.is_some(), false] {
            self.held.plan = MemoryPlan::default();
            self.held.plan.set(Buffer::Batch, bytes);
            if let (true, CudaTest::Gauss(gauss)) = (keeps, &self.test) {
                self.held.plan.set(Buffer::Data, gauss.bytes());
            } else {
                self.correlations = None;
            }
            match self.held.commit() {
                Err(error) if keeps && error.is_short_of_device_memory() => (),
                outcome => return outcome,
            }
        }
        Ok(())
    }
}

impl Sweeper for CudaEngine<'_> {
    fn takes(&mut self, candidates: usize, size: usize, largest: usize) -> Option<usize> {
        takes(candidates, size, largest)
    }

    fn sweep(&mut self, sweeps: &[Sweep], rules: (f64, bool), observer: &mut dyn Observer) -> Result<Vec<Swept>> {
        let CudaTest::Gauss(gauss) = self.test else { unreachable!("`takes` says so") };
        self.blocks.leave();
        if let Source::Data(..) = gauss.source {
            self.held.begin(Some(0));
            self.watched(|engine| engine.on_host(&gauss, &mut |share| observer.preparing(share)).map(drop))?;
        }
        let brought = std::mem::take(&mut self.brought);
        let cells = match gauss.source {
            Source::Matrix(matrix) => matrix,
            Source::Data(..) => &brought,
        };
        let test = Gauss::new(by_column(cells, gauss.p)?, gauss.test.n(), gauss.test.reading())?;
        let kernel = GaussKernel::new(test, self.alpha);
        let pool = self.held.pool.clone();
        let gpu = Gpu { engine: self, args: SweepArgs::default(), shared: 0 };
        let outcome = Sweeping { gpu, pool }.sweep(sweeps, &kernel.rules_of_sweeps(rules), observer);
        self.brought = brought;
        outcome
    }
}

/// A GPU that sweeps, with threads that decide what it is not certain of.
struct Sweeping<'e, 'a> {
    gpu: Gpu<'e, 'a>,
    pool: Pool,
}

impl Sweeping<'_, '_> {
    /// Returns the verdicts on sweeps, in their order.
    fn sweep(&mut self, sweeps: &[Sweep], host: &Sweeps, observer: &mut dyn Observer) -> Result<Vec<Swept>> {
        let total: f64 = sweeps.iter().map(Sweep::cost).sum();
        let size = sweeps.first().map_or(0, |sweep| *sweep.sizes.start());
        let (mut all, mut done) = (Vec::new(), 0.0);
        let mut rest = sweeps;
        while !rest.is_empty() {
            let mut cells = 0;
            let fits = |sweep: &&Sweep| {
                cells += (sweep.candidates.len() + 2).pow(2);
                cells <= CELLS
            };
            let (some, later) = rest.split_at(rest.iter().take(TOGETHER).take_while(fits).count().max(1));
            let cost: f64 = some.iter().map(Sweep::cost).sum();
            let mut follow = |share: f64| observer.progress(size, done + share * cost, total);
            all.extend(self.run(some, host, &mut follow)?);
            (rest, done) = (later, done + cost);
        }
        Ok(all)
    }

    /// Returns the verdicts on sweeps that fit a batch. If a GPU leaves too much to the CPU, the batch is halved; a single sweep then runs
    /// on the CPU.
    fn run(
        &mut self,
        sweeps: &[Sweep],
        host: &Sweeps,
        follow: &mut dyn FnMut(f64) -> Result<()>,
    ) -> Result<Vec<Swept>> {
        if let Some(all) = self.run_batch(sweeps, host, follow)? {
            return Ok(all);
        }
        if let [_] = sweeps {
            return sweep_on_threads(host, &self.pool, sweeps, follow);
        }
        let (some, rest) = sweeps.split_at(sweeps.len() / 2);
        let mut all = self.run(some, host, &mut |share| follow(share / 2.0))?;
        all.extend(self.run(rest, host, &mut |share| follow(0.5 + share / 2.0))?);
        Ok(all)
    }

    /// Returns the verdicts on sweeps that are on the GPU together, or `None` if too much is left to the CPU.
    fn run_batch(
        &mut self,
        sweeps: &[Sweep],
        host: &Sweeps,
        follow: &mut dyn FnMut(f64) -> Result<()>,
    ) -> Result<Option<Vec<Swept>>> {
        let batch = Batch::new(sweeps, host)?;
        self.gpu.place(&batch)?;
        self.gpu.sweep(&batch, follow)?;
        let Some((outcomes, doubted)) = self.gpu.fetch(&batch)? else { return Ok(None) };
        let found: Vec<Found> = sweeps.iter().map(|sweep| host.open(sweep)).collect();
        self.pool.each_of(outcomes.chunks(SWEEP_SIZES as usize).collect(), |at, of_sweep: &[SweepOutcome]| {
            let sweep = &sweeps[at];
            for size in sweep.sizes.clone() {
                let of = &of_sweep[size];
                let smallest = (of.smallest < f64::INFINITY).then_some((of.smallest, of.smallest_set));
                let end = (of.end_set != 0).then_some((of.end, of.end_condition, of.end_set));
                host.enter(sweep, &found[at], size, smallest, end);
            }
        });
        self.pool.each_of(doubted.chunks(64).collect(), |_, some: &[[u64; 2]]| {
            for &[at, set] in some {
                host.decide(&sweeps[at as usize], &found[at as usize], set);
            }
        });
        let mut all: Vec<Option<Swept>> = vec![None; sweeps.len()];
        self.pool.each_of(all.iter_mut().enumerate().collect(), |_, (at, swept): (usize, &mut Option<Swept>)| {
            *swept = Some(host.close(&sweeps[at], &found[at]));
        });
        Ok(Some(all.into_iter().flatten().collect()))
    }
}
