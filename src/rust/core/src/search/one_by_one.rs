//! One question at a time, in pcalg's exact order. This is for tests that only the caller can run, such as an R function, which may have
//! side effects or draw random numbers.

use std::cmp::Ordering;

use super::checkpoint::{Part, Within, OVER};
use super::ledger::Ledger;
use super::level::{CandidateOrder, Neighbours, PairSide};
use super::levels::LevelReport;
use super::order::Order;
use super::progress::most_tests;
use super::Method;
use crate::ci::{Batch, CiTest};
use crate::graph::{subsets, Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::Result;

/// The order of visiting, for one test.
pub(super) struct OneByOne<'t> {
    test: &'t mut dyn CiTest,
    /// How far the level has come, and its counts so far, in case it ends early.
    place: Place,
    report: LevelReport,
}

/// How far the visits of a level have come: the number of the current visit, and how many of its sets were asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    number: u64,
    rank: u64,
}

/// A running level, and its reports to the observer.
struct Visits<'a> {
    observer: &'a mut dyn Observer,
    level: usize,
    /// Number of tests that are done or need not run, and number of all tests.
    done: f64,
    total: f64,
    /// The place that an earlier call had reached.
    from: Place,
}

impl Visits<'_> {
    /// Settles a side: sets that were not asked count as done.
    fn settle(&mut self, before: f64, candidates: usize) {
        let all = subsets::binomial(candidates, self.level).map_or(f64::MAX, |count| count as f64);
        self.done = before + all;
    }

    fn end(self) -> Result<()> {
        self.observer.progress(self.level, self.total, self.total)
    }
}

impl<'t> OneByOne<'t> {
    /// Makes the order for this test.
    pub fn new(test: &'t mut dyn CiTest) -> Self {
        OneByOne { test, place: Place::default(), report: LevelReport::default() }
    }

    /// Begins a level.
    fn begin<'a>(&mut self, ledger: &mut Ledger, level: usize, observer: &'a mut dyn Observer) -> Result<Visits<'a>> {
        let mut from = Place::default();
        (self.place, self.report) = (from, LevelReport::default());
        if let Some(Within { part: Part::Visits { number, rank }, report, .. }) = ledger.resumed() {
            from = Place { number, rank };
            self.report = report;
        }
        // Frozen neighbourhoods, as bits and as lists.
        let graph = ledger.start();
        memory::room(3 * Adjacency::bytes(graph.p()) + 8 * graph.edge_count() + 8 * graph.p(), Use::Level)?;
        let tested = ledger.options.testable(graph);
        let one_side = if ledger.fast() && level == 0 { 0.5 } else { 1.0 };
        let total = one_side * most_tests(ledger.options, level, graph, &tested);
        Ok(Visits { observer, level, done: 0.0, total, from })
    }

    /// Moves to the next visit. Returns how many of its sets an earlier call had asked, or `None` if that call had finished the visit.
    fn next_visit(&mut self, visits: &Visits) -> Option<u64> {
        self.place = Place { number: self.place.number + 1, rank: 0 };
        match self.place.number.cmp(&visits.from.number) {
            Ordering::Less => return None,
            Ordering::Equal => self.place.rank = visits.from.rank,
            Ordering::Greater => {}
        }
        Some(self.place.rank).filter(|&rank| rank != OVER)
    }

    /// Notes that a set was asked or that the visit is over, and saves the state if that is due.
    fn passed(&mut self, ledger: &mut Ledger, visits: &mut Visits, rank: u64) -> Result<()> {
        self.place.rank = rank;
        if visits.observer.is_due(false) {
            self.keep(ledger, visits.observer)?;
        }
        Ok(())
    }

    fn keep(&self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<()> {
        let Place { number, rank } = self.place;
        ledger.keep(Some((&self.report, &Part::Visits { number, rank })), observer)
    }

    /// Runs a level. If it ends early, saves everything that was asked, if that is due.
    fn run(
        &mut self,
        ledger: &mut Ledger,
        size: usize,
        observer: &mut dyn Observer,
        level: fn(&mut Self, &mut Ledger, usize, &mut dyn Observer) -> Result<()>,
    ) -> Result<LevelReport> {
        let outcome = level(self, ledger, size, observer);
        if outcome.is_err() && self.place != Place::default() && observer.is_due(true) {
            self.keep(ledger, observer)?;
        }
        outcome.map(|()| self.report)
    }

    fn ask(&mut self, visits: &mut Visits, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        let p = self.test.p_value(x, y, s)?;
        memory::check()?;
        visits.observer.tested(x, y, s, p)?;
        visits.done += 1.0;
        Ok(p)
    }

    /// Counts a test whose outcome has been entered. The observer may then end the search.
    fn count(&mut self, ledger: &mut Ledger, visits: &mut Visits, rank: u64) -> Result<()> {
        self.report.tests += 1;
        self.passed(ledger, visits, rank)?;
        let done = visits.done.min(visits.total * (1.0 - 1e-9));
        visits.observer.progress(visits.level, done, visits.total)
    }

    /// Asks (x, y | S) for the subsets of the candidates whose first member stands before `first_below`, until one separates. Returns
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
        if self.place.rank > 0 {
            subsets::unrank(candidates.len(), self.place.rank, &mut positions);
        }
        let mut set = vec![0; visits.level];
        loop {
            for (member, &at) in set.iter_mut().zip(&positions) {
                *member = candidates[at as usize];
            }
            let p = self.ask(visits, x, y, &set)?;
            let p = ledger.options.read(p);
            ledger.raise(x, y, p);
            let separates = p >= ledger.options.alpha;
            if separates {
                ledger.separate(x, y, &set);
            }
            let more = subsets::advance(candidates.len(), &mut positions);
            let is_last = !more || positions.first().is_some_and(|&first| first as usize >= first_below);
            let next = if separates || is_last { OVER } else { self.place.rank + 1 };
            self.count(ledger, visits, next)?;
            if next == OVER {
                return Ok(separates);
            }
        }
    }

    /// Visits every ordered pair by row, for "stable" and "original".
    fn by_row(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<()> {
        let mut visits = self.begin(ledger, size, observer)?;
        let options = ledger.options;
        let frozen = if size == 0 { options.start(&Pool::none()) } else { ledger.start().clone() };
        let (mut number, all) = (0, 2 * frozen.edge_count());
        for x in 0..options.p {
            let all_of_row = options.candidate_count(&frozen, x);
            for y in frozen.neighbours(x) {
                let y = y as usize;
                number += 1;
                visits.observer.visiting(number, all)?;
                if options.is_fixed(x, y) {
                    continue;
                }
                let before = visits.done;
                let most = options.without(all_of_row, x, y);
                if self.next_visit(&visits).is_none() || !ledger.graph.has(x, y) {
                    visits.settle(before, most);
                    continue;
                }
                let from = if options.method == Method::Stable { &frozen } else { &ledger.graph };
                let candidates: Vec<u32> = options.tiers.candidates(from, x).filter(|&v| v as usize != y).collect();
                if candidates.len() < size {
                    continue;
                }
                self.report.go_on |= candidates.len() > size;
                self.visit(ledger, &mut visits, x, y, &candidates, usize::MAX)?;
                visits.settle(before, most);
            }
        }
        visits.end()
    }

    /// Visits every pair once, for "stable.fast" at level 0.
    fn marginal_by_pair(&mut self, ledger: &mut Ledger, _size: usize, observer: &mut dyn Observer) -> Result<()> {
        let mut visits = self.begin(ledger, 0, observer)?;
        for x in 0..ledger.options.p {
            for y in x + 1..ledger.options.p {
                if ledger.options.tests(x, y) && self.next_visit(&visits).is_some() {
                    let p = self.ask(&mut visits, x, y, &[])?;
                    ledger.settle_marginal(x, y, p);
                    self.count(ledger, &mut visits, OVER)?;
                }
            }
        }
        ledger.insert_fixed();
        visits.end()
    }

    /// Visits every pair once, for "stable.fast" from level 1 on. Second sides leave out sets that consist of common neighbours.
    fn by_pair(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<()> {
        let mut visits = self.begin(ledger, size, observer)?;
        let neighbours = Neighbours::of(ledger.start().clone());
        let mut candidates = Vec::new();
        for x in 0..ledger.options.p {
            for &y in neighbours.list(x).iter().filter(|&&y| y as usize > x) {
                let y = y as usize;
                let (dx, dy) = (neighbours.degree(x), neighbours.degree(y));
                if dx.max(dy) <= size || ledger.options.is_fixed(x, y) {
                    continue;
                }
                let before = visits.done;
                // If an earlier call has settled the pair, the graph shows how.
                let mut separated = false;
                if self.next_visit(&visits).is_none() {
                    separated = !ledger.graph.has(x, y);
                } else if dx > size {
                    side(x, y, CandidateOrder::Ascending).candidates(&neighbours, &mut candidates);
                    separated = self.visit(ledger, &mut visits, x, y, &candidates, usize::MAX)?;
                }
                let own = dy - 1 - neighbours.common(x, y);
                if self.next_visit(&visits).is_some() && !separated && dy > size && own > 0 {
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
    fn goes_on_from(&self, _size: usize, part: &Part) -> bool {
        matches!(part, Part::Visits { .. })
    }

    fn numbers_sets(&self) -> bool {
        false
    }

    fn marginal(&mut self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<LevelReport> {
        ledger.fill_exactly();
        let level = if ledger.fast() { Self::marginal_by_pair } else { Self::by_row };
        self.run(ledger, 0, observer, level)
    }

    fn conditional(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let level = if ledger.fast() { Self::by_pair } else { Self::by_row };
        self.run(ledger, size, observer, level)
    }

    fn finish(self, ledger: Ledger, _observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        // A worker may have run level 0, and have left out p-values.
        let mut ask = |batch: &Batch| batch.iter().map(|(x, y, s)| self.test.p_value(x, y, s)).collect();
        ledger.complete_by(&Pool::none(), &mut ask)
    }
}

fn side(row: usize, other: usize, order: CandidateOrder) -> PairSide {
    PairSide { row: row as u32, other: other as u32, place: 0, order, count: 0 }
}
