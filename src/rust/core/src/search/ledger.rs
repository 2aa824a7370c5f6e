//! What is known of every pair, and what an outcome changes in it: the rules that all orders of visiting share.

use super::book::{Book, Found, Undefined};
use super::largest::Largest;
use super::levels::{widest_of, LevelReport, Widest};
use super::marginals::{below, settled, Column, Marginals, Values};
use super::progress::LevelProgress;
use super::shards::Work;
use super::worker::Worker;
use super::{Method, Options};
use crate::ci::Batch;
use crate::graph::{Adjacency, SepSetLog, SepSets};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::{Error, Result};

/// The answer under construction.
pub(super) struct Ledger<'s> {
    pub options: &'s Options,
    pub graph: Adjacency,
    /// The pairs tested at level 0.
    pub tested: Adjacency,
    largest: Largest<'s>,
    sepsets: SepSetLog,
    /// Whether every cell of a p x p matrix has been written.
    is_filled: bool,
    /// What the largest p-value of a pair that was tested at level 0 and left is at least.
    floor: f64,
}

impl<'s> Ledger<'s> {
    pub fn new(options: &'s Options, largest: Largest<'s>) -> Self {
        let graph = options.start();
        let tested = options.testable(&graph);
        let sepsets = SepSetLog::new(options.p, options.empty_side());
        Ledger { options, graph, tested, largest, sepsets, is_filled: false, floor: options.untested() }
    }

    /// Goes on from what levels have found elsewhere, level 0 at least; `largest` has the p-values.
    pub fn of_found(options: &'s Options, largest: Largest<'s>, graph: Adjacency, sepsets: SepSetLog) -> Self {
        let tested = options.testable(&options.start());
        Ledger { options, graph, tested, largest, sepsets, is_filled: true, floor: 0.0 }
    }

    pub fn fast(&self) -> bool {
        self.options.method == Method::StableFast
    }

    /// Marks every pair as never tested.
    pub fn fill(&mut self) {
        if let Largest::Square(p_max) = &mut self.largest {
            p_max.fill(self.options.untested());
        }
        self.is_filled = true;
    }

    /// Raises the largest p-value of the pair.
    pub fn raise(&mut self, x: usize, y: usize, p: f64) {
        self.largest.raise(x, y, p, self.options);
    }

    /// Level 0 is over: of a search that keeps the p-values of the pairs that it leaves, these are known now.
    pub fn open(&mut self) -> Result<()> {
        match &mut self.largest {
            Largest::Square(_) => Ok(()),
            Largest::Left(left) => left.open(self.options, &self.graph, &self.tested, self.floor),
        }
    }

    /// Removes the pair, which a set from the neighbours of `row` separates.
    pub fn separate(&mut self, row: usize, other: usize, set: &[u32]) {
        self.graph.remove(row, other);
        let [x, y] = self.options.kept_under(row as u32, other as u32);
        self.sepsets.insert(x as usize, y as usize, set);
    }

    /// Removes or keeps a pair x < y of "stable.fast" by its p-value given nothing.
    pub fn settle_marginal(&mut self, x: usize, y: usize, p: f64) {
        match &mut self.largest {
            // A NaN stays.
            Largest::Square(p_max) => p_max[y * self.options.p + x] = p,
            left => left.raise(x, y, p, self.options),
        }
        let pair = settled(self.options, p);
        if pair.is_separated {
            self.sepsets.insert_empty(x.min(y), x.max(y));
        }
        if !pair.is_kept {
            self.graph.remove(x, y);
        }
    }

    /// A fixed edge of "stable.fast" is there even where a gap was asked for.
    pub fn insert_fixed(&mut self) {
        if let Some(fixed) = self.options.fixed_edges.as_ref().filter(|_| self.fast()) {
            for x in 0..self.options.p {
                for y in fixed.neighbours(x) {
                    self.graph.insert(x, y as usize);
                }
            }
        }
    }

    /// A vertex with the most neighbours, of those that have a pair to be tested.
    pub fn widest(&self) -> Option<Widest> {
        widest_of(self.options, &self.graph, |x| self.graph.degree(x))
    }

    /// Level 0, by a worker: all pairs at once. Returns the graph as it was, and how many of the pairs that were tested are left.
    pub fn marginal(&mut self, worker: &mut dyn Worker, observer: &mut dyn Observer) -> Result<(Adjacency, u64)> {
        let p = self.options.p;
        // Five graphs of bits, and what hands out the columns.
        memory::room(5 * Adjacency::bytes(p) + 256 * p, Use::Pairs)?;
        // Workers touch the columns first, and leave what they found as bits: there may be millions of pairs.
        let words = p.div_ceil(64);
        let mut separated = vec![0u64; p * words];
        let mut kept = vec![0u64; p * words];
        let level = Marginals::new(self.options, &self.tested, matches!(self.largest, Largest::Square(_)));
        let bits = separated.chunks_mut(words).zip(kept.chunks_mut(words));
        let mut lent = match &mut self.largest {
            Largest::Square(p_max) => Some(p_max.chunks_mut(p)),
            Largest::Left(_) => None,
        };
        let mut column = |(y, (separated, kept))| {
            let p_values =
                lent.as_mut().and_then(|columns| columns.next()).map_or(Values::Spare(Vec::new()), Values::Lent);
            Column { y, p_values, separated, kept }
        };
        let columns = bits.enumerate().map(&mut column).collect();
        worker.marginal(&level, columns, observer)?;
        drop(level);
        self.is_filled = true;
        self.floor = 0.0;
        let rest = Adjacency::from_lower(p, |y, w| {
            // Untested pairs stay as they are.
            (self.graph.row(y)[w] & below(y, w) & !self.tested.row(y)[w]) | kept[y * words + w]
        });
        let start = std::mem::replace(&mut self.graph, rest);
        let left = kept.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        self.sepsets.set_empty(Adjacency::from_lower(p, |y, w| separated[y * words + w]));
        Ok((start, left))
    }

    /// Level 0 once more, from the larger vertex: what is left is asked as (y, x).
    pub fn marginal_from_larger(&mut self, worker: &mut dyn Worker, observer: &mut dyn Observer) -> Result<()> {
        let mut batch = Batch::with_space(self.graph.edge_count(), 0)?;
        for y in 0..self.options.p {
            for x in self.graph.neighbours(y).take_while(|&x| (x as usize) < y) {
                if self.tested.has(x as usize, y) {
                    batch.push(y, x as usize, &[]);
                }
            }
        }
        let values = worker.p_values(&batch, observer)?;
        for ((y, x, _), p) in batch.iter().zip(values) {
            let p = self.options.read(p);
            self.raise(x, y, p);
            if p >= self.options.alpha {
                self.separate(y, x, &[]);
            }
        }
        Ok(())
    }

    /// Has a worker decide work, and enters what it found: the pairs that no set separates stay in the graph.
    pub fn decide(
        &mut self,
        worker: &mut dyn Worker,
        work: &Work,
        report: &mut LevelReport,
        progress: &mut LevelProgress,
    ) -> Result<()> {
        let Some(cells) = self.largest.cells(self.options.p) else { return Ok(()) };
        let book = Book::new(work, self.options, cells);
        worker.answer(work, &book, progress)?;
        progress.add(work.cost());
        let founds = book.close();
        memory::check()?;
        let undefined = founds.iter().filter_map(|found| found.undefined.as_ref()).min_by_key(|u| (u.x, u.y));
        if let Some(Undefined { x, y, set, reason }) = undefined {
            return Err(Error::Numeric { x: *x as usize, y: *y as usize, s: set.clone(), reason });
        }
        for Found { separations, tests, exact_tests, .. } in founds {
            self.graph.remove_all(&separations.pairs);
            self.sepsets.extend(separations);
            report.tests += tests;
            report.exact_tests += exact_tests;
        }
        Ok(())
    }

    /// Completes the p-values, and hands graph and separating sets over. Workers leave the marginal p-values below alpha aside, as
    /// nearly all of them are outdone at a later level: asks for those of the pairs that are still there.
    pub fn complete(mut self, worker: &mut dyn Worker, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        if !self.is_filled {
            return self.finish(worker.pool());
        }
        if worker.is_exact() && matches!(self.largest, Largest::Square(_)) {
            return self.finish(worker.pool());
        }
        let mut batch = Batch::with_space(self.graph.edge_count(), 0)?;
        for x in 0..self.options.p {
            for y in self.graph.neighbours(x).filter(|&y| y as usize > x && self.tested.has(x, y as usize)) {
                batch.push(x, y as usize, &[]);
            }
        }
        let values = worker.p_values(&batch, observer)?;
        if let Some(cells) = self.largest.cells(self.options.p) {
            for ((x, y, _), p) in batch.iter().zip(values) {
                cells.raise(x, y, p);
            }
        }
        self.finish(worker.pool())
    }

    /// Hands graph and separating sets over; without a level no pair was tested.
    pub fn finish(mut self, pool: &Pool) -> Result<(Adjacency, SepSets)> {
        if !self.is_filled {
            self.fill();
            self.open()?;
        }
        Ok((self.graph, self.sepsets.finish(pool)?))
    }
}
