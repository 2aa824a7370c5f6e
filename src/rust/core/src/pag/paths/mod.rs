//! The paths that orientation rules need.
//!
//! By default they are found as pcalg finds them: breadth first, with one list of visited vertices for all paths. Whether a path is
//! uncovered is checked only at its end, so some paths are missed. pcalg keeps a list of all paths that it has begun, which can grow
//! exponentially. Here only those that can make a difference are kept, which gives the same paths. With [`Paths::All`] no path is missed.

mod rings;
mod uncovered;

pub(super) use rings::Rings;
pub(super) use uncovered::{is_clear, is_maybe_directed, uncovered_circles};

use std::collections::VecDeque;

use super::context::{Context, Paths};
use super::{Mark, Pag};
use crate::Result;

/// Returns whether the edge u - v may be u -> v: no arrowhead at u, no tail at v.
#[inline]
pub(super) fn may_go(pag: &Pag, u: usize, v: usize) -> bool {
    matches!(pag.mark(u, v), Mark::Circle | Mark::Arrow) && matches!(pag.mark(v, u), Mark::Circle | Mark::Tail)
}

/// Returns every v with an edge that may be u -> v, ascending.
pub(super) fn maybe_directed(pag: &Pag, u: usize) -> impl Iterator<Item = usize> + '_ {
    let may = |&(_, at_v, at_u): &(usize, Mark, Mark)| at_v != Mark::Tail && at_u != Mark::Arrow;
    pag.edges(u).filter(may).map(|(v, ..)| v)
}

/// Returns every v with u o-o v, ascending.
fn by_circles(pag: &Pag, u: usize) -> impl Iterator<Item = usize> + '_ {
    let open = |&(_, at_v, at_u): &(usize, Mark, Mark)| at_v == Mark::Circle && at_u == Mark::Circle;
    pag.edges(u).filter(open).map(|(v, ..)| v)
}

/// Returns a shortest path (v, ..., a, b, c) that discriminates for b, given a triangle with a -> c and a <-* b. With [`Paths::Pcalg`] it
/// has only v, the vertex after v, b and c, as pcalg drops the others.
pub(super) fn discriminating(pag: &Pag, [a, b, c]: [usize; 3], of: &Context) -> Result<Option<Vec<u32>>> {
    let mut visited = vec![false; pag.p()];
    [a, b, c].iter().for_each(|&v| visited[v] = true);
    // A vertex, and the list index of the vertex before it.
    let mut list: Vec<(usize, usize)> = vec![(a, 0)];
    let mut queue = VecDeque::new();
    let into = |u: usize, visited: &[bool]| -> Vec<usize> {
        pag.edges(u).filter(|&(v, _, at_u)| at_u == Mark::Arrow && !visited[v]).map(|(v, ..)| v).collect()
    };
    for v in into(a, &visited) {
        queue.push_back(list.len());
        list.push((v, 0));
    }
    while let Some(at) = queue.pop_front() {
        of.poll.step()?;
        let (v, before) = list[at];
        if !pag.adjacent(v, c) {
            let mut path = vec![v as u32];
            let mut next = before;
            while next != 0 && of.paths == Paths::All {
                path.push(list[next].0 as u32);
                next = list[next].1;
            }
            path.push(if of.paths == Paths::All { a } else { list[before].0 } as u32);
            path.extend([b as u32, c as u32]);
            return Ok(Some(path));
        }
        let is_collider = pag.mark(list[before].0, v) == Mark::Arrow;
        // One visit is enough: a later visit would have fewer vertices left.
        if is_collider && pag.mark(v, c) == Mark::Arrow && pag.mark(c, v) == Mark::Tail && !visited[v] {
            visited[v] = true;
            for next in into(v, &visited) {
                queue.push_back(list.len());
                list.push((next, at));
            }
        }
    }
    Ok(None)
}
