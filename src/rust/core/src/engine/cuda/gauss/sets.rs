//! Levels of sets of the Gaussian test on the GPU, in launches short enough that a user can interrupt.

use std::ops::Range;

use crate::engine::cuda::arguments::{
    settle_doubles, shared_doubles, wide_bytes, wide_doubles, Report, SearchArgs, DECIDING_THREADS, SPECIAL,
    WIDE_THREADS,
};
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::SearchStrategy;
use crate::graph::subsets;
use crate::observer::Observer;
use crate::Result;

/// Fewest neighbours of a row that blocks run. The neighbours of smaller rows fit the lanes of one warp.
const WIDE_FROM: u64 = 33;

/// Most blocks for such rows on a multiprocessor at a time: registers suffice for no more.
pub(in crate::engine::cuda) const WIDE_TOGETHER: u64 = 3;

/// Most correlations that such a block has in shared memory for each of 32 y. For small sets, [`WIDE_TOGETHER`] blocks then fit on an H200.
const WIDE_COLUMNS: u64 = 320;

/// Most neighbours of a row for which such a block has masks in shared memory.
const WIDE_MASKED: u64 = 2048;

impl CudaSearch<'_, '_> {
    /// Returns the number of binomial coefficients for sets of up to `size`.
    pub(in crate::engine::cuda) fn binomial_count(&self, size: usize, widest: usize) -> u64 {
        let stride = if self.binomials.is_empty() { widest as u64 + 2 } else { self.args.binomial_stride };
        (size as u64 + 1) * stride
    }

    /// Returns the bytes of working memory in device memory for a level of sets.
    pub(in crate::engine::cuda) fn scratch_of_sets(&self, size: usize, widest: usize) -> u64 {
        let warps = self.engine.held.gpu.processors * 16;
        let level = match self.engine.options.strategy {
            SearchStrategy::Shared => self.engine.scratch_of_warps(shared_doubles(size as u64), warps),
            _ => self.paper_scratch(size, widest),
        };
        level.max(self.engine.scratch_of_warps(settle_doubles(size as u64), self.settling_warps()))
    }

    fn settling_warps(&self) -> u32 {
        (self.ends as u32).min(self.engine.held.gpu.processors * 32)
    }

    /// Copies the binomial coefficients for sets of up to `size` to the GPU, as the kernels index them.
    pub(in crate::engine::cuda) fn send_binomials(&mut self, size: usize, widest: usize) -> Result<()> {
        if self.binomials.is_empty() {
            self.args.binomial_stride = widest as u64 + 2;
            self.binomials = vec![1; widest + 2];
        }
        let stride = self.args.binomial_stride as usize;
        let known = self.binomials.len() / stride;
        for k in known..=size {
            self.binomials.resize(self.binomials.len() + stride, 0);
            let (before, row) = self.binomials.split_at_mut(k * stride);
            let above = &before[(k - 1) * stride..];
            for n in 1..stride {
                row[n] = row[n - 1].saturating_add(above[n - 1]);
            }
        }
        debug_assert_eq!(Some(self.binomials[size * stride + widest]), subsets::binomial(widest, size));
        self.args.binomial = self.engine.held.device(Buffer::Binomials)?;
        self.engine.held.upload(self.args.binomial, &self.binomials)
    }

    /// Runs a level by slots, once the lists of neighbours are made; `widest` is the largest degree.
    pub(in crate::engine::cuda) fn run_sets(
        &mut self,
        size: usize,
        widest: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report> {
        self.begin_sets(size, widest)?;
        match self.engine.options.strategy {
            SearchStrategy::Shared => self.run_shared(size, widest, observer),
            _ => self.run_paper(size, widest, observer),
        }
    }

    /// Prepares a level by slots: sends the binomial coefficients and fills the slots.
    pub(in crate::engine::cuda) fn begin_sets(&mut self, size: usize, widest: usize) -> Result<()> {
        self.send_binomials(size, widest)?;
        self.args.slot = self.engine.held.device(Buffer::Slots)?;
        self.args.twin = self.engine.held.device(Buffer::Twins)?;
        // SAFETY: the lists are the level's, with as many slots and twins.
        unsafe { self.by_row(Kernel::slots)? };
        // `bring_settled` copies the current state while the level runs.
        self.engine.held.gpu.copies_follow()
    }

    /// Sets which rows blocks run, see gauss/wide.cuh. Returns the number of blocks, as many as run at a time, and the bytes of shared
    /// memory of each; `None` if blocks run no row.
    fn choose_wide(&mut self, size: usize, widest: usize) -> Option<(u32, u64)> {
        let (l, widest) = (size as u64, widest as u64);
        let from = self.engine.options.wide_from.unwrap_or(WIDE_FROM);
        let warps = u64::from(WIDE_THREADS / WARP);
        self.args.wide_degree = u64::MAX;
        self.args.wide_columns = u64::from(WARP);
        self.args.wide_masked = if self.fast() { widest.min(WIDE_MASKED).next_multiple_of(32) } else { 0 };
        let bytes = |columns: u64| wide_bytes(l, warps, columns, self.args.wide_masked);
        let limit = u64::from(self.engine.held.gpu.shared_limit);
        let room = limit.checked_sub(bytes(0))? / 128 / 32 * 32;
        let columns = room.min(WIDE_COLUMNS).min(widest.next_multiple_of(32));
        if size > SPECIAL as usize || widest < from || columns == 0 {
            return None;
        }
        let bytes = bytes(columns);
        self.args.wide_degree = from;
        self.args.wide_columns = columns;
        // A block that waited for another's place would start its time only after that block's. The driver takes about a kilobyte a block.
        let of_processor = limit / (bytes + 1024);
        let by_registers = if size > 5 { 2 } else { WIDE_TOGETHER };
        let blocks = u64::from(self.engine.held.gpu.processors) * of_processor.clamp(1, by_registers);
        Some((blocks as u32, bytes))
    }

    /// Puts the shared strategy's launches of a side on the stream; `wide` is the result of [`Self::choose_wide`].
    fn launch_side(&mut self, size: usize, wide: Option<(u32, u64)>, second: u64) -> Result<()> {
        const KERNELS: [[Kernel<SearchArgs>; 2]; SPECIAL as usize - 1] = [
            [Kernel::shared_2, Kernel::wide_2],
            [Kernel::shared_3, Kernel::wide_3],
            [Kernel::shared_4, Kernel::wide_4],
            [Kernel::shared_5, Kernel::wide_5],
            [Kernel::shared_6, Kernel::wide_6],
            [Kernel::shared_7, Kernel::wide_7],
            [Kernel::shared_8, Kernel::wide_8],
        ];
        let [kernel, wide_kernel] = KERNELS.get(size - 2).copied().unwrap_or([Kernel::shared_any; 2]);
        let mut args = self.args;
        args.second = second;
        let block = self.engine.working_memory(&mut args, shared_doubles(size as u64), DECIDING_THREADS)?;
        let blocks = (self.engine.held.gpu.processors * 16).div_ceil(block.threads / WARP);
        if let Some((blocks, bytes)) = wide {
            let args = SearchArgs { warp_bytes: 8 * wide_doubles(size as u64), scratch: DevicePtr::NULL, ..args };
            let launch = wide_kernel.on((blocks, 1), WIDE_THREADS, bytes);
            // SAFETY: lists, slots and twins are the level's; `bytes` is the shared memory that a block needs for `args`.
            unsafe { self.engine.held.gpu.launch(launch, &args)? };
        }
        let launch = kernel.on((blocks, 1), block.threads, block.shared);
        // SAFETY: lists, slots and twins are the level's; each of these warps has `shared_doubles` of working memory.
        unsafe { self.engine.held.gpu.launch(launch, &args) }
    }

    /// Puts one side of some rows on the stream, by the shared strategy; `widest` is the level's largest degree.
    pub(in crate::engine::cuda) fn begin_side(
        &mut self,
        size: usize,
        widest: usize,
        second: u64,
        rows: Range<usize>,
    ) -> Result<()> {
        // The second sides begin after the first are done.
        let first = if second == 0 { 0 } else { u64::MAX };
        self.put_report(Report { undefined: u64::MAX, next_first: first, wide_first: first, ..Report::default() })?;
        let wide = self.choose_wide(size, widest);
        (self.args.first_row, self.args.end_row) = (rows.start as u64, rows.end as u64);
        // SAFETY: the lists are the level's, and there are binomials for their lengths.
        unsafe { self.over_rows(Kernel::items)? };
        self.launch_side(size, wide, second)?;
        self.all_rows();
        self.ask_report()
    }

    /// Continues the side that [`Self::begin_side`] began, if the report says that it is not done. Returns whether it was done.
    pub(in crate::engine::cuda) fn go_on_side(
        &mut self,
        size: usize,
        widest: usize,
        second: u64,
        report: &Report,
    ) -> Result<bool> {
        let (next, wide_next, open) = match second {
            0 => (report.next_first, report.wide_first, report.wide_open),
            _ => (report.next_second, report.wide_second, report.wide_open_second),
        };
        if next >= report.items && wide_next >= report.wide_items && open == 0 {
            return Ok(true);
        }
        let wide = self.choose_wide(size, widest);
        self.launch_side(size, wide, second)?;
        self.ask_report()?;
        Ok(false)
    }

    /// Runs sets of two and more by the shared strategy. The whole level is put on the stream at once. If a launch uses up its time, the
    /// launches after it do nothing and are repeated.
    fn run_shared(&mut self, size: usize, widest: usize, observer: &mut dyn Observer) -> Result<Report> {
        let wide = self.choose_wide(size, widest);
        // SAFETY: the lists are the level's, and there are binomials for their lengths.
        unsafe { self.over_rows(Kernel::items)? };
        let mut side = 0;
        loop {
            for second in side..2 {
                self.launch_side(size, wide, second)?;
            }
            let report = self.settle(size, observer)?;
            let items = report.items + report.wide_items;
            let handed = |narrow: u64, wide: u64| narrow.min(report.items) + wide.min(report.wide_items);
            let first = handed(report.next_first, report.wide_first);
            let second = handed(report.next_second, report.wide_second);
            observer.progress(size, (first + second) as f64, 2.0 * items as f64)?;
            if first < items || report.wide_open > 0 {
                continue;
            }
            if second >= items && report.wide_open_second == 0 {
                return Ok(report);
            }
            side = 1;
        }
    }

    /// Turns slots into answers.
    pub(super) fn settle(&mut self, size: usize, observer: &mut dyn Observer) -> Result<Report> {
        self.launch_settle(size)?;
        // Most p-values are final after level 1.
        if size > 1 {
            self.bring_settled(observer)?;
        }
        self.report("running a level of tests", &mut || observer.look())
    }

    /// Puts the kernels that turn slots into answers on the stream.
    pub(in crate::engine::cuda) fn launch_settle(&mut self, size: usize) -> Result<()> {
        let mut args = self.args;
        let warps = self.settling_warps();
        let block = self.engine.working_memory(&mut args, settle_doubles(size as u64), DECIDING_THREADS)?;
        let blocks = warps.div_ceil(block.threads / WARP);
        let launch = Kernel::settle.on((blocks, 1), block.threads, block.shared);
        // SAFETY: lists, slots, twins and log are the level's; each of these warps has `settle_doubles` of working memory.
        unsafe {
            self.engine.held.gpu.launch(launch, &args)?;
            self.launch(Kernel::removal, self.blocks_for(self.ends / 64))?;
            self.by_row(Kernel::degrees)
        }
    }
}
