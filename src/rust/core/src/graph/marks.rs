//! A graph of directed and undirected edges. Each direction of an edge has a slot; the two slots are twins, and all slots are one flat
//! block.
//!
//! pcalg holds a p x p matrix `pdag`. No step of an orientation adds or removes an edge, so only the marks of the skeleton's edges are
//! kept. A slot knows how its edge looks from its own side, so a walk over the slots of one vertex reads only contiguous memory.

use super::adjacency::Adjacency;
use crate::{Error, Result};

/// An edge as its slot u -> v sees it: the pair `(pdag[u, v], pdag[v, u])`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// (1, 1)
    Undirected,
    /// (1, 0): u -> v
    Out,
    /// (0, 1): v -> u
    In,
    /// (2, 2): u <-> v
    Conflict,
}

/// Marks on the edges of a skeleton. A slot is the position of an ordered pair (u, v). The slots of one u are contiguous, with v ascending.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    start: Vec<usize>,
    to: Vec<u32>,
    twin: Vec<usize>,
    look: Vec<Look>,
}

impl Marks {
    /// Makes a graph with every edge of the skeleton undirected.
    pub fn undirected(skeleton: &Adjacency) -> Self {
        Self::of((0..skeleton.p()).map(|u| skeleton.neighbours(u)))
    }

    /// Makes a graph with every edge undirected, from the ascending neighbours of each vertex.
    fn of<L: IntoIterator<Item = u32>>(neighbours: impl IntoIterator<Item = L>) -> Self {
        let (mut start, mut to) = (vec![0], Vec::new());
        for list in neighbours {
            to.extend(list);
            start.push(to.len());
        }
        // u ascends, so the slots v -> u of each v come in their own order.
        let mut next = start.clone();
        let mut twin = vec![0; to.len()];
        for u in 0..start.len() - 1 {
            for slot in start[u]..start[u + 1] {
                let v = to[slot] as usize;
                twin[slot] = next[v];
                next[v] += 1;
            }
        }
        let look = vec![Look::Undirected; to.len()];
        Marks { start, to, twin, look }
    }

    /// Makes a graph from the sorted list of each vertex's heads: j is in `lists[i]` if i -> j or i - j, as in pcalg's
    /// `as(graph, "matrix")`.
    ///
    /// # Errors
    /// [`Error::Argument`] with this argument's name for numbers out of range, loops, and unsorted lists.
    pub fn from_lists<L: AsRef<[u32]>>(argument: &'static str, lists: &[L]) -> Result<Self> {
        let p = lists.len();
        let wrong = |value: String| Error::Argument {
            argument,
            value,
            hint: format!("give a sorted list of other vertices for each of the {p} vertices"),
        };
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); p];
        for (i, list) in lists.iter().enumerate() {
            let list = list.as_ref();
            if list.windows(2).any(|two| two[0] >= two[1]) {
                return Err(wrong(format!("a graph whose list {} is not sorted", i + 1)));
            }
            for &j in list {
                if j as usize >= p || j as usize == i {
                    return Err(wrong(format!("a graph with an invalid edge from {} to {}", i + 1, u64::from(j) + 1)));
                }
                around[i].push(j);
                around[j as usize].push(i as u32);
            }
        }
        for near in &mut around {
            near.sort_unstable();
            near.dedup();
        }
        let mut graph = Self::of(around);
        for (u, list) in lists.iter().enumerate() {
            for slot in graph.slots(u).filter(|&slot| list.as_ref().binary_search(&graph.to[slot]).is_err()) {
                graph.look[slot] = Look::In;
                graph.look[graph.twin[slot]] = Look::Out;
            }
        }
        Ok(graph)
    }

    /// Returns the number of vertices.
    pub fn p(&self) -> usize {
        self.start.len() - 1
    }

    /// Returns the number of slots: twice the number of edges.
    pub fn slot_count(&self) -> usize {
        self.to.len()
    }

    /// Returns the slots u -> v of one u, with v ascending.
    pub fn slots(&self, u: usize) -> std::ops::Range<usize> {
        self.start[u]..self.start[u + 1]
    }

    /// Returns the neighbours of u in ascending order, which is the order of its slots.
    pub fn neighbours(&self, u: usize) -> &[u32] {
        &self.to[self.slots(u)]
    }

    /// Returns the slot u -> v, or `None` if the skeleton does not have the edge.
    pub fn find(&self, u: usize, v: usize) -> Option<usize> {
        self.neighbours(u).binary_search(&(v as u32)).ok().map(|at| self.start[u] + at)
    }

    /// Returns v of the slot u -> v.
    pub fn head(&self, slot: usize) -> usize {
        self.to[slot] as usize
    }

    /// Returns u of the slot u -> v.
    pub fn tail(&self, slot: usize) -> usize {
        self.to[self.twin[slot]] as usize
    }

    /// Returns the slot of the other direction.
    pub fn twin(&self, slot: usize) -> usize {
        self.twin[slot]
    }

    /// Returns `pdag[u, v]`.
    pub fn mark(&self, slot: usize) -> u8 {
        match self.look[slot] {
            Look::Undirected | Look::Out => 1,
            Look::In => 0,
            Look::Conflict => 2,
        }
    }

    /// Returns whether the edge is undirected: u - v.
    pub fn is_undirected(&self, slot: usize) -> bool {
        self.look[slot] == Look::Undirected
    }

    /// Returns whether the edge is directed u -> v.
    pub fn is_directed(&self, slot: usize) -> bool {
        self.look[slot] == Look::Out
    }

    /// Returns whether the edge is directed v -> u.
    pub fn is_reversed(&self, slot: usize) -> bool {
        self.look[slot] == Look::In
    }

    /// Returns whether the edge is u -> v or u - v.
    pub fn is_open(&self, slot: usize) -> bool {
        matches!(self.look[slot], Look::Undirected | Look::Out)
    }

    /// Returns whether there is an edge between u and v.
    pub fn adjacent(&self, u: usize, v: usize) -> bool {
        self.find(u, v).is_some()
    }

    /// Returns whether the edge is directed u -> v.
    pub fn points(&self, u: usize, v: usize) -> bool {
        self.find(u, v).is_some_and(|slot| self.is_directed(slot))
    }

    /// Returns whether the edge is undirected: u - v.
    pub fn joins(&self, u: usize, v: usize) -> bool {
        self.find(u, v).is_some_and(|slot| self.is_undirected(slot))
    }

    /// Returns the vertices u with u -> v, in ascending order.
    pub fn parents(&self, v: usize) -> impl Iterator<Item = usize> + '_ {
        self.slots(v).filter(|&slot| self.is_reversed(slot)).map(|slot| self.head(slot))
    }

    /// Returns the vertices v with u -> v, in ascending order.
    pub fn children(&self, u: usize) -> impl Iterator<Item = usize> + '_ {
        self.slots(u).filter(|&slot| self.is_directed(slot)).map(|slot| self.head(slot))
    }

    /// Returns the vertices v with u - v, in ascending order.
    pub fn siblings(&self, u: usize) -> impl Iterator<Item = usize> + '_ {
        self.slots(u).filter(|&slot| self.is_undirected(slot)).map(|slot| self.head(slot))
    }

    /// Numbers the undirected components from 0, in order of their smallest vertex. Returns each vertex's component, and the number of
    /// components.
    pub fn components(&self) -> (Vec<usize>, usize) {
        let mut of = vec![usize::MAX; self.p()];
        let (mut count, mut front) = (0, Vec::new());
        for start in 0..self.p() {
            if of[start] != usize::MAX {
                continue;
            }
            of[start] = count;
            front.push(start);
            while let Some(u) = front.pop() {
                for v in self.siblings(u) {
                    if of[v] == usize::MAX {
                        of[v] = count;
                        front.push(v);
                    }
                }
            }
            count += 1;
        }
        (of, count)
    }

    /// Makes the edge u -> v.
    pub fn direct(&mut self, slot: usize) {
        self.set(slot, Look::Out, Look::In);
    }

    /// Makes the edge u - v.
    pub fn undirect(&mut self, slot: usize) {
        self.set(slot, Look::Undirected, Look::Undirected);
    }

    /// Makes the edge u <-> v, pcalg's mark 2: two rules asked for opposite directions.
    pub fn conflict(&mut self, slot: usize) {
        self.set(slot, Look::Conflict, Look::Conflict);
    }

    /// Exchanges the marks of the two directions.
    pub fn flip(&mut self, slot: usize) {
        self.look.swap(slot, self.twin[slot]);
    }

    fn set(&mut self, slot: usize, here: Look, there: Look) {
        self.look[slot] = here;
        self.look[self.twin[slot]] = there;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_point_at_each_other() {
        let lists: [&[u32]; 5] = [&[1, 3, 4], &[2], &[3, 4], &[], &[]];
        let mut marks = Marks::undirected(&Adjacency::from_lists(&lists));
        assert_eq!((marks.p(), marks.slot_count()), (5, 12));
        for u in 0..5 {
            for slot in marks.slots(u) {
                assert_eq!(marks.tail(slot), u);
                assert_eq!(marks.twin(marks.twin(slot)), slot);
                assert_eq!(marks.find(u, marks.head(slot)), Some(slot));
            }
        }
        let slot = marks.find(4, 0).unwrap();
        marks.direct(slot);
        assert!(marks.is_directed(slot) && marks.is_reversed(marks.find(0, 4).unwrap()));
        marks.flip(slot);
        assert!(marks.is_reversed(slot) && !marks.is_undirected(slot));
        assert_eq!(marks.find(3, 4), None);
    }

    #[test]
    fn marks_are_those_of_the_lists() {
        let lists: [&[u32]; 4] = [&[1, 2], &[0], &[], &[1, 2]];
        let mut graph = Marks::from_lists("fit", &lists).unwrap();
        assert!(graph.joins(0, 1) && graph.points(0, 2) && graph.points(3, 2) && !graph.points(2, 3));
        assert!(!graph.adjacent(0, 3));
        assert_eq!(graph.parents(2).collect::<Vec<_>>(), [0, 3]);
        assert_eq!(graph.children(3).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(graph.components(), (vec![0, 0, 1, 2], 3));
        let slot = graph.find(1, 0).unwrap();
        graph.direct(slot);
        assert!(graph.points(1, 0) && (graph.tail(slot), graph.head(slot)) == (1, 0));
        graph.undirect(slot);
        assert!(graph.joins(0, 1));
    }

    #[test]
    fn lists_that_are_no_graph_are_refused() {
        let refused =
            |lists: &[&[u32]]| matches!(Marks::from_lists("fit", lists), Err(Error::Argument { argument: "fit", .. }));
        assert!(refused(&[&[0]]) && refused(&[&[1]]) && refused(&[&[2, 1], &[], &[]]) && !refused(&[&[1], &[0]]));
    }
}
