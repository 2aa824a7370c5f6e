//! The kernel-based test: KCI of K. Zhang, J. Peters, D. Janzing and B. Schölkopf (2011), "Kernel-based conditional independence test and
//! application in causal discovery", Conference on Uncertainty in Artificial Intelligence.
//!
//! X and Y are the centred kernel matrices of x, and of y with S. R = ε (Z + ε I)⁻¹ takes residuals of the ridge regression on the kernel of
//! S. With A = RXR and B = RYR, the statistic is tr AB. Under independence it is about a sum of chi-squared variables, weighted by the
//! eigenvalues of C, which has the elements of A times those of B.
//!
//! The statistic has the factor c, the sum of (HR²)_ii² over the squared norm of HR², where H subtracts means. The residuals of two rows have
//! the correlation of their element of HR², which adds to tr AB but not to tr C. Without c the size exceeds its level, the more the more
//! variables are in S.
//!
//! Kernel matrices are given by their factors, see `kernel`. So A = GG' and B = HH' with few columns.

use super::linear::{add_cross, add_gram, traces, Tiles};
use super::{upper_tail_of_sum, Approximation, NOTHING};
use crate::ci::chi_squared::upper_tail;
use crate::memory::{self, Use};
use crate::panels::{Row, WIDE};

/// Returns the sum of the squared products of the columns of some panels with those of others: tr AB.
fn squared_products(x: &[Row], y: &[Row], rows: usize) -> f64 {
    let mut sums = vec![Row::default(); y.len() / rows * WIDE];
    let mut sum = 0.0;
    for x in x.chunks_exact(rows) {
        sums.fill(Row::default());
        add_cross(y, x, &mut sums);
        sum += sums.iter().map(|row| row.0.iter().map(|value| value * value).sum::<f64>()).sum::<f64>();
    }
    sum
}

/// Returns the traces of A, of its square and of its cube, from the columns of its factor. `None` if memory is short, which is noted.
fn traces_of(panels: &[Row], rows: usize) -> Option<[f64; 3]> {
    let width = panels.len() / rows * WIDE;
    let mut gram = memory::noted(memory::zeros(width * width, Use::Threads))?;
    add_gram(panels, rows, &mut gram);
    Some(traces(&mut gram, width))
}

/// Writes panels of columns as panels of rows: eight rows side by side, column after column. `None` if memory is short, which is noted.
fn turned(panels: &[Row], rows: usize, out: &mut Vec<Row>) -> Option<()> {
    let width = panels.len() / rows * WIDE;
    out.clear();
    if !memory::grow(out, rows.div_ceil(WIDE) * width, Row::default(), Use::Threads) {
        return None;
    }
    for (panel, cells) in panels.chunks_exact(rows).enumerate() {
        for (row, cells) in cells.iter().enumerate() {
            let to = &mut out[row / WIDE * width + panel * WIDE..][..WIDE];
            to.iter_mut().zip(cells.0).for_each(|(to, value)| to.0[row % WIDE] = value);
        }
    }
    Some(())
}

/// Working memory of a thread.
#[derive(Debug, Default)]
pub(super) struct Cells {
    x: Vec<Row>,
    y: Vec<Row>,
    products: Vec<Row>,
}

/// Returns the traces of C, of its square and, if asked for, of its cube. `None` if `stop` says so, or if memory is short, which is noted.
fn traces_of_products(
    [x, y]: [&[Row]; 2],
    rows: usize,
    cube: bool,
    cells: &mut Cells,
    stop: &dyn Fn() -> bool,
) -> Option<[f64; 3]> {
    turned(x, rows, &mut cells.x)?;
    turned(y, rows, &mut cells.y)?;
    let panels = rows.div_ceil(WIDE);
    let [x_width, y_width] = [&cells.x, &cells.y].map(|side| side.len() / panels);
    if cube && !memory::grow(&mut cells.products, panels * panels * WIDE, Row::default(), Use::Threads) {
        return None;
    }
    let mut traces = [0.0; 3];
    let (mut of_x, mut of_y) = (Tiles::default(), Tiles::default());
    for one in 0..panels {
        if stop() {
            return None;
        }
        let x_one = &cells.x[one * x_width..(one + 1) * x_width];
        let y_one = &cells.y[one * y_width..(one + 1) * y_width];
        for other in (one..panels).step_by(Tiles::COUNT) {
            let some = Tiles::COUNT.min(panels - other);
            of_x.multiply(&cells.x[other * x_width..(other + some) * x_width], x_one);
            of_y.multiply(&cells.y[other * y_width..(other + some) * y_width], y_one);
            for (at, (x, y)) in of_x.each().zip(of_y.each()).take(some).enumerate() {
                // Above the diagonal, each product stands for two.
                let times = if other + at == one { 1.0 } else { 2.0 };
                for (i, (x, y)) in x.iter().zip(y).enumerate() {
                    let row: [f64; WIDE] = std::array::from_fn(|l| x.0[l] * y.0[l]);
                    traces[1] += times * row.iter().map(|value| value * value).sum::<f64>();
                    if other + at == one {
                        traces[0] += row[i];
                    }
                    if cube {
                        // A panel has the rows of `other` side by side, the rows of all panels after each other.
                        let to = |panel: usize, row: usize| panel * panels * WIDE + row;
                        cells.products[to(other + at, one * WIDE + i)].0 = row;
                        (0..WIDE).for_each(|l| cells.products[to(one, (other + at) * WIDE + l)].0[i] = row[l]);
                    }
                }
            }
        }
    }
    if cube {
        let width = panels * WIDE;
        let products = &cells.products[..panels * width];
        let mut square = memory::noted(memory::zeros(width * width, Use::Threads))?;
        add_gram(products, width, &mut square);
        // Row i of a symmetric matrix in panels, from the diagonal on.
        for (i, square) in square.chunks_exact(width).enumerate() {
            let own = |j: usize| products[j / WIDE * width + i].0[j % WIDE];
            traces[2] += own(i) * square[i] + 2.0 * (i + 1..width).map(|j| own(j) * square[j]).sum::<f64>();
        }
    }
    Some(traces)
}

/// Returns p for residuals of x and y in panels. `left`: the factor c; `is_marginal`: whether S is empty. `None` if `stop` says so, or if
/// memory is short, which is noted.
pub(super) fn p_value(
    [x, y]: [&[Row]; 2],
    rows: usize,
    (left, is_marginal): (f64, bool),
    approximation: Approximation,
    cells: &mut Cells,
    stop: &dyn Fn() -> bool,
) -> Option<f64> {
    let squares = |panels: &[Row]| -> f64 {
        panels.iter().map(|row| row.0.iter().map(|value| value * value).sum::<f64>()).sum::<f64>()
    };
    if [x, y].iter().any(|side| squares(side) < NOTHING * rows as f64) {
        return Some(1.0);
    }
    let statistic = left * squared_products(x, y, rows);
    let traces = if is_marginal {
        // The eigenvalues are products of those of X and of Y.
        let [x, y] = [traces_of(x, rows)?, traces_of(y, rows)?];
        std::array::from_fn(|k| x[k] * y[k] / (rows as f64).powi(k as i32 + 1))
    } else {
        traces_of_products([x, y], rows, approximation == Approximation::Hbe, cells, stop)?
    };
    Some(match approximation {
        Approximation::Hbe => upper_tail_of_sum(statistic, traces),
        Approximation::Gamma if traces[1] > 0.0 => {
            upper_tail(statistic * traces[0] / traces[1], traces[0] * traces[0] / traces[1])
        }
        Approximation::Gamma => 1.0,
    })
}
