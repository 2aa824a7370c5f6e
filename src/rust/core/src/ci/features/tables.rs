//! What a machine other than the CPU needs for tests by random features: columns, weights and phases.

use super::{Form, KernelTest, Settings};
use crate::panels::{Row, WIDE};

/// The column of a variable.
pub(crate) enum Cells<'a> {
    /// Scaled numbers.
    Numbers(&'a [f64]),
    /// Levels.
    Levels(&'a [u16]),
}

impl KernelTest {
    /// Returns the settings.
    pub(crate) fn settings(&self) -> Settings {
        self.settings
    }

    /// Returns the number of panels of the features of a set, with a constant; 1 for the empty set.
    pub(crate) fn panels(&self) -> usize {
        self.phases.len()
    }

    /// Returns whether values are missing, so that each test has rows of its own.
    pub(crate) fn has_holes(&self) -> bool {
        self.has_holes
    }

    /// Returns the column of a variable.
    pub(crate) fn cells(&self, variable: usize) -> Cells<'_> {
        match self.frame.is_number(variable) {
            true => Cells::Numbers(&self.variables[variable].values),
            false => Cells::Levels(self.frame.codes(variable, 0)),
        }
    }

    /// Returns the weights of a variable in S, and in a set joined to x or y: for each level, a row for each panel.
    pub(crate) fn weights(&self, variable: usize) -> [&[Row]; 2] {
        let variable = &self.variables[variable];
        [&variable.given, &variable.joint]
    }

    /// Returns the phases of features of S and of joint sets, by panel.
    pub(crate) fn all_phases(&self) -> [&[Row]; 2] {
        [&self.phases, &self.joint_phases]
    }

    /// Returns the features of a variable as x or y, by row, and their number.
    pub(crate) fn sides(&self, variable: usize) -> (&[Row], usize) {
        let variable = &self.variables[variable];
        (&variable.sides, variable.count)
    }

    /// Returns whether S is joined to the variable with the larger number.
    pub(crate) fn joins(&self, s: &[u32]) -> bool {
        !s.is_empty() && matches!(self.settings.form, Form::Rcit | Form::Kci(_))
    }

    /// Returns whether a test given S has an answer.
    pub(crate) fn answers(&self, s: &[u32]) -> bool {
        self.settings.form != Form::Rit || s.is_empty()
    }

    /// Writes the rows in which none of these variables lacks a value.
    pub(crate) fn complete_rows(
        &self,
        variables: impl Iterator<Item = usize>,
        present: &mut Vec<u64>,
        rows: &mut Vec<u32>,
    ) {
        rows.clear();
        let all = 0..self.n() as u32;
        match self.frame.complete(variables, present) {
            true => rows.extend(all),
            false => rows.extend(all.filter(|&row| crate::ci::mixed::has(present, row as usize))),
        }
    }
}

// A machine that stores a row's features side by side relies on this.
const _: () = assert!(size_of::<Row>() == WIDE * size_of::<f64>());
