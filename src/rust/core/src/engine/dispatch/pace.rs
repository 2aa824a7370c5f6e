//! The speed of a seat, and the size of its next piece.

use std::collections::BTreeMap;

/// Least seconds of a piece, so that the cost of a call or a message is small in comparison.
const LEAST_SECONDS: f64 = 0.01;

/// Most seconds of a piece, unless the machine needs more to be busy. This limits the work that is lost with a machine, and the time that
/// others wait for it.
const MOST_SECONDS: f64 = 0.3;

/// The smallest piece is the machine's batch divided by `LEAST_SHARE`, and the largest is `MOST` times the batch: larger ones gain nothing.
const LEAST_SHARE: f64 = 16.0;
const MOST: f64 = 4.0;

/// Largest cost of a piece as a multiple of the largest piece before at its level. First pieces may be quick because their tests end early;
/// the next ones may then be slow.
const GROWTH: f64 = 4.0;

/// Factor for late pieces: another seat takes one only if the holder still needs more than this many times the other seat's time.
const LATE: f64 = 1.5;

/// Most seconds that a piece is expected to take, because costs are only approximate.
const KNOWN: f64 = 5.0;

/// The pieces of a level that a seat has done. Older pieces count less.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    pieces: u32,
    cost: f64,
    seconds: f64,
    /// The cost of the largest piece.
    largest: f64,
}

/// The measured speed of a seat, by level.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Pace {
    /// The cost that keeps the machine busy, or 0 if one unit does.
    batch: f64,
    /// Seconds that a piece may take beyond its work before it is late.
    grace: f64,
    by_level: BTreeMap<Option<usize>, Counted>,
}

impl Pace {
    /// Returns the pace of a machine that stops when another has done its piece.
    pub fn of_member(batch: f64) -> Self {
        Pace { batch, grace: 0.01, by_level: BTreeMap::new() }
    }

    /// Returns the pace of a machine that finishes its piece in any case, and answers by messages.
    pub fn of_rank() -> Self {
        Pace { batch: 0.0, grace: 0.5, by_level: BTreeMap::new() }
    }

    /// Returns the cost that keeps the machine busy.
    pub fn batch(&self) -> f64 {
        self.batch
    }

    /// Enters the cost and the seconds of a finished piece.
    pub fn enter(&mut self, level: Option<usize>, cost: f64, seconds: f64) {
        // A piece without cost says nothing about speed.
        if cost <= 0.0 {
            return;
        }
        let counted = self.by_level.entry(level).or_default();
        // The first piece of a level includes waiting for kernels and data, so it is dropped once there is a second one.
        let kept = if counted.pieces < 2 { 0.0 } else { 0.5 };
        counted.pieces = counted.pieces.saturating_add(1);
        counted.cost = kept * counted.cost + cost;
        counted.seconds = kept * counted.seconds + seconds.max(1e-9);
        counted.largest = counted.largest.max(cost);
    }

    /// Returns the cost per second at this level, or at the nearest level with pieces. Returns `None` before the first piece.
    pub fn rate(&self, level: Option<usize>) -> Option<f64> {
        let distance = |other: Option<usize>| match (level, other) {
            (Some(a), Some(b)) => a.abs_diff(b),
            (a, b) if a == b => 0,
            _ => usize::MAX,
        };
        let nearest = self.by_level.iter().min_by_key(|(&other, _)| distance(other));
        nearest.map(|(_, counted)| counted.cost / counted.seconds)
    }

    /// Returns the largest cost of the next piece, or 0 if the first piece of a level should be one unit.
    pub fn most(&self, level: Option<usize>) -> f64 {
        let largest = self.by_level.get(&level).map_or(0.0, |counted| counted.largest);
        let by_time = self.rate(level).unwrap_or(0.0) * MOST_SECONDS;
        let most = if self.batch > 0.0 { by_time.clamp(self.batch, MOST * self.batch) } else { by_time };
        most.min((GROWTH * largest).max(self.batch))
    }

    /// Returns the cost of this seat's next piece. `waiting` is the cost of the work that no seat has taken. Returns `None` if one of the
    /// other working seats could finish all of it before this seat finishes its smallest piece.
    ///
    /// The rule is guided self-scheduling (Polychronopoulos and Kuck 1987) by rate: half of the seat's share of what is left.
    pub fn piece(&self, others: &[&Pace], level: Option<usize>, waiting: f64) -> Option<f64> {
        let least = self.batch / LEAST_SHARE;
        let Some(own) = self.rate(level) else {
            return Some((waiting / (4 * (others.len() + 1)) as f64).clamp(least, self.batch / 4.0));
        };
        let quickest = others.iter().filter_map(|other| other.rate(level)).fold(0.0, f64::max);
        // This is never true for the quickest seat, so some seat always takes what is left.
        if waiting / quickest < least.min(waiting) / own {
            return None;
        }
        let all = own + others.iter().map(|other| other.rate(level).unwrap_or(own)).sum::<f64>();
        let least = least.max(own * LEAST_SECONDS);
        let least = if self.batch > 0.0 { least.min(self.batch) } else { least };
        let most = self.most(level);
        Some((waiting * own / all / 2.0).clamp(least.min(most), most))
    }

    /// Returns by how many seconds a piece of this seat is late if `other` could do it; negative if it is not late. `costs` are the
    /// remaining costs for this seat and for the other.
    pub fn late(&self, other: &Pace, level: Option<usize>, costs: (f64, f64), elapsed: f64) -> f64 {
        let seconds = |pace: &Pace, cost: f64| pace.rate(level).map(|rate| (cost / rate).min(KNOWN));
        let expected = seconds(self, costs.0).or(seconds(other, costs.0)).unwrap_or(MOST_SECONDS);
        let again = seconds(other, costs.1).or(seconds(self, costs.1)).unwrap_or(MOST_SECONDS);
        // A piece that has taken longer than expected is assumed to need as long again.
        let left = if expected > elapsed { expected - elapsed } else { elapsed };
        left - LATE * again - self.grace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Option<usize> = Some(1);

    fn member(batch: f64, rate: f64) -> Pace {
        let mut pace = Pace::of_member(batch);
        pace.enter(ONE, 1000.0, 1e9);
        pace.enter(ONE, 1000.0, 1000.0 / rate);
        pace
    }

    #[test]
    fn the_first_piece_of_a_level_does_not_count_once_there_is_another() {
        let mut pace = Pace::of_member(100.0);
        assert_eq!(pace.rate(Some(2)), None);
        pace.enter(Some(2), 10.0, 1.0);
        assert_eq!((pace.rate(Some(2)), pace.rate(Some(0)), pace.rate(None)), (Some(10.0), Some(10.0), Some(10.0)));
        pace.enter(Some(2), 100.0, 1.0);
        assert_eq!(pace.rate(Some(2)), Some(100.0));
        pace.enter(Some(2), 150.0, 0.5);
        assert_eq!(pace.rate(Some(2)), Some(200.0));
        pace.enter(Some(4), 7.0, 1.0);
        assert_eq!([1, 2, 9].map(|level| pace.rate(Some(level))), [Some(200.0), Some(200.0), Some(7.0)]);
    }

    #[test]
    fn pieces_are_as_the_rates_and_shrink() {
        let (quick, slow) = (member(8000.0, 1000.0), member(64.0, 100.0));
        let of = |a: &Pace, b: &Pace, waiting: f64| a.piece(&[b], ONE, waiting).map(f64::floor);
        assert_eq!(of(&quick, &slow, 11_000.0), Some(5000.0));
        assert_eq!(of(&slow, &quick, 1100.0), Some(50.0));
        assert_eq!(of(&quick, &slow, 2200.0), Some(1000.0));
        assert_eq!(of(&slow, &quick, 1e6), Some(64.0));
        assert_eq!(of(&quick, &slow, 10.0), Some(500.0));
        // The slow seat needs 0.04 s for 4 questions; the quick one needs 0.03 s for all that are left.
        assert_eq!(of(&slow, &quick, 30.0), None);
        assert_eq!(slow.piece(&[], ONE, 3.0), Some(4.0));
        assert_eq!(Pace::of_member(160.0).piece(&[&quick], ONE, 1e5), Some(40.0));
    }

    #[test]
    fn pieces_of_ranks_begin_with_one_unit_and_grow_step_by_step() {
        let mut pace = Pace::of_rank();
        assert_eq!(pace.piece(&[], ONE, 1e6), Some(0.0));
        pace.enter(ONE, 1.0, 1e-4);
        assert_eq!(pace.piece(&[], ONE, 1e6), Some(4.0));
        pace.enter(ONE, 4.0, 1e-4);
        assert_eq!(pace.piece(&[], ONE, 1e6), Some(16.0));
        assert_eq!(pace.piece(&[], Some(2), 1e6), Some(0.0));
        pace.enter(ONE, 1e5, 2.5);
        assert!(pace.piece(&[], ONE, 1e6).unwrap() < 0.31 * pace.rate(ONE).unwrap());
    }

    #[test]
    fn somebody_always_takes_what_is_left() {
        let rates = [1.0, 3.0, 3.0, 50.0, 1e6];
        for waiting in 1..50 {
            for a in rates {
                for b in rates {
                    for c in rates {
                        let team = [member(1.0, a), member(5000.0, b), member(90.0, c)];
                        let taken = (0..3).filter(|&at| {
                            let others: Vec<&Pace> = (0..3).filter(|&o| o != at).map(|o| &team[o]).collect();
                            team[at].piece(&others, ONE, waiting as f64).is_some()
                        });
                        assert!(taken.count() > 0);
                    }
                }
            }
        }
    }
}
