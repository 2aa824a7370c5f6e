//! The Gaussian test for a search whose graph and answers are on the host: a GPU holds as much of the correlations as it has memory for, and
//! answers parts of levels. One GPU within little memory is the dissertation's algorithm 16; several that share a search are its algorithm 17.
//!
//! * `marginal`: columns of level 0, by panels of rows. `slices`: pairs of level 1 by slices of the variables that they are tested given, of
//!   sparse graphs of the upper triangle.
//! * `packed`, `local`: a side of a pair needs the correlations of its row's neighbours alone: such small matrices, of as many rows as fit, from
//!   level 2 on, and at level 1 where they are smaller than the slices that would pass.
//!
//! Answers are those of [`CudaSearch`] to the last bit: the same kernels decide.

pub(in crate::engine::cuda) use packed::is_for_host;

mod local;
mod marginal;
mod packed;
mod slices;

use std::sync::atomic::{AtomicUsize, Ordering};

use super::rows::{Cells, Rows, STEP};
use super::source::{Gaussian, Source};
use crate::ci::gauss::Reading;
use crate::engine::cuda::arguments::SliceArgs;
use crate::engine::cuda::gpu::buffer::{Buffer, BufferId};
use crate::engine::cuda::gpu::held::{Held, Holds};
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::gpu::opened::Gpu;
use crate::engine::cuda::gpu::plan::MemoryPlan;
use crate::engine::cuda::search::p_max::PMax;
use crate::engine::cuda::search::{CudaSearch, USUAL_THREADS};
use crate::engine::cuda::{CudaEngine, CudaTest, SearchStrategy};
use crate::graph::Adjacency;
use crate::moments::Centred;
use crate::observer::Observer;
use crate::search::levels::Levels;
use crate::search::{Largest, Method, Options};
use crate::{Error, Result};

/// What a test's correlations are made of; `data`: its columns, where it has them.
fn cells_of<'c>(gauss: &Gaussian<'c>, data: &'c Option<Centred<'c>>) -> Cells<'c> {
    match (gauss.source, data) {
        (Source::Data(..), Some(data)) => Cells::Data(data),
        (Source::Data(cells, _), None) | (Source::Matrix(cells), _) => Cells::Matrix(cells),
    }
}

/// A search with all correlations, the graph and the answers on the GPU; none where these do not fit or the caller wants it part by part.
pub(in crate::engine::cuda) fn begin<'s, 'a>(
    engine: &'s mut CudaEngine<'a>,
    gauss: Gaussian<'a>,
    options: &'s Options,
    largest: Largest<'s>,
) -> Option<Box<dyn Levels + 's>> {
    let (strategy, block) = (engine.options.strategy, engine.options.block);
    let mut whole = CudaSearch::new(engine, options, largest);
    // Those of the papers have all correlations on the GPU.
    let may_be_cut = strategy == SearchStrategy::Shared;
    let is_cut = may_be_cut && (block.is_some() || whole.watched(|whole| is_too_much(whole, &gauss)).unwrap_or(false));
    (!is_cut).then(|| Box::new(whole) as Box<dyn Levels>)
}

/// Whether two correlations are not the same; all NaN are.
fn differ(one: f64, other: f64) -> bool {
    one != other && !(one.is_nan() && other.is_nan())
}

/// Has the GPU add up hashes of rows of the matrix, to tell whether it is symmetric.
fn hash(gpu: &Gpu, args: &SliceArgs) -> Result<()> {
    let rows = (args.end_z - args.first_z).min(65_535) as u32;
    let grid = (args.pitch.div_ceil(4 * u64::from(USUAL_THREADS)) as u32, rows);
    // SAFETY: the rows are there.
    unsafe { gpu.launch(Kernel::slice_symmetry.on(grid, USUAL_THREADS, 0), args) }
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

/// What stays from one part of a level to the next.
#[derive(Default)]
pub(in crate::engine::cuda) struct State {
    /// Columns of data on the GPU.
    rows: Rows,
    /// Whether they are there, and nothing of another kind of search is in their way.
    is_there: bool,
    /// The correlations of variables with themselves, of a matrix, once they are asked for.
    diagonal: Vec<f64>,
    /// Whether correlations of a matrix that are asked for from now on are known to be those of the other triangle, too; and whether the blocks of the
    /// level that runs are looked at for that.
    is_symmetric: bool,
    are_all_looked_at: bool,
    /// The sum of hashes of a matrix below its diagonal, once all of level 0 has run.
    lower: Option<u64>,
    /// Whether all correlations are at the start of [`Buffer::Data`].
    is_whole: bool,
    /// The blocks of a level's rows, or the slices of level 1, that are on the GPU.
    placed: Option<packed::Standing>,
    level: Option<slices::Level>,
}

impl State {
    /// Something else runs on the GPU: nothing there can be relied on.
    pub fn leave(&mut self) {
        (self.is_there, self.is_whole, self.placed, self.level) = (false, false, None, None);
    }
}

/// Parts of levels on one GPU.
pub(in crate::engine::cuda) struct Blocks<'w, 'a> {
    /// The GPU, and what kernels are launched with. It keeps no p-values.
    search: CudaSearch<'w, 'a>,
    gauss: Gaussian<'a>,
    /// The columns of data, where correlations are made of these.
    data: Option<Centred<'a>>,
    state: State,
}

impl<'a> CudaEngine<'a> {
    /// Runs a part of a level of the Gaussian test; `na_delete`: whether a test without an answer separates; `fixed`: pairs that are not tested.
    pub(in crate::engine::cuda) fn by_blocks<T>(
        &mut self,
        na_delete: bool,
        fixed: Option<&Adjacency>,
        run: impl FnOnce(&mut Blocks) -> Result<T>,
    ) -> Result<T> {
        let CudaTest::Gauss(gauss) = self.test else { return Err(Error::Interrupted) };
        let method = if gauss.test.reading() == Reading::StableFast { Method::StableFast } else { Method::Stable };
        let fixed_edges = fixed.cloned();
        let options = Options { method, na_delete, fixed_edges, ..Options::new(gauss.p, self.alpha) };
        // They are going to be elsewhere.
        self.correlations = None;
        let data = match gauss.source {
            Source::Data(x, n) => Some(Centred::of_cells(x, n)),
            Source::Matrix(_) => None,
        };
        let state = std::mem::take(&mut self.blocks);
        let search = CudaSearch::with_p_max(self, &options, PMax::none(gauss.p));
        let mut blocks = Blocks { search, gauss, data, state };
        let outcome = blocks.watched(run);
        let Blocks { search, mut state, .. } = blocks;
        if outcome.is_err() {
            state.leave();
        }
        search.engine.blocks = state;
        outcome
    }
}

impl Holds for Blocks<'_, '_> {
    fn held(&mut self) -> &mut Held {
        &mut self.search.engine.held
    }
}

impl Blocks<'_, '_> {
    /// The number of rows that panels have where the caller says so, in whole blocks.
    fn wished_rows(&self) -> Option<usize> {
        self.search.engine.options.block.map(|rows| rows.max(1).next_multiple_of(STEP))
    }

    /// Plans what does not depend on the graph, in place of all that was there before.
    fn plan_gpu(&mut self) -> Result<()> {
        (self.state.is_whole, self.state.placed, self.state.level) = (false, None, None);
        let held = &mut self.search.engine.held;
        if self.state.is_there {
            let kept = kept();
            held.spare(&BufferId::ALL.iter().copied().filter(|what| !kept.contains(what)).collect::<Vec<_>>())?;
            let plan = held.plan.clone();
            self.search.plan_variables(0);
            let held = &mut self.search.engine.held;
            kept.into_iter().for_each(|what| held.plan.raise(what, plan.of(what)));
        } else {
            held.spare(BufferId::ALL)?;
            // The uses that are not known yet get what is left.
            self.search.plan_variables(0);
            let room = self.search.engine.held.room(&[])?;
            let held = &mut self.search.engine.held;
            self.state.rows.plan(held, cells_of(&self.gauss, &self.data), self.gauss.p, room);
        }
        self.search.engine.held.plan.set(Buffer::PMax, 0);
        Ok(())
    }

    /// Has what is planned there, and sends what correlations are made of, where that is not there.
    fn begin_gpu(&mut self, observer: &mut dyn Observer) -> Result<()> {
        if self.state.is_there {
            self.search.engine.held.commit()?;
            return self.search.set_places();
        }
        // Nothing that another search left is in the way.
        self.search.engine.held.commit_exactly()?;
        self.search.set_places()?;
        let held = &mut self.search.engine.held;
        self.state.rows.begin(held, cells_of(&self.gauss, &self.data), self.gauss.p, &mut || observer.look())?;
        self.state.is_there = true;
        Ok(())
    }

    /// Brings a matrix's diagonal together, where that has not been done.
    fn look_at_diagonal(&mut self) {
        if let (Source::Matrix(cells), true) = (self.gauss.source, self.state.diagonal.is_empty()) {
            self.state.diagonal = cells.iter().step_by(self.gauss.p + 1).copied().collect();
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
            hint: "where a search runs on GPUs in parts, C must be symmetric to the last digit: give (C + t(C)) / 2"
                .into(),
        }
    }
}

/// The uses of memory that stay from one part of a level to the next.
fn kept() -> [BufferId; 3] {
    [Buffer::Report.into(), Buffer::Columns.into(), Buffer::Batch.into()]
}
