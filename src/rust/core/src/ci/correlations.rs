//! Correlation matrices.

use std::sync::atomic::{AtomicBool, Ordering};

use ndarray::ArrayView2;

use crate::matrix;

/// Whether a matrix, kept by column, can be a correlation matrix: square, its diagonal 1 and its entries between -1 and 1
/// to 1e-8, symmetric to 1e-10. NaN passes where its mirror image is NaN too: `Some(true)` where there are any, and `None` for what cannot be one.
///
/// `each(tasks, work)` is to call `work(task)` for every task in `0..tasks`, on any threads.
pub fn is_correlation(c: ArrayView2<f64>, each: impl FnOnce(usize, &(dyn Fn(usize) + Sync))) -> Option<bool> {
    const TILE: usize = 32;
    // Tiles that stand together are taken together: a column of a large matrix is a page of memory, whose address takes longer to
    // find than 32 numbers to compare.
    const BLOCK: usize = 8;
    let columns: Vec<&[f64]> = matrix::columns(c).collect();
    let p = columns.len();
    let holes = AtomicBool::new(false);
    let on_diagonal = |a: &f64| (a - 1.0).abs() <= 1e-8 || a.is_nan();
    // A tile at a time, which is first turned so that both halves are read along columns, and without a branch inside.
    let tile = |mirror: &mut [[f64; TILE]; TILE], top: usize, left: usize| {
        let (height, width) = (TILE.min(p - top), TILE.min(p - left));
        for x in 0..height {
            let column = &columns[top + x][left..][..width];
            for (y, &value) in column.iter().enumerate() {
                mirror[y][x] = value;
            }
        }
        let (mut bad, mut missing) = (false, false);
        for (y, mirror) in mirror.iter().enumerate().take(width) {
            let column = &columns[left + y][top..][..height];
            for (&a, &b) in column.iter().zip(mirror) {
                let close = ((a - b).abs() <= 1e-10) | (a.is_nan() & b.is_nan());
                bad |= !close | (a.abs() > 1.0 + 1e-8);
                missing |= a.is_nan();
            }
        }
        if missing {
            holes.store(true, Ordering::Relaxed);
        }
        !bad
    };
    if c.dim() != (p, p) || !c.diag().iter().all(on_diagonal) {
        return None;
    }
    let (tiles, blocks) = (p.div_ceil(TILE), p.div_ceil(BLOCK * TILE));
    let good = AtomicBool::new(true);
    let run = |task: usize| {
        let (of_columns, of_rows) = (task / blocks, task % blocks);
        if of_rows > of_columns {
            return;
        }
        let within = |block: usize| block * BLOCK..tiles.min((block + 1) * BLOCK);
        let mut mirror = [[0.0; TILE]; TILE];
        let mut tiles = within(of_columns).flat_map(|left| within(of_rows).map(move |top| (top, left)));
        if good.load(Ordering::Relaxed) && !tiles.all(|(top, left)| tile(&mut mirror, top * TILE, left * TILE)) {
            good.store(false, Ordering::Relaxed);
        }
    };
    each(blocks * blocks, &run);
    good.into_inner().then_some(holes.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, ShapeBuilder};

    fn one_by_one(tasks: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..tasks).for_each(work);
    }

    #[test]
    fn what_is_no_correlation_matrix_is_seen() {
        // More than one block of tiles.
        let p = 300;
        let good = Array2::from_shape_fn((p, p).f(), |(x, y)| if x == y { 1.0 } else { 0.25 });
        assert_eq!(is_correlation(good.view(), one_by_one), Some(false));
        let with = |changes: &[(usize, usize, f64)]| {
            let mut c = good.clone();
            for &(x, y, value) in changes {
                c[[x, y]] = value;
            }
            is_correlation(c.view(), one_by_one)
        };
        assert_eq!(with(&[(3, 66, f64::NAN), (66, 3, f64::NAN)]), Some(true));
        assert_eq!(with(&[(5, 5, f64::NAN)]), Some(true));
        assert_eq!(with(&[(3, 66, 0.25 + 1e-11)]), Some(false));
        let with = |changes: &[(usize, usize, f64)]| with(changes).is_some();
        assert!(!with(&[(3, 66, 0.26)]) && !with(&[(66, 3, f64::NAN)]));
        assert!(!with(&[(3, 299, 0.26)]) && !with(&[(299, 3, 0.26)]) && !with(&[(270, 299, 0.26)]));
        assert!(!with(&[(1, 2, 1.1), (2, 1, 1.1)]) && !with(&[(69, 69, 1.1)]));
    }
}
