//! A check that a matrix can be a correlation matrix.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ndarray::ArrayView2;

use crate::matrix;
use crate::pool::Pool;

/// Number of rows and columns of cells that are compared with their mirror images at a time, in both directions.
const TILE: usize = 32;

/// Number of adjacent tiles per side that are checked together. A column of a large matrix is a page of memory; finding its address takes
/// longer than comparing 32 numbers.
const BLOCK: usize = 8;

/// How far entries may be beyond -1 and 1 and the diagonal from 1, and how far entries may be from their mirror images. `check_cells` in
/// kernels/gauss/marginal.cu has the same values.
const BEYOND: f64 = 1e-8;
const APART: f64 = 1e-10;

/// A check whether a column-major matrix can be a correlation matrix. It must be square and symmetric to 1e-10, with diagonal 1 and entries
/// between -1 and 1 to 1e-8. NaN passes if its mirror image is NaN too. Any threads may check, each by [`Check::work`]. A GPU that gets the
/// matrix may instead [stop](Check::stop) them and [decide](Check::decide).
#[derive(Debug)]
pub struct Check<'a> {
    columns: Vec<&'a [f64]>,
    /// Number of tasks begun, and number of tasks done.
    begun: AtomicUsize,
    done: AtomicUsize,
    good: AtomicBool,
    holes: AtomicBool,
    is_stopped: AtomicBool,
    is_decided: AtomicBool,
}

/// A guard that counts a task as done when it is dropped.
struct Done<'d>(&'d AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl<'a> Check<'a> {
    /// Begins a check, and checks the diagonal only.
    pub fn new(c: ArrayView2<'a, f64>) -> Self {
        let on_diagonal = |a: &f64| (a - 1.0).abs() <= BEYOND || a.is_nan();
        let good = c.is_square() && c.diag().iter().all(on_diagonal);
        let is_missing_on_diagonal = c.diag().iter().any(|a| a.is_nan());
        let columns = matrix::columns(c).collect();
        let (none, flag) = (|| AtomicUsize::new(0), AtomicBool::new);
        Check {
            columns,
            begun: none(),
            done: none(),
            good: flag(good),
            holes: flag(is_missing_on_diagonal),
            is_stopped: flag(false),
            is_decided: flag(false),
        }
    }

    /// Returns the number of blocks per side.
    fn blocks(&self) -> usize {
        self.columns.len().div_ceil(BLOCK * TILE)
    }

    /// Checks tasks that no other thread has begun, until none is left or the check is stopped.
    pub fn work(&self) {
        while !self.is_stopped.load(Ordering::Relaxed) {
            if !self.work_on() {
                return;
            }
        }
    }

    /// Checks one task; returns false if all tasks were begun before.
    fn work_on(&self) -> bool {
        let blocks = self.blocks();
        let task = self.begun.fetch_add(1, Ordering::Relaxed);
        if task >= blocks * blocks {
            return false;
        }
        // Counts the task as done even if this thread panics, so that no thread waits for it.
        let _done = Done(&self.done);
        if self.good.load(Ordering::Relaxed) && !self.is_good(task / blocks, task % blocks) {
            self.good.store(false, Ordering::Relaxed);
        }
        true
    }

    /// Makes threads stop checking. Either a GPU will check the whole matrix, which is quicker, or nobody will ask for the verdict.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Enters what a GPU has found for the whole matrix except the diagonal.
    pub fn decide(&self, is_good: bool, has_holes: bool) {
        if !is_good {
            self.good.store(false, Ordering::Relaxed);
        }
        if has_holes {
            self.holes.store(true, Ordering::Relaxed);
        }
        self.is_decided.store(true, Ordering::Release);
    }

    /// Returns whether threads have begun to check, or were stopped in favour of a GPU.
    pub fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed) > 0 || self.is_stopped.load(Ordering::Relaxed)
    }

    /// Returns whether a checked part shows that this is not a correlation matrix.
    pub fn is_refused(&self) -> bool {
        !self.good.load(Ordering::Relaxed)
    }

    /// Waits until everything is checked, with the help of these threads. Returns `None` if this cannot be a correlation matrix, else
    /// whether it holds any NaN.
    pub fn verdict(&self, pool: &Pool) -> Option<bool> {
        let tasks = self.blocks().pow(2);
        if !self.is_decided.load(Ordering::Acquire) && self.done.load(Ordering::Acquire) < tasks {
            pool.each(pool.threads(), |_| while self.work_on() {});
            while self.done.load(Ordering::Acquire) < tasks {
                std::thread::yield_now();
            }
        }
        self.good.load(Ordering::Relaxed).then(|| self.holes.load(Ordering::Relaxed))
    }

    /// Checks a block of columns and a block of rows, above the diagonal.
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

    /// Checks a tile. Copies the mirror image transposed first, so that both are read along columns, and uses no branches inside.
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
                let close = ((a - b).abs() <= APART) | (a.is_nan() & b.is_nan());
                bad |= !close | (a.abs() > 1.0 + BEYOND) | (b.abs() > 1.0 + BEYOND);
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
    use ndarray::{Array2, ShapeBuilder};

    #[test]
    fn what_is_no_correlation_matrix_is_seen() {
        // More than one block of tiles.
        let p = 300;
        let good = Array2::from_shape_fn((p, p).f(), |(x, y)| if x == y { 1.0 } else { 0.25 });
        assert_eq!(Check::new(good.view()).verdict(&Pool::none()), Some(false));
        // A GPU's findings apply to everything except the diagonal, which is checked before.
        let decided = |c: &Array2<f64>, is_good, has_holes| {
            let check = Check::new(c.view());
            assert!(!check.has_begun());
            check.stop();
            check.decide(is_good, has_holes);
            check.work();
            assert!(check.has_begun());
            check.verdict(&Pool::none())
        };
        let seen = [(true, false), (true, true), (false, false)].map(|(is_good, holes)| decided(&good, is_good, holes));
        assert_eq!(seen, [Some(false), Some(true), None]);
        let covariances = Array2::from_elem((p, p).f(), 0.5);
        assert_eq!(decided(&covariances, true, false), None);
        assert_eq!(Check::new(good.slice(ndarray::s![.., ..299])).verdict(&Pool::none()), None);
        let with = |changes: &[(usize, usize, f64)]| {
            let mut c = good.clone();
            for &(x, y, value) in changes {
                c[[x, y]] = value;
            }
            let verdict = Check::new(c.view()).verdict(&Pool::none());
            let (pool, stopped) = (Pool::new(3), Check::new(c.view()));
            stopped.stop();
            assert_eq!((stopped.verdict(&pool), stopped.verdict(&pool)), (verdict, verdict));
            let by_several = Check::new(c.view());
            pool.each(3, |_| by_several.work());
            assert_eq!(by_several.verdict(&Pool::none()), verdict);
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
