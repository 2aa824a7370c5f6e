//! Times searches with a limit on the memory for correlations, compared with a search that first computes the whole matrix:
//!
//! ```text
//! gauss_bounded sparse:P,N,DEGREE,SEED|dense:P,N,LOAD,SEED ALPHA METHOD THREADS LAST SHARE...
//! ```
//!
//! `sparse` is a linear Gaussian model in which a variable has about DEGREE neighbours. `dense` is like expression data: ten common factors
//! with mean weight LOAD, and noise. LAST is the last level (`m.max`).
//!
//! A SHARE of 8 limits the memory to an eighth of what all correlations take: in double and in single precision if LAST is at most 1 and
//! the data are dense, else only in double. Searches run in turn. The program prints the shortest of three times of each, with its ratio,
//! and ends with an error if an answer differs.

use std::time::Instant;

use pcgpu_core::ci::gauss::{FisherZ, Gauss, Reading};
use pcgpu_core::engine::cpu::{Bound, CpuEngine, GaussKernel, GaussOfData};
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::{centred, of_centred, Centred, Kind, Rows};
use pcgpu_core::numbers::Numbers;
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Method, Options, PairValues, Skeleton};

type Failure = Box<dyn std::error::Error>;

/// Numbers from a linear congruential generator (Knuth's MMIX), which is good enough for timing.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

fn columns(kind: &str, p: usize, n: usize, parameter: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random(seed);
    let factors: Vec<Vec<f64>> = (0..10).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(p);
    for j in 0..p {
        let mut column: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mut add = |of: &[f64], weight: f64| column.iter_mut().zip(of).for_each(|(to, of)| *to += weight * of);
        if kind == "dense" {
            factors.iter().for_each(|factor| add(factor, parameter * random.normal()));
        } else {
            // Draws the gaps between parents.
            let share = parameter / (p.max(2) - 1) as f64;
            let mut at = 0;
            loop {
                at += (random.uniform().max(1e-300).ln() / (1.0 - share).ln()) as usize;
                if at >= j {
                    break;
                }
                add(&columns[at], (0.4 + 0.6 * random.uniform()) * if random.uniform() < 0.5 { -1.0 } else { 1.0 });
                at += 1;
            }
        }
        columns.push(column);
    }
    columns
}

/// An observer that notes when each level begins.
struct Levels(Vec<Instant>);

impl Observer for Levels {
    fn level(&mut self, _: usize, _: usize) -> pcgpu_core::Result<()> {
        self.0.push(Instant::now());
        Ok(())
    }
}

/// Returns the answer, and the seconds of each level.
fn run(worker: &mut dyn Worker, options: &Options) -> Result<(Skeleton, Vec<f64>), Failure> {
    let mut levels = Levels(Vec::new());
    let found = skeleton(worker, options, &mut PairValues::default(), &mut levels)?;
    levels.0.push(Instant::now());
    Ok((found, levels.0.windows(2).map(|of| (of[1] - of[0]).as_secs_f64()).collect()))
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [shape, alpha, method, threads, last, shares @ ..] = &arguments[..] else {
        return Err("gauss_bounded SHAPE ALPHA METHOD THREADS LAST SHARE...".into());
    };
    let (kind, numbers) = shape.split_once(':').ok_or("sparse:P,N,DEGREE,SEED")?;
    let numbers: Vec<f64> = numbers.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let [p, n, parameter, seed] = numbers[..] else { return Err("sparse:P,N,DEGREE,SEED".into()) };
    let (p, n) = (p as usize, n as usize);
    let columns = columns(kind, p, n, parameter, seed as u64);
    let pool = Pool::new(threads.parse()?);
    let mut cells = vec![0.0; n * p];
    let of_columns: Vec<Numbers> = columns.iter().map(|column| Numbers::Doubles(column)).collect();
    centred(&of_columns, Kind::Pearson, Rows::All, &pool, &mut |_| Ok(()), |x, _| {
        x.write(&mut cells, &pool);
        Ok(())
    })?;
    let (method, reading) = match method.as_str() {
        "stable" => (Method::Stable, Reading::GaussCItest),
        "stable.fast" => (Method::StableFast, Reading::StableFast),
        _ => (Method::Original, Reading::GaussCItest),
    };
    let options = Options { method, m_max: last.parse()?, ..Options::new(p, alpha.parse()?) };
    let test = FisherZ::new(n as f64, reading)?;
    let all = if kind == "dense" && options.m_max <= 1.0 { Bound::of_all(p) } else { Bound::of_all(p) / 2 };
    let shares: Vec<u64> = shares.iter().map(|share| share.parse()).collect::<Result<_, _>>()?;
    // For each share, with 0 for the whole matrix: the shortest time, and that of each level.
    let mut best: Vec<(f64, Vec<f64>)> = vec![(f64::INFINITY, Vec::new()); shares.len() + 1];
    let mut wanted: Option<Skeleton> = None;
    for _ in 0..repeats() {
        for (at, best) in best.iter_mut().enumerate() {
            let began = Instant::now();
            let (found, levels) = if at == 0 {
                let mut c = vec![0.0; p * p];
                of_centred(&Centred::of_cells(&cells, n), &pool, &mut c, &mut |_| Ok(()))?;
                let made = began.elapsed().as_secs_f64();
                let kernel = GaussKernel::new(Gauss::new(by_column(&c, p)?, n as f64, reading)?, options.alpha);
                let (found, mut levels) = run(&mut CpuEngine::new(kernel, pool.clone()), &options)?;
                levels.insert(0, made);
                (found, levels)
            } else {
                let bound = Bound { bytes: all / shares[at - 1], is_named: true };
                let x = by_column(&cells, p)?;
                run(&mut GaussOfData::new(test, x, options.alpha, pool.clone(), bound)?, &options)?
            };
            let seconds = began.elapsed().as_secs_f64();
            if seconds < best.0 {
                *best = (seconds, levels);
            }
            let wanted = wanted.get_or_insert_with(|| found.clone());
            if found.graph != wanted.graph || found.tests != wanted.tests || found.exact_tests != wanted.exact_tests {
                return Err("another answer".into());
            }
        }
    }
    let whole = best[0].0;
    for (at, (seconds, levels)) in best.iter().enumerate() {
        let levels: Vec<String> = levels.iter().map(|level| format!("{level:.3}")).collect();
        let name = if at == 0 { "whole".to_string() } else { format!("1/{}", shares[at - 1]) };
        println!("{shape} {name}: {seconds:.3} s, {:.2} times; {}", seconds / whole, levels.join(" "));
    }
    if let Some(wanted) = wanted {
        println!("{} edges, tests {:?}", wanted.graph.edge_count(), wanted.tests);
    }
    Ok(())
}

/// Returns the number of runs of each search.
fn repeats() -> usize {
    std::env::var("REPEATS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}
