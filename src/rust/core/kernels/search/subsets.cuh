// l-subsets of {0, .., n-1} in lexicographic order, and their ranks in 64 bits: see graph/subsets.rs.
#pragma once
#include "search/args.cuh"

// Returns n over k, saturating; k must be at most the size of the level.
__device__ __forceinline__ u64 choose(const Args& a, u64 n, u64 k) { return a.binomial[k * a.binomial_stride + n]; }

// Returns whether there are binomials for a row of d neighbours. They go up to the largest row that has a pair to test; larger rows need
// none.
__device__ __forceinline__ bool is_counted(const Args& a, u64 d) { return d + 2 <= a.binomial_stride; }

// Returns the next member of a subset that lacks k members, from {from, .., n-1}; `rank` is what remains of the subset's rank. Of the
// C(n-from, k) completions, C(n-from, k) - C(n-m, k) have their first member below m.
__device__ __forceinline__ u32 unrank_member(const Args& a, u32 n, u32 k, u32 from, u64& rank) {
    u64 all = choose(a, n - from, k);
    u32 low = from, high = n - k + 1;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (all - choose(a, n - middle, k) <= rank) low = middle; else high = middle;
    }
    rank -= all - choose(a, n - low, k);
    return low;
}

// Writes the subset of this rank, its members `stride` apart. One thread does it.
__device__ __forceinline__ void unrank(const Args& a, u32 n, u32 size, u64 rank, u32* set, u32 stride = 1) {
    u32 from = 0;
    for (u32 i = 0; i < size; i++) {
        u32 m = unrank_member(a, n, size - i, from, rank);
        set[i * stride] = m;
        from = m + 1;
    }
}

// Returns the rank of a subset: C(n, k) - 1 - sum_i C(n - 1 - s_i, k - i), k = size. Term i counts the later subsets that first differ at
// member i.
__device__ __forceinline__ u64 rank_of(const Args& a, u32 n, u32 size, const u32* set, u32 stride = 1) {
    u64 after = 0;
    for (u32 i = 0; i < size; i++) after += choose(a, n - 1 - set[i * stride], size - i);
    return choose(a, n, size) - 1 - after;
}

// Returns the rank of a subset without `place` among the subsets of {0, .., n-1} that lack `place`.
__device__ __forceinline__ u64 rank_without(const Args& a, u32 n, u32 size, const u32* set, u32 place) {
    u64 after = 0;
    for (u32 i = 0; i < size; i++) after += choose(a, n - 2 - (set[i] - (set[i] > place)), size - i);
    return choose(a, n - 1, size) - 1 - after;
}

// The items of work of a row at levels of two and more: chunks of its sets, by slices of their last members, by tiles of 32 neighbours.
struct Items {
    u64 sets, chunk, slices, tiles;
    __device__ __forceinline__ u64 count() const { return (sets / chunk + (sets % chunk != 0)) * slices * tiles; }
    // The tile, the slice, the first rank and the number of sets of the item with number `at`.
    __device__ __forceinline__ u32 tile(u64 at) const { return (u32)(at % tiles); }
    __device__ __forceinline__ u32 slice(u64 at) const { return (u32)(at / tiles % slices); }
    __device__ __forceinline__ u64 rank(u64 at) const { return at / tiles / slices * chunk; }
    __device__ __forceinline__ u64 ranks(u64 at) const {
        u64 left = sets - rank(at);
        return left < chunk ? left : chunk;
    }
};

// Returns the items of a row with d neighbours, `from` of them candidates, that warps take. A chunk has at least `least` sets, and at most
// 1024.
__device__ __forceinline__ Items items_of(const Args& a, u64 d, u64 from, u64 least) {
    u64 sets = choose(a, from, a.size), wanted = sets / 4096;
    return {sets, wanted < least ? least : wanted > 1024 ? 1024 : wanted, 1, (d + 31) / 32};
}

// Returns the items of a row that blocks take.
__device__ __forceinline__ Items wide_items_of(const Args& a, u64 d, u64 from, u64 chunk) {
    return {choose(a, from, a.size), chunk, (from + a.wide_columns - 1) / a.wide_columns, (d + 31) / 32};
}
