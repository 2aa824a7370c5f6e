//! The largest p-values on the host. The card keeps one for each pair, packed; the caller gets a p x p matrix. Most are final
//! after level 1, so that all are brought while the card runs the next level; at the end only those of pairs that were adjacent
//! at that level's start are brought again.

use crate::engine::cuda::card::buffer::Buffer;
use crate::engine::cuda::card::kernels::Kernel;
use crate::engine::cuda::card::transfer::{each_column, prefer_large_pages};
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::CudaEngine;
use crate::memory;
use crate::observer::Observer;
use crate::pool::Pool;
use crate::Result;

/// A search's matrix of p-values, p x p, column by column, and how much of it is filled.
pub(in crate::engine::cuda) struct PMax<'s> {
    values: &'s mut [f64],
    p: usize,
    /// Whether the lower triangle and the diagonal have been written.
    marked: bool,
    /// Once the upper triangle has been brought: the pairs x < y whose values may have changed since.
    open: Option<Vec<[u32; 2]>>,
}

/// Number of pairs x < y of the columns before column `y`.
fn triangle(y: usize) -> usize {
    y * y.saturating_sub(1) / 2
}

/// The first column whose values are not all among the first `end` packed numbers.
fn column_at(end: usize) -> usize {
    let guess = ((2.0 * end as f64 + 0.25).sqrt() + 0.5) as usize;
    (guess.saturating_sub(2)..=guess + 2).rev().find(|&y| triangle(y) <= end).unwrap_or(0)
}

impl<'s> PMax<'s> {
    pub fn new(values: &'s mut [f64], p: usize) -> Self {
        prefer_large_pages(values);
        PMax { values, p, marked: false, open: None }
    }

    /// Writes `mark` everywhere: nothing was tested.
    pub fn fill(&mut self, mark: f64) {
        self.values.fill(mark);
    }

    /// Writes `mark` to the lower triangle and the diagonal, once. Most of the time goes to touching this memory first.
    pub fn mark_rest(&mut self, pool: &Pool, mark: f64) {
        let p = self.p;
        if !self.marked {
            each_column(pool, self.values, p, 0, |y| y * p, |y, column| column[y..].fill(mark));
            self.marked = true;
        }
    }

    /// Whether the upper triangle has been brought.
    pub fn is_brought(&self) -> bool {
        self.open.is_some()
    }

    /// Brings the upper triangle from address `at` on the card; the values of the pairs `open` may still change there.
    pub fn bring(
        &mut self,
        engine: &mut CudaEngine,
        at: DevicePtr<f64>,
        mark: f64,
        open: Vec<[u32; 2]>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (p, marked, pool) = (self.p, self.marked, engine.held.pool.clone());
        let mut filled = 0;
        let values = &mut *self.values;
        let spread = |start: usize, packed: &[f64]| {
            // A piece ends with a column.
            let last = column_at(start + packed.len());
            each_column(
                &pool,
                &mut values[filled * p..last * p],
                p,
                filled,
                |y| if marked { triangle(y) } else { y * p },
                |y, column| {
                    let from = triangle(y) - start;
                    column[..y].copy_from_slice(&packed[from..from + y]);
                    if !marked {
                        column[y..].fill(mark);
                    }
                },
            );
            filled = last;
            observer.look()
        };
        engine.held.bring(at, triangle(p), |end| triangle(column_at(end)), spread)?;
        // With fewer than two variables nothing is copied.
        self.values[filled * p..].fill(mark);
        self.marked = true;
        self.open = Some(open);
        Ok(())
    }
}

impl CudaSearch<'_, '_> {
    /// Brings, once, while the card runs the first level of slots, what that level began with: the adjacent pairs (`list` and
    /// `offset`), level 1's separating sets and all p-values.
    pub(in crate::engine::cuda) fn bring_settled(&mut self, observer: &mut dyn Observer) -> Result<()> {
        if self.p_max.is_brought() {
            return Ok(());
        }
        let offsets: Vec<u64> = self.engine.held.bring_all(self.args.offset, self.options.p + 1)?;
        let count = offsets.last().copied().unwrap_or(0);
        let list: Vec<u32> = self.engine.held.bring_all(self.args.list, count as usize)?;
        let mut open = memory::space(list.len() / 2, memory::Use::Level)?;
        for (x, range) in (0u32..).zip(offsets.windows(2)) {
            let above = list[range[0] as usize..range[1] as usize].iter().filter(|y| **y > x);
            open.extend(above.map(|&y| [x, y]));
        }
        self.log.bring_singles(self.engine)?;
        self.p_max.bring(self.engine, self.args.p_max, self.args.mark, open, observer)
    }

    /// Brings the p-values that were not final, or all; nothing runs on the card.
    pub(in crate::engine::cuda) fn bring_p_values(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let Some(open) = self.p_max.open.take() else {
            return self.p_max.bring(self.engine, self.args.p_max, self.args.mark, Vec::new(), observer);
        };
        if open.is_empty() {
            return Ok(());
        }
        // The slots, one for each side of each pair, are no longer needed.
        let count = open.len();
        self.args.count = count as u64;
        self.engine.held.plan.raise(Buffer::Slots, 16 * count as u64);
        self.engine.held.commit()?;
        self.args.pairs = self.engine.held.device(Buffer::Slots)?.cast();
        self.args.answers = self.args.pairs.carve(8 * count as u64);
        self.engine.held.upload(self.args.pairs, open.as_flattened())?;
        // SAFETY: there are `count` pairs, and room for as many answers.
        unsafe { self.launch(Kernel::pick, self.blocks_for(count as u64 / 32 + 1))? };
        self.engine.held.card.copies_follow()?;
        let picked: Vec<f64> = self.engine.held.bring_all(self.args.answers, count)?;
        let p = self.options.p;
        for (&[x, y], value) in open.iter().zip(picked) {
            self.p_max.values[y as usize * p + x as usize] = value;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_end_with_the_column_that_they_fill() {
        for y in (0..2000).chain([46_340, 1 << 20]) {
            assert_eq!(column_at(triangle(y)).max(1), y.max(1));
            assert_eq!(column_at(triangle(y + 2) - 1), y + 1);
        }
    }
}
