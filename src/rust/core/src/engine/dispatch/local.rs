//! Several machines of this process. Each has a thread while there is work; the calling thread enters results and polls the observer.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::follow::Watch;
use super::pace::Pace;
use super::queue::{Costs, Queue, Units};
use super::seat::{self, Piece, Seat};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::team::{Lost, Moved, TeamReport};
use crate::{DeviceError, Error, Result};

/// Time between two checks of the calling thread.
const WATCH: Duration = Duration::from_millis(20);

/// Time after which an idle member looks for late pieces.
const AGAIN: Duration = Duration::from_millis(5);

/// Stack size of a member's thread in bytes.
const STACK: usize = 2 << 20;

/// A function that does these units of a job on a machine.
///
/// [`Error::Device`] means that the machine is lost. [`Error::Interrupted`] is no error if another machine has done the piece. Any other
/// error ends the run.
pub(in crate::engine) type Work<'w, M, U, T> = &'w (dyn Fn(&mut M, &U, &Range<usize>, Watch) -> Result<T> + Sync);

/// The machines of this process that work together.
pub(in crate::engine) struct Members<M> {
    pub machines: Vec<M>,
    /// The seat of each machine, at the machine's index.
    pub seats: Vec<Seat>,
    /// The function that returns what has been copied to and from a machine so far.
    moved: fn(&M) -> Moved,
    /// The error of the last machine that failed.
    failure: Option<DeviceError>,
    report: TeamReport,
}

impl<M: Send> Members<M> {
    /// Makes an empty list of members. `moved` returns what has been copied to and from a machine so far.
    pub fn new(moved: fn(&M) -> Moved) -> Self {
        Members { machines: Vec::new(), seats: Vec::new(), moved, failure: None, report: TeamReport::default() }
    }

    /// Adds a machine. `batch` is the cost that keeps it busy, or 0 if one unit does.
    pub fn add(&mut self, name: impl Into<String>, machine: M, batch: f64) {
        self.machines.push(machine);
        self.seats.push(Seat::new(name, Pace::of_member(batch)));
    }

    /// Records a machine that could not be opened, and the reason.
    pub fn without(&mut self, name: impl Into<String>, error: DeviceError) {
        self.report.lost.push(Lost::by(name, &Error::Device(error.clone())));
        self.failure = Some(error);
    }

    /// Returns all machines with their names, including lost ones.
    pub fn all(&self) -> impl Iterator<Item = (&str, &M)> {
        self.seats.iter().map(|seat| seat.name.as_str()).zip(&self.machines)
    }

    /// Returns the machines that are not lost, with their names.
    pub fn live(&self) -> impl Iterator<Item = (&str, &M)> {
        self.all().zip(&self.seats).filter(|(_, seat)| !seat.is_lost).map(|(machine, _)| machine)
    }

    /// Returns mutable references to the machines that are not lost.
    pub fn live_mut(&mut self) -> impl Iterator<Item = &mut M> {
        self.machines.iter_mut().zip(&self.seats).filter(|(_, seat)| !seat.is_lost).map(|(machine, _)| machine)
    }

    /// Returns the index of the first machine that is not lost.
    pub fn first(&self) -> Option<usize> {
        self.first_that(|_| true)
    }

    /// Returns the index of the first machine that is not lost and for which `is_it` holds.
    pub fn first_that(&self, is_it: impl Fn(&M) -> bool) -> Option<usize> {
        self.seats.iter().zip(&self.machines).position(|(seat, machine)| !seat.is_lost && is_it(machine))
    }

    /// Returns a machine by index, unless it is lost.
    pub fn machine(&mut self, number: usize) -> Option<&mut M> {
        self.machines.get_mut(number).filter(|_| self.seats.get(number).is_some_and(|seat| !seat.is_lost))
    }

    /// Excludes a machine from now on.
    pub fn lose(&mut self, number: usize, error: DeviceError) {
        self.seats[number].is_lost = true;
        self.without(self.seats[number].name.clone(), error);
    }

    /// Returns what the machines have done since the last report.
    pub fn report(&mut self) -> TeamReport {
        std::mem::take(&mut self.report)
    }

    /// Returns the error for the case that no machine is left.
    pub fn nobody(&self) -> Error {
        match &self.failure {
            Some(failure) => Error::Device(failure.clone()),
            None => Error::Argument {
                argument: "device",
                value: "empty".into(),
                hint: "name the CPU or at least one GPU".into(),
            },
        }
    }

    /// Has the machines do units of these costs. The calling thread runs `enter` with the outcome of each piece. Progress counts for
    /// `level`; without a level, the observer is only polled for a stop.
    ///
    /// # Errors
    /// The error of the last machine if all are lost, any error that is not a device's, and the errors of `enter` and the observer.
    pub fn run_units<T: Send>(
        &mut self,
        costs: Vec<f64>,
        level: Option<usize>,
        work: Work<M, Costs, T>,
        enter: &mut dyn FnMut(Range<usize>, T) -> Result<()>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.run(Costs::new(costs, level), level, work, enter, observer)
    }

    /// Works as [`Members::run_units`] for units that must not be done twice: it waits for late machines.
    ///
    /// # Errors
    /// Errors of [`Members::run_units`].
    pub fn run_once<T: Send>(
        &mut self,
        costs: Vec<f64>,
        level: Option<usize>,
        work: Work<M, Costs, T>,
        enter: &mut dyn FnMut(Range<usize>, T) -> Result<()>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.run(Costs::once(costs, level), level, work, enter, observer)
    }

    fn run<T: Send>(
        &mut self,
        units: Costs,
        level: Option<usize>,
        work: Work<M, Costs, T>,
        enter: &mut dyn FnMut(Range<usize>, T) -> Result<()>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if units.len() == 0 {
            return Ok(());
        }
        let (mut left, total) = (units.len(), units.cost(&(0..units.len())));
        let (most, mut reported) = (total * (1.0 - 1e-9), 0.0f64);
        let mut watch = |done: f64| match level {
            Some(level) => {
                // When a machine is lost, its progress on a piece no longer counts; but reports must not fall. The full total is reported
                // at the end.
                reported = reported.max(done.min(most));
                observer.progress(level, reported, total)
            }
            None => observer.look(),
        };
        self.together(work, |front| {
            front.give(units.into());
            while left > 0 {
                let (piece, found) = front.next(&mut watch)?;
                left -= piece.units.len();
                enter(piece.units, found)?;
            }
            Ok(())
        })
    }

    /// Runs `run` on the calling thread while the machines work on the jobs that it gives to the front.
    ///
    /// # Errors
    /// Errors of `run` and of [`Front::next`].
    pub fn together<U: Units + Send + Sync, T: Send, R>(
        &mut self,
        work: Work<M, U, T>,
        run: impl FnOnce(&mut Front<U, T>) -> Result<R>,
    ) -> Result<R> {
        let works: Vec<bool> = self.seats.iter().map(|seat| !seat.is_lost).collect();
        if !works.contains(&true) {
            return Err(self.nobody());
        }
        let began = Instant::now();
        let room = Room::new(Queue::new(std::mem::take(&mut self.seats), 0));
        let moved = self.moved;
        let outcome = std::thread::scope(|scope| {
            // This ends the members even if `run` panics, because the scope waits for all threads.
            let _closing = Closing(&room);
            for (number, machine) in self.machines.iter_mut().enumerate().filter(|(number, _)| works[*number]) {
                let name = format!("pcgpu-{}", room.locked().queue.seats[number].name);
                let room = &room;
                let serve = move || room.serve(number, machine, work, moved);
                if std::thread::Builder::new().name(name).stack_size(STACK).spawn_scoped(scope, serve).is_err() {
                    return Err(Use::Threads.error(STACK));
                }
            }
            run(&mut Front { room: &room, looked: Instant::now() })
        });
        let State { queue, lost, panic, .. } = room.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.seats = queue.end();
        for (number, error) in lost {
            self.lose(number, error);
        }
        seat::report(&mut self.seats, began.elapsed().as_secs_f64(), &mut self.report);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        outcome
    }
}

/// The state that the threads of a run share.
struct State<U, T> {
    queue: Queue<U>,
    /// Finished pieces that have not been entered, with their outcomes.
    found: VecDeque<(Piece, T)>,
    /// The members that failed, and their errors.
    lost: Vec<(usize, DeviceError)>,
    /// The error that ends the run.
    ended: Option<Error>,
    panic: Option<Box<dyn Any + Send>>,
}

impl<U: Units, T> State<U, T> {
    fn lose(&mut self, member: usize, error: DeviceError) {
        self.queue.lose(member);
        if self.queue.live().next().is_none() {
            self.ended.get_or_insert(Error::Device(error.clone()));
        }
        self.lost.push((member, error));
    }
}

/// The place where members take work and leave their outcomes.
struct Room<U, T> {
    state: Mutex<State<U, T>>,
    /// Wakes members: there is work, or there will be no more.
    work: Condvar,
    /// Wakes the calling thread: a piece is done, or something failed.
    news: Condvar,
    /// Whether all members must stop.
    stop: AtomicBool,
    /// By member: whether another member has done its piece. `shares` holds the finished share of the piece (the bits of an f64).
    dropped: Vec<AtomicBool>,
    shares: Vec<AtomicU64>,
}

impl<U: Units, T> Room<U, T> {
    fn new(queue: Queue<U>) -> Self {
        let members = queue.seats.len();
        let (found, lost) = (VecDeque::new(), Vec::new());
        Room {
            state: Mutex::new(State { queue, found, lost, ended: None, panic: None }),
            work: Condvar::new(),
            news: Condvar::new(),
            stop: AtomicBool::new(false),
            dropped: (0..members).map(|_| AtomicBool::new(false)).collect(),
            shares: (0..members).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, State<U, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next piece for a member, with the job's units, or `None` once the run ends.
    fn next(&self, member: usize) -> Option<(Piece, Arc<U>)> {
        let mut state = self.locked();
        loop {
            if self.stop.load(Ordering::Relaxed) || state.queue.seats[member].is_lost {
                return None;
            }
            if let Some(piece) = state.queue.turn(member) {
                self.shares[member].store(0, Ordering::Relaxed);
                self.dropped[member].store(false, Ordering::Relaxed);
                let units = state.queue.units(piece.job)?;
                return Some((piece, units));
            }
            state = self.work.wait_timeout(state, AGAIN).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Runs a member's thread: does pieces until there are no more.
    fn serve<M>(&self, member: usize, machine: &mut M, work: Work<M, U, T>, moved: fn(&M) -> Moved) {
        while let Some((piece, units)) = self.next(member) {
            let (began, before) = (Instant::now(), moved(machine));
            let mut watch = |share: f64| {
                self.shares[member].store(share.clamp(0.0, 1.0).to_bits(), Ordering::Relaxed);
                if self.stop.load(Ordering::Relaxed) || self.dropped[member].load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                Ok(())
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| work(machine, &units, &piece.units, &mut watch)));
            let (seconds, moved) = (began.elapsed().as_secs_f64(), moved(machine) - before);
            let mut state = self.locked();
            let queue = &mut state.queue;
            queue.seats[member].worked(piece.level, 0, moved, 0.0);
            match outcome {
                Ok(Ok(found)) => {
                    if let Some(piece) = queue.answered(member, piece.task, seconds) {
                        queue.holders(piece.task).for_each(|other| self.dropped[other].store(true, Ordering::Relaxed));
                        state.found.push_back((piece, found));
                    }
                }
                Ok(Err(Error::Interrupted)) if !queue.is_open(piece.task) => {
                    queue.answered(member, piece.task, seconds);
                }
                Ok(Err(Error::Device(error))) => {
                    queue.seats[member].worked(piece.level, 0, Moved::default(), seconds);
                    state.lose(member, error);
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
            self.news.notify_all();
        }
    }
}

/// A guard that ends a run for all its members.
struct Closing<'a, U: Units, T>(&'a Room<U, T>);

impl<U: Units, T> Drop for Closing<'_, U, T> {
    fn drop(&mut self) {
        // The lock ensures that no member begins to wait after the notification.
        let _state = self.0.locked();
        self.0.stop.store(true, Ordering::Relaxed);
        self.0.work.notify_all();
    }
}

/// The members as the calling thread sees them.
pub(in crate::engine) struct Front<'a, U, T> {
    room: &'a Room<U, T>,
    looked: Instant,
}

impl<U: Units, T> Front<'_, U, T> {
    /// Returns the cost that keeps all members busy.
    pub fn batch(&self) -> f64 {
        let state = self.room.locked();
        state.queue.live().map(|member| state.queue.seats[member].pace.batch()).sum()
    }

    /// Adds a job and returns its number.
    pub fn give(&mut self, units: Arc<U>) -> u64 {
        let job = self.room.locked().queue.give(units);
        self.room.work.notify_all();
        job
    }

    /// Excludes a member from the rest of the run.
    pub fn lose(&mut self, member: usize, error: DeviceError) {
        self.room.locked().lose(member, error);
    }

    /// Forgets a job. Its cost no longer counts as done.
    pub fn close(&mut self, job: u64) {
        self.room.locked().queue.close(job);
    }

    /// Waits for the next finished piece of any job. `watch` gets the cost of the finished work of all jobs that are not closed.
    ///
    /// # Errors
    /// The error that ends the run, and the errors of `watch`.
    pub fn next(&mut self, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<(Piece, T)> {
        let share = |member: usize| f64::from_bits(self.room.shares[member].load(Ordering::Relaxed));
        let mut state = self.room.locked();
        loop {
            if let Some(error) = &state.ended {
                return Err(error.clone());
            }
            if self.looked.elapsed() >= WATCH {
                let done = state.queue.done(&share);
                drop(state);
                memory::check()?;
                watch(done)?;
                self.looked = Instant::now();
                state = self.room.locked();
            }
            if let Some(found) = state.found.pop_front() {
                return Ok(found);
            }
            let wait = WATCH.saturating_sub(self.looked.elapsed());
            state = self.room.news.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::DeviceKind;
    use crate::observer::Unobserved;

    /// A mock machine that fails at the piece with this number.
    struct Mock {
        fails_at: Option<usize>,
        begun: usize,
    }

    fn members(fails_at: &[Option<usize>]) -> Members<Mock> {
        let mut members = Members::new(|mock: &Mock| Moved { to: mock.begun as u64, from: 0 });
        for (number, &fails_at) in fails_at.iter().enumerate() {
            members.add(number.to_string(), Mock { fails_at, begun: 0 }, 0.0);
        }
        members
    }

    fn work(mock: &mut Mock, units: &Costs, piece: &Range<usize>, watch: Watch) -> Result<f64> {
        mock.begun += 1;
        if mock.fails_at == Some(mock.begun) {
            let message = format!("failed at {}", mock.begun);
            return Err(Error::Device(DeviceError { kind: DeviceKind::Failed, message, hint: "none".into() }));
        }
        watch(0.5)?;
        std::thread::sleep(Duration::from_micros(300));
        Ok(units.cost(piece))
    }

    #[test]
    fn each_unit_is_entered_once_whoever_fails() {
        let costs: Vec<f64> = (0..200).map(|unit| (unit % 7) as f64).collect();
        let lists: [&[Option<usize>]; 4] = [&[None], &[None, None], &[Some(1), None], &[Some(3), None, Some(2)]];
        for fails_at in lists {
            let mut members = members(fails_at);
            let mut times = vec![0; costs.len()];
            let mut enter = |units: Range<usize>, found: f64| {
                assert_eq!(found, costs[units.clone()].iter().sum::<f64>());
                units.for_each(|unit| times[unit] += 1);
                Ok(())
            };
            members.run_units(costs.clone(), Some(2), &work, &mut enter, &mut Unobserved).unwrap();
            assert!(times.iter().all(|&times| times == 1), "{times:?}");
            let report = members.report();
            assert!(report.lost.len() <= fails_at.iter().flatten().count());
            assert_eq!(report.shares.iter().map(|share| share.shards).sum::<u64>(), 200);
            assert!(report.shares.iter().all(|share| share.level == Some(2)), "{report:?}");
            assert!(report.shares.iter().any(|share| share.moved.to > 0 && share.busy > 0.0), "{report:?}");
        }
        let mut members = members(&[Some(2), Some(1)]);
        let ended = members.run_units(costs.clone(), None, &work, &mut |_, _| Ok(()), &mut Unobserved);
        assert_eq!(members.report().lost.len(), 2);
        assert_eq!(ended, Err(members.nobody()));
        assert!(members.seats.iter().all(|seat| seat.is_lost));
    }

    #[test]
    fn an_error_on_entering_ends_the_run() {
        let mut enter = |_, _| Err(Error::Interrupted);
        let ended = members(&[None, None]).run_units(vec![1.0; 9], Some(1), &work, &mut enter, &mut Unobserved);
        assert_eq!(ended, Err(Error::Interrupted));
    }
}
