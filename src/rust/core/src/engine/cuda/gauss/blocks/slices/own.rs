//! The pairs' own correlations.

use std::ops::Range;

use super::cut::{Own, GATHERING};
use super::Level;
use crate::engine::cuda::arguments::SliceArgs;
use crate::engine::cuda::gauss::blocks::Blocks;
use crate::engine::cuda::gauss::rows::Panel;
use crate::engine::cuda::gauss::source::Source;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::pointer::DevicePtr;
use crate::graph::Adjacency;
use crate::memory;
use crate::observer::Observer;
use crate::search::pairs::PairLevel;
use crate::Result;

/// Correlations that are fetched ahead while one is gathered.
const AHEAD: usize = 16;

/// Gathers the correlations of a graph's pairs, in the order of their numbers, from pair number `from` on.
fn gather(cells: &[f64], graph: &Adjacency, firsts: &[u64], from: usize, to: &mut [f64]) {
    let p = firsts.len() - 1;
    let mut row = firsts.partition_point(|&first| first <= from as u64) - 1;
    let (mut skipped, mut done) = (from - firsts[row] as usize, 0);
    while done < to.len() {
        let of_row = &cells[row * p..(row + 1) * p];
        let mut ahead = graph.neighbours_above(row).skip(skipped);
        ahead.by_ref().take(AHEAD).for_each(|y| memory::fetch_ahead(&of_row[y as usize]));
        for (cell, y) in to[done..].iter_mut().zip(graph.neighbours_above(row).skip(skipped)) {
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

impl Blocks<'_, '_> {
    /// Returns the address of a panel's own rows: among all rows, or at place `turn` of two behind the first slice.
    fn place_of_own(&mut self, rows: &Range<usize>, turn: usize, level: &Level) -> Result<DevicePtr<f64>> {
        let base: DevicePtr<f64> = self.search.engine.held.device(Buffer::Data)?.cast();
        if level.cut.keeps_all {
            return Ok(base.offset((rows.start * self.gauss.p) as u64));
        }
        Ok(base.offset(((level.cut.width + turn * level.cut.rows) * self.gauss.p) as u64))
    }

    /// Sends the own correlations of the rows' pairs while kernels run.
    pub(super) fn send_own(
        &mut self,
        rows: &Range<usize>,
        turn: usize,
        level: &mut Level,
        of: &PairLevel,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if level.own == Own::Rows {
            if level.cut.keeps_all {
                return self.bring_missing(rows, level, observer);
            }
            let at = self.place_of_own(rows, turn, level)?;
            return self.bring_rows(
                &Panel { rows: rows.clone(), columns: rows.start..self.gauss.p, at, ..Panel::default() },
                observer,
            );
        }
        let ends = &level.ends;
        let Source::Matrix(cells) = self.gauss.source else { return Ok(()) };
        let held = &mut self.search.engine.held;
        let at = held.device(Buffer::PMax)?.offset(turn as u64 * level.cut.panel);
        let first = ends.larger[rows.start] as usize;
        let fill = |from: usize, to: &mut [f64]| gather(cells, of.graph, &ends.larger, first + from, to);
        let count = ends.of_rows(rows) as usize;
        held.ahead(|held| held.send_numbers_with(at, count, GATHERING, fill, &mut || observer.look()))
    }

    /// Returns the arguments of a launch on these rows, with the address of their pairs' own correlations.
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
            Own::Rows if level.cut.keeps_all => (self.place_of_own(rows, turn, level)?, 0, p),
            Own::Rows => (self.place_of_own(rows, turn, level)?, rows.start, p - rows.start),
        };
        Ok(SliceArgs { own, first_own: first as u64, own_pitch: pitch as u64, ..args })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_gathered_from_any_number_on() {
        let p = 70;
        let mut graph = Adjacency::empty(p);
        (0..p).for_each(|x| {
            (x + 1..p).filter(|y| (x * 7 + y * 3) % 5 == 0 && x % 9 != 4).for_each(|y| graph.insert(x, y))
        });
        let cells: Vec<f64> = (0..p * p).map(|at| at as f64).collect();
        let mut firsts = vec![0; p + 1];
        (0..p).for_each(|x| firsts[x + 1] = firsts[x] + graph.degree_above(x) as u64);
        let want: Vec<f64> =
            (0..p).flat_map(|x| graph.neighbours_above(x).map(move |y| (x * p + y as usize) as f64)).collect();
        for from in 0..want.len() {
            for count in [1, 5, 60, want.len()] {
                let mut found = vec![-1.0; count.min(want.len() - from)];
                gather(&cells, &graph, &firsts, from, &mut found);
                assert_eq!(found, want[from..from + found.len()]);
            }
        }
    }
}
