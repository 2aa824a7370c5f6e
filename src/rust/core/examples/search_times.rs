//! Times the search alone, from a correlation matrix in memory to graph, separating sets and p-values in memory:
//!
//! ```text
//! search_times MATRIX.bin|sim:P,N,DEGREE,SEED|dense:P,N,LOAD,SEED|cupc:P,N,DENSITY,SEED ALPHA METHOD REPEATS
//!     cpu|cuda[:N[+N...]]
//!     [shared|lists|columns|masks|blocks=D|managed|rows=R|edge[:B:G]|set[:T:D]|gpucsl[:D]]
//!     [LAST [compact]]
//! search_times --check-small
//! ```
//!
//! MATRIX.bin holds p and n as 32-bit integers and then the p x p correlations as doubles. `sim` is a sparse linear Gaussian model. `dense`
//! is like expression data: ten global factors with mean weight LOAD, modules, noise. `cupc` is the model of cuPC's paper, in which each
//! pair has an edge with the same probability and all weights are positive.
//!
//! Prints one line `pcgpu,name,alpha,device strategy,p,n,edges,last level,first s,minimum s,median s,repeats` for each run. The first call,
//! which opens the device, is not among the repeats.
//!
//! Strategies joined by commas are timed one after the other. Some words stand for `shared` with a part of it forced:
//!
//! * `lists`, `columns`, `masks`: the way in which all of level 1 runs.
//! * `blocks=D`: further levels of rows with D neighbours or more run by blocks.
//! * `managed`: unified memory.
//! * `rows=R`: R rows of the correlations on the GPU at a time.
//!
//! Numbers after a strategy of the papers are those of `cuda_device()`. LAST is the last level (`m.max`), 99 for no limit. If several are
//! joined by commas, each is timed and named after the strategy in its line. `compact` keeps no p-values of pairs that level 0 removes.
//!
//! With several GPUs, `cuda:0+1`, the first one and all of them are timed in turn. The program prints the ratio of the shortest times, and
//! the work of each. Several such devices, joined by commas, run one after the other. Further words, anywhere:
//!
//! * `together`: leaves out the first GPU alone.
//! * `ready`: first runs a small search, which opens the GPUs.
//! * `unified`: runs in unified memory.
//! * `memory=BYTES`, `memory=1/8` of what a run with all memory plans, or `block=ROWS` of the correlations at a time: times this limit and
//!   all memory in turn, twice each.
//! * `redundant`: counts the rows of the final graph in which each set of two is tested at the next level. Prints `redundant,name`, and
//!   ROWS:SETS for each number of rows.
//!
//! `--check-small` compares the GPU with the CPU on small problems, for compute-sanitizer.

#[path = "support/gpu.rs"]
mod gpu;
mod support;

use std::collections::BTreeMap;
use std::time::Instant;

use gpu::take_unified;
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::{self, CudaEngine, CudaOptions, SearchStrategy};
use pcgpu_core::engine::LevelOne;
use pcgpu_core::graph::Adjacency;
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::{self, Kind, Rows};
use pcgpu_core::numbers::Numbers;
use pcgpu_core::pool::{default_threads, Pool};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Largest, Method, Options, PairValues, Skeleton};
use pcgpu_core::team::Share;
use support::{budget, correlations, take_memory, Clock, Failure};

/// A correlation matrix, column by column.
struct Problem {
    name: String,
    c: Vec<f64>,
    p: usize,
    n: f64,
}

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

/// Simulates n samples of a random linear Gaussian model in which a variable has about `degree` neighbours. Returns their correlations.
fn simulated(name: &str, p: usize, n: usize, degree: f64, seed: u64) -> Result<Problem, Failure> {
    let weight = |random: &mut Random| (0.4 + 0.6 * random.uniform()) * if random.uniform() < 0.5 { -1.0 } else { 1.0 };
    linear(name, p, n, degree / (p.max(2) - 1) as f64, seed, weight)
}

/// Simulates n samples of a linear model whose pairs have an edge with this probability and weights from `weight`. Returns their
/// correlations.
fn linear(
    name: &str,
    p: usize,
    n: usize,
    probability: f64,
    seed: u64,
    weight: fn(&mut Random) -> f64,
) -> Result<Problem, Failure> {
    let mut random = Random(seed);
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(p);
    for j in 0..p {
        let mut column: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        for parent in &columns[..j] {
            if random.uniform() < probability {
                let weight = weight(&mut random);
                column.iter_mut().zip(parent).for_each(|(to, from)| *to += weight * from);
            }
        }
        columns.push(column);
    }
    of_columns(name, &columns)
}

fn of_columns(name: &str, columns: &[Vec<f64>]) -> Result<Problem, Failure> {
    let numbers: Vec<Numbers> = columns.iter().map(|column| Numbers::Doubles(column)).collect();
    let (p, n) = (columns.len(), columns.first().map_or(0, Vec::len) as f64);
    let mut c = vec![0.0; p * p];
    let pool = Pool::at_most(default_threads());
    moments::correlation(&numbers, Kind::Pearson, Rows::All, &pool, &mut c, &mut |_| Ok(()))?;
    Ok(Problem { name: name.replace(',', " "), c, p, n })
}

/// Simulates n samples like expression data: ten global factors with this load, modules of about 50 variables, noise. Returns their
/// correlations.
fn expression_like(name: &str, p: usize, n: usize, load: f64, seed: u64) -> Result<Problem, Failure> {
    let mut random = Random(seed);
    let modules = (p / 50).max(2);
    let mut normals =
        |count: usize| -> Vec<Vec<f64>> { (0..count).map(|_| (0..n).map(|_| random.normal()).collect()).collect() };
    let (factors, modules) = (normals(10), normals(modules));
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(p);
    // A sum of four uniform numbers per cell is close enough to a normal one, and cheaper.
    for _ in 0..p {
        let mut column: Vec<f64> =
            (0..n).map(|_| ((0..4).map(|_| random.uniform()).sum::<f64>() - 2.0) * 3f64.sqrt()).collect();
        let mut add = |of: &[f64], weight: f64| column.iter_mut().zip(of).for_each(|(to, of)| *to += weight * of);
        factors.iter().for_each(|factor| add(factor, load * random.normal()));
        for _ in 0..2 {
            let module = (random.uniform() * modules.len() as f64) as usize;
            add(&modules[module.min(modules.len() - 1)], 0.3 + 0.5 * random.uniform());
        }
        columns.push(column);
    }
    of_columns(name, &columns)
}

fn read(source: &str) -> Result<Problem, Failure> {
    if let Some(shape) = source.strip_prefix("sim:") {
        let shape: Vec<&str> = shape.split(',').collect();
        let [p, n, degree, seed] = shape[..] else { return Err("sim:P,N,DEGREE,SEED".into()) };
        return simulated(source, p.parse()?, n.parse()?, degree.parse()?, seed.parse()?);
    }
    if let Some(shape) = source.strip_prefix("cupc:") {
        let shape: Vec<&str> = shape.split(',').collect();
        let [p, n, density, seed] = shape[..] else { return Err("cupc:P,N,DENSITY,SEED".into()) };
        let weight = |random: &mut Random| 0.1 + 0.9 * random.uniform();
        return linear(source, p.parse()?, n.parse()?, density.parse()?, seed.parse()?, weight);
    }
    if let Some(shape) = source.strip_prefix("dense:") {
        let shape: Vec<&str> = shape.split(',').collect();
        let [p, n, load, seed] = shape[..] else { return Err("dense:P,N,LOAD,SEED".into()) };
        return expression_like(source, p.parse()?, n.parse()?, load.parse()?, seed.parse()?);
    }
    let (c, p, n) = correlations(source)?;
    let name = source.rsplit('/').next().unwrap_or(source).trim_end_matches(".bin").to_string();
    Ok(Problem { name, c, p, n: n as f64 })
}

/// A machine and its options, in the program's words.
#[derive(Clone, Copy)]
struct Machine<'a> {
    device: &'a str,
    strategy: &'a str,
    memory: MemoryKind,
    within: Within,
}

/// Limits of a run: the GPU's memory, and the rows of the correlations. `is_cut` cuts work so small that every GPU of a team gets some of a
/// small problem, to check them.
#[derive(Clone, Copy, Default)]
struct Within {
    budget: Option<u64>,
    block: Option<usize>,
    is_cut: bool,
}

/// Parses a strategy of the papers, with the papers' default numbers or given ones.
fn of_paper(words: &str) -> Result<SearchStrategy, Failure> {
    let (name, numbers) = words.split_once(':').unwrap_or((words, ""));
    let numbers = numbers.split(':').filter(|number| !number.is_empty()).map(str::parse);
    let numbers = numbers.collect::<Result<Vec<u32>, _>>()?;
    Ok(match (name, &numbers[..]) {
        ("edge", []) => SearchStrategy::Edge { beta: 2, gamma: 32 },
        ("edge", &[beta, gamma]) => SearchStrategy::Edge { beta, gamma },
        ("set", []) => SearchStrategy::Set { theta: 64, delta: 2 },
        ("set", &[theta, delta]) => SearchStrategy::Set { theta, delta },
        ("gpucsl", []) => SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 64 },
        ("gpucsl", &[delta]) => SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta },
        _ => return Err(format!("there is no strategy `{words}`").into()),
    })
}

fn engine<'a>(
    problem: &'a Problem,
    alpha: f64,
    method: Method,
    machine: Machine,
) -> Result<Box<dyn Worker + 'a>, Failure> {
    let Machine { device, strategy, memory, within } = machine;
    let (memory, block) = match strategy.strip_prefix("rows=") {
        Some(rows) => (memory, Some(rows.parse()?)),
        None if strategy == "managed" => (MemoryKind::Unified { gpus: 1 + device.matches('+').count() as u32 }, None),
        None => (memory, within.block),
    };
    let reading = if method == Method::StableFast { Reading::StableFast } else { Reading::GaussCItest };
    let gauss = Gauss::new(by_column(&problem.c, problem.p)?, problem.n, reading)?;
    let level_one = match strategy {
        "lists" => LevelOne::Lists,
        "columns" => LevelOne::Columns,
        "masks" => LevelOne::Masks,
        _ => LevelOne::ByDensity,
    };
    if device == "cpu" {
        let kernel = GaussKernel::new(gauss, alpha).with_level_one(level_one);
        return Ok(Box::new(CpuEngine::new(kernel, default_threads())));
    }
    let ordinals = match device.strip_prefix("cuda") {
        Some("") => vec![0],
        Some(numbers) => {
            numbers.trim_start_matches(':').split('+').map(str::parse).collect::<Result<Vec<usize>, _>>()?
        }
        None => return Err(format!("there is no device `{device}`").into()),
    };
    let wide_from = strategy.strip_prefix("blocks=").map(str::parse).transpose()?;
    let strategy = match strategy {
        "shared" | "lists" | "columns" | "masks" | "managed" => SearchStrategy::Shared,
        _ if wide_from.is_some() || strategy.starts_with("rows=") => SearchStrategy::Shared,
        other => of_paper(other)?,
    };
    let launch_share = if within.is_cut { 1e-9 } else { 1.0 };
    let options = CudaOptions { strategy, level_one, wide_from, launch_share, memory, ..CudaOptions::default() };
    let options = CudaOptions { memory_budget: within.budget, block, ..options };
    let on = |ordinal| CudaEngine::new(gauss, alpha, CudaOptions { ordinal, ..options });
    if let [ordinal] = ordinals[..] {
        return Ok(Box::new(on(ordinal)?));
    }
    let names: Vec<String> =
        ordinals.iter().enumerate().map(|(at, ordinal)| format!("cuda:{ordinal} as {at}")).collect();
    Ok(Box::new(cuda::team(&names, |at| on(ordinals[at]))?))
}

fn search(
    problem: &Problem,
    alpha: f64,
    method: Method,
    machine: Machine,
    last: Option<usize>,
    largest: Largest,
) -> Result<(Skeleton, u64), Failure> {
    let mut options = Options { method, ..Options::new(problem.p, alpha) };
    if let Some(last) = last {
        options.m_max = last as f64;
    }
    let (mut engine, device) = (engine(problem, alpha, method, machine)?, machine.device);
    let mut clock = Clock::new(Instant::now());
    let found = skeleton(&mut *engine, &options, largest, &mut clock)?;
    eprintln!("# {device}: {}", clock.report());
    let planned = engine.memory_plan().iter().map(|(_, bytes)| bytes).sum();
    let team = engine.team();
    for Share { machine, level, shards, rows, moved, busy, elapsed } in team.shares {
        let level = level.map_or("the answer".into(), |level| format!("level {level}"));
        // A single GPU has no times.
        let busy =
            if elapsed > 0.0 { format!("{:.0} % of {elapsed:.4} s, ", 100.0 * busy / elapsed) } else { String::new() };
        let rows = if rows > 0 { format!("of up to {rows} variables, ") } else { String::new() };
        let copied = format!("{} bytes copied to it, {} from it", moved.to, moved.from);
        eprintln!("# {level}: {machine} did {shards} shards, {rows}{busy}{copied}");
    }
    if let Some(lost) = team.lost.first() {
        return Err(format!("{} failed: {}", lost.machine, lost.reason).into());
    }
    Ok((found, planned))
}

fn check_small() -> Result<(), Failure> {
    let problems =
        [(12, 40, 3.0), (40, 60, 5.0), (70, 200, 8.0), (130, 50, 3.0)].map(|(p, n, d)| simulated("sim", p, n, d, 7));
    let gpus = device::devices(false)?;
    for problem in problems {
        let problem = &problem?;
        let cells = problem.p * problem.p;
        let (mut ours, mut theirs) = (vec![0.0; cells], vec![0.0; cells]);
        let cut = Within { is_cut: true, ..Within::default() };
        for method in [Method::Stable, Method::StableFast] {
            let on = |device, strategy, memory| Machine { device, strategy, memory, within: cut };
            let own = MemoryKind::Device;
            let (cpu, _) = search(problem, 0.05, method, on("cpu", "", own), None, Largest::from(&mut theirs))?;
            let alone =
                ["shared", "columns", "masks", "blocks=0", "edge", "set", "gpucsl"].map(|way| on("cuda", way, own));
            let several = if gpus.len() > 1 { "cuda:0+1" } else { "cuda:0+0" };
            let together = ["shared", "columns", "masks", "blocks=0"].map(|way| on(several, way, own));
            let unified = MemoryKind::Unified { gpus: 2 };
            let unified = ["shared", "masks"].map(|way| [on("cuda", way, unified), on(several, way, unified)]);
            let unified = unified.into_iter().flatten().filter(|_| gpus[0].unified);
            let within = Within { block: Some(64), ..cut };
            let blocks = ["lists", "columns", "masks"].map(|way| Machine { within, ..on("cuda", way, own) });
            for machine in alone.into_iter().chain(together).chain(unified).chain(blocks) {
                let (gpu, _) = search(problem, 0.05, method, machine, None, Largest::from(&mut ours))?;
                let sets = |s: &Skeleton| -> Vec<Vec<(usize, Vec<u32>)>> {
                    (0..problem.p).map(|x| s.sepsets.row(x).map(|(y, s)| (y as usize, s.to_vec())).collect()).collect()
                };
                let same = gpu.graph == cpu.graph && gpu.tests == cpu.tests && sets(&gpu) == sets(&cpu);
                if !same {
                    return Err(format!(
                        "p = {}, {method:?}, {} {}: the GPU differs from the CPU",
                        problem.p, machine.device, machine.strategy
                    )
                    .into());
                }
            }
        }
    }
    println!("the GPU agrees with the CPU");
    Ok(())
}

/// Returns, by number of rows, how many sets of two variables are tested in that many rows at level 2. A set is tested in a row with at least
/// three neighbours that include both members.
fn rows_of_sets(graph: &Adjacency) -> BTreeMap<u32, u64> {
    let p = graph.p();
    let mut rows = vec![0u32; p * p];
    for x in 0..p {
        let neighbours: Vec<usize> = graph.neighbours(x).map(|y| y as usize).collect();
        if neighbours.len() < 3 {
            continue;
        }
        for (at, &first) in neighbours.iter().enumerate() {
            neighbours[at + 1..].iter().for_each(|&second| rows[first * p + second] += 1);
        }
    }
    let mut sets = BTreeMap::new();
    rows.into_iter().filter(|&rows| rows > 0).for_each(|rows| *sets.entry(rows).or_default() += 1);
    sets
}

/// Removes a word, and returns whether it was there.
fn take_word(words: &mut Vec<String>, word: &str) -> bool {
    let before = words.len();
    words.retain(|other| other != word);
    words.len() < before
}

/// Removes `block=ROWS` and returns its value, if there is one.
fn take_block(words: &mut Vec<String>) -> Result<Option<usize>, Failure> {
    let Some(at) = words.iter().position(|word| word.starts_with("block=")) else { return Ok(None) };
    Ok(Some(words.remove(at).trim_start_matches("block=").parse()?))
}

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let devices = arguments.iter().find(|word| word.starts_with("cuda")).into_iter().flat_map(|word| word.split(','));
    let gpus = devices.map(|device| device.split('+').count()).max().unwrap_or(1);
    let memory = take_unified(&mut arguments, gpus);
    let (budget_word, block) = (take_memory(&mut arguments), take_block(&mut arguments)?);
    let [together, redundant, ready] = ["together", "redundant", "ready"].map(|word| take_word(&mut arguments, word));
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if words[..] == ["--check-small"] {
        return check_small();
    }
    let ([source, alpha, method, repeats, devices], strategies, lasts, compact) = match words[..] {
        [a, b, c, d, e] => ([a, b, c, d, e], "shared", "", false),
        [a, b, c, d, e, strategies] => ([a, b, c, d, e], strategies, "", false),
        [a, b, c, d, e, strategies, lasts] => ([a, b, c, d, e], strategies, lasts, false),
        [a, b, c, d, e, strategies, lasts, "compact"] => ([a, b, c, d, e], strategies, lasts, true),
        _ => return Err("arguments: SOURCE ALPHA METHOD REPEATS DEVICE [STRATEGY [LAST]]".into()),
    };
    let (alpha, repeats): (f64, usize) = (alpha.parse()?, repeats.parse()?);
    let method = match method {
        "stable" => Method::Stable,
        "stable.fast" => Method::StableFast,
        other => return Err(format!("there is no method `{other}` here").into()),
    };
    let last_levels = lasts.split(',').filter(|last| !last.is_empty()).map(|last| last.parse().map(Some));
    let mut last_levels = last_levels.collect::<Result<Vec<Option<usize>>, _>>()?;
    if last_levels.is_empty() {
        last_levels.push(None);
    }
    let problem = read(source)?;
    let mut p_max = vec![0.0; if compact { 0 } else { problem.p * problem.p }];
    let devices: Vec<&str> = devices.split(',').collect();
    if ready {
        let small = simulated("ready", 200, 100, 4.0, 1)?;
        for device in &devices {
            let machine = Machine { device, strategy: "shared", memory, within: Within::default() };
            search(&small, alpha, method, machine, None, Largest::from(&mut PairValues::default()))?;
        }
    }
    let lasts = &last_levels;
    let ways = devices.iter().flat_map(|&device| {
        strategies.split(',').flat_map(move |way| lasts.iter().map(move |last| (device, way, last)))
    });
    for (device, strategy, &last) in ways {
        let one = if together { device } else { device.split('+').next().unwrap_or(device) };
        let mut time = |device: &str, within: Within| -> Result<(f64, Skeleton, u64), Failure> {
            let mut left = PairValues::default();
            let largest = if compact { Largest::from(&mut left) } else { Largest::from(&mut p_max) };
            let start = Instant::now();
            let machine = Machine { device, strategy, memory, within };
            let (found, planned) = search(&problem, alpha, method, machine, last, largest)?;
            Ok((start.elapsed().as_secs_f64(), found, planned))
        };
        let (mut seconds, mut found) = (Vec::new(), None);
        let mut alone = f64::INFINITY;
        let mut within = Within { block, ..Within::default() };
        if let Some(word) = &budget_word {
            let (_, _, planned) = time(one, Within::default())?;
            within.budget = Some(budget(word, planned)?);
            println!("all memory: {planned} bytes planned, budget {:?}", within.budget);
        }
        let is_less = budget_word.is_some() || block.is_some();
        // Two alternating machines run twice each: the first run also has to free memory that the other machine keeps.
        let in_turn = one != device || is_less;
        let mut twice = |device: &str, within: Within| -> Result<(f64, Skeleton, u64), Failure> {
            let first = time(device, within)?;
            if !in_turn {
                return Ok(first);
            }
            let second = time(device, within)?;
            Ok((first.0.min(second.0), second.1, second.2))
        };
        for repeat in 0..=repeats {
            let (second, skeleton, _) = twice(device, within)?;
            seconds.push(second);
            if in_turn {
                let (second, of_one, _) = twice(one, Within::default())?;
                if (&of_one.graph, &of_one.tests) != (&skeleton.graph, &skeleton.tests) {
                    return Err(format!("{one} and {device} differ").into());
                }
                alone = if repeat == 0 { alone } else { alone.min(second) };
            }
            found = Some(skeleton);
        }
        let first = seconds.remove(0);
        seconds.sort_by(f64::total_cmp);
        let at = |place: usize| seconds.get(place).copied().unwrap_or(first);
        let of = last.filter(|_| last_levels.len() > 1).map_or(String::new(), |last| format!(" {last}"));
        if let Some(Skeleton { graph, tests, .. }) = found {
            println!(
                "pcgpu,{},{alpha},{device} {strategy}{of},{},{},{},{},{first:.6},{:.6},{:.6},{repeats}",
                problem.name,
                problem.p,
                problem.n,
                graph.edge_count(),
                tests.len() - 1,
                at(0),
                at(seconds.len() / 2),
            );
            if one != device || is_less {
                println!("ratio,{},{one} {alone:.6},{device} {:.6},{:.3}", problem.name, at(0), alone / at(0));
            }
            eprintln!("# tests by level: {tests:?}");
            if redundant {
                let sets: Vec<String> =
                    rows_of_sets(&graph).iter().map(|(rows, sets)| format!("{rows}:{sets}")).collect();
                println!("redundant,{},{}", problem.name, sets.join(" "));
            }
        }
    }
    Ok(())
}
