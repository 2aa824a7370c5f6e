//! Level 0 of a search on a GPU, for all tests.

use super::{CudaSearch, USUAL_THREADS};
use crate::engine::cuda::arguments::{Report, SearchArgs};
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::CudaTest;
use crate::observer::Observer;
use crate::search::levels::LevelReport;
use crate::Result;

impl CudaSearch<'_, '_> {
    pub(super) fn run_marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        match self.engine.test {
            CudaTest::Gauss(gauss) => self.gauss_marginal(&gauss, observer)?,
            CudaTest::Discrete(test) => self.discrete_marginal(&test, observer)?,
        }
        self.complete_marginal()?;
        let report = self.report("level 0", &mut || observer.look())?;
        let level = self.end_marginal(&report)?;
        let total = (self.options.p * (self.options.p - 1)) as f64 / 2.0;
        observer.progress(0, total, total)?;
        Ok(level)
    }

    /// Mirrors the lower triangles that level 0 has made, of the graph and of the pairs that the empty set separates, and counts degrees.
    pub(in crate::engine::cuda) fn complete_marginal(&mut self) -> Result<()> {
        for rows in [self.args.graph, self.args.empty] {
            let args = SearchArgs { graph: rows, ..self.args };
            let blocks = self.blocks_for(self.args.words * self.args.words);
            // SAFETY: `allocate` has set what this uses; both graphs have the same number of rows and words.
            unsafe { self.engine.held.gpu.launch(Kernel::mirror.on((blocks, 1), USUAL_THREADS, 0), &args)? };
        }
        // SAFETY: as above.
        unsafe { self.by_row(Kernel::degrees) }
    }

    /// Ends level 0 with its report.
    pub(in crate::engine::cuda) fn end_marginal(&mut self, report: &Report) -> Result<LevelReport> {
        self.tell_check(report);
        self.take_graph(report);
        self.open_pairs()?;
        self.started = true;
        let mut level = LevelReport { tests: report.tests, exact_tests: 0, go_on: true };
        if !self.fast() {
            // pcalg tests each pair from the smaller vertex, then, if it is still adjacent, from the larger.
            level.tests += report.tests - report.removed;
            level.go_on = self.marginal_goes_on()?;
        }
        Ok(level)
    }

    /// Returns whether pcalg's "stable" continues after level 0. It does if it tested a pair from a vertex with more than one neighbour.
    fn marginal_goes_on(&mut self) -> Result<bool> {
        let p = self.options.p;
        if self.args.start.is_null() && self.args.fixed.is_null() {
            return Ok(p > 2);
        }
        let start = self.options.start(&self.engine.held.pool);
        let tested = self.options.testable(&start);
        let several: Vec<usize> = (0..p).filter(|&x| start.degree(x) > 1).collect();
        if several.iter().any(|&x| tested.neighbours(x).any(|y| y as usize > x)) {
            return Ok(true);
        }
        let graph = self.bring_graph(self.args.graph)?;
        Ok(several.iter().any(|&x| graph.neighbours(x).any(|y| (y as usize) < x && tested.has(x, y as usize))))
    }
}
