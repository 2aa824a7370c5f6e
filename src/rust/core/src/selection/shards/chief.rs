//! The calling thread of a selection on several machines: it makes the choices, moves features, and asks the observer.

use std::any::Any;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::machine::{Answer, Machine, Order, Progress};
use crate::memory;
use crate::observer::Observer;
use crate::selection::select::{steps, Step};
use crate::selection::selector::{Choice, Problem, Selector};
use crate::team::{Lost, Moved};
use crate::{Error, Result};

/// Time between two looks of the calling thread.
const WATCH: Duration = Duration::from_millis(20);

/// Features are cut again where a step is to take at most this share of what it takes now, ...
const WORTH: f64 = 0.9;

/// ... and all steps that are left save this many times what the move costs.
const MARGIN: f64 = 2.0;

/// Steps that took less in all, in seconds, do not tell how fast a machine is: of a step of a millisecond the host's part is a third, and varies. (By 2 ms, three steps, one of
/// two equal cards came to 0.13 s of work, the other to 0.22, see inst/bench/RESULTS.md.) ...
const SURE: f64 = 2e-2;

/// ... nor do fewer steps than this, one of which may have been held up, ...
const ENOUGH: usize = 3;

/// ... but where one takes this long, in seconds.
const LONG: f64 = 0.25;

/// A machine for which fewer features are left than this gets none: what a step costs it is not their counts.
const FEWEST: usize = 8;

/// What a machine tells the calling thread.
pub(super) enum Told<'p> {
    /// By the machine with this number: see [`Machine::serve`].
    Answer { from: usize, answer: Answer<'p>, seconds: f64, moved: Moved },
    /// A bug: its thread has ended.
    Panic(Box<dyn Any + Send>),
}

/// What the calling thread knows of a machine.
pub(super) struct Post<'p> {
    pub name: String,
    orders: Sender<Order<'p>>,
    /// Number of its features.
    features: usize,
    /// The guess.
    speed: f64,
    lost: bool,
    /// Orders without an answer.
    waiting: usize,
    best: Option<Choice>,
    pub counts: u64,
    pub moved: Moved,
    /// Seconds that it worked, in all, and in each of the steps that are measured.
    pub busy: f64,
    measured: Vec<f64>,
    /// Seconds in this step.
    step: f64,
    /// Whether it had its features before the selection; else its first step brings them, ...
    is_made: bool,
    /// ... which tells the seconds that it takes to get a feature and to count for it once.
    pub making: f64,
}

impl<'p> Post<'p> {
    pub fn new(orders: Sender<Order<'p>>, machine: &Machine) -> Self {
        Post {
            name: machine.member.name.clone(),
            orders,
            features: machine.features(),
            speed: machine.member.speed.max(1e-9),
            lost: machine.failure.is_some(),
            waiting: 0,
            best: None,
            counts: 0,
            moved: Moved::default(),
            busy: 0.0,
            measured: Vec::new(),
            step: 0.0,
            is_made: machine.has_all(),
            making: machine.making,
        }
    }

    /// Seconds of a step: the median of those that are measured, as another program may have held up some. 0 where none is.
    fn usual(&self) -> f64 {
        let mut steps = self.measured.clone();
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 2).copied().unwrap_or(0.0)
    }

    fn order(&mut self, order: Order<'p>) {
        // Where its thread has ended, that says why.
        if self.orders.send(order).is_ok() {
            self.waiting += 1;
        }
    }
}

pub(super) struct Chief<'p, 's> {
    problem: Problem<'p>,
    pub posts: Vec<Post<'p>>,
    told: Receiver<Told<'p>>,
    stop: &'s AtomicBool,
    progress: &'s [Progress],
    /// Why all end.
    failure: Option<Error>,
    panic: Option<Box<dyn Any + Send>>,
    pub lost: Vec<Lost>,
    /// Features that no machine has.
    spare: Vec<Selector<'p>>,
    /// Steps since features last moved that tell how fast the machines are.
    measured: usize,
    /// Whether this step is none of them, as machines get their data in it.
    fresh: bool,
    /// The most that was reported of this step.
    reported: f64,
    looked: Instant,
}

impl<'p, 's> Chief<'p, 's> {
    pub fn new(
        problem: Problem<'p>,
        posts: Vec<Post<'p>>,
        told: Receiver<Told<'p>>,
        stop: &'s AtomicBool,
        progress: &'s [Progress],
    ) -> Self {
        Chief {
            problem,
            posts,
            told,
            stop,
            progress,
            failure: None,
            panic: None,
            lost: Vec::new(),
            spare: Vec::new(),
            measured: 0,
            fresh: true,
            reported: 0.0,
            looked: Instant::now(),
        }
    }

    /// See [`Machines::choose`](crate::selection::Machines::choose).
    pub fn choose(&mut self, k: usize, observer: &mut dyn Observer, chosen: &mut dyn FnMut(Choice)) -> Result<()> {
        let mut last = None;
        let steps = steps(&self.problem, k);
        for step in 0..k {
            let mut within = Step { observer: &mut *observer, step, steps };
            self.reported = 0.0;
            for post in self.posts.iter_mut().filter(|post| post.features > 0) {
                post.step = 0.0;
                post.order(Order::Step(last));
            }
            self.collect(&mut within)?;
            self.measure(step);
            let Some(best) = self.posts.iter().filter_map(|post| post.best).max() else { break };
            chosen(best);
            last = Some(best);
            if step > 0 && (step + 1).is_power_of_two() && steps == k {
                self.cut_again(k - step - 1, &mut within)?;
            }
        }
        Ok(())
    }

    /// Waits until all orders have answers. The features of a machine that fails go to the others.
    fn collect(&mut self, observer: &mut dyn Observer) -> Result<()> {
        while self.posts.iter().any(|post| post.waiting > 0) {
            match self.told.recv_timeout(WATCH) {
                Ok(Told::Answer { from, answer, seconds, moved }) => self.enter(from, answer, seconds, moved),
                Ok(Told::Panic(panic)) => {
                    self.panic = Some(panic);
                    self.end(Error::Interrupted);
                    break;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look(observer);
        }
        // A panic elsewhere is not waited for: the scope of the threads does.
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        match self.failure.take() {
            Some(error) => Err(error),
            None => memory::check(),
        }
    }

    fn enter(&mut self, from: usize, answer: Answer<'p>, seconds: f64, moved: Moved) {
        let post = &mut self.posts[from];
        post.waiting -= 1;
        post.busy += seconds;
        post.step += seconds;
        post.moved = post.moved.max(moved);
        match answer {
            Answer::Best(best) => {
                post.best = best;
                post.counts += 1;
            }
            Answer::Given(features) => self.spare.extend(features),
            Answer::Failed(error @ Error::Device(_), features) if self.failure.is_none() => {
                if !post.lost {
                    self.lost.push(Lost::by(post.name.clone(), &error));
                }
                (post.lost, post.features, post.best) = (true, 0, None);
                self.fresh = true;
                let speeds = self.speeds();
                if speeds.iter().all(|&speed| speed == 0.0) {
                    return self.end(error);
                }
                self.deal(features, &speeds);
            }
            Answer::Failed(error, _) => self.end(error),
        }
    }

    /// All are to end; of several reasons the first counts.
    fn end(&mut self, error: Error) {
        self.stop.store(true, Ordering::Relaxed);
        self.failure.get_or_insert(error);
    }

    /// Reports progress and asks whether to stop, now and then.
    fn look(&mut self, observer: &mut dyn Observer) {
        if self.looked.elapsed() < WATCH || self.failure.is_some() {
            return;
        }
        let done = self.posts.iter().zip(self.progress).map(|(post, progress)| match post.waiting {
            0 => post.features as f64,
            _ => progress.done(),
        });
        self.reported = self.reported.max(done.sum());
        if let Err(error) = observer.progress(0, self.reported, self.problem.samples.p() as f64) {
            self.end(error);
        }
        self.looked = Instant::now();
    }

    /// Notes how long a step took.
    fn measure(&mut self, step: usize) {
        for post in self.posts.iter_mut().filter(|post| post.features > 0) {
            if step == 0 && !post.is_made {
                post.making = post.step / post.features as f64;
            }
            if !self.fresh {
                post.measured.push(post.step);
            }
        }
        self.measured += usize::from(!self.fresh);
        self.fresh = false;
    }

    /// Features a second of each machine; 0 of those that are lost.
    fn speeds(&self) -> Vec<f64> {
        let of = |post: &Post| Some(post.usual()).filter(|&step| step > 0.0).map(|step| post.features as f64 / step);
        // Those that have counted nothing yet are beside the others what was guessed.
        let known = self.posts.iter().filter_map(|post| Some((of(post)?, post.speed)));
        let (seconds, guessed) = known.fold((0.0, 0.0), |sum, (speed, guess)| (sum.0 + speed, sum.1 + guess));
        let unit = if guessed > 0.0 && seconds > 0.0 { seconds / guessed } else { 1.0 };
        let speed = |post: &Post| of(post).filter(|&speed| speed > 0.0).unwrap_or(post.speed * unit);
        self.posts.iter().map(|post| if post.lost { 0.0 } else { speed(post) }).collect()
    }

    /// Hands features out, as many to each machine as its share says.
    fn deal(&mut self, mut features: Vec<Selector<'p>>, shares: &[f64]) {
        let total = features.iter().map(|some| some.range().len()).sum();
        for (post, mut count) in self.posts.iter_mut().zip(apportion(total, shares)) {
            let mut own = Vec::new();
            post.features += count;
            while count > 0 {
                let Some(mut some) = features.pop() else { break };
                if some.range().len() > count {
                    features.push(some.split_off(count));
                }
                count -= some.range().len();
                own.push(some);
            }
            if !own.is_empty() {
                post.order(Order::Take(own));
            }
        }
    }

    /// Moves features from slow machines to fast ones, where that pays within the `left` steps.
    fn cut_again(&mut self, left: usize, observer: &mut dyn Observer) -> Result<()> {
        let now = self.posts.iter().map(Post::usual).fold(0.0, f64::max);
        if (self.measured < ENOUGH && now < LONG) || now * (self.measured as f64) < SURE {
            return Ok(());
        }
        let at_work = |post: &Post| post.features > 0 && post.usual() > 0.0;
        let mut speeds = self.speeds();
        for (speed, post) in speeds.iter_mut().zip(&self.posts) {
            if !at_work(post) {
                *speed = 0.0;
            }
        }
        let total: usize = self.posts.iter().map(|post| post.features).sum();
        let then = total as f64 / speeds.iter().sum::<f64>();
        let mut wanted = apportion(total, &speeds);
        for (speed, &count) in speeds.iter_mut().zip(&wanted) {
            if count < FEWEST.min(total / 2) {
                *speed = 0.0;
            }
        }
        if speeds.iter().any(|&speed| speed > 0.0) {
            wanted = apportion(total, &speeds);
        }
        let gains = self.posts.iter().zip(&wanted).map(|(post, &wanted)| wanted.saturating_sub(post.features));
        let gains: Vec<usize> = gains.collect();
        let cost = self.posts.iter().zip(&gains).map(|(post, &gain)| post.making * gain as f64).fold(0.0, f64::max);
        if !(then < WORTH * now && (now - then) * left as f64 > MARGIN * cost) {
            return Ok(());
        }
        for (post, &wanted) in self.posts.iter_mut().zip(&wanted).filter(|(post, &wanted)| post.features > wanted) {
            post.order(Order::Give(post.features - wanted));
            post.features = wanted;
            if wanted == 0 {
                post.best = None;
            }
        }
        self.collect(observer)?;
        let spare = std::mem::take(&mut self.spare);
        self.deal(spare, &gains.iter().map(|&gain| gain as f64).collect::<Vec<f64>>());
        self.collect(observer)?;
        self.measured = 0;
        self.fresh = true;
        self.posts.iter_mut().for_each(|post| post.measured.clear());
        Ok(())
    }
}

/// Shares `total` out as the weights say, to the nearest whole number; weights are not negative, and not all 0.
pub(crate) fn apportion(total: usize, weights: &[f64]) -> Vec<usize> {
    let sum: f64 = weights.iter().sum();
    let last = weights.iter().rposition(|&weight| weight > 0.0);
    let (mut before, mut given) = (0.0, 0);
    let share = |(at, &weight): (usize, &f64)| {
        before += weight;
        let end =
            if last.is_some_and(|last| at >= last) { total } else { (total as f64 * before / sum).round() as usize };
        let own = end.clamp(given, total) - given;
        given += own;
        own
    };
    weights.iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_follow_the_weights() {
        assert_eq!(apportion(10, &[1.0, 1.0]), [5, 5]);
        assert_eq!(apportion(10, &[0.0, 3.0, 1.0, 0.0]), [0, 8, 2, 0]);
        assert_eq!(apportion(1, &[1.0; 3]).iter().sum::<usize>(), 1);
        assert_eq!(apportion(0, &[1.0, 2.0]), [0, 0]);
        for total in [1, 7, 1000, 62_061] {
            for weights in [[1.0, 1e-9, 3.0, 0.3], [0.1, 0.2, 1e9, 0.0], [0.0, 0.0, 0.0, 2.0]] {
                let counts = apportion(total, &weights);
                assert_eq!(counts.iter().sum::<usize>(), total);
                assert!(counts.iter().zip(&weights).all(|(&count, &weight)| count == 0 || weight > 0.0));
            }
        }
    }
}
