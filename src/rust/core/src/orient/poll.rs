//! Checks now and then whether the user wants to stop, reports of events, and the threads that share the work.

use super::event::Event;
use crate::pool::{Pool, Stop};
use crate::{memory, Error, Result};
use std::cell::Cell;
use std::sync::Mutex;

/// A function that is called with each event; its error ends the work.
pub type Tell<'a> = &'a dyn Fn(&Event) -> Result<()>;

/// Number of edges or vertices from which several threads are quicker than one.
const MANY: usize = 1 << 13;

/// Number of vertices that a thread takes at a time.
const TOGETHER: usize = 64;

/// A counter of work steps that asks the caller every 4,096 steps, as the question may cost a call into R.
pub(crate) struct Poll<'a> {
    wants_to_stop: Option<&'a dyn Fn() -> bool>,
    tell: Option<Tell<'a>>,
    pool: Option<&'a Pool>,
    steps: Cell<u64>,
}

/// The thread that does a part of the work, and so the way in which it stops.
pub(crate) enum On<'p> {
    Caller(&'p Poll<'p>),
    Pool(&'p Stop),
}

impl On<'_> {
    /// Counts steps as [`Poll::looked_up`] does. Fails if the work is to end.
    pub fn looked_up(&self, many: usize) -> Result<()> {
        match self {
            On::Caller(poll) => poll.looked_up(many),
            On::Pool(stop) if stop.requested() => Err(Error::Interrupted),
            On::Pool(_) => Ok(()),
        }
    }
}

impl<'a> Poll<'a> {
    pub fn new(wants_to_stop: Option<&'a dyn Fn() -> bool>, tell: Option<Tell<'a>>) -> Self {
        Poll { wants_to_stop, tell, pool: None, steps: Cell::new(0) }
    }

    /// Shares the work with the threads of a pool.
    pub fn with_pool(self, pool: &'a Pool) -> Self {
        Poll { pool: Some(pool).filter(|pool| pool.threads() > 1), ..self }
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
        if steps / 4096 != before / 4096 {
            return self.ask();
        }
        Ok(())
    }

    fn ask(&self) -> Result<()> {
        match self.wants_to_stop.is_some_and(|ask| ask()) {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    }

    /// Runs `work` for every part. `size` is the number of edges or vertices in all parts: if they are few, the caller does all work.
    pub fn each_of<T: Send>(
        &self,
        size: usize,
        parts: Vec<T>,
        work: impl Fn(T, &On) -> Result<()> + Sync,
    ) -> Result<()> {
        let Some(pool) = self.pool.filter(|_| size >= MANY && parts.len() > 1) else {
            return parts.into_iter().try_for_each(|part| work(part, &On::Caller(self)));
        };
        let parts: Vec<_> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
        let failed = Mutex::new(None);
        pool.run(
            parts.len(),
            false,
            |_| 0.0,
            &mut |_| self.ask(),
            |_: &mut (), task, stop| {
                let part = parts[task].lock().ok().and_then(|mut part| part.take());
                if let Some(Err(error)) = part.map(|part| work(part, &On::Pool(stop))) {
                    failed.lock().ok().and_then(|mut first| first.replace(error));
                }
            },
        )?;
        failed.into_inner().ok().flatten().map_or(Ok(()), Err)
    }

    /// Returns the results of `work` for ranges that cover `0..count`, in order. `size`: as for [`Poll::each_of`].
    pub fn map<R: Send>(
        &self,
        size: usize,
        count: usize,
        work: impl Fn(std::ops::Range<usize>, &On) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let mut found: Vec<Option<R>> = Vec::new();
        found.resize_with(count.div_ceil(TOGETHER), || None);
        let parts = found.iter_mut().enumerate().collect();
        self.each_of(size, parts, |(part, found): (usize, &mut Option<R>), on| {
            *found = Some(work(TOGETHER * part..count.min(TOGETHER * (part + 1)), on)?);
            Ok(())
        })?;
        Ok(found.into_iter().flatten().collect())
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
