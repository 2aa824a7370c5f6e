//! Results for pairs of level 1, from the GPU to the search.

use std::ops::Range;

use super::cut::Ends;
use crate::engine::cuda::arguments::{Report, SECOND, VERDICT_OPEN};
use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::search::pairs::{bytes_of_verdict, verdicts_into_bytes, Decided, LevelReport, Take};
use crate::search::singly;
use crate::{Error, Result};

/// Verdicts that a thread turns into bytes at a time.
const TOGETHER: usize = 1 << 16;

/// Results for the pairs of some rows with larger vertices, in their order. A pair that waits has [`VERDICT_OPEN`].
pub(super) struct Found {
    rows: Range<usize>,
    verdicts: Vec<u32>,
    values: Vec<f64>,
}

impl Found {
    /// Creates a `Found` without rows; `row` is the first that it may get.
    pub fn at(row: usize) -> Self {
        Found { rows: row..row, verdicts: Vec::new(), values: Vec::new() }
    }

    /// Adds the next rows, which have `count` pairs. Returns the room for their verdicts and values.
    pub fn extend(&mut self, rows: &Range<usize>, count: usize) -> Result<(&mut [u32], &mut [f64])> {
        let known = self.verdicts.len();
        memory::room(count * (size_of::<u32>() + size_of::<f64>()), Use::Level)?;
        self.verdicts.resize(known + count, 0);
        self.values.resize(known + count, 0.0);
        self.rows.end = rows.end;
        Ok((&mut self.verdicts[known..], &mut self.values[known..]))
    }

    /// Enters the results of the pairs of `rows` that waited, in their order. Those of row i are at starts[i] to starts[i + 1] - 1, less
    /// starts[0].
    pub fn close(
        &mut self,
        pool: &Pool,
        ends: &Ends,
        rows: Range<usize>,
        starts: &[u64],
        (verdicts, values): (&[u32], &[f64]),
    ) {
        let place = |i: usize| (starts[i] - starts[0]) as usize;
        let before = ends.of_rows(&(self.rows.start..rows.start)) as usize;
        let mut rest = (&mut self.verdicts[before..], &mut self.values[before..]);
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
}

/// Transfer of results to the search.
pub(super) struct Handing<'t> {
    take: Take<'t>,
    p: usize,
    pool: Pool,
    /// Counts in the results that were passed on.
    counted: LevelReport,
    bytes: Vec<u8>,
}

impl<'t> Handing<'t> {
    /// Creates a `Handing` that passes the results of a search of p variables to `take`.
    pub fn new(take: Take<'t>, p: usize, pool: Pool) -> Self {
        Handing { take, p, pool, counted: LevelReport::default(), bytes: Vec::new() }
    }

    /// Passes `found` on and empties it; `report` is the GPU's report after it.
    pub fn hand(&mut self, found: &mut Found, ends: &Ends, report: &Report) -> Result<()> {
        let Found { rows, verdicts, values } = found;
        debug_assert_eq!(ends.of_rows(rows) as usize, verdicts.len());
        let counted = LevelReport {
            tests: report.tests - self.counted.tests,
            exact_tests: report.exact - self.counted.exact_tests,
            go_on: report.go_on != 0,
        };
        self.counted.add(&counted);
        let (p, each) = (self.p, bytes_of_verdict(self.p));
        self.bytes.resize(each * verdicts.len(), 0);
        let parts = self.bytes.chunks_mut(each * TOGETHER).zip(verdicts.chunks(TOGETHER)).collect();
        self.pool.each_of(parts, |_, (bytes, verdicts): (&mut [u8], &[u32])| verdicts_into_bytes(p, verdicts, bytes));
        // SAFETY: doubles are bytes, in the order of this machine. Every machine with a GPU is little-endian.
        let of_values =
            unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values.as_slice())) };
        let decided = Decided { rows: rows.clone(), counted, verdicts: &self.bytes, values: of_values };
        if !(self.take)(&decided)? {
            return Err(Error::Interrupted);
        }
        verdicts.clear();
        values.clear();
        rows.start = rows.end;
        Ok(())
    }
}

// Kernels write verdicts in the form in which they are read.
const _: () = assert!(SECOND == singly::SECOND && VERDICT_OPEN == singly::NO_SEPARATOR);
