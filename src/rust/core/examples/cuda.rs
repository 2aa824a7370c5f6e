//! Times the CUDA engine on a CSV of samples x variables without a header, level by level, and compares its answer with the
//! CPU engine's:
//! `cargo run --release -p pcgpu-core --example cuda -- data.csv stable.fast 0.01 shared 5`
//!
//! A file `*.bin` holds p and n as 32-bit integers and then the p x p correlations as doubles.

use std::time::Instant;

use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{default_threads, CpuEngine, GaussKernel};
use pcgpu_core::engine::cuda::{device, CudaEngine, CudaOptions, Strategy};
use pcgpu_core::search::{levels, Method, Observer, Options};

/// When each level began.
struct Clock(Instant, Vec<f64>);

impl Observer for Clock {
    fn level(&mut self, _level: usize, _remaining: usize) -> pcgpu_core::Result<()> {
        self.1.push(self.0.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }
}

type Failure = Box<dyn std::error::Error>;

fn correlations(file: &str) -> Result<(Vec<f64>, usize, usize), Failure> {
    if file.ends_with(".bin") {
        let bytes = std::fs::read(file)?;
        let whole =
            |at: usize| -> Result<usize, Failure> { Ok(u32::from_le_bytes(bytes[at..at + 4].try_into()?) as usize) };
        let numbers: Result<Vec<f64>, _> =
            bytes[8..].chunks_exact(8).map(|word| word.try_into().map(f64::from_le_bytes)).collect();
        return Ok((numbers?, whole(0)?, whole(4)?));
    }
    let text = std::fs::read_to_string(file)?;
    let rows: Vec<Vec<f64>> = text
        .lines()
        .map(|line| line.split(',').map(|cell| cell.trim().parse().unwrap_or(f64::NAN)).collect())
        .collect();
    let (n, p) = (rows.len(), rows[0].len());
    let columns: Vec<Vec<f64>> = (0..p)
        .map(|j| {
            let mean = rows.iter().map(|row| row[j]).sum::<f64>() / n as f64;
            let norm = rows.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>().sqrt();
            rows.iter().map(|row| (row[j] - mean) / norm).collect()
        })
        .collect();
    let mut c = vec![1.0; p * p];
    for x in 0..p {
        for y in 0..x {
            let r: f64 = columns[x].iter().zip(&columns[y]).map(|(a, b)| a * b).sum();
            c[x * p + y] = r;
            c[y * p + x] = r;
        }
    }
    Ok((c, p, n))
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, method, alpha, strategy, repeats] = arguments.as_slice() else {
        return Err("arguments: data.csv stable|stable.fast alpha shared|edge|set repeats".into());
    };
    let (method, reading) = match method.as_str() {
        "stable" => (Method::Stable, Reading::GaussCItest),
        _ => (Method::StableFast, Reading::StableFast),
    };
    let strategy = match strategy.as_str() {
        "edge" => Strategy::Edge { beta: 2, gamma: 32 },
        "set" => Strategy::Set { theta: 64, delta: 2 },
        _ => Strategy::Shared,
    };
    let (c, p, n) = correlations(file)?;
    let options = Options { method, ..Options::new(p, alpha.parse()?) };
    let gauss = Gauss::new(&c, p, n as f64, reading)?;
    println!("{file} {method:?} alpha {alpha} {strategy:?}, {:?}", device::devices()?.first());

    let start = Instant::now();
    let mut p_cpu = vec![0.0; p * p];
    let mut engine = CpuEngine::new(GaussKernel::new(gauss, options.alpha), default_threads());
    let cpu = levels::skeleton(&mut engine, &options, &mut p_cpu, &mut Clock(start, Vec::new()))?;
    println!("{:9.2} ms on {} threads", start.elapsed().as_secs_f64() * 1e3, default_threads());

    for repeat in 0..repeats.parse::<usize>()? {
        // Fresh memory, as R's is.
        let mut p_max = vec![0.0; p * p];
        let start = Instant::now();
        let cuda = CudaOptions { strategy, ..CudaOptions::default() };
        let mut engine = CudaEngine::new(gauss, options.alpha, cuda)?;
        let mut clock = Clock(start, Vec::new());
        let found = levels::skeleton(&mut engine, &options, &mut p_max, &mut clock)?;
        let total = start.elapsed().as_secs_f64() * 1e3;
        let begins: Vec<String> = clock.1.iter().map(|ms| format!("{ms:.2}")).collect();
        println!("{total:9.2} ms, levels began at {}", begins.join(" "));
        if repeat == 0 {
            println!("{} edges, tests {:?}, exactly {}", found.graph.edge_count(), found.tests, found.exact_tests);
            if let Some(plan) = engine.plan() {
                print!("{plan}");
            }
        }
        let sets_differ = (0..p).any(|x| !found.sepsets.row(x).eq(cpu.sepsets.row(x)));
        let off =
            |(a, b): (&f64, &f64)| if a == b || (a.is_nan() && b.is_nan()) { 0.0 } else { (a - b).abs() / b.abs() };
        let largest = p_max.iter().zip(&p_cpu).map(off).fold(0.0, f64::max);
        if found.graph != cpu.graph
            || sets_differ
            || found.tests != cpu.tests
            || found.max_order != cpu.max_order
            || largest > 1e-9
        {
            println!(
                "DIFFERS from the CPU: graph {}, sets {sets_differ}, {:?} and {:?}, pMax by {largest:e}",
                found.graph != cpu.graph,
                found.tests,
                cpu.tests
            );
        } else if repeat == 0 {
            println!("the same as on the CPU, pMax to {largest:e}");
        }
    }
    Ok(())
}
