//! Tests of discrete variables: G² (pcalg's `disCItest`, `binCItest`) and Pearson's χ² (bnlearn's `x2`).
//!
//! One engine counts the table N(x, y, s) ([`Counter`]); the statistics are sums over it ([`Table`]). Let L(v) be the number of levels of
//! v. Then df = (L(x) - 1)(L(y) - 1) Π L(s), over all declared levels, whether they occur or not. p is the upper tail of the chi-squared
//! distribution. The rest depends on the [`Rule`].

mod bound;
mod counter;
mod data;
mod joint;
mod lent;
mod lines;
mod masks;
mod popcount;
mod resampled;
mod store;
mod strata;
mod table;

pub use bound::Bound;
pub use counter::{Counter, Way};
pub use data::{Coded, Codes, Variable, MOST_LEVELS};
pub use joint::Joints;
pub use lent::Lent;
pub use store::Shared;
pub use table::{Margins, Order, Statistic, Summary, Table};

use super::chi_squared::upper_tail;
use super::{Batch, CiTest};
use crate::Result;

/// The treatment of few samples and of empty cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The rule of pcalg's `gSquareDis` and `gSquareBin`. A test with n < 10 df is not computed: p = 1. `adapt` (pcalg's `adaptDF`) lowers
    /// the df of a test with nonempty S by the number of empty cells plus 4 (2^|S| - Π L(s)), but not below 1.
    ///
    /// If |S| >= 5, pcalg's `gSquareDis` takes x in place of S, which makes p = 1. Here S stays S. `adapt` follows pcalg's formula for |S|
    /// <= 4, with which `gSquareBin` agrees at every size.
    Pcalg {
        /// Whether empty cells lower the df.
        adapt: bool,
    },
    /// The rule of bnlearn's tests. With `adapt` (`x2-adf`, `mi-adf`), df = Σ over strata of (a - 1)(b - 1), with a and b the numbers of
    /// levels that occur there. The statistic is then 0 if n < 5 L(x) L(y) Π L(s).
    Bnlearn {
        /// Whether the df follow from the levels that occur.
        adapt: bool,
    },
}

/// Returns [`Rule::Pcalg`]'s degrees of freedom after empty cells lower the `full` ones. The table has `levels` cells in each of the
/// `strata` of `size` variables; `occupied` cells are not empty.
pub(crate) fn adapted_df(full: f64, levels: f64, strata: f64, size: usize, occupied: f64) -> f64 {
    let empty = levels * strata - occupied;
    let absent = 4.0 * ((size as f64).exp2() - strata);
    (full - (empty + absent)).max(1.0)
}

/// A test of discrete variables.
#[derive(Clone, Copy, Debug)]
pub struct Discrete<'a> {
    data: &'a Coded,
    statistic: Statistic,
    rule: Rule,
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The statistic; 0 if the rule says that there are too few samples.
    pub statistic: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// P(chi-squared with `df` degrees of freedom >= statistic).
    pub p: f64,
    /// Whether p is 1 because there are too few samples.
    pub too_few: bool,
}

impl<'a> Discrete<'a> {
    /// Makes a test on data.
    pub fn new(data: &'a Coded, statistic: Statistic, rule: Rule) -> Self {
        Discrete { data, statistic, rule }
    }

    /// Returns the data.
    pub fn data(&self) -> &'a Coded {
        self.data
    }

    /// Returns the test's statistic.
    pub fn statistic(&self) -> Statistic {
        self.statistic
    }

    /// Returns the test's rule.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Returns the degrees of freedom by the declared levels.
    pub fn full_df(&self, x: usize, y: usize, s: &[u32]) -> f64 {
        (self.data.levels(x) as f64 - 1.0) * (self.data.levels(y) as f64 - 1.0) * self.data.domain(s)
    }

    /// Returns whether `n` samples are too few to compute the test.
    fn too_few(&self, n: f64, x: usize, y: usize, s: &[u32]) -> bool {
        match self.rule {
            Rule::Pcalg { .. } => n < 10.0 * self.full_df(x, y, s),
            Rule::Bnlearn { adapt: true } => {
                n < 5.0 * (self.data.levels(x) as f64 * self.data.levels(y) as f64 * self.data.domain(s))
            }
            Rule::Bnlearn { adapt: false } => false,
        }
    }

    /// Returns whether a test's p is 1 whatever the data, because even all samples are too few.
    pub fn surely_too_few(&self, x: usize, y: usize, s: &[u32]) -> bool {
        self.too_few(self.data.n() as f64, x, y, s)
    }

    /// Returns the sums over the table that the test of (x, y) needs; they equal those of a table of (y, x).
    pub fn summary(&self, x: usize, y: usize, table: &Table, margins: &mut Margins) -> Summary {
        table.summary(self.statistic, Order::of(x, y), margins)
    }

    /// Returns the outcome of the test on a table.
    pub fn outcome(&self, x: usize, y: usize, s: &[u32], table: &Summary) -> Outcome {
        let (statistic, df, too_few) = self.before_p(x, y, s, table);
        Outcome { statistic, df, p: upper_tail(statistic, df), too_few }
    }

    /// Returns the statistic, df, and whether there are too few samples.
    pub fn before_p(&self, x: usize, y: usize, s: &[u32], table: &Summary) -> (f64, f64, bool) {
        let full = self.full_df(x, y, s);
        let df = match self.rule {
            Rule::Pcalg { adapt: true } if !s.is_empty() => {
                let levels = self.data.levels(x) * self.data.levels(y);
                adapted_df(full, levels as f64, self.data.domain(s), s.len(), table.occupied as f64)
            }
            Rule::Bnlearn { adapt: true } => table.adjusted_df as f64,
            _ => full,
        };
        let too_few = self.too_few(table.n as f64, x, y, s);
        (if too_few { 0.0 } else { table.statistic }, df, too_few)
    }

    /// Runs the test of (x, y | s).
    pub fn test(&self, x: usize, y: usize, s: &[u32]) -> Outcome {
        self.test_with(x, y, s, &mut Counter::default(), &mut Margins::default())
    }

    /// Runs [`Discrete::test`] with reused working memory.
    pub fn test_with(&self, x: usize, y: usize, s: &[u32], counter: &mut Counter, margins: &mut Margins) -> Outcome {
        let mut outcome = Outcome { statistic: 0.0, df: 0.0, p: 1.0, too_few: true };
        counter.count(self.data, x as u32, s, &[y as u32], &mut |_, table| {
            outcome = self.outcome(x, y, s, &self.summary(x, y, table, margins));
        });
        outcome
    }

    /// Returns p of (x, y | s).
    pub fn p_value_of(&self, x: usize, y: usize, s: &[u32]) -> f64 {
        if self.surely_too_few(x, y, s) {
            1.0
        } else {
            self.test(x, y, s).p
        }
    }
}

impl CiTest for Discrete<'_> {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        Ok(self.p_value_of(x, y, s))
    }

    fn p_values(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        let (mut counter, mut margins) = (Counter::default(), Margins::default());
        let mut p = |x: usize, y: usize, s: &[u32]| match self.surely_too_few(x, y, s) {
            true => 1.0,
            false => self.test_with(x, y, s, &mut counter, &mut margins).p,
        };
        Ok(batch.iter().map(|(x, y, s)| p(x, y, s)).collect())
    }
}
