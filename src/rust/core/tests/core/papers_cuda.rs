//! Checks the papers' mappings on paths of their own: launches cut into many, working memory outside shared memory, tables left to the CPU. The
//! tests of our own mappings (gauss_cuda.rs, discrete_cuda.rs) also compare the papers' with the CPU, on problems of all kinds.

use crate::gauss_cuda::{on_cpu, on_cuda, reading};
use crate::support::cuda::{emulated, same};
use crate::support::problems::{correlation_matrix, dense_problem, problem, samples, Random};
use pcgpu_core::ci::discrete::{Coded, Discrete, Rule, Statistic};
use pcgpu_core::ci::gauss::Gauss;
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel};
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions, SearchStrategy};
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Method, Options, Skeleton};
use pcgpu_core::{Error, Result};

const GPUCSL: SearchStrategy = SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 64 };
const PAPERS: [SearchStrategy; 3] =
    [SearchStrategy::Edge { beta: 2, gamma: 32 }, SearchStrategy::Set { theta: 64, delta: 2 }, GPUCSL];

/// Runs a Gaussian search on the GPU and on the CPU and compares them, errors included.
fn compare(label: &str, c: &[f64], n: f64, options: &Options, cuda: CudaOptions) {
    let gauss = Gauss::new(by_column(c, options.p).unwrap(), n, reading(options.method)).unwrap();
    match (on_cuda(gauss, options, cuda), on_cpu(gauss, options)) {
        (Ok(found), Ok(cpu)) => same(label, &found, &cpu),
        (found, cpu) => assert_eq!(found.map(drop), cpu.map(drop), "{label}"),
    }
}

/// Runs launches with one rank, or a few ranks, of one row.
#[test]
#[ignore = "needs a GPU"]
fn launches_of_little_have_the_answer_of_large_ones() {
    for strategy in PAPERS {
        for number in 0..if emulated() { 6 } else { 60 } {
            for (problem, launch_share) in
                [(problem(number), 1e-9), (problem(number), 1e-6), (dense_problem(number), 1e-5)]
            {
                let of_dense = problem.options.p > 14;
                if problem.options.method == Method::Original || (of_dense && emulated() && number != 3) {
                    continue;
                }
                let cuda = CudaOptions { strategy, launch_share, ..CudaOptions::default() };
                compare(&format!("problem {number} {cuda:?}"), &problem.c, problem.n, &problem.options, cuda);
            }
        }
    }
}

/// Searches with sets so large that a block's working memory is not in shared memory, and that this has no room for a row of the graph.
#[test]
#[ignore = "needs a GPU"]
fn large_sets_have_their_working_memory_elsewhere() {
    let p = 13;
    let c = correlation_matrix(&samples(&mut Random(3), p, 4000, 0.9, 0.0));
    let gpucsl = [32, 256].map(|delta| SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta });
    for strategy in gpucsl.into_iter().chain([PAPERS[0], PAPERS[1]]) {
        for method in [Method::Stable, Method::StableFast] {
            let options = Options { method, ..Options::new(p, 0.9) };
            let cuda = CudaOptions { strategy, ..CudaOptions::default() };
            compare(&format!("{method:?} {strategy:?}"), &c, 4000.0, &options, cuda);
        }
    }
}

fn search(worker: &mut dyn Worker, options: &Options) -> Result<(Skeleton, Vec<f64>)> {
    let mut p_max = vec![0.25; options.p * options.p];
    let found = skeleton(worker, options, &mut p_max, &mut Unobserved)?;
    Ok((found, p_max))
}

/// Searches variables with so many levels that the CPU decides all tables of sets of two and more. Small tables are next to large ones, and the
/// tables of some pairs do not fit in shared memory.
#[test]
#[ignore = "needs a GPU"]
fn tables_of_any_size() {
    let (n, levels) = (400, [200, 2, 190, 3, 180, 300, 2]);
    let mut random = Random(5);
    let mut codes: Vec<i32> = Vec::new();
    for &levels in &levels {
        codes.extend((0..n).map(|i| (i * levels / n).min(random.below(levels * 4 / 3 + 1)).min(levels - 1) as i32));
    }
    let numbers = levels.map(|levels| levels as u32);
    let data = Coded::new(by_column(&codes, levels.len()).unwrap(), &numbers, false).unwrap();
    for statistic in [Statistic::G2, Statistic::X2] {
        let test = Discrete::new(&data, statistic, Rule::Bnlearn { adapt: true });
        let loose = Discrete::new(&data, statistic, Rule::Bnlearn { adapt: false });
        for (test, method) in [(test, Method::Stable), (loose, Method::Stable), (loose, Method::StableFast)] {
            let options = Options { method, m_max: 3.0, ..Options::new(levels.len(), 1e-3) };
            let cpu = search(&mut CpuEngine::new(DiscreteKernel::new(test), 2), &options).unwrap();
            for strategy in [PAPERS[0], GPUCSL, SearchStrategy::Gpucsl { beta: 2, gamma: 1, delta: 96 }] {
                let cuda = CudaOptions { strategy, ..CudaOptions::default() };
                let mut engine = CudaEngine::discrete(test, options.alpha, cuda).unwrap();
                same(&format!("{statistic:?} {method:?} {strategy:?}"), &search(&mut engine, &options).unwrap(), &cpu);
            }
        }
    }
}

#[test]
fn the_gaussian_tests_strategy_and_numbers_that_make_no_block_are_refused() {
    let data = Coded::new(by_column(&[0, 1, 1, 0], 2).unwrap(), &[2, 2], false).unwrap();
    let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt: false });
    for strategy in [
        SearchStrategy::Set { theta: 64, delta: 2 },
        SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 40 },
        SearchStrategy::Gpucsl { beta: 0, gamma: 0, delta: 160 },
        SearchStrategy::Gpucsl { beta: 3, gamma: 3, delta: 32 },
    ] {
        let refused = CudaEngine::discrete(test, 0.05, CudaOptions { strategy, ..CudaOptions::default() }).err();
        assert!(matches!(refused, Some(Error::Argument { argument: "strategy", .. })), "{refused:?}");
    }
}
