// The slots of a level of discrete variables, before it and after it.
#include "discrete/test.cuh"

extern "C" __global__ void dis_slots(const __grid_constant__ Discrete d) {
    clear_slots(d.a, slots_of(d), DiscreteSlot{NEVER, NEVER, 0, 0, 0, 0, 0});
}

// Enters the CPU's p-values for the tests that were left to it.
extern "C" __global__ void dis_answer(const __grid_constant__ Discrete d) {
    for (u64 i : by_thread(d.a.count)) {
        const u32* record = d.asked + i * (ASKED_WORDS + d.largest_set);
        DiscreteSlot* slot = slots_of(d) + ((u64)record[3] << 32 | record[2]);
        u64 key = (u64)record[5] << 32 | record[4];
        double p = d.a.answers[i];
        if (p >= d.alpha) enter_separation(slot, key, p); else atomicMax(&slot->largest, (u64)__double_as_longlong(p) + 1);
    }
}

struct Settling {
    __device__ __forceinline__ u64 rank_of_stop(const DiscreteSlot& slot) const { return slot.stop; }

    __device__ __forceinline__ double raised(double p, const DiscreteSlot& slot, const Side&) const {
        return slot.largest ? fmax(p, __longlong_as_double((long long)(slot.largest - 1))) : p;
    }

    __device__ __forceinline__ double separated(const DiscreteSlot& slot, const Side&, const u32*) const {
        return __longlong_as_double((long long)slot.p_stop);
    }
};

extern "C" __global__ void dis_settle(const __grid_constant__ Discrete d) {
    if (!level_is_done(d.a.report) || d.a.report->asked) return;
    Settling test;
    settle_pairs(d.a, slots_of(d), test);
}
