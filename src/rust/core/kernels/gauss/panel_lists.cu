// Level 1 in panels (panels.cuh), by lists, and what ends it.
#define OF_PANELS
#include "gauss/lists.cuh"

// Ends level 1 of the pairs x < y of rows first_row to end_row - 1, whose correlations are there (engine/cuda/gauss/blocks): raises p_max to that of level
// 0, and writes their verdicts to `log`, those of a row from `first_record` on. Separated pairs are removed from `left_graph`. No verdicts:
// level 1 was not run.
extern "C" __global__ void panel_values(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        const u64 x = a.first_row + i, offset = a.offset[x];
        const u32* list = a.list + offset;
        const u32 d = (u32)(a.offset[x + 1] - offset), first = vertices_before(list, d, (u32)x);
        for (u32 place = first + lane; place < d; place += WARP) {
            const u32 y = list[place], verdict = a.verdict ? a.verdict[offset + place] : UNTESTED;
            double* cell = packed(a, (u32)x, y);
            const bool tested = is_tested(a, (u32)x, y);
            double p = !tested ? a.mark : verdict == UNTESTED ? 0.0 : *cell;
            if (tested) {
                const double marginal = p_of_correlation(a, correlation(a, y, (u32)x), a.scale_marginal);
                if (marginal > p) p = marginal;
            }
            *cell = p;
            if (a.verdict) a.log[a.first_record[x] + (place - first)] = verdict;
            if (verdict < UNTESTED) {
                remove_neighbour(a, a.left_graph, (u32)x, y);
                remove_neighbour(a, a.left_graph, y, (u32)x);
            }
        }
    }
}

// Reports a pair of rows first_row to end_row - 1 with larger vertices first_larger to end_larger - 1 whose correlation differs from that of the
// pair the other way round.
extern "C" __global__ void panel_symmetry(const __grid_constant__ Args a) {
    const u64 rows = a.end_row - a.first_row;
    for (u64 i : by_warp(rows * div_ceil(a.end_larger - a.first_larger, WARP))) {
        const u32 x = (u32)(a.first_row + i % rows), y = (u32)(a.first_larger + i / rows * WARP + lane_id());
        if (y <= x || y >= a.end_larger) continue;
        const double one = with_smaller(a, y, x), other = with_larger(a, x, y);
        if (one != other && !(isnan(one) && isnan(other))) atomicMin(&a.report->undefined, x * a.p + y);
    }
}
