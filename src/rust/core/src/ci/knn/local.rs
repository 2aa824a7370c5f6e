//! Permutations that preserve the dependence of x on S: every sample takes the x of one of its nearest neighbours in S.
//!
//! Runge (2018), algorithm 1: the samples take turns in random order. Each goes through its k_perm neighbours in random order, and takes
//! the first that no other has taken, or the last one. The sample itself is one of its neighbours, as in tigramite 5.2.10.

use ndarray::ArrayView2;

use crate::random::{below, philox, philox_lanes, scramble, Key, Purpose, LANES};

/// Number of draws that a step's own counter provides; its first word orders the samples.
const WITH_STEP: usize = 3;

/// Reusable working memory for permutations.
#[derive(Clone, Debug, Default)]
pub struct Shuffler {
    order: Vec<u32>,
    /// For each sample the stamp of the permutation that took it last.
    taken: Vec<u32>,
    stamp: u32,
    own: Vec<u32>,
}

/// Reusable working memory for choosing the neighbours that a sample may take its x from.
pub struct Choice<D> {
    key: Key,
    ties: Vec<(u32, u32)>,
    sorted: Vec<D>,
}

impl<D: Copy + PartialOrd> Choice<D> {
    /// Prepares choices for tests given S. `key` is the key of S.
    pub fn new(key: Key) -> Self {
        Choice { key, ties: Vec::new(), sorted: Vec::new() }
    }

    /// Fills `out`, which must not be empty, with the nearest neighbours of a sample, in ascending order of number. The candidates include
    /// the sample itself and all of its nearest neighbours; `distances[i]` is the distance in S to sample `name(i)`. Returns the distance
    /// of the farthest neighbour chosen.
    ///
    /// Among candidates at that distance, the sample itself comes first, then the smallest scrambled pairs. If S is discrete, these are a
    /// random choice within the sample's level.
    pub fn nearest(&mut self, sample: u32, distances: &[D], name: impl Fn(usize) -> u32, out: &mut [u32]) -> D {
        let Choice { key, ties, sorted } = self;
        sorted.clear();
        sorted.extend_from_slice(distances);
        let by_size = |a: &D, b: &D| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
        let (_, &mut last, _) = sorted.select_nth_unstable_by(out.len() - 1, by_size);
        ties.clear();
        let mut found = 0;
        for (at, &distance) in distances.iter().enumerate() {
            if distance < last {
                out[found] = name(at);
                found += 1;
            } else if distance == last {
                let other = name(at);
                // The rank is never 0 for another sample.
                let rank = if other == sample { 0 } else { scramble(*key, sample, other) | 1 };
                ties.push((rank, other));
            }
        }
        if ties.len() > out.len() - found {
            ties.sort_unstable();
        }
        for (slot, &(_, other)) in out[found..].iter_mut().zip(ties.iter()) {
            *slot = other;
        }
        out.sort_unstable();
        last
    }
}

impl Shuffler {
    /// Draws permutation number `m` of the test with this key, over all samples. Sample i gets the x of `out[i]`.
    #[inline(always)]
    pub fn plain(&mut self, key: Key, m: u32, out: &mut [u32]) {
        let n = out.len();
        out.iter_mut().zip(0..).for_each(|(place, sample)| *place = sample);
        // Each counter serves four steps.
        for first in (0..n.div_ceil(4)).step_by(LANES) {
            let words = philox_lanes(first as u32, m, Purpose::Plain, key);
            for step in first * 4..n.min((first + LANES) * 4) {
                let word = words[step % 4][step / 4 - first];
                out.swap(step, step + below(word, (n - step) as u32) as usize);
            }
        }
    }

    /// Draws permutation number `m` of the test with this key among `neighbours`, which has a row for each sample. Sample i gets the x of
    /// `out[i]`.
    #[inline(always)]
    pub fn local(&mut self, key: Key, m: u32, neighbours: ArrayView2<u32>, out: &mut [u32]) {
        let n = out.len();
        // Rows are slices because this is the inner loop of a test with few samples.
        let (k_perm, neighbours) = (neighbours.ncols(), neighbours.to_slice().unwrap_or_default());
        self.order.clear();
        self.order.extend(0..n as u32);
        if self.taken.len() != n || self.stamp == u32::MAX {
            self.taken.clear();
            self.taken.resize(n, 0);
            self.stamp = 0;
        }
        self.stamp += 1;
        for first in (0..n).step_by(LANES) {
            let words = philox_lanes(first as u32, m, Purpose::Local, key);
            for step in first..n.min(first + LANES) {
                let lane = step - first;
                let word = |draw: usize| {
                    if draw < WITH_STEP {
                        words[1 + draw][lane]
                    } else {
                        let (block, at) = ((draw - WITH_STEP) / 4, (draw - WITH_STEP) % 4);
                        philox([step as u32, m, 1 + block as u32, Purpose::Local as u32], key)[at]
                    }
                };
                self.order.swap(step, step + below(words[0][lane], (n - step) as u32) as usize);
                let sample = self.order[step] as usize;
                let list = &neighbours[sample * k_perm..(sample + 1) * k_perm];
                let chosen = if k_perm <= 32 {
                    first_free(list, &self.taken, self.stamp, word)
                } else {
                    self.own.clear();
                    self.own.extend_from_slice(list);
                    first_free_of_many(&mut self.own, &self.taken, self.stamp, word)
                };
                self.taken[chosen as usize] = self.stamp;
                out[sample] = chosen;
            }
        }
    }
}

/// Returns the first free entry of the list in a random order, or the last entry in that order. The order is drawn as needed.
#[inline(always)]
fn first_free(list: &[u32], taken: &[u32], stamp: u32, word: impl Fn(usize) -> u32) -> u32 {
    let mut own = [0; 32];
    let own = &mut own[..list.len()];
    own.copy_from_slice(list);
    first_free_of_many(own, taken, stamp, word)
}

#[inline(always)]
fn first_free_of_many(own: &mut [u32], taken: &[u32], stamp: u32, word: impl Fn(usize) -> u32) -> u32 {
    let last = own.len() - 1;
    for at in 0..last {
        own.swap(at, at + below(word(at), (own.len() - at) as u32) as usize);
        if taken[own[at] as usize] != stamp {
            return own[at];
        }
    }
    own[last]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn plain_permutations_are_permutations_and_all_alike() {
        let mut shuffler = Shuffler::default();
        for n in [3usize, 4, 31, 33, 100] {
            let mut out = vec![0; n];
            shuffler.plain(Key([1, n as u32]), 5, &mut out);
            let mut sorted = out.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().zip(0..).all(|(&a, b)| a == b), "{out:?}");
        }
        // All 24 permutations of four samples occur about equally often.
        let mut counts = std::collections::HashMap::new();
        for m in 0..24_000 {
            let mut out = [0; 4];
            shuffler.plain(Key([3, 4]), m, &mut out);
            *counts.entry(out).or_insert(0) += 1;
        }
        assert!(counts.len() == 24 && counts.values().all(|count| (860..1140).contains(count)), "{counts:?}");
    }

    #[test]
    fn neighbours_are_the_nearest_and_the_sample_itself() {
        let mut out = vec![0; 3];
        let distances = [4u16, 1, 0, 2, 9];
        assert_eq!(Choice::new(Key([0, 0])).nearest(2, &distances, |b| b as u32, &mut out), 2);
        assert_eq!(out, [1, 2, 3]);
        // Among many at one distance, any may be chosen; the sample itself always is.
        let mut seen = [0; 40];
        for sample in 0..40 {
            Choice::new(Key([0, 5])).nearest(sample, &[7u16; 40], |b| b as u32, &mut out);
            assert!(out.contains(&sample) && out[0] < out[1] && out[1] < out[2]);
            out.iter().for_each(|&other| seen[other as usize] += 1);
        }
        assert!(seen.iter().all(|count| (1..12).contains(count)), "{seen:?}");
    }

    /// Applies the rule of the paper literally, with the same draws.
    #[test]
    fn no_neighbour_is_taken_twice_while_another_is_free() {
        for k_perm in [1, 2, 5, 9, 40] {
            let n = 61;
            let neighbours = Array2::from_shape_fn((n, k_perm), |(a, i)| ((a + i * i) % n) as u32);
            let mut out = vec![0; n];
            let key = Key([8, 15]);
            Shuffler::default().local(key, 3, neighbours.view(), &mut out);
            let step = |at: u32| philox([at, 3, 0, Purpose::Local as u32], key);
            let mut order: Vec<usize> = (0..n).collect();
            for at in 0..n {
                order.swap(at, at + below(step(at as u32)[0], (n - at) as u32) as usize);
            }
            let mut used = vec![false; n];
            for (at, &sample) in order.iter().enumerate() {
                let mut list = neighbours.row(sample).to_vec();
                for i in 0..k_perm - 1 {
                    let word = match i {
                        0..=2 => step(at as u32)[1 + i],
                        _ => philox([at as u32, 3, 1 + (i as u32 - 3) / 4, 1], key)[(i - 3) % 4],
                    };
                    list.swap(i, i + below(word, (k_perm - i) as u32) as usize);
                }
                let mut y = 0;
                while used[list[y] as usize] && y < k_perm - 1 {
                    y += 1;
                }
                used[list[y] as usize] = true;
                assert_eq!(out[sample], list[y], "sample {sample}, k_perm {k_perm}");
            }
        }
    }
}
