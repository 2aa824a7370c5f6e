//! From permutations to p, and when to stop drawing them.

use crate::{Error, Result};

/// Sequential permutation testing: draws stop once the decision at `alpha` is certain within `error`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlyStop {
    /// Significance level of the decision: independent where p >= alpha.
    pub alpha: f64,
    /// The largest probability of the other decision, had all permutations been drawn, at which to stop; 0 stops only when
    /// the rest cannot change the decision.
    pub error: f64,
}

/// How p is made of `permutations` draws, of which `count` have an estimate at least as large as the data's.
#[derive(Clone, Debug)]
pub struct Decision {
    permutations: usize,
    add_one: bool,
    /// After m + 1 draws: the largest count at which to stop for dependence, and the smallest for independence.
    bounds: Vec<(i64, i64)>,
}

impl Decision {
    /// p = count / permutations (Runge 2018), or with `add_one` (1 + count) / (1 + permutations), which is never 0 (B.
    /// Phipson and G. K. Smyth 2010); with `early`, of those drawn until then.
    ///
    /// The probability of the other decision is that of a uniform prior on p: given c of m, the number among the rest is
    /// beta-binomial with parameters c + 1 and m - c + 1.
    ///
    /// # Errors
    /// [`Error::Argument`] where a number is out of its range.
    pub fn new(permutations: usize, add_one: bool, early: Option<EarlyStop>) -> Result<Self> {
        let wrong =
            |argument, value: String, mend: &str| Err(Error::Argument { argument, value, mend: mend.to_string() });
        if !(1..=1_000_000).contains(&permutations) {
            return wrong("permutations", permutations.to_string(), "give a whole number from 1 to 1000000");
        }
        let mut decision = Decision { permutations, add_one, bounds: Vec::new() };
        if let Some(EarlyStop { alpha, error }) = early {
            if !(alpha > 0.0 && alpha < 1.0 && (0.0..0.5).contains(&error)) {
                let value = format!("alpha = {alpha}, error = {error}");
                return wrong("early_stop", value, "give alpha between 0 and 1, and error from 0 to below 0.5");
            }
            decision.bounds = decision.bounds_of(alpha, error);
        }
        Ok(decision)
    }

    /// Number of permutations at most.
    pub fn permutations(&self) -> usize {
        self.permutations
    }

    /// Whether draws may stop before all are made.
    pub fn stops_early(&self) -> bool {
        !self.bounds.is_empty()
    }

    /// By draw: the largest count at which to stop for dependence, the smallest for independence. Empty where all are drawn.
    pub fn bounds(&self) -> &[(i64, i64)] {
        &self.bounds
    }

    /// p of `count` of `drawn`.
    pub fn p(&self, count: usize, drawn: usize) -> f64 {
        if self.add_one {
            (1 + count) as f64 / (1 + drawn) as f64
        } else {
            count as f64 / drawn as f64
        }
    }

    /// Takes in the draws one after another: p once they suffice.
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

    fn bounds_of(&self, alpha: f64, error: f64) -> Vec<(i64, i64)> {
        let all = self.permutations;
        // Independent with all drawn from this count on.
        let need = (0..=all).position(|count| self.p(count, all) >= alpha).unwrap_or(all + 1);
        let gammas: Vec<f64> = (0..all + 3).map(|i| libm::lgamma(i as f64)).collect();
        let choose = |n: usize, k: usize| gammas[n + 1] - gammas[k + 1] - gammas[n - k + 1];
        // P(from `from` to `to` of the rest | c of m).
        let probability = |c: usize, m: usize, from: usize, to: usize| {
            let rest = all - m;
            let term = |j: usize| {
                // C(rest, j) B(c + j + 1, all - c - j + 1) / B(c + 1, m - c + 1).
                let grown = gammas[c + j + 1] + gammas[all - c - j + 1] - gammas[all + 2];
                let before = gammas[c + 1] + gammas[m - c + 1] - gammas[m + 2];
                (choose(rest, j) + grown - before).exp()
            };
            (from..=to.min(rest)).map(term).sum::<f64>()
        };
        let other_is_independence = |c: usize, m: usize| match need.checked_sub(c) {
            Some(missing) if missing > all - m => 0.0,
            Some(missing) => probability(c, m, missing, all - m),
            None => 1.0,
        };
        let other_is_dependence = |c: usize, m: usize| match need.checked_sub(c + 1) {
            Some(most) => probability(c, m, 0, most),
            None => 0.0,
        };
        // Both bounds rise with m, by at most 1 a draw.
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

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Without an allowed error, stopping never changes the decision.
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

    /// The share of other decisions stays below the error that was allowed.
    #[test]
    fn allowed_errors_are_kept() {
        let (all, alpha, error) = (500, 0.05, 0.01);
        let full = Decision::new(all, false, None).unwrap();
        let early = Decision::new(all, false, Some(EarlyStop { alpha, error })).unwrap();
        let key = super::super::random::Key([1, 1]);
        let (mut differ, mut drawn_in_all) = (0, 0);
        let tests = 4000;
        for test in 0..tests {
            // True p uniform, as the prior says.
            let p = super::super::random::philox([test, 0, 0, 0], key)[0];
            let draws = || (0..all as u32).map(|m| super::super::random::philox([test, m, 1, 0], key)[0] < p);
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
