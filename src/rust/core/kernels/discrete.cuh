// Tests of discrete variables: what their kernels are given, level codes, and what is made of a table's sums. The definitions
// are those of ci/discrete/mod.rs.
//
// Counts are whole numbers and come out as on the CPU. A statistic is a sum of doubles whose order is another here, and the
// logarithm of another machine: it may differ from the CPU's in its last digits. So that no verdict ever does, a verdict is
// given only where p is farther from alpha than both can be off; for the others the CPU is asked (`ask`, engine/cuda/asked.rs).
#pragma once
#include "chi_squared.cuh"
#include "sides.cuh"

typedef unsigned char u8;

constexpr u32 BLOCK = 256;    // threads that count together
constexpr u32 MOST = 32;      // vertices y that they count for at a time
constexpr u32 NOWHERE = 0xffffffffu;

constexpr u64 G2 = 0, X2 = 1;

// Mirrored by engine/cuda/counting.rs.
struct Discrete {
    Args a;
    const u8* codes;
    const u64* column;      // by variable: where its codes start, a multiple of 16; plus 1 where a code takes two bytes
    const u32* levels;      // by variable; a missing value has this number as its code
    uint4* planes;          // bit planes of the variables with few levels
    const u64* plane;       // by variable: where its planes start, one a level; NEVER: it has none
    u64 plane_size;         // elements of a plane: 128 samples each
    u64 plane_cells;        // tables of up to this many cells are counted by planes
    u64 n;
    u64 missing;            // whether any value is missing
    double alpha;
    u64 statistic;          // G2 or X2
    u64 bnlearn;            // whose rule: bnlearn's or pcalg's
    u64 adapt;              // whether the degrees of freedom are adapted
    u64 area;               // cells of shared memory that a block has for tables
    u64 tile;               // vertices y of an item of work, at most MOST
    u64 hash;               // places for strata that occur, a power of two of at least 2 n; 0: no scratch
    u64 most_cells;         // of a table in scratch
    u64 stage;              // of the level: a side and a range of ranks
    u64 widest;             // size of the largest set
    u32* asked;             // records for the CPU: x, y, entry (2), key (2), members
    u64 asked_most;         // from here on no more work is taken
};

__device__ __forceinline__ u32 levels_of(const Discrete& d, u32 v) { return d.levels[v]; }

__device__ __forceinline__ u32 code_at(const Discrete& d, u32 v, u64 sample) {
    u64 at = d.column[v];
    const u8* from = d.codes + (at & ~1ull);
    return at & 1 ? ((const unsigned short*)from)[sample] : from[sample];
}

// Calls f(j, code) for the 16 samples from k on, a multiple of 16. Columns are padded.
template <class F> __device__ __forceinline__ void each_of_16(const Discrete& d, u32 v, u64 k, F f) {
    u64 at = d.column[v];
    const u8* from = d.codes + (at & ~1ull);
    if (at & 1) {
        const uint4* q = (const uint4*)(from + 2 * k);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint4 w = q[half];
#pragma unroll
            for (int j = 0; j < 8; j++) {
                u32 word = j < 2 ? w.x : j < 4 ? w.y : j < 6 ? w.z : w.w;
                f(8 * half + j, word >> (16 * (j & 1)) & 0xffff);
            }
        }
    } else {
        uint4 w = *(const uint4*)(from + k);
#pragma unroll
        for (int j = 0; j < 16; j++) {
            u32 word = j < 4 ? w.x : j < 8 ? w.y : j < 12 ? w.z : w.w;
            f(j, word >> (8 * (j & 3)) & 0xff);
        }
    }
}

// Product of the numbers of levels, in the order of the set as on the CPU: it may be huge.
__device__ inline double domain_of(const Discrete& d, const u32* set, u32 l) {
    double product = 1.0;
    for (u32 i = 0; i < l; i++) product *= (double)levels_of(d, set[i]);
    return product;
}

// What is summed over a table.
struct Sums {
    double statistic;
    double size;     // of what was added up, whatever the signs
    u64 n;           // samples
    u64 occupied;    // cells with a sample
    u64 adjusted;    // Σ over strata of (a - 1)(b - 1)
    u64 terms;       // how many were added up
};

__device__ __forceinline__ void add_term(const Discrete& d, Sums& sums, double count, double x, double y, double n) {
    double term;
    if (d.statistic == G2) {
        term = 2.0 * count * log(count * (n / (x * y)));
    } else {
        double expected = x * y / n, off = count - expected;
        term = off * off / expected;
    }
    sums.statistic += term;
    sums.size += fabs(term);
    sums.terms++;
}

__device__ __forceinline__ double full_df(const Discrete& d, u32 lx, u32 ly, double strata) {
    return ((double)lx - 1.0) * ((double)ly - 1.0) * strata;
}

// Whether n samples are too few for a test to be computed.
__device__ __forceinline__ bool too_few(const Discrete& d, double n, u32 lx, u32 ly, double strata) {
    if (!d.bnlearn) return n < 10.0 * full_df(d, lx, ly, strata);
    return d.adapt && n < 5.0 * ((double)lx * (double)ly * strata);
}

// Degrees of freedom, whole numbers.
__device__ inline double df_of(const Discrete& d, u32 lx, u32 ly, double strata, u32 l, const Sums& sums) {
    double full = full_df(d, lx, ly, strata);
    if (!d.adapt) return full;
    if (d.bnlearn) return (double)sums.adjusted;
    if (l == 0) return full;
    double empty = (double)((u64)lx * ly) * strata - (double)sums.occupied;
    double absent = 4.0 * (ldexp(1.0, (int)l) - strata);
    return fmax(full - (empty + absent), 1.0);
}

constexpr u32 DEPENDS = 0, SEPARATES = 1, UNSURE = 2;

struct Judgement {
    u32 says;
    double p, statistic, df;
};

// By how much a statistic may differ from the CPU's. Both machines add up `terms` numbers whose sizes sum to `size`, of which
// each is off by a few units in its last place: naive sums are then off by less than (terms + a few) ε size (Higham 2002,
// section 4.2). The CPU may take χ² as Σ n (Σ N² / (N N) - 1), whose parts sum to χ² + 2 n.
__device__ __forceinline__ double uncertainty(const Discrete& d, const Sums& sums) {
    double size = sums.size + (d.statistic == X2 ? 2.0 * (double)sums.n : 0.0);
    return 4.0 * 2.220446049250313e-16 * ((double)sums.terms + 64.0) * size;
}

// What a test came to. What its statistic may be off by means to p: d ln p / d statistic is at most 1/2 but where the statistic
// is next to 0 with one degree of freedom, where p falls from 1 as the root of it.
__device__ inline Judgement judge_test(const Discrete& d, u32 lx, u32 ly, double strata, u32 l, const Sums& sums) {
    Judgement found;
    found.df = df_of(d, lx, ly, strata, l, sums);
    found.statistic = sums.statistic;
    if (too_few(d, (double)sums.n, lx, ly, strata)) found.statistic = 0.0;
    found.p = upper_tail(found.statistic, found.df);
    found.says = found.p >= d.alpha ? SEPARATES : DEPENDS;
    // Without a term there is nothing to be off.
    if (found.statistic == 0.0 && (sums.terms == 0 || too_few(d, (double)sums.n, lx, ly, strata))) return found;
    double off = uncertainty(d, sums);
    bool near_one = d.alpha > 0.9;
    double margin = 1e-6 + 100.0 * off + (near_one ? sqrt(off) : 0.0);
    if (d.alpha > 0.0 && fabs(found.p - d.alpha) <= margin * (near_one ? 1.0 : d.alpha)) found.says = UNSURE;
    return found;
}

// What is known of the sets from the neighbours of a row against one other vertex: an element of `Args::slot`, of the size of
// the Gaussian test's.
struct DiscreteSlot {
    u64 stop;        // smallest rank that separates; NEVER
    u64 stop_of_p;   // the rank that p_stop goes with: while several blocks enter theirs, it may lag behind
    u64 p_stop;      // p there, as bits
    u64 largest;     // 1 + the bits of the largest p of those that do not separate; 0: none
    u64 known;       // df and statistic of such a test, as floats, rounded so that a test beyond both has a smaller p
    u32 lock;
    u32 padding;
};

__device__ __forceinline__ DiscreteSlot* slots_of(const Discrete& d) { return (DiscreteSlot*)d.a.slot; }

__device__ __forceinline__ u64 stop_of(const DiscreteSlot* slot) { return *(const volatile u64*)&slot->stop; }

// Enters a test that separates. Threads of a warp may meet at one slot: they run independently of one another on every card
// that we support.
__device__ inline void enter_separation(DiscreteSlot* slot, u64 key, double p) {
    if (key >= atomicMin(&slot->stop, key)) return;
    bool entered = false;
    while (!entered) {
        if (atomicCAS(&slot->lock, 0u, 1u) != 0u) continue;
        __threadfence();
        volatile DiscreteSlot* now = slot;
        if (key < now->stop_of_p) {
            now->p_stop = (u64)__double_as_longlong(p);
            now->stop_of_p = key;
        }
        __threadfence();
        atomicExch(&slot->lock, 0u);
        entered = true;
    }
}

// Whether p of a test is certainly smaller than one that was entered: p falls with the statistic and rises with the df.
__device__ __forceinline__ bool is_outdone(const DiscreteSlot* slot, double statistic, double df) {
    u64 known = *(const volatile u64*)&slot->known;
    double known_df = (double)__uint_as_float((u32)(known >> 32)), known_statistic = (double)__uint_as_float((u32)known);
    return known && df <= known_df && statistic > known_statistic;
}

// Enters a test that does not separate.
__device__ inline void enter_dependence(DiscreteSlot* slot, double p, double statistic, double df) {
    u64 bits = (u64)__double_as_longlong(p) + 1;
    if (atomicMax(&slot->largest, bits) >= bits || p > 0.5) return;
    // A later one may be overwritten by an earlier: both were entered, which is all that is_outdone() rests on.
    float beyond = __double2float_ru(statistic + 1e-6 + 1e-9 * statistic);
    u64 known = (u64)__float_as_uint(__double2float_rd(df)) << 32 | __float_as_uint(beyond);
    atomicExch(&slot->known, known);
}

// Notes a test for the CPU and returns where the set goes. An item takes at most MOST of these, for which `asked` has room beyond
// `asked_most`.
__device__ inline u32* ask(const Discrete& d, u32 x, u32 y, u64 entry, u64 key) {
    u64 at = atomicAdd(&d.a.report->asked, 1ull);
    u32* record = d.asked + at * (6 + d.widest);
    record[0] = x;
    record[1] = y;
    record[2] = (u32)entry;
    record[3] = (u32)(entry >> 32);
    record[4] = (u32)key;
    record[5] = (u32)(key >> 32);
    return record + 6;
}

// The next item for a block, NEVER when there is none, its time is used up or the CPU has much to answer.
__device__ inline u64 take(const Discrete& d, u64* item) {
    __syncthreads();
    if (threadIdx.x == 0) {
        const volatile Report* report = d.a.report;
        bool stop = nanoseconds() - report->began > d.a.budget || report->asked >= d.asked_most;
        u64 at = stop ? NEVER : atomicAdd(&d.a.report->next_first, 1ull);
        *item = at < report->items ? at : NEVER;
    }
    __syncthreads();
    return *item;
}
