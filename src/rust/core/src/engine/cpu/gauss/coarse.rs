//! The correlation matrix in single precision, which says of most tests given one variable that they do not separate ([`scan`]).
//!
//! r(xy | z) = (r_xy - r_xz r_yz) b_xz b_yz with b = 1 / sqrt(1 - r²). Single precision knows it to within a [`Band`] that one x and
//! one y have in common for all z. What lies above the critical value and the band is dependent by
//! [`Rules::single`](super::rules::Rules::single) too, and anything else is asked there. So no verdict rests on this file.
//!
//! [`scan`]: super::scan

use std::sync::OnceLock;

use crate::ci::gauss::Gauss;
use crate::memory::{self, Use};
use crate::simd::{self, Task};

/// The rounding of single precision.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// Where 1 - r² is not above this, double precision is asked: the band would be too wide.
const NEAR_ONE: f64 = 1.0 / 1024.0;

/// Variables in a block: the bits of a word of the graph.
pub(super) const BLOCK: usize = 64;

/// The correlations of one variable with [`BLOCK`] others, and b of each: 0 where single precision cannot serve, so that partial
/// correlations seem to be 0, too.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Block {
    pub r: [f32; BLOCK],
    pub b: [f32; BLOCK],
}

/// One variable's correlations with all others. Without blocks where memory has run out, which ends the run.
#[derive(Default)]
pub(super) struct Row {
    pub blocks: Box<[Block]>,
    /// The largest b² that single precision serves.
    largest: f64,
}

/// How far single precision may be off in |r| of a pair.
///
/// Let u be its rounding. r_xy, r_xz, r_yz, the product and the difference, fused or not, move the covariance by at most 6u, and r by
/// that times b_xz b_yz. Either b is off by 2.5u over itself, and so is r; two products add u each.
#[derive(Clone, Copy)]
pub(super) struct Band {
    absolute: f64,
    relative: f64,
}

impl Band {
    #[inline(always)]
    pub fn new(x: &Row, y: &Row) -> Self {
        Band { absolute: 8.0 * ROUNDING * (x.largest * y.largest).sqrt(), relative: 8.0 * ROUNDING }
    }

    /// What single precision finds is not above this where |r| is at most so much.
    #[inline(always)]
    pub fn above(self, r: f64) -> Threshold {
        Threshold::new(r + self.absolute + self.relative * r)
    }

    /// What single precision finds is not above this where |r| is the smallest, of which it finds so much.
    #[inline(always)]
    pub fn above_smallest(self, found: f64) -> Threshold {
        // The band on either side.
        Threshold::new(found + 2.5 * (self.absolute + self.relative * found))
    }
}

/// The bits of an |r| that single precision may find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Threshold(pub i32);

impl Threshold {
    /// Above all, no number included.
    pub const ALL: Self = Threshold(i32::MAX);

    /// Rounded up.
    #[inline(always)]
    fn new(r: f64) -> Self {
        Threshold(((r * (1.0 + 1e-6)) as f32).to_bits() as i32)
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

    /// Of p variables, of which a caller keeps some rows at a time, if there is memory for them.
    pub fn of_some(p: usize, fits: bool) -> Self {
        Coarse { fits: OnceLock::from(fits), ..Coarse::new(p) }
    }

    /// Gives the rows of these variables up.
    pub fn forget(&mut self, of: std::ops::Range<usize>) {
        self.rows[of].iter_mut().for_each(|row| _ = row.take());
    }

    /// Bytes of a row.
    pub fn row_bytes(p: usize) -> usize {
        p.div_ceil(BLOCK) * size_of::<Block>()
    }

    /// Whether there is memory for all rows. It changes no answer.
    pub fn fits(&self) -> bool {
        *self.fits.get_or_init(|| {
            let p = self.rows.len();
            let bytes = p * Self::row_bytes(p);
            memory::available().is_none_or(|free| free / 4 > bytes as u64)
        })
    }

    /// The row of y.
    #[inline(always)]
    pub fn row(&self, gauss: &Gauss, y: usize) -> &Row {
        self.rows[y].get_or_init(|| Row::new(gauss.column(y)))
    }
}

impl Row {
    #[inline(never)]
    pub fn new(column: &[f64]) -> Self {
        let Ok(mut blocks) = memory::space(column.len().div_ceil(BLOCK), Use::Level) else {
            Use::Level.fails(size_of::<Block>() * column.len().div_ceil(BLOCK));
            return Row::default();
        };
        let least = simd::run(Blocks { column, blocks: &mut blocks });
        Row { blocks: blocks.into_boxed_slice(), largest: 1.0 / least }
    }
}

/// Appends the blocks of a column; the least 1 - r² that single precision serves.
struct Blocks<'a> {
    column: &'a [f64],
    blocks: &'a mut Vec<Block>,
}

impl<S> Task<S> for Blocks<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self, _simd: S) -> f64 {
        let mut least = [1f64; BLOCK];
        for part in self.column.chunks(BLOCK) {
            let mut block = Block { r: [0.0; BLOCK], b: [0.0; BLOCK] };
            let to = block.r.iter_mut().zip(&mut block.b);
            for (((to, b), least), &r) in to.zip(&mut least).zip(part) {
                let left = 1.0 - r * r;
                let serves = left > NEAR_ONE;
                *to = if serves { r as f32 } else { 0.0 };
                *b = if serves { 1.0 / (left as f32).sqrt() } else { 0.0 };
                *least = if serves && left < *least { left } else { *least };
            }
            self.blocks.push(block);
        }
        least.into_iter().fold(1.0, f64::min)
    }
}
