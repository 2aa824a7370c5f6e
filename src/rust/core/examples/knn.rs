//! Times the nearest-neighbour test alone, for profilers and to choose the method of the neighbour search.
//!
//! `cargo run --release -p pcgpu-core --example knn -- N S K PERMUTATIONS TRANSFORM TESTS THREADS`

use std::time::Instant;

use pcgpu_core::ci::knn::{Estimator, Knn, Settings, Transform};
use pcgpu_core::engine::cpu::KnnKernel;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::random::{philox, Key};
use pcgpu_core::Result;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: usize| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (n, size, k) = (number(0, 1000), number(1, 1), number(2, 7));
    let (permutations, tests, threads) = (number(3, 100), number(5, 20), number(6, 1));
    let transform = match arguments.get(4).map(String::as_str) {
        Some("standardize") => Transform::Standardize,
        Some("none") => Transform::None,
        _ => Transform::Ranks,
    };
    let settings = Settings {
        k,
        k_perm: 5,
        permutations,
        estimator: Estimator::FrenzelPompe,
        transform,
        add_one: true,
        seed: 1,
        early_stop: None,
    };
    let p = size + 2;
    // Sums of four uniform numbers are close enough to normal.
    let words = |row: usize, column: usize| philox([row as u32, column as u32, 0, 0], Key([3, 4]));
    let value = |row: usize, column: usize| words(row, column).iter().map(|&w| f64::from(w)).sum::<f64>() / 4e9;
    let data: Vec<f64> = (0..p).flat_map(|column| (0..n).map(move |row| value(row, column))).collect();
    let knn = Knn::new(by_column(&data, p)?, &vec![false; p], settings)?;
    let kernel = KnnKernel::new(&knn);
    let given: Vec<u32> = (2..p as u32).collect();
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..tests {
        let began = Instant::now();
        last = Some(kernel.test(0, 1, &given, threads, &mut Unobserved)?);
        times.push(began.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    println!("median {:.6} s, least {:.6} s of {tests}: {last:?}", times[tests / 2], times[0]);
    Ok(())
}
