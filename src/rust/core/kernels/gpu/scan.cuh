// Prefix sums by one block.
#pragma once
#include "gpu/threads.cuh"

// Calls give(i, load(0) + .. + load(i - 1)) for i = 0, .., count - 1, and returns the sum of all. The block has `threads` threads; `sums`
// is shared memory with an element for each of its warps.
template <class Index, class Load, class Give>
__device__ __forceinline__ u64 scan(Index count, u32 threads, u64* sums, Load load, Give give) {
    u32 warp = threadIdx.x / WARP, warps = threads / WARP;
    u64 carry = 0;
    for (Index base = 0; base < count; base += threads) {
        Index i = base + threadIdx.x;
        u64 own = i < count ? load(i) : 0, sum = sum_up_to_lane(own);
        if (lane_id() == WARP - 1) sums[warp] = sum;
        __syncthreads();
        u64 before = carry + sum - own;
        for (u32 w = 0; w < warps; w++) {
            if (w < warp) before += sums[w];
            carry += sums[w];
        }
        if (i < count) give(i, before);
        __syncthreads();
    }
    return carry;
}

// Computes where parts of rows start that are load(x) long: out[x] = load(0) + .. + load(x - 1) for x = 0, .., p. A thread takes EACH rows
// at a time. Several pay off if load() is cheap, as waiting then takes most of the time.
template <u32 EACH = 1, class Load> __device__ __forceinline__ void scan_rows(u64 p, u64* out, u64* sums, Load load) {
    u64 own[EACH];
    u64 all = scan(
        (p + EACH - 1) / EACH, blockDim.x, sums,
        [&](u64 i) {
            u64 sum = 0;
#pragma unroll
            for (u32 k = 0; k < EACH; k++) sum += own[k] = i * EACH + k < p ? load(i * EACH + k) : 0;
            return sum;
        },
        [&](u64 i, u64 before) {
#pragma unroll
            for (u32 k = 0; k < EACH; k++) {
                if (i * EACH + k < p) out[i * EACH + k] = before;
                before += own[k];
            }
        });
    if (threadIdx.x == 0) out[p] = all;
}
