//! Level 1 of the Gaussian test on the GPU: rows with many neighbours by masks, those with fewer by columns, the others by lists.

use crate::ci::gauss::FisherZ;
use crate::engine::cuda::arguments::{
    column_bytes, Report, COLUMN_THREADS, DECIDING_THREADS, LOG_BYTES, LOG_ROWS, LOG_THREADS, MASK_COLUMNS, MASK_GROUP,
    MASK_ROWS, MASK_THREADS, TILE_BYTES,
};
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::search::CudaSearch;
use crate::engine::LevelOne;
use crate::observer::Observer;
use crate::Result;

/// Most tests of a launch by lists: about 0.1 s.
const LISTED_TESTS: f64 = 2e10;

/// Tests of a launch by masks if no pair were separated: about 0.1 s, as most pairs are separated early.
const MASKED_TESTS: f64 = 2e11;

/// Tests of a launch by columns if no pair were separated: about 0.1 s.
const COLUMN_TESTS: f64 = 1e11;

/// Sparsest rows that are run by masks: one in this many variables is a neighbour. Below that, columns or lists are quicker.
const ONE_IN: u64 = 3;

/// Sparsest rows that are run by masks if a block cannot hold a column. This is an estimate: with 60,000 variables, a quarter of them
/// neighbours, lists took 6.8 s on an H100. Slices, which test as masks do, took 3 s including level 0.
const ONE_IN_WITHOUT_COLUMNS: u64 = 5;

/// Sparsest rows that are run by columns: one in this many variables is a neighbour.
const COLUMN_ONE_IN: u64 = 100;

/// Sparsest graph whose separated pairs are logged by tiles: one in this many pairs is left. With 20,000 variables and three in ten pairs
/// left, tiles took 2.1 ms instead of 11.8. With one in a hundred left, they took 0.9 ms instead of 0.16.
const LOG_ONE_IN: u64 = 25;

/// A pass over all rows: approximate number of launches, rows of a block, and the function that launches a number of rows.
type Pass = (f64, usize, fn(&CudaSearch, usize) -> Result<()>);

impl CudaSearch<'_, '_> {
    /// Chooses which blocks of [`MASK_ROWS`] rows are run by masks and which by columns, and plans the memory of the columns; `widest` is
    /// the largest degree.
    pub(in crate::engine::cuda) fn plan_singles(&mut self, gauss: &FisherZ, widest: usize) -> Result<()> {
        let [columns, masks] = self.level_one_ends(gauss);
        let near = size_of::<[u32; 2]>() as u64 * self.ends;
        let serves = self.columns_serve(columns, widest) && self.engine.held.room(&[])? >= near;
        self.args.mask_ends = masks;
        self.args.column_ends = if serves { columns } else { u64::MAX };
        if serves {
            self.engine.held.plan.set(Buffer::Near, near);
        }
        Ok(())
    }

    /// Returns whether blocks of rows with `columns` neighbours or more may exist, to be run by columns, and a block can hold a column.
    pub(in crate::engine::cuda) fn columns_serve(&self, columns: u64, widest: usize) -> bool {
        u64::from(MASK_ROWS) * widest as u64 >= columns && self.has_room_for_columns()
    }

    /// Returns whether a block can hold a column.
    fn has_room_for_columns(&self) -> bool {
        let p = self.args.p;
        // The kernels count the tests of a warp in 32 bits.
        p < 1 << 16 && column_bytes(p) <= u64::from(self.engine.held.gpu.shared_limit)
    }

    /// Returns the numbers of neighbours from which on a block of [`MASK_ROWS`] rows is run by columns, and by masks.
    pub(in crate::engine::cuda) fn level_one_ends(&self, gauss: &FisherZ) -> [u64; 2] {
        let p = self.args.p;
        let least = |one_in: u64| u64::from(MASK_ROWS) * LevelOne::fewest(p, one_in);
        match self.engine.options.level_one {
            _ if !(gauss.cutoff(self.engine.alpha, 1).dependent_above < LevelOne::LARGEST_LIMIT) => {
                [u64::MAX, u64::MAX]
            }
            LevelOne::Lists => [u64::MAX, u64::MAX],
            LevelOne::Columns => [0, u64::MAX],
            LevelOne::Masks => [u64::MAX, 0],
            LevelOne::ByDensity => match self.engine.options.level_one_ends {
                None if self.has_room_for_columns() => [least(COLUMN_ONE_IN), least(ONE_IN)],
                None => [u64::MAX, least(ONE_IN_WITHOUT_COLUMNS)],
                Some(ends) => ends,
            },
        }
    }

    /// Runs level 1, once the lists of neighbours are made; `widest` is the largest degree.
    pub(super) fn run_singles(&mut self, widest: usize, observer: &mut dyn Observer) -> Result<Report> {
        self.begin_singles()?;
        let passes = self.passes(widest);
        for (done, &pass) in passes.iter().enumerate() {
            self.by_rows(pass, done as f64, passes.len() as f64, observer)?;
        }
        self.all_rows();
        // SAFETY: the lists are the level's, with as many verdicts.
        unsafe { self.by_row(Kernel::settle_single)? };
        self.log_singles()?;
        // The GPU is busy, so there is time to copy what is needed at the end.
        self.bring_level_zero()?;
        let report = self.end_singles(observer)?;
        let p = self.options.p as f64;
        observer.progress(1, p, p)?;
        Ok(report)
    }

    /// Prepares level 1.
    pub(in crate::engine::cuda) fn begin_singles(&mut self) -> Result<()> {
        self.args.verdict = self.engine.held.device(Buffer::Verdicts)?;
        if self.args.column_ends < u64::MAX {
            self.args.near = self.engine.held.device(Buffer::Near)?;
            // SAFETY: the lists are the level's, with as many elements of `near`.
            unsafe { self.by_row(Kernel::column_near)? };
        }
        Ok(())
    }

    /// Returns the passes of level 1.
    fn passes(&self, widest: usize) -> Vec<Pass> {
        let pieces = self.ends as f64 / self.engine.options.launch_share;
        let tests = pieces * widest as f64;
        let mut passes: Vec<Pass> = Vec::new();
        if self.args.mask_ends <= self.ends {
            let launches = pieces / 2.0 * self.options.p as f64 / MASKED_TESTS;
            passes.push((launches, MASK_ROWS as usize, |search, rows| search.launch_masks(rows, search.options.p)));
        }
        if self.args.column_ends < u64::MAX {
            passes.push((tests / COLUMN_TESTS, 1, |search, rows| search.launch_columns(0, rows)));
            passes.push((tests / COLUMN_TESTS, 1, |search, rows| search.launch_columns(1, rows)));
        }
        if self.args.mask_ends.min(self.args.column_ends) > 0 {
            passes.push((tests / LISTED_TESTS, 1, |search, rows| search.launch_lists(rows)));
        }
        passes
    }

    /// Logs the separated pairs and updates the graph, once all verdicts are there.
    pub(in crate::engine::cuda) fn log_singles(&mut self) -> Result<()> {
        let blocks = self.options.p.div_ceil(LOG_ROWS as usize) as u32;
        let tiles = Kernel::log_tiles.on((blocks, 1), LOG_THREADS, u64::from(LOG_BYTES));
        let by_tiles = match self.engine.options.level_one {
            LevelOne::Lists => false,
            _ => self.ends * LOG_ONE_IN >= self.args.p * self.args.p,
        };
        // SAFETY: the lists are the level's, with as many verdicts; the log has room for a record of each pair.
        unsafe {
            self.by_row(Kernel::count_single)?;
            self.over_rows(Kernel::log_offsets)?;
            match by_tiles {
                true => self.engine.held.gpu.launch(tiles, &self.args)?,
                false => self.by_row(Kernel::log_single)?,
            }
            self.by_row(Kernel::degrees)
        }
    }

    /// Copies the results of level 0 while the GPU is busy.
    pub(in crate::engine::cuda) fn bring_level_zero(&mut self) -> Result<()> {
        if self.empty.is_none() {
            self.empty = Some(self.bring_graph(self.args.empty)?);
        }
        self.bring_ranks()?;
        self.p_max.mark_rest(&self.engine.held.pool, self.args.mark);
        Ok(())
    }

    /// Waits for the end of level 1 and enters its records in the log.
    pub(in crate::engine::cuda) fn end_singles(&mut self, observer: &mut dyn Observer) -> Result<Report> {
        let report = self.report("level 1", &mut || observer.look())?;
        let mut starts = vec![0u64; self.options.p + 1];
        self.engine.held.fetch(self.args.first_record, &mut starts, "level 1")?;
        self.log.enter_singles(starts);
        Ok(report)
    }

    /// Launches a pass for all rows, `first_row` to `end_row` - 1 at a time; `done` of `all` passes are done.
    fn by_rows(
        &mut self,
        (launches, block, launch): Pass,
        done: f64,
        all: f64,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let p = self.options.p;
        let rows = p.div_ceil(launches.ceil().max(1.0) as usize).next_multiple_of(block);
        for first in (0..p).step_by(rows) {
            let end = p.min(first + rows);
            self.args.first_row = first as u64;
            self.args.end_row = end as u64;
            launch(self, end - first)?;
            if rows < p {
                self.engine.held.wait("level 1", &mut || observer.look())?;
                observer.progress(1, (done + end as f64 / p as f64) * 0.999, all)?;
            }
        }
        Ok(())
    }

    /// Returns the blocks for each of `rows` rows: several if there are too few rows to fill the GPU.
    fn parts(&self, rows: usize) -> u32 {
        (self.engine.held.gpu.processors * 64).div_ceil(rows as u32).clamp(1, 16)
    }

    /// Launches rows whose pairs take a warp each.
    pub(super) fn launch_lists(&self, rows: usize) -> Result<()> {
        let shared = 3 * 8 * u64::from(DECIDING_THREADS / WARP);
        let launch = Kernel::single.on((rows as u32, self.parts(rows)), DECIDING_THREADS, shared);
        // SAFETY: the lists are the level's, with as many verdicts; `shared` is three numbers a warp, as the kernel has them.
        unsafe { self.engine.held.gpu.launch(launch, &self.args) }
    }

    /// Launches one side of the rows that are run with a column in shared memory, a block for each row.
    pub(super) fn launch_columns(&self, side: usize, rows: usize) -> Result<()> {
        let launch = [Kernel::column_first, Kernel::column_second][side].on(
            (rows as u32, 1),
            COLUMN_THREADS,
            column_bytes(self.args.p),
        );
        // SAFETY: the lists are the level's, with as many verdicts and elements of `near`; a block has shared memory for a column.
        unsafe { self.engine.held.gpu.launch(launch, &self.args) }
    }

    /// Launches rows whose pairs with `larger` larger vertices are tested in tiles; each pair that tiles leave then takes a warp.
    pub(super) fn launch_masks(&self, rows: usize, larger: usize) -> Result<()> {
        let columns = larger.div_ceil(MASK_COLUMNS as usize) as u32;
        let groups = rows.div_ceil((MASK_ROWS * MASK_GROUP) as usize) as u32;
        let sums = |threads: u32| 3 * 8 * u64::from(threads / WARP);
        let in_tile = u64::from(TILE_BYTES) + sums(MASK_THREADS);
        let tiles = Kernel::mask_tiles.on((MASK_GROUP * columns, groups), MASK_THREADS, in_tile);
        let shared = sums(DECIDING_THREADS);
        let rest = Kernel::mask_rest.on((rows as u32, self.parts(rows)), DECIDING_THREADS, shared);
        let rows_at_all = self.blocks_for(rows as u64);
        // SAFETY: as in `launch_lists`; the first row is the first of a block of rows, and the grid covers all tiles of the rows.
        unsafe {
            self.launch(Kernel::mask_begin, rows_at_all)?;
            self.engine.held.gpu.launch(tiles, &self.args)?;
            self.engine.held.gpu.launch(rest, &self.args)
        }
    }
}
