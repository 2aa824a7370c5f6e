//! The correlation matrix in single precision, which says of most tests given one variable that they do not separate.
//!
//! r(xy | z) is far from the critical value for nearly all z. In single precision it is known to within [`BAND`], as long as
//! neither |r_xz| nor |r_yz| is near 1: what then lies above the critical value and the band is dependent by
//! [`Rules::single`] too, and anything else is asked there. So no verdict rests on this file.

use std::sync::OnceLock;

use super::quad::BITS;
use crate::ci::gauss::Gauss;
use crate::engine::cpu::simd::Plain;
use crate::memory::{self, Use};

#[cfg(target_arch = "x86_64")]
use crate::engine::cpu::simd::Avx2;

/// Half the width of the band around a critical |r| within which single precision decides nothing.
///
/// Let u = 2^-24 be the rounding of single precision, and 1 - r_xz², 1 - r_yz² at least v = 1/16 ([`NEAR_ONE`]). The numerator
/// r_xy - r_xz r_yz is off by at most 5u, which moves r by 5u / v = 5e-6; 1 - r_yz² by at most 4u, its relative error is 4u / v,
/// and that of its root, with those of the products, below 3e-6.
pub(super) const BAND: f64 = 1e-5;

/// Correlations whose square is above this are left to double precision.
const NEAR_ONE: f64 = 15.0 / 16.0;

/// Variables in a block: the bits of a word of the graph.
pub(super) const BLOCK: usize = 64;

/// The correlations of one variable with [`BLOCK`] others.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Block(pub [f32; BLOCK]);

impl Block {
    pub const fn all(value: f32) -> Self {
        Block([value; BLOCK])
    }
}

/// Products and sums in single precision, fused or not as the machine is quick: the band covers both.
pub(super) trait Fused: Copy {
    /// a - b c.
    fn less_product(self, a: f32, b: f32, c: f32) -> f32;
}

impl Fused for Plain {
    #[inline(always)]
    fn less_product(self, a: f32, b: f32, c: f32) -> f32 {
        a - b * c
    }
}

#[cfg(target_arch = "x86_64")]
impl Fused for Avx2 {
    #[inline(always)]
    fn less_product(self, a: f32, b: f32, c: f32) -> f32 {
        (-b).mul_add(c, a)
    }
}

/// The rows of C in single precision, each made when it is first asked for.
pub(super) struct Coarse {
    rows: Vec<OnceLock<Box<[Block]>>>,
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

    /// The correlations of y with all variables; NaN where single precision cannot serve. Its own is 0, as are those beyond p.
    /// Empty where memory has run out, which ends the run.
    pub fn row(&self, gauss: &Gauss, y: usize) -> &[Block] {
        self.rows[y].get_or_init(|| {
            let column = gauss.column(y);
            let Ok(mut row) = memory::space(column.len().div_ceil(BLOCK), Use::Level) else {
                Use::Level.fails(4 * column.len());
                return Box::default();
            };
            row.extend(column.chunks(BLOCK).map(|part| {
                let mut block = Block::all(0.0);
                for (to, &r) in block.0.iter_mut().zip(part) {
                    *to = if r * r <= NEAR_ONE { r as f32 } else { f32::NAN };
                }
                block
            }));
            row[y / BLOCK].0[y % BLOCK] = 0.0;
            row.into_boxed_slice()
        })
    }
}

/// The smallest threshold of single precision that covers q, a squared partial correlation of double precision.
pub(super) fn covering(q: f64) -> f64 {
    let r = q.sqrt() + BAND;
    r * r
}

/// A threshold over the one that limits are made for, rounded up.
pub(super) fn over(limit: f64, threshold: f64) -> f32 {
    (threshold / limit * (1.0 + 1e-6)) as f32
}

/// The squared partial correlation of x and y given z as two products, the first over the second above 1 where it is above
/// `scale` times the threshold. `of_x` is the correlation of x and z, `limit` the threshold times 1 less its square, or any negative
/// number where z is not asked, `of_y` the correlation of y and z, `xy` that of x and y.
#[inline(always)]
fn sides<S: Fused>(simd: S, xy: f32, of_x: f32, limit: f32, of_y: f32, scale: f32) -> (f32, f32) {
    let covariance = simd.less_product(xy, of_x, of_y);
    (covariance * covariance, scale * limit * simd.less_product(1.0, of_y, of_y))
}

/// Whether all of a block lie above `scale` times the threshold for certain, see [`sides`]. NaN anywhere is a no.
#[inline(always)]
pub(super) fn all_above<S: Fused>(simd: S, xy: f32, of_x: &Block, limits: &Block, of_y: &Block, scale: f32) -> bool {
    let mut below = 0u32;
    for i in 0..BLOCK {
        let (square, bound) = sides(simd, xy, of_x.0[i], limits.0[i], of_y.0[i], scale);
        below |= u32::from(!(square > bound));
    }
    below == 0
}

/// The smallest over the threshold among the bits of a word, infinity where there is none, and whether single precision knows
/// all of them.
#[inline(always)]
pub(super) fn least<S: Fused>(simd: S, xy: f32, of_x: &Block, limits: &Block, of_y: &Block, word: u64) -> (f32, bool) {
    // As whole numbers, whose order is that of positive floats: NaN and what is negative come after all others.
    let mut ratios = [0u32; BLOCK];
    for (i, ratio) in ratios.iter_mut().enumerate() {
        let (square, bound) = sides(simd, xy, of_x.0[i], limits.0[i], of_y.0[i], 1.0);
        *ratio = (square / bound).to_bits();
    }
    let (mut least, mut largest) = (f32::INFINITY.to_bits(), 0);
    for (half, ratios) in ratios.chunks_exact(32).enumerate() {
        let word = (word >> (32 * half)) as u32;
        for (i, &ratio) in ratios.iter().enumerate() {
            let asked = 0u32.wrapping_sub(word >> i & 1);
            least = least.min(ratio | !asked);
            largest = largest.max(ratio & asked);
        }
    }
    (f32::from_bits(least), largest <= f32::INFINITY.to_bits())
}

/// Bit by bit, which may lie below `scale` times the threshold.
#[inline(always)]
pub(super) fn suspects<S: Fused>(simd: S, xy: f32, of_x: &Block, limits: &Block, of_y: &Block, scale: f32) -> u64 {
    let mut suspects = 0;
    for (i, &bit) in BITS.iter().enumerate() {
        let (square, bound) = sides(simd, xy, of_x.0[i], limits.0[i], of_y.0[i], scale);
        suspects |= if square > bound { 0 } else { bit };
    }
    suspects
}
