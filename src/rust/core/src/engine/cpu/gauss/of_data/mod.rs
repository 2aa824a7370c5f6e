//! The Gaussian test on data whose correlations would take more memory than they may, or of which few are asked for after level 0 ([`few`]): those
//! that are asked for are made of the data, and forgotten.
//!
//! Level 0 is run by columns of C, some at a time. From level 2 on a row asks for the correlations among itself and its neighbours alone
//! ([`rows`]); so it does at level 1 where neighbours are few, but then those of its lanes with its neighbours do. Where they are many,
//! level 1 is run by blocks of rows and of other vertices that are in memory together ([`panels`]). The kernels are those that run on the
//! whole matrix ([`GaussKernel`]), and a pair has the same correlation whichever part it is made for: so have all answers.

mod asked;
mod few;
mod panels;
mod problem;
mod rows;

use std::sync::Arc;

use ndarray::ArrayView2;

use super::thresholds::Thresholds;
use super::GaussKernel;
use crate::ci::gauss::{FisherZ, Gauss};
use crate::ci::Batch;
use crate::engine::cpu::fill_columns;
use crate::engine::LevelOne;
use crate::matrix;
use crate::memory::{self, Use};
use crate::moments::Tiles;
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::book::Book;
use crate::search::shards::{Part, Work};
use crate::search::worker::{Column, Marginals, Worker};
use crate::{Error, Result};
use panels::Panels;
use rows::Rows;

/// Columns of level 0 that are made together at most: more would serve nothing.
const COLUMNS: usize = 1024;

/// The most memory that correlations may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Bytes.
    pub bytes: u64,
    /// Whether the caller has named them; else they are what the process may get.
    pub is_named: bool,
}

impl Bound {
    /// Of fewer variables all correlations are kept where nobody names a bound.
    pub const LEAST: usize = few::LEAST;

    /// Bytes that all correlations of p variables take while a search has them, in double and in single precision.
    pub fn of_all(p: usize) -> u64 {
        16 * (p as u64).saturating_mul(p as u64)
    }

    /// Returns the bound for correlations of p variables that cannot be made all at once: the caller's, or half of what is there when `make`, which makes
    /// all of them, runs out of memory. None where all were made.
    ///
    /// # Errors
    /// Others of `make`.
    pub fn unless_made(named: Option<u64>, p: usize, make: impl FnOnce() -> Result<()>) -> Result<Option<Self>> {
        match named {
            Some(bytes) if Bound::of_all(p) > bytes => Ok(Some(Bound { bytes, is_named: true })),
            _ => match make() {
                Err(Error::Memory { bytes, available, .. }) => {
                    Ok(Some(Bound { bytes: available.unwrap_or(bytes) / 2, is_named: false }))
                }
                made => made.map(|()| None),
            },
        }
    }

    /// Returns the bound where few correlations are asked for, which nobody has named: that of all, or half of the memory that there is.
    pub fn of_few(p: usize) -> Self {
        let half = memory::available().map_or(u64::MAX, |available| available / 2);
        Bound { bytes: Bound::of_all(p).min(half), is_named: false }
    }

    fn fits(self, bytes: usize) -> bool {
        bytes as u64 <= self.bytes
    }

    /// The error of a step that takes so much.
    fn refuses(self, bytes: usize, why: String) -> Error {
        if !self.is_named {
            return Use::Correlations.error(bytes);
        }
        Error::Argument {
            argument: "memory",
            value: format!("{} bytes", self.bytes),
            hint: format!("{why} take {bytes} bytes, and cannot be cut further: give at least these"),
        }
    }
}

/// The Gaussian test on centred data, with a bound of the memory for correlations.
pub struct GaussOfData<'a> {
    cells: &'a [f64],
    n: usize,
    p: usize,
    test: FisherZ,
    thresholds: Arc<Thresholds>,
    level_one: LevelOne,
    pool: Pool,
    shard_tests: u64,
    bound: Bound,
    /// Once they are asked for.
    tiles: Option<Tiles<'a>>,
    /// The most bytes of correlations that were held at level 0, at level 1, and later.
    held: [u64; 3],
}

impl<'a> GaussOfData<'a> {
    /// `x`: n x p, columns as [`Centred::write`](crate::moments::Centred::write) writes them.
    ///
    /// # Errors
    /// [`Error::Argument`] where the bound has no room for two columns of correlations.
    pub fn new(test: FisherZ, x: ArrayView2<'a, f64>, alpha: f64, pool: impl Into<Pool>, bound: Bound) -> Result<Self> {
        let (n, p) = x.dim();
        let cells = matrix::cells(x).filter(|_| n > 0).ok_or_else(|| Error::Argument {
            argument: "suffStat$data",
            value: format!("{n} x {p} numbers"),
            hint: "data kept by column are needed".into(),
        })?;
        let least = 2 * size_of::<f64>() * p;
        if !bound.fits(least) {
            return Err(bound.refuses(least, "two columns of correlations".into()));
        }
        let thresholds = Arc::new(Thresholds::new(test, p, alpha));
        let level_one = LevelOne::default();
        Ok(GaussOfData {
            cells,
            n,
            p,
            test,
            thresholds,
            level_one,
            pool: pool.into(),
            shard_tests: 1 << 16,
            bound,
            tiles: None,
            held: [0; 3],
        })
    }

    /// With sets of one variable run so, and another size of shards, which change nothing but the schedule.
    pub fn with_ways(self, level_one: LevelOne, shard_tests: u64) -> Self {
        GaussOfData { level_one, shard_tests: shard_tests.max(1), ..self }
    }

    /// Makes what all correlations need.
    fn prepare(&mut self, observer: &mut dyn Observer) -> Result<()> {
        if self.tiles.is_none() {
            self.tiles = Some(Tiles::new(self.cells, self.n, &self.pool, &mut || observer.look())?);
        }
        Ok(())
    }

    /// Notes what is held at a level.
    fn hold(&mut self, size: usize, bytes: usize) {
        let held = &mut self.held[size.min(2)];
        *held = (*held).max(bytes as u64);
    }

    /// Level 0, by columns.
    fn level_zero(
        &self,
        tiles: &Tiles,
        at_once: usize,
        level: &Marginals,
        columns: Vec<Column>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let p = self.p;
        // They stand side by side, and may be a part of all, which others have.
        let Some(start) = columns.first().map(Column::y) else { return Ok(()) };
        let stop = start + columns.len();
        let before = |end: usize| (end * (end + 1)) as f64 / 2.0 - (start * (start + 1)) as f64 / 2.0;
        let mut c = memory::zeros(at_once.min(stop - start) * p, Use::Correlations)?;
        let mut places = memory::zeros::<u32>(p, Use::Correlations)?;
        let mut columns = columns.into_iter();
        for first in (start..stop).step_by(at_once) {
            let end = stop.min(first + at_once);
            tiles.fill(first..end, 0..end, &mut c, &self.pool, &mut || observer.look())?;
            (first..end).for_each(|y| places[y] = (y - first) as u32);
            let kernel = GaussKernel {
                gauss: Gauss::of_part(&c, p, &places, self.test),
                thresholds: self.thresholds.clone(),
                coarse: super::Coarse::new(0),
                level_one: LevelOne::Lists,
            };
            let some = columns.by_ref().take(end - first).collect();
            fill_columns(&kernel, &self.pool, level, first, some, &mut |done| {
                observer.progress(0, before(first) + done, before(stop))
            })?;
        }
        Ok(())
    }
}

impl Worker for GaussOfData<'_> {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        self.shard_tests
    }

    fn sides_at_once(&self) -> usize {
        // Each time that sides are laid out, the correlations are made once more.
        1 << 20
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        self.prepare(observer)?;
        let column = size_of::<f64>() * self.p;
        let fit = (self.bound.bytes / column as u64).clamp(1, COLUMNS.min(self.p) as u64) as usize;
        self.hold(0, fit * column);
        match &self.tiles {
            Some(tiles) => self.level_zero(tiles, fit, level, columns, observer),
            None => Ok(()),
        }
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        self.prepare(observer)?;
        if work.shards.is_empty() {
            return Ok(());
        }
        let rows = Rows::of(self, work);
        let panels = if work.size == 1 { Panels::of(self, work) } else { None };
        if let Some(panels) = panels.filter(|panels| !rows.fits(self.bound) || panels.cost() < rows.cost()) {
            self.hold(work.size, panels.bytes());
            return panels.answer(self, work, book, observer);
        }
        if let (false, Some((row, bytes))) = (rows.fits(self.bound), rows.widest()) {
            let why = format!(
                "at level {}, the correlations of variable {} and its {} neighbours",
                work.size,
                row + 1,
                work.neighbours.degree(row)
            );
            return Err(self.bound.refuses(bytes, why));
        }
        self.hold(work.size, rows.bytes(self.bound));
        rows.answer(self, work, book, observer)
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        self.prepare(observer)?;
        match &self.tiles {
            Some(tiles) => asked::p_values(self, tiles, batch, observer),
            None => Ok(Vec::new()),
        }
    }

    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        let [zero, one, further] = self.held;
        vec![("bound", self.bound.bytes), ("level_0", zero), ("level_1", one), ("further_levels", further)]
    }
}

/// The rows of a part, and whether it has single sides.
fn rows_of(work: &Work, part: &Part) -> (usize, usize) {
    let sides = |some: &[crate::search::level::PairSide]| {
        let rows = some.iter().map(|side| side.row as usize);
        (rows.clone().min().unwrap_or(0), rows.max().map_or(0, |last| last + 1))
    };
    match part {
        Part::Tile { rows, .. } => (rows.start, rows.end),
        Part::Lanes { row, .. } => (*row, row + 1),
        Part::Sides(some) => sides(&work.sides[some.clone()]),
        Part::Ranks { side, .. } => sides(&work.sides[*side..*side + 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_named_or_half_of_what_there_is() {
        let short = |available| move || Err(Error::Memory { bytes: 800, available, what: "", hint: String::new() });
        let bound = |bytes, is_named| Ok(Some(Bound { bytes, is_named }));
        // 100 variables take 160,000 bytes.
        assert_eq!(Bound::unless_made(None, 100, || Ok(())), Ok(None));
        assert_eq!(Bound::unless_made(Some(160_000), 100, || Ok(())), Ok(None));
        assert_eq!(Bound::unless_made(Some(159_999), 100, || Err(Error::Interrupted)), bound(159_999, true));
        assert_eq!(Bound::unless_made(None, 100, short(Some(600))), bound(300, false));
        assert_eq!(Bound::unless_made(Some(160_000), 100, short(None)), bound(400, false));
        assert_eq!(Bound::unless_made(None, 100, || Err(Error::Interrupted)), Err(Error::Interrupted));
    }
}
