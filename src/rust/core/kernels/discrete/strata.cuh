// Counting by the strata that occur: samples are sorted by stratum in scratch memory, which the host plans before a level.
#pragma once
#include "gpu/scan.cuh"
#include "discrete/count.cuh"

// Returns the number of a key: its place in a hash table of open addressing, which is at most half full.
__device__ inline u32 place_of(const Discrete& d, u64* keys, u64 key) {
    u64 mixed = key * 0x9e3779b97f4a7c15ull;
    u64 at = (mixed ^ mixed >> 29) & (d.hash - 1);
    while (true) {
        u64 there = atomicCAS(&keys[at], NEVER, key);
        if (there == NEVER || there == key) return (u32)at;
        at = (at + 1) & (d.hash - 1);
    }
}

// Turns count[0 .. range] into prefix sums, in place. Writes the numbers of the strata with more than FEW samples over `keys`, and returns
// how many there are.
__device__ inline u32 scan_strata(const Bench& b, u32 range) {
    // What a stratum adds to both sums: to the number of such strata and, in the 32 bits below it, to the number of samples.
    u64 own = 0;
    auto load = [&](u32 s) {
        u32 size = b.count()[s];
        return own = (u64)(size > FEW) << 32 | size;
    };
    u64 all = scan(range, COUNTING_THREADS, (u64*)b.partial(), load, [&](u32 s, u64 before) {
        b.count()[s] = (u32)before;
        if (own >> 32) ((u32*)b.keys())[before >> 32] = s;
    });
    if (threadIdx.x == 0) b.count()[range] = (u32)all;
    __syncthreads();
    return (u32)(all >> 32);
}

// The samples, sorted by stratum.
struct Strata {
    u32 range;    // strata have numbers below this; the samples of s are order[count[s] .. count[s + 1]]
    u32 large;    // number of strata with more than FEW samples, which `keys` lists
};

// Sorts the samples by the levels of the set's members. Samples without a value of x or of a member are left out.
__device__ inline Strata sort_samples(const Discrete& d, const Bench& b, u32 x, u32 l) {
    u32 m = 0;
    double range = 1.0;
    do {
        // As many members at a time as give a key below 4e18, which fits in 62 bits.
        const u32 first = m;
        double product = range;
        while (m < l && product * (double)levels_of(d, b.set()[m]) < 4e18) product *= (double)levels_of(d, b.set()[m++]);
        const bool hashed = product > (double)d.hash;
        if (hashed) {
            for (u64 i = threadIdx.x; i < d.hash; i += COUNTING_THREADS) b.keys()[i] = NEVER;
            __syncthreads();
        }
        for (u64 k = threadIdx.x; k < d.n; k += COUNTING_THREADS) {
            u64 key = first ? b.stratum()[k] : 0;
            bool left_out = first ? key == NOWHERE : d.missing && code_at(d, x, k) >= levels_of(d, x);
            for (u32 i = first; i < m; i++) {
                u32 code = code_at(d, b.set()[i], k), levels = levels_of(d, b.set()[i]);
                left_out |= code >= levels;
                key = key * levels + code;
            }
            b.stratum()[k] = left_out ? NOWHERE : hashed ? place_of(d, b.keys(), key) : (u32)key;
        }
        range = product;
        __syncthreads();
        if (hashed) {
            // Places depend on which thread came first. A stratum's number is that of its first sample, so that sums are rounded in one
            // order.
            for (u64 i = threadIdx.x; i < d.hash; i += COUNTING_THREADS) b.count()[i] = NOWHERE;
            __syncthreads();
            for (u64 k = threadIdx.x; k < d.n; k += COUNTING_THREADS) {
                u32 place = b.stratum()[k];
                if (place != NOWHERE) atomicMin(&b.count()[place], (u32)k);
            }
            __syncthreads();
            for (u64 k = threadIdx.x; k < d.n; k += COUNTING_THREADS) {
                u32 place = b.stratum()[k];
                if (place != NOWHERE) b.stratum()[k] = b.count()[place];
            }
            range = (double)d.n;
            __syncthreads();
        }
    } while (m < l);
    const u32 strata = (u32)range;
    for (u32 i = threadIdx.x; i < strata; i += COUNTING_THREADS) b.count()[i] = 0;
    __syncthreads();
    for (u64 k = threadIdx.x; k < d.n; k += COUNTING_THREADS) {
        u32 s = b.stratum()[k];
        if (s != NOWHERE) b.within()[k] = atomicAdd(&b.count()[s], 1u);
    }
    __syncthreads();
    u32 large = scan_strata(b, strata);
    for (u64 k = threadIdx.x; k < d.n; k += COUNTING_THREADS) {
        u32 s = b.stratum()[k];
        if (s != NOWHERE) b.order()[b.count()[s] + b.within()[k]] = (u32)k;
    }
    __syncthreads();
    return Strata{strata, large};
}

// Returns the numbers of a warp in ascending order, by lane (Batcher's bitonic sort).
__device__ __forceinline__ u32 sorted_lanes(u32 number) {
    const u32 lane = lane_id();
    // Not unrolled: the callers have no registers to spare.
#pragma unroll 1
    for (u32 run = 2; run <= WARP; run *= 2) {
#pragma unroll 1
        for (u32 step = run / 2; step > 0; step /= 2) {
            u32 other = __shfl_xor_sync(FULL, number, step);
            bool ascends = (lane & run) == 0, is_lower = (lane & step) == 0;
            number = (is_lower == ascends) == (number < other) ? number : other;
        }
    }
    return number;
}

// Adds a stratum of up to FEW samples, by a warp, a sample a lane: lanes match those with the same levels.
__device__ inline void add_few(const Discrete& d, bool here, u32 of_x, u32 of_y, Sums& sums) {
    u32 lane = lane_id(), all = __ballot_sync(FULL, here);
    u32 same_x = __match_any_sync(FULL, here ? of_x : NOWHERE) & all;
    u32 same_y = __match_any_sync(FULL, here ? of_y : NOWHERE) & all;
    u32 same = same_x & same_y;
    u32 in_x = __popc(__ballot_sync(FULL, here && lane == __ffs(same_x) - 1));
    u32 in_y = __popc(__ballot_sync(FULL, here && lane == __ffs(same_y) - 1));
    bool first = here && lane == __ffs(same) - 1;
    sums.occupied += first;
    double n = __popc(all);
    if (lane == 0) {
        sums.n += __popc(all);
        if (all) sums.adjusted += (u64)(in_x - 1) * (in_y - 1);
    }
    if (in_x < 2 || in_y < 2) return;
    double count = __popc(same), x = __popc(same_x), y = __popc(same_y);
    if (d.statistic == G2) {
        if (first) add_term(d, sums, count, x, y, n);
        return;
    }
    // Σ (N - E)² / E = n (Σ N² / (N(x) N(y)) - 1), which needs no cell without a sample.
    double part = (first ? n * (count * (count / (x * y))) : 0.0) - (lane == 0 ? n : 0.0);
    sums.statistic += part;
    sums.size += fabs(part);
    sums.terms += first || lane == 0;
}

// Counts one y, a stratum at a time.
__device__ inline void count_by_strata(const Discrete& d, const Bench& b, u32 x, u32 y, const Strata& strata, Sums* result) {
    const u32 lx = levels_of(d, x), ly = levels_of(d, y), lane = lane_id(), warp = threadIdx.x / WARP;
    const u64 cells = (u64)lx * ly;
    Sums sums{0.0, 0.0, 0, 0, 0, 0};
    for (u32 base = WARP * warp; base < strata.range; base += COUNTING_THREADS) {
        u32 s = base + lane;
        u32 start = s < strata.range ? b.count()[s] : 0;
        u32 size = s < strata.range ? b.count()[s + 1] - start : 0;
        if (size == 1 && (!d.missing || code_at(d, y, b.order()[start]) < ly)) {
            sums.n++;
            sums.occupied++;
        }
        for (u32 left = __ballot_sync(FULL, size > 1 && size <= FEW); left; left &= left - 1) {
            u32 owner = __ffs(left) - 1;
            u32 from = __shfl_sync(FULL, start, owner), count = __shfl_sync(FULL, size, owner);
            // The samples of a stratum are in the order in which threads came.
            u32 sample = sorted_lanes(lane < count ? b.order()[from + lane] : NOWHERE);
            if (lane >= count) sample = 0;
            u32 of_x = code_at(d, x, sample), of_y = code_at(d, y, sample);
            add_few(d, lane < count && of_y < ly, of_x, of_y, sums);
        }
    }
    const u32* large = (const u32*)b.keys();
    const u64 own = cells + lx + ly + 1;
    if (own * (COUNTING_THREADS / WARP) <= d.area) {
        u32* table = b.tables() + warp * own;
        for (u32 i = warp; i < strata.large; i += COUNTING_THREADS / WARP) {
            u32 start = b.count()[large[i]], end = b.count()[large[i] + 1];
            for (u32 c = lane; c < cells; c += WARP) table[c] = 0;
            __syncwarp();
            for (u32 at = start + lane; at < end; at += WARP) {
                u32 code = code_at(d, y, b.order()[at]);
                if (code < ly) atomicAdd(table + code_at(d, x, b.order()[at]) * ly + code, 1u);
            }
            __syncwarp();
            reduce(d, Warp(), table, 1, lx, ly, table + cells, sums);
        }
    } else if (strata.large) {
        u32* table = own <= d.area ? b.tables() : b.large_table();
        for (u32 i = 0; i < strata.large; i++) {
            u32 start = b.count()[large[i]], end = b.count()[large[i] + 1];
            for (u64 c = threadIdx.x; c < cells; c += COUNTING_THREADS) table[c] = 0;
            __syncthreads();
            for (u32 at = start + threadIdx.x; at < end; at += COUNTING_THREADS) {
                u32 code = code_at(d, y, b.order()[at]);
                if (code < ly) atomicAdd(table + code_at(d, x, b.order()[at]) * ly + code, 1u);
            }
            __syncthreads();
            reduce(d, Whole(), table, 1, lx, ly, table + cells, sums);
        }
    }
    add_block(b, sums, result);
}

constexpr u32 COUNTED = 0, TOO_FEW = 1, FOR_CPU = 2;

// Counts the first `others` of `Bench::other` given the set; the whole block must call it. Writes `Bench::status` of each, and
// `Bench::sums` of those that are COUNTED. Makes no table if even all samples together are too few.
template <bool PLANES>
__device__ inline void count_all(const Discrete& d, const Bench& b, u32 x, u32 l, u32 others) {
    const u32 lx = levels_of(d, x);
    const double strata = domain_of(d, b.set(), l);
    bool sorted = false;
    Strata found{0, 0};
    for (u32 from = 0; from < others;) {
        u32 ly = levels_of(d, b.other()[from]);
        if (too_few(d, (double)d.n, lx, ly, strata)) {
            if (threadIdx.x == 0) b.status()[from] = TOO_FEW;
            from++;
            continue;
        }
        u32 to = from;
        double cells = 0.0, margins = 0.0;
        while (to < others) {
            ly = levels_of(d, b.other()[to]);
            double more = strata * lx * ly, room = margins_of(strata, lx, ly);
            if (too_few(d, (double)d.n, lx, ly, strata) || cells + more + margins + room > (double)d.area) break;
            cells += more;
            margins += room;
            to++;
        }
        if (to > from) {
            count_directly<PLANES>(d, b, x, l, (u32)strata, from, to, (u32)cells, (u32)margins);
            if (threadIdx.x >= from && threadIdx.x < to) b.status()[threadIdx.x] = COUNTED;
            from = to;
            continue;
        }
        // If a table does not fit, the test is left to the CPU, which stores only the cells that occur.
        bool fits = d.hash && margins_of(1.0, lx, ly) + (double)lx * ly <= (double)(d.area > d.most_cells ? d.area : d.most_cells);
        if (fits) {
            if (!sorted) found = sort_samples(d, b, x, l);
            sorted = true;
            count_by_strata(d, b, x, b.other()[from], found, &b.sums()[from]);
        }
        if (threadIdx.x == 0) b.status()[from] = fits ? COUNTED : FOR_CPU;
        from++;
    }
    __syncthreads();
}

__device__ inline Judgement judge_other(const Discrete& d, const Bench& b, u32 x, u32 l, u32 i) {
    const u32 lx = levels_of(d, x), ly = levels_of(d, b.other()[i]);
    const double strata = domain_of(d, b.set(), l);
    if (b.status()[i] == TOO_FEW) return Judgement{1.0 >= d.alpha ? SEPARATES : DEPENDS, 1.0, 0.0, full_df(d, lx, ly, strata)};
    if (b.status()[i] == FOR_CPU) return Judgement{UNSURE, 0.0, 0.0, 0.0};
    return judge_test(d, lx, ly, strata, l, b.sums()[i]);
}
