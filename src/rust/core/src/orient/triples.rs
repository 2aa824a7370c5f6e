//! Unshielded triples a - b - c (a and c not adjacent), and sets of them.

use crate::graph::Adjacency;
use crate::memory::{self, Use};
use crate::Result;

/// Triples that the conservative and the majority rule found ambiguous: pcalg's `unfVect`. The ends are unordered, as
/// pcalg looks for (a, b, c) and for (c, b, a).
#[derive(Default)]
pub(super) struct Ambiguous {
    /// (b, smaller end, larger end), sorted.
    triples: Vec<[u32; 3]>,
}

impl Ambiguous {
    pub fn new(triples: impl IntoIterator<Item = [u32; 3]>) -> Self {
        let mut triples: Vec<_> = triples.into_iter().map(|[a, b, c]| [b, a.min(c), a.max(c)]).collect();
        triples.sort_unstable();
        triples.dedup();
        Ambiguous { triples }
    }

    /// Whether a - b - c is one of them.
    pub fn contains(&self, a: usize, b: usize, c: usize) -> bool {
        !self.triples.is_empty() && self.triples.binary_search(&[b as u32, a.min(c) as u32, a.max(c) as u32]).is_ok()
    }
}

/// All unshielded triples [a, b, c] with a < c, in pcalg's order: b, then a, then c ascending.
pub(super) fn unshielded(skeleton: &Adjacency) -> Result<Vec<[u32; 3]>> {
    let mut triples = Vec::new();
    for b in 0..skeleton.p() {
        let around: Vec<u32> = skeleton.neighbours(b).collect();
        for (at, &a) in around.iter().enumerate() {
            let open = around[at + 1..].iter().filter(|&&c| !skeleton.has(a as usize, c as usize));
            for &c in open {
                memory::push(&mut triples, [a, b as u32, c], Use::Orientation)?;
            }
        }
    }
    Ok(triples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_come_in_pcalgs_order_and_ends_are_unordered() {
        let lists: [&[u32]; 4] = [&[1], &[2, 3], &[3], &[]];
        assert_eq!(unshielded(&Adjacency::from_lists(&lists)).unwrap(), [[0, 1, 2], [0, 1, 3]]);
        let ambiguous = Ambiguous::new([[3, 1, 0]]);
        assert!(ambiguous.contains(0, 1, 3) && ambiguous.contains(3, 1, 0) && !ambiguous.contains(0, 1, 2));
    }
}
