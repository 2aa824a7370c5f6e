//! Columns that are ready to be correlated with others, one pair at a time.
//!
//! Numbers are centred by their mean. Genotypes and other small whole numbers are centred by the middle of their range: sums of their
//! products are then exact, and so are those of a column with exchanged alleles. Equal columns have a correlation of exactly 1, opposite
//! ones of -1. A missing value is 0, and its part in the sums of the other column of a pair is subtracted.
//! The order of every sum depends only on the number of rows, so the correlation of a pair has the same bits wherever it is computed.

use std::sync::Mutex;

use super::columns::{Centre, Holding, Of, Summary};
use super::genotypes::Genotypes;
use super::product::ratio;
use crate::memory::{self, Use};
use crate::numbers::{Numbers, SMALL};
use crate::pool::{Pool, Stop};
use crate::simd::{self, Task};
use crate::Result;

/// Number of sums that run side by side.
const LANES: usize = 8;

/// Number of columns that are multiplied by another one at a time.
pub(super) const AT_ONCE: usize = 4;

/// Largest whole number that is centred by the middle of the range.
const LARGEST: f64 = 15.0;

/// The share of its sum of squares below which the variance of a part of a column is rounding.
const ROUNDING: f64 = 1e-12;

/// The columns of a table of n rows: first numbers, then genotypes.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    n: usize,
    pub(super) numbers: Vec<Numbers<'a>>,
    pub(super) genotypes: Option<Genotypes<'a>>,
}

impl<'a> Table<'a> {
    /// Makes a table of `n` rows.
    pub fn new(n: usize, numbers: Vec<Numbers<'a>>, genotypes: Option<Genotypes<'a>>) -> Self {
        Table { n, numbers, genotypes }
    }

    /// Returns the number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the number of columns.
    pub fn p(&self) -> usize {
        self.numbers.len() + self.genotypes.map_or(0, |of| of.p())
    }
}

/// What is known about a prepared column besides its values.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    /// Sum of the values, and of their squares; 0 for a column without a variance.
    pub sums: [f64; 2],
    /// The rows without a value, ascending.
    pub missing: Vec<u32>,
    /// Whether the column has infinite values.
    pub is_infinite: bool,
}

impl About {
    /// Returns whether the column has two different finite values.
    pub fn varies(&self) -> bool {
        self.sums[1] > 0.0
    }
}

/// Prepared columns.
#[derive(Debug)]
pub struct Prepared {
    pub(super) n: usize,
    pub(super) values: Vec<f64>,
    pub(super) about: Vec<About>,
}

impl Prepared {
    /// Prepares some columns of a table.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error), and errors of `look`.
    pub fn new(table: &Table, which: &[u32], pool: &Pool, look: &mut dyn FnMut() -> Result<()>) -> Result<Self> {
        let n = table.n;
        let mut values = memory::zeros(n * which.len(), Use::Correlations)?;
        let mut about = memory::space(which.len(), Use::Correlations)?;
        about.resize(which.len(), About::default());
        let slots: Vec<_> = values.chunks_mut(n.max(1)).zip(&mut about).map(Mutex::new).collect();
        let work = |raw: &mut Vec<f64>, task: usize, _: &Stop| {
            if let Ok(mut slot) = slots[task].lock() {
                let (values, about) = &mut *slot;
                **about = prepare(table, which[task] as usize, raw, values);
            }
        };
        pool.run(slots.len(), n * which.len() < SMALL, |_| 1.0, &mut |_| look(), work)?;
        drop(slots);
        Ok(Prepared { n, values, about })
    }

    /// Returns the number of columns.
    pub fn p(&self) -> usize {
        self.about.len()
    }

    /// Returns whether a column has a value in each row.
    pub fn is_complete(&self, x: usize) -> bool {
        self.about[x].missing.is_empty()
    }

    /// Returns whether a column has two different finite values, and no infinite ones.
    pub fn varies(&self, x: usize) -> bool {
        self.about[x].varies()
    }

    pub(super) fn column(&self, x: usize) -> &[f64] {
        &self.values[x * self.n..][..self.n]
    }

    /// Writes the correlations of column x with others, NaN for a column without a variance in the rows that have both.
    pub fn correlations(&self, x: u32, with: &[u32], out: &mut [f64]) {
        let x = x as usize;
        for (with, out) in with.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
            let mut others = [self.column(x); AT_ONCE];
            others.iter_mut().zip(with).for_each(|(other, &z)| *other = self.column(z as usize));
            products(self.column(x), &others[..with.len()], out);
            for (r, &z) in out.iter_mut().zip(with) {
                let z = z as usize;
                *r = correlation(*r, (self.column(x), &self.about[x]), (self.column(z), &self.about[z]));
            }
        }
    }
}

/// Returns the correlation of two columns from the sum of their products.
pub(super) fn correlation(product: f64, x: (&[f64], &About), y: (&[f64], &About)) -> f64 {
    let n = x.0.len() as f64;
    if x.1.missing.is_empty() && y.1.missing.is_empty() {
        return of_sums(n, product, x.1.sums, y.1.sums);
    }
    let without = |(values, of): (&[f64], &About), missing: &[u32]| {
        missing.iter().fold(of.sums, |[sum, squares], &row| {
            let value = values[row as usize];
            [sum - value, squares - value * value]
        })
    };
    let both = x.1.missing.iter().filter(|row| y.1.missing.binary_search(row).is_ok()).count();
    let count = n - (x.1.missing.len() + y.1.missing.len() - both) as f64;
    of_sums(count, product, without(x, &y.1.missing), without(y, &x.1.missing))
}

/// Returns a correlation from sums over `count` rows: of products, and for both columns of values and squares.
#[inline(always)]
pub(super) fn of_sums(count: f64, product: f64, x: [f64; 2], y: [f64; 2]) -> f64 {
    let variance = |[sum, squares]: [f64; 2]| {
        let variance = count * squares - sum * sum;
        if variance > ROUNDING * count * squares {
            variance
        } else {
            0.0
        }
    };
    ratio(count * product - x[0] * y[0], variance(x), variance(y))
}

/// Prepares column `j` of a table.
pub(super) fn prepare(table: &Table, j: usize, raw: &mut Vec<f64>, out: &mut [f64]) -> About {
    let first = table.numbers.len();
    match (table.numbers.get(j), &table.genotypes) {
        (Some(Numbers::Doubles(values)), _) => of_values(values, false, out),
        (Some(numbers), _) => {
            if !memory::grow(raw, table.n, 0.0, Use::Correlations) {
                return About::default();
            }
            let raw = &mut raw[..table.n];
            numbers.read(&Of::All, 0..table.n, |from, some| raw[from..from + some.len()].copy_from_slice(some));
            of_values(raw, true, out)
        }
        (None, Some(genotypes)) => {
            if !memory::grow(raw, table.n, 0.0, Use::Correlations) {
                return About::default();
            }
            let raw = &mut raw[..table.n];
            genotypes.read(j - first, raw);
            of_values(raw, true, out)
        }
        (None, None) => About::default(),
    }
}

/// Prepares values. `whole`: whether they are whole numbers.
fn of_values(values: &[f64], whole: bool, out: &mut [f64]) -> About {
    let summary = simd::run(Looking(values));
    let mut about =
        About { is_infinite: summary.least.is_infinite() || summary.largest.is_infinite(), ..About::default() };
    // The summary of no values is infinite.
    about.is_infinite &= summary.missing < values.len();
    if summary.missing > 0 {
        let holes = (0..values.len() as u32).filter(|&row| values[row as usize].is_nan());
        if !memory::prepare(&mut about.missing, summary.missing, Use::Correlations) {
            return about;
        }
        about.missing.extend(holes);
    }
    if !summary.varies() {
        out.fill(0.0);
        return about;
    }
    let column = Numbers::Doubles(values);
    let is_small = whole && summary.least >= 0.0 && summary.largest <= LARGEST;
    let centre = match is_small {
        true => Centre::at((summary.least + summary.largest) / 2.0),
        false => Centre::of(&column, &summary, &Of::All, values.len()),
    };
    about.sums = simd::run(Centring { values, centre, out });
    about
}

struct Looking<'a>(&'a [f64]);

impl<S> Task<S> for Looking<'_> {
    type Output = Summary;

    #[inline(always)]
    fn run(self, _simd: S) -> Summary {
        let mut held = Holding::default();
        held.add(self.0);
        held.summary()
    }
}

struct Centring<'a> {
    values: &'a [f64],
    centre: Centre,
    out: &'a mut [f64],
}

impl<S> Task<S> for Centring<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run(self, _simd: S) -> [f64; 2] {
        let Centring { values, centre, out } = self;
        for (to, &value) in out.iter_mut().zip(values) {
            *to = if value.is_nan() { 0.0 } else { centre.apply(value) };
        }
        let mut sums = [0.0; LANES];
        let whole = out.chunks_exact(LANES);
        let rest = whole.remainder();
        for part in whole {
            for (sum, value) in sums.iter_mut().zip(part) {
                *sum += value;
            }
        }
        for (sum, value) in sums.iter_mut().zip(rest) {
            *sum += value;
        }
        [added(sums), multiplied(out, [&*out])[0]]
    }
}

/// Writes the sums of the products of a column with up to four others.
pub(super) fn products(x: &[f64], ys: &[&[f64]], out: &mut [f64]) {
    simd::run(Products { x, ys, out });
}

struct Products<'a> {
    x: &'a [f64],
    ys: &'a [&'a [f64]],
    out: &'a mut [f64],
}

impl<S> Task<S> for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _simd: S) {
        let Products { x, ys, out } = self;
        for (ys, out) in ys.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
            match *ys {
                [a, b, c, d] => out.copy_from_slice(&multiplied(x, [a, b, c, d])),
                _ => out.iter_mut().zip(ys).for_each(|(out, y)| *out = multiplied(x, [y])[0]),
            }
        }
    }
}

/// Returns the sums of the products of x with K others, each in the same order.
#[inline(always)]
fn multiplied<const K: usize>(x: &[f64], ys: [&[f64]; K]) -> [f64; K] {
    let ys = ys.map(|y| &y[..x.len()]);
    let mut sums = [[0.0; LANES]; K];
    let whole = x.len() - x.len() % LANES;
    for from in (0..whole).step_by(LANES) {
        let of_x = &x[from..from + LANES];
        for (sums, y) in sums.iter_mut().zip(ys) {
            for ((sum, x), y) in sums.iter_mut().zip(of_x).zip(&y[from..from + LANES]) {
                *sum += x * y;
            }
        }
    }
    for (sums, y) in sums.iter_mut().zip(ys) {
        for ((sum, x), y) in sums.iter_mut().zip(&x[whole..]).zip(&y[whole..]) {
            *sum += x * y;
        }
    }
    sums.map(added)
}

#[inline(always)]
fn added(sums: [f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[cfg(test)]
mod tests {
    use super::super::{correlation as of_all, Kind, Rows};
    use super::*;

    #[test]
    fn correlations_are_those_of_all_pairs_and_equal_columns_have_exactly_one() {
        for n in [3, 8, 70, 1001] {
            let value = |row: usize, j: usize| ((row * 7919 + j * 104_729 + 13) % 10_007) as f64 / 97.0 - 3.0;
            let mut columns: Vec<Vec<f64>> = (0..6).map(|j| (0..n).map(|row| value(row, j)).collect()).collect();
            columns[4] = columns[1].iter().map(|value| -value).collect();
            let tiny: Vec<f64> = columns[2].iter().map(|value| value * 1e-200).collect();
            columns.push(tiny);
            let numbers: Vec<Numbers> = columns.iter().map(|column| Numbers::Doubles(column)).collect();
            let table = Table::new(n, numbers.clone(), None);
            let prepared = Prepared::new(&table, &[0, 1, 2, 3, 4, 5, 6], &Pool::new(2), &mut || Ok(())).unwrap();
            let mut c = vec![0.0; 49];
            of_all(&numbers, Kind::Pearson, Rows::All, &Pool::none(), &mut c, &mut |_| Ok(())).unwrap();
            let mut found = [0.0; 7];
            for x in 0..7 {
                prepared.correlations(x, &[0, 1, 2, 3, 4, 5, 6], &mut found);
                assert!((0..7).all(|y| (found[y] - c[x as usize * 7 + y]).abs() < 1e-12), "{n}, {x}");
                let mut alone = [0.0];
                for (y, all) in (0..).zip(found) {
                    prepared.correlations(y, &[x], &mut alone);
                    assert_eq!(alone[0].to_bits(), all.to_bits());
                }
                assert_eq!(found[x as usize], 1.0);
            }
            prepared.correlations(1, &[4], &mut found);
            assert_eq!(found[0], -1.0);
        }
    }

    #[test]
    fn missing_values_are_left_out_of_the_pair_and_constants_have_no_correlation() {
        let n = 50;
        let mut x: Vec<f64> = (0..n).map(|row| (row * 37 % 19) as f64 + 0.25).collect();
        let mut y: Vec<f64> = (0..n).map(|row| (row * 53 % 23) as f64 * 1.5).collect();
        let constant = vec![0.1; n];
        (0..n).step_by(7).for_each(|row| x[row] = f64::NAN);
        (0..n).step_by(5).for_each(|row| y[row] = f64::NAN);
        let columns = [&x, &y, &constant].map(|column| Numbers::Doubles(column));
        let prepared =
            Prepared::new(&Table::new(n, columns.to_vec(), None), &[0, 1, 2], &Pool::none(), &mut || Ok(())).unwrap();
        let mut c = vec![0.0; 4];
        of_all(&columns[..2], Kind::Pearson, Rows::Pairwise, &Pool::none(), &mut c, &mut |_| Ok(())).unwrap();
        let mut found = [0.0; 2];
        prepared.correlations(0, &[1, 2], &mut found);
        assert!((found[0] - c[1]).abs() < 1e-14, "{} {}", found[0], c[1]);
        assert!(found[1].is_nan() && !prepared.varies(2) && prepared.varies(0) && !prepared.is_complete(0));
    }
}
