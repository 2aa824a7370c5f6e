// Levels 1 and up by the mappings of cuPC (Zarebavani et al. 2020, section 3), to reproduce and compare: which thread runs
// which test is the paper's; results go to the same slots as with our own strategy. Not kept from the paper's listings: threads
// that race for the separating set, sqrt(n - l - 4) in the test, and the end at level 14.
#include "gauss/slots.cuh"

// Working memory of a warp in doubles: the inverse for 32 sets, the exact formula, the places of 32 sets, a set.
__host__ __device__ constexpr u64 paper_doubles(u64 l) { return 32 * l * l + exact_doubles(l) + 16 * l + l; }

struct Bench {
    double *inverse, *exact;
    u32 *places, *set;

    __device__ Bench(const Args& a) {
        u64 l = a.size;
        double* at = working_memory(a, blockIdx.y * (u64)gridDim.x + blockIdx.x);
        inverse = at + lane_id();           // [i][j][lane]
        exact = at + 32 * l * l;
        places = (u32*)(exact + exact_doubles(l)) + lane_id();    // [i][lane]
        set = places - lane_id() + 32 * l;
    }
};

// The inverse loses twice the digits that elimination does. It is trusted where pivots and variances are above this and, for
// sets of two and more, squared partial correlations below 1 minus this.
constexpr double PIVOT = 1e-3;

// Inverts C[S, S] of this lane's set by Gauss-Jordan elimination; false when a pivot is too small to be trusted.
__device__ inline bool invert(const Args& a, const u32* list, const Bench& b, u32 l) {
    for (u32 i = 0; i < l; i++)
        for (u32 j = 0; j < l; j++) b.inverse[(i * l + j) * WARP] = correlation(a, list[b.places[i * WARP]], list[b.places[j * WARP]]);
    for (u32 k = 0; k < l; k++) {
        double pivot = b.inverse[(k * l + k) * WARP];
        if (!(pivot > PIVOT)) return false;
        double scale = 1.0 / pivot;
        for (u32 j = 0; j < l; j++)
            if (j != k) b.inverse[(k * l + j) * WARP] *= scale;
        for (u32 i = 0; i < l; i++) {
            if (i == k) continue;
            double factor = b.inverse[(i * l + k) * WARP];
            for (u32 j = 0; j < l; j++)
                if (j != k) b.inverse[(i * l + j) * WARP] = fma(-factor, b.inverse[(k * l + j) * WARP], b.inverse[(i * l + j) * WARP]);
            b.inverse[(i * l + k) * WARP] = -factor * scale;
        }
        b.inverse[(k * l + k) * WARP] = scale;
    }
    return true;
}

struct Quick {
    bool separates, depends;
    double q;
};

// Decides from H = M0 - M1 M2^-1 M1' of the paper's section 4.3.
__device__ inline Quick quick(const Args& a, u32 x, u32 y, const u32* list, const Bench& b, u32 l) {
    double xx = correlation(a, x, x), yy = correlation(a, y, y), xy = correlation(a, x, y);
    for (u32 i = 0; i < l; i++) {
        double with_x = 0.0, with_y = 0.0;
        for (u32 j = 0; j < l; j++) {
            u32 s = list[b.places[j * WARP]];
            double w = b.inverse[(i * l + j) * WARP];
            with_x = fma(w, correlation(a, x, s), with_x);
            with_y = fma(w, correlation(a, y, s), with_y);
        }
        u32 s = list[b.places[i * WARP]];
        double sx = correlation(a, x, s), sy = correlation(a, y, s);
        xx = fma(-sx, with_x, xx);
        yy = fma(-sy, with_y, yy);
        xy = fma(-sx, with_y, xy);
    }
    double q = xy * xy / (xx * yy);
    bool trusted = xx > PIVOT && yy > PIVOT && (l == 1 || q < 1.0 - PIVOT) && q >= 0.0;
    return {trusted && q < a.below, trusted && q > a.above, q};
}

// Decides each lane's test and enters the outcome in its slot; `asks`: whether the lane has a test, `sound`: whether its inverse
// is trusted. Returns whether the test separates; q becomes that of a quick test that does not, else 2. The whole warp must call
// it.
__device__ inline bool decide(const Args& a, u32 x, const u32* list, u32 d, u32 own, GaussSlot* slot, const Bench& b, u32 l,
                              bool asks, bool sound, double& q) {
    u32 other = list[own];
    Quick found{false, false, 2.0};
    if (asks && sound) found = quick(a, x, other, list, b, l);
    bool separates = asks && found.separates, exactly = false;
    q = asks && found.depends ? found.q : 2.0;
    for (u32 left = __ballot_sync(FULL, asks && !found.separates && !found.depends); left; left &= left - 1) {
        u32 lane = __ffs(left) - 1;
        u32 y = __shfl_sync(FULL, other, lane), row = __shfl_sync(FULL, x, lane);
        u64 from = __shfl_sync(FULL, (u64)list, lane);
        __syncwarp();
        if (lane_id() == lane) write_set(a, (const u32*)from, y, b.places, WARP, b.set);
        __syncwarp();
        Exact e = exact(a, row, y, b.set, l, b.exact);
        if (lane_id() == lane) {
            atomicAdd(&slot->exact, 1u);
            separates = exactly = e.separates;
            if (!separates) enter_exact(slot, e);
        }
        __syncwarp();
    }
    if (separates) {
        const bool by_common = a.fast && a.second;
        u64 key = by_common ? rank_common_last(a, list, d, own, b.places, WARP) : rank_of(a, d, l, b.places, WARP);
        atomicMin(&slot->stop, 2 * key + (exactly ? 1 : 0));
    }
    return separates;
}

// cuPC-E: blockIdx.y is a row of the graph, from first_row on; a block has beta of its edges and gamma threads for each, which
// stride over the edge's sets.
extern "C" __global__ void edge(const __grid_constant__ Args a) {
    const u32 l = (u32)a.size, x = (u32)(a.first_row + blockIdx.y);
    if (x >= a.p) return;
    const u32 d = (u32)(a.offset[x + 1] - a.offset[x]);
    if (d <= l || blockIdx.x * a.beta >= d) return;
    const u32* list = a.list + a.offset[x];
    Bench b(a);
    const u32 thread = threadIdx.x;
    const u32 own = (u32)(blockIdx.x * a.beta + thread % a.beta), ty = thread / (u32)a.beta;
    const bool here = thread < a.beta * a.gamma && own < d;
    const u32 place = here ? own : 0;
    GaussSlot* slot = slots_of(a) + a.offset[x] + place;
    const bool active = here && takes_part(a, slots_of(a), x, a.offset[x] + place);
    const bool by_common = a.fast && a.second;
    const u64 sets = choose(a, d - 1, l), end = sets < a.end_rank ? sets : a.end_rank;
    double best = 2.0;
    u64 best_rank = NEVER;
    for (u64 base = a.first_rank; base < end; base += a.gamma) {
        u64 t = base + ty;
        bool asks = active && t < end;
        u64 rank = 0;
        if (asks) {
            unrank(a, d - 1, l, t, b.places, WARP);
            bool all_common = by_common;
            for (u32 i = 0; i < l; i++) {
                u32 at = b.places[i * WARP];
                at += at >= place;
                b.places[i * WARP] = at;
                all_common = all_common && is_common(a, list[place], list[at]);
            }
            rank = rank_of(a, d, l, b.places, WARP);
            asks = !all_common && (by_common || rank < stop_of(slot) >> 1);
        }
        if (!__any_sync(FULL, asks)) {
            // With ranks of the whole list, no later set of a separated pair is needed.
            if (!by_common && !__any_sync(FULL, active && stop_of(slot) == NEVER)) break;
            continue;
        }
        bool sound = asks && invert(a, list, b, l);
        double q;
        decide(a, x, list, d, place, slot, b, l, asks, sound, q);
        if (q < best) {
            best = q;
            best_rank = rank;
        }
    }
    enter_smallest_by_lane(slot, best, best_rank);
}

// cuPC-S: blockIdx.y is a row of the graph, from first_row on; each of a block's theta threads inverts the correlations of a set,
// tests it for all edges of the row, and goes on with the set theta * delta further on.
extern "C" __global__ void set(const __grid_constant__ Args a) {
    const u32 l = (u32)a.size, x = (u32)(a.first_row + blockIdx.y);
    if (x >= a.p) return;
    const u32 d = (u32)(a.offset[x + 1] - a.offset[x]);
    if (d <= l) return;
    const u32* list = a.list + a.offset[x];
    Bench b(a);
    const bool by_common = a.fast && a.second;
    const u64 sets = choose(a, d, l), end = sets < a.end_rank ? sets : a.end_rank;
    for (u64 base = a.first_rank + blockIdx.x * a.theta; base < end; base += a.theta * gridDim.x) {
        const u64 t = base + threadIdx.x;
        const bool here = threadIdx.x < a.theta && t < end;
        bool sound = false;
        if (here) {
            unrank(a, d, l, t, b.places, WARP);
            sound = invert(a, list, b, l);
        }
        for (u32 own = 0; own < d; own++) {
            GaussSlot* slot = slots_of(a) + a.offset[x] + own;
            // Must be the same for all lanes of the warp; whether a lane asks may differ.
            if (!takes_part(a, slots_of(a), x, a.offset[x] + own)) continue;
            bool asks = here && (by_common || t < stop_of(slot) >> 1), all_common = by_common;
            for (u32 i = 0; i < l && asks; i++) {
                u32 at = b.places[i * WARP];
                asks = at != own;
                if (by_common) all_common = all_common && is_common(a, list[own], list[at]);
            }
            asks = asks && !all_common;
            if (!__any_sync(FULL, asks)) continue;
            double q;
            decide(a, x, list, d, own, slot, b, l, asks, sound, q);
            if (!__any_sync(FULL, q < 2.0 && !(q > volatile_q(slot)))) continue;
            u64 rank = t;
            for (int width = 16; width; width /= 2) {
                double q2 = __shfl_xor_sync(FULL, q, width);
                u64 rank2 = __shfl_xor_sync(FULL, rank, width);
                if (q2 < q || (q2 == q && rank2 < rank)) {
                    q = q2;
                    rank = rank2;
                }
            }
            enter_smallest(slot, q, rank, lane_id() == 0 && q < 2.0);
        }
    }
}
