// The correlation matrix of a data matrix: centre the columns, take the inner products of all pairs, divide by the norms.
// A block makes a tile of 64 x 64 inner products and keeps the rows of the columns it is at in shared memory (as do Schmidt and
// Huegle 2020, "Towards a GPU-accelerated causal inference"). Sums are made in portions, so that rounding grows with the
// portion's length and not with the column's.
#include "card/threads.cuh"

// The kernels' arguments, `CorrelationArgs` in Rust.
struct Correlation {
    u64 n;            // rows
    u64 p;            // columns
    double* x;        // n x p, column by column; becomes the centred and scaled columns
    double* c;        // p x p
    double* squares;  // p sums of squares
    u64 first_tile;   // the first tile of this launch, as `tile_at` numbers them
};

constexpr int TILE = 64;      // host: columns of a tile
constexpr int DEPTH = 16;     // rows in shared memory at a time
constexpr int EACH = 4;       // a thread makes EACH x EACH products
constexpr int SIDE = TILE / EACH;
constexpr int PITCH = TILE + 1;  // with TILE, the writes of a warp would meet in one bank
constexpr int PORTION = 128;  // rows that are added up before they join the sum

constexpr u32 CORRELATION_THREADS = SIDE * SIDE;         // host: threads of a block
constexpr u64 PRODUCT_BYTES = 2 * DEPTH * PITCH * 8;     // host: bytes of shared memory of a block of `cor_product`

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

// A block takes a column: v becomes (v - mean) times a power of two that brings the largest |v - mean| to between 1/2 and 1, so
// that no square overflows or underflows. The rounding error of the mean is subtracted on its own: added to the mean, it would
// be lost where the mean is large.
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

// Tiles on and above the diagonal are numbered column by column: tile t is row t - j (j + 1) / 2 of column j.
__device__ void tile_at(u64 t, u64* row, u64* column) {
    u64 j = (u64)((sqrt(8.0 * (double)t + 1.0) - 1.0) / 2.0);
    while (j * (j + 1) / 2 > t) j--;
    while ((j + 1) * (j + 2) / 2 <= t) j++;
    *row = t - j * (j + 1) / 2;
    *column = j;
}

// A block takes a tile: c becomes the inner products, on both sides of the diagonal.
extern "C" __global__ void __launch_bounds__(CORRELATION_THREADS) cor_product(const Correlation a) {
    extern __shared__ double shared[];
    double* left = shared;
    double* right = shared + PRODUCT_BYTES / 2 / sizeof(double);
    u64 row, column;
    tile_at(a.first_tile + blockIdx.x, &row, &column);
    row *= TILE;
    column *= TILE;
    // A lane's neighbours to one side read the same `left`, those to the other the same `right`: for each of both a warp then takes one
    // pass over shared memory, where 16 doubles side by side would take two and hold up the multiplications.
    static_assert(SIDE == 16);
    u32 t = threadIdx.x;
    u32 across = (t & 1) | (t >> 1 & 6) | (t >> 3 & 8), down = (t >> 1 & 1) | (t >> 3 & 6) | (t >> 4 & 8);
    double sum[EACH][EACH] = {}, portion[EACH][EACH] = {};
    for (u64 at = 0; at < a.n; at += DEPTH) {
        u32 k = threadIdx.x % DEPTH;
        for (u32 v = threadIdx.x / DEPTH; v < TILE; v += SIDE * SIDE / DEPTH) {
            bool inside = at + k < a.n;
            left[k * PITCH + v] = inside && row + v < a.p ? a.x[(row + v) * a.n + at + k] : 0.0;
            right[k * PITCH + v] = inside && column + v < a.p ? a.x[(column + v) * a.n + at + k] : 0.0;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            double u[EACH], v[EACH];
            for (int i = 0; i < EACH; i++) u[i] = left[k * PITCH + down + i * SIDE];
            for (int j = 0; j < EACH; j++) v[j] = right[k * PITCH + across + j * SIDE];
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++) portion[i][j] = fma(u[i], v[j], portion[i][j]);
        }
        __syncthreads();
        if ((at + DEPTH) % PORTION == 0 || at + DEPTH >= a.n) {
            for (int i = 0; i < EACH; i++) {
                for (int j = 0; j < EACH; j++) {
                    sum[i][j] += portion[i][j];
                    portion[i][j] = 0.0;
                }
            }
        }
    }
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            u64 x = row + down + i * SIDE, y = column + across + j * SIDE;
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

// c becomes the correlations. Two columns that are equal up to a sign or a power of two have one sum of squares s; the root of
// s * s is s, so that they come out as exactly 1 or -1. Others are clamped, as rounding may take them past that.
extern "C" __global__ void cor_finish(const Correlation a) {
    for (u64 at : by_thread(a.p * a.p)) {
        u64 x = at / a.p, y = at % a.p;
        double r = a.c[at] / sqrt(a.squares[x] * a.squares[y]);
        // As in R: a NaN stays one, and the diagonal is 1 whatever the column.
        a.c[at] = x == y ? 1.0 : r > 1.0 ? 1.0 : r < -1.0 ? -1.0 : r;
    }
}
