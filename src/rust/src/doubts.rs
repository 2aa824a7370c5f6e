//! Edges that a search has removed or kept without an answer of a test.

use std::sync::Mutex;

use pcgpu_core::ci::mixed::{Mixed, Work};
use pcgpu_core::observer::Observer;
use pcgpu_core::pool::Stop;
use pcgpu_core::search::{Method, Options, PairValues, Skeleton};

use crate::call::Call;
use crate::failure::Outcome;
use crate::mixed::MixedTest;
use crate::output;
use crate::test::Test;
use crate::value::Value;

/// Variables from which threads share what is looked at after a search.
const SHARED: usize = 64;

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
            Test::Mixed(test) => of_mixed(test, call, found, options, &may_lack)?,
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

/// Which edges no test has decided. `may_lack`: whether the largest p of a pair may be that of a test without an answer.
fn of_mixed(
    test: &MixedTest,
    call: &Call,
    found: &Skeleton,
    options: &Options,
    may_lack: &(dyn Fn(usize, usize) -> bool + Sync),
) -> Outcome<Doubts> {
    let (p, pool, mut observer) = (test.p(), &call.machine.pool, call.observer());
    let test = test.test(pool, &mut |_| observer.look())?;
    let missing = test.missing();
    let any_few = missing.iter().any(|&missing| missing > 0.0) || test.n() < found.tests.len() as f64 + 3.0;
    let all = Mutex::new(Doubts::default());
    let of_row = |work: &mut Work, x: usize, _: &Stop| {
        let mut doubts = Doubts::default();
        let mut look = |y: u32, s: &[u32]| {
            if any_few && is_few(&test, &missing, [x, y as usize], s, work) {
                doubts.few_rows += 1;
            } else if may_lack(x, y as usize) {
                let is_missing = test.p_value(x, y as usize, s, work).is_nan();
                doubts.removed += u64::from(is_missing);
                doubts.too_few += u64::from(work.too_few());
            }
        };
        found.sepsets.row(x).for_each(|(y, s)| look(y, s));
        if options.method == Method::StableFast {
            // Without an answer at level 0 there is no set.
            let is_gap = |y: usize| options.fixed_gaps.as_ref().is_some_and(|gaps| gaps.has(x, y));
            let gone = |y: &usize| !found.graph.has(x, *y) && !is_gap(*y);
            let unset = |y: &usize| found.sepsets.get(x, *y).or_else(|| found.sepsets.get(*y, x)).is_none();
            (x + 1..p).filter(gone).filter(unset).for_each(|y| look(y as u32, &[]));
        }
        if !options.na_delete {
            let is_fixed = |y: usize| options.fixed_edges.as_ref().is_some_and(|edges| edges.has(x, y));
            // Of the tests that cannot have removed it those of no or one variable are looked at, which are quickly done.
            let given_one = found.tests.len() > 1;
            let mut is_kept = |y: usize| {
                let mut unknown = |s: &[u32]| test.p_value(x, y, s, work).is_nan();
                let mut near = [x, y].into_iter().flat_map(|vertex| found.graph.neighbours(vertex));
                unknown(&[]) || given_one && near.any(|z| z as usize != x && z as usize != y && unknown(&[z]))
            };
            let others = found.graph.neighbours(x).map(|y| y as usize).filter(|&y| x < y && !is_fixed(y));
            doubts.kept += others.filter(|&y| is_kept(y)).count() as u64;
        }
        if let Ok(mut all) = all.lock() {
            all.add(&doubts);
        }
    };
    let told = pool.run(p, p < SHARED, |_| 1.0, &mut |_| observer.look(), of_row);
    told.map_err(|error| call.token.explain(error))?;
    Ok(all.into_inner().unwrap_or_default())
}

/// Whether the rows that have all values of a test are fewer than Fisher's z of k given variables takes, k + 4.
fn is_few(test: &Mixed, missing: &[f64], [x, y]: [usize; 2], s: &[u32], work: &mut Work) -> bool {
    let needed = s.len() as f64 + 4.0;
    // Rows are counted only where the holes of the variables together are enough to matter.
    let all = [x, y].into_iter().chain(s.iter().map(|&variable| variable as usize));
    let least = test.n() - all.map(|variable| missing.get(variable).copied().unwrap_or(0.0)).sum::<f64>();
    least < needed && test.rows(x, y, s, work) < needed
}
