//! A user's background knowledge, and what follows from it for the search and the orientation. The rules are those of `tpc()` (Witte et al.
//! 2022), with one exception: a pair with both arrows forbidden has no edge from the start.

use crate::graph::{Adjacency, Tiers};
use crate::orient::{add_arrows, Addition, Knowledge, Pdag};
use crate::pag::Mark;
use crate::search::Options;
use crate::Result;

/// Background knowledge of p variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Background {
    /// The tiers: which variables come before which.
    pub tiers: Tiers,
    /// Variables of the first tier that are known causes of all other variables, and have no causes.
    pub context_all: Vec<u32>,
    /// Variables that are known causes of the other variables of their tier only, and have no causes.
    pub context_tier: Vec<u32>,
    /// Arrows [from, to] that are forbidden. If both directions are, the pair has no edge.
    pub forbidden: Vec<[u32; 2]>,
    /// Arrows [from, to] that are known to exist.
    pub required: Vec<[u32; 2]>,
}

impl Background {
    /// Returns the knowledge for the orientation of a graph with p vertices.
    pub fn knowledge(&self, p: usize) -> Knowledge {
        let reversed = self.required.iter().map(|&[from, to]| [to, from]);
        let barred = self.forbidden.iter().copied().chain(reversed).collect();
        let context: Vec<u32> = self.context_all.iter().chain(&self.context_tier).copied().collect();
        Knowledge::new(p, self.tiers.clone(), &context, barred)
    }

    /// Adds to a search's options the tiers, the pairs known to have an edge, and the pairs known to have none.
    pub fn enter(&self, options: &mut Options) {
        let p = options.p;
        let knowledge = self.knowledge(p);
        options.tiers = self.tiers.clone();
        let (mut gaps, mut edges) = (options.fixed_gaps.take(), options.fixed_edges.take());
        let insert = |pairs: &mut Option<Adjacency>, x: usize, y: usize| {
            pairs.get_or_insert_with(|| Adjacency::empty(p)).insert(x, y);
        };
        for (context, of_tier) in [(&self.context_all, false), (&self.context_tier, true)] {
            for v in context.iter().map(|&v| v as usize) {
                for other in (0..p).filter(|&other| other != v) {
                    let is_apart = of_tier && self.tiers.of_vertex(other) != self.tiers.of_vertex(v);
                    insert(if knowledge.is_context(other) || is_apart { &mut gaps } else { &mut edges }, v, other);
                }
            }
        }
        for [from, to] in self.required.iter().map(|arrow| arrow.map(|v| v as usize)) {
            insert(&mut edges, from, to);
        }
        for [from, to] in self.forbidden.iter().map(|arrow| arrow.map(|v| v as usize)) {
            if knowledge.bars(to, from) {
                insert(&mut gaps, from, to);
            }
        }
        // A gap takes precedence over an edge.
        if let (Some(gaps), Some(edges), true) = (&gaps, &mut edges, knowledge.is_some()) {
            for x in 0..p {
                gaps.neighbours(x).for_each(|y| edges.remove(x, y as usize));
            }
        }
        (options.fixed_gaps, options.fixed_edges) = (gaps, edges);
    }

    /// Adds the knowledge to a search's options if variables may be hidden. A forbidden arrow then leaves its pair to be tested: neither
    /// may cause the other, but they may have a common cause. Context variables are left out; joint causal inference has its own
    /// ([`crate::pag::Jci`]).
    pub fn enter_with_hidden(&self, options: &mut Options) {
        options.tiers = self.tiers.clone();
        if !self.required.is_empty() {
            let edges = options.fixed_edges.get_or_insert_with(|| Adjacency::empty(options.p));
            self.required.iter().for_each(|&[from, to]| edges.insert(from as usize, to as usize));
        }
    }

    /// Returns the known marks of edges, if variables may be hidden, as (u, v, mark at v). A vertex is no ancestor of the other if it is in
    /// a later tier or forbidden to cause it, so its mark is an arrowhead. A required arrow has a tail and an arrowhead.
    pub fn marks(&self, graph: &Adjacency) -> Vec<(u32, u32, Mark)> {
        let mut marks = Vec::new();
        if !self.tiers.is_none() {
            for u in 0..graph.p() {
                let later = graph.neighbours(u).filter(|&v| self.tiers.of_vertex(v as usize) > self.tiers.of_vertex(u));
                marks.extend(later.map(|v| (u as u32, v, Mark::Arrow)));
            }
        }
        marks.extend(self.forbidden.iter().map(|&[from, to]| (to, from, Mark::Arrow)));
        for &[from, to] in &self.required {
            marks.extend([(to, from, Mark::Tail), (from, to, Mark::Arrow)]);
        }
        marks
    }

    /// Adds the knowledge to an oriented graph. `arcs` holds for each i the j with an arc i -> j, ascending. `has_conflict`: whether one of
    /// its edges has conflicting arrows. `check`: see [`add_arrows`].
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error), [`Error::Memory`](crate::Error).
    pub fn add_to(
        &self,
        arcs: &[Vec<u32>],
        has_conflict: bool,
        check: bool,
        wants_to_stop: Option<&dyn Fn() -> bool>,
    ) -> Result<Added> {
        let p = arcs.len();
        let (skeleton, known) = (Adjacency::from_lists(arcs), self.knowledge(p));
        let has = |from: usize, to: usize| arcs[from].binary_search(&(to as u32)).is_ok();
        let of = |from: usize| arcs[from].iter().map(move |&to| [from as u32, to]);
        let directed: Vec<[u32; 2]> =
            (0..p).flat_map(of).filter(|&[from, to]| !has(to as usize, from as usize)).collect();
        let mut arrows = self.required.clone();
        for x in 0..p {
            for y in skeleton.neighbours_above(x) {
                match (known.bars(x, y as usize), known.bars(y as usize, x)) {
                    (true, true) => return Ok(Added::Refused("forbidden", Some([x as u32, y]))),
                    (true, false) => arrows.push([y, x as u32]),
                    (false, true) => arrows.push([x as u32, y]),
                    (false, false) => {}
                }
            }
        }
        if has_conflict {
            return Ok(Added::Refused("invalid", None));
        }
        Ok(match add_arrows(&skeleton, &directed, &arrows, check, wants_to_stop)? {
            Addition::Graph(pdag) => Added::Graph(pdag),
            Addition::Invalid => Added::Refused("invalid", None),
            Addition::NotMaximal(arrow) => Added::Refused("not_maximal", Some(arrow)),
            Addition::NoEdge(number) => Added::Refused("no_edge", Some(arrows[number])),
            Addition::Reversed(number) => Added::Refused("reversed", Some(arrows[number])),
        })
    }
}

/// The outcome of adding knowledge to a graph.
#[derive(Clone, Debug, PartialEq)]
pub enum Added {
    /// The graph with the knowledge.
    Graph(Pdag),
    /// Why the graph cannot have the knowledge, and the arrow or edge at fault.
    Refused(&'static str, Option<[u32; 2]>),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the chain 0 - 1 - 2 without arrows.
    fn chain() -> Vec<Vec<u32>> {
        vec![vec![1], vec![0, 2], vec![1]]
    }

    fn added(arcs: &[Vec<u32>], known: &Background) -> Added {
        known.add_to(arcs, false, true, None).unwrap()
    }

    #[test]
    fn tiers_and_arrows_direct_edges() {
        let arrows = |added| -> Vec<Vec<u32>> {
            let Added::Graph(pdag) = added else { panic!("{added:?}") };
            (0..3).map(|i| pdag.edges_from(i).map(|(j, _)| j).collect()).collect()
        };
        let along = vec![vec![1], vec![2], vec![]];
        let tiers = Background { tiers: Tiers::of(&[1.0, 2.0, 2.0]), ..Background::default() };
        assert_eq!(arrows(added(&chain(), &tiers)), along);
        let required = Background { required: vec![[0, 1]], ..Background::default() };
        assert_eq!(arrows(added(&chain(), &required)), along);
        let forbidden = Background { forbidden: vec![[1, 0]], ..Background::default() };
        assert_eq!(arrows(added(&chain(), &forbidden)), along);
        assert_eq!(arrows(added(&chain(), &Background::default())), chain());
    }

    #[test]
    fn knowledge_that_a_graph_cannot_have_is_named() {
        let both = Background { forbidden: vec![[0, 1], [1, 0]], ..Background::default() };
        assert_eq!(added(&chain(), &both), Added::Refused("forbidden", Some([0, 1])));
        let apart = Background { required: vec![[0, 2]], ..Background::default() };
        assert_eq!(added(&chain(), &apart), Added::Refused("no_edge", Some([0, 2])));
        let nothing = Background::default();
        assert_eq!(nothing.add_to(&chain(), true, true, None), Ok(Added::Refused("invalid", None)));
        assert_eq!(both.add_to(&chain(), true, true, None), Ok(Added::Refused("forbidden", Some([0, 1]))));
        // 0 -> 1 directs 1 -> 2.
        let against = Background { required: vec![[0, 1], [2, 1]], ..Background::default() };
        assert_eq!(added(&chain(), &against), Added::Refused("reversed", Some([2, 1])));
        let open = [vec![1], vec![2], vec![1]];
        assert_eq!(added(&open, &apart), Added::Refused("not_maximal", Some([1, 2])));
    }
}
