//! Calls of R that run on a GPU. A build without CUDA leaves this file out.

use std::sync::Arc;

use extendr_api::prelude::*;
use ndarray::ArrayView2;
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::ci::discrete::Discrete;
use pcgpu_core::ci::features::KernelTest;
use pcgpu_core::ci::gauss::{FisherZ, Gauss};
use pcgpu_core::ci::knn::Knn;
use pcgpu_core::ci::mixed::Mixed;
use pcgpu_core::engine::batched::Asker;
use pcgpu_core::engine::cpu::{CpuEngine, FeaturesKernel, KnnKernel, MixedKernel};
use pcgpu_core::engine::cuda::features::FeaturesCudaEngine;
use pcgpu_core::engine::cuda::gauss::correlation::correlation;
use pcgpu_core::engine::cuda::gpu::about;
use pcgpu_core::engine::cuda::gpu::device::{self, DeviceInfo};
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions, KnnStrategy};
use pcgpu_core::engine::cuda::mixed::MixedCudaEngine;
use pcgpu_core::engine::cuda::selection::{self, CudaCounting, SelectionOptions};
use pcgpu_core::engine::cuda::{self, CudaEngine, CudaOptions, GpuOptions, SearchStrategy};
use pcgpu_core::engine::question_team::QuestionTeam;
use pcgpu_core::moments::{Centred, Watch};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::selection::{CountLogs, Counting, Member, Runner, Samples};
use pcgpu_core::team::Lost;
use pcgpu_core::{Error, Result};

use crate::failure::{Failure, Outcome};
use crate::input::Fields;
use crate::value::Value;
use crate::{input, output};

/// One or several GPUs, and how to use them.
#[derive(Clone)]
pub struct Gpu {
    /// The numbers of the GPUs, from 0; at least one.
    ordinals: Vec<usize>,
    /// Whether the CPU works with the GPUs.
    with_cpu: bool,
    memory: MemoryKind,
    /// Most bytes to use on each GPU.
    memory_budget: Option<u64>,
    strategy: Dealing,
    /// Number of rows of the correlations at a time, for the Gaussian test.
    block: Option<usize>,
}

/// The strategies of all tests on a GPU.
#[derive(Clone)]
enum Dealing {
    Search(SearchStrategy),
    Neighbours(KnnStrategy),
    Shared,
}

impl Gpu {
    /// Guess of a GPU's speed relative to one CPU thread, for feature selections.
    pub const SPEED: usize = selection::SPEED as usize;

    /// Reads R's `list(kind = "cuda", ordinals, cpu, memory, strategy, ...)`, see `engine_list()` in R/device.R.
    pub fn from_list(engine: &List) -> Outcome<Self> {
        let ordinals = engine.field("ordinals")?;
        let ordinals = ordinals.as_integer_slice().filter(|ordinals| !ordinals.is_empty());
        let wrong = || Failure::Input("internal: `ordinals` does not contain numbers of GPUs".into());
        let ordinals = ordinals.ok_or_else(wrong)?.iter().map(|&ordinal| usize::try_from(ordinal).map_err(|_| wrong()));
        let ordinals = ordinals.collect::<Outcome<Vec<usize>>>()?;
        let (memory, memory_budget) = match engine.optional("memory") {
            None => (MemoryKind::Device, None),
            Some(kind) if kind.as_str() == Some("unified") => {
                (MemoryKind::Unified { gpus: ordinals.len() as u32 }, None)
            }
            Some(bytes) => (MemoryKind::Device, Some(input::number(bytes, "memory")?.max(0.0) as u64)),
        };
        let with_cpu = engine.flag("cpu")?;
        let strategy = strategy(engine)?;
        let block = match (&strategy, engine.optional("block")) {
            (Dealing::Shared, Some(rows)) => Some(input::count(rows, "block", 1)?),
            _ => None,
        };
        Ok(Gpu { ordinals, with_cpu, memory, memory_budget, strategy, block })
    }

    /// Returns the GPUs' names as R knows them. With `all`, includes the CPU if it works with them.
    pub fn names(&self, all: bool) -> Vec<String> {
        let cpu = (all && self.with_cpu).then(|| "cpu".into());
        cpu.into_iter().chain(self.gpu_names()).collect()
    }

    /// Returns whether the CPU works with the GPUs where it can: on nearest-neighbour tests, tests of mixed data and feature selections.
    /// For other tests, one launch on a GPU does what takes the CPU seconds: link (724 x 20,000, discrete) takes 1.39 s on 16 cores and
    /// 0.07 s on an H200. Even if work were shared without cost, the CPU could take a twentieth.
    pub fn with_cpu(&self) -> bool {
        self.with_cpu
    }

    fn gpu_names(&self) -> Vec<String> {
        self.ordinals.iter().map(|ordinal| format!("cuda:{ordinal}")).collect()
    }

    /// Returns a worker on the GPU, or one on all GPUs. `make` makes the worker of one GPU.
    fn worker<'a>(
        &self,
        options: CudaOptions,
        pool: &Pool,
        make: impl Fn(CudaOptions) -> Result<CudaEngine<'a>>,
    ) -> Outcome<Box<dyn Worker + 'a>> {
        let on = |ordinal| Ok(make(CudaOptions { ordinal, ..options })?.with_pool(pool.clone()));
        Ok(match self.ordinals[..] {
            [ordinal] => Box::new(on(ordinal)?),
            _ => Box::new(cuda::team(&self.gpu_names(), |at| on(self.ordinals[at]))?),
        })
    }

    fn options(&self) -> Outcome<CudaOptions> {
        let strategy = match self.strategy {
            Dealing::Shared => SearchStrategy::Shared,
            Dealing::Search(strategy) => strategy,
            Dealing::Neighbours(_) => {
                return Err(wrong_strategy(
                    "\"single\" or \"parallel\"",
                    "only the nearest-neighbour tests have these strategies; give \"shared\", \"edge\", \"set\" or \"gpucsl\"",
                ));
            }
        };
        let (memory, memory_budget) = (self.memory, self.memory_budget);
        Ok(CudaOptions { strategy, memory, memory_budget, block: self.block, ..CudaOptions::default() })
    }

    fn knn_options(&self) -> Outcome<KnnCudaOptions> {
        let strategy = match self.strategy {
            Dealing::Shared => KnnStrategy::Shared,
            Dealing::Neighbours(strategy) => strategy,
            Dealing::Search(_) => {
                return Err(wrong_strategy(
                    "\"edge\", \"set\" or \"gpucsl\"",
                    "the nearest-neighbour tests do not have these strategies; give \"shared\", \"single\" or \"parallel\"",
                ));
            }
        };
        let (memory, memory_budget) = (self.memory, self.memory_budget);
        Ok(KnnCudaOptions { ordinal: self.ordinals[0], strategy, memory, memory_budget })
    }

    /// Returns the worker for a Gaussian test at significance level `alpha`.
    pub fn gauss<'a>(
        &self,
        gauss: Gauss<'a>,
        check: Option<&'a Check<'a>>,
        alpha: f64,
        pool: Pool,
    ) -> Outcome<Box<dyn Worker + 'a>> {
        self.worker(self.options()?, &pool, |options| Ok(CudaEngine::new(gauss, alpha, options)?.checked_by(check)))
    }

    /// Returns the worker for a test of discrete variables.
    pub fn discrete<'a>(&self, test: Discrete<'a>, alpha: f64, pool: Pool) -> Outcome<Box<dyn Worker + 'a>> {
        self.worker(self.options()?, &pool, |options| CudaEngine::discrete(test, alpha, options))
    }

    /// Returns the worker for the nearest-neighbour test.
    pub fn knn<'a>(&self, knn: &'a Knn, pool: Pool) -> Outcome<Box<dyn Worker + 'a>> {
        let options = self.knn_options()?;
        self.asked(
            pool,
            |threads| CpuEngine::new(KnnKernel::new(knn), threads),
            |ordinal, pool| Ok(KnnCudaEngine::new(knn, KnnCudaOptions { ordinal, ..options })?.with_pool(pool)),
        )
    }

    /// Returns the worker for a test by random features.
    pub fn features<'a>(&self, test: &'a KernelTest, pool: Pool) -> Outcome<Box<dyn Worker + 'a>> {
        self.has_one_strategy("tests by random features")?;
        self.asked(
            pool,
            |threads| CpuEngine::new(FeaturesKernel::new(test), threads),
            |ordinal, pool| Ok(FeaturesCudaEngine::new(test, self.gpu_options(ordinal))?.with_pool(pool)),
        )
    }

    /// Returns the worker for a test of numbers and levels.
    pub fn mixed<'a>(&self, test: Arc<Mixed<'a>>, pool: Pool) -> Outcome<Box<dyn Worker + 'a>> {
        self.has_one_strategy("tests of mixed data or of data with missing values")?;
        self.asked(
            pool,
            |threads| CpuEngine::new(MixedKernel::new(test.clone()), threads),
            |ordinal, pool| Ok(MixedCudaEngine::new(test.clone(), self.gpu_options(ordinal))?.with_pool(pool)),
        )
    }

    /// Refuses a strategy that these tests do not have.
    fn has_one_strategy(&self, tests: &str) -> Outcome<()> {
        match self.strategy {
            Dealing::Shared => Ok(()),
            _ => Err(wrong_strategy("not \"shared\"", &format!("{tests} have only one strategy; give \"shared\""))),
        }
    }

    fn gpu_options(&self, ordinal: usize) -> GpuOptions {
        GpuOptions { ordinal, memory: self.memory, memory_budget: self.memory_budget }
    }

    /// Returns a worker that answers questions, on the GPU or on all GPUs and the CPU. `cpu` and `on` make the worker of one machine.
    fn asked<'a, A: Asker + Worker + Send + 'a, C: Asker + Send + 'a>(
        &self,
        pool: Pool,
        cpu: impl FnOnce(Pool) -> C,
        on: impl Fn(usize, Pool) -> Result<A>,
    ) -> Outcome<Box<dyn Worker + 'a>> {
        if self.names(true).len() == 1 {
            return Ok(Box::new(on(self.ordinals[0], pool)?));
        }
        let mut team = QuestionTeam::new(pool.clone());
        if self.with_cpu {
            team = team.with("cpu", cpu(QuestionTeam::threads_beside(&pool, self.ordinals.len())));
        }
        for (&ordinal, name) in self.ordinals.iter().zip(self.gpu_names()) {
            team = match on(ordinal, pool.clone()) {
                Ok(engine) => team.with(name, engine),
                Err(Error::Device(error)) => team.without(name, error),
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Box::new(team))
    }

    /// Returns the machine that counts for a feature selection.
    pub fn counting<'a>(
        &self,
        samples: &'a Samples,
        logs: &'a CountLogs,
        pool: Pool,
    ) -> Outcome<Box<dyn Counting + 'a>> {
        let options = self.selection_options(self.ordinals[0]);
        Ok(Box::new(CudaCounting::new(samples, logs, 0..samples.p(), options)?.with_pool(pool)))
    }

    fn selection_options(&self, ordinal: usize) -> SelectionOptions {
        let (memory, memory_budget) = (self.memory, self.memory_budget);
        SelectionOptions { ordinal, memory, memory_budget, ..SelectionOptions::default() }
    }

    /// Returns the GPUs as machines that select features together.
    pub fn members<'a>(&self, samples: &'a Samples, logs: &'a CountLogs, pool: &Pool) -> Vec<Member<'a>> {
        let of = |&ordinal| selection::member(samples, logs, self.selection_options(ordinal), pool.clone());
        self.ordinals.iter().map(of).collect()
    }

    /// Returns the GPUs as machines that run whole selections.
    pub fn runners<'a>(&self, pool: &Pool) -> Vec<Runner<'a>> {
        let of = |&ordinal| selection::runner(self.selection_options(ordinal), pool.clone());
        self.ordinals.iter().map(of).collect()
    }

    /// Returns the worker for a Gaussian test at significance level `alpha` with the correlations of these centred columns.
    pub fn gauss_of_data<'a>(
        &self,
        test: FisherZ,
        x: ArrayView2<'a, f64>,
        alpha: f64,
        pool: Pool,
    ) -> Outcome<Box<dyn Worker + 'a>> {
        self.worker(self.options()?, &pool, |options| CudaEngine::of_data(test, x, alpha, options))
    }

    /// Writes the correlations of the columns of x to `cells`, p x p, on the first GPU that can. Returns the GPUs before it, which failed.
    pub fn correlation(&self, x: &Centred, pool: &Pool, cells: &mut [f64], watch: &mut Watch) -> Result<Vec<Lost>> {
        let mut lost = Vec::new();
        loop {
            let ordinal = self.ordinals[lost.len()];
            match correlation(x, ordinal, self.memory, self.memory_budget, pool, cells, watch) {
                Err(error @ Error::Device(_)) if lost.len() + 1 < self.ordinals.len() => {
                    lost.push(Lost::by(format!("cuda:{ordinal}"), &error));
                }
                found => return found.map(|()| lost),
            }
        }
    }
}

fn wrong_strategy(value: &str, hint: &str) -> Failure {
    Error::Argument { argument: "strategy", value: value.into(), hint: hint.into() }.into()
}

/// Returns the strategy that R asks for. Numbers that R leaves out have the papers' values.
fn strategy(engine: &List) -> Outcome<Dealing> {
    let Some(name) = engine.optional("strategy") else { return Ok(Dealing::Shared) };
    let shape = |name: &str, default: u32| match engine.optional(name) {
        None => Ok(default),
        Some(value) => input::count(value, name, 1).map(|value| value as u32),
    };
    Ok(match input::text(name, "strategy")? {
        "shared" => Dealing::Shared,
        "edge" => Dealing::Search(SearchStrategy::Edge { beta: shape("beta", 2)?, gamma: shape("gamma", 32)? }),
        "set" => Dealing::Search(SearchStrategy::Set { theta: shape("theta", 64)?, delta: shape("delta", 2)? }),
        "gpucsl" => Dealing::Search(SearchStrategy::Gpucsl {
            beta: shape("beta", 0)?,
            gamma: shape("gamma", 0)?,
            delta: shape("delta", 64)?,
        }),
        "single" => Dealing::Neighbours(KnnStrategy::Single),
        "parallel" => Dealing::Neighbours(KnnStrategy::Parallel { block: shape("block", 0)? }),
        other => return Err(Failure::Input(format!("internal: there is no strategy `{other}`"))),
    })
}

/// Returns the GPUs of this machine, as parallel vectors. With `all`, includes the free memory of GPUs that this process does not use.
pub fn devices(all: bool) -> Outcome<Value> {
    let gpus = device::devices(all)?;
    let texts = |text: &dyn Fn(&DeviceInfo) -> String| Value::from(gpus.iter().map(text).collect::<Vec<String>>());
    let numbers = |number: &dyn Fn(&DeviceInfo) -> f64| Value::from(gpus.iter().map(number).collect::<Vec<f64>>());
    let flags = |flag: &dyn Fn(&DeviceInfo) -> bool| Value::from(gpus.iter().map(flag).collect::<Vec<bool>>());
    let name = |ordinal: &usize| format!("cuda:{ordinal}");
    Ok(output::named(vec![
        ("ordinal", numbers(&|gpu| gpu.ordinal as f64)),
        ("name", texts(&|gpu| gpu.name.clone())),
        ("memory_total", numbers(&|gpu| gpu.total_memory as f64)),
        (
            "memory_free",
            Value::from(gpus.iter().map(|gpu| gpu.free_memory.map(|bytes| bytes as f64)).collect::<Vec<_>>()),
        ),
        ("compute_capability", texts(&|gpu| format!("{}.{}", gpu.compute_capability.0, gpu.compute_capability.1))),
        ("driver", texts(&|gpu| format!("{}.{}", gpu.driver_version / 1000, gpu.driver_version % 1000 / 10))),
        ("multiprocessors", numbers(&|gpu| f64::from(gpu.processors))),
        ("unified", flags(&|gpu| gpu.unified)),
        ("peers", texts(&|gpu| gpu.peers.iter().map(name).collect::<Vec<_>>().join(" "))),
        ("ecc", flags(&|gpu| gpu.ecc)),
        ("pci", texts(&|gpu| gpu.pci.clone())),
        ("uuid", texts(&|gpu| gpu.uuid.clone())),
    ]))
}

/// Returns whether a GPU may be available, for a choice that prepares data.
pub fn may_be_there() -> bool {
    device::may_be_there()
}

/// Releases what this process holds on GPUs.
pub fn release() {
    device::release();
}

/// Returns the version of the kernels' PTX, the oldest GPU that it runs on, and the GPUs for which there is machine code.
pub fn kernels() -> String {
    about::kernels()
}
