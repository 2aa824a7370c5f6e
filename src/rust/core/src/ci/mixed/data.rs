//! Variables that are numbers or levels, with missing values, or imputed several times.

use crate::ci::discrete::Coded;
use crate::matrix::by_column;
use crate::memory::{self, Use};
use crate::{Error, Result};

/// A variable as the caller has it.
#[derive(Clone, Debug)]
pub struct Given<'a> {
    /// The number of declared levels, whether they occur or not; 0 for a variable of numbers.
    pub levels: u32,
    /// The values: one version, or one for each completed data set.
    pub versions: Vec<Values<'a>>,
}

/// n values of a variable.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Numbers; NaN is missing.
    Numbers(&'a [f64]),
    /// Whole numbers; R's NA is missing.
    Whole(&'a [i32]),
    /// The codes 1, ..., `levels`; R's NA is missing.
    Codes(&'a [i32]),
}

/// R's NA in whole numbers.
const NA: i32 = i32::MIN;

/// The values of one version of a variable.
#[derive(Clone, Debug)]
pub(super) enum Cells {
    /// Numbers minus the mean of the first version; 0 if missing.
    Numbers(Vec<f64>),
    /// Codes 0, 1, ... of the levels that occur in any version, in the order of the levels; 0 if missing.
    Codes(Vec<u16>),
}

/// One variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// Number of declared levels; 0 for numbers.
    pub levels: u32,
    /// Number of levels that occur in any version.
    pub occurring: u32,
    /// A bit for each row that has a value, 64 to a word; empty if all rows have one.
    present: Vec<u64>,
    versions: Vec<Cells>,
}

/// Returns whether a row has a value, by the bits of [`Frame::present`].
pub(crate) fn has(present: &[u64], row: usize) -> bool {
    present.is_empty() || present[row / 64] >> (row % 64) & 1 == 1
}

/// n observations of p variables, each a number or a level.
#[derive(Clone, Debug)]
pub struct Frame {
    n: usize,
    sets: usize,
    pub(super) variables: Vec<Variable>,
    /// For each data set the variables of levels, in order, prepared for counting.
    pub(super) coded: Vec<Coded>,
    /// The index of each variable among the variables of levels.
    pub(super) among_levels: Vec<u32>,
}

fn wrong(value: String, hint: &str) -> Error {
    Error::Argument { argument: "suffStat", value, hint: hint.into() }
}

impl Frame {
    /// Makes a frame of variables with `n` values in each version, in `sets` data sets. A variable has a version for each data set, or one
    /// that all share.
    ///
    /// # Errors
    /// [`Error::Argument`] if there are no rows, versions of other lengths or numbers, or codes that are no level; [`Error::Memory`].
    pub fn new(n: usize, sets: usize, given: &[Given]) -> Result<Self> {
        if n == 0 || n > u32::MAX as usize || sets == 0 {
            return Err(wrong(format!("has {n} rows"), "give data with at least one row"));
        }
        let mut variables = memory::space(given.len(), Use::Samples)?;
        for (at, variable) in given.iter().enumerate() {
            let alike = variable.versions.iter().all(|values| values.len() == n);
            if !alike || !(variable.versions.len() == 1 || variable.versions.len() == sets) {
                return Err(wrong(
                    format!("has data sets of different shapes in column {}", at + 1),
                    "give data sets that have the same rows and columns",
                ));
            }
            let bytes = n * if variable.levels == 0 { size_of::<f64>() } else { size_of::<u16>() };
            memory::room(bytes * variable.versions.len() + n / 8, Use::Samples)?;
            variables.push(Variable::new(at, n, variable)?);
        }
        let mut frame = Frame { n, sets, variables, coded: Vec::new(), among_levels: Vec::new() };
        frame.code()?;
        Ok(frame)
    }

    /// Returns these rows, with repetitions. The levels that occur remain those of all rows.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn of_rows(&self, rows: &[u32]) -> Result<Self> {
        let mut variables = memory::space(self.p(), Use::Samples)?;
        for variable in &self.variables {
            let bytes = rows.len() * if variable.levels == 0 { size_of::<f64>() } else { size_of::<u16>() };
            memory::room(bytes * variable.versions.len() + rows.len() / 8, Use::Samples)?;
            variables.push(variable.of_rows(rows));
        }
        let mut frame =
            Frame { n: rows.len(), sets: self.sets, variables, coded: Vec::new(), among_levels: Vec::new() };
        frame.code()?;
        Ok(frame)
    }

    /// Prepares the levels for counting.
    fn code(&mut self) -> Result<()> {
        let mut levels = Vec::new();
        for variable in &self.variables {
            self.among_levels.push(levels.len() as u32);
            levels.extend((variable.levels > 0).then_some(variable.occurring.max(1)));
        }
        if levels.is_empty() {
            return Ok(());
        }
        for set in 0..self.sets {
            let mut codes: Vec<i32> = memory::space(self.n * levels.len(), Use::Codes)?;
            for at in (0..self.p()).filter(|&at| !self.is_number(at)) {
                let (of, variable) = (self.codes(at, set).iter().enumerate(), &self.variables[at]);
                codes.extend(of.map(|(row, &code)| if variable.has(row) { i32::from(code) } else { NA }));
            }
            self.coded.push(Coded::new(by_column(&codes, levels.len())?, &levels, true)?);
        }
        Ok(())
    }

    /// Returns the number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Returns the number of variables.
    pub fn p(&self) -> usize {
        self.variables.len()
    }

    /// Returns the number of data sets: 1 if nothing was imputed.
    pub fn sets(&self) -> usize {
        self.sets
    }

    /// Returns whether a variable is one of numbers.
    pub fn is_number(&self, variable: usize) -> bool {
        self.variables[variable].levels == 0
    }

    /// Returns whether any value is missing.
    pub fn any_missing(&self) -> bool {
        self.variables.iter().any(|variable| !variable.present.is_empty())
    }

    /// Returns the numbers of a variable in a data set, minus a constant that is the same in all sets; 0 if missing.
    ///
    /// # Panics
    /// If it is a variable of levels.
    pub fn numbers(&self, variable: usize, set: usize) -> &[f64] {
        match self.version(variable, set) {
            Cells::Numbers(values) => values,
            Cells::Codes(_) => panic!("levels for numbers"),
        }
    }

    /// Returns the codes 0, 1, ... of a variable's occurring levels, in a data set; 0 if missing.
    ///
    /// # Panics
    /// If it is a variable of numbers.
    pub fn codes(&self, variable: usize, set: usize) -> &[u16] {
        match self.version(variable, set) {
            Cells::Codes(codes) => codes,
            Cells::Numbers(_) => panic!("numbers for levels"),
        }
    }

    /// Returns how many versions a variable has: 1, or one for each data set.
    pub fn versions(&self, variable: usize) -> usize {
        self.variables[variable].versions.len()
    }

    /// Returns how many of a variable's levels occur in any data set, at least 1.
    pub fn occurring(&self, variable: usize) -> u32 {
        self.variables[variable].occurring.max(1)
    }

    /// Returns a bit for each row in which a variable has a value, 64 to a word; empty if all rows have one.
    pub fn present(&self, variable: usize) -> &[u64] {
        &self.variables[variable].present
    }

    fn version(&self, variable: usize, set: usize) -> &Cells {
        let versions = &self.variables[variable].versions;
        &versions[if versions.len() == 1 { 0 } else { set }]
    }

    /// Writes a bit for each row that has values in all of these variables. Returns whether all rows do; then nothing is written.
    pub(crate) fn complete(&self, of: impl Iterator<Item = usize>, rows: &mut Vec<u64>) -> bool {
        rows.clear();
        for variable in of {
            let present = &self.variables[variable].present;
            if present.is_empty() {
            } else if rows.is_empty() {
                rows.extend_from_slice(present);
            } else {
                rows.iter_mut().zip(present).for_each(|(word, of)| *word &= of);
            }
        }
        rows.is_empty()
    }
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Values::Numbers(values) => values.len(),
            Values::Whole(values) | Values::Codes(values) => values.len(),
        }
    }

    fn number(&self, row: usize) -> f64 {
        match self {
            Values::Numbers(values) => values[row],
            Values::Whole(values) | Values::Codes(values) if values[row] == NA => f64::NAN,
            Values::Whole(values) | Values::Codes(values) => f64::from(values[row]),
        }
    }
}

impl Variable {
    /// Returns whether a row has a value.
    fn has(&self, row: usize) -> bool {
        has(&self.present, row)
    }

    fn of_rows(&self, rows: &[u32]) -> Self {
        let mut present = vec![0; if self.present.is_empty() { 0 } else { rows.len().div_ceil(64) }];
        let mut count = 0.0;
        for (at, _) in rows.iter().enumerate().filter(|(_, &row)| self.has(row as usize)) {
            count += 1.0;
            if let Some(word) = present.get_mut(at / 64) {
                *word |= 1 << (at % 64);
            }
        }
        // If none of these rows lacks a value, the variable counts as complete: sums over rows with a missing value need at least one such
        // row.
        if count == rows.len() as f64 {
            present.clear();
        }
        let mut mean = None;
        let drawn = |cells: &Cells| match cells {
            Cells::Codes(codes) => Cells::Codes(rows.iter().map(|&row| codes[row as usize]).collect()),
            Cells::Numbers(values) => {
                let mut values: Vec<f64> = rows.iter().map(|&row| values[row as usize]).collect();
                // The mean of the first version. A missing value is 0 before and after.
                let mean = *mean.get_or_insert_with(|| values.iter().sum::<f64>() / f64::max(count, 1.0));
                let places = values.iter_mut().zip(rows).filter(|(_, &row)| self.has(row as usize));
                places.for_each(|(value, _)| *value -= mean);
                Cells::Numbers(values)
            }
        };
        let versions = self.versions.iter().map(drawn).collect();
        Variable { levels: self.levels, occurring: self.occurring, present, versions }
    }

    fn new(at: usize, n: usize, given: &Given) -> Result<Self> {
        let mut present = vec![u64::MAX; n.div_ceil(64)];
        if n % 64 > 0 {
            present[n / 64] = (1 << (n % 64)) - 1;
        }
        let mut complete = true;
        for values in &given.versions {
            for row in (0..n).filter(|&row| values.number(row).is_nan()) {
                present[row / 64] &= !(1 << (row % 64));
                complete = false;
            }
        }
        if complete {
            present = Vec::new();
        }
        if given.levels == 0 {
            let versions = numbers(n, &given.versions);
            return Ok(Variable { levels: 0, occurring: 0, present, versions });
        }
        let levels = given.levels as usize;
        let mut places = vec![u16::MAX; levels];
        for values in &given.versions {
            for code in (0..n).map(|row| values.number(row)).filter(|code| !code.is_nan()) {
                if !(code >= 1.0 && code <= levels as f64) || levels > usize::from(u16::MAX) {
                    let value = format!("has level {code} of {levels} in column {}", at + 1);
                    return Err(wrong(value, "give factors with at most 65,535 levels"));
                }
                places[code as usize - 1] = 0;
            }
        }
        let mut occurring = 0;
        for place in places.iter_mut().filter(|place| **place == 0) {
            *place = occurring;
            occurring += 1;
        }
        let code = |code: f64| if code.is_nan() { 0 } else { places[code as usize - 1] };
        let coded = |values: &Values| Cells::Codes((0..n).map(|row| code(values.number(row))).collect());
        let versions = given.versions.iter().map(coded).collect();
        Ok(Variable { levels: given.levels, occurring: u32::from(occurring), present, versions })
    }
}

fn numbers(n: usize, versions: &[Values]) -> Vec<Cells> {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in (0..n).map(|row| versions[0].number(row)).filter(|value| !value.is_nan()) {
        sum += value;
        count += 1.0;
    }
    // Any constant will do, as long as no digits are lost.
    let mean = if count > 0.0 && f64::is_finite(sum) { sum / count } else { 0.0 };
    // Their squares must be finite numbers too. Scaling by a power of 2 loses no digits.
    let largest = (0..n).map(|row| (versions[0].number(row) - mean).abs()).fold(0.0, f64::max);
    let scale = match largest {
        0.0 => 1.0,
        largest if (1e-100..1e100).contains(&largest) => 1.0,
        largest => (-largest.log2().round().clamp(-1000.0, 1000.0)).exp2(),
    };
    let centred = |value: f64| if value.is_nan() { 0.0 } else { (value - mean) * scale };
    let of = |values: &Values| Cells::Numbers((0..n).map(|row| centred(values.number(row))).collect());
    versions.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::mixed::{Holes, Mixed, Rules, Sums};

    fn given(values: &[f64]) -> Given<'_> {
        Given { levels: 0, versions: vec![Values::Numbers(values)] }
    }

    #[test]
    fn rows_without_holes_have_none() {
        let x: Vec<f64> = (0..40).map(|row| f64::from(row * row % 17)).collect();
        let mut y: Vec<f64> = (0..40).map(|row| f64::from(row * 7 % 11)).collect();
        y[3] = f64::NAN;
        let frame = Frame::new(40, 1, &[given(&x), given(&y)]).unwrap();
        let rules = Rules { adapt: false, ask_for_rows: false, constant_is_missing: true };
        let test = Mixed::new(frame, Holes::TestWise, rules).unwrap();
        // The row with the missing value is drawn, or is not.
        for (rows, has_hole) in [([3, 5, 6, 8, 9, 12, 13, 20], true), ([4, 5, 6, 8, 9, 12, 13, 20], false)] {
            let drawn = test.of_rows(&rows).unwrap().unwrap();
            assert_eq!(drawn.frame().unwrap().any_missing(), has_hole);
            let known: Vec<usize> = rows.iter().map(|&row| row as usize).filter(|&row| row != 3).collect();
            let of = |values: &[f64]| known.iter().map(|&row| values[row]).collect::<Vec<f64>>();
            let (x, y) = (of(&x), of(&y));
            let alone = Frame::new(known.len(), 1, &[given(&x), given(&y)]).unwrap();
            let wanted = Mixed::new(alone, Holes::None, rules).unwrap().p_value(0, 1, &[], &mut Default::default());
            let sums = {
                let frame = drawn.frame().unwrap();
                let product = |a: usize, b: usize| -> f64 {
                    frame.numbers(a, 0).iter().zip(frame.numbers(b, 0)).map(|(a, b)| a * b).sum()
                };
                let r = product(0, 1) / (product(0, 0) * product(1, 1)).sqrt();
                Sums::with_holes(vec![1.0, r, r, 1.0].into(), vec![0, 1], frame)
            };
            let drawn = drawn.with_sums(vec![sums]);
            let p = drawn.p_value(0, 1, &[], &mut Default::default());
            assert!((p - wanted).abs() < 1e-12 && wanted < 1.0, "{p} {wanted}");
        }
    }
}
