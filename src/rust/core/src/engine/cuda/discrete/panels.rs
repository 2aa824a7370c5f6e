//! Level 0 in parts. The columns of a panel of rows stay on the GPU while panels with the smaller vertices pass. The p-values of a step are
//! copied back while the next kernel runs.

use std::ops::Range;

use super::columns::{table_bytes, Parts, Places, Table};
use super::parts::InParts;
use super::{Counted, Level};
use crate::ci::discrete::Discrete;
use crate::engine::cuda::arguments::{DiscreteArgs, SearchArgs};
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::gpu::transfer::threads_for;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::p_max::triangle;
use crate::engine::cuda::search::CudaSearch;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::worker::{Column, Marginals};
use crate::Result;

/// Two panels on the GPU. The rows are those of the second, which may equal the first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tile {
    x: Range<usize>,
    y: Range<usize>,
}

impl Tile {
    fn is_diagonal(&self) -> bool {
        self.x == self.y
    }

    /// Returns the number of the first row on the GPU.
    fn first(&self) -> usize {
        if self.is_diagonal() {
            0
        } else {
            self.x.len()
        }
    }

    /// Returns the pairs of a vertex of one panel and one of the other, in either order.
    fn pairs(&self) -> usize {
        self.x.len() * self.y.len() * if self.is_diagonal() { 1 } else { 2 }
    }
}

/// Rows of a tile, by their numbers on the GPU, for which there is room at a time.
struct Step {
    tile: Tile,
    rows: Range<usize>,
}

impl Step {
    /// Returns how many p-values the rows have on the GPU, in a triangle that begins with the first vertex there.
    fn count(&self) -> usize {
        self.end_of(self.rows.end)
    }

    fn end_of(&self, row: usize) -> usize {
        triangle(row) - triangle(self.rows.start)
    }
}

/// Cut of some rows, each with all smaller vertices: columns of a panel that stays, a multiple of those of a panel that passes.
#[derive(Clone, Debug)]
struct Cut {
    rows: Range<usize>,
    stay: usize,
    pass: usize,
}

impl Cut {
    /// Creates a cut with `held` columns on the GPU at a time, which must be two at least unless p is 1.
    fn new(rows: &Range<usize>, held: usize) -> Self {
        let (rows, pass) = (rows.clone(), (held / 3).max(1));
        match rows.start == 0 && held >= rows.end {
            true => Cut { stay: rows.end, pass: rows.end, rows },
            false => Cut { stay: (held - pass) / pass * pass, pass, rows },
        }
    }

    /// Creates a cut with as many columns of `column` bytes as fit in `bytes` together with p-values, `most` at most. The p-values take
    /// twice the bytes of a tile's, or a fifth of `bytes` if that is less. A fifth then holds two rows, as a column takes more than four
    /// times the bytes of its two p-values.
    fn within(rows: &Range<usize>, most: usize, column: u64, bytes: u64) -> Self {
        let fits = |held: usize| {
            let cut = Cut::new(rows, held);
            let of_tile = triangle(cut.held()) - triangle(cut.held() - cut.stay);
            held as u64 * column + (16 * of_tile as u64).min(bytes / 5) <= bytes
        };
        let (mut least, mut most) = (2.min(most), most);
        while least < most {
            let middle = (least + most).div_ceil(2);
            if fits(middle) {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        Cut::new(rows, least)
    }

    /// Returns the columns on the GPU at a time.
    fn held(&self) -> usize {
        if self.rows == (0..self.stay) {
            self.stay
        } else {
            self.stay + self.pass
        }
    }

    /// Returns the panels that stay, one after the other.
    fn panels(&self) -> impl Iterator<Item = Range<usize>> {
        let (stay, end) = (self.stay, self.rows.end);
        self.rows.clone().step_by(stay).map(move |start| start..end.min(start + stay))
    }

    /// Returns the tiles of each panel that stays: with itself, then with those that pass. These alternate in direction, so that the last
    /// one can be used again.
    fn tiles(&self) -> impl Iterator<Item = Tile> {
        let pass = self.pass;
        self.panels().enumerate().flat_map(move |(turn, y)| {
            let (count, end) = (y.start.div_ceil(pass), y.start);
            let x = move |i: usize| {
                let i = if turn % 2 == 0 { count - 1 - i } else { i };
                i * pass..end.min((i + 1) * pass)
            };
            let own = Tile { x: y.clone(), y: y.clone() };
            std::iter::once(own).chain((0..count).map(move |i| Tile { x: x(i), y: y.clone() }))
        })
    }

    /// Returns the steps to run, one at a time, with room for `room` p-values.
    fn steps(&self, room: usize) -> impl Iterator<Item = Step> {
        self.tiles().flat_map(move |tile| {
            let (mut from, end) = (tile.first(), tile.first() + tile.y.len());
            std::iter::from_fn(move || {
                let fits = |to: &usize| triangle(*to) - triangle(from) <= room;
                let to = (from + 1..end + 1).rev().find(fits).unwrap_or(from + 1);
                let rows = std::mem::replace(&mut from, to)..to;
                (rows.start < end).then(|| Step { tile: tile.clone(), rows })
            })
        })
    }
}

/// Layout and contents of the GPU's memory.
struct OnGpu {
    cut: Cut,
    places: Places,
    /// Addresses of the table of columns, and of the p-values of two steps, `room` each, which take turns.
    table: DevicePtr<u64>,
    values: DevicePtr<f64>,
    room: usize,
    steps: u64,
    /// Whether all pairs are tested.
    is_complete: bool,
    /// The tile whose columns are there, and the arguments of its kernels.
    tile: Option<(Tile, DiscreteArgs, Counted)>,
    /// The panel that passed last.
    passed: Range<usize>,
}

/// A step on the stream.
struct Launched {
    step: Step,
    level: Level,
    values: DevicePtr<f64>,
}

impl InParts<'_, '_> {
    /// Runs level 0 for these columns.
    pub(super) fn run_marginal(
        &mut self,
        level: &Marginals,
        columns: Vec<Column>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let test = self.test;
        let Some(start) = columns.first().map(Column::y) else { return Ok(()) };
        let (p, all) = (test.data().p(), start..start + columns.len());
        let pool = self.engine.held.pool.clone();
        let parts = Parts::of_pairs(&test);
        let place = (0..p).map(|v| parts.bytes(&test, v)).max().unwrap_or(0);
        // `column` is a column with its entries in the table; `rounded` is for rounding up a piece's parts. Each column also has a p-value
        // in two rows.
        let column = place + table_bytes(1) - table_bytes(0);
        let rounded = table_bytes(0) + 3 * 256;
        let least = 2 * (column + 16) + rounded;
        let most = p as u64 * (column + 16) + 16 * triangle(p) as u64 + rounded;
        let options = self.engine.rules(&test, false);
        let mut search = self.engine.launches(&options);
        let piece = search.plan_piece(&test, 0, 0, [least, most])?;
        let most = Places::most(place).min(p as u64) as usize;
        let cut = Cut::within(&all, most, column, piece - rounded);
        let held = cut.held() as u64;
        let at = search.engine.held.device(Buffer::Data)?;
        let places = Places { at, bytes: place, parts };
        let table: DevicePtr<u64> = places.after(held);
        let values = table.carve(table_bytes(held).next_multiple_of(256));
        let room = ((at.address() + piece - values.address()) / 16) as usize;
        let is_complete = level.is_complete();
        let mut gpu =
            OnGpu { cut: cut.clone(), places, table, values, room, steps: 0, is_complete, tile: None, passed: 0..0 };
        let total = (all.end * all.end - all.start * all.start) as f64;
        let mut done = 0.0;
        let mut columns = columns.into_iter();
        let mut steps = cut.steps(room);
        let mut next = steps.next().map(|step| search.launch_step(&test, &mut gpu, step)).transpose()?;
        for y in cut.panels() {
            memory::room(8 * p * y.len(), Use::Pairs)?;
            let mut some: Vec<Column> = columns.by_ref().take(y.len()).collect();
            let is_much = threads_for(&pool, p * y.len()) > 1;
            let mut cells: Vec<&mut [f64]> = some.iter().map(|_| Default::default()).collect();
            let opened = some.iter_mut().zip(&mut cells).collect();
            each(&pool, is_much, opened, |(column, cells): (&mut Column, &mut &mut [f64])| *cells = column.open(level));
            while let Some(ran) = next.take_if(|next| next.step.tile.y == y) {
                let share = ran.step.tile.pairs() as f64 * ran.step.rows.len() as f64 / y.len() as f64;
                search.end_step(&test, &ran, &mut || observer.progress(0, 0.999 * done, total))?;
                next = steps.next().map(|step| search.launch_step(&test, &mut gpu, step)).transpose()?;
                search.enter_step(&ran, is_complete, level, &mut cells)?;
                done += share;
            }
            drop(cells);
            each(&pool, is_much, some, |column: Column| column.close(level));
        }
        observer.progress(0, total, total)
    }
}

/// Calls `work` for all parts, on the threads of the pool if there is much to do.
fn each<T: Send>(pool: &Pool, is_much: bool, parts: Vec<T>, work: impl Fn(T) + Sync) {
    if is_much {
        pool.each_of(parts, |_, part| work(part));
    } else {
        parts.into_iter().for_each(work);
    }
}

impl CudaSearch<'_, '_> {
    /// Puts the missing columns of a tile on the GPU.
    fn place_tile(&mut self, test: &Discrete, gpu: &mut OnGpu, tile: &Tile) -> Result<(DiscreteArgs, Counted)> {
        let entry = |panel: &Range<usize>, place: usize| {
            panel.clone().zip(place..).map(|(v, place)| (v as u32, place as u32)).collect::<Vec<_>>()
        };
        let (x, y) = (entry(&tile.x, gpu.cut.stay), entry(&tile.y, 0));
        let table = match tile.is_diagonal() {
            true => Table::new(y.iter().copied(), &y),
            false if gpu.passed == tile.x => Table::new(x.into_iter().chain(y), &[]),
            false => Table::new(x.iter().copied().chain(y), &x),
        };
        if !tile.is_diagonal() {
            gpu.passed = tile.x.clone();
        }
        let coding = self.send_table(test, &table, (&gpu.places, gpu.table), &[])?;
        // Rows run over the vertices of the first panel; a few more of the second do no harm.
        let others = tile.x.len() as u64;
        let (mut args, counted) = self.with_columns(test, coding, others)?;
        args.tile = (others * tile.y.len() as u64 / (4 * u64::from(counted.scratch.blocks))).clamp(2, args.tile);
        gpu.tile = Some((tile.clone(), args, counted));
        Ok((args, counted))
    }

    /// Puts the tests of a step's pairs on the stream.
    fn launch_step(&mut self, test: &Discrete, gpu: &mut OnGpu, step: Step) -> Result<Launched> {
        let (args, counted) = match &gpu.tile {
            Some((tile, args, counted)) if *tile == step.tile => (*args, *counted),
            _ => self.place_tile(test, gpu, &step.tile)?,
        };
        let values = gpu.values.offset(gpu.steps % 2 * gpu.room as u64);
        gpu.steps += 1;
        // Values that nobody reads come to the host as well: those of untested pairs and, off the diagonal, of a panel's rows with each other.
        if !(gpu.is_complete && step.tile.is_diagonal()) {
            self.engine.held.clear(values, step.count())?;
        }
        self.args.p_max = values.before(triangle(step.rows.start) as u64);
        let args = DiscreteArgs { a: SearchArgs { p_max: self.args.p_max, ..args.a }, ..args };
        let Counted { threads, shared, .. } = counted;
        let numbers = |panel: &Range<usize>| panel.start as u32..panel.end as u32;
        let mut variables: Vec<u32> = numbers(&step.tile.x).collect();
        if !step.tile.is_diagonal() {
            variables.extend(numbers(&step.tile.y));
        }
        let (kernel, blocks) = (Kernel::dis_marginal, counted.scratch.blocks);
        let mut level = Level { args, kernel, blocks, threads, shared, stages: Vec::new(), variables };
        self.launch_pairs(&mut level, step.rows.clone())?;
        Ok(Launched { step, level, values })
    }

    /// Waits for a step, and has the CPU answer what is left to it.
    fn end_step(&mut self, test: &Discrete, ran: &Launched, look: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        loop {
            let report = self.report("level 0", look)?;
            if self.go_on_pairs(test, &ran.level, &report, look)? {
                return Ok(());
            }
        }
    }

    /// Enters the p-values of a finished step in the columns of its tile's rows, while the next step may run. `all`: all pairs are tested.
    fn enter_step(&mut self, ran: &Launched, all: bool, level: &Marginals, cells: &mut [&mut [f64]]) -> Result<()> {
        let Launched { step, values, .. } = ran;
        let Tile { x, y } = &step.tile;
        let (first, pool) = (step.tile.first(), self.engine.held.pool.clone());
        let mut from = step.rows.start;
        let last_within = |end: usize| step.rows.clone().rev().map(|row| step.end_of(row)).find(|&at| at <= end);
        let cut = |end| last_within(end).unwrap_or(end);
        self.engine.held.bring(*values, step.count(), cut, |at, piece| {
            let to = (from..=step.rows.end).rev().find(|&row| step.end_of(row) <= at + piece.len()).unwrap_or(from);
            let rows = (from..to).zip(&mut cells[from - first..to - first]).collect();
            let enter = |(row, column): (usize, &mut &mut [f64])| {
                let own = &piece[step.end_of(row) - at..][..if step.tile.is_diagonal() { row } else { first }];
                if all {
                    column[x.start..][..own.len()].copy_from_slice(own);
                    return;
                }
                let y = y.start + row - first;
                for other in
                    level.pairs().neighbours(y).map(|x| x as usize).filter(|other| x.contains(other) && *other < y)
                {
                    column[other] = own[other - x.start];
                }
            };
            each(&pool, threads_for(&pool, piece.len()) > 1, rows, enter);
            from = to;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_in_one_step_and_panels_that_pass_are_few() {
        for (p, held) in [(2, 2), (3, 2), (7, 3), (20, 4), (100, 5), (100, 33), (100, 99), (100, 100)] {
            for all in [0..p, 0..p / 2, p / 3..p, p / 2..p / 2 + 1] {
                let cut = Cut::new(&all, held);
                assert!(cut.held() <= held && cut.stay > 0, "{p} {held}");
                let mut seen = vec![0; p * p];
                let mut copied = 0;
                let mut passed = 0..0;
                for tile in cut.tiles() {
                    if tile.is_diagonal() {
                        copied += tile.y.len();
                    } else if std::mem::replace(&mut passed, tile.x.clone()) != tile.x {
                        copied += tile.x.len();
                    }
                }
                assert!(copied <= p + cut.pass * all.len() + p * p / (2 * cut.stay), "{p} {held}: {copied} columns");
                for room in [p, 3 * p] {
                    for Step { tile, rows } in cut.steps(room) {
                        assert!(!rows.is_empty() && triangle(rows.end) - triangle(rows.start) <= room);
                        for row in rows {
                            let y = tile.y.start + row - tile.first();
                            tile.x.clone().filter(|x| *x < y).for_each(|x| seen[y * p + x] += 1);
                        }
                    }
                }
                let expected = |at: usize| if at % p < at / p && all.contains(&(at / p)) { 2 } else { 0 };
                assert!((0..p * p).all(|at| seen[at] == expected(at)), "{p} {held} {all:?}");
            }
        }
    }
}
