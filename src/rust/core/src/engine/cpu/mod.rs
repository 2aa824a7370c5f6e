//! The CPU engine: work on threads, kernels in SIMD.

mod cells;
mod discrete;
mod gauss;
mod kernel;
mod knn;
mod rows;
mod search;
pub mod selection;
mod simd;
mod tasks;
mod walk;

pub use discrete::DiscreteKernel;
pub use gauss::GaussKernel;
pub use kernel::{Kernel, LaneOutcome, RowView, SideView, Signal};
pub use knn::KnnKernel;
pub use walk::simd;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use crate::ci::Batch;
use crate::engine::sides::{Shard, Sides};
use crate::engine::{Engine, Search, SideEngine};
use crate::graph::Adjacency;
use crate::memory::{self, Use};
use crate::pool::{Pool, Stop};
use crate::search::level::Verdict;
use crate::search::{Observer, Options};
use crate::{Error, Result};

/// The CPU engine for a test that has a kernel.
pub struct CpuEngine<K> {
    kernel: K,
    pool: Pool,
    shard_tests: u64,
}

impl<K: Kernel> CpuEngine<K> {
    /// Runs `kernel` on these threads, or this number of them.
    pub fn new(kernel: K, pool: impl Into<Pool>) -> Self {
        Self::with_shards(kernel, pool, 1 << 16)
    }

    /// [`CpuEngine::new`] with another size of shards, which changes nothing but the schedule.
    pub fn with_shards(kernel: K, pool: impl Into<Pool>, shard_tests: u64) -> Self {
        CpuEngine { kernel, pool: pool.into(), shard_tests: shard_tests.max(1) }
    }

    /// Runs `work(kernel, y, item, signal)` for the items y = 0, 1, ... of the columns on the threads, the longest columns first.
    /// An error of `work` names x, and why; the one at the smallest y is returned.
    fn each_column<T: Send>(
        &mut self,
        columns: Vec<T>,
        observer: &mut dyn Observer,
        work: impl Fn(&K, usize, T, &Signal) -> std::result::Result<(), (usize, &'static str)> + Sync,
    ) -> Result<()> {
        let p = columns.len();
        let total = (p * (p + 1)) as f64 / 2.0;
        let inline = total < self.kernel.inline_tests();
        let columns: Vec<Mutex<Option<T>>> = columns.into_iter().map(|column| Mutex::new(Some(column))).collect();
        let kernel = &self.kernel;
        let failed: Mutex<Option<(usize, usize, &'static str)>> = Mutex::new(None);
        let cost = |task: usize| (p - task) as f64;
        self.pool.run(p, inline, cost, &mut |done| observer.progress(0, done, total), |_: &mut (), task, stop| {
            let y = p - 1 - task;
            let column = columns[y].lock().ok().and_then(|mut slot| slot.take());
            if let Some(column) = column {
                if let Err((x, reason)) = work(kernel, y, column, &Signal::of(stop)) {
                    if let Ok(mut slot) = failed.lock() {
                        if slot.is_none_or(|(_, first, _)| y < first) {
                            *slot = Some((x, y, reason));
                        }
                    }
                }
            }
        })?;
        match failed.into_inner().unwrap_or(None) {
            None => Ok(()),
            Some((x, y, reason)) => Err(Error::Numeric { x, y, s: Vec::new(), reason }),
        }
    }
}

impl<K: Kernel> Engine for CpuEngine<K> {
    fn begin<'s>(&'s mut self, options: &'s Options, p_max: &'s mut [f64]) -> Result<Box<dyn Search + 's>> {
        Ok(Box::new(search::CpuSearch::new(self, options, p_max)))
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        let at_once = self.kernel.questions_at_once();
        let blocks = batch.len().div_ceil(at_once);
        let mut values = memory::zeros(batch.len(), Use::Level)?;
        memory::room(blocks * size_of::<Mutex<Option<&mut [f64]>>>(), Use::Level)?;
        let slots: Vec<Mutex<Option<&mut [f64]>>> = values.chunks_mut(at_once).map(|c| Mutex::new(Some(c))).collect();
        let failed: Mutex<Option<(usize, &'static str)>> = Mutex::new(None);
        let kernel = &self.kernel;
        let work = |scratch: &mut K::Scratch, block: usize, stop: &Stop| {
            let Some(out) = slots[block].lock().ok().and_then(|mut slot| slot.take()) else { return };
            for (i, value) in out.iter_mut().enumerate() {
                let at = block * at_once + i;
                let (x, y, s) = batch.get(at);
                match kernel.p_value(x, y, s, scratch, &Signal::of(stop)) {
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
        let inline = (batch.len() as f64) < self.kernel.inline_tests() / 5.0;
        self.pool.run(blocks, inline, |_| at_once as f64, &mut |_| observer.look(), work)?;
        drop(slots);
        match failed.into_inner().unwrap_or(None) {
            None => Ok(values),
            Some((at, reason)) => {
                let (x, y, s) = batch.get(at);
                Err(Error::Numeric { x, y, s: s.to_vec(), reason })
            }
        }
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn as_side_engine(&mut self) -> Option<&mut dyn SideEngine> {
        Some(self)
    }
}

impl<K: Kernel> SideEngine for CpuEngine<K> {
    fn shard_tests(&self) -> u64 {
        self.shard_tests
    }

    fn marginal_p(
        &mut self,
        pairs: &Adjacency,
        alpha: f64,
        p_max: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let columns = p_max.chunks_mut(pairs.p()).collect();
        self.each_column(columns, observer, |kernel, y, column, signal| {
            kernel.marginal(y, pairs, alpha, column, signal)
        })
    }

    fn decide(&mut self, level: &Sides, verdicts: &mut Vec<Verdict>, observer: &mut dyn Observer) -> Result<u64> {
        let shards = &level.shards;
        memory::room(Sides::bytes(level.sides.len()) + 128 * shards.len(), Use::Level)?;
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
        let exact = AtomicU64::new(0);
        let kernel = &self.kernel;
        let work = |scratch: &mut K::Scratch, task: usize, stop: &Stop| {
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
            total < self.kernel.inline_tests(),
            cost,
            &mut |done| observer.progress(level.size, done, total),
            work,
        )?;
        drop(slots);
        let parts = parts.into_inner().unwrap_or_default();
        for part in &parts {
            verdicts[part.side] = verdicts[part.side].merge(part.verdict);
        }
        // Parts after the rank that separates ran until they learnt of it, or not at all: their counts depend on timing.
        let counted = parts.iter().filter(|part| match verdicts[part.side] {
            Verdict::Independent { rank, .. } | Verdict::Undefined { rank, .. } => part.first <= rank,
            Verdict::Dependent { .. } => true,
        });
        Ok(exact.into_inner() + counted.map(|part| part.exact_tests).sum::<u64>())
    }
}

/// The verdict of a range of ranks of one side.
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
