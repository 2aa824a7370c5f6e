//! Discrete data on the GPU: level codes, the kernels' arguments, and the memory for counting.

use crate::ci::discrete::{Codes, Discrete, Rule, Statistic};
use crate::engine::cuda::arguments::{
    bench_bytes, bench_scratch, edge_bytes, gpupc_pair_bytes, DiscreteArgs, SearchArgs, ASKED_WORDS, COUNTING_BLOCKS,
    G2, MOST_OTHERS, PLANE_SAMPLES, SAMPLES_AT_A_TIME, X2,
};
use crate::engine::cuda::gpu::buffer::{Buffer, BufferId};
use crate::engine::cuda::gpu::kernels::Kernel;
use crate::engine::cuda::pointer::DevicePtr;
use crate::engine::cuda::CudaEngine;
use crate::memory;
use crate::Result;

/// Variables with at most this many levels have bit planes on the GPU, which take at most half as many bytes as their codes.
pub(super) const PLANE_LEVELS: usize = 4;

/// Tables of up to this many cells are counted by planes. On an H200 200 binary variables of 200,000 samples take 11.7 ms by planes and 26.4 ms by
/// bytes (bench/results.csv, suite discrete, cases "planes").
pub(super) const PLANE_CELLS: u64 = 32;

/// Most cells of a table in scratch. Larger tables are left to the CPU, which takes only the cells that occur.
const MOST_CELLS: u64 = 4 << 20;

/// Largest share of the data's bytes that scratch takes, or `SCRATCH` bytes if that is more.
const SCRATCH_SHARE: f64 = 0.9;
const SCRATCH: u64 = 512 << 20;

/// Questions for the CPU from which on blocks take no more work; those at work may add some.
pub(in crate::engine::cuda) const ASKED: u64 = 1 << 14;

/// Addresses of codes and planes on the GPU, see [`DiscreteArgs`].
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::cuda) struct Coding {
    pub codes: DevicePtr<u8>,
    pub column: DevicePtr<u64>,
    pub levels: DevicePtr<u32>,
    pub planes: DevicePtr<[u32; 4]>,
    pub plane: DevicePtr<u64>,
}

/// Returns the samples that a column has room for. Kernels ignore those beyond the data's.
pub(super) fn padded(test: &Discrete) -> usize {
    test.data().n().next_multiple_of(SAMPLES_AT_A_TIME as usize)
}

/// Returns whether a variable's codes take two bytes.
pub(super) fn is_wide(test: &Discrete, v: usize) -> bool {
    matches!(test.data().codes(v), Codes::Words(_))
}

/// Returns whether a variable has bit planes, one for each level.
pub(super) fn has_planes(test: &Discrete, v: usize) -> bool {
    test.data().levels(v) <= PLANE_LEVELS && !is_wide(test, v)
}

/// Returns the elements of a plane.
pub(super) fn plane_size(test: &Discrete) -> u64 {
    test.data().n().div_ceil(PLANE_SAMPLES as usize) as u64
}

/// Returns, by variable, the byte where its codes start, plus 1 if a code takes two bytes; and the bytes of all codes.
fn columns(test: &Discrete) -> (Vec<u64>, u64) {
    let mut at = 0;
    let column = |v: usize| {
        let (start, wide) = (at, is_wide(test, v));
        at += (padded(test) as u64) << u32::from(wide);
        start + u64::from(wide)
    };
    let starts: Vec<u64> = (0..test.data().p()).map(column).collect();
    (starts, at)
}

/// Returns, by variable, the element where its planes start, or `u64::MAX` if it has none; the elements of all planes, and of one.
fn planes(test: &Discrete) -> (Vec<u64>, u64, u64) {
    let size = plane_size(test);
    let mut at = 0;
    let start = |v: usize| {
        if !has_planes(test, v) {
            return u64::MAX;
        }
        let start = at;
        at += size * test.data().levels(v) as u64;
        // The kernels count elements in 32 bits.
        if at > u64::from(u32::MAX) {
            at = start;
            return u64::MAX;
        }
        start
    };
    let starts = (0..test.data().p()).map(start).collect();
    (starts, at, size)
}

/// Returns whether at least half of the variables have two levels or fewer. Bit planes then pay above level 0, too.
pub(in crate::engine::cuda) fn mostly_binary(test: &Discrete) -> bool {
    let data = test.data();
    2 * (0..data.p()).filter(|&v| data.levels(v) <= 2).count() >= data.p()
}

/// Returns the bytes of the codes, planes, offsets and numbers of levels on the GPU.
pub(in crate::engine::cuda) fn data_bytes(test: &Discrete) -> u64 {
    columns(test).1 + 16 * planes(test).1 + 20 * test.data().p() as u64 + BESIDE_COLUMNS
}

/// Bytes for rounding up the parts of columns, in addition to the bytes of each column.
pub(in crate::engine::cuda) const BESIDE_COLUMNS: u64 = 1024;

/// Returns the cells of the largest table, with margins, for sets of `size`: (a + 1)(b + 1) Π s over the largest numbers of levels.
fn largest_table(test: &Discrete, size: usize) -> f64 {
    let data = test.data();
    let mut levels: Vec<f64> = (0..data.p()).map(|v| data.levels(v) as f64).collect();
    levels.sort_by(|a, b| b.total_cmp(a));
    levels.truncate(size + 2);
    // The product is largest if the pair has the two smallest.
    let from = levels.len().saturating_sub(2);
    levels.iter().enumerate().map(|(i, &level)| if i < from { level } else { level + 1.0 }).product()
}

/// Scratch for counting at a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::engine::cuda) struct Scratch {
    /// Places for strata; 0 if none is needed.
    pub hash: u64,
    /// Cells of the table that scratch holds; 0 if shared memory holds all.
    pub most_cells: u64,
    /// Bytes of a block.
    pub bytes: u64,
    /// Blocks that have scratch.
    pub blocks: u32,
}

/// Returns the scratch for sets of `size`, if a block has `area` cells for tables and the GPU `processors` multiprocessors. It takes at
/// most `room` bytes, or what one block needs.
///
/// If the room is too small for all blocks that the GPU could run, there are fewer (z in gpuPC's paper).
pub(in crate::engine::cuda) fn scratch(test: &Discrete, size: usize, area: u64, processors: u32, room: u64) -> Scratch {
    let blocks = processors * COUNTING_BLOCKS;
    if largest_table(test, size) <= area as f64 {
        return Scratch { hash: 0, most_cells: 0, bytes: 0, blocks };
    }
    let n = test.data().n() as u64;
    let hash = (2 * n).next_power_of_two().max(1 << 10);
    let pair = largest_table(test, 0);
    let most_cells = if pair <= area as f64 { 0 } else { pair.min(MOST_CELLS as f64) as u64 };
    let bytes = bench_scratch(hash, n, most_cells).next_multiple_of(256);
    Scratch { hash, most_cells, bytes, blocks: (room / bytes).clamp(1, u64::from(blocks)) as u32 }
}

/// Returns the scratch for blocks of `threads`, which count `tables` tables of their own (strategies "edge" and "gpucsl").
pub(in crate::engine::cuda) fn scratch_of_tables(
    test: &Discrete,
    size: usize,
    tables: u32,
    threads: u32,
    processors: u32,
    room: u64,
) -> Scratch {
    let most_cells = largest_table(test, size).min(MOST_CELLS as f64) as u64;
    let bytes = u64::from(tables) * edge_bytes(size as u64, most_cells);
    let blocks = processors * (2048 / threads).min(32);
    let fitting = (room / bytes).clamp(1, u64::from(blocks)) as u32;
    Scratch { hash: 0, most_cells, bytes, blocks: fitting }
}

/// Shared memory of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::engine::cuda) struct Tables {
    /// Cells for tables.
    pub area: u64,
    /// Bytes in all.
    pub bytes: u64,
}

/// Returns the shared memory of a block for the table of a pair at gpuPC's level 0, and scratch if a table may exceed `shared_limit` bytes.
pub(in crate::engine::cuda) fn tables_of_pairs(
    test: &Discrete,
    threads: u32,
    processors: u32,
    (shared_limit, room): (u32, u64),
) -> (Tables, Scratch) {
    let cells = largest_table(test, 0).min(f64::from(shared_limit)) as u64;
    let fits = gpupc_pair_bytes(cells) <= u64::from(shared_limit);
    let area = if fits { cells } else { 0 };
    let scratch = scratch_of_tables(test, 0, 1, threads, processors, room);
    let none = Scratch { most_cells: 0, bytes: 0, blocks: processors * (2048 / threads).min(32), ..scratch };
    (Tables { area, bytes: gpupc_pair_bytes(area) }, if fits { none } else { scratch })
}

/// Returns the shared memory of a block for sets of up to `widest`. It is a share with which a multiprocessor runs [`COUNTING_BLOCKS`]
/// blocks. If the sets would take more than half of that share, it is all `shared_limit` bytes.
pub(in crate::engine::cuda) fn tables(widest: u64, shared_limit: u32) -> Tables {
    let limit = u64::from(shared_limit);
    // The GPU keeps 1 kB for itself in each block.
    let fair = limit / u64::from(COUNTING_BLOCKS) - 1024;
    let bytes = if bench_bytes(widest) <= fair / 2 { fair } else { limit } / 16 * 16;
    Tables { area: bytes.saturating_sub(bench_bytes(widest)) / 4, bytes }
}

impl CudaEngine<'_> {
    /// Copies the codes to the GPU, once.
    pub(in crate::engine::cuda) fn upload_codes(&mut self, test: &Discrete) -> Result<Coding> {
        if let Some(coding) = self.coding {
            return Ok(coding);
        }
        let coding = self.upload_columns(test)?;
        self.coding = Some(coding);
        Ok(coding)
    }

    fn upload_columns(&mut self, test: &Discrete) -> Result<Coding> {
        let data = test.data();
        let (starts, bytes) = columns(test);
        let p = data.p() as u64;
        let codes = self.held.device(Buffer::Data)?;
        let (plane_starts, elements, plane_size) = planes(test);
        let planes = codes.carve(bytes.next_multiple_of(256));
        let column: DevicePtr<u64> = planes.carve((16 * elements).next_multiple_of(256));
        let plane = column.offset(p);
        let levels = plane.offset(p).cast();
        let padded = padded(test);
        // Pieces may begin and end anywhere in a column; padding is never read as a sample.
        self.held.send_with(codes, bytes as usize, |offset, piece| {
            let mut v = starts.partition_point(|&start| start <= (offset as u64 | 1)) - 1;
            let mut at = offset;
            let mut rest = piece;
            while !rest.is_empty() {
                let start = (starts[v] & !1) as usize;
                let own: &[u8] = match data.codes(v) {
                    Codes::Bytes(codes) => codes,
                    Codes::Words(codes) => memory::bytes(codes),
                };
                let end = start + (padded << (starts[v] & 1));
                let (part, later) = rest.split_at_mut(rest.len().min(end - at));
                let known = own.len().saturating_sub(at - start).min(part.len());
                if known > 0 {
                    part[..known].copy_from_slice(&own[at - start..][..known]);
                }
                at += part.len();
                rest = later;
                v += 1;
            }
        })?;
        self.held.upload(column, &starts)?;
        let numbers: Vec<u32> = (0..data.p()).map(|v| data.levels(v) as u32).collect();
        self.held.upload(levels, &numbers)?;
        self.held.upload(plane, &plane_starts)?;
        let args = DiscreteArgs {
            a: SearchArgs { p, ..SearchArgs::default() },
            codes,
            column,
            levels,
            planes,
            plane,
            plane_size,
            n: data.n() as u64,
            ..DiscreteArgs::default()
        };
        let launch = Kernel::dis_planes.on((self.held.gpu.processors * 8, 1), 256, 0);
        // SAFETY: the addresses hold codes, starts, levels and planes of p variables, laid out as planned; they stay.
        unsafe { self.held.gpu.launch(launch, &args)? };
        Ok(Coding { codes, column, levels, planes, plane })
    }

    /// Returns the arguments that all kernels of a discrete test share, with the codes of all variables.
    pub(in crate::engine::cuda) fn discrete_args(&mut self, test: &Discrete) -> Result<DiscreteArgs> {
        let coding = self.upload_codes(test)?;
        Ok(self.args_with(test, coding))
    }

    /// Returns the arguments that all kernels of a discrete test share, with these codes.
    pub(super) fn args_with(&self, test: &Discrete, coding: Coding) -> DiscreteArgs {
        let Coding { codes, column, levels, planes, plane } = coding;
        let (bnlearn, adapt) = match test.rule() {
            Rule::Pcalg { adapt } => (false, adapt),
            Rule::Bnlearn { adapt } => (true, adapt),
        };
        DiscreteArgs {
            codes,
            column,
            levels,
            planes,
            plane,
            plane_size: plane_size(test),
            plane_cells: PLANE_CELLS,
            n: test.data().n() as u64,
            missing: u64::from(test.data().any_missing()),
            alpha: self.alpha,
            statistic: if test.statistic() == Statistic::X2 { X2 } else { G2 },
            bnlearn: u64::from(bnlearn),
            adapt: u64::from(adapt),
            tile: MOST_OTHERS,
            ..DiscreteArgs::default()
        }
    }

    /// Returns the bytes that scratch may take, next to `beside` bytes and to the plan without its bytes for `uses`.
    pub(in crate::engine::cuda) fn scratch_room(
        &mut self,
        test: &Discrete,
        uses: &[BufferId],
        beside: u64,
    ) -> Result<u64> {
        let share = ((data_bytes(test) as f64 * SCRATCH_SHARE) as u64).max(SCRATCH);
        Ok(share.min(self.held.room(uses)?.saturating_sub(beside)))
    }

    /// Sets a launch's tables, its scratch, and its room for questions to the CPU about sets of `widest`, as planned.
    pub(in crate::engine::cuda) fn place(
        &mut self,
        args: &mut DiscreteArgs,
        widest: usize,
        tables: Tables,
        scratch: &Scratch,
        asked_most: u64,
    ) -> Result<()> {
        args.largest_set = widest as u64;
        args.area = tables.area;
        args.hash = scratch.hash;
        args.most_cells = scratch.most_cells;
        args.block_bytes = scratch.bytes;
        args.a.scratch = match scratch.bytes {
            0 => DevicePtr::NULL,
            _ => self.held.device(Buffer::Scratch)?,
        };
        args.asked = self.held.device(Buffer::Asked)?;
        args.asked_most = asked_most;
        Ok(())
    }
}

/// Returns how many questions to the CPU need room: `most`, and those that `users`, blocks or threads at work, may add.
pub(in crate::engine::cuda) fn questions(most: u64, users: u64) -> u64 {
    most + MOST_OTHERS * users
}

/// Returns the bytes for this many questions to the CPU about sets of `size`.
pub(in crate::engine::cuda) fn asked_bytes(size: usize, questions: u64) -> u64 {
    4 * (ASKED_WORDS + size as u64) * questions
}

/// Returns the bytes for the answers to this many questions.
pub(in crate::engine::cuda) fn answered_bytes(questions: u64) -> u64 {
    8 * questions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::discrete::Coded;

    fn coded(n: usize, levels: &[u32]) -> Coded {
        Coded::new(ndarray::Array2::zeros(ndarray::ShapeBuilder::f((n, levels.len()))).view(), levels, false).unwrap()
    }

    fn test(data: &Coded) -> Discrete<'_> {
        Discrete::new(data, Statistic::G2, Rule::Bnlearn { adapt: false })
    }

    #[test]
    fn columns_are_padded_and_say_how_wide_they_are() {
        let data = coded(20, &[2, 255, 256, 3]);
        assert_eq!(columns(&test(&data)), (vec![0, 32, 64 + 1, 128], 160));
        // 20 samples are one element of a plane.
        assert_eq!(planes(&test(&data)), (vec![0, u64::MAX, u64::MAX, 2], 5, 1));
    }

    #[test]
    fn the_largest_table_is_that_of_the_most_levels() {
        let data = coded(5, &[3, 7, 2, 5]);
        let of = |size| largest_table(&test(&data), size);
        assert_eq!((of(0), of(1), of(2)), (8.0 * 6.0, 7.0 * 6.0 * 4.0, 7.0 * 5.0 * 4.0 * 3.0));
        assert_eq!(of(9), of(2));
    }

    #[test]
    fn scratch_is_for_tables_that_do_not_fit_and_never_beyond_its_room() {
        let data = coded(1000, &[10; 6]);
        let test = test(&data);
        let of = |size, room| scratch(&test, size, 10_000, 100, room);
        assert_eq!(of(1, 0), Scratch { hash: 0, most_cells: 0, bytes: 0, blocks: 100 * COUNTING_BLOCKS });
        let all = of(3, u64::MAX);
        assert_eq!((all.hash, all.most_cells, all.blocks), (2048, 0, 100 * COUNTING_BLOCKS));
        // The papers' z: fewer blocks take turns.
        let few = of(3, 7 * all.bytes + 1);
        assert_eq!((few.bytes, few.blocks), (all.bytes, 7));
        assert_eq!(of(3, 0).blocks, 1);
        let large = coded(100, &[3000, 3000]);
        let found = scratch(&super::tests::test(&large), 0, 10_000, 100, u64::MAX);
        assert_eq!(found.most_cells, MOST_CELLS);
    }

    #[test]
    fn every_size_of_a_set_leaves_shared_memory_for_tables() {
        for limit in [64 << 10, 99 << 10, 227 << 10] {
            for widest in [0, 1, 10, 500, 3000] {
                let found = tables(widest, limit);
                assert!(found.area > 3000 && found.bytes <= u64::from(limit), "{widest}: {found:?}");
                assert!(bench_bytes(widest) + 4 * found.area <= found.bytes);
            }
        }
    }
}
