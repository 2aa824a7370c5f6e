//! Checks that several GPUs answer as one does, to the last bit, and that the remaining ones do so if some fail. A GPU may be in a team twice.

use std::ffi::{c_int, c_void, CStr};
use std::process::Command;

use crate::driver::{driver, own_function};
use crate::gauss_cuda::reading;
use crate::support::answer::{self, Answer, Digits};
use crate::support::cuda::{emulated, planned, same_outcome, StopAt};
use crate::support::discrete::{self, RULES};
use crate::support::golden::cases;
use crate::support::kept::compare as compare_answers;
use crate::support::problems::{correlation_matrix, dense_problem, problem, samples, Random};
use pcgpu_core::ci::discrete::{Discrete, Rule, Statistic};
use pcgpu_core::ci::gauss::{FisherZ, Gauss};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::{self, CudaEngine, CudaOptions, SearchStrategy};
use pcgpu_core::engine::team::Team;
use pcgpu_core::engine::LevelOne;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{Method, Options};
use pcgpu_core::team::{Share, TeamReport};
use pcgpu_core::{Error, Result};

/// An answer, and the team's report.
type Outcome = (Result<Answer>, TeamReport);

fn searched(worker: &mut dyn Worker, options: &Options, compact: bool, observer: &mut dyn Observer) -> Outcome {
    (answer::searched(worker, options, compact, observer), worker.team())
}

/// Returns the GPUs of each team: one GPU several times, and each GPU once.
fn teams() -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..device::devices(false).unwrap().len()).collect();
    match (emulated(), all.len()) {
        (true, 1) => vec![vec![0, 0]],
        (true, _) => vec![all],
        (false, 1) => vec![vec![0, 0], vec![0, 0, 0]],
        (false, _) => vec![vec![0, 0], all],
    }
}

fn team<'a>(gpus: &[usize], make: impl Fn(usize) -> Result<CudaEngine<'a>>) -> Result<Team<'a>> {
    let names: Vec<String> = gpus.iter().enumerate().map(|(at, gpu)| format!("cuda:{gpu} as {at}")).collect();
    cuda::team(&names, |at| make(gpus[at]))
}

/// Checks that some GPUs received data, and that some returned results.
fn check_copies(report: &TeamReport, gpus: usize) {
    let of_zero: Vec<&Share> = report.shares.iter().filter(|share| share.level == Some(0)).collect();
    assert!(of_zero.len() == gpus && of_zero.iter().any(|share| share.moved.to > 0), "{report:?}");
    assert!(of_zero.iter().any(|share| share.moved.from > 0), "{report:?}");
}

/// Compares all teams with one GPU. `make(gpu, share)` makes an engine with shards of this relative size. Returns how many shares had work.
fn compare<'a>(label: &str, options: &Options, make: impl Fn(usize, f64) -> Result<CudaEngine<'a>>) -> u64 {
    let mut shards = 0;
    for compact in [false, true] {
        let one = searched(&mut make(0, 1.0).unwrap(), options, compact, &mut Unobserved).0;
        for gpus in teams() {
            let mut team = team(&gpus, |gpu| make(gpu, 1e-9)).unwrap();
            let (found, report) = searched(&mut team, options, compact, &mut Unobserved);
            same_outcome(format!("{label} on {gpus:?}, compact {compact}"), &found, &one);
            assert_eq!(report.lost, []);
            let worked = |share: &&Share| share.level == Some(0) || share.shards > 0;
            shards += report.shares.iter().filter(worked).count() as u64;
            // Some problems have nothing to test.
            let has_tested = found.as_ref().is_ok_and(|found| found.tests.iter().any(|&tests| tests > 0));
            if has_tested && options.method != Method::Original {
                check_copies(&report, gpus.len());
            }
            // Again, on what the first search left.
            if emulated() && compact {
                continue;
            }
            let (again, _) = searched(&mut team, options, compact, &mut Unobserved);
            same_outcome(format!("{label} on {gpus:?} again"), &again, &one);
        }
    }
    shards
}

#[test]
#[ignore = "needs a GPU"]
fn gaussian_searches() {
    let mut shares = 0;
    for case in cases("gauss-").into_iter().filter(|case| case.p() <= 40 || !emulated()) {
        let c = case.correlations();
        for (method, _) in case.answers().into_iter().filter(|(method, _)| *method != Method::Original) {
            let gauss = Gauss::new(by_column(&c, case.p()).unwrap(), case.n(), reading(method)).unwrap();
            let options = case.options(method);
            shares += compare(&case.name, &options, |ordinal, launch_share| {
                CudaEngine::new(gauss, options.alpha, CudaOptions { ordinal, launch_share, ..CudaOptions::default() })
            });
        }
    }
    assert!(shares > if emulated() { 50 } else { 100 }, "{shares}");
    for number in 0..if emulated() { 10 } else { 100 } {
        let problem = problem(number);
        let reading = reading(problem.options.method);
        let gauss = Gauss::new(by_column(&problem.c, problem.options.p).unwrap(), problem.n, reading).unwrap();
        for wide_from in [None, Some(0)] {
            compare(&format!("problem {number}"), &problem.options, |ordinal, launch_share| {
                let cuda = CudaOptions { ordinal, launch_share, wide_from, ..CudaOptions::default() };
                CudaEngine::new(gauss, problem.options.alpha, cuda)
            });
        }
    }
}

/// Compares level 1 by lists, columns and masks, and by all three together.
#[test]
#[ignore = "needs a GPU"]
fn dense_searches() {
    // 129 and 70 variables; more on a GPU.
    for number in (0..12).filter(|number| [1, 3].contains(number) || !emulated()) {
        let dense = dense_problem(number);
        let options = Options { m_max: 1.0, ..dense.options.clone() };
        // Level 2 with many neighbours takes an emulated GPU minutes.
        let further = (!emulated()).then(|| Options { m_max: 2.0, ..options.clone() });
        let gauss = Gauss::new(by_column(&dense.c, options.p).unwrap(), dense.n, reading(options.method)).unwrap();
        // An emulated GPU skips the way by density, which is one of the others.
        let ways = [LevelOne::ByDensity, LevelOne::Lists, LevelOne::Columns, LevelOne::Masks];
        for level_one in ways.into_iter().skip(usize::from(emulated())) {
            let make = |ordinal, launch_share| {
                let cuda = CudaOptions { ordinal, launch_share, level_one, ..CudaOptions::default() };
                CudaEngine::new(gauss, options.alpha, cuda)
            };
            for options in further.iter().chain([&options]) {
                compare(&format!("dense {number} {level_one:?} to level {}", options.m_max), options, make);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn discrete_searches() {
    for case in cases("dis-").iter().chain(&cases("bin-")) {
        let data = case.coded();
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt: case.json["adaptDF"].as_bool().unwrap() });
        for (method, _) in case.answers().into_iter().filter(|(method, _)| *method != Method::Original) {
            let options = case.options(method);
            compare(&case.name, &options, |ordinal, launch_share| {
                CudaEngine::discrete(
                    test,
                    options.alpha,
                    CudaOptions { ordinal, launch_share, ..CudaOptions::default() },
                )
            });
        }
    }
    for number in 0..if emulated() { 8 } else { 80 } {
        let mut random = Random(number * 977 + 5);
        let p = 3 + random.below(10);
        let missing = if random.uniform() < 0.3 { 0.03 } else { 0.0 };
        let data = discrete::problem(&mut random, p, 500, missing).coded();
        let test = Discrete::new(&data, [Statistic::G2, Statistic::X2][random.below(2)], RULES[random.below(4)]);
        let method = [Method::Stable, Method::StableFast][random.below(2)];
        let options = Options { method, ..Options::new(p, [0.01, 0.2][random.below(2)]) };
        compare(&format!("discrete {number}"), &options, |ordinal, launch_share| {
            CudaEngine::discrete(test, options.alpha, CudaOptions { ordinal, launch_share, ..CudaOptions::default() })
        });
    }
}

#[test]
#[ignore = "needs a GPU"]
fn what_a_team_cannot_do_is_refused() {
    let c = [1.0, 0.5, 0.4, 0.5, 1.0, 0.3, 0.4, 0.3, 1.0];
    let options = Options { method: Method::Stable, ..Options::new(3, 0.05) };
    let gauss = Gauss::new(by_column(&c, 3).unwrap(), 50.0, reading(options.method)).unwrap();
    let of = |gpus: &[usize], strategy| {
        team(gpus, |ordinal| CudaEngine::new(gauss, 0.05, CudaOptions { ordinal, strategy, ..CudaOptions::default() }))
    };
    let set = SearchStrategy::Set { theta: 64, delta: 2 };
    let gpucsl = SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 64 };
    for outcome in
        [of(&[0, 0], set), of(&[0, 0], gpucsl), of(&[0, 999], SearchStrategy::Shared), of(&[], SearchStrategy::Shared)]
    {
        assert!(matches!(outcome.map(drop), Err(Error::Argument { .. })));
    }
    // A search without a level, and a stop in each level.
    let mut one = of(&[0, 0], SearchStrategy::Shared).unwrap();
    let none = Options { m_max: -1.0, ..options.clone() };
    assert!(searched(&mut one, &none, false, &mut Unobserved).0.is_ok());
    for level in [0, 1] {
        let mut stop = StopAt(level, None);
        let (found, report) = searched(&mut one, &options, false, &mut stop);
        assert_eq!(found, Err(Error::Interrupted), "level {level}");
        assert_eq!(report.lost, []);
    }
    assert!(searched(&mut one, &options, false, &mut Unobserved).0.is_ok());
}

/// Searches with slices narrower than all variables, because more do not stay in a GPU's cache, and with several parts for each GPU.
#[test]
#[ignore = "needs a GPU"]
fn correlations_cross_once_for_all_parts_of_level_one() {
    let (p, group) = (3300, 24);
    let cell = |x: usize, y: usize| match (x == y, x / group == y / group) {
        (true, _) => 1.0,
        (_, true) => 0.3,
        _ => 0.0,
    };
    let c: Vec<f64> = (0..p * p).map(|at| cell(at / p, at % p)).collect();
    let options = Options { m_max: 1.0, ..Options::new(p, 0.01) };
    let gauss = Gauss::new(by_column(&c, p).unwrap(), 100.0, reading(options.method)).unwrap();
    let mut cpu = CpuEngine::new(GaussKernel::new(gauss, options.alpha), 2);
    let wanted = answer::searched(&mut cpu, &options, true, &mut Unobserved);
    // Distributed from the start.
    let make = |ordinal| {
        CudaEngine::new(gauss, options.alpha, CudaOptions { ordinal, launch_share: 0.5, ..CudaOptions::default() })
    };
    let (found, report) = searched(&mut team(&[0, 0], make).unwrap(), &options, true, &mut Unobserved);
    compare_answers("slices", &found, &wanted, Digits::Nine);
    let of_one: Vec<&Share> = report.shares.iter().filter(|share| share.level == Some(1)).collect();
    let parts = of_one.iter().map(|share| share.shards).sum::<u64>();
    let crossed = |share: &&&Share| share.moved.to as f64 / (8 * p * p) as f64;
    assert!(parts >= 3 && of_one.iter().all(|share| crossed(&share) < 1.2), "{report:?}");
    assert!(of_one.iter().any(|share| crossed(&share) > 0.9), "{report:?}");
}

/// Checks that one GPU runs a short search, because distributing short levels takes longer than running them.
#[test]
#[ignore = "needs a GPU"]
fn a_short_search_runs_on_one_gpu() {
    let data = discrete::problem(&mut Random(7), 12, 400, 0.0).coded();
    let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt: true });
    let of_codes = Options { method: Method::StableFast, ..Options::new(12, 0.2) };
    for number in [3, 4] {
        let problem = problem(number);
        let options = &problem.options;
        let gauss = Gauss::new(by_column(&problem.c, options.p).unwrap(), problem.n, reading(options.method)).unwrap();
        alone(options, |ordinal| {
            CudaEngine::new(gauss, options.alpha, CudaOptions { ordinal, ..CudaOptions::default() })
        });
        alone(&of_codes, |ordinal| {
            CudaEngine::discrete(test, of_codes.alpha, CudaOptions { ordinal, ..CudaOptions::default() })
        });
    }
}

fn alone<'a>(options: &Options, make: impl Fn(usize) -> Result<CudaEngine<'a>>) {
    for compact in [false, true] {
        let one = searched(&mut make(0).unwrap(), options, compact, &mut Unobserved).0;
        let mut team = team(&[0, 0], &make).unwrap();
        // Time decides, and a busy machine may delay a search for as long as a long level takes.
        let mut alone = (0..20).filter(|_| {
            let (found, report) = searched(&mut team, options, compact, &mut Unobserved);
            same_outcome(format!("alone, compact {compact}"), &found, &one);
            assert!(report.lost.is_empty() && !team.memory_plan().is_empty());
            !report.shares.is_empty() && report.shares.iter().all(|share| share.machine == "cuda:0")
        });
        assert_eq!(alone.by_ref().take(2).count(), 2);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_search_that_no_gpu_holds_is_shared() {
    let mut random = Random(3);
    let c = correlation_matrix(&samples(&mut random, 300, 60, 0.02, 0.0));
    let options = Options { method: Method::StableFast, ..Options::new(300, 0.01) };
    let gauss = Gauss::new(by_column(&c, 300).unwrap(), 60.0, reading(options.method)).unwrap();
    let data = discrete::problem(&mut Random(7), 30, 4000, 0.0).coded();
    let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt: true });
    let of_codes = Options { method: Method::StableFast, m_max: 1.0, ..Options::new(30, 0.2) };
    shared("gauss", &options, |cuda| CudaEngine::new(gauss, options.alpha, cuda));
    shared("discrete", &of_codes, |cuda| CudaEngine::discrete(test, of_codes.alpha, cuda));
}

fn shared<'a>(label: &str, options: &Options, make: impl Fn(CudaOptions) -> Result<CudaEngine<'a>>) {
    for compact in [false, true] {
        let mut whole = make(CudaOptions::default()).unwrap();
        let one = searched(&mut whole, options, compact, &mut Unobserved).0;
        let all = planned(&whole);
        drop(whole);
        let parts: &[(u64, u64)] = match (emulated(), compact) {
            (false, _) => &[(2, 2), (3, 2), (2, 1)],
            (true, false) => &[(2, 2), (3, 2)],
            (true, true) => &[(2, 1)],
        };
        for &(first, second) in parts {
            let budgets = [first, second].map(|part| Some(all / part));
            let within = |at: usize| {
                make(CudaOptions { memory_budget: budgets[at], launch_share: 1e-9, ..CudaOptions::default() })
            };
            let mut team = cuda::team(&["one".into(), "other".into()], within).unwrap();
            let (found, report) = searched(&mut team, options, compact, &mut Unobserved);
            same_outcome(format!("{label}, 1/{first} and 1/{second}, compact {compact}"), &found, &one);
            assert_eq!(report.lost, []);
            let has_worked = |name: &&str| report.shares.iter().any(|s| s.machine == **name && s.shards > 0);
            assert_eq!(["one", "other"].iter().filter(|name| has_worked(name)).count(), 2, "{report:?}");
        }
        // A GPU with too little memory for anything leaves all work to the other.
        let little = |at: usize| {
            let memory_budget = if at == 0 { Some(6) } else { Some(all / 2) };
            make(CudaOptions { memory_budget, ..CudaOptions::default() })
        };
        let mut team = cuda::team(&["one".into(), "other".into()], little).unwrap();
        let (found, report) = searched(&mut team, options, compact, &mut Unobserved);
        same_outcome(format!("{label}, compact {compact}, 6 bytes"), &found, &one);
        assert!(report.lost.len() == 1 && report.lost[0].reason.contains("6 bytes"), "{:?}", report.lost);
        assert!(!report.lost[0].failed);
    }
}

const HERE: &str = "PCGPU_LOSE_CARDS";

#[test]
fn gpus_that_fail_are_made_up_for() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "team_cuda::lost", "--nocapture"])
        .env(HERE, "1")
        .env("FAKE_CUDA_GPUS", "3")
        .env("LD_LIBRARY_PATH", driver())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.matches(" lost, answered").count() == 180, "{text}");
}

/// Makes a GPU fail at its launch with this number.
fn lose(gpu: c_int, launch: usize) {
    fail(c"emulated_lose", gpu, launch);
}

/// Makes a GPU fail at the event with this number, of the kind that the driver's function counts.
fn fail(function: &CStr, gpu: c_int, number: usize) {
    let found = own_function(function);
    // SAFETY: the driver has functions of these names, of this type.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(c_int, usize)>(found)(gpu, number) };
}

/// Runs in a process with the driver; does nothing elsewhere.
#[test]
fn lost() {
    if std::env::var_os(HERE).is_none() {
        return;
    }
    let mut random = Random(7);
    let p = 36;
    let c = correlation_matrix(&samples(&mut random, p, 120, 0.3, 0.2));
    let options = Options { method: Method::StableFast, m_max: 2.0, ..Options::new(p, 0.01) };
    let gauss = Gauss::new(by_column(&c, p).unwrap(), 120.0, reading(options.method)).unwrap();
    let data = discrete::problem(&mut random, 9, 500, 0.0).coded();
    let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt: true });
    let of_codes = Options { method: Method::StableFast, ..Options::new(9, 0.2) };
    let on = |ordinal| CudaOptions { ordinal, launch_share: 1e-9, ..CudaOptions::default() };
    without_some("gauss", &options, |ordinal| CudaEngine::new(gauss, options.alpha, on(ordinal)));
    // The first GPU runs the search alone until it fails.
    without_some("alone", &options, |ordinal| {
        CudaEngine::new(gauss, options.alpha, CudaOptions { ordinal, ..CudaOptions::default() })
    });
    let to_one = Options { m_max: 1.0, ..options.clone() };
    without_some("level 1", &to_one, |ordinal| CudaEngine::new(gauss, options.alpha, on(ordinal)));
    without_some("discrete", &of_codes, |ordinal| CudaEngine::discrete(test, of_codes.alpha, on(ordinal)));
    // Correlations that one GPU computes from data.
    let mut x: Vec<f64> = (0..40 * 30).map(|_| random.normal()).collect();
    for v in 1..40 {
        (0..30).for_each(|row| x[v * 30 + row] += 0.6 * x[(v / 2) * 30 + row]);
    }
    for column in x.chunks_mut(30) {
        let mean = column.iter().sum::<f64>() / 30.0;
        column.iter_mut().for_each(|value| *value -= mean);
    }
    let of_data = Options { method: Method::Stable, ..Options::new(40, 0.05) };
    let fisher = FisherZ::new(30.0, reading(of_data.method)).unwrap();
    let x = by_column(&x, 40).unwrap();
    without_some("data", &of_data, |ordinal| CudaEngine::of_data(fisher, x, of_data.alpha, on(ordinal)));
    // Enough questions for each GPU to get some.
    let mut batch = Batch::new();
    (0..1000).for_each(|_| (2..p).for_each(|y| batch.push(0, y, &[1])));
    let asked = || {
        let mut team = team(&[0, 1], |ordinal| CudaEngine::new(gauss, 0.05, on(ordinal))).unwrap();
        let values = team.p_values(&batch, &mut Unobserved).unwrap();
        (values, team.team().lost.into_iter().map(|lost| lost.machine).collect::<Vec<String>>())
    };
    let (values, none) = asked();
    assert!(none.is_empty());
    let fails = |_: usize| {
        lose(0, 1);
        let (found, lost) = asked();
        lose(0, 0);
        assert_eq!(found, values);
        lost == ["cuda:0 as 0"]
    };
    // It is not known which GPU comes first.
    assert!((0..10).any(fails));
    assert_eq!(asked(), (values.clone(), none));
}

fn without_some<'a>(label: &str, options: &Options, make: impl Fn(usize) -> Result<CudaEngine<'a>>) {
    let [square, left] =
        [false, true].map(|compact| searched(&mut make(0).unwrap(), options, compact, &mut Unobserved).0);
    assert!(square.is_ok() && left.is_ok());
    for fail in [vec![0], vec![2], vec![0, 1]] {
        for launch in [1, 2, 4, 7, 9, 11, 13, 15, 17, 19, 22, 30] {
            let compact = launch % 2 == 0;
            let one = if compact { &left } else { &square };
            let mut team = team(&[0, 1, 2], &make).unwrap();
            for &gpu in &fail {
                lose(gpu, launch + gpu as usize);
            }
            let (found, report) = searched(&mut team, options, compact, &mut Unobserved);
            same_outcome(format!("{label}, {fail:?} at launch {launch}: {:?}", report.lost), &found, one);
            println!("{label}: {:?} lost, answered", report.lost);
            for lost in &report.lost {
                assert!(fail.iter().any(|gpu| lost.machine.starts_with(&format!("cuda:{gpu}"))), "{lost:?}");
                assert!(lost.reason.contains("CUDA_ERROR_LAUNCH_FAILED"), "{lost:?}");
            }
            fail.iter().for_each(|&gpu| lose(gpu, 0));
        }
    }
    // No GPU is left.
    let mut team = team(&[0, 1, 2], &make).unwrap();
    (0..3).for_each(|gpu| lose(gpu, 9));
    let (found, report) = searched(&mut team, options, false, &mut Unobserved);
    assert!(matches!(found, Err(Error::Device(_))) && report.lost.len() == 3, "{found:?}");
    (0..3).for_each(|gpu| lose(gpu, 0));
    drop(team);
    assert_eq!(searched(&mut make(0).unwrap(), options, false, &mut Unobserved).0, square);
}
