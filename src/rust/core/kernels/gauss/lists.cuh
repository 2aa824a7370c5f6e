// Level 1: conditioning sets of one variable. A warp decides both sides of a pair, 32 candidates at a time, a lane each: most
// pairs are separated by one of their first few, and the smallest rank is that of the first lane that separates. Rows that stand
// in blocks with more neighbours are left to columns.cuh and masks.cuh.
#pragma once
#include "gauss/single.cuh"

// Rows first_row to end_row - 1, `gridDim.y` blocks each.
extern "C" __global__ void __launch_bounds__(DECIDING_THREADS, PANELS ? 5 : 6) KERNEL(single)(const __grid_constant__ Args a) {
    extern __shared__ u64 sums[];
    u32 lane = lane_id(), warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    u64 tests = 0, exact_tests = 0;
    bool go_on = false;
    for (u64 x = a.first_row + blockIdx.x; x < a.end_row; x += gridDim.x) {
        if (!takes_lists(a, x / MASK_ROWS)) continue;
        u64 offset = a.offset[x];
        const u32* list = a.list + offset;
        u32 d = (u32)(a.offset[x + 1] - offset);
        const Range larger = larger_of(a, (u32)x);
        for (u64 e = larger.from + blockIdx.y * warps + warp; e < larger.to; e += gridDim.y * warps) {
            u32 place = (u32)(e - offset), y = a.list[e];
            if (!is_tested(a, (u32)x, y)) {
                if (lane == 0) a.verdict[offset + place] = UNTESTED;
                continue;
            }
            u64 offset_y = a.offset[y];
            u32 dy = (u32)(a.offset[y + 1] - offset_y);
            u32 found = KEPT;
            double r = 3.0;
            for (u32 second = 0; second < 2; second++) {
                Side side{second ? y : (u32)x, second ? (u32)x : y, second ? a.list + offset_y : list, second ? dy : d};
                go_on |= side.d > 2;
                Found f{1.0, 0.0, 0xffffffffu, 2.0, 0, 0};
                found = run(a, side, second ? a.graph + x * a.words : nullptr, f);
                tests += f.tests;
                exact_tests += f.exact_tests;
                if (found != KEPT) {
                    r = separating(a, side.row, side.other, found);
                    if (second) found |= SECOND;
                    break;
                }
                r = fmin(r, smallest(a, side.row, side.other, f));
            }
            if (lane == 0) {
                if (r <= 1.5) *packed(a, (u32)x, y) = r;
                else if (found == KEPT) found = UNTESTED;
                a.verdict[offset + place] = found;
            }
        }
    }
    report_singles(a, sums, tests, exact_tests, go_on);
}
