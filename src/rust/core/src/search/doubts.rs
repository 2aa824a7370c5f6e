//! Edges that a search has removed or kept without an answer from a test.

use std::sync::Mutex;

use super::{Method, Options, PairValues, Skeleton};
use crate::ci::discrete::Discrete;
use crate::ci::mixed::{Mixed, Work};
use crate::graph::SepSets;
use crate::observer::Observer;
use crate::pool::{Pool, Stop};
use crate::Result;

/// Number of variables from which threads share the checks after a search.
const SHARED: usize = 64;

/// Numbers of edges that no test has decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// Edges removed by a rule of the test that asks for more observations.
    pub too_few: u64,
    /// Edges removed on fewer rows than a test of that many variables takes.
    pub few_rows: u64,
    /// Edges removed because the test had no answer, on enough rows.
    pub removed: u64,
    /// Edges kept although the test of the two variables alone, or given one other, has no answer.
    pub kept: u64,
    /// Tests of a caller's function that had no answer.
    pub tests: u64,
}

/// The largest p-values of a search.
pub enum LargestP<'a> {
    /// Values of all pairs, p x p.
    Square(&'a [f64]),
    /// Values of the pairs that level 0 left.
    Left(&'a PairValues),
}

impl LargestP<'_> {
    /// Returns whether the largest p of a pair may come from a test without an answer. `p` is the number of variables.
    fn may_lack(&self, p: usize, x: usize, y: usize) -> bool {
        let no_answer = |p: f64| p == 1.0 || p.is_nan();
        match self {
            LargestP::Square(cells) => no_answer(cells[x * p + y]) || no_answer(cells[y * p + x]),
            LargestP::Left(left) => left.get(x, y).is_some_and(no_answer),
        }
    }
}

impl Doubts {
    /// Counts the pairs that a test of discrete variables separated on too few samples.
    pub fn of_discrete(test: &Discrete, sepsets: &SepSets) -> Self {
        let too_few = |x: usize, y: u32, s: &[u32]| {
            test.surely_too_few(x, y as usize, s) || (test.data().any_missing() && test.test(x, y as usize, s).too_few)
        };
        let of_row = |x: usize| sepsets.row(x).filter(|&(y, s)| too_few(x, y, s)).count() as u64;
        Doubts { too_few: (0..sepsets.p()).map(of_row).sum(), ..Doubts::default() }
    }

    /// Counts the edges that no test of mixed data has decided.
    ///
    /// # Errors
    /// Any error of the observer.
    pub fn of_mixed(
        test: &Mixed,
        (found, options): (&Skeleton, &Options),
        largest: &LargestP,
        pool: &Pool,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        let p = options.p;
        let missing = test.missing();
        let any_few = missing.iter().any(|&missing| missing > 0.0) || test.n() < found.tests.len() as f64 + 3.0;
        let all = Mutex::new(Doubts::default());
        let of_row = |work: &mut Work, x: usize, _: &Stop| {
            let mut doubts = Doubts::default();
            let mut look = |y: u32, s: &[u32]| {
                if any_few && is_few(test, &missing, [x, y as usize], s, work) {
                    doubts.few_rows += 1;
                } else if largest.may_lack(p, x, y as usize) {
                    let is_missing = test.p_value(x, y as usize, s, work).is_nan();
                    doubts.removed += u64::from(is_missing);
                    doubts.too_few += u64::from(work.too_few());
                }
            };
            found.sepsets.row(x).for_each(|(y, s)| look(y, s));
            if options.method == Method::StableFast {
                // A pair without an answer at level 0 has no set.
                let is_gap = |y: usize| options.fixed_gaps.as_ref().is_some_and(|gaps| gaps.has(x, y));
                let gone = |y: &usize| !found.graph.has(x, *y) && !is_gap(*y);
                let unset = |y: &usize| found.sepsets.get(x, *y).or_else(|| found.sepsets.get(*y, x)).is_none();
                (x + 1..p).filter(gone).filter(unset).for_each(|y| look(y as u32, &[]));
            }
            if !options.na_delete {
                // Only tests with no or one given variable are checked, as they are quick. None of them can have removed the edge.
                let given_one = found.tests.len() > 1;
                let mut is_kept = |y: usize| {
                    let mut unknown = |s: &[u32]| test.p_value(x, y, s, work).is_nan();
                    let mut near = [x, y].into_iter().flat_map(|vertex| found.graph.neighbours(vertex));
                    unknown(&[]) || given_one && near.any(|z| z as usize != x && z as usize != y && unknown(&[z]))
                };
                let others = found.graph.neighbours_above(x).map(|y| y as usize).filter(|&y| !options.is_fixed(x, y));
                doubts.kept += others.filter(|&y| is_kept(y)).count() as u64;
            }
            if let Ok(mut all) = all.lock() {
                all.add(&doubts);
            }
        };
        pool.run(p, p < SHARED, |_| 1.0, &mut |_| observer.look(), of_row)?;
        Ok(all.into_inner().unwrap_or_default())
    }

    fn add(&mut self, other: &Doubts) {
        let Doubts { too_few, few_rows, removed, kept, tests } = *other;
        self.too_few += too_few;
        self.few_rows += few_rows;
        self.removed += removed;
        self.kept += kept;
        self.tests += tests;
    }
}

/// Returns whether too few rows have all values of a test. Fisher's z with k given variables takes k + 4 rows.
fn is_few(test: &Mixed, missing: &[f64], [x, y]: [usize; 2], s: &[u32], work: &mut Work) -> bool {
    let needed = s.len() as f64 + 4.0;
    // Rows are counted only if the missing values of all variables together could be enough to matter.
    let all = [x, y].into_iter().chain(s.iter().map(|&variable| variable as usize));
    let least = test.n() - all.map(|variable| missing.get(variable).copied().unwrap_or(0.0)).sum::<f64>();
    least < needed && test.rows(x, y, s, work) < needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::discrete::{Coded, Rule, Statistic};
    use crate::ci::mixed::{Frame, Given, Holes, Rules, Values};
    use crate::graph::{Adjacency, Side};
    use crate::matrix::by_column;
    use crate::observer::Unobserved;

    const RULES: Rules = Rules { adapt: false, ask_for_rows: false, constant_is_missing: true };

    /// Four variables: x and y share three rows, z is constant, w has all rows.
    fn frame() -> Frame {
        let hole = f64::NAN;
        let x = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0, hole, hole, hole];
        let y = [hole, hole, hole, 3.0, 1.0, 4.0, 1.0, 5.0, 9.0];
        let (z, w) = ([2.0; 9], [2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0, 2.0]);
        let given = |values| Given { levels: 0, versions: vec![Values::Numbers(values)] };
        Frame::new(9, 1, &[given(&x), given(&y), given(&z), given(&w)]).unwrap()
    }

    fn skeleton(edges: &[[usize; 2]], separated: &[[usize; 2]]) -> Skeleton {
        let mut graph = Adjacency::empty(4);
        edges.iter().for_each(|&[x, y]| graph.insert(x, y));
        let mut sepsets = SepSets::new(4, Side::Smaller);
        separated.iter().for_each(|&[x, y]| sepsets.insert_empty(x, y));
        Skeleton { graph, sepsets, tests: vec![6], max_order: 0, exact_tests: 0, ended: None, unkept: None }
    }

    fn count(found: &Skeleton, options: &Options) -> Doubts {
        let test = Mixed::new(frame(), Holes::TestWise, RULES).unwrap();
        let largest = LargestP::Square(&[1.0; 16]);
        Doubts::of_mixed(&test, (found, options), &largest, &Pool::none(), &mut Unobserved).unwrap()
    }

    #[test]
    fn pairs_without_rows_and_without_an_answer_are_counted() {
        let found = skeleton(&[[1, 2]], &[[0, 1], [0, 2], [2, 3], [0, 3]]);
        let options = Options::new(4, 0.05);
        assert_eq!(count(&found, &options), Doubts { few_rows: 1, removed: 2, ..Doubts::default() });
        let keeping = Options { na_delete: false, ..options };
        assert_eq!(count(&found, &keeping), Doubts { few_rows: 1, removed: 2, kept: 1, ..Doubts::default() });
        let mut fixed = Adjacency::empty(4);
        fixed.insert(1, 2);
        assert_eq!(count(&found, &Options { fixed_edges: Some(fixed), ..keeping }).kept, 0);
    }

    #[test]
    fn stable_fast_has_no_sets_of_pairs_without_an_answer() {
        let found = skeleton(&[[1, 2], [1, 3]], &[[0, 1], [0, 3], [2, 3]]);
        let options = Options { method: Method::StableFast, ..Options::new(4, 0.05) };
        // Pair 0, 2 has no set.
        assert_eq!(count(&found, &options).removed, 2);
        let mut gap = Adjacency::empty(4);
        gap.insert(0, 2);
        assert_eq!(count(&found, &Options { fixed_gaps: Some(gap), ..options }).removed, 1);
    }

    #[test]
    fn levels_of_too_few_samples_are_counted() {
        let codes = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1];
        let data = Coded::of_any_codes(by_column(&codes, 3).unwrap(), None, false, false, &Pool::none()).unwrap();
        let test = Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt: false });
        let mut sepsets = SepSets::new(3, Side::Smaller);
        sepsets.insert_empty(0, 1);
        assert_eq!(Doubts::of_discrete(&test, &sepsets).too_few, 1);
        assert_eq!(Doubts::of_discrete(&test, &SepSets::new(3, Side::Smaller)), Doubts::default());
    }
}
