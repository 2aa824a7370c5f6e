//! One test on all threads, which share its permutations.

use std::sync::Mutex;

use super::given::Table;
use super::wide::Packed;
use super::work::{outcome, part, Buffers, Question, QuestionOnData};
use super::KnnKernel;
use crate::ci::knn::{Knn, Outcome, Values};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::{Pool, Stop};
use crate::{Error, Result};

/// Number of parts for each thread, so that none waits long for another.
const PARTS: usize = 4;

/// Number of permutations in a wave of a test that may stop early.
const WAVE: usize = 64;

impl KnnKernel<'_> {
    /// Tests x and y given S on these threads.
    ///
    /// # Errors
    /// What the observer returns; [`Error::Argument`] if threads could not be started.
    pub fn test(
        &self,
        x: usize,
        y: usize,
        s: &[u32],
        pool: impl Into<Pool>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let pool = &pool.into();
        if self.knn.constant(x, y) {
            return Ok(Outcome::CERTAIN);
        }
        match self.knn.columns().values() {
            Values::Whole(values) => test(&self.table(values), self.knn, x, y, s, pool, observer),
            Values::Real(values) => test(&self.table(values), self.knn, x, y, s, pool, observer),
        }
    }
}

fn test<C: Packed>(
    table: &Table<C>,
    knn: &Knn,
    x: usize,
    y: usize,
    s: &[u32],
    pool: &Pool,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let question = Question::new(knn, x, y, s);
    let test = QuestionOnData { table, knn, question: &question };
    let all = knn.decision().permutations() + 1;
    let wave = if knn.decision().stops_early() { WAVE } else { all };
    let pairs = (table.n as f64) * (table.n as f64);
    let found = Mutex::new(None);
    let look = |_: &mut (), _, stop: &Stop| {
        if let Ok(mut found) = found.lock() {
            *found = test.given(&|| stop.requested());
        }
    };
    let at_once = pairs < super::INLINE_PAIRS;
    pool.run(1, at_once, |_| 1.0, &mut |_| observer.progress(0, 0.0, all as f64), look)?;
    let Some(given) = found.into_inner().ok().flatten() else { return Err(Error::Interrupted) };
    let mut sums = memory::space(all, Use::Permutations)?;
    while sums.len() < all {
        let first = sums.len();
        sums.resize(all.min(first + wave), 0);
        let fresh = &mut sums[first..];
        let size = fresh.len().div_ceil(PARTS * pool.threads()).clamp(1, part::<C>(table.n));
        let inline = pool.threads() == 1 && pairs * (fresh.len() as f64) < super::INLINE_PAIRS;
        let parts: Vec<Mutex<&mut [i64]>> = fresh.chunks_mut(size).map(Mutex::new).collect();
        let run = |buffers: &mut Buffers<C>, part: usize, stop: &Stop| {
            if let Ok(mut sums) = parts[part].lock() {
                test.sums(&given, first + part * size, buffers, &|| stop.requested(), &mut sums);
            }
        };
        let cost = |_| size as f64;
        pool.run(parts.len(), inline, cost, &mut |done| observer.progress(0, done + first as f64, all as f64), run)?;
        drop(parts);
        if let Some(outcome) = outcome(knn, &sums) {
            return Ok(outcome);
        }
    }
    // The last permutation decides at the latest.
    Err(Error::Interrupted)
}
