//! The test whether a partially directed graph is a CPDAG: the essential graph of some DAG.

use super::chordal::is_chordal;
use super::marks::Marks;
use crate::Result;

/// Returns whether the graph is the CPDAG of a DAG (Andersson, Madigan and Perlman 1997, theorem 4.1). It must satisfy four conditions. It
/// is a chain graph: no cycle of directed and undirected edges follows an arrow. Its undirected components are chordal. No a -> b - c has a
/// and c apart. Every arrow is strongly protected.
pub(crate) fn is_cpdag(marks: &Marks, mut step: impl FnMut() -> Result<()>) -> Result<bool> {
    if (0..marks.slot_count()).any(|slot| marks.mark(slot) == 2) {
        return Ok(false);
    }
    Ok(parents_are_shared(marks)
        && !has_cycle(marks, true)
        && components_are_chordal(marks, &mut step)?
        && is_protected(marks, step)?)
}

/// Returns whether no a -> b - c has a and c apart. In a graph without cycles, the vertices of a component then have the same parents, and
/// none of these is in the component itself.
fn parents_are_shared(marks: &Marks) -> bool {
    let (component, count) = marks.components();
    let mut first = vec![usize::MAX; count];
    (0..marks.p()).all(|u| {
        let own = component[u];
        if first[own] == usize::MAX {
            first[own] = u;
        }
        marks.parents(u).all(|a| component[a] != own)
            && (first[own] == u || marks.parents(u).eq(marks.parents(first[own])))
    })
}

/// Returns whether some path returns to its start and follows at least one arrow. It may follow arrows, and with `partially` also
/// undirected edges.
pub(crate) fn has_cycle(graph: &Marks, partially: bool) -> bool {
    let p = graph.p();
    let (of, count) = if partially { graph.components() } else { ((0..p).collect(), p) };
    let mut arriving = vec![0usize; count];
    // The first vertex of each component, and the next vertex after each one.
    let (mut first, mut next) = (vec![p; count], vec![p; p]);
    for u in (0..p).rev() {
        next[u] = std::mem::replace(&mut first[of[u]], u);
        arriving[of[u]] += graph.parents(u).count();
    }
    let mut free: Vec<usize> = (0..count).filter(|&c| arriving[c] == 0).collect();
    let mut taken = 0;
    while let Some(c) = free.pop() {
        taken += 1;
        for u in std::iter::successors(Some(first[c]), |&u| next.get(u).copied()).take_while(|&u| u < p) {
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

/// Returns whether the undirected edges form chordal graphs.
pub(crate) fn components_are_chordal(marks: &Marks, step: impl FnMut() -> Result<()>) -> Result<bool> {
    is_chordal(marks.p(), |u| marks.siblings(u), |u, v| marks.joins(u, v), step)
}

/// Returns whether every arrow a -> b is strongly protected. For this the graph must have, for some c, one of these: c -> a with c and b
/// apart; c -> b with c and a apart; a -> c -> b; or a - c1 -> b and a - c2 -> b with c1 and c2 apart.
fn is_protected(marks: &Marks, mut step: impl FnMut() -> Result<()>) -> Result<bool> {
    for b in 0..marks.p() {
        for ba in marks.slots(b).filter(|&slot| marks.is_reversed(slot)) {
            step()?;
            let a = marks.head(ba);
            let points_to_b = |c: usize| marks.points(c, b);
            let protected = marks.parents(b).any(|c| c != a && !marks.adjacent(c, a))
                || marks.parents(a).any(|c| !marks.adjacent(c, b))
                || marks.children(a).any(points_to_b);
            if protected {
                continue;
            }
            let beside: Vec<usize> = marks.siblings(a).filter(|&c| points_to_b(c)).collect();
            let apart = |(i, &c1): (usize, &usize)| beside[i + 1..].iter().any(|&c2| !marks.adjacent(c1, c2));
            if !beside.iter().enumerate().any(apart) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
