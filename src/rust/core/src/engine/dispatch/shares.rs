//! Work that stays with its seats: each seat has its own units, and does them in every step.

/// Largest ratio of a step's time after units are redistributed to its present time. Above it, the units stay.
const WORTH: f64 = 0.9;

/// Least ratio of the time that the remaining steps save to the cost of moving. Below it, the units stay.
const MARGIN: f64 = 2.0;

/// Least seconds of all measured steps that show how fast a seat is. In a step of a millisecond the host's part is a third, and it varies.
/// (With 2 ms and three steps, one of two equal GPUs got 0.13 s of work and the other 0.22 s, see bench/results.csv, suite gpus.)
const SURE: f64 = 2e-2;

/// Least number of measured steps that show how fast a seat is, unless one takes [`LONG`]. One of fewer steps may have been held up.
const ENOUGH: usize = 3;

/// Seconds of a step that is long enough to show how fast a seat is without others.
const LONG: f64 = 0.25;

/// Least number of a seat's units. A seat that would have fewer gets none, because its time for a step is then not the units' work.
const FEWEST: usize = 8;

/// The number of units of each seat, and the speed at which it does them.
pub(in crate::engine) struct Shares {
    counts: Vec<usize>,
    /// Guesses of the seats' relative speeds. Above 0.
    guesses: Vec<f64>,
    /// By seat: the seconds per unit in each step measured since units last moved.
    steps: Vec<Vec<f64>>,
}

impl Shares {
    /// Makes shares for seats without units.
    pub fn new(guesses: Vec<f64>) -> Self {
        Shares { counts: vec![0; guesses.len()], steps: vec![Vec::new(); guesses.len()], guesses }
    }

    /// Returns the number of a seat's units.
    pub fn count(&self, seat: usize) -> usize {
        self.counts[seat]
    }

    /// Sets the number of a seat's units.
    pub fn set(&mut self, seat: usize, count: usize) {
        self.counts[seat] = count;
    }

    /// Enters the seconds of a seat's step.
    pub fn enter(&mut self, seat: usize, seconds: f64) {
        if self.counts[seat] > 0 {
            self.steps[seat].push(seconds / self.counts[seat] as f64);
        }
    }

    /// Returns the median of the measured seconds per unit, as another program may have held up some steps. Returns `None` if nothing was
    /// measured.
    fn usual(&self, seat: usize) -> Option<f64> {
        let mut steps = self.steps[seat].clone();
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 2).copied().filter(|&seconds| seconds > 0.0)
    }

    /// Returns the units per second of these seats, and 0 for all others.
    pub fn speeds(&self, seats: &[usize]) -> Vec<f64> {
        let known = |seat: usize| self.usual(seat).map(|seconds| 1.0 / seconds);
        // The guesses place seats that have done nothing yet relative to the others.
        let both = seats.iter().filter_map(|&seat| Some((known(seat)?, self.guesses[seat])));
        let (speed, guess) = both.fold((0.0, 0.0), |sum, (speed, guess)| (sum.0 + speed, sum.1 + guess));
        let unit = if guess > 0.0 { speed / guess } else { 1.0 };
        let mut speeds = vec![0.0; self.counts.len()];
        seats.iter().for_each(|&seat| speeds[seat] = known(seat).unwrap_or(self.guesses[seat] * unit));
        speeds
    }

    /// Distributes `total` more units by these weights. Returns the number for each seat.
    pub fn deal(&mut self, total: usize, weights: &[f64]) -> Vec<usize> {
        let more = apportion(total, weights);
        self.counts.iter_mut().zip(&more).for_each(|(count, more)| *count += more);
        more
    }

    /// Moves units from slow seats to fast ones among `seats`, if that pays within the `left` steps. Returns how many units each seat gives
    /// up, and how many it gets. `cost` returns the seconds that a seat needs for a unit that it gets.
    pub fn cut_again(
        &mut self,
        left: usize,
        seats: &[usize],
        cost: &dyn Fn(usize) -> f64,
    ) -> Option<(Vec<usize>, Vec<usize>)> {
        let speeds = self.speeds(seats);
        let total: usize = seats.iter().map(|&seat| self.counts[seat]).sum();
        let longest = |seconds: &dyn Fn(usize) -> f64| seats.iter().map(|&seat| seconds(seat)).fold(0.0, f64::max);
        let now = longest(&|seat| self.usual(seat).unwrap_or(0.0) * self.counts[seat] as f64);
        let measured = self.steps.iter().map(Vec::len).max().unwrap_or(0);
        if total == 0 || (measured < ENOUGH && now < LONG) || now * (measured as f64) < SURE {
            return None;
        }
        let mut wanted = apportion(total, &speeds);
        let few = |seat: usize| wanted[seat] < FEWEST.min(total / 2);
        let fast: Vec<f64> = (0..speeds.len()).map(|seat| if few(seat) { 0.0 } else { speeds[seat] }).collect();
        if fast.iter().any(|&speed| speed > 0.0) {
            wanted = apportion(total, &fast);
        }
        let then = longest(&|seat| wanted[seat] as f64 / speeds[seat]);
        let less = |(&a, &b): (&usize, &usize)| a.saturating_sub(b);
        let gains: Vec<usize> = wanted.iter().zip(&self.counts).map(less).collect();
        let costs = longest(&|seat| cost(seat) * gains[seat] as f64);
        if !(then < WORTH * now && (now - then) * left as f64 > MARGIN * costs) {
            return None;
        }
        let gives: Vec<usize> = self.counts.iter().zip(&wanted).map(less).collect();
        self.counts = wanted;
        self.steps.iter_mut().for_each(Vec::clear);
        Some((gives, gains))
    }
}

/// Divides `total` in proportion to the weights, in whole numbers. Weights are not negative, and not all 0.
fn apportion(total: usize, weights: &[f64]) -> Vec<usize> {
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
