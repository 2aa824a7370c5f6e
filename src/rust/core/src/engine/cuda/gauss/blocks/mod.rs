//! The Gaussian search within less memory than all correlations take, on one card: the dissertation's algorithm 16, and levels from 2 on.
//! Its algorithm 17, which shares blocks out among several cards, is not built.
//!
//! * `marginal`: level 0 by panels of rows. `slices`: level 1 by slices of the variables that pairs are tested given, of sparse graphs of the upper
//!   triangle.
//! * `packed`, `local`: a side of a pair needs the correlations of its row's neighbours alone: such small matrices, of as many rows as fit, from
//!   level 2 on, and at level 1 where they are smaller than the slices that would pass.
//! * `answer`: what is found, on the host. The card has the graph of levels 0 and 1, as bits.
//!
//! Answers are those of [`CudaSearch`] to the last bit: the same kernels decide. A search begins there, and comes here where memory does not
//! suffice.

mod answer;
mod local;
mod marginal;
mod packed;
mod slices;

use std::sync::atomic::{AtomicUsize, Ordering};

use super::rows::{Cells, Rows, STEP};
use super::source::{Gaussian, Source};
use crate::engine::cuda::arguments::SliceArgs;
use crate::engine::cuda::card::held::{Held, Holds};
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::card::opened::Card;
use crate::engine::cuda::card::plan::MemoryPlan;
use crate::engine::cuda::card::transfer::threads_for_steps;
use crate::engine::cuda::search::fallback::{Fallback, GivenUp, Parts};
use crate::engine::cuda::search::p_max::PMax;
use crate::engine::cuda::search::{CudaSearch, USUAL_THREADS};
use crate::engine::cuda::{CudaEngine, SearchStrategy};
use crate::graph::{Adjacency, SepSets};
use crate::moments::Centred;
use crate::observer::Observer;
use crate::pool::part_of;
use crate::search::checkpoint::{self, Found, Kept, Within};
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

/// A search with all correlations on the card, or by blocks where these do not fit or the caller says so.
pub(in crate::engine::cuda) fn begin<'s, 'a>(
    engine: &'s mut CudaEngine<'a>,
    gauss: Gaussian<'a>,
    options: &'s Options,
    largest: Largest<'s>,
) -> Box<dyn Levels + 's> {
    let (strategy, block) = (engine.options.strategy, engine.options.block);
    let mut whole = CudaSearch::new(engine, options, largest);
    if strategy != SearchStrategy::Shared {
        // Those of the papers have all correlations on the card.
        return Box::new(whole);
    }
    if block.is_some() || whole.watched(|whole| is_too_much(whole, &gauss)).unwrap_or(false) {
        return Box::new(BlockSearch::new(whole, gauss));
    }
    Box::new(Fallback::new(whole, move |given_up, _| Ok(go_over(given_up, gauss))))
}

/// Whether two correlations are not the same; all NaN are.
fn differ(one: f64, other: f64) -> bool {
    one != other && !(one.is_nan() && other.is_nan())
}

/// Has the card add up hashes of rows of the matrix, to tell whether it is symmetric.
fn hash(card: &Card, args: &SliceArgs) -> Result<()> {
    let rows = (args.end_z - args.first_z).min(65_535) as u32;
    let grid = (args.pitch.div_ceil(4 * u64::from(USUAL_THREADS)) as u32, rows);
    // SAFETY: the rows are there.
    unsafe { card.launch(Kernel::slice_symmetry.on(grid, USUAL_THREADS, 0), args) }
}

/// p of a pair given nothing, by the host.
fn p_value(gauss: &Gaussian, x: usize, y: usize) -> f64 {
    let r = match gauss.source {
        Source::Matrix(cells) => cells[x * gauss.p + y],
        Source::Data(cells, n) => {
            let column = |v: usize| &cells[v * n..][..n];
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let [x, y] = [column(x), column(y)];
            product(x, y) / (product(x, x) * product(y, y)).sqrt()
        }
    };
    gauss.test.p_of_correlation(r, 0)
}

/// Bytes of lists, verdicts, p-values and separating sets of a neighbour at level 1, beside all correlations.
const BYTES_OF_NEIGHBOUR: f64 = 20.0;

/// Pairs that are looked at, and what their correlations may cost where they are made of data, in multiplications.
const LOOKED_AT: usize = 2000;
const MOST_PRODUCTS: usize = 1 << 23;

/// Whether level 1 is going to want more memory than there is beside all correlations: what it wants is known once level 0 has run, which
/// would be in vain. Some pairs say how many neighbours there may be.
fn is_too_much(search: &mut CudaSearch, gauss: &Gaussian) -> Result<bool> {
    search.plan_variables(gauss.bytes());
    let (p, room) = (gauss.p, search.engine.held.room(&[])? as f64);
    search.engine.held.plan = MemoryPlan::default();
    // Fixed gaps leave fewer.
    let all = BYTES_OF_NEIGHBOUR * search.ends as f64;
    if room >= all || room == 0.0 || p < LOOKED_AT || !search.options.allows(1) {
        return Ok(false);
    }
    if matches!(gauss.source, Source::Data(_, n) if n * LOOKED_AT > MOST_PRODUCTS) {
        return Ok(false);
    }
    let alpha = search.engine.alpha;
    let mut random = 1u64;
    let mut draw = || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as usize % p
    };
    let dependent = (0..LOOKED_AT).filter(|_| {
        let (x, y) = (draw(), draw());
        x != y && p_value(gauss, x, y) < alpha
    });
    Ok(dependent.count() as f64 / LOOKED_AT as f64 * all > room)
}

/// Goes on by blocks, from the first level on.
pub(in crate::engine::cuda) fn go_over<'s, 'a>(
    given_up: GivenUp<CudaSearch<'s, 'a>>,
    gauss: Gaussian<'a>,
) -> Parts<'s> {
    Parts { search: Box::new(BlockSearch::new(given_up.search, gauss)), again: given_up.levels }
}

/// A search by blocks.
pub(in crate::engine::cuda) struct BlockSearch<'s, 'a> {
    /// The card, its graph, and what kernels are launched with. It keeps no p-values.
    search: CudaSearch<'s, 'a>,
    gauss: Gaussian<'a>,
    /// The columns of data, where correlations are made of these.
    data: Option<Centred<'a>>,
    rows: Rows,
    /// The correlations of variables with themselves, of a matrix, once they are asked for.
    diagonal: Vec<f64>,
    /// Whether correlations of a matrix that are asked for from now on are known to be those of the other triangle, too; and whether the blocks of the
    /// level that runs are looked at for that.
    is_symmetric: bool,
    are_all_looked_at: bool,
    /// The sum of hashes of a matrix below its diagonal, once level 0 has run.
    lower: Option<u64>,
    answer: Answer<'s>,
    /// After a level; before the first none.
    graph: Adjacency,
    degrees: Vec<usize>,
    widest: Option<Widest>,
    /// What was found after the last level, of a search that is kept.
    kept: Option<Kept>,
}

impl<'s, 'a> BlockSearch<'s, 'a> {
    /// In place of a search with all correlations on the card.
    fn new(whole: CudaSearch<'s, 'a>, gauss: Gaussian<'a>) -> Self {
        let (engine, options, largest) = whole.into_parts();
        // They are going to be elsewhere.
        engine.correlations = None;
        let search = CudaSearch::with_p_max(engine, options, PMax::of_follower(false, options.p));
        let data = match gauss.source {
            Source::Data(x, n) => Some(Centred::of_cells(x, n)),
            Source::Matrix(_) => None,
        };
        let answer = Answer::new(options, largest);
        BlockSearch {
            search,
            gauss,
            data,
            rows: Rows::default(),
            diagonal: Vec::new(),
            is_symmetric: false,
            are_all_looked_at: false,
            lower: None,
            answer,
            graph: Adjacency::empty(0),
            degrees: Vec::new(),
            widest: None,
            kept: None,
        }
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
        let pool = &self.search.engine.held.pool;
        let mut degrees = vec![0; graph.p()];
        let part = part_of(graph.p(), threads_for_steps(pool, graph.p() * graph.p() / 64));
        pool.each_of(degrees.chunks_mut(part).collect(), |number, degrees: &mut [usize]| {
            for (x, degree) in (number * part..).zip(degrees) {
                *degree = graph.degree(x);
            }
        });
        self.take_degrees(graph, degrees);
    }

    /// Likewise, where its degrees are known.
    fn take_degrees(&mut self, graph: Adjacency, degrees: Vec<usize>) {
        self.widest = widest_of(self.search.options, &graph, |x| degrees[x]);
        self.search.ends = degrees.iter().sum::<usize>() as u64;
        self.degrees = degrees;
        self.graph = graph;
    }

    fn run_resume(&mut self, found: Found, observer: &mut dyn Observer) -> Result<()> {
        self.plan_card()?;
        self.begin_card(observer)?;
        self.search.put_graph(&found.graph, observer)?;
        self.search.has_resumed();
        self.answer.resume(&found, &self.search.engine.held.pool)?;
        if !found.is_exact {
            // The earlier call was to ask for these of the edges that are left.
            let tested = self.search.options.testable(&found.graph);
            for x in 0..self.gauss.p {
                let Some(cells) = self.answer.cells() else { break };
                tested
                    .neighbours_above(x)
                    .for_each(|y| cells.raise(x, y as usize, p_value(&self.gauss, x, y as usize)));
                observer.look()?;
            }
        }
        self.take_graph(found.graph.clone());
        self.kept = Some(Kept::new(found, self.answer.largest()));
        Ok(())
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
        self.search.engine.held.begin(Some(0));
        self.watched(|blocks| blocks.run_marginal(observer))
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let Some(widest) = self.widest.map(|widest| widest.degree).filter(|&degree| degree > size) else {
            return Ok(LevelReport { go_on: self.fast(), ..LevelReport::default() });
        };
        self.search.engine.held.begin(Some(size));
        self.watched(|blocks| match size {
            1 => blocks.run_singles(widest, observer),
            _ => blocks.run_packed(size, widest, observer),
        })
    }

    fn resume(&mut self, found: Found, _within: Option<Within>, observer: &mut dyn Observer) -> Result<()> {
        self.watched(|blocks| blocks.run_resume(found, observer))
    }

    fn keep(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.search.engine.held.begin(None);
        if self.answer.wants_values() {
            // Level 1 has not run.
            self.watched(|blocks| blocks.bring_values(observer))?;
        }
        let levels = self.kept.as_ref().map_or(0, Kept::levels) + 1;
        let found = self.answer.found(levels, &self.graph, &self.search.engine.held.pool)?;
        checkpoint::keep(&found, self.answer.largest(), observer)?;
        self.kept = Some(Kept::new(found, self.answer.largest()));
        Ok(())
    }

    fn give_up(mut self: Box<Self>, _observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        match self.kept.take() {
            Some(kept) => {
                let found = kept.take(self.answer.largest());
                Ok((found.graph, found.sepsets.finish(&self.search.engine.held.pool)?))
            }
            None => self.answer.finish_unbegun(self.search.options.start()),
        }
    }

    fn finish(mut self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        if !self.search.has_begun() {
            return self.answer.finish_unbegun(self.search.options.start());
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
    /// Refuses a matrix in which the correlations of a pair of the graph differ.
    fn check_pairs(&self) -> Result<()> {
        let (p, Source::Matrix(cells)) = (self.gauss.p, self.gauss.source) else { return Ok(()) };
        let (graph, odd) = (&self.graph, AtomicUsize::new(usize::MAX));
        self.search.engine.held.pool.each(p.div_ceil(STEP), |part| {
            for x in part * STEP..p.min((part + 1) * STEP) {
                for y in graph.neighbours_above(x).map(|y| y as usize) {
                    let (one, other) = (cells[x * p + y], cells[y * p + x]);
                    if differ(one, other) {
                        odd.fetch_min(x * p + y, Ordering::Relaxed);
                    }
                }
            }
        });
        match odd.into_inner() {
            usize::MAX => Ok(()),
            pair => Err(self.differing(pair as u64)),
        }
    }

    /// Brings a matrix's diagonal together, where that has not been done.
    fn look_at_diagonal(&mut self) {
        if let (Source::Matrix(cells), true) = (self.gauss.source, self.diagonal.is_empty()) {
            self.diagonal = cells.iter().step_by(self.gauss.p + 1).copied().collect();
        }
    }

    /// The error that the matrix is not symmetric.
    fn asymmetric(&self) -> Error {
        let (p, Source::Matrix(cells)) = (self.gauss.p, self.gauss.source) else { return self.differing(0) };
        let odd = AtomicUsize::new(usize::MAX);
        self.search.engine.held.pool.each(p.div_ceil(STEP), |part| {
            for x in part * STEP..p.min((part + 1) * STEP) {
                let differs = |&y: &usize| {
                    let (one, other) = (cells[x * p + y], cells[y * p + x]);
                    differ(one, other)
                };
                if let Some(y) = (x + 1..p).find(differs) {
                    odd.fetch_min(x * p + y, Ordering::Relaxed);
                }
            }
        });
        self.differing(odd.into_inner().min(p * p - 1) as u64)
    }

    /// The error that the correlations of the pair x * p + y differ, as only the rows of a pair's two vertices are looked at.
    fn differing(&self, key: u64) -> Error {
        let (x, y) = (key as usize / self.gauss.p, key as usize % self.gauss.p);
        let cell = |x: usize, y: usize| match self.gauss.source {
            Source::Matrix(cells) => cells[x * self.gauss.p + y],
            Source::Data(..) => f64::NAN,
        };
        Error::Argument {
            argument: "suffStat",
            value: format!("with C[{0}, {1}] = {2:e} and C[{1}, {0}] = {3:e}", x + 1, y + 1, cell(y, x), cell(x, y)),
            mend: "where the GPU's memory does not hold C, C must be symmetric to the last digit: give (C + t(C)) / 2"
                .into(),
        }
    }
}
