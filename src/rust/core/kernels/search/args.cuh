// The arguments of the kernels that search, and what they report. tools/build-kernels translates `Args` and `Report` into Rust, as
// it does the other structs that the host fills or reads.
#pragma once
#include "gpu/threads.cuh"

// Numbers that the host sets before a level and reads between launches.
struct Report {
    u64 tests;        // tests that pcalg performs
    u64 exact;        // those of them that the exact formula decided
    u64 removed;      // pairs removed
    u64 ends;         // twice the number of edges
    u64 widest;       // of the vertex x of largest degree with a pair (x, y) to test: its degree, last vertex - x, y, of VERTEX_BITS each
    u64 go_on;        // whether a side was visited that has more candidates than the sets have members
    u64 undefined;    // smallest x * p + y of a pair that met a test without an answer
    u64 logged;       // records in the log of this level
    // Strategy "shared" of the Gaussian test, which runs a level in two sides:
    u64 items;        // items of work on each side
    u64 next_first;   // items handed out on the first sides
    u64 next_second;  // and on the second sides
    u64 chunk;        // least number of sets in an item of work
    u64 wide_items;   // likewise of rows with many neighbours: items on each side, those handed out, sets in an item
    u64 wide_first;
    u64 wide_second;
    u64 wide_chunk;
    u64 wide_open;    // those that a launch left unfinished, on the first sides and on the second
    u64 wide_open_second;
    // Discrete variables, whose levels are run in stages; level 0 is one:
    u64 stage_begun;  // the last stage that began
    u64 stage_items;  // its items of work
    u64 stage_next;   // those of them that were handed out
    u64 stages_left;  // whether the level has stages that did not end
    u64 asked;        // tests left to the CPU
    // Level 1 by slices (gauss/slices.cuh): pairs that wait; sums of hashes of correlations on either side of the diagonal, the latter at level 0, too.
    u64 kept;
    u64 above;
    u64 below;
    u64 clock_start;  // nanoseconds at which the first launch under way began; 0: none has
    u64 cells;        // what is known of a matrix of correlations that is checked, as gauss/marginal.cu has it; 0: it was not checked
};

// A launch that has used up its time leaves work for the next. What follows it on the stream then does nothing, and the host
// launches it again.
__device__ __forceinline__ bool first_is_done(const Report* r) { return r->next_first >= r->items && r->wide_first >= r->wide_items && !r->wide_open; }
__device__ __forceinline__ bool stage_is_done(const Report* r) { return r->stage_next >= r->stage_items; }
__device__ __forceinline__ bool level_is_done(const Report* r) {
    return first_is_done(r) && r->next_second >= r->items && r->wide_second >= r->wide_items && !r->wide_open_second
        && !r->stages_left;
}

constexpr u64 WIDE_REST = 3;       // host: numbers of a block in `Args::wide_rest`
constexpr u64 SLOT_BYTES = 48;     // host: bytes of an element of `Args::slot`
constexpr u32 VERTEX_BITS = 21;    // host: bits of a vertex in `Report::widest`

struct Args {
    u64 p;
    u64 words;            // 32-bit words of a bit row, an even number but in blocks of vertices (engine/cuda/gauss/blocks)
    const double* c;      // correlations, rows of `pitch`
    u64 pitch;            // p, or the width of blocks (engine/cuda/gauss/blocks)
    u32* graph;           // bit rows, p x words
    const u32* start;     // bit rows of the pairs that may be adjacent at all; null: all of them
    const u32* fixed;     // bit rows of the pairs that are never tested; null: none
    u32* empty;           // bit rows of the pairs that the empty set separates
    double* p_max;        // of all pairs, x < y at y (y - 1) / 2 + x; of those of `left`, in their order; null: level 0 keeps none
    u64* left;            // bit rows, p x words / 2, of the pairs that level 0 left and p_max is of; null: it is of all
    u32* left_before;     // by word of `left`: the bits of its row before it
    u64* left_first;      // by row: number of its first pair x < y, by x, then y, less the bits of the row below x; it may wrap
    u32* degree;          // by row
    u64* offset;          // by row: where its list starts; p + 1 of them
    u32* list;            // neighbours, ascending, row after row
    const u32* candidates;  // by row: how many of its list, the first ones, sets come from; null: all
    u32* verdict;         // sets of one: by list entry of the smaller vertex
    void* slot;           // by list entry: what the level learns of that side (search/slots.cuh)
    u32* twin;            // by list entry x -> y: index of the entry y -> x
    u64* first_item;      // by row: number of its first item of work; p + 1 of them
    u64* first_wide;      // by row: number of its first item of work if it has `wide_degree` neighbours; p + 1 of them
    u64* wide_rest;       // by block that runs those: an item that it did not finish, the next rank of it, whether there is one
    u64 wide_blocks;      // number of these blocks
    u64 wide_degree;      // rows with so many neighbours are run by blocks (Gaussian test, strategy "shared", sets of two and more)
    u64 wide_columns;     // neighbours whose correlations such a block has in shared memory, a multiple of 32
    u64 wide_masked;      // rows with up to so many neighbours have their masks of common neighbours there, too
    u32* record_count;    // sets of one, by row: number of its records in `log`. The memory of `degree`, which is not needed then
    u64* first_record;    // sets of one, by row: number of its first record; p + 1 of them. The memory of `first_item`, likewise
    const u64* binomial;  // n over k at k * binomial_stride + n, saturating
    u64 binomial_stride;
    u32* log;             // records (row, other, members)
    Report* report;
    char* scratch;        // working memory that shared memory does not hold; null: none
    u64 warp_bytes;       // working memory of a warp, there or in shared memory (Gaussian test)
    u64 size;             // members of a conditioning set
    u64 first_row;        // rows of this launch: first_row to end_row - 1
    u64 end_row;
    u64 first_smaller;    // sets of one, by columns, first sides: the smaller vertices of this launch's pairs, first_smaller to end_smaller - 1
    u64 end_smaller;
    double* values;       // sides that are settled one by one: p, by list entry
    u64 second;           // 0: sets of the smaller vertex's neighbours, 1: of the larger one's
    u64 any_side;         // whether either vertex of a pair may be the larger one: its entry's twin says whether a side is asked (engine/cuda/gauss/blocks)
    u64 budget;           // nanoseconds after which a launch takes no more work
    u64 level_warps;      // about how many warps share the work of a level
    u64 first_rank;       // ranks of this launch: first_rank to end_rank - 1 (strategies of the papers, discrete variables)
    u64 end_rank;
    u64 beta;             // strategies "edge" and "gpucsl": edges of a block; else 0
    u64 gamma;            // strategies "edge" and "gpucsl": tests of an edge that run at a time
    u64 theta;            // strategy "set": sets of a block; "gpucsl": edges of a row that have working memory
    u64 mask_ends;        // sets of one: a block of rows with at least so many neighbours in all is taken by masks
    u64 column_ends;      // sets of one: one with fewer than that, but at least so many, by columns
    uint2* near;          // sets of one, by columns: by list entry x -> z: z, and the correlation of both in single precision
    double below;         // q below this: independent for certain
    double above;         // q above this: dependent for certain
    double trusted;       // q is trusted where smallest pivot * smaller variance left is above this: trusted_above of ci/gauss.rs
    double bounded;       // r is known to within slack / product where that product is above this: slack of ci/gauss.rs
    double slack;
    double critical;      // the largest r that is independent by the exact formula; below 0: none, infinity: all
    double critical_neg;  // likewise for -r
    double scale;         // sqrt(n - size - 3)
    double scale_marginal;  // sqrt(n - 3)
    double mark;          // p of a pair that is not tested
    u64 fast;             // pcalg's "stable.fast": its reading of degenerate cases and its order of the second side
    u64 keeps_marginal;   // level 0 writes p of all pairs, of which the others are raised at the end
    u64 nan_separates;    // an undefined correlation separates
    u64 missing_separates;  // a missing correlation separates ("stable.fast": NAdelete)
    // A batch of questions; `pick` takes pairs and answers alone.
    const u32* pairs;     // x, y of each
    const u64* set_ends;  // where each set ends in `sets`
    const u32* sets;
    double* answers;      // p of each; `rank_values`: of all pairs, x < y at y (y - 1) / 2 + x, or null; `raise_values`: those that p_max is raised to
    u64 count;            // number of questions, or of values
};

__device__ __forceinline__ bool has(const u32* rows, u64 words, u32 x, u32 y) {
    return rows[x * words + (y >> 5)] >> (y & 31) & 1;
}

__device__ __forceinline__ bool is_tested(const Args& a, u32 x, u32 y) { return !a.fixed || !has(a.fixed, a.words, x, y); }

// The number of a pair of `left`.
__device__ __forceinline__ u64 number_of(const Args& a, u64 low, u64 high) {
    u64 word = low * (a.words / 2) + high / 64;
    return a.left_first[low] + a.left_before[word] + __popcll(a.left[word] & ((1ull << high % 64) - 1));
}

__device__ __forceinline__ double* packed(const Args& a, u32 x, u32 y) {
    u64 low = x < y ? x : y, high = x < y ? y : x;
    return a.p_max + (a.left ? number_of(a, low, high) : high * (high - 1) / 2 + low);
}

// The row that owns entry `at`: the last whose first entry is at most `at`.
__device__ __forceinline__ u32 row_of(const u64* first, u64 rows, u64 at) {
    u64 low = 0, high = rows;
    while (high - low > 1) {
        u64 middle = (low + high) / 2;
        if (first[middle] <= at) low = middle; else high = middle;
    }
    return (u32)low;
}

// How many of a row's d neighbours sets come from. The others are of pairs whose sets come from this row although its list has not the other vertex
// among these: it is of a later tier.
__device__ __forceinline__ u32 candidates_of(const Args& a, u64 x, u32 d) { return a.candidates ? a.candidates[x] : d; }

// How many of a list's d vertices, which ascend, come before v.
__device__ __forceinline__ u32 vertices_before(const u32* list, u32 d, u32 v) {
    u32 low = 0, high = d;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (list[middle] < v) low = middle + 1; else high = middle;
    }
    return low;
}

// The index in `list` of the entry y -> x; x is a neighbour of y.
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
