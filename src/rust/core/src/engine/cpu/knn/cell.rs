//! Distances as the machine holds them: whole numbers in 16 bits, or doubles.

/// A value of a column, or a distance.
pub(super) trait Cell: Copy + PartialOrd + Send + Sync + 'static {
    const ZERO: Self;
    /// The largest distance that a cell can hold.
    const MOST: Self;

    /// Returns |a - b|.
    fn apart(self, other: Self) -> Self;
    fn larger(self, other: Self) -> Self;
    fn to_f64(self) -> f64;
    /// Returns the largest distance that is not above `radius`.
    fn floor_of(radius: f64) -> Self;
    /// Returns a distance strictly between two, about this fraction of the way up. `low` is `None` if it is below all distances. Returns `None`
    /// if no distance lies between.
    fn between(low: Option<Self>, high: Self, fraction: f64) -> Option<Self>;
    /// Returns a distance about `factor` times as large; the factor is at least 1.
    fn grown(self, factor: f64) -> Self;
    fn by_size(a: &Self, b: &Self) -> std::cmp::Ordering;

    /// Returns the distance in a column, discrete or not.
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

impl Cell for u16 {
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
        // A cast truncates the fraction, and stays within the type.
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
