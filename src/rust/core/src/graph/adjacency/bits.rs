//! Words of 64 vertices: their bits, and the vertices that these stand for.

use std::ops::Range;

use crate::memory;
use crate::simd::{self, Task};

/// Returns words without a bit. Many words are put on large pages, because a large graph spends most of its time on the first touch of its
/// pages.
pub(crate) fn no_bits(words: usize) -> Vec<u64> {
    let mut bits = vec![0; words];
    memory::prefer_large_pages(&mut bits);
    bits
}

/// The task of counting the bits of words.
struct Ones<'w>(&'w [u64]);

impl<S> Task<S> for Ones<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self, _: S) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// Returns the number of bits in words.
#[inline]
pub(super) fn ones(words: &[u64]) -> usize {
    simd::run(Ones(words))
}

/// The single bit for each place of a word, for loops over all places.
pub(crate) const BITS: [u64; 64] = {
    let mut bits = [0; 64];
    let mut i = 0;
    while i < bits.len() {
        bits[i] = 1 << i;
        i += 1;
    }
    bits
};

/// The vertices of a row, or of a range of it, in ascending order. Most words of a sparse graph are empty, and are skipped one by one.
pub(super) struct Vertices<'g> {
    /// The unread bits of the current word; `first` is the vertex of its bit 0.
    word: u64,
    first: u32,
    /// The words after it. `last` masks the last one.
    rest: &'g [u64],
    last: u64,
}

impl<'g> Vertices<'g> {
    pub fn within(row: &'g [u64], range: Range<usize>) -> Self {
        if range.is_empty() {
            return Vertices { word: 0, first: 0, rest: &[], last: 0 };
        }
        let (from, last) = (range.start / 64, !0 >> (63 - (range.end - 1) % 64));
        let rest = &row[from + 1..range.end.div_ceil(64)];
        let word = row[from] & !0 << (range.start % 64) & if rest.is_empty() { last } else { !0 };
        Vertices { word, first: from as u32 * 64, rest, last }
    }
}

impl Iterator for Vertices<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            let (&next, rest) = self.rest.split_first()?;
            self.word = if rest.is_empty() { next & self.last } else { next };
            self.rest = rest;
            self.first += 64;
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(self.first + bit)
    }
}

/// Returns the vertices of word `w` of a row.
pub(crate) fn bits(w: usize, word: u64) -> impl Iterator<Item = u32> {
    Vertices { word, first: w as u32 * 64, rest: &[], last: 0 }
}

/// Transposes a 64 x 64 matrix of bits (rows are words, bit j is column j) by halving blocks, as in Hacker's Delight 7-3.
pub(super) fn transpose(block: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_ffff_ffffu64;
    while width > 0 {
        let mut i = 0;
        while i < 64 {
            let swap = ((block[i] >> width) ^ block[i + width]) & mask;
            block[i] ^= swap << width;
            block[i + width] ^= swap;
            i = (i + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}
