//! The random numbers of the features, and the features themselves.
//!
//! A feature of a vector v is the square root of 2 times cos(w'v / σ + b), w normal and b uniform. See Rahimi and Recht 2007, "Random features
//! for large-scale kernel machines". All machines, threads and searches have the same w and b: they depend on the seed, the variable's
//! number, the feature's number and the purpose. A variable has other weights as x or y than in S.

use std::f64::consts::{SQRT_2, TAU};

use crate::panels::{Row, WIDE};
use crate::random::{philox, Key, Purpose};
use crate::simd::{self, Task};

/// What features are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// x or y.
    Side = 0,
    /// The set S.
    Given = 1,
    /// x or y together with S, as in RCIT.
    Joint = 2,
}

/// Column of the words that do not depend on a variable.
const NO_VARIABLE: u32 = u32::MAX - 3;

/// Returns a uniform number strictly between 0 and 1.
fn uniform(word: u32) -> f64 {
    (f64::from(word) + 0.5) / 4_294_967_296.0
}

/// Returns a normal number for a feature of a level of a variable; a variable of numbers has level 0 only.
pub(super) fn normal(seed: u64, role: Role, variable: u32, level: u32, feature: u32) -> f64 {
    let words = philox([feature, level, role as u32, Purpose::Features as u32], Key::of_column(seed, variable));
    // The library `libm` has the same digits on all machines.
    (-2.0 * libm::log(uniform(words[0]))).sqrt() * libm::cos(TAU * uniform(words[1]))
}

/// Returns the phase of a feature, in turns. That of x or y also depends on the variable.
pub(super) fn phase(seed: u64, role: Role, variable: Option<u32>, feature: u32) -> f64 {
    let key = Key::of_column(seed, variable.unwrap_or(NO_VARIABLE));
    uniform(philox([feature, u32::MAX, role as u32, Purpose::Features as u32], key)[2])
}

/// Returns the bandwidth for `count` variables whose pairs of values have the median distance of a standard normal variable: the median
/// distance of two normal vectors with as many elements. (Wilson and Hilferty 1931 have the median of a chi-squared variable.)
pub(super) fn bandwidth(count: usize) -> f64 {
    let d = count.max(1) as f64;
    (2.0 * d * (1.0 - 2.0 / (9.0 * d)).powi(3)).sqrt()
}

/// Returns the square root of 2 times the cosine of an angle in turns; beyond 2^50 turns, that of 2^50. Only sums and products, some of them
/// fused, so that all machines have the same digits.
#[inline(always)]
fn wave(turns: f64) -> f64 {
    // Adding and subtracting this rounds to a whole number.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    const MOST: f64 = 1_125_899_906_842_624.0;
    let turns = turns.clamp(-MOST, MOST);
    let part = turns - ((turns + WHOLE) - WHOLE);
    // cos(2 π part) = sin(2 π q), by the series of the sine for at most a quarter of a turn.
    let angle = (0.25 - part.abs()) * TAU;
    let square = angle * angle;
    let mut series: f64 = -1.0 / 121_645_100_408_832_000.0;
    for term in [
        1.0 / 355_687_428_096_000.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
        1.0,
    ] {
        series = series.mul_add(square, term);
    }
    SQRT_2 * angle * series
}

/// A variable of a set, with the weights of its features.
#[derive(Clone, Copy)]
pub(super) enum Member<'a> {
    /// A number for each row, and a weight for each feature.
    Numbers(&'a [f64], &'a [Row]),
    /// A level for each row, and for each level a weight for each feature.
    Levels(&'a [u16], &'a [Row]),
}

/// Writes features of some rows of a set: panels one after the other, in each a row for each of `rows`.
pub(super) struct Features<'a> {
    pub members: &'a [Member<'a>],
    /// By panel: the phases, in turns.
    pub phases: &'a [Row],
    /// 1 / (2 π σ).
    pub scale: f64,
    /// Number of features. Columns behind them are set to 0, except the first: it is 1, if `constant`.
    pub count: usize,
    pub constant: bool,
    pub rows: &'a [u32],
    pub out: &'a mut [Row],
}

impl<S> Task<S> for Features<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: S) {
        let panels = self.phases.len();
        for (panel, out) in self.out.chunks_exact_mut(self.rows.len().max(1)).enumerate() {
            out.fill(Row::default());
            for member in self.members {
                match *member {
                    Member::Numbers(values, weights) => {
                        for (out, &row) in out.iter_mut().zip(self.rows) {
                            let value = values[row as usize];
                            out.0.iter_mut().zip(weights[panel].0).for_each(|(sum, weight)| *sum += weight * value);
                        }
                    }
                    Member::Levels(levels, weights) => {
                        for (out, &row) in out.iter_mut().zip(self.rows) {
                            let of_level = &weights[usize::from(levels[row as usize]) * panels + panel];
                            out.0.iter_mut().zip(of_level.0).for_each(|(sum, weight)| *sum += weight);
                        }
                    }
                }
            }
            let phases = self.phases[panel].0;
            for out in &mut *out {
                out.0.iter_mut().zip(phases).for_each(|(value, phase)| *value = wave(*value * self.scale + phase));
            }
            for column in (0..WIDE).filter(|column| panel * WIDE + column >= self.count) {
                let is_constant = self.constant && panel * WIDE + column == self.count;
                out.iter_mut().for_each(|out| out.0[column] = f64::from(u8::from(is_constant)));
            }
        }
    }
}

impl Features<'_> {
    pub fn write(self) {
        simd::run(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_is_a_cosine() {
        for k in -4000..4000 {
            let turns = f64::from(k) * 0.000_777 + f64::from(k % 7) * 1000.0;
            let angle = (turns - turns.round()) * TAU;
            assert!((wave(turns) - SQRT_2 * angle.cos()).abs() < 2e-15, "{turns}");
        }
    }

    #[test]
    fn weights_are_normal_and_independent() {
        let draw = |role, variable| (0..4000).map(|f| normal(1, role, variable, 0, f)).collect::<Vec<_>>();
        let [one, other, role] = [draw(Role::Given, 3), draw(Role::Given, 4), draw(Role::Side, 3)];
        let mean = |of: &dyn Fn(usize) -> f64| (0..4000).map(of).sum::<f64>() / 4000.0;
        assert!(mean(&|f| one[f]).abs() < 0.06 && (mean(&|f| one[f] * one[f]) - 1.0).abs() < 0.09);
        assert!((mean(&|f| one[f].powi(4)) - 3.0).abs() < 0.6);
        assert!(mean(&|f| one[f] * other[f]).abs() < 0.06 && mean(&|f| one[f] * role[f]).abs() < 0.06);
        assert!(normal(1, Role::Given, 3, 1, 0) != one[0] && normal(2, Role::Given, 3, 0, 0) != one[0]);
        let phases = mean(&|f| phase(1, Role::Given, None, f as u32));
        assert!((phases - 0.5).abs() < 0.02);
    }

    #[test]
    fn bandwidths_are_medians_of_distances() {
        for (count, wanted) in [(1, 0.9539), (2, 1.6651), (5, 2.9504)] {
            assert!((bandwidth(count) / wanted - 1.0).abs() < 0.02, "{count}");
        }
    }
}
