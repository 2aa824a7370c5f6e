//! Results of a search as flat arrays, by row. They hold what was found, and nothing for other pairs. R/class-compact.R describes them.
//!
//! The caller owns the arrays. [`Listed`] and [`Sets`] return how long the arrays must be, and fill them; [`Flat`] reads them.

mod lazily;
mod read;
mod rows;
mod sets;
#[cfg(test)]
mod tests;

pub use lazily::{Correlations, PMax, Set};
pub use read::{Entries, Flat, Given, Unreadable};
pub use rows::{marks, Listed};
pub use sets::{Sets, SetsMut, Values};

use std::ops::Range;

use crate::pool::Pool;

/// The marks of an edge between x < y.
const UNDIRECTED: u8 = 1;
const TO_LARGER: u8 = 2;
const TO_SMALLER: u8 = 3;
const CONFLICT: u8 = 4;

/// Returns an unknown p-value: R's NA as a double.
pub fn na() -> f64 {
    f64::from_bits(0x7ff0_0000_0000_07a2)
}

/// Returns for each row the index of its first entry, then the number of all entries: p + 1 numbers.
fn starts(counts: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut end = 0;
    let sums = counts.map(|count| {
        end += count;
        end
    });
    std::iter::once(0).chain(sums).collect()
}

/// Divides rows into parts with about equally many entries, enough parts for all threads.
fn parts(pool: &Pool, starts: &[u64]) -> Vec<Range<usize>> {
    let (p, all) = (starts.len() - 1, starts[starts.len() - 1]);
    let each = (all / (8 * pool.threads() as u64)).max(1 << 14);
    let mut parts = Vec::new();
    let mut from = 0;
    while from < p {
        let goal = starts[from] + each;
        let to = (from + 1 + starts[from + 1..p].partition_point(|&start| start < goal)).min(p);
        parts.push(from..to);
        from = to;
    }
    parts
}

/// Computes `count(x)` for every row, on several threads.
fn counted<T: Default + Clone + Send>(pool: &Pool, p: usize, count: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut counts = vec![T::default(); p];
    pool.each_of(counts.chunks_mut(256).enumerate().collect(), |_, (chunk, counts): (usize, &mut [T])| {
        for (i, slot) in counts.iter_mut().enumerate() {
            *slot = count(256 * chunk + i);
        }
    });
    counts
}
