//! The rows of a test, in the order of summation that all machines share.

use std::collections::HashMap;
use std::ops::Range;

use super::data::Frame;

/// The bound below which keys are found in a table, others by hashing.
const TABLE: u64 = 1 << 16;

/// An index that numbers keys 0, 1, ... in the order in which they are first met.
#[derive(Debug, Default)]
pub(super) struct Index {
    table: Vec<u32>,
    map: HashMap<u64, u32>,
    pub keys: Vec<u64>,
    small: bool,
}

const NONE: u32 = u32::MAX;

impl Index {
    /// Forgets all keys; new ones must be below `domain`.
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

    /// Returns the number of a key.
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

/// The input of a test from a data set: rows, and the variables that make cells and moments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub frame: &'a Frame,
    /// The index of the data set.
    pub set: usize,
    /// A bit for each row, or `None` for all rows.
    pub rows: Option<&'a [u64]>,
    /// The factors: x and y first if they are factors, then those of S in descending order.
    pub factors: &'a [u32],
    /// The variables of numbers.
    pub numbers: &'a [u32],
}

/// Number of rows that are processed together, so that their data stay in the cache.
const TOGETHER: usize = 512;

// The order of sums, which is the same on every machine, so that answers are the same to the last bit. Rows are summed in chunks, and the
// rows of a chunk in lanes. If there are few cells, row r is in lane r % (1 << LANE_BITS), so that one sum need not wait for another;
// otherwise all rows are in lane 0. A lane adds up its rows in their order, a chunk its lanes, and a sum its chunks.

/// Number of rows in a chunk, by row number.
pub const CHUNK: usize = 4096;

/// Number of lanes in a chunk, as a power of 2, if there are at most [`FEW_CELLS`] keys.
pub const LANE_BITS: u32 = 2;

/// The largest number of keys for which a chunk has several lanes, see [`LANE_BITS`].
pub const FEW_CELLS: u64 = 64;

/// Returns the number of entries in the triangle of k variables.
pub(super) fn triangle(k: usize) -> usize {
    k * (k + 1) / 2
}

/// Passes on the values of a column in a range of rows, each with its index in the range. `some` lists the rows that count, unless all do.
#[inline]
pub(super) fn each<T: Copy>(column: &[T], some: Option<&[u32]>, range: &Range<usize>, mut on: impl FnMut(usize, T)) {
    match some {
        None => column[range.clone()].iter().enumerate().for_each(|(at, &value)| on(at, value)),
        Some(rows) => rows[range.clone()].iter().enumerate().for_each(|(at, &row)| on(at, column[row as usize])),
    }
}

/// Calls `on` with ranges of rows, none of which crosses the border of a [`CHUNK`], and with whether a chunk ends with the range.
pub(super) fn in_blocks(some: Option<&[u32]>, n: usize, mut on: impl FnMut(Range<usize>, bool)) {
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

/// Adds the lanes of a chunk to the sums of its cells, and resets the lanes.
pub(super) fn add_lanes(lanes: &mut [f64], bits: u32, sums: &mut [f64]) {
    for (sum, lanes) in sums.iter_mut().zip(lanes.chunks_exact_mut(1 << bits)) {
        *sum += lanes.iter().sum::<f64>();
        lanes.fill(0.0);
    }
}

/// Appends the indices of the bits that are set.
pub(super) fn set_bits(words: &[u64], out: &mut Vec<u32>) {
    for (at, &word) in words.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            out.push(at as u32 * 64 + left.trailing_zeros());
            left &= left - 1;
        }
    }
}
