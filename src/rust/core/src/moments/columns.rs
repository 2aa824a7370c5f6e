//! Columns of data: the rows that count, a summary of their values, and the values minus the mean.

use std::ops::Range;
use std::sync::Mutex;

use crate::memory::{self, Use};
use crate::numbers::{real, Numbers, SMALL};
use crate::pool::{Pool, Stop};
use crate::Result;

/// Number of rows in a piece of a long column. Each piece is summed separately.
const PIECE: usize = 1 << 16;

/// Number of sums that run side by side.
const LANES: usize = 16;

/// A summary of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The smallest value, or infinity if all are missing.
    pub least: f64,
    /// The largest value, or -infinity if all are missing.
    pub largest: f64,
    /// Number of missing values.
    pub missing: usize,
    sum: f64,
}

impl Summary {
    /// The summary of no values.
    pub(super) const NONE: Self = Summary { least: f64::INFINITY, largest: f64::NEG_INFINITY, missing: 0, sum: 0.0 };

    /// Joins the summaries of two sets of values.
    pub(super) fn join(self, other: Self) -> Self {
        Summary {
            least: self.least.min(other.least),
            largest: self.largest.max(other.largest),
            missing: self.missing + other.missing,
            sum: self.sum + other.sum,
        }
    }

    /// Returns the sum of the values that are not missing.
    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// Returns whether all present values are finite and at least two differ.
    pub fn varies(&self) -> bool {
        self.least < self.largest && self.least.is_finite() && self.largest.is_finite()
    }
}

/// A summary under construction. It holds several of each number side by side, because an addition waits for the one before.
pub(super) struct Holding {
    least: [f64; LANES],
    largest: [f64; LANES],
    sum: [f64; LANES],
    missing: [u64; LANES],
}

impl Default for Holding {
    fn default() -> Self {
        let (least, largest) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        Holding { least, largest, sum: [0.0; LANES], missing: [0; LANES] }
    }
}

impl Holding {
    #[inline(always)]
    pub(super) fn add(&mut self, values: &[f64]) {
        // Sums and extremes take turns, because registers are few.
        for values in values.chunks(64 * LANES) {
            let whole = values.chunks_exact(LANES);
            let rest = whole.remainder();
            for values in whole.clone() {
                for (lane, &value) in values.iter().enumerate() {
                    self.sum_up(lane, value);
                }
            }
            for values in whole {
                for (lane, &value) in values.iter().enumerate() {
                    self.widen(lane, value);
                }
            }
            for (lane, &value) in rest.iter().enumerate() {
                self.sum_up(lane, value);
                self.widen(lane, value);
            }
        }
    }

    #[inline(always)]
    fn sum_up(&mut self, lane: usize, value: f64) {
        self.missing[lane] += u64::from(value.is_nan());
        self.sum[lane] += if value.is_nan() { 0.0 } else { value };
    }

    #[inline(always)]
    fn widen(&mut self, lane: usize, value: f64) {
        self.least[lane] = if value < self.least[lane] { value } else { self.least[lane] };
        self.largest[lane] = if value > self.largest[lane] { value } else { self.largest[lane] };
    }

    pub(super) fn summary(&self) -> Summary {
        Summary {
            least: self.least.into_iter().fold(f64::INFINITY, f64::min),
            largest: self.largest.into_iter().fold(f64::NEG_INFINITY, f64::max),
            missing: self.missing.iter().sum::<u64>() as usize,
            sum: self.sum.iter().sum(),
        }
    }
}

/// The rows that count: all, or those in a list.
pub(super) enum Of {
    All,
    These(Vec<u32>),
}

impl Numbers<'_> {
    /// Calls `each` with the values of some of the rows, piece by piece, and the piece's start within these rows.
    #[inline]
    pub(super) fn read(&self, of: &Of, range: Range<usize>, mut each: impl FnMut(usize, &[f64])) {
        if let (Numbers::Doubles(values), Of::All) = (self, of) {
            return each(0, &values[range]);
        }
        let mut piece = [0.0; 512];
        for from in range.clone().step_by(piece.len()) {
            let rows = from..range.end.min(from + piece.len());
            let part = &mut piece[..rows.len()];
            match (self, of) {
                (Numbers::Integers(values), Of::All) => {
                    part.iter_mut().zip(&values[rows]).for_each(|(to, &value)| *to = real(value));
                }
                (_, Of::These(these)) => {
                    part.iter_mut().zip(&these[rows]).for_each(|(to, &row)| *to = self.at(row as usize));
                }
                _ => part.iter_mut().zip(rows).for_each(|(to, row)| *to = self.at(row)),
            }
            each(from - range.start, part);
        }
    }
}

/// Returns a summary of each column in the rows that count. All columns have one length. `look` is called ten times a second, and may stop
/// the work.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and errors of `look`.
pub(super) fn summarise(
    columns: &[Numbers],
    of: &Of,
    n: usize,
    pool: &Pool,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<Summary>> {
    let pieces = n.div_ceil(PIECE).max(1);
    let mut found = memory::space(columns.len() * pieces, Use::Correlations)?;
    found.resize(columns.len() * pieces, Summary::NONE);
    let slots: Vec<Mutex<&mut Summary>> = found.iter_mut().map(Mutex::new).collect();
    let work = |_: &mut (), task: usize, _: &Stop| {
        let (column, piece) = (&columns[task / pieces], task % pieces);
        let mut held = Holding::default();
        column.read(of, piece * PIECE..n.min((piece + 1) * PIECE), |_, values| held.add(values));
        if let Ok(mut slot) = slots[task].lock() {
            **slot = held.summary();
        }
    };
    pool.run(columns.len() * pieces, n * columns.len() < SMALL, |_| 1.0, &mut |_| look(), work)?;
    drop(slots);
    Ok(found.chunks(pieces).map(|column| column.iter().fold(Summary::NONE, |a, b| a.join(*b))).collect())
}

/// Returns all rows, or those without a missing value, and their number.
pub(super) fn rows_that_count(columns: &[Numbers], complete: bool, pool: &Pool) -> Result<(Of, usize)> {
    let n = columns.first().map_or(0, Numbers::len);
    if !complete {
        return Ok((Of::All, n));
    }
    let mut holes: Vec<u8> = memory::zeros(n, Use::Correlations)?;
    pool.each_of(holes.chunks_mut(PIECE).collect(), |piece, holes| {
        for column in columns {
            column.read(&Of::All, piece * PIECE..piece * PIECE + holes.len(), |from, values| {
                holes[from..].iter_mut().zip(values).for_each(|(hole, value)| *hole |= u8::from(value.is_nan()));
            });
        }
    });
    let whole = holes.iter().filter(|&&hole| hole == 0).count();
    if whole == n {
        return Ok((Of::All, n));
    }
    let mut rows = memory::space(whole, Use::Correlations)?;
    rows.extend((0..n as u32).filter(|&row| holes[row as usize] == 0));
    Ok((Of::These(rows), whole))
}

/// The centring of a column: values times two powers of two, minus their mean. The powers change no digit, and keep the squares within the
/// range of a double.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Centre {
    scale: [f64; 2],
    mean: f64,
}

impl Centre {
    /// The centring that leaves values unchanged.
    const NONE: Self = Centre { scale: [1.0; 2], mean: 0.0 };

    /// Returns the centring that subtracts a number.
    pub(super) fn at(number: f64) -> Self {
        Centre { scale: [1.0; 2], mean: number }
    }

    /// Returns the centring of a column with `n` rows that count.
    pub(super) fn of(column: &Numbers, summary: &Summary, of: &Of, n: usize) -> Self {
        let largest = summary.least.abs().max(summary.largest.abs());
        let present = (n - summary.missing) as f64;
        if (1e-100..=1e100).contains(&largest) || largest == 0.0 {
            return Centre { scale: [1.0; 2], mean: summary.sum / present };
        }
        // The scaling takes two steps, because the full power may itself be out of range.
        let half = (-largest.log2() / 2.0).trunc().exp2();
        let mut all = 0.0;
        // This is the order of `summarise`, so a power of two changes no digit.
        for from in (0..n).step_by(PIECE) {
            let mut sum = [0.0; LANES];
            column.read(of, from..n.min(from + PIECE), |_, values| {
                for values in values.chunks(LANES) {
                    for (sum, value) in sum.iter_mut().zip(values) {
                        *sum += if value.is_nan() { 0.0 } else { value * half * half };
                    }
                }
            });
            all += sum.iter().sum::<f64>();
        }
        Centre { scale: [half; 2], mean: all / present }
    }

    #[inline]
    pub(super) fn apply(&self, value: f64) -> f64 {
        self.scaled(value) - self.mean
    }

    /// Returns the value times the powers of two, not centred.
    #[inline]
    pub(super) fn scaled(&self, value: f64) -> f64 {
        value * self.scale[0] * self.scale[1]
    }
}

/// Columns of one length without missing values, which are centred as they are read.
pub struct Centred<'a> {
    columns: Vec<Numbers<'a>>,
    centres: Vec<Centre>,
    of: &'a Of,
    n: usize,
}

impl<'a> Centred<'a> {
    /// Makes centred columns from columns with `n` rows that count, and their summaries.
    pub(super) fn new(columns: &[Numbers<'a>], summaries: &[Summary], of: &'a Of, n: usize) -> Self {
        let centres = columns.iter().zip(summaries).map(|(x, summary)| Centre::of(x, summary, of, n)).collect();
        Centred { columns: columns.to_vec(), centres, of, n }
    }

    /// Makes centred columns from those that [`Centred::write`] has written, without change.
    pub fn as_they_are(columns: Vec<Numbers<'a>>) -> Self {
        let centres = vec![Centre::NONE; columns.len()];
        let n = columns.first().map_or(0, Numbers::len);
        Centred { columns, centres, of: &Of::All, n }
    }

    /// Makes centred columns from `cells`, which holds columns of `n` centred values one after the other, without change.
    pub fn of_cells(cells: &'a [f64], n: usize) -> Self {
        Self::as_they_are(cells.chunks_exact(n.max(1)).map(Numbers::Doubles).collect())
    }

    /// Returns the number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the number of columns.
    pub fn p(&self) -> usize {
        self.columns.len()
    }

    /// Writes the values of column `j` in some rows, and returns their sum.
    pub(super) fn column(&self, j: usize, rows: Range<usize>, out: &mut [f64]) -> f64 {
        let mut sum = [0.0; LANES];
        self.columns[j].read(self.of, rows, |from, values| {
            for (out, values) in out[from..].chunks_mut(LANES).zip(values.chunks(LANES)) {
                for ((to, &value), sum) in out.iter_mut().zip(values).zip(&mut sum) {
                    let value = self.centres[j].apply(value);
                    *to = value;
                    *sum += value;
                }
            }
        });
        sum.iter().sum()
    }

    /// Writes cells of this n x p matrix, stored by column, from cell `first` on.
    pub fn fill(&self, first: usize, mut cells: &mut [f64]) {
        let mut at = first;
        while !cells.is_empty() {
            let (j, row) = (at / self.n, at % self.n);
            let (part, rest) = cells.split_at_mut(cells.len().min(self.n - row));
            match (self.columns[j], self.of) {
                (Numbers::Doubles(values), Of::All) if self.centres[j] == Centre::NONE => {
                    part.copy_from_slice(&values[row..row + part.len()]);
                }
                _ => _ = self.column(j, row..row + part.len(), part),
            }
            at += part.len();
            cells = rest;
        }
    }

    /// Passes all of this n x p matrix, stored by column, to `put`: pieces of columns, with the number of their first cell. The calls come
    /// in any order and on any thread. Returns which columns have a variance, to the precision of a double.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error), and errors of `put` and `watch`.
    pub fn put(
        &self,
        pool: &Pool,
        watch: &mut dyn FnMut(f64) -> Result<()>,
        put: &(dyn Fn(usize, &[f64]) -> Result<()> + Sync),
    ) -> Result<Vec<bool>> {
        let mut varies = vec![false; self.p()];
        let failed = Mutex::new(Ok(()));
        let slots: Vec<Mutex<&mut bool>> = varies.iter_mut().map(Mutex::new).collect();
        let work = |piece: &mut Vec<f64>, j: usize, stop: &Stop| {
            if !memory::grow(piece, PIECE.min(self.n), 0.0, Use::Correlations) {
                return;
            }
            let (mut sum, mut squares) = (0.0, 0.0);
            for from in (0..self.n).step_by(PIECE).take_while(|_| !stop.requested()) {
                let piece = &mut piece[..PIECE.min(self.n - from)];
                sum += self.column(j, from..from + piece.len(), piece);
                squares += piece.iter().map(|value| value * value).sum::<f64>();
                if let Err(error) = put(j * self.n + from, piece) {
                    _ = failed.lock().map(|mut failed| *failed = Err(error));
                    return;
                }
            }
            if let Ok(mut varies) = slots[j].lock() {
                **varies = squares - sum * sum / self.n as f64 > 0.0;
            }
        };
        let told = &mut |done: f64| {
            failed.lock().map_or(Ok(()), |failed| failed.clone())?;
            watch(done / self.p() as f64)
        };
        pool.run(self.p(), self.p() * self.n < SMALL, |_| 1.0, told, work)?;
        drop(slots);
        Ok(varies)
    }

    /// Writes all of this n x p matrix by column. Returns which columns have a variance, to the precision of a double.
    pub fn write(&self, cells: &mut [f64], pool: &Pool) -> Vec<bool> {
        let mut varies = vec![false; self.p()];
        pool.each_of(cells.chunks_mut(self.n.max(1)).zip(&mut varies).collect(), |j, (column, varies)| {
            let sum = self.column(j, 0..self.n, column);
            *varies = column.iter().map(|value| value * value).sum::<f64>() - sum * sum / self.n as f64 > 0.0;
        });
        varies
    }
}
