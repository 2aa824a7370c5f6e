//! Columns of whole numbers as codes of their levels, on threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

use crate::memory::{self, Use};
use crate::numbers::{Numbers, SMALL};
use crate::pool::{Pool, Stop};
use crate::simd;
use crate::Result;

/// The largest distance between the values of a column. A flag for each possible value says whether it occurs.
const WIDEST: f64 = 65_536.0;

/// Number of values that a loop examines together, without a branch.
const TOGETHER: usize = 1024;

/// The levels of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// The different values, ascending.
    pub values: Vec<f64>,
    /// Number of missing values.
    pub missing: usize,
}

/// Maximal number of possible values for which the code checks now and then whether all have occurred.
const FEW: usize = 64;

/// Writes the codes of the columns, all of one length, to `codes`, column by column. The code of a value is its number, from 0, among the
/// different values of its column in ascending order. A missing value gets `i32::MIN`. Integers in a column of `factors` are the numbers of
/// levels, from 1, whether these occur or not. Returns the levels of each column, or `None` for a column with a fraction, an infinite value, or
/// values too far apart. The codes of such a column are undefined.
///
/// # Errors
/// [`Error::Memory`](crate::Error), and what `look` returns, which is called ten times a second and may end the run.
pub fn codes(
    columns: &[Numbers],
    factors: &[bool],
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
        let factor = factors.get(column).copied().unwrap_or_default();
        **levels = simd::run(Column { values: columns[column], factor, codes, places });
    };
    pool.run(columns.len(), n * columns.len() < SMALL, |_| n as f64, &mut |_| look(), work)?;
    drop(slots);
    Ok(found)
}

/// Number of values in a thread's part.
const VALUES: usize = 1 << 18;

/// Returns whether one of the values is missing, and whether all others are binary; `of` says both of a value.
pub fn look<T: Sync>(values: &[T], of: impl Fn(&T) -> (bool, bool) + Sync, pool: &Pool) -> (bool, bool) {
    let (any_missing, is_other) = (AtomicBool::new(false), AtomicBool::new(false));
    pool.each_of(values.chunks(VALUES).collect(), |_, part: &[T]| {
        // Without a branch, many values are examined at once.
        let (missing, other) = part.iter().fold((false, false), |(any, others), value| {
            let (missing, binary) = of(value);
            (any | missing, others | !(missing | binary))
        });
        any_missing.fetch_or(missing, Ordering::Relaxed);
        is_other.fetch_or(other, Ordering::Relaxed);
    });
    (any_missing.into_inner(), !is_other.into_inner())
}

/// A column to be coded.
struct Column<'a> {
    values: Numbers<'a>,
    factor: bool,
    codes: &'a mut [i32],
    places: &'a mut Vec<i32>,
}

impl<S> simd::Task<S> for Column<'_> {
    type Output = Option<Levels>;

    #[inline(always)]
    fn run(self, _: S) -> Self::Output {
        match self.values {
            Numbers::Doubles(values) => of_doubles(values, self.codes, self.places),
            Numbers::Integers(values) => of_integers(values, self.factor, self.codes, self.places),
        }
    }
}

#[inline(always)]
fn of_doubles(values: &[f64], codes: &mut [i32], places: &mut Vec<i32>) -> Option<Levels> {
    let (mut least, mut largest, mut missing) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    for some in values.chunks(TOGETHER) {
        let mut whole = true;
        for &value in some {
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
    // Infinite values pass the test above, as their truncation equals them.
    if !least.is_finite() || !largest.is_finite() || least.abs().max(largest.abs()) > 2f64.powi(53) {
        return None;
    }
    let place = |value: f64| (value - least) as i32;
    let width = place(largest) as usize + 1;
    mark(places, width, values, |value| if value.is_nan() { None } else { Some(place(value) as usize) })?;
    let levels = number(places, missing, |at| least + at as f64);
    let all = levels.values.len() == width;
    for (code, &value) in codes.iter_mut().zip(values) {
        *code = match value.is_nan() {
            true => i32::MIN,
            false if all => place(value),
            false => places[place(value) as usize],
        };
    }
    Some(levels)
}

#[inline(always)]
fn of_integers(values: &[i32], factor: bool, codes: &mut [i32], places: &mut Vec<i32>) -> Option<Levels> {
    const NA: i32 = i32::MIN;
    let (mut least, mut largest, mut missing) = (i32::MAX, NA, 0);
    for some in values.chunks(TOGETHER) {
        let mut lacking = 0;
        for &value in some {
            lacking += u32::from(value == NA);
            least = least.min(if value == NA { i32::MAX } else { value });
            largest = largest.max(value);
        }
        missing += lacking as usize;
    }
    if missing == values.len() {
        codes.fill(NA);
        return Some(Levels { values: Vec::new(), missing });
    }
    let place = |value: i32| value.wrapping_sub(least);
    let width = i64::from(largest) - i64::from(least) + 1;
    if width > WIDEST as i64 {
        return None;
    }
    mark(places, width as usize, values, |value| if value == NA { None } else { Some(place(value) as usize) })?;
    let levels = number(places, missing, |at| f64::from(least) + at as f64);
    if factor || levels.values.len() == width as usize {
        let first = if factor { 1 } else { least };
        for (code, &value) in codes.iter_mut().zip(values) {
            *code = if value == NA { NA } else { value.wrapping_sub(first) };
        }
    } else {
        for (code, &value) in codes.iter_mut().zip(values) {
            *code = if value == NA { NA } else { places[place(value) as usize] };
        }
    }
    Some(levels)
}

/// Makes `places` 0 where a value occurs and -1 elsewhere. Returns `None` if memory does not suffice, and notes this.
#[inline(always)]
fn mark<T: Copy>(places: &mut Vec<i32>, width: usize, values: &[T], place: impl Fn(T) -> Option<usize>) -> Option<()> {
    places.clear();
    if !memory::prepare(places, WIDEST as usize, Use::Codes) {
        return None;
    }
    places.resize(width, -1);
    for some in values.chunks(TOGETHER) {
        some.iter().filter_map(|&value| place(value)).for_each(|at| places[at] = 0);
        if width <= FEW && places.iter().all(|&place| place == 0) {
            break;
        }
    }
    Some(())
}

/// Numbers the values that occur, by their places.
fn number(places: &mut [i32], missing: usize, value: impl Fn(usize) -> f64) -> Levels {
    let mut levels = Levels { values: Vec::new(), missing };
    for (at, place) in places.iter_mut().enumerate().filter(|(_, place)| **place == 0) {
        *place = levels.values.len() as i32;
        levels.values.push(value(at));
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_and_another_value_are_seen_wherever_they_are() {
        let of = |&value: &f64| (value.is_nan(), value == 0.0 || value == 1.0);
        let mut values = vec![1.0; 2 * VALUES + 3];
        assert_eq!(look(&values, of, &Pool::new(2)), (false, true));
        values[2 * VALUES + 1] = f64::NAN;
        assert_eq!(look(&values, of, &Pool::new(2)), (true, true));
        values[VALUES] = 2.0;
        assert_eq!(look(&values, of, &Pool::none()), (true, false));
        assert_eq!(look(&[], of, &Pool::none()), (false, true));
    }

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
            Numbers::Integers(&integers),
            Numbers::Integers(&[1, 5, 5, 3, 3]),
        ];
        for pool in [Pool::none(), Pool::new(3)] {
            let mut coded = [7; 45];
            let factors = [false, false, false, false, false, false, false, true, true];
            let found = codes(&columns, &factors, &mut coded, &pool, &mut || Ok(())).unwrap();
            assert_eq!(coded[..10], [1, 0, i32::MIN, 1, 2, 1, 1, 0, i32::MIN, 1]);
            assert_eq!(coded[35..], [2, 2, 1, i32::MIN, 2, 0, 4, 4, 2, 2]);
            let levels = |values: &[f64], missing| Some(Levels { values: values.to_vec(), missing });
            assert_eq!(found[..3], [levels(&[-2.0, 5.0, 70.0], 1), levels(&[2.0, 3.0], 1), None]);
            assert_eq!(found[3..7], [None, None, levels(&[], 5), None]);
            assert_eq!(found[7..], [levels(&[2.0, 3.0], 1), levels(&[1.0, 3.0, 5.0], 0)]);
        }
    }
}
