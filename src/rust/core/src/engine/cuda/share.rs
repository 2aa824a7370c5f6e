//! Shards handed out to machines that work at the same time, by one thread: whoever is free takes the next.

use std::ops::Range;
use std::time::{Duration, Instant};

use crate::team::{Lost, Share};
use crate::{Error, Result};

/// Rows that are done together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shard {
    pub rows: Range<usize>,
    /// How much work they are, about.
    pub cost: f64,
}

/// Cuts rows of these costs into about `count` ranges of about equal cost, each of a multiple of `block` rows but for the last. A row of
/// more stands alone. None has no cost.
pub(super) fn cut(costs: &[f64], count: usize, block: usize) -> Vec<Shard> {
    let target = costs.iter().sum::<f64>() / count.max(1) as f64;
    cut_by(costs, block, |_| target)
}

/// Likewise for so many machines that share them out: the last ranges cost less and less, down to `least`, so that all machines end at about the same time
/// (guided self-scheduling, Polychronopoulos and Kuck 1987, up to the size of equal ranges).
pub(super) fn cut_for(costs: &[f64], count: usize, machines: usize, least: f64, block: usize) -> Vec<Shard> {
    if count < 2 {
        return cut(costs, 1, block);
    }
    let total = costs.iter().sum::<f64>();
    let most = total / count as f64;
    let (parts, least) = ((2 * machines) as f64, least.max(most / LEAST_OF_MOST).min(most));
    cut_by(costs, block, |cut| ((total - cut) / parts).clamp(least, most))
}

/// The dearest range costs so many times the cheapest at most, about.
const LEAST_OF_MOST: f64 = 8.0;

/// Cuts rows into ranges; `target` is told the cost of those before.
fn cut_by(costs: &[f64], block: usize, target: impl Fn(f64) -> f64) -> Vec<Shard> {
    let mut shards: Vec<Shard> = Vec::new();
    let (mut start, mut cost, mut before) = (0, 0.0, 0.0);
    for (number, rows) in costs.chunks(block).enumerate() {
        let (first, own) = (number * block, rows.iter().sum::<f64>());
        if cost > 0.0 && cost + own > target(before) {
            shards.push(Shard { rows: start..first, cost });
            before += cost;
            (start, cost) = (first, 0.0);
        }
        cost += own;
        if cost == 0.0 {
            start = first + rows.len();
        }
    }
    if cost > 0.0 {
        shards.push(Shard { rows: start..costs.len(), cost });
    }
    shards
}

/// A machine that does one shard at a time while others work.
pub(super) trait Machine {
    /// Begins a shard, and returns before it is done.
    fn begin(&mut self, rows: &Range<usize>) -> Result<()>;

    /// Whether it is done. `look` may end the run.
    fn is_done(&mut self, look: &mut dyn FnMut() -> Result<()>) -> Result<bool>;
}

/// A machine of a team.
pub(super) struct Seat<M> {
    pub machine: M,
    pub name: String,
    /// Whether it failed, and is left alone from then on.
    pub is_lost: bool,
    /// Why, where it had too little memory: it can still be used.
    pub short: Option<Error>,
    /// What it has done since [`Seat::share`].
    shards: u64,
    busy: Duration,
}

impl<M> Seat<M> {
    pub fn new(machine: M, name: String) -> Self {
        Seat { machine, name, is_lost: false, short: None, shards: 0, busy: Duration::ZERO }
    }

    /// What it did at a level that took `elapsed`; begins to count anew.
    pub fn share(&mut self, level: usize, elapsed: Duration) -> Share {
        let share = Share {
            machine: self.name.clone(),
            level: Some(level),
            shards: self.shards,
            busy: self.busy.as_secs_f64(),
            elapsed: elapsed.as_secs_f64(),
            ..Share::default()
        };
        (self.shards, self.busy) = (0, Duration::ZERO);
        share
    }

    /// Notes that the machine failed. Any other error is the run's.
    pub fn lose(&mut self, error: Error, lost: &mut Vec<Lost>) -> Result<Error> {
        if !matches!(error, Error::Device(_)) {
            return Err(error);
        }
        lost.push(Lost::by(self.name.clone(), &error));
        self.is_lost = true;
        self.short = Some(&error).filter(|error| error.is_short_of_device_memory()).cloned();
        Ok(error)
    }
}

/// Time without news after which the calling thread rests between two questions.
const IMPATIENCE: Duration = Duration::from_millis(2);

/// Called with the machines, the number of a shard and that of the machine that has done it.
pub(super) type Told<'t, M> = &'t mut dyn FnMut(&mut [Seat<M>], usize, usize);

/// Has the machines do all shards, dearest first, and returns who did which. Shards of a machine that fails are done by others, those
/// that it has done, too: what it has found is with it. `done(machines, shard, owner)` is called once a shard is done and its owner has begun another; `look`
/// is told the share that is done, and may end the run.
///
/// # Errors
/// The last machine's where all are lost; any error but of a device; what `look` returns.
pub(super) fn share_out<M: Machine>(
    seats: &mut [Seat<M>],
    shards: &[Shard],
    lost: &mut Vec<Lost>,
    done: Told<M>,
    look: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<Vec<usize>> {
    let mut waiting: Vec<usize> = (0..shards.len()).collect();
    // The last is taken first.
    waiting.sort_by(|&a, &b| shards[a].cost.total_cmp(&shards[b].cost).then(b.cmp(&a)));
    let mut owners: Vec<Option<usize>> = vec![None; shards.len()];
    let mut at_work: Vec<Option<(usize, Instant)>> = vec![None; seats.len()];
    let total = shards.iter().map(|shard| shard.cost).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut news = Instant::now();
    while owners.iter().any(Option::is_none) {
        let of_done = shards.iter().zip(&owners).filter(|(_, owner)| owner.is_some());
        let share = of_done.map(|(shard, _)| shard.cost).sum::<f64>() / total;
        let (mut last, mut ended) = (None, Vec::new());
        for (number, seat) in seats.iter_mut().enumerate().filter(|(_, seat)| !seat.is_lost) {
            let mut step = || -> Result<()> {
                if let Some((shard, began)) = at_work[number] {
                    if !seat.machine.is_done(&mut || look(share))? {
                        return Ok(());
                    }
                    at_work[number] = None;
                    owners[shard] = Some(number);
                    ended.push((shard, number));
                    seat.shards += 1;
                    seat.busy += began.elapsed();
                    news = Instant::now();
                }
                if let Some(shard) = waiting.pop() {
                    at_work[number] = Some((shard, Instant::now()));
                    news = Instant::now();
                    seat.machine.begin(&shards[shard].rows)?;
                }
                Ok(())
            };
            if let Err(error) = step() {
                last = Some(seat.lose(error, lost)?);
                waiting.extend(at_work[number].take().map(|(shard, _)| shard));
                for (shard, owner) in owners.iter_mut().enumerate().filter(|(_, owner)| **owner == Some(number)) {
                    *owner = None;
                    waiting.push(shard);
                }
            }
        }
        if let (Some(error), true) = (last, seats.iter().all(|seat| seat.is_lost)) {
            return Err(error);
        }
        ended.retain(|&(shard, owner)| owners[shard] == Some(owner));
        ended.into_iter().for_each(|(shard, owner)| done(seats, shard, owner));
        look(share)?;
        match news.elapsed() < IMPATIENCE {
            true => std::hint::spin_loop(),
            false => std::thread::sleep(Duration::from_micros(50)),
        }
    }
    Ok(owners.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cuda::card::driver::error;
    use crate::error::DeviceKind;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Who did which rows, in order.
    type Did = Rc<RefCell<Vec<(usize, Range<usize>)>>>;

    /// A machine that takes so many questions for a shard, and fails at one.
    struct Fake {
        number: usize,
        patience: u32,
        waited: u32,
        fails_at: Option<usize>,
        begun: usize,
        done: Did,
        rows: Range<usize>,
    }

    impl Machine for Fake {
        fn begin(&mut self, rows: &Range<usize>) -> Result<()> {
            self.begun += 1;
            (self.waited, self.rows) = (0, rows.clone());
            Ok(())
        }

        fn is_done(&mut self, look: &mut dyn FnMut() -> Result<()>) -> Result<bool> {
            look()?;
            self.waited += 1;
            if self.fails_at == Some(self.begun) {
                return Err(error(DeviceKind::Failed, "fell off the bus", "buy another"));
            }
            let done = self.waited >= self.patience;
            if done {
                self.done.borrow_mut().push((self.number, self.rows.clone()));
            }
            Ok(done)
        }
    }

    fn team(patience: &[u32], fails_at: &[Option<usize>]) -> (Vec<Seat<Fake>>, Did) {
        let done = Rc::new(RefCell::new(Vec::new()));
        let fake = |(number, (&patience, &fails_at))| {
            let done = done.clone();
            let fake = Fake { number, patience, waited: 0, fails_at, begun: 0, done, rows: 0..0 };
            Seat::new(fake, format!("cuda:{number}"))
        };
        (patience.iter().zip(fails_at).enumerate().map(fake).collect(), done)
    }

    fn costs(p: usize) -> Vec<f64> {
        (0..p).map(|x| ((x * 7919) % 13) as f64 * if x % 50 == 3 { 40.0 } else { 1.0 }).collect()
    }

    #[test]
    fn every_row_that_costs_is_in_one_shard() {
        for p in [1, 2, 63, 64, 65, 1000] {
            for ((count, block), machines) in [(1, 1), (7, 1), (16, 64), (5000, 1), (3, 1000)]
                .into_iter()
                .flat_map(|way| [(way, 0), (way, 2), (way, 5)])
            {
                let costs = costs(p);
                let shards = match machines {
                    0 => cut(&costs, count, block),
                    machines => cut_for(&costs, count, machines, 0.0, block),
                };
                let mut next = 0;
                for Shard { rows, cost } in &shards {
                    assert!(rows.start >= next && rows.end <= p && !rows.is_empty());
                    assert!(costs[next..rows.start].iter().all(|&cost| cost == 0.0));
                    assert!(rows.start % block == 0 && (rows.end % block == 0 || rows.end == p));
                    assert!((cost - costs[rows.clone()].iter().sum::<f64>()).abs() < 1e-9 && *cost > 0.0);
                    next = rows.end;
                }
                assert!(costs[next..].iter().all(|&cost| cost == 0.0));
                let most = if machines == 0 { 2 * count + 1 } else { 2 * LEAST_OF_MOST as usize * count + 1 };
                assert!(shards.len() <= most, "{} of {count}", shards.len());
            }
        }
    }

    #[test]
    fn the_last_shards_for_machines_cost_least() {
        let costs = [1.0; 4096];
        for (machines, each) in [(1, 8), (2, 8), (8, 8), (2, 2), (8, 2)] {
            let count = each * machines;
            let shards = cut_for(&costs, count, machines, 0.0, 1);
            let most = 4096.0 / count as f64;
            assert!(shards.windows(2).all(|pair| pair[0].cost >= pair[1].cost), "{machines}");
            assert_eq!(shards[0].cost, most, "{machines}");
            let last = shards[shards.len() - 1].cost;
            // Some of the dearest, then each cheaper by a part of what is left, then some of the cheapest.
            let bound = count + ((2 * machines) as f64 * LEAST_OF_MOST.ln()) as usize + 2;
            assert!(last <= most / LEAST_OF_MOST && shards.len() < bound, "{machines}: {last} of {}", shards.len());
            // What is worth one shard stays whole, and no shard but the last costs less than what is worth one.
            assert_eq!(cut_for(&costs, 1, machines, 4000.0, 1).len(), 1);
            let shards = cut_for(&costs, count, machines, 0.9 * most, 1);
            assert!(shards.iter().rev().skip(1).all(|shard| shard.cost >= (0.9 * most).floor()), "{machines}");
        }
    }

    /// Machines of any speed, of which any but one fail at any shard: each shard is the work of one that did not.
    #[test]
    fn shards_of_machines_that_fail_are_done_by_others() {
        let shards = cut(&costs(500), 24, 1);
        for (patience, fails_at) in [
            (vec![1], vec![None]),
            (vec![1, 1], vec![None, None]),
            (vec![1, 50, 3], vec![None, None, None]),
            (vec![2, 2], vec![Some(1), None]),
            (vec![2, 1, 5], vec![Some(7), Some(3), None]),
            (vec![1, 100], vec![Some(20), None]),
        ] {
            let (mut seats, done) = team(&patience, &fails_at);
            let (mut lost, mut most, mut ended) = (Vec::new(), 0.0f64, Vec::new());
            let mut told = |seats: &mut [Seat<Fake>], shard: usize, owner: usize| {
                assert!(!seats[owner].is_lost);
                ended.push((shard, owner));
            };
            let mut look = |share: f64| {
                most = most.max(share);
                Ok(())
            };
            let owners = share_out(&mut seats, &shards, &mut lost, &mut told, &mut look).unwrap();
            assert_eq!(owners.len(), shards.len());
            for (shard, &owner) in shards.iter().zip(&owners) {
                assert!(!seats[owner].is_lost, "{patience:?}");
                assert!(done.borrow().contains(&(owner, shard.rows.clone())), "{patience:?}");
            }
            // The last that was told of a shard is who did it.
            let tellers = |at: usize| ended.iter().filter(move |(shard, _)| *shard == at).map(|(_, owner)| *owner);
            assert!(
                owners.iter().enumerate().all(|(at, &owner)| tellers(at).next_back() == Some(owner)),
                "{patience:?}"
            );
            assert_eq!(lost.len(), fails_at.iter().flatten().count());
            assert!(most <= 1.0);
            let counted: u64 = seats.iter_mut().map(|seat| seat.share(1, Duration::ZERO).shards).sum();
            assert_eq!(counted as usize, done.borrow().len());
        }
        // A slow one does less.
        let (mut seats, _) = team(&[1, 200], &[None, None]);
        share_out(&mut seats, &shards, &mut Vec::new(), &mut |_, _, _| (), &mut |_| Ok(())).unwrap();
        let [quick, slow] = [0, 1].map(|number: usize| seats[number].share(1, Duration::ZERO).shards);
        assert!(slow >= 1 && quick > 3 * slow, "{quick} {slow}");
    }

    #[test]
    fn without_a_machine_left_the_last_error_is_the_runs() {
        let shards = cut(&costs(500), 24, 1);
        let (mut seats, _) = team(&[1, 1], &[Some(2), Some(4)]);
        let mut lost = Vec::new();
        let outcome = share_out(&mut seats, &shards, &mut lost, &mut |_, _, _| (), &mut |_| Ok(()));
        assert!(matches!(outcome, Err(Error::Device(_))) && lost.len() == 2);
        assert_eq!(lost[0].reason, "fell off the bus");
        // Whoever asks to stop is heard.
        let (mut seats, done) = team(&[3, 3], &[None, None]);
        let mut left = 10;
        let outcome = share_out(&mut seats, &shards, &mut lost, &mut |_, _, _| (), &mut |_| {
            left -= 1;
            if left == 0 {
                Err(Error::Interrupted)
            } else {
                Ok(())
            }
        });
        assert!(matches!(outcome, Err(Error::Interrupted)) && done.borrow().len() < 5);
    }
}
