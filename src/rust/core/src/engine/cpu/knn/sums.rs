//! The estimates of many permutations of one test.
//!
//! The point is the outer loop and the permutation the inner one: what does not change with x - the distances from a point in
//! S and in (y, S) - is computed once for all permutations.

use std::ops::Range;

use super::cell::{count_both, count_within, fill_joint, padded, select, Cell};
use super::given::{Given, Table};
use super::wide::Wide;
use crate::ci::knn::Terms;

/// Buffers, whole blocks of n cells each.
#[derive(Default)]
pub(super) struct Rows<C> {
    pub of_s: Vec<C>,
    pub of_y: Vec<C>,
    pub joint: Vec<C>,
    pub candidates: Vec<C>,
}

/// The two variables of a test.
pub(super) struct Pair<'a, C> {
    pub x_discrete: bool,
    pub y: usize,
    /// y by place; whole blocks.
    pub y_values: &'a [C],
    /// x in ascending order: where S is empty, neighbours in x are counted there.
    pub x_sorted: &'a [C],
}

/// Adds to `sums` what some places contribute to the sums of terms of each permutation; `permuted` holds the x of each, by
/// place and in whole blocks. Ends early, with anything, when `stop` says so.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn add_sums<W: Wide>(
    table: &Table<W::Cell>,
    terms: &Terms,
    given: &Given<W::Cell>,
    pair: &Pair<W::Cell>,
    permuted: &[W::Cell],
    places: Range<usize>,
    rows: &mut Rows<W::Cell>,
    stop: impl Fn() -> bool,
    sums: &mut [i64],
) {
    if pair.x_discrete {
        add_sums_of::<W, true>(table, terms, given, pair, permuted, places, rows, stop, sums);
    } else {
        add_sums_of::<W, false>(table, terms, given, pair, permuted, places, rows, stop, sums);
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn add_sums_of<W: Wide, const DISCRETE: bool>(
    table: &Table<W::Cell>,
    terms: &Terms,
    given: &Given<W::Cell>,
    pair: &Pair<W::Cell>,
    permuted: &[W::Cell],
    of_places: Range<usize>,
    rows: &mut Rows<W::Cell>,
    stop: impl Fn() -> bool,
    sums: &mut [i64],
) {
    let n = padded(table.n);
    let mismatch = table.mismatch;
    let alone = given.s.is_empty();
    // The point itself is the nearest of all.
    let which = terms.k() + 1;
    for buffer in [&mut rows.of_s, &mut rows.of_y, &mut rows.joint, &mut rows.candidates] {
        if buffer.len() < n {
            buffer.resize(n, W::Cell::ZERO);
        }
    }
    let Rows { of_s, of_y, joint, candidates } = rows;
    let mut bound = W::Cell::MOST;
    for place in of_places {
        if stop() {
            return;
        }
        let mut fresh = false;
        let mut places = 0..0;
        for (permuted, sum) in permuted.chunks_exact(n).zip(sums.iter_mut()) {
            let own = permuted[place];
            // rho is not above `bound` where enough are within it.
            let mut within;
            loop {
                if !fresh {
                    places = given.places(place, bound);
                    let of_s = &mut of_s[places.clone()];
                    given.distances::<W>(table, place, places.clone(), of_s);
                    let of_y = &mut of_y[places.clone()];
                    of_y.copy_from_slice(of_s);
                    table.raise::<W>(pair.y, &pair.y_values[places.clone()], pair.y_values[place], of_y);
                    fresh = true;
                }
                let joint = &mut joint[places.clone()];
                let x = &permuted[places.clone()];
                within = fill_joint::<W, DISCRETE>(&of_y[places.clone()], x, own, mismatch, bound, joint);
                if within >= which {
                    break;
                }
                bound = if bound > W::Cell::ZERO { bound.grown(1.5) } else { W::Cell::MOST };
                fresh = false;
            }
            let (distance, up_to) = select::<W>(&joint[places.clone()], which, bound, within, candidates);
            let rho = distance.to_f64();
            let radius = W::Cell::floor_of(terms.estimator().radius(rho));
            let near_y = count_within::<W>(&of_y[places.clone()], radius);
            let (near_x, term_of_s) = if alone {
                (count_sorted::<W::Cell, DISCRETE>(pair.x_sorted, own, mismatch, radius), terms.all())
            } else {
                let (of_s, x) = (&of_s[places.clone()], &permuted[places.clone()]);
                let near_x = count_both::<W, DISCRETE>(of_s, x, own, mismatch, radius);
                (near_x, terms.subspace(count_within::<W>(of_s, radius)))
            };
            *sum += terms.joint(rho, up_to) - terms.subspace(near_x) - terms.subspace(near_y) + term_of_s;
            // Far too many points were looked at: fewer will do for the next permutations.
            if within > 2 * which + 16 && distance < bound && distance > W::Cell::ZERO {
                let smaller = distance.grown(1.35);
                if smaller < bound {
                    bound = smaller;
                    fresh = false;
                }
            }
        }
    }
}

/// How many of the sorted values are within a radius of one of them.
#[inline(always)]
fn count_sorted<C: Cell, const DISCRETE: bool>(sorted: &[C], own: C, mismatch: C, radius: C) -> usize {
    let near = |value: &C| value.distance::<DISCRETE>(own, mismatch) <= radius;
    let from = sorted.partition_point(|value| *value < own);
    let start = sorted[..from].partition_point(|value| !near(value));
    let end = from + sorted[from..].partition_point(near);
    end - start
}
