// Tests given one variable: the formula that decides them, and the run through a side's list of candidates.
#pragma once
#include "gauss/test.cuh"
#include "search/sides.cuh"

constexpr u32 MASK_ROWS = 64;    // host: rows that are taken together, by lists, columns or masks

// Returns the number of neighbours that a block of MASK_ROWS rows has in total. It decides how the block's pairs are tested.
__device__ __forceinline__ u64 ends_of(const Args& a, u64 block) {
    u64 first = block * MASK_ROWS, end = first + MASK_ROWS < a.p ? first + MASK_ROWS : a.p;
    return a.offset[end] - a.offset[first];
}
__device__ __forceinline__ bool takes_masks(const Args& a, u64 block) { return ends_of(a, block) >= a.mask_ends; }
__device__ __forceinline__ bool takes_columns(const Args& a, u64 block) {
    u64 ends = ends_of(a, block);
    return ends >= a.column_ends && ends < a.mask_ends;
}
__device__ __forceinline__ bool takes_lists(const Args& a, u64 block) {
    u64 ends = ends_of(a, block);
    return ends < a.column_ends && ends < a.mask_ends;
}

// The list entries of the pairs of x with larger vertices.
struct Range { u64 from, to; };
__device__ __forceinline__ Range larger_of(const Args& a, u32 x) {
    const u64 offset = a.offset[x], end = a.offset[x + 1];
    return {offset + vertices_before(a.list + offset, (u32)(end - offset), x), end};
}

// Values of `Args::verdict`. Any other value is the member that separated on the first side, and p_max holds r.
constexpr u32 KEPT = 0xffffffffu;       // tested, not separated; p_max holds the smallest |r|
constexpr u32 UNTESTED = 0xfffffffe;   // no side was visited
constexpr u32 SECOND = 0x80000000;     // host: bit of a verdict: separated on the second side; the other bits are the member, and p_max holds r
constexpr u32 PENDING = 0x40000000u;    // bit, between kernels: the first side does not separate, the second is not visited yet

// A lane's results for a side.
struct Found {
    double num, den;    // the smallest q so far is num / den; den 0: none
    u32 at;             // candidate of the smallest q
    double exact;       // smallest |r| by the exact formula; 2: none
    u32 tests, exact_tests;    // counts of the whole warp
};

// Tests a pair given v. `xy` is the correlation of the pair, `u` and `w` are those of x and of y with v. Returns whether v separates; if
// not, updates `f`. `suspect` becomes whether the exact formula, `exact()`, decided. ASCENDING: a lane's v ascend.
template <bool ASCENDING, class Formula> __device__ __forceinline__ bool test_of(
    const Args& a, u32 v, double xy, double u, double w, Found& f, bool& suspect, Formula exact
) {
    double num = fma(-u, w, xy), x_left = fma(-u, u, 1.0), y_left = fma(-w, w, 1.0);
    double square = num * num, den = x_left * y_left;
    bool trusted = x_left > a.trusted && y_left > a.trusted;
    bool separates = trusted && square < a.below * den;
    bool depends = trusted && square > a.above * den;
    suspect = !separates && !depends;
    if (depends) {
        double found = square * f.den, known = f.num * den;
        if (found < known || (!ASCENDING && found == known && v < f.at)) {
            f.num = square;
            f.den = den;
            f.at = v;
        }
    }
    if (suspect) {
        Exact e = exact();
        separates = e.separates;
        // All correlations beyond the cut have the same p, and 1 is beyond it.
        if (!separates && !e.missing) f.exact = fmin(f.exact, fmin(fabs(e.r), 1.0));
    }
    return separates;
}

// Tests (x, y) given v.
template <bool ASCENDING> __device__ __forceinline__ bool test_single(
    const Args& a, u32 x, u32 y, u32 v, double xy, double u, double w, Found& f, bool& suspect
) {
    return test_of<ASCENDING>(a, v, xy, u, w, f, suspect, [&] { return exact_single(a, x, y, v); });
}

// Tests a side's candidates. Returns the candidate that separates, or KEPT. `first_row` is the bit row of the vertex whose side was visited
// first; null: this is that side.
__device__ __forceinline__ u32 run(const Args& a, const Side& s, const u32* first_row, Found& f) {
    u32 lane = lane_id();
    const double *row = correlations_of(a, s.row), *other = correlations_of(a, s.other);
    double xy = row[s.other];
    // Correlations are fetched one step ahead, and candidates two steps ahead. Only the first step fetches the next correlations after its
    // tests, as half of the pairs end there.
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
            // The first side has tested (other, row | v), which has the same r: "stable" counts it again, "stable.fast" leaves it out.
            asked = false;
            if (a.fast) counted = false;
        }
        bool suspect = false, separates = asked && test_single<true>(a, s.row, s.other, v, xy, u, w, f, suspect);
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

// Returns the smallest |r| of tests that did not separate; 2 if there were none. `formula(v)` is the exact formula given v.
template <class Formula> __device__ __forceinline__ double smallest_of(const Found& f, Formula formula) {
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
    if (q < 2.0) exact = fmin(exact, fabs(formula(at).r));
    return exact;
}

// Returns the smallest |r| of a side's tests.
__device__ __forceinline__ double smallest(const Args& a, u32 row, u32 other, const Found& f) {
    return smallest_of(f, [&](u32 v) { return exact_single(a, row, other, v); });
}

// Returns r of a test that separates, in the form from which p is computed.
__device__ __forceinline__ double separating_r(const Exact& e) {
    // All correlations beyond the cut have the same p, and 1 is beyond it.
    return e.missing ? 0.0 : fmax(-1.0, fmin(e.r, 1.0));
}

// Returns r of the pair that v separates, in the same form.
__device__ __forceinline__ double separating(const Args& a, u32 row, u32 other, u32 v) {
    return separating_r(exact_single(a, row, other, v));
}

// Adds up the reports of a block's warps: tests, exact tests, whether to continue. `sums`: three numbers a warp, in shared memory.
__device__ __forceinline__ void report_singles(const Args& a, u64* sums, u64 tests, u64 exact_tests, bool go_on) {
    u32 lane = lane_id(), warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
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

// The margin of single precision, which rules out separation for nearly all tests. Let e = 2^-24 be its rounding, and let 1 - r_xz² and 1 -
// r_yz² be at least v = 1/16. The numerator of r(xy | z), r_xy - r_xz r_yz, is off by at most 5e, which moves r by 5e / v = 5e-6. The two
// variances are off by 4e each: their relative error is 4e / v, and that of the root of their product 4e-6. A test that lies above the
// critical value by BAND depends by test_single(), too. All other tests go to test_single(). So no verdict rests on single precision.
constexpr double BAND = 1e-5;
constexpr double NEAR_ONE = 15.0 / 16.0;    // squared correlations above this are left to double precision

// Returns the threshold of single precision for a squared partial correlation, rounded up.
__device__ __forceinline__ float covering(double q) {
    double r = sqrt(q) + BAND;
    return __double2float_ru(r * r);
}

// Returns the threshold below which another value in single precision may be the smaller one: twice the band, as both are inexact.
__device__ __forceinline__ float covering_twice(float q) {
    double r = sqrt((double)q) + 2 * BAND;
    return __double2float_ru(r * r);
}

// Returns r in single precision, or NaN if that cannot serve: nothing computed from NaN is above a threshold.
__device__ __forceinline__ float coarse(double r) { return r * r <= NEAR_ONE ? (float)r : nanf(""); }

// Returns whether r² of x and y given z may lie below the threshold. `limit` is the threshold times 1 - r_xz².
__device__ __forceinline__ bool is_low(float xy, float of_x, float limit, float of_y) {
    float left_y = fmaf(-of_y, of_y, 1.0f), covariance = fmaf(-of_x, of_y, xy);
    return !(covariance * covariance > limit * left_y);
}
