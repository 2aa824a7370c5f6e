//! Arrows that are part of a directed cycle.

use super::Marks;

const UNSEEN: usize = usize::MAX;

/// Returns the slots of arrows u -> v that lie on a cycle of arrows: those within a strongly connected component (Tarjan 1972).
pub(crate) fn arrows_on_cycles(marks: &Marks) -> Vec<usize> {
    let p = marks.p();
    let mut number = vec![UNSEEN; p];
    let mut lowest = vec![0; p];
    let mut component = vec![UNSEEN; p];
    let mut waiting = Vec::new();
    let mut next = 0;
    // A vertex, and the slot at which the walk continues.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..p {
        if number[root] != UNSEEN {
            continue;
        }
        path.push((root, marks.slots(root).start));
        while let Some(top) = path.last_mut() {
            let (u, slot) = *top;
            if number[u] == UNSEEN {
                (number[u], lowest[u]) = (next, next);
                next += 1;
                waiting.push(u);
            }
            if let Some(slot) = (slot..marks.slots(u).end).find(|&slot| marks.is_directed(slot)) {
                top.1 = slot + 1;
                let v = marks.head(slot);
                if number[v] == UNSEEN {
                    path.push((v, marks.slots(v).start));
                } else if component[v] == UNSEEN {
                    lowest[u] = lowest[u].min(number[v]);
                }
                continue;
            }
            path.pop();
            if let Some(&(before, _)) = path.last() {
                lowest[before] = lowest[before].min(lowest[u]);
            }
            if lowest[u] == number[u] {
                while let Some(v) = waiting.pop() {
                    component[v] = u;
                    if v == u {
                        break;
                    }
                }
            }
        }
    }
    let within =
        |slot: &usize| marks.is_directed(*slot) && component[marks.tail(*slot)] == component[marks.head(*slot)];
    (0..marks.slot_count()).filter(within).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::has_cycle;

    #[test]
    fn an_arrow_on_a_cycle_has_a_way_back() {
        let mut seen = 0;
        let mut state = 7u64;
        for _ in 0..300 {
            let p = 8;
            let mut lists = vec![Vec::new(); p];
            for u in 0..p {
                for v in 0..u {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    match (state >> 33) % 9 {
                        0 => lists[u].push(v as u32),
                        1 | 2 => lists[v].push(u as u32),
                        3 => {
                            lists[u].push(v as u32);
                            lists[v].push(u as u32);
                        }
                        _ => {}
                    }
                }
            }
            lists.iter_mut().for_each(|list| list.sort_unstable());
            let marks = Marks::from_lists("fit", &lists).unwrap();
            let reaches = |from: usize, to: usize| {
                let (mut known, mut front) = (vec![false; p], vec![from]);
                while let Some(u) = front.pop() {
                    if !std::mem::replace(&mut known[u], true) {
                        front.extend(marks.children(u));
                    }
                }
                known[to]
            };
            let wanted: Vec<usize> = (0..marks.slot_count())
                .filter(|&slot| marks.is_directed(slot) && reaches(marks.head(slot), marks.tail(slot)))
                .collect();
            assert_eq!(arrows_on_cycles(&marks), wanted);
            assert_eq!(wanted.is_empty(), !has_cycle(&marks, false));
            seen += wanted.len();
        }
        assert!(seen > 200, "{seen}");
    }
}
