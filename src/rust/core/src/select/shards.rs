//! The machines of a selection, each with a range of the features: a shard.

use std::ops::Range;

use super::{Counting, Selector};
use crate::observer::Observer;
use crate::{Error, Result};

/// One machine, or several that count at the same time, each for its range of features. The scores of a feature depend on no other
/// candidate, and the feature to select is the best of the shards' best: the answer does not depend on the ranges.
pub trait Machines {
    /// Their ranges of the p features, in order.
    fn shards(&self, p: usize) -> Vec<Range<usize>>;

    /// [`Selector::prepare`] of every shard.
    fn prepare(&mut self, shards: &mut [Selector], observer: &mut dyn Observer) -> Result<()>;
}

impl<C: Counting + ?Sized> Machines for C {
    fn shards(&self, p: usize) -> Vec<Range<usize>> {
        std::iter::once(0..p).collect()
    }

    fn prepare(&mut self, shards: &mut [Selector], observer: &mut dyn Observer) -> Result<()> {
        shards.iter_mut().try_for_each(|shard| shard.prepare(self, observer))
    }
}

/// Several machines.
pub struct Shards<C> {
    machines: Vec<(C, Range<usize>)>,
}

impl<C: Counting + Send> Shards<C> {
    /// Cuts p features into as many ranges of about equal length as `machines` has makers, in order, and has each machine
    /// made for its own.
    ///
    /// # Errors
    /// [`Error::Argument`] where there is no machine; what the makers return.
    pub fn new(p: usize, makers: Vec<impl FnOnce(Range<usize>) -> Result<C>>) -> Result<Self> {
        let count = makers.len();
        if count == 0 {
            return Err(Error::Argument {
                argument: "device",
                value: "empty".into(),
                mend: "give at least one machine".into(),
            });
        }
        let ranges = (0..count).map(|i| p * i / count..p * (i + 1) / count);
        let machines = makers.into_iter().zip(ranges).map(|(make, range)| Ok((make(range.clone())?, range)));
        Ok(Shards { machines: machines.collect::<Result<_>>()? })
    }
}

impl<C: Counting + Send> Machines for Shards<C> {
    fn shards(&self, _p: usize) -> Vec<Range<usize>> {
        self.machines.iter().map(|(_, range)| range.clone()).collect()
    }

    fn prepare(&mut self, shards: &mut [Selector], observer: &mut dyn Observer) -> Result<()> {
        let mut parts = self.machines.iter_mut().map(|(machine, _)| machine).zip(shards);
        let Some((first, own)) = parts.next() else { return Ok(()) };
        std::thread::scope(|scope| {
            let running: Vec<_> =
                parts.map(|(machine, shard)| scope.spawn(move || shard.prepare(machine, &mut Silent))).collect();
            // The calling thread runs the first machine, and asks for all of them whether to stop.
            let mut outcome = own.prepare(first, observer);
            for machine in running {
                match machine.join() {
                    Ok(ended) => outcome = outcome.and(ended),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            outcome
        })
    }
}

/// Follows a machine that is not on the calling thread.
struct Silent;

impl Observer for Silent {}
