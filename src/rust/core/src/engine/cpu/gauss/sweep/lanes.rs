//! Eight sets that run together: a number for each, and the covariances of the last candidates of the tree.

use crate::engine::cpu::gauss::quad::{Four, Quad};

/// Number of sets that run together: the subsets of `OF_LANES` candidates.
pub const LANES: usize = 8;
pub const OF_LANES: usize = 3;

/// A number for each set, in memory; [`Eight`] is in registers.
pub type Lanes = [Four; LANES / 4];

#[derive(Clone, Copy)]
pub struct Eight<Q>(pub [Q; LANES / 4]);

pub const ZEROS: Lanes = [[0.0; 4]; LANES / 4];

/// Returns where the row of the i-th of n variables begins.
#[inline(always)]
pub fn row_of(n: usize, i: usize) -> usize {
    i * n - i * i.saturating_sub(1) / 2
}

/// Covariances of the last candidates of the tree, with x and y: the upper triangle by rows.
#[derive(Clone, Copy)]
pub struct Tail<Q, const CELLS: usize> {
    pub cells: [Eight<Q>; CELLS],
    pub smallest: Eight<Q>,
}

// Written out, because a function passed to another (`map`, `from_fn`) is not compiled for this machine's registers.
impl<Q: Quad> Eight<Q> {
    #[inline(always)]
    pub fn splat(simd: Q::Simd, value: f64) -> Self {
        Eight([Q::splat(simd, value), Q::splat(simd, value)])
    }

    #[inline(always)]
    pub fn load(simd: Q::Simd, [a, b]: &Lanes) -> Self {
        Eight([Q::load(simd, a), Q::load(simd, b)])
    }

    #[inline(always)]
    pub fn store(self, [a, b]: &mut Lanes) {
        self.0[0].store(a);
        self.0[1].store(b);
    }

    #[inline(always)]
    pub fn sub(self, other: Self) -> Self {
        Eight([self.0[0].sub(other.0[0]), self.0[1].sub(other.0[1])])
    }

    #[inline(always)]
    pub fn mul(self, other: Self) -> Self {
        Eight([self.0[0].mul(other.0[0]), self.0[1].mul(other.0[1])])
    }

    /// Returns 1 over this.
    #[inline(always)]
    pub fn inverse(self, simd: Q::Simd) -> Self {
        let one = Q::splat(simd, 1.0);
        Eight([one.div(self.0[0]), one.div(self.0[1])])
    }

    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        Eight([self.0[0].min(other.0[0]), self.0[1].min(other.0[1])])
    }

    /// Returns a bit for each lane: whether the first of every pair is larger than the second.
    #[inline(always)]
    pub fn all_above([a, b, c, d]: [(Self, Self); 4]) -> u32 {
        let of =
            |i: usize| [(a.0 .0[i], a.1 .0[i]), (b.0 .0[i], b.1 .0[i]), (c.0 .0[i], c.1 .0[i]), (d.0 .0[i], d.1 .0[i])];
        (Q::all_above(of(0)) | Q::all_above(of(1)) << 4) as u32
    }
}

impl<Q: Quad, const CELLS: usize> Tail<Q, CELLS> {
    /// Loads the first cells of a slice.
    #[inline(always)]
    pub fn load(simd: Q::Simd, cells: &[Lanes], smallest: &Lanes) -> Self {
        let mut tail = Tail { cells: [Eight::splat(simd, 0.0); CELLS], smallest: Eight::load(simd, smallest) };
        for (to, from) in tail.cells.iter_mut().zip(cells) {
            *to = Eight::load(simd, from);
        }
        tail
    }

    /// Conditions on the A-th of the N variables that are left. The variables after it have `LATER` cells.
    #[inline(always)]
    pub fn given<const N: usize, const A: usize, const LATER: usize>(&self, simd: Q::Simd) -> Tail<Q, LATER> {
        let at = row_of(N, A);
        let pivot = self.cells[at];
        let inverse = pivot.inverse(simd);
        let mut cells = [pivot; LATER];
        let (mut from, mut to) = (at + N - A, 0);
        for i in 1..N - A {
            let weight = self.cells[at + i].mul(inverse);
            for j in i..N - A {
                cells[to] = self.cells[from].sub(weight.mul(self.cells[at + j]));
                (from, to) = (from + 1, to + 1);
            }
        }
        Tail { cells, smallest: self.smallest.min(pivot) }
    }

    /// Returns the covariances of x and y alone, given the same variables.
    #[inline(always)]
    pub fn last(&self) -> Tail<Q, 3> {
        let cells = [self.cells[CELLS - 3], self.cells[CELLS - 2], self.cells[CELLS - 1]];
        Tail { cells, smallest: self.smallest }
    }
}
