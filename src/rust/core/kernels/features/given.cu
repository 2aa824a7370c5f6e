// What the tests given a set S share: its features Z, the factor of their mean products, and the factor c of the statistic.
#include "features/args.cuh"

constexpr u32 GIVEN_THREADS = 128;  // host: threads of a block of `features_given`, `features_products` and `features_left`

// Writes the features of S: a grid of blocks of rows by sets.
extern "C" __global__ void __launch_bounds__(GIVEN_THREADS) features_given(const __grid_constant__ FeaturesArgs a) {
    u64 at = a.first_set + blockIdx.y;
    FeaturesSet set = a.sets[at];
    u64 given = set.count ? a.given : 0;
    double* out = a.features + at * a.n * a.width;
    for (u64 r = blockIdx.x; r < set.rows; r += gridDim.x) {
        u64 row = data_row(a, at, r);
        for (u64 c = threadIdx.x; c < a.width; c += GIVEN_THREADS) {
            double value = c == given ? 1.0 : 0.0;
            if (c < given) {
                double sum = 0.0;
                for (u64 m = 0; m < set.count; m++) {
                    const FeaturesColumn& of = a.columns[a.members[set.first_member + m]];
                    sum = with_member(a, of, of.weights, a.width, row, c, sum);
                }
                value = wave(sum * set.scale + a.phases[c]);
            }
            out[r * a.width + c] = value;
        }
    }
}

// Sums up the products of the features of a set; a block has a set. A thread has the products of two groups of eight columns, which are
// width / 8 apart: so threads side by side read numbers side by side.
extern "C" __global__ void __launch_bounds__(GIVEN_THREADS) features_products(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    u64 at = a.first_set + blockIdx.x, rows = a.sets[at].rows;
    const double* z = a.features + at * a.n * a.width;
    double* sums = a.factors + at * cells_of_factor(a.width);
    u32 width = (u32)a.width, groups = width / WIDE, tiles = groups * (groups + 1) / 2;
    for (u32 first = 0; first < tiles; first += GIVEN_THREADS) {
        u32 number = first + threadIdx.x, one = 0;
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
                for (u32 i = threadIdx.x; i < some * width; i += GIVEN_THREADS) memory[i] = z[from * width + i];
                __syncthreads();
                if (!works) continue;
#pragma unroll 1
                for (u32 r = 0; r < some; r++) {
                    const double* row = memory + r * width;
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
            // Opaque to the compiler, which would keep the addresses of all sums in registers from chunk to chunk.
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
}

constexpr u32 FACTOR_THREADS = 256;  // host: threads of a block of `features_factor`

// Turns the products of a set into the factor U of their means with a ridge, A = U'U; a block has a set.
extern "C" __global__ void __launch_bounds__(FACTOR_THREADS) features_factor(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    u64 at = a.first_set + blockIdx.x;
    u32 width = (u32)a.width, cells = (u32)cells_of_factor(width);
    double* own = a.factors + at * cells;
    double* u = a.in_shared ? memory : own;
    double n = (double)a.sets[at].rows;
    auto cell = [&](u32 k, u32 c) -> double& { return u[row_of_factor(width, k) + c]; };
    for (u32 k = threadIdx.x / WARP; k < width; k += FACTOR_THREADS / WARP) {
        u32 begin = row_of_factor(width, k);
        for (u32 c = k + lane_id(); c < width; c += WARP) {
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
        for (u32 i = k + 1 + threadIdx.x / WARP; i < width; i += FACTOR_THREADS / WARP) {
            double by = cell(k, i);
            for (u32 c = i + lane_id(); c < width; c += WARP) cell(i, c) = fma(-by, cell(k, c), cell(i, c));
        }
        __syncthreads();
    }
    if (!a.in_shared) return;
    for (u32 k = threadIdx.x / WARP; k < width; k += FACTOR_THREADS / WARP) {
        u32 begin = row_of_factor(width, k);
        for (u32 c = k + lane_id(); c < width; c += WARP) own[begin + c] = u[begin + c];
    }
}

// Computes 1 - h, where h is the leverage of a row, z'A^-1 z / n: a grid of blocks of rows by sets, a row for each thread. U'w = z is solved in
// shared memory, eight elements at a time.
extern "C" __global__ void __launch_bounds__(GIVEN_THREADS) features_left(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    u64 at = a.first_set + blockIdx.y, rows = a.sets[at].rows;
    u64 r = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    u32 width = (u32)a.width;
    const double* z = a.features + (at * a.n + r) * width;
    const double* u = a.factors + at * cells_of_factor(width);
    double square = 0.0;
    for (u32 first = 0; first < width; first += WIDE) {
        double own[WIDE];
#pragma unroll
        for (u32 k = 0; k < WIDE; k++) own[k] = z[first + k];
        for (u32 panel = 0; panel < first; panel += WIDE) {
            const double* row = u + row_of_factor(width, panel) + first;
#pragma unroll
            for (u32 j = 0; j < WIDE; j++, row += width - panel) {
                double by = memory[(panel + j) * blockDim.x + threadIdx.x];
#pragma unroll
                for (u32 k = 0; k < WIDE; k++) own[k] = fma(-row[k], by, own[k]);
            }
        }
        const double* row = u + row_of_factor(width, first) + first;
#pragma unroll
        for (u32 k = 0; k < WIDE; k++, row += width - first) {
            own[k] /= row[k];
#pragma unroll
            for (u32 l = k + 1; l < WIDE; l++) own[l] = fma(-row[l], own[k], own[l]);
            square = fma(own[k], own[k], square);
            memory[(first + k) * blockDim.x + threadIdx.x] = own[k];
        }
    }
    a.left[at * a.n + r] = 1.0 - square / (double)rows;
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
