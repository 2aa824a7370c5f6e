//! Checks the cells that a GPU computes for tests of mixed data: answers are the CPU's to the last bit.

use crate::support::cuda::{emulated, within_budgets};
use crate::support::frames::Shape;
use crate::support::problems::{questions, Random};
use pcgpu_core::ci::mixed::Work;
use pcgpu_core::engine::cuda::mixed::MixedCudaEngine;
use pcgpu_core::engine::cuda::GpuOptions;
use pcgpu_core::observer::Unobserved;
use pcgpu_core::search::worker::Worker;

fn shapes() -> Vec<Shape> {
    let shape = |n, levels: &[u32], missing, sets| Shape { n, levels: levels.to_vec(), missing, sets };
    let mut all = vec![
        shape(2, &[0, 2, 0, 2], 0.0, 1),
        shape(31, &[0, 3, 0, 2, 3], 0.0, 1),
        shape(200, &[0, 3, 0, 2, 3, 0], 0.05, 1),
        // More keys than several lanes have, and more keys than a GPU takes.
        shape(300, &[9, 0, 8, 7, 0, 11, 0], 0.02, 1),
        // Most rows lack a value.
        shape(120, &[0, 0, 2, 0, 3, 0], 0.4, 1),
        shape(90, &[0, 2, 0, 3, 2], 0.1, 3),
        // More rows than a chunk has, and more than a round of chunks.
        shape(5000, &[0, 3, 0, 2], 0.01, 1),
        shape(9 * 4096 + 5, &[2, 0, 0], 0.001, 1),
    ];
    if !emulated() {
        all.push(shape(300_000, &[2, 0, 0, 3, 0, 4], 0.001, 1));
        all.push(shape(60_000, &[2, 0, 0, 3, 0, 70], 0.0, 2));
    }
    all
}

#[test]
#[ignore = "needs a GPU"]
fn answers_are_the_cpus_to_the_last_bit() {
    let mut compared = 0;
    for (number, shape) in shapes().into_iter().enumerate() {
        for quick in [false, true] {
            let test = shape.test(number as u64 + 11, quick);
            let p = shape.levels.len();
            let count = if shape.n > 10_000 { 12 } else { 60 };
            let batch = questions(&mut Random(number as u64), p, 4, count);
            let mut work = Work::default();
            let wanted: Vec<u64> = batch.iter().map(|(x, y, s)| test.p_value(x, y, s, &mut work).to_bits()).collect();
            compared += within_budgets(format!("{shape:?}, quick {quick}"), &batch, &wanted, |memory_budget| {
                MixedCudaEngine::new(test.clone(), GpuOptions { memory_budget, ..GpuOptions::default() })
            });
        }
    }
    assert!(compared > 2000, "{compared} compared");
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_does_the_work() {
    let shape = Shape { n: 400, levels: vec![0, 3, 0, 2, 3], missing: 0.05, sets: 1 };
    let test = shape.test(5, true);
    let mut engine = MixedCudaEngine::new(test, GpuOptions::default()).unwrap();
    let batch = questions(&mut Random(1), 5, 2, 40);
    engine.p_values(&batch, &mut Unobserved).unwrap();
    let report = engine.team();
    let moved: u64 = report.shares.iter().map(|share| share.moved.from).sum();
    // At least a cell of each question that has any.
    assert!(moved > 40 * 24, "{moved}");
}
