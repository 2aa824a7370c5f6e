//! The first question to fail among those that several threads answer.

use std::sync::Mutex;

use crate::{Error, Result};

/// The first question without an answer, in the order of `Q`, and the reason. Which thread failed first does not matter.
pub(super) struct Failed<Q>(Mutex<Option<(Q, &'static str)>>);

impl<Q: Ord> Failed<Q> {
    /// Returns a record without failures.
    pub fn none() -> Self {
        Failed(Mutex::new(None))
    }

    /// Notes a failed question and its reason.
    pub fn note(&self, question: Q, reason: &'static str) {
        if let Ok(mut slot) = self.0.lock() {
            if slot.as_ref().is_none_or(|(first, _)| question < *first) {
                *slot = Some((question, reason));
            }
        }
    }

    /// Returns the error of the first failed question, if any; `of` returns the x, y and S of the question.
    pub fn check<'s>(self, of: impl FnOnce(Q) -> (usize, usize, &'s [u32])) -> Result<()> {
        match self.0.into_inner().unwrap_or(None) {
            None => Ok(()),
            Some((question, reason)) => {
                let (x, y, s) = of(question);
                Err(Error::Numeric { x, y, s: s.to_vec(), reason })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_order_is_told_whoever_is_first_to_fail() {
        let sets: [&[u32]; 3] = [&[7], &[8, 9], &[]];
        let of = |at: usize| (at, at + 1, sets[at]);
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let failed = Failed::none();
            for at in order.into_iter().filter(|&at| at > 0) {
                failed.note(at, ["none", "one", "two"][at]);
            }
            assert_eq!(failed.check(of), Err(Error::Numeric { x: 1, y: 2, s: vec![8, 9], reason: "one" }));
        }
        assert_eq!(Failed::none().check(of), Ok(()));
    }
}
