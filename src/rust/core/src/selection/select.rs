//! Greedy forward selection.

use std::ops::Range;

use super::selector::{Choice, Problem, Selector};
use super::{CountLogs, Counting, Criterion, Samples};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::team::TeamReport;
use crate::{Error, Result};

/// Selected features in the order of their selection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The features, from 0.
    pub index: Vec<usize>,
    /// Their scores when they were selected: in bits, but for [`Criterion::Disr`], whose scores are sums of shares from the
    /// second feature on.
    pub score: Vec<f64>,
    /// I(f; y) in bits.
    pub relevance: Vec<f64>,
}

impl Selection {
    pub(crate) fn add(&mut self, problem: &Problem, choice: &Choice) {
        self.score.push(problem.score(choice.key, self.index.len()));
        self.index.push(choice.feature);
        self.relevance.push(problem.logs.bits(i128::from(choice.relevance), 1));
    }
}

/// Makes a machine count for a range of features; called on the thread that then counts.
pub type Maker<'a> = Box<dyn FnMut(Range<usize>) -> Result<Box<dyn Counting + Send + 'a>> + Send + 'a>;

/// A machine that is to select beside others.
pub struct Member<'a> {
    /// Its name, as R knows it: "cpu", "cuda:0".
    pub name: String,
    /// How fast it is beside the others, as a guess: the features are first cut by it. Above 0.
    pub speed: f64,
    /// Makes it count; for more features, where it takes some from others.
    pub make: Maker<'a>,
}

/// One machine, or several that count at the same time, each for its features. The scores of a feature depend on no other
/// candidate, and the feature to select is the best of all: the answer does not depend on who has which.
pub trait Machines {
    /// Makes k choices, one after the other, and hands each to `chosen`.
    ///
    /// # Errors
    /// What the machines and the observer return.
    fn choose(
        &mut self,
        problem: &Problem,
        k: usize,
        observer: &mut dyn Observer,
        chosen: &mut dyn FnMut(Choice),
    ) -> Result<()>;

    /// Who did what since this was last asked.
    fn report(&mut self) -> TeamReport {
        TeamReport::default()
    }
}

impl<C: Counting + ?Sized> Machines for C {
    fn choose(
        &mut self,
        problem: &Problem,
        k: usize,
        observer: &mut dyn Observer,
        chosen: &mut dyn FnMut(Choice),
    ) -> Result<()> {
        room(problem, 1)?;
        let mut selector = Selector::new(problem.samples, problem.logs, problem.criterion, 0..problem.samples.p());
        let steps = problem.steps(k);
        for step in 0..k {
            selector.prepare(self, &mut Step { observer: &mut *observer, step, count: 1, steps })?;
            memory::check()?;
            let Some(best) = selector.best() else { break };
            chosen(best);
            selector.take(&best);
        }
        Ok(())
    }
}

/// Selects k features. `logs` must be those of the samples' number, and the machines must have these samples.
///
/// # Errors
/// [`Error::Argument`] where k is not from 1 to p, and what the machines and the observer return.
pub fn select(
    samples: &Samples,
    logs: &CountLogs,
    machines: &mut (impl Machines + ?Sized),
    criterion: Criterion,
    k: usize,
    observer: &mut dyn Observer,
) -> Result<Selection> {
    let problem = &Problem { samples, logs, criterion };
    let p = samples.p();
    if k == 0 || k > p {
        return Err(Error::Argument {
            argument: "k",
            value: k.to_string(),
            hint: format!("give a whole number from 1 to {p}, the number of features"),
        });
    }
    let mut selection = Selection::default();
    machines.choose(problem, k, observer, &mut |choice| {
        selection.add(problem, &choice);
    })?;
    let steps = problem.steps(k) as f64;
    observer.progress(0, steps, steps)?;
    Ok(selection)
}

/// Plans what a selection takes in so many shards.
pub(crate) fn room(problem: &Problem, shards: usize) -> Result<()> {
    // By feature: two pairs of sums, a relevance, a key while it is made anew, a flag; by sample and shard: a few numbers.
    memory::room(96 * problem.samples.p() + 16 * problem.samples.n() * shards, Use::Features)
}

/// The progress of some steps as that of all.
pub(crate) struct Step<'a> {
    pub observer: &'a mut dyn Observer,
    /// The first, their number, and that of all.
    pub step: usize,
    pub count: usize,
    pub steps: usize,
}

impl Observer for Step<'_> {
    fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
        // Short of the whole until the end: observers take the whole for the end.
        let share = if total > 0.0 { (done / total).min(1.0 - 1e-9) } else { 0.0 };
        let done = self.step as f64 + self.count as f64 * share;
        self.observer.progress(0, done.min(self.steps as f64), self.steps as f64)
    }

    fn look(&mut self) -> Result<()> {
        self.observer.look()
    }
}
