//! Pooling the results of several imputed data sets.
//!
//! * Correlations: Rubin's rules on Fisher's z (J. Barnard and D. B. Rubin 1999 for the degrees of freedom).
//! * Counts and likelihoods: the likelihood ratio at each set's own estimates compared with that at averaged ones, with an F distribution
//!   (X.-L. Meng and D. B. Rubin 1992; van Buuren 2018, 5.3.3).

use super::cells::Cells;
use super::likelihood::{Normal, Part};
use super::rows::{triangle, Index};
use crate::ci::gauss::CUT;
use crate::ci::tails;

/// Returns p of partial correlations given `size` variables, one for each data set of n rows; an undefined one counts as 0.
pub(super) fn of_correlations(r: impl Iterator<Item = f64> + Clone, n: f64, size: usize) -> f64 {
    let z = r.map(|r| {
        let r = if r.is_nan() { 0.0 } else { r.clamp(-CUT, CUT) };
        0.5 * (2.0 * r / (1.0 - r)).ln_1p()
    });
    let sets = z.clone().count() as f64;
    let mean = z.clone().sum::<f64>() / sets;
    let within = 1.0 / (n - size as f64 - 3.0);
    let between = z.map(|z| (z - mean) * (z - mean)).sum::<f64>() / (sets - 1.0);
    let statistic = mean / (within + (1.0 + 1.0 / sets) * between).sqrt();
    let share = 1.0 + within / between * (sets / (sets + 1.0));
    tails::t_two_sided(statistic, (sets - 1.0) * share * share)
}

/// Returns p of a likelihood ratio with k degrees of freedom. `own` is its mean at each set's own estimates, `shared` that at shared
/// estimates.
pub(super) fn of_likelihoods(own: f64, shared: f64, k: f64, sets: f64) -> Pooled {
    let rise = (sets + 1.0) / (k * (sets - 1.0)) * (own - shared);
    let statistic = shared / (k * (1.0 + rise));
    let t = k * (sets - 1.0);
    let df = if t > 4.0 {
        let term = 1.0 + (1.0 - 2.0 / t) / rise;
        4.0 + (t - 4.0) * term * term
    } else {
        let term = 1.0 + 1.0 / rise;
        t * (1.0 + 1.0 / k) * term * term / 2.0
    };
    Pooled { rise, p: tails::f_upper(statistic, k, df) }
}

/// The result of a pooled test.
pub(super) struct Pooled {
    /// The relative increase in variance due to missing values.
    pub rise: f64,
    pub p: f64,
}

/// The log likelihoods of a part of a test's variables, as means over data sets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Means {
    /// The mean at each set's own estimates.
    pub own: f64,
    /// The mean at the averaged estimates.
    pub shared: f64,
}

/// Working memory of [`means`].
#[derive(Debug, Default)]
pub(super) struct Averages {
    index: Index,
    /// For each cell the mean of the logarithms of its shares.
    shares: Vec<f64>,
    /// k numbers for each cell, and a triangle for each cell.
    means: Vec<f64>,
    covariances: Vec<f64>,
    covariance: Vec<f64>,
    normals: Vec<Normal>,
    variances: Vec<f64>,
    apart: Vec<f64>,
}

/// Returns the mean log likelihoods of a part. `parts` holds for each data set its cells, and the products of all its rows.
pub(super) fn means(parts: &[(Part, &[f64])], normal: &mut Normal, work: &mut Averages) -> Means {
    let Averages { index, shares, means, covariances, covariance, normals, variances, apart } = work;
    let Some(&(first, _)) = parts.first() else { return Means::default() };
    let (k, sets) = (first.numbers.len(), parts.len() as f64);
    let t = triangle(k);
    index.clear(first.cells.domain);
    [&mut *shares, &mut *means, &mut *covariances].into_iter().for_each(|sums| sums.clear());
    let mut found = Means::default();
    for (part, all) in parts {
        let n = part.cells.rows();
        for cell in 0..part.cells.counts.len() {
            let count = part.cells.counts[cell];
            let place = index.place(part.cells.keys[cell]);
            if place == shares.len() {
                shares.push(0.0);
                means.extend(std::iter::repeat_n(0.0, k));
                covariances.extend(std::iter::repeat_n(0.0, t));
            }
            if part.any_factor {
                let share = (count / n).ln() / sets;
                shares[place] += share;
                found.own += count * share;
            }
            if k == 0 {
                continue;
            }
            part.pooled_covariance(cell, all, covariance);
            normal.of(covariance.iter().copied(), part.variances(all, n), k);
            normal.invert();
            let trace = normal.trace(part.products(&part.cells.products[cell * triangle(part.cells.k)..]));
            found.own -= 0.5 * (count * normal.log_det() + trace) / sets;
            let of_cell = &part.cells.means[cell * part.cells.k..];
            let own = &mut means[place * k..][..k];
            own.iter_mut().zip(part.numbers).for_each(|(sum, &number)| *sum += of_cell[number] / sets);
            let own = &mut covariances[place * t..][..t];
            own.iter_mut().zip(covariance.iter()).for_each(|(sum, value)| *sum += value / sets);
        }
    }
    let places = shares.len();
    normals.resize_with(places.max(normals.len()), Normal::default);
    let of_all = |place: usize| parts.iter().map(move |(part, all)| (part.cells.rows(), *all, part.numbers[place]));
    variances.clear();
    variances.extend((0..k).map(|place| {
        of_all(place).map(|(rows, all, number)| all[triangle(number) + number] / rows).sum::<f64>() / sets
    }));
    if k > 0 {
        for (normal, covariance) in normals.iter_mut().zip(covariances.chunks_exact(t)) {
            normal.of(covariance.iter().copied(), variances.iter().copied(), k);
            normal.invert();
        }
    }
    for (part, _) in parts {
        for cell in 0..part.cells.counts.len() {
            let count = part.cells.counts[cell];
            let place = index.place(part.cells.keys[cell]);
            found.shared += count * shares[place] / sets;
            if k == 0 {
                continue;
            }
            let normal = &normals[place];
            let of_cell = &part.cells.means[cell * part.cells.k..];
            apart.clear();
            let middle = &means[place * k..][..k];
            apart.extend(part.numbers.iter().zip(middle).map(|(&number, middle)| of_cell[number] - middle));
            let products = part.products(&part.cells.products[cell * triangle(part.cells.k)..]);
            let about = |row: usize, col: usize| products(row, col) + count * apart[row] * apart[col];
            found.shared -= 0.5 * (count * normal.log_det() + normal.trace(about)) / sets;
        }
    }
    found
}

/// Returns the means over data sets of G²: at each set's own counts, and at counts averaged over sets cell by cell. A stratum without rows
/// in some set has no expected counts there, and is left out of the latter. `tables` holds each set's cells, with keys (s, y, x) for `x`
/// and `y` levels.
pub(super) fn g_squared(tables: &[Cells], x: u64, y: u64) -> Means {
    let sets = tables.len();
    // Each set's count: by stratum, by (stratum, x), by (stratum, y), and by cell.
    let domain = tables.first().map_or(1, |table| table.domain);
    let count_by = |domain: u64, key_of: &dyn Fn(u64) -> u64| {
        let mut index = Index::default();
        let mut counts = Vec::new();
        index.clear(domain);
        for (set, table) in tables.iter().enumerate() {
            for (&key, count) in table.keys.iter().zip(&table.counts) {
                let place = index.place(key_of(key));
                if place * sets == counts.len() {
                    counts.extend(std::iter::repeat_n(0.0, sets));
                }
                counts[place * sets + set] += count;
            }
        }
        (index, counts)
    };
    let stratum = |key: u64| key / (x * y);
    let with_x = |key: u64| stratum(key) * x + key % x;
    let with_y = |key: u64| key / x;
    let (cells, of_cell) = count_by(domain, &|key| key);
    let (mut strata, of_stratum) = count_by(domain / (x * y), &stratum);
    let (mut xs, of_x) = count_by(domain / y, &with_x);
    let (mut ys, of_y) = count_by(domain / x, &with_y);
    let mut found = Means::default();
    for (place, &key) in cells.keys.iter().enumerate() {
        let observed = &of_cell[place * sets..][..sets];
        let rows = &of_stratum[strata.place(stratum(key)) * sets..][..sets];
        let (row, column) =
            (&of_x[xs.place(with_x(key)) * sets..][..sets], &of_y[ys.place(with_y(key)) * sets..][..sets]);
        let (mut all_observed, mut all_expected) = (0.0, 0.0);
        for set in 0..sets {
            let expected = row[set] * column[set] / rows[set];
            if observed[set] > 0.0 {
                found.own += 2.0 * observed[set] * (observed[set] / expected).ln() / sets as f64;
            }
            all_observed += observed[set];
            all_expected += expected;
        }
        if !all_expected.is_nan() {
            found.shared += 2.0 * all_observed * (all_observed / all_expected).ln() / sets as f64;
        }
    }
    found
}
