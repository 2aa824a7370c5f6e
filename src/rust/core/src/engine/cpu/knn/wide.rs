//! Many distances at once.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::cell::Cell;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::Plain;

/// A cell that a register holds many times.
pub(super) trait Packed: Cell {
    /// The registers for any machine.
    type Plain: Wide<Cell = Self, Simd = Plain>;
    /// The registers of AVX2.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Wide<Cell = Self, Simd = Avx2>;
}

impl Packed for u16 {
    type Plain = Portable<u16>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = Words;
}

impl Packed for f64 {
    type Plain = Portable<f64>;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = Doubles;
}

/// A machine with its kind of registers.
pub(super) trait Machine<C>: Copy {
    type Wide: Wide<Cell = C, Simd = Self>;
}

impl<C: Packed> Machine<C> for Plain {
    type Wide = C::Plain;
}

#[cfg(target_arch = "x86_64")]
impl<C: Packed> Machine<C> for Avx2 {
    type Wide = C::Avx2;
}

/// Distances in registers of a machine that is known to have them. In a mask, the lanes that are not set are 0.
pub(super) trait Wide: Copy {
    type Cell: Cell;
    type Simd: Copy;
    const LANES: usize;

    fn none(simd: Self::Simd) -> Self;
    fn splat(simd: Self::Simd, value: Self::Cell) -> Self;
    /// Loads the lanes from at least [`Wide::LANES`] cells; `store` needs as many.
    fn load(simd: Self::Simd, from: &[Self::Cell]) -> Self;
    fn store(self, to: &mut [Self::Cell]);
    /// Returns |a - b|.
    fn apart(self, other: Self) -> Self;
    fn larger(self, other: Self) -> Self;
    /// Returns zero where they are equal, `mismatch` elsewhere.
    fn differ(self, other: Self, mismatch: Self) -> Self;
    /// Returns a mask of the lanes that are not above the bound.
    fn not_above(self, bound: Self) -> Self;
    /// Sets the lanes outside a mask to zero.
    fn keep(self, mask: Self) -> Self;
    /// Adds one to the counts where the mask is set. Counts are not distances: see [`Wide::total`].
    fn tally(self, mask: Self) -> Self;
    /// Returns the sum of counts.
    fn total(self) -> usize;
    /// Returns the largest lane.
    fn largest(self) -> Self::Cell;

    /// Returns the distance in a column, discrete or not.
    #[inline(always)]
    fn distance<const DISCRETE: bool>(self, other: Self, mismatch: Self) -> Self {
        if DISCRETE {
            self.differ(other, mismatch)
        } else {
            self.apart(other)
        }
    }
}

/// Distances for any machine.
#[derive(Clone, Copy)]
pub(super) struct Portable<C>([C; 8]);

macro_rules! portable {
    ($cell:ty, $set:expr, $is_set:expr, $as_count:expr, $as_cell:expr) => {
        impl Wide for Portable<$cell> {
            type Cell = $cell;
            type Simd = Plain;
            const LANES: usize = 8;

            #[inline(always)]
            fn none(_: Plain) -> Self {
                Portable([<$cell>::ZERO; 8])
            }

            #[inline(always)]
            fn splat(_: Plain, value: $cell) -> Self {
                Portable([value; 8])
            }

            #[inline(always)]
            fn load(_: Plain, from: &[$cell]) -> Self {
                let mut lanes = [<$cell>::ZERO; 8];
                lanes.copy_from_slice(&from[..8]);
                Portable(lanes)
            }

            #[inline(always)]
            fn store(self, to: &mut [$cell]) {
                to[..8].copy_from_slice(&self.0);
            }

            #[inline(always)]
            fn apart(self, other: Self) -> Self {
                Portable(std::array::from_fn(|i| self.0[i].apart(other.0[i])))
            }

            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                Portable(std::array::from_fn(|i| self.0[i].larger(other.0[i])))
            }

            #[inline(always)]
            fn differ(self, other: Self, mismatch: Self) -> Self {
                let distance = |i: usize| if self.0[i] == other.0[i] { <$cell>::ZERO } else { mismatch.0[i] };
                Portable(std::array::from_fn(distance))
            }

            #[inline(always)]
            fn not_above(self, bound: Self) -> Self {
                Portable(std::array::from_fn(|i| if self.0[i] <= bound.0[i] { $set } else { <$cell>::ZERO }))
            }

            #[inline(always)]
            fn keep(self, mask: Self) -> Self {
                Portable(std::array::from_fn(|i| if $is_set(mask.0[i]) { self.0[i] } else { <$cell>::ZERO }))
            }

            #[inline(always)]
            fn tally(self, mask: Self) -> Self {
                Portable(std::array::from_fn(|i| $as_cell($as_count(self.0[i]) + u64::from($is_set(mask.0[i])))))
            }

            #[inline(always)]
            fn total(self) -> usize {
                self.0.iter().map(|&count| $as_count(count)).sum::<u64>() as usize
            }

            #[inline(always)]
            fn largest(self) -> $cell {
                self.0.iter().fold(<$cell>::ZERO, |largest, &value| value.larger(largest))
            }
        }
    };
}

portable!(u16, u16::MAX, |m: u16| m != 0, u64::from, |count: u64| count as u16);
portable!(f64, 1.0, |m: f64| m != 0.0, |count: f64| count as u64, |count: u64| count as f64);

/// Sixteen whole numbers. Both this and [`Doubles`] are made with [`Avx2`], and their functions below need nothing else.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Words(__m256i);

/// Four doubles. Counts are whole numbers in the same bits.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Doubles(__m256d);

// SAFETY (of all blocks in both): each value is made with an `Avx2`, so the machine has AVX2. Loads and stores need no alignment, and the slices
// are as long as asserted.
#[cfg(target_arch = "x86_64")]
impl Wide for Words {
    type Cell = u16;
    type Simd = Avx2;
    const LANES: usize = 16;

    #[inline(always)]
    fn none(_: Avx2) -> Self {
        Words(unsafe { _mm256_setzero_si256() })
    }

    #[inline(always)]
    fn splat(_: Avx2, value: u16) -> Self {
        Words(unsafe { _mm256_set1_epi16(value as i16) })
    }

    #[inline(always)]
    fn load(_: Avx2, from: &[u16]) -> Self {
        assert!(from.len() >= Self::LANES);
        Words(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, to: &mut [u16]) {
        assert!(to.len() >= Self::LANES);
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn apart(self, other: Self) -> Self {
        // One of the saturated differences is 0.
        Words(unsafe { _mm256_or_si256(_mm256_subs_epu16(self.0, other.0), _mm256_subs_epu16(other.0, self.0)) })
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Words(unsafe { _mm256_max_epu16(self.0, other.0) })
    }

    #[inline(always)]
    fn differ(self, other: Self, mismatch: Self) -> Self {
        Words(unsafe { _mm256_andnot_si256(_mm256_cmpeq_epi16(self.0, other.0), mismatch.0) })
    }

    #[inline(always)]
    fn not_above(self, bound: Self) -> Self {
        Words(unsafe { _mm256_cmpeq_epi16(_mm256_min_epu16(self.0, bound.0), self.0) })
    }

    #[inline(always)]
    fn keep(self, mask: Self) -> Self {
        Words(unsafe { _mm256_and_si256(self.0, mask.0) })
    }

    #[inline(always)]
    fn tally(self, mask: Self) -> Self {
        // A mask is -1.
        Words(unsafe { _mm256_sub_epi16(self.0, mask.0) })
    }

    #[inline(always)]
    fn total(self) -> usize {
        unsafe {
            let low = _mm256_and_si256(self.0, _mm256_set1_epi32(0xFFFF));
            let pairs = _mm256_add_epi32(low, _mm256_srli_epi32(self.0, 16));
            let four = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
            let two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0b00_00_11_10));
            _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 1))) as usize
        }
    }

    #[inline(always)]
    fn largest(self) -> u16 {
        unsafe {
            let eight = _mm_max_epu16(_mm256_castsi256_si128(self.0), _mm256_extracti128_si256(self.0, 1));
            // The only such instruction finds the smallest.
            let flipped = _mm_xor_si128(eight, _mm_set1_epi16(-1));
            !(_mm_extract_epi16(_mm_minpos_epu16(flipped), 0) as u16)
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Wide for Doubles {
    type Cell = f64;
    type Simd = Avx2;
    const LANES: usize = 4;

    #[inline(always)]
    fn none(_: Avx2) -> Self {
        Doubles(unsafe { _mm256_setzero_pd() })
    }

    #[inline(always)]
    fn splat(_: Avx2, value: f64) -> Self {
        Doubles(unsafe { _mm256_set1_pd(value) })
    }

    #[inline(always)]
    fn load(_: Avx2, from: &[f64]) -> Self {
        assert!(from.len() >= Self::LANES);
        Doubles(unsafe { _mm256_loadu_pd(from.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        assert!(to.len() >= Self::LANES);
        unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn apart(self, other: Self) -> Self {
        Doubles(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(self.0, other.0)) })
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Doubles(unsafe { _mm256_max_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn differ(self, other: Self, mismatch: Self) -> Self {
        Doubles(unsafe { _mm256_andnot_pd(_mm256_cmp_pd(self.0, other.0, _CMP_EQ_OQ), mismatch.0) })
    }

    #[inline(always)]
    fn not_above(self, bound: Self) -> Self {
        Doubles(unsafe { _mm256_cmp_pd(self.0, bound.0, _CMP_LE_OQ) })
    }

    #[inline(always)]
    fn keep(self, mask: Self) -> Self {
        Doubles(unsafe { _mm256_and_pd(self.0, mask.0) })
    }

    #[inline(always)]
    fn tally(self, mask: Self) -> Self {
        unsafe {
            let counts = _mm256_sub_epi64(_mm256_castpd_si256(self.0), _mm256_castpd_si256(mask.0));
            Doubles(_mm256_castsi256_pd(counts))
        }
    }

    #[inline(always)]
    fn total(self) -> usize {
        unsafe {
            let counts = _mm256_castpd_si256(self.0);
            let two = _mm_add_epi64(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1));
            (_mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1)) as usize
        }
    }

    #[inline(always)]
    fn largest(self) -> f64 {
        unsafe {
            let two = _mm_max_pd(_mm256_castpd256_pd128(self.0), _mm256_extractf128_pd(self.0, 1));
            _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)))
        }
    }
}
