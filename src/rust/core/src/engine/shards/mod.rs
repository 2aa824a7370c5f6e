//! Several machines that select together, each with features of its own: shards.
//!
//! The calling thread makes the choices and asks the observer. The features are cut by a guess of the machines' speeds, and are cut
//! again where what the machines then take says that it pays ([`shares`](super::dispatch::shares)). What is known of a feature moves with
//! it, so that nothing is counted twice; a machine that fails loses its features to the others in the same way, also within a step.

mod chief;
mod machine;

use self::chief::{Chief, Post};
use self::machine::Machine;
use super::dispatch::local::Members;
use super::dispatch::shares::Shares;
use crate::observer::Observer;
use crate::selection::{room, Choice, Machines, Member, Problem};
use crate::team::TeamReport;
use crate::Result;

/// Several machines. Where one fails with [`Error::Device`](crate::Error::Device), the others take over its features, and the report says so.
pub struct Shards<'a> {
    members: Members<Machine<'a>>,
    /// How fast they are compared with one another, as a guess.
    speeds: Vec<f64>,
}

impl<'a> Shards<'a> {
    /// Of these machines, in order.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) where there is none.
    pub fn new(members: Vec<Member<'a>>) -> Result<Self> {
        let mut shards = Shards { members: Members::new(Machine::moved), speeds: Vec::new() };
        for Member { name, speed, make } in members {
            shards.members.add(name, Machine::new(make), 0.0);
            shards.speeds.push(speed.max(1e-9));
        }
        if shards.speeds.is_empty() {
            return Err(shards.members.nobody());
        }
        Ok(shards)
    }

    /// Cuts p features by the machines' speeds, unless an earlier selection has left each feature to a machine.
    fn cut(&mut self, p: usize) -> Shares {
        let mut shares = Shares::new(self.speeds.clone());
        let works = self.members.working();
        let counts: Vec<usize> = self.members.machines().iter().map(Machine::features).collect();
        if counts.iter().sum::<usize>() == p {
            counts.into_iter().enumerate().for_each(|(at, count)| shares.set(at, count));
            return shares;
        }
        let mut start = 0;
        let counts = shares.deal(p, &shares.speeds(&works));
        for (machine, count) in self.members.machines().iter_mut().zip(counts) {
            machine.assign(start..start + count);
            start += count;
        }
        shares
    }
}

impl Machines for Shards<'_> {
    fn choose(
        &mut self,
        problem: &Problem,
        k: usize,
        observer: &mut dyn Observer,
        chosen: &mut dyn FnMut(Choice),
    ) -> Result<()> {
        room(problem, self.speeds.len())?;
        let works = self.members.working();
        let shares = self.cut(problem.samples.p());
        let post =
            |(at, machine): (usize, &Machine)| Post::new(machine, machine.selectors(problem), !works.contains(&at));
        let posts = self.members.machines().iter().enumerate().map(post).collect();
        let mut making = Vec::new();
        let outcome = self.members.together(&Machine::answer, |front| {
            let mut chief =
                Chief { problem: *problem, front, posts, shares, jobs: Vec::new(), is_fresh: true, reported: 0.0 };
            let outcome = chief.choose(k, observer, chosen);
            making.extend(chief.posts.iter().map(|post| post.making));
            outcome
        });
        for (machine, making) in self.members.machines().iter_mut().zip(making) {
            machine.making = making;
            if outcome.is_err() {
                // Features may be on their way from one to another.
                machine.assign(0..0);
            }
        }
        outcome
    }

    fn report(&mut self) -> TeamReport {
        self.members.report()
    }
}
