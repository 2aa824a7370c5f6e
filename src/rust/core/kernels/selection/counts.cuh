// Feature selection by mutual information, for one partner g, the class y and every candidate f. The kernels add up t(c) = c log2 c in fixed
// point over the cells of (f, g) and of (f, g, y). Sums of whole numbers do not depend on their order, so atomics give the same result every
// time, and the same as the CPU.
//
// A block takes a feature. If samples are few, a warp does, as a block's threads would wait for each other longer than they count. A table
// has a row for each (g, y) and a column for each level of f. A table with fewer cells than `stepwise` says is counted, then read. In a
// larger one, a sample that raises a cell from c to c + 1 adds t(c + 1) - t(c) at once, and empty cells are never read. A table that does
// not fit in shared memory is made slice by slice, some g at a time. If that would take many passes, or one g is too large, it lies in
// device memory. Counters are as wide as the number of samples needs, several to a word. (CUDA-JMI, by Gonzalez-Dominguez et al., has 32
// bits each, and forms the joint states on the CPU.)
//
// A feature may have one level, its mode, that most samples have (counts of words or reads are nearly all zero). Increments of the mode's
// cell would wait for each other, so samples with it are not counted: its cell is the row's total minus the other cells.
#pragma once
#include "gpu/threads.cuh"

constexpr u32 NO_MODE = 0xffffffff;    // host: `Feature::mode` if no level is that of more than half of the samples, or none is known
constexpr u64 PARTIAL_BYTES = 512;     // host: bytes of shared memory before a table: the partial sums of up to 32 warps

// Returns the words that `cells` counters of `bits` bits take, a multiple of four.
__host__ __device__ constexpr u64 counter_words(u64 cells, u64 bits) { return div_ceil(cells, 128 / bits) * 4; }

extern __shared__ uint4 shared[];

// A feature and its codes.
struct Feature {
    u64 at;      // where its codes start in the data, a multiple of 16
    u32 levels;  // 0: not to be counted.
    u32 wide;    // whether codes have 16 bits.
    u32 mode;    // the level that more than half of the samples have, or NO_MODE
    u32 place;   // index of its `Sums`.
    u64 packed;  // address of its packed codes, on the GPU or the host, a multiple of 128, plus the bits of a code; 0: none
};

// Sums of t(c) of a feature f.
struct Sums {
    i64 pair;          // over the cells of (f, g)
    i64 with_class;    // over the cells of (f, g, y)
};

// The kernels' arguments, `SelectionArgs` in Rust.
struct Selection {
    u64 n;                   // samples.
    const u8* data;          // codes of the features
    Feature* features;
    u64 first, count;        // features of this launch
    void* rows;              // by sample: its row, the number of (g, y); 16 bits each, 32 for `count_device`
    void* groups;            // by sample: its group, the number of g; as wide as `rows`
    u32* starts;             // by group: its first row; then the number of rows
    u32* totals;             // by row: number of samples
    u64 row_count, group_count;
    u64 slice;               // groups of a slice
    const i64* logs;         // t(c), c = 0 ... n
    const i64* steps;        // t(c + 1) - t(c), c = 0 ... n - 1
    Sums* sums;
    u32* tables;             // `count_device`: a table for each block
    u64 table_words;         // words of such a table, or of a warp's
    u64 shared_counters;     // `total` and `modes`: counters that shared memory holds
    const u8* partner;       // `join`: codes of g; null: g has one level
    u64 partner_wide;        // whether these codes have 16 bits
    const u16* classes;      // by sample: the level of y
    u64 class_count;
    u64 stepwise;            // tables of more than n * stepwise / 256 cells are added up while they grow
};

// Counters of BITS bits each.
template <int BITS, typename Cell>
struct Counters {
    static constexpr u32 PER = 32 / BITS;
    static constexpr u32 MASK = BITS == 32 ? ~0u : (1u << (BITS % 32)) - 1;

    // Raises a counter by 1, and returns its old value.
    static __device__ __forceinline__ u32 raise(u32* table, Cell cell) {
        u32 shift = (u32)(cell % PER) * BITS;
        return atomicAdd(table + cell / PER, 1u << shift) >> shift & MASK;
    }
    static __device__ __forceinline__ u32 get(const u32* table, Cell cell) {
        return table[cell / PER] >> ((u32)(cell % PER) * BITS) & MASK;
    }
    static __device__ __forceinline__ Cell words(Cell cells) { return (Cell)counter_words(cells, BITS); }
};

// The threads that count for a feature: this one's number, and how many there are. A thread reads CODE_BYTES of codes at a time. FEW: there
// are fewer samples than words of a table, roughly.
struct Block {
    static constexpr bool FEW = false;
    static constexpr u32 CODE_BYTES = 16;
    static __device__ __forceinline__ u32 thread() { return threadIdx.x; }
    static __device__ __forceinline__ u32 threads() { return blockDim.x; }
    static __device__ __forceinline__ void wait() { __syncthreads(); }
};
struct Warp {
    static constexpr bool FEW = true;
    static constexpr u32 CODE_BYTES = 4;
    static __device__ __forceinline__ u32 thread() { return lane_id(); }
    static __device__ __forceinline__ u32 threads() { return WARP; }
    static __device__ __forceinline__ void wait() { __syncwarp(); }
};

// Calls of(row, group, code) for each sample of this thread; without GROUPS, group is 0.
template <class Team, bool GROUPS, typename Row, typename Code, typename Of>
__device__ __forceinline__ void each_sample(const Selection& a, const Code* codes, Of of) {
    constexpr u32 AT_ONCE = Team::CODE_BYTES / sizeof(Code), ROW_BYTES = AT_ONCE * sizeof(Row);
    struct alignas(Team::CODE_BYTES) Some { Code v[AT_ONCE]; };
    struct alignas(ROW_BYTES < 16 ? ROW_BYTES : 16) Rows { Row v[AT_ONCE]; };
    const Row* rows = (const Row*)a.rows;
    const Row* groups = (const Row*)a.groups;
    u64 whole = a.n / AT_ONCE;
    for (u64 i = Team::thread(); i < whole; i += Team::threads()) {
        Some some = ((const Some*)codes)[i];
        Rows row = ((const Rows*)rows)[i], group;
        if (GROUPS) group = ((const Rows*)groups)[i];
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) of(row.v[k], GROUPS ? group.v[k] : 0, some.v[k]);
    }
    for (u64 i = whole * AT_ONCE + Team::thread(); i < a.n; i += Team::threads()) {
        of(rows[i], GROUPS ? groups[i] : 0, codes[i]);
    }
}

// Returns the words of a row of a table; each row starts with a word of its own. With a mode, the counter after the levels' has the number
// of samples that are counted at all.
template <int BITS, bool MODE>
__device__ __forceinline__ u32 row_words(u32 levels) {
    constexpr u32 PER = 32 / BITS;
    return (levels + MODE + PER - 1) / PER;
}

// The part of a table that is made at a time: groups `from` to `to` - 1, with `rows` rows from `row` on.
struct Slice {
    u32 from, to, row, rows;
};

// Adds the cells of the mode: a row's total minus the samples that it counted.
template <class Team, int BITS, typename Cell>
__device__ void add_mode(const Selection& a, Slice s, u32 levels, u32 stride, const u32* table, Sums& sums) {
    for (u32 group = s.from + Team::thread(); group < s.to; group += Team::threads()) {
        u32 last = a.starts[group + 1], both = 0;
        for (u32 row = a.starts[group]; row < last; row++) {
            u32 c = a.totals[row] - Counters<BITS, Cell>::get(table, (Cell)(row - s.row) * stride + levels);
            sums.with_class += a.logs[c];
            both += c;
        }
        sums.pair += a.logs[both];
    }
}

// Counts into the table, then reads it a word at a time. The table must be clear.
template <class Team, int BITS, bool MODE, bool SLICED, typename Row, typename Cell, typename Code>
__device__ void count_then_read(const Selection& a, Slice s, const Feature& f, const Code* codes, u32* table, Sums& sums) {
    typedef Counters<BITS, Cell> C;
    u32 levels = f.levels, mode = f.mode, width = row_words<BITS, MODE>(levels), stride = width * C::PER;
    each_sample<Team, false, Row>(a, codes, [&](u32 row, u32, u32 code) {
        if (SLICED) row -= s.row;
        if ((SLICED && row >= s.rows) || (MODE && code == mode)) return;
        C::raise(table, (Cell)row * stride + code);
        if (MODE) C::raise(table, (Cell)row * stride + levels);
    });
    Team::wait();
    u32 group = s.from + Team::thread() / width, column = Team::thread() % width;
    u32 more_groups = Team::threads() / width, more_columns = Team::threads() % width;
    while (group < s.to) {
        u32 row = a.starts[group], last = a.starts[group + 1];
        u32 both[C::PER] = {};
        const u32* at = table + (Cell)(row - s.row) * width + column;
        for (; row < last; row++, at += width) {
            u32 word = *at;
            // The counter of all counted samples is no cell.
            if (MODE && column == levels / C::PER) word &= ~(C::MASK << (levels % C::PER * BITS));
            if (!word) continue;
#pragma unroll
            for (u32 k = 0; k < C::PER; k++) {
                u32 c = word >> (k * BITS % 32) & C::MASK;
                if (c > 1) sums.with_class += a.logs[c];
                both[k] += c;
            }
        }
#pragma unroll
        for (u32 k = 0; k < C::PER; k++) {
            if (both[k] > 1) sums.pair += a.logs[both[k]];
        }
        group += more_groups;
        column += more_columns;
        if (column >= width) {
            column -= width;
            group++;
        }
    }
    if (MODE) add_mode<Team, BITS, Cell>(a, s, levels, stride, table, sums);
}

// Adds up while cells grow; a second table has the cells of (f, g). Both must be clear; with CLEAR, they are cleared afterwards.
template <class Team, int BITS, bool MODE, bool SLICED, bool CLEAR, typename Row, typename Cell, typename Code>
__device__ void count_stepwise(const Selection& a, Slice s, const Feature& f, const Code* codes, u32* table, Sums& sums) {
    typedef Counters<BITS, Cell> C;
    u32 levels = f.levels, mode = f.mode, stride = row_words<BITS, MODE>(levels) * C::PER;
    u32* of_pairs = table + C::words((Cell)s.rows * stride);
    each_sample<Team, true, Row>(a, codes, [&](u32 row, u32 group, u32 code) {
        if (SLICED) row -= s.row;
        if ((SLICED && row >= s.rows) || (MODE && code == mode)) return;
        sums.with_class += a.steps[C::raise(table, (Cell)row * stride + code)];
        sums.pair += a.steps[C::raise(of_pairs, (Cell)(SLICED ? group - s.from : group) * levels + code)];
        if (MODE) C::raise(table, (Cell)row * stride + levels);
    });
    if (MODE) {
        Team::wait();
        add_mode<Team, BITS, Cell>(a, s, levels, stride, table, sums);
    }
    if (CLEAR) {
        Team::wait();
        each_sample<Team, true, Row>(a, codes, [&](u32 row, u32 group, u32 code) {
            table[((Cell)row * stride + code) / C::PER] = 0;
            of_pairs[((Cell)group * levels + code) / C::PER] = 0;
            if (MODE) table[((Cell)row * stride + levels) / C::PER] = 0;
        });
    }
}

template <class Team, typename Cell>
__device__ __forceinline__ void clear(u32* table, Cell words) {
    uint4* fours = (uint4*)table;
    for (Cell i = Team::thread(); i < words / 4; i += Team::threads()) fours[i] = make_uint4(0, 0, 0, 0);
}

// Where the table is.
enum class Place { SHARED, SLICES, DEVICE };

template <class Team, int BITS, bool MODE, Place PLACE, typename Row, typename Cell, typename Code>
__device__ void count_codes(const Selection& a, const Feature& f, u32* table, Sums& sums) {
    typedef Counters<BITS, Cell> C;
    constexpr bool STAYS_CLEAR = PLACE == Place::DEVICE || Team::FEW, SLICED = PLACE == Place::SLICES;
    const Code* codes = (const Code*)(a.data + f.at);
    Cell stride = row_words<BITS, MODE>(f.levels) * C::PER;
    bool stepwise = a.row_count * stride * 256 > a.n * a.stepwise;
    u32 groups = (u32)a.group_count;
    for (u32 from = 0; from < groups; from += (u32)a.slice) {
        Slice s = {0, groups, 0, (u32)a.row_count};
        if (SLICED) {
            s.from = from;
            s.to = min(groups, from + (u32)a.slice);
            s.row = a.starts[s.from];
            s.rows = a.starts[s.to] - s.row;
            Team::wait();
        }
        if (!STAYS_CLEAR) {
            clear<Team, Cell>(table, C::words(s.rows * stride) + (stepwise ? C::words((Cell)(s.to - s.from) * f.levels) : 0));
            Team::wait();
        }
        // Tables in device memory and those of warps are clear before each feature, and left clear; stepwise ones are cleared cell by cell.
        if (stepwise) {
            count_stepwise<Team, BITS, MODE, SLICED, STAYS_CLEAR, Row, Cell>(a, s, f, codes, table, sums);
        } else {
            count_then_read<Team, BITS, MODE, SLICED, Row, Cell>(a, s, f, codes, table, sums);
            if (STAYS_CLEAR) {
                Team::wait();
                clear<Team, Cell>(table, C::words(s.rows * stride));
            }
        }
        if (!SLICED) break;
    }
}

template <int BITS, Place PLACE, typename Row, typename Cell>
__device__ void count_features(const Selection& a) {
    constexpr bool DEVICE = PLACE == Place::DEVICE;
    i64* partial = (i64*)shared;
    u32* table = DEVICE ? a.tables + blockIdx.x * a.table_words : (u32*)(shared + PARTIAL_BYTES / sizeof(uint4));
    if (DEVICE) {
        clear<Block, u64>(table, a.table_words);
        __syncthreads();
    }
    for (u64 k = blockIdx.x; k < a.count; k += gridDim.x) {
        Feature f = a.features[a.first + k];
        if (!f.levels) continue;
        Sums sums = {0, 0};
        if (f.mode != NO_MODE) {
            if (f.wide) count_codes<Block, BITS, true, PLACE, Row, Cell, u16>(a, f, table, sums);
            else count_codes<Block, BITS, true, PLACE, Row, Cell, u8>(a, f, table, sums);
        } else {
            if (f.wide) count_codes<Block, BITS, false, PLACE, Row, Cell, u16>(a, f, table, sums);
            else count_codes<Block, BITS, false, PLACE, Row, Cell, u8>(a, f, table, sums);
        }
        sums.pair = warp_sum(sums.pair);
        sums.with_class = warp_sum(sums.with_class);
        u32 warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
        if (threadIdx.x % WARP == 0) {
            partial[2 * warp] = sums.pair;
            partial[2 * warp + 1] = sums.with_class;
        }
        __syncthreads();
        if (threadIdx.x < 2) {
            i64 sum = 0;
            for (u32 w = 0; w < warps; w++) sum += partial[2 * w + threadIdx.x];
            (threadIdx.x ? a.sums[f.place].with_class : a.sums[f.place].pair) = sum;
        }
        // The next feature clears the table, and fills `partial` only after it has synchronised.
        __syncthreads();
    }
}

// Counts features as `count_features` does, but a warp takes a feature, with its own table of `table_words` in shared memory. Samples are
// too few for modes.
template <int BITS>
__device__ void count_by_warps(const Selection& a) {
    u32* table = (u32*)shared + threadIdx.x / WARP * a.table_words;
    clear<Warp, u64>(table, a.table_words);
    __syncwarp();
    for (u64 k : by_warp(a.count)) {
        Feature f = a.features[a.first + k];
        if (!f.levels) continue;
        Sums sums = {0, 0};
        if (f.wide) count_codes<Warp, BITS, false, Place::SHARED, u16, u32, u16>(a, f, table, sums);
        else count_codes<Warp, BITS, false, Place::SHARED, u16, u32, u8>(a, f, table, sums);
        sums.pair = warp_sum(sums.pair);
        sums.with_class = warp_sum(sums.with_class);
        if (lane_id() == 0) a.sums[f.place] = sums;
        __syncwarp();
    }
}
