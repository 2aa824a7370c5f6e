//! The CUDA engine: the Gaussian test, tests of discrete variables, the nearest-neighbour test and feature selection on one
//! NVIDIA GPU.
//!
//! * [`gpu`]: what every test needs of a GPU: device, memory, plan, copies, compiled kernels.
//! * `search`: PC-stable, with the graph and all answers on the GPU until the end.
//! * [`gauss`], `discrete`: the levels of a search and arbitrary questions, for the Gaussian test and for discrete variables;
//!   `questions`: how a batch of questions is launched, `cut`: how it is cut where not all columns fit; `asked`: a test that is asked in batches, as a worker; [`gauss::correlation`] makes the correlation matrix of data.
//! * [`knn`]: the nearest-neighbour test. [`mixed`]: tests of numbers and levels. [`selection`]: the counts of a feature selection.
//! * `arguments`: structs, constants and sizes that host and kernels share; `pointer`: addresses in device memory. The kernels' sources
//!   are in kernels/.

#[rustfmt::skip]
mod arguments;
mod asked;
mod cut;
mod discrete;
pub mod gauss;
pub mod gpu;
pub mod knn;
mod lists;
pub mod mixed;
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
use crate::engine::LevelOne;
use crate::matrix;
use crate::observer::Observer;
use crate::pool::{default_threads, Pool};
use crate::search::book::{Book, Page};
use crate::search::levels::Levels;
use crate::search::pairs::{PairLevel, Pairwise, Take};
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
use gpu::unified::MemoryKind;
use ndarray::ArrayView2;
use pointer::DevicePtr;
use search::CudaSearch;

/// How the tests of a level are handed out on the GPU. All strategies give the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStrategy {
    /// Ours: a set is tested for all pairs of its row at once. The Gaussian test starts from covariances given the set's prefix;
    /// tests of discrete variables compute the strata of the samples once.
    Shared,
    /// cuPC-E's (Zarebavani et al. 2020, algorithm 4): blocks of `beta` edges, `gamma` tests of each at a time. For discrete
    /// variables this is disc-cupc's, which gpuPC's authors compare theirs with.
    Edge {
        /// Edges in a block.
        beta: u32,
        /// Tests of an edge that run at a time.
        gamma: u32,
    },
    /// cuPC-S's (algorithm 5): threads invert the correlations of one set each and test it for all pairs of a row. Only for the
    /// Gaussian test.
    Set {
        /// Sets in a block.
        theta: u32,
        /// Blocks a row.
        delta: u32,
    },
    /// gpucsl's (C. Hagedorn's dissertation, 2023). The Gaussian test (algorithms 4 to 7): a block an edge, whose threads share the edge's
    /// sets. Tests of discrete variables are gpuPC's (Hagedorn and Huegle 2021; algorithms 9 to 11): threads share a table.
    Gpucsl {
        /// Edges in a block, for discrete variables alone; 0: 1.
        beta: u32,
        /// Tests of an edge that run at a time, for discrete variables alone; 0: 2.
        gamma: u32,
        /// Threads that share an edge's sets, or a table: a multiple of 32.
        delta: u32,
    },
}

impl SearchStrategy {
    /// Edges of a block and tests of each at a time, for discrete variables by gpuPC's mapping.
    fn tables(beta: u32, gamma: u32) -> [u32; 2] {
        [if beta == 0 { 1 } else { beta }, if gamma == 0 { 2 } else { gamma }]
    }
}

/// How to run on the GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CudaOptions {
    /// Number of the GPU, from 0.
    pub ordinal: usize,
    /// How to hand out the tests.
    pub strategy: SearchStrategy,
    /// Which memory it takes.
    pub memory: MemoryKind,
    /// Most bytes of it that a search may use; none: what is free. One that takes more runs in parts.
    pub memory_budget: Option<u64>,
    /// How sets of one variable are run where the strategy is ours.
    pub level_one: LevelOne,
    /// Rows of the correlation matrix that the Gaussian search has on the GPU at a time: it then goes by blocks of so many, rounded up to 64,
    /// whatever memory there is. None: by blocks where memory does not suffice, as large as it allows.
    pub block: Option<usize>,
    /// In place of a density: sets of one variable of 64 rows with so many neighbours in all are run by columns, and from the second
    /// number on by masks. For tests.
    pub level_one_ends: Option<[u64; 2]>,
    /// How large launches of level 1 and of the papers' strategies are, and the shards of a team, 1 being some hundredths of a second. For tests, in which they else
    /// never are several.
    pub launch_share: f64,
    /// Rows with so many neighbours are run by blocks, in single precision first, where the strategy is ours and sets have two
    /// members or more. None: as many as it pays for.
    pub wide_from: Option<u64>,
}

impl Default for CudaOptions {
    fn default() -> Self {
        CudaOptions {
            ordinal: 0,
            strategy: SearchStrategy::Shared,
            memory: MemoryKind::Device,
            memory_budget: None,
            level_one: LevelOne::ByDensity,
            block: None,
            level_one_ends: None,
            launch_share: 1.0,
            wide_from: None,
        }
    }
}

impl CudaOptions {
    fn check(&self, discrete: bool) -> Result<()> {
        let refused = |hint: &str| {
            Err(Error::Argument { argument: "strategy", value: format!("{:?}", self.strategy), hint: hint.into() })
        };
        // A block could have 1024 threads, but their working memory must fit.
        let threads = match self.strategy {
            SearchStrategy::Shared => 1,
            SearchStrategy::Edge { beta, gamma } => u64::from(beta) * u64::from(gamma),
            SearchStrategy::Set { .. } if discrete => {
                return refused(
                    "it is the Gaussian test's: give \"shared\", \"edge\" or \"gpucsl\" for discrete variables",
                );
            }
            SearchStrategy::Set { theta, delta } => u64::from(theta) * u64::from(delta.min(1)),
            SearchStrategy::Gpucsl { beta, gamma, .. } if !discrete && (beta > 0 || gamma > 0) => {
                return refused("beta and gamma are for discrete variables: leave them out for the Gaussian test");
            }
            SearchStrategy::Gpucsl { delta, .. } if delta % WARP != 0 => {
                return refused("give a multiple of 32 as delta");
            }
            SearchStrategy::Gpucsl { delta, .. } if !discrete => u64::from(delta),
            SearchStrategy::Gpucsl { beta, gamma, delta } => {
                let [beta, gamma] = SearchStrategy::tables(beta, gamma);
                u64::from(beta) * u64::from(gamma) * u64::from(delta)
            }
        };
        if threads == 0 || threads > 256 {
            return refused(
                "give numbers of at least 1 that make blocks of at most 256 threads: beta * gamma, theta, delta or, for discrete variables, beta * gamma * delta",
            );
        }
        Ok(())
    }
}

/// The size of a block that has working memory.
struct BlockSize {
    threads: u32,
    /// Bytes of shared memory of a block.
    shared: u64,
}

/// The test that an engine runs.
#[derive(Clone, Copy, Debug)]
enum CudaTest<'a> {
    Gauss(Gaussian<'a>),
    Discrete(Discrete<'a>),
}

/// The Gaussian test or one of discrete variables, on one GPU.
///
/// Its answers are the CPU engine's: the same graph, separating sets and counts, and p-values to 1e-9.
pub struct CudaEngine<'a> {
    test: CudaTest<'a>,
    alpha: f64,
    options: CudaOptions,
    held: Held,
    /// Where the correlations are on the GPU, once they are.
    correlations: Option<DevicePtr<f64>>,
    /// Correlations that were made on the GPU and brought to the host; empty before.
    brought: Vec<f64>,
    /// What stays on the GPU from one part of a level to the next (the Gaussian test).
    blocks: State,
    /// Where the level codes are on the GPU.
    coding: Option<Coding>,
    /// Columns that stay there from one part of a level to the next (discrete variables).
    standing: Option<Standing>,
    /// The codes of all variables as the GPU reads them in the host's memory, where it does not hold all.
    packed: Option<Packed>,
    /// How the tests of the level are counted (discrete variables).
    counted: Counted,
}

impl<'a> CudaEngine<'a> {
    /// The test `gauss` at significance level `alpha` on a GPU, which is opened (0.2 s once a process).
    ///
    /// # Errors
    /// [`Error::Device`] where no GPU can be used, [`Error::Argument`] where there is no GPU `ordinal` or the strategy's
    /// numbers do not make a block of 1 to 256 threads, or are another test's.
    pub fn new(gauss: Gauss<'a>, alpha: f64, options: CudaOptions) -> Result<Self> {
        let source = Source::Matrix(gauss.matrix());
        Self::open(CudaTest::Gauss(Gaussian { test: gauss.test, p: gauss.p(), source, check: None }), alpha, options)
    }

    /// The same engine, which takes this check of its matrix over where a search has all of it on the GPU.
    pub fn checked_by(mut self, check: Option<&'a Check<'a>>) -> Self {
        if let CudaTest::Gauss(gauss) = &mut self.test {
            gauss.check = check;
        }
        self
    }

    /// The test with the correlations of `x`, n x p, kept by column, each less its mean, which the GPU makes when it first needs
    /// them: those of [`correlation`](gauss::correlation::correlation()) to the last bit.
    ///
    /// # Errors
    /// Those of [`CudaEngine::new`].
    pub fn of_data(test: FisherZ, x: ArrayView2<'a, f64>, alpha: f64, options: CudaOptions) -> Result<Self> {
        let (n, p) = x.dim();
        let Some(cells) = matrix::cells(x).filter(|cells| !cells.is_empty()) else {
            return Err(Error::Argument {
                argument: "suffStat",
                value: format!("with data of {n} x {p} numbers"),
                hint: "give at least one row and one column, by column".into(),
            });
        };
        Self::open(CudaTest::Gauss(Gaussian { test, p, source: Source::Data(cells, n), check: None }), alpha, options)
    }

    /// Likewise a test of discrete variables.
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

    /// Lets these threads of the CPU help.
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.held.pool = pool;
        self
    }

    /// The largest plan of the GPU's memory so far.
    pub fn plan(&self) -> &MemoryPlan {
        self.held.largest_plan()
    }

    /// Something else than a part of a level runs on the GPU: nothing there can be relied on.
    fn leave(&mut self) {
        self.blocks.leave();
        self.standing = None;
    }

    /// Bytes of the data on the GPU.
    fn data_bytes(&self) -> u64 {
        match &self.test {
            CudaTest::Gauss(gauss) => gauss.bytes(),
            CudaTest::Discrete(test) => data_bytes(test),
        }
    }

    /// Places the working memory of warps, `doubles` each: in shared memory where that of a block of `threads`, or of one warp,
    /// fits, else in the device memory that is planned for it.
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

    /// Blocks that run rows with many neighbours, see gauss/wide.cuh, at most.
    fn wide_blocks(&self) -> u64 {
        gauss::sets::WIDE_TOGETHER * u64::from(self.held.gpu.processors)
    }

    /// Bytes of device memory that `working_memory` takes for `warps`.
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
            // Enough blocks for a large GPU, and few enough tests that few are asked in vain.
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

/// Alone it takes whole levels of a search that is not kept, which is quicker; of others parts of levels, whose answers are the host's.
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
        self.blocks.leave();
        self.held.begin(Some(0));
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

/// Sides that are laid out at once: fewer leave a GPU idle at the end of each part.
const SIDES: usize = 1 << 20;

/// Tests that a GPU does in about the time that beginning a part of a level takes. For discrete variables these are samples times tests; a test
/// of fewer samples takes as long as one of `FEW_SAMPLES`.
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

    fn pairs(&mut self, level: &PairLevel, rows: &Range<usize>, take: Take, observer: &mut dyn Observer) -> Result<()> {
        self.held.begin(Some(1));
        let Options { na_delete, fixed_edges, .. } = level.options;
        self.by_blocks(*na_delete, fixed_edges.as_ref(), |blocks| blocks.pairs(level, rows, take, observer))
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

    /// Where memory turns out not to suffice it is cut, unless all correlations must be there.
    fn ends(&mut self, error: Option<&Error>) -> bool {
        let may_be_cut = matches!(self.test, CudaTest::Discrete(_)) || self.options.strategy == SearchStrategy::Shared;
        may_be_cut && error.is_none_or(Error::is_short_of_device_memory)
    }
}

/// Several GPUs as one worker: the engines that `make` makes by number, all for the same test; `names` are those of their GPUs. A GPU that cannot
/// be opened is left out, see [`Worker::team`].
///
/// # Errors
/// Where none can be opened, the last one's; any other error than [`Error::Device`]; [`Error::Argument`] for a strategy of the papers,
/// which are those of one GPU.
pub fn team<'a>(names: &[String], make: impl Fn(usize) -> Result<CudaEngine<'a>>) -> Result<Team<'a>> {
    let (mut team, mut pool, mut last) = (Team::new(Pool::none()), None, None);
    for (number, name) in names.iter().enumerate() {
        match make(number) {
            Ok(engine) if engine.options.strategy != SearchStrategy::Shared => {
                return Err(Error::Argument {
                    argument: "strategy",
                    value: format!("{:?} on {} GPUs", engine.options.strategy, names.len()),
                    hint: "it runs on one GPU: give one, or strategy = \"shared\"".into(),
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
            Err(Error::Argument { argument: "device", value: "no GPU".into(), hint: "name at least one".into() })
        }
    }
}
