//! Data from a DAG: each variable is made from its parents.

use std::sync::OnceLock;

use super::dag::Dag;
use super::draws::{Draws, Of};
use super::missing::{self, Missing};
use super::parents::{spread_of, Parents};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::{Error, Result};

/// Kind of the variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// x = sum of w times each parent, plus standard normal noise.
    Gaussian,
    /// x = sum of w f(z), plus standard normal noise. z is the z-score of a parent; f is one of tanh(2z), sin(2z), (z^2 - 1) / sqrt(2),
    /// exp(-z^2) for each edge.
    Nonlinear,
    /// Levels: the logit of each is a constant plus the sum of 2 w b over the parents. b is standard normal for each pair of levels.
    Discrete,
    /// This share of the variables has levels. A numeric parent enters a number by z, and a logit as 2 w b z. A parent with levels enters
    /// by the b of its level.
    Mixed(f64),
}

/// Options of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Number of observations.
    pub n: usize,
    /// Kind of the variables.
    pub kind: Kind,
    /// The smallest and the largest number of levels.
    pub levels: [usize; 2],
    /// Factor for all weights.
    pub strength: f64,
    /// Whether numeric variables are scaled to mean 0 and standard deviation 1 before others are made from them.
    pub standardise: bool,
    /// The cells to remove.
    pub missing: Missing,
}

/// Draws data into `cells`, column by column, with levels 1, 2, ... and NaN for missing. Returns each variable's number of levels, 0 for
/// numbers.
///
/// # Errors
/// [`Error::Argument`] if the graph is not a DAG, `cells` is not n times p, or the range of levels is empty; [`Error::Memory`]; errors of
/// `observer`.
pub fn random_data(
    p: usize,
    dag: &Dag,
    sample: &Sample,
    seed: u64,
    cells: &mut [f64],
    pool: &Pool,
    observer: &mut dyn Observer,
) -> Result<Vec<usize>> {
    let n = sample.n;
    if cells.len() != n * p || n == 0 {
        return Err(Error::Argument {
            argument: "n",
            value: n.to_string(),
            hint: "give a whole number of at least 1".into(),
        });
    }
    let [least, most] = sample.levels;
    if least == 0 || most < least {
        let hint = "give the smallest number of levels, at least 1, and then the largest".into();
        return Err(Error::Argument { argument: "levels", value: format!("from {least} to {most}"), hint });
    }
    memory::room(24 * dag.from.len() + 64 * p, Use::Samples)?;
    let parents = Parents::new(p, dag)?;
    let levels: Vec<usize> = (0..p).map(|v| levels_of(v, sample, seed)).collect();
    pool.each_of(cells.chunks_mut(n).enumerate().collect(), |_, (v, column): (usize, &mut [f64])| {
        let mut draws = Draws::new(seed, Of::Noise, v);
        let is_number = levels[v] == 0;
        column.iter_mut().for_each(|cell| *cell = if is_number { draws.normal() } else { draws.uniform() });
    });
    let mut maker = Maker {
        parents: &parents,
        sample,
        seed,
        levels: &levels,
        spread: vec![OnceLock::new(); p],
        logits: Vec::new(),
    };
    let mut column = memory::zeros(n, Use::Samples)?;
    for &v in &parents.order {
        observer.look()?;
        let v = v as usize;
        column.copy_from_slice(&cells[v * n..][..n]);
        maker.make(v, cells, &mut column)?;
        cells[v * n..][..n].copy_from_slice(&column);
    }
    missing::take_out(&sample.missing, &parents, n, seed, cells, pool, observer)?;
    Ok(levels)
}

fn levels_of(v: usize, sample: &Sample, seed: u64) -> usize {
    let mut draws = Draws::new(seed, Of::Levels, v);
    let has_levels = match sample.kind {
        Kind::Gaussian | Kind::Nonlinear => false,
        Kind::Discrete => true,
        Kind::Mixed(share) => draws.uniform() < share,
    };
    let [least, most] = sample.levels;
    if has_levels {
        least + draws.below(most - least + 1)
    } else {
        0
    }
}

struct Maker<'a> {
    parents: &'a Parents<'a>,
    sample: &'a Sample,
    seed: u64,
    levels: &'a [usize],
    /// Mean and standard deviation of each parent, once they have been needed.
    spread: Vec<OnceLock<(f64, f64)>>,
    /// Logits of the current variable, for each row and level.
    logits: Vec<f64>,
}

impl Maker<'_> {
    /// Makes v from its noise in `column`; all parents must be complete.
    fn make(&mut self, v: usize, cells: &[f64], column: &mut [f64]) -> Result<()> {
        if self.levels[v] > 0 {
            return self.make_levels(v, cells, column);
        }
        let n = column.len();
        for arrow in self.parents.of(v) {
            let u = self.parents.parent(arrow);
            let from = &cells[u * n..][..n];
            let weight = self.sample.strength * self.parents.dag.weight[arrow];
            let mut draws = Draws::new(self.seed, Of::Effects, 2 * arrow + 1);
            if self.levels[u] > 0 {
                let effects: Vec<f64> = (0..self.levels[u]).map(|_| weight * draws.normal()).collect();
                column.iter_mut().zip(from).for_each(|(cell, &level)| *cell += effects[level as usize - 1]);
                continue;
            }
            let (mean, sd) = match self.sample.kind {
                Kind::Gaussian => (0.0, 1.0),
                _ => self.spread_of(u, from),
            };
            let mut add = |f: fn(f64) -> f64| {
                column.iter_mut().zip(from).for_each(|(cell, &x)| *cell += weight * f((x - mean) / sd));
            };
            match (self.sample.kind, draws.below(4)) {
                (Kind::Nonlinear, 0) => add(|z| (2.0 * z).tanh()),
                (Kind::Nonlinear, 1) => add(|z| (2.0 * z).sin()),
                (Kind::Nonlinear, 2) => add(|z| (z * z - 1.0) * std::f64::consts::FRAC_1_SQRT_2),
                (Kind::Nonlinear, _) => add(|z| (-z * z).exp()),
                _ => add(|z| z),
            }
        }
        if self.sample.standardise {
            let (mean, sd) = spread_of(column);
            column.iter_mut().for_each(|cell| *cell = (*cell - mean) / sd);
        }
        Ok(())
    }

    fn make_levels(&mut self, v: usize, cells: &[f64], column: &mut [f64]) -> Result<()> {
        let (n, levels) = (column.len(), self.levels[v]);
        let mut logits = std::mem::take(&mut self.logits);
        logits.clear();
        if !memory::has_space(&mut logits, n * levels) {
            return Err(Use::Samples.error(8 * n * levels));
        }
        let mut draws = Draws::new(self.seed, Of::Effects, 2 * (self.parents.dag.from.len() + v));
        let constants: Vec<f64> = (0..levels).map(|_| draws.normal() / 2.0).collect();
        (0..n).for_each(|_| logits.extend_from_slice(&constants));
        for arrow in self.parents.of(v) {
            let u = self.parents.parent(arrow);
            let from = &cells[u * n..][..n];
            let weight = 2.0 * self.sample.strength * self.parents.dag.weight[arrow];
            let mut draws = Draws::new(self.seed, Of::Effects, 2 * arrow + 1);
            let effects: Vec<f64> = (0..levels * self.levels[u].max(1)).map(|_| weight * draws.normal()).collect();
            if self.levels[u] > 0 {
                for (row, &level) in logits.chunks_exact_mut(levels).zip(from) {
                    let of_level = &effects[(level as usize - 1) * levels..][..levels];
                    row.iter_mut().zip(of_level).for_each(|(logit, effect)| *logit += effect);
                }
            } else {
                let (mean, sd) = self.spread_of(u, from);
                for (row, &x) in logits.chunks_exact_mut(levels).zip(from) {
                    row.iter_mut().zip(&effects).for_each(|(logit, effect)| *logit += effect * (x - mean) / sd);
                }
            }
        }
        for (row, cell) in logits.chunks_exact_mut(levels).zip(column) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|logit| *logit = (*logit - largest).exp());
            let mut left = *cell * row.iter().sum::<f64>();
            let level = row.iter().take(levels - 1).take_while(|&&weight| {
                left -= weight;
                left >= 0.0
            });
            *cell = level.count() as f64 + 1.0;
        }
        self.logits = logits;
        Ok(())
    }

    fn spread_of(&self, u: usize, column: &[f64]) -> (f64, f64) {
        *self.spread[u].get_or_init(|| spread_of(column))
    }
}

#[cfg(test)]
mod tests {
    use super::super::dag::{random_dag, Model, Shape};
    use super::super::missing::Mechanism;
    use super::*;
    use crate::observer::Unobserved;

    fn sample(n: usize, kind: Kind) -> Sample {
        let missing = Missing { share: 0.0, mechanism: Mechanism::Completely };
        Sample { n, kind, levels: [2, 4], strength: 1.0, standardise: false, missing }
    }

    fn drawn(p: usize, dag: &Dag, sample: &Sample, threads: usize) -> (Vec<f64>, Vec<usize>) {
        let mut cells = vec![0.0; sample.n * p];
        let levels = random_data(p, dag, sample, 7, &mut cells, &Pool::new(threads), &mut Unobserved).unwrap();
        (cells, levels)
    }

    fn arrow() -> Dag {
        Dag { from: vec![1], to: vec![0], weight: vec![0.8] }
    }

    #[test]
    fn a_gaussian_arrow_has_its_weight() {
        let n = 40_000;
        let (cells, levels) = drawn(2, &arrow(), &sample(n, Kind::Gaussian), 1);
        let (y, x) = cells.split_at(n);
        let slope = x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>() / x.iter().map(|x| x * x).sum::<f64>();
        assert!((slope - 0.8).abs() < 0.02, "{slope}");
        assert!((spread_of(x).1 - 1.0).abs() < 0.02 && (spread_of(y).1 - 1.64f64.sqrt()).abs() < 0.02);
        assert_eq!(levels, [0, 0]);
        let scaled = Sample { standardise: true, ..sample(n, Kind::Nonlinear) };
        let (cells, _) = drawn(2, &arrow(), &scaled, 1);
        assert!((spread_of(&cells[..n]).1 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn levels_follow_the_logits_of_their_model() {
        let n = 60_000;
        let of = Sample { levels: [3, 3], ..sample(n, Kind::Discrete) };
        let (cells, levels) = drawn(2, &arrow(), &of, 1);
        assert_eq!(levels, [3, 3]);
        let (y, x) = cells.split_at(n);
        let mut constants = Draws::new(7, Of::Effects, 2);
        let constants = [(); 3].map(|()| constants.normal() / 2.0);
        let mut effects = Draws::new(7, Of::Effects, 1);
        for parent in 1..=3 {
            let weights = constants.map(|constant| (constant + 1.6 * effects.normal()).exp());
            let rows: Vec<f64> = (0..n).filter(|&i| x[i] == f64::from(parent)).map(|i| y[i]).collect();
            for (level, weight) in (1..=3).zip(weights) {
                let share = rows.iter().filter(|&&y| y == f64::from(level)).count() as f64 / rows.len() as f64;
                let want = weight / weights.iter().sum::<f64>();
                assert!((share - want).abs() < 0.02, "{parent}, {level}: {share}, {want}");
            }
        }
    }

    #[test]
    fn threads_change_nothing_and_cycles_are_refused() {
        let shape = Shape { p: 40, model: Model::Power, neighbours: 3.0, weights: [0.3, 1.0], signs: true };
        let dag = random_dag(&shape, 3).unwrap();
        for kind in [Kind::Gaussian, Kind::Nonlinear, Kind::Discrete, Kind::Mixed(0.5)] {
            let (cells, levels) = drawn(40, &dag, &sample(100, kind), 1);
            assert_eq!((cells.clone(), levels.clone()), drawn(40, &dag, &sample(100, kind), 2));
            assert!(cells.iter().all(|x| x.is_finite()));
            for (column, &levels) in cells.chunks(100).zip(&levels) {
                assert!(levels == 0 || column.iter().all(|&x| x >= 1.0 && x <= levels as f64 && x.fract() == 0.0));
            }
            if let Kind::Mixed(_) = kind {
                assert!(levels.contains(&0) && levels.iter().any(|&k| k > 1));
            }
        }
        let cycle = Dag { from: vec![1, 0], to: vec![0, 1], weight: vec![1.0; 2] };
        let mut cells = vec![0.0; 20];
        let found = random_data(2, &cycle, &sample(10, Kind::Gaussian), 1, &mut cells, &Pool::new(1), &mut Unobserved);
        assert!(matches!(found, Err(Error::Argument { argument: "dag", .. })));
    }
}
