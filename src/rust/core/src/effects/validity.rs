//! Whether a graph is what its type says, as pcalg's `isValidGraph()` judges.

use super::closure::Closure;
use super::pdag::Pdag;
use crate::graph;
use crate::Result;

/// Whether the graph is a CPDAG: what its v-structures and Meek's rules make of its skeleton, without a cycle along an arrow, its
/// undirected components chordal.
pub(super) fn is_cpdag(graph: &Pdag) -> Result<bool> {
    Ok(is_maximal(graph)
        && !has_cycle(graph, true)
        && is_chordal(graph)?
        && same_marks(&corresponding_cpdag(graph), graph))
}

/// Whether the graph is a maximally oriented PDAG: it has the arrows of the CPDAG of its v-structures and perhaps more, none of
/// which makes a directed cycle, and Meek's rules add nothing; and that CPDAG is one.
pub(super) fn is_pdag(graph: &Pdag) -> Result<bool> {
    if !is_maximal(graph) || has_cycle(graph, false) {
        return Ok(false);
    }
    let cpdag = corresponding_cpdag(graph);
    let kept = (0..graph.slot_count()).all(|slot| !cpdag.is_directed(slot) || graph.is_directed(slot));
    Ok(kept && is_chordal(&cpdag)?)
}

fn is_maximal(graph: &Pdag) -> bool {
    !Closure::new(graph.clone()).complete()
}

fn same_marks(one: &Pdag, other: &Pdag) -> bool {
    (0..one.slot_count()).all(|slot| one.is_open(slot) == other.is_open(slot))
}

/// The skeleton with the graph's v-structures, and what follows.
fn corresponding_cpdag(graph: &Pdag) -> Pdag {
    let mut pattern = graph.clone();
    (0..pattern.slot_count()).for_each(|slot| pattern.undirect(slot));
    for b in 0..graph.p() {
        for slot in graph.slots(b).filter(|&slot| graph.is_reversed(slot)) {
            let a = graph.head(slot);
            if graph.parents(b).any(|c| c != a && !graph.adjacent(a, c)) {
                pattern.direct(graph.twin(slot));
            }
        }
    }
    let mut closure = Closure::new(pattern);
    closure.complete();
    closure.graph
}

/// Whether some path along arrows, or along undirected edges as well where `partially`, comes back to its start and follows an
/// arrow.
pub(super) fn has_cycle(graph: &Pdag, partially: bool) -> bool {
    let p = graph.p();
    let (of, count) = if partially { graph.components() } else { ((0..p).collect(), p) };
    let mut members = vec![Vec::new(); count];
    let mut arriving = vec![0usize; count];
    for u in 0..p {
        members[of[u]].push(u);
        arriving[of[u]] += graph.parents(u).count();
    }
    let mut free: Vec<usize> = (0..count).filter(|&c| arriving[c] == 0).collect();
    let mut taken = 0;
    while let Some(c) = free.pop() {
        taken += 1;
        for &u in &members[c] {
            for v in graph.children(u) {
                arriving[of[v]] -= 1;
                if arriving[of[v]] == 0 {
                    free.push(of[v]);
                }
            }
        }
    }
    taken < count
}

fn is_chordal(graph: &Pdag) -> Result<bool> {
    graph::is_chordal(graph.p(), |u| graph.siblings(u), |u, v| graph.joins(u, v), || Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(lists: &[&[u32]]) -> [bool; 2] {
        let graph = Pdag::new(lists).unwrap();
        [is_cpdag(&graph).unwrap(), is_pdag(&graph).unwrap()]
    }

    #[test]
    fn what_is_a_cpdag_and_what_a_pdag() {
        assert_eq!(judged(&[&[1], &[0, 2], &[1]]), [true, true]);
        assert_eq!(judged(&[&[2], &[2], &[]]), [true, true]);
        // Background knowledge, complete and not.
        assert_eq!(judged(&[&[1], &[2], &[]]), [false, true]);
        assert_eq!(judged(&[&[1], &[2], &[1]]), [false, false]);
        // A directed cycle; a cycle of four without a chord.
        assert_eq!(judged(&[&[1], &[2], &[0]]), [false, false]);
        assert_eq!(judged(&[&[1, 3], &[0, 2], &[1, 3], &[0, 2]]), [false, false]);
        // 0 - 1 and 0 -> 2 of a triangle.
        assert_eq!(judged(&[&[1, 2], &[0, 2], &[1]]), [false, true]);
    }
}
