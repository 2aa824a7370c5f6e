//! The loops that take most time: over distances, in whole blocks of places.

use super::cell::Cell;
use super::wide::Wide;

/// Number of places in a block: a multiple of the lanes of every kind of register.
pub(super) const BLOCK: usize = 32;

/// Returns the next multiple of [`BLOCK`].
pub(super) fn padded(n: usize) -> usize {
    n.next_multiple_of(BLOCK)
}

/// Writes max(`of_y`, distance of x) to `joint`, and counts the values that are not above the bound.
#[inline(always)]
pub(super) fn fill_joint<W: Wide, const DISCRETE: bool>(
    simd: W::Simd,
    of_y: &[W::Cell],
    x: &[W::Cell],
    own: W::Cell,
    mismatch: W::Cell,
    bound: W::Cell,
    joint: &mut [W::Cell],
) -> usize {
    let (own, mismatch, bound) = (W::splat(simd, own), W::splat(simd, mismatch), W::splat(simd, bound));
    let mut tally = W::none(simd);
    let blocks = joint.chunks_exact_mut(W::LANES).zip(of_y.chunks_exact(W::LANES)).zip(x.chunks_exact(W::LANES));
    for ((joint, of_y), x) in blocks {
        let distance = W::load(simd, x).distance::<DISCRETE>(own, mismatch).larger(W::load(simd, of_y));
        distance.store(joint);
        tally = tally.tally(distance.not_above(bound));
    }
    tally.total()
}

/// Counts the places whose distances in S and in x are both not above a bound.
#[inline(always)]
pub(super) fn count_both<W: Wide, const DISCRETE: bool>(
    simd: W::Simd,
    of_s: &[W::Cell],
    x: &[W::Cell],
    own: W::Cell,
    mismatch: W::Cell,
    bound: W::Cell,
) -> usize {
    let (own, mismatch, bound) = (W::splat(simd, own), W::splat(simd, mismatch), W::splat(simd, bound));
    let mut tally = W::none(simd);
    for (of_s, x) in of_s.chunks_exact(W::LANES).zip(x.chunks_exact(W::LANES)) {
        let distance = W::load(simd, x).distance::<DISCRETE>(own, mismatch).larger(W::load(simd, of_s));
        tally = tally.tally(distance.not_above(bound));
    }
    tally.total()
}

/// Counts the distances that are not above a bound.
#[inline(always)]
pub(super) fn count_within<W: Wide>(simd: W::Simd, distances: &[W::Cell], bound: W::Cell) -> usize {
    let bound = W::splat(simd, bound);
    let mut tally = W::none(simd);
    for distances in distances.chunks_exact(W::LANES) {
        tally = tally.tally(W::load(simd, distances).not_above(bound));
    }
    tally.total()
}

/// Returns the largest distance that is not above a bound, or zero if there is none.
#[inline(always)]
fn largest_within<W: Wide>(simd: W::Simd, distances: &[W::Cell], bound: W::Cell) -> W::Cell {
    let bound = W::splat(simd, bound);
    let mut largest = W::none(simd);
    for distances in distances.chunks_exact(W::LANES) {
        let distances = W::load(simd, distances);
        largest = distances.keep(distances.not_above(bound)).larger(largest);
    }
    largest.largest()
}

/// Counts the distances that are below a bound.
#[inline(always)]
fn count_below<W: Wide>(simd: W::Simd, distances: &[W::Cell], bound: W::Cell) -> usize {
    let bound = W::splat(simd, bound);
    let mut tally = W::none(simd);
    for distances in distances.chunks_exact(W::LANES) {
        tally = tally.tally(bound.not_above(W::load(simd, distances)));
    }
    distances.len() - tally.total()
}

/// Raises `distances` to the distances from `own` to `values`, where these are larger.
#[inline(always)]
pub(super) fn raise<W: Wide, const DISCRETE: bool>(
    simd: W::Simd,
    values: &[W::Cell],
    own: W::Cell,
    mismatch: W::Cell,
    distances: &mut [W::Cell],
) {
    let (own, mismatch) = (W::splat(simd, own), W::splat(simd, mismatch));
    for (distances, values) in distances.chunks_exact_mut(W::LANES).zip(values.chunks_exact(W::LANES)) {
        W::load(simd, values).distance::<DISCRETE>(own, mismatch).larger(W::load(simd, distances)).store(distances);
    }
}

/// Returns the `which`-th smallest distance, counted from 1, and the number of distances that are not above it. `within` of them, at least
/// `which`, are not above `bound`. All are whole blocks; `candidates` must be as long as `distances`.
#[inline(always)]
pub(super) fn select<W: Wide>(
    simd: W::Simd,
    distances: &[W::Cell],
    which: usize,
    bound: W::Cell,
    within: usize,
    candidates: &mut [W::Cell],
) -> (W::Cell, usize) {
    /// Number of steps after which the remaining distances are checked one by one.
    const STEPS: usize = 16;
    let (mut low, mut below) = (None, 0);
    let (mut high, mut up_to) = (bound, within);
    for step in 0..STEPS {
        if up_to == which {
            return (largest_within::<W>(simd, distances, high), which);
        }
        if step % 3 == 1 {
            // If many are equal, no bound has exactly `which` of them within it.
            let largest = largest_within::<W>(simd, distances, high);
            if count_below::<W>(simd, distances, largest) < which {
                return (largest, up_to);
            }
        }
        let share = (which - below) as f64 / (up_to - below) as f64;
        let fraction = match (step % 3, low) {
            // Numbers of points grow as a power of the distance.
            (0 | 1, None) => share.sqrt(),
            (0 | 1, Some(_)) => share,
            _ => 0.5,
        };
        let Some(middle) = W::Cell::between(low, high, fraction) else { break };
        let count = count_within::<W>(simd, distances, middle);
        if count >= which {
            (high, up_to) = (middle, count);
        } else {
            (low, below) = (Some(middle), count);
        }
    }
    let mut found = 0;
    for &distance in distances {
        candidates[found] = distance;
        found += usize::from((distance <= high) & low.is_none_or(|low| distance > low));
        if found == up_to - below {
            break;
        }
    }
    let candidates = &mut candidates[..found];
    let (_, &mut chosen, _) = candidates.select_nth_unstable_by(which - 1 - below, W::Cell::by_size);
    let not_above = candidates.iter().filter(|&&distance| distance <= chosen).count();
    (chosen, below + not_above)
}

#[cfg(test)]
mod tests {
    use super::super::wide::Portable;
    #[cfg(target_arch = "x86_64")]
    use super::super::wide::{Doubles, Words};
    use super::*;
    #[cfg(target_arch = "x86_64")]
    use crate::simd::Avx2;
    use crate::simd::Plain;

    fn check<W: Wide>(simd: W::Simd, distances: &[W::Cell])
    where
        W::Cell: std::fmt::Debug,
    {
        let mut sorted = distances.to_vec();
        sorted.sort_by(W::Cell::by_size);
        let mut candidates = sorted.clone();
        let mut blocks = distances.to_vec();
        blocks.resize(padded(distances.len()), W::Cell::MOST);
        candidates.resize(blocks.len(), W::Cell::ZERO);
        for which in [1, 2, 7, distances.len() / 5 + 1, distances.len() - 1, distances.len()] {
            let wanted = sorted[which - 1];
            let count = sorted.iter().filter(|&&d| d <= wanted).count();
            for bound in [wanted, wanted.grown(1.3), sorted[distances.len() - 1], W::Cell::MOST] {
                let within = count_within::<W>(simd, &blocks, bound);
                let found = select::<W>(simd, &blocks, which, bound, within, &mut candidates);
                assert_eq!(found, (wanted, count), "number {which} of {}", distances.len());
            }
        }
    }

    #[test]
    fn selection_finds_what_sorting_finds() {
        let words = |n: u64, range: u64| {
            (0..n).map(move |i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (i << 17)) % range).collect::<Vec<u64>>()
        };
        for (n, range) in [(9, 5), (100, 3), (100, 100_000), (5000, 60_000), (5000, 2), (3000, 1), (65_000, 65_000)] {
            let distances = words(n, range);
            let words: Vec<u16> = distances.iter().map(|&d| d as u16).collect();
            let even: Vec<f64> = distances.iter().map(|&d| d as f64 * 1e-3).collect();
            let skewed: Vec<f64> = distances.iter().map(|&d| (d as f64).exp().min(1e300)).collect();
            check::<Portable<u16>>(Plain, &words);
            check::<Portable<f64>>(Plain, &even);
            check::<Portable<f64>>(Plain, &skewed);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = Avx2::detect() {
                check::<Words>(simd, &words);
                check::<Doubles>(simd, &even);
                check::<Doubles>(simd, &skewed);
            }
        }
    }
}
