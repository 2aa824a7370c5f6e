//! The tests of `pc.cons.intern`: which subsets of the neighbours separate the ends of an unshielded triple.

use super::event::Event;
use super::knowledge::Knowledge;
use super::poll::Poll;
use super::triples::other_ends;
use crate::ci::{Batch, CiTest};
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::{Error, Result};
use std::ops::Range;

/// Counts of the separating sets of one triple a - b - c.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Census {
    /// Number of subsets of adj(a) and of adj(c) given which a and c are independent.
    pub separating: u64,
    /// Number of these subsets that contain b.
    pub with_b: u64,
}

/// Largest number of neighbours whose subsets can all be numbered.
const MOST_NEIGHBOURS: usize = 62;

/// Refuses a graph in which an end of an unshielded triple has too many neighbours.
pub(crate) fn refuse_too_many(skeleton: &Adjacency, knowledge: &Knowledge, poll: &Poll) -> Result<()> {
    for v in 0..skeleton.p() {
        poll.step()?;
        let neighbours =
            if skeleton.degree(v) > MOST_NEIGHBOURS { knowledge.tiers.candidates(skeleton, v).count() } else { 0 };
        if neighbours > MOST_NEIGHBOURS && other_ends(skeleton, v, poll)?.next().is_some() {
            return Err(Error::Argument {
                argument: "conservative",
                value: format!("TRUE (or `maj.rule` is), but variable {} has {neighbours} neighbours", v + 1),
                hint: format!("one triple may need 2^{neighbours} tests; give a smaller `alpha`"),
            });
        }
    }
    Ok(())
}

/// Returns the largest number of tests that [`ask_in_turn`] or an [`Asker`] runs. If that exceeds `most`, returns some number above `most`.
/// Time: as [`other_ends`] of all vertices.
pub(super) fn questions(skeleton: &Adjacency, knowledge: &Knowledge, most: u64, poll: &Poll) -> Result<u64> {
    let sets = |v: usize| {
        let candidates = knowledge.tiers.candidates(skeleton, v).count();
        if candidates > MOST_NEIGHBOURS {
            u64::MAX
        } else {
            1 << candidates
        }
    };
    let of: Vec<u64> = (0..skeleton.p()).map(sets).collect();
    let mut all = 0u64;
    for a in 0..skeleton.p() {
        for c in other_ends(skeleton, a, poll)?.filter(|&c| c as usize > a) {
            all = all.saturating_add(of[a].saturating_add(of[c as usize]));
        }
        if all > most {
            break;
        }
    }
    Ok(all)
}

fn is_independent(p: f64, alpha: f64, x: usize, y: usize, s: &[u32]) -> Result<bool> {
    if p.is_nan() {
        // pcalg: "missing value where TRUE/FALSE needed".
        let reason = "missing value where TRUE/FALSE needed; the conservative and the majority rule need every p-value";
        return Err(Error::Numeric { x, y, s: s.to_vec(), reason });
    }
    Ok(p >= alpha)
}

/// Returns the masks that select at most `most` of `count` elements, ascending.
fn masks(count: usize, most: usize) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(0u64), move |&mask| {
        // Every number below the next sum contains this mask's bits and at least one more.
        let step = if (mask.count_ones() as usize) < most { 1 } else { mask & mask.wrapping_neg() };
        (step > 0 && mask + step < 1 << count).then_some(mask + step)
    })
}

/// Writes the members of `candidates` that `mask` selects. Masks that count up from 0 give pcalg's order: `expand.grid` varies its first
/// factor fastest.
fn subset(candidates: &[u32], mask: u64, into: &mut Vec<u32>) {
    into.clear();
    into.extend(candidates.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, &v)| v));
}

/// Runs the tests that pcalg runs for one triple, in its order.
pub(super) fn ask_in_turn(
    [a, b, c]: [u32; 3],
    (skeleton, knowledge): (&Adjacency, &Knowledge),
    alpha: f64,
    test: &mut dyn CiTest,
    poll: &Poll,
) -> Result<Census> {
    let mut census = Census::default();
    let mut s = Vec::new();
    for side in [a, c] {
        let candidates: Vec<u32> = knowledge.tiers.candidates(skeleton, side as usize).collect();
        // tpc runs no test for a side without candidates.
        if candidates.is_empty() {
            continue;
        }
        for mask in 0..1u64 << candidates.len() {
            poll.step()?;
            subset(&candidates, mask, &mut s);
            let p = test.p_value(a as usize, c as usize, &s)?;
            poll.tell(&Event::Asked { of_c: side == c, s: &s, p: p.to_bits() })?;
            if is_independent(p, alpha, a as usize, c as usize, &s)? {
                census.separating += 1;
                census.with_b += u64::from(s.contains(&b));
            }
        }
    }
    Ok(census)
}

/// The triples with the same ends.
struct Pair {
    ends: [u32; 2],
    separating: u64,
    /// Whether a test of the pair has no answer; set only if that is not an error.
    unanswered: bool,
    /// The pair's common neighbours, as a range of `Asker::middles`.
    middles: Range<usize>,
}

/// Number of triples that are tested before they are judged.
const BLOCK: usize = 1 << 18;

/// A test asked in batches, block by block of pairs, with each question of a pair once.
pub(super) struct Asker<'a> {
    skeleton: &'a Adjacency,
    knowledge: &'a Knowledge,
    alpha: f64,
    test: &'a mut dyn CiTest,
    poll: &'a Poll<'a>,
    /// Number of triples at which a block ends.
    pub most: usize,
    /// The pairs to ask about, or `None` for all.
    pub only: Option<Untested<'a>>,
    /// The pairs of the current block.
    pairs: Vec<Pair>,
    /// The common neighbours of these pairs, ascending for each pair, with the number of separating sets that contain each.
    middles: Vec<(u32, u64)>,
    /// Questions that wait for the test, each with its pair and how often pcalg would ask it.
    batch: Batch,
    of: Vec<(usize, u64)>,
    failed: Option<Failure>,
}

/// A restriction to pairs without a separating set. If a test of such a pair has no answer, or an end has too many neighbours, the pair
/// still has no separating set; this is not an error.
#[derive(Clone, Copy)]
pub(super) struct Untested<'a> {
    pub sepsets: &'a SepSets,
    /// Size of the largest conditioning set.
    pub largest: usize,
}

/// A question without an answer. pcalg visits pairs by their smallest middle vertex and stops at the first such question. After a failure,
/// only pairs that pcalg visits earlier are tested.
struct Failure {
    middle: u32,
    error: Error,
}

impl<'a> Asker<'a> {
    pub fn new(
        (skeleton, knowledge): (&'a Adjacency, &'a Knowledge),
        alpha: f64,
        test: &'a mut dyn CiTest,
        poll: &'a Poll,
    ) -> Self {
        let (pairs, middles, batch, of) = (Vec::new(), Vec::new(), Batch::new(), Vec::new());
        Asker {
            skeleton,
            knowledge,
            alpha,
            test,
            poll,
            most: BLOCK,
            only: None,
            pairs,
            middles,
            batch,
            of,
            failed: None,
        }
    }

    /// Calls `judge` with each pair of ends [a, c], a < c, ascending. It gets the number of their separating sets, and their common
    /// neighbours b, ascending, each with the number of these sets that contain it.
    pub fn each_pair(&mut self, mut judge: impl FnMut([u32; 2], u64, &[(u32, u64)]) -> Result<()>) -> Result<()> {
        for a in 0..self.skeleton.p() {
            for c in other_ends(self.skeleton, a, self.poll)?.filter(|&c| c as usize > a) {
                self.ask_about(a, c as usize)?;
                if self.middles.len() >= self.most {
                    self.finish_block(&mut judge)?;
                }
            }
        }
        self.finish_block(&mut judge)?;
        self.failed.take().map_or(Ok(()), |failure| Err(failure.error))
    }

    fn finish_block(&mut self, judge: &mut impl FnMut([u32; 2], u64, &[(u32, u64)]) -> Result<()>) -> Result<()> {
        self.send()?;
        if self.failed.is_none() {
            for pair in &self.pairs {
                let middles = &self.middles[pair.middles.clone()];
                self.poll.looked_up(middles.len())?;
                judge(pair.ends, if pair.unanswered { 0 } else { pair.separating }, middles)?;
            }
        }
        self.pairs.clear();
        self.middles.clear();
        Ok(())
    }

    fn ask_about(&mut self, a: usize, c: usize) -> Result<()> {
        let (skeleton, knowledge) = (self.skeleton, self.knowledge);
        if self.only.is_some_and(|only| !only.sepsets.are_unseparated(a, c)) {
            return self.poll.step();
        }
        let from = self.middles.len();
        let is_middle = |&v: &u32| skeleton.has(v as usize, c) && knowledge.leaves_open(a, v as usize, c);
        for b in skeleton.neighbours(a).filter(is_middle) {
            memory::push(&mut self.middles, (b, 0), Use::Orientation)?;
        }
        if self.middles.len() == from {
            return self.poll.step();
        }
        let pair = self.pairs.len();
        let middles = from..self.middles.len();
        memory::push(
            &mut self.pairs,
            Pair { ends: [a as u32, c as u32], separating: 0, unanswered: false, middles },
            Use::Orientation,
        )?;
        let can_number = |v: usize| knowledge.tiers.candidates(skeleton, v).count() <= MOST_NEIGHBOURS;
        if !self.is_wanted(pair) || !can_number(a) || !can_number(c) {
            return self.poll.step();
        }
        let mut s = Vec::new();
        for (side, other) in [(a, c), (c, a)] {
            let candidates: Vec<u32> = knowledge.tiers.candidates(skeleton, side).collect();
            if candidates.is_empty() {
                continue;
            }
            let has_two_sides = knowledge.tiers.candidates(skeleton, other).next().is_some();
            let is_common = |v: usize| skeleton.has(v, other) && knowledge.tiers.may_condition(other, v);
            let common = candidates.iter().enumerate().filter(|(_, &v)| is_common(v as usize));
            let common = common.fold(0u64, |mask, (bit, _)| mask | 1 << bit);
            for mask in masks(candidates.len(), self.only.map_or(usize::MAX, |only| only.largest)) {
                self.poll.step()?;
                let in_both = has_two_sides && mask & !common == 0;
                if in_both && side == c {
                    continue;
                }
                subset(&candidates, mask, &mut s);
                self.batch.push(a, c, &s);
                self.of.push((pair, if in_both { 2 } else { 1 }));
                if self.batch.len() >= self.test.batch_size() {
                    self.send()?;
                }
            }
        }
        Ok(())
    }

    /// Runs the waiting tests and counts the separating sets.
    fn send(&mut self) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        let mut of = std::mem::take(&mut self.of);
        while !batch.is_empty() {
            match self.test.p_values(&batch) {
                Ok(answers) => {
                    for ((p, (x, y, s)), &(pair, times)) in answers.into_iter().zip(batch.iter()).zip(&of) {
                        match is_independent(p, self.alpha, x, y, s) {
                            Ok(true) => self.count(pair, s, times),
                            Ok(false) => {}
                            Err(error) => self.fail(pair, error),
                        }
                    }
                    break;
                }
                Err(Error::Numeric { x, y, s, reason }) => {
                    let of_these = |pair: &Pair| pair.ends == [x as u32, y as u32];
                    let at = self.pairs.iter().position(of_these);
                    let error = Error::Numeric { x, y, s, reason };
                    let Some(at) = at else { return Err(error) };
                    self.fail(at, error);
                    // The error does not say which other questions of the batch have an answer.
                    let all = (std::mem::take(&mut batch), std::mem::take(&mut of));
                    for ((x, y, s), &question) in all.0.iter().zip(&all.1) {
                        if self.is_wanted(question.0) {
                            batch.push(x, y, s);
                            of.push(question);
                        }
                    }
                }
                Err(other) => return Err(other),
            }
        }
        batch.clear();
        of.clear();
        (self.batch, self.of) = (batch, of);
        Ok(())
    }

    fn count(&mut self, pair: usize, s: &[u32], times: u64) {
        let pair = &mut self.pairs[pair];
        pair.separating += times;
        let middles = &mut self.middles[pair.middles.clone()];
        for v in s {
            if let Ok(at) = middles.binary_search_by_key(v, |&(b, _)| b) {
                middles[at].1 += times;
            }
        }
    }

    fn first_middle(&self, pair: usize) -> u32 {
        self.middles[self.pairs[pair].middles.start].0
    }

    /// Returns whether answers about a pair still count.
    fn is_wanted(&self, pair: usize) -> bool {
        !self.pairs[pair].unanswered
            && self.failed.as_ref().is_none_or(|failure| self.first_middle(pair) < failure.middle)
    }

    fn fail(&mut self, pair: usize, error: Error) {
        if self.only.is_some() {
            self.pairs[pair].unanswered = true;
        } else if self.is_wanted(pair) {
            self.failed = Some(Failure { middle: self.first_middle(pair), error });
        }
    }
}

#[cfg(test)]
mod tests;
