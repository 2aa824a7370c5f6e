// Level 0, the level-0 p-values of the pairs left at the end, and the check of a matrix.
#include "gauss/marginal.cuh"

extern "C" __global__ void marginal(const __grid_constant__ Args a) {
    make_graph(a, [&](u64 y, u64 x, double* p) { return judge_marginal(a, y, x, p); });
}

// Raises p_max of the pairs that are left, in rows first_row to end_row - 1, to at least the p given the empty set. Level 0 does not
// compute that p, as most pairs get a larger one at a later level.
extern "C" __global__ void raise_marginal(const __grid_constant__ Args a) {
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        const u64 x = a.first_row + i;
        for (u64 w = x / 32 + lane_id(); w < a.words; w += WARP) {
            u32 word = a.graph[x * a.words + w];
            if (a.fixed) word &= ~a.fixed[x * a.words + w];
            while (word) {
                u64 y = w * 32 + __ffs(word) - 1;
                word &= word - 1;
                if (y <= x) continue;
                double p = p_of_correlation(a, correlation(a, (u32)x, (u32)y), a.scale_marginal);
                double* cell = packed(a, (u32)x, (u32)y);
                if (p > *cell) *cell = p;
            }
        }
    }
}

// Checks the correlations off the diagonal. They pass if they are from -1 to 1 and equal their mirror images, to the digits of
// ci/correlations.rs. NaN passes if both are NaN. A block of `CELLS_THREADS` threads takes pairs of tiles.
constexpr u64 CELLS_CHECKED = 1;   // host: bit of `Report::cells`: all cells were checked
constexpr u64 CELLS_WRONG = 2;     // host: bit of `Report::cells`: some cells are not correlations
constexpr u64 CELLS_MISSING = 4;   // host: bit of `Report::cells`: some cells are NaN
constexpr u32 CELLS_TILE = 64;                                 // host: columns of a tile of `check_cells`; in shared memory, rows are one wider
constexpr u32 CELLS_PITCH = CELLS_TILE + 1;
constexpr u32 CELLS_THREADS = 256;                             // host: threads of a block of `check_cells`
extern "C" __global__ void check_cells(const __grid_constant__ Args a) {
    extern __shared__ double shared[];
    const u64 side = div_ceil(a.p, (u64)CELLS_TILE);
    const u32 along = threadIdx.x % CELLS_TILE, across = threadIdx.x / CELLS_TILE, together = CELLS_THREADS / CELLS_TILE;
    u64 seen = CELLS_CHECKED;
    for (u64 t = blockIdx.x; t < side * side; t += gridDim.x) {
        const u64 left = t / side * CELLS_TILE, top = t % side * CELLS_TILE;
        if (left > top) continue;
        __syncthreads();
        for (u32 y = across; y < CELLS_TILE; y += together) {
            if (left + y < a.p && top + along < a.p) shared[along * CELLS_PITCH + y] = a.c[(left + y) * a.pitch + top + along];
        }
        __syncthreads();
        for (u32 x = across; x < CELLS_TILE; x += together) {
            if (top + x >= a.p || left + along >= a.p || top + x == left + along) continue;
            const double r = shared[x * CELLS_PITCH + along], image = a.c[(top + x) * a.pitch + left + along];
            const bool close = fabs(r - image) <= 1e-10 || (isnan(r) && isnan(image));
            if (!close || fabs(r) > 1.0 + 1e-8 || fabs(image) > 1.0 + 1e-8) seen |= CELLS_WRONG;
            if (isnan(r)) seen |= CELLS_MISSING;
        }
    }
    // The first thread always reports, which shows that the check has run; others hardly ever have anything to report.
    if (seen != CELLS_CHECKED || (!blockIdx.x && !threadIdx.x)) atomicOr(&a.report->cells, seen);
}
