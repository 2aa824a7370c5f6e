//! Times correlations of rows that come in blocks, compared with those of all rows at once and with the time of the necessary
//! multiply-adds.
//!
//!     cargo run --release -p pcgpu-core --example moments -- 1000000x50 100000x400 ... [threads=2] [repeats=5] [block=100000000]
//!
//! The lower bound is n p (p + 1) / 2 multiply-adds, at the rate of a loop that does nothing else, on the same number of threads.

use std::hint::black_box;
use std::time::Instant;

use pcgpu_core::moments::running::Running;
use pcgpu_core::moments::{correlation, Kind, Rows};
use pcgpu_core::numbers::Numbers;
use pcgpu_core::pool::Pool;

/// Returns the multiply-adds per second of a thread with AVX2, on numbers in registers. Processors with two AVX-512 units can do twice as
/// many.
#[cfg(target_arch = "x86_64")]
fn rate() -> f64 {
    use std::arch::x86_64::*;
    #[target_feature(enable = "avx2,fma")]
    unsafe fn loops(rounds: usize) -> f64 {
        let (mut sums, by, add) = ([_mm256_set1_pd(black_box(1.0)); 12], _mm256_set1_pd(0.999), _mm256_set1_pd(0.001));
        for _ in 0..rounds {
            sums.iter_mut().for_each(|sum| *sum = _mm256_fmadd_pd(*sum, by, add));
        }
        black_box(sums);
        (rounds * 12 * 4) as f64
    }
    let began = Instant::now();
    // SAFETY: the processor's features are checked first.
    let done = unsafe {
        match is_x86_feature_detected!("fma") {
            true => loops(20_000_000),
            false => return f64::NAN,
        }
    };
    done / began.elapsed().as_secs_f64()
}

#[cfg(not(target_arch = "x86_64"))]
fn rate() -> f64 {
    f64::NAN
}

fn least(repeats: usize, mut work: impl FnMut()) -> (f64, f64) {
    let mut seconds: Vec<f64> = (0..repeats)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    (seconds[0], seconds[repeats / 2])
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, usual: usize| {
        let found = arguments.iter().find_map(|text| text.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
        found.unwrap_or(usual)
    };
    let (threads, repeats, bytes) = (option("threads", 2), option("repeats", 5), option("block", 100_000_000));
    let pool = Pool::new(threads);
    println!("| n x p | floor s | all at once s, min / median | by blocks s, min / median | floor / blocks | all / blocks | largest difference |");
    println!("|---|---|---|---|---|---|---|");
    for (n, p) in arguments.iter().filter_map(|text| text.split_once('x')) {
        let (Ok(n), Ok(p)) = (n.parse::<usize>(), p.parse::<usize>()) else { continue };
        // The best of several, as other programs may use the machine.
        let together = |_| {
            let mut rates = vec![0.0; threads];
            std::thread::scope(|scope| rates.iter_mut().for_each(|to| _ = scope.spawn(|| *to = rate())));
            rates.iter().sum::<f64>()
        };
        let floor = (n * p * (p + 1) / 2) as f64 / (0..repeats).map(together).fold(0.0, f64::max);
        let mut state = 7u64;
        let mut draw = || {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let data: Vec<f64> = (0..n * p).map(|_| draw()).collect();
        let columns: Vec<Numbers> = data.chunks(n).map(Numbers::Doubles).collect();
        let mut all = vec![0.0; p * p];
        let at_once = least(repeats, || {
            correlation(&columns, Kind::Pearson, Rows::All, &pool, &mut all, &mut |_| Ok(()))
                .map(drop)
                .unwrap_or_default();
        });
        let mut c = vec![0.0; p * p];
        let height = (bytes / 8 / p).max(1);
        let by_blocks = least(repeats, || {
            let made = Running::new(p, false).and_then(|mut running| {
                for from in (0..n).step_by(height) {
                    let block: Vec<Numbers> =
                        data.chunks(n).map(|column| Numbers::Doubles(&column[from..n.min(from + height)])).collect();
                    running.add(&block, &pool, &mut |_| Ok(()))?;
                }
                running.totals(&pool, &mut |_| Ok(()))?.correlations(&pool, &mut c, &mut || Ok(()))
            });
            made.unwrap_or_default();
        });
        let apart = c.iter().zip(&all).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!(
            "| {n} x {p} | {floor:.4} | {:.4} / {:.4} | {:.4} / {:.4} | {:.2} | {:.2} | {apart:.1e} |",
            at_once.0,
            at_once.1,
            by_blocks.0,
            by_blocks.1,
            floor / by_blocks.0,
            at_once.0 / by_blocks.0
        );
    }
}
