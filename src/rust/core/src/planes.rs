//! Numbers as bytes by significance: all lowest bytes (or bits) come first. saveRDS() then takes a third of its time for vectors of
//! numbers, because gzip spends long searching mixed bytes for repetitions.

use std::ops::Range;

use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::Result;

/// Cuts a vector into pieces, one for each part of the rows. `starts` holds where each row's entries begin.
pub fn cut<'a, T>(mut rest: &'a mut [T], starts: &[u64], parts: &[Range<usize>]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        let (piece, later) = rest.split_at_mut((starts[part.end] - starts[part.start]) as usize);
        pieces.push(piece);
        rest = later;
    }
    pieces
}

/// Doubles by bytes: byte k of number i is at k * count + i.
pub struct Doubles<'a> {
    bytes: &'a [u8],
    count: usize,
}

impl<'a> Doubles<'a> {
    /// Returns a view of `count` numbers, or `None` unless there are 8 * `count` bytes.
    pub fn new(bytes: &'a [u8], count: usize) -> Option<Self> {
        (bytes.len() == 8 * count).then_some(Doubles { bytes, count })
    }

    /// Returns number `at`.
    pub fn get(&self, at: usize) -> f64 {
        f64::from_le_bytes(std::array::from_fn(|k| self.bytes[k * self.count + at]))
    }
}

/// The doubles of a part of the rows, for writing.
pub struct DoublesMut<'a>(Vec<&'a mut [u8]>);

impl<'a> DoublesMut<'a> {
    /// Cuts `8 * count` bytes into the parts.
    pub fn cut(bytes: &'a mut [u8], starts: &[u64], parts: &[Range<usize>]) -> Vec<Self> {
        let mut pieces: Vec<_> = parts.iter().map(|_| DoublesMut(Vec::with_capacity(8))).collect();
        for plane in bytes.chunks_exact_mut((bytes.len() / 8).max(1)) {
            for (piece, bytes) in pieces.iter_mut().zip(cut(plane, starts, parts)) {
                piece.0.push(bytes);
            }
        }
        pieces
    }

    /// Writes the numbers `at` and after.
    pub fn put(&mut self, at: usize, values: &[f64]) {
        let eights = values.chunks_exact(8);
        let rest = values.len() - eights.remainder().len();
        for (place, value) in (at + rest..).zip(eights.remainder()) {
            self.0.iter_mut().zip(value.to_le_bytes()).for_each(|(plane, byte)| plane[place] = byte);
        }
        for (place, eight) in (at..).step_by(8).zip(eights) {
            let bytes = turned_bytes(std::array::from_fn(|i| eight[i].to_bits()));
            for (plane, bytes) in self.0.iter_mut().zip(bytes) {
                plane[place..place + 8].copy_from_slice(&bytes.to_le_bytes());
            }
        }
    }
}

/// Returns the number of bytes that hold one bit of each of `count` numbers.
pub fn bytes_of_bit(count: usize) -> usize {
    count.div_ceil(8)
}

/// The whole numbers of a part of the rows, to be written in order, by bits: bit k of number i is bit i % 8 of byte k * [`bytes_of_bit`] +
/// i / 8. A byte that holds numbers of two parts belongs to neither. The last byte belongs to no part unless it is full.
pub struct BitsMut<'a> {
    /// The bytes that belong to this part alone, by bit.
    planes: Vec<&'a mut [u8]>,
    /// Number of bytes written.
    at: usize,
    /// Numbers still to come that precede those bytes.
    before: usize,
    /// Numbers that wait until there are enough to write.
    waiting: Vec<u32>,
    /// The index of the next number.
    next: usize,
    shared: Vec<Shared>,
}

/// A number in a byte that belongs to no part: its index and its value.
type Shared = (usize, u32);

/// Number of numbers written at a time.
const TOGETHER: usize = 64;

impl<'a> BitsMut<'a> {
    /// Cuts the bytes of `starts[parts.len()]` numbers into the parts.
    pub fn cut(bytes: &'a mut [u8], starts: &[u64], parts: &[Range<usize>]) -> Vec<Self> {
        let ends = |part: &Range<usize>| (starts[part.start] as usize, starts[part.end] as usize);
        let of_part = |part| {
            let (next, end) = ends(part);
            let (waiting, shared) = (Vec::with_capacity(TOGETHER), Vec::new());
            BitsMut {
                planes: Vec::new(),
                at: 0,
                before: (next.next_multiple_of(8).min(end)) - next,
                waiting,
                next,
                shared,
            }
        };
        let mut pieces: Vec<_> = parts.iter().map(of_part).collect();
        let count = starts[starts.len() - 1] as usize;
        for mut plane in bytes.chunks_exact_mut(bytes_of_bit(count).max(1)) {
            let mut done = 0;
            for (piece, part) in pieces.iter_mut().zip(parts) {
                let (start, end) = ends(part);
                let (from, to) = (start.div_ceil(8), end / 8);
                let own = if from < to {
                    let (own, later) = std::mem::take(&mut plane)[from - done..].split_at_mut(to - from);
                    (plane, done) = (later, to);
                    own
                } else {
                    &mut []
                };
                piece.planes.push(own);
            }
        }
        pieces
    }

    /// Writes the next numbers.
    pub fn put(&mut self, mut numbers: &[u32]) {
        let (before, others) = numbers.split_at(self.before.min(numbers.len()));
        self.share(before);
        self.before -= before.len();
        numbers = others;
        if !self.waiting.is_empty() {
            let (first, others) = numbers.split_at((TOGETHER - self.waiting.len()).min(numbers.len()));
            self.waiting.extend(first);
            numbers = others;
            if self.waiting.len() < TOGETHER {
                return;
            }
            let waiting = std::mem::take(&mut self.waiting);
            self.write(&waiting);
            self.waiting = waiting;
            self.waiting.clear();
        }
        let whole = numbers.chunks_exact(TOGETHER);
        self.waiting.extend(whole.remainder());
        whole.for_each(|numbers| self.write(numbers));
    }

    /// Ends the writing, once all numbers are there. Returns the numbers in bytes that belong to no part.
    pub fn finish(mut self) -> Vec<Shared> {
        let waiting = std::mem::take(&mut self.waiting);
        let (own, shared) = waiting.split_at(waiting.len() / 8 * 8);
        self.write(own);
        self.share(shared);
        self.shared
    }

    fn share(&mut self, numbers: &[u32]) {
        self.shared.extend((self.next..).zip(numbers.iter().copied()));
        self.next += numbers.len();
    }

    /// Writes whole bytes, of at most [`TOGETHER`] numbers.
    fn write(&mut self, numbers: &[u32]) {
        let (at, bytes) = (self.at, numbers.len() / 8);
        for (byte, planes) in self.planes.chunks_mut(8).enumerate() {
            let mut low = [0u8; TOGETHER];
            low.iter_mut().zip(numbers).for_each(|(low, number)| *low = (number >> (8 * byte)) as u8);
            let mut rows = [0u64; TOGETHER / 8];
            for (row, low) in rows.iter_mut().zip(low.chunks_exact(8)) {
                *row = turned(u64::from_le_bytes(std::array::from_fn(|i| low[i])));
            }
            for (plane, row) in planes.iter_mut().zip(turned_bytes(rows)) {
                plane[at..at + bytes].copy_from_slice(&row.to_le_bytes()[..bytes]);
            }
        }
        self.at += bytes;
        self.next += numbers.len();
    }
}

/// Writes the bytes that belong to no part. `shared` holds the numbers of all parts, in order.
pub fn put_shared(bytes: &mut [u8], count: usize, shared: &[Shared]) {
    for numbers in shared.chunk_by(|(a, _), (b, _)| a / 8 == b / 8) {
        for (bit, plane) in bytes.chunks_exact_mut(bytes_of_bit(count).max(1)).enumerate() {
            plane[numbers[0].0 / 8] =
                numbers.iter().fold(0, |byte, (at, number)| byte | ((number >> bit & 1) as u8) << (at % 8));
        }
    }
}

/// Transposes eight bytes: bit k of byte i becomes bit i of byte k (Warren, Hacker's Delight, 7-3).
fn turned(mut rows: u64) -> u64 {
    for (apart, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let swapped = (rows ^ rows >> apart) & mask;
        rows ^= swapped ^ swapped << apart;
    }
    rows
}

/// Transposes bytes: byte j of number i becomes byte i of number j.
#[inline]
fn turned_bytes(mut rows: [u64; 8]) -> [u64; 8] {
    for (apart, mask) in [(4, 0x0000_0000_ffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)] {
        for low in (0..8).filter(|row| row & apart == 0) {
            let swapped = (rows[low] >> (8 * apart) ^ rows[low + apart]) & mask;
            rows[low] ^= swapped << (8 * apart);
            rows[low + apart] ^= swapped;
        }
    }
    rows
}

/// Number of whole numbers that a thread reads at a time, a multiple of 8.
const READ_TOGETHER: usize = 1 << 16;

/// Reads `count` whole numbers on the pool's threads, or returns `None` if the number of bytes does not fit.
pub fn bits(bytes: &[u8], count: usize, pool: &Pool) -> Result<Option<Vec<u32>>> {
    let each = bytes_of_bit(count).max(1);
    if bytes.len() % each != 0 || bytes.len() / each > 32 {
        return Ok(None);
    }
    let mut numbers: Vec<u32> = memory::zeros(count, Use::Sets)?;
    pool.each_of(numbers.chunks_mut(READ_TOGETHER).collect(), |part, numbers: &mut [u32]| {
        for (bit, plane) in bytes.chunks(each).enumerate() {
            for (numbers, byte) in numbers.chunks_mut(8).zip(&plane[part * READ_TOGETHER / 8..]) {
                for (i, number) in numbers.iter_mut().enumerate() {
                    *number |= u32::from(byte >> i & 1) << bit;
                }
            }
        }
    });
    Ok(Some(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_parts_are_read_back() {
        let counts = [0u64, 3, 1, 2, 0, 64, 7, 130, 1, 8, 500, 5, 0];
        let starts: Vec<u64> =
            std::iter::once(0).chain(counts.iter().scan(0, |end, count| Some((*end += count, *end).1))).collect();
        let count = starts[counts.len()] as usize;
        let numbers: Vec<u32> = (0..count as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 13).collect();
        let values: Vec<f64> = numbers.iter().map(|&number| 1.0 / f64::from(number + 1)).collect();
        for parts in
            [vec![0..12, 12..13], vec![0..1, 1..13], (0..13).map(|row| row..row + 1).collect(), vec![0..4, 4..7, 7..13]]
        {
            let mut bytes = vec![0xa5; 19 * bytes_of_bit(count)];
            let mut shared = Vec::new();
            for (part, mut bits) in parts.iter().zip(BitsMut::cut(&mut bytes, &starts, &parts)) {
                for row in part.clone() {
                    bits.put(&numbers[starts[row] as usize..starts[row + 1] as usize]);
                }
                shared.extend(bits.finish());
            }
            put_shared(&mut bytes, count, &shared);
            assert!(bits(&bytes, count, &Pool::none()).is_ok_and(|read| read.as_ref() == Some(&numbers)), "{parts:?}");
            let mut bytes = vec![0xa5; 8 * count];
            for (part, mut doubles) in parts.iter().zip(DoublesMut::cut(&mut bytes, &starts, &parts)) {
                for row in part.clone() {
                    let of_row = starts[row] as usize..starts[row + 1] as usize;
                    doubles.put(of_row.start - starts[part.start] as usize, &values[of_row]);
                }
            }
            let read = Doubles::new(&bytes, count);
            assert!(read.is_some_and(|read| (0..count).all(|at| read.get(at) == values[at])), "{parts:?}");
        }
        assert!(BitsMut::cut(&mut [], &[0, 0, 0], &[0..1, 1..2]).into_iter().all(|bits| bits.finish().is_empty()));
    }
}
