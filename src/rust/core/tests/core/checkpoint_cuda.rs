//! Searches that are kept on a GPU and resumed on others or on the CPU, and the other way round; and searches that a time limit ends.

use std::time::{Duration, Instant};

use crate::one_answer::{gauss, reading, Problem, Task, Test};
use crate::one_answer_problems::{problems, Size};
use crate::support::answer::{Answer, Digits};
use crate::support::cuda::emulated;
use crate::support::kept::{allowed, compare, Collect, Late, Place, Told};
use pcgpu_core::ci::discrete::Discrete;
use pcgpu_core::ci::gauss::FisherZ;
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel, FeaturesKernel, GaussKernel, KnnKernel, MixedKernel};
use pcgpu_core::engine::cuda::features::FeaturesCudaEngine;
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions};
use pcgpu_core::engine::cuda::mixed::MixedCudaEngine;
use pcgpu_core::engine::cuda::{self, CudaEngine, CudaOptions, GpuOptions};
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::{of_centred, Centred};
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::checkpoint::Limits;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton_within, Largest, Method, Options, PairValues};
use pcgpu_core::Result;

/// The machine that runs a search.
#[derive(Clone, Copy, Debug, PartialEq)]
enum On {
    Cpu,
    Gpu,
    /// By blocks, or with so little memory that a discrete search continues in parts.
    Parts,
    Team,
}

const ALL: [On; 4] = [On::Cpu, On::Gpu, On::Parts, On::Team];

fn run(
    test: &Test,
    options: &Options,
    on: On,
    compact: bool,
    observer: &mut dyn Observer,
    limits: &Limits,
) -> Result<(Answer, Option<usize>)> {
    let cells;
    let alpha = options.alpha;
    let gpu = || {
        let mut cuda = CudaOptions { launch_share: 1e-9, ..CudaOptions::default() };
        match (on, test) {
            (On::Parts, Test::Discrete { .. }) => cuda.memory_budget = Some(BUDGET),
            (On::Parts, _) => cuda.block = Some(64),
            _ => {}
        }
        match test {
            Test::Gauss { c, n } => CudaEngine::new(gauss(c, *n, options)?, alpha, cuda),
            Test::GaussOfData { cells, n } => {
                let test = FisherZ::new(*n as f64, reading(options.method))?;
                CudaEngine::of_data(test, by_column(cells, options.p)?, alpha, cuda)
            }
            Test::Discrete { data, statistic, rule } => {
                CudaEngine::discrete(Discrete::new(data, *statistic, *rule), alpha, cuda)
            }
            Test::Knn(_) | Test::Mixed(_) | Test::Features(_) => panic!("another engine's"),
        }
    };
    let mut worker: Box<dyn Worker> = match (on, test) {
        (On::Cpu, Test::Gauss { c, n }) => {
            Box::new(CpuEngine::with_shards(GaussKernel::new(gauss(c, *n, options)?, alpha), 2, 16))
        }
        (On::Cpu, Test::GaussOfData { cells: data, n }) => {
            let mut c = vec![0.0; options.p * options.p];
            of_centred(&Centred::of_cells(data, *n), &Pool::new(1), &mut c, &mut |_| Ok(()))?;
            cells = c;
            Box::new(CpuEngine::with_shards(GaussKernel::new(gauss(&cells, *n as f64, options)?, alpha), 2, 16))
        }
        (On::Cpu, Test::Discrete { data, statistic, rule }) => {
            Box::new(CpuEngine::with_shards(DiscreteKernel::new(Discrete::new(data, *statistic, *rule)), 2, 16))
        }
        (On::Cpu, Test::Knn(knn)) => Box::new(CpuEngine::with_shards(KnnKernel::new(knn), 2, 16)),
        (On::Cpu, Test::Mixed(test)) => Box::new(CpuEngine::with_shards(MixedKernel::new(test.clone()), 2, 16)),
        (On::Cpu, Test::Features(test)) => Box::new(CpuEngine::with_shards(FeaturesKernel::new(test), 2, 16)),
        (_, Test::Features(test)) => Box::new(FeaturesCudaEngine::new(test, GpuOptions::default())?),
        (_, Test::Mixed(test)) => Box::new(MixedCudaEngine::new(test.clone(), GpuOptions::default())?),
        (_, Test::Knn(knn)) => {
            let memory_budget = Some(64 << 20);
            Box::new(KnnCudaEngine::new(knn, KnnCudaOptions { memory_budget, ..KnnCudaOptions::default() })?)
        }
        (On::Team, _) => Box::new(cuda::team(&["one".into(), "two".into()], |_| gpu())?),
        _ => Box::new(gpu()?),
    };
    let p = options.p;
    let (mut left, mut p_max) = (PairValues::default(), vec![0.25; p * p]);
    let largest: Largest = if compact { (&mut left).into() } else { (&mut p_max).into() };
    let found = skeleton_within(&mut *worker, options, largest, observer, limits)?;
    assert_eq!(found.unkept, None);
    let values = match compact {
        true => (0..p * p).map(|at| left.get(at % p, at / p).filter(|_| at % p < at / p)).collect(),
        false => p_max.into_iter().map(Some).collect(),
    };
    Ok((Answer::new(&found, values), found.ended))
}

/// A GPU budget in bytes that is too small for a discrete search as a whole.
const BUDGET: u64 = 1 << 15;

fn searches() -> Vec<(String, Test, Options)> {
    let mut deep = 0;
    let wanted = |problem: Problem| match problem.task {
        Task::Search(Test::Knn(_), _) | Task::Selection { .. } => None,
        Task::Search(_, options) if options.method == Method::Original => None,
        Task::Search(test, options) => {
            let found = run(&test, &options, On::Cpu, false, &mut Unobserved, &Limits::default());
            let levels = found.map_or(0, |(found, _)| found.tests.len());
            // All problems with several levels, and some others.
            deep += usize::from(levels > 2);
            (levels > 2 || levels > 0 && deep % 4 == 1).then_some((problem.name, test, options))
        }
    };
    problems(Size::Few).into_iter().filter_map(wanted).collect()
}

#[test]
#[ignore = "needs a GPU"]
fn what_one_machine_keeps_another_goes_on_with() {
    let (mut resumed, mut refused) = (0, 0);
    for (number, (name, test, options)) in searches().iter().enumerate() {
        let began = Instant::now();
        for (turn, on) in ALL.into_iter().enumerate() {
            let compact = (number + turn) % 2 == 0;
            let wanted = run(test, options, On::Cpu, compact, &mut Unobserved, &Limits::default()).map(|found| found.0);
            let place = Place::new();
            let limits = place.limits(Duration::from_secs(1000));
            let mut collect = Collect { file: &place.0, states: Vec::new() };
            let Ok((kept, _)) = run(test, options, on, compact, &mut collect, &limits) else {
                // The budget is too small.
                assert_eq!(on, On::Parts, "{name}");
                refused += 1;
                continue;
            };
            compare(&format!("{name} on {on:?}, kept"), &Ok(kept), &wanted, Digits::Nine);
            collect.states.push(std::fs::read(&place.0).unwrap());
            collect.states.dedup();
            let step = if emulated() { 2 } else { 1 };
            for (at, state) in collect.states.iter().step_by(step).enumerate() {
                let then = ALL[(at + number + turn) % 4];
                std::fs::write(&place.0, state).unwrap();
                let mut told = Told::default();
                let Ok((found, _)) = run(test, options, then, compact, &mut told, &limits) else {
                    assert_eq!(then, On::Parts, "{name}");
                    refused += 1;
                    continue;
                };
                let label = format!("{name}, compact {compact}, from {on:?} to {then:?} at {:?}", told.0);
                compare(&label, &Ok(found), &wanted, Digits::Nine);
                resumed += usize::from(told.0.is_some());
            }
        }
        println!("{name}: {:.2} s", began.elapsed().as_secs_f64());
    }
    println!("{resumed} resumed, {refused} refused");
    assert!(resumed > if emulated() { 50 } else { 100 });
}

/// Returns the place of a test among the kinds that a GPU runs in different ways.
fn kind_of(test: &Test) -> usize {
    match test {
        Test::Gauss { .. } | Test::GaussOfData { .. } => 0,
        Test::Discrete { .. } => 1,
        Test::Knn(_) | Test::Mixed(_) | Test::Features(_) => 2,
    }
}

/// Checks that searches are kept within levels: some rows at a time.
#[test]
#[ignore = "needs a GPU"]
fn searches_are_kept_within_levels() {
    let (mut resumed, mut within) = ([0; 3], [0; 3]);
    let of = |problem: Problem| match problem.task {
        Task::Search(test @ Test::Knn(_), options) => Some((problem.name, test, options)),
        _ => None,
    };
    let neighbours = problems(Size::Few).into_iter().filter_map(of).take(6);
    let mut taken = [0; 3];
    let chosen = searches().into_iter().filter(|(_, test, options)| {
        taken[kind_of(test)] += 1;
        options.m_max > 1.0 && taken[kind_of(test)] % 3 == 1 && taken[kind_of(test)] < 16
    });
    for (name, test, options) in neighbours.chain(chosen.collect::<Vec<_>>()) {
        let digits = if kind_of(&test) == 2 { Digits::All } else { Digits::Nine };
        let wanted = run(&test, &options, On::Cpu, false, &mut Unobserved, &Limits::default()).map(|found| found.0);
        let place = Place::new();
        let mut collect = Collect { file: &place.0, states: Vec::new() };
        let kept = run(&test, &options, On::Gpu, false, &mut collect, &place.limits(Duration::ZERO));
        compare(&format!("{name}, kept"), &kept.map(|found| found.0), &wanted, digits);
        for (at, state) in collect.states.iter().enumerate().step_by(collect.states.len().div_ceil(6).max(1)) {
            std::fs::write(&place.0, state).unwrap();
            let mut told = Told::default();
            let limits = place.limits(Duration::from_secs(1000));
            let found = run(&test, &options, [On::Cpu, On::Gpu][at % 2], false, &mut told, &limits);
            compare(&format!("{name} from {:?}", told.0), &found.map(|found| found.0), &wanted, digits);
            resumed[kind_of(&test)] += usize::from(told.0.is_some());
            within[kind_of(&test)] += usize::from(told.0.is_some_and(|(levels, within)| levels > 0 && within));
        }
    }
    println!("Gaussian, discrete, nearest neighbours: {resumed:?} resumed, {within:?} within a level of sets");
    // The more a GPU takes at a time, the fewer states there are within a level: a real one takes small discrete levels at once.
    let least = [1, usize::from(emulated()), 1];
    assert!(resumed.iter().all(|&count| count > 3) && within.iter().zip(least).all(|(&count, least)| count >= least));
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_whose_time_is_over_has_the_answer_of_its_last_level() {
    let mut ended = 0;
    for (number, (name, test, options)) in searches().iter().enumerate().filter(|(_, (_, _, o))| o.m_max > 1.0) {
        for (turn, on) in [On::Gpu, On::Parts, On::Team].into_iter().enumerate() {
            // The machines take turns.
            if emulated() && (number + turn) % 3 != 0 {
                continue;
            }
            let compact = (number + turn) % 2 == 0;
            let Ok((whole, _)) = run(test, options, on, compact, &mut Unobserved, &Limits::default()) else { continue };
            for level in 1..whole.tests.len() {
                let bounded = Options { m_max: (level - 1) as f64, ..options.clone() };
                let began = Instant::now();
                let wanted = run(test, &bounded, on, compact, &mut Unobserved, &Limits::default()).map(|found| found.0);
                let seconds = allowed(began.elapsed());
                // Time runs out as the level begins, or when it first reports progress.
                for (at, looks) in [None, Some(0)].into_iter().enumerate() {
                    if emulated() && at != (number + turn + level) % 2 {
                        continue;
                    }
                    let place = Place::new();
                    let mut limits = if number % 2 == 0 { place.limits(Duration::ZERO) } else { Limits::default() };
                    let until = Instant::now() + Duration::from_secs_f64(seconds);
                    limits.deadline = Some((until, seconds));
                    let mut late = Late { level, looks, until, now: 0, stops: false };
                    let found = run(test, options, on, compact, &mut late, &limits);
                    let Ok((found, Some(at))) = found else { continue };
                    if at < level {
                        continue;
                    }
                    let label = format!("{name} on {on:?}, compact {compact}, level {level}, {looks:?}");
                    assert_eq!(at, level, "{label}");
                    compare(&label, &Ok(found), &wanted, Digits::Nine);
                    ended += 1;
                    limits.deadline = None;
                    let found = run(test, options, on, compact, &mut Unobserved, &limits).map(|found| found.0);
                    compare(&format!("{label}, to the end"), &found, &Ok(whole.clone()), Digits::Nine);
                }
            }
        }
    }
    println!("{ended} ended");
    assert!(ended > if emulated() { 10 } else { 20 });
}
