//! Level 0 by panels: some rows of the correlations at a time, each up to its own column; the next is copied while one is worked on.

use std::ops::Range;

use super::{cells_of, hash, BlockSearch};
use crate::engine::cuda::arguments::SliceArgs;
use crate::engine::cuda::card::buffer::{Buffer, BufferId};
use crate::engine::cuda::card::held::Held;
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::gauss::rows::{Cells, Panel, STEP};
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::p_max::{bring_columns, triangle};
use crate::engine::cuda::search::{blocks_on, USUAL_THREADS};
use crate::error::DeviceError;
use crate::observer::Observer;
use crate::search::levels::LevelReport;
use crate::{Error, Result};

/// Panels that a level is cut into at least: the more, the less of the half of the correlations that is not wanted is copied.
const PANELS: usize = 16;

/// The error that `needed` bytes are too many, though no more than `what` would be on the card.
pub(super) fn too_little(held: &mut Held, needed: u64, what: &str) -> Error {
    match held.too_little(needed) {
        Error::Device(e) => Error::Device(DeviceError { message: format!("{}: {what}", e.message), ..e }),
        other => other,
    }
}

impl BlockSearch<'_, '_> {
    /// Plans what does not depend on the graph, in place of all that was there before blocks were needed.
    pub(super) fn plan_card(&mut self) -> Result<()> {
        let held = &mut self.search.engine.held;
        held.spare(BufferId::ALL)?;
        // The uses that are not known yet get what is left.
        self.search.plan_variables(0);
        self.search.engine.held.plan.set(Buffer::PMax, 0);
        let room = self.search.engine.held.room(&[])?;
        let held = &mut self.search.engine.held;
        self.rows.plan(held, cells_of(&self.gauss, &self.data), self.gauss.p, room);
        Ok(())
    }

    /// Has what is planned there and nothing else, and sends what correlations are made of.
    pub(super) fn begin_card(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.search.engine.held.commit_exactly()?;
        self.search.set_places()?;
        let held = &mut self.search.engine.held;
        self.rows.begin(held, cells_of(&self.gauss, &self.data), self.gauss.p, &mut || observer.look())
    }

    pub(super) fn run_marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        let (gauss, p, square) = (self.gauss, self.gauss.p, self.answer.is_square());
        self.search.refuse_few(&gauss, observer)?;
        self.plan_card()?;
        let wished = self.wished_rows();
        let held = &mut self.search.engine.held;
        let room = held.room(&[])?;
        let bytes_of_row = |places: u64| 8 * p as u64 * (places + u64::from(square));
        // Two take turns, where there is room.
        let places: u64 = if room >= bytes_of_row(2) * p.min(STEP) as u64 { 2 } else { 1 };
        let row = bytes_of_row(places);
        let most = wished.unwrap_or(p.div_ceil(PANELS)).min(self.rows.most_rows(p));
        let rows = ((room / row) as usize / STEP * STEP).min(most.next_multiple_of(STEP));
        if rows == 0 && room < row * p.min(STEP) as u64 {
            let needed = held.plan.total() + row * p.min(STEP) as u64;
            return Err(too_little(held, needed, "that is for the graph, and for 64 rows of the correlations"));
        }
        let rows = rows.max(STEP).min(p);
        held.plan.set(Buffer::Data, 8 * places * (rows * p) as u64);
        held.plan.set(Buffer::PMax, if square { 8 * (rows * p) as u64 } else { 0 });
        self.begin_card(observer)?;
        let cells = cells_of(&gauss, &self.data);
        self.search.set_rules(&gauss.test, 0);
        self.search.reset_report(0)?;
        self.search.args.keeps_marginal = 1;
        let total = (p * (p - 1)) as f64 / 2.0;
        let base: DevicePtr<f64> = self.search.engine.held.device(Buffer::Data)?.cast();
        let panels: Vec<Panel> = (0..p)
            .step_by(rows)
            .map(|first| {
                let (end, turn) = (p.min(first + rows), first / rows % places as usize);
                Panel { rows: first..end, columns: 0..end, at: base.offset((turn * rows * p) as u64) }
            })
            .collect();
        let values = if square { Some(self.search.engine.held.device(Buffer::PMax)?) } else { None };
        let (args, answer) = (self.search.args, &mut self.answer);
        // Brings the p-values of a panel, where all pairs' are wanted.
        let mut bring = |held: &mut Held, panel: &Panel, observer: &mut dyn Observer| {
            let (Some(at), Some((values, mark))) = (values, answer.columns(panel.rows.clone())) else { return Ok(()) };
            held.card.copies_follow()?;
            bring_columns(held, at, panel.rows.clone(), p, (values, Some(mark)), &mut || observer.look())
        };
        let held = &mut self.search.engine.held;
        self.rows.make_each(held, (cells, p), &panels, observer, &mut |held, number, observer| {
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
            let card = held.card.clone();
            // Of two places, what comes next goes where the panel before was.
            if places == 2 {
                card.sends_follow()?;
            }
            card.follow_sends()?;
            let blocks = blocks_on(&card, (end - start) as u64 * args.words);
            // SAFETY: the graph's places are set, and the kernel looks at these rows alone, up to their own column, of which correlations
            // and p-values have room for all.
            unsafe { card.launch(Kernel::marginal.on((blocks, 1), USUAL_THREADS, 0), &args)? };
            if matches!(cells, Cells::Matrix(_)) {
                let (first_z, end_z, pitch) = (start as u64, end as u64, end as u64);
                hash(&card, &SliceArgs { a: args, rows: at, pitch, first_z, end_z, ..SliceArgs::default() })?;
            }
            if places == 1 {
                card.sends_follow()?;
            }
            observer.progress(0, triangle(end) as f64 * 0.999, total)
        })?;
        if let Some(last) = panels.last() {
            bring(&mut self.search.engine.held, last, observer)?;
        }
        self.search.args.keeps_marginal = 0;
        self.search.args.pitch = p as u64;
        self.search.all_rows();
        self.search.complete_marginal()?;
        let report = self.search.report("level 0", &mut || observer.look())?;
        self.lower = matches!(cells, Cells::Matrix(_)).then_some(report.below);
        let level = self.search.end_marginal(&report)?;
        let graph = self.search.bring_graph(self.search.args.graph)?;
        let empty = self.search.bring_graph(self.search.args.empty)?;
        let degrees = self.answer.begin(&self.search.engine.held.pool, &graph, empty)?;
        self.take_degrees(graph, degrees);
        observer.progress(0, total, total)?;
        Ok(level)
    }
}
