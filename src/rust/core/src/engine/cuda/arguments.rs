//! The structs that the host shares with the kernels. Written by tools/build-kernels from the kernels' sources.

use super::pointer::DevicePtr;

/// `Report` of kernels/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// tests that pcalg performs
    pub tests: u64,
    /// those of them that the exact formula decided
    pub exact: u64,
    /// pairs removed
    pub removed: u64,
    /// twice the number of edges
    pub ends: u64,
    /// of the vertex x of largest degree with a pair (x, y) to test: degree << 42 | (2^21 - 1 - x) << 21 | y
    pub widest: u64,
    /// whether a side was visited that has more candidates than the sets have members
    pub go_on: u64,
    /// smallest x * p + y of a pair that met a test without an answer
    pub undefined: u64,
    /// records in the log of this level
    pub logged: u64,
    /// items of work on each side
    pub items: u64,
    /// items handed out on the first sides
    pub next_first: u64,
    /// and on the second sides
    pub next_second: u64,
    /// least number of sets in an item of work
    pub chunk: u64,
    /// stage of the level that is under way (discrete variables)
    pub stage: u64,
    /// tests left to the CPU (discrete variables)
    pub asked: u64,
    /// nanoseconds at which the first launch under way began; 0: none has (discrete variables)
    pub began: u64,
}

/// `Slot` of kernels/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    /// 2 * smallest rank that separates + whether the exact formula said so; NEVER: none does
    pub stop: u64,
    /// rank, among subsets of the row's whole list, of the smallest q of trusted tests that do not separate
    pub rank: u64,
    /// the bits of that q; infinity: none yet
    pub q: u64,
    /// the q that belongs to `rank`: it may lag behind `q` while several warps enter theirs
    pub q_of_rank: u64,
    /// bits of the smallest |r| of tests that the exact formula decided and that do not separate; NEVER: none
    pub exact_r: u64,
    pub lock: u32,
    /// number of tests that the exact formula decided
    pub exact: u32,
}

/// `Args` of kernels/args.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SearchArgs {
    pub p: u64,
    /// 32-bit words of a bit row, an even number
    pub words: u64,
    /// correlations, p x p
    pub c: DevicePtr<f64>,
    /// bit rows, p x words
    pub graph: DevicePtr<u32>,
    /// bit rows of the pairs that may be adjacent at all; null: all of them
    pub start: DevicePtr<u32>,
    /// bit rows of the pairs that are never tested; null: none
    pub fixed: DevicePtr<u32>,
    /// bit rows of the pairs that the empty set separates
    pub empty: DevicePtr<u32>,
    /// packed: the pair x < y at y (y - 1) / 2 + x
    pub p_max: DevicePtr<f64>,
    /// by row
    pub degree: DevicePtr<u32>,
    /// by row: where its list starts; p + 1 of them
    pub offset: DevicePtr<u64>,
    /// neighbours, ascending, row after row
    pub list: DevicePtr<u32>,
    /// sets of one: by list entry of the smaller vertex
    pub verdict: DevicePtr<u32>,
    /// by list entry
    pub slot: DevicePtr<Slot>,
    /// by list entry x -> y: index of the entry y -> x
    pub twin: DevicePtr<u32>,
    /// by row: number of its first item of work; p + 1 of them
    pub items: DevicePtr<u64>,
    /// n over k at k * stride + n, saturating
    pub binomial: DevicePtr<u64>,
    pub stride: u64,
    /// records (row, other, members)
    pub log: DevicePtr<u32>,
    pub report: DevicePtr<Report>,
    /// working memory that shared memory does not hold; null: none
    pub scratch: DevicePtr<u8>,
    /// bytes of it for a warp (discrete variables: for a block; strategy "edge": for a thread)
    pub scratch_bytes: u64,
    /// members of a conditioning set
    pub size: u64,
    /// rows of this launch: first_row to last_row - 1
    pub first_row: u64,
    pub last_row: u64,
    /// 0: sets of the smaller vertex's neighbours, 1: of the larger one's
    pub second: u64,
    /// nanoseconds after which a launch takes no more work
    pub budget: u64,
    /// about how many warps share the work of a level
    pub warps: u64,
    /// ranks of this launch: from to to - 1 (strategies "edge" and "set", discrete variables)
    pub from: u64,
    pub to: u64,
    /// edges (strategy "edge") or sets (strategy "set") of a block
    pub beta: u64,
    /// tests of an edge that run at a time (strategy "edge")
    pub gamma: u64,
    /// q below this: independent for certain
    pub below: f64,
    /// q above this: dependent for certain
    pub above: f64,
    /// q is trusted where smallest pivot * smaller variance left is above this: trusted_above of ci/gauss.rs
    pub trusted: f64,
    /// r is known to within slack / product where that product is above this: slack of ci/gauss.rs
    pub bounded: f64,
    pub slack: f64,
    /// the largest r that is independent by the exact formula; below 0: none, infinity: all
    pub critical: f64,
    /// likewise for -r
    pub critical_neg: f64,
    /// sqrt(n - size - 3); in a batch n
    pub scale: f64,
    /// sqrt(n - 3)
    pub scale_marginal: f64,
    /// p of a pair that is not tested
    pub mark: f64,
    /// pcalg's "stable.fast": its reading of degenerate cases and its order of the second side
    pub fast: u64,
    /// an undefined correlation separates
    pub nan_separates: u64,
    /// a missing correlation separates ("stable.fast": NAdelete)
    pub missing_separates: u64,
    /// x, y of each
    pub pairs: DevicePtr<u32>,
    /// where each set ends in `sets`
    pub ends: DevicePtr<u64>,
    pub sets: DevicePtr<u32>,
    /// p of each
    pub answers: DevicePtr<f64>,
    /// number of questions
    pub count: u64,
}

/// `Discrete` of kernels/discrete.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DiscreteArgs {
    pub a: SearchArgs,
    pub codes: DevicePtr<u8>,
    /// by variable: byte where its codes start, a multiple of 16; plus 1 where a code takes two bytes
    pub column: DevicePtr<u64>,
    /// by variable: number of levels, which is also the code of a missing value
    pub levels: DevicePtr<u32>,
    /// bit planes of the variables with few levels
    pub planes: DevicePtr<[u32; 4]>,
    /// by variable: element where its planes start, one plane a level; NEVER: it has none
    pub plane: DevicePtr<u64>,
    /// elements of a plane, 128 samples each
    pub plane_size: u64,
    /// tables of up to this many cells are counted by planes
    pub plane_cells: u64,
    /// samples
    pub n: u64,
    /// whether any value is missing
    pub missing: u64,
    pub alpha: f64,
    /// G2 or X2
    pub statistic: u64,
    /// 1: bnlearn's rule, 0: pcalg's
    pub bnlearn: u64,
    /// whether the degrees of freedom are adapted
    pub adapt: u64,
    /// cells of 4 bytes in shared memory that a block has for tables
    pub area: u64,
    /// vertices y of an item of work, at most MOST
    pub tile: u64,
    /// places for strata that occur, a power of two, at least 2 n; 0: no scratch
    pub hash: u64,
    /// most cells of a table in scratch
    pub most_cells: u64,
    /// stage of the level, from 1: a side and a range of ranks
    pub stage: u64,
    /// members of the largest set
    pub widest: u64,
    /// records for the CPU: x, y, slot (2 words), key (2 words), members
    pub asked: DevicePtr<u32>,
    /// blocks take no more work once there are this many records
    pub asked_most: u64,
}

/// `KnnArgs` of kernels/knn.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KnnArgs {
    /// Samples; neighbours of the estimator; neighbours that a permutation draws from.
    pub n: u64,
    pub k: u64,
    pub k_perm: u64,
    /// Tests of this launch, permutations of each, and the number of the first: 0 is the data, m + 1 permutation m.
    pub tests: u64,
    pub count: u64,
    pub first: u64,
    /// This launch's part, `from` to `until` - 1, of: permutations (kernels that permute, knn_paper_*, knn_slots_*), blocks (knn_sums_*, knn_shared_*), samples of sets (knn_neighbours_*) or planes (knn_planes, knn_slots).
    pub from: u64,
    pub until: u64,
    /// Number of sets.
    pub sets: u64,
    /// Columns of n values; by column the largest distance in it (infinite unless it is discrete).
    pub values: DevicePtr<u8>,
    pub caps: DevicePtr<u8>,
    /// By test: x, y, set (none: ~0), key. By set: where its members start, key.
    pub test_x: DevicePtr<u32>,
    pub test_y: DevicePtr<u32>,
    pub test_set: DevicePtr<u32>,
    pub test_key: DevicePtr<[u32; 2]>,
    pub set_start: DevicePtr<u32>,
    pub set_members: DevicePtr<u32>,
    pub set_key: DevicePtr<[u32; 2]>,
    /// k_perm neighbours by set and sample.
    pub neighbours: DevicePtr<u32>,
    /// Permuted x by test, permutation and sample (with planes by place); working memory for drawing permutations, `order` null where shared memory has it.
    pub permuted: DevicePtr<u8>,
    pub order: DevicePtr<u8>,
    pub taken: DevicePtr<u8>,
    pub lists: DevicePtr<u8>,
    /// Rows of distances that registers do not hold: three for each warp that sums, one for each that looks for neighbours.
    pub rows: DevicePtr<u8>,
    /// Values in the rows of a warp.
    pub rows_a_warp: u64,
    /// Terms of the estimator in fixed point, by count: of a count in one space, of the joint count; that of all n samples.
    pub own: DevicePtr<i64>,
    pub joint: DevicePtr<i64>,
    pub all: i64,
    pub estimator: u64,
    /// Sums of terms by test and permutation; tiles of samples a test (planes: ranges of rows a plane); samples a warp takes.
    pub sums: DevicePtr<i64>,
    pub tiles: u64,
    pub samples_a_warp: u64,
    /// For planes (knn_planes.cuh), by column: values as whole numbers below n, by sample; samples in ascending order of their values; the place of each sample in that order; for t = 0, .., n the number of values below t; and whether that is t for every column and t.
    pub whole: DevicePtr<u16>,
    pub orders: DevicePtr<u16>,
    pub places: DevicePtr<u16>,
    pub below: DevicePtr<u16>,
    pub plain: u64,
    /// By test: the column that orders the samples, and where its planes start in `plane_list`, which has numbers of planes. By plane: its column and the column that orders its samples.
    pub test_guide: DevicePtr<u32>,
    pub test_planes: DevicePtr<u32>,
    pub plane_list: DevicePtr<u32>,
    pub plane_column: DevicePtr<u32>,
    pub plane_guide: DevicePtr<u32>,
    /// Planes of columns; planes of permuted x; words from row to row of a plane; bytes of a plane; planes a test has.
    pub planes: DevicePtr<u32>,
    pub slots: DevicePtr<u32>,
    pub stride: u64,
    pub plane_bytes: u64,
    pub dims: u64,
    /// The distance of two levels; values from one permuted x to the next; permutations of a block, and at a time.
    pub mismatch: u64,
    pub row: u64,
    pub permutations_a_block: u64,
    pub teams: u64,
}

/// `Correlation` of kernels/correlation.cu.
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
    /// the first tile of this launch, as `tile_at` numbers them
    pub first_tile: u64,
}

/// `Selection` of kernels/selection.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SelectionArgs {
    /// samples
    pub n: u64,
    /// codes of the features
    pub data: DevicePtr<u8>,
    pub features: DevicePtr<Feature>,
    /// features of this launch
    pub first: u64,
    pub count: u64,
    /// by sample: its row, the number of (g, y); 16 bits each, 32 for `count_device`
    pub rows: DevicePtr<u8>,
    /// by sample: its group, the number of g; as wide
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
    /// `count_device`: a table a block
    pub tables: DevicePtr<u32>,
    /// words of such a table; `total` and `modes`: counters in shared memory
    pub table_words: u64,
    /// `join`: codes of g; null: g has one level
    pub partner: DevicePtr<u8>,
    /// whether these have 16 bits
    pub partner_wide: u64,
    /// by sample: the level of y
    pub classes: DevicePtr<u16>,
    pub class_count: u64,
    /// tables of more than n * stepwise / 256 cells are added up while they grow
    pub stepwise: u64,
}

/// `Feature` of kernels/selection.cuh.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Feature {
    /// where its codes start in the data, a multiple of 16
    pub at: u64,
    /// 0: not to be counted
    pub levels: u32,
    /// whether codes have 16 bits
    pub wide: u32,
    /// the level that more than half of the samples have, or NO_MODE
    pub mode: u32,
    /// index of its `Sums`
    pub place: u32,
}
