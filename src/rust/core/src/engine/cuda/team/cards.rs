//! The cards of a search, which of them are left, and who leads.

use std::time::Duration;

use super::member::Member;
use crate::engine::cuda::card::plan::MemoryPlan;
use crate::engine::cuda::search::p_max::PMax;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::share::Seat;
use crate::observer::Observer;
use crate::search::checkpoint::Found;
use crate::search::Options;
use crate::team::TeamReport;
use crate::{Error, Result};

/// A search on several cards.
pub(super) struct TeamSearch<'s, 'a> {
    pub seats: Vec<Seat<Member<'s, 'a>>>,
    pub options: &'s Options,
    /// The card that brings what the host wants: the first that is left.
    pub lead: usize,
    pub report: &'s mut TeamReport,
    /// The last error of a card.
    pub error: Option<Error>,
    /// What was found after the last level, of a search that is kept; the p-values are where it leaves them.
    pub kept: Option<Found>,
    /// Memory for level 1's separating sets, where that was had while the cards were at it.
    pub records: Vec<[u32; 2]>,
}

impl<'s, 'a> TeamSearch<'s, 'a> {
    /// The first search is given what the caller wants.
    pub fn new(
        searches: impl Iterator<Item = (String, CudaSearch<'s, 'a>)>,
        options: &'s Options,
        report: &'s mut TeamReport,
    ) -> Self {
        let seats: Vec<_> = searches.map(|(name, search)| Seat::new(Member::new(search), name)).collect();
        TeamSearch { seats, options, lead: 0, report, error: None, kept: None, records: Vec::new() }
    }

    pub fn leader(&self) -> &CudaSearch<'s, 'a> {
        &self.seats[self.lead].machine.search
    }

    pub fn leading(&mut self) -> &mut CudaSearch<'s, 'a> {
        &mut self.seats[self.lead].machine.search
    }

    /// The search of the card with the most memory, of those that had too little for the whole search. It goes on alone, in blocks, which are not
    /// shared among cards. The report says so of the others, none of which failed.
    pub fn into_roomiest(mut self) -> CudaSearch<'s, 'a> {
        let room = |seat: &mut Seat<Member<'s, 'a>>| {
            let found = seat.machine.run(|search| {
                search.engine.held.plan = MemoryPlan::default();
                search.engine.held.room(&[])
            });
            seat.short.as_ref().map_or(0, |_| 1 + found.unwrap_or(0))
        };
        let rooms: Vec<u64> = self.seats.iter_mut().map(room).collect();
        let number = (0..rooms.len()).rev().max_by_key(|&number| rooms[number]).unwrap_or(0);
        self.lead_by(number);
        let seat = self.seats.swap_remove(number);
        self.report.lost.retain(|lost| lost.machine != seat.name);
        for other in self.seats.iter().filter(|other| other.short.is_some()) {
            for lost in self.report.lost.iter_mut().filter(|lost| lost.machine == other.name) {
                lost.reason +=
                    &format!("; {} runs the search alone, in blocks, which are not shared among GPUs yet", seat.name);
            }
        }
        seat.machine.search
    }

    /// The error that ends the search once all cards are lost: that there is too little memory, where one can still be used.
    pub fn ending(&self, last: Error) -> Error {
        let is_over = self.seats.iter().all(|seat| seat.is_lost);
        self.seats.iter().find_map(|seat| seat.short.clone()).filter(|_| is_over).unwrap_or(last)
    }

    /// How many cards are left.
    pub fn left(&self) -> usize {
        self.seats.iter().filter(|seat| !seat.is_lost).count()
    }

    /// Notes that a card failed; the next takes its place where it led.
    pub fn lose(&mut self, number: usize, error: Error) -> Result<()> {
        self.error = Some(self.seats[number].lose(error, &mut self.report.lost)?);
        self.follow()
    }

    /// Has a card lead that is left.
    pub fn follow(&mut self) -> Result<()> {
        let Some(next) = self.seats.iter().position(|seat| !seat.is_lost) else {
            let last = self.error.take().unwrap_or(Error::Interrupted);
            return Err(self.ending(last));
        };
        self.lead_by(next);
        Ok(())
    }

    /// Has a card bring what the host wants.
    fn lead_by(&mut self, next: usize) {
        if next != self.lead {
            let wanted = {
                let search = self.leading();
                let follower = PMax::of_follower(search.p_max.is_of_left(), search.options.p);
                std::mem::replace(&mut search.p_max, follower)
            };
            self.lead = next;
            self.leading().p_max = wanted;
        }
    }

    /// Has the leading card run something; where it fails, the next.
    pub fn by_leader<T>(&mut self, mut run: impl FnMut(&mut CudaSearch<'s, 'a>) -> Result<T>) -> Result<T> {
        loop {
            let lead = self.lead;
            match self.seats[lead].machine.run(&mut run) {
                Err(error) => self.lose(lead, error)?,
                found => return found,
            }
        }
    }

    /// Calls `run` for every card that is left, in turn.
    pub fn each(&mut self, mut run: impl FnMut(&mut Member<'s, 'a>) -> Result<()>) -> Result<()> {
        for number in 0..self.seats.len() {
            if !self.seats[number].is_lost {
                if let Err(error) = run(&mut self.seats[number].machine) {
                    self.lose(number, error)?;
                }
            }
        }
        Ok(())
    }

    /// Calls `run` for every card that is left, each on a thread of its own; the calling thread follows.
    pub fn at_once(
        &mut self,
        observer: &mut dyn Observer,
        run: impl Fn(usize, &mut Member<'s, 'a>) -> Result<()> + Sync,
    ) -> Result<()> {
        let mut looked = Ok(());
        let outcomes: Vec<(usize, Result<()>)> = std::thread::scope(|scope| {
            let left = self.seats.iter_mut().enumerate().filter(|(_, seat)| !seat.is_lost);
            let run = &run;
            let running: Vec<_> =
                left.map(|(number, seat)| (number, scope.spawn(move || run(number, &mut seat.machine)))).collect();
            while running.iter().any(|(_, thread)| !thread.is_finished()) {
                if looked.is_ok() {
                    looked = observer.look();
                }
                std::thread::sleep(Duration::from_micros(100));
            }
            let join = |thread: std::thread::ScopedJoinHandle<Result<()>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            running.into_iter().map(|(number, thread)| (number, join(thread))).collect()
        });
        looked?;
        for (number, outcome) in outcomes {
            if let Err(error) = outcome {
                self.lose(number, error)?;
            }
        }
        Ok(())
    }
}
