//! Numbers in R's raw vectors, by significance: all lowest bytes (or bits) first. saveRDS() then takes a third of its time for vectors of
//! numbers, as gzip searches long for repetitions among bytes of all kinds.

use std::ops::Range;

use pcgpu_core::memory::{self, Use};
use pcgpu_core::pool::Pool;

use crate::failure::Outcome;

/// A vector in pieces, one for each part of the rows; `starts` has where the rows' entries begin.
pub fn cut<'a, T>(mut rest: &'a mut [T], starts: &[u64], parts: &[Range<usize>]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        let (piece, later) = rest.split_at_mut((starts[part.end] - starts[part.start]) as usize);
        pieces.push(piece);
        rest = later;
    }
    pieces
}

/// Doubles: byte k of number i stands at k * count + i.
pub struct Doubles<'a> {
    bytes: &'a [u8],
    count: usize,
}

impl<'a> Doubles<'a> {
    /// `count` numbers; none where there are not so many bytes.
    pub fn new(bytes: &'a [u8], count: usize) -> Option<Self> {
        (bytes.len() == 8 * count).then_some(Doubles { bytes, count })
    }

    pub fn get(&self, at: usize) -> f64 {
        f64::from_le_bytes(std::array::from_fn(|k| self.bytes[k * self.count + at]))
    }
}

/// The doubles of a part of the rows, to be written.
pub struct DoublesMut<'a>(Vec<&'a mut [u8]>);

impl<'a> DoublesMut<'a> {
    /// The parts of `8 * count` bytes.
    pub fn cut(bytes: &'a mut [u8], starts: &[u64], parts: &[Range<usize>]) -> Vec<Self> {
        let mut pieces: Vec<_> = parts.iter().map(|_| DoublesMut(Vec::with_capacity(8))).collect();
        for plane in bytes.chunks_exact_mut((bytes.len() / 8).max(1)) {
            for (piece, bytes) in pieces.iter_mut().zip(cut(plane, starts, parts)) {
                piece.0.push(bytes);
            }
        }
        pieces
    }

    pub fn put(&mut self, at: usize, value: f64) {
        for (plane, byte) in self.0.iter_mut().zip(value.to_le_bytes()) {
            plane[at] = byte;
        }
    }
}

/// Bytes of one bit of `count` numbers.
pub fn bytes_of_bit(count: usize) -> usize {
    count.div_ceil(8)
}

/// Writes whole numbers by bits: bit k of number i is bit i % 8 of byte k * [`bytes_of_bit`] + i / 8.
pub fn put_bits(pool: &Pool, bytes: &mut [u8], numbers: &[u32]) {
    let mut parts: Vec<Vec<&mut [u8]>> = Vec::new();
    for plane in bytes.chunks_mut(bytes_of_bit(numbers.len()).max(1)) {
        for (at, part) in plane.chunks_mut(TOGETHER / 8).enumerate() {
            if at == parts.len() {
                parts.push(Vec::with_capacity(32));
            }
            parts[at].push(part);
        }
    }
    let work = parts.into_iter().zip(numbers.chunks(TOGETHER)).collect();
    pool.each_of(work, |_, (mut planes, numbers): (Vec<&mut [u8]>, &[u32])| {
        for (at, numbers) in numbers.chunks(8).enumerate() {
            for (byte, planes) in planes.chunks_mut(8).enumerate() {
                let low =
                    |all: u64, (i, number): (usize, &u32)| all | (u64::from(*number) >> (8 * byte) & 0xff) << (8 * i);
                let turned = turned(numbers.iter().enumerate().fold(0, low)).to_le_bytes();
                planes.iter_mut().zip(turned).for_each(|(plane, byte)| plane[at] = byte);
            }
        }
    });
}

/// Numbers whose bits a thread writes at a time.
const TOGETHER: usize = 1 << 16;

/// Eight bytes of which bit k of byte i becomes bit i of byte k (Warren, Hacker's Delight, 7-3).
fn turned(mut rows: u64) -> u64 {
    for (apart, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let swapped = (rows ^ rows >> apart) & mask;
        rows ^= swapped ^ swapped << apart;
    }
    rows
}

/// Reads `count` whole numbers; none where there are no such bits.
pub fn bits(bytes: &[u8], count: usize) -> Outcome<Option<Vec<u32>>> {
    let each = bytes_of_bit(count).max(1);
    if bytes.len() % each != 0 || bytes.len() / each > 32 {
        return Ok(None);
    }
    let mut numbers: Vec<u32> = memory::zeros(count, Use::Sets)?;
    for (bit, plane) in bytes.chunks(each).enumerate() {
        for (numbers, byte) in numbers.chunks_mut(8).zip(plane) {
            for (i, number) in numbers.iter_mut().enumerate() {
                *number |= u32::from(byte >> i & 1) << bit;
            }
        }
    }
    Ok(Some(numbers))
}
