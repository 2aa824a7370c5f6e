//! Collider orientation: a - b - c with a and c not adjacent becomes a -> b <- c if no separating set of a and c contains b.

use super::knowledge::Knowledge;
use super::poll::{On, Poll};
use super::triples::Ambiguous;
use crate::graph::{bits, Adjacency, Marks, Packed, SepSets};
use crate::Result;
use std::cmp::Ordering;

/// What happens to an edge that an earlier collider has directed the other way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dispute {
    /// The later collider wins.
    Overwrite,
    /// The edge becomes bidirected and stays so.
    Conflict,
}

/// Orients all colliders of `marks` (undirected so far) in pcalg's order. Returns the slots that a later collider reversed, in the
/// direction that won (pcalg's `evisit`; empty with [`Dispute::Conflict`]), ascending. Triples in `apart` are left alone.
///
/// pcalg visits every (x, y, z) with x - y - z in both directions, y slowest. All triples with the same y point into y, and pointing twice
/// changes nothing. So it suffices to know which neighbours point into each y: an edge that points both ways goes to its larger vertex,
/// which pcalg visits last.
pub(super) fn orient_colliders(
    marks: &mut Marks,
    skeleton: &Adjacency,
    sepsets: &SepSets,
    (apart, knowledge): (&Ambiguous, &Knowledge),
    dispute: Dispute,
    poll: &Poll,
) -> Result<Vec<usize>> {
    let is_known = knowledge.is_some();
    let may_be = |[x, y, z]: [usize; 3]| !apart.contains(x, y, z) && (!is_known || knowledge.leaves_open(x, y, z));
    let points = ends((skeleton, sepsets), marks, may_be, poll)?;
    let mut turned = Vec::new();
    for u in 0..marks.p() {
        poll.looked_up(marks.slots(u).len())?;
        for out in marks.slots(u) {
            let into = marks.twin(out);
            match (points[into], points[out]) {
                (true, true) if marks.head(out) < u => {}
                (true, true) if dispute == Dispute::Conflict => marks.conflict(out),
                (true, true) => {
                    turned.push(out);
                    marks.direct(out);
                }
                (true, false) => marks.direct(out),
                (false, _) => {}
            }
        }
    }
    Ok(turned)
}

/// Returns for each slot y -> x whether x is the end of a collider at y: x - y - z with a z not adjacent to x, such that no separating set
/// of x and z contains y, and `may_be([x, y, z])`.
pub(crate) fn ends(
    (skeleton, sepsets): (&Adjacency, &SepSets),
    marks: &Marks,
    may_be: impl Fn([usize; 3]) -> bool + Sync,
    poll: &Poll,
) -> Result<Vec<bool>> {
    let mut points = vec![false; marks.slot_count()];
    let mut rows = Vec::with_capacity(marks.p());
    let mut rest = &mut points[..];
    for y in 0..marks.p() {
        let (row, later) = rest.split_at_mut(marks.slots(y).len());
        rest = later;
        rows.push((y, row));
    }
    poll.each_of(marks.slot_count(), rows.chunks_mut(64).collect(), |rows: &mut [(usize, &mut [bool])], on| {
        let mut middle = Middle::default();
        for (y, points) in rows.iter_mut().filter(|(_, points)| points.len() > 1) {
            middle.find((*y, marks.neighbours(*y)), (skeleton, sepsets), &may_be, on, points)?;
        }
        Ok(())
    })?;
    Ok(points)
}

/// Returns the number of v-structures over pairs without a separating set, which are the edges of `unseparated`.
pub(super) fn over_untested(marks: &Marks, unseparated: &Adjacency, poll: &Poll) -> Result<u64> {
    if unseparated.edge_count() == 0 {
        return Ok(0);
    }
    let counts = poll.map(marks.slot_count(), marks.p(), |vertices, on| {
        let mut parents = Packed::default();
        let mut ends = 0;
        for y in vertices {
            parents.fill(marks.parents(y).map(|x| x as u32));
            for x in marks.parents(y) {
                on.looked_up(parents.words().len())?;
                let row = unseparated.row(x);
                ends +=
                    parents.words().iter().map(|&(w, word)| u64::from((word & row.word(w)).count_ones())).sum::<u64>();
            }
        }
        Ok(ends)
    })?;
    Ok(counts.iter().sum::<u64>() / 2)
}

/// A middle vertex, with its neighbours in words of bits.
#[derive(Default)]
struct Middle {
    near: Packed,
    /// By word: the neighbours that are ends of a collider.
    ends: Vec<u64>,
}

impl Middle {
    /// Marks in `points` which neighbours of y are ends of a collider there.
    fn find(
        &mut self,
        (y, around): (usize, &[u32]),
        (skeleton, sepsets): (&Adjacency, &SepSets),
        may_be: impl Fn([usize; 3]) -> bool,
        on: &On,
        points: &mut [bool],
    ) -> Result<()> {
        self.near.fill(around.iter().copied());
        let words = self.near.words();
        self.ends.clear();
        self.ends.resize(words.len(), 0);
        let mut own = 0;
        for &x in around {
            let bit = 1 << (x % 64);
            own += usize::from(words[own].0 < x as usize / 64);
            if self.ends[own] & bit != 0 {
                continue;
            }
            on.looked_up(words.len())?;
            let x = x as usize;
            let (row, empty) = (skeleton.row(x), sepsets.only_empty_row(x));
            // Vertices before x that are no ends form no collider with it either.
            let untried = |at: usize| match at.cmp(&own) {
                Ordering::Less => self.ends[at],
                Ordering::Equal => self.ends[at] | !(bit | (bit - 1)),
                Ordering::Greater => !0,
            };
            let is_collider = |z: u32, is_empty: bool| {
                may_be([x, y, z as usize]) && (is_empty || !sepsets.either_contains(x, z as usize, y as u32))
            };
            // Empty sets contain no vertex. So these pairs come first, and need no look-up.
            'search: for of_empty in [true, false] {
                for (at, &(w, near)) in words.iter().enumerate() {
                    let by_empty = empty.map_or(0, |empty| empty.word(w));
                    let others = near & !row.word(w) & untried(at) & if of_empty { by_empty } else { !by_empty };
                    if others == 0 {
                        continue;
                    }
                    on.looked_up(0)?;
                    if let Some(z) = bits(w, others).find(|&z| is_collider(z, of_empty)) {
                        self.ends[own] |= bit;
                        self.ends[at] |= 1 << (z % 64);
                        break 'search;
                    }
                }
            }
        }
        let mut at = 0;
        for (point, &x) in points.iter_mut().zip(around) {
            at += usize::from(words[at].0 < x as usize / 64);
            *point = self.ends[at] >> (x % 64) & 1 == 1;
        }
        Ok(())
    }
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
