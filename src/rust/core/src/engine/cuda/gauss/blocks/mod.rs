//! The Gaussian test for a search whose graph and answers are on the host. A GPU holds as much of the correlations as it has memory for,
//! and answers parts of levels. One GPU within little memory is the dissertation's algorithm 16; several that share a search are its
//! algorithm 17.
//!
//! * `marginal`: columns of level 0, by panels of rows. For many variables, `screen` first finds the tiles that must be computed.
//! * `values`: p-values of single pairs given the empty set, which level 0 leaves out.
//! * `slices`: pairs of level 1, by slices of the variables that they are tested given; in sparse graphs, by slices of the upper triangle.
//! * `packed`, `local`: sides of pairs, which need only the correlations of their row's neighbours. From level 2 on, as many rows as fit have
//!   their small matrices. Level 1 does so if they are smaller than the slices.
//!
//! The answers equal those of [`CudaSearch`] to the last bit, as the same kernels decide.

pub(in crate::engine::cuda) use packed::is_for_host;

mod local;
mod marginal;
mod packed;
mod screen;
mod slices;
mod values;

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
use crate::moments::{of_two, Centred};
use crate::observer::Observer;
use crate::random::{below, philox, Key, Purpose};
use crate::search::levels::Levels;
use crate::search::{Largest, Method, Options};
use crate::{Error, Result};

/// Returns the source of a test's correlations; `data` has its columns, if they come from data.
fn cells_of<'c>(gauss: &Gaussian<'c>, data: &'c Option<Centred<'c>>) -> Cells<'c> {
    match (gauss.source, data) {
        (Source::Data(..), Some(data)) => Cells::Data(data),
        (Source::Data(cells, _), None) | (Source::Matrix(cells), _) => Cells::Matrix(cells),
    }
}

/// Starts a search with all correlations, the graph and the answers on the GPU. Returns `None` if these do not fit or the caller wants
/// parts.
pub(in crate::engine::cuda) fn begin<'s, 'a>(
    engine: &'s mut CudaEngine<'a>,
    gauss: Gaussian<'a>,
    options: &'s Options,
    largest: Largest<'s>,
) -> Option<Box<dyn Levels + 's>> {
    let (strategy, block) = (engine.options.strategy, engine.options.block);
    let mut whole = CudaSearch::new(engine, options, largest);
    // The papers' strategies need all correlations on the GPU.
    let may_be_cut = strategy == SearchStrategy::Shared;
    let is_cut = may_be_cut && (block.is_some() || whole.watched(|whole| is_too_much(whole, &gauss)).unwrap_or(false));
    (!is_cut).then(|| Box::new(whole) as Box<dyn Levels>)
}

/// Returns whether two correlations differ; all NaN are equal.
fn differ(one: f64, other: f64) -> bool {
    one != other && !(one.is_nan() && other.is_nan())
}

/// Adds up hashes of rows of the matrix on the GPU, to tell whether it is symmetric.
fn hash(gpu: &Gpu, args: &SliceArgs) -> Result<()> {
    let rows = (args.end_z - args.first_z).min(65_535) as u32;
    let grid = (args.pitch.div_ceil(4 * u64::from(USUAL_THREADS)) as u32, rows);
    // SAFETY: the rows are there.
    unsafe { gpu.launch(Kernel::slice_symmetry.on(grid, USUAL_THREADS, 0), args) }
}

/// Returns the p-value of a pair given the empty set, computed on the host.
fn p_value(gauss: &Gaussian, x: usize, y: usize) -> f64 {
    let r = match gauss.source {
        Source::Matrix(cells) => cells[x * gauss.p + y],
        Source::Data(cells, n) => of_two(cells, n, [x, y]),
    };
    gauss.test.p_of_correlation(r, 0)
}

/// Bytes of lists, verdicts, p-values and separating sets that level 1 needs for each neighbour, in addition to all correlations.
const BYTES_OF_NEIGHBOUR: f64 = 20.0;

/// Pairs in the [sample](dependent_share), and most multiplications for their correlations if these come from data.
const LOOKED_AT: usize = 2000;
const MOST_PRODUCTS: usize = 1 << 23;

/// Tests of level 1, if no pair were separated, from which several GPUs should share a search. Each then transfers all correlations, and all
/// results go to the host. (One and two H200: 0.96 and 0.88 s with 3e12 such tests, 4.8 and 3.1 s with 2e13.)
const SHARED_TESTS: f64 = 5e12;

/// Returns the share of a sample of pairs that are dependent given nothing. `None` for few variables, or data with too many rows for that.
fn dependent_share(gauss: &Gaussian, alpha: f64) -> Option<f64> {
    let p = gauss.p;
    if p < LOOKED_AT || matches!(gauss.source, Source::Data(_, n) if n * LOOKED_AT > MOST_PRODUCTS) {
        return None;
    }
    let dependent = (0..LOOKED_AT).filter(|&number| {
        let words = philox([number as u32, 0, 0, Purpose::Pairs as u32], Key::of_seed(1));
        let [x, y, ..] = words.map(|word| below(word, p as u32) as usize);
        x != y && p_value(gauss, x, y) < alpha
    });
    Some(dependent.count() as f64 / LOOKED_AT as f64)
}

/// Returns whether several GPUs should share a search of a matrix from its start, because level 1 takes long.
pub(in crate::engine::cuda) fn expects_long_level(gauss: &Gaussian, alpha: f64, options: &Options) -> bool {
    let tests = |share: f64| share.powi(2) * (gauss.p as f64).powi(3);
    let is_long = |share| tests(share) >= SHARED_TESTS;
    matches!(gauss.source, Source::Matrix(_)) && options.allows(1) && dependent_share(gauss, alpha).is_some_and(is_long)
}

/// Returns whether level 1 is expected to need more memory than there is besides all correlations. The exact need is known only after level
/// 0, which would then have run in vain. A sample of pairs shows how many neighbours there may be.
fn is_too_much(search: &mut CudaSearch, gauss: &Gaussian) -> Result<bool> {
    search.plan_variables(gauss.bytes());
    let room = search.engine.held.room(&[])? as f64;
    search.engine.held.plan = MemoryPlan::default();
    // Fixed gaps leave fewer `ends`.
    let all = BYTES_OF_NEIGHBOUR * search.ends as f64;
    if room >= all || room == 0.0 || !search.options.allows(1) {
        return Ok(false);
    }
    Ok(dependent_share(gauss, search.engine.alpha).is_some_and(|share| share * all > room))
}

/// The state that stays from one part of a level to the next.
#[derive(Default)]
pub(in crate::engine::cuda) struct State {
    /// Columns of data on the GPU.
    rows: Rows,
    /// Whether the columns are there, and no other kind of search has used the GPU since.
    is_there: bool,
    /// Whether the columns are also there in half precision.
    has_halves: bool,
    /// The diagonal of a matrix of correlations, once it is asked for.
    diagonal: Vec<f64>,
    /// Whether the cells of a matrix that are read from now on are known to equal those of the other triangle. `are_all_looked_at`: whether
    /// the blocks of the running level are checked for that.
    is_symmetric: bool,
    are_all_looked_at: bool,
    /// Sum of the hashes of a matrix below its diagonal, once all of level 0 has run.
    lower: Option<u64>,
    /// Whether all correlations are at the start of [`Buffer::Data`].
    is_whole: bool,
    /// The blocks of a level's rows (`placed`), or the slices of level 1 (`level`), that are on the GPU.
    placed: Option<packed::Standing>,
    level: Option<slices::Level>,
}

impl State {
    /// Forgets what is on the GPU, as something else is going to run there.
    pub fn leave(&mut self) {
        (self.is_there, self.has_halves, self.is_whole) = (false, false, false);
        (self.placed, self.level) = (None, None);
    }
}

/// Parts of levels on one GPU.
pub(in crate::engine::cuda) struct Blocks<'w, 'a> {
    /// The GPU, and the arguments of kernels. It keeps no p-values.
    search: CudaSearch<'w, 'a>,
    gauss: Gaussian<'a>,
    /// The columns of data, if correlations are computed from data.
    data: Option<Centred<'a>>,
    state: State,
}

impl<'a> CudaEngine<'a> {
    /// Runs a part of a level of the Gaussian test. `na_delete`: whether a test without an answer separates; `fixed`: pairs that are not
    /// tested.
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
        // The correlations are going to be elsewhere.
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
    /// Returns the number of rows of a panel that the caller asks for, rounded up to whole blocks of [`STEP`].
    fn wished_rows(&self) -> Option<usize> {
        self.search.engine.options.block.map(|rows| rows.max(1).next_multiple_of(STEP))
    }

    /// Plans memory that does not depend on the graph, in place of the previous plan. `rows`: how many bit rows of graphs there are;
    /// `is_marginal`: whether level 0 follows.
    fn plan_gpu(&mut self, rows: usize, is_marginal: bool) -> Result<()> {
        (self.state.is_whole, self.state.placed, self.state.level) = (false, None, None);
        self.state.has_halves &= is_marginal;
        let held = &mut self.search.engine.held;
        if self.state.is_there {
            let mut kept = kept().to_vec();
            if self.state.has_halves {
                kept.push(Buffer::Halves.into());
            }
            held.spare(&BufferId::ALL.iter().copied().filter(|what| !kept.contains(what)).collect::<Vec<_>>())?;
            let plan = held.plan.clone();
            self.search.plan_rows(0, rows);
            let held = &mut self.search.engine.held;
            kept.into_iter().for_each(|what| held.plan.raise(what, plan.of(what)));
        } else {
            held.spare(BufferId::ALL)?;
            // The uses that are not known yet get what is left.
            self.search.plan_rows(0, rows);
            // P-values of all pairs are not kept here.
            let room = self.search.engine.held.room(&[Buffer::PMax.into()])?;
            let held = &mut self.search.engine.held;
            self.state.rows.plan(held, cells_of(&self.gauss, &self.data), self.gauss.p, room);
        }
        self.search.engine.held.plan.set(Buffer::PMax, 0);
        Ok(())
    }

    /// Allocates the plan, and sends the source of the correlations if it is not on the GPU.
    fn begin_gpu(&mut self, observer: &mut dyn Observer) -> Result<()> {
        if self.state.is_there {
            self.search.engine.held.commit()?;
            return self.search.set_places();
        }
        // The exact plan removes what another search left.
        self.search.engine.held.commit_exactly()?;
        self.search.set_places()?;
        let held = &mut self.search.engine.held;
        self.state.rows.begin(held, cells_of(&self.gauss, &self.data), self.gauss.p, &mut || observer.look())?;
        self.state.is_there = true;
        Ok(())
    }

    /// Gathers the diagonal of a matrix, once.
    fn look_at_diagonal(&mut self) {
        if let (Source::Matrix(cells), true) = (self.gauss.source, self.state.diagonal.is_empty()) {
            self.state.diagonal = cells.iter().step_by(self.gauss.p + 1).copied().collect();
        }
    }

    /// Returns the error that the matrix is not symmetric, with the first pair that differs.
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

    /// Returns the error that the matrix is not symmetric, for the pair `key` = x * p + y.
    fn differing(&self, key: u64) -> Error {
        let (x, y) = (key as usize / self.gauss.p, key as usize % self.gauss.p);
        let cell = |x: usize, y: usize| match self.gauss.source {
            Source::Matrix(cells) => cells[x * self.gauss.p + y],
            Source::Data(..) => f64::NAN,
        };
        Error::Argument {
            argument: "suffStat",
            value: format!("has C[{0}, {1}] = {2:e} and C[{1}, {0}] = {3:e}", x + 1, y + 1, cell(y, x), cell(x, y)),
            hint: "a search in parts on GPUs needs an exactly symmetric C; give (C + t(C)) / 2".into(),
        }
    }
}

/// Returns the uses of memory that stay from one part of a level to the next.
fn kept() -> [BufferId; 3] {
    [Buffer::Report.into(), Buffer::Columns.into(), Buffer::Batch.into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::gauss::FisherZ;

    #[test]
    fn a_sample_shows_how_many_pairs_are_dependent() {
        let p = LOOKED_AT;
        // A third of the variables depend on each other.
        let is_one = |x: usize| x % 3 == 0;
        let mut c = vec![0.0; p * p];
        (0..p * p).filter(|at| is_one(at / p) && is_one(at % p)).for_each(|at| c[at] = 0.9);
        let of = |p: usize, source| Gaussian {
            test: FisherZ::new(100.0, Reading::GaussCItest).unwrap(),
            p,
            source,
            check: None,
        };
        let share = dependent_share(&of(p, Source::Matrix(&c)), 0.01).unwrap();
        assert!((share - 1.0 / 9.0).abs() < 0.03, "{share}");
        assert_eq!(dependent_share(&of(p - 1, Source::Matrix(&c)), 0.01), None);
        assert_eq!(dependent_share(&of(p, Source::Data(&[], 1 + MOST_PRODUCTS / LOOKED_AT)), 0.01), None);
        assert!(!expects_long_level(&of(p, Source::Matrix(&c)), 0.01, &Options::new(p, 0.01)));
    }
}
