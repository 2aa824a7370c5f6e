//! The nearest-neighbour test on the CPU.
//!
//! * `cell`: distances. `wide`: many at once. `loops`: the loops over them.
//! * `given`: the data that tests with one conditioning set share.
//! * `sums`: the estimates of a test's permutations.
//! * `work`: a test on one thread.
//! * `single`: one test on all threads.

mod cell;
mod given;
mod loops;
mod single;
mod sums;
mod wide;
mod work;

use super::kernel::Signal;
use super::plain::Plain;
use crate::ci::knn::{Knn, Values};
use cell::Cell;
use given::Table;
use work::Work;

/// The nearest-neighbour test in the form that the CPU engine runs.
pub struct KnnKernel<'a> {
    knn: &'a Knn,
    /// For each column, the samples in ascending order of their values.
    orders: Vec<u32>,
}

/// The number of pairs of samples times permutations from which threads pay.
const INLINE_PAIRS: f64 = 1e7;

impl<'a> KnnKernel<'a> {
    /// Creates the kernel of a test.
    pub fn new(knn: &'a Knn) -> Self {
        let n = knn.columns().n();
        let orders = match knn.columns().values() {
            Values::Whole(values) => orders(values, n),
            Values::Real(values) => orders(values, n),
        };
        KnnKernel { knn, orders }
    }

    fn table<'b, C: Cell>(&'b self, values: &'b [C]) -> Table<'b, C> {
        let columns = self.knn.columns();
        Table {
            n: columns.n(),
            values,
            discrete: columns.discrete(),
            mismatch: C::floor_of(columns.mismatch()),
            orders: &self.orders,
        }
    }
}

fn orders<C: Cell>(values: &[C], n: usize) -> Vec<u32> {
    let mut orders = Vec::with_capacity(values.len());
    for column in values.chunks_exact(n) {
        let from = orders.len();
        orders.extend(0..n as u32);
        orders[from..].sort_by(|&a, &b| C::by_size(&column[a as usize], &column[b as usize]));
    }
    orders
}

/// Working memory of one thread.
#[derive(Default)]
pub struct OfThread {
    whole: Work<u16>,
    real: Work<f64>,
}

impl Plain for KnnKernel<'_> {
    type Work = OfThread;

    fn p(&self) -> usize {
        self.knn.columns().p()
    }

    fn inline_tests(&self) -> f64 {
        let n = self.knn.columns().n() as f64;
        INLINE_PAIRS / (n * n * self.knn.decision().permutations() as f64)
    }

    fn questions_at_once(&self) -> usize {
        1
    }

    fn shard_tests(&self) -> u64 {
        // A test takes milliseconds.
        8
    }

    fn test(&self, x: usize, y: usize, s: &[u32], work: &mut OfThread, signal: &Signal) -> Option<f64> {
        let stop = || signal.stop_requested();
        match self.knn.columns().values() {
            Values::Whole(values) => work.whole.p(&self.table(values), self.knn, x, y, s, stop),
            Values::Real(values) => work.real.p(&self.table(values), self.knn, x, y, s, stop),
        }
    }
}
