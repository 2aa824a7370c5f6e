// What the Gaussian kernels with slots share: entering what a test found.
#pragma once
#include "gauss/test.cuh"
#include "search/sides.cuh"

__device__ __forceinline__ u64 volatile_stop(const Slot* s) { return *(const volatile u64*)&s->stop; }

__device__ __forceinline__ double volatile_q(const Slot* s) { return __longlong_as_double(*(const volatile long long*)&s->q); }

// Enters the smallest q of some tests with its rank; of equal ones, the smallest rank. Lanes with `has_one` must have different
// slots. Positive numbers are ordered as their bits, so that q itself needs no lock; only the few lanes that set a new minimum
// take the lock.
__device__ inline void enter_smallest(Slot* s, double q, u64 rank, bool has_one) {
    u64 bits = (u64)__double_as_longlong(q);
    has_one = has_one && !(q > volatile_q(s)) && bits <= atomicMin(&s->q, bits);
    while (__any_sync(FULL, has_one)) {
        if (has_one && atomicCAS(&s->lock, 0u, 1u) == 0u) {
            __threadfence();
            volatile Slot* now = s;
            if (now->q == bits && (now->q_of_rank != bits || rank < now->rank)) {
                now->rank = rank;
                now->q_of_rank = bits;
            }
            __threadfence();
            atomicExch(&s->lock, 0u);
            has_one = false;
        }
        __syncwarp();
    }
}

// Likewise where lanes of a warp may share a slot: they enter one after the other.
__device__ inline void enter_smallest_by_lane(Slot* s, double q, u64 rank) {
    for (u32 left = __ballot_sync(FULL, q < 2.0); left; left &= left - 1) {
        enter_smallest(s, q, rank, lane_id() == __ffs(left) - 1);
    }
}

// Writes the subset of this rank; member i goes to set[i * WARP].
__device__ __forceinline__ void unrank_lane(const Args& a, u32 n, u32 size, u64 rank, u32* set) {
    u32 from = 0;
    for (u32 i = 0; i < size; i++) {
        u32 m = unrank_member(a, n, size - i, from, rank);
        set[i * WARP] = m;
        from = m + 1;
    }
}

// Enters the outcome of an exact test that does not separate.
__device__ __forceinline__ void enter_exact(Slot* s, const Exact& e) {
    if (!e.missing) atomicMin(&s->exact_r, (u64)__double_as_longlong(fabs(e.r)));
}

// Whether the sides of this launch include (x, y), from the neighbours of x: the pair is tested, and on the second side the
// first has not separated it.
__device__ __forceinline__ bool takes_part(const Args& a, u32 x, u64 entry) {
    u32 y = a.list[entry];
    if (!is_tested(a, x, y)) return false;
    return a.second ? y < x && a.slot[a.twin[entry]].stop == NEVER : y > x;
}
