//! Times the phases of a search on a CSV of samples x variables, for profilers:
//! `cargo run --release -p pcgpu-core --example skeleton -- data.csv stable.fast 0.01 2`

mod support;

use std::time::Instant;

use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::matrix::by_column;
use pcgpu_core::orient;
use pcgpu_core::search::{skeleton, Method, Options};
use support::{correlations, Failure, Levels};

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, method, alpha, threads] = arguments.as_slice() else {
        return Err("arguments: data.csv stable|stable.fast|original alpha threads".into());
    };
    let (method, reading) = match method.as_str() {
        "stable" => (Method::Stable, Reading::GaussCItest),
        "original" => (Method::Original, Reading::GaussCItest),
        _ => (Method::StableFast, Reading::StableFast),
    };
    let (c, p, n) = correlations(file)?;
    let options = Options { method, ..Options::new(p, alpha.parse()?) };
    let mut p_max = vec![0.0; p * p];
    let start = Instant::now();
    let mut engine = CpuEngine::new(
        GaussKernel::new(Gauss::new(by_column(&c, p)?, n as f64, reading)?, options.alpha),
        threads.parse::<usize>()?,
    );
    let mut found = skeleton(&mut engine, &options, &mut p_max, &mut Levels(start))?;
    println!("{:9.1} ms  skeleton: {} edges", start.elapsed().as_secs_f64() * 1e3, found.graph.edge_count());
    println!("tests {:?}, of them exactly {}", found.tests, found.exact_tests);
    let start = Instant::now();
    let none = &mut |_: usize| Ok(Vec::new());
    let pdag =
        orient::orient(&found.graph, &mut found.sepsets, &orient::Options::default(), options.alpha, None, none)?;
    println!("{:9.1} ms  orientation: {} directed", start.elapsed().as_secs_f64() * 1e3, pdag.directed_count());
    Ok(())
}
