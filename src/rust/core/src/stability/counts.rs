//! Counts of what replicates found for each pair.

use std::collections::HashMap;

use crate::memory::{self, Use};
use crate::orient::Pdag;
use crate::Result;

/// Number of replicates in which a pair x < y was adjacent, by mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// x -> y.
    pub forward: u32,
    /// x <- y.
    pub backward: u32,
    /// x - y.
    pub undirected: u32,
    /// x <-> y: two rules wanted to direct the edge in opposite ways.
    pub bidirected: u32,
}

impl Edge {
    /// Returns how often the pair was adjacent.
    pub fn all(&self) -> u32 {
        self.forward + self.backward + self.undirected + self.bidirected
    }
}

/// Sums over replicates.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    edges: HashMap<[u32; 2], Edge>,
    replicates: u32,
    valid: u32,
    with_constants: u32,
}

/// Bytes of a table entry, including the spare room in tables.
const BYTES: usize = 64;

impl Counts {
    /// Counts a graph. `constant`: whether its data have a column without variance.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error).
    pub fn enter(&mut self, graph: &Pdag, constant: bool) -> Result<()> {
        // Tables grow by doubling.
        let more = graph.entries();
        if self.edges.capacity() - self.edges.len() < more {
            memory::room(BYTES * 2 * (self.edges.len() + more), Use::Pairs)?;
        }
        for i in 0..graph.p() {
            for (j, mark) in graph.edges_from(i) {
                let back = graph.mark(j as usize, i);
                let is_first = i < j as usize;
                if back != 0 && !is_first {
                    // Counted from the other end.
                    continue;
                }
                let edge = self.edges.entry(if is_first { [i as u32, j] } else { [j, i as u32] }).or_default();
                match (mark, back) {
                    (1, 0) if is_first => edge.forward += 1,
                    (1, 0) => edge.backward += 1,
                    (1, 1) => edge.undirected += 1,
                    _ => edge.bidirected += 1,
                }
            }
        }
        self.replicates += 1;
        self.valid += u32::from(graph.is_valid());
        self.with_constants += u32::from(constant);
        Ok(())
    }

    /// Returns the number of graphs that were counted.
    pub fn replicates(&self) -> u32 {
        self.replicates
    }

    /// Returns how many of the graphs are CPDAGs or, with knowledge, have a DAG that extends them.
    pub fn valid(&self) -> u32 {
        self.valid
    }

    /// Returns for how many graphs the data had a column without variance.
    pub fn with_constants(&self) -> u32 {
        self.with_constants
    }

    /// Returns the pairs x < y that were adjacent at least once, by x, then y.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error).
    pub fn edges(&self) -> Result<Vec<([u32; 2], Edge)>> {
        let mut edges = memory::collected(self.edges.iter().map(|(&pair, &edge)| (pair, edge)), Use::Pairs)?;
        edges.sort_unstable_by_key(|&(pair, _)| pair);
        Ok(edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Adjacency, SepSets, Side};
    use crate::orient::{orient, Options};

    /// Returns 0 -> 2 <- 1, or 0 - 2 - 1 if the separating set contains 2.
    fn graph(through: bool) -> Pdag {
        let skeleton = Adjacency::from_lists(&[&[2][..], &[2], &[]]);
        let mut sets = SepSets::new(3, Side::Smaller);
        if through {
            sets.insert(0, 1, &[2]);
        } else {
            sets.insert_empty(0, 1);
        }
        orient(&skeleton, &mut sets, &Options::default(), 0.05, None, &mut |_| Ok(Vec::new())).unwrap()
    }

    #[test]
    fn every_edge_is_counted_once_by_its_mark() {
        let mut counts = Counts::default();
        for (through, constant) in [(false, false), (false, true), (true, false)] {
            counts.enter(&graph(through), constant).unwrap();
        }
        let of = Edge { forward: 2, undirected: 1, ..Edge::default() };
        assert_eq!(counts.edges().unwrap(), [([0, 2], of), ([1, 2], of)]);
        assert_eq!((of.all(), counts.replicates(), counts.valid(), counts.with_constants()), (3, 3, 3, 1));
        // The same edges with the vertices in another order, and two rules that differ.
        let skeleton = Adjacency::from_lists(&[&[1, 2][..], &[], &[]]);
        let mut sets = SepSets::new(3, Side::Smaller);
        sets.insert_empty(1, 2);
        let backward = orient(&skeleton, &mut sets, &Options::default(), 0.05, None, &mut |_| Ok(Vec::new())).unwrap();
        let mut counts = Counts::default();
        counts.enter(&backward, false).unwrap();
        let path = Adjacency::from_lists(&[&[1][..], &[2], &[3], &[]]);
        let mut sets = SepSets::new(4, Side::Smaller);
        for [x, y] in [[0, 2], [1, 3], [0, 3]] {
            sets.insert_empty(x, y);
        }
        let options = Options { solve_conflicts: true, ..Options::default() };
        counts.enter(&orient(&path, &mut sets, &options, 0.05, None, &mut |_| Ok(Vec::new())).unwrap(), false).unwrap();
        let edges = counts.edges().unwrap();
        assert_eq!(edges[0], ([0, 1], Edge { backward: 1, forward: 1, ..Edge::default() }));
        assert_eq!(edges[1], ([0, 2], Edge { backward: 1, ..Edge::default() }));
        assert_eq!(edges[2], ([1, 2], Edge { bidirected: 1, ..Edge::default() }));
        assert_eq!((edges.len(), counts.valid()), (4, 1));
    }
}
