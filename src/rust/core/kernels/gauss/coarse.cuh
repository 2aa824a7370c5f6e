// Single precision for sets of two and more in rows with many neighbours: it shows that nearly all of them neither separate nor have the
// smallest |r|.
//
// Given the prefix S' of a set, lanes have b = cov(x, y | S') and the variance v of y. For each last member s, of variance w, they compute:
//   t = cov(y, s | S') / sqrt(w);  num = b - t cov(x, s | S') / sqrt(w);  den = v - t²;  g = var(x | S), in double precision;  r² = num² /
//   (g den).
// Let e = 2^-24 be the rounding of single precision, and let w and the pivots of S' be at least COARSE_PIVOT = 1/16. Entries of Cholesky
// rows are at most 1, and the squares of a row sum to at most 1. So t is off by at most (5 + 2 k) e / sqrt(w), k = |S'|; that is 4.6e-6 for
// k = 7. num is off by 4e more, and den by twice that: COARSE_ERROR and COARSE_SPREAD. The double-precision test can be trusted, as
// trusted_above() of ci/gauss.rs requires, if g and den are at least COARSE_LEFT and r² is below 0.9; den is reduced by COARSE_LEFT before
// it is compared. With h = 1e-4, single precision shows that r² > q if it finds:
//   num² > q g den (1 + 2 h) + q (1 + 2 h) (COARSE_LEFT + COARSE_SPREAD) + 2 COARSE_ERROR² / h.
// Anything else, NaN included, is tested in double precision.
#pragma once
#include "search/args.cuh"

constexpr double COARSE_PIVOT = 1.0 / 16.0;
constexpr double COARSE_LEFT = 1e-3;
constexpr double COARSE_ERROR = 5e-6;
constexpr double COARSE_SPREAD = 1e-5;
constexpr double COARSE_LARGEST = 0.9;    // the largest r² that single precision may decide

// Returns how many numbers lanes use of a last member: 1 / sqrt(w), cov(x, s | S') / sqrt(w), COARSE_LARGEST g, and the Cholesky row of s
// over sqrt(w). They fill a multiple of 16 bytes.
__host__ __device__ constexpr u64 coarse_floats(u64 l) { return div_ceil(l + 2, 4) * 4; }

// The correlations of a block's 32 y with the neighbours of the row at places `first` to `end` - 1: [place - first][lane].
struct Columns {
    float* values;
    u32 first, end;
    bool masked;    // whether masks_of() says which neighbours of the row are also neighbours of each y
};

// Returns the masks of common neighbours, [place / 32][lane], a bit a place. They lie behind the block's columns, beyond whose end up to
// four more columns may be read.
__device__ __forceinline__ u32* masks_of(const Args& a, float* values) { return (u32*)(values + (a.wide_columns + 4) * WARP); }

// The bound that num² must exceed so that r² exceeds q: `factor` times COARSE_LARGEST g den, plus `constant`.
struct Bound {
    float factor, constant;
    __device__ explicit Bound(double q) {
        const double h = 1e-4, more = 1.0 + 2.0 * h;
        factor = __double2float_ru(q * more / COARSE_LARGEST);
        constant = __double2float_ru(q * more * (COARSE_LEFT + COARSE_SPREAD) + 2.0 * COARSE_ERROR * COARSE_ERROR / h);
    }
};

// Writes the numbers that lanes use of a last member. `left` is its variance and `with_x` its covariance with x, both given the prefix; `u`
// is its Cholesky row, WARP apart. Writes NaN if single precision cannot serve.
template <int L>
__device__ __forceinline__ void make_coarse(float* to, double x_left, double with_x, double left, const double* u) {
    double scale = 1.0 / sqrt(left), along = with_x * scale, g = x_left - along * along;
    bool serves = left >= COARSE_PIVOT && g >= COARSE_LEFT;
    to[0] = serves ? (float)scale : nanf("");
    to[1] = (float)along;
    to[2] = (float)(COARSE_LARGEST * g);
#pragma unroll
    for (int m = 0; m < L - 1; m++) to[3 + m] = (float)(u[m * WARP] * scale);
}

// Returns which of up to 32 last members must be tested in double precision, a bit each; bits past `count` mean nothing. `coarse` has the
// members' numbers. `row` is the Cholesky row of the lane's y, and `column` its correlations with the members, WARP apart.
template <int L>
__device__ __forceinline__ u32 asked_of(
    const float* coarse, const float* column, u32 count, const float* row, float both, float left, Bound bound
) {
    constexpr u32 APART = (u32)coarse_floats(L);
    u32 asked = 0;
    for (u32 from = 0; from < count; from += 4) {
#pragma unroll
        for (u32 i = from; i < from + 4; i++) {
            float of[APART];
#pragma unroll
            for (u32 at = 0; at < APART; at += 4) *(float4*)(of + at) = *(const float4*)(coarse + i * APART + at);
            float t = column[i * WARP] * of[0];
#pragma unroll
            for (int m = 0; m < L - 1; m++) t = fmaf(-of[3 + m], row[m], t);
            float num = fmaf(-of[1], t, both), den = fmaf(-t, t, left);
            float square = num * num, largest = of[2] * den;
            bool depends = square > fmaf(bound.factor, largest, bound.constant) && square < largest;
            if (!depends) asked |= 1u << i;
        }
    }
    return asked;
}
