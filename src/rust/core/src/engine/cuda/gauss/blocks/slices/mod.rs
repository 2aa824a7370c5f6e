//! Pairs of level 1 by slices of the variables that they are tested given, see kernels/gauss/slices.cuh.
//!
//! The first slice stays on the GPU. Each panel of rows is tested against it; pairs that stay open are queued. When the queue is full, or
//! all panels have passed, the remaining slices are streamed past it. All correlations cross once for each such pass. Passes are few, as
//! most pairs end in the first slice.
//!
//! In sparse graphs, `triangle` decides the pairs.

mod cut;
mod own;
mod triangle;
mod waiting;

use std::ops::Range;

use super::{cells_of, hash, local, Blocks};
use crate::engine::cuda::arguments::{Report, SliceArgs, SECOND, SLICE_THREADS, VERDICT_OPEN};
use crate::engine::cuda::gauss::rows::{Cells, Panel};
use crate::engine::cuda::gauss::source::Source;
use crate::engine::cuda::gpu::buffer::{Buffer, BufferId};
use crate::engine::cuda::gpu::held::Held;
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::gpu::opened::Gpu;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::USUAL_THREADS;
use crate::engine::LevelOne;
use crate::observer::Observer;
use crate::search::pairs::{self, LevelReport, PairLevel, PairRows, NO_SEPARATOR};
use crate::Result;
use cut::{cut, Cut, Ends, Own};
use triangle::Triangle;

/// Cells that pass in the time of gathering one from a matrix on the host.
const EFFORT_OF_GATHERED: u64 = 16;

/// Tests of a launch if no pair were separated: about 0.1 s.
const SLICED_TESTS: f64 = 2e11;

/// Uses of memory for slices, in the order of [`cut::Uses::all`].
const USES: [BufferId; 6] =
    [BufferId::Data, BufferId::Singles, BufferId::Slots, BufferId::List, BufferId::Verdicts, BufferId::PMax];

/// Level 1 on the GPU: its cut, the numbers of neighbours, and the source of the pairs' own correlations.
pub(super) struct Level {
    /// Number by which the search knows the level, see [`PairLevel::number`].
    number: u64,
    cut: Cut,
    ends: Ends,
    own: Own,
    /// Whether each row of the correlations is on the GPU; empty if rows do not stay.
    there: Vec<bool>,
}

impl Level {
    /// Returns whether the correlations of all p variables are there, from the start of [`Buffer::Data`] on.
    pub fn is_of_all(&self, p: usize) -> bool {
        self.there.len() == p && !self.there.contains(&false)
    }

    fn slices(&self, p: usize) -> Vec<Range<usize>> {
        (0..p).step_by(self.cut.width).map(|first| first..p.min(first + self.cut.width)).collect()
    }
}

/// Part of the level that is done, for the observer: pairs tested given a slice, or slices.
struct Progress {
    done: f64,
    total: f64,
}

impl Progress {
    fn step(&mut self, done: f64, observer: &mut dyn Observer) -> Result<()> {
        self.done += done;
        observer.progress(1, (self.done / self.total).min(1.0) * 0.999, 1.0)
    }
}

/// Returns the blocks for each of `rows` rows: more if there are too few rows to fill the GPU.
fn parts(processors: u32, rows: usize) -> u32 {
    (processors * 64).div_ceil(rows as u32).clamp(2, 16)
}

/// Launches a kernel on the pairs of the rows in `args`.
///
/// # Safety
/// The kernel must take any grid. It may use only those of `args` that are set and whose data are there.
unsafe fn on_rows(gpu: &Gpu, kernel: Kernel<SliceArgs>, threads: u32, args: &SliceArgs) -> Result<()> {
    let rows = (args.a.end_row - args.a.first_row) as usize;
    gpu.launch(kernel.on((rows as u32, parts(gpu.processors, rows)), threads, 0), args)
}

impl Blocks<'_, '_> {
    /// Returns whether to decide pairs by slices, rather than by small matrices of each row's neighbours. It does if the caller sets the
    /// rows, or if the matrices do not fit. It also does if more cells would be gathered for them than pass by slices.
    pub(in crate::engine::cuda) fn prefers_pairs(&mut self, level: &PairLevel) -> Result<bool> {
        if self.wished_rows().is_some() {
            return Ok(true);
        }
        let (p, ends) = (self.gauss.p, Ends::new(level.graph, &self.search.engine.held.pool));
        let degrees = ends.degrees();
        let widest = degrees.iter().copied().max().unwrap_or(0);
        self.plan_gpu(self.gauss.p, false)?;
        let gathered = self.cells_of_packed(&degrees);
        let passing = match self.triangle(&degrees, &ends)? {
            Some(_) => Some((p * p / 2) as u64),
            None => {
                let (most, wished) = self.most_of_slice();
                let room = self.room_of_slices()?;
                let found = cut(&ends, Own::of(&self.gauss, ends.pairs()), room, most, wished);
                found.map(|cut| (p * p) as u64 * (1 + cut.passes(&ends)))
            }
        };
        Ok(passing.is_some_and(|passing| gathered >= passing) || !self.has_room_for(widest)?)
    }

    /// Decides the pairs of some rows with larger vertices.
    pub(in crate::engine::cuda) fn pairs(
        &mut self,
        level: &PairLevel,
        into: &mut PairRows,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let standing = self.state.level.take().filter(|standing| level.number != 0 && standing.number == level.number);
        self.search.set_rules(&self.gauss.test, 1);
        if let Some(mut standing) = standing {
            self.search.set_places()?;
            self.point_to_pairs()?;
            self.run_slices(&mut standing, level, into, observer)?;
            self.state.level = Some(standing);
            return Ok(());
        }
        let ends = Ends::new(level.graph, &self.search.engine.held.pool);
        self.plan_gpu(self.gauss.p, false)?;
        if into.rows == (0..self.gauss.p) {
            if let Some(triangle) = self.triangle(&ends.degrees(), &ends)? {
                self.plan_triangle(&triangle, &ends);
                self.begin_pairs(level, &ends, observer)?;
                return self.run_triangles(triangle, level, ends, into, observer);
            }
        }
        let own = Own::of(&self.gauss, ends.pairs());
        let cut = self.plan_slices(&ends, own)?;
        self.begin_pairs(level, &ends, observer)?;
        let there = if cut.keeps_all { vec![false; self.gauss.p] } else { Vec::new() };
        let mut standing = Level { number: level.number, cut, ends, own, there };
        self.run_slices(&mut standing, level, into, observer)?;
        self.state.level = Some(standing);
        Ok(())
    }

    /// Returns the bytes that slices may take.
    fn room_of_slices(&mut self) -> Result<u64> {
        let p = self.gauss.p;
        let held = &mut self.search.engine.held;
        held.plan.set(Buffer::Ranks, 8 * p as u64 + 4 * (p * p.div_ceil(64)) as u64);
        held.room(&USES)
    }

    /// Returns the most variables of a slice, and whether the caller has set them.
    fn most_of_slice(&self) -> (usize, bool) {
        let wished = self.wished_rows();
        (wished.unwrap_or(usize::MAX / 2).min(self.state.rows.most_rows(self.gauss.p)).max(1), wished.is_some())
    }

    /// Plans the memory of slices.
    fn plan_slices(&mut self, ends: &Ends, own: Own) -> Result<Cut> {
        let p = self.gauss.p;
        let room = self.room_of_slices()?;
        let (most, wished) = self.most_of_slice();
        let held = &mut self.search.engine.held;
        let Some(found) = cut(ends, own, room, most, wished) else {
            let needed = held.plan.total() + cut::least(ends);
            let what = "the graph and slices of 64 rows of correlations do not fit";
            return Err(super::marginal::too_little(held, needed, what));
        };
        for (what, bytes) in USES.into_iter().zip(found.uses(p).all()) {
            held.plan.set(what, bytes);
        }
        Ok(found)
    }

    /// Returns how triangles are cut, or `None` if they are not suitable or do not fit.
    fn triangle(&mut self, degrees: &[usize], ends: &Ends) -> Result<Option<Triangle>> {
        // The two triangles can be compared only if level 0 has hashed the lower one.
        if self.state.lower.is_none() || !triangle::serves(degrees) {
            return Ok(None);
        }
        let room = self.room_of_slices()?;
        let (most, wished) = self.most_of_slice();
        Ok(Triangle::new(ends, room, most, wished))
    }

    /// Plans the memory of triangles.
    fn plan_triangle(&mut self, triangle: &Triangle, ends: &Ends) {
        let [rows, states, open, verdicts, values] = triangle.bytes(ends);
        let held = &mut self.search.engine.held;
        for (what, bytes) in USES.into_iter().zip([rows, 0, states, open, verdicts, values]) {
            held.plan.set(what, bytes);
        }
    }

    /// Returns how many cells pass in the time that small matrices of each row's neighbours take. Triangles of a matrix are gathered. Those
    /// of data are computed, for each side if there is no room for all.
    fn cells_of_packed(&self, degrees: &[usize]) -> u64 {
        let degrees = degrees.iter().filter(|&&degree| degree > 1);
        match self.gauss.source {
            Source::Matrix(_) => {
                EFFORT_OF_GATHERED * degrees.map(|degree| local::closely(degree + 1) as u64).sum::<u64>()
            }
            Source::Data(..) => {
                // Kernels compute tiles, however narrow the block.
                let width = |degree: usize| local::width_of(degree + 1).next_multiple_of(local::BITS);
                2 * degrees.map(|degree| local::cells_of(width(*degree)) as u64).sum::<u64>()
            }
        }
    }

    /// Puts the graph on the GPU, with the pairs x < y numbered, once everything is planned.
    fn begin_pairs(&mut self, level: &PairLevel, ends: &Ends, observer: &mut dyn Observer) -> Result<()> {
        self.begin_gpu(observer)?;
        self.point_to_pairs()?;
        self.search.engine.held.upload(self.search.args.graph.cast(), level.graph.words())?;
        // SAFETY: the places are those planned.
        unsafe { self.search.by_row(Kernel::rank_words)? };
        let held = &mut self.search.engine.held;
        held.upload(self.search.args.left_first, &ends.less_smaller())?;
        held.upload(self.search.args.offset, &ends.all)?;
        held.upload(self.search.args.first_record, &ends.larger)
    }

    /// Sets the arguments by which kernels find the first pair of each row.
    fn point_to_pairs(&mut self) -> Result<()> {
        let ranks = self.search.engine.held.device(Buffer::Ranks)?;
        self.search.args.left_first = ranks;
        self.search.args.left_before = ranks.offset(self.gauss.p as u64).cast();
        self.search.args.left = self.search.args.graph.cast();
        Ok(())
    }

    /// Returns the kernels' arguments for pairs of panels. `Buffer::Slots` has the states, then the arrays by row.
    fn slice_args(&mut self, level: &Level) -> Result<SliceArgs> {
        let (p, cut) = (self.gauss.p as u64, &level.cut);
        let held = &mut self.search.engine.held;
        let pairs: DevicePtr<[u64; 3]> = held.device(Buffer::Slots)?.cast();
        let kept_first: DevicePtr<u64> = pairs.offset(cut.panel + cut.kept).cast();
        let left: DevicePtr<u32> = kept_first.offset(p + 1).cast();
        let open = held.device(Buffer::List)?;
        Ok(SliceArgs {
            a: self.search.args,
            rows: held.device(Buffer::Data)?.cast(),
            pitch: p,
            singles: held.device(Buffer::Singles)?,
            width: cut.width as u64,
            is_coarse: u64::from(self.search.args.above < LevelOne::LARGEST_LIMIT),
            pairs,
            open,
            first: self.search.args.first_record,
            left,
            kept_pairs: pairs.offset(cut.panel),
            kept_open: open.offset(cut.panel),
            kept_first,
            kept_left: left.offset(p),
            ..SliceArgs::default()
        })
    }

    fn run_slices(
        &mut self,
        level: &mut Level,
        of: &PairLevel,
        into: &mut PairRows,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.search.reset_report(0)?;
        let args = self.slice_args(level)?;
        let slices = level.slices(self.gauss.p).len();
        let mut rest = into.rows.clone();
        let mut progress = Progress { done: 0.0, total: (level.ends.of_rows(&rest) as f64 * slices as f64).max(1.0) };
        let mut checks = matches!(self.gauss.source, Source::Matrix(_)) && !self.state.is_symmetric;
        while !rest.is_empty() {
            let run = self.run_panels(&rest, (level, of), (args, checks), into, &mut progress, observer)?;
            if !level.cut.is_whole(self.gauss.p) {
                self.pass_slices(&run, level, (args, checks), into, &mut progress, observer)?;
            }
            (checks, rest.start) = (false, run.end);
        }
        let report = self.search.report("level 1", &mut || observer.look())?;
        if report.above != report.below {
            return Err(self.asymmetric());
        }
        count(into, &report);
        self.state.is_symmetric = true;
        Ok(())
    }

    /// Puts a slice on the GPU, among all rows or at one of two places in turn.
    fn bring_slice(
        &mut self,
        slice: &Range<usize>,
        turn: usize,
        level: &mut Level,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.search.engine.held.piece(slice.len());
        if level.cut.keeps_all {
            return self.bring_missing(slice, level, observer);
        }
        let at = self.place_of_slice(slice, turn, level)?;
        self.bring_rows(&Panel { rows: slice.clone(), columns: 0..self.gauss.p, at, ..Panel::default() }, observer)
    }

    /// Returns the address of a slice: among all rows, or at one of two places in turn.
    fn place_of_slice(&mut self, slice: &Range<usize>, turn: usize, level: &Level) -> Result<DevicePtr<f64>> {
        let base: DevicePtr<f64> = self.search.engine.held.device(Buffer::Data)?.cast();
        let row = if level.cut.keeps_all { slice.start } else { turn % 2 * level.cut.width };
        Ok(base.offset((row * self.gauss.p) as u64))
    }

    /// Puts those of the rows on the GPU that are not there, if all rows stay.
    fn bring_missing(&mut self, rows: &Range<usize>, level: &mut Level, observer: &mut dyn Observer) -> Result<()> {
        let p = self.gauss.p;
        let base: DevicePtr<f64> = self.search.engine.held.device(Buffer::Data)?.cast();
        let (most, mut first) = (self.state.rows.most_rows(p), rows.start);
        while first < rows.end {
            let there = &level.there[first..rows.end.min(first + most)];
            let end = first + there.iter().take_while(|&&is_there| is_there == there[0]).count();
            if !there[0] {
                let at = base.offset((first * p) as u64);
                self.bring_rows(&Panel { rows: first..end, columns: 0..p, at, ..Panel::default() }, observer)?;
            }
            first = end;
        }
        level.there[rows.clone()].fill(true);
        Ok(())
    }

    fn bring_rows(&mut self, panel: &Panel, observer: &mut dyn Observer) -> Result<()> {
        let (p, cells) = (self.gauss.p, cells_of(&self.gauss, &self.data));
        let held = &mut self.search.engine.held;
        let mut bring = |held: &mut Held| self.state.rows.make(held, cells, p, panel, &mut || observer.look());
        match cells {
            Cells::Matrix(_) => held.ahead(bring),
            // Kernels compute these.
            Cells::Data(_) => bring(held),
        }
    }

    /// Makes the slice just sent the one that the next tests use.
    fn open_slice(
        &mut self,
        slice: &Range<usize>,
        turn: usize,
        level: &Level,
        checks: bool,
        args: SliceArgs,
    ) -> Result<SliceArgs> {
        let (p, width) = (self.gauss.p, level.cut.width);
        let args = SliceArgs {
            rows: self.place_of_slice(slice, turn, level)?,
            first_z: slice.start as u64,
            end_z: slice.end as u64,
            ..args
        };
        let gpu = &self.search.engine.held.gpu;
        let tiles = (p.div_ceil(WARP as usize) as u32, (width / WARP as usize) as u32);
        let shared = u64::from(4 * WARP * (WARP + 1));
        gpu.follow_sends()?;
        // SAFETY: the rows of the slice are there, `singles` has room for all tiles' numbers, and shared memory is that of a tile.
        unsafe { gpu.launch(Kernel::slice_singles.on(tiles, USUAL_THREADS, shared), &args)? };
        if checks {
            hash(gpu, &args)?;
        }
        Ok(args)
    }

    /// Tests pairs of rows given the first slice, panel by panel, until no more can wait. Returns the rows that were tested. Results are in
    /// `found`, where pairs that wait are open. If one slice holds all variables, it passes on the results of all panels but the last.
    fn run_panels(
        &mut self,
        all: &Range<usize>,
        (level, of): (&mut Level, &PairLevel),
        (args, checks): (SliceArgs, bool),
        into: &mut PairRows,
        progress: &mut Progress,
        observer: &mut dyn Observer,
    ) -> Result<Range<usize>> {
        let (p, first) = (self.gauss.p, all.start);
        let slices = level.slices(p);
        self.bring_slice(&slices[0], 0, level, observer)?;
        let args = self.open_slice(&slices[0], 0, level, checks, args)?;
        self.search.engine.held.upload(args.kept_first.offset(first as u64), &[0])?;
        let (mut rows, mut turn) = (level.cut.panel_from(first, all.end, &level.ends), 0);
        let mut before: Option<Range<usize>> = None;
        self.send_own(&rows, turn, level, of, observer)?;
        let is_whole = level.cut.is_whole(p);
        loop {
            let panel = self.panel_args(&rows, turn, level, args)?;
            self.search.engine.held.gpu.follow_sends()?;
            // SAFETY: the slice and the rows' own correlations are there, with room for the states and results of their pairs. No more
            // pairs wait than there is room for, as a panel begins only if all its pairs may wait.
            unsafe {
                on_rows(&self.search.engine.held.gpu, Kernel::slice_begin, SLICE_THREADS, &panel)?;
                on_rows(&self.search.engine.held.gpu, Kernel::slice_tests, SLICE_THREADS, &panel)?;
                let blocks = self.search.blocks_for(rows.len() as u64);
                let gpu = &self.search.engine.held.gpu;
                gpu.launch(Kernel::slice_pack.on((blocks, 1), USUAL_THREADS, 0), &panel)?;
                if !is_whole {
                    gpu.launch(Kernel::slice_place.on((1, 1), 1024, 8 * 1024 / u64::from(WARP)), &panel)?;
                    on_rows(&self.search.engine.held.gpu, Kernel::slice_keep, USUAL_THREADS, &panel)?;
                }
                on_rows(&self.search.engine.held.gpu, Kernel::slice_settle, USUAL_THREADS, &panel)?;
            }
            self.search.ask_report()?;
            if let Some(before) = before.take() {
                self.bring_panel(&before, 1 - turn, level, into, observer)?;
            }
            let next = (rows.end < all.end).then(|| level.cut.panel_from(rows.end, all.end, &level.ends));
            if let Some(next) = &next {
                self.send_own(next, 1 - turn, level, of, observer)?;
            }
            self.search.engine.held.wait("level 1", &mut || observer.look())?;
            progress.step(level.ends.of_rows(&rows) as f64, observer)?;
            let report = self.search.read_report()?;
            let is_full = |next: &Range<usize>| report.kept + level.ends.of_rows(next) > level.cut.kept;
            let is_even = || self.is_even(report.kept, first..rows.end, all.end, level);
            match next.filter(|next| is_whole || !(is_full(next) || is_even())) {
                Some(next) => {
                    before = Some(std::mem::replace(&mut rows, next));
                    turn = 1 - turn;
                }
                None => {
                    self.bring_panel(&rows, turn, level, into, observer)?;
                    return Ok(first..rows.end);
                }
            }
        }
    }

    /// Returns whether enough pairs wait to justify a pass. It assumes that rows up to `end` leave pairs open at the same rate.
    fn is_even(&self, kept: u64, rows: Range<usize>, end: usize, level: &Level) -> bool {
        let left = level.ends.of_rows(&(rows.end..end)) as f64;
        let further = kept as f64 / level.ends.of_rows(&rows).max(1) as f64 * left;
        let passes = ((kept as f64 + further) / level.cut.kept as f64).ceil();
        passes > 1.0 && kept as f64 >= (kept as f64 + further) / passes
    }

    /// Returns the arguments of a panel at place `turn` of two.
    fn panel_args(&mut self, rows: &Range<usize>, turn: usize, level: &Level, args: SliceArgs) -> Result<SliceArgs> {
        let args = SliceArgs { before: level.ends.larger[rows.start], ..self.with_found(turn, level, args)? };
        let args = self.with_own(rows, turn, level, args)?;
        Ok(with_rows(args, rows))
    }

    /// Returns the arguments with place `turn` of two for the results of a panel.
    fn with_found(&mut self, turn: usize, level: &Level, args: SliceArgs) -> Result<SliceArgs> {
        let (held, at) = (&mut self.search.engine.held, turn as u64 * level.cut.panel);
        let (verdict, values) = (held.device(Buffer::Verdicts)?.offset(at), held.device(Buffer::PMax)?.offset(at));
        Ok(SliceArgs { verdict, values, ..args })
    }

    /// Copies the results of a panel to the host.
    fn bring_panel(
        &mut self,
        rows: &Range<usize>,
        turn: usize,
        level: &Level,
        into: &mut PairRows,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let pairs = |end: usize| level.ends.of_rows(&(into.rows.start..end)) as usize;
        let own = pairs(rows.start)..pairs(rows.end);
        let held = &mut self.search.engine.held;
        let at = turn as u64 * level.cut.panel;
        let from = held.device(Buffer::PMax)?.offset(at);
        held.bring_into(from, &mut into.values[own.clone()], &mut || observer.look())?;
        let from = held.device(Buffer::Verdicts)?.offset(at);
        held.bring_into(from, &mut into.verdicts[own], &mut || observer.look())
    }
}

/// Enters the counts of all rows, from the GPU's report.
fn count(into: &mut PairRows, report: &Report) {
    into.counted.add(&LevelReport { tests: report.tests, exact_tests: report.exact, go_on: report.go_on != 0 });
}

fn with_rows(args: SliceArgs, rows: &Range<usize>) -> SliceArgs {
    let mut args = args;
    (args.a.first_row, args.a.end_row) = (rows.start as u64, rows.end as u64);
    args
}

// Kernels write verdicts in the form in which they are read.
const _: () = assert!(SECOND == pairs::SECOND && VERDICT_OPEN == NO_SEPARATOR);
// The verdict of a pair that waits never equals that of a variable. Graphs of 2^`PAIR_BITS` variables fit no GPU.
const _: () = assert!(VERDICT_OPEN > 1 << crate::engine::cuda::arguments::PAIR_BITS);
