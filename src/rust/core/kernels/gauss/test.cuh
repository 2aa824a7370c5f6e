// The Gaussian test by pcalg's formulae, operation by operation as in ci/gauss.rs, so that r equals the CPU's bit for bit. The compiler
// must fuse nothing (-fmad=false); code that may be fused calls fma().
#pragma once
#include "search/args.cuh"

constexpr u32 DECIDING_THREADS = 128;    // host: most threads of a block of the kernels that decide tests

constexpr double CUT = 0.9999999;
constexpr double SAFE_PIVOT = 1e-6;
constexpr double EPSILON = 2.220446049250313e-16;

// Squared partial correlation from which the matrix of x, y and S may be nearly singular even if that of S is not.
constexpr double COLLINEAR = 1.0 - 1e-5;

// Returns a vertex's correlations with all others.
__device__ __forceinline__ const double* correlations_of(const Args& a, u32 y) {
    return a.c + y * a.pitch;
}

__device__ __forceinline__ double correlation(const Args& a, u32 x, u32 y) { return correlations_of(a, y)[x]; }

// Returns p of a correlation; `scale` is sqrt(n - |S| - 3).
__device__ __forceinline__ double p_of_correlation(const Args& a, double r, double scale) {
    if (a.fast) {
        r = fabs(r);
        r = r < CUT ? r : CUT;
    } else {
        r = isnan(r) ? 0.0 : r < -CUT ? -CUT : r > CUT ? CUT : r;
    }
    double z = scale * 0.5 * log1p(2.0 * r / (1.0 - r));
    if (isnan(z)) return 1.0;
    z = fabs(z);
    if (!a.fast && z >= 37.5193) return 0.0;
    return erfc(z * 0.70710678118654752440);
}

// The outcome of a test by the exact formula.
struct Exact {
    double r;
    bool separates;
    bool missing;    // a correlation is missing; given two or more members, "stable" then has no answer
};

__device__ __forceinline__ Exact judge(const Args& a, double r) {
    if (isnan(r)) return {a.fast ? CUT : 0.0, a.nan_separates != 0, false};
    double size = fabs(r);
    // Correlations beyond the cut count as the cut.
    size = size < CUT ? size : CUT;
    return {r, size <= (r < 0 && !a.fast ? a.critical_neg : a.critical), false};
}

// "stable" ends with an error if a correlation is missing, so such a test ends a side as a separation does.
__device__ __forceinline__ Exact judge_missing(const Args& a) {
    return {nan(""), a.fast ? a.missing_separates != 0 : true, true};
}

// Tests a pair given one variable by pcalg's recursion, from the three correlations.
__device__ __forceinline__ Exact exact_of(const Args& a, double xy, double xk, double yk) {
    if (a.fast && (isnan(xy) || isnan(xk) || isnan(yk))) return judge_missing(a);
    return judge(a, (xy - xk * yk) / sqrt((1.0 - yk * yk) * (1.0 - xk * xk)));
}

// Tests x and y given k by pcalg's recursion.
__device__ __forceinline__ Exact exact_single(const Args& a, u32 x, u32 y, u32 k) {
    return exact_of(a, correlation(a, x, y), correlation(a, x, k), correlation(a, y, k));
}

// Returns this warp's working memory: `warp_bytes` in device memory or, if there is no scratch, in shared memory. `block` is the block's
// number.
__device__ __forceinline__ double* working_memory(const Args& a, u64 block = blockIdx.x) {
    extern __shared__ double memory[];
    u64 warps = blockDim.x / WARP, warp = threadIdx.x / WARP;
    return a.scratch ? (double*)(a.scratch + (block * warps + warp) * a.warp_bytes) : memory + warp * (a.warp_bytes / 8);
}

// Returns the number of doubles that `exact` works in: two matrices of (size + 2) x (size + 2).
__host__ __device__ constexpr u64 exact_doubles(u64 size) { return 2 * (size + 2) * (size + 2); }

// Returns the distance, in doubles, from the matrices of one exact test to those of the next. At this distance, groups of lanes that step
// through their matrices together meet different banks of shared memory. There are 16 banks of a double's width; a group reads along
// columns and along rows.
__host__ __device__ constexpr u64 exact_apart(u64 size) {
    u64 bank = size <= 2 ? 1 : size % 2 == 1 ? 8 : 9;
    return exact_doubles(size) + (bank + 16 - exact_doubles(size) % 16) % 16;
}

// The G lanes that work on one exact test: a warp, or a part of it down to one lane. Several tests then run side by side: their matrices
// have four to ten rows, and most of the time goes to waiting for one division after another. All lanes of the warp take the same path
// below, whatever their groups need: lanes that diverge would take turns.
template <int G> struct Group {
    u32 lane;
    __device__ Group() : lane(lane_id() % G) {}
    // Returns whether v holds for any lane of the group.
    __device__ bool any(bool v) const {
        u32 mask = G == 32 ? FULL : ((1u << (G % 32)) - 1) << (lane_id() / G * G);
        return (__ballot_sync(FULL, v) & mask) != 0;
    }
};

// Eliminates all but x and y, the first two, from the k x k matrix m that the group shares (Schur complement), and writes r. Returns false
// if a pivot is too small.
template <int G> __device__ __forceinline__ bool by_elimination(Group<G> group, double* m, u32 k, double& r) {
    bool sound = true;
    for (u32 pivot = k - 1; pivot >= 2; pivot--) {
        double d = m[pivot * k + pivot];
        sound = sound && d > SAFE_PIVOT;
        for (u32 at = group.lane; at < pivot * pivot; at += G) {
            u32 col = at / pivot, row = at % pivot;
            if (row <= col) {
                double factor = m[col * k + pivot] / d;
                double value = m[col * k + row] - factor * m[row * k + pivot];
                m[col * k + row] = value;
                m[row * k + col] = value;
            }
        }
        __syncwarp();
    }
    double xx = m[0], xy = m[k], yy = m[k + 1];
    r = xy / sqrt(xx * yy);
    return sound && xx > SAFE_PIVOT && yy > SAFE_PIVOT && xx * yy - xy * xy > SAFE_PIVOT * xx * yy;
}

// Applies cyclic Jacobi rotations. The diagonal of m (k x k) becomes the eigenvalues, and column e of v the first two entries, those of x
// and y, of the e-th eigenvector. A group whose matrix is diagonal leaves it as it is while other groups continue.
template <int G> __device__ __forceinline__ void jacobi(Group<G> group, double* m, double* v, u32 k) {
    for (int sweep = 0; sweep < 60; sweep++) {
        bool any = false;
        for (u32 at = group.lane; at < k * k; at += G) any |= at % k < at / k && m[at] * m[at] != 0.0;
        // Entries whose squares underflow to 0 do not keep the sweeps going.
        bool going = group.any(any);
        if (!__any_sync(FULL, going)) return;
        for (u32 i = 0; i < k; i++) {
            for (u32 j = i + 1; j < k; j++) {
                double ij = m[j * k + i], ii = m[i * k + i], jj = m[j * k + j];
                bool negligible = ij == 0.0 || fabs(ij) < 1e-3 * EPSILON * fmin(fabs(ii), fabs(jj));
                if (__any_sync(FULL, going && !negligible)) {
                    double tau = (jj - ii) / (2.0 * ij);
                    double t = copysign(1.0, tau) / (fabs(tau) + sqrt(1.0 + tau * tau));
                    double cos = 1.0 / sqrt(1.0 + t * t);
                    double sin = t * cos;
                    bool rotates = going && !negligible;
                    for (u32 h = group.lane; h < k; h += G) {
                        double hi = m[i * k + h], hj = m[j * k + h];
                        if (rotates) {
                            m[i * k + h] = cos * hi - sin * hj;
                            m[j * k + h] = sin * hi + cos * hj;
                        }
                    }
                    __syncwarp();
                    for (u32 h = group.lane; h < k; h += G) {
                        double ih = m[h * k + i], jh = m[h * k + j];
                        if (rotates) {
                            m[h * k + i] = cos * ih - sin * jh;
                            m[h * k + j] = sin * ih + cos * jh;
                        }
                        if (rotates && h < 2) {
                            double vi = v[i * k + h], vj = v[j * k + h];
                            v[i * k + h] = cos * vi - sin * vj;
                            v[j * k + h] = sin * vi + cos * vj;
                        }
                    }
                }
                __syncwarp();
                if (group.lane == 0 && going) {
                    m[j * k + i] = 0.0;
                    m[i * k + j] = 0.0;
                }
                __syncwarp();
            }
        }
    }
}

// Returns r by the pseudo-inverse of m (k x k), from its eigenvalues; those of size up to k * max * eps are dropped.
template <int G> __device__ __forceinline__ double by_pseudoinverse(Group<G> group, double* m, double* v, u32 k) {
    for (u32 at = group.lane; at < k * k; at += G) v[at] = at / k == at % k ? 1.0 : 0.0;
    __syncwarp();
    jacobi(group, m, v, k);
    double largest = 0.0;
    for (u32 i = 0; i < k; i++) largest = fmax(largest, fabs(m[i * k + i]));
    double tolerance = (double)k * largest * EPSILON;
    double xx = 0.0, xy = 0.0, yy = 0.0;
    for (u32 e = 0; e < k; e++) {
        double value = m[e * k + e];
        if (fabs(value) > tolerance) {
            double vx = v[e * k], vy = v[e * k + 1];
            xx += vx * vx / value;
            xy += vx * vy / value;
            yy += vy * vy / value;
        }
    }
    return -xy / sqrt(xx * yy);
}

// Tests x and y given the `any_size` vertices of `set`, by a group of lanes; `work` holds exact_doubles(any_size). All lanes of the warp
// must call it, the lanes of a group with the same arguments; they get the group's answer. L is the size if known at compile time,
// otherwise 0.
template <int G, int L>
__device__ __noinline__ Exact exact_by(const Args& a, u32 x, u32 y, const u32* set, u32 any_size, double* work) {
    const u32 size = L ? L : any_size;
    if (size == 0) {
        double r = correlation(a, x, y);
        return isnan(r) && a.fast ? judge_missing(a) : judge(a, r);
    }
    if (size == 1) return exact_single(a, x, y, set[0]);
    Group<G> group;
    const u32 k = size + 2;
    double *m = work, *kept = work + k * k;
    bool missing = false;
    __syncwarp();
    for (u32 at = group.lane; at < k * k; at += G) {
        u32 col = at / k, row = at % k;
        u32 from = row == 0 ? x : row == 1 ? y : set[row - 2];
        u32 to = col == 0 ? x : col == 1 ? y : set[col - 2];
        double value = correlation(a, from, to);
        missing |= isnan(value);
        m[at] = value;
        kept[at] = value;
    }
    missing = group.any(missing);
    __syncwarp();
    double r;
    bool sound = by_elimination(group, m, k, r) || missing;
    if (!__all_sync(FULL, sound)) {
        __syncwarp();
        // Groups that do not need it get a zero matrix, which is done at once; a matrix with NaN would run through all sweeps.
        if (sound) {
            for (u32 at = group.lane; at < k * k; at += G) kept[at] = 0.0;
        }
        __syncwarp();
        double other = by_pseudoinverse(group, kept, m, k);
        if (!sound) r = other;
    }
    __syncwarp();
    return missing ? judge_missing(a) : judge(a, r);
}

__device__ __forceinline__ Exact exact(const Args& a, u32 x, u32 y, const u32* set, u32 size, double* work) {
    return exact_by<32, 0>(a, x, y, set, size, work);
}
