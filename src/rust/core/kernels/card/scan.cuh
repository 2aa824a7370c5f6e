// Prefix sums by one block: out[x] = load(0) + .. + load(x - 1) for x = 0, .., p. `sums` is shared memory with a place for each
// of the block's warps.
#pragma once
#include "search/args.cuh"

template <class F> __device__ void scan_rows(u64 p, u64* out, u64* sums, F load) {
    u32 lane = lane_id(), warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    u64 carry = 0;
    for (u64 base = 0; base < p; base += blockDim.x) {
        u64 x = base + threadIdx.x;
        u64 own = x < p ? load(x) : 0, sum = own;
        for (u32 width = 1; width < 32; width *= 2) {
            u64 before = __shfl_up_sync(FULL, sum, width);
            if (lane >= width) sum += before;
        }
        if (lane == 31) sums[warp] = sum;
        __syncthreads();
        u64 offset = carry, total = 0;
        for (u32 w = 0; w < warps; w++) {
            if (w < warp) offset += sums[w];
            total += sums[w];
        }
        if (x < p) out[x] = offset + sum - own;
        carry += total;
        __syncthreads();
    }
    if (threadIdx.x == 0) out[p] = carry;
}
