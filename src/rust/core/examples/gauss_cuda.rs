//! Times the CUDA engine on a CSV of samples x variables, level by level, and compares its answer with the CPU engine's: `cargo run
//! --release -p pcgpu-core --example gauss_cuda -- data.csv stable.fast 0.01 shared 5`
//!
//! A file `*.bin` holds p and n as 32-bit integers and then the p x p correlations as doubles.

mod support;

use std::time::Instant;

use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions, SearchStrategy};
use pcgpu_core::matrix::by_column;
use pcgpu_core::pool::default_threads;
use pcgpu_core::search::{skeleton, Method, Options};
use support::{compare, correlations, Clock, Failure};

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, method, alpha, strategy, repeats] = arguments.as_slice() else {
        return Err("arguments: data.csv stable|stable.fast alpha shared|edge|set|gpucsl repeats".into());
    };
    let (method, reading) = match method.as_str() {
        "stable" => (Method::Stable, Reading::GaussCItest),
        _ => (Method::StableFast, Reading::StableFast),
    };
    let strategy = match strategy.as_str() {
        "edge" => SearchStrategy::Edge { beta: 2, gamma: 32 },
        "set" => SearchStrategy::Set { theta: 64, delta: 2 },
        "gpucsl" => SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 64 },
        _ => SearchStrategy::Shared,
    };
    let (c, p, n) = correlations(file)?;
    let options = Options { method, ..Options::new(p, alpha.parse()?) };
    let gauss = Gauss::new(by_column(&c, p)?, n as f64, reading)?;
    println!("{file} {method:?} alpha {alpha} {strategy:?}, {:?}", device::devices(false)?.first());

    let start = Instant::now();
    let mut p_cpu = vec![0.0; p * p];
    let mut engine = CpuEngine::new(GaussKernel::new(gauss, options.alpha), default_threads());
    let cpu = skeleton(&mut engine, &options, &mut p_cpu, &mut Clock::new(start))?;
    println!("{:9.2} ms on {} threads", start.elapsed().as_secs_f64() * 1e3, default_threads());

    for repeat in 0..repeats.parse::<usize>()? {
        // Newly allocated memory, as in R.
        let mut p_max = vec![0.0; p * p];
        let start = Instant::now();
        let cuda = CudaOptions { strategy, ..CudaOptions::default() };
        let mut engine = CudaEngine::new(gauss, options.alpha, cuda)?;
        let mut clock = Clock::new(start);
        let found = skeleton(&mut engine, &options, &mut p_max, &mut clock)?;
        println!("{}", clock.report());
        if repeat == 0 {
            println!("{} edges, tests {:?}, exactly {}", found.graph.edge_count(), found.tests, found.exact_tests);
            print!("{}", engine.plan());
        }
        match compare(&found, &p_max, &cpu, &p_cpu) {
            Ok(same) if repeat == 0 => println!("{same}"),
            Ok(_) => (),
            Err(different) => println!("{different}"),
        }
    }
    Ok(())
}
