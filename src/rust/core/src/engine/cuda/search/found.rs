//! Results of a search on the GPU, copied to the host at its end.

use super::CudaSearch;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::CudaTest;
use crate::graph::{Adjacency, SepSetLog, SepSets};
use crate::observer::Observer;
use crate::Result;

impl CudaSearch<'_, '_> {
    /// Returns the answer if no level has run: the start graph, with no separating sets.
    pub(in crate::engine::cuda) fn finish_unbegun(&mut self) -> Result<(Adjacency, SepSets)> {
        let start = self.options.start(&self.engine.held.pool);
        self.p_max.fill(self.options, &start)?;
        Ok((start, SepSets::new(self.options.p, self.options.empty_side())))
    }

    pub(in crate::engine::cuda) fn run_finish(&mut self, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        let (graph, sepsets) = self.bring_found(observer)?;
        Ok((graph, sepsets.finish(&self.engine.held.pool)?))
    }

    /// Raises the p-values of the pairs that are left to at least those of level 0. A pair that level 1 has separated keeps its p-value,
    /// which is larger.
    fn raise_marginal(&mut self) -> Result<()> {
        // SAFETY: `allocate` has set what this uses.
        unsafe { self.by_row(Kernel::raise_marginal) }
    }

    /// Copies the results of the levels to the host.
    fn bring_found(&mut self, observer: &mut dyn Observer) -> Result<(Adjacency, SepSetLog)> {
        if let CudaTest::Gauss(_) = self.engine.test {
            self.raise_marginal()?;
        }
        self.engine.held.gpu.copies_follow()?;
        let graph = self.bring_graph(self.args.graph)?;
        let empty = match self.empty.take() {
            Some(empty) => empty,
            None => self.bring_graph(self.args.empty)?,
        };
        let mut sepsets = SepSetLog::new(self.options.p, self.options.empty_side());
        sepsets.set_empty(empty);
        std::mem::take(&mut self.log).bring_into(self.engine, &mut sepsets)?;
        self.bring_p_values(observer)?;
        Ok((graph, sepsets))
    }
}
