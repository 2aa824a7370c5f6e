//! One machine of several, on its own thread.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Instant;

use super::Member;
use crate::observer::Observer;
use crate::selection::selector::{Choice, Problem, Selector};
use crate::selection::Counting;
use crate::team::Moved;
use crate::{Error, Result};

/// What a machine is to do.
pub(super) enum Order<'p> {
    /// Select this feature, if any, and count what the next choice needs.
    Step(Option<Choice>),
    /// Give up so many features.
    Give(usize),
    /// Take over these features, and count for them what has not been counted.
    Take(Vec<Selector<'p>>),
}

/// What a machine has done.
pub(super) enum Answer<'p> {
    /// [`Order::Step`] and [`Order::Take`]: the best of its features.
    Best(Option<Choice>),
    /// [`Order::Give`]: the features.
    Given(Vec<Selector<'p>>),
    /// It does nothing any more: why, and its features as they are.
    Failed(Error, Vec<Selector<'p>>),
}

/// A machine, and the features that it has.
pub(super) struct Machine<'a> {
    pub member: Member<'a>,
    pieces: Vec<Piece<'a>>,
    /// Seconds that it took to get a feature and to count for it once; 0 before it has got any.
    pub making: f64,
    /// Why it does nothing any more.
    pub failure: Option<Error>,
}

struct Piece<'a> {
    range: Range<usize>,
    /// Made on the machine's thread, when it is first asked to count.
    counting: Option<Box<dyn Counting + Send + 'a>>,
}

/// How many features of a step a machine has done, as it works.
#[derive(Default)]
pub(super) struct Progress(AtomicU64);

impl Progress {
    pub fn done(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    fn note(&self, done: f64) {
        self.0.store(done.to_bits(), Ordering::Relaxed);
    }
}

/// Follows the count of a piece.
struct Watch<'s> {
    stop: &'s AtomicBool,
    progress: &'s Progress,
    /// Features of the pieces before, and of this.
    before: f64,
    features: f64,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, _level: usize, done: f64, total: f64) -> Result<()> {
        let share = if total > 0.0 { done / total } else { 0.0 };
        self.progress.note(self.before + share * self.features);
        self.look()
    }

    fn look(&mut self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}

impl<'a> Machine<'a> {
    pub fn new(member: Member<'a>) -> Self {
        Machine { member, pieces: Vec::new(), making: 0.0, failure: None }
    }

    /// Number of its features.
    pub fn features(&self) -> usize {
        self.pieces.iter().map(|piece| piece.range.len()).sum()
    }

    /// Whether it has got its features.
    pub fn has_all(&self) -> bool {
        self.pieces.iter().all(|piece| piece.counting.is_some())
    }

    /// Gives it these features and no others.
    pub fn assign(&mut self, range: Range<usize>) {
        self.pieces.clear();
        if !range.is_empty() {
            self.pieces.push(Piece { range, counting: None });
        }
    }

    /// A selector for each of its pieces.
    pub fn selectors<'p>(&self, problem: &Problem<'p>) -> Vec<Selector<'p>> {
        let Problem { samples, logs, criterion } = *problem;
        self.pieces.iter().map(|piece| Selector::new(samples, logs, criterion, piece.range.clone())).collect()
    }

    /// Does what is ordered, until there are no more orders: each order has one answer, with the seconds that it took, the counts that
    /// were made, and all that was copied since the beginning.
    pub fn serve<'p>(
        &mut self,
        mut selectors: Vec<Selector<'p>>,
        orders: Receiver<Order<'p>>,
        stop: &AtomicBool,
        progress: &Progress,
        answer: &mut dyn FnMut(Answer<'p>, f64, Moved),
    ) {
        for order in orders {
            let began = Instant::now();
            progress.note(0.0);
            let outcome = match order {
                Order::Step(choice) => {
                    if let Some(choice) = choice {
                        selectors.iter_mut().for_each(|selector| selector.take(&choice));
                    }
                    self.prepare(&mut selectors, stop, progress)
                }
                Order::Take(more) => {
                    let pieces = more.iter().map(|own| Piece { range: own.range(), counting: None });
                    self.pieces.extend(pieces);
                    selectors.extend(more);
                    self.prepare(&mut selectors, stop, progress)
                }
                Order::Give(count) => {
                    let given = self.give(&mut selectors, count);
                    answer(Answer::Given(given), began.elapsed().as_secs_f64(), self.moved());
                    continue;
                }
            };
            let moved = self.moved();
            let done = match outcome {
                Ok(()) => Answer::Best(selectors.iter().filter_map(Selector::best).max()),
                Err(error) => {
                    // Here, as a card's memory is given back on the thread that has used it.
                    self.pieces.clear();
                    self.failure.get_or_insert_with(|| error.clone());
                    Answer::Failed(error, std::mem::take(&mut selectors))
                }
            };
            answer(done, began.elapsed().as_secs_f64(), moved);
        }
    }

    /// [`Selector::prepare`] of all.
    fn prepare(&mut self, selectors: &mut [Selector], stop: &AtomicBool, progress: &Progress) -> Result<()> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let mut before = 0.0;
        for (piece, selector) in self.pieces.iter_mut().zip(selectors) {
            let features = piece.range.len() as f64;
            let mut watch = Watch { stop, progress, before, features };
            watch.look()?;
            let counting = match &mut piece.counting {
                Some(counting) => counting,
                none => none.insert((self.member.make)(piece.range.clone())?),
            };
            selector.prepare(&mut **counting, &mut watch)?;
            before += features;
        }
        Ok(())
    }

    /// Gives up its last `count` features.
    fn give<'p>(&mut self, selectors: &mut Vec<Selector<'p>>, mut count: usize) -> Vec<Selector<'p>> {
        let mut given = Vec::new();
        while count > 0 {
            let (Some(piece), Some(mut selector)) = (self.pieces.last_mut(), selectors.pop()) else { break };
            let length = piece.range.len();
            if length <= count {
                self.pieces.pop();
                given.push(selector);
                count -= length;
                continue;
            }
            let kept = length - count;
            given.push(selector.split_off(kept));
            selectors.push(selector);
            piece.range.end -= count;
            if let Some(counting) = &mut piece.counting {
                counting.narrow(kept);
            }
            count = 0;
        }
        given
    }

    fn moved(&self) -> Moved {
        let mut all = Moved::default();
        self.pieces.iter().filter_map(|piece| piece.counting.as_ref()).for_each(|counting| all += counting.moved());
        all
    }
}
