//! Correlations of each pair of columns from the rows in which both have a value.

use std::ops::Range;
use std::sync::Mutex;

use super::columns::{Centre, Of, Summary};
use super::product::{multiply, ratio};
use super::ranks::enter_ranks;
use super::treated::score;
use super::{Kind, Watch};
use crate::memory::{self, Use};
use crate::numbers::{Numbers, SMALL};
use crate::pool::{Pool, Stop};
use crate::Result;

/// Number of rows taken together, and numbers of columns in the larger and the smaller block.
const PAIRWISE_ROWS: usize = 1024;
const PAIRWISE_BLOCK: usize = 256;
const OTHER_BLOCK: usize = 64;

/// Smallest ratio of a variance to the sum of squares from which it was subtracted. Below it, the pair is computed by itself.
const CANCELLED: f64 = 0.01;

/// Working memory of a thread for pairwise correlations.
#[derive(Default)]
pub(super) struct Blocks {
    /// For the current rows and columns: centred values, 0 if missing; their squares; and 1 if present, else 0.
    left: [Vec<f64>; 3],
    right: [Vec<f64>; 3],
    /// Products of the columns; see [`PRODUCTS`].
    products: Vec<f64>,
    pair: [Vec<f64>; 2],
}

/// Indices of the factors. The products are sums over the rows that have both: of x y, of x, of y, of x² and of y²; and the number of rows.
pub(super) const PRODUCTS: [(usize, usize); 6] = [(0, 0), (0, 2), (2, 0), (1, 2), (2, 1), (2, 2)];

/// Writes the upper triangle of pairwise correlations. Returns the smallest number of rows of a pair.
pub(super) fn pairwise(
    columns: &[Numbers],
    kind: Kind,
    summary: &[Summary],
    pool: &Pool,
    c: &mut [f64],
    watch: &mut Watch,
) -> Result<usize> {
    let (p, n) = (columns.len(), columns[0].len());
    let centres: Vec<Centre> =
        columns.iter().zip(summary).map(|(x, summary)| Centre::of(x, summary, &Of::All, n)).collect();
    let of_ranks = kind != Kind::Pearson;
    let orders = if of_ranks { orders(columns, pool, &mut || watch(0.0))? } else { Vec::new() };
    let data = PairData { columns, centres: &centres, orders: &orders, n };
    let width = p.div_ceil(2 * pool.threads()).clamp(1, OTHER_BLOCK);
    let blocks: Vec<Mutex<&mut [f64]>> = c.chunks_mut(width * p).map(Mutex::new).collect();
    let least = Mutex::new(n);
    let work = |scratch: &mut Blocks, task: usize, stop: &Stop| {
        let block = blocks.len() - 1 - task;
        let (from, to) = (block * width, p.min((block + 1) * width));
        let Ok(mut cells) = blocks[block].lock() else { return };
        let fewest = match of_ranks {
            false => data.block(from..to, &mut cells, scratch, stop),
            true => {
                let mut fewest = n;
                for y in from..to {
                    for x in 0..=y {
                        if stop.requested() {
                            return;
                        }
                        let (r, count) = data.of_ranks(x, y, kind, scratch);
                        cells[(y - from) * p + x] = r;
                        fewest = fewest.min(count);
                    }
                }
                fewest
            }
        };
        if let Ok(mut least) = least.lock() {
            *least = fewest.min(*least);
        }
    };
    let count = blocks.len();
    let total = (count * (count + 1)) as f64 / 2.0;
    pool.run(count, n * p * p < SMALL, |task| (count - task) as f64, &mut |done| watch(done / total), work)?;
    Ok(least.into_inner().unwrap_or(0))
}

/// Returns the rows of each column in ascending order of its values, without rows in which it is missing.
pub(super) fn orders(columns: &[Numbers], pool: &Pool, look: &mut dyn FnMut() -> Result<()>) -> Result<Vec<Vec<u32>>> {
    let n = columns[0].len();
    let mut orders = Vec::new();
    for _ in columns {
        orders.push(memory::space(n, Use::Correlations)?);
    }
    let slots: Vec<Mutex<&mut Vec<u32>>> = orders.iter_mut().map(Mutex::new).collect();
    let work = |_: &mut (), task: usize, _: &Stop| {
        if let Ok(mut order) = slots[task].lock() {
            order.extend((0..n as u32).filter(|&row| !columns[task].at(row as usize).is_nan()));
            order.sort_unstable_by(|&a, &b| columns[task].at(a as usize).total_cmp(&columns[task].at(b as usize)));
        }
    };
    pool.run(slots.len(), false, |_| 1.0, &mut |_| look(), work)?;
    drop(slots);
    Ok(orders)
}

/// The data of pairwise correlations.
pub(super) struct PairData<'a> {
    columns: &'a [Numbers<'a>],
    centres: &'a [Centre],
    orders: &'a [Vec<u32>],
    n: usize,
}

impl PairData<'_> {
    /// Writes Pearson's correlations of the columns `ys` with all columns up to themselves. Returns the smallest number of rows of a pair.
    fn block(&self, ys: Range<usize>, cells: &mut [f64], scratch: &mut Blocks, stop: &Stop) -> usize {
        let p = self.columns.len();
        let mut fewest = self.n;
        for first in (0..ys.end).step_by(PAIRWISE_BLOCK) {
            let xs = first..ys.end.min(first + PAIRWISE_BLOCK);
            let (m, size) = (xs.len(), xs.len() * ys.len());
            if !memory::grow(&mut scratch.products, 6 * size, 0.0, Use::Correlations) {
                return 0;
            }
            for from in (0..self.n).step_by(PAIRWISE_ROWS) {
                if stop.requested() {
                    return 0;
                }
                let rows = from..self.n.min(from + PAIRWISE_ROWS);
                let count = rows.len();
                if !self.fill(&mut scratch.left, xs.clone(), rows.clone())
                    || !self.fill(&mut scratch.right, ys.clone(), rows)
                {
                    return 0;
                }
                let beta = if from == 0 { 0.0 } else { 1.0 };
                for ((l, r), product) in PRODUCTS.into_iter().zip(scratch.products.chunks_mut(size)) {
                    let (left, right) = (&scratch.left[l][..m * count], &scratch.right[r][..ys.len() * count]);
                    multiply(left, right, count, product, m, beta);
                }
            }
            for y in ys.clone() {
                for x in xs.clone().take_while(|&x| x <= y) {
                    let at = |which: usize| scratch.products[which * size + (y - ys.start) * m + x - first];
                    let [xy, sum_x, sum_y, xx, yy, count] = [0, 1, 2, 3, 4, 5].map(at);
                    fewest = fewest.min(count as usize);
                    let (of_x, of_y) = (xx - sum_x * sum_x / count, yy - sum_y * sum_y / count);
                    let r = if count < 2.0 {
                        f64::NAN
                    } else if of_x > CANCELLED * xx && of_y > CANCELLED * yy {
                        ratio(xy - sum_x * sum_y / count, of_x, of_y)
                    } else {
                        self.by_itself(x, y, &mut scratch.pair)
                    };
                    cells[(y - ys.start) * p + x] = r;
                }
            }
        }
        fewest
    }

    fn fill(&self, parts: &mut [Vec<f64>; 3], columns: Range<usize>, rows: Range<usize>) -> bool {
        let count = rows.len();
        for part in &mut *parts {
            if !memory::grow(part, columns.len() * count, 0.0, Use::Correlations) {
                return false;
            }
        }
        let [values, squares, there] = parts;
        for (at, column) in columns.enumerate() {
            let start = at * count;
            self.columns[column].read(&Of::All, rows.clone(), |from, some| {
                for (at, &value) in (start + from..).zip(some) {
                    let value = self.centres[column].apply(value);
                    let is_there = !value.is_nan();
                    values[at] = if is_there { value } else { 0.0 };
                    squares[at] = values[at] * values[at];
                    there[at] = f64::from(u8::from(is_there));
                }
            });
        }
        true
    }

    /// Returns Pearson's correlation of a pair, centred by the means of the rows that have both.
    fn by_itself(&self, x: usize, y: usize, pair: &mut [Vec<f64>; 2]) -> f64 {
        pair.iter_mut().for_each(Vec::clear);
        if !pair.iter_mut().all(|values| memory::prepare(values, self.n, Use::Correlations)) {
            return f64::NAN;
        }
        for row in 0..self.n {
            let (a, b) = (self.columns[x].at(row), self.columns[y].at(row));
            if !a.is_nan() && !b.is_nan() {
                pair[0].push(self.centres[x].scaled(a));
                pair[1].push(self.centres[y].scaled(b));
            }
        }
        of_pair(pair)
    }

    /// Returns Pearson's correlation of a pair's ranks or scores among the rows that have both, and the number of these rows.
    fn of_ranks(&self, x: usize, y: usize, kind: Kind, scratch: &mut Blocks) -> (f64, usize) {
        let mut tied = Vec::new();
        for (values, (own, other)) in scratch.pair.iter_mut().zip([(x, y), (y, x)]) {
            if !memory::grow(values, self.n, 0.0, Use::Correlations) {
                return (f64::NAN, 0);
            }
            tied.clear();
            if !memory::prepare(&mut tied, self.orders[own].len(), Use::Correlations) {
                return (f64::NAN, 0);
            }
            let both = self.orders[own].iter().filter(|&&row| !self.columns[other].at(row as usize).is_nan());
            tied.extend(both.map(|&row| (self.columns[own].at(row as usize), row)));
            enter_ranks(&tied, values);
        }
        // Keep only the ranks of the rows that have both, which are in `tied`.
        tied.sort_unstable_by_key(|&(_, row)| row);
        for values in &mut scratch.pair {
            for (to, &(_, row)) in tied.iter().enumerate() {
                values[to] = values[row as usize];
            }
            values.truncate(tied.len());
            if kind == Kind::Scores {
                values.iter_mut().for_each(|rank| *rank = score(*rank, tied.len()));
            }
        }
        (of_pair(&mut scratch.pair), tied.len())
    }
}

/// Returns Pearson's correlation of two lists of values, which it centres.
pub(super) fn of_pair(pair: &mut [Vec<f64>; 2]) -> f64 {
    let count = pair[0].len() as f64;
    for values in &mut *pair {
        for _ in 0..2 {
            let mean = values.iter().sum::<f64>() / count;
            values.iter_mut().for_each(|value| *value -= mean);
        }
    }
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let [a, b] = pair;
    ratio(product(a, b), product(a, a), product(b, b))
}
