//! Times feature selection on simulated data, on a GPU and on the CPU, and compares the answers.
//!
//! `cargo run --release --example selection -- FEATURES SAMPLES CLASSES BINS K` takes the options `density=1`, `repeats=5`,
//! `joined=THREADS`, `cpu=THREADS`, `criterion=JMI`, `stepwise=1`, `shared=BYTES`, `cards=0,1`, `beside=1`, `gpu=1`, `unified` and
//! `memory=BYTES`.
//!
//! A value is 0 with probability 1 - density, else one of BINS levels; every tenth feature depends on the class. The lower bound is the
//! time to read the codes of all features once for each selected one at 4.8 TB/s, the bandwidth of an H200.
//!
//! * `joined` adds CUDA-JMI's own scheme, `cpu` the CPU engine.
//! * `cards=0,1` adds these GPUs together (the word may come several times), `beside=1` these and the CPU's threads.
//! * `memory` adds the first GPU with this budget, or with a share such as 1/8 of what it plans with all memory.
//! * `unified` runs in unified memory.
//!
//! `--check-small` compares all ways to count on small data, for compute-sanitizer.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "../tests/core/support/ways.rs"]
mod ways;

use std::process::ExitCode;
use std::time::Instant;

use gpu::take_unified;
use pcgpu_core::ci::discrete::{Coded, Codes, Variable};
use pcgpu_core::engine::cpu::selection::CpuCounting;
use pcgpu_core::engine::cpu::together::member as cpu_member;
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::selection::{member, CudaCounting, SelectionOptions, SelectionStrategy};
use pcgpu_core::engine::shards::Shards;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::selection::{select, CountLogs, Counting, Criterion, Machines, Member, Samples, Selection};
use pcgpu_core::team::TeamReport;
use pcgpu_core::Result;
use ways::ways;

const BANDWIDTH: f64 = 4.8e12;

/// SplitMix64, seeded for every column, so that data do not depend on threads.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn simulate(p: usize, n: usize, classes: u32, bins: u32, density: f64) -> Result<Samples> {
    let mut random = Random(1);
    let class: Vec<u16> = (0..n).map(|_| (random.next() % u64::from(classes)) as u16).collect();
    let threshold = (density * f64::from(u32::MAX)) as u32;
    let code = |f: usize, random: &mut Random, class: u16| {
        let (draw, other) = (random.next(), random.next());
        let value = match draw as u32 > threshold {
            true => 0,
            false if f % 10 == 3 && other % 8 < 1 + f as u64 % 3 => u32::from(class) * (1 + f as u32 % 5),
            false => (draw >> 32) as u32,
        };
        value % bins
    };
    let column = |f: usize| {
        let mut random = Random(f as u64 * 0x5851_f42d_4c95_7f2d + 7);
        let codes = class.iter().map(|&class| code(f, &mut random, class));
        let codes = match bins {
            0..=255 => Codes::Bytes(codes.map(|code| code as u8).collect()),
            _ => Codes::Words(codes.map(|code| code as u16).collect()),
        };
        Variable::of_codes(bins, codes)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let each = p.div_ceil(threads);
    let mut variables = Vec::with_capacity(p + 1);
    std::thread::scope(|scope| {
        let column = &column;
        let parts: Vec<_> = (0..p)
            .step_by(each)
            .map(|from| scope.spawn(move || (from..p.min(from + each)).map(column).collect::<Result<Vec<_>>>()))
            .collect();
        for part in parts {
            match part.join() {
                Ok(part) => variables.extend(part?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })?;
    variables.push(Variable::of_codes(classes, Codes::Words(class.clone()))?);
    Samples::new(Coded::of_variables(n, variables)?)
}

struct Case<'a> {
    samples: &'a Samples,
    logs: &'a CountLogs,
    criterion: Criterion,
    k: usize,
}

impl Case<'_> {
    /// Selects one feature, which copies the data, then all features `repeats` times. Prints the seconds, and the work of each of several
    /// machines.
    fn time(&self, name: &str, machines: &mut impl Machines, repeats: usize) -> Result<Selection> {
        let begun = Instant::now();
        select(self.samples, self.logs, machines, self.criterion, 1, &mut Unobserved)?;
        let first = begun.elapsed().as_secs_f64();
        show(&machines.report());
        let mut seconds = Vec::new();
        let mut selection = Selection::default();
        for _ in 0..repeats.max(1) {
            let begun = Instant::now();
            selection = select(self.samples, self.logs, machines, self.criterion, self.k, &mut Unobserved)?;
            seconds.push(begun.elapsed().as_secs_f64());
            show(&machines.report());
        }
        seconds.sort_by(f64::total_cmp);
        println!(
            "{name}: {:.4} / {:.4} s (min / median of {}); first feature, with the copying of the data, {first:.3} s",
            seconds[0],
            seconds[seconds.len() / 2],
            seconds.len(),
        );
        Ok(selection)
    }
}

/// Prints the work of each of several machines.
fn show(report: &TeamReport) {
    for share in &report.shares {
        println!(
            "    {}: {} counts, busy {:.4} of {:.4} s, {:.1} MB",
            share.machine,
            share.shards,
            share.busy,
            share.elapsed,
            (share.moved.to + share.moved.from) as f64 / 1e6
        );
    }
    report.lost.iter().for_each(|lost| println!("    lost {}: {}", lost.machine, lost.reason));
}

fn check_small() -> Result<bool> {
    let mut same = true;
    for (p, n, classes, bins, density) in
        [(70, 97, 2, 64, 1.0), (40, 1100, 5, 300, 1.0), (40, 1100, 5, 8, 0.1), (9, 70_001, 3, 64, 0.3)]
    {
        let samples = simulate(p, n, classes, bins, density)?;
        let logs = CountLogs::new(n);
        for criterion in [Criterion::Jmi, Criterion::Cmi] {
            let run = |counting: &mut dyn Counting| select(&samples, &logs, counting, criterion, 4, &mut Unobserved);
            let expected = run(&mut CpuCounting::new(&samples, &logs, 0..p, 1))?;
            for options in ways() {
                let found = run(&mut CudaCounting::new(&samples, &logs, 0..p, options)?)?;
                same &= found == expected;
                println!(
                    "{n} x {p} {criterion:?} {options:?}: {}",
                    if found == expected { "the CPU's" } else { "NOT the CPU's" }
                );
            }
        }
    }
    Ok(same)
}

fn run(arguments: &[String], memory: MemoryKind) -> Result<bool> {
    if arguments.iter().any(|a| a == "--check-small") {
        return check_small();
    }
    let option = |name: &str| arguments.iter().find_map(|a| a.strip_prefix(name)?.strip_prefix('='));
    let number = |name: &str, default: f64| option(name).and_then(|v| v.parse().ok()).unwrap_or(default);
    let shape: Vec<usize> = arguments.iter().map_while(|a| a.parse().ok()).collect();
    let [p, n, classes, bins, k] = shape[..] else {
        eprintln!("give FEATURES SAMPLES CLASSES BINS K");
        return Ok(false);
    };
    let (density, repeats) = (number("density", 1.0), number("repeats", 5.0) as usize);
    let begun = Instant::now();
    let samples = simulate(p, n, classes as u32, bins as u32, density)?;
    println!(
        "== {p} features, {n} samples, {classes} classes, {bins} bins, density {density}: {k} selected; simulated in {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    let logs = CountLogs::new(n);
    let criterion = option("criterion").and_then(|name| Criterion::from_name(name, [1.0; 2])).unwrap_or(Criterion::Jmi);
    let case = Case { samples: &samples, logs: &logs, criterion, k };
    let width = if bins > 256 { 2 } else { 1 };
    println!("floor: {:.4} s", (p * n * k * width) as f64 / BANDWIDTH);
    let options = SelectionOptions {
        stepwise_from: number("stepwise", 1.0),
        memory,
        shared_bytes: option("shared").and_then(|bytes| bytes.parse().ok()).unwrap_or(u64::MAX),
        ..SelectionOptions::default()
    };
    let mut answers = Vec::new();
    if number("gpu", 1.0) > 0.0 {
        answers.push(case.time("GPU, resident", &mut CudaCounting::new(&samples, &logs, 0..p, options)?, repeats)?);
    }
    if let Some(memory) = option("memory") {
        let planned = CudaCounting::new(&samples, &logs, 0..p, options)?.plan().total();
        let bytes = match memory.split_once('/') {
            Some((_, share)) => planned / share.parse::<u64>().unwrap_or(8).max(1),
            None => memory.parse::<f64>().map_or(planned, |bytes| bytes as u64),
        };
        let within = SelectionOptions { memory_budget: Some(bytes), ..options };
        let mut counting = CudaCounting::new(&samples, &logs, 0..p, within)?;
        answers.push(case.time(&format!("GPU, {bytes} of {planned} bytes"), &mut counting, repeats)?);
    }
    for gpus in arguments.iter().filter_map(|a| a.strip_prefix("cards=")) {
        let pool = Pool::at_most(default_threads());
        let gpu = |ordinal| member(&samples, &logs, SelectionOptions { ordinal, ..options }, pool.clone());
        let mut members: Vec<Member> = gpus.split(',').filter_map(|gpu| gpu.parse().ok()).map(gpu).collect();
        answers.push(case.time(&format!("GPUs {gpus}"), &mut Shards::new(members)?, repeats)?);
        if number("beside", 0.0) > 0.0 {
            members = gpus.split(',').filter_map(|gpu| gpu.parse().ok()).map(gpu).collect();
            members.push(cpu_member(&samples, &logs, pool.clone()));
            answers.push(case.time(&format!("CPU and GPUs {gpus}"), &mut Shards::new(members)?, repeats)?);
        }
    }
    let joined = number("joined", 0.0) as usize;
    if joined > 0 {
        let options = SelectionOptions { strategy: SelectionStrategy::Joined { threads: joined }, ..options };
        let mut counting = CudaCounting::new(&samples, &logs, 0..p, options)?;
        answers.push(case.time(&format!("GPU, joined by {joined} CPU threads"), &mut counting, 1)?);
    }
    let threads = number("cpu", 0.0) as usize;
    if threads > 0 {
        let mut counting = CpuCounting::new(&samples, &logs, 0..p, threads);
        answers.push(case.time(&format!("CPU, {threads} threads"), &mut counting, 1)?);
    }
    let same = answers.windows(2).all(|pair| pair[0] == pair[1]);
    if answers.len() > 1 {
        println!("same selection and scores: {}", if same { "yes" } else { "NO" });
    }
    if let Some(selection) = answers.first() {
        println!("first: {:?}, score of the last {:.6}", &selection.index[..k.min(6)], selection.score[k - 1]);
    }
    Ok(same)
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let gpus = arguments.iter().find(|word| word.starts_with("cards=")).map_or(1, |word| word.split(',').count());
    let memory = take_unified(&mut arguments, gpus);
    let ran = run(&arguments, memory);
    match ran {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
