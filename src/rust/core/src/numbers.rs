//! Columns of numbers, as R stores them.

/// Number of values below which the calling thread finishes before others have started.
pub(crate) const SMALL: usize = 100_000;

/// A column of numbers.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// Doubles; NaN is a missing value.
    Doubles(&'a [f64]),
    /// Integers; `i32::MIN` is a missing value.
    Integers(&'a [i32]),
}

impl Numbers<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Numbers::Doubles(values) => values.len(),
            Numbers::Integers(values) => values.len(),
        }
    }

    /// Returns the value, NaN if it is missing.
    #[inline]
    pub(crate) fn at(&self, row: usize) -> f64 {
        match self {
            Numbers::Doubles(values) => values[row],
            Numbers::Integers(values) => real(values[row]),
        }
    }
}

/// Returns an integer as a double, NaN if it is missing.
#[inline]
pub(crate) fn real(value: i32) -> f64 {
    if value == i32::MIN {
        f64::NAN
    } else {
        f64::from(value)
    }
}
