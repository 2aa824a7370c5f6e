//! All DAGs that a partially directed graph stands for: no cycle, and no v-structure that the graph lacks.

use std::collections::HashMap;

use crate::graph::{has_cycle, Closure, Marks};
use crate::{Error, Result};

/// Largest number of DAGs.
const MOST: usize = 100_000;

/// Advice if there are too many DAGs.
pub(super) const OTHER_METHOD: &str = "give method = \"local\" or \"optimal\", which do not list the DAGs";

/// Advice if there are too many DAGs for joint interventions.
pub(super) const OTHER_TYPE: &str = "give type = \"pdag\", which lists each joint set of parents once";

fn too_many(hint: &str) -> Error {
    Error::Argument {
        argument: "fit",
        value: format!("a graph that represents more than {MOST} DAGs"),
        hint: hint.into(),
    }
}

/// Calls `visit` with each DAG. Only the undirected edges of the vertices in `at` are directed. `hint`: advice if there are too many DAGs.
///
/// In a maximally oriented PDAG every undirected edge can go either way (Meek 1995). In other graphs some tries fail, and each result is
/// checked by the definition.
pub(super) fn each(closure: &mut Closure, at: &[usize], visit: &mut dyn FnMut(&Marks), hint: &str) -> Result<()> {
    let was = closure.graph.clone();
    let mut left = MOST;
    let mut count = |dag: &Marks| {
        left = left.checked_sub(1).ok_or_else(|| too_many(hint))?;
        visit(dag);
        Ok(())
    };
    branch(closure, &was, at, &mut count)
}

fn branch(closure: &mut Closure, was: &Marks, at: &[usize], visit: &mut dyn FnMut(&Marks) -> Result<()>) -> Result<()> {
    let graph = &closure.graph;
    // Vertices before that of the first undirected edge have none left.
    let next = at
        .iter()
        .enumerate()
        .find_map(|(place, &u)| graph.slots(u).find(|&slot| graph.is_undirected(slot)).map(|slot| (place, slot)));
    let Some((place, slot)) = next else {
        if extends(graph, was) {
            visit(graph)?;
        }
        return Ok(());
    };
    for slot in [slot, closure.graph.twin(slot)] {
        let mark = closure.mark();
        closure.orient(slot);
        branch(closure, was, &at[place..], visit)?;
        closure.back(mark);
    }
    Ok(())
}

/// Returns whether the graph has no directed cycle, and no v-structure with an edge that was undirected in `was`.
fn extends(graph: &Marks, was: &Marks) -> bool {
    let is_new = |slot: usize| graph.is_reversed(slot) && was.is_undirected(slot);
    let collides = |b: usize| {
        let apart = |a: usize| graph.parents(b).any(|c| c != a && !graph.adjacent(a, c));
        graph.slots(b).any(|slot| is_new(slot) && apart(graph.head(slot)))
    };
    !(0..graph.p()).any(collides) && !has_cycle(graph, false)
}

/// Sets, each with the number of DAGs that have it.
type Counted = Vec<(Vec<u32>, usize)>;

/// Returns for each vertex its sets of parents in all DAGs, each with its number of DAGs.
pub(super) fn parent_sets(graph: &Marks, valid: bool) -> Result<Vec<Counted>> {
    let p = graph.p();
    let (of, count) = graph.components();
    let mut members = vec![Vec::new(); if valid { count } else { 1 }];
    // The undirected components of a valid graph are directed independently.
    (0..p).for_each(|u| members[if valid { of[u] } else { 0 }].push(u));
    let mut closure = Closure::new(graph.clone());
    let mut sets = vec![HashMap::<Vec<u32>, usize>::new(); p];
    let mut dags = Vec::with_capacity(members.len());
    for at in &members {
        let mut here = 0;
        let lone = at.len() == 1;
        let mut note = |dag: &Marks| {
            here += 1;
            for &u in at {
                *sets[u].entry(dag.parents(u).map(|v| v as u32).collect()).or_default() += 1;
            }
        };
        if lone {
            note(graph);
        } else {
            each(&mut closure, at, &mut note, OTHER_METHOD)?;
        }
        dags.push(here);
    }
    let all = dags.iter().try_fold(1usize, |all, &here| all.checked_mul(here).filter(|&all| all <= MOST));
    let all = all.ok_or_else(|| too_many(OTHER_METHOD))?;
    if all == 0 {
        return Err(Error::Argument {
            argument: "fit",
            value: "a graph that cannot be extended to a DAG".into(),
            hint: "give a valid CPDAG, or method = \"local\"".into(),
        });
    }
    let times = |u: usize| all / dags[if valid { of[u] } else { 0 }];
    let listed = |(u, sets): (usize, HashMap<Vec<u32>, usize>)| {
        let mut sets: Vec<_> = sets.into_iter().map(|(set, count)| (set, count * times(u))).collect();
        sets.sort_unstable_by(|a, b| (a.0.len(), &a.0).cmp(&(b.0.len(), &b.0)));
        sets
    };
    Ok(sets.into_iter().enumerate().map(listed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(lists: &[&[u32]], valid: bool) -> Vec<Vec<(Vec<u32>, usize)>> {
        parent_sets(&Marks::from_lists("fit", lists).unwrap(), valid).unwrap()
    }

    #[test]
    fn dags_of_small_graphs() {
        // A path with three vertices: three DAGs.
        let path: [&[u32]; 3] = [&[1], &[0, 2], &[1]];
        assert_eq!(counted(&path, true)[0], [(vec![], 1), (vec![1], 2)]);
        assert_eq!(counted(&path, true), counted(&path, false));
        // With a further undirected edge: six DAGs.
        let more: [&[u32]; 5] = [&[1], &[0, 2], &[1], &[4], &[3]];
        assert_eq!(counted(&more, true)[1], [(vec![], 2), (vec![0], 2), (vec![2], 2)]);
        assert_eq!(counted(&more, true), counted(&more, false));
    }

    #[test]
    fn a_graph_that_nothing_extends_is_refused() {
        let square: [&[u32]; 4] = [&[1, 3], &[0, 2], &[1, 3], &[0, 2]];
        let found = parent_sets(&Marks::from_lists("fit", &square).unwrap(), false);
        assert!(matches!(found, Err(Error::Argument { argument: "fit", .. })));
    }

    #[test]
    fn too_many_dags_are_refused() {
        let lists: Vec<Vec<u32>> = (0..40u32).map(|i| vec![i ^ 1]).collect();
        assert!(parent_sets(&Marks::from_lists("fit", &lists).unwrap(), true).is_err());
    }
}
