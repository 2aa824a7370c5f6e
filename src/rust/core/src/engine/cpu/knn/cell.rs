//! Distances as the machine holds them, whole numbers in 16 bits or doubles, and the loops over them that matter.

use super::wide::{Avx2Doubles, Avx2Words, Portable, Wide};

/// A value of a column, or a distance.
pub(super) trait Cell: Copy + PartialOrd + Send + Sync + 'static {
    /// Many of them, on any machine.
    type Plain: Wide<Cell = Self>;
    /// Many of them, where there is AVX2.
    type Avx2: Wide<Cell = Self>;
    const ZERO: Self;
    /// No distance is larger.
    const MOST: Self;

    /// |a - b|.
    fn apart(self, other: Self) -> Self;
    fn larger(self, other: Self) -> Self;
    fn to_f64(self) -> f64;
    /// The largest distance that is not above this one.
    fn floor_of(radius: f64) -> Self;
    /// A distance strictly between two, about this far up; `low` may be below all. `None` where there is none.
    fn between(low: Option<Self>, high: Self, fraction: f64) -> Option<Self>;
    /// Somewhat more than this, by a factor of at least 1.
    fn grown(self, factor: f64) -> Self;
    fn by_size(a: &Self, b: &Self) -> std::cmp::Ordering;

    /// The distance in a column, discrete or not.
    #[inline(always)]
    fn distance<const DISCRETE: bool>(self, other: Self, mismatch: Self) -> Self {
        if DISCRETE {
            if self == other {
                Self::ZERO
            } else {
                mismatch
            }
        } else {
            self.apart(other)
        }
    }
}

/// Places of a block: a multiple of the lanes of either loop.
pub(super) const BLOCK: usize = 32;

/// The next multiple of [`BLOCK`].
pub(super) fn padded(n: usize) -> usize {
    n.next_multiple_of(BLOCK)
}

/// Writes max(`of_y`, distance of x) and counts what is not above the bound. Like all loops here, over whole blocks of places.
#[inline(always)]
pub(super) fn fill_joint<W: Wide, const DISCRETE: bool>(
    of_y: &[W::Cell],
    x: &[W::Cell],
    own: W::Cell,
    mismatch: W::Cell,
    bound: W::Cell,
    joint: &mut [W::Cell],
) -> usize {
    let (own, mismatch, bound) = (W::splat(own), W::splat(mismatch), W::splat(bound));
    let mut tally = W::none();
    let blocks = joint.chunks_exact_mut(W::LANES).zip(of_y.chunks_exact(W::LANES)).zip(x.chunks_exact(W::LANES));
    for ((joint, of_y), x) in blocks {
        let distance = W::load(x).distance::<DISCRETE>(own, mismatch).larger(W::load(of_y));
        distance.store(joint);
        tally = tally.tally(distance.not_above(bound));
    }
    tally.total()
}

/// Counts where both the distance in S and that of x are not above a bound.
#[inline(always)]
pub(super) fn count_both<W: Wide, const DISCRETE: bool>(
    of_s: &[W::Cell],
    x: &[W::Cell],
    own: W::Cell,
    mismatch: W::Cell,
    bound: W::Cell,
) -> usize {
    let (own, mismatch, bound) = (W::splat(own), W::splat(mismatch), W::splat(bound));
    let mut tally = W::none();
    for (of_s, x) in of_s.chunks_exact(W::LANES).zip(x.chunks_exact(W::LANES)) {
        let distance = W::load(x).distance::<DISCRETE>(own, mismatch).larger(W::load(of_s));
        tally = tally.tally(distance.not_above(bound));
    }
    tally.total()
}

/// How many of these are not above a bound.
#[inline(always)]
pub(super) fn count_within<W: Wide>(distances: &[W::Cell], bound: W::Cell) -> usize {
    let bound = W::splat(bound);
    let mut tally = W::none();
    for distances in distances.chunks_exact(W::LANES) {
        tally = tally.tally(W::load(distances).not_above(bound));
    }
    tally.total()
}

/// The largest of those that are not above a bound; zero where there is none.
#[inline(always)]
fn largest_within<W: Wide>(distances: &[W::Cell], bound: W::Cell) -> W::Cell {
    let bound = W::splat(bound);
    let mut largest = W::none();
    for distances in distances.chunks_exact(W::LANES) {
        let distances = W::load(distances);
        largest = distances.keep(distances.not_above(bound)).larger(largest);
    }
    largest.largest()
}

/// How many of these are below a bound.
#[inline(always)]
fn count_below<W: Wide>(distances: &[W::Cell], bound: W::Cell) -> usize {
    let bound = W::splat(bound);
    let mut tally = W::none();
    for distances in distances.chunks_exact(W::LANES) {
        tally = tally.tally(bound.not_above(W::load(distances)));
    }
    distances.len() - tally.total()
}

/// Writes the distances from a value to others, or where they are larger what stands there.
#[inline(always)]
pub(super) fn raise<W: Wide, const DISCRETE: bool>(
    values: &[W::Cell],
    own: W::Cell,
    mismatch: W::Cell,
    distances: &mut [W::Cell],
) {
    let (own, mismatch) = (W::splat(own), W::splat(mismatch));
    for (distances, values) in distances.chunks_exact_mut(W::LANES).zip(values.chunks_exact(W::LANES)) {
        W::load(values).distance::<DISCRETE>(own, mismatch).larger(W::load(distances)).store(distances);
    }
}

impl Cell for u16 {
    type Plain = Portable<u16>;
    type Avx2 = Avx2Words;

    const ZERO: Self = 0;
    const MOST: Self = u16::MAX;

    #[inline(always)]
    fn apart(self, other: Self) -> Self {
        self.abs_diff(other)
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.max(other)
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn floor_of(radius: f64) -> Self {
        // A cast cuts off what is behind the point, and stays within the type.
        radius as u16
    }

    #[inline(always)]
    fn between(low: Option<Self>, high: Self, fraction: f64) -> Option<Self> {
        let (low, high) = (low.map_or(-1, i32::from), i32::from(high));
        let at = low + (f64::from(high - low) * fraction) as i32;
        (high - low > 1).then(|| at.clamp(low + 1, high - 1) as u16)
    }

    #[inline(always)]
    fn grown(self, factor: f64) -> Self {
        (f64::from(self) * factor) as u16 + u16::from(self < u16::MAX - 1 && f64::from(self) * factor < 60_000.0)
    }

    #[inline(always)]
    fn by_size(a: &Self, b: &Self) -> std::cmp::Ordering {
        a.cmp(b)
    }
}

impl Cell for f64 {
    type Plain = Portable<f64>;
    type Avx2 = Avx2Doubles;

    const ZERO: Self = 0.0;
    const MOST: Self = f64::INFINITY;

    #[inline(always)]
    fn apart(self, other: Self) -> Self {
        (self - other).abs()
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if self > other {
            self
        } else {
            other
        }
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn floor_of(radius: f64) -> Self {
        radius
    }

    #[inline(always)]
    fn between(low: Option<Self>, high: Self, fraction: f64) -> Option<Self> {
        let low = low.unwrap_or(0.0);
        let at = low + (high - low) * fraction;
        (at > low && at < high && at < f64::MAX).then_some(at)
    }

    #[inline(always)]
    fn grown(self, factor: f64) -> Self {
        self * factor
    }

    #[inline(always)]
    fn by_size(a: &Self, b: &Self) -> std::cmp::Ordering {
        a.total_cmp(b)
    }
}

/// The `which`-th smallest distance, counted from 1, and how many are not above it. `within` of them are not above `bound`, at
/// least `which`. All are whole blocks; `candidates` must be as long as `distances`.
#[inline(always)]
pub(super) fn select<W: Wide>(
    distances: &[W::Cell],
    which: usize,
    bound: W::Cell,
    within: usize,
    candidates: &mut [W::Cell],
) -> (W::Cell, usize) {
    /// Steps after which those that are left are looked at one by one.
    const STEPS: usize = 16;
    let (mut low, mut below) = (None, 0);
    let (mut high, mut up_to) = (bound, within);
    for step in 0..STEPS {
        if up_to == which {
            return (largest_within::<W>(distances, high), which);
        }
        if step % 3 == 1 {
            // Where many are equal, no bound has `which` of them within it.
            let largest = largest_within::<W>(distances, high);
            if count_below::<W>(distances, largest) < which {
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
        let count = count_within::<W>(distances, middle);
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
    use super::*;

    fn check<W: Wide>(distances: &[W::Cell])
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
                let within = count_within::<W>(&blocks, bound);
                let found = select::<W>(&blocks, which, bound, within, &mut candidates);
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
            check::<Portable<u16>>(&words);
            check::<Portable<f64>>(&even);
            check::<Portable<f64>>(&skewed);
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                check::<Avx2Words>(&words);
                check::<Avx2Doubles>(&even);
                check::<Avx2Doubles>(&skewed);
            }
        }
    }
}
