//! Counting the bits that planes have in common, in the widest registers of the machine.

/// The instructions that this machine uses to intersect planes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// AVX2 and POPCNT. Proof that the machine has them: only `detect` makes it.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512F and VPOPCNTDQ. Proof that the machine has them: only `detect` makes it.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The number of words in an AVX-512 register. Fewer words are processed one by one.
#[cfg(target_arch = "x86_64")]
const WIDE: usize = 8;

impl Default for Bits {
    fn default() -> Self {
        Bits(Kind::detect())
    }
}

impl Kind {
    #[cfg(target_arch = "x86_64")]
    fn detect() -> Self {
        use std::arch::is_x86_feature_detected as has;
        match has!("avx2") && has!("popcnt") {
            true if has!("avx512f") && has!("avx512vpopcntdq") => Kind::Avx512,
            true => Kind::Avx2,
            false => Kind::Plain,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detect() -> Self {
        Kind::Plain
    }
}

impl Bits {
    /// Returns the approximate nanoseconds for counting the common bits of a plane and a mask of this many words.
    pub fn cost(self, words: f64) -> f64 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 if words >= WIDE as f64 => 5.0 + 0.08 * words,
            _ => 0.4 * words,
        }
    }

    /// Writes `a & b` to `out`, and returns the number of bits set. All three must have the same length.
    #[inline]
    pub fn intersect(self, a: &[u64], b: &[u64], out: &mut [u64]) -> u32 {
        match self.0 {
            Kind::Plain => intersect(a, b, out),
            // SAFETY: `detect` found the instructions.
            #[cfg(target_arch = "x86_64")]
            _ if self.0 == Kind::Avx2 || a.len() < WIDE => unsafe { x86::intersect_avx2(a, b, out) },
            // SAFETY: as above, and the slices have at least `words` words.
            #[cfg(target_arch = "x86_64")]
            _ => {
                let words = a.len().min(b.len()).min(out.len());
                unsafe { x86::intersect_avx512(a.as_ptr(), b.as_ptr(), out.as_mut_ptr(), words) }
            }
        }
    }

    /// Writes to `counts` how many bits the mask has in common with each plane. All must have the same length.
    #[inline]
    pub fn count_common(self, mask: &[u64], planes: &[&[u64]], counts: &mut [u32]) {
        match self.0 {
            Kind::Plain => count_common(mask, planes, counts),
            // SAFETY: `detect` found the instructions.
            #[cfg(target_arch = "x86_64")]
            _ if self.0 == Kind::Avx2 || mask.len() < WIDE => unsafe { x86::count_common_avx2(mask, planes, counts) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            _ => unsafe { x86::count_common_avx512(mask, planes, counts) },
        }
    }
}

/// Returns a bit for each of 64 bytes, set if the byte equals `this`. The bytes must be below 128; the first has the lowest bit.
#[inline]
pub(super) fn which(bytes: &[u8], this: u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
        // SAFETY: every x86-64 machine has SSE2, and the read covers exactly the sixteen bytes.
        let same = |bytes: &[u8]| unsafe {
            let bytes = _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>());
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(this as i8))) as u16
        };
        bytes.chunks_exact(16).enumerate().fold(0, |word, (at, bytes)| word | u64::from(same(bytes)) << (16 * at))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let eight = |bytes: &[u8]| bytes.try_into().map_or(u64::MAX >> 1, u64::from_le_bytes);
        bytes
            .chunks_exact(8)
            .enumerate()
            .fold(0, |word, (at, bytes)| word | which_of_eight(eight(bytes), this) << (8 * at))
    }
}

/// Returns [`which`] for eight bytes.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn which_of_eight(bytes: u64, this: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // 128 minus the difference keeps a byte's highest bit if there is no difference.
    let same = (128 * ONES - (bytes ^ (u64::from(this) * ONES))) >> 7 & ONES;
    // Moves bit 0 of byte i to bit 56 + i.
    same.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[inline(always)]
fn intersect(a: &[u64], b: &[u64], out: &mut [u64]) -> u32 {
    let mut sum = 0u64;
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a & b;
        sum += u64::from(out.count_ones());
    }
    sum as u32
}

#[inline(always)]
fn count_common(mask: &[u64], planes: &[&[u64]], counts: &mut [u32]) {
    for (plane, count) in planes.iter().zip(counts) {
        *count = mask.iter().zip(*plane).map(|(a, b)| u64::from((a & b).count_ones())).sum::<u64>() as u32;
    }
}

/// Rust has had intrinsics for AVX-512 since 1.89, which is newer than our minimum. So the instructions are written out.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::asm;

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) unsafe fn intersect_avx2(a: &[u64], b: &[u64], out: &mut [u64]) -> u32 {
        super::intersect(a, b, out)
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) unsafe fn count_common_avx2(mask: &[u64], planes: &[&[u64]], counts: &mut [u32]) {
        super::count_common(mask, planes, counts);
    }

    /// Returns the number of bytes in whole registers of 8 words, and a mask with a bit for each remaining word.
    #[inline(always)]
    fn parts(words: usize) -> (usize, u32) {
        (words / 8 * 64, (1 << (words % 8)) - 1)
    }

    /// # Safety
    /// The machine must have AVX-512F and VPOPCNTDQ. `words` words must be readable at `a` and `b`, and writable at `out`.
    pub(super) unsafe fn intersect_avx512(a: *const u64, b: *const u64, out: *mut u64, words: usize) -> u32 {
        let (whole, rest) = parts(words);
        let sum: u64;
        asm!(
            "vpxor xmm0, xmm0, xmm0",
            "xor {at:e}, {at:e}",
            "test {whole}, {whole}",
            "jz 3f",
            "2:",
            "vmovdqu64 zmm1, [{a} + {at}]",
            "vpandq zmm1, zmm1, [{b} + {at}]",
            "vmovdqu64 [{out} + {at}], zmm1",
            "vpopcntq zmm1, zmm1",
            "vpaddq zmm0, zmm0, zmm1",
            "add {at}, 64",
            "cmp {at}, {whole}",
            "jb 2b",
            "3:",
            "test {rest:e}, {rest:e}",
            "jz 4f",
            "kmovw k1, {rest:e}",
            "vmovdqu64 zmm1{{k1}}{{z}}, [{a} + {at}]",
            "vpandq zmm1{{k1}}{{z}}, zmm1, [{b} + {at}]",
            "vmovdqu64 [{out} + {at}]{{k1}}, zmm1",
            "vpopcntq zmm1, zmm1",
            "vpaddq zmm0, zmm0, zmm1",
            "4:",
            "vextracti64x4 ymm1, zmm0, 1",
            "vpaddq ymm0, ymm0, ymm1",
            "vextracti128 xmm1, ymm0, 1",
            "vpaddq xmm0, xmm0, xmm1",
            "vpsrldq xmm1, xmm0, 8",
            "vpaddq xmm0, xmm0, xmm1",
            "vmovq {sum}, xmm0",
            "vzeroupper",
            a = in(reg) a,
            b = in(reg) b,
            out = in(reg) out,
            whole = in(reg) whole,
            rest = in(reg) rest,
            at = out(reg) _,
            sum = out(reg) sum,
            out("zmm0") _, out("zmm1") _, out("k1") _,
            options(nostack),
        );
        sum as u32
    }

    /// # Safety
    /// The machine must have AVX-512F and VPOPCNTDQ.
    pub(super) unsafe fn count_common_avx512(mask: &[u64], planes: &[&[u64]], counts: &mut [u32]) {
        for (planes, counts) in planes.chunks(4).zip(counts.chunks_mut(4)) {
            let words = planes.iter().map(|plane| plane.len()).fold(mask.len(), usize::min);
            // If there are fewer than four planes, the last one is counted again.
            let at = |plane: usize| planes[plane.min(planes.len() - 1)].as_ptr();
            let mut found = [0u64; 4];
            match planes.len() {
                1 | 2 => count_two(mask.as_ptr(), [at(0), at(1)], words, &mut found),
                _ => count_four(mask.as_ptr(), [at(0), at(1), at(2), at(3)], words, &mut found),
            }
            counts.iter_mut().zip(found).for_each(|(count, found)| *count = found as u32);
        }
    }

    /// # Safety
    /// The machine must have AVX-512F and VPOPCNTDQ. `words` words must be readable at `mask` and at each plane.
    unsafe fn count_four(mask: *const u64, planes: [*const u64; 4], words: usize, counts: &mut [u64; 4]) {
        let (whole, rest) = parts(words);
        asm!(
            "vpxor xmm0, xmm0, xmm0",
            "vpxor xmm1, xmm1, xmm1",
            "vpxor xmm2, xmm2, xmm2",
            "vpxor xmm3, xmm3, xmm3",
            "xor {at:e}, {at:e}",
            "test {whole}, {whole}",
            "jz 3f",
            "2:",
            "vmovdqu64 zmm4, [{mask} + {at}]",
            "vpandq zmm5, zmm4, [{a} + {at}]",
            "vpandq zmm6, zmm4, [{b} + {at}]",
            "vpandq zmm7, zmm4, [{c} + {at}]",
            "vpandq zmm4, zmm4, [{d} + {at}]",
            "vpopcntq zmm5, zmm5",
            "vpopcntq zmm6, zmm6",
            "vpopcntq zmm7, zmm7",
            "vpopcntq zmm4, zmm4",
            "vpaddq zmm0, zmm0, zmm5",
            "vpaddq zmm1, zmm1, zmm6",
            "vpaddq zmm2, zmm2, zmm7",
            "vpaddq zmm3, zmm3, zmm4",
            "add {at}, 64",
            "cmp {at}, {whole}",
            "jb 2b",
            "3:",
            "test {rest:e}, {rest:e}",
            "jz 4f",
            "kmovw k1, {rest:e}",
            "vmovdqu64 zmm4{{k1}}{{z}}, [{mask} + {at}]",
            "vpandq zmm5{{k1}}{{z}}, zmm4, [{a} + {at}]",
            "vpandq zmm6{{k1}}{{z}}, zmm4, [{b} + {at}]",
            "vpandq zmm7{{k1}}{{z}}, zmm4, [{c} + {at}]",
            "vpandq zmm4{{k1}}{{z}}, zmm4, [{d} + {at}]",
            "vpopcntq zmm5, zmm5",
            "vpopcntq zmm6, zmm6",
            "vpopcntq zmm7, zmm7",
            "vpopcntq zmm4, zmm4",
            "vpaddq zmm0, zmm0, zmm5",
            "vpaddq zmm1, zmm1, zmm6",
            "vpaddq zmm2, zmm2, zmm7",
            "vpaddq zmm3, zmm3, zmm4",
            "4:",
            // Sums pairs of words: (a, b, a, b, ...) and (c, d, c, d, ...); then halves and quarters of these.
            "vpunpcklqdq zmm4, zmm0, zmm1",
            "vpunpckhqdq zmm5, zmm0, zmm1",
            "vpunpcklqdq zmm6, zmm2, zmm3",
            "vpunpckhqdq zmm7, zmm2, zmm3",
            "vpaddq zmm4, zmm4, zmm5",
            "vpaddq zmm6, zmm6, zmm7",
            "vextracti64x4 ymm5, zmm4, 1",
            "vextracti64x4 ymm7, zmm6, 1",
            "vpaddq ymm4, ymm4, ymm5",
            "vpaddq ymm6, ymm6, ymm7",
            "vperm2i128 ymm5, ymm4, ymm6, 0x20",
            "vperm2i128 ymm7, ymm4, ymm6, 0x31",
            "vpaddq ymm4, ymm5, ymm7",
            "vmovdqu [{counts}], ymm4",
            "vzeroupper",
            mask = in(reg) mask,
            a = in(reg) planes[0],
            b = in(reg) planes[1],
            c = in(reg) planes[2],
            d = in(reg) planes[3],
            whole = in(reg) whole,
            rest = in(reg) rest,
            counts = in(reg) counts.as_mut_ptr(),
            at = out(reg) _,
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
            out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _, out("k1") _,
            options(nostack),
        );
    }

    /// Counts for two planes, and writes the first two counts. The machine must meet the conditions of `count_four`.
    unsafe fn count_two(mask: *const u64, planes: [*const u64; 2], words: usize, counts: &mut [u64; 4]) {
        let (whole, rest) = parts(words);
        asm!(
            "vpxor xmm0, xmm0, xmm0",
            "vpxor xmm1, xmm1, xmm1",
            "xor {at:e}, {at:e}",
            "test {whole}, {whole}",
            "jz 3f",
            "2:",
            "vmovdqu64 zmm4, [{mask} + {at}]",
            "vpandq zmm5, zmm4, [{a} + {at}]",
            "vpandq zmm4, zmm4, [{b} + {at}]",
            "vpopcntq zmm5, zmm5",
            "vpopcntq zmm4, zmm4",
            "vpaddq zmm0, zmm0, zmm5",
            "vpaddq zmm1, zmm1, zmm4",
            "add {at}, 64",
            "cmp {at}, {whole}",
            "jb 2b",
            "3:",
            "test {rest:e}, {rest:e}",
            "jz 4f",
            "kmovw k1, {rest:e}",
            "vmovdqu64 zmm4{{k1}}{{z}}, [{mask} + {at}]",
            "vpandq zmm5{{k1}}{{z}}, zmm4, [{a} + {at}]",
            "vpandq zmm4{{k1}}{{z}}, zmm4, [{b} + {at}]",
            "vpopcntq zmm5, zmm5",
            "vpopcntq zmm4, zmm4",
            "vpaddq zmm0, zmm0, zmm5",
            "vpaddq zmm1, zmm1, zmm4",
            "4:",
            "vpunpcklqdq zmm4, zmm0, zmm1",
            "vpunpckhqdq zmm5, zmm0, zmm1",
            "vpaddq zmm4, zmm4, zmm5",
            "vextracti64x4 ymm5, zmm4, 1",
            "vpaddq ymm4, ymm4, ymm5",
            "vextracti128 xmm5, ymm4, 1",
            "vpaddq xmm4, xmm4, xmm5",
            "vmovdqu [{counts}], xmm4",
            "vzeroupper",
            mask = in(reg) mask,
            a = in(reg) planes[0],
            b = in(reg) planes[1],
            whole = in(reg) whole,
            rest = in(reg) rest,
            counts = in(reg) counts.as_mut_ptr(),
            at = out(reg) _,
            out("zmm0") _, out("zmm1") _, out("zmm4") _, out("zmm5") _, out("k1") _,
            options(nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every kind that this machine supports.
    fn all() -> Vec<Bits> {
        match Kind::detect() {
            Kind::Plain => vec![Bits(Kind::Plain)],
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => vec![Bits(Kind::Plain), Bits(Kind::Avx2)],
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => vec![Bits(Kind::Plain), Bits(Kind::Avx2), Bits(Kind::Avx512)],
        }
    }

    #[test]
    fn bytes_that_are_one_are_found() {
        let bytes: Vec<u8> = (0..64u64).map(|i| (i * i % 7 * (i % 3)) as u8).collect();
        for this in 0..13 {
            let want = (0..64).filter(|&i| bytes[i] == this).fold(0, |word, i| word | 1u64 << i);
            assert_eq!(which(&bytes, this), want);
            let eight = |at: usize| u64::from_le_bytes(bytes[8 * at..8 * at + 8].try_into().unwrap());
            assert_eq!((0..8).fold(0, |word, at| word | which_of_eight(eight(at), this) << (8 * at)), want);
        }
    }

    #[test]
    fn counts_are_those_of_the_bits_at_every_length() {
        let word = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32);
        let common = |a: &[u64], b: &[u64]| {
            (0..64 * a.len()).filter(|i| a[i / 64] & b[i / 64] & 1 << (i % 64) != 0).count() as u32
        };
        for length in 0..150 {
            let a: Vec<u64> = (0..length).map(|i| word(i + 1)).collect();
            let planes: Vec<Vec<u64>> =
                (0..6).map(|plane| (0..length).map(|i| word(3 * i + 7 + plane) | word(i)).collect()).collect();
            let planes: Vec<&[u64]> = planes.iter().map(|plane| plane.as_slice()).collect();
            let want: Vec<u32> = planes.iter().map(|plane| common(&a, plane)).collect();
            for bits in all() {
                let mut out = vec![0; length as usize];
                assert_eq!(bits.intersect(&a, planes[0], &mut out), want[0], "{bits:?}");
                assert!(out.iter().zip(a.iter().zip(planes[0])).all(|(o, (a, b))| *o == a & b), "{bits:?}");
                for some in 0..=planes.len() {
                    let mut counts = vec![0; some];
                    bits.count_common(&a, &planes[..some], &mut counts);
                    assert_eq!(counts, want[..some], "{bits:?}");
                }
            }
        }
    }
}
