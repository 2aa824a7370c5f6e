// Level 0, and the level-0 p-values of the pairs that are left at the end.
#include "gauss/test.cuh"

// A warp takes a row y and 32 vertices x below it; its ballot is the word of the bit row.
extern "C" __global__ void marginal(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    u64 tested_count = 0, removed_count = 0;
    u64 warps = (u64)gridDim.x * (blockDim.x / WARP);
    u64 words = a.words;
    for (u64 at = (u64)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP; at < a.p * words; at += warps) {
        u64 y = at / words, w = at % words;
        if (32 * w > y) {
            if (lane == 0) a.empty[y * a.words + w] = 0;
            continue;
        }
        u64 x = 32 * w + lane;
        bool below = x < y;
        u32 may = a.start ? a.start[y * a.words + w] : FULL;
        u32 fix = a.fixed ? a.fixed[y * a.words + w] : 0;
        bool tested = below && (may & ~fix) >> lane & 1;
        bool separates = false, depends = false;
        if (below) {
            double p = a.mark;
            if (tested) {
                double r = a.c[y * a.p + x];
                if (isnan(r) && a.fast) {
                    // pcalg's C++ removes the edge, leaves no separating set and keeps the NaN.
                    p = r;
                } else {
                    separates = judge(a, r).separates;
                    depends = !separates;
                    p = separates ? p_of_correlation(a, r, a.scale) : 0.0;
                }
            }
            a.p_max[y * (y - 1) / 2 + x] = p;
        }
        u32 tested_word = __ballot_sync(FULL, tested);
        u32 empty_word = __ballot_sync(FULL, separates);
        u32 kept = __ballot_sync(FULL, depends);
        u32 in_triangle = __ballot_sync(FULL, below);
        // A fixed edge of "stable.fast" is there even where a gap was asked for.
        u32 graph = kept | (fix & in_triangle & (a.fast ? FULL : may));
        if (lane == 0) {
            a.graph[y * a.words + w] = graph;
            a.empty[y * a.words + w] = empty_word;
            tested_count += __popc(tested_word);
            removed_count += __popc(tested_word & ~kept);
        }
    }
    if (lane == 0 && tested_count) {
        atomicAdd(&a.report->tests, tested_count);
        atomicAdd(&a.report->removed, removed_count);
    }
}

// Raises p_max of the pairs that are left to at least the p of the empty set. Level 0 does not compute that p, as most pairs
// have a larger one at a later level.
extern "C" __global__ void raise_marginal(const __grid_constant__ Args a) {
    u64 warps = (u64)gridDim.x * (blockDim.x / WARP);
    for (u64 x = (u64)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP; x < a.p; x += warps) {
        for (u64 w = x / 32 + lane_id(); w < a.words; w += WARP) {
            u32 word = a.graph[x * a.words + w];
            if (a.fixed) word &= ~a.fixed[x * a.words + w];
            while (word) {
                u64 y = w * 32 + __ffs(word) - 1;
                word &= word - 1;
                if (y <= x) continue;
                double p = p_of_correlation(a, a.c[y * a.p + x], a.scale_marginal);
                double* cell = packed(a, (u32)x, (u32)y);
                if (p > *cell) *cell = p;
            }
        }
    }
}
