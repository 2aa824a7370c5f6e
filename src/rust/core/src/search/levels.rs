//! The interface between the driver and a search: its levels.

use crate::graph::{Adjacency, SepSets};
use crate::observer::Observer;
use crate::search::checkpoint::{Found, Within};
pub use crate::search::report::LevelReport;
use crate::search::Options;
use crate::Result;

/// The levels of a search in one order of visiting. The driver runs them in order, each once, beginning with [`Levels::marginal`].
///
/// With "stable" and "stable.fast" the pairs of a level are independent: each is decided on the graph that the level began with. Every pair
/// x < y has two sides. The first side chooses conditioning sets from the neighbours of x without y, in lexicographic order of ascending
/// candidates. If no set of it separates, the second side chooses from the neighbours of y without x, in the
/// [order](super::level::CandidateOrder) of the method. The first set with p >= alpha is the pair's separating set.
pub trait Levels {
    /// Returns the number of edges left.
    fn edge_count(&self) -> usize;

    /// Returns a vertex with the most neighbours, among those that have a pair to be tested. `None` if no pair is to be tested.
    fn widest(&self) -> Option<Widest>;

    /// Returns whether the sets of a row must be numbered by 63 bits.
    fn numbers_sets(&self) -> bool {
        true
    }

    /// Runs level 0.
    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport>;

    /// Runs level `size`, at least 1.
    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport>;

    /// Runs level `size`, 0 or more.
    fn level(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        match size {
            0 => self.marginal(observer),
            _ => self.conditional(size, observer),
        }
    }

    /// Resumes a search, before any level has run: takes over the levels that an earlier call ran, with what they found. The largest
    /// p-values are already where the search is to leave them. `within`: the part of the next level that had run. Does nothing for a search
    /// that is never resumed.
    fn resume(&mut self, _found: Found, _within: Option<Within>, _observer: &mut dyn Observer) -> Result<()> {
        Ok(())
    }

    /// Hands over the state after a level if the observer [keeps](Observer::keeps) the search. [`Levels::give_up`] may return to this
    /// state. Does nothing for a search that is never saved.
    fn keep(&mut self, _observer: &mut dyn Observer) -> Result<()> {
        Ok(())
    }

    /// Returns the answer of the levels that have ended, after an error in the next level of a search that the observer
    /// [keeps](Observer::keeps). For a search that is never saved this is [`Levels::finish`].
    fn give_up(self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        self.finish(observer)
    }

    /// Completes the largest p-values, and returns graph and separating sets. Untested pairs get the mark of [`Options::untested`], as do
    /// the lower triangle and the diagonal of a p x p matrix.
    fn finish(self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)>;
}

/// A vertex with the most neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widest {
    /// The vertex.
    pub x: usize,
    /// A vertex with which x has a pair to be tested.
    pub y: usize,
    /// Number of neighbours of x.
    pub degree: usize,
}

/// Returns a vertex of a graph with the most neighbours, among those that have a pair to be tested. `degree` returns a vertex's number of
/// neighbours.
pub(crate) fn widest_of(options: &Options, graph: &Adjacency, degree: impl Fn(usize) -> usize) -> Option<Widest> {
    let mut widest: Option<Widest> = None;
    for x in 0..options.p {
        let degree = degree(x);
        if widest.is_none_or(|known| degree > known.degree) {
            if let Some(y) = graph.neighbours(x).find(|&y| !options.is_fixed(x, y as usize)) {
                widest = Some(Widest { x, y: y as usize, degree });
            }
        }
    }
    widest
}
