//! The CPU engine: shards on threads, kernels in SIMD.

mod gauss;
mod kernel;
mod pool;
mod tiles;
mod walk;

pub use gauss::GaussKernel;
pub use kernel::{Kernel, SideView, Signal};
pub use pool::default_threads;
pub use walk::simd;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use crate::ci::Batch;
use crate::engine::{Engine, Layout};
use crate::graph::Adjacency;
use crate::search::level::{Level, PairSide, Shard, Verdict};
use crate::search::Observer;
use crate::{Error, Result};
use pool::Pool;

/// Work below this many tests is done on the calling thread: starting threads would cost more.
const INLINE_TESTS: f64 = 5_000.0;

/// The CPU engine for a test that has a kernel.
pub struct CpuEngine<K> {
    kernel: K,
    pool: Pool,
    exact: AtomicU64,
    layout: Layout,
    spare: Vec<PairSide>,
}

impl<K: Kernel> CpuEngine<K> {
    /// Runs `kernel` on `threads` threads (at least 1).
    pub fn new(kernel: K, threads: usize) -> Self {
        Self::with_shards(kernel, threads, 1 << 16)
    }

    /// [`CpuEngine::new`] with another size of shards, which changes nothing but the schedule.
    pub fn with_shards(kernel: K, threads: usize, shard_tests: u64) -> Self {
        let layout = Layout { wave_sides: 1 << 16, shard_tests };
        CpuEngine { kernel, pool: Pool::new(threads), exact: AtomicU64::new(0), layout, spare: Vec::new() }
    }
}

impl<K: Kernel> Engine for CpuEngine<K> {
    fn layout(&self) -> Layout {
        self.layout
    }

    fn arrange(&mut self, sides: &mut [PairSide]) {
        tiles::in_tiles(sides, &mut self.spare, self.kernel.p());
    }

    fn marginal(
        &mut self,
        pairs: &Adjacency,
        alpha: f64,
        p_max: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let p = pairs.p();
        let total = (p * (p + 1)) as f64 / 2.0;
        let inline = total < INLINE_TESTS;
        // A column each: they are disjoint, and the longest come first.
        let columns: Vec<Mutex<Option<&mut [f64]>>> =
            p_max.chunks_mut(p).map(|column| Mutex::new(Some(column))).collect();
        let kernel = &self.kernel;
        let failed: Mutex<Option<(usize, usize, &'static str)>> = Mutex::new(None);
        let cost = |task: usize| (p - task) as f64;
        self.pool.run(p, inline, cost, &mut |done| observer.progress(0, done, total), |_: &mut (), task, _| {
            let y = p - 1 - task;
            let column = columns[y].lock().ok().and_then(|mut slot| slot.take());
            if let Some(column) = column {
                if let Err((x, reason)) = kernel.marginal(y, pairs, alpha, column) {
                    if let Ok(mut slot) = failed.lock() {
                        if slot.is_none_or(|(_, first, _)| y < first) {
                            *slot = Some((x, y, reason));
                        }
                    }
                }
            }
        })?;
        let failed = failed.into_inner().unwrap_or(None);
        match failed {
            None => Ok(()),
            Some((x, y, reason)) => Err(Error::Numeric { x, y, s: Vec::new(), reason }),
        }
    }

    fn run(&mut self, level: &Level, verdicts: &mut Vec<Verdict>, observer: &mut dyn Observer) -> Result<()> {
        let shards = &level.shards;
        // Sides cut into pieces share the smallest rank found, so that pieces behind it can be left.
        let split: Vec<Option<usize>> = {
            let mut count = 0;
            let mut last = usize::MAX;
            shards
                .iter()
                .map(|shard| {
                    shard.ranks.as_ref()?;
                    if shard.sides.start != last {
                        last = shard.sides.start;
                        count += 1;
                    }
                    Some(count - 1)
                })
                .collect()
        };
        let limits: Vec<AtomicU64> =
            (0..split.iter().flatten().last().map_or(0, |last| last + 1)).map(|_| AtomicU64::new(u64::MAX)).collect();
        verdicts.clear();
        verdicts.resize(level.sides.len(), Verdict::Dependent { rank: 0, p: -1.0 });
        let slots = slots(verdicts, shards);
        let parts: Mutex<Vec<Part>> = Mutex::new(Vec::new());
        let total = level.cost();
        let (kernel, exact) = (&self.kernel, &self.exact);
        let work = |scratch: &mut K::Scratch, task: usize, stop: &pool::Stop| {
            let Shard { sides, ranks, .. } = &shards[task];
            let unlimited = AtomicU64::new(u64::MAX);
            let limit = split[task].map_or(&unlimited, |i| &limits[i]);
            let signal = Signal::new(stop, limit);
            match ranks {
                None => {
                    let Some(out) = slots[task].lock().ok().and_then(|mut slot| slot.take()) else { return };
                    for (verdict, side) in out.iter_mut().zip(&level.sides[sides.clone()]) {
                        *verdict = kernel.walk(&SideView::new(level, side, 0..side.count), scratch, &signal);
                    }
                }
                Some(ranks) => {
                    let side = &level.sides[sides.start];
                    let verdict = kernel.walk(&SideView::new(level, side, ranks.clone()), scratch, &signal);
                    if let Verdict::Independent { rank, .. } | Verdict::Undefined { rank, .. } = verdict {
                        limit.fetch_min(rank, Ordering::Relaxed);
                    }
                    if let Ok(mut parts) = parts.lock() {
                        let exact_tests = signal.exact_tests();
                        parts.push(Part { side: sides.start, first: ranks.start, verdict, exact_tests });
                    }
                    return;
                }
            }
            exact.fetch_add(signal.exact_tests(), Ordering::Relaxed);
        };
        let cost = |task: usize| shards[task].cost as f64;
        self.pool.run(
            shards.len(),
            total < INLINE_TESTS,
            cost,
            &mut |done| observer.progress(level.size, done, total),
            work,
        )?;
        drop(slots);
        let parts = parts.into_inner().unwrap_or_default();
        for part in &parts {
            verdicts[part.side] = verdicts[part.side].merge(part.verdict);
        }
        // Parts behind the rank that separates ran until they heard of it, or not at all: what they counted is chance.
        let counted = parts.iter().filter(|part| match verdicts[part.side] {
            Verdict::Independent { rank, .. } | Verdict::Undefined { rank, .. } => part.first <= rank,
            Verdict::Dependent { .. } => true,
        });
        self.exact.fetch_add(counted.map(|part| part.exact_tests).sum(), Ordering::Relaxed);
        Ok(())
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        const BLOCK: usize = 256;
        let blocks = batch.len().div_ceil(BLOCK);
        let mut values = vec![0.0; batch.len()];
        let slots: Vec<Mutex<Option<&mut [f64]>>> = values.chunks_mut(BLOCK).map(|c| Mutex::new(Some(c))).collect();
        let failed: Mutex<Option<(usize, &'static str)>> = Mutex::new(None);
        let kernel = &self.kernel;
        let work = |_: &mut (), block: usize, _: &pool::Stop| {
            let Some(out) = slots[block].lock().ok().and_then(|mut slot| slot.take()) else { return };
            for (i, value) in out.iter_mut().enumerate() {
                let at = block * BLOCK + i;
                let (x, y, s) = batch.get(at);
                match kernel.p_value(x, y, s) {
                    Ok(p) => *value = p,
                    Err(reason) => {
                        if let Ok(mut slot) = failed.lock() {
                            if slot.is_none_or(|(first, _)| at < first) {
                                *slot = Some((at, reason));
                            }
                        }
                        return;
                    }
                }
            }
        };
        self.pool.run(blocks, batch.len() < 1000, |_| BLOCK as f64, &mut |_| observer.look(), work)?;
        drop(slots);
        match failed.into_inner().unwrap_or(None) {
            None => Ok(values),
            Some((at, reason)) => {
                let (x, y, s) = batch.get(at);
                Err(Error::Numeric { x, y, s: s.to_vec(), reason })
            }
        }
    }

    fn take_exact_tests(&mut self) -> u64 {
        self.exact.swap(0, Ordering::Relaxed)
    }
}

/// What a range of ranks of one side came to.
struct Part {
    side: usize,
    first: u64,
    verdict: Verdict,
    exact_tests: u64,
}

/// For every shard of whole sides, its part of the verdicts.
fn slots<'a>(verdicts: &'a mut [Verdict], shards: &[Shard]) -> Vec<Mutex<Option<&'a mut [Verdict]>>> {
    let mut rest = verdicts;
    let mut next = 0;
    shards
        .iter()
        .map(|shard| {
            if shard.ranks.is_some() {
                return Mutex::new(None);
            }
            let (_, from) = std::mem::take(&mut rest).split_at_mut(shard.sides.start - next);
            let (own, after) = from.split_at_mut(shard.sides.len());
            rest = after;
            next = shard.sides.end;
            Mutex::new(Some(own))
        })
        .collect()
}
