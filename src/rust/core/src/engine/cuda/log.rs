//! Separating sets that levels found, on the card until they are asked for.

use super::memory::Use;
use super::transfer::numbers;
use super::CudaEngine;
use crate::graph::Separations;
use crate::Result;

/// Records (row, other, members) of some levels, in device memory.
#[derive(Default)]
pub(super) struct Log {
    at: u64,
    room: u64,
    used: u64,
    /// By level: size of the sets and number of records.
    levels: Vec<(usize, u64)>,
    /// What was brought back before, for want of room.
    brought: Vec<Separations>,
}

/// Bytes of a record.
fn record(size: usize) -> u64 {
    4 * (2 + size as u64)
}

impl Log {
    /// Where a level that separates at most `pairs` may write.
    pub fn reserve(&mut self, engine: &mut CudaEngine, size: usize, pairs: u64) -> Result<u64> {
        let needed = record(size) * pairs;
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

    /// Enters what a level wrote.
    pub fn enter(&mut self, size: usize, records: u64) {
        if records > 0 {
            self.levels.push((size, records));
            self.used += record(size) * records;
        }
    }

    /// All that was logged, in the order of levels.
    pub fn bring(&mut self, engine: &mut CudaEngine) -> Result<Vec<Separations>> {
        self.drain(engine)?;
        Ok(std::mem::take(&mut self.brought))
    }

    fn drain(&mut self, engine: &mut CudaEngine) -> Result<()> {
        let mut from = self.at;
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
