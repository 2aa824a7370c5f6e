//! The table N(x, y, s) of one test, and the sums over it.
//!
//! Let N(x, s), N(y, s) and N(s) be margins, and E = N(x, s) N(y, s) / N(s) the expected count. Sums run over strata s, then levels of x,
//! then levels of y:
//!
//! * G² = 2 Σ N ln(N / E), over cells with N > 0 (Neapolitan 2004, section 10.3.1);
//! * χ² = Σ (N - E)² / E, over cells with E > 0 (Pearson 1900);
//! * mutual information I(x; y | s) = G² / (2 n), in nats.
//!
//! x and y may swap places in that order ([`Order`]). So the tests of (x, y) and (y, x) have the same statistic, to the last bit.
//!
//! Strata are in lexicographic order of the levels of the conditioning variables. A stratum without a sample adds nothing. So a table may
//! include or omit such strata; its sums are the same to the last bit.

/// The statistic of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// G², the likelihood ratio.
    G2,
    /// Pearson's χ².
    X2,
}

/// The counts of one test.
#[derive(Clone, Copy, Debug)]
pub enum Table<'a> {
    /// Counts by stratum, then level of x, then level of y; all levels, and at least the strata that occur.
    Dense {
        /// The counts.
        counts: &'a [u32],
        /// Number of levels of x.
        lx: usize,
        /// Number of levels of y.
        ly: usize,
    },
    /// The cells that occur as (stratum, x, y), in ascending order, with their counts.
    Cells(&'a [(u32, u32, u32, u32)]),
}

/// The sums over a table that a test needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Number of samples counted.
    pub n: u64,
    /// The requested statistic.
    pub statistic: f64,
    /// Number of cells with a sample.
    pub occupied: u64,
    /// Σ over strata of (a - 1)(b - 1), with a and b the numbers of levels of x and y that occur there.
    pub adjusted_df: u64,
}

/// The order in which a stratum's cells are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the level of x, then by that of y.
    XFirst,
    /// By the level of y, then by that of x.
    YFirst,
}

impl Order {
    /// Returns the order for a table whose x and y have these numbers: the variable with the smaller number comes first.
    pub fn of(x: usize, y: usize) -> Self {
        if x < y {
            Order::XFirst
        } else {
            Order::YFirst
        }
    }
}

impl Table<'_> {
    /// Returns the sums over the table.
    pub fn summary(&self, statistic: Statistic, order: Order, margins: &mut Margins) -> Summary {
        match *self {
            Table::Dense { counts, lx, ly } => dense(counts, lx, ly, statistic, order, margins),
            Table::Cells(cells) => sparse(cells, statistic, order, margins),
        }
    }

    /// Returns the mutual information of x and y given the stratum, in nats; 0 without samples.
    pub fn mutual_information(&self, margins: &mut Margins) -> f64 {
        let Summary { n, statistic, .. } = self.summary(Statistic::G2, Order::XFirst, margins);
        if n == 0 {
            0.0
        } else {
            (statistic / (2.0 * n as f64)).max(0.0)
        }
    }
}

/// Buffers for the margins of a stratum.
#[derive(Clone, Debug, Default)]
pub struct Margins {
    x: Vec<u64>,
    y: Vec<u64>,
    by_y: Vec<(u32, u64)>,
    cells: Vec<(u32, u32, u32, u32)>,
}

/// Returns a cell's contribution to G².
#[inline(always)]
fn g2_term(count: f64, x: f64, y: f64, n: f64) -> f64 {
    2.0 * count * (count * (n / (x * y))).ln()
}

fn dense(counts: &[u32], lx: usize, ly: usize, statistic: Statistic, order: Order, margins: &mut Margins) -> Summary {
    let mut summary = Summary::default();
    let Margins { x: of_x, y: of_y, .. } = margins;
    of_x.resize(lx, 0);
    of_y.resize(ly, 0);
    for stratum in counts.chunks_exact(lx * ly) {
        of_y.fill(0);
        let mut n = 0;
        for (row, of_x) in stratum.chunks_exact(ly).zip(of_x.iter_mut()) {
            let mut sum = 0;
            for (&count, of_y) in row.iter().zip(of_y.iter_mut()) {
                sum += u64::from(count);
                *of_y += u64::from(count);
            }
            *of_x = sum;
            n += sum;
        }
        if n == 0 {
            continue;
        }
        summary.n += n;
        let a = of_x.iter().filter(|&&m| m > 0).count() as u64;
        let b = of_y.iter().filter(|&&m| m > 0).count() as u64;
        summary.adjusted_df += (a - 1) * (b - 1);
        summary.occupied += stratum.iter().filter(|&&count| count > 0).count() as u64;
        // With one level of x or y the statistic is 0, which rounding must not change.
        if a == 1 || b == 1 {
            continue;
        }
        let mut add = |count: u32, x: u64, y: u64| match statistic {
            Statistic::G2 if count > 0 => {
                summary.statistic += g2_term(f64::from(count), x as f64, y as f64, n as f64);
            }
            Statistic::X2 if x > 0 && y > 0 => {
                let expected = x as f64 * y as f64 / n as f64;
                let off = f64::from(count) - expected;
                summary.statistic += off * off / expected;
            }
            _ => {}
        };
        match order {
            Order::XFirst => {
                for (row, &x) in stratum.chunks_exact(ly).zip(of_x.iter()).filter(|(_, &x)| x > 0) {
                    row.iter().zip(of_y.iter()).for_each(|(&count, &y)| add(count, x, y));
                }
            }
            Order::YFirst => {
                for (j, &y) in of_y.iter().enumerate().filter(|(_, &y)| y > 0) {
                    stratum[j..].iter().step_by(ly).zip(of_x.iter()).for_each(|(&count, &x)| add(count, x, y));
                }
            }
        }
    }
    summary
}

/// Returns the sums as [`dense`] does, for tables far larger than the number of samples. Empty cells of χ² are not visited: within a
/// stratum the sum is N(s) (Σ N² / (N(x, s) N(y, s)) - 1), which is the same except for rounding.
fn sparse(cells: &[(u32, u32, u32, u32)], statistic: Statistic, order: Order, margins: &mut Margins) -> Summary {
    if order == Order::YFirst {
        // Swap x and y.
        let mut turned = std::mem::take(&mut margins.cells);
        turned.clear();
        turned.extend(cells.iter().map(|&(s, x, y, count)| (s, y, x, count)));
        turned.sort_unstable();
        let summary = sparse(&turned, statistic, Order::XFirst, margins);
        margins.cells = turned;
        return summary;
    }
    let mut summary = Summary { occupied: cells.len() as u64, ..Summary::default() };
    for stratum in cells.chunk_by(|a, b| a.0 == b.0) {
        let of_y = &mut margins.by_y;
        of_y.clear();
        of_y.extend(stratum.iter().map(|&(_, _, y, count)| (y, u64::from(count))));
        of_y.sort_unstable_by_key(|&(y, _)| y);
        of_y.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 += later.1;
            }
            same
        });
        let n: u64 = of_y.iter().map(|&(_, count)| count).sum();
        summary.n += n;
        let a = stratum.chunk_by(|a, b| a.1 == b.1).count() as u64;
        summary.adjusted_df += (a - 1) * (of_y.len() as u64 - 1);
        if a == 1 || of_y.len() == 1 {
            continue;
        }
        let mut share = 0.0;
        for row in stratum.chunk_by(|a, b| a.1 == b.1) {
            let x: u64 = row.iter().map(|&(_, _, _, count)| u64::from(count)).sum();
            for &(_, _, level, count) in row {
                let at = of_y.partition_point(|&(y, _)| y < level);
                let (count, x, y) = (f64::from(count), x as f64, of_y[at].1 as f64);
                match statistic {
                    Statistic::G2 => summary.statistic += g2_term(count, x, y, n as f64),
                    Statistic::X2 => share += count * (count / (x * y)),
                }
            }
        }
        if statistic == Statistic::X2 {
            summary.statistic += (n as f64 * (share - 1.0)).max(0.0);
        }
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_tables_agree() {
        let (lx, ly) = (3, 4);
        // The second stratum is empty; in the third, one level of x and one of y do not occur.
        let counts: [u32; 36] = [
            5, 0, 2, 9, 1, 1, 0, 3, 4, 4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 2, 0, 0, 0, 0, 2, 0, 3, 3,
        ];
        let cell = |i: usize| ((i / 12) as u32, (i % 12 / ly) as u32, (i % ly) as u32, counts[i]);
        let cells: Vec<_> = (0..36).filter(|&i| counts[i] > 0).map(cell).collect();
        let mut margins = Margins::default();
        for statistic in [Statistic::G2, Statistic::X2] {
            let a = Table::Dense { counts: &counts, lx, ly }.summary(statistic, Order::XFirst, &mut margins);
            let b = Table::Cells(&cells).summary(statistic, Order::XFirst, &mut margins);
            assert!((a.statistic - b.statistic).abs() < 1e-12 * a.statistic, "{a:?} {b:?}");
            assert_eq!((a.n, a.occupied, a.adjusted_df), (b.n, b.occupied, b.adjusted_df));
            assert_eq!((a.n, a.adjusted_df), (55, 6 + 2));
        }
    }

    #[test]
    fn a_table_and_the_same_with_x_and_y_exchanged_have_one_statistic() {
        let (lx, ly, strata) = (5, 3, 4);
        let mut state = 3u64;
        for _ in 0..500 {
            let mut below = |limit: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % limit
            };
            let counts: Vec<u32> = (0..lx * ly * strata).map(|_| (below(12) * below(3)) as u32).collect();
            let turned: Vec<u32> =
                (0..lx * ly * strata).map(|i| counts[i / (lx * ly) * lx * ly + i % lx * ly + i / lx % ly]).collect();
            let cells_of = |counts: &[u32], ly: usize| -> Vec<(u32, u32, u32, u32)> {
                let cell = |i: usize| ((i / (lx * 3)) as u32, (i % (lx * 3) / ly) as u32, (i % ly) as u32, counts[i]);
                (0..counts.len()).filter(|&i| counts[i] > 0).map(cell).collect()
            };
            let mut margins = Margins::default();
            for statistic in [Statistic::G2, Statistic::X2] {
                let mut summary = |table: Table, order| table.summary(statistic, order, &mut margins);
                let a = summary(Table::Dense { counts: &counts, lx, ly }, Order::XFirst);
                let b = summary(Table::Dense { counts: &turned, lx: ly, ly: lx }, Order::YFirst);
                assert_eq!(a, b);
                let a = summary(Table::Cells(&cells_of(&counts, ly)), Order::XFirst);
                let b = summary(Table::Cells(&cells_of(&turned, lx)), Order::YFirst);
                assert_eq!(a, b);
            }
        }
    }

    #[test]
    fn a_table_without_samples_says_nothing() {
        let mut margins = Margins::default();
        let table = Table::Dense { counts: &[0; 8], lx: 2, ly: 2 };
        assert_eq!(table.summary(Statistic::G2, Order::XFirst, &mut margins), Summary::default());
        assert_eq!(table.mutual_information(&mut margins), 0.0);
    }

    #[test]
    fn a_copy_has_the_information_of_the_variable() {
        let table = Table::Dense { counts: &[5, 0, 0, 5], lx: 2, ly: 2 };
        assert!((table.mutual_information(&mut Margins::default()) - 2f64.ln()).abs() < 1e-15);
    }
}
