//! The correlation matrix of data, on threads.
//!
//! Columns are centred, a few thousand rows at a time, and multiplied by the crate `matrixmultiply`. Every sum is taken in an order
//! that depends on the shape of the data alone, so that any number of threads gives the same bits; machines with other vector
//! instructions, and GPUs, may differ in the last digits. A search is exact given the matrix.

mod columns;
mod pairwise;
mod product;
mod ranks;

pub use columns::{summaries, Summary};

use std::sync::Mutex;

use crate::engine::cpu::numbers::{Numbers, SMALL};
use crate::memory::{self, Use};
use crate::pool::{Pool, Stop};
use crate::search::symmetrise;
use crate::Result;
use columns::{centre, rows_that_count, summarise, Centre, Of};
use pairwise::pairwise;
use product::{multiply, ratio};
use ranks::ranks;

/// Rows that are centred together.
const SEGMENT: usize = 4096;

/// Up to this many columns, threads take segments of rows; beyond, they take blocks of columns of one segment after the other.
const NARROW: usize = 256;

/// Columns of a block.
const BLOCK: usize = 64;

/// Which correlation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Pearson's.
    Pearson,
    /// Spearman's: Pearson's of the ranks, with ties at their mean rank.
    Spearman,
}

/// Which rows count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All; where a value is missing, nothing is worked out.
    All,
    /// Those without a missing value.
    Complete,
    /// For each pair those that have both.
    Pairwise,
}

/// What was found beside the correlations.
pub struct Found {
    /// What the columns hold in the rows that count; with [`Rows::Pairwise`] in all.
    pub summaries: Vec<Summary>,
    /// Number of rows that count; of pairs the least.
    pub rows: usize,
    /// Whether the correlations were worked out.
    pub is_done: bool,
}

/// Writes the correlations of the columns (p of them, all of one length) to `c`, p x p: those of R's `cor()` to 1e-12, symmetric,
/// with ones on the diagonal and all between -1 and 1; NaN with a column that is constant in the rows of a pair. Columns that are
/// equal, up to their sign or a power of two, have exactly 1 or -1. Does nothing where a column is constant or has infinite
/// values, or [`Rows::All`] has missing ones. `look` is asked ten times a second whether to go on.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and what `look` returns.
pub fn correlation(
    columns: &[Numbers],
    kind: Kind,
    rows: Rows,
    pool: &Pool,
    c: &mut [f64],
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<Found> {
    let (of, n) = rows_that_count(columns, rows == Rows::Complete, pool)?;
    let summaries = summarise(columns, &of, n, pool, look)?;
    let any_missing = summaries.iter().any(|summary| summary.missing > 0);
    let is_done = summaries.iter().all(Summary::varies) && !(any_missing && rows == Rows::All);
    let mut found = Found { summaries, rows: n, is_done };
    if !is_done {
        return Ok(found);
    }
    let summaries = &found.summaries;
    if any_missing {
        found.rows = pairwise(columns, kind == Kind::Spearman, summaries, pool, c, look)?;
    } else if kind == Kind::Pearson {
        whole(columns, summaries, &of, n, pool, c, look)?;
    } else {
        let ranks = ranks(columns, &of, n, pool, look)?;
        let ranks: Vec<Numbers> = ranks.chunks(n.max(1)).map(Numbers::Doubles).collect();
        whole(&ranks, &summarise(&ranks, &Of::All, n, pool, look)?, &Of::All, n, pool, c, look)?;
    }
    symmetrise(c, columns.len(), pool);
    Ok(found)
}

/// The upper triangle of the correlations of rows without missing values.
fn whole(
    columns: &[Numbers],
    summary: &[Summary],
    of: &Of,
    n: usize,
    pool: &Pool,
    c: &mut [f64],
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let p = columns.len();
    let centres: Vec<Centre> = columns.iter().zip(summary).map(|(x, summary)| Centre::of(x, summary, of, n)).collect();
    // The sums of what is left once the means, which are rounded, are taken away.
    let mut rests = memory::zeros(p, Use::Correlations)?;
    let segments = n.div_ceil(SEGMENT);
    let range = |segment: usize| segment * SEGMENT..n.min((segment + 1) * SEGMENT);
    if p <= NARROW {
        // A few segments of each thread at a time: their products wait to be added in order.
        let wave = 4 * pool.threads();
        let mut products = memory::zeros(wave.min(segments) * p * (p + 1), Use::Correlations)?;
        c.fill(0.0);
        for first in (0..segments).step_by(wave.max(1)) {
            let count = wave.min(segments - first);
            let parts: Vec<Mutex<&mut [f64]>> = products.chunks_mut(p * (p + 1)).take(count).map(Mutex::new).collect();
            let work = |centred: &mut Vec<f64>, task: usize, _: &Stop| {
                let Ok(mut part) = parts[task].lock() else { return };
                let range = range(first + task);
                let rows = range.len();
                if !memory::grow(centred, rows * p, 0.0, Use::Correlations) {
                    return;
                }
                let (rests, product) = part.split_at_mut(p);
                for (j, column) in centred.chunks_mut(rows).take(p).enumerate() {
                    rests[j] = centre(&columns[j], &centres[j], of, range.clone(), column);
                }
                for j in (0..p).step_by(BLOCK) {
                    let to = p.min(j + BLOCK);
                    multiply(&centred[..to * rows], &centred[j * rows..to * rows], rows, &mut product[j * p..], p, 0.0);
                }
            };
            pool.run(count, n * p < SMALL, |_| 1.0, &mut |_| look(), work)?;
            drop(parts);
            for part in products.chunks(p * (p + 1)).take(count) {
                let (sums, product) = part.split_at(p);
                rests.iter_mut().zip(sums).for_each(|(rest, sum)| *rest += sum);
                for (y, (column, product)) in c.chunks_mut(p).zip(product.chunks(p)).enumerate() {
                    column[..=y].iter_mut().zip(product).for_each(|(cell, add)| *cell += add);
                }
            }
        }
    } else {
        let mut centred = memory::zeros(SEGMENT.min(n) * p, Use::Correlations)?;
        for segment in 0..segments {
            let range = range(segment);
            let rows = range.len();
            let slots: Vec<Mutex<(&mut [f64], &mut f64)>> =
                centred.chunks_mut(rows).zip(&mut rests).map(|(column, rest)| Mutex::new((column, rest))).collect();
            pool.run(
                p,
                false,
                |_| 1.0,
                &mut |_| look(),
                |_: &mut (), j, _| {
                    if let Ok(mut slot) = slots[j].lock() {
                        *slot.1 += centre(&columns[j], &centres[j], of, range.clone(), slot.0);
                    }
                },
            )?;
            drop(slots);
            let blocks: Vec<Mutex<&mut [f64]>> = c.chunks_mut(BLOCK * p).map(Mutex::new).collect();
            let beta = if segment == 0 { 0.0 } else { 1.0 };
            let count = blocks.len();
            // The longest columns first.
            let work = |_: &mut (), task: usize, _: &Stop| {
                let block = count - 1 - task;
                let (from, to) = (block * BLOCK, p.min((block + 1) * BLOCK));
                if let Ok(mut product) = blocks[block].lock() {
                    multiply(&centred[..to * rows], &centred[from * rows..to * rows], rows, &mut product, p, beta);
                }
            };
            pool.run(count, false, |_| 1.0, &mut |_| look(), work)?;
        }
    }
    let variances: Vec<f64> = (0..p).map(|x| c[x * p + x] - rests[x] * rests[x] / n as f64).collect();
    pool.each_of(c.chunks_mut(BLOCK * p).collect(), |block, cells| {
        for (y, column) in (block * BLOCK..).zip(cells.chunks_mut(p)) {
            for (x, cell) in column[..y].iter_mut().enumerate() {
                *cell = ratio(*cell - rests[x] * rests[y] / n as f64, variances[x], variances[y]);
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(x: &[f64], y: &[f64]) -> f64 {
        let n = x.len() as f64;
        let (a, b) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
        let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(y).map(|(x, y)| f(x - a, y - b)).sum::<f64>();
        sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
    }

    fn value(row: usize, column: usize) -> f64 {
        (((row * 7919 + column * 104_729 + 13) % 10_007) as f64 / 10_007.0 + column as f64 * ((row % 11) as f64)).sqrt()
    }

    #[test]
    fn narrow_wide_and_pairwise_are_the_plain_formula_on_any_threads() {
        for (n, p) in [(5, 3), (4097, 5), (9000, 130), (300, 258), (4200, 260)] {
            let data: Vec<f64> = (0..n * p).map(|at| value(at % n, at / n)).collect();
            let columns: Vec<Numbers> = data.chunks(n).map(Numbers::Doubles).collect();
            let mut holed = data.clone();
            (0..n * p).step_by(997).for_each(|at| holed[at] = f64::NAN);
            let holed: Vec<Numbers> = holed.chunks(n).map(Numbers::Doubles).collect();
            let mut known: Vec<Vec<f64>> = Vec::new();
            for threads in [1, 2, 5] {
                let pool = Pool::new(threads);
                let mut c = vec![7.0; p * p];
                let found = correlation(&columns, Kind::Pearson, Rows::All, &pool, &mut c, &mut || Ok(())).unwrap();
                assert_eq!((found.rows, found.is_done), (n, true));
                let mut by_pair = vec![7.0; p * p];
                let found = correlation(&columns, Kind::Pearson, Rows::Pairwise, &pool, &mut by_pair, &mut || Ok(()));
                assert_eq!((found.unwrap().rows, &by_pair), (n, &c));
                correlation(&holed, Kind::Pearson, Rows::Pairwise, &pool, &mut by_pair, &mut || Ok(())).unwrap();
                for x in (0..p).step_by(p / 3) {
                    for y in 0..x {
                        let wanted = plain(&data[x * n..(x + 1) * n], &data[y * n..(y + 1) * n]);
                        assert!((c[x * p + y] - wanted).abs() < 1e-12 && c[x * p + y] == c[y * p + x]);
                    }
                }
                match known.is_empty() {
                    true => known = vec![c, by_pair],
                    false => assert_eq!(known, [c, by_pair]),
                }
            }
        }
    }

    #[test]
    fn integers_ranks_and_columns_without_a_correlation() {
        let whole = [3, 1, 4, 1, 5, i32::MIN, 9];
        let doubles = [2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0];
        let columns = [Numbers::Integers(&whole), Numbers::Doubles(&doubles)];
        let pool = Pool::none();
        let (found, n) = summaries(&columns, true, &pool, &mut || Ok(())).unwrap();
        assert_eq!((found[0].least, found[0].largest, found[0].missing, n), (1.0, 9.0, 0, 6));
        for rows in [Rows::Complete, Rows::Pairwise] {
            for (kind, x, y) in [
                (Kind::Pearson, [3.0, 1.0, 4.0, 1.0, 5.0, 9.0], [2.0, 7.0, 1.0, 8.0, 2.0, 1.0]),
                (Kind::Spearman, [3.0, 1.5, 4.0, 1.5, 5.0, 6.0], [3.5, 5.0, 1.5, 6.0, 3.5, 1.5]),
            ] {
                let mut c = [0.0; 4];
                let found = correlation(&columns, kind, rows, &pool, &mut c, &mut || Ok(())).unwrap();
                assert_eq!((found.rows, found.is_done), (6, true));
                assert!((c[1] - plain(&x, &y)).abs() < 1e-15 && c[1] == c[2], "{kind:?}, {rows:?}");
            }
        }
        let mut c = [7.0; 4];
        let mut done = |columns: &[Numbers], rows| {
            correlation(columns, Kind::Pearson, rows, &pool, &mut c, &mut || Ok(())).unwrap().is_done
        };
        assert!(!done(&columns, Rows::All));
        for bad in [[1.0; 7], [1.0, 2.0, f64::INFINITY, 0.0, 0.0, 0.0, 0.0]] {
            assert!(!done(&[columns[1], Numbers::Doubles(&bad)], Rows::All));
        }
        // Constant in the rows that both have.
        let other = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0];
        assert!(done(&[columns[0], Numbers::Doubles(&other)], Rows::Pairwise));
        assert!(c[1].is_nan() && c[2].is_nan() && c[0] == 1.0);
    }
}
