// What the kernels of the nearest-neighbour test share. The definitions are those of src/ci/knn. All comparisons and sums are exact, so
// that the answers are the CPU's bit for bit.
#pragma once
#include "gpu/threads.cuh"

// An address in device memory, of Ts. The type is for the host.
template <typename T> using Address = u64;

// One launch. Addresses of `char` point to values in the kernel's precision, or to whole numbers of the width that its form has.
struct KnnArgs {
    // Samples; neighbours of the estimator; neighbours that a permutation draws from.
    u64 n, k, k_perm;
    // Tests at once, permutations of each, and the number of the first permutation: 0 is the data, m + 1 permutation m.
    u64 tests, permutations, first_permutation;
    // Tasks of this launch: `first_task` to `end_task` - 1. A task is a permutation (kernels that draw or permute, knn_paper_*,
    // knn_slots_*), a block's work (knn_sums_*, knn_shared_*), a sample of a set (knn_neighbours_*) or a plane (knn_planes,
    // knn_slots).
    u64 first_task, end_task;
    // Columns of n values; by column, the largest distance in it (infinite unless it is discrete).
    Address<char> values, caps;
    // By test: x, y, set (none: ~0), draw. By draw: set, key. By set: where its members start, key. Tests of one set have one draw.
    Address<u32> test_x, test_y, test_set, test_draw, draw_set;
    Address<uint2> draw_key;
    u64 draws;
    Address<u32> set_start, set_members;
    Address<uint2> set_key;
    // k_perm neighbours by set and sample.
    Address<u32> neighbours;
    // Permuted x by test, permutation and sample (with planes, by place). By draw, permutation and sample: the sample that it takes x from.
    Address<char> permuted, drawn;
    // n claims of each block that draws; null if shared memory has them.
    Address<u64> claims;
    // Rows of distances that do not fit in registers: three for each warp that sums, one for each that looks for neighbours.
    Address<char> rows;
    // Values in all rows of a warp.
    u64 row_values_a_warp;
    // Terms of the estimator in fixed point: by count, of a count in one space and of the joint count; and the term of all n samples.
    Address<i64> own_terms, joint_terms;
    i64 all_term;
    u64 estimator;
    // Sums of terms by test and permutation; tiles of samples of a test; samples that a warp takes.
    Address<i64> sums;
    u64 tiles, samples_a_warp;
    // The data's sum by test; by test, a bit for each permutation of the launch, in whole words.
    Address<i64> own_sums;
    Address<u32> votes;
    // For planes (knn/planes.cuh), by column: values as whole numbers below n, by sample; samples in ascending order of their values; for
    // t = 0, .., n, the number of values below t. `plain` is whether that number is t for every column and t.
    Address<u16> whole, sorted, below;
    u64 plain;
    // By test: the column that orders the samples, and where its planes start in `plane_list`, which holds numbers of planes. By plane: its
    // column and the column that orders its samples.
    Address<u32> test_guide, test_planes, plane_list, plane_column, plane_guide;
    // Planes of columns; planes of permuted x; words from row to row of a plane; bytes of a plane; ranges of a plane's rows, in each of
    // which a thread makes a word; planes of a test.
    Address<u32> planes, slots;
    u64 plane_stride, plane_bytes, ranges, dims;
    // The distance of two levels; values from one permuted x to the next; permutations of a block; permutations that it takes at a time.
    u64 mismatch, permuted_stride, permutations_a_block, teams;
};

constexpr u64 FRENZEL_POMPE = 0;     // host: number of the estimator of Frenzel and Pompe
constexpr u64 MESNER_SHALIZI = 1;    // host: number of the estimator of Mesner and Shalizi
constexpr u64 GAO = 2;               // host: number of the estimator of Gao
enum Purpose { FOR_KEY = 0, FOR_LOCAL = 1, FOR_PLAIN = 2 };

constexpr u32 NO_SET = 0xffffffff;    // host: `test_set` if S is empty

constexpr u32 KNN_THREADS = 128;       // host: threads of a block that finds neighbours, permutes, sums by warps or makes planes
constexpr u32 PAPER_THREADS = 32;      // host: threads of a block of the paper's kernel
constexpr u32 DRAWING_THREADS = 512;   // host: most threads of a block that draws permutations
constexpr u32 SLOT_THREADS = 256;      // host: threads of a block of kernels that count with x's planes in device memory

struct Words { u32 w[4]; };

// Computes Philox4x32-10; see src/random.rs.
__device__ inline Words philox(u32 c0, u32 c1, u32 c2, u32 c3, uint2 key) {
    #pragma unroll
    for (int round = 0; round < 10; round++) {
        u64 first = (u64)0xD2511F53u * c0, second = (u64)0xCD9E8D57u * c2;
        u32 n0 = (u32)(second >> 32) ^ c1 ^ key.x, n2 = (u32)(first >> 32) ^ c3 ^ key.y;
        c1 = (u32)second;
        c3 = (u32)first;
        c0 = n0;
        c2 = n2;
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return Words{{c0, c1, c2, c3}};
}

__device__ inline u32 below(u32 word, u32 bound) { return (u32)(((u64)word * bound) >> 32); }

__device__ inline u32 finish(u32 h) {
    h ^= h >> 16;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13;
    h *= 0xC2B2AE35u;
    return h ^ (h >> 16);
}

__device__ inline u32 scramble(uint2 key, u32 a, u32 b) { return finish((finish(a ^ key.x) + b) ^ key.y); }

// Returns the word that `finish` makes this word of.
__device__ inline u32 unfinish(u32 h) {
    h ^= h >> 16;
    h *= 0x7ED1B41Du;
    h ^= h >> 13 ^ h >> 26;
    h *= 0xA5CB9243u;
    return h ^ (h >> 16);
}

// Returns the b for which `scramble(key, a, b)` is this word.
__device__ inline u32 unscramble(uint2 key, u32 a, u32 word) { return (unfinish(word) ^ key.y) - finish(a ^ key.x); }

template <class T> __device__ inline T largest_finite();
template <> __device__ inline float largest_finite<float>() { return 3.402823466e38f; }
template <> __device__ inline double largest_finite<double>() { return 1.7976931348623157e308; }

template <class T> __device__ inline T apart(T a, T b, T cap) {
    T d = a - b;
    d = d < 0 ? -d : d;
    return d < cap ? d : cap;
}

template <class T> __device__ inline T larger(T a, T b) { return a > b ? a : b; }

// Returns the radius, which is a double, as a T: floats are whole numbers here.
__device__ inline float floor_of(double radius, float) { return (float)floor(radius); }
__device__ inline double floor_of(double radius, double) { return radius; }

// Returns the middle of a and b in the order of all non-negative numbers of the type.
__device__ inline float halfway(float a, float b) {
    return __uint_as_float(__float_as_uint(a) + (__float_as_uint(b) - __float_as_uint(a)) / 2);
}
__device__ inline double halfway(double a, double b) {
    i64 x = __double_as_longlong(a);
    return __longlong_as_double(x + (__double_as_longlong(b) - x) / 2);
}

template <class T> __device__ inline T warp_largest(T value) {
    return warp_join(value, [](T s, T t) { return larger(s, t); });
}

// A row of distances over the lanes of a warp, in registers. Number i of lane l is the distance of sample 32 i + l, infinite past the last
// sample.
template <class T, int ITEMS> struct Registers {
    T value[ITEMS];
    static constexpr bool UNROLLED = true;
    __device__ inline T get(int i) const { return value[i]; }
    __device__ inline void set(int i, T v) { value[i] = v; }
};

// A row of distances over the lanes of a warp, in device memory.
template <class T> struct Memory {
    T *at;
    __device__ inline T get(int i) const { return at[32 * i]; }
    __device__ inline void set(int i, T v) { at[32 * i] = v; }
};

// Loops over the items of a row, unrolled if these are registers.
template <class T, int ITEMS> struct Items {
    static constexpr int FIXED = ITEMS;
    int count;
    template <class F> __device__ inline void each(F f) const {
        if (ITEMS > 0) {
            #pragma unroll
            for (int i = 0; i < ITEMS; i++) f(i);
        } else {
            for (int i = 0; i < count; i++) f(i);
        }
    }
};

template <class T, int ITEMS> struct RowOf { typedef Registers<T, ITEMS> Type; };
template <class T> struct RowOf<T, 0> { typedef Memory<T> Type; };

template <class T, int ITEMS, class Row>
__device__ inline u32 count_within(const Items<T, ITEMS> &items, const Row &row, T bound) {
    u32 count = 0;
    items.each([&](int i) { count += row.get(i) <= bound; });
    return warp_sum(count);
}

template <class T, int ITEMS, class Row>
__device__ inline u32 count_below(const Items<T, ITEMS> &items, const Row &row, T bound) {
    u32 count = 0;
    items.each([&](int i) { count += row.get(i) < bound; });
    return warp_sum(count);
}

template <class T, int ITEMS, class Row>
__device__ inline T largest_within(const Items<T, ITEMS> &items, const Row &row, T bound) {
    T largest = 0;
    items.each([&](int i) {
        T d = row.get(i);
        largest = d <= bound ? larger(d, largest) : largest;
    });
    return warp_largest(largest);
}

// Returns the `which`-th smallest distance, from 1. On entry, `within` distances, at least `which`, are at most the finite `bound`. On
// return, `within` is the number of distances that are at most the answer. Counting narrows bounds down to it, so no list of neighbours is
// kept, whatever `which` is.
template <class T, int ITEMS, class Row>
__device__ inline T select(const Items<T, ITEMS> &items, const Row &row, u32 which, T bound, u32 &within) {
    T low = 0;
    bool from_zero = true;
    u32 under = 0;
    T high = bound;
    u32 up_to = within;
    for (int step = 0;; step++) {
        if (up_to == which) {
            within = which;
            return largest_within(items, row, high);
        }
        if (step % 3 == 1) {
            // If many are equal, no bound may have exactly `which` of them within it.
            T largest = largest_within(items, row, high);
            if (count_below(items, row, largest) < which) {
                within = up_to;
                return largest;
            }
            high = largest;
        }
        float share = (float)(which - under) / (float)(up_to - under);
        T middle;
        if (step % 3 == 2) middle = halfway(low, high);
        else if (from_zero) middle = high * (T)sqrtf(share);
        else middle = low + (high - low) * (T)share;
        if (!(middle < high && (middle > low || (from_zero && middle >= low)))) middle = halfway(low, high);
        if (!(middle < high && (middle > low || (from_zero && middle >= low)))) {
            // Nothing lies between the bounds: all distances that are left are equal.
            within = up_to;
            return high;
        }
        u32 count = count_within(items, row, middle);
        if (count >= which) {
            high = middle;
            up_to = count;
        } else {
            low = middle;
            under = count;
            from_zero = false;
        }
    }
}
