//! Checks that Gaussian and discrete searches that ask in batches, on question teams of GPUs, agree with one GPU to the last bit.

use std::time::Duration;

use crate::support::cuda::{emulated, same, sets, Slowed};
use crate::support::discrete;
use crate::support::problems::{problem, Random};
use pcgpu_core::ci::discrete::{Discrete, Rule, Statistic};
use pcgpu_core::ci::gauss::{Gauss, Reading};
use pcgpu_core::engine::cpu::{CpuEngine, DiscreteKernel, GaussKernel};
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions};
use pcgpu_core::engine::question_team::QuestionTeam;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Method, Options, Skeleton};
use pcgpu_core::Result;

type Found = Result<(Skeleton, Vec<f64>)>;

fn search(worker: &mut dyn Worker, options: &Options) -> Found {
    let mut p_max = vec![0.0; options.p * options.p];
    let skeleton = skeleton(worker, options, &mut p_max, &mut Unobserved)?;
    Ok((skeleton, p_max))
}

/// Compares question teams of one, two and three engines (on two GPUs if there are two) with each other and with the CPU.
fn compare<'a>(label: &str, options: &Options, cpu: &Found, engine: impl Fn(usize) -> CudaEngine<'a>) {
    let gpus = device::devices(false).unwrap().len();
    let mut first: Option<Found> = None;
    for members in 1..4 {
        let mut team = QuestionTeam::new(Pool::new(2));
        for number in 0..members {
            let engine = Slowed(engine(number % gpus.min(2)), Duration::ZERO);
            team = team.with(format!("{number}"), engine);
        }
        let found = search(&mut team, options);
        match (&found, cpu, &first) {
            (Ok(found), Ok(cpu), None) => same(label, found, cpu),
            (Ok((found, p_max)), _, Some(Ok((one, one_p_max)))) => {
                assert_eq!((&found.graph, &found.tests, sets(found)), (&one.graph, &one.tests, sets(one)), "{label}");
                assert!(p_max.iter().zip(one_p_max).all(|(a, b)| a.to_bits() == b.to_bits()), "{label}");
            }
            (Err(error), Err(of_cpu), _) => assert_eq!(error, of_cpu, "{label}"),
            (found, cpu, _) => panic!("{label}: {:?}, the CPU {:?}", found.as_ref().err(), cpu.as_ref().err()),
        }
        first.get_or_insert(found);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn gaussian_searches_are_those_of_one_gpu() {
    for number in 0..if emulated() { 6 } else { 40 } {
        let problem = problem(number);
        for method in [Method::Original, Method::Stable] {
            let options = Options { method, ..problem.options.clone() };
            let c = by_column(&problem.c, options.p).unwrap();
            let gauss = Gauss::new(c, problem.n, Reading::GaussCItest).unwrap();
            let cpu = search(&mut CpuEngine::new(GaussKernel::new(gauss, options.alpha), 2), &options);
            compare(&format!("{number} {method:?}"), &options, &cpu, |ordinal| {
                CudaEngine::new(gauss, options.alpha, CudaOptions { ordinal, ..CudaOptions::default() }).unwrap()
            });
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn discrete_searches_are_those_of_one_gpu() {
    let mut random = Random(11);
    for number in 0..if emulated() { 3 } else { 20 } {
        let problem = discrete::problem(&mut random, 7, 200, 0.0);
        let data = problem.coded();
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt: true });
        for method in [Method::Original, Method::StableFast] {
            let options = Options { method, ..Options::new(7, 0.1) };
            let cpu = search(&mut CpuEngine::with_shards(DiscreteKernel::new(test), 2, 8), &options);
            compare(&format!("{number} {method:?}"), &options, &cpu, |ordinal| {
                CudaEngine::discrete(test, options.alpha, CudaOptions { ordinal, ..CudaOptions::default() }).unwrap()
            });
        }
    }
}
