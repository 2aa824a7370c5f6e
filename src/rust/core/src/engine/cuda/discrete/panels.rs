//! Level 0 in parts: the pairs of two panels of columns at a time, with room for the p-values of some rows.

use std::ops::Range;

use super::counting;
use super::parts::{bytes_of, InParts};
use super::Level;
use crate::ci::discrete::Discrete;
use crate::engine::cuda::arguments::SearchArgs;
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::p_max::triangle;
use crate::engine::cuda::search::CudaSearch;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::search::worker::{Column, Marginals};
use crate::Result;

/// Panels of consecutive variables, the columns of each of about `room` bytes.
fn panels(test: &Discrete, room: u64) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut held = 0;
    for v in 0..test.data().p() {
        let bytes = counting::column_bytes(test, v);
        match found.last_mut() {
            Some(panel) if held + bytes <= room => {
                panel.end = v + 1;
                held += bytes;
            }
            _ => {
                found.push(v..v + 1);
                held = bytes;
            }
        }
    }
    found
}

/// Two panels on the card, the rows those of the second, which may be the first.
struct Tile<'t> {
    x: &'t Range<usize>,
    y: &'t Range<usize>,
}

impl Tile<'_> {
    fn is_diagonal(&self) -> bool {
        self.x == self.y
    }

    fn variables(&self) -> Vec<u32> {
        let numbers = |panel: &Range<usize>| panel.start as u32..panel.end as u32;
        if self.is_diagonal() {
            numbers(self.y).collect()
        } else {
            numbers(self.x).chain(numbers(self.y)).collect()
        }
    }

    /// The number on the card of the first row.
    fn first(&self) -> usize {
        if self.is_diagonal() {
            0
        } else {
            self.x.len()
        }
    }
}

impl InParts<'_, '_> {
    /// Level 0.
    pub(super) fn run_marginal(
        &mut self,
        level: &Marginals,
        columns: Vec<Column>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let test = self.test;
        let p = test.data().p();
        let mut largest: Vec<u64> = (0..p).map(|v| counting::column_bytes(&test, v)).collect();
        let all: u64 = largest.iter().sum();
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let widest = largest[0];
        largest.truncate(2);
        // What rounds up the parts of a piece; two columns, and the p-values of a row.
        let rounded = bytes_of(&test, &[]) + 256;
        let least = largest.iter().sum::<u64>() + 16 + rounded;
        let most = all + 8 * triangle(p) as u64 + rounded;
        let mut search = self.search();
        let piece = search.plan_piece(&test, 0, 0, [least, most])?;
        // A column takes more than four times the bytes of a p-value: where four fifths hold columns, one holds a row's.
        let panels = match (piece - rounded) / 5 {
            fifth if all <= 4 * fifth => panels(&test, u64::MAX),
            // Panels of two could take too much where columns are unequal.
            fifth if widest > 2 * fifth => (0..p).map(|v| v..v + 1).collect(),
            fifth => panels(&test, 2 * fifth),
        };
        let total = (p * p) as f64;
        let mut done = 0.0;
        let mut columns = columns.into_iter();
        for y in &panels {
            memory::room(8 * p * y.len(), Use::Pairs)?;
            let mut some: Vec<Column> = columns.by_ref().take(y.len()).collect();
            let mut cells: Vec<&mut [f64]> = some.iter_mut().map(|column| column.open(level)).collect();
            for x in panels.iter().take_while(|x| x.start <= y.start) {
                let tile = Tile { x, y };
                search.run_tile(&test, &tile, piece, level, &mut cells, &mut |share| {
                    observer.progress(0, 0.999 * (done + share * (x.len() * y.len()) as f64).min(total), total)
                })?;
                done += (x.len() * y.len() * if tile.is_diagonal() { 1 } else { 2 }) as f64;
            }
            drop(cells);
            some.into_iter().for_each(|column| column.close(level));
        }
        observer.progress(0, total, total)
    }
}

impl CudaSearch<'_, '_> {
    /// Tests the pairs of two panels, and enters their p-values in the columns of the second.
    fn run_tile(
        &mut self,
        test: &Discrete,
        tile: &Tile,
        piece: u64,
        level: &Marginals,
        cells: &mut [&mut [f64]],
        watch: &mut dyn FnMut(f64) -> Result<()>,
    ) -> Result<()> {
        let (variables, first) = (tile.variables(), tile.first());
        let (mut args, counted, taken) = self.take_columns(test, &variables)?;
        let blocks = counted.scratch.blocks;
        // Rows run over the vertices of the first panel; a few more of the second are no harm.
        let others = (if tile.is_diagonal() { variables.len() } else { first }) as u64;
        args.tile = (others * tile.y.len() as u64 / (4 * u64::from(blocks))).clamp(2, args.tile);
        let values: DevicePtr<f64> = args.codes.carve(taken);
        let room = ((piece - taken) / 8) as usize;
        args.a = SearchArgs { p: others, ..args.a };
        let (kernel, threads, shared) = (Kernel::dis_marginal, counted.threads, counted.shared);
        let mut launched = Level { args, kernel, blocks, threads, shared, stages: Vec::new(), variables };
        let is_complete = level.pairs().edge_count() == triangle(level.pairs().p());
        let end = first + tile.y.len();
        let mut from = first;
        while from < end {
            let to = (from + 1..end + 1).rev().find(|&to| triangle(to) - triangle(from) <= room).unwrap_or(from + 1);
            self.args.p_max = values.before(triangle(from) as u64);
            launched.args.a.p_max = self.args.p_max;
            self.launch_pairs(&mut launched, from..to)?;
            let share = (from - first) as f64 / tile.y.len() as f64;
            loop {
                let report = self.report("level 0", &mut || watch(share))?;
                if self.go_on_pairs(test, &launched, &report, &mut || watch(share))? {
                    break;
                }
            }
            let found: Vec<f64> = self.engine.held.bring_all(values, triangle(to) - triangle(from))?;
            for row in from..to {
                let own = &found[triangle(row) - triangle(from)..][..if tile.is_diagonal() { row } else { first }];
                let column = &mut cells[row - first];
                if is_complete {
                    column[tile.x.start..][..own.len()].copy_from_slice(own);
                    continue;
                }
                let y = tile.y.start + row - first;
                for x in level.pairs().neighbours(y).map(|x| x as usize).filter(|x| tile.x.contains(x) && *x < y) {
                    column[x] = own[x - tile.x.start];
                }
            }
            from = to;
        }
        Ok(())
    }
}
