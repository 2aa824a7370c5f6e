//! Level 0 by panels: some rows of the correlations at a time, each up to its own column. The next panel is copied while one is tested.

use std::ops::Range;

use super::screen::{self, Screen};
use super::{cells_of, hash, Blocks};
use crate::engine::cuda::arguments::{SliceArgs, OPEN_KEPT};
use crate::engine::cuda::gauss::rows::{Cells, Panel, STEP};
use crate::engine::cuda::gauss::source::Source;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::Held;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::gpu::transfer::threads_for_steps;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::p_max::triangle;
use crate::engine::cuda::search::{blocks_on, USUAL_THREADS};
use crate::error::DeviceError;
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::worker::{Column, Marginals};
use crate::{Error, Result};

/// Fewest panels of a level. Half of the correlations is not needed; with more panels, less of that half is copied.
const PANELS: usize = 16;

/// Most bytes of a panel. While it is tested, the next is sent and the p-values of the previous one are copied back.
const PANEL: usize = 32 << 20;

/// Returns the error that `needed` bytes are too many, although only `what` would be on the GPU.
pub(super) fn too_little(held: &mut Held, needed: u64, what: &str) -> Error {
    match held.too_little(needed) {
        Error::Device(e) => Error::Device(DeviceError { message: format!("{what}; {}", e.message), ..e }),
        other => other,
    }
}

/// Columns of level 0 that are filled panel by panel.
struct Columns<'l, 'c> {
    level: &'l Marginals<'l>,
    pool: Pool,
    rest: std::vec::IntoIter<Column<'c>>,
}

impl Columns<'_, '_> {
    /// Fills the columns of `rows` with their packed p-values from address `at`. Values are copied from the GPU while earlier ones are
    /// entered.
    fn fill(
        &mut self,
        held: &mut Held,
        at: DevicePtr<f64>,
        rows: &Range<usize>,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let end_of = |row: usize| triangle(row) - triangle(rows.start);
        // The end of the rows whose values are all among the first `end`.
        let within =
            |end: usize| rows.start + (rows.start + 1..=rows.end).take_while(|&row| end_of(row) <= end).count();
        let mut from = rows.start;
        let level = self.level;
        let mut fill = |to: usize, at: usize, piece: &[f64]| {
            let columns = self.rest.by_ref().take(to - from).collect();
            let before = std::mem::replace(&mut from, to);
            each(&self.pool, (to - before) * level.pairs().p(), columns, |_, mut column: Column| {
                let y = column.y();
                let own = &piece[end_of(y) - at..][..y];
                let cells = column.open(level);
                if level.is_complete() {
                    cells[..y].copy_from_slice(own);
                } else {
                    let tested = level.pairs().neighbours(y).map(|x| x as usize).take_while(|&x| x < y);
                    tested.for_each(|x| cells[x] = own[x]);
                }
                column.close(level);
            });
        };
        let cut = |end: usize| end_of(within(end));
        held.bring(at, end_of(rows.end), cut, |at, piece| {
            fill(within(at + piece.len()), at, piece);
            look()
        })?;
        // Vertex 0 has no smaller one.
        fill(rows.end, end_of(rows.end), &[]);
        Ok(())
    }

    /// Fills all columns without p-values, from lists of their vertices that the empty set does not separate. `starts`: where the lists
    /// begin, and the end of the last.
    fn settle_open(self, open: &[u32], starts: &[u64]) {
        let level = self.level;
        let settle = |at: usize, column: Column| {
            let own = &open[starts[at] as usize..starts[at + 1] as usize];
            column.settle_open(level, own.iter().map(|&x| (x & !OPEN_KEPT, x & OPEN_KEPT != 0)));
        };
        let steps = 100 * starts.len() + open.len();
        each(&self.pool, steps, self.rest.collect(), settle);
    }

    /// Fills all columns without p-values, from the bits that `separated` and `kept` have for each row.
    fn settle(self, [separated, kept]: [Vec<u64>; 2]) {
        let (level, words) = (self.level, self.level.pairs().p().div_ceil(64));
        let settle = |at: usize, column: Column| {
            let own = at * words..(at + 1) * words;
            column.settle(level, &separated[own.clone()], &kept[own]);
        };
        each(&self.pool, kept.len(), self.rest.collect(), settle);
    }
}

/// Calls `work` for all columns, on several threads if that takes long. `steps`: nanoseconds on one thread, roughly.
fn each<'c>(pool: &Pool, steps: usize, columns: Vec<Column<'c>>, work: impl Fn(usize, Column<'c>) + Sync) {
    match threads_for_steps(pool, steps) {
        1 => columns.into_iter().enumerate().for_each(|(at, column)| work(at, column)),
        _ => pool.each_of(columns, work),
    }
}

impl Blocks<'_, '_> {
    /// Fills columns of level 0, which must be consecutive.
    pub(in crate::engine::cuda) fn marginal(
        &mut self,
        level: &Marginals,
        columns: Vec<Column>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let Some(first) = columns.first().map(Column::y) else { return Ok(()) };
        let (gauss, p, all) = (self.gauss, self.gauss.p, first..first + columns.len());
        self.search.refuse_few(&gauss, level.pairs(), observer)?;
        self.plan_gpu(columns.len(), true)?;
        let mut screen = self.screen(level)?;
        let (wished, keeps) = (self.wished_rows(), level.keeps());
        let held = &mut self.search.engine.held;
        if let Some(screen) = &screen {
            held.plan.set(Buffer::Halves, screen.bytes(p));
            held.plan.set(Buffer::Tiles, Screen::bytes_of_tiles(p, p.min(screen::ROWS)));
        }
        let room = held.room(&[])?;
        let bytes_of_row = |places: u64| 8 * all.end as u64 * (places + u64::from(keeps));
        // Two panels of a matrix take turns if there is room: one is sent while the other is tested. Panels of data are computed on the
        // stream itself, and gain nothing.
        let takes_turns = matches!(self.gauss.source, Source::Matrix(_));
        let places: u64 = if takes_turns && room >= bytes_of_row(2) * p.min(STEP) as u64 { 2 } else { 1 };
        let row = bytes_of_row(places);
        let most = wished.unwrap_or((PANEL / (8 * all.end)).clamp(STEP, p.div_ceil(PANELS).max(STEP)));
        let most = match screen {
            Some(_) => wished.map_or(screen::ROWS, |rows| rows.min(screen::ROWS)),
            None => most.min(self.state.rows.most_rows(p)),
        };
        let rows = ((room / row) as usize / STEP * STEP).min(most.next_multiple_of(STEP));
        if rows == 0 && room < row * p.min(STEP) as u64 {
            let needed = held.plan.total() + row * p.min(STEP) as u64;
            return Err(too_little(held, needed, "the graph and 64 rows of correlations do not fit"));
        }
        let rows = rows.max(STEP).min(p);
        let cells_of_panel = rows * all.end;
        held.plan.set(Buffer::Data, 8 * places * cells_of_panel as u64);
        held.plan.set(Buffer::PMax, if keeps { 8 * cells_of_panel as u64 } else { 0 });
        self.begin_gpu(observer)?;
        if let Some(screen) = &mut screen {
            screen.begin(self)?;
        }
        let cells = cells_of(&gauss, &self.data);
        self.search.set_rules(&gauss.test, 0);
        self.search.reset_report(0)?;
        self.search.args.keeps_marginal = u64::from(keeps);
        let words = p.div_ceil(64);
        if !keeps {
            // The kernel writes the words up to each row's own column, and whole rows come to the host.
            for graph in [self.search.args.empty, self.search.args.graph] {
                self.search.engine.held.clear(graph.cast::<u64>(), all.len() * words)?;
            }
        }
        // The GPU has only the rows of these columns.
        for graph in [&mut self.search.args.empty, &mut self.search.args.graph] {
            *graph = graph.before(2 * (all.start * words) as u64);
        }
        let done_at = |end: usize| (triangle(end) - triangle(all.start)) as f64;
        let base: DevicePtr<f64> = self.search.engine.held.device(Buffer::Data)?.cast();
        let panels: Vec<Panel> = all
            .clone()
            .step_by(rows)
            .enumerate()
            .map(|(number, first)| {
                let (end, turn) = (all.end.min(first + rows), number % places as usize);
                let at = base.offset((turn * cells_of_panel) as u64);
                Panel { rows: first..end, columns: 0..end, at, ..Panel::default() }
            })
            .collect();
        let values = if keeps { Some(self.search.engine.held.device(Buffer::PMax)?) } else { None };
        let pool = self.search.engine.held.pool.clone();
        let mut columns = Columns { level, pool, rest: columns.into_iter() };
        // Copies the p-values of a panel to the host, if they are kept.
        let mut bring = |held: &mut Held, panel: &Panel, observer: &mut dyn Observer| {
            let Some(at) = values else { return Ok(()) };
            held.gpu.copies_follow()?;
            columns.fill(held, at, &panel.rows, &mut || observer.look())
        };
        let args = self.search.args;
        let held = &mut self.search.engine.held;
        let mut judge = |held: &mut Held, number: usize, observer: &mut dyn Observer| {
            let Panel { rows: Range { start, end }, at, .. } = panels[number].clone();
            if number > 0 {
                bring(held, &panels[number - 1], observer)?;
            }
            held.piece(end - start);
            let mut args = args;
            args.c = at.before((start * end) as u64);
            args.pitch = end as u64;
            args.p_max = values.map_or_else(Default::default, |at| at.before(triangle(start) as u64));
            (args.first_row, args.end_row) = (start as u64, end as u64);
            let gpu = held.gpu.clone();
            // With two places, the next panel goes where the previous one was.
            if places == 2 {
                gpu.sends_follow()?;
            }
            gpu.follow_sends()?;
            let blocks = blocks_on(&gpu, (end - start) as u64 * args.words);
            // SAFETY: the graph's places are set. The kernels read only these rows, up to their own column, and there is room for all their
            // correlations and p-values. A screen's tiles are those of this panel.
            match &screen {
                Some(screen) => unsafe { screen.judge(held, args)? },
                None => unsafe { gpu.launch(Kernel::marginal.on((blocks, 1), USUAL_THREADS, 0), &args)? },
            }
            if matches!(cells, Cells::Matrix(_)) {
                let (first_z, end_z, pitch) = (start as u64, end as u64, end as u64);
                hash(&gpu, &SliceArgs { a: args, rows: at, pitch, first_z, end_z, ..SliceArgs::default() })?;
            }
            if places == 1 {
                gpu.sends_follow()?;
            }
            observer.progress(0, done_at(end) * 0.999, done_at(all.end))
        };
        let mut mark = |held: &mut Held, panel: &Panel, observer: &mut dyn Observer| match &screen {
            Some(screen) => screen.mark(held, &panel.rows, &mut || observer.look()),
            None => Ok(DevicePtr::NULL),
        };
        self.state.rows.make_each(held, (cells, p), &panels, observer, &mut mark, &mut judge)?;
        if let Some(last) = panels.last() {
            bring(&mut self.search.engine.held, last, observer)?;
        }
        self.search.args.keeps_marginal = 0;
        let report = self.search.report("level 0", &mut || observer.look())?;
        let is_all = all == (0..p) && matches!(cells, Cells::Matrix(_));
        self.state.lower = is_all.then_some(report.below);
        if !keeps {
            self.settle(columns, &all)?;
        }
        observer.progress(0, done_at(all.end), done_at(all.end))
    }

    /// Fills the columns of `all` from the bit rows of level 0: from lists of the pairs that the empty set does not separate, or from the bits
    /// themselves if these are shorter.
    fn settle(&mut self, columns: Columns, all: &Range<usize>) -> Result<()> {
        let (args, words) = (&mut self.search.args, self.gauss.p.div_ceil(64));
        (args.first_row, args.end_row) = (all.start as u64, all.end as u64);
        let blocks = blocks_on(&self.search.engine.held.gpu, all.len() as u64);
        // SAFETY: the bit rows are there, and room for a number for each variable.
        unsafe { self.search.launch(Kernel::count_open, blocks)? };
        let (held, args) = (&mut self.search.engine.held, &mut self.search.args);
        let mut counts = vec![0u32; all.len()];
        held.fetch(args.degree, &mut counts, "level 0")?;
        let sum = |total: &mut u64, &count: &u32| Some(std::mem::replace(total, *total + u64::from(count)));
        let total = counts.iter().map(|&count| u64::from(count)).sum::<u64>();
        let mut starts: Vec<u64> = counts.iter().scan(0, sum).collect();
        starts.push(total);
        // The panels are no longer needed, and nothing reads them.
        held.spare(&[Buffer::Data.into(), Buffer::Tiles.into()])?;
        if total * 32 > (2 * 64 * words * all.len()) as u64 || 4 * total > held.room(&[])? {
            let mut bits = |graph: DevicePtr<u32>| {
                held.bring_all(graph.cast::<u64>().offset((all.start * words) as u64), all.len() * words)
            };
            let bits = [bits(args.empty)?, bits(args.graph)?];
            columns.settle(bits);
            return Ok(());
        }
        held.plan.set(Buffer::List, 4 * total);
        held.commit()?;
        if total > 0 {
            args.list = held.device(Buffer::List)?;
            held.upload(args.offset, &starts)?;
            // SAFETY: as above, and room for all lists.
            unsafe { self.search.launch(Kernel::list_open, blocks)? };
            self.search.engine.held.gpu.copies_follow()?;
        }
        let held = &mut self.search.engine.held;
        let open = if total > 0 { held.bring_all(self.search.args.list, total as usize)? } else { Vec::new() };
        columns.settle_open(&open, &starts);
        Ok(())
    }
}
