//! Checks ranks of a cluster with a GPU each, which runs all levels: the answer is that of one machine.

use crate::one_answer::{gauss, reading, Found, Problem, Task, Test, Wanted};
use crate::one_answer_problems::{problems, Size};
use crate::support::answer::{searched, Digits};
use crate::support::cuda::emulated;
use crate::support::pairs::ByPairs;
use crate::support::problems::dense_problem;
use crate::support::ranks::{with_ranks, Manner};
use pcgpu_core::ci::discrete::Discrete;
use pcgpu_core::ci::gauss::FisherZ;
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::{self, CudaEngine, CudaOptions};
use pcgpu_core::engine::LevelOne;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::search::pairs::{PairLevel, PairRows, Pairwise, NO_SEPARATOR, SECOND};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Method, Options};
use pcgpu_core::team::Share;
use pcgpu_core::{Error, Result};

/// Returns an engine with the test of a problem, or `None` if it is no search with a Gaussian or a discrete test.
fn engine<'p>(problem: &'p Problem, options: CudaOptions) -> Option<Result<CudaEngine<'p>>> {
    let Task::Search(test, search) = &problem.task else { return None };
    let of_data = |cells: &'p [f64], n: usize| {
        let test = FisherZ::new(n as f64, reading(search.method))?;
        CudaEngine::of_data(test, by_column(cells, search.p)?, search.alpha, options)
    };
    match test {
        Test::Gauss { c, n } => {
            Some(gauss(c, *n, search).and_then(|test| CudaEngine::new(test, search.alpha, options)))
        }
        Test::GaussOfData { cells, n } => Some(of_data(cells, *n)),
        Test::Discrete { data, statistic, rule } => {
            Some(CudaEngine::discrete(Discrete::new(data, *statistic, *rule), search.alpha, options))
        }
        _ => None,
    }
}

/// Searches on ranks with these options, which take the GPUs in turn. Returns the answer, and the shares of the ranks by level.
fn on_ranks(problem: &Problem, manners: &[Manner], cuda: CudaOptions, compact: bool) -> (Result<Found>, Vec<Share>) {
    let Task::Search(_, options) = &problem.task else { panic!("{} is no search", problem.name) };
    if let Err(error) = engine(problem, cuda).unwrap() {
        return (Err(error), Vec::new());
    }
    let gpus = device::devices(false).unwrap().len();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let make = |run: &mut dyn FnMut(&mut dyn Worker)| {
        let ordinal = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % gpus;
        run(&mut engine(problem, CudaOptions { ordinal, ..cuda }).unwrap().unwrap());
    };
    with_ranks(manners, make, |cluster| {
        cluster.aside_from(if compact { 0 } else { u64::MAX });
        let found = searched(cluster, options, compact, &mut Unobserved).map(Found::Search);
        (found, cluster.team().shares)
    })
}

/// Returns a problem with many neighbours and several blocks of rows.
fn dense(number: u64, m_max: f64) -> Problem {
    let problem = dense_problem(number);
    let options = Options { m_max, ..problem.options };
    Problem::search(format!("dense {number}"), Test::Gauss { c: problem.c, n: problem.n }, options)
}

fn small(cuda: CudaOptions) -> CudaOptions {
    // Several launches a level.
    CudaOptions { launch_share: 1e-9, ..cuda }
}

#[test]
#[ignore = "needs a GPU"]
fn ranks_with_gpus_have_the_answer_of_one_machine() {
    let size = if emulated() { Size::Few } else { Size::All };
    let all = problems(size).into_iter().filter(|problem| engine(problem, CudaOptions::default()).is_some());
    let (mut compared, mut by_pairs) = (0, 0);
    for (number, problem) in all.enumerate() {
        let wanted = Wanted::new(problem.on_cpu(1, 1 << 16, false));
        for &compact in problem.results() {
            let manners = [
                vec![Manner::Sound],
                vec![Manner::Sound; 2],
                vec![Manner::Dies(number % 4), Manner::Sound],
                vec![Manner::Sound, Manner::Damages(number % 3)],
            ];
            let manners = &manners[number % 4];
            let (found, shares) = on_ranks(&problem, manners, small(CudaOptions::default()), compact);
            wanted.compare(format!("{} on {manners:?} with GPUs", problem.name), compact, &found, Digits::Nine);
            compared += 1;
            by_pairs += usize::from(shares.iter().any(|share| share.level == Some(1) && share.shards > 0));
        }
    }
    assert!(compared > 20 && by_pairs > 5, "{by_pairs} of {compared}");
}

/// Compares level 1 by lists, columns and masks, with three blocks of rows; also level 2.
#[test]
#[ignore = "needs a GPU"]
fn dense_levels_on_ranks() {
    let mut timely = 0;
    // The ranks' start takes most of a problem's time on a GPU. The last problems have near copies with a million samples.
    for number in (0..40).filter(|number| [1, 3, 8].contains(number) || !emulated() && number % 4 == 3) {
        let problem = dense(number, if emulated() && number != 8 { 1.0 } else { 2.0 });
        let wanted = Wanted::new(problem.on_cpu(2, 1 << 16, false));
        let digits = if dense_problem(number).n < 1e6 { Digits::Nine } else { Digits::Six };
        for level_one in [LevelOne::Lists, LevelOne::Columns, LevelOne::Masks] {
            for compact in [false, true] {
                let cuda = small(CudaOptions { level_one, ..CudaOptions::default() });
                let (found, shares) = on_ranks(&problem, &[Manner::Sound; 2], cuda, compact);
                wanted.compare(format!("{} {level_one:?} on ranks", problem.name), compact, &found, digits);
                let is_late = shares.iter().any(|share| share.elapsed > 0.5);
                if problem.has_no_fixed_edges() && found.is_ok() && !is_late {
                    // No more bytes than a verdict and a value take, so no shard came. Two ranks may do the same piece, so this is for each
                    // rank.
                    let from = shares.iter().filter(|s| s.level == Some(1)).map(|s| s.moved.from).max().unwrap();
                    let pairs = dense_problem(number).options.p as u64;
                    assert!(from <= 10 * pairs * pairs / 2 + 4096, "{from} bytes, {pairs} variables: {shares:?}");
                    timely += 1;
                }
            }
        }
    }
    assert!(timely > 0);
}

/// Checks that every budget that suffices gives the same answer.
#[test]
#[ignore = "needs a GPU"]
fn ranks_within_little_memory() {
    let problem = dense(3, 1.0);
    let wanted = Wanted::new(problem.on_cpu(1, 1 << 16, false));
    let mut refused = 0;
    for shift in 14..26 {
        let memory_budget = Some(1 << shift);
        let cuda = small(CudaOptions { memory_budget, ..CudaOptions::default() });
        let (found, _) = on_ranks(&problem, &[Manner::Sound; 2], cuda, true);
        match found {
            Err(Error::Cluster { message, .. }) if message.contains("GPU memory") => refused += 1,
            found => wanted.compare(format!("{} within {memory_budget:?}", problem.name), true, &found, Digits::Nine),
        }
    }
    // Questions at the end need some memory in any case.
    assert!(refused < 8, "{refused} refused");
}

/// Checks that a level stays on the GPU from call to call, and is not confused with other work there.
#[test]
#[ignore = "needs a GPU"]
fn an_engine_is_asked_for_parts_of_a_level_by_turns_with_others() {
    let problem = dense(1, 1.0);
    let Task::Search(_, options) = &problem.task else { panic!("no search") };
    let p = options.p;
    let mut gpu = engine(&problem, small(CudaOptions::default())).unwrap().unwrap();
    let mut p_max = vec![0.0; p * p];
    let of_zero = Options { m_max: 0.0, fixed_edges: None, ..options.clone() };
    let graph = skeleton(&mut gpu, &of_zero, &mut p_max, &mut Unobserved).unwrap().graph;
    let other =
        skeleton(&mut gpu, &Options { m_max: 1.0, ..of_zero.clone() }, &mut p_max, &mut Unobserved).unwrap().graph;
    type Rows = Vec<(Vec<u32>, Vec<f64>, u64)>;
    let found = |worker: &mut dyn Worker, number: u64, by_threads: bool| {
        let graph = if number == 7 { &graph } else { &other };
        let level = PairLevel { number, options: &of_zero, graph };
        let mut all: Rows = Vec::new();
        // The last rows first.
        for first in (0..p).step_by(64).rev() {
            let rows = first..p.min(first + 64);
            let count = rows.clone().map(|x| graph.degree_above(x)).sum();
            let (mut verdicts, mut values) = (vec![0; count], vec![0.0; count]);
            let mut rows = PairRows::new(rows, &mut verdicts, &mut values);
            match by_threads {
                true => ByPairs { worker: &mut *worker, is_wrong: false, levels: 0 }
                    .pairs(&level, &mut rows, &mut Unobserved)
                    .unwrap(),
                false => worker.pairwise().unwrap().pairs(&level, &mut rows, &mut Unobserved).unwrap(),
            }
            let tests = rows.counted.tests;
            all.push((verdicts, values, tests));
        }
        all
    };
    let wanted = [7, 8].map(|number| {
        let mut all = Vec::new();
        problem.with_cpu(1, 1 << 16, &mut |worker, _| all = found(worker, number, true)).unwrap();
        all
    });
    assert!(wanted[0].iter().any(|(verdicts, ..)| verdicts.iter().any(|&verdict| verdict < NO_SEPARATOR)));
    for round in 0..3 {
        for (number, wanted) in [7, 7, 8, 7].map(|number| (number, &wanted[number as usize - 7])) {
            let found = found(&mut gpu, number, false);
            for (found, wanted) in found.iter().zip(wanted) {
                // For "stable.fast", the side does not matter.
                let is_fast = options.method == Method::StableFast;
                let side = |verdicts: &[u32]| -> Vec<u32> {
                    let without = |&verdict: &u32| match verdict {
                        NO_SEPARATOR.. => NO_SEPARATOR,
                        of_side if is_fast => of_side & !SECOND,
                        of_side => of_side,
                    };
                    verdicts.iter().map(without).collect()
                };
                assert_eq!((side(&found.0), found.2), (side(&wanted.0), wanted.2), "round {round}, level {number}");
                let close = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 1e-9 * b.abs();
                assert!(found.1.iter().zip(&wanted.1).all(close), "round {round}, level {number}");
            }
            // Other work in between.
            match round {
                0 => {
                    let mut batch = Batch::new();
                    (0..50).for_each(|x| batch.push(x, 51, &[52, 53]));
                    gpu.p_values(&batch, &mut Unobserved).unwrap();
                }
                1 => drop(skeleton(&mut gpu, &of_zero, &mut p_max, &mut Unobserved).unwrap()),
                _ => {}
            }
        }
    }
}

/// Searches on a rank that has several GPUs.
#[test]
#[ignore = "needs a GPU"]
fn a_rank_with_a_team() {
    let problem = dense(1, 1.0);
    let Task::Search(_, options) = &problem.task else { panic!("no search") };
    let wanted = Wanted::new(problem.on_cpu(1, 1 << 16, false));
    let make = |run: &mut dyn FnMut(&mut dyn Worker)| {
        let names = ["one".to_string(), "two".to_string()];
        run(&mut cuda::team(&names, |_| engine(&problem, CudaOptions::default()).unwrap()).unwrap());
    };
    let found = with_ranks(&[Manner::Sound], make, |cluster| searched(cluster, options, true, &mut Unobserved));
    wanted.compare("a team in a rank", true, &found.map(Found::Search), Digits::Nine);
}

/// Stops a search while the GPU is at a level. The call returns, and the GPU can run another search.
#[test]
#[ignore = "needs a GPU"]
fn a_stop_within_a_level_leaves_a_gpu_that_can_go_on() {
    struct Stops(usize);
    impl Observer for Stops {
        fn look(&mut self) -> Result<()> {
            self.0 = self.0.saturating_sub(1);
            if self.0 == 0 {
                return Err(Error::Interrupted);
            }
            Ok(())
        }
        fn progress(&mut self, _: usize, _: f64, _: f64) -> Result<()> {
            self.look()
        }
    }
    let problem = dense(1, 1.0);
    let Task::Search(_, options) = &problem.task else { panic!("no search") };
    let wanted = Wanted::new(problem.on_cpu(1, 1 << 16, false));
    let make = |run: &mut dyn FnMut(&mut dyn Worker)| {
        run(&mut engine(&problem, small(CudaOptions::default())).unwrap().unwrap());
    };
    let mut stopped = 0;
    with_ranks(&[Manner::Sound; 2], make, |cluster| {
        for looks in [1, 2, 4, 9, 1000] {
            let found = searched(cluster, options, true, &mut Stops(looks));
            stopped += usize::from(matches!(found, Err(Error::Interrupted)));
            if found.is_err() {
                let again = searched(cluster, options, true, &mut Unobserved).map(Found::Search);
                wanted.compare(format!("after a stop at {looks}"), true, &again, Digits::Nine);
            }
        }
    });
    assert!(stopped > 1, "{stopped}");
}
