//! Checks that every test has one answer on every machine. The problems of one_answer_problems.rs are the rows of a table, machines its columns.
//! Machines of the CPU are here, those with GPUs in one_answer_cuda.rs. The tests of each kind (`*_golden`, `*_cuda`) compare with recorded
//! answers.

use std::fmt::Display;
use std::sync::Arc;

use crate::one_answer_problems::{gaussian, problems, Size};
use crate::support::answer::{searched, Answer, Digits};
use pcgpu_core::ci::discrete::{Coded, Discrete, Rule, Statistic};
use pcgpu_core::ci::features::KernelTest;
use pcgpu_core::ci::gauss::{FisherZ, Gauss, Reading};
use pcgpu_core::ci::knn::Knn;
use pcgpu_core::ci::mixed::Mixed;
use pcgpu_core::engine::cpu::selection::CpuCounting;
use pcgpu_core::engine::cpu::{
    Bound, CpuEngine, DiscreteKernel, FeaturesKernel, GaussKernel, GaussOfData, KnnKernel, MixedKernel,
};
use pcgpu_core::graph::Form;
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::{of_centred, Centred};
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{Method, Options};
use pcgpu_core::selection::{select, CountLogs, Criterion, Samples, Selection};
use pcgpu_core::{Error, Result};

/// A test of independence, with its data.
pub enum Test {
    /// From correlations.
    Gauss {
        c: Vec<f64>,
        n: f64,
    },
    /// From columns minus their means, n x p.
    GaussOfData {
        cells: Vec<f64>,
        n: usize,
    },
    Discrete {
        data: Coded,
        statistic: Statistic,
        rule: Rule,
    },
    Knn(Box<Knn>),
    /// Of mixed data.
    Mixed(Arc<Mixed<'static>>),
    /// By random features.
    Features(Box<KernelTest>),
}

/// The task of a machine.
pub enum Task {
    Search(Test, Options),
    Selection { samples: Samples, logs: CountLogs, criterion: Criterion, k: usize },
}

pub struct Problem {
    pub name: String,
    pub task: Task,
}

/// The answer of a machine.
#[derive(Clone, Debug)]
pub enum Found {
    Search(Answer),
    Selection(Selection),
}

impl Found {
    fn difference(&self, wanted: &Found, digits: Digits) -> Option<String> {
        match (self, wanted) {
            (Found::Search(found), Found::Search(wanted)) => found.difference(wanted, digits),
            (Found::Selection(found), Found::Selection(wanted)) => {
                let step = |of: &Selection, at: usize| Some((*of.index.get(at)?, *of.score.get(at)?, of.relevance[at]));
                let steps = found.index.len().max(wanted.index.len());
                let at = (0..steps).find(|&at| step(found, at) != step(wanted, at))?;
                Some(format!("choice {at} is {:?}, not {:?}", step(found, at), step(wanted, at)))
            }
            _ => Some("of another kind".into()),
        }
    }

    /// Returns what a compact result keeps of this answer.
    fn left(&self) -> Self {
        match self {
            Found::Search(found) => Found::Search(found.left()),
            Found::Selection(found) => Found::Selection(found.clone()),
        }
    }
}

/// The answer of one machine, as a square and as a compact result, with which others are compared.
pub struct Wanted {
    square: Result<Found>,
    left: Result<Found>,
}

impl Wanted {
    pub fn new(square: Result<Found>) -> Self {
        Wanted { left: square.as_ref().map(Found::left).map_err(Error::clone), square }
    }

    /// Returns whether there is an answer, rather than an error that every machine must give.
    pub fn is_answer(&self) -> bool {
        self.square.is_ok()
    }

    /// Panics with problem, machine and first difference if an outcome differs.
    #[track_caller]
    pub fn compare(&self, label: impl Display, compact: bool, found: &Result<Found>, digits: Digits) {
        match (found, if compact { &self.left } else { &self.square }) {
            (Ok(found), Ok(wanted)) => {
                let difference = found.difference(wanted, digits);
                assert!(difference.is_none(), "{label}, compact {compact}: {}", difference.unwrap_or_default());
            }
            (found, wanted) => {
                assert_eq!(found.as_ref().err(), wanted.as_ref().err(), "{label}, compact {compact}");
            }
        }
    }
}

pub fn reading(method: Method) -> Reading {
    match method {
        Method::StableFast => Reading::StableFast,
        _ => Reading::GaussCItest,
    }
}

pub fn gauss<'a>(c: &'a [f64], n: f64, options: &Options) -> Result<Gauss<'a>> {
    Gauss::new(by_column(c, options.p)?, n, reading(options.method))
}

impl Problem {
    pub fn search(name: impl Into<String>, test: Test, options: Options) -> Self {
        let name = format!("{} {:?}", name.into(), options.method);
        Problem { name, task: Task::Search(test, options) }
    }

    pub fn selection(name: impl Into<String>, samples: Samples, criterion: Criterion, k: usize) -> Self {
        let (name, logs) = (format!("{} {criterion:?}", name.into()), CountLogs::new(samples.n()));
        Problem { name, task: Task::Selection { samples, logs, criterion, k } }
    }

    /// Returns whether this is a search without fixed edges, which stay untested.
    #[cfg(all(feature = "cuda", not(target_os = "macos")))]
    pub fn has_no_fixed_edges(&self) -> bool {
        matches!(&self.task, Task::Search(_, options) if options.fixed_edges.is_none())
    }

    /// Returns the values of `compact` that give different results; a selection has no compact result.
    pub fn results(&self) -> &'static [bool] {
        match self.task {
            Task::Search(..) => &[false, true],
            Task::Selection { .. } => &[false],
        }
    }

    /// Has the graphs of a search kept in this form. Returns whether this is a search.
    pub fn keep_as(&mut self, form: Form) -> bool {
        match &mut self.task {
            Task::Search(_, options) => options.form = form,
            Task::Selection { .. } => return false,
        }
        true
    }

    /// Solves the problem on this many threads, which take `shard_tests` tests at a time.
    pub fn on_cpu(&self, threads: usize, shard_tests: u64, compact: bool) -> Result<Found> {
        if let Task::Selection { samples, logs, criterion, k } = &self.task {
            let mut counting = CpuCounting::new(samples, logs, 0..samples.p(), Pool::new(threads));
            return select(samples, logs, &mut counting, *criterion, *k, &mut Unobserved).map(Found::Selection);
        }
        let mut found = Err(Error::Interrupted);
        self.with_cpu(threads, shard_tests, &mut |worker, options| {
            found = searched(worker, options, compact, &mut Unobserved);
        })?;
        found.map(Found::Search)
    }

    /// Passes a search's test to `run`, on this many threads.
    pub fn with_cpu(
        &self,
        threads: usize,
        shard_tests: u64,
        run: &mut dyn FnMut(&mut dyn Worker, &Options),
    ) -> Result<()> {
        let Task::Search(test, options) = &self.task else { return Ok(()) };
        let pool = Pool::new(threads);
        let mut of_matrix = |c: &[f64], n| {
            let kernel = GaussKernel::new(gauss(c, n, options)?, options.alpha);
            run(&mut CpuEngine::with_shards(kernel, pool.clone(), shard_tests), options);
            Ok(())
        };
        match test {
            Test::Gauss { c, n } => return of_matrix(c, *n),
            Test::GaussOfData { cells, n } => {
                let mut c = vec![0.0; options.p * options.p];
                of_centred(&Centred::of_cells(cells, *n), &pool, &mut c, &mut |_| Ok(()))?;
                return of_matrix(&c, *n as f64);
            }
            Test::Discrete { data, statistic, rule } => {
                let kernel = DiscreteKernel::new(Discrete::new(data, *statistic, *rule));
                run(&mut CpuEngine::with_shards(kernel, pool, shard_tests), options);
            }
            Test::Knn(knn) => run(&mut CpuEngine::with_shards(KnnKernel::new(knn), pool, shard_tests), options),
            Test::Mixed(test) => {
                run(&mut CpuEngine::with_shards(MixedKernel::new(test.clone()), pool, shard_tests), options);
            }
            Test::Features(test) => {
                run(&mut CpuEngine::with_shards(FeaturesKernel::new(test), pool, shard_tests), options);
            }
        }
        Ok(())
    }

    /// Searches within this many bytes of correlations, or returns `None` if the CPU has no such bound for the problem.
    fn bounded(&self, threads: usize, bytes: u64, compact: bool) -> Option<Result<Found>> {
        let Task::Search(Test::GaussOfData { cells, n }, options) = &self.task else { return None };
        let test = FisherZ::new(*n as f64, reading(options.method)).unwrap();
        let bound = Bound { bytes, is_named: true };
        let engine = GaussOfData::new(test, by_column(cells, options.p).unwrap(), options.alpha, threads, bound);
        Some(engine.and_then(|mut engine| searched(&mut engine, options, compact, &mut Unobserved).map(Found::Search)))
    }
}

/// Halves a budget until it is refused, then lowers the last accepted one by eighths. Returns which of a half, a quarter and an eighth suffice,
/// and the least that did. `suffices` must check the answer.
pub fn budgets(all: u64, mut suffices: impl FnMut(u64) -> bool) -> Vec<u64> {
    let (mut some, mut least) = (Vec::new(), all);
    while least > 1 && suffices(least / 2) {
        least /= 2;
        some.push(least);
    }
    let step = least / 8;
    while step > 0 && suffices(least - step) {
        least -= step;
    }
    some.truncate(3);
    if !some.contains(&least) && least < all {
        some.push(least);
    }
    some
}

/// The numbers of CPU threads, and how many tests they take at a time.
const THREADS: [(usize, u64); 3] = [(1, 1 << 16), (2, 64), (4, 8)];

/// Compares all numbers of threads, and bounds of memory down to the smallest.
#[test]
fn cpu_machines_have_one_answer() {
    let (mut compared, mut bounds) = (0, 0);
    for mut problem in problems(Size::All) {
        let wanted = Wanted::new(problem.on_cpu(1, 1 << 16, false));
        for (threads, shard_tests) in THREADS {
            // One thread always runs in the same order, so it needs no repeat.
            for repeat in 0..threads.min(2) {
                for &compact in problem.results() {
                    let found = problem.on_cpu(threads, shard_tests, compact);
                    let label = format!("{} on {threads} threads, repeat {repeat}", problem.name);
                    wanted.compare(label, compact, &found, Digits::All);
                    compared += 1;
                }
            }
        }
        for &compact in if problem.keep_as(Form::Lists) { problem.results() } else { &[] } {
            let found = problem.on_cpu(2, 64, compact);
            wanted.compare(format!("{} with graphs as lists", problem.name), compact, &found, Digits::All);
        }
        // The bounded searches of every other problem keep their graphs as lists, too.
        problem.keep_as(if bounds % 2 == 0 { Form::Lists } else { Form::Bits });
        let Task::Search(Test::GaussOfData { .. }, options) = &problem.task else { continue };
        for (compact, (threads, _)) in problem.results().iter().cycle().zip(THREADS) {
            let suffice = budgets(Bound::of_all(options.p), |bytes| {
                let found = problem.bounded(threads, bytes, *compact).unwrap();
                if matches!(found, Err(Error::Argument { argument: "memory", .. })) {
                    return false;
                }
                let label = format!("{} on {threads} threads, {bytes} bytes of correlations", problem.name);
                wanted.compare(label, *compact, &found, Digits::All);
                true
            });
            bounds += suffice.len();
        }
    }
    assert!(compared > 1500 && bounds > 50, "{compared} comparisons, {bounds} bounds");
}

/// Checks that one wrong bit anywhere is reported with its place.
#[test]
fn cpu_answers_that_differ_are_told_apart() {
    let problem = gaussian(Size::Few).into_iter().find(|problem| problem.name.starts_with("sachs")).unwrap();
    let Ok(Found::Search(answer)) = problem.on_cpu(1, 1 << 16, false) else { panic!("{}", problem.name) };
    let bits = |p: Option<f64>, more| p.map(|p| f64::from_bits(p.to_bits() + more));
    type Change<'c> = (&'c str, &'c dyn Fn(&mut Answer));
    let changes: [Change; 6] = [
        ("edge at [0, 1]", &|of| match of.graph.has(0, 1) {
            true => of.graph.remove(0, 1),
            false => of.graph.insert(0, 1),
        }),
        ("counts", &|of| of.tests[1] += 1),
        ("max.ord", &|of| of.max_order += 1),
        ("separating set", &|of| of.sets[3].2.push(7)),
        ("pMax[5, 0]", &|of| of.p_max[5] = bits(of.p_max[5], 1)),
        ("not kept", &|of| of.p_max[5] = None),
    ];
    for (named, change) in changes {
        let mut other = answer.clone();
        change(&mut other);
        let told = other.difference(&answer, Digits::All).unwrap();
        assert!(told.contains(named), "{named}: {told}");
    }
    assert_eq!(answer.difference(&answer, Digits::All), None);
    let mut near = answer.clone();
    near.p_max[5] = bits(near.p_max[5], 1);
    assert_eq!(near.difference(&answer, Digits::Nine), None);
}
