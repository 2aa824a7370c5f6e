// Level 1 by lists, and what ends level 1 whichever way its rows were taken.
#include "gauss/lists.cuh"

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
