//! The rank's end: a process that has the data and answers a driver's requests.

use std::time::Instant;

use super::aside::{Place, Room};
use super::message::{aside, done, failed, Asked, Hello};
use crate::ci::Batch;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::search::answer::Answers;
use crate::search::book::Book;
use crate::search::columns::Columns;
use crate::search::level::Neighbours;
use crate::search::pairs::{PairLevel, PairRows};
use crate::search::shards::{Shard, Work};
use crate::search::wire::envelope::Refusal;
use crate::search::wire::graph::Frozen;
use crate::search::wire::Writer;
use crate::search::worker::{Marginals, Worker};
use crate::{Error, Result};

/// Largest number of tests in a shard. A rank takes several shards, and the driver waits for the last one.
const SHARD_TESTS: u64 = 1 << 16;

/// A rank's record of its driver's search.
#[derive(Default)]
pub struct Rank {
    /// The number of the graph that the rank has.
    number: u64,
    graph: Option<Frozen>,
    /// The graph's neighbour lists, once a level asks for them.
    neighbours: Option<Neighbours>,
    /// The folder for large answers, if the driver is on this machine.
    place: Option<Place>,
}

/// An answer: its bytes, or the length of its file.
enum Found {
    Bytes(Vec<u8>),
    Aside(u64),
}

impl Room {
    fn found(self) -> Found {
        match self {
            Room::Memory(bytes) => Found::Bytes(bytes),
            Room::File { length, .. } => Found::Aside(length),
        }
    }
}

/// Returns a worker's handshake to a driver, as a message.
pub fn hello(worker: &mut dyn Worker) -> Vec<u8> {
    let hello = Hello {
        // A GPU takes whole rows, whatever their tests. It would leave parts of them to the CPU.
        shard_tests: if worker.is_gradual() { worker.shard_tests().min(SHARD_TESTS) } else { worker.shard_tests() },
        hands: worker.hands(),
        is_exact: worker.is_exact(),
        asks_both_sides: worker.asks_both_sides(),
        decides_pairs: worker.pairwise().is_some(),
        // Only GPUs answer a level at once.
        on_gpu: !worker.is_gradual(),
    };
    hello.to_message()
}

impl Rank {
    /// Answers a message. Returns `None` for one that needs no answer. Failures are reported to the driver, except those under Errors.
    ///
    /// # Errors
    /// [`Error::Test`] if the user's test failed, [`Error::Interrupted`], and [`Error::Cluster`] if the message is not from a driver of
    /// this version.
    pub fn answer(
        &mut self,
        worker: &mut dyn Worker,
        message: &[u8],
        observer: &mut dyn Observer,
    ) -> Result<Option<Vec<u8>>> {
        let began = Instant::now();
        let (task, asked) = Asked::of_message(message).map_err(|refusal| refused(&refusal))?;
        match self.find(worker, task, asked, observer) {
            Ok(None) => Ok(None),
            Ok(Some(Found::Bytes(body))) => Ok(Some(done(task, began.elapsed().as_secs_f64(), &body))),
            Ok(Some(Found::Aside(length))) => Ok(Some(aside(task, began.elapsed().as_secs_f64(), length))),
            Err(error @ (Error::Test { .. } | Error::Interrupted)) => Err(error),
            Err(error) => Ok(Some(failed(task, &error))),
        }
    }

    fn find(
        &mut self,
        worker: &mut dyn Worker,
        task: u64,
        asked: Asked,
        observer: &mut dyn Observer,
    ) -> Result<Option<Found>> {
        match asked {
            Asked::Folder(bytes) => {
                self.place = Place::of_bytes(bytes);
                Ok(None)
            }
            Asked::Graph { number, is_change, bytes } => {
                let before = self.graph.take().filter(|_| is_change && self.number + 1 == number);
                self.neighbours = None;
                self.graph = Frozen::from_bytes(bytes, before.as_ref());
                self.number = number;
                Ok(None)
            }
            Asked::Columns { number, is_exact, bytes } => {
                self.make_bit_rows()?;
                let pairs = self.graph(number)?.graph().ok_or_else(strange)?;
                let columns =
                    Columns::from_bytes(bytes).filter(|columns| columns.options.p == pairs.p()).ok_or_else(strange)?;
                let level = Marginals::new(&columns.options, pairs, columns.keeps);
                let bytes = columns.found(&level, is_exact, |columns| worker.marginal(&level, columns, observer))?;
                let mut room = Room::new(self.place.as_ref(), task, bytes.len())?;
                room.write(0, &bytes, worker.pool())?;
                Ok(Some(room.found()))
            }
            Asked::Pairs { number, bytes } => {
                self.make_bit_rows()?;
                let graph = self.graph(number)?.graph().ok_or_else(strange)?;
                let asked =
                    Columns::from_bytes(bytes).filter(|asked| asked.options.p == graph.p()).ok_or_else(strange)?;
                let (options, rows) = (&asked.options, asked.columns.clone());
                let count = rows.clone().map(|x| graph.degree_above(x)).sum();
                let (mut verdicts, mut values) = (memory::zeros(count, Use::Level)?, memory::zeros(count, Use::Level)?);
                let mut decided = PairRows::new(rows, &mut verdicts, &mut values);
                let pool = worker.pool().clone();
                let worker = worker.pairwise().ok_or_else(strange)?;
                worker.pairs(&PairLevel { number, options, graph }, &mut decided, observer)?;
                let mut room = Room::new(self.place.as_ref(), task, PairRows::length(graph.p(), count))?;
                decided.to_bytes(graph.p(), &pool, &mut |at, bytes| room.write(at, bytes, &pool))?;
                Ok(Some(room.found()))
            }
            Asked::Shards { number, bytes } => {
                self.graph(number)?;
                let graph = match (&mut self.neighbours, &self.graph) {
                    (Some(neighbours), _) => &*neighbours,
                    (none, Some(graph)) => none.insert(graph.clone().into_neighbours()),
                    (None, None) => return Err(strange()),
                };
                let options = Work::options_of_piece(bytes, graph.p()).ok_or_else(strange)?;
                let work = Work::piece_from_bytes(bytes, graph, &options).ok_or_else(strange)?;
                let book = Book::of_answers(&work);
                worker.answer(&work, &book, observer)?;
                crate::memory::check()?;
                let answers = book.into_answers();
                // A shard with pairs to decide must have answers.
                let has_pairs = |shard: &Shard| work.pairs_of(shard).iter().any(|(_, _, ranks)| !ranks.is_empty());
                let is_missing = |(answers, shard): (&Answers, &Shard)| {
                    answers.of_pairs.is_empty() && shard.part.is_whole() && has_pairs(shard)
                };
                if answers.iter().zip(&work.shards).any(is_missing) {
                    return Err(strange());
                }
                let mut bytes = Writer::default();
                for answers in answers {
                    let one = answers.to_bytes(&work);
                    bytes.small(one.len() as u64);
                    bytes.0.extend_from_slice(&one);
                }
                Ok(Some(Found::Bytes(bytes.0)))
            }
            Asked::Questions { p, bytes } => {
                let batch = Batch::from_bytes(bytes, p).ok_or_else(strange)?;
                let mut bytes = Writer(Vec::with_capacity(8 * batch.len()));
                worker.p_values(&batch, observer)?.into_iter().for_each(|p| bytes.float(p));
                Ok(Some(Found::Bytes(bytes.0)))
            }
            Asked::Begin { .. } | Asked::Turn { .. } => Err(strange()),
        }
    }

    /// Gives the graph its bit rows, by which levels 0 and 1 look up pairs.
    fn make_bit_rows(&mut self) -> Result<()> {
        self.graph.as_mut().map_or(Ok(()), Frozen::make_bit_rows)
    }

    fn graph(&self, number: u64) -> Result<&Frozen> {
        self.graph.as_ref().filter(|_| self.number == number).ok_or_else(strange)
    }
}

pub(super) fn strange() -> Error {
    Error::Cluster {
        message: "this worker received a message that belongs to none of its searches".into(),
        hint: "start the cluster again".into(),
    }
}

pub(super) fn refused(refusal: &Refusal) -> Error {
    let message = match refusal {
        Refusal::Damaged => "this worker received a damaged message".into(),
        Refusal::OtherVersion(version) => format!("this worker received a message from pcgpu {version}"),
    };
    Error::Cluster { message, hint: "install the same version of pcgpu on all machines".into() }
}
