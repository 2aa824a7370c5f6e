//! Searches for which the card has too little memory to hold data, graph and answers at once: graph and answers are on the host, and
//! the card gets the columns of some variables at a time, with what their tests need.
//!
//! `panels`: level 0, by pairs of panels of columns; `rows`: levels of sets, by rows with their neighbours' columns. A row for which that
//! is too much is asked question by question (`asked`).

use super::counting::{self, BESIDE_COLUMNS};
use super::Counted;
use crate::ci::discrete::Discrete;
use crate::ci::Batch;
use crate::engine::batched::{self, Asker, Reply};
use crate::engine::cuda::arguments::{DiscreteArgs, Report, SearchArgs};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::held::Holds;
use crate::engine::cuda::search::p_max::PMax;
use crate::engine::cuda::search::{CudaSearch, SLICE_NANOSECONDS};
use crate::engine::cuda::CudaEngine;
use crate::error::{DeviceError, DeviceKind};
use crate::graph::{Adjacency, SepSets};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::book::{Book, Page};
use crate::search::by_shards;
use crate::search::levels::{LevelReport, Levels, Widest};
use crate::search::shards::Work;
use crate::search::worker::{Column, Marginals, Worker};
use crate::search::{Largest, Options};
use crate::{Error, Result};

/// A search on the card as a whole, or, from when it does not fit on, in parts.
pub(in crate::engine::cuda) struct Search<'s, 'a> {
    test: Discrete<'a>,
    options: &'s Options,
    whole: Option<CudaSearch<'s, 'a>>,
    parts: Option<Box<dyn Levels + 's>>,
    /// Levels that have run.
    levels: usize,
}

impl<'s, 'a> Search<'s, 'a> {
    pub fn new(engine: &'s mut CudaEngine<'a>, test: Discrete<'a>, options: &'s Options, largest: Largest<'s>) -> Self {
        if engine.coding.is_none() {
            engine.held.restart();
        }
        let whole = Some(CudaSearch::new(engine, options, largest));
        Search { test, options, whole, parts: None, levels: 0 }
    }

    /// Goes on in parts, from what the levels before have found. Where there is no room to gather even that, or it `is_gone`, they are run
    /// again.
    fn give_up(&mut self, is_gone: bool, observer: &mut dyn Observer) -> Result<()> {
        let Some(mut whole) = self.whole.take() else { return Ok(()) };
        let found = match self.levels {
            0 => None,
            _ if is_gone => None,
            _ => match whole.watched(|whole| whole.hand_over(observer)) {
                found if is_too_large(&found) => None,
                found => Some(found?),
            },
        };
        let again = if found.is_some() { 0 } else { self.levels };
        let CudaSearch { engine, p_max, .. } = whole;
        let worker = Box::new(InParts { engine, test: self.test, options: self.options });
        let mut parts = by_shards(worker, self.options, p_max.into_largest(), found);
        for before in 0..again {
            level(&mut *parts, before, observer)?;
        }
        self.parts = Some(parts);
        Ok(())
    }

    fn run(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        if let Some(whole) = &mut self.whole {
            let report = level(whole, size, observer);
            if !is_too_large(&report) {
                self.levels = size + 1;
                return report;
            }
            self.give_up(false, observer)?;
        }
        match &mut self.parts {
            Some(parts) => level(&mut **parts, size, observer),
            None => Ok(LevelReport::default()),
        }
    }
}

/// Whether the card has too little memory.
pub(super) fn is_too_large<T>(outcome: &Result<T>) -> bool {
    matches!(outcome, Err(Error::Device(DeviceError { kind: DeviceKind::OutOfMemory, .. })))
}

/// A level of a search.
fn level(search: &mut dyn Levels, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
    match size {
        0 => search.marginal(observer),
        _ => search.conditional(size, observer),
    }
}

impl Levels for Search<'_, '_> {
    fn edge_count(&self) -> usize {
        match (&self.whole, &self.parts) {
            (Some(whole), _) => whole.edge_count(),
            (None, parts) => parts.as_ref().map_or(0, |parts| parts.edge_count()),
        }
    }

    fn widest(&self) -> Option<Widest> {
        match (&self.whole, &self.parts) {
            (Some(whole), _) => whole.widest(),
            (None, parts) => parts.as_ref().and_then(|parts| parts.widest()),
        }
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.run(0, observer)
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.run(size, observer)
    }

    fn finish(mut self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        if let Some(whole) = &mut self.whole {
            if !whole.has_begun() {
                return whole.finish_unbegun();
            }
            whole.engine.held.begin(None);
            let found = whole.watched(|whole| whole.run_finish(observer));
            if !is_too_large(&found) {
                return found;
            }
            self.give_up(true, observer)?;
        }
        match self.parts {
            Some(parts) => parts.finish(observer),
            None => Ok((self.options.start(), SepSets::new(self.options.p, self.options.empty_side()))),
        }
    }
}

/// A card that answers shards with a part of the columns at a time, and questions to the last digit as a search as a whole does.
pub(super) struct InParts<'s, 'a> {
    pub engine: &'s mut CudaEngine<'a>,
    pub test: Discrete<'a>,
    pub options: &'s Options,
}

impl<'a> InParts<'_, 'a> {
    /// A search for the kernels' launches on some of the variables.
    pub fn search(&mut self) -> CudaSearch<'_, 'a> {
        let p_max = PMax::of_follower(true, self.options.p);
        let mut search = CudaSearch::with_p_max(self.engine, self.options, p_max);
        search.args.fast = u64::from(search.fast());
        search
    }
}

/// Shares of the memory that counting gets, the first at which the rest suffices: many blocks at a time, or one.
const COUNTING_SHARES: [u64; 4] = [2, 8, 32, u64::MAX];

impl CudaSearch<'_, '_> {
    /// Plans and commits counting for sets of `size` in rows with up to `widest` neighbours, and beside it one piece of memory, of
    /// `most` bytes or what there is room for. Its bytes; refuses where these are fewer than `least`.
    pub(super) fn plan_piece(
        &mut self,
        test: &Discrete,
        size: usize,
        widest: usize,
        [least, most]: [u64; 2],
    ) -> Result<u64> {
        self.engine.coding = None;
        self.engine.held.restart();
        let limit = self.engine.held.room(&[])?;
        self.engine.held.plan.set(Buffer::Report, size_of::<Report>() as u64);
        self.engine.held.plan.set(Buffer::Binomials, if size > 0 { 8 * self.binomial_count(size, widest) } else { 0 });
        let mut needed = 0;
        for share in COUNTING_SHARES {
            self.plan_counting_within(test, size, limit / share);
            let others = self.engine.held.plan.total();
            needed = others + least;
            if needed <= limit {
                let bytes = most.clamp(least, limit - others);
                self.engine.held.plan.set(Buffer::Data, bytes);
                self.engine.held.commit()?;
                self.args.report = self.engine.held.device(Buffer::Report)?;
                self.args.budget = SLICE_NANOSECONDS;
                self.args.size = size as u64;
                if size > 0 {
                    self.send_binomials(size, widest)?;
                }
                return Ok(bytes);
            }
        }
        Err(self.engine.held.too_little(needed))
    }

    /// Plans counting for sets of `size` in `room` bytes, or the least that it can do with.
    fn plan_counting_within(&mut self, test: &Discrete, size: usize, room: u64) {
        let tables = counting::tables(size as u64, self.engine.held.card.shared_limit);
        let mut counted = self.counted(test, size, tables, room / 4 * 3);
        let scratch = &mut counted.scratch;
        let left = room.saturating_sub(scratch.bytes * u64::from(scratch.blocks));
        let question = counting::asked_bytes(size, 1) + counting::answered_bytes(1);
        let block = question * counting::questions(0, counted.askers);
        let blocks = (left / 2 / block).clamp(1, u64::from(scratch.blocks));
        scratch.blocks = blocks as u32;
        counted.asked_most = (left.saturating_sub(blocks * block) / question).clamp(1, counting::ASKED);
        self.set_counting(counted);
    }

    /// Copies the columns of these variables to the piece; what kernels are launched with, the search's arguments included, and how many
    /// bytes of the piece the columns take.
    pub(super) fn take_columns(&mut self, test: &Discrete, variables: &[u32]) -> Result<(DiscreteArgs, Counted, u64)> {
        self.engine.held.piece(variables.len());
        let coding = self.engine.upload_columns(test, variables)?;
        self.engine.coding = Some(coding);
        let prepared = self.prepare(test);
        self.engine.coding = None;
        let (mut args, counted) = prepared?;
        args.a = SearchArgs { scratch: args.a.scratch, p: variables.len() as u64, ..self.args };
        Ok((args, counted, bytes_of(test, variables)))
    }
}

/// Bytes that the columns of these variables take, rounded up to where something else may begin.
pub(super) fn bytes_of(test: &Discrete, variables: &[u32]) -> u64 {
    let all: u64 = variables.iter().map(|&v| counting::column_bytes(test, v as usize)).sum();
    (all + BESIDE_COLUMNS).next_multiple_of(256)
}

impl Worker for InParts<'_, '_> {
    fn pool(&self) -> &Pool {
        self.engine.pool()
    }

    fn shard_tests(&self) -> u64 {
        batched::SHARD_TESTS
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        let test = self.test;
        self.engine.held.begin(Some(0));
        self.engine
            .watched(|engine| InParts { engine, test, options: self.options }.run_marginal(level, columns, observer))
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        self.engine.held.begin(Some(work.size));
        let mut pages: Vec<Page> = (0..work.shards.len()).map(|shard| book.open(shard)).collect();
        let open = batched::open_pairs(work)?;
        let (test, options) = (self.test, self.options);
        let left = self
            .engine
            .watched(|engine| InParts { engine, test, options }.answer_rows(work, book, &mut pages, open, observer))?;
        batched::answer_open(self, work, book, &mut pages, left, observer)?;
        pages.into_iter().for_each(Page::close);
        Ok(())
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        batched::p_values(self, batch, observer)
    }

    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        self.engine.memory_plan()
    }
}

impl Asker for InParts<'_, '_> {
    fn batch(&self) -> usize {
        self.engine.batch()
    }

    /// Sums are added up in the order of the row's and the set's levels: that of a search as a whole is that of level 0, whose rows are the
    /// larger vertices, and of ascending sets.
    fn ask(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        let mut own = Batch::new();
        let mut set = Vec::new();
        for (x, y, s) in batch.iter() {
            set.clear();
            set.extend_from_slice(s);
            set.sort_unstable();
            let (x, y) = if s.is_empty() { (x.max(y), x.min(y)) } else { (x, y) };
            own.push(x, y, &set);
        }
        self.engine.ask(&own, watch)
    }
}
