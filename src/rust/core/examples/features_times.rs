//! Times searches by random features, on the CPU and on a GPU, and compares their answers bit by bit. Prints the first run and the least and the
//! median of five more; those of a slow search are fewer.
//!
//! ```sh
//! cargo run --release -p pcgpu-core --example features_times -- P N LEVEL [rcot|rcit] [THREADS] [cpu|gpu|both] [ALPHA] [NEIGHBOURS]
//! ```

mod support;

use std::time::Instant;

use pcgpu_core::ci::features::{Form, KernelTest, Settings};
use pcgpu_core::ci::mixed::{Frame, Given, Values};
use pcgpu_core::engine::cpu::{CpuEngine, FeaturesKernel};
use pcgpu_core::engine::cuda::features::FeaturesCudaEngine;
use pcgpu_core::engine::cuda::GpuOptions;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Options};
use pcgpu_core::simulation::{Kind, Model, Shape};
use pcgpu_core::Result;
use support::simulated;

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, or: usize| given.get(at).and_then(|text| text.parse().ok()).unwrap_or(or);
    let (p, n, level) = (number(0, 100), number(1, 500), number(2, 3));
    let form = if given.get(3).is_some_and(|form| form == "rcit") { Form::Rcit } else { Form::Rcot };
    let threads = number(4, 2);
    let on = given.get(5).map_or("both", String::as_str);
    let alpha = given.get(6).and_then(|text| text.parse().ok()).unwrap_or(0.01);
    let neighbours = number(7, 2) as f64;
    let shape = Shape { p, model: Model::Independent, neighbours, weights: [0.5, 1.5], signs: true };
    let (_, cells, _) = simulated(&shape, n, Kind::Nonlinear, false, 7)?;
    let values: Vec<Given> =
        cells.chunks(n).map(|column| Given { levels: 0, versions: vec![Values::Numbers(column)] }).collect();
    let names: Vec<u32> = (0..p as u32).collect();
    let settings = Settings { form, sides: 5, given: 100, seed: 1 };
    let test = KernelTest::new(Frame::new(n, 1, &values)?, &names, settings)?;
    let options = Options { m_max: level as f64, ..Options::new(p, alpha) };
    let mut answers = Vec::new();
    if on != "gpu" {
        time("cpu", &options, &mut answers, &|| {
            Ok(Box::new(CpuEngine::new(FeaturesKernel::new(&test), Pool::at_most(threads))))
        })?;
    }
    if on != "cpu" {
        time("gpu", &options, &mut answers, &|| {
            Ok(Box::new(FeaturesCudaEngine::new(&test, GpuOptions::default())?.with_pool(Pool::at_most(threads))))
        })?;
    }
    let same = answers.windows(2).all(|two| two[0] == two[1]);
    println!("same: {same}");
    Ok(())
}

fn time<'t>(
    name: &str,
    options: &Options,
    answers: &mut Vec<(Vec<u64>, Vec<u64>)>,
    make: &dyn Fn() -> Result<Box<dyn Worker + 't>>,
) -> Result<()> {
    let mut all = Vec::new();
    let started = Instant::now();
    while all.len() < 6 && (all.len() < 2 || started.elapsed().as_secs_f64() < 30.0) {
        let began = Instant::now();
        let mut worker = make()?;
        let mut p_max = vec![0.0; options.p * options.p];
        let found = skeleton(worker.as_mut(), options, &mut p_max[..], &mut Unobserved)?;
        all.push(began.elapsed().as_secs_f64());
        if all.len() == 1 {
            println!("{name}: first {:.3} s, {:?} tests, {} edges", all[0], found.tests, found.graph.edge_count());
        }
        answers.push((found.graph.words().to_vec(), p_max.iter().map(|p| p.to_bits()).collect()));
    }
    all.remove(0);
    all.sort_by(f64::total_cmp);
    println!("{name}: least {:.3} s, median {:.3} s of {}", all[0], all[all.len() / 2], all.len());
    Ok(())
}
