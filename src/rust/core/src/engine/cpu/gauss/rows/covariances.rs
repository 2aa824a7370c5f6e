//! Covariances given the first members of a set, by depth, and the steps from one depth to the next.

use std::ops::Range;

use super::super::quad::{Four, Quad};
use crate::memory::{self, Use};

/// The first members of a set, by depth.
pub(super) struct Pivots<'a> {
    /// For each depth, the number of pivots that it has had.
    pub epoch: &'a [u32],
    /// The rows of the pivots, each with as many fours as the rows to be made.
    pub rows: &'a [Four],
    /// Entries of the Cholesky factor by candidate, the factors of a pivot's row; `stride` fours a depth.
    pub factor: &'a [Four],
    pub stride: usize,
}

/// Rows of covariances by depth and candidate, each made at first use.
#[derive(Default)]
pub(super) struct Rows {
    values: Vec<Four>,
    /// For each row, the number of the depth's pivot with which it was made.
    made: Vec<u32>,
    /// Number of rows of a depth: one for each candidate.
    d: usize,
    /// Fours in a row.
    pub stride: usize,
    /// Number of depths that are kept.
    pub depths: usize,
}

impl Rows {
    /// Makes room for the rows. Returns `false` if memory does not suffice.
    pub fn start(&mut self, depths: usize, d: usize, stride: usize) -> bool {
        self.d = d;
        self.stride = stride;
        self.depths = depths;
        self.made.clear();
        grow(&mut self.values, depths * d * stride) && memory::grow(&mut self.made, depths * d, 0, Use::Threads)
    }

    /// Forgets all rows.
    pub fn forget(&mut self) {
        self.made.fill(0);
    }

    #[inline(always)]
    pub fn row(&self, m: usize, s: usize) -> &[Four] {
        &self.values[(m * self.d + s) * self.stride..][..self.stride]
    }

    /// Makes the fours `part` of row s of depth m, unless they exist. `gather` writes the row for depth 0; a step subtracts a multiple of the
    /// pivot's row.
    #[inline(always)]
    pub fn make<Q: Quad>(
        &mut self,
        simd: Q::Simd,
        m: usize,
        s: usize,
        part: Range<usize>,
        pivots: &Pivots,
        gather: impl FnOnce(&mut [Four]),
    ) {
        let (d, epoch) = (self.d, pivots.epoch);
        if self.made[m * d + s] == epoch[m] {
            return;
        }
        let mut good = m;
        while good > 0 && self.made[good * d + s] != epoch[good] {
            good -= 1;
        }
        if good == 0 && self.made[s] != epoch[0] {
            self.made[s] = epoch[0];
            gather(&mut self.values[s * self.stride..][..self.stride]);
        }
        for to in good + 1..=m {
            self.made[to * d + s] = epoch[to];
            let (above, below) = self.values.split_at_mut((to * d + s) * self.stride);
            let above = &above[((to - 1) * d + s) * self.stride..][part.clone()];
            let row = &pivots.rows[(to - 1) * self.stride..][part.clone()];
            let factor = pivots.factor.as_flattened()[4 * (to - 1) * pivots.stride + s];
            step::<Q>(simd, &mut below[part.clone()], above, row, factor);
        }
    }
}

/// Computes `out = value - factor * u`, four by four.
#[inline(always)]
pub(super) fn step<Q: Quad>(simd: Q::Simd, out: &mut [Four], values: &[Four], u: &[Four], factor: f64) {
    let factor = Q::splat(simd, factor);
    for ((out, value), u) in out.iter_mut().zip(values).zip(u) {
        Q::load(simd, value).sub(factor.mul(Q::load(simd, u))).store(out);
    }
}

/// Computes `out = value - u * u`, four by four.
#[inline(always)]
pub(super) fn step_square<Q: Quad>(simd: Q::Simd, out: &mut [Four], values: &[Four], u: &[Four]) {
    for ((out, value), u) in out.iter_mut().zip(values).zip(u) {
        let u = Q::load(simd, u);
        Q::load(simd, value).sub(u.mul(u)).store(out);
    }
}

/// Computes `out = factor * value`, four by four.
#[inline(always)]
pub(super) fn scale_by<Q: Quad>(simd: Q::Simd, out: &mut [Four], values: &[Four], factor: f64) {
    let factor = Q::splat(simd, factor);
    for (out, value) in out.iter_mut().zip(values) {
        factor.mul(Q::load(simd, value)).store(out);
    }
}

/// Returns the part of a depth of a buffer, and that of the depth below it.
#[inline(always)]
pub(super) fn two_depths(buffer: &mut [Four], m: usize, stride: usize, part: Range<usize>) -> (&[Four], &mut [Four]) {
    let (above, below) = buffer.split_at_mut((m + 1) * stride);
    (&above[m * stride..][part.clone()], &mut below[part])
}

/// Grows the buffer. Returns `false` if memory does not suffice.
pub(super) fn grow(buffer: &mut Vec<Four>, len: usize) -> bool {
    memory::grow(buffer, len, [0.0; 4], Use::Threads)
}
