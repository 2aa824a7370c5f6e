//! The test whether a graph is chordal.

use crate::Result;

/// Returns whether every cycle of four or more vertices has a chord, by maximum cardinality search (Tarjan and Yannakakis 1984).
///
/// `around(u)` returns the neighbours of u, and `adjacent(u, v)` whether v is one of them. `step` is called twice for each vertex, and may
/// end the test.
pub(crate) fn is_chordal<I: Iterator<Item = usize>>(
    p: usize,
    around: impl Fn(usize) -> I,
    adjacent: impl Fn(usize, usize) -> bool,
    mut step: impl FnMut() -> Result<()>,
) -> Result<bool> {
    let mut weight = vec![0usize; p];
    let mut place = vec![usize::MAX; p];
    // Vertices by their number of neighbours in the order so far. Stale entries are skipped.
    let mut by_weight: Vec<Vec<usize>> = vec![(0..p).rev().collect()];
    let mut order = Vec::with_capacity(p);
    while let Some(last) = by_weight.last_mut() {
        let Some(u) = last.pop() else {
            by_weight.pop();
            continue;
        };
        if place[u] != usize::MAX || weight[u] + 1 != by_weight.len() {
            continue;
        }
        step()?;
        place[u] = order.len();
        order.push(u);
        for v in around(u).filter(|&v| place[v] == usize::MAX) {
            weight[v] += 1;
            if by_weight.len() <= weight[v] {
                by_weight.push(Vec::new());
            }
            by_weight[weight[v]].push(v);
        }
    }
    // Every vertex's earlier neighbours must be a clique. It is enough to test that all but the last are neighbours of the last.
    for &u in &order {
        step()?;
        let earlier = || around(u).filter(|&v| place[v] < place[u]);
        let Some(last) = earlier().max_by_key(|&v| place[v]) else { continue };
        if !earlier().all(|v| v == last || adjacent(v, last)) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(p: usize, edges: &[(usize, usize)]) -> bool {
        let joined = |u: usize, v: usize| edges.contains(&(u, v)) || edges.contains(&(v, u));
        is_chordal(p, |u| (0..p).filter(move |&v| joined(u, v)), joined, || Ok(())).unwrap()
    }

    #[test]
    fn a_cycle_needs_a_chord() {
        assert!(of(0, &[]) && of(3, &[(0, 1), (1, 2), (0, 2)]) && of(5, &[(0, 1), (1, 2), (1, 3), (3, 4)]));
        assert!(!of(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]));
        assert!(of(4, &[(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]));
        assert!(!of(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (0, 2)]));
    }
}
