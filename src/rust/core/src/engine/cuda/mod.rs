//! The CUDA engine: the Gaussian test, tests of discrete variables, the nearest-neighbour test, tests of mixed data and feature selection on one
//! NVIDIA GPU.
//!
//! * [`gpu`]: what every test uses on a GPU: device, memory, plan, copies, compiled kernels.
//! * `search`: PC-stable with the graph and all answers on the GPU until the end.
//! * [`gauss`], `discrete`: the levels of a search and arbitrary questions, for the Gaussian test and for discrete variables.
//!   [`gauss::correlation`] computes the correlation matrix of data.
//! * `questions`: launches a batch of questions. `cut`: cuts a batch if not all columns fit. `asked`: makes a worker of a test that answers
//!   batches.
//! * [`knn`]: the nearest-neighbour test. [`mixed`]: tests of numbers and levels. [`selection`]: the counts for feature selection.
//! * `options`: how to run on the GPU. `arguments`: structs, constants and sizes that host and kernels share. `pointer`: addresses in device memory. The kernels' sources are in
//!   kernels/.

#[rustfmt::skip]
mod arguments;
mod asked;
mod cut;
mod discrete;
pub mod features;
pub mod gauss;
pub mod gpu;
pub mod knn;
mod lists;
pub mod mixed;
mod options;
mod pointer;
mod questions;
mod search;
pub mod selection;

use std::ops::Range;

use crate::ci::correlations::Check;
use crate::ci::discrete::Discrete;
use crate::ci::gauss::{FisherZ, Gauss};
use crate::ci::Batch;
use crate::engine::batched::{self, Asker, Reply};
use crate::engine::cuda::arguments::SearchArgs;
use crate::engine::team::Team;
use crate::matrix;
use crate::observer::Observer;
use crate::pool::{default_threads, Pool};
use crate::search::book::{Book, Page};
use crate::search::levels::Levels;
use crate::search::pairs::{PairLevel, PairRows, Pairwise};
use crate::search::shards::Work;
use crate::search::sweep::Sweeper;
use crate::search::worker::{Alone, Column, Marginals, Parted, Worker};
use crate::search::Largest;
use crate::search::Options;
use crate::team::{Moved, TeamReport};
use crate::{Error, Result};
use discrete::columns::Packed;
use discrete::counting::{data_bytes, Coding};
use discrete::rows::Standing;
use discrete::Counted;
use gauss::blocks::State;
use gauss::source::{Gaussian, Source};
use gpu::buffer::Buffer;
use gpu::held::{Held, Holds};
use gpu::kernels::WARP;
use gpu::plan::MemoryPlan;
use ndarray::ArrayView2;
use pointer::DevicePtr;
use search::CudaSearch;

pub use options::{CudaOptions, GpuOptions, SearchStrategy};

/// The size of a block and of its working memory.
struct BlockSize {
    threads: u32,
    /// Bytes of shared memory per block.
    shared: u64,
}

/// The test that an engine runs.
#[derive(Clone, Copy, Debug)]
enum CudaTest<'a> {
    Gauss(Gaussian<'a>),
    Discrete(Discrete<'a>),
}

/// The Gaussian test or a test of discrete variables on one GPU.
///
/// Its graph, separating sets and counts equal those of the CPU engine; its p-values agree to 1e-9.
pub struct CudaEngine<'a> {
    test: CudaTest<'a>,
    alpha: f64,
    options: CudaOptions,
    held: Held,
    /// The address of the correlations on the GPU, once they are there.
    correlations: Option<DevicePtr<f64>>,
    /// Correlations that the GPU computed and that were copied to the host; empty before.
    brought: Vec<f64>,
    /// Gaussian test: what stays on the GPU from one part of a level to the next.
    blocks: State,
    /// Where the level codes are on the GPU, once they are there.
    coding: Option<Coding>,
    /// Discrete variables: columns that stay on the GPU from one part of a level to the next.
    standing: Option<Standing>,
    /// The codes of all variables in host memory that the GPU reads, if the GPU does not hold them all.
    packed: Option<Packed>,
    /// Discrete variables: how the tests of the level are counted.
    counted: Counted,
}

impl<'a> CudaEngine<'a> {
    /// Makes an engine for the test `gauss` at significance level `alpha`, and opens its GPU (0.2 s once per process).
    ///
    /// # Errors
    /// [`Error::Device`] if the GPU cannot be used. [`Error::Argument`] if there is no GPU `ordinal`, if the strategy's numbers do not make a
    /// block of 1 to 256 threads, or if they belong to another test.
    pub fn new(gauss: Gauss<'a>, alpha: f64, options: CudaOptions) -> Result<Self> {
        let source = Source::Matrix(gauss.matrix());
        Self::open(CudaTest::Gauss(Gaussian { test: gauss.test, p: gauss.p(), source, check: None }), alpha, options)
    }

    /// Sets the check of the matrix that a search takes over if it has the whole matrix on the GPU.
    pub fn checked_by(mut self, check: Option<&'a Check<'a>>) -> Self {
        if let CudaTest::Gauss(gauss) = &mut self.test {
            gauss.check = check;
        }
        self
    }

    /// Makes an engine that computes the correlations of `x` on the GPU when it first needs them. `x` is n x p, stored by column, and its
    /// columns are centred. The correlations equal those of [`correlation`](gauss::correlation::correlation()) to the last bit.
    ///
    /// # Errors
    /// Those of [`CudaEngine::new`], and [`Error::Argument`] if `x` has no cells or is not stored by column.
    pub fn of_data(test: FisherZ, x: ArrayView2<'a, f64>, alpha: f64, options: CudaOptions) -> Result<Self> {
        let (n, p) = x.dim();
        let Some(cells) = matrix::cells(x).filter(|cells| !cells.is_empty()) else {
            return Err(Error::Argument {
                argument: "suffStat",
                value: format!("a list with {n} x {p} data"),
                hint: "give at least one row and one column, in column-major order".into(),
            });
        };
        Self::open(CudaTest::Gauss(Gaussian { test, p, source: Source::Data(cells, n), check: None }), alpha, options)
    }

    /// Makes an engine for a test of discrete variables at significance level `alpha`, and opens its GPU.
    ///
    /// # Errors
    /// Those of [`CudaEngine::new`], and [`Error::Argument`] for [`SearchStrategy::Set`], which only the Gaussian test has.
    pub fn discrete(test: Discrete<'a>, alpha: f64, options: CudaOptions) -> Result<Self> {
        Self::open(CudaTest::Discrete(test), alpha, options)
    }

    fn open(test: CudaTest<'a>, alpha: f64, options: CudaOptions) -> Result<Self> {
        options.check(matches!(test, CudaTest::Discrete(_)))?;
        let pool = Pool::at_most(default_threads());
        let held = Held::open(options.ordinal, pool, options.memory, options.memory_budget)?;
        let (correlations, coding, packed, counted) = Default::default();
        let (brought, blocks, standing) = Default::default();
        Ok(CudaEngine { test, alpha, options, held, correlations, brought, blocks, coding, standing, packed, counted })
    }

    /// Sets the CPU threads that help.
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.held.pool = pool;
        self
    }

    /// Returns the largest plan of GPU memory so far.
    pub fn plan(&self) -> &MemoryPlan {
        self.held.largest_plan()
    }

    /// Marks the state of the parts of a level as invalid, because other work is about to use the GPU.
    fn leave(&mut self) {
        self.blocks.leave();
        self.standing = None;
    }

    /// Returns the bytes of the data on the GPU.
    fn data_bytes(&self) -> u64 {
        match &self.test {
            CudaTest::Gauss(gauss) => gauss.bytes(),
            CudaTest::Discrete(test) => data_bytes(test),
        }
    }

    /// Places the working memory of warps, `doubles` numbers for each warp. It goes into shared memory if that of a block of `threads`, or of
    /// one warp, fits; otherwise into the planned device memory.
    fn working_memory(&mut self, args: &mut SearchArgs, doubles: u64, threads: u32) -> Result<BlockSize> {
        let bytes = 8 * doubles;
        args.scratch = DevicePtr::NULL;
        args.warp_bytes = bytes;
        let limit = u64::from(self.held.gpu.shared_limit);
        for threads in [threads, WARP] {
            let shared = bytes * u64::from(threads / WARP);
            if shared <= limit {
                return Ok(BlockSize { threads, shared });
            }
        }
        args.scratch = self.held.device(Buffer::Scratch)?;
        Ok(BlockSize { threads: WARP, shared: 0 })
    }

    /// Returns the most blocks that run rows with many neighbours; see gauss/wide.cuh.
    fn wide_blocks(&self) -> u64 {
        gauss::sets::WIDE_TOGETHER * u64::from(self.held.gpu.processors)
    }

    /// Returns the bytes of device memory that `working_memory` takes for `warps` warps.
    fn scratch_of_warps(&self, doubles: u64, warps: u32) -> u64 {
        match 8 * doubles <= u64::from(self.held.gpu.shared_limit) {
            true => 0,
            false => 8 * doubles * u64::from(warps),
        }
    }
}

impl Holds for CudaEngine<'_> {
    fn held(&mut self) -> &mut Held {
        &mut self.held
    }
}

impl Asker for CudaEngine<'_> {
    fn batch(&self) -> usize {
        match self.test {
            CudaTest::Gauss(_) => 1 << 17,
            // Enough blocks for a large GPU, but so few tests that few are asked in vain.
            CudaTest::Discrete(test) => (1 << 28) / test.data().n().clamp(1 << 12, 1 << 18),
        }
    }

    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.leave();
        self.held.begin(batch.iter().next().map(|(_, _, s)| s.len()));
        self.watched(|engine| match engine.test {
            CudaTest::Gauss(gauss) => gauss::batch::replies(engine, &gauss, batch, watch),
            CudaTest::Discrete(test) => discrete::asked::replies(engine, &test, batch, watch),
        })
    }

    fn moved(&self) -> Moved {
        self.held.moved()
    }

    fn planned(&self) -> Vec<(&'static str, u64)> {
        self.plan().parts()
    }

    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        Worker::sweeper(self)
    }
}

/// An engine that works alone takes whole levels of a search without a checkpoint, which is quicker. Otherwise it answers parts of levels, and
/// the host owns the answers.
impl Worker for CudaEngine<'_> {
    fn pool(&self) -> &Pool {
        &self.held.pool
    }

    fn shard_tests(&self) -> u64 {
        batched::SHARD_TESTS
    }

    fn sides_at_once(&self) -> usize {
        SIDES
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        self.held.begin(Some(0));
        match self.test {
            CudaTest::Gauss(_) => {
                self.by_blocks(level.options().na_delete, None, |blocks| blocks.marginal(level, columns, observer))
            }
            CudaTest::Discrete(test) => self.in_parts(test).marginal(level, columns, observer),
        }
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_gradual(&self) -> bool {
        false
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        self.answer_some(work, 0..work.shards.len(), book, observer)?.into_iter().for_each(Page::close);
        Ok(())
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        match self.test {
            CudaTest::Gauss(_) => batched::p_values(self, batch, observer),
            CudaTest::Discrete(test) => batched::p_values(&mut self.in_parts(test), batch, observer),
        }
    }

    fn marginal_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        let CudaTest::Gauss(gauss) = self.test else { return self.p_values(batch, observer) };
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.held.begin(Some(0));
        if let (Source::Data(..), None) = (gauss.source, self.correlations) {
            return self.by_blocks(true, None, |blocks| blocks.marginal_values(batch, observer));
        }
        self.blocks.leave();
        self.watched(|engine| gauss::batch::marginal_values(engine, &gauss, batch, &mut |_| observer.look()))
    }

    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        self.planned()
    }

    fn team(&mut self) -> TeamReport {
        self.held.report(self.options.ordinal)
    }

    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        match self.test {
            CudaTest::Gauss(_) => Some(self),
            CudaTest::Discrete(_) => None,
        }
    }

    fn pairwise(&mut self) -> Option<&mut dyn Pairwise> {
        match self.test {
            CudaTest::Gauss(_) => Some(self),
            CudaTest::Discrete(_) => None,
        }
    }

    fn alone(&mut self) -> Option<&mut dyn Alone> {
        Some(self)
    }
}

/// Sides that are laid out at once. With fewer, a GPU would be idle at the end of each part.
const SIDES: usize = 1 << 20;

/// Tests that a GPU does in about the time that it takes to begin a part of a level. `BUSY_COUNTS` is for discrete variables, in samples times
/// tests; a test of fewer samples than `FEW_SAMPLES` takes as long as one of `FEW_SAMPLES`.
const BUSY_TESTS: f64 = 5e7;
const BUSY_COUNTS: f64 = 5e10;
const FEW_SAMPLES: f64 = 1e3;

impl Parted for CudaEngine<'_> {
    fn busy(&self) -> f64 {
        match self.test {
            CudaTest::Gauss(_) => BUSY_TESTS * self.options.launch_share,
            CudaTest::Discrete(test) => {
                BUSY_COUNTS / (test.data().n() as f64).max(FEW_SAMPLES) * self.options.launch_share
            }
        }
    }

    fn leads(&self) -> bool {
        self.options.launch_share >= 1.0
    }

    fn moved(&self) -> Moved {
        self.held.moved()
    }

    fn answer_some<'b, 'w>(
        &mut self,
        work: &Work,
        shards: Range<usize>,
        book: &'b Book<'w>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Page<'b, 'w>>> {
        if shards.is_empty() {
            return Ok(Vec::new());
        }
        self.held.begin(Some(work.size));
        let gauss = match self.test {
            CudaTest::Gauss(gauss) => gauss,
            CudaTest::Discrete(test) => return self.in_parts(test).answer(work, shards, book, observer),
        };
        let mut pages = Vec::new();
        if work.reads_largest {
            return self.by_host(&gauss, &mut |_| observer.look())?.answer_some(work, shards, book, observer);
        }
        for shard in shards.clone().filter(|shard| gauss::blocks::is_for_host(work, *shard)) {
            let mut host = self.by_host(&gauss, &mut |_| observer.look())?;
            pages.append(&mut host.answer_some(work, shard..shard + 1, book, observer)?);
        }
        pages.append(
            &mut self.by_blocks(work.options.na_delete, None, |blocks| blocks.answer(work, shards, book, observer))?,
        );
        Ok(pages)
    }
}

impl Pairwise for CudaEngine<'_> {
    fn prefers_pairs(&mut self, level: &PairLevel) -> Result<bool> {
        let Options { na_delete, fixed_edges, .. } = level.options;
        self.by_blocks(*na_delete, fixed_edges.as_ref(), |blocks| blocks.prefers_pairs(level))
    }

    fn pairs(&mut self, level: &PairLevel, rows: &mut PairRows, observer: &mut dyn Observer) -> Result<()> {
        self.held.begin(Some(1));
        let Options { na_delete, fixed_edges, .. } = level.options;
        self.by_blocks(*na_delete, fixed_edges.as_ref(), |blocks| blocks.pairs(level, rows, observer))
    }
}

impl Alone for CudaEngine<'_> {
    fn begin<'s>(&'s mut self, options: &'s Options, largest: Largest<'s>) -> Result<Option<Box<dyn Levels + 's>>> {
        self.leave();
        if let CudaTest::Gauss(gauss) = self.test {
            return Ok(gauss::blocks::begin(self, gauss, options, largest));
        }
        if self.coding.is_none() {
            self.held.restart();
        }
        Ok(Some(Box::new(CudaSearch::new(self, options, largest))))
    }

    fn expects_long_level(&self, options: &Options) -> bool {
        match self.test {
            CudaTest::Gauss(gauss) => gauss::blocks::expects_long_level(&gauss, self.alpha, options),
            CudaTest::Discrete(_) => false,
        }
    }

    /// Returns whether the search begins again by parts: yes if memory ran short or the search ended for the sake of a long level, unless the
    /// strategy needs all correlations on the GPU.
    fn ends(&mut self, error: Option<&Error>) -> bool {
        let may_be_cut = matches!(self.test, CudaTest::Discrete(_)) || self.options.strategy == SearchStrategy::Shared;
        may_be_cut && error.is_none_or(Error::is_short_of_device_memory)
    }
}

/// Makes one worker of several GPUs: `make(number)` makes the engine of each, all for the same test, and `names` are the GPUs' names. A GPU that
/// cannot be opened is left out; see [`Worker::team`].
///
/// # Errors
/// If no GPU can be opened, the last [`Error::Device`]; any other error that `make` returns; [`Error::Argument`] if `names` is empty, or for a
/// strategy of the papers, which runs on one GPU.
pub fn team<'a>(names: &[String], make: impl Fn(usize) -> Result<CudaEngine<'a>>) -> Result<Team<'a>> {
    let (mut team, mut pool, mut last) = (Team::new(Pool::none()), None, None);
    for (number, name) in names.iter().enumerate() {
        match make(number) {
            Ok(engine) if engine.options.strategy != SearchStrategy::Shared => {
                return Err(Error::Argument {
                    argument: "strategy",
                    value: format!("{:?} on {} GPUs", engine.options.strategy, names.len()),
                    hint: "this strategy runs on one GPU; give one GPU, or strategy = \"shared\"".into(),
                });
            }
            Ok(engine) => {
                pool.get_or_insert_with(|| engine.held.pool.clone());
                team = team.with(name.clone(), engine);
            }
            Err(Error::Device(error)) => {
                team = team.without(name.clone(), error.clone());
                last = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    match (pool, last) {
        (Some(pool), _) => Ok(team.on(pool)),
        (None, Some(error)) => Err(Error::Device(error)),
        (None, None) => {
            Err(Error::Argument { argument: "device", value: "empty".into(), hint: "name at least one GPU".into() })
        }
    }
}
