//! Correlations of numbers, on the rows of a test.

use std::borrow::Cow;

use super::cells::{Cells, Filling, Known, Which};
use super::data::Frame;
use super::ones;
use super::rows::{set_bits, triangle, Asked};
use crate::ci::gauss::{FisherZ, Gauss, Reading};
use crate::ci::partial;

/// Sums of products of the variables of numbers over all rows, which make tests of numbers quicker.
#[derive(Clone, Debug)]
pub struct Sums<'a> {
    /// For each pair of these variables the correlation, with missing values set to the mean.
    c: Cow<'a, [f64]>,
    /// Number of variables of numbers.
    q: usize,
    /// The index of each variable among them.
    places: Vec<u32>,
    /// The square root of the sum of squares of each variable of numbers; empty if no values are missing.
    norms: Vec<f64>,
}

/// The largest share of a variable's sum of squares that the rows left out may have. Beyond it, the remaining rows are summed directly.
const MOST_LEFT_OUT: f64 = 0.9;

fn of_numbers(places: &[u32]) -> usize {
    places.iter().filter(|&&place| place != Sums::NONE).count()
}

impl<'a> Sums<'a> {
    /// The index that marks a variable of levels.
    pub const NONE: u32 = u32::MAX;

    /// Makes sums from the correlations of variables without missing values, q x q. `places` holds for each variable its index among the q,
    /// or [`Sums::NONE`].
    pub fn correlations(c: Cow<'a, [f64]>, places: Vec<u32>) -> Self {
        let q = of_numbers(&places);
        Sums { c, q, places, norms: Vec::new() }
    }

    /// Makes sums from the correlations of numbers with missing values set to the mean, as in [`Frame::numbers`].
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

/// The numbers and rows of a partial correlation; it is that of the first two numbers given the others.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub numbers: &'a [u32],
    /// The index of the data set.
    pub set: usize,
    /// A bit for each row, or `None` for all `n` rows of the data.
    pub rows: Option<&'a [u64]>,
    pub n: f64,
}

impl Question<'_> {
    /// Returns the number of rows.
    pub fn count(&self) -> f64 {
        self.rows.map_or(self.n, ones)
    }

    /// Returns the rows whose sums of products are needed, given sums over all rows if there are any. `None` means that these suffice.
    pub fn which(&self, sums: Option<&Sums>) -> Option<Which> {
        match (sums, self.rows) {
            (Some(_), None) => None,
            (Some(_), Some(_)) if 2.0 * self.count() >= self.n => Some(Which::Others),
            (_, Some(_)) => Some(Which::Complete),
            (None, None) => Some(Which::All),
        }
    }
}

/// Working memory for partial correlations.
#[derive(Debug, Default)]
pub(super) struct Moments {
    rows: Vec<u32>,
    left_out: Vec<u64>,
    values: Vec<f64>,
    sums: Vec<f64>,
    products: Vec<f64>,
    cell: Cells,
    /// k x k numbers.
    correlations: Vec<f64>,
    matrix: Vec<f64>,
}

/// The share of their mean below which the spread of numbers needs precise sums to show whether they vary.
const LITTLE: f64 = 1e-7;

/// Returns a product, and its rounding error (T. J. Dekker 1971).
fn product(a: f64, b: f64) -> (f64, f64) {
    const SPLIT: f64 = 134_217_729.0;
    let halves = |x: f64| {
        let high = SPLIT * x - (SPLIT * x - x);
        (high, x - high)
    };
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    let whole = a * b;
    (whole, a2 * b2 - (((whole - a1 * b1) - a2 * b1) - a1 * b2))
}

/// Returns the sum of numbers, including their rounding errors and those of the sums (D. E. Knuth).
fn sum(terms: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut sum, mut rest) = (0.0, 0.0);
    for (term, left_out) in terms {
        let next: f64 = sum + term;
        let part = next - sum;
        rest += ((sum - (next - part)) + (term - part)) + left_out;
        sum = next;
    }
    sum + rest
}

/// Returns p of a partial correlation from n rows; an undefined one counts as 0.
pub(super) fn fisher_z(r: f64, n: f64, size: usize) -> f64 {
    FisherZ::new(n.max(1.0), Reading::GaussCItest).map_or(f64::NAN, |test| test.p_of_correlation(r, size))
}

impl Moments {
    /// Returns the partial correlation and its number of rows; NaN if a number is constant.
    pub fn partial(
        &mut self,
        question: Question,
        frame: Option<&Frame>,
        sums: Option<&Sums>,
        known: &mut impl Known,
        filling: &mut Filling,
    ) -> (f64, f64) {
        let (k, count) = (question.numbers.len(), question.count());
        let which = question.which(sums);
        let mut is_sharp = which.is_none();
        match (frame, sums, which) {
            (_, Some(sums), None) => self.take(sums, question.numbers),
            (Some(frame), Some(sums), Some(Which::Others))
                if self.subtract(frame, sums, question, count, known, filling) => {}
            (Some(frame), _, which) => {
                let which = if which == Some(Which::All) { Which::All } else { Which::Complete };
                is_sharp = !self.add_up(frame, question, which, known, filling);
                if is_sharp {
                    self.add_up_sharply(frame, question);
                }
            }
            (None, ..) => return (f64::NAN, count),
        }
        if self.correlations.iter().any(|r| r.is_nan()) {
            return (f64::NAN, count);
        }
        if let (Some(frame), false) = (frame, is_sharp) {
            // If numbers nearly determine one another, the last digits decide, and all routes must give the same digits.
            self.matrix.clear();
            self.matrix.extend_from_slice(&self.correlations);
            if k > 2 && partial::by_elimination(&mut self.matrix, k).is_none() {
                self.add_up_sharply(frame, question);
            }
        }
        let Ok(test) = FisherZ::new(count.max(1.0), Reading::GaussCItest) else { return (f64::NAN, count) };
        let given: Vec<u32> = (2..k as u32).collect();
        let r = Gauss::of_part(&self.correlations, k, &[], test).partial(0, 1, &given);
        (r.unwrap_or(f64::NAN), count)
    }

    /// Copies known correlations.
    fn take(&mut self, sums: &Sums, numbers: &[u32]) {
        let q = sums.q;
        self.correlations.clear();
        for &col in numbers {
            let column = &sums.c[sums.place(col) * q..][..q];
            self.correlations.extend(numbers.iter().map(|&row| column[sums.place(row)]));
        }
    }

    /// Subtracts the sums of the few rows left out from those of all rows. Returns whether only few digits are lost in this way.
    fn subtract(
        &mut self,
        frame: &Frame,
        sums: &Sums,
        question: Question,
        left: f64,
        known: &mut impl Known,
        filling: &mut Filling,
    ) -> bool {
        let (numbers, k, q, n) = (question.numbers, question.numbers.len(), sums.q, frame.n());
        if !known.take(0, Which::Others, &mut self.cell) {
            self.left_out.clear();
            self.left_out.extend(question.rows.unwrap_or_default().iter().map(|word| !word));
            if n % 64 > 0 {
                self.left_out[n / 64] &= (1 << (n % 64)) - 1;
            }
            let rows = Some(&self.left_out[..]);
            self.cell.fill_one(&Asked { frame, set: 0, rows, factors: &[], numbers }, true, filling);
        }
        // The remaining rows have sums of the opposite sign, because all rows sum to zero.
        self.products.clear();
        let Cells { means: of_others, products: others, .. } = &self.cell;
        let mut at = 0;
        let mut enough = true;
        for col in 0..k {
            let (of_col, norm) = (sums.place(numbers[col]), sums.norms[sums.place(numbers[col])]);
            for (row, &number) in numbers[..=col].iter().enumerate() {
                let of_row = sums.place(number);
                let whole =
                    if row == col { norm * norm } else { sums.c[of_col * q + of_row] * norm * sums.norms[of_row] };
                let product = whole - others[at] - of_others[row] * of_others[col] / left;
                enough &= row != col || product > (1.0 - MOST_LEFT_OUT) * whole;
                self.products.push(product);
                at += 1;
            }
        }
        if enough {
            self.scale(k);
        }
        enough
    }

    /// Computes sums from the rows themselves. Returns whether all numbers vary enough for that.
    fn add_up(
        &mut self,
        frame: &Frame,
        question: Question,
        which: Which,
        known: &mut impl Known,
        filling: &mut Filling,
    ) -> bool {
        let Question { numbers, set, rows, .. } = question;
        if !known.take(set, which, &mut self.cell) {
            self.cell.fill_one(&Asked { frame, set, rows, factors: &[], numbers }, false, filling);
        }
        self.products.clone_from(&self.cell.products);
        let count = self.cell.rows();
        let varies = |at: usize| {
            let little = LITTLE * self.cell.means[at];
            self.products[triangle(at) + at] > little * little * count
        };
        let enough = (0..numbers.len()).all(varies);
        if enough {
            self.scale(numbers.len());
        }
        enough
    }

    /// Computes sums from the rows themselves, accurate to the last digit but one, in twice the precision (T. Ogita, S. M. Rump and S.
    /// Oishi 2005).
    fn add_up_sharply(&mut self, frame: &Frame, question: Question) {
        let Question { numbers, set, rows, .. } = question;
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
            let mean = sum(column().map(|&value| (value, 0.0))) / count;
            // A constant number becomes exactly 0, without rounding of the mean.
            for value in self.values.iter_mut().skip(at).step_by(k) {
                *value = if varies { *value - mean } else { 0.0 };
            }
        }
        self.sums.clear();
        self.sums.extend((0..k).map(|at| sum(self.values.iter().skip(at).step_by(k).map(|&value| (value, 0.0)))));
        let mut place = 0;
        for col in 0..k {
            for row in 0..=col {
                let products = self.values.chunks_exact(k).map(|values| product(values[row], values[col]));
                self.products[place] = sum(products) - self.sums[row] * self.sums[col] / count;
                place += 1;
            }
        }
        self.scale(k);
    }

    /// Collects the values of the rows, row by row.
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

    /// Turns products into correlations; NaN if a variable is constant.
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
