// What the strategies for sets of two and more share: telling what was found, and the order of a pair's own candidates.
#pragma once
#include "gauss.cuh"
#include "subsets.cuh"

__device__ __forceinline__ u64 volatile_stop(const Slot* s) { return *(const volatile u64*)&s->stop; }

// Whether `v` is a neighbour of y, too.
__device__ __forceinline__ bool is_common(const Args& a, u32 y, u32 v) { return has(a.graph, a.words, y, v); }

// Rank of a set on the second side of "stable.fast": candidates that are no neighbours of `other` first, then the common
// ones, each ascending. `places` are in the row's whole list, `stride` apart; `own` is where `other` stands in it.
__device__ inline u64 rank_common_last(const Args& a, const u32* list, u32 d, u32 own, const u32* places, u32 stride) {
    u32 size = (u32)a.size, n = d - 1, other = list[own], position = 0, members = 0;
    u64 after = 0;
    for (int common = 0; common < 2; common++) {
        u32 next = 0;
        for (u32 place = 0; place < d; place++) {
            bool member = next < size && places[next * stride] == place;
            if (member) next++;
            if (place == own || is_common(a, other, list[place]) != (common != 0)) continue;
            if (member) {
                after += choose(a, n - 1 - position, size - members);
                members++;
            }
            position++;
        }
    }
    return choose(a, n, size) - 1 - after;
}

// The conditioning set as the exact formula gets it: in the order of the pair's candidates.
__device__ inline void write_set(const Args& a, const u32* list, u32 other, const u32* places, u32 stride, u32* set) {
    u32 size = (u32)a.size, n = 0;
    bool by_common = a.fast && a.second;
    for (int common = 0; common < (by_common ? 2 : 1); common++) {
        for (u32 i = 0; i < size; i++) {
            u32 v = list[places[i * stride]];
            if (!by_common || is_common(a, other, v) == (common != 0)) set[n++] = v;
        }
    }
}

__device__ __forceinline__ double volatile_q(const Slot* s) { return __longlong_as_double(*(const volatile long long*)&s->q); }

// Enters the smallest q of some tests with its rank; of equal ones, the smallest rank. Lanes have different slots or `has_one`
// is false. Positive numbers are ordered as their bits, so that q itself needs no lock. The lock is for those alone that set
// a new minimum, which few do.
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

// Likewise where lanes of a warp may share a slot: they come one after the other.
__device__ inline void enter_smallest_by_lane(Slot* s, double q, u64 rank) {
    for (u32 left = __ballot_sync(FULL, q < 2.0); left; left &= left - 1) {
        enter_smallest(s, q, rank, lane_id() == __ffs(left) - 1);
    }
}

// The subset of this rank, its members a warp's width apart.
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

__device__ __forceinline__ u64 nanoseconds() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
