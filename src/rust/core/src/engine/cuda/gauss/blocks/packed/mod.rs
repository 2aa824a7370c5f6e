//! Levels of two and more, and level 1 where neighbours are few: rows in blocks of their neighbours. The first sides of all rows, then the
//! second ones of pairs that are left. Blocks stay on the card for both where all fit; where not, as many as fit are brought at a time, for each
//! side anew.

mod found;
mod place;

use std::collections::BTreeMap;

use super::local::{closely, width_of};
use super::marginal::too_little;
use super::BlockSearch;
use crate::ci::gauss::{Undefined, MISSING};
use crate::engine::cuda::arguments::{
    settle_doubles, Report, SearchArgs, DECIDING_THREADS, SIDE_KEEPS, SIDE_MISSING, SIDE_NOTHING,
};
use crate::engine::cuda::card::buffer::{Buffer, BufferId};
use crate::engine::cuda::card::kernels::{Kernel, WARP};
use crate::engine::cuda::card::transfer::threads_for_steps;
use crate::engine::cuda::gauss::source::Source;
use crate::graph::{Adjacency, Separations};
use crate::observer::Observer;
use crate::pool::part_of;
use crate::search::levels::LevelReport;
use crate::{Error, Result};
use found::SideFound;
use place::{Level, Placed, Places};

/// Numbers of vertices in a batch, at most: some kernels go through them by one block.
const MOST_NUMBERS: usize = 1 << 20;

/// Bytes that blocks may take, at most, so that they are run with wider ones: more would be written in more time than a batch takes.
const WIDENED: u64 = 16 << 20;

/// The uses of memory that levels by rows have no part in.
fn not_kept() -> Vec<BufferId> {
    let kept = [Buffer::Report.into(), Buffer::Columns.into(), Buffer::Batch.into()];
    BufferId::ALL.iter().copied().filter(|what| !kept.contains(what)).collect()
}

/// Pairs that the first sides of a level separate, by their larger vertex.
#[derive(Default)]
struct Removed {
    starts: Vec<usize>,
    /// The smaller vertices, ascending for each larger one.
    smaller: Vec<u32>,
}

impl Removed {
    fn new(p: usize, found: &[Separations]) -> Self {
        let pairs = || found.iter().flat_map(|found| &found.pairs).map(|&[x, y]| (x.min(y), x.max(y) as usize));
        let mut starts = vec![0; p + 1];
        pairs().for_each(|(_, high)| starts[high + 1] += 1);
        for v in 0..p {
            starts[v + 1] += starts[v];
        }
        let (mut next, mut smaller) = (starts.clone(), vec![0; starts[p]]);
        for (low, high) in pairs() {
            smaller[next[high]] = low;
            next[high] += 1;
        }
        starts.windows(2).for_each(|row| smaller[row[0]..row[1]].sort_unstable());
        Removed { starts, smaller }
    }

    fn has(&self, low: u32, high: u32) -> bool {
        let high = high as usize;
        let row = if self.starts.is_empty() { 0..0 } else { self.starts[high]..self.starts[high + 1] };
        self.smaller[row].binary_search(&low).is_ok()
    }
}

/// Which rows are asked for: those that have a pair on either side, on the first, or on the second once these are removed.
#[derive(Clone, Copy)]
enum Asked<'r> {
    Either,
    First,
    Second(&'r Removed),
}

/// Rows whose blocks have one width, and where on the card these stand, in bytes.
struct Batch {
    rows: Vec<u32>,
    width: usize,
    at: u64,
}

/// Rows whose blocks are to have one width, with how many neighbours these have, and correlations in the triangles.
struct Class {
    width: usize,
    rows: Vec<u32>,
    entries: usize,
    cells: usize,
}

impl Class {
    /// What it takes, at most, or any first rows of it.
    fn bytes(&self, level: Level) -> u64 {
        Places::most(self.rows.len(), self.width, self.entries, self.cells, level)
    }

    /// What it and a wider one take together, likewise, with the wider one's blocks.
    fn bytes_with(&self, wider: &Class, level: Level) -> u64 {
        let (entries, cells) = (self.entries + wider.entries, self.cells + wider.cells);
        Places::most(self.rows.len() + wider.rows.len(), wider.width, entries, cells, level)
    }
}

/// Has blocks run with the next wider ones where that takes little of what they leave of `room`: so batches are few, each of which has its waits.
fn join(by_width: BTreeMap<usize, Vec<u32>>, degrees: &[usize], room: u64, level: Level) -> Vec<Class> {
    let class = |(width, rows): (usize, Vec<u32>)| {
        let of_rows = || rows.iter().map(|&x| degrees[x as usize]);
        let (entries, cells) = (of_rows().sum(), of_rows().map(|degree| closely(degree + 1)).sum());
        Class { width, rows, entries, cells }
    };
    let classes: Vec<Class> = by_width.into_iter().map(class).collect();
    let mut spare = room.saturating_sub(classes.iter().map(|class| class.bytes(level)).sum()).min(WIDENED);
    let mut joined: Vec<Class> = Vec::new();
    for mut class in classes {
        if let Some(narrower) = joined.last_mut() {
            let apart = narrower.bytes(level) + class.bytes(level);
            let more = narrower.bytes_with(&class, level).saturating_sub(apart);
            if more <= spare {
                spare -= more;
                class.rows.append(&mut narrower.rows);
                class.rows.sort_unstable();
                (class.entries, class.cells) = (class.entries + narrower.entries, class.cells + narrower.cells);
                *narrower = class;
                continue;
            }
        }
        joined.push(class);
    }
    joined
}

/// What sides have found.
#[derive(Default)]
struct Sides {
    tests: u64,
    exact_tests: u64,
    go_on: bool,
    found: Vec<Separations>,
    /// The pairs (row, other) that a test without an answer ended, with its set.
    missing: Option<([u32; 2], Vec<u32>)>,
}

/// Likewise some rows of a batch.
#[derive(Default)]
struct Part {
    found: Separations,
    missing: Option<([u32; 2], Vec<u32>)>,
}

impl BlockSearch<'_, '_> {
    /// A level of sets of `size`; `widest` is the largest degree.
    pub(super) fn run_packed(
        &mut self,
        size: usize,
        widest: usize,
        observer: &mut dyn Observer,
    ) -> Result<LevelReport> {
        self.search.set_rules(&self.gauss.test, size);
        let level = self.level(size, widest);
        let mut all = Sides::default();
        self.look_at_diagonal();
        self.are_all_looked_at = true;
        match self.batches(level, Asked::Either)? {
            Some(batches) => self.run_together(batches, level, &mut all, observer)?,
            None => self.run_in_turn(level, &mut all, observer)?,
        }
        if let Some(([x, y], s)) = all.missing {
            let Undefined(reason) = MISSING;
            return Err(Error::Numeric { x: x as usize, y: y as usize, s, reason });
        }
        let mut graph = std::mem::replace(&mut self.graph, Adjacency::empty(0));
        let mut degrees = std::mem::take(&mut self.degrees);
        for found in all.found {
            graph.remove_all(&found.pairs);
            found.pairs.iter().flatten().for_each(|&x| degrees[x as usize] -= 1);
            self.answer.separate(found);
        }
        self.take_degrees(graph, degrees);
        observer.progress(size, 1.0, 1.0)?;
        // Blocks of later levels are parts of these.
        self.is_symmetric |= self.are_all_looked_at;
        let go_on = self.fast() || all.go_on;
        Ok(LevelReport { tests: all.tests, exact_tests: all.exact_tests, go_on })
    }

    /// Both sides of all rows, whose blocks stay on the card.
    fn run_together(
        &mut self,
        batches: Vec<Batch>,
        level: Level,
        all: &mut Sides,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let count = batches.len();
        let mut placed = Vec::with_capacity(count);
        for (done, batch) in batches.into_iter().enumerate() {
            placed.push(self.place_batch(batch, level, observer)?);
            self.run_batch(&placed[done], level, None, all, done as f64 / count as f64 / 2.0, observer)?;
        }
        let removed = Removed::new(self.gauss.p, &all.found);
        for (done, placed) in placed.iter().enumerate() {
            self.run_batch(placed, level, Some(&removed), all, (1.0 + done as f64 / count as f64) / 2.0, observer)?;
        }
        Ok(())
    }

    /// One side of all rows, then the other; a batch is on the card alone.
    fn run_in_turn(&mut self, level: Level, all: &mut Sides, observer: &mut dyn Observer) -> Result<()> {
        let mut removed = None;
        for second in [false, true] {
            let asked = removed.as_ref().map_or(Asked::First, Asked::Second);
            let batches = self.batches(level, asked)?.unwrap_or_default();
            let count = batches.len() as f64;
            for (done, batch) in batches.into_iter().enumerate() {
                let share = (f64::from(u8::from(second)) + done as f64 / count) / 2.0;
                let placed = self.place_batch(batch, level, observer)?;
                self.run_batch(&placed, level, removed.as_ref(), all, share, observer)?;
            }
            if !second {
                removed = Some(Removed::new(self.gauss.p, &all.found));
            }
        }
        Ok(())
    }

    fn level(&self, size: usize, widest: usize) -> Level {
        let has_fixed = self.search.options.fixed_edges.is_some();
        Level { size, widest, has_fixed, of_data: matches!(self.gauss.source, Source::Data(..)) }
    }

    /// Whether a row with so many neighbours has room at level 1, once all is let go that levels by rows do not need.
    pub(super) fn has_room_for(&mut self, neighbours: usize) -> Result<bool> {
        let needed =
            Places::new(1, width_of(neighbours + 1), neighbours, closely(neighbours + 1), self.level(1, neighbours))
                .end;
        let room = self.search.engine.held.room(&not_kept())?;
        Ok(needed <= room && neighbours < self.rows.most_gathered())
    }

    /// The rows that are asked for, in batches that fit: those of either side all at once (none where these do not), those of one side one after
    /// the other. Plans and commits what they take.
    fn batches(&mut self, level: Level, asked: Asked) -> Result<Option<Vec<Batch>>> {
        let (p, options) = (self.gauss.p, self.search.options);
        let (graph, degrees) = (&self.graph, &self.degrees);
        // Of either side, where no edge is fixed, any neighbour will do.
        let all_take_part = matches!(asked, Asked::Either) && !level.has_fixed;
        let takes_part = |x: usize| {
            let takes = |y: u32| match asked {
                Asked::Either => true,
                Asked::First => y as usize > x,
                Asked::Second(removed) => (y as usize) < x && !removed.has(y, x as u32),
            };
            degrees[x] > level.size
                && degrees[x] <= level.widest
                && (all_take_part || graph.neighbours(x).any(|y| takes(y) && !options.is_fixed(x, y as usize)))
        };
        let pool = &self.search.engine.held.pool;
        let each = part_of(p, threads_for_steps(pool, if all_take_part { p } else { p * p / 64 }));
        let mut are_taken = vec![false; p];
        pool.each_of(are_taken.chunks_mut(each).collect(), |part, taken: &mut [bool]| {
            taken.iter_mut().enumerate().for_each(|(i, taken)| *taken = takes_part(part * each + i));
        });
        let mut by_width: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for x in (0..p).filter(|&x| are_taken[x]) {
            by_width.entry(width_of(degrees[x] + 1)).or_default().push(x as u32);
        }
        self.search.ends = 1 << 24;
        let binomials = self.search.binomial_count(level.size, level.widest);
        let scratch = self.search.scratch_of_sets(level.size, level.widest);
        let held = &mut self.search.engine.held;
        // The card's graph is not needed any more: what is left of it is known here.
        held.spare(&not_kept())?;
        let is_of_sets = level.size > 1;
        held.plan.set(Buffer::Binomials, if is_of_sets { 8 * binomials } else { 0 });
        held.plan.set(Buffer::Scratch, if is_of_sets { scratch } else { 0 });
        let room = held.room(&[])?;
        let most_gathered = self.rows.most_gathered();
        let is_together = matches!(asked, Asked::Either);
        let mut batches = Vec::new();
        // What those before take that stay, and what is taken at most.
        let (mut at, mut most) = (0, 0);
        for Class { width, rows, .. } in join(by_width, &self.degrees, room, level) {
            let mut rest = &rows[..];
            while !rest.is_empty() {
                let (mut count, mut entries, mut cells, mut bytes) = (0, 0, 0, 0);
                for &x in rest {
                    let degree = self.degrees[x as usize];
                    let cells_with = cells + closely(degree + 1);
                    let with = Places::new(count + 1, width, entries + degree, cells_with, level).end;
                    let is_much = (count + 1) * width > MOST_NUMBERS || entries + count + degree + 1 > most_gathered;
                    if is_together && at + with > room {
                        return Ok(None);
                    }
                    if (with > room || is_much) && count > 0 {
                        break;
                    }
                    if with > room || degree + 1 > most_gathered {
                        let needed = held.plan.total() + with;
                        let what = format!(
                            "that is for variable {} with its {degree} neighbours alone, at level {}",
                            x + 1,
                            level.size
                        );
                        return Err(too_little(held, needed, &what));
                    }
                    (count, entries, cells) = (count + 1, entries + degree, cells_with);
                    bytes = bytes.max(with);
                }
                batches.push(Batch { rows: rest[..count].to_vec(), width, at });
                most = most.max(at + bytes);
                if is_together {
                    at += bytes;
                }
                rest = &rest[count..];
            }
        }
        held.plan.set(Buffer::Data, most);
        held.commit()?;
        if is_of_sets {
            self.search.send_binomials(level.size, level.widest)?;
        }
        Ok(Some(batches))
    }

    /// A side of a batch: the second one where what the first removed is given.
    fn run_batch(
        &mut self,
        placed: &Placed,
        level: Level,
        removed: Option<&Removed>,
        all: &mut Sides,
        share: f64,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let local = &placed.local;
        self.search.engine.held.piece(local.rows.len());
        let entries = local.entries();
        self.begin_batch(placed, level, removed)?;
        observer.progress(level.size, share * 0.999, 1.0)?;
        let mut args = self.search.args;
        args.second = u64::from(removed.is_some());
        let report = match level.size {
            1 => self.run_side_of_singles(&args, entries, observer)?,
            _ => self.run_side_of_sets(level, &mut args, local.count(), observer)?,
        };
        all.tests += report.tests;
        all.exact_tests += report.exact;
        all.go_on |= report.go_on != 0;
        let held = &mut self.search.engine.held;
        held.card.copies_follow()?;
        let found = SideFound::bring(held, args.values, entries, level.size)?;
        let pool = held.pool.clone();
        let (options, cells) = (self.search.options, self.answer.cells());
        let each = part_of(local.rows.len(), threads_for_steps(&pool, 64 * entries));
        let mut parts: Vec<Part> = local.rows.chunks(each).map(|_| Part::default()).collect();
        pool.each_of(parts.iter_mut().collect(), |number, part: &mut Part| {
            part.found.size = level.size;
            let mut members = vec![0; level.size];
            let first = number * each;
            for (row, &x) in (first..).zip(&local.rows[first..local.rows.len().min(first + each)]) {
                for (e, y) in (local.starts[row]..).zip(local.neighbours(row)) {
                    let verdict = found.verdict(e);
                    if verdict == SIDE_NOTHING {
                        continue;
                    }
                    // Of a side, each pair is in one row alone.
                    if let Some(cells) = cells {
                        cells.raise(x as usize, y as usize, found.value(e));
                    }
                    if verdict == SIDE_KEEPS {
                        continue;
                    }
                    for (member, &number) in members.iter_mut().zip(found.set(e)) {
                        *member = local.vertices[number as usize];
                    }
                    if verdict == SIDE_MISSING && part.missing.as_ref().is_none_or(|(pair, _)| [x, y] < *pair) {
                        part.missing = Some(([x, y], members.clone()));
                    }
                    let [under, with] = options.kept_under(x, y);
                    part.found.push(under, with, &members);
                }
            }
        });
        for Part { found, missing } in parts {
            all.found.push(found);
            if let Some((pair, set)) = missing {
                if all.missing.as_ref().is_none_or(|(known, _)| pair < *known) {
                    all.missing = Some((pair, set));
                }
            }
        }
        Ok(())
    }

    /// Tests a side of a batch given one variable.
    fn run_side_of_singles(
        &mut self,
        args: &SearchArgs,
        entries: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report> {
        self.search.reset_report(0)?;
        let warps = (entries as u32).min(self.search.engine.held.card.processors * 32);
        let in_block = DECIDING_THREADS / WARP;
        let launch =
            Kernel::side_single.on((warps.div_ceil(in_block), 1), DECIDING_THREADS, 3 * 8 * u64::from(in_block));
        // SAFETY: lists, slots, twins and what is found by entry are the batch's; a warp has three numbers of shared memory.
        unsafe { self.search.engine.held.card.launch(launch, args)? };
        self.search.report("level 1", &mut || observer.look())
    }

    /// Likewise given sets, of which `count` numbers of vertices are.
    fn run_side_of_sets(
        &mut self,
        level: Level,
        args: &mut SearchArgs,
        count: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report> {
        let doubles = settle_doubles(level.size as u64);
        let block = self.search.engine.working_memory(args, doubles, DECIDING_THREADS)?;
        let warps = (self.search.ends as u32).min(self.search.engine.held.card.processors * 32);
        let blocks = (warps.div_ceil(block.threads / WARP), 1);
        self.search.begin_side(level.size, level.widest, args.second, 0..count)?;
        loop {
            let launch = Kernel::settle_sides.on(blocks, block.threads, block.shared);
            // It does nothing where the side has not been done in its time.
            // SAFETY: lists, slots, twins and what is found by entry are the batch's; each warp has `settle_doubles` of working memory.
            unsafe { self.search.engine.held.card.launch(launch, args)? };
            let report = self.search.report("a level of sets", &mut || observer.look())?;
            if self.search.go_on_side(level.size, level.widest, args.second, &report)? {
                return Ok(report);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_joined_as_far_as_there_is_room() {
        let level = Level { size: 2, widest: 200, has_fixed: false, of_data: false };
        let degrees: Vec<usize> = (0..900).map(|x| 3 + (x * 7919) % if x % 50 == 0 { 190 } else { 12 }).collect();
        let mut by_width: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (x, &degree) in degrees.iter().enumerate() {
            by_width.entry(width_of(degree + 1)).or_default().push(x as u32);
        }
        let bytes = |classes: &[Class]| classes.iter().map(|class| class.bytes(level)).sum::<u64>();
        let apart = join(by_width.clone(), &degrees, 0, level);
        assert_eq!(apart.len(), by_width.len());
        let mut counts = std::collections::BTreeSet::new();
        for room in (0..40).map(|k| bytes(&apart) + (k << 20)) {
            let joined = join(by_width.clone(), &degrees, room, level);
            assert!(bytes(&joined) <= room && joined.iter().all(|class| class.rows.is_sorted()));
            let mut rows = joined.iter().flat_map(|class| class.rows.clone()).collect::<Vec<u32>>();
            rows.sort_unstable();
            assert_eq!(rows, (0..900).collect::<Vec<u32>>());
            for Class { width, rows, entries, .. } in &joined {
                assert!(rows.iter().all(|&x| width_of(degrees[x as usize] + 1) <= *width));
                assert_eq!(*entries, rows.iter().map(|&x| degrees[x as usize]).sum::<usize>());
            }
            counts.insert(joined.len());
        }
        // Beyond `WIDENED` more room joins no more.
        assert!(counts.len() > 2 && !counts.contains(&1) && counts.contains(&apart.len()), "{counts:?}");
    }
}
