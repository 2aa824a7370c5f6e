//! Times the CUDA engine on discrete data, level by level, and compares with the CPU engine.
//!
//! `cargo run --release -p pcgpu-core --example discrete_cuda -- FILE [chi2|dis] [alpha] [strategy] [repeats] [m.max]`
//!
//! FILE has a header, then a row of level codes 0, 1, ... for each sample (.gz too). `random:p:n:levels:seed` stands for uniform
//! independent variables, except that every third one is mostly a copy of the one before. `circle:p:n:levels:degree` stands for such data
//! if each variable is tested only with its `degree` neighbours on a circle and no test separates. Each side of an edge then has degree - 1
//! tests at level 1, the last.
//!
//! The strategies are shared, edge:beta:gamma and gpucsl:beta:gamma:delta, several of them joined by commas. `cards:0+1` times several GPUs
//! and the first of them in turn, `cards:0+1+cpu` also the CPU's threads. An argument "no" after m.max leaves out the CPU engine.
//! `memory=BYTES`, or `memory=1/8` of what a run with all memory plans, times this budget and all memory in turn. The word `unified` runs
//! everything in unified memory.

#[path = "support/gpu.rs"]
mod gpu;
mod support;

use std::time::Instant;

use gpu::take_unified;
use pcgpu_core::ci::discrete::{Coded, Discrete, Rule, Statistic};
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel};
use pcgpu_core::engine::cuda::{self, CudaEngine, CudaOptions, SearchStrategy};
use pcgpu_core::engine::question_team::QuestionTeam;
use pcgpu_core::graph::Adjacency;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Options, Skeleton};
use pcgpu_core::team::Share;
use support::{budget, compare, take_memory, text, Clock, Failure};

/// Reads the codes, column by column, and the number of samples.
fn read(path: &str) -> Result<(Vec<i32>, usize), Failure> {
    let rows: Vec<Vec<i32>> = text(path)?
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(str::parse).collect::<Result<_, _>>())
        .collect::<Result<_, _>>()?;
    let n = rows.len();
    let p = rows.first().map_or(0, Vec::len);
    Ok(((0..n * p).map(|at| rows[at % n][at / n]).collect(), n))
}

/// Returns a hash of graph, separating sets and counts, to compare answers of several machines.
fn digest(found: &Skeleton) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |value: u64| hash = (hash ^ value).wrapping_mul(0x0100_0000_01b3);
    for x in 0..found.graph.p() {
        found.graph.neighbours(x).for_each(|y| add(u64::from(y)));
        for (y, set) in found.sepsets.row(x) {
            add(u64::from(y));
            set.iter().for_each(|&s| add(u64::from(s)));
        }
    }
    found.tests.iter().for_each(|&count| add(count));
    hash
}

/// Returns uniform codes, column by column; every third variable is mostly a copy of the one before.
fn random(p: usize, n: usize, levels: i32, seed: u64) -> Vec<i32> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i32
    };
    let mut codes = vec![0i32; n * p];
    for at in 0..n * p {
        let copied = (at / n) % 3 == 2 && next() % 10 < 7;
        codes[at] = if copied { codes[at - n] } else { next() % levels };
    }
    codes
}

/// Returns all pairs except those at most degree / 2 apart on a circle.
fn gaps(p: usize, degree: usize) -> Adjacency {
    let mut gaps = Adjacency::empty(p);
    for x in 0..p {
        for y in 0..x {
            if (x - y).min(p + y - x) > degree / 2 {
                gaps.insert(x, y);
            }
        }
    }
    gaps
}

/// Times several GPUs and the first of them in turn.
fn together(
    test: Discrete,
    options: &Options,
    cuda: CudaOptions,
    (ordinals, with_cpu): (&[usize], bool),
    repeats: usize,
) -> Result<(), Failure> {
    let names: Vec<String> = ordinals.iter().map(|ordinal| format!("cuda:{ordinal}")).collect();
    let on = |ordinal| CudaEngine::discrete(test, options.alpha, CudaOptions { ordinal, ..cuda });
    let run = |worker: &mut dyn Worker| -> Result<(f64, u64), Failure> {
        let mut p_max = vec![0.0; options.p * options.p];
        let start = Instant::now();
        let found = skeleton(worker, options, &mut p_max, &mut Unobserved)?;
        let seconds = start.elapsed().as_secs_f64();
        for Share { machine, level, shards, busy, elapsed, .. } in worker.team().shares {
            // A single GPU has no times, and neither has the answer.
            let (Some(level), true) = (level, elapsed > 0.0) else { continue };
            println!(
                "  level {level}: {machine} did {shards} shards, {:.0} % of {elapsed:.4} s",
                100.0 * busy / elapsed
            );
        }
        Ok((seconds, digest(&found)))
    };
    let cpu = ["cpu".to_string()];
    let [mut one, mut all] = [f64::INFINITY; 2];
    for repeat in 0..=repeats {
        let (of_one, digest) = run(&mut on(ordinals[0])?)?;
        let mut team = cuda::team(&names, |at| on(ordinals[at]))?;
        if with_cpu {
            let threads = QuestionTeam::threads_beside(&Pool::new(default_threads()), ordinals.len());
            team = team.with("cpu", CpuEngine::new(DiscreteKernel::new(test), threads));
        }
        let (of_all, same) = run(&mut team)?;
        if digest != same {
            return Err("one GPU and several differ".into());
        }
        // The first run opens the GPUs.
        if repeat > 0 {
            (one, all) = (one.min(of_one), all.min(of_all));
        }
    }
    println!(
        "{}: {one:.4} s, {}: {all:.4} s, ratio {:.3}",
        names[0],
        [&names[..], if with_cpu { &cpu } else { &[] }].concat().join(" + "),
        one / all
    );
    Ok(())
}

/// Parses a strategy from its name and numbers.
fn strategy(word: &str) -> Result<SearchStrategy, Failure> {
    Ok(match word.split(':').collect::<Vec<_>>()[..] {
        ["edge", beta, gamma] => SearchStrategy::Edge { beta: beta.parse()?, gamma: gamma.parse()? },
        ["gpucsl", beta, gamma, delta] => {
            SearchStrategy::Gpucsl { beta: beta.parse()?, gamma: gamma.parse()?, delta: delta.parse()? }
        }
        ["shared"] => SearchStrategy::Shared,
        _ => return Err(format!("there is no strategy `{word}`").into()),
    })
}

/// Times a budget and all memory in turn.
fn within(test: Discrete, options: &Options, cuda: CudaOptions, memory: &str, repeats: usize) -> Result<(), Failure> {
    let run = |memory_budget| -> Result<(f64, u64, u64, String), Failure> {
        let mut p_max = vec![0.0; options.p * options.p];
        let start = Instant::now();
        let cuda = CudaOptions { memory_budget, ..cuda };
        let mut engine = CudaEngine::discrete(test, options.alpha, cuda)?;
        let mut clock = Clock::new(start);
        let found = skeleton(&mut engine, options, &mut p_max, &mut clock)?;
        let seconds = start.elapsed().as_secs_f64();
        let bits = p_max.iter().fold(digest(&found), |hash, p| (hash ^ p.to_bits()).wrapping_mul(0x0100_0000_01b3));
        Ok((seconds, bits, engine.plan().total(), clock.report()))
    };
    let [mut all, mut less] = [f64::INFINITY; 2];
    for repeat in 0..=repeats {
        let (seconds, digest, planned, levels) = run(None)?;
        let bytes = budget(memory, planned)?;
        let (of_less, same, plan, levels_of_less) = run(Some(bytes))?;
        if repeat == 0 {
            println!("all memory: {planned} bytes planned; {levels}");
            println!("{bytes} bytes: {plan} planned; {levels_of_less}");
        } else {
            (all, less) = (all.min(seconds), less.min(of_less));
        }
        if digest != same {
            return Err("the budget changes the answer".into());
        }
    }
    println!("all memory {all:.4} s, {memory} {less:.4} s, ratio {:.3}", less / all);
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut args: Vec<String> = std::env::args().collect();
    let gpus = args.iter().find(|word| word.starts_with("cards:")).map_or(1, |word| word.split('+').count());
    let kind = take_unified(&mut args, gpus);
    let memory = take_memory(&mut args);
    let argument = |i: usize, default: &str| args.get(i).cloned().unwrap_or(default.to_string());
    let path = argument(1, "");
    let mut circle = None;
    let (codes, n) = match path.split(':').collect::<Vec<_>>()[..] {
        ["circle", p, n, levels, degree] => {
            circle = Some(gaps(p.parse()?, degree.parse()?));
            (random(p.parse()?, n.parse()?, levels.parse()?, 1), n.parse::<usize>()?)
        }
        ["random", p, n, levels, seed] => {
            (random(p.parse()?, n.parse()?, levels.parse()?, seed.parse()?), n.parse::<usize>()?)
        }
        _ => read(&path)?,
    };
    let p = codes.len() / n;
    let nlev: Vec<u32> =
        codes.chunks(n).map(|column| column.iter().fold(1, |most, &code| code.max(most)) as u32 + 1).collect();
    let data = Coded::new(by_column(&codes, nlev.len())?, &nlev, false)?;
    let (statistic, rule) = match argument(2, "chi2").as_str() {
        "dis" => (Statistic::G2, Rule::Pcalg { adapt: false }),
        _ => (Statistic::X2, Rule::Bnlearn { adapt: false }),
    };
    let test = Discrete::new(&data, statistic, rule);
    let mut options = Options { m_max: argument(6, "inf").parse()?, ..Options::new(p, argument(3, "0.01").parse()?) };
    if circle.is_some() {
        options = Options { m_max: 1.0, fixed_gaps: circle, ..Options::new(p, 2.0) };
    }
    println!("{path}: {p} variables, {n} samples, {statistic:?}, alpha {}", options.alpha);

    let with_cpu = argument(7, "yes") == "yes";
    let start = Instant::now();
    let mut p_cpu = vec![0.0; p * p];
    let cpu = if with_cpu {
        let mut engine = CpuEngine::new(DiscreteKernel::new(test), default_threads());
        Some(skeleton(&mut engine, &options, &mut p_cpu, &mut Clock::new(start))?)
    } else {
        None
    };
    println!("{:9.2} ms on {} threads", start.elapsed().as_secs_f64() * 1e3, default_threads());
    if let Some(cpu) = &cpu {
        println!("{} edges, tests {:?}, digest {:x}", cpu.graph.edge_count(), cpu.tests, digest(cpu));
    }

    let repeats: usize = argument(5, "5").parse()?;
    let cuda = CudaOptions { memory: kind, ..CudaOptions::default() };
    if let ["cards", ordinals] = argument(4, "").split(':').collect::<Vec<_>>()[..] {
        let with_cpu = ordinals.split('+').any(|word| word == "cpu");
        let gpus = ordinals.split('+').filter(|&word| word != "cpu");
        let ordinals = gpus.map(str::parse).collect::<Result<Vec<usize>, _>>()?;
        return together(test, &options, cuda, (&ordinals, with_cpu), repeats);
    }
    let words = argument(4, "shared");
    for word in words.split(',') {
        let cuda = CudaOptions { strategy: strategy(word)?, ..cuda };
        println!("strategy {word}");
        if let Some(memory) = &memory {
            within(test, &options, cuda, memory, repeats)?;
            continue;
        }
        for repeat in 0..repeats {
            let mut p_max = vec![0.0; p * p];
            let start = Instant::now();
            let mut engine = CudaEngine::discrete(test, options.alpha, cuda)?;
            let mut clock = Clock::new(start);
            let found = skeleton(&mut engine, &options, &mut p_max, &mut clock)?;
            println!("{}", clock.report());
            if repeat == 0 {
                println!("{} edges, tests {:?}, digest {:x}", found.graph.edge_count(), found.tests, digest(&found));
                print!("{}", engine.plan());
            }
            match cpu.as_ref().map(|cpu| compare(&found, &p_max, cpu, &p_cpu)) {
                Some(Ok(same)) if repeat == 0 => println!("{same}"),
                Some(Err(different)) => println!("{different}"),
                _ => (),
            }
        }
    }
    Ok(())
}
