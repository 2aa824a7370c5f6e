//! A card of a team with its search, and how it runs the rows that it is given.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::held::Holds;
use crate::engine::cuda::discrete::Level;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::share::Machine;
use crate::engine::cuda::CudaTest;
use crate::search::levels::LevelReport;
use crate::Result;

/// What rows are run of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Level 0 of discrete variables; the rows are the larger vertices.
    Pairs,
    /// Level 1 of the Gaussian test; the rows are the smaller vertices.
    Singles,
    /// A side of a level by slots: 0 or 1.
    Side(u64),
}

/// A card with its search.
pub(super) struct Member<'s, 'a> {
    pub search: CudaSearch<'s, 'a>,
    pub step: Step,
    /// The size of the level's sets, and the largest degree.
    pub size: usize,
    widest: usize,
    /// Of discrete variables, the level under way.
    pub level: Option<Level>,
    /// The rows of the shard under way, and by the first row of a shard what was counted in it, at level 1 of the Gaussian test.
    rows: Range<usize>,
    pub counted: HashMap<usize, LevelReport>,
    /// The first rows of shards of which this card has begun to copy what another has found: if that one fails, and this one does them, what comes must
    /// have come.
    pub coming: HashSet<usize>,
    /// Whether p-values are brought when a shard of level 1 of the Gaussian test is done: they must be final.
    pub is_last: bool,
}

impl<'s, 'a> Member<'s, 'a> {
    pub fn new(search: CudaSearch<'s, 'a>) -> Self {
        let counted = HashMap::new();
        Member {
            search,
            step: Step::Singles,
            size: 0,
            widest: 0,
            level: None,
            rows: 0..0,
            counted,
            coming: HashSet::new(),
            is_last: false,
        }
    }

    /// Calls `run` with the card bound to this thread.
    pub fn run<T>(&mut self, run: impl FnOnce(&mut CudaSearch<'s, 'a>) -> Result<T>) -> Result<T> {
        self.search.watched(run)
    }

    /// Begins a level of sets.
    pub fn begin_level(&mut self, size: usize, widest: usize) -> Result<()> {
        (self.size, self.widest) = (size, widest);
        self.coming.clear();
        let level = self.search.watched(|search| {
            search.begin_level(size, widest)?;
            match search.engine.test {
                CudaTest::Gauss(gauss) => {
                    search.set_rules(&gauss.test, size);
                    if size == 1 && search.singles() {
                        // A pair's verdict stands in the list of one of its vertices; the others' places are copied with them.
                        let (at, count) = (search.engine.held.device(Buffer::Verdicts)?, search.ends as usize);
                        search.engine.held.clear(at, count)?;
                        search.begin_singles()?;
                        // Others' verdicts come beside the stream: not before it has got here.
                        search.engine.held.card.sends_follow()
                    } else {
                        search.begin_sets(size, widest)
                    }?;
                    Ok(None)
                }
                CudaTest::Discrete(test) => search.begin_stages(&test, size, widest).map(Some),
            }
        })?;
        self.level = level;
        Ok(())
    }
}

impl Machine for Member<'_, '_> {
    fn begin(&mut self, rows: &Range<usize>) -> Result<()> {
        self.rows = rows.clone();
        let Member { search, step, size, widest, level, coming, is_last, .. } = self;
        let rows = rows.clone();
        search.watched(|search| match (*step, level.as_mut()) {
            (Step::Pairs, Some(level)) => {
                search.launch_pairs(level, rows)?;
                search.ask_report()
            }
            (Step::Side(second), Some(level)) => search.begin_rows(level, second, rows),
            (Step::Side(second), None) => search.begin_side(*size, *widest, second, rows),
            (Step::Pairs | Step::Singles, _) => {
                if coming.contains(&rows.start) {
                    search.engine.held.follow_copies()?;
                }
                search.reset_report(0)?;
                search.launch_singles(rows.clone())?;
                if *is_last {
                    search.raise_marginal(rows)?;
                }
                search.ask_report()
            }
        })
    }

    fn is_done(&mut self, look: &mut dyn FnMut() -> Result<()>) -> Result<bool> {
        let Member { search, step, size, widest, level, rows, counted, .. } = self;
        search.watched(|search| {
            if !search.engine.held.card.is_idle("a level")? {
                return Ok(false);
            }
            let report = search.read_report()?;
            if *step == Step::Singles {
                let (tests, exact_tests, go_on) = (report.tests, report.exact, report.go_on != 0);
                counted.insert(rows.start, LevelReport { tests, exact_tests, go_on });
                return Ok(true);
            }
            match (*step, level.as_mut(), search.engine.test) {
                (Step::Pairs, Some(level), CudaTest::Discrete(test)) => {
                    let done = search.go_on_pairs(&test, level, &report, look)?;
                    if !done {
                        search.ask_report()?;
                    }
                    Ok(done)
                }
                (Step::Side(second), Some(level), CudaTest::Discrete(test)) => {
                    search.go_on_rows(&test, level, second, &report, look)
                }
                (Step::Side(second), ..) => search.go_on_side(*size, *widest, second, &report),
                _ => Ok(true),
            }
        })
    }
}
