//! A worker that decides whole pairs by asking another worker one plain question after the other.

use pcgpu_core::ci::Batch;
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::book::Book;
use pcgpu_core::search::pairs::{LevelReport, PairLevel, PairRows, Pairwise, NO_SEPARATOR, PAIR_ROWS, SECOND};
use pcgpu_core::search::shards::Work;
use pcgpu_core::search::worker::{Column, Marginals, Worker};
use pcgpu_core::search::Method;
use pcgpu_core::{Error, Result};

pub struct ByPairs<'w> {
    pub worker: &'w mut dyn Worker,
    /// Whether its verdicts name variables that do not exist.
    pub is_wrong: bool,
    /// The number of calls of `pairs()`.
    pub levels: usize,
}

/// Decides a pair x < y given single variables, as pcalg does. Returns the verdict, the largest p-value and the counts.
fn decide(worker: &mut dyn Worker, level: &PairLevel, [x, y]: [usize; 2]) -> Result<(u32, f64, LevelReport)> {
    let PairLevel { options, graph, .. } = *level;
    let mut ask = |a: usize, b: usize, s: &[u32]| {
        let mut batch = Batch::new();
        batch.push(a, b, s);
        Ok::<f64, Error>(options.read(worker.p_values(&batch, &mut pcgpu_core::observer::Unobserved)?[0]))
    };
    let mut largest = ask(x, y, &[])?;
    let mut counted = LevelReport::default();
    for (row, other, side) in [(x, y, 0), (y, x, SECOND)] {
        let is_fast = options.method == Method::StableFast;
        let candidates: Vec<u32> = graph.neighbours(row).filter(|&z| z as usize != other).collect();
        counted.go_on |= candidates.len() > 1;
        for z in candidates {
            // On the second side, pcalg's C++ skips what the first side has asked.
            if side == SECOND && is_fast && graph.has(other, z as usize) {
                continue;
            }
            let p = ask(row, other, &[z])?;
            counted.tests += 1;
            largest = largest.max(p);
            if p >= options.alpha {
                return Ok((z | side, largest, counted));
            }
        }
    }
    Ok((NO_SEPARATOR, largest, counted))
}

impl Pairwise for ByPairs<'_> {
    fn pairs(&mut self, level: &PairLevel, rows: &mut PairRows, _observer: &mut dyn Observer) -> Result<()> {
        self.levels += 1;
        let (p, of) = (level.graph.p(), rows.rows.clone());
        assert!(of.start % PAIR_ROWS == 0 && (of.end % PAIR_ROWS == 0 || of.end == p), "{of:?}");
        let mut cells = rows.verdicts.iter_mut().zip(&mut *rows.values);
        for x in of {
            for y in level.graph.neighbours_above(x) {
                let (verdict, value, own) = decide(self.worker, level, [x, y as usize])?;
                let cell = cells.next().expect("a cell for each pair");
                (*cell.0, *cell.1) = (if self.is_wrong { p as u32 } else { verdict }, value);
                rows.counted.add(&own);
            }
        }
        assert!(cells.next().is_none());
        Ok(())
    }
}

impl Worker for ByPairs<'_> {
    fn pool(&self) -> &Pool {
        self.worker.pool()
    }

    fn shard_tests(&self) -> u64 {
        self.worker.shard_tests()
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        self.worker.marginal(level, columns, observer)
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        self.worker.answer(work, book, observer)
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        self.worker.p_values(batch, observer)
    }

    fn pairwise(&mut self) -> Option<&mut dyn Pairwise> {
        Some(self)
    }
}
