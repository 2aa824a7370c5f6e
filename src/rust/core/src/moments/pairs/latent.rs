//! Correlations of the normal variables behind levels, in two steps (U. Olsson 1979, Psychometrika 44, 443-460; U. Olsson, F. Drasgow and N. J.
//! Dorans 1982, Psychometrika 47, 337-347): the shares of the levels give cuts of a normal variable, then the correlation of each pair follows.

use super::super::normal::{add_dependence, densities, density, quantile};
use super::super::product::ratio;
use super::Paired;

/// The largest |r| of a pair with levels. The likelihood of a table may have its maximum at 1.
const MOST: f64 = 0.9999;

/// The last step to a polychoric correlation. The secant then leaves an error that is smaller by orders of magnitude.
const LAST_STEP: f64 = 1e-6;

/// Smallest probability of a cell, which rounding could make negative.
const LEAST: f64 = 1e-15;

pub(super) struct Latent<'a> {
    pub levels: &'a [u32],
}

/// A column: its values minus their mean, and what levels add.
pub(super) struct Observed {
    values: Vec<f64>,
    /// The sum of the squared values.
    square: f64,
    levels: Option<Levels>,
}

struct Levels {
    /// By row: the level, counted from 0, of those that occur.
    codes: Vec<u32>,
    /// The cuts between the levels, one fewer than levels.
    cuts: Vec<f64>,
    /// The probabilities of values up to each cut, and the sum of the densities there.
    shares: Vec<f64>,
    density: f64,
}

impl Paired for Latent<'_> {
    type Column = Observed;
    type Work = Table;

    fn column(&self, j: usize, values: &[f64]) -> Option<Observed> {
        let n = values.len();
        let (mut values, mut levels) = (values.to_vec(), None);
        if self.levels[j] > 0 {
            let mut counts = vec![0; self.levels[j] as usize];
            values.iter().for_each(|&value| counts[value as usize - 1] += 1);
            let mut occurring = 0;
            let mut places = Vec::new();
            for &count in &counts {
                places.push(occurring);
                occurring += u32::from(count > 0);
            }
            let codes: Vec<u32> = values.iter().map(|&value| places[value as usize - 1]).collect();
            let mut below = 0;
            let mut shares: Vec<f64> = counts
                .iter()
                .filter(|&&count| count > 0)
                .map(|count| {
                    below += count;
                    f64::from(below) / n as f64
                })
                .collect();
            shares.pop();
            let cuts: Vec<f64> = shares.iter().map(|&share| quantile(share)).collect();
            values.iter_mut().zip(&codes).for_each(|(value, &code)| *value = f64::from(code));
            let density = cuts.iter().map(|&cut| density(cut)).sum();
            levels = Some(Levels { codes, cuts, shares, density });
        }
        for _ in 0..2 {
            let mean = values.iter().sum::<f64>() / n as f64;
            values.iter_mut().for_each(|value| *value -= mean);
        }
        let square = values.iter().map(|value| value * value).sum();
        Some(Observed { values, square, levels })
    }

    #[inline(always)]
    fn pair(&self, x: &Observed, y: &Observed, table: &mut Table) -> f64 {
        let product = x.values.iter().zip(&y.values).map(|(x, y)| x * y).sum::<f64>();
        let mut r = ratio(product, x.square, y.square);
        if x.levels.is_none() && y.levels.is_none() {
            return r;
        }
        // A normal variable loses this part of its correlations when it is cut into levels with equal steps.
        for of in [x, y] {
            if let Some(levels) = &of.levels {
                r *= (of.square / of.values.len() as f64).sqrt() / levels.density;
            }
        }
        match (&x.levels, &y.levels) {
            (Some(x), Some(y)) if !r.is_nan() => table.correlation(x, y, r),
            _ => r.clamp(-MOST, MOST),
        }
    }
}

/// Working memory for the counts of two columns of levels.
#[derive(Default)]
pub(super) struct Table {
    /// By level of y, then of x.
    counts: Vec<u32>,
    /// By cut of y, then of x: the probability of values below both, and the density.
    below: Vec<f64>,
    density: Vec<f64>,
}

impl Table {
    /// Returns the correlation of the highest likelihood, near `start`.
    #[inline(always)]
    fn correlation(&mut self, x: &Levels, y: &Levels, start: f64) -> f64 {
        let width = x.cuts.len() + 1;
        self.counts.clear();
        self.counts.resize(width * (y.cuts.len() + 1), 0);
        for (&x, &y) in x.codes.iter().zip(&y.codes) {
            self.counts[y as usize * width + x as usize] += 1;
        }
        let (mut from, mut to) = (-MOST, MOST);
        let mut r = start.clamp(-0.95, 0.95);
        let mut last: Option<[f64; 2]> = None;
        for _ in 0..60 {
            let [slope, information] = self.slope(x, y, r);
            if slope > 0.0 {
                from = r;
            } else {
                to = r;
            }
            // The first step is Fisher's, later ones follow the secant.
            let mut next = match last {
                Some([before, its]) if its != slope => r - slope * (r - before) / (slope - its),
                _ => r + slope / information,
            };
            if !(next > from && next < to) {
                next = 0.5 * (from + to);
            }
            if (next - r).abs() < LAST_STEP {
                // Steps towards the bound halve what is left.
                return if MOST - next.abs() < 2.0 * LAST_STEP { MOST.copysign(next) } else { next };
            }
            last = Some([r, slope]);
            r = next;
        }
        r
    }

    /// Returns the slope of the log likelihood at r, and its expected information.
    #[inline(always)]
    fn slope(&mut self, x: &Levels, y: &Levels, r: f64) -> [f64; 2] {
        let (across, down) = (x.cuts.len(), y.cuts.len());
        self.below.clear();
        for below_y in &y.shares {
            self.below.extend(x.shares.iter().map(|below_x| below_x * below_y));
        }
        self.density.clear();
        self.density.resize(across * down, 0.0);
        add_dependence(&x.cuts, &y.cuts, r, &mut self.below);
        densities(&x.cuts, &y.cuts, r, &mut self.density);
        let at = |cells: &[f64], i: usize, j: usize| match i.min(j) {
            0 => 0.0,
            _ => cells[(j - 1) * across + i - 1],
        };
        let below = |i: usize, j: usize| match (i > across, j > down) {
            (true, true) => 1.0,
            (true, false) => {
                if j == 0 {
                    0.0
                } else {
                    y.shares[j - 1]
                }
            }
            (false, true) => {
                if i == 0 {
                    0.0
                } else {
                    x.shares[i - 1]
                }
            }
            (false, false) => at(&self.below, i, j),
        };
        let inner = |i: usize, j: usize| if i > across || j > down { 0.0 } else { at(&self.density, i, j) };
        let (mut slope, mut information, mut n) = (0.0, 0.0, 0);
        for (j, counts) in self.counts.chunks(across + 1).enumerate() {
            for (i, &count) in counts.iter().enumerate() {
                let of = |cell: &dyn Fn(usize, usize) -> f64| {
                    cell(i + 1, j + 1) - cell(i, j + 1) - cell(i + 1, j) + cell(i, j)
                };
                let (probability, change) = (of(&below).max(LEAST), of(&inner));
                slope += f64::from(count) * change / probability;
                information += change * change / probability;
                n += count;
            }
        }
        [slope, information * f64::from(n)]
    }
}
