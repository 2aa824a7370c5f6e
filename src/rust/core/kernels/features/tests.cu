// The statistics of pairs, and the traces that their p-values come from.
#include "features/args.cuh"

constexpr u32 TEST_WARPS = 4;     // host: most warps of a block of `features_tests`
constexpr u32 TEST_ROWS = WARP;   // rows whose products a warp holds
constexpr u32 CELL = 4;           // products that a lane has on a side of its tile

// Returns the numbers that a warp holds for of_x and of_y features: the products of some rows, padded; the rows; and the matrix M.
__host__ __device__ constexpr u64 doubles_of_test(u64 of_x, u64 of_y) { return 32 * (div_ceil(of_x * of_y, 4) * 4 + 2) + 32 * 17 + of_x * of_y * (of_x * of_y + 1); }

// A warp for each test. All tests of a launch have at most `sides` features on each side.
extern "C" __global__ void __launch_bounds__(TEST_WARPS * WARP, 3) features_tests(const __grid_constant__ FeaturesArgs a) {
    extern __shared__ double memory[];
    u32 warp = threadIdx.x / WARP, lane = lane_id();
    double* products = memory + warp * doubles_of_test(a.sides, a.sides);
    for (u64 at : by_warp(a.count)) {
        u64 number = a.first_test + at;
        FeaturesTest test = a.tests[number];
        u64 set = a.of_sets[test.x].set, rows = a.sets[set].rows;
        u32 of_x = (u32)test.of_x, of_y = (u32)test.of_y, columns = of_x * of_y;
        u32 groups = (u32)div_ceil(columns, CELL), tiles = groups * (groups + 1) / 2, pitch = groups * CELL + 2;
        double* sides = products + TEST_ROWS * pitch;
        double* m = sides + TEST_ROWS * (2 * WIDE + 1);
        u32 odd = columns | 1;
        const double *x = a.residuals + test.x * a.n * a.sides, *y = a.residuals + test.y * a.n * a.sides;
        double* answer = a.answers + number * ANSWERS;
        double n = (double)rows;
        // The mean products of x and y, in the first lanes; more than a warp has take several rounds.
        double statistic = 0.0, means = 0.0, more_means = 0.0;
        u32 rounds = max((u32)div_ceil(tiles, WARP), (u32)div_ceil(columns, WARP));
        for (u32 round = 0; round < rounds; round++) {
            u32 tile = round * WARP + lane, one = 0;
            bool works = tile < tiles;
            while (works && tile >= groups - one) tile -= groups - one, one++;
            u32 other = one + tile, cell = round * WARP + lane;
            bool has_cell = cell < columns;
            double mean = 0.0;
            for (u64 chunk = 0; chunk < rows; chunk += DEEP) {
                double own[CELL][CELL] = {}, some = 0.0;
                u64 end = min(rows, chunk + DEEP);
                for (u64 from = chunk; from < end; from += TEST_ROWS) {
                    u32 count = (u32)min((u64)TEST_ROWS, end - from);
                    __syncwarp();
                    if (lane < count) {
                        double* row = products + lane * pitch;
                        double* side = sides + lane * (2 * WIDE + 1);
                        for (u32 i = 0; i < of_x; i++) side[i] = x[i * a.n + from + lane];
                        for (u32 j = 0; j < of_y; j++) side[WIDE + j] = y[j * a.n + from + lane];
                        for (u32 i = 0; i < of_x; i++) {
                            for (u32 j = 0; j < of_y; j++) row[i * of_y + j] = side[i] * side[WIDE + j];
                        }
                        for (u32 c = columns; c < groups * CELL; c++) row[c] = 0.0;
                    }
                    __syncwarp();
                    if (works) {
#pragma unroll 2
                        for (u32 r = 0; r < count; r++) {
                            const double* row = products + r * pitch;
                            double left[CELL], right[CELL];
#pragma unroll
                            for (u32 k = 0; k < CELL; k++) left[k] = row[one + k * groups], right[k] = row[other + k * groups];
#pragma unroll
                            for (u32 i = 0; i < CELL; i++) {
#pragma unroll
                                for (u32 j = 0; j < CELL; j++) own[i][j] = fma(left[i], right[j], own[i][j]);
                            }
                        }
                    }
                    if (has_cell) {
                        for (u32 r = 0; r < count; r++) {
                            const double* side = sides + r * (2 * WIDE + 1);
                            some = fma(side[cell / of_y], side[WIDE + cell % of_y], some);
                        }
                    }
                }
                mean += some;
                if (works) {
#pragma unroll
                    for (u32 i = 0; i < CELL; i++) {
#pragma unroll
                        for (u32 j = 0; j < CELL; j++) {
                            u32 c = one + i * groups, d = other + j * groups;
                            if (c >= columns || d >= columns || (one == other && i > j)) continue;
                            double sum = (chunk ? m[min(c, d) * odd + max(c, d)] : 0.0) + own[i][j];
                            m[min(c, d) * odd + max(c, d)] = sum;
                        }
                    }
                }
            }
            if (round == 0) means = mean / n;
            if (round == 1) more_means = mean / n;
        }
        __syncwarp();
        // M, whole.
        for (u32 c = lane; c < columns; c += WARP) {
            for (u32 d = c; d < columns; d++) m[c * odd + d] /= n;
        }
        __syncwarp();
        for (u32 c = lane; c < columns; c += WARP) {
            for (u32 d = 0; d < c; d++) m[c * odd + d] = m[d * odd + c];
        }
        __syncwarp();
        // The sum of the squares of the means: of each feature of x, then of all.
        for (u32 i = 0; i < of_x; i++) {
            double sum = 0.0;
            for (u32 j = 0; j < of_y; j++) {
                u32 cell = i * of_y + j;
                double mean = __shfl_sync(FULL, cell < WARP ? means : more_means, cell % WARP);
                sum += mean * mean;
            }
            statistic += sum;
        }
        // Row by row: what each adds to the traces; then their sums, in the rows' order.
        double traces[3] = {0.0, 0.0, 0.0};
        for (u32 first = 0; first < columns; first += WARP) {
            u32 c = first + lane;
            double square = 0.0, cube = 0.0, diagonal = 0.0;
            if (c < columns) {
                const double* row = m + c * odd;
                diagonal = row[c];
                for (u32 d = 0; d < columns; d++) {
                    square += row[d] * row[d];
                    double product = 0.0;
                    for (u32 k = 0; k < columns; k++) product += row[k] * m[k * odd + d];
                    cube += row[d] * product;
                }
            }
            for (u32 k = 0; k < min((u32)WARP, columns - first); k++) {
                traces[0] += __shfl_sync(FULL, diagonal, k);
                traces[1] += __shfl_sync(FULL, square, k);
                traces[2] += __shfl_sync(FULL, cube, k);
            }
        }
        if (lane == 0) {
            bool is_nothing = a.squares[test.x] < a.nothing || a.squares[test.y] < a.nothing;
            answer[0] = n * a.shares[set] * statistic;
            for (u32 k = 0; k < 3; k++) answer[1 + k] = is_nothing ? 0.0 : traces[k];
        }
        __syncwarp();
    }
}
