//! Checks that GPUs sweep as the CPU does, to the last bit.

use crate::support::cuda::emulated;
use crate::support::problems::{correlation_matrix, samples, Random};
use crate::sweep::{on_threads, problems, swept, Problem};
use pcgpu_core::engine::cuda::{self, CudaEngine, CudaOptions};
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::sweep::Sweep;
use pcgpu_core::search::worker::Worker;

/// Returns the problems of tests/core/sweep.rs, with only the sweeps that GPUs take.
fn taken(most: usize) -> Vec<Problem> {
    let takes = |sweep: &Sweep| sweep.candidates.len() >= 12 && *sweep.sizes.start() >= 2;
    let of = |mut problem: Problem| {
        problem.sweeps.retain(takes);
        problem
    };
    problems(most).into_iter().map(of).filter(|problem| !problem.sweeps.is_empty()).collect()
}

fn compare(label: &str, worker: &mut dyn Worker, problem: &Problem) {
    for na_delete in [false, true] {
        let found = swept(worker, problem, na_delete, &mut Unobserved).unwrap();
        let wanted = on_threads(problem, na_delete, 2);
        let verdicts = |all: &[pcgpu_core::search::sweep::Swept]| -> Vec<_> {
            all.iter().map(|swept| swept.verdicts.clone()).collect()
        };
        assert_eq!(verdicts(&found), verdicts(&wanted), "{}, {label}", problem.name);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn sweep_cuda_says_what_the_cpu_says() {
    let problems = taken(18);
    assert!(problems.len() > 5);
    for problem in &problems {
        let mut engine = CudaEngine::new(problem.gauss(), problem.alpha, CudaOptions::default()).unwrap();
        compare("a GPU", &mut engine, problem);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn sweep_cuda_of_a_team() {
    for problem in taken(if emulated() { 13 } else { 18 }).iter().step_by(2) {
        let names: Vec<String> = (0..2).map(|at| format!("cuda:0 as {at}")).collect();
        let make = |_| CudaEngine::new(problem.gauss(), problem.alpha, CudaOptions::default());
        compare("a team", &mut cuda::team(&names, make).unwrap(), problem);
    }
}

/// Runs many sweeps together, with copies of columns that leave more to the CPU than a GPU keeps.
#[test]
#[ignore = "needs a GPU"]
fn sweep_cuda_of_many_and_of_twins() {
    let mut random = Random(77);
    let (p, n) = if emulated() { (15, 200) } else { (23, 200) };
    let mut columns = samples(&mut random, p - 3, n, 0.4, 0.0);
    for v in 0..3 {
        columns.push(columns[4 + v].clone());
    }
    let c = correlation_matrix(&columns);
    let others = |pair: [u32; 2]| (0..p as u32).filter(|v| !pair.contains(v)).collect::<Vec<u32>>();
    let pairs: Vec<[u32; 2]> = (0..4).flat_map(|x| (x + 1..4).map(move |y| [x, y])).collect();
    let of = |pair: &[u32; 2]| Sweep { pair: *pair, candidates: others(*pair), sizes: 3..=p - 2 };
    let sweeps = pairs.iter().map(of).collect();
    let problem = Problem { name: "twins".into(), c, p, n: n as f64, alpha: 1e-200, sweeps };
    let mut engine = CudaEngine::new(problem.gauss(), problem.alpha, CudaOptions::default()).unwrap();
    compare("a GPU", &mut engine, &problem);
}
