//! "stable" and "stable.fast" on a worker: every pair of a level is decided on the graph that the level began with.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::checkpoint::{Cut, Part};
use super::lanes::Lanes;
use super::ledger::Ledger;
use super::level::{count_sets, CandidateOrder, Neighbours, PairSide};
use super::levels::LevelReport;
use super::order::Order;
use super::pairs::PairLevel;
use super::progress::LevelProgress;
use super::saving::Step;
use super::shards::Work;
use super::worker::Worker;
use super::Options;
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::Result;

/// Number of rows in a tile of second sides, and number of other vertices, at most the bits of a word.
const TILE_ROWS: usize = 32;
const TILE_OTHERS: usize = 32;

/// Largest number of sides in a tile, so that any worker takes a whole tile at once.
const WAVE_SIDES: usize = 1 << 16;

/// To save a search between rows or sides, some are taken at a time: first one in this many, then more if that took less than
/// `TIME_OF_SOME`.
const FIRST_ONE_IN: usize = 64;
const TIME_OF_SOME: Duration = Duration::from_secs(20);

/// Returns how many to take next, if the last `count` began at `began`.
fn more_or_less(count: usize, began: Instant) -> usize {
    if began.elapsed() < TIME_OF_SOME {
        2 * count.max(1)
    } else {
        count.div_ceil(2).max(1)
    }
}

/// Sides that are decided one by one.
struct Sides<'a> {
    neighbours: &'a Neighbours,
    list: Vec<PairSide>,
    /// The number of the first side in a [step](Step).
    first: usize,
    /// Number of consecutive rows whose sides are taken together.
    rows: usize,
}

/// Returns the sides of tested pairs whose other vertex is of a later tier than the row. `first`: those seen from the smaller vertex;
/// otherwise from the larger.
fn outside(
    options: &Options,
    neighbours: &Neighbours,
    pairs: &Adjacency,
    size: usize,
    first: bool,
) -> Result<Vec<PairSide>> {
    let mut sides = Vec::new();
    for x in (0..if options.tiers.is_none() { 0 } else { options.p }).filter(|&x| neighbours.degree(x) >= size) {
        for other in pairs.neighbours(x) {
            let y = other as usize;
            if (x < y) == first && !options.tiers.may_condition(x, y) {
                let count = count_sets(x, y, neighbours.degree(x), size)?;
                let (row, place, order) = (x as u32, PairSide::OUTSIDE, CandidateOrder::Ascending);
                memory::push(&mut sides, PairSide { row, other, place, order, count }, Use::Level)?;
            }
        }
    }
    Ok(sides)
}

/// Tests of level 1 from which it is decided by shards if the search is saved: some ten seconds on a GPU.
const LONG_LEVEL: f64 = 3e13;

/// The order of visiting, on a worker.
pub(super) struct Stable<'w> {
    pub worker: &'w mut dyn Worker,
}

impl Stable<'_> {
    /// Returns the second sides of "stable.fast" for the pairs that are left. Each pair has its own order of candidates.
    fn second_sides<'n>(&self, neighbours: &'n Neighbours, left: &Adjacency, size: usize) -> Result<Sides<'n>> {
        // With sets of one variable, rows are taken together, so that all of them use the other vertices' data while it is in the cache. No
        // tile has more sides than a wave.
        let p = left.p();
        let (rows, others) = if size == 1 { ((WAVE_SIDES / p).clamp(1, TILE_ROWS), TILE_OTHERS) } else { (1, p) };
        let mut sides = Vec::new();
        for first in (0..p).step_by(rows) {
            let end = p.min(first + rows);
            // For each row, the pairs that are left.
            let below = |y: usize| {
                let smaller = neighbours.list(y).iter().copied().take_while(move |&x| (x as usize) < y);
                smaller.filter(move |&x| left.has(y, x as usize)).peekable()
            };
            let mut rest: Vec<_> =
                (first..end).filter(|&y| neighbours.degree(y) > size).map(|y| (y, below(y))).collect();
            while let Some(least) = rest.iter_mut().filter_map(|(_, others)| others.peek().copied()).min() {
                let from = least as usize / others * others;
                let is_in = |&other: &u32| (other as usize) < from + others;
                for (y, others) in &mut rest {
                    let y = *y;
                    let Some(least) = others.next_if(is_in) else { continue };
                    let list = neighbours.list(y);
                    let mut place = neighbours.place(y, least as usize);
                    let mut next = Some(least);
                    while let Some(other) = next {
                        while list[place as usize] < other {
                            place += 1;
                        }
                        let (x, row) = (other as usize, y as u32);
                        let count =
                            count_sets(x, y, list.len() - 1, size)? - count_sets(x, y, neighbours.common(x, y), size)?;
                        if count > 0 {
                            let order = CandidateOrder::CommonLast;
                            memory::push(&mut sides, PairSide { row, other, place, order, count }, Use::Level)?;
                        }
                        next = others.next_if(is_in);
                    }
                }
            }
        }
        Ok(Sides { neighbours, list: sides, first: 0, rows })
    }

    /// Decides sides one by one, from the step's first side on.
    fn by_sides(
        &mut self,
        ledger: &mut Ledger,
        sides: &Sides,
        mut step: Step,
        size: usize,
        report: &mut LevelReport,
        progress: &mut LevelProgress,
    ) -> Result<()> {
        let Sides { neighbours, list: ref sides, first, rows } = *sides;
        let tile = |row: u32| row as usize / rows;
        let some = progress.keeps() && !self.worker.is_gradual();
        if some && step.is_new() {
            step.cut.sides_at_once = sides.len().div_ceil(FIRST_ONE_IN);
        }
        while step.rows.start < first + sides.len() {
            let began = Instant::now();
            let rest = &sides[step.rows.start - first..];
            // Only whole tiles: of several tests without an answer, the first row's must be met first.
            let ends = |&at: &usize| at == rest.len() || tile(rest[at].row) != tile(rest[at - 1].row);
            let most = rest.len().min(step.cut.sides_at_once);
            let wave = &rest[..(1..=most).rev().find(ends).unwrap_or(most)];
            memory::room(Work::bytes(wave.len()), Use::Level)?;
            let (count, cut) = (wave.len(), self.cut());
            let mut next = Step::new(step.second.clone(), step.rows.start + count..0, cut);
            let Cut { shard_tests, threads, .. } = step.cut;
            let mut work = Work::of_sides(size, neighbours, wave.to_vec(), ledger.options, shard_tests, threads)?;
            ledger.decide(&mut *self.worker, &mut work, step, report, progress)?;
            if some {
                next.cut.sides_at_once = more_or_less(count, began).min(cut.sides_at_once);
            }
            step = next;
        }
        Ok(())
    }

    /// Decides sides by rows, from the step's first row on: all rows at once, or some at a time. A row's sets are tested for all of its
    /// sides together. Returns the next step.
    fn by_rows(
        &mut self,
        ledger: &mut Ledger,
        (neighbours, lanes): (&Neighbours, Lanes),
        mut step: Step,
        size: usize,
        report: &mut LevelReport,
        progress: &mut LevelProgress,
    ) -> Result<Step> {
        let p = neighbours.p();
        let mut own = Some(lanes);
        while step.rows.start < p {
            let (began, rows) = (Instant::now(), step.rows.clone());
            let lanes = if rows == (0..p) { own.take() } else { own.as_ref().map(|lanes| lanes.among(&rows)) };
            let next = Step::new(step.second.clone(), rows.end..rows.end, self.cut());
            let Cut { shard_tests, threads, .. } = step.cut;
            let options = ledger.options;
            let mut work = Work::of_lanes(size, neighbours, lanes.unwrap_or_default(), options, shard_tests, threads)?;
            ledger.decide(&mut *self.worker, &mut work, step, report, progress)?;
            step = next;
            step.rows.end = p.min(rows.end + more_or_less(rows.len(), began));
        }
        Ok(step)
    }

    /// Decides the half of a level in which all pairs of a row share one order of sets. First come pairs whose other vertex is a candidate
    /// of the row; then, with tiers, pairs whose other vertex is not.
    fn half(
        &mut self,
        ledger: &mut Ledger,
        (neighbours, lanes, outside): (&Neighbours, Lanes, Vec<PairSide>),
        step: Step,
        size: usize,
        report: &mut LevelReport,
        progress: &mut LevelProgress,
    ) -> Result<()> {
        let p = neighbours.p();
        report.go_on |= (0..p).any(|x| neighbours.degree(x) > size + 1 && lanes.any(x));
        report.go_on |= outside.iter().any(|side| neighbours.degree(side.row as usize) > size);
        let step = self.by_rows(ledger, (neighbours, lanes), step, size, report, progress)?;
        self.by_sides(ledger, &Sides { neighbours, list: outside, first: p, rows: 1 }, step, size, report, progress)
    }

    /// Returns the first rows to take of a level: all, unless the worker closes their shards together and the search is saved in between.
    fn first_rows(&self, p: usize, keeps: bool) -> Range<usize> {
        0..if keeps && !self.worker.is_gradual() { p.div_ceil(FIRST_ONE_IN) } else { p }
    }

    /// Returns how this worker's work is cut.
    fn cut(&self) -> Cut {
        let worker = &*self.worker;
        Cut { shard_tests: worker.shard_tests(), threads: worker.hands(), sides_at_once: worker.sides_at_once() }
    }
}

impl Order for Stable<'_> {
    fn goes_on_from(&self, size: usize, part: &Part) -> bool {
        // Level 1 can continue by shards even if the worker decides pairs.
        matches!((size, part), (0, Part::Columns(_)) | (1.., Part::Shards(_)))
    }

    fn marginal(&mut self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<LevelReport> {
        let tests = ledger.tested().edge_count() as u64;
        let (start, left) = ledger.marginal(&mut *self.worker, observer)?;
        if !ledger.fast() && self.worker.asks_both_sides() {
            ledger.marginal_from_larger(&mut *self.worker, observer)?;
        }
        let (graph, tested) = (&ledger.graph, ledger.options.testable(&start));
        let mut report = LevelReport { tests, exact_tests: 0, go_on: true };
        if ledger.fast() {
            ledger.insert_fixed();
        } else {
            // pcalg tests each pair from the smaller vertex and, if the pair is still adjacent, from the larger.
            report.tests += left;
            let options = ledger.options;
            report.go_on = (0..start.p()).any(|x| {
                let candidates = options.candidate_count(&start, x);
                let has_more = |y: &u32| options.without(candidates, x, *y as usize) > 0;
                let visited_first = tested.neighbours(x).filter(has_more).any(|y| y as usize > x);
                visited_first
                    || graph.neighbours(x).filter(has_more).any(|y| (y as usize) < x && tested.has(x, y as usize))
            });
        }
        Ok(report)
    }

    fn conditional(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let (p, fast, keeps) = (ledger.options.p, ledger.fast(), observer.keeps());
        let within = ledger.resumed();
        let Ledger { options, .. } = *ledger;
        if size == 1 && within.is_none() && PairLevel::serves(options) {
            let pool = self.worker.pool().clone();
            let has_work = ledger.widest().is_some_and(|widest| widest.degree > size);
            let tests = |x: usize| (ledger.start().degree(x) as f64).powi(2);
            // Pairs are saved once all are decided, shards one by one.
            let is_long = has_work && keeps && (0..p).map(tests).sum::<f64>() > LONG_LEVEL;
            if let (true, Some(worker)) = (has_work && !is_long, self.worker.pairwise()) {
                memory::room(4 * Adjacency::bytes(p) + 4 * ledger.edge_count() + 64 * p, Use::Level)?;
                if let Some(report) = ledger.decide_pairs(worker, &pool, observer)? {
                    return Ok(LevelReport { go_on: report.go_on || fast, ..report });
                }
            }
        }
        // Neighbourhoods as bits and as lists, the pairs that are left, and the place of each pair.
        memory::room(3 * Adjacency::bytes(p) + 12 * ledger.edge_count() + 64 * p, Use::Level)?;
        let neighbours = ledger.freeze()?;
        let tested = options.testable(ledger.start());
        let is_plain = options.tiers.is_none() && options.fixed_edges.is_none();
        let mut progress = match is_plain {
            true => LevelProgress::of_all(observer, size, &neighbours),
            false => LevelProgress::new(observer, options, size, ledger.start(), &tested),
        };
        let mut report = within.as_ref().map_or_else(LevelReport::default, |within| within.report);
        report.go_on |= fast;
        let mut step = Step::resumed(within).unwrap_or_else(|| Step::new(None, self.first_rows(p, keeps), self.cut()));

        if step.second.is_none() {
            let lanes = match is_plain {
                true => Lanes::of_first(&neighbours, size),
                false => Lanes::of_first_in(&neighbours, size, &tested),
            };
            let outside = outside(options, &neighbours, &tested, size, true)?;
            self.half(ledger, (&neighbours, lanes, outside), step, size, &mut report, &mut progress)?;
            step = Step::new(keeps.then(|| ledger.graph.clone()), self.first_rows(p, keeps), self.cut());
        }

        let left = options.testable(step.second.as_ref().unwrap_or(&ledger.graph));
        if fast {
            let is_second = |y: usize| left.neighbours(y).next().is_some_and(|x| (x as usize) < y);
            report.go_on |= (0..p).any(|y| neighbours.degree(y) > size + 1 && is_second(y));
            let sides = self.second_sides(&neighbours, &left, size)?;
            self.by_sides(ledger, &sides, step, size, &mut report, &mut progress)?;
        } else {
            let lanes = Lanes::of_second_in(&neighbours, size, &left);
            let outside = outside(options, &neighbours, &left, size, false)?;
            self.half(ledger, (&neighbours, lanes, outside), step, size, &mut report, &mut progress)?;
        }
        progress.finish()?;
        ledger.thaw(neighbours);
        Ok(report)
    }

    fn finish(self, ledger: Ledger, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        ledger.complete(&mut *self.worker, observer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::gauss::{Gauss, Reading};
    use crate::ci::Batch;
    use crate::engine::cpu::{CpuEngine, GaussKernel};
    use crate::engine::LevelOne;
    use crate::observer::Unobserved;
    use crate::pool::Pool;
    use crate::search::book::Book;
    use crate::search::worker::{Column, Marginals};
    use crate::search::{skeleton, Method};

    /// A worker that gets the neighbourhoods of every level as lists only.
    struct OfLists<W>(W);

    impl<W: Worker> Worker for OfLists<W> {
        fn pool(&self) -> &Pool {
            self.0.pool()
        }

        fn shard_tests(&self) -> u64 {
            self.0.shard_tests()
        }

        fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
            self.0.marginal(level, columns, observer)
        }

        fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
            let lists = work.neighbours.to_lists();
            let bytes = work.piece_to_bytes(0..work.shards.len());
            let same = Work::piece_from_bytes(&bytes, &lists, work.options).unwrap();
            self.0.answer(&same, book, observer)
        }

        fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
            self.0.p_values(batch, observer)
        }
    }

    #[test]
    fn lists_alone_have_the_answers_of_bit_rows() {
        let p = 70;
        // Blocks of variables that depend on one another, and a few that depend on all: some vertices keep many neighbours.
        let c: Vec<f64> = (0..p * p)
            .map(|at| (at / p, at % p))
            .map(|(x, y)| match (x == y, x / 9 == y / 9 || x.min(y) < 3) {
                (true, _) => 1.0,
                (_, true) => 0.2 + 0.01 * ((x * y) % 9) as f64,
                _ => 0.04 + 0.002 * ((x + y) % 7) as f64,
            })
            .collect();
        for (method, reading) in [(Method::Stable, Reading::GaussCItest), (Method::StableFast, Reading::StableFast)] {
            let options = Options { method, m_max: 2.0, ..Options::new(p, 0.02) };
            let worker = |level_one| {
                let gauss = Gauss::new(crate::matrix::by_column(&c, p).unwrap(), 500.0, reading).unwrap();
                CpuEngine::with_shards(GaussKernel::new(gauss, 0.02).with_level_one(level_one), 2, 50)
            };
            let search = |worker: &mut dyn Worker| {
                let mut p_max = vec![0.0; p * p];
                (skeleton(worker, &options, &mut p_max, &mut Unobserved).unwrap(), p_max)
            };
            let (wanted, p_max) = search(&mut worker(LevelOne::Masks));
            assert!(wanted.tests.len() == 3 && wanted.graph.edge_count() > 0, "{:?}", wanted.tests);
            for level_one in [LevelOne::Masks, LevelOne::Lists] {
                let (found, of_lists) = search(&mut OfLists(worker(level_one)));
                assert_eq!((&found.graph, &found.tests, &of_lists), (&wanted.graph, &wanted.tests, &p_max));
                for (x, y) in (0..p).flat_map(|x| (0..p).map(move |y| (x, y))) {
                    assert_eq!(found.sepsets.get(x, y), wanted.sepsets.get(x, y));
                }
            }
        }
    }
}
