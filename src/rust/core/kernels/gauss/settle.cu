// The slots of a level of sets, before and after it; and level 1 of one side.
#include "gauss/single.cuh"
#include "gauss/slots.cuh"

extern "C" __global__ void slots(const __grid_constant__ Args a) {
    const u64 infinity = 0x7ff0000000000000ull;
    clear_slots(a, slots_of(a), GaussSlot{NEVER, NEVER, infinity, infinity, NEVER, 0, 0});
}

// Returns a warp's working memory in doubles: the exact formula's, and a set.
__host__ __device__ constexpr u64 settle_doubles(u64 l) { return exact_doubles(l) + div_ceil(l, 2); }

struct Settling {
    const Args& a;
    double* work;
    u32* set;
    u64 exact_tests;
    bool missing;    // whether the last test that ended a side has no answer

    __device__ __forceinline__ u64 rank_of_stop(const GaussSlot& slot) const { return slot.stop >> 1; }

    __device__ __forceinline__ double raised(double p, const GaussSlot& slot, const Side& side) {
        const u32 l = (u32)a.size;
        exact_tests += slot.exact;
        if (slot.rank != NEVER) {
            // The quick form decided this test, but p_max needs pcalg's p to all digits.
            __syncwarp();
            if (lane_id() == 0) {
                unrank(a, side.d, l, slot.rank, set);
                for (u32 i = 0; i < l; i++) set[i] = side.list[set[i]];
            }
            __syncwarp();
            p = fmax(p, p_of_correlation(a, exact(a, side.row, side.other, set, l, work).r, a.scale));
        }
        if (slot.exact_r != NEVER) p = fmax(p, p_of_correlation(a, __longlong_as_double((long long)slot.exact_r), a.scale));
        return p;
    }

    __device__ __forceinline__ double separated(const GaussSlot& slot, const Side& side, const u32* members) {
        // Which earlier tests the exact formula decided depends on timing, so only the test that separates is counted.
        exact_tests += slot.stop & 1;
        Exact found = exact(a, side.row, side.other, members, (u32)a.size, work);
        missing = found.missing && !a.fast;
        if (lane_id() == 0 && missing) atomicMin(&a.report->undefined, side.row * a.p + side.other);
        return p_of_correlation(a, found.missing ? 0.0 : found.r, a.scale);
    }
};

extern "C" __global__ void settle(const __grid_constant__ Args a) {
    if (!level_is_done(a.report)) return;
    double* work = working_memory(a);
    Settling test{a, work, (u32*)(work + exact_doubles(a.size)), 0, false};
    settle_pairs(a, slots_of(a), test);
    if (lane_id() == 0 && test.exact_tests) atomicAdd(&a.report->exact, test.exact_tests);
}

// `settle_sides` settles one side, the `second` or the first, of the pairs of some rows, whose vertices are numbered locally
// (engine/cuda/gauss/blocks). By list entry, `verdict` says what was found, `values` is the p, and `log` has the separating set, `size`
// numbers, or zeros. It does nothing if the side is not done yet.
constexpr u32 SIDE_NOTHING = 0;      // there was nothing to test
constexpr u32 SIDE_KEEPS = 1;        // host: no set separates
constexpr u32 SIDE_SEPARATES = 2;    // host: a set separates
constexpr u32 SIDE_MISSING = 3;      // host: a test has no answer
extern "C" __global__ void settle_sides(const __grid_constant__ Args a) {
    if (!(a.second ? level_is_done(a.report) : first_is_done(a.report))) return;
    double* work = working_memory(a);
    Settling test{a, work, (u32*)(work + exact_doubles(a.size)), 0, false};
    u64 tests = 0;
    bool go_on = false;
    for (u64 e : by_warp(a.offset[a.p])) {
        u32 x = row_of(a.offset, a.p, e), verdict = SIDE_NOTHING;
        double p = a.mark;
        if (takes_part(a, slots_of(a), x, e)) {
            auto room = [&] { return a.log + e * a.size; };
            Settled found = settle_side(a, slots_of(a), test, side_of(a, x, a.list[e]), e, a.second != 0, room, p, tests, go_on);
            if (found == Settled::KEEPS) verdict = SIDE_KEEPS;
            if (found == Settled::SEPARATES) verdict = test.missing ? SIDE_MISSING : SIDE_SEPARATES;
        }
        if (verdict < SIDE_SEPARATES) {
            for (u32 i = lane_id(); i < (u32)a.size; i += WARP) a.log[e * a.size + i] = 0;
        }
        if (lane_id() == 0) {
            a.verdict[e] = verdict;
            a.values[e] = p;
        }
        __syncwarp();
    }
    report_settled(a, tests, go_on);
    if (lane_id() == 0 && test.exact_tests) atomicAdd(&a.report->exact, test.exact_tests);
}

// Tests one side, the `second` or the first, of the pairs of rows with locally numbered vertices, given one variable, as `single` does.
// Results are written as by `settle_sides`.
extern "C" __global__ void __launch_bounds__(DECIDING_THREADS, 5) side_single(const __grid_constant__ Args a) {
    extern __shared__ u64 sums[];
    const u32 lane = lane_id();
    u64 tests = 0, exact_tests = 0;
    bool go_on = false;
    for (u64 e : by_warp(a.offset[a.p])) {
        const u32 x = row_of(a.offset, a.p, e), y = a.list[e];
        u32 verdict = SIDE_NOTHING;
        double r = 3.0;
        if (takes_part(a, slots_of(a), x, e)) {
            const Side side = side_of(a, x, y);
            go_on |= side.d > 1 + (e - a.offset[x] < side.d);
            Found f{1.0, 0.0, FULL, 2.0, 0, 0};
            const u32 found = run(a, side, a.second ? a.graph + (u64)y * a.words : nullptr, f);
            tests += f.tests;
            exact_tests += f.exact_tests;
            if (found != KEPT) {
                verdict = SIDE_SEPARATES;
                r = separating(a, x, y, found);
                if (lane == 0) a.log[e] = found;
            } else {
                r = smallest(a, x, y, f);
                if (r <= 1.5) verdict = SIDE_KEEPS;
            }
        }
        if (lane == 0) {
            if (verdict < SIDE_SEPARATES) a.log[e] = 0;
            a.verdict[e] = verdict;
            a.values[e] = verdict == SIDE_NOTHING ? a.mark : p_of_correlation(a, r, a.scale);
        }
    }
    report_singles(a, sums, tests, exact_tests, go_on);
}
