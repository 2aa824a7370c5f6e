//! The calling thread of a selection on several machines: it makes the choices, and moves features.

use super::machine::{features, Answer, Machine, Order, Orders};
use crate::engine::dispatch::local::Front;
use crate::engine::dispatch::shares::Shares;
use crate::memory;
use crate::observer::Observer;
use crate::selection::{Choice, Problem, Selector, Step};
use crate::{Error, Result};

/// What the calling thread knows of a machine.
#[derive(Default)]
pub(super) struct Post<'p> {
    /// Its features, while it does not work.
    selectors: Vec<Selector<'p>>,
    /// Those that it gets once it does not.
    more: Vec<Selector<'p>>,
    is_lost: bool,
    is_at_work: bool,
    /// Whether the machine had features in its last order.
    holds: bool,
    best: Option<Choice>,
    /// Seconds in this step.
    step: f64,
    /// Whether it had its features before the selection; else its first step brings them, ...
    is_made: bool,
    /// ... which tells the seconds that it takes to get a feature and to count for it once.
    pub making: f64,
}

impl<'p> Post<'p> {
    /// A machine with these features.
    pub fn new(machine: &Machine, selectors: Vec<Selector<'p>>, is_lost: bool) -> Self {
        Post { selectors, is_lost, is_made: machine.has_all(), making: machine.making, ..Post::default() }
    }
}

pub(super) struct Chief<'p, 'f, 'r> {
    pub problem: Problem<'p>,
    pub front: &'f mut Front<'r, Orders<'p>, Answer<'p>>,
    pub posts: Vec<Post<'p>>,
    /// How many features each machine has.
    pub shares: Shares,
    /// Orders of this step.
    pub jobs: Vec<u64>,
    /// Whether this step does not tell how fast machines are, as they get their data in it.
    pub is_fresh: bool,
    /// The most that was reported of this step.
    pub reported: f64,
}

impl<'p> Chief<'p, '_, '_> {
    /// See [`Machines::choose`](crate::selection::Machines::choose).
    pub fn choose(&mut self, k: usize, observer: &mut dyn Observer, chosen: &mut dyn FnMut(Choice)) -> Result<()> {
        let mut last = None;
        let steps = self.problem.steps(k);
        for step in 0..k {
            let mut within = Step { observer: &mut *observer, step, steps };
            self.reported = 0.0;
            self.posts.iter_mut().for_each(|post| post.step = 0.0);
            // One that has given its features away gives back its memory.
            let has_some = |&machine: &usize| self.posts[machine].holds || self.shares.count(machine) > 0;
            let machines: Vec<usize> = (0..self.posts.len()).filter(has_some).collect();
            self.order(&machines, last);
            self.collect(&mut within)?;
            self.measure(step);
            let Some(best) = self.posts.iter().filter_map(|post| post.best).max() else { break };
            chosen(best);
            last = Some(best);
            if step > 0 && (step + 1).is_power_of_two() && steps == k {
                self.cut_again(k - step - 1);
            }
        }
        Ok(())
    }

    /// Has machines count what the next choice needs.
    fn order(&mut self, machines: &[usize], last: Option<Choice>) {
        let order = |&machine: &usize| {
            let post = &mut self.posts[machine];
            post.selectors.append(&mut post.more);
            (post.is_at_work, post.holds) = (true, !post.selectors.is_empty());
            Order { machine, selectors: std::mem::take(&mut post.selectors), last }
        };
        let orders = Orders::new(machines.iter().map(order).collect());
        self.jobs.push(self.front.give(orders.into()));
    }

    /// Waits until all orders have answers. The features of a machine that fails go to the others.
    fn collect(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let all = self.problem.samples.p() as f64;
        while self.posts.iter().any(|post| post.is_at_work) {
            let reported = &mut self.reported;
            let (piece, answer) = self.front.next(&mut |done| {
                *reported = reported.max(done.min(all));
                observer.progress(0, *reported, all)
            })?;
            if let Some(machine) = piece.owner {
                self.enter(machine, answer)?;
            }
        }
        self.jobs.drain(..).for_each(|job| self.front.close(job));
        memory::check()
    }

    fn enter(&mut self, machine: usize, answer: Answer<'p>) -> Result<()> {
        let post = &mut self.posts[machine];
        post.is_at_work = false;
        post.step += answer.seconds;
        match answer.best {
            Ok(best) => {
                (post.best, post.selectors) = (best, answer.selectors);
                if !post.more.is_empty() {
                    self.order(&[machine], None);
                }
            }
            Err(error) => {
                (post.is_lost, post.holds, post.best) = (true, false, None);
                let mut spare = answer.selectors;
                spare.append(&mut post.more);
                self.front.lose(machine, error.clone());
                self.shares.set(machine, 0);
                self.is_fresh = true;
                let works: Vec<usize> = (0..self.posts.len()).filter(|&post| !self.posts[post].is_lost).collect();
                if works.is_empty() {
                    return Err(Error::Device(error));
                }
                let counts = self.shares.deal(features(&spare), &self.shares.speeds(&works));
                self.deal(spare, &counts);
                let gets = |&post: &usize| !self.posts[post].more.is_empty() && !self.posts[post].is_at_work;
                let gets: Vec<usize> = works.into_iter().filter(gets).collect();
                self.order(&gets, None);
            }
        }
        Ok(())
    }

    /// Notes how long a step took.
    fn measure(&mut self, step: usize) {
        for (machine, post) in self.posts.iter_mut().enumerate() {
            let count = self.shares.count(machine);
            if step == 0 && !post.is_made && count > 0 {
                post.making = post.step / count as f64;
            }
            if !self.is_fresh {
                self.shares.enter(machine, post.step);
            }
        }
        self.is_fresh = false;
    }

    /// Hands features out, so many to each machine, for its next order.
    fn deal(&mut self, mut spare: Vec<Selector<'p>>, counts: &[usize]) {
        for (post, &count) in self.posts.iter_mut().zip(counts) {
            post.more.extend(split_last(&mut spare, count));
        }
    }

    /// Moves features from slow machines to fast ones, where that pays within the `left` steps.
    fn cut_again(&mut self, left: usize) {
        let with_some: Vec<usize> = (0..self.posts.len()).filter(|&post| self.shares.count(post) > 0).collect();
        let posts = &self.posts;
        let cost = |machine: usize| posts[machine].making;
        let Some((gives, gains)) = self.shares.cut_again(left, &with_some, &cost) else { return };
        let mut spare = Vec::new();
        for (post, &gives) in self.posts.iter_mut().zip(&gives) {
            spare.extend(split_last(&mut post.selectors, gives));
            if post.selectors.is_empty() {
                post.best = None;
            }
        }
        self.deal(spare, &gains);
        self.is_fresh = true;
    }
}

/// Takes so many features from the end.
fn split_last<'p>(selectors: &mut Vec<Selector<'p>>, mut count: usize) -> Vec<Selector<'p>> {
    let mut taken = Vec::new();
    while count > 0 {
        let Some(mut last) = selectors.pop() else { break };
        let length = last.range().len();
        if length > count {
            taken.push(last.split_off(length - count));
            selectors.push(last);
            break;
        }
        count -= length;
        taken.push(last);
    }
    taken
}
