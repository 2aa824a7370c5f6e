//! The Gaussian test for all pairs of a row at once.
//!
//! A set S of neighbours of x serves every pair (x, y) with y outside S: lanes run over y. What depends on x and S alone, the
//! pivots and the variance of x, is computed once, and a lane adds about a dozen operations whatever the size of S is. Given
//! the prefix S' = S without its last member s, a lane keeps cov(x, y | S') and var(y | S'); with r = cov(s, y | S')
//!
//! cov(x, y | S) = cov(x, y | S') - cov(x, s | S') r / var(s | S'),   var(y | S) = var(y | S') - r² / var(s | S').
//!
//! The rows cov(s, . | S') are kept by depth and made when they are first asked for, one step from the depth above. A lane is
//! looked at by itself only when its q lies below the smallest seen so far or in the critical band: about log(tests) times.
//!
//! Most pairs fall to one of their first sets, so lanes are closed up as they are decided. What few lanes remain of a long
//! row is left to the [`walk`](super::walk) of a pair, whose lanes run over the sets.

mod covariances;
mod enumerate;
mod sets;
mod settle;
mod singles;

#[cfg(target_arch = "x86_64")]
use super::simd::Avx2;
use super::simd::{Portable, Quad};
use super::{rules::Rules, walk};
use crate::engine::cpu::kernel::{RowView, Signal};
use crate::search::book::Answer;
use sets::{Sets, LANES};
use singles::Singles;

/// Working memory of one thread.
#[derive(Default)]
pub struct Scratch {
    singles: Singles,
    sets: Sets,
    set: Vec<u32>,
}

/// Decides the lanes of a row in the widest SIMD that this machine has. The results are the same in all.
pub(super) fn dispatch(
    rules: &Rules,
    row: &RowView,
    scratch: &mut Scratch,
    walks: &mut walk::Scratch,
    signal: &Signal,
    out: &mut dyn FnMut(&Answer),
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        unsafe fn avx2(
            rules: &Rules,
            row: &RowView,
            scratch: &mut Scratch,
            walks: &mut walk::Scratch,
            signal: &Signal,
            out: &mut dyn FnMut(&Answer),
        ) {
            decide::<Avx2>(rules, row, scratch, walks, signal, out);
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, asked for in the line above.
            return unsafe { avx2(rules, row, scratch, walks, signal, out) };
        }
    }
    decide::<Portable>(rules, row, scratch, walks, signal, out);
}

#[inline(always)]
fn decide<Q: Quad>(
    rules: &Rules,
    row: &RowView,
    scratch: &mut Scratch,
    walks: &mut walk::Scratch,
    signal: &Signal,
    out: &mut dyn FnMut(&Answer),
) {
    let Scratch { singles, sets, set } = scratch;
    if row.size == 1 {
        singles.run(rules, row, set, signal, out);
    } else {
        for first in (0..row.places.len()).step_by(LANES) {
            let lanes = first..(first + LANES).min(row.places.len());
            sets.run::<Q>(rules, row, lanes, walks, set, signal, out);
        }
    }
}
