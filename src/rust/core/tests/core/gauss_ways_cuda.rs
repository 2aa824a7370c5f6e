//! Checks that the ways in which a GPU runs a level of the Gaussian test give one answer, to the last bit.

use crate::gauss_cuda::{on_cpu, on_cuda, reading};
use crate::support::cuda::{emulated, same};
use crate::support::problems::{correlation_matrix, dense_problem, dense_problem_of, samples, Random};
use pcgpu_core::ci::gauss::Gauss;
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::engine::cuda::CudaOptions;
use pcgpu_core::engine::LevelOne;
use pcgpu_core::matrix::by_column;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::{skeleton, Method, Options, Skeleton};
use pcgpu_core::Result;

/// Compares level 1 by masks, columns and lists on dense problems that fill more than one tile. Some have copies of columns, fixed edges or
/// missing correlations.
#[test]
#[ignore = "needs a GPU"]
fn the_ways_of_level_one_agree() {
    let numbers = if emulated() { 4..12 } else { 0..60 };
    for number in numbers {
        let dense = dense_problem(number);
        let gauss = Gauss::new(by_column(&dense.c, dense.options.p).unwrap(), dense.n, reading(dense.options.method));
        let gauss = gauss.unwrap();
        let mut p_max = vec![0.0; dense.options.p * dense.options.p];
        let kernel = GaussKernel::new(gauss, dense.options.alpha).with_level_one(LevelOne::Lists);
        let cpu = skeleton(&mut CpuEngine::new(kernel, 2), &dense.options, &mut p_max, &mut Unobserved).unwrap();
        let cpu = (cpu, p_max);
        let [lists, columns, masks] = [LevelOne::Lists, LevelOne::Columns, LevelOne::Masks].map(|level_one| {
            let cuda = on_cuda(gauss, &dense.options, CudaOptions { level_one, ..CudaOptions::default() }).unwrap();
            same(&format!("problem {number} {level_one:?}"), &cuda, &cpu);
            cuda
        });
        same_bits(&format!("problem {number}: masks"), &masks, &lists);
        same_bits(&format!("problem {number}: columns"), &columns, &lists);
    }
}

/// Compares level 1 of graphs in which some rows go by lists, some by columns and some by masks, in many launches.
#[test]
#[ignore = "needs a GPU"]
fn the_ways_of_level_one_meet() {
    let mut mixed = 0;
    // Problems with three blocks of rows and with two; more problems on a GPU.
    for number in (0..60).filter(|number| [1, 6, 9, 10].contains(number) || !emulated()) {
        let dense = dense_problem(number);
        let reading = reading(dense.options.method);
        let gauss = Gauss::new(by_column(&dense.c, dense.options.p).unwrap(), dense.n, reading).unwrap();
        let cuda = |level_one| CudaOptions { level_one, launch_share: 1e-6, ..CudaOptions::default() };
        let lists = on_cuda(gauss, &dense.options, cuda(LevelOne::Lists)).unwrap();
        // The neighbours that rows have after level 0, summed over blocks of 64 rows.
        let after = Options { m_max: 0.0, ..dense.options.clone() };
        let (Skeleton { graph, .. }, _) = on_cuda(gauss, &after, CudaOptions::default()).unwrap();
        let degrees: Vec<u64> = (0..graph.p()).map(|x| graph.degree(x) as u64).collect();
        let mut ends: Vec<u64> = degrees.chunks(64).map(|block| block.iter().sum()).collect();
        ends.sort_unstable();
        mixed += usize::from(ends.len() > 2);
        let last = ends[ends.len() - 1];
        for level_one_ends in [[ends[0] + 1, last], [ends[0], last], [ends[0] + 1, u64::MAX], [last, last + 1]] {
            let mixed = CudaOptions { level_one_ends: Some(level_one_ends), ..cuda(LevelOne::ByDensity) };
            let found = on_cuda(gauss, &dense.options, mixed).unwrap();
            same_bits(&format!("problem {number}, {level_one_ends:?}"), &found, &lists);
        }
    }
    assert!(mixed > 2, "{mixed}");
}

/// Runs searches up to level 2 by blocks and by warps.
fn blocks_and_warps(gauss: Gauss, options: &Options) -> [Result<(Skeleton, Vec<f64>)>; 2] {
    [0, u64::MAX].map(|from| {
        let cuda = CudaOptions { wide_from: Some(from), ..CudaOptions::default() };
        on_cuda(gauss, &Options { m_max: 2.0, ..options.clone() }, cuda)
    })
}

fn same_bits(label: &str, a: &(Skeleton, Vec<f64>), b: &(Skeleton, Vec<f64>)) {
    same(label, a, b);
    assert_eq!(a.0.exact_tests, b.0.exact_tests, "{label}: exact tests");
    assert!(a.1.iter().zip(&b.1).all(|(a, b)| a.to_bits() == b.to_bits()), "{label}: pMax");
}

/// Compares level 2 of dense problems by blocks and by warps to the last bit, and with the CPU.
#[test]
#[ignore = "needs a GPU"]
fn blocks_and_warps_agree() {
    let mut compared = 0;
    for number in (0..40).filter(|number| [3, 4, 7, 10].contains(number) || !emulated()) {
        let dense = dense_problem(number);
        let (p, label) = (dense.options.p, format!("problem {number}"));
        // A CPU takes long for exact tests of copies.
        if p > 100 {
            continue;
        }
        let gauss = Gauss::new(by_column(&dense.c, p).unwrap(), dense.n, reading(dense.options.method)).unwrap();
        let cpu = on_cpu(gauss, &Options { m_max: 2.0, ..dense.options.clone() });
        match (blocks_and_warps(gauss, &dense.options), cpu) {
            ([Ok(blocks), Ok(warps)], Ok(cpu)) => {
                same(&label, &blocks, &cpu);
                same_bits(&label, &blocks, &warps);
                compared += u32::from(blocks.0.tests.len() > 2);
            }
            ([blocks, warps], cpu) => {
                assert!(blocks.err() == cpu.as_ref().err().cloned() && warps.err() == cpu.err(), "{label}");
            }
        }
    }
    assert!(compared >= if emulated() { 2 } else { 10 }, "only {compared} comparisons");
    if emulated() {
        return;
    }
    // Rows with more neighbours than a block has columns.
    let mut random = Random(7);
    let mut columns = samples(&mut random, 800, 600, 0.0, 0.0);
    for _ in 0..10 {
        let common: Vec<f64> = (0..600).map(|_| random.normal()).collect();
        for column in &mut columns {
            let load = 0.4 * random.normal();
            column.iter_mut().zip(&common).for_each(|(v, u)| *v += load * u);
        }
    }
    let c = correlation_matrix(&columns);
    for method in [Method::Stable, Method::StableFast] {
        let gauss = Gauss::new(by_column(&c, 800).unwrap(), 20_000.0, reading(method)).unwrap();
        let [blocks, warps] = blocks_and_warps(gauss, &Options { method, ..Options::new(800, 0.05) });
        let (blocks, warps) = (blocks.unwrap(), warps.unwrap());
        assert!(blocks.0.tests[2] > 100_000_000, "{:?}", blocks.0.tests);
        same_bits(&format!("{method:?}"), &blocks, &warps);
    }
}

/// Logs separated pairs by lists and by tiles, with more rows than a tile has columns, and with incomplete tiles.
#[test]
#[ignore = "needs a GPU"]
fn the_ways_to_log_agree() {
    for (number, p) in [(0, 301), (1, 301), (3, 257), (8, 256), (9, 33), (10, 513)] {
        if emulated() && p > 400 {
            continue;
        }
        let dense = dense_problem_of(number, Some(p));
        let gauss = Gauss::new(by_column(&dense.c, p).unwrap(), dense.n, reading(dense.options.method)).unwrap();
        let after = Options { m_max: 0.0, ..dense.options.clone() };
        let (Skeleton { graph, .. }, _) = on_cuda(gauss, &after, CudaOptions::default()).unwrap();
        assert!(50 * graph.edge_count() > p * p, "problem {number}: too few edges for tiles");
        let [lists, tiles] = [LevelOne::Lists, LevelOne::ByDensity].map(|level_one| {
            on_cuda(gauss, &dense.options, CudaOptions { level_one, ..CudaOptions::default() }).unwrap()
        });
        same_bits(&format!("problem {number} of {p}"), &tiles, &lists);
    }
}
