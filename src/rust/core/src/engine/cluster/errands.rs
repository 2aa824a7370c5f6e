//! What a cluster is asked for, unit by unit: columns of level 0, shards of a level, questions.

use std::ops::Range;

use super::message::Request;
use crate::ci::Batch;
use crate::memory::{self, Use};
use crate::search::answer::Answers;
use crate::search::book::Book;
use crate::search::columns::{Columns, Told};
use crate::search::shards::Work;
use crate::search::wire::Reader;
use crate::search::worker::{Column, Marginals};
use crate::Result;

/// Something that ranks do piece by piece.
pub(super) trait Errand {
    /// The cost of each unit.
    fn costs(&self) -> Vec<f64>;

    /// Whether a rank needs the graph for it.
    fn needs_graph(&self) -> bool {
        true
    }

    /// What a rank is asked for these units; the graph has this number.
    fn request(&self, graph: u64, units: Range<usize>) -> Request<'static>;

    /// Enters an answer; `None` where it is none to these units.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error).
    fn take(&mut self, units: Range<usize>, answer: &[u8]) -> Result<Option<()>>;
}

/// Level 0, column by column: the last first, which has the most pairs, so that the ranks end together.
pub(super) struct Settling<'a, 'c> {
    level: &'a Marginals<'a>,
    columns: Vec<Option<Column<'c>>>,
    is_exact: bool,
}

impl<'a, 'c> Settling<'a, 'c> {
    pub fn new(level: &'a Marginals<'a>, columns: Vec<Column<'c>>, is_exact: bool) -> Self {
        Settling { level, columns: columns.into_iter().map(Some).collect(), is_exact }
    }

    /// The columns of these units.
    fn columns_of(&self, units: &Range<usize>) -> Range<usize> {
        let all = self.columns.len();
        all - units.end..all - units.start
    }
}

impl Errand for Settling<'_, '_> {
    fn costs(&self) -> Vec<f64> {
        let pairs = self.level.pairs();
        let below = |y: usize| pairs.neighbours(y).take_while(|&x| (x as usize) < y).count() as f64;
        (0..self.columns.len()).rev().map(below).collect()
    }

    fn request(&self, graph: u64, units: Range<usize>) -> Request<'static> {
        Request::columns(graph, self.is_exact, &Columns::of(self.level, self.columns_of(&units)).to_bytes())
    }

    fn take(&mut self, units: Range<usize>, answer: &[u8]) -> Result<Option<()>> {
        let mut bytes = Reader(answer);
        let mut told = Vec::with_capacity(units.len());
        let columns = self.columns_of(&units);
        for y in columns.clone() {
            let Some(column) = Told::read(self.level, y, self.is_exact, &mut bytes) else { return Ok(None) };
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

impl Errand for Deciding<'_, '_> {
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

/// Questions.
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

impl Errand for Asking<'_> {
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
