//! How verdicts change what is known: shared by the visiting orders.

use super::{Method, Options, Skeleton};
use crate::ci::Batch;
use crate::engine::Engine;
use crate::graph::{Adjacency, SepSetLog};
use crate::search::Observer;
use crate::Result;

/// The answer under construction, with the caller's p x p array of largest p-values.
///
/// Until [`Answer::finish`] the p-value of a pair x < y is kept in `p_max[x * p + y]`: the search goes by rows, and the
/// pairs of a row are then neighbours in memory.
pub(super) struct Answer<'a> {
    pub graph: Adjacency,
    pub sepsets: SepSetLog,
    pub tests: Vec<u64>,
    pub p_max: &'a mut [f64],
    pub exact_tests: u64,
    p: usize,
}

impl<'a> Answer<'a> {
    pub fn new(options: &Options, graph: Adjacency, p_max: &'a mut [f64]) -> Self {
        // pcalg's marks for "never tested".
        p_max.fill(if options.method == Method::StableFast { -1.0 } else { f64::NEG_INFINITY });
        Answer {
            sepsets: SepSetLog::new(options.p, options.empty_side()),
            tests: Vec::new(),
            p_max,
            exact_tests: 0,
            p: options.p,
            graph,
        }
    }

    /// The largest p-value of the pair so far.
    pub fn cell(&mut self, x: usize, y: usize) -> &mut f64 {
        &mut self.p_max[x.min(y) * self.p + x.max(y)]
    }

    /// Engines leave the marginal p-values below alpha aside, as nearly all of them are outdone at a later level: asks for
    /// those of the pairs that are still there.
    pub fn raise_marginals(
        &mut self,
        engine: &mut dyn Engine,
        tested: &Adjacency,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let mut batch = Batch::new();
        for x in 0..self.p {
            for y in self.graph.neighbours(x).filter(|&y| y as usize > x && tested.has(x, y as usize)) {
                batch.push(x, y as usize, &[]);
            }
        }
        let values = engine.p_values(&batch, observer)?;
        for ((x, y, _), p) in batch.iter().zip(values) {
            self.raise(x, y, p);
        }
        Ok(())
    }

    /// Raises the largest p-value of the pair.
    pub fn raise(&mut self, x: usize, y: usize, p: f64) {
        let cell = self.cell(x, y);
        // Not `f64::max`: an earlier NaN stays, as `pMax[x, y] < pval` is then no TRUE in pcalg's C++.
        if p > *cell {
            *cell = p;
        }
    }

    /// Hands the answer over. The R methods report a symmetric pMax with ones on its diagonal, the C++ one the upper
    /// triangle alone.
    pub fn finish(self, options: &Options, max_order: i32) -> Skeleton {
        let fast = options.method == Method::StableFast;
        lay_out(self.p_max, self.p, if fast { Some(-1.0) } else { None });
        if !fast {
            self.p_max.iter_mut().step_by(self.p + 1).for_each(|cell| *cell = 1.0);
        }
        Skeleton {
            graph: self.graph,
            sepsets: self.sepsets.finish(),
            tests: self.tests,
            max_order,
            exact_tests: self.exact_tests,
        }
    }
}

/// From `m[x * p + y]` to R's upper triangle, `m[y * p + x]`, in tiles that stay in cache. The lower triangle keeps its
/// values or gets `lower`.
fn lay_out(m: &mut [f64], p: usize, lower: Option<f64>) {
    const TILE: usize = 64;
    for left in (0..p).step_by(TILE) {
        for top in (0..=left).step_by(TILE) {
            for y in left..(left + TILE).min(p) {
                for x in top..(top + TILE).min(y) {
                    m[y * p + x] = m[x * p + y];
                    if let Some(value) = lower {
                        m[x * p + y] = value;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_end_in_the_upper_triangle() {
        for p in [1usize, 2, 63, 64, 65, 150] {
            let before: Vec<f64> = (0..p * p).map(|i| i as f64).collect();
            let (mut both, mut upper) = (before.clone(), before.clone());
            super::lay_out(&mut both, p, None);
            super::lay_out(&mut upper, p, Some(-1.0));
            for x in 0..p {
                for y in x + 1..p {
                    let value = before[x * p + y];
                    assert_eq!((both[y * p + x], both[x * p + y]), (value, value));
                    assert_eq!((upper[y * p + x], upper[x * p + y]), (value, -1.0));
                }
            }
        }
    }
}
