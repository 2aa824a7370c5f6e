//! One feature selection on ranks. Each rank has its own features, and reports the best of them after each choice. The driver takes the
//! best of these and sends it to all ranks with its column. That takes one message each way per choice, however the features are
//! distributed.
//!
//! The scores of a feature depend only on its column and the features selected before. So the answer does not depend on which rank has
//! which feature. A rank that is lost leaves its features to the others, which count them from the start. So does a rank that is so slow
//! that all others wait for it. Features also move from slow ranks to fast ones if that pays within the choices that are left.

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

/// Most seconds that a byte takes to reach a rank.
const A_BYTE: f64 = 1e-7;

/// The level for which turns are timed.
const LEVEL: Option<usize> = Some(0);

/// Hint if no rank is left.
const HINT: &str = "start the cluster again";

/// A rank's state in a selection.
#[derive(Default)]
struct Hand {
    /// The rank's features, in the order in which it got them.
    features: Vec<Range<usize>>,
    has_begun: bool,
    /// The number of choices that the rank knows.
    known: usize,
    turn: Option<Turn>,
}

/// A turn that has not been answered yet.
struct Turn {
    task: u64,
    job: u64,
    since: Instant,
    work: f64,
    bytes: usize,
}

/// The ranks of a running selection.
struct Ranks<'c, 'a, 's> {
    cluster: &'c mut Cluster<'a>,
    source: Source<'s>,
    problem: Problem<'c>,
    number: u64,
    k: usize,
    hands: Vec<Hand>,
    news: VecDeque<News>,
    choices: Vec<Choice>,
    /// The columns of the choices, as bytes.
    columns: Vec<Vec<u8>>,
    selection: Selection,
    levels: Vec<usize>,
    /// A flaw in the data, with the first column of the rank's features. The flaw with the smallest column is kept.
    flaw: Option<(usize, Error)>,
}

impl Cluster<'_> {
    /// Selects `k` features and returns them with their numbers of levels. `k` must be between 1 and the number of features. `logs` must be
    /// for the number of samples.
    ///
    /// # Errors
    /// [`Error::Cluster`] if no rank is left, [`Error::Argument`] if a column has no codes, and errors of the observer.
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
        // Ranks that still have something else to answer join later.
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
            let (criterion, weights) = self.problem.criterion.name();
            [class.n(), self.k - 1].iter().for_each(|&number| bytes.small(number as u64));
            bytes.text(criterion);
            weights.iter().for_each(|&weight| bytes.float(weight));
            write_column(class, class.class(), &mut bytes);
            let request = Request::begin(self.number, &bytes.0);
            self.cluster.send(rank, &envelope::seal(request.kind(), 0, request.body()))?;
            self.hands[rank].has_begun = true;
        }
        let hand = &mut self.hands[rank];
        let (same, kept) = common(&hand.features, features);
        let (more, choices) = (&features[same..], self.choices.len());
        // Features that the rank has are counted once for each new choice, new features from the first choice on.
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

    /// Returns a rank that needs longer than another rank would for its features, if there is one.
    fn late(&self) -> Option<usize> {
        let (seats, choices) = (&self.cluster.queue.seats, self.choices.len());
        let free = || self.cluster.live().filter(|&rank| seats[rank].in_hand() == 0);
        (0..self.hands.len()).find(|&rank| {
            let hand = &self.hands[rank];
            let Some(turn) = &hand.turn else { return false };
            let elapsed = turn.since.elapsed().as_secs_f64() - turn.bytes as f64 * A_BYTE;
            // The other rank counts them from the first choice on.
            let costs = (turn.work, (count_of(&hand.features) * (choices + 1)) as f64);
            free().any(|other| seats[rank].pace.late(&seats[other].pace, LEVEL, costs, elapsed) > 0.0)
        })
    }

    /// Gives a rank's features to others, and resets what it knows.
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
            // Choices are too small for a file.
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

    /// Returns the cost of a feature that moves: it is counted from the first choice on.
    fn cost(&self, _rank: usize, speed: f64) -> f64 {
        (self.choices.len() + 1) as f64 / speed
    }
}

/// Returns how many ranges begin as before, and how many features these have. The last one may have become shorter.
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
