// p-values of arbitrary questions (x, y, S) by the exact formula: the conservative and majority rules ask them.
#include "gauss/test.cuh"

// A warp takes a question. Where "stable" has no answer, the answer is -1.
extern "C" __global__ void batch(const __grid_constant__ Args a) {
    double* work = working_memory(a);
    for (u64 i : by_warp(a.count)) {
        u64 start = i ? a.set_ends[i - 1] : 0;
        u32 size = (u32)(a.set_ends[i] - start);
        u32 x = a.pairs[2 * i], y = a.pairs[2 * i + 1];
        Exact e = exact(a, x, y, a.sets + start, size, work);
        double p = e.missing ? (a.fast ? nan("") : -1.0) : p_of_correlation(a, e.r, sqrt(a.n - (double)size - 3.0));
        if (lane_id() == 0) a.answers[i] = p;
        __syncwarp();
    }
}
