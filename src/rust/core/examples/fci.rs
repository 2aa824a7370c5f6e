//! Times the possible-d-sep phase of FCI on random Gaussian data, on the CPU's threads and on a GPU, and compares their answers:
//! `cargo run --release -p pcgpu-core --example fci -- p n neighbours seed m_max [threads] [cuda | count]`
//!
//! One variable in ten is hidden. `m_max` may be `inf`. `count` prints the largest possible number of tests in the phase, and ends there.

mod support;

use std::time::Instant;

use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions};
use pcgpu_core::fci::{fci, By, Fci, Found, Phase};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::orient::ColliderRule;
use pcgpu_core::pag;
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::search::checkpoint::Limits;
use pcgpu_core::search::possible_d_sep::Skeleton;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Options};
use pcgpu_core::simulation::{Kind, Model, Shape};
use pcgpu_core::Error;
use support::{correlation, simulated, Failure};

/// Returns correlations of the observed variables in random data, and the number of these variables.
fn data(p: usize, n: usize, neighbours: f64, seed: u64) -> Result<(Vec<f64>, usize), Failure> {
    let shape = Shape { p, model: Model::Independent, neighbours, weights: [0.1, 1.0], signs: false };
    let (_, cells, _) = simulated(&shape, n, Kind::Gaussian, false, seed)?;
    let columns: Vec<Vec<f64>> =
        cells.chunks(n).enumerate().filter(|(v, _)| v % 10 != 9).map(|(_, column)| column.to_vec()).collect();
    Ok((correlation(&columns), columns.len()))
}

/// An observer that prints the largest possible number of tests in the phase, and may end there.
struct Announced {
    ends: bool,
}

impl Observer for Announced {
    fn possible_d_sep(&mut self, edges: usize, most_tests: f64) -> pcgpu_core::Result<()> {
        println!("{edges} edges, {most_tests:.3e} tests at most");
        if self.ends {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

/// Runs the skeleton and the rest of FCI. Returns the result, the largest p-values, and the seconds of both parts.
fn run(
    worker: &mut dyn Worker,
    options: &Options,
    m_max: f64,
    threads: usize,
    announced: &mut Announced,
) -> Result<(Found, Vec<f64>, [f64; 2]), Failure> {
    let p = options.p;
    let mut p_max = vec![0.0; p * p];
    let start = Instant::now();
    let found = skeleton(worker, options, &mut p_max, &mut Unobserved)?;
    let of_skeleton = start.elapsed().as_secs_f64();
    let mut given = Skeleton { graph: found.graph, sepsets: found.sepsets, p_max: &mut p_max };
    let start = Instant::now();
    let orient = pag::Options::default();
    let phase = Phase { m_max, ..Phase::default() };
    let phase = Some(phase.prepare((&given.graph, &given.sepsets), &orient, &Pool::new(threads))?);
    let how = Fci { phase, rule: ColliderRule::Standard, orient, tell: None };
    let pag = fci(&mut By::Worker(worker), &mut given, options, &how, &Limits::default(), announced)?;
    Ok((pag, p_max, [of_skeleton, start.elapsed().as_secs_f64()]))
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [p, n, neighbours, seed, m_max, rest @ ..] = arguments.as_slice() else {
        return Err("arguments: p n neighbours seed m_max [threads] [cuda]".into());
    };
    let (c, p) = data(p.parse()?, n.parse()?, neighbours.parse()?, seed.parse()?)?;
    let m_max = if m_max == "inf" { f64::INFINITY } else { m_max.parse()? };
    let threads = rest.first().and_then(|threads| threads.parse().ok()).unwrap_or_else(default_threads);
    let options = Options::new(p, 0.01);
    let gauss = Gauss::new(by_column(&c, p)?, n.parse()?, Reading::GaussCItest)?;

    let mut announced = Announced { ends: rest.iter().any(|word| word == "count") };
    let mut engine = CpuEngine::new(GaussKernel::new(gauss, options.alpha), threads);
    let (cpu, p_cpu, [skeleton, phase]) = match run(&mut engine, &options, m_max, threads, &mut announced) {
        Err(_) if announced.ends => return Ok(()),
        found => found?,
    };
    let counts = cpu.counts.as_ref().ok_or("no counts")?;
    let widest = counts.sets.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let tests: u64 = counts.all_tests.iter().sum();
    println!("{p} variables, possible-d-sep sets of up to {widest}, {tests} tests, {} exactly", counts.exact_tests);
    println!(
        "{threads} threads: skeleton {skeleton:.3} s, the rest {phase:.3} s, {:.2} ns a test",
        phase / tests as f64 * 1e9
    );
    if rest.iter().any(|word| word == "cuda") {
        let mut engine = CudaEngine::new(gauss, options.alpha, CudaOptions::default())?;
        for _ in 0..2 {
            let (cuda, p_cuda, [skeleton, phase]) = run(&mut engine, &options, m_max, threads, &mut announced)?;
            let same = cuda.pag == cpu.pag
                && cuda.counts.as_ref().map(|counts| (&counts.tests, &counts.sets))
                    == Some((&counts.tests, &counts.sets));
            let off = p_cuda.iter().zip(&p_cpu).filter(|(a, b)| a.to_bits() != b.to_bits());
            let apart = off.map(|(a, b)| (a - b).abs() / b.abs().max(1e-300)).fold(0.0, f64::max);
            println!("cuda: skeleton {skeleton:.3} s, the rest {phase:.3} s; same {same}, p-values apart by {apart:e}");
        }
    }
    Ok(())
}
