//! Times the first call of a process on a GPU, for each test: `first_call [VARIABLES]`.
//!
//! It starts itself for each test and each way that a driver gets kernels: without a cache of compiled kernels; with an empty one; not
//! allowed to compile PTX; and forced to compile PTX. The third way fails if we have no machine code for the GPU; such GPUs go through the
//! fourth.
//!
//! Times are in milliseconds. "first" is a call in a new process; the next two calls are printed with it. The steps are those of another
//! process. "driver" starts it and lists the GPUs. "GPU" is the first call on data with 12 variables, which opens the GPU and loads
//! kernels; "small" is the second. "large" is the first call on all data, which allocates memory and may load more kernels. VARIABLES is
//! 1000 by default. The exit status is 1 if a process failed.

mod support;

use std::process::Command;
use std::time::Instant;

use pcgpu_core::ci::discrete::{Coded, Codes, Discrete, Rule, Statistic, Variable};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::ci::knn::{Estimator, Knn, Settings, Transform};
use pcgpu_core::engine::cuda::gauss::correlation;
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions};
use pcgpu_core::engine::cuda::selection::{CudaCounting, SelectionOptions};
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions};
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::Centred;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Method, Options};
use pcgpu_core::selection::{select, CountLogs, Criterion, Samples};
use support::Failure;

/// The tests, each with the divisor of its number of variables: a nearest-neighbour test takes long.
const TESTS: [(&str, usize); 6] =
    [("stable", 1), ("stable.fast", 1), ("chi2", 4), ("knn", 40), ("selection", 1), ("correlation", 1)];

/// A way that the driver gets kernels: its name, its environment variables ("empty" is a folder that does not exist yet), and what is
/// printed for it.
type Way = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const WAYS: [Way; 4] = [
    ("no cache", &[("CUDA_CACHE_DISABLE", "1")], &["calls", "steps"]),
    ("empty cache", &[("CUDA_CACHE_DISABLE", "0"), ("CUDA_CACHE_PATH", "empty")], &["calls"]),
    ("code alone", &[("CUDA_CACHE_DISABLE", "1"), ("CUDA_DISABLE_PTX_JIT", "1")], &["calls"]),
    ("PTX", &[("CUDA_CACHE_DISABLE", "1"), ("CUDA_FORCE_PTX_JIT", "1")], &["calls", "steps"]),
];

/// Returns columns with 200 samples. A variable depends on some of the three before it, so that a search has several levels.
fn simulated(p: usize) -> Vec<Vec<f64>> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..p {
        let mut column: Vec<f64> = (0..200).map(|_| (0..6).map(|_| uniform()).sum::<f64>() - 3.0).collect();
        for parent in &columns[j.saturating_sub(3).max(j / 12 * 12)..j] {
            let weight = uniform();
            column.iter_mut().zip(parent).for_each(|(value, from)| *value += weight * from);
        }
        columns.push(column);
    }
    columns
}

fn search(mut worker: impl Worker, options: &Options) -> Result<(), Failure> {
    let mut p_max = vec![0.0; options.p * options.p];
    Ok(skeleton(&mut worker, options, &mut p_max, &mut Unobserved).map(drop)?)
}

/// Returns a function that calls the test on these columns.
fn call(test: &str, columns: &[Vec<f64>]) -> Result<Box<dyn Fn() -> Result<(), Failure>>, Failure> {
    let (p, n) = (columns.len(), columns[0].len());
    let x = columns.concat();
    let codes =
        |column: &Vec<f64>| Codes::Bytes(column.iter().map(|value| (value.clamp(-1.4, 1.4) + 1.5) as u8).collect());
    let coded = || -> Result<Coded, Failure> {
        let variables: Result<_, _> = columns.iter().map(|column| Variable::of_codes(3, codes(column))).collect();
        Ok(Coded::of_variables(n, variables?)?)
    };
    Ok(match test {
        "stable" | "stable.fast" => {
            let c = support::correlation(columns);
            let (method, reading) = match test {
                "stable" => (Method::Stable, Reading::GaussCItest),
                _ => (Method::StableFast, Reading::StableFast),
            };
            let options = Options { method, ..Options::new(p, 0.01) };
            Box::new(move || {
                let gauss = Gauss::new(by_column(&c, p)?, n as f64, reading)?;
                search(CudaEngine::new(gauss, options.alpha, CudaOptions::default())?, &options)
            })
        }
        "chi2" => {
            let (data, options) = (coded()?, Options::new(p, 0.01));
            Box::new(move || {
                let test = Discrete::new(&data, Statistic::X2, Rule::Bnlearn { adapt: false });
                search(CudaEngine::discrete(test, options.alpha, CudaOptions::default())?, &options)
            })
        }
        "knn" => {
            let settings = Settings {
                k: 7,
                k_perm: 5,
                permutations: 20,
                estimator: Estimator::FrenzelPompe,
                transform: Transform::Ranks,
                add_one: false,
                seed: 1,
                early_stop: None,
            };
            let options = Options { m_max: 2.0, ..Options::new(p, 0.05) };
            Box::new(move || {
                let knn = Knn::new(by_column(&x, p)?, &vec![false; p], settings)?;
                search(KnnCudaEngine::new(&knn, KnnCudaOptions::default())?, &options)
            })
        }
        "selection" => {
            // The last column is the class.
            let samples = Samples::new(coded()?)?;
            Box::new(move || {
                let logs = CountLogs::new(n);
                let mut counting = CudaCounting::new(&samples, &logs, 0..p - 1, SelectionOptions::default())?;
                Ok(select(&samples, &logs, &mut counting, Criterion::Jmi, 3, &mut Unobserved).map(drop)?)
            })
        }
        "correlation" => Box::new(move || {
            let mut c = vec![0.0; p * p];
            let (x, pool) = (Centred::of_cells(&x, n), Pool::at_most(default_threads()));
            Ok(correlation::correlation(&x, 0, MemoryKind::Device, None, &pool, &mut c, &mut |_| Ok(()))?)
        }),
        other => return Err(format!("there is no test `{other}` here").into()),
    })
}

fn timed<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<String, Failure> {
    let begun = Instant::now();
    call()?;
    Ok(format!("{:8.1}", begun.elapsed().as_secs_f64() * 1e3))
}

/// Runs in its own process: prints the times of the three calls, or of the steps.
fn child(part: &str, test: &str, p: usize) -> Result<(), Failure> {
    let columns = simulated(p);
    let large = call(test, &columns)?;
    if part == "calls" {
        println!("first {}  second {}  third {}", timed(&large)?, timed(&large)?, timed(&large)?);
        return Ok(());
    }
    let small = call(test, &columns[..p.min(12)])?;
    let driver = timed(|| Ok(device::devices(false)?))?;
    let (gpu, second) = (timed(&small)?, timed(&small)?);
    println!("driver {driver}  GPU {gpu}  small {second}  large {}  second {}", timed(&large)?, timed(&large)?);
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [part, test, p] = arguments.as_slice() {
        return child(part, test, p.parse()?);
    }
    let p: usize = arguments.first().map_or(Ok(1000), |p| p.parse())?;
    let empty = std::env::temp_dir().join(format!("pcgpu-first-call-{}", std::process::id()));
    let mut failed = false;
    for (way, settings, parts) in WAYS {
        for part in parts {
            for (test, share) in TESTS {
                let _ = std::fs::remove_dir_all(&empty);
                let mut command = Command::new(std::env::current_exe()?);
                command.args([part, test, &(p / share).max(12).to_string()]);
                for &(name, value) in settings {
                    match value {
                        "empty" => command.env(name, &empty),
                        value => command.env(name, value),
                    };
                }
                let output = command.output()?;
                let said = if output.status.success() { output.stdout } else { output.stderr };
                println!("{way:12} {test:12} {}", String::from_utf8_lossy(&said).trim_end());
                failed |= !output.status.success();
            }
        }
    }
    let _ = std::fs::remove_dir_all(&empty);
    if failed {
        return Err("a process failed".into());
    }
    Ok(())
}
