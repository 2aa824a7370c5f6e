//! Compares the CUDA engine on data, from which it computes correlations, with the engine on the correlations themselves.

use crate::gauss_cuda::{by_shards, on_cuda, reading};
use crate::support::cuda::{sets, Shardwise};
use crate::support::problems::{samples, Random};
use pcgpu_core::ci::correlations::Check;
use pcgpu_core::ci::gauss::{FisherZ, Gauss, Reading};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cpu::{CpuEngine, GaussKernel};
use pcgpu_core::engine::cuda::gauss::correlation::correlation;
use pcgpu_core::engine::cuda::gpu::unified::MemoryKind;
use pcgpu_core::engine::cuda::{CudaEngine, CudaOptions};
use pcgpu_core::matrix::by_column;
use pcgpu_core::moments::{centred, of_centred, Centred, Kind, Rows};
use pcgpu_core::numbers::Numbers;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::search::{skeleton, Method, Options, Skeleton};
use pcgpu_core::{Error, Result};

/// Returns data, n x p, with the mean of each column subtracted.
fn data(seed: u64, p: usize, n: usize) -> Vec<f64> {
    let mut columns = samples(&mut Random(seed), p, n, 0.2, 0.1);
    columns.iter_mut().flatten().for_each(|value| *value += 1000.0);
    let mut cells = vec![0.0; n * p];
    let numbers: Vec<Numbers> = columns.iter().map(|column| Numbers::Doubles(column)).collect();
    let pool = Pool::new(2);
    let found = centred(&numbers, Kind::Pearson, Rows::All, &pool, &mut |_| Ok(()), |x, _| {
        assert!(x.write(&mut cells, &pool).iter().all(|&varies| varies));
        Ok(())
    });
    assert!(found.unwrap().is_done);
    cells
}

/// Checks that a GPU with the whole matrix for a search also checks it, with the verdict of the threads. Of several GPUs, one checks it. By
/// blocks, the threads have to.
#[test]
#[ignore = "needs a GPU"]
fn a_gpu_checks_the_matrix_of_its_search() {
    let (p, n) = (150, 60);
    let x = data(3, p, n);
    let mut c = vec![0.0; p * p];
    of_centred(&Centred::of_cells(&x, n), &Pool::new(2), &mut c, &mut |_| Ok(())).unwrap();
    // Several rows of tiles and a part of one; a tile on the diagonal, and one next to it.
    let with = |cells: &[(usize, usize, f64)]| {
        let mut c = c.clone();
        cells.iter().for_each(|&(x, y, value)| c[y * p + x] = value);
        c
    };
    let (far, near) = (c[130 * p + 3], c[65 * p + 66]);
    let matrices = [
        c.clone(),
        with(&[(3, 130, far + 1e-11)]),
        with(&[(3, 130, f64::NAN), (130, 3, f64::NAN)]),
        with(&[(149, 149, f64::NAN)]),
        with(&[(3, 130, far + 1e-9)]),
        with(&[(130, 3, far - 1e-9)]),
        with(&[(66, 65, near + 1e-9)]),
        with(&[(3, 130, f64::NAN)]),
        with(&[(130, 3, f64::NAN)]),
        with(&[(140, 149, 1.0 + 1e-7), (149, 140, 1.0 + 1e-7)]),
        with(&[(0, 1, f64::INFINITY), (1, 0, f64::INFINITY)]),
        with(&[(70, 70, 1.1)]),
    ];
    let verdicts = matrices.each_ref().map(|cells| Check::new(by_column(cells, p).unwrap()).verdict(&Pool::none()));
    assert_eq!(verdicts[..4], [Some(false), Some(false), Some(true), Some(true)]);
    assert!(verdicts[4..].iter().all(Option::is_none));
    let options = Options { method: Method::StableFast, m_max: 0.0, ..Options::new(p, 0.01) };
    for (number, (cells, wanted)) in matrices.iter().zip(verdicts).enumerate() {
        let gauss = Gauss::new(by_column(cells, p).unwrap(), n as f64, Reading::StableFast).unwrap();
        let run = |worker: &mut dyn Worker| skeleton(worker, &options, &mut vec![0.0; p * p], &mut Unobserved);
        for block in [None, Some(64)] {
            let check = Check::new(by_column(cells, p).unwrap());
            let cuda = CudaOptions { block, ..CudaOptions::default() };
            let mut engine = CudaEngine::new(gauss, options.alpha, cuda).unwrap().checked_by(Some(&check));
            // Blocks refuse a matrix that is not symmetric to the last bit.
            assert!(run(&mut engine).is_ok() || block.is_some() && number > 0, "{number} {block:?}");
            assert_eq!(check.has_begun(), block.is_none(), "{number}");
            assert_eq!(check.verdict(&Pool::new(2)), wanted, "{number} {block:?}");
        }
    }
}

/// Checks that correlations computed during a search on the GPU are the same as those computed there before.
#[test]
#[ignore = "needs a GPU"]
fn searches_of_data_are_those_of_the_gpus_correlations() {
    for (p, n) in [(2, 5), (23, 300), (70, 131)] {
        let x = data(p as u64, p, n);
        let view = by_column(&x, p).unwrap();
        let mut c = vec![0.0; p * p];
        let pool = Pool::new(2);
        let mut shares = Vec::new();
        correlation(&Centred::of_cells(&x, n), 0, MemoryKind::Device, None, &pool, &mut c, &mut |share| {
            shares.push(share);
            Ok(())
        })
        .unwrap();
        assert!(shares.is_sorted() && shares.last() == Some(&1.0), "{shares:?}");
        let mut of_cpu = vec![0.0; p * p];
        of_centred(&Centred::of_cells(&x, n), &pool, &mut of_cpu, &mut |_| Ok(())).unwrap();
        assert!(c.iter().zip(&of_cpu).all(|(a, b)| (a - b).abs() < 1e-12));
        let bits = |(found, p_max): (Skeleton, Vec<f64>)| {
            let p_max: Vec<u64> = p_max.iter().map(|p| p.to_bits()).collect();
            (sets(&found), found.graph, found.tests, found.max_order, p_max)
        };
        for method in [Method::Stable, Method::StableFast, Method::Original] {
            let options = Options { method, m_max: 3.0, ..Options::new(p, 0.05) };
            let gauss = Gauss::new(by_column(&c, p).unwrap(), n as f64, reading(method)).unwrap();
            // Twice with one engine, so that the second search finds the correlations on the GPU.
            let mut engine = CudaEngine::of_data(gauss.test, view, 0.05, CudaOptions::default()).unwrap();
            for _ in 0..2 {
                let mut p_max = vec![0.25; p * p];
                let found = skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).unwrap();
                assert_eq!(bits((found, p_max)), bits(on_cuda(gauss, &options, CudaOptions::default()).unwrap()));
            }
            let mut p_max = vec![0.25; p * p];
            let mut shards = Shardwise(CudaEngine::of_data(gauss.test, view, 0.05, CudaOptions::default()).unwrap());
            let found = skeleton(&mut shards, &options, &mut p_max, &mut Unobserved).unwrap();
            assert_eq!(bits((found, p_max)), bits(by_shards(gauss, &options).unwrap()));
        }
        let gauss = Gauss::new(by_column(&c, p).unwrap(), n as f64, Reading::GaussCItest).unwrap();
        let mut batch = Batch::new();
        (1..p).for_each(|y| {
            batch.push(0, y, &(1..p as u32).filter(|&z| z as usize != y).take(y % 4).collect::<Vec<_>>())
        });
        let mut engine = CudaEngine::of_data(gauss.test, view, 0.05, CudaOptions::default()).unwrap();
        let theirs = CpuEngine::new(GaussKernel::new(gauss, 0.05), 1).p_values(&batch, &mut Unobserved);
        assert_eq!(engine.p_values(&batch, &mut Unobserved), theirs);
        // Too few samples for any test: the error names the first pair, as with a matrix.
        let few = FisherZ::new(2.0, Reading::StableFast).unwrap();
        let options = Options { method: Method::StableFast, ..Options::new(p, 0.05) };
        let mut engine = CudaEngine::of_data(few, view, 0.05, CudaOptions::default()).unwrap();
        let refused = skeleton(&mut engine, &options, &mut vec![0.0; p * p], &mut Unobserved).err();
        assert!(matches!(refused, Some(Error::Numeric { x: 0, y: 1, .. })), "{refused:?}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn making_correlations_can_be_ended() {
    let (p, n) = (70, 100);
    let x = data(1, p, n);
    let test = FisherZ::new(n as f64, Reading::GaussCItest).unwrap();
    let mut engine = CudaEngine::of_data(test, by_column(&x, p).unwrap(), 0.05, CudaOptions::default()).unwrap();
    struct Stops;
    impl Observer for Stops {
        fn preparing(&mut self, _share: f64) -> Result<()> {
            Err(Error::Interrupted)
        }
    }
    let mut p_max = vec![0.0; p * p];
    let options = Options::new(p, 0.05);
    assert_eq!(skeleton(&mut engine, &options, &mut p_max, &mut Stops).err(), Some(Error::Interrupted));
    assert!(skeleton(&mut engine, &options, &mut p_max, &mut Unobserved).is_ok());
}
