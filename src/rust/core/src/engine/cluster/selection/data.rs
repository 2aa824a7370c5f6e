//! The data of a selection on ranks, as bytes: the class, columns of features, choices.
//!
//! A rank gets the columns of its own features once, with as few bits per code as their levels need. With each turn it gets the column of
//! the feature that was selected. Sending all features to all ranks would multiply the bytes by the number of ranks. Also, a column is
//! counted about once a turn, which takes no longer than sending it. Features in a data file are named, not sent: each rank reads its own
//! and makes them discrete.

use std::ops::Range;
use std::path::Path;

use crate::ci::discrete::{Codes, Lent, Variable};
use crate::engine::cpu::selection::encode_from;
use crate::file::DataFile;
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::wire::{Reader, Writer};
use crate::selection::discretise::{Bins, Coding, Column, Discretise};
use crate::selection::{FeatureCodes, FeatureColumn, Samples, SparseVariable};
use crate::Result;

/// Marks of how a rank gets features: as columns, or by the name of a file.
const SENT: u64 = 0;
const NAMED: u64 = 1;

/// Marks of how a column is written.
const DENSE: u8 = 0;
const SPARSE: u8 = 1;

/// The data from which features are selected.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Samples in memory.
    Samples(&'a Samples),
    /// The columns of a data file, which ranks open by its path and make discrete.
    File {
        /// The file.
        file: &'a DataFile,
        /// The path under which the ranks find the file.
        path: &'a str,
        /// The rule that turns its numbers into levels.
        coding: Coding,
        /// Samples with the class and the file's first column.
        first: &'a Samples,
    },
}

impl Source<'_> {
    /// Returns the number of features.
    pub fn p(&self) -> usize {
        match self {
            Source::Samples(samples) => samples.p(),
            Source::File { file, .. } => file.p(),
        }
    }

    /// Returns samples that have the class.
    pub(super) fn class(&self) -> &Samples {
        match self {
            Source::Samples(samples) => samples,
            Source::File { first, .. } => first,
        }
    }

    /// Returns the number of levels of feature `f`, and its column as bytes.
    ///
    /// # Errors
    /// Errors of [`encode_from`].
    pub(super) fn column(&self, f: usize, observer: &mut dyn Observer) -> Result<(usize, Vec<u8>)> {
        let mut bytes = Writer::default();
        let Source::File { file, coding, first, .. } = self else {
            let samples = self.class();
            write_column(samples, f, &mut bytes);
            return Ok((samples.levels(f), bytes.0));
        };
        let class = class_of(first);
        let column = [Column::Doubles(&file.cells()[f * file.n()..][..file.n()])];
        let one = encode_from(f, file.n(), &column, Column::Codes(&class), *coding, &Pool::none(), observer)?;
        write_column(&one, 0, &mut bytes);
        Ok((one.levels(0), bytes.0))
    }

    /// Writes what a rank needs to make these features.
    pub(super) fn write(&self, range: Range<usize>, bytes: &mut Writer) {
        bytes.small(range.start as u64);
        bytes.small(range.len() as u64);
        match self {
            Source::Samples(samples) => {
                bytes.small(SENT);
                range.for_each(|f| write_column(samples, f, bytes));
            }
            Source::File { file, path, coding, .. } => {
                bytes.small(NAMED);
                bytes.text(path);
                bytes.0.extend_from_slice(&file.digest());
                let (kind, bins) = match coding.how {
                    Discretise::EqualWidth(bins) => (0, bins),
                    Discretise::EqualFrequency(bins) => (1, bins),
                    Discretise::None => (2, Bins { count: 0, kept_levels: 0 }),
                };
                let numbers = [kind, u64::from(bins.count), bins.kept_levels as u64, u64::from(coding.missing_level)];
                numbers.iter().for_each(|&number| bytes.small(number));
            }
        }
    }
}

/// Returns the class as codes. Making them discrete again returns the same codes.
fn class_of(samples: &Samples) -> Vec<i32> {
    samples.codes(samples.class()).to_vec(samples.n()).into_iter().map(i32::from).collect()
}

/// A rank's features, as they were received.
pub(super) struct Given<'a> {
    /// The first feature.
    pub start: usize,
    count: usize,
    how: How<'a>,
}

enum How<'a> {
    Sent(Vec<FeatureColumn>),
    Named { path: &'a str, digest: [u8; 16], coding: Coding },
}

impl<'a> Given<'a> {
    /// Reads features of `n` samples, as [`Source::write`] writes them.
    pub fn read(bytes: &mut Reader<'a>, n: usize) -> Option<Self> {
        let (start, count) = (bytes.small_index()?, bytes.small_index()?);
        let how = match bytes.small()? {
            SENT => {
                let columns = (0..bytes.fits(count, 2)?).map(|_| read_column(bytes, n)).collect::<Option<_>>()?;
                How::Sent(columns)
            }
            NAMED => {
                let path = bytes.text()?;
                let digest = bytes.take(16)?.try_into().ok()?;
                let (kind, count, kept_levels) = (bytes.small()?, bytes.small()?, bytes.small_index()?);
                let bins = Bins { count: u32::try_from(count).ok()?, kept_levels };
                let missing_level = bytes.small()? != 0;
                let how = match kind {
                    0 => Discretise::EqualWidth(bins),
                    1 => Discretise::EqualFrequency(bins),
                    2 => Discretise::None,
                    _ => return None,
                };
                How::Named { path, digest, coding: Coding { how, missing_level } }
            }
            _ => return None,
        };
        (count > 0 && start.checked_add(count).is_some()).then_some(Given { start, count, how })
    }

    /// Makes samples with this class. The columns of selected features are added to `lent`.
    ///
    /// # Errors
    /// Errors of [`Samples::of_columns`], and [`Error::File`](crate::Error::File).
    pub fn samples(self, class: &Variable, lent: Lent, pool: &Pool, observer: &mut dyn Observer) -> Result<Samples> {
        let n = class.codes().len();
        let samples = match self.how {
            How::Sent(columns) => Samples::of_columns(n, columns, class.clone())?,
            How::Named { path, digest, coding } => {
                let file = DataFile::open(Path::new(path), Some(digest))?;
                let of_class: Vec<i32> = (0..n).map(|sample| class.codes().at(sample) as i32).collect();
                let cells = file.cells().chunks(file.n().max(1)).skip(self.start).take(self.count);
                let columns: Vec<Column> = cells.map(Column::Doubles).collect();
                encode_from(self.start, n, &columns, Column::Codes(&of_class), coding, pool, observer)?
            }
        };
        Ok(samples.with_lent(lent))
    }
}

/// Returns the number of bits for a code of a variable with `levels` levels. Up to 8 bits go with [`Codes::Bytes`].
fn bits_of(levels: usize) -> usize {
    match levels {
        0..=2 => 1,
        3..=4 => 2,
        5..=16 => 4,
        17..=255 => 8,
        _ => 16,
    }
}

/// Packs codes of `bits` bits each, the first into the lowest bits.
fn pack<C: Copy + Into<u16>>(codes: &[C], bits: usize, bytes: &mut Vec<u8>) {
    if bits == 16 {
        bytes.extend(codes.iter().flat_map(|&code| code.into().to_le_bytes()));
    } else {
        let byte = |codes: &[C]| codes.iter().rev().fold(0, |byte: u16, &code| byte << bits | code.into()) as u8;
        bytes.extend(codes.chunks(8 / bits).map(byte));
    }
}

/// Writes the column of a feature or of the class.
pub(super) fn write_column(samples: &Samples, v: usize, bytes: &mut Writer) {
    let levels = samples.levels(v);
    match samples.codes(v) {
        FeatureCodes::Dense(codes) => {
            bytes.0.push(DENSE);
            bytes.small(levels as u64);
            match codes {
                Codes::Bytes(codes) => pack(codes, bits_of(levels), &mut bytes.0),
                Codes::Words(codes) => pack(codes, bits_of(levels), &mut bytes.0),
            }
        }
        FeatureCodes::Sparse(codes) => {
            bytes.0.push(SPARSE);
            bytes.small(levels as u64);
            bytes.small(u64::from(codes.usual));
            bytes.small(codes.rows.len() as u64);
            let mut next = 0;
            for (&row, &code) in codes.rows.iter().zip(&codes.codes) {
                bytes.small(u64::from(row - next));
                bytes.small(u64::from(code));
                next = row + 1;
            }
        }
    }
}

/// Reads a column of `n` samples, as [`write_column`] writes it.
pub(super) fn read_column(bytes: &mut Reader, n: usize) -> Option<FeatureColumn> {
    let form = bytes.take(1)?[0];
    let levels = u32::try_from(bytes.small()?).ok()?;
    match form {
        DENSE => {
            let bits = bits_of(levels as usize);
            let codes = if bits == 16 {
                let words = bytes.take(n.checked_mul(2)?)?.chunks_exact(2);
                Codes::Words(words.map(|two| u16::from_le_bytes([two[0], two[1]])).collect())
            } else {
                let packed = bytes.take(n.div_ceil(8 / bits))?;
                let mask = ((1u16 << bits) - 1) as u8;
                Codes::Bytes((0..n).map(|at| packed[at * bits / 8] >> (at * bits % 8) & mask).collect())
            };
            Some(FeatureColumn::Dense(Variable::of_codes(levels, codes).ok()?))
        }
        SPARSE => {
            let usual = u16::try_from(bytes.small()?).ok().filter(|&usual| u32::from(usual) < levels)?;
            let count = bytes.small_index()?;
            let (mut rows, mut codes, mut next) = (Vec::new(), Vec::new(), 0u32);
            for _ in 0..bytes.fits(count, 2)? {
                let row = u32::try_from(bytes.small()?).ok()?.checked_add(next).filter(|&row| (row as usize) < n)?;
                rows.push(row);
                codes.push(u16::try_from(bytes.small()?).ok().filter(|&code| u32::from(code) < levels)?);
                next = row + 1;
            }
            Some(FeatureColumn::Sparse(SparseVariable { levels, usual, rows, codes }))
        }
        _ => None,
    }
}

/// Reads a column that was selected elsewhere, or the class, with a code for every sample.
pub(super) fn read_variable(bytes: &mut Reader, n: usize) -> Option<Variable> {
    match read_column(bytes, n)? {
        FeatureColumn::Dense(variable) => Some(variable),
        FeatureColumn::Sparse(sparse) => FeatureCodes::Sparse(&sparse).to_variable(sparse.levels, n).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;

    /// Returns columns with these numbers of levels, each of which occurs, and the class.
    fn samples(n: usize, levels: &[usize]) -> Samples {
        let code = |f: usize, i: usize| ((i * (2 * f + 1) + i / 7) % levels[f]) as u16;
        let column = |f: usize| match f % 3 {
            // Words also hold variables with few levels.
            2 => Codes::Words((0..n).map(|i| code(f, i)).collect()),
            _ if levels[f] > 255 => Codes::Words((0..n).map(|i| code(f, i)).collect()),
            _ => Codes::Bytes((0..n).map(|i| code(f, i) as u8).collect()),
        };
        let variable = |f| Variable::of_codes(levels[f] as u32, column(f)).unwrap();
        let mut features: Vec<FeatureColumn> =
            (0..levels.len() - 1).map(|f| FeatureColumn::Dense(variable(f))).collect();
        let rows: Vec<u32> = (0..n as u32).filter(|row| row % 9 == 4 || *row == 0).collect();
        let codes = rows.iter().map(|&row| (row % 300) as u16).collect();
        features.push(FeatureColumn::Sparse(SparseVariable { levels: 300, usual: 7, rows, codes }));
        Samples::of_columns(n, features, variable(levels.len() - 1)).unwrap()
    }

    fn read(bytes: &[u8], n: usize) -> Option<Given<'_>> {
        let mut bytes = Reader(bytes);
        let given = Given::read(&mut bytes, n)?;
        bytes.end(given)
    }

    #[test]
    fn columns_come_back_whatever_their_levels() {
        for n in [65, 600, 1001] {
            let levels = [1, 2, 2, 3, 4, 4, 5, 16, 16, 17, 255, 20, 256, 300, 3];
            let known = samples(n, &levels);
            let mut bytes = Writer::default();
            Source::Samples(&known).write(0..known.p(), &mut bytes);
            let bytes = bytes.0;
            let class = known.codes(known.class()).to_variable(3, n).unwrap();
            let pool = Pool::none();
            let found = read(&bytes, n).unwrap().samples(&class, Lent::new(1), &pool, &mut Unobserved).unwrap();
            assert_eq!((found.n(), found.p(), found.classes()), (n, known.p(), 3));
            for v in 0..=known.p() {
                assert_eq!(found.levels(v), known.levels(v));
                assert_eq!(found.codes(v).to_vec(n), known.codes(v).to_vec(n), "column {v}");
                let mut one = Writer::default();
                write_column(&known, v, &mut one);
                let bits = [1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8, 16, 16];
                if let Some(bits) = bits.get(v) {
                    assert!(one.0.len() <= (n * bits).div_ceil(8) + 4, "column {v}");
                }
                let lent = read_variable(&mut Reader(&one.0), n).unwrap();
                assert_eq!(FeatureCodes::Dense(lent.codes()).to_vec(n), known.codes(v).to_vec(n), "column {v}");
            }
            (0..bytes.len()).step_by(7).for_each(|cut| assert!(read(&bytes[..cut], n).is_none()));
        }
        // A code in its two bits that is not a level, and a row that does not exist.
        assert!(read_column(&mut Reader(&[DENSE, 3, 0b1100]), 2).is_none());
        assert!(read_column(&mut Reader(&[SPARSE, 3, 0, 1, 9, 1]), 2).is_none());
    }
}
