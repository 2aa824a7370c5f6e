//! The sets that may be the parents of one or several vertices.
//!
//! In a CPDAG, the local criterion of Maathuis, Kalisch and Buehlmann (2009) decides. With S oriented into x and the rest of x's undirected
//! edges out of it, no new v-structure may contain x or one of these edges. In a PDAG with background knowledge, Meek's rules decide, as in
//! Perkovic, Kalisch and Maathuis (2017).

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::graph::{Closure, Marks};
use crate::{Error, Result};

/// Largest number of sets for one vertex.
const MOST: usize = 1 << 20;

/// Largest number of sets for all vertices together: each takes memory, and a regression.
const MOST_OF_ALL: usize = 1 << 22;

/// Number of sets that all threads have found.
#[derive(Debug, Default)]
pub(super) struct Budget(AtomicUsize);

impl Budget {
    /// Counts further sets.
    ///
    /// # Errors
    /// [`Error::Argument`] if there are too many, together with earlier ones.
    pub fn count(&self, sets: usize) -> Result<()> {
        if self.0.fetch_add(sets, Ordering::Relaxed) + sets <= MOST_OF_ALL {
            return Ok(());
        }
        Err(Error::Argument {
            argument: "fit",
            value: format!(
                "a graph in which the variables of `x` have more than {MOST_OF_ALL} sets of parents in total"
            ),
            hint: "give fewer variables as `x`".into(),
        })
    }
}

fn too_many(x: usize) -> Error {
    Error::Argument {
        argument: "fit",
        value: format!("a graph in which variable {} has more than {MOST} sets of parents", x + 1),
        hint: "leave this variable out of `x`".into(),
    }
}

/// Returns the sets for x by the local criterion, in pcalg's order. Each begins with the sure parents; the sets ascend by size, then
/// lexicographically in the other members. `without` is taken not to be a neighbour of x.
pub(super) fn local(graph: &Marks, x: usize, without: Option<usize>) -> Result<Vec<Vec<u32>>> {
    let sure: Vec<usize> = graph.parents(x).filter(|&v| Some(v) != without).collect();
    let siblings: Vec<usize> = graph.siblings(x).filter(|&v| Some(v) != without).collect();
    // What points into x must be adjacent to all sure parents. A sibling with a parent that is not adjacent to x must point into x.
    let may_enter: Vec<bool> = siblings.iter().map(|&s| sure.iter().all(|&parent| graph.adjacent(parent, s))).collect();
    let must_enter: Vec<bool> = siblings
        .iter()
        .map(|&s| graph.parents(s).any(|grandparent| grandparent != x && !graph.adjacent(x, grandparent)))
        .collect();
    let mut found = Vec::new();
    let mut chosen = Vec::new();
    cliques(graph, &siblings, &may_enter, &must_enter, &mut chosen, 0, &mut found).map_err(|()| too_many(x))?;
    Ok(in_order(&sure, &siblings, found))
}

/// Adds to `found` each clique of `may_enter` that begins with `chosen` and contains all of `must_enter`, as indices in `siblings`.
fn cliques(
    graph: &Marks,
    siblings: &[usize],
    may_enter: &[bool],
    must_enter: &[bool],
    chosen: &mut Vec<usize>,
    from: usize,
    found: &mut Vec<Vec<usize>>,
) -> std::result::Result<(), ()> {
    if !must_enter[from..].iter().any(|&must| must) {
        if found.len() == MOST {
            return Err(());
        }
        found.push(chosen.clone());
    }
    for next in from..siblings.len() {
        if may_enter[next] && chosen.iter().all(|&at| graph.adjacent(siblings[at], siblings[next])) {
            chosen.push(next);
            cliques(graph, siblings, may_enter, must_enter, chosen, next + 1, found)?;
            chosen.pop();
        }
        if must_enter[next] {
            break;
        }
    }
    Ok(())
}

fn in_order(sure: &[usize], siblings: &[usize], mut found: Vec<Vec<usize>>) -> Vec<Vec<u32>> {
    found.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    let of = |set: Vec<usize>| {
        sure.iter().copied().chain(set.into_iter().map(|at| siblings[at])).map(|v| v as u32).collect()
    };
    found.into_iter().map(of).collect()
}

/// A way to direct all undirected edges at `xs`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Orientation {
    /// The slots of the edges, in their new direction.
    pub slots: Vec<usize>,
    /// Indices of the edges that point into `xs`; the edges are in the order of `xs`, then of the neighbour.
    into: Vec<usize>,
}

/// Returns all ways to direct the undirected edges at `xs` that a valid maximally oriented PDAG allows. They are in pcalg's order: by the
/// number of edges into `xs`, then by which edges. If there are no such edges, returns one way without slots. The edges of `without` are
/// not directed.
///
/// Each such edge may go either way until Meek's rules direct it (Meek 1995), so no try fails.
pub(super) fn orientations(closure: &mut Closure, xs: &[usize], without: Option<usize>) -> Result<Vec<Orientation>> {
    let mut edges = Vec::new();
    for &x in xs {
        let slots = closure.graph.slots(x).filter(|&slot| closure.graph.is_undirected(slot));
        edges.extend(slots.filter(|&slot| Some(closure.graph.head(slot)) != without));
    }
    let mut found = Vec::new();
    let mut now = Orientation { slots: Vec::new(), into: Vec::new() };
    directed(closure, &edges, 0, &mut now, &mut found).map_err(|()| too_many(xs[0]))?;
    found.sort_unstable_by(|a, b| (a.into.len(), &a.into).cmp(&(b.into.len(), &b.into)));
    Ok(found)
}

fn directed(
    closure: &mut Closure,
    edges: &[usize],
    at: usize,
    now: &mut Orientation,
    found: &mut Vec<Orientation>,
) -> std::result::Result<(), ()> {
    let Some(&out) = edges.get(at) else {
        if found.len() == MOST {
            return Err(());
        }
        found.push(now.clone());
        return Ok(());
    };
    let into = closure.graph.twin(out);
    for (slot, enters) in [(out, false), (into, true)] {
        let mark = closure.mark();
        if closure.orient(slot) {
            now.slots.push(slot);
            if enters {
                now.into.push(at);
            }
            directed(closure, edges, at + 1, now, found)?;
            if enters {
                now.into.pop();
            }
            now.slots.pop();
        }
        closure.back(mark);
    }
    Ok(())
}

/// Returns the parents of x, one of `xs`, under an orientation: the sure ones, then the others.
pub(super) fn parents_with(graph: &Marks, x: usize, orientation: &Orientation) -> Vec<u32> {
    let into = orientation.into.iter().map(|&at| orientation.slots[at]).filter(|&slot| graph.head(slot) == x);
    graph.parents(x).chain(into.map(|slot| graph.tail(slot))).map(|v| v as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::{Asked, Kind, Method, Plan};
    use crate::pool::Pool;

    #[test]
    fn local_sets_of_a_fork_and_a_triangle() {
        // 0 - 1, 0 - 2 with 1 and 2 not adjacent: both into 0 would be a new v-structure.
        let fork = Marks::from_lists("fit", &[&[1, 2][..], &[0], &[0]]).unwrap();
        assert_eq!(local(&fork, 0, None).unwrap(), [vec![], vec![1], vec![2]]);
        assert_eq!(local(&fork, 0, Some(1)).unwrap(), [vec![], vec![2]]);
        let triangle = Marks::from_lists("fit", &[&[1, 2][..], &[0, 2], &[0, 1]]).unwrap();
        assert_eq!(local(&triangle, 0, None).unwrap(), [vec![], vec![1], vec![2], vec![1, 2]]);
        // 2 -> 1 - 0, 2 and 0 not adjacent: 0 -> 1 would be a new v-structure.
        let flag = Marks::from_lists("fit", &[&[1][..], &[0], &[1]]).unwrap();
        assert_eq!(local(&flag, 0, None).unwrap(), [vec![1]]);
        assert_eq!(local(&flag, 1, None).unwrap(), [vec![2]]);
        // 3 -> 0 - 1 and also 2 -> 1: nothing is allowed at 0.
        let both = Marks::from_lists("fit", &[&[1][..], &[0], &[1], &[0]]).unwrap();
        assert!(local(&both, 0, None).unwrap().is_empty());
    }

    #[test]
    fn orientations_agree_with_the_local_criterion_on_a_cpdag() {
        let lists: [&[u32]; 5] = [&[1, 2], &[0, 2, 3], &[0, 1, 3], &[1, 2, 4], &[3]];
        let graph = Marks::from_lists("fit", &lists).unwrap();
        let mut closure = Closure::new(graph.clone());
        for x in 0..5 {
            let ways = orientations(&mut closure, &[x], None).unwrap();
            let sets: Vec<_> = ways.iter().map(|way| parents_with(&graph, x, way)).collect();
            assert_eq!(sets, local(&graph, x, None).unwrap(), "{x}");
        }
    }

    #[test]
    fn too_many_sets_are_refused() {
        let complete = |p: u32| -> Vec<Vec<u32>> { (0..p).map(|i| (0..p).filter(|&j| j != i).collect()).collect() };
        let graph = Marks::from_lists("fit", &complete(23)).unwrap();
        assert!(matches!(local(&graph, 0, None), Err(Error::Argument { argument: "fit", .. })));
        // Half a million sets for each variable: some of them may be asked for, but not all.
        let asked = |x: std::ops::Range<u32>| Asked {
            method: Method::Local,
            kind: Kind::Cpdag,
            x: x.collect(),
            y: vec![0],
            y_not_parent: false,
        };
        let plan = |x| Plan::new(&complete(20), asked(x), &Pool::new(2), &mut crate::observer::Unobserved);
        assert_eq!(plan(0..2).unwrap().columns().sum::<usize>(), 1 << 20);
        assert!(matches!(plan(0..20), Err(Error::Argument { argument: "fit", .. })));
    }
}
