//! PC-stable on several cards, each of which keeps graph, answers and log of its own, and all the same: a level's rows are shared out,
//! and what a card has found for its rows is copied to the others before the next step. Whichever card fails, the others know all that
//! was known.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::share::{cut, share_out, Machine, Seat, Shard};
use crate::engine::cuda::arguments::{Report, SearchArgs, MASK_ROWS, SLOT_BYTES};
use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::held::Holds;
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::card::opened::Card;
use crate::engine::cuda::discrete::Level;
use crate::engine::cuda::gauss::source::{Gaussian, Source};
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::p_max::PMax;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::CudaTest;
use crate::graph::{subsets, Adjacency, SepSets};
use crate::observer::Observer;
use crate::search::levels::{LevelReport, Levels, Widest};
use crate::search::Options;
use crate::team::TeamReport;
use crate::{Error, Result};

/// Shards of a step for each card: more even out what rows really cost, fewer have longer rows.
const SHARDS_A_CARD: usize = 8;

/// Launches that a shard of level 1 of the Gaussian test takes, at least and at most: one is 0.1 s, or less where most pairs end early.
const LEAST_LAUNCH: f64 = 0.02;
const MOST_LAUNCHES: f64 = 2.0;

/// Tests in a shard of further levels of the Gaussian test, at least: what a card does in about as long as beginning a shard takes.
const LEAST_TESTS: f64 = 5e7;

/// Likewise samples times tests, of discrete variables.
const LEAST_COUNTS: f64 = 5e8;

/// Bytes that a card copies from another before the caller is asked whether to stop: with or without a link between them, less than
/// 0.1 s.
const PIECE: usize = 256 << 20;

/// What rows are run of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Level 0 of discrete variables; the rows are the larger vertices.
    Pairs,
    /// Level 1 of the Gaussian test; the rows are the smaller vertices.
    Singles,
    /// A side of a level by slots: 0 or 1.
    Side(u64),
}

/// A card with its search.
pub(super) struct Member<'s, 'a> {
    search: CudaSearch<'s, 'a>,
    step: Step,
    /// The size of the level's sets, and the largest degree.
    size: usize,
    widest: usize,
    /// Of discrete variables, the level under way.
    level: Option<Level>,
    /// The rows of the shard under way, and by the first row of a shard what was counted in it, at level 1 of the Gaussian test.
    rows: Range<usize>,
    counted: HashMap<usize, LevelReport>,
}

impl<'s, 'a> Member<'s, 'a> {
    pub fn new(search: CudaSearch<'s, 'a>) -> Self {
        let counted = HashMap::new();
        Member { search, step: Step::Singles, size: 0, widest: 0, level: None, rows: 0..0, counted }
    }

    fn run<T>(&mut self, run: impl FnOnce(&mut CudaSearch<'s, 'a>) -> Result<T>) -> Result<T> {
        self.search.watched(run)
    }

    /// Begins a level of sets.
    fn begin_level(&mut self, size: usize, widest: usize) -> Result<()> {
        (self.size, self.widest) = (size, widest);
        let level = self.search.watched(|search| {
            search.begin_level(size, widest)?;
            match search.engine.test {
                CudaTest::Gauss(gauss) => {
                    search.set_rules(&gauss.test, size);
                    if size == 1 && search.singles() {
                        search.begin_singles()
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
        let Member { search, step, size, widest, level, .. } = self;
        let rows = rows.clone();
        search.watched(|search| match (*step, level.as_mut()) {
            (Step::Pairs, Some(level)) => {
                search.launch_pairs(level, rows)?;
                search.ask_report()
            }
            (Step::Side(second), Some(level)) => search.begin_rows(level, second, rows),
            (Step::Side(second), None) => search.begin_side(*size, *widest, second, rows),
            (Step::Pairs | Step::Singles, _) => {
                search.reset_report(0)?;
                search.launch_singles(rows)?;
                search.ask_report()
            }
        })
    }

    fn is_done(&mut self, look: &mut dyn FnMut() -> Result<()>) -> Result<bool> {
        let Member { search, step, size, widest, level, rows, counted } = self;
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

/// A search on several cards.
pub(super) struct TeamSearch<'s, 'a> {
    seats: Vec<Seat<Member<'s, 'a>>>,
    options: &'s Options,
    /// The card that brings what the host wants: the first that is left.
    lead: usize,
    report: &'s mut TeamReport,
    /// The last error of a card.
    error: Option<Error>,
}

impl<'s, 'a> TeamSearch<'s, 'a> {
    /// The first search is given what the caller wants.
    pub fn new(
        searches: impl Iterator<Item = (String, CudaSearch<'s, 'a>)>,
        options: &'s Options,
        report: &'s mut TeamReport,
    ) -> Self {
        let seats: Vec<_> = searches.map(|(name, search)| Seat::new(Member::new(search), name)).collect();
        TeamSearch { seats, options, lead: 0, report, error: None }
    }

    fn leader(&self) -> &CudaSearch<'s, 'a> {
        &self.seats[self.lead].machine.search
    }

    fn leading(&mut self) -> &mut CudaSearch<'s, 'a> {
        &mut self.seats[self.lead].machine.search
    }

    /// How many cards are left.
    fn left(&self) -> usize {
        self.seats.iter().filter(|seat| !seat.is_lost).count()
    }

    /// Notes that a card failed; the next takes its place where it led.
    fn lose(&mut self, number: usize, error: Error) -> Result<()> {
        self.error = Some(self.seats[number].lose(error, &mut self.report.lost)?);
        self.follow()
    }

    /// Has a card lead that is left.
    fn follow(&mut self) -> Result<()> {
        let Some(next) = self.seats.iter().position(|seat| !seat.is_lost) else {
            return Err(self.error.take().unwrap_or(Error::Interrupted));
        };
        if next != self.lead {
            let wanted = {
                let search = self.leading();
                let follower = PMax::of_follower(search.p_max.is_of_left(), search.options.p);
                std::mem::replace(&mut search.p_max, follower)
            };
            self.lead = next;
            self.leading().p_max = wanted;
        }
        Ok(())
    }

    /// Calls `run` for every card that is left, in turn.
    fn each(&mut self, mut run: impl FnMut(&mut Member<'s, 'a>) -> Result<()>) -> Result<()> {
        for number in 0..self.seats.len() {
            if !self.seats[number].is_lost {
                if let Err(error) = run(&mut self.seats[number].machine) {
                    self.lose(number, error)?;
                }
            }
        }
        Ok(())
    }

    /// Calls `run` for every card that is left, each on a thread of its own; the calling thread follows.
    fn at_once(
        &mut self,
        observer: &mut dyn Observer,
        run: impl Fn(usize, &mut Member<'s, 'a>) -> Result<()> + Sync,
    ) -> Result<()> {
        let mut looked = Ok(());
        let outcomes: Vec<(usize, Result<()>)> = std::thread::scope(|scope| {
            let left = self.seats.iter_mut().enumerate().filter(|(_, seat)| !seat.is_lost);
            let run = &run;
            let running: Vec<_> =
                left.map(|(number, seat)| (number, scope.spawn(move || run(number, &mut seat.machine)))).collect();
            while running.iter().any(|(_, thread)| !thread.is_finished()) {
                if looked.is_ok() {
                    looked = observer.look();
                }
                std::thread::sleep(Duration::from_micros(100));
            }
            let join = |thread: std::thread::ScopedJoinHandle<Result<()>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            running.into_iter().map(|(number, thread)| (number, join(thread))).collect()
        });
        looked?;
        for (number, outcome) in outcomes {
            if let Err(error) = outcome {
                self.lose(number, error)?;
            }
        }
        Ok(())
    }

    /// Has the cards do the shards of a step, and copies what each has found to the others; what was counted in the shards of level 1 of
    /// the Gaussian test. `done` of `all` of a level are done before.
    fn share(
        &mut self,
        step: Step,
        shards: &[Shard],
        copy: &dyn Fn(&CudaSearch, &Range<usize>) -> Part,
        [done, all]: [f64; 2],
        observer: &mut dyn Observer,
    ) -> Result<LevelReport> {
        let level = self.seats[self.lead].machine.size;
        let mut all_counted = LevelReport::default();
        self.seats.iter_mut().for_each(|seat| seat.machine.step = step);
        let mut open = shards.to_vec();
        while !open.is_empty() {
            let mut look = |share: f64| observer.progress(level, (done + share.min(1.0)) * 0.999, all);
            let before = self.report.lost.len();
            let owners = share_out(&mut self.seats, &open, &mut self.report.lost, &mut look);
            let owners = owners.inspect_err(|error| self.error = Some(error.clone()))?;
            if self.report.lost.len() > before {
                self.follow()?;
            }
            self.exchange(&open, &owners, copy, observer)?;
            if step == Step::Singles {
                self.raise_p_max(observer)?;
            }
            // What a card found that has failed meanwhile may not have reached all others.
            let mut again = Vec::new();
            for (shard, owner) in open.into_iter().zip(owners) {
                if self.seats[owner].is_lost {
                    again.push(shard);
                } else if let Some(counted) = self.seats[owner].machine.counted.get(&shard.rows.start) {
                    all_counted.tests += counted.tests;
                    all_counted.exact_tests += counted.exact_tests;
                    all_counted.go_on |= counted.go_on;
                }
            }
            open = again;
        }
        Ok(all_counted)
    }

    /// Copies what each card has found for its shards to all others.
    fn exchange(
        &mut self,
        shards: &[Shard],
        owners: &[usize],
        copy: &dyn Fn(&CudaSearch, &Range<usize>) -> Part,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let part = |(shard, &owner): (&Shard, &usize)| copy(&self.seats[owner].machine.search, &shard.rows);
        let found: Vec<Part> = shards.iter().zip(owners).map(part).collect();
        for number in 0..self.seats.len() {
            self.copying(number, |search, cards| {
                let mut copied = Copied::default();
                for ((shard, &owner), part) in shards.iter().zip(owners).zip(&found) {
                    // What a card has found that has failed since is found once more.
                    if let (Some(card), true) = (&cards[owner], owner != number) {
                        let own = copy(search, &shard.rows);
                        copied.add(search, own.at, card, part.at, part.bytes, observer)?;
                    }
                }
                copied.end(search, observer)
            })?;
        }
        Ok(())
    }

    /// Calls `run` for a card, if it is left, which copies from the others that are left. Where one of these is found to have failed, it is
    /// called once more, without that one. It returns how many bytes were copied.
    fn copying(
        &mut self,
        number: usize,
        mut run: impl FnMut(&mut CudaSearch<'s, 'a>, &[Option<Arc<Card>>]) -> Result<u64>,
    ) -> Result<()> {
        while !self.seats[number].is_lost {
            let card = |seat: &Seat<Member>| (!seat.is_lost).then(|| seat.machine.search.engine.held.card.clone());
            let cards: Vec<Option<Arc<Card>>> = self.seats.iter().map(card).collect();
            match self.seats[number].machine.run(|search| run(search, &cards)) {
                Ok(bytes) => {
                    self.seats[number].bytes += bytes;
                    break;
                }
                Err(error) => self.blame(number, error)?,
            }
        }
        Ok(())
    }

    /// A copy to a card failed: the fault may be with the others. Where it is, and this one is sound, it stays.
    fn blame(&mut self, number: usize, error: Error) -> Result<()> {
        if !matches!(error, Error::Device(_)) {
            return Err(error);
        }
        let before = self.left();
        for other in 0..self.seats.len() {
            if other != number && !self.seats[other].is_lost {
                if let Err(error) = self.seats[other].machine.run(|search| search.engine.held.synchronize("copying")) {
                    self.lose(other, error)?;
                }
            }
        }
        let is_sound = self.left() < before
            && self.seats[number].machine.run(|search| search.engine.held.synchronize("copying")).is_ok();
        if is_sound {
            Ok(())
        } else {
            self.lose(number, error)
        }
    }

    /// Raises every card's p-values to those of the others, each of which has found those of its pairs: first the leading card's, which
    /// the others then copy.
    fn raise_p_max(&mut self, observer: &mut dyn Observer) -> Result<()> {
        loop {
            let lead = self.lead;
            self.raise_by(lead, observer)?;
            // Where it has failed, another one does.
            if self.lead == lead {
                return Ok(());
            }
        }
    }

    /// Likewise with this card as the leading one.
    fn raise_by(&mut self, lead: usize, observer: &mut dyn Observer) -> Result<()> {
        let count = self.seats.len();
        let from: Vec<DevicePtr<f64>> = self.seats.iter().map(|seat| seat.machine.search.args.p_max).collect();
        self.copying(lead, |search, cards| {
            let mut bytes = 0;
            let all = search.engine.held.plan.of(Buffer::PMax) / 8;
            let room = search.engine.held.plan.of(Buffer::Batch) / 8;
            let pieces = search.engine.held.device(Buffer::Batch)?.cast();
            for source in (0..count).filter(|source| *source != lead) {
                let Some(card) = &cards[source] else { continue };
                for first in (0..all).step_by(room.max(1) as usize) {
                    let some = room.min(all - first);
                    search.engine.held.copy_from(pieces, card, from[source].offset(first), some as usize)?;
                    let p_max = search.args.p_max.offset(first);
                    let args = SearchArgs { answers: pieces, p_max, count: some, ..search.args };
                    let blocks = search.blocks_for(some / 32 + 1);
                    // SAFETY: so many values are at both places.
                    unsafe { search.engine.held.card.launch(Kernel::raise_values.on((blocks, 1), 256, 0), &args)? };
                    search.engine.held.wait("copying from another GPU", &mut || observer.look())?;
                    bytes += 8 * some;
                }
            }
            Ok(bytes)
        })?;
        for number in (0..count).filter(|number| *number != lead) {
            self.copying(number, |search, cards| {
                let Some(card) = &cards[lead] else { return Ok(0) };
                let mut copied = Copied::default();
                let bytes = search.engine.held.plan.of(Buffer::PMax) as usize;
                let own = search.args.p_max.cast();
                copied.add(search, own, card, from[lead].cast(), bytes, observer)?;
                copied.end(search, observer)
            })?;
        }
        Ok(())
    }

    /// How many shards a step of this cost is cut into, of which each is at least `least`.
    fn shard_count(&self, total: f64, least: f64) -> usize {
        let least = least * self.leader().engine.options.launch_share;
        ((total / least) as usize).clamp(1, SHARDS_A_CARD * self.left())
    }

    /// Enters what each card did at a level that began at this time.
    fn enter_shares(&mut self, level: usize, began: Instant) {
        for seat in &mut self.seats {
            let share = seat.share(level, began.elapsed());
            self.report.enter(share);
        }
    }

    /// Has every card allocate what a search needs, and brings the correlations there: those of a matrix in as many parts as there are
    /// cards, each of which takes the others' from them; those of data from the card that has made them.
    fn place_correlations(&mut self, gauss: &Gaussian, observer: &mut dyn Observer) -> Result<()> {
        let (cells, count) = (gauss.p * gauss.p, self.seats.len());
        let end = |number: usize| if number == count { cells } else { cells / count * number };
        let part = |number: usize| end(number)..end(number + 1);
        let made = matches!(gauss.source, Source::Data(..));
        let mut is_refused = true;
        // Of a card that fails another takes the lead, and has to make correlations of data.
        while is_refused {
            let lead = self.lead;
            if let Err(error) = self.seats[lead].machine.run(|search| search.prepare_marginal(gauss, observer)) {
                self.lose(lead, error)?;
                continue;
            }
            self.at_once(observer, |number, member| {
                member.run(|search| {
                    search.allocate()?;
                    if !made && !search.engine.has_correlations() {
                        search.engine.place_part(gauss, part(number), false)?;
                    }
                    search.engine.held.synchronize("copying to the GPU")
                })
            })?;
            is_refused = made && !self.leader().engine.has_correlations();
        }
        let lead = self.lead;
        let mut from = Vec::new();
        for number in 0..count {
            let at = match self.seats[number].is_lost {
                true => DevicePtr::NULL,
                false => {
                    self.seats[number].machine.run(|search| search.engine.place_of_correlations()).unwrap_or_default()
                }
            };
            from.push(at);
        }
        for number in 0..count {
            self.copying(number, |search, cards| {
                let mut copied = Copied::default();
                if search.engine.has_correlations() {
                    return Ok(0);
                }
                let own = search.engine.place_of_correlations()?;
                for owner in (0..count).filter(|owner| *owner != number && (!made || *owner == lead)) {
                    let range = if made { 0..cells } else { part(owner) };
                    match &cards[owner] {
                        Some(card) => {
                            let at = |from: DevicePtr<f64>| from.offset(range.start as u64).cast();
                            copied.add(search, at(own), card, at(from[owner]), 8 * range.len(), observer)?;
                        }
                        // What a card that failed was to bring each of the others brings itself.
                        None if !made => search.engine.place_part(gauss, range, false)?,
                        None => return Ok(0),
                    }
                }
                let bytes = copied.end(search, observer)?;
                search.engine.place_part(gauss, 0..0, true)?;
                Ok(bytes)
            })?;
        }
        // Without the card that had made them, from the start: there is one less.
        match self.leader().engine.has_correlations() {
            true => Ok(()),
            false => self.place_correlations(gauss, observer),
        }
    }

    fn run_marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        let p = self.options.p;
        self.seats.iter_mut().for_each(|seat| seat.machine.size = 0);
        if let CudaTest::Gauss(gauss) = self.leader().engine.test {
            self.place_correlations(&gauss, observer)?;
            self.each(|member| member.run(|search| search.launch_marginal(&gauss)))?;
        }
        if let CudaTest::Discrete(test) = self.leader().engine.test {
            self.at_once(observer, |_, member| {
                member.level = Some(member.run(|search| search.begin_pairs(&test))?);
                Ok(())
            })?;
            let costs: Vec<f64> = (0..p).map(|y| (y * test.data().n()) as f64).collect();
            let count = self.shard_count(costs.iter().sum(), LEAST_COUNTS);
            // A column y of packed p-values begins with number y (y - 1) / 2.
            let triangle = |y: usize| (y * y.saturating_sub(1) / 2) as u64;
            let part = |search: &CudaSearch, rows: &Range<usize>| {
                let (first, end) = (triangle(rows.start), triangle(rows.end));
                Part { at: search.args.p_max.offset(first).cast(), bytes: 8 * (end - first) as usize }
            };
            self.share(Step::Pairs, &cut(&costs, count, 1), &part, [0.0, 1.0], observer)?;
            self.each(|member| {
                let level = member.level.take();
                member.run(|search| level.map_or(Ok(()), |level| search.end_pairs(&level)))
            })?;
        }
        self.each(|member| {
            member.run(|search| {
                search.complete_marginal()?;
                search.ask_report()
            })
        })?;
        let mut found = LevelReport::default();
        self.each(|member| {
            found = member.run(|search| {
                search.engine.held.wait("level 0", &mut || observer.look())?;
                let report = search.read_report()?;
                search.end_marginal(&report)
            })?;
            Ok(())
        })?;
        let total = (p * (p - 1)) as f64 / 2.0;
        observer.progress(0, total, total)?;
        Ok(found)
    }

    /// Where the lists of neighbours start.
    fn offsets(&mut self) -> Result<Vec<u64>> {
        loop {
            let p = self.options.p;
            let lead = self.lead;
            let found = self.seats[lead].machine.run(|search| {
                let mut offsets = vec![0; p + 1];
                search.engine.held.fetch(search.args.offset, &mut offsets, "a level")?;
                Ok(offsets)
            });
            match found {
                Ok(offsets) => return Ok(offsets),
                Err(error) => self.lose(lead, error)?,
            }
        }
    }

    fn run_conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let Some(widest) = self.leader().widest_of(size) else {
            return Ok(LevelReport { go_on: self.leader().fast(), ..LevelReport::default() });
        };
        let singles = size == 1 && self.leader().singles();
        self.each(|member| {
            if singles {
                member.search.share_p_max = PIECE as u64;
            }
            member.begin_level(size, widest)
        })?;
        let offsets = self.offsets()?;
        let degree = |row: usize| offsets[row + 1] - offsets[row];
        let between = |rows: &Range<usize>| (offsets[rows.start], offsets[rows.end] - offsets[rows.start]);
        let p = self.options.p;
        if singles {
            // Of a row, its pairs with larger vertices, about.
            let cost = |x: usize| self.leader().cost_of_singles(x, &offsets) * (p - x) as f64 / p as f64;
            let costs: Vec<f64> = (0..p).map(cost).collect();
            let total: f64 = costs.iter().sum();
            let count = self.shard_count(total, LEAST_LAUNCH).max((total / MOST_LAUNCHES) as usize);
            let part = |search: &CudaSearch, rows: &Range<usize>| {
                let (first, entries) = between(rows);
                Part { at: search.args.verdict.offset(first).cast(), bytes: 4 * entries as usize }
            };
            let shards = cut(&costs, count, MASK_ROWS as usize);
            let counted = self.share(Step::Singles, &shards, &part, [0.0, 1.0], observer)?;
            return self.end_singles(counted, observer);
        }
        let discrete = match self.leader().engine.test {
            CudaTest::Discrete(test) => Some(test.data().n()),
            CudaTest::Gauss(_) => None,
        };
        let cost = |row: usize| {
            // A row with more neighbours than all that have a pair to be tested has none.
            let degree = degree(row) as usize;
            let sets =
                if degree > size && degree <= widest { subsets::binomial(degree, size).unwrap_or(u64::MAX) } else { 0 };
            sets as f64 * degree as f64 * discrete.unwrap_or(1) as f64
        };
        let costs: Vec<f64> = (0..p).map(cost).collect();
        let least = if discrete.is_some() { LEAST_COUNTS } else { LEAST_TESTS };
        let count = self.shard_count(costs.iter().sum(), least);
        let part = |search: &CudaSearch, rows: &Range<usize>| {
            let (first, entries) = between(rows);
            Part { at: search.args.slot.offset(SLOT_BYTES * first), bytes: (SLOT_BYTES * entries) as usize }
        };
        let shards = cut(&costs, count, 1);
        for second in 0..2 {
            self.share(Step::Side(second), &shards, &part, [second as f64, 2.0], observer)?;
        }
        self.end_sets(size, observer)
    }

    /// Ends level 1 of the Gaussian test, of which all cards have all verdicts.
    fn end_singles(&mut self, counted: LevelReport, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.each(|member| {
            member.run(|search| {
                search.reset_report(0)?;
                search.log_singles()
            })
        })?;
        let lead = self.lead;
        if let Err(error) = self.seats[lead].machine.run(|search| search.bring_level_zero()) {
            self.lose(lead, error)?;
        }
        self.each(|member| {
            member.run(|search| {
                let report = search.end_singles(observer)?;
                search.end_level(1, &report).map(drop)
            })
        })?;
        observer.progress(1, 1.0, 1.0)?;
        Ok(LevelReport { go_on: counted.go_on || self.leader().fast(), ..counted })
    }

    /// Ends a level by slots, of which all cards have all.
    fn end_sets(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        self.each(|member| {
            let level = member.level.take();
            member.run(|search| {
                search.reset_report(0)?;
                match &level {
                    Some(level) => search.settle_discrete(level)?,
                    None => search.launch_settle(size)?,
                }
                search.ask_report()
            })
        })?;
        let lead = self.lead;
        if let Err(error) = self.seats[lead].machine.run(|search| search.bring_settled(observer)) {
            self.lose(lead, error)?;
        }
        let mut found = LevelReport::default();
        self.each(|member| {
            found = member.run(|search| {
                search.engine.held.wait("a level of sets", &mut || observer.look())?;
                let report: Report = search.read_report()?;
                search.end_level(size, &report)
            })?;
            Ok(())
        })?;
        observer.progress(size, 1.0, 1.0)?;
        Ok(found)
    }
}

/// Copies between cards, of which the card is waited for now and then, so that the caller is asked whether to stop.
#[derive(Default)]
struct Copied {
    bytes: u64,
    since: usize,
}

impl Copied {
    fn add(
        &mut self,
        search: &mut CudaSearch,
        to: DevicePtr<u8>,
        card: &Card,
        from: DevicePtr<u8>,
        bytes: usize,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        for first in (0..bytes).step_by(PIECE) {
            let some = PIECE.min(bytes - first);
            search.engine.held.copy_from(to.offset(first as u64), card, from.offset(first as u64), some)?;
            self.since += some;
            if self.since >= PIECE {
                self.end(search, observer)?;
            }
        }
        self.bytes += bytes as u64;
        Ok(())
    }

    /// Waits for them; how many bytes they were.
    fn end(&mut self, search: &mut CudaSearch, observer: &mut dyn Observer) -> Result<u64> {
        search.engine.held.wait("copying from another GPU", &mut || observer.look())?;
        self.since = 0;
        Ok(self.bytes)
    }
}

/// What a card has found for a shard: bytes in its memory.
struct Part {
    at: DevicePtr<u8>,
    bytes: usize,
}

impl Levels for TeamSearch<'_, '_> {
    fn edge_count(&self) -> usize {
        self.leader().edge_count()
    }

    fn widest(&self) -> Option<Widest> {
        self.leader().widest()
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        let began = Instant::now();
        let found = self.run_marginal(observer);
        self.enter_shares(0, began);
        found
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let began = Instant::now();
        let found = self.run_conditional(size, observer);
        self.enter_shares(size, began);
        found
    }

    fn finish(mut self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        if !self.leader().has_begun() {
            return self.leading().finish_unbegun();
        }
        loop {
            let lead = self.lead;
            match self.seats[lead].machine.run(|search| search.run_finish(observer)) {
                Err(error) => self.lose(lead, error)?,
                found => return found,
            }
        }
    }
}
