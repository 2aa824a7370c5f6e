//! Narrow bounds for G² in a fraction of its time: a table of k ln k replaces a logarithm for each cell.
//!
//! With t(k) = k ln k, G² = 2 Σ over strata of (Σ t(N(x, y, s)) - Σ t(N(x, s)) - Σ t(N(y, s)) + t(N(s))).

use std::f64::consts::LN_2;

use super::table::{Statistic, Table};
use super::{Discrete, Rule};
use crate::memory::{self, Use};

/// The number of samples beyond which the table would not fit a core's cache, and counting takes most of a test's time.
const MOST_SAMPLES: usize = 1 << 16;

/// The number of logarithms that are computed one by one.
const FEW: usize = 128;

/// Bounds for tests with their declared degrees of freedom.
#[derive(Debug)]
pub struct Bound {
    logs: Vec<f64>,
    /// The error per cell: n (ln n + 1) times some units in the last place.
    error: f64,
}

impl Bound {
    /// Returns `None` if df depend on the table, values are missing, the statistic is not G², or there are many samples.
    pub fn new(test: &Discrete) -> Option<Self> {
        let (data, n) = (test.data(), test.data().n());
        let (Rule::Pcalg { adapt } | Rule::Bnlearn { adapt }) = test.rule();
        if adapt || data.any_missing() || test.statistic() != Statistic::G2 || n > MOST_SAMPLES {
            return None;
        }
        // ln k = ln 2 + ln(k / 2), or ln(k - 1) + 2 artanh(1 / (2 k - 1)). The error is at most three roundings for each bit of k beyond
        // the first few.
        let mut logs = memory::space(n.max(FEW) + 2, Use::Tables).ok()?;
        logs.extend((0..FEW).map(|k| (k.max(1) as f64).ln()));
        for k in FEW / 2..n / 2 + 1 {
            let even: f64 = logs[k] + LN_2;
            let t = 1.0 / (4 * k + 1) as f64;
            logs.extend([even, even + 2.0 * t * (1.0 + t * t * (1.0 / 3.0 + t * t * (1.0 / 5.0 + t * t / 7.0)))]);
        }
        logs.iter_mut().enumerate().for_each(|(k, log)| *log *= k as f64);
        // The error of a sum of m terms of one sign is at most m roundings of it. With a table of c cells, each of the two sums has at most
        // 2 c terms and is at most 2 n ln n. Together that is 8 c n ln n epsilon, and 4 n ln n times the 34 roundings of a term. The
        // statistic adds up c terms, each twice a count times the logarithm of a ratio between 1 / n and n. Their absolute values add up to
        // at most 2 n ln n. The bound here is twice as large.
        let error = 16.0 * f64::EPSILON * n as f64 * ((n as f64).ln() + 1.0);
        Some(Bound { logs, error })
    }

    /// Returns a lower and an upper bound of G² as [`Table::summary`] computes it, or `None` if the table is not dense.
    pub fn of(&self, table: &Table) -> Option<(f64, f64)> {
        let Table::Dense { counts, lx, ly } = *table else { return None };
        let sum = match (lx, ly) {
            (2, 2) => self.sum::<2>(counts, 2),
            (_, 2) => self.sum::<2>(counts, lx),
            (_, 3) => self.sum::<3>(counts, lx),
            (_, 4) => self.sum::<4>(counts, lx),
            _ => self.sum_of_any(counts, lx, ly),
        };
        let error = (counts.len() + 20) as f64 * self.error;
        Some((2.0 * sum - error, 2.0 * sum + error))
    }

    #[inline(always)]
    fn log(&self, count: u32) -> f64 {
        self.logs.get(count as usize).copied().unwrap_or(f64::NAN)
    }

    #[inline(always)]
    fn sum<const LY: usize>(&self, counts: &[u32], lx: usize) -> f64 {
        let (mut plus, mut minus) = (0.0, 0.0);
        for stratum in counts.chunks_exact(lx * LY) {
            let mut of_y = [0; LY];
            for row in stratum.chunks_exact(LY) {
                let mut of_x = 0;
                for (&count, of_y) in row.iter().zip(&mut of_y) {
                    plus += self.log(count);
                    *of_y += count;
                    of_x += count;
                }
                minus += self.log(of_x);
            }
            of_y.iter().for_each(|&count| minus += self.log(count));
            plus += self.log(of_y.iter().sum());
        }
        plus - minus
    }

    fn sum_of_any(&self, counts: &[u32], lx: usize, ly: usize) -> f64 {
        let (mut plus, mut minus) = (0.0, 0.0);
        for stratum in counts.chunks_exact(lx * ly) {
            let mut n = 0;
            for row in stratum.chunks_exact(ly) {
                row.iter().for_each(|&count| plus += self.log(count));
                let of_x = row.iter().sum();
                minus += self.log(of_x);
                n += of_x;
            }
            for y in 0..ly {
                minus += self.log(stratum[y..].iter().step_by(ly).sum());
            }
            plus += self.log(n);
        }
        plus - minus
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::discrete::{Coded, Margins, Order};
    use crate::matrix::by_column;

    #[test]
    fn the_bounds_are_close_to_the_statistic() {
        let n = 65_000;
        let data = Coded::new(by_column(&vec![0; n], 1).unwrap(), &[2], false).unwrap();
        let bound = Bound::new(&Discrete::new(&data, Statistic::G2, Rule::Pcalg { adapt: false })).unwrap();
        for (k, log) in bound.logs.iter().enumerate().skip(1) {
            let want = k as f64 * (k as f64).ln();
            assert!((log - want).abs() <= 17.0 * f64::EPSILON * want, "{k}: {log}, {want}");
        }
        let mut state = 5u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        let mut margins = Margins::default();
        for (lx, ly) in [(2, 2), (3, 2), (2, 3), (4, 3), (1, 4), (5, 4), (3, 5), (6, 1)] {
            for strata in [1, 2, 7, 40] {
                let mut counts = vec![0; strata * lx * ly];
                let cells = counts.len();
                (0..below(n + 1)).for_each(|_| counts[below(cells).min(below(cells))] += 1);
                let table = Table::Dense { counts: &counts, lx, ly };
                let found = table.summary(Statistic::G2, Order::XFirst, &mut margins).statistic;
                let (least, most) = bound.of(&table).unwrap();
                assert!(
                    least <= found && found <= most && most - least < 1e-5,
                    "{lx} x {ly} x {strata}: {found}, {least} to {most}"
                );
            }
        }
        let refused = |statistic, rule| Bound::new(&Discrete::new(&data, statistic, rule)).is_none();
        assert!(
            refused(Statistic::X2, Rule::Pcalg { adapt: false })
                && refused(Statistic::G2, Rule::Bnlearn { adapt: true })
        );
    }
}
