//! Genotypes as PLINK packs them, and their sums with other variables.
//!
//! A marker has two bits for each sample, the first sample in the lowest bits of a byte: 0 for two copies of the first allele, 2 for one, 3
//! for none, and 1 for a missing genotype. The sum of a variable's products with a marker takes one look-up for each byte, in a table of
//! the 256 sums that its four samples can have. Counts of genotypes take a few operations for each 32 samples. All of this is exact for
//! missing genotypes, too. Sums take the number of copies minus one, so that a marker whose alleles are exchanged has the same sums, with
//! the other sign.

use crate::memory::{self, Use};
use crate::simd::{self, Task};
use crate::Result;

/// Number of samples in a byte.
const IN_BYTE: usize = 4;

/// Number of bytes of each marker whose tables are used together. The tables take 64 KiB.
const TABLES: usize = 32;

/// The lower bit of each genotype of a word.
const LOW: u64 = 0x5555_5555_5555_5555;

/// By code: the number of copies of the first allele; NaN for a missing genotype.
const COPIES: [f64; 4] = [2.0, f64::NAN, 1.0, 0.0];

/// The genotypes of n samples, by marker.
#[derive(Clone, Copy, Debug)]
pub struct Genotypes<'a> {
    bytes: &'a [u8],
    n: usize,
}

/// Sums over the samples in which both a marker and a variable have a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Number of samples.
    pub count: f64,
    /// Sum of the marker's values, which are copies minus one, and of their squares.
    pub marker: [f64; 2],
    /// Sum of the variable's values, and of their squares.
    pub other: [f64; 2],
    /// Sum of the products.
    pub product: f64,
}

impl<'a> Genotypes<'a> {
    /// Makes a view of whole markers of `n` samples. Bytes after the last whole marker are left out.
    pub fn new(bytes: &'a [u8], n: usize) -> Self {
        Genotypes { bytes, n }
    }

    /// Returns the number of bytes of a marker of `n` samples.
    pub fn bytes_of(n: usize) -> usize {
        n.div_ceil(IN_BYTE)
    }

    /// Returns the number of markers.
    pub fn p(&self) -> usize {
        self.bytes.len() / Self::bytes_of(self.n).max(1)
    }

    fn marker(&self, j: usize) -> &'a [u8] {
        let bytes = Self::bytes_of(self.n);
        &self.bytes[j * bytes..][..bytes]
    }

    /// Returns the number of copies of the first allele, NaN if the genotype is missing.
    pub fn at(&self, row: usize, j: usize) -> f64 {
        let byte = self.marker(j)[row / IN_BYTE];
        COPIES[usize::from(byte >> (2 * (row % IN_BYTE)) & 3)]
    }

    /// Writes a marker's values.
    pub fn read(&self, j: usize, out: &mut [f64]) {
        for (four, byte) in out[..self.n].chunks_mut(IN_BYTE).zip(self.marker(j)) {
            for (at, value) in four.iter_mut().enumerate() {
                *value = COPIES[usize::from(byte >> (2 * at) & 3)];
            }
        }
    }

    /// Writes the sums of the markers from `first` on with a variable, as many as there are `sums`.
    pub(super) fn sums(&self, first: usize, with: &Lookup, sums: &mut [Sums]) {
        simd::run(Summing { of: *self, first, with, sums });
    }
}

/// A variable in the form in which markers are summed with it.
pub(super) struct Lookup<'a> {
    /// The values, 0 if missing.
    values: &'a [f64],
    /// By byte of a marker: the sum of products for each of its values.
    tables: Vec<[f64; 256]>,
    /// The lower bit of each genotype whose sample has a value.
    there: Vec<u64>,
    count: f64,
    sums: [f64; 2],
}

impl<'a> Lookup<'a> {
    /// Returns the number of bytes of the tables of a variable with `n` values.
    pub fn bytes(n: usize) -> usize {
        n.div_ceil(IN_BYTE) * std::mem::size_of::<[f64; 256]>()
    }

    /// Makes the tables. `missing`: the samples without a value, whose `values` are 0. `sums`: those of the values and their squares.
    pub fn new(values: &'a [f64], missing: &[u32], sums: [f64; 2]) -> Result<Self> {
        let n = values.len();
        let mut tables = memory::space(n.div_ceil(IN_BYTE), Use::Correlations)?;
        for four in values.chunks(IN_BYTE) {
            let mut table = [0.0; 256];
            for (byte, sum) in table.iter_mut().enumerate() {
                for (at, value) in four.iter().enumerate() {
                    // A missing genotype adds nothing.
                    *sum += [1.0, 0.0, 0.0, -1.0][byte >> (2 * at) & 3] * value;
                }
            }
            tables.push(table);
        }
        let mut there: Vec<u64> = memory::zeros(n.div_ceil(32), Use::Correlations)?;
        for (at, word) in there.iter_mut().enumerate() {
            let count = 32.min(n - 32 * at);
            *word = LOW >> (2 * (32 - count));
        }
        for &row in missing {
            there[row as usize / 32] &= !(1 << (2 * (row % 32)));
        }
        Ok(Lookup { values, tables, there, count: (n - missing.len()) as f64, sums })
    }
}

struct Summing<'a> {
    of: Genotypes<'a>,
    first: usize,
    with: &'a Lookup<'a>,
    sums: &'a mut [Sums],
}

impl<S> Task<S> for Summing<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _simd: S) {
        let Summing { of, first, with, sums } = self;
        for (j, sum) in (first..).zip(&mut *sums) {
            *sum = counted(of.marker(j), with);
        }
        for from in (0..with.tables.len()).step_by(TABLES) {
            let tables = &with.tables[from..with.tables.len().min(from + TABLES)];
            for (j, sum) in (first..).zip(&mut *sums) {
                sum.product += looked_up(&of.marker(j)[from..from + tables.len()], tables);
            }
        }
    }
}

/// Returns the sum of what the tables say about the bytes.
#[inline(always)]
fn looked_up(bytes: &[u8], tables: &[[f64; 256]]) -> f64 {
    // Several sums run side by side, because an addition waits for the one before.
    let mut sums = [0.0; 4];
    let (fours, of_fours) = (bytes.chunks_exact(4), tables.chunks_exact(4));
    let rest = fours.remainder().iter().zip(of_fours.remainder());
    for (bytes, tables) in fours.zip(of_fours) {
        for ((sum, table), &byte) in sums.iter_mut().zip(tables).zip(bytes) {
            *sum += table[usize::from(byte)];
        }
    }
    rest.for_each(|(&byte, table)| sums[0] += table[usize::from(byte)]);
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Returns all sums except that of the products.
#[inline(always)]
fn counted(marker: &[u8], with: &Lookup) -> Sums {
    let (mut ones, mut none, mut missing) = (0, 0, 0);
    for (word, there) in words(marker).zip(&with.there) {
        let (low, high) = (word & there, word >> 1 & there);
        ones += (high & !low).count_ones();
        none += (high & low).count_ones();
        missing += (low & !high).count_ones();
    }
    let count = with.count - f64::from(missing);
    let none = f64::from(none);
    let twos = count - f64::from(ones) - none;
    let mut other = with.sums;
    if missing > 0 {
        for (at, (word, there)) in words(marker).zip(&with.there).enumerate() {
            let mut holes = word & !(word >> 1) & there;
            while holes != 0 {
                let value = with.values[32 * at + holes.trailing_zeros() as usize / 2];
                other[0] -= value;
                other[1] -= value * value;
                holes &= holes - 1;
            }
        }
    }
    Sums { count, marker: [twos - none, twos + none], other, product: 0.0 }
}

/// Returns the bytes as words, the last filled up with zeros.
#[inline(always)]
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let whole = bytes.chunks_exact(8);
    let rest = whole.remainder();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let word = |bytes: &[u8]| {
        let mut eight = [0; 8];
        eight.copy_from_slice(bytes);
        u64::from_le_bytes(eight)
    };
    whole.map(word).chain((!rest.is_empty()).then_some(u64::from_le_bytes(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_samples_that_have_both() {
        for n in [1, 3, 4, 31, 32, 33, 130, 257] {
            let bytes: Vec<u8> = (0..7 * Genotypes::bytes_of(n)).map(|at| (at * 7919 + at / 3 * 31) as u8).collect();
            let of = Genotypes::new(&bytes, n);
            assert_eq!(of.p(), 7);
            let missing: Vec<u32> = (0..n as u32).filter(|row| row % 5 == 3).collect();
            let mut values: Vec<f64> = (0..n).map(|row| (row * 37 % 11) as f64 - 5.0).collect();
            missing.iter().for_each(|&row| values[row as usize] = 0.0);
            let of_values = [values.iter().sum(), values.iter().map(|y| y * y).sum()];
            let mut found = [Sums::default(); 6];
            of.sums(1, &Lookup::new(&values, &missing, of_values).unwrap(), &mut found);
            let mut column = vec![0.0; n];
            for (j, found) in (1..7).zip(found) {
                of.read(j, &mut column);
                let mut wanted = Sums::default();
                for row in (0..n).filter(|&row| !column[row].is_nan() && !missing.contains(&(row as u32))) {
                    let (g, y) = (of.at(row, j) - 1.0, values[row]);
                    wanted.count += 1.0;
                    wanted.product += g * y;
                    for (sums, value) in [(&mut wanted.marker, g), (&mut wanted.other, y)] {
                        sums[0] += value;
                        sums[1] += value * value;
                    }
                }
                assert_eq!(found, wanted, "{n}, {j}");
            }
        }
    }
}
