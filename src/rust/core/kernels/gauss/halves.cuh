// Half precision, two numbers in 32 bits: a screen before the tests of single.cuh, two tests an instruction.
//
// A variable keeps two numbers for each z: s = r_xz and k = sqrt(1 - s²). Half precision rounds by u = 2^-11. Let l > 0 be the root of a
// threshold, and c = |r_xy|. Rounded numbers have a prime: c' = c (1 - 4u) and l' = l (1 + 8u) + 2^-16. The sign of r_xy is taken by s_x.
// A set {z} is ruled out unless this is negative:
//
//     (c' - s_x' s_y') - l' k_x' k_y'
//
// Then r(xy | z) is above l and has the sign of r_xy.
//
// Proof: let S = s_x s_y and K = k_x k_y. Suppose that r(xy | z) = (c - S) / K <= l.
// - Both s² are at most 15/16, so K >= 1/16. The rounded k_x' k_y' is at least K (1 - 3.01u).
// - The product s_x' s_y' is not rounded. It is off by at most 2.01u |S| + 2^-24. The latter comes from numbers below 2^-14.
// - The error of c' is at most u c. Let d = c' - s_x' s_y'. This leaves three cases.
//
//     S >= 0, c >= l K:    S >= c - l K, so d <= c (1 - 3u) - (c - l K) (1 - 2.01u) + 2^-23 < l K + 2^-23.
//     S >= 0, c < l K:     d <= c - S (1 - 2.01u) + 2^-23 < l K + 2^-23.
//     S < 0:               c + |S| <= l K, so d <= c + |S| (1 + 2.01u) + 2^-23 <= l K (1 + 2.01u) + 2^-23.
//
// - The rounded d is at most l K (1 + 3.02u) + 2^-22, or it is not positive. The last term is at most 2^-18 K.
// - The rounded l' is at least l (1 + 6.9u) + 2^-17, so l' k_x' k_y' is larger than d.
// - The last multiply-add has the sign of the exact difference, which is negative, even if it becomes 0.
//
// No number here is NaN: where single precision cannot serve, k' is infinite, and where r_xy is NaN, c' is 0 and l' infinite.
#pragma once
#include "gauss/single.cuh"

// Returns two numbers, rounded to half precision: the first in the lower bits.
__device__ __forceinline__ u32 halves(float first, float second) {
#ifdef __CUDA_ARCH__
    u32 both;
    asm("{ .reg .b16 f, s; cvt.rn.f16.f32 f, %1; cvt.rn.f16.f32 s, %2; mov.b32 %0, {f, s}; }" : "=r"(both) : "f"(first), "f"(second));
    return both;
#else
    return emulated::halves(first, second);
#endif
}

// Returns c - a b in half precision, rounded once.
__device__ __forceinline__ u32 minus_halves(u32 c, u32 a, u32 b) {
#ifdef __CUDA_ARCH__
    u32 left;
    asm("{ .reg .b32 n; neg.f16x2 n, %1; fma.rn.f16x2 %0, n, %2, %3; }" : "=r"(left) : "r"(a), "r"(b), "r"(c));
    return left;
#else
    return emulated::minus_halves(c, a, b);
#endif
}

// Returns a b in half precision.
__device__ __forceinline__ u32 times_halves(u32 a, u32 b) {
#ifdef __CUDA_ARCH__
    u32 product;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
    return product;
#else
    return emulated::minus_halves(0, a ^ 0x80008000u, b);
#endif
}

// Returns the square root, off by at most 2^-22 of it.
__device__ __forceinline__ float root(float square) {
#ifdef __CUDA_ARCH__
    float found;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(found) : "f"(square));
    return found;
#else
    return sqrtf(square);
#endif
}

// What a vertex keeps of a lane's eight variables z0 + lane, z0 + lane + 32, .. .
constexpr u32 EIGHT = 8;
struct Eight { uint4 s, k; };

// Returns what v keeps. Of itself, and of variables beyond the last, it keeps a correlation of 0.
__device__ __forceinline__ Eight eight_of(const Args& a, u32 v, u32 z0) {
    const u32 z = z0 + lane_id(), p = (u32)a.p;
    const double* of_v = correlations_of(a, v) + z;
    float s[EIGHT], k[EIGHT];
#pragma unroll
    for (u32 i = 0; i < EIGHT; i++) {
        const double r = z + WARP * i < p && z + WARP * i != v ? of_v[WARP * i] : 0.0;
        const bool serves = r * r <= NEAR_ONE;
        const float single = (float)r, left = root(fmaf(-single, single, 1.0f));
        s[i] = serves ? single : 0.0f;
        k[i] = serves ? left : 1e30f;
    }
    return {
        {halves(s[0], s[1]), halves(s[2], s[3]), halves(s[4], s[5]), halves(s[6], s[7])},
        {halves(k[0], k[1]), halves(k[2], k[3]), halves(k[4], k[5]), halves(k[6], k[7])},
    };
}

// Returns the numbers of a pair for a threshold of r²: r_xy and l, both with the sign of r_xy.
__device__ __forceinline__ u32 screen_of(float xy, float threshold) {
    const float l = fmaf(root(threshold), 1.0f + 0x1p-8f, 0x1p-16f);
    return isnan(xy) ? halves(0.0f, 1e30f) : halves(xy * (1.0f - 0x1p-9f), xy < 0.0f ? -l : l);
}

// What is left of a lane's tests of a pair, c' - s' s' - l' k' k' by variable, with the sign of r_xy.
struct Left {
    uint4 by_two;
    u32 xy;

    // Returns whether one may have an r² below the threshold, or an r of another sign than r_xy.
    __device__ __forceinline__ bool any_low() const {
        return (((by_two.x ^ xy) | (by_two.y ^ xy) | (by_two.z ^ xy) | (by_two.w ^ xy)) & 0x80008000u) != 0;
    }

    // Returns for which variables that is so, in their order.
    __device__ __forceinline__ u32 lows() const {
        auto signs = [](u32 both) { return (both >> 15 & 1) | (both >> 30 & 2); };
        u32 negative = signs(by_two.x) | signs(by_two.y) << 2 | signs(by_two.z) << 4 | signs(by_two.w) << 6;
        return xy >> 31 ? ~negative & 0xff : negative;
    }
};

// Tests x and y given the lane's variables. `screen`: of screen_of().
__device__ __forceinline__ Left left_of(u32 screen, const Eight& x, const Eight& y) {
    const u32 xy = __byte_perm(screen, 0, 0x1010), l = __byte_perm(screen, 0, 0x3232);
    auto left = [&](u32 s_x, u32 s_y, u32 k_x, u32 k_y) {
        return minus_halves(minus_halves(xy, s_x, s_y), l, times_halves(k_x, k_y));
    };
    const uint4 by_two{
        left(x.s.x, y.s.x, x.k.x, y.k.x),
        left(x.s.y, y.s.y, x.k.y, y.k.y),
        left(x.s.z, y.s.z, x.k.z, y.k.z),
        left(x.s.w, y.s.w, x.k.w, y.k.w),
    };
    return {by_two, xy};
}
