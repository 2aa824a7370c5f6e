//! Random discrete problems: uneven numbers of levels, levels that do not occur, constant columns, missing values.

use pcgpu_core::ci::discrete::{Coded, Rule};
use pcgpu_core::matrix::by_column;

use super::problems::Random;

/// All rules.
pub const RULES: [Rule; 4] = [
    Rule::Pcalg { adapt: false },
    Rule::Pcalg { adapt: true },
    Rule::Bnlearn { adapt: false },
    Rule::Bnlearn { adapt: true },
];

/// Discrete data as level codes.
pub struct Problem {
    pub n: usize,
    pub levels: Vec<u32>,
    /// Column by column; `i32::MIN` is missing.
    pub codes: Vec<i32>,
}

impl Problem {
    pub fn coded(&self) -> Coded {
        Coded::new(by_column(&self.codes, self.levels.len()).unwrap(), &self.levels, true).unwrap()
    }
}

/// Returns a problem in which every variable is a noisy function of up to four earlier ones.
pub fn problem(random: &mut Random, p: usize, n: usize, missing: f64) -> Problem {
    let many = random.uniform() < 0.2;
    let mut levels: Vec<u32> = Vec::new();
    let mut codes: Vec<i32> = Vec::new();
    for v in 0..p {
        let of_v = match random.below(10) {
            0 if many => 300,
            1 if many => 40,
            2 => 9,
            k => 2 + (k as u32 % 4) / 2 * (k as u32 % 3),
        };
        levels.push(of_v);
        // Some variables are constant, and some lack part of their levels.
        let used = match random.below(8) {
            0 => 1,
            1 => (of_v / 2).max(1),
            _ => of_v,
        } as i64;
        let parents: Vec<usize> = (0..random.below(5)).filter(|_| v > 0).map(|_| random.below(v)).collect();
        let noise = 0.3 + 0.5 * random.uniform();
        for i in 0..n {
            let mut value = random.below(used as usize) as i64;
            if !parents.is_empty() && random.uniform() > noise {
                value = parents.iter().map(|&parent| i64::from(codes[parent * n + i].max(0))).sum::<i64>() % used;
            }
            codes.push(value as i32);
        }
    }
    for code in &mut codes {
        if random.uniform() < missing {
            *code = i32::MIN;
        }
    }
    Problem { n, levels, codes }
}
