// Turns the slots of a level of discrete variables into counts, largest p-values and the log of separated pairs.
#include "discrete/test.cuh"

// Enters the CPU's p-values for the tests that were left to it.
extern "C" __global__ void dis_answer(const __grid_constant__ Discrete d) {
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < d.a.count; i += (u64)gridDim.x * blockDim.x) {
        const u32* record = d.asked + i * (6 + d.widest);
        DiscreteSlot* slot = slots_of(d) + ((u64)record[3] << 32 | record[2]);
        u64 key = (u64)record[5] << 32 | record[4];
        double p = d.a.answers[i];
        if (p >= d.alpha) enter_separation(slot, key, p); else atomicMax(&slot->largest, (u64)__double_as_longlong(p) + 1);
    }
}

// A warp takes a pair.
extern "C" __global__ void dis_settle(const __grid_constant__ Discrete d) {
    const Args& a = d.a;
    if (!both_are_done(a.report) || a.report->asked) return;
    const u32 lane = lane_id(), l = (u32)a.size;
    u64 tests = 0, warps = (u64)gridDim.x * (blockDim.x / WARP);
    bool go_on = false;
    for (u64 e = blockIdx.x * (u64)(blockDim.x / WARP) + threadIdx.x / WARP; e < a.offset[a.p]; e += warps) {
        u32 x = row_of(a.offset, a.p, e), y = a.list[e];
        if (y < x || !is_tested(a, x, y)) continue;
        double p = a.mark;
        bool separated = false;
        for (u32 second = 0; second < 2 && !separated; second++) {
            u32 row = second ? y : x, other = second ? x : y;
            const u32* list = a.list + a.offset[row];
            u32 degree = (u32)(a.offset[row + 1] - a.offset[row]);
            if (degree - 1 < l) continue;
            bool by_common = second && a.fast;
            u64 at = second ? a.twin[e] : e;
            u32 own = (u32)(at - a.offset[row]);
            u64 all = choose(a, degree - 1, l);
            if (by_common) all -= choose(a, common_neighbours(a, x, y), l);
            go_on |= degree - 1 > l;
            if (all == 0) continue;
            DiscreteSlot slot = slots_of(d)[at];
            if (slot.stop == NEVER) {
                tests += all;
                if (slot.largest) p = fmax(p, __longlong_as_double((long long)(slot.largest - 1)));
                continue;
            }
            separated = true;
            p = __longlong_as_double((long long)slot.p_stop);
            u64 to = 0;
            if (lane == 0) to = atomicAdd(&a.report->logged, 1ull);
            to = __shfl_sync(FULL, to, 0);
            u32* record = a.log + to * (2 + l);
            bool larger = a.fast && row < other;
            if (lane == 0) {
                record[0] = larger ? other : row;
                record[1] = larger ? row : other;
                unrank(a, by_common ? degree - 1 : degree, l, slot.stop, record + 2);
            }
            __syncwarp();
            u64 rank = by_common ? slot.stop : rank_without(a, degree, l, record + 2, own);
            __syncwarp();
            tests += rank + 1;
            for (u32 i = 0; i < l; i++) {
                u32 v = by_common ? common_last_candidate(a, list, degree, own, record[2 + i]) : list[record[2 + i]];
                __syncwarp();
                if (lane == 0) record[2 + i] = v;
            }
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
