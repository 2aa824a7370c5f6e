//! A worker that takes a search step by step.

use pcgpu_core::ci::gauss::Gauss;
use pcgpu_core::ci::Batch;
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::answer::Answer as Outcome;
use pcgpu_core::search::book::{Book, Page};
use pcgpu_core::search::level::Verdict;
use pcgpu_core::search::shards::Work;
use pcgpu_core::search::worker::{Column, Marginals, Worker};
use pcgpu_core::{Error, Result};

/// The Gaussian test, one question at a time, with columns and shards from last to first. It reports progress after each column and each shard.
pub struct Steps<'a> {
    pub gauss: Gauss<'a>,
    pub shard_tests: u64,
    pub sides_at_once: usize,
    /// Whether shards are closed together.
    pub together: bool,
    pub pool: Pool,
    /// The number of shards of level 1 that it was asked.
    pub asked: usize,
}

impl Steps<'_> {
    fn p(&self, x: usize, y: usize, s: &[u32]) -> std::result::Result<f64, &'static str> {
        self.gauss.p_value(x, y, s).map_err(|undefined| undefined.0)
    }
}

impl Worker for Steps<'_> {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        self.shard_tests
    }

    fn sides_at_once(&self) -> usize {
        self.sides_at_once
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        for mut column in columns.into_iter().rev() {
            let y = column.y();
            let cells = column.open(level);
            for x in level.pairs().neighbours(y).map(|x| x as usize).filter(|&x| x < y) {
                cells[x] = self.p(x, y, &[]).map_err(|reason| Error::Numeric { x, y, s: Vec::new(), reason })?;
            }
            column.close(level);
            observer.progress(0, 0.0, 1.0)?;
        }
        Ok(())
    }

    fn is_gradual(&self) -> bool {
        !self.together
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        self.asked += if work.size == 1 { work.shards.len() } else { 0 };
        let mut pages = Vec::new();
        for (number, shard) in work.shards.iter().enumerate().rev() {
            let mut page = book.open(number);
            for (at, side, ranks) in work.pairs_of(shard) {
                let mut verdict = Verdict::Dependent { rank: ranks.start, p: -1.0 };
                let mut set = Vec::new();
                for rank in ranks {
                    side.set_into(work.neighbours, work.size, rank, &mut set);
                    match self.p(side.row as usize, side.other as usize, &set) {
                        Err(reason) => verdict = Verdict::Undefined { rank, reason },
                        Ok(p) => match work.options.read(p) {
                            p if p >= work.options.alpha => verdict = Verdict::Independent { rank, p },
                            p => verdict = verdict.merge(Verdict::Dependent { rank, p }),
                        },
                    }
                    if !matches!(verdict, Verdict::Dependent { .. }) {
                        break;
                    }
                }
                page.enter(side.row, &Outcome { at, verdict, set: &set, exact_tests: 0 });
            }
            if self.together {
                pages.push(page);
            } else {
                page.close();
            }
            observer.progress(work.size, number as f64, work.cost())?;
        }
        pages.into_iter().for_each(Page::close);
        Ok(())
    }

    fn p_values(&mut self, batch: &Batch, _observer: &mut dyn Observer) -> Result<Vec<f64>> {
        let one = |(x, y, s): (usize, usize, &[u32])| {
            self.p(x, y, s).map_err(|reason| Error::Numeric { x, y, s: s.to_vec(), reason })
        };
        batch.iter().map(one).collect()
    }
}
