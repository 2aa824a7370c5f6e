//! The conservative and the majority rule: pcalg's `pc.cons.intern` (Ramsey et al. 2006, Colombo and Maathuis 2014).

use super::event::Event;
use super::poll::Poll;
use super::separations::{Census, Censuses};
use super::triples::{unshielded, Ambiguous};
use crate::ci::CiTest;
use crate::graph::{Adjacency, SepSets};
use crate::memory::{self, Use};
use crate::Result;

/// pcalg's `version.unf` and `maj.rule`.
#[derive(Clone, Copy)]
pub(super) struct Judge {
    /// `version.unf`: first 2: a triple whose ends no subset of the neighbours separates is ambiguous too; second 2: the
    /// separating set of the skeleton votes as well.
    pub version_unf: [u8; 2],
    /// TRUE: more than half of the separating sets decide; FALSE: all of them must agree.
    pub majority: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// b is in no separating set.
    Collider,
    /// b is in all of them.
    NotCollider,
    /// Neither.
    Ambiguous,
}

/// Decides every unshielded triple a - b - c by more tests: changes the separating sets of (a, c), so that the collider
/// orientation will find what was decided, and returns the ambiguous triples.
pub(super) fn judge_triples(
    judge: Judge,
    skeleton: &Adjacency,
    sepsets: &mut SepSets,
    alpha: f64,
    test: &mut dyn CiTest,
    poll: &Poll,
) -> Result<Ambiguous> {
    let triples = unshielded(skeleton)?;
    let mut censuses = Censuses::new(&triples, skeleton, alpha, test, poll)?;
    let mut ambiguous = Vec::new();
    for (number, &[a, b, c]) in triples.iter().enumerate() {
        let (x, y) = (a as usize, c as usize);
        poll.tell(&Event::Triple { triple: [a, b, c], sepset: sepsets.get(x, y) })?;
        let census = censuses.of(number, [a, b, c])?;
        // An earlier triple with the same ends has changed this set already.
        let verdict = judge.verdict(census, sepsets.either_contains(x, y, b));
        let unseparated = judge.version_unf[0] == 2 && census.separating == 0;
        if verdict == Verdict::Ambiguous {
            poll.tell(&Event::Ambiguous)?;
        }
        if verdict == Verdict::Ambiguous || unseparated {
            memory::push(&mut ambiguous, [a, b, c], Use::Orientation)?;
        }
        for (x, y) in [(x, y), (y, x)] {
            let mut set = sepsets.get(x, y).unwrap_or(&[]).to_vec();
            match verdict {
                Verdict::NotCollider if !set.contains(&b) => set.push(b),
                Verdict::Collider => drop_member(&mut set, b),
                _ => {}
            }
            sepsets.insert(x, y, &set);
            memory::check()?;
        }
    }
    memory::room(3 * size_of_val(&ambiguous[..]), Use::Orientation)?;
    Ok(Ambiguous::new(ambiguous))
}

impl Judge {
    fn verdict(self, census: Census, in_first_set: bool) -> Verdict {
        let (mut votes, mut with_b) = (census.separating, census.with_b);
        if self.version_unf[1] == 2 {
            votes += 1;
            with_b += u64::from(in_first_set);
        }
        // No vote at all counts as "in no set".
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

/// R's `setdiff(set, b)`, which also drops repetitions.
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

    fn verdict(majority: bool, second: u8, separating: u64, with_b: u64, in_first_set: bool) -> Verdict {
        Judge { version_unf: [2, second], majority }.verdict(Census { separating, with_b }, in_first_set)
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
