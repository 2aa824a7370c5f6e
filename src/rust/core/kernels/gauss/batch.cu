// Correlations of arbitrary questions (x, y | S) by the exact formula. The host turns them into p-values.
#include "gauss/test.cuh"

// Answers the questions, one per warp. The answer is NaN if a correlation is missing; given the empty set, it is the correlation itself.
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

// Turns `count` correlations given the empty set into p-values, as level 0 does.
extern "C" __global__ void marginal_values(const __grid_constant__ Args a) {
    for (u64 i : by_thread(a.count)) a.answers[i] = p_of_correlation(a, a.answers[i], a.scale_marginal);
}
