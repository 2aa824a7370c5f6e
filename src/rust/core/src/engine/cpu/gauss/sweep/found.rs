//! The findings on a sweep while its parts run, on any machine, and the verdicts made from them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::ci::gauss::{trusted_above, Gauss};
use crate::engine::cpu::gauss::rules::Rules;
use crate::engine::cpu::gauss::thresholds::Thresholds;
use crate::search::level::Verdict;
use crate::search::sweep::{comes_before, Sweep, Swept};

/// The findings on the sets of one size.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfSize {
    /// The first set that separates or has no answer, with p or the reason.
    pub end: Option<(u64, Result<f64, &'static str>)>,
    /// The smallest q that was trusted, and its set.
    pub smallest: Option<(f64, u64)>,
    /// The largest p by the exact formula, and its set.
    pub exact: Option<(f64, u64)>,
}

/// The findings of some parts, by size from 0 on.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub of_size: Vec<OfSize>,
    pub exact_tests: u64,
}

/// The findings on a sweep whose parts run on any threads.
pub struct Found {
    /// The size above which sets do not matter any more.
    limit: AtomicUsize,
    all: Mutex<Part>,
}

/// The Gaussian test in the form for sweeps.
#[derive(Clone, Copy)]
pub struct Sweeps<'a> {
    gauss: &'a Gauss<'a>,
    thresholds: &'a Thresholds,
    alpha: f64,
    na_delete: bool,
}

impl<'a> Sweeps<'a> {
    pub(in crate::engine::cpu::gauss) fn new(
        gauss: &'a Gauss<'a>,
        thresholds: &'a Thresholds,
        (alpha, na_delete): (f64, bool),
    ) -> Self {
        Sweeps { gauss, thresholds, alpha, na_delete }
    }

    pub(super) fn gauss(&self) -> &'a Gauss<'a> {
        self.gauss
    }

    /// Returns the correlation of two variables.
    pub fn correlation(&self, x: usize, y: usize) -> f64 {
        self.gauss.correlation(x, y)
    }

    /// Returns the bounds for sets of a size: the q below which one separates, the q above which it does not, and the condition above which this
    /// is certain.
    pub fn bounds(&self, size: usize) -> [f64; 3] {
        let Rules { cutoff, trusted_above, .. } = self.rules(size);
        [cutoff.independent_below, cutoff.dependent_above, trusted_above]
    }

    pub(super) fn rules(&self, size: usize) -> Rules<'a> {
        Rules {
            gauss: self.gauss,
            cutoff: self.thresholds.cutoff(size),
            trusted_above: trusted_above(size),
            curve: None,
            size,
            alpha: self.alpha,
            na_delete: self.na_delete,
        }
    }

    /// Opens the findings before the first part of a sweep.
    pub fn open(&self, sweep: &Sweep) -> Found {
        let last = *sweep.sizes.end();
        Found { limit: AtomicUsize::new(last), all: Mutex::new(Part::new(last)) }
    }

    /// Enters the findings of another machine on sets of a size. `smallest` has the smallest q that is certainly one of dependence, and its set.
    /// `end` has the first set that certainly separates: q, the smallest pivot times the smaller remaining variance, and the set.
    pub fn enter(
        &self,
        sweep: &Sweep,
        found: &Found,
        size: usize,
        smallest: Option<(f64, u64)>,
        end: Option<(f64, f64, u64)>,
    ) {
        let [x, y] = sweep.pair.map(|v| v as usize);
        let end = end.map(|(q, condition, set)| {
            let mut members = Vec::new();
            sweep.members(set, &mut members);
            (set, Ok(self.rules(size).p_of_square(q, condition, x, y, &members)))
        });
        found.merge_size(size, OfSize { end, smallest, exact: None });
    }

    /// Decides a test by the exact formula if its set still matters.
    pub fn decide(&self, sweep: &Sweep, found: &Found, set: u64) {
        let size = set.count_ones() as usize;
        if !found.matters(size, set) {
            return;
        }
        let mut members = Vec::new();
        sweep.members(set, &mut members);
        let [x, y] = sweep.pair.map(|v| v as usize);
        let outcome = self.rules(size).exactly(x, y, &members);
        found.locked().exact_tests += 1;
        found.merge_size(size, OfSize::of_exact(set, outcome));
    }

    /// Returns the verdicts, after all parts.
    pub fn close(&self, sweep: &Sweep, found: &Found) -> Swept {
        let Part { of_size, exact_tests } = found.locked().clone();
        let mut verdicts = Vec::new();
        for size in sweep.sizes.clone() {
            let verdict = self.verdict(sweep, &of_size[size]);
            verdicts.push(verdict);
            if !matches!(verdict, Verdict::Dependent { .. }) {
                break;
            }
        }
        Swept { verdicts, exact_tests }
    }

    fn verdict(&self, sweep: &Sweep, of: &OfSize) -> Verdict {
        match of.end {
            Some((set, Ok(p))) => return Verdict::Independent { rank: sweep.rank(set), p },
            Some((set, Err(reason))) => return Verdict::Undefined { rank: sweep.rank(set), reason },
            None => {}
        }
        let mut best = of.exact.unwrap_or((-1.0, 0));
        if let Some((_, set)) = of.smallest {
            let mut members = Vec::new();
            sweep.members(set, &mut members);
            let [x, y] = sweep.pair.map(|v| v as usize);
            // The quick form was trusted here, so pcalg's formula has an answer too.
            if let Ok(p) = self.gauss.p_value(x, y, &members) {
                if p > best.0 {
                    best = (p, set);
                }
            }
        }
        Verdict::Dependent { rank: if best.1 == 0 { 0 } else { sweep.rank(best.1) }, p: best.0 }
    }
}

impl Part {
    /// Creates empty findings for sets up to this size.
    pub fn new(last: usize) -> Self {
        Part { of_size: vec![OfSize::default(); last + 1], exact_tests: 0 }
    }
}

impl Found {
    /// Returns the size above which sets do not matter any more.
    pub(super) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Part> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the smallest q so far, by size.
    pub(super) fn smallest(&self) -> Vec<Option<f64>> {
        self.locked().of_size.iter().map(|of| of.smallest.map(|(q, _)| q)).collect()
    }

    fn matters(&self, size: usize, set: u64) -> bool {
        size <= self.limit() && self.locked().of_size.get(size).is_some_and(|of| !of.is_past(set))
    }

    fn merge_size(&self, size: usize, of_size: OfSize) {
        if of_size.end.is_some() {
            self.limit.fetch_min(size, Ordering::Relaxed);
        }
        self.locked().of_size[size].merge(of_size);
    }

    pub(super) fn merge(&self, of_part: Part) {
        if let Some(size) = of_part.of_size.iter().position(|of| of.end.is_some()) {
            self.limit.fetch_min(size, Ordering::Relaxed);
        }
        let mut all = self.locked();
        all.exact_tests += of_part.exact_tests;
        for (all, of_part) in all.of_size.iter_mut().zip(of_part.of_size) {
            all.merge(of_part);
        }
    }
}

impl OfSize {
    /// Creates the finding of a test by the exact formula. `outcome` is p and whether it separates, or the reason why it has no answer.
    pub(super) fn of_exact(set: u64, outcome: Result<(f64, bool), &'static str>) -> Self {
        match outcome {
            Ok((p, false)) => OfSize { exact: Some((p, set)), ..OfSize::default() },
            Ok((p, true)) => OfSize { end: Some((set, Ok(p))), ..OfSize::default() },
            Err(reason) => OfSize { end: Some((set, Err(reason))), ..OfSize::default() },
        }
    }

    /// Returns whether a set comes after the one that ends this size.
    pub(super) fn is_past(&self, set: u64) -> bool {
        self.end.is_some_and(|(known, _)| comes_before(known, set))
    }

    /// Returns whether a set with this q is the one to keep as the smallest.
    pub(super) fn is_smallest(&self, q: f64, set: u64) -> bool {
        self.smallest.is_none_or(|(known, of)| q < known || (q == known && comes_before(set, of)))
    }

    pub(super) fn merge(&mut self, other: OfSize) {
        if let Some((set, _)) = other.end {
            if self.end.is_none_or(|(known, _)| comes_before(set, known)) {
                self.end = other.end;
            }
        }
        if let Some((q, set)) = other.smallest {
            if self.is_smallest(q, set) {
                self.smallest = Some((q, set));
            }
        }
        if let Some((p, set)) = other.exact {
            if self.exact.is_none_or(|(known, of)| p > known || (p == known && comes_before(set, of))) {
                self.exact = Some((p, set));
            }
        }
    }
}
