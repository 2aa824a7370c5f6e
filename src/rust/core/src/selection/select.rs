//! Greedy forward selection.

use std::ops::Range;

use super::known::Known;
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
    /// The features' scores when they were selected, in bits. Scores of [`Criterion::Disr`] are sums of shares from the second feature on, and those of
    /// [`Criterion::Fcbf`] are shares.
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

/// A function that makes a machine count for a range of features. It is called on the thread that then counts.
pub type Maker<'a> = Box<dyn FnMut(Range<usize>) -> Result<Box<dyn Counting + Send + 'a>> + Send + 'a>;

/// A machine that selects together with others.
pub struct Member<'a> {
    /// The machine's name, as in R: "cpu", "cuda:0".
    pub name: String,
    /// A guess of the machine's speed relative to the others, above 0. The features are first divided by it.
    pub speed: f64,
    /// Makes the machine count, and count for more features if it takes some from others.
    pub make: Maker<'a>,
}

/// One machine, or several that count at the same time, each for its features. A feature's score depends on no other candidate, and the
/// best of all features is selected. So the answer does not depend on which machine has which features.
pub trait Machines {
    /// Makes k choices, one after the other, and passes each to `chosen`.
    ///
    /// # Errors
    /// Those of the machines and the observer.
    fn choose(
        &mut self,
        problem: &Problem,
        k: usize,
        observer: &mut dyn Observer,
        chosen: &mut dyn FnMut(Choice),
    ) -> Result<()>;

    /// Reports the work of each machine since the last call.
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

/// Selects k features. `logs` must be for the number of samples, and the machines must have these samples.
///
/// # Errors
/// [`Error::Argument`] if k is not from 1 to p, and errors of the machines and the observer.
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

/// Selects k features by each criterion on one machine. Selections by several criteria share the counts of the pairs that they have in
/// common.
///
/// # Errors
/// Those of [`select`].
pub fn select_each(
    samples: &Samples,
    logs: &CountLogs,
    machine: &mut (impl Counting + ?Sized),
    criteria: &[Criterion],
    k: usize,
    observer: &mut dyn Observer,
) -> Result<Vec<Selection>> {
    if let [criterion] = *criteria {
        return Ok(vec![select(samples, logs, machine, criterion, k, observer)?]);
    }
    let mut known = Known::new(machine);
    let steps = criteria.len();
    let one = |(step, &criterion): (usize, &Criterion)| {
        let mut part = Step { observer: &mut *observer, step, count: 1, steps };
        select(samples, logs, &mut known, criterion, k, &mut part)
    };
    criteria.iter().enumerate().map(one).collect()
}

/// Checks that there is memory for a selection in this many shards.
pub(crate) fn room(problem: &Problem, shards: usize) -> Result<()> {
    // For each feature: two pairs of sums, a relevance, a key, a second key during its update, and a flag. For each sample and shard: a few
    // numbers.
    memory::room(96 * problem.samples.p() + 16 * problem.samples.n() * shards, Use::Features)
}

/// An observer that converts the progress of some steps to that of all.
pub(crate) struct Step<'a> {
    pub observer: &'a mut dyn Observer,
    /// The first step, the number of these steps, and the number of all steps.
    pub step: usize,
    pub count: usize,
    pub steps: usize,
}

impl Observer for Step<'_> {
    fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
        // The share stays below 1: observers take the total for the end.
        let share = if total > 0.0 { (done / total).min(1.0 - 1e-9) } else { 0.0 };
        let done = self.step as f64 + self.count as f64 * share;
        self.observer.progress(0, done.min(self.steps as f64), self.steps as f64)
    }

    fn look(&mut self) -> Result<()> {
        self.observer.look()
    }
}
