// Level 1 of rows with neither few nor many neighbours. Lists would fetch each candidate's correlation from elsewhere in memory, and masks
// would go through all variables.
//
// A block holds one vertex's correlations with all others in shared memory, in single precision (single.cuh). Its warps take the vertex's
// neighbours. Each neighbour's list of candidates, with their correlations with it (`Args::near`), is read in order. The candidates'
// correlations with the block's vertex are gathered from shared memory. The block's vertex is the larger one on first sides, and the
// smaller one on second sides.
#include "gauss/single.cuh"

constexpr u32 COLUMN_THREADS = 1024;    // host: threads of a block of column_first and column_second

// An element of `Args::near`.
struct Near {
    u32 vertex;
    float r;
};

// Returns the bytes of shared memory of a block: three numbers a warp, the next neighbour to be taken, and a number for each variable.
__host__ __device__ constexpr u64 column_bytes(u64 p) { return 8 * (3 * COLUMN_THREADS / 32 + 1) + 4 * p; }

// The value, in place of a correlation, of a variable that is no candidate or was tested on the first side. It is never low.
constexpr float NOT_ASKED = 2.0f;

// Writes `Args::near` of rows first_row to end_row - 1; a warp takes a row.
extern "C" __global__ void column_near(const __grid_constant__ Args a) {
    Near* near = (Near*)a.near;
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        const u64 x = a.first_row + i;
        for (u64 e = a.offset[x] + lane_id(); e < a.offset[x + 1]; e += WARP) {
            u32 z = a.list[e];
            near[e] = {z, coarse(correlation(a, z, (u32)x))};
        }
    }
}

// Tests a side's pair given the side's candidates. `column` has the correlations of `other`. A value above `low` does not separate, and is
// not the smallest r². COUNTS: candidates that are not asked are not counted. Returns the candidate that separates, or KEPT.
template <bool COUNTS, bool SECOND_SIDE>
__device__ __forceinline__ u32 walk(const Args& a, const Side& s, const float* column, float low, float limit, Found& f) {
    constexpr u32 AT_ONCE = 4;
    const u32 lane = lane_id();
    const Near* near = (const Near*)a.near + (s.list - a.list);
    auto with_row = [&](u32 v) { return correlation(a, v, s.row); };
    auto with_other = [&](u32 v) { return correlation(a, v, s.other); };
    const float xy = (float)with_row(s.other);
    auto candidate = [&](u32 at) { return at < s.d ? near[at] : Near{s.other, 0.0f}; };
    u32 counted = 0;
    Near next[AT_ONCE];
#pragma unroll
    for (u32 k = 0; k < AT_ONCE; k++) next[k] = candidate(k * WARP + lane);
    for (u32 base = lane; base - lane < s.d; base += AT_ONCE * WARP) {
        bool any = false;
        u32 fresh = 0;
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            const Near v = next[k];
            next[k] = candidate(base + (AT_ONCE + k) * WARP);
            const float w = column[v.vertex];
            any |= is_low(xy, v.r, low * fmaf(-v.r, v.r, 1.0f), w);
            fresh += w != NOT_ASKED;
        }
        if (__any_sync(FULL, any)) {
            // Rare: everything is read again rather than held in registers.
            auto ratio_of = [&](Near v) {
                const float w = column[v.vertex], covariance = fmaf(-v.r, w, xy);
                return w == NOT_ASKED ? 2e30f : covariance * covariance / (fmaf(-v.r, v.r, 1.0f) * fmaf(-w, w, 1.0f));
            };
            // The smallest r² of these candidates alone.
            float q = 1e30f;
#pragma unroll 1
            for (u32 k = 0; k < AT_ONCE; k++) q = fminf(q, ratio_of(candidate(base + k * WARP)));
            q = warp_join(q, [](float s, float t) { return fminf(s, t); });
            low = fmaxf(limit, fminf(low, covering_twice(q)));
#pragma unroll 1
            for (u32 k = 0; k < AT_ONCE; k++) {
                const Near v = candidate(base + k * WARP);
                const bool asked = !(ratio_of(v) > low);
                if (!__any_sync(FULL, asked)) continue;
                bool suspect = false, separates = false;
                if (asked) {
                    separates = test_single<true>(
                        a, s.row, s.other, v.vertex, with_row(s.other), with_row(v.vertex), with_other(v.vertex), f, suspect
                    );
                }
                const u32 hits = __ballot_sync(FULL, separates), suspects = __ballot_sync(FULL, suspect);
                const u32 first = hits ? __ffs(hits) - 1 : 31, up_to = FULL >> (31 - first);
                f.exact_tests += __popc(suspects & up_to);
                if (!hits) continue;
                const u32 found = __shfl_sync(FULL, v.vertex, first);
                f.tests = base - lane + k * WARP + first + 1 - (s.other < found);
                if (COUNTS) {
                    for (u32 m = 0; m <= k; m++) {
                        counted += (m < k || lane <= first) && column[candidate(base + m * WARP).vertex] != NOT_ASKED;
                    }
                    f.tests = warp_sum(counted);
                }
                return found;
            }
#pragma unroll
            for (u32 k = 0; k < AT_ONCE; k++) next[k] = candidate(base + (AT_ONCE + k) * WARP);
        }
        if (COUNTS) counted += fresh;
    }
    f.tests = COUNTS ? warp_sum(counted) : s.d - 1;
    return KEPT;
}

// Tests one side of the pairs of the block's vertex, first_row + blockIdx.x.
template <bool SECOND_SIDE> __device__ __forceinline__ void by_columns(const Args& a) {
    extern __shared__ u64 sums[];
    constexpr u32 THREADS = COLUMN_THREADS, WARPS = THREADS / WARP;
    u32& taken = *(u32*)(sums + 3 * WARPS);
    float* column = (float*)(sums + 3 * WARPS + 1);
    const u32 lane = lane_id(), p = (u32)a.p, own = (u32)a.first_row + blockIdx.x;
    const u64 offset = a.offset[own];
    const u32* list = a.list + offset;
    const u32 d = (u32)(a.offset[own + 1] - offset);
    // A pair belongs to the row of its smaller vertex.
    if (SECOND_SIDE && !takes_columns(a, own / MASK_ROWS)) return;
    const u32 middle = vertices_before(list, d, own);
    u32 from = middle, to = d;
    if (!SECOND_SIDE) {
        from = a.first_smaller ? vertices_before(list, middle, (u32)a.first_smaller) : 0;
        to = a.end_smaller < own ? vertices_before(list, middle, (u32)a.end_smaller) : middle;
    }
    auto is_taken = [&](u32 i) {
        if (!SECOND_SIDE) return takes_columns(a, list[i] / MASK_ROWS);
        u32 verdict = a.verdict[offset + i];
        return verdict < UNTESTED && (verdict & PENDING) != 0;
    };
    bool any = false;
    for (u32 i = from + threadIdx.x; i < to && !any; i += THREADS) any = is_taken(i);
    if (threadIdx.x == 0) taken = to;
    __syncthreads();
    if (any) atomicMin(&taken, from);
    __syncthreads();
    if (taken == to) return;
    for (u32 z = threadIdx.x; z < p; z += THREADS) {
        bool asked = z != own && !(SECOND_SIDE && has(a.graph, a.words, own, z));
        column[z] = asked ? coarse(correlation(a, z, own)) : NOT_ASKED;
    }
    __syncthreads();
    const float limit = covering(a.above);
    u32 tests = 0, exact_tests = 0;    // of this warp: fewer than p², and p is small enough for a column to fit
    bool go_on = false;
    while (true) {
        u32 i = lane == 0 ? atomicAdd(&taken, 1u) : 0;
        i = __shfl_sync(FULL, i, 0);
        if (i >= to) break;
        if (!is_taken(i)) continue;
        const u32 other = list[i];
        // The verdict is with the smaller vertex.
        auto verdict = [&] { return a.verdict + (SECOND_SIDE ? offset + i : twin_of(a, own, other)); };
        if (!SECOND_SIDE && !is_tested(a, other, own)) {
            if (lane == 0) *verdict() = UNTESTED;
            continue;
        }
        // The smallest |r| of the first side, if it tested anything.
        double r = SECOND_SIDE && !(*verdict() & ~PENDING) ? *packed(a, own, other) : 3.0;
        const Side side = side_of(a, other, own);
        go_on |= side.d > 2;
        Found f{1.0, 0.0, FULL, 2.0, 0, 0};
        const float low = r <= 1.5 ? fmaxf(limit, covering(r * r)) : 1e30f;
        u32 found = SECOND_SIDE && a.fast ? walk<true, true>(a, side, column, low, limit, f) : walk<false, SECOND_SIDE>(a, side, column, low, limit, f);
        tests += f.tests;
        exact_tests += f.exact_tests;
        if (found != KEPT) {
            r = separating(a, other, own, found);
            if (SECOND_SIDE) found |= SECOND;
        } else {
            r = fmin(r, smallest(a, other, own, f));
            if (!SECOND_SIDE) found = PENDING | (r > 1.5); else if (r > 1.5) found = UNTESTED;
        }
        if (lane == 0) {
            if (r <= 1.5) *packed(a, own, other) = r;
            *verdict() = found;
        }
        __syncwarp();
    }
    report_singles(a, sums, tests, exact_tests, go_on);
}

extern "C" __global__ void __launch_bounds__(COLUMN_THREADS, 1) column_first(const __grid_constant__ Args a) { by_columns<false>(a); }
extern "C" __global__ void __launch_bounds__(COLUMN_THREADS, 1) column_second(const __grid_constant__ Args a) { by_columns<true>(a); }
