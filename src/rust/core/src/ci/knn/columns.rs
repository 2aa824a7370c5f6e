//! The variables, in the form in which the estimators measure distances between values.
//!
//! A continuous column has distances |a - b| of its transformed values. A discrete column has distance 0 within a level and `mismatch`
//! between levels. After a rank transform all of these are whole numbers, and the columns are stored as such. Four times as many then fit a
//! register, and arithmetic on them is not rounded.

use ndarray::ArrayView2;

use crate::matrix;
use crate::memory::{self, Use};
use crate::random::{philox, Key, Purpose};
use crate::{Error, Result};

/// The transform of continuous columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// Ranks 0, 1, ... by column. The distance between levels of a discrete column is 1.
    Ranks,
    /// Ranks divided by n. It gives the results of ranks, except that levels are as far apart as the whole range.
    Uniform,
    /// Minus the mean, divided by the standard deviation with denominator n. The distance between levels is 1.
    Standardize,
    /// No transform. The distance between levels is 1.
    None,
}

/// The treatment of equal values of a column before they are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// Equal values get a random order by the seed. CMIknn adds noise of a millionth, with the same effect. Its estimator is for continuous
    /// data, where equal values are an accident.
    Random {
        /// The seed.
        seed: u64,
    },
    /// Equal values stay equal, at the smallest of their ranks. The estimators for mixed data make use of them.
    Kept,
}

/// Values by column, `n` values each.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Whole(Vec<u16>),
    /// Any real numbers.
    Real(Vec<f64>),
}

/// The largest number of samples for which ranks are stored as whole numbers.
const MOST_WHOLE: usize = 65_000;

/// n samples of p variables.
#[derive(Clone, Debug)]
pub struct Columns {
    n: usize,
    values: Values,
    discrete: Vec<bool>,
    constant: Vec<bool>,
    mismatch: f64,
}

fn wrong(value: String, hint: &str) -> Error {
    Error::Argument { argument: "suffStat$data", value, hint: hint.into() }
}

impl Columns {
    /// Reads `data`, n x p and column-major; a column marked discrete holds codes of levels. `names` holds p numbers, which select the
    /// columns' random numbers.
    ///
    /// A constant column has distances of 0 whatever the transform.
    ///
    /// # Errors
    /// [`Error::Argument`] for fewer than 3 samples, more than [`MOST_SAMPLES`](super::MOST_SAMPLES), and values that are not finite.
    /// Without a transform, also for values so large that differences may not be finite. [`Error::Memory`] if there is not enough.
    pub fn new(
        data: ArrayView2<f64>,
        discrete: &[bool],
        names: &[u32],
        transform: Transform,
        ties: Ties,
    ) -> Result<Self> {
        let (n, p) = (data.nrows(), matrix::columns(data).count());
        if !(3..=super::MOST_SAMPLES).contains(&n) || discrete.len() != p || names.len() != p {
            let hint = format!("give from 3 to {} samples of each variable", super::MOST_SAMPLES);
            return Err(wrong(format!("has {n} samples"), &hint));
        }
        for (column, values) in matrix::columns(data).enumerate() {
            if let Some(row) = values.iter().position(|value| !value.is_finite()) {
                let value = format!("has {} in row {}, column {}", values[row], row + 1, column + 1);
                return Err(wrong(value, "drop the row, or replace the value by a finite number"));
            }
        }
        let ranked = matches!(transform, Transform::Ranks | Transform::Uniform);
        // The values, perhaps also as whole numbers in the end, and the order and ranks of one column.
        memory::room(data.len().saturating_mul(10).saturating_add(32 * n), Use::Samples)?;
        let mut real = memory::space(data.len(), Use::Samples)?;
        let mut constant = vec![false; discrete.len()];
        for (column, (values, &discrete)) in matrix::columns(data).zip(discrete).enumerate() {
            if values.iter().all(|value| value == &values[0]) {
                real.resize(real.len() + n, 0.0);
                constant[column] = true;
            } else if discrete {
                real.extend(dense_codes(values));
            } else if ranked {
                real.extend(ranks(values, names[column], ties));
            } else if transform == Transform::Standardize {
                real.extend(standardized(values));
            } else {
                let most = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
                if most > f64::MAX / 4.0 {
                    let value = format!("has {most:e} in column {}", column + 1);
                    return Err(wrong(value, "divide the column by a number, so that differences are finite"));
                }
                real.extend_from_slice(values);
            }
        }
        let mismatch = if transform == Transform::Uniform { n as f64 } else { 1.0 };
        // Ranks, codes and the mismatch are at most n.
        let values = if ranked && n <= MOST_WHOLE {
            Values::Whole(real.iter().map(|&value| value as u16).collect())
        } else {
            Values::Real(real)
        };
        Ok(Columns { n, values, discrete: discrete.to_vec(), constant, mismatch })
    }

    /// Returns the number of samples.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the number of variables.
    pub fn p(&self) -> usize {
        self.discrete.len()
    }

    /// Returns all values.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Returns for each column whether its distances are those of levels.
    pub fn discrete(&self) -> &[bool] {
        &self.discrete
    }

    /// Returns whether all values of a column are the same.
    pub fn constant(&self, column: usize) -> bool {
        self.constant[column]
    }

    /// Returns the distance between two levels.
    pub fn mismatch(&self) -> f64 {
        self.mismatch
    }

    /// Returns the distance between two samples in a column.
    pub fn distance(&self, column: usize, a: usize, b: usize) -> f64 {
        let at = column * self.n;
        let (a, b) = match &self.values {
            Values::Whole(values) => (f64::from(values[at + a]), f64::from(values[at + b])),
            Values::Real(values) => (values[at + a], values[at + b]),
        };
        if self.discrete[column] {
            if a == b {
                0.0
            } else {
                self.mismatch
            }
        } else {
            (a - b).abs()
        }
    }
}

/// Returns the indices of the values in ascending order of values.
fn ascending(values: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    // -0 and 0 are equal here, as they are after subtraction.
    order.sort_by(|&a, &b| (values[a as usize] + 0.0).total_cmp(&(values[b as usize] + 0.0)));
    order
}

/// Returns codes 0, 1, ... for the values that occur, in ascending order.
fn dense_codes(values: &[f64]) -> Vec<f64> {
    let order = ascending(values);
    let mut codes = vec![0.0; values.len()];
    let mut code = 0.0;
    for pair in order.windows(2) {
        if values[pair[0] as usize] != values[pair[1] as usize] {
            code += 1.0;
        }
        codes[pair[1] as usize] = code;
    }
    codes
}

fn ranks(values: &[f64], column: u32, ties: Ties) -> Vec<f64> {
    let mut order = ascending(values);
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for rank in 1..=order.len() {
        let ends = rank == order.len() || values[order[rank] as usize] != values[order[first] as usize];
        if !ends {
            continue;
        }
        if let (Ties::Random { seed }, true) = (ties, rank - first > 1) {
            let key = Key::of_column(seed, column);
            order[first..rank].sort_by_key(|&sample| (philox([sample, 0, 0, Purpose::Ties as u32], key), sample));
        }
        for (place, &sample) in order[first..rank].iter().enumerate() {
            let rank = if ties == Ties::Kept { first } else { first + place };
            ranks[sample as usize] = rank as f64;
        }
        first = rank;
    }
    ranks
}

fn standardized(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let deviation = (centred.iter().map(|value| value * value).sum::<f64>() / n).sqrt();
    // Squares of tiny numbers may underflow to 0, and those of huge numbers overflow.
    if deviation > 0.0 && deviation.is_finite() {
        centred.iter().map(|value| value / deviation).collect()
    } else {
        let most = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        if most > 0.0 && most != 1.0 {
            standardized(&values.iter().map(|value| value / most).collect::<Vec<f64>>())
        } else {
            vec![0.0; values.len()]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::by_column;

    fn column(values: &[f64], discrete: bool, transform: Transform, ties: Ties) -> Vec<f64> {
        let columns = Columns::new(by_column(values, 1).unwrap(), &[discrete], &[0], transform, ties).unwrap();
        match columns.values() {
            Values::Whole(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Values::Real(values) => values.clone(),
        }
    }

    #[test]
    fn transforms() {
        let values = [0.5, -2.0, 0.5, 7.0, -0.0, 0.0];
        let kept = column(&values, false, Transform::Ranks, Ties::Kept);
        assert_eq!(kept, [3.0, 0.0, 3.0, 5.0, 1.0, 1.0]);
        let mut seen = [false; 2];
        for seed in 0..20 {
            let broken = column(&values, false, Transform::Ranks, Ties::Random { seed });
            let mut sorted = broken.clone();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(sorted, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
            assert!(broken[1] == 0.0 && broken[3] == 5.0 && broken[0] >= 3.0 && broken[4] <= 2.0);
            seen[usize::from(broken[0] > broken[2])] = true;
        }
        assert_eq!(seen, [true, true]);
        let standardized = column(&[1.0, 2.0, 3.0, 6.0], false, Transform::Standardize, Ties::Kept);
        let deviation = 3.5f64.sqrt();
        let wanted = [-2.0 / deviation, -1.0 / deviation, 0.0, 3.0 / deviation];
        assert!(standardized.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-15));
        assert_eq!(column(&[4.0, 9.0, 4.0, -1.0], true, Transform::None, Ties::Kept), [1.0, 2.0, 1.0, 0.0]);
        for transform in [Transform::Ranks, Transform::Standardize, Transform::None] {
            assert_eq!(column(&[4.0; 5], false, transform, Ties::Random { seed: 1 }), [0.0; 5]);
        }
        for scale in [1e-300, 1e300] {
            let values = [1.0, 2.0, 3.0, 6.0].map(|value| value * scale);
            let extreme = column(&values, false, Transform::Standardize, Ties::Kept);
            assert!(extreme.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{extreme:?}");
        }
    }

    #[test]
    fn distances() {
        let data = [0.1, 0.2, 0.9, 5.0, 5.0, 2.0];
        for (transform, mismatch) in [(Transform::Ranks, 1.0), (Transform::Uniform, 3.0), (Transform::None, 1.0)] {
            let columns =
                Columns::new(by_column(&data, 2).unwrap(), &[false, true], &[0, 1], transform, Ties::Kept).unwrap();
            assert_eq!((columns.distance(1, 0, 1), columns.distance(1, 0, 2)), (0.0, mismatch));
            let wanted = if transform == Transform::None { 0.9 - 0.1 } else { 2.0 };
            assert_eq!(columns.distance(0, 2, 0), wanted);
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let new =
            |data: &[f64], transform| Columns::new(by_column(data, 1).unwrap(), &[false], &[0], transform, Ties::Kept);
        for data in [&[1.0; 2][..], &[1.0, f64::NAN, 2.0], &[f64::INFINITY, 1.0, 2.0]] {
            let refused = new(data, Transform::Ranks);
            assert!(matches!(refused, Err(Error::Argument { argument: "suffStat$data", .. })), "{refused:?}");
        }
        // Differences of the values would not be finite; differences of their ranks are.
        let huge = [1e308, -1e308, 0.0];
        assert!(new(&huge, Transform::None).is_err());
        assert!(new(&huge, Transform::Ranks).is_ok());
    }
}
