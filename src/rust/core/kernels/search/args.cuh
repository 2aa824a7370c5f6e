// The arguments of the search kernels, and what they report. tools/build-kernels translates `Args` and `Report` into Rust, along with the
// other structs that the host fills or reads.
#pragma once
#include "gpu/threads.cuh"

// Numbers that the host sets before a level and reads between launches.
struct Report {
    u64 tests;        // tests that pcalg performs
    u64 exact;        // those that the exact formula decided.
    u64 removed;      // pairs removed
    u64 ends;         // twice the number of edges
    u64 widest;       // row x of largest degree with a pair (x, y) to test: its degree, last vertex - x, smallest y, of VERTEX_BITS each.
    u64 go_on;        // whether a side was visited that has more candidates than a set has members.
    u64 undefined;    // smallest x * p + y of a pair with a test that has no answer
    u64 logged;       // records in this level's log.
    // Strategy "shared" of the Gaussian test, which runs a level in two passes, one for each side:
    u64 items;        // items of work on each side
    u64 next_first;   // items taken on the first sides
    u64 next_second;  // items taken on the second sides
    u64 chunk;        // smallest number of sets in an item of work
    u64 wide_items;   // rows with many neighbours: items on each side
    u64 wide_first;   // rows with many neighbours: items taken on the first sides
    u64 wide_second;  // rows with many neighbours: items taken on the second sides
    u64 wide_chunk;   // rows with many neighbours: sets in an item
    u64 wide_open;    // rows with many neighbours: items that a launch left unfinished on the first sides
    u64 wide_open_second;  // rows with many neighbours: items that a launch left unfinished on the second sides
    // Discrete variables, whose levels run in stages; level 0 is one stage:
    u64 stage_begun;  // the last stage that began
    u64 stage_items;  // items of work of that stage
    u64 stage_next;   // items of that stage that were taken
    u64 stages_left;  // whether the level has stages that did not end.
    u64 asked;        // tests left to the CPU
    // Level 1 by slices (gauss/slices.cuh):
    u64 kept;         // pairs that wait for further slices
    u64 above;        // sum of hashes of the correlations above the diagonal, also at level 0.
    u64 below;        // sum of hashes of the correlations below the diagonal, also at level 0
    u64 clock_start;  // nanoseconds at which the first launch of those under way began; 0: none has begun.
    u64 cells;        // bits CELLS_* of gauss/marginal.cu: what the check of a correlation matrix found; 0: it was not checked
};

// A launch that has used up its time leaves work for the next launch. Kernels that follow it on the stream then do nothing, and the host
// launches it again.
__device__ __forceinline__ bool first_is_done(const Report* r) { return r->next_first >= r->items && r->wide_first >= r->wide_items && !r->wide_open; }
__device__ __forceinline__ bool stage_is_done(const Report* r) { return r->stage_next >= r->stage_items; }
__device__ __forceinline__ bool level_is_done(const Report* r) {
    return first_is_done(r) && r->next_second >= r->items && r->wide_second >= r->wide_items && !r->wide_open_second
        && !r->stages_left;
}

constexpr u64 WIDE_REST = 3;       // host: numbers in `Args::wide_rest` for each block
constexpr u64 SLOT_BYTES = 48;     // host: bytes of an element of `Args::slot`
constexpr u32 VERTEX_BITS = 21;    // host: bits of a vertex in `Report::widest`

struct Args {
    u64 p;
    u64 words;            // 32-bit words of a bit row; even, except in blocks of vertices (engine/cuda/gauss/blocks)
    const double* c;      // correlations, in rows of `pitch`.
    u64 pitch;            // p, or the width of blocks (engine/cuda/gauss/blocks)
    u32* graph;           // bit rows, p x words
    const u32* start;     // bit rows of the pairs that may be adjacent at all; null: all pairs
    const u32* fixed;     // bit rows of the pairs that are never tested; null: none.
    u32* empty;           // bit rows of the pairs that the empty set separates.
    double* p_max;        // largest p of all pairs, x < y at y (y - 1) / 2 + x, or of the pairs of `left`, in their order; null: level 0 keeps none
    u64* left;            // bit rows, p x words / 2, of the pairs that level 0 left, which p_max then holds; null: p_max holds all pairs
    u32* left_before;     // by word of `left`: number of bits of its row before it
    u64* left_first;      // by row: number of its first pair x < y, by x, then y, minus the bits of the row below x; it may wrap
    u32* degree;          // by row
    u64* offset;          // by row: where its list starts; p + 1 numbers
    u32* list;            // neighbours in ascending order, row after row
    const u32* candidates;  // by row: how many vertices at the start of its list may be in sets; null: all
    u32* verdict;         // sets of one: by list entry of the smaller vertex
    void* slot;           // by list entry: results of that side at this level (search/slots.cuh)
    u32* twin;            // by list entry x -> y: index of the entry y -> x
    u64* first_item;      // by row: number of its first item of work; p + 1 numbers
    u64* first_wide;      // by row: number of its first item of work for blocks, if it has `wide_degree` neighbours; p + 1 numbers
    u64* wide_rest;       // by block for such rows: an item that it did not finish, the next rank of that item, whether there is one.
    u64 wide_blocks;      // number of these blocks.
    u64 wide_degree;      // rows with at least this many neighbours are run by blocks (Gaussian test, strategy "shared", sets of two and more).
    u64 wide_columns;     // neighbours whose correlations such a block holds in shared memory, a multiple of 32.
    u64 wide_masked;      // rows with up to this many neighbours also have their masks of common neighbours there.
    u32* record_count;    // sets of one, by row: number of its records in `log`; in the memory of `degree`, which is free then
    u64* first_record;    // sets of one, by row: number of its first record; p + 1 numbers, in the memory of `first_item`, which is free then
    const u64* binomial;  // n over k at k * binomial_stride + n, saturating
    u64 binomial_stride;
    u32* log;             // records (row, other, members)
    Report* report;
    char* scratch;        // working memory that does not fit in shared memory; null: none
    u64 warp_bytes;       // bytes of a warp's working memory, there or in shared memory (Gaussian test)
    u64 size;             // members of a conditioning set
    u64 first_row;        // rows of this launch: first_row to end_row - 1
    u64 end_row;
    u64 first_smaller;    // sets of one, by columns, first sides: the smaller vertices of this launch's pairs, first_smaller to end_smaller - 1.
    u64 end_smaller;
    double* values;       // p by list entry, for sides that are settled one by one.
    u64 second;           // 0: sets of the smaller vertex's neighbours, 1: of the larger vertex's
    u64 any_side;         // whether either vertex's side may be asked; the slot of the other side then says whether it is (engine/cuda/gauss/blocks).
    u64 budget;           // nanoseconds after which a launch takes no more work
    u64 level_warps;      // approximate number of warps that share the work of a level.
    u64 first_rank;       // ranks of this launch: first_rank to end_rank - 1 (strategies of the papers, discrete variables)
    u64 end_rank;
    u64 beta;             // strategies "edge" and "gpucsl": edges of a block; otherwise 0
    u64 gamma;            // strategies "edge" and "gpucsl": tests of an edge that run at a time
    u64 row_room;         // strategies "edge" and "set": neighbours of a row that a block's shared memory has room for, after its warps' working memory
    u64 theta;            // strategy "set": sets of a block; "gpucsl": edges of a row that have working memory
    u64 mask_ends;        // sets of one: a block of rows with at least this many neighbours in total goes by masks
    u64 column_ends;      // sets of one: a block with fewer than `mask_ends`, but at least this many, goes by columns
    uint2* near;          // sets of one, by columns: by list entry x -> z: z, and the correlation of x and z in single precision
    double below;         // q below this: certainly independent
    double above;         // q above this: certainly dependent
    double trusted;       // q is trusted if smallest pivot * smaller remaining variance is above this: trusted_above of ci/gauss.rs
    double bounded;       // r is known to within slack / product if that product is above this: slack of ci/gauss.rs
    double slack;
    double critical;      // largest r that is independent by the exact formula; below 0: none, infinity: all
    double critical_neg;  // the same limit for -r
    double scale;         // sqrt(n - size - 3)
    double scale_marginal;  // sqrt(n - 3)
    double mark;          // p of a pair that is not tested
    u64 fast;             // whether to follow pcalg's "stable.fast": how it reads degenerate cases and orders the sets of the second side
    u64 keeps_marginal;   // whether level 0 writes the p of every pair; if not, pairs left at the end are raised to it then
    u64 nan_separates;    // whether an undefined correlation separates
    u64 missing_separates;  // whether a missing correlation separates ("stable.fast": NAdelete)
    // A batch of questions. `pick` uses only `pairs` and `answers`.
    const u32* pairs;     // x and y of each question
    const u64* set_ends;  // where each set ends in `sets`
    const u32* sets;
    double* answers;      // p of each question; for `rank_values`: of all pairs, x < y at y (y - 1) / 2 + x, or null
    u64 count;            // number of questions, or of values
};

__device__ __forceinline__ bool has(const u32* rows, u64 words, u32 x, u32 y) {
    return rows[x * words + (y >> 5)] >> (y & 31) & 1;
}

__device__ __forceinline__ bool is_tested(const Args& a, u32 x, u32 y) { return !a.fixed || !has(a.fixed, a.words, x, y); }

// Returns the number of a pair of `left`.
__device__ __forceinline__ u64 number_of(const Args& a, u64 low, u64 high) {
    u64 word = low * (a.words / 2) + high / 64;
    return a.left_first[low] + a.left_before[word] + __popcll(a.left[word] & ((1ull << high % 64) - 1));
}

__device__ __forceinline__ double* packed(const Args& a, u32 x, u32 y) {
    u64 low = x < y ? x : y, high = x < y ? y : x;
    return a.p_max + (a.left ? number_of(a, low, high) : high * (high - 1) / 2 + low);
}

// Returns the row that owns entry `at`: the last row whose first entry is at most `at`.
__device__ __forceinline__ u32 row_of(const u64* first, u64 rows, u64 at) {
    u64 low = 0, high = rows;
    while (high - low > 1) {
        u64 middle = (low + high) / 2;
        if (first[middle] <= at) low = middle; else high = middle;
    }
    return (u32)low;
}

// Returns how many of a row's d neighbours may be in sets. The other neighbours are of a later tier. They are listed because sets of their
// pairs come from this row, too.
__device__ __forceinline__ u32 candidates_of(const Args& a, u64 x, u32 d) { return a.candidates ? a.candidates[x] : d; }

// Returns how many of an ascending list's d vertices come before v.
__device__ __forceinline__ u32 vertices_before(const u32* list, u32 d, u32 v) {
    u32 low = 0, high = d;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (list[middle] < v) low = middle + 1; else high = middle;
    }
    return low;
}

// Returns the index in `list` of the entry y -> x. x must be a neighbour of y.
__device__ __forceinline__ u64 twin_of(const Args& a, u32 x, u32 y) {
    u64 low = a.offset[y], high = a.offset[y + 1];
    while (high - low > 1) {
        u64 middle = (low + high) / 2;
        if (a.list[middle] <= x) low = middle; else high = middle;
    }
    return low;
}

// Removes y from the bit row of x.
__device__ __forceinline__ void remove_neighbour(const Args& a, u32* rows, u32 x, u32 y) {
    atomicAnd(&rows[x * a.words + (y >> 5)], ~(1u << (y & 31)));
}
