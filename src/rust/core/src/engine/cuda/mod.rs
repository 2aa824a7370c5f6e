//! The CUDA engine: the Gaussian test and the nearest-neighbour test on one NVIDIA GPU.
//!
//! * [`device`]: the cards, and what a process keeps on one.
//! * [`plan`]: what a search needs of a card's memory.
//! * `search`: PC-stable, with the graph and all answers on the card until the end; `sets`: its levels of two and more;
//!   `log`: its separating sets.
//! * `batch`: arbitrary questions.
//! * [`knn`]: the nearest-neighbour test.
//! * [`correlation`](mod@correlation): the correlation matrix of data.
//! * [`about`]: what the kernels are compiled to.
//! * `kernels`: the compiled kernels and their arguments; their sources are in kernels/.

pub mod about;
mod batch;
pub mod correlation;
pub mod device;
mod kernels;
pub mod knn;
mod log;
mod memory;
pub mod plan;
mod rules;
mod search;
mod sets;
mod transfer;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::ci::gauss::Gauss;
use crate::ci::Batch;
use crate::engine::{Engine, Search};
use crate::error::{DeviceError, DeviceKind};
use crate::search::{Observer, Options};
use crate::{Error, Result};
use device::Card;
use kernels::{Args, WARP};
use memory::{Memory, Use};
use plan::Plan;

/// How the tests of a level are handed out on the GPU. All give one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Ours: a set is tested for all pairs of its row at once, on covariances given its prefix.
    Shared,
    /// cuPC-E's (Zarebavani et al. 2020, algorithm 4): blocks of `beta` edges, `gamma` tests of each at a time.
    Edge {
        /// Edges in a block.
        beta: u32,
        /// Tests of an edge that run at a time.
        gamma: u32,
    },
    /// cuPC-S's (algorithm 5): threads invert the correlations of one set each and test it for all pairs of a row.
    Set {
        /// Sets in a block.
        theta: u32,
        /// Blocks a row.
        delta: u32,
    },
}

/// How to run on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaOptions {
    /// Which card, from 0.
    pub ordinal: usize,
    /// How to hand out the tests.
    pub strategy: Strategy,
    /// Bytes of device memory that a search may use; none: what is free.
    pub memory_budget: Option<u64>,
}

impl Default for CudaOptions {
    fn default() -> Self {
        CudaOptions { ordinal: 0, strategy: Strategy::Shared, memory_budget: None }
    }
}

impl CudaOptions {
    fn check(&self) -> Result<()> {
        // Blocks have at most 1024 threads, and their working memory must find a place.
        let threads = match self.strategy {
            Strategy::Shared => 1,
            Strategy::Edge { beta, gamma } => u64::from(beta) * u64::from(gamma),
            Strategy::Set { theta, delta } => u64::from(theta) * u64::from(delta.min(1)),
        };
        if threads == 0 || threads > 256 {
            return Err(Error::Argument {
                argument: "strategy",
                value: format!("{:?}", self.strategy),
                mend: "give numbers of at least 1 that make blocks of at most 256 threads: beta * gamma, or theta"
                    .into(),
            });
        }
        Ok(())
    }
}

/// Blocks that have their working memory.
struct Room {
    threads: u32,
    /// Bytes of shared memory of a block.
    shared: u64,
}

/// Time between two looks of the calling thread at whether to stop.
const WATCH: Duration = Duration::from_millis(20);

/// The Gaussian test on one GPU.
///
/// Its answers are those of the CPU engine: graph, separating sets and counts the same, p-values to 1e-9.
pub struct CudaEngine<'a> {
    gauss: Gauss<'a>,
    alpha: f64,
    options: CudaOptions,
    card: Arc<Card>,
    memory: Option<Memory>,
    /// Where the correlations are on the card, once they are.
    correlations: Option<u64>,
    /// The memory plan of the last search.
    plan: Option<Plan>,
    /// Whether a failure was met after which nothing on the card can be relied on.
    failed: bool,
    /// When the caller was last asked whether to stop.
    looked: Instant,
}

impl<'a> CudaEngine<'a> {
    /// The test `gauss` at significance level `alpha` on a card, which is opened (0.2 s once a process).
    ///
    /// # Errors
    /// [`Error::Device`] where there is no card that can be used, [`Error::Argument`] where there are fewer cards than
    /// `ordinal` asks for, or a strategy's numbers make no block.
    pub fn new(gauss: Gauss<'a>, alpha: f64, options: CudaOptions) -> Result<Self> {
        options.check()?;
        let card = Card::open(options.ordinal)?;
        let memory = Some(card.take_memory());
        Ok(CudaEngine {
            gauss,
            alpha,
            options,
            card,
            memory,
            correlations: None,
            plan: None,
            failed: false,
            looked: Instant::now(),
        })
    }

    /// What the last search planned to use of the card's memory.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    fn memory(&mut self) -> &mut Memory {
        self.memory.get_or_insert_with(Memory::default)
    }

    /// Device memory for a use.
    fn device(&mut self, what: Use, bytes: u64) -> Result<u64> {
        self.memory().device(what, bytes)
    }

    /// Copies the correlations to the card, once.
    fn upload_correlations(&mut self) -> Result<u64> {
        if let Some(at) = self.correlations {
            return Ok(at);
        }
        let matrix = self.gauss.matrix();
        let at = self.device(Use::Correlations, 8 * matrix.len() as u64)?;
        self.send(at, matrix)?;
        self.correlations = Some(at);
        Ok(at)
    }

    /// Places the working memory of warps, `doubles` each: in shared memory where a block of some warps fits, else in device
    /// memory, for at most `warps` of them.
    fn working_memory(&mut self, args: &mut Args, doubles: u64, threads: u32, warps: u32) -> Result<Room> {
        let bytes = 8 * doubles;
        args.scratch = 0;
        args.scratch_bytes = bytes;
        let limit = u64::from(self.card.shared_limit);
        for threads in [threads, WARP] {
            let shared = bytes * u64::from(threads / WARP);
            if shared <= limit {
                return Ok(Room { threads, shared });
            }
        }
        args.scratch = self.device(Use::Scratch, bytes * u64::from(warps))?;
        Ok(Room { threads: WARP, shared: 0 })
    }

    /// Waits for the stream, looking up now and then. The card cannot be interrupted, so that what was launched must be short.
    fn wait(&mut self, doing: &str, look: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let began = Instant::now();
        let mut outcome = Ok(());
        while !self.card.is_idle(doing)? {
            if began.elapsed() < Duration::from_millis(2) {
                std::hint::spin_loop();
                continue;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        if self.looked.elapsed() > WATCH {
            outcome = look();
            self.looked = Instant::now();
        }
        outcome
    }

    /// Runs something on the card, and remembers when it failed for good.
    fn watched<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = device::guarded(|| {
            self.card.bind()?;
            run(self)
        });
        self.note(outcome)
    }

    /// Remembers how something on the card ended.
    fn note<T>(&mut self, outcome: Result<T>) -> Result<T> {
        match &outcome {
            Ok(_) => (),
            Err(Error::Device(DeviceError { kind: DeviceKind::Failed, .. })) => self.failed = true,
            // What was launched before the error still runs on memory that is about to be reused.
            Err(_) => self.failed |= self.card.synchronize("ending a search").is_err(),
        }
        outcome
    }
}

impl Drop for CudaEngine<'_> {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        if self.failed {
            self.card.abandon();
        } else if self.card.is_ours() && self.card.bind().is_ok() {
            if memory.is_modest() {
                self.card.keep_memory(memory);
            } else {
                memory.free();
            }
        }
    }
}

impl Engine for CudaEngine<'_> {
    fn begin<'s>(&'s mut self, options: &'s Options, p_max: &'s mut [f64]) -> Result<Box<dyn Search + 's>> {
        Ok(Box::new(search::CudaSearch::new(self, options, p_max)?))
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        self.watched(|engine| batch::p_values(engine, batch, observer))
    }
}
