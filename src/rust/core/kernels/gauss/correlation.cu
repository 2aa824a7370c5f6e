// The correlation matrix of a data matrix: centre the columns, take the inner products of all pairs, divide by the norms. A block computes
// a tile of 64 x 64 inner products. It keeps the current rows of its columns in shared memory. Schmidt and Huegle 2020, "Towards a
// GPU-accelerated causal inference", do so, too. Sums are added up in portions, so that rounding grows with a portion's length, not with
// the column's.
#include "gpu/threads.cuh"

// The kernels' arguments, `CorrelationArgs` in Rust.
struct Correlation {
    u64 n;            // rows
    u64 p;            // columns
    double* x;        // n x p, column by column; becomes the centred and scaled columns
    double* c;        // p x p
    double* squares;  // p sums of squares
    u64 first_tile;   // first tile of this launch: as `tile_at` numbers them, in a panel column by column, in `cor_blocks` a block
    // Parts of the matrix: a panel of rows, or blocks along the diagonal.
    const double* left;   // n x rows, centred and scaled
    u64 first_row;        // number of the first column of `left` among all
    u64 rows;
    u64 first_column;     // number of the first column of x among all
    u64 columns;          // columns of x
    u64 pitch;            // numbers in a row of c
    u64 end_tile;         // end of the tiles of this launch in a panel
    const u32* tiles;     // how many tiles of a panel are computed, then their numbers, in any order; null: all
    u64 width;            // columns of a block
    const u32* ids;       // by block: which columns of x it has; in `cor_pairs`: both columns of each pair
    const u32* vertices;  // by block: the numbers of these columns among all; in `cor_pairs` by column of x; null: the same numbers
    const u64* starts;    // by block, in `cor_spread`: where its numbers start in x
};

constexpr int TILE = 64;      // host: columns of a tile
constexpr int DEPTH = 16;     // rows in shared memory at a time
constexpr int EACH = 4;       // a thread makes EACH x EACH products
constexpr int SIDE = TILE / EACH;
constexpr int PORTION = 128;  // rows that are added up before they join the sum

constexpr u32 CORRELATION_THREADS = SIDE * SIDE;         // host: threads of a block of these kernels
constexpr u64 PRODUCT_BYTES = 2 * TILE * (DEPTH + 4) * 8;    // host: bytes of shared memory of a block of `cor_product`

template <typename Join>
__device__ double of_block(double value, double* shared, Join join) {
    value = warp_join(value, join);
    __syncthreads();
    if (threadIdx.x % WARP == 0) shared[threadIdx.x / WARP] = value;
    __syncthreads();
    value = shared[0];
    for (u32 warp = 1; warp < blockDim.x / WARP; warp++) value = join(value, shared[warp]);
    return value;
}

// Centres and scales the columns, a block each. v becomes (v - mean) times a power of two that brings the largest |v - mean| to between 1/2
// and 1, so that no square overflows or underflows. The rounding error of the mean is subtracted separately: added to a large mean, it
// would be lost.
extern "C" __global__ void cor_centre(const Correlation a) {
    extern __shared__ double shared[];
    auto plus = [](double s, double t) { return s + t; };
    for (u64 column = blockIdx.x; column < a.p; column += gridDim.x) {
        double* x = a.x + column * a.n;
        double sum = 0.0;
        for (u64 k = threadIdx.x; k < a.n; k += blockDim.x) sum += x[k];
        double mean = of_block(sum, shared, plus) / (double)a.n;
        sum = 0.0;
        for (u64 k = threadIdx.x; k < a.n; k += blockDim.x) sum += x[k] - mean;
        double rest = of_block(sum, shared, plus) / (double)a.n;
        double largest = 0.0;
        for (u64 k = threadIdx.x; k < a.n; k += blockDim.x) largest = fmax(largest, fabs(x[k] - mean - rest));
        largest = of_block(largest, shared, [](double s, double t) { return fmax(s, t); });
        int exponent = 0;
        frexp(largest, &exponent);
        for (u64 k = threadIdx.x; k < a.n; k += blockDim.x) x[k] = ldexp(x[k] - mean - rest, -exponent);
        __syncthreads();
    }
}

// Finds row and column of tile t. Tiles on and above the diagonal are numbered column by column: tile t is row t - j (j + 1) / 2 of column
// j.
__device__ void tile_at(u64 t, u64* row, u64* column) {
    u64 j = (u64)((sqrt(8.0 * (double)t + 1.0) - 1.0) / 2.0);
    while (j * (j + 1) / 2 > t) j--;
    while ((j + 1) * (j + 2) / 2 <= t) j++;
    *row = t - j * (j + 1) / 2;
    *column = j;
}

// A thread's place in a tile: it makes the products of the columns `left(i)` and `right(j)`.
//
// From sm_80 on, tensor cores multiply tiles of 8 x 8 doubles, at twice the rate of other double precision; of 8 warps, each takes 32 columns
// on the left and 16 on the right. Elsewhere a thread takes every 16th column.
//
// PITCH: doubles of a column in shared memory. With these, 16 lanes read from 16 banks.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
constexpr int PITCH = DEPTH + 4;

struct Place {
    u32 across, down;
    __device__ u32 left(u32 i) const { return down + 8 * i; }
    __device__ u32 right(u32 j) const { return across + 8 * (j / 2) + j % 2; }
};

__device__ __forceinline__ Place place() {
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    return {warp % 4 * 16 + lane % 4 * 2, warp / 4 * 32 + lane / 4};
}

// Adds the products of the rows in shared memory. In a tile of 8 x 8, a lane has two neighbouring products. As factors it gives row
// lane % 4 of the left and of the right column lane / 4.
__device__ __forceinline__ void add_products(const double* left, const double* right, Place, double (&sum)[EACH][EACH]) {
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    left += (warp / 4 * 32 + lane / 4) * PITCH + lane % 4;
    right += (warp % 4 * 16 + lane / 4) * PITCH + lane % 4;
    for (int k = 0; k < DEPTH; k += 4) {
        double u[EACH], v[EACH / 2];
        for (int i = 0; i < EACH; i++) u[i] = left[8 * i * PITCH + k];
        for (int j = 0; j < EACH / 2; j++) v[j] = right[8 * j * PITCH + k];
        for (int i = 0; i < EACH; i++) {
            for (int j = 0; j < EACH / 2; j++) {
                asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                    : "+d"(sum[i][2 * j]), "+d"(sum[i][2 * j + 1])
                    : "d"(u[i]), "d"(v[j]));
            }
        }
    }
}
#else
constexpr int PITCH = DEPTH + 1;

struct Place {
    u32 across, down;
    __device__ u32 left(u32 i) const { return down + i * SIDE; }
    __device__ u32 right(u32 j) const { return across + j * SIDE; }
};

// A lane's neighbours to one side read the same left columns, those to the other side the same right columns. So a warp takes one pass over
// shared memory for each. 16 doubles side by side would take two passes, and hold up the multiplications.
__device__ __forceinline__ Place place() {
    static_assert(SIDE == 16);
    const u32 t = threadIdx.x;
    return {(t & 1) | (t >> 1 & 6) | (t >> 3 & 8), (t >> 1 & 1) | (t >> 3 & 6) | (t >> 4 & 8)};
}

// Adds the products of the rows in shared memory.
__device__ __forceinline__ void add_products(const double* left, const double* right, Place at, double (&sum)[EACH][EACH]) {
    for (int k = 0; k < DEPTH; k++) {
        double u[EACH], v[EACH];
        for (int i = 0; i < EACH; i++) u[i] = left[at.left(i) * PITCH + k];
        for (int j = 0; j < EACH; j++) v[j] = right[at.right(j) * PITCH + k];
        for (int i = 0; i < EACH; i++)
            for (int j = 0; j < EACH; j++) sum[i][j] = fma(u[i], v[j], sum[i][j]);
    }
}
#endif

// Computes the inner products of a block's 64 columns on the left with 64 on the right, of n rows. `left_of(v, k)` is row k of the v-th
// column, 0 if there is none.
template <typename Left, typename Right>
__device__ __forceinline__ Place products(u64 n, Left left_of, Right right_of, double (&sum)[EACH][EACH]) {
    extern __shared__ double memory[];
    double* left = memory;
    double* right = memory + PRODUCT_BYTES / 2 / sizeof(double);
    const Place at = place();
    double portion[EACH][EACH] = {};
    for (u64 row = 0; row < n; row += DEPTH) {
        u32 k = threadIdx.x % DEPTH;
        for (u32 v = threadIdx.x / DEPTH; v < TILE; v += SIDE * SIDE / DEPTH) {
            bool inside = row + k < n;
            left[v * PITCH + k] = inside ? left_of(v, row + k) : 0.0;
            right[v * PITCH + k] = inside ? right_of(v, row + k) : 0.0;
        }
        __syncthreads();
        add_products(left, right, at, portion);
        __syncthreads();
        if ((row + DEPTH) % PORTION == 0 || row + DEPTH >= n) {
            for (int i = 0; i < EACH; i++) {
                for (int j = 0; j < EACH; j++) {
                    sum[i][j] += portion[i][j];
                    portion[i][j] = 0.0;
                }
            }
        }
    }
    return at;
}

// Returns the correlation of two columns x and y. Columns that are equal up to a sign or a power of two have one sum of squares s. As the
// root of s * s is s, they give exactly 1 or -1. Others are clamped, as rounding may take them past that. As in R, NaN stays NaN, and the
// diagonal is 1 whatever the column.
__device__ __forceinline__ double ratio(u64 x, u64 y, double product, double square, double other) {
    double r = product / sqrt(square * other);
    return x == y ? 1.0 : r > 1.0 ? 1.0 : r < -1.0 ? -1.0 : r;
}

// Turns c into the inner products, on both sides of the diagonal; a block takes a tile.
extern "C" __global__ void __launch_bounds__(CORRELATION_THREADS) cor_product(const Correlation a) {
    u64 row, column;
    tile_at(a.first_tile + blockIdx.x, &row, &column);
    row *= TILE;
    column *= TILE;
    double sum[EACH][EACH] = {};
    auto of = [&](u64 first) { return [&a, first](u32 v, u64 k) { return first + v < a.p ? a.x[(first + v) * a.n + k] : 0.0; }; };
    const Place at = products(a.n, of(row), of(column), sum);
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            u64 x = row + at.left(i), y = column + at.right(j);
            if (x < a.p && y < a.p) {
                a.c[x * a.p + y] = sum[i][j];
                a.c[y * a.p + x] = sum[i][j];
            }
        }
    }
}

extern "C" __global__ void cor_squares(const Correlation a) {
    for (u64 x : by_thread(a.p)) a.squares[x] = a.c[x * a.p + x];
}

// Turns c into the correlations.
extern "C" __global__ void cor_finish(const Correlation a) {
    for (u64 at : by_thread(a.p * a.p)) {
        u64 x = at / a.p, y = at % a.p;
        a.c[at] = ratio(x, y, a.c[at], a.squares[x], a.squares[y]);
    }
}

// Computes the sums of squares of the columns of x, which start at column `first_column` of the data. A block takes a tile of the diagonal.
extern "C" __global__ void __launch_bounds__(CORRELATION_THREADS) cor_norms(const Correlation a) {
    const u64 first = (u64)blockIdx.x * TILE;
    double sum[EACH][EACH] = {};
    auto of = [&](u32 v, u64 k) { return first + v < a.columns ? a.x[(first + v) * a.n + k] : 0.0; };
    const Place at = products(a.n, of, of, sum);
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            u64 x = first + at.left(i), y = first + at.right(j);
            if (x == y && x < a.columns) a.squares[a.first_column + x] = sum[i][j];
        }
    }
}

// Computes rows of the correlations: of the columns of `left`, which start at column `first_row` of the data, with those of x. c has them
// in rows of `pitch`, from column `first_column` on. A block takes a tile at a time.
extern "C" __global__ void __launch_bounds__(CORRELATION_THREADS) cor_panel(const Correlation a) {
    const u64 down = div_ceil(a.rows, (u64)TILE), end = a.tiles && a.tiles[0] < a.end_tile ? a.tiles[0] : a.end_tile;
    for (u64 number = a.first_tile + blockIdx.x; number < end; number += gridDim.x) {
        const u64 tile = a.tiles ? a.tiles[1 + number] : number, row = tile % down * TILE, column = tile / down * TILE;
        double sum[EACH][EACH] = {};
        const Place at = products(
            a.n, [&](u32 v, u64 k) { return row + v < a.rows ? a.left[(row + v) * a.n + k] : 0.0; },
            [&](u32 v, u64 k) { return column + v < a.columns ? a.x[(column + v) * a.n + k] : 0.0; }, sum
        );
        for (int i = 0; i < EACH; i++) {
            for (int j = 0; j < EACH; j++) {
                u64 x = row + at.left(i), y = column + at.right(j);
                if (x >= a.rows || y >= a.columns) continue;
                u64 one = a.first_row + x, other = a.first_column + y;
                a.c[x * a.pitch + other] = ratio(one, other, sum[i][j], a.squares[one], a.squares[other]);
            }
        }
    }
}

// `cor_pairs` computes the correlations of p pairs of columns of x. c has one for each pair, equal to that of `cor_panel` to the last bit.
__device__ __forceinline__ double ratio_of_pair(const Correlation& a, u32 x, u32 y, double product) {
    const u32 one = a.vertices ? a.vertices[x] : x, other = a.vertices ? a.vertices[y] : y;
    return ratio(one, other, product, a.squares[one], a.squares[other]);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// A warp takes 8 pairs: the diagonal of a tile of 8 x 8.
extern "C" __global__ void cor_pairs(const Correlation a) {
    const u32 lane = lane_id(), own = lane / 4;
    for (u64 group : by_warp(div_ceil(a.p, (u64)8))) {
        const u64 pair = group * 8 + own;
        const bool is_there = pair < a.p;
        const u32 x = is_there ? a.ids[2 * pair] : 0, y = is_there ? a.ids[2 * pair + 1] : 0;
        double sum[2] = {}, portion[2] = {};
        for (u64 row = 0; row < a.n; row += 4) {
            const u64 k = row + lane % 4;
            const double u = k < a.n ? a.x[x * a.n + k] : 0.0, v = k < a.n ? a.x[y * a.n + k] : 0.0;
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(portion[0]), "+d"(portion[1])
                : "d"(u), "d"(v));
            if ((row + 4) % PORTION == 0 || row + 4 >= a.n) {
                for (int j = 0; j < 2; j++) {
                    sum[j] += portion[j];
                    portion[j] = 0.0;
                }
            }
        }
        if (is_there && lane % 4 == own / 2) a.c[pair] = ratio_of_pair(a, x, y, own % 2 ? sum[1] : sum[0]);
    }
}
#else
extern "C" __global__ void cor_pairs(const Correlation a) {
    for (u64 pair : by_thread(a.p)) {
        const u32 x = a.ids[2 * pair], y = a.ids[2 * pair + 1];
        double sum = 0.0;
        for (u64 first = 0; first < a.n; first += PORTION) {
            double portion = 0.0;
            for (u64 k = first; k < first + PORTION && k < a.n; k++) portion = fma(a.x[x * a.n + k], a.x[y * a.n + k], portion);
            sum += portion;
        }
        a.c[pair] = ratio_of_pair(a, x, y, sum);
    }
}
#endif

// `cor_blocks` computes the correlations within blocks of columns. Block b has the columns of x that `ids` lists from b `width` on
// (NO_COLUMN: none); `vertices` lists their numbers in `squares`. c has the blocks along the diagonal of a matrix, in rows of `width`. A
// block of threads takes a tile; the grid is (blocks, tiles of a block).
constexpr u32 NO_COLUMN = 0xffffffff;    // host: in `Correlation::ids`, in place of a column
extern "C" __global__ void __launch_bounds__(CORRELATION_THREADS) cor_blocks(const Correlation a) {
    const u64 first = (a.first_tile + blockIdx.x) * a.width, tiles = div_ceil(a.width, (u64)TILE);
    const u64 row = blockIdx.y / tiles * TILE, column = blockIdx.y % tiles * TILE;
    double sum[EACH][EACH] = {};
    auto id = [&](u64 v) { return v < a.width ? a.ids[first + v] : NO_COLUMN; };
    auto of = [&](u64 from) {
        return [&, from](u32 v, u64 k) {
            u32 column = id(from + v);
            return column != NO_COLUMN ? a.x[column * a.n + k] : 0.0;
        };
    };
    const Place at = products(a.n, of(row), of(column), sum);
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            u64 x = row + at.left(i), y = column + at.right(j);
            if (x >= a.width || y >= a.width || id(x) == NO_COLUMN || id(y) == NO_COLUMN) continue;
            u32 one = a.vertices[first + x], other = a.vertices[first + y];
            a.c[(first + x) * a.width + first + y] = ratio(one, other, sum[i][j], a.squares[one], a.squares[other]);
        }
    }
}

// Spreads blocks that came as upper triangles, row by row from the diagonal on. c has them as `cor_blocks` makes them, with zeros beyond
// their columns. A block of threads takes one.
extern "C" __global__ void cor_spread(const Correlation a) {
    for (u64 b = blockIdx.x; b < a.p; b += gridDim.x) {
        const double* from = a.x + a.starts[b];
        const u32 count = a.ids[b], width = (u32)a.width;
        double* to = a.c + b * width * (width + 1);
        for (u32 at = threadIdx.x; at < width * (width + 1); at += blockDim.x) {
            const u32 row = at / width, column = at % width, low = min(row, column), high = max(row, column);
            to[at] = high < count ? from[(u64)low * (2 * count - low + 1) / 2 + high - low] : 0.0;
        }
    }
}
