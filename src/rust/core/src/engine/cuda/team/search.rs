//! PC-stable on several cards, each of which keeps graph, answers and log of its own, and all the same: a level's rows are shared out,
//! and what a card has found for its rows is copied to the others before the next step. Whichever card fails, the others know all that
//! was known.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Instant;

use super::cards::TeamSearch;
use super::copies::{self, Begun, Part, PartsOf, PIECE};
use super::member::{Member, Step};
use crate::engine::cuda::arguments::{Report, MASK_ROWS, SLOT_BYTES};
use crate::engine::cuda::search::fallback::Whole;
use crate::engine::cuda::search::p_max::triangle;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::share::{cut_for, share_out, Seat, Shard};
use crate::engine::cuda::CudaTest;
use crate::graph::{subsets, Adjacency, SepSets};
use crate::observer::Observer;
use crate::search::checkpoint::{self, Found, Within};
use crate::search::levels::{LevelReport, Levels, Widest};
use crate::search::Largest;
use crate::Result;

/// Shards of a step for each card, were all as dear as the first: more even out what rows really cost, fewer have longer rows.
const SHARDS_A_CARD: usize = 8;

/// Likewise at level 1 of the Gaussian test, whose costs are known well, and whose shards end with some milliseconds in which few pairs are left
/// for a card: with 8 for each, two cards took a tenth longer.
const SINGLES_A_CARD: usize = 2;

/// Launches that a shard of level 1 of the Gaussian test takes, at least and at most: one is 0.1 s, or less where most pairs end early.
const LEAST_LAUNCH: f64 = 0.02;
const MOST_LAUNCHES: f64 = 2.0;

/// Tests in a shard of further levels of the Gaussian test, at least: what a card does in about as long as beginning a shard takes.
const LEAST_TESTS: f64 = 5e7;

/// Likewise samples times tests, of discrete variables.
const LEAST_COUNTS: f64 = 5e8;

impl TeamSearch<'_, '_> {
    /// Has the cards do the shards of a step, and copies what each has found to the others; what was counted in the shards of level 1 of
    /// the Gaussian test. `done` of `all` of a level are done before. At that level cards copy while they work, and `ended` is called once a card
    /// is done with a shard.
    pub(super) fn share(
        &mut self,
        step: Step,
        shards: &[Shard],
        parts_of: &PartsOf,
        ended: &mut dyn FnMut(&CudaSearch, &Range<usize>),
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
            let mut begun: Begun = vec![HashSet::new(); self.seats.len()];
            let mut told = |seats: &mut [Seat<Member>], shard: usize, owner: usize| {
                // What the others have of a side they would add to if its card failed.
                if step == Step::Singles {
                    let rows = &open[shard].rows;
                    copies::begin(seats, (shard, rows), owner, parts_of, &mut begun);
                    ended(&seats[owner].machine.search, rows);
                }
            };
            let owners = share_out(&mut self.seats, &open, &mut self.report.lost, &mut told, &mut look);
            if owners.is_err() {
                self.rest();
            }
            let owners = owners.map_err(|last| self.ending(last))?;
            if self.report.lost.len() > before {
                self.follow()?;
            }
            let exchanged = self.exchange(&open, &owners, parts_of, &begun, observer);
            if exchanged.is_err() {
                self.rest();
            }
            exchanged?;
            // Where all pairs' p-values are kept they are not in the order of the shards.
            if step == Step::Singles && !self.leader().p_max.is_of_left() {
                self.raise_p_max(observer)?;
            }
            // What a card found that has failed meanwhile may not have reached all others.
            let mut again = Vec::new();
            for (shard, owner) in open.into_iter().zip(owners) {
                if self.seats[owner].is_lost {
                    again.push(shard);
                } else if let Some(counted) = self.seats[owner].machine.counted.get(&shard.rows.start) {
                    all_counted.add(counted);
                }
            }
            if let (Step::Side(second), false) = (step, again.is_empty()) {
                self.forget_counts(&again, second)?;
            }
            open = again;
        }
        Ok(all_counted)
    }

    /// Waits for what the cards copy from one another.
    fn rest(&mut self) {
        for seat in self.seats.iter_mut().filter(|seat| !seat.is_lost) {
            // It ends with another error.
            let _ = seat.machine.run(|search| search.engine.held.synchronize("copying from another GPU"));
        }
    }

    /// Rows of these costs in shards of whole blocks of rows, for the cards that are left: `each` for each were all as dear as the first, and cheaper and cheaper
    /// ones; each costs from `least` to `most`, about.
    fn shards(&self, costs: &[f64], each: usize, [least, most]: [f64; 2], block: usize) -> Vec<Shard> {
        let total = costs.iter().sum::<f64>();
        let least = least * self.leader().engine.options.launch_share;
        let count = ((total / least) as usize).clamp(1, each * self.left()).max((total / most) as usize);
        cut_for(costs, count, self.left(), least, block)
    }

    /// What is copied from now on belongs to this level, see [`Held::begin`](crate::engine::cuda::card::held::Held::begin).
    fn begin(&mut self, level: Option<usize>) {
        self.seats.iter().for_each(|seat| seat.machine.search.engine.held.begin(level));
    }

    /// Enters what each card did at a level that began at this time.
    fn enter_shares(&mut self, level: usize, began: Instant) {
        for seat in &mut self.seats {
            let share = seat.share(level, began.elapsed());
            self.report.enter(share);
        }
    }

    fn run_marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        let p = self.options.p;
        self.seats.iter_mut().for_each(|seat| seat.machine.size = 0);
        if let CudaTest::Gauss(gauss) = self.leader().engine.test {
            self.place_correlations(&gauss, observer)?;
            self.each(|member| member.run(|search| search.launch_marginal(&gauss)))?;
            self.by_leader(|search| search.launch_check(&gauss))?;
        }
        if let CudaTest::Discrete(test) = self.leader().engine.test {
            self.at_once(observer, |_, member| {
                member.level = Some(member.run(|search| search.begin_pairs(&test))?);
                Ok(())
            })?;
            let costs: Vec<f64> = (0..p).map(|y| (y * test.data().n()) as f64).collect();
            let shards = self.shards(&costs, SHARDS_A_CARD, [LEAST_COUNTS, f64::INFINITY], 1);
            let part = |search: &CudaSearch, rows: &Range<usize>| {
                let (first, end) = (triangle(rows.start) as u64, triangle(rows.end) as u64);
                vec![Part { at: search.args.p_max.offset(first).cast(), bytes: 8 * (end - first) as usize }]
            };
            self.share(Step::Pairs, &shards, &part, &mut |_, _| (), [0.0, 1.0], observer)?;
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

    /// Has every card begin with what levels have found in an earlier call.
    fn run_resume(&mut self, found: &Found, wanted: &mut Largest, observer: &mut dyn Observer) -> Result<()> {
        let keeps = observer.keeps();
        let mut is_complete = found.is_exact;
        if let CudaTest::Gauss(gauss) = self.leader().engine.test {
            self.place_correlations(&gauss, observer)?;
        }
        self.each(|member| {
            member.run(|search| {
                search.is_kept = keeps;
                if !is_complete {
                    search.complete(found, wanted, observer)?;
                    is_complete = true;
                }
                search.begin_resumed(observer)?;
                search.put_found(found, wanted, observer)
            })
        })
    }

    /// Where the lists of neighbours start.
    fn offsets(&mut self) -> Result<Vec<u64>> {
        let p = self.options.p;
        self.by_leader(|search| {
            let mut offsets = vec![0; p + 1];
            search.engine.held.fetch(search.args.offset, &mut offsets, "a level")?;
            Ok(offsets)
        })
    }

    fn run_conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let Some(widest) = self.leader().widest_of(size) else {
            return Ok(LevelReport { go_on: self.leader().fast(), ..LevelReport::default() });
        };
        let singles = size == 1 && self.leader().singles();
        self.each(|member| {
            if singles && !member.search.p_max.is_of_left() {
                member.search.share_p_max = PIECE as u64;
            }
            member.begin_level(size, widest)
        })?;
        let firsts = if singles { self.by_leader(|search| search.firsts_of_left())? } else { None };
        let offsets = self.offsets()?;
        let degree = |row: usize| offsets[row + 1] - offsets[row];
        let between = |rows: &Range<usize>| (offsets[rows.start], offsets[rows.end] - offsets[rows.start]);
        let p = self.options.p;
        if singles {
            // Of a row, its pairs with larger vertices, about.
            let cost = |x: usize| self.leader().cost_of_singles(x, &offsets) * (p - x) as f64 / p as f64;
            let costs: Vec<f64> = (0..p).map(cost).collect();
            let shards = self.shards(&costs, SINGLES_A_CARD, [LEAST_LAUNCH, MOST_LAUNCHES], MASK_ROWS as usize);
            let parts = |search: &CudaSearch, rows: &Range<usize>| {
                let (first, entries) = between(rows);
                let mut parts =
                    vec![Part { at: search.args.verdict.offset(first).cast(), bytes: 4 * entries as usize }];
                if let Some(firsts) = &firsts {
                    let (first, end) = (firsts[rows.start], firsts[rows.end]);
                    let at = search.args.p_max.offset(first).cast();
                    parts.push(Part { at, bytes: 8 * (end - first) as usize });
                }
                parts
            };
            let counted = match &firsts {
                Some(firsts) if self.may_bring_early(firsts) => {
                    self.share_and_bring(&shards, &parts, firsts, observer)?
                }
                _ => self.share(Step::Singles, &shards, &parts, &mut |_, _| (), [0.0, 1.0], observer)?,
            };
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
        let part = |search: &CudaSearch, rows: &Range<usize>| {
            let (first, entries) = between(rows);
            vec![Part { at: search.args.slot.offset(SLOT_BYTES * first), bytes: (SLOT_BYTES * entries) as usize }]
        };
        let shards = self.shards(&costs, SHARDS_A_CARD, [least, f64::INFINITY], 1);
        for second in 0..2 {
            self.share(Step::Side(second), &shards, &part, &mut |_, _| (), [second as f64, 2.0], observer)?;
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

impl Levels for TeamSearch<'_, '_> {
    fn edge_count(&self) -> usize {
        self.leader().edge_count()
    }

    fn widest(&self) -> Option<Widest> {
        self.leader().widest()
    }

    fn marginal(&mut self, observer: &mut dyn Observer) -> Result<LevelReport> {
        let began = Instant::now();
        self.begin(Some(0));
        let found = self.run_marginal(observer);
        self.enter_shares(0, began);
        found
    }

    fn conditional(&mut self, size: usize, observer: &mut dyn Observer) -> Result<LevelReport> {
        let began = Instant::now();
        self.begin(Some(size));
        let found = self.run_conditional(size, observer);
        self.enter_shares(size, began);
        found
    }

    fn resume(&mut self, found: Found, _within: Option<Within>, observer: &mut dyn Observer) -> Result<()> {
        let mut wanted = std::mem::replace(self.leading().p_max.largest(), Largest::Square(&mut []));
        let outcome = self.run_resume(&found, &mut wanted, observer);
        *self.leading().p_max.largest() = wanted;
        self.kept = Some(found);
        outcome
    }

    fn keep(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.begin(None);
        self.seats.iter_mut().for_each(|seat| seat.machine.search.is_kept = true);
        let levels = self.kept.as_ref().map_or(0, |found| found.levels) + 1;
        let found = self.by_leader(|search| search.copy_found(levels, observer))?;
        checkpoint::keep(&found, self.leading().p_max.largest(), observer)?;
        self.kept = Some(found);
        Ok(())
    }

    fn give_up(mut self: Box<Self>, _observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        match self.kept.take() {
            Some(found) => Ok((found.graph, found.sepsets.finish(&self.leader().engine.held.pool)?)),
            None => self.leading().finish_unbegun(),
        }
    }

    fn finish(mut self: Box<Self>, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        self.end(observer)
    }
}

impl Whole for TeamSearch<'_, '_> {
    fn end(&mut self, observer: &mut dyn Observer) -> Result<(Adjacency, SepSets)> {
        if !self.leader().has_begun() {
            return self.leading().finish_unbegun();
        }
        self.begin(None);
        self.bring_singles(observer)?;
        self.by_leader(|search| search.run_finish(observer))
    }
}
