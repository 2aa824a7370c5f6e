// Slots: what a level of sets learns of the two sides of each pair. There is one for each entry of the lists, an element of
// `Args::slot`: a struct of the test's own, of SLOT_BYTES, whose `stop` is NEVER until a set separates.
#pragma once
#include "search/sides.cuh"

// The slot's `stop`, which other warps may be changing.
template <class Slot> __device__ __forceinline__ u64 stop_of(const Slot* slot) { return *(const volatile u64*)&slot->stop; }

// Whether the sides of this launch include (x, y), from the neighbours of x: the pair is tested, and on the second side the
// first has not separated it.
template <class Slot> __device__ __forceinline__ bool takes_part(const Args& a, const Slot* slots, u32 x, u64 entry) {
    u32 y = a.list[entry];
    if (!is_tested(a, x, y)) return false;
    return a.second ? y < x && slots[a.twin[entry]].stop == NEVER : y > x;
}

// Empties the slots and finds every entry's twin.
template <class Slot> __device__ __forceinline__ void clear_slots(const Args& a, Slot* slots, const Slot& empty) {
    static_assert(sizeof(Slot) == SLOT_BYTES, "the host plans with this");
    for (u64 x : by_warp(a.p)) {
        for (u64 e = a.offset[x] + lane_id(); e < a.offset[x + 1]; e += WARP) {
            a.twin[e] = (u32)twin_of(a, (u32)x, a.list[e]);
            slots[e] = empty;
        }
    }
}

// Turns the slots into counts, largest p-values and the log of separated pairs; a warp takes a pair. The test says what a slot
// holds:
//   rank_of_stop(slot)            the rank of the set that separates
//   raised(p, slot, side)         p, or the largest p of the side's tests where that is larger: none of them separates
//   separated(slot, side, set)    p of the test that separates
template <class Slot, class Test>
__device__ __forceinline__ void settle_pairs(const Args& a, const Slot* slots, Test& test) {
    const u32 lane = lane_id(), l = (u32)a.size;
    u64 tests = 0;
    bool go_on = false;
    for (u64 e : by_warp(a.offset[a.p])) {
        u32 x = row_of(a.offset, a.p, e), y = a.list[e];
        if (y < x || !is_tested(a, x, y)) continue;
        double p = a.mark;
        bool separated = false;
        for (u32 second = 0; second < 2 && !separated; second++) {
            const Side side = side_of(a, second ? y : x, second ? x : y);
            if (side.d - 1 < l) continue;
            const bool by_common = second && a.fast;
            const u64 at = second ? a.twin[e] : e;
            u64 all = choose(a, side.d - 1, l);
            if (by_common) all -= choose(a, common_neighbours(a, x, y), l);
            go_on |= side.d - 1 > l;
            if (all == 0) continue;
            const Slot slot = slots[at];
            if (slot.stop == NEVER) {
                tests += all;
                p = test.raised(p, slot, side);
                continue;
            }
            separated = true;
            u64 to = 0;
            if (lane == 0) to = atomicAdd(&a.report->logged, 1ull);
            u32 *record = a.log + __shfl_sync(FULL, to, 0) * (2 + l), *set = record + 2;
            u64 rank = test.rank_of_stop(slot);
            if (lane == 0) {
                const bool larger = a.fast && side.row < side.other;
                record[0] = larger ? side.other : side.row;
                record[1] = larger ? side.row : side.other;
                unrank(a, by_common ? side.d - 1 : side.d, l, rank, set);
            }
            __syncwarp();
            // The members' places are turned into the members.
            const u32 own = (u32)(at - a.offset[side.row]);
            if (!by_common) rank = rank_without(a, side.d, l, set, own);
            __syncwarp();
            tests += rank + 1;
            for (u32 i = 0; i < l; i++) {
                u32 v = by_common ? common_last_candidate(a, side.list, side.d, own, set[i]) : side.list[set[i]];
                __syncwarp();
                if (lane == 0) set[i] = v;
            }
            __syncwarp();
            p = test.separated(slot, side, set);
        }
        if (lane == 0) {
            double* cell = packed(a, x, y);
            if (p > *cell) *cell = p;
        }
        __syncwarp();
    }
    if (lane == 0) {
        if (tests) atomicAdd(&a.report->tests, tests);
        if (go_on) a.report->go_on = 1;
    }
}
