// Level 0, and the level-0 p-values of the pairs that are left at the end.
#include "gauss/marginal.cuh"

extern "C" __global__ void marginal(const __grid_constant__ Args a) {
    make_graph(a, [&](u64 y, u64 x, double* p) { return judge_marginal(a, y, x, p); });
}

// Raises p_max of the pairs that are left, of rows first_row to end_row - 1, to at least the p of the empty set. Level 0 does not compute that p, as
// most pairs have a larger one at a later level.
extern "C" __global__ void raise_marginal(const __grid_constant__ Args a) {
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        const u64 x = a.first_row + i;
        for (u64 w = x / 32 + lane_id(); w < a.words; w += WARP) {
            u32 word = a.graph[x * a.words + w];
            if (a.fixed) word &= ~a.fixed[x * a.words + w];
            while (word) {
                u64 y = w * 32 + __ffs(word) - 1;
                word &= word - 1;
                if (y <= x) continue;
                double p = p_of_correlation(a, correlation(a, (u32)x, (u32)y), a.scale_marginal);
                double* cell = packed(a, (u32)x, (u32)y);
                if (p > *cell) *cell = p;
            }
        }
    }
}
