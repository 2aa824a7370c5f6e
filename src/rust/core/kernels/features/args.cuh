// The arguments of the tests by random features. A test's p-value comes from a statistic and three traces; src/ci/features has the definitions.
// Every sum has the CPU's order of terms, with products fused where the CPU fuses them, so that the answers are the CPU's to the last bit.
//
// Kernels run in this order for some sets S: the features of S (given.cu), their products, the factor of these with its inverse, the orthogonal
// features, the factor c; for each variable given S, its features and their residuals (sides.cu); for each pair, the test (tests.cu). Features are
// stored by column.
#pragma once
#include "gpu/threads.cuh"

constexpr u32 WIDE = 8;       // host: columns of a panel, and most features of a side
constexpr u32 DEEP = 256;     // host: rows of a sum, before it is added to the sums of other rows
constexpr u32 ANSWERS = 4;    // host: numbers of an answer: the statistic, and the traces of M, M^2 and M^3

// A variable of the data.
struct FeaturesColumn {
    u64 is_number;    // whether it has numbers; if not, levels
    u64 values;       // where its numbers or codes begin
    u64 weights;      // where its weights as a member of S begin: for each level, `width` numbers
    u64 joint;        // where its weights as a member of a joint set begin: for each level, WIDE numbers
    u64 sides;        // where its features as x or y begin: `sides` columns of n numbers
};

// A set S.
struct FeaturesSet {
    u64 first_member; // where its members are in `members`, ascending
    u64 count;        // number of members
    u64 rows;         // rows that count
    double scale;     // 1 / (2 pi sigma) for its members
    double joint_scale;  // the same with one more
};

// A variable given S.
struct FeaturesSide {
    u64 set;
    u64 variable;
    u64 joins;        // whether S is joined to it
};

// Sides of one set that a block takes together.
struct FeaturesGroup {
    u64 set;
    u64 first, count; // its sides
};

// A test of two sides of one set.
struct FeaturesTest {
    u64 x, y;         // their numbers
    u64 of_x, of_y;   // numbers of their features
};

struct FeaturesArgs {
    u64 n;                            // rows of the data
    u64 given, width;                 // features of S; the same with a constant and zeros, a multiple of WIDE
    u64 sides;                        // features of x and of y
    double ridge;                     // added to the diagonal of the mean products
    double nothing;                   // mean square of residuals below which a side is a function of S
    const double* numbers;            // columns of n numbers
    const u16* codes;                 // columns of n levels
    const double* weights;
    const double* side_features;
    const FeaturesColumn* columns;
    const double* phases;             // of the features of S, `width` numbers; then of joint sets, WIDE numbers
    const u32* members;
    const FeaturesSet* sets;          // the sets of the run
    const FeaturesSide* of_sets;      // the sides of the run
    const FeaturesGroup* groups;
    const FeaturesTest* tests;
    const u32* rows;                  // by set: its rows, n numbers; null: all rows count
    double* features;                 // by set: `width` columns of n numbers
    double* factors;                  // by set: the products of the features, then perhaps their factor, `cells_of_factor` numbers
    double* inverses;                 // by set: the inverse of the factor, as many
    double* left;                     // by set: 1 - h by row, n numbers
    double* shares;                   // by set: the factor c
    double* residuals;                // by side: `sides` columns of n numbers
    double* coefficients;             // by side: by feature `width` numbers
    double* squares;                  // by side: the mean square of the residuals
    double* answers;                  // by test: ANSWERS numbers
    u64 first_set, first_side, first_group, first_test;  // first of the launch
    u64 count;                        // sets, sides or tests of the launch
    u64 staged;                       // rows that a block holds in shared memory
    u64 in_shared;                    // whether the factor and its inverse are in shared memory
};

// Copies rows of columns `n` apart to shared memory, `pitch` numbers a row; all threads of the block call it.
__device__ __forceinline__ void stage(const double* from, u64 n, u32 rows, u32 columns, double* to, u32 pitch) {
    for (u32 first = 0; first < rows; first += WARP) {
        u32 r = first + lane_id();
        if (r >= rows) break;
#pragma unroll 8
        for (u32 c = threadIdx.x / WARP; c < columns; c += blockDim.x / WARP) to[r * pitch + c] = from[c * n + r];
    }
}

// Returns where column 0 of row k of a factor would be. The row has the columns from the first of its panel on.
__device__ __forceinline__ u32 row_of_factor(u32 width, u32 k) {
    u32 panel = k / WIDE;
    return panel * WIDE * width - panel * (panel - 1) / 2 * WIDE * WIDE + k % WIDE * (width - panel * WIDE) - panel * WIDE;
}

// Returns the numbers of a factor.
__host__ __device__ constexpr u64 cells_of_factor(u64 width) { return width * (width + 8) / 2; }

// Returns the row of the data that is row r of a set.
__device__ __forceinline__ u64 data_row(const FeaturesArgs& a, u64 set, u64 r) { return a.rows ? a.rows[set * a.n + r] : r; }

// Returns the square root of 2 times the cosine of an angle in turns, as `wave` of src/ci/features/weights.rs.
__device__ __forceinline__ double wave(double turns) {
    constexpr double WHOLE = 6755399441055744.0, MOST = 1125899906842624.0;
    turns = turns < -MOST ? -MOST : turns > MOST ? MOST : turns;
    double part = turns - ((turns + WHOLE) - WHOLE);
    double angle = (0.25 - fabs(part)) * 6.283185307179586;
    double square = angle * angle;
    double series = -1.0 / 121645100408832000.0;
    series = fma(series, square, 1.0 / 355687428096000.0);
    series = fma(series, square, -1.0 / 1307674368000.0);
    series = fma(series, square, 1.0 / 6227020800.0);
    series = fma(series, square, -1.0 / 39916800.0);
    series = fma(series, square, 1.0 / 362880.0);
    series = fma(series, square, -1.0 / 5040.0);
    series = fma(series, square, 1.0 / 120.0);
    series = fma(series, square, -1.0 / 6.0);
    series = fma(series, square, 1.0);
    return 1.4142135623730951 * angle * series;
}

// Adds to `sum` what a member of a set adds to a feature in a row of the data: its weight of column `c`, times its number if it has one.
// `weights`: where its weights begin; `each`: weights of a level.
__device__ __forceinline__ double with_member(const FeaturesArgs& a, const FeaturesColumn& of, u64 weights, u64 each, u64 row, u64 c, double sum) {
    if (of.is_number) return sum + a.weights[weights + c] * a.numbers[of.values + row];
    return sum + a.weights[weights + a.codes[of.values + row] * each + c];
}
