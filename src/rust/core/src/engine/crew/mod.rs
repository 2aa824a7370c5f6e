//! Several machines with one test on them, as one worker: each batch of questions is cut into pieces, and whoever is free takes the
//! next.
//!
//! Members are askers (`batched`): GPUs, and the CPU beside them. Each has a thread while a level or a batch is answered; the calling
//! thread makes rounds of questions and follows. `queue` has what is to be asked and who has what in hand, `pace` how much each takes. A
//! reply depends on its question alone, so nothing depends on who gives it. A member whose device fails is left out from then on, and
//! others do what it had in hand.

mod pace;
mod queue;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::ci::Batch;
use crate::engine::batched::{self, Asker, Desk, Reply};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::book::Book;
use crate::search::shards::Work;
use crate::search::sweep::{Sweep, Sweeper, Swept};
use crate::search::worker::{Column, Marginals, Worker};
use crate::team::{Lost, Share, TeamReport};
use crate::{DeviceError, Error, Result};
use pace::Pace;
use queue::{Did, Piece, Questions, Queue, Turn};

/// Time between two looks of the calling thread.
const WATCH: Duration = Duration::from_millis(20);

/// Time after which a member with nothing to do asks again.
const AGAIN: Duration = Duration::from_millis(5);

/// Stack of a member's thread in bytes.
const STACK: usize = 2 << 20;

/// A machine of a crew.
struct Member<'a> {
    name: String,
    asker: Box<dyn Asker + Send + 'a>,
}

/// Several machines as one worker.
///
/// Its answers are those of each member alone, which must agree to the last bit.
pub struct Crew<'a> {
    members: Vec<Member<'a>>,
    pool: Pool,
    paces: Vec<Pace>,
    working: Vec<bool>,
    /// Why the last member that failed did.
    failure: Option<DeviceError>,
    report: TeamReport,
}

impl<'a> Crew<'a> {
    /// A crew without members; the threads are those of what the calling thread does besides.
    pub fn new(pool: Pool) -> Self {
        let (members, paces, working, failure, report) = Default::default();
        Crew { members, pool, paces, working, failure, report }
    }

    /// With one more machine, of this name in what the crew says of itself ("cpu", "cuda:0").
    pub fn with(mut self, name: impl Into<String>, asker: impl Asker + Send + 'a) -> Self {
        self.paces.push(Pace::new(asker.batch()));
        self.working.push(true);
        self.members.push(Member { name: name.into(), asker: Box::new(asker) });
        self
    }

    /// The threads for a CPU that works beside so many cards: each card needs one to be kept busy, and the calling thread, which makes the
    /// questions.
    pub fn threads_beside(pool: &Pool, cards: usize) -> Pool {
        Pool::at_most(pool.threads().saturating_sub(2 * cards + 1).max(1))
    }

    /// Without a machine that could not be had, and why: it counts as one that failed.
    pub fn without(mut self, name: impl Into<String>, error: DeviceError) -> Self {
        self.report.lost.push(Lost::by(name, &Error::Device(error.clone())));
        self.failure = Some(error);
        self
    }

    /// The bytes of device memory that each member has planned, by its name and by use.
    pub fn memory_plans(&self) -> Vec<(String, Vec<(&'static str, u64)>)> {
        self.members.iter().map(|member| (member.name.clone(), member.asker.planned())).collect()
    }

    /// Runs `run` with all members at work on what it gives to the desk.
    fn together<T>(&mut self, run: impl FnOnce(&mut dyn Desk) -> Result<T>) -> Result<T> {
        if !self.working.contains(&true) {
            return Err(self.nobody());
        }
        let began = Instant::now();
        let queue = Queue::new(std::mem::take(&mut self.paces), std::mem::take(&mut self.working));
        let room = Room::new(queue, self.members.len());
        let outcome = std::thread::scope(|scope| {
            // Also where `run` panics: the scope waits for all threads.
            let _closing = Closing(&room);
            let works = room.locked().queue.members().collect::<Vec<usize>>();
            for (number, member) in self.members.iter_mut().enumerate().filter(|(number, _)| works.contains(number)) {
                let thread = std::thread::Builder::new().name(format!("pcgpu-{}", member.name)).stack_size(STACK);
                let (room, asker) = (&room, &mut *member.asker);
                let serve = move || room.serve(number, asker);
                if thread.spawn_scoped(scope, serve).is_err() {
                    return Err(Use::Threads.error(STACK));
                }
            }
            run(&mut Front { room: &room, looked: Instant::now() })
        });
        let State { queue, lost, panic, .. } = room.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (number, error) in lost {
            self.report.lost.push(Lost::by(self.members[number].name.clone(), &Error::Device(error.clone())));
            self.failure = Some(error);
        }
        let did;
        (self.paces, self.working, did) = queue.end();
        self.enter(&did, began.elapsed().as_secs_f64());
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        outcome
    }

    /// Enters what was done in `elapsed` seconds, by member and size of the sets. Where sizes were mixed each has its share of the time.
    fn enter(&mut self, did: &[BTreeMap<usize, Did>], elapsed: f64) {
        let mut busy: BTreeMap<usize, f64> = BTreeMap::new();
        did.iter().flatten().for_each(|(&size, did)| *busy.entry(size).or_default() += did.seconds);
        let all: f64 = busy.values().sum();
        for (number, did) in did.iter().enumerate().filter(|(number, did)| self.working[*number] || !did.is_empty()) {
            for (&level, &of_level) in &busy {
                let Did { shards, moved, seconds } = did.get(&level).copied().unwrap_or_default();
                let machine = self.members[number].name.clone();
                let elapsed = if busy.len() == 1 { elapsed } else { elapsed * of_level / all.max(1e-9) };
                let share = Share { machine, level: Some(level), shards, moved, busy: seconds, elapsed, rows: 0 };
                self.report.enter(share);
            }
        }
    }

    /// The error where no member is left.
    fn nobody(&self) -> Error {
        match &self.failure {
            Some(failure) => Error::Device(failure.clone()),
            None => Error::Argument {
                argument: "device",
                value: "has no machine".into(),
                mend: "name the CPU, a GPU, or several".into(),
            },
        }
    }

    /// The member that sweeps.
    fn sweeping(&mut self) -> Option<usize> {
        let works = &self.working;
        self.members
            .iter_mut()
            .enumerate()
            .rposition(|(number, member)| works[number] && member.asker.sweeper().is_some())
    }

    fn replies(&mut self, batch: &Batch, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        let total = batch.len().max(1) as f64;
        self.together(|desk| {
            desk.give(batch.clone())?;
            desk.take(&mut |answered| watch(answered / total))
        })
    }
}

impl Worker for Crew<'_> {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn shard_tests(&self) -> u64 {
        batched::SHARD_TESTS
    }

    fn marginal(&mut self, level: &Marginals, columns: Vec<Column>, observer: &mut dyn Observer) -> Result<()> {
        self.together(|desk| batched::marginal_at(desk, level, columns, observer))
    }

    fn is_gradual(&self) -> bool {
        false
    }

    fn answer(&mut self, work: &Work, book: &Book, observer: &mut dyn Observer) -> Result<()> {
        self.together(|desk| batched::answer_at(desk, work, book, observer))
    }

    fn p_values(&mut self, batch: &Batch, observer: &mut dyn Observer) -> Result<Vec<f64>> {
        let replies = self.replies(batch, &mut |_| observer.look())?;
        batched::values(replies, batch)
    }

    /// By use, over all members; [`Crew::memory_plans`] has those of each.
    fn memory_plan(&self) -> Vec<(&'static str, u64)> {
        let mut all: Vec<(&'static str, u64)> = Vec::new();
        for (what, bytes) in self.members.iter().flat_map(|member| member.asker.planned()) {
            match all.iter_mut().find(|(known, _)| *known == what) {
                Some((_, sum)) => *sum += bytes,
                None => all.push((what, bytes)),
            }
        }
        all
    }

    fn team(&mut self) -> TeamReport {
        std::mem::take(&mut self.report)
    }

    fn sweeper(&mut self) -> Option<&mut dyn Sweeper> {
        match self.sweeping() {
            Some(_) => Some(self),
            None => None,
        }
    }
}

/// One member sweeps: the last, as cards come behind the CPU, of which the others would be a small part.
impl Sweeper for Crew<'_> {
    fn takes(&mut self, candidates: usize, size: usize, largest: usize) -> Option<usize> {
        let number = self.sweeping()?;
        self.members[number].asker.sweeper()?.takes(candidates, size, largest)
    }

    fn sweep(&mut self, sweeps: &[Sweep], rules: (f64, bool), observer: &mut dyn Observer) -> Result<Vec<Swept>> {
        while let Some(number) = self.sweeping() {
            let Member { name, asker } = &mut self.members[number];
            let Some(sweeper) = asker.sweeper() else { break };
            match sweeper.sweep(sweeps, rules, observer) {
                Err(Error::Device(error)) => {
                    self.report.lost.push(Lost::by(name.clone(), &Error::Device(error.clone())));
                    self.working[number] = false;
                    self.failure = Some(error);
                }
                outcome => return outcome,
            }
        }
        Err(self.nobody())
    }
}

/// What the threads of a run share.
struct State {
    queue: Queue,
    /// Whether nothing more is asked.
    closed: bool,
    /// Those that failed, and why.
    lost: Vec<(usize, DeviceError)>,
    /// Why the run is to end.
    ended: Option<Error>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Where members take work and bring what they have done.
struct Room {
    state: Mutex<State>,
    /// There is work, or no more; for members.
    work: Condvar,
    /// Something is done, or went wrong; for the calling thread.
    news: Condvar,
    /// Whether all are to stop.
    stop: AtomicBool,
    /// By member: whether another has answered what it has in hand, and the share of that which it has done (the bits of an f64).
    dropped: Vec<AtomicBool>,
    shares: Vec<AtomicU64>,
}

impl Room {
    fn new(queue: Queue, members: usize) -> Self {
        Room {
            state: Mutex::new(State { queue, closed: false, lost: Vec::new(), ended: None, panic: None }),
            work: Condvar::new(),
            news: Condvar::new(),
            stop: AtomicBool::new(false),
            dropped: (0..members).map(|_| AtomicBool::new(false)).collect(),
            shares: (0..members).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece for a member; none once all is done.
    fn next(&self, member: usize) -> Option<Piece> {
        let mut state = self.locked();
        loop {
            if state.closed {
                return None;
            }
            if let Turn::Take(piece) = state.queue.turn(member) {
                self.shares[member].store(0, Ordering::Relaxed);
                self.dropped[member].store(false, Ordering::Relaxed);
                return Some(piece);
            }
            state = self.work.wait_timeout(state, AGAIN).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What a member does on its thread.
    fn serve(&self, member: usize, asker: &mut dyn Asker) {
        while let Some(piece) = self.next(member) {
            let (began, before) = (Instant::now(), asker.moved());
            let mut watch = |share: f64| {
                self.shares[member].store(share.clamp(0.0, 1.0).to_bits(), Ordering::Relaxed);
                if self.stop.load(Ordering::Relaxed) || self.dropped[member].load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                Ok(())
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let replies = asker.ask(&piece.questions.part(&piece.places)?, &mut watch)?;
                assert_eq!(replies.len(), piece.places.len(), "a reply to each question");
                Ok(replies)
            }));
            let (seconds, moved) = (began.elapsed().as_secs_f64(), asker.moved() - before);
            let mut state = self.locked();
            state.queue.spent(member, piece.size, moved, seconds);
            match outcome {
                Ok(Ok(replies)) => {
                    for other in state.queue.done(member, replies) {
                        self.dropped[other].store(true, Ordering::Relaxed);
                    }
                    self.news.notify_all();
                }
                Ok(Err(Error::Interrupted)) if state.queue.is_dropped(member) => {}
                Ok(Err(Error::Device(error))) => {
                    state.queue.lose(member);
                    if state.queue.working() == 0 {
                        state.ended.get_or_insert(Error::Device(error.clone()));
                    }
                    state.lost.push((member, error));
                    self.work.notify_all();
                    return self.news.notify_all();
                }
                Ok(Err(error)) => {
                    state.ended.get_or_insert(error);
                    return self.news.notify_all();
                }
                Err(panic) => {
                    state.ended.get_or_insert(Error::Interrupted);
                    state.panic.get_or_insert(panic);
                    return self.news.notify_all();
                }
            }
        }
    }

    /// Questions that are answered, and the shares of those in hand.
    fn answered(&self, state: &State) -> f64 {
        let share = |member: usize| f64::from_bits(self.shares[member].load(Ordering::Relaxed));
        state.queue.answered() as f64
            + state.queue.in_hand().map(|(member, count)| share(member) * count as f64).sum::<f64>()
    }
}

/// Ends a run for all its members.
struct Closing<'a>(&'a Room);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
        self.0.locked().closed = true;
        self.0.work.notify_all();
    }
}

/// The crew as the calling thread sees it.
struct Front<'a> {
    room: &'a Room,
    looked: Instant,
}

impl Desk for Front<'_> {
    fn batch(&self) -> usize {
        self.room.locked().queue.batch()
    }

    fn ahead(&self) -> usize {
        2
    }

    fn give(&mut self, batch: Batch) -> Result<()> {
        let questions = Questions::new(batch)?;
        self.room.locked().queue.give(questions);
        self.room.work.notify_all();
        Ok(())
    }

    fn take(&mut self, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<Vec<Reply>> {
        let mut state = self.room.locked();
        loop {
            if let Some(error) = &state.ended {
                return Err(error.clone());
            }
            let since = self.looked.elapsed();
            if since >= WATCH {
                let answered = self.room.answered(&state);
                drop(state);
                memory::check()?;
                watch(answered)?;
                self.looked = Instant::now();
                state = self.room.locked();
            }
            if let Some(replies) = state.queue.take() {
                return Ok(replies);
            }
            let wait = WATCH.saturating_sub(self.looked.elapsed());
            state = self.room.news.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
