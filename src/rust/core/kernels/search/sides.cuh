// The two sides of a pair: which conditioning sets each has, and in which order. This file knows no test.
#pragma once
#include "search/args.cuh"
#include "search/subsets.cuh"

// The tests of (row, other) given subsets of the first `d` vertices of the row's list.
struct Side {
    u32 row, other;
    const u32* list;
    u32 d;
};

__device__ __forceinline__ Side side_of(const Args& a, u32 row, u32 other) {
    return {row, other, a.list + a.offset[row], candidates_of(a, row, (u32)(a.offset[row + 1] - a.offset[row]))};
}

// Returns whether `v`, a neighbour of x, is also a neighbour of y.
__device__ __forceinline__ bool is_common(const Args& a, u32 y, u32 v) { return has(a.graph, a.words, y, v); }

// Returns the rank of a set on the second side of "stable.fast". There, candidates that are not neighbours of `other` come first, then the
// common ones; both in ascending order. `places`, `stride` apart, are the members' places in the row's list of d vertices; `own` is the
// place of `other`.
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

// Returns the rank as `rank_common_last` does, but from the masks of common neighbours, a bit a place, in words WARP apart. It is for rows
// in which many sets are ranked.
__device__ inline u64 rank_by_masks(const Args& a, const u32* masks, u32 d, u32 own, const u32* places) {
    u32 size = (u32)a.size, n = d - 1, members = 0, apart = 0;
    u64 after = 0;
    // Vertices that are not neighbours of `other` come first; `apart` is their number, so the first common one has this position.
    for (u32 w = 0; w < (d + 31) / 32; w++) apart += __popc(masks[w * WARP]);
    apart = n - apart;
    for (u32 common = 0; common < 2; common++) {
        for (u32 i = 0; i < size; i++) {
            u32 place = places[i];
            if ((masks[place / 32 * WARP] >> place % 32 & 1) != common) continue;
            u32 below = __popc(masks[place / 32 * WARP] & ((1u << place % 32) - 1));
            for (u32 w = 0; w < place / 32; w++) below += __popc(masks[w * WARP]);
            u32 position = common ? apart + below : place - below - (own < place);
            after += choose(a, n - 1 - position, size - members);
            members++;
        }
    }
    return choose(a, n, size) - 1 - after;
}

// Writes the conditioning set in the order of the pair's candidates, as the exact formula needs it. If `by_common`, common neighbours come
// last.
__device__ inline void write_set(const Args& a, const u32* list, u32 other, const u32* places, u32 stride, u32* set, bool by_common) {
    u32 size = (u32)a.size, n = 0;
    for (int common = 0; common < (by_common ? 2 : 1); common++) {
        for (u32 i = 0; i < size; i++) {
            u32 v = list[places[i * stride]];
            if (!by_common || is_common(a, other, v) == (common != 0)) set[n++] = v;
        }
    }
}

// Writes the conditioning set for the launch's side.
__device__ inline void write_set(const Args& a, const u32* list, u32 other, const u32* places, u32 stride, u32* set) {
    write_set(a, list, other, places, stride, set, a.fast && a.second);
}

// Returns the n-th candidate, from 0, in the order that puts common neighbours last; `own` is the place of `other` in the list. The whole
// warp must call it.
__device__ inline u32 common_last_candidate(const Args& a, const u32* list, u32 d, u32 own, u32 n) {
    u32 lane = lane_id(), other = list[own];
    for (u32 common = 0; common < 2; common++) {
        for (u32 base = 0; base < d; base += WARP) {
            u32 place = base + lane;
            bool here = place < d && place != own && is_common(a, other, list[place]) == (common != 0);
            u32 mask = __ballot_sync(FULL, here), count = __popc(mask);
            if (n < count) {
                u32 owner = __ffs(__ballot_sync(FULL, here && lanes_before(mask) == n)) - 1;
                return list[base + owner];
            }
            n -= count;
        }
    }
    return other;
}

__device__ inline u64 common_neighbours(const Args& a, u32 x, u32 y) {
    u64 count = 0;
    // Start of the words of a block of vertices (engine/cuda/gauss/blocks); otherwise 0.
    const u64 first = x / a.pitch * a.pitch / 32;
    const u32 *of_x = a.graph + x * a.words + first, *of_y = a.graph + y * a.words + first;
    for (u64 w = lane_id(); w < a.words; w += WARP) count += __popc(of_x[w] & of_y[w]);
    return warp_sum(count);
}

__device__ __forceinline__ u64 nanoseconds() {
#ifdef __CUDA_ARCH__
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#else
    // The emulated GPU of tests/driver.
    return emulated::nanoseconds();
#endif
}
