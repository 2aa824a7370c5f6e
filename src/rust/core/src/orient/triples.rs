//! Unshielded triples a - b - c (a and c not adjacent), and sets of them.

use super::poll::{On, Poll};
use crate::graph::{Adjacency, Packed};
use crate::memory::{self, Use};
use crate::Result;
use std::ops::Range;

/// Triples that the conservative and the majority rule found ambiguous: pcalg's `unfVect`. The ends are unordered, as pcalg looks for (a,
/// b, c) and for (c, b, a).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ambiguous {
    /// Index of each b's first pair of ends, and then the total number of pairs; empty if there are none.
    starts: Vec<u64>,
    /// (smaller end, larger end), ascending for each b.
    ends: Vec<[u32; 2]>,
}

impl Ambiguous {
    /// Collects triples of p vertices, in any order and with repetitions.
    pub fn new(p: usize, triples: impl IntoIterator<Item = [u32; 3]>, poll: &Poll) -> Result<Self> {
        let mut triples: Vec<_> = triples.into_iter().map(|[a, b, c]| [a.min(c), b, a.max(c)]).collect();
        triples.sort_unstable();
        triples.dedup();
        Self::of_ascending(p, &triples, poll)
    }

    /// Collects triples [a, b, c] with a < c. Those with the same b must be distinct and ascend by a, then c.
    pub fn of_ascending(p: usize, triples: &[[u32; 3]], poll: &Poll) -> Result<Self> {
        if triples.is_empty() {
            return Ok(Ambiguous::default());
        }
        let mut starts = memory::zeros::<u64>(p + 1, Use::Orientation)?;
        for part in triples.chunks(64) {
            poll.step()?;
            for &[_, b, _] in part {
                starts[b as usize + 1] += 1;
            }
        }
        for b in 0..p {
            starts[b + 1] += starts[b];
        }
        let mut next = memory::copied(&starts, Use::Orientation)?;
        let mut ends = memory::space(triples.len(), Use::Orientation)?;
        ends.resize(triples.len(), [0; 2]);
        for part in triples.chunks(64) {
            poll.step()?;
            for &[a, b, c] in part {
                let at = &mut next[b as usize];
                ends[*at as usize] = [a, c];
                *at += 1;
            }
        }
        Ok(Ambiguous { starts, ends })
    }

    /// Returns all triples as [a, b, c] with a < c.
    pub fn triples(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        let of = |b: usize| &self.ends[self.starts[b] as usize..self.starts[b + 1] as usize];
        let middles = 0..self.starts.len().saturating_sub(1);
        middles.flat_map(move |b| of(b).iter().map(move |&[a, c]| [a, b as u32, c]))
    }

    /// Returns whether a - b - c is in the set.
    pub fn contains(&self, a: usize, b: usize, c: usize) -> bool {
        match self.starts.get(b..b + 2) {
            Some(&[from, to]) => {
                let ends = &self.ends[from as usize..to as usize];
                ends.binary_search(&[a.min(c) as u32, a.max(c) as u32]).is_ok()
            }
            _ => false,
        }
    }
}

/// Calls `found` with each unshielded triple [a, b, c] with a < c and b in `middles`, in pcalg's order: b, then a, then c ascending.
fn each_within(
    skeleton: &Adjacency,
    middles: Range<usize>,
    on: &On,
    mut found: impl FnMut([u32; 3]) -> Result<()>,
) -> Result<()> {
    let mut near = Packed::default();
    for b in middles {
        near.fill(skeleton.neighbours(b));
        for a in skeleton.neighbours(b) {
            on.looked_up(near.words().len())?;
            for c in near.outside(skeleton.row(a as usize)).filter(|&c| c > a as usize) {
                found([a, b as u32, c as u32])?;
            }
        }
    }
    Ok(())
}

/// Calls `found` with each unshielded triple [a, b, c] with a < c, in pcalg's order.
pub(crate) fn each_unshielded(
    skeleton: &Adjacency,
    poll: &Poll,
    found: impl FnMut([u32; 3]) -> Result<()>,
) -> Result<()> {
    each_within(skeleton, 0..skeleton.p(), &On::Caller(poll), found)
}

/// Returns the number of unshielded triples that `is_wanted` accepts, and the first `most` of them in pcalg's order.
pub(super) fn select_unshielded(
    skeleton: &Adjacency,
    poll: &Poll,
    most: usize,
    is_wanted: impl Fn([usize; 3]) -> bool + Sync,
) -> Result<(u64, Vec<[u32; 3]>)> {
    let parts = poll.map(skeleton.edge_count(), skeleton.p(), |middles, on| {
        let (mut count, mut first) = (0, Vec::new());
        each_within(skeleton, middles, on, |triple| {
            if is_wanted(triple.map(|v| v as usize)) {
                count += 1;
                if first.len() < most {
                    memory::push(&mut first, triple, Use::Orientation)?;
                }
            }
            Ok(())
        })?;
        Ok((count, first))
    })?;
    let (mut count, mut first) = (0, Vec::new());
    for (more, triples) in parts {
        count += more;
        for triple in triples.into_iter().take(most - first.len()) {
            memory::push(&mut first, triple, Use::Orientation)?;
        }
    }
    Ok((count, first))
}

/// Returns the vertices at distance two from `x`, ascending: the other ends of the unshielded triples that end at `x`.
pub(super) fn other_ends<'a>(skeleton: &'a Adjacency, x: usize, poll: &Poll) -> Result<impl Iterator<Item = u32> + 'a> {
    poll.looked_up(skeleton.degree(x) * skeleton.p().div_ceil(64))?;
    Ok(skeleton.at_distance_two(x).into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_come_in_pcalgs_order_and_ends_are_unordered() {
        let lists: [&[u32]; 4] = [&[1], &[2, 3], &[3], &[]];
        let mut triples = Vec::new();
        let graph = Adjacency::from_lists(&lists);
        each_unshielded(&graph, &Poll::silent(), |triple| {
            triples.push(triple);
            Ok(())
        })
        .unwrap();
        assert_eq!(triples, [[0, 1, 2], [0, 1, 3]]);
        let ambiguous = Ambiguous::new(6, [[3, 1, 0], [0, 1, 3], [2, 0, 5]], &Poll::silent()).unwrap();
        assert!(ambiguous.contains(0, 1, 3) && ambiguous.contains(3, 1, 0) && !ambiguous.contains(0, 1, 2));
        assert!(ambiguous.contains(5, 0, 2) && !ambiguous.contains(2, 5, 0) && ambiguous.ends.len() == 2);
        assert!(!Ambiguous::default().contains(0, 1, 2));
    }
}
