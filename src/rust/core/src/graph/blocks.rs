//! Blocks: the biconnected components of a graph.

/// Calls `found` with the edges of each block of a graph on `p` vertices, including bridges (Hopcroft and Tarjan 1973, without recursion).
/// `near` returns the neighbours of a vertex.
pub(crate) fn each_block<'a>(p: usize, near: impl Fn(usize) -> &'a [usize], mut found: impl FnMut(&[(usize, usize)])) {
    const NEW: usize = usize::MAX;
    let (mut order, mut low) = (vec![NEW; p], vec![NEW; p]);
    let mut count = 0;
    // `way`: the vertices on the path from the root, with parent and next neighbour. `open`: the edges that have no block yet.
    let mut way: Vec<(usize, usize, usize)> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for root in 0..p {
        if order[root] != NEW {
            continue;
        }
        (order[root], low[root]) = (count, count);
        count += 1;
        way.push((root, NEW, 0));
        while let Some(&mut (u, parent, ref mut next)) = way.last_mut() {
            if let Some(&v) = near(u).get(*next) {
                *next += 1;
                if v == parent || (order[v] != NEW && order[v] > order[u]) {
                    continue;
                }
                open.push((u, v));
                if order[v] == NEW {
                    (order[v], low[v]) = (count, count);
                    count += 1;
                    way.push((v, u, 0));
                } else {
                    low[u] = low[u].min(order[v]);
                }
                continue;
            }
            way.pop();
            if parent == NEW {
                continue;
            }
            low[parent] = low[parent].min(low[u]);
            if low[u] >= order[parent] {
                let from = open.iter().rposition(|&edge| edge == (parent, u)).unwrap_or(0);
                found(&open[from..]);
                open.truncate(from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_and_bridges_are_blocks() {
        // A triangle 0 1 2, a bridge 2 - 3, a ring 3 4 5 6, and a pair 7 - 8.
        let edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (3, 6), (7, 8)];
        let mut near = vec![Vec::new(); 10];
        for (u, v) in edges {
            near[u].push(v);
            near[v].push(u);
        }
        let mut blocks: Vec<Vec<(usize, usize)>> = Vec::new();
        each_block(
            10,
            |u| near[u].as_slice(),
            |block| {
                let mut block: Vec<_> = block.iter().map(|&(u, v)| (u.min(v), u.max(v))).collect();
                block.sort_unstable();
                blocks.push(block);
            },
        );
        blocks.sort();
        assert_eq!(
            blocks,
            [vec![(0, 1), (0, 2), (1, 2)], vec![(2, 3)], vec![(3, 4), (3, 6), (4, 5), (5, 6)], vec![(7, 8)]]
        );
    }
}
