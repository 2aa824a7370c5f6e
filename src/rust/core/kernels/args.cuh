// What every kernel is given, and what it reports. `Args` and `Report` are mirrored by engine/cuda/kernels.rs: eight bytes a
// field, so that no padding has to be agreed on.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 FULL = 0xffffffffu;
constexpr u64 NEVER = ~0ull;
constexpr int WARP = 32;

// Scalars that the host reads between launches. The host sets them before a level.
struct Report {
    u64 tests;        // that pcalg performs
    u64 exact;        // of them decided by the exact formula
    u64 removed;      // pairs
    u64 ends;         // twice the number of edges
    u64 widest;       // degree, 2^21 - 1 - vertex, other vertex of a pair to be tested: 21 bits each, of the widest
    u64 go_on;        // a side was visited that has more candidates than the sets have members
    u64 undefined;    // smallest x * p + y of a pair that met a test without an answer
    u64 logged;       // records in the log of this level
    u64 items;        // work there is on each side
    u64 next_first;   // work handed out: first sides
    u64 next_second;  // second sides
    u64 chunk;        // sets in an item of work, at least
    u64 stage;        // of the level that is under way (tests of discrete variables)
    u64 asked;        // tests that were left to the CPU (likewise)
    u64 began;        // nanoseconds at which the first of the launches under way began; 0: none has (likewise)
};

// A launch that has used up its time leaves work for the next. What follows it on the stream does nothing then, and is
// launched again.
__device__ __forceinline__ bool first_is_done(const Report* r) { return r->next_first >= r->items; }
__device__ __forceinline__ bool both_are_done(const Report* r) { return first_is_done(r) && r->next_second >= r->items; }


// What is known of the sets from the neighbours of a row against one other vertex.
struct Slot {
    u64 stop;       // 2 * smallest rank that separates + whether the exact formula said so; NEVER
    u64 rank;       // where q is smallest among the trusted tests that do not separate; rank of the row's whole list
    u64 q;          // the bits of that q; those of infinity
    u64 q_of_rank;  // the q that `rank` goes with: while several warps enter theirs, it may lag behind
    u64 exact_r;    // smallest |r|, as bits, among the tests that the exact formula decided and that do not separate; NEVER
    u32 lock;
    u32 exact;      // tests decided by the exact formula
};

struct Args {
    u64 p;
    u64 words;            // of 32 bits in a bit row, even
    const double* c;      // correlations, p x p
    u32* graph;           // bit rows
    const u32* start;     // pairs that may be adjacent at all; null: all of them
    const u32* fixed;     // pairs that are never tested; null: none
    u32* empty;           // pairs that the empty set separates: lower triangle
    double* p_max;        // packed: the pair x < y at y (y - 1) / 2 + x
    u32* degree;          // by row
    u64* offset;          // where a row's list starts; p + 1 of them
    u32* list;            // neighbours, ascending, row after row
    u32* verdict;         // sets of one: by list entry of the smaller vertex
    Slot* slot;           // by list entry
    u32* twin;            // by list entry x -> y: where y -> x stands
    u64* items;           // by row: number of the first item of work; p + 1 of them
    const u64* binomial;  // [k][n] at k * stride + n, saturating
    u64 stride;
    u32* log;             // records (row, other, members)
    Report* report;
    char* scratch;        // working memory of the warps where shared memory does not hold it; null
    u64 scratch_bytes;    // of one warp
    u64 size;             // of the conditioning sets
    u64 first_row;        // rows of this launch
    u64 last_row;
    u64 second;           // 0: the smaller vertex's neighbours, 1: the larger one's
    u64 budget;           // nanoseconds after which no more work is taken
    u64 warps;            // that share the work of a level, about
    u64 from;             // ranks of this launch (strategies "edge" and "set")
    u64 to;
    u64 beta;             // edges (strategy "edge") or sets (strategy "set") of a block
    u64 gamma;            // tests of an edge that run at a time (strategy "edge")
    double below;         // q below: independent for certain
    double above;         // q above: dependent for certain
    double trusted;       // smallest pivot times the smaller variance left: from here on q is (trusted_above of ci/gauss.rs)
    double bounded;       // likewise from here on r is known to within slack / product, for another product (slack of ci/gauss.rs)
    double slack;
    double critical;      // the largest r that is independent by the exact formula; below 0: none, infinity: all
    double critical_neg;  // likewise for -r
    double scale;         // sqrt(n - size - 3)
    double scale_marginal;
    double mark;          // p of a pair that is not tested
    u64 fast;             // pcalg's "stable.fast": its reading of degenerate cases and its order of the second side
    u64 nan_separates;    // an undefined correlation separates
    u64 missing_separates;  // a missing correlation separates ("stable.fast": NAdelete)
    // A batch of questions.
    const u32* pairs;
    const u64* ends;
    const u32* sets;
    double* answers;
    u64 count;
};

__device__ __forceinline__ u32 lane_id() { return threadIdx.x & 31; }

__device__ __forceinline__ bool has(const u32* rows, u64 words, u32 x, u32 y) {
    return rows[x * words + (y >> 5)] >> (y & 31) & 1;
}

__device__ __forceinline__ bool is_tested(const Args& a, u32 x, u32 y) { return !a.fixed || !has(a.fixed, a.words, x, y); }

__device__ __forceinline__ double* packed(const Args& a, u32 x, u32 y) {
    u64 low = x < y ? x : y, high = x < y ? y : x;
    return a.p_max + high * (high - 1) / 2 + low;
}

__device__ __forceinline__ u64 warp_sum(u64 v) {
    for (int width = 16; width; width /= 2) v += __shfl_xor_sync(FULL, v, width);
    return v;
}

// The row that owns an entry: the last one whose first number is at most `at`.
__device__ __forceinline__ u32 row_of(const u64* first, u64 rows, u64 at) {
    u64 low = 0, high = rows;
    while (high - low > 1) {
        u64 middle = (low + high) / 2;
        if (first[middle] <= at) low = middle; else high = middle;
    }
    return (u32)low;
}

// Where the list of y has x, its neighbour.
__device__ __forceinline__ u32 twin_of(const Args& a, u32 x, u32 y) {
    u64 low = a.offset[y], high = a.offset[y + 1];
    while (high - low > 1) {
        u64 middle = (low + high) / 2;
        if (a.list[middle] <= x) low = middle; else high = middle;
    }
    return (u32)low;
}
