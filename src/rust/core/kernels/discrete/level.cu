// Levels 1 and up of discrete variables. A level runs in stages, each a side and a range of ranks. Most pairs are separated by one of their
// first sets, so short first stages spare the later ones most of their work.
#include "discrete/strata.cuh"

// Begins a stage once the one before is done: numbers the items of work of rows first_row to end_row - 1. A row without an open pair has no
// items. An item is `beta` edges of a row; if `beta` is 0, it is a set and `tile` of the row's neighbours. One block runs it.
extern "C" __global__ void dis_items(const __grid_constant__ Discrete d) {
    const Args& a = d.a;
    if (threadIdx.x == 0 && a.report->clock_start == 0) a.report->clock_start = nanoseconds();
    const u64 before = a.report->stage_begun;
    __syncthreads();
    if (before + 1 != d.stage || !stage_is_done(a.report)) return;
    scan_rows(a.p, a.first_item, (u64*)memory, [&](u64 x) {
        const u64 degree = a.offset[x + 1] - a.offset[x], from = candidates_of(a, x, (u32)degree);
        if (from + (degree > from) <= a.size || !is_counted(a, from) || x < a.first_row || x >= a.end_row) return 0ull;
        const u64 sets = choose(a, a.beta ? degree - 1 : from, a.size), end = sets < a.end_rank ? sets : a.end_rank;
        if (end <= a.first_rank) return 0ull;
        bool open = false;
        for (u64 e = a.offset[x]; e < a.offset[x + 1] && !open; e++) {
            open = takes_part(a, slots_of(d), (u32)x, e) && ((a.fast && a.second) || stop_of(slots_of(d) + e) == NEVER);
        }
        if (!open) return 0ull;
        return a.beta ? (degree + a.beta - 1) / a.beta : (end - a.first_rank) * ((degree + d.tile - 1) / d.tile);
    });
    __syncthreads();
    if (threadIdx.x == 0) {
        a.report->stage_begun = d.stage;
        a.report->stage_items = a.first_item[a.p];
        a.report->stage_next = 0;
        a.report->stages_left = 1;
    }
}

// Ends the level's stages, so that the kernels that wait for all of them may run.
extern "C" __global__ void dis_close(const __grid_constant__ Discrete d) {
    Report* report = d.a.report;
    if (threadIdx.x || report->stage_begun + 1 != d.stage || !stage_is_done(report)) return;
    report->stage_begun = d.stage;
    report->stages_left = 0;
}

// Runs a stage: a block takes a set and some of the row's neighbours.
template <bool PLANES> __device__ __forceinline__ void count_level(const Discrete& d) {
    const Args& a = d.a;
    if (a.report->stage_begun != d.stage) return;
    const u32 l = (u32)a.size;
    Bench b(d);
    while (true) {
        u64 at = take(d, b.item());
        if (at == NEVER) break;
        const u32 x = row_of(a.first_item, a.p, at);
        const u64 offset = a.offset[x];
        const u32* list = a.list + offset;
        const u32 degree = (u32)(a.offset[x + 1] - offset);
        const u64 tiles = (degree + d.tile - 1) / d.tile, within = at - a.first_item[x];
        const u64 rank = a.first_rank + within / tiles;
        const bool by_common = a.fast && a.second;
        u64 key = rank;
        if (threadIdx.x < WARP) {
            u32 place = (u32)(within % tiles * d.tile) + lane_id();
            bool open = lane_id() < d.tile && place < degree && takes_part(a, slots_of(d), x, offset + place);
            if (open && !by_common) open = rank < stop_of(slots_of(d) + offset + place);
            if (__any_sync(FULL, open)) {
                if (lane_id() == 0) unrank(a, candidates_of(a, x, degree), l, rank, b.places());
                __syncwarp();
                bool all_common = by_common;
                for (u32 i = 0; i < l && open; i++) {
                    open = b.places()[i] != place;
                    if (by_common) all_common = all_common && is_common(a, list[place], list[b.places()[i]]);
                }
                open = open && !all_common;
                for (u32 i = lane_id(); i < l; i += WARP) b.set()[i] = list[b.places()[i]];
                if (open && by_common) {
                    key = rank_common_last(a, list, degree, place, b.places(), 1);
                    open = key < stop_of(slots_of(d) + offset + place);
                }
            }
            u32 mask = __ballot_sync(FULL, open);
            if (open) {
                u32 to = lanes_before(mask);
                b.other()[to] = list[place];
                b.place()[to] = place;
                b.key()[to] = key;
            }
            if (lane_id() == 0) b.flags()[0] = __popc(mask);
        }
        __syncthreads();
        const u32 others = b.flags()[0];
        if (others == 0) continue;
        count_all<PLANES>(d, b, x, l, others);
        if (threadIdx.x < others) {
            const u32 i = threadIdx.x, lx = levels_of(d, x), ly = levels_of(d, b.other()[i]);
            const u64 entry = offset + b.place()[i];
            const double strata = domain_of(d, b.set(), l);
            // p is computed only if it may be the largest.
            if (b.status()[i] == COUNTED && !too_few(d, (double)b.sums()[i].n, lx, ly, strata)) {
                double least = b.sums()[i].statistic - uncertainty(d, b.sums()[i]);
                if (is_outdone(slots_of(d) + entry, least, df_of(d, lx, ly, strata, l, b.sums()[i]))) continue;
            }
            tell(d, x, list, b.place()[i], entry, b.key()[i], judge_other(d, b, x, l, i), b.places(), 1);
        }
    }
}

extern "C" __global__ void __launch_bounds__(COUNTING_THREADS, COUNTING_BLOCKS) dis_count(const __grid_constant__ Discrete d) {
    count_level<false>(d);
}
extern "C" __global__ void __launch_bounds__(COUNTING_THREADS, COUNTING_BLOCKS) dis_planes_count(const __grid_constant__ Discrete d) {
    count_level<true>(d);
}

// Returns the bytes of scratch of a thread of `dis_edge`: the places and members of a set, and a table.
__host__ __device__ constexpr u64 edge_bytes(u64 size, u64 most_cells) { return div_ceil(4 * most_cells + 8 * size, 16) * 16; }

// Runs disc-cupc, with which gpuPC's authors compare their mapping (section 4.1): cuPC-E's mapping, a thread a test. A block has beta edges
// of a row and gamma threads for each, which take their edge's sets in turn. Each thread has a table in scratch. The paper's threads
// allocate theirs in the kernel, which fails if memory runs out.
extern "C" __global__ void dis_edge(const __grid_constant__ Discrete d) {
    const Args& a = d.a;
    if (a.report->stage_begun != d.stage) return;
    const u32 l = (u32)a.size, thread = threadIdx.x;
    u32* places = (u32*)(a.scratch + blockIdx.x * d.block_bytes + thread * (d.block_bytes / blockDim.x));
    u32 *set = places + l, *table = set + l;
    u64* item = (u64*)memory;
    while (true) {
        u64 at = take(d, item);
        if (at == NEVER) break;
        const u32 x = row_of(a.first_item, a.p, at);
        const u64 offset = a.offset[x];
        const u32* list = a.list + offset;
        const u32 degree = (u32)(a.offset[x + 1] - offset);
        const u64 edge = (at - a.first_item[x]) * a.beta + thread % a.beta;
        if (thread >= a.beta * a.gamma || edge >= degree || !takes_part(a, slots_of(d), x, offset + edge)) continue;
        const u32 own = (u32)edge, y = list[own], lx = levels_of(d, x), ly = levels_of(d, y);
        DiscreteSlot* slot = slots_of(d) + offset + own;
        const bool by_common = a.fast && a.second;
        const u64 sets = choose(a, degree - 1, l), end = sets < a.end_rank ? sets : a.end_rank;
        for (u64 t = a.first_rank + thread / a.beta; t < end; t += a.gamma) {
            unrank(a, degree - 1, l, t, places);
            bool all_common = by_common;
            for (u32 i = 0; i < l; i++) {
                places[i] += places[i] >= own;
                set[i] = list[places[i]];
                if (by_common) all_common = all_common && is_common(a, y, set[i]);
            }
            if (all_common) continue;
            const u64 key = by_common ? rank_common_last(a, list, degree, own, places, 1) : rank_of(a, degree, l, places);
            if (key >= stop_of(slot)) {
                if (by_common) continue;
                break;
            }
            const double strata = domain_of(d, set, l), cells = strata * lx * ly;
            Judgement found{UNSURE, 0.0, 0.0, 0.0};
            if (too_few(d, (double)d.n, lx, ly, strata)) {
                found = Judgement{1.0 >= d.alpha ? SEPARATES : DEPENDS, 1.0, 0.0, 1.0};
            } else if (cells + margins_of(strata, lx, ly) <= (double)d.most_cells) {
                Sums sums{0.0, 0.0, 0, 0, 0, 0};
                for (u32 c = 0; c < (u32)cells; c++) table[c] = 0;
                for (u64 k = 0; k < d.n; k += SAMPLES_AT_A_TIME) count_16(d, k, x, y, set, l, [&](u32 cell) { table[cell]++; });
                reduce(d, Alone(), table, (u32)strata, lx, ly, table + (u32)cells, sums);
                found = judge_test(d, lx, ly, strata, l, sums);
            }
            tell(d, x, list, own, offset + own, key, found, places, 1);
        }
    }
}
