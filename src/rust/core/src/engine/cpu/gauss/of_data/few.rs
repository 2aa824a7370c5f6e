//! An estimate from a sample of variables: whether a search needs few correlations after level 0.

use std::sync::atomic::{AtomicU64, Ordering};

use super::rows::effort;
use super::GaussOfData;
use crate::memory::{self, Use};
use crate::moments::Gathered;
use crate::observer::Observer;
use crate::pool::Stop;
use crate::Result;

/// Number of variables in the sample.
const SAMPLE: usize = 64;

/// Number of other variables that a thread takes with the sample at a time.
const TOGETHER: usize = 512;

/// The factor by which level 1 must need fewer correlations than all, so that they are few. Then each row computes its own, which spares the
/// memory of all. It takes 0.8 to 1.1 of the time of a search that keeps all (bench/results.csv, suite kept).
const FEWER: f64 = 8.0;

/// The number of variables from which the estimate is worthwhile. With fewer, all correlations take half a GB at most.
pub const LEAST: usize = 8192;

/// Working memory of a thread.
#[derive(Default)]
struct Thread {
    c: Vec<f64>,
    gathered: Gathered,
}

impl GaussOfData<'_> {
    /// Returns whether few correlations are needed after level 0, so that it does not pay to keep all. This is an estimate from the edges of 64
    /// variables at level 0, and takes 128 / p of the time of all correlations. Answers do not depend on it. `further` says whether levels
    /// beyond 0 may run at all.
    ///
    /// # Errors
    /// What the observer returns, and [`Error::Memory`](crate::Error::Memory).
    pub fn are_few_asked_for(&mut self, further: bool, observer: &mut dyn Observer) -> Result<bool> {
        if self.p < LEAST || !further {
            return Ok(self.p >= LEAST);
        }
        self.prepare(observer)?;
        let Some(tiles) = &self.tiles else { return Ok(false) };
        let p = self.p;
        let sample: Vec<u32> = (0..SAMPLE).map(|i| (i * p / SAMPLE) as u32).collect();
        let least = self.thresholds.cutoff(0).dependent_above;
        let counts = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        // For each variable of the sample, the number of its neighbours; for every variable, the number of its neighbours in the sample.
        let (degrees, meetings) = (counts(SAMPLE), counts(p));
        let work = |thread: &mut Thread, part: usize, stop: &Stop| {
            let Thread { c, gathered } = thread;
            if c.is_empty() && !memory::grow(c, SAMPLE * TOGETHER, 0.0, Use::Correlations) {
                return;
            }
            let others: Vec<u32> = (part * TOGETHER..p.min((part + 1) * TOGETHER)).map(|v| v as u32).collect();
            tiles.between(&others, &sample, c, TOGETHER, gathered, stop);
            for ((&v, degree), column) in sample.iter().zip(&degrees).zip(c.chunks(TOGETHER)) {
                for (&w, _) in others.iter().zip(column).filter(|&(&w, &r)| w != v && r * r > least) {
                    degree.fetch_add(1, Ordering::Relaxed);
                    meetings[w as usize].fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        self.pool.run(p.div_ceil(TOGETHER), false, |_| 1.0, &mut |_| observer.look(), work)?;
        let each = p as f64 / SAMPLE as f64;
        let of_row = |degree: AtomicU64| {
            let degree = degree.into_inner() as usize;
            effort(degree, degree + 1)
        };
        let of_sample = each * degrees.into_iter().map(of_row).sum::<f64>();
        // Rows with many neighbours may not be in the sample. With d neighbours, they have on average d^2 / each^2 pairs of neighbours there.
        let of_hub = |meetings: AtomicU64| {
            let meetings = meetings.into_inner() as f64;
            meetings * (meetings - 1.0)
        };
        let of_hubs = each * each * meetings.into_iter().map(of_hub).sum::<f64>();
        Ok(of_sample.max(of_hubs) * FEWER < (p * p) as f64)
    }
}
