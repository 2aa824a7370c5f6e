// Level 1 in less memory than all correlations take (engine/cuda/gauss/blocks/slices). The conditioning variables z come in slices, while
// the state of the pairs stays.
//
// A slice is some rows of the correlations. A pair x < y needs two of its columns. `Slices::singles` holds these side by side in single
// precision, which decides nearly all tests (single.cuh). As z ascend, most pairs end in the first slice, and the few that are left can
// wait for all further slices.
#pragma once
#include "gauss/single.cuh"

constexpr u32 SLICE_THREADS = 128;    // host: threads of a block of slice_tests
constexpr u32 SLICE_DEPTH = 256;      // variables of a slice that a warp takes at a time
constexpr u32 VERDICT_OPEN = 0xfffffffd;    // host: in place of a verdict: the pair waits for further slices

// A pair of the level.
struct Pair {
    double xy;    // its correlation
    double r;     // smallest |r| so far, 2: nothing was tested; if the pair is separated, r of that test
    u64 what;     // see below
};

// `Pair::what`, from the lowest bit on: y; then 1 + the variable that separates, or 0 for none. In an open pair, whose first side is not
// done, this variable is of the second side. Next comes the number of that side's tests up to there that the exact formula decided.
constexpr u32 PAIR_BITS = 20;    // host: bits of a vertex in the state of a pair
constexpr u64 PAIR_CLOSED = 1ull << 61, PAIR_SECOND = 1ull << 62, PAIR_UNTESTED = 1ull << 63;
__device__ __forceinline__ u32 larger_in(u64 what) { return what & ((1u << PAIR_BITS) - 1); }
__device__ __forceinline__ u32 separator_in(u64 what) { return what >> PAIR_BITS & ((1u << (PAIR_BITS + 1)) - 1); }
__device__ __forceinline__ u32 exact_in(u64 what) { return what >> (2 * PAIR_BITS + 1) & ((1u << PAIR_BITS) - 1); }
__device__ __forceinline__ u64 as_separator(u32 z) { return (u64)(z + 1) << PAIR_BITS; }
__device__ __forceinline__ u64 as_exact(u32 count) { return (u64)count << (2 * PAIR_BITS + 1); }

// The kernels' arguments, `SliceArgs` in Rust. The graph is the level's: `left_before` and `left_first` number its pairs, `offset` adds up
// its degrees, and `first_record` adds up the numbers of its pairs.
struct Slices {
    Args a;
    const double* rows;    // correlations of the slice's variables with those from first_column on, in rows of `pitch`
    u64 first_column;
    u64 pitch;
    float* singles;        // by variable: its correlations with the slice's variables
    u64 width;             // numbers in a row of `singles`
    u64 first_z;           // the slice's variables: first_z to end_z - 1
    u64 end_z;
    u64 is_coarse;         // whether single precision can serve
    const double* own;     // correlations of the launch's rows, from column first_own on; null: `values` has those of its pairs
    u64 first_own;
    u64 own_pitch;
    Pair* pairs;           // the pairs, row by row
    u32* open;             // by row, from where its pairs start: the numbers in `pairs` of its open pairs
    u64* first;            // by row: where its pairs start, plus `before`
    u64 before;
    u32* left;             // by row: number of its entries in `open`
    Pair* kept_pairs;      // the same for the pairs that wait for further slices; `kept_first` also has where the row after the last would start
    u32* kept_open;
    u64* kept_first;
    u32* kept_left;
    u32* verdict;          // what was found, one pair after another, from the launch's first row on
    double* values;        // p of these pairs
    u64 out_before;        // where these pairs start among the pairs
};

// Returns the number of neighbours of x before z, in the level's graph.
__device__ __forceinline__ u32 neighbours_before(const Args& a, u32 x, u32 z) {
    const u64 at = x * (a.words / 2) + z / 64;
    return a.left_before[at] + __popcll(a.left[at] & ((1ull << z % 64) - 1));
}

__device__ __forceinline__ u32 degree_of(const Args& a, u32 x) { return (u32)(a.offset[x + 1] - a.offset[x]); }

// Returns where the pairs of a row start; count_of() returns how many there are.
__device__ __forceinline__ u64 start_of(const Slices& s, u64 x) { return s.first[x] - s.before; }
__device__ __forceinline__ u32 count_of(const Slices& s, u64 x) { return (u32)(s.first[x + 1] - s.first[x]); }

// Calls take(x, y, place, xy) for the numbered pairs of rows first_row to end_row - 1; `place` is among the pairs of the launch.
template <class Take> __device__ __forceinline__ void each_pair(const Slices& s, Take take) {
    const Args& a = s.a;
    const u32 lane = lane_id(), warps = blockDim.x / WARP, warp = threadIdx.x / WARP;
    for (u64 row = a.first_row + blockIdx.x; row < a.end_row; row += gridDim.x) {
        const u32 x = (u32)row, smaller = neighbours_before(a, x, x);
        const u64 start = start_of(s, x);
        for (u64 w = x / 32 + blockIdx.y * warps + warp; w < a.words; w += gridDim.y * warps) {
            u32 word = a.graph[x * a.words + w];
            if (w == x / 32) word &= ~1u << x % 32;
            if (w == x / 32 && x % 32 == 31) word = 0;
            if (!word) continue;
            // In the first word, bits below its own pairs are smaller vertices.
            const u32 first = w == x / 32 ? 0 : neighbours_before(a, x, (u32)w * 32) - smaller;
            if (!(word >> lane & 1)) continue;
            const u32 y = (u32)w * 32 + lane;
            const u64 place = start + first + lanes_before(word);
            take(x, y, place, s.own ? s.own[(x - a.first_row) * s.own_pitch + (y - s.first_own)] : s.values[place]);
        }
    }
}

// Returns which of this lane's eight variables, out of the SLICE_DEPTH from z0 on, are neighbours of x. Bit k is z0 + 4 lane + k; from k =
// 4 on, SLICE_DEPTH / 2 - 4 further.
__device__ __forceinline__ u32 neighbours_at(const Args& a, u32 x, u64 z0) {
    const u32 lane = lane_id();
    const u64 w = (z0 >> 5) + lane / 8, further = w + SLICE_DEPTH / 64;
    const u32* row = a.graph + x * a.words;
    const u32 low = w < a.words ? row[w] : 0, high = further < a.words ? row[further] : 0;
    return (low >> (4 * (lane % 8)) & 15) | (high >> (4 * (lane % 8)) & 15) << 4;
}

// Returns the variable of bit k.
__device__ __forceinline__ u64 variable_at(u64 z0, u32 k) { return z0 + 4 * lane_id() + k % 4 + k / 4 * (SLICE_DEPTH / 2); }

// Returns the bit of v among this lane's eight variables.
__device__ __forceinline__ u32 bit_at(u32 v, u64 z0) {
    const u64 at = v - z0;
    const u32 in_half = at % (SLICE_DEPTH / 2);
    return at < SLICE_DEPTH && in_half / 4 == lane_id() ? 1u << (at / (SLICE_DEPTH / 2) * 4 + in_half % 4) : 0;
}

// Returns the bits of this lane's eight variables that are in the slice.
__device__ __forceinline__ u32 bits_within(const Slices& s, u64 z0) {
    u32 bits = 0;
#pragma unroll
    for (u32 k = 0; k < SLICE_DEPTH / WARP; k++) bits |= (u32)(variable_at(z0, k) < s.end_z) << k;
    return bits;
}

// Loads this lane's eight correlations of v in single precision; 0 beyond the slice.
__device__ __forceinline__ void load_eight(const Slices& s, u32 v, u64 z0, float (&of_v)[SLICE_DEPTH / WARP]) {
    const u64 at = z0 - s.first_z + 4 * lane_id();
    const float* row = s.singles + v * s.width + at;
#pragma unroll
    for (u32 half = 0; half < 2; half++) {
        float4 four{0.0f, 0.0f, 0.0f, 0.0f};
        if (at + half * (SLICE_DEPTH / 2) < s.width) four = *(const float4*)(row + half * (SLICE_DEPTH / 2));
        of_v[4 * half] = four.x;
        of_v[4 * half + 1] = four.y;
        of_v[4 * half + 2] = four.z;
        of_v[4 * half + 3] = four.w;
    }
}

// A pair of a warp, and its place.
struct Asked {
    const Slices& s;
    u32 x, y;
    Pair* pair;

    __device__ __forceinline__ double with(u32 v, u32 z) const { return s.rows[(z - s.first_z) * s.pitch + v]; }
    __device__ __forceinline__ Exact formula(u32 z) const { return exact_of(s.a, pair->xy, with(x, z), with(y, z)); }

    // Finds which of this lane's eight variables are tested on either side.
    __device__ __forceinline__ void sides(u64 z0, u32& first, u32& second) const {
        const u32 of_x = neighbours_at(s.a, x, z0), within = bits_within(s, z0);
        first = of_x & ~bit_at(y, z0) & within;
        second = neighbours_at(s.a, y, z0) & ~of_x & ~bit_at(x, z0) & within;
    }

    // Tests the pair given the variables of each lane's `bits`. Returns the first variable that separates, or KEPT. Counts the tests up to
    // there that the exact formula decides.
    __device__ __forceinline__ u32 separator(u64 z0, u32 bits, u32& exact_tests) const {
        u32 found = KEPT, suspects = 0;
        Found unused{1.0, 0.0, FULL, 2.0, 0, 0};
        while (__any_sync(FULL, bits)) {
            if (bits) {
                const u32 k = __ffs(bits) - 1, z = (u32)variable_at(z0, k);
                bits &= bits - 1;
                bool suspect = false;
                const bool separates = test_of<true>(s.a, z, pair->xy, with(x, z), with(y, z), unused, suspect, [&] { return formula(z); });
                if (separates && z < found) found = z;
                suspects |= (u32)suspect << k;
            }
        }
        found = warp_join(found, [](u32 s, u32 t) { return s < t ? s : t; });
        u32 count = 0;
        for (; suspects; suspects &= suspects - 1) count += variable_at(z0, __ffs(suspects) - 1) <= found;
        exact_tests += warp_sum(count);
        return found;
    }

    // Lowers the pair's smallest |r| to that given the variables from z0 on, none of which separates.
    __device__ __forceinline__ void improve(u64 z0) const {
        u32 first, second;
        sides(z0, first, second);
        float of_x[SLICE_DEPTH / WARP], of_y[SLICE_DEPTH / WARP], ratio[SLICE_DEPTH / WARP], q = 1e30f;
        load_eight(s, x, z0, of_x);
        load_eight(s, y, z0, of_y);
        const float xy = (float)pair->xy;
#pragma unroll
        for (u32 k = 0; k < SLICE_DEPTH / WARP; k++) {
            const float covariance = fmaf(-of_x[k], of_y[k], xy);
            ratio[k] = covariance * covariance / (fmaf(-of_x[k], of_x[k], 1.0f) * fmaf(-of_y[k], of_y[k], 1.0f));
            if ((first | second) >> k & 1) q = fminf(q, ratio[k]);
        }
        q = warp_join(q, [](float s, float t) { return fminf(s, t); });
        const float low = s.is_coarse ? covering_twice(q) : 1e30f;
        u32 bits = 0;
#pragma unroll
        for (u32 k = 0; k < SLICE_DEPTH / WARP; k++) bits |= (u32)!(ratio[k] > low) << k;
        Found f{1.0, 0.0, FULL, 2.0, 0, 0};
        for (bits &= first | second; bits; bits &= bits - 1) {
            const u32 z = (u32)variable_at(z0, __ffs(bits) - 1);
            bool suspect;
            test_of<true>(s.a, z, pair->xy, with(x, z), with(y, z), f, suspect, [&] { return formula(z); });
        }
        __syncwarp();
        const double r = smallest_of(f, [&](u32 z) { return formula(z); });
        __syncwarp();
        if (lane_id() == 0 && r < pair->r) pair->r = r;
        __syncwarp();
    }
};

// A warp's counts.
struct Counts {
    u64 tests;
    u32 exact;
    bool go_on;
};

// Ends a pair for which all variables have come, and none separates on its first side.
__device__ __forceinline__ void end_pair(const Asked& pair, Counts& counts) {
    const Args& a = pair.s.a;
    const u32 x = pair.x, y = pair.y, degree = degree_of(a, y);
    const u64 what = pair.pair->what;
    counts.tests += degree_of(a, x) - 1;
    counts.go_on |= degree > 2;
    counts.exact += exact_in(what);
    u64 ended = what & (as_exact(1) - 1) | PAIR_CLOSED;
    if (u32 one_more = separator_in(what)) {
        u32 z = one_more - 1, tests = neighbours_before(a, y, z) + 1 - (x < z);
        if (a.fast) {
            // Common neighbours of x and y are left out.
            u32 common = 0;
            const u32 *of_x = a.graph + x * a.words, *of_y = a.graph + y * a.words;
            for (u32 w = lane_id(); w <= z >> 5; w += WARP) {
                u32 word = of_x[w] & of_y[w];
                common += __popc(w < z >> 5 ? word : word & (FULL >> (31 - (z & 31))));
            }
            tests -= warp_sum(common);
        }
        counts.tests += tests;
        ended |= PAIR_SECOND;
    } else {
        counts.tests += degree - 1 - (a.fast ? common_neighbours(a, x, y) : 0);
        if (pair.pair->r > 1.5) ended |= PAIR_UNTESTED;
    }
    __syncwarp();
    if (lane_id() == 0) pair.pair->what = ended;
    __syncwarp();
}

// Adds a warp's counts to the report.
__device__ __forceinline__ void report_counts(const Args& a, const Counts& counts) {
    if (lane_id()) return;
    if (counts.tests) atomicAdd(&a.report->tests, counts.tests);
    if (counts.exact) atomicAdd(&a.report->exact, (u64)counts.exact);
    if (counts.go_on) a.report->go_on = 1;
}
