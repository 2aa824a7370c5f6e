//! Separating sets that levels found, on the card until they are asked for.

use super::memory::Use;
use super::transfer::numbers;
use super::CudaEngine;
use crate::graph::{SepSetLog, Separations, Singles};
use crate::Result;

/// Records of some levels, in device memory.
#[derive(Default)]
pub(super) struct Log {
    at: u64,
    room: u64,
    used: u64,
    /// Level 1, until it is brought: where the rows' records (other, member) start. They are the first of the log.
    singles: Option<Vec<u64>>,
    /// Bytes of the log that level 1 has.
    front: u64,
    /// By level: size of the sets and number of records (row, other, members).
    levels: Vec<(usize, u64)>,
    /// What was brought back before: level 1, as that takes longest, and others for want of room.
    block: Singles,
    brought: Vec<Separations>,
}

/// Bytes of a record.
fn record(size: usize) -> u64 {
    4 * (2 + size as u64)
}

/// Bytes of a record of level 1 by rows.
const SINGLE: u64 = 8;

impl Log {
    /// Plans room for a level that separates at most `pairs`; `singles`: by rows, at level 1.
    pub fn plan(&mut self, engine: &mut CudaEngine, size: usize, singles: bool, pairs: u64) -> Result<()> {
        let needed = if size == 1 && singles { SINGLE } else { record(size) } * pairs;
        if self.used + needed > self.room {
            self.drain(engine)?;
            if needed > self.room {
                // Room for a level of pairs, too, as later ones find fewer and fewer.
                self.room = needed.max(record(2) * pairs);
            }
        }
        engine.held.plan.set(Use::Log, self.room);
        Ok(())
    }

    /// Where that level may write, once the plan is committed.
    pub fn place(&mut self, engine: &mut CudaEngine) -> Result<u64> {
        self.at = engine.held.device(Use::Log)?;
        Ok(self.at + self.used)
    }

    /// Enters what level 1 wrote by rows: `starts` has the number of each row's first record, and that of all records.
    pub fn enter_singles(&mut self, starts: Vec<u64>) {
        self.front = SINGLE * starts.last().copied().unwrap_or(0);
        self.used += self.front;
        self.singles = Some(starts);
    }

    /// Enters what a level wrote.
    pub fn enter(&mut self, size: usize, records: u64) {
        if records > 0 {
            self.levels.push((size, records));
            self.used += record(size) * records;
        }
    }

    /// Brings what level 1 wrote by rows; later levels may be running.
    pub fn bring_singles(&mut self, engine: &mut CudaEngine) -> Result<()> {
        if let Some(starts) = self.singles.take() {
            let count = starts.last().copied().unwrap_or(0);
            let records = engine.bring_all(self.at, count as usize)?;
            self.block = Singles { starts, records };
        }
        Ok(())
    }

    /// Brings all that was logged.
    pub fn bring_into(mut self, engine: &mut CudaEngine, sepsets: &mut SepSetLog) -> Result<()> {
        self.drain(engine)?;
        sepsets.set_singles(self.block);
        for found in self.brought {
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

    fn drain(&mut self, engine: &mut CudaEngine) -> Result<()> {
        self.bring_singles(engine)?;
        let mut from = self.at + self.front;
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
                    Ok(())
                },
            )?;
            self.brought.push(found);
            from += bytes as u64 * records;
        }
        (self.used, self.front) = (0, 0);
        Ok(())
    }
}
