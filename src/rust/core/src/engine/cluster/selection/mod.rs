//! One feature selection on ranks: each has features of its own, and says after each choice which of them is the best. The driver takes the best of
//! these, and tells it to all with its column: a message each way, whoever has how many features.
//!
//! The scores of a feature depend on its column and those selected before alone, so that the answer does not depend on who has which. A rank that
//! is lost, or so slow that all others wait for it, leaves its features to the others, which count for them what it has counted; where that pays
//! within the choices that are left, features move from slow ranks to fast ones in the same way.

mod data;
pub mod rank;

use std::ops::Range;
use std::time::{Duration, Instant};

use self::data::write_column;
pub use self::data::Source;
use super::message::{Reply, Request};
use super::{refused, Cluster, News, WATCH};
use crate::observer::Observer;
use crate::search::wire::{envelope, Writer};
use crate::selection::{apportion, Choice, CountLogs, Criterion, Problem, Selection, Step};
use crate::team::{Lost, Moved, Share};
use crate::{Error, Result};

/// A rank for which all others wait so many times what its turn should take is overtaken, ...
const LATE: f64 = 2.0;

/// ... after at least this time, ...
const PATIENCE: Duration = Duration::from_millis(500);

/// ... and the seconds that a byte takes to it at the most.
const A_BYTE: f64 = 1e-7;

/// Features are cut again where a turn is to take at most this share of what it takes now, ...
const WORTH: f64 = 0.9;

/// ... and all turns that are left save this many times what the move costs.
const MARGIN: f64 = 2.0;

/// Turns that took less in all, in seconds, do not tell how fast a rank is.
const SURE: f64 = 0.02;

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
    /// Seconds of its last turn by unit of work, see [`Hand::work`].
    pace: Option<f64>,
    /// Features and seconds of turns since features moved.
    counted: f64,
    seconds: f64,
    turns: u64,
}

/// A turn that is not answered yet.
struct Turn {
    task: u64,
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
        for rank in &mut self.ranks {
            (rank.moved, rank.busy) = (Moved::default(), 0.0);
        }
        let hands = self.ranks.iter().map(|_| Hand::default()).collect();
        let (choices, columns, spare) = (Vec::new(), Vec::new(), std::iter::once(0..source.p()).collect());
        let mut job = Job { source, criterion, number: self.task(), k, hands, choices, columns, spare, flaw: None };
        let mut selection = Selection::default();
        let mut levels = Vec::new();
        let problem = Problem { samples: source.class(), logs, criterion };
        let outcome = self.choose(&mut job, observer, &mut |choice, of| {
            selection.add(&problem, choice);
            levels.push(of);
        });
        let elapsed = began.elapsed().as_secs_f64();
        for (rank, hand) in self.ranks.iter_mut().zip(job.hands) {
            rank.owes.extend(hand.turn.map(|turn| turn.task));
            let (machine, shards, moved, busy) = (rank.name.clone(), hand.turns, rank.moved, rank.busy);
            self.report.enter(Share { machine, level: Some(0), shards, moved, busy, elapsed, rows: 0 });
        }
        outcome?;
        let steps = k as f64;
        observer.progress(0, steps, steps)?;
        Ok((selection, levels))
    }

    fn task(&mut self) -> u64 {
        self.next_task += 1;
        self.next_task - 1
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
                if job.hands[rank].count() + job.hands[rank].more.len() > 0 {
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
    fn free(&self, job: &Job) -> Vec<usize> {
        self.live().filter(|&rank| self.ranks[rank].owes.is_empty() && job.hands[rank].turn.is_none()).collect()
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
        let task = self.task();
        let request = Request::turn(job.number, &bytes.0);
        let message = envelope::seal(request.kind(), task, request.body());
        job.hands[rank].turn = Some(Turn { task, since: Instant::now(), work, bytes: message.len(), is_plain });
        self.send(rank, &message)
    }

    /// Waits until all features have a score after the last choice.
    fn collect(&mut self, job: &mut Job, observer: &mut dyn Observer) -> Result<()> {
        loop {
            if self.live().next().is_none() {
                return Err(self.nobody(MEND));
            }
            let free = self.free(job);
            if job.hands.iter().all(|hand| hand.turn.is_none()) {
                if let Some((_, flaw)) = job.flaw.take() {
                    return Err(flaw);
                }
                if job.spare.is_empty() {
                    return Ok(());
                }
                if !free.is_empty() {
                    let spare = std::mem::take(&mut job.spare);
                    let weights = self.speeds(job, &free);
                    job.deal(spare, &weights);
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

    /// How fast ranks are, features of a turn a second; of others than these 0.
    fn speeds(&self, job: &Job, ranks: &[usize]) -> Vec<f64> {
        let known = |rank: usize| {
            let hand = &job.hands[rank];
            (hand.counted > 0.0 && hand.seconds > 0.0).then(|| hand.counted / hand.seconds)
        };
        // Those that have counted nothing yet are beside the others what they said.
        let guess = |rank: usize| self.ranks[rank].hello.hands.max(1) as f64;
        let (sum, guessed) = ranks
            .iter()
            .filter_map(|&rank| Some((known(rank)?, guess(rank))))
            .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let unit = if guessed > 0.0 { sum / guessed } else { 1.0 };
        let mut speeds = vec![0.0; self.ranks.len()];
        ranks.iter().for_each(|&rank| speeds[rank] = known(rank).unwrap_or_else(|| guess(rank) * unit));
        speeds
    }

    /// Whoever all others have waited for for too long leaves its features to them, and gets nothing until it has answered.
    fn set_aside(&mut self, job: &mut Job, free: &[usize]) {
        let slowest = free.iter().filter_map(|&rank| job.hands[rank].pace).fold(0.0, f64::max);
        for rank in 0..job.hands.len() {
            let hand = &job.hands[rank];
            let Some(turn) = &hand.turn else { continue };
            let pace = hand.pace.unwrap_or(0.0).max(slowest);
            let expected = turn.work * pace + turn.bytes as f64 * A_BYTE;
            let waited = turn.since.elapsed();
            if pace > 0.0 && waited > PATIENCE && waited.as_secs_f64() > LATE * expected {
                self.ranks[rank].owes.push(turn.task);
                job.take_back(rank);
            }
        }
    }

    fn drop_rank(&mut self, job: &mut Job, rank: usize, why: String) {
        if !self.ranks[rank].is_lost {
            self.strike(rank, why);
            job.take_back(rank);
        }
    }

    fn hear(&mut self, job: &mut Job, rank: usize, message: &[u8]) {
        self.ranks[rank].moved.from += message.len() as u64;
        let (task, reply) = match Reply::of_message(message) {
            Ok(found) => found,
            Err(refusal) => {
                let why = refused(&self.ranks[rank].name, &refusal).to_string();
                return self.drop_rank(job, rank, why);
            }
        };
        if self.ranks[rank].owes.contains(&task) {
            return self.ranks[rank].owes.retain(|&owed| owed != task);
        }
        let hand = &mut job.hands[rank];
        let Some(turn) = hand.turn.take_if(|turn| turn.task == task) else { return };
        match reply {
            Reply::Done { seconds, body } => {
                let best = <&[u8; 48]>::try_from(body).map(Choice::from_bytes);
                let is_its = |best: &Choice| hand.features.iter().any(|range| range.contains(&best.feature));
                hand.best = best.ok().filter(is_its);
                if hand.best.is_none() && !body.is_empty() {
                    return self.drop_rank(job, rank, "it gave an answer to something else than it was asked".into());
                }
                hand.pace = Some(turn.since.elapsed().as_secs_f64() / turn.work.max(1.0));
                hand.turns += 1;
                if turn.is_plain {
                    hand.counted += turn.work;
                    hand.seconds += seconds;
                }
                self.ranks[rank].busy += seconds;
            }
            // Choices are small.
            Reply::Aside { .. } => {
                self.drop_rank(job, rank, "it gave an answer to something else than it was asked".into());
            }
            Reply::Failed(error @ Error::Argument { .. }) => {
                let start = hand.features.iter().map(|range| range.start).min().unwrap_or(0);
                if job.flaw.as_ref().is_none_or(|&(first, _)| start < first) {
                    job.flaw = Some((start, error));
                }
            }
            Reply::Failed(error) => {
                let lost = Lost::by("", &error);
                self.drop_rank(job, rank, lost.reason);
            }
        }
    }

    /// Moves features from slow ranks to fast ones, with their next turns, where that pays within the `left` ones.
    fn cut_again(&self, job: &mut Job, left: usize) {
        let free = self.free(job);
        let speeds = self.speeds(job, &free);
        let total: usize = job.hands.iter().map(Hand::count).sum();
        let seconds = job.hands.iter().map(|hand| hand.seconds).fold(0.0, f64::max);
        if seconds < SURE || speeds.iter().all(|&speed| speed == 0.0) {
            return;
        }
        let longest = |counts: &dyn Fn(usize) -> usize| {
            free.iter().map(|&rank| counts(rank) as f64 / speeds[rank]).fold(0.0, f64::max)
        };
        let wanted = apportion(total, &speeds);
        let (now, then) = (longest(&|rank| job.hands[rank].count()), longest(&|rank| wanted[rank]));
        let gain = |rank: usize| wanted[rank].saturating_sub(job.hands[rank].count());
        // What moves is counted for from the beginning.
        let cost = longest(&gain) * (job.choices.len() + 1) as f64;
        if !(then < WORTH * now && (now - then) * left as f64 > MARGIN * cost) {
            return;
        }
        let gains: Vec<f64> = (0..wanted.len()).map(|rank| gain(rank) as f64).collect();
        let mut moving = Vec::new();
        for (hand, &wanted) in job.hands.iter_mut().zip(&wanted) {
            let less = hand.count().saturating_sub(wanted);
            moving.extend(split_last(&mut hand.features, less));
            // Who has none left is told when it gets others.
            hand.less += less;
            if hand.features.is_empty() {
                hand.best = None;
            }
            (hand.counted, hand.seconds) = (0.0, 0.0);
        }
        job.deal(moving, &gains);
    }
}

impl Job<'_> {
    /// Hands features out, as many to each rank as its share says, for its next turn.
    fn deal(&mut self, mut features: Vec<Range<usize>>, shares: &[f64]) {
        let counts = apportion(count_of(&features), shares);
        for (hand, count) in self.hands.iter_mut().zip(counts) {
            hand.more.extend(split_last(&mut features, count));
        }
    }

    /// A rank has no features any more, and knows nothing.
    fn take_back(&mut self, rank: usize) {
        let hand = std::mem::take(&mut self.hands[rank]);
        self.spare.extend(hand.features);
        self.spare.extend(hand.more);
        self.hands[rank] = Hand { turns: hand.turns, ..Hand::default() };
    }
}
