//! The answer: a partially directed graph as sparse rows with marks.

use crate::graph::Marks;

/// A partially directed graph in pcalg's coding of `as(graph, "matrix")`, without the zeros.
///
/// With `m[i, j]` the mark of the ordered pair (i, j): `m[i, j] = 1, m[j, i] = 0` is i -> j; both 1 is i - j. Both 2 is i <-> j, an edge
/// that two rules wanted to direct in opposite ways (only with `solve_conflicts`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdag {
    start: Vec<usize>,
    to: Vec<u32>,
    mark: Vec<u8>,
    extendable: bool,
    valid: bool,
    against: Against,
    overruled: u64,
    undecided: u64,
    untested: u64,
}

/// Colliders a -> b <- c that the separating sets suggest and knowledge excludes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Against {
    /// Number of such triples.
    pub count: u64,
    /// The first of these triples, as [a, b, c].
    pub triples: Vec<[u32; 3]>,
}

impl Pdag {
    /// Makes a graph from marks. `extendable` is false for the CPDAG of another DAG, taken because no DAG has the colliders that were
    /// found. `valid`: whether the graph is a CPDAG or, with knowledge, whether a DAG extends it.
    pub(super) fn from_marks(marks: &Marks, extendable: bool, valid: bool) -> Self {
        let mut start = Vec::with_capacity(marks.p() + 1);
        let mut to = Vec::new();
        let mut mark = Vec::new();
        start.push(0);
        for u in 0..marks.p() {
            for slot in marks.slots(u).filter(|&slot| marks.mark(slot) != 0) {
                to.push(marks.head(slot) as u32);
                mark.push(marks.mark(slot));
            }
            start.push(to.len());
        }
        Pdag {
            start,
            to,
            mark,
            extendable,
            valid,
            against: Against::default(),
            overruled: 0,
            undecided: 0,
            untested: 0,
        }
    }

    /// Sets the colliders that contradict knowledge.
    pub(super) fn with_against(self, against: Against) -> Self {
        Pdag { against, ..self }
    }

    /// Sets the number of verdicts that a valid graph contradicts.
    pub(super) fn with_overruled(self, overruled: u64) -> Self {
        Pdag { overruled, ..self }
    }

    /// Returns how many verdicts on unshielded triples were overruled to make the graph valid: not 0 only with
    /// [`Method::Valid`](super::Method).
    pub fn overruled(&self) -> u64 {
        self.overruled
    }

    /// Returns the colliders that contradict knowledge. They are looked for only if separating sets decide what is a collider.
    pub fn against(&self) -> &Against {
        &self.against
    }

    pub(super) fn with_undecided(self, undecided: u64) -> Self {
        Pdag { undecided, ..self }
    }

    /// Returns the number of triples that may or may not be colliders: knowledge kept their ends from being tested, and there was no test
    /// to ask.
    pub fn undecided(&self) -> u64 {
        self.undecided
    }

    /// Sets the number of v-structures over pairs that no test separated.
    pub(super) fn with_untested(self, untested: u64) -> Self {
        Pdag { untested, ..self }
    }

    /// Returns the number of v-structures over pairs that are not adjacent and have no separating set, as pairs of `fixedGaps`. They are
    /// counted only if separating sets alone decide what is a collider.
    pub fn untested(&self) -> u64 {
        self.untested
    }

    /// Returns false if "rand" or "retry" found no DAG with the colliders and took the CPDAG of another one.
    pub fn extendable(&self) -> bool {
        self.extendable
    }

    /// Returns whether the graph is a CPDAG, the essential graph of a DAG; with knowledge, whether a DAG extends it. With `"relaxed"` or
    /// ambiguous triples it may not be.
    pub fn is_valid(&self) -> bool {
        self.valid
    }

    /// Returns the number of vertices.
    pub fn p(&self) -> usize {
        self.start.len() - 1
    }

    /// Returns the number of nonzero entries of the matrix.
    pub fn entries(&self) -> usize {
        self.to.len()
    }

    /// Returns row i of the matrix: `(j, m[i, j])` for every j with `m[i, j] != 0`, j ascending.
    pub fn edges_from(&self, i: usize) -> impl ExactSizeIterator<Item = (u32, u8)> + '_ {
        let row = self.start[i]..self.start[i + 1];
        self.to[row.clone()].iter().copied().zip(self.mark[row].iter().copied())
    }

    /// Returns `m[i, j]`: 0, 1 or 2.
    pub fn mark(&self, i: usize, j: usize) -> u8 {
        let row = self.start[i]..self.start[i + 1];
        match self.to[row].binary_search(&(j as u32)) {
            Ok(at) => self.mark[self.start[i] + at],
            Err(_) => 0,
        }
    }

    /// Returns the number of edges i -> j.
    pub fn directed_count(&self) -> usize {
        self.to.len() - 2 * (self.undirected_count() + self.bidirected_count())
    }

    /// Returns the number of edges i - j.
    pub fn undirected_count(&self) -> usize {
        let both = |i: usize| self.edges_from(i).filter(move |&(j, m)| m == 1 && self.mark(j as usize, i) == 1).count();
        (0..self.p()).map(both).sum::<usize>() / 2
    }

    /// Returns the number of edges i <-> j.
    pub fn bidirected_count(&self) -> usize {
        self.mark.iter().filter(|&&m| m == 2).count() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;

    #[test]
    fn rows_and_counts_follow_the_marks() {
        let lists: [&[u32]; 4] = [&[1, 2, 3], &[2], &[], &[]];
        let mut marks = Marks::undirected(&Adjacency::from_lists(&lists));
        marks.direct(marks.find(2, 0).unwrap());
        marks.conflict(marks.find(0, 3).unwrap());
        let pdag = Pdag::from_marks(&marks, true, true);
        assert_eq!(pdag.edges_from(0).collect::<Vec<_>>(), [(1, 1), (3, 2)]);
        assert_eq!(pdag.edges_from(2).collect::<Vec<_>>(), [(0, 1), (1, 1)]);
        assert_eq!((pdag.mark(2, 0), pdag.mark(0, 2), pdag.mark(3, 0)), (1, 0, 2));
        assert_eq!((pdag.directed_count(), pdag.undirected_count(), pdag.bidirected_count()), (1, 2, 1));
    }
}
