//! Times the phases of a search on a CSV of samples x variables without a header, for profilers:
//! `cargo run --release -p pcgpu-core --example skeleton -- data.csv stable.fast 0.01 2`

use std::time::Instant;

use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::orient;
use pcgpu_core::search::{levels, Method, Observer, Options};

struct Clock(Instant);

impl Observer for Clock {
    fn level(&mut self, level: usize, remaining: usize) -> pcgpu_core::Result<()> {
        println!("{:9.1} ms  level {level}, {remaining} edges", self.0.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }
}

fn correlations(text: &str) -> (Vec<f64>, usize, usize) {
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
    (c, p, n)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, method, alpha, threads] = arguments.as_slice() else {
        return Err("arguments: data.csv stable|stable.fast|original alpha threads".into());
    };
    let (method, reading) = match method.as_str() {
        "stable" => (Method::Stable, Reading::GaussCItest),
        "original" => (Method::Original, Reading::GaussCItest),
        _ => (Method::StableFast, Reading::StableFast),
    };
    let (c, p, n) = correlations(&std::fs::read_to_string(file)?);
    let options = Options { method, ..Options::new(p, alpha.parse()?) };
    let mut p_max = vec![0.0; p * p];
    let start = Instant::now();
    let mut engine =
        CpuEngine::new(GaussKernel::new(Gauss::new(&c, p, n as f64, reading)?, options.alpha), threads.parse()?);
    let mut found = levels::skeleton(&mut engine, &options, &mut p_max, &mut Clock(start))?;
    println!("{:9.1} ms  skeleton: {} edges", start.elapsed().as_secs_f64() * 1e3, found.graph.edge_count());
    println!("tests {:?}, of them exactly {}", found.tests, found.exact_tests);
    let start = Instant::now();
    let none = &mut |_: usize| Ok(Vec::new());
    let pdag =
        orient::orient(&found.graph, &mut found.sepsets, &orient::Options::default(), options.alpha, None, none)?;
    println!("{:9.1} ms  orientation: {} directed", start.elapsed().as_secs_f64() * 1e3, pdag.directed_count());
    Ok(())
}
