//! Edges that workers decide before their turn comes.
//!
//! Workers are asked about all subsets of the candidates, including those that consist of neighbours of x. The skeleton search has found
//! that these separate nothing. The edge is asked set by set if such a set does separate (a skeleton of another test, a missing p-value).
//! The same happens if such a set has the largest p-value and that exceeds the known one.

use std::time::{Duration, Instant};

use super::candidates::{Candidates, Class};
use super::in_turn::ask;
use super::visits::{Answers, Outcome, Visit};
use crate::graph::{subsets, Adjacency};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::search::book::Book;
use crate::search::lanes::Lanes;
use crate::search::level::{count_sets, Neighbours, Verdict};
use crate::search::progress::LevelProgress;
use crate::search::shards::Work;
use crate::search::sweep::Sweep;
use crate::search::wire::{Reader, Writer};
use crate::search::worker::{Worker, WorkerTest};
use crate::search::Options;
use crate::{Error, Result};

/// What is known of an edge from one of its ends.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    /// The largest p-value and the rank of its set, by size from 1 on.
    largest: Vec<(f64, u64)>,
    /// The set that ended the last size: its rank, and p if it separates, or why it has no answer.
    end: Option<(u64, std::result::Result<f64, &'static str>)>,
}

/// The answers of a worker.
pub struct Ahead<'a> {
    worker: &'a mut dyn Worker,
    options: &'a Options,
    candidates: &'a Candidates<'a>,
    graph: Adjacency,
    /// Where the edges of each vertex begin in `known`.
    starts: Vec<usize>,
    others: Vec<u32>,
    known: Vec<Known>,
    most_tests: f64,
    exact_tests: u64,
    /// The size of the sets that are being tried.
    size: usize,
    /// Number of edges that are decided together, in a search that is saved.
    together: usize,
}

/// In a search that is saved, one edge in this many is decided in the first step. The next step is larger if that took less than
/// `TIME_OF_SOME`.
const FIRST_ONE_IN: usize = 64;

/// An edge from one of its ends, and the largest size of its sets.
type Side = ((u32, u32), usize);

const TIME_OF_SOME: Duration = Duration::from_secs(20);

impl<'a> Ahead<'a> {
    pub fn new(
        worker: &'a mut dyn Worker,
        options: &'a Options,
        graph: &Adjacency,
        candidates: &'a Candidates<'a>,
    ) -> Self {
        let (mut starts, mut others) = (vec![0], Vec::new());
        for x in 0..graph.p() {
            others.extend(graph.neighbours(x));
            starts.push(others.len());
        }
        let known = vec![Known::default(); others.len()];
        let most_tests = candidates.most_tests(options, graph);
        let graph = graph.clone();
        let together = known.len().div_ceil(FIRST_ONE_IN).max(1);
        let (exact_tests, size) = (0, 0);
        Ahead { worker, options, candidates, graph, starts, others, known, most_tests, exact_tests, size, together }
    }

    /// Returns the number of tests if no set separates anything.
    pub fn most_tests(&self) -> f64 {
        self.most_tests
    }

    fn at(&self, x: usize, y: usize) -> usize {
        self.starts[x] + self.others[self.starts[x]..self.starts[x + 1]].partition_point(|&v| (v as usize) < y)
    }

    fn is_separated(&self, x: usize, y: usize) -> bool {
        matches!(self.known[self.at(x, y)].end, Some((_, Ok(_))))
    }

    /// Decides every edge, size by size: from its smaller end and, if it is left, from the larger one.
    pub fn run_all(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let mut sides = [Vec::new(), Vec::new()];
        for x in 0..self.graph.p() {
            for y in self.graph.neighbours(x).map(|y| y as usize).filter(|&y| !self.options.is_fixed(x, y)) {
                let is_far = |v: u32| !self.graph.has(x, v as usize);
                if self.candidates.of_pair(x, y, 1).any(is_far) {
                    memory::push(&mut sides[usize::from(x > y)], (x as u32, y as u32), Use::Level)?;
                }
            }
        }
        let outcome = self.run(sides, true, observer);
        if let Err(Error::Interrupted | Error::TimeLimit { .. }) = outcome {
            if observer.is_due(true) {
                self.keep(observer)?;
            }
        }
        outcome
    }

    /// Gives up when the time is over: forgets the results of the size that is being tried, and returns that size.
    pub fn give_up(&mut self) -> usize {
        let size = self.size;
        self.known.iter_mut().for_each(|known| known.forget(size));
        size
    }

    /// Has the observer save what is known.
    pub fn keep(&self, observer: &mut dyn Observer) -> Result<()> {
        let mut bytes = Writer::default();
        self.known.iter().for_each(|known| known.write(&mut bytes));
        bytes.number(self.exact_tests);
        observer.keep(&mut |out| out.write_all(&bytes.0))
    }

    /// Continues from what was saved. What cannot be read is decided again.
    pub fn restore(&mut self, table: &[u8]) {
        let mut bytes = Reader(table);
        let known = (0..self.known.len()).map(|_| Known::read(&mut bytes)).collect::<Option<Vec<Known>>>();
        if let (Some(known), Some(exact_tests)) = (known, bytes.number()) {
            (self.known, self.exact_tests) = (known, exact_tests);
        }
    }

    /// Decides edges size by size, at each size the first list of sides, then the second. With `spares`, edges that the smaller end has
    /// separated are skipped from the larger end.
    fn run(&mut self, sides: [Vec<(u32, u32)>; 2], spares: bool, observer: &mut dyn Observer) -> Result<()> {
        let largest =
            |&(x, y): &(u32, u32)| self.candidates.largest(self.candidates.of_pair(x as usize, y as usize, 2).count());
        let mut left = sides.map(|sides| sides.into_iter().map(|side| (side, largest(&side))).collect::<Vec<_>>());
        for size in 1.. {
            self.size = size;
            for left in &mut left {
                left.retain(|&((x, y), largest)| {
                    let (x, y) = (x as usize, y as usize);
                    let is_spared = spares && x > y && self.is_separated(y, x);
                    largest >= size && self.known[self.at(x, y)].end.is_none() && !is_spared
                });
                let is_new = |&(x, y): &(u32, u32)| self.known[self.at(x as usize, y as usize)].sizes() < size;
                let of_size: Vec<Side> = left.iter().filter(|(side, _)| is_new(side)).copied().collect();
                self.run_some(size, &of_size, observer)?;
            }
            if left.iter().all(Vec::is_empty) {
                break;
            }
        }
        Ok(())
    }

    /// Decides sets of one size, for some edges at a time if the search is saved.
    fn run_some(&mut self, size: usize, sides: &[Side], observer: &mut dyn Observer) -> Result<()> {
        let mut rest = sides;
        while observer.keeps() && rest.len() > self.together {
            let began = Instant::now();
            // The edges of a vertex stay together.
            let row = rest[self.together - 1].0 .0;
            let (some, later) = rest.split_at(rest.partition_point(|(side, _)| side.0 <= row));
            self.run_size(size, some, observer)?;
            rest = later;
            self.together = match began.elapsed() < TIME_OF_SOME {
                true => 2 * self.together,
                false => self.together.div_ceil(2),
            };
            if observer.is_due(false) {
                self.keep(observer)?;
            }
        }
        self.run_size(size, rest, observer)?;
        if observer.is_due(false) {
            self.keep(observer)?;
        }
        Ok(())
    }

    /// Decides sets of one size. If the edges of a vertex have different candidates, one class of edges follows another.
    fn run_size(&mut self, size: usize, sides: &[Side], observer: &mut dyn Observer) -> Result<()> {
        let sides = self.sweep(size, sides, observer)?;
        let of_side = |&(x, y): &(u32, u32)| self.candidates.class(x as usize, y as usize, size);
        let mut rest: Vec<((u32, u32), Class)> = sides.iter().map(|side| (*side, of_side(side))).collect();
        while !rest.is_empty() {
            let mut now: Vec<((u32, u32), Class)> = Vec::new();
            let mut later = Vec::new();
            for (side, class) in rest {
                // Sides come by row. The first side of a row determines the class that is taken now.
                match now.iter().rev().find(|(of, _)| of.0 == side.0) {
                    Some(&(_, taken)) if taken != class => later.push((side, class)),
                    _ => now.push((side, class)),
                }
            }
            self.run_class(size, &now, observer)?;
            rest = later;
        }
        Ok(())
    }

    /// Has a worker that sweeps decide the edges for which that is quicker, with larger sizes if the worker chooses so. Returns the edges
    /// that are left.
    fn sweep(&mut self, size: usize, sides: &[Side], observer: &mut dyn Observer) -> Result<Vec<(u32, u32)>> {
        let mut rest = Vec::new();
        let (mut sweeps, mut swept) = (Vec::new(), Vec::new());
        let Some(sweeper) = self.worker.sweeper() else { return Ok(sides.iter().map(|(side, _)| *side).collect()) };
        for &(side, largest) in sides {
            let [x, y] = [side.0 as usize, side.1 as usize];
            // Sets of one variable have candidates of their own.
            let count = if size < 2 { 0 } else { self.candidates.of_pair(x, y, size).count() };
            let Some(last) = sweeper.takes(count, size, largest) else {
                rest.push(side);
                continue;
            };
            let candidates = self.candidates.of_pair(x, y, size).collect();
            memory::push(&mut sweeps, Sweep { pair: [side.0, side.1], candidates, sizes: size..=last }, Use::Level)?;
            swept.push(side);
        }
        if let Some(sweeper) = self.worker.sweeper().filter(|_| !sweeps.is_empty()) {
            let rules = (self.options.alpha, self.options.na_delete);
            for ((x, y), found) in swept.into_iter().zip(sweeper.sweep(&sweeps, rules, observer)?) {
                let at = self.at(x as usize, y as usize);
                self.exact_tests += found.exact_tests;
                found.verdicts.into_iter().for_each(|verdict| self.known[at].enter(verdict));
            }
            memory::check()?;
        }
        Ok(rest)
    }

    fn run_class(&mut self, size: usize, sides: &[((u32, u32), Class)], observer: &mut dyn Observer) -> Result<()> {
        let p = self.graph.p();
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); p];
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); p];
        for &((x, y), class) in sides {
            let list = &mut lists[x as usize];
            if list.is_empty() {
                list.extend(self.candidates.of_class(x as usize, class));
                count_sets(x as usize, y as usize, list.len(), size)?;
            }
            places[x as usize].push(list.partition_point(|&v| v < y) as u32);
        }
        let entries: usize = lists.iter().map(Vec::len).sum();
        memory::room(8 * entries + 64 * p + 64 * sides.len(), Use::Level)?;
        let neighbours = Neighbours::of_lists(&lists);
        let lanes = Lanes::of_rows(places);
        let (tests, hands) = (self.worker.shard_tests(), self.worker.hands());
        let work = Work::of_lanes(size, &neighbours, lanes, self.options, tests, hands)?.reading_largest();
        let book = Book::of_verdicts(&work);
        let mut progress = LevelProgress::of_total(observer, size, work.cost());
        self.worker.answer(&work, &book, &mut progress)?;
        progress.add(work.cost());
        progress.finish()?;
        let (verdicts, exact_tests) = book.verdicts_of_lanes();
        memory::check()?;
        self.exact_tests += exact_tests;
        for (row, lane, verdict) in verdicts {
            let list = neighbours.list(row as usize);
            let y = list[work.lanes.of(row as usize)[lane] as usize];
            let at = self.at(row as usize, y as usize);
            self.known[at].enter(verdict);
        }
        Ok(())
    }
}

impl Known {
    /// Returns the last size that was decided, or in which a set ended the edge; 0 if there is none.
    fn sizes(&self) -> usize {
        self.largest.len()
    }

    fn enter(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Dependent { rank, p } => self.largest.push((p, rank)),
            Verdict::Independent { rank, p } => {
                self.end = Some((rank, Ok(p)));
                self.largest.push((p, rank));
            }
            Verdict::Undefined { rank, reason } => {
                self.end = Some((rank, Err(reason)));
                self.largest.push((-1.0, rank));
            }
        }
    }

    /// Restores the state before sets of this size.
    fn forget(&mut self, size: usize) {
        if self.sizes() >= size {
            self.end = None;
            self.largest.truncate(size - 1);
        }
    }

    /// Returns the largest p-value of all, with the size and the rank of its set.
    fn largest(&self) -> Option<(f64, usize, u64)> {
        let mut best: Option<(f64, usize, u64)> = None;
        for (size, &(p, rank)) in (1..).zip(&self.largest) {
            if best.is_none_or(|(known, ..)| p > known) {
                best = Some((p, size, rank));
            }
        }
        best
    }

    /// Writes what is known. A test without an answer is left out, as it is asked again.
    fn write(&self, bytes: &mut Writer) {
        let known = if let Some((_, Err(_))) = self.end { self.sizes() - 1 } else { self.sizes() };
        bytes.number(known as u64);
        for &(p, rank) in &self.largest[..known] {
            bytes.float(p);
            bytes.number(rank);
        }
        bytes.number(u64::from(matches!(self.end, Some((_, Ok(_))))));
    }

    fn read(bytes: &mut Reader) -> Option<Self> {
        let largest =
            (0..bytes.count(16)?).map(|_| Some((bytes.float()?, bytes.number()?))).collect::<Option<Vec<_>>>()?;
        let separates = bytes.number()? == 1;
        let end = if separates { largest.last().map(|&(p, rank)| (rank, Ok(p))) } else { None };
        Some(Known { largest, end })
    }
}

/// Returns the set of a rank among subsets of candidates.
fn set_of(candidates: &[u32], size: usize, rank: u64) -> Vec<u32> {
    let mut set = vec![0; size];
    subsets::unrank(candidates.len(), rank, &mut set);
    set.iter_mut().for_each(|member| *member = candidates[*member as usize]);
    set
}

impl Answers for Ahead<'_> {
    fn of(&mut self, visit: &Visit, options: &Options, observer: &mut dyn Observer) -> Result<Outcome> {
        let at = self.at(visit.x, visit.y);
        if self.known[at].end.is_none() && self.known[at].sizes() < visit.largest {
            // A neighbour has been removed since, and more sets count now; or the other end has decided otherwise.
            self.run([vec![(visit.x as u32, visit.y as u32)], Vec::new()], false, observer)?;
        }
        let known = &self.known[at];
        let sizes = known.sizes();
        let singles: Vec<u32> = match sizes {
            0 => Vec::new(),
            _ => self.candidates.of_pair(visit.x, visit.y, 1).collect(),
        };
        let set = |size: usize, rank: u64| set_of(if size == 1 { &singles } else { visit.all }, size, rank);
        let end = known.end.map(|(rank, found)| (set(sizes, rank), rank, found));
        let largest = known.largest().filter(|&(p, ..)| p > visit.known);
        let is_left_out = |set: &Vec<u32>| visit.is_near(set);
        if end.as_ref().is_some_and(|(set, ..)| is_left_out(set))
            || largest.is_some_and(|(_, size, rank)| is_left_out(&set(size, rank)))
        {
            let test = &mut WorkerTest { worker: &mut *self.worker, observer };
            return ask(test, visit, options, &mut crate::observer::Unobserved);
        }
        if let Some((s, _, Err(reason))) = end {
            return Err(Error::Numeric { x: visit.x, y: visit.y, s, reason });
        }
        let mut visited = Vec::with_capacity(sizes);
        for size in 1..=sizes {
            let all: &[u32] = if size == 1 { &singles } else { visit.all };
            let end = end.as_ref().filter(|_| size == sizes).map(|(_, rank, _)| *rank);
            visited.push(count_visited(visit, all, size, end)?);
        }
        let set = end.and_then(|(set, _, found)| Some((set, found.ok()?)));
        Ok(Outcome { visited, set, largest: largest.map(|(p, ..)| p) })
    }

    fn exact_tests(&self) -> u64 {
        self.exact_tests
    }
}

/// Returns how many sets of a size are visited: those up to the rank `end`, or all, without sets that consist of neighbours.
fn count_visited(visit: &Visit, all: &[u32], size: usize, end: Option<u64>) -> Result<u64> {
    let is_near: Vec<bool> = all.iter().map(|v| visit.near.binary_search(v).is_ok()).collect();
    let near = is_near.iter().filter(|&&near| near).count();
    let Some(end) = end else {
        let count = |n: usize| count_sets(visit.x, visit.y, n, size);
        return Ok(count(all.len())? - count(near)?);
    };
    // The subsets of neighbours that come before the set of this rank.
    let mut set = vec![0; size];
    subsets::unrank(all.len(), end, &mut set);
    let near_before = |place: usize| is_near[..place].iter().filter(|&&near| near).count();
    let (mut before, mut from) = (0, 0);
    for (i, &place) in set.iter().enumerate() {
        let place = place as usize;
        for at in (from..place).filter(|&at| is_near[at]) {
            let after = near - near_before(at) - 1;
            before += count_sets(visit.x, visit.y, after, size - i - 1)?;
        }
        if !is_near[place] {
            break;
        }
        from = place + 1;
    }
    Ok(end + 1 - before)
}
