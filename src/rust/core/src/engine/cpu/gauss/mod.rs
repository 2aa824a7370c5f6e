//! The Gaussian test on the CPU: squared partial correlations in SIMD, pcalg's formula where they cannot decide.
//!
//! A row's pairs are decided together where their candidates stand in one order ([`rows`]), and one by one
//! where they do not ([`walk`]); both by the [`rules`] of the level.
//!
//! A side is walked in rank order. For a block of consecutive sets the squared partial correlations q are computed
//! without root, logarithm or branch; a test that the quick form cannot be trusted with gets q = -1. A block whose
//! smallest q lies above the critical band, and above the smallest seen so far, is done. Otherwise its tests are looked
//! at one by one: q below the band separates, q inside it or -1 goes to [`Gauss::p_value`].
//!
//! No fused multiply-add: the same q on every machine, whatever SIMD it has.

mod coarse;
pub mod correlation;
mod dense;
mod judge;
mod quad;
mod rows;
mod rules;
mod walk;

use std::sync::OnceLock;

use super::kernel::{Kernel, RowView, SideView, Signal};
use super::simd;
use crate::ci::gauss::{trusted_above, Cutoff, Gauss, Undefined};
use crate::ci::pcurve::PCurve;
use crate::engine::LevelOne;
use crate::graph::Adjacency;
use crate::search::answer::Answer;
use crate::search::level::Verdict;
use coarse::Coarse;
use quad::BITS;
use rows::Row;
use rules::Rules;

/// The Gaussian test in the form that the CPU engine runs.
pub struct GaussKernel<'a> {
    gauss: Gauss<'a>,
    alpha: f64,
    /// By level, made when a level first needs them.
    cutoffs: Vec<OnceLock<Cutoff>>,
    /// For the levels that separate most pairs; none where it does not pay or cannot be made.
    curves: [OnceLock<Option<PCurve>>; CURVES],
    /// For vertices with many neighbours.
    coarse: Coarse,
    level_one: LevelOne,
}

/// Levels that have a [`PCurve`].
const CURVES: usize = 2;

/// Number of variables from which laying out a curve costs less than it saves. The choice must not depend on anything that a
/// schedule could change, as it shows in the last digits of pMax.
const CURVES_FROM: usize = 200;

impl<'a> GaussKernel<'a> {
    /// The kernel of a test at a significance level.
    pub fn new(gauss: Gauss<'a>, alpha: f64) -> Self {
        let cutoffs = std::iter::repeat_with(OnceLock::new).take(gauss.p()).collect();
        let coarse = Coarse::new(gauss.p());
        GaussKernel {
            gauss,
            alpha,
            cutoffs,
            curves: [const { OnceLock::new() }; CURVES],
            coarse,
            level_one: LevelOne::default(),
        }
    }

    /// With sets of one variable run so.
    pub fn with_level_one(self, level_one: LevelOne) -> Self {
        GaussKernel { level_one, ..self }
    }

    fn cutoff(&self, size: usize) -> Cutoff {
        *self.cutoffs[size].get_or_init(|| self.gauss.cutoff(self.alpha, size))
    }

    fn curve(&self, size: usize) -> Option<&PCurve> {
        if self.gauss.p() < CURVES_FROM {
            return None;
        }
        let curve = self.curves.get(size)?.get_or_init(|| {
            let end = self.cutoff(size).dependent_above.sqrt();
            (end < 1.0).then(|| PCurve::new(end, |r| self.gauss.p_of_correlation(r, size))).flatten()
        });
        curve.as_ref()
    }
}

impl Kernel for GaussKernel<'_> {
    type Scratch = Scratch;

    fn p(&self) -> usize {
        self.gauss.p()
    }

    fn marginal(
        &self,
        y: usize,
        pairs: &Adjacency,
        alpha: f64,
        column: &mut [f64],
        _signal: &Signal,
    ) -> Result<(), (usize, &'static str)> {
        self.fill_column::<true>(y, pairs, alpha, column, 0.0)
    }

    fn settle_marginal(
        &self,
        y: usize,
        pairs: &Adjacency,
        alpha: f64,
        column: &mut [f64],
        _signal: &Signal,
    ) -> Result<(), (usize, &'static str)> {
        let below = self.cutoff(0).independent_below;
        // Where nothing is dependent, pcalg may stop with an error.
        self.fill_column::<false>(y, pairs, alpha, column, if below.is_finite() { below } else { 0.0 })
    }

    fn row(&self, row: &RowView, scratch: &mut Scratch, signal: &Signal, out: &mut dyn FnMut(&Answer)) {
        let rules = self.rules(row.alpha, row.size, row.na_delete);
        let Scratch { rows, walk, dense, set } = scratch;
        let is_dense = dense::takes(&rules, &self.coarse, self.level_one, row.neighbours, row.row as usize);
        let row = Row { rules: &rules, view: row, signal, out, set };
        if is_dense {
            return simd::run(dense::Lanes { row, scratch: dense, coarse: &self.coarse });
        }
        simd::run(rows::Lanes { row, scratch: rows, walks: walk });
    }

    fn walk(&self, side: &SideView, scratch: &mut Scratch, signal: &Signal) -> Verdict {
        let rules = self.rules(side.alpha, side.size, side.na_delete);
        let whole = side.ranks == (0..side.side.count);
        if whole && dense::takes(&rules, &self.coarse, self.level_one, side.neighbours, side.side.row as usize) {
            let scratch = &mut scratch.dense;
            return simd::run(dense::Side { rules: &rules, view: side, signal, scratch, coarse: &self.coarse });
        }
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
    /// [`Kernel::marginal`]. Where the p-values are not kept and the squared correlation is below `independent_below`, 1 is written
    /// in place of p.
    fn fill_column<const KEPT: bool>(
        &self,
        y: usize,
        pairs: &Adjacency,
        alpha: f64,
        column: &mut [f64],
        independent_below: f64,
    ) -> Result<(), (usize, &'static str)> {
        assert_eq!(alpha, self.alpha, "the kernel was made for another alpha");
        let correlations = self.gauss.column(y);
        let dependent_above = self.cutoff(0).dependent_above;
        let curve = self.curve(0);
        for (w, &word) in pairs.row(y).iter().enumerate().take(y / 64 + 1) {
            let below = if w == y / 64 { (1 << (y % 64)) - 1 } else { !0u64 };
            let asked = word & below;
            let part = w * 64..correlations.len().min(w * 64 + 64);
            let (correlations, cells) = (&correlations[part.clone()], &mut column[part]);
            let mut look = 0u64;
            for (&r, &bit) in correlations.iter().zip(&BITS) {
                look |= if r * r > dependent_above { 0 } else { bit };
            }
            // Of neighbours whose correlation is dependent for certain, and there may be many, nothing is computed.
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
                if !KEPT && r * r < independent_below {
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

    fn rules(&'a self, alpha: f64, size: usize, na_delete: bool) -> Rules<'a> {
        assert_eq!(alpha, self.alpha, "the kernel was made for another alpha");
        Rules {
            gauss: &self.gauss,
            cutoff: self.cutoff(size),
            trusted_above: trusted_above(size),
            curve: self.curve(size),
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
