//! Correlations of a sparse matrix, of its entries alone.
//!
//! Sums of products of two columns are over the rows where both have an entry. To have these by row, entries are put in order of rows, a
//! part of the rows at a time: entry (i, y) adds its row's entries up to column y, times itself, to column y.
//!
//! A column with zeros in a share z of its rows has a variance of at least z times its mean square. So the means can be taken out at the
//! end, and cost a factor of 1 / z in rounding. Columns with entries in most rows are therefore centred first, as if they were dense,
//! some rows of them at a time.

use std::sync::Mutex;

use super::columns::{Holding, Summary};
use super::product::{multiply_rows, Moments};
use super::ranks::enter_ranks;
use super::running::{power_for, times_power};
use super::{Found, Kind, Rows, Watch, BLOCK};
use crate::memory::{self, Use};
use crate::pool::{Pool, Stop};
use crate::search::symmetrise;
use crate::{Error, Result};

/// Entries that are in order of rows at a time, 192 MiB.
const AT_ONCE: usize = 1 << 24;

/// Entries of a part of them, which stays in the cache while columns pass.
const PART: usize = 1 << 18;

/// A sparse n x p matrix by column, as the package Matrix keeps it.
#[derive(Clone, Copy)]
pub struct Sparse<'a> {
    n: usize,
    /// Where the entries of a column begin; at last their number.
    starts: &'a [i32],
    /// Their rows, ascending in each column.
    rows: &'a [i32],
    values: &'a [f64],
}

impl<'a> Sparse<'a> {
    /// From slots of a dgCMatrix.
    ///
    /// # Errors
    /// [`Error::Argument`] where they are none.
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
                value: "has slots that make no sparse matrix".into(),
                mend: "validObject(x) says what is wrong".into(),
            }),
        }
    }

    fn p(&self) -> usize {
        self.starts.len() - 1
    }

    /// Rows and values of a column.
    fn entries(&self, j: usize) -> (&'a [i32], &'a [f64]) {
        let range = self.starts[j] as usize..self.starts[j + 1] as usize;
        (&self.rows[range.clone()], &self.values[range])
    }
}

/// The columns in the rows that count.
struct View<'a> {
    x: Sparse<'a>,
    /// New numbers of rows, and `u32::MAX` of those that do not count; none: all do.
    numbers: Option<Vec<u32>>,
    n: usize,
    summaries: Vec<Summary>,
    /// Entries in rows that count.
    counts: Vec<usize>,
    /// What values are multiplied with, as a power of two.
    powers: Vec<i32>,
    /// In place of the values.
    ranks: Option<Vec<f64>>,
}

impl View<'_> {
    /// Entries of a column in rows that count, from the first one in row `from` of all rows on, to row `to`: row and value.
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

/// As [`correlation`](super::correlation), of a sparse matrix and without pairwise rows.
///
/// # Errors
/// [`Error::Memory`], and what `watch` returns.
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
            Kind::Spearman => rank(&mut view, pool, watch)?,
            Kind::Pearson => view
                .powers
                .iter_mut()
                .zip(&view.summaries)
                .for_each(|(power, of)| *power = power_for(of.least.abs().max(of.largest.abs()))),
        }
        products(&view, pool, c, watch)?;
    }
    Ok(Found { summaries: view.summaries, rows: n, is_done })
}

/// New numbers of the rows without a missing value, and how many they are; none where all are.
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

/// Ranks less that of the zeros, which leaves them zeros.
fn rank(view: &mut View, pool: &Pool, watch: &mut Watch) -> Result<()> {
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
        // No negative zero, which would not be tied with the others.
        let entries = rows.iter().zip(values).enumerate().filter(|(_, (&row, _))| counts(row));
        sorted.extend(entries.map(|(at, (_, &value))| (value + 0.0, at as u32)));
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        enter_ranks(sorted, found);
        let hidden = (of.n - sorted.len()) as f64;
        let negative = sorted.partition_point(|entry| entry.0 < 0.0);
        let zeros = sorted.partition_point(|entry| entry.0 <= 0.0) - negative;
        // Of a column without zeros, what lies between those below and above.
        let of_zero = negative as f64 + (zeros as f64 + hidden + 1.0) / 2.0;
        for &(value, at) in sorted.iter() {
            let rank = found[at as usize] + if value > 0.0 { hidden } else { 0.0 };
            slot[at as usize] = if value == 0.0 { 0.0 } else { rank - of_zero };
        }
    };
    pool.run(slots.len(), of.x.rows.len() < 10_000, |_| 1.0, &mut |_| watch(0.0), work)?;
    drop(slots);
    view.ranks = Some(ranks);
    Ok(())
}

/// Some rows, by row.
struct Part {
    /// The entries of a row in columns that are mostly zeros begin here; at last their number.
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// The other columns, a row after the other.
    full: Vec<f64>,
    /// Number of the first row that counts.
    first: usize,
    /// All rows, those that do not count among them.
    range: [usize; 2],
}

/// The columns that have entries in most rows, and what is taken from their values.
struct Full {
    columns: Vec<usize>,
    means: Vec<f64>,
}

/// The correlations of columns that vary.
fn products(view: &View, pool: &Pool, c: &mut [f64], watch: &mut Watch) -> Result<()> {
    let (p, n) = (view.x.p(), view.n);
    let is_full: Vec<bool> = view.counts.iter().map(|&count| 2 * count > n).collect();
    let mut rests: Vec<f64> = memory::zeros(p, Use::Correlations)?;
    pool.each_of(rests.iter_mut().collect(), |j, rest| *rest = view.all(j).map(|(_, value)| value).sum());
    let columns: Vec<usize> = (0..p).filter(|&j| is_full[j]).collect();
    let means = columns.iter().map(|&j| rests[j] / n as f64).collect();
    columns.iter().for_each(|&j| rests[j] = 0.0);
    let full = Full { columns, means };
    let d = full.columns.len();
    let mut among: Vec<f64> = memory::zeros(d * d, Use::Correlations)?;
    c.fill(0.0);
    let cells = view.x.rows.len() + d * n;
    let rows_of =
        |entries: usize| ((entries as u128 * view.x.n as u128 / cells.max(1) as u128) as usize).clamp(1, view.x.n);
    let (at_once, in_part) = (rows_of(AT_ONCE), rows_of(PART));
    for from in (0..view.x.n).step_by(at_once) {
        let to = view.x.n.min(from + at_once);
        let begun = from as f64 / view.x.n as f64;
        let share = (to - from) as f64 / view.x.n as f64;
        let parts = parts(view, &full, &is_full, from..to, in_part, pool, &mut |_| watch(begun))?;
        for part in &parts {
            for (rest, k) in full.columns.iter().zip(0..) {
                rests[*rest] += part.full.iter().skip(k).step_by(d).sum::<f64>();
            }
        }
        let width = (p / (8 * pool.threads())).clamp(8, 128);
        let tasks: Vec<Mutex<&mut [f64]>> = c.chunks_mut(width * p).map(Mutex::new).collect();
        let count = tasks.len();
        let total = (count * (count + 1)) as f64 / 2.0;
        let work = |beside: &mut Vec<f64>, task: usize, stop: &Stop| {
            let block = count - 1 - task;
            let Ok(mut cells) = tasks[block].lock() else { return };
            if !memory::grow(beside, d, 0.0, Use::Correlations) {
                return;
            }
            for part in parts.iter().take_while(|_| !stop.requested()) {
                for (y, column) in (block * width..).zip(cells.chunks_mut(p)).filter(|(y, _)| !is_full[*y]) {
                    add_products(view, part, &full, y, column, &mut beside[..d]);
                }
            }
        };
        pool.run(
            count,
            cells < 100_000,
            |task| (count - task) as f64,
            &mut |done| watch(begun + share * done / total),
            work,
        )?;
        drop(tasks);
        let blocks: Vec<Mutex<&mut [f64]>> = among.chunks_mut((BLOCK * d).max(1)).map(Mutex::new).collect();
        let work = |_: &mut (), block: usize, stop: &Stop| {
            let Ok(mut product) = blocks[block].lock() else { return };
            let (left, right) = (d.min((block + 1) * BLOCK), block * BLOCK..d.min((block + 1) * BLOCK));
            for part in parts.iter().take_while(|_| !stop.requested()) {
                multiply_rows(&part.full, d, left, right.clone(), &mut product, d);
            }
        };
        pool.run(blocks.len(), cells < 100_000, |_| 1.0, &mut |_| watch(begun + share), work)?;
    }
    let at = |cells: &[f64], x: usize, y: usize| cells[y * p + x];
    for (k, &y) in full.columns.iter().enumerate() {
        for x in (0..y).filter(|&x| !is_full[x]) {
            c[y * p + x] = at(c, y, x);
        }
        for (l, &x) in full.columns.iter().enumerate().take(k + 1) {
            c[y * p + x] = among[k * d + l];
        }
    }
    let variances: Vec<f64> = (0..p).map(|x| c[x * p + x] - rests[x] * rests[x] / n as f64).collect();
    pool.each_of(c.chunks_mut(BLOCK * p).collect(), |block, cells| {
        for (y, column) in (block * BLOCK..).zip(cells.chunks_mut(p)) {
            let before = Moments { rests: &rests[..y], variances: &variances[..y], n: n as f64 };
            before.correlate(&mut column[..y], rests[y], variances[y]);
        }
    });
    symmetrise(c, p, pool);
    watch(1.0)
}

/// Puts the entries of some rows in order, `in_part` rows a part.
fn parts(
    view: &View,
    full: &Full,
    is_full: &[bool],
    rows: std::ops::Range<usize>,
    in_part: usize,
    pool: &Pool,
    watch: &mut Watch,
) -> Result<Vec<Part>> {
    let (p, d) = (view.x.p(), full.columns.len());
    let numbered = |from: usize, to: usize| match &view.numbers {
        None => (from, to - from),
        Some(numbers) => {
            let mut those = numbers[from..to].iter().filter(|&&number| number != u32::MAX);
            let first = those.next();
            (first.map_or(0, |&number| number as usize), those.count() + usize::from(first.is_some()))
        }
    };
    let count = rows.len().div_ceil(in_part);
    let slots: Vec<Mutex<Option<Part>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let work = |_: &mut (), task: usize, _: &Stop| {
        let range = [rows.start + task * in_part, rows.end.min(rows.start + (task + 1) * in_part)];
        let (first, n) = numbered(range[0], range[1]);
        let each = |j: usize| view.entries(j, range[0], range[1]);
        let mut made =
            Part { starts: Vec::new(), columns: Vec::new(), values: Vec::new(), full: Vec::new(), first, range };
        if !memory::grow(&mut made.starts, n + 1, 0, Use::Correlations) {
            return;
        }
        for j in (0..p).filter(|&j| !is_full[j]) {
            each(j).for_each(|(row, _)| made.starts[row - first + 1] += 1);
        }
        for row in 0..n {
            made.starts[row + 1] += made.starts[row];
        }
        let entries = made.starts[n] as usize;
        if !memory::grow(&mut made.columns, entries, 0, Use::Correlations)
            || !memory::grow(&mut made.values, entries, 0.0, Use::Correlations)
            || !memory::grow(&mut made.full, n * d, 0.0, Use::Correlations)
        {
            return;
        }
        for j in (0..p).filter(|&j| !is_full[j]) {
            for (row, value) in each(j) {
                let at = &mut made.starts[row - first];
                (made.columns[*at as usize], made.values[*at as usize]) = (j as u32, value);
                *at += 1;
            }
        }
        // Each start has become the next one.
        made.starts.rotate_right(1);
        made.starts[0] = 0;
        for row in made.full.chunks_mut(d.max(1)) {
            row.iter_mut().zip(&full.means).for_each(|(cell, mean)| *cell = -mean);
        }
        for (k, (&j, mean)) in full.columns.iter().zip(&full.means).enumerate() {
            each(j).for_each(|(row, value)| made.full[(row - first) * d + k] = value - mean);
        }
        if let Ok(mut slot) = slots[task].lock() {
            *slot = Some(made);
        }
    };
    pool.run(count, rows.len() * d + view.x.rows.len() < 100_000, |_| 1.0, watch, work)?;
    Ok(slots.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect())
}

/// Adds to column y, which is mostly zeros, its products in some rows: with such columns up to y, and with all that are full.
fn add_products(view: &View, part: &Part, full: &Full, y: usize, column: &mut [f64], beside: &mut [f64]) {
    let d = beside.len();
    beside.fill(0.0);
    for (row, value) in view.entries(y, part.range[0], part.range[1]) {
        let row = row - part.first;
        let entries = part.starts[row] as usize..part.starts[row + 1] as usize;
        let columns = &part.columns[entries.clone()];
        let columns = &columns[..columns.partition_point(|&x| x as usize <= y)];
        for (&x, of_x) in columns.iter().zip(&part.values[entries]) {
            column[x as usize] += value * of_x;
        }
        beside.iter_mut().zip(&part.full[row * d..]).for_each(|(cell, of_full)| *cell += value * of_full);
    }
    full.columns.iter().zip(beside).for_each(|(&x, add)| column[x] += *add);
}

#[cfg(test)]
mod tests {
    use super::super::correlation;
    use super::*;
    use crate::engine::cpu::numbers::Numbers;

    struct Slots(Vec<i32>, Vec<i32>, Vec<f64>);

    fn slots(data: &[f64], n: usize) -> Slots {
        let mut slots = Slots(vec![0], vec![], vec![]);
        for column in data.chunks(n) {
            for (row, &value) in column.iter().enumerate().filter(|(_, &value)| value != 0.0) {
                slots.1.push(row as i32);
                slots.2.push(value);
            }
            slots.0.push(slots.1.len() as i32);
        }
        slots
    }

    /// Counts of a gene by cell, with columns of every share of zeros.
    fn counts(n: usize, p: usize) -> Vec<f64> {
        let mut state = 5u64;
        let mut draw = || {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let depth: Vec<f64> = (0..n).map(|_| draw()).collect();
        (0..n * p)
            .map(|at| {
                let (row, j) = (at % n, at / n);
                let there = draw() < 0.02 + depth[row] * (j % 7) as f64 / 6.0;
                let value = (20.0 * draw() * draw()).floor();
                match (j % 7, there) {
                    (_, false) => 0.0,
                    (5, _) => 1e6 + value - 7.0,
                    (4, _) => -value * 1e180,
                    (3, _) => value * 1e-170,
                    _ => value,
                }
            })
            .collect()
    }

    #[test]
    fn entries_alone_have_the_correlations_of_all() {
        for (n, p) in [(6, 3), (500, 40), (900, 7), (40, 300), (5000, 23)] {
            let mut data = counts(n, p);
            // Each varies, and one has no zeros and a mean far from them.
            (0..p).for_each(|j| data[j * n + j % n] += if j % 7 == 3 { 1e-169 } else { 3.0 });
            (0..n).for_each(|row| data[2 * n + row] = 1e8 + (row % 5) as f64);
            if p > 20 {
                (0..n).for_each(|row| data[9 * n + row] = -2.0 * data[8 * n + row]);
                (0..n).for_each(|row| data[12 * n + row] = data[5 * n + row]);
            }
            let mut holed = data.clone();
            for at in (0..n * p).step_by(53 * p + 1).filter(|_| n > 100) {
                holed[at] = f64::NAN;
            }
            for (data, rows) in [(&data, Rows::All), (&holed, Rows::Complete)] {
                let slots = slots(data, n);
                let columns: Vec<Numbers> = data.chunks(n).map(Numbers::Doubles).collect();
                for kind in [Kind::Pearson, Kind::Spearman] {
                    let mut wanted = vec![7.0; p * p];
                    let dense = correlation(&columns, kind, rows, &Pool::none(), &mut wanted, &mut |_| Ok(())).unwrap();
                    let mut known: Option<Vec<f64>> = None;
                    for threads in [1, 2, 5] {
                        let pool = Pool::new(threads);
                        let x = Sparse::new(n, &slots.0, &slots.1, &slots.2, &pool).unwrap();
                        let mut c = vec![7.0; p * p];
                        let found = of_sparse(x, kind, rows, &pool, &mut c, &mut |_| Ok(())).unwrap();
                        assert_eq!((found.rows, found.is_done), (dense.rows, dense.is_done));
                        for (ours, theirs) in found.summaries.iter().zip(&dense.summaries) {
                            let of = |summary: &Summary| (summary.least, summary.largest, summary.missing);
                            assert_eq!(of(ours), of(theirs));
                        }
                        for (at, (ours, theirs)) in c.iter().zip(&wanted).enumerate() {
                            assert!((ours - theirs).abs() < 1e-12, "{n} x {p} {kind:?} {at}: {ours} {theirs}");
                        }
                        if p > 20 {
                            assert_eq!((c[9 * p + 8], c[12 * p + 5]), (-1.0, 1.0));
                        }
                        match &known {
                            None => known = Some(c),
                            Some(known) => assert!(*known == c),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_missing_or_constant_or_no_matrix_is_seen() {
        let pool = Pool::new(2);
        let done = |slots: &Slots, rows| {
            let x = Sparse::new(4, &slots.0, &slots.1, &slots.2, &pool).unwrap();
            let mut c = vec![7.0; 4];
            let found = of_sparse(x, Kind::Pearson, rows, &pool, &mut c, &mut |_| Ok(())).unwrap();
            (found.is_done, found.rows, found.summaries[1].missing)
        };
        let data = |cell: f64| slots(&[1.0, 0.0, 0.0, 5.0, 0.0, cell, 2.0, 0.0], 4);
        assert_eq!(done(&data(3.0), Rows::All), (true, 4, 0));
        assert_eq!(done(&data(f64::NAN), Rows::All), (false, 4, 1));
        assert_eq!(done(&data(f64::NAN), Rows::Complete), (true, 3, 0));
        assert_eq!(done(&data(f64::INFINITY), Rows::All), (false, 4, 0));
        assert_eq!(done(&slots(&[1.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0], 4), Rows::All), (false, 4, 0));
        let refused = |starts: &[i32], rows: &[i32]| Sparse::new(4, starts, rows, &[1.0; 3], &pool).is_err();
        assert!(!refused(&[0, 2, 3], &[0, 3, 1]));
        for (starts, rows) in [
            (&[0, 2, 2][..], &[0, 3, 1]),
            (&[1, 2, 3], &[0, 3, 1]),
            (&[0, 3, 2, 3], &[0, 1, 3]),
            (&[0, 2, 3], &[3, 0, 1]),
            (&[0, 2, 3], &[0, 4, 1]),
            (&[0, 2, 3], &[-1, 3, 1]),
            (&[], &[0, 1, 2]),
        ] {
            assert!(refused(starts, rows), "{starts:?} {rows:?}");
        }
    }
}
