//! Several machines of this process with one test, as one worker. Each takes parts of levels. Each result is entered once, even if a machine is
//! lost.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::dispatch::follow::Watch;
use super::dispatch::local::Members;
use super::dispatch::queue::Costs;
use crate::ci::Batch;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::book::{Book, Page};
use crate::search::levels::Levels;
use crate::search::pairs::{LevelReport, PairLevel, PairRows, Pairwise, PAIR_ROWS};
use crate::search::shards::Work;
use crate::search::sweep::{Sweep, Sweeper, Swept};
use crate::search::worker::{Alone, Column, Marginals, Parted, Worker};
use crate::search::{Largest, Options};
use crate::team::TeamReport;
use crate::{DeviceError, Error, Result};

/// Parts of level 0 for each machine.
const COLUMNS_EACH: usize = 8;

/// Number of questions that are asked together.
const QUESTIONS: usize = 1 << 14;

type Machine<'a> = Box<dyn Parted + Send + 'a>;

/// Several machines as one worker. Their answers equal those of each machine alone.
pub struct Team<'a> {
    members: Members<Machine<'a>>,
    pool: Pool,
    /// The machine that runs, or has run, a search alone.
    leader: Option<usize>,
}

/// The observer of a machine that answers a part of a level.
struct Following<'w> {
    watch: Watch<'w>,
    /// The share of the part that is done.
    done: f64,
}

impl<'w> Following<'w> {
    fn new(watch: Watch<'w>) -> Self {
        Following { watch, done: 0.0 }
    }
}

impl Observer for Following<'_> {
    fn look(&mut self) -> Result<()> {
        (self.watch)(self.done)
    }

    fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
        self.done = done / total.max(f64::MIN_POSITIVE);
        (self.watch)(self.done)
    }
}

/// Locks what the threads share.
fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts units with these costs into about `count` groups of neighbouring units, of equal cost.
fn grouped(costs: &[f64], count: usize) -> Vec<(Range<usize>, f64)> {
    let most = costs.iter().sum::<f64>() / count.max(1) as f64;
    let mut groups: Vec<(Range<usize>, f64)> = Vec::new();
    for (at, &cost) in costs.iter().enumerate() {
        match groups.last_mut() {
            Some((group, sum)) if *sum + cost / 2.0 <= most => {
                group.end = at + 1;
                *sum += cost;
            }
            _ => groups.push((at..at + 1, cost)),
        }
    }
    groups
}

impl<'a> Team<'a> {
    /// Creates a team without machines. `pool` has the threads for the calling thread's own work.
    pub fn new(pool: Pool) -> Self {
        Team { members: Members::new(|machine: &Machine| machine.moved()), pool, leader: None }
    }

    /// Sets the threads for the calling thread.
    pub fn on(self, pool: Pool) -> Self {
        Team { pool, ..self }
    }

    /// Adds a machine, which the team's report calls by this name ("cpu", "cuda:0").
    pub fn with(mut self, name: impl Into<String>, machine: impl Parted + Send + 'a) -> Self {
        let busy = machine.busy();
        self.members.add(name, Box::new(machine), busy);
        self
    }

    /// Records a machine that could not be opened, with its error. It counts as one that failed.
    pub fn without(mut self, name: impl Into<String>, error: DeviceError) -> Self {
        self.members.without(name, error);
        self
    }

    /// Returns the number of machines that are left.
    fn left(&self) -> usize {
        self.members.live().count()
    }

    fn first(&self) -> Option<&Machine<'a>> {
        self.members.live().next().map(|(_, machine)| machine)
    }

    /// Returns the result of the first machine that does not fail.
    fn by_first<T>(&mut self, mut run: impl FnMut(&mut Machine<'a>) -> Result<T>) -> Result<T> {
        loop {
            let Some(number) = self.members.first() else { return Err(self.members.nobody()) };
            match self.members.machine(number).map(&mut run) {
                Some(Err(Error::Device(error))) => self.members.lose(number, error),
                Some(outcome) => return outcome,
                None => return Err(self.members.nobody()),
            }
        }
    }
}

impl Team<'_> {
    /// Has the machines answer questions, a piece of the batch at a time.
    fn ask(
        &mut self,
        batch: &Batch,
        observer: &mut dyn Observer,
        ask: impl Fn(&mut Machine, &Batch, &mut dyn Observer) -> Result<Vec<f64>> + Sync,
    ) -> Result<Vec<f64>> {
        let mut values = memory::zeros(batch.len(), Use::Level)?;
        let places = |piece: &Range<usize>| piece.start * QUESTIONS..batch.len().min(piece.end * QUESTIONS);
        let costs = (0..batch.len().div_ceil(QUESTIONS)).map(|at| places(&(at..at + 1)).len() as f64).collect();
        let part_of = |machine: &mut Machine, _: &Costs, piece: &Range<usize>, watch: Watch| {
            let mut part = Batch::with_space(places(piece).len(), 0)?;
            places(piece).map(|at| batch.get(at)).for_each(|(x, y, s)| part.push(x, y, s));
            ask(machine, &part, &mut Following::new(watch))
        };
        let mut enter = |piece: Range<usize>, found: Vec<f64>| {
            values[places(&piece)].copy_from_slice(&found);
            Ok(())
        };
        self.members.run_units(costs, None, &part_of, &mut enter, observer)?;
        Ok(values)
    }
}

impl Worker for Team<'_> {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        self.members.live().map(|(_, machine)| machine.shard_tests()).min().unwrap_or(1)
    }

    fn hands(&self) -> usize {
        self.members.live().map(|(_, machine)| machine.hands()).sum::<usize>().max(1)
    }

    fn sides_at_once(&self) -> usize {
        self.members.live().map(|(_, machine)| machine.sides_at_once()).max().unwrap_or(1)
    }

    fn is_exact(&self) -> bool {
        self.members.live().all(|(_, machine)| machine.is_exact())
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        let costs: Vec<f64> = columns.iter().map(|column| column.y() as f64 + 1.0).collect();
        let units = grouped(&costs, COLUMNS_EACH * self.left());
        let mut columns = columns.into_iter();
        let lots: Vec<Mutex<Vec<Column>>> =
            units.iter().map(|(unit, _)| Mutex::new(columns.by_ref().take(unit.len()).collect())).collect();
        let fill = |machine: &mut Machine, _: &Costs, piece: &Range<usize>, watch: Watch| {
            let mut observer = Following::new(watch);
            for lot in &lots[piece.clone()] {
                machine.marginal(level, locked(lot).iter_mut().map(Column::lend).collect(), &mut observer)?;
            }
            Ok(())
        };
        let mut end = |piece: Range<usize>, ()| {
            lots[piece].iter().for_each(|lot| locked(lot).drain(..).for_each(Column::end));
            Ok(())
        };
        let costs = units.into_iter().map(|(_, cost)| cost).collect();
        self.members.run_once(costs, Some(0), &fill, &mut end, observer)?;
        observer.progress(0, 1.0, 1.0)
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        let costs = work.shards.iter().map(|shard| shard.cost).collect();
        let answer = |machine: &mut Machine, _: &Costs, shards: &Range<usize>, watch: Watch| {
            machine.answer_some(work, shards.clone(), book, &mut Following::new(watch))
        };
        let mut close = |_, pages: Vec<Page>| {
            pages.into_iter().for_each(Page::close);
            Ok(())
        };
        self.members.run_units(costs, Some(work.size), &answer, &mut close, observer)?;
        observer.progress(work.size, work.cost(), work.cost())
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        self.ask(batch, observer, |machine, part, observer| machine.p_values(part, observer))
    }

    fn marginal_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        self.ask(batch, observer, |machine, part, observer| machine.marginal_values(part, observer))
    }

    /// Returns the plan of the machine that ran the search alone, or else of the first machine: the machines are alike.
    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        let leader = self.leader.map(|number| &self.members.machines[number]);
        leader.or(self.first()).map_or_else(Vec::new, |machine| machine.memory_plan())
    }

    fn team(&mut self) -> TeamReport {
        let mut report = self.members.report();
        if let Some(number) = self.leader.take() {
            self.members.machines[number].team().shares.into_iter().for_each(|share| report.enter(share));
        }
        report
    }

    fn alone(&mut self) -> Option<&mut dyn Alone> {
        self.leader = self.members.first_that(|machine| machine.leads());
        self.leader.is_some().then_some(self as &mut dyn Alone)
    }

    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        let all = self.members.live_mut().all(|machine| machine.sweeper().is_some());
        all.then_some(self as &mut dyn Sweeper)
    }

    fn pairwise(&mut self) -> Option<&mut dyn Pairwise> {
        let all = self.members.live_mut().all(|machine| machine.pairwise().is_some());
        all.then_some(self as &mut dyn Pairwise)
    }
}

/// One machine runs a search while its levels are short: distributing them would take longer.
impl Alone for Team<'_> {
    fn begin<'s>(&'s mut self, options: &'s Options, largest: Largest<'s>) -> Result<Option<Box<dyn Levels + 's>>> {
        let has_helpers = self.has_helpers();
        let Some(leader) = self.leader.and_then(|number| self.members.machine(number)) else { return Ok(None) };
        // The team's report already holds what the leader did with others.
        leader.team();
        match leader.alone() {
            Some(alone) if !(has_helpers && alone.expects_long_level(options)) => alone.begin(options, largest),
            _ => Ok(None),
        }
    }

    fn has_helpers(&self) -> bool {
        self.left() > 1
    }

    fn ends(&mut self, error: Option<&Error>) -> bool {
        let Some(number) = self.leader.take() else { return false };
        // Discards the leader's report, because the search begins again.
        self.members.machines[number].team();
        match error {
            Some(error @ Error::Device(failure)) if !error.is_short_of_device_memory() => {
                self.members.lose(number, failure.clone());
                self.left() > 0
            }
            _ => {
                self.members.machine(number).and_then(|machine| machine.alone()).is_some_and(|alone| alone.ends(error))
            }
        }
    }
}

impl Pairwise for Team<'_> {
    fn prefers_pairs(&mut self, level: &PairLevel) -> Result<bool> {
        self.by_first(|machine| machine.pairwise().map_or(Ok(false), |worker| worker.prefers_pairs(level)))
    }

    fn pairs(&mut self, level: &PairLevel, rows: &mut PairRows, observer: &mut dyn Observer) -> Result<()> {
        let graph = level.graph;
        // About half of a row's pairs are with larger vertices, fewer for later rows.
        let cost = |x: usize| (graph.degree(x) * graph.degree_above(x)) as f64 + 1.0;
        let (first, end) = (rows.rows.start, rows.rows.end);
        let block = |at: usize| first + at * PAIR_ROWS..end.min(first + (at + 1) * PAIR_ROWS);
        let blocks: Vec<f64> = (0..(end - first).div_ceil(PAIR_ROWS)).map(|at| block(at).map(cost).sum()).collect();
        // A unit for each machine, because each may transfer all correlations.
        let units = grouped(&blocks, self.left());
        let ends = units.iter().map(|(blocks, _)| block(blocks.end - 1).end);
        // If a machine is lost within a part, another begins the part again.
        let parts: Vec<Mutex<PairRows>> = rows.parts(graph, ends).into_iter().map(Mutex::new).collect();
        let decide = |machine: &mut Machine, _: &Costs, piece: &Range<usize>, watch: Watch| {
            let mut observer = Following::new(watch);
            for part in &parts[piece.clone()] {
                if let Some(worker) = machine.pairwise() {
                    let part = &mut *locked(part);
                    part.counted = LevelReport::default();
                    worker.pairs(level, part, &mut observer)?;
                }
            }
            Ok(())
        };
        let costs = units.iter().map(|&(_, cost)| cost).collect();
        self.members.run_once(costs, Some(1), &decide, &mut |_, ()| Ok(()), observer)?;
        let counted: Vec<LevelReport> = parts.iter().map(|part| locked(part).counted).collect();
        drop(parts);
        counted.iter().for_each(|counted| rows.counted.add(counted));
        observer.progress(1, 1.0, 1.0)
    }
}

impl Sweeper for Team<'_> {
    fn takes(&mut self, candidates: usize, size: usize, largest: usize) -> Option<usize> {
        let number = self.members.first()?;
        self.members.machine(number)?.sweeper()?.takes(candidates, size, largest)
    }

    fn sweep(&mut self, sweeps: &[Sweep], rules: (f64, bool), observer: &mut dyn Observer) -> Result<Vec<Swept>> {
        let mut all: Vec<Option<Swept>> = vec![None; sweeps.len()];
        let sweep = |machine: &mut Machine, _: &Costs, piece: &Range<usize>, watch: Watch| {
            let Some(sweeper) = machine.sweeper() else { return Err(Error::Interrupted) };
            sweeper.sweep(&sweeps[piece.clone()], rules, &mut Following::new(watch))
        };
        let mut enter = |piece: Range<usize>, found: Vec<Swept>| {
            all[piece].iter_mut().zip(found).for_each(|(swept, found)| *swept = Some(found));
            Ok(())
        };
        let size = sweeps.first().map_or(0, |sweep| *sweep.sizes.start());
        let costs = sweeps.iter().map(Sweep::cost).collect();
        self.members.run_units(costs, Some(size), &sweep, &mut enter, observer)?;
        Ok(all.into_iter().flatten().collect())
    }
}
