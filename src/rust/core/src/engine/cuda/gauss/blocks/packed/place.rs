//! A batch of rows on the card.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::local::{cells_of, words_before, words_of_row, Local};
use super::super::{cells_of as data_of, differ, BlockSearch};
use super::found::SideFound;
use super::{Batch, Removed};
use crate::engine::cuda::arguments::{CorrelationArgs, SearchArgs, CORRELATION_THREADS, NO_COLUMN, SLOT_BYTES};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::card::plan::aligned;
use crate::engine::cuda::card::transfer::threads_for_steps;
use crate::engine::cuda::gauss::rows::Cells;
use crate::engine::cuda::pointer::DevicePtr;
use crate::memory;
use crate::observer::Observer;
use crate::pool::{part_of, Pool};
use crate::Result;

/// How many numbers are copied in about the time that one is gathered from a matrix.
const GATHERING: usize = 8;

/// What the kernels ask of the first side of a pair: slots behind those of the batch, in which nothing separates, and in which something does.
const OPEN: [u64; 6] = [u64::MAX; 6];
const CLOSED: [u64; 6] = [0; 6];

/// Widths up to which triangles are sent however full the blocks are: half as many numbers are gathered, and what is sent takes little room on the card.
const NARROW: usize = 64;

/// A batch whose correlations and lists are on the card: its numbering, and where kernels find it.
pub(super) struct Placed {
    pub local: Local,
    pub args: SearchArgs,
}

/// Where what a batch needs is, in bytes from its start.
pub(super) struct Places {
    cells: u64,
    bits: u64,
    fixed: u64,
    offset: u64,
    first_item: u64,
    first_wide: u64,
    list: u64,
    twin: u64,
    slot: u64,
    found: u64,
    ids: u64,
    vertices: u64,
    /// The correlations as they are sent, where that is as triangles, and where those of each row start.
    sent: u64,
    starts: u64,
    is_spread: bool,
    pub end: u64,
}

/// What a level is: the size of its sets, the most neighbours of a row, and whether edges are fixed.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub size: usize,
    pub widest: usize,
    pub has_fixed: bool,
    pub of_data: bool,
}

impl Places {
    /// Of `rows` blocks of `width` with so many neighbours in all, and so many correlations in the triangles of a row and its neighbours.
    pub fn new(rows: usize, width: usize, entries: usize, cells: usize, level: Level) -> Self {
        // Blocks are narrow, or wider than they have to be.
        let is_spread = width <= NARROW || 4 * cells <= rows * cells_of(width);
        Self::of([rows, width, entries, cells], level, is_spread)
    }

    /// The end of those of any first rows of such blocks, at most: triangles may be sent of these and not of all.
    pub fn most(rows: usize, width: usize, entries: usize, cells: usize, level: Level) -> u64 {
        Self::of([rows, width, entries, cells], level, true).end
    }

    fn of([rows, width, entries, cells]: [usize; 4], level: Level, is_spread: bool) -> Self {
        let is_spread = is_spread && !level.of_data;
        let mut end = 0;
        let mut next = |bytes: usize| {
            let at = end;
            end += aligned(bytes.max(1));
            at
        };
        let numbers = rows * width;
        let bits = 4 * words_before(rows, width);
        let of_spread = |bytes: usize| if is_spread { bytes } else { 0 };
        Places {
            cells: next(8 * rows * cells_of(width)),
            bits: next(bits),
            fixed: next(if level.has_fixed { bits } else { 0 }),
            offset: next(8 * (numbers + 1)),
            first_item: next(8 * (numbers + 1)),
            first_wide: next(8 * (numbers + 1)),
            list: next(4 * entries),
            twin: next(4 * entries),
            slot: next(SLOT_BYTES as usize * (entries + 2)),
            found: next(4 * SideFound::words(entries, level.size)),
            ids: next(if level.of_data { 4 * numbers } else { of_spread(4 * rows) }),
            vertices: next(if level.of_data { 4 * numbers } else { 0 }),
            sent: next(of_spread(8 * cells)),
            starts: next(of_spread(8 * (rows + 1))),
            is_spread,
            end,
        }
    }
}

impl BlockSearch<'_, '_> {
    /// Brings to the card what both sides of a batch need.
    pub(super) fn place_batch(&mut self, batch: Batch, level: Level, observer: &mut dyn Observer) -> Result<Placed> {
        let Batch { rows, width, at } = batch;
        let gauss = self.gauss;
        let local = Local::new(&self.graph, &self.degrees, rows, width, &self.search.engine.held.pool);
        let entries = local.entries();
        let starts = local.cell_starts();
        let sent_cells = starts[local.rows.len()] as usize;
        let places = Places::new(local.rows.len(), width, entries, sent_cells, level);
        let held = &mut self.search.engine.held;
        let base: DevicePtr<u8> = held.device::<u8>(Buffer::Data)?.carve(at);
        let mut args = self.search.args;
        (args.p, args.pitch, args.words) = (local.count() as u64, width as u64, words_of_row(width) as u64);
        args.c = base.carve(places.cells);
        args.graph = base.carve(places.bits);
        args.fixed = if level.has_fixed { base.carve(places.fixed) } else { DevicePtr::NULL };
        args.offset = base.carve(places.offset);
        args.first_item = base.carve(places.first_item);
        args.first_wide = base.carve(places.first_wide);
        args.list = base.carve(places.list);
        args.twin = base.carve(places.twin);
        args.slot = base.carve(places.slot);
        (args.values, args.verdict, args.log) = SideFound::places(base.carve(places.found), entries);
        let (offsets, list) = local.lists(&held.pool);
        held.upload(args.offset, &offsets)?;
        held.upload(args.list, &list)?;
        if let (true, Some(fixed)) = (level.has_fixed, &self.search.options.fixed_edges) {
            let bits = local.bits(fixed, &held.pool);
            held.upload(args.fixed, &bits)?;
        }
        let count = local.rows.len() * cells_of(width);
        let cells = data_of(&gauss, &self.data);
        match cells {
            Cells::Matrix(matrix) if places.is_spread => {
                let (sent, at): (DevicePtr<f64>, DevicePtr<u64>) = (base.carve(places.sent), base.carve(places.starts));
                let counts: Vec<u32> = (0..local.rows.len()).map(|row| local.block(row).len() as u32).collect();
                held.upload(at, &starts)?;
                held.upload(base.carve(places.ids), &counts)?;
                // Until all is known to be symmetric, the other triangle is looked at, too.
                let (p, checks, odd) = (gauss.p, !self.is_symmetric, AtomicUsize::new(usize::MAX));
                let diagonal = &self.diagonal;
                let cell = |x: usize, y: usize| {
                    if x == y {
                        return diagonal[x];
                    }
                    let r = matrix[x * p + y];
                    if checks && differ(r, matrix[y * p + x]) {
                        odd.fetch_min(x * p + y, Ordering::Relaxed);
                    }
                    r
                };
                let ahead = |x: usize, y: usize| memory::fetch_ahead(&matrix[x * p + y]);
                let gather = |from: usize, numbers: &mut [f64]| local.fill_closely(cell, ahead, &starts, from, numbers);
                held.send_numbers_with(sent, sent_cells, GATHERING, gather, &mut || observer.look())?;
                if odd.load(Ordering::Relaxed) < usize::MAX {
                    return Err(self.differing(odd.into_inner() as u64));
                }
                let held = &mut self.search.engine.held;
                let spread = CorrelationArgs {
                    p: local.rows.len() as u64,
                    x: sent,
                    c: DevicePtr::at(args.c.address()),
                    width: width as u64,
                    ids: base.carve(places.ids),
                    starts: at,
                    ..CorrelationArgs::default()
                };
                let blocks = local.rows.len().min(65_535) as u32;
                // SAFETY: so many blocks' numbers are sent, with where they start and how many columns each has, and there is room for all blocks.
                unsafe { held.card.launch(Kernel::cor_spread.on((blocks, 1), CORRELATION_THREADS, 0), &spread)? }
            }
            Cells::Matrix(matrix) => {
                self.are_all_looked_at = false;
                let gather =
                    |from: usize, numbers: &mut [f64]| local.fill(|x, y| matrix[x * gauss.p + y], from, numbers);
                let at = DevicePtr::at(args.c.address());
                held.send_numbers_with(at, count, GATHERING, gather, &mut || observer.look())?
            }
            Cells::Data(_) => {
                let (ids, vertices) = (base.carve(places.ids), base.carve(places.vertices));
                let used = local.all_vertices();
                let is_gathered = self.rows.gather(held, cells, &used, &mut || observer.look())?;
                let place = |v: u32| used.binary_search(&v).map_or(NO_COLUMN, |at| at as u32);
                let columns: Vec<u32> =
                    local.vertices.iter().map(|&v| if is_gathered { place(v) } else { v }).collect();
                held.upload(ids, &columns)?;
                held.upload(vertices, &local.vertices)?;
                let shape = [local.rows.len(), width];
                self.rows.make_blocks(held, cells, [ids, vertices], shape, args.c, &mut || observer.look())?
            }
        }
        Ok(Placed { local, args })
    }

    /// Makes a batch ready for its first sides, or, where `removed` is given, for its second ones: what the first removed has none.
    pub(super) fn begin_batch(&mut self, placed: &Placed, level: Level, removed: Option<&Removed>) -> Result<()> {
        let Placed { local, args } = placed;
        let entries = local.entries();
        self.search.args = *args;
        self.search.all_rows();
        // SAFETY: the lists are there, with as many slots and twins.
        unsafe { self.search.by_row(Kernel::slots)? };
        let held = &mut self.search.engine.held;
        let behind = args.slot.offset(SLOT_BYTES * entries as u64).cast::<u64>();
        held.upload(behind, &[OPEN, CLOSED].concat())?;
        if let Some(removed) = removed {
            let twins = twins(local, removed, &held.pool);
            held.upload(args.twin, &twins)?;
            if args.fast != 0 || level.size == 1 {
                let bits = local.bits(&self.graph, &held.pool);
                held.upload(args.graph, &bits)?;
            }
        }
        self.search.ends = entries as u64;
        Ok(())
    }
}

/// By entry: the slot behind the batch's that says whether the second side of its pair is asked.
fn twins(local: &Local, removed: &Removed, pool: &Pool) -> Vec<u32> {
    let open = local.entries() as u32;
    let mut twins = vec![0; local.entries()];
    let each = part_of(local.rows.len(), threads_for_steps(pool, 64 * local.entries()));
    let (mut parts, mut rest) = (Vec::new(), &mut twins[..]);
    for first in (0..local.rows.len()).step_by(each) {
        let end = local.rows.len().min(first + each);
        let (own, later) = std::mem::take(&mut rest).split_at_mut(local.starts[end] - local.starts[first]);
        rest = later;
        parts.push((first..end, own));
    }
    pool.each_of(parts, |_, (rows, twins): (Range<usize>, &mut [u32])| {
        let entries = rows.flat_map(|row| local.neighbours(row).map(move |y| (local.rows[row], y)));
        for (twin, (x, y)) in twins.iter_mut().zip(entries) {
            *twin = if y < x && !removed.has(y, x) { open } else { open + 1 };
        }
    });
    twins
}

#[cfg(test)]
mod tests {
    use super::super::super::local::closely;
    use super::*;

    #[test]
    fn what_a_batch_takes_grows_with_it() {
        let level = Level { size: 2, widest: 40, has_fixed: true, of_data: true };
        let mut last = 0;
        for rows in 1..50 {
            let places = Places::new(rows, 64, 40 * rows, closely(41) * rows, level);
            assert!(places.end > last && places.vertices < places.end && places.cells == 0);
            last = places.end;
        }
    }
}
