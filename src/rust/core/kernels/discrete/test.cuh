// Tests of discrete variables: the kernels' arguments, level codes, and the verdict from a table's sums. The definitions are those of
// ci/discrete/mod.rs.
//
// Counts are whole numbers, the same as on the CPU. A statistic is a sum of doubles. Here they are added in another order, and come from
// another logarithm, so its last digits may differ from the CPU's. No verdict may differ. So the GPU decides only if p is farther from
// alpha than both can be off, and leaves other tests to the CPU (`ask`, engine/cuda/discrete/asked.rs).
#pragma once
#include "discrete/chi_squared.cuh"
#include "search/slots.cuh"

constexpr u32 COUNTING_THREADS = 256;      // host: threads of a block that counts
constexpr u32 COUNTING_BLOCKS = 3;         // host: most counting blocks of a multiprocessor: their registers leave room for no more
constexpr u64 MOST_OTHERS = 32;            // host: most vertices y that a block counts for at a time
constexpr u32 SAMPLES_AT_A_TIME = 16;      // host: samples that a thread reads at a time; columns are padded to a multiple of it
constexpr u32 PLANE_SAMPLES = 128;         // host: samples in an element of a plane
constexpr u64 ASKED_WORDS = 6;             // host: words of a record for the CPU before its members
constexpr u64 G2 = 0;                      // host: `Discrete::statistic` of G²
constexpr u64 X2 = 1;                      // host: `Discrete::statistic` of X²
constexpr u32 NOWHERE = 0xffffffffu;

// The kernels' arguments, `DiscreteArgs` in Rust.
struct Discrete {
    Args a;
    const u8* codes;
    const u64* column;      // by variable: byte where its codes start, a multiple of 16; plus 1 if a code takes two bytes
    const u32* levels;      // by variable: number of levels, which is also the code of a missing value
    uint4* planes;          // bit planes of the variables with few levels
    const u64* plane;       // by variable: element where its planes start, one plane a level; NEVER: it has none.
    u64 plane_size;         // elements of a plane
    u64 plane_cells;        // tables of up to this many cells are counted by planes
    u64 n;                  // samples.
    u64 missing;            // whether any value is missing
    double alpha;
    u64 statistic;          // G2 or X2.
    u64 bnlearn;            // 1: bnlearn's rule, 0: pcalg's
    u64 adapt;              // whether the degrees of freedom are adapted.
    u64 area;               // cells of 4 bytes that a block has for tables in shared memory.
    u64 tile;               // vertices y of an item of work, at most MOST_OTHERS.
    u64 hash;               // places for strata that occur, a power of two, at least 2 n; 0: no scratch
    u64 most_cells;         // most cells of a table in scratch.
    u64 block_bytes;        // bytes of a block's scratch; in strategies "edge" and "gpucsl", shared equally by those that count a table
    u64 stage;              // stage of the level that this launch runs, from 1: a side and a range of ranks. The last one ends the level
    u64 largest_set;        // members of the largest set
    u32* asked;             // records for the CPU: x, y, slot (2 words), key (2 words), members
    u64 asked_most;         // number of records from which on blocks take no more work
    const u64* packed;      // by variable: address of its packed codes in host memory, a multiple of 16; plus the binary logarithm of a code's bits
};

__device__ __forceinline__ u32 levels_of(const Discrete& d, u32 v) { return d.levels[v]; }

__device__ __forceinline__ u32 code_at(const Discrete& d, u32 v, u64 sample) {
    u64 at = d.column[v];
    const u8* from = d.codes + (at & ~1ull);
    return at & 1 ? ((const u16*)from)[sample] : from[sample];
}

// Calls f(j, code) for samples k + j, j = 0, .., 15; k is a multiple of SAMPLES_AT_A_TIME.
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

// Calls count(cell) for those of samples k to k + 15, k a multiple of 16, whose values are all known. The cell is that of x, y and S in a
// table of strata x levels of x x levels of y, the last fastest.
template <class Count> __device__ __forceinline__ void count_16(const Discrete& d, u64 k, u32 x, u32 y, const u32* set, u32 l, Count count) {
    u32 cell[SAMPLES_AT_A_TIME], left_out = d.n - k < SAMPLES_AT_A_TIME ? NOWHERE << (d.n - k) : 0;
#pragma unroll
    for (u32 j = 0; j < SAMPLES_AT_A_TIME; j++) cell[j] = 0;
    for (u32 i = 0; i < l + 2; i++) {
        const u32 v = i < l ? set[i] : i == l ? x : y, levels = levels_of(d, v);
        each_of_16(d, v, k, [&](int j, u32 code) {
            cell[j] = cell[j] * levels + code;
            left_out |= (u32)(code >= levels) << j;
        });
    }
#pragma unroll
    for (u32 j = 0; j < SAMPLES_AT_A_TIME; j++)
        if (!(left_out >> j & 1)) count(cell[j]);
}

// Returns the number of strata: the product of the numbers of levels, in the set's order as on the CPU. It may be huge.
__device__ inline double domain_of(const Discrete& d, const u32* set, u32 l) {
    double product = 1.0;
    for (u32 i = 0; i < l; i++) product *= (double)levels_of(d, set[i]);
    return product;
}

// Sums over a table.
struct Sums {
    double statistic;
    double size;     // Σ |term|
    u64 n;           // samples
    u64 occupied;    // cells with a sample
    u64 adjusted;    // Σ over strata of (a - 1)(b - 1), a and b the levels of x and y that occur there
    u64 terms;       // number of terms
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

// Returns whether n samples are too few for the rule to compute a test.
__device__ __forceinline__ bool too_few(const Discrete& d, double n, u32 lx, u32 ly, double strata) {
    if (!d.bnlearn) return n < 10.0 * full_df(d, lx, ly, strata);
    return d.adapt && n < 5.0 * ((double)lx * (double)ly * strata);
}

// Returns the degrees of freedom, a whole number.
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

// Returns a bound on how much a statistic may differ from the CPU's. Both machines add up `terms` numbers whose sizes sum to `size`, each
// off by a few units in its last place. A plain sum is then off by less than (terms + a few) ε size (Higham 2002, section 4.2). The CPU may
// compute χ² as Σ n (Σ N² / (N(x) N(y)) - 1), whose parts sum to χ² + 2 n.
__device__ __forceinline__ double uncertainty(const Discrete& d, const Sums& sums) {
    double size = sums.size + (d.statistic == X2 ? 2.0 * (double)sums.n : 0.0);
    return 4.0 * 2.220446049250313e-16 * ((double)sums.terms + 64.0) * size;
}

// Returns the verdict of a test; UNSURE if an error of the statistic could change it. |d ln p / d statistic| is at most 1/2, except with
// one degree of freedom. There it grows as the statistic goes to 0, as p falls from 1 with the statistic's root.
__device__ inline Judgement judge_test(const Discrete& d, u32 lx, u32 ly, double strata, u32 l, const Sums& sums) {
    Judgement found;
    found.df = df_of(d, lx, ly, strata, l, sums);
    found.statistic = sums.statistic;
    if (too_few(d, (double)sums.n, lx, ly, strata)) found.statistic = 0.0;
    found.p = upper_tail(found.statistic, found.df);
    found.says = found.p >= d.alpha ? SEPARATES : DEPENDS;
    // A statistic of 0 without terms, or by rule, is exact.
    if (found.statistic == 0.0 && (sums.terms == 0 || too_few(d, (double)sums.n, lx, ly, strata))) return found;
    double off = uncertainty(d, sums);
    bool near_one = d.alpha > 0.9;
    double margin = 1e-6 + 100.0 * off + (near_one ? sqrt(off) : 0.0);
    if (d.alpha > 0.0 && fabs(found.p - d.alpha) <= margin * (near_one ? 1.0 : d.alpha)) found.says = UNSURE;
    return found;
}

// The results of one side of a pair: the tests of (row, other) given subsets of the row's neighbours. An element of `Args::slot`.
struct DiscreteSlot {
    u64 stop;        // smallest rank that separates; NEVER: none does
    u64 stop_of_p;   // the rank that p_stop belongs to: it may lag behind `stop` while several blocks enter theirs
    u64 p_stop;      // p there, as bits
    u64 largest;     // 1 + the bits of the largest p of tests that do not separate; 0: none
    u64 known;       // df and statistic of such a test, as floats, rounded so that a test beyond both has a smaller p; 0: none
    u32 lock;
    u32 padding;
};

__device__ __forceinline__ DiscreteSlot* slots_of(const Discrete& d) { return (DiscreteSlot*)d.a.slot; }

// Enters a test that separates. Threads of a warp may meet at one slot. All supported GPUs schedule them independently, so waiting for the
// lock ends.
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

// Returns whether p of a test is certainly smaller than one that was entered: p falls with the statistic and rises with df.
__device__ __forceinline__ bool is_outdone(const DiscreteSlot* slot, double statistic, double df) {
    u64 known = *(const volatile u64*)&slot->known;
    double known_df = (double)__uint_as_float((u32)(known >> 32)), known_statistic = (double)__uint_as_float((u32)known);
    return known && df <= known_df && statistic > known_statistic;
}

// Enters a test that does not separate.
__device__ inline void enter_dependence(DiscreteSlot* slot, double p, double statistic, double df) {
    u64 bits = (u64)__double_as_longlong(p) + 1;
    if (atomicMax(&slot->largest, bits) >= bits || p > 0.5) return;
    // An earlier test may overwrite a later one: both were entered, and is_outdone() needs no more.
    float beyond = __double2float_ru(statistic + 1e-6 + 1e-9 * statistic);
    u64 known = (u64)__float_as_uint(__double2float_rd(df)) << 32 | __float_as_uint(beyond);
    atomicExch(&slot->known, known);
}

// Notes a test for the CPU, and returns where the members go. An item of work notes at most MOST_OTHERS tests, for which `asked` has room
// beyond `asked_most`.
__device__ inline u32* ask(const Discrete& d, u32 x, u32 y, u64 entry, u64 key) {
    u64 at = atomicAdd(&d.a.report->asked, 1ull);
    u32* record = d.asked + at * (ASKED_WORDS + d.largest_set);
    record[0] = x;
    record[1] = y;
    record[2] = (u32)entry;
    record[3] = (u32)(entry >> 32);
    record[4] = (u32)key;
    record[5] = (u32)(key >> 32);
    return record + ASKED_WORDS;
}

// Enters the outcome of a test in its slot, or leaves the test to the CPU. The members' `places` are `stride` apart.
__device__ inline void tell(const Discrete& d, u32 x, const u32* list, u32 own, u64 entry, u64 key, const Judgement& found,
                            const u32* places, u32 stride) {
    DiscreteSlot* slot = slots_of(d) + entry;
    if (found.says == UNSURE) {
        write_set(d.a, list, list[own], places, stride, ask(d, x, list[own], entry, key));
    } else if (found.says == SEPARATES) {
        enter_separation(slot, key, found.p);
    } else {
        enter_dependence(slot, found.p, found.statistic, found.df);
    }
}

// Returns the next item for a block; NEVER if there is none, the launch's time is used up, or the CPU has enough to answer.
__device__ inline u64 take(const Discrete& d, u64* item) {
    __syncthreads();
    if (threadIdx.x == 0) {
        const volatile Report* report = d.a.report;
        bool stop = nanoseconds() - report->clock_start > d.a.budget || report->asked >= d.asked_most;
        u64 at = stop ? NEVER : atomicAdd(&d.a.report->stage_next, 1ull);
        *item = at < report->stage_items ? at : NEVER;
    }
    __syncthreads();
    return *item;
}
