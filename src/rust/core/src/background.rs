//! Background knowledge as a user has it, and what follows from it for the search and for the orientation. The rules are those of `tpc()`
//! (Witte et al. 2022), but that a pair both of whose arrows cannot be has no edge from the start.

use crate::graph::Adjacency;
use crate::orient::Knowledge;
use crate::search::Options;

/// What is known of p variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Background {
    /// By variable its tier, of which only the order counts; none: one tier.
    pub tiers: Option<Vec<f64>>,
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
    /// Whether anything is known.
    pub fn is_some(&self) -> bool {
        *self != Background::default()
    }

    /// The ranks of the tiers.
    fn ranks(&self) -> Option<Vec<u32>> {
        let tiers = self.tiers.as_ref()?;
        let mut sorted = tiers.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        Some(tiers.iter().map(|tier| sorted.partition_point(|other| other < tier) as u32).collect())
    }

    /// For the orientation of a graph of p vertices.
    pub fn knowledge(&self, p: usize) -> Knowledge {
        if !self.is_some() {
            return Knowledge::default();
        }
        let reversed = self.required.iter().map(|&[from, to]| [to, from]);
        let barred = self.forbidden.iter().copied().chain(reversed).collect();
        let context: Vec<u32> = self.context_all.iter().chain(&self.context_tier).copied().collect();
        Knowledge::new(p, self.ranks(), &context, barred)
    }

    /// Adds what a search has to know: tiers, pairs that have an edge, pairs that have none.
    pub fn enter(&self, options: &mut Options) {
        if !self.is_some() {
            return;
        }
        let p = options.p;
        let knowledge = self.knowledge(p);
        options.tiers = self.ranks();
        let tier = |v: usize| options.tiers.as_ref().map_or(0, |tiers| tiers[v]);
        let mut gaps = options.fixed_gaps.take().unwrap_or_else(|| Adjacency::empty(p));
        let mut edges = options.fixed_edges.take().unwrap_or_else(|| Adjacency::empty(p));
        let is_context: Vec<bool> =
            (0..p as u32).map(|v| self.context_all.contains(&v) || self.context_tier.contains(&v)).collect();
        let others = |v: usize| (0..p).filter(move |&other| other != v);
        for v in self.context_all.iter().map(|&v| v as usize) {
            for other in others(v) {
                let of = if is_context[other] { &mut gaps } else { &mut edges };
                of.insert(v, other);
            }
        }
        for v in self.context_tier.iter().map(|&v| v as usize) {
            for other in others(v) {
                let of = if is_context[other] || tier(other) != tier(v) { &mut gaps } else { &mut edges };
                of.insert(v, other);
            }
        }
        for [from, to] in self.required.iter().map(|arrow| arrow.map(|v| v as usize)) {
            edges.insert(from, to);
        }
        for [from, to] in self.forbidden.iter().map(|arrow| arrow.map(|v| v as usize)) {
            if knowledge.bars(to, from) {
                gaps.insert(from, to);
            }
        }
        // A gap goes before an edge.
        for x in 0..p {
            for y in gaps.neighbours(x) {
                edges.remove(x, y as usize);
            }
        }
        let is_empty = |graph: &Adjacency| graph.edge_count() == 0;
        options.fixed_gaps = Some(gaps).filter(|gaps| !is_empty(gaps));
        options.fixed_edges = Some(edges).filter(|edges| !is_empty(edges));
    }
}
