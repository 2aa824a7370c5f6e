//! A level row by row: the correlations that a row needs are computed, decide the row, and are dropped.
//!
//! A thread takes one row after another. Some rows have work for several threads, or are too large for every thread to hold one. These are
//! computed in batches, as many as the bound has room for, and then decided by all threads.

use std::ops::Range;
use std::sync::Mutex;

use super::super::Scratch;
use super::problem::{Problem, Wanted};
use super::{rows_of, Bound, GaussOfData};
use crate::engine::cpu::enter_side;
use crate::engine::cpu::kernel::{Kernel, RowView, SideView, Signal};
use crate::matrix::symmetrise;
use crate::memory::{self, Use};
use crate::moments::{Gathered, Tiles};
use crate::observer::Observer;
use crate::pool::Stop;
use crate::search::answer::Answer;
use crate::search::book::{Book, Page};
use crate::search::level::{CandidateOrder, Verdict};
use crate::search::shards::{Part, Work};
use crate::Result;

/// Number of candidates that a long row asks first at level 1, because most pairs are separated by one of their first sets. The lanes that are
/// left ask the others.
const FIRST: usize = 32;

/// Number of correlations that take as long as gathering the values of their variable.
const GATHERED: usize = 32;

/// Returns the approximate effort for a row with this many neighbours and lanes, the row itself among the lanes. The unit is a cell of a column
/// that need not be gathered.
pub(super) fn effort(degree: usize, lanes: usize) -> f64 {
    ((degree + 1) * (lanes + GATHERED * Tiles::gatherings(lanes))) as f64
}

/// The work of a level by rows.
pub(super) struct Rows {
    /// Consecutive shards with the same rows, or one shard of sides.
    groups: Vec<Range<usize>>,
    /// For each row: the bytes of its correlations, 0 if none are needed; and whether threads share it.
    bytes: Vec<usize>,
    is_shared: Vec<bool>,
    /// The approximate effort, in cells of columns that need not be gathered.
    cost: f64,
}

/// A level that is being decided.
#[derive(Clone, Copy)]
struct Level<'l> {
    engine: &'l GaussOfData<'l>,
    tiles: &'l Tiles<'l>,
    work: &'l Work<'l>,
    book: &'l Book<'l>,
}

/// The working memory of one thread.
#[derive(Default)]
struct Thread {
    problem: Problem,
    gathered: Gathered,
    scratch: Scratch,
    set: Vec<u32>,
    places: Vec<u32>,
    left: Vec<usize>,
}

impl Rows {
    pub fn of(engine: &GaussOfData, work: &Work) -> Self {
        let p = work.neighbours.p();
        let mut groups: Vec<Range<usize>> = Vec::new();
        let mut is_shared = vec![false; p];
        // For each row: the number of its pairs that are asked, the number of these outside its list, and the last shard or side that asks one.
        let mut asked = vec![0usize; p];
        let mut outside = vec![0usize; p];
        let mut last = vec![usize::MAX; p];
        for (at, shard) in work.shards.iter().enumerate() {
            match &shard.part {
                Part::Tile { rows, .. } => {
                    let is_next = groups.last().is_some_and(|group| {
                        group.end == at
                            && matches!(&work.shards[group.start].part, Part::Tile { rows: first, .. } if first == rows)
                    });
                    match groups.last_mut().filter(|_| is_next) {
                        Some(group) => group.end += 1,
                        None => groups.push(at..at + 1),
                    }
                    rows.clone().for_each(|row| asked[row] = work.lanes.of(row).len());
                }
                Part::Lanes { row, .. } => {
                    asked[*row] = work.lanes.of(*row).len();
                    is_shared[*row] = true;
                }
                Part::Sides(sides) => {
                    groups.push(at..at + 1);
                    for side in &work.sides[sides.clone()] {
                        let row = side.row as usize;
                        asked[row] += 1;
                        outside[row] += usize::from(side.is_outside());
                        is_shared[row] |= work.size > 1 && last[row] != usize::MAX && last[row] != at;
                        last[row] = at;
                    }
                }
                Part::Ranks { side, .. } => {
                    let row = work.sides[*side].row as usize;
                    let is_new = usize::from(!is_shared[row] || last[row] != *side);
                    asked[row] += is_new;
                    outside[row] += if work.sides[*side].is_outside() { is_new } else { 0 };
                    is_shared[row] = true;
                    last[row] = *side;
                }
            }
        }
        let share = engine.bound.bytes / engine.pool.threads() as u64;
        let (mut bytes, mut cost) = (vec![0; p], 0.0);
        for row in (0..p).filter(|&row| asked[row] > 0) {
            let (degree, single) = (work.neighbours.degree(row) + outside[row], work.size == 1);
            bytes[row] = Problem::bytes(degree, single.then_some(asked[row]));
            is_shared[row] |= bytes[row] as u64 > share;
            let part = if single && degree > 2 * FIRST && work.sides.is_empty() { 0.5 } else { 1.0 };
            let lanes = if single { asked[row] } else { degree } + 1;
            cost += part * effort(degree, lanes);
        }
        Rows { groups, bytes, is_shared, cost }
    }

    /// Returns the approximate effort, in cells of columns that need not be gathered.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Returns the number of rows that need correlations.
    pub fn asked(&self) -> usize {
        self.bytes.iter().filter(|&&bytes| bytes > 0).count()
    }

    /// Returns the row that takes most bytes, and these bytes.
    pub fn widest(&self) -> Option<(usize, usize)> {
        self.bytes.iter().copied().enumerate().max_by_key(|&(_, bytes)| bytes)
    }

    /// Returns whether each row fits the bound.
    pub fn fits(&self, bound: Bound) -> bool {
        self.widest().is_none_or(|(_, bytes)| bound.fits(bytes))
    }

    /// Returns the most bytes that are held at a time.
    pub fn bytes(&self, bound: Bound) -> usize {
        let all = self.bytes.iter().fold(0usize, |all, &bytes| all.saturating_add(bytes));
        all.min(bound.bytes.try_into().unwrap_or(usize::MAX))
    }

    pub fn answer(&self, engine: &GaussOfData, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        let Some(tiles) = &engine.tiles else { return Ok(()) };
        let level = Level { engine, tiles, work, book };
        let total = work.cost();
        let of_group =
            |group: usize| work.shards[self.groups[group].clone()].iter().map(|shard| shard.cost).sum::<f64>();
        let mut before = 0.0;
        let told = &mut |done: f64| {
            before = done;
            observer.progress(work.size, done.min(total), total)
        };
        engine.pool.run(self.groups.len(), false, of_group, told, |thread: &mut Thread, group, stop| {
            let shards = self.groups[group].clone();
            match &work.shards[shards.start].part {
                Part::Tile { rows, .. } => self.tiles(level, rows.clone(), shards, thread, stop),
                Part::Sides(sides) => self.sides(level, sides.clone(), shards.start, thread, stop),
                _ => {}
            }
        })?;
        self.shared(level, &mut |done| observer.progress(work.size, (before + done).min(total), total))
    }

    /// Decides those rows of tiles that no other thread shares, with all their blocks of other vertices.
    fn tiles(&self, level: Level, rows: Range<usize>, shards: Range<usize>, thread: &mut Thread, stop: &Stop) {
        let Level { work, book, .. } = level;
        let own = |&row: &usize| !self.is_shared[row] && !work.lanes.of(row).is_empty();
        let others_of = |shard: usize| match &work.shards[shard].part {
            Part::Tile { others, .. } => others.clone(),
            _ => 0..0,
        };
        // All blocks of other vertices have the width of the first.
        let (first, others) = (others_of(shards.start), others_of(shards.start).start..others_of(shards.end - 1).end);
        let mut pages: Vec<Page> = shards.map(|shard| book.open(shard)).collect();
        for row in rows.filter(own).take_while(|_| !stop.requested()) {
            let lanes = work.lanes_between(row, &others);
            let (list, places) = (work.neighbours.list(row), work.lanes.of(row));
            level.lanes(row, lanes, thread, stop, &mut |answer| {
                let other = list[places[answer.at] as usize];
                pages[(other - first.start) as usize / first.len()].enter(row as u32, answer);
            });
        }
        pages.into_iter().for_each(Page::close);
    }

    /// Decides those sides of a shard whose rows no other thread shares.
    fn sides(&self, level: Level, sides: Range<usize>, shard: usize, thread: &mut Thread, stop: &Stop) {
        let Level { tiles, work, book, .. } = level;
        let row_of = |at: usize| work.sides[at].row as usize;
        let mut some: Vec<usize> = sides.filter(|&at| !self.is_shared[row_of(at)]).collect();
        some.sort_by_key(|&at| row_of(at));
        let mut page = book.open(shard);
        for of_row in some.chunk_by(|&a, &b| row_of(a) == row_of(b)).take_while(|_| !stop.requested()) {
            let Thread { problem, gathered, scratch, places, .. } = &mut *thread;
            let outside = level.places_of(of_row, places);
            problem.lay_out(work.neighbours, row_of(of_row[0]), &level.wanted(places), &outside, level.by_graph());
            if !problem.make(tiles, usize::MAX, gathered, stop) {
                break;
            }
            of_row.iter().for_each(|&at| level.side(problem, at, None, &mut page, scratch, stop));
        }
        page.close();
    }

    /// Decides the rows that threads share.
    fn shared(&self, level: Level, told: &mut dyn FnMut(f64) -> Result<()>) -> Result<()> {
        let Level { engine, work, .. } = level;
        // Rows, each with a shard that asks for it.
        let mut asked: Vec<(usize, usize)> = Vec::new();
        for (shard, of) in work.shards.iter().enumerate() {
            match &of.part {
                Part::Sides(sides) => {
                    let rows = work.sides[sides.clone()].iter().map(|side| side.row as usize);
                    asked.extend(rows.filter(|&row| self.is_shared[row]).map(|row| (row, shard)));
                }
                part => {
                    let (first, end) = rows_of(work, part);
                    let rows = (first..end).filter(|&row| self.is_shared[row] && self.bytes[row] > 0);
                    asked.extend(rows.map(|row| (row, shard)));
                }
            }
        }
        asked.sort_unstable();
        asked.dedup();
        let mut before = 0.0;
        let mut rest = &asked[..];
        while !rest.is_empty() {
            // As many rows as there is room for.
            let (mut end, mut taken) = (0, 0u64);
            for of_row in rest.chunk_by(|a, b| a.0 == b.0) {
                let bytes = self.bytes[of_row[0].0] as u64;
                if end > 0 && taken + bytes > engine.bound.bytes {
                    break;
                }
                (end, taken) = (end + of_row.len(), taken + bytes);
            }
            let (batch, behind) = rest.split_at(end);
            rest = behind;
            let (mut problems, mut items, mut places) = (Vec::new(), Vec::new(), Vec::new());
            for of_row in batch.chunk_by(|a, b| a.0 == b.0) {
                let row = of_row[0].0;
                let mut outside = Vec::new();
                if work.sides.is_empty() {
                    places.clear();
                    places.extend_from_slice(work.lanes.of(row));
                } else {
                    let sides: Vec<usize> =
                        of_row.iter().flat_map(|&(row, shard)| level.sides_of(shard, row)).collect();
                    outside = level.places_of(&sides, &mut places);
                }
                let mut problem = Problem::default();
                problem.lay_out(work.neighbours, row, &level.wanted(&places), &outside, level.by_graph());
                items.extend(of_row.iter().map(|&(row, shard)| (problems.len(), row, shard)));
                memory::push(&mut problems, problem, Use::Level)?;
            }
            level.make(&mut problems, &mut || told(before))?;
            // A shard may have other rows, too.
            let cost = |item: usize| {
                let shard = &work.shards[items[item].2];
                let (first, end) = rows_of(work, &shard.part);
                shard.cost / (end - first).max(1) as f64
            };
            let mut now = 0.0;
            let told = &mut |done: f64| {
                now = done;
                told(before + done)
            };
            engine.pool.run(items.len(), false, cost, told, |thread: &mut Thread, item, stop| {
                let (problem, row, shard) = items[item];
                level.part(&problems[problem], row, shard, thread, stop);
            })?;
            before += now;
        }
        Ok(())
    }
}

impl Level<'_> {
    /// Returns whether the order of candidates depends on which vertices are adjacent.
    fn by_graph(self) -> bool {
        self.work.sides.first().is_some_and(|side| side.order == CandidateOrder::CommonLast)
    }

    /// Returns the correlations that a row needs if its pairs have these places.
    fn wanted(self, places: &[u32]) -> Wanted<'_> {
        if self.work.size == 1 {
            Wanted::Lanes(places)
        } else {
            Wanted::All
        }
    }

    /// Writes the places of the other vertices of a row's sides, ascending. Other vertices outside the row's list have places after it, and are
    /// returned.
    fn places_of(self, sides: &[usize], places: &mut Vec<u32>) -> Vec<u32> {
        let (inside, outside): (Vec<usize>, Vec<usize>) =
            sides.iter().partition(|&&at| !self.work.sides[at].is_outside());
        places.clear();
        places.extend(inside.iter().map(|&at| self.work.sides[at].place));
        places.sort_unstable();
        places.dedup();
        let mut others: Vec<u32> = outside.iter().map(|&at| self.work.sides[at].other).collect();
        others.sort_unstable();
        others.dedup();
        if let Some(&at) = outside.first() {
            let listed = self.work.neighbours.degree(self.work.sides[at].row as usize) as u32;
            places.extend(listed..listed + others.len() as u32);
        }
        others
    }

    /// Returns the sides of a row in a shard.
    fn sides_of(self, shard: usize, row: usize) -> Vec<usize> {
        let sides = match &self.work.shards[shard].part {
            Part::Sides(sides) => sides.clone(),
            Part::Ranks { side, .. } => *side..side + 1,
            _ => 0..0,
        };
        sides.filter(|&at| self.work.sides[at].row as usize == row).collect()
    }

    /// Computes the correlations of some rows, on all threads.
    fn make(self, problems: &mut [Problem], look: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        enum Task<'t> {
            Block(&'t [u32], usize, Mutex<&'t mut [f64]>),
            Row(Mutex<&'t mut Problem>),
        }
        let Level { engine: GaussOfData { pool, .. }, tiles, .. } = self;
        let mut tasks = Vec::new();
        for problem in &mut *problems {
            if !problem.is_whole() {
                tasks.push(Task::Row(Mutex::new(problem)));
            } else if problem.reserve() {
                let Problem { members, c, .. } = problem;
                let parts = c.chunks_mut(Tiles::block_cells(members)).enumerate();
                tasks.extend(parts.map(|(block, part)| Task::Block(members, block, Mutex::new(part))));
            }
        }
        let work = |gathered: &mut Gathered, task: usize, stop: &Stop| match &tasks[task] {
            Task::Block(members, block, part) => {
                if let Ok(mut part) = part.lock() {
                    tiles.block_among(*block, members, &mut part, gathered, stop);
                }
            }
            Task::Row(problem) => {
                if let Ok(mut problem) = problem.lock() {
                    problem.make(tiles, usize::MAX, gathered, stop);
                }
            }
        };
        pool.run(tasks.len(), false, |_| 1.0, &mut |_| look(), work)?;
        drop(tasks);
        for problem in problems.iter_mut().filter(|problem| problem.is_whole()) {
            symmetrise(&mut problem.c, problem.members.len(), pool);
        }
        Ok(())
    }

    /// Decides a shard's part of a row whose correlations are computed.
    fn part(self, problem: &Problem, row: usize, shard: usize, thread: &mut Thread, stop: &Stop) {
        let Level { work, book, .. } = self;
        let Thread { scratch, set, .. } = thread;
        let mut page = book.open(shard);
        match &work.shards[shard].part {
            Part::Tile { others, .. } => {
                let lanes = work.lanes_between(row, others);
                if !lanes.is_empty() {
                    let view = RowView::new(work, row, lanes);
                    self.row(problem, view, (scratch, set), stop, &mut |answer| page.enter(row as u32, answer));
                }
            }
            Part::Lanes { lanes, sets, limits, .. } => {
                let found = work.limits(*limits..*limits + lanes.len());
                let view = RowView { sets: sets.clone(), found: Some(found), ..RowView::new(work, row, lanes.clone()) };
                self.row(problem, view, (scratch, set), stop, &mut |answer| page.enter(row as u32, answer));
            }
            Part::Sides(_) => {
                for at in self.sides_of(shard, row) {
                    self.side(problem, at, None, &mut page, scratch, stop);
                }
            }
            Part::Ranks { side, ranks, limit } => {
                self.side(problem, *side, Some((ranks, *limit)), &mut page, scratch, stop);
            }
        }
        page.close();
    }

    /// Decides lanes of a row by the row's problem. Calls `out` with answers that have the work's numbers of lanes and variables.
    fn row(
        self,
        problem: &Problem,
        view: RowView,
        (scratch, set): (&mut Scratch, &mut Vec<u32>),
        stop: &Stop,
        out: &mut dyn FnMut(&Answer),
    ) {
        let Some(neighbours) = &problem.neighbours else { return };
        let view = RowView { row: problem.at, neighbours, ..view };
        problem.kernel(self.engine).row(&view, scratch, &Signal::of(stop), &mut |answer| {
            problem.named(answer.set, set);
            out(&Answer { set, ..*answer });
        });
    }

    /// Decides a side, or some of its ranks, by the row's problem, and enters the verdict.
    fn side(
        self,
        problem: &Problem,
        at: usize,
        part: Option<(&Range<u64>, usize)>,
        page: &mut Page,
        scratch: &mut Scratch,
        stop: &Stop,
    ) {
        let Level { engine, work, book, .. } = self;
        let Some(neighbours) = &problem.neighbours else { return };
        let side = problem.side(&work.sides[at]);
        let (ranks, signal) = match part {
            None => (0..side.count, Signal::of(stop)),
            Some((ranks, limit)) => (ranks.clone(), Signal::new(stop, &work.limits(limit..limit + 1)[0])),
        };
        let view = SideView { neighbours, ..SideView::new(work, &side, ranks) };
        let verdict = problem.kernel(engine).walk(&view, scratch, &signal);
        enter_side(page, work, book, at, verdict, signal.exact_tests(), &mut Vec::new());
    }

    /// Decides lanes of a row on one thread, which first computes the correlations that they need.
    fn lanes(self, row: usize, lanes: Range<usize>, thread: &mut Thread, stop: &Stop, out: &mut dyn FnMut(&Answer)) {
        let Level { tiles, work, .. } = self;
        let Thread { problem, gathered, scratch, set, places, left } = thread;
        let of_row = work.lanes.of(row);
        if work.size > 1 {
            problem.lay_out(work.neighbours, row, &Wanted::All, &[], false);
            if problem.make(tiles, usize::MAX, gathered, stop) {
                self.row(problem, RowView::new(work, row, lanes), (scratch, set), stop, out);
            }
            return;
        }
        left.clear();
        if work.neighbours.degree(row) > 2 * FIRST {
            problem.lay_out(work.neighbours, row, &Wanted::Lanes(&of_row[lanes.clone()]), &[], false);
            if !problem.make(tiles, FIRST + 1, gathered, stop) {
                return;
            }
            let view = RowView { sets: 0..FIRST as u64, ..RowView::new(work, row, lanes) };
            self.row(problem, view, (scratch, set), stop, &mut |answer| match answer.verdict {
                Verdict::Dependent { .. } => left.push(answer.at),
                _ => out(answer),
            });
            left.sort_unstable();
        } else {
            left.extend(lanes);
        }
        if left.is_empty() || stop.requested() {
            return;
        }
        places.clear();
        places.extend(left.iter().map(|&lane| of_row[lane]));
        problem.lay_out(work.neighbours, row, &Wanted::Lanes(places), &[], false);
        if problem.make(tiles, usize::MAX, gathered, stop) {
            let view = RowView { places, first: 0, ..RowView::new(work, row, 0..0) };
            self.row(problem, view, (scratch, set), stop, &mut |answer| {
                out(&Answer { at: left[answer.at], ..*answer });
            });
        }
    }
}
