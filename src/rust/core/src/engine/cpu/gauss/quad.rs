//! Four doubles at once.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256d, _mm256_and_pd, _mm256_cmp_pd, _mm256_div_pd, _mm256_loadu_pd, _mm256_min_pd, _mm256_movemask_pd,
    _mm256_mul_pd, _mm256_set1_pd, _mm256_storeu_pd, _mm256_sub_pd, _CMP_GT_OQ,
};

#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::Plain;

/// Four doubles in memory.
pub(super) type Four = [f64; 4];

/// A machine with its kind of registers.
pub(super) trait Machine: Copy {
    type Quad: Quad<Simd = Self>;
}

impl Machine for Plain {
    type Quad = Portable;
}

#[cfg(target_arch = "x86_64")]
impl Machine for Avx2 {
    type Quad = Wide;
}

/// Four doubles in registers of a machine that is known to have them.
pub(super) trait Quad: Copy {
    type Simd: Copy;

    fn splat(simd: Self::Simd, value: f64) -> Self;
    fn load(simd: Self::Simd, from: &Four) -> Self;
    fn store(self, to: &mut Four);
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// Returns `self` in each lane where it is smaller, else `other`, also for NaN.
    fn min(self, other: Self) -> Self;
    /// Returns four bits: whether `self` is larger in each lane (never for NaN).
    fn above(self, other: Self) -> u64;
    /// Returns four bits: whether the first of each pair is larger than the second, in all four pairs.
    fn all_above(pairs: [(Self, Self); 4]) -> u64;
}

/// Four doubles for any machine.
#[derive(Clone, Copy)]
pub(super) struct Portable(Four);

impl Quad for Portable {
    type Simd = Plain;

    #[inline(always)]
    fn splat(_: Plain, value: f64) -> Self {
        Portable([value; 4])
    }

    #[inline(always)]
    fn load(_: Plain, from: &Four) -> Self {
        Portable(*from)
    }

    #[inline(always)]
    fn store(self, to: &mut Four) {
        *to = self.0;
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Portable(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Portable(std::array::from_fn(|i| self.0[i] * other.0[i]))
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Portable(std::array::from_fn(|i| self.0[i] / other.0[i]))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Portable(std::array::from_fn(|i| if self.0[i] < other.0[i] { self.0[i] } else { other.0[i] }))
    }

    #[inline(always)]
    fn above(self, other: Self) -> u64 {
        (0..4).fold(0, |bits, i| bits | u64::from(self.0[i] > other.0[i]) << i)
    }

    #[inline(always)]
    fn all_above(pairs: [(Self, Self); 4]) -> u64 {
        pairs.into_iter().fold(15, |bits, (this, other)| bits & this.above(other))
    }
}

/// Four doubles with [`Avx2`]: the functions below need nothing else.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Wide(__m256d);

// SAFETY of all: a `Wide` is made only with an `Avx2`, so the machine has AVX2. The memory is that of the references.
#[cfg(target_arch = "x86_64")]
impl Quad for Wide {
    type Simd = Avx2;

    #[inline(always)]
    fn splat(_: Avx2, value: f64) -> Self {
        Wide(unsafe { _mm256_set1_pd(value) })
    }

    #[inline(always)]
    fn load(_: Avx2, from: &Four) -> Self {
        Wide(unsafe { _mm256_loadu_pd(from.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, to: &mut Four) {
        unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Wide(unsafe { _mm256_sub_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Wide(unsafe { _mm256_mul_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Wide(unsafe { _mm256_div_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Wide(unsafe { _mm256_min_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn above(self, other: Self) -> u64 {
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0)) as u64 }
    }

    #[inline(always)]
    fn all_above([(a, b), (c, d), (e, f), (g, h)]: [(Self, Self); 4]) -> u64 {
        unsafe {
            let two = _mm256_and_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(a.0, b.0), _mm256_cmp_pd::<_CMP_GT_OQ>(c.0, d.0));
            let more = _mm256_and_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(e.0, f.0), _mm256_cmp_pd::<_CMP_GT_OQ>(g.0, h.0));
            _mm256_movemask_pd(_mm256_and_pd(two, more)) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results<Q: Quad>(simd: Q::Simd, a: Four, b: Four) -> ([Four; 4], [u64; 2]) {
        let [a_four, b_four] = [Q::load(simd, &a), Q::load(simd, &b)];
        let mut found = [[0.0; 4]; 4];
        a_four.sub(b_four).store(&mut found[0]);
        a_four.mul(Q::splat(simd, b[0])).store(&mut found[1]);
        a_four.div(b_four).store(&mut found[2]);
        a_four.min(b_four).store(&mut found[3]);
        let [none, most] = [0.0, 1.0].map(|value| Q::splat(simd, value));
        let both = Q::all_above([(a_four, b_four), (a_four, none), (most, none), (most, a_four)]);
        (found, [a_four.above(b_four), both])
    }

    #[test]
    fn all_registers_give_the_plain_results() {
        let (a, b) = ([1.5, -2.0, f64::NAN, 0.3], [0.1, -2.0, 1.0, -0.7]);
        let ([difference, product, quotient, least], above) = results::<Portable>(Plain, a, b);
        assert_eq!((difference[0], difference[3], above), (1.5 - 0.1, 0.3 + 0.7, [0b1001, 0b1000]));
        assert_eq!((quotient[1], least), (1.0, [0.1, -2.0, 1.0, -0.7]));
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = Avx2::detect() {
            let fast = results::<Wide>(simd, a, b);
            let bits = |four: Four| four.map(|v| if v.is_nan() { 0 } else { v.to_bits() });
            assert_eq!((fast.0.map(bits), fast.1), ([difference, product, quotient, least].map(bits), above));
        }
    }
}
