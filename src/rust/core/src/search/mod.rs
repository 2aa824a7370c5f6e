//! The skeleton phase of PC: which tests run, in which order they count, and which edges they remove.
//!
//! This module depends on no particular test or machine. A pair's conditioning sets have ranks in pcalg's visiting order. The first set
//! that separates the pair decides it. That is a minimum over ranks, so the answer does not depend on which worker runs what, or when. A
//! search is therefore one driver with any worker:
//!
//! * `driver`: the loop over levels, with pcalg's counts, for every order of visiting; [`levels`]: what the driver calls.
//! * `ledger`: graph, separating sets and largest p-values, and how an outcome changes them; `largest`: which p-values are kept; `look_up`:
//!   many of them at once.
//! * Orders of visiting, each an `order::Order`: `stable` ("stable", "stable.fast"); `original` ("original", whose neighbourhoods shrink
//!   while it runs); `one_by_one` (all three, for a test that is asked one question at a time in pcalg's order).
//! * [`level`], [`lanes`], [`shards`]: the work of a level, and how it is cut.
//! * [`possible_d_sep`]: the second search of FCI, over the edges of a skeleton.
//! * [`checkpoint`]: how a search is saved, resumed and limited in time.
//! * [`pairs`]: level 1 for workers that decide both sides of a pair together; `singly`: the verdicts of that level, by pair number, as
//!   separating sets.
//! * [`sweep`]: all subsets of some candidates at once.
//! * [`worker`]: what a machine offers; [`answer`]: what it finds; [`book`]: where it enters its findings; [`wire`]: shards and answers as
//!   bytes.

pub mod answer;
pub mod book;
mod cells;
pub mod checkpoint;
pub(crate) mod columns;
pub mod doubts;
mod driver;
pub mod lanes;
mod largest;
mod ledger;
pub mod level;
pub mod levels;
mod look_up;
mod marginals;
mod neighbours;
mod one_by_one;
mod order;
mod original;
pub mod pairs;
pub mod possible_d_sep;
mod progress;
mod report;
mod saving;
pub mod shards;
#[cfg(test)]
mod shuffled;
pub(crate) mod singly;
mod stable;
pub mod sweep;
pub mod wire;
pub mod worker;

pub use driver::{skeleton, skeleton_one_by_one, skeleton_one_by_one_within, skeleton_within};
pub use largest::{Largest, PairValues};
pub use look_up::LookUp;

use std::borrow::Cow;

use crate::graph::{Adjacency, Form, SepSets, Side, Tiers};
use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::{Error, Result};

/// pcalg's `method` of `skeleton()`, `skel.method` of `pc()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// PC-stable (Colombo and Maathuis 2014) as pcalg's R code runs it: every ordered pair is visited.
    Stable,
    /// PC-stable as pcalg's C++ runs it: every pair is visited once, repeated conditioning sets are skipped.
    StableFast,
    /// The PC algorithm of Spirtes et al., where a removal changes the tests that follow.
    Original,
}

/// The arguments of a skeleton search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of variables, at least 2.
    pub p: usize,
    /// One of pcalg's three visiting orders.
    pub method: Method,
    /// Significance level: a test with p >= alpha removes its pair.
    pub alpha: f64,
    /// Whether a test without an answer removes its pair.
    pub na_delete: bool,
    /// Largest size of conditioning sets, infinite for no limit.
    pub m_max: f64,
    /// Pairs that have no edge from the start.
    pub fixed_gaps: Option<Adjacency>,
    /// Pairs that keep their edge without a test.
    pub fixed_edges: Option<Adjacency>,
    /// Tiers, which limit the sets of a pair: see [`Tiers::may_condition`]. Not with [`Method::StableFast`].
    pub tiers: Tiers,
    /// How the graphs of the search are kept.
    pub form: Form,
}

/// A skeleton and the counts of its search. The largest p-values are in the memory that the caller gave.
#[derive(Clone, Debug)]
pub struct Skeleton {
    /// The adjacencies that remain.
    pub graph: Adjacency,
    /// Separating sets on pcalg's side.
    pub sepsets: SepSets,
    /// Number of tests that pcalg performs at levels 0, 1, ...
    pub tests: Vec<u64>,
    /// pcalg's `max.ord`.
    pub max_order: i32,
    /// Number of tests that the exact formula decided, because the quick one was too close or the set near singular.
    pub exact_tests: u64,
    /// The level in which the time limit ended the search, if it did. The result has nothing of that level, as with an `m_max` below it.
    pub ended: Option<usize>,
    /// Why the last state could not be [saved](checkpoint::Checkpoint), if it could not.
    pub unkept: Option<Error>,
}

impl Options {
    /// Returns the default options: PC-stable, no limit, no background knowledge.
    pub fn new(p: usize, alpha: f64) -> Self {
        Options {
            p,
            method: Method::Stable,
            alpha,
            na_delete: true,
            m_max: f64::INFINITY,
            fixed_gaps: None,
            fixed_edges: None,
            tiers: Tiers::default(),
            form: Form::of(p),
        }
    }

    fn check(&self, largest: &Largest) -> Result<()> {
        if self.p < 2 {
            return Err(Error::Argument {
                argument: "p",
                value: self.p.to_string(),
                hint: "give at least two variables".into(),
            });
        }
        if let Largest::Square(p_max) = largest {
            if p_max.len() != self.p * self.p {
                return Err(Error::Argument {
                    argument: "pMax",
                    value: format!("{} numbers", p_max.len()),
                    hint: format!("give {} x {} numbers", self.p, self.p),
                });
            }
        }
        if !self.tiers.is_none() {
            let of = self.tiers.ranks().len();
            let refused = |value: String, hint: String| Err(Error::Argument { argument: "tiers", value, hint });
            if of != self.p {
                return refused(
                    format!("has values for {of} variables"),
                    format!("give a value for each of the {} variables", self.p),
                );
            }
            if self.method == Method::StableFast {
                let hint = "give skel.method = \"stable\", which is as fast".into();
                return refused("given with skel.method = \"stable.fast\"".into(), hint);
            }
        }
        for (argument, graph) in [("fixedGaps", &self.fixed_gaps), ("fixedEdges", &self.fixed_edges)] {
            if graph.as_ref().is_some_and(|g| g.p() != self.p) {
                return Err(Error::Argument {
                    argument,
                    value: "a graph with another number of variables".into(),
                    hint: format!("give a {} x {} matrix", self.p, self.p),
                });
            }
        }
        Ok(())
    }

    /// Checks that there is memory for what every search starts with: the graph, the pairs that are tested, and those separated at level 0.
    pub(crate) fn room_to_start(&self) -> Result<()> {
        // Lists of separating sets begin with a few words for each variable.
        memory::room(3 * Adjacency::bytes(self.p) + 32 * self.p, Use::Pairs)
    }

    /// Returns the graph that the search starts from: complete except for the gaps.
    pub(crate) fn start(&self, pool: &Pool) -> Adjacency {
        let mut graph = Adjacency::empty_as(self.p, self.form).complement(pool);
        if let Some(gaps) = &self.fixed_gaps {
            for x in 0..self.p {
                for y in gaps.neighbours(x) {
                    graph.remove(x, y as usize);
                }
            }
        }
        graph
    }

    /// Returns the pairs of a graph that are tested: the edges that are not fixed.
    pub(crate) fn testable<'g>(&self, graph: &'g Adjacency) -> Cow<'g, Adjacency> {
        let Some(fixed) = &self.fixed_edges else { return Cow::Borrowed(graph) };
        let mut rest = graph.clone();
        for x in 0..self.p {
            for y in fixed.neighbours(x) {
                rest.remove(x, y as usize);
            }
        }
        Cow::Owned(rest)
    }

    /// Returns whether level 0 tests a pair.
    pub(crate) fn tests(&self, x: usize, y: usize) -> bool {
        !self.is_fixed(x, y) && self.fixed_gaps.as_ref().is_none_or(|gaps| !gaps.has(x, y))
    }

    pub(crate) fn is_fixed(&self, x: usize, y: usize) -> bool {
        self.fixed_edges.as_ref().is_some_and(|g| g.has(x, y))
    }

    /// Returns the number of neighbours of x that conditioning sets are chosen from.
    pub(crate) fn candidate_count(&self, graph: &Adjacency, x: usize) -> usize {
        match self.tiers.is_none() {
            true => graph.degree(x),
            false => self.tiers.candidates(graph, x).count(),
        }
    }

    /// Returns how many of x's [candidates](Tiers::candidates) are left for its pair with the neighbour y: one fewer if y is one of them.
    #[inline]
    pub(crate) fn without(&self, candidates: usize, x: usize, y: usize) -> usize {
        candidates.saturating_sub(usize::from(self.tiers.may_condition(x, y)))
    }

    /// Returns whether a level may run. pcalg's "stable.fast" truncates `m.max`, and reads a negative one as no limit.
    pub fn allows(&self, level: usize) -> bool {
        match self.method {
            Method::StableFast => self.m_max < 0.0 || level as f64 <= self.m_max.trunc(),
            _ => level as f64 <= self.m_max,
        }
    }

    /// Returns the number of pairs that tests decide, and the number of edges without a test.
    pub fn decided(&self) -> (usize, usize) {
        let (p, gaps, edges) = (self.p, self.fixed_gaps.as_ref(), self.fixed_edges.as_ref());
        let all = |pairs: Option<&Adjacency>| pairs.map_or(0, Adjacency::edge_count);
        let both = gaps.zip(edges).map_or(0, |(gaps, edges)| {
            (0..p).map(|x| gaps.neighbours_above(x).filter(|&y| edges.has(x, y as usize)).count()).sum()
        });
        // A pair that is both a gap and a fixed edge is an edge only with "stable.fast".
        let kept = all(edges) - if self.method == Method::StableFast { 0 } else { both };
        (p * (p - 1) / 2 + both - all(gaps) - all(edges), kept)
    }

    /// Returns p as pcalg reads it from level 1 on, and in its R methods at level 0: if p is NaN, `NAdelete` decides.
    #[inline]
    pub fn read(&self, p: f64) -> f64 {
        if p.is_nan() {
            f64::from(u8::from(self.na_delete))
        } else {
            p
        }
    }

    /// Returns pcalg's mark in `pMax` for "never tested".
    pub fn untested(&self) -> f64 {
        if self.method == Method::StableFast {
            -1.0
        } else {
            f64::NEG_INFINITY
        }
    }

    /// Returns the entry of pcalg's `sepset` that holds a set from the neighbours of `row`. The C++ keeps every set under the larger
    /// vertex.
    #[inline]
    pub(crate) fn kept_under(&self, row: u32, other: u32) -> [u32; 2] {
        if self.method == Method::StableFast {
            [row.max(other), row.min(other)]
        } else {
            [row, other]
        }
    }

    /// Returns the vertex under which pcalg keeps empty separating sets. With "stable.fast" it keeps all sets there.
    pub(crate) fn empty_side(&self) -> Side {
        if self.method == Method::StableFast {
            Side::Larger
        } else {
            Side::Smaller
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_gaps_and_edges_are_counted_once() {
        let pairs = |pairs: &[[usize; 2]]| {
            let mut graph = Adjacency::empty(5);
            pairs.iter().for_each(|&[x, y]| graph.insert(x, y));
            Some(graph)
        };
        let options = Options::new(5, 0.05);
        assert_eq!(options.decided(), (10, 0));
        let fixed_gaps = pairs(&[[0, 1], [2, 3], [3, 4]]);
        let options = Options { fixed_gaps, fixed_edges: pairs(&[[0, 1], [1, 2]]), ..options };
        assert_eq!(options.decided(), (6, 1));
        assert_eq!(Options { method: Method::StableFast, ..options }.decided(), (6, 2));
    }
}
