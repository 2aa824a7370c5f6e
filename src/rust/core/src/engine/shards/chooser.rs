//! The chooser of a selection: it makes the choices, and moves features between the seats that count for them.

use std::ops::Range;

use crate::engine::dispatch::shares::Shares;
use crate::observer::Observer;
use crate::selection::{Choice, Step};
use crate::Result;

/// News from a seat.
pub(in crate::engine) enum News {
    /// The seat has counted for its features; with the best of them, and the seconds that it took.
    Counted { seat: usize, best: Option<Choice>, seconds: f64 },
    /// The seat leaves its features to others.
    Left { seat: usize },
    /// The seat may get features again.
    Back { seat: usize },
}

/// The seats of a selection, which count for its features.
pub(in crate::engine) trait Counters {
    /// Has seats count what the next choice needs for these features. They replace the seat's features: the first of its old ones, then new
    /// ones. `last` is the previous choice, unless the seats know it.
    fn order(&mut self, orders: Vec<(usize, &[Range<usize>])>, last: Option<Choice>) -> Result<()>;

    /// Waits for news. `watch` gets the number of features that have been counted.
    ///
    /// # Errors
    /// An error if no seat is left, and the errors of `watch`.
    fn next(&mut self, watch: &mut dyn FnMut(f64) -> Result<()>) -> Result<News>;

    /// Ends a step: all seats have counted.
    fn end(&mut self) -> Result<()>;

    /// Enters a choice.
    fn chosen(&mut self, choice: Choice, observer: &mut dyn Observer) -> Result<()>;

    /// Returns the seconds that a seat of this speed needs for a feature that it gets.
    fn cost(&self, seat: usize, speed: f64) -> f64;
}

/// A seat as the chooser knows it.
#[derive(Default)]
struct Holder {
    /// Its features, in the order in which it got them; `more` are those that it gets with its next order.
    features: Vec<Range<usize>>,
    more: Vec<Range<usize>>,
    /// Whether it gets nothing for now. `is_back`: whether it has returned and may get features.
    is_away: bool,
    is_back: bool,
    is_at_work: bool,
    /// Whether it had features in its last order.
    holds: bool,
    best: Option<Choice>,
    /// Seconds of work in this step.
    step: f64,
}

/// Makes the choices of a selection.
pub(in crate::engine) struct Chooser<C: Counters> {
    pub counters: C,
    holders: Vec<Holder>,
    /// The number of features of each seat.
    shares: Shares,
    /// Features that no seat has.
    spare: Vec<Range<usize>>,
    /// Whether seats get features in this step, so that it does not show how fast they are.
    is_fresh: bool,
    /// The number of features; `reported` is the most that was reported in this step.
    all: f64,
    reported: f64,
}

impl<C: Counters> Chooser<C> {
    /// Makes a chooser. `seats` has the features of each seat, or `None` for a seat that may not get any. `spare` are features without a
    /// seat.
    pub fn new(counters: C, seats: Vec<Option<Vec<Range<usize>>>>, spare: Range<usize>, mut shares: Shares) -> Self {
        let holder = |(seat, features): (usize, Option<Vec<Range<usize>>>)| {
            let (is_away, features) = (features.is_none(), features.unwrap_or_default());
            shares.set(seat, count_of(&features));
            Holder { features, is_away, ..Holder::default() }
        };
        let holders: Vec<Holder> = seats.into_iter().enumerate().map(holder).collect();
        let spare: Vec<Range<usize>> = Some(spare).filter(|spare| !spare.is_empty()).into_iter().collect();
        let all = (holders.iter().map(|holder| count_of(&holder.features)).sum::<usize>() + count_of(&spare)) as f64;
        Chooser { counters, holders, shares, spare, is_fresh: true, all, reported: 0.0 }
    }

    /// Makes `k` choices one after the other. Progress is measured against `steps` counted steps.
    pub fn choose(&mut self, k: usize, steps: usize, observer: &mut dyn Observer) -> Result<()> {
        let mut last = None;
        for step in 0..k {
            let mut within = Step { observer: &mut *observer, step, count: 1, steps };
            self.reported = 0.0;
            self.holders.iter_mut().for_each(|holder| holder.step = 0.0);
            // A seat that has given all its features away is called once more, to release their memory.
            let has_some = |&seat: &usize| self.holders[seat].holds || self.shares.count(seat) > 0;
            self.order(self.seats(has_some), last)?;
            self.collect(&mut within)?;
            self.measure();
            let Some(best) = self.holders.iter().filter_map(|holder| holder.best).max() else { break };
            self.counters.chosen(best, &mut within)?;
            last = Some(best);
            if step > 0 && (step + 1).is_power_of_two() && steps == k {
                self.cut_again(k - step - 1);
            }
        }
        Ok(())
    }

    fn seats(&self, which: impl Fn(&usize) -> bool) -> Vec<usize> {
        (0..self.holders.len()).filter(which).collect()
    }

    fn order(&mut self, seats: Vec<usize>, last: Option<Choice>) -> Result<()> {
        for &seat in &seats {
            let holder = &mut self.holders[seat];
            holder.features.append(&mut holder.more);
            (holder.is_at_work, holder.is_back, holder.holds) = (true, false, !holder.features.is_empty());
        }
        self.counters.order(seats.into_iter().map(|seat| (seat, &*self.holders[seat].features)).collect(), last)
    }

    /// Waits until all features have been counted.
    fn collect(&mut self, observer: &mut dyn Observer) -> Result<()> {
        loop {
            self.deal_spare()?;
            if self.spare.is_empty() && self.holders.iter().all(|holder| !holder.is_at_work) {
                return self.counters.end();
            }
            let (reported, all) = (&mut self.reported, self.all);
            let news = self.counters.next(&mut |done| {
                *reported = reported.max(done.min(all));
                observer.progress(0, *reported, all)
            })?;
            match news {
                News::Counted { seat, best, seconds } => {
                    let holder = &mut self.holders[seat];
                    (holder.best, holder.is_at_work) = (best, false);
                    holder.step += seconds;
                    if !holder.more.is_empty() {
                        self.order(vec![seat], None)?;
                    }
                }
                News::Left { seat } => {
                    let holder = &mut self.holders[seat];
                    (holder.is_away, holder.is_back, holder.is_at_work) = (true, false, false);
                    (holder.holds, holder.best) = (false, None);
                    self.spare.append(&mut holder.features);
                    self.spare.append(&mut holder.more);
                    self.shares.set(seat, 0);
                }
                News::Back { seat } => (self.holders[seat].is_away, self.holders[seat].is_back) = (false, true),
            }
        }
    }

    /// Gives the features that no seat has to seats, and has these count.
    fn deal_spare(&mut self) -> Result<()> {
        let works = self.seats(|&seat| !self.holders[seat].is_away);
        if self.spare.is_empty() || works.is_empty() {
            return Ok(());
        }
        let spare = std::mem::take(&mut self.spare);
        let counts = self.shares.deal(count_of(&spare), &self.shares.speeds(&works));
        self.deal(spare, &counts);
        self.order(self.seats(|&seat| !self.holders[seat].more.is_empty() && !self.holders[seat].is_at_work), None)
    }

    /// Records how long each seat took for the step, unless seats got features in it.
    fn measure(&mut self) {
        for (seat, holder) in self.holders.iter().enumerate().filter(|_| !self.is_fresh) {
            self.shares.enter(seat, holder.step);
        }
        self.is_fresh = false;
    }

    /// Gives each seat its number of features from `counts`, for its next order.
    fn deal(&mut self, mut spare: Vec<Range<usize>>, counts: &[usize]) {
        for (holder, &count) in self.holders.iter_mut().zip(counts) {
            holder.more.extend(split_last(&mut spare, count));
        }
        self.is_fresh = true;
    }

    /// Moves features from slow seats to fast ones, if that pays within the `left` steps.
    fn cut_again(&mut self, left: usize) {
        let seats = self.seats(|&seat| self.holders[seat].is_back || self.shares.count(seat) > 0);
        let (speeds, counters) = (self.shares.speeds(&seats), &self.counters);
        let cost = |seat: usize| counters.cost(seat, speeds[seat]);
        let Some((gives, gains)) = self.shares.cut_again(left, &seats, &cost) else { return };
        let mut spare = Vec::new();
        for (holder, &gives) in self.holders.iter_mut().zip(&gives) {
            spare.extend(split_last(&mut holder.features, gives));
            if holder.features.is_empty() {
                holder.best = None;
            }
        }
        self.deal(spare, &gains);
    }
}

/// Returns the number of features in these ranges.
pub(in crate::engine) fn count_of(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(Range::len).sum()
}

/// Takes `count` features from the end.
fn split_last(ranges: &mut Vec<Range<usize>>, mut count: usize) -> Vec<Range<usize>> {
    let mut taken = Vec::new();
    while count > 0 {
        let Some(mut last) = ranges.pop() else { break };
        if last.len() > count {
            let mid = last.end - count;
            ranges.push(last.start..mid);
            last.start = mid;
        }
        count -= last.len();
        taken.push(last);
    }
    taken
}
