// What the papers' mappings of the Gaussian test share: working memory, and the outcome of a test. Results go to the same slots as with our
// own strategy.
#pragma once
#include "gauss/slots.cuh"

// Returns a warp's working memory in doubles: `own` numbers of each of its threads, the exact formula's, the places of 32 sets, and a set.
__host__ __device__ constexpr u64 paper_doubles(u64 l, u64 own) { return 32 * own + exact_doubles(l) + 16 * l + l; }

struct Bench {
    double *own, *exact;
    u32 *places, *set;

    // Divides the working memory of the block with this number.
    __device__ Bench(const Args& a, u64 numbers, u64 block) {
        u64 l = a.size;
        double* at = working_memory(a, block);
        own = at + lane_id();           // [i][lane]
        exact = at + 32 * numbers;
        places = (u32*)(exact + exact_doubles(l)) + lane_id();    // [i][lane]
        set = places - lane_id() + 32 * l;
    }
};

// Smallest pivot and variance with which quick arithmetic is trusted. For sets of two and more, squared partial correlations must also be
// below 1 minus this, as an inverse loses twice the digits that elimination does.
constexpr double PIVOT = 1e-3;

// The quick verdict of a test: neither, if it is not trusted or q is too near the threshold.
struct Quick {
    bool separates, depends;
    double q;
};

constexpr double NO_TEST = 2.0;    // q of no test

__device__ __forceinline__ Quick nothing_found() { return {false, false, NO_TEST}; }

// Returns the quick verdict from the covariances of x and y given `l` variables.
__device__ __forceinline__ Quick quick_of(const Args& a, double xx, double xy, double yy, u32 l) {
    double q = xy * xy / (xx * yy);
    bool trusted = xx > PIVOT && yy > PIVOT && (l == 1 || q < 1.0 - PIVOT) && q >= 0.0;
    return {trusted && q < a.below, trusted && q > a.above, q};
}

// Decides each lane's test and enters the outcome in its slot. `asks` is whether the lane has a test, `found` its quick verdict, and
// `by_common` whether its set is on the second side of "stable.fast". Returns whether the test separates. q becomes that of a quick test
// that does not, otherwise 2. The whole warp must call it.
__device__ inline bool decide(const Args& a, u32 x, const u32* list, u32 d, u32 own, GaussSlot* slot, const Bench& b, u32 l,
                              bool by_common, bool asks, Quick found, double& q) {
    u32 other = list[own];
    bool separates = asks && found.separates, exactly = false;
    q = asks && found.depends ? found.q : NO_TEST;
    for (u32 left = __ballot_sync(FULL, asks && !found.separates && !found.depends); left; left &= left - 1) {
        u32 lane = __ffs(left) - 1;
        u32 y = __shfl_sync(FULL, other, lane), row = __shfl_sync(FULL, x, lane);
        u64 from = __shfl_sync(FULL, (u64)list, lane);
        __syncwarp();
        if (lane_id() == lane) write_set(a, (const u32*)from, y, b.places, WARP, b.set, by_common);
        __syncwarp();
        Exact e = exact(a, row, y, b.set, l, b.exact);
        if (lane_id() == lane) {
            atomicAdd(&slot->exact, 1u);
            separates = exactly = e.separates;
            if (!separates) enter_exact(slot, e);
        }
        __syncwarp();
    }
    if (separates) {
        u64 key = by_common ? rank_common_last(a, list, d, own, b.places, WARP) : rank_of(a, d, l, b.places, WARP);
        atomicMin(&slot->stop, 2 * key + (exactly ? 1 : 0));
    }
    return separates;
}

// Enters the smallest q of the warp's tests of a side that do not separate; among equal q, the smallest rank. NO_TEST: a lane has none. The
// whole warp must call it.
__device__ inline void enter_smallest_of_warp(GaussSlot* slot, double q, u64 rank) {
    if (!__any_sync(FULL, q < NO_TEST && !(q > volatile_q(slot)))) return;
    for (int width = 16; width; width /= 2) {
        double q2 = __shfl_xor_sync(FULL, q, width);
        u64 rank2 = __shfl_xor_sync(FULL, rank, width);
        if (q2 < q || (q2 == q && rank2 < rank)) {
            q = q2;
            rank = rank2;
        }
    }
    enter_smallest(slot, q, rank, lane_id() == 0 && q < NO_TEST);
}
