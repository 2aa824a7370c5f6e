//! Tests that a call asks after its search, for colliders and marks. Their answers are saved in a file of their own.

use super::asked::Digest;
use super::keeper::Keeper;
use super::Limits;
use crate::ci::{Batch, CiTest};
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::observer::{Observer, Unobserved};
use crate::search::wire::{Reader, Writer};
use crate::search::{Largest, Options};
use crate::{Error, Result};

/// Saves the answers to the tests after a search.
///
/// Which test is asked depends on the answers so far, and on nothing else that may differ between two calls. So the answers are kept in the
/// order of the questions, without the questions.
pub struct Later<'a> {
    options: &'a Options,
    limits: Limits,
    /// Digest of what the questions depend on.
    of: u128,
    /// The only number that answers are compared with, if there is one.
    threshold: Option<f64>,
}

impl<'a> Later<'a> {
    /// Prepares for tests on a graph and its separating sets. `threshold`: alpha, if the caller only asks whether p >= alpha. An answer
    /// then takes one bit, and comes back from the file as plus or minus infinity. `None` keeps the p-values themselves.
    pub fn new(
        options: &'a Options,
        limits: &Limits,
        (graph, sepsets): (&Adjacency, &SepSets),
        threshold: Option<f64>,
    ) -> Self {
        let mut digest = Digest::default();
        if let Some(checkpoint) = &limits.checkpoint {
            digest.bytes(&checkpoint.later.to_le_bytes());
            graph.each_number(|number| digest.number(number));
            sepsets.empty().each_number(|number| digest.number(number));
            for x in 0..graph.p() {
                for (y, set) in sepsets.listed(x) {
                    digest.number(u64::from(y));
                    digest.number(set.len() as u64);
                    set.iter().for_each(|&v| digest.number(u64::from(v)));
                }
            }
        }
        Later { options, limits: limits.beside(Limits::LATER, None), of: digest.end(), threshold }
    }

    /// Calls `ask` with a test that answers from the file as far as that goes, and from `test` afterwards. Returns its value, and the error
    /// if the file could not be written. Without a checkpoint this is `ask(test)`.
    ///
    /// # Errors
    /// Any error of `ask`; [`Error::Checkpoint`] if the file belongs to another search, is damaged, or cannot be created.
    pub fn run<T>(
        &self,
        test: &mut dyn CiTest,
        ask: impl FnOnce(&mut dyn CiTest) -> Result<T>,
    ) -> Result<(T, Option<Error>)> {
        if self.limits.checkpoint.is_none() {
            return Ok((ask(test)?, None));
        }
        let mut observer = Unobserved;
        let mut keeper = Keeper::new(&mut observer, &self.limits, self.options, &Largest::Square(&mut []));
        let (is_batched, table) = (test.batch_size() > 1, keeper.open_table()?);
        // Answers to other questions, or in another order, are dropped and asked for again.
        let known = table.and_then(|table| Answers::read(&table, self.of, is_batched, self.threshold));
        let answers = known.unwrap_or_else(|| Answers::new(self.threshold));
        let mut kept = KeptTest { test, keeper, head: (self.of, is_batched), answers, next: 0, is_complete: true };
        let found = ask(&mut kept);
        // Save whether this call succeeds, is stopped or fails, so that the next one asks nothing again.
        kept.save();
        found.map(|found| (found, kept.keeper.unwritten()))
    }
}

/// Answers in the order of their questions.
struct Answers {
    threshold: Option<f64>,
    count: u64,
    /// One p-value each, or, with a threshold, 64 bits each, the lowest first.
    words: Vec<u64>,
}

impl Answers {
    fn new(threshold: Option<f64>) -> Self {
        Answers { threshold, count: 0, words: Vec::new() }
    }

    fn get(&self, at: u64) -> Option<f64> {
        if at >= self.count {
            return None;
        }
        if self.threshold.is_none() {
            return self.words.get(at as usize).map(|&word| f64::from_bits(word));
        }
        let word = self.words.get((at / 64) as usize)?;
        Some(if word >> (at % 64) & 1 == 1 { f64::INFINITY } else { f64::NEG_INFINITY })
    }

    fn push(&mut self, p: f64) -> Result<()> {
        match self.threshold {
            None => memory::push(&mut self.words, p.to_bits(), Use::Orientation)?,
            Some(threshold) => {
                let bit = u64::from(p >= threshold) << (self.count % 64);
                match self.words.last_mut().filter(|_| self.count % 64 > 0) {
                    Some(word) => *word |= bit,
                    None => memory::push(&mut self.words, bit, Use::Orientation)?,
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Returns how many words `count` answers take.
    fn words_of(count: u64, threshold: Option<f64>) -> u64 {
        if threshold.is_some() {
            count.div_ceil(64)
        } else {
            count
        }
    }

    fn head(&self, (of, is_batched): (u128, bool)) -> Vec<u8> {
        let mut bytes = Writer::default();
        bytes.0.extend_from_slice(&of.to_le_bytes());
        let numbers = [u64::from(is_batched), u64::from(self.threshold.is_some()), self.count];
        numbers.into_iter().for_each(|number| bytes.number(number));
        bytes.0
    }

    /// Reads what [`KeptTest::save`] has written. `None` if that belongs to other questions.
    fn read(table: &[u8], of: u128, is_batched: bool, threshold: Option<f64>) -> Option<Self> {
        let mut bytes = Reader(table);
        let fits = bytes.take(16)? == of.to_le_bytes()
            && bytes.number()? == u64::from(is_batched)
            && bytes.number()? == u64::from(threshold.is_some());
        let count = bytes.number()?;
        let words = usize::try_from(Self::words_of(count, threshold)).ok()?;
        (fits && words.checked_mul(8)? == bytes.0.len()).then_some(())?;
        let words: Vec<u64> = (0..words).map(|_| bytes.number()).collect::<Option<_>>()?;
        // Missing values are never saved.
        let are_there = threshold.is_some() || words.iter().all(|&word| !f64::from_bits(word).is_nan());
        are_there.then_some(())?;
        Some(Answers { threshold, count, words })
    }
}

/// A test whose answers are kept.
struct KeptTest<'t> {
    test: &'t mut dyn CiTest,
    keeper: Keeper<'t>,
    /// Digest of what the answers depend on, and whether they are asked for in batches.
    head: (u128, bool),
    answers: Answers,
    /// The number of the next question.
    next: u64,
    /// Whether all answers so far are kept. This ends at a question without an answer, as the caller may then leave others out.
    is_complete: bool,
}

impl KeptTest<'_> {
    fn known(&mut self) -> Option<f64> {
        let known = self.answers.get(self.next).filter(|_| self.is_complete)?;
        self.next += 1;
        Some(known)
    }

    fn enter(&mut self, answers: &[f64]) {
        for &p in answers {
            // If memory ends, the next call asks for this answer and all after it again.
            self.is_complete = self.is_complete && !p.is_nan() && self.answers.push(p).is_ok();
            self.next += 1;
        }
    }

    fn save(&mut self) {
        let head = self.answers.head(self.head);
        let words = &self.answers.words;
        // The keeper notes a failure for the end of the call.
        let _ = self.keeper.keep(&mut |out| {
            out.write_all(&head)?;
            words.chunks(1 << 12).try_for_each(|words| {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                out.write_all(&bytes)
            })
        });
    }
}

impl CiTest for KeptTest<'_> {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        let mut batch = Batch::new();
        batch.push(x, y, s);
        Ok(self.p_values(&batch)?[0])
    }

    /// Answers questions. If the test takes batches, all unknown ones are asked at once: what is under way when a call ends is lost.
    fn p_values(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        let mut answers: Vec<f64> = (0..batch.len()).map_while(|_| self.known()).collect();
        let together = if self.batch_size() > 1 { batch.len() } else { 1 };
        while answers.len() < batch.len() {
            if self.keeper.is_due(false) {
                self.save();
            }
            let mut rest = Batch::new();
            for at in (answers.len()..batch.len()).take(together) {
                let (x, y, s) = batch.get(at);
                rest.push(x, y, s);
            }
            let found = self.test.p_values(&rest).inspect_err(|_| self.is_complete = false)?;
            self.enter(&found);
            answers.extend(found);
        }
        Ok(answers)
    }

    fn batch_size(&self) -> usize {
        self.test.batch_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_back_from_bytes_and_from_no_others() {
        for threshold in [None, Some(0.05)] {
            for count in [0, 1, 63, 64, 65, 200] {
                let p = |at: u64| (at * 37 % 101) as f64 / 1010.0;
                let mut answers = Answers::new(threshold);
                (0..count).for_each(|at| answers.push(p(at)).unwrap());
                let mut table = answers.head((7, true));
                answers.words.iter().for_each(|word| table.extend(word.to_le_bytes()));
                let read = Answers::read(&table, 7, true, threshold).unwrap();
                for at in 0..count {
                    let found = read.get(at).unwrap();
                    assert!(if threshold.is_some() { (found >= 0.05) == (p(at) >= 0.05) } else { found == p(at) });
                }
                assert_eq!(read.get(count), None);
                let other = if threshold.is_some() { None } else { Some(0.05) };
                assert!(Answers::read(&table, 8, true, threshold).is_none());
                assert!(Answers::read(&table, 7, false, threshold).is_none());
                assert!(Answers::read(&table, 7, true, other).is_none());
                for length in 0..table.len() {
                    assert!(Answers::read(&table[..length], 7, true, threshold).is_none(), "{length}");
                }
                table[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
                assert!(Answers::read(&table, 7, true, threshold).is_none());
            }
        }
    }
}
