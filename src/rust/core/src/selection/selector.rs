//! Greedy forward selection.

use std::cmp::Ordering;
use std::ops::Range;

use super::criterion::{Pair, SHARE_BITS};
use super::{CountLogs, Counting, Criterion, Joint, Machines, Partner, Samples, Sums};
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
    if k == 0 || k > samples.p() {
        return Err(Error::Argument {
            argument: "k",
            value: k.to_string(),
            mend: format!("give a whole number from 1 to {}, the number of features", samples.p()),
        });
    }
    let shards = machines.shards(samples.p());
    // By feature: two pairs of sums, a relevance, a key while it is made anew, a flag; by sample and shard: a few numbers.
    memory::room(96 * samples.p() + 16 * samples.n() * shards.len(), Use::Features)?;
    let mut selectors: Vec<Selector> =
        shards.into_iter().map(|range| Selector::new(samples, logs, criterion, range)).collect();
    // The marginal tables and those of every selected feature but the last.
    let steps = if criterion.looks_at_pairs() { k } else { 1 };
    let mut selection = Selection::default();
    for step in 0..k {
        let mut within = Step { observer: &mut *observer, step, steps };
        machines.prepare(&mut selectors, &mut within)?;
        memory::check()?;
        let Some(best) = selectors.iter().filter_map(Selector::best).max() else { break };
        selection.index.push(best.feature);
        selection.score.push(selectors[0].score_of(best.key));
        selection.relevance.push(logs.bits(i128::from(best.relevance), 1));
        selectors.iter_mut().for_each(|selector| selector.take(&best));
    }
    observer.progress(0, steps as f64, steps as f64)?;
    Ok(selection)
}

/// The best feature of a shard, and what the other shards need of it if it is selected: plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The feature, from 0.
    pub feature: usize,
    /// n times its score, times [`Criterion::terms`].
    pub key: i128,
    /// n I(f; y).
    pub relevance: i64,
    /// The sums of its tables with nothing.
    pub marginal: Sums,
}

/// The larger is the one to select: of equal scores the feature with the lower index.
impl Ord for Choice {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then(other.feature.cmp(&self.feature))
    }
}

impl PartialOrd for Choice {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Choice {
    /// As bytes, in little-endian order, for a worker of another process.
    pub fn to_bytes(&self) -> [u8; 48] {
        let mut bytes = [0; 48];
        bytes[..16].copy_from_slice(&self.key.to_le_bytes());
        let numbers = [self.feature as i64, self.relevance, self.marginal.pair, self.marginal.with_class];
        bytes[16..].chunks_exact_mut(8).zip(numbers).for_each(|(to, number)| to.copy_from_slice(&number.to_le_bytes()));
        bytes
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8; 48]) -> Self {
        let (mut key, mut numbers) = ([0; 16], [0i64; 4]);
        key.copy_from_slice(&bytes[..16]);
        for (number, from) in numbers.iter_mut().zip(bytes[16..].chunks_exact(8)) {
            let mut eight = [0; 8];
            eight.copy_from_slice(from);
            *number = i64::from_le_bytes(eight);
        }
        let [feature, relevance, pair, with_class] = numbers;
        Choice {
            feature: feature as usize,
            key: i128::from_le_bytes(key),
            relevance,
            marginal: Sums { pair, with_class },
        }
    }
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

/// A shard of a selection that is under way, a range of features: [`Selector::prepare`], [`Selector::best`], [`Selector::take`] of
/// what is best in all shards, and again.
pub struct Selector<'a> {
    samples: &'a Samples,
    logs: &'a CountLogs,
    criterion: Criterion,
    range: Range<usize>,
    /// By place in the range: the sums of its tables with nothing.
    marginal: Vec<Sums>,
    /// By place: n I(f; y).
    relevance: Vec<i64>,
    /// By place: n times its score, times [`Criterion::terms`]; of selected ones far less than any score.
    keys: Vec<i128>,
    taken: Vec<bool>,
    last: Option<Choice>,
    /// Number of features selected, of this shard and of others.
    selected: usize,
    /// The selected features as one variable, where the criterion asks for it.
    joint: Option<Joint>,
    sums: Vec<Sums>,
    /// Sum of t over the classes.
    class: i64,
}

impl<'a> Selector<'a> {
    /// Nothing selected yet; of the features `range`.
    pub fn new(samples: &'a Samples, logs: &'a CountLogs, criterion: Criterion, range: Range<usize>) -> Self {
        let class = Joint::of_variable(samples, samples.class());
        Selector {
            samples,
            logs,
            criterion,
            marginal: Vec::new(),
            relevance: Vec::new(),
            keys: vec![0; range.len()],
            taken: vec![false; range.len()],
            last: None,
            selected: 0,
            joint: (criterion == Criterion::Cmi).then(|| Joint::of_nothing(samples.n())),
            sums: vec![Sums::default(); range.len()],
            class: sum_of(logs, &class),
            range,
        }
    }

    /// Counts what the next choice needs and has not been counted. Called once before each choice.
    ///
    /// # Errors
    /// What the machine and the observer return.
    pub fn prepare(&mut self, counting: &mut (impl Counting + ?Sized), observer: &mut dyn Observer) -> Result<()> {
        let Some(last) = self.last else {
            counting.count(Partner::Nothing, &self.taken, &mut self.sums, observer)?;
            self.marginal.clone_from(&self.sums);
            let rest = self.logs.of_all() - self.class;
            self.relevance = self.sums.iter().map(|of_f| rest - of_f.pair + of_f.with_class).collect();
            self.keys = self.relevance.iter().map(|&relevance| i128::from(relevance)).collect();
            return Ok(());
        };
        if self.selected == self.samples.p() || !self.criterion.looks_at_pairs() {
            return Ok(());
        }
        if let Some(mut joint) = self.joint.take() {
            joint.refine(self.samples, last.feature);
            counting.count(Partner::Joint(&joint), &self.taken, &mut self.sums, observer)?;
            let set = sum_of(self.logs, &joint);
            let mut with_class = joint.clone();
            with_class.refine(self.samples, self.samples.class());
            let set_class = sum_of(self.logs, &with_class);
            for ((key, of_f), _) in self.keys.iter_mut().zip(&self.sums).zip(&self.taken).filter(|(_, taken)| !**taken)
            {
                // n I(f; y | S) = n (H(f, S) + H(S, y) - H(S) - H(f, S, y)).
                *key = i128::from(set - set_class - of_f.pair + of_f.with_class);
            }
            self.joint = Some(joint);
            return Ok(());
        }
        counting.count(Partner::Feature(last.feature), &self.taken, &mut self.sums, observer)?;
        // Before the first pair the keys are relevances.
        if let (1, Some(start)) = (self.selected, self.criterion.start()) {
            self.keys.iter_mut().filter(|key| **key != TAKEN).for_each(|key| *key = start);
        }
        // n H(X) = t(n) - sum over X.
        let (all, class, of_s) = (self.logs.of_all(), self.class, last.marginal);
        let features = self.sums.iter().zip(&self.marginal).zip(&self.relevance);
        let pairs = features.map(|((&Sums { pair, with_class }, of_f), &relevance)| Pair {
            relevance,
            selected: last.relevance,
            redundancy: all - of_f.pair - of_s.pair + pair,
            conditional: class - of_f.with_class - of_s.with_class + with_class,
            joint: all - pair - class + with_class,
            entropy: all - with_class,
        });
        self.criterion.add(&mut self.keys, pairs);
        Ok(())
    }

    /// The score of a feature of the range that is not selected, once [`Selector::prepare`] has run.
    pub fn score(&self, f: usize) -> f64 {
        self.score_of(self.keys[f - self.range.start])
    }

    /// The score that a key stands for.
    fn score_of(&self, key: i128) -> f64 {
        if self.criterion == Criterion::Disr && self.selected > 0 {
            return libm::scalbn(key as f64, -(SHARE_BITS as i32));
        }
        self.logs.bits(key, self.criterion.terms(self.selected))
    }

    /// The sums of the last [`Selector::prepare`], by place in the range; those of selected features are out of date.
    pub fn sums(&self) -> &[Sums] {
        &self.sums
    }

    /// The best feature of the range; none where all are selected.
    pub fn best(&self) -> Option<Choice> {
        let mut best: Option<(i128, usize)> = None;
        for (at, &key) in self.keys.iter().enumerate() {
            if best.is_none_or(|(largest, _)| key > largest) && !self.taken[at] {
                best = Some((key, at));
            }
        }
        best.map(|(_, at)| self.choice(self.range.start + at))
    }

    /// A feature of the range as one to select.
    pub fn choice(&self, f: usize) -> Choice {
        let at = f - self.range.start;
        Choice { feature: f, key: self.keys[at], relevance: self.relevance[at], marginal: self.marginal[at] }
    }

    /// Selects a feature, of this range or another.
    pub fn take(&mut self, choice: &Choice) {
        if self.range.contains(&choice.feature) {
            let at = choice.feature - self.range.start;
            self.taken[at] = true;
            self.keys[at] = TAKEN;
        }
        self.selected += 1;
        self.last = Some(*choice);
    }
}

/// Sum of t over the levels of a variable.
fn sum_of(logs: &CountLogs, variable: &Joint) -> i64 {
    variable.counts().iter().map(|&count| logs.table()[count as usize]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_choice_has_the_larger_score_then_the_lower_index() {
        let choice =
            |feature, key| Choice { feature, key, relevance: -3, marginal: Sums { pair: 7, with_class: i64::MIN } };
        assert_eq!([choice(3, 5), choice(1, 5), choice(0, -9), choice(2, 5)].into_iter().max(), Some(choice(1, 5)));
        for choice in [choice(usize::MAX >> 1, i128::MIN), choice(0, 1 << 90)] {
            assert_eq!(Choice::from_bytes(&choice.to_bytes()), choice);
        }
    }
}
