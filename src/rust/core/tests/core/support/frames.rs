//! Random data of numeric and discrete variables, complete, with missing values or imputed, and tests on them.

use std::sync::Arc;

use pcgpu_core::ci::mixed::{Frame, Given, Holes, Mixed, Rules, Values};
use pcgpu_core::engine::cpu::with_sums;
use pcgpu_core::pool::Pool;

use super::problems::{samples, Random};

/// The shape of a data set.
#[derive(Clone, Debug)]
pub struct Shape {
    pub n: usize,
    /// The number of levels of each variable; 0 for a numeric variable.
    pub levels: Vec<u32>,
    /// The share of values that are missing or imputed.
    pub missing: f64,
    /// The number of imputed data sets; 1 if nothing was imputed.
    pub sets: usize,
}

impl Shape {
    /// Makes a test on random data of this shape; if `quick`, with the correlations of its numeric variables.
    pub fn test(&self, seed: u64, quick: bool) -> Arc<Mixed<'static>> {
        let holes = match (self.sets, self.missing > 0.0) {
            (1, false) => Holes::None,
            (1, true) => Holes::TestWise,
            _ => Holes::Imputed,
        };
        let rules = Rules { adapt: holes != Holes::Imputed, ask_for_rows: false, constant_is_missing: false };
        let test = Mixed::new(self.frame(seed), holes, rules).unwrap();
        Arc::new(if quick { with_sums(test, &Pool::at_most(2), &mut |_| Ok(())).unwrap() } else { test })
    }

    /// Makes random data of this shape.
    pub fn frame(&self, seed: u64) -> Frame {
        let mut random = Random(seed);
        let (n, p) = (self.n, self.levels.len());
        let columns = samples(&mut random, p, n, 0.3, 0.0);
        let mut numbers: Vec<Vec<Vec<f64>>> = vec![Vec::new(); p];
        let mut codes: Vec<Vec<Vec<i32>>> = vec![Vec::new(); p];
        for (at, column) in columns.iter().enumerate() {
            let levels = self.levels[at] as usize;
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&a, &b| column[a].total_cmp(&column[b]));
            let mut of: Vec<i32> = vec![0; n];
            order.iter().enumerate().for_each(|(rank, &row)| of[row] = (rank * levels / n) as i32 + 1);
            let holes: Vec<bool> = (0..n).map(|_| random.uniform() < self.missing).collect();
            for _ in 0..self.sets {
                let other = |random: &mut Random| if self.sets > 1 { Some(random.below(n)) } else { None };
                let from: Vec<Option<usize>> =
                    (0..n).map(|row| if holes[row] { other(&mut random) } else { Some(row) }).collect();
                numbers[at].push(from.iter().map(|from| from.map_or(f64::NAN, |row| column[row])).collect());
                codes[at].push(from.iter().map(|from| from.map_or(i32::MIN, |row| of[row])).collect());
            }
        }
        let given: Vec<Given> = (0..p)
            .map(|at| {
                let versions = match self.levels[at] {
                    0 => numbers[at].iter().map(|values| Values::Numbers(values)).collect(),
                    _ => codes[at].iter().map(|codes| Values::Codes(codes)).collect(),
                };
                Given { levels: self.levels[at], versions }
            })
            .collect();
        Frame::new(n, self.sets, &given).unwrap()
    }
}
