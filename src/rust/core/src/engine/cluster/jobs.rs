//! The jobs of a cluster, unit by unit: columns of level 0, shards or pairs of a level, questions.

use std::ops::Range;

use super::message::Request;
use crate::ci::Batch;
use crate::memory::{self, Use};
use crate::pool::Pool;
use crate::search::answer::Answers;
use crate::search::book::Book;
use crate::search::columns::{pairs_of_column, Columns, Told};
use crate::search::pairs::{PairLevel, PairRows, PAIR_ROWS};
use crate::search::shards::Work;
use crate::search::wire::Reader;
use crate::search::worker::{Column, Marginals};
use crate::Result;

/// A job that ranks do piece by piece.
pub(super) trait Job {
    /// Returns the cost of each unit.
    fn costs(&self) -> Vec<f64>;

    /// Returns whether a rank needs the graph for the job.
    fn needs_graph(&self) -> bool {
        true
    }

    /// Returns the request for these units on the graph of this number.
    fn request(&self, graph: u64, units: Range<usize>) -> Request<'static>;

    /// Enters an answer. Returns `None` if it does not fit these units.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error).
    fn take(&mut self, units: Range<usize>, answer: &[u8]) -> Result<Option<()>>;
}

/// Joins neighbouring parts into groups that cost at most `most`. A part that costs more is a group of its own.
fn grouped(parts: impl Iterator<Item = (Range<usize>, f64)>, most: f64) -> Vec<(Range<usize>, f64)> {
    let mut groups: Vec<(Range<usize>, f64)> = Vec::new();
    for (part, own) in parts {
        match groups.last_mut() {
            Some((group, cost)) if *cost + own <= most => {
                *group = group.start.min(part.start)..group.end.max(part.end);
                *cost += own;
            }
            _ => groups.push((part, own)),
        }
    }
    groups
}

/// Level 0 by columns. The last columns come first because they have the most pairs; so the ranks end together.
pub(super) struct Settling<'a, 'c> {
    level: &'a Marginals<'a>,
    /// The number of the first column. The columns are consecutive.
    first: usize,
    columns: Vec<Option<Column<'c>>>,
    is_exact: bool,
    /// The columns of each unit, and the number of their pairs.
    units: Vec<(Range<usize>, f64)>,
}

impl<'a, 'c> Settling<'a, 'c> {
    /// Makes about `groups` units, for ranks that compute all of a level at once. Without `groups`, each column is a unit.
    pub fn new(level: &'a Marginals<'a>, columns: Vec<Column<'c>>, is_exact: bool, groups: Option<usize>) -> Self {
        let first = columns.first().map_or(0, Column::y);
        let costs: Vec<f64> = columns.iter().map(|column| pairs_of_column(level.pairs(), column.y()) as f64).collect();
        let least = groups.map_or(0.0, |groups| costs.iter().sum::<f64>() / groups as f64);
        let units = grouped(costs.into_iter().enumerate().rev().map(|(at, cost)| (at..at + 1, cost)), least);
        Settling { level, first, columns: columns.into_iter().map(Some).collect(), is_exact, units }
    }

    /// Returns the columns of these units.
    fn columns_of(&self, units: &Range<usize>) -> Range<usize> {
        self.units[units.end - 1].0.start..self.units[units.start].0.end
    }
}

impl Job for Settling<'_, '_> {
    fn costs(&self) -> Vec<f64> {
        self.units.iter().map(|&(_, cost)| cost).collect()
    }

    fn request(&self, graph: u64, units: Range<usize>) -> Request<'static> {
        let columns = self.columns_of(&units);
        let asked = Columns::of(self.level, self.first + columns.start..self.first + columns.end);
        Request::columns(graph, self.is_exact, &asked.to_bytes())
    }

    fn take(&mut self, units: Range<usize>, answer: &[u8]) -> Result<Option<()>> {
        let mut bytes = Reader(answer);
        let columns = self.columns_of(&units);
        let mut told = Vec::with_capacity(columns.len());
        for at in columns.clone() {
            let Some(column) = Told::read(self.level, self.first + at, self.is_exact, &mut bytes) else {
                return Ok(None);
            };
            told.push(column);
        }
        if bytes.end(()).is_none() {
            return Ok(None);
        }
        for (column, told) in self.columns[columns].iter_mut().zip(told) {
            if let Some(column) = column.take() {
                told.enter(column, self.level, self.is_exact);
            }
        }
        Ok(Some(()))
    }
}

/// The shards of a level.
pub(super) struct Deciding<'a, 'b> {
    work: &'a Work<'a>,
    book: &'a Book<'b>,
}

impl<'a, 'b> Deciding<'a, 'b> {
    pub fn new(work: &'a Work<'a>, book: &'a Book<'b>) -> Self {
        Deciding { work, book }
    }
}

impl Job for Deciding<'_, '_> {
    fn costs(&self) -> Vec<f64> {
        self.work.shards.iter().map(|shard| shard.cost).collect()
    }

    fn request(&self, graph: u64, units: Range<usize>) -> Request<'static> {
        Request::shards(graph, &self.work.piece_to_bytes(units))
    }

    fn take(&mut self, units: Range<usize>, answer: &[u8]) -> Result<Option<()>> {
        let mut reader = Reader(answer);
        let mut all = Vec::with_capacity(units.len());
        for shard in units {
            let read = |reader: &mut Reader| {
                let length = reader.small_index()?;
                Answers::from_bytes(reader.take(length)?, self.work, shard, self.book.wants_sets())
            };
            let Some(answers) = read(&mut reader) else { return Ok(None) };
            all.push(answers);
        }
        if reader.end(()).is_none() {
            return Ok(None);
        }
        for answers in all {
            let mut page = self.book.open(answers.shard as usize);
            page.enter_all(&answers);
            page.close();
        }
        memory::check()?;
        Ok(Some(()))
    }
}

/// Largest number of units per rank in level 1 by pairs, so that no rank waits long for another. A unit has at least `PAIR_TESTS` tests if
/// that leaves two units for every rank.
const PAIR_UNITS: usize = 12;
const PAIR_TESTS: f64 = 1e8;

/// The pairs of level 1: rows in whole blocks.
pub(super) struct Pairing<'a, 'r> {
    level: &'a PairLevel<'a>,
    /// The rows of each unit in order, and its number of tests if none is skipped.
    units: Vec<(Range<usize>, f64)>,
    /// Where the outcomes go, and the number of pairs before each unit.
    into: &'a mut PairRows<'r>,
    starts: Vec<usize>,
    pool: Pool,
}

impl<'a, 'r> Pairing<'a, 'r> {
    pub fn new(level: &'a PairLevel<'a>, into: &'a mut PairRows<'r>, ranks: usize, pool: Pool) -> Self {
        let (graph, rows) = (level.graph, into.rows.clone());
        // About half of a row's pairs are with larger vertices, and fewer in later rows.
        let cost = |x: usize| {
            let degree = graph.degree(x) as f64;
            degree * degree * (graph.p() - x) as f64 / graph.p() as f64
        };
        let costs: Vec<f64> = rows.clone().map(cost).collect();
        let total: f64 = costs.iter().sum();
        let count = ((total / PAIR_TESTS) as usize).clamp(2 * ranks, PAIR_UNITS * ranks);
        let block = |(number, costs): (usize, &[f64])| {
            let first = rows.start + number * PAIR_ROWS;
            (first..first + costs.len(), costs.iter().sum())
        };
        let units = grouped(costs.chunks(PAIR_ROWS).enumerate().map(block), total / count as f64);
        let mut starts = vec![0];
        for (rows, _) in &units {
            starts.push(starts[starts.len() - 1] + rows.clone().map(|x| graph.degree_above(x)).sum::<usize>());
        }
        Pairing { level, units, into, starts, pool }
    }

    fn rows_of(&self, units: &Range<usize>) -> Range<usize> {
        self.units[units.start].0.start..self.units[units.end - 1].0.end
    }
}

impl Job for Pairing<'_, '_> {
    fn costs(&self) -> Vec<f64> {
        self.units.iter().map(|&(_, cost)| cost).collect()
    }

    fn request(&self, graph: u64, units: Range<usize>) -> Request<'static> {
        let rows = Columns { options: self.level.options.clone(), keeps: false, columns: self.rows_of(&units) };
        Request::pairs(graph, &rows.to_bytes())
    }

    fn take(&mut self, units: Range<usize>, answer: &[u8]) -> Result<Option<()>> {
        let (rows, pairs) = (self.rows_of(&units), self.starts[units.start]..self.starts[units.end]);
        let mut own = PairRows::new(rows, &mut self.into.verdicts[pairs.clone()], &mut self.into.values[pairs]);
        if !own.enter(self.level.graph.p(), answer, &self.pool) {
            return Ok(None);
        }
        let counted = own.counted;
        self.into.counted.add(&counted);
        Ok(Some(()))
    }
}

/// A batch of questions.
pub(super) struct Asking<'a> {
    batch: &'a Batch,
    values: Vec<f64>,
}

impl<'a> Asking<'a> {
    pub fn new(batch: &'a Batch) -> Self {
        Asking { batch, values: Vec::new() }
    }

    pub fn values(mut self) -> Result<Vec<f64>> {
        if self.values.is_empty() {
            self.values = memory::zeros(self.batch.len(), Use::Level)?;
        }
        Ok(self.values)
    }
}

impl Job for Asking<'_> {
    fn costs(&self) -> Vec<f64> {
        vec![1.0; self.batch.len()]
    }

    fn needs_graph(&self) -> bool {
        false
    }

    fn request(&self, _graph: u64, units: Range<usize>) -> Request<'static> {
        let p = units.clone().map(|at| {
            let (x, y, s) = self.batch.get(at);
            s.iter().fold(x.max(y), |most, &member| most.max(member as usize)) + 1
        });
        Request::questions(p.max().unwrap_or(0), &self.batch.to_bytes(units))
    }

    fn take(&mut self, units: Range<usize>, answer: &[u8]) -> Result<Option<()>> {
        if self.values.is_empty() {
            self.values = memory::zeros(self.batch.len(), Use::Level)?;
        }
        let mut reader = Reader(answer);
        for value in &mut self.values[units] {
            let Some(p) = reader.float() else { return Ok(None) };
            *value = p;
        }
        Ok(reader.end(()))
    }
}
