//! Level 1 by slices of the variables that pairs are tested given, see kernels/gauss/slices.cuh.
//!
//! The first slice stays while panels of rows pass: of each the pairs with larger vertices are tested given that slice, and those that are still
//! open wait. Once as many wait as there is room for, or all have come, the other slices pass by them: one is copied while the one before is
//! worked on. So all correlations pass once for each time that this happens, which is few times, as most pairs end in the first slice.
//!
//! Of sparse graphs, `triangle`.

mod cut;
mod own;
mod triangle;
mod waiting;

use std::ops::Range;

use super::marginal::too_little;
use super::{cells_of, hash, local, BlockSearch};
use crate::engine::cuda::arguments::{Report, SliceArgs, SLICE_THREADS, VERDICT_OPEN};
use crate::engine::cuda::card::buffer::{Buffer, BufferId};
use crate::engine::cuda::card::held::Held;
use crate::engine::cuda::card::kernels::{Kernel, WARP};
use crate::engine::cuda::card::opened::Card;
use crate::engine::cuda::gauss::rows::{Cells, Panel};
use crate::engine::cuda::gauss::source::Source;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::USUAL_THREADS;
use crate::engine::LevelOne;
use crate::observer::Observer;
use crate::search::levels::LevelReport;
use crate::Result;
use cut::{cut, Cut, Ends, Own};
use triangle::Triangle;

/// How many cells pass in the time that one is gathered from a matrix on the host.
const EFFORT_OF_GATHERED: u64 = 16;

/// Tests of a launch if no pair were separated: about 0.1 s.
const SLICED_TESTS: f64 = 2e11;

/// What slices take, in the order of [`cut::Uses::all`].
const USES: [BufferId; 6] =
    [BufferId::Data, BufferId::Singles, BufferId::Slots, BufferId::List, BufferId::Verdicts, BufferId::PMax];

/// How level 1 is cut, of a graph with these neighbours, and where its pairs' own correlations come from.
struct Level {
    cut: Cut,
    ends: Ends,
    own: Own,
    /// Whether the matrix is to be looked through for symmetry.
    checks: bool,
}

impl Level {
    fn slices(&self, p: usize) -> Vec<Range<usize>> {
        (0..p).step_by(self.cut.width).map(|first| first..p.min(first + self.cut.width)).collect()
    }
}

/// Which part of the level is done, for the observer: of the pairs' tests given a slice.
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

/// Blocks for each of so many rows: enough for the card where there are few.
fn parts(processors: u32, rows: usize) -> u32 {
    (processors * 64).div_ceil(rows as u32).clamp(2, 16)
}

/// Launches a kernel on the pairs of the rows that `args` says.
///
/// # Safety
/// It must be one that takes any grid, and of `args` it may use what is set, and there, alone.
unsafe fn on_rows(card: &Card, kernel: Kernel<SliceArgs>, threads: u32, args: &SliceArgs) -> Result<()> {
    let rows = (args.a.end_row - args.a.first_row) as usize;
    card.launch(kernel.on((rows as u32, parts(card.processors, rows)), threads, 0), args)
}

impl BlockSearch<'_, '_> {
    /// Level 1; `widest` is the largest degree.
    pub(super) fn run_singles(&mut self, widest: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let p = self.gauss.p;
        self.search.set_rules(&self.gauss.test, 1);
        let ends = Ends::new(&self.degrees, self.answer.firsts());
        if let Some(triangle) = self.plan_triangle(&ends)? {
            let packed = self.cells_of_packed() < (p * p / 2) as u64;
            if self.wished_rows().is_none() && packed && self.has_room_for(widest)? {
                return self.run_packed_singles(widest, observer);
            }
            return self.run_triangles(triangle, ends, observer);
        }
        let own = Own::of(&self.gauss, ends.pairs());
        let cut = match self.plan_slices(&ends, own) {
            Ok(cut)
                if self.wished_rows().is_none()
                    && self.cells_of_packed() < (p * p) as u64 * (1 + cut.passes(p, &ends))
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
        let checks = matches!(self.gauss.source, Source::Matrix(_));
        self.run_slices(&mut Level { cut, ends, own, checks }, observer)
    }

    /// Lets go what slices have their own of, and returns how much memory there is for them.
    fn room_of_slices(&mut self) -> Result<u64> {
        let p = self.gauss.p;
        let held = &mut self.search.engine.held;
        held.spare(&USES)?;
        held.plan.set(Buffer::Ranks, 8 * p as u64 + 4 * (p * p.div_ceil(64)) as u64);
        held.room(&[])
    }

    /// Variables of a slice, at most, and whether the caller has said so.
    fn most_of_slice(&self) -> (usize, bool) {
        let wished = self.wished_rows();
        (wished.unwrap_or(usize::MAX / 2).min(self.rows.most_rows(self.gauss.p)).max(1), wished.is_some())
    }

    /// Plans and commits the memory of level 1 by slices.
    fn plan_slices(&mut self, ends: &Ends, own: Own) -> Result<Cut> {
        let p = self.gauss.p;
        let room = self.room_of_slices()?;
        let (most, wished) = self.most_of_slice();
        let held = &mut self.search.engine.held;
        let Some(found) = cut(ends, own, room, most, wished) else {
            let needed = held.plan.total() + cut::least(ends);
            let what = "that is for the graph, and for slices of 64 rows of the correlations";
            return Err(too_little(held, needed, what));
        };
        for (what, bytes) in USES.into_iter().zip(found.uses(p).all()) {
            held.plan.set(what, bytes);
        }
        held.commit()?;
        Ok(found)
    }

    /// Likewise by triangles, where these serve and fit.
    fn plan_triangle(&mut self, ends: &Ends) -> Result<Option<Triangle>> {
        // Both triangles can be compared where level 0 has looked at the lower one.
        if self.lower.is_none() || !triangle::serves(&self.degrees) {
            return Ok(None);
        }
        let room = self.room_of_slices()?;
        let (most, wished) = self.most_of_slice();
        let Some(found) = Triangle::new(ends, room, most, wished) else { return Ok(None) };
        let [rows, states, open, verdicts, values] = found.bytes(ends);
        let held = &mut self.search.engine.held;
        for (what, bytes) in USES.into_iter().zip([rows, 0, states, open, verdicts, values]) {
            held.plan.set(what, bytes);
        }
        held.commit()?;
        Ok(Some(found))
    }

    /// How many cells pass in the time that small matrices of each row's neighbours take: the triangles of a matrix are gathered, those of data are
    /// made, for each side if there is no room for all.
    fn cells_of_packed(&self) -> u64 {
        let degrees = self.degrees.iter().filter(|&&degree| degree > 1);
        match self.gauss.source {
            Source::Matrix(_) => {
                EFFORT_OF_GATHERED * degrees.map(|degree| local::closely(degree + 1) as u64).sum::<u64>()
            }
            Source::Data(..) => {
                // Kernels make tiles, however narrow the block.
                let width = |degree: usize| local::width_of(degree + 1).next_multiple_of(local::BITS);
                2 * degrees.map(|degree| local::cells_of(width(*degree)) as u64).sum::<u64>()
            }
        }
    }

    /// Level 1 where small matrices of each row's neighbours take fewer cells than the slices that would pass.
    fn run_packed_singles(&mut self, widest: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        if self.answer.wants_values() {
            self.bring_values(observer)?;
        }
        self.run_packed(1, widest, observer)
    }

    /// Has the kernels number the pairs x < y of the graph.
    fn number_pairs(&mut self, ends: &Ends) -> Result<()> {
        let p = self.gauss.p as u64;
        let ranks = self.search.engine.held.device(Buffer::Ranks)?;
        self.search.args.left_first = ranks;
        self.search.args.left_before = ranks.offset(p).cast();
        self.search.args.left = self.search.args.graph.cast();
        // SAFETY: the places are those planned.
        unsafe { self.search.by_row(Kernel::rank_words)? };
        let held = &mut self.search.engine.held;
        held.upload(self.search.args.left_first, &ends.less_smaller())?;
        held.upload(self.search.args.offset, &ends.all)?;
        held.upload(self.search.args.first_record, &ends.larger)?;
        held.upload(self.search.args.record_count, &vec![0; self.gauss.p])
    }

    /// The kernels' arguments, of pairs of panels; `Buffer::Slots` has the states, then the arrays by row.
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

    fn run_slices(&mut self, level: &mut Level, observer: &mut dyn Observer) -> Result<LevelReport> {
        let p = self.gauss.p;
        self.begin_slices(&level.ends)?;
        let args = self.slice_args(level)?;
        let slices = level.slices(p);
        let mut progress = Progress { done: 0.0, total: level.ends.pairs() as f64 * slices.len() as f64 };
        let mut first = 0;
        while first < p {
            let rows = self.run_panels(first, level, args, &mut progress, observer)?;
            if !level.cut.is_whole(p) {
                self.pass_slices(&rows, level, args, &mut progress, observer)?;
            }
            first = rows.end;
        }
        let report = self.search.report("level 1", &mut || observer.look())?;
        if report.above != report.below {
            return Err(self.asymmetric());
        }
        self.end_slices(&report, observer)
    }

    /// Numbers the pairs, and makes what is left of the graph, and where verdicts go.
    fn begin_slices(&mut self, ends: &Ends) -> Result<()> {
        self.number_pairs(ends)?;
        // What is left goes where the pairs of the empty set were, which have been brought.
        let held = &mut self.search.engine.held;
        let (from, card, count) =
            (self.search.args.graph, held.card.clone(), self.gauss.p * self.search.args.words as usize);
        held.copy_from(self.search.args.empty, &card, from, count)?;
        self.search.args.left_graph = self.search.args.empty;
        self.answer.begin_singles()?;
        self.search.reset_report(0)
    }

    /// Takes over what level 1 has left, once all that was found of pairs is brought.
    fn end_slices(&mut self, report: &Report, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.is_symmetric = true;
        let counts = self.search.engine.held.bring_all(self.search.args.record_count, self.gauss.p)?;
        self.answer.set_counts(counts);
        let graph = self.search.bring_graph(self.search.args.left_graph)?;
        self.take_graph(graph);
        observer.progress(1, 1.0, 1.0)?;
        let go_on = self.fast() || report.go_on != 0;
        Ok(LevelReport { tests: report.tests, exact_tests: report.exact, go_on })
    }

    /// Puts a slice on the card, at one of two places by turns.
    fn bring_slice(
        &mut self,
        slice: &Range<usize>,
        turn: usize,
        level: &Level,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let p = self.gauss.p;
        let base: DevicePtr<f64> = self.search.engine.held.device(Buffer::Data)?.cast();
        let at = base.offset((turn % 2 * level.cut.width * p) as u64);
        self.send_panel(Panel { rows: slice.clone(), columns: 0..p, at }, observer)
    }

    /// Puts rows of a slice on the card.
    fn send_panel(&mut self, panel: Panel, observer: &mut dyn Observer) -> Result<()> {
        let p = self.gauss.p;
        let cells = cells_of(&self.gauss, &self.data);
        let held = &mut self.search.engine.held;
        held.piece(panel.rows.len());
        let mut bring = |held: &mut Held| self.rows.make(held, cells, p, &panel, &mut || observer.look());
        match cells {
            Cells::Matrix(_) => held.ahead(bring),
            // Kernels make them.
            Cells::Data(_) => bring(held),
        }
    }

    /// Makes the slice that was brought the one of the tests that follow.
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
            rows: args.rows.offset((turn % 2 * width * p) as u64),
            first_z: slice.start as u64,
            end_z: slice.end as u64,
            ..args
        };
        let card = &self.search.engine.held.card;
        let tiles = (p.div_ceil(WARP as usize) as u32, (width / WARP as usize) as u32);
        let shared = u64::from(4 * WARP * (WARP + 1));
        card.follow_sends()?;
        // SAFETY: the rows of the slice are there, and `singles` has room for as many numbers as tiles; shared memory is that of a tile.
        unsafe { card.launch(Kernel::slice_singles.on(tiles, USUAL_THREADS, shared), &args)? };
        if checks {
            hash(card, &args)?;
        }
        Ok(args)
    }

    /// Tests pairs given the first slice, panel by panel from a row on, until no more can wait. Returns their rows.
    fn run_panels(
        &mut self,
        first: usize,
        level: &Level,
        args: SliceArgs,
        progress: &mut Progress,
        observer: &mut dyn Observer,
    ) -> Result<Range<usize>> {
        let (p, cut, ends) = (self.gauss.p, &level.cut, &level.ends);
        let slices = level.slices(p);
        self.bring_slice(&slices[0], 0, level, observer)?;
        let args = self.open_slice(&slices[0], 0, level, level.checks && first == 0, args)?;
        self.search.engine.held.upload(args.kept_first.offset(first as u64), &[0])?;
        let (mut rows, mut turn) = (cut.panel_from(first, ends), 0);
        let mut before: Option<Range<usize>> = None;
        self.send_own(&rows, turn, level, observer)?;
        loop {
            let panel = self.panel_args(&rows, turn, level, args)?;
            self.search.engine.held.card.follow_sends()?;
            // SAFETY: the slice and the rows' own correlations are there, and room for the states of their pairs and for what is found. No more
            // pairs wait than there is room for, as a panel is begun where all of it might.
            unsafe {
                on_rows(&self.search.engine.held.card, Kernel::slice_begin, SLICE_THREADS, &panel)?;
                on_rows(&self.search.engine.held.card, Kernel::slice_tests, SLICE_THREADS, &panel)?;
                let blocks = self.search.blocks_for(rows.len() as u64);
                let card = &self.search.engine.held.card;
                card.launch(Kernel::slice_pack.on((blocks, 1), USUAL_THREADS, 0), &panel)?;
                if !cut.is_whole(p) {
                    card.launch(Kernel::slice_place.on((1, 1), 1024, 8 * 1024 / u64::from(WARP)), &panel)?;
                    on_rows(&self.search.engine.held.card, Kernel::slice_keep, USUAL_THREADS, &panel)?;
                }
                on_rows(&self.search.engine.held.card, Kernel::slice_settle, USUAL_THREADS, &panel)?;
            }
            self.search.ask_report()?;
            if let Some(before) = before.take() {
                self.bring_panel(&before, 1 - turn, level, observer)?;
            }
            let next = (rows.end < p).then(|| cut.panel_from(rows.end, ends));
            if let Some(next) = &next {
                self.send_own(next, 1 - turn, level, observer)?;
            }
            self.search.engine.held.wait("level 1", &mut || observer.look())?;
            progress.step(ends.of_rows(&rows) as f64, observer)?;
            let kept = self.search.read_report()?.kept;
            let is_full = |next: &Range<usize>| kept + ends.of_rows(next) > cut.kept;
            match next.filter(|next| cut.is_whole(p) || !(is_full(next) || self.is_even(kept, first..rows.end, level)))
            {
                Some(next) => {
                    before = Some(std::mem::replace(&mut rows, next));
                    turn = 1 - turn;
                }
                None => {
                    self.bring_panel(&rows, turn, level, observer)?;
                    return Ok(first..rows.end);
                }
            }
        }
    }

    /// Whether as many pairs wait as come to each time that the slices pass, if as many are left of further rows as of these.
    fn is_even(&self, kept: u64, rows: Range<usize>, level: &Level) -> bool {
        let left = level.ends.of_rows(&(rows.end..self.gauss.p)) as f64;
        let further = kept as f64 / level.ends.of_rows(&rows).max(1) as f64 * left;
        let passes = ((kept as f64 + further) / level.cut.kept as f64).ceil();
        passes > 1.0 && kept as f64 >= (kept as f64 + further) / passes
    }

    /// The arguments of a panel, the `turn` of two.
    fn panel_args(&mut self, rows: &Range<usize>, turn: usize, level: &Level, args: SliceArgs) -> Result<SliceArgs> {
        let args = SliceArgs { before: level.ends.larger[rows.start], ..self.with_found(turn, level, args)? };
        let args = self.with_own(rows, turn, level, args)?;
        Ok(with_rows(args, rows))
    }

    /// The arguments, with the `turn` of two places for what is found of a panel.
    fn with_found(&mut self, turn: usize, level: &Level, args: SliceArgs) -> Result<SliceArgs> {
        let (held, at) = (&mut self.search.engine.held, turn as u64 * level.cut.panel);
        let (verdict, values) = (held.device(Buffer::Verdicts)?.offset(at), held.device(Buffer::PMax)?.offset(at));
        Ok(SliceArgs { verdict, values, ..args })
    }

    /// Brings what was found of a panel.
    fn bring_panel(
        &mut self,
        rows: &Range<usize>,
        turn: usize,
        level: &Level,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let count = level.ends.of_rows(rows) as usize;
        let pairs = level.ends.larger[rows.start] as usize..level.ends.larger[rows.end] as usize;
        let held = &mut self.search.engine.held;
        let found = turn as u64 * level.cut.panel;
        let at = held.device(Buffer::PMax)?.offset(found);
        match self.answer.left_values(pairs.clone()) {
            Some(values) => held.bring_into(at, values, &mut || observer.look())?,
            None => {
                let values = held.bring_all(at, count)?;
                self.answer.enter_rows(&held.pool, rows, &values);
            }
        }
        let at = held.device(Buffer::Verdicts)?.offset(found);
        held.bring_into(at, self.answer.verdicts(pairs), &mut || observer.look())
    }
}

fn with_rows(args: SliceArgs, rows: &Range<usize>) -> SliceArgs {
    let mut args = args;
    (args.a.first_row, args.a.end_row) = (rows.start as u64, rows.end as u64);
    args
}

// Verdicts that say that a pair waits are never those of a variable. The graphs of 2^`PAIR_BITS` variables have no room on any card.
const _: () = assert!(VERDICT_OPEN > 1 << crate::engine::cuda::arguments::PAIR_BITS);
