//! The pairs' own correlations.

use std::ops::Range;

use super::cut::{Cut, Ends, Own, GATHERING};
use super::{on_rows, with_rows, Level};
use crate::engine::cuda::arguments::{SliceArgs, SLICE_THREADS};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::held::Held;
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::gauss::blocks::marginal::too_little;
use crate::engine::cuda::gauss::blocks::{cells_of, BlockSearch};
use crate::engine::cuda::gauss::rows::{Cells, Panel};
use crate::engine::cuda::gauss::source::Source;
use crate::engine::cuda::pointer::DevicePtr;
use crate::graph::Ranked;
use crate::memory;
use crate::observer::Observer;
use crate::Result;

/// How many correlations are on their way while one is gathered.
const AHEAD: usize = 16;

/// Gathers correlations of the pairs of a graph, in the order of their numbers, from that of number `from` on.
fn gather(cells: &[f64], ranked: &Ranked, firsts: &[u64], from: usize, to: &mut [f64]) {
    let p = firsts.len() - 1;
    let mut row = firsts.partition_point(|&first| first <= from as u64) - 1;
    let (mut skipped, mut done) = (from - firsts[row] as usize, 0);
    while done < to.len() {
        let of_row = &cells[row * p..(row + 1) * p];
        let mut ahead = ranked.larger(row).skip(skipped);
        ahead.by_ref().take(AHEAD).for_each(|y| memory::fetch_ahead(&of_row[y as usize]));
        for (cell, y) in to[done..].iter_mut().zip(ranked.larger(row).skip(skipped)) {
            if let Some(y) = ahead.next() {
                memory::fetch_ahead(&of_row[y as usize]);
            }
            *cell = of_row[y as usize];
            done += 1;
        }
        row += 1;
        skipped = 0;
    }
}

impl BlockSearch<'_, '_> {
    /// Where the own rows of a panel are, the `turn` of two: behind the first slice.
    fn place_of_own(&mut self, turn: usize, level: &Level) -> Result<DevicePtr<f64>> {
        let base: DevicePtr<f64> = self.search.engine.held.device(Buffer::Data)?.cast();
        Ok(base.offset(((level.cut.width + turn * level.cut.rows) * self.gauss.p) as u64))
    }

    /// Sends the own correlations of the pairs of rows, beside what runs.
    pub(super) fn send_own(
        &mut self,
        rows: &Range<usize>,
        turn: usize,
        level: &Level,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (p, ends) = (self.gauss.p, &level.ends);
        if level.own == Own::Rows {
            if level.cut.is_whole(p) {
                return Ok(());
            }
            let at = self.place_of_own(turn, level)?;
            let panel = Panel { rows: rows.clone(), columns: rows.start..p, at };
            let cells = cells_of(&self.gauss, &self.data);
            let held = &mut self.search.engine.held;
            let mut make = |held: &mut Held| self.rows.make(held, cells, p, &panel, &mut || observer.look());
            return match cells {
                Cells::Matrix(_) => held.ahead(make),
                Cells::Data(_) => make(held),
            };
        }
        let (Source::Matrix(cells), Some(ranked)) = (self.gauss.source, self.answer.ranked()) else { return Ok(()) };
        let held = &mut self.search.engine.held;
        let at = held.device(Buffer::PMax)?.offset(turn as u64 * level.cut.panel);
        let first = ends.larger[rows.start] as usize;
        let fill = |from: usize, to: &mut [f64]| gather(cells, ranked, &ends.larger, first + from, to);
        let count = ends.of_rows(rows) as usize;
        held.ahead(|held| held.send_numbers_with(at, count, GATHERING, fill, &mut || observer.look()))
    }

    /// The arguments of a launch on these rows, with where their pairs' own correlations are.
    pub(super) fn with_own(
        &mut self,
        rows: &Range<usize>,
        turn: usize,
        level: &Level,
        args: SliceArgs,
    ) -> Result<SliceArgs> {
        let p = self.gauss.p;
        let (own, first, pitch) = match level.own {
            Own::Pairs => (DevicePtr::NULL, 0, 0),
            Own::Rows if level.cut.is_whole(p) => (args.rows.offset((rows.start * p) as u64), 0, p),
            Own::Rows => (self.place_of_own(turn, level)?, rows.start, p - rows.start),
        };
        Ok(SliceArgs { own, first_own: first as u64, own_pitch: pitch as u64, ..args })
    }

    /// The p-values of the pairs that level 0 left, where level 1 does not run by slices.
    pub(in crate::engine::cuda::gauss::blocks) fn bring_values(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.check_pairs()?;
        let p = self.gauss.p;
        let ends = Ends::new(&self.degrees, self.answer.firsts());
        self.search.set_rules(&self.gauss.test, 0);
        let own = Own::of(&self.gauss, ends.pairs());
        let held = &mut self.search.engine.held;
        held.spare(&[Buffer::Data.into(), Buffer::PMax.into()])?;
        held.plan.set(Buffer::Ranks, 8 * p as u64 + 4 * (p * p.div_ceil(64)) as u64);
        let room = held.room(&[])?;
        let (cut, bytes) = cut_for_values(&ends, room, self.rows.most_rows(p), own);
        if bytes.iter().sum::<u64>() > room {
            let needed = held.plan.total() + bytes.iter().sum::<u64>();
            return Err(too_little(held, needed, "that is for the graph, and for a row of the correlations"));
        }
        held.plan.set(Buffer::Data, bytes[0]);
        held.plan.set(Buffer::PMax, bytes[1]);
        held.commit()?;
        self.number_pairs(&ends)?;
        let level = Level { cut, ends, own, checks: false };
        let args = SliceArgs { a: self.search.args, first: self.search.args.first_record, ..SliceArgs::default() };
        let mut first = 0;
        while first < p {
            let rows = level.cut.panel_from(first, &level.ends);
            self.send_own(&rows, 0, &level, observer)?;
            let values = self.search.engine.held.device(Buffer::PMax)?;
            let args = SliceArgs { before: level.ends.larger[rows.start], values, ..args };
            let args = with_rows(self.with_own(&rows, 0, &level, args)?, &rows);
            self.search.engine.held.card.follow_sends()?;
            // SAFETY: the pairs are numbered, their own correlations are there, and room for as many values.
            unsafe { on_rows(&self.search.engine.held.card, Kernel::slice_marginal, SLICE_THREADS, &args)? };
            self.search.engine.held.wait("level 0", &mut || observer.look())?;
            let pairs = level.ends.larger[rows.start] as usize..level.ends.larger[rows.end] as usize;
            if let Some(to) = self.answer.left_values(pairs) {
                self.search.engine.held.bring_into(values, to, &mut || observer.look())?;
            }
            first = rows.end;
        }
        Ok(())
    }
}

/// Panels of pairs whose values alone are wanted, of at most `most` rows, within about `room` bytes; and the bytes of their own correlations and of
/// the values.
fn cut_for_values(ends: &Ends, room: u64, most: usize, own: Own) -> (Cut, [u64; 2]) {
    let p = ends.larger.len() - 1;
    let row = (0..p).map(|x| ends.of_rows(&(x..x + 1))).max().unwrap_or(0);
    let (rows, room_of_values) = match own {
        Own::Pairs => (p, room),
        Own::Rows => ((room / 2 / (8 * p as u64)) as usize, room / 2),
    };
    let rows = rows.clamp(1, most.clamp(1, p));
    let panel = (room_of_values * 7 / 8 / 8).clamp(row, ends.pairs().max(row));
    let own = if own == Own::Rows { 8 * (p * rows) as u64 } else { 0 };
    (Cut { width: 0, rows, panel, kept: 0 }, [own, 8 * panel].map(|bytes| bytes.max(1).next_multiple_of(256)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;
    use crate::pool::Pool;

    #[test]
    fn pairs_are_gathered_from_any_number_on() {
        let p = 70;
        let mut graph = Adjacency::empty(p);
        (0..p).for_each(|x| {
            (x + 1..p).filter(|y| (x * 7 + y * 3) % 5 == 0 && x % 9 != 4).for_each(|y| graph.insert(x, y))
        });
        let cells: Vec<f64> = (0..p * p).map(|at| at as f64).collect();
        let ranked = Ranked::new(graph.clone(), &Pool::none()).unwrap();
        let firsts = ranked.firsts();
        let want: Vec<f64> =
            (0..p).flat_map(|x| graph.neighbours_above(x).map(move |y| (x * p + y as usize) as f64)).collect();
        for from in 0..want.len() {
            for count in [1, 5, 60, want.len()] {
                let mut found = vec![-1.0; count.min(want.len() - from)];
                gather(&cells, &ranked, &firsts, from, &mut found);
                assert_eq!(found, want[from..from + found.len()]);
            }
        }
    }
}
