//! The correlation matrix in single precision, which shows for most tests given one variable that they do not separate ([`scan`]).
//!
//! r(xy | z) = (r_xy - r_xz r_yz) b_xz b_yz with b = 1 / sqrt(1 - r²). Single precision knows it to within a [`Band`] that is the same for all z
//! of one x and y. A value above the critical value plus the band is dependent by [`Rules::single`](super::rules::Rules::single) too; anything
//! else is asked there. So no verdict rests on this file.
//!
//! [`scan`]: super::scan

use std::sync::OnceLock;

use crate::ci::gauss::Gauss;
use crate::memory::{self, Use};
use crate::simd::{self, Task};

/// The rounding of single precision.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// The limit of 1 - r² at and below which double precision is asked, because the band would be too wide.
const NEAR_ONE: f64 = 1.0 / 1024.0;

/// Number of variables in a block: the bits of a word of the graph.
pub(super) const BLOCK: usize = 64;

/// The correlations of one variable with [`BLOCK`] others, and b of each. Both are 0 if single precision cannot serve, so that the partial
/// correlation seems to be 0.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Block {
    pub r: [f32; BLOCK],
    pub b: [f32; BLOCK],
}

/// One variable's correlations with all others. It has no blocks if memory has run out, which ends the run.
#[derive(Default)]
pub(super) struct Row {
    pub blocks: Box<[Block]>,
    /// The largest b² that single precision serves.
    largest: f64,
}

/// The bound on the error of a pair's |r| in single precision.
///
/// Let u be the rounding of single precision. r_xy, r_xz, r_yz, the product and the difference, fused or not, change the covariance by at most
/// 6u. They change r by that times b_xz b_yz. Each b has a relative error of at most 2.5u, which adds to that of r; two products add u each.
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

    /// Returns a threshold that single precision does not exceed if |r| is at most `r`.
    #[inline(always)]
    pub fn above(self, r: f64) -> Threshold {
        Threshold::new(r + self.absolute + self.relative * r)
    }

    /// Returns a threshold that single precision does not exceed at the smallest |r|, if `found` is the smallest value that it finds.
    #[inline(always)]
    pub fn above_smallest(self, found: f64) -> Threshold {
        // The band on both sides.
        Threshold::new(found + 2.5 * (self.absolute + self.relative * found))
    }
}

/// The bits of an |r| in single precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Threshold(pub i32);

impl Threshold {
    /// Above everything, NaN included.
    pub const ALL: Self = Threshold(i32::MAX);

    /// Creates the threshold of `r`, rounded up.
    #[inline(always)]
    fn new(r: f64) -> Self {
        Threshold(((r * (1.0 + 1e-6)) as f32).to_bits() as i32)
    }
}

/// The rows of C in single precision, each computed at first use.
pub(super) struct Coarse {
    rows: Vec<OnceLock<Row>>,
    fits: OnceLock<bool>,
}

impl Coarse {
    /// Creates the rows of p variables.
    pub fn new(p: usize) -> Self {
        Coarse { rows: std::iter::repeat_with(OnceLock::new).take(p).collect(), fits: OnceLock::new() }
    }

    /// Creates the rows of p variables for a caller that keeps some at a time. `fits` says whether there is memory for them.
    pub fn of_some(p: usize, fits: bool) -> Self {
        Coarse { fits: OnceLock::from(fits), ..Coarse::new(p) }
    }

    /// Drops the rows of these variables.
    pub fn forget(&mut self, of: std::ops::Range<usize>) {
        self.rows[of].iter_mut().for_each(|row| _ = row.take());
    }

    /// Returns the bytes of a row.
    pub fn row_bytes(p: usize) -> usize {
        p.div_ceil(BLOCK) * size_of::<Block>()
    }

    /// Returns whether there is memory for all rows. The result changes no answer.
    pub fn fits(&self) -> bool {
        *self.fits.get_or_init(|| {
            let p = self.rows.len();
            let bytes = p * Self::row_bytes(p);
            memory::available().is_none_or(|free| free / 4 > bytes as u64)
        })
    }

    /// Returns the row of y.
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

/// A task that appends the blocks of a column, and returns the least 1 - r² that single precision serves.
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
