//! Rows of the correlation matrix on the GPU.

use std::ops::Range;

use crate::engine::cuda::arguments::{CorrelationArgs, CORRELATION_THREADS, PRODUCT_BYTES, TILE};
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::Held;
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::gpu::portions::Portion;
use crate::engine::cuda::gpu::transfer::numbers_of;
use crate::engine::cuda::pointer::DevicePtr;
use crate::moments::Centred;
use crate::observer::Observer;
use crate::Result;

/// Rows that level 1 takes together. A panel has a multiple of this many rows.
pub(super) const STEP: usize = crate::engine::cuda::arguments::MASK_ROWS as usize;

/// Multiplications of a launch: some hundredths of a second, so that a user can interrupt.
pub(super) const SLICE_PRODUCTS: u64 = 200_000_000_000;

/// The columns of data on the GPU: all of them, or those of a panel's rows and as many others at a time as fit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rows {
    /// Address of the sums of squares of all columns.
    squares: DevicePtr<f64>,
    /// Address of the columns: of all, or of a panel's rows and a tile of the others.
    columns: DevicePtr<f64>,
    /// Number of columns that there is room for; 0 if the correlations come from a matrix.
    room: usize,
    all_there: bool,
}

/// All columns of data on the GPU, centred, and their sums of squares.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllColumns {
    pub columns: DevicePtr<f64>,
    pub squares: DevicePtr<f64>,
}

/// A part of the matrix, some columns of some rows, and its address. A row there has as many numbers as `columns`.
#[derive(Clone, Debug, Default)]
pub(super) struct Panel {
    pub rows: Range<usize>,
    pub columns: Range<usize>,
    pub at: DevicePtr<f64>,
    /// List of the tiles to compute, if all columns of data are on the GPU; null: all. See `tiles` of [`CorrelationArgs`].
    pub tiles: DevicePtr<u32>,
}

/// Most blocks on a multiprocessor for the tiles of a list: more than it runs at a time.
const LISTED_BLOCKS: u64 = 8;

type Look<'l> = dyn FnMut() -> Result<()> + 'l;

/// Lists the tiles of a panel that are computed, as [`Panel::tiles`].
type MarkTiles<'m> = dyn FnMut(&mut Held, &Panel, &mut dyn Observer) -> Result<DevicePtr<u32>> + 'm;

/// The source of the correlations of p variables.
#[derive(Clone, Copy)]
pub(super) enum Cells<'c> {
    /// The correlations themselves, p x p.
    Matrix(&'c [f64]),
    /// Columns of data.
    Data(&'c Centred<'c>),
}

impl Rows {
    /// Plans memory for the columns of data. It has room for all if they take at most a third of `room`, the bytes of the whole search.
    pub fn plan(&mut self, held: &mut Held, cells: Cells, p: usize, room: u64) {
        let Cells::Data(x) = cells else { return };
        let column = 8 * x.n() as u64;
        let fits = (room / 3 / column) as usize;
        self.all_there = fits >= p;
        // Otherwise it holds the columns of a panel's rows, and tiles of the others.
        self.room = if self.all_there { p } else { fits.max(2 * STEP) / (2 * STEP) * (2 * STEP) };
        held.plan.set(Buffer::Columns, column * self.room as u64);
        held.plan.set(Buffer::Batch, 8 * p as u64);
    }

    /// Returns how many rows a panel may have, as their columns must be on the GPU.
    pub fn most_rows(&self, p: usize) -> usize {
        if self.room == 0 || self.all_there {
            p
        } else {
            self.room / 2
        }
    }

    /// Returns the columns, if all are there. The plan must be committed before their addresses are used.
    pub fn all(&self) -> Option<AllColumns> {
        self.all_there.then_some(AllColumns { columns: self.columns, squares: self.squares })
    }

    /// Computes the sums of squares of all columns, copying as many as fit at a time. The plan must be committed.
    pub fn begin(&mut self, held: &mut Held, cells: Cells, p: usize, look: &mut Look) -> Result<()> {
        let Cells::Data(x) = cells else { return Ok(()) };
        self.squares = held.device(Buffer::Batch)?.cast();
        self.columns = held.device(Buffer::Columns)?;
        for first in (0..p).step_by(self.room) {
            let some = first..p.min(first + self.room);
            let args = CorrelationArgs { first_column: first as u64, ..self.send(held, x, some.clone(), 0, look)? };
            let tiles = some.len().div_ceil(TILE as usize) as u32;
            // SAFETY: the columns are there, and room for the sums of squares of all.
            unsafe {
                held.gpu.launch(Kernel::cor_norms.on((tiles, 1), CORRELATION_THREADS, PRODUCT_BYTES), &args)?;
            }
            held.wait("computing correlations", look)?;
        }
        Ok(())
    }

    /// Copies the columns `some` to the GPU, after the first `place` columns of the buffer, and centres them there.
    fn send(
        &self,
        held: &mut Held,
        x: &Centred,
        some: Range<usize>,
        place: usize,
        look: &mut Look,
    ) -> Result<CorrelationArgs> {
        let n = x.n();
        let at = self.columns.offset((n * place) as u64);
        held.send_numbers_with(at, n * some.len(), 1, |from, numbers| x.fill(some.start * n + from, numbers), look)?;
        let args = CorrelationArgs {
            n: n as u64,
            p: some.len() as u64,
            columns: some.len() as u64,
            x: at,
            squares: self.squares,
            ..CorrelationArgs::default()
        };
        // SAFETY: `args.p` columns are there.
        unsafe { centre(held, &args)? };
        Ok(args)
    }

    /// Puts the rows of a panel on the GPU: copies them from a matrix, or computes them from data and waits.
    pub fn make(&self, held: &mut Held, cells: Cells, p: usize, panel: &Panel, look: &mut Look) -> Result<()> {
        let Panel { rows, columns, at, tiles } = panel.clone();
        let pitch = columns.len();
        let x = match cells {
            Cells::Matrix(cells) => {
                let copy = |from: usize, numbers: &mut [f64]| copy_rows(cells, p, &columns, rows.start, from, numbers);
                return held.send_numbers_with(at, rows.len() * pitch, 1, copy, look);
            }
            Cells::Data(x) => x,
        };
        let n = x.n();
        let mut args = CorrelationArgs {
            n: n as u64,
            c: at.before(columns.start as u64),
            squares: self.squares,
            first_row: rows.start as u64,
            rows: rows.len() as u64,
            pitch: pitch as u64,
            ..CorrelationArgs::default()
        };
        if self.all_there {
            args.left = self.columns.offset((n * rows.start) as u64);
            args.x = self.columns.offset((n * columns.start) as u64);
            (args.columns, args.first_column) = (pitch as u64, columns.start as u64);
            args.tiles = tiles;
            return product(held, args, look);
        }
        self.send(held, x, rows.clone(), 0, look)?;
        args.left = self.columns;
        let tile = self.room - self.room / 2;
        for first in columns.clone().step_by(tile) {
            let some = first..columns.end.min(first + tile);
            let sent = self.send(held, x, some.clone(), self.room / 2, look)?;
            let part = CorrelationArgs { x: sent.x, columns: sent.columns, first_column: first as u64, ..args };
            product(held, part, look)?;
        }
        Ok(())
    }

    /// Puts the rows of these panels on the GPU, one after the other, and calls `made(held, number, observer)` for each. From data, the
    /// panel is then complete. From a matrix, it is on its way, outside the stream
    /// ([`Gpu::follow_sends`](crate::engine::cuda::gpu::opened::Gpu::follow_sends)), and the next ones follow meanwhile. From data, `mark`
    /// may name the tiles of a panel that are computed.
    pub fn make_each(
        &self,
        held: &mut Held,
        (cells, p): (Cells, usize),
        panels: &[Panel],
        observer: &mut dyn Observer,
        mark: &mut MarkTiles,
        made: &mut dyn FnMut(&mut Held, usize, &mut dyn Observer) -> Result<()>,
    ) -> Result<()> {
        let Cells::Matrix(cells) = cells else {
            for (number, panel) in panels.iter().enumerate() {
                let panel = Panel { tiles: mark(held, panel, observer)?, ..panel.clone() };
                self.make(held, cells, p, &panel, &mut || observer.look())?;
                made(held, number, observer)?;
            }
            return Ok(());
        };
        let bytes = |panel: &Panel| 8 * panel.rows.len() * panel.columns.len();
        let portions: Vec<Portion> =
            panels.iter().map(|panel| Portion { to: panel.at.cast(), bytes: bytes(panel) }).collect();
        let fill = |number: usize, offset: usize, piece: &mut [u8]| {
            let Panel { rows, columns, .. } = &panels[number];
            copy_rows(cells, p, columns, rows.start, offset / 8, numbers_of(piece));
        };
        held.ahead(|held| {
            held.send_portions(1, &portions, fill, &mut |held, number, sent| match sent == portions[number].bytes {
                true => made(held, number, observer),
                false => Ok(()),
            })
        })
    }

    /// Copies the columns of `vertices` to the GPU in this order; there must be room for them. Returns false if none has to be copied.
    pub fn gather(&self, held: &mut Held, cells: Cells, vertices: &[u32], look: &mut Look) -> Result<bool> {
        let Cells::Data(x) = cells else { return Ok(false) };
        if self.all_there {
            return Ok(false);
        }
        let (at, n) = (self.columns, x.n());
        let fill = |mut from: usize, mut rest: &mut [f64]| {
            while !rest.is_empty() {
                let (column, row) = (from / n, from % n);
                let some = rest.len().min(n - row);
                let (own, later) = rest.split_at_mut(some);
                x.fill(vertices[column] as usize * n + row, own);
                rest = later;
                from += some;
            }
        };
        held.send_numbers_with(at, n * vertices.len(), 1, fill, look)?;
        let args = CorrelationArgs { n: n as u64, p: vertices.len() as u64, x: at, ..CorrelationArgs::default() };
        // SAFETY: `args.p` columns are there.
        unsafe { centre(held, &args)? };
        Ok(true)
    }

    /// Computes the correlations of pairs of columns: `count` at `at`, one for each two numbers of columns in `ids`. These are the columns
    /// that [`Rows::gather`] copied, with these `vertices`; null: all columns are there.
    pub fn make_pairs(
        &self,
        held: &Held,
        (cells, count): (Cells, usize),
        [ids, vertices]: [DevicePtr<u32>; 2],
        at: DevicePtr<f64>,
    ) -> Result<()> {
        let Cells::Data(x) = cells else { return Ok(()) };
        let args = CorrelationArgs {
            n: x.n() as u64,
            p: count as u64,
            x: self.columns,
            c: at,
            squares: self.squares,
            ids,
            vertices,
            ..CorrelationArgs::default()
        };
        let blocks = count.div_ceil(CORRELATION_THREADS as usize / 4).clamp(1, 65_535) as u32;
        // SAFETY: the columns that `ids` refers to are there, and room for `count` numbers.
        unsafe { held.gpu.launch(Kernel::cor_pairs.on((blocks, 1), CORRELATION_THREADS, 0), &args) }
    }

    /// Returns how many columns `gather` may copy at a time: `usize::MAX` if none has to be copied.
    pub fn most_gathered(&self) -> usize {
        if self.room == 0 || self.all_there {
            usize::MAX
        } else {
            self.room
        }
    }

    /// Computes `count` blocks of correlations, each of `width` columns with each other (see `cor_blocks`), and waits for them.
    pub fn make_blocks(
        &self,
        held: &mut Held,
        cells: Cells,
        [ids, vertices]: [DevicePtr<u32>; 2],
        [count, width]: [usize; 2],
        at: DevicePtr<f64>,
        look: &mut Look,
    ) -> Result<()> {
        let Cells::Data(x) = cells else { return Ok(()) };
        let n = x.n();
        let tiles = (width as u64).div_ceil(u64::from(TILE));
        let mut args = CorrelationArgs {
            n: n as u64,
            x: self.columns,
            c: at,
            squares: self.squares,
            width: width as u64,
            ids,
            vertices,
            ..CorrelationArgs::default()
        };
        let slice = (SLICE_PRODUCTS / (n as u64 * tiles * tiles * u64::from(TILE * TILE))).clamp(1, 1 << 30) as usize;
        for first in (0..count).step_by(slice) {
            args.first_tile = first as u64;
            let blocks = slice.min(count - first) as u32;
            let launch = Kernel::cor_blocks.on((blocks, (tiles * tiles) as u32), CORRELATION_THREADS, PRODUCT_BYTES);
            // SAFETY: the columns that `ids` refers to are there, and room for `count` blocks.
            unsafe { held.gpu.launch(launch, &args)? };
            held.wait("computing correlations", look)?;
        }
        Ok(())
    }
}

/// Centres columns on the GPU.
///
/// # Safety
/// `args.x` must have `args.p` columns of `args.n` numbers.
pub(super) unsafe fn centre(held: &Held, args: &CorrelationArgs) -> Result<()> {
    let shared = u64::from(CORRELATION_THREADS / WARP) * 8;
    held.gpu.launch(Kernel::cor_centre.on((args.p.min(65_535) as u32, 1), CORRELATION_THREADS, shared), args)
}

/// Copies cells of these columns into `to`, row by row from row `first` of the matrix on, without the first `from` cells.
fn copy_rows(cells: &[f64], p: usize, columns: &Range<usize>, first: usize, mut from: usize, mut to: &mut [f64]) {
    while !to.is_empty() {
        let (row, column) = (from / columns.len(), from % columns.len());
        let some = to.len().min(columns.len() - column);
        let (own, later) = to.split_at_mut(some);
        let start = (first + row) * p + columns.start + column;
        own.copy_from_slice(&cells[start..start + some]);
        to = later;
        from += some;
    }
}

/// Computes the correlations of a panel's rows with `args.columns` columns, in launches short enough that a user can interrupt.
fn product(held: &mut Held, mut args: CorrelationArgs, look: &mut Look) -> Result<()> {
    let tile = u64::from(TILE);
    let tiles = args.columns.div_ceil(tile) * args.rows.div_ceil(tile);
    let slice = (SLICE_PRODUCTS / (args.n * tile * tile)).clamp(1, 1 << 30);
    while args.first_tile < tiles {
        args.end_tile = tiles.min(args.first_tile + slice);
        let blocks = args.end_tile - args.first_tile;
        // A list is usually short, and its length is not known here.
        let blocks =
            if args.tiles.is_null() { blocks } else { blocks.min(LISTED_BLOCKS * u64::from(held.gpu.processors)) };
        let launch = Kernel::cor_panel.on((blocks as u32, 1), CORRELATION_THREADS, PRODUCT_BYTES);
        // SAFETY: both sets of columns are there, with all sums of squares, and room for the rows.
        unsafe { held.gpu.launch(launch, &args)? };
        args.first_tile = args.end_tile;
        held.wait("computing correlations", look)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_rows_are_copied_whatever_the_pieces() {
        let (p, first) = (7, 2);
        let cells: Vec<f64> = (0..p * p).map(|i| i as f64).collect();
        for columns in [0..5, 3..7] {
            let of_row = |row: usize| columns.clone().map(move |c| (row * p + c) as f64);
            let want: Vec<f64> = (first..6).flat_map(of_row).collect();
            for size in 1..want.len() {
                let mut found = vec![0.0; want.len()];
                for (piece, to) in found.chunks_mut(size).enumerate() {
                    copy_rows(&cells, p, &columns, first, piece * size, to);
                }
                assert_eq!(found, want);
            }
        }
    }
}
