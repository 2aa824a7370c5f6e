//! Asking now and then whether the user wants to stop.

use crate::{Error, Result};
use std::cell::Cell;

/// Counts steps of work and asks the caller every 4,096 of them: the question may cost a call into R.
pub(super) struct Poll<'a> {
    wants_to_stop: Option<&'a dyn Fn() -> bool>,
    steps: Cell<u32>,
}

impl<'a> Poll<'a> {
    pub fn new(wants_to_stop: Option<&'a dyn Fn() -> bool>) -> Self {
        Poll { wants_to_stop, steps: Cell::new(0) }
    }

    /// One step of work (a vertex, an edge, a question).
    pub fn step(&self) -> Result<()> {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps % 4096 == 0 && self.wants_to_stop.is_some_and(|ask| ask()) {
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
        let poll = Poll::new(Some(&stop_at_second));
        let done = (0..100_000).take_while(|_| poll.step().is_ok()).count();
        assert_eq!((done, asked.get()), (8191, 2));
        assert_eq!(Poll::new(None).step(), Ok(()));
    }
}
