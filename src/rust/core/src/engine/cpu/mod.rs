//! The CPU engine: threads run the work, with kernels in SIMD.

mod asked;
pub mod codes;
mod discrete;
mod failed;
mod features;
mod gauss;
mod kernel;
mod knn;
mod mixed;
mod plain;
pub mod selection;
pub mod together;

pub use discrete::DiscreteKernel;
pub use features::FeaturesKernel;
pub use gauss::{Bound, GaussKernel, GaussOfData};
pub use kernel::{Kernel, RowView, SideView, Signal};
pub use knn::KnnKernel;
pub use mixed::{with_sums, MixedKernel};
pub use plain::Plain;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::ci::Batch;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::{Pool, Stop};
use crate::search::answer::Answer;
use crate::search::book::{Book, Page};
use crate::search::level::Verdict;
use crate::search::shards::{Part, Work};
use crate::search::sweep::Sweeper;
use crate::search::worker::{Column, Marginals, Parted, Worker};
use crate::Result;
use failed::Failed;
#[cfg(feature = "cuda")]
pub(in crate::engine) use gauss::{sweep_on_threads, Found, Sweeps};

/// The CPU engine for a test that has a kernel.
pub struct CpuEngine<K> {
    kernel: K,
    pool: Pool,
    shard_tests: u64,
}

impl<K: Kernel> CpuEngine<K> {
    /// Creates an engine that runs `kernel` on these threads, or on this number of threads, with the kernel's shard size.
    pub fn new(kernel: K, pool: impl Into<Pool>) -> Self {
        let shard_tests = kernel.shard_tests();
        Self::with_shards(kernel, pool, shard_tests)
    }

    /// Creates an engine as [`CpuEngine::new`], with another shard size. The size changes only the schedule.
    pub fn with_shards(kernel: K, pool: impl Into<Pool>, shard_tests: u64) -> Self {
        CpuEngine { kernel, pool: pool.into(), shard_tests: shard_tests.max(1) }
    }
}

impl<K: Kernel> Worker for CpuEngine<K> {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        self.shard_tests
    }

    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        K::sweeper(self)
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        let p = columns.len();
        let total = (p * (p + 1)) as f64 / 2.0;
        fill_columns(&self.kernel, &self.pool, level, 0, columns, &mut |done| observer.progress(0, done, total))
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        self.decide(work, 0..work.shards.len(), book, &Page::close, observer)
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        let at_once = self.kernel.questions_at_once();
        let blocks = batch.len().div_ceil(at_once);
        let mut values = memory::zeros(batch.len(), Use::Level)?;
        memory::room(blocks * size_of::<Mutex<Option<&mut [f64]>>>(), Use::Level)?;
        let slots: Vec<Mutex<Option<&mut [f64]>>> = values.chunks_mut(at_once).map(|c| Mutex::new(Some(c))).collect();
        let failed = Failed::none();
        let kernel = &self.kernel;
        let work = |scratch: &mut K::Scratch, block: usize, stop: &Stop| {
            let Some(out) = slots[block].lock().ok().and_then(|mut slot| slot.take()) else { return };
            for (i, value) in out.iter_mut().enumerate() {
                let at = block * at_once + i;
                let (x, y, s) = batch.get(at);
                match kernel.p_value(x, y, s, scratch, &Signal::of(stop)) {
                    Ok(p) => *value = p,
                    Err(reason) => return failed.note(at, reason),
                }
            }
        };
        let inline = (batch.len() as f64) < self.kernel.inline_tests() / 5.0;
        self.pool.run(blocks, inline, |_| at_once as f64, &mut |_| observer.look(), work)?;
        drop(slots);
        failed.check(|at| batch.get(at))?;
        Ok(values)
    }
}

impl<K: Kernel> CpuEngine<K> {
    /// Decides some shards, and calls `end` with the page of each.
    fn decide<'b, 'w>(
        &self,
        work: &Work,
        shards: Range<usize>,
        book: &'b Book<'w>,
        end: &(dyn Fn(Page<'b, 'w>) + Sync),
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (kernel, some) = (&self.kernel, &work.shards[shards.clone()]);
        let total: f64 = some.iter().map(|shard| shard.cost).sum();
        let run = |scratch: &mut K::Scratch, at: usize, stop: &Stop| {
            let mut page = book.open(shards.start + at);
            run_part(kernel, work, book, &some[at].part, &mut page, scratch, stop);
            end(page);
        };
        self.pool.run(
            some.len(),
            total < kernel.inline_tests(),
            |at| some[at].cost,
            &mut |done| observer.progress(work.size, done, total),
            run,
        )
    }
}

impl<K: Kernel> Parted for CpuEngine<K> {
    fn busy(&self) -> f64 {
        (self.shard_tests as f64 * self.pool.threads() as f64).min(1e9)
    }

    fn answer_some<'b, 'w>(
        &mut self,
        work: &Work,
        shards: Range<usize>,
        book: &'b Book<'w>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Page<'b, 'w>>> {
        let pages = Mutex::new(Vec::with_capacity(shards.len()));
        let end = |page| pages.lock().unwrap_or_else(PoisonError::into_inner).push(page);
        self.decide(work, shards, book, &end, observer)?;
        Ok(pages.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Fills the columns of level 0, whose first is that of the variable `first`. Calls `told` with the number of pairs done.
fn fill_columns<K: Kernel>(
    kernel: &K,
    pool: &Pool,
    level: &Marginals,
    first: usize,
    columns: Vec<Column>,
    told: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let end = first + columns.len();
    let total = (columns.len() * (first + end + 1)) as f64 / 2.0;
    let columns: Vec<Mutex<Option<Column>>> = columns.into_iter().map(|column| Mutex::new(Some(column))).collect();
    // The first column at which pcalg stops with an error.
    let failed = Failed::none();
    // The longest columns first.
    let cost = |task: usize| (end - task) as f64;
    pool.run(columns.len(), total < kernel.inline_tests(), cost, told, |_: &mut (), task, stop| {
        let of_task = &columns[columns.len() - 1 - task];
        let Some(mut column) = of_task.lock().ok().and_then(|mut slot| slot.take()) else { return };
        let y = column.y();
        match kernel.marginal(level, y, column.open(level), &Signal::of(stop)) {
            Ok(()) => column.close(level),
            Err((x, reason)) => failed.note((y, x), reason),
        }
    })?;
    failed.check(|(y, x)| (x, y, &[]))
}

/// Decides a part of the work, and enters the outcomes in `page`.
fn run_part<K: Kernel>(
    kernel: &K,
    work: &Work,
    book: &Book,
    part: &Part,
    page: &mut Page,
    scratch: &mut K::Scratch,
    stop: &Stop,
) {
    let signal = Signal::of(stop);
    match part {
        Part::Tile { rows, others } => {
            kernel.tile(work, rows.clone(), others, scratch, &signal, &mut |row, outcome| {
                page.enter(row, outcome);
            });
        }
        Part::Lanes { row, lanes, sets, limits } => {
            let found = work.limits(*limits..*limits + lanes.len());
            let view = RowView { sets: sets.clone(), found: Some(found), ..RowView::new(work, *row, lanes.clone()) };
            kernel.row(&view, scratch, &signal, &mut |outcome| page.enter(*row as u32, outcome));
        }
        Part::Sides(sides) => {
            let mut set = Vec::new();
            kernel.sides(work, sides.clone(), scratch, stop, &mut |at, verdict, exact_tests| {
                enter_side(page, work, book, at, verdict, exact_tests, &mut set);
            });
        }
        Part::Ranks { side: at, ranks, limit } => {
            let limit = &work.limits(*limit..*limit + 1)[0];
            let signal = Signal::new(stop, limit);
            let view = SideView::new(work, &work.sides[*at], ranks.clone());
            let verdict = kernel.walk(&view, scratch, &signal);
            enter_side(page, work, book, *at, verdict, signal.exact_tests(), &mut Vec::new());
        }
    }
}

/// Enters the verdict on a side; `set` is working memory.
fn enter_side(
    page: &mut Page,
    work: &Work,
    book: &Book,
    at: usize,
    verdict: Verdict,
    exact_tests: u64,
    set: &mut Vec<u32>,
) {
    let side = &work.sides[at];
    set.clear();
    if book.wants_sets() && !matches!(verdict, Verdict::Dependent { .. }) {
        side.set_into(work.neighbours, work.size, verdict.rank(), set);
    }
    page.enter(side.row, &Answer { at, verdict, set, exact_tests });
}
