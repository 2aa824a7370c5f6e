//! One feature selection on ranks: each has features of its own, and says after each choice which of them is the best. The driver takes the best of
//! these, and tells it to all with its column: a message each way, whoever has how many features.
//!
//! The scores of a feature depend on its column and those selected before alone, so that the answer does not depend on who has which. A rank that
//! is lost, or so slow that all others wait for it, leaves its features to the others, which count for them what it has counted; where that pays
//! within the choices that are left, features move from slow ranks to fast ones in the same way.

mod data;
pub mod rank;

use std::ops::Range;
use std::time::Instant;

use self::data::write_column;
pub use self::data::Source;
use super::message::{Reply, Request};
use super::{Cluster, News, STRANGE, WATCH};
use crate::engine::dispatch::queue::Costs;
use crate::engine::dispatch::shares::Shares;
use crate::observer::Observer;
use crate::search::wire::{envelope, Writer};
use crate::selection::{Choice, CountLogs, Criterion, Problem, Selection, Step};
use crate::team::{Lost, Moved};
use crate::{Error, Result};

/// The seconds that a byte takes to a rank at the most.
const A_BYTE: f64 = 1e-7;

/// What turns count for.
const LEVEL: Option<usize> = Some(0);

/// What to do where no rank is left.
const MEND: &str = "start the cluster again";

/// What a rank has of a selection.
#[derive(Default)]
struct Hand {
    /// Its features, in the order in which it got them.
    features: Vec<Range<usize>>,
    /// Those that it is given with its next turn.
    more: Vec<Range<usize>>,
    /// How many it gives up then, the last.
    less: usize,
    has_begun: bool,
    /// How many choices it knows.
    known: usize,
    turn: Option<Turn>,
    best: Option<Choice>,
}

/// A turn that is not answered yet.
struct Turn {
    task: u64,
    job: u64,
    since: Instant,
    work: f64,
    bytes: usize,
    /// Whether it does nothing but count for the features that it had.
    is_plain: bool,
}

fn count_of(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(Range::len).sum()
}

/// Takes so many features from the end of some ranges.
fn split_last(ranges: &mut Vec<Range<usize>>, mut count: usize) -> Vec<Range<usize>> {
    let mut taken = Vec::new();
    while count > 0 {
        let Some(mut last) = ranges.pop() else { break };
        if last.len() > count {
            let mid = last.end - count;
            ranges.push(last.start..mid);
            last.start = mid;
        }
        count -= last.len();
        taken.push(last);
    }
    taken
}

impl Hand {
    fn count(&self) -> usize {
        count_of(&self.features)
    }

    /// Features that are counted for in its next turn, each as often as there are choices that it has not counted for.
    fn work(&self, choices: usize) -> f64 {
        let anew = count_of(&self.more) * (choices + 1);
        (self.count() * (choices - self.known) + anew) as f64
    }
}

/// A selection that is under way.
struct Job<'s> {
    source: Source<'s>,
    criterion: Criterion,
    number: u64,
    k: usize,
    hands: Vec<Hand>,
    /// How many features each rank has, with those of its next turn.
    shares: Shares,
    choices: Vec<Choice>,
    /// The columns of these, as bytes.
    columns: Vec<Vec<u8>>,
    /// Features that no rank has.
    spare: Vec<Range<usize>>,
    /// A flaw in the data, that of the first column of those that were told of.
    flaw: Option<(usize, Error)>,
}

impl Cluster<'_> {
    /// Selects k features, at least 1 and no more than there are, and says how many levels each has. `logs` must be those of the number of samples.
    ///
    /// # Errors
    /// [`Error::Cluster`] where no rank is left, [`Error::Argument`] where a column has no codes, and what the observer returns.
    pub fn select(
        &mut self,
        source: Source,
        logs: &CountLogs,
        criterion: Criterion,
        k: usize,
        observer: &mut dyn Observer,
    ) -> Result<(Selection, Vec<usize>)> {
        let began = Instant::now();
        self.ranks.iter_mut().for_each(|rank| rank.moved = Moved::default());
        let hands = self.ranks.iter().map(|_| Hand::default()).collect();
        let shares = Shares::new(self.ranks.iter().map(|rank| rank.hello.hands.max(1) as f64).collect());
        let (choices, columns, spare) = (Vec::new(), Vec::new(), std::iter::once(0..source.p()).collect());
        let number = self.queue.number();
        let mut job = Job { source, criterion, number, k, hands, shares, choices, columns, spare, flaw: None };
        let mut selection = Selection::default();
        let mut levels = Vec::new();
        let problem = Problem { samples: source.class(), logs, criterion };
        let outcome = self.choose(&mut job, observer, &mut |choice, of| {
            selection.add(&problem, choice);
            levels.push(of);
        });
        job.hands.iter().filter_map(|hand| hand.turn.as_ref()).for_each(|turn| self.queue.close(turn.job));
        self.report(LEVEL, began);
        outcome?;
        let steps = k as f64;
        observer.progress(0, steps, steps)?;
        Ok((selection, levels))
    }

    fn choose(
        &mut self,
        job: &mut Job,
        observer: &mut dyn Observer,
        chosen: &mut dyn FnMut(&Choice, usize),
    ) -> Result<()> {
        let looks_at_pairs = job.criterion.looks_at_pairs();
        for step in 0..job.k {
            let within = &mut Step { observer: &mut *observer, step, steps: job.k };
            for rank in 0..self.ranks.len() {
                if job.shares.count(rank) > 0 {
                    self.turn(job, rank)?;
                }
            }
            self.collect(job, within)?;
            let Some(best) = job.hands.iter().filter_map(|hand| hand.best).max() else { break };
            let (levels, column) = job.source.column(best.feature, within)?;
            chosen(&best, levels);
            job.choices.push(best);
            job.columns.push(column);
            if looks_at_pairs && step > 0 && (step + 1).is_power_of_two() {
                self.cut_again(job, job.k - step - 1);
            }
        }
        Ok(())
    }

    /// Those that may be given something: others have to answer first.
    fn free(&self) -> Vec<usize> {
        self.live().filter(|&rank| self.queue.seats[rank].in_hand() == 0).collect()
    }

    /// Asks a rank for the best of its features after all choices.
    fn turn(&mut self, job: &mut Job, rank: usize) -> Result<()> {
        if !job.hands[rank].has_begun {
            let class = job.source.class();
            let mut bytes = Writer::default();
            let criterion = Criterion::ALL.iter().position(|&criterion| criterion == job.criterion).unwrap_or(0);
            [class.n(), job.k - 1, criterion].iter().for_each(|&number| bytes.small(number as u64));
            write_column(class, class.class(), &mut bytes);
            let request = Request::begin(job.number, &bytes.0);
            self.send(rank, &envelope::seal(request.kind(), 0, request.body()))?;
            job.hands[rank].has_begun = true;
        }
        let hand = &mut job.hands[rank];
        let work = hand.work(job.choices.len());
        let is_plain = hand.more.is_empty() && hand.less == 0;
        let mut bytes = Writer::default();
        bytes.small(hand.known as u64);
        bytes.small((job.choices.len() - hand.known) as u64);
        for (choice, column) in job.choices.iter().zip(&job.columns).skip(hand.known) {
            bytes.0.extend_from_slice(&choice.to_bytes());
            bytes.0.extend_from_slice(column);
        }
        bytes.small(std::mem::take(&mut hand.less) as u64);
        bytes.small(hand.more.len() as u64);
        hand.more.iter().for_each(|range| job.source.write(range.clone(), &mut bytes));
        hand.features.append(&mut hand.more);
        hand.known = job.choices.len();
        let of_queue = self.queue.give(Costs::of_seat(rank, work, LEVEL).into());
        let Some(piece) = self.queue.turn(rank) else { return Ok(()) };
        let request = Request::turn(job.number, &bytes.0);
        let message = envelope::seal(request.kind(), piece.task, request.body());
        let (task, since, bytes) = (piece.task, Instant::now(), message.len());
        job.hands[rank].turn = Some(Turn { task, job: of_queue, since, work, bytes, is_plain });
        self.send(rank, &message)
    }

    /// Waits until all features have a score after the last choice.
    fn collect(&mut self, job: &mut Job, observer: &mut dyn Observer) -> Result<()> {
        loop {
            if self.live().next().is_none() {
                return Err(self.nobody(MEND));
            }
            let free = self.free();
            if job.hands.iter().all(|hand| hand.turn.is_none()) {
                if let Some((_, flaw)) = job.flaw.take() {
                    return Err(flaw);
                }
                if job.spare.is_empty() {
                    return Ok(());
                }
                if !free.is_empty() {
                    let spare = std::mem::take(&mut job.spare);
                    let more = job.shares.deal(count_of(&spare), &job.shares.speeds(&free));
                    job.deal(spare, &more);
                }
                for rank in free {
                    if !job.hands[rank].more.is_empty() {
                        self.turn(job, rank)?;
                    }
                }
            } else if !free.is_empty() {
                self.set_aside(job, &free);
            }
            for news in self.link.receive(WATCH)? {
                match news {
                    News::Lost(rank, why) => self.drop_rank(job, rank, why),
                    News::Message(rank, message) => self.hear(job, rank, &message),
                }
            }
            let waiting = |hand: &Hand| if hand.turn.is_some() { 0 } else { hand.count() };
            let done: usize = job.hands.iter().map(waiting).sum();
            observer.progress(0, done as f64, job.source.p() as f64)?;
        }
    }

    /// Whoever takes longer than the others would need for its features leaves them to these, and gets nothing until it has answered.
    fn set_aside(&mut self, job: &mut Job, free: &[usize]) {
        for rank in 0..job.hands.len() {
            let hand = &job.hands[rank];
            let Some(turn) = &hand.turn else { continue };
            let elapsed = turn.since.elapsed().as_secs_f64() - turn.bytes as f64 * A_BYTE;
            // They count for them from the first choice on.
            let costs = (turn.work, (hand.count() * (job.choices.len() + 1)) as f64);
            let seats = &self.queue.seats;
            let is_late = |&other: &usize| seats[rank].pace.late(&seats[other].pace, LEVEL, costs, elapsed) > 0.0;
            if free.iter().any(is_late) {
                self.take_back(job, rank);
            }
        }
    }

    fn drop_rank(&mut self, job: &mut Job, rank: usize, why: String) {
        self.lose(rank, why);
        self.take_back(job, rank);
    }

    /// A rank has no features any more, and knows nothing.
    fn take_back(&mut self, job: &mut Job, rank: usize) {
        let hand = std::mem::take(&mut job.hands[rank]);
        if let Some(turn) = hand.turn {
            self.queue.close(turn.job);
        }
        job.spare.extend(hand.features);
        job.spare.extend(hand.more);
        job.shares.set(rank, 0);
    }

    fn hear(&mut self, job: &mut Job, rank: usize, message: &[u8]) {
        let Some((task, reply)) = self.open_reply(rank, message) else {
            if self.queue.seats[rank].is_lost {
                self.take_back(job, rank);
            }
            return;
        };
        let hand = &mut job.hands[rank];
        let Some(turn) = hand.turn.take_if(|turn| turn.task == task) else { return };
        self.queue.answered(rank, task, reply.seconds());
        self.queue.close(turn.job);
        match reply {
            Reply::Done { seconds, body } => {
                let best = <&[u8; 48]>::try_from(body).map(Choice::from_bytes);
                let is_its = |best: &Choice| hand.features.iter().any(|range| range.contains(&best.feature));
                hand.best = best.ok().filter(is_its);
                if hand.best.is_none() && !body.is_empty() {
                    return self.drop_rank(job, rank, STRANGE.into());
                }
                if turn.is_plain {
                    job.shares.enter(rank, seconds);
                }
            }
            // Choices are small.
            Reply::Aside { .. } => self.drop_rank(job, rank, STRANGE.into()),
            Reply::Failed(error @ Error::Argument { .. }) => {
                let start = hand.features.iter().map(|range| range.start).min().unwrap_or(0);
                if job.flaw.as_ref().is_none_or(|&(first, _)| start < first) {
                    job.flaw = Some((start, error));
                }
            }
            Reply::Failed(error) => self.drop_rank(job, rank, Lost::by("", &error).reason),
        }
    }

    /// Moves features from slow ranks to fast ones, with their next turns, where that pays within the `left` ones.
    fn cut_again(&self, job: &mut Job, left: usize) {
        let free = self.free();
        // What moves is counted for from the beginning.
        let (speeds, anew) = (job.shares.speeds(&free), (job.choices.len() + 1) as f64);
        let Some((gives, gains)) = job.shares.cut_again(left, &free, &|rank| anew / speeds[rank]) else { return };
        let mut moving = Vec::new();
        for (hand, gives) in job.hands.iter_mut().zip(gives) {
            moving.extend(split_last(&mut hand.features, gives));
            // Who has none left is told when it gets others.
            hand.less += gives;
            if hand.features.is_empty() {
                hand.best = None;
            }
        }
        job.deal(moving, &gains);
    }
}

impl Job<'_> {
    /// Hands features out, so many to each rank, for its next turn.
    fn deal(&mut self, mut features: Vec<Range<usize>>, counts: &[usize]) {
        for (hand, &count) in self.hands.iter_mut().zip(counts) {
            hand.more.extend(split_last(&mut features, count));
        }
    }
}
