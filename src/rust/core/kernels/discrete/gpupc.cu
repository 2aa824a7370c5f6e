// Tests of discrete variables by the mapping of gpuPC, to reproduce and compare it: threads cooperate on one table. These are algorithms 9
// (level 0), 10 and 11 of C. Hagedorn's dissertation (2023). In algorithm 2 of Hagedorn and Huegle (2021), level 0, one thread also
// computes the margins. Not kept from the listings: indices that mix up the levels of x and y; a mutex that lets any of several separating
// sets win; barriers that some threads of a block do not reach; and one thread that clears a table alone.
//
// The papers' grid has a block for each pair at level 0, and for each beta edges of a row at higher levels. Here blocks take these in turn.
// Their number is what the GPU runs at a time, or what memory allows: the papers' "restricted parallelism", with tables in memory that is
// allocated once.
#include "discrete/strata.cuh"

// Returns the bytes of shared memory of a block at level 0: an item, and `cells` cells for a table and its margins.
__host__ __device__ constexpr u64 gpupc_pair_bytes(u64 cells) { return 16 + div_ceil(4 * cells, 16) * 16; }

// Returns the bytes of shared memory of a block at higher levels: an item, the sums of each warp, the strata of each table.
__host__ __device__ constexpr u64 gpupc_bytes(u64 threads, u64 tables) { return 16 + threads / 32 * 48 + div_ceil(4 * tables, 16) * 16; }

// Counts the samples of x, y and S that thread `index` of `threads` takes. The table has strata x levels of x x levels of y, the last
// fastest.
__device__ inline void count_share(const Discrete& d, u32 x, u32 y, const u32* set, u32 l, u32* table, u32 index, u32 threads) {
    for (u64 k = SAMPLES_AT_A_TIME * index; k < d.n; k += SAMPLES_AT_A_TIME * threads)
        count_16(d, k, x, y, set, l, [&](u32 cell) { atomicAdd(table + cell, 1u); });
}

// The threads that share a table; those of other tables take the same barriers.
struct Sharing {
    u32 index, SIZE;
    __device__ void sync() const { __syncthreads(); }
};

// Runs level 0. The threads of a block count the table of a pair in shared memory, or in global memory if it does not fit, and sum its
// margins. Then the first thread computes the statistic.
extern "C" __global__ void dis_gpupc_marginal(const __grid_constant__ Discrete d) {
    const Args& a = d.a;
    const u64 tiles = (a.p + d.tile - 1) / d.tile;
    u64* item = (u64*)memory;
    while (true) {
        const u64 at = take(d, item);
        if (at == NEVER) break;
        const u32 y = (u32)(at / tiles), ly = levels_of(d, y);
        const u64 first = at % tiles * d.tile, end = first + d.tile < y ? first + d.tile : y;
        for (u64 v = first; v < end; v++) {
            const u32 x = (u32)v, lx = levels_of(d, x);
            if ((a.start && !has(a.start, a.words, y, x)) || !is_tested(a, y, x)) continue;
            const double cells = (double)lx * ly, all = cells + margins_of(1.0, lx, ly);
            Judgement found{UNSURE, 0.0, 0.0, 0.0};
            if (too_few(d, (double)d.n, ly, lx, 1.0)) {
                found = Judgement{1.0 >= d.alpha ? SEPARATES : DEPENDS, 1.0, 0.0, 1.0};
            } else if (all <= (double)d.area || all <= (double)d.most_cells) {
                u32* table = all <= (double)d.area ? (u32*)(item + 2) : (u32*)(a.scratch + blockIdx.x * d.block_bytes);
                for (u32 c = threadIdx.x; c < (u32)cells; c += blockDim.x) table[c] = 0;
                __syncthreads();
                count_share(d, y, x, nullptr, 0, table, threadIdx.x, blockDim.x);
                __syncthreads();
                const Margins margins(table + (u32)cells, 1, ly, lx);
                sum_margins(Sharing{threadIdx.x, blockDim.x}, table, 1, ly, lx, margins);
                if (threadIdx.x == 0) {
                    Sums sums{0.0, 0.0, 0, 0, 0, 0};
                    sum_terms(d, Alone(), table, 1, ly, lx, margins, sums);
                    found = judge_test(d, ly, lx, 1.0, 0, sums);
                }
                __syncthreads();
            }
            if (threadIdx.x > 0) continue;
            if (found.says == UNSURE) {
                ask(d, y, x, 0, 0);
            } else {
                *packed(a, y, x) = found.p;
            }
        }
    }
}

// Runs levels 1 and up. A block has beta edges of a row and gamma tests of each at a time; delta threads count each test's table in global
// memory. They reduce the table stratum by stratum, and the first of them adds up the sums of all.
extern "C" __global__ void dis_gpupc(const __grid_constant__ Discrete d) {
    const Args& a = d.a;
    if (a.report->stage_begun != d.stage) return;
    const u32 l = (u32)a.size, tables = (u32)(a.beta * a.gamma), delta = blockDim.x / tables;
    const u32 own_table = threadIdx.x / delta, index = threadIdx.x % delta;
    u64* item = (u64*)memory;
    Sums* of_warp = (Sums*)(item + 2);
    u32* strata_of = (u32*)(of_warp + blockDim.x / WARP);
    u32* places = (u32*)(a.scratch + blockIdx.x * d.block_bytes + own_table * (d.block_bytes / tables));
    u32 *set = places + l, *table = set + l;
    while (true) {
        const u64 at = take(d, item);
        if (at == NEVER) break;
        const u32 x = row_of(a.first_item, a.p, at);
        const u64 offset = a.offset[x];
        const u32* list = a.list + offset;
        const u32 degree = (u32)(a.offset[x + 1] - offset);
        const u64 edge = (at - a.first_item[x]) * a.beta + own_table / a.gamma;
        const bool here = edge < degree && takes_part(a, slots_of(d), x, offset + edge);
        const u32 own = here ? (u32)edge : 0, y = list[own], lx = levels_of(d, x), ly = levels_of(d, y);
        DiscreteSlot* slot = slots_of(d) + offset + own;
        const bool by_common = a.fast && a.second;
        const u64 sets = choose(a, degree - 1, l), end = sets < a.end_rank ? sets : a.end_rank;
        // All threads of the block take the same turns, so that all meet at the barriers.
        for (u64 base = a.first_rank; base < end; base += a.gamma) {
            const u64 t = base + own_table % a.gamma;
            u64 key = NEVER;
            bool goes_on = false;
            double strata = 0.0;
            if (index == 0) {
                strata_of[own_table] = 0;
                bool asks = here && t < end;
                if (asks) {
                    unrank(a, degree - 1, l, t, places);
                    bool all_common = by_common;
                    for (u32 i = 0; i < l; i++) {
                        places[i] += places[i] >= own;
                        set[i] = list[places[i]];
                        if (by_common) all_common = all_common && is_common(a, y, set[i]);
                    }
                    if (!all_common) key = by_common ? rank_common_last(a, list, degree, own, places, 1) : rank_of(a, degree, l, places);
                    asks = !all_common && key < stop_of(slot);
                }
                goes_on = asks || (here && by_common);
                strata = domain_of(d, set, asks ? l : 0);
                const double cells = strata * lx * ly;
                if (asks && too_few(d, (double)d.n, lx, ly, strata)) {
                    tell(d, x, list, own, offset + own, key, Judgement{1.0 >= d.alpha ? SEPARATES : DEPENDS, 1.0, 0.0, 1.0}, places, 1);
                } else if (asks && cells + margins_of(strata, lx, ly) > (double)d.most_cells) {
                    tell(d, x, list, own, offset + own, key, Judgement{UNSURE, 0.0, 0.0, 0.0}, places, 1);
                } else if (asks) {
                    strata_of[own_table] = (u32)strata;
                }
            }
            if (!__syncthreads_or(goes_on)) break;
            const u32 count = strata_of[own_table], cells = count * lx * ly;
            for (u32 c = index; c < cells; c += delta) table[c] = 0;
            __syncthreads();
            if (count) count_share(d, x, y, set, l, table, index, delta);
            __syncthreads();
            Sums sums{0.0, 0.0, 0, 0, 0, 0};
            reduce(d, Sharing{index, delta}, table, count, lx, ly, table + cells, sums);
            add_lanes(sums);
            if (lane_id() == 0) of_warp[threadIdx.x / WARP] = sums;
            __syncthreads();
            if (index == 0 && count) {
                // Always in this order, so that every run gives the same last digits.
                for (u32 w = 1; w < delta / WARP; w++) {
                    const Sums& more = of_warp[threadIdx.x / WARP + w];
                    sums.statistic += more.statistic;
                    sums.size += more.size;
                    sums.n += more.n;
                    sums.occupied += more.occupied;
                    sums.adjusted += more.adjusted;
                    sums.terms += more.terms;
                }
                tell(d, x, list, own, offset + own, key, judge_test(d, lx, ly, strata, l, sums), places, 1);
            }
            __syncthreads();
        }
    }
}
