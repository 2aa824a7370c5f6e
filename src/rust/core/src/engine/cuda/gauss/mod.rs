//! The Gaussian test's level 0 on the GPU, and the rules that all its levels take.

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
use crate::ci::gauss::{FisherZ, Reading, Undefined, MISSING, TOO_FEW};
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
    /// Level 0, up to the lower triangle of the graph.
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

    /// Takes over the check of a matrix that somebody waits for, which must get a place on the GPU.
    pub(in crate::engine::cuda) fn take_check(&self, gauss: &Gaussian) {
        if let Some(check) = self.own_check(gauss) {
            check.stop();
        }
    }

    /// The check that is the GPU's: of unified memory it might bring pages back that level 0 is done with.
    fn own_check<'g>(&self, gauss: &Gaussian<'g>) -> Option<&'g Check<'g>> {
        gauss.check.filter(|_| self.engine.options.memory == MemoryKind::Device)
    }

    /// Puts the check of a matrix that somebody waits for on the stream after level 0, which reports what is found.
    pub(in crate::engine::cuda) fn launch_check(&mut self, gauss: &Gaussian) -> Result<()> {
        if self.own_check(gauss).is_none() {
            return Ok(());
        }
        let shared = 8 * u64::from(CELLS_TILE * (CELLS_TILE + 1));
        let blocks = 8 * self.engine.held.gpu.processors;
        // SAFETY: the correlations and the report are in place; the kernel takes blocks of so many threads, any number of them.
        unsafe { self.engine.held.gpu.launch(Kernel::check_cells.on((blocks, 1), CELLS_THREADS, shared), &self.args) }
    }

    /// Tells who waits for a check what level 0 reports of it.
    pub(in crate::engine::cuda) fn tell_check(&self, report: &Report) {
        match self.engine.test {
            CudaTest::Gauss(Gaussian { check: Some(check), .. }) if report.cells & CELLS_CHECKED != 0 => {
                check.decide(report.cells & CELLS_WRONG == 0, report.cells & CELLS_MISSING != 0);
            }
            _ => {}
        }
    }

    /// What comes before anything is planned for the search: correlations of data, on the GPU.
    pub(in crate::engine::cuda) fn prepare_marginal(
        &mut self,
        gauss: &Gaussian,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let start = self.options.start(&self.engine.held.pool);
        let tested = self.options.testable(&start);
        self.refuse_few(gauss, &tested, observer)?;
        self.engine.make_correlations(gauss, &mut |share| observer.preparing(share))
    }

    /// Puts level 0 on the stream, up to the lower triangle of the graph; the correlations are in place.
    pub(in crate::engine::cuda) fn launch_marginal(&mut self, gauss: &Gaussian) -> Result<()> {
        self.set_rules(&gauss.test, 0);
        self.args.c = self.engine.place_correlations(gauss)?;
        self.reset_report(0)?;
        let SearchArgs { p, words, .. } = self.args;
        if let SearchStrategy::Gpucsl { delta, .. } = self.engine.options.strategy {
            // A thread for each vertex that a bit row has room for.
            let grid = (p as u32, (words * u64::from(WARP)).div_ceil(u64::from(delta)) as u32);
            // SAFETY: as below; a block a row and `delta` vertices.
            return unsafe { self.engine.held.gpu.launch(Kernel::gpucsl_marginal.on(grid, delta, 0), &self.args) };
        }
        // SAFETY: `allocate` has set what this uses, but for the correlations, which are set above.
        unsafe { self.launch(Kernel::marginal, self.blocks_for(p * words)) }
    }

    /// A level, after the lists of neighbours were made; `widest` is the largest degree.
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

    /// The error, with the first of the pairs that are tested, at which pcalg's "stable.fast" stops because the sample is too small for any test.
    fn refuse_few(&mut self, gauss: &Gaussian, tested: &Adjacency, observer: &mut dyn Observer) -> Result<()> {
        if gauss.test.reading() != Reading::StableFast || gauss.test.n() >= 3.0 {
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

    /// The error of a test without an answer, of the pair x * p + y; its set is in the log, as the test ended its side.
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
