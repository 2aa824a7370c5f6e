//! Compares discrete tests on the CUDA engine with recorded answers of pcalg and bnlearn, and with the CPU engine.

use std::time::Duration;

use crate::support::cuda::{emulated, same, sets, Shardwise, StopAt};
use crate::support::discrete::{problem, Problem, RULES};
use crate::support::golden::cases;
use crate::support::problems::Random;
use pcgpu_core::ci::discrete::{Coded, Discrete, Rule, Statistic};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::batched::Asker;
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel};
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions, SearchStrategy};
use pcgpu_core::graph::Adjacency;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Method, Options, PairValues, Skeleton};
use pcgpu_core::{DeviceKind, Error, Result};

const STRATEGIES: [SearchStrategy; 5] = [
    SearchStrategy::Shared,
    SearchStrategy::Edge { beta: 2, gamma: 32 },
    SearchStrategy::Edge { beta: 3, gamma: 7 },
    SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 64 },
    SearchStrategy::Gpucsl { beta: 2, gamma: 3, delta: 32 },
];

fn with(strategy: SearchStrategy) -> CudaOptions {
    CudaOptions { strategy, ..CudaOptions::default() }
}

fn on_cuda(test: Discrete, options: &Options, cuda: CudaOptions) -> Result<(Skeleton, Vec<f64>)> {
    let mut p_max = vec![0.25; options.p * options.p];
    let mut engine = CudaEngine::discrete(test, options.alpha, cuda)?;
    let skeleton = skeleton(&mut engine, options, &mut p_max, &mut Unobserved)?;
    Ok((skeleton, p_max))
}

/// Searches on the GPU shard by shard.
fn by_shards(test: Discrete, options: &Options) -> (Skeleton, Vec<f64>) {
    let mut p_max = vec![0.25; options.p * options.p];
    let mut worker = Shardwise(CudaEngine::discrete(test, options.alpha, CudaOptions::default()).unwrap());
    let skeleton = skeleton(&mut worker, options, &mut p_max, &mut Unobserved).unwrap();
    (skeleton, p_max)
}

fn on_cpu(test: Discrete, options: &Options) -> (Skeleton, Vec<f64>) {
    let mut p_max = vec![0.0; options.p * options.p];
    let mut engine = CpuEngine::new(DiscreteKernel::new(test), 2);
    let skeleton = skeleton(&mut engine, options, &mut p_max, &mut Unobserved).unwrap();
    (skeleton, p_max)
}

/// Compares both engines, p-values to 1e-11. A statistic in the thousands is exact to about its twelfth digit.
fn compare(label: &str, test: Discrete, options: &Options, cuda: CudaOptions, cpu: &(Skeleton, Vec<f64>)) {
    let label = format!("{label} {cuda:?}");
    let found = on_cuda(test, options, cuda).unwrap();
    same(&label, &found, cpu);
    for (a, b) in found.1.iter().zip(&cpu.1) {
        assert!(a == b || (a - b).abs() <= 1e-11 * b.abs() + 1e-300, "{label}: {a:e}, the CPU's {b:e}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn golden_skeletons() {
    let mut compared = 0;
    for case in cases("dis-").iter().chain(&cases("bin-")) {
        let data = case.coded();
        let adapt = case.json["adaptDF"].as_bool().unwrap();
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt });
        for (method, answer) in case.answers() {
            let options = case.options(method);
            let (skeleton, p_max) = by_shards(test, &options);
            case.check(&format!("{method:?} by shards"), answer, &skeleton, &p_max);
            if method == Method::Original {
                continue;
            }
            for strategy in STRATEGIES {
                let (skeleton, p_max) = on_cuda(test, &options, with(strategy)).unwrap();
                case.check(&format!("{method:?} {strategy:?}"), answer, &skeleton, &p_max);
                compared += 1;
            }
        }
    }
    assert!(compared >= 30, "only {compared} comparisons");
}

/// Compares single tests, asked as batches of questions.
#[test]
#[ignore = "needs a GPU"]
fn golden_tests() {
    let mut compared = 0;
    for case in cases("bnlearn-").iter().chain(&cases("dis-")).chain(&cases("bin-")) {
        let data = case.coded();
        let mut batch = Batch::new();
        for single in case.json["single_tests"].as_array().unwrap() {
            let at = |name: &str| crate::support::golden::number(&single[name]) as usize - 1;
            batch.push(at("x"), at("y"), &crate::support::golden::set(&single["S"]));
        }
        for statistic in [Statistic::G2, Statistic::X2] {
            for rule in RULES {
                let test = Discrete::new(&data, statistic, rule);
                let mut engine = CudaEngine::discrete(test, 0.05, CudaOptions::default()).unwrap();
                for (p, (x, y, s)) in engine.p_values(&batch, &mut Unobserved).unwrap().iter().zip(batch.iter()) {
                    let want = test.p_value_of(x, y, s);
                    assert!(
                        (p - want).abs() <= 1e-11 * want + 1e-300,
                        "{}: {statistic:?} {rule:?} {x} {y} {s:?}: {p:e}, {want:e}",
                        case.name
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 8 * 600, "only {compared} comparisons");
}

fn some_pairs(random: &mut Random, p: usize, share: f64) -> Adjacency {
    let mut graph = Adjacency::empty(p);
    for x in 0..p {
        for y in 0..x {
            if random.uniform() < share {
                graph.insert(x, y);
            }
        }
    }
    graph
}

#[test]
#[ignore = "needs a GPU"]
fn random_problems() {
    let mut deepest = 0;
    for number in 0..if emulated() { 60 } else { 150 } {
        let mut random = Random(number * 977 + 3);
        let p = 2 + random.below(11);
        let n = [20, 500, 3001, 6000][random.below(4)];
        let missing = if random.uniform() < 0.3 { 0.03 } else { 0.0 };
        let data = problem(&mut random, p, n, missing).coded();
        let statistic = [Statistic::G2, Statistic::X2][random.below(2)];
        let test = Discrete::new(&data, statistic, RULES[random.below(4)]);
        let method = [Method::Stable, Method::StableFast][number as usize % 2];
        let alpha = [0.001, 0.05, 0.3, 0.9, 0.99][random.below(5)];
        let mut options = Options { method, m_max: 5.0, ..Options::new(p, alpha) };
        if random.uniform() < 0.2 {
            options.fixed_gaps = Some(some_pairs(&mut random, p, 0.2));
        }
        if random.uniform() < 0.2 {
            options.fixed_edges = Some(some_pairs(&mut random, p, 0.2));
        }
        let cpu = on_cpu(test, &options);
        deepest = deepest.max(cpu.0.max_order);
        for strategy in STRATEGIES {
            compare(&format!("problem {number} {method:?}"), test, &options, with(strategy), &cpu);
        }
    }
    assert!(deepest >= 4, "the problems reach level {deepest} only");
}

/// Covers strata by the thousand, for which samples are sorted, sets of up to eight members, and variables with more than 255 levels.
#[test]
#[ignore = "needs a GPU"]
fn tables_that_shared_memory_does_not_hold() {
    for (seed, n, levels) in [
        (1, 4000, vec![7u32; 10]),
        (2, 3000, vec![300, 2, 40, 5, 9, 260, 3, 70]),
        (3, 2500, vec![2000, 3000, 2, 30, 2, 4]),
        (4, 2000, vec![1; 5]),
    ] {
        let mut random = Random(seed);
        let p = levels.len();
        let mut codes: Vec<i32> = Vec::new();
        for (v, &of_v) in levels.iter().enumerate() {
            for i in 0..n {
                let own = random.below(of_v as usize) as i32;
                let copied = v > 0 && random.uniform() < 0.5;
                codes.push(if copied { codes[random.below(v) * n + i] % of_v as i32 } else { own });
            }
        }
        let data = Coded::new(by_column(&codes, levels.len()).unwrap(), &levels, false).unwrap();
        for statistic in [Statistic::G2, Statistic::X2] {
            for rule in RULES {
                let test = Discrete::new(&data, statistic, rule);
                let options = Options { m_max: 8.0, ..Options::new(p, 0.2) };
                let cpu = on_cpu(test, &options);
                // With hundreds of thousands of degrees of freedom, the statistic has fewer digits to spare.
                let cuda = on_cuda(test, &options, CudaOptions::default()).unwrap();
                same(&format!("large {seed} {statistic:?} {rule:?}"), &cuda, &cpu);
            }
        }
    }
}

/// Keeps the p-values of the pairs that level 0 leaves, at budgets between those of a whole search and of one in parts. The search begins as a
/// whole and continues in parts.
#[test]
#[ignore = "needs a GPU"]
fn a_search_that_outgrows_the_gpu_goes_on_in_parts() {
    let (p, n) = (40, 80);
    let data = problem(&mut Random(77), p, n, 0.0).coded();
    let test = Discrete::new(&data, Statistic::G2, Rule::Bnlearn { adapt: true });
    for method in [Method::Stable, Method::StableFast] {
        let options = Options { method, m_max: 2.0, ..Options::new(p, 0.6) };
        let searched = |memory_budget| -> Result<String> {
            let mut left = PairValues::default();
            let cuda = CudaOptions { memory_budget, ..CudaOptions::default() };
            let mut engine = CudaEngine::discrete(test, options.alpha, cuda)?;
            let found = skeleton(&mut engine, &options, &mut left, &mut Unobserved)?;
            Ok(format!("{:?} {:?} {:?} {left:?}", found.graph, found.tests, sets(&found)))
        };
        let whole = searched(None).unwrap();
        for budget in (500_000..900_000).step_by(80_000) {
            assert_eq!(searched(Some(budget)).unwrap(), whole, "{budget} bytes");
        }
    }
}

/// Halves the budget from what a search plans with all memory until one is refused, with an error that has its bytes. Every other budget must
/// give the answer of all memory, and no search may plan more than its budget. Returns the smallest budget that sufficed, and the bytes planned
/// with all memory.
fn budgets(label: &str, test: Discrete, options: &Options, strategy: SearchStrategy) -> [u64; 2] {
    let searched = |memory_budget| -> Result<(Skeleton, Vec<f64>, u64)> {
        let mut p_max = vec![0.25; options.p * options.p];
        let cuda = CudaOptions { memory_budget, ..with(strategy) };
        let mut engine = CudaEngine::discrete(test, options.alpha, cuda)?;
        let found = skeleton(&mut engine, options, &mut p_max, &mut Unobserved)?;
        let planned = engine.memory_plan().iter().map(|(_, bytes)| bytes).sum();
        Ok((found, p_max, planned))
    };
    let (whole, p_max, planned) = searched(None).unwrap();
    let whole = (whole, p_max);
    let mut budget = planned;
    loop {
        let label = format!("{label} {strategy:?}, {budget} of {planned} bytes");
        match searched(Some(budget)) {
            Ok((found, p_max, planned)) => {
                assert!(planned <= budget, "{label}: {planned} planned");
                same(&label, &(found, p_max.clone()), &whole);
                let differ = p_max.iter().zip(&whole.1).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
                // Questions of a row are added up in another order than by the threads of "edge".
                assert!(differ == 0 || strategy != SearchStrategy::Shared, "{label}: {differ} p-values differ");
            }
            Err(Error::Device(e)) if e.kind == DeviceKind::OutOfMemory => {
                assert!(e.message.contains(&format!("{budget} bytes")), "{e:?}");
                return [2 * budget, planned];
            }
            Err(e) => panic!("{label}: {e:?}"),
        }
        budget /= 2;
    }
}

#[test]
#[ignore = "needs a GPU"]
fn every_budget_has_the_answer_of_all_memory() {
    for number in 0..13 {
        let mut random = Random(number * 31 + 7);
        let p = [5, 12, 30][number as usize % 3];
        let n = [60, 300, 1200][random.below(3)];
        let missing = if random.uniform() < 0.3 { 0.03 } else { 0.0 };
        let data = problem(&mut random, p, n, missing).coded();
        let test = Discrete::new(&data, [Statistic::G2, Statistic::X2][random.below(2)], RULES[random.below(4)]);
        let method = [Method::Stable, Method::StableFast][number as usize / 3 % 2];
        let mut options = Options { method, m_max: 3.0, ..Options::new(p, [0.01, 0.1, 0.4][random.below(3)]) };
        if random.uniform() < 0.3 {
            options.fixed_gaps = Some(some_pairs(&mut random, p, 0.2));
        }
        if random.uniform() < 0.3 {
            options.fixed_edges = Some(some_pairs(&mut random, p, 0.2));
        }
        let strategy = STRATEGIES[if random.uniform() < 0.4 { [1, 4][number as usize % 2] } else { 0 }];
        let [least, planned] = budgets(&format!("problem {number} {method:?}"), test, &options, strategy);
        println!("{number}: p {p}, n {n}, {strategy:?}: {planned} bytes, {least} suffice");
    }
}

/// Reads codes packed by 1, 2, 4, 8 and 16 bits; missing values may need more.
#[test]
#[ignore = "needs a GPU"]
fn codes_of_any_width_are_read_packed() {
    let (n, levels) = (300, [2, 2, 3, 4, 4, 5, 15, 16, 200, 255, 256, 300]);
    let mut random = Random(9);
    for missing in [0.0, 0.02] {
        let mut codes: Vec<i32> = Vec::new();
        for &levels in &levels {
            for _ in 0..n {
                codes.push(if random.uniform() < missing { i32::MIN } else { random.below(levels as usize) as i32 });
            }
        }
        let data = Coded::new(by_column(&codes, levels.len()).unwrap(), &levels, true).unwrap();
        let test = Discrete::new(&data, Statistic::X2, Rule::Bnlearn { adapt: false });
        let options = Options { m_max: 1.0, ..Options::new(levels.len(), 0.3) };
        let [least, planned] = budgets(&format!("missing {missing}"), test, &options, SearchStrategy::Shared);
        assert!(2 * least <= planned, "{least} of {planned} bytes");
    }
}

/// Runs level 0 with room for the columns of some variables: those of the rows stay while others pass. The test counts the bytes that the GPU
/// receives. If each panel brought the rows' columns again, they would be more than twice as many.
#[test]
#[ignore = "needs a GPU"]
fn columns_of_rows_stay_while_others_pass() {
    let (p, n) = (48, 20_000);
    let mut random = Random(5);
    for missing in [0.0, 0.01] {
        let code = |random: &mut Random| match random.uniform() < missing {
            true => i32::MIN,
            false => random.below(3) as i32,
        };
        let codes: Vec<i32> = (0..n * p).map(|_| code(&mut random)).collect();
        let data = Coded::new(by_column(&codes, p).unwrap(), &vec![3; p], true).unwrap();
        let test = Discrete::new(&data, Statistic::X2, Rule::Bnlearn { adapt: false });
        let options = Options { m_max: 0.0, ..Options::new(p, 0.05) };
        let searched = |memory_budget| {
            let mut p_max = vec![0.25; p * p];
            let cuda = CudaOptions { memory_budget, ..CudaOptions::default() };
            let mut engine = CudaEngine::discrete(test, options.alpha, cuda).unwrap();
            let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
            (sets(&found), p_max, Asker::moved(&engine).to)
        };
        let (whole, p_max, _) = searched(None);
        let (found, same, moved) = searched(Some(200_000));
        assert!(found == whole && same == p_max, "the budget changes the answer");
        // Three levels take two bits a sample, even with missing values.
        let column = n as u64 / 4;
        assert!(moved > p as u64 * column && moved < 240 * column, "{moved} bytes moved");
    }
}

fn two_parents(n: usize, p: usize, seed: u64) -> Problem {
    problem(&mut Random(seed), p, n, 0.0)
}

/// Searches within small budgets. If scratch memory is short, fewer blocks run (z in gpuPC's paper).
#[test]
#[ignore = "needs a GPU"]
fn little_memory_changes_nothing_and_too_little_is_named() {
    let mut random = Random(11);
    let (n, p) = (4000, 8);
    let mut codes: Vec<i32> = (0..n * p).map(|_| random.below(160) as i32).collect();
    for i in 0..n * (p - 1) {
        if random.uniform() < 0.9 {
            codes[i + n] = codes[i];
        }
    }
    let data = Coded::new(by_column(&codes, 8).unwrap(), &[160; 8], false).unwrap();
    let test = Discrete::new(&data, Statistic::X2, Rule::Bnlearn { adapt: false });
    let options = Options { m_max: 2.0, ..Options::new(p, 0.9999) };
    let cpu = on_cpu(test, &options);
    assert!(cpu.0.max_order >= 1, "level {}", cpu.0.max_order);
    let mut refused = 0;
    for budget in [5_000, 100_000, 600_000, 4_000_000, 1 << 30] {
        let cuda = CudaOptions { memory_budget: Some(budget), ..CudaOptions::default() };
        match on_cuda(test, &options, cuda) {
            Ok(found) => same(&format!("{budget} bytes"), &found, &cpu),
            Err(Error::Device(e)) => {
                assert_eq!(e.kind, DeviceKind::OutOfMemory);
                refused += 1;
            }
            Err(e) => panic!("{e:?}"),
        }
        compare("after", test, &options, CudaOptions::default(), &cpu);
    }
    assert!((1..=4).contains(&refused), "{refused} budgets were refused");
}

#[test]
#[ignore = "needs a GPU"]
fn questions_of_any_size() {
    let p = 30;
    for (seed, missing) in [(1, 0.0), (2, 0.02)] {
        let mut random = Random(seed);
        let data = problem(&mut random, p, 3000, missing).coded();
        let mut batch = Batch::new();
        for i in 0..400 {
            let size = if i % 40 == 0 { p - 2 } else { random.below(8) };
            let mut all: Vec<u32> = (0..p as u32).collect();
            (0..size + 2).for_each(|i| all.swap(i, i + random.below(p - i)));
            batch.push(all[0] as usize, all[1] as usize, &all[2..size + 2]);
        }
        for rule in RULES {
            let test = Discrete::new(&data, Statistic::G2, rule);
            let mut cuda = CudaEngine::discrete(test, 0.05, CudaOptions::default()).unwrap();
            let ours = cuda.p_values(&batch, &mut Unobserved).unwrap();
            for (p, (x, y, s)) in ours.iter().zip(batch.iter()) {
                let want = test.p_value_of(x, y, s);
                assert!((p - want).abs() <= 1e-11 * want + 1e-300, "{rule:?} {x}, {y} | {s:?}: {p:e}, {want:e}");
                assert_eq!(*p >= 0.05, want >= 0.05);
            }
            // The order of a batch's questions changes no bit.
            for run in 0..3 {
                let order: Vec<usize> = (0..batch.len()).map(|at| (at * 7 + run) % batch.len()).collect();
                let mut other = Batch::new();
                for &at in &order {
                    let (x, y, s) = batch.get(at);
                    other.push(x, y, s);
                }
                let again = cuda.p_values(&other, &mut Unobserved).unwrap();
                for (&at, p) in order.iter().zip(again) {
                    assert_eq!(p.to_bits(), ours[at].to_bits(), "{rule:?} {:?}: {p:e}, {:e}", batch.get(at), ours[at]);
                }
            }
            assert!(cuda.p_values(&Batch::new(), &mut Unobserved).unwrap().is_empty());
        }
    }
}

/// Sets alpha to p and to its neighbours. At p itself, no machine's rounding may decide; just above it, the pair is dependent.
#[test]
#[ignore = "needs a GPU"]
fn alpha_next_to_p_decides_as_on_the_cpu() {
    let data = two_parents(900, 7, 21).coded();
    for statistic in [Statistic::G2, Statistic::X2] {
        let test = Discrete::new(&data, statistic, Rule::Bnlearn { adapt: false });
        for s in [&[][..], &[2], &[3, 4], &[2, 5, 6]] {
            let p = test.p_value_of(0, 1, s);
            if !(p > 0.0 && p < 1.0) {
                continue;
            }
            for alpha in [p, f64::from_bits(p.to_bits() + 1), f64::from_bits(p.to_bits() - 1)] {
                for method in [Method::Stable, Method::StableFast] {
                    let options = Options { method, m_max: 4.0, ..Options::new(7, alpha) };
                    let cpu = on_cpu(test, &options);
                    for strategy in STRATEGIES {
                        compare("alpha", test, &options, with(strategy), &cpu);
                    }
                }
            }
        }
        // Every test separates; only those with p = 1 do; none does.
        for alpha in [0.0, 1.0, 1.5] {
            let options = Options { m_max: 2.0, ..Options::new(7, alpha) };
            compare("alpha", test, &options, CudaOptions::default(), &on_cpu(test, &options));
        }
    }
}

/// Leaves more tests to the CPU than there is room for questions, at level 0 and above. The variables have so many levels that the CPU decides
/// all tests.
#[test]
#[ignore = "needs a GPU"]
fn questions_beyond_their_room_are_asked_in_turn() {
    let (n, p) = (60, 420);
    let mut random = Random(5);
    let codes: Vec<i32> = (0..n * p).map(|_| random.below(4000) as i32).collect();
    let data = Coded::new(by_column(&codes, p).unwrap(), &vec![4000; p], false).unwrap();
    let test = Discrete::new(&data, Statistic::G2, Rule::Bnlearn { adapt: true });
    let never = Discrete::new(&data, Statistic::G2, Rule::Bnlearn { adapt: false });
    for test in [test, never] {
        let options = Options { m_max: 1.0, ..Options::new(p, 0.05) };
        compare("many levels", test, &options, CudaOptions::default(), &on_cpu(test, &options));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn interrupts_are_heard_within_half_a_second_and_the_next_search_works() {
    // A hidden cause keeps all pairs dependent.
    let (n, p) = (200_000, 40);
    let mut random = Random(9);
    let mut codes = vec![0; n * p];
    for i in 0..n {
        let cause = random.below(2) as i32;
        for v in 0..p {
            codes[v * n + i] = if random.uniform() < 0.8 { cause } else { random.below(2) as i32 };
        }
    }
    let data = Coded::new(by_column(&codes, p).unwrap(), &vec![2; p], false).unwrap();
    let test = Discrete::new(&data, Statistic::G2, Rule::Bnlearn { adapt: false });
    let options = Options::new(p, 1e-6);
    let mut p_max = vec![0.0; p * p];
    // The first use of a strategy waits for the driver, which then compiles a level's kernels.
    for (strategy, first) in
        [(0, true), (0, false), (1, true), (1, false), (3, true), (3, false)].map(|(i, first)| (STRATEGIES[i], first))
    {
        let mut engine = CudaEngine::discrete(test, options.alpha, with(strategy)).unwrap();
        let mut observer = StopAt(if strategy == SearchStrategy::Shared { 4 } else { 3 }, None);
        let ended = skeleton(&mut engine, &options, &mut p_max, &mut observer);
        assert_eq!(ended.err(), Some(Error::Interrupted));
        let took = observer.1.unwrap().elapsed();
        println!("{strategy:?}, first use {first}: interrupted after {took:?}");
        assert!(first || took < Duration::from_millis(500), "{strategy:?}: {took:?}");
    }
    let short = Options { m_max: 1.0, ..options };
    compare("after an interrupt", test, &short, CudaOptions::default(), &on_cpu(test, &short));
}
