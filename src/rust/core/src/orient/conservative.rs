//! The conservative and the majority rule: pcalg's `pc.cons.intern` (Ramsey et al. 2006, Colombo and Maathuis 2014).

use super::event::Event;
use super::knowledge::Knowledge;
use super::poll::Poll;
use super::separations::{ask_in_turn, refuse_too_many, Asker, Census};
use super::triples::{each_unshielded, Ambiguous};
use crate::ci::CiTest;
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::Result;

/// pcalg's `version.unf` and `maj.rule`.
#[derive(Clone, Copy)]
pub(crate) struct Judge {
    /// `version.unf`. First 2: a triple is ambiguous, too, if no subset of the neighbours separates its ends. Second 2: the separating set
    /// of the skeleton votes as well.
    pub version_unf: [u8; 2],
    /// TRUE: more than half of the separating sets decide; FALSE: all of them must agree.
    pub majority: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// b is in no separating set.
    Collider,
    /// b is in all separating sets.
    NotCollider,
    /// b is in some of the separating sets.
    Ambiguous,
}

/// Decides every unshielded triple a - b - c by more tests. Changes the separating sets of (a, c) so that the collider orientation finds
/// the decision, and returns the ambiguous triples.
///
/// A test with `batch_size() == 1`, or one that is followed, gets one question at a time, in pcalg's order and with repetitions. Any other
/// test is taken to be a function of its arguments. pcalg asks the same questions of a pair again for each of its middle vertices, and some
/// of a's side again on c's side. Here each question is asked once and counted as often as pcalg would. A triple's changes affect only
/// triples with the same ends, which are judged in pcalg's order.
pub(crate) fn judge_triples(
    judge: Judge,
    (skeleton, knowledge): (&Adjacency, &Knowledge),
    sepsets: &mut SepSets,
    alpha: f64,
    test: &mut dyn CiTest,
    poll: &Poll,
) -> Result<Ambiguous> {
    refuse_too_many(skeleton, knowledge, poll)?;
    let mut ambiguous = Vec::new();
    if test.batch_size() > 1 && !poll.is_followed() {
        judge_pairs(judge, sepsets, Asker::new((skeleton, knowledge), alpha, test, poll), &mut ambiguous)?;
    } else {
        each_unshielded(skeleton, poll, |triple| {
            let [a, b, c] = triple;
            if !knowledge.leaves_open(a as usize, b as usize, c as usize) {
                return Ok(());
            }
            judge_triple(judge, (triple, skeleton, knowledge), sepsets, (alpha, test), poll, &mut ambiguous)
        })?;
    }
    Ambiguous::of_ascending(skeleton.p(), &ambiguous, poll)
}

/// Decides one triple by tests run one at a time, in pcalg's order (its `checkTriple()`).
pub(crate) fn judge_triple(
    judge: Judge,
    (triple, skeleton, knowledge): ([u32; 3], &Adjacency, &Knowledge),
    sepsets: &mut SepSets,
    (alpha, test): (f64, &mut dyn CiTest),
    poll: &Poll,
    ambiguous: &mut Vec<[u32; 3]>,
) -> Result<()> {
    let [a, _, c] = triple;
    poll.tell(&Event::Triple { triple, sepset: sepsets.get(a as usize, c as usize) })?;
    let census = ask_in_turn(triple, (skeleton, knowledge), alpha, test, poll)?;
    let mut sets = Sets::of([a, c], sepsets);
    if judge.triple(triple, census, &mut sets, ambiguous)? == Verdict::Ambiguous {
        poll.tell(&Event::Ambiguous)?;
    }
    sets.enter(sepsets)
}

/// Decides all triples of a pair together.
fn judge_pairs(judge: Judge, sepsets: &mut SepSets, mut asker: Asker, ambiguous: &mut Vec<[u32; 3]>) -> Result<()> {
    asker.each_pair(|ends, separating, middles| {
        let mut sets = Sets::of(ends, sepsets);
        for &(b, with_b) in middles {
            let census = Census { separating, with_b };
            judge.triple([ends[0], b, ends[1]], census, &mut sets, ambiguous)?;
        }
        sets.enter(sepsets)
    })
}

/// The separating sets `sepset[[a]][[c]]` and `sepset[[c]][[a]]` of a pair while its triples are judged.
struct Sets {
    ends: [u32; 2],
    sets: [Vec<u32>; 2],
}

impl Sets {
    fn of(ends: [u32; 2], sepsets: &SepSets) -> Self {
        let [x, y] = ends.map(|v| v as usize);
        Sets { ends, sets: [(x, y), (y, x)].map(|(x, y)| sepsets.get(x, y).unwrap_or(&[]).to_vec()) }
    }

    fn enter(&self, sepsets: &mut SepSets) -> Result<()> {
        let [x, y] = self.ends.map(|v| v as usize);
        sepsets.insert(x, y, &self.sets[0]);
        sepsets.insert(y, x, &self.sets[1]);
        memory::check()
    }
}

impl Judge {
    fn triple(
        self,
        triple: [u32; 3],
        census: Census,
        sets: &mut Sets,
        ambiguous: &mut Vec<[u32; 3]>,
    ) -> Result<Verdict> {
        let b = triple[1];
        // An earlier triple with the same ends may have changed these sets already.
        let verdict = self.verdict(census, sets.sets.iter().any(|set| set.contains(&b)));
        let unseparated = self.version_unf[0] == 2 && census.separating == 0;
        if verdict == Verdict::Ambiguous || unseparated {
            memory::push(ambiguous, triple, Use::Orientation)?;
        }
        for set in &mut sets.sets {
            match verdict {
                Verdict::NotCollider if !set.contains(&b) => set.push(b),
                Verdict::Collider => drop_member(set, b),
                _ => {}
            }
        }
        Ok(verdict)
    }

    pub(super) fn verdict(self, census: Census, in_first_set: bool) -> Verdict {
        let (mut votes, mut with_b) = (census.separating, census.with_b);
        if self.version_unf[1] == 2 {
            votes += 1;
            with_b += u64::from(in_first_set);
        }
        // Without any vote, b counts as "in no set".
        if with_b == 0 {
            Verdict::Collider
        } else if with_b == votes {
            Verdict::NotCollider
        } else if !self.majority || 2 * with_b == votes {
            Verdict::Ambiguous
        } else if 2 * with_b < votes {
            Verdict::Collider
        } else {
            Verdict::NotCollider
        }
    }
}

/// Removes b as R's `setdiff(set, b)` does, which also drops repetitions.
fn drop_member(set: &mut Vec<u32>, b: u32) {
    let mut kept = Vec::with_capacity(set.len());
    for &v in set.iter() {
        if v != b && !kept.contains(&v) {
            kept.push(v);
        }
    }
    *set = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Side;
    use crate::Error;
    use std::cell::Cell;

    fn verdict(majority: bool, second: u8, separating: u64, with_b: u64, in_first_set: bool) -> Verdict {
        Judge { version_unf: [2, second], majority }.verdict(Census { separating, with_b }, in_first_set)
    }

    /// A test that is a function of its arguments.
    struct Mixed(usize);

    impl CiTest for Mixed {
        fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
            let mix = s.iter().fold(x + 9 * y, |h, &v| (h * 37 + v as usize) % 1009);
            Ok((mix % 10) as f64 / 10.0)
        }
        fn batch_size(&self) -> usize {
            self.0
        }
    }

    /// Returns a graph with p vertices and sets of its pairs, some of them only on one side.
    fn random_problem(p: usize, density: u64, seed: u64) -> (Adjacency, SepSets) {
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let (mut graph, mut sets) = (Adjacency::empty(p), SepSets::new(p, Side::Smaller));
        for (x, y) in (0..p).flat_map(|y| (0..y).map(move |x| (x, y))) {
            if draw() % 16 < density {
                graph.insert(x, y);
                continue;
            }
            let set: Vec<u32> =
                (0..p as u32).filter(|&v| draw() % 4 == 0 && ![x as u32, y as u32].contains(&v)).collect();
            match draw() % 3 {
                0 => sets.insert_empty(x, y),
                1 => sets.insert(x, y, &set),
                _ => sets.insert(y, x, &set),
            }
        }
        (graph, sets)
    }

    #[test]
    fn blocks_of_any_size_judge_as_one_triple_after_the_other() {
        let listed = |sets: &SepSets| -> Vec<Vec<(u32, Vec<u32>)>> {
            (0..sets.p()).map(|x| sets.row(x).map(|(y, set)| (y, set.to_vec())).collect()).collect()
        };
        let (poll, knowledge) = (Poll::silent(), Knowledge::default());
        let (mut changed, mut disputed) = (0, 0);
        for seed in 0..60 {
            let (graph, sets) = random_problem(9, 2 + seed % 9, seed);
            let judge =
                Judge { version_unf: [1 + (seed % 2) as u8, 1 + (seed / 2 % 2) as u8], majority: seed % 3 == 0 };
            let mut expected_sets = sets.clone();
            let expected =
                judge_triples(judge, (&graph, &knowledge), &mut expected_sets, 0.5, &mut Mixed(1), &poll).unwrap();
            changed += usize::from(listed(&sets) != listed(&expected_sets));
            disputed += usize::from(expected != Ambiguous::default());
            for most in [1, 2, 10, usize::MAX] {
                let mut test = Mixed(6);
                let mut asker = Asker::new((&graph, &knowledge), 0.5, &mut test, &poll);
                asker.most = most;
                let (mut found_sets, mut triples) = (sets.clone(), Vec::new());
                judge_pairs(judge, &mut found_sets, asker, &mut triples).unwrap();
                assert_eq!(listed(&found_sets), listed(&expected_sets), "{seed} {most}");
                assert_eq!(Ambiguous::of_ascending(9, &triples, &poll).unwrap(), expected, "{seed} {most}");
            }
        }
        assert!(changed > 30 && disputed > 30, "{changed} {disputed}");
    }

    #[test]
    fn the_caller_stops_it_early_in_either_way() {
        // One graph has many triples around one vertex; the other is dense and has none.
        let mut star = Adjacency::empty(801);
        (1..801).for_each(|leaf| star.insert(0, leaf));
        let complete = Adjacency::complete(500);
        for (graph, batch_size, least) in [(&star, 1, 200), (&star, 64, 200), (&complete, 1, 50), (&complete, 64, 8)] {
            let asked = Cell::new(0);
            let run = |stop_at: usize| {
                asked.set(0);
                let stop = || {
                    asked.set(asked.get() + 1);
                    asked.get() == stop_at
                };
                let judge = Judge { version_unf: [2, 1], majority: true };
                let mut sets = SepSets::new(graph.p(), Side::Smaller);
                let poll = Poll::new(Some(&stop), None);
                judge_triples(judge, (graph, &Knowledge::default()), &mut sets, 0.5, &mut Mixed(batch_size), &poll)
                    .map(|_| ())
            };
            assert_eq!(run(usize::MAX), Ok(()));
            assert!(asked.get() >= least, "{} {batch_size}", asked.get());
            assert_eq!((run(3), asked.get()), (Err(Error::Interrupted), 3));
        }
    }

    #[test]
    fn all_none_and_some() {
        assert_eq!(verdict(false, 1, 0, 0, true), Verdict::Collider);
        assert_eq!(verdict(false, 1, 3, 0, true), Verdict::Collider);
        assert_eq!(verdict(false, 1, 3, 3, false), Verdict::NotCollider);
        assert_eq!(verdict(false, 1, 3, 1, false), Verdict::Ambiguous);
        assert_eq!(verdict(false, 2, 3, 3, false), Verdict::Ambiguous);
        assert_eq!(verdict(false, 2, 0, 0, true), Verdict::NotCollider);
    }

    #[test]
    fn a_majority_decides_and_half_does_not() {
        assert_eq!(verdict(true, 1, 4, 1, false), Verdict::Collider);
        assert_eq!(verdict(true, 1, 4, 2, false), Verdict::Ambiguous);
        assert_eq!(verdict(true, 1, 4, 3, false), Verdict::NotCollider);
        assert_eq!(verdict(true, 2, 3, 1, true), Verdict::Ambiguous);
    }

    #[test]
    fn dropping_a_member_drops_repetitions_as_setdiff_does() {
        let mut set = vec![4, 1, 4, 2, 1];
        drop_member(&mut set, 2);
        assert_eq!(set, [4, 1]);
    }
}
