//! From a column of numbers to codes.

use crate::ci::discrete::{Codes, Variable, MOST_LEVELS};

/// How numbers become levels. Codes are numbered 0, 1, ... in ascending order of what occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discretise {
    /// b intervals of equal width from the least to the largest value of the column: floor(b (v - min) / (max - min)), the
    /// largest value in the last.
    EqualWidth(u32),
    /// b intervals with about equally many samples: floor(b r / n), r the number of samples with a smaller value. Equal
    /// values stay together.
    EqualFrequency(u32),
    /// Every value is a level; whole numbers only.
    None,
}

/// A column as it comes.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Numbers, to be made discrete.
    Doubles(&'a [f64]),
    /// Numbers, to be made discrete; `i32::MIN` is a missing value.
    Integers(&'a [i32]),
    /// The codes of a factor, whose levels stay as they are; `i32::MIN` is a missing value.
    Codes(&'a [i32]),
    /// Zeros but for `values` at `rows` (from 0, each once), to be made discrete.
    Sparse {
        /// The rows.
        rows: &'a [i32],
        /// Their values.
        values: &'a [f64],
    },
}

/// Why a column has no codes; rows from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Flaw {
    /// A value is missing.
    Missing(usize),
    /// A value is infinite.
    Infinite(usize),
    /// A value that is to be a level is not whole.
    Fraction(usize, f64),
    /// More levels than a variable can have.
    Levels(usize),
    /// The column has another length, or a row that there is not.
    Shape(usize),
}

impl Flaw {
    /// What there is, in column `at` (from 1; 0 where there is one column only), and what to do about it.
    pub fn describe(&self, at: usize) -> (String, &'static str) {
        let column = if at > 0 { format!("column {at}") } else { "it".into() };
        let place =
            |row: usize| if at > 0 { format!("row {}, column {at}", row + 1) } else { format!("place {}", row + 1) };
        match *self {
            Flaw::Missing(row) => {
                (format!("NA in {}", place(row)), "drop the rows with missing values, or fill the values in")
            }
            Flaw::Infinite(row) => {
                (format!("infinite in {}", place(row)), "drop these rows or columns, or transform the data in another way")
            }
            Flaw::Fraction(row, value) => (
                format!("{value} in {}", place(row)),
                "discretize = \"none\" takes whole numbers: give another `discretize`, or cut() the values into classes",
            ),
            Flaw::Levels(count) => {
                (format!("of {count} levels in {column}"), "a variable can have 65535: give fewer `bins`, or group the levels")
            }
            Flaw::Shape(length) => (format!("of {length} values in {column}"), "give a value for every row"),
        }
    }
}

/// The codes of a column with n rows; `numbers` is working memory.
pub fn discretise(column: Column, n: usize, how: Discretise, numbers: &mut Vec<f64>) -> Result<Variable, Flaw> {
    numbers.clear();
    match column {
        Column::Doubles(values) => numbers.extend_from_slice(values),
        Column::Integers(values) | Column::Codes(values) => {
            numbers.extend(values.iter().map(|&v| if v == i32::MIN { f64::NAN } else { f64::from(v) }));
        }
        Column::Sparse { rows, values } => {
            numbers.resize(n, 0.0);
            if rows.len() != values.len() {
                return Err(Flaw::Shape(values.len()));
            }
            for (&row, &value) in rows.iter().zip(values) {
                let cell = usize::try_from(row).ok().and_then(|row| numbers.get_mut(row));
                *cell.ok_or(Flaw::Shape(row as usize + 1))? = value;
            }
        }
    }
    if numbers.len() != n || n == 0 {
        return Err(Flaw::Shape(numbers.len()));
    }
    if let Some(row) = numbers.iter().position(|v| !v.is_finite()) {
        return Err(if numbers[row].is_nan() { Flaw::Missing(row) } else { Flaw::Infinite(row) });
    }
    let how = if matches!(column, Column::Codes(_)) { Discretise::None } else { how };
    match how {
        Discretise::EqualWidth(bins) => {
            let (min, max) = extremes(numbers);
            // Halved, as the difference of the largest numbers is infinite.
            let (start, width) = (min / 2.0, max / 2.0 - min / 2.0);
            let last = bins.max(1) - 1;
            let bin = |v: f64| match width > 0.0 {
                true => (((v / 2.0 - start) / width * f64::from(bins)) as u32).min(last),
                false => 0,
            };
            renumber(numbers.iter().map(|&v| bin(v)), n, last as usize + 1)
        }
        Discretise::EqualFrequency(bins) => {
            let mut sorted = numbers.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            // -0 and 0 are one value.
            let below = |v: f64| sorted.partition_point(|&w| w < v) as u128;
            let bin = |v: f64| (below(v) * u128::from(bins) / n as u128) as u32;
            renumber(numbers.iter().map(|&v| bin(v)), n, bins.max(1) as usize)
        }
        Discretise::None => {
            if let Some(row) = numbers.iter().position(|v| v.fract() != 0.0) {
                return Err(Flaw::Fraction(row, numbers[row]));
            }
            let (min, max) = extremes(numbers);
            let span = max - min;
            if span < (4 * n + 1024) as f64 {
                return renumber(numbers.iter().map(|&v| (v - min) as u32), n, span as usize + 1);
            }
            let mut distinct = numbers.clone();
            distinct.sort_unstable_by(f64::total_cmp);
            distinct.dedup();
            let number = |v: f64| distinct.partition_point(|&w| w < v) as u32;
            renumber(numbers.iter().map(|&v| number(v)), n, distinct.len())
        }
    }
}

fn extremes(numbers: &[f64]) -> (f64, f64) {
    numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), &v| (min.min(v), max.max(v)))
}

/// Numbers the values that occur, all below `limit`, in ascending order.
fn renumber(values: impl Iterator<Item = u32> + Clone, n: usize, limit: usize) -> Result<Variable, Flaw> {
    let mut numbers = vec![u32::MAX; limit];
    values.clone().for_each(|value| numbers[value as usize] = 0);
    let mut count = 0u32;
    for number in numbers.iter_mut().filter(|number| **number == 0) {
        *number = count;
        count += 1;
    }
    if count > MOST_LEVELS {
        return Err(Flaw::Levels(count as usize));
    }
    let mut codes =
        if count <= 255 { Codes::Bytes(Vec::with_capacity(n)) } else { Codes::Words(Vec::with_capacity(n)) };
    match &mut codes {
        Codes::Bytes(codes) => codes.extend(values.map(|value| numbers[value as usize] as u8)),
        Codes::Words(codes) => codes.extend(values.map(|value| numbers[value as usize] as u16)),
    }
    Ok(Variable::complete(count, codes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::discrete::Coded;

    fn codes(column: Column, n: usize, how: Discretise) -> Result<Vec<u32>, Flaw> {
        let data = Coded::of_variables(n, vec![discretise(column, n, how, &mut Vec::new())?]).unwrap();
        Ok((0..n).map(|i| data.codes(0).at(i)).collect())
    }

    #[test]
    fn intervals_of_equal_width() {
        let found = codes(Column::Doubles(&[0.0, 0.9, 1.0, 2.5, 9.99, 10.0]), 6, Discretise::EqualWidth(10));
        // Bins 0, 0, 1, 2, 9, 9, of which four occur.
        assert_eq!(found.unwrap(), [0, 0, 1, 2, 3, 3]);
        let huge = [f64::MIN, 0.0, f64::MAX];
        assert_eq!(codes(Column::Doubles(&huge), 3, Discretise::EqualWidth(4)).unwrap(), [0, 1, 2]);
        assert_eq!(codes(Column::Integers(&[7, 7, 7]), 3, Discretise::EqualWidth(64)).unwrap(), [0, 0, 0]);
    }

    #[test]
    fn intervals_of_equal_frequency_keep_equal_values_together() {
        let values = [5.0, 1.0, 1.0, 1.0, 9.0, 8.0, 7.0, 6.0];
        // Numbers of smaller values 3, 0, 0, 0, 7, 6, 5, 4; times 4 by 8.
        assert_eq!(
            codes(Column::Doubles(&values), 8, Discretise::EqualFrequency(4)).unwrap(),
            [1, 0, 0, 0, 3, 3, 2, 2]
        );
        assert_eq!(codes(Column::Doubles(&[-0.0, 0.0]), 2, Discretise::EqualFrequency(2)).unwrap(), [0, 0]);
    }

    #[test]
    fn values_as_levels() {
        assert_eq!(codes(Column::Doubles(&[3.0, -1e15, 3.0, 7.0]), 4, Discretise::None).unwrap(), [1, 0, 1, 2]);
        assert_eq!(codes(Column::Integers(&[i32::MAX, 2, i32::MIN + 1]), 3, Discretise::None).unwrap(), [2, 1, 0]);
        // A factor is not made coarser.
        assert_eq!(codes(Column::Codes(&[9, 4, 5]), 3, Discretise::EqualWidth(2)).unwrap(), [2, 0, 1]);
    }

    #[test]
    fn zeros_of_a_sparse_column_are_values() {
        let column = Column::Sparse { rows: &[3, 1], values: &[5.0, -5.0] };
        assert_eq!(codes(column, 5, Discretise::EqualWidth(2)).unwrap(), [1, 0, 1, 1, 1]);
        assert_eq!(codes(column, 5, Discretise::None).unwrap(), [1, 0, 1, 2, 1]);
    }

    #[test]
    fn what_has_no_codes_says_why() {
        let none = Discretise::None;
        assert_eq!(codes(Column::Doubles(&[1.0, f64::NAN]), 2, none), Err(Flaw::Missing(1)));
        assert_eq!(codes(Column::Integers(&[i32::MIN, 1]), 2, none), Err(Flaw::Missing(0)));
        assert_eq!(codes(Column::Doubles(&[f64::INFINITY, 1.0]), 2, none), Err(Flaw::Infinite(0)));
        assert_eq!(codes(Column::Doubles(&[1.0, 0.5]), 2, none), Err(Flaw::Fraction(1, 0.5)));
        assert_eq!(codes(Column::Doubles(&[1.0]), 2, none), Err(Flaw::Shape(1)));
        assert_eq!(codes(Column::Sparse { rows: &[2], values: &[1.0] }, 2, none), Err(Flaw::Shape(3)));
        let many: Vec<f64> = (0..70_000).map(f64::from).collect();
        assert_eq!(codes(Column::Doubles(&many), 70_000, none), Err(Flaw::Levels(70_000)));
        assert_eq!(Flaw::Missing(1).describe(3).0, "NA in row 2, column 3");
    }
}
