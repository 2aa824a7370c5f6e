// Correlations of arbitrary questions (x, y | S) by the exact formula. The host makes p-values of them.
#include "gauss/test.cuh"

// A warp takes a question. The answer is NaN where a correlation is missing.
extern "C" __global__ void batch(const __grid_constant__ Args a) {
    double* work = working_memory(a);
    for (u64 i : by_warp(a.count)) {
        u64 start = i ? a.set_ends[i - 1] : 0;
        u32 size = (u32)(a.set_ends[i] - start);
        u32 x = a.pairs[2 * i], y = a.pairs[2 * i + 1];
        Exact e = exact(a, x, y, a.sets + start, size, work);
        if (lane_id() == 0) a.answers[i] = e.missing ? nan("") : e.r;
        __syncwarp();
    }
}
