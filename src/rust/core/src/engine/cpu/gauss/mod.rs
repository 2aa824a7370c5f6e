//! The Gaussian test on the CPU: squared partial correlations in SIMD, and pcalg's formula where they cannot decide.
//!
//! Pairs of a row are decided together if their candidates have one order ([`rows`]), and one by one otherwise ([`walk`]). Both use the
//! [`rules`] of the level.
//!
//! A side is walked in rank order. A block of consecutive sets gets its squared partial correlations q without root, logarithm or branch. A test
//! on which the quick form cannot be trusted gets q = -1. A block whose smallest q lies above the critical band, and above the smallest seen so
//! far, is done. Otherwise its tests are checked one by one: q below the band separates; q inside it, or -1, goes to [`Gauss::p_value`].
//!
//! No fused multiply-add: q is the same on every machine, with any SIMD.

mod coarse;
mod dense;
mod judge;
mod of_data;
mod quad;
mod rows;
mod rules;
mod scan;
mod sweep;
mod thresholds;
mod walk;

use std::ops::Range;
use std::sync::Arc;

use super::kernel::{Kernel, RowView, SideView, Signal};
use super::CpuEngine;
use crate::ci::gauss::{trusted_above, Gauss, Undefined};
use crate::engine::LevelOne;
use crate::graph::BITS;
use crate::pool::Stop;
use crate::search::answer::Answer;
use crate::search::level::{CandidateOrder, Neighbours, Verdict};
use crate::search::shards::Work;
use crate::search::sweep::Sweeper;
use crate::search::worker::Marginals;
use crate::search::Options;
use crate::simd;
use coarse::Coarse;
use dense::{Decided, Pair, Pairs};
use rows::Row;
use rules::Rules;
use thresholds::Thresholds;

pub use of_data::{Bound, GaussOfData};
pub use sweep::Sweeps;
#[cfg(feature = "cuda")]
pub(in crate::engine) use sweep::{sweep_on_threads, Found};

/// The Gaussian test in the form that the CPU engine runs.
pub struct GaussKernel<'a> {
    gauss: Gauss<'a>,
    thresholds: Arc<Thresholds>,
    /// The matrix in single precision, for vertices with many neighbours.
    coarse: Coarse,
    level_one: LevelOne,
}

impl<'a> GaussKernel<'a> {
    /// Creates the kernel of a test at a significance level.
    pub fn new(gauss: Gauss<'a>, alpha: f64) -> Self {
        let thresholds = Arc::new(Thresholds::new(gauss.test, gauss.p(), alpha));
        GaussKernel { gauss, thresholds, coarse: Coarse::new(gauss.p()), level_one: LevelOne::default() }
    }

    /// Returns the test in the form for sweeps; `rules`: the significance level, and whether a test without an answer separates.
    pub fn rules_of_sweeps(&self, rules: (f64, bool)) -> Sweeps<'_> {
        Sweeps::new(&self.gauss, &self.thresholds, rules)
    }

    /// Chooses how conditioning sets of one variable run.
    pub fn with_level_one(self, level_one: LevelOne) -> Self {
        GaussKernel { level_one, ..self }
    }
}

impl Kernel for GaussKernel<'_> {
    type Scratch = Scratch;

    fn p(&self) -> usize {
        self.gauss.p()
    }

    fn sweeper(engine: &mut CpuEngine<Self>) -> Option<&mut dyn Sweeper> {
        Some(engine)
    }

    fn marginal(
        &self,
        level: &Marginals,
        y: usize,
        column: &mut [f64],
        _signal: &Signal,
    ) -> Result<(), (usize, &'static str)> {
        let Rules { cutoff, curve, .. } = self.rules(level.options(), 0);
        // If p-values are not kept, 1 is written where r² is below this. If no test can be dependent, pcalg may stop with an error, so none is
        // skipped.
        let independent_below =
            if level.keeps() || cutoff.independent_below.is_infinite() { 0.0 } else { cutoff.independent_below };
        let correlations = self.gauss.column(y);
        let pairs = level.pairs().row(y);
        for w in 0..=y / 64 {
            let below = if w == y / 64 { (1 << (y % 64)) - 1 } else { !0u64 };
            let asked = pairs.word(w) & below;
            let part = w * 64..correlations.len().min(w * 64 + 64);
            let (correlations, cells) = (&correlations[part.clone()], &mut column[part]);
            let mut look = 0u64;
            for (&r, &bit) in correlations.iter().zip(&BITS) {
                look |= if r * r > cutoff.dependent_above { 0 } else { bit };
            }
            // Correlations that are dependent for certain need no p-value: they get 0. They may be many.
            if asked == !0 {
                cells.fill(0.0);
            } else {
                for (i, cell) in cells.iter_mut().enumerate() {
                    *cell = if asked >> i & 1 == 1 { 0.0 } else { *cell };
                }
            }
            look &= asked;
            while look != 0 {
                let i = look.trailing_zeros() as usize;
                look &= look - 1;
                let r = correlations[i];
                if r * r < independent_below {
                    cells[i] = 1.0;
                    continue;
                }
                cells[i] = match curve.and_then(|curve| curve.at(r.abs())) {
                    Some(p) => p,
                    None => self.gauss.p_of_marginal(r).map_err(|Undefined(reason)| (w * 64 + i, reason))?,
                };
            }
        }
        Ok(())
    }

    fn row(&self, row: &RowView, scratch: &mut Scratch, signal: &Signal, out: &mut dyn FnMut(&Answer)) {
        let rules = self.rules(row.options, row.size);
        let x = row.row as usize;
        if self.takes_masks(&rules, row.neighbours, x) {
            let list = row.neighbours.list(x);
            let places = (row.sets.start as usize, (row.sets.end as usize).min(list.len()));
            let pair = |(at, &place): (usize, &u32)| {
                let limit = row.found.map(|found| &found[at]);
                Pair { at: row.first + at, x, y: list[place as usize] as usize, places, without_common: false, limit }
            };
            let pairs: Vec<Pair> = row.places.iter().enumerate().map(pair).collect();
            return self.by_masks(&rules, row.neighbours, &pairs, scratch, signal, &mut |_, answer| out(answer));
        }
        let Scratch { rows, walk, set, .. } = scratch;
        let row = Row { rules: &rules, view: row, signal, out, set };
        simd::run(rows::Lanes { row, scratch: rows, walks: walk });
    }

    fn tile(
        &self,
        work: &Work,
        rows: Range<usize>,
        others: &Range<u32>,
        scratch: &mut Scratch,
        signal: &Signal,
        out: &mut dyn FnMut(u32, &Answer),
    ) {
        let rules = self.rules(work.options, work.size);
        // The rows that masks decide, with their lanes that are not asked yet.
        let mut masked = Vec::new();
        for x in rows {
            if self.takes_masks(&rules, work.neighbours, x) {
                masked.push((x, work.lanes_between(x, others)));
            } else {
                self.tile_row(work, x, others, scratch, signal, out);
            }
        }
        // Blocks of other vertices, so that all rows use their data while it is in the cache.
        let block = dense::at_once(work.neighbours.p()) as u32;
        let mut pairs = Vec::new();
        for from in others.clone().step_by(block as usize) {
            let end = from.saturating_add(block);
            for (x, lanes) in &mut masked {
                let (x, list, of_x) = (*x, work.neighbours.list(*x), work.lanes.of(*x));
                let places = (0, list.len());
                while let Some(y) = lanes.clone().next().map(|at| list[of_x[at] as usize]).filter(|&y| y < end) {
                    let at = lanes.start;
                    lanes.start += 1;
                    pairs.push(Pair { at, x, y: y as usize, places, without_common: false, limit: None });
                }
            }
            self.by_masks(&rules, work.neighbours, &pairs, scratch, signal, out);
            pairs.clear();
        }
    }

    fn sides(
        &self,
        work: &Work,
        sides: Range<usize>,
        scratch: &mut Scratch,
        stop: &Stop,
        out: &mut dyn FnMut(usize, Verdict, u64),
    ) {
        let rules = self.rules(work.options, work.size);
        let mut pairs = Vec::new();
        for at in sides {
            let side = &work.sides[at];
            let x = side.row as usize;
            if self.takes_masks(&rules, work.neighbours, x) {
                let places = (0, work.neighbours.degree(x));
                let without_common = side.order == CandidateOrder::CommonLast;
                pairs.push(Pair { at, x, y: side.other as usize, places, without_common, limit: None });
                continue;
            }
            self.side(work, at, scratch, stop, out);
        }
        let signal = Signal::of(stop);
        self.by_masks(&rules, work.neighbours, &pairs, scratch, &signal, &mut |_, answer| {
            out(answer.at, answer.verdict, answer.exact_tests);
        });
    }

    fn walk(&self, side: &SideView, scratch: &mut Scratch, signal: &Signal) -> Verdict {
        let rules = self.rules(side.options, side.size);
        walk::judge_side(&rules, side, &mut scratch.walk, signal, None)
    }

    fn p_value(
        &self,
        x: usize,
        y: usize,
        s: &[u32],
        _scratch: &mut Self::Scratch,
        _signal: &Signal,
    ) -> Result<f64, &'static str> {
        self.gauss.p_value(x, y, s).map_err(|Undefined(reason)| reason)
    }
}

impl<'a> GaussKernel<'a> {
    fn takes_masks(&self, rules: &Rules, neighbours: &Neighbours, x: usize) -> bool {
        dense::takes(rules, &self.coarse, self.level_one, neighbours, x)
    }

    /// Decides pairs by masks. Calls `out` with the row and the outcome of each.
    fn by_masks(
        &self,
        rules: &Rules,
        neighbours: &Neighbours,
        pairs: &[Pair],
        scratch: &mut Scratch,
        signal: &Signal,
        out: &mut dyn FnMut(u32, &Answer),
    ) {
        let mut tell = |pair: &Pair, decided: Decided| {
            let Decided { verdict, member, exact_tests } = decided;
            out(pair.x as u32, &Answer { at: pair.at, verdict, set: member.as_slice(), exact_tests });
        };
        let (coarse, scratch) = (&self.coarse, &mut scratch.dense);
        simd::run_wide(Pairs { rules, neighbours, coarse, signal, pairs, scratch, out: &mut tell });
    }

    fn rules(&'a self, options: &Options, size: usize) -> Rules<'a> {
        let Options { alpha, na_delete, .. } = *options;
        assert_eq!(alpha, self.thresholds.alpha, "the kernel was made for another alpha");
        Rules {
            gauss: &self.gauss,
            cutoff: self.thresholds.cutoff(size),
            trusted_above: trusted_above(size),
            curve: self.thresholds.curve(size),
            size,
            alpha,
            na_delete,
        }
    }
}

/// Working memory of one thread.
#[derive(Default)]
pub struct Scratch {
    rows: rows::Scratch,
    walk: walk::Scratch,
    dense: dense::Scratch,
    set: Vec<u32>,
}
