//! What a search knows after a level, or in the middle of one.

use std::ops::Range;

use crate::graph::{Adjacency, SepSetLog, Separations};
use crate::search::answer::Answers;
use crate::search::largest::Known;
use crate::search::report::LevelReport;
use crate::search::{Largest, Method, Options};

/// What levels have found. The largest p-values are in the search's own storage.
#[derive(Clone, Debug)]
pub struct Found {
    /// Number of levels that have run.
    pub levels: usize,
    /// The edges that are left.
    pub graph: Adjacency,
    /// The separating sets.
    pub sepsets: SepSetLog,
    /// Whether the largest p-values of the remaining edges are final, so that those of level 0 need not be asked for again.
    pub is_exact: bool,
}

/// A search to resume.
#[derive(Clone, Debug)]
pub(in crate::search) struct State {
    /// Number of levels that have run, their tests, and what the driver knows of them.
    pub levels: usize,
    pub tests: Vec<u64>,
    pub exact_tests: u64,
    pub go_on: bool,
    /// What these levels found, or `None` if no level has run.
    pub found: Option<Found>,
    /// The next level, if it has begun.
    pub within: Option<Within>,
}

/// A level as it began: what is needed to undo it.
#[derive(Clone, Debug)]
pub(in crate::search) struct Mark {
    pub graph: Adjacency,
    /// The largest p-values of the graph's edges, by row, if known.
    pub values: Vec<f64>,
}

/// A level that has begun.
#[derive(Clone, Debug)]
pub struct Within {
    /// How the level began. `None` at level 0 by columns, where nothing is entered before all columns are done.
    pub(in crate::search) mark: Option<Mark>,
    /// What was counted so far.
    pub(in crate::search) report: LevelReport,
    pub(in crate::search) part: Part,
}

/// The finished part of a level.
#[derive(Clone, Debug)]
pub(in crate::search) enum Part {
    /// Columns of level 0.
    Columns(Vec<DoneColumn>),
    /// Shards of a work.
    Shards(DoneShards),
    /// All visits before `number`, which counts from 1, and the first `rank` sets of that visit, or [`OVER`].
    Visits { number: u64, rank: u64 },
}

/// Value in place of a number of sets: the visit is over.
pub(in crate::search) const OVER: u64 = u64::MAX;

/// A column of level 0 that is done.
#[derive(Clone, Debug)]
pub(in crate::search) struct DoneColumn {
    pub y: usize,
    pub separated: Vec<u64>,
    pub kept: Vec<u64>,
    /// P-values of the pairs (x, y), x < y, if they are kept.
    pub values: Vec<f64>,
}

/// A column of level 0 that a worker has closed.
pub(in crate::search) struct ClosedColumn<'a> {
    pub y: usize,
    pub separated: &'a [u64],
    pub kept: &'a [u64],
    /// P-values, if they are kept.
    pub values: Option<&'a [f64]>,
}

impl ClosedColumn<'_> {
    /// Copies the column.
    pub fn done(&self) -> DoneColumn {
        let words = self.y / 64 + 1;
        DoneColumn {
            y: self.y,
            separated: self.separated[..words].to_vec(),
            kept: self.kept[..words].to_vec(),
            values: self.values.map_or_else(Vec::new, |values| values[..self.y].to_vec()),
        }
    }
}

/// How a level's work is cut into shards. The same numbers cut it in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) struct Cut {
    pub shard_tests: u64,
    pub threads: usize,
    pub sides_at_once: usize,
}

/// Finished shards of a work.
#[derive(Clone, Debug)]
pub(in crate::search) struct DoneShards {
    /// The graph when second sides began. `None`: this is the work of first sides.
    pub second: Option<Adjacency>,
    /// The rows that this step takes, all or some at a time. For sides: the number of the first.
    pub rows: Range<usize>,
    pub cut: Cut,
    /// Numbers of the finished shards.
    pub numbers: Vec<usize>,
    /// Outcomes of shards that hold all sets of their pairs.
    pub separations: Separations,
    pub tests: u64,
    pub exact_tests: u64,
    /// Outcomes of shards that hold some sets of their pairs.
    pub pieces: Vec<Answers>,
}

/// A state to be written.
pub(in crate::search) struct View<'v> {
    pub graph: &'v Adjacency,
    pub sepsets: &'v SepSetLog,
    pub is_exact: bool,
    pub known: Known<'v>,
    pub within: Option<(Option<&'v Mark>, &'v LevelReport, &'v Part)>,
}

impl Mark {
    /// Marks the start of a level on this graph. `largest` is `None` if nothing is known of p-values.
    pub fn new(graph: &Adjacency, largest: Option<&mut Largest>) -> Self {
        let mut values = Vec::new();
        if let Some(cells) = largest.and_then(|largest| largest.cells(graph.p())) {
            values.reserve_exact(graph.edge_count());
            values.extend(edges(graph).map(|(x, y)| cells.get(x, y)));
        }
        Mark { graph: graph.clone(), values }
    }

    /// Undoes the level. Returns the graph that it began with.
    pub fn rewind(self, level: usize, sepsets: &mut SepSetLog, largest: &mut Largest) -> Adjacency {
        if let Some(cells) = largest.cells(self.graph.p()) {
            edges(&self.graph).zip(&self.values).for_each(|((x, y), &value)| cells.set(x, y, value));
        }
        // Sets found in a level have as many members as its number.
        sepsets.forget(level);
        self.graph
    }
}

/// Returns the edges x < y of a graph, by row.
fn edges(graph: &Adjacency) -> impl Iterator<Item = (usize, usize)> + '_ {
    (0..graph.p()).flat_map(|x| graph.neighbours_above(x).map(move |y| (x, y as usize)))
}

impl State {
    /// Returns the state of a search before its first level.
    pub fn none() -> Self {
        State { levels: 0, tests: Vec::new(), exact_tests: 0, go_on: true, found: None, within: None }
    }

    /// Returns whether the options allow the levels that have run or begun.
    pub fn is_allowed(&self, options: &Options) -> bool {
        let begun = self.levels + usize::from(self.within.is_some());
        begun == 0 || options.allows(begun - 1) || (begun == 1 && options.method == Method::StableFast)
    }
}
