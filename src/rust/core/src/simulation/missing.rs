//! Removal of cells from data.

use super::draws::{Draws, Of};
use super::parents::{spread_of, Parents};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::pool::Pool;
use crate::Result;

/// Mechanism that decides whether a cell is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Missing completely at random: every cell has the same probability.
    Completely,
    /// Missing at random. Half of the variables are complete. In any other variable, the log odds of a cell are a constant plus twice the
    /// z-score of a complete variable: a neighbour if one is complete.
    AtRandom,
}

/// Share of missing cells, and their mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missing {
    /// Expected share of the cells of each variable that is not complete.
    pub share: f64,
    /// The mechanism.
    pub mechanism: Mechanism,
}

/// Slope of the log odds.
const SLOPE: f64 = 2.0;

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Returns the constant that gives this share (Newton's method; the share increases with the constant).
fn constant(z: &[f64], share: f64) -> f64 {
    let mut at = (share / (1.0 - share)).ln();
    for _ in 0..50 {
        let (mut sum, mut slope) = (0.0, 0.0);
        for &z in z {
            let chance = logistic(at + SLOPE * z);
            sum += chance;
            slope += chance * (1.0 - chance);
        }
        let step = (sum - share * z.len() as f64) / slope.max(1e-12);
        at -= step.clamp(-1.0, 1.0);
        if step.abs() < 1e-9 {
            break;
        }
    }
    at
}

pub(super) fn take_out(
    missing: &Missing,
    parents: &Parents,
    n: usize,
    seed: u64,
    cells: &mut [f64],
    pool: &Pool,
    observer: &mut dyn Observer,
) -> Result<()> {
    let share = missing.share;
    if share <= 0.0 {
        return Ok(());
    }
    if missing.mechanism == Mechanism::Completely {
        pool.each_of(cells.chunks_mut(n).enumerate().collect(), |_, (v, column): (usize, &mut [f64])| {
            let mut draws = Draws::new(seed, Of::Missing, v);
            column.iter_mut().filter(|_| draws.uniform() < share).for_each(|cell| *cell = f64::NAN);
        });
        return Ok(());
    }
    let p = cells.len() / n;
    let order = Draws::new(seed, Of::Complete, 0).permutation(p);
    let complete = &order[..p.div_ceil(2)];
    let mut is_complete = vec![false; p];
    complete.iter().for_each(|&v| is_complete[v as usize] = true);
    // For each variable, its first complete neighbour.
    let mut by: Vec<Option<usize>> = vec![None; p];
    for v in 0..p {
        for u in parents.of(v).map(|arrow| parents.parent(arrow)) {
            for (one, other) in [(u, v), (v, u)] {
                if is_complete[other] && by[one].is_none() {
                    by[one] = Some(other);
                }
            }
        }
    }
    let mut z = memory::zeros(n, Use::Samples)?;
    for v in (0..p).filter(|&v| !is_complete[v]) {
        observer.look()?;
        let mut draws = Draws::new(seed, Of::Missing, v);
        let by = by[v].unwrap_or(complete[draws.below(complete.len())] as usize);
        let (mean, sd) = spread_of(&cells[by * n..][..n]);
        z.iter_mut().zip(&cells[by * n..]).for_each(|(z, x)| *z = (x - mean) / sd);
        let constant = constant(&z, share);
        let chances = z.iter().map(|z| logistic(constant + SLOPE * z));
        for (cell, chance) in cells[v * n..][..n].iter_mut().zip(chances) {
            if draws.uniform() < chance {
                *cell = f64::NAN;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{random_dag, random_data, Kind, Model, Sample, Shape};
    use super::*;
    use crate::observer::Unobserved;

    #[test]
    fn the_share_is_kept_and_half_is_complete_at_random() {
        let (p, n) = (30, 4000);
        let shape = Shape { p, model: Model::Independent, neighbours: 3.0, weights: [0.5, 1.0], signs: true };
        let dag = random_dag(&shape, 2).unwrap();
        for mechanism in [Mechanism::Completely, Mechanism::AtRandom] {
            let missing = Missing { share: 0.2, mechanism };
            let sample =
                Sample { n, kind: Kind::Mixed(0.4), levels: [2, 3], strength: 1.0, standardise: false, missing };
            let (mut with, mut without) = (vec![0.0; n * p], vec![0.0; n * p]);
            let draw = |sample: &Sample, cells: &mut [f64]| {
                random_data(p, &dag, sample, 5, cells, &Pool::new(2), &mut Unobserved).unwrap();
            };
            draw(&sample, &mut with);
            draw(&Sample { missing: Missing { share: 0.0, mechanism }, ..sample }, &mut without);
            assert!(with.iter().zip(&without).all(|(a, b)| a.is_nan() || a == b));
            let shares: Vec<f64> =
                with.chunks(n).map(|x| x.iter().filter(|x| x.is_nan()).count() as f64 / n as f64).collect();
            let complete = shares.iter().filter(|&&share| share == 0.0).count();
            assert_eq!(complete, if mechanism == Mechanism::AtRandom { 15 } else { 0 });
            assert!(shares.iter().all(|&share| share == 0.0 || (share - 0.2).abs() < 0.03), "{shares:?}");
            // Cells missing at random depend on complete variables.
            let apart = |v: usize, by: usize| {
                let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
                for i in 0..n {
                    let gone = usize::from(with[v * n + i].is_nan());
                    sums[gone] += without[by * n + i];
                    counts[gone] += 1.0;
                }
                (sums[1] / counts[1] - sums[0] / counts[0]).abs() / spread_of(&without[by * n..][..n]).1
            };
            let gone = (0..p).find(|&v| shares[v] > 0.0).unwrap();
            let most = (0..p).filter(|&by| by != gone).map(|by| apart(gone, by)).fold(0.0, f64::max);
            assert_eq!(most > 0.5, mechanism == Mechanism::AtRandom, "{most}");
        }
    }
}
