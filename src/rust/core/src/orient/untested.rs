//! Unshielded triples a - b - c whose ends were never tested, because knowledge excluded that edge from the start.
//!
//! The lack of a separating set is then no sign of a collider. Tests of a and c decide by majority. Otherwise the triple stays open, and
//! neither collider orientation nor the rules use it.
//!
//! Without knowledge, pcalg's behaviour applies: it makes a collider of every such triple (`fixedGaps`).

use super::conservative::Verdict;
use super::poll::Poll;
use super::separations::{Asker, Census, Untested};
use super::triples::select_unshielded;
use super::{ColliderRule, Judge, Options};
use crate::ci::CiTest;
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::Result;

/// Decisions on these triples; those in neither list are colliders.
#[derive(Default)]
pub(super) struct Decided {
    /// Undecided triples, which are ambiguous for the rules, too.
    pub ambiguous: Vec<[u32; 3]>,
    /// Triples that are not colliders.
    pub chains: Vec<[u32; 3]>,
    /// Number of triples that are ambiguous because there was no test.
    pub undecided: u64,
}

fn may_be(options: &Options) -> bool {
    options.knowledge.is_some() && options.collider_rule == ColliderRule::Standard && options.orient_colliders
}

/// Returns the number of such triples that knowledge itself does not decide, and the first `most` of them.
fn select(skeleton: &Adjacency, sepsets: &SepSets, options: &Options, most: usize) -> Result<(u64, Vec<[u32; 3]>)> {
    if sepsets.surely_separate_all(skeleton) {
        return Ok((0, Vec::new()));
    }
    let poll = Poll::new(options.wants_to_stop, None).with_pool(&options.pool);
    let knowledge = &options.knowledge;
    select_unshielded(skeleton, &poll, most, |[a, b, c]| {
        sepsets.are_unseparated(a, c) && knowledge.leaves_open(a, b, c)
    })
}

/// Returns whether [`super::orient`] needs the test although the rule is the standard one: there is knowledge and an unshielded triple
/// whose ends have no separating set.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error).
pub fn needs_test(skeleton: &Adjacency, sepsets: &SepSets, options: &Options) -> Result<bool> {
    Ok(may_be(options) && select(skeleton, sepsets, options, 0)?.0 > 0)
}

/// Decides all such triples. pcalg's output has no line for these tests.
pub(super) fn decide(
    skeleton: &Adjacency,
    sepsets: &SepSets,
    options: &Options,
    (alpha, test): (f64, Option<&mut dyn CiTest>),
) -> Result<Decided> {
    let mut decided = Decided::default();
    let poll = &Poll::new(options.wants_to_stop, None);
    if !may_be(options) {
        return Ok(decided);
    }
    let Some(test) = test else {
        (decided.undecided, decided.ambiguous) = select(skeleton, sepsets, options, usize::MAX)?;
        return Ok(decided);
    };
    let judge = Judge { version_unf: [2, 1], majority: true };
    let mut asker = Asker::new((skeleton, &options.knowledge), alpha, test, poll);
    asker.only = Some(Untested { sepsets, largest: options.largest_set.max(1) });
    asker.each_pair(|[a, c], separating, middles| {
        for &(b, with_b) in middles {
            let verdict = match separating {
                0 => Verdict::Ambiguous,
                _ => judge.verdict(Census { separating, with_b }, false),
            };
            match verdict {
                Verdict::Collider => {}
                Verdict::NotCollider => memory::push(&mut decided.chains, [a, b, c], Use::Orientation)?,
                Verdict::Ambiguous => memory::push(&mut decided.ambiguous, [a, b, c], Use::Orientation)?,
            }
        }
        Ok(())
    })?;
    Ok(decided)
}

#[cfg(test)]
mod tests {
    use super::super::{orient, Knowledge};
    use super::*;
    use crate::graph::{Side, Tiers};

    /// A test that separates 0 and 2 by the sets with 1, or by those without it. It gives no answer if `answers` is false.
    struct Says {
        with: bool,
        answers: bool,
        asked: Vec<Vec<u32>>,
    }

    impl CiTest for Says {
        fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
            assert_eq!((x, y), (0, 2));
            self.asked.push(s.to_vec());
            Ok(if !self.answers {
                f64::NAN
            } else if s.contains(&1) == self.with {
                1.0
            } else {
                0.0
            })
        }
    }

    /// Orients 0 - 1 - 2 with 3 at 0, where 0 and 2 are known to be apart, and returns the arrows [i, j].
    fn arrows(test: Option<&mut Says>, known: bool, largest_set: usize) -> (Vec<[usize; 2]>, u64) {
        let skeleton = Adjacency::from_lists(&[&[1, 3][..], &[2], &[], &[]]);
        let mut sets = SepSets::new(4, Side::Smaller);
        sets.insert(1, 3, &[0]);
        let barred = if known { vec![[0, 2], [2, 0]] } else { Vec::new() };
        let options =
            Options { knowledge: Knowledge::new(4, Tiers::default(), &[], barred), largest_set, ..Options::default() };
        assert_eq!(needs_test(&skeleton, &sets, &options).unwrap(), known);
        let test = test.map(|test| test as &mut dyn CiTest);
        let found = orient(&skeleton, &mut sets, &options, 0.5, test, &mut |_| Ok(Vec::new())).unwrap();
        assert!(sets.are_unseparated(0, 2));
        let arrows = (0..4).flat_map(|i| (0..4).map(move |j| [i, j]));
        (arrows.filter(|&[i, j]| found.mark(i, j) == 1 && found.mark(j, i) == 0).collect(), found.undecided())
    }

    fn says(with: bool, answers: bool) -> Says {
        Says { with, answers, asked: Vec::new() }
    }

    #[test]
    fn a_pair_that_knowledge_excludes_is_a_collider_only_if_its_tests_say_so() {
        let collider = vec![[0, 1], [2, 1]];
        assert_eq!(arrows(None, false, 9), (collider.clone(), 0));
        assert_eq!(arrows(None, true, 9), (vec![], 1));
        assert_eq!(arrows(Some(&mut says(false, true)), true, 9), (collider, 0));
        assert_eq!(arrows(Some(&mut says(true, true)), true, 9), (vec![], 0));
        // A missing answer is not an error here.
        assert_eq!(arrows(Some(&mut says(true, false)), true, 9), (vec![], 0));
    }

    #[test]
    fn each_set_is_asked_once_and_none_that_is_too_large() {
        for (largest, expected) in
            [(9, vec![vec![], vec![1], vec![3], vec![1, 3]]), (0, vec![vec![], vec![1], vec![3]])]
        {
            let mut test = says(true, true);
            arrows(Some(&mut test), true, largest);
            assert_eq!(test.asked, expected);
        }
    }
}
