//! Collider orientation: a - b - c with a and c not adjacent becomes a -> b <- c if no separating set of a and c contains b.

use super::knowledge::Knowledge;
use super::poll::Poll;
use super::triples::Ambiguous;
use crate::graph::{Adjacency, Marks, SepSets};
use crate::Result;

/// What happens to an edge that an earlier collider has directed the other way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dispute {
    /// The later collider wins.
    Overwrite,
    /// The edge becomes bidirected and stays so.
    Conflict,
}

/// Orients all colliders of `marks` (undirected so far) in pcalg's order. Returns the slots that a later collider reversed, in the
/// direction that won (pcalg's `evisit`; empty with [`Dispute::Conflict`]). Triples in `apart` are left alone.
///
/// pcalg visits every (x, y, z) with x - y - z in both directions, y slowest. All triples with the same y point into y, and pointing twice
/// changes nothing. So for each y it suffices to know which neighbours point into it; only the order of the y matters.
pub(super) fn orient_colliders(
    marks: &mut Marks,
    skeleton: &Adjacency,
    sepsets: &SepSets,
    (apart, knowledge): (&Ambiguous, &Knowledge),
    dispute: Dispute,
    poll: &Poll,
) -> Result<Vec<usize>> {
    let mut turned = Vec::new();
    let mut points = Vec::new();
    for y in 0..skeleton.p() {
        let is_collider = |x: usize, z: usize| {
            !skeleton.has(x, z)
                && !sepsets.either_contains(x, z, y as u32)
                && !apart.contains(x, y, z)
                && knowledge.leaves_open(x, y, z)
        };
        points_into(marks.neighbours(y), is_collider, poll, &mut points)?;
        for (out, _) in marks.slots(y).zip(&points).filter(|(_, &points)| points) {
            let into = marks.twin(out);
            match dispute {
                Dispute::Overwrite => {
                    if marks.is_reversed(into) {
                        turned.push(into);
                    }
                    marks.direct(into);
                }
                Dispute::Conflict if marks.mark(into) == 1 => marks.direct(into),
                Dispute::Conflict => marks.conflict(into),
            }
        }
    }
    Ok(turned)
}

/// Marks which neighbours of a vertex are ends of a collider there.
fn points_into(
    around: &[u32],
    is_collider: impl Fn(usize, usize) -> bool,
    poll: &Poll,
    points: &mut Vec<bool>,
) -> Result<()> {
    points.clear();
    points.resize(around.len(), false);
    for (i, &x) in around.iter().enumerate() {
        poll.looked_up(around.len() - i)?;
        let x = x as usize;
        for (j, &z) in around.iter().enumerate().skip(i + 1) {
            if !(points[i] && points[j]) && is_collider(x, z as usize) {
                points[i] = true;
                points[j] = true;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Side;

    /// Orients 0 - 1 - 2 - 3 with both inner vertices colliders: 1 - 2 is disputed.
    fn path(dispute: Dispute, ambiguous: &Ambiguous) -> (Marks, Vec<usize>) {
        let lists: [&[u32]; 4] = [&[1], &[2], &[3], &[]];
        let skeleton = Adjacency::from_lists(&lists);
        let mut marks = Marks::undirected(&skeleton);
        let sepsets = SepSets::new(4, Side::Smaller);
        let turned = orient_colliders(
            &mut marks,
            &skeleton,
            &sepsets,
            (ambiguous, &Knowledge::default()),
            dispute,
            &Poll::silent(),
        )
        .unwrap();
        (marks, turned)
    }

    #[test]
    fn the_later_collider_wins_or_the_edge_is_marked() {
        let (marks, turned) = path(Dispute::Overwrite, &Ambiguous::default());
        let disputed = marks.find(1, 2).unwrap();
        assert!(marks.is_directed(disputed) && turned == [disputed]);
        let (marks, turned) = path(Dispute::Conflict, &Ambiguous::default());
        assert!(marks.mark(disputed) == 2 && marks.mark(marks.twin(disputed)) == 2 && turned.is_empty());
    }

    #[test]
    fn ambiguous_triples_are_left_alone() {
        let (marks, _) = path(Dispute::Overwrite, &Ambiguous::new(3, [[2, 1, 0]], &Poll::silent()).unwrap());
        assert!(marks.is_undirected(marks.find(0, 1).unwrap()) && marks.is_directed(marks.find(3, 2).unwrap()));
    }
}
