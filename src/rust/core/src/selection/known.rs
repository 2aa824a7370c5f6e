//! Sums that several selections from the same samples share.

use super::{Counting, Partner, Sums};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::Result;

/// Most bytes for sums that are kept.
pub(crate) const MOST_KEPT: usize = 64 << 20;

/// A machine that keeps its sums. It counts a pair of features once, whichever criteria need it.
pub(super) struct Known<'c, C: Counting + ?Sized> {
    counting: &'c mut C,
    kept: Vec<Kept>,
}

/// The sums with one partner, a feature or none.
struct Kept {
    partner: Option<usize>,
    sums: Vec<Sums>,
    lacks: Vec<bool>,
}

impl<'c, C: Counting + ?Sized> Known<'c, C> {
    pub fn new(counting: &'c mut C) -> Self {
        Known { counting, kept: Vec::new() }
    }
}

impl<C: Counting + ?Sized> Counting for Known<'_, C> {
    fn count(&mut self, partner: Partner, skip: &[bool], sums: &mut [Sums], observer: &mut dyn Observer) -> Result<()> {
        let wanted = match partner {
            Partner::Nothing => None,
            Partner::Feature(feature) => Some(feature),
            Partner::Joint(_) => return self.counting.count(partner, skip, sums, observer),
        };
        let at = match self.kept.iter().position(|kept| kept.partner == wanted) {
            Some(at) => at,
            None if (self.kept.len() + 1) * size_of_val(sums) > MOST_KEPT => {
                return self.counting.count(partner, skip, sums, observer);
            }
            None => {
                let lacks = memory::collected(skip.iter().map(|_| true), Use::Features)?;
                let sums = memory::collected(skip.iter().map(|_| Sums::default()), Use::Features)?;
                self.kept.push(Kept { partner: wanted, sums, lacks });
                self.kept.len() - 1
            }
        };
        let kept = &mut self.kept[at];
        let leave_out: Vec<bool> = kept.lacks.iter().zip(skip).map(|(&lacks, &skip)| skip || !lacks).collect();
        if leave_out.contains(&false) {
            self.counting.count(partner, &leave_out, &mut kept.sums, observer)?;
            kept.lacks.iter_mut().zip(&leave_out).for_each(|(lacks, &left_out)| *lacks &= left_out);
        }
        let found = sums.iter_mut().zip(&kept.sums).zip(skip).filter(|(_, &skip)| !skip);
        found.for_each(|((sum, &found), _)| *sum = found);
        Ok(())
    }

    fn foresees(&self) -> usize {
        self.counting.foresees()
    }

    fn foresee(&mut self, likely: &[usize]) {
        self.counting.foresee(likely);
    }

    fn narrow(&mut self, count: usize) {
        self.counting.narrow(count);
        self.kept.clear();
    }
}
