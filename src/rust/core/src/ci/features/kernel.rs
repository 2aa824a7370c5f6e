//! Values of a Gaussian kernel, as columns L with K = LL' up to [`LEFT`]: an incomplete Cholesky factor.
//!
//! F. R. Bach and M. I. Jordan 2002, "Kernel independent component analysis", Journal of Machine Learning Research 3. Here eight pivots are
//! chosen at a time, so that most of the work is a product of matrices.

use super::linear::subtract;
use super::weights::bandwidth;
use super::LEVELS_APART;
use crate::memory::{self, Use};
use crate::panels::{Row, WIDE};

/// The largest element of the diagonal of K - LL'. The ridge of the regression is 1e-3.
const LEFT: f64 = 1e-6;

/// A chosen pivot is left out if the pivots before it leave less than this share of its element of the diagonal.
const SHARE: f64 = 0.25;

/// A variable whose values the kernel compares.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    /// Scaled numbers.
    Numbers(&'a [f64]),
    /// Levels, which are equal or [apart](LEVELS_APART).
    Levels(&'a [u16]),
}

/// The kernel exp(-d² / 2σ²) of some variables.
pub(super) struct Kernel<'a> {
    pub variables: Vec<Values<'a>>,
}

impl Kernel<'_> {
    /// Writes the values of the kernel between some rows and one of them to a lane. `squares`: working memory, a number for each row.
    fn column(&self, rows: &[u32], pivot: usize, squares: &mut [f64], lane: usize, out: &mut [Row]) {
        let sigma = bandwidth(self.variables.len());
        let apart = LEVELS_APART * bandwidth(1);
        squares.fill(0.0);
        for variable in &self.variables {
            match *variable {
                Values::Numbers(values) => {
                    let own = values[rows[pivot] as usize];
                    for (square, &row) in squares.iter_mut().zip(rows) {
                        let distance = values[row as usize] - own;
                        *square += distance * distance;
                    }
                }
                Values::Levels(levels) => {
                    let own = levels[rows[pivot] as usize];
                    for (square, &row) in squares.iter_mut().zip(rows) {
                        *square += if levels[row as usize] == own { 0.0 } else { apart * apart };
                    }
                }
            }
        }
        let by = -0.5 / (sigma * sigma);
        // The library `libm` has the same digits on all machines.
        out.iter_mut().zip(squares).for_each(|(out, square)| out.0[lane] = libm::exp(*square * by));
    }

    /// Writes panels with the columns of L in these rows. Returns `None` if memory is short, which is noted.
    pub fn factor(&self, rows: &[u32], out: &mut Vec<Row>) -> Option<()> {
        let n = rows.len();
        out.clear();
        // What is left of the diagonal.
        let mut left = vec![1.0; n];
        let mut sides = vec![Row::default(); n];
        let mut squares = vec![0.0; n];
        // Columns of the last panel that are filled.
        let mut filled = WIDE;
        loop {
            let pivots = largest(&left, WIDE - filled % WIDE);
            if pivots.is_empty() {
                return Some(());
            }
            for (lane, &pivot) in pivots.iter().enumerate() {
                self.column(rows, pivot, &mut squares, lane, &mut sides);
            }
            let done = out.len();
            // By column: its values in the rows of the pivots.
            let mut by = vec![Row::default(); done / n * WIDE];
            for (panel, by) in out.chunks_exact(n).zip(by.chunks_exact_mut(WIDE)) {
                for (lane, &pivot) in pivots.iter().enumerate() {
                    by.iter_mut().zip(panel[pivot].0).for_each(|(by, value)| by.0[lane] = value);
                }
            }
            subtract(out, &by, &mut sides);
            if filled == WIDE {
                filled = 0;
                if !memory::grow(out, done + n, Row::default(), Use::Threads) {
                    return None;
                }
            }
            let last = out.len() - n;
            filled += eliminate(&pivots, &mut sides, (&mut out[last..], filled), &mut left);
        }
    }
}

/// Returns the rows with the largest elements above [`LEFT`], up to `most` of them, the first of equal ones first.
fn largest(left: &[f64], most: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::with_capacity(WIDE + 1);
    for (row, &value) in left.iter().enumerate().filter(|(_, &value)| value > LEFT) {
        let at = found.partition_point(|&other| left[other] >= value);
        if at < most {
            found.insert(at, row);
            found.truncate(most);
        }
    }
    found
}

/// Turns the remaining kernel columns of pivots into columns of L, behind the first columns of a panel. Returns how many.
fn eliminate(pivots: &[usize], sides: &mut [Row], (panel, filled): (&mut [Row], usize), left: &mut [f64]) -> usize {
    let most = left[pivots[0]];
    let mut rest: Vec<usize> = (0..pivots.len()).collect();
    for done in 0..pivots.len() {
        let of = |lane: &usize| sides[pivots[*lane]].0[*lane];
        let Some(at) = (0..rest.len()).reduce(|one, other| if of(&rest[other]) > of(&rest[one]) { other } else { one })
        else {
            return done;
        };
        let chosen = rest.swap_remove(at);
        let (pivot, own) = (pivots[chosen], of(&chosen));
        if done > 0 && (own <= LEFT || own < SHARE * most) {
            return done;
        }
        let root = own.sqrt();
        let others: Vec<(usize, f64)> =
            rest.iter().map(|&other| (other, sides[pivots[other]].0[chosen] / root)).collect();
        for ((side, to), left) in sides.iter_mut().zip(&mut *panel).zip(&mut *left) {
            let value = side.0[chosen] / root;
            to.0[filled + done] = value;
            *left -= value * value;
            others.iter().for_each(|&(other, by)| side.0[other] -= value * by);
        }
        // Exactly, so that a pivot is never chosen again.
        left[pivot] = 0.0;
    }
    pivots.len()
}

/// Subtracts the mean of each column of panels with `rows` rows.
pub(super) fn centre(panels: &mut [Row], rows: usize) {
    for panel in panels.chunks_exact_mut(rows.max(1)) {
        let mut mean = [0.0; WIDE];
        panel.iter().for_each(|row| mean.iter_mut().zip(row.0).for_each(|(sum, value)| *sum += value));
        mean.iter_mut().for_each(|sum| *sum /= rows as f64);
        panel.iter_mut().for_each(|row| row.0.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_a_factor_of_the_kernel() {
        let n = 150;
        let numbers: Vec<Vec<f64>> =
            (1..4).map(|by| (0..n).map(|row| ((row * row * by + 7 * row) % 101) as f64 / 25.0).collect()).collect();
        let levels: Vec<u16> = (0..n as u16).map(|row| row * row % 7).collect();
        let rows: Vec<u32> = (0..n as u32).filter(|row| row % 10 != 3).collect();
        let all: Vec<Values> = numbers.iter().map(|of| Values::Numbers(of)).chain([Values::Levels(&levels)]).collect();
        for some in [&all[..1], &all[..3], &all[3..], &all[2..], &all[..]] {
            let kernel = Kernel { variables: some.to_vec() };
            let mut panels = Vec::new();
            kernel.factor(&rows, &mut panels).unwrap();
            assert!(panels.len() / rows.len() * WIDE < rows.len() + WIDE);
            let sigma = bandwidth(some.len());
            for i in (0..rows.len()).step_by(11) {
                for j in 0..rows.len() {
                    let distance = |values: &Values| match *values {
                        Values::Numbers(of) => (of[rows[i] as usize] - of[rows[j] as usize]).powi(2),
                        Values::Levels(of) if of[rows[i] as usize] == of[rows[j] as usize] => 0.0,
                        Values::Levels(_) => (LEVELS_APART * bandwidth(1)).powi(2),
                    };
                    let wanted = (-0.5 * some.iter().map(distance).sum::<f64>() / (sigma * sigma)).exp();
                    let found: f64 = panels
                        .chunks_exact(rows.len())
                        .map(|panel| panel[i].0.iter().zip(panel[j].0).map(|(a, b)| a * b).sum::<f64>())
                        .sum();
                    assert!((found - wanted).abs() < 2.0 * LEFT, "{i} {j}: {found} {wanted}");
                }
            }
            centre(&mut panels, rows.len());
            let sums = panels.chunks_exact(rows.len()).map(|panel| panel.iter().map(|row| row.0[0]).sum::<f64>());
            assert!(sums.into_iter().all(|sum| sum.abs() < 1e-12));
        }
    }
}
