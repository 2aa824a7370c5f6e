//! The scores of a shard, which is a range of the features, and the best of them.

use std::cmp::Ordering;
use std::ops::Range;

use super::criterion::Pair;
use super::{CountLogs, Counting, Criterion, Joint, Partner, Samples, Sums};
use crate::observer::Observer;
use crate::Result;

/// The best feature of a shard, and what other shards need to know if it is selected: plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The feature, from 0.
    pub feature: usize,
    /// A whole number that is proportional to the feature's score.
    pub key: i128,
    /// n I(f; y).
    pub relevance: i64,
    /// The sums of the feature's tables without a partner.
    pub marginal: Sums,
}

/// The larger choice is selected: the higher score, then the lower index.
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
    /// Returns the choice as bytes, in little-endian order, for a worker of another process.
    pub fn to_bytes(&self) -> [u8; 48] {
        let mut bytes = [0; 48];
        bytes[..16].copy_from_slice(&self.key.to_le_bytes());
        let numbers = [self.feature as i64, self.relevance, self.marginal.pair, self.marginal.with_class];
        bytes[16..].chunks_exact_mut(8).zip(numbers).for_each(|(to, number)| to.copy_from_slice(&number.to_le_bytes()));
        bytes
    }

    /// Reads a choice from bytes.
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

/// The key of a selected feature: it stays the smallest, even if terms are added.
const TAKEN: i128 = i128::MIN / 2;

/// A selection problem.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The data.
    pub samples: &'a Samples,
    /// The table for the number of samples.
    pub logs: &'a CountLogs,
    /// The criterion.
    pub criterion: Criterion,
}

impl Problem<'_> {
    /// Returns the number of counts in a selection of k features: the marginal tables, and the tables with every selected feature but the
    /// last.
    pub(crate) fn steps(&self, k: usize) -> usize {
        if self.criterion.looks_at_pairs() {
            k
        } else {
            1
        }
    }

    /// Returns the score for a key if `selected` features are selected.
    pub fn score(&self, key: i128, selected: usize) -> f64 {
        self.criterion.score(key, selected, self.logs)
    }
}

/// The state of a selection in one shard, a range of features. [`Selector::prepare`], [`Selector::best`] and [`Selector::take`], of the
/// best feature in all shards, are called in turn.
pub struct Selector<'a> {
    problem: Problem<'a>,
    range: Range<usize>,
    /// For each feature of the range, the sums of its tables without a partner.
    marginal: Vec<Sums>,
    /// For each feature of the range, n I(f; y).
    relevance: Vec<i64>,
    /// For each feature of the range, a whole number that is proportional to its score; far below any other if it is selected.
    keys: Vec<i128>,
    taken: Vec<bool>,
    last: Option<Choice>,
    /// Number of selected features in all shards.
    selected: usize,
    /// The selected features as one variable, if the criterion needs it.
    joint: Option<Joint>,
    sums: Vec<Sums>,
    /// Sum of t(c) over the classes.
    class: i64,
    /// Whether the next choice can be made.
    ready: bool,
}

impl<'a> Selector<'a> {
    /// Makes a selector for the features in `range`, with nothing selected.
    pub fn new(samples: &'a Samples, logs: &'a CountLogs, criterion: Criterion, range: Range<usize>) -> Self {
        let class = Joint::of_variable(samples, samples.class());
        Selector {
            problem: Problem { samples, logs, criterion },
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
            ready: false,
        }
    }

    /// Returns the range of features.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Counts what the next choice needs, unless that is done. A failure changes nothing: another machine may count.
    ///
    /// # Errors
    /// Those of the machine and the observer.
    pub fn prepare(&mut self, counting: &mut (impl Counting + ?Sized), observer: &mut dyn Observer) -> Result<()> {
        if self.ready {
            return Ok(());
        }
        match self.last {
            None => self.prepare_first(counting, observer)?,
            Some(_) if self.taken.iter().all(|&taken| taken) || !self.problem.criterion.looks_at_pairs() => {}
            Some(last) => match self.joint.take() {
                Some(mut joint) => {
                    // Repeating this after a failure changes nothing.
                    joint.refine(self.problem.samples, last.feature);
                    let outcome = self.prepare_given(&joint, counting, observer);
                    self.joint = Some(joint);
                    outcome?;
                }
                None => self.prepare_pairs(&last, counting, observer)?,
            },
        }
        self.ready = true;
        Ok(())
    }

    /// Computes the relevances.
    fn prepare_first(&mut self, counting: &mut (impl Counting + ?Sized), observer: &mut dyn Observer) -> Result<()> {
        counting.count(Partner::Nothing, &self.taken, &mut self.sums, observer)?;
        self.marginal.clone_from(&self.sums);
        let Problem { logs, criterion, .. } = self.problem;
        let rest = logs.of_all() - self.class;
        self.relevance = self.sums.iter().map(|of_f| rest - of_f.pair + of_f.with_class).collect();
        let entropies = |of_f: &Sums| logs.of_all() - of_f.pair + rest;
        let features = self.relevance.iter().zip(&self.sums);
        self.keys = features.map(|(&relevance, of_f)| criterion.first(relevance, entropies(of_f))).collect();
        Ok(())
    }

    /// Computes the keys given all selected features as one variable.
    fn prepare_given(
        &mut self,
        joint: &Joint,
        counting: &mut (impl Counting + ?Sized),
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let Problem { samples, logs, .. } = self.problem;
        counting.count(Partner::Joint(joint), &self.taken, &mut self.sums, observer)?;
        let set = sum_of(logs, joint);
        let mut with_class = joint.clone();
        with_class.refine(samples, samples.class());
        let set_class = sum_of(logs, &with_class);
        for ((key, of_f), _) in self.keys.iter_mut().zip(&self.sums).zip(&self.taken).filter(|(_, taken)| !**taken) {
            // n I(f; y | S) = n (H(f, S) + H(S, y) - H(S) - H(f, S, y)).
            *key = i128::from(set - set_class - of_f.pair + of_f.with_class);
        }
        Ok(())
    }

    /// Updates the keys by the pairs of the candidates with the feature selected last.
    fn prepare_pairs(
        &mut self,
        last: &Choice,
        counting: &mut (impl Counting + ?Sized),
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let Problem { logs, criterion, .. } = self.problem;
        let foreseen = counting.foresees();
        if foreseen > 0 {
            counting.foresee(&self.likely(foreseen));
        }
        counting.count(Partner::Feature(last.feature), &self.taken, &mut self.sums, observer)?;
        if self.selected == 1 {
            self.keys.iter_mut().filter(|key| **key != TAKEN).for_each(|key| *key = criterion.start(*key));
        }
        // n H(X) = t(n) minus the sum over X.
        let (all, class, of_s) = (logs.of_all(), self.class, last.marginal);
        let features = self.sums.iter().zip(&self.marginal).zip(&self.relevance);
        let pairs = features.map(|((&Sums { pair, with_class }, of_f), &relevance)| Pair {
            relevance,
            selected: last.relevance,
            redundancy: all - of_f.pair - of_s.pair + pair,
            conditional: class - of_f.with_class - of_s.with_class + with_class,
            joint: all - pair - class + with_class,
            entropy: all - with_class,
            entropies: 2 * all - of_f.pair - of_s.pair,
        });
        criterion.add(&mut self.keys, pairs);
        Ok(())
    }

    /// Splits off the features from place `at` of the range, for another machine to continue with.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        let mid = self.range.start + at;
        let range = mid..std::mem::replace(&mut self.range.end, mid);
        // Before the first choice there are no marginal sums.
        let known = at.min(self.marginal.len());
        Selector {
            problem: self.problem,
            range,
            marginal: self.marginal.split_off(known),
            relevance: self.relevance.split_off(known),
            keys: self.keys.split_off(at),
            taken: self.taken.split_off(at),
            last: self.last,
            selected: self.selected,
            joint: self.joint.clone(),
            sums: self.sums.split_off(at),
            class: self.class,
            ready: self.ready,
        }
    }

    /// Returns the score of an unselected feature in the range, after [`Selector::prepare`].
    pub fn score(&self, f: usize) -> f64 {
        self.problem.score(self.keys[f - self.range.start], self.selected)
    }

    /// Returns the sums of the last [`Selector::prepare`], by place in the range; those of selected features are out of date.
    pub fn sums(&self) -> &[Sums] {
        &self.sums
    }

    /// Returns the best feature of the range, or `None` if all are selected.
    pub fn best(&self) -> Option<Choice> {
        let mut best: Option<(i128, usize)> = None;
        for (at, &key) in self.keys.iter().enumerate() {
            if best.is_none_or(|(largest, _)| key > largest) && !self.taken[at] {
                best = Some((key, at));
            }
        }
        best.map(|(_, at)| self.choice(self.range.start + at))
    }

    /// Returns at most `most` features with the largest scores so far, the largest first.
    fn likely(&self, most: usize) -> Vec<usize> {
        let mut found: Vec<(i128, usize)> = Vec::with_capacity(most + 1);
        for (at, &key) in self.keys.iter().enumerate().filter(|(at, _)| !self.taken[*at]) {
            if found.len() < most || found.last().is_some_and(|&(least, _)| key > least) {
                let place = found.partition_point(|&(known, _)| known >= key);
                found.insert(place, (key, self.range.start + at));
                found.truncate(most);
            }
        }
        found.into_iter().map(|(_, feature)| feature).collect()
    }

    /// Returns a feature of the range as a choice.
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
        self.ready = false;
    }
}

/// Returns the sum of t(c) over the levels of a variable.
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
