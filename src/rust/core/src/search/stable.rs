//! "stable" and "stable.fast" on a worker: every pair of a level is decided on the graph as the level found it.

use super::driver::{LevelReport, Levels, Widest};
use super::ledger::Ledger;
use super::level::{count_sets, CandidateOrder, Neighbours, PairSide};
use super::progress::LevelProgress;
use super::shards::{Lanes, Work};
use super::worker::Worker;
use super::Options;
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::Result;

/// Sides of "stable.fast"'s own order that are laid out at once.
const WAVE_SIDES: usize = 1 << 16;

/// A search on a worker.
pub(super) struct Stable<'s, 'w> {
    worker: &'s mut (dyn Worker + 'w),
    ledger: Ledger<'s>,
}

impl<'s, 'w> Stable<'s, 'w> {
    pub fn new(worker: &'s mut (dyn Worker + 'w), options: &'s Options, p_max: &'s mut [f64]) -> Self {
        Stable { worker, ledger: Ledger::new(options, p_max) }
    }

    /// Decides the pairs of lanes.
    fn rows(
        &mut self,
        neighbours: &Neighbours,
        lanes: Lanes,
        size: usize,
        report: &mut LevelReport,
        survivors: &mut Vec<[u32; 2]>,
        progress: &mut LevelProgress,
    ) -> Result<()> {
        let (shard_tests, threads) = (self.worker.shard_tests(), self.worker.pool().threads());
        let work = Work::of_lanes(size, neighbours, lanes, self.ledger.options, shard_tests, threads)?;
        self.ledger.decide(self.worker, &work, report, survivors, progress)
    }

    /// Second sides of "stable.fast", whose order of candidates is the pair's own.
    fn second_sides(
        &mut self,
        neighbours: &Neighbours,
        mut pairs: Vec<[u32; 2]>,
        size: usize,
        report: &mut LevelReport,
        progress: &mut LevelProgress,
    ) -> Result<()> {
        pairs.sort_unstable_by_key(|&[x, y]| (y, x));
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
        for wave in sides.chunks(WAVE_SIDES) {
            memory::room(Work::bytes(wave.len()), Use::Level)?;
            let work = Work::of_sides(size, neighbours, wave.to_vec(), self.ledger.options, self.worker.shard_tests())?;
            self.ledger.decide(self.worker, &work, report, &mut Vec::new(), progress)?;
        }
        Ok(())
    }
}

impl Levels for Stable<'_, '_> {
    fn edge_count(&self) -> usize {
        self.ledger.graph.edge_count()
    }

    fn widest(&self) -> Option<Widest> {
        self.ledger.widest()
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        let tests = self.ledger.tested.edge_count() as u64;
        let start = self.ledger.graph.clone();
        let left = self.ledger.marginal(self.worker, observer)?;
        let Ledger { graph, tested, .. } = &self.ledger;
        let mut report = LevelReport { tests, exact_tests: 0, go_on: true };
        if self.ledger.fast() {
            self.ledger.insert_fixed();
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

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let Ledger { options, ref graph, .. } = self.ledger;
        let (p, fast) = (options.p, self.ledger.fast());
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
        self.rows(&neighbours, lanes, size, &mut report, &mut survivors, &mut progress)?;

        survivors.retain(|&[_, y]| candidates(y as usize) >= size);
        report.go_on |= survivors.iter().any(|&[_, y]| candidates(y as usize) > size);
        if fast {
            self.second_sides(&neighbours, survivors, size, &mut report, &mut progress)?;
        } else {
            memory::room(4 * survivors.len() + 64 * p, Use::Level)?;
            let lanes = Lanes::of_second(&neighbours, &survivors);
            drop(survivors);
            self.rows(&neighbours, lanes, size, &mut report, &mut Vec::new(), &mut progress)?;
        }
        progress.finish()?;
        Ok(report)
    }

    fn finish(self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        let Stable { worker, mut ledger } = *self;
        ledger.complete(worker, observer)?;
        ledger.finish(worker.pool())
    }
}
