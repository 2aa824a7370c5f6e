//! The cuts of a column, and the codes of their bins.

use super::{collected, Coding, Discretise, Flaw};
use crate::ci::discrete::MOST_LEVELS;
use crate::memory;

/// A way to cut the numbers of a column into bins, which are numbered in ascending order.
enum Cut {
    /// floor(bins (v / 2 - start) / width); halved, as the difference of the largest numbers would be infinite.
    Width { start: f64, width: f64, bins: u32 },
    /// floor(bins r / n), with r the number of samples that have a smaller value, among `sorted` and `zeros` zeros.
    Frequency { sorted: Vec<f64>, zeros: usize, n: usize, bins: u32 },
    /// v - min.
    Whole { min: f64, span: usize },
    /// The index of v among the values that occur.
    Place(Vec<f64>),
}

/// The codes of the bins that are not empty, and of missing values.
pub(super) struct CodesOf {
    cut: Cut,
    of_bin: Vec<u32>,
    /// The code of missing values: `count` if there are none.
    missing: u32,
    /// Number of levels.
    pub count: u32,
}

impl CodesOf {
    /// Numbers the levels of a column with `values` and `zeros` further zeros; `row` returns the row of a value.
    pub fn new(
        values: &[f64],
        zeros: usize,
        n: usize,
        coding: Coding,
        row: impl Fn(usize) -> usize,
    ) -> Result<Self, Flaw> {
        let missing = if coding.missing_level { values.iter().filter(|v| v.is_nan()).count() } else { 0 };
        let mut codes = if missing == 0 {
            Cut::new(values, zeros, n, coding.how, row)?.numbers(values, zeros)?
        } else {
            let mut known = Vec::new();
            if !memory::has_space(&mut known, values.len() - missing) {
                return Err(Flaw::Memory(size_of_val(values)));
            }
            known.extend((0..values.len()).filter(|&at| !values[at].is_nan()));
            let values = collected(known.iter().map(|&at| values[at]))?;
            Cut::new(&values, zeros, n - missing, coding.how, |at| row(known[at]))?.numbers(&values, zeros)?
        };
        codes.missing = codes.count;
        codes.count += u32::from(missing > 0);
        if codes.count > MOST_LEVELS {
            return Err(Flaw::Levels(codes.count as usize));
        }
        Ok(codes)
    }

    /// Returns the code of a value that is not missing.
    #[inline]
    pub fn code(&self, v: f64) -> u32 {
        self.of_bin[self.cut.bin(v) as usize]
    }

    /// Returns the codes of values.
    pub fn codes<C>(&self, values: &[f64], narrow: impl Fn(u32) -> C) -> Result<Vec<C>, Flaw> {
        if self.missing == self.count {
            return collected(values.iter().map(|&v| narrow(self.code(v))));
        }
        collected(values.iter().map(|&v| narrow(if v.is_nan() { self.missing } else { self.code(v) })))
    }
}

impl Cut {
    /// Cuts a column with `values` and `zeros` further zeros; `row` returns the row of a value.
    fn new(
        values: &[f64],
        zeros: usize,
        n: usize,
        how: Discretise,
        row: impl Fn(usize) -> usize,
    ) -> Result<Self, Flaw> {
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            return Err(if values[at].is_nan() { Flaw::Missing(row(at)) } else { Flaw::Infinite(row(at)) });
        }
        let how = match how {
            Discretise::EqualWidth(bins) | Discretise::EqualFrequency(bins) if bins.keeps(values, zeros) => {
                Discretise::None
            }
            how => how,
        };
        let start = if zeros > 0 { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
        let (min, max) = values.iter().fold(start, |(min, max), &v| (v.min(min), v.max(max)));
        Ok(match how {
            Discretise::EqualWidth(bins) => {
                Cut::Width { start: min / 2.0, width: max / 2.0 - min / 2.0, bins: bins.count.max(1) }
            }
            Discretise::EqualFrequency(bins) => {
                let mut sorted = collected(values.iter().copied())?;
                sorted.sort_unstable_by(f64::total_cmp);
                Cut::Frequency { sorted, zeros, n, bins: bins.count.max(1) }
            }
            Discretise::None => {
                if let Some(at) = values.iter().position(|v| v.fract() != 0.0) {
                    return Err(Flaw::Fraction(row(at), values[at]));
                }
                let span = max - min;
                if span < (4 * n + 1024) as f64 {
                    return Ok(Cut::Whole { min, span: span as usize });
                }
                let mut distinct = Vec::new();
                if !memory::has_space(&mut distinct, values.len() + 1) {
                    return Err(Flaw::Memory(size_of_val(values)));
                }
                distinct.extend_from_slice(values);
                distinct.extend((zeros > 0).then_some(0.0));
                // -0 and 0 are one value.
                distinct.iter_mut().for_each(|v| *v += 0.0);
                distinct.sort_unstable_by(f64::total_cmp);
                distinct.dedup();
                Cut::Place(distinct)
            }
        })
    }

    #[inline]
    fn bin(&self, v: f64) -> u32 {
        match self {
            Cut::Width { start, width, bins } => match *width > 0.0 {
                true => (((v / 2.0 - start) / width * f64::from(*bins)) as u32).min(bins - 1),
                false => 0,
            },
            Cut::Frequency { sorted, zeros, n, bins } => {
                // -0 and 0 are one value.
                let below = sorted.partition_point(|&w| w < v) + if v > 0.0 { *zeros } else { 0 };
                (below as u128 * u128::from(*bins) / *n as u128) as u32
            }
            Cut::Whole { min, .. } => (v - min) as u32,
            Cut::Place(distinct) => distinct.partition_point(|&w| w < v) as u32,
        }
    }

    fn bins(&self) -> usize {
        match self {
            Cut::Width { bins, .. } | Cut::Frequency { bins, .. } => *bins as usize,
            Cut::Whole { span, .. } => span + 1,
            Cut::Place(distinct) => distinct.len(),
        }
    }

    /// Numbers the bins that hold a value, in ascending order.
    fn numbers(self, values: &[f64], zeros: usize) -> Result<CodesOf, Flaw> {
        let mut of_bin = collected((0..self.bins()).map(|_| u32::MAX))?;
        values.iter().for_each(|&v| of_bin[self.bin(v) as usize] = 0);
        if zeros > 0 {
            of_bin[self.bin(0.0) as usize] = 0;
        }
        let mut count = 0u32;
        for number in of_bin.iter_mut().filter(|number| **number == 0) {
            *number = count;
            count += 1;
        }
        Ok(CodesOf { cut: self, of_bin, missing: count, count })
    }
}
