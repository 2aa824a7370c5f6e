//! One question at a time, in the very order in which pcalg asks: for tests that only the caller can run, such as an R function,
//! which may have side effects or draw random numbers.

use super::ledger::Ledger;
use super::level::{CandidateOrder, Neighbours, PairSide};
use super::levels::LevelReport;
use super::order::Order;
use super::progress::SetCounts;
use super::Method;
use crate::ci::CiTest;
use crate::graph::{subsets, Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::Result;

/// The order, by a test.
pub(super) struct OneByOne<'t> {
    pub test: &'t mut dyn CiTest,
}

/// A level under way, and what the observer is told of it.
struct Visits<'a> {
    observer: &'a mut dyn Observer,
    level: usize,
    /// Tests that are done or need not be done, and all.
    done: f64,
    total: f64,
    report: LevelReport,
}

impl Visits<'_> {
    /// A side is settled: what was not asked of it counts as done.
    fn settle(&mut self, before: f64, candidates: usize) {
        let all = subsets::binomial(candidates, self.level).map_or(f64::MAX, |count| count as f64);
        self.done = before + all;
    }

    fn end(self) -> Result<LevelReport> {
        self.observer.progress(self.level, self.total, self.total)?;
        Ok(self.report)
    }
}

impl OneByOne<'_> {
    /// A level begins.
    fn begin<'a>(ledger: &Ledger, level: usize, observer: &'a mut dyn Observer) -> Result<Visits<'a>> {
        // Frozen neighbourhoods, as bits and as lists.
        let graph = &ledger.graph;
        memory::room(3 * Adjacency::bytes(graph.p()) + 8 * graph.edge_count() + 8 * graph.p(), Use::Level)?;
        let mut sets = SetCounts::new(level);
        let tested = ledger.options.testable(graph);
        let one_side = if ledger.fast() && level == 0 { 0.5 } else { 1.0 };
        let total =
            one_side * (0..graph.p()).map(|x| tested.degree(x) as f64 * sets.of_row(graph.degree(x))).sum::<f64>();
        Ok(Visits { observer, level, done: 0.0, total, report: LevelReport::default() })
    }

    fn ask(&mut self, visits: &mut Visits, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        let p = self.test.p_value(x, y, s)?;
        memory::check()?;
        visits.observer.tested(x, y, s, p)?;
        visits.report.tests += 1;
        visits.done += 1.0;
        let done = visits.done.min(visits.total * (1.0 - 1e-9));
        visits.observer.progress(visits.level, done, visits.total)?;
        Ok(p)
    }

    /// Asks (x, y | S) for the subsets of the candidates whose first member stands before `first_below`, until one separates:
    /// whether one does.
    fn visit(
        &mut self,
        ledger: &mut Ledger,
        visits: &mut Visits,
        x: usize,
        y: usize,
        candidates: &[u32],
        first_below: usize,
    ) -> Result<bool> {
        let mut positions: Vec<u32> = (0..visits.level as u32).collect();
        let mut set = vec![0; visits.level];
        loop {
            for (member, &at) in set.iter_mut().zip(&positions) {
                *member = candidates[at as usize];
            }
            let p = self.ask(visits, x, y, &set)?;
            let p = ledger.options.read(p);
            ledger.raise(x, y, p);
            if p >= ledger.options.alpha {
                ledger.separate(x, y, &set);
                return Ok(true);
            }
            let more = subsets::advance(candidates.len(), &mut positions);
            if !more || positions.first().is_some_and(|&first| first as usize >= first_below) {
                return Ok(false);
            }
        }
    }

    /// "stable" and "original": every ordered pair, by row.
    fn by_row(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let mut visits = Self::begin(ledger, size, observer)?;
        let options = ledger.options;
        let frozen = ledger.graph.clone();
        let (mut number, all) = (0, 2 * frozen.edge_count());
        for x in 0..options.p {
            for y in frozen.neighbours(x) {
                let y = y as usize;
                number += 1;
                visits.observer.visiting(number, all)?;
                if options.is_fixed(x, y) {
                    continue;
                }
                let before = visits.done;
                if !ledger.graph.has(x, y) {
                    visits.settle(before, frozen.degree(x) - 1);
                    continue;
                }
                let from = if options.method == Method::Stable { &frozen } else { &ledger.graph };
                let candidates: Vec<u32> = from.neighbours(x).filter(|&v| v as usize != y).collect();
                if candidates.len() < size {
                    continue;
                }
                visits.report.go_on |= candidates.len() > size;
                self.visit(ledger, &mut visits, x, y, &candidates, usize::MAX)?;
                visits.settle(before, frozen.degree(x) - 1);
            }
        }
        visits.end()
    }

    /// "stable.fast" at level 0: every pair once.
    fn marginal_by_pair(&mut self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<LevelReport> {
        let mut visits = Self::begin(ledger, 0, observer)?;
        for x in 0..ledger.options.p {
            for y in x + 1..ledger.options.p {
                if ledger.tested.has(x, y) {
                    let p = self.ask(&mut visits, x, y, &[])?;
                    ledger.settle_marginal(x, y, p);
                }
            }
        }
        ledger.insert_fixed();
        visits.end()
    }

    /// "stable.fast" at later levels: every pair once, its second side without the sets of common neighbours.
    fn by_pair(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let mut visits = Self::begin(ledger, size, observer)?;
        let neighbours = Neighbours::of(ledger.graph.clone());
        let mut candidates = Vec::new();
        for x in 0..ledger.options.p {
            for &y in neighbours.list(x).iter().filter(|&&y| y as usize > x) {
                let y = y as usize;
                let (dx, dy) = (neighbours.degree(x), neighbours.degree(y));
                if dx.max(dy) <= size || ledger.options.is_fixed(x, y) {
                    continue;
                }
                let before = visits.done;
                let mut separated = false;
                if dx > size {
                    side(x, y, CandidateOrder::Ascending).candidates(&neighbours, &mut candidates);
                    separated = self.visit(ledger, &mut visits, x, y, &candidates, usize::MAX)?;
                }
                let own = dy - 1 - neighbours.common(x, y);
                if !separated && dy > size && own > 0 {
                    side(y, x, CandidateOrder::CommonLast).candidates(&neighbours, &mut candidates);
                    self.visit(ledger, &mut visits, y, x, &candidates, own)?;
                }
                visits.settle(before, dx - 1);
                let before = visits.done;
                visits.settle(before, dy - 1);
            }
        }
        visits.end()
    }
}

impl Order for OneByOne<'_> {
    fn numbers_sets(&self) -> bool {
        false
    }

    fn marginal(&mut self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<LevelReport> {
        ledger.fill();
        if ledger.fast() {
            self.marginal_by_pair(ledger, observer)
        } else {
            self.by_row(ledger, 0, observer)
        }
    }

    fn conditional(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        if ledger.fast() {
            self.by_pair(ledger, size, observer)
        } else {
            self.by_row(ledger, size, observer)
        }
    }

    fn finish(self, ledger: Ledger, _observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        ledger.finish(&Pool::none())
    }
}

fn side(row: usize, other: usize, order: CandidateOrder) -> PairSide {
    PairSide { row: row as u32, other: other as u32, place: 0, order, count: 0 }
}
