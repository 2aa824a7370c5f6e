//! The CPDAG (essential graph) of a DAG: pcalg's `dag2cpdag`.

use super::poll::Poll;
use crate::graph::{Adjacency, Marks};
use crate::Result;

/// Turns the DAG `marks` (every edge directed, no cycle) into its CPDAG: an edge stays directed when all DAGs of the
/// Markov equivalence class direct it so, else it becomes undirected. Labelling of Chickering (1995), figure 5: vertices
/// in topological order, each judged by its last parent.
pub(super) fn essential_graph(marks: &mut Marks, skeleton: &Adjacency, poll: &Poll) -> Result<()> {
    let order = topological_order(marks);
    let mut rank = vec![0; marks.p()];
    for (at, &u) in order.iter().enumerate() {
        rank[u] = at;
    }
    // Of the slot u -> v, whether the edge is compelled.
    let mut compelled = vec![false; marks.slot_count()];
    for &y in &order {
        poll.step()?;
        let parents: Vec<usize> =
            marks.slots(y).map(|slot| marks.twin(slot)).filter(|&xy| marks.is_directed(xy)).collect();
        let Some(&last) = parents.iter().max_by_key(|&&xy| rank[marks.tail(xy)]) else {
            continue;
        };
        let x = marks.tail(last);
        // Parents come before their children, so that adjacency to a later vertex is parenthood.
        let forced = marks.slots(x).map(|slot| marks.twin(slot)).filter(|&wx| marks.is_directed(wx) && compelled[wx]);
        let forced: Vec<usize> = forced.map(|wx| marks.tail(wx)).collect();
        let all = forced.iter().any(|&w| !skeleton.has(w, y))
            || parents.iter().any(|&zy| zy != last && !skeleton.has(marks.tail(zy), x));
        for &zy in &parents {
            compelled[zy] = all || forced.contains(&marks.tail(zy));
        }
    }
    for (slot, _) in compelled.iter().enumerate().filter(|(_, &compelled)| !compelled) {
        if marks.is_directed(slot) {
            marks.undirect(slot);
        }
    }
    Ok(())
}

fn topological_order(marks: &Marks) -> Vec<usize> {
    let p = marks.p();
    let mut parents_left: Vec<usize> =
        (0..p).map(|u| marks.slots(u).filter(|&slot| marks.is_reversed(slot)).count()).collect();
    let mut order: Vec<usize> = (0..p).filter(|&u| parents_left[u] == 0).collect();
    let mut done = 0;
    while done < order.len() {
        for slot in marks.slots(order[done]).filter(|&slot| marks.is_directed(slot)) {
            let v = marks.head(slot);
            parents_left[v] -= 1;
            if parents_left[v] == 0 {
                order.push(v);
            }
        }
        done += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::extension::extend;
    use super::*;
    use crate::graph::is_cpdag;

    fn cpdag(edges: &[(usize, usize)], p: usize) -> Vec<bool> {
        let mut skeleton = Adjacency::empty(p);
        edges.iter().for_each(|&(u, v)| skeleton.insert(u, v));
        let mut marks = Marks::undirected(&skeleton);
        edges.iter().for_each(|&(u, v)| marks.direct(marks.find(u, v).unwrap()));
        essential_graph(&mut marks, &skeleton, &Poll::silent()).unwrap();
        edges.iter().map(|&(u, v)| marks.is_directed(marks.find(u, v).unwrap())).collect()
    }

    #[test]
    fn chains_are_reversible_and_colliders_are_not() {
        assert_eq!(cpdag(&[(2, 1), (1, 0)], 3), [false, false]);
        assert_eq!(cpdag(&[(0, 2), (1, 2), (2, 3)], 4), [true, true, true]);
        // 0 -> 2 <- 1 with 0 -> 3 <- 2: 0 -> 3 follows from 0 -> 2 -> 3 (rule 2).
        assert_eq!(cpdag(&[(0, 2), (1, 2), (2, 3), (0, 3)], 4), [true, true, true, true]);
        // A complete DAG has no compelled edge.
        assert_eq!(cpdag(&[(3, 0), (3, 1), (3, 2), (0, 1), (0, 2), (1, 2)], 4), [false; 6]);
    }

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
                essential_graph(&mut marks, &skeleton, &Poll::silent()).unwrap();
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
