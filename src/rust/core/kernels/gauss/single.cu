// Level 1 by lists, and the end of level 1 for all rows, however they were tested.
//
// By lists, a warp decides both sides of a pair, 32 candidates at a time, one per lane. Most pairs are separated by one of their first few
// candidates, and the smallest rank is that of the first lane that separates. Blocks of rows with more neighbours are left to columns.cu
// and masks.cu.
#include "gauss/single.cuh"

// Tests the pairs of rows first_row to end_row - 1; `gridDim.y` blocks share a row.
extern "C" __global__ void __launch_bounds__(DECIDING_THREADS, 6) single(const __grid_constant__ Args a) {
    extern __shared__ u64 sums[];
    u32 lane = lane_id(), warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    u64 tests = 0, exact_tests = 0;
    bool go_on = false;
    for (u64 x = a.first_row + blockIdx.x; x < a.end_row; x += gridDim.x) {
        if (!takes_lists(a, x / MASK_ROWS)) continue;
        u64 offset = a.offset[x];
        const u32* list = a.list + offset;
        u32 d = (u32)(a.offset[x + 1] - offset);
        const Range larger = larger_of(a, (u32)x);
        for (u64 e = larger.from + blockIdx.y * warps + warp; e < larger.to; e += gridDim.y * warps) {
            u32 place = (u32)(e - offset), y = a.list[e];
            if (!is_tested(a, (u32)x, y)) {
                if (lane == 0) a.verdict[offset + place] = UNTESTED;
                continue;
            }
            u64 offset_y = a.offset[y];
            u32 dy = (u32)(a.offset[y + 1] - offset_y);
            u32 found = KEPT;
            double r = 3.0;
            for (u32 second = 0; second < 2; second++) {
                Side side{second ? y : (u32)x, second ? (u32)x : y, second ? a.list + offset_y : list, second ? dy : d};
                go_on |= side.d > 2;
                Found f{1.0, 0.0, 0xffffffffu, 2.0, 0, 0};
                found = run(a, side, second ? a.graph + x * a.words : nullptr, f);
                tests += f.tests;
                exact_tests += f.exact_tests;
                if (found != KEPT) {
                    r = separating(a, side.row, side.other, found);
                    if (second) found |= SECOND;
                    break;
                }
                r = fmin(r, smallest(a, side.row, side.other, f));
            }
            if (lane == 0) {
                if (r <= 1.5) *packed(a, (u32)x, y) = r;
                else if (found == KEPT) found = UNTESTED;
                a.verdict[offset + place] = found;
            }
        }
    }
    report_singles(a, sums, tests, exact_tests, go_on);
}

// Turns r into p, 32 pairs of a row at a time, in rows first_row to end_row - 1.
extern "C" __global__ void settle_single(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        const u64 x = a.first_row + i;
        const Range larger = larger_of(a, (u32)x);
        for (u64 e = larger.from + lane; e < larger.to; e += WARP) {
            if (a.verdict[e] == UNTESTED) continue;
            double* cell = packed(a, (u32)x, a.list[e]);
            *cell = p_of_correlation(a, *cell, a.scale);
        }
    }
}

// Returns whether a pair's record belongs to this row. `larger`: the row is the pair's larger vertex. pcalg's C++ keeps every set under the
// larger vertex, its R code under the vertex whose neighbours form it.
__device__ __forceinline__ bool is_kept_under(const Args& a, u32 verdict, bool larger) {
    return verdict < UNTESTED && larger == (a.fast || verdict & SECOND);
}

__device__ __forceinline__ void write_record(const Args& a, u64 at, u32 other, u32 verdict) {
    u32* record = a.log + 2 * at;
    record[0] = other;
    record[1] = verdict & ~SECOND;
}

// Counts the records (other, member) of each row in `record_count`.
extern "C" __global__ void count_single(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    for (u64 x : by_warp(a.p)) {
        u32 count = 0, own = 0;
        const Range larger = larger_of(a, (u32)x);
        for (u64 e = larger.from + lane; e < larger.to; e += WARP) {
            const u32 verdict = a.verdict[e];
            if (verdict >= UNTESTED) continue;
            count++;
            if (is_kept_under(a, verdict, true)) atomicAdd(&a.record_count[a.list[e]], 1u); else own++;
        }
        count = warp_sum(count);
        own = warp_sum(own);
        if (lane == 0) {
            if (own) atomicAdd(&a.record_count[x], own);
            if (count) atomicAdd(&a.report->logged, (u64)count);
        }
    }
}

// Writes the records row by row, in ascending order of the other vertex, and removes the pairs from the graph; a warp takes a row.
extern "C" __global__ void log_single(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    for (u64 x : by_warp(a.p)) {
        u64 to = a.first_record[x], end = a.offset[x + 1];
        for (u64 base = a.offset[x]; base < end; base += WARP) {
            u64 e = base + lane;
            u32 y = e < end ? a.list[e] : (u32)x;
            u32 verdict = KEPT;
            if (y > x) {
                verdict = a.verdict[e];
            } else if (y < x) {
                // The verdict is with the smaller vertex.
                verdict = a.verdict[twin_of(a, (u32)x, y)];
            }
            bool here = is_kept_under(a, verdict, y < x);
            u32 mask = __ballot_sync(FULL, here);
            if (here) write_record(a, to + lanes_before(mask), y, verdict);
            if (verdict < UNTESTED) remove_neighbour(a, a.graph, (u32)x, y);
            to += __popc(mask);
        }
    }
}

// `log_tiles` does what `log_single` does, for rows with many neighbours: a block takes LOG_ROWS rows x. The verdicts of their pairs with
// smaller vertices y are with y. For one y, those of successive x follow each other, so a warp reads them at once. Shared memory holds them
// until LOG_COLUMNS y of a row are written in order. The lists must be those of the graph as it is: the place of a verdict is counted in
// the graph's bits. The grid has (rows / LOG_ROWS) blocks.
constexpr u32 LOG_ROWS = 32;        // host: rows of a block of log_tiles
constexpr u32 LOG_THREADS = 256;    // host: threads of a block of log_tiles
constexpr u32 LOG_COLUMNS = LOG_THREADS;
static_assert(LOG_ROWS == WARP, "a lane is a row, and a word of a bit row those of a block");
constexpr u32 LOG_BYTES = 4 * LOG_COLUMNS * (LOG_ROWS + 1);    // host: bytes of shared memory of a block of log_tiles

extern "C" __global__ void __launch_bounds__(LOG_THREADS) log_tiles(const __grid_constant__ Args a) {
    extern __shared__ u64 sums[];
    u32* const tile = (u32*)sums;    // by y, by x; one extra column, so that neither reads nor writes meet in a bank
    constexpr u32 WARPS = LOG_THREADS / WARP, EACH = LOG_ROWS / WARPS, STRIDE = LOG_ROWS + 1;
    const u32 lane = lane_id(), warp = threadIdx.x / WARP, p = (u32)a.p;
    // Blocks with many smaller vertices come first.
    const u32 x0 = (gridDim.x - 1 - blockIdx.x) * LOG_ROWS, own = x0 + lane;
    u64 to[EACH];
    for (u32 k = 0; k < EACH; k++) {
        const u32 x = x0 + warp * EACH + k;
        to[k] = x < p ? a.first_record[x] : 0;
    }
    for (u32 first = 0; first <= x0; first += LOG_COLUMNS) {
        const u32 y0 = first + warp * WARP;
        // The smaller neighbours of x = `own` among this warp's y.
        u32 word = own < p && y0 <= x0 ? a.graph[own * a.words + y0 / 32] : 0;
        if (y0 == x0) word &= (1u << lane) - 1;
        const bool some = __any_sync(FULL, word != 0);
        u32 removed = 0;
        if (some) {
            const u32 y = y0 + lane;
            u64 start = 0;
            if (y < p) {
                const u64 offset = a.offset[y];
                // In y's own block, the pairs of y with larger x are needed.
                start = offset + vertices_before(a.list + offset, (u32)(a.offset[y + 1] - offset), y0 == x0 ? y + 1 : x0);
            }
#pragma unroll 8
            for (u32 i = 0; i < WARP; i++) {
                const bool adjacent = word >> i & 1;
                const u32 row = __ballot_sync(FULL, adjacent);
                const u64 at = __shfl_sync(FULL, start, i) + lanes_before(row);
                const u32 verdict = adjacent ? a.verdict[at] : KEPT;
                tile[(warp * WARP + i) * STRIDE + lane] = verdict;
                const u32 separated = __ballot_sync(FULL, verdict < UNTESTED);
                if (lane == i) removed = separated;
            }
            if (removed) atomicAnd(&a.graph[y * a.words + x0 / 32], ~removed);
        }
        if (!__syncthreads_or(some)) continue;
        // Every warp fills its part, as the other warps read it.
        if (!some) {
            for (u32 i = 0; i < WARP; i++) tile[(warp * WARP + i) * STRIDE + lane] = KEPT;
        }
        __syncthreads();
        for (u32 k = 0; k < EACH; k++) {
            const u32 x = x0 + warp * EACH + k;
            u32 gone = 0;
            for (u32 g = 0; g < WARPS; g++) {
                const u32 verdict = tile[(g * WARP + lane) * STRIDE + warp * EACH + k];
                const bool here = is_kept_under(a, verdict, true);
                const u32 mask = __ballot_sync(FULL, here), all = __ballot_sync(FULL, verdict < UNTESTED);
                if (here) write_record(a, to[k] + lanes_before(mask), first + g * WARP + lane, verdict);
                to[k] += __popc(mask);
                if (lane == g) gone = all;
            }
            if (gone) atomicAnd(&a.graph[x * a.words + first / 32 + lane], ~gone);
        }
        __syncthreads();
    }
    if (a.fast) return;
    for (u32 k = 0; k < EACH; k++) {
        const u32 x = x0 + warp * EACH + k;
        if (x >= p) return;
        const Range larger = larger_of(a, x);
        for (u64 base = larger.from; base < larger.to; base += WARP) {
            const u64 e = base + lane;
            const u32 verdict = e < larger.to ? a.verdict[e] : KEPT;
            const bool here = is_kept_under(a, verdict, false);
            const u32 mask = __ballot_sync(FULL, here);
            if (here) write_record(a, to[k] + lanes_before(mask), a.list[e], verdict);
            to[k] += __popc(mask);
        }
    }
}
