//! PC-stable on the GPU. The graph, the separating sets and the largest p-values stay there until they are final. Between levels only a few
//! numbers are copied to the host.

mod found;
mod log;
mod marginal;
pub(in crate::engine::cuda) mod p_max;

use crate::engine::cuda::arguments::{Report, SearchArgs, SLOT_BYTES, VERTEX_BITS, WIDE_REST};
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::{Held, Holds};
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::gpu::opened::Gpu;
use crate::engine::cuda::gpu::plan::MemoryPlan;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::{CudaEngine, CudaTest, SearchStrategy};
use crate::graph::{Adjacency, Form, SepSets};
use crate::observer::Observer;
use crate::search::levels::{LevelReport, Levels, Widest};
use crate::search::{Largest, Method, Options};
use crate::Result;
use log::Log;
use p_max::PMax;

/// Threads of a block, unless a kernel needs another number.
pub(in crate::engine::cuda) const USUAL_THREADS: u32 = 256;

/// Nanoseconds after which a launch starts no more work. With the work that it then finishes, it takes less than 0.1 s.
pub(in crate::engine::cuda) const SLICE_NANOSECONDS: u64 = 50_000_000;

/// Number of vertices that fit `VERTEX_BITS` bits of a report. The correlations of this many variables would take 32 TiB.
const MOST_VARIABLES: usize = 1 << VERTEX_BITS;

/// A search on the GPU.
pub(in crate::engine::cuda) struct CudaSearch<'s, 'a> {
    pub(in crate::engine::cuda) engine: &'s mut CudaEngine<'a>,
    pub(in crate::engine::cuda) options: &'s Options,
    pub(in crate::engine::cuda) p_max: PMax<'s>,
    /// Pairs that the empty set separates, once they are on the host.
    pub(in crate::engine::cuda) empty: Option<Adjacency>,
    /// Arguments of the kernels. Those that `allocate` sets stay. Each level sets those of its own buffers, whose sizes the kernels derive
    /// from p, `ends` and the level's set size. The next level's plan frees these buffers, after the end of this level has waited for the
    /// stream.
    pub(in crate::engine::cuda) args: SearchArgs,
    /// Twice the number of edges.
    pub(in crate::engine::cuda) ends: u64,
    widest: Option<Widest>,
    pub(in crate::engine::cuda) binomials: Vec<u64>,
    pub(in crate::engine::cuda) log: Log,
    started: bool,
}

/// Plans the memory of a search of p variables that does not depend on the graph. `data`: bytes of the data; `of_graph`: how many bit rows
/// the graph has there; `masks`: whether there are fixed gaps, and whether there are fixed edges.
fn plan_of_variables(p: u64, data: u64, of_graph: usize, masks: [bool; 2]) -> MemoryPlan {
    let row = 8 * p.div_ceil(64);
    let rows = row * p;
    let mut plan = MemoryPlan::default();
    plan.set(Buffer::Data, data);
    plan.set(Buffer::Graph, row * of_graph.max(1) as u64);
    plan.set(Buffer::Empty, row * of_graph.max(1) as u64);
    plan.set(Buffer::Start, if masks[0] { rows } else { 0 });
    plan.set(Buffer::Fixed, if masks[1] { rows } else { 0 });
    plan.set(Buffer::PMax, (4 * p * (p.max(1) - 1)).max(8));
    plan.set(Buffer::Rows, 3 * 8 * (p + 1) + 4 * p);
    plan
}

/// Plans the memory of a level that depends on the number of edges, except for separating sets. `ends` is twice that number. `singles`: the
/// level takes a warp for each pair, and needs no slots.
fn plan_ends(plan: &mut MemoryPlan, ends: u64, singles: bool) {
    plan.set(Buffer::List, 4 * ends);
    plan.set(Buffer::Verdicts, if singles { 4 * ends } else { 0 });
    plan.set(Buffer::Slots, if singles { 0 } else { SLOT_BYTES * ends });
    plan.set(Buffer::Twins, if singles { 0 } else { 4 * ends });
}

impl<'s, 'a> CudaSearch<'s, 'a> {
    pub fn new(engine: &'s mut CudaEngine<'a>, options: &'s Options, largest: Largest<'s>) -> Self {
        let p_max = PMax::new(largest, options.p);
        Self::with_p_max(engine, options, p_max)
    }

    /// Creates a search whose p-values go to `p_max`.
    pub fn with_p_max(engine: &'s mut CudaEngine<'a>, options: &'s Options, p_max: PMax<'s>) -> Self {
        let p = options.p;
        let all = (p * (p - 1)) as u64;
        let ends =
            if options.fixed_gaps.is_some() { 2 * options.start(&engine.held.pool).edge_count() as u64 } else { all };
        let args =
            SearchArgs { p: p as u64, pitch: p as u64, words: 2 * p.div_ceil(64) as u64, ..SearchArgs::default() };
        let binomials = Vec::new();
        let log = Log::default();
        let (empty, widest, started) = (None, None, false);
        CudaSearch { engine, options, p_max, empty, args, ends, widest, binomials, log, started }
    }

    pub(in crate::engine::cuda) fn fast(&self) -> bool {
        self.options.method == Method::StableFast
    }

    /// Returns whether level 1 takes a warp for each pair.
    pub(in crate::engine::cuda) fn singles(&self) -> bool {
        matches!(self.engine.test, CudaTest::Gauss(_)) && self.engine.options.strategy == SearchStrategy::Shared
    }

    /// Returns the bytes of a report and of the unfinished items of blocks that follow it.
    pub(in crate::engine::cuda) fn report_bytes(&self) -> u64 {
        size_of::<Report>() as u64 + 8 * WIDE_REST * self.engine.wide_blocks()
    }

    /// Plans the memory that does not depend on the graph; `data`: bytes of the data.
    pub(in crate::engine::cuda) fn plan_variables(&mut self, data: u64) {
        self.plan_rows(data, self.options.p);
    }

    /// Works as [`Self::plan_variables`], with this many bit rows of graphs.
    pub(in crate::engine::cuda) fn plan_rows(&mut self, data: u64, rows: usize) {
        let masks = [self.options.fixed_gaps.is_some(), self.options.fixed_edges.is_some()];
        // This replaces the plan of an earlier search on this engine.
        let mut plan = plan_of_variables(self.args.p, data, rows, masks);
        plan.set(Buffer::Report, self.report_bytes());
        self.engine.held.plan = plan;
        if self.p_max.is_of_left() {
            let (p, plan) = (self.args.p, &mut self.engine.held.plan);
            plan.set(Buffer::Ranks, 8 * p + 12 * p * p.div_ceil(64));
            if let CudaTest::Gauss(_) = self.engine.test {
                // Planned once the pairs that level 0 leaves are known.
                plan.set(Buffer::PMax, 0);
            }
        }
    }

    /// Plans and commits the memory of a level with sets of `size`; `widest` is the largest degree.
    fn plan_level(&mut self, size: usize, widest: usize) -> Result<()> {
        let (ends, singles) = (self.ends, size == 1 && self.singles());
        let binomials = self.binomial_count(size, widest);
        self.log.plan(self.engine, size, singles, ends / 2)?;
        let plan = &mut self.engine.held.plan;
        plan_ends(plan, ends, singles);
        plan.set(Buffer::Binomials, if singles { 0 } else { 8 * binomials });
        match self.engine.test {
            CudaTest::Gauss(gauss) => {
                let scratch = if singles { 0 } else { self.scratch_of_sets(size, widest) };
                self.engine.held.plan.set(Buffer::Scratch, scratch);
                self.engine.held.plan.set(Buffer::Near, 0);
                self.engine.held.plan.set(Buffer::Batch, 0);
                if singles {
                    self.plan_singles(&gauss.test, widest)?;
                }
                self.engine.held.commit()
            }
            CudaTest::Discrete(test) => self.plan_counting(&test, size),
        }
    }

    /// Launches a kernel whose warps stride over its work, with the search's arguments.
    ///
    /// # Safety
    /// The kernel must be of this kind and use no shared memory. It may use only those of `args` that are set for this level.
    pub(in crate::engine::cuda) unsafe fn launch(&self, kernel: Kernel<SearchArgs>, blocks: u32) -> Result<()> {
        self.engine.held.gpu.launch(kernel.on((blocks, 1), USUAL_THREADS, 0), &self.args)
    }

    /// Returns the number of blocks for a kernel whose warps stride over `tasks`.
    pub(in crate::engine::cuda) fn blocks_for(&self, tasks: u64) -> u32 {
        blocks_on(&self.engine.held.gpu, tasks)
    }

    /// Launches a kernel whose warps each take a row.
    ///
    /// # Safety
    /// See [`CudaSearch::launch`].
    pub(in crate::engine::cuda) unsafe fn by_row(&self, kernel: Kernel<SearchArgs>) -> Result<()> {
        self.launch(kernel, self.blocks_for(self.args.p))
    }

    /// Launches a kernel of one block that sums over rows.
    ///
    /// # Safety
    /// The kernel must be of this kind, with 8 bytes of shared memory for each warp. For `args` see [`CudaSearch::launch`].
    pub(in crate::engine::cuda) unsafe fn over_rows(&self, kernel: Kernel<SearchArgs>) -> Result<()> {
        let threads = 1024;
        let shared = 8 * u64::from(threads / WARP);
        self.engine.held.gpu.launch(kernel.on((1, 1), threads, shared), &self.args)
    }

    /// Clears the report, for a level whose first stage has `stage_items` items of work.
    pub(in crate::engine::cuda) fn reset_report(&mut self, stage_items: u64) -> Result<()> {
        self.put_report(Report { undefined: u64::MAX, stage_items, ..Report::default() })
    }

    /// Copies a report to the GPU.
    pub(in crate::engine::cuda) fn put_report(&mut self, report: Report) -> Result<()> {
        let reports = self.engine.held.memory().reports()?;
        // SAFETY: there is room for two reports. No copy is under way: every level and every report ends with a synchronisation.
        let fresh = unsafe {
            *reports = report;
            std::slice::from_raw_parts(reports, 1)
        };
        // SAFETY: the buffer holds one report; the next one is written after this one has been sent, as above.
        unsafe { self.engine.held.gpu.upload(self.args.report, fresh) }
    }

    /// Waits for the launches and reads the report.
    pub(in crate::engine::cuda) fn report(
        &mut self,
        doing: &str,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Report> {
        self.ask_report()?;
        self.engine.held.wait(doing, look)?;
        self.read_report()
    }

    /// Queues the copy of the report to the host, after the launches.
    pub(in crate::engine::cuda) fn ask_report(&mut self) -> Result<()> {
        let reports = self.engine.held.memory().reports()?;
        // SAFETY: the buffer holds one report, and pinned memory two; the second is read after the stream has come to rest.
        unsafe { self.engine.held.gpu.download(self.args.report, reports.add(1), 1) }
    }

    /// Returns the report that was asked for. The stream must have come to rest since.
    pub(in crate::engine::cuda) fn read_report(&mut self) -> Result<Report> {
        let reports = self.engine.held.memory().reports()?;
        // SAFETY: pinned memory holds two reports, and any bits are a valid value.
        Ok(unsafe { *reports.add(1) })
    }

    /// Takes the number of edges left and the widest row from the report.
    fn take_graph(&mut self, report: &Report) {
        self.ends = report.ends;
        let field = |shift: u32| (report.widest >> shift) as usize & (MOST_VARIABLES - 1);
        let (x, y) = (MOST_VARIABLES - 1 - field(VERTEX_BITS), field(0));
        self.widest = (report.widest != 0).then_some(Widest { x, y, degree: field(2 * VERTEX_BITS) });
    }

    /// Allocates the memory that does not depend on the graph, and sets the arguments that stay.
    pub(in crate::engine::cuda) fn allocate(&mut self) -> Result<()> {
        self.plan_variables(self.engine.data_bytes());
        match self.engine.test {
            CudaTest::Gauss(_) => self.engine.held.commit()?,
            CudaTest::Discrete(test) => self.plan_counting(&test, 0)?,
        }
        self.set_places()
    }

    /// Sets the arguments that stay. The plan of [`Self::plan_variables`] must be committed.
    pub(in crate::engine::cuda) fn set_places(&mut self) -> Result<()> {
        let engine = &mut *self.engine;
        self.args.graph = engine.held.device(Buffer::Graph)?;
        self.args.empty = engine.held.device(Buffer::Empty)?;
        if engine.held.plan.of(Buffer::PMax) > 0 {
            self.args.p_max = engine.held.device(Buffer::PMax)?;
        }
        let offsets = 8 * (self.args.p + 1);
        self.args.offset = engine.held.device(Buffer::Rows)?.cast();
        self.args.first_item = self.args.offset.carve(offsets);
        self.args.first_wide = self.args.first_item.carve(offsets);
        self.args.degree = self.args.first_wide.carve(offsets);
        self.args.first_record = self.args.first_item;
        self.args.record_count = self.args.degree;
        if self.options.fixed_gaps.is_some() {
            self.args.start = engine.held.device(Buffer::Start)?;
            engine.held.upload(self.args.start.cast(), self.options.start(&engine.held.pool).words())?;
        }
        // A graph that is kept as lists has no bit rows for the GPU. The host leaves out fixed pairs in any case.
        if let Some(fixed) = self.options.fixed_edges.as_ref().filter(|fixed| fixed.form() == Form::Bits) {
            self.args.fixed = engine.held.device(Buffer::Fixed)?;
            engine.held.upload(self.args.fixed.cast(), fixed.words())?;
        }
        self.set_report()
    }

    /// Sets the arguments that launches of all levels share, once a report is planned and committed.
    pub(in crate::engine::cuda) fn set_report(&mut self) -> Result<()> {
        self.args.report = self.engine.held.device(Buffer::Report)?;
        self.args.wide_rest = self.args.report.carve(size_of::<Report>() as u64);
        self.args.wide_blocks = self.engine.wide_blocks();
        self.args.mark = self.options.untested();
        self.args.level_warps = u64::from(self.engine.held.gpu.processors) * 16;
        self.args.budget = SLICE_NANOSECONDS;
        self.all_rows();
        Ok(())
    }

    /// Makes the kernels take all rows and all pairs.
    pub(in crate::engine::cuda) fn all_rows(&mut self) {
        (self.args.first_row, self.args.end_row) = (0, self.args.p);
        (self.args.first_smaller, self.args.end_smaller) = (0, self.args.p);
    }

    /// Copies a graph from the GPU. Nothing may change it meanwhile.
    pub(in crate::engine::cuda) fn bring_graph(&mut self, from: DevicePtr<u32>) -> Result<Adjacency> {
        let p = self.options.p;
        Ok(Adjacency::from_rows(p, self.engine.held.bring_all(from.cast(), p * p.div_ceil(64))?))
    }

    /// Returns the largest degree, or `None` if a level with sets of `size` has no pair to test.
    pub(in crate::engine::cuda) fn widest_of(&self, size: usize) -> Option<usize> {
        self.widest.map(|widest| widest.degree).filter(|&degree| degree > size)
    }

    fn run_conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let Some(widest) = self.widest_of(size) else {
            return Ok(LevelReport { go_on: self.fast(), ..LevelReport::default() });
        };
        self.begin_level(size, widest)?;
        let report = match self.engine.test {
            CudaTest::Gauss(gauss) => self.gauss_level(&gauss.test, size, widest, observer)?,
            CudaTest::Discrete(test) => self.discrete_level(&test, size, widest, observer)?,
        };
        self.end_level(size, &report)
    }

    /// Plans the memory of a level, and makes the lists of neighbours; `widest` is the largest degree.
    pub(in crate::engine::cuda) fn begin_level(&mut self, size: usize, widest: usize) -> Result<()> {
        self.plan_level(size, widest)?;
        self.args.list = self.engine.held.device(Buffer::List)?;
        self.args.log = self.log.place(self.engine)?;
        self.reset_report(0)?;
        // SAFETY: `allocate` has set what these use, except the list, which is set above.
        unsafe {
            self.over_rows(Kernel::offsets)?;
            self.by_row(Kernel::fill)
        }
    }

    /// Ends a level with its report.
    pub(in crate::engine::cuda) fn end_level(&mut self, size: usize, report: &Report) -> Result<LevelReport> {
        if size > 1 || !self.singles() {
            self.log.enter(size, report.logged);
        }
        if report.undefined != u64::MAX {
            return Err(self.undefined(report.undefined));
        }
        self.take_graph(report);
        Ok(LevelReport { tests: report.tests, exact_tests: report.exact, go_on: self.fast() || report.go_on != 0 })
    }
}

impl Holds for CudaSearch<'_, '_> {
    fn held(&mut self) -> &mut Held {
        &mut self.engine.held
    }
}

impl Levels for CudaSearch<'_, '_> {
    fn edge_count(&self) -> usize {
        (self.ends / 2) as usize
    }

    fn widest(&self) -> Option<Widest> {
        self.widest
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.engine.held.begin(Some(0));
        self.watched(|search| search.run_marginal(observer))
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.engine.held.begin(Some(size));
        self.watched(|search| search.run_conditional(size, observer))
    }

    fn finish(mut self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        self.end(observer)
    }
}

impl CudaSearch<'_, '_> {
    /// Does the work of [`Levels::finish`], after which the search can still be abandoned.
    fn end(&mut self, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        if !self.started {
            return self.finish_unbegun();
        }
        self.engine.held.begin(None);
        self.watched(|search| search.run_finish(observer))
    }
}

/// Returns the number of blocks on this GPU for a kernel whose warps stride over `tasks`.
pub(in crate::engine::cuda) fn blocks_on(gpu: &Gpu, tasks: u64) -> u32 {
    let wanted = tasks.div_ceil(u64::from(USUAL_THREADS / WARP));
    wanted.clamp(1, u64::from(gpu.processors) * 16) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_thousand_variables_fit_a_gpu_of_sixteen_gigabytes() {
        let mut plan = plan_of_variables(20_000, 8 * 20_000 * 20_000, 20_000, [false; 2]);
        assert_eq!(plan.of(Buffer::PMax), 8 * (20_000 * 19_999 / 2));
        assert_eq!(plan.of(Buffer::Graph), 20_000 * 8 * 313);
        // Half of all pairs are left at level 1, and one in a hundred at level 2.
        plan_ends(&mut plan, 200_000_000, true);
        plan.set(Buffer::Log, 16 * 100_000_000);
        assert!(plan.check(16 << 30, None).is_ok(), "{plan}");
        plan_ends(&mut plan, 4_000_000, false);
        assert!(plan.check(16 << 30, None).is_ok(), "{plan}");
    }
}
