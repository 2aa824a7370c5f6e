//! Discretisation: from a column of numbers to codes.

mod cut;

use super::{FeatureColumn, SparseVariable};
use crate::ci::discrete::{Codes, Variable};
use crate::memory::{self, Use};
use crate::shown;
use cut::CodesOf;

/// Method that turns numbers into levels. Codes are 0, 1, ... in ascending order of the levels that occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discretise {
    /// b intervals of equal width from the smallest to the largest value of the column: floor(b (v - min) / (max - min)). The largest value
    /// is in the last interval.
    EqualWidth(Bins),
    /// b intervals with about equally many samples: floor(b r / n), with r the number of samples that have a smaller value. Equal values
    /// stay together.
    EqualFrequency(Bins),
    /// Every value is a level; whole numbers only.
    None,
}

/// How columns become codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    /// How numbers become levels.
    pub how: Discretise,
    /// Whether the missing values of a column are one more level, the last. Otherwise they are a [`Flaw`].
    pub missing_level: bool,
}

impl From<Discretise> for Coding {
    fn from(how: Discretise) -> Self {
        Coding { how, missing_level: false }
    }
}

/// Number of bins of a column, and which columns are not cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bins {
    /// b, the number of bins.
    pub count: u32,
    /// Largest number of distinct values with which a column of whole numbers keeps its values as levels: such values are codes, and a bin
    /// would merge them.
    pub kept_levels: usize,
}

impl Bins {
    /// Returns whether a column with `values` and `zeros` zeros keeps its values.
    fn keeps(&self, values: &[f64], zeros: usize) -> bool {
        let mut seen = Vec::with_capacity(self.kept_levels.min(values.len()) + 1);
        seen.extend((zeros > 0).then_some(0.0));
        for &v in values {
            if v.fract() != 0.0 {
                return false;
            }
            if !seen.contains(&v) {
                if seen.len() >= self.kept_levels {
                    return false;
                }
                seen.push(v);
            }
        }
        seen.len() <= self.kept_levels
    }
}

/// A column of input.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Numbers, to be made discrete.
    Doubles(&'a [f64]),
    /// Numbers, to be made discrete; `i32::MIN` is a missing value.
    Integers(&'a [i32]),
    /// The codes of a factor, whose levels stay as they are; `i32::MIN` is a missing value.
    Codes(&'a [i32]),
    /// Numbers to be made discrete: `values` at `rows` (from 0, each once), zero elsewhere.
    Sparse {
        /// The rows.
        rows: &'a [i32],
        /// The values in these rows.
        values: &'a [f64],
    },
}

/// Reason why a column has no codes; rows count from 0.
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
    /// The column has another length, or a row out of range.
    Shape(usize),
    /// Memory for this many bytes is not available.
    Memory(usize),
}

impl Flaw {
    /// Returns what is wrong, in column `at` (from 1; 0 if there is only one column), and advice.
    pub fn describe(&self, at: usize) -> (String, &'static str) {
        let column = if at > 0 { format!("column {at}") } else { "it".into() };
        let place =
            |row: usize| if at > 0 { format!("row {}, column {at}", row + 1) } else { format!("place {}", row + 1) };
        match *self {
            Flaw::Missing(row) => {
                (format!("has NA in {}", place(row)), "give na = \"complete\", or na = \"level\"; or impute the values")
            }
            Flaw::Infinite(row) => {
                (format!("has an infinite value in {}", place(row)), "drop the row or the column")
            }
            Flaw::Fraction(row, value) => (
                format!("has {} in {}", shown(value), place(row)),
                "discretize = \"none\" needs whole numbers; give another `discretize`, or cut() the values into classes",
            ),
            Flaw::Levels(count) => {
                (format!("has {count} levels in {column}"), "a variable can have at most 65535 levels; give fewer `bins`, or group the levels")
            }
            Flaw::Memory(bytes) => (format!("too large for memory ({bytes} bytes in {column})"), "give R more memory"),
            Flaw::Shape(length) => (format!("has {length} values in {column}"), "give one value for each row"),
        }
    }
}

/// A sparse column stays sparse if it has fewer values than samples divided by this.
const SPARSE: usize = 8;

/// Returns the codes of a column with n rows; `numbers` is working memory.
pub fn discretise(
    column: Column,
    n: usize,
    coding: impl Into<Coding>,
    numbers: &mut Vec<f64>,
) -> Result<FeatureColumn, Flaw> {
    let mut coding = coding.into();
    if let Column::Sparse { rows, values } = column {
        if values.len() < n / SPARSE && is_ascending(rows, n) && rows.len() == values.len() {
            return sparse(rows, values, n, coding);
        }
    }
    numbers.clear();
    if !memory::has_space(numbers, n) {
        return Err(Flaw::Memory(n * size_of::<f64>()));
    }
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
    if matches!(column, Column::Codes(_)) {
        coding.how = Discretise::None;
    }
    let codes_of = CodesOf::new(numbers, 0, n, coding, |at| at)?;
    let count = codes_of.count;
    let codes = match count {
        0..=255 => Codes::Bytes(codes_of.codes(numbers, |code| code as u8)?),
        _ => Codes::Words(codes_of.codes(numbers, |code| code as u16)?),
    };
    Ok(FeatureColumn::Dense(Variable::complete(count, codes).map_err(|_| Flaw::Memory(n))?))
}

fn collected<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, Flaw> {
    let bytes = values.len() * size_of::<T>();
    memory::collected(values, Use::Features).map_err(|_| Flaw::Memory(bytes))
}

fn is_ascending(rows: &[i32], n: usize) -> bool {
    rows.first().is_none_or(|&first| first >= 0)
        && rows.last().is_none_or(|&last| (last as usize) < n)
        && rows.windows(2).all(|pair| pair[0] < pair[1])
}

/// Returns the codes of a column that is 0 except in these rows.
fn sparse(rows: &[i32], values: &[f64], n: usize, coding: Coding) -> Result<FeatureColumn, Flaw> {
    let codes_of = CodesOf::new(values, n - values.len(), n, coding, |at| rows[at] as usize)?;
    Ok(FeatureColumn::Sparse(SparseVariable {
        levels: codes_of.count,
        usual: codes_of.code(0.0) as u16,
        rows: collected(rows.iter().map(|&row| row as u32))?,
        codes: codes_of.codes(values, |code| code as u16)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::FeatureCodes;
    use super::*;
    use crate::ci::discrete::Coded;

    fn width(count: u32) -> Discretise {
        Discretise::EqualWidth(Bins { count, kept_levels: 0 })
    }

    fn frequency(count: u32) -> Discretise {
        Discretise::EqualFrequency(Bins { count, kept_levels: 0 })
    }

    fn codes(column: Column, n: usize, how: impl Into<Coding>) -> Result<Vec<u32>, Flaw> {
        let data = match discretise(column, n, how, &mut Vec::new())? {
            FeatureColumn::Dense(variable) => Coded::of_variables(n, vec![variable]).unwrap(),
            FeatureColumn::Sparse(variable) => {
                return Ok(FeatureCodes::Sparse(&variable).to_vec(n).into_iter().map(u32::from).collect());
            }
        };
        Ok((0..n).map(|i| data.codes(0).at(i)).collect())
    }

    #[test]
    fn intervals_of_equal_width() {
        let found = codes(Column::Doubles(&[0.0, 0.9, 1.0, 2.5, 9.99, 10.0]), 6, width(10));
        // Bins 0, 0, 1, 2, 9, 9, four of which occur.
        assert_eq!(found.unwrap(), [0, 0, 1, 2, 3, 3]);
        let huge = [f64::MIN, 0.0, f64::MAX];
        assert_eq!(codes(Column::Doubles(&huge), 3, width(4)).unwrap(), [0, 1, 2]);
        assert_eq!(codes(Column::Integers(&[7, 7, 7]), 3, width(64)).unwrap(), [0, 0, 0]);
    }

    #[test]
    fn intervals_of_equal_frequency_keep_equal_values_together() {
        let values = [5.0, 1.0, 1.0, 1.0, 9.0, 8.0, 7.0, 6.0];
        // Numbers of smaller values 3, 0, 0, 0, 7, 6, 5, 4; times 4, divided by 8.
        assert_eq!(codes(Column::Doubles(&values), 8, frequency(4)).unwrap(), [1, 0, 0, 0, 3, 3, 2, 2]);
        assert_eq!(codes(Column::Doubles(&[-0.0, 0.0]), 2, frequency(2)).unwrap(), [0, 0]);
    }

    #[test]
    fn values_as_levels() {
        assert_eq!(codes(Column::Doubles(&[3.0, -1e15, 3.0, 7.0]), 4, Discretise::None).unwrap(), [1, 0, 1, 2]);
        assert_eq!(codes(Column::Integers(&[i32::MAX, 2, i32::MIN + 1]), 3, Discretise::None).unwrap(), [2, 1, 0]);
        // A factor is not made coarser.
        assert_eq!(codes(Column::Codes(&[9, 4, 5]), 3, width(2)).unwrap(), [2, 0, 1]);
    }

    #[test]
    fn few_whole_numbers_keep_their_values_as_levels() {
        let bins = Bins { count: 2, kept_levels: 3 };
        let ways = [Discretise::EqualWidth(bins), Discretise::EqualFrequency(bins)];
        for how in ways {
            // Genotypes: two bins would make one level of 0 and 1, or of 1 and 2.
            let genotypes = [0, 1, 2, 1, 0, 2];
            assert_eq!(codes(Column::Integers(&genotypes), 6, how).unwrap(), [0, 1, 2, 1, 0, 2]);
            assert_eq!(codes(Column::Doubles(&[-0.0, 7.0, 0.0, 1e15]), 4, how).unwrap(), [0, 1, 0, 2]);
            // Four values are cut, and so are fractions.
            assert_eq!(codes(Column::Integers(&[0, 1, 2, 3]), 4, how).unwrap(), [0, 0, 1, 1]);
            assert_eq!(codes(Column::Doubles(&[0.0, 0.25, 1.0, 1.0]), 4, how).unwrap(), [0, 0, 1, 1]);
            // The zeros of a sparse column are a value.
            let column = |values| Column::Sparse { rows: &[2, 5, 9], values };
            assert_eq!(codes(column(&[1.0, 2.0, 1.0]), 40, how).unwrap().iter().sum::<u32>(), 4);
            let FeatureColumn::Sparse(kept) = discretise(column(&[1.0, 2.0, 3.0]), 40, how, &mut Vec::new()).unwrap()
            else {
                panic!("three numbers among 40 rows are sparse")
            };
            assert_eq!(kept.levels, 2);
        }
    }

    #[test]
    fn zeros_of_a_sparse_column_are_values() {
        let column = Column::Sparse { rows: &[3, 1], values: &[5.0, -5.0] };
        assert_eq!(codes(column, 5, width(2)).unwrap(), [1, 0, 1, 1, 1]);
        assert_eq!(codes(column, 5, Discretise::None).unwrap(), [1, 0, 1, 2, 1]);
    }

    #[test]
    fn a_column_that_is_kept_sparse_has_the_codes_of_the_same_column_made_dense() {
        let mut state = 5u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let mut kept = 0;
        for round in 0..600 {
            let n = 40 + below(200) as usize;
            let listed = below(n as u64 / 7) as usize;
            let mut rows: Vec<i32> = (0..n as i32).collect();
            while rows.len() > listed {
                rows.remove(below(rows.len() as u64) as usize);
            }
            let value = |draw: u64| match round % 4 {
                0 => draw as f64 - 3.0,
                1 => (draw as f64 - 2.0) * 1e15,
                2 => [-0.0, 0.0, 2.0, 1e300, -7.0, 5.0][draw as usize % 6],
                _ => 1.0 + draw as f64,
            };
            let values: Vec<f64> = rows.iter().map(|_| value(below(8))).collect();
            let mut whole = vec![0.0; n];
            rows.iter().zip(&values).for_each(|(&row, &value)| whole[row as usize] = value);
            let kept_levels = Bins { count: 2, kept_levels: 6 };
            for how in [width(5), frequency(6), Discretise::EqualWidth(kept_levels), Discretise::None] {
                let column = Column::Sparse { rows: &rows, values: &values };
                let found = discretise(column, n, how, &mut Vec::new()).unwrap();
                kept += usize::from(matches!(found, FeatureColumn::Sparse(_)));
                let dense = codes(Column::Doubles(&whole), n, how).unwrap();
                assert_eq!(codes(column, n, how).unwrap(), dense, "round {round}, {how:?}");
                if let FeatureColumn::Sparse(variable) = found {
                    assert_eq!(variable.levels, dense.iter().max().unwrap() + 1);
                }
            }
        }
        assert!(kept > 1600, "{kept}");
    }

    #[test]
    fn missing_values_are_the_last_level() {
        const NA: f64 = f64::NAN;
        let of = |how| Coding { how, missing_level: true };
        let values = [NA, 5.0, 1.0, 9.0, NA, 0.5];
        assert_eq!(codes(Column::Doubles(&values), 6, of(width(2))).unwrap(), [2, 1, 0, 1, 2, 0]);
        // Halves of the four values that are known.
        assert_eq!(codes(Column::Doubles(&values), 6, of(frequency(2))).unwrap(), [2, 1, 0, 1, 2, 0]);
        assert_eq!(codes(Column::Integers(&[4, i32::MIN, 2]), 3, of(Discretise::None)).unwrap(), [1, 2, 0]);
        assert_eq!(codes(Column::Codes(&[i32::MIN, 7, 7]), 3, of(width(5))).unwrap(), [1, 0, 0]);
        let kept = Discretise::EqualWidth(Bins { count: 2, kept_levels: 3 });
        assert_eq!(codes(Column::Doubles(&[2.0, NA, 0.0, 1.0]), 4, of(kept)).unwrap(), [2, 3, 0, 1]);
        // No value is known, or none is missing.
        for how in [width(3), frequency(3), kept, Discretise::None] {
            assert_eq!(codes(Column::Doubles(&[NA, NA]), 2, of(how)).unwrap(), [0, 0]);
            assert_eq!(codes(Column::Doubles(&[1.0, 2.0]), 2, of(how)), codes(Column::Doubles(&[1.0, 2.0]), 2, how));
        }
        // A sparse column has the codes of the same column made dense.
        let (rows, values) = ([3, 17, 20], [1.0, NA, -2.0]);
        let mut whole = vec![0.0; 50];
        rows.iter().zip(&values).for_each(|(&row, &value)| whole[row as usize] = value);
        for how in [width(5), frequency(6), kept, Discretise::None] {
            let sparse = codes(Column::Sparse { rows: &rows, values: &values }, 50, of(how)).unwrap();
            assert_eq!(sparse, codes(Column::Doubles(&whole), 50, of(how)).unwrap(), "{how:?}");
        }
        // Other flaws stay, in their rows.
        let none = of(Discretise::None);
        assert_eq!(codes(Column::Doubles(&[NA, 1.0, f64::INFINITY]), 3, none), Err(Flaw::Infinite(2)));
        assert_eq!(codes(Column::Doubles(&[NA, 1.0, 0.5]), 3, none), Err(Flaw::Fraction(2, 0.5)));
        let column = Column::Sparse { rows: &rows, values: &[NA, 0.5, 1.0] };
        assert_eq!(codes(column, 50, none), Err(Flaw::Fraction(17, 0.5)));
        let mut many: Vec<f64> = (0..65_535).map(f64::from).collect();
        assert!(codes(Column::Doubles(&many), 65_535, none).is_ok());
        many.push(NA);
        assert_eq!(codes(Column::Doubles(&many), 65_536, none), Err(Flaw::Levels(65_536)));
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
        for (value, flaw) in
            [(f64::NAN, Flaw::Missing(17)), (f64::INFINITY, Flaw::Infinite(17)), (0.5, Flaw::Fraction(17, 0.5))]
        {
            assert_eq!(codes(Column::Sparse { rows: &[3, 17], values: &[1.0, value] }, 50, none), Err(flaw));
        }
        let many: Vec<f64> = (0..70_000).map(f64::from).collect();
        assert_eq!(codes(Column::Doubles(&many), 70_000, none), Err(Flaw::Levels(70_000)));
        assert_eq!(Flaw::Missing(1).describe(3).0, "has NA in row 2, column 3");
    }
}
