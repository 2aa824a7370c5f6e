//! The estimates of many permutations of one test.
//!
//! The outer loop runs over points, the inner one over permutations. The distances from a point in S and in (y, S) do not change with x, so they
//! are computed once for all permutations.

use super::cell::Cell;
use super::given::{Given, Table};
use super::loops::{count_both, count_within, fill_joint, padded, select};
use super::wide::Wide;
use crate::ci::knn::Terms;

/// Buffers of whole blocks, for n cells each.
#[derive(Default)]
pub(super) struct Rows<C> {
    pub of_s: Vec<C>,
    pub of_y: Vec<C>,
    pub joint: Vec<C>,
    pub candidates: Vec<C>,
}

/// The data that the estimates of one test share.
pub(super) struct Estimates<'a, C> {
    pub table: &'a Table<'a, C>,
    pub terms: &'a Terms,
    pub given: &'a Given<C>,
    pub x_discrete: bool,
    pub y: usize,
    /// y by place, in whole blocks.
    pub y_values: &'a [C],
    /// x in ascending order. If S is empty, neighbours in x are counted there.
    pub x_sorted: &'a [C],
}

impl<C: Cell> Estimates<'_, C> {
    /// Adds the terms of each permutation to `sums`. `permuted` holds the x of each, by place and in whole blocks. Ends early, with any sums, if
    /// `stop` says so.
    #[inline(always)]
    pub fn add<W: Wide<Cell = C>>(
        &self,
        simd: W::Simd,
        permuted: &[C],
        rows: &mut Rows<C>,
        stop: &dyn Fn() -> bool,
        sums: &mut [i64],
    ) {
        if self.x_discrete {
            self.add_of::<W, true>(simd, permuted, rows, stop, sums);
        } else {
            self.add_of::<W, false>(simd, permuted, rows, stop, sums);
        }
    }

    #[inline(always)]
    fn add_of<W: Wide<Cell = C>, const DISCRETE: bool>(
        &self,
        simd: W::Simd,
        permuted: &[C],
        rows: &mut Rows<C>,
        stop: &dyn Fn() -> bool,
        sums: &mut [i64],
    ) {
        let Estimates { table, terms, given, .. } = *self;
        let n = padded(table.n);
        let mismatch = table.mismatch;
        let alone = given.s.is_empty();
        // The point itself is the nearest of all.
        let which = terms.k() + 1;
        for buffer in [&mut rows.of_s, &mut rows.of_y, &mut rows.joint, &mut rows.candidates] {
            if buffer.len() < n {
                buffer.resize(n, C::ZERO);
            }
        }
        let Rows { of_s, of_y, joint, candidates } = rows;
        let mut bound = C::MOST;
        for place in 0..table.n {
            if stop() {
                return;
            }
            let mut fresh = false;
            let mut places = 0..0;
            for (permuted, sum) in permuted.chunks_exact(n).zip(sums.iter_mut()) {
                let own = permuted[place];
                // rho is not above `bound` if enough points are within it.
                let mut within;
                loop {
                    if !fresh {
                        places = given.places(place, bound);
                        let of_s = &mut of_s[places.clone()];
                        given.distances::<W>(simd, table, place, places.clone(), of_s);
                        let of_y = &mut of_y[places.clone()];
                        of_y.copy_from_slice(of_s);
                        table.raise::<W>(simd, self.y, &self.y_values[places.clone()], self.y_values[place], of_y);
                        fresh = true;
                    }
                    let joint = &mut joint[places.clone()];
                    let x = &permuted[places.clone()];
                    within = fill_joint::<W, DISCRETE>(simd, &of_y[places.clone()], x, own, mismatch, bound, joint);
                    if within >= which {
                        break;
                    }
                    bound = if bound > C::ZERO { bound.grown(1.5) } else { C::MOST };
                    fresh = false;
                }
                let (distance, up_to) = select::<W>(simd, &joint[places.clone()], which, bound, within, candidates);
                let rho = distance.to_f64();
                let radius = C::floor_of(terms.estimator().radius(rho));
                let near_y = count_within::<W>(simd, &of_y[places.clone()], radius);
                let (near_x, term_of_s) = if alone {
                    (count_sorted::<C, DISCRETE>(self.x_sorted, own, mismatch, radius), terms.all())
                } else {
                    let (of_s, x) = (&of_s[places.clone()], &permuted[places.clone()]);
                    let near_x = count_both::<W, DISCRETE>(simd, of_s, x, own, mismatch, radius);
                    (near_x, terms.subspace(count_within::<W>(simd, of_s, radius)))
                };
                *sum += terms.joint(rho, up_to) - terms.subspace(near_x) - terms.subspace(near_y) + term_of_s;
                // Far too many points were checked: fewer suffice for the next permutations.
                if within > 2 * which + 16 && distance < bound && distance > C::ZERO {
                    let smaller = distance.grown(1.35);
                    if smaller < bound {
                        bound = smaller;
                        fresh = false;
                    }
                }
            }
        }
    }
}

/// Counts the sorted values that are within a radius of one of them.
#[inline(always)]
fn count_sorted<C: Cell, const DISCRETE: bool>(sorted: &[C], own: C, mismatch: C, radius: C) -> usize {
    let near = |value: &C| value.distance::<DISCRETE>(own, mismatch) <= radius;
    let from = sorted.partition_point(|value| *value < own);
    let start = sorted[..from].partition_point(|value| !near(value));
    let end = from + sorted[from..].partition_point(near);
    end - start
}
