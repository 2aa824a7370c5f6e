//! Several machines that select together. Each has its own features: a shard.
//!
//! The calling thread makes the choices and polls the observer ([`chooser`]). A guess of the machines' speeds divides the features. They
//! are divided again if the measured times show that it pays ([`shares`](super::dispatch::shares)). The counts of a feature move with it,
//! so nothing is counted twice. The features of a machine that fails move to the others in the same way, even within a step.

pub(in crate::engine) mod chooser;
mod machine;

use std::ops::Range;

use self::chooser::{count_of, Chooser, Counters, News};
use self::machine::{Answer, Machine, Order, Orders};
use super::dispatch::local::{Front, Members};
use super::dispatch::shares::Shares;
use crate::memory;
use crate::observer::Observer;
use crate::selection::{room, Choice, Machines, Member, Problem, Selector};
use crate::team::TeamReport;
use crate::{Error, Result};

/// Several machines that select together. If one fails with [`Error::Device`](crate::Error::Device), the others take over its features, and
/// the report says so.
pub struct Shards<'a> {
    members: Members<Machine<'a>>,
    /// Guesses of the machines' relative speeds.
    speeds: Vec<f64>,
}

impl<'a> Shards<'a> {
    /// Makes a group of these machines, in order.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if there is none.
    pub fn new(members: Vec<Member<'a>>) -> Result<Self> {
        let mut shards = Shards { members: Members::new(Machine::moved), speeds: Vec::new() };
        for Member { name, speed, make } in members {
            shards.members.add(name, Machine::new(make), 0.0);
            shards.speeds.push(speed.max(1e-9));
        }
        if shards.speeds.is_empty() {
            return Err(shards.members.nobody());
        }
        Ok(shards)
    }
}

impl Machines for Shards<'_> {
    fn choose(
        &mut self,
        problem: &Problem,
        k: usize,
        observer: &mut dyn Observer,
        chosen: &mut dyn FnMut(Choice),
    ) -> Result<()> {
        room(problem, self.speeds.len())?;
        let Problem { samples, logs, criterion } = *problem;
        let all = self.members.seats.iter().zip(&self.members.machines);
        let mut seats: Vec<_> = all.map(|(seat, machine)| (!seat.is_lost).then(|| machine.ranges())).collect();
        // An earlier selection may have left every feature with a machine.
        let mut spare = 0..0;
        if seats.iter().flatten().map(|ranges| count_of(ranges)).sum::<usize>() != samples.p() {
            seats.iter_mut().flatten().for_each(Vec::clear);
            spare = 0..samples.p();
        }
        let new = |range: Range<usize>| Selector::new(samples, logs, criterion, range);
        let selectors = seats.iter().flatten().flatten().cloned().chain([spare.clone()]).map(new).collect();
        let making = self.members.machines.iter().map(|machine| machine.making).collect();
        let (outcome, making) = self.members.together(&Machine::answer, |front| {
            let counters = Local { front, chosen, selectors, jobs: Vec::new(), making };
            let mut chooser = Chooser::new(counters, seats, spare, Shares::new(self.speeds.clone()));
            Ok((chooser.choose(k, problem.steps(k), observer), chooser.counters.making))
        })?;
        for (machine, making) in self.members.machines.iter_mut().zip(making) {
            machine.making = making;
            if outcome.is_err() {
                // Features may be between two machines.
                machine.keep(0);
            }
        }
        outcome
    }

    fn report(&mut self) -> TeamReport {
        self.members.report()
    }
}

/// The machines of this process as the chooser sees them.
struct Local<'p, 'f, 'r, 'c> {
    front: &'f mut Front<'r, Orders<'p>, Answer<'p>>,
    chosen: &'c mut dyn FnMut(Choice),
    /// Selectors of the features that no machine works on.
    selectors: Vec<Selector<'p>>,
    /// The numbers of this step's orders.
    jobs: Vec<u64>,
    /// By machine: see [`Machine`].
    making: Vec<Option<f64>>,
}

impl<'p> Local<'p, '_, '_, '_> {
    /// Takes the selector of these features.
    fn take(&mut self, range: &Range<usize>) -> Option<Selector<'p>> {
        let at = self.selectors.iter().position(|selector| selector.range().contains(&range.start))?;
        let mut selector = self.selectors.swap_remove(at);
        let start = selector.range().start;
        if range.end < selector.range().end {
            self.selectors.push(selector.split_off(range.end - start));
        }
        if start < range.start {
            let own = selector.split_off(range.start - start);
            self.selectors.push(std::mem::replace(&mut selector, own));
        }
        Some(selector)
    }
}

impl Counters for Local<'_, '_, '_, '_> {
    fn order(&mut self, orders: Vec<(usize, &[Range<usize>])>, last: Option<Choice>) -> Result<()> {
        let mut all = Vec::new();
        for (machine, features) in orders {
            let selectors = features.iter().filter_map(|range| self.take(range)).collect();
            all.push(Order { machine, selectors, last });
        }
        self.jobs.push(self.front.give(Orders::new(all).into()));
        Ok(())
    }

    fn next(&mut self, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<News> {
        let (piece, Answer { selectors, best, seconds, is_full }) = self.front.next(watch)?;
        let seat = piece.owner.ok_or(Error::Interrupted)?;
        self.selectors.extend(selectors);
        Ok(match best {
            Ok(best) => {
                // The first order of a machine brings its features.
                let making = self.making[seat].get_or_insert(seconds / piece.cost.max(1.0));
                if is_full {
                    *making = f64::INFINITY;
                }
                News::Counted { seat, best, seconds }
            }
            Err(error) => {
                self.front.lose(seat, error);
                News::Left { seat }
            }
        })
    }

    fn end(&mut self) -> Result<()> {
        self.jobs.drain(..).for_each(|job| self.front.close(job));
        memory::check()
    }

    fn chosen(&mut self, choice: Choice, _observer: &mut dyn Observer) -> Result<()> {
        (self.chosen)(choice);
        Ok(())
    }

    /// Returns the seconds that a feature takes to move: its counts move with it.
    fn cost(&self, seat: usize, _speed: f64) -> f64 {
        self.making[seat].unwrap_or(0.0)
    }
}
