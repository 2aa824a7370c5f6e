//! Column-major matrices, as R stores them: views of the caller's data.

use std::sync::atomic::{AtomicU64, Ordering};

use ndarray::{ArrayView2, ShapeBuilder};

use crate::pool::Pool;
use crate::{Error, Result};

/// Returns a view of a column-major matrix with this many columns.
///
/// # Errors
/// [`Error::Argument`] if the number of cells is not a multiple of the number of columns.
pub fn by_column<T>(cells: &[T], columns: usize) -> Result<ArrayView2<'_, T>> {
    let rows = cells.len().checked_div(columns).filter(|rows| rows * columns == cells.len());
    rows.and_then(|rows| ArrayView2::from_shape((rows, columns).f(), cells).ok()).ok_or_else(|| Error::Argument {
        argument: "matrix",
        value: format!("a matrix of {} cells", cells.len()),
        hint: format!("give the same number of cells for each of its {columns} columns"),
    })
}

/// Returns all cells, column by column, or `None` if the matrix is not column-major.
pub fn cells<T>(matrix: ArrayView2<'_, T>) -> Option<&[T]> {
    matrix.reversed_axes().to_slice()
}

/// Iterates over the columns of a column-major matrix; yields none for other layouts.
pub fn columns<T>(matrix: ArrayView2<'_, T>) -> impl Iterator<Item = &[T]> {
    cells(matrix).unwrap_or_default().chunks_exact(matrix.nrows().max(1))
}

/// Borrows doubles as atomics.
pub(crate) fn atomics(values: &mut [f64]) -> &[AtomicU64] {
    // SAFETY: an AtomicU64 has the size and alignment of an f64 (8 bytes each on the 64-bit machines that R runs on, as asserted). Every
    // bit pattern is valid for both. The exclusive borrow is held for as long as the atomics live.
    const { assert!(align_of::<AtomicU64>() == align_of::<f64>() && size_of::<AtomicU64>() == size_of::<f64>()) };
    unsafe { std::slice::from_raw_parts(values.as_mut_ptr().cast::<AtomicU64>(), values.len()) }
}

/// Copies the upper triangle to the lower one, in tiles that stay in cache, and sets the diagonal to 1.
pub(crate) fn symmetrise(m: &mut [f64], p: usize, pool: &Pool) {
    const TILE: usize = 64;
    let tiles = p.div_ceil(TILE);
    assert_eq!(m.len(), p * p);
    let cells = atomics(m);
    // Tiles of columns from the right, so that the longest come first. No two threads write one number, and no thread reads what another
    // writes.
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

/// Number of variables from which several threads are quicker than one.
const LARGE: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upper_triangle_is_copied_down() {
        for p in [1usize, 2, 63, 64, 65, 150, 1100] {
            let before: Vec<f64> = (0..p * p).map(|i| i as f64).collect();
            let mut m = before.clone();
            symmetrise(&mut m, p, &Pool::new(2));
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
