//! The Gaussian test on data whose correlations would exceed their memory bound, or are mostly not needed after level 0 ([`few`]).
//! Correlations are computed from the data when they are needed, and then dropped.
//!
//! Level 0 runs by columns of C, some at a time. From level 2 on, a row needs only the correlations among itself and its neighbours ([`rows`]).
//! Level 1 runs by rows as well if neighbours are few, and a row then needs only the correlations of its lanes with its neighbours. If
//! neighbours are many, level 1 runs by blocks of rows and of other vertices that are in memory together ([`panels`]). The kernels are those for
//! the whole matrix ([`GaussKernel`]). The correlation of a pair is the same in every part, and so are all answers.

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

/// Maximal number of columns of level 0 that are computed together: more would gain nothing.
const COLUMNS: usize = 1024;

/// The most memory that correlations may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The bound in bytes.
    pub bytes: u64,
    /// Whether the caller has named the bound; otherwise it is what the process may get.
    pub is_named: bool,
}

impl Bound {
    /// The number of variables below which all correlations are kept unless the caller names a bound.
    pub const LEAST: usize = few::LEAST;

    /// Returns the bytes that all correlations of p variables take during a search, in double and in single precision.
    pub fn of_all(p: usize) -> u64 {
        16 * (p as u64).saturating_mul(p as u64)
    }

    /// Returns the bound if the correlations of p variables cannot all be made at once, or `None` if `make` has made them all. The bound is the
    /// caller's if all correlations exceed it. If `make` runs out of memory, it is half of the available memory, or half of what `make` wanted
    /// if that is unknown.
    ///
    /// # Errors
    /// Other errors of `make`.
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

    /// Returns the bound if few correlations are needed and the caller has named none: the bytes of all, or half of the available memory if that
    /// is less.
    pub fn of_few(p: usize) -> Self {
        let half = memory::available().map_or(u64::MAX, |available| available / 2);
        Bound { bytes: Bound::of_all(p).min(half), is_named: false }
    }

    fn fits(self, bytes: usize) -> bool {
        bytes as u64 <= self.bytes
    }

    /// Returns the error of a step that takes this many bytes.
    fn refuses(self, bytes: usize, why: String) -> Error {
        if !self.is_named {
            return Use::Correlations.error(bytes);
        }
        Error::Argument {
            argument: "memory",
            value: format!("{} bytes", self.bytes),
            hint: format!("{why} need {bytes} bytes, which cannot be split; give at least this number"),
        }
    }
}

/// The Gaussian test on centred data, with a bound on the memory for correlations.
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
    /// The tiles, made at first use.
    tiles: Option<Tiles<'a>>,
    /// The most bytes of correlations that were held at level 0, at level 1, and later.
    held: [u64; 3],
}

impl<'a> GaussOfData<'a> {
    /// Creates the test. `x` is n x p, with columns as [`Centred::write`](crate::moments::Centred::write) writes them.
    ///
    /// # Errors
    /// [`Error::Argument`] if `x` has no rows or is not kept by column. If the bound has no room for two columns of correlations:
    /// [`Error::Argument`] for a named bound, [`Error::Memory`] otherwise.
    pub fn new(test: FisherZ, x: ArrayView2<'a, f64>, alpha: f64, pool: impl Into<Pool>, bound: Bound) -> Result<Self> {
        let (n, p) = x.dim();
        let cells = matrix::cells(x).filter(|_| n > 0).ok_or_else(|| Error::Argument {
            argument: "suffStat$data",
            value: format!("a {n} x {p} matrix"),
            hint: "give data with at least one row, in column-major order".into(),
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

    /// Chooses how conditioning sets of one variable run, and the shard size. Both change only the schedule.
    pub fn with_ways(self, level_one: LevelOne, shard_tests: u64) -> Self {
        GaussOfData { level_one, shard_tests: shard_tests.max(1), ..self }
    }

    /// Prepares the data for all correlations.
    fn prepare(&mut self, observer: &mut dyn Observer) -> Result<()> {
        if self.tiles.is_none() {
            self.tiles = Some(Tiles::new(self.cells, self.n, &self.pool, &mut || observer.look())?);
        }
        Ok(())
    }

    /// Notes the bytes held at a level.
    fn hold(&mut self, size: usize, bytes: usize) {
        let held = &mut self.held[size.min(2)];
        *held = (*held).max(bytes as u64);
    }

    /// Runs level 0 by columns.
    fn level_zero(
        &self,
        tiles: &Tiles,
        at_once: usize,
        level: &Marginals,
        columns: Vec<Column>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let p = self.p;
        // The columns are adjacent. They may be a part of all: others have the rest.
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
        // Each time that sides are laid out, the correlations are computed again.
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
        // Blocks compute at least a column for each row.
        let may_be_panels = !rows.fits(self.bound) || rows.cost() > rows.asked() as f64 * self.p as f64;
        let panels = if work.size == 1 && may_be_panels { Panels::of(self, work) } else { None };
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

/// Returns the first row of a part, and the one after its last row.
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
