//! What a search by blocks has found, on the host.

use std::ops::Range;

use crate::engine::cuda::card::transfer::each_column;
use crate::graph::{Adjacency, Ranked, SepSetLog, SepSets, Separations};
use crate::memory;
use crate::pool::Pool;
use crate::search::{Largest, Options};
use crate::Result;

/// Bits of a verdict of level 1, see kernels/gauss/single.cuh.
const UNTESTED: u32 = 0xffff_fffe;
const SECOND: u32 = 0x8000_0000;

/// The largest p-values and the separating sets.
pub(super) struct Answer<'s> {
    options: &'s Options,
    largest: Largest<'s>,
    sepsets: SepSetLog,
    /// Where only the pairs that level 0 leaves are wanted, once it has run: their numbers, and their values once level 1 has.
    ranked: Option<Ranked>,
    values: Vec<f64>,
    has_values: bool,
}

/// What level 1 found for the pairs x < y of rows of its graph, row by row.
pub(super) struct Found<'f> {
    pub rows: Range<usize>,
    /// Where each row's first pair stands, and the number of all.
    pub starts: &'f [u64],
    pub values: &'f [f64],
    /// None: the level did not run.
    pub verdicts: &'f [u32],
}

impl<'s> Answer<'s> {
    pub fn new(options: &'s Options, largest: Largest<'s>) -> Self {
        let sepsets = SepSetLog::new(options.p, options.empty_side());
        Answer { options, largest, sepsets, ranked: None, values: Vec::new(), has_values: false }
    }

    /// Whether the p-values of all pairs are wanted.
    pub fn is_square(&self) -> bool {
        matches!(self.largest, Largest::Square(_))
    }

    /// Whether the p-values of the pairs that level 0 left are not there yet.
    pub fn wants_values(&self) -> bool {
        !self.is_square() && !self.has_values
    }

    /// Enters p of the pairs of columns y from `first` on of level 0, packed.
    pub fn enter_marginal(&mut self, pool: &Pool, columns: Range<usize>, packed: &[f64]) {
        let (p, mark) = (self.options.p, self.options.untested());
        let triangle = |y: usize| y * y.saturating_sub(1) / 2;
        let start = triangle(columns.start);
        if let Largest::Square(values) = &mut self.largest {
            let cells = &mut values[columns.start * p..columns.end * p];
            each_column(
                pool,
                cells,
                p,
                columns.start,
                |y| y * p,
                |y, column| {
                    let from = triangle(y) - start;
                    column[..y].copy_from_slice(&packed[from..from + y]);
                    column[y..].fill(mark);
                },
            );
        }
    }

    /// Level 0 has left this graph, and the empty set separates these pairs.
    pub fn begin(&mut self, graph: &Adjacency, empty: Adjacency) -> Result<()> {
        self.sepsets.set_empty(empty);
        if !self.is_square() {
            let ranked = Ranked::new(graph.clone())?;
            self.values = memory::zeros(ranked.len(), memory::Use::Pairs)?;
            self.ranked = Some(ranked);
        }
        Ok(())
    }

    /// Enters what level 1 has found for some rows of the graph that it began with.
    pub fn enter_panel(&mut self, pool: &Pool, graph: &Adjacency, found: &Found) {
        let Found { rows, starts, values, verdicts } = found;
        let first = starts[0];
        let place = |x: usize| (starts[x - rows.start] - first) as usize;
        match &mut self.largest {
            Largest::Square(cells) => {
                scatter(pool, cells, self.options.p, graph, found);
            }
            Largest::Left(_) => {
                if let Some(ranked) = &self.ranked {
                    let at = ranked.first_of(rows.start);
                    self.values[at..at + values.len()].copy_from_slice(values);
                }
            }
        }
        self.has_values = true;
        if verdicts.is_empty() {
            return;
        }
        let options = self.options;
        let threads = pool.threads().clamp(1, verdicts.len() / (1 << 16) + 1);
        let bounds: Vec<Range<usize>> = cut(rows, starts, threads);
        let mut parts: Vec<Separations> = vec![Separations::of_size(1); bounds.len()];
        pool.each_of(
            bounds.into_iter().zip(&mut parts).collect(),
            |_, (some, part): (Range<usize>, &mut Separations)| {
                for x in some {
                    for (y, &verdict) in graph.neighbours_above(x).zip(&verdicts[place(x)..]) {
                        if verdict < UNTESTED {
                            let (row, other) = if verdict & SECOND != 0 { (y, x as u32) } else { (x as u32, y) };
                            let [under, with] = options.kept_under(row, other);
                            part.push(under, with, &[verdict & !SECOND]);
                        }
                    }
                }
            },
        );
        parts.into_iter().filter(|part| !part.pairs.is_empty()).for_each(|part| self.sepsets.extend(part));
    }

    /// Raises p of a pair that level 0 left.
    pub fn raise(&mut self, x: usize, y: usize, p: f64) {
        let (low, high) = (x.min(y), x.max(y));
        let cell = match (&mut self.largest, &self.ranked) {
            (Largest::Square(cells), _) => &mut cells[high * self.options.p + low],
            (Largest::Left(_), Some(ranked)) => &mut self.values[ranked.number(low, high)],
            (Largest::Left(_), None) => return,
        };
        if p > *cell {
            *cell = p;
        }
    }

    /// Enters separating sets of a level of sets.
    pub fn separate(&mut self, found: Separations) {
        self.sepsets.extend(found);
    }

    /// The answer where no level has run.
    pub fn finish_unbegun(mut self, graph: Adjacency) -> Result<(Adjacency, SepSets)> {
        match &mut self.largest {
            Largest::Square(values) => values.fill(self.options.untested()),
            Largest::Left(left) => left.open(self.options, &graph, &Adjacency::empty(self.options.p), 0.0)?,
        }
        Ok((graph, SepSets::new(self.options.p, self.options.empty_side())))
    }

    pub fn finish(self, graph: Adjacency, pool: &Pool) -> Result<(Adjacency, SepSets)> {
        if let (Largest::Left(left), Some(ranked)) = (self.largest, self.ranked) {
            left.enter(ranked, self.values);
        }
        Ok((graph, self.sepsets.finish(pool)?))
    }
}

/// Rows in so many parts, of about as many pairs each.
fn cut(rows: &Range<usize>, starts: &[u64], parts: usize) -> Vec<Range<usize>> {
    let (first, all) = (starts[0], starts[rows.len()] - starts[0]);
    let mut cuts = vec![rows.start];
    for part in 1..parts as u64 {
        let goal = first + all * part / parts as u64;
        let row = rows.start + starts.partition_point(|&start| start < goal).min(rows.len());
        if row > cuts[cuts.len() - 1] && row < rows.end {
            cuts.push(row);
        }
    }
    cuts.push(rows.end);
    cuts.windows(2).map(|cut| cut[0]..cut[1]).collect()
}

/// Rows whose cells of a column are written one after the other, as they share lines of memory.
const TOGETHER: usize = 64;

/// Writes the values of rows to the columns of a matrix.
fn scatter(pool: &Pool, cells: &mut [f64], p: usize, graph: &Adjacency, found: &Found) {
    let Found { rows, starts, values, .. } = found;
    let threads = pool.threads().clamp(1, values.len() / (1 << 16) + 1);
    let first = rows.start;
    let each = (p - first).div_ceil(4 * threads).max(1);
    let parts: Vec<(usize, &mut [f64])> =
        cells[first * p..].chunks_mut(each * p).enumerate().map(|(i, part)| (first + i * each, part)).collect();
    pool.each_of(parts, |_, (from, part): (usize, &mut [f64])| {
        let columns = from..from + part.len() / p;
        for together in rows.clone().step_by(TOGETHER) {
            for x in together..rows.end.min(together + TOGETHER) {
                let low = columns.start.max(x + 1);
                if low >= columns.end {
                    continue;
                }
                let before = graph.neighbours_between(x, x + 1..low).count();
                let at = (starts[x - rows.start] - starts[0]) as usize + before;
                for (y, value) in graph.neighbours_between(x, low..columns.end).zip(&values[at..]) {
                    part[(y as usize - from) * p + x] = *value;
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cut_without_gaps() {
        let starts = [5u64, 5, 9, 30, 31, 31, 40];
        for parts in 1..9 {
            let cuts = cut(&(10..16), &starts, parts);
            assert!(cuts.first().unwrap().start == 10 && cuts.last().unwrap().end == 16);
            assert!(cuts.windows(2).all(|two| two[0].end == two[1].start) && cuts.iter().all(|cut| !cut.is_empty()));
        }
    }
}
