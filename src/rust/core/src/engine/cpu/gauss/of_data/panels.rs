//! Level 1 by blocks. All correlations of some rows and of some other vertices are in memory. A test of such a pair given any one variable needs
//! no others.

use std::ops::Range;

use super::super::coarse::Coarse;
use super::super::{dense, GaussKernel, Scratch};
use super::{rows_of, GaussOfData};
use crate::ci::gauss::Gauss;
use crate::engine::cpu::enter_side;
use crate::engine::cpu::kernel::{Kernel, RowView, SideView, Signal};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Stop;
use crate::search::book::Book;
use crate::search::shards::{Part, Work};
use crate::Result;

/// Maximal number of columns held for other vertices. The more columns are held for rows, the fewer times the others are computed.
const OTHERS: usize = 64;

/// The cut of a level into blocks.
pub(super) struct Panels {
    /// Number of columns held for rows, and for others.
    rows: usize,
    others: usize,
    /// Whether there is room for them in single precision, too.
    with_coarse: bool,
    /// For each shard: its rows, and its others.
    boxes: Vec<[Range<usize>; 2]>,
    bytes: usize,
    /// Number of cells that are computed.
    cost: f64,
}

impl Panels {
    /// Plans a level by blocks. Returns `None` if there is no room.
    pub fn of(engine: &GaussOfData, work: &Work) -> Option<Self> {
        let GaussOfData { p, bound, .. } = *engine;
        let boxes: Vec<[Range<usize>; 2]> =
            work.shards.iter().map(|shard| [range(rows_of(work, &shard.part)), others_of(work, &shard.part)]).collect();
        let masked = |row: usize| dense::takes_row(engine.level_one, work.neighbours, row);
        let some_masked = boxes.iter().any(|[rows, _]| rows.clone().any(masked));
        let fit = |column: usize| (bound.bytes / column as u64).min(p as u64) as usize;
        let (plain, with_coarse) = (size_of::<f64>() * p, size_of::<f64>() * p + Coarse::row_bytes(p));
        // If single precision left room for fewer than two columns, lists are quicker.
        let with_coarse_fit = fit(with_coarse);
        let takes_coarse = some_masked && with_coarse_fit >= 2;
        let (held, column) = if takes_coarse { (with_coarse_fit, with_coarse) } else { (fit(plain), plain) };
        if held < 2.min(p) {
            return None;
        }
        let others = if held == p { 0 } else { (held / 8).clamp(1, OTHERS) };
        let mut panels =
            Panels { rows: held - others, others, with_coarse: takes_coarse, boxes, bytes: held * column, cost: 0.0 };
        let cells: usize = panels
            .row_blocks()
            .into_iter()
            .map(|rows| {
                let others = panels.others_asked(&rows);
                rows.len()
                    + others.end.saturating_sub(others.start.max(rows.end))
                    + rows.start.min(others.end).saturating_sub(others.start)
            })
            .sum();
        panels.cost = cells as f64 * p as f64;
        Some(panels)
    }

    /// Returns the number of cells that are computed.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Returns the bytes that are held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the rows that are asked for, cut into blocks.
    fn row_blocks(&self) -> Vec<Range<usize>> {
        if self.others == 0 {
            // All columns are held.
            return std::iter::once(0..self.rows).collect();
        }
        let first = self.boxes.iter().map(|[rows, _]| rows.start).min().unwrap_or(0);
        let end = self.boxes.iter().map(|[rows, _]| rows.end).max().unwrap_or(0);
        (first..end).step_by(self.rows).map(|from| from..end.min(from + self.rows)).collect()
    }

    /// Returns the range of others that shards with some of these rows ask for, empty if there are none.
    fn others_asked(&self, rows: &Range<usize>) -> Range<usize> {
        let asked = self.boxes.iter().filter(|[of, others]| meet(of, rows) && !others.is_empty());
        let others = || asked.clone().map(|[_, others]| others);
        let start = others().map(|others| others.start).min().unwrap_or(0);
        start..others().map(|others| others.end).max().unwrap_or(0)
    }

    pub fn answer(&self, engine: &GaussOfData, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        let Some(tiles) = &engine.tiles else { return Ok(()) };
        let p = engine.p;
        let total = work.cost();
        let mut c = memory::zeros((self.rows + self.others) * p, Use::Correlations)?;
        let mut places = memory::space(p, Use::Correlations)?;
        places.resize(p, u32::MAX);
        let mut coarse = Coarse::of_some(p, self.with_coarse);
        let mut done = 0.0;
        for rows in self.row_blocks() {
            let asked = self.others_asked(&rows);
            let with_rows: Vec<usize> =
                (0..work.shards.len()).filter(|&shard| meet(&self.boxes[shard][0], &rows)).collect();
            let mut is_there = false;
            let cut = |part: Range<usize>| {
                part.clone().step_by(self.others.max(1)).map(move |from| from..part.end.min(from + self.others))
            };
            let before = cut(asked.start.min(rows.start)..rows.start.min(asked.end));
            let behind = cut(asked.start.max(rows.end)..asked.end.max(rows.end));
            for others in std::iter::once(rows.clone()).chain(before).chain(behind) {
                let block = Block { rows: rows.clone(), others: others.clone() };
                let some: Vec<usize> = with_rows
                    .iter()
                    .copied()
                    .filter(|&shard| {
                        meet(&self.boxes[shard][1], &others) && block.has_some(work, &work.shards[shard].part)
                    })
                    .collect();
                if some.is_empty() {
                    continue;
                }
                let wanted = [(&rows, 0, !is_there), (&others, self.rows, others != rows)];
                for (columns, at, _) in wanted.into_iter().filter(|&(_, _, is_wanted)| is_wanted) {
                    let look = &mut || observer.progress(work.size, done, total);
                    columns.clone().for_each(|v| places[v] = (at + v - columns.start) as u32);
                    tiles.fill(columns.clone(), 0..p, &mut c[at * p..], &engine.pool, look)?;
                }
                is_there = true;
                let kernel = GaussKernel {
                    gauss: Gauss::of_part(&c, p, &places, engine.test),
                    thresholds: engine.thresholds.clone(),
                    coarse,
                    level_one: engine.level_one,
                };
                let cost = |at: usize| block.share(&self.boxes[some[at]]) * work.shards[some[at]].cost;
                let mut done_now = 0.0;
                engine.pool.run(
                    some.len(),
                    false,
                    cost,
                    &mut |more| {
                        done_now = more;
                        observer.progress(work.size, (done + more).min(total), total)
                    },
                    |scratch: &mut Scratch, at, stop| block.answer(&kernel, work, book, some[at], scratch, stop),
                )?;
                done = (done + done_now).min(total);
                coarse = kernel.coarse;
                if others != rows {
                    coarse.forget(others);
                }
            }
            coarse.forget(rows);
        }
        Ok(())
    }
}

fn range((start, end): (usize, usize)) -> Range<usize> {
    start..end
}

fn meet(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start.max(b.start) < a.end.min(b.end)
}

/// Returns a range that has all other vertices of a part.
fn others_of(work: &Work, part: &Part) -> Range<usize> {
    let among = |others: &mut dyn Iterator<Item = u32>| {
        let (mut first, mut end) = (usize::MAX, 0);
        others.for_each(|other| (first, end) = (first.min(other as usize), end.max(other as usize + 1)));
        first.min(end)..end
    };
    match part {
        Part::Tile { rows, others } => {
            // If the rows' pairs all come after them, nothing before is asked.
            let list = |row: usize| work.neighbours.list(row);
            let ends = rows.clone().flat_map(|row| {
                let places = work.lanes.of(row);
                [places.first(), places.last()].into_iter().flatten().map(move |&place| list(row)[place as usize])
            });
            let asked = among(&mut ends.into_iter());
            let (start, end) = (asked.start.max(others.start as usize), asked.end.min(others.end as usize));
            start..end.max(start)
        }
        Part::Lanes { row, lanes, .. } => {
            let (list, places) = (work.neighbours.list(*row), work.lanes.of(*row));
            among(&mut lanes.clone().map(|lane| list[places[lane] as usize]))
        }
        Part::Sides(sides) => among(&mut work.sides[sides.clone()].iter().map(|side| side.other)),
        Part::Ranks { side, .. } => among(&mut std::iter::once(work.sides[*side].other)),
    }
}

/// Rows and others whose columns are in memory together.
struct Block {
    rows: Range<usize>,
    others: Range<usize>,
}

impl Block {
    fn others(&self) -> Range<u32> {
        self.others.start as u32..self.others.end as u32
    }

    /// Returns the rows and others of a tile that are in the block.
    fn of_tile(&self, rows: &Range<usize>, others: &Range<u32>) -> (Range<usize>, Range<u32>) {
        let own = self.others();
        let rows = rows.start.max(self.rows.start)..rows.end.min(self.rows.end);
        let start = others.start.max(own.start);
        (rows, start..others.end.min(own.end).max(start))
    }

    /// Returns those of some lanes of a row that are in the block.
    fn of_lanes(&self, work: &Work, row: usize, lanes: &Range<usize>) -> Range<usize> {
        if !self.rows.contains(&row) {
            return 0..0;
        }
        let here = work.lanes_between(row, &self.others());
        let start = lanes.start.max(here.start);
        start..lanes.end.min(here.end).max(start)
    }

    fn has_side(&self, work: &Work, at: usize) -> bool {
        let side = &work.sides[at];
        self.rows.contains(&(side.row as usize)) && self.others.contains(&(side.other as usize))
    }

    /// Returns whether any pair of a part is in the block.
    fn has_some(&self, work: &Work, part: &Part) -> bool {
        match part {
            Part::Tile { rows, others } => {
                let (mut rows, others) = self.of_tile(rows, others);
                rows.any(|row| !work.lanes_between(row, &others).is_empty())
            }
            Part::Lanes { row, lanes, .. } => !self.of_lanes(work, *row, lanes).is_empty(),
            Part::Sides(sides) => sides.clone().any(|at| self.has_side(work, at)),
            Part::Ranks { side, .. } => self.has_side(work, *side),
        }
    }

    /// Returns the approximate share of a part that is in the block.
    fn share(&self, [rows, others]: &[Range<usize>; 2]) -> f64 {
        let common = |a: &Range<usize>, b: &Range<usize>| {
            a.end.min(b.end).saturating_sub(a.start.max(b.start)) as f64 / a.len().max(1) as f64
        };
        common(rows, &self.rows) * common(others, &self.others)
    }

    /// Decides the pairs of a shard that are in the block.
    fn answer(&self, kernel: &GaussKernel, work: &Work, book: &Book, shard: usize, scratch: &mut Scratch, stop: &Stop) {
        let mut page = book.open(shard);
        match &work.shards[shard].part {
            Part::Tile { rows, others } => {
                let (rows, others) = self.of_tile(rows, others);
                kernel
                    .tile(work, rows, &others, scratch, &Signal::of(stop), &mut |row, answer| page.enter(row, answer));
            }
            Part::Lanes { row, lanes, sets, limits } => {
                let here = self.of_lanes(work, *row, lanes);
                let limits = limits + here.start - lanes.start;
                let found = work.limits(limits..limits + here.len());
                let view = RowView { sets: sets.clone(), found: Some(found), ..RowView::new(work, *row, here) };
                kernel.row(&view, scratch, &Signal::of(stop), &mut |answer| page.enter(*row as u32, answer));
            }
            Part::Sides(sides) => {
                let mut set = Vec::new();
                let mut rest = sides.clone();
                // Adjacent sides are decided together.
                while let Some(first) = rest.find(|&at| self.has_side(work, at)) {
                    let end = rest.find(|&at| !self.has_side(work, at)).unwrap_or(sides.end);
                    kernel.sides(work, first..end, scratch, stop, &mut |at, verdict, exact_tests| {
                        enter_side(&mut page, work, book, at, verdict, exact_tests, &mut set);
                    });
                }
            }
            Part::Ranks { side: at, ranks, limit } => {
                let signal = Signal::new(stop, &work.limits(*limit..*limit + 1)[0]);
                let verdict = kernel.walk(&SideView::new(work, &work.sides[*at], ranks.clone()), scratch, &signal);
                enter_side(&mut page, work, book, *at, verdict, signal.exact_tests(), &mut Vec::new());
            }
        }
        page.close();
    }
}
