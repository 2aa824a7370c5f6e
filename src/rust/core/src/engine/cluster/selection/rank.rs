//! A rank of a selection: the scores of its features, and the best of them.
//!
//! Features that arrive together form a piece. Each piece has its own thread until the selection ends: samples, scores and machine lie on
//! the thread's stack. Features that arrive later are scored from the first choice on, because the rank knows all choices.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::data::{read_variable, Given};
use crate::ci::discrete::{Lent, Variable};
use crate::engine::cluster::message::{done, failed, Asked, Hello};
use crate::engine::cluster::rank::{refused, strange};
use crate::engine::cpu::selection::CpuCounting;
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::wire::Reader;
use crate::selection::{Choice, CountLogs, Counting, Criterion, Samples, Selector};
use crate::{DeviceError, DeviceKind, Error, Result};

/// Time between two checks of the thread that has the observer.
const WATCH: Duration = Duration::from_millis(20);

/// Constructor of a machine that counts all features of some samples. It runs on the thread that then counts.
pub type Make = Arc<dyn for<'s> Fn(&'s Samples, &'s CountLogs) -> Result<Box<dyn Counting + 's>> + Send + Sync>;

/// Returns the constructor of a machine that counts on the CPU's threads.
pub fn on_threads(pool: Pool) -> Make {
    Arc::new(move |samples, logs| Ok(Box::new(CpuCounting::new(samples, logs, 0..samples.p(), pool.clone()))))
}

/// A process that selects among its own features, as a driver asks.
pub struct SelectionRank {
    make: Make,
    /// Threads that make the columns of a file discrete.
    pool: Pool,
    /// A guess of the rank's speed relative to one CPU thread.
    speed: usize,
    task: Option<Task>,
}

/// A running selection.
struct Task {
    number: u64,
    criterion: Criterion,
    class: Variable,
    logs: Arc<CountLogs>,
    /// The columns of the selected features, in the order of selection.
    lent: Lent,
    choices: Vec<Choice>,
    pieces: Vec<Piece>,
}

impl SelectionRank {
    /// Makes a rank whose machines come from `make`.
    pub fn new(make: Make, pool: Pool, speed: usize) -> Self {
        SelectionRank { make, pool, speed, task: None }
    }

    /// Returns the handshake to a driver, as a message.
    pub fn hello(&self) -> Vec<u8> {
        Hello {
            shard_tests: 1,
            hands: self.speed,
            is_exact: true,
            asks_both_sides: false,
            decides_pairs: false,
            on_gpu: false,
        }
        .to_message()
    }

    /// Answers a message. Returns `None` for one that needs no answer. Failures are reported to the driver, except those under Errors.
    ///
    /// # Errors
    /// [`Error::Interrupted`], and [`Error::Cluster`] if the message is not from a driver of this version.
    pub fn answer(&mut self, message: &[u8], observer: &mut dyn Observer) -> Result<Option<Vec<u8>>> {
        let began = Instant::now();
        let (task, asked) = Asked::of_message(message).map_err(|refusal| refused(&refusal))?;
        let found = match asked {
            Asked::Begin { number, bytes } => {
                self.task = Task::read(number, bytes);
                return Ok(None);
            }
            Asked::Turn { number, bytes } => self.turn(number, bytes, observer),
            _ => Err(strange()),
        };
        match found {
            Ok(best) => {
                let best = best.map_or_else(Vec::new, |best| best.to_bytes().to_vec());
                Ok(Some(done(task, began.elapsed().as_secs_f64(), &best)))
            }
            Err(error) => {
                // After a failure this rank stops: the driver gives its features to others.
                self.task = None;
                match error {
                    Error::Interrupted => Err(error),
                    error => Ok(Some(failed(task, &error))),
                }
            }
        }
    }

    fn turn(&mut self, number: u64, bytes: &[u8], observer: &mut dyn Observer) -> Result<Option<Choice>> {
        let task = self.task.as_mut().filter(|task| task.number == number).ok_or_else(strange)?;
        let mut reader = Reader(bytes);
        task.enter(&mut reader).ok_or_else(strange)?;
        let count = reader.small().ok_or_else(strange)?;
        for _ in 0..count {
            let given = Given::read(&mut reader, task.class.codes().len()).ok_or_else(strange)?;
            let start = given.start;
            let samples = given.samples(&task.class, task.lent.clone(), &self.pool, observer)?;
            task.pieces.push(Piece::start(start, samples, task.logs.clone(), task.criterion, self.make.clone())?);
        }
        reader.end(()).ok_or_else(strange)?;
        let mut best = None;
        for piece in &mut task.pieces {
            best = best.max(piece.best(&task.choices, observer)?);
        }
        memory::check()?;
        Ok(best)
    }
}

impl Task {
    fn read(number: u64, bytes: &[u8]) -> Option<Self> {
        let mut bytes = Reader(bytes);
        let (n, slots) = (bytes.small_index()?, bytes.small_index()?);
        let criterion = Criterion::from_name(bytes.text()?, [bytes.float()?, bytes.float()?])?;
        let class = read_variable(&mut bytes, n)?;
        // Memory for two tables by count, and for the columns of the selected features.
        memory::room(24 * n + slots.checked_mul(n + size_of::<Variable>())?, Use::Features).ok()?;
        let (logs, lent) = (Arc::new(CountLogs::new(n)), Lent::new(slots));
        bytes.end(Task { number, criterion, class, logs, lent, choices: Vec::new(), pieces: Vec::new() })
    }

    /// Reads the choices since the last turn, and drops the last features, which other ranks take over. The message has the number of
    /// these.
    fn enter(&mut self, bytes: &mut Reader) -> Option<()> {
        (bytes.small_index()? == self.choices.len()).then_some(())?;
        for _ in 0..bytes.small()? {
            let choice = Choice::from_bytes(bytes.take(48)?.try_into().ok()?);
            let column = read_variable(bytes, self.class.codes().len())?;
            self.lent.put(self.choices.len(), column).then_some(())?;
            self.choices.push(choice);
        }
        let mut less = bytes.small_index()?;
        while less > 0 {
            let piece = self.pieces.last_mut()?;
            if piece.count <= less {
                less -= piece.count;
                self.pieces.pop();
            } else {
                piece.narrow(piece.count - less);
                less = 0;
            }
        }
        Some(())
    }
}

/// An order to the thread of a piece.
enum Order {
    /// Take these choices as selected, and return the best feature after them.
    Best(Vec<Choice>),
    /// Keep this many features, the first ones.
    Narrow(usize),
}

/// Features that arrived together.
struct Piece {
    /// The number of the first feature; `count` is how many there are.
    start: usize,
    count: usize,
    /// Number of choices that the piece knows.
    known: usize,
    orders: Option<Sender<Order>>,
    answers: Receiver<Result<Option<Choice>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Piece {
    fn start(start: usize, samples: Samples, logs: Arc<CountLogs>, criterion: Criterion, make: Make) -> Result<Self> {
        let (orders, ordered) = channel();
        let (answer, answers) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (count, stopped) = (samples.p(), stop.clone());
        let of = Of { start, samples, logs, criterion, make };
        let body = move || of.serve(&ordered, &answer, &stopped);
        let thread = std::thread::Builder::new().name("pcgpu-features".into()).spawn(body);
        let thread = Some(thread.map_err(|_| Use::Threads.error(2 << 20))?);
        Ok(Piece { start, count, known: 0, orders: Some(orders), answers, stop, thread })
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // If the thread has ended, there is no answer.
            let _ = orders.send(order);
        }
    }

    fn narrow(&mut self, count: usize) {
        self.count = count;
        self.order(Order::Narrow(count));
    }

    fn best(&mut self, choices: &[Choice], observer: &mut dyn Observer) -> Result<Option<Choice>> {
        self.order(Order::Best(choices[self.known..].to_vec()));
        self.known = choices.len();
        loop {
            match self.answers.recv_timeout(WATCH) {
                Ok(best) => return best,
                Err(RecvTimeoutError::Timeout) => observer.look()?,
                Err(RecvTimeoutError::Disconnected) => {
                    let message = format!("its thread for features {} and later ended unexpectedly", self.start + 1);
                    return Err(Error::Device(DeviceError { kind: DeviceKind::Failed, message, hint: String::new() }));
                }
            }
        }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.orders = None;
        // The thread that used the machine's memory releases it, before others take it.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An observer that stops a piece that is no longer wanted.
struct Wanted<'a>(&'a AtomicBool);

impl Observer for Wanted<'_> {
    fn progress(&mut self, _level: usize, _done: f64, _total: f64) -> Result<()> {
        self.look()
    }

    fn look(&mut self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

/// The data of a piece's thread.
struct Of {
    start: usize,
    samples: Samples,
    logs: Arc<CountLogs>,
    criterion: Criterion,
    make: Make,
}

impl Of {
    fn serve(&self, orders: &Receiver<Order>, answers: &Sender<Result<Option<Choice>>>, stop: &AtomicBool) {
        let Of { start, samples, logs, criterion, make } = self;
        let mut selector = Selector::new(samples, logs, *criterion, 0..samples.p());
        let mut machine: Option<Box<dyn Counting + '_>> = None;
        let mut known = 0;
        for order in orders {
            let choices = match order {
                Order::Narrow(count) => {
                    drop(selector.split_off(count));
                    if let Some(machine) = &mut machine {
                        machine.narrow(count);
                    }
                    continue;
                }
                Order::Best(choices) => choices,
            };
            let run = || {
                let machine = match &mut machine {
                    Some(machine) => machine,
                    none => none.insert(make(samples, logs)?),
                };
                let mut wanted = Wanted(stop);
                for choice in choices {
                    selector.prepare(&mut **machine, &mut wanted)?;
                    // Features of this piece have local numbers here; others have the numbers of their places in `lent`.
                    let own = choice.feature.checked_sub(*start).filter(|own| selector.range().contains(own));
                    let feature = own.unwrap_or_else(|| samples.lent(known));
                    selector.take(&Choice { feature, ..choice });
                    known += 1;
                }
                selector.prepare(&mut **machine, &mut wanted)?;
                Ok(selector.best().map(|best| Choice { feature: start + best.feature, ..best }))
            };
            if answers.send(run()).is_err() {
                return;
            }
        }
    }
}
