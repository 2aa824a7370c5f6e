//! The Gaussian test on the CPU: squared partial correlations in SIMD, pcalg's formula where they cannot decide.
//!
//! A row's pairs are decided together where their candidates stand in one order ([`rows`]), and one by one
//! where they do not ([`walk`]).
//!
//! A side is walked in rank order. For a block of consecutive sets the squared partial correlations q are computed
//! without root, logarithm or branch; a test that the quick form cannot be trusted with gets q = -1. A block whose
//! smallest q lies above the critical band, and above the smallest seen so far, is done. Otherwise its tests are looked
//! at one by one: q below the band separates, q inside it or -1 goes to [`Gauss::p_value`].
//!
//! No fused multiply-add: the same q on every machine, whatever SIMD it has.

pub mod correlation;
mod rows;
mod simd;
pub(super) mod walk;

use std::sync::OnceLock;

use super::kernel::{Kernel, RowView, SideView, Signal};
use crate::ci::gauss::{trusted_above, Cutoff, Gauss, Undefined, WELL_CONDITIONED};
use crate::ci::pcurve::PCurve;
use crate::graph::Adjacency;
use crate::search::book::Answer;
use crate::search::level::Verdict;
use rows::{RowScratch, BITS};
use walk::Walker;

/// Tests in a block.
pub(super) const BLOCK: usize = 64;

/// The Gaussian test in the form that the CPU engine runs.
pub struct GaussKernel<'a> {
    gauss: Gauss<'a>,
    alpha: f64,
    /// By level, made when a level first needs them.
    cutoffs: Vec<OnceLock<Cutoff>>,
    /// For the levels that separate most pairs; none where it does not pay or cannot be made.
    curves: [OnceLock<Option<PCurve>>; CURVES],
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
        GaussKernel { gauss, alpha, cutoffs, curves: [const { OnceLock::new() }; CURVES] }
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
                cells[i] = match curve.and_then(|curve| curve.at(r.abs())) {
                    Some(p) => p,
                    None => self.gauss.p_of_marginal(r).map_err(|Undefined(reason)| (w * 64 + i, reason))?,
                };
            }
        }
        Ok(())
    }

    fn row(&self, row: &RowView, scratch: &mut Scratch, signal: &Signal, out: &mut dyn FnMut(&Answer)) {
        let rules = self.rules(row.alpha, row.size, row.na_delete);
        rows::dispatch(&rules, row, scratch, signal, out);
    }

    fn walk(&self, side: &SideView, scratch: &mut Scratch, signal: &Signal) -> Verdict {
        let rules = self.rules(side.alpha, side.size, side.na_delete);
        judge_side(&rules, side, scratch, signal, None)
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

/// The thresholds that decide a test of one level.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub gauss: &'a Gauss<'a>,
    pub cutoff: Cutoff,
    /// See [`trusted_above`].
    pub trusted_above: f64,
    curve: Option<&'a PCurve>,
    size: usize,
    alpha: f64,
    na_delete: bool,
}

impl Rules<'_> {
    /// p of a test whose squared partial correlation says that it separates; `condition` is its smallest pivot times the
    /// smaller variance that is left.
    #[inline]
    pub fn p_of_square(&self, q: f64, condition: f64, x: usize, y: usize, set: &[u32]) -> f64 {
        if condition < WELL_CONDITIONED {
            // The decision is safe, but not the digits.
            if let Ok(p) = self.gauss.p_value(x, y, set) {
                return p;
            }
        }
        // Far from 0, p follows r: no need to compute r again.
        let r = q.sqrt();
        let p = self.curve.and_then(|curve| curve.at(r));
        p.unwrap_or_else(|| self.gauss.p_of_correlation(r, self.size))
    }

    /// A test by pcalg's formula: its p-value as pcalg reads it, and whether that separates.
    pub fn exactly(&self, x: usize, y: usize, set: &[u32]) -> Result<(f64, bool), &'static str> {
        let p = self.gauss.p_value(x, y, set).map_err(|Undefined(reason)| reason)?;
        let p = if p.is_nan() { f64::from(u8::from(self.na_delete)) } else { p };
        Ok((p, p >= self.alpha))
    }
}

impl<'a> GaussKernel<'a> {
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

/// Decides the ranks of a side; `smallest` is what is known of its tests before: their smallest q with its rank.
pub(super) fn judge_side(
    rules: &Rules,
    side: &SideView,
    scratch: &mut Scratch,
    signal: &Signal,
    smallest: Option<(f64, u64)>,
) -> Verdict {
    let (smallest, smallest_rank) = smallest.unwrap_or((f64::INFINITY, side.ranks.start));
    let mut judge = Judge { rules: *rules, side, signal, smallest, smallest_rank, exact: None };
    let Scratch { candidates, walker, .. } = scratch;
    let ended = if side.size == 1 {
        walk::dispatch_single(&mut judge, candidates, walker)
    } else {
        side.side.candidates(side.neighbours, candidates);
        walk::dispatch_sets(&mut judge, candidates, walker)
    };
    match ended {
        Some(verdict) => verdict,
        None => judge.dependent(),
    }
}

/// Working memory of one thread.
#[derive(Default)]
pub struct Scratch {
    candidates: Vec<u32>,
    walker: Walker,
    pub(super) rows: RowScratch,
}

/// Turns blocks of q into a verdict.
pub(super) struct Judge<'a> {
    pub rules: Rules<'a>,
    pub side: &'a SideView<'a>,
    pub signal: &'a Signal<'a>,
    smallest: f64,
    smallest_rank: u64,
    /// Largest p among the tests decided by the exact formula, with its rank.
    exact: Option<(f64, u64)>,
}

impl Judge<'_> {
    pub fn row(&self) -> usize {
        self.side.side.row as usize
    }

    pub fn other(&self) -> usize {
        self.side.side.other as usize
    }

    /// Looks at the block whose first test has rank `first`. `condition` says how far each q can be relied on, `set(i)` is the
    /// conditioning set of the i-th test.
    #[inline(always)]
    pub fn block<S: AsRef<[u32]>>(
        &mut self,
        q: &[f64],
        condition: &[f64],
        first: u64,
        set: impl FnMut(usize) -> S,
    ) -> Option<Verdict> {
        let mut least = f64::INFINITY;
        for &value in q {
            least = if value < least { value } else { least };
        }
        if least > self.rules.cutoff.dependent_above && least >= self.smallest {
            return None;
        }
        self.scan(q, condition, first, set)
    }

    #[inline(never)]
    fn scan<S: AsRef<[u32]>>(
        &mut self,
        q: &[f64],
        condition: &[f64],
        first: u64,
        mut set: impl FnMut(usize) -> S,
    ) -> Option<Verdict> {
        let above = self.rules.cutoff.dependent_above;
        // In small groups, most of which hold no such test.
        const GROUP: usize = 8;
        let suspects = q.chunks(GROUP).enumerate().filter(|(_, group)| {
            let least = group.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a });
            least <= above
        });
        for (i, &value) in
            suspects.flat_map(|(g, group)| group.iter().enumerate().map(move |(i, v)| (g * GROUP + i, v)))
        {
            if value > above {
                continue;
            }
            let rank = first + i as u64;
            if value < 0.0 || value >= self.rules.cutoff.independent_below {
                if let Some(verdict) = self.exactly(rank, set(i).as_ref()) {
                    return Some(verdict);
                }
            } else {
                let p = self.rules.p_of_square(value, condition[i], self.row(), self.other(), set(i).as_ref());
                return Some(Verdict::Independent { rank, p });
            }
        }
        for (i, &value) in q.iter().enumerate() {
            if value > above && value < self.smallest {
                self.smallest = value;
                self.smallest_rank = first + i as u64;
            }
        }
        None
    }

    /// Decides one test by pcalg's formula.
    pub fn exactly(&mut self, rank: u64, set: &[u32]) -> Option<Verdict> {
        self.signal.count_exact();
        match self.rules.exactly(self.row(), self.other(), set) {
            Err(reason) => Some(Verdict::Undefined { rank, reason }),
            Ok((p, true)) => Some(Verdict::Independent { rank, p }),
            Ok((p, false)) => {
                if self.exact.is_none_or(|(largest, _)| p > largest) {
                    self.exact = Some((p, rank));
                }
                None
            }
        }
    }

    /// The verdict when no set separated: the largest p, by pcalg's formula at the smallest q.
    fn dependent(&self) -> Verdict {
        let mut best = self.exact.unwrap_or((-1.0, self.side.ranks.start));
        if self.smallest < f64::INFINITY {
            let set = self.side.side.set(self.side.neighbours, self.side.size, self.smallest_rank);
            // The quick form was trusted here, so pcalg's has an answer too.
            if let Ok(p) = self.rules.gauss.p_value(self.row(), self.other(), &set) {
                if p > best.0 {
                    best = (p, self.smallest_rank);
                }
            }
        }
        Verdict::Dependent { rank: best.1, p: best.0 }
    }
}
