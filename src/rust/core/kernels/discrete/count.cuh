// A block counts N(x, y, s) for one x, one conditioning set S and several y at a time. It computes once for all y what depends on x and S
// alone.
//
// If the tables of all strata fit in shared memory, samples are counted straight into them: `count_directly`. (gpuPC keeps tables there,
// too: section 3.3.) Otherwise the samples are sorted by stratum, once for all y, and each table holds one stratum: `count_by_strata`.
// Strata that do not occur then cost nothing, and those with few samples need no table.
#pragma once
#include "discrete/test.cuh"

extern __shared__ double memory[];

// Largest number of samples of a stratum that a warp compares directly, a lane each.
constexpr u32 FEW = 32;

// A block's working memory. Addresses are computed when needed, as sixteen would take as many registers. `bench_bytes` is its size in
// shared memory without tables, `bench_scratch` its size in scratch.
struct Bench {
    const Discrete& d;
    __device__ explicit Bench(const Discrete& d) : d(d) {}

    __device__ Sums* sums() const { return (Sums*)memory; }                                        // MOST_OTHERS
    __device__ double* partial() const { return (double*)(sums() + MOST_OTHERS); }                 // two a warp
    __device__ u64* item() const { return (u64*)(partial() + 2 * (COUNTING_THREADS / WARP)); }
    __device__ u64* key() const { return item() + 2; }                                             // MOST_OTHERS ranks for the slots
    __device__ u32* other() const { return (u32*)(key() + MOST_OTHERS); }                          // MOST_OTHERS vertices y
    __device__ u32* place() const { return other() + MOST_OTHERS; }                                // their places in the row's list
    __device__ u32* status() const { return place() + MOST_OTHERS; }                               // COUNTED, TOO_FEW or FOR_CPU
    __device__ u32* flags() const { return status() + MOST_OTHERS; }
    __device__ u32* places() const { return flags() + 8; }                                         // of the set's members
    __device__ u32* set() const { return places() + d.largest_set; }
    __device__ u32* tables() const { return set() + d.largest_set; }                               // `area` cells

    // The rest is in scratch, if there is any.
    __device__ char* scratch() const { return d.a.scratch + blockIdx.x * d.block_bytes; }
    __device__ u64* keys() const { return (u64*)scratch(); }                                       // `hash`
    // `hash` + 1, by stratum: number of samples, then where they start in `order`.
    __device__ u32* count() const { return (u32*)(keys() + d.hash); }
    __device__ u32* stratum() const { return count() + d.hash + 1; }                               // by sample
    __device__ u32* within() const { return stratum() + d.n; }                                     // by sample: number in its stratum
    __device__ u32* order() const { return within() + d.n; }                                       // samples by stratum
    __device__ u32* large_table() const { return order() + d.n; }                                  // `most_cells`
};

__host__ __device__ constexpr u64 bench_bytes(u64 largest_set) {
    u64 others = MOST_OTHERS * (48 + 8 + 4 + 4 + 4);
    u64 warps = COUNTING_THREADS / WARP * 16;
    return others + warps + 16 + 32 + 8 * largest_set;
}

__host__ __device__ constexpr u64 bench_scratch(u64 hash, u64 n, u64 most_cells) {
    return 12 * hash + 4 + 12 * n + 4 * most_cells;
}

// The threads that share a table: a block, a warp, or one thread.
struct Whole {
    u32 index = threadIdx.x;
    static constexpr u32 SIZE = COUNTING_THREADS;
    __device__ void sync() const { __syncthreads(); }
};
struct Warp {
    u32 index = lane_id();
    static constexpr u32 SIZE = WARP;
    __device__ void sync() const { __syncwarp(); }
};
struct Alone {
    u32 index = 0;
    static constexpr u32 SIZE = 1;
    __device__ void sync() const {}
};

// Returns the number of cells for the margins of a table.
__device__ __forceinline__ double margins_of(double strata, u32 lx, u32 ly) { return strata * ((double)lx + ly + 1.0); }

// Where the margins of a table of strata x lx x ly counts are: those of x, of y, and of the strata.
struct Margins {
    u32 *of_x, *of_y, *of_s;
    __device__ Margins(u32* margins, u32 strata, u32 lx, u32 ly) : of_x(margins), of_y(of_x + strata * lx), of_s(of_y + strata * ly) {}
};

// Sums the margins of x and y of a table, the level of y fastest. The threads of a group share the work.
template <class G>
__device__ inline void sum_margins(const G group, const u32* table, u32 strata, u32 lx, u32 ly, const Margins margins) {
    for (u32 r = group.index; r < strata * lx; r += group.SIZE) {
        u32 total = 0;
        for (u32 y = 0; y < ly; y++) total += table[r * ly + y];
        margins.of_x[r] = total;
    }
    for (u32 c = group.index; c < strata * ly; c += group.SIZE) {
        const u32* from = table + c / ly * lx * ly + c % ly;
        u32 total = 0;
        for (u32 x = 0; x < lx; x++) total += from[x * ly];
        margins.of_y[c] = total;
    }
    group.sync();
}

// Adds each thread's part of a table to its `sums`. The table's margins must be there.
template <class G>
__device__ inline void sum_terms(const Discrete& d, const G group, const u32* table, u32 strata, u32 lx, u32 ly, const Margins margins, Sums& sums) {
    const auto [of_x, of_y, of_s] = margins;
    for (u32 s = group.index; s < strata; s += group.SIZE) {
        u64 n = 0, in_x = 0, in_y = 0;
        for (u32 x = 0; x < lx; x++) {
            n += of_x[s * lx + x];
            in_x += of_x[s * lx + x] > 0;
        }
        for (u32 y = 0; y < ly; y++) in_y += of_y[s * ly + y] > 0;
        sums.n += n;
        if (n) sums.adjusted += (in_x - 1) * (in_y - 1);
        // With one level of x or y the statistic is 0, which rounding must not change.
        of_s[s] = in_x > 1 && in_y > 1 ? (u32)n : 0;
    }
    group.sync();
    for (u32 c = group.index; c < strata * lx * ly; c += group.SIZE) {
        u32 count = table[c], row = c / ly, s = row / lx;
        sums.occupied += count > 0;
        if (of_s[s] == 0) continue;
        u32 x = of_x[row], y = of_y[s * ly + c % ly];
        if (d.statistic == G2 ? count > 0 : x > 0 && y > 0) add_term(d, sums, count, x, y, of_s[s]);
    }
    group.sync();
}

// Sums the margins of a table, and adds each thread's part of the table to its `sums`. `margins` has room for `margins_of` cells.
template <class G>
__device__ inline void reduce(const Discrete& d, const G group, const u32* table, u32 strata, u32 lx, u32 ly, u32* margins,
                              Sums& sums) {
    const Margins own(margins, strata, lx, ly);
    sum_margins(group, table, strata, lx, ly, own);
    sum_terms(d, group, table, strata, lx, ly, own, sums);
}

__device__ inline void add_lanes(Sums& sums) {
    sums.statistic = warp_sum(sums.statistic);
    sums.size = warp_sum(sums.size);
    sums.n = warp_sum(sums.n);
    sums.occupied = warp_sum(sums.occupied);
    sums.adjusted = warp_sum(sums.adjusted);
    sums.terms = warp_sum(sums.terms);
}

// Adds up the sums of all threads into `sum`.
__device__ inline void add_block(const Bench& b, Sums& own, Sums* sum) {
    add_lanes(own);
    u64* wholes = (u64*)sum;
    if (threadIdx.x == 0) *sum = Sums{0.0, 0.0, 0, 0, 0, 0};
    u32 warp = threadIdx.x / WARP;
    if (lane_id() == 0) {
        b.partial()[2 * warp] = own.statistic;
        b.partial()[2 * warp + 1] = own.size;
    }
    __syncthreads();
    if (lane_id() == 0) {
        atomicAdd(&wholes[2], own.n);
        atomicAdd(&wholes[3], own.occupied);
        atomicAdd(&wholes[4], own.adjusted);
        atomicAdd(&wholes[5], own.terms);
    }
    if (threadIdx.x == 0) {
        // Always in this order, so that every run gives the same last digits.
        for (u32 w = 0; w < COUNTING_THREADS / WARP; w++) {
            sum->statistic += b.partial()[2 * w];
            sum->size += b.partial()[2 * w + 1];
        }
    }
    __syncthreads();
}

// Most cells of a table that a warp adds up; the block adds up a larger one.
constexpr u32 OF_WARP = 1024;

// Most members of a set whose tables are counted by planes.
constexpr u32 PLANE_SET = 2;

__device__ __forceinline__ bool has_planes(const Discrete& d, u32 v) { return d.plane[v] != NEVER; }

// Counts the table of one y by bit planes. A lane takes a cell and a part of the samples, intersects the planes of the cell's levels and
// counts the bits. Only lanes with the same cell add up. This is warp `part` of the `parts` that share the work.
__device__ inline void count_planes(const Discrete& d, const u32* set, u32 x, u32 l, u32 y, u32 cells, u32 part, u32 parts,
                                    u32* table) {
    const u32 lx = levels_of(d, x), ly = levels_of(d, y);
    u32 width = 1;
    while (width < WARP && width < cells) width *= 2;
    for (u32 cell = lane_id() % width; cell < cells; cell += width) {
        u32 plane[PLANE_SET + 2];
        u32 row = cell / ly, s = row / lx;
        plane[0] = (u32)(d.plane[y] + cell % ly * d.plane_size);
        plane[1] = (u32)(d.plane[x] + row % lx * d.plane_size);
#pragma unroll
        for (u32 i = 0; i < PLANE_SET; i++) {
            if (i >= l) continue;
            u32 v = set[l - 1 - i], levels = levels_of(d, v);
            plane[i + 2] = (u32)(d.plane[v] + s % levels * d.plane_size);
            s /= levels;
        }
        u32 count = 0;
        for (u32 at = part * (WARP / width) + lane_id() / width; at < d.plane_size; at += parts * (WARP / width)) {
            uint4 bits = d.planes[(u64)plane[0] + at], other = d.planes[(u64)plane[1] + at];
            bits.x &= other.x, bits.y &= other.y, bits.z &= other.z, bits.w &= other.w;
#pragma unroll
            for (u32 i = 0; i < PLANE_SET; i++) {
                if (i >= l) continue;
                other = d.planes[(u64)plane[i + 2] + at];
                bits.x &= other.x, bits.y &= other.y, bits.z &= other.z, bits.w &= other.w;
            }
            count += __popc(bits.x) + __popc(bits.y) + __popc(bits.z) + __popc(bits.w);
        }
        if (count) atomicAdd(table + cell, count);
    }
}

// Counts the y from `from` to `to` - 1. Their tables, of `cells` in all, fit in shared memory together with their `margins`. With PLANES,
// small tables are counted by bit planes. That takes registers that the kernel without them uses for other work.
template <bool PLANES>
__device__ inline void count_directly(const Discrete& d, const Bench& b, u32 x, u32 l, u32 strata, u32 from, u32 to,
                                      u32 cells, u32 margins) {
    const u32 lx = levels_of(d, x), rows = strata * lx;
    bool planes = PLANES && l <= PLANE_SET && has_planes(d, x);
    for (u32 i = 0; i < l && planes; i++) planes = planes && has_planes(d, b.set()[i]);
    u32 by_planes = 0;
    for (u32 i = from; i < to && planes; i++) {
        if (rows * levels_of(d, b.other()[i]) <= d.plane_cells && has_planes(d, b.other()[i])) by_planes |= 1u << i;
    }
    const u32 few = __popc(by_planes);
    // As many copies of the tables as there is room for, so that fewer warps wait for each other at a cell.
    u32 copies = 1;
    while (!PLANES && copies < COUNTING_THREADS / WARP && 2ull * copies * cells + margins <= d.area) copies *= 2;
    for (u32 i = threadIdx.x; i < copies * cells; i += COUNTING_THREADS) b.tables()[i] = 0;
    __syncthreads();
    // Warps take the y of `by_planes` in turn; if there are fewer y than warps, several warps share one.
    const u32 parts = few && few < COUNTING_THREADS / WARP ? (COUNTING_THREADS / WARP) / few : 1;
    u32 *own = b.tables(), nth = 0;
    for (u32 i = from; i < to && few; i++) {
        u32 size = rows * levels_of(d, b.other()[i]), warp = threadIdx.x / WARP;
        if (by_planes >> i & 1) {
            if (warp / parts == nth % ((COUNTING_THREADS / WARP) / parts) && warp < (COUNTING_THREADS / WARP) / parts * parts) {
                count_planes(d, b.set(), x, l, b.other()[i], size, warp % parts, parts, own);
            }
            nth++;
        }
        own += size;
    }
    own = b.tables() + threadIdx.x / WARP % copies * cells;
    for (u64 k = 16ull * threadIdx.x; k < d.n && few < to - from; k += 16 * COUNTING_THREADS) {
        u32 row[16], left_out = d.n - k < 16 ? NOWHERE << (d.n - k) : 0;
#pragma unroll
        for (int j = 0; j < 16; j++) row[j] = 0;
        for (u32 m = 0; m <= l; m++) {
            u32 v = m < l ? b.set()[m] : x, levels = levels_of(d, v);
            each_of_16(d, v, k, [&](int j, u32 code) {
                row[j] = row[j] * levels + code;
                left_out |= (u32)(code >= levels) << j;
            });
        }
        u32* table = own;
        for (u32 i = from; i < to; i++) {
            u32 ly = levels_of(d, b.other()[i]);
            if (by_planes >> i & 1) {
                table += rows * ly;
                continue;
            }
            each_of_16(d, b.other()[i], k, [&](int j, u32 code) {
                if (!(left_out >> j & 1) && code < ly) atomicAdd(table + row[j] * ly + code, 1u);
            });
            table += rows * ly;
        }
    }
    __syncthreads();
    if (copies > 1) {
        for (u32 i = threadIdx.x; i < cells; i += COUNTING_THREADS) {
            u32 total = b.tables()[i];
            for (u32 c = 1; c < copies; c++) total += b.tables()[c * cells + i];
            b.tables()[i] = total;
        }
        __syncthreads();
    }
    u32 *table = b.tables(), *room = b.tables() + cells;
    for (u32 i = from; i < to; i++) {
        u32 ly = levels_of(d, b.other()[i]), size = rows * ly;
        if (size <= OF_WARP && threadIdx.x / WARP == i % (COUNTING_THREADS / WARP)) {
            Sums sums{0.0, 0.0, 0, 0, 0, 0};
            reduce(d, Warp(), table, strata, lx, ly, room, sums);
            add_lanes(sums);
            if (lane_id() == 0) b.sums()[i] = sums;
        }
        table += size;
        room += strata * (lx + ly + 1);
    }
    __syncthreads();
    table = b.tables(), room = b.tables() + cells;
    for (u32 i = from; i < to; i++) {
        u32 ly = levels_of(d, b.other()[i]), size = rows * ly;
        if (size > OF_WARP) {
            Sums sums{0.0, 0.0, 0, 0, 0, 0};
            reduce(d, Whole(), table, strata, lx, ly, room, sums);
            add_block(b, sums, &b.sums()[i]);
        }
        table += size;
        room += strata * (lx + ly + 1);
    }
    __syncthreads();
}
