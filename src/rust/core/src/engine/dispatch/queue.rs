//! Work that waits or is being done. It is cut into pieces as seats ask for them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::pace::Pace;
use super::seat::{Piece, Seat};
use crate::team::Moved;

/// Units of work, in the order in which they should be done.
pub(in crate::engine) trait Units {
    /// Returns the number of units.
    fn len(&self) -> usize;

    /// Returns the total cost of these units.
    fn cost(&self, units: &Range<usize>) -> f64;

    /// Returns the level of a unit. All units of a piece have one level.
    fn level(&self, unit: usize) -> Option<usize>;

    /// Returns how many of the report's shards these units are.
    fn shards(&self, units: &Range<usize>) -> usize {
        units.len()
    }

    /// Returns whether a second seat may do a late piece.
    fn may_be_done_twice(&self) -> bool {
        true
    }

    /// Returns the seat that must do a unit, or `None` if any seat may.
    fn owner(&self, _unit: usize) -> Option<usize> {
        None
    }

    /// Returns the end of a piece that begins with the first of these units and should cost about `wanted`. The piece has at least one
    /// unit.
    fn cut(&self, units: &Range<usize>, wanted: f64) -> usize;
}

/// Units of one level, given by their costs alone.
pub(in crate::engine) struct Costs {
    /// Before each unit, the total cost of those before it; the last entry is the total cost of all.
    before: Vec<f64>,
    level: Option<usize>,
    is_once: bool,
    owner: Option<usize>,
}

impl Costs {
    /// Makes units that must not be done by two seats.
    pub fn once(costs: Vec<f64>, level: Option<usize>) -> Self {
        Costs { is_once: true, ..Self::new(costs, level) }
    }

    pub fn new(costs: Vec<f64>, level: Option<usize>) -> Self {
        let mut before = Vec::with_capacity(costs.len() + 1);
        before.push(0.0);
        before.extend(costs.iter().scan(0.0, |sum, cost| {
            *sum += cost;
            Some(*sum)
        }));
        Costs { before, level, is_once: false, owner: None }
    }

    /// Makes one unit that only this seat may do.
    pub fn of_seat(seat: usize, cost: f64, level: Option<usize>) -> Self {
        Costs { owner: Some(seat), ..Costs::new(vec![cost], level) }
    }
}

impl Units for Costs {
    fn len(&self) -> usize {
        self.before.len() - 1
    }

    fn cost(&self, units: &Range<usize>) -> f64 {
        self.before[units.end] - self.before[units.start]
    }

    fn level(&self, _unit: usize) -> Option<usize> {
        self.level
    }

    fn may_be_done_twice(&self) -> bool {
        !self.is_once
    }

    fn owner(&self, _unit: usize) -> Option<usize> {
        self.owner
    }

    fn cut(&self, units: &Range<usize>, wanted: f64) -> usize {
        let end = self.before.partition_point(|&before| before <= self.before[units.start] + wanted);
        end.saturating_sub(1).clamp(units.start + 1, units.end)
    }
}

/// Units that were added together.
struct Job<U> {
    units: Arc<U>,
    /// Units that no seat has taken; the next are last.
    waiting: Vec<Range<usize>>,
    /// Number of units that are not done, and the cost of the finished ones (`done`).
    open: usize,
    done: f64,
}

impl<U: Units> Job<U> {
    /// Returns the index in `waiting` of the next units that a seat may take.
    fn next(&self, seat: usize) -> Option<usize> {
        self.waiting.iter().rposition(|units| self.units.owner(units.start).is_none_or(|owner| owner == seat))
    }

    fn waiting(&self) -> f64 {
        self.waiting.iter().map(|units| self.units.cost(units)).sum()
    }
}

/// The jobs, and the seats with the pieces that they hold.
pub(in crate::engine) struct Queue<U> {
    pub seats: Vec<Seat>,
    jobs: BTreeMap<u64, Job<U>>,
    /// The numbers of pieces that a seat holds and that no seat has done.
    open: BTreeSet<u64>,
    next: u64,
}

impl<U: Units> Queue<U> {
    /// Makes a queue that numbers its pieces from `next`.
    pub fn new(seats: Vec<Seat>, next: u64) -> Self {
        Queue { seats, jobs: BTreeMap::new(), open: BTreeSet::new(), next }
    }

    /// Returns the seats, which hold nothing any more.
    pub fn end(mut self) -> Vec<Seat> {
        self.seats.iter_mut().for_each(|seat| seat.held.clear());
        self.seats
    }

    /// Returns a number that no piece has.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Returns the indices of the seats that are not lost.
    pub fn live(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.seats.len()).filter(|&seat| !self.seats[seat].is_lost)
    }

    /// Adds a job and returns its number.
    pub fn give(&mut self, units: Arc<U>) -> u64 {
        let (number, open) = (self.number(), units.len());
        // Units for one seat are separate pieces.
        let step = if open > 0 && units.owner(0).is_none() { open } else { 1 };
        let waiting = (0..open).step_by(step).map(|unit| unit..unit + step).collect();
        self.jobs.insert(number, Job { units, waiting, open, done: 0.0 });
        number
    }

    /// Returns the units of a job.
    pub fn units(&self, job: u64) -> Option<Arc<U>> {
        self.jobs.get(&job).map(|job| job.units.clone())
    }

    /// Returns whether all units of a job are done.
    pub fn is_done(&self, job: u64) -> bool {
        self.jobs.get(&job).is_none_or(|job| job.open == 0)
    }

    /// Forgets a job, done or not.
    pub fn close(&mut self, job: u64) {
        self.jobs.remove(&job);
        for (piece, _) in self.seats.iter().flat_map(|seat| &seat.held).filter(|(piece, _)| piece.job == job) {
            self.open.remove(&piece.task);
        }
    }

    /// Returns the cost of the finished work of all jobs. `share` returns the finished share of the piece that a seat holds.
    pub fn done(&self, share: &dyn Fn(usize) -> f64) -> f64 {
        let mut in_hand: BTreeMap<u64, f64> = BTreeMap::new();
        for (number, seat) in self.seats.iter().enumerate() {
            for (piece, _) in seat.held.iter().filter(|(piece, _)| self.is_open(piece.task)) {
                let most = in_hand.entry(piece.task).or_default();
                *most = most.max(share(number) * piece.cost);
            }
        }
        self.jobs.values().map(|job| job.done).sum::<f64>() + in_hand.values().sum::<f64>()
    }

    /// Returns whether a piece is held by a seat, and done by none.
    pub fn is_open(&self, task: u64) -> bool {
        self.open.contains(&task)
    }

    /// Returns whether a seat holds a piece that others have done.
    pub fn is_behind(&self, seat: usize) -> bool {
        self.seats[seat].held.iter().any(|(piece, _)| !self.is_open(piece.task))
    }

    /// Returns the seats that hold this piece.
    pub fn holders(&self, task: u64) -> impl Iterator<Item = usize> + '_ {
        let holds = move |seat: &Seat| seat.held.iter().any(|(piece, _)| piece.task == task);
        self.seats.iter().enumerate().filter(move |(_, seat)| holds(seat)).map(|(number, _)| number)
    }

    /// Returns the next piece for a seat, which then holds it. Returns `None` if there is nothing for it now.
    pub fn turn(&mut self, seat: usize) -> Option<Piece> {
        let next = self.jobs.iter().find_map(|(&job, of_job)| Some((job, of_job.next(seat)?)));
        let piece = match next {
            Some((job, at)) => self.fresh(seat, job, at)?,
            None => self.overtake(seat)?,
        };
        self.seats[seat].held.push((piece.clone(), Instant::now()));
        Some(piece)
    }

    /// Cuts the next piece from the waiting units of a job at index `at`.
    fn fresh(&mut self, seat: usize, job: u64, at: usize) -> Option<Piece> {
        let of_job = self.jobs.get(&job)?;
        let first = of_job.waiting[at].clone();
        let (level, owner) = (of_job.units.level(first.start), of_job.units.owner(first.start));
        let end = if owner.is_some() { first.end } else { of_job.units.cut(&first, self.wanted(seat, level)?) };
        let units = first.start..end;
        let (cost, shards) = (of_job.units.cost(&units), of_job.units.shards(&units));
        let task = self.number();
        let waiting = &mut self.jobs.get_mut(&job)?.waiting;
        waiting.remove(at);
        if end < first.end {
            waiting.push(end..first.end);
        }
        self.open.insert(task);
        Some(Piece { task, job, units, cost, level, shards, owner })
    }

    /// Returns the cost of the next piece for a seat, or `None` if it should get nothing now.
    fn wanted(&self, seat: usize, level: Option<usize>) -> Option<f64> {
        let waiting = self.jobs.values().map(Job::waiting).sum::<f64>();
        let others: Vec<&Pace> =
            self.live().filter(|&other| other != seat).map(|other| &self.seats[other].pace).collect();
        let Seat { pace, held, .. } = &self.seats[seat];
        // Near the end, a seat gets no second piece, because another seat could do it sooner.
        if !held.is_empty() && waiting < pace.most(level) * (others.len() + 1) as f64 {
            return None;
        }
        pace.piece(&others, level, waiting)
    }

    /// Returns a piece of a slower seat that this seat could finish much sooner. The first of the two answers counts.
    fn overtake(&self, seat: usize) -> Option<Piece> {
        let Seat { pace, held, .. } = &self.seats[seat];
        if !held.is_empty() {
            return None;
        }
        let may = |piece: &Piece| {
            piece.owner.is_none() && self.jobs.get(&piece.job).is_some_and(|job| job.units.may_be_done_twice())
        };
        let mut latest: Option<(f64, &Piece)> = None;
        for other in &self.seats {
            for (piece, since) in other.held.iter().filter(|(piece, _)| may(piece) && self.is_open(piece.task)) {
                let late = other.pace.late(pace, piece.level, (piece.cost, piece.cost), since.elapsed().as_secs_f64());
                if late > latest.map_or(0.0, |(most, _)| most) && self.holders(piece.task).count() == 1 {
                    latest = Some((late, piece));
                }
            }
        }
        latest.map(|(_, piece)| piece.clone())
    }

    /// Takes back a piece on which a seat worked for `seconds`. Returns the piece if no other seat has done it.
    pub fn answered(&mut self, seat: usize, task: u64, seconds: f64) -> Option<Piece> {
        let held = &mut self.seats[seat].held;
        let at = held.iter().position(|(piece, _)| piece.task == task)?;
        let (piece, _) = held.remove(at);
        // The seat begins with the next piece now.
        held.iter_mut().for_each(|(_, since)| *since = Instant::now());
        let is_first = self.open.remove(&task);
        let shards = if is_first { piece.shards } else { 0 };
        // An answer that comes after the end of its job counts nowhere.
        if self.jobs.contains_key(&piece.job) {
            self.seats[seat].worked(piece.level, shards, Moved::default(), seconds);
        }
        if !is_first {
            return None;
        }
        self.seats[seat].pace.enter(piece.level, piece.cost, seconds);
        for Seat { pace, held, .. } in &mut self.seats {
            if let Some((_, since)) = held.iter().find(|(piece, _)| piece.task == task) {
                // The other holders would have needed longer, but how much is unknown.
                pace.enter(piece.level, piece.cost, 2.0 * since.elapsed().as_secs_f64());
            }
        }
        if let Some(job) = self.jobs.get_mut(&piece.job) {
            job.open -= piece.units.len();
            job.done += piece.cost;
        }
        Some(piece)
    }

    /// Puts back a piece that was done wrongly.
    pub fn again(&mut self, piece: Piece) {
        if let Some(job) = self.jobs.get_mut(&piece.job) {
            job.open += piece.units.len();
            job.done -= piece.cost;
            job.waiting.push(piece.units);
        }
    }

    /// Marks a seat as lost. Pieces that no other seat holds wait for other seats.
    pub fn lose(&mut self, seat: usize) {
        self.seats[seat].is_lost = true;
        for (piece, _) in std::mem::take(&mut self.seats[seat].held) {
            if self.holders(piece.task).next().is_none() && self.open.remove(&piece.task) {
                if let Some(job) = self.jobs.get_mut(&piece.job) {
                    job.waiting.push(piece.units);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    fn random(state: &mut u64) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize
    }

    fn queue(paces: impl IntoIterator<Item = Pace>) -> Queue<Costs> {
        Queue::new(paces.into_iter().map(|pace| Seat::new("", pace)).collect(), 5)
    }

    /// Covers random costs, paces, numbers of jobs and lost seats.
    #[test]
    fn every_unit_is_done_once() {
        for seed in 0..300 {
            let state = &mut (seed + 1);
            let count = 1 + random(state) % 5;
            let pace = |state: &mut u64| match random(state) % 2 {
                0 => Pace::of_rank(),
                _ => Pace::of_member((random(state) % 200) as f64),
            };
            let mut queue = queue((0..count).map(|_| pace(state)));
            let mut times: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
            for _ in 0..1 + random(state) % 3 {
                let costs: Vec<f64> =
                    (0..random(state) % 200).map(|_| [0.0, 1.0, 7.0, 1e4][random(state) % 4]).collect();
                let units = vec![0; costs.len()];
                times.insert(queue.give(Costs::new(costs, Some(random(state) % 3)).into()), units);
            }
            let total: f64 = queue.jobs.values().map(Job::waiting).sum();
            while times.keys().any(|&job| !queue.is_done(job)) {
                let seat = random(state) % count;
                let in_hand = queue.seats[seat].in_hand();
                if queue.seats[seat].is_lost {
                    assert_eq!(in_hand, 0);
                } else if random(state) % 20 == 0 && queue.live().count() > 1 {
                    queue.lose(seat);
                } else if in_hand < 2 && random(state) % 2 == 0 {
                    if let Some(piece) = queue.turn(seat) {
                        assert!(!piece.units.is_empty() && queue.is_open(piece.task));
                    }
                } else if in_hand > 0 {
                    let task = queue.seats[seat].held[0].0.task;
                    if let Some(piece) = queue.answered(seat, task, 0.001 * (1 + random(state) % 50) as f64) {
                        if random(state) % 30 == 0 {
                            queue.again(piece);
                        } else {
                            piece.units.for_each(|unit| times.get_mut(&piece.job).unwrap()[unit] += 1);
                        }
                    }
                }
            }
            assert!(times.values().flatten().all(|&times| times == 1), "{times:?}");
            assert!((queue.done(&|_| 0.0) - total).abs() <= 1e-9 * total);
        }
    }

    #[test]
    fn what_a_slow_seat_has_is_done_by_one_that_is_free() {
        let mut queue = queue([Pace::of_member(64.0), Pace::of_member(64.0), Pace::of_member(64.0)]);
        let job = queue.give(Costs::new(vec![1.0; 4], Some(1)).into());
        let first = queue.turn(0).unwrap();
        assert_eq!(first.units, 0..4);
        // The expected time is unknown.
        assert!(queue.turn(1).is_none());
        queue.seats[1].pace.enter(Some(1), 100.0, 1e-6);
        sleep(Duration::from_millis(20));
        let again = queue.turn(1).unwrap();
        assert_eq!(again.task, first.task);
        // No third seat takes the piece, and the second one need not finish first.
        queue.seats[2].pace.enter(Some(1), 100.0, 1e-6);
        assert!(queue.turn(2).is_none() && !queue.is_behind(0));
        assert!(queue.answered(1, first.task, 0.001).is_some() && queue.is_done(job));
        assert!(queue.is_behind(0) && queue.holders(first.task).eq([0]));
        assert!(queue.answered(0, first.task, 0.1).is_none() && !queue.is_behind(0));
        // A piece that only a lost seat held waits for other seats.
        queue.give(Costs::new(vec![1.0], Some(1)).into());
        let piece = queue.turn(2).unwrap();
        queue.lose(2);
        assert!(!queue.is_open(piece.task));
        // The slow seat leaves the piece to the quick one.
        assert!(queue.turn(0).is_none());
        assert_eq!(queue.turn(1).unwrap().units, 0..1);
    }

    #[test]
    fn a_rank_that_goes_on_to_the_end_is_given_more_time() {
        let mut queue = queue([Pace::of_rank(), Pace::of_rank()]);
        queue.give(Costs::new(vec![1.0], None).into());
        let first = queue.turn(0).unwrap();
        queue.seats[1].pace.enter(None, 1.0, 1e-3);
        sleep(Duration::from_millis(100));
        assert!(queue.turn(1).is_none());
        sleep(Duration::from_millis(500));
        assert_eq!(queue.turn(1).unwrap().task, first.task);
    }
}
