// Level 1 by slices of the conditioning variables.
#include "gpu/scan.cuh"
#include "gauss/slices.cuh"

extern __shared__ u64 sums[];

// Writes a slice's correlations in single precision, by variable: NaN if that cannot serve, 0 for a variable with itself. A block of 256
// threads transposes a tile of 32 x 32 in shared memory. The grid is (tiles of variables, tiles of the slice).
extern "C" __global__ void __launch_bounds__(256) slice_singles(const __grid_constant__ Slices s) {
    float* tile = (float*)sums;
    const u64 v0 = (u64)blockIdx.x * WARP, z0 = (u64)blockIdx.y * WARP, p = s.a.p;
    const u32 lane = lane_id(), warps = blockDim.x / WARP;
    for (u32 i = threadIdx.x / WARP; i < WARP; i += warps) {
        const u64 z = s.first_z + z0 + i, v = v0 + lane;
        tile[i * (WARP + 1) + lane] = z < s.end_z && v < p && z != v ? coarse(s.rows[(z0 + i) * s.pitch + v]) : 0.0f;
    }
    __syncthreads();
    for (u32 i = threadIdx.x / WARP; i < WARP; i += warps) {
        if (v0 + i < p) s.singles[(v0 + i) * s.width + z0 + lane] = tile[lane * (WARP + 1) + i];
    }
}

// Adds up hashes of the correlations above the diagonal and of those below it. The sums differ if the matrix is not symmetric, as a hash is
// of value and place (splitmix64, Steele, Lea and Flood 2014). The grid is (parts of a row, variables of the slice).
extern "C" __global__ void __launch_bounds__(256) slice_symmetry(const __grid_constant__ Slices s) {
    auto mix = [](u64 v) {
        v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
        v = (v ^ v >> 27) * 0x94d049bb133111ebull;
        return v ^ v >> 31;
    };
    const u64 p = s.a.p;
    u64 above = 0, below = 0;
    for (u64 z = s.first_z + blockIdx.y; z < s.end_z; z += gridDim.y) {
        for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < s.pitch; i += (u64)gridDim.x * blockDim.x) {
            const u64 v = s.first_column + i;
            const double r = s.rows[(z - s.first_z) * s.pitch + i];
            // All NaN count as equal, and so do both zeros.
            const u64 bits = isnan(r) ? NEVER : (u64)__double_as_longlong(r + 0.0);
            const u64 hash = mix(bits + mix(0x9e3779b97f4a7c15ull * (v < z ? v * p + z : z * p + v)));
            if (v > z) above += hash;
            if (v < z) below += hash;
        }
    }
    above = warp_sum(above);
    below = warp_sum(below);
    if (lane_id() == 0) {
        atomicAdd(&s.a.report->above, above);
        atomicAdd(&s.a.report->below, below);
    }
}

// Initialises the pairs of rows first_row to end_row - 1 before the first slice.
extern "C" __global__ void slice_begin(const __grid_constant__ Slices s) {
    const Args& a = s.a;
    each_pair(s, [&](u32 x, u32 y, u64 place, double xy) {
        const bool tested = is_tested(a, x, y);
        s.pairs[place] = {xy, 2.0, y | (tested ? 0 : PAIR_CLOSED | PAIR_UNTESTED)};
        s.open[place] = tested ? (u32)place : FULL;
        if (tested && degree_of(a, x) > 2) a.report->go_on = 1;
    });
    if (blockIdx.y) return;
    for (u64 row = a.first_row + blockIdx.x; row < a.end_row; row += gridDim.x) {
        if (threadIdx.x == 0) s.left[row] = count_of(s, row);
    }
}

// Tests up to 32 pairs of x given the variables of the slice; `open` has their numbers.
__device__ __forceinline__ void take_pairs(const Slices& s, u32 x, u32* open, u32 count, float limit, Counts& counts) {
    constexpr u32 EACH = SLICE_DEPTH / WARP, NO_STEP = FULL;
    const Args& a = s.a;
    const u32 lane = lane_id(), place = lane < count ? open[lane] : FULL;
    u32 y = x;
    float xy = 0.0f, low = 0.0f;    // a value above `low` is not the smallest r², nor does it separate
    if (place != FULL) {
        const Pair pair = s.pairs[place];
        y = larger_in(pair.what);
        xy = (float)pair.xy;
        low = separator_in(pair.what) ? limit : pair.r <= 1.5 ? fmaxf(limit, covering(pair.r * pair.r)) : 1e30f;
        if (!s.is_coarse) low = limit;
    }
    // The step with the smallest r², and that r², unless `Pair::r` has it already.
    u32 step = NO_STEP;
    float smallest = 1e30f;
    u32 rest = __ballot_sync(FULL, place != FULL);
    for (u64 z0 = s.first_z; z0 < s.end_z && rest; z0 += SLICE_DEPTH) {
        const u32 own_step = (u32)((z0 - s.first_z) / SLICE_DEPTH), within = bits_within(s, z0);
        float of_x[EACH], left_x[EACH];
        load_eight(s, x, z0, of_x);
#pragma unroll
        for (u32 k = 0; k < EACH; k++) left_x[k] = within >> k & 1 ? fmaf(-of_x[k], of_x[k], 1.0f) : 0.0f;
        for (u32 todo = rest; todo; todo &= todo - 1) {
            const u32 j = __ffs(todo) - 1, y_j = __shfl_sync(FULL, y, j);
            const float xy_j = __shfl_sync(FULL, xy, j), low_j = __shfl_sync(FULL, low, j);
            float of_y[EACH];
            load_eight(s, y_j, z0, of_y);
            bool any = false;
#pragma unroll
            for (u32 k = 0; k < EACH; k++) any |= is_low(xy_j, of_x[k], low_j * left_x[k], of_y[k]);
            if (!__any_sync(FULL, any)) continue;

            // From here on, only neighbours count.
            const Asked pair{s, x, y_j, s.pairs + __shfl_sync(FULL, place, j)};
            u32 first, second, may = 0, unknown = 0;
            pair.sides(z0, first, second);
            float q = 1e30f;
#pragma unroll
            for (u32 k = 0; k < EACH; k++) {
                const float covariance = fmaf(-of_x[k], of_y[k], xy_j), square = covariance * covariance;
                const float product = left_x[k] * fmaf(-of_y[k], of_y[k], 1.0f), ratio = square / product;
                may |= (u32)!(square > limit * product) << k;
                unknown |= (u32)isnan(ratio) << k;
                if ((first | second) >> k & 1) q = fminf(q, ratio);
            }
            if (!s.is_coarse) may = unknown = FULL;
            if (__any_sync(FULL, may & first)) {
                const u32 found = pair.separator(z0, may & first, counts.exact);
                if (found != KEPT) {
                    counts.tests += neighbours_before(a, x, found) + 1 - (y_j < found);
                    const double r = separating_r(pair.formula(found));
                    __syncwarp();
                    if (lane == 0) {
                        pair.pair->r = r;
                        pair.pair->what = y_j | as_separator(found) | PAIR_CLOSED;
                    }
                    __syncwarp();
                    rest &= ~(1u << j);
                    continue;
                }
            }
            // Once the second side is separated, only the first side matters.
            const u64 what = pair.pair->what;
            if (separator_in(what)) continue;
            if (__any_sync(FULL, may & second)) {
                u32 exact_tests = 0;
                const u32 found = pair.separator(z0, may & second, exact_tests);
                const double r = found != KEPT ? separating_r(pair.formula(found)) : 0.0;
                __syncwarp();
                if (lane == 0) {
                    pair.pair->what = what + as_exact(exact_tests) + (found != KEPT ? as_separator(found) : 0);
                    if (found != KEPT) pair.pair->r = r;
                }
                __syncwarp();
                if (found != KEPT) {
                    if (lane == j) {
                        low = limit;
                        step = NO_STEP;
                    }
                    continue;
                }
            }
            if (__any_sync(FULL, unknown & (first | second))) {
                pair.improve(z0);
                continue;
            }
            q = warp_join(q, [](float s, float t) { return fminf(s, t); });
            if (q > low_j || q >= 1e30f) continue;
            const float wide = covering_twice(q), known = __shfl_sync(FULL, smallest, j);
            const u32 step_j = __shfl_sync(FULL, step, j);
            // Not clearly smaller than the r² of an earlier step: either may be the smallest.
            if (step_j != NO_STEP && !(wide < known)) pair.improve(s.first_z + (u64)step_j * SLICE_DEPTH);
            if (lane == j) {
                step = own_step;
                smallest = q;
                low = fmaxf(limit, fminf(low, wide));
            }
        }
    }
    for (u32 todo = rest & __ballot_sync(FULL, step != NO_STEP); todo; todo &= todo - 1) {
        const u32 j = __ffs(todo) - 1;
        const u64 z0 = s.first_z + (u64)__shfl_sync(FULL, step, j) * SLICE_DEPTH;
        Asked{s, x, __shfl_sync(FULL, y, j), s.pairs + __shfl_sync(FULL, place, j)}.improve(z0);
    }
    if (s.end_z >= a.p) {
        for (u32 todo = rest; todo; todo &= todo - 1) {
            const u32 j = __ffs(todo) - 1;
            end_pair(Asked{s, x, __shfl_sync(FULL, y, j), s.pairs + __shfl_sync(FULL, place, j)}, counts);
        }
        rest = 0;
    }
    if (place != FULL && !(rest >> lane & 1)) open[lane] = FULL;
}

// Tests the open pairs of rows first_row to end_row - 1; `gridDim.y` blocks share a row.
extern "C" __global__ void __launch_bounds__(SLICE_THREADS, 5) slice_tests(const __grid_constant__ Slices s) {
    const Args& a = s.a;
    const u32 warps = blockDim.x / WARP, warp = threadIdx.x / WARP;
    const float limit = s.is_coarse ? covering(a.above) : 1e30f;
    Counts counts{0, 0, false};
    for (u64 row = a.first_row + blockIdx.x; row < a.end_row; row += gridDim.x) {
        const u32 left = s.left[row];
        u32* open = s.open + start_of(s, row);
        for (u32 base = (blockIdx.y * warps + warp) * WARP; base < left; base += gridDim.y * warps * WARP) {
            take_pairs(s, (u32)row, open + base, left - base < WARP ? left - base : WARP, limit, counts);
        }
    }
    report_counts(a, counts);
}

// Closes the gaps between the open pairs of rows first_row to end_row - 1; a warp takes a row.
extern "C" __global__ void slice_pack(const __grid_constant__ Slices s) {
    const Args& a = s.a;
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        const u64 x = a.first_row + i;
        u32* open = s.open + start_of(s, x);
        const u32 left = s.left[x];
        u32 to = 0;
        for (u32 base = 0; base < left; base += WARP) {
            const u32 place = base + lane_id() < left ? open[base + lane_id()] : FULL, mask = __ballot_sync(FULL, place != FULL);
            if (place != FULL) open[to + lanes_before(mask)] = place;
            to += __popc(mask);
        }
        __syncwarp();
        if (lane_id() == 0) s.left[x] = to;
    }
}

// Computes where the open pairs of rows first_row to end_row - 1 go among the waiting pairs; `kept_first` has the first row's place. One
// block runs it.
extern "C" __global__ void slice_place(const __grid_constant__ Slices s) {
    const Args& a = s.a;
    const u64 start = s.kept_first[a.first_row];
    __syncthreads();
    const u64 all = scan(a.end_row - a.first_row, blockDim.x, sums, [&](u64 i) { return (u64)s.left[a.first_row + i]; },
                         [&](u64 i, u64 before) { s.kept_first[a.first_row + i] = start + before; });
    if (threadIdx.x == 0) {
        s.kept_first[a.end_row] = start + all;
        a.report->kept = start + all;
    }
}

// Moves the open pairs of rows first_row to end_row - 1 to those that wait; `gridDim.y` blocks share a row.
extern "C" __global__ void slice_keep(const __grid_constant__ Slices s) {
    const Args& a = s.a;
    for (u64 x = a.first_row + blockIdx.x; x < a.end_row; x += gridDim.x) {
        const u32* open = s.open + start_of(s, x);
        const u64 to = s.kept_first[x];
        const u32 left = s.left[x];
        for (u32 i = blockIdx.y * blockDim.x + threadIdx.x; i < left; i += gridDim.y * blockDim.x) {
            s.kept_pairs[to + i] = s.pairs[open[i]];
            s.kept_open[to + i] = (u32)(to + i);
        }
        if (threadIdx.x == 0 && blockIdx.y == 0) s.kept_left[x] = left;
    }
}

// Writes the results of the pairs of rows first_row to end_row - 1; p is at least that of level 0. `gridDim.y` blocks share a row.
extern "C" __global__ void slice_settle(const __grid_constant__ Slices s) {
    const Args& a = s.a;
    for (u64 row = a.first_row + blockIdx.x; row < a.end_row; row += gridDim.x) {
        const u32 x = (u32)row, count = count_of(s, row);
        const u64 start = start_of(s, row);
        for (u32 i = blockIdx.y * blockDim.x + threadIdx.x; i < count; i += gridDim.y * blockDim.x) {
            const Pair pair = s.pairs[start + i];
            const u64 out = start + i - s.out_before;
            const u32 y = larger_in(pair.what), separator = separator_in(pair.what);
            u32 verdict = VERDICT_OPEN;
            double p = 0.0;
            if (pair.what & PAIR_CLOSED) {
                const bool is_second = (pair.what & PAIR_SECOND) != 0;
                verdict = separator ? (separator - 1) | (is_second ? SECOND : 0) : pair.what & PAIR_UNTESTED ? UNTESTED : KEPT;
                if (!is_tested(a, x, y)) {
                    p = a.mark;
                } else {
                    p = verdict == UNTESTED ? 0.0 : p_of_correlation(a, pair.r, a.scale);
                    const double marginal = p_of_correlation(a, pair.xy, a.scale_marginal);
                    if (marginal > p) p = marginal;
                }
            }
            s.verdict[out] = verdict;
            s.values[out] = p;
        }
    }
}
