//! A batch of rows on the GPU.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::local::{cells_of, words_before, Local};
use super::super::{cells_of as data_of, differ, Blocks};
use super::found::SideFound;
use super::{Batch, Level};
use crate::engine::cuda::arguments::{CorrelationArgs, SearchArgs, CORRELATION_THREADS, NO_COLUMN, SLOT_BYTES};
use crate::engine::cuda::gauss::rows::Cells;
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::gpu::plan::aligned;
use crate::engine::cuda::lists::Lists;
use crate::engine::cuda::pointer::DevicePtr;
use crate::memory;
use crate::observer::Observer;
use crate::search::level::Neighbours;
use crate::Result;

/// Numbers that are copied in about the time of gathering one from a matrix.
const GATHERING: usize = 8;

/// Two slots after those of a batch. They stand for the other side of a pair, and say whether the pair is asked.
const OPEN: [u64; 6] = [u64::MAX; 6];
const CLOSED: [u64; 6] = [0; 6];

/// Widest blocks that are always sent as triangles: half as many numbers are gathered, and what is sent takes little room on the GPU.
const NARROW: usize = 64;

/// A batch whose correlations and lists are on the GPU: its numbering, and where it starts there, in bytes.
pub(super) struct Placed {
    pub local: Local,
    at: u64,
}

/// Sizes that [`Places`] depend on: numbers of vertices, bytes of correlations and of bits of the graph. For blocks, also rows, and the
/// correlations in their triangles.
struct Shape {
    numbers: usize,
    cells: usize,
    bits: usize,
    rows: usize,
    sent: usize,
}

/// Places of a batch's data, in bytes from its start.
pub(super) struct Places {
    cells: u64,
    bits: u64,
    offset: u64,
    first_item: u64,
    first_wide: u64,
    list: u64,
    candidates: u64,
    twin: u64,
    slot: u64,
    found: u64,
    ids: u64,
    vertices: u64,
    /// Correlations that are sent as triangles (`sent`), and where those of each row start (`starts`), if `is_spread`.
    sent: u64,
    starts: u64,
    is_spread: bool,
    pub end: u64,
}

impl Places {
    /// Returns the places for `rows` blocks of `width`. In all they have `entries` neighbours, and `cells` correlations in their triangles.
    pub fn new(rows: usize, width: usize, entries: usize, cells: usize, level: Level) -> Self {
        // The blocks are narrow, or at most half full.
        let is_spread = width <= NARROW || 4 * cells <= rows * cells_of(width);
        Self::of([rows, width, entries, cells], level, is_spread)
    }

    /// Returns the largest end for any first rows of such blocks. It counts triangles, which may be sent for these even if not for all.
    pub fn most(rows: usize, width: usize, entries: usize, cells: usize, level: Level) -> u64 {
        Self::of([rows, width, entries, cells], level, true).end
    }

    /// Returns the places for rows of `p` vertices that keep their numbers; `entries`: vertices in their lists.
    pub fn whole(p: usize, entries: usize, level: Level) -> Self {
        let numbers = Shape { numbers: p, cells: 0, bits: 8 * p * p.div_ceil(64), rows: 0, sent: 0 };
        Self::of_shape(numbers, entries, Level { of_data: false, ..level }, false)
    }

    fn of([rows, width, entries, sent]: [usize; 4], level: Level, is_spread: bool) -> Self {
        let (cells, bits) = (8 * rows * cells_of(width), 4 * words_before(rows, width));
        let shape = Shape { numbers: rows * width, cells, bits, rows, sent };
        Self::of_shape(shape, entries, level, is_spread && !level.of_data)
    }

    fn of_shape(shape: Shape, entries: usize, level: Level, is_spread: bool) -> Self {
        let Shape { numbers, cells, bits, rows, sent } = shape;
        let mut end = 0;
        let mut next = |bytes: usize| {
            let at = end;
            end += aligned(bytes.max(1));
            at
        };
        let of_spread = |bytes: usize| if is_spread { bytes } else { 0 };
        Places {
            cells: next(cells),
            bits: next(bits),
            offset: next(8 * (numbers + 1)),
            first_item: next(8 * (numbers + 1)),
            first_wide: next(8 * (numbers + 1)),
            list: next(4 * entries),
            candidates: next(4 * numbers),
            twin: next(4 * entries),
            slot: next(SLOT_BYTES as usize * (entries + 2)),
            found: next(4 * SideFound::words(entries, level.size)),
            ids: next(if level.of_data { 4 * numbers } else { of_spread(4 * rows) }),
            vertices: next(if level.of_data { 4 * numbers } else { 0 }),
            sent: next(of_spread(8 * sent)),
            starts: next(of_spread(8 * (rows + 1))),
            is_spread,
            end,
        }
    }
}

impl Blocks<'_, '_> {
    /// Returns the places of a batch's data.
    fn places(&self, local: &Local, level: Level) -> Places {
        if local.is_whole() {
            return Places::whole(local.width, local.entries(), level);
        }
        let cells = local.cell_starts().last().map_or(0, |&end| end as usize);
        Places::new(local.rows.len(), local.width, local.entries(), cells, level)
    }

    /// Returns the kernels' arguments for a batch.
    fn args_of(&mut self, placed: &Placed, level: Level) -> Result<SearchArgs> {
        let local = &placed.local;
        let places = self.places(local, level);
        let held = &mut self.search.engine.held;
        let data = held.device::<u8>(Buffer::Data)?;
        let base: DevicePtr<u8> = match local.is_whole() {
            true => held.device::<u8>(Buffer::Slots)?,
            false => data.carve(placed.at),
        };
        let mut args = self.search.args;
        (args.p, args.pitch, args.words) = (local.count() as u64, local.width as u64, local.words() as u64);
        args.c = if local.is_whole() { data.cast() } else { base.carve(places.cells) };
        args.graph = base.carve(places.bits);
        args.offset = base.carve(places.offset);
        args.first_item = base.carve(places.first_item);
        args.first_wide = base.carve(places.first_wide);
        args.list = base.carve(places.list);
        if local.has_candidates() {
            args.candidates = base.carve(places.candidates);
        }
        args.twin = base.carve(places.twin);
        args.slot = base.carve(places.slot);
        (args.values, args.verdict, args.log) = SideFound::places(base.carve(places.found), local.entries());
        Ok(args)
    }

    /// Copies the lists of rows to the GPU.
    fn send_lists(&mut self, lists: &Lists, local: &Local, args: &SearchArgs) -> Result<()> {
        let held = &mut self.search.engine.held;
        let (offsets, list) = local.lists(lists, &held.pool);
        held.upload(args.offset, &offsets)?;
        held.upload(args.list, &list)?;
        if local.has_candidates() {
            held.upload(DevicePtr::at(args.candidates.address()), &local.candidates())?;
        }
        Ok(())
    }

    /// Copies the lists of rows to the GPU, which has all correlations.
    pub(super) fn place_whole(&mut self, lists: &Lists, rows: Vec<u32>, level: Level) -> Result<Placed> {
        let placed = Placed { local: Local::whole(lists, rows, self.gauss.p), at: 0 };
        let args = self.args_of(&placed, level)?;
        self.send_lists(lists, &placed.local, &args)?;
        Ok(placed)
    }

    /// Copies the data that both sides of a batch need to the GPU.
    pub(super) fn place_batch(
        &mut self,
        lists: &Lists,
        batch: Batch,
        level: Level,
        observer: &mut dyn Observer,
    ) -> Result<Placed> {
        let Batch { rows, width, at } = batch;
        let gauss = self.gauss;
        let placed = Placed { local: Local::new(lists, rows, width, &self.search.engine.held.pool), at };
        let local = &placed.local;
        let starts = local.cell_starts();
        let places = self.places(local, level);
        let args = self.args_of(&placed, level)?;
        self.send_lists(lists, local, &args)?;
        let held = &mut self.search.engine.held;
        let base: DevicePtr<u8> = held.device::<u8>(Buffer::Data)?.carve(at);
        let cells = data_of(&gauss, &self.data);
        match cells {
            Cells::Matrix(matrix) if places.is_spread => {
                let (sent, at): (DevicePtr<f64>, DevicePtr<u64>) = (base.carve(places.sent), base.carve(places.starts));
                let counts: Vec<u32> = (0..local.rows.len()).map(|row| local.block(row).len() as u32).collect();
                held.upload(at, &starts)?;
                held.upload(base.carve(places.ids), &counts)?;
                // Until the matrix is known to be symmetric, cells are compared with those of the other triangle.
                let (p, checks, odd) = (gauss.p, !self.state.is_symmetric, AtomicUsize::new(usize::MAX));
                let diagonal = &self.state.diagonal;
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
                let count = starts.last().map_or(0, |&end| end as usize);
                held.send_numbers_with(sent, count, GATHERING, gather, &mut || observer.look())?;
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
                // SAFETY: the numbers of these blocks are sent, with the start and the columns of each, and there is room for all blocks.
                unsafe { held.gpu.launch(Kernel::cor_spread.on((blocks, 1), CORRELATION_THREADS, 0), &spread)? }
            }
            Cells::Matrix(matrix) => {
                self.state.are_all_looked_at = false;
                let gather =
                    |from: usize, numbers: &mut [f64]| local.fill(|x, y| matrix[x * gauss.p + y], from, numbers);
                let at = DevicePtr::at(args.c.address());
                let count = local.rows.len() * cells_of(width);
                held.send_numbers_with(at, count, GATHERING, gather, &mut || observer.look())?
            }
            Cells::Data(_) => {
                let (ids, vertices) = (base.carve(places.ids), base.carve(places.vertices));
                let used = local.all_vertices();
                let is_gathered = self.state.rows.gather(held, cells, &used, &mut || observer.look())?;
                let place = |v: u32| used.binary_search(&v).map_or(NO_COLUMN, |at| at as u32);
                let columns: Vec<u32> =
                    local.vertices.iter().map(|&v| if is_gathered { place(v) } else { v }).collect();
                held.upload(ids, &columns)?;
                held.upload(vertices, &local.vertices)?;
                let shape = [local.rows.len(), width];
                self.state.rows.make_blocks(held, cells, [ids, vertices], shape, args.c, &mut || observer.look())?
            }
        }
        Ok(placed)
    }

    /// Prepares a batch for the sides of the entries that are asked. `second`: common neighbours come last among their candidates, or have
    /// been asked by the first sides.
    pub(super) fn begin_batch(
        &mut self,
        neighbours: &Neighbours,
        placed: &Placed,
        level: Level,
        is_asked: &[bool],
        second: bool,
    ) -> Result<()> {
        let local = &placed.local;
        self.search.args = self.args_of(placed, level)?;
        (self.search.args.second, self.search.args.any_side) = (u64::from(second), 1);
        self.search.all_rows();
        // SAFETY: the lists are there, with as many slots and twins.
        unsafe { self.search.by_row(Kernel::slots)? };
        let (args, held) = (self.search.args, &mut self.search.engine.held);
        let open = local.entries() as u32;
        held.upload(args.slot.offset(SLOT_BYTES * u64::from(open)).cast::<u64>(), &[OPEN, CLOSED].concat())?;
        let twins: Vec<u32> = is_asked.iter().map(|asked| if *asked { open } else { open + 1 }).collect();
        held.upload(args.twin, &twins)?;
        if second {
            let bits = local.bits(neighbours, &held.pool);
            held.upload(args.graph, &bits)?;
        }
        self.search.ends = u64::from(open);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::local::closely;
    use super::*;

    #[test]
    fn what_a_batch_takes_grows_with_it() {
        let level = Level { size: 2, widest: 40, of_data: true };
        let mut last = 0;
        for rows in 1..50 {
            let places = Places::new(rows, 64, 40 * rows, closely(41) * rows, level);
            assert!(places.end > last && places.vertices < places.end && places.cells == 0);
            last = places.end;
        }
    }
}
