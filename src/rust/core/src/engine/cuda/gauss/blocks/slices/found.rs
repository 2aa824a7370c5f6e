//! Results for pairs of level 1, on their way from the GPU to the search.

use std::ops::Range;

use super::cut::Ends;
use crate::engine::cuda::arguments::{Report, SECOND, VERDICT_OPEN};
use crate::pool::Pool;
use crate::search::pairs::{LevelReport, PairRows};
use crate::search::singly;

/// Enters the results of the pairs of `rows` that waited, in their order. Those of row i are at starts[i] to starts[i + 1] - 1, less
/// starts[0].
pub(super) fn close(
    into: &mut PairRows,
    pool: &Pool,
    ends: &Ends,
    rows: Range<usize>,
    starts: &[u64],
    (verdicts, values): (&[u32], &[f64]),
) {
    let place = |i: usize| (starts[i] - starts[0]) as usize;
    let before = ends.of_rows(&(into.rows.start..rows.start)) as usize;
    let mut rest = (&mut into.verdicts[before..], &mut into.values[before..]);
    let mut parts = Vec::with_capacity(rows.len());
    for x in rows {
        let count = ends.of_rows(&(x..x + 1)) as usize;
        let (own, later) = rest.0.split_at_mut(count);
        let (own_values, later_values) = rest.1.split_at_mut(count);
        parts.push((own, own_values));
        rest = (later, later_values);
    }
    pool.each_of(parts, |i, (own, own_values): (&mut [u32], &mut [f64])| {
        let open = own.iter_mut().zip(own_values).filter(|(verdict, _)| **verdict == VERDICT_OPEN);
        for ((verdict, value), found) in open.zip(place(i)..) {
            (*verdict, *value) = (verdicts[found], values[found]);
        }
    });
}

/// Enters the counts of all rows, from the GPU's report.
pub(super) fn count(into: &mut PairRows, report: &Report) {
    into.counted.add(&LevelReport { tests: report.tests, exact_tests: report.exact, go_on: report.go_on != 0 });
}

// Kernels write verdicts in the form in which they are read.
const _: () = assert!(SECOND == singly::SECOND && VERDICT_OPEN == singly::NO_SEPARATOR);
