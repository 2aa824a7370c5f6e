//! Checks now and then whether the user wants to stop, and reports of events.

use super::event::Event;
use crate::{memory, Error, Result};
use std::cell::Cell;

/// A function that is called with each event; its error ends the work.
pub type Tell<'a> = &'a dyn Fn(&Event) -> Result<()>;

/// A counter of work steps that asks the caller every 4,096 steps, as the question may cost a call into R.
pub(crate) struct Poll<'a> {
    wants_to_stop: Option<&'a dyn Fn() -> bool>,
    tell: Option<Tell<'a>>,
    steps: Cell<u64>,
}

impl<'a> Poll<'a> {
    pub fn new(wants_to_stop: Option<&'a dyn Fn() -> bool>, tell: Option<Tell<'a>>) -> Self {
        Poll { wants_to_stop, tell, steps: Cell::new(0) }
    }

    /// Makes a poll without a listener.
    #[cfg(test)]
    pub fn silent() -> Self {
        Poll::new(None, None)
    }

    /// Returns whether a listener gets the events. All work is then done in pcalg's order, without a shortcut.
    pub fn is_followed(&self) -> bool {
        self.tell.is_some()
    }

    /// Reports an event to the listener, if there is one.
    pub fn tell(&self, event: &Event) -> Result<()> {
        self.tell.map_or(Ok(()), |tell| tell(event))
    }

    /// Counts one step of work (a vertex, an edge, a question).
    pub fn step(&self) -> Result<()> {
        self.looked_up(0)
    }

    /// Counts one step of work, plus one for every 64 of `many` look-ups.
    pub fn looked_up(&self, many: usize) -> Result<()> {
        let before = self.steps.get();
        let steps = before.wrapping_add(1 + many as u64 / 64);
        self.steps.set(steps);
        memory::check()?;
        if steps / 4096 != before / 4096 && self.wants_to_stop.is_some_and(|ask| ask()) {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_is_asked_now_and_then_and_a_yes_ends_the_work() {
        let asked = Cell::new(0);
        let stop_at_second = || {
            asked.set(asked.get() + 1);
            asked.get() == 2
        };
        let poll = Poll::new(Some(&stop_at_second), None);
        let done = (0..100_000).take_while(|_| poll.step().is_ok()).count();
        assert_eq!((done, asked.get()), (8191, 2));
        assert_eq!(Poll::silent().step(), Ok(()));
        // A row of 64,000 counts as a thousand steps.
        asked.set(0);
        let poll = Poll::new(Some(&stop_at_second), None);
        assert_eq!((0..100).take_while(|_| poll.looked_up(64_000).is_ok()).count(), 8);
    }
}
