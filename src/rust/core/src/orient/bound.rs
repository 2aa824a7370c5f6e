//! The majority rule if it takes few tests, for callers who did not ask for it.

use super::poll::Poll;
use super::separations::questions;
use super::{ColliderRule, Options};
use crate::ci::{Batch, CiTest};
use crate::graph::Adjacency;
use crate::{Error, Result};

/// Limit on the tests of a rule, which tests all subsets of a vertex' neighbours: 2 to the power of their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Number of tests that are always allowed.
    pub least: u64,
    /// Number of the skeleton's tests that allow one test of the rule, where that gives more than `least`.
    pub tests_each: u64,
}

impl Options<'_> {
    /// Chooses the rule for this skeleton, whose search took `tests` tests: the standard rule if the bounded one would make too many.
    /// Returns an upper limit on the tests of the rule: 0 for the standard one, `u64::MAX` without a bound.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Memory`].
    pub fn settle(&mut self, skeleton: &Adjacency, tests: u64) -> Result<u64> {
        let Some(Bound { least, tests_each }) = self.bound else { return Ok(u64::MAX) };
        let most = least.max(tests / tests_each.max(1));
        let asked = questions(skeleton, &self.knowledge, most, &Poll::new(self.wants_to_stop, None))?;
        if asked > most {
            self.collider_rule = ColliderRule::Standard;
            return Ok(0);
        }
        Ok(asked)
    }
}

/// A test whose questions without an answer count as dependence: their sets do not separate.
pub(super) struct Answered<'a>(pub &'a mut dyn CiTest);

impl CiTest for Answered<'_> {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        match self.0.p_value(x, y, s) {
            Ok(p) if p.is_nan() => Ok(0.0),
            Err(Error::Numeric { .. }) => Ok(0.0),
            other => other,
        }
    }

    fn p_values(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        match self.0.p_values(batch) {
            Ok(mut answers) => {
                answers.iter_mut().filter(|p| p.is_nan()).for_each(|p| *p = 0.0);
                Ok(answers)
            }
            // The error does not say which other questions have an answer.
            Err(Error::Numeric { .. }) => batch.iter().map(|(x, y, s)| self.p_value(x, y, s)).collect(),
            Err(other) => Err(other),
        }
    }

    fn batch_size(&self) -> usize {
        self.0.batch_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaves around a vertex: each pair is tested given the empty set and given the middle vertex, from either side.
    #[test]
    fn the_rule_is_left_where_it_takes_too_many_tests() {
        let mut star = Adjacency::empty(12);
        (1..11).for_each(|leaf| star.insert(0, leaf));
        let settled = |least, tests_each, tests| {
            let bound = Some(Bound { least, tests_each });
            let mut options = Options { collider_rule: ColliderRule::Majority, bound, ..Options::default() };
            let asked = options.settle(&star, tests).unwrap();
            (asked, options.collider_rule)
        };
        assert_eq!(settled(180, 1, 0), (180, ColliderRule::Majority));
        assert_eq!(settled(179, 1, 0), (0, ColliderRule::Standard));
        assert_eq!(settled(10, 16, 16 * 180), (180, ColliderRule::Majority));
        assert_eq!(settled(10, 16, 16 * 180 - 1), (0, ColliderRule::Standard));
        // An end with 64 neighbours: the number of questions overflows.
        let mut hub = Adjacency::empty(66);
        (1..65).for_each(|leaf| hub.insert(0, leaf));
        hub.insert(64, 65);
        let bound = Some(Bound { least: u64::MAX - 1, tests_each: 1 });
        let mut options = Options { collider_rule: ColliderRule::Majority, bound, ..Options::default() };
        assert_eq!((options.settle(&hub, 0), options.collider_rule), (Ok(0), ColliderRule::Standard));
    }

    struct Partly(usize);

    impl CiTest for Partly {
        fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
            match x {
                0 => Ok(f64::NAN),
                1 => Err(Error::Numeric { x, y, s: s.to_vec(), reason: "none" }),
                _ => Ok(0.25),
            }
        }
        fn batch_size(&self) -> usize {
            self.0
        }
    }

    #[test]
    fn questions_without_an_answer_are_dependences() {
        let mut batch = Batch::new();
        for x in [2, 0, 1, 3] {
            batch.push(x, 5, &[4]);
        }
        let mut test = Partly(7);
        let mut answered = Answered(&mut test);
        assert_eq!(answered.p_values(&batch).unwrap(), [0.25, 0.0, 0.0, 0.25]);
        assert_eq!(answered.batch_size(), 7);
    }
}
