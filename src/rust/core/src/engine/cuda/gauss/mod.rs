//! The Gaussian test's levels 0 and 1 on the card, and the rules that all its levels take.

pub(super) mod batch;
pub mod correlation;
mod rules;
pub(super) mod sets;

use crate::ci::gauss::{Gauss, Reading, Undefined, MISSING, TOO_FEW};
use crate::engine::cuda::arguments::{Report, DECIDING_THREADS};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::kernels::{Kernel, WARP};
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::SearchStrategy;
use crate::observer::Observer;
use crate::{Error, Result};

/// Tests of a launch of level 1, at most: about 0.1 s.
const SINGLE_TESTS: f64 = 2e10;

impl CudaSearch<'_, '_> {
    /// Level 0, up to the lower triangle of the graph.
    pub(in crate::engine::cuda) fn gauss_marginal(&mut self, gauss: &Gauss) -> Result<()> {
        self.refuse_few(gauss)?;
        self.allocate()?;
        self.set_rules(gauss, 0);
        self.args.c = self.engine.upload_correlations(gauss)?;
        self.reset_report(0)?;
        // SAFETY: `allocate` has set what this uses, but for the correlations, which are set above.
        unsafe { self.launch(Kernel::marginal, self.blocks_for(self.args.p * self.args.words)) }
    }

    /// A level, after the lists of neighbours were made; `widest` is the largest degree.
    pub(in crate::engine::cuda) fn gauss_level(
        &mut self,
        gauss: &Gauss,
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

    fn set_rules(&mut self, gauss: &Gauss, size: usize) {
        rules::fill(&mut self.args, gauss, self.engine.alpha, self.options.na_delete, size);
    }

    /// The error, with its pair, at which pcalg's "stable.fast" stops because the sample is too small for any test.
    fn refuse_few(&self, gauss: &Gauss) -> Result<()> {
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

    /// Level 1 with a warp a pair.
    fn run_singles(&mut self, widest: usize, observer: &mut dyn Observer) -> Result<Report> {
        self.args.verdict = self.engine.held.device(Buffer::Verdicts)?;
        let p = self.options.p;
        let tests = self.ends as f64 * widest as f64;
        let launches = (tests / SINGLE_TESTS).ceil().max(1.0) as usize;
        let rows = p.div_ceil(launches);
        let shared = 3 * 8 * u64::from(DECIDING_THREADS / WARP);
        for first in (0..p).step_by(rows) {
            let last = p.min(first + rows);
            self.args.first_row = first as u64;
            self.args.end_row = last as u64;
            // Enough blocks for the card where there are few rows.
            let parts = (self.engine.held.card.processors * 64).div_ceil((last - first) as u32).clamp(1, 16);
            let launch = Kernel::single.on(((last - first) as u32, parts), DECIDING_THREADS, shared);
            // SAFETY: the lists are the level's, with as many verdicts; `shared` is three numbers a warp, as the kernel has them.
            unsafe { self.engine.held.card.launch(launch, &self.args)? };
            if launches > 1 {
                self.engine.held.wait("level 1", &mut || observer.look())?;
                observer.progress(1, last as f64 * 0.999, p as f64)?;
            }
        }
        // SAFETY: as above; the log has room for a record of each pair.
        unsafe {
            self.by_row(Kernel::settle_single)?;
            self.over_rows(Kernel::log_offsets)?;
            self.by_row(Kernel::log_single)?;
            self.by_row(Kernel::degrees)?;
        }
        // The card is busy: time to bring what is needed at the end.
        self.empty = Some(self.bring_graph(self.args.empty)?);
        self.p_max.mark_rest(&self.engine.held.pool, self.args.mark);
        let report = self.report("level 1", &mut || observer.look())?;
        let mut starts = vec![0u64; p + 1];
        self.engine.held.fetch(self.args.first_record, &mut starts, "level 1")?;
        self.log.enter_singles(starts);
        observer.progress(1, p as f64, p as f64)?;
        Ok(report)
    }
}
