//! "stable" and "stable.fast" on a worker: every pair of a level is decided on the graph as the level found it.

use super::lanes::Lanes;
use super::ledger::Ledger;
use super::level::{count_sets, CandidateOrder, Neighbours, PairSide};
use super::levels::LevelReport;
use super::order::Order;
use super::progress::LevelProgress;
use super::shards::Work;
use super::worker::Worker;
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::Result;

/// Rows and other vertices of second sides that are taken together.
const TILE_ROWS: usize = 32;
const TILE_OTHERS: u32 = 32;

/// Sides of "stable.fast"'s own order that are laid out at once.
const WAVE_SIDES: usize = 1 << 16;

/// The order, on a worker.
pub(super) struct Stable<'w> {
    pub worker: &'w mut dyn Worker,
}

impl Stable<'_> {
    /// Second sides of "stable.fast", whose order of candidates is the pair's own.
    fn second_sides(
        &mut self,
        ledger: &mut Ledger,
        neighbours: &Neighbours,
        mut pairs: Vec<[u32; 2]>,
        size: usize,
        report: &mut LevelReport,
        progress: &mut LevelProgress,
    ) -> Result<()> {
        // Of single variables, rows are taken together, so that what is read of the others is used by all of them while it is in the
        // cache. No tile has more sides than a wave.
        let rows = if size == 1 { (WAVE_SIDES / ledger.options.p).clamp(1, TILE_ROWS) as u32 } else { 1 };
        let tile = |y: u32| y / rows;
        pairs.sort_unstable_by_key(|&[x, y]| (tile(y), if rows == 1 { 0 } else { x / TILE_OTHERS }, y, x));
        let mut sides = Vec::new();
        for &[x, y] in &pairs {
            let common = neighbours.common(x as usize, y as usize);
            let (row, other) = (y as usize, x as usize);
            let all = count_sets(other, row, neighbours.degree(row) - 1, size)?;
            let count = all - count_sets(other, row, common, size)?;
            if count > 0 {
                let place = neighbours.place(row, other);
                let side = PairSide { row: y, other: x, place, order: CandidateOrder::CommonLast, count };
                memory::push(&mut sides, side, Use::Level)?;
            }
        }
        let mut rest = &sides[..];
        while !rest.is_empty() {
            // Whole tiles, so that of tests without an answer the first row's is met first.
            let ends = |&at: &usize| at == rest.len() || tile(rest[at].row) != tile(rest[at - 1].row);
            let most = rest.len().min(WAVE_SIDES);
            let (wave, behind) = rest.split_at((1..=most).rev().find(ends).unwrap_or(most));
            rest = behind;
            memory::room(Work::bytes(wave.len()), Use::Level)?;
            let work = Work::of_sides(size, neighbours, wave.to_vec(), ledger.options, self.worker.shard_tests())?;
            ledger.decide(self.worker, &work, report, &mut Vec::new(), progress)?;
        }
        Ok(())
    }
}

impl Order for Stable<'_> {
    fn marginal(&mut self, ledger: &mut Ledger, observer: &mut dyn Observer) -> Result<LevelReport> {
        let tests = ledger.tested.edge_count() as u64;
        let (start, left) = ledger.marginal(self.worker, observer)?;
        let Ledger { graph, tested, .. } = &*ledger;
        let mut report = LevelReport { tests, exact_tests: 0, go_on: true };
        if ledger.fast() {
            ledger.insert_fixed();
        } else {
            // pcalg tests each pair from the smaller vertex, then, if it is still adjacent, from the larger.
            report.tests += left;
            report.go_on = (0..start.p()).filter(|&x| start.degree(x) > 1).any(|x| {
                let visited_first = tested.neighbours(x).any(|y| y as usize > x);
                visited_first || graph.neighbours(x).any(|y| (y as usize) < x && tested.has(x, y as usize))
            });
        }
        Ok(report)
    }

    fn conditional(&mut self, ledger: &mut Ledger, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let Ledger { options, ref graph, .. } = *ledger;
        let (p, fast) = (options.p, ledger.fast());
        // Neighbourhoods as bits and as lists; by pair its place and, where it is to be seen from its other side, itself.
        memory::room(3 * Adjacency::bytes(p) + 20 * graph.edge_count() + 64 * p, Use::Level)?;
        let tested = options.testable(graph);
        let neighbours = Neighbours::of(graph.clone());
        let mut progress = LevelProgress::new(observer, size, graph, &tested);
        let mut report = LevelReport { go_on: fast, ..LevelReport::default() };
        let candidates = |x: usize| neighbours.degree(x).saturating_sub(1);

        let lanes = match options.fixed_edges {
            None => Lanes::of_first(&neighbours, size),
            Some(_) => Lanes::of_first_in(&neighbours, size, &tested),
        };
        let mut survivors: Vec<[u32; 2]> = Vec::new();
        for x in (0..p).filter(|&x| candidates(x) < size) {
            for y in tested.neighbours(x).filter(|&y| y as usize > x) {
                memory::push(&mut survivors, [x as u32, y], Use::Level)?;
            }
        }
        report.go_on |= (0..p).any(|x| candidates(x) > size && lanes.any(x));
        let (shard_tests, threads) = (self.worker.shard_tests(), self.worker.pool().threads());
        let work = Work::of_lanes(size, &neighbours, lanes, options, shard_tests, threads)?;
        ledger.decide(self.worker, &work, &mut report, &mut survivors, &mut progress)?;

        survivors.retain(|&[_, y]| candidates(y as usize) >= size);
        report.go_on |= survivors.iter().any(|&[_, y]| candidates(y as usize) > size);
        if fast {
            self.second_sides(ledger, &neighbours, survivors, size, &mut report, &mut progress)?;
        } else {
            memory::room(4 * survivors.len() + 64 * p, Use::Level)?;
            let lanes = Lanes::of_second(&neighbours, &survivors);
            drop(survivors);
            let work = Work::of_lanes(size, &neighbours, lanes, options, shard_tests, threads)?;
            ledger.decide(self.worker, &work, &mut report, &mut Vec::new(), &mut progress)?;
        }
        progress.finish()?;
        Ok(report)
    }

    fn finish(self, ledger: Ledger, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        ledger.complete(self.worker, observer)
    }
}
