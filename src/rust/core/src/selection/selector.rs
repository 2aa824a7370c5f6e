//! Greedy forward selection.

use super::criterion::{Pair, SHARE_BITS};
use super::{CountLogs, Counting, Criterion, Joint, Partner, Samples, Sums};
use crate::memory::{self, Use};
use crate::observer::Observer;
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
    // By feature: two pairs of sums, a relevance, a key while it is made anew, a flag; by sample: a few numbers.
    memory::room(96 * samples.p() + 16 * samples.n(), Use::Features)?;
    let mut selector = Selector::new(samples, logs, criterion);
    // The marginal tables and those of every selected feature but the last.
    let steps = if criterion.looks_at_pairs() { k } else { 1 };
    let mut selection = Selection::default();
    for step in 0..k {
        let mut within = Step { observer: &mut *observer, step, steps };
        selector.prepare(counting, &mut within)?;
        let (best, score) = selector.best();
        memory::check()?;
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

/// The key of a selected feature, to which terms may be added and which stays the least.
const TAKEN: i128 = i128::MIN / 2;

/// A selection that is under way: [`Selector::prepare`], [`Selector::best`], [`Selector::take`], and again.
pub struct Selector<'a> {
    samples: &'a Samples,
    logs: &'a CountLogs,
    criterion: Criterion,
    /// By feature: the sums of its tables with nothing.
    marginal: Vec<Sums>,
    /// By feature: n I(f; y).
    relevance: Vec<i64>,
    /// By feature: n times its score, times [`Criterion::terms`]; of selected ones far less than any score.
    keys: Vec<i128>,
    taken: Vec<bool>,
    selected: Vec<usize>,
    /// The selected features as one variable, where the criterion asks for it.
    joint: Option<Joint>,
    sums: Vec<Sums>,
    /// Sum of t over the classes.
    class: i64,
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
            relevance: Vec::new(),
            keys: vec![0; p],
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
            let rest = self.logs.of_all() - self.class;
            self.relevance = self.sums.iter().map(|of_f| rest - of_f.pair + of_f.with_class).collect();
            self.keys = self.relevance.iter().map(|&relevance| i128::from(relevance)).collect();
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
            for (f, of_f) in self.sums.iter().enumerate().filter(|&(f, _)| !self.taken[f]) {
                // n I(f; y | S) = n (H(f, S) + H(S, y) - H(S) - H(f, S, y)).
                self.keys[f] = i128::from(set - set_class - of_f.pair + of_f.with_class);
            }
            self.joint = Some(joint);
            return Ok(());
        }
        counting.count(Partner::Feature(last), &self.taken, &mut self.sums, observer)?;
        // Before the first pair the keys are relevances.
        if let (1, Some(start)) = (self.selected.len(), self.criterion.start()) {
            self.keys.iter_mut().filter(|key| **key != TAKEN).for_each(|key| *key = start);
        }
        // n H(X) = t(n) - sum over X.
        let (all, class, of_s) = (self.logs.of_all(), self.class, self.marginal[last]);
        let selected = self.relevance[last];
        let features = self.sums.iter().zip(&self.marginal).zip(&self.relevance);
        let pairs = features.map(|((&Sums { pair, with_class }, of_f), &relevance)| Pair {
            relevance,
            selected,
            redundancy: all - of_f.pair - of_s.pair + pair,
            conditional: class - of_f.with_class - of_s.with_class + with_class,
            joint: all - pair - class + with_class,
            entropy: all - with_class,
        });
        self.criterion.add(&mut self.keys, pairs);
        Ok(())
    }

    /// The score of a feature that is not selected, once [`Selector::prepare`] has run.
    pub fn score(&self, f: usize) -> f64 {
        let selected = self.selected.len();
        if self.criterion == Criterion::Disr && selected > 0 {
            return libm::scalbn(self.keys[f] as f64, -(SHARE_BITS as i32));
        }
        self.logs.bits(self.keys[f], self.criterion.terms(selected))
    }

    /// I(f; y) in bits.
    pub fn relevance(&self, f: usize) -> f64 {
        self.logs.bits(i128::from(self.relevance[f]), 1)
    }

    /// The sums of the last [`Selector::prepare`], by feature; those of selected features are out of date.
    pub fn sums(&self) -> &[Sums] {
        &self.sums
    }

    /// The feature to select and its score. There must be one that is not selected.
    pub fn best(&self) -> (usize, f64) {
        let mut best = (TAKEN, 0);
        for (f, &key) in self.keys.iter().enumerate() {
            if key > best.0 {
                best = (key, f);
            }
        }
        (best.1, self.score(best.1))
    }

    /// Selects a feature.
    pub fn take(&mut self, f: usize) {
        self.taken[f] = true;
        self.keys[f] = TAKEN;
        self.selected.push(f);
    }
}

/// Sum of t over the levels of a variable.
fn sum_of(logs: &CountLogs, variable: &Joint) -> i64 {
    variable.counts().iter().map(|&count| logs.table()[count as usize]).sum()
}
