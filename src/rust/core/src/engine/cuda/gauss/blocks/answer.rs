//! What a search by blocks has found, on the host.

use std::ops::Range;

use crate::engine::cuda::arguments::{SECOND, UNTESTED};
use crate::graph::{Adjacency, Ranked, SepSetLog, SepSets, Separations, Singles};
use crate::memory;
use crate::pool::Pool;
use crate::search::checkpoint::Found;
use crate::search::{Largest, Options};
use crate::Result;

/// The largest p-values and the separating sets.
pub(super) struct Answer<'s> {
    options: &'s Options,
    largest: Largest<'s>,
    sepsets: SepSetLog,
    /// The pairs that level 0 leaves, by number, once it has run.
    ranked: Option<Ranked>,
    /// By number, once level 1 has run: their values where only these are wanted, and its verdicts where it ran in panels.
    values: Vec<f64>,
    has_values: bool,
    verdicts: Vec<u32>,
}

impl<'s> Answer<'s> {
    pub fn new(options: &'s Options, largest: Largest<'s>) -> Self {
        let sepsets = SepSetLog::new(options.p, options.empty_side());
        Answer { options, largest, sepsets, ranked: None, values: Vec::new(), has_values: false, verdicts: Vec::new() }
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

    /// Level 0 has left this graph, and the empty set separates these pairs.
    pub fn begin(&mut self, pool: &Pool, graph: &Adjacency, empty: Adjacency) -> Result<()> {
        self.sepsets.set_empty(empty);
        let ranked = Ranked::new(graph.clone(), pool)?;
        if !self.is_square() {
            self.values = memory::zeros(ranked.len(), memory::Use::Pairs)?;
        }
        self.ranked = Some(ranked);
        Ok(())
    }

    /// Where the rows' pairs with larger vertices begin of the graph that level 0 left, and the number of all.
    pub fn firsts(&self) -> Vec<u64> {
        self.ranked.as_ref().map_or_else(|| vec![0; self.options.p + 1], Ranked::firsts)
    }

    /// Level 1 begins in panels.
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
            let each = (p - first).div_ceil(4 * threads).max(1);
            let parts: Vec<(usize, &mut [f64])> =
                cells[first * p..].chunks_mut(each * p).enumerate().map(|(i, part)| (first + i * each, part)).collect();
            pool.each_of(parts, |_, (from, part): (usize, &mut [f64])| {
                let columns = from..from + part.len() / p;
                each_pair(ranked, rows, &columns, |x, y, at| part[(y - from) * p + x] = values[at - before]);
            });
        }
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

    /// Where the p-values go.
    pub fn largest(&mut self) -> &mut Largest<'s> {
        &mut self.largest
    }

    /// What so many levels have found, which left this graph. Of the pairs that level 0 left the p-values go where they are wanted.
    pub fn found(&mut self, levels: usize, graph: &Adjacency, pool: &Pool) -> Result<Found> {
        let mut sepsets = self.sepsets.clone();
        if let Some(ranked) = &self.ranked {
            if !self.verdicts.is_empty() {
                let singly = Singly { ranked, verdicts: std::mem::take(&mut self.verdicts) };
                sepsets.set_singles(singly.sets(self.options, pool)?);
                self.verdicts = singly.verdicts;
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
            let verdicts = std::mem::take(&mut self.verdicts);
            self.sepsets.set_singles(Singly { ranked, verdicts }.sets(self.options, pool)?);
        }
        if let (Largest::Left(left), Some(ranked)) = (self.largest, self.ranked) {
            left.enter(ranked, self.values);
        }
        Ok((graph, self.sepsets.finish(pool)?))
    }
}

/// Calls `take(x, y, number)` for the pairs x < y of rows of a graph with y among `columns`, ascending in x for each y.
fn each_pair(ranked: &Ranked, rows: &Range<usize>, columns: &Range<usize>, mut take: impl FnMut(usize, usize, usize)) {
    for x in rows.start..rows.end.min(columns.end.saturating_sub(1)) {
        let low = columns.start.max(x + 1);
        let first = ranked.first_from(x, low);
        for (at, y) in (first..).zip(ranked.graph().neighbours_between(x, low..columns.end)) {
            take(x, y as usize, at);
        }
    }
}

/// Verdicts of level 1, by the numbers of its pairs.
struct Singly<'r> {
    ranked: &'r Ranked,
    verdicts: Vec<u32>,
}

impl Singly<'_> {
    /// Calls `take(vertex, other, verdict)` for the separated pairs that are kept under these vertices: of each, ascending.
    fn each_kept(&self, options: &Options, vertices: &Range<usize>, mut take: impl FnMut(usize, usize, u32)) {
        let kept = |x: usize, y: usize, verdict: u32| {
            let (row, other) = if verdict & SECOND != 0 { (y, x) } else { (x, y) };
            options.kept_under(row as u32, other as u32)[0] as usize
        };
        // Smaller ones first, which are those of a column; then larger ones, those of a row.
        each_pair(self.ranked, &(0..options.p), vertices, |x, y, at| {
            let verdict = self.verdicts[at];
            if verdict < UNTESTED && kept(x, y, verdict) == y {
                take(y, x, verdict);
            }
        });
        for x in vertices.clone() {
            for (y, &verdict) in self.ranked.larger(x).zip(&self.verdicts[self.ranked.first_of(x)..]) {
                let y = y as usize;
                if verdict < UNTESTED && kept(x, y, verdict) == x {
                    take(x, y, verdict);
                }
            }
        }
    }

    /// The separating sets, by the vertex that they are kept under.
    fn sets(&self, options: &Options, pool: &Pool) -> Result<Singles> {
        let p = options.p;
        let parts = 4 * pool.threads().clamp(1, self.verdicts.len() / (1 << 16) + 1);
        let each = p.div_ceil(parts).max(1);
        let mut counts = memory::zeros::<u32>(p, memory::Use::Sets)?;
        pool.each_of(counts.chunks_mut(each).collect(), |part, counts: &mut [u32]| {
            let vertices = part * each..part * each + counts.len();
            self.each_kept(options, &vertices, |v, _, _| counts[v - vertices.start] += 1);
        });
        let mut starts = memory::zeros::<u64>(p + 1, memory::Use::Sets)?;
        for v in 0..p {
            starts[v + 1] = starts[v] + u64::from(counts[v]);
        }
        let mut records: Vec<[u32; 2]> = memory::zeros(starts[p] as usize, memory::Use::Sets)?;
        memory::prefer_large_pages(&mut records);
        let mut shares = Vec::new();
        let mut rest = &mut records[..];
        for first in (0..p).step_by(each) {
            let end = p.min(first + each);
            let (share, behind) = std::mem::take(&mut rest).split_at_mut((starts[end] - starts[first]) as usize);
            rest = behind;
            shares.push((first..end, share));
        }
        pool.each_of(shares, |_, (vertices, share): (Range<usize>, &mut [[u32; 2]])| {
            let base = starts[vertices.start];
            let mut next: Vec<usize> = starts[vertices.clone()].iter().map(|start| (start - base) as usize).collect();
            self.each_kept(options, &vertices, |v, other, verdict| {
                let at = &mut next[v - vertices.start];
                share[*at] = [other as u32, verdict & !SECOND];
                *at += 1;
            });
        });
        Ok(Singles { starts, records })
    }
}
