//! The machine that a call runs on, as R names it, and the workers for its tests.
#![cfg_attr(not(feature = "cuda"), allow(unused_imports, unused_variables))]

use std::sync::Arc;

use extendr_api::prelude::*;
use ndarray::ArrayView2;
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::ci::discrete::Discrete;
use pcgpu_core::ci::features::KernelTest;
use pcgpu_core::ci::gauss::{FisherZ, Gauss};
use pcgpu_core::ci::knn::Knn;
use pcgpu_core::ci::mixed::Mixed;
use pcgpu_core::engine::cluster::selection::rank::{on_threads, Make, SelectionRank};
use pcgpu_core::engine::cpu::selection::CpuCounting;
use pcgpu_core::engine::cpu::{
    together, CpuEngine, DiscreteKernel, FeaturesKernel, GaussKernel, KnnKernel, MixedKernel,
};
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::selection::{CountLogs, Counting, Member, Runner, Samples};
use pcgpu_core::simd::simd;
use pcgpu_core::Error;

use crate::failure::{Failure, Outcome};
#[cfg(feature = "cuda")]
use crate::gpu::{self, Gpu};
use crate::input::Fields;
use crate::ranks::Ranks;
use crate::respond::respond;
use crate::value::Value;
use crate::{input, output};

/// Stand-in for builds without CUDA, as on macOS, where no NVIDIA GPU runs.
#[cfg(not(feature = "cuda"))]
mod gpu {
    use super::{Error, Outcome, Value};

    pub fn none<T>() -> Outcome<T> {
        Err(Error::Device(pcgpu_core::DeviceError {
            kind: pcgpu_core::DeviceKind::NoDriver,
            message: "this build of pcgpu has no GPU engine".into(),
            hint: "give device = \"cpu\"; pcgpu supports GPUs only on Linux".into(),
        })
        .into())
    }

    pub fn devices(_all: bool) -> Outcome<Value> {
        none()
    }

    pub fn may_be_there() -> bool {
        false
    }

    pub fn release() {}

    pub fn kernels() -> String {
        String::new()
    }
}

/// The device that does the work of this process.
#[derive(Clone)]
pub enum Device {
    /// The threads of the call.
    Cpu,
    /// One or several GPUs.
    #[cfg(feature = "cuda")]
    Gpu(Gpu),
}

impl Device {
    #[cfg(feature = "cuda")]
    fn gpu(engine: &List) -> Outcome<Self> {
        Gpu::from_list(engine).map(Device::Gpu)
    }

    #[cfg(not(feature = "cuda"))]
    fn gpu(_engine: &List) -> Outcome<Self> {
        gpu::none()
    }

    /// Returns whether the device has no GPU.
    pub fn is_cpu(&self) -> bool {
        matches!(self, Device::Cpu)
    }

    fn names(&self, all: bool) -> Vec<String> {
        match self {
            Device::Cpu => vec!["cpu".into()],
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => gpu.names(all),
        }
    }
}

/// The machine that a call runs on.
pub struct Machine {
    /// The threads that the call may use.
    pub pool: Pool,
    pub device: Device,
    /// Workers of other processes. If there are any, they do all the work of a search.
    pub ranks: Option<Ranks>,
    /// Most bytes of host memory for correlations of data, if there is no GPU. `None` means all that is available.
    pub memory: Option<u64>,
    /// The GPU for FCI's possible-d-sep phase, and the number of tests from which it is used.
    pub later: Option<(Device, f64)>,
}

impl Machine {
    /// Reads R's `list(kind, threads, threads_named, ordinals, cpu, strategy, ...)`, see `engine_list()` in R/device.R.
    pub fn from_list(engine: &List) -> Outcome<Self> {
        let threads = engine.count("threads", 1)?;
        let named = engine.flag("threads_named")?;
        let pool = if named { Pool::new(threads) } else { Pool::at_most(threads) };
        let device = match engine.text("kind")? {
            "cpu" => Device::Cpu,
            "cuda" => Device::gpu(engine)?,
            other => return Err(Failure::Input(format!("internal: there is no engine `{other}`"))),
        };
        let memory = match device.is_cpu() {
            true => engine.optional_number("memory")?.map(|bytes| bytes.max(0.0) as u64),
            false => None,
        };
        let ranks = engine.optional_list("cluster")?.map(|ranks| Ranks::from_list(&ranks)).transpose()?;
        let later = match engine.optional_list("later")? {
            Some(later) => Some((Device::gpu(&later)?, later.number("from")?)),
            None => None,
        };
        Ok(Machine { pool, device, ranks, memory, later })
    }

    /// Returns the GPU for FCI's possible-d-sep phase, if its number of tests is worth starting the GPU.
    pub fn later(&self, tests: impl FnOnce() -> f64) -> Option<Machine> {
        let (device, from) = self.later.as_ref()?;
        let machine =
            || Machine { pool: self.pool.clone(), device: device.clone(), ranks: None, memory: None, later: None };
        (tests() >= *from).then(machine)
    }

    /// Returns whether this is a CPU of this process that may compute all correlations of data.
    pub fn makes_all(&self) -> bool {
        self.device.is_cpu() && self.ranks.is_none() && self.memory.is_none()
    }

    /// Returns the worker for a Gaussian test at significance level `alpha`. It may take over the check of its matrix.
    pub fn gauss<'a>(
        &self,
        gauss: Gauss<'a>,
        check: Option<&'a Check<'a>>,
        alpha: f64,
    ) -> Outcome<Box<dyn Worker + 'a>> {
        match &self.device {
            Device::Cpu => Ok(Box::new(CpuEngine::new(GaussKernel::new(gauss, alpha), self.pool.clone()))),
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => gpu.gauss(gauss, check, alpha, self.pool.clone()),
        }
    }

    /// Returns the machine that counts for a feature selection.
    pub fn counting<'a>(&self, samples: &'a Samples, logs: &'a CountLogs) -> Outcome<Box<dyn Counting + 'a>> {
        match &self.device {
            Device::Cpu => Ok(Box::new(CpuCounting::new(samples, logs, 0..samples.p(), self.pool.clone()))),
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => gpu.counting(samples, logs, self.pool.clone()),
        }
    }

    /// Returns the worker for a test of discrete variables.
    pub fn discrete<'a>(&self, test: Discrete<'a>, alpha: f64) -> Outcome<Box<dyn Worker + 'a>> {
        match &self.device {
            Device::Cpu => Ok(Box::new(CpuEngine::new(DiscreteKernel::new(test), self.pool.clone()))),
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => gpu.discrete(test, alpha, self.pool.clone()),
        }
    }

    /// Returns the worker for the nearest-neighbour test.
    pub fn knn<'a>(&self, knn: &'a Knn) -> Outcome<Box<dyn Worker + 'a>> {
        match &self.device {
            Device::Cpu => Ok(Box::new(CpuEngine::new(KnnKernel::new(knn), self.pool.clone()))),
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => gpu.knn(knn, self.pool.clone()),
        }
    }

    /// Returns the worker for a kernel test.
    pub fn features<'a>(&self, test: &'a KernelTest) -> Outcome<Box<dyn Worker + 'a>> {
        match &self.device {
            Device::Cpu => Ok(Box::new(CpuEngine::new(FeaturesKernel::new(test), self.pool.clone()))),
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => gpu.features(test, self.pool.clone()),
        }
    }

    /// Returns the worker for a test of numbers and levels.
    pub fn mixed<'a>(&self, test: Arc<Mixed<'a>>) -> Outcome<Box<dyn Worker + 'a>> {
        match &self.device {
            Device::Cpu => Ok(Box::new(CpuEngine::new(MixedKernel::new(test), self.pool.clone()))),
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => gpu.mixed(test, self.pool.clone()),
        }
    }

    /// Returns the worker for a Gaussian test at significance level `alpha` with the correlations of these centred columns, or `None` on a
    /// CPU.
    pub fn gauss_of_data<'a>(
        &self,
        test: FisherZ,
        x: ArrayView2<'a, f64>,
        alpha: f64,
    ) -> Outcome<Option<Box<dyn Worker + 'a>>> {
        match &self.device {
            Device::Cpu => Ok(None),
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => gpu.gauss_of_data(test, x, alpha, self.pool.clone()).map(Some),
        }
    }

    /// Turns the machine into a rank of a feature selection, which uses one GPU.
    pub fn selection_rank(self, automatic: bool) -> SelectionRank {
        let (pool, on_cpu) = (self.pool.clone(), on_threads(self.pool));
        match self.device {
            Device::Cpu => SelectionRank::new(on_cpu, pool.clone(), pool.threads()),
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => {
                let threads = pool.clone();
                let make: Make = Arc::new(move |samples, logs| match gpu.counting(samples, logs, threads.clone()) {
                    Err(Failure::Core(Error::Device(_))) if automatic => on_cpu(samples, logs),
                    made => made.map_err(Failure::into_core),
                });
                SelectionRank::new(make, pool, Gpu::SPEED)
            }
        }
    }

    /// Returns the machines of a feature selection, or `None` if only one works.
    pub fn members<'a>(&self, samples: &'a Samples, logs: &'a CountLogs) -> Option<Vec<Member<'a>>> {
        match &self.device {
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) if gpu.names(true).len() > 1 => {
                let cpu = gpu.with_cpu().then(|| together::member(samples, logs, self.pool.clone()));
                Some(cpu.into_iter().chain(gpu.members(samples, logs, &self.pool)).collect())
            }
            _ => None,
        }
    }

    /// Returns the machines of an ensemble of feature selections.
    pub fn runners<'a>(&self) -> Vec<Runner<'a>> {
        let cpu = || together::runner(self.pool.clone());
        match &self.device {
            Device::Cpu => vec![cpu()],
            #[cfg(feature = "cuda")]
            Device::Gpu(gpu) => gpu.with_cpu().then(cpu).into_iter().chain(gpu.runners(&self.pool)).collect(),
        }
    }

    /// Returns the machine's names as R knows them: "cpu", "cuda:0". With `all`, includes the CPU if it can work with the GPUs.
    pub fn names(&self, all: bool) -> Vec<String> {
        self.ranks.as_ref().map_or_else(|| self.device.names(all), |ranks| ranks.names().to_vec())
    }
}

/// Returns the GPUs of this machine, as parallel vectors. With `free`, includes the free memory of all GPUs.
/// @noRd
#[extendr]
fn rust_devices(free: Robj) -> Robj {
    respond([&free], |_| gpu::devices(input::flag(&free, "free")?))
}

/// Returns whether a GPU may be available.
/// @noRd
#[extendr]
fn rust_may_have_gpu() -> Robj {
    respond([], |_| Ok(Value::from(gpu::may_be_there())))
}

/// Releases what this process holds on GPUs.
/// @noRd
#[extendr]
fn rust_release() -> Robj {
    respond([], |_| {
        gpu::release();
        Ok(().into())
    })
}

/// Returns the number of cores, for calls that do not name a number of threads.
/// @noRd
#[extendr]
fn rust_cores() -> i32 {
    default_threads() as i32
}

/// Describes this build and machine; takes some milliseconds.
/// @noRd
#[extendr]
fn rust_info() -> Robj {
    respond([], |_| {
        Ok(output::named(vec![
            ("version", Value::from(env!("CARGO_PKG_VERSION"))),
            ("simd", Value::from(simd())),
            ("cores", Value::from(default_threads() as i32)),
            ("kernels", Value::from(gpu::kernels())),
        ]))
    })
}

extendr_module! {
    mod machine;
    fn rust_devices;
    fn rust_may_have_gpu;
    fn rust_release;
    fn rust_cores;
    fn rust_info;
}
