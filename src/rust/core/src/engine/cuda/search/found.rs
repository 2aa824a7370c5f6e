//! What a search on the GPU has found, brought to the host at the end.

use super::CudaSearch;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::CudaTest;
use crate::graph::{Adjacency, SepSetLog, SepSets};
use crate::observer::Observer;
use crate::Result;

impl CudaSearch<'_, '_> {
    /// The answer where no level has run.
    pub(in crate::engine::cuda) fn finish_unbegun(&mut self) -> Result<(Adjacency, SepSets)> {
        let start = self.options.start(&self.engine.held.pool);
        self.p_max.fill(self.options, &start)?;
        Ok((start, SepSets::new(self.options.p, self.options.empty_side())))
    }

    pub(in crate::engine::cuda) fn run_finish(&mut self, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        let (graph, sepsets) = self.bring_found(observer)?;
        Ok((graph, sepsets.finish(&self.engine.held.pool)?))
    }

    /// Raises the p-values of the pairs that are left to at least those of level 0. Of a pair that level 1 has separated that changes nothing: its own
    /// is larger.
    fn raise_marginal(&mut self) -> Result<()> {
        // SAFETY: `allocate` has set what this uses.
        unsafe { self.by_row(Kernel::raise_marginal) }
    }

    /// Brings what the levels have found.
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
