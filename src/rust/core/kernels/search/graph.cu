// The graph between levels: mirroring, degrees, neighbour lists, removal of a level's pairs.
#include "gpu/scan.cuh"
#include "search/args.cuh"
#include "search/subsets.cuh"

extern __shared__ u64 sums[];

// Consecutive rows that a thread takes at a time in scans and sums over all rows.
constexpr u32 ROWS_TOGETHER = 4;

// Copies the lower triangle of the bit rows to the upper triangle: a warp transposes one word of 32 rows.
extern "C" __global__ void mirror(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    // All words, including one that may pad a row to 64 bits: bits past the last vertex become 0.
    u64 blocks = a.words;
    for (u64 at : by_warp(blocks * blocks)) {
        u64 below = at / blocks, left = at % blocks;
        if (left > below) continue;
        u64 row = 32 * below + lane;
        u32 word = row < a.p ? a.graph[row * a.words + left] : 0;
        u32 image = 0;
        for (u32 b = 0; b < 32; b++) {
            u32 column = __ballot_sync(FULL, word >> b & 1);
            if (lane == b) image = column;
        }
        u64 to = 32 * left + lane;
        if (to < a.p) a.graph[to * a.words + below] = left == below ? word | image : image;
    }
}

// Copies p_max of the listed pairs to `answers`.
extern "C" __global__ void pick(const __grid_constant__ Args a) {
    for (u64 i : by_thread(a.count)) a.answers[i] = *packed(a, a.pairs[2 * i], a.pairs[2 * i + 1]);
}

// Copies the graph to `left`, and counts the bits before each word; a warp takes a row.
extern "C" __global__ void rank_words(const __grid_constant__ Args a) {
    const u64 words = a.words / 2;
    for (u64 x : by_warp(a.p)) {
        u32 before = 0;
        for (u64 base = 0; base < words; base += WARP) {
            const u64 w = base + lane_id(), at = x * words + w;
            const u64 word = w < words ? ((const u64*)a.graph)[at] : 0;
            const u32 own = (u32)__popcll(word), sum = sum_up_to_lane(own);
            if (w < words) {
                a.left[at] = word;
                a.left_before[at] = before + sum - own;
            }
            before += __shfl_sync(FULL, sum, WARP - 1);
        }
    }
}

// Returns the number of smaller neighbours of x in `left`.
__device__ __forceinline__ u64 smaller_left(const Args& a, u64 x) {
    const u64 at = x * (a.words / 2) + x / 64;
    return (u64)a.left_before[at] + __popcll(a.left[at] & ((1ull << x % 64) - 1));
}

// Numbers the rows' first pairs x < y. The words must be counted, and `degree` must be of the same graph.
extern "C" __global__ void rank_rows(const __grid_constant__ Args a) {
    auto below = [&](u64 x) { return smaller_left(a, x); };
    scan((u64)a.p, blockDim.x, sums, [&](u64 x) { return a.degree[x] - below(x); },
         [&](u64 x, u64 before) { a.left_first[x] = before - below(x); });
}

// Initialises p_max of the pairs of `left` from `answers`, which holds all pairs, packed. If `answers` is null, p_max becomes 0, or the
// mark if the pair is not tested. A thread takes a word.
extern "C" __global__ void rank_values(const __grid_constant__ Args a) {
    const u64 words = a.words / 2;
    for (u64 at : by_thread(a.p * words)) {
        const u64 x = at / words, first = at % words * 64;
        u64 word = a.left[at];
        if (first <= x) word = first + 63 <= x ? 0 : word & (~1ull << (x - first));
        if (!word) continue;
        double* cell = packed(a, (u32)x, (u32)(first + __ffsll(word) - 1));
        for (; word; word &= word - 1) {
            const u64 y = first + __ffsll(word) - 1;
            *cell++ = a.answers ? a.answers[y * (y - 1) / 2 + x] : is_tested(a, (u32)x, (u32)y) ? 0.0 : a.mark;
        }
    }
}

// Computes the degree of every row, the sum of degrees, and the row of largest degree with a pair to test (`Report::widest`).
extern "C" __global__ void degrees(const __grid_constant__ Args a) {
    if (!level_is_done(a.report)) return;
    u32 lane = lane_id();
    for (u64 x : by_warp(a.p)) {
        u32 count = 0;
        u64 tested = NEVER;
        for (u64 w = lane; w < a.words; w += WARP) {
            u32 word = a.graph[x * a.words + w];
            count += __popc(word);
            u32 asked = a.fixed ? word & ~a.fixed[x * a.words + w] : word;
            if (asked && tested == NEVER) tested = 32 * w + __ffs(asked) - 1;
        }
        count = warp_sum(count);
        tested = warp_join(tested, [](u64 s, u64 t) { return s < t ? s : t; });
        if (lane == 0) {
            a.degree[x] = count;
            atomicAdd(&a.report->ends, (u64)count);
            u64 last = (1ull << VERTEX_BITS) - 1;
            if (tested != NEVER) atomicMax(&a.report->widest, ((u64)count << VERTEX_BITS | (last - x)) << VERTEX_BITS | tested);
        }
    }
}

// Returns the vertices of word w below y that the empty set does not separate from y.
__device__ __forceinline__ u32 open_word(const Args& a, u64 y, u64 w) {
    if (32 * w >= y) return 0;
    return ~a.empty[y * a.words + w] & (y - 32 * w < 32 ? (1u << (y - 32 * w)) - 1 : FULL);
}

// Counts, for each of rows first_row to end_row - 1, the smaller vertices that the empty set does not separate from it; a warp takes a row.
// `degree` has the rows' counts, the first row's first.
extern "C" __global__ void count_open(const __grid_constant__ Args a) {
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        u32 count = 0;
        for (u64 w = lane_id(); w < a.words; w += WARP) count += __popc(open_word(a, a.first_row + i, w));
        count = warp_sum(count);
        if (lane_id() == 0) a.degree[i] = count;
    }
}

constexpr u32 OPEN_KEPT = 0x80000000;    // host: bit of a vertex that is a neighbour, in the lists of `list_open`

// Lists the vertices that `count_open` counts, in ascending order. The list of row first_row + i starts at offset[i].
extern "C" __global__ void list_open(const __grid_constant__ Args a) {
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        const u64 y = a.first_row + i;
        u64 at = a.offset[i];
        for (u64 first = 0; 32 * first < y; first += WARP) {
            const u64 w = first + lane_id();
            const u32 word = w < a.words ? open_word(a, y, w) : 0;
            const u32 own = (u32)__popc(word), sum = sum_up_to_lane(own);
            u32* to = a.list + at + sum - own;
            for (u32 rest = word; rest; rest &= rest - 1) {
                const u32 bit = __ffs(rest) - 1;
                *to++ = (u32)(32 * w + bit) | (a.graph[y * a.words + w] >> bit & 1 ? OPEN_KEPT : 0);
            }
            at += __shfl_sync(FULL, sum, WARP - 1);
        }
    }
}

// Computes where the rows' lists start. Sets the counts of records to 0 for level 1.
extern "C" __global__ void offsets(const __grid_constant__ Args a) {
    scan_rows<ROWS_TOGETHER>(a.p, a.offset, sums, [&](u64 x) {
        u64 degree = a.degree[x];
        a.record_count[x] = 0;
        return degree;
    });
}

// Computes where the rows' records start.
extern "C" __global__ void log_offsets(const __grid_constant__ Args a) {
    scan_rows<ROWS_TOGETHER>(a.p, a.first_record, sums, [&](u64 x) { return (u64)a.record_count[x]; });
}

// Numbers the items of work of rows first_row to end_row - 1. A row has an item for each chunk of its sets and each 32 of its neighbours.
// Chunks are short if there is little work, so that all warps have some. They are long if there is much, so that finding an item's first
// set costs little. Rows with many neighbours have items of their own, which blocks take: these are also split into slices of
// `wide_columns` last members.
extern "C" __global__ void items(const __grid_constant__ Args a) {
    auto degree_of = [&](u64 x) { return a.offset[x + 1] - a.offset[x]; };
    auto takes_part = [&](u64 x, u64 d, u64 from, bool wide) {
        return from + (d > from) > a.size && is_counted(a, from) && (from >= a.wide_degree) == wide && x >= a.first_row && x < a.end_row;
    };
    auto total_of = [&](bool wide) {
        u64 own = 0;
        for (u64 first = threadIdx.x * ROWS_TOGETHER; first < a.p; first += blockDim.x * ROWS_TOGETHER) {
            // Read together: in blocks of vertices (engine/cuda/gauss/blocks), most rows have no neighbours.
            u64 starts[ROWS_TOGETHER + 1];
#pragma unroll
            for (u32 k = 0; k <= ROWS_TOGETHER; k++) starts[k] = a.offset[first + k < a.p ? first + k : a.p];
#pragma unroll
            for (u32 k = 0; k < ROWS_TOGETHER; k++) {
                const u64 d = starts[k + 1] - starts[k];
                if (d == 0) continue;
                const u32 from = candidates_of(a, first + k, (u32)d);
                if (!takes_part(first + k, d, from, wide)) continue;
                Items row = items_of(a, d, from, 1);
                // Capped, so that the sum does not overflow.
                own += (row.sets < 1ull << 32 ? row.sets : 1ull << 32) * row.tiles;
            }
        }
        own = warp_sum(own);
        if (lane_id() == 0) sums[threadIdx.x / WARP] = own;
        __syncthreads();
        u64 total = 0;
        for (u32 w = 0; w < blockDim.x / WARP; w++) total += sums[w];
        __syncthreads();
        return total;
    };
    u64 least = total_of(false) / (4 * a.level_warps);
    least = least < 2 ? 2 : least > 64 ? 64 : least;
    scan_rows<ROWS_TOGETHER>(a.p, a.first_item, sums, [&](u64 x) {
        const u64 d = degree_of(x), from = candidates_of(a, x, (u32)d);
        return takes_part(x, d, from, false) ? items_of(a, d, from, least).count() : 0;
    });
    __syncthreads();
    // Most levels have no row with many neighbours.
    const bool has_wide = a.wide_degree != NEVER;
    u64 chunk = 0;
    if (has_wide) {
        for (u64 i = threadIdx.x; i < WIDE_REST * a.wide_blocks; i += blockDim.x) a.wide_rest[i] = 0;
        chunk = total_of(true) / a.level_warps;
        chunk = chunk < 1024 ? 1024 : chunk > 65536 ? 65536 : chunk;
        scan_rows<ROWS_TOGETHER>(a.p, a.first_wide, sums, [&](u64 x) {
            const u64 d = degree_of(x), from = candidates_of(a, x, (u32)d);
            return takes_part(x, d, from, true) ? wide_items_of(a, d, from, chunk).count() : 0;
        });
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        a.report->items = a.first_item[a.p];
        a.report->chunk = least;
        a.report->wide_items = has_wide ? a.first_wide[a.p] : 0;
        a.report->wide_chunk = chunk;
    }
}

// Writes the neighbour lists of rows first_row to end_row - 1; a warp takes a row.
extern "C" __global__ void fill(const __grid_constant__ Args a) {
    u32 lane = lane_id();
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        const u64 x = a.first_row + i;
        u64 at = a.offset[x];
        for (u64 base = 0; base < a.words; base += WARP) {
            u64 w = base + lane;
            u32 word = w < a.words ? a.graph[x * a.words + w] : 0;
            u32 own = __popc(word), sum = sum_up_to_lane(own);
            u64 to = at + sum - own;
            while (word) {
                a.list[to++] = (u32)w * 32 + __ffs(word) - 1;
                word &= word - 1;
            }
            at += __shfl_sync(FULL, sum, 31);
        }
    }
}

// Removes the pairs of the level's log from the graph.
extern "C" __global__ void removal(const __grid_constant__ Args a) {
    if (!level_is_done(a.report)) return;
    u64 step = 2 + a.size;
    for (u64 i : by_thread(a.report->logged)) {
        u32 x = a.log[i * step], y = a.log[i * step + 1];
        remove_neighbour(a, a.graph, x, y);
        remove_neighbour(a, a.graph, y, x);
    }
}
