//! Edges that a search has removed or kept without an answer of a test.

use pcgpu_core::search::{Options, PairValues, Skeleton};

use crate::api::Call;
use crate::failure::Outcome;
use crate::output;
use crate::test::Test;
use crate::value::Value;

/// How many edges no test has decided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doubts {
    /// Removed by a rule of the test that asks for more observations.
    pub too_few: u64,
    /// Removed on fewer rows than a test of so many variables takes.
    pub few_rows: u64,
    /// Removed as the test had no answer, on rows enough.
    pub removed: u64,
    /// Kept, though the test of the two variables alone, or given one, has no answer.
    pub kept: u64,
    /// Tests of an R function that had no answer.
    pub tests: u64,
}

/// Where the largest p-values are.
pub enum LargestP<'a> {
    /// p x p.
    Square(&'a [f64]),
    /// Of the pairs that level 0 left.
    Left(&'a PairValues),
}

impl Doubts {
    /// Of a search that is done. `tests`: those of an R function without an answer.
    pub fn new(
        call: &Call,
        test: &Test,
        (found, options): (&Skeleton, &Options),
        largest: &LargestP,
        tests: u64,
    ) -> Outcome<Self> {
        let p = options.p;
        let no_answer = |p: f64| p == 1.0 || p.is_nan();
        let may_lack = |x: usize, y: usize| match largest {
            LargestP::Square(cells) => no_answer(cells[x * p + y]) || no_answer(cells[y * p + x]),
            LargestP::Left(left) => left.get(x, y).is_some_and(no_answer),
        };
        Ok(match test {
            Test::Discrete(test) => Doubts { too_few: test.too_few(&found.sepsets), ..Doubts::default() },
            Test::Mixed(test) => test.doubts(call, found, options, &may_lack)?,
            _ => Doubts { tests, ..Doubts::default() },
        })
    }

    /// Those of both.
    pub fn add(&mut self, other: &Doubts) {
        let Doubts { too_few, few_rows, removed, kept, tests } = *other;
        self.too_few += too_few;
        self.few_rows += few_rows;
        self.removed += removed;
        self.kept += kept;
        self.tests += tests;
    }

    /// The counts by name, as R/doubts.R has them.
    pub fn entry(&self) -> (&'static str, Value) {
        let Doubts { too_few, few_rows, removed, kept, tests } = *self;
        let of = [("too_few", too_few), ("few_rows", few_rows), ("removed", removed), ("kept", kept), ("tests", tests)];
        let counts = output::named(of.into_iter().map(|(name, count)| (name, Value::from(count as f64))).collect());
        ("doubts", counts)
    }
}
