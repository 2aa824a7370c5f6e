//! The skeleton phase with one question at a time, in the very order in which pcalg asks: for tests that only the
//! caller can run, such as an R function, which may have side effects or draw random numbers.

use super::level::{CandidateOrder, Neighbours, PairSide};
use super::levels::max_order_of_fast;
use super::merge::Answer;
use super::progress::SetCounts;
use super::{Method, Observer, Options, Skeleton};
use crate::ci::CiTest;
use crate::graph::{subsets, Adjacency};
use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::Result;

/// Runs the skeleton phase; arguments as [`super::levels::skeleton`] with a test in place of an engine.
pub fn skeleton(
    test: &mut dyn CiTest,
    options: &Options,
    p_max: &mut [f64],
    observer: &mut dyn Observer,
) -> Result<Skeleton> {
    options.check(p_max)?;
    options.room_to_start()?;
    let answer = Answer::new(options, options.start(), p_max);
    let mut run = Run { test, options, observer, answer, level: 0, done: 0.0, total: 0.0 };
    let max_order = match options.method {
        Method::StableFast => run.by_pair()?,
        Method::Stable | Method::Original => run.by_row()?,
    };
    run.answer.finish(options, max_order, &Pool::none())
}

struct Run<'a, 'b> {
    test: &'a mut dyn CiTest,
    options: &'a Options,
    observer: &'a mut dyn Observer,
    answer: Answer<'b>,
    /// For the observer: the level, the tests of it that are done or need not be done, and all.
    level: usize,
    done: f64,
    total: f64,
}

/// Outcome of the sets of one side.
struct Visit {
    tests: u64,
    separator: Option<Vec<u32>>,
}

impl Run<'_, '_> {
    fn ask(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        let p = self.test.p_value(x, y, s)?;
        memory::check()?;
        self.observer.tested(x, y, s, p)?;
        self.done += 1.0;
        self.observer.progress(self.level, self.done.min(self.total * (1.0 - 1e-9)), self.total)?;
        Ok(p)
    }

    /// A level begins.
    fn begin(&mut self, level: usize) -> Result<()> {
        // Frozen neighbourhoods, as bits and as lists.
        let graph = &self.answer.graph;
        memory::room(3 * Adjacency::bytes(graph.p()) + 8 * graph.edge_count() + 8 * graph.p(), Use::Level)?;
        self.observer.level(level, self.answer.graph.edge_count())?;
        let graph = &self.answer.graph;
        let mut sets = SetCounts::new(level);
        let tested = self.options.testable(graph);
        let one_side = if self.options.method == Method::StableFast && level == 0 { 0.5 } else { 1.0 };
        self.level = level;
        self.done = 0.0;
        self.total =
            one_side * (0..graph.p()).map(|x| tested.degree(x) as f64 * sets.of_row(graph.degree(x))).sum::<f64>();
        Ok(())
    }

    /// A side is settled: what was not asked of it counts as done.
    fn settle(&mut self, before: f64, candidates: usize) {
        let all = subsets::binomial(candidates, self.level).map_or(f64::MAX, |count| count as f64);
        self.done = before + all;
    }

    fn end(&mut self) -> Result<()> {
        self.observer.progress(self.level, self.total, self.total)
    }

    /// Asks (x, y | S) for the subsets of the candidates whose first member stands before `first_below`.
    fn visit(&mut self, x: usize, y: usize, candidates: &[u32], size: usize, first_below: usize) -> Result<Visit> {
        let mut positions: Vec<u32> = (0..size as u32).collect();
        let mut set = vec![0; size];
        let mut tests = 0;
        loop {
            for (member, &at) in set.iter_mut().zip(&positions) {
                *member = candidates[at as usize];
            }
            let p = self.ask(x, y, &set)?;
            let p = self.options.read(p);
            tests += 1;
            self.answer.raise(x, y, p);
            if p >= self.options.alpha {
                return Ok(Visit { tests, separator: Some(set) });
            }
            let more = subsets::advance(candidates.len(), &mut positions);
            if !more || positions.first().is_some_and(|&first| first as usize >= first_below) {
                return Ok(Visit { tests, separator: None });
            }
        }
    }

    /// "stable" and "original": every ordered pair, by row.
    fn by_row(&mut self) -> Result<i32> {
        self.answer.tests.push(0);
        let mut size = 0;
        let mut done = false;
        while !done && self.answer.graph.edge_count() > 0 && self.options.allows(size) {
            done = true;
            let frozen = self.answer.graph.clone();
            self.begin(size)?;
            let (mut tests, mut visit, visits) = (0, 0, 2 * frozen.edge_count());
            for x in 0..self.options.p {
                for y in frozen.neighbours(x) {
                    let y = y as usize;
                    visit += 1;
                    self.observer.visiting(visit, visits)?;
                    if self.options.is_fixed(x, y) {
                        continue;
                    }
                    let before = self.done;
                    if !self.answer.graph.has(x, y) {
                        self.settle(before, frozen.degree(x) - 1);
                        continue;
                    }
                    let from: &Adjacency =
                        if self.options.method == Method::Stable { &frozen } else { &self.answer.graph };
                    let candidates: Vec<u32> = from.neighbours(x).filter(|&v| v as usize != y).collect();
                    if candidates.len() < size {
                        continue;
                    }
                    done &= candidates.len() == size;
                    let visit = self.visit(x, y, &candidates, size, usize::MAX)?;
                    self.settle(before, frozen.degree(x) - 1);
                    tests += visit.tests;
                    if let Some(set) = visit.separator {
                        self.answer.graph.remove(x, y);
                        self.answer.sepsets.insert(x, y, &set);
                    }
                }
            }
            self.end()?;
            self.answer.tests.truncate(size);
            self.answer.tests.push(tests);
            size += 1;
        }
        Ok(size as i32 - 1)
    }

    /// "stable.fast": every pair once, its second side without the sets of common neighbours.
    fn by_pair(&mut self) -> Result<i32> {
        let p = self.options.p;
        self.begin(0)?;
        let mut tests = 0;
        for x in 0..p {
            for y in x + 1..p {
                if self.options.is_fixed(x, y) {
                    self.answer.graph.insert(x, y);
                } else if self.answer.graph.has(x, y) {
                    let value = self.ask(x, y, &[])?;
                    tests += 1;
                    // As the C++ does: a NaN removes the edge whatever NAdelete says.
                    *self.answer.cell(x, y) = value;
                    if value >= self.options.alpha {
                        self.answer.sepsets.insert_empty(x, y);
                    }
                    if !(value < self.options.alpha) {
                        self.answer.graph.remove(x, y);
                    }
                }
            }
        }
        self.end()?;
        self.answer.tests.push(tests);
        let mut size = 1;
        while self.options.allows(size) {
            self.begin(size)?;
            let neighbours = Neighbours::of(self.answer.graph.clone());
            let mut found = false;
            let mut tests = 0;
            for x in 0..p {
                for &y in neighbours.list(x).iter().filter(|&&y| y as usize > x) {
                    let y = y as usize;
                    let (dx, dy) = (neighbours.degree(x), neighbours.degree(y));
                    if dx.max(dy) <= size || self.options.is_fixed(x, y) {
                        continue;
                    }
                    found = true;
                    let mut removed = None;
                    let before = self.done;
                    if dx > size {
                        let mut candidates = Vec::new();
                        side(x, y, CandidateOrder::Ascending).candidates(&neighbours, &mut candidates);
                        let visit = self.visit(x, y, &candidates, size, usize::MAX)?;
                        tests += visit.tests;
                        removed = visit.separator;
                    }
                    let own = dy - 1 - neighbours.common(x, y);
                    if removed.is_none() && dy > size && own > 0 {
                        let mut candidates = Vec::new();
                        side(y, x, CandidateOrder::CommonLast).candidates(&neighbours, &mut candidates);
                        let visit = self.visit(y, x, &candidates, size, own)?;
                        tests += visit.tests;
                        removed = visit.separator;
                    }
                    self.settle(before, dx - 1);
                    self.settle(self.done, dy - 1);
                    if let Some(set) = removed {
                        self.answer.graph.remove(x, y);
                        self.answer.sepsets.insert(y, x, &set);
                    }
                }
            }
            self.end()?;
            if !found {
                break;
            }
            self.answer.tests.push(tests);
            size += 1;
        }
        Ok(max_order_of_fast(self.answer.tests.len() as i32))
    }
}

fn side(row: usize, other: usize, order: CandidateOrder) -> PairSide {
    PairSide { row: row as u32, other: other as u32, place: 0, order, count: 0 }
}
