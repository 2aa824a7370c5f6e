//! Level 0: a worker fills columns, and their findings enter the ledger.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Ledger;
use crate::ci::Batch;
use crate::graph::{no_bits, Adjacency, Half};
use crate::memory::{self, Use};
use crate::observer::Observer;
use crate::search::checkpoint::{write_view, ClosedColumn, DoneColumn, Part, View, Within};
use crate::search::largest::{Known, Largest};
use crate::search::levels::LevelReport;
use crate::search::marginals::{below, Closed, Column, Marginals, Values};
use crate::search::saving::Saving;
use crate::search::worker::Worker;
use crate::Result;

impl Ledger<'_> {
    /// Runs level 0 on a worker, all pairs at once. Returns the graph as it was, and the number of tested pairs that are left.
    pub fn marginal(&mut self, worker: &mut dyn Worker, observer: &mut dyn Observer) -> Result<(Adjacency, u64)> {
        let p = self.options.p;
        // Four graphs as bits, and the distribution of the columns.
        memory::room(4 * Adjacency::bytes(p) + 256 * p, Use::Pairs)?;
        let done = match self.resumed() {
            Some(Within { part: Part::Columns(done), .. }) => done,
            _ => Vec::new(),
        };
        // Finished columns may come from another worker.
        let is_exact = worker.is_exact() && matches!(self.largest, Largest::Square(_));
        self.is_exact = is_exact && (done.is_empty() || self.is_exact);
        // Workers are the first to touch the columns. They leave their findings as bits, as there may be millions of pairs.
        let words = p.div_ceil(64);
        let (mut separated, mut kept) = (no_bits(p * words), no_bits(p * words));
        self.run_columns(worker, observer, &mut separated, &mut kept, &done)?;
        for DoneColumn { y, separated: was_separated, kept: was_kept, values } in done {
            let of_column = y * words..y * words + was_kept.len();
            separated[of_column.clone()].copy_from_slice(&was_separated);
            kept[of_column].copy_from_slice(&was_kept);
            if let Largest::Square(p_max) = &mut self.largest {
                p_max[y * p..y * p + values.len()].copy_from_slice(&values);
            }
        }
        self.is_filled = true;
        self.floor = 0.0;
        let pool = worker.pool().clone();
        let left = AtomicU64::new(0);
        let each = self.graph.rows_together(&pool);
        pool.each_of(kept.chunks_mut((each * words).max(1)).collect(), |part, kept: &mut [u64]| {
            let mut count = 0;
            for (y, row) in (part * each..).zip(kept.chunks_mut(words)) {
                for (w, kept) in row[..=y / 64].iter_mut().enumerate() {
                    count += u64::from(kept.count_ones());
                    // Untested pairs stay as they are.
                    *kept |= self.graph.row(y)[w] & below(y, w) & !self.tested().row(y)[w];
                }
            }
            left.fetch_add(count, Ordering::Relaxed);
        });
        let rest = Adjacency::from_half(p, &kept, Half::Lower, &pool)?;
        let start = std::mem::replace(&mut self.graph, rest);
        self.sepsets.set_empty(Adjacency::from_half(p, &separated, Half::Lower, &pool)?);
        Ok((start, left.into_inner()))
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

    /// Has a worker fill the columns of level 0, except those that are done.
    fn run_columns(
        &mut self,
        worker: &mut dyn Worker,
        observer: &mut dyn Observer,
        separated: &mut [u64],
        kept: &mut [u64],
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
        let bits = separated.chunks_mut(words).zip(kept.chunks_mut(words));
        let mut lent = match &mut self.largest {
            Largest::Square(p_max) => Some(p_max.chunks_mut(p)),
            Largest::Left(_) => None,
        };
        let told = observer.keeps().then_some(&closed);
        let mut column = |(y, (separated, kept))| {
            let p_values =
                lent.as_mut().and_then(|columns| columns.next()).map_or(Values::Spare(Vec::new()), Values::Lent);
            Column { y, p_values, separated, kept, closed: told }
        };
        let columns = bits.enumerate().map(&mut column).collect();
        if told.is_none() {
            return worker.marginal(&level, columns, observer);
        }
        let (graph, sepsets, is_exact) = (&self.graph, &self.sepsets, self.is_exact);
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
