// Level 0 of many variables: finds the tiles of pairs in which a correlation may be too large for independence. Only these tiles are
// computed in double precision. Most tiles of a sparse graph are ruled out, at the rate of the tensor cores for half precision.
//
// A column u is scaled to a sum of squares of 1, and kept in half precision, as u'. Its error e is the norm of u' - u, which is computed. By
// Cauchy and Schwarz, the product of two columns is off by at most e_x (1 + e_y) + e_y. A column with an error above 0.01 is never ruled out.
//
// A tensor core adds 8 or 16 exact products at a time to a sum in single precision. All terms and sums are below 2, again by Cauchy and
// Schwarz. Each term and each result is truncated at the last bit of the largest term, and so loses less than 2^-23. For 16 rows, there are
// at most 20 such losses. Without tensor cores, each step is rounded to single precision, and loses less. The host subtracts 18 x 2^-22 from
// the limit for every 16 rows, which is more.
#include "gauss/marginal.cuh"
#include "gpu/threads.cuh"

// The kernels' arguments, `ScreenArgs` in Rust.
struct Screen {
    Args a;
    u64 n;                  // rows
    u64 depth;              // rows in `halves`: a multiple of SCREEN_DEPTH; the last are 0
    const double* x;        // n x p, column by column, centred
    const double* squares;  // p sums of squares
    u16* halves;            // depth x p
    float* errors;          // p upper bounds of e; 1 if a column is not to be screened
    u32* tiles;             // by tile of 64 x 64 pairs, in rows of `pitch`: whether it is to be computed
    u32* listed;            // how many are to be computed, then their numbers, column by column
    u64 pitch;
    u64 first_tile;         // first tile of columns of this launch
    double limit;           // correlations below this are certainly independent; rounding of sums is taken off
};

extern __shared__ double shared[];

constexpr u32 SCREEN_TILE = 128;                                // host: columns of a tile of `screen`
constexpr u32 SCREEN_DEPTH = 32;                                // host: rows in shared memory at a time
constexpr u32 SCREEN_THREADS = 256;                             // host: threads of a block of `screen`
constexpr u32 SCREEN_PITCH = SCREEN_DEPTH + 8;                  // halves of a column in shared memory: rows of 8 columns lie in different banks
constexpr u32 SCREEN_STAGES = 3;
constexpr u64 SCREEN_BYTES = SCREEN_STAGES * 2 * SCREEN_TILE * SCREEN_PITCH * 2;    // host: bytes of shared memory of a block of `screen`
static_assert(SCREEN_BYTES <= 99 << 10);    // an sm_86 has no more
constexpr u32 PAIR_TILE = 64;                                   // host: side of a tile of `Screen::tiles`
constexpr u32 SCREEN_SHIFT = 10;                                // numbers are kept times two to the power of this

__device__ __forceinline__ u16 half_of(float x) {
#ifdef __CUDA_ARCH__
    u16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return half;
#else
    return (u16)emulated::halves(x, 0.0f);
#endif
}

__device__ __forceinline__ float single_of(u16 half) {
#ifdef __CUDA_ARCH__
    float found;
    asm("cvt.f32.f16 %0, %1;" : "=f"(found) : "h"(half));
    return found;
#else
    return emulated::single(half);
#endif
}

// Makes the columns' halves and errors; a block takes a column.
extern "C" __global__ void screen_halves(const __grid_constant__ Screen s) {
    for (u64 column = blockIdx.x; column < s.a.p; column += gridDim.x) {
        const double scale = (double)(1u << SCREEN_SHIFT) / sqrt(s.squares[column]);
        double sum = 0.0;
        for (u64 k = threadIdx.x; k < s.depth; k += blockDim.x) {
            const double number = k < s.n ? s.x[column * s.n + k] * scale : 0.0;
            const u16 half = half_of((float)number);
            s.halves[column * s.depth + k] = half;
            const double error = single_of(half) - number;
            sum += error * error;
        }
        sum = warp_sum(sum);
        __syncthreads();
        if (lane_id() == 0) shared[threadIdx.x / WARP] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (u32 warp = 1; warp < blockDim.x / WARP; warp++) sum += shared[warp];
            // The margin also covers e_x e_y, and the rounding of this sum.
            const double error = sqrt(sum) / (1u << SCREEN_SHIFT) * 1.02 + 1e-7;
            s.errors[column] = error < 0.01 ? (float)error : 1.0f;
        }
    }
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// Starts a copy of 16 bytes to shared memory; zeros if there is nothing to copy.
__device__ __forceinline__ void copy_16(u32 to, const u16* from, bool is_there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(is_there ? 16 : 0));
}

__device__ __forceinline__ void four_by_four(u32 (&found)[4], u32 from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(found[0]), "=r"(found[1]), "=r"(found[2]), "=r"(found[3])
                 : "r"(from));
}

// Computes the products of a block's columns `left` with `right`, times 2^(2 SCREEN_SHIFT): a warp those of 64 x 32 columns, in tiles of
// 16 x 8.
__device__ __forceinline__ void screen_products(const Screen& s, u64 left, u64 left_end, u64 right, u64 right_end, float (&sum)[4][4][4]) {
    const u32 memory = (u32)__cvta_generic_to_shared(shared);
    constexpr u32 side = SCREEN_TILE * SCREEN_PITCH * 2, stage = 2 * side;
    const u32 lane = lane_id(), warp = threadIdx.x / WARP;
    const u64 steps = s.depth / SCREEN_DEPTH;
    auto load = [&](u64 step) {
        if (step < steps) {
            for (u32 at = threadIdx.x; at < 2 * SCREEN_TILE * 4; at += SCREEN_THREADS) {
                const u32 which = at / (SCREEN_TILE * 4), v = at / 4 % SCREEN_TILE, part = at % 4;
                const u64 column = (which ? right : left) + v;
                const bool is_there = column < (which ? right_end : left_end);
                const u16* from = s.halves + (is_there ? column : 0) * s.depth + step * SCREEN_DEPTH + part * 8;
                copy_16(memory + (u32)(step % SCREEN_STAGES) * stage + which * side + v * SCREEN_PITCH * 2 + part * 16, from, is_there);
            }
        }
        asm volatile("cp.async.commit_group;");
    };
    for (u32 step = 0; step + 1 < SCREEN_STAGES; step++) load(step);
    // In tiles of 8 x 8 halves, a lane gives the address of one of 32 rows.
    const u32 a_row = warp / 4 * 64 + lane % 16, a_part = lane / 16 * 16;
    const u32 b_row = warp % 4 * 32 + lane % 8 + lane / 16 * 8, b_part = lane / 8 % 2 * 16;
    for (u64 step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(SCREEN_STAGES - 2));
        __syncthreads();
        load(step + SCREEN_STAGES - 1);
        const u32 here = memory + (u32)(step % SCREEN_STAGES) * stage;
#pragma unroll
        for (u32 k = 0; k < SCREEN_DEPTH; k += 16) {
            u32 a[4][4], b[2][4];
#pragma unroll
            for (u32 i = 0; i < 4; i++) four_by_four(a[i], here + (a_row + 16 * i) * SCREEN_PITCH * 2 + k * 2 + a_part);
#pragma unroll
            for (u32 j = 0; j < 2; j++) four_by_four(b[j], here + side + (b_row + 16 * j) * SCREEN_PITCH * 2 + k * 2 + b_part);
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
#pragma unroll
                for (u32 j = 0; j < 4; j++) {
                    float* to = sum[i][j];
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3])
                                 : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j / 2][j % 2 * 2]), "r"(b[j / 2][j % 2 * 2 + 1]));
                }
            }
        }
    }
    asm volatile("cp.async.wait_group 0;");
}
#else
__device__ __forceinline__ void screen_products(const Screen& s, u64 left, u64 left_end, u64 right, u64 right_end, float (&sum)[4][4][4]) {
    float* memory = (float*)shared;
    const u32 lane = lane_id(), warp = threadIdx.x / WARP;
    for (u64 first = 0; first < s.depth; first += SCREEN_DEPTH / 2) {
        __syncthreads();
        for (u32 at = threadIdx.x; at < 2 * SCREEN_TILE * SCREEN_DEPTH / 2; at += SCREEN_THREADS) {
            const u32 which = at / (SCREEN_TILE * SCREEN_DEPTH / 2), v = at / (SCREEN_DEPTH / 2) % SCREEN_TILE, k = at % (SCREEN_DEPTH / 2);
            const u64 column = (which ? right : left) + v;
            const bool is_there = column < (which ? right_end : left_end);
            memory[at / (SCREEN_DEPTH / 2) * (SCREEN_DEPTH / 2 + 1) + k] = is_there ? single_of(s.halves[column * s.depth + first + k]) : 0.0f;
        }
        __syncthreads();
        for (u32 k = 0; k < SCREEN_DEPTH / 2; k++) {
            auto number = [&](u32 v) { return memory[v * (SCREEN_DEPTH / 2 + 1) + k]; };
            for (u32 i = 0; i < 4; i++) {
                for (u32 j = 0; j < 4; j++) {
                    for (u32 e = 0; e < 4; e++) {
                        const float u = number(warp / 4 * 64 + 16 * i + lane / 4 + e / 2 * 8);
                        const float v = number(SCREEN_TILE + warp % 4 * 32 + 8 * j + lane % 4 * 2 + e % 2);
                        sum[i][j][e] = fmaf(u, v, sum[i][j][e]);
                    }
                }
            }
        }
    }
}
#endif

// Marks and lists the tiles of rows first_row to end_row - 1 in which a pair may be dependent. A block takes a tile of 128 x 128 pairs; the grid is
// (tiles of rows, tiles of columns).
extern "C" __global__ void __launch_bounds__(SCREEN_THREADS) screen(const __grid_constant__ Screen s) {
    const u64 row = s.a.first_row + (u64)blockIdx.x * SCREEN_TILE, column = (s.first_tile + blockIdx.y) * SCREEN_TILE;
    // No vertex of these columns is smaller.
    if (column + 1 >= s.a.end_row || column >= row + SCREEN_TILE) return;
    float sum[4][4][4] = {};
    screen_products(s, row, s.a.end_row, column, s.a.end_row, sum);
    const u32 lane = lane_id(), warp = threadIdx.x / WARP;
    const u64 own = row + warp / 4 * 64, other = column + warp % 4 * 32;
    constexpr float scale = 1.0f / (1u << SCREEN_SHIFT) / (1u << SCREEN_SHIFT);
    auto error = [&](u64 v) { return v < s.a.end_row ? s.errors[v] : 0.0f; };
    bool may_depend = false;
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
#pragma unroll
            for (u32 e = 0; e < 4; e++) {
                const u64 y = own + 16 * i + lane / 4 + e / 2 * 8, x = other + 8 * j + lane % 4 * 2 + e % 2;
                const bool is_clear = (double)(fabsf(sum[i][j][e]) * scale) < s.limit - error(x) - error(y);
                may_depend = may_depend || (x < y && y < s.a.end_row && !is_clear);
            }
        }
    }
    if (__any_sync(FULL, may_depend) && lane == 0) {
        const u64 down = (own - s.a.first_row) / PAIR_TILE, across = other / PAIR_TILE;
        // Two warps share a tile.
        if (!atomicExch(&s.tiles[down * s.pitch + across], 1u)) {
            const u64 rows = div_ceil(s.a.end_row - s.a.first_row, (u64)PAIR_TILE);
            s.listed[1 + atomicAdd(s.listed, 1u)] = (u32)(across * rows + down);
        }
    }
}

// Runs level 0 for rows first_row to end_row - 1. Pairs of tiles that are not marked are independent: a lane takes their words one by one.
// The warp takes each other word together.
extern "C" __global__ void screened_marginal(const __grid_constant__ Screen s) {
    const Args& a = s.a;
    Counts counts{0, 0};
    const u64 count = (a.end_row - a.first_row) * a.words;
    for (u64 group : by_warp(div_ceil(count, (u64)WARP))) {
        const u64 i = group * WARP + lane_id(), row = i / a.words, w = i % a.words, y = a.first_row + row;
        const bool is_marked = i < count && 32 * w < y && s.tiles[row / PAIR_TILE * s.pitch + 32 * w / PAIR_TILE];
        if (i < count && !is_marked) {
            const WordPairs pairs = pairs_of_word(a, y, w);
            if (32 * w > y) a.empty[y * a.words + w] = 0;
            else write_word(a, y, w, pairs, pairs.tested(), 0, counts);
        }
        for (u32 marked = __ballot_sync(FULL, is_marked); marked; marked &= marked - 1) {
            const u64 other = group * WARP + __ffs(marked) - 1;
            make_word(a, a.first_row + other / a.words, other % a.words, counts, [&](u64 y, u64 x, double* p) { return judge_marginal(a, y, x, p); });
        }
    }
    report_counts(a, counts);
}
