// The cells of tests of numbers and levels: the number of rows in each, their means, and the products of their deviations. Sums are made in
// the order of src/ci/mixed/rows.rs, so that they are the CPU's to the last bit.
#include "gpu/scan.cuh"

// An address in device memory, of Ts. The type is for the host.
template <typename T> using Address = u64;

// One launch. A block computes a job: the cells of a question's data set.
struct MixedArgs {
    // Rows; words of 32 rows in a mask.
    u64 n, words;
    // Columns of n numbers; columns of n codes; masks with a bit for each row that has a value.
    Address<double> numbers;
    Address<u16> codes;
    Address<u32> masks;
    // The jobs: JOB_WORDS words each, then by factor its column of codes and its levels, by number its column, by mask its place.
    Address<u32> lists;
    // By job: where its words start in `lists`, and where its cells go in `cells`.
    Address<u64> starts, places;
    // By job: the number of its cells. Then by cell, in the order of keys: its key with its first row, its rows, the means of its numbers,
    // and the upper triangle of the products of their deviations, column by column.
    Address<u64> cells;
    // The first job of the launch.
    u64 first_job;
    // Bound that all keys are below; rows of a warp's tile; sums of a warp.
    u64 domain, tile, sums;
};

constexpr u64 JOB_WORDS = 5;           // host: words of a job before its lists: factors, numbers, masks, whether it takes rows that lack values, keys
constexpr u64 CELL_WORDS = 2;          // host: words of a cell before its means
constexpr u64 MOST_KEYS = 2048;        // host: most keys of a job
constexpr u64 MOST_WARPS = 16;         // host: most warps of a block, each of which has a chunk of rows
constexpr u64 CHUNK = 4096;            // host: rows of a chunk, as in src/ci/mixed/rows.rs
constexpr u64 FEW_CELLS = 64;          // host: most keys with which a chunk has LANES lanes, as there
constexpr u64 LANES = 4;               // host: lanes of a chunk
constexpr u32 NO_CELL = 0xffff;
static_assert(MOST_KEYS < NO_CELL, "a key in 16 bits");

struct Job {
    u32 factors, numbers, masks, others, domain;
    const u32 *factor, *number, *mask;

    __device__ Job(const MixedArgs& args, u64 at) {
        const u32* list = (const u32*)args.lists + ((const u64*)args.starts)[at];
        factors = list[0], numbers = list[1], masks = list[2], others = list[3], domain = list[4];
        factor = list + JOB_WORDS;
        number = factor + 2 * factors;
        mask = number + numbers;
    }
};

// Rows that a lane handles together, so that their loads do not wait for each other.
constexpr u32 AT_A_TIME = 4;

// Finds the keys of rows first, first + WARP, ..; NO_CELL for a row that does not count.
__device__ __forceinline__ void keys_of(const MixedArgs& args, const Job& job, u64 first, u32* keys) {
    const u32* masks = (const u32*)args.masks;
    const u16* codes = (const u16*)args.codes;
    u32 has[AT_A_TIME];
    #pragma unroll
    for (u32 i = 0; i < AT_A_TIME; i++) has[i] = FULL, keys[i] = 0;
    for (u32 m = 0; m < job.masks; m++) {
        const u32* mask = masks + job.mask[m] * args.words;
        #pragma unroll
        for (u32 i = 0; i < AT_A_TIME; i++) {
            u64 row = first + i * WARP;
            if (row < args.n) has[i] &= mask[row / 32];
        }
    }
    for (u32 f = 0, stride = 1; f < job.factors; f++) {
        const u16* column = codes + job.factor[2 * f] * args.n;
        #pragma unroll
        for (u32 i = 0; i < AT_A_TIME; i++) {
            u64 row = first + i * WARP;
            if (row < args.n) keys[i] += stride * column[row];
        }
        stride *= job.factor[2 * f + 1];
    }
    #pragma unroll
    for (u32 i = 0; i < AT_A_TIME; i++) {
        u64 row = first + i * WARP;
        if (row >= args.n || (has[i] >> (row % 32) & 1) == job.others) keys[i] = NO_CELL;
    }
}

// Sums up the entries of each cell; all threads of the block must call it. `entries` is their number, `of(e)(row, cell)` what a row adds to
// entry e, and `total(cell, e)` the sum, which begins at 0. `tiles` are the warps' tiles, which are made again if there is more than one
// round of chunks.
template <class Of, class Total>
__device__ __forceinline__ void sum_up(
    const MixedArgs& args, const Job& job, const u32* place, u16* tiles, double* sums, u32 cells, u32 entries, Of of, Total total
) {
    u32 warps = blockDim.x / WARP, warp = threadIdx.x / WARP;
    u32 lanes = job.domain <= FEW_CELLS ? LANES : 1;
    // Sums that a warp makes at a time: those of some entries, each with all of its lanes.
    u32 together = (u32)(args.sums / cells) / lanes;
    together = min(min(together, (u32)WARP / lanes), entries);
    u32 columns = together * lanes;
    u16* tile = tiles + warp * args.tile;
    double* own = sums + warp * args.sums;
    u64 chunks = div_ceil(args.n, CHUNK);
    for (u64 first = 0; first < chunks; first += warps) {
        u64 base = (first + warp) * CHUNK;
        u32 rows = base < args.n ? (u32)min(CHUNK, args.n - base) : 0;
        if (chunks > warps) {
            for (u32 from = lane_id(); from < rows; from += AT_A_TIME * WARP) {
                u32 keys[AT_A_TIME];
                keys_of(args, job, base + from, keys);
                #pragma unroll
                for (u32 i = 0; i < AT_A_TIME; i++) {
                    u32 r = from + i * WARP;
                    if (r < rows) tile[r] = (u16)(keys[i] == NO_CELL ? NO_CELL : place[keys[i]]);
                }
            }
        }
        for (u32 from = 0; from < entries; from += together) {
            for (u32 i = lane_id(); i < cells * columns; i += WARP) own[i] = 0.0;
            __syncwarp();
            u32 entry = from + lane_id() / lanes, lane = lane_id() % lanes;
            if (lane_id() < columns && entry < entries) {
                auto value = of(entry);
                for (u32 r = lane; r < rows; r += 2 * AT_A_TIME * lanes) {
                    u32 at[2 * AT_A_TIME];
                    double values[2 * AT_A_TIME];
                    #pragma unroll
                    for (u32 i = 0; i < 2 * AT_A_TIME; i++) {
                        u32 of_row = r + i * lanes;
                        at[i] = of_row < rows ? tile[of_row] : NO_CELL;
                        values[i] = at[i] != NO_CELL ? value(base + of_row, at[i]) : 0.0;
                    }
                    // In the order of rows.
                    #pragma unroll
                    for (u32 i = 0; i < 2 * AT_A_TIME; i++) {
                        if (at[i] != NO_CELL) own[at[i] * columns + lane_id()] += values[i];
                    }
                }
            }
            __syncthreads();
            // Chunk after chunk, each with its lanes in order.
            u32 some = min(together, entries - from);
            u32 chunks_here = (u32)min((u64)warps, chunks - first);
            for (u32 i = threadIdx.x; i < cells * some; i += blockDim.x) {
                u32 cell = i / some, e = i % some;
                double sum = total(cell, from + e);
                for (u32 w = 0; w < chunks_here; w++) {
                    const double* parts = sums + w * args.sums + cell * columns + e * lanes;
                    double part = parts[0];
                    for (u32 l = 1; l < lanes; l++) part += parts[l];
                    sum += part;
                }
                total(cell, from + e) = sum;
            }
            __syncthreads();
        }
    }
}

extern "C" __global__ void __launch_bounds__(MOST_WARPS * WARP) mixed_cells(const __grid_constant__ MixedArgs args) {
    extern __shared__ uint4 shared[];
    u64 at = args.first_job + blockIdx.x;
    Job job(args, at);
    u32 warps = blockDim.x / WARP, warp = threadIdx.x / WARP, k = job.numbers;
    u64* of_warps = (u64*)shared;
    double* sums = (double*)(of_warps + MOST_WARPS);
    u32* counts = (u32*)(sums + warps * args.sums);
    u32* place = counts + args.domain;
    u16* tiles = (u16*)(place + args.domain);
    u16* tile = tiles + warp * args.tile;
    u64* out = (u64*)args.cells + ((const u64*)args.places)[at];

    // Counts the rows of each key, and finds its first row.
    for (u32 key = threadIdx.x; key < job.domain; key += blockDim.x) counts[key] = 0, place[key] = FULL;
    __syncthreads();
    u64 chunks = div_ceil(args.n, CHUNK);
    for (u64 chunk = warp; chunk < chunks; chunk += warps) {
        u64 base = chunk * CHUNK;
        u32 rows = (u32)min(CHUNK, args.n - base);
        for (u32 from = 0; from < rows; from += AT_A_TIME * WARP) {
            u32 keys[AT_A_TIME];
            keys_of(args, job, base + from + lane_id(), keys);
            #pragma unroll
            for (u32 i = 0; i < AT_A_TIME; i++) {
                u32 r = from + i * WARP + lane_id(), key = keys[i];
                // The next chunk's rows are another warp's.
                if (r >= rows) key = NO_CELL;
                else tile[r] = (u16)key;
                // Lanes with one key count together: there are often few cells.
                u32 same = __match_any_sync(FULL, key);
                if (key != NO_CELL && lane_id() == __ffs(same) - 1) {
                    atomicAdd(&counts[key], (u32)__popc(same));
                    atomicMin(&place[key], (u32)(base + r));
                }
            }
        }
    }
    __syncthreads();

    u64 words = CELL_WORDS + k + k * (k + 1) / 2;
    u32 cells = (u32)scan(
        job.domain, blockDim.x, of_warps, [&](u32 key) { return (u64)(counts[key] > 0); },
        [&](u32 key, u64 before) {
            if (!counts[key]) return;
            u64* cell = out + 1 + before * words;
            cell[0] = (u64)place[key] << 32 | key;
            cell[1] = counts[key];
            place[key] = (u32)before;
        });
    if (threadIdx.x == 0) out[0] = cells;
    if (k == 0 || cells == 0) return;
    for (u64 i = threadIdx.x; i < cells * (words - CELL_WORDS); i += blockDim.x) {
        out[1 + i / (words - CELL_WORDS) * words + CELL_WORDS + i % (words - CELL_WORDS)] = 0;
    }
    if (chunks <= warps) {
        u32 rows = warp < chunks ? (u32)min(CHUNK, args.n - warp * CHUNK) : 0;
        for (u32 r = lane_id(); r < rows; r += WARP) {
            u32 key = tile[r];
            if (key != NO_CELL) tile[r] = (u16)place[key];
        }
    }
    __syncthreads();

    auto column = [&](u32 j) { return (const double*)args.numbers + job.number[j] * args.n; };
    double* means = (double*)(out + 1 + CELL_WORDS);
    auto mean = [=](u32 cell, u32 j) -> double& { return means[cell * words + j]; };
    auto numbers = [=](u32 j) {
        const double* values = column(j);
        return [=](u64 row, u32) { return values[row]; };
    };
    sum_up(args, job, place, tiles, sums, cells, k, numbers, mean);
    bool apart = !job.others;
    if (apart) {
        for (u32 i = threadIdx.x; i < cells * k; i += blockDim.x) mean(i / k, i % k) /= (double)out[1 + i / k * words + 1];
        __syncthreads();
    }
    auto products = [=](u32 pair) {
        u32 second = 0;
        while (pair > second) pair -= ++second;
        u32 first = pair;
        const double *a = column(first), *b = column(second);
        return [=](u64 row, u32 cell) {
            double of_a = a[row], of_b = b[row];
            return apart ? (of_a - mean(cell, first)) * (of_b - mean(cell, second)) : of_a * of_b;
        };
    };
    auto product = [=](u32 cell, u32 pair) -> double& { return mean(cell, k + pair); };
    sum_up(args, job, place, tiles, sums, cells, k * (k + 1) / 2, products, product);
}
