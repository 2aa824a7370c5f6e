//! The cells that factors make of rows: how many rows are in each, their means, and the products of their deviations.
//!
//! A cell has a key: the codes of its factors as the digits of a number, those of x and y last. Cells of fewer factors are made of these by adding
//! up, so that a test looks at its rows once, or twice where there are numbers.

use std::collections::HashMap;
use std::ops::Range;

use super::data::Frame;

/// Keys below this are found in a table, others by hashing.
const TABLE: u64 = 1 << 16;

/// Numbers keys 0, 1, ... in the order in which they are met.
#[derive(Debug, Default)]
pub(super) struct Index {
    table: Vec<u32>,
    map: HashMap<u64, u32>,
    pub keys: Vec<u64>,
    small: bool,
}

const NONE: u32 = u32::MAX;

impl Index {
    /// Forgets all; keys are below `domain`.
    pub fn clear(&mut self, domain: u64) {
        if self.small {
            self.keys.iter().for_each(|&key| self.table[key as usize] = NONE);
        }
        self.map.clear();
        self.keys.clear();
        self.small = domain <= TABLE;
        if self.small && self.table.len() < domain as usize {
            self.table.resize(domain as usize, NONE);
        }
    }

    /// The number of a key.
    #[inline]
    pub fn place(&mut self, key: u64) -> usize {
        let next = self.keys.len() as u32;
        let slot = match self.small {
            true => &mut self.table[key as usize],
            false => self.map.entry(key).or_insert(NONE),
        };
        if *slot == NONE {
            *slot = next;
            self.keys.push(key);
        }
        *slot as usize
    }
}

/// What a test asks of a data set: rows, and the variables that make cells and moments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub frame: &'a Frame,
    /// Which of the completed data sets.
    pub set: usize,
    /// A bit a row; none: all.
    pub rows: Option<&'a [u64]>,
    /// The factors, x and y first where they are, then those of S in descending order.
    pub factors: &'a [u32],
    /// The variables of numbers.
    pub numbers: &'a [u32],
}

/// Product of the numbers of levels that occur, none where that is more than a key holds.
pub(super) fn domain(frame: &Frame, factors: &[u32]) -> Option<u64> {
    let levels = factors.iter().map(|&factor| u64::from(frame.variables[factor as usize].occurring.max(1)));
    levels.into_iter().try_fold(1_u64, u64::checked_mul)
}

/// Working memory of [`Cells::fill`].
#[derive(Debug, Default)]
pub(super) struct Filling {
    rows: Vec<u32>,
    /// Of some rows.
    keys: Vec<u64>,
    values: Vec<f64>,
    /// Of all.
    places: Vec<u32>,
    pub index: Index,
}

/// Rows that are looked at together: what is known of them stays near.
const TOGETHER: usize = 512;

/// Cells in the order in which they are met.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    pub keys: Vec<u64>,
    /// Keys are below this.
    pub domain: u64,
    /// Rows by cell.
    pub counts: Vec<f64>,
    /// Variables of numbers.
    pub k: usize,
    /// k by cell.
    pub means: Vec<f64>,
    /// By cell the sums of products of deviations from its means: the upper triangle, column by column.
    pub products: Vec<f64>,
}

/// Entries of the triangle of k variables.
pub(super) fn triangle(k: usize) -> usize {
    k * (k + 1) / 2
}

impl Cells {
    /// Number of rows.
    pub fn rows(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// Counts rows, and sums up their numbers. `domain`: of the factors.
    pub fn fill(&mut self, asked: &Asked, domain: u64, filling: &mut Filling) {
        let Filling { rows, keys, values, places, index } = filling;
        let (frame, k) = (asked.frame, asked.numbers.len());
        rows.clear();
        let some = asked.rows.map(|words| {
            set_bits(words, rows);
            &rows[..]
        });
        let count = some.map_or(frame.n(), <[u32]>::len);
        index.clear(domain);
        self.domain = domain;
        self.k = k;
        self.counts.clear();
        self.means.clear();
        places.clear();
        for from in (0..count).step_by(TOGETHER) {
            let range = from..count.min(from + TOGETHER);
            keys.clear();
            keys.resize(range.len(), 0);
            let mut stride = 1;
            for &factor in asked.factors {
                let codes = frame.codes(factor as usize, asked.set);
                each(codes, some, &range, |at, code| keys[at] += stride * u64::from(code));
                stride *= u64::from(frame.variables[factor as usize].occurring.max(1));
            }
            for &key in keys.iter() {
                let place = index.place(key);
                if place == self.counts.len() {
                    self.counts.push(0.0);
                    self.means.resize(self.means.len() + k, 0.0);
                }
                self.counts[place] += 1.0;
                places.push(place as u32);
            }
            let places = &places[range.clone()];
            for (at, &number) in asked.numbers.iter().enumerate() {
                let column = frame.numbers(number as usize, asked.set);
                let sums = &mut self.means[at..];
                each(column, some, &range, |at, value| sums[places[at] as usize * k] += value);
            }
        }
        self.keys.clear();
        self.keys.extend_from_slice(&index.keys);
        self.products.clear();
        self.products.resize(self.keys.len() * triangle(k), 0.0);
        if k == 0 {
            return;
        }
        for (sums, &count) in self.means.chunks_exact_mut(k).zip(&self.counts) {
            sums.iter_mut().for_each(|sum| *sum /= count);
        }
        for from in (0..count).step_by(TOGETHER) {
            let range = from..count.min(from + TOGETHER);
            // By variable: the deviations of these rows.
            values.clear();
            for (at, &number) in asked.numbers.iter().enumerate() {
                let column = frame.numbers(number as usize, asked.set);
                let means = &self.means[at..];
                let places = &places[range.clone()];
                each(column, some, &range, |at, value| values.push(value - means[places[at] as usize * k]));
            }
            let (t, many) = (triangle(k), range.len());
            let places = &places[range];
            let mut at = 0;
            for col in 0..k {
                for row in 0..=col {
                    let (of_row, of_col) = (&values[row * many..][..many], &values[col * many..][..many]);
                    let products = &mut self.products[at..];
                    for ((&place, a), b) in places.iter().zip(of_row).zip(of_col) {
                        products[place as usize * t] += a * b;
                    }
                    at += 1;
                }
            }
        }
    }

    /// Adds cells up whose keys `key_of` maps to one, below `domain`.
    pub fn collapse(&self, domain: u64, key_of: impl Fn(u64) -> u64, index: &mut Index, out: &mut Cells) {
        let (k, t) = (self.k, triangle(self.k));
        index.clear(domain);
        out.domain = domain;
        out.k = k;
        out.counts.clear();
        out.means.clear();
        out.products.clear();
        for (at, &key) in self.keys.iter().enumerate() {
            let place = index.place(key_of(key));
            let (count, means) = (self.counts[at], &self.means[at * k..][..k]);
            let products = &self.products[at * t..][..t];
            if place == out.counts.len() {
                out.counts.push(count);
                out.means.extend_from_slice(means);
                out.products.extend_from_slice(products);
                continue;
            }
            let before = out.counts[place];
            let all = before + count;
            let (own, into) = (&mut out.means[place * k..][..k], &mut out.products[place * t..][..t]);
            let apart = before * count / all;
            let mut at = 0;
            for col in 0..k {
                for row in 0..=col {
                    into[at] += products[at] + apart * (means[row] - own[row]) * (means[col] - own[col]);
                    at += 1;
                }
            }
            own.iter_mut().zip(means).for_each(|(mean, other)| *mean += (other - *mean) * (count / all));
            out.counts[place] = all;
        }
        out.keys.clear();
        out.keys.extend_from_slice(&index.keys);
    }
}

/// Hands on what a column has in a range of rows, each with its place in the range; `some`: the rows that count, where not all do.
#[inline]
fn each<T: Copy>(column: &[T], some: Option<&[u32]>, range: &Range<usize>, mut on: impl FnMut(usize, T)) {
    match some {
        None => column[range.clone()].iter().enumerate().for_each(|(at, &value)| on(at, value)),
        Some(rows) => rows[range.clone()].iter().enumerate().for_each(|(at, &row)| on(at, column[row as usize])),
    }
}

/// The places of the bits that are set.
pub(super) fn set_bits(words: &[u64], out: &mut Vec<u32>) {
    for (at, &word) in words.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            out.push(at as u32 * 64 + left.trailing_zeros());
            left &= left - 1;
        }
    }
}
