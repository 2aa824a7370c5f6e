//! PC-stable on threads: the workers decide pairs and enter what they found, the calling thread puts the parts together.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use super::cells::Cells;
use super::kernel::{Kernel, LaneOutcome, RowView, Signal};
use super::tasks::{Lanes, Task, Tasks};
use super::CpuEngine;
use crate::ci::Batch;
use crate::engine::sides::Sides;
use crate::engine::{Engine, LevelReport, Search, SideEngine, Widest};
use crate::graph::{subsets, Adjacency, SepSetLog, SepSets, Separations};
use crate::memory::{self, Use};
use crate::pool::Stop;
use crate::search::level::{count_sets, CandidateOrder, Neighbours, PairSide, Verdict};
use crate::search::progress::LevelProgress;
use crate::search::{Method, Observer, Options};
use crate::{Error, Result};

/// Sides of "stable.fast"'s own order that are laid out at once.
const WAVE_SIDES: usize = 1 << 16;

/// A search on the CPU engine.
pub(super) struct CpuSearch<'s, K> {
    engine: &'s mut CpuEngine<K>,
    options: &'s Options,
    p_max: &'s mut [f64],
    graph: Adjacency,
    /// The pairs tested at level 0.
    tested: Adjacency,
    sepsets: SepSetLog,
    started: bool,
}

impl<'s, K: Kernel> CpuSearch<'s, K> {
    pub fn new(engine: &'s mut CpuEngine<K>, options: &'s Options, p_max: &'s mut [f64]) -> Self {
        let graph = options.start();
        let tested = options.testable(&graph);
        let sepsets = SepSetLog::new(options.p, options.empty_side());
        CpuSearch { engine, options, p_max, graph, tested, sepsets, started: false }
    }

    fn fast(&self) -> bool {
        self.options.method == Method::StableFast
    }
}

impl<K: Kernel> Search for CpuSearch<'_, K> {
    fn edge_count(&self) -> usize {
        self.graph.edge_count()
    }

    fn widest(&self) -> Option<Widest> {
        let tested = self.options.testable(&self.graph);
        let mut widest: Option<Widest> = None;
        for x in 0..self.options.p {
            let degree = self.graph.degree(x);
            if widest.is_none_or(|known| degree > known.degree) {
                if let Some(y) = tested.neighbours(x).next() {
                    widest = Some(Widest { x, y: y as usize, degree });
                }
            }
        }
        widest
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        let Options { p, alpha, .. } = *self.options;
        let fast = self.fast();
        let (mark, options, tested) = (self.options.untested(), self.options, &self.tested);
        // Five graphs of bits, and what hands out the columns.
        memory::room(5 * Adjacency::bytes(p) + 256 * p, Use::Pairs)?;
        // Workers touch the columns first, and leave what they found as bits: there may be millions of pairs.
        let words = p.div_ceil(64);
        let mut separated = vec![0u64; p * words];
        let mut kept = vec![0u64; p * words];
        let columns = self.p_max.chunks_mut(p).zip(separated.chunks_mut(words).zip(kept.chunks_mut(words))).collect();
        self.engine.each_column(columns, observer, |kernel, y, (column, (separated, kept)), signal| {
            column.fill(mark);
            kernel.marginal(y, tested, alpha, column, signal)?;
            for w in 0..=y / 64 {
                let below = if w == y / 64 { (1 << (y % 64)) - 1 } else { !0u64 };
                let pairs = tested.row(y)[w] & below;
                if pairs == 0 {
                    continue;
                }
                for (bit, cell) in column[w * 64..(w * 64 + 64).min(p)].iter_mut().enumerate() {
                    // The C++ tests `pMax >= alpha` and `pMax < alpha` at level 0: a NaN removes the edge, whatever NAdelete
                    // says, and leaves no separating set.
                    let value = if fast { *cell } else { options.read(*cell) };
                    separated[w] |= u64::from(value >= alpha) << bit;
                    kept[w] |= u64::from(value < alpha) << bit;
                    if !fast && cell.is_nan() && pairs >> bit & 1 == 1 {
                        *cell = value;
                    }
                }
                separated[w] &= pairs;
                kept[w] &= pairs;
            }
            Ok(())
        })?;
        self.started = true;
        let tests = self.tested.edge_count() as u64;
        let start = self.graph.clone();
        self.graph = Adjacency::from_lower(p, |y, w| {
            let below = if w == y / 64 { (1 << (y % 64)) - 1 } else { !0u64 };
            // Untested pairs stay as they are.
            (start.row(y)[w] & below & !self.tested.row(y)[w]) | kept[y * words + w]
        });
        self.sepsets.set_empty(Adjacency::from_lower(p, |y, w| separated[y * words + w]));
        let mut report = LevelReport { tests, exact_tests: 0, go_on: true };
        if fast {
            // A fixed edge is there even where a gap was asked for.
            if let Some(fixed) = &self.options.fixed_edges {
                for x in 0..p {
                    for y in fixed.neighbours(x) {
                        self.graph.insert(x, y as usize);
                    }
                }
            }
        } else {
            // pcalg tests each pair from the smaller vertex, then, if it is still adjacent, from the larger.
            report.tests += kept.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            report.go_on = (0..p).filter(|&x| start.degree(x) > 1).any(|x| {
                let visited_first = self.tested.neighbours(x).any(|y| y as usize > x);
                visited_first || self.graph.neighbours(x).any(|y| (y as usize) < x && self.tested.has(x, y as usize))
            });
        }
        Ok(report)
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let fast = self.fast();
        // Neighbourhoods as bits and as lists; by pair its place and, where it is to be seen from its other side, itself.
        let edges = self.graph.edge_count();
        memory::room(3 * Adjacency::bytes(self.options.p) + 20 * edges + 64 * self.options.p, Use::Level)?;
        let tested = self.options.testable(&self.graph);
        let neighbours = Neighbours::of(self.graph.clone());
        let mut progress = LevelProgress::new(observer, size, &self.graph, &tested);
        let mut report = LevelReport { go_on: fast, ..LevelReport::default() };
        let candidates = |x: usize| neighbours.degree(x).saturating_sub(1);

        let lanes = match self.options.fixed_edges {
            None => Lanes::of_first(&neighbours, size),
            Some(_) => Lanes::of_first_in(&neighbours, size, &tested),
        };
        let mut survivors: Vec<[u32; 2]> = Vec::new();
        for x in (0..self.options.p).filter(|&x| candidates(x) < size) {
            for y in tested.neighbours(x).filter(|&y| y as usize > x) {
                memory::push(&mut survivors, [x as u32, y], Use::Level)?;
            }
        }
        report.go_on |= (0..self.options.p).any(|x| candidates(x) > size && lanes.any(x));
        self.rows(&neighbours, &lanes, size, &mut report, &mut survivors, &mut progress)?;

        survivors.retain(|&[_, y]| candidates(y as usize) >= size);
        report.go_on |= survivors.iter().any(|&[_, y]| candidates(y as usize) > size);
        if fast {
            self.second_sides(&neighbours, survivors, size, &mut report, &mut progress)?;
        } else {
            memory::room(4 * survivors.len() + 64 * self.options.p, Use::Level)?;
            let lanes = Lanes::of_second(&neighbours, &survivors);
            self.rows(&neighbours, &lanes, size, &mut report, &mut Vec::new(), &mut progress)?;
        }
        progress.finish()?;
        Ok(report)
    }

    fn finish(self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        let CpuSearch { engine, options, p_max, graph, tested, sepsets, started } = *self;
        if !started {
            p_max.fill(options.untested());
            return Ok((graph, sepsets.finish(&engine.pool)?));
        }
        // The kernel does not compute marginal p-values below alpha, as nearly all pairs have a larger one at a later level.
        let mut batch = Batch::with_space(graph.edge_count(), 0)?;
        for x in 0..options.p {
            for y in graph.neighbours(x).filter(|&y| y as usize > x && tested.has(x, y as usize)) {
                batch.push(x, y as usize, &[]);
            }
        }
        let values = engine.p_values(&batch, observer)?;
        let cells = Cells::new(p_max, options.p);
        for ((x, y, _), p) in batch.iter().zip(values) {
            cells.raise(x, y, p);
        }
        Ok((graph, sepsets.finish(&engine.pool)?))
    }
}

impl<K: Kernel> CpuSearch<'_, K> {
    /// Decides pairs with ascending candidates and enters the verdicts; `survivors` gets the pairs (row, other) that no set
    /// separates.
    fn rows(
        &mut self,
        neighbours: &Neighbours,
        lanes: &Lanes,
        size: usize,
        report: &mut LevelReport,
        survivors: &mut Vec<[u32; 2]>,
        progress: &mut LevelProgress,
    ) -> Result<()> {
        let Options { p, alpha, na_delete, .. } = *self.options;
        let CpuEngine { kernel, pool, shard_tests } = &mut *self.engine;
        let work = Tasks::new(neighbours, lanes, size, *shard_tests, pool.threads())?;
        let total: f64 = work.costs.iter().sum();
        let entering =
            Entering { size, fast: self.options.method == Method::StableFast, cells: Cells::new(self.p_max, p) };
        let view = |row: usize, sets: Range<u64>| RowView {
            row: row as u32,
            places: &[],
            neighbours,
            size,
            sets,
            found: None,
            alpha,
            na_delete,
        };
        let founds: Mutex<Vec<(usize, Found)>> = Mutex::new(Vec::new());
        let pieces: Mutex<Vec<Piece>> = Mutex::new(Vec::new());
        let unlimited = AtomicU64::new(u64::MAX);
        let run = |scratch: &mut K::Scratch, task: usize, stop: &Stop| {
            let signal = Signal::new(stop, &unlimited);
            match &work.tasks[task] {
                Task::Tile { rows, others } => {
                    let mut found = Found::of_size(size);
                    for row in rows.clone() {
                        let (list, places) = (neighbours.list(row), lanes.of(row));
                        let from = places.partition_point(|&place| list[place as usize] < others.start);
                        let to = places.partition_point(|&place| list[place as usize] < others.end);
                        if from == to || signal.stop_requested() {
                            continue;
                        }
                        let places = &places[from..to];
                        let all = subsets::binomial(list.len(), size).unwrap_or(u64::MAX);
                        let own = subsets::binomial(list.len() - 1, size).unwrap_or(u64::MAX);
                        let view = RowView { places, ..view(row, 0..all) };
                        kernel.row(&view, scratch, &signal, &mut |outcome| {
                            let other = list[places[outcome.lane] as usize];
                            entering.enter(row as u32, other, outcome, own, &mut found);
                        });
                    }
                    if let Ok(mut founds) = founds.lock() {
                        founds.push((task, found));
                    }
                }
                Task::Piece { row, lanes: part, sets, found } => {
                    let places = &lanes.of(*row)[part.clone()];
                    let limits = &work.found[*found..*found + part.len()];
                    let view = RowView { places, found: Some(limits), ..view(*row, sets.clone()) };
                    let mut own = Vec::new();
                    kernel.row(&view, scratch, &signal, &mut |outcome| {
                        let LaneOutcome { lane, verdict, set, exact_tests } = *outcome;
                        if let Verdict::Independent { rank, .. } | Verdict::Undefined { rank, .. } = verdict {
                            limits[lane].fetch_min(rank, Ordering::Relaxed);
                        }
                        let lane = part.start + lane;
                        let first_set = sets.start;
                        let piece = Piece { row: *row, lane, first_set, verdict, set: set.to_vec(), exact_tests };
                        memory::push_noted(&mut own, piece, Use::Level);
                    });
                    if let Ok(mut pieces) = pieces.lock() {
                        let len = pieces.len() + own.len();
                        if pieces.capacity() >= len || memory::prepare(&mut pieces, len + len / 2, Use::Level) {
                            pieces.append(&mut own);
                        }
                    }
                }
            }
        };
        pool.run(
            work.tasks.len(),
            total < kernel.inline_tests(),
            |task| work.costs[task],
            &mut |done| progress.progress(size, done, total),
            run,
        )?;
        // By row, which leaves the separating sets in order.
        let mut founds = founds.into_inner().unwrap_or_default();
        founds.sort_unstable_by_key(|&(task, _)| task);
        let mut founds: Vec<Found> = founds.into_iter().map(|(_, found)| found).collect();
        founds.push(merge(pieces.into_inner().unwrap_or_default(), neighbours, lanes, &entering));
        progress.add(total);
        memory::check()?;
        self.enter(founds, report, survivors)
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
        let Options { p, alpha, na_delete, .. } = *self.options;
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
        let mut verdicts = Vec::new();
        let mut set = Vec::new();
        for wave in sides.chunks(WAVE_SIDES) {
            memory::room(Sides::bytes(wave.len()), Use::Level)?;
            let shard_tests = self.engine.shard_tests();
            let work = Sides::new(size, neighbours, wave.to_vec(), alpha, na_delete, shard_tests);
            report.exact_tests += self.engine.decide(&work, &mut verdicts, progress)?;
            progress.add(work.cost());
            let mut found = Found::of_size(size);
            let entering = Entering { size, fast: true, cells: Cells::new(self.p_max, p) };
            for (side, verdict) in wave.iter().zip(&verdicts) {
                let (Verdict::Independent { rank, .. }
                | Verdict::Dependent { rank, .. }
                | Verdict::Undefined { rank, .. }) = *verdict;
                side.set_into(neighbours, size, rank, &mut set);
                let outcome = LaneOutcome { lane: 0, verdict: *verdict, set: &set, exact_tests: 0 };
                entering.enter(side.row, side.other, &outcome, side.count, &mut found);
            }
            memory::check()?;
            self.enter(vec![found], report, &mut Vec::new())?;
        }
        Ok(())
    }

    /// Puts together what threads found.
    fn enter(&mut self, founds: Vec<Found>, report: &mut LevelReport, survivors: &mut Vec<[u32; 2]>) -> Result<()> {
        let undefined = founds.iter().filter_map(|found| found.undefined.as_ref()).min_by_key(|u| (u.x, u.y));
        if let Some(Undefined { x, y, set, reason }) = undefined {
            return Err(Error::Numeric { x: *x as usize, y: *y as usize, s: set.clone(), reason });
        }
        for Found { separations, kept, tests, exact_tests, .. } in founds {
            self.graph.remove_all(&separations.pairs);
            self.sepsets.extend(separations);
            let len = survivors.len() + kept.len();
            if survivors.capacity() < len && !memory::has_space(survivors, kept.len() + len / 2) {
                return Err(Use::Level.error(len * size_of::<[u32; 2]>()));
            }
            survivors.extend(kept);
            report.tests += tests;
            report.exact_tests += exact_tests;
        }
        Ok(())
    }
}

/// What threads need to enter verdicts.
struct Entering<'a> {
    size: usize,
    fast: bool,
    cells: Cells<'a>,
}

/// What one task found.
struct Found {
    separations: Separations,
    kept: Vec<[u32; 2]>,
    tests: u64,
    exact_tests: u64,
    undefined: Option<Undefined>,
}

/// A pair whose test has no answer.
struct Undefined {
    x: u32,
    y: u32,
    set: Vec<u32>,
    reason: &'static str,
}

/// What a range of sets says about a lane of a heavy row.
struct Piece {
    row: usize,
    lane: usize,
    first_set: u64,
    verdict: Verdict,
    set: Vec<u32>,
    exact_tests: u64,
}

impl Found {
    fn of_size(size: usize) -> Self {
        Found { separations: Separations::of_size(size), kept: Vec::new(), tests: 0, exact_tests: 0, undefined: None }
    }
}

impl Entering<'_> {
    /// Enters the verdict on a side of `all` sets.
    fn enter(&self, row: u32, other: u32, outcome: &LaneOutcome, all: u64, found: &mut Found) {
        found.tests += outcome.verdict.visited(all);
        found.exact_tests += outcome.exact_tests;
        match outcome.verdict {
            Verdict::Dependent { p, .. } => {
                self.cells.raise(row as usize, other as usize, p);
                memory::push_noted(&mut found.kept, [row, other], Use::Level);
            }
            Verdict::Independent { p, .. } => {
                self.cells.raise(row as usize, other as usize, p);
                // The C++ keeps every set under the larger vertex.
                let (x, y) = if self.fast { (row.max(other), row.min(other)) } else { (row, other) };
                found.separations.push(x, y, outcome.set);
            }
            Verdict::Undefined { reason, .. } => {
                let first = found.undefined.as_ref().is_none_or(|known| (row, other) < (known.x, known.y));
                if first {
                    found.undefined = Some(Undefined { x: row, y: other, set: outcome.set.to_vec(), reason });
                }
            }
        }
    }
}

/// The verdicts on the lanes of heavy rows from those on their ranges of sets.
fn merge(mut pieces: Vec<Piece>, neighbours: &Neighbours, lanes: &Lanes, entering: &Entering) -> Found {
    let mut found = Found::of_size(entering.size);
    pieces.sort_unstable_by_key(|piece| (piece.row, piece.lane, piece.first_set));
    for of_lane in pieces.chunk_by(|a, b| (a.row, a.lane) == (b.row, b.lane)) {
        let Some(first) = of_lane.first() else { continue };
        let mut verdict = first.verdict;
        let mut set = &first.set;
        // Ranges after the one that separates ran until they learnt of it, or not at all: their outcomes depend on timing.
        let mut exact_tests = 0;
        for piece in of_lane {
            exact_tests += piece.exact_tests;
            verdict = verdict.merge(piece.verdict);
            if !matches!(piece.verdict, Verdict::Dependent { .. }) {
                set = &piece.set;
                break;
            }
        }
        let other = neighbours.list(first.row)[lanes.of(first.row)[first.lane] as usize];
        let own = subsets::binomial(neighbours.degree(first.row) - 1, entering.size).unwrap_or(u64::MAX);
        let outcome = LaneOutcome { lane: first.lane, verdict, set, exact_tests };
        entering.enter(first.row as u32, other, &outcome, own, &mut found);
    }
    found
}
