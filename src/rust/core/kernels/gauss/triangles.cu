// Level 1 of sparse graphs by slices of the upper triangle. A slice holds the correlations of its variables z with the variables from its
// first one on. So half of the matrix is transferred, once, and all pairs wait.
//
// A test of (x, y) given z, a neighbour of x, needs r of y and z, which comes with the smaller of the two. r of x and z is known, as they
// are a pair, too. As slices ascend, a side is tested given ascending z. Until the other vertex is in the slice, these are the slice's z;
// then, they are all further z. All z before the slice have been tested.
#include "gauss/slices.cuh"

// Returns r of two variables that are a pair, or whose smaller one is in the slice.
__device__ __forceinline__ double between(const Slices& s, u32 u, u32 v) {
    const u32 low = u < v ? u : v, high = u < v ? v : u;
    if (low >= s.first_z && low < s.end_z) return s.rows[(low - s.first_z) * s.pitch + (high - s.first_column)];
    return s.pairs[number_of(s.a, low, high)].xy;
}

// A pair of this lane, or of the warp.
struct Between {
    const Slices& s;
    u32 x, y;
    double xy;

    __device__ __forceinline__ Exact formula(u32 z) const { return exact_of(s.a, xy, between(s, x, z), between(s, y, z)); }

    // Returns whether z separates the pair; counts the test if the exact formula decides.
    __device__ __forceinline__ bool test(u32 z, double xz, double yz, Found& f, u32& exact_tests) const {
        bool suspect = false;
        const bool separates = test_of<true>(s.a, z, xy, xz, yz, f, suspect, [&] { return exact_of(s.a, xy, xz, yz); });
        exact_tests += suspect;
        return separates;
    }
};

constexpr Found NOTHING{1.0, 0.0, FULL, 2.0, 0, 0};

// Returns the smallest |r| that a lane has found by itself, as smallest_of() does; 2 if nothing was tested.
__device__ __forceinline__ double smallest_of_lane(const Between& pair, const Found& f) {
    return f.den > 0.0 ? fmin(f.exact, fabs(pair.formula(f.at).r)) : f.exact;
}

// Tests a pair of the warp given the variables from the slice's first on that are in `of` and not in `but` (null: none), except `other`.
// Returns the first that separates, or KEPT. Counts the tests up to there that the exact formula decides.
__device__ __forceinline__ u32 ask_rest(const Between& pair, const u32* of, const u32* but, u32 other, Found& f, u32& exact_tests) {
    const Args& a = pair.s.a;
    const u32 lane = lane_id();
    u32 found = KEPT, counted = 0;
    for (u64 base = pair.s.first_z / 32; base < a.words && found == KEPT; base += WARP) {
        const u64 w = base + lane;
        u32 bits = w < a.words ? of[w] : 0, own = 0;
        if (bits && but) bits &= ~but[w];
        if (w == other / 32) bits &= ~(1u << other % 32);
        for (; bits && found == KEPT; bits &= bits - 1) {
            const u32 z = (u32)w * 32 + __ffs(bits) - 1;
            if (pair.test(z, between(pair.s, pair.x, z), between(pair.s, pair.y, z), f, own)) found = z;
        }
        __syncwarp();
        const u32 hits = __ballot_sync(FULL, found != KEPT);
        if (hits) {
            const u32 first = __ffs(hits) - 1;
            if (lane > first) own = 0;
            found = __shfl_sync(FULL, found, first);
        }
        counted += own;
    }
    exact_tests += warp_sum(counted);
    return found;
}

// Closes a pair that z separates on its first side, and returns the number of that side's tests.
__device__ __forceinline__ u64 close_first(const Between& pair, u32 z, Pair* at) {
    at->r = separating_r(pair.formula(z));
    at->what = pair.y | as_separator(z) | PAIR_CLOSED;
    return neighbours_before(pair.s.a, pair.x, z) + 1 - (pair.y < z);
}

// Tests up to 32 pairs of x; `open` has their numbers. Pairs whose y comes after the slice are tested first, a lane each, given the slice's
// variables. Then all lanes together test the pairs with a vertex in the slice.
__device__ __forceinline__ void take_pairs(const Slices& s, u32 x, u32* open, u32 count, Counts& counts) {
    const Args& a = s.a;
    const u32 lane = lane_id(), place = lane < count ? open[lane] : FULL;
    const u32 first_word = (u32)(s.first_z / 32), end_word = (u32)div_ceil(s.end_z, 32);
    const u32* row = a.graph + x * a.words;
    bool is_open = place != FULL;
    Pair* at = s.pairs + (is_open ? place : 0);
    u64 what = is_open ? at->what : 0;
    const u32 y = is_open ? larger_in(what) : x;
    const Between own{s, x, y, is_open ? at->xy : 0.0};
    const bool is_after = is_open && y >= s.end_z, x_after = x >= s.end_z;
    const u32* row_y = a.graph + y * a.words;
    u32 first = KEPT, second = KEPT, exact_first = 0, exact_second = 0;
    Found f = NOTHING;
    if (__any_sync(FULL, is_after)) {
        for (u32 w = first_word; w < end_word; w++) {
            for (u32 bits = row[w]; bits; bits &= bits - 1) {
                const u32 z = w * 32 + __ffs(bits) - 1;
                const double xz = between(s, x, z);
                if (is_after && first == KEPT && own.test(z, xz, between(s, y, z), f, exact_first)) first = z;
            }
        }
        if (x_after && is_after && first == KEPT && !separator_in(what)) {
            for (u32 w = first_word; w < end_word && second == KEPT; w++) {
                for (u32 bits = row_y[w] & ~row[w]; bits && second == KEPT; bits &= bits - 1) {
                    const u32 z = w * 32 + __ffs(bits) - 1;
                    if (own.test(z, between(s, x, z), between(s, y, z), f, exact_second)) second = z;
                }
            }
        }
    }
    u64 tests = 0;
    if (first != KEPT) {
        tests = close_first(own, first, at);
        is_open = false;
    } else if (is_after) {
        what += as_exact(exact_second);
        if (second != KEPT) {
            what += as_separator(second);
            at->r = separating_r(own.formula(second));
        } else if (!separator_in(what)) {
            at->r = fmin(at->r, smallest_of_lane(own, f));
        }
        at->what = what;
    }
    counts.tests += warp_sum(tests);
    counts.exact += warp_sum(exact_first);
    __syncwarp();

    const bool x_within = x >= s.first_z && x < s.end_z;
    for (u32 todo = __ballot_sync(FULL, is_open && (x_within || y < s.end_z)); todo; todo &= todo - 1) {
        const u32 j = __ffs(todo) - 1, y_j = __shfl_sync(FULL, y, j);
        Pair* at_j = s.pairs + __shfl_sync(FULL, place, j);
        const Between pair{s, x, y_j, at_j->xy};
        double r = at_j->r;
        u64 known = at_j->what;
        u32 found = KEPT, exact_tests = 0;
        if (x_within && !separator_in(known)) {
            Found g = NOTHING;
            found = ask_rest(pair, a.graph + y_j * a.words, row, x, g, exact_tests);
            known += as_exact(exact_tests);
            if (found != KEPT) {
                known += as_separator(found);
                r = separating_r(pair.formula(found));
            } else {
                r = fmin(r, smallest_of(g, [&](u32 z) { return pair.formula(z); }));
            }
        }
        const bool ends = y_j < s.end_z;
        if (ends) {
            Found g = NOTHING;
            exact_tests = 0;
            found = ask_rest(pair, row, nullptr, y_j, g, exact_tests);
            counts.exact += exact_tests;
            if (found == KEPT && !separator_in(known)) r = fmin(r, smallest_of(g, [&](u32 z) { return pair.formula(z); }));
        }
        __syncwarp();
        u64 of_pair = 0;
        if (lane == 0) {
            if (ends && found != KEPT) {
                of_pair = close_first(pair, found, at_j);
            } else {
                at_j->r = r;
                at_j->what = known;
            }
        }
        counts.tests += warp_sum(of_pair);
        __syncwarp();
        if (ends && found == KEPT) end_pair(Asked{s, x, y_j, at_j}, counts);
        if (ends && lane == j) is_open = false;
    }
    if (place != FULL && !is_open) open[lane] = FULL;
}

// Tests the open pairs of rows first_row to end_row - 1; `gridDim.y` blocks share a row. In rows outside the slice, a warp takes 32 pairs,
// as most of these go by lanes. In rows inside the slice, all lanes also test every pair together, one after the other, so all warps share
// the pairs.
extern "C" __global__ void __launch_bounds__(SLICE_THREADS, 5) triangle_tests(const __grid_constant__ Slices s) {
    const u32 warps = blockDim.x / WARP, warp = threadIdx.x / WARP;
    Counts counts{0, 0, false};
    for (u64 row = s.a.first_row + blockIdx.x; row < s.a.end_row; row += gridDim.x) {
        const u32 left = s.left[row], all = gridDim.y * warps;
        const bool within = row >= s.first_z && row < s.end_z;
        const u32 each = within ? min((u32)div_ceil(left, all), WARP) : WARP;
        u32* open = s.open + start_of(s, row);
        for (u32 base = (blockIdx.y * warps + warp) * each; base < left; base += all * each) {
            take_pairs(s, (u32)row, open + base, min(left - base, each), counts);
        }
    }
    report_counts(s.a, counts);
}
