//! Checks tests by random features on a GPU: answers are the CPU's to the last bit.

use std::time::Instant;

use crate::support::cuda::{emulated, within_budgets};
use crate::support::frames::Shape;
use crate::support::problems::{questions, Random};
use pcgpu_core::ci::features::{Approximation, Form, KernelTest, Settings, Shared, Work};
use pcgpu_core::ci::Batch;
use pcgpu_core::engine::cuda::features::FeaturesCudaEngine;
use pcgpu_core::engine::cuda::GpuOptions;
use pcgpu_core::observer::Observer;
use pcgpu_core::search::worker::Worker;
use pcgpu_core::{DeviceKind, Error, Result};

fn made(shape: &Shape, settings: Settings) -> KernelTest {
    let names: Vec<u32> = (0..shape.levels.len() as u32).map(|name| 3 * name + 1).collect();
    KernelTest::new(shape.frame(5), &names, settings).unwrap()
}

fn bits(test: &KernelTest, batch: &Batch) -> Vec<u64> {
    let (shared, mut work) = (Shared::default(), Work::default());
    batch.iter().map(|(x, y, s)| test.p_value((x, y, s), &shared, &mut work, &|| false).to_bits()).collect()
}

fn problems() -> Vec<(Shape, Settings)> {
    let shape = |n, levels: &[u32], missing| Shape { n, levels: levels.to_vec(), missing, sets: 1 };
    let of = |form, sides, given| Settings { form, sides, given, seed: 4 };
    let mut all = vec![
        (shape(2, &[0, 2, 0, 2], 0.0), of(Form::Rcot, 5, 10)),
        (shape(40, &[0; 6], 0.0), of(Form::Rcot, 5, 20)),
        // Levels, more features than a warp has lanes, and no full panel.
        (shape(90, &[0, 3, 0, 2, 9, 0], 0.0), of(Form::Rcot, 8, 7)),
        (shape(70, &[0, 0, 4, 0, 0], 0.0), of(Form::Rcit, 3, 12)),
        (shape(60, &[0, 3, 0, 0, 0], 0.05), of(Form::Rcit, 5, 10)),
        (shape(80, &[0, 0, 2, 0, 0], 0.4), of(Form::Rcot, 2, 15)),
        (shape(50, &[0, 2, 0, 0], 0.0), of(Form::Rit, 5, 10)),
        // More rows than a sum has.
        (shape(600, &[0, 0, 3, 0], 0.0), of(Form::Rcit, 5, 16)),
    ];
    all.extend([
        (shape(300, &[0; 30], 0.0), of(Form::Rcot, 5, 100)),
        (shape(300, &[0, 0, 0, 3, 0, 12, 0, 0], 0.02), of(Form::Rcit, 5, 100)),
    ]);
    if !emulated() {
        all.extend([
            // More rows than threads sum up at a time, and a factor that does not fit shared memory.
            (shape(9_000, &[0, 0, 0, 2], 0.0), of(Form::Rcit, 5, 240)),
            (shape(100_000, &[0, 0, 0, 0], 0.0), of(Form::Rcot, 5, 100)),
        ]);
    }
    all
}

#[test]
#[ignore = "needs a GPU"]
fn answers_are_the_cpus_to_the_last_bit() {
    let mut compared = 0;
    for (number, (shape, settings)) in problems().into_iter().enumerate() {
        let test = made(&shape, settings);
        let p = shape.levels.len();
        let count = if shape.n > 5_000 || emulated() { 20 } else { 400 };
        let batch = questions(&mut Random(number as u64), p, 3, count);
        let wanted = bits(&test, &batch);
        compared += within_budgets(format!("{shape:?}, {settings:?}"), &batch, &wanted, |memory_budget| {
            FeaturesCudaEngine::new(&test, GpuOptions { memory_budget, ..GpuOptions::default() })
        });
        let decided = wanted.iter().filter(|&&p| f64::from_bits(p) < 1.0).count();
        assert!(settings.form == Form::Rit || shape.n < 10 || 2 * decided > wanted.len(), "{shape:?}: {decided}");
    }
    assert!(compared > 400, "{compared} compared");
}

#[test]
#[ignore = "needs a GPU"]
fn tests_that_a_gpu_does_not_run_are_refused() {
    let shape = Shape { n: 30, levels: vec![0; 3], missing: 0.0, sets: 1 };
    let kci = Settings { form: Form::Kci(Approximation::Gamma), sides: 5, given: 10, seed: 1 };
    let wide = Settings { form: Form::Rcot, sides: 5, given: 20_000, seed: 1 };
    let refused = |settings| FeaturesCudaEngine::new(&made(&shape, settings), GpuOptions::default()).err();
    let error = refused(kci);
    assert!(matches!(error, Some(Error::Argument { argument: "device", .. })), "{error:?}");
    // The CPU takes over if the GPU was not named.
    let Some(Error::Device(error)) = refused(wide) else { panic!("not refused") };
    assert!(error.kind == DeviceKind::OutOfMemory && error.message.contains("20000 features of S"), "{error:?}");
}

#[test]
#[ignore = "needs a GPU"]
fn a_long_batch_can_be_interrupted() {
    /// An observer that ends the run after 0.3 s.
    struct Impatient(Instant, f64);
    impl Observer for Impatient {
        fn look(&mut self) -> Result<()> {
            self.1 = self.0.elapsed().as_secs_f64();
            if self.1 > 0.3 {
                return Err(Error::Interrupted);
            }
            Ok(())
        }
    }
    let shape = Shape { n: 200_000, levels: vec![0; 12], missing: 0.0, sets: 1 };
    let test = made(&shape, Settings { form: Form::Rcit, sides: 8, given: 200, seed: 1 });
    let mut engine = FeaturesCudaEngine::new(&test, GpuOptions::default()).unwrap();
    let batch = questions(&mut Random(3), 12, 3, 2000);
    let mut observer = Impatient(Instant::now(), 0.0);
    assert_eq!(engine.p_values(&batch, &mut observer), Err(Error::Interrupted));
    let all = observer.0.elapsed().as_secs_f64();
    assert!(all - observer.1 < 1.0 && all < 3.0, "{all} {}", observer.1);
}
