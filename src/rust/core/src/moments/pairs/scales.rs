//! Robust correlations, and the robust scales that they are made of.

use super::{Form, Paired};

/// A robust scale, up to a constant, which no correlation depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Qn: an order statistic of the distances between values, about their first quartile (P. J. Rousseeuw and C. Croux 1993, JASA 88,
    /// 1273-1283).
    Qn,
    /// The tau scale: squares cut at three deviations, around a weighted mean (R. A. Maronna and R. H. Zamar 2002, Technometrics 44,
    /// 307-317).
    Tau,
}

pub(super) struct Robust {
    pub scale: Scale,
    pub form: Form,
}

/// The values of a column, and their scale.
pub(super) struct Scaled {
    values: Vec<f64>,
    scale: f64,
}

impl Paired for Robust {
    type Column = Scaled;
    type Work = Working;

    fn column(&self, _: usize, values: &[f64]) -> Option<Scaled> {
        let mut work = Working { values: values.to_vec(), ..Working::default() };
        let scale = work.scale(self.scale);
        let mut values = values.to_vec();
        if self.form == Form::Stable {
            values.iter_mut().for_each(|value| *value /= scale);
        }
        Some(Scaled { values, scale })
    }

    #[inline(always)]
    fn pair(&self, x: &Scaled, y: &Scaled, work: &mut Working) -> f64 {
        let mut squared = |sign: f64| {
            work.values.clear();
            work.values.extend(x.values.iter().zip(&y.values).map(|(x, y)| x + sign * y));
            let scale = work.scale(self.scale);
            scale * scale
        };
        let (of_sum, of_difference) = (squared(1.0), squared(-1.0));
        if !(x.scale > 0.0 && y.scale > 0.0) {
            return f64::NAN;
        }
        match self.form {
            Form::Plain => (of_sum - of_difference) / 4.0,
            Form::Cut => ((of_sum - of_difference) / (4.0 * x.scale * y.scale)).clamp(-1.0, 1.0),
            Form::Stable => ((of_sum - of_difference) / (of_sum + of_difference)).clamp(-1.0, 1.0),
        }
    }
}

/// Returns the centre and scale of values: for [`Scale::Qn`] their median, for [`Scale::Tau`] the weighted mean.
pub fn centre_and_scale(values: &[f64], scale: Scale) -> [f64; 2] {
    let mut work = Working { values: values.to_vec(), ..Working::default() };
    match scale {
        Scale::Tau => work.tau(),
        Scale::Qn => [median(&mut values.to_vec()), work.scale(scale)],
    }
}

/// Returns the median of values, which it reorders.
fn median(values: &mut [f64]) -> f64 {
    let (half, is_odd) = (values.len() / 2, values.len() % 2 == 1);
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    match is_odd {
        true => upper,
        false => (below.iter().copied().fold(f64::NEG_INFINITY, f64::max) + upper) / 2.0,
    }
}

/// The values whose scale is sought, and working memory.
#[derive(Default)]
pub(super) struct Working {
    values: Vec<f64>,
    others: Vec<f64>,
    /// By value: the first of the values within the bound below, above and between.
    low: Vec<u32>,
    high: Vec<u32>,
    middle: Vec<u32>,
}

impl Working {
    /// Returns the scale of `values`, which it reorders.
    #[inline(always)]
    fn scale(&mut self, scale: Scale) -> f64 {
        match scale {
            Scale::Qn => self.qn(),
            Scale::Tau => self.tau()[1],
        }
    }

    /// Returns the weighted mean and the tau scale, with the constants 4.5 and 3 of Maronna and Zamar.
    fn tau(&mut self) -> [f64; 2] {
        self.others.clear();
        self.others.extend_from_slice(&self.values);
        let centre = median(&mut self.others);
        self.others.clear();
        self.others.extend(self.values.iter().map(|value| (value - centre).abs()));
        let deviation = median(&mut self.others);
        if !(deviation > 0.0) {
            return [centre, 0.0];
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        for &value in &self.values {
            let u = (value - centre) / (4.5 * deviation);
            let w = (1.0 - u * u).max(0.0);
            sum += value * w * w;
            weights += w * w;
        }
        let mean = sum / weights;
        let squares = |value: &f64| ((value - mean) / deviation).powi(2).min(9.0);
        [mean, deviation * (self.values.iter().map(squares).sum::<f64>() / self.values.len() as f64).sqrt()]
    }

    /// Returns the k-th smallest distance between two of the n values, where k is h (h - 1) / 2 for h = n / 2 + 1.
    ///
    /// The number of distances up to a bound takes one pass over the sorted values. Bounds below and above the k-th distance come closer
    /// until few distances lie between them. These are listed.
    #[inline(always)]
    fn qn(&mut self) -> f64 {
        let n = self.values.len();
        if n < 2 {
            return 0.0;
        }
        self.values.sort_unstable_by(f64::total_cmp);
        let Working { values, others, low, high, middle } = self;
        let few = n as u64;
        let half = few / 2 + 1;
        let k = half * (half - 1) / 2;
        // A bound, and the number of distances up to it. Fewer than k are up to `below`, and at least k up to `above`.
        let mut below = (-1.0, 0);
        let mut above = (values[n - 1] - values[0], few * (few - 1) / 2);
        low.clear();
        low.extend(0..n as u32);
        high.clear();
        high.resize(n, 0);
        // For normal values, the k-th distance is this part of the range between the quartiles.
        let mut bound = 0.334 * (values[3 * n / 4] - values[n / 4]);
        for pass in 0.. {
            if above.1 - below.1 <= 2 * few {
                break;
            }
            // Bisection after some passes: distances that are equal leave no other way.
            if pass >= 6 || !(bound > below.0 && bound < above.0) {
                bound = (0.5 * (below.0 + above.0)).max(0.0);
            }
            if !(bound > below.0 && bound < above.0) {
                return above.0;
            }
            let count = reach(values, bound, middle);
            // Aims beyond k, so that the next bound is on its other side.
            let aim = |(from, less): (f64, u64), (to, more): (f64, u64), k: u64| {
                from + (to - from) * (k as f64 - less as f64) / (more as f64 - less as f64)
            };
            if count < k {
                std::mem::swap(low, middle);
                below = (bound, count);
                bound =
                    if pass == 0 { bound * (k + few) as f64 / count.max(1) as f64 } else { aim(below, above, k + few) };
            } else {
                std::mem::swap(high, middle);
                above = (bound, count);
                let k = k.saturating_sub(few);
                bound = if pass == 0 { bound * k as f64 / count as f64 } else { aim(below, above, k) };
            }
        }
        others.clear();
        for (j, (&from, &to)) in high.iter().zip(low.iter()).enumerate() {
            others.extend(values[from as usize..to as usize].iter().map(|value| values[j] - value));
        }
        let rank = (k - below.1 - 1) as usize;
        *others.select_nth_unstable_by(rank, f64::total_cmp).1
    }
}

/// Writes for each of the ascending values the first of those whose distance below it is within the bound. Returns the number of distances
/// within the bound, which is not negative.
#[inline(always)]
fn reach(values: &[f64], bound: f64, first: &mut Vec<u32>) -> u64 {
    first.clear();
    let (mut i, mut count) = (0, 0);
    for (j, &value) in values.iter().enumerate() {
        while i < j && value - values[i] > bound {
            i += 1;
        }
        first.push(i as u32);
        count += (j - i) as u64;
    }
    count
}
