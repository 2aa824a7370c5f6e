//! The PC algorithm as first published: a removal takes effect at once, so later visits choose from fewer neighbours.
//!
//! The order of visits is part of the answer, yet visits can be run ahead of time. A window of them is decided on the current
//! neighbourhoods; then the verdicts are entered in order. Suppose that the row of a visit has lost the neighbours R in the meantime. The
//! sets still to be visited are those of the window that do not meet R, in the same order. So the first set that separates stays the first
//! if it does not meet R; only its rank shrinks. If no set separated, none does now. The largest p stays if its set does not meet R.
//! Otherwise, which is rare, the side is run again.

use std::time::{Duration, Instant};

use super::book::Book;
use super::checkpoint::{Part, Within, OVER};
use super::ledger::Ledger;
use super::level::{count_sets, CandidateOrder, Neighbours, PairSide, Verdict};
use super::levels::LevelReport;
use super::order::Order;
use super::progress::LevelProgress;
use super::shards::Work;
use super::worker::Worker;
use super::Options;
use crate::graph::{subsets, Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::{Error, Result};

/// About how many tests one window decides ahead of time.
const WINDOW_TESTS: u64 = 1 << 20;

/// About how many tests the first window decides, if the search is saved between windows. If a window takes less than `WINDOW_TIME`, the
/// next one is larger.
const FIRST_WINDOW_TESTS: u64 = 1 << 10;
const WINDOW_TIME: Duration = Duration::from_secs(1);

/// The order of visiting, on a worker.
pub(super) struct Original<'w> {
    pub worker: &'w mut dyn Worker,
}

/// How far the visits of a level have come.
struct Visited {
    /// The first visit that is not settled.
    next: usize,
    report: LevelReport,
}

impl Original<'_> {
    /// Lists the visits of a level: every edge from both ends, by row.
    fn visits(ledger: &Ledger) -> Result<Vec<(u32, u32)>> {
        let (options, graph) = (ledger.options, ledger.start());
        let edges = graph.edge_count();
        // The pairs that are tested, and the list of visits.
        memory::room(2 * Adjacency::bytes(options.p) + 2 * size_of::<(u32, u32)>() * edges, Use::Level)?;
        let visits = (0..options.p)
            .flat_map(|x| graph.neighbours(x).map(move |y| (x as u32, y)))
            .filter(|&(x, y)| !options.is_fixed(x as usize, y as usize));
        let mut list = memory::space(2 * edges, Use::Level)?;
        list.extend(visits);
        Ok(list)
    }

    /// Returns the verdicts on the sides of `work`, and the number of exact tests.
    fn decide(&mut self, work: &Work, progress: &mut LevelProgress) -> Result<(Vec<Verdict>, u64)> {
        let book = Book::of_verdicts(work);
        self.worker.answer(work, &book, progress)?;
        let verdicts = book.verdicts();
        memory::check()?;
        Ok(verdicts)
    }

    /// Returns the verdict that holds on the current neighbourhood, with its set and the number of tests that pcalg performs.
    fn settle(
        &mut self,
        ledger: &Ledger,
        progress: &mut LevelProgress,
        neighbours: &Neighbours,
        size: usize,
        side: &PairSide,
        verdict: Verdict,
    ) -> Result<(Verdict, Vec<u32>, u64)> {
        let (x, y) = (side.row as usize, side.other as usize);
        let now: Vec<u32> = ledger.options.tiers.candidates(&ledger.graph, x).filter(|&v| v != side.other).collect();
        let mut verdict = verdict;
        let mut set = side.set(neighbours, size, verdict.rank());
        if set.iter().any(|v| now.binary_search(v).is_err()) {
            let fresh = Neighbours::of_rows(&ledger.options.tiers, &ledger.graph, [x]);
            let now_side =
                PairSide { place: fresh.place_if_any(x, y), count: count_sets(x, y, now.len(), size)?, ..*side };
            let shard_tests = self.worker.shard_tests();
            let again = Work::of_sides(size, &fresh, vec![now_side], ledger.options, shard_tests, 1)?.reading_largest();
            // The window has counted these tests already.
            verdict = self.decide(&again, progress)?.0[0];
            set = now_side.set(&fresh, size, verdict.rank());
        }
        let count = match verdict {
            Verdict::Dependent { .. } => count_sets(x, y, now.len(), size)?,
            _ => {
                let mut positions = Vec::with_capacity(size);
                for v in &set {
                    positions.push(now.binary_search(v).unwrap_or(usize::MAX) as u32);
                }
                subsets::rank(now.len(), &positions) + 1
            }
        };
        Ok((verdict, set, count))
    }

    /// Returns the next window of visits, from `next` on, with about `tests` tests: the sides to decide, their numbers, and their rows.
    fn window(
        options: &Options,
        graph: &Adjacency,
        visits: &[(u32, u32)],
        next: &mut usize,
        size: usize,
        tests: u64,
    ) -> Result<(Vec<PairSide>, Vec<usize>, Vec<u32>)> {
        let (mut sides, mut numbers, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        let mut cost = 0u64;
        let mut of_row = (u32::MAX, 0);
        while *next < visits.len() && cost < tests {
            let (row, other) = visits[*next];
            *next += 1;
            if !graph.has(row as usize, other as usize) {
                continue;
            }
            if of_row.0 != row {
                of_row = (row, options.candidate_count(graph, row as usize));
                rows.push(row);
            }
            let candidates = options.without(of_row.1, row as usize, other as usize);
            if candidates < size {
                continue;
            }
            let count = count_sets(row as usize, other as usize, candidates, size)?;
            cost = cost.saturating_add(count);
            let side = PairSide { row, other, place: 0, order: CandidateOrder::Ascending, count };
            memory::push(&mut sides, side, Use::Level)?;
            memory::push(&mut numbers, *next - 1, Use::Level)?;
        }
        Ok((sides, numbers, rows))
    }

    /// Makes the remaining visits of a level. If it ends early, `visited` shows how far the ledger has come.
    fn visit_all(
        &mut self,
        ledger: &mut Ledger,
        visits: &[(u32, u32)],
        size: usize,
        visited: &mut Visited,
        progress: &mut LevelProgress,
    ) -> Result<()> {
        let mut tests = if progress.keeps() { FIRST_WINDOW_TESTS } else { WINDOW_TESTS };
        let mut next = visited.next;
        while next < visits.len() {
            let began = Instant::now();
            let (mut sides, numbers, rows) =
                Self::window(ledger.options, &ledger.graph, visits, &mut next, size, tests)?;
            if sides.is_empty() {
                continue;
            }
            // The rows' lists, which grow as they are made, and the window in shards with a verdict for each side.
            let neighbours: usize = rows.iter().map(|&x| ledger.graph.degree(x as usize)).sum();
            memory::room(8 * (ledger.graph.p() + neighbours) + Work::bytes(sides.len()), Use::Level)?;
            let frozen =
                Neighbours::of_rows(&ledger.options.tiers, &ledger.graph, rows.iter().map(|&row| row as usize));
            for side in &mut sides {
                side.place = frozen.place_if_any(side.row as usize, side.other as usize);
            }
            let work =
                Work::of_sides(size, &frozen, sides, ledger.options, self.worker.shard_tests(), self.worker.hands())?
                    .reading_largest();
            let (verdicts, exact_tests) = self.decide(&work, progress)?;
            visited.report.exact_tests += exact_tests;
            progress.add(work.cost());
            for ((side, number), verdict) in work.sides.iter().zip(numbers).zip(verdicts) {
                visited.next = number;
                let (x, y) = (side.row as usize, side.other as usize);
                if !ledger.graph.has(x, y) {
                    continue;
                }
                let candidates = ledger.candidate_count(x, y);
                if candidates < size {
                    continue;
                }
                visited.report.go_on |= candidates > size;
                let (verdict, set, count) = self.settle(ledger, progress, &frozen, size, side, verdict)?;
                visited.report.tests += count;
                memory::check()?;
                match verdict {
                    Verdict::Independent { p, .. } => {
                        ledger.raise(x, y, p);
                        ledger.separate(x, y, &set);
                    }
                    Verdict::Dependent { p, .. } => ledger.raise(x, y, p),
                    Verdict::Undefined { reason, .. } => return Err(Error::Numeric { x, y, s: set, reason }),
                }
            }
            visited.next = next;
            if progress.is_due(false) {
                visited.keep(ledger, progress)?;
            }
            if began.elapsed() < WINDOW_TIME {
                tests = (2 * tests).min(WINDOW_TESTS);
            }
        }
        Ok(())
    }
}

impl Visited {
    fn keep(&self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<()> {
        ledger.keep(Some((&self.report, &Part::Visits { number: self.next as u64, rank: OVER })), observer)
    }
}

impl Order for Original<'_> {
    fn goes_on_from(&self, size: usize, part: &Part) -> bool {
        matches!((size, part), (0, Part::Columns(_)) | (1.., Part::Visits { .. }))
    }

    fn numbers_sets(&self) -> bool {
        // Neighbourhoods shrink, so each window numbers the sets of its own sides.
        false
    }

    fn marginal(&mut self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<LevelReport> {
        let visits = Self::visits(ledger)?;
        let p = ledger.options.p;
        let options = ledger.options;
        let mut candidates: Vec<usize> = (0..p).map(|x| options.candidate_count(&ledger.graph, x)).collect();
        // Level 0 needs no neighbourhoods, but `go_on` does, and they shrink from visit to visit.
        ledger.marginal(self.worker, observer)?;
        let mut report = LevelReport::default();
        for (x, y) in visits {
            let (x, y) = (x as usize, y as usize);
            let is_left = ledger.graph.has(x, y);
            if x > y && !is_left {
                continue;
            }
            report.tests += 1;
            let without = [options.without(candidates[x], x, y), options.without(candidates[y], y, x)];
            report.go_on |= without[0] > 0;
            if !is_left {
                [candidates[x], candidates[y]] = without;
            }
        }
        Ok(report)
    }

    fn conditional(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let mut visited = Visited { next: 0, report: LevelReport::default() };
        if let Some(Within { part: Part::Visits { number, rank }, mut report, .. }) = ledger.resumed() {
            let mut next = number as usize;
            if rank != OVER {
                // A visit that `one_by_one` has not ended is made again, and counts once.
                next = next.saturating_sub(1);
                report.tests = report.tests.saturating_sub(rank);
            }
            visited = Visited { next, report };
        }
        let visits = Self::visits(ledger)?;
        let tested = ledger.options.testable(ledger.start());
        let mut progress = LevelProgress::new(observer, ledger.options, size, ledger.start(), &tested);
        let outcome = self.visit_all(ledger, &visits, size, &mut visited, &mut progress);
        if let Err(Error::Interrupted | Error::TimeLimit { .. }) = outcome {
            if progress.is_due(true) {
                visited.keep(ledger, &mut progress)?;
            }
        }
        outcome?;
        progress.finish()?;
        Ok(visited.report)
    }

    fn finish(self, ledger: Ledger, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        ledger.complete(self.worker, observer)
    }
}
