//! Four doubles at once, by the widest registers that a kernel was dispatched for. The results are the same in all: plain
//! IEEE operations, no fused multiply-add.

/// The bit of each lane.
pub(super) const BITS: [u64; 64] = {
    let mut bits = [0; 64];
    let mut i = 0;
    while i < bits.len() {
        bits[i] = 1 << i;
        i += 1;
    }
    bits
};

/// Four doubles in memory.
pub(super) type Four = [f64; 4];

/// Four doubles in registers.
pub(super) trait Quad: Copy {
    fn splat(value: f64) -> Self;
    fn load(from: &Four) -> Self;
    fn store(self, to: &mut Four);
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The lowest four bits: where this is larger (never with NaN).
    fn above(self, other: Self) -> u64;
}

/// For any machine.
#[derive(Clone, Copy)]
pub(super) struct Portable(Four);

impl Quad for Portable {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Portable([value; 4])
    }

    #[inline(always)]
    fn load(from: &Four) -> Self {
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
    fn above(self, other: Self) -> u64 {
        (0..4).fold(0, |bits, i| bits | u64::from(self.0[i] > other.0[i]) << i)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Four, Quad};
    use std::arch::x86_64::{
        __m256d, _mm256_cmp_pd, _mm256_loadu_pd, _mm256_movemask_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_storeu_pd,
        _mm256_sub_pd, _CMP_GT_OQ,
    };

    /// For code that is compiled for AVX2 and runs where there is AVX2: nothing else may use this type.
    #[derive(Clone, Copy)]
    pub struct Avx2(__m256d);

    // SAFETY of all: the machine has AVX2, see the type; memory is that of the references.
    impl Quad for Avx2 {
        #[inline(always)]
        fn splat(value: f64) -> Self {
            Avx2(unsafe { _mm256_set1_pd(value) })
        }

        #[inline(always)]
        fn load(from: &Four) -> Self {
            Avx2(unsafe { _mm256_loadu_pd(from.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut Four) {
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Avx2(unsafe { _mm256_sub_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Avx2(unsafe { _mm256_mul_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn above(self, other: Self) -> u64 {
            unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0)) as u64 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results<Q: Quad>(a: Four, b: Four) -> (Four, Four, u64) {
        let (mut difference, mut product) = ([0.0; 4], [0.0; 4]);
        Q::load(&a).sub(Q::load(&b)).store(&mut difference);
        Q::load(&a).mul(Q::splat(b[0])).store(&mut product);
        (difference, product, Q::load(&a).above(Q::load(&b)))
    }

    #[test]
    fn all_registers_give_the_plain_results() {
        let (a, b) = ([1.5, -2.0, f64::NAN, 0.3], [0.1, -2.0, 1.0, -0.7]);
        let (difference, product, above) = results::<Portable>(a, b);
        assert_eq!((difference[0], difference[3], above), (1.5 - 0.1, 0.3 + 0.7, 0b1001));
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            let fast = results::<Avx2>(a, b);
            let bits = |four: Four| four.map(|v| if v.is_nan() { 0 } else { v.to_bits() });
            assert_eq!((bits(fast.0), bits(fast.1), fast.2), (bits(difference), bits(product), above));
        }
    }
}
