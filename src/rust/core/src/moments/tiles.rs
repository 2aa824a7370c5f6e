//! Correlations of some columns with some others. Each is the very number that [`of_centred`](super::of_centred) gives for the pair.
//!
//! A product of two columns is a sum over the rows, in an order that depends only on their number. It does not depend on which columns are
//! multiplied together, or on which of the two is first. With up to [`NARROW`] columns in all, each segment has its own sum, and these are
//! added at the end.

use std::ops::Range;
use std::sync::Mutex;

use super::columns::Centred;
use super::product::{multiply_columns, Columns, Moments};
use super::{AT_ONCE, BLOCK, NARROW, SEGMENT};
use crate::matrix::symmetrise;
use crate::memory::{self, Use};
use crate::pool::{Pool, Stop};
use crate::Result;

/// Number of column values that are gathered at a time, 2 MiB, but at least [`BLOCK`] columns.
const GATHERED: usize = 1 << 18;

/// Rows and columns of a tile, which stays in the cache.
const TILE: [usize; 2] = [256, 128];

/// Centred columns, n x p, whose correlations are computed.
pub struct Tiles<'a> {
    cells: &'a [f64],
    n: usize,
    p: usize,
    /// By column: the sum that remains after subtracting the rounded mean. `variances` are the sums of squares minus the part due to it.
    rests: Vec<f64>,
    variances: Vec<f64>,
}

/// Working memory of one thread, at most 5 MiB.
#[derive(Default)]
pub struct Gathered {
    left: Vec<f64>,
    right: Vec<f64>,
    segment: Vec<f64>,
    rests: Vec<f64>,
    variances: Vec<f64>,
}

/// A selection of the columns.
#[derive(Clone, Copy)]
enum Pick<'a> {
    Row { first: usize, count: usize },
    List(&'a [u32]),
}

impl Pick<'_> {
    fn count(self) -> usize {
        match self {
            Pick::Row { count, .. } => count,
            Pick::List(list) => list.len(),
        }
    }

    fn at(self, i: usize) -> usize {
        match self {
            Pick::Row { first, .. } => first + i,
            Pick::List(list) => list[i] as usize,
        }
    }
}

impl<'a> Tiles<'a> {
    /// Makes tiles of `cells`: columns of `n` values as [`Centred::write`] writes them.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error), and errors of `look`, also from the other methods.
    pub fn new(cells: &'a [f64], n: usize, pool: &Pool, look: &mut dyn FnMut() -> Result<()>) -> Result<Self> {
        let n = n.max(1);
        let p = cells.len() / n;
        let x = Centred::of_cells(cells, n);
        let (rests, variances) = (memory::zeros(p, Use::Correlations)?, memory::zeros(p, Use::Correlations)?);
        let mut tiles = Tiles { cells, n, p, rests, variances };
        let mut found: Vec<[f64; 2]> = memory::space(p, Use::Correlations)?;
        found.resize(p, [0.0; 2]);
        let slots: Vec<Mutex<&mut [[f64; 2]]>> = found.chunks_mut(BLOCK).map(Mutex::new).collect();
        let work = |(gathered, column): &mut (Gathered, Vec<f64>), task: usize, _: &Stop| {
            let Ok(mut slot) = slots[task].lock() else { return };
            if !memory::grow(column, SEGMENT.min(n), 0.0, Use::Correlations) {
                return;
            }
            for (j, [rest, square]) in (task * BLOCK..).zip(slot.iter_mut()) {
                for rows in tiles.segments() {
                    *rest += x.column(j, rows.clone(), &mut column[..rows.len()]);
                }
                let pick = Pick::Row { first: j, count: 1 };
                tiles.products(pick, pick, std::slice::from_mut(square), 1, gathered);
            }
        };
        pool.run(slots.len(), false, |_| 1.0, &mut |_| look(), work)?;
        drop(slots);
        for (j, [rest, square]) in found.into_iter().enumerate() {
            tiles.rests[j] = rest;
            tiles.variances[j] = square - rest * rest / n as f64;
        }
        Ok(tiles)
    }

    /// Returns the number of columns.
    pub fn p(&self) -> usize {
        self.p
    }

    fn segments(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.n).step_by(SEGMENT).map(|from| from..self.n.min(from + SEGMENT))
    }

    /// Returns the values of some columns in some rows, or `None` if memory has run out.
    fn columns<'b>(&'b self, pick: Pick, rows: &Range<usize>, gathered: &'b mut Vec<f64>) -> Option<Columns<'b>> {
        let count = pick.count();
        match pick {
            Pick::Row { first, .. } => {
                Some(Columns { values: &self.cells[first * self.n + rows.start..], stride: self.n, count })
            }
            Pick::List(list) => {
                let stride = rows.len();
                if !memory::grow(gathered, count * stride, 0.0, Use::Correlations) {
                    return None;
                }
                for (column, &j) in gathered.chunks_exact_mut(stride).zip(list) {
                    let from = j as usize * self.n;
                    column.copy_from_slice(&self.cells[from + rows.start..from + rows.end]);
                }
                Some(Columns { values: gathered, stride, count })
            }
        }
    }

    /// Writes the product of `left[i]` and `right[j]` to `out[j * stride + i]`. The output is useless if memory has run out.
    fn products(&self, left: Pick, right: Pick, out: &mut [f64], stride: usize, gathered: &mut Gathered) {
        let (m, narrow) = (left.count(), self.p <= NARROW);
        let Gathered { left: of_left, right: of_right, segment, .. } = gathered;
        for rows in self.segments() {
            let Some(left) = self.columns(left, &rows, of_left) else { return };
            let Some(right) = self.columns(right, &rows, of_right) else { return };
            if !narrow {
                let beta = if rows.start == 0 { 0.0 } else { 1.0 };
                multiply_columns(left, right, rows.len(), out, stride, beta);
                continue;
            }
            if !memory::grow(segment, m * right.count, 0.0, Use::Correlations) {
                return;
            }
            multiply_columns(left, right, rows.len(), segment, m, 0.0);
            for (out, add) in out.chunks_mut(stride).zip(segment.chunks(m)).take(right.count) {
                for (cell, add) in out[..m].iter_mut().zip(add) {
                    *cell = if rows.start == 0 { 0.0 } else { *cell } + add;
                }
            }
        }
    }

    /// Writes the correlation of `left[i]` and `right[j]` to `out[j * stride + i]`.
    fn tile(&self, left: Pick, right: Pick, out: &mut [f64], stride: usize, gathered: &mut Gathered) {
        self.products(left, right, out, stride, gathered);
        let Gathered { rests, variances, .. } = gathered;
        let (count, n) = (left.count(), self.n as f64);
        let moments = match left {
            Pick::Row { first, count } => {
                let of = first..first + count;
                Moments { rests: &self.rests[of.clone()], variances: &self.variances[of], n }
            }
            Pick::List(list) => {
                for (to, of) in [(&mut *rests, &self.rests), (&mut *variances, &self.variances)] {
                    to.clear();
                    if !memory::prepare(to, count, Use::Correlations) {
                        return;
                    }
                    to.extend(list.iter().map(|&j| of[j as usize]));
                }
                Moments { rests, variances, n }
            }
        };
        for (j, out) in out.chunks_mut(stride).enumerate().take(right.count()) {
            let (y, out) = (right.at(j), &mut out[..count]);
            moments.correlate(out, self.rests[y], self.variances[y]);
            match left {
                Pick::Row { first, .. } => out.get_mut(y.wrapping_sub(first)).into_iter().for_each(|cell| *cell = 1.0),
                Pick::List(list) => {
                    let same = out.iter_mut().zip(list).filter(|(_, &x)| x as usize == y);
                    same.for_each(|(cell, _)| *cell = 1.0);
                }
            }
        }
    }

    /// Writes the correlations of `columns` with `rows` to `out`, p numbers per column.
    pub fn fill(
        &self,
        columns: Range<usize>,
        rows: Range<usize>,
        out: &mut [f64],
        pool: &Pool,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        // Each task takes some rows of all columns. These are then prepared for the product once per block of columns.
        let height = (rows.len().div_ceil(8 * pool.threads())).clamp(BLOCK, AT_ONCE);
        let mut tasks: Vec<Mutex<Vec<&mut [f64]>>> = Vec::new();
        tasks.resize_with(rows.len().div_ceil(height), Mutex::default);
        for column in out.chunks_mut(self.p).take(columns.len()) {
            for (part, task) in column[rows.clone()].chunks_mut(height).zip(&mut tasks) {
                if let Ok(task) = task.get_mut() {
                    memory::push(task, part, Use::Correlations)?;
                }
            }
        }
        let work = |(gathered, tile): &mut (Gathered, Vec<f64>), task: usize, stop: &Stop| {
            let Ok(mut parts) = tasks[task].lock() else { return };
            let [step, width] = TILE;
            if !memory::grow(tile, step * width, 0.0, Use::Correlations) {
                return;
            }
            let first = rows.start + task * height;
            for (right, parts) in columns.clone().step_by(width).zip(parts.chunks_mut(width)) {
                let right = Pick::Row { first: right, count: parts.len() };
                for from in (0..parts[0].len()).step_by(step).take_while(|_| !stop.requested()) {
                    let count = step.min(parts[0].len() - from);
                    self.tile(Pick::Row { first: first + from, count }, right, tile, step, gathered);
                    for (part, tile) in parts.iter_mut().zip(tile.chunks(step)) {
                        part[from..from + count].copy_from_slice(&tile[..count]);
                    }
                }
            }
        };
        pool.run(tasks.len(), false, |_| 1.0, &mut |_| look(), work)
    }

    /// Writes the correlations of the variables `of` with all of `with` to `out`, on this thread. The columns for `of` begin `stride`
    /// apart. The output is useless if `stop` requests a stop or memory has run out.
    pub fn between(
        &self,
        with: &[u32],
        of: &[u32],
        out: &mut [f64],
        stride: usize,
        gathered: &mut Gathered,
        stop: &Stop,
    ) {
        let at_once = (GATHERED / self.n.min(SEGMENT)).max(BLOCK);
        for (right, out) in of.chunks(BLOCK).zip(out.chunks_mut(BLOCK * stride)) {
            for (at, left) in with.chunks(at_once).enumerate().take_while(|_| !stop.requested()) {
                self.tile(Pick::List(left), Pick::List(right), &mut out[at * at_once..], stride, gathered);
            }
        }
    }

    /// Returns how many times [`Tiles::between`] gathers the values of `with` for `of` other variables.
    pub fn gatherings(of: usize) -> usize {
        of.div_ceil(BLOCK)
    }

    /// Writes the correlations of variables among themselves, d x d, to `out`, as [`Tiles::between`] does.
    pub fn among(&self, of: &[u32], out: &mut [f64], gathered: &mut Gathered, stop: &Stop) {
        for block in 0..self.blocks(of) {
            self.block_among(block, of, &mut out[block * BLOCK * of.len()..], gathered, stop);
        }
        symmetrise(out, of.len(), &Pool::none());
    }

    /// Returns the number of parts for [`Tiles::block_among`].
    pub fn blocks(&self, of: &[u32]) -> usize {
        of.len().div_ceil(BLOCK)
    }

    /// Returns the number of cells of such a part. The last part may have fewer.
    pub fn block_cells(of: &[u32]) -> usize {
        BLOCK * of.len()
    }

    /// Writes one part of [`Tiles::among`]. `symmetrise` must then complete the whole.
    pub fn block_among(&self, block: usize, of: &[u32], out: &mut [f64], gathered: &mut Gathered, stop: &Stop) {
        let right = &of[block * BLOCK..of.len().min((block + 1) * BLOCK)];
        let left = &of[..block * BLOCK + right.len()];
        let at_once = (GATHERED / self.n.min(SEGMENT)).max(BLOCK);
        for (at, left) in left.chunks(at_once).enumerate().take_while(|_| !stop.requested()) {
            self.tile(Pick::List(left), Pick::List(right), &mut out[at * at_once..], of.len(), gathered);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::of_centred;
    use super::*;

    /// Tests few and many columns, and rows in one segment and in several, in various combinations.
    #[test]
    fn a_pair_has_one_correlation() {
        for (n, p) in [(5, 2), (40, 23), (4097, 9), (9001, 70), (200, 256), (31, 257), (300, 300), (8300, 261)] {
            let value =
                |at: usize| (((at * 7919) % 10_007) as f64 / 10_007.0 + (at / n % 7) as f64 * (at % 11) as f64) - 5.0;
            let mut cells: Vec<f64> = (0..n * p).map(value).collect();
            for i in 0..n {
                // The last column is the first one with opposite sign.
                cells[(p - 1) * n + i] = -cells[i];
            }
            let pool = Pool::new(2);
            let mut c = vec![7.0; p * p];
            of_centred(&Centred::of_cells(&cells, n), &pool, &mut c, &mut |_| Ok(())).unwrap();
            let tiles = Tiles::new(&cells, n, &pool, &mut || Ok(())).unwrap();
            let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
            for threads in [1, 3] {
                for (columns, rows) in [(0..p, 0..p), (p / 3..p, 0..p), (p / 2..p / 2 + 1, 1..p), (0..p / 2, 0..p / 2)]
                {
                    let mut out = vec![7.0; columns.len() * p];
                    tiles.fill(columns.clone(), rows.clone(), &mut out, &Pool::new(threads), &mut || Ok(())).unwrap();
                    for (i, y) in columns.enumerate() {
                        assert!(rows.clone().all(|x| same(out[i * p + x], c[y * p + x])), "{n} x {p}: {y}");
                    }
                }
            }
            let (mut gathered, stop) = (Gathered::default(), Stop::default());
            for step in [1, 2, 5].into_iter().filter(|step| p > 4 * step || *step == 1) {
                let some: Vec<u32> = (0..p as u32).filter(|&v| (v as usize * 31 + 7) % step == 0).rev().collect();
                let d = some.len();
                let mut out = vec![7.0; d * d];
                tiles.among(&some, &mut out, &mut gathered, &stop);
                let cell = |i: usize, j: usize| c[some[j] as usize * p + some[i] as usize];
                assert!((0..d * d).all(|at| same(out[at], cell(at % d, at / d))), "{n} x {p} by {step}");
                let few = &some[d / 2..];
                tiles.between(&some, few, &mut out, d, &mut gathered, &stop);
                assert!(
                    (0..d * few.len()).all(|at| same(out[at], cell(at % d, d / 2 + at / d))),
                    "{n} x {p} by {step}"
                );
            }
        }
    }
}
