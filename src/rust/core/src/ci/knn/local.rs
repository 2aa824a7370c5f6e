//! Permutations that preserve the dependence of x on S: every sample takes the x of one of its nearest neighbours in S.
//!
//! Runge (2018), algorithm 1: the samples take turns in random order. Each goes through its k_perm neighbours in random order, and takes
//! the first that no other has taken, or the last one. The sample itself is one of its neighbours, as in tigramite 5.2.10.
//!
//! Here the samples need not take turns: a sample may claim a neighbour that a later one has, and that one goes on through its list. The
//! result is the same, since each neighbour ends with the earliest sample that ever claims it. So the threads of a GPU claim at once, as in
//! algorithm 3 of Hagedorn et al. (2022), and no race decides.

use ndarray::ArrayView2;

use crate::random::{below, philox, philox_lanes, scramble, unscramble, Key, Purpose, LANES};

/// The claim on a neighbour that no sample has claimed.
const FREE: u64 = u64::MAX;

/// Reusable working memory for permutations: by sample, the claim on it.
#[derive(Clone, Debug, Default)]
pub struct Shuffler {
    claims: Vec<u64>,
}

/// The random orders of a permutation.
#[derive(Clone, Copy)]
struct Orders {
    samples: Key,
    neighbours: Key,
}

impl Orders {
    fn new(key: Key, m: u32) -> Self {
        let words = philox([m, 0, 0, Purpose::Local as u32], key);
        Orders { samples: Key([words[0], words[1]]), neighbours: Key([words[2], words[3]]) }
    }

    /// Returns a sample's claim: its place in the order of the samples, and its number. Smaller claims are earlier.
    #[inline(always)]
    fn claim(self, sample: u32) -> u64 {
        u64::from(scramble(self.samples, sample, 0)) << 32 | u64::from(sample)
    }

    /// Returns the place of a neighbour in a sample's list. No two neighbours share one, as `scramble` is one-to-one.
    #[inline(always)]
    fn place(self, sample: u32, neighbour: u32) -> u32 {
        scramble(self.neighbours, sample, neighbour)
    }

    /// Returns the first place from `from` on in a sample's list, or a number above all places.
    #[inline(always)]
    fn first(self, sample: u32, list: &[u32], from: u64) -> u64 {
        // Earlier places wrap around behind all others.
        let ahead = list.iter().map(|&neighbour| self.place(sample, neighbour).wrapping_sub(from as u32)).min();
        from + u64::from(ahead.unwrap_or(u32::MAX))
    }
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
        // Rows are slices because this is the inner loop of a test with few samples.
        let (k_perm, neighbours) = (neighbours.ncols(), neighbours.to_slice().unwrap_or_default());
        let orders = Orders::new(key, m);
        self.claims.clear();
        self.claims.resize(out.len(), FREE);
        for sample in 0..out.len() as u32 {
            let (mut sample, mut claim, mut from) = (sample, orders.claim(sample), 0);
            let list = |sample: u32| &neighbours[sample as usize * k_perm..][..k_perm];
            while let Ok(place) = u32::try_from(orders.first(sample, list(sample), from)) {
                let neighbour = unscramble(orders.neighbours, sample, place);
                // Settled here for a sample that finds no free neighbour, and below for others.
                out[sample as usize] = neighbour;
                from = u64::from(place) + 1;
                let held = &mut self.claims[neighbour as usize];
                if claim < *held {
                    std::mem::swap(held, &mut claim);
                    if claim == FREE {
                        break;
                    }
                    sample = claim as u32;
                    from = u64::from(orders.place(sample, neighbour)) + 1;
                }
            }
        }
        for (&claim, neighbour) in self.claims.iter().zip(0..) {
            if claim != FREE {
                out[claim as u32 as usize] = neighbour;
            }
        }
    }
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

    /// Applies the rule of the paper literally, with the same orders.
    #[test]
    fn no_neighbour_is_taken_twice_while_another_is_free() {
        let mut shuffler = Shuffler::default();
        for (k_perm, m) in [1, 2, 5, 9, 40, 61].into_iter().flat_map(|k_perm| (0..20).map(move |m| (k_perm, m))) {
            let n = 61;
            let neighbours = Array2::from_shape_fn((n, k_perm), |(a, i)| ((a + i * (i + 1) / 2 * 7) % n) as u32);
            let mut out = vec![0; n];
            let orders = Orders::new(Key([8, 15]), m);
            shuffler.local(Key([8, 15]), m, neighbours.view(), &mut out);
            let mut order: Vec<u32> = (0..n as u32).collect();
            order.sort_by_key(|&sample| orders.claim(sample));
            let mut used = vec![false; n];
            for sample in order {
                let mut list = neighbours.row(sample as usize).to_vec();
                list.sort_by_key(|&neighbour| orders.place(sample, neighbour));
                let taken = list.iter().find(|&&neighbour| !used[neighbour as usize]).unwrap_or(&list[k_perm - 1]);
                used[*taken as usize] = true;
                assert_eq!(out[sample as usize], *taken, "sample {sample}, k_perm {k_perm}, permutation {m}");
            }
        }
    }

    #[test]
    fn all_permutations_among_neighbours_are_alike() {
        // With all samples as neighbours, all 24 permutations of four samples occur about equally often.
        let (mut shuffler, mut counts) = (Shuffler::default(), std::collections::HashMap::new());
        let neighbours = Array2::from_shape_fn((4, 4), |(_, i)| i as u32);
        for m in 0..24_000 {
            let mut out = [0; 4];
            shuffler.local(Key([3, 4]), m, neighbours.view(), &mut out);
            *counts.entry(out).or_insert(0) += 1;
        }
        assert!(counts.len() == 24 && counts.values().all(|count| (860..1140).contains(count)), "{counts:?}");
        // Each of 200 samples in a ring takes each of its 5 neighbours about equally often, and whatever another takes.
        let n = 200;
        let neighbours = Array2::from_shape_fn((n, 5), |(a, i)| ((a + n + i - 2) % n) as u32);
        let (mut counts, mut pairs) = (vec![[0; 5]; n], [[0; 5]; 5]);
        for m in 0..5000 {
            let mut out = vec![0; n];
            shuffler.local(Key([3, 5]), m, neighbours.view(), &mut out);
            let taken = |a: usize| (out[a] as usize + n + 2 - a) % n;
            (0..n).for_each(|a| counts[a][taken(a)] += 1);
            pairs[taken(10)][taken(110)] += 1;
        }
        assert!(counts.iter().flatten().all(|count| (860..1140).contains(count)), "{counts:?}");
        assert!(pairs.iter().flatten().all(|count| (140..260).contains(count)), "{pairs:?}");
    }
}
