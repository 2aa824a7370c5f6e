//! Separating sets that levels found; they stay on the GPU until they are asked for.

use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::CudaEngine;
use crate::graph::{SepSetLog, Separations, Singles};
use crate::Result;

/// Records of separated pairs, in device memory or brought from there.
#[derive(Default)]
pub(in crate::engine::cuda) struct Log {
    /// Address of the records on the GPU, bytes of room for them, bytes in use.
    at: DevicePtr<u32>,
    room: u64,
    used: u64,
    /// Level 1, until it is brought: where the rows' records (other, member) start. They are the first of the log.
    singles: Option<Vec<u64>>,
    /// Bytes that level 1 has in the log.
    front: u64,
    /// By level on the GPU: size of the sets and number of records (row, other, members).
    levels: Vec<(usize, u64)>,
    /// What was brought: level 1 early, as it takes longest, and other levels where the log had no more room.
    block: Singles,
    brought: Vec<Separations>,
}

/// Bytes of a record.
fn record(size: usize) -> u64 {
    4 * (2 + size as u64)
}

/// Bytes of a record (other, member), which level 1 writes by rows.
const SINGLE: u64 = 8;

impl Log {
    /// Plans room for a level with sets of `size` that separates at most `pairs`; `singles`: it writes records by rows.
    pub fn plan(&mut self, engine: &mut CudaEngine, size: usize, singles: bool, pairs: u64) -> Result<()> {
        let needed = if size == 1 && singles { SINGLE } else { record(size) } * pairs;
        if self.used + needed > self.room {
            self.drain(engine)?;
            if needed > self.room {
                // Room for a level with sets of two, too: later levels separate fewer and fewer pairs.
                self.room = needed.max(record(2) * pairs);
            }
        }
        engine.held.plan.set(Buffer::Log, self.room);
        Ok(())
    }

    /// The address at which that level writes, once the plan is committed.
    pub fn place(&mut self, engine: &mut CudaEngine) -> Result<DevicePtr<u32>> {
        self.at = engine.held.device(Buffer::Log)?;
        Ok(self.at.carve(self.used))
    }

    /// Enters what level 1 wrote by rows: `starts` has the number of each row's first record, then the number of records.
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
            let count = starts.last().map_or(0, |count| *count as usize);
            let records = engine.held.bring_all(self.at.cast(), count)?;
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

    /// The set with which the last level entered a pair.
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
        let mut from: DevicePtr<u32> = self.at.carve(self.front);
        for (size, records) in self.levels.drain(..) {
            let mut found = Separations::of_size(size);
            found.pairs.reserve_exact(records as usize);
            found.members.reserve_exact(records as usize * size);
            let width = 2 + size;
            engine.held.bring(
                from,
                width * records as usize,
                |end| end / width * width,
                |_, piece| {
                    for one in piece.chunks_exact(width) {
                        found.push(one[0], one[1], &one[2..]);
                    }
                    Ok(())
                },
            )?;
            self.brought.push(found);
            from = from.offset(width as u64 * records);
        }
        (self.used, self.front) = (0, 0);
        Ok(())
    }
}
