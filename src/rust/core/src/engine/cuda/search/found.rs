//! What a search on the card has found: brought to the host at the end, or copied between levels; and put on a card in a later call.

use std::ops::Range;

use super::{bits_of, plan_ends, CudaSearch};
use crate::ci::Batch;
use crate::engine::batched;
use crate::engine::cuda::card::buffer::BufferId;
use crate::engine::cuda::card::held::Holds;
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::CudaTest;
use crate::graph::{Adjacency, SepSetLog, SepSets};
use crate::observer::Observer;
use crate::search::checkpoint::{self, Found};
use crate::search::Largest;
use crate::Result;

/// Questions of level 0 that are asked together.
const ASKED: usize = 1 << 20;

impl<'s> CudaSearch<'s, '_> {
    /// The answer where no level has run.
    pub(in crate::engine::cuda) fn finish_unbegun(&mut self) -> Result<(Adjacency, SepSets)> {
        let start = self.options.start();
        self.p_max.fill(self.options, &start)?;
        Ok((start, SepSets::new(self.options.p, self.options.empty_side())))
    }

    pub(in crate::engine::cuda) fn run_finish(&mut self, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        let (graph, sepsets) = self.bring_found(observer)?;
        Ok((graph, sepsets.finish(&self.engine.held.pool)?))
    }

    /// Brings the graph, and the pairs that the empty set separates; the p-values of level 0 of what is left are raised by then.
    fn bring_graphs(&mut self) -> Result<(Adjacency, Adjacency)> {
        if let CudaTest::Gauss(_) = self.engine.test {
            self.raise_marginal(0..self.options.p)?;
        }
        self.engine.held.card.copies_follow()?;
        let graph = self.bring_graph(self.args.graph)?;
        let empty = match self.empty.take() {
            Some(empty) => empty,
            None => self.bring_graph(self.args.empty)?,
        };
        Ok((graph, empty))
    }

    /// Raises the p-values of the pairs that are left, of these rows, to at least those of level 0. Of a pair that level 1 has separated that changes
    /// nothing: its own is larger.
    pub(in crate::engine::cuda) fn raise_marginal(&mut self, rows: Range<usize>) -> Result<()> {
        [self.args.first_row, self.args.end_row] = [rows.start as u64, rows.end as u64];
        // SAFETY: `allocate` has set what this uses.
        let outcome = unsafe { self.by_row(Kernel::raise_marginal) };
        self.all_rows();
        outcome
    }

    /// Brings what the levels have found.
    fn bring_found(&mut self, observer: &mut dyn Observer) -> Result<(Adjacency, SepSetLog)> {
        let (graph, empty) = self.bring_graphs()?;
        let mut sepsets = SepSetLog::new(self.options.p, self.options.empty_side());
        sepsets.set_empty(empty);
        std::mem::take(&mut self.log).bring_into(self.engine, &mut sepsets)?;
        self.bring_p_values(observer)?;
        Ok((graph, sepsets))
    }

    /// Likewise where the plan of the level that is next does not fit: nothing of that is there.
    pub(in crate::engine::cuda) fn hand_over(&mut self, observer: &mut dyn Observer) -> Result<(Adjacency, SepSetLog)> {
        plan_ends(&mut self.engine.held.plan, 0, false);
        for what in [BufferId::Scratch, BufferId::Asked, BufferId::Batch, BufferId::Binomials] {
            self.engine.held.plan.set(what, 0);
        }
        self.bring_found(observer)
    }

    /// Has what the last level has left kept.
    pub(super) fn run_keep(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.is_kept = true;
        self.engine.held.begin(None);
        let levels = self.kept.as_ref().map_or(0, |found| found.levels) + 1;
        let found = self.watched(|search| search.copy_found(levels, observer))?;
        checkpoint::keep(&found, self.p_max.largest(), observer)?;
        self.kept = Some(found);
        Ok(())
    }

    /// What was kept last.
    pub(super) fn last_kept(&mut self) -> Result<(Adjacency, SepSets)> {
        match self.kept.take() {
            Some(found) => Ok((found.graph, found.sepsets.finish(&self.engine.held.pool)?)),
            None => self.finish_unbegun(),
        }
    }

    /// Copies what so many levels have found. The p-values go where the search leaves them.
    pub(in crate::engine::cuda) fn copy_found(&mut self, levels: usize, observer: &mut dyn Observer) -> Result<Found> {
        let (graph, empty) = self.bring_graphs()?;
        self.empty = Some(empty.clone());
        let mut sepsets = SepSetLog::new(self.options.p, self.options.empty_side());
        sepsets.set_empty(empty);
        self.log.copy_into(self.engine, &mut sepsets)?;
        self.copy_p_values(observer)?;
        Ok(Found { levels, graph, sepsets, is_exact: true })
    }

    /// Begins with what levels have found in an earlier call.
    pub(in crate::engine::cuda) fn run_resume(&mut self, found: Found, observer: &mut dyn Observer) -> Result<()> {
        let mut wanted = std::mem::replace(self.p_max.largest(), Largest::Square(&mut []));
        let outcome = self
            .complete(&found, &mut wanted, observer)
            .and_then(|()| self.begin_resumed(observer))
            .and_then(|()| self.put_found(&found, &wanted, observer));
        *self.p_max.largest() = wanted;
        outcome?;
        self.kept = Some(found);
        Ok(())
    }

    /// The p-values of level 0 of the edges that are left, where the earlier call had not asked for them. The kernels of the Gaussian test do that at
    /// the end.
    pub(in crate::engine::cuda) fn complete(
        &mut self,
        found: &Found,
        wanted: &mut Largest,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if found.is_exact || matches!(self.engine.test, CudaTest::Gauss(_)) {
            return Ok(());
        }
        let tested = self.options.testable(&found.graph);
        let pairs = (0..self.options.p).flat_map(|x| tested.neighbours_above(x).map(move |y| (x, y as usize)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        for some in pairs.chunks(ASKED) {
            let mut batch = Batch::with_space(some.len(), 0)?;
            some.iter().for_each(|&(x, y)| batch.push(x, y, &[]));
            let values = batched::p_values(self.engine, &batch, observer)?;
            for (&(x, y), p) in some.iter().zip(values) {
                wanted.raise_left(x, y, p, self.options);
            }
        }
        Ok(())
    }

    /// Has the data of the test on the card, unless they are, and room for a search.
    pub(in crate::engine::cuda) fn begin_resumed(&mut self, observer: &mut dyn Observer) -> Result<()> {
        match self.engine.test {
            CudaTest::Gauss(gauss) => {
                self.prepare_marginal(&gauss, observer)?;
                self.allocate()?;
                self.set_rules(&gauss.test, 0);
                self.args.c = self.engine.place_correlations(&gauss)?;
            }
            CudaTest::Discrete(test) => {
                self.args.size = 0;
                self.args.fast = u64::from(self.fast());
                self.allocate()?;
                self.engine.upload_codes(&test)?;
            }
        }
        Ok(())
    }

    /// Puts graph, separating sets and p-values in place, once there is room for a search.
    pub(in crate::engine::cuda) fn put_found(
        &mut self,
        found: &Found,
        wanted: &Largest,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if let (true, Largest::Left(left)) = (self.p_max.is_of_left(), wanted) {
            if let Some((pairs, _)) = left.parts() {
                self.put_graph(pairs.graph(), observer)?;
            }
            self.open_pairs()?;
        }
        self.put_p_values(wanted)?;
        self.put_graph(&found.graph, observer)?;
        self.empty = Some(found.sepsets.parts().0.clone());
        self.log.resume(&found.sepsets);
        self.started = true;
        Ok(())
    }

    /// Puts a graph on the card, with what is known of it between levels.
    pub(in crate::engine::cuda) fn put_graph(&mut self, graph: &Adjacency, observer: &mut dyn Observer) -> Result<()> {
        self.engine.held.upload(self.args.graph.cast(), &bits_of(graph)?)?;
        self.reset_report(0)?;
        // SAFETY: `allocate` has set what this uses.
        unsafe { self.by_row(Kernel::degrees)? };
        let report = self.report("what is known of an earlier call", &mut || observer.look())?;
        self.take_graph(&report);
        Ok(())
    }

    /// Takes over what an earlier call found.
    pub(in crate::engine::cuda) fn has_resumed(&mut self) {
        self.started = true;
    }
}
