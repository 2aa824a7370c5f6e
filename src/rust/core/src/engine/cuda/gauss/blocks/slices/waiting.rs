//! Pairs that wait for further slices.

use std::ops::Range;

use super::cut::Ends;
use super::{on_rows, with_rows, Level, Progress, SLICED_TESTS};
use crate::engine::cuda::arguments::{SliceArgs, SLICE_THREADS, VERDICT_OPEN};
use crate::engine::cuda::gauss::blocks::Blocks;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::search::USUAL_THREADS;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::pairs::PairRows;
use crate::Result;

impl Blocks<'_, '_> {
    /// Streams all slices but the first past the waiting pairs of `rows`, and copies their results.
    pub(super) fn pass_slices(
        &mut self,
        rows: &Range<usize>,
        level: &mut Level,
        (args, checks): (SliceArgs, bool),
        into: &mut PairRows,
        progress: &mut Progress,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let p = self.gauss.p;
        let mut starts = vec![0u64; rows.len() + 1];
        self.search.engine.held.fetch(args.kept_first.offset(rows.start as u64), &mut starts, "level 1")?;
        let kept = starts[rows.len()];
        if kept == 0 && !checks {
            return Ok(());
        }
        let waiting = SliceArgs {
            pairs: args.kept_pairs,
            open: args.kept_open,
            first: args.kept_first,
            before: 0,
            left: args.kept_left,
            ..args
        };
        let slices = level.slices(p);
        let share = level.ends.of_rows(rows) as f64;
        let launches = kept as f64 * level.cut.width as f64 / SLICED_TESTS;
        let launches = (launches / self.search.engine.options.launch_share).ceil().max(1.0);
        let each = (kept as f64 / launches).ceil() as u64;
        self.bring_slice(&slices[1], 1, level, observer)?;
        for (turn, slice) in slices.iter().enumerate().skip(1) {
            let here = self.open_slice(slice, turn, level, checks, waiting)?;
            let mut next = slices.get(turn + 1);
            for some in portions(&starts, each) {
                let some = rows.start + some.start..rows.start + some.end;
                let here = with_rows(here, &some);
                let blocks = self.search.blocks_for(some.len() as u64);
                // SAFETY: the slice is there, and so are the waiting pairs; each row has its own.
                unsafe {
                    on_rows(&self.search.engine.held.gpu, Kernel::slice_tests, SLICE_THREADS, &here)?;
                    self.search.engine.held.gpu.launch(Kernel::slice_pack.on((blocks, 1), USUAL_THREADS, 0), &here)?;
                }
                if let Some(next) = next.take() {
                    self.bring_slice(next, turn + 1, level, observer)?;
                }
                self.search.engine.held.wait("level 1", &mut || observer.look())?;
            }
            progress.step(share, observer)?;
        }
        self.end_waiting(rows, &starts, level, waiting, into, observer)
    }

    /// Copies the results of the pairs that waited; the pairs of each row start at `starts`.
    fn end_waiting(
        &mut self,
        rows: &Range<usize>,
        starts: &[u64],
        level: &Level,
        waiting: SliceArgs,
        into: &mut PairRows,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let held = &mut self.search.engine.held;
        let (verdict, values) = (held.device(Buffer::Verdicts)?, held.device(Buffer::PMax)?);
        let place =
            |turn: usize| (verdict.offset(turn as u64 * level.cut.panel), values.offset(turn as u64 * level.cut.panel));
        let mut before: Option<(Range<usize>, usize)> = None;
        // Memory that was touched before is quicker than fresh memory.
        let most = level.cut.panel as usize;
        let mut own: (Vec<u32>, Vec<f64>) = (memory::zeros(most, Use::Level)?, memory::zeros(most, Use::Level)?);
        let some = portions(starts, level.cut.panel);
        for (at, some) in some.into_iter().map(Some).chain([None]).enumerate() {
            let turn = at % 2;
            if let Some(some) = &some {
                let (verdict, values) = place(turn);
                let here = SliceArgs { verdict, values, out_before: starts[some.start], ..waiting };
                let here = with_rows(here, &(rows.start + some.start..rows.start + some.end));
                // SAFETY: all pairs are closed, and there is room for the results of a panel's pairs.
                unsafe { on_rows(&self.search.engine.held.gpu, Kernel::slice_settle, USUAL_THREADS, &here)? };
            }
            if let Some((before, turn)) = before.take() {
                let count = (starts[before.end] - starts[before.start]) as usize;
                let (verdict, values) = place(turn);
                let held = &mut self.search.engine.held;
                let to = (&mut own.0[..count], &mut own.1[..count]);
                held.bring_into(verdict, to.0, &mut || observer.look())?;
                held.bring_into(values, to.1, &mut || observer.look())?;
                let vertices = rows.start + before.start..rows.start + before.end;
                let starts = &starts[before.start..=before.end];
                close(into, &held.pool, &level.ends, vertices, starts, (to.0, to.1));
            }
            self.search.engine.held.wait("level 1", &mut || observer.look())?;
            before = some.map(|some| (some, turn));
        }
        Ok(())
    }
}

/// Enters the results of the pairs of `rows` that waited, in their order. Those of row i are at starts[i] to starts[i + 1] - 1, less
/// starts[0].
fn close(
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

/// Splits rows into portions of up to `each` pairs, or of one row. Row i has the pairs from starts[i] to starts[i + 1] - 1.
pub(super) fn portions(starts: &[u64], each: u64) -> Vec<Range<usize>> {
    let (mut portions, mut first) = (Vec::new(), 0);
    while first + 1 < starts.len() {
        let fitting = starts[first + 1..].partition_point(|&end| end - starts[first] <= each).max(1);
        portions.push(first..first + fitting);
        first += fitting;
    }
    portions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_have_all_rows_and_few_pairs() {
        let starts = [0, 0, 5, 5, 9, 30, 31, 31];
        for each in 0..40 {
            let found = portions(&starts, each);
            assert_eq!(found.iter().map(|some| some.len()).sum::<usize>(), 7);
            assert!(found.windows(2).all(|two| two[0].end == two[1].start));
            assert!(found.iter().all(|some| some.len() == 1 || starts[some.end] - starts[some.start] <= each));
        }
        assert!(portions(&[3], 1).is_empty());
    }
}
