//! Checks the report of a machine's GPUs and the memory that a process keeps on one. Emulated GPUs (../driver/driver.cpp) run in their own
//! processes.

use std::ffi::{c_int, c_void};

use crate::driver::{own_function, with_driver};
use crate::gauss_cuda::on_cpu;
use crate::support::cuda::same;
use crate::support::frames::Shape;
use crate::support::mixed::{settings, Made};
use crate::support::problems::{correlations, Random};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::ci::knn::Estimator;
use pcgpu_core::ci::mixed::Work;
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cpu::{CpuEngine, KnnKernel};
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions};
use pcgpu_core::engine::cuda::mixed::MixedCudaEngine;
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions, GpuOptions};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Options};

const LISTED: &str = "PCGPU_LIST_CARDS";
const KEPT: &str = "PCGPU_KEEP_MEMORY";
const OVERTAKEN: &str = "PCGPU_LOSE_MEMORY";

/// Returns how often a context was asked for on each of two GPUs.
fn contexts() -> [c_int; 2] {
    let found = own_function(c"emulated_contexts");
    // SAFETY: the driver has a function of this name and type.
    let asked = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> c_int>(found) };
    [0, 1].map(|gpu| asked(gpu))
}

/// Returns the correlations of 60 variables.
fn data() -> Vec<f64> {
    correlations(&mut Random(7), 60, 100, 0.2)
}

#[test]
fn gpus_are_described_without_opening_them() {
    with_driver("gpus::described", &[(LISTED, "1"), ("FAKE_CUDA_GPUS", "2")]);
}

/// Runs in a process with the driver; does nothing elsewhere.
#[test]
fn described() {
    if std::env::var_os(LISTED).is_none() {
        return;
    }
    let gpus = device::devices(false).unwrap();
    assert_eq!(contexts(), [0, 0]);
    assert_eq!(gpus.len(), 2);
    for (at, gpu) in gpus.iter().enumerate() {
        assert_eq!((gpu.ordinal, gpu.total_memory, gpu.free_memory), (at, 32 << 30, None));
        assert_eq!((gpu.compute_capability, gpu.driver_version, gpu.processors), ((8, 0), 12_040, 2));
        assert!(gpu.unified && !gpu.ecc && gpu.name == "Emulated");
    }
    assert_eq!([&gpus[0].pci, &gpus[1].pci], ["0000:1a:00.0", "0000:1b:00.0"]);
    assert_eq!(gpus[0].uuid, "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    assert_eq!([&gpus[0].peers, &gpus[1].peers], [&vec![1], &vec![]]);
    // The free memory of a GPU that the process has opened, and of the other GPU if asked for.
    let c = data();
    let gauss = Gauss::new(by_column(&c, 60).unwrap(), 100.0, Reading::GaussCItest).unwrap();
    let mut engine = CudaEngine::new(gauss, 0.05, CudaOptions { ordinal: 1, ..CudaOptions::default() }).unwrap();
    skeleton(&mut engine, &Options::new(60, 0.05), &mut vec![0.0; 3600], &mut Unobserved).unwrap();
    let free = |all| device::devices(all).unwrap().iter().map(|gpu| gpu.free_memory).collect::<Vec<_>>();
    let some = free(false);
    assert!(some[0].is_none() && some[1].is_some_and(|bytes| bytes < 32 << 30), "{some:?}");
    assert_eq!(contexts()[0], 0);
    let all = free(true);
    assert_eq!(all, [Some(32 << 30), some[1]]);
    // The context that this query opened is closed again.
    assert_eq!((contexts()[0], free(false)), (1, some));
}

/// Bytes of GPU memory with room for one and a half searches.
const ROOM: u64 = 160_000;

/// Uses a GPU with this much room in addition to what the driver keeps, and one whose allocations fail although all memory is reported free.
#[test]
fn kept_memory_is_given_back_to_who_needs_it() {
    let (small, taken) = ((256 << 20) + ROOM, (32 << 30) - ROOM);
    for (name, bytes) in [("FAKE_CUDA_MEMORY", small), ("FAKE_CUDA_TAKEN", taken)] {
        with_driver("gpus::kept", &[(KEPT, "1"), (name, &bytes.to_string())]);
    }
}

/// Runs in a process with the driver; does nothing elsewhere.
#[test]
fn kept() {
    if std::env::var_os(KEPT).is_none() {
        return;
    }
    let c = data();
    let gauss = Gauss::new(by_column(&c, 60).unwrap(), 100.0, Reading::GaussCItest).unwrap();
    let options = Options::new(60, 0.05);
    let cpu = on_cpu(gauss, &options).unwrap();
    let free = || device::devices(false).unwrap()[0].free_memory.unwrap();
    let open = || CudaEngine::new(gauss, 0.05, CudaOptions::default()).unwrap();
    let search = |engine: &mut CudaEngine| {
        let mut p_max = vec![0.0; 3600];
        let found = skeleton(engine, &options, &mut p_max, &mut Unobserved).unwrap();
        same("on what is left", &(found, p_max), &cpu);
        engine.plan().total()
    };
    // The first engine has no memory yet when the second leaves all that it had.
    let (mut first, mut second) = (open(), open());
    let empty = free();
    let planned = search(&mut second);
    assert!(planned < ROOM && 2 * planned > ROOM, "{planned}");
    let while_second = free();
    drop(second);
    assert_eq!(free(), while_second, "nothing is kept");
    assert_eq!(search(&mut first), planned);
    assert!(free() == while_second && free() < empty);
    // A search that finds kept memory of its size takes it.
    drop(first);
    search(&mut open());
    assert_eq!(free(), while_second);
}

/// Has another program take most of a GPU's memory between the query for free memory and the allocation. Engines that plan with all free memory
/// then plan again with the rest.
#[test]
fn memory_that_another_takes_first_is_not_missed() {
    let (all, taken) = ((256 << 20) + (64 << 20), 40 << 20);
    for test in ["knn", "mixed"] {
        let sizes = [("FAKE_CUDA_MEMORY", &*all.to_string()), ("FAKE_CUDA_OVERTAKEN", &taken.to_string())];
        let text = with_driver("gpus::overtaken", &[(OVERTAKEN, test), sizes[0], sizes[1]]);
        assert!(text.contains("bytes planned"), "{text}");
    }
}

/// Runs in a process with the driver; does nothing elsewhere.
#[test]
fn overtaken() {
    let Some(test) = std::env::var_os(OVERTAKEN) else {
        return;
    };
    let mut batch = Batch::new();
    batch.push(0, 1, &[2]);
    batch.push(3, 1, &[]);
    let (found, wanted, planned) = if test == "knn" {
        let made = Made::new(5, 40, 5, true, false);
        let knn = made.knn(settings(Estimator::MesnerShalizi, 3, 6));
        let wanted = CpuEngine::with_shards(KnnKernel::new(&knn), 1, 1).p_values(&batch, &mut Unobserved).unwrap();
        let mut engine = KnnCudaEngine::new(&knn, KnnCudaOptions::default()).unwrap();
        let found = engine.p_values(&batch, &mut Unobserved).unwrap();
        (found, wanted, engine.memory_plan().iter().map(|(_, bytes)| bytes).sum::<u64>())
    } else {
        let test = Shape { n: 60, levels: vec![0, 2, 0, 3, 0], missing: 0.0, sets: 1 }.test(3, false);
        let wanted = batch.iter().map(|(x, y, s)| test.p_value(x, y, s, &mut Work::default())).collect();
        let mut engine = MixedCudaEngine::new(test, GpuOptions::default()).unwrap();
        let found = engine.p_values(&batch, &mut Unobserved).unwrap();
        (found, wanted, engine.memory_plan().iter().map(|(_, bytes)| bytes).sum::<u64>())
    };
    assert_eq!(found, wanted);
    println!("{planned} bytes planned");
    // A plan with what is left. With what was free before, it would be larger.
    assert!(planned <= 24 << 20 && planned > 12 << 20, "{planned}");
}
