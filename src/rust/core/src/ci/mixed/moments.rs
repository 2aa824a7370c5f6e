//! Correlations of numbers, on the rows of a test.

use std::borrow::Cow;

use super::cells::{set_bits, triangle};
use super::data::Frame;
use crate::ci::gauss::{FisherZ, Gauss, Reading};
use crate::ci::partial;

/// Sums of products of the variables of numbers over all rows, by which tests of numbers alone are quicker.
#[derive(Clone, Debug)]
pub struct Sums<'a> {
    /// By pair of these variables: the correlation, holes counting as the mean.
    c: Cow<'a, [f64]>,
    /// How many these are.
    q: usize,
    /// By variable: its place among them.
    places: Vec<u32>,
    /// By place: the root of the sum of squares; empty where there are no holes.
    norms: Vec<f64>,
}

/// Where rows that a test lacks take more than this share of a variable's sum of squares, the others are summed up by themselves.
const MOST_LEFT_OUT: f64 = 0.9;

fn of_numbers(places: &[u32]) -> usize {
    places.iter().filter(|&&place| place != Sums::NONE).count()
}

impl<'a> Sums<'a> {
    /// The place of a variable of levels.
    pub const NONE: u32 = u32::MAX;

    /// Of the correlations of variables without holes: q x q; `places`: by variable which of the q it is, or [`Sums::NONE`].
    pub fn correlations(c: Cow<'a, [f64]>, places: Vec<u32>) -> Self {
        let q = of_numbers(&places);
        Sums { c, q, places, norms: Vec::new() }
    }

    /// Of the correlations of numbers whose holes count as their mean, as [`Frame::numbers`] has them.
    pub fn with_holes(c: Cow<'a, [f64]>, places: Vec<u32>, frame: &Frame) -> Self {
        let numbers = (0..frame.p()).filter(|&variable| frame.is_number(variable));
        let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
        let norms = numbers.map(|variable| norm(frame.numbers(variable, 0))).collect();
        let q = of_numbers(&places);
        Sums { c, q, places, norms }
    }

    fn place(&self, variable: u32) -> usize {
        self.places[variable as usize] as usize
    }
}

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct Moments {
    rows: Vec<u32>,
    left_out: Vec<u64>,
    values: Vec<f64>,
    sums: Vec<f64>,
    products: Vec<f64>,
    /// k x k.
    correlations: Vec<f64>,
    matrix: Vec<f64>,
}

/// A product, and where it is to be sharp what its rounding left out (T. J. Dekker 1971).
fn product(sharp: bool, a: f64, b: f64) -> (f64, f64) {
    if !sharp {
        return (a * b, 0.0);
    }
    const SPLIT: f64 = 134_217_729.0;
    let halves = |x: f64| {
        let high = SPLIT * x - (SPLIT * x - x);
        (high, x - high)
    };
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    let whole = a * b;
    (whole, a2 * b2 - (((whole - a1 * b1) - a2 * b1) - a1 * b2))
}

/// The sum of numbers; where it is to be sharp, with what rounding left out of them and of their sums (D. E. Knuth).
fn sum(sharp: bool, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
    if !sharp {
        return terms.map(|(term, _)| term).sum();
    }
    let (mut sum, mut rest) = (0.0, 0.0);
    for (term, left_out) in terms {
        let next: f64 = sum + term;
        let part = next - sum;
        rest += ((sum - (next - part)) + (term - part)) + left_out;
        sum = next;
    }
    sum + rest
}

/// p of a partial correlation of n rows; an undefined one counts as 0.
pub(super) fn fisher_z(r: f64, n: f64, size: usize) -> f64 {
    FisherZ::new(n.max(1.0), Reading::GaussCItest).map_or(f64::NAN, |test| test.p_of_correlation(r, size))
}

impl Moments {
    /// The partial correlation of the first two of some numbers given the others, and of how many rows; NaN where one is constant. `rows`: a
    /// bit each, none where all count; `n`: how many these are.
    pub fn partial(
        &mut self,
        frame: Option<&Frame>,
        sums: Option<&Sums>,
        set: usize,
        rows: Option<&[u64]>,
        numbers: &[u32],
        n: f64,
    ) -> (f64, f64) {
        let k = numbers.len();
        let count = rows.map_or(n, |rows| rows.iter().map(|word| f64::from(word.count_ones())).sum());
        let mut is_sharp = false;
        match (frame, sums, rows) {
            (_, Some(sums), None) => {
                self.take(sums, numbers);
                is_sharp = true;
            }
            (Some(frame), Some(sums), Some(rows))
                if 2.0 * count >= n && self.subtract(frame, sums, rows, numbers, n - count) => {}
            (Some(frame), ..) => self.add_up(frame, set, rows, numbers, false),
            (None, ..) => return (f64::NAN, count),
        }
        if self.correlations.iter().any(|r| r.is_nan()) {
            return (f64::NAN, count);
        }
        if let (Some(frame), false) = (frame, is_sharp) {
            // Where numbers nearly determine one another, the last digits decide: all ways are to have the same.
            self.matrix.clear();
            self.matrix.extend_from_slice(&self.correlations);
            if k > 2 && partial::by_elimination(&mut self.matrix, k).is_none() {
                self.add_up(frame, set, rows, numbers, true);
            }
        }
        let Ok(test) = FisherZ::new(count.max(1.0), Reading::GaussCItest) else { return (f64::NAN, count) };
        let given: Vec<u32> = (2..k as u32).collect();
        let r = Gauss::of_part(&self.correlations, k, &[], test).partial(0, 1, &given);
        (r.unwrap_or(f64::NAN), count)
    }

    /// Correlations as they are known.
    fn take(&mut self, sums: &Sums, numbers: &[u32]) {
        let q = sums.q;
        self.correlations.clear();
        for &col in numbers {
            let column = &sums.c[sums.place(col) * q..][..q];
            self.correlations.extend(numbers.iter().map(|&row| column[sums.place(row)]));
        }
    }

    /// Those of all rows less the few that are left out; whether few digits are lost so.
    fn subtract(&mut self, frame: &Frame, sums: &Sums, rows: &[u64], numbers: &[u32], missing: f64) -> bool {
        let (k, q, n) = (numbers.len(), sums.q, frame.n());
        self.left_out.clear();
        self.left_out.extend(rows.iter().map(|word| !word));
        if n % 64 > 0 {
            self.left_out[n / 64] &= (1 << (n % 64)) - 1;
        }
        self.rows.clear();
        set_bits(&self.left_out, &mut self.rows);
        self.gather(frame, 0, numbers);
        self.sums.clear();
        self.sums.resize(k, 0.0);
        self.products.clear();
        self.products.resize(triangle(k), 0.0);
        for row in self.values.chunks_exact(k) {
            self.sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            let mut products = self.products.iter_mut();
            for (col, &of_col) in row.iter().enumerate() {
                row[..=col].iter().zip(&mut products).for_each(|(&of_row, sum)| *sum += of_row * of_col);
            }
        }
        // The rows that are left have sums of the opposite sign, as all sum up to nothing.
        let left = n as f64 - missing;
        let mut at = 0;
        let mut enough = true;
        for col in 0..k {
            let (of_col, norm) = (sums.place(numbers[col]), sums.norms[sums.place(numbers[col])]);
            for (row, &number) in numbers[..=col].iter().enumerate() {
                let of_row = sums.place(number);
                let whole =
                    if row == col { norm * norm } else { sums.c[of_col * q + of_row] * norm * sums.norms[of_row] };
                self.products[at] = whole - self.products[at] - self.sums[row] * self.sums[col] / left;
                enough &= row != col || self.products[at] > (1.0 - MOST_LEFT_OUT) * whole;
                at += 1;
            }
        }
        if enough {
            self.scale(k);
        }
        enough
    }

    /// From the rows themselves; `sharp`: to the last digit but one, by sums of twice the precision (T. Ogita, S. M. Rump and S. Oishi 2005).
    fn add_up(&mut self, frame: &Frame, set: usize, rows: Option<&[u64]>, numbers: &[u32], sharp: bool) {
        let k = numbers.len();
        self.rows.clear();
        match rows {
            Some(words) => set_bits(words, &mut self.rows),
            None => self.rows.extend(0..frame.n() as u32),
        }
        self.gather(frame, set, numbers);
        let count = self.rows.len() as f64;
        self.products.clear();
        self.products.resize(triangle(k), 0.0);
        for at in 0..k {
            let column = || self.values.iter().skip(at).step_by(k);
            let first = column().next().copied().unwrap_or(0.0);
            let varies = column().any(|value| *value != first);
            let mean = sum(sharp, column().map(|&value| (value, 0.0))) / count;
            // Of what is constant nothing is left, and no rounding of the mean either.
            for value in self.values.iter_mut().skip(at).step_by(k) {
                *value = if varies { *value - mean } else { 0.0 };
            }
        }
        self.sums.clear();
        self.sums
            .extend((0..k).map(|at| sum(sharp, self.values.iter().skip(at).step_by(k).map(|&value| (value, 0.0)))));
        let mut place = 0;
        for col in 0..k {
            for row in 0..=col {
                let products = self.values.chunks_exact(k).map(|values| product(sharp, values[row], values[col]));
                self.products[place] = sum(sharp, products) - self.sums[row] * self.sums[col] / count;
                place += 1;
            }
        }
        self.scale(k);
    }

    /// The values of the rows, row by row.
    fn gather(&mut self, frame: &Frame, set: usize, numbers: &[u32]) {
        let k = numbers.len();
        self.values.clear();
        self.values.resize(k * self.rows.len(), 0.0);
        for (at, &number) in numbers.iter().enumerate() {
            let column = frame.numbers(number as usize, set);
            let cells = self.values[at..].iter_mut().step_by(k);
            cells.zip(&self.rows).for_each(|(cell, &row)| *cell = column[row as usize]);
        }
    }

    /// Products as correlations; NaN where a variable is constant.
    fn scale(&mut self, k: usize) {
        self.correlations.clear();
        self.correlations.resize(k * k, 1.0);
        for col in 0..k {
            for row in 0..col {
                let squares = self.products[triangle(row) + row] * self.products[triangle(col) + col];
                let r = (self.products[triangle(col) + row] / squares.sqrt()).clamp(-1.0, 1.0);
                self.correlations[col * k + row] = r;
                self.correlations[row * k + col] = r;
            }
        }
    }
}
