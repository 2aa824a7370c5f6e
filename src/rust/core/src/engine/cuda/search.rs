//! PC-stable on the card: the graph, the separating sets and the largest p-values stay there until the end. Between levels a
//! few numbers come back.

use super::kernels::{Args, Report, WARP};
use super::log::Log;
use super::memory::Use;
use super::p_max::PMax;
use super::plan::Plan;
use super::{rules, CudaEngine, Strategy};
use crate::ci::gauss::{Reading, Undefined, MISSING, TOO_FEW};
use crate::engine::{LevelReport, Search, Widest};
use crate::graph::{Adjacency, SepSetLog, SepSets};
use crate::search::{Method, Observer, Options};
use crate::{Error, Result};

/// Threads of a block where there is no reason for another number.
const THREADS: u32 = 256;

/// Threads of a block that decides.
pub(super) const DECIDING: u32 = 128;

/// Nanoseconds for which a launch of the shared strategy takes work: with what it then finishes, less than 0.1 s.
const SLICE: u64 = 50_000_000;

/// Tests of a launch of level 1: about 0.1 s.
const TESTS: f64 = 2e10;

/// The kernels report vertices in 21 bits. The correlations of so many variables would take 32 terabytes.
const MOST_VARIABLES: usize = 1 << 21;

/// A search on the card.
pub(super) struct CudaSearch<'s, 'a> {
    pub(super) engine: &'s mut CudaEngine<'a>,
    pub(super) options: &'s Options,
    pub(super) p_max: PMax<'s>,
    /// Pairs that the empty set separates, once they have been brought.
    empty: Option<Adjacency>,
    pub(super) args: Args,
    plan: Plan,
    /// Twice the number of edges.
    pub(super) ends: u64,
    widest: Option<Widest>,
    pub(super) binomials: Vec<u64>,
    pub(super) log: Log,
    started: bool,
}

fn bits_of(graph: &Adjacency) -> Vec<u64> {
    (0..graph.p()).flat_map(|x| graph.row(x).iter().copied()).collect()
}

impl<'s, 'a> CudaSearch<'s, 'a> {
    pub fn new(engine: &'s mut CudaEngine<'a>, options: &'s Options, p_max: &'s mut [f64]) -> Result<Self> {
        let p = options.p;
        let masks = usize::from(options.fixed_gaps.is_some()) + usize::from(options.fixed_edges.is_some());
        let plan = Plan::of_variables(p, masks);
        let all = (p * (p - 1)) as u64;
        let ends = if options.fixed_gaps.is_some() { 2 * options.start().edge_count() as u64 } else { all };
        let args = Args { p: p as u64, words: 2 * p.div_ceil(64) as u64, ..Args::default() };
        let binomials = Vec::new();
        let log = Log::default();
        let p_max = PMax::new(p_max, p);
        let (empty, widest, started) = (None, None, false);
        Ok(CudaSearch { engine, options, p_max, empty, args, plan, ends, widest, binomials, log, started })
    }

    fn fast(&self) -> bool {
        self.options.method == Method::StableFast
    }

    /// Refuses the plan where the card is too small for it.
    fn check_plan(&mut self) -> Result<()> {
        let (free, _) = self.engine.card.memory_info()?;
        let held = self.engine.memory().held();
        self.plan.check(free + held, self.engine.options.memory_budget)?;
        self.engine.plan = Some(self.plan.clone());
        Ok(())
    }

    pub(super) fn launch(&self, name: &'static str, blocks: u32) -> Result<()> {
        self.engine.card.launch(name, (blocks, 1), THREADS, 0, &self.args)
    }

    /// Blocks for a kernel whose warps stride over `tasks`.
    pub(super) fn blocks_for(&self, tasks: u64) -> u32 {
        let wanted = tasks.div_ceil(u64::from(THREADS / WARP));
        wanted.clamp(1, u64::from(self.engine.card.processors) * 16) as u32
    }

    /// A kernel with a warp a row.
    pub(super) fn by_row(&self, name: &'static str) -> Result<()> {
        self.launch(name, self.blocks_for(self.args.p))
    }

    /// A kernel of one block that sums over rows.
    pub(super) fn over_rows(&self, name: &'static str) -> Result<()> {
        let threads = 1024;
        self.engine.card.launch(name, (1, 1), threads, 8 * u64::from(threads / WARP), &self.args)
    }

    /// Clears what the kernels report.
    fn reset_report(&mut self) -> Result<()> {
        let reports = self.engine.memory().reports()?;
        // SAFETY: room for two, and nothing is under way: every level ends with a synchronisation.
        let fresh = unsafe {
            *reports = Report { undefined: u64::MAX, ..Report::default() };
            std::slice::from_raw_parts(reports, 1)
        };
        self.engine.card.upload(self.args.report, fresh)
    }

    /// Waits for what was launched and reads the report.
    pub(super) fn report(&mut self, doing: &str, look: &mut dyn FnMut() -> Result<()>) -> Result<Report> {
        let reports = self.engine.memory().reports()?;
        // SAFETY: room for two; the second is read after the stream has come to rest.
        unsafe { self.engine.card.download(self.args.report, reports.add(1), 1)? };
        self.engine.wait(doing, look)?;
        // SAFETY: as above.
        Ok(unsafe { *reports.add(1) })
    }

    /// Takes over what a level left of the graph.
    fn take_graph(&mut self, report: &Report) {
        self.ends = report.ends;
        let field = |shift: u32| (report.widest >> shift) as usize & (MOST_VARIABLES - 1);
        let (x, y) = (MOST_VARIABLES - 1 - field(21), field(0));
        self.widest = (report.widest != 0).then_some(Widest { x, y, degree: field(42) });
    }

    /// Memory for all that does not depend on the graph.
    fn allocate(&mut self) -> Result<()> {
        self.check_plan()?;
        let (p, words) = (self.args.p, self.args.words);
        let rows = 4 * p * words;
        let engine = &mut *self.engine;
        self.args.graph = engine.device(Use::Graph, rows)?;
        self.args.empty = engine.device(Use::Empty, rows)?;
        self.args.p_max = engine.device(Use::PMax, self.plan.p_values)?;
        self.args.report = engine.device(Use::Report, size_of::<Report>() as u64)?;
        let offsets = 8 * (p + 1);
        self.args.offset = engine.device(Use::Rows, 2 * offsets + 4 * p)?;
        self.args.items = self.args.offset + offsets;
        self.args.degree = self.args.items + offsets;
        if self.options.fixed_gaps.is_some() {
            self.args.start = engine.device(Use::Start, rows)?;
            engine.card.upload(self.args.start, &bits_of(&self.options.start()))?;
        }
        if let Some(fixed) = &self.options.fixed_edges {
            self.args.fixed = engine.device(Use::Fixed, rows)?;
            engine.card.upload(self.args.fixed, &bits_of(fixed))?;
        }
        self.args.mark = self.options.untested();
        self.args.warps = u64::from(engine.card.processors) * 16;
        self.args.budget = SLICE;
        Ok(())
    }

    fn set_rules(&mut self, size: usize) {
        let CudaEngine { gauss, alpha, .. } = &*self.engine;
        rules::fill(&mut self.args, gauss, *alpha, self.options.na_delete, size);
    }

    /// The pair at which pcalg's "stable.fast" stops because the sample is too small for any test.
    fn refuse_few(&self) -> Result<()> {
        let gauss = &self.engine.gauss;
        if gauss.reading() != Reading::StableFast || gauss.n() >= 3.0 {
            return Ok(());
        }
        let tested = self.options.testable(&self.options.start());
        for y in 0..self.options.p {
            let mut below = tested.neighbours(y).map(|x| x as usize).take_while(|&x| x < y);
            if let Some(x) = below.find(|&x| !gauss.correlation(x, y).is_nan()) {
                return Err(Error::Numeric { x, y, s: Vec::new(), reason: TOO_FEW.0 });
            }
        }
        Ok(())
    }

    fn run_marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.refuse_few()?;
        self.allocate()?;
        self.set_rules(0);
        self.args.c = self.engine.upload_correlations()?;
        self.reset_report()?;
        self.launch("marginal", self.blocks_for(self.args.p * self.args.words))?;
        for rows in [self.args.graph, self.args.empty] {
            let args = Args { graph: rows, ..self.args };
            let blocks = self.blocks_for(self.args.words * self.args.words);
            self.engine.card.launch("mirror", (blocks, 1), THREADS, 0, &args)?;
        }
        self.by_row("degrees")?;
        let report = self.report("level 0", &mut || observer.look())?;
        self.take_graph(&report);
        self.started = true;
        let mut level = LevelReport { tests: report.tests, exact_tests: 0, go_on: true };
        if !self.fast() {
            // Seen from the smaller vertex, then, if the pair is still there, from the larger.
            level.tests += report.tests - report.removed;
            level.go_on = self.marginal_goes_on()?;
        }
        let total = (self.options.p * (self.options.p - 1)) as f64 / 2.0;
        observer.progress(0, total, total)?;
        Ok(level)
    }

    /// pcalg's "stable" goes on when a vertex with more than one neighbour was visited from.
    fn marginal_goes_on(&mut self) -> Result<bool> {
        let p = self.options.p;
        if self.args.start == 0 && self.args.fixed == 0 {
            return Ok(p > 2);
        }
        let start = self.options.start();
        let tested = self.options.testable(&start);
        let several: Vec<usize> = (0..p).filter(|&x| start.degree(x) > 1).collect();
        if several.iter().any(|&x| tested.neighbours(x).any(|y| y as usize > x)) {
            return Ok(true);
        }
        let graph = self.bring_graph(self.args.graph)?;
        Ok(several.iter().any(|&x| graph.neighbours(x).any(|y| (y as usize) < x && tested.has(x, y as usize))))
    }

    /// A graph, which nothing on the card is about to change.
    fn bring_graph(&mut self, from: u64) -> Result<Adjacency> {
        let p = self.options.p;
        Ok(Adjacency::from_rows(p, self.engine.bring_all(from, p * p.div_ceil(64))?))
    }

    fn run_conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let fast = self.fast();
        let Some(Widest { degree: widest, .. }) = self.widest.filter(|widest| widest.degree > size) else {
            return Ok(LevelReport { go_on: fast, ..LevelReport::default() });
        };
        let singles = self.engine.options.strategy == Strategy::Shared;
        self.plan = self.plan.clone().with_edges(self.ends, size, singles);
        self.check_plan()?;
        self.set_rules(size);
        self.args.list = self.engine.device(Use::List, 4 * self.ends)?;
        let room = self.log.reserve(self.engine, size, singles, self.ends / 2)?;
        self.args.log = room;
        self.reset_report()?;
        self.over_rows("offsets")?;
        self.by_row("fill")?;
        let report = if size == 1 && singles {
            self.run_singles(widest, observer)?
        } else {
            self.run_sets(size, widest, observer)?
        };
        if size > 1 || !singles {
            self.log.enter(size, report.logged);
        }
        if report.undefined != u64::MAX {
            return Err(self.undefined(report.undefined));
        }
        self.take_graph(&report);
        Ok(LevelReport { tests: report.tests, exact_tests: report.exact, go_on: fast || report.go_on != 0 })
    }

    /// The error of a test without an answer; its record is in the log, as it ended its side.
    fn undefined(&mut self, key: u64) -> Error {
        let (x, y) = ((key / self.args.p) as u32, (key % self.args.p) as u32);
        let s = match self.log.last_set(self.engine, [x, y]) {
            Ok(set) => set.unwrap_or_default(),
            Err(e) => return e,
        };
        let Undefined(reason) = MISSING;
        Error::Numeric { x: x as usize, y: y as usize, s, reason }
    }

    /// Level 1 with a warp a pair.
    fn run_singles(&mut self, widest: usize, observer: &mut dyn Observer) -> Result<Report> {
        self.args.verdict = self.engine.device(Use::Verdicts, 4 * self.ends)?;
        let p = self.options.p;
        let tests = self.ends as f64 * widest as f64;
        let launches = (tests / TESTS).ceil().max(1.0) as usize;
        let rows = p.div_ceil(launches);
        let shared = 3 * 8 * u64::from(DECIDING / WARP);
        for first in (0..p).step_by(rows) {
            let last = p.min(first + rows);
            self.args.first_row = first as u64;
            self.args.last_row = last as u64;
            // Enough blocks for the card where there are few rows.
            let parts = (self.engine.card.processors * 64).div_ceil((last - first) as u32).clamp(1, 16);
            self.engine.card.launch("single", ((last - first) as u32, parts), DECIDING, shared, &self.args)?;
            if launches > 1 {
                self.engine.wait("level 1", &mut || observer.look())?;
                observer.progress(1, last as f64 * 0.999, p as f64)?;
            }
        }
        self.by_row("settle_single")?;
        self.over_rows("log_offsets")?;
        self.by_row("log_single")?;
        self.by_row("degrees")?;
        // The card is busy: time for what is not needed before the end.
        self.empty = Some(self.bring_graph(self.args.empty)?);
        self.p_max.mark_rest(self.args.mark);
        let report = self.report("level 1", &mut || observer.look())?;
        let mut starts = vec![0u64; p + 1];
        // SAFETY: `starts` lives until the stream is synchronised in the next line.
        unsafe { self.engine.card.download(self.args.items, starts.as_mut_ptr(), p + 1)? };
        self.engine.card.synchronize("level 1")?;
        self.log.enter_singles(starts);
        observer.progress(1, p as f64, p as f64)?;
        Ok(report)
    }

    fn run_finish(&mut self, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        self.by_row("raise_marginal")?;
        self.engine.card.copies_follow()?;
        let graph = self.bring_graph(self.args.graph)?;
        let empty = match self.empty.take() {
            Some(empty) => empty,
            None => self.bring_graph(self.args.empty)?,
        };
        let mut sepsets = SepSetLog::new(self.options.p, self.options.empty_side());
        sepsets.set_empty(empty);
        std::mem::take(&mut self.log).bring_into(self.engine, &mut sepsets)?;
        self.bring_p_values(observer)?;
        Ok((graph, sepsets.finish()))
    }

    /// Runs something on the card, and lets the engine see how it ended.
    fn watched<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = super::device::guarded(|| {
            self.engine.card.bind()?;
            run(self)
        });
        self.engine.note(outcome)
    }
}

impl Search for CudaSearch<'_, '_> {
    fn edge_count(&self) -> usize {
        (self.ends / 2) as usize
    }

    fn widest(&self) -> Option<Widest> {
        self.widest
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.watched(|search| search.run_marginal(observer))
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.watched(|search| search.run_conditional(size, observer))
    }

    fn finish(mut self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        if !self.started {
            self.p_max.fill(self.options.untested());
            return Ok((self.options.start(), SepSets::new(self.options.p, self.options.empty_side())));
        }
        self.watched(|search| search.run_finish(observer))
    }
}
