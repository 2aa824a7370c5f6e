//! Level 0 of the Gaussian test on the GPU, and the rules that all its levels use.

pub(super) mod batch;
pub(super) mod blocks;
pub mod correlation;
mod papers;
mod rows;
mod rules;
pub(super) mod sets;
mod singles;
pub(super) mod source;
pub(super) mod sweep;

use crate::ci::correlations::Check;
use crate::ci::gauss::{FisherZ, Undefined, MISSING, TOO_FEW};
use crate::engine::cuda::arguments::{
    Report, SearchArgs, CELLS_CHECKED, CELLS_MISSING, CELLS_THREADS, CELLS_TILE, CELLS_WRONG,
};
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::gpu::unified::MemoryKind;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::{CudaTest, SearchStrategy};
use crate::graph::Adjacency;
use crate::observer::Observer;
use crate::{Error, Result};
use source::Gaussian;

impl CudaSearch<'_, '_> {
    /// Plans level 0 and puts it on the stream, up to the lower triangle of the graph.
    pub(in crate::engine::cuda) fn gauss_marginal(
        &mut self,
        gauss: &Gaussian,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.prepare_marginal(gauss, observer)?;
        self.allocate()?;
        self.take_check(gauss);
        self.engine.place_correlations(gauss)?;
        self.launch_marginal(gauss)?;
        self.launch_check(gauss)
    }

    /// Takes over the check of the matrix from the CPU's threads, if a caller waits for it. The matrix must then be copied to the GPU.
    pub(in crate::engine::cuda) fn take_check(&self, gauss: &Gaussian) {
        if let Some(check) = self.own_check(gauss) {
            check.stop();
        }
    }

    /// Returns the check that the GPU has to do. In unified memory it does none: that might bring back pages that level 0 no longer needs.
    fn own_check<'g>(&self, gauss: &Gaussian<'g>) -> Option<&'g Check<'g>> {
        gauss.check.filter(|_| self.engine.options.memory == MemoryKind::Device)
    }

    /// Puts the check of the matrix on the stream after level 0, if a caller waits for it. Level 0's report has the outcome.
    pub(in crate::engine::cuda) fn launch_check(&mut self, gauss: &Gaussian) -> Result<()> {
        if self.own_check(gauss).is_none() {
            return Ok(());
        }
        let shared = 8 * u64::from(CELLS_TILE * (CELLS_TILE + 1));
        let blocks = 8 * self.engine.held.gpu.processors;
        // SAFETY: the correlations and the report are in place; the kernel takes blocks of `CELLS_THREADS` threads, and any number of
        // blocks.
        unsafe { self.engine.held.gpu.launch(Kernel::check_cells.on((blocks, 1), CELLS_THREADS, shared), &self.args) }
    }

    /// Passes the outcome in level 0's report to the check that a caller waits for.
    pub(in crate::engine::cuda) fn tell_check(&self, report: &Report) {
        match self.engine.test {
            CudaTest::Gauss(Gaussian { check: Some(check), .. }) if report.cells & CELLS_CHECKED != 0 => {
                check.decide(report.cells & CELLS_WRONG == 0, report.cells & CELLS_MISSING != 0);
            }
            _ => {}
        }
    }

    /// Refuses samples that are too small, and computes correlations of data on the GPU. It must run before the search plans memory.
    pub(in crate::engine::cuda) fn prepare_marginal(
        &mut self,
        gauss: &Gaussian,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if gauss.refuses_few() {
            // Only here, as a graph of all pairs takes milliseconds for many variables.
            let start = self.options.start(&self.engine.held.pool);
            let tested = self.options.testable(&start);
            self.refuse_few(gauss, &tested, observer)?;
        }
        self.engine.make_correlations(gauss, &mut |share| observer.preparing(share))
    }

    /// Puts level 0 on the stream, up to the lower triangle of the graph. The correlations must be in place.
    pub(in crate::engine::cuda) fn launch_marginal(&mut self, gauss: &Gaussian) -> Result<()> {
        self.set_rules(&gauss.test, 0);
        self.args.c = self.engine.place_correlations(gauss)?;
        self.reset_report(0)?;
        let SearchArgs { p, words, .. } = self.args;
        if let SearchStrategy::Gpucsl { delta, .. } = self.engine.options.strategy {
            // One thread for each vertex that a row of bits has room for.
            let grid = (p as u32, (words * u64::from(WARP)).div_ceil(u64::from(delta)) as u32);
            // SAFETY: as below; each block takes one row and `delta` vertices.
            return unsafe { self.engine.held.gpu.launch(Kernel::gpucsl_marginal.on(grid, delta, 0), &self.args) };
        }
        // SAFETY: `allocate` has set what this uses, except the correlations, which are set above.
        unsafe { self.launch(Kernel::marginal, self.blocks_for(p * words)) }
    }

    /// Runs a level, once the lists of neighbours are made; `widest` is the largest degree.
    pub(in crate::engine::cuda) fn gauss_level(
        &mut self,
        gauss: &FisherZ,
        size: usize,
        widest: usize,
        observer: &mut dyn Observer,
    ) -> Result<Report> {
        self.set_rules(gauss, size);
        if size == 1 && self.engine.options.strategy == SearchStrategy::Shared {
            self.run_singles(widest, observer)
        } else {
            self.run_sets(size, widest, observer)
        }
    }

    pub(in crate::engine::cuda) fn set_rules(&mut self, gauss: &FisherZ, size: usize) {
        rules::fill(&mut self.args, gauss, self.engine.alpha, self.options.na_delete, size);
    }

    /// Returns the error with which pcalg's "stable.fast" stops if the sample is too small for any test. It names the first tested pair
    /// that has a correlation.
    fn refuse_few(&mut self, gauss: &Gaussian, tested: &Adjacency, observer: &mut dyn Observer) -> Result<()> {
        if !gauss.refuses_few() {
            return Ok(());
        }
        let gauss = self.engine.on_host(gauss, &mut |share| observer.preparing(share))?;
        for y in 0..self.options.p {
            let mut below = tested.neighbours(y).map(|x| x as usize).take_while(|&x| x < y);
            if let Some(x) = below.find(|&x| !gauss.correlation(x, y).is_nan()) {
                return Err(Error::Numeric { x, y, s: Vec::new(), reason: TOO_FEW.0 });
            }
        }
        Ok(())
    }

    /// Returns the error of a test without an answer, for the pair `key` = x * p + y. The log has its set, as the test ended its side.
    pub(in crate::engine::cuda) fn undefined(&mut self, key: u64) -> Error {
        let (x, y) = ((key / self.args.p) as u32, (key % self.args.p) as u32);
        let s = match self.log.last_set(self.engine, [x, y]) {
            Ok(set) => set.unwrap_or_default(),
            Err(e) => return e,
        };
        let Undefined(reason) = MISSING;
        Error::Numeric { x: x as usize, y: y as usize, s, reason }
    }
}
