//! Times the nearest-neighbour test on a GPU and compares with the CPU engine.
//!
//! `cargo run --release -p pcgpu-core --example knn_cuda -- tests` repeats the tables of Hagedorn et al. (2022): tests by k, permutations,
//! size of S and n, by every strategy. `shared` and `parallel` are batches. `alone` and `single` run each of 20 tests alone, as in the
//! paper, and print the median, the 5th and the 95th percentile. `tests k`, `tests permutations`, `tests sets` and `tests n` repeat one
//! table. `tests long N` runs the papers' kernel with a large k = N / 5, until half a minute is over.
//!
//! `cargo run --release -p pcgpu-core --example knn_cuda -- search DATA.csv[.gz] K PERMUTATIONS K_PERM ALPHA` runs the skeleton phase on a
//! table of numbers, samples in rows, with or without a header. `search synthetic:P:N` runs it on a sparse graph. Further words:
//!
//! * `cards=0,1` and `cpu`: runs it on several machines as well, in turn with the first GPU alone, and prints the ratio of the shortest
//!   times.
//! * `memory=BYTES`, or `memory=1/8` of what a run with all memory plans: also runs it, in turn, on the first GPU with this budget.
//! * `unified`: uses unified memory; `strategy=parallel` and `strategy=single`: use the papers' kernels.

#[path = "support/gpu.rs"]
mod gpu;
mod support;

use std::time::Instant;

use gpu::take_unified;
use pcgpu_core::ci::knn::{Estimator, Knn, Settings, Transform};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cpu::{CpuEngine, KnnKernel};
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions, KnnStrategy};
use pcgpu_core::engine::question_team::QuestionTeam;
use pcgpu_core::graph::Adjacency;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::random::{philox, Key};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Options};
use pcgpu_core::team::TeamReport;
use pcgpu_core::Result;
use support::{budget, table, take_memory, Failure, Levels};

/// Number of searches on one GPU and on several, each.
const REPEATS: usize = 5;

/// Seconds after which a batch of tests is not repeated again.
const SECONDS: f64 = 0.5;

/// Number of tests that run one after the other, and the seconds after which no further one starts: the papers' kernel takes some seconds
/// if k and n are large.
const ALONE: usize = 20;
const SECONDS_ALONE: f64 = 30.0;

fn settings(k: usize, permutations: usize, k_perm: usize) -> Settings {
    Settings {
        k,
        k_perm,
        permutations,
        estimator: Estimator::FrenzelPompe,
        transform: Transform::Ranks,
        add_one: false,
        seed: 1,
        early_stop: None,
    }
}

/// Number of neighbours beyond which the papers' kernel takes from ten seconds to minutes per test.
const LONG: usize = 512;

/// Returns a sum of four uniform numbers, with mean 0 and variance 1: close enough to normal.
fn normal(row: usize, column: usize) -> f64 {
    let words = philox([row as u32, column as u32, 0, 0], Key([3, 4]));
    (words.iter().map(|&word| f64::from(word)).sum::<f64>() / 4_294_967_296.0 - 2.0) * 3f64.sqrt()
}

/// Returns n samples of p variables of a sparse graph, column by column: a variable has about 0.9 parents among earlier ones.
fn sparse(p: usize, n: usize) -> Vec<f64> {
    let mut data = vec![0.0; n * p];
    for column in 0..p {
        let words = philox([column as u32, 1, 0, 0], Key([5, 6]));
        let parents = if column == 0 { 0 } else { (words[0] % 4).min(1) + u32::from(words[0] % 8 == 7) };
        for row in 0..n {
            let mut value = normal(row, column);
            for parent in 0..parents as usize {
                let other = words[1 + parent] as usize % column;
                let from = data[other * n + row];
                value += match words[3] % 3 {
                    0 => from,
                    1 => from * from / 2.0,
                    _ => f64::tanh(2.0 * from),
                };
            }
            data[column * n + row] = value;
        }
    }
    data
}

/// Returns a quantile of sorted numbers, with linear interpolation.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// The strategies to time: all; only ours, if the papers' would take minutes; or ours and the papers', one by one. In the last case the
/// papers' kernel has no warm-up test, as the warm-up is short compared with such a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ways {
    All,
    Ours,
    OneByOne,
}

/// Prints the milliseconds per test in a batch and alone, by strategy, and on the CPU.
fn time(n: usize, size: usize, k: usize, permutations: usize, tests: usize, cpu: bool, ways: Ways) -> Result<()> {
    let p = size + 2 + 8;
    let data: Vec<f64> = (0..p).flat_map(|column| (0..n).map(move |row| normal(row, column))).collect();
    let knn = Knn::new(by_column(&data, p)?, &vec![false; p], settings(k, permutations, 15))?;
    let mut line = format!("n {n} |S| {size} k {k} permutations {permutations}:");
    let mut first: Option<Vec<f64>> = None;
    // Each test has a set of other columns; some sets are shared.
    let batch_of = |tests: std::ops::Range<usize>| {
        let mut batch = Batch::new();
        for test in tests {
            let s: Vec<u32> = (0..size as u32).map(|member| 2 + (member + (test / 4) as u32) % 8).collect();
            batch.push(0, if test % 2 == 0 { 1 } else { p - 1 }, &s);
        }
        batch
    };
    for (name, strategy, most, together) in [
        ("shared", KnnStrategy::Shared, tests, true),
        ("alone", KnnStrategy::Shared, ALONE, false),
        ("parallel", KnnStrategy::Parallel { block: 0 }, tests.min(64), true),
        ("single", KnnStrategy::Single, ALONE, false),
    ] {
        let is_theirs = strategy != KnnStrategy::Shared;
        if is_theirs && ways == Ways::Ours || together && ways == Ways::OneByOne {
            continue;
        }
        let mut engine = KnnCudaEngine::new(&knn, KnnCudaOptions { strategy, ..KnnCudaOptions::default() })?;
        // The first test warms up and shows how many tests take about a quarter of a second: the papers' kernels take a second each if k is
        // large.
        let began = Instant::now();
        if !(is_theirs && ways == Ways::OneByOne) {
            engine.p_values(&batch_of(0..1), &mut Unobserved)?;
        }
        let mut times = Vec::new();
        let mut found = Vec::new();
        if together {
            let tests = most.min((SECONDS / 2.0 / began.elapsed().as_secs_f64()) as usize).max(most.min(4));
            let batch = batch_of(0..tests);
            while times.len() < 3 && times.iter().sum::<f64>() * (tests as f64) < SECONDS {
                let began = Instant::now();
                found = engine.p_values(&batch, &mut Unobserved)?;
                times.push(began.elapsed().as_secs_f64() / tests as f64);
            }
        } else {
            while times.len() < most && times.iter().sum::<f64>() < SECONDS_ALONE {
                let batch = batch_of(found.len()..found.len() + 1);
                let began = Instant::now();
                found.extend(engine.p_values(&batch, &mut Unobserved)?);
                times.push(began.elapsed().as_secs_f64());
            }
        }
        times.sort_by(f64::total_cmp);
        let [low, median, high] = [0.05, 0.5, 0.95].map(|share| 1e3 * quantile(&times, share));
        line += &format!(" {name} {median:.4} ms");
        if !together {
            line += &format!(" {low:.4} to {high:.4}");
        }
        line += &format!(" (of {})", found.len());
        let same = first.as_ref().is_none_or(|first| first.iter().zip(&found).all(|(first, found)| first == found));
        first.get_or_insert(found);
        if !same {
            line += " DIFFERENT";
        }
    }
    if cpu {
        let kernel = KnnKernel::new(&knn);
        let s: Vec<u32> = (0..size as u32).map(|member| 2 + member).collect();
        let began = Instant::now();
        let outcome = kernel.test(0, 1, &s, default_threads(), &mut Unobserved)?;
        line += &format!(" CPU {:.2} ms on {} threads", 1e3 * began.elapsed().as_secs_f64(), default_threads());
        if first.is_some_and(|first| first[0] != outcome.p) {
            line += " DIFFERENT";
        }
    }
    println!("{line}");
    Ok(())
}

/// The result of a search: its graph, counts, p-values, and seconds.
type Found = (Adjacency, Vec<u64>, Vec<f64>, f64);

fn timed(worker: &mut dyn Worker, options: &Options, began: Instant, observer: &mut dyn Observer) -> Result<Found> {
    let mut p_max = vec![0.0; options.p * options.p];
    let found = skeleton(worker, options, &mut p_max, observer)?;
    Ok((found.graph, found.tests, p_max, began.elapsed().as_secs_f64()))
}

/// The machines of a search: it runs on the first of these GPUs, and on all of them, with or without the CPU.
struct Machines {
    gpus: Vec<usize>,
    cpu: bool,
    memory: Option<String>,
    kind: MemoryKind,
    strategy: KnnStrategy,
}

impl Machines {
    /// Returns the name of the machines, including the first GPU's budget, if it has one.
    fn name(&self) -> String {
        let of_cpu = if self.cpu { " and the CPU" } else { "" };
        let within = self.memory.as_ref().map_or(String::new(), |memory| format!(" with {memory} of the memory"));
        format!("GPUs {:?}{of_cpu}{within}", self.gpus)
    }

    fn options(&self, ordinal: usize, memory_budget: Option<u64>) -> KnnCudaOptions {
        let (memory, strategy) = (self.kind, self.strategy);
        KnnCudaOptions { ordinal, memory, memory_budget, strategy }
    }

    fn team<'a>(&self, knn: &'a Knn, memory_budget: Option<u64>) -> Result<QuestionTeam<'a>> {
        let pool = Pool::at_most(default_threads());
        let mut team = QuestionTeam::new(pool.clone());
        for &ordinal in &self.gpus {
            let engine = KnnCudaEngine::new(knn, self.options(ordinal, memory_budget))?;
            team = team.with(format!("cuda:{ordinal}"), engine);
        }
        Ok(if self.cpu {
            team.with("cpu", CpuEngine::new(KnnKernel::new(knn), QuestionTeam::threads_beside(&pool, self.gpus.len())))
        } else {
            team
        })
    }

    fn is_one(&self) -> bool {
        self.gpus.len() == 1 && !self.cpu && self.memory.is_none()
    }
}

fn search(
    n: usize,
    p: usize,
    data: &[f64],
    settings: Settings,
    alpha: f64,
    machines: &Machines,
) -> std::result::Result<(), Failure> {
    let knn = Knn::new(by_column(data, p)?, &vec![false; p], settings)?;
    let options = Options::new(p, alpha);
    let first = machines.options(machines.gpus[0], None);
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for repeat in 0..if machines.is_one() { 1 } else { REPEATS } {
        let began = Instant::now();
        let mut engine = KnnCudaEngine::new(&knn, first)?;
        let one = if repeat == 0 {
            timed(&mut engine, &options, began, &mut Levels(began))?
        } else {
            timed(&mut engine, &options, began, &mut Unobserved)?
        };
        let planned = engine.memory_plan().iter().map(|(_, bytes)| bytes).sum();
        let bytes = machines.memory.as_ref().map(|memory| budget(memory, planned)).transpose()?;
        drop(engine);
        if repeat == 0 {
            println!(
                "{p} x {n}, k {}, {} permutations, alpha {alpha}: {:.2} s, {} edges, tests {:?}",
                settings.k,
                settings.permutations,
                one.3,
                one.0.edge_count(),
                one.1
            );
        }
        alone.push(one.3);
        if machines.is_one() {
            continue;
        }
        let began = Instant::now();
        let mut team = machines.team(&knn, bytes)?;
        let all = timed(&mut team, &options, began, &mut Unobserved)?;
        together.push(all.3);
        if (&all.0, &all.1, &all.2) != (&one.0, &one.1, &one.2) {
            println!("DIFFERENT");
        }
        if repeat + 1 == REPEATS {
            let TeamReport { shares, lost } = team.team();
            for share in shares {
                println!(
                    "level {} {:8} {:5} shards {:9.3} MB busy {:.3} of {:.3} s",
                    share.level.unwrap_or(0),
                    share.machine,
                    share.shards,
                    (share.moved.to + share.moved.from) as f64 / 1e6,
                    share.busy,
                    share.elapsed
                );
            }
            lost.iter().for_each(|lost| println!("{} was lost: {}", lost.machine, lost.reason));
        }
    }
    if !machines.is_one() {
        let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        let (one, all) = (least(&alone), least(&together));
        println!("cuda:{} alone {alone:.3?} s", first.ordinal);
        println!("{} {together:.3?} s", machines.name());
        println!("shortest {one:.3} and {all:.3} s: {:.2} times as fast", one / all);
    }
    Ok(())
}

fn main() -> std::result::Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let gpus = arguments.iter().find(|word| word.starts_with("cards=")).map_or(1, |word| word.split(',').count());
    let kind = take_unified(&mut arguments, gpus);
    let mut machines = Machines {
        gpus: vec![0],
        cpu: false,
        memory: take_memory(&mut arguments),
        kind,
        strategy: KnnStrategy::Shared,
    };
    arguments.retain(|argument| {
        if let Some(gpus) = argument.strip_prefix("cards=") {
            machines.gpus = gpus.split(',').filter_map(|gpu| gpu.parse().ok()).collect();
        }
        match argument.strip_prefix("strategy=") {
            Some("parallel") => machines.strategy = KnnStrategy::Parallel { block: 0 },
            Some("single") => machines.strategy = KnnStrategy::Single,
            _ => (),
        }
        machines.cpu |= argument == "cpu";
        argument != "cpu" && !argument.starts_with("cards=") && !argument.starts_with("strategy=")
    });
    if machines.gpus.is_empty() {
        return Err("cards= names no card".into());
    }
    let number = |at: usize, default: f64| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    match arguments.first().map(String::as_str) {
        Some("search") => {
            let file = arguments.get(1).map_or("", String::as_str);
            let settings = settings(number(2, 7.0) as usize, number(3, 100.0) as usize, number(4, 15.0) as usize);
            let alpha = number(5, 0.01);
            if let Some(shape) = file.strip_prefix("synthetic:") {
                let mut shape = shape.split(':').map(|part| part.parse().unwrap_or(100));
                let (p, n) = (shape.next().unwrap_or(100), shape.next().unwrap_or(1000));
                return search(n, p, &sparse(p, n), settings, alpha, &machines);
            }
            let rows = table(file)?;
            let p = rows.first().map_or(0, Vec::len);
            let data: Vec<f64> = (0..p).flat_map(|column| rows.iter().map(move |row| row[column])).collect();
            search(rows.len(), p, &data, settings, alpha, &machines)
        }
        _ => {
            let part = arguments.get(1).map_or("", String::as_str);
            let wanted = |name: &str| part.is_empty() || part == name;
            if wanted("k") {
                for k in [7, 10, 20, 30, 40, 50, 75, 100, 200, 250, 500] {
                    time(1000, 1, k, 100, 512, k == 7 || k == 200, Ways::All)?;
                }
            }
            if wanted("permutations") {
                for permutations in [50, 100, 250, 500, 1000] {
                    for k in [7, 20, 200] {
                        time(1000, 1, k, permutations, 128, false, Ways::All)?;
                    }
                }
            }
            if wanted("sets") {
                for size in 0..=5 {
                    for k in [7, 20, 200] {
                        time(1000, size, k, 100, 128, size == 3 && k == 7, Ways::All)?;
                    }
                }
            }
            if wanted("n") {
                for n in [100, 250, 500, 1000, 2500, 5000, 10_000] {
                    for k in [7, 20, n / 5] {
                        let ways = if k > LONG { Ways::Ours } else { Ways::All };
                        time(n, 1, k, 100, (1_000_000 / n / 4).clamp(2, 256), n == 10_000 && k != 20, ways)?;
                    }
                }
            }
            if part == "long" {
                let n = number(2, 5000.0) as usize;
                time(n, 1, n / 5, 100, 1, false, Ways::OneByOne)?;
            }
            Ok(())
        }
    }
}
