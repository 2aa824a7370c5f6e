//! Level 1 by pairs of panels. The smaller vertices of its pairs are those of one panel of rows, which stays while panels with the larger ones
//! pass by: two take turns, so that one is copied while the other is worked on. A panel that stays takes most of the memory, as the
//! rows that pass are as many as the matrix has, once for each that stays.

use std::ops::Range;

use super::cut::{cut, Cut, Ends, Room};
use super::marginal::too_little;
use super::{cells_of, local, BlockSearch};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::held::Held;
use crate::engine::cuda::card::kernels::{Kernel, WARP};
use crate::engine::cuda::card::transfer::threads_for;
use crate::engine::cuda::gauss::rows::{Cells, Panel, STEP};
use crate::engine::cuda::gauss::singles::PANEL_WAYS;
use crate::engine::cuda::gauss::source::Source;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::USUAL_THREADS;
use crate::observer::Observer;
use crate::search::levels::LevelReport;
use crate::Result;

/// How many cells pass in the time that one is gathered from a matrix on the host.
const EFFORT_OF_GATHERED: u64 = 4;

/// How level 1 is cut, of a graph with these neighbours; `near`: with correlations by neighbour, for columns.
struct Level {
    cut: Cut,
    ends: Ends,
    near: bool,
}

impl BlockSearch<'_, '_> {
    /// Level 1; `widest` is the largest degree.
    pub(super) fn run_panels(&mut self, widest: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let (gauss, p) = (self.gauss, self.gauss.p);
        self.search.set_rules(&gauss.test, 1);
        let ends = Ends::new(&self.degrees, self.answer.firsts());
        let [columns, masks] = self.search.level_one_ends(&gauss.test);
        let near = self.search.columns_serve(columns, widest) && ends.has_between(columns..masks);
        let cut = match self.plan_panels(&ends, Some(near)) {
            Ok(cut)
                if self.wished_rows().is_none()
                    && self.cells_of_packed() < cut.cells(p)
                    && self.has_room_for(widest)? =>
            {
                return self.run_packed_singles(widest, observer);
            }
            Err(short) if self.wished_rows().is_none() && short.is_short_of_device_memory() => {
                return match self.run_packed_singles(widest, observer) {
                    Err(error) if error.is_short_of_device_memory() => Err(short),
                    found => found,
                };
            }
            cut => cut?,
        };
        let level = Level { cut, ends, near };
        let (cut, ends) = (&level.cut, &level.ends);
        self.search.args.mask_ends = masks;
        self.search.args.column_ends = if near { columns } else { u64::MAX };
        self.number_pairs()?;
        // What is left goes where the pairs of the empty set were, which have been brought.
        let held = &mut self.search.engine.held;
        let (from, card, count) = (self.search.args.graph, held.card.clone(), p * self.search.args.words as usize);
        held.copy_from(self.search.args.empty, &card, from, count)?;
        self.search.args.left_graph = self.search.args.empty;
        self.answer.begin_singles()?;
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

    /// Plans and commits the memory of level 1; `near`: whether it takes correlations by neighbour, none: no panels pass.
    fn plan_panels(&mut self, ends: &Ends, near: Option<bool>) -> Result<Cut> {
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
                let passing_rows = if near.is_some() { STEP as u64 } else { 0 };
                let least = Room { rows: STEP as u64, passing_rows, ..Room::default() };
                let needed = held.plan.total()
                    + least.uses(p as u64, near == Some(true)).iter().sum::<u64>()
                    + 28 * Ends::within(&ends.all, &rows);
                return Err(too_little(
                    held,
                    needed,
                    match near {
                        Some(_) => "that is for the graph, and for three times 64 rows of the correlations",
                        None => "that is for the graph, and for 64 rows of the correlations",
                    },
                ));
            }
        };
        for (what, bytes) in uses.into_iter().zip(found.room.uses(p as u64, near == Some(true))) {
            held.plan.set(what, bytes);
        }
        held.commit()?;
        Ok(found)
    }

    /// How many cells of correlations small matrices of each row's neighbours have, which are made once for each side; a compact result wants the
    /// p-values of level 0, too, for which all pass once.
    fn cells_of_packed(&self) -> u64 {
        let degrees = self.degrees.iter().filter(|&&degree| degree > 1);
        let cells: u64 = degrees.map(|degree| local::cells_of(local::width_of(degree + 1)) as u64).sum();
        let effort = if let Source::Matrix(_) = self.gauss.source { EFFORT_OF_GATHERED } else { 1 };
        2 * effort * cells + if self.answer.wants_values() { (self.gauss.p * self.gauss.p) as u64 } else { 0 }
    }

    /// Level 1 where small matrices of each row's neighbours take fewer cells than the panels that would pass.
    fn run_packed_singles(&mut self, widest: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        if self.answer.wants_values() {
            self.bring_values(observer)?;
        }
        self.run_packed(1, widest, observer)
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
        Level { cut, ends, near }: &Level,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (p, gauss, near) = (self.gauss.p, self.gauss, *near);
        let cells = cells_of(&gauss, &self.data);
        let held = &mut self.search.engine.held;
        let at: DevicePtr<f64> = held.device(Buffer::Data)?.cast();
        self.search.args.c = at.before((rows.start * p) as u64);
        self.search.args.split = rows.end as u64;
        self.search.args.pitch = p as u64;
        self.search.args.list = held.device(Buffer::List)?;
        self.search.args.p_max = held.device(Buffer::PMax)?.before(ends.larger[rows.start]);
        self.search.args.verdict = if cut.room.ends > 0 { held.device(Buffer::Verdicts)? } else { DevicePtr::NULL };
        if near {
            self.search.args.near = held.device(Buffer::Near)?;
        }
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
        Level { cut, ends, near }: &Level,
        [before, part]: [f64; 2],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (p, gauss, near) = (self.gauss.p, self.gauss, *near);
        // The rows of the correlations where a passing panel starts, and its lists.
        let place = |turn: usize| {
            let slot = (turn % 2) as u64;
            (cut.room.rows + slot * cut.room.passing_rows, cut.room.ends + slot * cut.room.passing_ends)
        };
        let base: DevicePtr<f64> = self.search.engine.held.device(Buffer::Data)?.cast();
        if turn > 0 {
            let (row, list) = place(turn - 1);
            self.search.args.c_larger = base.offset(row * p as u64).before((larger.start * p) as u64);
            self.fill_lists(larger, list, ends)?;
            if near {
                // SAFETY: as for those that stay.
                unsafe { self.search.launch(Kernel::panel_column_near, self.search.blocks_for(larger.len() as u64))? };
            }
        } else {
            self.search.args.c_larger = self.search.args.c;
        }
        (self.search.args.first_larger, self.search.args.end_larger) = (larger.start as u64, larger.end as u64);
        if let Cells::Matrix(_) = cells_of(&gauss, &self.data) {
            let tasks = (rows.len() * larger.len().div_ceil(WARP as usize)) as u64;
            (self.search.args.first_row, self.search.args.end_row) = (rows.start as u64, rows.end as u64);
            // SAFETY: the correlations of these rows are there.
            unsafe { self.search.launch(Kernel::panel_symmetry, self.search.blocks_for(tasks))? };
        }
        let cost: f64 = rows.clone().map(|x| self.search.cost_of_singles(x, &ends.all)).sum();
        let launches = cost * larger.len() as f64 / p as f64;
        let launches = (launches / self.search.engine.options.launch_share).ceil().max(1.0) as usize;
        let each = rows.len().div_ceil(launches).next_multiple_of(STEP);
        let mut next = next;
        for first in rows.clone().step_by(each) {
            let end = rows.end.min(first + each);
            self.launch_rows(first..end, larger)?;
            if let Some((turn, panel)) = next.take() {
                let (row, _) = place(turn);
                let at = base.offset(row * p as u64);
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
        let report = search.report("level 1", &mut || observer.look())?;
        if report.undefined != u64::MAX {
            return Err(self.differing(report.undefined));
        }
        let held = &mut search.engine.held;
        let at = held.device(Buffer::PMax)?;
        let pairs = ends.larger[rows.start] as usize..ends.larger[rows.end] as usize;
        match self.answer.left_values(pairs.clone()) {
            Some(values) => held.bring_into(at, values, &mut || observer.look())?,
            None => {
                let values = held.bring_all(at, count)?;
                self.answer.enter_rows(&held.pool, rows, &values);
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
        self.check_pairs()?;
        let ends = Ends::new(&self.degrees, self.answer.firsts());
        self.search.set_rules(&self.gauss.test, 0);
        let cut = self.plan_panels(&ends, None)?;
        let level = Level { cut, ends, near: false };
        self.number_pairs()?;
        for rows in &level.cut.stay {
            self.place_staying(rows, &level, observer)?;
            self.search.args.verdict = DevicePtr::NULL;
            self.end_staying(rows, &level.ends, observer)?;
        }
        Ok(())
    }
}
