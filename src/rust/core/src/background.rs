//! Background knowledge as a user has it, and what follows from it for the search and for the orientation. The rules are those of `tpc()`
//! (Witte et al. 2022), but that a pair both of whose arrows cannot be has no edge from the start.

use crate::graph::{Adjacency, Tiers};
use crate::orient::{add_arrows, Addition, Knowledge, Pdag};
use crate::pag::Mark;
use crate::search::Options;
use crate::Result;

/// What is known of p variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Background {
    /// Which variables come before which.
    pub tiers: Tiers,
    /// Variables of the first tier that are known causes of all others, and are not caused.
    pub context_all: Vec<u32>,
    /// Variables that are known causes of the others of their tier alone, and are not caused.
    pub context_tier: Vec<u32>,
    /// Arrows [from, to] that cannot be; in both directions: no edge.
    pub forbidden: Vec<[u32; 2]>,
    /// Arrows [from, to] that are there.
    pub required: Vec<[u32; 2]>,
}

impl Background {
    /// For the orientation of a graph of p vertices.
    pub fn knowledge(&self, p: usize) -> Knowledge {
        let reversed = self.required.iter().map(|&[from, to]| [to, from]);
        let barred = self.forbidden.iter().copied().chain(reversed).collect();
        let context: Vec<u32> = self.context_all.iter().chain(&self.context_tier).copied().collect();
        Knowledge::new(p, self.tiers.clone(), &context, barred)
    }

    /// Adds what a search has to know: tiers, pairs that have an edge, pairs that have none.
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
        // A gap goes before an edge.
        if let (Some(gaps), Some(edges), true) = (&gaps, &mut edges, knowledge.is_some()) {
            for x in 0..p {
                gaps.neighbours(x).for_each(|y| edges.remove(x, y as usize));
            }
        }
        (options.fixed_gaps, options.fixed_edges) = (gaps, edges);
    }

    /// Likewise where variables may be hidden: a pair neither of which causes the other may still have a common cause, so that a forbidden
    /// arrow leaves it to be tested. Context variables are those of joint causal inference ([`crate::pag::Jci`]), not these.
    pub fn enter_with_hidden(&self, options: &mut Options) {
        options.tiers = self.tiers.clone();
        if !self.required.is_empty() {
            let edges = options.fixed_edges.get_or_insert_with(|| Adjacency::empty(options.p));
            self.required.iter().for_each(|&[from, to]| edges.insert(from as usize, to as usize));
        }
    }

    /// The marks that follow for the edges of a graph where variables may be hidden, as (u, v, mark at v): what is of a later tier, or forbidden
    /// to cause the other vertex, is no ancestor of it: an arrowhead; a required arrow has a tail and an arrowhead.
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

    /// Adds what is known to a graph that has been oriented: `arcs` has the j with an arc i -> j, ascending, of each i. `has_conflict`:
    /// whether an edge of it has conflicting arrows. `check`: see [`add_arrows`].
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

/// A graph with knowledge added.
#[derive(Clone, Debug, PartialEq)]
pub enum Added {
    /// The graph.
    Graph(Pdag),
    /// Why it cannot have it, and which arrow or edge is at fault.
    Refused(&'static str, Option<[u32; 2]>),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chain 0 - 1 - 2 without arrows.
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
