//! Columns that are changed before they are correlated: replaced by ranks or normal scores, weighted, centred within groups of rows, and
//! cleared of covariates. The outcome is plain columns of mean 0, so all machines correlate them as they correlate data.

use std::sync::Mutex;

use super::columns::{Centred, Of, Summary};
use super::normal::quantile;
use super::ranks::ranks;
use super::Kind;
use crate::memory::{self, Use};
use crate::numbers::{Numbers, SMALL};
use crate::pool::{Pool, Stop};
use crate::Result;

/// What is done to columns before they are correlated.
#[derive(Clone, Copy, Debug)]
pub struct Treatment<'a> {
    /// The kind of correlation.
    pub kind: Kind,
    /// The weight of each row: not negative, and not all 0.
    pub weights: Option<&'a [f64]>,
    /// The group of each row, from 0. The mean of its group is subtracted from a value.
    pub groups: Option<&'a [u32]>,
    /// Number of columns at the end that are covariates. The others are replaced by the residuals of their regression on these, and only
    /// the others remain.
    pub covariates: usize,
}

impl From<Kind> for Treatment<'_> {
    fn from(kind: Kind) -> Self {
        Treatment { kind, weights: None, groups: None, covariates: 0 }
    }
}

/// The part of its length below which a column is rounding noise.
const NOISE: f64 = 1e-10;

/// Treated columns.
pub(super) struct Treated {
    /// Columns of `n` values, one after the other. A column of which only noise would be left has zeros.
    pub cells: Vec<f64>,
    /// Number of independent rows that the columns are worth: Kish's (sum of w)² / (sum of w²), minus a row for each further group and for
    /// each covariate that does not depend on others.
    pub size: f64,
}

impl Treatment<'_> {
    /// Returns whether columns stay as they are.
    pub(super) fn is_none(&self) -> bool {
        self.kind == Kind::Pearson && self.covariates == 0 && self.weights.is_none() && self.groups.is_none()
    }

    /// Treats columns without missing values that all vary.
    pub(super) fn of(
        &self,
        columns: &[Numbers],
        summaries: &[Summary],
        of: &Of,
        n: usize,
        pool: &Pool,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Treated> {
        let mut cells = match self.kind {
            Kind::Pearson => {
                let mut cells = memory::zeros(n * columns.len(), Use::Correlations)?;
                let centred = Centred::new(columns, summaries, of, n);
                pool.each_of(cells.chunks_mut(n.max(1)).collect(), |j, column| {
                    centred.column(j, 0..n, column);
                });
                cells
            }
            Kind::Spearman | Kind::Scores => ranks(columns, of, n, pool, look)?,
        };
        if self.kind == Kind::Scores {
            // Ranks begin at 1, and twice a rank is a whole number.
            let scores =
                memory::collected((2..2 * n + 1).map(|twice| score(twice as f64 / 2.0, n)), Use::Correlations)?;
            pool.each_of(cells.chunks_mut(n.max(1)).collect(), |_, column| {
                column.iter_mut().for_each(|rank| *rank = scores[(2.0 * *rank) as usize - 2]);
            });
        }
        let mut size = n as f64;
        if self.weights.is_none() && self.groups.is_none() && self.covariates == 0 {
            return Ok(Treated { cells, size });
        }
        let row = |at: usize| match of {
            Of::All => at,
            Of::These(rows) => rows[at] as usize,
        };
        let weights: Option<Vec<f64>> = self.weights.map(|weights| (0..n).map(|at| weights[row(at)]).collect());
        let groups: Vec<u32> = (0..n).map(|at| self.groups.map_or(0, |groups| groups[row(at)])).collect();
        let count = groups.iter().max().map_or(0, |&last| last as usize + 1);
        let mut totals = vec![0.0; count];
        for (at, &group) in groups.iter().enumerate() {
            totals[group as usize] += weights.as_ref().map_or(1.0, |weights| weights[at]);
        }
        if let Some(weights) = &weights {
            let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
            size = weights.iter().sum::<f64>().powi(2) / squares;
        }
        size -= totals.iter().filter(|&&total| total > 0.0).count() as f64 - 1.0;
        let roots: Option<Vec<f64>> =
            weights.as_ref().map(|weights| weights.iter().map(|weight| weight.sqrt()).collect());
        let centre = |column: &mut [f64], sums: &mut Vec<f64>| {
            let before = square(column);
            for _ in 0..2 {
                sums.clear();
                sums.resize(count, 0.0);
                for (at, (&group, value)) in groups.iter().zip(&*column).enumerate() {
                    sums[group as usize] += weights.as_ref().map_or(*value, |weights| weights[at] * value);
                }
                // A group may have no weight.
                sums.iter_mut().zip(&totals).filter(|(_, total)| **total > 0.0).for_each(|(sum, total)| *sum /= total);
                groups.iter().zip(&mut *column).for_each(|(&group, value)| *value -= sums[group as usize]);
            }
            if let Some(roots) = &roots {
                column.iter_mut().zip(roots).for_each(|(value, root)| *value *= root);
            }
            clear_noise(column, before);
        };
        each(&mut cells, n, pool, look, &centre)?;
        if self.covariates > 0 {
            let covariates = cells.split_off((columns.len() - self.covariates) * n);
            let basis = basis(covariates, n);
            size -= (basis.len() / n.max(1)) as f64;
            let residuals = |column: &mut [f64], _: &mut Vec<f64>| {
                let before = square(column);
                remove(column, &basis);
                clear_noise(column, before);
            };
            each(&mut cells, n, pool, look, &residuals)?;
        }
        if let Some(roots) = roots {
            // Weighted columns are orthogonal to the roots of the weights. A reflection that maps these to a constant changes no product,
            // and gives the columns mean 0.
            let (length, equal) = (square(&roots).sqrt(), (n as f64).sqrt().recip());
            let mirror: Vec<f64> = roots.iter().map(|root| root / length - equal).collect();
            let thickness = square(&mirror);
            if thickness > f64::EPSILON {
                let reflect = |column: &mut [f64], _: &mut Vec<f64>| {
                    add(column, -2.0 * product(column, &mirror) / thickness, &mirror);
                };
                each(&mut cells, n, pool, look, &reflect)?;
            }
        }
        Ok(Treated { cells, size })
    }
}

/// Changes each column of `n` values. Threads have a vector for sums.
fn each(
    cells: &mut [f64],
    n: usize,
    pool: &Pool,
    look: &mut dyn FnMut() -> Result<()>,
    work: &(dyn Fn(&mut [f64], &mut Vec<f64>) + Sync),
) -> Result<()> {
    let inline = cells.len() < SMALL;
    let slots: Vec<Mutex<&mut [f64]>> = cells.chunks_mut(n.max(1)).map(Mutex::new).collect();
    let one = |sums: &mut Vec<f64>, task: usize, _: &Stop| {
        if let Ok(mut column) = slots[task].lock() {
            work(&mut column, sums);
        }
    };
    pool.run(slots.len(), inline, |_| 1.0, &mut |_| look(), one)
}

/// Returns the normal score of a rank from 1 to n. Ranks that are equally far from both ends have scores that differ in sign only.
pub(super) fn score(rank: f64, n: usize) -> f64 {
    let all = n as f64 + 1.0;
    match 2.0 * rank > all {
        true => -quantile((all - rank) / all),
        false => quantile(rank / all),
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn square(a: &[f64]) -> f64 {
    product(a, a)
}

fn add(column: &mut [f64], factor: f64, other: &[f64]) {
    column.iter_mut().zip(other).for_each(|(value, other)| *value += factor * other);
}

/// Sets a column to zeros if only noise is left of the sum of squares `before`.
fn clear_noise(column: &mut [f64], before: f64) {
    if !(square(column) > NOISE * NOISE * before) {
        column.fill(0.0);
    }
}

/// Removes the parts of a column along an orthonormal basis.
fn remove(column: &mut [f64], basis: &[f64]) {
    // Twice: the first time leaves a rounding error.
    for _ in 0..2 {
        for direction in basis.chunks(column.len()) {
            add(column, -product(column, direction), direction);
        }
    }
}

/// Returns an orthonormal basis of some columns, of as many columns as do not depend on others.
fn basis(mut columns: Vec<f64>, n: usize) -> Vec<f64> {
    let mut basis: Vec<f64> = Vec::new();
    for column in columns.chunks_mut(n.max(1)) {
        let before = square(column);
        remove(column, &basis);
        let after = square(column);
        if after > NOISE * before {
            basis.extend(column.iter().map(|value| value / after.sqrt()));
        }
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::super::{centred, correlation, of_centred, Rows};
    use super::*;

    fn draw(at: usize) -> f64 {
        ((at * 7919 + at * at % 10_007 * 31 + 13) % 10_009) as f64 / 10_009.0
    }

    /// Returns the treated correlations and the size.
    fn treated(columns: &[Vec<f64>], of: Treatment, rows: Rows) -> (Vec<f64>, f64) {
        let numbers: Vec<Numbers> = columns.iter().map(|column| Numbers::Doubles(column)).collect();
        let pool = Pool::new(2);
        let mut c = vec![7.0; (columns.len() - of.covariates).pow(2)];
        let found = centred(&numbers, of, rows, &pool, &mut |_| Ok(()), |x, watch| {
            let mut cells = vec![0.0; x.n() * x.p()];
            x.write(&mut cells, &pool);
            for column in cells.chunks(x.n()) {
                assert!(column.iter().sum::<f64>().abs() < 1e-9);
            }
            of_centred(x, &pool, &mut c, watch)
        });
        (c, found.unwrap().size)
    }

    /// Solves a x = b by elimination, for a small positive definite matrix.
    fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let k = b.len();
        for i in 0..k {
            for j in i + 1..k {
                let factor = a[j][i] / a[i][i];
                (0..k).for_each(|c| a[j][c] -= factor * a[i][c]);
                b[j] -= factor * b[i];
            }
        }
        for i in (0..k).rev() {
            b[i] = (b[i] - (i + 1..k).map(|j| a[i][j] * b[j]).sum::<f64>()) / a[i][i];
        }
        b
    }

    #[test]
    fn treated_columns_are_residuals_of_one_weighted_regression() {
        let n = 60;
        let weights: Vec<f64> =
            (0..n).map(|row| if row % 9 == 4 || row % 5 == 4 { 0.0 } else { 0.1 + draw(row * 3) }).collect();
        let groups: Vec<u32> = (0..n).map(|row| (row % 5) as u32).collect();
        let mut columns: Vec<Vec<f64>> = (0..7)
            .map(|j| (0..n).map(|row| draw(row * 13 + j * 7) + draw(row) * (j + 1) as f64 + 100.0).collect())
            .collect();
        // The last covariate depends on the two before it.
        columns[6] = (0..n).map(|row| 2.0 * columns[4][row] - columns[5][row]).collect();
        for (weighted, grouped, covariates) in
            [(true, false, 0), (false, true, 0), (false, false, 3), (true, true, 3), (true, false, 3), (false, true, 3)]
        {
            let of = Treatment {
                kind: Kind::Pearson,
                weights: weighted.then_some(&weights[..]),
                groups: grouped.then_some(&groups[..]),
                covariates,
            };
            let (c, size) = treated(&columns, of, Rows::All);
            let w = |row: usize| if weighted { weights[row] } else { 1.0 };
            // The fifth group has no weight.
            let count = if grouped && weighted {
                4
            } else if grouped {
                5
            } else {
                1
            };
            let mut design: Vec<Vec<f64>> = (0..count)
                .map(|group| (0..n).map(|row| f64::from(u8::from(count == 1 || row % 5 == group))).collect())
                .collect();
            design.extend(columns[7 - covariates..].iter().take(2).cloned());
            let dot = |a: &[f64], b: &[f64]| (0..n).map(|row| w(row) * a[row] * b[row]).sum::<f64>();
            let gram: Vec<Vec<f64>> = design.iter().map(|a| design.iter().map(|b| dot(a, b)).collect()).collect();
            let p = 7 - covariates;
            let residuals: Vec<Vec<f64>> = columns[..p]
                .iter()
                .map(|column| {
                    let slopes = solve(gram.clone(), design.iter().map(|a| dot(a, column)).collect());
                    let fitted = |row: usize| design.iter().zip(&slopes).map(|(a, slope)| a[row] * slope).sum::<f64>();
                    (0..n).map(|row| column[row] - fitted(row)).collect()
                })
                .collect();
            for x in 0..p {
                for y in 0..p {
                    let wanted = dot(&residuals[x], &residuals[y])
                        / (dot(&residuals[x], &residuals[x]) * dot(&residuals[y], &residuals[y])).sqrt();
                    assert!((c[x * p + y] - wanted).abs() < 1e-10, "{weighted} {grouped} {covariates}: {x} {y}");
                }
            }
            let sum: f64 = (0..n).map(w).sum();
            let kish = sum * sum / (0..n).map(|row| w(row) * w(row)).sum::<f64>();
            let wanted = kish - (count - 1) as f64 - if covariates > 0 { 2.0 } else { 0.0 };
            assert!((size - wanted).abs() < 1e-9, "{size} {wanted}");
        }
    }

    #[test]
    fn whole_weights_are_repeated_rows_and_missing_rows_are_left_out() {
        let n = 30;
        let mut columns: Vec<Vec<f64>> =
            (0..3).map(|j| (0..n).map(|row| draw(row * 13 + j) + draw(row) * j as f64).collect()).collect();
        let weights: Vec<f64> = (0..n).map(|row| (row % 3) as f64).collect();
        let repeated: Vec<Vec<f64>> =
            columns.iter().map(|column| (0..n).flat_map(|row| vec![column[row]; row % 3]).collect()).collect();
        let numbers: Vec<Numbers> = repeated.iter().map(|column| Numbers::Doubles(column)).collect();
        let mut wanted = vec![0.0; 9];
        correlation(&numbers, Kind::Pearson, Rows::All, &Pool::none(), &mut wanted, &mut |_| Ok(())).unwrap();
        let of = Treatment { weights: Some(&weights), ..Kind::Pearson.into() };
        let near = |c: &[f64]| c.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(&treated(&columns, of, Rows::All).0));
        columns.iter_mut().for_each(|column| column.push(1.0));
        columns[1][n] = f64::NAN;
        let longer: Vec<f64> = weights.iter().copied().chain([5.0]).collect();
        let of = Treatment { weights: Some(&longer), ..Kind::Pearson.into() };
        assert!(near(&treated(&columns, of, Rows::Complete).0));
    }

    #[test]
    fn scores_are_quantiles_of_ranks() {
        let columns = vec![vec![3.0, 1.0, 3.0, 9.0, -2.0], vec![5.0, 4.0, 3.0, 2.0, 1e9]];
        let scores =
            [[3.5, 2.0, 3.5, 5.0, 1.0], [4.0, 3.0, 2.0, 1.0, 5.0]].map(|ranks| ranks.map(|rank| score(rank, 5)));
        let mean = scores.map(|scores| scores.iter().sum::<f64>() / 5.0);
        let sum = |x: usize, y: usize| (0..5).map(|i| (scores[x][i] - mean[x]) * (scores[y][i] - mean[y])).sum::<f64>();
        let wanted = sum(0, 1) / (sum(0, 0) * sum(1, 1)).sqrt();
        let (c, size) = treated(&columns, Kind::Scores.into(), Rows::All);
        assert!((c[1] - wanted).abs() < 1e-14 && size == 5.0);
        let mut holed = columns.clone();
        holed[0].push(f64::NAN);
        holed[1].push(7.0);
        holed[0].push(4.0);
        holed[1].push(f64::NAN);
        let numbers: Vec<Numbers> = holed.iter().map(|column| Numbers::Doubles(column)).collect();
        for rows in [Rows::Complete, Rows::Pairwise] {
            let mut c = vec![0.0; 4];
            correlation(&numbers, Kind::Scores, rows, &Pool::none(), &mut c, &mut |_| Ok(())).unwrap();
            assert!((c[1] - wanted).abs() < 1e-14);
        }
        // A column that the groups determine is left without values.
        let groups = [0, 1, 1, 0, 1];
        let of = Treatment { groups: Some(&groups), ..Kind::Pearson.into() };
        let (c, _) = treated(&[columns[0].clone(), groups.map(f64::from).to_vec()], of, Rows::All);
        assert!(c[1].is_nan());
    }
}
