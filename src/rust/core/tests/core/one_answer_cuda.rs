//! The machines of one_answer.rs with GPUs: one or two, with the CPU, by blocks, in unified memory, and within budgets down to the smallest.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::one_answer::{budgets, gauss, reading, Found, Problem, Task, Test, Wanted};
use crate::one_answer_problems::{problems, Size};
use crate::support::answer::{searched, Answer, Digits};
use crate::support::cuda::{emulated, planned, Slowed};
use pcgpu_core::ci::discrete::Discrete;
use pcgpu_core::ci::features::KernelTest;
use pcgpu_core::ci::gauss::FisherZ;
use pcgpu_core::ci::knn::Knn;
use pcgpu_core::ci::mixed::Mixed;
use pcgpu_core::engine::batched::Asker;
use pcgpu_core::engine::cpu::together::member as cpu_member;
use pcgpu_core::engine::cpu::{CpuEngine, FeaturesKernel, KnnKernel, MixedKernel};
use pcgpu_core::engine::cuda::features::FeaturesCudaEngine;
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::knn::{KnnCudaEngine, KnnCudaOptions};
use pcgpu_core::engine::cuda::mixed::MixedCudaEngine;
use pcgpu_core::engine::cuda::selection::{member, CudaCounting, SelectionOptions};
use pcgpu_core::engine::cuda::{self, CudaEngine, CudaOptions, GpuOptions};
use pcgpu_core::engine::question_team::QuestionTeam;
use pcgpu_core::engine::shards::Shards;
use pcgpu_core::graph::Form;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::Options;
use pcgpu_core::selection::{select, CountLogs, Criterion, Samples, Selection};
use pcgpu_core::{DeviceKind, Error, Result};

/// GPUs, and how they run.
#[derive(Clone, Debug)]
struct Gpus {
    ordinals: Vec<usize>,
    with_cpu: bool,
    memory: MemoryKind,
    budget: Option<u64>,
    block: Option<usize>,
    form: Form,
}

/// One GPU with all its memory. The other machines are compared with it.
const ONE: Gpus = Gpus {
    ordinals: Vec::new(),
    with_cpu: false,
    memory: MemoryKind::Device,
    budget: None,
    block: None,
    form: Form::Bits,
};

/// Returns two GPUs with all their memory. A GPU may be in a team twice.
fn two() -> Gpus {
    let second = device::devices(false).unwrap().len().min(2) - 1;
    Gpus { ordinals: vec![0, second], ..ONE }
}

/// Returns the columns of the table. One GPU is among them, for its own repeats.
fn machines() -> Vec<Gpus> {
    let gpus = device::devices(false).unwrap();
    let mut all = vec![
        ONE,
        Gpus { block: Some(64), ..ONE },
        Gpus { form: Form::Lists, ..ONE },
        Gpus { form: Form::Lists, ..two() },
        two(),
        Gpus { with_cpu: true, ..ONE },
        Gpus { with_cpu: true, ..two() },
    ];
    if gpus.iter().all(|gpu| gpu.unified) {
        all.push(Gpus { memory: MemoryKind::Unified { gpus: 1 }, ..ONE });
        all.push(Gpus { memory: MemoryKind::Unified { gpus: 2 }, ..two() });
    }
    all
}

/// An answer, and the bytes planned.
type Outcome<A> = Result<(A, u64)>;

impl Gpus {
    /// Returns whether this is a machine of its own for the problem.
    fn serves(&self, problem: &Problem) -> bool {
        let [gauss, with_cpu] = match &problem.task {
            Task::Search(Test::Gauss { .. } | Test::GaussOfData { .. }, _) => [true, false],
            Task::Search(Test::Discrete { .. }, _) => [false, false],
            Task::Search(Test::Knn(_) | Test::Mixed(_) | Test::Features(_), _) | Task::Selection { .. } => {
                [false, true]
            }
        };
        (gauss || (self.block.is_none() && self.form == Form::Bits)) && (with_cpu || !self.with_cpu)
    }

    fn ordinals(&self) -> &[usize] {
        if self.ordinals.is_empty() {
            &[0]
        } else {
            &self.ordinals
        }
    }

    fn is_alone(&self) -> bool {
        self.ordinals().len() == 1 && !self.with_cpu
    }

    fn solve(&self, problem: &Problem, compact: bool) -> Outcome<Found> {
        match &problem.task {
            Task::Search(Test::Knn(knn), options) => self.neighbours(knn, options, compact).map(of_search),
            Task::Search(Test::Mixed(test), options) => self.numbers_and_levels(test, options, compact).map(of_search),
            Task::Search(Test::Features(test), options) => self.features(test, options, compact).map(of_search),
            Task::Search(test, options) => self.search(test, options, compact).map(of_search),
            Task::Selection { samples, logs, criterion, k } => {
                self.select(samples, logs, *criterion, *k).map(|(found, planned)| (Found::Selection(found), planned))
            }
        }
    }

    fn search(&self, test: &Test, options: &Options, compact: bool) -> Outcome<Answer> {
        let options = &Options { form: self.form, ..options.clone() };
        let make = |ordinal| {
            // Blocks and teams get several launches each.
            let launch_share = if self.is_alone() && self.block.is_none() { 1.0 } else { 1e-9 };
            let (memory, memory_budget, block) = (self.memory, self.budget, self.block);
            let cuda = CudaOptions { ordinal, memory, memory_budget, block, launch_share, ..CudaOptions::default() };
            match test {
                Test::Gauss { c, n } => CudaEngine::new(gauss(c, *n, options)?, options.alpha, cuda),
                Test::GaussOfData { cells, n } => {
                    let test = FisherZ::new(*n as f64, reading(options.method))?;
                    CudaEngine::of_data(test, by_column(cells, options.p)?, options.alpha, cuda)
                }
                Test::Discrete { data, statistic, rule } => {
                    CudaEngine::discrete(Discrete::new(data, *statistic, *rule), options.alpha, cuda)
                }
                Test::Knn(_) | Test::Mixed(_) | Test::Features(_) => panic!("another engine's"),
            }
        };
        if self.is_alone() {
            return on(&mut make(0)?, options, compact);
        }
        let names: Vec<String> = (0..self.ordinals().len()).map(|at| format!("GPU {at}")).collect();
        on(&mut cuda::team(&names, |at| make(self.ordinals()[at]))?, options, compact)
    }

    fn neighbours(&self, knn: &Knn, options: &Options, compact: bool) -> Outcome<Answer> {
        // Without a budget it would plan gigabytes, to ask more at a time.
        let memory_budget = self.budget.or(Some(64 << 20));
        let make = |ordinal| {
            let memory = self.memory;
            KnnCudaEngine::new(knn, KnnCudaOptions { ordinal, memory, memory_budget, ..KnnCudaOptions::default() })
        };
        self.asked(make, || CpuEngine::new(KnnKernel::new(knn), 1), options, compact)
    }

    fn gpu_options(&self, ordinal: usize) -> GpuOptions {
        GpuOptions { ordinal, memory: self.memory, memory_budget: self.budget.or(Some(16 << 20)) }
    }

    fn features(&self, test: &KernelTest, options: &Options, compact: bool) -> Outcome<Answer> {
        let make = |ordinal| FeaturesCudaEngine::new(test, self.gpu_options(ordinal));
        self.asked(make, || CpuEngine::new(FeaturesKernel::new(test), 1), options, compact)
    }

    fn numbers_and_levels(&self, test: &Arc<Mixed<'static>>, options: &Options, compact: bool) -> Outcome<Answer> {
        let make = |ordinal| MixedCudaEngine::new(test.clone(), self.gpu_options(ordinal));
        self.asked(make, || CpuEngine::new(MixedKernel::new(test.clone()), 1), options, compact)
    }

    /// Searches on machines that answer questions.
    fn asked<'t, A: Asker + Worker + Send + 't, C: Asker + Send + 't>(
        &self,
        make: impl Fn(usize) -> Result<A>,
        cpu: impl Fn() -> C,
        options: &Options,
        compact: bool,
    ) -> Outcome<Answer> {
        if self.is_alone() {
            return on(&mut make(0)?, options, compact);
        }
        let mut team = QuestionTeam::new(Pool::new(2));
        if self.with_cpu {
            team = team.with("cpu", Slowed(cpu(), Duration::ZERO));
        }
        for &ordinal in self.ordinals() {
            team = team.with(format!("cuda:{ordinal}"), Slowed(make(ordinal)?, Duration::ZERO));
        }
        on(&mut team, options, compact)
    }

    fn select(&self, samples: &Samples, logs: &CountLogs, criterion: Criterion, k: usize) -> Outcome<Selection> {
        let options = |ordinal| {
            let (memory, memory_budget) = (self.memory, self.budget);
            SelectionOptions { ordinal, memory, memory_budget, ..SelectionOptions::default() }
        };
        if self.is_alone() {
            let mut counting = CudaCounting::new(samples, logs, 0..samples.p(), options(0))?;
            let found = select(samples, logs, &mut counting, criterion, k, &mut Unobserved)?;
            return Ok((found, counting.plan().total()));
        }
        let cpu = self.with_cpu.then(|| cpu_member(samples, logs, Pool::new(1)));
        let gpus = self.ordinals().iter().map(|&ordinal| member(samples, logs, options(ordinal), Pool::new(1)));
        let mut shards = Shards::new(cpu.into_iter().chain(gpus).collect())?;
        Ok((select(samples, logs, &mut shards, criterion, k, &mut Unobserved)?, 0))
    }
}

fn on(worker: &mut dyn Worker, options: &Options, compact: bool) -> Outcome<Answer> {
    let found = searched(worker, options, compact, &mut Unobserved)?;
    let team = worker.team();
    assert!(team.lost.is_empty(), "{:?}", team.lost);
    Ok((found, planned(worker)))
}

fn of_search((found, planned): (Answer, u64)) -> (Found, u64) {
    (Found::Search(found), planned)
}

/// The environment variable with the number of repeats; by default 1 on an emulated GPU and 5 on others.
const REPEATS: &str = "PCGPU_TEST_REPEATS";

/// The environment variable with parts of names, between commas. Only problems whose names contain one of them run.
const PROBLEMS: &str = "PCGPU_TEST_PROBLEMS";

#[test]
#[ignore = "needs a GPU"]
fn machines_with_gpus_have_one_answer() {
    one_answer_to_half(0);
}

#[test]
#[ignore = "needs a GPU"]
fn machines_with_gpus_have_one_answer_to_the_other_half() {
    one_answer_to_half(1);
}

/// Compares the machines on every other problem, so that two processes can share the problems.
fn one_answer_to_half(half: usize) {
    let size = if emulated() { Size::Few } else { Size::All };
    let repeats = std::env::var(REPEATS).map_or(if emulated() { 1 } else { 5 }, |number| number.parse().unwrap());
    let machines = machines();
    let (mut runs, mut sufficed) = (0, 0);
    let named = std::env::var(PROBLEMS).ok();
    let is_named = |of: &Problem| named.as_ref().is_none_or(|all| all.split(',').any(|name| of.name.contains(name)));
    let problems = problems(size);
    for (number, problem) in problems.iter().skip(half).step_by(2).filter(|problem| is_named(problem)).enumerate() {
        let began = Instant::now();
        // The GPU's log and exp differ from the CPU's, so p-values that depend on them agree to nine digits.
        let digits = match problem.task {
            Task::Search(Test::Knn(_) | Test::Mixed(_) | Test::Features(_), _) | Task::Selection { .. } => Digits::All,
            _ => Digits::Nine,
        };
        let one = ONE.solve(problem, false);
        let planned = one.as_ref().map_or(0, |(_, planned)| *planned);
        let one = one.map(|(found, _)| found);
        Wanted::new(problem.on_cpu(1, 1 << 16, false)).compare(
            format!("{} on one GPU beside the CPU", problem.name),
            false,
            &one,
            digits,
        );
        let wanted = Wanted::new(one);
        let mut compare = |machine: &Gpus, compact, repeat: usize| {
            let found = machine.solve(problem, compact);
            if let (Err(Error::Device(e)), Some(budget)) = (&found, machine.budget) {
                assert_eq!(e.kind, DeviceKind::OutOfMemory, "{}, {machine:?}: {e:?}", problem.name);
                // A machine of several may name what is left of its budget once other machines' features came to it.
                let names_budget = e.message.contains(&format!("{budget} bytes"));
                assert!(names_budget || !machine.is_alone(), "{}, {machine:?}: {e:?}", problem.name);
                return false;
            }
            let within = found.as_ref().map_or(0, |(_, planned)| *planned);
            assert!(within <= machine.budget.unwrap_or(u64::MAX), "{}: {within} bytes, {machine:?}", problem.name);
            let label = format!("{} on {machine:?}, repeat {repeat}", problem.name);
            wanted.compare(label, compact, &found.map(|(found, _)| found), Digits::All);
            runs += 1;
            true
        };
        for machine in machines.iter().filter(|machine| machine.serves(problem)) {
            for (repeat, &compact) in (0..repeats).flat_map(|repeat| problem.results().iter().map(move |c| (repeat, c)))
            {
                compare(machine, compact, repeat);
            }
        }
        if !wanted.is_answer() {
            continue;
        }
        let budget_of = |budget| Gpus { budget: Some(budget), ..ONE };
        // Compact results for every second problem.
        let compact = problem.results()[number % problem.results().len()];
        let suffice = budgets(planned.min(1 << 24), |budget| compare(&budget_of(budget), compact, 0));
        for (&budget, repeat) in suffice.iter().flat_map(|budget| (1..repeats).map(move |repeat| (budget, repeat))) {
            assert!(compare(&budget_of(budget), compact, repeat), "{}: {budget} bytes once", problem.name);
        }
        // A budget that suffices for one GPU suffices for each of two, except below the least that a part of a level takes.
        for &budget in suffice.iter().step_by(if emulated() { 2 } else { 1 }) {
            let machine = Gpus { budget: Some(budget), ..two() };
            let label = format!("{}: two within {budget} bytes each", problem.name);
            assert!(compare(&machine, compact, 0) || budget < 1 << 19, "{label}");
        }
        sufficed += suffice.len();
        println!("{}: {:.2} s", problem.name, began.elapsed().as_secs_f64());
    }
    println!("{runs} runs, {sufficed} budgets");
    assert!(named.is_some() || (runs > 250 && sufficed > 50));
}
