//! What a search knows of every pair, and how an outcome changes it: the rules that all orders of visiting share.

mod marginal;

use std::sync::OnceLock;

use super::book::{Book, ShardFound, Undefined};
use super::checkpoint::{write_view, Found, Mark, Part, View, Within};
use super::largest::{Known, Largest};
use super::level::Neighbours;
use super::levels::{widest_of, LevelReport, Widest};
use super::marginals::settled;
use super::pairs::{PairBook, PairLevel, Pairwise};
use super::progress::LevelProgress;
use super::saving::{Saving, Step};
use super::shards::Work;
use super::worker::Worker;
use super::{Method, Options};
use crate::ci::Batch;
use crate::graph::{Adjacency, Ranked, SepSetLog, SepSets};
use crate::memory;
use crate::observer::Observer;
use crate::pool::Pool;
use crate::{Error, Result};

/// The answer under construction.
pub(super) struct Ledger<'s> {
    pub options: &'s Options,
    pub graph: Adjacency,
    /// The pairs that level 0 tests, in a search with fixed edges. `None`: it tests all pairs of the starting graph.
    tested: Option<Adjacency>,
    /// The neighbourhoods of the graph between two levels, if the last level has left its own.
    frozen: Option<Neighbours>,
    /// Number of edges, and a vertex with the most neighbours, between two levels, once a caller has asked for them.
    counted: OnceLock<(usize, Option<Widest>)>,
    /// Threads for work that needs no worker.
    pool: Pool,
    largest: Largest<'s>,
    sepsets: SepSetLog,
    /// Whether every cell of a p x p matrix has been written.
    is_filled: bool,
    /// Whether all p-values of level 0 have been entered. Workers may leave out those that separate nothing.
    is_exact: bool,
    /// Lower bound of the largest p-value of a pair that level 0 tested and left.
    floor: f64,
    /// The state at the start of the running level, if the level may have to be undone or is saved on the way.
    mark: Option<Mark>,
    /// Size of the conditioning sets of the running level.
    level: usize,
    /// The part of the next level that ran in an earlier call.
    within: Option<Within>,
}

impl<'s> Ledger<'s> {
    pub fn new(options: &'s Options, largest: Largest<'s>, pool: Pool) -> Self {
        let graph = options.start(&pool);
        let tested = options.fixed_edges.as_ref().map(|_| options.testable(&graph).into_owned());
        let sepsets = SepSetLog::new(options.p, options.empty_side());
        let (mark, within) = (None, None);
        Ledger {
            options,
            graph,
            tested,
            frozen: None,
            counted: OnceLock::new(),
            pool,
            largest,
            sepsets,
            is_filled: false,
            is_exact: false,
            floor: options.untested(),
            mark,
            level: 0,
            within,
        }
    }

    /// Continues from results that were found elsewhere. `largest` already has their p-values.
    pub fn resume(&mut self, found: Found, within: Option<Within>) {
        let Found { graph, sepsets, is_exact, .. } = found;
        (self.graph, self.sepsets, self.is_exact) = (graph, sepsets, is_exact);
        self.counted.take();
        // Finished columns of level 0 bring their p-values with them.
        self.is_filled = !matches!(&within, Some(Within { part: Part::Columns(_), .. }));
        self.within = within;
        self.mark = self.within.as_mut().and_then(|within| within.mark.take());
    }

    /// Takes the part of the level that ran in an earlier call.
    pub fn resumed(&mut self) -> Option<Within> {
        self.within.take()
    }

    /// Begins a level with sets of `size`, 0 or more. `keeps`: whether the level may have to be undone or is saved on the way. Undoes the
    /// part that ran in an earlier call if the order cannot continue from it.
    pub fn begin_level(&mut self, size: usize, keeps: bool, goes_on_from: impl FnOnce(&Part) -> bool) {
        self.level = size;
        if self.within.as_ref().is_some_and(|within| !goes_on_from(&within.part)) {
            self.within = None;
            self.rewind();
        }
        if keeps && self.mark.is_none() {
            self.mark = Some(Mark::new(&self.graph, if size > 0 { Some(&mut self.largest) } else { None }));
        }
    }

    /// Ends a level.
    pub fn end_level(&mut self) {
        self.mark = None;
        self.counted.take();
    }

    /// Returns the pairs that level 0 tests or has tested. Without fixed edges these are the pairs of the current graph.
    pub fn tested(&self) -> &Adjacency {
        self.tested.as_ref().unwrap_or(&self.graph)
    }

    /// Returns the frozen neighbourhoods of the graph that the level began with. Sets are chosen from these.
    pub fn freeze(&mut self) -> Result<Neighbours> {
        Ok(match self.frozen.take() {
            Some(frozen) => frozen,
            None if self.options.tiers.is_none() => Neighbours::of(self.start().copied(&self.pool)?),
            None => Neighbours::of_rows(&self.options.tiers, self.start(), 0..self.options.p),
        })
    }

    /// Takes neighbourhoods back at the end of a level. The next level's are a part of them, which saves another pass through p x p bits.
    pub fn thaw(&mut self, neighbours: Neighbours) {
        self.frozen = Some(neighbours.narrowed(&self.graph));
    }

    /// Returns the number of edges that the running level began with, or that the next begins with.
    pub fn edge_count(&self) -> usize {
        self.counted().0
    }

    /// Returns a vertex with the most neighbours, among those that have a pair to be tested.
    pub fn widest(&self) -> Option<Widest> {
        self.counted().1
    }

    fn counted(&self) -> (usize, Option<Widest>) {
        let Ledger { options, .. } = *self;
        let has_tiers = !options.tiers.is_none();
        *self.counted.get_or_init(|| {
            let degrees = match &self.frozen {
                Some(frozen) if !has_tiers => (0..options.p).map(|x| frozen.degree(x)).collect(),
                _ => self.start().by_vertex(&self.pool, |x| self.start().degree(x)),
            };
            let ends = degrees.iter().sum::<usize>();
            let widest = widest_of(options, self.start(), |x| {
                // With tiers, a neighbour need not be a candidate. Its pair then has all candidates.
                if has_tiers {
                    options.candidate_count(self.start(), x) + 1
                } else {
                    degrees[x]
                }
            });
            (ends / 2, widest)
        })
    }

    /// Returns the graph that the running level began with, or that the next begins with.
    pub fn start(&self) -> &Adjacency {
        self.mark.as_ref().map_or(&self.graph, |mark| &mark.graph)
    }

    /// Undoes a level that has not ended.
    pub fn rewind(&mut self) {
        if let Some(mark) = self.mark.take() {
            self.frozen = None;
            self.counted.take();
            self.graph = mark.rewind(self.level, &mut self.sepsets, &mut self.largest);
        }
    }

    /// Hands the known state to the observer to save. `within`: the counts and the finished part of a level that has begun.
    pub fn keep(&mut self, within: Option<(&LevelReport, &Part)>, observer: &mut dyn Observer) -> Result<()> {
        memory::check()?;
        let within = within.map(|(report, part)| (self.mark.as_ref(), report, part));
        let known = self.largest.known(self.options.p, self.is_filled);
        let view = View { graph: &self.graph, sepsets: &self.sepsets, is_exact: self.is_exact, known, within };
        observer.keep(&mut |out| write_view(&view, out))
    }

    pub fn fast(&self) -> bool {
        self.options.method == Method::StableFast
    }

    /// Prepares level 0 for p-values that are entered one by one: marks every pair as never tested, unless more is known.
    pub fn fill_exactly(&mut self) {
        self.fill();
        self.is_exact = true;
    }

    /// Marks every pair as never tested, unless more is known.
    fn fill(&mut self) {
        if self.is_filled {
            return;
        }
        if let Largest::Square(p_max) = &mut self.largest {
            p_max.fill(self.options.untested());
        }
        self.is_filled = true;
    }

    /// Raises the largest p-value of the pair.
    pub fn raise(&mut self, x: usize, y: usize, p: f64) {
        self.largest.raise(x, y, p, self.options);
    }

    /// Ends level 0. If the search keeps only the p-values of the pairs that are left, these pairs are now known.
    pub fn open(&mut self) -> Result<()> {
        match &mut self.largest {
            Largest::Square(_) => Ok(()),
            Largest::Left(left) => left.open(
                self.options,
                &self.graph,
                self.tested.as_ref().unwrap_or(&self.graph),
                self.floor,
                &self.pool,
            ),
        }
    }

    /// Removes a pair that a set from the neighbours of `row` separates.
    pub fn separate(&mut self, row: usize, other: usize, set: &[u32]) {
        self.graph.remove(row, other);
        let [x, y] = self.options.kept_under(row as u32, other as u32);
        self.sepsets.insert(x as usize, y as usize, set);
    }

    /// Removes or keeps a pair x < y of "stable.fast" by its p-value given nothing.
    pub fn settle_marginal(&mut self, x: usize, y: usize, p: f64) {
        match &mut self.largest {
            // Assigned, so that a NaN stays.
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

    /// Inserts the fixed edges of "stable.fast", which are edges even if they are also gaps.
    pub fn insert_fixed(&mut self) {
        if let Some(fixed) = self.options.fixed_edges.as_ref().filter(|_| self.fast()) {
            for x in 0..self.options.p {
                for y in fixed.neighbours(x) {
                    self.graph.insert(x, y as usize);
                }
            }
        }
    }

    /// Returns how many candidates x has for its pair with y, in the current graph.
    pub fn candidate_count(&self, x: usize, y: usize) -> usize {
        self.options.without(self.options.candidate_count(&self.graph, x), x, y)
    }

    /// Has a worker decide a work, and enters the outcomes. Pairs that no set separates stay in the graph. `step`: which work of the level
    /// this is.
    pub fn decide(
        &mut self,
        worker: &mut dyn Worker,
        work: &mut Work,
        mut step: Step,
        report: &mut LevelReport,
        progress: &mut LevelProgress,
    ) -> Result<()> {
        let Some(cells) = self.largest.cells(self.options.p) else { return Ok(()) };
        let (done, parts) = step.done_of(work);
        progress.add(parts.values().map(|shard| shard.cost).sum());
        let mut book = Book::new(work, cells);
        if let Some(done) = done {
            book.restore(done, &parts);
        }
        if progress.keeps() {
            let (graph, sepsets, mark, so_far) = (&self.graph, &self.sepsets, self.mark.as_ref(), *report);
            let is_exact = self.is_exact;
            let mut keep = |observer: &mut dyn Observer| {
                let mut done = step.nothing_done();
                book.done(&mut done);
                memory::check()?;
                let part = Part::Shards(done);
                let within = Some((mark, &so_far, &part));
                let view = View { graph, sepsets, is_exact, known: Known::Cells(cells), within };
                observer.keep(&mut |out| write_view(&view, out))
            };
            worker.answer(work, &book, &mut Saving::new(progress, &mut keep))?;
        } else {
            worker.answer(work, &book, progress)?;
        }
        progress.add(work.cost());
        let founds = book.close();
        memory::check()?;
        let undefined = founds.iter().filter_map(|found| found.undefined.as_ref()).min_by_key(|u| (u.x, u.y));
        if let Some(Undefined { x, y, set, reason }) = undefined {
            return Err(Error::Numeric { x: *x as usize, y: *y as usize, s: set.clone(), reason });
        }
        for ShardFound { separations, tests, exact_tests, .. } in founds {
            self.graph.remove_all(&separations.pairs);
            self.sepsets.extend(separations);
            report.tests += tests;
            report.exact_tests += exact_tests;
        }
        Ok(())
    }

    /// Has a worker decide all pairs of level 1, and enters the outcomes. Returns `None` if the worker prefers shards.
    pub fn decide_pairs(
        &mut self,
        worker: &mut dyn Pairwise,
        pool: &Pool,
        observer: &mut dyn Observer,
    ) -> Result<Option<LevelReport>> {
        let options = self.options;
        if !worker.prefers_pairs(&PairLevel::new(options, self.start()))? {
            return Ok(None);
        }
        let start = match &self.mark {
            Some(mark) => mark.graph.copied(pool)?,
            // Moved, as the level makes a new graph.
            None => std::mem::replace(&mut self.graph, Adjacency::empty(0)),
        };
        let ranked = Ranked::new(start, pool)?;
        let mut book = PairBook::new(options, &ranked, pool.clone(), &mut self.largest)?;
        let report = book.decide(worker, &mut self.largest, observer)?;
        memory::check()?;
        let (graph, singles) = book.close()?;
        self.graph = graph;
        self.sepsets.set_singles(singles);
        // The values include the p-values of level 0.
        self.is_exact = true;
        Ok(Some(report))
    }

    /// Completes the p-values, and returns graph and separating sets. Workers may leave out marginal p-values below alpha, as later levels
    /// exceed nearly all of them. This function asks for those of the remaining edges.
    pub fn complete(self, worker: &mut dyn Worker, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        let pool = worker.pool().clone();
        self.complete_by(&pool, &mut |batch| worker.marginal_values(batch, observer))
    }

    /// Completes the p-values as [`Ledger::complete`] does, with `ask` in place of a worker.
    pub fn complete_by(
        mut self,
        pool: &Pool,
        ask: &mut dyn FnMut(&Batch) -> Result<Vec<f64>>,
    ) -> Result<(Adjacency, SepSets)> {
        if !self.is_filled || self.is_exact {
            return self.finish(pool);
        }
        let mut batch = Batch::with_space(self.graph.edge_count(), 0)?;
        for x in 0..self.options.p {
            for y in self.graph.neighbours(x).filter(|&y| y as usize > x && self.tested().has(x, y as usize)) {
                batch.push(x, y as usize, &[]);
            }
        }
        let values = ask(&batch)?;
        if let Some(cells) = self.largest.cells(self.options.p) {
            for ((x, y, _), p) in batch.iter().zip(values) {
                cells.raise(x, y, p);
            }
        }
        self.finish(pool)
    }

    /// Returns graph and separating sets. If no level ran, marks every pair as never tested.
    pub fn finish(mut self, pool: &Pool) -> Result<(Adjacency, SepSets)> {
        if !self.is_filled {
            self.fill();
            self.open()?;
        }
        Ok((self.graph, self.sepsets.finish(pool)?))
    }
}
