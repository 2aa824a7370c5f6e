//! One of several machines that select together, on its own thread.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::engine::dispatch::follow::{Follow, Watch};
use crate::engine::dispatch::queue::Units;
use crate::observer::Observer;
use crate::selection::{Choice, Counting, Maker, Selector};
use crate::team::Moved;
use crate::{DeviceError, Error, Result};

/// An order for a machine: count what the next choice needs for these features, which replace those that it has.
pub(super) struct Order<'p> {
    pub machine: usize,
    pub selectors: Vec<Selector<'p>>,
    /// The previous choice, unless the selectors have it.
    pub last: Option<Choice>,
}

/// A machine's answer to an order.
pub(super) struct Answer<'p> {
    /// The features of the order.
    pub selectors: Vec<Selector<'p>>,
    /// The best of them, or the error that ended the machine.
    pub best: std::result::Result<Option<Choice>, DeviceError>,
    pub seconds: f64,
    /// Whether the machine has no memory for more features.
    pub is_full: bool,
}

/// The orders of a step, each for its machine.
pub(super) struct Orders<'p> {
    /// By order: the machine, and the number of features.
    of: Vec<(usize, usize)>,
    orders: Mutex<Vec<Option<Order<'p>>>>,
}

impl<'p> Orders<'p> {
    pub fn new(orders: Vec<Order<'p>>) -> Self {
        let features = |order: &Order| order.selectors.iter().map(|selector| selector.range().len()).sum();
        let of = orders.iter().map(|order| (order.machine, features(order))).collect();
        Orders { of, orders: Mutex::new(orders.into_iter().map(Some).collect()) }
    }

    fn take(&self, unit: usize) -> Option<Order<'p>> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)[unit].take()
    }
}

impl Units for Orders<'_> {
    fn len(&self) -> usize {
        self.of.len()
    }

    fn cost(&self, units: &Range<usize>) -> f64 {
        self.of[units.clone()].iter().map(|&(_, features)| features as f64).sum()
    }

    fn level(&self, _unit: usize) -> Option<usize> {
        Some(0)
    }

    fn shards(&self, units: &Range<usize>) -> usize {
        self.of[units.clone()].iter().filter(|(_, features)| *features > 0).count()
    }

    fn owner(&self, unit: usize) -> Option<usize> {
        Some(self.of[unit].0)
    }

    fn cut(&self, units: &Range<usize>, _wanted: f64) -> usize {
        units.start + 1
    }
}

/// A machine and its features.
pub(super) struct Machine<'a> {
    make: Maker<'a>,
    pieces: Vec<Piece<'a>>,
    /// What was copied for features that it no longer has.
    past: Moved,
    /// Seconds to get a feature and count it once: infinite if it has no memory for more, `None` before it has got any.
    pub making: Option<f64>,
}

struct Piece<'a> {
    range: Range<usize>,
    /// The counting machine, made on the member's thread when it is first used.
    counting: Option<Box<dyn Counting + Send + 'a>>,
}

impl<'a> Machine<'a> {
    pub fn new(make: Maker<'a>) -> Self {
        Machine { make, pieces: Vec::new(), past: Moved::default(), making: None }
    }

    /// Returns what was copied to and from the machine.
    pub fn moved(&self) -> Moved {
        let mut all = self.past;
        self.pieces.iter().filter_map(|piece| piece.counting.as_ref()).for_each(|counting| all += counting.moved());
        all
    }

    /// Keeps the first `count` pieces.
    pub fn keep(&mut self, count: usize) {
        let kept = self.pieces.split_off(count.min(self.pieces.len()));
        kept.iter().filter_map(|piece| piece.counting.as_ref()).for_each(|counting| self.past += counting.moved());
    }

    /// Returns the features of the machine's pieces.
    pub fn ranges(&self) -> Vec<Range<usize>> {
        self.pieces.iter().map(|piece| piece.range.clone()).collect()
    }

    /// Carries out an order.
    ///
    /// # Errors
    /// Any error except a device's, which is in the answer together with the features.
    pub fn answer<'p>(&mut self, orders: &Orders<'p>, order: &Range<usize>, watch: Watch) -> Result<Answer<'p>> {
        let began = Instant::now();
        let Order { mut selectors, last, .. } = orders.take(order.start).ok_or(Error::Interrupted)?;
        if let Some(choice) = last {
            selectors.iter_mut().for_each(|selector| selector.take(&choice));
        }
        let best = match self.prepare(&mut selectors, watch) {
            Ok(()) => Ok(selectors.iter().filter_map(Selector::best).max()),
            Err(Error::Device(error)) => {
                // This thread has used the GPU's memory, so it must release it.
                self.keep(0);
                Err(error)
            }
            Err(error) => return Err(error),
        };
        let is_full = self.pieces.iter().filter_map(|piece| piece.counting.as_ref()).any(|counting| counting.is_full());
        Ok(Answer { selectors, best, seconds: began.elapsed().as_secs_f64(), is_full })
    }

    /// Matches the pieces to the selectors' features, then calls [`Selector::prepare`] of each. Features leave from the end, and new ones
    /// are appended.
    fn prepare(&mut self, selectors: &mut [Selector], watch: Watch) -> Result<()> {
        let is_of = |(piece, selector): &(&Piece, &Selector)| {
            piece.range.start == selector.range().start && piece.range.end >= selector.range().end
        };
        self.keep(self.pieces.iter().zip(&*selectors).take_while(is_of).count());
        let mut follow =
            Follow::new(watch, selectors.iter().map(|selector| selector.range().len()).sum::<usize>() as f64);
        for (at, selector) in selectors.iter_mut().enumerate() {
            let range = selector.range();
            follow.next(range.len() as f64).look()?;
            if self.pieces.len() == at {
                self.pieces.push(Piece { range: range.clone(), counting: None });
            }
            let piece = &mut self.pieces[at];
            if piece.range != range {
                piece.range = range.clone();
                piece.counting.iter_mut().for_each(|counting| counting.narrow(range.len()));
            }
            let counting = match &mut piece.counting {
                Some(counting) => counting,
                none => none.insert((self.make)(range)?),
            };
            selector.prepare(&mut **counting, &mut follow)?;
        }
        Ok(())
    }
}
