//! The step from squared partial correlations to the verdict on a side.

use super::rules::Rules;
use crate::engine::cpu::kernel::{SideView, Signal};
use crate::search::level::Verdict;

/// The judge of a side, which turns blocks of q into a verdict.
pub(super) struct Judge<'a> {
    pub rules: Rules<'a>,
    pub side: &'a SideView<'a>,
    pub signal: &'a Signal<'a>,
    smallest: f64,
    smallest_rank: u64,
    /// The largest p among the tests decided by the exact formula, with its rank.
    exact: Option<(f64, u64)>,
}

impl<'a> Judge<'a> {
    /// Creates a judge. `smallest` is the smallest q of the side's earlier tests, with its rank, if known.
    pub fn new(
        rules: &Rules<'a>,
        side: &'a SideView<'a>,
        signal: &'a Signal<'a>,
        smallest: Option<(f64, u64)>,
    ) -> Self {
        let (smallest, smallest_rank) = smallest.unwrap_or((f64::INFINITY, side.ranks.start));
        Judge { rules: *rules, side, signal, smallest, smallest_rank, exact: None }
    }

    pub fn row(&self) -> usize {
        self.side.side.row as usize
    }

    pub fn other(&self) -> usize {
        self.side.side.other as usize
    }

    /// Checks the block whose first test has rank `first`. `condition` says how reliable each q is; `set(i)` is the conditioning set of the i-th
    /// test. Returns a verdict if a test ends the side.
    #[inline(always)]
    pub fn block<S: AsRef<[u32]>>(
        &mut self,
        q: &[f64],
        condition: &[f64],
        first: u64,
        set: impl FnMut(usize) -> S,
    ) -> Option<Verdict> {
        let mut least = f64::INFINITY;
        for &value in q {
            least = if value < least { value } else { least };
        }
        if least > self.rules.cutoff.dependent_above && least >= self.smallest {
            return None;
        }
        self.scan(q, condition, first, set)
    }

    #[inline(never)]
    fn scan<S: AsRef<[u32]>>(
        &mut self,
        q: &[f64],
        condition: &[f64],
        first: u64,
        mut set: impl FnMut(usize) -> S,
    ) -> Option<Verdict> {
        let above = self.rules.cutoff.dependent_above;
        // In small groups, because most hold no such test.
        const GROUP: usize = 8;
        let suspects = q.chunks(GROUP).enumerate().filter(|(_, group)| {
            let least = group.iter().fold(f64::INFINITY, |a, &b| if b < a { b } else { a });
            least <= above
        });
        for (i, &value) in
            suspects.flat_map(|(g, group)| group.iter().enumerate().map(move |(i, v)| (g * GROUP + i, v)))
        {
            if value > above {
                continue;
            }
            let rank = first + i as u64;
            if value < 0.0 || value >= self.rules.cutoff.independent_below {
                if let Some(verdict) = self.exactly(rank, set(i).as_ref()) {
                    return Some(verdict);
                }
            } else {
                let p = self.rules.p_of_square(value, condition[i], self.row(), self.other(), set(i).as_ref());
                return Some(Verdict::Independent { rank, p });
            }
        }
        for (i, &value) in q.iter().enumerate() {
            if value > above && value < self.smallest {
                self.smallest = value;
                self.smallest_rank = first + i as u64;
            }
        }
        None
    }

    /// Decides one test by pcalg's formula. Returns a verdict unless the test is dependent.
    pub fn exactly(&mut self, rank: u64, set: &[u32]) -> Option<Verdict> {
        self.signal.count_exact();
        match self.rules.exactly(self.row(), self.other(), set) {
            Err(reason) => Some(Verdict::Undefined { rank, reason }),
            Ok((p, true)) => Some(Verdict::Independent { rank, p }),
            Ok((p, false)) => {
                if self.exact.is_none_or(|(largest, _)| p > largest) {
                    self.exact = Some((p, rank));
                }
                None
            }
        }
    }

    /// Returns the verdict if no set separated: the largest p, by pcalg's formula at the smallest q.
    pub fn dependent(&self) -> Verdict {
        let mut best = self.exact.unwrap_or((-1.0, self.side.ranks.start));
        if self.smallest < f64::INFINITY {
            let set = self.side.side.set(self.side.neighbours, self.side.size, self.smallest_rank);
            // The quick form was trusted here, so pcalg's formula has an answer too.
            if let Ok(p) = self.rules.gauss.p_value(self.row(), self.other(), &set) {
                if p > best.0 {
                    best = (p, self.smallest_rank);
                }
            }
        }
        Verdict::Dependent { rank: best.1, p: best.0 }
    }
}
