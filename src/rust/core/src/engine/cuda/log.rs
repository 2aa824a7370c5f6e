//! Separating sets that levels found, on the card until they are asked for.

use super::memory::Use;
use super::transfer::{numbers, threads_for};
use super::CudaEngine;
use crate::graph::{SepSetLog, Separations};
use crate::Result;

/// Records of some levels, in device memory.
#[derive(Default)]
pub(super) struct Log {
    at: u64,
    room: u64,
    used: u64,
    /// Level 1: where the rows' records (other, member) start. They are the first of the log.
    singles: Option<Vec<u64>>,
    /// By level: size of the sets and number of records (row, other, members).
    levels: Vec<(usize, u64)>,
    /// What was brought back before, for want of room.
    brought: Vec<Separations>,
}

/// Bytes of a record.
fn record(size: usize) -> u64 {
    4 * (2 + size as u64)
}

/// Bytes of a record of level 1 by rows.
const SINGLE: u64 = 8;

impl Log {
    /// Where a level that separates at most `pairs` may write; `singles`: by rows, at level 1.
    pub fn reserve(&mut self, engine: &mut CudaEngine, size: usize, singles: bool, pairs: u64) -> Result<u64> {
        let needed = if size == 1 && singles { SINGLE } else { record(size) } * pairs;
        if self.used + needed > self.room {
            self.drain(engine)?;
            if needed > self.room {
                // Room for a level of pairs, too, as later ones find fewer and fewer.
                self.room = needed.max(record(2) * pairs);
                self.at = engine.device(Use::Log, self.room)?;
            }
        }
        Ok(self.at + self.used)
    }

    /// Enters what level 1 wrote by rows: `starts` has the number of each row's first record, and that of all records.
    pub fn enter_singles(&mut self, starts: Vec<u64>) {
        self.used += SINGLE * starts.last().copied().unwrap_or(0);
        self.singles = Some(starts);
    }

    /// Enters what a level wrote.
    pub fn enter(&mut self, size: usize, records: u64) {
        if records > 0 {
            self.levels.push((size, records));
            self.used += record(size) * records;
        }
    }

    /// Brings all that was logged.
    pub fn bring_into(&mut self, engine: &mut CudaEngine, sepsets: &mut SepSetLog) -> Result<()> {
        if self.brought.is_empty() {
            if let Some(starts) = self.singles.take() {
                // Straight from pinned memory to the rows.
                let mut first = 0;
                self.each_single(engine, &starts, |rows, records| {
                    let threads = threads_for(records.len());
                    sepsets.insert_singles(first, rows, records, threads);
                    first += rows.len() - 1;
                })?;
                self.at += SINGLE * starts.last().copied().unwrap_or(0);
            }
        }
        self.drain(engine)?;
        for found in self.brought.drain(..) {
            sepsets.extend(found);
        }
        Ok(())
    }

    /// The set under which the last level entered a pair.
    pub fn last_set(&mut self, engine: &mut CudaEngine, pair: [u32; 2]) -> Result<Option<Vec<u32>>> {
        self.drain(engine)?;
        let set = |level: &Separations| {
            let at = level.pairs.iter().position(|known| *known == pair)?;
            Some(level.members[at * level.size..(at + 1) * level.size].to_vec())
        };
        Ok(self.brought.last().and_then(set))
    }

    /// The records of level 1 in pieces of whole rows: `take(starts, records)`, with the rows' starts among all records.
    fn each_single(
        &self,
        engine: &mut CudaEngine,
        starts: &[u64],
        mut take: impl FnMut(&[u64], &[[u32; 2]]),
    ) -> Result<()> {
        let bytes = SINGLE as usize * starts.last().copied().unwrap_or(0) as usize;
        let row_at = |end: usize| starts.partition_point(|&start| SINGLE as usize * start as usize <= end) - 1;
        let mut first = 0;
        engine.bring(
            self.at,
            bytes,
            |end| SINGLE as usize * starts[row_at(end)] as usize,
            |offset, piece| {
                let last = row_at(offset + piece.len());
                take(&starts[first..=last], numbers(piece));
                first = last;
            },
        )
    }

    fn drain(&mut self, engine: &mut CudaEngine) -> Result<()> {
        let mut from = self.at;
        if let Some(starts) = self.singles.take() {
            let mut found = Separations::of_size(1);
            let mut row = 0;
            self.each_single(engine, &starts, |rows, records| {
                let mut rest = records;
                for window in rows.windows(2) {
                    let (own, later) = rest.split_at((window[1] - window[0]) as usize);
                    rest = later;
                    own.iter().for_each(|&[other, member]| found.push(row, other, &[member]));
                    row += 1;
                }
            })?;
            self.brought.push(found);
            from += SINGLE * starts.last().copied().unwrap_or(0);
        }
        for (size, records) in self.levels.drain(..) {
            let mut found = Separations::of_size(size);
            found.pairs.reserve_exact(records as usize);
            found.members.reserve_exact(records as usize * size);
            let bytes = record(size) as usize;
            engine.bring(
                from,
                bytes * records as usize,
                |end| end / bytes * bytes,
                |_, piece| {
                    for one in numbers::<u32>(piece).chunks_exact(2 + size) {
                        found.push(one[0], one[1], &one[2..]);
                    }
                },
            )?;
            self.brought.push(found);
            from += bytes as u64 * records;
        }
        self.used = 0;
        Ok(())
    }
}
