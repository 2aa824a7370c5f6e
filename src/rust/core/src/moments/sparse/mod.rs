//! Correlations of a sparse matrix, computed from its entries alone.
//!
//! Sums of products of two columns run over the rows in which both have an entry. To find these, entries are sorted by row, a part of the
//! rows at a time. Entry (i, y) adds its row's entries up to column y, times itself, to column y.
//!
//! A column with zeros in a share z of its rows has a variance of at least z times its mean square. So the means can be subtracted at the
//! end, at the cost of a factor of 1 / z in rounding. Columns with entries in most rows are therefore centred first, as if they were dense,
//! some of their rows at a time.

mod products;

use std::sync::Mutex;

use super::columns::{Holding, Summary};
use super::ranks::enter_ranks;
use super::running::{power_for, times_power};
use super::treated::score;
use super::{Found, Kind, Rows, Watch};
use crate::memory::{self, Use};
use crate::pool::{Pool, Stop};
use crate::{Error, Result};
use products::products;

/// A sparse n x p matrix by column, as the package Matrix stores it.
#[derive(Clone, Copy)]
pub struct Sparse<'a> {
    n: usize,
    /// The index of each column's first entry, and then the number of entries.
    starts: &'a [i32],
    /// The rows of the entries, ascending in each column.
    rows: &'a [i32],
    values: &'a [f64],
}

impl<'a> Sparse<'a> {
    /// Makes a matrix from the slots of a dgCMatrix.
    ///
    /// # Errors
    /// [`Error::Argument`] if the slots do not form one.
    pub fn new(n: usize, starts: &'a [i32], rows: &'a [i32], values: &'a [f64], pool: &Pool) -> Result<Self> {
        let x = Sparse { n, starts, rows, values };
        let ascend = starts.first() == Some(&0) && starts.windows(2).all(|pair| pair[0] <= pair[1]);
        let fit = ascend && starts.last() == Some(&(rows.len() as i32)) && rows.len() == values.len();
        let wrong = Mutex::new(!fit);
        if fit {
            pool.each(starts.len() - 1, |j| {
                let rows = x.entries(j).0;
                let inside =
                    rows.first().is_none_or(|&row| row >= 0) && rows.last().is_none_or(|&row| (row as usize) < n);
                if !inside || rows.windows(2).any(|pair| pair[0] >= pair[1]) {
                    _ = wrong.lock().map(|mut wrong| *wrong = true);
                }
            });
        }
        match wrong.into_inner() {
            Ok(false) => Ok(x),
            _ => Err(Error::Argument {
                argument: "x",
                value: "has slots that do not form a sparse matrix".into(),
                hint: "use validObject(x) to see what is wrong".into(),
            }),
        }
    }

    fn p(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the rows and values of a column's entries.
    fn entries(&self, j: usize) -> (&'a [i32], &'a [f64]) {
        let range = self.starts[j] as usize..self.starts[j + 1] as usize;
        (&self.rows[range.clone()], &self.values[range])
    }
}

/// The columns in the rows that count.
struct View<'a> {
    x: Sparse<'a>,
    /// New numbers of the rows, with `u32::MAX` for rows that do not count, or `None` if all rows count.
    numbers: Option<Vec<u32>>,
    n: usize,
    summaries: Vec<Summary>,
    /// Numbers of entries in rows that count, by column.
    counts: Vec<usize>,
    /// Exponents of the powers of two by which values are multiplied.
    powers: Vec<i32>,
    /// Ranks or scores that replace the values.
    ranks: Option<Vec<f64>>,
}

impl View<'_> {
    /// Returns the entries (row, value) of a column that are in rows that count. `from..to` limits them by original row number.
    fn entries(&self, j: usize, from: usize, to: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (rows, values) = self.x.entries(j);
        let values = self.ranks.as_ref().map_or(values, |ranks| &ranks[self.x.starts[j] as usize..][..rows.len()]);
        let begin = rows.partition_point(|&row| (row as usize) < from);
        let end = begin + rows[begin..].partition_point(|&row| (row as usize) < to);
        let power = self.powers[j];
        rows[begin..end].iter().zip(&values[begin..end]).filter_map(move |(&row, &value)| {
            let row = self.numbers.as_ref().map_or(row as u32, |numbers| numbers[row as usize]);
            (row != u32::MAX).then(|| (row as usize, times_power(value, power)))
        })
    }

    fn all(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entries(j, 0, self.x.n)
    }
}

/// Works as [`correlation`](super::correlation) for a sparse matrix, without pairwise rows.
///
/// # Errors
/// [`Error::Memory`], and errors of `watch`.
pub fn of_sparse(x: Sparse, kind: Kind, rows: Rows, pool: &Pool, c: &mut [f64], watch: &mut Watch) -> Result<Found> {
    let (numbers, n) = match rows {
        Rows::Complete => complete_rows(&x)?,
        _ => (None, x.n),
    };
    let p = x.p();
    let mut view = View {
        x,
        numbers,
        n,
        summaries: memory::space(p, Use::Correlations)?,
        counts: memory::space(p, Use::Correlations)?,
        powers: memory::zeros(p, Use::Correlations)?,
        ranks: None,
    };
    let about = Mutex::new(Vec::new());
    let work = |values: &mut Vec<f64>, j: usize, _: &Stop| {
        values.clear();
        if !memory::prepare(values, view.x.entries(j).0.len() + 1, Use::Correlations) {
            return;
        }
        values.extend(view.all(j).map(|(_, value)| value));
        let count = values.len();
        if count < n {
            values.push(0.0);
        }
        let mut held = Holding::default();
        held.add(values);
        if let Ok(mut about) = about.lock() {
            about.push((j, held.summary(), count));
        }
    };
    pool.run(p, x.rows.len() < 100_000, |_| 1.0, &mut |_| watch(0.0), work)?;
    let mut about = about.into_inner().unwrap_or_default();
    about.sort_unstable_by_key(|of| of.0);
    for (_, summary, count) in about {
        view.summaries.push(summary);
        view.counts.push(count);
    }
    let is_done = view.summaries.iter().all(|summary| summary.varies() && summary.missing == 0);
    if is_done {
        match kind {
            Kind::Spearman | Kind::Scores => rank(&mut view, kind, pool, watch)?,
            Kind::Pearson => view
                .powers
                .iter_mut()
                .zip(&view.summaries)
                .for_each(|(power, of)| *power = power_for(of.least.abs().max(of.largest.abs()))),
        }
        products(&view, pool, c, watch)?;
        kind.finish(c, pool);
    }
    Ok(Found { summaries: view.summaries, rows: n, size: n as f64, is_done })
}

/// Returns new numbers of the rows without a missing value, or `None` if all rows are complete, and the number of complete rows.
fn complete_rows(x: &Sparse) -> Result<(Option<Vec<u32>>, usize)> {
    if !x.values.iter().any(|value| value.is_nan()) {
        return Ok((None, x.n));
    }
    let mut numbers: Vec<u32> = memory::zeros(x.n, Use::Correlations)?;
    for (&row, _) in x.rows.iter().zip(x.values).filter(|(_, value)| value.is_nan()) {
        numbers[row as usize] = u32::MAX;
    }
    let mut count = 0;
    for number in numbers.iter_mut().filter(|number| **number != u32::MAX) {
        (*number, count) = (count, count + 1);
    }
    Ok((Some(numbers), count as usize))
}

/// Replaces the values by their ranks minus the rank of zero, or by the same difference of scores, so that zeros stay zeros.
fn rank(view: &mut View, kind: Kind, pool: &Pool, watch: &mut Watch) -> Result<()> {
    let mut ranks: Vec<f64> = memory::zeros(view.x.values.len(), Use::Correlations)?;
    let mut rest = &mut ranks[..];
    let mut slots: Vec<Mutex<&mut [f64]>> = Vec::new();
    for j in 0..view.x.p() {
        let (own, others) = rest.split_at_mut(view.x.entries(j).0.len());
        slots.push(Mutex::new(own));
        rest = others;
    }
    let of = &*view;
    let work = |(sorted, found): &mut (Vec<(f64, u32)>, Vec<f64>), j: usize, _: &Stop| {
        let Ok(mut slot) = slots[j].lock() else { return };
        let (rows, values) = of.x.entries(j);
        sorted.clear();
        let fits = memory::prepare(sorted, rows.len(), Use::Correlations);
        if !fits || !memory::grow(found, rows.len(), 0.0, Use::Correlations) {
            return;
        }
        let counts = |row: i32| of.numbers.as_ref().is_none_or(|numbers| numbers[row as usize] != u32::MAX);
        // Adding 0 removes negative zeros, which would not be tied with the others.
        let entries = rows.iter().zip(values).enumerate().filter(|(_, (&row, _))| counts(row));
        sorted.extend(entries.map(|(at, (_, &value))| (value + 0.0, at as u32)));
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        enter_ranks(sorted, found);
        let hidden = (of.n - sorted.len()) as f64;
        let negative = sorted.partition_point(|entry| entry.0 < 0.0);
        let zeros = sorted.partition_point(|entry| entry.0 <= 0.0) - negative;
        // For a column without zeros, this is between the ranks below and above zero.
        let of_zero = negative as f64 + (zeros as f64 + hidden + 1.0) / 2.0;
        for &(value, at) in sorted.iter() {
            let rank = found[at as usize] + if value > 0.0 { hidden } else { 0.0 };
            slot[at as usize] = match kind {
                _ if value == 0.0 => 0.0,
                Kind::Scores => score(rank, of.n) - score(of_zero, of.n),
                _ => rank - of_zero,
            };
        }
    };
    pool.run(slots.len(), of.x.rows.len() < 10_000, |_| 1.0, &mut |_| watch(0.0), work)?;
    drop(slots);
    view.ranks = Some(ranks);
    Ok(())
}

#[cfg(test)]
mod tests;
