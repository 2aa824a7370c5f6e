//! Level 1 by pairs of panels. The smaller vertices of its pairs are those of one panel of rows, which stays while panels with the larger ones
//! pass by: two take turns, so that one is copied while the other is worked on. A panel that stays takes most of the memory, as the
//! rows that pass are as many as the matrix has, once for each that stays.

use std::ops::Range;

use super::marginal::too_little;
use super::{cells_of, BlockSearch};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::held::Held;
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::card::transfer::threads_for;
use crate::engine::cuda::gauss::rows::{Cells, Panel, STEP};
use crate::engine::cuda::gauss::singles::{COLUMN_TESTS, LISTED_TESTS, MASKED_TESTS, PANEL_WAYS};
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::USUAL_THREADS;
use crate::graph::Adjacency;
use crate::observer::Observer;
use crate::search::levels::LevelReport;
use crate::Result;

/// Of the memory for panels, the part of the one that stays, in eighths; each of two that pass gets an eighth.
const STAYS: u64 = 6;

/// How many neighbours come before each row, and how many larger ones: p + 1 numbers.
struct Ends {
    all: Vec<u64>,
    larger: Vec<u64>,
}

impl Ends {
    fn of(graph: &Adjacency) -> Self {
        let p = graph.p();
        let (mut all, mut larger) = (vec![0; p + 1], vec![0; p + 1]);
        for x in 0..p {
            let (words, own) = (graph.row(x), x / 64);
            let count = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            let above = count(&words[own + 1..]) + u64::from((words[own] & (!1 << (x % 64))).count_ones());
            all[x + 1] = all[x] + count(words);
            larger[x + 1] = larger[x] + above;
        }
        Ends { all, larger }
    }

    fn within(ends: &[u64], rows: &Range<usize>) -> u64 {
        ends[rows.end] - ends[rows.start]
    }
}

/// How level 1 is cut, of a graph with these neighbours; `near`: with correlations by neighbour, for columns; `widest`: the largest degree.
struct Level {
    cut: Cut,
    ends: Ends,
    near: bool,
    widest: usize,
}

/// The panels of a level.
struct Cut {
    /// The panels that stay, and those that pass, of which the part beyond the staying one's rows counts; the latter may be none.
    stay: Vec<Range<usize>>,
    pass: Vec<Range<usize>>,
    room: Room,
}

/// The most rows, neighbours, and larger ones that a panel has that stays; rows and neighbours of one that passes.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    rows: u64,
    ends: u64,
    larger: u64,
    passing_rows: u64,
    passing_ends: u64,
}

impl Room {
    /// Bytes of the uses of memory, with p columns; `near`: with correlations by neighbour.
    fn uses(&self, p: u64, near: bool) -> [u64; 6] {
        let ends = self.ends + 2 * self.passing_ends;
        [
            8 * p * (self.rows + 2 * self.passing_rows),
            4 * ends,
            if near { 8 * ends } else { 0 },
            4 * self.ends,
            8 * self.larger,
            4 * self.larger,
        ]
    }
}

/// Panels whose cost is at most `share`, or of [`STEP`] rows.
fn panels(p: usize, share: u64, most: usize, cost: impl Fn(&Range<usize>) -> u64) -> Vec<Range<usize>> {
    let mut panels = Vec::new();
    let mut first = 0;
    while first < p {
        let mut end = p.min(first + STEP);
        while end < p && end - first + STEP <= most && cost(&(first..p.min(end + STEP))) <= share {
            end = p.min(end + STEP);
        }
        panels.push(first..end);
        first = end;
    }
    panels
}

/// Cuts the level so that it takes no more than `room` bytes, with panels of at most `most` rows; none where that cannot be.
fn cut(ends: &Ends, p: usize, room: u64, most: usize, near: bool) -> Option<Cut> {
    let each = if near { 12 } else { 4 };
    let stays = |rows: &Range<usize>| {
        8 * (p * rows.len()) as u64 + (each + 4) * Ends::within(&ends.all, rows) + 12 * Ends::within(&ends.larger, rows)
    };
    let passes = |rows: &Range<usize>| 8 * (p * rows.len()) as u64 + each * Ends::within(&ends.all, rows);
    let mut share = room / 8;
    while share > 0 {
        let whole = most >= p && stays(&(0..p)) <= room;
        let stay = if whole { std::iter::once(0..p).collect() } else { panels(p, STAYS * share, most, stays) };
        let pass = if stay.len() == 1 { Vec::new() } else { panels(p, share, most, passes) };
        let most_of =
            |panels: &[Range<usize>], of: &dyn Fn(&Range<usize>) -> u64| panels.iter().map(of).max().unwrap_or(0);
        let found = Room {
            rows: most_of(&stay, &|rows| rows.len() as u64),
            ends: most_of(&stay, &|rows| Ends::within(&ends.all, rows)),
            larger: most_of(&stay, &|rows| Ends::within(&ends.larger, rows)),
            passing_rows: most_of(&pass, &|rows| rows.len() as u64),
            passing_ends: most_of(&pass, &|rows| Ends::within(&ends.all, rows)),
        };
        // Panels with the most rows and with the most neighbours may be different ones.
        if found.uses(p as u64, near).iter().map(|bytes| bytes.max(&256).next_multiple_of(256)).sum::<u64>() <= room {
            return Some(Cut { stay, pass, room: found });
        }
        share = share * 7 / 8;
    }
    None
}

impl BlockSearch<'_, '_> {
    /// Level 1; `widest` is the largest degree.
    pub(super) fn run_panels(&mut self, widest: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let (gauss, p) = (self.gauss, self.gauss.p);
        self.search.set_rules(&gauss.test, 1);
        let ends = Ends::of(&self.graph);
        let [columns, masks] = self.search.level_one_ends(&gauss.test);
        let near = self.search.columns_serve(columns, widest);
        let cut = self.plan_panels(&ends, near)?;
        let level = Level { cut, ends, near, widest };
        let (cut, ends) = (&level.cut, &level.ends);
        self.search.args.mask_ends = masks;
        self.search.args.column_ends = if near { columns } else { u64::MAX };
        self.number_pairs()?;
        // What is left goes where the pairs of the empty set were, which have been brought.
        let held = &mut self.search.engine.held;
        let (from, card, count) = (self.search.args.graph, held.card.clone(), p * self.search.args.words as usize);
        held.copy_from(self.search.args.empty, &card, from, count)?;
        self.search.args.left_graph = self.search.args.empty;
        self.answer.begin_singles(&self.graph, &ends.larger)?;
        self.search.reset_report(0)?;
        let total = *ends.larger.last().unwrap_or(&0) as f64;
        let mut done = 0.0;
        for rows in &cut.stay {
            self.search.engine.held.piece(rows.len());
            self.place_staying(rows, &level, observer)?;
            let pass: Vec<Range<usize>> = cut
                .pass
                .iter()
                .map(|pass| pass.start.max(rows.end)..pass.end)
                .filter(|pass| !pass.is_empty())
                .collect();
            let shares = (pass.len() + 1) as f64;
            let all = Ends::within(&ends.larger, rows) as f64;
            for turn in 0..=pass.len() {
                let larger = if turn == 0 { rows.clone() } else { pass[turn - 1].clone() };
                let next = pass.get(turn).map(|next| (turn, next));
                let part = [(done + all * turn as f64 / shares) / total, all / total / shares];
                self.run_pair([rows, &larger], turn, next, &level, part, observer)?;
            }
            self.end_staying(rows, ends, observer)?;
            done += all;
        }
        let report = self.search.report("level 1", &mut || observer.look())?;
        let graph = self.search.bring_graph(self.search.args.left_graph)?;
        self.take_graph(graph);
        observer.progress(1, 1.0, 1.0)?;
        let go_on = self.fast() || report.go_on != 0;
        Ok(LevelReport { tests: report.tests, exact_tests: report.exact, go_on })
    }

    /// Plans and commits the memory of level 1.
    fn plan_panels(&mut self, ends: &Ends, near: bool) -> Result<Cut> {
        let p = self.gauss.p;
        let most = self.wished_rows().unwrap_or(p).min(self.rows.most_rows(p)).max(STEP);
        let held = &mut self.search.engine.held;
        let uses: [crate::engine::cuda::card::buffer::BufferId; 6] = [
            Buffer::Data.into(),
            Buffer::List.into(),
            Buffer::Near.into(),
            Buffer::Verdicts.into(),
            Buffer::PMax.into(),
            Buffer::Log.into(),
        ];
        held.let_go(&uses)?;
        held.plan.set(Buffer::Ranks, 8 * p as u64 + 4 * (p * p.div_ceil(64)) as u64);
        let room = held.room(&[])?;
        let found = match cut(ends, p, room, most, near) {
            Some(found) => found,
            None => {
                let rows = 0..p.min(STEP);
                let least = Room { rows: STEP as u64, passing_rows: STEP as u64, ..Room::default() };
                let needed = held.plan.total()
                    + least.uses(p as u64, near).iter().sum::<u64>()
                    + 28 * Ends::within(&ends.all, &rows);
                return Err(too_little(
                    held,
                    needed,
                    "that is for the graph, and for three times 64 rows of the correlations",
                ));
            }
        };
        for (what, bytes) in uses.into_iter().zip(found.room.uses(p as u64, near)) {
            held.plan.set(what, bytes);
        }
        held.commit()?;
        Ok(found)
    }

    /// Has the kernels number the pairs x < y of the graph, by which their p-values are kept.
    fn number_pairs(&mut self) -> Result<()> {
        let p = self.gauss.p as u64;
        let ranks = self.search.engine.held.device(Buffer::Ranks)?;
        self.search.args.left_first = ranks;
        self.search.args.left_before = ranks.offset(p).cast();
        self.search.args.left = self.search.args.graph.cast();
        // SAFETY: the places are those planned, and the degrees are those of the graph.
        unsafe {
            self.search.by_row(Kernel::rank_words)?;
            self.search.over_rows(Kernel::rank_rows)
        }
    }

    /// Lists of rows at a place of the lists, and their neighbours' correlations, which must be there.
    fn fill_lists(&mut self, rows: &Range<usize>, place: u64, ends: &Ends) -> Result<()> {
        let starts: Vec<u64> =
            ends.all[rows.start..=rows.end].iter().map(|end| place + end - ends.all[rows.start]).collect();
        self.search.engine.held.upload(self.search.args.offset.offset(rows.start as u64), &starts)?;
        (self.search.args.first_row, self.search.args.end_row) = (rows.start as u64, rows.end as u64);
        // SAFETY: there is room for the lists of these rows from their first place on.
        unsafe { self.search.launch(Kernel::fill, self.search.blocks_for(rows.len() as u64)) }
    }

    /// Brings the rows of a panel that stays.
    fn place_staying(
        &mut self,
        rows: &Range<usize>,
        Level { cut, ends, near, .. }: &Level,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (p, gauss, near) = (self.gauss.p, self.gauss, *near);
        let cells = cells_of(&gauss, &self.data);
        let held = &mut self.search.engine.held;
        let at: DevicePtr<f64> = held.device(Buffer::Data)?.cast();
        self.search.args.c = at;
        self.search.args.pitch = p as u64;
        self.search.args.list = held.device(Buffer::List)?;
        self.search.args.p_max = held.device(Buffer::PMax)?.before(ends.larger[rows.start]);
        self.search.args.verdict = if cut.room.ends > 0 { held.device(Buffer::Verdicts)? } else { DevicePtr::NULL };
        if near {
            self.search.args.near = held.device(Buffer::Near)?;
        }
        self.search.args.split = rows.end as u64;
        self.search.args.low_shift = rows.start as u64;
        self.search.args.high_shift = rows.start as u64;
        self.rows.make(held, cells, p, &Panel { rows: rows.clone(), pitch: p, at }, &mut || observer.look())?;
        held.wait("copying to the GPU", &mut || observer.look())?;
        // Lists that pass may begin where the last row ends.
        self.fill_lists(rows, cut.room.ends - Ends::within(&ends.all, rows), ends)?;
        if near {
            // SAFETY: lists and correlations of these rows are there, with as many elements of `near`.
            unsafe { self.search.launch(Kernel::panel_column_near, self.search.blocks_for(rows.len() as u64))? };
        }
        Ok(())
    }

    /// Tests the pairs of a panel that stays with the larger vertices of one that passes, `turn` 0: of itself. Meanwhile the next is copied.
    fn run_pair(
        &mut self,
        [rows, larger]: [&Range<usize>; 2],
        turn: usize,
        next: Option<(usize, &Range<usize>)>,
        Level { cut, ends, near, widest }: &Level,
        [before, part]: [f64; 2],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (p, gauss, near, widest) = (self.gauss.p, self.gauss, *near, *widest);
        // The rows of the correlations where a passing panel starts, and its lists.
        let place = |turn: usize| {
            let slot = (turn % 2) as u64;
            (cut.room.rows + slot * cut.room.passing_rows, cut.room.ends + slot * cut.room.passing_ends)
        };
        if turn > 0 {
            let (row, list) = place(turn - 1);
            self.search.args.high_shift = (larger.start as u64).wrapping_sub(row);
            self.fill_lists(larger, list, ends)?;
            if near {
                // SAFETY: as for those that stay.
                unsafe { self.search.launch(Kernel::panel_column_near, self.search.blocks_for(larger.len() as u64))? };
            }
        } else {
            self.search.args.high_shift = self.search.args.low_shift;
        }
        (self.search.args.first_larger, self.search.args.end_larger) = (larger.start as u64, larger.end as u64);
        let pairs = Ends::within(&ends.all, rows) as f64 * larger.len() as f64 / p as f64;
        let args = &self.search.args;
        let mut launches = 0.0;
        if args.mask_ends <= self.search.ends {
            launches += pairs * p as f64 / MASKED_TESTS;
        }
        if args.column_ends < u64::MAX {
            launches += 2.0 * pairs * widest as f64 / COLUMN_TESTS;
        }
        if args.mask_ends.min(args.column_ends) > 0 {
            launches += 2.0 * pairs * widest as f64 / LISTED_TESTS;
        }
        let launches = (launches / self.search.engine.options.launch_share).ceil().max(1.0) as usize;
        let each = rows.len().div_ceil(launches).next_multiple_of(STEP);
        let mut next = next;
        for first in rows.clone().step_by(each) {
            let end = rows.end.min(first + each);
            self.launch_rows(first..end, larger)?;
            if let Some((turn, panel)) = next.take() {
                let (row, _) = place(turn);
                let at = self.search.args.c.offset(row * p as u64);
                let panel = Panel { rows: panel.clone(), pitch: p, at };
                let cells = cells_of(&gauss, &self.data);
                let held = &mut self.search.engine.held;
                let mut bring = |held: &mut Held| self.rows.make(held, cells, p, &panel, &mut || observer.look());
                match cells {
                    Cells::Matrix(_) => held.beside(bring)?,
                    // Kernels make them.
                    Cells::Data(_) => bring(held)?,
                }
            }
            self.search.engine.held.wait("level 1", &mut || observer.look())?;
            let share = (end - rows.start) as f64 / rows.len() as f64;
            observer.progress(1, (before + part * share).min(1.0) * 0.999, 1.0)?;
        }
        Ok(())
    }

    /// Puts the pairs of some of the rows that stay with the larger vertices on the stream.
    fn launch_rows(&mut self, rows: Range<usize>, larger: &Range<usize>) -> Result<()> {
        let search = &mut self.search;
        let own = [rows.start as u64, rows.end as u64];
        [search.args.first_row, search.args.end_row] = own;
        [search.args.first_smaller, search.args.end_smaller] = own;
        if search.args.mask_ends <= search.ends {
            search.launch_masks(&PANEL_WAYS, rows.len(), larger.len())?;
        }
        if search.args.column_ends < u64::MAX {
            // The blocks' vertices are the larger ones.
            [search.args.first_row, search.args.end_row] = [larger.start as u64, larger.end as u64];
            search.launch_columns(&PANEL_WAYS, 0, larger.len())?;
            [search.args.first_row, search.args.end_row] = own;
            search.launch_columns(&PANEL_WAYS, 1, rows.len())?;
        }
        if search.args.mask_ends.min(search.args.column_ends) > 0 {
            search.launch_lists(&PANEL_WAYS, rows.len())?;
        }
        Ok(())
    }

    /// Ends level 1 of the pairs of a panel that stays, and brings what was found.
    fn end_staying(&mut self, rows: &Range<usize>, ends: &Ends, observer: &mut dyn Observer) -> Result<()> {
        let search = &mut self.search;
        let count = Ends::within(&ends.larger, rows) as usize;
        if count == 0 {
            return Ok(());
        }
        let starts: Vec<u64> =
            ends.larger[rows.start..=rows.end].iter().map(|end| end - ends.larger[rows.start]).collect();
        search.engine.held.upload(search.args.first_record.offset(rows.start as u64), &starts)?;
        (search.args.first_row, search.args.end_row) = (rows.start as u64, rows.end as u64);
        let ran = !search.args.verdict.is_null();
        search.args.log = if ran { search.engine.held.device(Buffer::Log)? } else { DevicePtr::NULL };
        let blocks = search.blocks_for(rows.len() as u64);
        // SAFETY: lists, verdicts and p-values of these rows are there, and room for the verdicts of their pairs.
        unsafe {
            if ran {
                search.launch(Kernel::settle_single, blocks)?;
            }
            let launch = Kernel::panel_values.on((blocks, 1), USUAL_THREADS, 0);
            search.engine.held.card.launch(launch, &search.args)?;
        }
        search.all_rows();
        let held = &mut search.engine.held;
        held.wait("level 1", &mut || observer.look())?;
        let at = held.device(Buffer::PMax)?;
        let pairs = ends.larger[rows.start] as usize..ends.larger[rows.end] as usize;
        match self.answer.left_values(pairs.clone()) {
            Some(values) => held.bring_into(at, values, &mut || observer.look())?,
            None => {
                let values = held.bring_all(at, count)?;
                self.answer.enter_rows(&held.pool, &self.graph, rows, &starts, &values);
            }
        }
        if ran {
            let pool = held.pool.clone();
            let to = self.answer.verdicts(pairs);
            held.bring(
                search.args.log,
                count,
                |end| end,
                |first, piece| {
                    let part = piece.len().div_ceil(threads_for(&pool, piece.len() / 2)).max(1);
                    let to = &mut to[first..first + piece.len()];
                    pool.each_of(to.chunks_mut(part).zip(piece.chunks(part)).collect(), |_, (to, from)| {
                        to.copy_from_slice(from)
                    });
                    observer.look()
                },
            )?;
        }
        observer.look()
    }

    /// The p-values of the pairs that level 0 left, where level 1 has not run.
    pub(super) fn bring_values(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let ends = Ends::of(&self.graph);
        self.search.set_rules(&self.gauss.test, 0);
        let cut = self.plan_panels(&ends, false)?;
        let level = Level { cut, ends, near: false, widest: 0 };
        self.number_pairs()?;
        for rows in &level.cut.stay {
            self.place_staying(rows, &level, observer)?;
            self.search.args.verdict = DevicePtr::NULL;
            self.end_staying(rows, &level.ends, observer)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(p: usize, one_in: u64) -> Adjacency {
        let mut graph = Adjacency::empty(p);
        let mut random = 5u64;
        for x in 0..p {
            for y in x + 1..p {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                if (random >> 33) % one_in == 0 {
                    graph.insert(x, y);
                }
            }
        }
        graph
    }

    #[test]
    fn every_pair_is_in_one_pair_of_panels_that_fit() {
        for (p, one_in) in [(65, 1), (300, 2), (700, 50), (130, 1000)] {
            let graph = graph(p, one_in);
            let ends = Ends::of(&graph);
            for near in [false, true] {
                for room in (0..24).map(|k| 200_000u64 << k >> (k / 2)) {
                    let Some(cut) = cut(&ends, p, room, p, near) else { continue };
                    assert!(cut.room.uses(p as u64, near).iter().sum::<u64>() <= room);
                    let mut seen = 0;
                    for rows in &cut.stay {
                        assert!(rows.start % STEP == 0 && rows.len() as u64 <= cut.room.rows);
                        assert!(Ends::within(&ends.all, rows) <= cut.room.ends);
                        seen += rows.len() * (rows.len() - 1) / 2;
                        for pass in &cut.pass {
                            assert!(pass.start % STEP == 0 && pass.len() as u64 <= cut.room.passing_rows);
                            seen += rows.len() * (pass.start.max(rows.end)..pass.end).len();
                        }
                    }
                    assert_eq!(seen, p * (p - 1) / 2, "{p} {room}");
                }
                assert!(cut(&ends, p, 1000, p, near).is_none());
            }
            assert_eq!(ends.all[p] as usize, 2 * graph.edge_count());
            assert_eq!(ends.larger[p] as usize, graph.edge_count());
        }
    }
}
