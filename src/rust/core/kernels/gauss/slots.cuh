// The slots of the Gaussian test, and how results enter them.
#pragma once
#include "gauss/test.cuh"
#include "search/slots.cuh"

// The results of one side of a pair: the tests of (row, other) given subsets of the row's neighbours. q is r squared.
struct GaussSlot {
    u64 stop;       // 2 * smallest rank that separates + whether the exact formula decided it; NEVER: none separates
    u64 rank;       // rank, among subsets of the row's whole list, of the smallest q of trusted tests that do not separate
    u64 q;          // the bits of that q; infinity: none yet.
    u64 q_of_rank;  // the q that belongs to `rank`: it may lag behind `q` while several warps enter theirs
    u64 exact_r;    // bits of the smallest |r| of tests that the exact formula decided and that do not separate; NEVER: none.
    u32 lock;
    u32 exact;      // number of tests that the exact formula decided
};

__device__ __forceinline__ GaussSlot* slots_of(const Args& a) { return (GaussSlot*)a.slot; }

__device__ __forceinline__ double volatile_q(const GaussSlot* s) { return __longlong_as_double(*(const volatile long long*)&s->q); }

// Enters the smallest q of some tests with its rank; among equal q, the smallest rank. Lanes with `has_one` must have different slots.
// Positive numbers are ordered as their bits, so q itself needs no lock. Only the few lanes that set a new minimum take the lock.
__device__ inline void enter_smallest(GaussSlot* s, double q, u64 rank, bool has_one) {
    u64 bits = (u64)__double_as_longlong(q);
    has_one = has_one && !(q > volatile_q(s)) && bits <= atomicMin(&s->q, bits);
    while (__any_sync(FULL, has_one)) {
        if (has_one && atomicCAS(&s->lock, 0u, 1u) == 0u) {
            __threadfence();
            volatile GaussSlot* now = s;
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

// Enters the smallest q of each lane when lanes of a warp may share a slot: they enter one after the other.
__device__ inline void enter_smallest_by_lane(GaussSlot* s, double q, u64 rank) {
    for (u32 left = __ballot_sync(FULL, q < 2.0); left; left &= left - 1) {
        enter_smallest(s, q, rank, lane_id() == __ffs(left) - 1);
    }
}

// Enters the outcome of an exact test that does not separate.
__device__ __forceinline__ void enter_exact(GaussSlot* s, const Exact& e) {
    if (!e.missing) atomicMin(&s->exact_r, (u64)__double_as_longlong(fabs(e.r)));
}
