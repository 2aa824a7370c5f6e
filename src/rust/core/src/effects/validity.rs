//! Whether a graph with background knowledge is a valid PDAG, as in pcalg's `isValidGraph()`.

use crate::graph::{components_are_chordal, has_cycle, Closure, Marks};
use crate::Result;

/// Returns whether the graph is a maximally oriented PDAG. It must have the arrows of the CPDAG of its v-structures, and that CPDAG must be
/// valid. Further arrows must make no directed cycle, and Meek's rules must add nothing.
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

/// Returns the skeleton with the graph's v-structures and the arrows that follow from them.
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
        // Background knowledge, closed under Meek's rules and not.
        assert_eq!(judged(&[&[1], &[2], &[]]), [false, true]);
        assert_eq!(judged(&[&[1], &[2], &[1]]), [false, false]);
        // A directed cycle; a cycle of four vertices without a chord.
        assert_eq!(judged(&[&[1], &[2], &[0]]), [false, false]);
        assert_eq!(judged(&[&[1, 3], &[0, 2], &[1, 3], &[0, 2]]), [false, false]);
        // The triangle 0 - 1, 0 -> 2, 1 - 2.
        assert_eq!(judged(&[&[1, 2], &[0, 2], &[1]]), [false, true]);
    }
}
