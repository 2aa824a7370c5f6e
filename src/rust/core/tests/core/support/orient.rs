//! Shared code of the orientation tests: graphs made from recorded cases, and R's random permutations.

use pcgpu_core::ci::{Batch, CiTest};
use pcgpu_core::graph::{Adjacency, Form, SepSets, Side};
use pcgpu_core::orient::Pdag;
use pcgpu_core::Result;
use serde_json::Value;

/// Reads a scalar, or an R vector of length one.
pub fn number(value: &Value) -> f64 {
    value.as_array().map_or(value, |a| &a[0]).as_f64().unwrap()
}

pub fn integers(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
}

/// Returns the edges as `[from, to, mark]` numbered from 1, row by row, as the recordings have them.
pub fn rows(pdag: &Pdag) -> Vec<Vec<u32>> {
    let row = |i: usize| pdag.edges_from(i).map(move |(j, mark)| vec![i as u32 + 1, j + 1, u32::from(mark)]);
    (0..pdag.p()).flat_map(row).collect()
}

/// Builds a graph in this form from pairs numbered from 1.
pub fn skeleton(p: usize, form: Form, pairs: impl Iterator<Item = [u32; 2]>) -> Adjacency {
    let mut graph = Adjacency::empty_as(p, form);
    pairs.for_each(|[x, y]| graph.insert(x as usize - 1, y as usize - 1));
    graph
}

/// Builds separating sets from entries `[x, y, S...]` numbered from 1.
pub fn sepsets(p: usize, entries: impl Iterator<Item = Vec<u32>>) -> SepSets {
    let mut sets = SepSets::new(p, Side::Smaller);
    for entry in entries {
        let from_0: Vec<u32> = entry.iter().map(|v| v - 1).collect();
        sets.insert(from_0[0] as usize, from_0[1] as usize, &from_0[2..]);
    }
    sets
}

/// Returns all separating sets as entries `[x, y, S...]` numbered from 1, in ascending order of x, then y.
pub fn entries(sets: &SepSets) -> Vec<Vec<u32>> {
    let row = |x: usize| sets.row(x).map(move |(y, s)| [&[x as u32, y], s].concat());
    (0..sets.p()).flat_map(row).map(|entry| entry.iter().map(|v| v + 1).collect()).collect()
}

/// A test asked in batches of at most this many questions.
pub struct Batched<T>(pub T, pub usize);

impl<T: CiTest> CiTest for Batched<T> {
    fn p_value(&mut self, x: usize, y: usize, s: &[u32]) -> Result<f64> {
        self.0.p_value(x, y, s)
    }
    fn p_values(&mut self, batch: &Batch) -> Result<Vec<f64>> {
        assert!(batch.len() <= self.1);
        self.0.p_values(batch)
    }
    fn batch_size(&self) -> usize {
        self.1
    }
}

/// R's default random numbers: Mersenne Twister seeded by `set.seed()`, integers by rejection.
pub struct RRandom {
    state: [u32; 624],
    next: usize,
}

impl RRandom {
    pub fn set_seed(seed: u32) -> Self {
        let mut lcg = seed;
        let mut step = || {
            lcg = lcg.wrapping_mul(69069).wrapping_add(1);
            lcg
        };
        (0..50).for_each(|_| {
            step();
        });
        step(); // R seeds the position too, then overwrites it
        let mut state = [0; 624];
        state.iter_mut().for_each(|word| *word = step());
        RRandom { state, next: 624 }
    }

    fn uniform(&mut self) -> f64 {
        if self.next == 624 {
            for k in 0..624 {
                let y = (self.state[k] & 0x8000_0000) | (self.state[(k + 1) % 624] & 0x7fff_ffff);
                self.state[k] = self.state[(k + 397) % 624] ^ (y >> 1) ^ if y & 1 == 1 { 0x9908_b0df } else { 0 };
            }
            self.next = 0;
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^= y >> 18;
        f64::from(y) * 2.328_306_436_538_696_3e-10
    }

    /// Returns R's `R_unif_index(n)`: draws 16 bits at a time and rejects numbers of n or more.
    pub fn index(&mut self, n: u32) -> u32 {
        let bits = 32 - (n - 1).leading_zeros();
        loop {
            let mut value: u64 = 0;
            for _ in 0..=bits / 16 {
                value = 65536 * value + (self.uniform() * 65536.0) as u64;
            }
            let value = value & ((1 << bits) - 1);
            if value < u64::from(n) {
                return value as u32;
            }
        }
    }

    /// Returns R's `sample.int(k) - 1`.
    pub fn permutation(&mut self, k: usize) -> Vec<u32> {
        let mut left: Vec<u32> = (0..k as u32).collect();
        (0..k).map(|_| left.swap_remove(self.index(left.len() as u32) as usize)).collect()
    }
}
