//! FCI, RFCI and FCI+: from data to a partial ancestral graph.
//!
//! Runs the phases of pcalg's functions with these names, in their order: the skeleton (`search`), the possible-d-sep phase
//! (`search::possible_d_sep`), colliders by more tests (`orient`), marks (`pag`).

use crate::ci::CiTest;
use crate::graph::{Adjacency, SepSets};
use crate::observer::Observer;
use crate::orient::{self, judge_triples, ColliderRule, Judge, Knowledge, Poll};
use crate::pag::{self, Pag};
use crate::pool::Pool;
use crate::search::checkpoint::{Later, Limits};
use crate::search::possible_d_sep::{self as search, Counts, Sets, Skeleton};
use crate::search::worker::{Worker, WorkerTest};
use crate::search::Options;
use crate::{Error, Result};

/// The source of test answers.
pub enum By<'t> {
    /// A worker that answers by shards.
    Worker(&'t mut dyn Worker),
    /// A test that gets one question at a time, in pcalg's order.
    Test(&'t mut dyn CiTest),
}

/// The phases that follow the skeleton in pcalg's `fci()`.
pub struct Fci<'a> {
    /// The possible-d-sep phase (`doPdsep`) of this skeleton, or `None` to skip it.
    pub phase: Option<Prepared>,
    /// `conservative`, `maj.rule`.
    pub rule: ColliderRule,
    /// Options of the orientation.
    pub orient: pag::Options<'a>,
    /// Called with each event that pcalg prints about the conservative rule.
    pub tell: Option<orient::Tell<'a>>,
}

/// Options of the possible-d-sep phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// `m.max`: the sets grow while their size is below this.
    pub m_max: f64,
    /// `pdsep.max`: the largest number of candidates for an edge.
    pub most: f64,
    /// `biCC`
    pub by_component: bool,
}

impl Default for Phase {
    fn default() -> Self {
        Phase { m_max: f64::INFINITY, most: f64::INFINITY, by_component: false }
    }
}

impl Phase {
    /// Finds the possible-d-sep sets of a skeleton, and prints pcalg's messages about it.
    ///
    /// # Errors
    /// Those of [`pag::possible_d_sep`].
    pub fn prepare(
        &self,
        (graph, sepsets): (&Adjacency, &SepSets),
        orient: &pag::Options,
        pool: &Pool,
    ) -> Result<Prepared> {
        say(orient, || "\nCompute PDSEP\n=============\n\nCompute collider:\n".into())?;
        let nothing = pag::Unclear::default();
        let candidates = pag::possible_d_sep(graph, sepsets, &nothing, pool, orient.wants_to_stop, orient.say)?;
        let sets = Sets { candidates, most: self.most, by_component: self.by_component };
        Ok(Prepared { m_max: self.m_max, sets })
    }
}

/// The possible-d-sep phase of a skeleton, with its possible-d-sep sets.
pub struct Prepared {
    m_max: f64,
    sets: Sets,
}

impl Prepared {
    fn options(&self, options: &Options) -> Options {
        Options { m_max: self.m_max, ..options.clone() }
    }

    /// Returns the number of tests if no set separates anything. It is a float, as it may exceed 64 bits.
    pub fn most_tests(&self, options: &Options, graph: &Adjacency) -> f64 {
        search::most_tests(&self.options(options), graph, &self.sets)
    }
}

/// Results from a skeleton: its marked graph after the possible-d-sep phase, and the counts of that phase.
#[derive(Clone, Debug)]
pub struct Found {
    /// The graph.
    pub pag: Pag,
    /// Counts of the possible-d-sep phase, if there was one.
    pub counts: Option<Counts>,
    /// The error that kept the later tests from the checkpoint, if there was one.
    pub unkept: Option<Error>,
}

/// Continues from a skeleton as pcalg's `fci()` does; changes the skeleton and its p-values.
///
/// # Errors
/// Those of [`search::possible_d_sep`], [`orient::orient`] and [`pag::orient`].
pub fn fci(
    by: &mut By,
    skeleton: &mut Skeleton,
    options: &Options,
    fci: &Fci,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Found> {
    let counts = match &fci.phase {
        None => None,
        Some(phase) => Some(by.possible_d_sep(skeleton, options, phase, limits, observer)?),
    };
    let poll = Poll::new(fci.orient.wants_to_stop, fci.tell);
    let mut orient = fci.orient.clone();
    let mut unkept = None;
    if fci.rule != ColliderRule::Standard {
        say(&orient, || "\nCheck v-structures conservatively\n=================================\n".into())?;
        // Without the possible-d-sep phase, pcalg takes a triple as unclear if no subset separates its ends.
        let version_unf = if counts.is_some() { [1, 1] } else { [2, 1] };
        let judge = Judge { version_unf, majority: fci.rule == ColliderRule::Majority };
        let of = (&skeleton.graph, &Knowledge::default());
        let threshold = fci.tell.is_none().then_some(options.alpha);
        let later = Later::new(options, limits, (&skeleton.graph, &skeleton.sepsets), threshold);
        let judged =
            |test: &mut dyn CiTest| judge_triples(judge, of, &mut skeleton.sepsets, options.alpha, test, &poll);
        let (ambiguous, failed) = by.ask(&later, observer, judged)?;
        orient.unclear = ambiguous.triples().collect();
        unkept = failed;
    }
    say(&orient, || directing(&orient))?;
    let pag = pag::orient(&skeleton.graph, &skeleton.sepsets, &orient)?;
    Ok(Found { pag, counts, unkept })
}

fn say(orient: &pag::Options, text: impl FnOnce() -> String) -> Result<()> {
    orient.say.map_or(Ok(()), |say| say(&text()))
}

/// Returns the text that pcalg prints before it directs edges.
fn directing(orient: &pag::Options) -> String {
    format!("\nDirect edges:\n=============\nUsing rules:{} \nCompute collider:\n", pag::shown_rules(&orient.rules))
}

impl By<'_> {
    /// Runs the possible-d-sep phase on a skeleton.
    fn possible_d_sep(
        &mut self,
        skeleton: &mut Skeleton,
        options: &Options,
        phase: &Prepared,
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Counts> {
        let (options, sets) = (phase.options(options), &phase.sets);
        match self {
            By::Worker(worker) => search::possible_d_sep(&mut **worker, &options, skeleton, sets, observer, limits),
            By::Test(test) => search::possible_d_sep_in_turn(*test, &options, skeleton, sets, observer, limits),
        }
    }

    /// Calls `ask` with this source as a test whose answers are kept in the checkpoint.
    fn ask<T>(
        &mut self,
        later: &Later,
        observer: &mut dyn Observer,
        ask: impl FnOnce(&mut dyn CiTest) -> Result<T>,
    ) -> Result<(T, Option<Error>)> {
        match self {
            By::Worker(worker) => later.run(&mut WorkerTest { worker: &mut **worker, observer }, ask),
            By::Test(test) => later.run(*test, ask),
        }
    }

    /// Continues from a skeleton as pcalg's `rfci()` does.
    ///
    /// # Errors
    /// Those of [`pag::rfci`] and of [`Later::run`].
    pub fn rfci(
        &mut self,
        (graph, sepsets): (&Adjacency, &mut SepSets),
        (options, limits): (&Options, &Limits),
        rfci: &pag::Rfci,
        observer: &mut dyn Observer,
    ) -> Result<Found> {
        let threshold = (rfci.tell.is_none() && rfci.asked.is_none()).then_some(options.alpha);
        let later = Later::new(options, limits, (graph, sepsets), threshold);
        let ask = |test: &mut dyn CiTest| pag::rfci(graph, sepsets, options.alpha, test, rfci);
        let (pag, unkept) = self.ask(&later, observer, ask)?;
        Ok(Found { pag, counts: None, unkept })
    }

    /// Continues from a skeleton as pcalg's `fciPlus()` does.
    ///
    /// # Errors
    /// Those of [`pag::fci_plus`], [`pag::orient`] and [`Later::run`].
    pub fn fci_plus(
        &mut self,
        (graph, sepsets): (&Adjacency, &mut SepSets),
        (options, limits): (&Options, &Limits),
        (plus, orient): (&pag::Plus, &pag::Options),
        observer: &mut dyn Observer,
    ) -> Result<Found> {
        let later = Later::new(options, limits, (graph, sepsets), None);
        let ask = |test: &mut dyn CiTest| pag::fci_plus(graph, sepsets, options.alpha, test, plus);
        let (left, unkept) = self.ask(&later, observer, ask)?;
        Ok(Found { pag: pag::orient(&left, sepsets, orient)?, counts: None, unkept })
    }
}
