//! Greedy forward selection.

use super::criterion::{Pair, SHARE_BITS};
use super::{CountLogs, Counting, Criterion, Joint, Partner, Samples, Sums};
use crate::search::Observer;
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

/// Selects k features. `logs` must be those of the samples' number, and `counting` a machine with these samples.
///
/// # Errors
/// [`Error::Argument`] where k is not from 1 to p, and what the machine and the observer return.
pub fn select(
    samples: &Samples,
    logs: &CountLogs,
    counting: &mut dyn Counting,
    criterion: Criterion,
    k: usize,
    observer: &mut dyn Observer,
) -> Result<Selection> {
    if k == 0 || k > samples.p() {
        return Err(Error::Argument {
            argument: "k",
            value: k.to_string(),
            mend: format!("give a whole number from 1 to {}, the number of features", samples.p()),
        });
    }
    let mut selector = Selector::new(samples, logs, criterion);
    // The marginal tables and those of every selected feature but the last.
    let steps = if criterion.looks_at_pairs() { k } else { 1 };
    let mut selection = Selection::default();
    for step in 0..k {
        let mut within = Step { observer: &mut *observer, step, steps };
        selector.prepare(counting, &mut within)?;
        let (best, score) = selector.best();
        selector.take(best);
        selection.index.push(best);
        selection.score.push(score);
        selection.relevance.push(selector.relevance(best));
    }
    observer.progress(0, steps as f64, steps as f64)?;
    Ok(selection)
}

/// The progress of one step as that of the whole.
struct Step<'a> {
    observer: &'a mut dyn Observer,
    step: usize,
    steps: usize,
}

impl Observer for Step<'_> {
    fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
        // Short of the whole until the end: observers take the whole for the end.
        let share = if total > 0.0 { (done / total).min(1.0 - 1e-9) } else { 0.0 };
        self.observer.progress(0, (self.step as f64 + share).min(self.steps as f64), self.steps as f64)
    }

    fn look(&mut self) -> Result<()> {
        self.observer.look()
    }
}

/// A selection that is under way: [`Selector::prepare`], [`Selector::best`], [`Selector::take`], and again.
pub struct Selector<'a> {
    samples: &'a Samples,
    logs: &'a CountLogs,
    criterion: Criterion,
    /// By feature: the sums of its tables with nothing.
    marginal: Vec<Sums>,
    /// By feature: what its pairs with the selected ones came to, or n I(f; y | S) where S is one variable.
    pairs: Vec<i128>,
    taken: Vec<bool>,
    selected: Vec<usize>,
    /// The selected features as one variable, where the criterion asks for it.
    joint: Option<Joint>,
    sums: Vec<Sums>,
    /// Sum of t over the classes.
    class: i128,
}

impl<'a> Selector<'a> {
    /// Nothing selected yet.
    pub fn new(samples: &'a Samples, logs: &'a CountLogs, criterion: Criterion) -> Self {
        let p = samples.p();
        let class = Joint::of_variable(samples, samples.class());
        Selector {
            samples,
            logs,
            criterion,
            marginal: Vec::new(),
            pairs: vec![0; p],
            taken: vec![false; p],
            selected: Vec::new(),
            joint: (criterion == Criterion::Cmi).then(|| Joint::of_nothing(samples.n())),
            sums: vec![Sums::default(); p],
            class: sum_of(logs, &class),
        }
    }

    /// Counts what the next choice needs and has not been counted. Called once before each choice.
    ///
    /// # Errors
    /// What the machine and the observer return.
    pub fn prepare(&mut self, counting: &mut dyn Counting, observer: &mut dyn Observer) -> Result<()> {
        let Some(&last) = self.selected.last() else {
            counting.count(Partner::Nothing, &self.taken, &mut self.sums, observer)?;
            self.marginal.clone_from(&self.sums);
            return Ok(());
        };
        if self.selected.len() == self.samples.p() || !self.criterion.looks_at_pairs() {
            return Ok(());
        }
        if let Some(mut joint) = self.joint.take() {
            joint.refine(self.samples, last);
            counting.count(Partner::Joint(&joint), &self.taken, &mut self.sums, observer)?;
            let set = sum_of(self.logs, &joint);
            let mut with_class = joint.clone();
            with_class.refine(self.samples, self.samples.class());
            let set_class = sum_of(self.logs, &with_class);
            for f in (0..self.samples.p()).filter(|&f| !self.taken[f]) {
                // n I(f; y | S) = n (H(f, S) + H(S, y) - H(S) - H(f, S, y)).
                let Sums { pair, with_class } = self.sums[f];
                self.pairs[f] = set - set_class - i128::from(pair) + i128::from(with_class);
            }
            self.joint = Some(joint);
            return Ok(());
        }
        counting.count(Partner::Feature(last), &self.taken, &mut self.sums, observer)?;
        let first = self.selected.len() == 1;
        for f in (0..self.samples.p()).filter(|&f| !self.taken[f]) {
            let known = (!first).then_some(self.pairs[f]);
            self.pairs[f] = self.criterion.add(known, &self.pair(f, last));
        }
        Ok(())
    }

    /// The information of a pair, from n H(X) = t(n) - sum over X.
    fn pair(&self, f: usize, s: usize) -> Pair {
        let all = i128::from(self.logs.of_all());
        let (of_f, of_s) = (self.marginal[f], self.marginal[s]);
        let (pair, with_class) = (i128::from(self.sums[f].pair), i128::from(self.sums[f].with_class));
        Pair {
            redundancy: all - i128::from(of_f.pair) - i128::from(of_s.pair) + pair,
            conditional: self.class - i128::from(of_f.with_class) - i128::from(of_s.with_class) + with_class,
            joint: all - pair - self.class + with_class,
            entropy: all - with_class,
        }
    }

    /// n I(f; y).
    fn relevance_of(&self, f: usize) -> i128 {
        let Sums { pair, with_class } = self.marginal[f];
        i128::from(self.logs.of_all()) - self.class - i128::from(pair) + i128::from(with_class)
    }

    /// The score of a feature, as a number that compares exactly, and how many times n times the score it is.
    fn key(&self, f: usize) -> (i128, usize) {
        match (self.criterion, self.selected.len()) {
            (_, 0) => (self.relevance_of(f), 1),
            (Criterion::Cmi, _) => (self.pairs[f], 1),
            (criterion, selected) => criterion.score(self.relevance_of(f), self.pairs[f], selected),
        }
    }

    /// The score of a feature that is not selected, once [`Selector::prepare`] has run.
    pub fn score(&self, f: usize) -> f64 {
        let (key, terms) = self.key(f);
        if self.criterion == Criterion::Disr && !self.selected.is_empty() {
            return libm::scalbn(key as f64, -(SHARE_BITS as i32));
        }
        self.logs.bits(key, terms)
    }

    /// I(f; y) in bits.
    pub fn relevance(&self, f: usize) -> f64 {
        self.logs.bits(self.relevance_of(f), 1)
    }

    /// The sums of the last [`Selector::prepare`], by feature; those of selected features are out of date.
    pub fn sums(&self) -> &[Sums] {
        &self.sums
    }

    /// The feature to select and its score. There must be one that is not selected.
    pub fn best(&self) -> (usize, f64) {
        let mut best: Option<(usize, i128)> = None;
        for f in (0..self.taken.len()).filter(|&f| !self.taken[f]) {
            let (key, _) = self.key(f);
            if best.is_none_or(|(_, most)| key > most) {
                best = Some((f, key));
            }
        }
        let f = best.map_or(0, |(f, _)| f);
        (f, self.score(f))
    }

    /// Selects a feature.
    pub fn take(&mut self, f: usize) {
        self.taken[f] = true;
        self.selected.push(f);
    }
}

/// Sum of t over the levels of a variable.
fn sum_of(logs: &CountLogs, variable: &Joint) -> i128 {
    variable.counts().iter().map(|&count| i128::from(logs.table()[count as usize])).sum()
}
