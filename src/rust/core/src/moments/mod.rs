//! The correlation matrix of data, on threads.
//!
//! Columns are centred, a few thousand rows at a time, and multiplied by the crate `matrixmultiply`. The order of every sum depends only on
//! the shape of the data, so any number of threads gives the same bits. Machines with other vector instructions, and GPUs, may differ in
//! the last digits. A search is exact given the matrix. Columns that were centred before ([`Centred`]) give the same bits as those that
//! were not.

mod columns;
mod genotypes;
mod normal;
mod pairs;
mod pairwise;
mod prepared;
mod product;
mod ranks;
pub mod running;
mod scan;
mod sparse;
mod tiles;
mod treated;

pub use columns::{Centred, Summary};
pub use genotypes::Genotypes;
pub use pairs::{centre_and_scale, of_pairs, Form, Measure, Scale};
pub use prepared::{Prepared, Table};
pub use scan::{scan, Near, Scan};
pub use sparse::{of_sparse, Sparse};
pub use tiles::{Gathered, Tiles};
pub use treated::Treatment;

use std::sync::Mutex;

use crate::matrix::symmetrise;
use crate::memory::{self, Use};
use crate::numbers::{Numbers, SMALL};
use crate::pool::{Pool, Stop};
use crate::Result;
use columns::{rows_that_count, summarise, Of};
use pairwise::pairwise;
use product::{multiply, Moments};

/// Number of rows that are centred together.
const SEGMENT: usize = 4096;

/// Largest number of columns for which threads take segments of rows. With more columns, they take blocks of columns of one segment after
/// the other.
const NARROW: usize = 256;

/// Number of columns of a block.
const BLOCK: usize = 64;

/// Number of columns by which a block is multiplied before a thread checks for a stop, after some hundredths of a second.
const AT_ONCE: usize = 2048;

/// The kind of correlation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Pearson's correlation.
    Pearson,
    /// 2 sin(pi rho / 6) for Spearman's rho, which is Pearson's correlation of the ranks, with ties at their mean rank. It estimates the
    /// correlation of the normal variables that the columns are increasing functions of (N. Harris and M. Drton 2013, JMLR 14, 3365-3383).
    /// Columns are centred ranks.
    Spearman,
    /// Pearson's correlation of normal scores: the quantiles at rank / (n + 1) (H. Liu, J. Lafferty and L. Wasserman 2009, JMLR 10,
    /// 2295-2328).
    Scores,
}

impl Kind {
    /// Turns the correlations of the columns into those of this kind.
    fn finish(self, c: &mut [f64], pool: &Pool) {
        let of = |r: f64| match r.abs() >= 1.0 {
            true => r,
            false => 2.0 * (std::f64::consts::FRAC_PI_6 * r).sin(),
        };
        if self == Kind::Spearman {
            pool.each_of(c.chunks_mut(SMALL).collect(), |_, cells| cells.iter_mut().for_each(|r| *r = of(*r)));
        }
    }
}

/// The rows that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All rows. If a value is missing, nothing is computed.
    All,
    /// The rows without a missing value.
    Complete,
    /// For each pair of columns, the rows in which both have a value.
    Pairwise,
}

/// Results other than the correlations.
pub struct Found {
    /// A summary of each column in the rows that count, or in all rows with [`Rows::Pairwise`].
    pub summaries: Vec<Summary>,
    /// Number of rows that count, or the smallest number for any pair.
    pub rows: usize,
    /// Number of independent rows that these are worth, see [`Treatment`].
    pub size: f64,
    /// Whether the correlations were computed.
    pub is_done: bool,
}

/// A callback that gets the finished share of the work ten times a second. An error ends the work.
pub type Watch<'w> = dyn FnMut(f64) -> Result<()> + 'w;

/// Writes the correlations of p columns of one length to `c`, p x p. They agree with R's `cor()` to 1e-12. The matrix is symmetric, with
/// ones on the diagonal and all values between -1 and 1. A value is NaN if a column is constant in the rows of the pair. Columns that are
/// equal, up to their sign or a power of two, have exactly 1 or -1. Nothing is computed if a column is constant or has infinite values, or
/// if [`Rows::All`] has missing values. Pairwise rows allow only a kind as treatment.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and errors of `watch`.
pub fn correlation<'a>(
    columns: &[Numbers],
    of: impl Into<Treatment<'a>>,
    rows: Rows,
    pool: &Pool,
    c: &mut [f64],
    watch: &mut Watch,
) -> Result<Found> {
    let of = of.into();
    let mut found = centred(columns, of, rows, pool, watch, |x, watch| of_centred(x, pool, c, watch))?;
    if rows == Rows::Pairwise && !found.is_done && found.summaries.iter().all(Summary::varies) {
        found.rows = pairwise(columns, of.kind, &found.summaries, pool, c, watch)?;
        found.size = found.rows as f64;
        symmetrise(c, columns.len(), pool);
        found.is_done = true;
    }
    if found.is_done {
        of.kind.finish(c, pool);
    }
    Ok(found)
}

/// Calls `take` with the centred columns, treated as wanted. It does not if a column is constant, has infinite values, or has
/// missing values in the rows that count.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and errors of `watch` and `take`.
pub fn centred<'a, 'w>(
    columns: &[Numbers],
    of: impl Into<Treatment<'a>>,
    rows: Rows,
    pool: &Pool,
    watch: &mut Watch<'w>,
    take: impl FnOnce(&Centred, &mut Watch<'w>) -> Result<()>,
) -> Result<Found> {
    let treatment = of.into();
    let (of, n) = rows_that_count(columns, rows == Rows::Complete, pool)?;
    let summaries = summarise(columns, &of, n, pool, &mut || watch(0.0))?;
    let is_done = summaries.iter().all(|summary| summary.varies() && summary.missing == 0);
    let mut size = n as f64;
    if is_done && treatment.is_none() {
        take(&Centred::new(columns, &summaries, &of, n), watch)?;
    } else if is_done {
        let treated = treatment.of(columns, &summaries, &of, n, pool, &mut || watch(0.0))?;
        size = treated.size;
        let columns: Vec<Numbers> = treated.cells.chunks(n.max(1)).map(Numbers::Doubles).collect();
        let of_treated = summarise(&columns, &Of::All, n, pool, &mut || watch(0.0))?;
        take(&Centred::new(&columns, &of_treated, &Of::All, n), watch)?;
    }
    Ok(Found { summaries, rows: n, size, is_done })
}

/// Returns the correlation of two of these centred columns of n numbers, with the digits that [`of_centred`] gives for all; NaN if there is
/// no memory for the work.
pub fn of_two(cells: &[f64], n: usize, pair: [usize; 2]) -> f64 {
    let of = Centred::as_they_are(pair.map(|v| Numbers::Doubles(&cells[v * n..][..n])).to_vec());
    let mut c = [f64::NAN; 4];
    match upper(&of, &Pool::none(), &mut c, &mut |_| Ok(())) {
        Ok(()) => c[2],
        Err(_) => f64::NAN,
    }
}

/// Writes the correlations of centred columns, as [`correlation`] does.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and errors of `watch`.
pub fn of_centred(x: &Centred, pool: &Pool, c: &mut [f64], watch: &mut Watch) -> Result<()> {
    upper(x, pool, c, watch)?;
    symmetrise(c, x.p(), pool);
    Ok(())
}

/// Writes the upper triangle of the correlations.
fn upper(x: &Centred, pool: &Pool, c: &mut [f64], watch: &mut Watch) -> Result<()> {
    let (n, p) = (x.n(), x.p());
    // The sums that remain after subtracting the means, because the means are rounded.
    let mut rests = memory::zeros(p, Use::Correlations)?;
    let segments = n.div_ceil(SEGMENT);
    let range = |segment: usize| segment * SEGMENT..n.min((segment + 1) * SEGMENT);
    if p <= NARROW {
        // Each thread takes a few segments at a time. Their products wait, so that they are added in order.
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
                    rests[j] = x.column(j, range.clone(), column);
                }
                for j in (0..p).step_by(BLOCK) {
                    let to = p.min(j + BLOCK);
                    multiply(&centred[..to * rows], &centred[j * rows..to * rows], rows, &mut product[j * p..], p, 0.0);
                }
            };
            pool.run(count, n * p < SMALL, |_| 1.0, &mut |done| watch((first as f64 + done) / segments as f64), work)?;
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
                &mut |_| watch(segment as f64 / segments as f64),
                |_: &mut (), j, _| {
                    if let Ok(mut slot) = slots[j].lock() {
                        let (column, rest) = &mut *slot;
                        **rest += x.column(j, range.clone(), column);
                    }
                },
            )?;
            drop(slots);
            let blocks: Vec<Mutex<&mut [f64]>> = c.chunks_mut(BLOCK * p).map(Mutex::new).collect();
            let beta = if segment == 0 { 0.0 } else { 1.0 };
            let count = blocks.len();
            // The longest columns come first.
            let cost = |task: usize| (count - task) as f64;
            let total = (count * (count + 1)) as f64 / 2.0;
            let work = |_: &mut (), task: usize, stop: &Stop| {
                let block = count - 1 - task;
                let (from, to) = (block * BLOCK, p.min((block + 1) * BLOCK));
                let Ok(mut product) = blocks[block].lock() else { return };
                for left in (0..to).step_by(AT_ONCE).take_while(|_| !stop.requested()) {
                    let columns = left * rows..to.min(left + AT_ONCE) * rows;
                    multiply(&centred[columns], &centred[from * rows..to * rows], rows, &mut product[left..], p, beta);
                }
            };
            let told = &mut |done: f64| watch((segment as f64 + done / total) / segments as f64);
            pool.run(count, false, cost, told, work)?;
        }
    }
    let variances: Vec<f64> = (0..p).map(|x| c[x * p + x] - rests[x] * rests[x] / n as f64).collect();
    pool.each_of(c.chunks_mut(BLOCK * p).collect(), |block, cells| {
        for (y, column) in (block * BLOCK..).zip(cells.chunks_mut(p)) {
            let before = Moments { rests: &rests[..y], variances: &variances[..y], n: n as f64 };
            before.correlate(&mut column[..y], rests[y], variances[y]);
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

    #[test]
    fn a_pair_has_the_digits_that_it_has_among_all() {
        for (n, p) in [(2, 3), (12, 70), (5000, 9), (300, NARROW + 5)] {
            for scale in [1.0, 1e-100] {
                let mut cells: Vec<f64> = (0..n * p).map(|at| scale * (value(at % n, at / n) - 1.5)).collect();
                for column in cells.chunks_mut(n) {
                    let mean = column.iter().sum::<f64>() / n as f64;
                    column.iter_mut().for_each(|cell| *cell -= mean);
                }
                let mut c = vec![0.0; p * p];
                of_centred(&Centred::of_cells(&cells, n), &Pool::new(2), &mut c, &mut |_| Ok(())).unwrap();
                for (x, y) in [(0, 1), (0, p - 1), (p / 2, p - 1), (p - 2, p - 1)].into_iter().filter(|(x, y)| x < y) {
                    let two = of_two(&cells, n, [x, y]);
                    assert!(two.to_bits() == c[y * p + x].to_bits() && two.abs() <= 1.0, "{n} x {p}: {x} {y}");
                }
            }
        }
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
                let found = correlation(&columns, Kind::Pearson, Rows::All, &pool, &mut c, &mut |_| Ok(())).unwrap();
                assert_eq!((found.rows, found.is_done), (n, true));
                let mut by_pair = vec![7.0; p * p];
                let found = correlation(&columns, Kind::Pearson, Rows::Pairwise, &pool, &mut by_pair, &mut |_| Ok(()));
                assert_eq!((found.unwrap().rows, &by_pair), (n, &c));
                correlation(&holed, Kind::Pearson, Rows::Pairwise, &pool, &mut by_pair, &mut |_| Ok(())).unwrap();
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
    fn columns_that_were_centred_before_have_the_bits_of_those_that_were_not() {
        for (n, p) in [(5, 2), (5000, 7), (9000, 40), (300, 260), (4200, 300)] {
            let mut data: Vec<f64> = (0..n * p).map(|at| value(at % n, at / n)).collect();
            data[..n].iter_mut().for_each(|value| *value = *value * 1e90 + 1e93);
            let whole: Vec<i32> = (0..n).map(|row| (value(row, 3) * 50.0) as i32).collect();
            let mut columns: Vec<Numbers> = data.chunks(n).map(Numbers::Doubles).collect();
            columns[p - 1] = Numbers::Integers(&whole);
            let mut holed = data.clone();
            holed[n + 2] = f64::NAN;
            let mut with_hole = columns.clone();
            with_hole[1] = Numbers::Doubles(&holed[n..2 * n]);
            let pool = Pool::new(2);
            for (columns, rows) in [(&columns, Rows::All), (&columns, Rows::Pairwise), (&with_hole, Rows::Complete)] {
                for kind in [Kind::Pearson, Kind::Spearman, Kind::Scores] {
                    let mut wanted = vec![7.0; p * p];
                    correlation(columns, kind, rows, &pool, &mut wanted, &mut |_| Ok(())).unwrap();
                    let (mut cells, mut by_pieces, mut n) = (Vec::new(), Vec::new(), 0);
                    centred(columns, kind, rows, &pool, &mut |_| Ok(()), |x, _| {
                        n = x.n();
                        cells = vec![7.0; n * p];
                        by_pieces = cells.clone();
                        assert_eq!(x.write(&mut cells, &pool), vec![true; p]);
                        by_pieces.chunks_mut(333).enumerate().for_each(|(i, piece)| x.fill(333 * i, piece));
                        Ok(())
                    })
                    .unwrap();
                    assert!(cells == by_pieces && (rows == Rows::Complete) == (n < columns[0].len()));
                    let mut c = vec![7.0; p * p];
                    let mut last = 0.0;
                    of_centred(&Centred::of_cells(&cells, n), &pool, &mut c, &mut |share| {
                        assert!(share >= last && share <= 1.0);
                        last = share;
                        Ok(())
                    })
                    .unwrap();
                    kind.finish(&mut c, &pool);
                    assert!(c == wanted && last == 1.0, "{n} x {p} {kind:?} {rows:?}");
                }
            }
            // Missing values in pairs, and a constant, leave nothing to compute.
            let never = |_: &Centred, _: &mut Watch| panic!("there are missing values");
            assert!(
                !centred(&with_hole, Kind::Pearson, Rows::Pairwise, &pool, &mut |_| Ok(()), never).unwrap().is_done
            );
        }
        let spread = [0.0, f64::EPSILON, 0.0, 0.0];
        let pool = Pool::none();
        let mut cells = [0.0; 4];
        let constant = Centred::of_cells(&[0.5; 4], 4).write(&mut cells, &pool);
        assert_eq!((constant, Centred::of_cells(&spread, 4).write(&mut cells, &pool)), (vec![false], vec![true]));
    }

    #[test]
    fn integers_ranks_and_columns_without_a_correlation() {
        let whole = [3, 1, 4, 1, 5, i32::MIN, 9];
        let doubles = [2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0];
        let columns = [Numbers::Integers(&whole), Numbers::Doubles(&doubles)];
        let pool = Pool::none();
        let (of, n) = rows_that_count(&columns, true, &pool).unwrap();
        let found = summarise(&columns, &of, n, &pool, &mut || Ok(())).unwrap();
        assert_eq!((found[0].least, found[0].largest, found[0].missing, n), (1.0, 9.0, 0, 6));
        for rows in [Rows::Complete, Rows::Pairwise] {
            for (kind, x, y) in [
                (Kind::Pearson, [3.0, 1.0, 4.0, 1.0, 5.0, 9.0], [2.0, 7.0, 1.0, 8.0, 2.0, 1.0]),
                (Kind::Spearman, [3.0, 1.5, 4.0, 1.5, 5.0, 6.0], [3.5, 5.0, 1.5, 6.0, 3.5, 1.5]),
            ] {
                let mut c = [0.0; 4];
                let found = correlation(&columns, kind, rows, &pool, &mut c, &mut |_| Ok(())).unwrap();
                assert_eq!((found.rows, found.is_done), (6, true));
                let mut wanted = [plain(&x, &y)];
                kind.finish(&mut wanted, &pool);
                assert!((c[1] - wanted[0]).abs() < 1e-15 && c[1] == c[2], "{kind:?}, {rows:?}");
            }
        }
        let mut c = [7.0; 4];
        let mut done = |columns: &[Numbers], rows| {
            correlation(columns, Kind::Pearson, rows, &pool, &mut c, &mut |_| Ok(())).unwrap().is_done
        };
        assert!(!done(&columns, Rows::All));
        for bad in [[1.0; 7], [1.0, 2.0, f64::INFINITY, 0.0, 0.0, 0.0, 0.0]] {
            assert!(!done(&[columns[1], Numbers::Doubles(&bad)], Rows::All));
        }
        // The column is constant in the rows that both have.
        let other = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0];
        assert!(done(&[columns[0], Numbers::Doubles(&other)], Rows::Pairwise));
        assert!(c[1].is_nan() && c[2].is_nan() && c[0] == 1.0);
    }
}
