// Levels 2 and up, strategy "shared", rows with many neighbours: how blocks share the items of shared.cuh.
#pragma once
#include "gauss/shared.cuh"

constexpr u32 WIDE_THREADS = 128;    // host: threads of a block of the kernels for rows with many neighbours

// Least and most ranks that a warp takes at a time, and the nanoseconds after which it has taken too many.
constexpr u64 LEAST_PART = 64;
constexpr u64 MOST_PART = 1024;
constexpr u64 LONG_PART = 8000000;

constexpr u64 BLOCK_BYTES = 240;

// A block's shared memory behind its warps' working memory: this struct, then the columns, then masks of common neighbours for rows with up
// to `Args::wide_masked` neighbours.
struct Block {
    u64 item;             // the current item
    u64 next;             // its first rank that no warp has taken
    u64 end;              // the end of its ranks
    u64 began;            // nanoseconds at which the launch began
    u64 found;            // number of y
    u64 resumed;          // whether an earlier launch began the item.
    u64 part[WIDE_THREADS / WARP];     // ranks that each warp takes at a time: few if exact tests make them long
    u64 taken[WIDE_THREADS / WARP];    // nanoseconds at which each warp took its part
    u32 places[WARP];     // places of the y in the row's list
};
static_assert(sizeof(Block) == BLOCK_BYTES && sizeof(Block) % 16 == 0);

// Returns the bytes of shared memory of a block of `warps` warps, with `columns` columns and masks for rows with up to `masked` neighbours.
__host__ __device__ constexpr u64 wide_bytes(u64 l, u64 warps, u64 columns, u64 masked) {
    return div_ceil(8 * wide_doubles(l) * warps, 16) * 16 + BLOCK_BYTES + 128 * (columns + 4) + 4 * masked;
}

// Returns the place of the lane's y in the row's list: its y in group `tile` of 32 among those that take part in this side; d: none.
// `found` is 0 if the group is empty. A warp calls it. On the first side, all pairs take part except those never tested, so the groups stay
// the same while the side runs.
__device__ inline u32 places_of_tile(const Args& a, u32 x, u32 d, u32 tile, u32& found) {
    u32 place = d, before = 0, lane = lane_id();
    const u64 offset = a.offset[x];
    for (u32 base = 0; base < d && before < WARP * (tile + 1); base += WARP) {
        u32 at = base + lane;
        u32 part = __ballot_sync(FULL, at < d && takes_part(a, slots_of(a), x, offset + at));
        // The lane's y is the n-th of these.
        u32 n = WARP * tile + lane - before, count = __popc(part);
        before += count;
        if (n >= count) continue;
        for (; n; n--) part &= part - 1;
        place = base + __ffs(part) - 1;
    }
    found = before > WARP * tile ? before - WARP * tile : 0;
    return place;
}

template <int L> __device__ __forceinline__ void decide_wide(const Args& a) {
    extern __shared__ double memory[];
    Work<L, true> work(a, L);
    const u32 warps = blockDim.x / WARP, warp = threadIdx.x / WARP, lane = lane_id();
    Block& block = *(Block*)((char*)memory + div_ceil(a.warp_bytes * warps, 16) * 16);
    float* values = (float*)(&block + 1);
    const u32 depth = (u32)a.wide_columns;
    if (a.second && !first_is_done(a.report)) return;
    // Values that outlive an item are read again rather than held in registers.
    volatile Block& now = block;
    if (threadIdx.x == 0) now.began = nanoseconds();
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) {
            const u64* rest = a.wide_rest + WIDE_REST * blockIdx.x;
            u64* next = a.second ? &a.report->wide_second : &a.report->wide_first;
            now.resumed = rest[2] != 0;
            now.item = now.resumed ? rest[0] : nanoseconds() - now.began > a.budget ? NEVER : atomicAdd(next, 1ull);
        }
        __syncthreads();
        if (now.item >= *(const volatile u64*)&a.report->wide_items) break;
        const u32 x = row_of(a.first_wide, a.p, now.item), d = (u32)(a.offset[x + 1] - a.offset[x]), from = candidates_of(a, x, d);
        const u32* list = a.list + a.offset[x];
        const Items row = wide_items_of(a, d, from, a.report->wide_chunk);
        const u64 within = now.item - a.first_wide[x];
        Columns columns{values, row.slice(within) * depth, from, a.fast && a.second && d <= a.wide_masked};
        if (columns.end - columns.first > depth) columns.end = columns.first + depth;
        if (warp == 0) {
            u32 found, place = places_of_tile(a, x, d, row.tile(within), found);
            block.places[lane] = place;
            if (lane == 0) {
                u64* rest = a.wide_rest + WIDE_REST * blockIdx.x;
                now.found = found;
                now.next = now.resumed ? rest[1] : row.rank(within);
                now.end = row.rank(within) + row.ranks(within);
                rest[2] = 0;
            }
        }
        if (lane == 0) now.part[warp] = LEAST_PART;
        __syncthreads();
        if (now.found == 0) continue;
        const u32 place = block.places[lane], y = list[place < d ? place : 0];
        for (u32 i = warp; i < depth; i += warps) {
            bool there = columns.first + i < columns.end;
            values[i * WARP + lane] = there ? (float)a.c[(u64)list[columns.first + i] * a.pitch + y] : 0.0f;
        }
        if (columns.masked) {
            u32* common = masks_of(a, values);
            for (u32 word = warp; word < (d + 31) / 32; word += warps) {
                u32 mask = 0;
                for (u32 i = 0; i < 32 && 32 * word + i < d; i++) mask |= (u32)is_common(a, y, list[32 * word + i]) << i;
                common[word * WARP + lane] = mask;
            }
        }
        __syncthreads();
        while (true) {
            u64 rank = NEVER;
            u32 count = 0;
            if (lane == 0) {
                u64 time = nanoseconds();
                now.taken[warp] = time;
                if (time - now.began <= a.budget) {
                    count = (u32)now.part[warp];
                    rank = atomicAdd(&block.next, (u64)count);
                    if (rank < now.end && now.end - rank < count) count = (u32)(now.end - rank);
                }
            }
            rank = __shfl_sync(FULL, rank, 0);
            count = __shfl_sync(FULL, count, 0);
            if (rank >= now.end) break;
            item<L, true>(a, work, x, d, from, place, rank, count, columns);
            __syncwarp();
            if (lane == 0) {
                u64 took = nanoseconds() - now.taken[warp], share = a.report->wide_chunk / (8 * warps);
                u64 longer = 2 * now.part[warp], most = share < MOST_PART ? share : MOST_PART;
                if (took > LONG_PART) now.part[warp] = LEAST_PART;
                else if (took < LONG_PART / 16 && longer <= most) now.part[warp] = longer;
            }
        }
        // With many exact tests, an item may take seconds: the next launch continues with it.
        __syncthreads();
        if (threadIdx.x == 0) {
            const bool stays = now.next < now.end;
            u64* open = a.second ? &a.report->wide_open_second : &a.report->wide_open;
            if (stays) {
                u64* rest = a.wide_rest + WIDE_REST * blockIdx.x;
                rest[0] = now.item;
                rest[1] = now.next;
                rest[2] = 1;
            }
            if (stays != (now.resumed != 0)) atomicAdd(open, stays ? 1ull : ~0ull);
            if (stays) now.item = NEVER;
        }
        __syncthreads();
        if (now.item == NEVER) break;
    }
}

// See SHARED_KERNEL.
#define WIDE_KERNEL(name, L, BLOCKS) \
    extern "C" __global__ void __launch_bounds__(WIDE_THREADS, BLOCKS) name(const __grid_constant__ Args a) { decide_wide<L>(a); }
