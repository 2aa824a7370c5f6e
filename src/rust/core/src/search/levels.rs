//! What the driver asks of a search: its levels.

use crate::graph::{Adjacency, SepSets};
use crate::observer::Observer;
use crate::search::checkpoint::{Found, Within};
pub use crate::search::report::LevelReport;
use crate::search::Options;
use crate::Result;

/// The levels of a search, in an order of visiting of its own. They are run in order, each once, beginning with
/// [`Levels::marginal`].
///
/// "stable" and "stable.fast": the pairs of a level are independent of one another, each is decided on the graph as the level found
/// it. A pair x < y has two sides. The first chooses conditioning sets from the neighbours of x without y, in lexicographic order of
/// ascending candidates. Where no set of it separates, the second chooses from the neighbours of y without x, in the
/// [order](super::level::CandidateOrder) of the method. The first set with p >= alpha is the pair's separating set.
pub trait Levels {
    /// Number of edges left.
    fn edge_count(&self) -> usize;

    /// Of the vertices that have a pair to be tested, one with the most neighbours. `None` when no pair is to be tested.
    fn widest(&self) -> Option<Widest>;

    /// Whether the sets of a row have to be numbered by 63 bits.
    fn numbers_sets(&self) -> bool {
        true
    }

    /// Level 0.
    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport>;

    /// Level `size`, at least 1.
    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport>;

    /// Level `size`, 0 or more.
    fn level(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        match size {
            0 => self.marginal(observer),
            _ => self.conditional(size, observer),
        }
    }

    /// Before any level has run: takes the place of those that had run in an earlier call, and found this. The largest p-values are where
    /// the search is to leave them. `within`: what of the next level had run. Nothing, for a search that is never gone on with.
    fn resume(&mut self, _found: Found, _within: Option<Within>, _observer: &mut dyn Observer) -> Result<()> {
        Ok(())
    }

    /// A level has ended, and the observer [keeps](Observer::keeps) the search: hands over what is known, from where [`Levels::give_up`] may
    /// take it. Nothing, for a search that is never kept.
    fn keep(&mut self, _observer: &mut dyn Observer) -> Result<()> {
        Ok(())
    }

    /// The answer of the levels that have ended, where an error has ended the last one, whose observer [keeps](Observer::keeps) the search. As
    /// [`Levels::finish`], which it is for a search that is never kept.
    fn give_up(self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        self.finish(observer)
    }

    /// Completes the largest p-values: where no test was made, the mark of [`Options::untested`]. Of a p x p matrix the lower triangle
    /// and the diagonal hold the mark, too.
    fn finish(self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)>;
}

/// A vertex with the most neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widest {
    /// The vertex.
    pub x: usize,
    /// One of the vertices that it has a pair to be tested with.
    pub y: usize,
    /// Its number of neighbours.
    pub degree: usize,
}

/// A vertex of a graph with the most neighbours, of those that have a pair to be tested; `degree` says how many a vertex has.
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
