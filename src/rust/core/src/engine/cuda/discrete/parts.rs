//! Parts of levels for a search whose graph and answers are on the host. The GPU gets the columns of some variables at a time, as many as
//! it has memory for, and the other data of their tests.
//!
//! `columns` puts columns on the GPU. `panels` runs level 0, by pairs of panels of columns. `rows` runs levels of sets, by rows with their
//! neighbours' columns; `column_cache` chooses their order. A row that is too large for this is asked question by question (`asked`).

use std::collections::VecDeque;
use std::ops::Range;

use super::columns::{Places, Table};
use super::counting::{self, Coding};
use super::Counted;
use crate::ci::discrete::Discrete;
use crate::ci::Batch;
use crate::engine::batched::{self, Asker, Reply};
use crate::engine::cuda::arguments::{DiscreteArgs, Report, SearchArgs};
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::Holds;
use crate::engine::cuda::gpu::plan::planned;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::p_max::PMax;
use crate::engine::cuda::search::{CudaSearch, SLICE_NANOSECONDS};
use crate::engine::cuda::{CudaEngine, SearchStrategy};
use crate::observer::Observer;
use crate::search::book::{Book, Page};
use crate::search::shards::Work;
use crate::search::worker::{Column, Marginals};
use crate::search::{Method, Options};
use crate::Result;

/// A GPU that answers shards with part of the columns at a time. Its answers to questions equal those of a whole search to the last digit.
pub(in crate::engine::cuda) struct InParts<'e, 'a> {
    pub engine: &'e mut CudaEngine<'a>,
    pub test: Discrete<'a>,
}

impl<'a> CudaEngine<'a> {
    /// Borrows this engine, which has this test, for parts of a level.
    pub(in crate::engine::cuda) fn in_parts(&mut self, test: Discrete<'a>) -> InParts<'_, 'a> {
        InParts { engine: self, test }
    }

    /// Returns the options that the launches of a part of a level depend on. `fast`: common neighbours come last among the candidates of
    /// its sides.
    pub(super) fn rules(&self, test: &Discrete, fast: bool) -> Options {
        let method = if fast { Method::StableFast } else { Method::Stable };
        Options { method, ..Options::new(test.data().p(), self.alpha) }
    }

    /// Returns a search for the kernels' launches on some of the variables.
    pub(super) fn launches<'e>(&'e mut self, options: &'e Options) -> CudaSearch<'e, 'a> {
        let mut search = CudaSearch::with_p_max(self, options, PMax::none(options.p));
        search.args.fast = u64::from(search.fast());
        search
    }
}

/// Divisors of the memory that counting gets, from many blocks at a time to one. The first that leaves enough is used.
const COUNTING_SHARES: [u64; 4] = [2, 8, 32, u64::MAX];

impl CudaSearch<'_, '_> {
    /// Plans and commits counting for sets of `size` in rows with up to `widest` neighbours, and one piece of memory in addition. The piece
    /// has the second of `bounds` bytes, or as many as there is room for; returns this number. Fails if it is less than the first of
    /// `bounds`.
    pub(super) fn plan_piece(&mut self, test: &Discrete, size: usize, widest: usize, bounds: [u64; 2]) -> Result<u64> {
        (self.engine.coding, self.engine.standing) = (None, None);
        planned(|| self.plan_bounded(test, size, widest, bounds))
    }

    fn plan_bounded(&mut self, test: &Discrete, size: usize, widest: usize, [least, most]: [u64; 2]) -> Result<u64> {
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
                self.begin_piece(size, widest)?;
                return Ok(bytes);
            }
        }
        Err(self.engine.held.too_little(needed))
    }

    /// Sets the arguments that launches share, once everything is planned.
    pub(super) fn begin_piece(&mut self, size: usize, widest: usize) -> Result<()> {
        self.args.report = self.engine.held.device(Buffer::Report)?;
        self.args.budget = SLICE_NANOSECONDS;
        self.args.size = size as u64;
        if size > 0 {
            self.send_binomials(size, widest)?;
        }
        Ok(())
    }

    /// Plans counting for sets of `size` in `room` bytes, or in the least that it needs.
    fn plan_counting_within(&mut self, test: &Discrete, size: usize, room: u64) {
        let tables = counting::tables(size as u64, self.engine.held.gpu.shared_limit);
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

    /// Copies a table of columns to the GPU, followed by `more`, and launches the kernel that makes the missing columns. Nothing may run
    /// that reads the previous contents of their places.
    pub(super) fn send_table(
        &mut self,
        test: &Discrete,
        table: &Table,
        (places, at): (&Places, DevicePtr<u64>),
        more: &[u64],
    ) -> Result<Coding> {
        let mut words = table.words(test, places, self.engine.pack(test)?);
        if !more.is_empty() {
            words.resize(table.bytes() as usize / 8, 0);
            words.extend_from_slice(more);
        }
        self.engine.held.upload(at, &words)?;
        table.fill(self.engine, test, places, at)
    }

    /// Returns the arguments of kernels for `count` variables with these columns, including the search's own.
    pub(super) fn with_columns(
        &mut self,
        test: &Discrete,
        coding: Coding,
        count: u64,
    ) -> Result<(DiscreteArgs, Counted)> {
        self.engine.held.piece(count as usize);
        let (mut args, counted) = self.prepare_with(self.engine.args_with(test, coding))?;
        args.a = SearchArgs { scratch: args.a.scratch, p: count, ..self.args };
        Ok((args, counted))
    }
}

impl InParts<'_, '_> {
    /// Fills columns of level 0, which must be consecutive.
    pub fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        let test = self.test;
        self.engine.watched(|engine| engine.in_parts(test).run_marginal(level, columns, observer))
    }

    /// Decides some shards, and returns their pages with the results.
    pub fn answer<'b, 'w>(
        &mut self,
        work: &Work,
        shards: Range<usize>,
        book: &'b Book<'w>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Page<'b, 'w>>> {
        let mut pages: Vec<Page> = shards.clone().map(|shard| book.open(shard)).collect();
        let (mut open, mut partial) = batched::open_pairs(work, shards.clone())?;
        if self.engine.options.strategy != SearchStrategy::Shared {
            // The papers' kernels know only a row's candidates.
            let (inside, outside): (VecDeque<_>, _) = open.into_iter().partition(|pair| !pair.side.is_outside());
            open = inside;
            partial.extend(outside);
        }
        let test = self.test;
        let asked = Asked { work, book, first_shard: shards.start };
        let mut left =
            self.engine.watched(|engine| engine.in_parts(test).answer_rows(&asked, &mut pages, open, observer))?;
        left.extend(partial);
        batched::answer_open(self, work, book, (&mut pages, shards.start), left, observer)?;
        Ok(pages)
    }
}

/// The questions and the pages for their outcomes, which are those of the shards from `first_shard` on.
#[derive(Clone, Copy)]
pub(super) struct Asked<'w, 'b> {
    pub work: &'w Work<'w>,
    pub book: &'w Book<'b>,
    pub first_shard: usize,
}

impl Asker for InParts<'_, '_> {
    fn batch(&self) -> usize {
        self.engine.batch()
    }

    /// Asks in the order of a whole search, as sums depend on the order of the row's and the set's levels. At level 0 the row is the larger
    /// vertex, and sets are ascending.
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
