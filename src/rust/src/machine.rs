//! The machine that a call runs on, as R names it, and the engine for it.

use extendr_api::prelude::*;
use pcgpu_core::ci::discrete::Discrete;
use pcgpu_core::ci::gauss::Gauss;
use pcgpu_core::engine::cpu::selection::CpuCounting;
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel, GaussKernel};
use pcgpu_core::engine::cuda::selection::{CudaCounting, SelectionOptions};
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions, Strategy};
use pcgpu_core::engine::Engine;
use pcgpu_core::select::{CountLogs, Counting, Samples};

use crate::failure::{Failure, Outcome};
use crate::input;

/// Where to run.
pub enum Machine {
    /// This machine's cores.
    Cpu { threads: usize },
    /// One GPU.
    Cuda(CudaOptions),
}

impl Machine {
    /// Reads R's `list(kind, threads, ordinal, strategy, ...)`, see `engine_list()` in R/device.R.
    pub fn from_list(engine: &List) -> Outcome<Self> {
        match input::text(&input::field(engine, "kind")?, "kind")?.as_str() {
            "cpu" => Ok(Machine::Cpu { threads: input::count(&input::field(engine, "threads")?, "threads", 1)? }),
            "cuda" => Ok(Machine::Cuda(CudaOptions {
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
            Machine::Cuda(options) => Ok(Box::new(CudaEngine::new(gauss, alpha, *options)?)),
        }
    }

    /// The machine that counts for a selection of features.
    pub fn counting<'a>(&self, samples: &'a Samples, logs: &'a CountLogs) -> Outcome<Box<dyn Counting + 'a>> {
        match self {
            Machine::Cpu { threads } => Ok(Box::new(CpuCounting::new(samples, logs, 0..samples.p(), *threads))),
            Machine::Cuda(options) => {
                let CudaOptions { ordinal, memory_budget, .. } = *options;
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
            Machine::Cuda(options) => Ok(Box::new(CudaEngine::discrete(test, alpha, *options)?)),
        }
    }

    /// Threads for what has no kernel on a GPU; R gives no GPU to such a test.
    pub fn threads(&self) -> usize {
        match self {
            Machine::Cpu { threads } => *threads,
            Machine::Cuda(_) => 1,
        }
    }

    /// Its name as R knows it: "cpu", "cuda:0".
    pub fn name(&self) -> String {
        match self {
            Machine::Cpu { .. } => "cpu".into(),
            Machine::Cuda(options) => format!("cuda:{}", options.ordinal),
        }
    }
}

/// How to hand out the tests on a GPU. What is left out is as the papers have it.
fn strategy(engine: &List) -> Outcome<Strategy> {
    let Some(name) = input::optional(engine, "strategy") else { return Ok(CudaOptions::default().strategy) };
    let shape = |name: &str, default: u32| match input::optional(engine, name) {
        None => Ok(default),
        Some(value) => input::count(&value, name, 1).map(|value| value as u32),
    };
    match input::text(&name, "strategy")?.as_str() {
        "shared" => Ok(Strategy::Shared),
        "edge" => Ok(Strategy::Edge { beta: shape("beta", 2)?, gamma: shape("gamma", 32)? }),
        "set" => Ok(Strategy::Set { theta: shape("theta", 64)?, delta: shape("delta", 2)? }),
        other => Err(Failure::Input(format!("internal: there is no strategy `{other}`"))),
    }
}
