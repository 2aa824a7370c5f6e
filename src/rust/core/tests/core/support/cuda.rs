//! Shared helpers of the tests of the CUDA engine.

use std::fmt::Display;
use std::time::{Duration, Instant};

use pcgpu_core::ci::Batch;
use pcgpu_core::engine::batched::{Asker, Reply};
use pcgpu_core::engine::cuda::gpu::device;
use pcgpu_core::observer::{Observer, Unobserved};
use pcgpu_core::pool::Pool;
use pcgpu_core::search::book::Book;
use pcgpu_core::search::shards::Work;
use pcgpu_core::search::worker::{Column, Marginals, Worker};
use pcgpu_core::search::Skeleton;
use pcgpu_core::team::Moved;
use pcgpu_core::{DeviceKind, Error, Result};

pub use super::answer::sets;
use super::answer::{Answer, Digits};

/// The environment variable that makes tests treat the GPU as emulated. A GPU under a sanitizer is about as slow.
const LITTLE: &str = "PCGPU_TEST_LITTLE";

/// Returns whether the GPU is the tests' emulated one (../../driver), some 10,000 times slower than a real GPU. Tests repeat less on it.
pub fn emulated() -> bool {
    std::env::var_os(LITTLE).is_some()
        || device::devices(false).is_ok_and(|gpus| gpus.iter().any(|gpu| gpu.name == "Emulated"))
}

/// Returns the bytes of device memory that a worker has planned.
pub fn planned(worker: &dyn Worker) -> u64 {
    worker.memory_plan().iter().map(|(_, bytes)| bytes).sum()
}

/// Asks for p-values within all memory, and then within a third of the bytes that were planned last, until that is refused as too little. Checks
/// that each answer is `wanted`, to the last bit, and that no plan passes its budget. Returns the number of p-values compared.
pub fn within_budgets<W: Worker>(
    label: impl Display,
    batch: &Batch,
    wanted: &[u64],
    make: impl Fn(Option<u64>) -> Result<W>,
) -> usize {
    let mut compared = 0;
    let mut budget = None;
    let mut largest = u64::MAX;
    loop {
        let label = format!("{label}, {budget:?}");
        let asked =
            make(budget).and_then(|mut worker| Ok((worker.p_values(batch, &mut Unobserved)?, planned(&worker))));
        match asked {
            Ok((found, planned)) => {
                assert!(planned > 0 && planned <= budget.unwrap_or(u64::MAX), "{label}: {planned}");
                for ((found, wanted), (x, y, s)) in found.iter().zip(wanted).zip(batch.iter()) {
                    assert_eq!(found.to_bits(), *wanted, "{label}: {x}, {y}, {s:?}: {found}");
                    compared += 1;
                }
                largest = largest.min(planned) / 3;
                budget = Some(largest);
            }
            Err(Error::Device(error)) if budget.is_some() => {
                assert_eq!(error.kind, DeviceKind::OutOfMemory, "{label}: {error:?}");
                assert!(error.message.contains(&format!("{largest} bytes")), "{label}: {error:?}");
                return compared;
            }
            Err(error) => panic!("{label}: {error:?}"),
        }
    }
}

/// Checks that two outcomes are the same to the last bit, errors included.
#[track_caller]
pub fn same_outcome(label: impl Display, found: &Result<Answer>, wanted: &Result<Answer>) {
    match (found, wanted) {
        (Ok(found), Ok(wanted)) => {
            let difference = found.difference(wanted, Digits::All);
            assert!(difference.is_none(), "{label}: {}", difference.unwrap_or_default());
        }
        (found, wanted) => assert_eq!(found.as_ref().err(), wanted.as_ref().err(), "{label}"),
    }
}

/// Compares two answers. P-values must agree to 1e-9, down to 1e-300, as the engines promise.
pub fn same(label: &str, cuda: &(Skeleton, Vec<f64>), cpu: &(Skeleton, Vec<f64>)) {
    assert_eq!(cuda.0.graph, cpu.0.graph, "{label}: graph");
    assert_eq!(cuda.0.tests, cpu.0.tests, "{label}: counts");
    assert_eq!(cuda.0.max_order, cpu.0.max_order, "{label}: max.ord");
    assert_eq!(sets(&cuda.0), sets(&cpu.0), "{label}: separating sets");
    for (i, (a, b)) in cuda.1.iter().zip(&cpu.1).enumerate() {
        let close =
            a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-9 * b.abs() || (*a < 1e-300 && *b < 1e-300);
        let p = cuda.0.graph.p();
        assert!(close, "{label}: pMax[{}, {}] is {a:e}, the CPU's {b:e}", i % p, i / p);
    }
}

/// A worker that always answers shards, even if it could take whole levels.
pub struct Shardwise<W>(pub W);

impl<W: Worker> Worker for Shardwise<W> {
    fn pool(&self) -> &Pool {
        self.0.pool()
    }

    fn shard_tests(&self) -> u64 {
        self.0.shard_tests()
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        self.0.marginal(level, columns, observer)
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        self.0.answer(work, book, observer)
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        self.0.p_values(batch, observer)
    }
}

/// An asker that takes at most 32 questions at a time, so that the work of a question team is cut up. It pauses for this duration per
/// question, so that a slow emulated GPU gets some of the work too.
pub struct Slowed<A>(pub A, pub Duration);

impl<A: Asker> Asker for Slowed<A> {
    fn batch(&self) -> usize {
        32
    }

    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        let replies = self.0.ask(batch, watch)?;
        std::thread::sleep(self.1 * batch.len() as u32);
        Ok(replies)
    }

    fn moved(&self) -> Moved {
        self.0.moved()
    }
}

/// An observer that stops a search in a level, and remembers when it first asked to stop.
pub struct StopAt(pub usize, pub Option<Instant>);

impl Observer for StopAt {
    fn level(&mut self, level: usize, _remaining: usize) -> Result<()> {
        if level == self.0 {
            self.1 = Some(Instant::now());
        }
        Ok(())
    }

    fn progress(&mut self, _level: usize, _done: f64, _total: f64) -> Result<()> {
        self.look()
    }

    fn look(&mut self) -> Result<()> {
        match self.1 {
            Some(_) => Err(Error::Interrupted),
            None => Ok(()),
        }
    }
}
