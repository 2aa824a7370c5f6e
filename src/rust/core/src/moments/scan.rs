//! Correlations of a few variables with all columns of a table, in one pass over the columns.

use std::ops::Range;
use std::sync::Mutex;

use super::genotypes::{Lookup, Sums};
use super::prepared::{correlation, of_sums, prepare, products, Prepared, Table, AT_ONCE};
use crate::memory::{self, Use};
use crate::numbers::SMALL;
use crate::pool::{Pool, Stop};
use crate::Result;

/// Number of columns of a task.
const BLOCK: usize = 128;

/// Number of bytes of the tables of targets that are used together, unless one takes more.
const TABLES: usize = if cfg!(test) { 1 << 16 } else { 1 << 28 };

/// A column, and a variable's correlation with it.
pub type Near = (u32, f64);

/// What a pass over the columns has found.
#[derive(Debug, Default)]
pub struct Scan {
    /// For each target the columns with at least the wanted |r|, in their order. A column without a variance has NaN, and is listed only
    /// if all are.
    pub near: Vec<Vec<Near>>,
    /// The columns without a variance.
    pub constant: Vec<u32>,
    /// The columns of numbers with missing values.
    pub missing: Vec<u32>,
    /// The columns with infinite values, which count as columns without a variance.
    pub infinite: Vec<u32>,
}

/// Correlates the targets with all columns. Lists the columns with |r| of at least `least`; 0 lists all. `watch` gets the finished share.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and errors of `watch`.
pub fn scan(
    table: &Table,
    targets: &Prepared,
    least: f64,
    pool: &Pool,
    watch: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Scan> {
    let (p, numbers, count) = (table.p(), table.numbers.len(), targets.p());
    let mut parts = Vec::new();
    let mut pass = Pass { table, targets, first: 0, tables: Vec::new(), least };
    let share = numbers as f64 / p.max(1) as f64;
    pass.run(0..numbers, &mut parts, pool, &mut |done| watch(share * done))?;
    if table.genotypes.is_some() {
        // The tables of all targets may not fit into memory.
        let at_once = (TABLES / Lookup::bytes(table.n()).max(1)).clamp(1, count.max(1));
        for first in (0..count).step_by(at_once) {
            pass.first = first;
            pass.tables = memory::space(at_once, Use::Correlations)?;
            for t in first..count.min(first + at_once) {
                let about = &targets.about[t];
                pass.tables.push(Lookup::new(targets.column(t), &about.missing, about.sums)?);
            }
            let (before, now) = (first as f64 / count as f64, pass.tables.len() as f64 / count as f64);
            let report = &mut |done: f64| watch(share + (1.0 - share) * (before + now * done));
            pass.run(numbers..p, &mut parts, pool, report)?;
        }
    }
    let mut all = Scan::default();
    all.near.resize_with(count, Vec::new);
    for (t, near) in all.near.iter_mut().enumerate() {
        *near = memory::space(parts.iter().filter_map(|part| part.near.get(t)).map(Vec::len).sum(), Use::Correlations)?;
    }
    for part in parts {
        all.near.iter_mut().zip(part.near).for_each(|(all, part)| all.extend(part));
        all.constant.extend(part.constant);
        all.missing.extend(part.missing);
        all.infinite.extend(part.infinite);
    }
    Ok(all)
}

/// Working memory of a thread.
#[derive(Default)]
struct Scratch {
    raw: Vec<f64>,
    column: Vec<f64>,
    sums: Vec<Sums>,
}

struct Pass<'a> {
    table: &'a Table<'a>,
    targets: &'a Prepared,
    /// For genotypes: the first target of a group, and the tables of the group.
    first: usize,
    tables: Vec<Lookup<'a>>,
    least: f64,
}

impl Pass<'_> {
    /// Passes over columns of one kind, and appends what each task finds.
    fn run(
        &self,
        columns: Range<usize>,
        parts: &mut Vec<Scan>,
        pool: &Pool,
        watch: &mut dyn FnMut(f64) -> Result<()>,
    ) -> Result<()> {
        let tasks = columns.len().div_ceil(BLOCK);
        let is_numbers = columns.start < self.table.numbers.len();
        let targets = if is_numbers { self.targets.p() } else { self.tables.len() };
        let mut slots = memory::space(tasks, Use::Correlations)?;
        slots.resize_with(tasks, || Mutex::new(Scan::default()));
        let work = |scratch: &mut Scratch, task: usize, stop: &Stop| {
            let first = columns.start + task * BLOCK;
            let block = first..columns.end.min(first + BLOCK);
            if let Ok(mut part) = slots[task].lock() {
                match is_numbers {
                    true => self.numbers(block, scratch, stop, &mut part),
                    false => self.genotypes(block, scratch, stop, &mut part),
                }
            }
        };
        let is_small = (self.table.n() * targets) as f64 * (columns.len() as f64) < SMALL as f64;
        pool.run(tasks, is_small, |_| 1.0, &mut |done| watch(done / tasks.max(1) as f64), work)?;
        for slot in slots {
            memory::push(parts, slot.into_inner().unwrap_or_default(), Use::Correlations)?;
        }
        Ok(())
    }

    fn enter(&self, part: &mut Scan, t: usize, j: usize, r: f64) {
        if self.least <= 0.0 || r.abs() >= self.least {
            // If memory runs out, the next check ends the pass.
            if memory::has_space(&mut part.near[t], 1) {
                part.near[t].push((j as u32, r));
            }
        }
    }

    fn numbers(&self, columns: Range<usize>, scratch: &mut Scratch, stop: &Stop, part: &mut Scan) {
        let (n, targets) = (self.table.n(), self.targets);
        part.near.resize_with(targets.p(), Vec::new);
        if !memory::grow(&mut scratch.column, n, 0.0, Use::Correlations) {
            return;
        }
        let column = &mut scratch.column[..n];
        for j in columns.take_while(|_| !stop.requested()) {
            let about = prepare(self.table, j, &mut scratch.raw, column);
            if !about.missing.is_empty() {
                part.missing.push(j as u32);
            }
            if about.is_infinite {
                part.infinite.push(j as u32);
            } else if !about.varies() {
                part.constant.push(j as u32);
            }
            for first in (0..targets.p()).step_by(AT_ONCE) {
                let count = AT_ONCE.min(targets.p() - first);
                let mut others = [&[][..]; AT_ONCE];
                others.iter_mut().zip(first..).take(count).for_each(|(other, t)| *other = targets.column(t));
                let mut sums = [0.0; AT_ONCE];
                products(column, &others[..count], &mut sums[..count]);
                for (t, sum) in (first..first + count).zip(sums) {
                    let r = correlation(sum, (column, &about), (targets.column(t), &targets.about[t]));
                    self.enter(part, t, j, r);
                }
            }
        }
    }

    fn genotypes(&self, columns: Range<usize>, scratch: &mut Scratch, stop: &Stop, part: &mut Scan) {
        part.near.resize_with(self.targets.p(), Vec::new);
        let Some(genotypes) = self.table.genotypes else { return };
        let numbers = self.table.numbers.len();
        scratch.sums.clear();
        if !memory::prepare(&mut scratch.sums, columns.len(), Use::Correlations) {
            return;
        }
        scratch.sums.resize(columns.len(), Sums::default());
        for (t, table) in (self.first..).zip(&self.tables).take_while(|_| !stop.requested()) {
            genotypes.sums(columns.start - numbers, table, &mut scratch.sums);
            for (j, sums) in columns.clone().zip(&scratch.sums) {
                if t == 0 && sums.count * sums.marker[1] <= sums.marker[0] * sums.marker[0] {
                    part.constant.push(j as u32);
                }
                self.enter(part, t, j, of_sums(sums.count, sums.product, sums.marker, sums.other));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::genotypes::Genotypes;
    use super::*;
    use crate::numbers::Numbers;

    #[test]
    fn a_pass_has_the_correlations_of_each_pair_on_any_threads() {
        for (n, p) in [(4, 3), (37, 300), (130, 140)] {
            let bytes: Vec<u8> = (0..p * Genotypes::bytes_of(n)).map(|at| ((at * 7919) >> 3) as u8).collect();
            let genotypes = Genotypes::new(&bytes, n);
            let doubles: Vec<f64> = (0..n * 5).map(|at| (at * 104_729 % 10_007) as f64 / 50.0).collect();
            let whole: Vec<i32> = (0..n * 2).map(|at| (at * 31 % 13) as i32).collect();
            let numbers = doubles.chunks(n).map(Numbers::Doubles).chain(whole.chunks(n).map(Numbers::Integers));
            let table = Table::new(n, numbers.collect(), Some(genotypes));
            let all: Vec<u32> = (0..table.p() as u32).collect();
            let prepared = Prepared::new(&table, &all, &Pool::none(), &mut || Ok(())).unwrap();
            let which = [0, 6, 8, 1, 9];
            let targets = Prepared::new(&table, &which, &Pool::none(), &mut || Ok(())).unwrap();
            let mut first = None;
            for threads in [1, 3] {
                let found = scan(&table, &targets, 0.0, &Pool::new(threads), &mut |_| Ok(())).unwrap();
                let mut wanted = vec![0.0; all.len()];
                for (t, &x) in which.iter().enumerate() {
                    prepared.correlations(x, &all, &mut wanted);
                    let close = |&(j, r): &Near| {
                        let wanted = wanted[j as usize];
                        (r - wanted).abs() < 1e-12 || r.is_nan() && wanted.is_nan()
                    };
                    assert!(found.near[t].len() == all.len() && found.near[t].iter().all(close), "{n} x {p}: {x}");
                    // Genotypes and whole numbers have exact sums.
                    assert!(x != 8 || found.near[t][8].1 == 1.0 || found.near[t][8].1.is_nan());
                }
                let bits: Vec<u64> = found.near.iter().flatten().map(|near| near.1.to_bits()).collect();
                assert!(first.get_or_insert_with(|| bits.clone()) == &bits);
                let few = scan(&table, &targets, 0.4, &Pool::new(threads), &mut |_| Ok(())).unwrap();
                for (few, all) in few.near.iter().zip(&found.near) {
                    let strong: Vec<&Near> = all.iter().filter(|near| near.1.abs() >= 0.4).collect();
                    assert!(few.iter().eq(strong));
                }
            }
        }
    }

    #[test]
    fn columns_that_cannot_be_used_are_listed() {
        let columns = [[1.0, 2.0, 4.0], [0.1; 3], [f64::NAN, 1.0, 2.0], [f64::INFINITY, 1.0, 2.0]];
        let table = Table::new(3, columns.iter().map(|column| Numbers::Doubles(column)).collect(), None);
        let target = Prepared::new(&table, &[0], &Pool::none(), &mut || Ok(())).unwrap();
        let found = scan(&table, &target, 0.0, &Pool::none(), &mut |_| Ok(())).unwrap();
        assert_eq!((found.constant, found.missing, found.infinite), (vec![1], vec![2], vec![3]));
    }
}
