//! Workers in other processes, on this machine or others, as one worker.
//!
//! Each rank has the data and its own worker ([`rank`] answers there). The driver sends each rank the graph of a level once, or its
//! changes. It then sends pieces: columns of level 0, shards or questions. The [dispatcher](super::dispatch) cuts a piece when a rank takes
//! it, so that it lasts some tenths of a second. Each rank holds two pieces, so that none waits for the connection. An answer depends on
//! its piece alone, so it does not matter which rank gives it. The other ranks take over the pieces of a lost rank. They also repeat the
//! pieces of a slow rank when nothing else is left to do. A [`Link`] carries the bytes, except large answers of ranks on this machine,
//! which go through files ([`aside`]).

mod aside;
mod jobs;
pub mod message;
pub mod rank;
pub mod selection;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::ci::Batch;
use crate::engine::dispatch::pace::Pace;
use crate::engine::dispatch::queue::{Costs, Queue, Units};
use crate::engine::dispatch::seat::{self, Seat};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::book::Book;
use crate::search::pairs::{PairLevel, PairRows, Pairwise};
use crate::search::shards::Work;
use crate::search::wire::envelope;
use crate::search::wire::graph::Frozen;
use crate::search::worker::{Column, Marginals, Worker};
use crate::team::{Lost, Moved, TeamReport};
use crate::{Error, Result};
use aside::AnswerFolder;
use jobs::{Asking, Deciding, Job, Pairing, Settling};
use message::{Hello, Reply, Request};

/// Time between two checks for news.
const WATCH: Duration = Duration::from_millis(20);

/// Largest number of pieces that a rank holds: one is on its way while the rank works on the other.
const IN_HAND: usize = 2;

/// Largest number of bytes of a message to a rank that still has something to answer. A rank that is sending its answer may not read before
/// the driver has read the answer, so both could block.
const SMALL: usize = 32 << 10;

/// Least seconds of a rank's work that is sent. The message there and back takes about as long.
const LITTLE: f64 = 0.05;

/// Units of level 0 for each rank, if a rank computes its whole part at once.
const LEVEL_ZERO_UNITS: usize = 3;

/// Hint if a search has no rank left.
const HINT: &str = "start the cluster again; a call with `checkpoint` resumes where it stopped";

/// Reason for dropping a rank that answers something it was not asked.
const STRANGE: &str = "it replied to a question that it was not asked";

/// Source of task numbers. No two clusters share a number, so that a late answer is recognised by its number.
static TASKS: AtomicU64 = AtomicU64::new(1);

/// News of the ranks.
#[derive(Debug)]
pub enum News {
    /// A message from a rank.
    Message(usize, Vec<u8>),
    /// The rank that is lost, and the reason.
    Lost(usize, String),
}

/// The connection that carries messages to and from ranks.
pub trait Link {
    /// Sends a message to a rank, by number.
    ///
    /// # Errors
    /// Errors that end the call. [`Link::receive`] reports a rank that cannot be reached.
    fn send(&mut self, rank: usize, message: &[u8]) -> Result<()>;

    /// Returns the news that has arrived, after waiting for it at most `wait`.
    ///
    /// # Errors
    /// Errors that end the call.
    fn receive(&mut self, wait: Duration) -> Result<Vec<News>>;
}

/// A rank as the cluster knows it. Its seat has the same number.
struct Rank {
    hello: Hello,
    /// The number of the graph that the rank has.
    graph: Option<u64>,
    /// Whether the rank has been sent the folder for large answers.
    knows_folder: bool,
    /// The number and message of a task that is too large to send before the rank has answered.
    ready: Option<(u64, Vec<u8>)>,
    moved: Moved,
}

/// The graph that was sent to ranks last.
struct Sent {
    number: u64,
    graph: Frozen,
    /// The bytes for a rank that has the previous graph; `whole` is for any other rank.
    change: Option<Vec<u8>>,
    whole: Option<Vec<u8>>,
}

/// Workers in other processes as one worker.
pub struct Cluster<'a> {
    link: Box<dyn Link + 'a>,
    ranks: Vec<Rank>,
    queue: Queue<Costs>,
    pool: Pool,
    sent: Option<Sent>,
    /// The worker of this process, for work that takes less time than a message.
    own: Option<Box<dyn Worker + 'a>>,
    report: TeamReport,
    why_lost: String,
    /// The folder where ranks on this machine put answers of at least `aside_from` bytes. `None` until the first request.
    folder: Option<AnswerFolder>,
    aside_from: u64,
}

impl<'a> Cluster<'a> {
    /// Makes a cluster of ranks, given by their names and handshakes. `link` counts them from 0. The driver's own work runs on `pool`.
    ///
    /// # Errors
    /// [`Error::Cluster`] if there is no rank, or a rank runs another version of this program.
    pub fn new(link: Box<dyn Link + 'a>, ranks: Vec<(String, Vec<u8>)>, pool: Pool) -> Result<Self> {
        let rank = |(name, hello): &(String, Vec<u8>)| {
            let hello = Hello::of_message(hello).map_err(|refusal| refused(name, &refusal))?;
            Ok(Rank { hello, graph: None, knows_folder: false, ready: None, moved: Moved::default() })
        };
        let of_ranks = ranks.iter().map(rank).collect::<Result<Vec<Rank>>>()?;
        let seats = ranks.into_iter().map(|(name, _)| Seat::new(name, Pace::of_rank())).collect();
        let queue = Queue::new(seats, TASKS.fetch_add(1 << 32, Ordering::Relaxed));
        let (sent, own, report, why_lost) =
            (None, None, TeamReport::default(), "the cluster was given no worker".into());
        let (folder, aside_from) = (None, aside::LARGE);
        let cluster = Cluster { link, ranks: of_ranks, queue, pool, sent, own, report, why_lost, folder, aside_from };
        cluster.live().next().map(drop).ok_or_else(|| cluster.nobody(HINT))?;
        Ok(cluster)
    }

    /// Adds a worker of this process on the same test, for work that takes less time than a message.
    pub fn set_own(&mut self, worker: Box<dyn Worker + 'a>) {
        self.own = Some(worker);
    }

    /// Returns the worker of this process if work of this cost is too little to send to ranks. It runs on the CPU, so it has about the
    /// speed of a rank on the CPU: what takes a GPU 0.01 s may take it a minute.
    fn own_for(&mut self, level: Option<usize>, cost: f64) -> Option<&mut Box<dyn Worker + 'a>> {
        let seconds = |rank: usize| self.queue.seats[rank].pace.rate(level).map(|rate| cost / rate);
        let soonest = self.live().filter_map(seconds).min_by(f64::total_cmp)?;
        let is_little = soonest < LITTLE && !self.live().any(|rank| self.ranks[rank].hello.on_gpu);
        self.own.as_mut().filter(|_| is_little)
    }

    fn live(&self) -> impl Iterator<Item = usize> + '_ {
        self.queue.live()
    }

    /// Returns whether all ranks decide pairs.
    fn decide_pairs(&self) -> bool {
        self.live().all(|rank| self.ranks[rank].hello.decides_pairs)
    }

    fn nobody(&self, hint: &str) -> Error {
        let message = format!("no worker of the cluster is left: {}", self.why_lost);
        Error::Cluster { message, hint: hint.into() }
    }

    /// Records that a rank is lost.
    fn lose(&mut self, rank: usize, why: String) {
        if self.queue.seats[rank].is_lost {
            return;
        }
        self.queue.lose(rank);
        self.ranks[rank].ready = None;
        let machine = self.queue.seats[rank].name.clone();
        self.report.lost.push(Lost { machine, reason: why.clone(), failed: true });
        self.why_lost = why;
    }

    fn send(&mut self, rank: usize, message: &[u8]) -> Result<()> {
        self.ranks[rank].moved.to += message.len() as u64;
        self.link.send(rank, message)
    }

    /// Sends a rank pieces until it holds as many as it should. Returns whether anything was sent.
    fn give(&mut self, rank: usize, job: &dyn Job) -> Result<bool> {
        let mut has_sent = false;
        loop {
            // The number of tasks that the rank has yet to answer.
            let open = self.queue.seats[rank].in_hand() - usize::from(self.ranks[rank].ready.is_some());
            if let Some((task, message)) = self.ranks[rank].ready.take() {
                if open > 0 {
                    self.ranks[rank].ready = Some((task, message));
                    return Ok(has_sent);
                }
                self.send(rank, &message)?;
                has_sent = true;
                continue;
            }
            let number = self.sent.as_ref().map_or(0, |sent| sent.number);
            let lacks_graph = job.needs_graph() && self.ranks[rank].graph != Some(number);
            if open >= IN_HAND || open > 0 && lacks_graph {
                return Ok(has_sent);
            }
            let Some(piece) = self.queue.turn(rank) else { return Ok(has_sent) };
            if lacks_graph {
                self.tell_folder(rank)?;
                self.send_graph(rank)?;
            }
            let request = job.request(number, piece.units);
            let message = envelope::seal(request.kind(), piece.task, request.body());
            if open > 0 && message.len() > SMALL {
                self.ranks[rank].ready = Some((piece.task, message));
            } else {
                self.send(rank, &message)?;
                has_sent = true;
            }
        }
    }

    /// Makes this graph the one that is sent to ranks, and returns its number.
    fn number(&mut self, graph: Frozen) -> u64 {
        let number = match &self.sent {
            Some(sent) if sent.graph == graph => return sent.number,
            Some(sent) => sent.number + 1,
            None => 1,
        };
        let before = self.sent.take().map(|sent| sent.graph);
        let whole = before.is_none().then(|| graph.to_bytes(None));
        let change = before.map(|before| graph.to_bytes(Some(&before)));
        self.sent = Some(Sent { number, graph, change, whole });
        number
    }

    /// Sends a rank the current graph, unless the rank has it.
    fn send_graph(&mut self, rank: usize) -> Result<()> {
        let Some(sent) = &mut self.sent else { return Ok(()) };
        let number = sent.number;
        if self.ranks[rank].graph == Some(number) {
            return Ok(());
        }
        let has_before = self.ranks[rank].graph.is_some_and(|has| has + 1 == number);
        let bytes = match (&sent.change, has_before) {
            (Some(change), true) => change,
            _ => sent.whole.get_or_insert_with(|| sent.graph.to_bytes(None)),
        };
        let request = Request::graph(number, has_before, bytes);
        self.ranks[rank].graph = Some(number);
        let message = envelope::seal(request.kind(), 0, request.body());
        self.send(rank, &message)
    }

    /// Runs a job on the ranks. Times and progress count for `level`.
    fn run(&mut self, job: &mut dyn Job, level: Option<usize>, observer: &mut dyn Observer) -> Result<()> {
        let began = Instant::now();
        let units = Costs::new(job.costs(), level);
        let total = units.cost(&(0..units.len()));
        let number = self.queue.give(units.into());
        let outcome = self.follow(job, number, (level, total), observer);
        self.queue.close(number);
        for rank in 0..self.ranks.len() {
            // A task that was never sent gets no answer.
            if let Some((task, _)) = self.ranks[rank].ready.take() {
                self.queue.answered(rank, task, 0.0);
            }
        }
        self.report(level, began);
        outcome
    }

    /// Reports what the ranks have done since `began`.
    fn report(&mut self, level: Option<usize>, began: Instant) {
        for (rank, seat) in self.ranks.iter_mut().zip(&mut self.queue.seats) {
            let moved = std::mem::take(&mut rank.moved);
            if !seat.is_lost || moved != Moved::default() {
                seat.worked(level, 0, moved, 0.0);
            }
        }
        seat::report(&mut self.queue.seats, began.elapsed().as_secs_f64(), &mut self.report);
    }

    fn follow(
        &mut self,
        job: &mut dyn Job,
        number: u64,
        (level, total): (Option<usize>, f64),
        observer: &mut dyn Observer,
    ) -> Result<()> {
        while !self.queue.is_done(number) {
            if self.live().next().is_none() {
                return Err(self.nobody(HINT));
            }
            let mut sent = false;
            // A rank whose piece was answered by another gets nothing until it has answered.
            for rank in self.live().filter(|&rank| !self.queue.is_behind(rank)).collect::<Vec<usize>>() {
                sent |= self.give(rank, job)?;
            }
            for news in self.link.receive(if sent { Duration::ZERO } else { WATCH })? {
                match news {
                    News::Lost(rank, why) => self.lose(rank, why),
                    News::Message(rank, message) => self.take(rank, &message, job)?,
                }
            }
            match level {
                Some(level) => {
                    let done = self.queue.done(&|_| 0.0);
                    observer.progress(level, done.min(total * (1.0 - 1e-9)), total)?
                }
                None => observer.look()?,
            }
        }
        Ok(())
    }

    /// Returns the task and reply of a message if the task is still open and this rank holds it. A rank that sends no valid reply is lost.
    fn open_reply<'m>(&mut self, rank: usize, message: &'m [u8]) -> Option<(u64, Reply<'m>)> {
        self.ranks[rank].moved.from += message.len() as u64;
        match Reply::of_message(message) {
            Ok((task, reply)) if self.queue.is_open(task) && self.queue.holders(task).any(|holder| holder == rank) => {
                Some((task, reply))
            }
            Ok((task, reply)) => {
                self.queue.answered(rank, task, reply.seconds());
                None
            }
            Err(refusal) => {
                let why = refused(&self.queue.seats[rank].name, &refusal).to_string();
                self.lose(rank, why);
                None
            }
        }
    }

    fn take(&mut self, rank: usize, message: &[u8], job: &mut dyn Job) -> Result<()> {
        let Some((task, reply)) = self.open_reply(rank, message) else { return Ok(()) };
        match reply {
            Reply::Done { seconds, body } => self.enter(rank, (task, seconds), Some(body), job)?,
            Reply::Aside { seconds, length } => {
                let map = self.folder.as_ref().and_then(|folder| folder.take(task, length));
                if map.is_none() {
                    // Something removed the file. Without the folder, ranks answer through the connection.
                    self.folder = None;
                }
                self.ranks[rank].moved.from += map.as_ref().map_or(0, |map| map.len() as u64);
                self.enter(rank, (task, seconds), map.as_deref(), job)?;
            }
            // The user's own test failed, or the user's data are at fault.
            Reply::Failed(error @ (Error::Test { .. } | Error::Numeric { .. })) => return Err(error),
            Reply::Failed(error) => self.lose(rank, Lost::by("", &error).reason),
        }
        Ok(())
    }

    /// Enters what a rank found in `seconds`. A `body` of `None` means that the rank's file is missing: the piece is asked for again.
    fn enter(
        &mut self,
        rank: usize,
        (task, seconds): (u64, f64),
        body: Option<&[u8]>,
        job: &mut dyn Job,
    ) -> Result<()> {
        let Some(piece) = self.queue.answered(rank, task, seconds) else { return Ok(()) };
        let Some(body) = body else {
            self.queue.again(piece);
            return Ok(());
        };
        if job.take(piece.units.clone(), body)?.is_none() {
            self.queue.again(piece);
            self.lose(rank, STRANGE.into());
        }
        Ok(())
    }
}

fn refused(name: &str, refusal: &envelope::Refusal) -> Error {
    let ours = envelope::version();
    let (message, hint) = match refusal {
        envelope::Refusal::OtherVersion(theirs) => (
            format!("worker {name} runs pcgpu {theirs}, but this session runs pcgpu {ours}"),
            "install the same version of pcgpu on all machines".into(),
        ),
        envelope::Refusal::Damaged => {
            (format!("worker {name} sent a damaged message"), "check the connection and the disk".into())
        }
    };
    Error::Cluster { message, hint }
}

impl Pairwise for Cluster<'_> {
    /// Returns whether level 1 goes by pairs: only in a dense graph without fixed edges, which ranks do not know.
    fn prefers_pairs(&mut self, level: &PairLevel) -> Result<bool> {
        Ok(level.options.fixed_edges.is_none() && level.is_dense())
    }

    fn pairs(&mut self, level: &PairLevel, rows: &mut PairRows, observer: &mut dyn Observer) -> Result<()> {
        self.number(Frozen::of_graph(level.graph.clone()));
        let (ranks, pool) = (self.live().count(), self.pool.clone());
        self.run(&mut Pairing::new(level, rows, ranks, pool), Some(1), observer)
    }
}

impl Worker for Cluster<'_> {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        self.live().map(|rank| self.ranks[rank].hello.shard_tests).min().unwrap_or(1)
    }

    fn hands(&self) -> usize {
        self.live().map(|rank| self.ranks[rank].hello.hands).sum()
    }

    fn asks_both_sides(&self) -> bool {
        self.live().any(|rank| self.ranks[rank].hello.asks_both_sides)
    }

    fn is_exact(&self) -> bool {
        self.live().all(|rank| self.ranks[rank].hello.is_exact)
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        self.number(Frozen::of_graph(level.pairs().clone()));
        // Values that are not kept are not sent.
        let is_exact = level.keeps() && self.is_exact();
        // A GPU computes all of level 0 at once, and returns parts of it.
        let groups = (!level.keeps() && self.decide_pairs()).then(|| LEVEL_ZERO_UNITS * self.live().count());
        self.run(&mut Settling::new(level, columns, is_exact, groups), Some(0), observer)?;
        let total = level.pairs().edge_count() as f64;
        observer.progress(0, total, total)
    }

    fn pairwise(&mut self) -> Option<&mut dyn Pairwise> {
        self.decide_pairs().then_some(self as &mut dyn Pairwise)
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        if let Some(own) = self.own_for(Some(work.size), work.cost()) {
            return own.answer(work, book, observer);
        }
        self.number(Frozen::of(work.neighbours));
        self.run(&mut Deciding::new(work, book), Some(work.size), observer)
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        if let Some(own) = self.own_for(None, batch.len() as f64) {
            return own.p_values(batch, observer);
        }
        let mut asking = Asking::new(batch);
        self.run(&mut asking, None, observer)?;
        asking.values()
    }

    fn team(&mut self) -> TeamReport {
        std::mem::take(&mut self.report)
    }
}
