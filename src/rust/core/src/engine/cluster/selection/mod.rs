//! One feature selection on ranks: each has features of its own, and says after each choice which of them is the best. The driver takes the best of
//! these, and tells it to all with its column: a message each way, whoever has how many features.
//!
//! The scores of a feature depend on its column and those selected before alone, so that the answer does not depend on who has which. A rank that
//! is lost, or so slow that all others wait for it, leaves its features to the others, which count for them what it has counted; where that pays
//! within the choices that are left, features move from slow ranks to fast ones in the same way.

mod data;
pub mod rank;

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Instant;

use self::data::write_column;
pub use self::data::Source;
use super::message::{Reply, Request};
use super::{Cluster, STRANGE, WATCH};
use crate::engine::dispatch::queue::Costs;
use crate::engine::dispatch::seat::Seat;
use crate::engine::dispatch::shares::Shares;
use crate::engine::shards::chooser::{count_of, Chooser, Counters, News};
use crate::observer::Observer;
use crate::search::wire::{envelope, Writer};
use crate::selection::{Choice, CountLogs, Criterion, Problem, Selection};
use crate::team::{Lost, Moved};
use crate::{Error, Result};

/// The seconds that a byte takes to a rank at the most.
const A_BYTE: f64 = 1e-7;

/// What turns count for.
const LEVEL: Option<usize> = Some(0);

/// What to do where no rank is left.
const HINT: &str = "start the cluster again";

/// What a rank has of a selection.
#[derive(Default)]
struct Hand {
    /// Its features, in the order in which it got them.
    features: Vec<Range<usize>>,
    has_begun: bool,
    /// How many choices it knows.
    known: usize,
    turn: Option<Turn>,
}

/// A turn that is not answered yet.
struct Turn {
    task: u64,
    job: u64,
    since: Instant,
    work: f64,
    bytes: usize,
}

/// The ranks of a selection that is under way.
struct Ranks<'c, 'a, 's> {
    cluster: &'c mut Cluster<'a>,
    source: Source<'s>,
    problem: Problem<'c>,
    number: u64,
    k: usize,
    hands: Vec<Hand>,
    news: VecDeque<News>,
    choices: Vec<Choice>,
    /// The columns of these, as bytes.
    columns: Vec<Vec<u8>>,
    selection: Selection,
    levels: Vec<usize>,
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
        let number = self.queue.number();
        // Those that have something else to answer come back later.
        let free = |seat: &Seat| (!seat.is_lost && seat.in_hand() == 0).then(Vec::new);
        let seats = self.queue.seats.iter().map(free).collect();
        let all = 0..source.p();
        let problem = Problem { samples: source.class(), logs, criterion };
        let counters = Ranks {
            cluster: &mut *self,
            problem,
            source,
            number,
            k,
            hands,
            news: VecDeque::new(),
            choices: Vec::new(),
            columns: Vec::new(),
            selection: Selection::default(),
            levels: Vec::new(),
            flaw: None,
        };
        let mut chooser = Chooser::new(counters, seats, all, shares);
        let steps = problem.steps(k);
        let outcome = chooser.choose(k, steps, observer);
        let Ranks { hands, selection, levels, .. } = chooser.counters;
        hands.into_iter().filter_map(|hand| hand.turn).for_each(|turn| self.queue.close(turn.job));
        self.report(LEVEL, began);
        outcome?;
        observer.progress(0, steps as f64, steps as f64)?;
        Ok((selection, levels))
    }
}

impl Ranks<'_, '_, '_> {
    /// Asks a rank for the best of these features after all choices.
    fn turn(&mut self, rank: usize, features: &[Range<usize>]) -> Result<()> {
        if !self.hands[rank].has_begun {
            let class = self.source.class();
            let mut bytes = Writer::default();
            let criterion = Criterion::ALL.iter().position(|&other| other == self.problem.criterion).unwrap_or(0);
            [class.n(), self.k - 1, criterion].iter().for_each(|&number| bytes.small(number as u64));
            write_column(class, class.class(), &mut bytes);
            let request = Request::begin(self.number, &bytes.0);
            self.cluster.send(rank, &envelope::seal(request.kind(), 0, request.body()))?;
            self.hands[rank].has_begun = true;
        }
        let hand = &mut self.hands[rank];
        let (same, kept) = common(&hand.features, features);
        let (more, choices) = (&features[same..], self.choices.len());
        // Features that it has, each as often as there are choices that it has not counted for, and others from the beginning.
        let work = (kept * (choices - hand.known) + count_of(more) * (choices + 1)) as f64;
        let mut bytes = Writer::default();
        bytes.small(hand.known as u64);
        bytes.small((choices - hand.known) as u64);
        for (choice, column) in self.choices.iter().zip(&self.columns).skip(hand.known) {
            bytes.0.extend_from_slice(&choice.to_bytes());
            bytes.0.extend_from_slice(column);
        }
        bytes.small((count_of(&hand.features) - kept) as u64);
        bytes.small(more.len() as u64);
        more.iter().for_each(|range| self.source.write(range.clone(), &mut bytes));
        (hand.features, hand.known) = (features.to_vec(), choices);
        let job = self.cluster.queue.give(Costs::of_seat(rank, work, LEVEL).into());
        let Some(piece) = self.cluster.queue.turn(rank) else { return Ok(()) };
        let request = Request::turn(self.number, &bytes.0);
        let message = envelope::seal(request.kind(), piece.task, request.body());
        let (task, since, bytes) = (piece.task, Instant::now(), message.len());
        self.hands[rank].turn = Some(Turn { task, job, since, work, bytes });
        self.cluster.send(rank, &message)
    }

    /// A rank that takes longer than another would need for its features.
    fn late(&self) -> Option<usize> {
        let (seats, choices) = (&self.cluster.queue.seats, self.choices.len());
        let free = || self.cluster.live().filter(|&rank| seats[rank].in_hand() == 0);
        (0..self.hands.len()).find(|&rank| {
            let hand = &self.hands[rank];
            let Some(turn) = &hand.turn else { return false };
            let elapsed = turn.since.elapsed().as_secs_f64() - turn.bytes as f64 * A_BYTE;
            // The other counts for them from the first choice on.
            let costs = (turn.work, (count_of(&hand.features) * (choices + 1)) as f64);
            free().any(|other| seats[rank].pace.late(&seats[other].pace, LEVEL, costs, elapsed) > 0.0)
        })
    }

    /// A rank leaves its features to others, and knows nothing any more.
    fn leave(&mut self, rank: usize) {
        if let Some(turn) = std::mem::take(&mut self.hands[rank]).turn {
            self.cluster.queue.close(turn.job);
        }
        self.news.push_back(News::Left { seat: rank });
    }

    fn lose(&mut self, rank: usize, why: String) {
        self.cluster.lose(rank, why);
        self.leave(rank);
    }

    fn hear(&mut self, rank: usize, message: &[u8]) {
        let Some((task, reply)) = self.cluster.open_reply(rank, message) else {
            let seat = &self.cluster.queue.seats[rank];
            match (seat.is_lost, seat.in_hand()) {
                (true, _) => self.leave(rank),
                (false, 0) => self.news.push_back(News::Back { seat: rank }),
                _ => {}
            }
            return;
        };
        let hand = &mut self.hands[rank];
        let Some(turn) = hand.turn.take_if(|turn| turn.task == task) else { return };
        let seconds = reply.seconds();
        self.cluster.queue.answered(rank, task, seconds);
        self.cluster.queue.close(turn.job);
        let best = match reply {
            Reply::Done { body: [], .. } => None,
            Reply::Done { body, .. } => {
                let best = <&[u8; 48]>::try_from(body).map(Choice::from_bytes);
                let is_its = |best: &Choice| hand.features.iter().any(|range| range.contains(&best.feature));
                let Some(best) = best.ok().filter(is_its) else { return self.lose(rank, STRANGE.into()) };
                Some(best)
            }
            // Choices are small.
            Reply::Aside { .. } => return self.lose(rank, STRANGE.into()),
            Reply::Failed(error @ Error::Argument { .. }) => {
                let start = hand.features.iter().map(|range| range.start).min().unwrap_or(0);
                if self.flaw.as_ref().is_none_or(|&(first, _)| start < first) {
                    self.flaw = Some((start, error));
                }
                None
            }
            Reply::Failed(error) => return self.lose(rank, Lost::by("", &error).reason),
        };
        self.news.push_back(News::Counted { seat: rank, best, seconds });
    }
}

impl Counters for Ranks<'_, '_, '_> {
    fn order(&mut self, orders: Vec<(usize, &[Range<usize>])>, _last: Option<Choice>) -> Result<()> {
        orders.into_iter().try_for_each(|(rank, features)| self.turn(rank, features))
    }

    fn next(&mut self, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<News> {
        loop {
            if let Some(news) = self.news.pop_front() {
                return Ok(news);
            }
            if self.cluster.live().next().is_none() {
                return Err(self.cluster.nobody(HINT));
            }
            if let Some(rank) = self.late() {
                self.leave(rank);
                continue;
            }
            for news in self.cluster.link.receive(WATCH)? {
                match news {
                    super::News::Lost(rank, why) => self.lose(rank, why),
                    super::News::Message(rank, message) => self.hear(rank, &message),
                }
            }
            let rest = self.hands.iter().filter(|hand| hand.turn.is_none());
            watch(rest.map(|hand| count_of(&hand.features)).sum::<usize>() as f64)?;
        }
    }

    fn end(&mut self) -> Result<()> {
        self.flaw.take().map_or(Ok(()), |(_, flaw)| Err(flaw))
    }

    fn chosen(&mut self, choice: Choice, observer: &mut dyn Observer) -> Result<()> {
        let (levels, column) = self.source.column(choice.feature, observer)?;
        self.selection.add(&self.problem, &choice);
        self.levels.push(levels);
        self.choices.push(choice);
        self.columns.push(column);
        Ok(())
    }

    /// What moves is counted for from the beginning.
    fn cost(&self, _rank: usize, speed: f64) -> f64 {
        (self.choices.len() + 1) as f64 / speed
    }
}

/// How many of the ranges begin as before, of which the last may have become shorter; and how many features they have.
fn common(before: &[Range<usize>], now: &[Range<usize>]) -> (usize, usize) {
    let (mut same, mut kept) = (0, 0);
    for (before, now) in before.iter().zip(now) {
        if before.start != now.start || before.end < now.end {
            break;
        }
        (same, kept) = (same + 1, kept + now.len());
        if before.end != now.end {
            break;
        }
    }
    (same, kept)
}
