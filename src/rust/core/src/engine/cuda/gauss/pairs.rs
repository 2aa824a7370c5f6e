//! Levels 0 and 1 for a search that is elsewhere: the card takes them as it takes its own, and what it finds of some rows goes to whoever asked.
//!
//! Level 0 is a graph, of which each column that is asked for is a part. Level 1 goes by blocks of rows, and what was found of one block comes to the
//! host, and is taken there, while the card is at the next. The graph, its lists and the numbers of its pairs stay on the card from one call to
//! the next of a level.

use std::ops::Range;

use super::source::Gaussian;
use crate::engine::cpu::{CpuEngine, GaussKernel};
use crate::engine::cuda::arguments::{SearchArgs, MASK_ROWS};
use crate::engine::cuda::card::held::Holds;
use crate::engine::cuda::search::p_max::PMax;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::share::cut;
use crate::engine::cuda::{CudaEngine, CudaTest, SearchStrategy};
use crate::graph::Adjacency;
use crate::moments::Watch;
use crate::observer::Observer;
use crate::search::pairs::{
    bytes_of_verdict, verdicts_into_bytes, Decided, LevelReport, PairLevel, Pairwise, Take, PAIR_ROWS,
};
use crate::search::worker::{Column, Marginals};
use crate::search::{pairs_by_shards, Method, Options};
use crate::{Error, Result};

/// Launches that a block of rows takes, about: one is 0.1 s, or less where most pairs end early.
const LAUNCHES: f64 = 0.25;

/// Blocks of rows of a call, at most: each loads all columns.
const MOST_BLOCKS: usize = 16;

const _: () = assert!(PAIR_ROWS == MASK_ROWS as usize);

/// What level 0 has left, by the rules that it depends on beside the engine's own.
pub(in crate::engine::cuda) struct Settled {
    rules: (Method, bool),
    graph: Adjacency,
    empty: Adjacency,
}

/// A level 1 that is on the card.
pub(in crate::engine::cuda) struct OpenLevel {
    number: u64,
    rules: (Method, bool),
    args: SearchArgs,
    ends: u64,
    /// Where the lists of neighbours start.
    offsets: Vec<u64>,
    /// The number of each row's first pair, and of all.
    firsts: Vec<u64>,
    /// By row, how many launches its pairs take, about.
    costs: Vec<f64>,
}

impl CudaEngine<'_> {
    /// Whether it decides pairs: by the strategy of its own, with all correlations on the card as long as they fit.
    pub(in crate::engine::cuda) fn decides_pairs(&self) -> bool {
        let CudaTest::Gauss(_) = self.test else { return false };
        self.options.strategy == SearchStrategy::Shared && self.options.block.is_none()
    }

    /// Whether columns of this level 0 are parts of a graph that the card makes: no p-value is kept, and all pairs are tested.
    pub(in crate::engine::cuda) fn settles(&self, level: &Marginals) -> bool {
        let p = level.pairs().p();
        self.decides_pairs() && !level.keeps() && level.pairs().edge_count() == p * p.saturating_sub(1) / 2
    }

    /// Has level 0 made by the card, where it [does](CudaEngine::settles); `false`: the correlations do not fit.
    pub(in crate::engine::cuda) fn has_settled(
        &mut self,
        gauss: &Gaussian,
        level: &Marginals,
        observer: &mut dyn Observer,
    ) -> Result<bool> {
        if self.lacks_room {
            return Ok(false);
        }
        let rules = (level.options().method, level.options().na_delete);
        if self.settled.as_ref().is_none_or(|settled| settled.rules != rules) {
            match self.watched(|engine| engine.make_settled(gauss, level.options(), observer)) {
                Err(error) if error.is_short_of_device_memory() => {
                    self.lacks_room = true;
                    return Ok(false);
                }
                settled => self.settled = Some(settled?),
            }
        }
        Ok(true)
    }

    /// Columns of it.
    pub(in crate::engine::cuda) fn settle(&self, level: &Marginals, columns: Vec<Column>) -> Result<()> {
        let Some(Settled { graph, empty, .. }) = &self.settled else { return Err(Error::Interrupted) };
        for column in columns {
            let y = column.y();
            column.settle(level, empty.row(y), graph.row(y));
        }
        Ok(())
    }

    /// Threads with the test, whose correlations are brought from the card once where they come from data.
    pub(in crate::engine::cuda) fn by_host<'s>(
        &'s mut self,
        gauss: &Gaussian<'s>,
        watch: &mut Watch,
    ) -> Result<CpuEngine<GaussKernel<'s>>> {
        let (alpha, pool) = (self.alpha, self.held.pool.clone());
        // Once to have them brought.
        self.watched(|engine| engine.on_host(gauss, watch).map(drop))?;
        let gauss = self.on_host(gauss, &mut |_| Ok(()))?;
        Ok(CpuEngine::new(GaussKernel::new(gauss, alpha), pool))
    }

    fn make_settled(&mut self, gauss: &Gaussian, options: &Options, observer: &mut dyn Observer) -> Result<Settled> {
        // Those of the search that count here.
        let options =
            Options { method: options.method, na_delete: options.na_delete, ..Options::new(gauss.p, self.alpha) };
        let mut search = CudaSearch::with_p_max(self, &options, PMax::of_follower(true, gauss.p));
        search.gauss_marginal(gauss, observer)?;
        search.complete_marginal()?;
        search.report("level 0", &mut || observer.look())?;
        let graph = search.bring_graph(search.args.graph)?;
        let empty = search.bring_graph(search.args.empty)?;
        Ok(Settled { rules: (options.method, options.na_delete), graph, empty })
    }

    /// Nothing of a search is on the card any more, as something else runs there.
    pub(in crate::engine::cuda) fn close_level(&mut self) {
        self.open_level = None;
    }

    fn run_pairs(
        &mut self,
        gauss: &Gaussian,
        level: &PairLevel,
        rows: &Range<usize>,
        take: Take,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let rules = (level.options.method, level.options.na_delete);
        let is_it = |open: &OpenLevel| level.number != 0 && open.number == level.number && open.rules == rules;
        let open = self.open_level.take().filter(is_it);
        let mut search = CudaSearch::with_p_max(self, level.options, PMax::of_follower(true, gauss.p));
        let open = match open {
            Some(open) => {
                (search.args, search.ends) = (open.args, open.ends);
                open
            }
            None => search.open_level(gauss, level, observer)?,
        };
        search.decide_rows(&open, rows, take, observer)?;
        self.open_level = Some(open);
        Ok(())
    }
}

impl CudaSearch<'_, '_> {
    /// Has a level on the card.
    fn open_level(&mut self, gauss: &Gaussian, level: &PairLevel, observer: &mut dyn Observer) -> Result<OpenLevel> {
        let p = gauss.p;
        self.begin_resumed(observer)?;
        self.put_graph(level.graph, observer)?;
        self.open_pairs()?;
        let widest = (0..p).map(|x| level.graph.degree(x)).max().unwrap_or(0);
        self.begin_level(1, widest)?;
        self.set_rules(&gauss.test, 1);
        self.begin_singles()?;
        let (mut offsets, mut firsts) = (vec![0u64; p + 1], vec![0u64; p + 1]);
        for x in 0..p {
            offsets[x + 1] = offsets[x] + level.graph.degree(x) as u64;
            firsts[x + 1] = firsts[x] + level.graph.degree_above(x) as u64;
        }
        let share = self.engine.options.launch_share;
        let cost = |x: usize| self.cost_of_singles(x, &offsets) * (p - x) as f64 / p as f64 / share;
        let costs = (0..p).map(cost).collect();
        let rules = (level.options.method, level.options.na_delete);
        Ok(OpenLevel { number: level.number, rules, args: self.args, ends: self.ends, offsets, firsts, costs })
    }

    /// Decides the pairs of some rows, block by block.
    fn decide_rows(
        &mut self,
        open: &OpenLevel,
        rows: &Range<usize>,
        take: Take,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let costs = &open.costs[rows.clone()];
        let blocks = ((costs.iter().sum::<f64>() / LAUNCHES) as usize).clamp(1, MOST_BLOCKS);
        let mut ends: Vec<usize> =
            cut(costs, blocks, PAIR_ROWS).iter().map(|shard| rows.start + shard.rows.end).collect();
        // Rows behind the last that cost something have pairs, too, or none.
        ends.pop();
        ends.push(rows.end);
        let mut before: Option<(Range<usize>, LevelReport)> = None;
        let mut found = Found::default();
        let mut first = rows.start;
        for end in ends {
            self.reset_report(0)?;
            self.launch_singles(first..end)?;
            self.raise_marginal(first..end)?;
            self.ask_report()?;
            if let Some((block, counted)) = before.take() {
                found.bring(self, open, block, counted, take, observer)?;
            }
            self.engine.held.wait("level 1", &mut || observer.look())?;
            let report = self.read_report()?;
            let (tests, exact_tests, go_on) = (report.tests, report.exact, report.go_on != 0);
            before = Some((first..end, LevelReport { tests, exact_tests, go_on }));
            first = end;
        }
        match before {
            Some((block, counted)) => found.bring(self, open, block, counted, take, observer),
            None => Ok(()),
        }
    }
}

/// What was found of a block of rows, on the host.
#[derive(Default)]
struct Found {
    verdicts: Vec<u32>,
    values: Vec<f64>,
    /// As bytes.
    short: Vec<u8>,
}

impl Found {
    /// Brings what was found of a block, whose kernels are done, and hands it on.
    fn bring(
        &mut self,
        search: &mut CudaSearch,
        open: &OpenLevel,
        rows: Range<usize>,
        counted: LevelReport,
        take: Take,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let between = |starts: &[u64]| (starts[rows.start], (starts[rows.end] - starts[rows.start]) as usize);
        let (first, count) = between(&open.offsets);
        self.verdicts.resize(count, 0);
        let at = search.args.verdict.offset(first);
        search.engine.held.bring_into(at, &mut self.verdicts, &mut || observer.look())?;
        let (first, count) = between(&open.firsts);
        self.values.resize(count, 0.0);
        let at = search.args.p_max.offset(first);
        search.engine.held.bring_into(at, &mut self.values, &mut || observer.look())?;
        let (p, pool) = (search.options.p, search.engine.held.pool.clone());
        let each = bytes_of_verdict(p);
        self.short.resize(each * count, 0);
        let (mut rest, mut parts) = (&mut self.short[..], Vec::new());
        for first in rows.clone().step_by(PAIR_ROWS) {
            let end = rows.end.min(first + PAIR_ROWS);
            let (part, later) = rest.split_at_mut(each * (open.firsts[end] - open.firsts[first]) as usize);
            parts.push((first..end, part));
            rest = later;
        }
        let verdicts = &self.verdicts;
        pool.each_of(parts, |_, (part, mut bytes): (Range<usize>, &mut [u8])| {
            for x in part {
                // The pairs with larger vertices come last in a list.
                let larger = (open.firsts[x + 1] - open.firsts[x]) as usize;
                let end = (open.offsets[x + 1] - open.offsets[rows.start]) as usize;
                let (own, later) = bytes.split_at_mut(each * larger);
                verdicts_into_bytes(p, &verdicts[end - larger..end], own);
                bytes = later;
            }
        });
        // SAFETY: doubles are bytes, in the order of this machine, which is little-endian wherever there is a card.
        let values = unsafe {
            std::slice::from_raw_parts(self.values.as_ptr().cast::<u8>(), size_of_val(self.values.as_slice()))
        };
        match take(&Decided { rows, counted, verdicts: &self.short, values })? {
            true => Ok(()),
            false => Err(Error::Interrupted),
        }
    }
}

impl Pairwise for CudaEngine<'_> {
    fn pairs(&mut self, level: &PairLevel, rows: &Range<usize>, take: Take, observer: &mut dyn Observer) -> Result<()> {
        let CudaTest::Gauss(gauss) = self.test else { return Ok(()) };
        self.held.begin(Some(1));
        // What has been taken is not decided again.
        let mut taken = rows.start;
        let mut note = |decided: &Decided| {
            taken = decided.rows.end;
            take(decided)
        };
        if !self.lacks_room {
            match self.watched(|engine| engine.run_pairs(&gauss, level, rows, &mut note, observer)) {
                Err(error) if error.is_short_of_device_memory() => self.lacks_room = true,
                outcome => return outcome,
            }
        }
        self.close_level();
        let mut host = self.by_host(&gauss, &mut |_| observer.look())?;
        pairs_by_shards(&mut host, level, &(taken..rows.end), take, observer)
    }
}
