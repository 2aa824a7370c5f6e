//! Whether a partially directed graph is a CPDAG: the essential graph of some DAG.

use super::extension;
use super::marks::Marks;
use super::poll::Poll;
use crate::graph::{self, Adjacency};
use crate::Result;

/// Whether the graph is the CPDAG of a DAG, by the characterisation of Andersson, Madigan and Perlman (1997), theorem 4.1:
/// it is a chain graph (no cycle of directed and undirected edges that follows an arrow), its undirected components are
/// chordal, no a -> b - c has a and c apart, and every arrow is strongly protected.
pub(super) fn is_cpdag(marks: &Marks, skeleton: &Adjacency, poll: &Poll) -> Result<bool> {
    if (0..marks.slot_count()).any(|slot| marks.mark(slot) == 2) {
        return Ok(false);
    }
    let component = components(marks);
    Ok(parents_are_shared(marks, &component)
        && is_acyclic(marks, &component)
        && is_chordal(marks, poll)?
        && is_protected(marks, skeleton, poll)?)
}

/// Whether the undirected edges can be directed without a cycle and without a new collider: so an MPDAG's can.
pub(super) fn is_extendable(marks: &Marks, skeleton: &Adjacency, poll: &Poll) -> Result<bool> {
    let has_conflict = (0..marks.slot_count()).any(|slot| marks.mark(slot) == 2);
    Ok(!has_conflict && extension::extend(marks, skeleton, true, poll)?.is_some())
}

/// For each vertex the smallest vertex that undirected paths join it with.
fn components(marks: &Marks) -> Vec<usize> {
    let mut component = vec![usize::MAX; marks.p()];
    let mut front = Vec::new();
    for start in 0..marks.p() {
        if component[start] != usize::MAX {
            continue;
        }
        component[start] = start;
        front.push(start);
        while let Some(u) = front.pop() {
            for slot in marks.slots(u).filter(|&slot| marks.is_undirected(slot)) {
                let v = marks.head(slot);
                if component[v] == usize::MAX {
                    component[v] = start;
                    front.push(v);
                }
            }
        }
    }
    component
}

fn parents(marks: &Marks, u: usize) -> impl Iterator<Item = usize> + '_ {
    marks.slots(u).filter(|&slot| marks.is_reversed(slot)).map(|slot| marks.head(slot))
}

/// No a -> b - c with a and c apart: where there is no cycle, the vertices of a component have the same parents. None of
/// these lies in the component itself.
fn parents_are_shared(marks: &Marks, component: &[usize]) -> bool {
    (0..marks.p()).all(|u| {
        let first = component[u];
        parents(marks, u).all(|a| component[a] != first) && (first == u || parents(marks, u).eq(parents(marks, first)))
    })
}

/// Whether the arrows between components have no cycle.
fn is_acyclic(marks: &Marks, component: &[usize]) -> bool {
    let p = marks.p();
    let mut members = vec![Vec::new(); p];
    let mut arriving = vec![0usize; p];
    for u in 0..p {
        members[component[u]].push(u);
        arriving[component[u]] += parents(marks, u).count();
    }
    let mut free: Vec<usize> = (0..p).filter(|&c| component[c] == c && arriving[c] == 0).collect();
    let mut taken = 0;
    while let Some(c) = free.pop() {
        taken += 1;
        for &u in &members[c] {
            for slot in marks.slots(u).filter(|&slot| marks.is_directed(slot)) {
                let to = component[marks.head(slot)];
                arriving[to] -= 1;
                if arriving[to] == 0 {
                    free.push(to);
                }
            }
        }
    }
    taken == (0..p).filter(|&c| component[c] == c).count()
}

/// Whether the undirected edges form chordal graphs.
fn is_chordal(marks: &Marks, poll: &Poll) -> Result<bool> {
    let around = |u: usize| marks.slots(u).filter(|&slot| marks.is_undirected(slot)).map(|slot| marks.head(slot));
    let adjacent = |u: usize, v: usize| marks.find(u, v).is_some_and(|slot| marks.is_undirected(slot));
    graph::is_chordal(marks.p(), around, adjacent, || poll.step())
}

/// Whether every arrow a -> b is strongly protected: the graph has, for some c, c -> a with c and b apart; c -> b with c and
/// a apart; a -> c -> b; or a - c1 -> b and a - c2 -> b with c1 and c2 apart.
fn is_protected(marks: &Marks, skeleton: &Adjacency, poll: &Poll) -> Result<bool> {
    for b in 0..marks.p() {
        for ba in marks.slots(b).filter(|&slot| marks.is_reversed(slot)) {
            poll.step()?;
            let a = marks.head(ba);
            let points_to_b = |c: usize| marks.find(c, b).is_some_and(|slot| marks.is_directed(slot));
            let protected = parents(marks, b).any(|c| c != a && !skeleton.has(c, a))
                || parents(marks, a).any(|c| !skeleton.has(c, b))
                || marks.slots(a).any(|slot| marks.is_directed(slot) && points_to_b(marks.head(slot)));
            if protected {
                continue;
            }
            let beside: Vec<usize> =
                marks.slots(a).filter(|&slot| marks.is_undirected(slot)).map(|s| marks.head(s)).collect();
            let beside: Vec<usize> = beside.into_iter().filter(|&c| points_to_b(c)).collect();
            let apart = |(i, &c1): (usize, &usize)| beside[i + 1..].iter().any(|&c2| !skeleton.has(c1, c2));
            if !beside.iter().enumerate().any(apart) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::super::essential::essential_graph;
    use super::super::extension::extend;
    use super::*;

    /// By the definition: some DAG extends the graph, and the graph is that DAG's essential graph.
    fn by_definition(marks: &Marks, skeleton: &Adjacency) -> bool {
        let poll = Poll::silent();
        if (0..marks.slot_count()).any(|slot| marks.mark(slot) == 2) {
            return false;
        }
        let Some(mut dag) = extend(marks, skeleton, true, &poll).unwrap() else { return false };
        essential_graph(&mut dag, skeleton, &poll).unwrap();
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
    fn it_is_what_the_definition_says() {
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
                essential_graph(&mut marks, &skeleton, &Poll::silent()).unwrap();
                assert!(is_cpdag(&marks, &skeleton, &Poll::silent()).unwrap(), "round {round}");
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
            assert_eq!(is_cpdag(&marks, &skeleton, &Poll::silent()).unwrap(), want, "round {round}");
            seen[usize::from(want)] += 1;
        }
        assert!(seen[0] > 4000 && seen[1] > 7000, "{seen:?}");
    }
}
