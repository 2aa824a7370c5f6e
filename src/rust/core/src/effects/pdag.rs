//! The partially directed graph of an analysis of effects: lists of neighbours, with a mark for each direction.

use crate::{Error, Result};

/// A graph of directed and undirected edges. The two directions of an edge are two slots; those of a vertex lie together,
/// by neighbour.
#[derive(Clone, Debug)]
pub(super) struct Pdag {
    start: Vec<usize>,
    head: Vec<u32>,
    twin: Vec<u32>,
    /// Whether the edge may go this way: both slots of an undirected edge, one of a directed one.
    open: Vec<bool>,
}

impl Pdag {
    /// From the sorted list of each vertex's heads: j is in `lists[i]` where i -> j or i - j, as in pcalg's `as(graph, "matrix")`.
    ///
    /// # Errors
    /// [`Error::Argument`] for numbers out of range, loops, and lists that are not sorted.
    pub fn new<L: AsRef<[u32]>>(lists: &[L]) -> Result<Self> {
        let p = lists.len();
        let wrong = |value: String| Error::Argument {
            argument: "fit",
            value,
            mend: format!("give {p} sorted lists of other vertices"),
        };
        let mut around: Vec<Vec<(u32, bool)>> = vec![Vec::new(); p];
        for (i, list) in lists.iter().enumerate() {
            let list = list.as_ref();
            if list.windows(2).any(|two| two[0] >= two[1]) {
                return Err(wrong(format!("a graph with an unsorted list at {}", i + 1)));
            }
            for &j in list {
                if j as usize >= p || j as usize == i {
                    return Err(wrong(format!("a graph with an edge from {} to {}", i + 1, u64::from(j) + 1)));
                }
                around[i].push((j, true));
                around[j as usize].push((i as u32, false));
            }
        }
        let mut graph = Pdag { start: vec![0], head: Vec::new(), twin: Vec::new(), open: Vec::new() };
        for near in &mut around {
            near.sort_unstable();
            near.dedup_by(|later, kept| {
                kept.1 |= later.0 == kept.0 && later.1;
                later.0 == kept.0
            });
            graph.head.extend(near.iter().map(|&(j, _)| j));
            graph.open.extend(near.iter().map(|&(_, open)| open));
            graph.start.push(graph.head.len());
        }
        for u in 0..p {
            for slot in graph.slots(u) {
                let twin = graph.find(graph.head(slot), u).unwrap_or_default() as u32;
                graph.twin.push(twin);
            }
        }
        Ok(graph)
    }

    /// Number of vertices.
    pub fn p(&self) -> usize {
        self.start.len() - 1
    }

    /// The slots of a vertex.
    pub fn slots(&self, u: usize) -> std::ops::Range<usize> {
        self.start[u]..self.start[u + 1]
    }

    pub fn slot_count(&self) -> usize {
        self.head.len()
    }

    pub fn head(&self, slot: usize) -> usize {
        self.head[slot] as usize
    }

    pub fn tail(&self, slot: usize) -> usize {
        self.head(self.twin(slot))
    }

    pub fn twin(&self, slot: usize) -> usize {
        self.twin[slot] as usize
    }

    /// The slot from u to v, where they are adjacent.
    pub fn find(&self, u: usize, v: usize) -> Option<usize> {
        let range = self.slots(u);
        self.head[range.clone()].binary_search(&(v as u32)).ok().map(|at| range.start + at)
    }

    pub fn adjacent(&self, u: usize, v: usize) -> bool {
        self.find(u, v).is_some()
    }

    /// Tail -> head or tail - head.
    pub fn is_open(&self, slot: usize) -> bool {
        self.open[slot]
    }

    pub fn is_undirected(&self, slot: usize) -> bool {
        self.open[slot] && self.open[self.twin(slot)]
    }

    /// Tail -> head.
    pub fn is_directed(&self, slot: usize) -> bool {
        !self.open[self.twin(slot)]
    }

    /// Tail <- head.
    pub fn is_reversed(&self, slot: usize) -> bool {
        !self.open[slot]
    }

    /// Whether u -> v.
    pub fn points(&self, u: usize, v: usize) -> bool {
        self.find(u, v).is_some_and(|slot| self.is_directed(slot))
    }

    /// Whether u - v.
    pub fn joins(&self, u: usize, v: usize) -> bool {
        self.find(u, v).is_some_and(|slot| self.is_undirected(slot))
    }

    /// u with u -> v, ascending.
    pub fn parents(&self, v: usize) -> impl Iterator<Item = usize> + '_ {
        self.slots(v).filter(|&slot| self.is_reversed(slot)).map(|slot| self.head(slot))
    }

    /// v with u -> v, ascending.
    pub fn children(&self, u: usize) -> impl Iterator<Item = usize> + '_ {
        self.slots(u).filter(|&slot| self.is_directed(slot)).map(|slot| self.head(slot))
    }

    /// v with u - v, ascending.
    pub fn siblings(&self, u: usize) -> impl Iterator<Item = usize> + '_ {
        self.slots(u).filter(|&slot| self.is_undirected(slot)).map(|slot| self.head(slot))
    }

    /// Makes an undirected edge tail -> head.
    pub fn direct(&mut self, slot: usize) {
        let twin = self.twin(slot);
        self.open[twin] = false;
    }

    /// Makes the edge tail - head.
    pub fn undirect(&mut self, slot: usize) {
        let twin = self.twin(slot);
        self.open[slot] = true;
        self.open[twin] = true;
    }

    /// All slots of directed edges.
    pub fn directed(&self) -> Vec<usize> {
        (0..self.slot_count()).filter(|&slot| self.is_directed(slot)).collect()
    }

    /// For each vertex a number of its undirected component, from 0 in order of the smallest vertex, and their count.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_those_of_the_lists() {
        let lists: [&[u32]; 4] = [&[1, 2], &[0], &[], &[1, 2]];
        let mut graph = Pdag::new(&lists).unwrap();
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
        let refused = |lists: &[&[u32]]| matches!(Pdag::new(lists), Err(Error::Argument { argument: "fit", .. }));
        assert!(refused(&[&[0]]) && refused(&[&[1]]) && refused(&[&[2, 1], &[], &[]]) && !refused(&[&[1], &[0]]));
    }
}
