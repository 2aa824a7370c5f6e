//! Tests of a pair given one variable each, in single precision ([`coarse`](super::coarse)), with the fastest instructions of each machine.

#[cfg(target_arch = "x86_64")]
use std::arch::{
    asm,
    x86_64::{_mm_prefetch, _MM_HINT_T0},
};

use super::coarse::{Band, Block, Threshold, BLOCK};
use crate::simd::Plain;

#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};

/// The smallest |r| that single precision finds in a block, spread over lanes: bits of floats, infinity if none is asked.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Least([i32; LANES]);

/// Number of lanes to which a block is folded.
const LANES: usize = 16;

/// Bits of infinity.
const NONE: i32 = 0x7f80_0000;

impl Least {
    pub const NONE: Self = Least([NONE; LANES]);

    /// Takes the smaller value of each lane.
    #[inline(always)]
    pub fn lower(&mut self, other: &Least) {
        for (to, &bits) in self.0.iter_mut().zip(&other.0) {
            *to = bits.min(*to);
        }
    }

    #[inline(always)]
    pub fn any_below(&self, threshold: Threshold) -> bool {
        self.0.iter().fold(false, |any, &bits| any | (bits <= threshold.0))
    }

    /// Returns the smallest |r|, or `None` if none was asked.
    #[inline(always)]
    pub fn smallest(&self) -> Option<f64> {
        // Halves, as machines fold registers.
        let mut lanes = self.0;
        for half in [8, 4, 2, 1] {
            for i in 0..half {
                lanes[i] = lanes[i].min(lanes[i + half]);
            }
        }
        (lanes[0] < NONE).then(|| f64::from(f32::from_bits(lanes[0] as u32)))
    }
}

/// The tests of x and y given one variable each, in single precision.
#[derive(Clone, Copy)]
pub(super) struct Tests<'a> {
    pub xy: f32,
    pub of_x: &'a [Block],
    pub of_y: &'a [Block],
    /// The tests that are asked, as bits: one word a block.
    pub words: &'a [u64],
    pub band: Band,
}

/// The operations of a machine on [`Tests`]. The defaults suit most machines that have an implementation of their own.
pub(super) trait Scan: Copy {
    /// Returns a - b c, fused or not, whichever is quicker on the machine.
    #[inline(always)]
    fn less_product(self, a: f32, b: f32, c: f32) -> f32 {
        (-b).mul_add(c, a)
    }

    /// Prefetches memory into the cache.
    #[inline(always)]
    fn fetch(self, at: &f64) {
        fetch(at);
    }

    /// Returns the first block from `from` on with an |r| not above the threshold, or the number of blocks. Writes the smallest |r| of each
    /// block before it to `least`.
    #[inline(always)]
    fn next(self, tests: &Tests, from: usize, threshold: Threshold, least: &mut [Least]) -> usize {
        let end = tests.words.len();
        let blocks = tests.of_x[from..end].iter().zip(&tests.of_y[from..end]);
        for ((w, (of_x, of_y)), least) in (from..end).zip(blocks).zip(&mut least[from..end]) {
            *least = Least::NONE;
            if tests.words[w] != 0 {
                *least = fold(self, tests.xy, of_x, of_y, tests.words[w]);
                if least.any_below(threshold) {
                    return w;
                }
            }
        }
        end
    }
}

/// Returns the smallest |r| of a block, folded to lanes, among the tests whose bit is set in `word`.
#[inline(always)]
pub(super) fn fold<S: Scan>(simd: S, xy: f32, of_x: &Block, of_y: &Block, word: u64) -> Least {
    let mut folded = [NONE; LANES];
    for part in 0..BLOCK / LANES {
        let word = (word >> (LANES * part)) as u32;
        for (i, to) in folded.iter_mut().enumerate() {
            // The bit of the test becomes the sign, by which machines select.
            let asked = ((word << (31 - i)) as i32) < 0;
            let bits = if asked { size(simd, xy, of_x, of_y, LANES * part + i) } else { NONE };
            *to = bits.min(*to);
        }
    }
    Least(folded)
}

/// Returns |r| given a variable of a block, as the bits of the float.
#[inline(always)]
fn size<S: Scan>(simd: S, xy: f32, of_x: &Block, of_y: &Block, i: usize) -> i32 {
    let r = simd.less_product(xy, of_x.r[i], of_y.r[i]) * (of_x.b[i] * of_y.b[i]);
    r.abs().to_bits() as i32
}

/// Returns, as bits, which |r| of a block are asked, lie above `above` if there is one, and not above `threshold`.
#[inline(always)]
pub(super) fn between<S: Scan>(
    simd: S,
    tests: &Tests,
    w: usize,
    above: Option<Threshold>,
    threshold: Threshold,
) -> u64 {
    const HALF: usize = 32;
    let (of_x, of_y) = (&tests.of_x[w], &tests.of_y[w]);
    let above = above.map_or(-1, |above| above.0);
    let mut found = 0;
    for half in [0, HALF] {
        let mut bits = 0u32;
        for i in 0..HALF {
            let size = size(simd, tests.xy, of_x, of_y, half + i);
            bits |= if (size > above) & (size <= threshold.0) { 1 << i } else { 0 };
        }
        found |= u64::from(bits) << half;
    }
    found & tests.words[w]
}

/// Prefetches memory into the cache.
#[inline(always)]
pub(super) fn fetch(at: &f64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `at` is a reference, so its memory may be read.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast())
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

impl Scan for Plain {
    #[inline(always)]
    fn less_product(self, a: f32, b: f32, c: f32) -> f32 {
        a - b * c
    }

    #[inline(always)]
    fn fetch(self, _at: &f64) {}
}

#[cfg(target_arch = "x86_64")]
impl Scan for Avx2 {}

#[cfg(target_arch = "x86_64")]
impl Scan for Avx512 {
    /// Writes out the instructions: the intrinsics of AVX-512 came with Rust 1.89, and we require less.
    #[inline(always)]
    fn next(self, tests: &Tests, from: usize, threshold: Threshold, least: &mut [Least]) -> usize {
        let Tests { xy, of_x, of_y, words, .. } = *tests;
        let end = words.len();
        assert!(of_x.len() == end && of_y.len() == end && least.len() >= end && from <= end);
        let w: usize;
        // SAFETY: an `Avx512` exists only if the machine has AVX-512 F and DQ. The blocks from `from` to `end` are read, and written in `least`;
        // all slices have that many, as asserted.
        unsafe {
            asm!(
                "vbroadcastss zmm0, xmm0",
                "vpbroadcastd zmm1, {threshold:e}",
                "mov {word:e}, 0x7f800000",
                "vpbroadcastd zmm2, {word:e}",
                "cmp {w}, {end}",
                "jae 4f",
                "2:",
                "vmovdqa32 zmm3, zmm2",
                "cmp qword ptr [{words} + 8 * {w}], 0",
                "jz 3f",
                "kmovw k1, word ptr [{words} + 8 * {w}]",
                "kmovw k2, word ptr [{words} + 8 * {w} + 2]",
                "kmovw k3, word ptr [{words} + 8 * {w} + 4]",
                "kmovw k4, word ptr [{words} + 8 * {w} + 6]",
                "vmovaps zmm4, [{x}]",
                "vmovaps zmm5, [{x} + 64]",
                "vmovaps zmm6, [{x} + 128]",
                "vmovaps zmm7, [{x} + 192]",
                // The covariances,
                "vfnmadd132ps zmm4, zmm0, [{y}]",
                "vfnmadd132ps zmm5, zmm0, [{y} + 64]",
                "vfnmadd132ps zmm6, zmm0, [{y} + 128]",
                "vfnmadd132ps zmm7, zmm0, [{y} + 192]",
                // times both b.
                "vmovaps zmm16, [{x} + 256]",
                "vmovaps zmm17, [{x} + 320]",
                "vmovaps zmm18, [{x} + 384]",
                "vmovaps zmm19, [{x} + 448]",
                "vmulps zmm16, zmm16, [{y} + 256]",
                "vmulps zmm17, zmm17, [{y} + 320]",
                "vmulps zmm18, zmm18, [{y} + 384]",
                "vmulps zmm19, zmm19, [{y} + 448]",
                "vmulps zmm4, zmm4, zmm16",
                "vmulps zmm5, zmm5, zmm17",
                "vmulps zmm6, zmm6, zmm18",
                "vmulps zmm7, zmm7, zmm19",
                // The smaller absolute value.
                "vmovdqa32 zmm20, zmm2",
                "vrangeps zmm3{{k1}}, zmm3, zmm4, 10",
                "vrangeps zmm20{{k2}}, zmm20, zmm5, 10",
                "vrangeps zmm3{{k3}}, zmm3, zmm6, 10",
                "vrangeps zmm20{{k4}}, zmm20, zmm7, 10",
                "vpminsd zmm3, zmm3, zmm20",
                "vpcmpled k1, zmm3, zmm1",
                "kortestw k1, k1",
                "jnz 4f",
                "3:",
                "vmovdqa32 [{least}], zmm3",
                "add {x}, 512",
                "add {y}, 512",
                "add {least}, 64",
                "inc {w}",
                "cmp {w}, {end}",
                "jb 2b",
                "4:",
                "vzeroupper",
                x = inout(reg) of_x.as_ptr().add(from) => _,
                y = inout(reg) of_y.as_ptr().add(from) => _,
                words = in(reg) words.as_ptr(),
                least = inout(reg) least.as_mut_ptr().add(from) => _,
                w = inout(reg) from => w,
                end = in(reg) end,
                word = out(reg) _,
                threshold = in(reg) threshold.0,
                inout("xmm0") xy => _,
                out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _, out("xmm8") _,
                out("xmm9") _, out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _, out("zmm20") _,
                out("k1") _, out("k2") _, out("k3") _, out("k4") _,
                options(nostack),
            );
        }
        w
    }
}

#[cfg(test)]
mod tests {
    use super::super::coarse::Row;
    use super::*;

    /// Returns what a machine finds for 200 variables at several thresholds: each block's smallest |r|, its suspects, and those above another
    /// threshold.
    fn found<S: Scan>(simd: S, x: &Row, y: &Row, words: &[u64]) -> Vec<(usize, Option<f64>, [u64; 2])> {
        let mut all = Vec::new();
        for xy in [0.3, -0.7, f32::NAN] {
            let band = Band::new(x, y);
            let tests = Tests { xy, of_x: &x.blocks, of_y: &y.blocks, words, band };
            let thresholds = [0.0, 0.1, 0.2, 0.3, 0.5].map(|r| band.above(r));
            for threshold in thresholds.into_iter().chain([Threshold::ALL]) {
                let mut least = vec![Least::NONE; words.len()];
                let bits = |at| [None, Some(band.above(0.15))].map(|above| between(simd, &tests, at, above, threshold));
                let mut from = 0;
                loop {
                    let w = simd.next(&tests, from, threshold, &mut least);
                    all.extend((from..w).map(|at| (at, least[at].smallest(), bits(at))));
                    if w == words.len() {
                        break;
                    }
                    let folded = fold(simd, xy, &x.blocks[w], &y.blocks[w], words[w]);
                    all.push((w, folded.smallest(), bits(w)));
                    from = w + 1;
                }
            }
        }
        all
    }

    #[test]
    fn all_machines_find_the_same() {
        let p = 200;
        let value = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 1999) as f64 / 1000.0 - 1.0;
        let column = |i: usize| (0..p).map(|k| if k == 7 { f64::NAN } else { value(i, k) }).collect::<Vec<f64>>();
        let (x, y) = (Row::new(&column(3)), Row::new(&column(5)));
        for words in [[!0, 0, 0xf0f0_1234_5678_9abc, 0x7f], [1 << 7, !1, 0, 0]] {
            let plain = found(Plain, &x, &y, &words);
            for bits in 0..2 {
                assert!(plain.iter().any(|(_, least, any)| least.is_some() && any[bits] != 0));
            }
            #[cfg(target_arch = "x86_64")]
            for other in [
                Avx2::detect().map(|simd| found(simd, &x, &y, &words)),
                Avx512::detect().map(|simd| found(simd, &x, &y, &words)),
            ]
            .into_iter()
            .flatten()
            {
                assert_eq!(other.len(), plain.len());
                for (a, b) in other.iter().zip(&plain) {
                    assert_eq!((a.0, a.2), (b.0, b.2));
                    let close = |a: f64, b: f64| (a - b).abs() <= 1e-5 * b + 1e-5;
                    assert!(a.1.zip(b.1).map_or(a.1 == b.1, |(a, b)| close(a, b)), "{a:?}, {b:?}");
                }
            }
        }
    }

    /// Checks that the band covers the error of single precision for all correlations that it serves.
    #[test]
    fn single_precision_stays_within_the_band() {
        let value = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 20_011) as f64 / 10_005.5 - 1.0;
        let mut worst = 0f64;
        for near in [0.5, 0.99, 0.9995] {
            let column = |i: usize| (0..640).map(|k| near * value(i, k).signum() * value(i, k).abs().sqrt()).collect();
            for i in 0..40 {
                let (of_x, of_y): (Vec<f64>, Vec<f64>) = (column(i), column(i + 100));
                let (x, y) = (Row::new(&of_x), Row::new(&of_y));
                let (xy, band) = (value(i, 3), Band::new(&x, &y));
                for z in 0..640 {
                    let r = (xy - of_x[z] * of_y[z]) / ((1.0 - of_x[z].powi(2)) * (1.0 - of_y[z].powi(2))).sqrt();
                    let (blocks, lane) = ((&x.blocks[z / BLOCK], &y.blocks[z / BLOCK]), z % BLOCK);
                    let found = fold(Plain, xy as f32, blocks.0, blocks.1, 1 << lane).smallest().unwrap();
                    let within = |from: f64, to: f64| band.above(from) >= Threshold((to as f32).to_bits() as i32);
                    assert!(within(r.abs(), found) && within(found, r.abs()), "{r} is found as {found}");
                    worst = worst.max((r.abs() - found).abs() / found);
                }
            }
        }
        assert!(worst > 1e-6, "nothing was near the band: {worst:e}");
    }
}
