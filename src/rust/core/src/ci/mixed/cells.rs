//! Cells that factors make of rows: the number of rows in each, their means, and the products of their deviations.
//!
//! A cell has a key: a number whose digits are the codes of its factors, with those of x and y lowest. Cells of fewer factors are sums of
//! these cells. So a test reads its rows once, or twice if there are numbers.

use std::ops::Range;

use super::data::Frame;
use super::rows::{each, in_blocks, set_bits, triangle, Asked, Index, LANE_BITS};
use super::summed::{Buffers, Kept};

/// The rows that a test reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All rows.
    All,
    /// The rows that have a value in each of the test's variables.
    Complete,
    /// The rows that lack a value in one of the test's variables.
    Others,
}

/// Returns the product of the numbers of levels that occur, or `None` if that exceeds what a key holds.
pub(super) fn domain(frame: &Frame, factors: &[u32]) -> Option<u64> {
    let levels = factors.iter().map(|&factor| u64::from(frame.occurring(factor as usize)));
    levels.into_iter().try_fold(1_u64, u64::checked_mul)
}

/// Working memory of [`Cells::fill`].
#[derive(Debug, Default)]
pub(super) struct Filling {
    rows: Vec<u32>,
    pub index: Index,
    kept: Kept,
    buffers: Buffers,
}

/// Cells in the order in which they are first met.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    pub keys: Vec<u64>,
    /// The bound below which all keys are.
    pub domain: u64,
    /// Number of rows in each cell.
    pub counts: Vec<f64>,
    /// Number of variables of numbers.
    pub k: usize,
    /// The means of each cell, k per cell.
    pub means: Vec<f64>,
    /// For each cell the sums of products of deviations from its means: the upper triangle, column by column.
    pub products: Vec<f64>,
}

impl Cells {
    /// Returns the number of rows.
    pub fn rows(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// Counts rows, and sums their numbers. `domain` is that of the factors.
    pub fn fill(&mut self, asked: &Asked, domain: u64, filling: &mut Filling) {
        let Filling { rows, index, kept, buffers } = filling;
        rows.clear();
        let some = asked.rows.map(|words| {
            set_bits(words, rows);
            &rows[..]
        });
        let summed = kept.sums(asked, (some, domain), index, buffers);
        let (cells, k) = (summed.keys.len(), asked.numbers.len());
        (self.domain, self.k) = (domain, k);
        self.keys.clone_from(&summed.keys);
        self.counts.clone_from(&summed.counts);
        by_cell(&summed.means, cells, k, &mut self.means);
        by_cell(&summed.products, cells, triangle(k), &mut self.products);
    }

    /// Makes the only cell of rows without factors, with the same sums as [`Cells::fill`]. With `as_they_are`, the means are sums instead,
    /// and the products are those of the numbers themselves.
    pub fn fill_one(&mut self, asked: &Asked, as_they_are: bool, filling: &mut Filling) {
        let Filling { rows, buffers: Buffers { values, sums, .. }, .. } = filling;
        let (frame, k, n) = (asked.frame, asked.numbers.len(), asked.frame.n());
        let t = triangle(k);
        rows.clear();
        let some = asked.rows.map(|words| {
            set_bits(words, rows);
            &rows[..]
        });
        let lane = |at: usize| some.map_or(at, |rows| rows[at] as usize) % (1 << LANE_BITS);
        // Row by row, after subtracting `less` from the numbers.
        let take = |range: &Range<usize>, less: &[f64], values: &mut Vec<f64>| {
            values.clear();
            values.resize(k * range.len(), 0.0);
            for (place, (&number, less)) in asked.numbers.iter().zip(less).enumerate() {
                let column = frame.numbers(number as usize, asked.set);
                each(column, some, range, |at, value| values[at * k + place] = value - less);
            }
        };
        (self.k, self.domain) = (k, 1);
        [&mut self.counts, &mut self.means, &mut self.products].into_iter().for_each(|sums| sums.clear());
        self.keys.clear();
        let count = some.map_or(n, <[u32]>::len);
        if count == 0 {
            return;
        }
        self.keys.push(0);
        self.counts.push(count as f64);
        self.means.resize(k, 0.0);
        self.products.resize(t, 0.0);
        sums.clear();
        sums.resize((k + t) << LANE_BITS, 0.0);
        let zeros = vec![0.0; k];
        if !as_they_are {
            let sums = &mut sums[..k << LANE_BITS];
            in_blocks(some, n, |range, ends| {
                take(&range, &zeros, values);
                for (at, row) in range.zip(values.chunks_exact(k)) {
                    sums[lane(at) * k..][..k].iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                if ends {
                    add_whole_lanes(sums, &mut [&mut self.means]);
                }
            });
            self.divide();
        }
        in_blocks(some, n, |range, ends| {
            take(&range, if as_they_are { &zeros } else { &self.means }, values);
            let rows = || range.clone().map(lane);
            // Loops of known length are several times as quick.
            match k {
                2 => add_rows(2, values, rows(), sums, as_they_are),
                3 => add_rows(3, values, rows(), sums, as_they_are),
                4 => add_rows(4, values, rows(), sums, as_they_are),
                5 => add_rows(5, values, rows(), sums, as_they_are),
                k => add_rows(k, values, rows(), sums, as_they_are),
            }
            if ends {
                add_whole_lanes(sums, &mut [&mut self.means, &mut self.products]);
            }
        });
    }

    /// Turns sums into means.
    fn divide(&mut self) {
        for (sums, &count) in self.means.chunks_exact_mut(self.k).zip(&self.counts) {
            sums.iter_mut().for_each(|sum| *sum /= count);
        }
    }

    /// Sorts cells without numbers by key.
    pub fn sort_by_key(&mut self) {
        let mut cells: Vec<(u64, f64)> = self.keys.iter().copied().zip(self.counts.iter().copied()).collect();
        cells.sort_unstable_by_key(|(key, _)| *key);
        self.keys.clear();
        self.keys.extend(cells.iter().map(|(key, _)| *key));
        self.counts.clear();
        self.counts.extend(cells.iter().map(|(_, count)| *count));
    }

    /// Adds up cells whose keys `key_of` maps to the same key, below `domain`.
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

/// Transposes `each` rows by cell to columns by cell.
fn by_cell(rows: &[f64], cells: usize, each: usize, out: &mut Vec<f64>) {
    out.clear();
    out.extend((0..cells).flat_map(|cell| (0..each).map(move |at| rows[at * cells + cell])));
}

/// A source of cells that are already made.
pub(super) trait Known {
    /// Writes the cells for these rows of a data set, and returns whether it has them. They are in the order in which they are first met,
    /// or without numbers in the order of their keys.
    fn take(&mut self, set: usize, which: Which, out: &mut Cells) -> bool;
}

/// A source without cells.
pub(super) struct Nothing;

impl Known for Nothing {
    fn take(&mut self, _: usize, _: Which, _: &mut Cells) -> bool {
        false
    }
}

/// Adds rows of k values to the sums of their lanes. The sums of the values come first, and are added only if `wanted`; then come those of
/// products.
#[inline(always)]
fn add_rows(k: usize, values: &[f64], lanes: impl Iterator<Item = usize>, sums: &mut [f64], wanted: bool) {
    let width = k + triangle(k);
    for (row, lane) in values.chunks_exact(k).zip(lanes) {
        let sums = &mut sums[lane * width..][..width];
        if wanted {
            (0..k).for_each(|at| sums[at] += row[at]);
        }
        let mut at = k;
        for col in 0..k {
            for other in 0..=col {
                sums[at] += row[other] * row[col];
                at += 1;
            }
        }
    }
}

/// Adds the lanes to the sums and resets them, if each lane holds the sums of one cell side by side.
fn add_whole_lanes(lanes: &mut [f64], sums: &mut [&mut [f64]]) {
    let width = lanes.len() >> LANE_BITS;
    for (at, sum) in sums.iter_mut().flat_map(|sums| sums.iter_mut()).enumerate() {
        *sum += (0..1 << LANE_BITS).map(|lane| lanes[lane * width + at]).sum::<f64>();
    }
    lanes.fill(0.0);
}
