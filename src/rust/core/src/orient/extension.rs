//! Consistent extension of a partially directed graph to a DAG (Dor and Tarsi 1992): pcalg's `pdag2dag`.

use super::poll::Poll;
use crate::graph::{Adjacency, Marks};
use crate::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Directs the undirected edges of `marks` (no marks of 2) so that no cycle arises and, with `keep_v_structures`, no new
/// collider. `None` when that is impossible.
///
/// Again and again the first sink is taken out: a vertex with no edge directed out of it such that, with
/// `keep_v_structures`, each of its undirected neighbours is adjacent to all its other neighbours; its undirected edges
/// then point into it. pcalg scans all vertices for the first one each time. Taking a vertex out takes edges away, and
/// fewer edges can only help another vertex to qualify, so that the qualified ones can wait in a heap.
pub(super) fn extend(
    marks: &Marks,
    skeleton: &Adjacency,
    keep_v_structures: bool,
    poll: &Poll,
) -> Result<Option<Marks>> {
    let mut peeling = Peeling {
        marks,
        skeleton,
        keep_v_structures,
        present: vec![true; marks.p()],
        out: (0..marks.p()).map(|u| marks.slots(u).filter(|&slot| marks.is_directed(slot)).count()).collect(),
    };
    let mut dag = marks.clone();
    let mut queued = vec![false; marks.p()];
    let mut queue = BinaryHeap::new();
    let mut edges_left = marks.slot_count() / 2;
    for (u, queued) in queued.iter_mut().enumerate() {
        poll.step()?;
        *queued = peeling.qualifies(u);
        if *queued {
            queue.push(Reverse(u));
        }
    }
    while edges_left > 0 {
        let Some(Reverse(x)) = queue.pop() else {
            return Ok(None);
        };
        peeling.present[x] = false;
        for xy in marks.slots(x) {
            let y = marks.head(xy);
            if !peeling.present[y] {
                continue;
            }
            poll.step()?;
            edges_left -= 1;
            if marks.is_undirected(xy) {
                dag.direct(marks.twin(xy));
            } else {
                peeling.out[y] -= 1;
            }
        }
        for &y in marks.neighbours(x) {
            let y = y as usize;
            if peeling.present[y] && !queued[y] && peeling.qualifies(y) {
                queued[y] = true;
                queue.push(Reverse(y));
            }
        }
    }
    Ok(Some(dag))
}

/// Whether the undirected edges can be directed without a cycle and without a new collider: so an MPDAG's can.
pub(super) fn is_extendable(marks: &Marks, skeleton: &Adjacency, poll: &Poll) -> Result<bool> {
    let has_conflict = (0..marks.slot_count()).any(|slot| marks.mark(slot) == 2);
    Ok(!has_conflict && extend(marks, skeleton, true, poll)?.is_some())
}

struct Peeling<'a> {
    marks: &'a Marks,
    skeleton: &'a Adjacency,
    keep_v_structures: bool,
    present: Vec<bool>,
    /// Number of edges directed out of each vertex, to present ones.
    out: Vec<usize>,
}

impl Peeling<'_> {
    fn qualifies(&self, x: usize) -> bool {
        self.out[x] == 0 && (!self.keep_v_structures || self.makes_no_collider(x))
    }

    fn makes_no_collider(&self, x: usize) -> bool {
        let around = || self.marks.slots(x).filter(|&slot| self.present[self.marks.head(slot)]);
        around().filter(|&slot| self.marks.is_undirected(slot)).all(|undirected| {
            let y = self.marks.head(undirected);
            around().all(|slot| slot == undirected || self.skeleton.has(y, self.marks.head(slot)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(u32, u32)], p: usize) -> (Adjacency, Marks) {
        let mut skeleton = Adjacency::empty(p);
        edges.iter().for_each(|&(u, v)| skeleton.insert(u as usize, v as usize));
        let marks = Marks::undirected(&skeleton);
        (skeleton, marks)
    }

    fn points(marks: &Marks, u: usize, v: usize) -> bool {
        marks.is_directed(marks.find(u, v).unwrap())
    }

    #[test]
    fn the_lowest_sink_goes_first() {
        let (skeleton, marks) = graph(&[(0, 1), (1, 2)], 3);
        let dag = extend(&marks, &skeleton, true, &Poll::silent()).unwrap().unwrap();
        assert!(points(&dag, 1, 0) && points(&dag, 2, 1));
    }

    #[test]
    fn a_square_extends_only_with_a_new_collider() {
        let (skeleton, marks) = graph(&[(0, 1), (1, 2), (2, 3), (0, 3)], 4);
        assert!(extend(&marks, &skeleton, true, &Poll::silent()).unwrap().is_none());
        let dag = extend(&marks, &skeleton, false, &Poll::silent()).unwrap().unwrap();
        assert!(points(&dag, 1, 0) && points(&dag, 3, 0) && points(&dag, 2, 1) && points(&dag, 3, 2));
    }

    #[test]
    fn a_cycle_does_not_extend() {
        let (skeleton, mut marks) = graph(&[(0, 1), (1, 2), (0, 2)], 3);
        for (u, v) in [(0, 1), (1, 2), (2, 0)] {
            marks.direct(marks.find(u, v).unwrap());
        }
        assert!(extend(&marks, &skeleton, false, &Poll::silent()).unwrap().is_none());
    }
}
