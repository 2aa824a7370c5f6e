//! The Gaussian search within less memory than all correlations take: the dissertation's algorithms 16 and 17, and past them.
//!
//! * `marginal`: level 0 by panels of rows. `panels`: level 1 by pairs of panels: a pair needs the rows of its two vertices alone.
//! * `packed`, `local`: from level 2 on a row needs the correlations of its neighbours alone: such small matrices, of as many rows as fit.
//! * `answer`: what is found, on the host. The card has the graph of levels 0 and 1, as bits.
//!
//! Answers are those of [`CudaSearch`] to the last bit: the same kernels decide. `fallback` begins there, and comes here where memory does
//! not suffice.

mod answer;
pub(in crate::engine::cuda) mod fallback;
mod local;
mod marginal;
mod packed;
mod panels;

use super::rows::{Cells, Rows, STEP};
use super::source::{Gaussian, Source};
use crate::engine::cpu::correlation::Centred;
use crate::engine::cuda::card::held::{Held, Holds};
use crate::engine::cuda::search::p_max::PMax;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::CudaEngine;
use crate::graph::{Adjacency, SepSets};
use crate::observer::Observer;
use crate::search::levels::{widest_of, LevelReport, Levels, Widest};
use crate::search::{Largest, Options};
use crate::{Error, Result};
use answer::Answer;

/// What a test's correlations are made of; `data`: its columns, where it has them.
fn cells_of<'c>(gauss: &Gaussian<'c>, data: &'c Option<Centred<'c>>) -> Cells<'c> {
    match (gauss.source, data) {
        (Source::Data(..), Some(data)) => Cells::Data(data),
        (Source::Data(cells, _), None) | (Source::Matrix(cells), _) => Cells::Matrix(cells),
    }
}

/// A search by blocks.
pub(in crate::engine::cuda) struct BlockSearch<'s, 'a> {
    /// The card, its graph, and what kernels are launched with. It keeps no p-values.
    search: CudaSearch<'s, 'a>,
    gauss: Gaussian<'a>,
    /// The columns of data, where correlations are made of these.
    data: Option<Centred<'a>>,
    rows: Rows,
    answer: Answer<'s>,
    /// After a level.
    graph: Adjacency,
    widest: Option<Widest>,
}

impl<'s, 'a> BlockSearch<'s, 'a> {
    pub fn new(
        engine: &'s mut CudaEngine<'a>,
        options: &'s Options,
        gauss: Gaussian<'a>,
        largest: Largest<'s>,
    ) -> Self {
        // They are going to be elsewhere.
        engine.correlations = None;
        let search = CudaSearch::with_p_max(engine, options, PMax::of_follower(false, options.p));
        let graph = options.start();
        let data = match gauss.source {
            Source::Data(x, n) => Some(Centred::of_cells(x, n)),
            Source::Matrix(_) => None,
        };
        let answer = Answer::new(options, largest);
        BlockSearch { search, gauss, data, rows: Rows::default(), answer, graph, widest: None }
    }

    /// The number of rows that panels have where the caller says so, in whole blocks.
    fn wished_rows(&self) -> Option<usize> {
        self.search.engine.options.block.map(|rows| rows.max(1).next_multiple_of(STEP))
    }

    fn fast(&self) -> bool {
        self.search.fast()
    }

    /// The level is over, and has left this graph.
    fn take_graph(&mut self, graph: Adjacency) {
        self.widest = widest_of(self.search.options, &graph);
        self.search.ends = 2 * graph.edge_count() as u64;
        self.graph = graph;
    }
}

impl Holds for BlockSearch<'_, '_> {
    fn held(&mut self) -> &mut Held {
        &mut self.search.engine.held
    }
}

impl Levels for BlockSearch<'_, '_> {
    fn edge_count(&self) -> usize {
        self.search.edge_count()
    }

    fn widest(&self) -> Option<Widest> {
        self.widest
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.check_symmetry()?;
        self.search.engine.held.begin(Some(0));
        self.watched(|blocks| blocks.run_marginal(observer))
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let Some(widest) = self.widest.map(|widest| widest.degree).filter(|&degree| degree > size) else {
            return Ok(LevelReport { go_on: self.fast(), ..LevelReport::default() });
        };
        self.search.engine.held.begin(Some(size));
        self.watched(|blocks| match size {
            1 => blocks.run_panels(widest, observer),
            _ => blocks.run_packed(size, widest, observer),
        })
    }

    fn finish(mut self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        if !self.search.has_begun() {
            let BlockSearch { answer, graph, .. } = *self;
            return answer.finish_unbegun(graph);
        }
        self.search.engine.held.begin(None);
        if self.answer.wants_values() {
            // Level 1 did not run.
            self.watched(|blocks| blocks.bring_values(observer))?;
        }
        let BlockSearch { search, answer, graph, .. } = *self;
        answer.finish(graph, &search.engine.held.pool)
    }
}

impl BlockSearch<'_, '_> {
    /// Refuses a matrix that is symmetric but for rounding: of a pair only the rows of its two vertices are looked at.
    fn check_symmetry(&self) -> Result<()> {
        let Source::Matrix(cells) = self.gauss.source else { return Ok(()) };
        let p = self.gauss.p;
        const TILE: usize = 64;
        let differs = std::sync::atomic::AtomicUsize::new(usize::MAX);
        let tiles = p.div_ceil(TILE);
        self.search.engine.held.pool.each(tiles, |tile| {
            for first in 0..=tile {
                for x in tile * TILE..p.min((tile + 1) * TILE) {
                    for y in first * TILE..x.min((first + 1) * TILE) {
                        let (one, other) = (cells[x * p + y], cells[y * p + x]);
                        if one != other && !(one.is_nan() && other.is_nan()) {
                            differs.store(x * p + y, std::sync::atomic::Ordering::Relaxed);
                        }
                    }
                }
            }
        });
        match differs.into_inner() {
            usize::MAX => Ok(()),
            at => {
                let (x, y) = (at / p, at % p);
                Err(Error::Argument {
                    argument: "suffStat",
                    value: format!(
                        "with C[{0}, {1}] = {2:e} and C[{1}, {0}] = {3:e}",
                        x + 1,
                        y + 1,
                        cells[y * p + x],
                        cells[x * p + y]
                    ),
                    mend: "where the GPU's memory does not hold C, C must be symmetric to the last digit: give (C + t(C)) / 2"
                        .into(),
                })
            }
        }
    }
}
