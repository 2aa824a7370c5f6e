//! Whether a graph with background knowledge is a PDAG, as pcalg's `isValidGraph()` judges.

use crate::graph::{components_are_chordal, has_cycle, Closure, Marks};
use crate::Result;

/// Whether the graph is a maximally oriented PDAG: it has the arrows of the CPDAG of its v-structures and perhaps more, none of
/// which makes a directed cycle, and Meek's rules add nothing; and that CPDAG is one.
pub(super) fn is_pdag(graph: &Marks) -> Result<bool> {
    if !is_maximal(graph) || has_cycle(graph, false) {
        return Ok(false);
    }
    let cpdag = corresponding_cpdag(graph);
    let kept = (0..graph.slot_count()).all(|slot| !cpdag.is_directed(slot) || graph.is_directed(slot));
    Ok(kept && components_are_chordal(&cpdag, || Ok(()))?)
}

fn is_maximal(graph: &Marks) -> bool {
    !Closure::new(graph.clone()).complete()
}

/// The skeleton with the graph's v-structures, and what follows.
fn corresponding_cpdag(graph: &Marks) -> Marks {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::is_cpdag;

    fn judged(lists: &[&[u32]]) -> [bool; 2] {
        let graph = Marks::from_lists("fit", lists).unwrap();
        [is_cpdag(&graph, || Ok(())).unwrap(), is_pdag(&graph).unwrap()]
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
