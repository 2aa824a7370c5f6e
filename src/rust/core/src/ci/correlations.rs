//! Correlation matrices.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ndarray::ArrayView2;

use crate::matrix;

/// Cells that are compared with their mirror images at a time, in both directions.
const TILE: usize = 32;

/// Tiles that stand together are taken together: a column of a large matrix is a page of memory, whose address takes longer to
/// find than 32 numbers to compare.
const BLOCK: usize = 8;

/// Whether a matrix, kept by column, can be a correlation matrix: square, its diagonal 1 and its entries between -1 and 1
/// to 1e-8, symmetric to 1e-10. NaN passes where its mirror image is NaN too. Any threads may look, each by [`Check::work`].
pub struct Check<'a> {
    columns: Vec<&'a [f64]>,
    /// Tasks that were begun, and that are done.
    begun: AtomicUsize,
    done: AtomicUsize,
    good: AtomicBool,
    holes: AtomicBool,
}

/// Counts a task as done when it is dropped.
struct Done<'d>(&'d AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl<'a> Check<'a> {
    /// Nothing is known but of the diagonal.
    pub fn new(c: ArrayView2<'a, f64>) -> Self {
        let on_diagonal = |a: &f64| (a - 1.0).abs() <= 1e-8 || a.is_nan();
        let good = c.is_square() && c.diag().iter().all(on_diagonal);
        let columns = matrix::columns(c).collect();
        let none = || AtomicUsize::new(0);
        Check { columns, begun: none(), done: none(), good: AtomicBool::new(good), holes: AtomicBool::new(false) }
    }

    /// Blocks of a side.
    fn blocks(&self) -> usize {
        self.columns.len().div_ceil(BLOCK * TILE)
    }

    /// Looks at what nobody looks at yet, until nothing is left.
    pub fn work(&self) {
        let blocks = self.blocks();
        loop {
            let task = self.begun.fetch_add(1, Ordering::Relaxed);
            if task >= blocks * blocks {
                return;
            }
            // Also where this thread panics, so that nobody waits for it.
            let _done = Done(&self.done);
            if self.good.load(Ordering::Relaxed) && !self.is_good(task / blocks, task % blocks) {
                self.good.store(false, Ordering::Relaxed);
            }
        }
    }

    /// Has all threads end: nobody is going to ask for the verdict.
    pub fn stop(&self) {
        self.begun.fetch_max(self.blocks().pow(2), Ordering::Relaxed);
    }

    /// Whether what was looked at so far is known to be no part of a correlation matrix.
    pub fn is_refused(&self) -> bool {
        !self.good.load(Ordering::Relaxed)
    }

    /// Once all was looked at, for which the caller works, too: `Some(true)` where there are any NaN, and `None` for what cannot be one.
    pub fn verdict(&self) -> Option<bool> {
        self.work();
        while self.done.load(Ordering::Acquire) < self.blocks().pow(2) {
            std::thread::yield_now();
        }
        self.good.load(Ordering::Relaxed).then(|| self.holes.load(Ordering::Relaxed))
    }

    /// Of a block of columns and one of rows, above the diagonal.
    fn is_good(&self, of_columns: usize, of_rows: usize) -> bool {
        if of_rows > of_columns {
            return true;
        }
        let tiles = self.columns.len().div_ceil(TILE);
        let within = |block: usize| block * BLOCK..tiles.min((block + 1) * BLOCK);
        let mut mirror = [[0.0; TILE]; TILE];
        within(of_columns)
            .all(|left| within(of_rows).all(|top| self.is_tile_good(&mut mirror, top * TILE, left * TILE)))
    }

    /// A tile, which is first turned so that both halves are read along columns, and without a branch inside.
    fn is_tile_good(&self, mirror: &mut [[f64; TILE]; TILE], top: usize, left: usize) -> bool {
        let p = self.columns.len();
        let (height, width) = (TILE.min(p - top), TILE.min(p - left));
        (0..height).for_each(|x| {
            let column = &self.columns[top + x][left..][..width];
            for (y, &value) in column.iter().enumerate() {
                mirror[y][x] = value;
            }
        });
        let (mut bad, mut missing) = (false, false);
        for (y, mirror) in mirror.iter().enumerate().take(width) {
            let column = &self.columns[left + y][top..][..height];
            for (&a, &b) in column.iter().zip(mirror) {
                let close = ((a - b).abs() <= 1e-10) | (a.is_nan() & b.is_nan());
                bad |= !close | (a.abs() > 1.0 + 1e-8);
                missing |= a.is_nan();
            }
        }
        if missing {
            self.holes.store(true, Ordering::Relaxed);
        }
        !bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use ndarray::{Array2, ShapeBuilder};

    #[test]
    fn what_is_no_correlation_matrix_is_seen() {
        // More than one block of tiles.
        let p = 300;
        let good = Array2::from_shape_fn((p, p).f(), |(x, y)| if x == y { 1.0 } else { 0.25 });
        assert_eq!(Check::new(good.view()).verdict(), Some(false));
        assert_eq!(Check::new(good.slice(ndarray::s![.., ..299])).verdict(), None);
        let with = |changes: &[(usize, usize, f64)]| {
            let mut c = good.clone();
            for &(x, y, value) in changes {
                c[[x, y]] = value;
            }
            let verdict = Check::new(c.view()).verdict();
            let by_several = Check::new(c.view());
            Pool::new(3).each(3, |_| by_several.work());
            assert_eq!((by_several.verdict(), by_several.verdict()), (verdict, verdict));
            verdict
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
