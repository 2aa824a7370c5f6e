//! Adjustment by the optimal set: parents of the vertices on the ways from x to y (Henckel, Perkovic and Maathuis 2022; Witte, Henckel,
//! Maathuis and Didelez 2020), in a graph whose edges at x are all directed.
//!
//! With forb the possible descendants of the vertices on possibly causal paths from x to y, the set is the parents of those vertices
//! less forb and x. Where forb holds one of the xs no adjustment is valid.

use std::collections::HashMap;

use ndarray::ArrayView2;

use super::regression;
use crate::graph::Marks;

/// Vertices that possibly directed paths of definite status from `from` reach, `from` first, or where it can be reached from if not
/// `forward`; none of `avoid` but `from` itself. As pcalg's `possDe()` and `possAn()`: a vertex is reached once, by the first such path,
/// and goes on from there where the next vertex is not adjacent to the one before, or the edge is directed.
fn reached(graph: &Marks, from: usize, avoid: &[u32], forward: bool) -> Vec<u32> {
    let mut queue = vec![from as u32];
    let mut before = vec![from];
    let mut seen = std::collections::HashSet::from([from]);
    let mut at = 0;
    while at < queue.len() {
        let (t, previous) = (queue[at] as usize, before[at]);
        at += 1;
        for slot in graph.slots(t) {
            let j = graph.head(slot);
            let along = if forward { slot } else { graph.twin(slot) };
            let goes_on = graph.is_open(along)
                && (graph.is_directed(along) || previous == t || !graph.adjacent(j, previous))
                && !avoid.contains(&(j as u32));
            if goes_on && seen.insert(j) {
                queue.push(j as u32);
                before.push(t);
            }
        }
    }
    queue
}

/// What is found of x, or the xs, in one graph.
pub(super) struct Adjustment<'a> {
    graph: &'a Marks,
    xs: &'a [u32],
    /// Whether a vertex may be a descendant.
    descends: Vec<bool>,
    /// Possible descendants of vertices, as they are asked for.
    descendants: HashMap<usize, Vec<u32>>,
    forbidden: Vec<bool>,
}

/// What adjusts for the effect of the xs on a y.
#[derive(Debug, PartialEq)]
pub(super) enum Set {
    /// No path leads there: the effects are 0.
    NoEffect,
    /// No set is valid.
    None,
    /// These.
    Of(Vec<u32>),
}

impl<'a> Adjustment<'a> {
    pub fn new(graph: &'a Marks, xs: &'a [u32]) -> Self {
        let mut descends = vec![false; graph.p()];
        for &x in xs {
            reached(graph, x as usize, &[], true).into_iter().for_each(|v| descends[v as usize] = true);
        }
        Adjustment { graph, xs, descends, descendants: HashMap::new(), forbidden: vec![false; graph.p()] }
    }

    /// The optimal set for y.
    pub fn set(&mut self, y: usize) -> Set {
        if !self.descends[y] {
            return Set::NoEffect;
        }
        let graph = self.graph;
        let mut between = reached(graph, y, self.xs, false);
        between.retain(|&v| self.descends[v as usize]);
        between.sort_unstable();
        let mut marked = Vec::new();
        for &v in &between {
            let after = self.descendants.entry(v as usize).or_insert_with(|| reached(graph, v as usize, &[], true));
            for &w in after.iter() {
                if !std::mem::replace(&mut self.forbidden[w as usize], true) {
                    marked.push(w);
                }
            }
        }
        let set = if self.xs.iter().any(|&x| self.forbidden[x as usize]) {
            Set::None
        } else {
            let mut set: Vec<u32> = Vec::new();
            for &v in &between {
                for parent in graph.parents(v as usize).filter(|&u| !self.forbidden[u]).map(|u| u as u32) {
                    if !self.xs.contains(&parent) && !set.contains(&parent) {
                        set.push(parent);
                    }
                }
            }
            Set::Of(set)
        };
        marked.into_iter().for_each(|w| self.forbidden[w as usize] = false);
        set
    }

    /// The effects of the xs on y, into `effects`.
    pub fn effects(&mut self, cov: ArrayView2<f64>, y: usize, effects: &mut [f64]) {
        match self.set(y) {
            Set::NoEffect => effects.fill(0.0),
            Set::None => effects.fill(f64::NAN),
            Set::Of(set) => {
                let all: Vec<u32> = self.xs.iter().copied().chain(set).collect();
                let mut found: Vec<f64> = all.iter().map(|&v| cov[[v as usize, y]]).collect();
                if regression::solve(&mut regression::among(cov, &all), &mut found) {
                    effects.copy_from_slice(&found[..effects.len()]);
                } else {
                    effects.fill(f64::NAN);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_is_what_its_definition_says() {
        // 0 -> 1 -> 2; 3 -> 1; 4 -> 0, 4 -> 2; 5 apart.
        let lists: [&[u32]; 6] = [&[1], &[2], &[], &[1], &[0, 2], &[]];
        let graph = Marks::from_lists("fit", &lists).unwrap();
        let mut adjustment = Adjustment::new(&graph, &[0]);
        assert_eq!(adjustment.set(2), Set::Of(vec![3, 4]));
        assert_eq!(adjustment.set(1), Set::Of(vec![3]));
        assert_eq!((adjustment.set(4), adjustment.set(5)), (Set::NoEffect, Set::NoEffect));
        // Of 0 and 2 at once on what follows 1 alone: 2 comes after 1.
        let lists: [&[u32]; 4] = [&[1], &[2, 3], &[3], &[]];
        let graph = Marks::from_lists("fit", &lists).unwrap();
        let mut joint = Adjustment::new(&graph, &[0, 2]);
        assert_eq!(joint.set(3), Set::None);
        assert_eq!(joint.set(1), Set::None);
    }
}
