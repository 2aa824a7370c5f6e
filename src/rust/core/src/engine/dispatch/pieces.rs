//! What is to be done, cut as ranks take it: every unit is answered once, whoever is lost or slow.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::rank_pace::Pace;

/// A rank that has had a piece so much longer than it should is overtaken by one that has nothing to do.
const LATE: f64 = 2.0;

/// Likewise at least.
const PATIENCE: Duration = Duration::from_millis(500);

/// A piece of an errand that ranks have in hand.
#[derive(Clone)]
struct Given {
    units: Range<usize>,
    cost: f64,
    /// Who has it, and since when.
    holders: Vec<(usize, Instant)>,
    /// Seconds that it takes, about.
    expected: f64,
}

/// What a rank does next.
pub(in crate::engine) enum Turn {
    /// These units, under this number.
    Take { task: u64, units: Range<usize> },
    /// Nothing now.
    Wait,
}

/// The units of an errand.
pub(in crate::engine) struct Pieces {
    /// Before each unit, the cost of those before it; and of all.
    before: Vec<f64>,
    next: usize,
    /// Those that were given and not answered.
    again: Vec<Range<usize>>,
    given: HashMap<u64, Given>,
    /// By rank: how much it has in hand, pieces that others have answered among it.
    in_hand: Vec<Vec<u64>>,
    next_task: u64,
    done: f64,
    open: usize,
}

impl Pieces {
    /// Units of these costs, for so many ranks; tasks are numbered from here.
    pub fn new(costs: Vec<f64>, ranks: usize, next_task: u64) -> Self {
        let open = costs.len();
        let mut before = Vec::with_capacity(open + 1);
        let mut sum = 0.0;
        before.push(0.0);
        for cost in costs {
            sum += cost;
            before.push(sum);
        }
        // 0 is for what has no reply.
        let next_task = next_task.max(1);
        Pieces {
            before,
            next: 0,
            again: Vec::new(),
            given: HashMap::new(),
            in_hand: vec![Vec::new(); ranks],
            next_task,
            done: 0.0,
            open,
        }
    }

    pub fn is_done(&self) -> bool {
        self.open == 0
    }

    pub fn next_task(&self) -> u64 {
        self.next_task
    }

    /// Cost of what is answered, and of all.
    pub fn done(&self) -> f64 {
        self.done
    }

    pub fn total(&self) -> f64 {
        self.before[self.before.len() - 1]
    }

    pub fn in_hand(&self, rank: usize) -> usize {
        self.in_hand[rank].len()
    }

    /// The tasks that a rank has in hand.
    pub fn held(&self, rank: usize) -> &[u64] {
        &self.in_hand[rank]
    }

    fn cost(&self, units: &Range<usize>) -> f64 {
        self.before[units.end] - self.before[units.start]
    }

    /// What a rank that is free does next.
    pub fn turn(&mut self, rank: usize, pace: &Pace) -> Turn {
        // Near the end what waits in one hand is what another might do.
        let left = self.total() - self.before[self.next];
        let is_near = pace.piece().is_some_and(|piece| left < piece * self.in_hand.len() as f64);
        if is_near && !self.in_hand[rank].is_empty() {
            return Turn::Wait;
        }
        let units = match self.again.pop() {
            Some(units) => units,
            None => self.cut(pace),
        };
        if units.is_empty() {
            return self.overtake(rank);
        }
        let task = self.next_task;
        self.next_task += 1;
        let cost = self.cost(&units);
        let holders = vec![(rank, Instant::now())];
        self.in_hand[rank].push(task);
        self.given.insert(task, Given { units: units.clone(), cost, holders, expected: pace.seconds(cost) });
        Turn::Take { task, units }
    }

    /// The next units, as many as suit a rank; the fewer are left the fewer, so that all end together.
    fn cut(&mut self, pace: &Pace) -> Range<usize> {
        let (all, from) = (self.before.len() - 1, self.next);
        let left = self.total() - self.before[from];
        let least = pace.least().unwrap_or_default();
        let wanted = pace.piece().map_or(0.0, |piece| piece.min(left / (2 * self.in_hand.len()) as f64).max(least));
        let end = self.before.partition_point(|&before| before <= self.before[from] + wanted);
        self.next = end.saturating_sub(1).max(from + 1).min(all);
        from..self.next
    }

    /// Where nothing is left to be given: what another has had for too long, unless two have it.
    fn overtake(&mut self, rank: usize) -> Turn {
        if !self.in_hand[rank].is_empty() {
            return Turn::Wait;
        }
        let late = |given: &Given| {
            let [(holder, since)] = given.holders[..] else { return None };
            let waited = since.elapsed();
            let is_late = waited > PATIENCE && waited.as_secs_f64() > LATE * given.expected;
            (is_late && holder != rank).then_some(waited)
        };
        let found = self.given.iter().filter_map(|(&task, given)| Some((late(given)?, task))).max();
        let Some((_, task)) = found else { return Turn::Wait };
        let Some(given) = self.given.get_mut(&task) else { return Turn::Wait };
        given.holders.push((rank, Instant::now()));
        self.in_hand[rank].push(task);
        Turn::Take { task, units: given.units.clone() }
    }

    /// Whether nobody has answered this yet.
    pub fn is_open(&self, task: u64) -> bool {
        self.given.contains_key(&task)
    }

    /// A rank has answered: the units and their cost, unless another was first.
    pub fn answered(&mut self, rank: usize, task: u64) -> Option<(Range<usize>, f64)> {
        self.in_hand[rank].retain(|&held| held != task);
        let Given { units, cost, .. } = self.given.remove(&task)?;
        self.done += cost;
        self.open -= units.len();
        Some((units, cost))
    }

    /// Units that were answered wrongly.
    pub fn again(&mut self, units: Range<usize>) {
        self.done -= self.cost(&units);
        self.open += units.len();
        self.again.push(units);
    }

    /// A rank is gone: what it alone had in hand is given again.
    pub fn lose(&mut self, rank: usize) {
        for task in std::mem::take(&mut self.in_hand[rank]) {
            let Some(given) = self.given.get_mut(&task) else { continue };
            given.holders.retain(|&(holder, _)| holder != rank);
            if given.holders.is_empty() {
                if let Some(given) = self.given.remove(&task) {
                    self.again.push(given.units);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize
    }

    /// Whatever the costs, the paces, and who is lost.
    #[test]
    fn every_unit_is_answered_once() {
        for seed in 0..300 {
            let state = &mut (seed + 1);
            let ranks = 1 + random(state) % 5;
            let units = random(state) % 200;
            let costs: Vec<f64> = (0..units).map(|_| [0.0, 1.0, 7.0, 1e4][random(state) % 4]).collect();
            let mut paces = vec![Pace::default(); ranks];
            let mut pieces = Pieces::new(costs, ranks, 5);
            let mut live = vec![true; ranks];
            let mut hands: Vec<Vec<u64>> = vec![Vec::new(); ranks];
            let mut times = vec![0; units];
            while !pieces.is_done() {
                let rank = random(state) % ranks;
                if !live[rank] {
                    continue;
                }
                if random(state) % 20 == 0 && live.iter().filter(|live| **live).count() > 1 {
                    live[rank] = false;
                    hands[rank].clear();
                    pieces.lose(rank);
                } else if hands[rank].len() < 2 && random(state) % 2 == 0 {
                    if let Turn::Take { task, units } = pieces.turn(rank, &paces[rank]) {
                        assert!(!units.is_empty());
                        hands[rank].push(task);
                    }
                } else if !hands[rank].is_empty() {
                    let task = hands[rank].remove(0);
                    if let Some((units, cost)) = pieces.answered(rank, task) {
                        paces[rank].enter(cost, 0.001 * (1 + random(state) % 50) as f64);
                        if random(state) % 30 == 0 {
                            pieces.again(units);
                        } else {
                            units.for_each(|unit| times[unit] += 1);
                        }
                    }
                    assert_eq!(pieces.in_hand(rank), hands[rank].len());
                }
            }
            assert!(times.iter().all(|&times| times == 1), "{times:?}");
            assert!((pieces.done() - pieces.total()).abs() <= 1e-9 * pieces.total());
        }
    }

    #[test]
    fn what_a_slow_rank_has_is_done_by_one_that_is_free() {
        let mut pieces = Pieces::new(vec![1.0], 3, 0);
        let pace = Pace::default();
        let Turn::Take { task, .. } = pieces.turn(0, &pace) else { panic!("nothing") };
        assert!(matches!(pieces.turn(1, &pace), Turn::Wait));
        std::thread::sleep(PATIENCE + Duration::from_millis(200));
        let Turn::Take { task: again, .. } = pieces.turn(1, &pace) else { panic!("nothing") };
        assert_eq!(again, task);
        // Nobody is third.
        assert!(matches!(pieces.turn(2, &pace), Turn::Wait));
        assert!(pieces.answered(1, task).is_some() && pieces.is_done());
        assert!(pieces.answered(0, task).is_none());
    }
}
