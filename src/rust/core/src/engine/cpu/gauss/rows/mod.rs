//! The Gaussian test for all pairs of a row at once.
//!
//! A set S of neighbours of x serves every pair (x, y) with y outside S: lanes run over y. The pivots and the variance of x depend on x and S
//! alone, and are computed once. A lane adds about a dozen operations for any size of S. Given the prefix S' = S without its last member s, a
//! lane keeps cov(x, y | S') and var(y | S'). With r = cov(s, y | S'),
//!
//! cov(x, y | S) = cov(x, y | S') - cov(x, s | S') r / var(s | S'),   var(y | S) = var(y | S') - r² / var(s | S').
//!
//! The rows cov(s, . | S') are kept by depth and made at first use, one step from the depth above. A lane is checked by itself only if its q
//! lies below the smallest seen so far or in the critical band: about log(tests) times.
//!
//! Most pairs are separated by one of their first sets, so the lanes left are closed up as others are decided. If few lanes of a long row are
//! left, they go to the [`walk`](super::walk) of a pair, whose lanes run over the sets.

mod covariances;
mod enumerate;
mod row;
mod sets;
mod settle;
mod singles;

use super::quad::Machine;
use super::walk;
use crate::simd::Task;
pub(super) use row::Row;
use sets::{Sets, LANES};
use singles::Singles;

/// Working memory of one thread.
#[derive(Default)]
pub struct Scratch {
    singles: Singles,
    sets: Sets,
}

/// A task that decides all lanes of a row.
pub(super) struct Lanes<'a> {
    pub row: Row<'a>,
    pub scratch: &'a mut Scratch,
    pub walks: &'a mut walk::Scratch,
}

impl<S: Machine> Task<S> for Lanes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S) {
        let Lanes { mut row, scratch: Scratch { singles, sets }, walks } = self;
        if row.view.size == 1 {
            return singles.run(&mut row);
        }
        let count = row.view.places.len();
        for first in (0..count).step_by(LANES) {
            sets.run::<S::Quad>(simd, &mut row, first..(first + LANES).min(count), walks);
        }
    }
}
