// Levels 1 and up by the mappings of cuPC (Zarebavani et al. 2020, section 3), to reproduce and compare them. Which thread runs which test
// is the paper's; results go to the same slots as with our own strategy. A launch covers both sides of a pair. Not kept from the paper's
// listings: threads that race for the separating set, sqrt(n - l - 4) in the test, and the end at level 14.
#include "gauss/papers.cuh"

constexpr u64 EDGE_ROW_BYTES = 4;    // host: bytes of shared memory for a neighbour of a row in cuPC-E: the vertex
constexpr u64 SET_ROW_BYTES = 12;    // host: bytes of shared memory for a neighbour of a row in cuPC-S: the vertex, and its limit of ranks

// Returns the block's shared memory after its warps' working memory. It has room for `row_room` neighbours.
__device__ __forceinline__ char* row_memory(const Args& a) {
    extern __shared__ double memory[];
    return (char*)memory + (a.scratch ? 0 : blockDim.x / WARP * a.warp_bytes);
}

// Returns a row of the graph, copied to `room` if it has room. All threads of the block must call it.
__device__ inline const u32* own_row(const Args& a, u32 x, u32 d, u32* room) {
    const u32* list = a.list + a.offset[x];
    if (d > a.row_room) return list;
    for (u32 at = threadIdx.x; at < d; at += blockDim.x) room[at] = list[at];
    __syncthreads();
    return room;
}

constexpr u64 ALL_RANKS = NEVER >> 1;

// Returns the rank from which on the pair of this entry of row x needs no set of that side. The side of the larger vertex is the second:
// it has nothing to do once the first separates.
__device__ __forceinline__ u64 limit_of(const Args& a, u32 x, u32 y, u64 entry) {
    if (!is_tested(a, x, y) || (y < x && stop_of(slots_of(a) + a.twin[entry]) != NEVER)) return 0;
    return a.fast && y < x ? ALL_RANKS : stop_of(slots_of(a) + entry) >> 1;
}

// Returns the numbers of a thread: the inverse of C[S, S], the weights of x, and the correlations of S with x or y.
__host__ __device__ constexpr u64 cupc_doubles(u64 l) { return l * l + 2 * l; }

// Inverts C[S, S] of this lane's set by Gauss-Jordan elimination. Returns false if a pivot is too small to be trusted.
__device__ inline bool invert(const Args& a, const u32* list, const Bench& b, u32 l) {
    for (u32 i = 0; i < l; i++)
        for (u32 j = 0; j < l; j++) b.own[(i * l + j) * WARP] = correlation(a, list[b.places[i * WARP]], list[b.places[j * WARP]]);
    for (u32 k = 0; k < l; k++) {
        double pivot = b.own[(k * l + k) * WARP];
        if (!(pivot > PIVOT)) return false;
        double scale = 1.0 / pivot;
        for (u32 j = 0; j < l; j++)
            if (j != k) b.own[(k * l + j) * WARP] *= scale;
        for (u32 i = 0; i < l; i++) {
            if (i == k) continue;
            double factor = b.own[(i * l + k) * WARP];
            for (u32 j = 0; j < l; j++)
                if (j != k) b.own[(i * l + j) * WARP] = fma(-factor, b.own[(k * l + j) * WARP], b.own[(i * l + j) * WARP]);
            b.own[(i * l + k) * WARP] = -factor * scale;
        }
        b.own[(k * l + k) * WARP] = scale;
    }
    return true;
}

// Computes the part of H = M0 - M1 M2^-1 M1' (the paper's section 4.3) that depends on x alone. Leaves the row of x of M1 M2^-1 in `own`,
// and returns the variance of x.
__device__ inline double left_of_row(const Args& a, u32 x, const u32* list, const Bench& b, u32 l) {
    double *weights = b.own + l * l * WARP, *with_x = weights + l * WARP;
    const double* row = correlations_of(a, x);
    for (u32 i = 0; i < l; i++) with_x[i * WARP] = row[list[b.places[i * WARP]]];
    double xx = correlation(a, x, x);
    for (u32 i = 0; i < l; i++) {
        double weight = 0.0;
        for (u32 j = 0; j < l; j++) weight = fma(b.own[(i * l + j) * WARP], with_x[j * WARP], weight);
        weights[i * WARP] = weight;
        xx = fma(-with_x[i * WARP], weight, xx);
    }
    return xx;
}

// Decides from the rest of H. `xx` and the row that `left_of_row` left are those of x.
__device__ inline Quick quick(const Args& a, u32 x, u32 y, double xx, const u32* list, const Bench& b, u32 l) {
    double *weights = b.own + l * l * WARP, *with_y = weights + l * WARP;
    const double* row = correlations_of(a, y);
    for (u32 i = 0; i < l; i++) with_y[i * WARP] = row[list[b.places[i * WARP]]];
    double yy = row[y], xy = row[x];
    for (u32 i = 0; i < l; i++) {
        double weight = 0.0;
        for (u32 j = 0; j < l; j++) weight = fma(b.own[(i * l + j) * WARP], with_y[j * WARP], weight);
        const double sy = with_y[i * WARP];
        yy = fma(-sy, weight, yy);
        xy = fma(-sy, weights[i * WARP], xy);
    }
    return quick_of(a, xx, xy, yy, l);
}

// Runs cuPC-E: blockIdx.y is a row of the graph, from first_row on. A block has beta of its edges and gamma threads for each, which stride
// over the edge's sets.
extern "C" __global__ void edge(const __grid_constant__ Args a) {
    const u32 l = (u32)a.size, x = (u32)(a.first_row + blockIdx.y);
    if (x >= a.p) return;
    const u32 d = (u32)(a.offset[x + 1] - a.offset[x]);
    if (d <= l || blockIdx.x * a.beta >= d) return;
    const u32 thread = threadIdx.x;
    const u32 own = (u32)(blockIdx.x * a.beta + thread % a.beta), ty = thread / (u32)a.beta;
    const bool here = thread < a.beta * a.gamma && own < d;
    const u32 place = here ? own : 0, y = a.list[a.offset[x] + place];
    GaussSlot* slot = slots_of(a) + a.offset[x] + place;
    const bool by_common = a.fast && y < x;
    const u64 sets = choose(a, d - 1, l), end = sets < a.end_rank ? sets : a.end_rank;
    u64 limit = here ? limit_of(a, x, y, a.offset[x] + place) : 0;
    // Earlier launches have ended most pairs.
    if (!__syncthreads_or(a.first_rank < end && a.first_rank < limit)) return;
    const u32* list = own_row(a, x, d, (u32*)row_memory(a));
    Bench b(a, cupc_doubles(l), blockIdx.y * (u64)gridDim.x + blockIdx.x);
    double best = NO_TEST;
    u64 best_rank = NEVER;
    for (u64 base = a.first_rank; base < end; base += a.gamma) {
        u64 t = base + ty;
        if (limit) limit = limit_of(a, x, y, a.offset[x] + place);
        bool asks = t < end && t < limit;
        u64 rank = 0;
        if (asks) {
            unrank(a, d - 1, l, t, b.places, WARP);
            bool all_common = by_common;
            for (u32 i = 0; i < l; i++) {
                u32 at = b.places[i * WARP];
                at += at >= place;
                b.places[i * WARP] = at;
                all_common = all_common && is_common(a, y, list[at]);
            }
            rank = rank_of(a, d, l, b.places, WARP);
            asks = !all_common && rank < limit;
        }
        if (!__any_sync(FULL, asks)) {
            // Ranks are of the whole list, so a separated pair needs no later set.
            if (!__any_sync(FULL, limit == ALL_RANKS)) break;
            continue;
        }
        Quick found = nothing_found();
        if (asks && invert(a, list, b, l)) found = quick(a, x, y, left_of_row(a, x, list, b, l), list, b, l);
        double q;
        decide(a, x, list, d, place, slot, b, l, by_common, asks, found, q);
        if (q < best) {
            best = q;
            best_rank = rank;
        }
    }
    enter_smallest_by_lane(slot, best, best_rank);
}

// Runs cuPC-S: blockIdx.y is a row of the graph, from first_row on. Each of a block's theta threads inverts the correlations of a set
// and tests it for all edges of the row. It continues with the set theta * delta further on.
extern "C" __global__ void set(const __grid_constant__ Args a) {
    const u32 l = (u32)a.size, x = (u32)(a.first_row + blockIdx.y);
    if (x >= a.p) return;
    const u32 d = (u32)(a.offset[x + 1] - a.offset[x]);
    if (d <= l) return;
    const u64 sets = choose(a, d, l), end = sets < a.end_rank ? sets : a.end_rank, first = a.first_rank + blockIdx.x * a.theta;
    if (first >= end) return;
    u64* limits = (u64*)row_memory(a);
    const bool keeps = d <= a.row_room;
    const u32* list = own_row(a, x, d, (u32*)(limits + a.row_room));
    Bench b(a, cupc_doubles(l), blockIdx.y * (u64)gridDim.x + blockIdx.x);
    for (u64 base = first; base < end; base += a.theta * gridDim.x) {
        const u64 t = base + threadIdx.x;
        const bool here = threadIdx.x < a.theta && t < end;
        bool sound = false;
        double xx = 0.0;
        if (here) {
            unrank(a, d, l, t, b.places, WARP);
            sound = invert(a, list, b, l);
            if (sound) xx = left_of_row(a, x, list, b, l);
        }
        if (keeps) {
            // The limits as they are now. Other blocks may lower them while this one goes through the row, which costs tests and changes nothing.
            __syncthreads();
            for (u32 at = threadIdx.x; at < d; at += blockDim.x) limits[at] = limit_of(a, x, list[at], a.offset[x] + at);
            __syncthreads();
        }
        for (u32 own = 0; own < d; own++) {
            const u32 y = list[own];
            GaussSlot* slot = slots_of(a) + a.offset[x] + own;
            bool asks = here && t < (keeps ? limits[own] : limit_of(a, x, y, a.offset[x] + own));
            const bool by_common = a.fast && y < x;
            bool all_common = by_common;
            for (u32 i = 0; i < l && asks; i++) {
                u32 at = b.places[i * WARP];
                asks = at != own;
                if (by_common) all_common = all_common && is_common(a, y, list[at]);
            }
            asks = asks && !all_common;
            if (!__any_sync(FULL, asks)) continue;
            const Quick found = asks && sound ? quick(a, x, y, xx, list, b, l) : nothing_found();
            double q;
            decide(a, x, list, d, own, slot, b, l, by_common, asks, found, q);
            enter_smallest_of_warp(slot, q, t);
        }
    }
}
