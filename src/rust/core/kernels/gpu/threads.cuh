// Number types, the lanes of a warp, and the assignment of items to threads, for the kernels of every test.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr u32 FULL = 0xffffffffu;
constexpr u64 NEVER = ~0ull;
constexpr int WARP = 32;    // host: threads of a warp

// Returns a / b, rounded up. tools/build-kernels translates it to `u64::div_ceil`.
__host__ __device__ constexpr u64 div_ceil(u64 a, u64 b) { return (a + b - 1) / b; }

__device__ __forceinline__ u32 lane_id() { return threadIdx.x % WARP; }

// Returns the number of lanes of `mask` before this one.
__device__ __forceinline__ u32 lanes_before(u32 mask) { return __popc(mask & ((1u << lane_id()) - 1)); }

// Returns join() of the values of all lanes, to every lane.
template <class T, class Join> __device__ __forceinline__ T warp_join(T value, Join join) {
    for (int width = WARP / 2; width; width /= 2) value = join(value, __shfl_xor_sync(FULL, value, width));
    return value;
}

template <class T> __device__ __forceinline__ T warp_sum(T value) {
    return warp_join(value, [](T s, T t) { return s + t; });
}

// Returns the sum of the values of this lane and the lanes before it.
template <class T> __device__ __forceinline__ T sum_up_to_lane(T value) {
    u32 lane = lane_id();
    for (u32 width = 1; width < WARP; width *= 2) {
        T before = __shfl_up_sync(FULL, value, width);
        if (lane >= width) value += before;
    }
    return value;
}

// The numbers at, at + step, .. that are below `below`, for a loop over them.
struct Strided {
    u64 at, below, step;
    struct End {};
    __device__ __forceinline__ Strided begin() const { return *this; }
    __device__ __forceinline__ End end() const { return {}; }
    __device__ __forceinline__ bool operator!=(End) const { return at < below; }
    __device__ __forceinline__ void operator++() { at += step; }
    __device__ __forceinline__ u64 operator*() const { return at; }
};

// Returns the items, out of `count`, of this warp; the grid's warps take items in turn.
__device__ __forceinline__ Strided by_warp(u64 count) {
    u64 warps = blockDim.x / WARP;
    return {blockIdx.x * warps + threadIdx.x / WARP, count, gridDim.x * warps};
}

// Returns the items, out of `count`, of this thread; the grid's threads take items in turn.
__device__ __forceinline__ Strided by_thread(u64 count) {
    return {(u64)blockIdx.x * blockDim.x + threadIdx.x, count, (u64)gridDim.x * blockDim.x};
}
