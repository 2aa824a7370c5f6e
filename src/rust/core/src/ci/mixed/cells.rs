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

/// The rows that a test looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All.
    All,
    /// Those that have a value in each of its variables.
    Complete,
    /// The others.
    Others,
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
    let levels = factors.iter().map(|&factor| u64::from(frame.occurring(factor as usize)));
    levels.into_iter().try_fold(1_u64, u64::checked_mul)
}

/// Working memory of [`Cells::fill`].
#[derive(Debug, Default)]
pub(super) struct Filling {
    rows: Vec<u32>,
    /// Of some rows.
    keys: Vec<u64>,
    values: Vec<f64>,
    /// By row: where its cell, and its lane there, have their sums.
    slots: Vec<u32>,
    sums: Vec<f64>,
    pub index: Index,
}

/// Rows that are looked at together: what is known of them stays near.
const TOGETHER: usize = 512;

// The order of sums, which is the same on every machine, so that answers are the same to the last bit. Rows are taken in chunks, and those of a
// chunk by lanes: row r is of lane r % LANES where cells are few, so that one sum need not wait for another, else all are of lane 0. A lane adds
// up its rows in their order, a chunk its lanes, and a sum its chunks.

/// Rows of a chunk, by their numbers.
pub const CHUNK: usize = 4096;

/// Lanes of a chunk, as a power of 2, where keys are below [`FEW_CELLS`].
pub const LANE_BITS: u32 = 2;

/// See [`LANE_BITS`].
pub const FEW_CELLS: u64 = 64;

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
        let Filling { rows, keys, values, slots, sums, index } = filling;
        let (frame, k, n) = (asked.frame, asked.numbers.len(), asked.frame.n());
        rows.clear();
        let some = asked.rows.map(|words| {
            set_bits(words, rows);
            &rows[..]
        });
        let bits = if domain <= FEW_CELLS { LANE_BITS } else { 0 };
        let lane = |row: usize| (row as u32) & ((1 << bits) - 1);
        let row_of = |at: usize| some.map_or(at, |rows| rows[at] as usize);
        index.clear(domain);
        self.domain = domain;
        self.k = k;
        self.counts.clear();
        slots.clear();
        in_blocks(some, n, |range, _| {
            keys.clear();
            keys.resize(range.len(), 0);
            let mut stride = 1;
            for &factor in asked.factors {
                let codes = frame.codes(factor as usize, asked.set);
                each(codes, some, &range, |at, code| keys[at] += stride * u64::from(code));
                stride *= u64::from(frame.occurring(factor as usize));
            }
            for (at, &key) in range.zip(keys.iter()) {
                let place = index.place(key);
                if place == self.counts.len() {
                    self.counts.push(0.0);
                }
                self.counts[place] += 1.0;
                slots.push((place as u32) << bits | lane(row_of(at)));
            }
        });
        self.keys.clear();
        self.keys.extend_from_slice(&index.keys);
        let (cells, t) = (self.keys.len(), triangle(k));
        self.means.clear();
        self.means.resize(cells * k, 0.0);
        self.products.clear();
        self.products.resize(cells * t, 0.0);
        if k == 0 || cells == 0 {
            return;
        }
        let width = cells << bits;
        sums.clear();
        sums.resize(k * width, 0.0);
        in_blocks(some, n, |range, ends| {
            let slots = &slots[range.clone()];
            for (&number, sums) in asked.numbers.iter().zip(sums.chunks_exact_mut(width)) {
                let column = frame.numbers(number as usize, asked.set);
                each(column, some, &range, |at, value| sums[slots[at] as usize] += value);
            }
            if ends {
                add_lanes(sums, bits, &mut self.means, k);
            }
        });
        self.divide();
        sums.clear();
        sums.resize(t * width, 0.0);
        in_blocks(some, n, |range, ends| {
            // By variable: the deviations of these rows.
            values.clear();
            let (many, slots) = (range.len(), &slots[range.clone()]);
            for (at, &number) in asked.numbers.iter().enumerate() {
                let column = frame.numbers(number as usize, asked.set);
                let means = &self.means[at..];
                each(column, some, &range, |at, value| {
                    values.push(value - means[(slots[at] >> bits) as usize * k]);
                });
            }
            let mut pairs = (0..k).flat_map(|col| (0..=col).map(move |row| (row, col)));
            for (sums, (row, col)) in sums.chunks_exact_mut(width).zip(&mut pairs) {
                let (of_row, of_col) = (&values[row * many..][..many], &values[col * many..][..many]);
                for ((&slot, a), b) in slots.iter().zip(of_row).zip(of_col) {
                    sums[slot as usize] += a * b;
                }
            }
            if ends {
                add_lanes(sums, bits, &mut self.products, t);
            }
        });
    }

    /// The one cell of rows without factors; with the same sums as [`Cells::fill`], or where numbers are taken as they are, sums for means and
    /// products of the numbers themselves.
    pub fn fill_one(&mut self, asked: &Asked, as_they_are: bool, filling: &mut Filling) {
        let Filling { rows, values, sums, .. } = filling;
        let (frame, k, n) = (asked.frame, asked.numbers.len(), asked.frame.n());
        let t = triangle(k);
        rows.clear();
        let some = asked.rows.map(|words| {
            set_bits(words, rows);
            &rows[..]
        });
        let lane = |at: usize| some.map_or(at, |rows| rows[at] as usize) % (1 << LANE_BITS);
        // Row by row, less what their numbers are to be less.
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

    /// Makes means of sums.
    fn divide(&mut self) {
        for (sums, &count) in self.means.chunks_exact_mut(self.k).zip(&self.counts) {
            sums.iter_mut().for_each(|sum| *sum /= count);
        }
    }

    /// Puts cells without numbers in the order of their keys.
    pub fn sort_by_key(&mut self) {
        let mut cells: Vec<(u64, f64)> = self.keys.iter().copied().zip(self.counts.iter().copied()).collect();
        cells.sort_unstable_by_key(|(key, _)| *key);
        self.keys.clear();
        self.keys.extend(cells.iter().map(|(key, _)| *key));
        self.counts.clear();
        self.counts.extend(cells.iter().map(|(_, count)| *count));
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

/// Cells that are made already.
pub(super) trait Known {
    /// Writes those of these rows of a data set, in the order in which they are met, or without numbers in that of their keys; whether it has them.
    fn take(&mut self, set: usize, which: Which, out: &mut Cells) -> bool;
}

/// None are.
pub(super) struct Nothing;

impl Known for Nothing {
    fn take(&mut self, _: usize, _: Which, _: &mut Cells) -> bool {
        false
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

/// Goes through the rows by ranges of their places, none of which crosses the border of a [`CHUNK`]; says whether a chunk ends with it.
fn in_blocks(some: Option<&[u32]>, n: usize, mut on: impl FnMut(Range<usize>, bool)) {
    let count = some.map_or(n, <[u32]>::len);
    let mut from = 0;
    while from < count {
        let end = match some {
            None => count.min((from / CHUNK + 1) * CHUNK),
            Some(rows) => {
                let border = (rows[from] as usize / CHUNK + 1) * CHUNK;
                from + rows[from..].partition_point(|&row| (row as usize) < border)
            }
        };
        while from < end {
            let to = end.min(from + TOGETHER);
            on(from..to, to == end);
            from = to;
        }
    }
}

/// Adds rows of k values, each of a lane, to their lanes' sums: of products, and where they are `wanted` of the values, which come first.
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

/// Adds the lanes of a chunk, which begin anew, to the sums of its cells: `each` by cell.
fn add_lanes(lanes: &mut [f64], bits: u32, sums: &mut [f64], each: usize) {
    let width = lanes.len() / each;
    for (at, lanes) in lanes.chunks_exact_mut(width).enumerate() {
        for (cell, lanes) in lanes.chunks_exact_mut(1 << bits).enumerate() {
            sums[cell * each + at] += lanes.iter().sum::<f64>();
            lanes.fill(0.0);
        }
    }
}

/// Likewise where each lane has the sums of one cell, side by side.
fn add_whole_lanes(lanes: &mut [f64], sums: &mut [&mut [f64]]) {
    let width = lanes.len() >> LANE_BITS;
    for (at, sum) in sums.iter_mut().flat_map(|sums| sums.iter_mut()).enumerate() {
        *sum += (0..1 << LANE_BITS).map(|lane| lanes[lane * width + at]).sum::<f64>();
    }
    lanes.fill(0.0);
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
