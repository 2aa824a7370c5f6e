//! Levels of sets of the Gaussian test by the papers' mappings, in launches short enough that a user can interrupt. A level of little work
//! takes one launch, as in the papers.

use std::time::{Duration, Instant};

use crate::engine::cuda::arguments::{
    cupc_doubles, gpucsl_doubles, paper_doubles, Report, SearchArgs, EDGE_ROW_BYTES, SET_ROW_BYTES,
};
use crate::engine::cuda::gpu::buffer::Buffer;
use crate::engine::cuda::gpu::kernels::{Kernel, WARP};
use crate::engine::cuda::search::CudaSearch;
use crate::engine::cuda::SearchStrategy;
use crate::graph::subsets;
use crate::observer::Observer;
use crate::Result;

/// Tests of size 1 in the first launch of a level: less than 0.1 s on a slow GPU, for any graph.
const TESTS: f64 = 5e7;

/// Shortest and longest time that a launch should take. The next launches take twice as many sets of each row after a shorter one, and half
/// as many after a longer one.
const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_millis(120);

/// Most blocks of a launch, for less than 0.1 s. Most of them have nothing to do if there are blocks for all pairs.
const BLOCKS: usize = 1 << 25;

/// Bytes of working memory in device memory, unless one row needs more.
const SCRATCH: u64 = 1 << 28;

/// Most shared memory of a block that holds a row of the graph: any GPU has as much. More would leave a multiprocessor few blocks.
const ROW_LIMIT: u64 = 48 << 10;

/// The launches of a level.
struct Launches {
    kernel: Kernel<SearchArgs>,
    /// Sets of a row (`sets`); those that the first launch takes (`ranks`), and those that the threads of a row take at a time (`at_once`).
    sets: u64,
    ranks: u64,
    at_once: u64,
    /// Neighbours of a row that a block's shared memory has room for.
    row_room: u64,
    /// Rows of a launch, blocks of a row, threads of a block.
    rows: usize,
    blocks: u32,
    threads: u32,
    /// Bytes: working memory of a warp; shared memory of a block, with its row; working memory of all blocks in device memory.
    bytes: u64,
    shared: u64,
    scratch: u64,
}

impl CudaSearch<'_, '_> {
    /// Returns the bytes of working memory in device memory for a level; `widest` is the largest degree.
    pub(super) fn paper_scratch(&self, size: usize, widest: usize) -> u64 {
        self.paper_launches(size, widest).scratch
    }

    /// Returns the edges of a block, and the tests of each edge at a time, in cuPC-E's mapping.
    fn edge_shape(&self) -> [u32; 2] {
        match self.engine.options.strategy {
            SearchStrategy::Edge { beta, gamma } => [beta, gamma],
            _ => [1, WARP],
        }
    }

    fn paper_launches(&self, size: usize, widest: usize) -> Launches {
        let (p, l) = (self.options.p, size as u64);
        let choose = |n| subsets::binomial(n, size).unwrap_or(u64::MAX);
        // For each row: `blocks`; the number `working` of blocks with working memory; `own` doubles for each thread; `at_once` sets for all its
        // threads.
        let (kernel, sets, threads, blocks, working, own, at_once) = match self.engine.options.strategy {
            SearchStrategy::Set { theta, delta } => {
                (Kernel::set, choose(widest), theta, delta, delta, cupc_doubles(l), theta * delta)
            }
            SearchStrategy::Gpucsl { delta, .. } if size == 1 => {
                // Each vertex is looked at, neighbour or not.
                (Kernel::gpucsl_single, p as u64, delta, p as u32, 0, 0, delta)
            }
            SearchStrategy::Gpucsl { delta, .. } => {
                (Kernel::gpucsl_sets, choose(widest - 1), delta, p as u32, widest as u32, gpucsl_doubles(l), delta)
            }
            _ => {
                let [beta, gamma] = self.edge_shape();
                let blocks = widest.div_ceil(beta as usize) as u32;
                (Kernel::edge, choose(widest - 1), beta * gamma, blocks, blocks, cupc_doubles(l), gamma)
            }
        };
        let threads = threads.next_multiple_of(WARP);
        let bytes = if working == 0 { 0 } else { 8 * paper_doubles(l, own) };
        let block = bytes * u64::from(threads / WARP);
        let in_shared = block <= u64::from(self.engine.held.gpu.shared_limit);
        let of_row = if in_shared { 0 } else { block * u64::from(working) };
        // A launch has all rows, as the papers' grids do. Rows with many sets would leave most of a GPU idle if they ran alone. The time of
        // a test grows roughly as the square of its size.
        let tests = TESTS * self.engine.options.launch_share / (size * size) as f64;
        let ranks = sets.min((tests / self.ends as f64).ceil() as u64).max(1);
        let in_scratch = SCRATCH.checked_div(of_row).map_or(p, |rows| rows as usize);
        let in_time = if ranks == 1 { (tests / widest as f64) as usize } else { p };
        let rows = in_time.min(in_scratch).min(BLOCKS / blocks as usize).clamp(1, p.min(65_535));
        let (shared, scratch) = if in_shared { (block, 0) } else { (0, of_row * rows as u64) };
        let neighbour = match self.engine.options.strategy {
            SearchStrategy::Set { .. } => SET_ROW_BYTES,
            SearchStrategy::Edge { .. } => EDGE_ROW_BYTES,
            _ => 0,
        };
        let row_room =
            ROW_LIMIT.saturating_sub(shared).checked_div(neighbour).map_or(0, |room| room.min(widest as u64));
        let shared = shared + neighbour * row_room;
        let at_once = u64::from(at_once);
        Launches { kernel, sets, ranks, at_once, row_room, rows, blocks, threads, bytes, shared, scratch }
    }

    /// Runs a level, once its slots are ready.
    pub(super) fn run_paper(&mut self, size: usize, widest: usize, observer: &mut dyn Observer) -> Result<Report> {
        let launches = self.paper_launches(size, widest);
        let Launches { kernel, sets, ranks, at_once, row_room, rows, blocks, threads, bytes, shared, scratch } =
            launches;
        let p = self.options.p;
        let mut args = self.args;
        [args.beta, args.gamma] = self.edge_shape().map(u64::from);
        args.theta = match self.engine.options.strategy {
            SearchStrategy::Set { theta, .. } => u64::from(theta),
            _ => widest as u64,
        };
        (args.warp_bytes, args.row_room) = (bytes, row_room);
        if scratch > 0 {
            args.scratch = self.engine.held.device(Buffer::Scratch)?;
        }
        let is_whole = ranks >= sets;
        // A launch covers both sides of a pair, except part of the sets of gpucsl.
        let is_gpucsl = matches!(self.engine.options.strategy, SearchStrategy::Gpucsl { .. });
        let sides = if is_gpucsl && size > 1 && !is_whole { 2 } else { 1 };
        let mut some = ranks;
        for second in 0..sides {
            args.second = second;
            args.first_rank = 0;
            while args.first_rank < sets {
                let end = sets.min(args.first_rank.saturating_add(some));
                args.end_rank = if sides == 1 && is_whole { u64::MAX } else { end };
                let mut longest = Duration::ZERO;
                for first in (0..p).step_by(rows) {
                    args.first_row = first as u64;
                    let rows = rows.min(p - first) as u32;
                    let launch = kernel.on((blocks, rows), threads, shared);
                    let begun = Instant::now();
                    // SAFETY: lists, slots and twins are the level's; each of these warps that tests has working memory.
                    unsafe { self.engine.held.gpu.launch(launch, &args)? };
                    if !is_whole || rows < p as u32 {
                        self.engine.held.wait(kernel.name(), &mut || observer.look())?;
                    }
                    longest = longest.max(begun.elapsed());
                }
                if longest > LONG {
                    some = (some / 2).max(1);
                } else if longest < SHORT || some < at_once {
                    // While some threads of a row have no set, more sets take no longer.
                    some = some.saturating_mul(2);
                }
                args.first_rank = end;
                let done = second as f64 + end as f64 / sets as f64;
                observer.progress(size, 0.998 * done / sides as f64, 1.0)?;
            }
        }
        let report = self.settle(size, observer)?;
        observer.progress(size, 1.0, 1.0)?;
        Ok(report)
    }
}
