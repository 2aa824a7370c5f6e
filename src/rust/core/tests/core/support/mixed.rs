//! Simulated continuous and mixed data for the nearest-neighbour tests.

use pcgpu_core::ci::knn::{Estimator, Knn, Settings, Transform};
use pcgpu_core::matrix::by_column;
use pcgpu_core::random::{philox, Key};

/// Returns the uniform random number with this index, in [0, 1).
fn uniform(seed: u64, index: u32) -> f64 {
    f64::from(philox([index, 0, 0, 99], Key::of_seed(seed))[0]) / 4_294_967_296.0
}

/// A chain of variables. If `mixed`, some are discrete and some on a grid; if `constant`, the last one is constant.
pub struct Made {
    pub data: Vec<f64>,
    pub discrete: Vec<bool>,
}

impl Made {
    pub fn new(seed: u64, n: usize, p: usize, mixed: bool, constant: bool) -> Self {
        let mut data: Vec<f64> = Vec::new();
        for column in 0..p {
            for row in 0..n {
                let noise = uniform(seed, (column * n + row) as u32) - 0.5;
                let before = if column > 0 { data[(column - 1) * n + row] } else { 0.0 };
                data.push(match column % 4 {
                    1 => before * before + noise,
                    2 if mixed => ((before + noise) * 3.0).round(),
                    3 if mixed => ((before + noise) * 20.0).round() / 20.0,
                    _ => (before + noise).tanh(),
                });
            }
        }
        if constant {
            data[(p - 1) * n..].fill(2.5);
        }
        Made { data, discrete: (0..p).map(|column| mixed && column % 4 == 2).collect() }
    }

    pub fn knn(&self, settings: Settings) -> Knn {
        Knn::new(by_column(&self.data, self.discrete.len()).unwrap(), &self.discrete, settings).unwrap()
    }
}

/// Returns settings with the seed 7 and the rank transform.
pub fn settings(estimator: Estimator, k: usize, permutations: usize) -> Settings {
    Settings {
        k,
        k_perm: 5,
        permutations,
        estimator,
        transform: Transform::Ranks,
        add_one: false,
        seed: 7,
        early_stop: None,
    }
}
