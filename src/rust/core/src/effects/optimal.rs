//! Adjustment by the optimal set, in a graph whose edges at x are all directed (Henckel, Perkovic and Maathuis 2022; Witte, Henckel,
//! Maathuis and Didelez 2020).
//!
//! Let forb be the possible descendants of the vertices on possibly causal paths from x to y. The set has the parents of those vertices,
//! without forb and x. If forb contains one of the xs, no adjustment is valid.

use ndarray::ArrayView2;

use super::regression;
use crate::graph::Marks;

/// Working memory of [`Search::reached`].
struct Search {
    /// For each vertex, the number of the last search that reached it.
    seen: Vec<u32>,
    number: u32,
    /// The vertices reached, and in `before` the vertex that each was reached from.
    queue: Vec<u32>,
    before: Vec<u32>,
}

impl Search {
    fn new(p: usize) -> Self {
        Search { seen: vec![0; p], number: 0, queue: Vec::new(), before: Vec::new() }
    }

    /// Returns `from`, then the vertices that it reaches by possibly directed paths of definite status; if not `forward`, the vertices that
    /// reach it. Leaves out `avoid`, except `from` itself. As in pcalg's `possDe()` and `possAn()`, a vertex is reached once, by the first
    /// such path. The search continues there if the next vertex is not adjacent to the previous one, or the edge is directed.
    fn reached(&mut self, graph: &Marks, from: usize, avoid: &[u32], forward: bool) -> &[u32] {
        if self.number == u32::MAX {
            self.seen.fill(0);
            self.number = 0;
        }
        self.number += 1;
        let Search { seen, number, queue, before } = self;
        queue.clear();
        before.clear();
        queue.push(from as u32);
        before.push(from as u32);
        seen[from] = *number;
        let mut at = 0;
        while at < queue.len() {
            let (t, previous) = (queue[at] as usize, before[at] as usize);
            at += 1;
            for slot in graph.slots(t) {
                let j = graph.head(slot);
                if seen[j] == *number {
                    continue;
                }
                let along = if forward { slot } else { graph.twin(slot) };
                let goes_on = graph.is_open(along)
                    && (graph.is_directed(along) || previous == t || !graph.adjacent(j, previous))
                    && !avoid.contains(&(j as u32));
                if goes_on {
                    seen[j] = *number;
                    queue.push(j as u32);
                    before.push(t as u32);
                }
            }
        }
        queue
    }
}

/// Adjustment sets for x, or the xs, in one graph.
pub(super) struct Adjustment<'a> {
    graph: &'a Marks,
    xs: &'a [u32],
    /// For each vertex, whether it may be a descendant of an x.
    descends: Vec<bool>,
    /// For each vertex, its possible descendants, 64 to a word; computed on demand, empty before.
    descendants: Vec<Vec<u64>>,
    /// Possible descendants of the vertices between the xs and the current y.
    forbidden: Vec<u64>,
    search: Search,
}

/// A set that adjusts for the effect of the xs on a y.
#[derive(Debug, PartialEq)]
pub(super) enum Set {
    /// No path leads to y: the effects are 0.
    NoEffect,
    /// No set is valid.
    None,
    /// The members of a valid set.
    Of(Vec<u32>),
}

impl<'a> Adjustment<'a> {
    pub fn new(graph: &'a Marks, xs: &'a [u32]) -> Self {
        let p = graph.p();
        let mut search = Search::new(p);
        let mut descends = vec![false; p];
        for &x in xs {
            search.reached(graph, x as usize, &[], true).iter().for_each(|&v| descends[v as usize] = true);
        }
        let descendants = vec![Vec::new(); p];
        Adjustment { graph, xs, descends, descendants, forbidden: vec![0; p.div_ceil(64)], search }
    }

    /// Returns the optimal set for y.
    pub fn set(&mut self, y: usize) -> Set {
        if !self.descends[y] {
            return Set::NoEffect;
        }
        let Adjustment { graph, xs, descends, descendants, forbidden, search } = self;
        let mut between = search.reached(graph, y, xs, false).to_vec();
        between.retain(|&v| descends[v as usize]);
        between.sort_unstable();
        forbidden.fill(0);
        for &v in &between {
            let after = &mut descendants[v as usize];
            if after.is_empty() {
                after.resize(forbidden.len(), 0);
                let reached = search.reached(graph, v as usize, &[], true);
                reached.iter().for_each(|&w| after[w as usize / 64] |= 1 << (w % 64));
            }
            forbidden.iter_mut().zip(after).for_each(|(all, own)| *all |= *own);
        }
        let is_forbidden = |v: usize| forbidden[v / 64] >> (v % 64) & 1 == 1;
        if xs.iter().any(|&x| is_forbidden(x as usize)) {
            return Set::None;
        }
        // Each parent is added once.
        let mut set: Vec<u32> = Vec::new();
        let mut is_in = vec![false; graph.p()];
        xs.iter().for_each(|&x| is_in[x as usize] = true);
        for &v in &between {
            for parent in graph.parents(v as usize).filter(|&u| !is_forbidden(u)) {
                if !std::mem::replace(&mut is_in[parent], true) {
                    set.push(parent as u32);
                }
            }
        }
        Set::Of(set)
    }

    /// Writes the effects of the xs on y to `effects`: NaN if no set is valid or the system is singular.
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
        // Effects of 0 and 2 together on 3, which follows 1 and 2: 2 comes after 1.
        let lists: [&[u32]; 4] = [&[1], &[2, 3], &[3], &[]];
        let graph = Marks::from_lists("fit", &lists).unwrap();
        let mut joint = Adjustment::new(&graph, &[0, 2]);
        assert_eq!(joint.set(3), Set::None);
        assert_eq!(joint.set(1), Set::None);
    }
}
