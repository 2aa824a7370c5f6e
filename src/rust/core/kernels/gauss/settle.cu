// Turns the slots of a level of sets into counts, largest p-values and the log of separated pairs.
#include "gauss/slots.cuh"

// A warp takes a pair.
extern "C" __global__ void settle(const __grid_constant__ Args a) {
    extern __shared__ double memory[];
    if (!both_are_done(a.report)) return;
    const u32 lane = lane_id(), l = (u32)a.size;
    u64 warps_here = blockDim.x / WARP, warp = threadIdx.x / WARP;
    double* work = a.scratch ? (double*)(a.scratch + (blockIdx.x * warps_here + warp) * a.scratch_bytes)
                             : memory + warp * (a.scratch_bytes / 8);
    u32* set = (u32*)(work + exact_doubles(l));
    u32* places = set + l;
    u64 tests = 0, exact_tests = 0;
    bool go_on = false;
    for (u64 e = blockIdx.x * warps_here + warp; e < a.offset[a.p]; e += gridDim.x * warps_here) {
        u32 x = row_of(a.offset, a.p, e), y = a.list[e];
        if (y < x || !is_tested(a, x, y)) continue;
        u64 twin = a.twin[e];
        double p = a.mark;
        bool separated = false;
        for (u32 second = 0; second < 2 && !separated; second++) {
            u32 row = second ? y : x, other = second ? x : y;
            const u32* list = a.list + a.offset[row];
            u32 d = (u32)(a.offset[row + 1] - a.offset[row]);
            if (d - 1 < l) continue;
            bool by_common = second && a.fast;
            u64 at = second ? twin : e;
            u32 own = (u32)(at - a.offset[row]);
            u64 all = choose(a, d - 1, l);
            if (by_common) {
                u64 common = common_neighbours(a, x, y);
                all -= choose(a, common, l);
            }
            go_on |= d - 1 > l;
            if (all == 0) continue;
            Slot slot = a.slot[at];
            if (slot.stop == NEVER) {
                tests += all;
                exact_tests += slot.exact;
                if (slot.rank != NEVER) {
                    // The quick form decided this test; p_max wants pcalg's p to all digits.
                    __syncwarp();
                    if (lane == 0) {
                        unrank(a, d, l, slot.rank, places);
                        for (u32 i = 0; i < l; i++) set[i] = list[places[i]];
                    }
                    __syncwarp();
                    Exact found = exact(a, row, other, set, l, work);
                    p = fmax(p, p_of_correlation(a, found.r, a.scale));
                }
                if (slot.exact_r != NEVER) {
                    double r = __longlong_as_double((long long)slot.exact_r);
                    p = fmax(p, p_of_correlation(a, r, a.scale));
                }
                continue;
            }
            separated = true;
            u64 rank = slot.stop >> 1;
            // Which tests before it the exact formula decided depends on timing: only the test that separates is counted.
            exact_tests += slot.stop & 1;
            __syncwarp();
            if (by_common) {
                if (lane == 0) unrank(a, d - 1, l, rank, places);
                __syncwarp();
                for (u32 i = 0; i < l; i++) {
                    u32 v = common_last_candidate(a, list, d, own, places[i]);
                    if (lane == 0) set[i] = v;
                }
            } else {
                if (lane == 0) {
                    unrank(a, d, l, rank, places);
                    for (u32 i = 0; i < l; i++) set[i] = list[places[i]];
                }
                __syncwarp();
                rank = rank_without(a, d, l, places, own);
            }
            __syncwarp();
            tests += rank + 1;
            Exact found = exact(a, row, other, set, l, work);
            p = p_of_correlation(a, found.missing ? 0.0 : found.r, a.scale);
            if (lane == 0) {
                if (found.missing && !a.fast) atomicMin(&a.report->undefined, row * a.p + other);
                u64 to = atomicAdd(&a.report->logged, 1ull);
                u32* record = a.log + to * (2 + l);
                bool larger = a.fast && row < other;
                record[0] = larger ? other : row;
                record[1] = larger ? row : other;
                for (u32 i = 0; i < l; i++) record[2 + i] = set[i];
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
        if (exact_tests) atomicAdd(&a.report->exact, exact_tests);
        if (go_on) a.report->go_on = 1;
    }
}
