// Level 1 by lists, and what ends level 1 whichever way its rows were taken.
//
// By lists a warp decides both sides of a pair, 32 candidates at a time, a lane each: most
// pairs are separated by one of their first few, and the smallest rank is that of the first lane that separates. Rows that stand
// in blocks with more neighbours are left to columns.cu and masks.cu.
#include "gauss/single.cuh"

// Rows first_row to end_row - 1, `gridDim.y` blocks each.
extern "C" __global__ void __launch_bounds__(DECIDING_THREADS, 6) single(const __grid_constant__ Args a) {
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

// Turns r into p, 32 pairs of a row at a time, of rows first_row to end_row - 1.
extern "C" __global__ void settle_single(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        const u64 x = a.first_row + i;
        for (u64 e = a.offset[x] + lane; e < a.offset[x + 1]; e += WARP) {
            u32 y = a.list[e];
            if (y < x || a.verdict[e] == UNTESTED) continue;
            double* cell = packed(a, (u32)x, y);
            *cell = p_of_correlation(a, *cell, a.scale);
        }
    }
}

// Counts separated pairs in `record_count` of the vertex that their set is kept under: pcalg's C++ keeps every set under the larger
// vertex, its R code under the one from whose neighbours it is.
extern "C" __global__ void count_single(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    for (u64 x : by_warp(a.p)) {
        u32 count = 0, own = 0;
        for (u64 e = a.offset[x] + lane; e < a.offset[x + 1]; e += WARP) {
            u32 y = a.list[e];
            if (y < x) continue;
            u32 verdict = a.verdict[e];
            if (verdict >= UNTESTED) continue;
            count++;
            if (a.fast || verdict & SECOND) atomicAdd(&a.record_count[y], 1u); else own++;
        }
        count = warp_sum(count);
        own = warp_sum(own);
        if (lane == 0) {
            if (own) atomicAdd(&a.record_count[x], own);
            if (count) atomicAdd(&a.report->logged, (u64)count);
        }
    }
}

// Writes the records (other, member) row by row, in ascending order of the other vertex, and removes the pairs from the graph.
extern "C" __global__ void log_single(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    for (u64 x : by_warp(a.p)) {
        u64 to = a.first_record[x], end = a.offset[x + 1];
        for (u64 base = a.offset[x]; base < end; base += WARP) {
            u64 e = base + lane;
            u32 y = e < end ? a.list[e] : (u32)x;
            u32 verdict = KEPT;
            if (y > x) {
                verdict = a.verdict[e];
            } else if (y < x) {
                // The verdict stands with the smaller vertex.
                verdict = a.verdict[twin_of(a, (u32)x, y)];
            }
            bool separated = verdict < UNTESTED;
            bool here = separated && (y < x) == (a.fast || verdict & SECOND);
            u32 mask = __ballot_sync(FULL, here);
            if (here) {
                u32* record = a.log + 2 * (to + lanes_before(mask));
                record[0] = y;
                record[1] = verdict & ~SECOND;
            }
            if (separated) remove_neighbour(a, a.graph, (u32)x, y);
            to += __popc(mask);
        }
    }
}
