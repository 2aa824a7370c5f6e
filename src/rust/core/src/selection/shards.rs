//! Several machines, each with a range of the features.

use std::ops::Range;

use super::{Counting, Partner, Sums};
use crate::observer::Observer;
use crate::{Error, Result};

/// Machines that count at the same time, each for its range of features. The sums of a feature depend on no other feature, so
/// that the answer does not depend on the ranges.
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

impl<C: Counting + Send> Counting for Shards<C> {
    fn count(&mut self, partner: Partner, skip: &[bool], sums: &mut [Sums], observer: &mut dyn Observer) -> Result<()> {
        let Some(((first, range), others)) = self.machines.split_first_mut() else { return Ok(()) };
        let (own, mut rest) = sums.split_at_mut(range.len());
        let mut outcome = Ok(());
        let mut failed = None;
        std::thread::scope(|scope| {
            let mut running = Vec::with_capacity(others.len());
            for (machine, range) in others {
                let (part, later) = std::mem::take(&mut rest).split_at_mut(range.len());
                rest = later;
                let skip = &skip[range.clone()];
                running.push(scope.spawn(move || machine.count(partner, skip, part, &mut Silent)));
            }
            // The calling thread runs the first machine, and asks for all of them whether to stop.
            outcome = first.count(partner, &skip[range.clone()], own, observer);
            for machine in running {
                match machine.join() {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => failed = failed.take().or(Some(error)),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        outcome.and(failed.map_or(Ok(()), Err))
    }
}

/// Follows a machine that is not on the calling thread.
struct Silent;

impl Observer for Silent {}
