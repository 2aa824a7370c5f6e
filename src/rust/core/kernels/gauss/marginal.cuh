// The test given the empty set.
#pragma once
#include "gauss/test.cuh"
#include "search/marginal.cuh"

// Judges the pair of x and y for `make_word`.
__device__ __forceinline__ Marginal judge_marginal(const Args& a, u64 y, u64 x, double* p) {
    double r = correlation(a, (u32)x, (u32)y);
    if (isnan(r) && a.fast) {
        // pcalg's C++ removes the edge, leaves no separating set and keeps the NaN.
        if (p) *p = r;
        return Marginal{false, false};
    }
    bool separates = judge(a, r).separates;
    if (p) *p = separates || a.keeps_marginal ? p_of_correlation(a, r, a.scale) : 0.0;
    return Marginal{separates, !separates};
}
