//! Differences between an estimated graph and the true one.

use super::graph::Graph;
use crate::graph::Marks;

/// Counts of a comparison. In each pair of numbers, the first is for the estimated graph, the second for the true one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Number of adjacent pairs.
    pub edges: [u64; 2],
    /// Number of pairs that are adjacent in both graphs.
    pub common: u64,
    /// Number of arrowheads: ends of an edge that an arrow points to. An edge in conflict has two (Ramsey and others, Tetrad's
    /// `ArrowConfusion`).
    pub heads: [u64; 2],
    /// Number of arrowheads on pairs that are adjacent in both graphs.
    pub heads_on_common: [u64; 2],
    /// Number of arrowheads that both graphs have.
    pub common_heads: u64,
    /// Number of pairs with opposite directions in the two graphs.
    pub reversed: u64,
    /// Number of pairs whose edge is in only one graph or differs in direction; an edge in conflict counts as undirected. This is the
    /// structural Hamming distance (Tsamardinos, Brown and Aliferis 2006), as pcalg's `shd()`.
    pub distance: u64,
}

/// Returns whether an arrow points to each of the two ends u, v of a slot u -> v.
fn heads(marks: &Marks, slot: usize) -> [bool; 2] {
    let conflict = marks.mark(slot) == 2;
    [conflict || marks.is_reversed(slot), conflict || marks.is_directed(slot)]
}

fn count(heads: [bool; 2]) -> u64 {
    heads.into_iter().map(u64::from).sum()
}

/// Compares two graphs on the same vertices.
pub fn compare(estimated: &Graph, truth: &Graph) -> Comparison {
    let graphs = [&estimated.0, &truth.0];
    let mut found = Comparison::default();
    for (graph, (edges, all)) in graphs.into_iter().zip(found.edges.iter_mut().zip(&mut found.heads)) {
        *edges = graph.slot_count() as u64 / 2;
        // Each head is seen from both ends of its edge.
        *all = (0..graph.slot_count()).map(|slot| count(heads(graph, slot))).sum::<u64>() / 2;
    }
    for u in 0..estimated.p().min(truth.p()) {
        for slot in estimated.0.slots(u).filter(|&slot| estimated.0.head(slot) > u) {
            let Some(other) = truth.0.find(u, estimated.0.head(slot)) else { continue };
            let [here, there] = [heads(&estimated.0, slot), heads(&truth.0, other)];
            found.common += 1;
            found.heads_on_common[0] += count(here);
            found.heads_on_common[1] += count(there);
            found.common_heads += count([here[0] && there[0], here[1] && there[1]]);
            let direction = |heads: [bool; 2]| if heads[0] == heads[1] { [false; 2] } else { heads };
            let [here, there] = [direction(here), direction(there)];
            found.distance += u64::from(here != there);
            found.reversed += u64::from(here != there && here[0] == there[1] && here[1] == there[0]);
        }
    }
    found.distance += found.edges[0] + found.edges[1] - 2 * found.common;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sort_of_difference_is_counted() {
        let of = |lists: &[&[u32]], conflicts: &[[u32; 2]]| Graph::from_lists("fit", lists, conflicts).unwrap();
        // True: 0 -> 1, 1 -> 2, 2 - 3, 3 -> 4, 0 -> 4. Estimated: 0 -> 1, 2 -> 1, 2 -> 3, 3 <-> 4, 1 - 4.
        let truth = of(&[&[1, 4], &[2], &[3], &[2, 4], &[]], &[]);
        let estimated = of(&[&[1], &[4], &[1, 3], &[4], &[1, 3]], &[[3, 4]]);
        let found = compare(&estimated, &truth);
        assert_eq!((found.edges, found.common), ([5, 5], 4));
        // Heads: at 1, 1, 3, 3, 4; true: at 1, 2, 4, 4.
        assert_eq!((found.heads, found.heads_on_common, found.common_heads), ([5, 4], [5, 3], 2));
        assert_eq!((found.reversed, found.distance), (1, 5));
        let same = compare(&truth, &truth);
        assert_eq!((same.distance, same.common_heads, same.reversed), (0, 4, 0));
    }
}
