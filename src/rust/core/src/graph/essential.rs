//! The CPDAG (essential graph) of a DAG: pcalg's `dag2cpdag`.

use super::marks::Marks;
use crate::Result;

/// Turns the DAG `marks` (every edge directed, no cycle) into its CPDAG. An edge stays directed if all DAGs of the Markov equivalence class
/// direct it in this way; otherwise it becomes undirected. The labelling is that of Chickering (1995), figure 5: it visits vertices in
/// topological order, and judges each by its last parent.
pub(crate) fn essential_graph(marks: &mut Marks, mut step: impl FnMut() -> Result<()>) -> Result<()> {
    let order = topological_order(marks);
    let mut rank = vec![0; marks.p()];
    for (at, &u) in order.iter().enumerate() {
        rank[u] = at;
    }
    // By slot u -> v: whether the edge is compelled.
    let mut compelled = vec![false; marks.slot_count()];
    for &y in &order {
        step()?;
        let parents: Vec<usize> =
            marks.slots(y).map(|slot| marks.twin(slot)).filter(|&xy| marks.is_directed(xy)).collect();
        let Some(&last) = parents.iter().max_by_key(|&&xy| rank[marks.tail(xy)]) else {
            continue;
        };
        let x = marks.tail(last);
        // Parents come before their children, so a vertex adjacent to a later one is its parent.
        let forced = marks.slots(x).map(|slot| marks.twin(slot)).filter(|&wx| marks.is_directed(wx) && compelled[wx]);
        let forced: Vec<usize> = forced.map(|wx| marks.tail(wx)).collect();
        let all = forced.iter().any(|&w| !marks.adjacent(w, y))
            || parents.iter().any(|&zy| zy != last && !marks.adjacent(marks.tail(zy), x));
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

/// Returns the vertices, each after its parents. If arrows form a cycle, some vertices are missing.
pub(crate) fn topological_order(marks: &Marks) -> Vec<usize> {
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
    use super::*;
    use crate::graph::Adjacency;

    fn cpdag(edges: &[(usize, usize)], p: usize) -> Vec<bool> {
        let mut skeleton = Adjacency::empty(p);
        edges.iter().for_each(|&(u, v)| skeleton.insert(u, v));
        let mut marks = Marks::undirected(&skeleton);
        edges.iter().for_each(|&(u, v)| marks.direct(marks.find(u, v).unwrap()));
        essential_graph(&mut marks, || Ok(())).unwrap();
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
}
