// Variables given S: features, and what a regression on the features of S leaves of them.
#include "features/args.cuh"

constexpr u32 SIDE_THREADS = 128;   // host: threads of a block of `features_joint`, `features_subtract` and `features_squares`
constexpr u32 CROSS_THREADS = 320;  // host: most threads of a block of `features_cross`
constexpr u32 CROSS_ROWS = WARP;      // rows that a block of `features_cross` holds
constexpr u32 MOST_COLUMNS = 40;    // host: most columns of a group
constexpr u32 OF_PART = 20;         // host: columns of a group that a block of `features_subtract` has
constexpr u32 PER_SIDE = 4;             // host: columns or rows that a thread has on a side of its tile

// Writes the features of variables joined with S, scaled to mean 0 and mean square 1; a block for each side. Blocks of other sides do nothing.
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
        out[c * a.n + r] = wave(sum * set.joint_scale + a.phases[a.width + c]);
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
                double value = out[c * a.n + r] - less;
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
    for (u64 r = threadIdx.x / WIDE; c < q && r < rows; r += SIDE_THREADS / WIDE) {
        out[c * a.n + r] = (out[c * a.n + r] - mean[c]) * by[c];
    }
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
        if (side.joins) return a.residuals[(at * a.sides + feature) * a.n + r];
        return a.side_features[a.columns[side.variable].sides + feature * a.n + data_row(a, group.set, r)];
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
    u32 width = (u32)a.width, of_width = width / PER_SIDE, tiles = of_width * columns.tiles;
    u32 of_row = width + 1, pitch = columns.tiles * PER_SIDE + 1;
    const double* z = a.features + columns.group.set * a.n * width;
    double *of_set = memory, *of_sides = memory + CROSS_ROWS * of_row;
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
                stage(z + from, a.n, some, width, of_set, of_row);
                for (u32 c = threadIdx.x / WARP; c < columns.count; c += blockDim.x / WARP) {
                    if (lane_id() < some) of_sides[lane_id() * pitch + c] = columns.feature(from + lane_id(), c);
                }
                __syncthreads();
                if (!works) continue;
#pragma unroll 2
                for (u32 r = 0; r < some; r++) {
                    double left[PER_SIDE], right[PER_SIDE];
#pragma unroll
                    for (u32 k = 0; k < PER_SIDE; k++) {
                        left[k] = of_set[r * of_row + one + k * of_width];
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

// Writes the residuals of sides: a grid of blocks of rows by groups and parts of their columns. A thread has a row with the columns of a part.
extern "C" __global__ void __launch_bounds__(SIDE_THREADS) features_subtract(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    constexpr u32 PARTS = MOST_COLUMNS / OF_PART;
    Columns columns(a, a.first_group + blockIdx.y / PARTS);
    u64 rows = a.sets[columns.group.set].rows, r = (u64)blockIdx.x * SIDE_THREADS + threadIdx.x;
    u32 width = (u32)a.width, begin = blockIdx.y % PARTS * OF_PART;
    if ((u64)blockIdx.x * SIDE_THREADS >= rows || begin >= columns.count) return;
    u32 count = min(columns.count - begin, OF_PART);
    for (u32 c = threadIdx.x / WARP; c < OF_PART; c += SIDE_THREADS / WARP) {
        const double* from = columns.coefficients(begin + min(c, count - 1));
        for (u32 i = lane_id(); i < width; i += WARP) memory[i * OF_PART + c] = from[i];
    }
    __syncthreads();
    if (r >= rows) return;
    double left[OF_PART];
#pragma unroll
    for (u32 c = 0; c < OF_PART; c++) left[c] = c < count ? columns.feature(r, begin + c) : 0.0;
    const double* v = a.features + columns.group.set * a.n * width + r;
#pragma unroll 4
    for (u32 i = 0; i < width; i++) {
        double value = -v[i * a.n];
        const double* by = memory + i * OF_PART;
#pragma unroll
        for (u32 first = 0; first < OF_PART; first += PER_SIDE) {
            if (first >= count) break;
#pragma unroll
            for (u32 k = first; k < first + PER_SIDE; k++) left[k] = fma(value, by[k], left[k]);
        }
    }
#pragma unroll
    for (u32 c = 0; c < OF_PART; c++) {
        if (c < count) a.residuals[(columns.side(begin + c) * a.sides + (begin + c) % (u32)a.sides) * a.n + r] = left[c];
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
        for (u64 r = begin; c < q && r < min(rows, begin + DEEP); r++) square += of[c * a.n + r] * of[c * a.n + r];
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
