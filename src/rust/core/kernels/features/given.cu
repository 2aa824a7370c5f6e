// What the tests given a set S share: its features Z, made orthogonal by the inverse of the factor of their mean products, and the factor c of the
// statistic.
#include "features/args.cuh"

constexpr u32 GIVEN_THREADS = 128;  // host: threads of a block of `features_given` and `features_products`

// Writes the features of S: a grid of blocks of rows by sets, a row for each thread.
extern "C" __global__ void __launch_bounds__(GIVEN_THREADS) features_given(const __grid_constant__ FeaturesArgs a) {
    u64 at = a.first_set + blockIdx.y;
    FeaturesSet set = a.sets[at];
    u64 given = set.count ? a.given : 0;
    double* out = a.features + at * a.n * a.width;
    for (u64 r = (u64)blockIdx.x * GIVEN_THREADS + threadIdx.x; r < set.rows; r += (u64)gridDim.x * GIVEN_THREADS) {
        u64 row = data_row(a, at, r);
#pragma unroll 4
        for (u64 c = 0; c < a.width; c++) {
            double value = c == given ? 1.0 : 0.0;
            if (c < given) {
                double sum = 0.0;
                for (u64 m = 0; m < set.count; m++) {
                    const FeaturesColumn& of = a.columns[a.members[set.first_member + m]];
                    sum = with_member(a, of, of.weights, a.width, row, c, sum);
                }
                value = wave(sum * set.scale + a.phases[c]);
            }
            out[c * a.n + r] = value;
        }
    }
}

// Sums up the products of the features of sets: a grid of sets by pairs of groups. A thread has the products of two groups of eight columns,
// which are width / 8 apart: so threads side by side read numbers side by side. `staged` is at most the lanes of a warp.
extern "C" __global__ void __launch_bounds__(GIVEN_THREADS) features_products(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    u64 at = a.first_set + blockIdx.x, rows = a.sets[at].rows;
    const double* z = a.features + at * a.n * a.width;
    double* sums = a.factors + at * cells_of_factor(a.width);
    u32 width = (u32)a.width, pitch = width + 1, groups = width / WIDE, tiles = groups * (groups + 1) / 2;
    u32 number = blockIdx.y * GIVEN_THREADS + threadIdx.x, one = 0;
    bool works = number < tiles;
    if (works) {
        while (number >= groups - one) number -= groups - one, one++;
    }
    u32 other = one + (works ? number : 0);
    for (u64 chunk = 0; chunk < rows; chunk += DEEP) {
        double own[WIDE][WIDE] = {};
        u64 end = min(rows, chunk + DEEP);
        for (u64 from = chunk; from < end; from += a.staged) {
            u32 some = (u32)min(a.staged, end - from);
            __syncthreads();
            stage(z + from, a.n, some, width, memory, pitch);
            __syncthreads();
            if (!works) continue;
#pragma unroll 1
            for (u32 r = 0; r < some; r++) {
                const double* row = memory + r * pitch;
                double x[WIDE];
#pragma unroll
                for (u32 k = 0; k < WIDE; k++) x[k] = row[one + k * groups];
#pragma unroll
                for (u32 j = 0; j < WIDE; j++) {
                    double y = row[other + j * groups];
#pragma unroll
                    for (u32 i = 0; i < WIDE; i++) own[i][j] = fma(x[i], y, own[i][j]);
                }
            }
        }
        if (!works) continue;
        // The compiler must not know `begin`: it would keep the addresses of all sums in registers from chunk to chunk.
        u32 begin = one;
        asm volatile("" : "+r"(begin));
#pragma unroll
        for (u32 i = 0; i < WIDE; i++) {
#pragma unroll
            for (u32 j = 0; j < WIDE; j++) {
                u32 c = begin + i * groups, d = other + j * groups;
                // A group with itself has each product twice.
                if (one == other && i > j) continue;
                double* cell = sums + row_of_factor(width, min(c, d)) + max(c, d);
                *cell = (chunk ? *cell : 0.0) + own[i][j];
            }
        }
    }
}

constexpr u32 FACTOR_THREADS = 256;  // host: threads of a block of `features_factor`

// Makes the factor U of the mean products of a set with a ridge, A = U'U, and its inverse; a block has a set.
extern "C" __global__ void __launch_bounds__(FACTOR_THREADS) features_factor(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    constexpr u32 WARPS = FACTOR_THREADS / WARP;
    u64 at = a.first_set + blockIdx.x;
    u32 width = (u32)a.width, cells = (u32)cells_of_factor(width), warp = threadIdx.x / WARP;
    double *own = a.factors + at * cells, *out = a.inverses + at * cells;
    double *u = a.in_shared ? memory : own, *inverse = a.in_shared ? memory + cells : out;
    double n = (double)a.sets[at].rows;
    auto cell = [&](u32 k, u32 c) -> double& { return u[row_of_factor(width, k) + c]; };
    for (u32 k = warp; k < width; k += WARPS) {
        u32 begin = row_of_factor(width, k);
        for (u32 c = k / WIDE * WIDE + lane_id(); c < width; c += WARP) {
            inverse[begin + c] = c == k ? 1.0 : 0.0;
            if (c < k) continue;
            double mean = own[begin + c] / n;
            u[begin + c] = c == k ? mean + a.ridge : mean;
        }
    }
    __syncthreads();
    for (u32 k = 0; k < width; k++) {
        double root = sqrt(cell(k, k));
        __syncthreads();
        for (u32 c = k + threadIdx.x; c < width; c += FACTOR_THREADS) cell(k, c) /= root;
        __syncthreads();
        for (u32 i = k + 1 + warp; i < width; i += WARPS) {
            double by = cell(k, i);
            for (u32 c = i + lane_id(); c < width; c += WARP) cell(i, c) = fma(-by, cell(k, c), cell(i, c));
        }
        __syncthreads();
    }
    // Row c of the inverse solves U'x = e, where e is unit vector c: eight elements at a time, a thread for each row, then their part in the
    // elements behind them.
    for (u32 panel = 0; panel < width; panel += WIDE) {
        u32 step = width - panel, rows = panel + WIDE;
        const double* of = u + row_of_factor(width, panel);
        double some[WIDE];
        for (u32 c = threadIdx.x; c < rows; c += FACTOR_THREADS) {
            double* x = inverse + row_of_factor(width, c) + panel;
            const double* row = of + panel;
#pragma unroll
            for (u32 k = 0; k < WIDE; k++) some[k] = x[k];
#pragma unroll
            for (u32 k = 0; k < WIDE; k++, row += step) {
                x[k] = some[k] /= row[k];
#pragma unroll
                for (u32 l = k + 1; l < WIDE; l++) some[l] = fma(-row[l], some[k], some[l]);
            }
        }
        __syncthreads();
        for (u32 i = rows + lane_id(); i < width; i += WARP) {
#pragma unroll
            for (u32 k = 0; k < WIDE; k++) some[k] = of[k * step + i];
            for (u32 c = warp; c < rows; c += WARPS) {
                double* x = inverse + row_of_factor(width, c);
                double value = x[i];
#pragma unroll
                for (u32 k = 0; k < WIDE; k++) value = fma(-some[k], x[panel + k], value);
                x[i] = value;
            }
        }
        __syncthreads();
    }
    if (a.in_shared) {
        for (u32 i = threadIdx.x; i < cells; i += FACTOR_THREADS) out[i] = inverse[i];
    }
}

constexpr u32 ORTHOGONAL_THREADS = 512;  // host: most threads of a block of `features_orthogonal`

// Multiplies the features by the inverse, V = Z U^-1, and computes what the leverages |v|^2 / n of rows v leave of 1: a grid of blocks of
// `staged` rows by sets. A thread has four rows and four columns.
extern "C" __global__ void __launch_bounds__(ORTHOGONAL_THREADS) features_orthogonal(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    u64 at = a.first_set + blockIdx.y, rows = a.sets[at].rows, first = blockIdx.x * a.staged;
    if (first >= rows) return;
    u32 width = (u32)a.width, pitch = width + 1, cells = (u32)cells_of_factor(width), some = (u32)min(a.staged, rows - first);
    u32 of_rows = (u32)a.staged / 4, tiles = of_rows * width / 4;
    double* z = a.features + at * a.n * width + first;
    const double* inverse = a.inverses + at * cells;
    double* of_inverse = memory + a.staged * pitch;
    stage(z, a.n, some, width, memory, pitch);
    if (a.in_shared) {
        for (u32 i = threadIdx.x; i < cells; i += blockDim.x) of_inverse[i] = inverse[i];
        inverse = of_inverse;
    }
    __syncthreads();
    for (u32 tile = threadIdx.x; tile < tiles; tile += blockDim.x) {
        u32 one = tile % of_rows, c = tile / of_rows * 4;
        double own[4][4] = {};
        u32 row[4];
#pragma unroll
        for (u32 i = 0; i < 4; i++) row[i] = min(one + i * of_rows, some - 1) * pitch;
        for (u32 panel = 0; panel < c + 4; panel += WIDE) {
            const double* of = inverse + row_of_factor(width, panel) + c;
#pragma unroll 4
            for (u32 j = panel; j < min(panel + WIDE, c + 4); j++, of += width - panel) {
                double left[4], right[4];
#pragma unroll
                for (u32 i = 0; i < 4; i++) left[i] = memory[row[i] + j], right[i] = of[i];
#pragma unroll
                for (u32 i = 0; i < 4; i++) {
#pragma unroll
                    for (u32 k = 0; k < 4; k++) own[i][k] = fma(left[i], right[k], own[i][k]);
                }
            }
        }
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                if (one + i * of_rows < some) z[(c + k) * a.n + one + i * of_rows] = own[i][k];
            }
        }
    }
    __syncthreads();
    // The squares of a row: by column in its panel over all panels, then these.
    for (u32 i = threadIdx.x; i < some * WIDE; i += blockDim.x) {
        u32 r = i % some, lane = i / some;
        double sum = 0.0;
        for (u32 c = lane; c < width; c += WIDE) sum = fma(z[c * a.n + r], z[c * a.n + r], sum);
        memory[r * WIDE + lane] = sum;
    }
    __syncthreads();
    for (u32 r = threadIdx.x; r < some; r += blockDim.x) {
        double sum = 0.0;
        for (u32 lane = 0; lane < WIDE; lane++) sum += memory[r * WIDE + lane];
        a.left[at * a.n + first + r] = 1.0 - sum / (double)rows;
    }
}

// Computes the factor c of the statistic: the sum of (1 - h)^2 over that of 1 - h; a warp for each set. A lane sums up DEEP rows at a time.
extern "C" __global__ void features_share(const __grid_constant__ FeaturesArgs a) {
    for (u64 number : by_warp(a.count)) {
        u64 at = a.first_set + number, rows = a.sets[at].rows;
        const double* left = a.left + at * a.n;
        double sum = 0.0, squares = 0.0;
        for (u64 first = 0; first < rows; first += WARP * DEEP) {
            u64 from = first + lane_id() * DEEP;
            double some = 0.0, of_squares = 0.0;
            for (u64 r = from; r < min(rows, from + DEEP); r++) {
                some += left[r];
                of_squares += left[r] * left[r];
            }
            for (u32 lane = 0; lane < WARP; lane++) {
                if (first + lane * DEEP >= rows) break;
                sum += __shfl_sync(FULL, some, lane);
                squares += __shfl_sync(FULL, of_squares, lane);
            }
        }
        if (lane_id() == 0) a.shares[at] = sum > 0.0 ? squares / sum : 0.0;
    }
}
