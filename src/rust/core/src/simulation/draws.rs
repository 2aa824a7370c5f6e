//! Streams of random numbers by counter, one for each purpose and vertex or edge.

use crate::random::{below, philox, Key, Purpose};

/// Purpose of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Of {
    /// The order of the vertices.
    Order,
    /// The pairs with an edge.
    Edges,
    /// The weight of an edge.
    Weight,
    /// The variables with levels, and their numbers of levels.
    Levels,
    /// Noise of a variable.
    Noise,
    /// Effects of an edge, or constants of a variable.
    Effects,
    /// The complete variables.
    Complete,
    /// The missing cells, and the complete variable on which they depend.
    Missing,
}

/// A stream of random numbers.
pub(super) struct Draws {
    key: Key,
    of: Of,
    which: u32,
    at: u32,
    words: [u32; 4],
    left: usize,
    spare: Option<f64>,
}

impl Draws {
    /// Returns the stream of a seed, a purpose, and a vertex or edge.
    pub fn new(seed: u64, of: Of, which: usize) -> Self {
        let key = Key::of_seed(seed);
        Draws { key, of, which: which as u32, at: 0, words: [0; 4], left: 0, spare: None }
    }

    fn word(&mut self) -> u32 {
        if self.left == 0 {
            self.words = philox([self.at, self.which, self.of as u32, Purpose::Simulation as u32], self.key);
            (self.at, self.left) = (self.at.wrapping_add(1), 4);
        }
        self.left -= 1;
        self.words[3 - self.left]
    }

    /// Returns a number above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        let (high, low) = (u64::from(self.word()), u64::from(self.word()));
        ((high << 20 | low >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Returns one of 0 .. bound - 1.
    pub fn below(&mut self, bound: usize) -> usize {
        below(self.word(), bound as u32) as usize
    }

    /// Returns a standard normal number (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// Returns a random permutation of 0 .. p - 1 (Fisher and Yates).
    pub fn permutation(&mut self, p: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..p as u32).collect();
        for at in (1..p).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }

    /// Calls `hit` with a random subset of 0 .. count - 1, ascending; each number is in it with this probability. The gaps are geometric
    /// (Batagelj and Brandes 2005).
    pub fn each(&mut self, count: u64, probability: f64, mut hit: impl FnMut(u64)) {
        if probability >= 1.0 {
            return (0..count).for_each(hit);
        }
        // One vertex without neighbours gives 0 / 0, a NaN.
        if probability.is_nan() || probability <= 0.0 {
            return;
        }
        let mut at = -1.0;
        loop {
            at += 1.0 + (self.uniform().ln() / (-probability).ln_1p()).floor();
            if at >= count as f64 {
                return;
            }
            hit(at as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_moments() {
        let mut draws = Draws::new(1, Of::Noise, 3);
        let n = 40_000;
        let moment = |values: &[f64], k: i32| values.iter().map(|x| x.powi(k)).sum::<f64>() / n as f64;
        let normal: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
        assert!(moment(&normal, 1).abs() < 0.02 && (moment(&normal, 2) - 1.0).abs() < 0.03);
        assert!((moment(&normal, 4) - 3.0).abs() < 0.2);
        let uniform: Vec<f64> = (0..n).map(|_| draws.uniform()).collect();
        assert!((moment(&uniform, 1) - 0.5).abs() < 0.01 && (moment(&uniform, 2) - 1.0 / 3.0).abs() < 0.01);
        let mut other = Draws::new(1, Of::Noise, 4);
        assert!(other.normal() != Draws::new(1, Of::Noise, 3).normal());
    }

    #[test]
    fn each_of_a_share_is_hit() {
        let mut hits = Vec::new();
        Draws::new(5, Of::Edges, 0).each(100_000, 0.03, |at| hits.push(at));
        assert!((2_800..3_200).contains(&hits.len()) && hits.is_sorted() && hits[hits.len() - 1] < 100_000);
        let mut all = 0;
        Draws::new(5, Of::Edges, 0).each(7, 1.0, |_| all += 1);
        Draws::new(5, Of::Edges, 0).each(7, 0.0, |_| all += 10);
        assert_eq!(all, 7);
        let mut order = Draws::new(2, Of::Order, 0).permutation(50);
        assert!(!order.is_sorted());
        order.sort_unstable();
        assert!(order.into_iter().eq(0..50));
    }
}
