//! Helpers of the programs that time searches: reading data, times of levels, comparing answers.

// Not every program uses all of it.
#![allow(dead_code)]

use std::io::Read;
use std::time::Instant;

use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::search::Skeleton;
use pcgpu_core::simulation::{random_dag, random_data, Dag, Kind, Mechanism, Missing, Sample, Shape};

pub type Failure = Box<dyn std::error::Error>;

/// The start of each level, in milliseconds from the beginning.
pub struct Clock {
    start: Instant,
    began: Vec<f64>,
}

impl Clock {
    pub fn new(start: Instant) -> Self {
        Clock { start, began: Vec::new() }
    }

    /// Returns the time until now and the starts of the levels as text.
    pub fn report(&self) -> String {
        let began: Vec<String> = self.began.iter().map(|ms| format!("{ms:.2}")).collect();
        format!("{:9.2} ms, levels began at {}", self.start.elapsed().as_secs_f64() * 1e3, began.join(" "))
    }
}

impl Observer for Clock {
    fn level(&mut self, _level: usize, _remaining: usize) -> pcgpu_core::Result<()> {
        self.began.push(self.start.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }
}

/// An observer that prints each level as it begins.
pub struct Levels(pub Instant);

impl Observer for Levels {
    fn level(&mut self, level: usize, remaining: usize) -> pcgpu_core::Result<()> {
        println!("{:9.1} ms  level {level}, {remaining} edges", self.0.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }
}

/// Returns a random graph, n samples of it column by column, and the number of levels of each column.
pub fn simulated(
    shape: &Shape,
    n: usize,
    kind: Kind,
    standardise: bool,
    seed: u64,
) -> pcgpu_core::Result<(Dag, Vec<f64>, Vec<usize>)> {
    let dag = random_dag(shape, seed)?;
    let missing = Missing { share: 0.0, mechanism: Mechanism::Completely };
    let sample = Sample { n, kind, levels: [2, 4], strength: 1.0, standardise, missing };
    let mut cells = vec![0.0; n * shape.p];
    let levels =
        random_data(shape.p, &dag, &sample, seed, &mut cells, &Pool::at_most(default_threads()), &mut Unobserved)?;
    Ok((dag, cells, levels))
}

/// Returns the text of a file, decompressed if it is gzipped.
pub fn text(file: &str) -> Result<String, Failure> {
    let bytes = std::fs::read(file)?;
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text)?;
    } else {
        (&bytes[..]).read_to_string(&mut text)?;
    }
    Ok(text)
}

/// Returns the rows of a table of numbers, with or without a header: lines with a cell that is not a number are left out.
pub fn table(file: &str) -> Result<Vec<Vec<f64>>, Failure> {
    let text = text(file)?;
    let numbers = |line: &str| line.split(',').map(|cell| cell.trim().parse().ok()).collect::<Option<Vec<f64>>>();
    Ok(text.lines().filter_map(numbers).collect())
}

/// Returns correlations, p and n. The file is a CSV of samples x variables, or a `*.bin`. The latter holds p and n as 32-bit integers and then
/// the p x p correlations as doubles.
pub fn correlations(file: &str) -> Result<(Vec<f64>, usize, usize), Failure> {
    if file.ends_with(".bin") {
        let bytes = std::fs::read(file)?;
        let whole =
            |at: usize| -> Result<usize, Failure> { Ok(u32::from_le_bytes(bytes[at..at + 4].try_into()?) as usize) };
        let numbers: Result<Vec<f64>, _> =
            bytes[8..].chunks_exact(8).map(|word| word.try_into().map(f64::from_le_bytes)).collect();
        return Ok((numbers?, whole(0)?, whole(4)?));
    }
    let rows = table(file)?;
    let (n, p) = (rows.len(), rows.first().map_or(0, Vec::len));
    let columns: Vec<Vec<f64>> = (0..p).map(|column| rows.iter().map(|row| row[column]).collect()).collect();
    Ok((correlation(&columns), p, n))
}

/// Returns the correlation matrix of columns.
pub fn correlation(columns: &[Vec<f64>]) -> Vec<f64> {
    let p = columns.len();
    let unit: Vec<Vec<f64>> = columns
        .iter()
        .map(|column| {
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            let norm = column.iter().map(|value| (value - mean).powi(2)).sum::<f64>().sqrt();
            column.iter().map(|value| (value - mean) / norm).collect()
        })
        .collect();
    let mut c = vec![1.0; p * p];
    for x in 0..p {
        for y in 0..x {
            let r: f64 = unit[x].iter().zip(&unit[y]).map(|(a, b)| a * b).sum();
            (c[x * p + y], c[y * p + x]) = (r, r);
        }
    }
    c
}

/// Compares two answers and their largest p-values (to 1e-9). Returns the outcome as text, in `Err` if they differ.
pub fn compare(found: &Skeleton, p_max: &[f64], wanted: &Skeleton, p_wanted: &[f64]) -> Result<String, String> {
    let sets_differ = (0..found.graph.p()).any(|x| !found.sepsets.row(x).eq(wanted.sepsets.row(x)));
    let off = |(a, b): (&f64, &f64)| {
        if a == b || (a.is_nan() && b.is_nan()) {
            0.0
        } else {
            (a - b).abs() / b.abs().max(1e-300)
        }
    };
    let largest = p_max.iter().zip(p_wanted).map(off).fold(0.0, f64::max);
    let graphs_differ = found.graph != wanted.graph;
    let same = !graphs_differ && !sets_differ && found.tests == wanted.tests && found.max_order == wanted.max_order;
    if same && largest <= 1e-9 {
        return Ok(format!("the same as on the CPU, pMax to {largest:e}"));
    }
    Err(format!(
        "DIFFERS from the CPU: graph {graphs_differ}, sets {sets_differ}, {:?} and {:?}, pMax by {largest:e}",
        found.tests, wanted.tests
    ))
}

/// Removes `memory=BYTES` or `memory=1/8` from the arguments and returns its value, if there is one.
pub fn take_memory(arguments: &mut Vec<String>) -> Option<String> {
    let at = arguments.iter().position(|argument| argument.starts_with("memory="))?;
    arguments.remove(at).strip_prefix("memory=").map(str::to_string)
}

/// Returns a memory budget in bytes, from a number of bytes or a share of what a run with all memory plans.
pub fn budget(text: &str, planned: u64) -> Result<u64, Failure> {
    match text.split_once('/') {
        Some((over, under)) => Ok(planned * over.parse::<u64>()? / under.parse::<u64>()?.max(1)),
        None => Ok(text.parse::<f64>()? as u64),
    }
}
