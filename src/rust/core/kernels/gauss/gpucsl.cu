// The Gaussian test by the mapping of gpucsl (C. Hagedorn's dissertation, 2023, section 4.2), to reproduce and compare it. Each pair of
// vertices has a block, whatever the graph, whose threads share the pair's conditioning sets. After each set of a thread, the block ends if
// any of them separates. Not kept from the listings: tests that use sqrt(n - 4) at every level and lack |z|; barriers that some threads of
// a block do not reach; one thread that looks through the p-values of all, where the barrier here says whether a set separates; and
// separating sets of whichever neighbourhood came first in a batch.
#include "gauss/marginal.cuh"
#include "gauss/papers.cuh"
#include "gauss/single.cuh"

// Runs algorithm 4: blockIdx.x is a row, and blockIdx.y says which of the vertices below it a block's threads take.
extern "C" __global__ void gpucsl_marginal(const __grid_constant__ Args a) {
    const u64 word = (blockIdx.y * (u64)blockDim.x + threadIdx.x) / WARP;
    Counts counts{0, 0};
    if (word < a.words) make_word(a, blockIdx.x, word, counts, [&](u64 y, u64 x, double* p) { return judge_marginal(a, y, x, p); });
    report_counts(a, counts);
}

// Returns the slot of a side whose pair has place `own` in its list.
__device__ __forceinline__ GaussSlot* slot_of(const Args& a, const Side& side, u32 own) { return slots_of(a) + (side.list - a.list) + own; }

// Returns whether no set separates yet. All threads of the block must call it before any of them enters a result, and get the same answer.
__device__ __forceinline__ bool is_open(const GaussSlot* slot) { return !__syncthreads_or(stop_of(slot) != NEVER); }

// Returns whether x and y are a pair that its block, (blockIdx.x, row), tests.
__device__ __forceinline__ bool has_pair(const Args& a, u32 x, u32 y) { return x < y && has(a.graph, a.words, x, y) && is_tested(a, x, y); }

// Enters the tests of a side that do not separate. The rank of a set of one vertex is the vertex's place in the list.
__device__ __forceinline__ void enter_found(GaussSlot* slot, const Side& side, const Found& f) {
    // All correlations beyond the cut have the same p, and 1 is beyond it.
    const double q = f.den > 0.0 ? fmin(f.num / f.den, 1.0) : NO_TEST;
    enter_smallest_of_warp(slot, q, q < NO_TEST ? vertices_before(side.list, side.d, f.at) : NEVER);
    if (f.exact < NO_TEST) atomicMin(&slot->exact_r, (u64)__double_as_longlong(f.exact));
    if (f.exact_tests) atomicAdd(&slot->exact, f.exact_tests);
}

// Runs algorithm 5, sets of one: the block goes once through the vertices first_rank to end_rank - 1, and tests the pair given the
// neighbours of x or of y among them.
extern "C" __global__ void gpucsl_single(const __grid_constant__ Args a) {
    const u32 x = (u32)(a.first_row + blockIdx.y), y = blockIdx.x;
    if (!has_pair(a, x, y)) return;
    const Side of_x = side_of(a, x, y), of_y = side_of(a, y, x);
    const u32 in_x = vertices_before(of_x.list, of_x.d, y), in_y = vertices_before(of_y.list, of_y.d, x);
    GaussSlot *first = slot_of(a, of_x, in_x), *second = slot_of(a, of_y, in_y);
    const double *row = correlations_of(a, x), *other = correlations_of(a, y), xy = row[y];
    const u64 end = a.end_rank < a.p ? a.end_rank : a.p;
    Found by_x{1.0, 0.0, FULL, NO_TEST, 0, 0}, by_y = by_x;
    // An earlier launch may have ended either side, as vertices come in ascending order.
    bool first_open = is_open(first), second_open = is_open(second);
    for (u64 base = a.first_rank; base < end && first_open; base += blockDim.x) {
        const u64 z = base + threadIdx.x;
        const bool near_x = z < end && z != y && has(a.graph, a.words, x, (u32)z);
        // The first side covers common neighbours: on the second side, "stable" counts them again, "stable.fast" leaves them out.
        const bool near_y = !near_x && z < end && z != x && second_open && has(a.graph, a.words, y, (u32)z);
        bool separates = false, suspect = false;
        if (near_x) separates = test_single<true>(a, x, y, (u32)z, xy, row[z], other[z], by_x, suspect);
        if (near_y) separates = test_single<true>(a, y, x, (u32)z, xy, other[z], row[z], by_y, suspect);
        (near_x ? by_x : by_y).exact_tests += suspect;
        if (separates) {
            const Side& side = near_x ? of_x : of_y;
            const u32 place = vertices_before(side.list, side.d, (u32)z);
            const u64 key = near_y && a.fast ? rank_common_last(a, side.list, side.d, in_y, &place, 1) : place;
            atomicMin(near_x ? &first->stop : &second->stop, 2 * key + suspect);
        }
        first_open = !__syncthreads_or(separates && near_x);
        second_open = !__syncthreads_or(separates && near_y) && second_open;
    }
    if (first_open) {
        enter_found(first, of_x, by_x);
        enter_found(second, of_y, by_y);
    }
}

// Returns the numbers of a thread that tests given l variables: the correlations of these and of the pair, without those below the
// diagonal.
__host__ __device__ constexpr u64 gpucsl_doubles(u64 l) { return (l + 2) * (l + 3) / 2; }

// Decides from the covariances of x and y given S, whose members the thread eliminates one by one. The dissertation's threads compute a
// pseudo-inverse of the whole matrix. Here the exact formula does so if elimination cannot be trusted.
__device__ inline Quick eliminate(const Args& a, u32 x, u32 y, const u32* list, const Bench& b, u32 l) {
    auto at = [&](u32 i, u32 j) -> double& { return b.own[(j * (j + 1) / 2 + i) * WARP]; };    // i <= j
    auto vertex = [&](u32 i) { return i == 0 ? x : i == 1 ? y : list[b.places[(i - 2) * WARP]]; };
    for (u32 j = 0; j < l + 2; j++) {
        const double* from = correlations_of(a, vertex(j));
        for (u32 i = 0; i <= j; i++) at(i, j) = from[vertex(i)];
    }
    for (u32 pivot = l + 1; pivot >= 2; pivot--) {
        const double d = at(pivot, pivot);
        if (!(d > PIVOT)) return nothing_found();
        const double scale = 1.0 / d;
        for (u32 j = 0; j < pivot; j++) {
            const double factor = -at(j, pivot) * scale;
            for (u32 i = 0; i <= j; i++) at(i, j) = fma(factor, at(i, pivot), at(i, j));
        }
    }
    return quick_of(a, at(0, 0), at(0, 1), at(1, 1), l);
}

// Runs algorithm 7, sets of two and more: the sets of ranks first_rank to end_rank - 1 on the launch's side. If end_rank is NEVER, it takes
// all sets of one side, then of the other. Working memory outside shared memory is by edge: `theta` of a row.
extern "C" __global__ void gpucsl_sets(const __grid_constant__ Args a) {
    const u32 l = (u32)a.size, x = (u32)(a.first_row + blockIdx.y), y = blockIdx.x;
    if (!has_pair(a, x, y)) return;
    const bool both = a.end_rank == NEVER;
    const Side of_x = side_of(a, x, y);
    const u32 in_x = vertices_before(of_x.list, of_x.d, y);
    const GaussSlot* first = slot_of(a, of_x, in_x);
    Bench b(a, gpucsl_doubles(l), blockIdx.y * a.theta + in_x);
    for (u32 second = (u32)a.second; second < (both ? 2 : a.second + 1); second++) {
        if (second && stop_of(first) != NEVER) return;
        const Side side = second ? side_of(a, y, x) : of_x;
        const u32 own = second ? vertices_before(side.list, side.d, x) : in_x;
        GaussSlot* slot = slot_of(a, side, own);
        if (side.d - 1 < l) continue;
        const bool by_common = a.fast && second;
        const u64 sets = choose(a, side.d - 1, l), end = sets < a.end_rank ? sets : a.end_rank;
        double best = NO_TEST;
        u64 best_rank = NEVER;
        // An earlier launch may have ended the side. On the second side, "stable.fast" has another order than the ranks here.
        bool open = is_open(slot) || by_common;
        for (u64 base = a.first_rank; base < end && open; base += blockDim.x) {
            const u64 t = base + threadIdx.x;
            bool asks = t < end;
            if (asks) {
                unrank(a, side.d - 1, l, t, b.places, WARP);
                bool all_common = by_common;
                for (u32 i = 0; i < l; i++) {
                    u32 at = b.places[i * WARP];
                    at += at >= own;
                    b.places[i * WARP] = at;
                    all_common = all_common && is_common(a, side.other, side.list[at]);
                }
                asks = !all_common;
                const u64 stop = stop_of(slot);
                if (asks && by_common && stop != NEVER) asks = rank_common_last(a, side.list, side.d, own, b.places, WARP) < stop >> 1;
            }
            const Quick found = asks ? eliminate(a, side.row, side.other, side.list, b, l) : nothing_found();
            double q;
            bool separates = decide(a, side.row, side.list, side.d, own, slot, b, l, by_common, asks, found, q);
            if (q < best) {
                best = q;
                best_rank = rank_of(a, side.d, l, b.places, WARP);
            }
            open = !__syncthreads_or(separates) || by_common;
        }
        if (open) enter_smallest_of_warp(slot, best, best_rank);
    }
}
