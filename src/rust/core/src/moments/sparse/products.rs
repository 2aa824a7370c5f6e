//! Products of columns, from a part of the rows at a time.

use std::ops::Range;
use std::sync::Mutex;

use super::super::product::{multiply_rows, Moments};
use super::super::{Watch, BLOCK};
use super::View;
use crate::matrix::symmetrise;
use crate::memory::{self, Use};
use crate::pool::{Pool, Stop};
use crate::Result;

/// Number of entries that are sorted by row at a time, 192 MiB.
const AT_ONCE: usize = 1 << 24;

/// Number of entries of a part. A column of the products stays in the cache while a part passes; with this many entries, loading it pays.
const PART: usize = 1 << 22;

/// Some rows, stored by row.
struct Part {
    /// The index of each row's first entry in columns that are mostly zeros, and then the number of entries.
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// The values of the other columns, one row after the other.
    full: Vec<f64>,
    /// Number of the first row that counts.
    first: usize,
    /// The range of original rows, including those that do not count.
    range: [usize; 2],
}

/// The columns with entries in most rows, and the means that are subtracted from them.
struct Full {
    columns: Vec<usize>,
    means: Vec<f64>,
}

/// Writes the correlations of columns that all vary.
pub(super) fn products(view: &View, pool: &Pool, c: &mut [f64], watch: &mut Watch) -> Result<()> {
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
        let width = (p / (8 * pool.threads())).clamp(8, 256);
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

/// Sorts the entries of some rows by row, `in_part` rows per part.
fn parts(
    view: &View,
    full: &Full,
    is_full: &[bool],
    rows: Range<usize>,
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
        // Each start has become the next row's start.
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

/// Adds to column y, which is mostly zeros, its products in some rows: with such columns up to y, and with all full columns.
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
