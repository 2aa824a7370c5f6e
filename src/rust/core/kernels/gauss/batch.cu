// Correlations of arbitrary questions (x, y | S) by the exact formula. The host makes p-values of them.
#include "gauss/test.cuh"

// A warp takes a question. The answer is NaN where a correlation is missing; that given nothing is the correlation as it is.
extern "C" __global__ void batch(const __grid_constant__ Args a) {
    double* work = working_memory(a);
    for (u64 i : by_warp(a.count)) {
        u64 start = i ? a.set_ends[i - 1] : 0;
        u32 size = (u32)(a.set_ends[i] - start);
        u32 x = a.pairs[2 * i], y = a.pairs[2 * i + 1];
        Exact e = size ? exact(a, x, y, a.sets + start, size, work) : Exact{correlation(a, x, y), false, false};
        if (lane_id() == 0) a.answers[i] = e.missing ? nan("") : e.r;
        __syncwarp();
    }
}

// Turns `count` correlations given nothing into p-values, as level 0 does.
extern "C" __global__ void marginal_values(const __grid_constant__ Args a) {
    for (u64 i : by_thread(a.count)) a.answers[i] = p_of_correlation(a, a.answers[i], a.scale_marginal);
}
