// Variables given S: features, and what a regression on the features of S leaves of them.
#include "features/args.cuh"

constexpr u32 SIDE_THREADS = 128;   // host: threads of a block of `features_joint`, `features_solve` and `features_squares`
constexpr u32 CROSS_THREADS = 256;  // host: most threads of a block of `features_cross` and `features_subtract`
constexpr u32 CROSS_ROWS = 16;      // host: rows that a block of `features_cross` holds
constexpr u32 PER_SIDE = 4;             // host: columns or rows that a thread has on a side of its tile

// Writes the features of variables joined with S, scaled to mean 0 and mean square 1; a block for each side, and none for others.
extern "C" __global__ void __launch_bounds__(SIDE_THREADS) features_joint(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    double *sums = memory, *mean = sums + SIDE_THREADS, *by = mean + WIDE;
    u64 number = a.first_side + blockIdx.x;
    FeaturesSide side = a.of_sets[number];
    if (!side.joins) return;
    FeaturesSet set = a.sets[side.set];
    u64 rows = set.rows, q = a.sides;
    double* out = a.residuals + number * a.n * q;
    u32 c = threadIdx.x % WIDE;
    for (u64 r = threadIdx.x / WIDE; c < q && r < rows; r += SIDE_THREADS / WIDE) {
        u64 row = data_row(a, side.set, r);
        double sum = 0.0;
        bool added = false;
        // The members of S with the variable among them, in ascending order.
        for (u64 m = 0; m <= set.count; m++) {
            u64 next = m < set.count ? a.members[set.first_member + m] : NEVER;
            if (!added && side.variable < next) {
                const FeaturesColumn& of = a.columns[side.variable];
                sum = with_member(a, of, of.joint, WIDE, row, c, sum);
                added = true;
            }
            if (m == set.count) break;
            const FeaturesColumn& of = a.columns[next];
            sum = with_member(a, of, of.joint, WIDE, row, c, sum);
        }
        out[r * q + c] = wave(sum * set.joint_scale + a.phases[a.width + c]);
    }
    // Returns the sum of a column's values, less a number, or of their squares: by threads over DEEP rows each, then in their order.
    auto sum_up = [&](double less, bool of_squares) {
        double sum = 0.0;
        constexpr u64 PARTS = SIDE_THREADS / WIDE;
        for (u64 first = 0; first < rows; first += PARTS * DEEP) {
            __syncthreads();
            u64 from = first + threadIdx.x / WIDE * DEEP;
            double some = 0.0;
            for (u64 r = from; c < q && r < min(rows, from + DEEP); r++) {
                double value = out[r * q + c] - less;
                some += of_squares ? value * value : value;
            }
            sums[threadIdx.x] = some;
            __syncthreads();
            if (threadIdx.x < WIDE) {
                for (u64 part = 0; part < PARTS && first + part * DEEP < rows; part++) sum += sums[part * WIDE + c];
            }
        }
        return sum;
    };
    double sum = sum_up(0.0, false);
    if (threadIdx.x < WIDE) mean[c] = sum / (double)rows;
    __syncthreads();
    double less = mean[c];
    sum = sum_up(less, true);
    if (threadIdx.x < WIDE) {
        double square = sum / (double)rows;
        by[c] = square > 1e-20 ? 1.0 / sqrt(square) : 0.0;
    }
    __syncthreads();
    for (u64 r = threadIdx.x / WIDE; c < q && r < rows; r += SIDE_THREADS / WIDE) out[r * q + c] = (out[r * q + c] - mean[c]) * by[c];
}

// The columns of a group's sides, side by side.
struct Columns {
    const FeaturesArgs& a;
    FeaturesGroup group;
    u32 count, tiles;

    __device__ __forceinline__ Columns(const FeaturesArgs& a, u64 number)
        : a(a), group(a.groups[number]), count((u32)(group.count * a.sides)), tiles((u32)div_ceil(count, PER_SIDE)) {}

    // Returns the number of the side of a column.
    __device__ __forceinline__ u64 side(u32 c) const { return group.first + c / (u32)a.sides; }

    // Returns a feature before the regression, in a row of the set.
    __device__ __forceinline__ double feature(u64 r, u32 c) const {
        u64 at = side(c);
        u32 feature = c % (u32)a.sides;
        FeaturesSide side = a.of_sets[at];
        if (side.joins) return a.residuals[(at * a.n + r) * a.sides + feature];
        return a.side_features[a.columns[side.variable].sides + data_row(a, group.set, r) * WIDE + feature];
    }

    // Returns the coefficients of a column.
    __device__ __forceinline__ double* coefficients(u32 c) const {
        return a.coefficients + (side(c) * a.sides + c % (u32)a.sides) * a.width;
    }
};

// Computes the mean products of the features of sides with those of S; a block for each group. A thread has PER_SIDE features of S and as many
// columns, each apart by the number of tiles.
extern "C" __global__ void __launch_bounds__(CROSS_THREADS) features_cross(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    Columns columns(a, a.first_group + blockIdx.x);
    u64 rows = a.sets[columns.group.set].rows;
    u32 width = (u32)a.width, of_width = width / PER_SIDE, tiles = of_width * columns.tiles, pitch = columns.tiles * PER_SIDE;
    const double* z = a.features + columns.group.set * a.n * width;
    double *of_set = memory, *of_sides = memory + CROSS_ROWS * width;
    for (u32 first = 0; first < tiles; first += blockDim.x) {
        u32 tile = first + threadIdx.x, one = tile % of_width, other = tile / of_width;
        bool works = tile < tiles;
        double sums[PER_SIDE][PER_SIDE] = {};
        for (u64 chunk = 0; chunk < rows; chunk += DEEP) {
            double own[PER_SIDE][PER_SIDE] = {};
            u64 end = min(rows, chunk + DEEP);
            for (u64 from = chunk; from < end; from += CROSS_ROWS) {
                u32 some = (u32)min((u64)CROSS_ROWS, end - from);
                __syncthreads();
                for (u32 i = threadIdx.x; i < some * width; i += blockDim.x) of_set[i] = z[from * width + i];
                for (u32 i = threadIdx.x; i < some * pitch; i += blockDim.x) {
                    u32 r = i / pitch, c = i % pitch;
                    of_sides[i] = c < columns.count ? columns.feature(from + r, c) : 0.0;
                }
                __syncthreads();
                if (!works) continue;
#pragma unroll 2
                for (u32 r = 0; r < some; r++) {
                    double left[PER_SIDE], right[PER_SIDE];
#pragma unroll
                    for (u32 k = 0; k < PER_SIDE; k++) {
                        left[k] = of_set[r * width + one + k * of_width];
                        right[k] = of_sides[r * pitch + other + k * columns.tiles];
                    }
#pragma unroll
                    for (u32 i = 0; i < PER_SIDE; i++) {
#pragma unroll
                        for (u32 j = 0; j < PER_SIDE; j++) own[i][j] = fma(right[j], left[i], own[i][j]);
                    }
                }
            }
#pragma unroll
            for (u32 i = 0; i < PER_SIDE; i++) {
#pragma unroll
                for (u32 j = 0; j < PER_SIDE; j++) sums[i][j] += own[i][j];
            }
        }
        if (!works) continue;
#pragma unroll
        for (u32 j = 0; j < PER_SIDE; j++) {
            u32 c = other + j * columns.tiles;
            if (c >= columns.count) continue;
            double* to = columns.coefficients(c);
#pragma unroll
            for (u32 i = 0; i < PER_SIDE; i++) to[one + i * of_width] = sums[i][j] / (double)rows;
        }
    }
}

// Replaces the mean products b by the coefficients of the regression, U'w = b and Uv = w; a block for each group. Eight elements are solved at a
// time, a thread for each column; then they are subtracted from all others.
extern "C" __global__ void __launch_bounds__(SIDE_THREADS) features_solve(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    Columns columns(a, a.first_group + blockIdx.x);
    u32 width = (u32)a.width, pitch = width + 1;
    const double* u = a.factors + columns.group.set * cells_of_factor(width);
    for (u32 c = threadIdx.x / WARP; c < columns.count; c += SIDE_THREADS / WARP) {
        const double* from = columns.coefficients(c);
        for (u32 i = lane_id(); i < width; i += WARP) memory[c * pitch + i] = from[i];
    }
    __syncthreads();
    double own[WIDE];
    for (u32 panel = 0; panel < width; panel += WIDE) {
        u32 step = width - panel;
        const double* rows = u + row_of_factor(width, panel);
        for (u32 c = threadIdx.x; c < columns.count; c += SIDE_THREADS) {
            double* by = memory + c * pitch + panel;
            const double* row = rows + panel;
#pragma unroll
            for (u32 k = 0; k < WIDE; k++) own[k] = by[k];
#pragma unroll
            for (u32 k = 0; k < WIDE; k++, row += step) {
                by[k] = own[k] /= row[k];
#pragma unroll
                for (u32 l = k + 1; l < WIDE; l++) own[l] = fma(-row[l], own[k], own[l]);
            }
        }
        __syncthreads();
        for (u32 i = panel + WIDE + threadIdx.x; i < width; i += SIDE_THREADS) {
#pragma unroll
            for (u32 k = 0; k < WIDE; k++) own[k] = rows[k * step + i];
            for (u32 c = 0; c < columns.count; c++) {
                double* by = memory + c * pitch;
                double value = by[i];
#pragma unroll
                for (u32 k = 0; k < WIDE; k++) value = fma(-own[k], by[panel + k], value);
                by[i] = value;
            }
        }
        __syncthreads();
    }
    for (u32 panel = width; panel > 0;) {
        panel -= WIDE;
        u32 step = width - panel;
        for (u32 c = threadIdx.x; c < columns.count; c += SIDE_THREADS) {
            double* by = memory + c * pitch + panel;
            const double* rows = u + row_of_factor(width, panel) + panel;
#pragma unroll
            for (u32 k = 0; k < WIDE; k++) own[k] = by[k];
#pragma unroll
            for (int k = WIDE - 1; k >= 0; k--) {
#pragma unroll
                for (int j = WIDE - 1; j > k; j--) own[k] = fma(-rows[k * step + j], own[j], own[k]);
                by[k] = own[k] /= rows[k * step + k];
            }
        }
        __syncthreads();
        for (u32 i = threadIdx.x; i < panel; i += SIDE_THREADS) {
            const double* row = u + row_of_factor(width, i) + panel;
#pragma unroll
            for (u32 k = 0; k < WIDE; k++) own[k] = row[k];
            for (u32 c = 0; c < columns.count; c++) {
                double* by = memory + c * pitch;
                double value = by[i];
#pragma unroll
                for (int k = WIDE - 1; k >= 0; k--) value = fma(-own[k], by[panel + k], value);
                by[i] = value;
            }
        }
        __syncthreads();
    }
    for (u32 c = threadIdx.x / WARP; c < columns.count; c += SIDE_THREADS / WARP) {
        double* to = columns.coefficients(c);
        for (u32 i = lane_id(); i < width; i += WARP) to[i] = memory[c * pitch + i];
    }
}

// Writes the residuals of sides: a grid of blocks of `staged` rows by groups. A thread has PER_SIDE rows and PER_SIDE columns.
extern "C" __global__ void __launch_bounds__(CROSS_THREADS) features_subtract(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    Columns columns(a, a.first_group + blockIdx.y);
    u64 rows = a.sets[columns.group.set].rows, first = blockIdx.x * a.staged;
    if (first >= rows) return;
    u32 width = (u32)a.width, pitch = width + 1, of_rows = (u32)a.staged / PER_SIDE, tiles = of_rows * columns.tiles;
    u32 some = (u32)min(a.staged, rows - first);
    const double* z = a.features + (columns.group.set * a.n + first) * width;
    double *of_set = memory, *by = memory + a.staged * pitch;
    for (u32 r = threadIdx.x / WARP; r < some; r += blockDim.x / WARP) {
        for (u32 c = lane_id(); c < width; c += WARP) of_set[r * pitch + c] = z[r * width + c];
    }
    for (u32 c = threadIdx.x / WARP; c < columns.count; c += blockDim.x / WARP) {
        const double* from = columns.coefficients(c);
        for (u32 i = lane_id(); i < width; i += WARP) by[c * width + i] = from[i];
    }
    __syncthreads();
    for (u32 tile = threadIdx.x; tile < tiles; tile += blockDim.x) {
        u32 one = tile % of_rows, other = tile / of_rows;
        double left[PER_SIDE][PER_SIDE];
        // Rows and columns that are not there repeat the last ones.
        u32 row[PER_SIDE], column[PER_SIDE];
#pragma unroll
        for (u32 k = 0; k < PER_SIDE; k++) {
            row[k] = min(one + k * of_rows, some - 1) * pitch;
            column[k] = min(other + k * columns.tiles, columns.count - 1) * width;
        }
#pragma unroll
        for (u32 i = 0; i < PER_SIDE; i++) {
#pragma unroll
            for (u32 j = 0; j < PER_SIDE; j++) left[i][j] = columns.feature(first + row[i] / pitch, column[j] / width);
        }
#pragma unroll 2
        for (u32 c = 0; c < width; c++) {
            double value[PER_SIDE], of[PER_SIDE];
#pragma unroll
            for (u32 k = 0; k < PER_SIDE; k++) value[k] = of_set[row[k] + c], of[k] = by[column[k] + c];
#pragma unroll
            for (u32 i = 0; i < PER_SIDE; i++) {
#pragma unroll
                for (u32 j = 0; j < PER_SIDE; j++) left[i][j] = fma(-value[i], of[j], left[i][j]);
            }
        }
#pragma unroll
        for (u32 i = 0; i < PER_SIDE; i++) {
#pragma unroll
            for (u32 j = 0; j < PER_SIDE; j++) {
                u32 r = one + i * of_rows, c = other + j * columns.tiles;
                if (r >= some || c >= columns.count) continue;
                a.residuals[(columns.side(c) * a.n + first + r) * a.sides + c % (u32)a.sides] = left[i][j];
            }
        }
    }
}

// Computes the mean squares of residuals, a block for each side: by column over DEEP rows, then the columns, then the rows.
extern "C" __global__ void __launch_bounds__(SIDE_THREADS) features_squares(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    u64 number = a.first_side + blockIdx.x, rows = a.sets[a.of_sets[number].set].rows, q = a.sides;
    const double* of = a.residuals + number * a.n * q;
    u32 c = threadIdx.x % WIDE;
    constexpr u64 PARTS = SIDE_THREADS / WIDE;
    double sum = 0.0;
    for (u64 first = 0; first < rows; first += PARTS * DEEP) {
        u64 begin = first + threadIdx.x / WIDE * DEEP;
        double square = 0.0;
        for (u64 r = begin; c < q && r < min(rows, begin + DEEP); r++) square += of[r * q + c] * of[r * q + c];
        memory[threadIdx.x] = square;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (u64 part = 0; part < PARTS && first + part * DEEP < rows; part++) {
                for (u32 j = 0; j < WIDE; j++) sum += memory[part * WIDE + j];
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) a.squares[number] = sum / (double)rows;
}
