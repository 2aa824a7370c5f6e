//! The correlation matrix in single precision, which says of most tests given one variable that they do not separate.
//!
//! r²(xy | z) = (r_xy - r_xz r_yz)² / ((1 - r_xz²) (1 - r_yz²)). Single precision knows r to within a [`Band`] that one x and one y
//! have in common for all z. What lies above the critical value and the band is dependent by
//! [`Rules::single`](super::rules::Rules::single) too, and anything else is asked there. So no verdict rests on this file.

#[cfg(target_arch = "x86_64")]
use std::arch::{
    asm,
    x86_64::{_mm_prefetch, _MM_HINT_T0},
};
use std::sync::OnceLock;

use crate::ci::gauss::Gauss;
use crate::engine::cpu::simd::Plain;
use crate::memory::{self, Use};

#[cfg(target_arch = "x86_64")]
use crate::engine::cpu::simd::{Avx2, Avx512};

/// The rounding of single precision.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// How far the reciprocal of a machine may be off, over itself: 2^-14.
const RECIPROCAL: f64 = 1.0 / (1 << 14) as f64;

/// Where 1 - r² is not above this, double precision is asked: the band would be too wide.
const NEAR_ONE: f64 = 1.0 / 1024.0;

/// Variables in a block: the bits of a word of the graph.
pub(super) const BLOCK: usize = 64;

/// The correlations of one variable with [`BLOCK`] others; NaN, with the sign set, where single precision cannot serve. Its own is
/// 0, as are those beyond p.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Block(pub [f32; BLOCK]);

/// Its bits.
const UNKNOWN: u32 = 0xffc0_0000;

/// The smallest r² that single precision finds in a block, in any order of the lanes: bits of floats, infinity where none is asked,
/// negative where one is not known.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Least(pub [i32; LEAST]);

/// Lanes that a block is folded to.
pub(super) const LEAST: usize = 16;

/// Bits of infinity.
const NONE: i32 = 0x7f80_0000;

impl Least {
    pub const NONE: Self = Least([NONE; LEAST]);

    /// The smaller ones.
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

    /// The least |r|; none where none was asked.
    #[inline(always)]
    pub fn smallest(&self) -> Option<f64> {
        // Halves, as machines fold registers.
        let mut lanes = self.0;
        for half in [8, 4, 2, 1] {
            for i in 0..half {
                lanes[i] = lanes[i].min(lanes[i + half]);
            }
        }
        let bits = lanes[0];
        (bits < NONE).then(|| f64::from(f32::from_bits(bits.max(0) as u32)).sqrt())
    }
}

/// One variable's correlations with all others.
#[derive(Default)]
pub(super) struct Row {
    pub blocks: Box<[Block]>,
    /// The largest 1 / (1 - r²) of those that single precision serves.
    largest: f64,
}

/// How far single precision may be off in |r| of a pair.
///
/// Let u be its rounding. r_xy, r_xz, r_yz, their product and the difference, fused or not, move the difference by at most 6u, and
/// |r| by that over the roots of 1 - r_xz² and 1 - r_yz². Either of these is off by 3u, half of that, over itself, goes to |r|; so
/// does half of what the reciprocal is off; four products add u each.
#[derive(Clone, Copy)]
pub(super) struct Band {
    absolute: f64,
    relative: f64,
}

impl Band {
    #[inline(always)]
    pub fn new(x: &Row, y: &Row) -> Self {
        Band {
            absolute: 8.0 * ROUNDING * (x.largest * y.largest).sqrt(),
            relative: 2.0 * ROUNDING * (x.largest + y.largest) + RECIPROCAL,
        }
    }

    /// What single precision finds is below this where |r| is at most so much.
    #[inline(always)]
    pub fn above(self, r: f64) -> Threshold {
        Threshold::new(r + self.absolute + self.relative * r)
    }

    /// What single precision finds is below this where |r| is the smallest, of which it finds so much.
    #[inline(always)]
    pub fn above_smallest(self, found: f64) -> Threshold {
        // The band on either side.
        Threshold::new(found + 2.5 * (self.absolute + self.relative * found))
    }
}

/// The bits of an r² that single precision may find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Threshold(i32);

impl Threshold {
    /// Above all.
    pub const ALL: Self = Threshold(i32::MAX);

    /// Rounded up.
    #[inline(always)]
    fn new(r: f64) -> Self {
        Threshold(((r * r * (1.0 + 1e-6)) as f32).to_bits() as i32)
    }
}

/// The rows of C in single precision, each made when it is first asked for.
pub(super) struct Coarse {
    rows: Vec<OnceLock<Row>>,
    fits: OnceLock<bool>,
}

impl Coarse {
    /// Of p variables.
    pub fn new(p: usize) -> Self {
        Coarse { rows: std::iter::repeat_with(OnceLock::new).take(p).collect(), fits: OnceLock::new() }
    }

    /// Whether there is memory for all rows. It changes no answer.
    pub fn fits(&self) -> bool {
        *self.fits.get_or_init(|| {
            let p = self.rows.len();
            let bytes = p * p.div_ceil(BLOCK) * size_of::<Block>();
            memory::available().is_none_or(|free| free / 4 > bytes as u64)
        })
    }

    /// The row of y. Without blocks where memory has run out, which ends the run.
    #[inline(always)]
    pub fn row(&self, gauss: &Gauss, y: usize) -> &Row {
        self.rows[y].get_or_init(|| Row::new(gauss.column(y), y))
    }
}

impl Row {
    #[inline(never)]
    fn new(column: &[f64], y: usize) -> Self {
        let Ok(mut blocks) = memory::space(column.len().div_ceil(BLOCK), Use::Level) else {
            Use::Level.fails(4 * column.len());
            return Row::default();
        };
        let mut least = [1f64; BLOCK];
        blocks.extend(column.chunks(BLOCK).map(|part| {
            let mut block = Block([0.0; BLOCK]);
            for ((to, least), &r) in block.0.iter_mut().zip(&mut least).zip(part) {
                let left = 1.0 - r * r;
                let serves = left > NEAR_ONE;
                *to = if serves { r as f32 } else { f32::from_bits(UNKNOWN) };
                *least = if serves && left < *least { left } else { *least };
            }
            block
        }));
        // Never asked.
        blocks[y / BLOCK].0[y % BLOCK] = 0.0;
        let least = least.into_iter().fold(1.0, f64::min);
        Row { blocks: blocks.into_boxed_slice(), largest: 1.0 / least }
    }
}

/// The tests of x and y given one variable each, in single precision.
#[derive(Clone, Copy)]
pub(super) struct Tests<'a> {
    pub xy: f32,
    pub of_x: &'a [Block],
    pub of_y: &'a [Block],
    /// Which are asked, of as many blocks.
    pub words: &'a [u64],
    pub band: Band,
}

/// What a machine does with [`Tests`].
pub(super) trait Scan: Copy {
    /// a - b c, fused or not as the machine is quick.
    fn less_product(self, a: f32, b: f32, c: f32) -> f32;

    /// Has the memory fetched into the cache.
    #[inline(always)]
    fn fetch(self, _at: &f64) {}

    /// The first block from `from` on that has an r² not above `threshold`, or the number of blocks; writes the least r² of
    /// each block before it. A block that has none up to `look` may count as one where none is asked: `look` is
    /// [`Threshold::ALL`] at first, and may fall as smaller ones are found, but stays above the smallest by the band.
    #[inline(always)]
    fn next(
        self,
        tests: &Tests,
        from: usize,
        threshold: Threshold,
        look: &mut Threshold,
        least: &mut [Least],
    ) -> usize {
        let end = tests.words.len();
        let tests = &Tests { of_x: &tests.of_x[..end], of_y: &tests.of_y[..end], ..*tests };
        let least = &mut least[..end];
        for w in from..end {
            least[w] = Least::NONE;
            let word = tests.words[w];
            if word == 0 || (*look < Threshold::ALL && all_above(self, tests, w, *look)) {
                continue;
            }
            let folded = fold(self, tests, w, word);
            if !folded.any_below(*look) {
                continue;
            }
            if folded.any_below(threshold) {
                return w;
            }
            least[w] = folded;
            if let Some(smallest) = folded.smallest() {
                *look = threshold.max(tests.band.above_smallest(smallest)).min(*look);
            }
        }
        end
    }
}

/// Whether all r² given the variables of a block are above the threshold, whether they are asked or not. Without a quotient, of
/// which there are fewer in a cycle than of products.
#[inline(always)]
fn all_above<S: Scan>(simd: S, tests: &Tests, w: usize, threshold: Threshold) -> bool {
    let (of_x, of_y) = (&tests.of_x[w].0, &tests.of_y[w].0);
    let threshold = f32::from_bits(threshold.0 as u32);
    let mut below = 0;
    for (&of_x, &of_y) in of_x.iter().zip(of_y) {
        let left = simd.less_product(1.0, of_x, of_x) * simd.less_product(1.0, of_y, of_y);
        let covariance = simd.less_product(tests.xy, of_x, of_y);
        below |= u32::from(!(covariance * covariance > threshold * left));
    }
    below == 0
}

/// The least r² of a block among the bits of a word.
#[inline(always)]
pub(super) fn fold<S: Scan>(simd: S, tests: &Tests, w: usize, word: u64) -> Least {
    let (of_x, of_y) = (&tests.of_x[w].0, &tests.of_y[w].0);
    let mut folded = [NONE; LEAST];
    for (part, (of_x, of_y)) in of_x.chunks_exact(LEAST).zip(of_y.chunks_exact(LEAST)).enumerate() {
        let word = (word >> (LEAST * part)) as u32;
        for (i, ((to, &of_x), &of_y)) in folded.iter_mut().zip(of_x).zip(of_y).enumerate() {
            // Its bit becomes the sign, by which machines select.
            let asked = ((word << (31 - i)) as i32) < 0;
            let bits = if asked { square(simd, tests.xy, of_x, of_y) } else { NONE };
            *to = bits.min(*to);
        }
    }
    Least(folded)
}

/// The bits of r² of x and y given a variable, from their correlations with it, negative where it is not known.
#[inline(always)]
fn square<S: Scan>(simd: S, xy: f32, of_x: f32, of_y: f32) -> i32 {
    let left = simd.less_product(1.0, of_x, of_x) * simd.less_product(1.0, of_y, of_y);
    let covariance = simd.less_product(xy, of_x, of_y);
    let square = covariance * covariance / left;
    (if square > -1.0 { square } else { -1.0 }).to_bits() as i32
}

impl Scan for Plain {
    #[inline(always)]
    fn less_product(self, a: f32, b: f32, c: f32) -> f32 {
        a - b * c
    }
}

#[cfg(target_arch = "x86_64")]
impl Scan for Avx2 {
    #[inline(always)]
    fn fetch(self, at: &f64) {
        // SAFETY: it may be read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast()) }
    }

    #[inline(always)]
    fn less_product(self, a: f32, b: f32, c: f32) -> f32 {
        (-b).mul_add(c, a)
    }
}

#[cfg(target_arch = "x86_64")]
impl Scan for Avx512 {
    #[inline(always)]
    fn fetch(self, at: &f64) {
        // SAFETY: it may be read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast()) }
    }

    #[inline(always)]
    fn less_product(self, a: f32, b: f32, c: f32) -> f32 {
        (-b).mul_add(c, a)
    }

    /// The intrinsics of AVX-512 came with Rust 1.89, which is more than we ask for: so its instructions are written out.
    #[inline(always)]
    fn next(
        self,
        tests: &Tests,
        from: usize,
        threshold: Threshold,
        _look: &mut Threshold,
        least: &mut [Least],
    ) -> usize {
        let Tests { xy, of_x, of_y, words, .. } = *tests;
        let end = words.len();
        assert!(of_x.len() == end && of_y.len() == end && least.len() == end && from <= end);
        let w: usize;
        // SAFETY: the machine has AVX-512 F, or there were no `Avx512`; blocks from `from` to `end` are read, and written in `least`,
        // which all have so many.
        unsafe {
            asm!(
                "vbroadcastss zmm0, xmm0",
                "vpbroadcastd zmm1, {threshold:e}",
                // Infinity, and 1.
                "mov {word:e}, 0x7f800000",
                "vpbroadcastd zmm2, {word:e}",
                "mov {word:e}, 0x3f800000",
                "vpbroadcastd zmm24, {word:e}",
                "cmp {w}, {end}",
                "jae 4f",
                "2:",
                "vmovdqa32 zmm3, zmm2",
                "mov {word}, qword ptr [{words} + 8 * {w}]",
                "test {word}, {word}",
                "jz 3f",
                "kmovw k1, word ptr [{words} + 8 * {w}]",
                "kmovw k2, word ptr [{words} + 8 * {w} + 2]",
                "kmovw k3, word ptr [{words} + 8 * {w} + 4]",
                "kmovw k4, word ptr [{words} + 8 * {w} + 6]",
                "vmovaps zmm5, [{x}]",
                "vmovaps zmm6, [{y}]",
                "vmovaps zmm16, [{x} + 64]",
                "vmovaps zmm17, [{y} + 64]",
                "vmovaps zmm19, [{x} + 128]",
                "vmovaps zmm20, [{y} + 128]",
                "vmovaps zmm22, [{x} + 192]",
                "vmovaps zmm23, [{y} + 192]",
                // The covariance, and what is left of the variances of y and of x.
                "vmovaps zmm4, zmm0",
                "vfnmadd231ps zmm4, zmm5, zmm6",
                "vmovaps zmm7, zmm0",
                "vfnmadd231ps zmm7, zmm16, zmm17",
                "vmovaps zmm18, zmm0",
                "vfnmadd231ps zmm18, zmm19, zmm20",
                "vmovaps zmm21, zmm0",
                "vfnmadd231ps zmm21, zmm22, zmm23",
                "vfnmadd213ps zmm6, zmm6, zmm24",
                "vfnmadd213ps zmm5, zmm5, zmm24",
                "vfnmadd213ps zmm17, zmm17, zmm24",
                "vfnmadd213ps zmm16, zmm16, zmm24",
                "vfnmadd213ps zmm20, zmm20, zmm24",
                "vfnmadd213ps zmm19, zmm19, zmm24",
                "vfnmadd213ps zmm23, zmm23, zmm24",
                "vfnmadd213ps zmm22, zmm22, zmm24",
                "vmulps zmm5, zmm5, zmm6",
                "vmulps zmm16, zmm16, zmm17",
                "vmulps zmm19, zmm19, zmm20",
                "vmulps zmm22, zmm22, zmm23",
                "vrcp14ps zmm5, zmm5",
                "vrcp14ps zmm16, zmm16",
                "vrcp14ps zmm19, zmm19",
                "vrcp14ps zmm22, zmm22",
                "vmulps zmm4, zmm4, zmm4",
                "vmulps zmm7, zmm7, zmm7",
                "vmulps zmm18, zmm18, zmm18",
                "vmulps zmm21, zmm21, zmm21",
                "vmulps zmm4, zmm4, zmm5",
                "vmulps zmm7, zmm7, zmm16",
                "vmulps zmm18, zmm18, zmm19",
                "vmulps zmm21, zmm21, zmm22",
                "vmovdqa32 zmm25, zmm2",
                "vpminsd zmm3{{k1}}, zmm3, zmm4",
                "vpminsd zmm25{{k2}}, zmm25, zmm7",
                "vpminsd zmm3{{k3}}, zmm3, zmm18",
                "vpminsd zmm25{{k4}}, zmm25, zmm21",
                "vpminsd zmm3, zmm3, zmm25",
                "vpcmpled k1, zmm3, zmm1",
                "kortestw k1, k1",
                "jnz 4f",
                "3:",
                "vmovdqa32 [{least}], zmm3",
                "add {x}, 256",
                "add {y}, 256",
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
                out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _, out("zmm20") _, out("zmm21") _, out("zmm22") _,
                out("zmm23") _, out("zmm24") _, out("zmm25") _, out("k1") _, out("k2") _, out("k3") _, out("k4") _,
                options(nostack),
            );
        }
        w
    }
}

/// Bit by bit, which of a block's r² are asked and not above the threshold.
#[inline(always)]
pub(super) fn suspects<S: Scan>(simd: S, tests: &Tests, w: usize, threshold: Threshold) -> u64 {
    between(simd, tests, w, Threshold(i32::MIN), threshold)
}

/// Likewise, but for those that are not known.
#[inline(always)]
pub(super) fn known<S: Scan>(simd: S, tests: &Tests, w: usize, threshold: Threshold) -> u64 {
    between(simd, tests, w, Threshold(-1), threshold)
}

#[inline(always)]
fn between<S: Scan>(simd: S, tests: &Tests, w: usize, above: Threshold, threshold: Threshold) -> u64 {
    const HALF: usize = 32;
    let (of_x, of_y) = (&tests.of_x[w].0, &tests.of_y[w].0);
    let mut found = 0;
    for (half, (of_x, of_y)) in of_x.chunks_exact(HALF).zip(of_y.chunks_exact(HALF)).enumerate() {
        let mut bits = 0u32;
        for (i, (&of_x, &of_y)) in of_x.iter().zip(of_y).enumerate() {
            let square = square(simd, tests.xy, of_x, of_y);
            bits |= if (square > above.0) & (square <= threshold.0) { 1 << i } else { 0 };
        }
        found |= u64::from(bits) << (HALF * half);
    }
    found & tests.words[w]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each machine finds of 200 variables, a threshold after the other, and which blocks it stops at.
    fn found<S: Scan>(simd: S, x: &Row, y: &Row, words: &[u64]) -> Vec<(usize, Option<f64>, u64)> {
        let mut all = Vec::new();
        for xy in [0.3, -0.7, f32::NAN] {
            let band = Band::new(x, y);
            let tests = Tests { xy, of_x: &x.blocks, of_y: &y.blocks, words, band };
            let thresholds = [0.0, 0.1, 0.2, 0.3, 0.5].map(|r| band.above(r));
            for threshold in thresholds.into_iter().chain([Threshold::ALL]) {
                let mut least = vec![Least::NONE; words.len()];
                for (at, &word) in words.iter().enumerate() {
                    all.push((at, fold(simd, &tests, at, word).smallest(), known(simd, &tests, at, threshold)));
                }
                let (mut from, mut look, mut so_far) = (0, Threshold::ALL, Least::NONE);
                loop {
                    let w = simd.next(&tests, from, threshold, &mut look, &mut least);
                    for (at, least) in least.iter().enumerate().take(w).skip(from) {
                        // A block that has nothing smaller than those before it may be passed over.
                        so_far.lower(least);
                        all.push((at, so_far.smallest(), suspects(simd, &tests, at, threshold)));
                    }
                    if w == words.len() {
                        break;
                    }
                    all.push((w, None, suspects(simd, &tests, w, threshold)));
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
        let (x, y) = (Row::new(&column(3), 3), Row::new(&column(5), 5));
        for words in [[!0, 0, 0xf0f0_1234_5678_9abc, 0x7f], [1 << 7, !1, 0, 0]] {
            let plain = found(Plain, &x, &y, &words);
            assert!(plain.iter().any(|&(_, least, _)| least.is_some()) && plain.iter().any(|&(_, _, any)| any != 0));
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
                    let close = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b + 1e-4;
                    assert!(a.1.zip(b.1).map_or(a.1 == b.1, |(a, b)| close(a, b)), "{a:?}, {b:?}");
                }
            }
        }
    }
}
