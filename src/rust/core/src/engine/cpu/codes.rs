//! Columns of whole numbers as codes of their levels, on threads.

use std::sync::Mutex;

use super::numbers::{real, Numbers, SMALL};
use crate::memory::{self, Use};
use crate::pool::{Pool, Stop};
use crate::Result;

/// The values of a column are at most so far apart: a flag for each says which occur.
const WIDEST: f64 = 65_536.0;

/// Values that are looked at together, without a branch.
const TOGETHER: usize = 1024;

/// The levels of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// The different values, ascending.
    pub values: Vec<f64>,
    /// Number of missing values.
    pub missing: usize,
}

/// Writes the codes of the columns, all of one length, to `codes`, column by column: the number, from 0, of each value among the
/// different ones of its column in ascending order, and `i32::MIN` for missing ones. Returns the levels; none for a column with a
/// fraction, an infinite value, or values too far apart, whose codes are left undefined.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and what `look` returns, which is asked ten times a second whether to go on.
pub fn codes(
    columns: &[Numbers],
    codes: &mut [i32],
    pool: &Pool,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<Option<Levels>>> {
    let n = codes.len() / columns.len().max(1);
    let mut found = memory::space(columns.len(), Use::Codes)?;
    found.resize(columns.len(), None);
    let slots: Vec<Mutex<(&mut [i32], &mut Option<Levels>)>> =
        codes.chunks_mut(n.max(1)).zip(&mut found).map(Mutex::new).collect();
    let work = |places: &mut Vec<i32>, column: usize, _: &Stop| {
        let Ok(mut slot) = slots[column].lock() else { return };
        let (codes, levels) = &mut *slot;
        **levels = match columns[column] {
            Numbers::Doubles(values) => code(values, |value| value, codes, places),
            Numbers::Integers(values) => code(values, real, codes, places),
        };
    };
    pool.run(columns.len(), n * columns.len() < SMALL, |_| n as f64, &mut |_| look(), work)?;
    drop(slots);
    Ok(found)
}

fn code<T: Copy>(values: &[T], real: impl Fn(T) -> f64, codes: &mut [i32], places: &mut Vec<i32>) -> Option<Levels> {
    let (mut least, mut largest, mut missing) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    for some in values.chunks(TOGETHER) {
        let mut whole = true;
        for &value in some {
            let value = real(value);
            missing += usize::from(value.is_nan());
            whole &= value.is_nan() | (value.trunc() == value);
            least = if value < least { value } else { least };
            largest = if value > largest { value } else { largest };
        }
        if !whole || largest - least >= WIDEST {
            return None;
        }
    }
    if missing == values.len() {
        codes.fill(i32::MIN);
        return Some(Levels { values: Vec::new(), missing });
    }
    // An infinite value is as whole as its truncation.
    if !least.is_finite() || !largest.is_finite() || least.abs().max(largest.abs()) > 2f64.powi(53) {
        return None;
    }
    places.clear();
    if !memory::prepare(places, WIDEST as usize, Use::Codes) {
        return None;
    }
    places.resize((largest - least) as usize + 1, -1);
    for &value in values {
        let value = real(value);
        if !value.is_nan() {
            places[(value - least) as usize] = 0;
        }
    }
    let mut levels = Levels { values: Vec::new(), missing };
    for (at, place) in places.iter_mut().enumerate().filter(|(_, place)| **place == 0) {
        *place = levels.values.len() as i32;
        levels.values.push(least + at as f64);
    }
    for (code, &value) in codes.iter_mut().zip(values) {
        let value = real(value);
        *code = if value.is_nan() { i32::MIN } else { places[(value - least) as usize] };
    }
    Some(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_their_number_among_the_different_ones() {
        let doubles = [5.0, -2.0, f64::NAN, 5.0, 70.0];
        let integers = [3, 3, 2, i32::MIN, 3];
        let columns = [
            Numbers::Doubles(&doubles),
            Numbers::Integers(&integers),
            Numbers::Doubles(&[0.5, 1.0, 1.0, 1.0, 1.0]),
            Numbers::Doubles(&[f64::INFINITY, 1.0, 1.0, 1.0, 1.0]),
            Numbers::Doubles(&[0.0, 1.0, 70_000.0, 1.0, 1.0]),
            Numbers::Doubles(&[f64::NAN; 5]),
            Numbers::Doubles(&[1e300, 1e300, 1e300, 1e300, 1e300]),
        ];
        for pool in [Pool::none(), Pool::new(3)] {
            let mut coded = [7; 35];
            let found = codes(&columns, &mut coded, &pool, &mut || Ok(())).unwrap();
            assert_eq!(coded[..10], [1, 0, i32::MIN, 1, 2, 1, 1, 0, i32::MIN, 1]);
            let levels = |values: &[f64], missing| Some(Levels { values: values.to_vec(), missing });
            assert_eq!(found[..3], [levels(&[-2.0, 5.0, 70.0], 1), levels(&[2.0, 3.0], 1), None]);
            assert_eq!(found[3..], [None, None, levels(&[], 5), None]);
        }
    }
}
