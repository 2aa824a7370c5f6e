//! Level 0: a worker fills columns, and their findings enter the ledger.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Ledger;
use crate::ci::Batch;
use crate::graph::{no_bits, Adjacency, Form, Half};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::search::checkpoint::{write_view, ClosedColumn, DoneColumn, Part, View, Within};
use crate::search::largest::{Known, Largest};
use crate::search::levels::LevelReport;
use crate::search::marginals::{below, Closed, Column, Findings, Found, Marginals, Values};
use crate::search::progress::PartProgress;
use crate::search::saving::Saving;
use crate::search::worker::Worker;
use crate::Result;

/// Most bytes that a worker needs for a batch of columns of a large graph, if it keeps their findings as bits.
const BATCH: usize = 512 << 20;
/// Fewest batches.
const BATCHES: usize = 8;
/// Share of the pairs from which their lists foretell the lists of all.
const FORETELLS: f64 = 0.01;

/// Storage for the findings of some columns: a bit row for each column, or lists.
enum Storage<'a> {
    Bits(&'a mut [u64], &'a mut [u64]),
    Lists(&'a mut [Found]),
}

impl Ledger<'_> {
    /// Runs level 0 on a worker. Returns the graph as it was, and the number of tested pairs that are left.
    pub fn marginal(&mut self, worker: &mut dyn Worker, observer: &mut dyn Observer) -> Result<(Adjacency, u64)> {
        let p = self.options.p;
        // Four graphs, and the distribution of the columns.
        memory::room(4 * Adjacency::bytes(p) + 256 * p, Use::Pairs)?;
        let done = match self.resumed() {
            Some(Within { part: Part::Columns(done), .. }) => done,
            _ => Vec::new(),
        };
        // Finished columns may come from another worker.
        let is_exact = worker.is_exact() && matches!(self.largest, Largest::Square(_));
        self.is_exact = is_exact && (done.is_empty() || self.is_exact);
        let (rest, empty, left) = match self.graph.form() {
            Form::Bits => self.marginal_as_bits(worker, observer, done)?,
            Form::Lists => self.marginal_as_lists(worker, observer)?,
        };
        self.is_filled = true;
        self.floor = 0.0;
        self.sepsets.set_empty(empty);
        Ok((std::mem::replace(&mut self.graph, rest), left))
    }

    /// Runs level 0 for all pairs at once. Returns the pairs that stay, those that the empty set separates, and the number of tested pairs
    /// that stay.
    fn marginal_as_bits(
        &mut self,
        worker: &mut dyn Worker,
        observer: &mut dyn Observer,
        done: Vec<DoneColumn>,
    ) -> Result<(Adjacency, Adjacency, u64)> {
        let p = self.options.p;
        // Workers are the first to touch the columns. They leave their findings as bits, as there may be millions of pairs.
        let words = p.div_ceil(64);
        let (mut separated, mut kept) = (no_bits(p * words), no_bits(p * words));
        self.run_columns(worker, observer, 0..p, Storage::Bits(&mut separated, &mut kept), &done)?;
        for DoneColumn { y, separated: was_separated, kept: was_kept, values } in done {
            let of_column = y * words..y * words + was_kept.len();
            separated[of_column.clone()].copy_from_slice(&was_separated);
            kept[of_column].copy_from_slice(&was_kept);
            if let Largest::Square(p_max) = &mut self.largest {
                p_max[y * p..y * p + values.len()].copy_from_slice(&values);
            }
        }
        let pool = worker.pool().clone();
        let left = AtomicU64::new(0);
        let each = self.graph.rows_together(&pool);
        pool.each_of(kept.chunks_mut((each * words).max(1)).collect(), |part, kept: &mut [u64]| {
            let mut count = 0;
            for (y, row) in (part * each..).zip(kept.chunks_mut(words)) {
                let (graph, tested) = (self.graph.row(y), self.tested().row(y));
                for (w, kept) in row[..=y / 64].iter_mut().enumerate() {
                    count += u64::from(kept.count_ones());
                    // Untested pairs stay as they are.
                    *kept |= graph.word(w) & below(y, w) & !tested.word(w);
                }
            }
            left.fetch_add(count, Ordering::Relaxed);
        });
        let rest = Adjacency::from_half(p, &kept, Half::Lower, &pool)?;
        Ok((rest, Adjacency::from_half(p, &separated, Half::Lower, &pool)?, left.into_inner()))
    }

    /// Works as [`Ledger::marginal_as_bits`] for a graph that is kept as lists, some columns at a time.
    fn marginal_as_lists(
        &mut self,
        worker: &mut dyn Worker,
        observer: &mut dyn Observer,
    ) -> Result<(Adjacency, Adjacency, u64)> {
        let (p, words) = (self.options.p, self.options.p.div_ceil(64));
        let each = (BATCH / (2 * size_of::<u64>() * words)).clamp(1, p.div_ceil(BATCHES));
        let (mut rest, mut others, mut left, mut listed) = (Vec::with_capacity(p), Vec::with_capacity(p), 0, 0);
        let share = |end: usize| (end as f64 / p as f64).powi(2);
        for first in (0..p).step_by(each) {
            let columns = first..p.min(first + each);
            let mut part = PartProgress::new(observer, share(columns.start)..share(columns.end));
            let mut found = vec![Found::default(); columns.len()];
            self.run_columns(worker, &mut part, columns, Storage::Lists(&mut found), &[])?;
            for Found { rest: stay, unseparated, left: count } in found {
                listed += stay.len() + unseparated.len();
                rest.push(stay);
                others.push(unseparated);
                left += count;
            }
            memory::check()?;
            // The lists will have each pair from both vertices. The first pairs foretell the others, so that a graph that is too dense is
            // refused early.
            let done = share(first + each).min(1.0);
            let all = 2.0 * listed as f64 / if done > FORETELLS { done } else { 1.0 };
            memory::room(size_of::<u32>() * (all as usize - listed), Use::Pairs)?;
        }
        Ok((Adjacency::from_lower_lists(rest, false), Adjacency::from_lower_lists(others, true), left))
    }

    /// Runs level 0 a second time, from the larger vertex: asks for every pair that is left as (y, x).
    pub fn marginal_from_larger(&mut self, worker: &mut dyn Worker, observer: &mut dyn Observer) -> Result<()> {
        let mut batch = Batch::with_space(self.graph.edge_count(), 0)?;
        for y in 0..self.options.p {
            for x in self.graph.neighbours(y).take_while(|&x| (x as usize) < y) {
                if self.tested().has(x as usize, y) {
                    batch.push(y, x as usize, &[]);
                }
            }
        }
        let values = worker.p_values(&batch, observer)?;
        for ((y, x, _), p) in batch.iter().zip(values) {
            let p = self.options.read(p);
            self.raise(x, y, p);
            if p >= self.options.alpha {
                self.separate(y, x, &[]);
            }
        }
        Ok(())
    }

    /// Has a worker fill these columns of level 0, except those that are done.
    fn run_columns(
        &mut self,
        worker: &mut dyn Worker,
        observer: &mut dyn Observer,
        range: Range<usize>,
        storage: Storage,
        done: &[DoneColumn],
    ) -> Result<()> {
        let (p, words) = (self.options.p, self.options.p.div_ceil(64));
        let mut left = None;
        if !done.is_empty() {
            let mut pairs = self.tested().clone();
            done.iter().for_each(|column| (0..column.y).for_each(|x| pairs.remove(x, column.y)));
            left = Some(pairs);
        }
        let level = Marginals::new(
            self.options,
            left.as_ref().or(self.tested.as_ref()).unwrap_or(&self.graph),
            matches!(self.largest, Largest::Square(_)),
        );
        let closed = Closed::default();
        let graph = &self.graph;
        // Columns of a large graph are not kept one by one.
        let told = (observer.keeps() && matches!(storage, Storage::Bits(..))).then_some(&closed);
        let findings: Vec<Findings> = match storage {
            Storage::Bits(separated, kept) => {
                let rows = separated.chunks_mut(words).zip(kept.chunks_mut(words));
                rows.map(|(separated, kept)| Findings::Bits { separated, kept }).collect()
            }
            Storage::Lists(found) => found.iter_mut().map(|found| Findings::Lists { found, graph }).collect(),
        };
        let mut lent = match &mut self.largest {
            Largest::Square(p_max) => Some(p_max[range.start * p..range.end * p].chunks_mut(p)),
            Largest::Left(_) => None,
        };
        let mut column = |(y, findings)| {
            let p_values =
                lent.as_mut().and_then(|columns| columns.next()).map_or(Values::Spare(Vec::new()), Values::Lent);
            Column { y, p_values, findings, closed: told }
        };
        let columns = range.zip(findings).map(&mut column).collect();
        if told.is_none() {
            return worker.marginal(&level, columns, observer);
        }
        let (sepsets, is_exact) = (&self.sepsets, self.is_exact);
        let mut keep = |observer: &mut dyn Observer| {
            let is_new = |column: &&ClosedColumn| done.iter().all(|known| known.y != column.y);
            let mut all = done.to_vec();
            if let Ok(closed) = closed.lock() {
                all.extend(closed.iter().filter(is_new).map(ClosedColumn::done));
            }
            memory::check()?;
            let (report, part) = (LevelReport::default(), Part::Columns(all));
            let within = Some((None, &report, &part));
            let view = View { graph, sepsets, is_exact, known: Known::None, within };
            observer.keep(&mut |out| write_view(&view, out))
        };
        worker.marginal(&level, columns, &mut Saving::new(observer, &mut keep))
    }
}
