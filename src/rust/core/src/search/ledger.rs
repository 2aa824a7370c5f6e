//! What is known of every pair, and what an outcome changes in it: the rules that all orders of visiting share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

use super::book::{Book, ShardFound, Undefined};
use super::checkpoint::{write_view, ClosedColumn, DoneColumn, Found, Mark, Part, View, Within};
use super::largest::{Known, Largest};
use super::level::Neighbours;
use super::levels::{widest_of, LevelReport, Widest};
use super::marginals::{below, settled, Closed, Column, Marginals, Values};
use super::pairs::{PairBook, PairLevel, Pairwise};
use super::progress::LevelProgress;
use super::saving::{Saving, Step};
use super::shards::Work;
use super::worker::Worker;
use super::{Method, Options};
use crate::ci::Batch;
use crate::graph::{no_bits, Adjacency, Half, Ranked, SepSetLog, SepSets};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::{Error, Result};

/// The answer under construction.
pub(super) struct Ledger<'s> {
    pub options: &'s Options,
    pub graph: Adjacency,
    /// Of a search with fixed edges, the pairs that level 0 tests; else these are all that it starts with.
    tested: Option<Adjacency>,
    /// The neighbourhoods of the graph between two levels, where a level has left its own.
    frozen: Option<Neighbours>,
    /// Between two levels, the number of edges and a vertex with the most neighbours, once these are asked for.
    counted: OnceLock<(usize, Option<Widest>)>,
    /// Threads for what needs no worker.
    pool: Pool,
    largest: Largest<'s>,
    sepsets: SepSetLog,
    /// Whether every cell of a p x p matrix has been written.
    is_filled: bool,
    /// Whether all p-values of level 0 have been entered: workers may leave those aside that separate nothing.
    is_exact: bool,
    /// What the largest p-value of a pair that was tested at level 0 and left is at least.
    floor: f64,
    /// How the level that runs began, of a search that may have to take it back, or is kept within it.
    mark: Option<Mark>,
    /// The size of its sets.
    level: usize,
    /// What of the next level had run in an earlier call.
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

    /// Goes on from what was found elsewhere; `largest` has the p-values.
    pub fn resume(&mut self, found: Found, within: Option<Within>) {
        let Found { graph, sepsets, is_exact, .. } = found;
        (self.graph, self.sepsets, self.is_exact) = (graph, sepsets, is_exact);
        self.counted.take();
        // Columns of level 0 that are done come with their p-values.
        self.is_filled = !matches!(&within, Some(Within { part: Part::Columns(_), .. }));
        self.within = within;
        self.mark = self.within.as_mut().and_then(|within| within.mark.take());
    }

    /// What of the level had run in an earlier call.
    pub fn resumed(&mut self) -> Option<Within> {
        self.within.take()
    }

    /// A level with sets of `size`, 0 or more, begins; `keeps`: it may have to be taken back, or is kept. What of it had run in an earlier call
    /// is taken back where nobody goes on from it.
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

    /// A level has ended.
    pub fn end_level(&mut self) {
        self.mark = None;
        self.counted.take();
    }

    /// Of the pairs of the graph those that level 0 tests, or has tested.
    pub fn tested(&self) -> &Adjacency {
        self.tested.as_ref().unwrap_or(&self.graph)
    }

    /// Freezes the neighbourhoods of the graph that the level began with: what sets are chosen from.
    pub fn freeze(&mut self) -> Result<Neighbours> {
        Ok(match self.frozen.take() {
            Some(frozen) => frozen,
            None if self.options.tiers.is_none() => Neighbours::of(self.start().copied(&self.pool)?),
            None => Neighbours::of_rows(&self.options.tiers, self.start(), 0..self.options.p),
        })
    }

    /// Gives neighbourhoods back at the end of a level. The next level's are a part of them, so that nobody passes through p x p bits again.
    pub fn thaw(&mut self, neighbours: Neighbours) {
        self.frozen = Some(neighbours.narrowed(&self.graph));
    }

    /// Number of edges that the level began with, or the next begins with.
    pub fn edge_count(&self) -> usize {
        self.counted().0
    }

    /// A vertex with the most neighbours, of those that have a pair to be tested.
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
                // With tiers a neighbour may be no candidate, whose pair has all of them.
                if has_tiers {
                    options.candidate_count(self.start(), x) + 1
                } else {
                    degrees[x]
                }
            });
            (ends / 2, widest)
        })
    }

    /// The graph that the level began with, or the next begins with.
    pub fn start(&self) -> &Adjacency {
        self.mark.as_ref().map_or(&self.graph, |mark| &mark.graph)
    }

    /// Takes the level back that has not ended.
    pub fn rewind(&mut self) {
        if let Some(mark) = self.mark.take() {
            self.frozen = None;
            self.counted.take();
            self.graph = mark.rewind(self.level, &mut self.sepsets, &mut self.largest);
        }
    }

    /// Has what is known kept; `within`: where a level has begun, what was counted and what is done of it.
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

    /// Level 0 begins, whose p-values are entered one by one: marks every pair as never tested, unless more is known.
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

    /// Level 0 is over: of a search that keeps the p-values of the pairs that it leaves, these are known now.
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

    /// How many neighbours of x sets are chosen from for its pair with y, as the graph is now.
    pub fn candidate_count(&self, x: usize, y: usize) -> usize {
        self.options.without(self.options.candidate_count(&self.graph, x), x, y)
    }

    /// Level 0, by a worker: all pairs at once. Returns the graph as it was, and how many of the pairs that were tested are left.
    pub fn marginal(&mut self, worker: &mut dyn Worker, observer: &mut dyn Observer) -> Result<(Adjacency, u64)> {
        let p = self.options.p;
        // Four graphs of bits, and what hands out the columns.
        memory::room(4 * Adjacency::bytes(p) + 256 * p, Use::Pairs)?;
        let done = match self.resumed() {
            Some(Within { part: Part::Columns(done), .. }) => done,
            _ => Vec::new(),
        };
        // Columns that are done may be another worker's.
        let is_exact = worker.is_exact() && matches!(self.largest, Largest::Square(_));
        self.is_exact = is_exact && (done.is_empty() || self.is_exact);
        // Workers touch the columns first, and leave what they found as bits: there may be millions of pairs.
        let words = p.div_ceil(64);
        let (mut separated, mut kept) = (no_bits(p * words), no_bits(p * words));
        self.run_columns(worker, observer, &mut separated, &mut kept, &done)?;
        for DoneColumn { y, separated: was_separated, kept: was_kept, values } in done {
            let of_column = y * words..y * words + was_kept.len();
            separated[of_column.clone()].copy_from_slice(&was_separated);
            kept[of_column].copy_from_slice(&was_kept);
            if let Largest::Square(p_max) = &mut self.largest {
                p_max[y * p..y * p + values.len()].copy_from_slice(&values);
            }
        }
        self.is_filled = true;
        self.floor = 0.0;
        let pool = worker.pool().clone();
        let left = AtomicU64::new(0);
        let each = self.graph.rows_together(&pool);
        pool.each_of(kept.chunks_mut((each * words).max(1)).collect(), |part, kept: &mut [u64]| {
            let mut count = 0;
            for (y, row) in (part * each..).zip(kept.chunks_mut(words)) {
                for (w, kept) in row[..=y / 64].iter_mut().enumerate() {
                    count += u64::from(kept.count_ones());
                    // Untested pairs stay as they are.
                    *kept |= self.graph.row(y)[w] & below(y, w) & !self.tested().row(y)[w];
                }
            }
            left.fetch_add(count, Ordering::Relaxed);
        });
        let rest = Adjacency::from_half(p, &kept, Half::Lower, &pool)?;
        let start = std::mem::replace(&mut self.graph, rest);
        self.sepsets.set_empty(Adjacency::from_half(p, &separated, Half::Lower, &pool)?);
        Ok((start, left.into_inner()))
    }

    /// Level 0 once more, from the larger vertex: what is left is asked as (y, x).
    pub fn marginal_from_larger(&mut self, worker: &mut dyn Worker, observer: &mut dyn Observer) -> Result<()> {
        let mut batch = Batch::with_space(self.graph.edge_count(), 0)?;
        for y in 0..self.options.p {
            for x in self.graph.neighbours(y).take_while(|&x| (x as usize) < y) {
                if self.tested().has(x as usize, y) {
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

    /// Has a worker fill the columns of level 0 but for those that are done.
    fn run_columns(
        &mut self,
        worker: &mut dyn Worker,
        observer: &mut dyn Observer,
        separated: &mut [u64],
        kept: &mut [u64],
        done: &[DoneColumn],
    ) -> Result<()> {
        let (p, words) = (self.options.p, self.options.p.div_ceil(64));
        let mut left = None;
        if !done.is_empty() {
            let mut pairs = self.tested().clone();
            done.iter().for_each(|column| (0..column.y).for_each(|x| pairs.remove(x, column.y)));
            left = Some(pairs);
        }
        let level = Marginals::new(
            self.options,
            left.as_ref().or(self.tested.as_ref()).unwrap_or(&self.graph),
            matches!(self.largest, Largest::Square(_)),
        );
        let closed = Closed::default();
        let bits = separated.chunks_mut(words).zip(kept.chunks_mut(words));
        let mut lent = match &mut self.largest {
            Largest::Square(p_max) => Some(p_max.chunks_mut(p)),
            Largest::Left(_) => None,
        };
        let told = observer.keeps().then_some(&closed);
        let mut column = |(y, (separated, kept))| {
            let p_values =
                lent.as_mut().and_then(|columns| columns.next()).map_or(Values::Spare(Vec::new()), Values::Lent);
            Column { y, p_values, separated, kept, closed: told }
        };
        let columns = bits.enumerate().map(&mut column).collect();
        if told.is_none() {
            return worker.marginal(&level, columns, observer);
        }
        let (graph, sepsets, is_exact) = (&self.graph, &self.sepsets, self.is_exact);
        let mut keep = |observer: &mut dyn Observer| {
            let is_new = |column: &&ClosedColumn| done.iter().all(|known| known.y != column.y);
            let mut all = done.to_vec();
            if let Ok(closed) = closed.lock() {
                all.extend(closed.iter().filter(is_new).map(ClosedColumn::done));
            }
            memory::check()?;
            let (report, part) = (LevelReport::default(), Part::Columns(all));
            let within = Some((None, &report, &part));
            let view = View { graph, sepsets, is_exact, known: Known::None, within };
            observer.keep(&mut |out| write_view(&view, out))
        };
        worker.marginal(&level, columns, &mut Saving::new(observer, &mut keep))
    }

    /// Has a worker decide work, and enters what it found: the pairs that no set separates stay in the graph. `step`: which work of the
    /// level it is.
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

    /// Has a worker decide all pairs of level 1, and enters what it found; none: it would rather have shards.
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
            // The level leaves another one.
            None => std::mem::replace(&mut self.graph, Adjacency::empty(0)),
        };
        let ranked = Ranked::new(start, pool)?;
        let mut book = PairBook::new(options, &ranked, pool.clone())?;
        let level = book.level();
        let largest = &mut self.largest;
        worker.pairs(&level, &(0..options.p), &mut |decided| Ok(book.enter(decided, largest)), observer)?;
        memory::check()?;
        let (graph, singles, report) = book.close()?;
        self.graph = graph;
        self.sepsets.set_singles(singles);
        // Those of level 0 are among the values.
        self.is_exact = true;
        Ok(Some(report))
    }

    /// Completes the p-values, and hands graph and separating sets over. Workers leave the marginal p-values below alpha aside, as
    /// nearly all of them are outdone at a later level: asks for those of the pairs that are still there.
    pub fn complete(self, worker: &mut dyn Worker, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        let pool = worker.pool().clone();
        self.complete_by(&pool, &mut |batch| worker.marginal_values(batch, observer))
    }

    /// Likewise by whom these are asked of.
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

    /// Hands graph and separating sets over; without a level no pair was tested.
    pub fn finish(mut self, pool: &Pool) -> Result<(Adjacency, SepSets)> {
        if !self.is_filled {
            self.fill();
            self.open()?;
        }
        Ok((self.graph, self.sepsets.finish(pool)?))
    }
}
