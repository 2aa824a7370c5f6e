//! Separating sets that levels found. They stay on the GPU until they are asked for.

use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::CudaEngine;
use crate::graph::{SepSetLog, Separations, Singles};
use crate::Result;

/// Records of separated pairs, in device memory or copied to the host.
#[derive(Default)]
pub(in crate::engine::cuda) struct Log {
    /// Address of the records on the GPU. `room` is the number of bytes there, `used` the number in use.
    at: DevicePtr<u32>,
    room: u64,
    used: u64,
    /// Start of each row's records (other, member) of level 1, until they are copied to the host. They are the first of the log.
    singles: Option<Vec<u64>>,
    /// Bytes of level 1's records in the log.
    front: u64,
    /// Levels whose records are on the GPU: size of the sets, and number of records (row, other, members).
    levels: Vec<(usize, u64)>,
    /// Records on the host. Level 1's (`block`) are copied early, as they take longest; those of other levels when the log has no more
    /// room.
    block: Singles,
    brought: Vec<Separations>,
}

/// Returns the bytes of a record with a set of `size`.
fn record(size: usize) -> u64 {
    4 * (2 + size as u64)
}

/// Bytes of a record (other, member), the form that level 1 writes by rows.
const SINGLE: u64 = 8;

impl Log {
    /// Plans room for a level with sets of `size` that separates at most `pairs`. `singles`: level 1 writes its records by rows.
    pub fn plan(&mut self, engine: &mut CudaEngine, size: usize, singles: bool, pairs: u64) -> Result<()> {
        let needed = if size == 1 && singles { SINGLE } else { record(size) } * pairs;
        if self.used + needed > self.room {
            self.drain(engine)?;
            if needed > self.room {
                // Leaves room for a level with sets of two as well. Later levels separate fewer and fewer pairs.
                self.room = needed.max(record(2) * pairs);
            }
        }
        engine.held.plan.set(Buffer::Log, self.room);
        Ok(())
    }

    /// Returns the address at which the planned level writes, once the plan is committed.
    pub fn place(&mut self, engine: &mut CudaEngine) -> Result<DevicePtr<u32>> {
        self.at = engine.held.device(Buffer::Log)?;
        Ok(self.at.carve(self.used))
    }

    /// Enters the records that level 1 wrote by rows. `starts` has the number of each row's first record, then the number of records.
    pub fn enter_singles(&mut self, starts: Vec<u64>) {
        self.front = SINGLE * starts.last().copied().unwrap_or(0);
        self.used += self.front;
        self.singles = Some(starts);
    }

    /// Enters the records that a level wrote.
    pub fn enter(&mut self, size: usize, records: u64) {
        if records > 0 {
            self.levels.push((size, records));
            self.used += record(size) * records;
        }
    }

    /// Copies the records that level 1 wrote by rows to the host. Later levels may be running.
    pub fn bring_singles(&mut self, engine: &mut CudaEngine) -> Result<()> {
        if let Some(starts) = self.singles.take() {
            let count = starts.last().map_or(0, |count| *count as usize);
            let records = engine.held.bring_all(self.at.cast(), count)?;
            self.block = Singles { starts, records };
        }
        Ok(())
    }

    /// Copies all logged records to the host, into `sepsets`.
    pub fn bring_into(mut self, engine: &mut CudaEngine, sepsets: &mut SepSetLog) -> Result<()> {
        self.drain(engine)?;
        sepsets.set_singles(self.block);
        for found in self.brought {
            sepsets.extend(found);
        }
        Ok(())
    }

    /// Returns the set with which the last level entered a pair, or `None` if it entered none.
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
