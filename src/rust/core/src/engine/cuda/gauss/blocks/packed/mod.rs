//! Sides of pairs given sets, and given single variables if neighbours are few: rows in blocks of their neighbours.
//!
//! If all blocks of a level fit, they stay on the GPU for its second sides. If not, as many as fit are sent at a time, again for each side.
//! If rows have many neighbours and all correlations fit, these are sent instead, once for all levels.

mod asking;
mod found;
mod place;

use std::collections::BTreeMap;
use std::ops::Range;

use super::local::{closely, width_of};
use super::marginal::too_little;
use super::{kept, slices, Blocks};
use crate::engine::cuda::arguments::{settle_doubles, Report, SearchArgs, DECIDING_THREADS};
use crate::engine::cuda::gauss::correlation::make;
use crate::engine::cuda::gauss::source::Source;
use crate::engine::cuda::gpu::buffer::{Buffer, BufferId};
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::gpu::plan::MemoryPlan;
use crate::engine::cuda::lists::Lists;
use crate::moments::Centred;
use crate::observer::Observer;
use crate::search::book::{Book, Page};
use crate::search::level::Neighbours;
use crate::search::pairs::gathers_much;
use crate::search::shards::{Part, Work};
use crate::Result;
use asking::Asking;
use found::SideFound;
use place::{Placed, Places};

/// Most numbers of vertices in a batch: some kernels go through them in one block.
const MOST_NUMBERS: usize = 1 << 20;

/// Most bytes of padding for wider blocks: writing more would take longer than the batch that it saves.
const WIDENED: u64 = 16 << 20;

/// A level: the size of its sets, the most neighbours of a row, and whether correlations are computed from data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub size: usize,
    pub widest: usize,
    pub of_data: bool,
}

/// The blocks of all rows of a level. `of` has the number of the neighbourhoods, and the level.
pub(super) struct Standing {
    of: (u64, Level),
    placed: Vec<Placed>,
}

/// Rows whose blocks have one width, and where these start on the GPU, in bytes.
struct Batch {
    rows: Vec<u32>,
    width: usize,
    at: u64,
}

/// Rows whose blocks are to have one width; the number of their neighbours, and of correlations in the blocks' triangles.
struct Class {
    width: usize,
    rows: Vec<u32>,
    entries: usize,
    cells: usize,
}

impl Class {
    /// Returns the most bytes that the class takes, or that any first rows of it take.
    fn bytes(&self, level: Level) -> u64 {
        Places::most(self.rows.len(), self.width, self.entries, self.cells, level)
    }

    /// Returns the most bytes that the class takes together with a wider one, in blocks of the wider one's width.
    fn bytes_with(&self, wider: &Class, level: Level) -> u64 {
        let (entries, cells) = (self.entries + wider.entries, self.cells + wider.cells);
        Places::most(self.rows.len() + wider.rows.len(), wider.width, entries, cells, level)
    }
}

/// Merges blocks into the next wider class if the padding fits in the remaining room. Each batch has a fixed cost, so fewer are faster.
fn join(by_width: BTreeMap<usize, Vec<u32>>, degree: impl Fn(usize) -> usize, room: u64, level: Level) -> Vec<Class> {
    let class = |(width, rows): (usize, Vec<u32>)| {
        let of_rows = || rows.iter().map(|&x| degree(x as usize));
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

/// Returns whether a shard is left to the host because it holds only some sets of its pairs.
pub(in crate::engine::cuda) fn is_for_host(work: &Work, shard: usize) -> bool {
    matches!(work.shards[shard].part, Part::Lanes { .. } | Part::Ranks { .. })
}

impl Blocks<'_, '_> {
    /// Decides those of the shards that hold all sets of their pairs, and returns their pages with the results.
    pub(in crate::engine::cuda) fn answer<'b, 'w>(
        &mut self,
        work: &Work,
        shards: Range<usize>,
        book: &'b Book<'w>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Page<'b, 'w>>> {
        let is_all = shards.len() == work.shards.len();
        let mut asking = Asking::new(work, &shards, book, matches!(self.gauss.source, Source::Data(..)))?;
        if !asking.open.is_empty() {
            self.search.set_rules(&self.gauss.test, work.size);
            self.look_at_diagonal();
            self.state.are_all_looked_at = true;
            self.decide(&mut asking, is_all, observer)?;
            // Blocks of later levels are parts of these.
            self.state.is_symmetric |= is_all && self.state.are_all_looked_at;
        }
        Ok(shards.zip(asking.pages).filter(|(shard, _)| !is_for_host(work, *shard)).map(|(_, page)| page).collect())
    }

    fn decide(&mut self, asking: &mut Asking, is_all: bool, observer: &mut dyn Observer) -> Result<()> {
        let (neighbours, level) = (asking.work.neighbours, asking.level);
        let of = (neighbours.number(), level);
        let is_standing = |standing: &Standing| standing.of == of && asking.lists.are_candidates();
        if let Some(standing) = self.state.placed.take().filter(is_standing) {
            // The blocks were checked with the first sides, or not at all.
            self.state.are_all_looked_at = false;
            self.begin_level(level)?;
            let outcome = self.run_all(&standing.placed, asking, observer);
            self.state.placed = Some(standing);
            return outcome;
        }
        if self.has_whole(neighbours, level, observer)? {
            self.state.are_all_looked_at = false;
            let rows = asking.rows();
            let batches = self.whole_batches(&asking.lists, rows, level)?;
            let count = batches.len() as f64;
            for (done, rows) in batches.into_iter().enumerate() {
                let placed = self.place_whole(&asking.lists, rows, level)?;
                self.run_batch(&placed, asking, done as f64 / count, observer)?;
            }
            return Ok(());
        }
        self.plan_packed(level, observer)?;
        // If all fit, the blocks of the second sides' rows are placed as well.
        let takes_part = |x: &usize| neighbours.degree(*x) > level.size;
        let all: Vec<u32> = (0..neighbours.p()).filter(takes_part).map(|x| x as u32).collect();
        if is_all && asking.work.sides.is_empty() {
            if let Some(batches) = self.batches(&asking.lists, &all, level, true)? {
                let mut placed = Vec::with_capacity(batches.len());
                for batch in batches {
                    placed.push(self.place_batch(&asking.lists, batch, level, observer)?);
                }
                let outcome = self.run_all(&placed, asking, observer);
                self.state.placed = Some(Standing { of, placed });
                return outcome;
            }
        }
        let batches = self.batches(&asking.lists, &asking.rows(), level, false)?.unwrap_or_default();
        let count = batches.len() as f64;
        for (done, batch) in batches.into_iter().enumerate() {
            let placed = self.place_batch(&asking.lists, batch, level, observer)?;
            self.run_batch(&placed, asking, done as f64 / count, observer)?;
        }
        Ok(())
    }

    /// Runs all batches, which are on the GPU.
    fn run_all(&mut self, placed: &[Placed], asking: &mut Asking, observer: &mut dyn Observer) -> Result<()> {
        for (done, batch) in placed.iter().enumerate() {
            self.run_batch(batch, asking, done as f64 / placed.len() as f64, observer)?;
        }
        Ok(())
    }

    /// Returns whether a row with this many neighbours has room at level 1, once everything is freed that levels by rows do not need.
    pub(super) fn has_room_for(&mut self, neighbours: usize) -> Result<bool> {
        let level = Level { size: 1, widest: neighbours, of_data: matches!(self.gauss.source, Source::Data(..)) };
        let (width, cells) = (width_of(neighbours + 1), closely(neighbours + 1));
        let needed = Places::new(1, width, neighbours, cells, level).end;
        let kept = kept();
        let others: Vec<BufferId> = BufferId::ALL.iter().copied().filter(|what| !kept.contains(what)).collect();
        let room = self.search.engine.held.room(&others)?;
        Ok(needed <= room && neighbours < self.state.rows.most_gathered())
    }

    /// Returns whether a level by rows runs on all correlations. It does if they are on the GPU, or if they fit and get there sooner than
    /// those of the rows' neighbours. It then plans what the level takes besides its batches.
    fn has_whole(&mut self, neighbours: &Neighbours, level: Level, observer: &mut dyn Observer) -> Result<bool> {
        let (gauss, p) = (self.gauss, self.gauss.p);
        let of_slices = |slices: &slices::Level| slices.is_of_all(p);
        self.state.is_whole |= self.state.level.as_ref().is_some_and(of_slices);
        let is_there = self.state.is_whole;
        if self.wished_rows().is_some() || !is_there && !gathers_much(p, (0..p).map(|x| neighbours.degree(x))) {
            return Ok(false);
        }
        self.search.ends = 1 << 24;
        let binomials = if level.size > 1 { 8 * self.search.binomial_count(level.size, level.widest) } else { 0 };
        let scratch = if level.size > 1 { self.search.scratch_of_sets(level.size, level.widest) } else { 0 };
        let report = self.search.report_bytes();
        let held = &mut self.search.engine.held;
        let mut plan = MemoryPlan::default();
        plan.set(Buffer::Data, gauss.bytes());
        plan.set(Buffer::Report, report);
        if is_there {
            // What stays takes the room that it has.
            plan.raise(Buffer::Data, held.plan.of(Buffer::Data));
        }
        plan.set(Buffer::Binomials, binomials);
        plan.set(Buffer::Scratch, scratch);
        // To compute them from data takes the columns as well.
        let mut making = MemoryPlan::default();
        if let (false, Source::Data(_, n)) = (is_there, gauss.source) {
            making.set(Buffer::Data, gauss.bytes());
            making.set(Buffer::Columns, 8 * (n * p) as u64);
            making.set(Buffer::Batch, 8 * p as u64);
        }
        // The list of a row may hold all other variables.
        let needed = (plan.total() + Places::whole(p, p, level).end).max(making.total());
        if needed > held.room(BufferId::ALL)? {
            return Ok(false);
        }
        self.state.leave();
        if !is_there {
            match gauss.source {
                Source::Data(x, n) => {
                    make(held, &Centred::of_cells(x, n), &mut |_| observer.look())?;
                }
                Source::Matrix(cells) => {
                    held.spare(BufferId::ALL)?;
                    held.plan.set(Buffer::Data, gauss.bytes());
                    held.commit()?;
                    let to = held.device(Buffer::Data)?.cast();
                    held.send_telling(to, cells, &mut |_, _| observer.look())?;
                }
            }
        }
        self.state.is_whole = true;
        let stays = [Buffer::Data.into(), Buffer::Report.into()];
        held.spare(&BufferId::ALL.iter().copied().filter(|what| !stays.contains(what)).collect::<Vec<_>>())?;
        held.plan = plan;
        Ok(true)
    }

    /// Splits rows into batches whose lists fit, and commits their memory.
    fn whole_batches(&mut self, lists: &Lists, rows: Vec<u32>, level: Level) -> Result<Vec<Vec<u32>>> {
        let p = self.gauss.p;
        let held = &mut self.search.engine.held;
        let room = held.room(&[Buffer::Slots.into()])?;
        let (mut batches, mut batch, mut entries, mut most) = (Vec::new(), Vec::new(), 0, 0);
        for x in rows {
            let degree = lists.degree(x as usize);
            if !batch.is_empty() && Places::whole(p, entries + degree, level).end > room {
                batches.push(std::mem::take(&mut batch));
                entries = 0;
            }
            batch.push(x);
            entries += degree;
            most = most.max(Places::whole(p, entries, level).end);
        }
        batches.push(batch);
        held.plan.set(Buffer::Slots, most);
        held.commit()?;
        self.begin_level(level)?;
        Ok(batches)
    }

    /// Plans what a level takes besides its batches, which get what is left.
    fn plan_packed(&mut self, level: Level, observer: &mut dyn Observer) -> Result<()> {
        // Blocks take the memory of the matrix, or of level 1's slices.
        (self.state.is_whole, self.state.has_halves, self.state.level) = (false, false, None);
        if !self.state.is_there {
            self.plan_gpu(0, false)?;
            self.begin_gpu(observer)?;
        }
        self.search.ends = 1 << 24;
        let binomials = self.search.binomial_count(level.size, level.widest);
        let scratch = self.search.scratch_of_sets(level.size, level.widest);
        let kept = kept();
        let held = &mut self.search.engine.held;
        held.spare(&BufferId::ALL.iter().copied().filter(|what| !kept.contains(what)).collect::<Vec<_>>())?;
        held.plan.set(Buffer::Binomials, if level.size > 1 { 8 * binomials } else { 0 });
        held.plan.set(Buffer::Scratch, if level.size > 1 { scratch } else { 0 });
        Ok(())
    }

    /// Sets the arguments that a level's launches share, once its memory is committed.
    fn begin_level(&mut self, level: Level) -> Result<()> {
        self.search.ends = 1 << 24;
        self.search.set_report()?;
        if level.size > 1 {
            self.search.send_binomials(level.size, level.widest)?;
        }
        Ok(())
    }

    /// Splits rows into batches that fit, and commits their memory. With `together` all must fit at once, else the result is `None`;
    /// without, they run one after the other.
    fn batches(&mut self, lists: &Lists, rows: &[u32], level: Level, together: bool) -> Result<Option<Vec<Batch>>> {
        let mut by_width: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for &x in rows {
            by_width.entry(width_of(lists.degree(x as usize) + 1)).or_default().push(x);
        }
        let held = &mut self.search.engine.held;
        let room = held.room(&[Buffer::Data.into()])?;
        let most_gathered = self.state.rows.most_gathered();
        let mut batches = Vec::new();
        // Bytes of the earlier batches that stay, and the most bytes in use.
        let (mut at, mut most) = (0, 0);
        for Class { width, rows, .. } in join(by_width, |x| lists.degree(x), room, level) {
            let mut rest = &rows[..];
            while !rest.is_empty() {
                let (mut count, mut entries, mut cells, mut bytes) = (0, 0, 0, 0);
                for &x in rest {
                    let degree = lists.degree(x as usize);
                    let cells_with = cells + closely(degree + 1);
                    let with = Places::new(count + 1, width, entries + degree, cells_with, level).end;
                    let is_much = (count + 1) * width > MOST_NUMBERS || entries + count + degree + 1 > most_gathered;
                    if together && at + with > room {
                        return Ok(None);
                    }
                    if (with > room || is_much) && count > 0 {
                        break;
                    }
                    if with > room || degree + 1 > most_gathered {
                        let needed = held.plan.total() + with;
                        let what = format!(
                            "variable {} with its {degree} neighbours does not fit at level {}",
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
                if together {
                    at += bytes;
                }
                rest = &rest[count..];
            }
        }
        held.plan.set(Buffer::Data, most);
        held.commit()?;
        self.begin_level(level)?;
        Ok(Some(batches))
    }

    /// Runs the sides that are asked of a batch's rows, and enters the results.
    fn run_batch(
        &mut self,
        placed: &Placed,
        asking: &mut Asking,
        share: f64,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (local, level) = (&placed.local, asking.level);
        let mut is_asked = vec![false; local.entries()];
        for (row, &x) in local.rows.iter().enumerate() {
            asking.of_row(x).iter().for_each(|open| is_asked[local.starts[row] + open.place as usize] = true);
        }
        if !is_asked.contains(&true) {
            return Ok(());
        }
        self.search.engine.held.piece(local.rows.len());
        self.begin_batch(asking.work.neighbours, placed, level, &is_asked, asking.second)?;
        let total = asking.work.cost();
        observer.progress(level.size, share * 0.999 * total, total)?;
        let (mut args, entries) = (self.search.args, local.entries());
        let report = match level.size {
            1 => self.run_side_of_singles(&args, entries, observer)?,
            _ => self.run_side_of_sets(level, &mut args, local.count(), observer)?,
        };
        let held = &mut self.search.engine.held;
        held.gpu.copies_follow()?;
        let found = SideFound::bring(held, args.values, entries, level.size)?;
        asking.enter(placed, &found, report.exact, &held.pool.clone());
        Ok(())
    }

    /// Tests a side of a batch given single variables.
    fn run_side_of_singles(
        &mut self,
        args: &SearchArgs,
        entries: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report> {
        self.search.reset_report(0)?;
        let warps = (entries as u32).min(self.search.engine.held.gpu.processors * 32);
        let in_block = DECIDING_THREADS / WARP;
        let launch =
            Kernel::side_single.on((warps.div_ceil(in_block), 1), DECIDING_THREADS, 3 * 8 * u64::from(in_block));
        // SAFETY: lists, slots, twins and results are the batch's; each warp has three numbers of shared memory.
        unsafe { self.search.engine.held.gpu.launch(launch, args)? };
        self.search.report("level 1", &mut || observer.look())
    }

    /// Tests a side of a batch given sets; the batch has `count` numbers of vertices.
    fn run_side_of_sets(
        &mut self,
        level: Level,
        args: &mut SearchArgs,
        count: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report> {
        let doubles = settle_doubles(level.size as u64);
        let block = self.search.engine.working_memory(args, doubles, DECIDING_THREADS)?;
        let warps = (self.search.ends as u32).min(self.search.engine.held.gpu.processors * 32);
        let blocks = (warps.div_ceil(block.threads / WARP), 1);
        self.search.begin_side(level.size, level.widest, args.second, 0..count)?;
        loop {
            let launch = Kernel::settle_sides.on(blocks, block.threads, block.shared);
            // The kernel does nothing if the side did not finish in its time.
            // SAFETY: lists, slots, twins and results are the batch's; each warp has `settle_doubles` of working memory.
            unsafe { self.search.engine.held.gpu.launch(launch, args)? };
            let report = self.search.report("running a level of tests", &mut || observer.look())?;
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
        let level = Level { size: 2, widest: 200, of_data: false };
        let degrees: Vec<usize> = (0..900).map(|x| 3 + (x * 7919) % if x % 50 == 0 { 190 } else { 12 }).collect();
        let mut by_width: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (x, &degree) in degrees.iter().enumerate() {
            by_width.entry(width_of(degree + 1)).or_default().push(x as u32);
        }
        let bytes = |classes: &[Class]| classes.iter().map(|class| class.bytes(level)).sum::<u64>();
        let apart = join(by_width.clone(), |x| degrees[x], 0, level);
        assert_eq!(apart.len(), by_width.len());
        let mut counts = std::collections::BTreeSet::new();
        for room in (0..40).map(|k| bytes(&apart) + (k << 20)) {
            let joined = join(by_width.clone(), |x| degrees[x], room, level);
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
        // Beyond `WIDENED`, more room joins no more.
        assert!(counts.len() > 2 && !counts.contains(&1) && counts.contains(&apart.len()), "{counts:?}");
    }
}
