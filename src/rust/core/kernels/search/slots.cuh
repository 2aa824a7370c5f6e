// Slots: the results of a level of sets for the two sides of each pair. Each list entry has one, an element of `Args::slot`. It is a struct
// of the test, of SLOT_BYTES bytes; its `stop` is NEVER until a set separates.
#pragma once
#include "search/sides.cuh"

// Returns the slot's `stop`, which other warps may be changing.
template <class Slot> __device__ __forceinline__ u64 stop_of(const Slot* slot) { return *(const volatile u64*)&slot->stop; }

// Returns whether this launch covers the side of (x, y) from the neighbours of x: the pair is tested, and its other side has not separated
// it. For parts of a level, the host selects the sides by slots that stand for the other side.
template <class Slot> __device__ __forceinline__ bool takes_part(const Args& a, const Slot* slots, u32 x, u64 entry) {
    u32 y = a.list[entry];
    if (!is_tested(a, x, y)) return false;
    return (a.any_side || (a.second ? y < x : y > x)) && slots[a.twin[entry]].stop == NEVER;
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

// The result of a side's sets: NOTHING if it has no sets, KEEPS if none separates, SEPARATES if one does.
enum class Settled { NOTHING, KEEPS, SEPARATES };

// Settles the side of entry `at`, the `second` or the first. If no set separates, it raises p. Otherwise p becomes that of the separating
// set, whose members go to the `size` numbers that `room()` returns. The whole warp must call it. The test explains a slot:
//   rank_of_stop(slot)            rank of the set that separates
//   raised(p, slot, side)         if none separates: the larger of p and the largest p of the side's tests
//   separated(slot, side, set)    p of the test that separates
template <class Slot, class Test, class Room>
__device__ __forceinline__ Settled settle_side(
    const Args& a, const Slot* slots, Test& test, const Side& side, u64 at, bool second, Room room, double& p, u64& tests, bool& go_on
) {
    const u32 lane = lane_id(), l = (u32)a.size;
    // A set's members are candidates other than `other`, which is among the candidates or listed after them.
    const u32 own = (u32)(at - a.offset[side.row]), others = side.d - (own < side.d);
    if (others < l) return Settled::NOTHING;
    const bool by_common = second && a.fast;
    u64 all = choose(a, others, l);
    if (by_common) all -= choose(a, common_neighbours(a, side.row, side.other), l);
    go_on |= others > l;
    if (all == 0) return Settled::NOTHING;
    const Slot slot = slots[at];
    if (slot.stop == NEVER) {
        tests += all;
        p = test.raised(p, slot, side);
        return Settled::KEEPS;
    }
    u32* set = room();
    u64 rank = test.rank_of_stop(slot);
    if (lane == 0) unrank(a, by_common ? others : side.d, l, rank, set);
    __syncwarp();
    // Turn the members' places into vertices.
    if (!by_common && others < side.d) rank = rank_without(a, side.d, l, set, own);
    __syncwarp();
    tests += rank + 1;
    for (u32 i = 0; i < l; i++) {
        u32 v = by_common ? common_last_candidate(a, side.list, side.d, own, set[i]) : side.list[set[i]];
        __syncwarp();
        if (lane == 0) set[i] = v;
    }
    __syncwarp();
    p = test.separated(slot, side, set);
    return Settled::SEPARATES;
}

// Adds a warp's counts to the report.
__device__ __forceinline__ void report_settled(const Args& a, u64 tests, bool go_on) {
    if (lane_id() == 0) {
        if (tests) atomicAdd(&a.report->tests, tests);
        if (go_on) a.report->go_on = 1;
    }
}

// Turns the slots into counts, largest p-values and the log of separated pairs; a warp takes a pair.
template <class Slot, class Test>
__device__ __forceinline__ void settle_pairs(const Args& a, const Slot* slots, Test& test) {
    const u32 lane = lane_id(), l = (u32)a.size;
    u64 tests = 0;
    bool go_on = false;
    for (u64 e : by_warp(a.offset[a.p])) {
        u32 x = row_of(a.offset, a.p, e), y = a.list[e];
        if (y < x || !is_tested(a, x, y)) continue;
        double p = a.mark;
        Settled found = Settled::NOTHING;
        for (u32 second = 0; second < 2 && found != Settled::SEPARATES; second++) {
            const Side side = side_of(a, second ? y : x, second ? x : y);
            auto room = [&] {
                u64 to = 0;
                if (lane == 0) to = atomicAdd(&a.report->logged, 1ull);
                u32* record = a.log + __shfl_sync(FULL, to, 0) * (2 + l);
                if (lane == 0) {
                    const bool larger = a.fast && side.row < side.other;
                    record[0] = larger ? side.other : side.row;
                    record[1] = larger ? side.row : side.other;
                }
                return record + 2;
            };
            found = settle_side(a, slots, test, side, second ? a.twin[e] : e, second != 0, room, p, tests, go_on);
        }
        if (lane == 0) {
            double* cell = packed(a, x, y);
            if (p > *cell) *cell = p;
        }
        __syncwarp();
    }
    report_settled(a, tests, go_on);
}
