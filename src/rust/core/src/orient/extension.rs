//! Consistent extension of a partially directed graph to a DAG (Dor and Tarsi 1992): pcalg's `pdag2dag`.

use super::nearest::{nearest_dag, Nearest, Verdict};
use super::poll::Poll;
use crate::graph::{Adjacency, Marks, Packed};
use crate::memory::{self, Use};
use crate::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Directs the undirected edges of `marks` (no marks of 2) so that no cycle arises and, with `keep_v_structures`, no new collider. Returns
/// `None` if that is impossible.
///
/// The first sink is removed again and again. This is a vertex with no edge directed out of it. With `keep_v_structures`, each of its
/// undirected neighbours must also be adjacent to all its other neighbours. Its undirected edges then point into it. pcalg scans all
/// vertices for the first sink each time. Removing a vertex removes edges, and fewer edges can only help another vertex to qualify. So
/// qualified vertices can wait in a heap.
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
        taken: vec![PRESENT; marks.p()],
        near: Packed::default(),
        out: (0..marks.p()).map(|u| marks.slots(u).filter(|&slot| marks.is_directed(slot)).count()).collect(),
    };
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
    for turn in 0.. {
        if edges_left == 0 {
            break;
        }
        let Some(Reverse(x)) = queue.pop() else {
            return Ok(None);
        };
        peeling.taken[x] = turn;
        for xy in marks.slots(x) {
            let y = marks.head(xy);
            if peeling.taken[y] != PRESENT {
                continue;
            }
            poll.step()?;
            edges_left -= 1;
            if !marks.is_undirected(xy) {
                peeling.out[y] -= 1;
            }
        }
        for &y in marks.neighbours(x) {
            let y = y as usize;
            if peeling.taken[y] == PRESENT && !queued[y] && peeling.qualifies(y) {
                poll.looked_up(marks.slots(y).len())?;
                queued[y] = true;
                queue.push(Reverse(y));
            }
        }
    }
    let mut dag = marks.clone();
    for slot in (0..marks.slot_count()).filter(|&slot| marks.is_undirected(slot)) {
        if peeling.taken[marks.head(slot)] < peeling.taken[marks.tail(slot)] {
            dag.direct(slot);
        }
    }
    Ok(Some(dag))
}

/// Returns whether the undirected edges can be directed without a cycle and without a new collider, as those of an MPDAG can.
pub(super) fn is_extendable(marks: &Marks, skeleton: &Adjacency, poll: &Poll) -> Result<bool> {
    let has_conflict = (0..marks.slot_count()).any(|slot| marks.mark(slot) == 2);
    Ok(!has_conflict && extend(marks, skeleton, true, poll)?.is_some())
}

/// Returns a DAG for a graph, and whether it extends the graph. If no DAG extends the graph, the result has few further colliders; `None`
/// if arrows make a cycle. An edge in conflict counts as undirected.
pub(crate) fn dag_of(marks: &Marks, wants_to_stop: Option<&dyn Fn() -> bool>) -> Result<Option<(Marks, bool)>> {
    let mut marks = marks.clone();
    (0..marks.slot_count())
        .filter(|&slot| marks.mark(slot) == 2)
        .collect::<Vec<_>>()
        .into_iter()
        .for_each(|slot| marks.undirect(slot));
    memory::room(Adjacency::bytes(marks.p()), Use::Pairs)?;
    let mut skeleton = Adjacency::empty(marks.p());
    (0..marks.slot_count()).for_each(|slot| skeleton.insert(marks.tail(slot), marks.head(slot)));
    let poll = Poll::new(wants_to_stop, None);
    if let Some(dag) = extend(&marks, &skeleton, true, &poll)? {
        return Ok(Some((dag, true)));
    }
    let Nearest { dag, turned, .. } = nearest_dag(&marks, &skeleton, |_| |_, _| Verdict::NotCollider, &poll)?;
    Ok((turned == 0).then_some((dag, false)))
}

struct Peeling<'a> {
    marks: &'a Marks,
    skeleton: &'a Adjacency,
    keep_v_structures: bool,
    /// By vertex: the turn in which it was removed, or [`PRESENT`].
    taken: Vec<usize>,
    /// The present neighbours of a vertex.
    near: Packed,
    /// For each vertex, the number of its directed edges to present vertices.
    out: Vec<usize>,
}

const PRESENT: usize = usize::MAX;

impl Peeling<'_> {
    fn qualifies(&mut self, x: usize) -> bool {
        self.out[x] == 0 && (!self.keep_v_structures || self.makes_no_collider(x))
    }

    fn makes_no_collider(&mut self, x: usize) -> bool {
        let around = || self.marks.slots(x).filter(|&slot| self.taken[self.marks.head(slot)] == PRESENT);
        self.near.fill(around().map(|slot| self.marks.head(slot) as u32));
        around().filter(|&slot| self.marks.is_undirected(slot)).all(|undirected| {
            let y = self.marks.head(undirected);
            self.near.outside(self.skeleton.row(y)).all(|other| other == y)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{essential_graph, is_cpdag};

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

    /// Decides by the definition: some DAG extends the graph, and the graph is that DAG's essential graph.
    fn by_definition(marks: &Marks, skeleton: &Adjacency) -> bool {
        let poll = Poll::silent();
        if (0..marks.slot_count()).any(|slot| marks.mark(slot) == 2) {
            return false;
        }
        let Some(mut dag) = extend(marks, skeleton, true, &poll).unwrap() else { return false };
        essential_graph(&mut dag, || Ok(())).unwrap();
        (0..marks.slot_count()).all(|slot| dag.mark(slot) == marks.mark(slot))
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }
    }

    #[test]
    fn a_cpdag_is_what_the_definition_says() {
        let mut random = Random(7);
        let mut seen = [0; 2];
        for round in 0..20_000 {
            let p = 2 + random.below(6) as usize;
            let mut skeleton = Adjacency::empty(p);
            for v in 1..p {
                for u in 0..v {
                    if random.below(10) < 5 {
                        skeleton.insert(u, v);
                    }
                }
            }
            let mut marks = Marks::undirected(&skeleton);
            for u in 0..p {
                for slot in marks.slots(u).filter(|&slot| marks.head(slot) > u).collect::<Vec<_>>() {
                    match (round % 3, random.below(6)) {
                        // The CPDAG of a DAG, then perhaps an edge changed.
                        (0 | 1, _) => marks.direct(slot),
                        (_, 0 | 1) => marks.direct(slot),
                        (_, 2) => marks.direct(marks.twin(slot)),
                        _ => {}
                    }
                }
            }
            if round % 3 < 2 {
                essential_graph(&mut marks, || Ok(())).unwrap();
                assert!(is_cpdag(&marks, || Ok(())).unwrap(), "round {round}");
            }
            if round % 3 == 1 && marks.slot_count() > 0 {
                let slot = random.below(marks.slot_count() as u64) as usize;
                if marks.is_undirected(slot) {
                    marks.direct(slot);
                } else if random.below(2) == 0 && marks.is_directed(slot) {
                    marks.undirect(slot);
                } else {
                    marks.conflict(slot);
                }
            }
            let want = by_definition(&marks, &skeleton);
            assert_eq!(is_cpdag(&marks, || Ok(())).unwrap(), want, "round {round}");
            seen[usize::from(want)] += 1;
        }
        assert!(seen[0] > 4000 && seen[1] > 7000, "{seen:?}");
    }
}
