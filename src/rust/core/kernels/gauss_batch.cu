// Correlations of arbitrary questions (x, y | S) by the exact formula. The host makes p-values of them.
#include "gauss.cuh"

// A warp takes a question. The answer is NaN where a correlation is missing.
extern "C" __global__ void batch(const __grid_constant__ Args a) {
    extern __shared__ double memory[];
    u64 warps_here = blockDim.x / WARP, warp = threadIdx.x / WARP;
    double* work = a.scratch ? (double*)(a.scratch + (blockIdx.x * warps_here + warp) * a.scratch_bytes)
                             : memory + warp * (a.scratch_bytes / 8);
    for (u64 i = blockIdx.x * warps_here + warp; i < a.count; i += gridDim.x * warps_here) {
        u64 start = i ? a.ends[i - 1] : 0;
        u32 size = (u32)(a.ends[i] - start);
        u32 x = a.pairs[2 * i], y = a.pairs[2 * i + 1];
        Exact e = exact(a, x, y, a.sets + start, size, work);
        if (lane_id() == 0) a.answers[i] = e.missing ? nan("") : e.r;
        __syncwarp();
    }
}
