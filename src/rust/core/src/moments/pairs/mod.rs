//! Correlations that are computed pair by pair, because they are no products of columns: Kendall's, robust and latent ones.

mod kendall;
mod latent;
mod scales;

pub use scales::{centre_and_scale, Scale};

use std::sync::Mutex;

use super::columns::{rows_that_count, summarise, Of, Summary};
use super::{Found, Rows, Watch};
use crate::matrix::symmetrise;
use crate::memory::{self, Use};
use crate::numbers::{Numbers, SMALL};
use crate::pool::{Pool, Stop};
use crate::simd::{self, Task};
use crate::Result;
use kendall::Kendall;
use latent::Latent;
use scales::Robust;

/// Number of columns that are paired with each column that is read.
const BLOCK: usize = 8;

/// A correlation of pairs.
#[derive(Clone, Copy, Debug)]
pub enum Measure<'a> {
    /// sin(pi tau / 2) for Kendall's tau-b (N. Harris and M. Drton 2013, JMLR 14, 3365-3383).
    Kendall,
    /// Robust: from the scales of sums and differences (R. Gnanadesikan and J. R. Kettenring 1972, Biometrics 28, 81-124).
    Robust(Scale, Form),
    /// Correlations of the normal variables behind levels: polychoric, polyserial, and Pearson's for two columns of numbers. A slice with
    /// the number of levels of each column, 0 for a column of numbers. Levels are whole numbers from 1.
    Latent(&'a [u32]),
}

/// How a robust correlation follows from the scale u of the sum of two columns, and v of their difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// (u² - v²) / 4, for columns that were divided by their scales.
    Plain,
    /// (u² - v²) / (4 s t), where s and t are the scales of the columns, cut at -1 and 1.
    Cut,
    /// (u² - v²) / (u² + v²), with the columns divided by their scales before.
    Stable,
}

/// A correlation of two columns, each of which is prepared once.
trait Paired: Sync {
    /// What is kept of a column.
    type Column: Send + Sync;
    /// Working memory of a thread.
    type Work: Default + Send;

    /// Prepares the values of column `j`, none of them missing. Returns `None` if there is no memory.
    fn column(&self, j: usize, values: &[f64]) -> Option<Self::Column>;

    /// Returns the correlation, or NaN if there is none.
    fn pair(&self, x: &Self::Column, y: &Self::Column, work: &mut Self::Work) -> f64;
}

/// Writes the correlations of p columns of one length to `c`, p x p, as [`correlation`](super::correlation) does.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and errors of `watch`.
pub fn of_pairs(
    columns: &[Numbers],
    measure: Measure,
    rows: Rows,
    pool: &Pool,
    c: &mut [f64],
    watch: &mut Watch,
) -> Result<Found> {
    let (of, n) = rows_that_count(columns, rows == Rows::Complete, pool)?;
    let summaries = summarise(columns, &of, n, pool, &mut || watch(0.0))?;
    let holes = summaries.iter().any(|summary| summary.missing > 0);
    let is_done = summaries.iter().all(Summary::varies) && (!holes || rows == Rows::Pairwise);
    let mut found = Found { summaries, rows: n, size: n as f64, is_done };
    if is_done {
        let data = Data { columns, of, n, holes };
        found.rows = match measure {
            Measure::Kendall => data.fill(&Kendall, pool, c, watch)?,
            Measure::Robust(scale, form) => data.fill(&Robust { scale, form }, pool, c, watch)?,
            Measure::Latent(levels) => data.fill(&Latent { levels }, pool, c, watch)?,
        };
        found.size = found.rows as f64;
        symmetrise(c, columns.len(), pool);
    }
    Ok(found)
}

/// The columns, and the rows that count.
struct Data<'a> {
    columns: &'a [Numbers<'a>],
    of: Of,
    n: usize,
    /// Whether values are missing, so that each pair has its own rows.
    holes: bool,
}

impl Data<'_> {
    /// Writes the upper triangle. Returns the smallest number of rows of a pair.
    fn fill<M: Paired>(&self, measure: &M, pool: &Pool, c: &mut [f64], watch: &mut Watch) -> Result<usize> {
        let (p, n) = (self.columns.len(), self.n);
        let prepared = if self.holes { Vec::new() } else { self.prepare(measure, pool, watch)? };
        let blocks: Vec<Mutex<&mut [f64]>> = c.chunks_mut(BLOCK * p).map(Mutex::new).collect();
        let least = Mutex::new(n);
        let count = blocks.len();
        let work = |scratch: &mut (M::Work, [Vec<f64>; 2]), task: usize, stop: &Stop| {
            let block = count - 1 - task;
            let Ok(mut cells) = blocks[block].lock() else { return };
            let ys = block * BLOCK..p.min((block + 1) * BLOCK);
            for x in 0..ys.end {
                if stop.requested() {
                    return;
                }
                for y in ys.clone().filter(|&y| y >= x) {
                    let cell = &mut cells[(y - ys.start) * p + x];
                    if x == y {
                        *cell = 1.0;
                    } else if self.holes {
                        let (r, rows) = self.of_own_rows(measure, x, y, scratch);
                        *cell = r;
                        if let Ok(mut least) = least.lock() {
                            *least = rows.min(*least);
                        }
                    } else {
                        *cell = simd::run(Pair { measure, x: &prepared[x], y: &prepared[y], work: &mut scratch.0 });
                    }
                }
            }
        };
        let total = (count * (count + 1)) as f64 / 2.0;
        pool.run(count, n * p * p < SMALL, |task| (count - task) as f64, &mut |done| watch(done / total), work)?;
        Ok(least.into_inner().unwrap_or(0))
    }

    fn prepare<M: Paired>(&self, measure: &M, pool: &Pool, watch: &mut Watch) -> Result<Vec<M::Column>> {
        let slots: Vec<Mutex<Option<M::Column>>> = self.columns.iter().map(|_| Mutex::new(None)).collect();
        let work = |values: &mut Vec<f64>, j: usize, _: &Stop| {
            values.clear();
            if !memory::prepare(values, self.n, Use::Correlations) {
                return;
            }
            self.columns[j].read(&self.of, 0..self.n, |_, some| values.extend_from_slice(some));
            if let Ok(mut slot) = slots[j].lock() {
                *slot = measure.column(j, values);
            }
        };
        pool.run(slots.len(), self.n * slots.len() < SMALL, |_| 1.0, &mut |_| watch(0.0), work)?;
        let prepared = slots.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect::<Vec<_>>();
        memory::check()?;
        Ok(prepared)
    }

    /// Returns the correlation of a pair in the rows that have both, and their number.
    fn of_own_rows<M: Paired>(
        &self,
        measure: &M,
        x: usize,
        y: usize,
        (work, pair): &mut (M::Work, [Vec<f64>; 2]),
    ) -> (f64, usize) {
        pair.iter_mut().for_each(Vec::clear);
        if !pair.iter_mut().all(|values| memory::prepare(values, self.n, Use::Correlations)) {
            return (f64::NAN, 0);
        }
        for row in 0..self.n {
            let (a, b) = (self.columns[x].at(row), self.columns[y].at(row));
            if !a.is_nan() && !b.is_nan() {
                pair[0].push(a);
                pair[1].push(b);
            }
        }
        let rows = pair[0].len();
        let prepared = (rows > 1).then(|| (measure.column(x, &pair[0]), measure.column(y, &pair[1])));
        match prepared {
            Some((Some(x), Some(y))) => (simd::run(Pair { measure, x: &x, y: &y, work }), rows),
            _ => (f64::NAN, rows),
        }
    }
}

/// The correlation of one pair, compiled for the machine's registers.
struct Pair<'a, M: Paired> {
    measure: &'a M,
    x: &'a M::Column,
    y: &'a M::Column,
    work: &'a mut M::Work,
}

impl<S, M: Paired> Task<S> for Pair<'_, M> {
    type Output = f64;

    #[inline(always)]
    fn run(self, _: S) -> f64 {
        self.measure.pair(self.x, self.y, self.work)
    }
}

#[cfg(test)]
mod tests;
