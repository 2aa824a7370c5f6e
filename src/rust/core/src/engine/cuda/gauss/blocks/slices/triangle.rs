//! Level 1 of sparse graphs by slices of the upper triangle, see kernels/gauss/triangles.cu. Half of the matrix crosses once, and all pairs
//! wait.

use std::ops::Range;

use super::cut::{Cut, Ends, Own, AT_ONCE, FOUND, LEAST, STATE};
use super::waiting::portions;
use super::{on_rows, with_rows, Level, Progress};
use crate::engine::cuda::arguments::{SliceArgs, SLICE_THREADS};
use crate::engine::cuda::gauss::blocks::{cells_of, hash, Blocks};
use crate::engine::cuda::gauss::rows::Panel;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::Held;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::{blocks_on, USUAL_THREADS};
use crate::observer::Observer;
use crate::search::pairs::{PairLevel, PairRows};
use crate::Result;

/// Most tests for each cell of the matrix with which triangles are used. With more, the tests take longer than the other half of the
/// matrix: they are in double precision and read scattered numbers.
const TESTS_OF_CELL: f64 = 16.0;

/// Most tests of a launch: about 0.1 s.
const TESTS: f64 = 1e10;

/// Most cells of a slice, unless the caller sets its rows: more are no quicker.
const MOST_CELLS: usize = 16 << 20;

/// Fewest slices, if there are enough rows: one crosses while the one before is worked on.
const SLICES: usize = 8;

/// Cut of the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Triangle {
    pub slices: Vec<Range<usize>>,
    /// Cells that there is room for, at each of two places.
    pub cells: usize,
    /// Pairs whose correlations are sent, or whose results are copied, at a time.
    pub panel: u64,
}

impl Triangle {
    /// Cuts the level within `room` bytes, with slices of at most `most` variables. With `wished`, slices have `most` variables if there is
    /// room. Returns `None` if the level does not fit.
    pub fn new(ends: &Ends, room: u64, most: usize, wished: bool) -> Option<Self> {
        let p = ends.all.len() - 1;
        let panel = ends.pairs().min(AT_ONCE).max(ends.most_of_row());
        let empty = Triangle { slices: Vec::new(), cells: 0, panel };
        let left = room.checked_sub(empty.bytes(ends).iter().sum::<u64>() + 256)?;
        let least = p * p.min(LEAST);
        let wanted = if wished { usize::MAX } else { MOST_CELLS.min(p * p / 2 / SLICES) };
        let cells = ((left / 16) as usize).min(wanted.max(least)).min(p * p);
        if cells < least {
            return None;
        }
        let most = most.max(1).next_multiple_of(LEAST);
        let mut slices = Vec::new();
        let mut first = 0;
        while first < p {
            // The last slice may have any number of rows.
            let fitting = cells / (p - first);
            let rows = if fitting < p - first { fitting / LEAST * LEAST } else { p - first };
            let end = p.min(first + rows.max(LEAST).min(most));
            slices.push(first..end);
            first = end;
        }
        let cells = slices.iter().map(|slice| slice.len() * (p - slice.start)).max().unwrap_or(0);
        Some(Triangle { slices, cells, panel })
    }

    /// Returns the bytes of the allocations: slices, states, numbers of open pairs, verdicts, values.
    pub fn bytes(&self, ends: &Ends) -> [u64; 5] {
        let (pairs, p) = (ends.pairs(), ends.all.len() as u64 - 1);
        let found = 2 * self.panel;
        let bytes = [16 * self.cells as u64, (STATE - 4) * pairs + 4 * p, 4 * pairs, 4 * found, (FOUND - 4) * found];
        bytes.map(|bytes| bytes.max(256).next_multiple_of(256))
    }
}

/// Returns the number of tests of both sides of all pairs, by the vertices' degrees, if none is separated.
fn tests_of(degrees: &[usize]) -> f64 {
    degrees.iter().map(|&degree| (degree as f64).powi(2)).sum()
}

/// Returns whether vertices with these degrees have few enough tests for triangles.
pub(super) fn serves(degrees: &[usize]) -> bool {
    tests_of(degrees) <= TESTS_OF_CELL * (degrees.len() as f64).powi(2)
}

impl Blocks<'_, '_> {
    /// Decides all pairs.
    pub(super) fn run_triangles(
        &mut self,
        triangle: Triangle,
        of: &PairLevel,
        ends: Ends,
        into: &mut PairRows,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let p = self.gauss.p;
        let tests = tests_of(&ends.degrees());
        let cut = Cut { width: 0, keeps_all: false, rows: p, panel: triangle.panel, kept: 0 };
        let mut level = Level { number: 0, cut, ends, own: Own::Pairs, there: Vec::new() };
        self.search.reset_report(0)?;
        let held = &mut self.search.engine.held;
        let pairs: DevicePtr<[u64; 3]> = held.device(Buffer::Slots)?.cast();
        let args = SliceArgs {
            a: self.search.args,
            pairs,
            open: held.device(Buffer::List)?,
            first: self.search.args.first_record,
            left: pairs.offset(level.ends.pairs()).cast(),
            ..SliceArgs::default()
        };
        let mut progress = Progress { done: 0.0, total: triangle.slices.len() as f64 };
        self.begin_states(&mut level, of, args, observer)?;
        let slices = &triangle.slices;
        let base: DevicePtr<f64> = self.search.engine.held.device(Buffer::Data)?.cast();
        let launches = tests / slices.len() as f64 / TESTS / self.search.engine.options.launch_share;
        let each = (level.ends.pairs() as f64 / launches.max(1.0)).ceil() as u64;
        let parts = portions(&level.ends.larger, each);
        let panels: Vec<Panel> = slices
            .iter()
            .enumerate()
            .map(|(turn, rows)| {
                let at = base.offset((turn % 2 * triangle.cells) as u64);
                Panel { columns: rows.start..p, rows: rows.clone(), at, ..Panel::default() }
            })
            .collect();
        let (cells, held) = (cells_of(&self.gauss, &self.data), &mut self.search.engine.held);
        let mut all = |_: &mut Held, _: &Panel, _: &mut dyn Observer| Ok(DevicePtr::NULL);
        self.state.rows.make_each(held, (cells, p), &panels, observer, &mut all, &mut |held, turn, observer| {
            let Panel { rows: slice, at, .. } = panels[turn].clone();
            held.piece(slice.len());
            let here = SliceArgs {
                rows: at,
                first_column: slice.start as u64,
                pitch: (p - slice.start) as u64,
                first_z: slice.start as u64,
                end_z: slice.end as u64,
                ..args
            };
            let gpu = held.gpu.clone();
            // The next slice goes where the previous one was.
            gpu.sends_follow()?;
            gpu.follow_sends()?;
            hash(&gpu, &here)?;
            for rows in &parts {
                let here = with_rows(here, rows);
                let blocks = blocks_on(&gpu, rows.len() as u64);
                // SAFETY: the slice and all pairs are there; each row has its own pairs, with room for as many numbers.
                unsafe {
                    on_rows(&gpu, Kernel::triangle_tests, SLICE_THREADS, &here)?;
                    gpu.launch(Kernel::slice_pack.on((blocks, 1), USUAL_THREADS, 0), &here)?;
                }
                if parts.len() > 1 {
                    // Each launch takes about 0.1 s.
                    held.wait("level 1", &mut || observer.look())?;
                }
            }
            progress.step(1.0, observer)
        })?;
        self.search.engine.held.wait("level 1", &mut || observer.look())?;
        self.bring_pairs(&level, args, into, observer)?;
        let report = self.search.report("level 1", &mut || observer.look())?;
        if self.state.lower != Some(report.above) {
            return Err(self.asymmetric());
        }
        self.state.is_symmetric = true;
        super::count(into, &report);
        Ok(())
    }

    /// Sends the pairs' own correlations, and initialises the pairs' states before the first slice.
    fn begin_states(
        &mut self,
        level: &mut Level,
        of: &PairLevel,
        args: SliceArgs,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let p = self.gauss.p;
        let (mut rows, mut turn) = (level.cut.panel_from(0, p, &level.ends), 0);
        self.send_own(&rows, turn, level, of, observer)?;
        loop {
            let at = self.search.engine.held.device(Buffer::PMax)?.offset(turn as u64 * level.cut.panel);
            let here = SliceArgs { values: at.before(level.ends.larger[rows.start]), ..args };
            self.search.engine.held.gpu.follow_sends()?;
            // SAFETY: the correlations of the pairs of these rows are sent, and there is room for the states of all pairs.
            unsafe {
                on_rows(&self.search.engine.held.gpu, Kernel::slice_begin, SLICE_THREADS, &with_rows(here, &rows))?
            };
            let next = (rows.end < p).then(|| level.cut.panel_from(rows.end, p, &level.ends));
            if let Some(next) = &next {
                self.send_own(next, 1 - turn, level, of, observer)?;
            }
            self.search.engine.held.wait("level 1", &mut || observer.look())?;
            let Some(next) = next else { return Ok(()) };
            (rows, turn) = (next, 1 - turn);
        }
    }

    /// Copies the results of all pairs to the host.
    fn bring_pairs(
        &mut self,
        level: &Level,
        args: SliceArgs,
        into: &mut PairRows,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let p = self.gauss.p;
        let mut before: Option<(Range<usize>, usize)> = None;
        let (mut first, mut turn) = (0, 0);
        while first < p || before.is_some() {
            let rows = (first < p).then(|| level.cut.panel_from(first, p, &level.ends));
            if let Some(rows) = &rows {
                let here = SliceArgs { out_before: level.ends.larger[rows.start], ..args };
                let here = with_rows(self.with_found(turn, level, here)?, rows);
                // SAFETY: all pairs are closed, and there is room for the results of a panel's pairs.
                unsafe { on_rows(&self.search.engine.held.gpu, Kernel::slice_settle, USUAL_THREADS, &here)? };
            }
            if let Some((before, turn)) = before.take() {
                self.bring_panel(&before, turn, level, into, observer)?;
            }
            self.search.engine.held.wait("level 1", &mut || observer.look())?;
            first = rows.as_ref().map_or(p, |rows| rows.end);
            before = rows.map(|rows| (rows, turn));
            turn = 1 - turn;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_in_one_slice_that_fits() {
        for (p, degree) in [(2, 1), (65, 3), (300, 7), (1500, 20), (40_000, 400)] {
            let of_rows = |each: u64| (0..=p as u64).map(|x| x * each / 2).collect();
            let ends = Ends { all: of_rows(2 * degree), larger: of_rows(degree) };
            let mut largest = 0;
            for room in (0..32).map(|k| (60_000u64 << k >> (k / 2)) + k % 3) {
                for (most, wished) in [(1, true), (100, true), (usize::MAX / 2, false)] {
                    let Some(found) = Triangle::new(&ends, room, most, wished) else { continue };
                    assert!(found.bytes(&ends).iter().sum::<u64>() <= room, "{p} {room} {found:?}");
                    let mut first = 0;
                    for slice in &found.slices {
                        assert!(slice.start == first && slice.start % LEAST == 0 && !slice.is_empty());
                        assert!(slice.len() * (p - slice.start) <= found.cells);
                        assert!(slice.len() <= most.next_multiple_of(LEAST));
                        first = slice.end;
                    }
                    assert_eq!(first, p);
                    assert!(found.panel >= ends.most_of_row());
                    largest = largest.max(found.cells);
                }
            }
            assert!(largest >= p * p.min(LEAST), "{p}");
        }
    }

    #[test]
    fn triangles_are_for_sparse_graphs() {
        assert!(serves(&[400; 40_000]) && serves(&[200; 10_000]) && !serves(&[5_000; 10_000]) && !serves(&[99; 100]));
    }
}
