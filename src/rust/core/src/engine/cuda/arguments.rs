//! What the host shares with the kernels. Written by tools/build-kernels from the kernels' sources.

use super::pointer::DevicePtr;

/// `COUNTING_THREADS` of kernels/discrete/test.cuh: threads of a block that counts.
pub(super) const COUNTING_THREADS: u32 = 256;

/// `COUNTING_BLOCKS` of kernels/discrete/test.cuh: most counting blocks of a multiprocessor: their registers leave room for no more.
pub(super) const COUNTING_BLOCKS: u32 = 3;

/// `MOST_OTHERS` of kernels/discrete/test.cuh: most vertices y that a block counts for at a time.
pub(super) const MOST_OTHERS: u64 = 32;

/// `SAMPLES_AT_A_TIME` of kernels/discrete/test.cuh: samples that a thread reads at a time; columns are padded to a multiple of it.
pub(super) const SAMPLES_AT_A_TIME: u32 = 16;

/// `PLANE_SAMPLES` of kernels/discrete/test.cuh: samples in an element of a plane.
pub(super) const PLANE_SAMPLES: u32 = 128;

/// `ASKED_WORDS` of kernels/discrete/test.cuh: words of a record for the CPU before its members.
pub(super) const ASKED_WORDS: u64 = 6;

/// `G2` of kernels/discrete/test.cuh: `Discrete::statistic` of G².
pub(super) const G2: u64 = 0;

/// `X2` of kernels/discrete/test.cuh: `Discrete::statistic` of X².
pub(super) const X2: u64 = 1;

/// `WIDE` of kernels/features/args.cuh: columns of a panel, and most features of a side.
pub(super) const WIDE: u32 = 8;

/// `DEEP` of kernels/features/args.cuh: rows of a sum, before it is added to the sums of other rows.
pub(super) const DEEP: u32 = 256;

/// `ANSWERS` of kernels/features/args.cuh: numbers of an answer: the statistic, and the traces of M, M^2 and M^3.
pub(super) const ANSWERS: u32 = 4;

/// `GIVEN_THREADS` of kernels/features/given.cu: threads of a block of `features_given` and `features_products`.
pub(super) const GIVEN_THREADS: u32 = 128;

/// `FACTOR_THREADS` of kernels/features/given.cu: threads of a block of `features_factor`.
pub(super) const FACTOR_THREADS: u32 = 256;

/// `ORTHOGONAL_THREADS` of kernels/features/given.cu: most threads of a block of `features_orthogonal`.
pub(super) const ORTHOGONAL_THREADS: u32 = 512;

/// `SIDE_THREADS` of kernels/features/sides.cu: threads of a block of `features_joint`, `features_subtract` and `features_squares`.
pub(super) const SIDE_THREADS: u32 = 128;

/// `CROSS_THREADS` of kernels/features/sides.cu: most threads of a block of `features_cross`.
pub(super) const CROSS_THREADS: u32 = 320;

/// `MOST_COLUMNS` of kernels/features/sides.cu: most columns of a group.
pub(super) const MOST_COLUMNS: u32 = 40;

/// `OF_PART` of kernels/features/sides.cu: columns of a group that a block of `features_subtract` has.
pub(super) const OF_PART: u32 = 20;

/// `PER_SIDE` of kernels/features/sides.cu: columns or rows that a thread has on a side of its tile.
pub(super) const PER_SIDE: u32 = 4;

/// `TEST_WARPS` of kernels/features/tests.cu: most warps of a block of `features_tests`.
pub(super) const TEST_WARPS: u32 = 4;

/// `COLUMN_THREADS` of kernels/gauss/columns.cu: threads of a block of column_first and column_second.
pub(super) const COLUMN_THREADS: u32 = 1024;

/// `TILE` of kernels/gauss/correlation.cu: columns of a tile.
pub(super) const TILE: u32 = 64;

/// `CORRELATION_THREADS` of kernels/gauss/correlation.cu: threads of a block of these kernels.
pub(super) const CORRELATION_THREADS: u32 = 256;

/// `PRODUCT_BYTES` of kernels/gauss/correlation.cu: bytes of shared memory of a block of `cor_product`.
pub(super) const PRODUCT_BYTES: u64 = 20480;

/// `NO_COLUMN` of kernels/gauss/correlation.cu: in `Correlation::ids`, in place of a column.
pub(super) const NO_COLUMN: u32 = 0xffffffff;

/// `EDGE_ROW_BYTES` of kernels/gauss/cupc.cu: bytes of shared memory for a neighbour of a row in cuPC-E: the vertex.
pub(super) const EDGE_ROW_BYTES: u64 = 4;

/// `SET_ROW_BYTES` of kernels/gauss/cupc.cu: bytes of shared memory for a neighbour of a row in cuPC-S: the vertex, and its limit of ranks.
pub(super) const SET_ROW_BYTES: u64 = 12;

/// `CELLS_CHECKED` of kernels/gauss/marginal.cu: bit of `Report::cells`: all cells were checked.
pub(super) const CELLS_CHECKED: u64 = 1;

/// `CELLS_WRONG` of kernels/gauss/marginal.cu: bit of `Report::cells`: some cells are not correlations.
pub(super) const CELLS_WRONG: u64 = 2;

/// `CELLS_MISSING` of kernels/gauss/marginal.cu: bit of `Report::cells`: some cells are NaN.
pub(super) const CELLS_MISSING: u64 = 4;

/// `CELLS_TILE` of kernels/gauss/marginal.cu: columns of a tile of `check_cells`; in shared memory, rows are one wider.
pub(super) const CELLS_TILE: u32 = 64;

/// `CELLS_THREADS` of kernels/gauss/marginal.cu: threads of a block of `check_cells`.
pub(super) const CELLS_THREADS: u32 = 256;

/// `MASK_COLUMNS` of kernels/gauss/masks.cu: columns of a block of mask_tiles.
pub(super) const MASK_COLUMNS: u32 = 32;

/// `MASK_THREADS` of kernels/gauss/masks.cu: threads of a block of mask_tiles.
pub(super) const MASK_THREADS: u32 = 256;

/// `MASK_GROUP` of kernels/gauss/masks.cu: blocks of rows that run side by side, as they read the same columns.
pub(super) const MASK_GROUP: u32 = 8;

/// `TILE_BYTES` of kernels/gauss/masks.cu: bytes of a block's tile.
pub(super) const TILE_BYTES: u32 = 62480;

/// `SCREEN_TILE` of kernels/gauss/screen.cu: columns of a tile of `screen`.
pub(super) const SCREEN_TILE: u32 = 128;

/// `SCREEN_DEPTH` of kernels/gauss/screen.cu: rows in shared memory at a time.
pub(super) const SCREEN_DEPTH: u32 = 32;

/// `SCREEN_THREADS` of kernels/gauss/screen.cu: threads of a block of `screen`.
pub(super) const SCREEN_THREADS: u32 = 256;

/// `SCREEN_BYTES` of kernels/gauss/screen.cu: bytes of shared memory of a block of `screen`.
pub(super) const SCREEN_BYTES: u64 = 61440;

/// `PAIR_TILE` of kernels/gauss/screen.cu: side of a tile of `Screen::tiles`.
pub(super) const PAIR_TILE: u32 = 64;

/// `SIDE_KEEPS` of kernels/gauss/settle.cu: no set separates.
pub(super) const SIDE_KEEPS: u32 = 1;

/// `SIDE_SEPARATES` of kernels/gauss/settle.cu: a set separates.
pub(super) const SIDE_SEPARATES: u32 = 2;

/// `SIDE_MISSING` of kernels/gauss/settle.cu: a test has no answer.
pub(super) const SIDE_MISSING: u32 = 3;

/// `SPECIAL` of kernels/gauss/shared.cuh: largest size of sets with a kernel of its own, which keeps Cholesky rows in registers.
pub(super) const SPECIAL: u32 = 8;

/// `LOG_ROWS` of kernels/gauss/single.cu: rows of a block of log_tiles.
pub(super) const LOG_ROWS: u32 = 32;

/// `LOG_THREADS` of kernels/gauss/single.cu: threads of a block of log_tiles.
pub(super) const LOG_THREADS: u32 = 256;

/// `LOG_BYTES` of kernels/gauss/single.cu: bytes of shared memory of a block of log_tiles.
pub(super) const LOG_BYTES: u32 = 33792;

/// `MASK_ROWS` of kernels/gauss/single.cuh: rows that are taken together, by lists, columns or masks.
pub(super) const MASK_ROWS: u32 = 64;

/// `SECOND` of kernels/gauss/single.cuh: bit of a verdict: separated on the second side; the other bits are the member, and p_max holds r.
pub(super) const SECOND: u32 = 0x80000000;

/// `SLICE_THREADS` of kernels/gauss/slices.cuh: threads of a block of slice_tests.
pub(super) const SLICE_THREADS: u32 = 128;

/// `VERDICT_OPEN` of kernels/gauss/slices.cuh: in place of a verdict: the pair waits for further slices.
pub(super) const VERDICT_OPEN: u32 = 0xfffffffd;

/// `PAIR_BITS` of kernels/gauss/slices.cuh: bits of a vertex in the state of a pair.
pub(super) const PAIR_BITS: u32 = 20;

/// `SWEEP_THREADS` of kernels/gauss/sweep.cu: threads of a block of `sweep`.
pub(super) const SWEEP_THREADS: u32 = 128;

/// `OF_LANES` of kernels/gauss/sweep.cu: candidates that are eliminated first; neighbouring threads take all subsets of them.
pub(super) const OF_LANES: u64 = 3;

/// `OF_BLOCK` of kernels/gauss/sweep.cu: other candidates whose subsets a block takes, if there are this many.
pub(super) const OF_BLOCK: u64 = 13;

/// `LEAST_CANDIDATES` of kernels/gauss/sweep.cu: least number of candidates of a sweep.
pub(super) const LEAST_CANDIDATES: u64 = 12;

/// `SWEEP_SIZES` of kernels/gauss/sweep.cu: number of set sizes, from 0 on.
pub(super) const SWEEP_SIZES: u64 = 64;

/// `DECIDING_THREADS` of kernels/gauss/test.cuh: most threads of a block of the kernels that decide tests.
pub(super) const DECIDING_THREADS: u32 = 128;

/// `WIDE_THREADS` of kernels/gauss/wide.cuh: threads of a block of the kernels for rows with many neighbours.
pub(super) const WIDE_THREADS: u32 = 128;

/// `WARP` of kernels/gpu/threads.cuh: threads of a warp.
pub(super) const WARP: u32 = 32;

/// `LISTED` of kernels/knn/pairs.cuh: most neighbours that the paper's kernel with the short list lists.
pub(super) const LISTED: u64 = 512;

/// `LONG_LISTED` of kernels/knn/pairs.cuh: most neighbours that the paper's kernel with the long list lists.
pub(super) const LONG_LISTED: u64 = 2048;

/// `FRENZEL_POMPE` of kernels/knn/test.cuh: number of the estimator of Frenzel and Pompe.
pub(super) const FRENZEL_POMPE: u64 = 0;

/// `MESNER_SHALIZI` of kernels/knn/test.cuh: number of the estimator of Mesner and Shalizi.
pub(super) const MESNER_SHALIZI: u64 = 1;

/// `GAO` of kernels/knn/test.cuh: number of the estimator of Gao.
pub(super) const GAO: u64 = 2;

/// `NO_SET` of kernels/knn/test.cuh: `test_set` if S is empty.
pub(super) const NO_SET: u32 = 0xffffffff;

/// `KNN_THREADS` of kernels/knn/test.cuh: threads of a block that finds neighbours, permutes, sums by warps or makes planes.
pub(super) const KNN_THREADS: u32 = 128;

/// `PAPER_THREADS` of kernels/knn/test.cuh: threads of a block of the paper's kernel.
pub(super) const PAPER_THREADS: u32 = 32;

/// `DRAWING_THREADS` of kernels/knn/test.cuh: most threads of a block that draws permutations.
pub(super) const DRAWING_THREADS: u32 = 512;

/// `SLOT_THREADS` of kernels/knn/test.cuh: threads of a block of kernels that count with x's planes in device memory.
pub(super) const SLOT_THREADS: u32 = 256;

/// `JOB_WORDS` of kernels/mixed/cells.cu: words of a job before its lists: factors, numbers, masks, whether it takes rows that lack values, keys.
pub(super) const JOB_WORDS: u64 = 5;

/// `CELL_WORDS` of kernels/mixed/cells.cu: words of a cell before its means.
pub(super) const CELL_WORDS: u64 = 2;

/// `MOST_KEYS` of kernels/mixed/cells.cu: most keys of a job.
pub(super) const MOST_KEYS: u64 = 2048;

/// `MOST_WARPS` of kernels/mixed/cells.cu: most warps of a block, each of which has a chunk of rows.
pub(super) const MOST_WARPS: u64 = 16;

/// `CHUNK` of kernels/mixed/cells.cu: rows of a chunk, as in src/ci/mixed/rows.rs.
pub(super) const CHUNK: u64 = 4096;

/// `FEW_CELLS` of kernels/mixed/cells.cu: most keys with which a chunk has LANES lanes, as there.
pub(super) const FEW_CELLS: u64 = 64;

/// `LANES` of kernels/mixed/cells.cu: lanes of a chunk.
pub(super) const LANES: u64 = 4;

/// `WIDE_REST` of kernels/search/args.cuh: numbers in `Args::wide_rest` for each block.
pub(super) const WIDE_REST: u64 = 3;

/// `SLOT_BYTES` of kernels/search/args.cuh: bytes of an element of `Args::slot`.
pub(super) const SLOT_BYTES: u64 = 48;

/// `VERTEX_BITS` of kernels/search/args.cuh: bits of a vertex in `Report::widest`.
pub(super) const VERTEX_BITS: u32 = 21;

/// `OPEN_KEPT` of kernels/search/graph.cu: bit of a vertex that is a neighbour, in the lists of `list_open`.
pub(super) const OPEN_KEPT: u32 = 0x80000000;

/// `NO_MODE` of kernels/selection/counts.cuh: `Feature::mode` if no level is that of more than half of the samples, or none is known.
pub(super) const NO_MODE: u32 = 0xffffffff;

/// `PARTIAL_BYTES` of kernels/selection/counts.cuh: bytes of shared memory before a table: the partial sums of up to 32 warps.
pub(super) const PARTIAL_BYTES: u64 = 512;

/// `UNPACKED_SAMPLES` of kernels/selection/step.cu: samples that a warp of `unpack` takes; packed codes are padded to a multiple of it.
pub(super) const UNPACKED_SAMPLES: u32 = 1024;

/// `bench_bytes` of kernels/discrete/count.cuh.
pub(super) const fn bench_bytes(largest_set: u64) -> u64 {
    let others = 32 * (48 + 8 + 4 + 4 + 4);
    let warps = 256 / 32 * 16;
    others + warps + 16 + 32 + 8 * largest_set
}

/// `bench_scratch` of kernels/discrete/count.cuh.
pub(super) const fn bench_scratch(hash: u64, n: u64, most_cells: u64) -> u64 {
    12 * hash + 4 + 12 * n + 4 * most_cells
}

/// `gpupc_pair_bytes` of kernels/discrete/gpupc.cu.
///
/// Returns the bytes of shared memory of a block at level 0: an item, and `cells` cells for a table and its margins.
pub(super) const fn gpupc_pair_bytes(cells: u64) -> u64 {
    16 + u64::div_ceil(4 * cells, 16) * 16
}

/// `gpupc_bytes` of kernels/discrete/gpupc.cu.
///
/// Returns the bytes of shared memory of a block at higher levels: an item, the sums of each warp, the strata of each table.
pub(super) const fn gpupc_bytes(threads: u64, tables: u64) -> u64 {
    16 + threads / 32 * 48 + u64::div_ceil(4 * tables, 16) * 16
}

/// `edge_bytes` of kernels/discrete/level.cu.
///
/// Returns the bytes of scratch of a thread of `dis_edge`: the places and members of a set, and a table.
pub(super) const fn edge_bytes(size: u64, most_cells: u64) -> u64 {
    u64::div_ceil(4 * most_cells + 8 * size, 16) * 16
}

/// `cells_of_factor` of kernels/features/args.cuh.
///
/// Returns the numbers of a factor.
pub(super) const fn cells_of_factor(width: u64) -> u64 {
    width * (width + 8) / 2
}

/// `doubles_of_test` of kernels/features/tests.cu.
///
/// Returns the numbers that a warp holds for of_x and of_y features: the products of some rows, padded; the rows; and the matrix M.
pub(super) const fn doubles_of_test(of_x: u64, of_y: u64) -> u64 {
    32 * (u64::div_ceil(of_x * of_y, 4) * 4 + 2) + 32 * 17 + of_x * of_y * (of_x * of_y + 1)
}

/// `coarse_floats` of kernels/gauss/coarse.cuh.
///
/// Returns how many numbers lanes use of a last member: 1 / sqrt(w), cov(x, s | S') / sqrt(w), COARSE_LARGEST g, and the Cholesky row of s
/// over sqrt(w). They fill a multiple of 16 bytes.
pub(super) const fn coarse_floats(l: u64) -> u64 {
    u64::div_ceil(l + 2, 4) * 4
}

/// `column_bytes` of kernels/gauss/columns.cu.
///
/// Returns the bytes of shared memory of a block: three numbers a warp, the next neighbour to be taken, and a number for each variable.
pub(super) const fn column_bytes(p: u64) -> u64 {
    8 * (3 * 1024 / 32 + 1) + 4 * p
}

/// `cupc_doubles` of kernels/gauss/cupc.cu.
///
/// Returns the numbers of a thread: the inverse of C[S, S], the weights of x, and the correlations of S with x or y.
pub(super) const fn cupc_doubles(l: u64) -> u64 {
    l * l + 2 * l
}

/// `gpucsl_doubles` of kernels/gauss/gpucsl.cu.
///
/// Returns the numbers of a thread that tests given l variables: the correlations of these and of the pair, without those below the
/// diagonal.
pub(super) const fn gpucsl_doubles(l: u64) -> u64 {
    (l + 2) * (l + 3) / 2
}

/// `paper_doubles` of kernels/gauss/papers.cuh.
///
/// Returns a warp's working memory in doubles: `own` numbers of each of its threads, the exact formula's, the places of 32 sets, and a set.
pub(super) const fn paper_doubles(l: u64, own: u64) -> u64 {
    32 * own + exact_doubles(l) + 16 * l + l
}

/// `settle_doubles` of kernels/gauss/settle.cu.
///
/// Returns a warp's working memory in doubles: the exact formula's, and a set.
pub(super) const fn settle_doubles(l: u64) -> u64 {
    exact_doubles(l) + u64::div_ceil(l, 2)
}

/// `shared_doubles` of kernels/gauss/shared.cuh.
///
/// Returns a warp's working memory in doubles: the size of `Work`.
pub(super) const fn shared_doubles(l: u64) -> u64 {
    let groups = if l > 8 { 1 } else if l <= 2 { 32 } else { 4 };
    let rows = if l > 8 { 32 * l } else { 0 };
    let words = groups + l + groups * l;
    l * l + 2 * l + groups * exact_apart(l) + (l + 1) * 32 + 16 * 32 + 48 + rows + groups + words / 2 + 1
}

/// `wide_doubles` of kernels/gauss/shared.cuh.
///
/// Returns the working memory, in doubles, of a warp of a block for rows with many neighbours: `Work` with four exact tests at a time. In
/// place of covariances fetched ahead, it holds the numbers that single precision needs of 32 last members.
pub(super) const fn wide_doubles(l: u64) -> u64 {
    let words = 4 + l + 4 * l;
    l * l + 2 * l + 4 * exact_apart(l) + (l + 1) * 32 + 16 * coarse_floats(l) + 48 + 192 + 4 + words / 2 + 2
}

/// `sweep_doubles` of kernels/gauss/sweep.cu.
///
/// Returns the doubles of shared memory of a block: covariances at the beginning, or by depth, for each subset of the last three; then
/// `SIZE_DOUBLES`.
pub(super) const fn sweep_doubles(candidates: u64) -> u64 {
    if candidates > 27 { 4 * (candidates + 2) * (candidates + 3) + 104 } else { 3680 + 104 }
}

/// `exact_doubles` of kernels/gauss/test.cuh.
///
/// Returns the number of doubles that `exact` works in: two matrices of (size + 2) x (size + 2).
pub(super) const fn exact_doubles(size: u64) -> u64 {
    2 * (size + 2) * (size + 2)
}

/// `exact_apart` of kernels/gauss/test.cuh.
///
/// Returns the distance, in doubles, from the matrices of one exact test to those of the next. At this distance, groups of lanes that step
/// through their matrices together meet different banks of shared memory. There are 16 banks of a double's width; a group reads along
/// columns and along rows.
pub(super) const fn exact_apart(size: u64) -> u64 {
    let bank = if size <= 2 { 1 } else if size % 2 == 1 { 8 } else { 9 };
    exact_doubles(size) + (bank + 16 - exact_doubles(size) % 16) % 16
}

/// `wide_bytes` of kernels/gauss/wide.cuh.
///
/// Returns the bytes of shared memory of a block of `warps` warps, with `columns` columns and masks for rows with up to `masked` neighbours.
pub(super) const fn wide_bytes(l: u64, warps: u64, columns: u64, masked: u64) -> u64 {
    u64::div_ceil(8 * wide_doubles(l) * warps, 16) * 16 + 240 + 128 * (columns + 4) + 4 * masked
}

/// `plane_words` of kernels/knn/planes.cuh.
///
/// Returns the words of a plane's row that hold places, in groups of four.
pub(super) const fn plane_words(n: u64) -> u64 {
    u64::div_ceil(n, 128) * 4
}

/// `plane_stride` of kernels/knn/planes.cuh.
///
/// Returns the words from row to row of a plane: an odd number of groups of four, so that rows begin in different banks of shared memory.
pub(super) const fn plane_stride(n: u64) -> u64 {
    4 * (plane_words(n) / 4 / 2 * 2 + 1)
}

/// `team_plane_bytes` of kernels/knn/planes.cuh.
///
/// Returns the bytes of a plane in shared memory. A team that counts there also has x by place, and guesses. x has a spare word after each
/// 32, so that a warp that reads every 32nd place meets no bank twice.
pub(super) const fn team_plane_bytes(n: u64) -> u64 {
    4 * plane_stride(n) * (n + 1)
}

/// `team_values_bytes` of kernels/knn/planes.cuh.
pub(super) const fn team_values_bytes(n: u64) -> u64 {
    u64::div_ceil(plane_words(n) * 68, 16) * 16
}

/// `team_bytes` of kernels/knn/planes.cuh.
pub(super) const fn team_bytes(n: u64) -> u64 {
    team_plane_bytes(n) + team_values_bytes(n) + u64::div_ceil(2 * n, 16) * 16
}

/// `most_team_threads` of kernels/knn/planes.cuh.
///
/// Returns the most threads of a block that counts in shared memory, by the number of planes of a test.
pub(super) const fn most_team_threads(dims: u64) -> u64 {
    if dims <= 1 { 1024 } else { 512 }
}

/// `counter_words` of kernels/selection/counts.cuh.
///
/// Returns the words that `cells` counters of `bits` bits take, a multiple of four.
pub(super) const fn counter_words(cells: u64, bits: u64) -> u64 {
    u64::div_ceil(cells, 128 / bits) * 4
}

/// `Report` of kernels/search/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// tests that pcalg performs
    pub tests: u64,
    /// those that the exact formula decided.
    pub exact: u64,
    /// pairs removed
    pub removed: u64,
    /// twice the number of edges
    pub ends: u64,
    /// row x of largest degree with a pair (x, y) to test: its degree, last vertex - x, smallest y, of VERTEX_BITS each.
    pub widest: u64,
    /// whether a side was visited that has more candidates than a set has members.
    pub go_on: u64,
    /// smallest x * p + y of a pair with a test that has no answer
    pub undefined: u64,
    /// records in this level's log.
    pub logged: u64,
    /// items of work on each side
    pub items: u64,
    /// items taken on the first sides
    pub next_first: u64,
    /// items taken on the second sides
    pub next_second: u64,
    /// smallest number of sets in an item of work
    pub chunk: u64,
    /// rows with many neighbours: items on each side
    pub wide_items: u64,
    /// rows with many neighbours: items taken on the first sides
    pub wide_first: u64,
    /// rows with many neighbours: items taken on the second sides
    pub wide_second: u64,
    /// rows with many neighbours: sets in an item
    pub wide_chunk: u64,
    /// rows with many neighbours: items that a launch left unfinished on the first sides
    pub wide_open: u64,
    /// rows with many neighbours: items that a launch left unfinished on the second sides
    pub wide_open_second: u64,
    /// the last stage that began
    pub stage_begun: u64,
    /// items of work of that stage
    pub stage_items: u64,
    /// items of that stage that were taken
    pub stage_next: u64,
    /// whether the level has stages that did not end.
    pub stages_left: u64,
    /// tests left to the CPU
    pub asked: u64,
    /// pairs that wait for further slices
    pub kept: u64,
    /// sum of hashes of the correlations above the diagonal, also at level 0.
    pub above: u64,
    /// sum of hashes of the correlations below the diagonal, also at level 0
    pub below: u64,
    /// nanoseconds at which the first launch of those under way began; 0: none has begun.
    pub clock_start: u64,
    /// bits CELLS_* of gauss/marginal.cu: what the check of a correlation matrix found; 0: it was not checked
    pub cells: u64,
}

/// `Args` of kernels/search/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SearchArgs {
    pub p: u64,
    /// 32-bit words of a bit row; even, except in blocks of vertices (engine/cuda/gauss/blocks)
    pub words: u64,
    /// correlations, in rows of `pitch`.
    pub c: DevicePtr<f64>,
    /// p, or the width of blocks (engine/cuda/gauss/blocks)
    pub pitch: u64,
    /// bit rows, p x words
    pub graph: DevicePtr<u32>,
    /// bit rows of the pairs that may be adjacent at all; null: all pairs
    pub start: DevicePtr<u32>,
    /// bit rows of the pairs that are never tested; null: none.
    pub fixed: DevicePtr<u32>,
    /// bit rows of the pairs that the empty set separates.
    pub empty: DevicePtr<u32>,
    /// largest p of all pairs, x < y at y (y - 1) / 2 + x, or of the pairs of `left`, in their order; null: level 0 keeps none
    pub p_max: DevicePtr<f64>,
    /// bit rows, p x words / 2, of the pairs that level 0 left, which p_max then holds; null: p_max holds all pairs
    pub left: DevicePtr<u64>,
    /// by word of `left`: number of bits of its row before it
    pub left_before: DevicePtr<u32>,
    /// by row: number of its first pair x < y, by x, then y, minus the bits of the row below x; it may wrap
    pub left_first: DevicePtr<u64>,
    /// by row
    pub degree: DevicePtr<u32>,
    /// by row: where its list starts; p + 1 numbers
    pub offset: DevicePtr<u64>,
    /// neighbours in ascending order, row after row
    pub list: DevicePtr<u32>,
    /// by row: how many vertices at the start of its list may be in sets; null: all
    pub candidates: DevicePtr<u32>,
    /// sets of one: by list entry of the smaller vertex
    pub verdict: DevicePtr<u32>,
    /// by list entry: results of that side at this level (search/slots.cuh)
    pub slot: DevicePtr<u8>,
    /// by list entry x -> y: index of the entry y -> x
    pub twin: DevicePtr<u32>,
    /// by row: number of its first item of work; p + 1 numbers
    pub first_item: DevicePtr<u64>,
    /// by row: number of its first item of work for blocks, if it has `wide_degree` neighbours; p + 1 numbers
    pub first_wide: DevicePtr<u64>,
    /// by block for such rows: an item that it did not finish, the next rank of that item, whether there is one.
    pub wide_rest: DevicePtr<u64>,
    /// number of these blocks.
    pub wide_blocks: u64,
    /// rows with at least this many neighbours are run by blocks (Gaussian test, strategy "shared", sets of two and more).
    pub wide_degree: u64,
    /// neighbours whose correlations such a block holds in shared memory, a multiple of 32.
    pub wide_columns: u64,
    /// rows with up to this many neighbours also have their masks of common neighbours there.
    pub wide_masked: u64,
    /// sets of one, by row: number of its records in `log`; in the memory of `degree`, which is free then
    pub record_count: DevicePtr<u32>,
    /// sets of one, by row: number of its first record; p + 1 numbers, in the memory of `first_item`, which is free then
    pub first_record: DevicePtr<u64>,
    /// n over k at k * binomial_stride + n, saturating
    pub binomial: DevicePtr<u64>,
    pub binomial_stride: u64,
    /// records (row, other, members)
    pub log: DevicePtr<u32>,
    pub report: DevicePtr<Report>,
    /// working memory that does not fit in shared memory; null: none
    pub scratch: DevicePtr<u8>,
    /// bytes of a warp's working memory, there or in shared memory (Gaussian test)
    pub warp_bytes: u64,
    /// members of a conditioning set
    pub size: u64,
    /// rows of this launch: first_row to end_row - 1
    pub first_row: u64,
    pub end_row: u64,
    /// sets of one, by columns, first sides: the smaller vertices of this launch's pairs, first_smaller to end_smaller - 1.
    pub first_smaller: u64,
    pub end_smaller: u64,
    /// p by list entry, for sides that are settled one by one.
    pub values: DevicePtr<f64>,
    /// 0: sets of the smaller vertex's neighbours, 1: of the larger vertex's
    pub second: u64,
    /// whether either vertex's side may be asked; the slot of the other side then says whether it is (engine/cuda/gauss/blocks).
    pub any_side: u64,
    /// nanoseconds after which a launch takes no more work
    pub budget: u64,
    /// approximate number of warps that share the work of a level.
    pub level_warps: u64,
    /// ranks of this launch: first_rank to end_rank - 1 (strategies of the papers, discrete variables)
    pub first_rank: u64,
    pub end_rank: u64,
    /// strategies "edge" and "gpucsl": edges of a block; otherwise 0
    pub beta: u64,
    /// strategies "edge" and "gpucsl": tests of an edge that run at a time
    pub gamma: u64,
    /// strategies "edge" and "set": neighbours of a row that a block's shared memory has room for, after its warps' working memory
    pub row_room: u64,
    /// strategy "set": sets of a block; "gpucsl": edges of a row that have working memory
    pub theta: u64,
    /// sets of one: a block of rows with at least this many neighbours in total goes by masks
    pub mask_ends: u64,
    /// sets of one: a block with fewer than `mask_ends`, but at least this many, goes by columns
    pub column_ends: u64,
    /// sets of one, by columns: by list entry x -> z: z, and the correlation of x and z in single precision
    pub near: DevicePtr<[u32; 2]>,
    /// q below this: certainly independent
    pub below: f64,
    /// q above this: certainly dependent
    pub above: f64,
    /// q is trusted if smallest pivot * smaller remaining variance is above this: trusted_above of ci/gauss.rs
    pub trusted: f64,
    /// r is known to within slack / product if that product is above this: slack of ci/gauss.rs
    pub bounded: f64,
    pub slack: f64,
    /// largest r that is independent by the exact formula; below 0: none, infinity: all
    pub critical: f64,
    /// the same limit for -r
    pub critical_neg: f64,
    /// sqrt(n - size - 3)
    pub scale: f64,
    /// sqrt(n - 3)
    pub scale_marginal: f64,
    /// p of a pair that is not tested
    pub mark: f64,
    /// whether to follow pcalg's "stable.fast": how it reads degenerate cases and orders the sets of the second side
    pub fast: u64,
    /// whether level 0 writes the p of every pair; if not, pairs left at the end are raised to it then
    pub keeps_marginal: u64,
    /// whether an undefined correlation separates
    pub nan_separates: u64,
    /// whether a missing correlation separates ("stable.fast": NAdelete)
    pub missing_separates: u64,
    /// x and y of each question
    pub pairs: DevicePtr<u32>,
    /// where each set ends in `sets`
    pub set_ends: DevicePtr<u64>,
    pub sets: DevicePtr<u32>,
    /// p of each question; for `rank_values`: of all pairs, x < y at y (y - 1) / 2 + x, or null
    pub answers: DevicePtr<f64>,
    /// number of questions, or of values
    pub count: u64,
}

/// `Discrete` of kernels/discrete/test.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DiscreteArgs {
    pub a: SearchArgs,
    pub codes: DevicePtr<u8>,
    /// by variable: byte where its codes start, a multiple of 16; plus 1 if a code takes two bytes
    pub column: DevicePtr<u64>,
    /// by variable: number of levels, which is also the code of a missing value
    pub levels: DevicePtr<u32>,
    /// bit planes of the variables with few levels
    pub planes: DevicePtr<[u32; 4]>,
    /// by variable: element where its planes start, one plane a level; NEVER: it has none.
    pub plane: DevicePtr<u64>,
    /// elements of a plane
    pub plane_size: u64,
    /// tables of up to this many cells are counted by planes
    pub plane_cells: u64,
    /// samples.
    pub n: u64,
    /// whether any value is missing
    pub missing: u64,
    pub alpha: f64,
    /// G2 or X2.
    pub statistic: u64,
    /// 1: bnlearn's rule, 0: pcalg's
    pub bnlearn: u64,
    /// whether the degrees of freedom are adapted.
    pub adapt: u64,
    /// cells of 4 bytes that a block has for tables in shared memory.
    pub area: u64,
    /// vertices y of an item of work, at most MOST_OTHERS.
    pub tile: u64,
    /// places for strata that occur, a power of two, at least 2 n; 0: no scratch
    pub hash: u64,
    /// most cells of a table in scratch.
    pub most_cells: u64,
    /// bytes of a block's scratch; in strategies "edge" and "gpucsl", shared equally by those that count a table
    pub block_bytes: u64,
    /// stage of the level that this launch runs, from 1: a side and a range of ranks. The last one ends the level
    pub stage: u64,
    /// members of the largest set
    pub largest_set: u64,
    /// records for the CPU: x, y, slot (2 words), key (2 words), members
    pub asked: DevicePtr<u32>,
    /// number of records from which on blocks take no more work
    pub asked_most: u64,
    /// by variable: address of its packed codes in host memory, a multiple of 16; plus the binary logarithm of a code's bits
    pub packed: DevicePtr<u64>,
}

/// `KnnArgs` of kernels/knn/test.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KnnArgs {
    /// Samples; neighbours of the estimator; neighbours that a permutation draws from.
    pub n: u64,
    pub k: u64,
    pub k_perm: u64,
    /// Tests at once, permutations of each, and the number of the first permutation: 0 is the data, m + 1 permutation m.
    pub tests: u64,
    pub permutations: u64,
    pub first_permutation: u64,
    /// Tasks of this launch: `first_task` to `end_task` - 1. A task is a permutation (kernels that draw or permute, knn_paper_*, knn_slots_*), a block's work (knn_sums_*, knn_shared_*), a sample of a set (knn_neighbours_*) or a plane (knn_planes, knn_slots).
    pub first_task: u64,
    pub end_task: u64,
    /// Columns of n values; by column, the largest distance in it (infinite unless it is discrete).
    pub values: DevicePtr<u8>,
    pub caps: DevicePtr<u8>,
    /// By test: x, y, set (none: ~0), draw. By draw: set, key. By set: where its members start, key. Tests of one set have one draw.
    pub test_x: DevicePtr<u32>,
    pub test_y: DevicePtr<u32>,
    pub test_set: DevicePtr<u32>,
    pub test_draw: DevicePtr<u32>,
    pub draw_set: DevicePtr<u32>,
    pub draw_key: DevicePtr<[u32; 2]>,
    pub draws: u64,
    pub set_start: DevicePtr<u32>,
    pub set_members: DevicePtr<u32>,
    pub set_key: DevicePtr<[u32; 2]>,
    /// k_perm neighbours by set and sample.
    pub neighbours: DevicePtr<u32>,
    /// Permuted x by test, permutation and sample (with planes, by place). By draw, permutation and sample: the sample that it takes x from.
    pub permuted: DevicePtr<u8>,
    pub drawn: DevicePtr<u8>,
    /// n claims of each block that draws; null if shared memory has them.
    pub claims: DevicePtr<u64>,
    /// Rows of distances that do not fit in registers: three for each warp that sums, one for each that looks for neighbours.
    pub rows: DevicePtr<u8>,
    /// Values in all rows of a warp.
    pub row_values_a_warp: u64,
    /// Terms of the estimator in fixed point: by count, of a count in one space and of the joint count; and the term of all n samples.
    pub own_terms: DevicePtr<i64>,
    pub joint_terms: DevicePtr<i64>,
    pub all_term: i64,
    pub estimator: u64,
    /// Sums of terms by test and permutation; tiles of samples of a test; samples that a warp takes.
    pub sums: DevicePtr<i64>,
    pub tiles: u64,
    pub samples_a_warp: u64,
    /// The data's sum by test; by test, a bit for each permutation of the launch, in whole words.
    pub own_sums: DevicePtr<i64>,
    pub votes: DevicePtr<u32>,
    /// For planes (knn/planes.cuh), by column: values as whole numbers below n, by sample; samples in ascending order of their values; for t = 0, .., n, the number of values below t. `plain` is whether that number is t for every column and t.
    pub whole: DevicePtr<u16>,
    pub sorted: DevicePtr<u16>,
    pub below: DevicePtr<u16>,
    pub plain: u64,
    /// By test: the column that orders the samples, and where its planes start in `plane_list`, which holds numbers of planes. By plane: its column and the column that orders its samples.
    pub test_guide: DevicePtr<u32>,
    pub test_planes: DevicePtr<u32>,
    pub plane_list: DevicePtr<u32>,
    pub plane_column: DevicePtr<u32>,
    pub plane_guide: DevicePtr<u32>,
    /// Planes of columns; planes of permuted x; words from row to row of a plane; bytes of a plane; ranges of a plane's rows, in each of which a thread makes a word; planes of a test.
    pub planes: DevicePtr<u32>,
    pub slots: DevicePtr<u32>,
    pub plane_stride: u64,
    pub plane_bytes: u64,
    pub ranges: u64,
    pub dims: u64,
    /// The distance of two levels; values from one permuted x to the next; permutations of a block; permutations that it takes at a time.
    pub mismatch: u64,
    pub permuted_stride: u64,
    pub permutations_a_block: u64,
    pub teams: u64,
}

/// `MixedArgs` of kernels/mixed/cells.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MixedArgs {
    /// Rows; words of 32 rows in a mask.
    pub n: u64,
    pub words: u64,
    /// Columns of n numbers; columns of n codes; masks with a bit for each row that has a value.
    pub numbers: DevicePtr<f64>,
    pub codes: DevicePtr<u16>,
    pub masks: DevicePtr<u32>,
    /// The jobs: JOB_WORDS words each, then by factor its column of codes and its levels, by number its column, by mask its place.
    pub lists: DevicePtr<u32>,
    /// By job: where its words start in `lists`, and where its cells go in `cells`.
    pub starts: DevicePtr<u64>,
    pub places: DevicePtr<u64>,
    /// By job: the number of its cells. Then by cell, in the order of keys: its key with its first row, its rows, the means of its numbers, and the upper triangle of the products of their deviations, column by column.
    pub cells: DevicePtr<u64>,
    /// The first job of the launch.
    pub first_job: u64,
    /// Bound that all keys are below; rows of a warp's tile; sums of a warp.
    pub domain: u64,
    pub tile: u64,
    pub sums: u64,
}

/// `FeaturesColumn` of kernels/features/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FeaturesColumn {
    /// whether it has numbers; if not, levels
    pub is_number: u64,
    /// where its numbers or codes begin
    pub values: u64,
    /// where its weights as a member of S begin: for each level, `width` numbers
    pub weights: u64,
    /// where its weights as a member of a joint set begin: for each level, WIDE numbers
    pub joint: u64,
    /// where its features as x or y begin: `sides` columns of n numbers
    pub sides: u64,
}

/// `FeaturesSet` of kernels/features/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FeaturesSet {
    /// where its members are in `members`, ascending
    pub first_member: u64,
    /// number of members
    pub count: u64,
    /// rows that count
    pub rows: u64,
    /// 1 / (2 pi sigma) for its members
    pub scale: f64,
    /// the same with one more
    pub joint_scale: f64,
}

/// `FeaturesSide` of kernels/features/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FeaturesSide {
    pub set: u64,
    pub variable: u64,
    /// whether S is joined to it
    pub joins: u64,
}

/// `FeaturesGroup` of kernels/features/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FeaturesGroup {
    pub set: u64,
    /// its sides
    pub first: u64,
    pub count: u64,
}

/// `FeaturesTest` of kernels/features/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FeaturesTest {
    /// their numbers
    pub x: u64,
    pub y: u64,
    /// numbers of their features
    pub of_x: u64,
    pub of_y: u64,
}

/// `FeaturesArgs` of kernels/features/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FeaturesArgs {
    /// rows of the data
    pub n: u64,
    /// features of S; the same with a constant and zeros, a multiple of WIDE
    pub given: u64,
    pub width: u64,
    /// features of x and of y
    pub sides: u64,
    /// added to the diagonal of the mean products
    pub ridge: f64,
    /// mean square of residuals below which a side is a function of S
    pub nothing: f64,
    /// columns of n numbers
    pub numbers: DevicePtr<f64>,
    /// columns of n levels
    pub codes: DevicePtr<u16>,
    pub weights: DevicePtr<f64>,
    pub side_features: DevicePtr<f64>,
    pub columns: DevicePtr<FeaturesColumn>,
    /// of the features of S, `width` numbers; then of joint sets, WIDE numbers
    pub phases: DevicePtr<f64>,
    pub members: DevicePtr<u32>,
    /// the sets of the run
    pub sets: DevicePtr<FeaturesSet>,
    /// the sides of the run
    pub of_sets: DevicePtr<FeaturesSide>,
    pub groups: DevicePtr<FeaturesGroup>,
    pub tests: DevicePtr<FeaturesTest>,
    /// by set: its rows, n numbers; null: all rows count
    pub rows: DevicePtr<u32>,
    /// by set: `width` columns of n numbers
    pub features: DevicePtr<f64>,
    /// by set: the products of the features, then perhaps their factor, `cells_of_factor` numbers
    pub factors: DevicePtr<f64>,
    /// by set: the inverse of the factor, as many
    pub inverses: DevicePtr<f64>,
    /// by set: 1 - h by row, n numbers
    pub left: DevicePtr<f64>,
    /// by set: the factor c
    pub shares: DevicePtr<f64>,
    /// by side: `sides` columns of n numbers
    pub residuals: DevicePtr<f64>,
    /// by side: by feature `width` numbers
    pub coefficients: DevicePtr<f64>,
    /// by side: the mean square of the residuals
    pub squares: DevicePtr<f64>,
    /// by test: ANSWERS numbers
    pub answers: DevicePtr<f64>,
    /// first of the launch
    pub first_set: u64,
    pub first_side: u64,
    pub first_group: u64,
    pub first_test: u64,
    /// sets, sides or tests of the launch
    pub count: u64,
    /// rows that a block holds in shared memory
    pub staged: u64,
    /// whether the factor and its inverse are in shared memory
    pub in_shared: u64,
}

/// `Correlation` of kernels/gauss/correlation.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CorrelationArgs {
    /// rows
    pub n: u64,
    /// columns
    pub p: u64,
    /// n x p, column by column; becomes the centred and scaled columns
    pub x: DevicePtr<f64>,
    /// p x p
    pub c: DevicePtr<f64>,
    /// p sums of squares
    pub squares: DevicePtr<f64>,
    /// first tile of this launch: as `tile_at` numbers them, in a panel column by column, in `cor_blocks` a block
    pub first_tile: u64,
    /// n x rows, centred and scaled
    pub left: DevicePtr<f64>,
    /// number of the first column of `left` among all
    pub first_row: u64,
    pub rows: u64,
    /// number of the first column of x among all
    pub first_column: u64,
    /// columns of x
    pub columns: u64,
    /// numbers in a row of c
    pub pitch: u64,
    /// end of the tiles of this launch in a panel
    pub end_tile: u64,
    /// how many tiles of a panel are computed, then their numbers, in any order; null: all
    pub tiles: DevicePtr<u32>,
    /// columns of a block
    pub width: u64,
    /// by block: which columns of x it has; in `cor_pairs`: both columns of each pair
    pub ids: DevicePtr<u32>,
    /// by block: the numbers of these columns among all; in `cor_pairs` by column of x; null: the same numbers
    pub vertices: DevicePtr<u32>,
    /// by block, in `cor_spread`: where its numbers start in x
    pub starts: DevicePtr<u64>,
}

/// `Screen` of kernels/gauss/screen.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScreenArgs {
    pub a: SearchArgs,
    /// rows
    pub n: u64,
    /// rows in `halves`: a multiple of SCREEN_DEPTH; the last are 0
    pub depth: u64,
    /// n x p, column by column, centred
    pub x: DevicePtr<f64>,
    /// p sums of squares
    pub squares: DevicePtr<f64>,
    /// depth x p
    pub halves: DevicePtr<u16>,
    /// p upper bounds of e; 1 if a column is not to be screened
    pub errors: DevicePtr<f32>,
    /// by tile of 64 x 64 pairs, in rows of `pitch`: whether it is to be computed
    pub tiles: DevicePtr<u32>,
    /// how many are to be computed, then their numbers, column by column
    pub listed: DevicePtr<u32>,
    pub pitch: u64,
    /// first tile of columns of this launch
    pub first_tile: u64,
    /// correlations below this are certainly independent; rounding of sums is taken off
    pub limit: f64,
}

/// `Slices` of kernels/gauss/slices.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SliceArgs {
    pub a: SearchArgs,
    /// correlations of the slice's variables with those from first_column on, in rows of `pitch`
    pub rows: DevicePtr<f64>,
    pub first_column: u64,
    pub pitch: u64,
    /// by variable: its correlations with the slice's variables
    pub singles: DevicePtr<f32>,
    /// numbers in a row of `singles`
    pub width: u64,
    /// the slice's variables: first_z to end_z - 1
    pub first_z: u64,
    pub end_z: u64,
    /// whether single precision can serve
    pub is_coarse: u64,
    /// correlations of the launch's rows, from column first_own on; null: `values` has those of its pairs
    pub own: DevicePtr<f64>,
    pub first_own: u64,
    pub own_pitch: u64,
    /// the pairs, row by row
    pub pairs: DevicePtr<[u64; 3]>,
    /// by row, from where its pairs start: the numbers in `pairs` of its open pairs
    pub open: DevicePtr<u32>,
    /// by row: where its pairs start, plus `before`
    pub first: DevicePtr<u64>,
    pub before: u64,
    /// by row: number of its entries in `open`
    pub left: DevicePtr<u32>,
    /// the same for the pairs that wait for further slices; `kept_first` also has where the row after the last would start
    pub kept_pairs: DevicePtr<[u64; 3]>,
    pub kept_open: DevicePtr<u32>,
    pub kept_first: DevicePtr<u64>,
    pub kept_left: DevicePtr<u32>,
    /// what was found, one pair after another, from the launch's first row on
    pub verdict: DevicePtr<u32>,
    /// p of these pairs
    pub values: DevicePtr<f64>,
    /// where these pairs start among the pairs
    pub out_before: u64,
}

/// `SweepTask` of kernels/gauss/sweep.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SweepTask {
    /// number of the task's first block
    pub first_block: u64,
    /// where its correlations begin: a square matrix of its candidates, x and y
    pub cells: u64,
    pub candidates: u64,
    /// smallest and largest size of sets
    pub least: u64,
    pub most: u64,
}

/// `SweepOutcome` of kernels/gauss/sweep.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SweepOutcome {
    /// the smallest q that certainly says dependent; infinity: none
    pub smallest: f64,
    pub smallest_set: u64,
    /// q of the first set that certainly separates
    pub end: f64,
    /// its smallest pivot, times the smaller remaining variance
    pub end_condition: f64,
    /// 0: none
    pub end_set: u64,
    pub lock: u64,
}

/// `Sweep` of kernels/gauss/sweep.cu.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SweepArgs {
    pub tasks: u64,
    /// first block of this launch
    pub first_block: u64,
    pub task: DevicePtr<SweepTask>,
    pub cells: DevicePtr<f64>,
    /// by size: q below which a set separates
    pub below: DevicePtr<f64>,
    /// by size: q above which a set does not separate
    pub above: DevicePtr<f64>,
    /// by size: conditions above which either is certain
    pub trusted: DevicePtr<f64>,
    /// by sweep and size
    pub outcome: DevicePtr<SweepOutcome>,
    /// by sweep: size above which sets no longer matter
    pub limit: DevicePtr<u64>,
    /// sweep and set of each test that the CPU decides
    pub doubted: DevicePtr<u64>,
    /// number of these tests
    pub doubts: DevicePtr<u64>,
    /// number of these tests that there is room for
    pub room: u64,
}

/// `Selection` of kernels/selection/counts.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SelectionArgs {
    /// samples.
    pub n: u64,
    /// codes of the features
    pub data: DevicePtr<u8>,
    pub features: DevicePtr<Feature>,
    /// features of this launch
    pub first: u64,
    pub count: u64,
    /// by sample: its row, the number of (g, y); 16 bits each, 32 for `count_device`
    pub rows: DevicePtr<u8>,
    /// by sample: its group, the number of g; as wide as `rows`
    pub groups: DevicePtr<u8>,
    /// by group: its first row; then the number of rows
    pub starts: DevicePtr<u32>,
    /// by row: number of samples
    pub totals: DevicePtr<u32>,
    pub row_count: u64,
    pub group_count: u64,
    /// groups of a slice
    pub slice: u64,
    /// t(c), c = 0 ... n
    pub logs: DevicePtr<i64>,
    /// t(c + 1) - t(c), c = 0 ... n - 1
    pub steps: DevicePtr<i64>,
    pub sums: DevicePtr<[i64; 2]>,
    /// `count_device`: a table for each block
    pub tables: DevicePtr<u32>,
    /// words of such a table, or of a warp's
    pub table_words: u64,
    /// `total` and `modes`: counters that shared memory holds
    pub shared_counters: u64,
    /// `join`: codes of g; null: g has one level
    pub partner: DevicePtr<u8>,
    /// whether these codes have 16 bits
    pub partner_wide: u64,
    /// by sample: the level of y
    pub classes: DevicePtr<u16>,
    pub class_count: u64,
    /// tables of more than n * stepwise / 256 cells are added up while they grow
    pub stepwise: u64,
}

/// `Feature` of kernels/selection/counts.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Feature {
    /// where its codes start in the data, a multiple of 16
    pub at: u64,
    /// 0: not to be counted.
    pub levels: u32,
    /// whether codes have 16 bits.
    pub wide: u32,
    /// the level that more than half of the samples have, or NO_MODE
    pub mode: u32,
    /// index of its `Sums`.
    pub place: u32,
    /// address of its packed codes, on the GPU or the host, a multiple of 128, plus the bits of a code; 0: none
    pub packed: u64,
}
