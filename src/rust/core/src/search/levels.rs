//! PC-stable on an engine, "stable" and "stable.fast": which levels are run, and pcalg's counts of them.

use std::sync::atomic::{AtomicU64, Ordering};

use super::level::count_sets;
use super::{Method, Observer, Options, Skeleton};
use crate::engine::{no_side_engine, Engine, Widest};
use crate::pool::Pool;
use crate::Result;

/// Runs the skeleton phase. `p_max` is p x p, column by column, and is overwritten with pcalg's `pMax`.
///
/// # Errors
/// [`Error::Overflow`](crate::Error) before a level with a pair of more than 2^63 tests; whatever engine and observer
/// return.
pub fn skeleton(
    engine: &mut dyn Engine,
    options: &Options,
    p_max: &mut [f64],
    observer: &mut dyn Observer,
) -> Result<Skeleton> {
    options.check(p_max)?;
    if options.method == Method::Original {
        let engine = engine.as_side_engine().ok_or_else(no_side_engine)?;
        return super::original::skeleton(engine, options, p_max, observer);
    }
    let fast = options.method == Method::StableFast;
    let mut tests = Vec::new();
    let mut exact_tests = 0;
    options.room_to_start()?;
    let mut search = engine.begin(options, p_max)?;
    // pcalg's "stable" runs no level at all without an edge or below m.max; its counts are then one 0.
    let none = !fast && (search.edge_count() == 0 || !options.allows(0));
    let mut size = 0;
    let mut go_on = !none;
    while go_on && (size == 0 || options.allows(size)) && (fast || search.edge_count() > 0) {
        observer.level(size, search.edge_count())?;
        let report = if size == 0 {
            search.marginal(observer)?
        } else {
            // Refuse what cannot be numbered, and see whether there is anything to do, before any work is done.
            match search.widest().filter(|widest| widest.degree > size) {
                // All of a row's neighbours: engines enumerate the sets of a row for all of its pairs at once.
                Some(Widest { x, y, degree }) => {
                    count_sets(x, y, degree, size)?;
                }
                // No pair has enough neighbours, and "stable.fast" does not count the level.
                None if fast => break,
                None => {}
            }
            search.conditional(size, observer)?
        };
        tests.push(report.tests);
        exact_tests += report.exact_tests;
        // "stable.fast" asks by itself whether a level has work.
        go_on = fast || report.go_on;
        size += 1;
    }
    let (graph, sepsets) = search.finish(observer)?;
    if tests.is_empty() {
        tests.push(0);
    }
    if !fast {
        symmetrise(p_max, options.p, engine.pool());
    }
    let levels = tests.len() as i32;
    // pcalg's "stable" without a level reports -1, as its loop would have begun with 0.
    let max_order = if none {
        -1
    } else if fast {
        max_order_of_fast(levels)
    } else {
        levels - 1
    };
    Ok(Skeleton { graph, sepsets, tests, max_order, exact_tests })
}

/// pcalg's `max.ord` of "stable.fast": one less than the last level, as its R code subtracts 1 twice.
pub(super) fn max_order_of_fast(levels: i32) -> i32 {
    levels - 2
}

/// Copies the upper triangle to the lower one, in tiles that stay in cache, and sets the diagonal to 1: the R methods
/// report a symmetric pMax with ones on its diagonal, the C++ one the upper triangle alone.
pub(super) fn symmetrise(m: &mut [f64], p: usize, pool: &Pool) {
    const TILE: usize = 64;
    let tiles = p.div_ceil(TILE);
    let cells = as_atomics(m);
    // Tiles of columns from the right: the longest come first.
    let run = |task: usize| {
        let left = (tiles - 1 - task) * TILE;
        for top in (0..=left).step_by(TILE) {
            for y in left..(left + TILE).min(p) {
                for x in top..(top + TILE).min(y) {
                    let value = cells[y * p + x].load(Ordering::Relaxed);
                    cells[x * p + y].store(value, Ordering::Relaxed);
                }
            }
        }
    };
    if p < LARGE {
        (0..tiles).for_each(run);
    } else {
        pool.each(tiles, run);
    }
    m.iter_mut().step_by(p + 1).for_each(|cell| *cell = 1.0);
}

/// From this many variables on, several threads are quicker than one.
const LARGE: usize = 1000;

/// The array as cells that threads may write. No two threads write one, and none reads what another writes.
fn as_atomics(m: &mut [f64]) -> &[AtomicU64] {
    const { assert!(align_of::<AtomicU64>() == align_of::<f64>() && size_of::<AtomicU64>() == size_of::<f64>()) };
    // SAFETY: size and alignment are the same, as asserted, all bit patterns are values of both, and the exclusive borrow
    // lasts for as long as the atomics do.
    unsafe { std::slice::from_raw_parts(m.as_mut_ptr().cast(), m.len()) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_upper_triangle_is_copied_down() {
        for p in [1usize, 2, 63, 64, 65, 150, 1100] {
            let before: Vec<f64> = (0..p * p).map(|i| i as f64).collect();
            let mut m = before.clone();
            super::symmetrise(&mut m, p, &crate::pool::Pool::new(2));
            for x in 0..p {
                assert_eq!(m[x * p + x], 1.0);
                for y in x + 1..p {
                    let value = before[y * p + x];
                    assert_eq!((m[y * p + x], m[x * p + y]), (value, value));
                }
            }
        }
    }
}
