//! What a search by blocks has found, on the host.

use std::ops::Range;

use crate::engine::cuda::arguments::{SECOND, VERDICT_OPEN};
use crate::graph::{Adjacency, Ranked, SepSetLog, SepSets, Separations};
use crate::memory;
use crate::pool::{part_of, Pool};
use crate::search::checkpoint::Found;
use crate::search::singly::{self, each_pair, Singly};
use crate::search::{Cells, Largest, Options};
use crate::Result;

/// The largest p-values and the separating sets.
pub(super) struct Answer<'s> {
    options: &'s Options,
    largest: Largest<'s>,
    sepsets: SepSetLog,
    /// The pairs that level 0 leaves, by number, once it has run.
    ranked: Option<Ranked>,
    /// By number, once level 1 has run: their values where only these are wanted, and its verdicts where it ran by slices, with how many sets
    /// are kept under each vertex.
    values: Vec<f64>,
    has_values: bool,
    verdicts: Vec<u32>,
    counts: Vec<u32>,
}

impl<'s> Answer<'s> {
    pub fn new(options: &'s Options, largest: Largest<'s>) -> Self {
        let sepsets = SepSetLog::new(options.p, options.empty_side());
        let (values, verdicts, counts) = Default::default();
        Answer { options, largest, sepsets, ranked: None, values, has_values: false, verdicts, counts }
    }

    /// Whether the p-values of all pairs are wanted.
    pub fn is_square(&self) -> bool {
        matches!(self.largest, Largest::Square(_))
    }

    /// Whether the p-values of the pairs that level 0 left are not there yet.
    pub fn wants_values(&self) -> bool {
        !self.is_square() && !self.has_values
    }

    /// Columns y of the p x p matrix of p-values, and the mark of no test, where all pairs' are wanted.
    pub fn columns(&mut self, columns: Range<usize>) -> Option<(&mut [f64], f64)> {
        let (p, mark) = (self.options.p, self.options.untested());
        match &mut self.largest {
            Largest::Square(values) => Some((&mut values[columns.start * p..columns.end * p], mark)),
            Largest::Left(_) => None,
        }
    }

    /// Level 0 has left this graph, and the empty set separates these pairs. Returns the graph's degrees.
    pub fn begin(&mut self, pool: &Pool, graph: &Adjacency, empty: Adjacency) -> Result<Vec<usize>> {
        self.sepsets.set_empty(empty);
        let ranked = Ranked::new(graph.copied(pool)?, pool)?;
        if !self.is_square() {
            self.values = memory::zeros(ranked.len(), memory::Use::Pairs)?;
        }
        let degrees = (0..self.options.p).map(|x| ranked.degree(x)).collect();
        self.ranked = Some(ranked);
        Ok(degrees)
    }

    /// Where the rows' pairs with larger vertices begin of the graph that level 0 left, and the number of all.
    pub fn firsts(&self) -> Vec<u64> {
        self.ranked.as_ref().map_or_else(|| vec![0; self.options.p + 1], Ranked::firsts)
    }

    /// The pairs of the graph that level 0 left, by number.
    pub fn ranked(&self) -> Option<&Ranked> {
        self.ranked.as_ref()
    }

    /// Level 1 begins by slices.
    pub fn begin_singles(&mut self) -> Result<()> {
        let count = self.ranked.as_ref().map_or(0, Ranked::len);
        self.verdicts = memory::zeros(count, memory::Use::Level)?;
        memory::prefer_large_pages(&mut self.verdicts);
        Ok(())
    }

    /// Where the verdicts of these pairs of the graph that level 0 left go.
    pub fn verdicts(&mut self, pairs: Range<usize>) -> &mut [u32] {
        &mut self.verdicts[pairs]
    }

    /// Where the p-values of these pairs go; none where all pairs' are wanted.
    pub fn left_values(&mut self, pairs: Range<usize>) -> Option<&mut [f64]> {
        self.has_values = true;
        if self.is_square() {
            return None;
        }
        Some(&mut self.values[pairs])
    }

    /// Enters the p-values of the pairs x < y of some rows x, in their order, where all pairs' are wanted.
    pub fn enter_rows(&mut self, pool: &Pool, rows: &Range<usize>, values: &[f64]) {
        let p = self.options.p;
        if let (Largest::Square(cells), Some(ranked)) = (&mut self.largest, &self.ranked) {
            let (first, before) = (rows.start, ranked.first_of(rows.start));
            let threads = pool.threads().clamp(1, values.len() / (1 << 16) + 1);
            let each = part_of(p - first, threads);
            let parts: Vec<(usize, &mut [f64])> =
                cells[first * p..].chunks_mut(each * p).enumerate().map(|(i, part)| (first + i * each, part)).collect();
            pool.each_of(parts, |_, (from, part): (usize, &mut [f64])| {
                let columns = from..from + part.len() / p;
                each_pair(ranked, rows, &columns, |x, y, at| part[(y - from) * p + x] = values[at - before]);
            });
        }
    }

    /// Enters what was found of the pairs of some rows that were left open, in their order; those of row i have the places from starts[i] to
    /// starts[i + 1] - 1, less the first.
    pub fn close(
        &mut self,
        pool: &Pool,
        rows: Range<usize>,
        starts: &[u64],
        verdicts: &[u32],
        values: &[f64],
    ) -> Result<()> {
        let Some(ranked) = &self.ranked else { return Ok(()) };
        let p = self.options.p;
        let place = |i: usize| (starts[i] - starts[0]) as usize;
        let is_square = matches!(self.largest, Largest::Square(_));
        let mut others: Vec<u32> = memory::zeros(if is_square { verdicts.len() } else { 0 }, memory::Use::Level)?;
        let mut parts = Vec::with_capacity(rows.len());
        let mut own = &mut self.verdicts[ranked.numbers_of(&rows)];
        let mut left = match &self.largest {
            Largest::Square(_) => &mut [][..],
            Largest::Left(_) => &mut self.values[ranked.numbers_of(&rows)],
        };
        let mut rest = &mut others[..];
        for (i, x) in rows.clone().enumerate() {
            let count = ranked.numbers_of(&(x..x + 1)).len();
            let of_row = take_first(&mut own, count);
            let values_of_row = take_first(&mut left, count);
            parts.push((of_row, values_of_row, take_first(&mut rest, place(i + 1) - place(i))));
        }
        pool.each_of(parts, |i, (of_row, values_of_row, others): (&mut [u32], &mut [f64], &mut [u32])| {
            let open = of_row.iter_mut().zip(ranked.larger(rows.start + i)).enumerate();
            let open = open.filter(|(_, (verdict, _))| **verdict == VERDICT_OPEN);
            for ((at, (verdict, y)), found) in open.zip(place(i)..) {
                *verdict = verdicts[found];
                if let Some(other) = others.get_mut(found - place(i)) {
                    *other = y;
                }
                if let Some(value) = values_of_row.get_mut(at) {
                    *value = values[found];
                }
            }
        });
        if let Largest::Square(cells) = &mut self.largest {
            let (others, each) = (&others, part_of(p - rows.start, pool.threads()));
            let columns = cells[rows.start * p..].chunks_mut(each * p).collect();
            pool.each_of(columns, |part, cells: &mut [f64]| {
                let from = rows.start + part * each;
                let end = from + cells.len() / p;
                for (i, x) in rows.clone().enumerate() {
                    let of_row = &others[place(i)..place(i + 1)];
                    let (first, last) =
                        [from, end].map(|y| of_row.partition_point(|&other| (other as usize) < y)).into();
                    for (at, &y) in (first..last).zip(&of_row[first..last]) {
                        cells[(y as usize - from) * p + x] = values[place(i) + at];
                    }
                }
            });
        }
        Ok(())
    }

    /// Level 1 has found so many sets that are kept under each vertex.
    pub fn set_counts(&mut self, counts: Vec<u32>) {
        self.counts = counts;
    }

    /// The largest p-values of the pairs that level 0 left, which threads raise.
    pub fn cells(&mut self) -> Option<Cells<'_>> {
        match (&mut self.largest, &self.ranked) {
            (Largest::Square(cells), _) => Some(Cells::of_square(cells, self.options.p)),
            (Largest::Left(_), Some(ranked)) => Some(Cells::of_left(&mut self.values, ranked)),
            (Largest::Left(_), None) => None,
        }
    }

    /// Enters separating sets of a level of sets.
    pub fn separate(&mut self, found: Separations) {
        self.sepsets.extend(found);
    }

    /// Where the p-values go.
    pub fn largest(&mut self) -> &mut Largest<'s> {
        &mut self.largest
    }

    /// What so many levels have found, which left this graph. Of the pairs that level 0 left the p-values go where they are wanted.
    pub fn found(&mut self, levels: usize, graph: &Adjacency, pool: &Pool) -> Result<Found> {
        let mut sepsets = self.sepsets.clone();
        if let Some(ranked) = &self.ranked {
            if !self.verdicts.is_empty() {
                let singly = Singly { ranked, verdicts: &self.verdicts };
                sepsets.set_singles(singly.sets(self.options, &self.counts, pool)?);
            }
            if let Largest::Left(left) = &mut self.largest {
                left.enter(ranked.clone(), self.values.clone());
            }
        }
        Ok(Found { levels, graph: graph.clone(), sepsets, is_exact: true })
    }

    /// Begins with what levels have found in an earlier call.
    pub fn resume(&mut self, found: &Found, pool: &Pool) -> Result<()> {
        self.sepsets = found.sepsets.clone();
        if let Largest::Left(left) = &self.largest {
            if let Some((ranked, values)) = left.parts() {
                (self.ranked, self.values, self.has_values) = (Some(ranked.clone()), values.to_vec(), true);
            }
        } else if found.levels == 1 {
            self.ranked = Some(Ranked::new(found.graph.clone(), pool)?);
        }
        Ok(())
    }

    /// The answer where no level has run.
    pub fn finish_unbegun(mut self, graph: Adjacency) -> Result<(Adjacency, SepSets)> {
        match &mut self.largest {
            Largest::Square(values) => values.fill(self.options.untested()),
            Largest::Left(left) => left.open(self.options, &graph, &Adjacency::empty(self.options.p), 0.0)?,
        }
        Ok((graph, SepSets::new(self.options.p, self.options.empty_side())))
    }

    pub fn finish(mut self, graph: Adjacency, pool: &Pool) -> Result<(Adjacency, SepSets)> {
        if let (false, Some(ranked)) = (self.verdicts.is_empty(), &self.ranked) {
            let singly = Singly { ranked, verdicts: &self.verdicts };
            self.sepsets.set_singles(singly.sets(self.options, &self.counts, pool)?);
            self.verdicts = Vec::new();
        }
        if let (Largest::Left(left), Some(ranked)) = (self.largest, self.ranked) {
            left.enter(ranked, self.values);
        }
        Ok((graph, self.sepsets.finish(pool)?))
    }
}

/// Takes the first elements away, as many as there are of `count`.
fn take_first<'e, T>(rest: &mut &'e mut [T], count: usize) -> &'e mut [T] {
    let all = std::mem::take(rest);
    let (first, others) = all.split_at_mut(count.min(all.len()));
    *rest = others;
    first
}

// Kernels write verdicts as they are read.
const _: () = assert!(SECOND == singly::SECOND && VERDICT_OPEN == singly::NO_SEPARATOR);
