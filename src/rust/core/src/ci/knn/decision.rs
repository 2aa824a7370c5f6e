//! From permutations to p, and when to stop drawing permutations.

use crate::memory::{self, Use};
use crate::{Error, Result};

/// Settings of sequential permutation testing: draws stop once the decision at `alpha` is certain within `error`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlyStop {
    /// Significance level of the decision: independent if p >= alpha.
    pub alpha: f64,
    /// The largest probability at which to stop: that drawing all permutations would give the other decision. With 0, draws stop only if
    /// the rest cannot change the decision.
    pub error: f64,
}

/// The rule that computes p from `permutations` draws, `count` of which have an estimate at least as large as the data's.
#[derive(Clone, Debug)]
pub struct Decision {
    permutations: usize,
    add_one: bool,
    /// For m + 1 draws: the largest count at which to stop for dependence, and the smallest for independence.
    bounds: Vec<(i64, i64)>,
}

impl Decision {
    /// Makes the rule p = count / permutations (Runge 2018), or with `add_one` (1 + count) / (1 + permutations), which is never 0 (B.
    /// Phipson and G. K. Smyth 2010). With `early`, both numbers are those drawn until the stop.
    ///
    /// The probability of the other decision assumes a uniform prior on p. Given c of m, the number among the rest is beta-binomial with
    /// parameters c + 1 and m - c + 1. The probability is 0 only if the rest cannot change the decision.
    ///
    /// # Errors
    /// [`Error::Argument`] if a number is out of its range; [`Error::Memory`].
    pub fn new(permutations: usize, add_one: bool, early: Option<EarlyStop>) -> Result<Self> {
        let wrong =
            |argument, value: String, hint: &str| Err(Error::Argument { argument, value, hint: hint.to_string() });
        if !(1..=1_000_000).contains(&permutations) {
            return wrong("permutations", permutations.to_string(), "give a whole number from 1 to 1000000");
        }
        memory::room(32 * permutations, Use::Permutations)?;
        let mut decision = Decision { permutations, add_one, bounds: Vec::new() };
        if let Some(EarlyStop { alpha, error }) = early {
            if !(alpha > 0.0 && alpha < 1.0 && (0.0..0.5).contains(&error)) {
                let value = format!("alpha = {alpha}, error = {error}");
                return wrong("early_stop", value, "give `alpha` between 0 and 1, and `error` from 0 to below 0.5");
            }
            decision.bounds = decision.bounds_of(alpha, error);
        }
        Ok(decision)
    }

    /// Returns the largest number of permutations to draw.
    pub fn permutations(&self) -> usize {
        self.permutations
    }

    /// Returns whether draws may stop before all are made.
    pub fn stops_early(&self) -> bool {
        !self.bounds.is_empty()
    }

    /// Returns for each draw the largest count at which to stop for dependence, and the smallest for independence. Empty if all
    /// permutations are drawn.
    pub fn bounds(&self) -> &[(i64, i64)] {
        &self.bounds
    }

    /// Returns p for `count` of `drawn`.
    pub fn p(&self, count: usize, drawn: usize) -> f64 {
        if self.add_one {
            (1 + count) as f64 / (1 + drawn) as f64
        } else {
            count as f64 / drawn as f64
        }
    }

    /// Enters the next draw, and returns p once the draws suffice.
    #[inline]
    pub fn next(&self, drawn: &mut usize, count: &mut usize, at_least: bool) -> Option<f64> {
        *count += usize::from(at_least);
        *drawn += 1;
        let stop = self.bounds.get(*drawn - 1).is_some_and(|&(low, high)| {
            let count = *count as i64;
            count <= low || count >= high
        });
        (stop || *drawn == self.permutations).then(|| self.p(*count, *drawn))
    }

    /// Enters the next `many` draws, at most 32, which are bits from the lowest on, as [`Decision::next`] does.
    #[inline]
    pub fn next_of_many(&self, drawn: &mut usize, count: &mut usize, bits: u32, many: u32) -> Option<f64> {
        if !self.stops_early() {
            *count += bits.count_ones() as usize;
            *drawn += many as usize;
            return (*drawn == self.permutations).then(|| self.p(*count, *drawn));
        }
        (0..many).find_map(|at| self.next(drawn, count, bits >> at & 1 == 1))
    }

    fn bounds_of(&self, alpha: f64, error: f64) -> Vec<(i64, i64)> {
        let all = self.permutations;
        // The smallest count that means independence after all draws.
        let need = (0..=all).position(|count| self.p(count, all) >= alpha).unwrap_or(all + 1);
        let rest = Rest::new(all, need);
        let other_is_independence = |c: usize, m: usize| match need.checked_sub(c) {
            Some(missing) if missing > all - m => 0.0,
            Some(_) => rest.at_most(c, m + 1),
            None => 1.0,
        };
        let other_is_dependence = |c: usize, m: usize| if need > c { rest.more_than(c, m + 1) } else { 0.0 };
        // Both bounds rise with m, by at most 1 per draw.
        let (mut low, mut high) = (-1i64, 0i64);
        (1..=all)
            .map(|m| {
                let may_rise = |c: i64| {
                    c >= 0
                        && c as usize <= m
                        && self.p(c as usize, m) < alpha
                        && other_is_independence(c as usize, m) <= error
                };
                while may_rise(low + 1) {
                    low += 1;
                }
                let too_low = |c: i64| {
                    let c = c as usize;
                    c <= m && (self.p(c, m) < alpha || other_is_dependence(c, m) > error)
                };
                while too_low(high) {
                    high += 1;
                }
                (low, high)
            })
            .collect()
    }
}

/// The distribution of the final count, given c of m draws. With a uniform prior on p, p is the (c + 1)-th smallest of m + 1 uniform
/// numbers. Put all + 1 numbers in random order and mark m + 1 of them. The final count is at least `need` if at most c of the first `need`
/// are marked, so its distribution is hypergeometric.
///
/// statrs 0.18 is not used: from about 1,030 permutations on the binomial coefficients of its `Hypergeometric` overflow, which makes p NaN.
/// Its tails sum from 0, which takes 0.5 ms at 100,000, and every draw needs one or two tails.
struct Rest {
    all: usize,
    need: usize,
    gammas: Vec<f64>,
}

impl Rest {
    fn new(all: usize, need: usize) -> Self {
        Rest { all: all + 1, need, gammas: (0..all + 4).map(|i| libm::lgamma(i as f64)).collect() }
    }

    /// Returns the probability that exactly i of the first `need` are among the `marked`.
    fn exactly(&self, i: usize, marked: usize) -> f64 {
        let (others, from_others) = (self.all - marked, self.need.checked_sub(i));
        let Some(from_others) = from_others.filter(|&count| i <= marked && count <= others) else { return 0.0 };
        let choose = |n: usize, k: usize| self.gammas[n + 1] - self.gammas[k + 1] - self.gammas[n - k + 1];
        (choose(marked, i) + choose(others, from_others) - choose(self.all, self.need)).exp()
    }

    /// Sums a series until the remainder is lost in rounding. Each term after `first` is the previous one times a ratio.
    fn tail(first: f64, ratios: impl Iterator<Item = f64>) -> f64 {
        let (mut term, mut sum) = (first, first);
        for ratio in ratios {
            term *= ratio;
            sum += term;
            if ratio < 1.0 && term <= 1e-17 * sum {
                break;
            }
        }
        sum
    }

    /// Returns the probability that at most c of the first `need` are among the `marked`.
    fn at_most(&self, c: usize, marked: usize) -> f64 {
        let c = c.min(marked).min(self.need);
        let others = (self.all - marked) as f64 - self.need as f64;
        let ratio = |i: usize| {
            let i = i as f64;
            (i * (others + i)).max(0.0) / ((marked as f64 - i + 1.0) * (self.need as f64 - i + 1.0))
        };
        Self::tail(self.exactly(c, marked), (1..=c).rev().map(ratio))
    }

    /// Returns the probability that more than c of the first `need` are among the `marked`.
    fn more_than(&self, c: usize, marked: usize) -> f64 {
        // Fewer are impossible if there are too few unmarked numbers.
        let first = (c + 1).max(self.need.saturating_sub(self.all - marked));
        let last = marked.min(self.need);
        if first > last {
            return 0.0;
        }
        let others = (self.all - marked) as f64 - self.need as f64;
        let ratio = |i: usize| {
            let i = i as f64;
            (marked as f64 - i) * (self.need as f64 - i) / ((i + 1.0) * (others + i + 1.0))
        };
        Self::tail(self.exactly(first, marked), (first..last).map(ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums the beta-binomial distribution directly: j more among the rest, given c of m.
    fn beta_binomial(all: usize, c: usize, m: usize, more: std::ops::RangeInclusive<usize>) -> f64 {
        let gamma = |i: usize| libm::lgamma(i as f64);
        let choose = |n: usize, k: usize| gamma(n + 1) - gamma(k + 1) - gamma(n - k + 1);
        let term = |j: usize| {
            let grown = gamma(c + j + 1) + gamma(all - c - j + 1) - gamma(all + 2);
            let before = gamma(c + 1) + gamma(m - c + 1) - gamma(m + 2);
            (choose(all - m, j) + grown - before).exp()
        };
        more.map(term).sum()
    }

    #[test]
    fn what_is_left_is_beta_binomial() {
        for (all, need) in [(20, 3), (37, 30), (100, 1), (100, 5), (60, 60)] {
            let rest = Rest::new(all, need);
            for m in 1..all {
                for c in 0..=m.min(need - 1) {
                    let missing = need - c;
                    if missing > all - m {
                        continue;
                    }
                    let independent = beta_binomial(all, c, m, missing..=all - m);
                    let dependent = beta_binomial(all, c, m, 0..=missing - 1);
                    let close = |found: f64, wanted: f64| (found - wanted).abs() <= 1e-10 * wanted + 1e-300;
                    assert!(close(rest.at_most(c, m + 1), independent), "{all} {need} {m} {c}: {independent}");
                    assert!(close(rest.more_than(c, m + 1), dependent), "{all} {need} {m} {c}: {dependent}");
                }
            }
        }
    }

    #[test]
    fn statrs_says_the_same_while_it_has_an_answer() {
        use statrs::distribution::{DiscreteCDF, Hypergeometric};
        for (all, need) in [(20, 3), (37, 30), (100, 5), (500, 25), (1000, 50)] {
            let rest = Rest::new(all, need);
            for marked in (1..all).step_by(1 + all / 40) {
                let second = Hypergeometric::new(all as u64 + 1, marked as u64, need as u64).unwrap();
                for c in 0..marked.min(need) {
                    let (at_most, more) = (second.cdf(c as u64), second.sf(c as u64));
                    let close = |found: f64, wanted: f64| (found - wanted).abs() <= 1e-10 * wanted + 1e-14;
                    assert!(close(rest.at_most(c, marked), at_most), "{all} {need} {marked} {c}: {at_most}");
                    assert!(close(rest.more_than(c, marked), more), "{all} {need} {marked} {c}: {more}");
                }
            }
        }
    }

    #[test]
    fn draws_in_words_are_draws_one_by_one() {
        let early = EarlyStop { alpha: 0.05, error: 0.01 };
        for (permutations, early) in [(100, None), (100, Some(early)), (37, Some(early)), (64, None)] {
            let decision = Decision::new(permutations, true, early).unwrap();
            for seed in 0..200u32 {
                let word = |at: u32| seed.wrapping_mul(0x9E37_79B9).rotate_left(at) & seed.wrapping_mul(0x85EB_CA6B);
                let (mut one, mut many) = ((0, 0), (0, 0));
                let by_one = (0..permutations as u32)
                    .find_map(|at| decision.next(&mut one.0, &mut one.1, word(at / 32) >> (at % 32) & 1 == 1));
                let by_words = (0..permutations as u32).step_by(32).find_map(|at| {
                    let count = (permutations as u32 - at).min(32);
                    let bits = word(at / 32) & (u32::MAX >> (32 - count));
                    decision.next_of_many(&mut many.0, &mut many.1, bits, count)
                });
                assert!(by_one.is_some() && by_one == by_words && one == many, "{permutations} {seed}");
            }
        }
    }

    /// Checks that the bounds of a million permutations, which are allowed, take seconds and not hours.
    #[test]
    fn bounds_of_many_permutations_are_found() {
        let early = EarlyStop { alpha: 0.05, error: 0.01 };
        let decision = Decision::new(1_000_000, false, Some(early)).unwrap();
        assert_eq!(decision.bounds().len(), 1_000_000);
        let (low, high) = decision.bounds()[99_999];
        assert!(low > 4_800 && low < 5_000 && high > 5_000 && high < 5_200, "{low} {high}");
    }

    fn run(decision: &Decision, draws: impl Iterator<Item = bool>) -> (f64, usize) {
        let (mut drawn, mut count) = (0, 0);
        for draw in draws {
            if let Some(p) = decision.next(&mut drawn, &mut count, draw) {
                return (p, drawn);
            }
        }
        panic!("too few draws");
    }

    #[test]
    fn both_forms_of_p() {
        let draws = || (0..100).map(|m| m % 10 == 0);
        assert_eq!(run(&Decision::new(100, false, None).unwrap(), draws()), (0.1, 100));
        assert_eq!(run(&Decision::new(100, true, None).unwrap(), draws()), (11.0 / 101.0, 100));
    }

    /// Checks that stopping never changes the decision if no error is allowed.
    #[test]
    fn certain_stops_agree_with_all_draws() {
        for (add_one, alpha, all) in [(false, 0.01, 100), (true, 0.05, 100), (false, 0.05, 37), (true, 0.001, 50)] {
            let full = Decision::new(all, add_one, None).unwrap();
            let early = Decision::new(all, add_one, Some(EarlyStop { alpha, error: 0.0 })).unwrap();
            let mut saved = 0;
            for pattern in 0u64..400 {
                let rate = [0, 3, 40, 300, 1000][pattern as usize % 5];
                let draws = || (0..all as u64).map(|m| (m * 7919 + pattern * 104_729) % 1009 < rate);
                let (p, drawn) = run(&early, draws());
                let (wanted, _) = run(&full, draws());
                assert_eq!(p >= alpha, wanted >= alpha, "{p} after {drawn}, {wanted} after all");
                saved += all - drawn;
            }
            assert!(saved > 0);
        }
    }

    /// Checks that the share of changed decisions stays below the allowed error.
    #[test]
    fn allowed_errors_are_kept() {
        let (all, alpha, error) = (500, 0.05, 0.01);
        let full = Decision::new(all, false, None).unwrap();
        let early = Decision::new(all, false, Some(EarlyStop { alpha, error })).unwrap();
        let key = crate::random::Key([1, 1]);
        let (mut differ, mut drawn_in_all) = (0, 0);
        let tests = 4000;
        for test in 0..tests {
            // The true p is uniform, as the prior assumes.
            let p = crate::random::philox([test, 0, 0, 0], key)[0];
            let draws = || (0..all as u32).map(|m| crate::random::philox([test, m, 1, 0], key)[0] < p);
            let (stopped, drawn) = run(&early, draws());
            differ += usize::from((stopped >= alpha) != (run(&full, draws()).0 >= alpha));
            drawn_in_all += drawn;
        }
        assert!(differ as f64 <= 2.0 * error * f64::from(tests), "{differ} of {tests}");
        assert!(drawn_in_all < all * tests as usize / 5, "{drawn_in_all}");
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        assert!(Decision::new(0, false, None).is_err());
        for (alpha, error) in [(0.0, 0.0), (1.0, 0.1), (0.05, 0.5), (0.05, -0.1), (f64::NAN, 0.1)] {
            assert!(Decision::new(10, false, Some(EarlyStop { alpha, error })).is_err());
        }
    }
}
