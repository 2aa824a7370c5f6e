//! Checks that sweeps (all subsets of some candidates at once) agree with pcalg's formula set by set, on any machine.

use crate::support::problems::{correlation_matrix, samples, Random};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::engine::question_team::QuestionTeam;
use pcgpu_core::graph::subsets;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::level::Verdict;
use pcgpu_core::search::sweep::{Sweep, Swept};
use pcgpu_core::search::worker::Worker;
use pcgpu_core::{Error, Result};

/// A problem: correlations of p variables, and the sweeps to run.
pub struct Problem {
    pub name: String,
    pub c: Vec<f64>,
    pub p: usize,
    pub n: f64,
    pub alpha: f64,
    pub sweeps: Vec<Sweep>,
}

impl Problem {
    pub fn gauss(&self) -> Gauss<'_> {
        Gauss::new(by_column(&self.c, self.p).unwrap(), self.n, Reading::GaussCItest).unwrap()
    }
}

fn sweep(p: usize, pair: [u32; 2], candidates: usize, sizes: std::ops::RangeInclusive<usize>) -> Sweep {
    let others = (0..p as u32).filter(|v| !pair.contains(v)).take(candidates).collect();
    Sweep { pair, candidates: others, sizes }
}

/// Returns problems with up to `most` candidates: strong and weak dependences, copies and sums among the columns, few samples, missing
/// correlations. Some have p-values that a set raises above alpha at any size.
pub fn problems(most: usize) -> Vec<Problem> {
    let mut random = Random(1019);
    let mut all = Vec::new();
    for (kind, n, density, singular, alpha) in [
        ("strong", 400, 0.5, 0.0, 1e-4),
        ("weak", 300, 0.2, 0.0, 0.01),
        ("copies and sums", 200, 0.3, 0.4, 1e-3),
        ("few samples", 24, 0.4, 0.0, 1e-3),
        ("any p-value", 100, 0.3, 0.0, 1e-30),
    ] {
        for candidates in [0, 1, 2, 3, 4, 7, 11, 12, 13, 16, 17, 18].into_iter().filter(|&count| count <= most) {
            let p = candidates + 2;
            let c = correlation_matrix(&samples(&mut random, p, n, density, singular));
            let largest = candidates.min(n - 4);
            let mut sweeps = vec![sweep(p, [0, 1], candidates, 0..=largest)];
            if candidates > 3 {
                let middle = candidates / 2;
                sweeps.push(sweep(p, [p as u32 - 1, 2], candidates, 2..=2));
                sweeps.push(sweep(p, [1, p as u32 - 2], candidates, middle..=largest));
                sweeps.push(sweep(p, [3, 0], candidates - 1, 3..=(middle + 1).min(largest)));
            }
            let name = format!("{kind}, {candidates} candidates");
            all.push(Problem { name, c, p, n: n as f64, alpha, sweeps });
        }
    }
    // A missing correlation between candidates, and one within the pair.
    for [x, y] in [[5, 6], [0, 1]] {
        let p = most.min(13) + 2;
        let mut c = correlation_matrix(&samples(&mut random, p, 200, 0.4, 0.0));
        (c[x * p + y], c[y * p + x]) = (f64::NAN, f64::NAN);
        let sweeps = vec![sweep(p, [0, 1], p - 2, 2..=p - 2), sweep(p, [1, 0], p - 2, 4..=4)];
        all.push(Problem { name: format!("missing {x}, {y}"), c, p, n: 200.0, alpha: 1e-6, sweeps });
    }
    all
}

/// Returns the verdicts of pcalg's formula, set by set.
fn one_by_one(gauss: &Gauss, sweep: &Sweep, (alpha, na_delete): (f64, bool)) -> Vec<Verdict> {
    let [x, y] = sweep.pair.map(|v| v as usize);
    let mut verdicts = Vec::new();
    for size in sweep.sizes.clone() {
        let sets = subsets::binomial(sweep.candidates.len(), size).unwrap();
        let mut best = (-1.0, 0);
        let mut places = vec![0u32; size];
        for rank in 0..sets {
            subsets::unrank(sweep.candidates.len(), rank, &mut places);
            let set: Vec<u32> = places.iter().map(|&at| sweep.candidates[at as usize]).collect();
            let p = match gauss.p_value(x, y, &set) {
                Ok(p) if p.is_nan() => f64::from(u8::from(na_delete)),
                Ok(p) => p,
                Err(reason) => {
                    verdicts.push(Verdict::Undefined { rank, reason: reason.0 });
                    return verdicts;
                }
            };
            if p >= alpha {
                verdicts.push(Verdict::Independent { rank, p });
                return verdicts;
            }
            if p > best.0 {
                best = (p, rank);
            }
        }
        verdicts.push(Verdict::Dependent { rank: best.1, p: best.0 });
    }
    verdicts
}

/// Compares verdicts. Ranks of sets that end a size must be the same, p-values to 1e-9. The set with the largest p may be another one with the
/// same p.
fn same(label: &str, found: &[Verdict], wanted: &[Verdict]) {
    assert_eq!(found.len(), wanted.len(), "{label}: {found:?} and {wanted:?}");
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs() || (a < 1e-300 && b < 1e-300);
    for (found, wanted) in found.iter().zip(wanted) {
        let same = match (found, wanted) {
            (Verdict::Dependent { p: a, .. }, Verdict::Dependent { p: b, .. }) => close(*a, *b),
            (Verdict::Independent { rank: i, p: a }, Verdict::Independent { rank: j, p: b }) => i == j && close(*a, *b),
            (found, wanted) => found == wanted,
        };
        assert!(same, "{label}: {found:?} and {wanted:?}");
    }
}

/// Runs the sweeps of a problem on a worker.
pub fn swept(
    worker: &mut dyn Worker,
    problem: &Problem,
    na_delete: bool,
    observer: &mut dyn Observer,
) -> Result<Vec<Swept>> {
    worker.sweeper().unwrap().sweep(&problem.sweeps, (problem.alpha, na_delete), observer)
}

/// Runs the sweeps of a problem on the CPU.
pub fn on_threads(problem: &Problem, na_delete: bool, threads: usize) -> Vec<Swept> {
    let mut engine = CpuEngine::new(GaussKernel::new(problem.gauss(), problem.alpha), threads);
    swept(&mut engine, problem, na_delete, &mut Unobserved).unwrap()
}

#[test]
fn sweeps_say_what_the_formula_says_set_by_set() {
    let mut ended = [0; 3];
    for problem in problems(13) {
        for na_delete in [false, true] {
            let found = on_threads(&problem, na_delete, 1);
            assert_eq!(found.len(), problem.sweeps.len());
            for (sweep, found) in problem.sweeps.iter().zip(&found) {
                let wanted = one_by_one(&problem.gauss(), sweep, (problem.alpha, na_delete));
                let label = format!("{}, {:?}, {:?}, {na_delete}", problem.name, sweep.pair, sweep.sizes);
                same(&label, &found.verdicts, &wanted);
                match wanted.last() {
                    Some(Verdict::Dependent { .. }) => ended[0] += 1,
                    Some(Verdict::Independent { .. }) => ended[1] += 1,
                    _ => ended[2] += 1,
                }
            }
        }
    }
    // All kinds of ends occur.
    assert!(ended.iter().all(|&count| count > 3), "{ended:?}");
}

/// Sweeps more candidates than a part has. Parts run on any threads, in any order.
#[test]
fn sweeps_in_parts_say_the_same() {
    for problem in problems(18).into_iter().filter(|problem| problem.p > 17) {
        let one = on_threads(&problem, true, 1);
        let four = on_threads(&problem, true, 4);
        for (sweep, (one, four)) in problem.sweeps.iter().zip(one.iter().zip(&four)) {
            assert_eq!(one.verdicts, four.verdicts, "{}", problem.name);
            // Small sizes can be asked set by set.
            let sizes = *sweep.sizes.start()..=(*sweep.sizes.end()).min(4);
            let small = Sweep { sizes: sizes.clone(), ..sweep.clone() };
            let wanted = one_by_one(&problem.gauss(), &small, (problem.alpha, true));
            let count = wanted.len().min(one.verdicts.len());
            same(&problem.name, &one.verdicts[..count], &wanted[..count]);
        }
    }
}

#[test]
fn a_sweep_can_be_interrupted() {
    struct Stops(u32);
    impl Observer for Stops {
        fn progress(&mut self, _: usize, done: f64, total: f64) -> Result<()> {
            assert!(done <= total);
            self.0 += 1;
            if self.0 > 2 {
                Err(Error::Interrupted)
            } else {
                Ok(())
            }
        }
    }
    let mut random = Random(5);
    let p = 30;
    // No set separates, so all are tested.
    let c = correlation_matrix(&samples(&mut random, p, 5000, 0.7, 0.0));
    let sweeps = vec![sweep(p, [0, 1], p - 2, 3..=p - 2)];
    let problem = Problem { name: "long".into(), c, p, n: 5000.0, alpha: 1.0 - 1e-13, sweeps };
    let mut engine = CpuEngine::new(GaussKernel::new(problem.gauss(), problem.alpha), 2);
    let start = std::time::Instant::now();
    let outcome = swept(&mut engine, &problem, true, &mut Stops(0));
    assert_eq!(outcome.unwrap_err(), Error::Interrupted);
    assert!(start.elapsed().as_secs() < 20);
}

/// Sweeps on a team, whose last member that can sweep does the work.
#[test]
fn a_team_sweeps() {
    for problem in problems(12).iter().step_by(5) {
        let engine = || CpuEngine::new(GaussKernel::new(problem.gauss(), problem.alpha), 1);
        let mut team = QuestionTeam::new(Pool::new(1)).with("one", engine()).with("two", engine());
        assert_eq!(swept(&mut team, problem, true, &mut Unobserved).unwrap(), on_threads(problem, true, 1));
        let count = |size| team.sweeper().unwrap().takes(12, size, 9);
        assert_eq!([1, 3, 4, 6, 7].map(count), [None, None, Some(4), Some(9), Some(9)]);
    }
}
