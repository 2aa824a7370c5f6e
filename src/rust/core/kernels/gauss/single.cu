// Level 1: conditioning sets of one variable. A warp decides both sides of a pair, 32 candidates at a time, a lane each: most
// pairs are separated by one of their first few, and the smallest rank is that of the first lane that separates.
#include "gauss/test.cuh"
#include "search/sides.cuh"

// Values of `Args::verdict`; any other is the member that separated on the first side, and p_max holds r.
constexpr u32 KEPT = 0xffffffffu;       // tested, not separated; p_max holds r where |r| is smallest
constexpr u32 UNTESTED = 0xfffffffeu;   // no side was visited
constexpr u32 SECOND = 0x80000000u;     // bit: separated on the second side; the other bits are the member, and p_max holds r

// What a lane knows of a side.
struct Found {
    double num, den;    // the smallest q so far is num / den; den 0: none
    u32 at;             // its candidate
    double exact;       // smallest |r| by the exact formula; 2: none
    u32 tests, exact_tests;    // counts of the whole warp
};

// Returns the candidate that separates, or KEPT. `first_row` is the bit row of the vertex whose side was visited first; null: this
// is that side.
__device__ __forceinline__ u32 run(const Args& a, const Side& s, const u32* first_row, Found& f) {
    u32 lane = lane_id();
    const double* row = a.c + (u64)s.row * a.p;
    const double* other = a.c + (u64)s.other * a.p;
    double xy = row[s.other];
    // The next candidates' correlations are fetched one step ahead, and the candidates themselves two; not before the first 32
    // are decided, as half of the pairs end there.
    auto candidate = [&](u32 i) { return i < s.d ? s.list[i] : s.other; };
    u32 next = candidate(lane), after = candidate(lane + WARP);
    double next_u = row[next], next_w = other[next];
    for (u32 base = 0; base < s.d; base += WARP) {
        const u32 v = next;
        const double u = next_u, w = next_w;
        next = after;
        after = candidate(base + 2 * WARP + lane);
        if (base) {
            next_u = row[next];
            next_w = other[next];
        }
        bool counted = v != s.other, asked = counted;
        if (first_row && counted && first_row[v >> 5] >> (v & 31) & 1) {
            // The first side has tested (other, row | v), whose r is the same number: "stable" counts it again,
            // "stable.fast" leaves it out.
            asked = false;
            if (a.fast) counted = false;
        }
        double num = fma(-u, w, xy), x_left = fma(-u, u, 1.0), y_left = fma(-w, w, 1.0);
        double square = num * num, den = x_left * y_left;
        bool trusted = x_left > a.trusted && y_left > a.trusted;
        bool separates = asked && trusted && square < a.below * den;
        bool depends = asked && trusted && square > a.above * den;
        bool suspect = asked && !separates && !depends;
        if (depends && square * f.den < f.num * den) {
            f.num = square;
            f.den = den;
            f.at = v;
        }
        if (suspect) {
            Exact e = exact_single(a, s.row, s.other, v);
            separates = e.separates;
            // All correlations beyond the cut have the same p, and 1 is beyond it.
            if (!separates && !e.missing) f.exact = fmin(f.exact, fmin(fabs(e.r), 1.0));
        }
        u32 counted_mask = __ballot_sync(FULL, counted), suspects = __ballot_sync(FULL, suspect);
        u32 hits = __ballot_sync(FULL, separates);
        if (hits) {
            u32 first = __ffs(hits) - 1;
            u32 up_to = FULL >> (31 - first);
            f.tests += __popc(counted_mask & up_to);
            f.exact_tests += __popc(suspects & up_to);
            return __shfl_sync(FULL, v, first);
        }
        f.tests += __popc(counted_mask);
        f.exact_tests += __popc(suspects);
        if (!base) {
            next_u = row[next];
            next_w = other[next];
        }
    }
    return KEPT;
}

// The smallest |r| of a side that did not separate; 2 where it asked nothing.
__device__ __forceinline__ double smallest(const Args& a, u32 row, u32 other, Found& f) {
    double q = f.den > 0.0 ? f.num / f.den : 2.0;
    u32 at = f.at;
    double exact = f.exact;
    for (int width = 16; width; width /= 2) {
        double q2 = __shfl_xor_sync(FULL, q, width);
        u32 at2 = __shfl_xor_sync(FULL, at, width);
        double exact2 = __shfl_xor_sync(FULL, exact, width);
        if (q2 < q || (q2 == q && at2 < at)) {
            q = q2;
            at = at2;
        }
        exact = fmin(exact, exact2);
    }
    if (q < 2.0) exact = fmin(exact, fabs(exact_single(a, row, other, at).r));
    return exact;
}

// Rows first_row to end_row - 1, `gridDim.y` blocks each.
extern "C" __global__ void __launch_bounds__(DECIDING_THREADS, 6) single(const __grid_constant__ Args a) {
    extern __shared__ u64 sums[];
    u32 lane = lane_id(), warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    u64 tests = 0, exact_tests = 0;
    bool go_on = false;
    for (u64 x = a.first_row + blockIdx.x; x < a.end_row; x += gridDim.x) {
        u64 offset = a.offset[x];
        const u32* list = a.list + offset;
        u32 d = (u32)(a.offset[x + 1] - offset);
        u32 low = 0, high = d;
        while (low < high) {
            u32 middle = (low + high) / 2;
            if (list[middle] < x) low = middle + 1; else high = middle;
        }
        for (u32 place = low + blockIdx.y * warps + warp; place < d; place += gridDim.y * warps) {
            u32 y = list[place];
            if (!is_tested(a, (u32)x, y)) {
                if (lane == 0) a.verdict[offset + place] = UNTESTED;
                continue;
            }
            u64 offset_y = a.offset[y];
            u32 dy = (u32)(a.offset[y + 1] - offset_y);
            u32 found = KEPT;
            double r = 3.0;
            for (u32 second = 0; second < 2; second++) {
                Side side{second ? y : (u32)x, second ? (u32)x : y, second ? a.list + offset_y : list, second ? dy : d};
                go_on |= side.d > 2;
                Found f{1.0, 0.0, 0xffffffffu, 2.0, 0, 0};
                found = run(a, side, second ? a.graph + x * a.words : nullptr, f);
                tests += f.tests;
                exact_tests += f.exact_tests;
                if (found != KEPT) {
                    Exact e = exact_single(a, side.row, side.other, found);
                    // All correlations beyond the cut have the same p, and 1 is beyond it.
                    r = e.missing ? 0.0 : fmax(-1.0, fmin(e.r, 1.0));
                    if (second) found |= SECOND;
                    break;
                }
                r = fmin(r, smallest(a, side.row, side.other, f));
            }
            if (lane == 0) {
                if (r <= 1.5) *packed(a, (u32)x, y) = r;
                else if (found == KEPT) found = UNTESTED;
                a.verdict[offset + place] = found;
            }
        }
    }
    if (lane == 0) {
        sums[3 * warp] = tests;
        sums[3 * warp + 1] = exact_tests;
        sums[3 * warp + 2] = go_on;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        tests = exact_tests = 0;
        for (u32 w = 0; w < warps; w++) {
            tests += sums[3 * w];
            exact_tests += sums[3 * w + 1];
            go_on |= sums[3 * w + 2] != 0;
        }
        if (tests) atomicAdd(&a.report->tests, tests);
        if (exact_tests) atomicAdd(&a.report->exact, exact_tests);
        if (go_on) a.report->go_on = 1;
    }
}

// Turns r into p, 32 pairs of a row at a time, and counts separated pairs in `record_count` of the vertex that their set is kept
// under: pcalg's C++ keeps every set under the larger vertex, its R code under the one from whose neighbours it is.
extern "C" __global__ void settle_single(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    for (u64 x : by_warp(a.p)) {
        u32 count = 0, own = 0;
        for (u64 e = a.offset[x] + lane; e < a.offset[x + 1]; e += WARP) {
            u32 y = a.list[e];
            if (y < x) continue;
            u32 verdict = a.verdict[e];
            if (verdict == UNTESTED) continue;
            double* cell = packed(a, (u32)x, y);
            *cell = p_of_correlation(a, *cell, a.scale);
            if (verdict == KEPT) continue;
            count++;
            if (a.fast || verdict & SECOND) atomicAdd(&a.record_count[y], 1u); else own++;
        }
        count = warp_sum(count);
        own = warp_sum(own);
        if (lane == 0) {
            if (own) atomicAdd(&a.record_count[x], own);
            if (count) atomicAdd(&a.report->logged, (u64)count);
        }
    }
}

// Writes the records (other, member) row by row, in ascending order of the other vertex, and removes the pairs from the graph.
extern "C" __global__ void log_single(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    for (u64 x : by_warp(a.p)) {
        u64 to = a.first_record[x], end = a.offset[x + 1];
        for (u64 base = a.offset[x]; base < end; base += WARP) {
            u64 e = base + lane;
            u32 y = e < end ? a.list[e] : (u32)x;
            u32 verdict = KEPT;
            if (y > x) {
                verdict = a.verdict[e];
            } else if (y < x) {
                // The verdict stands with the smaller vertex.
                verdict = a.verdict[twin_of(a, (u32)x, y)];
            }
            bool separated = verdict < UNTESTED;
            bool here = separated && (y < x) == (a.fast || verdict & SECOND);
            u32 mask = __ballot_sync(FULL, here);
            if (here) {
                u32* record = a.log + 2 * (to + lanes_before(mask));
                record[0] = y;
                record[1] = verdict & ~SECOND;
            }
            if (separated) remove_neighbour(a, (u32)x, y);
            to += __popc(mask);
        }
    }
}
