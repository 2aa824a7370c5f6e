//! How verdicts change what is known: shared by the visiting orders.

use super::{Method, Options, Skeleton};
use crate::ci::Batch;
use crate::engine::SideEngine;
use crate::graph::{Adjacency, SepSetLog};
use crate::pool::Pool;
use crate::search::Observer;
use crate::Result;

/// The answer under construction, with the caller's p x p array of largest p-values.
///
/// The p-value of a pair x < y is kept at its place in R's upper triangle, `p_max[y * p + x]`; [`Answer::finish`] fills the
/// lower one.
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
        p_max.fill(options.untested());
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
        &mut self.p_max[x.max(y) * self.p + x.min(y)]
    }

    /// Engines leave the marginal p-values below alpha aside, as nearly all of them are outdone at a later level: asks for
    /// those of the pairs that are still there.
    pub fn raise_marginals(
        &mut self,
        engine: &mut dyn SideEngine,
        tested: &Adjacency,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let mut batch = Batch::with_space(self.graph.edge_count(), 0)?;
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
    pub fn finish(self, options: &Options, max_order: i32, pool: &Pool) -> Result<Skeleton> {
        let fast = options.method == Method::StableFast;
        if !fast {
            super::levels::symmetrise(self.p_max, self.p, pool);
        }
        Ok(Skeleton {
            graph: self.graph,
            sepsets: self.sepsets.finish(pool)?,
            tests: self.tests,
            max_order,
            exact_tests: self.exact_tests,
        })
    }
}
