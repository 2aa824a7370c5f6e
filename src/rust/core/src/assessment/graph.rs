//! The graph to assess.

use crate::graph::{essential_graph, has_cycle, Marks};
use crate::Result;

/// A graph with directed and undirected edges, and edges in conflict.
#[derive(Clone, Debug)]
pub struct Graph(pub(super) Marks);

impl Graph {
    /// Makes a graph from each vertex's sorted list of heads: j is in `lists[i]` if i -> j, i - j or i <-> j. `conflicts` lists the edges i
    /// <-> j.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error) named `argument` if the lists are not a graph.
    pub fn from_lists<L: AsRef<[u32]>>(argument: &'static str, lists: &[L], conflicts: &[[u32; 2]]) -> Result<Self> {
        let mut marks = Marks::from_lists(argument, lists)?;
        for &[from, to] in conflicts {
            if let Some(slot) = marks.find(from as usize, to as usize).filter(|&slot| marks.is_undirected(slot)) {
                marks.conflict(slot);
            }
        }
        Ok(Graph(marks))
    }

    /// Returns the number of vertices.
    pub fn p(&self) -> usize {
        self.0.p()
    }

    /// Returns whether all edges are directed and make no cycle.
    pub fn is_dag(&self) -> bool {
        let one_way = |slot| self.0.is_directed(slot) || self.0.is_reversed(slot);
        (0..self.0.slot_count()).all(one_way) && !has_cycle(&self.0, false)
    }

    /// Returns the CPDAG of a DAG; returns any other graph unchanged.
    ///
    /// # Errors
    /// Those of `step`, which is called once for each vertex.
    pub fn cpdag(mut self, step: impl FnMut() -> Result<()>) -> Result<Self> {
        if self.is_dag() {
            essential_graph(&mut self.0, step)?;
        }
        Ok(self)
    }

    /// Returns the edges u < v, by u, then v: u and v, and whether the edge may be u -> v and v -> u. Both are true if it has no direction.
    pub fn edges(&self) -> impl Iterator<Item = ([u32; 2], [bool; 2])> + '_ {
        let marks = &self.0;
        let of = move |u: usize| marks.slots(u).filter(move |&slot| marks.head(slot) > u);
        (0..marks.p()).flat_map(move |u| {
            of(u).map(move |slot| {
                let ways = [!marks.is_reversed(slot), !marks.is_directed(slot)];
                ([u as u32, marks.head(slot) as u32], ways)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dag_becomes_its_cpdag_and_others_stay() {
        let of = |lists: &[&[u32]]| Graph::from_lists("fit", lists, &[]).unwrap();
        let edges = |graph: Graph| graph.cpdag(|| Ok(())).unwrap().edges().collect::<Vec<_>>();
        let both = [true, true];
        // 0 -> 1 -> 2; 0 -> 2 <- 1; a cycle; 0 - 1 -> 2.
        assert_eq!(edges(of(&[&[1], &[2], &[]])), [([0, 1], both), ([1, 2], both)]);
        assert_eq!(edges(of(&[&[2], &[2], &[]])), [([0, 2], [true, false]), ([1, 2], [true, false])]);
        assert!(!of(&[&[1], &[2], &[0]]).is_dag());
        assert_eq!(edges(of(&[&[1], &[0, 2], &[]])), [([0, 1], both), ([1, 2], [true, false])]);
    }
}
