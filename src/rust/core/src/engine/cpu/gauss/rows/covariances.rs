//! Covariances given the first members of a set, by depth, and the steps from one depth to the next.

use std::ops::Range;

use super::super::quad::{Four, Quad};
use crate::memory::{self, Use};

/// The first members of a set, by depth.
pub(super) struct Pivots<'a> {
    /// Counts the pivots that a depth has had.
    pub epoch: &'a [u32],
    /// Their rows, with as many fours as those that are made.
    pub rows: &'a [Four],
    /// Their entries of the Cholesky factor, by candidate: what to multiply a row with; `stride` fours a depth.
    pub factor: &'a [Four],
    pub stride: usize,
}

/// By depth and candidate: a row of covariances, made when it is first asked for.
#[derive(Default)]
pub(super) struct Rows {
    values: Vec<Four>,
    /// Number of the depth's pivot that the row was made with.
    made: Vec<u32>,
    /// Rows of a depth: as many as candidates.
    d: usize,
    /// Fours in a row.
    pub stride: usize,
    /// Number of depths that are kept.
    pub depths: usize,
}

impl Rows {
    /// False where memory does not suffice.
    pub fn start(&mut self, depths: usize, d: usize, stride: usize) -> bool {
        self.d = d;
        self.stride = stride;
        self.depths = depths;
        self.made.clear();
        grow(&mut self.values, depths * d * stride) && memory::grow(&mut self.made, depths * d, 0, Use::Threads)
    }

    /// Forgets what was made.
    pub fn forget(&mut self) {
        self.made.fill(0);
    }

    #[inline(always)]
    pub fn row(&self, m: usize, s: usize) -> &[Four] {
        &self.values[(m * self.d + s) * self.stride..][..self.stride]
    }

    /// Makes row s of depth m, from its fours `part`. `gather` writes it for depth 0; a step subtracts a multiple of the
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

/// `out = value - factor * u`, four by four.
#[inline(always)]
pub(super) fn step<Q: Quad>(simd: Q::Simd, out: &mut [Four], values: &[Four], u: &[Four], factor: f64) {
    let factor = Q::splat(simd, factor);
    for ((out, value), u) in out.iter_mut().zip(values).zip(u) {
        Q::load(simd, value).sub(factor.mul(Q::load(simd, u))).store(out);
    }
}

/// `out = value - u * u`, four by four.
#[inline(always)]
pub(super) fn step_square<Q: Quad>(simd: Q::Simd, out: &mut [Four], values: &[Four], u: &[Four]) {
    for ((out, value), u) in out.iter_mut().zip(values).zip(u) {
        let u = Q::load(simd, u);
        Q::load(simd, value).sub(u.mul(u)).store(out);
    }
}

/// `out = factor * value`, four by four.
#[inline(always)]
pub(super) fn scale_by<Q: Quad>(simd: Q::Simd, out: &mut [Four], values: &[Four], factor: f64) {
    let factor = Q::splat(simd, factor);
    for (out, value) in out.iter_mut().zip(values) {
        factor.mul(Q::load(simd, value)).store(out);
    }
}

/// A depth of a buffer and the one below it.
#[inline(always)]
pub(super) fn two_depths(buffer: &mut [Four], m: usize, stride: usize, part: Range<usize>) -> (&[Four], &mut [Four]) {
    let (above, below) = buffer.split_at_mut((m + 1) * stride);
    (&above[m * stride..][part.clone()], &mut below[part])
}

/// False where memory does not suffice.
pub(super) fn grow(buffer: &mut Vec<Four>, len: usize) -> bool {
    memory::grow(buffer, len, [0.0; 4], Use::Threads)
}
