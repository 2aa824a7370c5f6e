//! The largest p-values on the host: a p x p matrix, or those of the pairs that level 0 leaves.
//!
//! For a matrix, the GPU keeps one packed value for each pair. Most are final after level 1, so all are copied while the GPU runs the next
//! level. At the end only the values of pairs that were adjacent when that level began are copied again.
//!
//! The GPU numbers the pairs that level 0 leaves as [`Ranked`] does. From then on the Gaussian test keeps one value for each of them, in
//! that order. The discrete test needs the values of all pairs at level 0, and gathers the wanted ones at the end.

use std::ops::Range;

use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::held::Held;
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::gpu::transfer::each_column;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::search::{plan_ends, CudaSearch};
use crate::engine::cuda::{CudaEngine, CudaTest};
use crate::graph::{Adjacency, Ranked};
use crate::memory;
use crate::observer::Observer;
use crate::pool::Pool;
use crate::search::{Largest, Options};
use crate::Result;

/// The p-values of a search, and how much of a p x p matrix is filled.
pub(in crate::engine::cuda) struct PMax<'s> {
    largest: Largest<'s>,
    of_left: bool,
    p: usize,
    /// Number of values on the GPU.
    values: u64,
    /// Whether the lower triangle and the diagonal have been written.
    marked: bool,
    /// The pairs that level 0 leaves with their numbers, once they are on the host.
    ranked: Option<Ranked>,
    /// The pairs x < y whose values may have changed since the upper triangle was copied; `None` before.
    open: Option<Vec<[u32; 2]>>,
}

/// Returns the number of pairs x < y in the columns before column `y`.
pub(in crate::engine::cuda) fn triangle(y: usize) -> usize {
    y * y.saturating_sub(1) / 2
}

/// Returns the first column whose values are not all among the first `end` packed numbers.
fn column_at(end: usize) -> usize {
    let guess = ((2.0 * end as f64 + 0.25).sqrt() + 0.5) as usize;
    (guess.saturating_sub(2)..=guess + 2).rev().find(|&y| triangle(y) <= end).unwrap_or(0)
}

/// Copies the values of the pairs x < y in `columns` from the GPU, where they lie packed by column from address `at` on. They go to
/// `values`, these columns of a matrix with p rows. `mark`, if given, fills the rest of each column.
pub(in crate::engine::cuda) fn bring_columns(
    held: &mut Held,
    at: DevicePtr<f64>,
    columns: Range<usize>,
    p: usize,
    (values, mark): (&mut [f64], Option<f64>),
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let pool = held.pool.clone();
    let (first, before) = (columns.start, triangle(columns.start));
    let mut filled = first;
    let spread = |start: usize, packed: &[f64]| {
        // A piece ends with a column.
        let last = column_at(before + start + packed.len());
        each_column(
            &pool,
            &mut values[(filled - first) * p..(last - first) * p],
            p,
            filled,
            |y| if mark.is_none() { triangle(y) } else { y * p },
            |y, column| {
                let from = triangle(y) - before - start;
                column[..y].copy_from_slice(&packed[from..from + y]);
                if let Some(mark) = mark {
                    column[y..].fill(mark);
                }
            },
        );
        filled = last;
        look()
    };
    held.bring(at, triangle(columns.end) - before, |end| triangle(column_at(before + end)) - before, spread)?;
    if let Some(mark) = mark {
        // The first column has no pair.
        values[(filled - first) * p..].fill(mark);
    }
    Ok(())
}

impl<'s> PMax<'s> {
    pub fn new(mut largest: Largest<'s>, p: usize) -> Self {
        if let Largest::Square(values) = &mut largest {
            crate::memory::prefer_large_pages(values);
        }
        let of_left = matches!(largest, Largest::Left(_));
        let (ranked, open) = Default::default();
        PMax { largest, of_left, p, values: triangle(p) as u64, marked: false, ranked, open }
    }

    /// Creates a `PMax` without values, for kernels that are launched for a search that runs elsewhere.
    pub fn none(p: usize) -> Self {
        PMax { marked: true, ..PMax::new(Largest::Square(&mut []), p) }
    }

    /// Returns whether only the values of the pairs that level 0 leaves are wanted.
    pub fn is_of_left(&self) -> bool {
        self.of_left
    }

    /// Marks all pairs as untested; `graph` is the final graph.
    pub fn fill(&mut self, options: &Options, graph: &Adjacency) -> Result<()> {
        match &mut self.largest {
            Largest::Square(values) => {
                values.fill(options.untested());
                Ok(())
            }
            Largest::Left(left) => left.open(options, graph, &Adjacency::empty(self.p), 0.0, &Pool::none()),
        }
    }

    /// Writes `mark` to the lower triangle and the diagonal, once. Most of the time is the first touch of this memory.
    pub fn mark_rest(&mut self, pool: &Pool, mark: f64) {
        let p = self.p;
        if let (false, Largest::Square(values)) = (self.marked, &mut self.largest) {
            each_column(pool, values, p, 0, |y| y * p, |y, column| column[y..].fill(mark));
            self.marked = true;
        }
    }

    /// Returns whether the upper triangle has been copied to the host.
    pub fn is_brought(&self) -> bool {
        self.open.is_some()
    }

    /// Copies the upper triangle from address `at` on the GPU. The values of the pairs `open` may still change there.
    pub fn bring(
        &mut self,
        engine: &mut CudaEngine,
        at: DevicePtr<f64>,
        mark: f64,
        open: Vec<[u32; 2]>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (p, mark_now) = (self.p, (!self.marked).then_some(mark));
        let Largest::Square(values) = &mut self.largest else { return Ok(()) };
        bring_columns(&mut engine.held, at, 0..p, p, (values, mark_now), &mut || observer.look())?;
        self.marked = true;
        self.open = Some(open);
        Ok(())
    }
}

impl CudaSearch<'_, '_> {
    /// Copies the state at the beginning of the first level of slots, once, while the GPU runs that level. The state is the adjacent pairs
    /// (`list` and `offset`), level 1's separating sets and all p-values.
    pub(in crate::engine::cuda) fn bring_settled(&mut self, observer: &mut dyn Observer) -> Result<()> {
        if self.p_max.is_brought() {
            return Ok(());
        }
        if self.p_max.is_of_left() {
            self.p_max.open = Some(Vec::new());
            return self.log.bring_singles(self.engine);
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

    /// Numbers the pairs that level 0 has left on the GPU, if only their p-values are kept.
    pub(in crate::engine::cuda) fn open_pairs(&mut self) -> Result<()> {
        if !self.p_max.is_of_left() {
            return Ok(());
        }
        let is_gauss = matches!(self.engine.test, CudaTest::Gauss(_));
        if is_gauss {
            self.p_max.values = self.ends / 2;
            self.engine.held.plan.set(Buffer::PMax, 4 * self.ends.max(1));
            self.engine.held.commit()?;
        }
        self.point_to_ranks()?;
        // SAFETY: the ranks have been placed, and the degrees are those of the graph.
        unsafe {
            self.by_row(Kernel::rank_words)?;
            self.over_rows(Kernel::rank_rows)?;
        }
        if is_gauss {
            let values = self.engine.held.device(Buffer::PMax)?;
            self.keep_left(values, DevicePtr::NULL)?;
        } else {
            self.args.left = DevicePtr::NULL;
        }
        self.engine.held.gpu.copies_follow()
    }

    /// Lets the kernels read p_max as the values of the pairs that level 0 left.
    fn point_to_ranks(&mut self) -> Result<()> {
        let (p, words) = (self.args.p, self.args.p * self.args.words / 2);
        self.args.left_first = self.engine.held.device(Buffer::Ranks)?;
        self.args.left = self.args.left_first.offset(p);
        self.args.left_before = self.args.left.offset(words).cast();
        Ok(())
    }

    /// Writes p_max of the pairs that level 0 left to `values`: from the values of `all` pairs, or the initial values if `all` is null.
    fn keep_left(&mut self, values: DevicePtr<f64>, all: DevicePtr<f64>) -> Result<()> {
        (self.args.p_max, self.args.answers) = (values, all);
        // SAFETY: `values` has room for the pairs, which are numbered, and `all` is null or holds all pairs.
        unsafe { self.launch(Kernel::rank_values, self.blocks_for(self.args.p * self.args.words / 64 + 1)) }
    }

    /// Copies the graph that level 0 left, once, and numbers its pairs.
    pub(in crate::engine::cuda) fn bring_ranks(&mut self) -> Result<()> {
        if self.p_max.is_of_left() && self.p_max.ranked.is_none() {
            let ranks: DevicePtr<u64> = self.engine.held.device(Buffer::Ranks)?;
            let graph = self.bring_graph(ranks.offset(self.args.p).cast())?;
            self.p_max.ranked = Some(Ranked::new(graph, &self.engine.held.pool)?);
        }
        Ok(())
    }

    /// Copies the p-values that were not final, or all that are kept. The GPU must be idle.
    pub(in crate::engine::cuda) fn bring_p_values(&mut self, observer: &mut dyn Observer) -> Result<()> {
        if self.p_max.is_of_left() {
            return self.bring_left(observer);
        }
        let Some(open) = self.p_max.open.take() else {
            return self.p_max.bring(self.engine, self.args.p_max, self.args.mark, Vec::new(), observer);
        };
        if open.is_empty() {
            return Ok(());
        }
        let picked = self.pick(&open)?;
        let p = self.options.p;
        if let Largest::Square(values) = &mut self.p_max.largest {
            for (&[x, y], value) in open.iter().zip(picked) {
                values[y as usize * p + x as usize] = value;
            }
        }
        Ok(())
    }

    /// Copies the p-values of the pairs that level 0 left.
    fn bring_left(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.bring_ranks()?;
        let Some(pairs) = self.p_max.ranked.take() else { return Ok(()) };
        if let CudaTest::Discrete(_) = self.engine.test {
            // The levels' working memory is no longer needed.
            let plan = &mut self.engine.held.plan;
            plan_ends(plan, 0, false);
            plan.set(Buffer::Scratch, 0);
            plan.set(Buffer::Slots, 8 * pairs.len().max(1) as u64);
            self.engine.held.commit()?;
            let values = self.engine.held.device(Buffer::Slots)?.cast();
            self.point_to_ranks()?;
            self.keep_left(values, self.args.p_max)?;
            self.engine.held.gpu.copies_follow()?;
        }
        let values = self.engine.held.bring_all(self.args.p_max, pairs.len())?;
        if let Largest::Left(left) = &mut self.p_max.largest {
            left.enter(pairs, values);
        }
        observer.look()
    }

    /// Copies the p-values of `pairs`, at least one.
    fn pick(&mut self, pairs: &[[u32; 2]]) -> Result<Vec<f64>> {
        let count = pairs.len();
        self.args.count = count as u64;
        // Reuses the slots, one for each side of each pair, which are no longer needed.
        self.engine.held.plan.raise(Buffer::Slots, 16 * count as u64);
        self.engine.held.commit()?;
        self.args.pairs = self.engine.held.device(Buffer::Slots)?.cast();
        self.args.answers = self.args.pairs.carve(8 * count as u64);
        self.engine.held.upload(self.args.pairs, pairs.as_flattened())?;
        // SAFETY: there are `count` pairs, and room for as many answers.
        unsafe { self.launch(Kernel::pick, self.blocks_for(count as u64 / 32 + 1))? };
        self.engine.held.gpu.copies_follow()?;
        self.engine.held.bring_all(self.args.answers, count)
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
