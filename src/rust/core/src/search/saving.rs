//! A level that is saved while a worker runs it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::answer::Answers;
use super::checkpoint::{Cut, DoneShards, Part, Within};
use super::level::{PairSide, Verdict};
use super::shards::{Shard, Work};
use crate::graph::{Adjacency, Separations};
use crate::observer::Observer;
use crate::{Error, Result};

/// A worker's observer that saves the state when that is due, on the calling thread. A search that is about to end is saved before the
/// worker learns of it: what the worker enters afterwards may be half done.
pub(super) struct Saving<'a> {
    observer: &'a mut dyn Observer,
    keep: &'a mut dyn FnMut(&mut dyn Observer) -> Result<()>,
    /// Whether the worker has been asked to stop.
    is_over: bool,
}

impl<'a> Saving<'a> {
    /// Wraps an observer. `keep` hands over the state.
    pub fn new(observer: &'a mut dyn Observer, keep: &'a mut dyn FnMut(&mut dyn Observer) -> Result<()>) -> Self {
        Saving { observer, keep, is_over: false }
    }

    fn save(&mut self, told: Result<()>) -> Result<()> {
        let ending = matches!(told, Err(Error::Interrupted | Error::TimeLimit { .. }));
        let may = !self.is_over && (told.is_ok() || ending);
        self.is_over |= told.is_err();
        if may && self.observer.is_due(ending) {
            (self.keep)(self.observer)?;
        }
        told
    }
}

impl Observer for Saving<'_> {
    fn preparing(&mut self, share: f64) -> Result<()> {
        self.observer.preparing(share)
    }

    fn progress(&mut self, level: usize, done: f64, total: f64) -> Result<()> {
        let told = self.observer.progress(level, done, total);
        self.save(told)
    }

    fn look(&mut self) -> Result<()> {
        let told = self.observer.look();
        self.save(told)
    }
}

/// The work of a level that a worker runs, and how it was cut.
pub(super) struct Step {
    /// The graph when second sides began, in a search that is saved. `None`: this is the work of first sides.
    pub second: Option<Adjacency>,
    /// The rows that this step takes, all or some at a time. For sides: the number of the first.
    pub rows: Range<usize>,
    pub cut: Cut,
    /// What an earlier call had done of it.
    done: Option<DoneShards>,
}

impl Step {
    /// Begins the work of first sides, or of second sides, of these rows.
    pub fn new(second: Option<Adjacency>, rows: Range<usize>, cut: Cut) -> Self {
        Step { second, rows, cut, done: None }
    }

    /// Returns whether the step begins at its start.
    pub fn is_new(&self) -> bool {
        self.done.is_none()
    }

    /// Returns the step that an earlier call had reached.
    pub fn resumed(within: Option<Within>) -> Option<Self> {
        let Some(Within { part: Part::Shards(mut done), .. }) = within else { return None };
        let (second, rows, cut) = (done.second.take(), done.rows.clone(), done.cut);
        Some(Step { second, rows, cut, done: Some(done) })
    }

    /// Removes the finished shards from a work. Returns what they found, and the shards by number.
    pub fn done_of(&mut self, work: &mut Work) -> (Option<DoneShards>, BTreeMap<usize, Shard>) {
        let done = self.done.take();
        let mut parts = BTreeMap::new();
        // Results that do not fit this work are ignored: it is done again.
        let known = done.filter(|done| {
            let all = done.numbers.iter().all(|&number| number < work.shards.len())
                && done.numbers.windows(2).all(|two| two[0] < two[1]);
            let is_piece = |shard: &Shard, found| !shard.part.is_whole() && accepts(work, shard, found);
            let of_shard = |number: usize| work.shards.get(number).filter(|_| done.numbers.contains(&number));
            let fits =
                done.pieces.iter().all(|found| of_shard(found.shard as usize).is_some_and(|s| is_piece(s, found)));
            all && fits && done.separations.size == work.size
        });
        if let Some(done) = &known {
            done.numbers.iter().for_each(|&number| {
                parts.insert(number, work.clear(number));
            });
        }
        (known, parts)
    }

    /// Returns the step's position, with no shard done.
    pub fn nothing_done(&self) -> DoneShards {
        DoneShards {
            second: self.second.clone(),
            rows: self.rows.clone(),
            cut: self.cut,
            numbers: Vec::new(),
            separations: Separations::default(),
            tests: 0,
            exact_tests: 0,
            pieces: Vec::new(),
        }
    }
}

/// Returns whether the answers fit a shard of this work: its pairs, ranks within theirs, sets of vertices.
fn accepts(work: &Work, shard: &Shard, answers: &Answers) -> bool {
    let p = work.neighbours.p();
    let of_shard = |(at, side, _): (usize, PairSide, _)| ((side.row, at), side.count);
    let counts: HashMap<(u32, usize), u64> = work.pairs_of(shard).into_iter().map(of_shard).collect();
    answers.of_pairs.iter().all(|answer| {
        let is_set = answer.set.len() == work.size && answer.set.iter().all(|&member| (member as usize) < p);
        match (counts.get(&(answer.row, answer.at)), answer.verdict) {
            (Some(&count), Verdict::Dependent { rank, .. }) => rank <= count,
            (Some(&count), verdict) => verdict.rank() < count && is_set,
            (None, _) => false,
        }
    })
}
