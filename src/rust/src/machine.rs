//! The machine that a call runs on, as R names it, and the engine for it.

use extendr_api::prelude::*;
use pcgpu_core::ci::discrete::Discrete;
use pcgpu_core::ci::gauss::Gauss;
use pcgpu_core::ci::knn::Knn;
use pcgpu_core::engine::cpu::selection::CpuCounting;
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel, GaussKernel, KnnKernel};
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions, KnnStrategy};
use pcgpu_core::engine::cuda::selection::{CudaCounting, SelectionOptions};
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions, Strategy};
use pcgpu_core::engine::Engine;
use pcgpu_core::select::{CountLogs, Counting, Samples};
use pcgpu_core::Error;

use crate::failure::{Failure, Outcome};
use crate::input;

/// Where to run.
pub enum Machine {
    /// This machine's cores.
    Cpu { threads: usize },
    /// One GPU.
    Cuda(Gpu),
}

/// A GPU and how to use it.
pub struct Gpu {
    /// Which, from 0.
    pub ordinal: usize,
    /// Bytes of its memory that may be used.
    pub memory_budget: Option<u64>,
    strategy: Dealing,
}

/// How to hand out the tests on a GPU, over all tests that there are.
enum Dealing {
    Tables(Strategy),
    Neighbours(KnnStrategy),
    Shared,
}

impl Gpu {
    fn options(&self) -> Outcome<CudaOptions> {
        let strategy = match self.strategy {
            Dealing::Shared => Strategy::Shared,
            Dealing::Tables(strategy) => strategy,
            Dealing::Neighbours(_) => {
                return Err(wrong_strategy(
                    "\"single\" or \"parallel\"",
                    "they are for the nearest-neighbour tests: give \"shared\", \"edge\" or \"set\"",
                ));
            }
        };
        Ok(CudaOptions { ordinal: self.ordinal, strategy, memory_budget: self.memory_budget })
    }

    fn knn_options(&self) -> Outcome<KnnCudaOptions> {
        let strategy = match self.strategy {
            Dealing::Shared => KnnStrategy::Shared,
            Dealing::Neighbours(strategy) => strategy,
            Dealing::Tables(_) => {
                return Err(wrong_strategy(
                    "\"edge\" or \"set\"",
                    "they are not for the nearest-neighbour tests: give \"shared\", \"single\" or \"parallel\"",
                ));
            }
        };
        Ok(KnnCudaOptions { ordinal: self.ordinal, strategy, memory_budget: self.memory_budget })
    }
}

fn wrong_strategy(value: &str, mend: &str) -> Failure {
    Error::Argument { argument: "strategy", value: value.into(), mend: mend.into() }.into()
}

impl Machine {
    /// Reads R's `list(kind, threads, ordinal, strategy, ...)`, see `engine_list()` in R/device.R.
    pub fn from_list(engine: &List) -> Outcome<Self> {
        match input::text(&input::field(engine, "kind")?, "kind")?.as_str() {
            "cpu" => Ok(Machine::Cpu { threads: input::count(&input::field(engine, "threads")?, "threads", 1)? }),
            "cuda" => Ok(Machine::Cuda(Gpu {
                ordinal: input::count(&input::field(engine, "ordinal")?, "ordinal", 0)?,
                strategy: strategy(engine)?,
                memory_budget: match input::optional(engine, "memory") {
                    None => None,
                    Some(bytes) => Some(input::number(&bytes, "memory")?.max(0.0) as u64),
                },
            })),
            other => Err(Failure::Input(format!("internal: there is no engine `{other}`"))),
        }
    }

    /// The engine for a Gaussian test at this level.
    pub fn engine<'a>(&self, gauss: Gauss<'a>, alpha: f64) -> Outcome<Box<dyn Engine + 'a>> {
        match self {
            Machine::Cpu { threads } => Ok(Box::new(CpuEngine::new(GaussKernel::new(gauss, alpha), *threads))),
            Machine::Cuda(gpu) => Ok(Box::new(CudaEngine::new(gauss, alpha, gpu.options()?)?)),
        }
    }

    /// The machine that counts for a selection of features.
    pub fn counting<'a>(&self, samples: &'a Samples, logs: &'a CountLogs) -> Outcome<Box<dyn Counting + 'a>> {
        match self {
            Machine::Cpu { threads } => Ok(Box::new(CpuCounting::new(samples, logs, 0..samples.p(), *threads))),
            Machine::Cuda(gpu) => {
                let Gpu { ordinal, memory_budget, .. } = *gpu;
                let options = SelectionOptions { ordinal, memory_budget, ..SelectionOptions::default() };
                Ok(Box::new(CudaCounting::new(samples, logs, 0..samples.p(), options)?))
            }
        }
    }

    /// The engine for a test of discrete variables.
    pub fn discrete<'a>(&self, test: Discrete<'a>, alpha: f64) -> Outcome<Box<dyn Engine + 'a>> {
        match self {
            Machine::Cpu { threads } => {
                let kernel = DiscreteKernel::new(test);
                let shard_tests = kernel.shard_tests();
                Ok(Box::new(CpuEngine::with_shards(kernel, *threads, shard_tests)))
            }
            Machine::Cuda(gpu) => Ok(Box::new(CudaEngine::discrete(test, alpha, gpu.options()?)?)),
        }
    }

    /// The engine for the nearest-neighbour test.
    pub fn knn<'a>(&self, knn: &'a Knn) -> Outcome<Box<dyn Engine + 'a>> {
        match self {
            Machine::Cpu { threads } => {
                let kernel = KnnKernel::new(knn);
                let shard_tests = kernel.shard_tests();
                Ok(Box::new(CpuEngine::with_shards(kernel, *threads, shard_tests)))
            }
            Machine::Cuda(gpu) => Ok(Box::new(KnnCudaEngine::new(knn, gpu.knn_options()?)?)),
        }
    }

    /// Its name as R knows it: "cpu", "cuda:0".
    pub fn name(&self) -> String {
        match self {
            Machine::Cpu { .. } => "cpu".into(),
            Machine::Cuda(gpu) => format!("cuda:{}", gpu.ordinal),
        }
    }
}

/// How to hand out the tests on a GPU. What is left out is as the papers have it.
fn strategy(engine: &List) -> Outcome<Dealing> {
    let Some(name) = input::optional(engine, "strategy") else { return Ok(Dealing::Shared) };
    let shape = |name: &str, default: u32| match input::optional(engine, name) {
        None => Ok(default),
        Some(value) => input::count(&value, name, 1).map(|value| value as u32),
    };
    Ok(match input::text(&name, "strategy")?.as_str() {
        "shared" => Dealing::Shared,
        "edge" => Dealing::Tables(Strategy::Edge { beta: shape("beta", 2)?, gamma: shape("gamma", 32)? }),
        "set" => Dealing::Tables(Strategy::Set { theta: shape("theta", 64)?, delta: shape("delta", 2)? }),
        "single" => Dealing::Neighbours(KnnStrategy::Single),
        "parallel" => Dealing::Neighbours(KnnStrategy::Parallel { block: shape("block", 0)? }),
        other => return Err(Failure::Input(format!("internal: there is no strategy `{other}`"))),
    })
}
