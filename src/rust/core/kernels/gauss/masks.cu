// Level 1 of rows with many neighbours. It goes through all variables in order, with the neighbours as a mask, so that nothing is gathered.
// Half precision comes first (halves.cuh), then single precision (single.cuh).
//
// `mask_tiles` decides first sides, x < y, by neighbours of x, and finds where |r| may be smallest among the neighbours of either. A block
// keeps the correlations of MASK_COLUMNS variables y with MASK_DEPTH variables z in shared memory. A warp keeps those of a row x with the
// same z in registers, and runs through the row's undecided pairs. `mask_rest` takes the pairs that no neighbour of x separates. It finds
// the smallest |r| in double precision, and walks over all z if more must be known.
#include "gauss/halves.cuh"

constexpr u32 MASK_COLUMNS = 32;     // host: columns of a block of mask_tiles
constexpr u32 MASK_DEPTH = EIGHT * WARP;
constexpr u32 MASK_THREADS = 256;    // host: threads of a block of mask_tiles
constexpr u32 MASK_GROUP = 8;        // host: blocks of rows that run side by side, as they read the same columns

// Number of remaining pairs up to which a tile is left to `mask_rest`: reading its correlations would take longer than testing them.
constexpr u32 MASK_FEW = 64;

// Bit of a PENDING verdict between the two kernels: more must be known of the pair. The other bits say up to which z its first side is
// done. Without WHOLE, they say which MASK_DEPTH variables hold the one with the smallest |r|.
constexpr u32 WHOLE = 0x20000000u;

// Inverts covering_twice(), rounding down.
__device__ __forceinline__ float covered_twice(float threshold) {
    double r = fmax(0.0, sqrt((double)threshold) - 2.01 * BAND);
    return __double2float_rd(r * r);
}

// Returns the number of members of a bit row up to z.
__device__ __forceinline__ u32 members_up_to(const u32* row, u32 z) {
    u32 count = 0;
    for (u32 w = lane_id(); w <= z >> 5; w += WARP) {
        u32 word = row[w];
        count += __popc(w < z >> 5 ? word : word & (FULL >> (31 - (z & 31))));
    }
    return warp_sum(count);
}

// A tile of pairs in shared memory.
constexpr u32 TILE_BYTES = 4 * MASK_COLUMNS * MASK_DEPTH + 14 * MASK_COLUMNS * MASK_ROWS + 4 * (4 * MASK_ROWS + 4);    // host: bytes of a block's tile
struct Tile {
    uint4 s[MASK_COLUMNS][WARP];              // by column and lane: the numbers of `Eight`
    uint4 k[MASK_COLUMNS][WARP];
    u32 screen[MASK_ROWS][MASK_COLUMNS];      // by pair: screen_of() `low`
    float low[MASK_ROWS][MASK_COLUMNS];       // by pair: a value above it is not the smallest r², nor does it separate
    float second[MASK_ROWS][MASK_COLUMNS];    // the smallest r² among z other than those of `depth`; infinity: none
    u16 depth[MASK_ROWS][MASK_COLUMNS];       // by pair: which MASK_DEPTH variables have the smallest r²; NO_DEPTH: not known yet
    u32 whole[MASK_ROWS];     // by row: the pairs of which more must be known, a bit a column.
    u32 open[MASK_ROWS];      // by row: the undecided pairs, a bit a column.
    u32 before[MASK_ROWS];    // by row: its neighbours before the current z.
    u32 place[MASK_ROWS];     // by row: place of the tile's first column in its list.
    u32 columns;              // columns that have an undecided pair.
    u32 left;                 // number of undecided pairs
    u32 next;                 // next row for a warp to take
    u32 go_on;                // whether a side with more than one candidate was visited
};
static_assert(sizeof(Tile) == TILE_BYTES && TILE_BYTES % 8 == 0);

constexpr u16 NO_DEPTH = 0xffff;

// Writes a first bound on the smallest r² of each pair x < y in place of its verdict, in the form of `Tile::low`. It is the r² given a few
// neighbours of x that correlate most with x. These give the smallest r² more often than others do, so fewer z are looked at in vain. A
// warp takes a row, out of first_row to end_row - 1. Each lane notes its strongest neighbour, and the strongest of these are used.
extern "C" __global__ void mask_begin(const __grid_constant__ Args a) {
    constexpr u32 STRONG = 8;
    const u32 lane = lane_id();
    const float limit = covering(a.above);
    for (u64 i : by_warp(a.end_row - a.first_row)) {
        const u32 x = (u32)(a.first_row + i);
        if (!takes_masks(a, x / MASK_ROWS)) continue;
        const u64 end = a.offset[x + 1];
        const Range larger = larger_of(a, x);
        float best = -1.0f;
        u32 of = x, strong[STRONG];
        for (u64 e = a.offset[x] + lane; e < end; e += WARP) {
            float r = fabsf(coarse(correlation(a, a.list[e], x)));
            if (r > best) {
                best = r;
                of = a.list[e];
            }
        }
#pragma unroll
        for (u32 k = 0; k < STRONG; k++) {
            float most = warp_join(best, [](float s, float t) { return fmaxf(s, t); });
            u32 owner = __ffs(__ballot_sync(FULL, best == most)) - 1;
            strong[k] = __shfl_sync(FULL, best < 0.0f ? x : of, owner);
            if (lane == owner) best = -1.0f;
        }
        for (u64 e = larger.from + lane; e < larger.to; e += WARP) {
            const u32 y = a.list[e];
            const float xy = (float)correlation(a, x, y);
            float q = 1e30f;
#pragma unroll
            for (u32 k = 0; k < STRONG; k++) {
                const u32 z = strong[k];
                float u = coarse(correlation(a, z, x)), w = coarse(correlation(a, z, y)), covariance = fmaf(-u, w, xy);
                float ratio = covariance * covariance / (fmaf(-u, u, 1.0f) * fmaf(-w, w, 1.0f));
                if (z != x && z != y) q = fminf(q, ratio);
            }
            // Slightly larger, so that the neighbour with the smallest r² is found to be below it.
            ((float*)a.verdict)[e] = q < 1e30f ? 1.0001f * fmaxf(limit, covering_twice(q)) : 1e30f;
        }
    }
}

// Tests a pair of a tile which, by single precision, a z in these 32-bit words may separate. Returns the first z that does, or KEPT, and
// adds to the counts of `f`.
__device__ __forceinline__ u32 look(const Args& a, u32 x, u32 y, u32 first, u32 words, u32 before, Found& f) {
    u32 lane = lane_id();
    const u32* row = a.graph + x * a.words;
    double xy = correlation(a, x, y);
    while (words) {
        u32 w = (first >> 5) + __ffs(words) - 1;
        words &= words - 1;
        u32 z = 32 * w + lane, word = row[w];
        bool asked = word >> lane & 1 && z != y, suspect = false, separates = false;
        if (asked) separates = test_single<true>(a, x, y, z, xy, correlation(a, z, x), correlation(a, z, y), f, suspect);
        u32 hits = __ballot_sync(FULL, separates), suspects = __ballot_sync(FULL, suspect);
        u32 up_to = hits ? FULL >> (32 - __ffs(hits)) : FULL;
        f.exact_tests += __popc(suspects & up_to);
        if (!hits) continue;
        u32 found = 32 * w + __ffs(hits) - 1;
        u32 count = before + __popc(word & up_to);
        for (u32 v = first >> 5; v < w; v++) count += __popc(row[v]);
        f.tests = count - (y < found);
        return found;
    }
    return KEPT;
}

// Decides the pairs of a tile. A block's shared memory holds three numbers a warp, then the tile. The grid is (MASK_GROUP * column tiles,
// groups of row blocks), from row block first_row / MASK_ROWS on.
extern "C" __global__ void __launch_bounds__(MASK_THREADS, 3) mask_tiles(const __grid_constant__ Args a) {
    extern __shared__ u64 sums[];
    // The tile lies behind three numbers a warp, which take a multiple of 16 bytes.
    Tile& t = *(Tile*)(sums + 3 * MASK_THREADS / WARP);
    u32 lane = lane_id(), warp = threadIdx.x / WARP;
    constexpr u32 WARPS = MASK_THREADS / WARP;
    u32 p = (u32)a.p;
    u64 block = a.first_row / MASK_ROWS + (u64)blockIdx.y * MASK_GROUP + blockIdx.x % MASK_GROUP;
    u32 x0 = (u32)block * MASK_ROWS, y0 = blockIdx.x / MASK_GROUP * MASK_COLUMNS;
    if (block * MASK_ROWS >= a.end_row || y0 >= p || y0 + MASK_COLUMNS <= x0 + 1 || !takes_masks(a, block)) return;
    const float limit = covering(a.above);
    u32 tests = 0, exact_tests = 0;    // of this warp, for at most a tile's pairs
    if (threadIdx.x == 0) {
        t.go_on = 0;
    }
    __syncthreads();
    for (u32 i = warp; i < MASK_ROWS; i += WARPS) {
        u32 x = x0 + i, y = y0 + lane, open = 0, place = 0;
        if (x < p) {
            u64 offset = a.offset[x];
            u32 d = (u32)(a.offset[x + 1] - offset);
            place = vertices_before(a.list + offset, d, y0);
            bool pair = y > x && y < p && has(a.graph, a.words, x, y), tested = pair && is_tested(a, x, y);
            u32 word = a.graph[x * a.words + (y0 >> 5)];
            u32* verdict = a.verdict + offset + place + lanes_before(word);
            t.low[i][lane] = tested ? *(const float*)verdict : 1e30f;
            if (pair && !tested) *verdict = UNTESTED;
            open = __ballot_sync(FULL, tested);
            if (open && d > 2) t.go_on = 1;
            t.screen[i][lane] = tested ? screen_of((float)correlation(a, x, y), t.low[i][lane]) : 0;
            t.second[i][lane] = 1e30f;
            t.depth[i][lane] = NO_DEPTH;
        }
        if (lane == 0) {
            t.open[i] = open;
            t.whole[i] = 0;
            t.before[i] = 0;
            t.place[i] = place;
        }
    }
    u32 done = 0;
    for (u32 z0 = 0; z0 < p; z0 += MASK_DEPTH) {
        __syncthreads();
        if (warp == 0) {
            u32 columns = 0, left = 0;
            for (u32 i = lane; i < MASK_ROWS; i += WARP) {
                columns |= t.open[i];
                left += __popc(t.open[i]);
            }
            columns = warp_join(columns, [](u32 s, u32 t) { return s | t; });
            left = warp_sum(left);
            if (lane == 0) {
                t.columns = columns;
                t.left = left;
                t.next = 0;
            }
        }
        __syncthreads();
        if (t.left <= (z0 ? MASK_FEW : 0)) break;
        for (u32 j = warp; j < MASK_COLUMNS; j += WARPS) {
            if (!(t.columns >> j & 1)) continue;
            const Eight of_y = eight_of(a, y0 + j, z0);
            t.s[j][lane] = of_y.s;
            t.k[j][lane] = of_y.k;
        }
        __syncthreads();
        // Rows have different numbers of pairs: a warp takes the next row that no other warp has.
        while (true) {
            u32 i = lane == 0 ? atomicAdd(&t.next, 1u) : 0;
            i = __shfl_sync(FULL, i, 0);
            if (i >= MASK_ROWS) break;
            u32 open = t.open[i], x = x0 + i, before = t.before[i];
            if (!open) continue;
            const u32 w = (z0 >> 5) + lane, count = warp_sum(lane < EIGHT && w < a.words ? __popc(a.graph[x * a.words + w]) : 0);
            const Eight of_x = eight_of(a, x, z0);
            __syncwarp();
            if (lane == 0) t.before[i] = before + count;
            for (u32 rest = open, j; rest; rest ^= 1u << j) {
                j = 31 - __clz(rest);
                const Left left = left_of(t.screen[i][j], of_x, {t.s[j][lane], t.k[j][lane]});
                if (!__any_sync(FULL, left.any_low())) continue;

                // Of these z, neighbours alone: which of them may separate, and which has the smallest r².
                const u32 y = y0 + j;
                const float xy = (float)correlation(a, x, y), low = t.low[i][j];
                float q = 1e30f;
                u32 words = 0;
                bool unknown = false;
                for (u32 lows = left.lows(); lows; lows &= lows - 1) {
                    const u32 word = (z0 >> 5) + __ffs(lows) - 1, z = WARP * word + lane;
                    if (z >= p || z == x || z == y) continue;
                    const bool is_first = a.graph[x * a.words + word] >> lane & 1;
                    if (!is_first && !(a.graph[y * a.words + word] >> lane & 1)) continue;
                    const float u = coarse(correlation(a, z, x)), v = coarse(correlation(a, z, y)), covariance = fmaf(-u, v, xy);
                    const float square = covariance * covariance, product = fmaf(-u, u, 1.0f) * fmaf(-v, v, 1.0f);
                    const float ratio = square / product;
                    const bool may = !(square > limit * product);
                    q = fminf(q, ratio);
                    unknown |= isnan(ratio) || (may && !is_first);
                    if (may && is_first) words |= lows & -lows;
                }
                __syncwarp();
                if (__any_sync(FULL, words)) {
                    words = warp_join(words, [](u32 s, u32 t) { return s | t; });
                    Found f{1.0, 0.0, FULL, 2.0, 0, 0};
                    u32 found = look(a, x, y, z0, words, before, f);
                    exact_tests += f.exact_tests;
                    unknown |= f.exact_tests > 0;
                    if (found != KEPT) {
                        tests += f.tests;
                        open &= ~(1u << j);
                        if (lane == 0) {
                            u32 place = t.place[i] + __popc(a.graph[x * a.words + (y0 >> 5)] & ((1u << j) - 1));
                            a.verdict[a.offset[x] + place] = found;
                            *packed(a, x, y) = separating(a, x, y, found);
                            t.open[i] = open;
                        }
                        continue;
                    }
                }
                bool is_whole = __any_sync(FULL, unknown);
                q = warp_join(q, [](float s, float t) { return fminf(s, t); });
                if (lane == 0) {
                    float covering_q = fmaxf(limit, covering_twice(q));
                    if (covering_q < low) {
                        if (t.depth[i][j] != NO_DEPTH) t.second[i][j] = fminf(t.second[i][j], covered_twice(low));
                        t.low[i][j] = covering_q;
                        t.screen[i][j] = screen_of(xy, covering_q);
                        t.depth[i][j] = (u16)(z0 / MASK_DEPTH);
                    } else {
                        t.second[i][j] = fminf(t.second[i][j], q);
                    }
                    if (is_whole) t.whole[i] |= 1u << j;
                }
            }
            __syncwarp();
        }
        done = z0 + MASK_DEPTH;
    }
    __syncthreads();
    for (u32 i = warp; i < MASK_ROWS; i += WARPS) {
        if (!(t.open[i] >> lane & 1)) continue;
        u32 x = x0 + i, word = a.graph[x * a.words + (y0 >> 5)];
        // Nothing was tested, or not everything, or the smallest r² may lie elsewhere.
        bool whole = t.whole[i] >> lane & 1 || done < p || t.depth[i][lane] == NO_DEPTH || t.second[i][lane] <= t.low[i][lane];
        u32 says = whole ? WHOLE | (done < p ? done : p) : t.depth[i][lane];
        a.verdict[a.offset[x] + t.place[i] + lanes_before(word)] = PENDING | says;
    }
    report_singles(a, sums, tests, exact_tests, t.go_on != 0);
}

// The results for a pair after a walk over all z.
struct Walked {
    u32 first;           // first z that separates on the first side; KEPT: none
    bool second;         // whether some z may separate on the second side
    Found of_x, of_y;    // of the tests that do not separate
    u32 tests, exact_tests;
};

// Tests x and y given their neighbours. The first side is done up to `from`, so the walk begins there and wraps around. Before `from`, the
// first side is tested only for the smallest |r|.
__device__ __forceinline__ void walk(const Args& a, u32 x, u32 y, u32 from, float limit, Walked& walked) {
    constexpr u32 AT_ONCE = 4;
    u32 lane = lane_id(), p = (u32)a.p;
    const u32 *of_x = a.graph + x * a.words, *of_y = a.graph + y * a.words;
    double xy = correlation(a, x, y);
    float xy_low = (float)xy, low = 1e30f;
    u32 steps = (u32)div_ceil(p, AT_ONCE * WARP), first = from / (AT_ONCE * WARP);
    for (u32 step = 0; step < steps; step++) {
        u32 base = (step + first < steps ? step + first : step + first - steps) * AT_ONCE * WARP;
        bool asked[AT_ONCE], is_first[AT_ONCE], any = false;
        double u[AT_ONCE], w[AT_ONCE];
        for (u32 k = 0; k < AT_ONCE; k++) {
            u32 z = base + k * WARP + lane;
            bool here = z < p && z != x && z != y;
            is_first[k] = here && of_x[z >> 5] >> (z & 31) & 1;
            asked[k] = is_first[k] || (here && of_y[z >> 5] >> (z & 31) & 1);
            u[k] = z < p ? correlation(a, z, x) : 0.0;
            w[k] = z < p ? correlation(a, z, y) : 0.0;
        }
        for (u32 k = 0; k < AT_ONCE; k++) {
            float r = coarse(u[k]);
            any |= asked[k] && is_low(xy_low, r, low * fmaf(-r, r, 1.0f), coarse(w[k]));
        }
        if (!__any_sync(FULL, any)) continue;
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++) {
            u32 z = base + k * WARP + lane;
            bool suspect = false, separates = false, fresh = z >= from;
            if (asked[k] && is_first[k]) {
                separates = test_single<false>(a, x, y, z, xy, u[k], w[k], walked.of_x, suspect);
            } else if (asked[k]) {
                separates = test_single<false>(a, x, y, z, xy, u[k], w[k], walked.of_y, suspect);
            }
            walked.second |= separates && !is_first[k];
            u32 hits = __ballot_sync(FULL, separates && is_first[k]);
            u32 up_to = hits ? FULL >> (32 - __ffs(hits)) : FULL;
            walked.exact_tests += __popc(__ballot_sync(FULL, suspect && is_first[k] && fresh) & up_to);
            if (hits) {
                walked.first = base + k * WARP + __ffs(hits) - 1;
                return;
            }
            walked.of_y.exact_tests += __popc(__ballot_sync(FULL, suspect && !is_first[k]));
        }
        auto ratio = [](const Found& f) { return f.den > 0.0 ? f.num / f.den : 4.0; };
        double q = fmin(ratio(walked.of_x), ratio(walked.of_y));
        q = warp_join(q, [](double s, double t) { return fmin(s, t); });
        low = fmaxf(limit, fminf(low, covering(q)));
    }
}

// Returns the smallest |r| given the neighbours among the MASK_DEPTH variables from `first` on, none of which separates.
__device__ __forceinline__ double smallest_among(const Args& a, u32 x, u32 y, u32 first) {
    constexpr u32 EACH = MASK_DEPTH / WARP;
    const u32 *of_x = a.graph + x * a.words, *of_y = a.graph + y * a.words;
    double xy = correlation(a, x, y);
    float xy_low = (float)xy, ratio[EACH], q = 1e30f;
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 w = (first >> 5) + k, z = 32 * w + lane_id();
        bool asked = z < a.p && z != x && z != y && (of_x[w] | of_y[w]) >> (z & 31) & 1;
        ratio[k] = 1e30f;
        if (asked) {
            float u = coarse(correlation(a, z, x)), v = coarse(correlation(a, z, y)), covariance = fmaf(-u, v, xy_low);
            ratio[k] = covariance * covariance / (fmaf(-u, u, 1.0f) * fmaf(-v, v, 1.0f));
        }
        q = fminf(q, ratio[k]);
    }
    q = warp_join(q, [](float s, float t) { return fminf(s, t); });
    float low = covering_twice(q);
    Found f{1.0, 0.0, FULL, 2.0, 0, 0};
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u32 z = first + 32 * k + lane_id();
        bool suspect;
        if (ratio[k] <= low && ratio[k] < 1e30f) {
            test_single<true>(a, x, y, z, xy, correlation(a, z, x), correlation(a, z, y), f, suspect);
        }
    }
    return smallest(a, x, y, f);
}

// Decides the pairs that `mask_tiles` left pending in rows first_row to end_row - 1; `gridDim.y` blocks share a row.
extern "C" __global__ void __launch_bounds__(DECIDING_THREADS, 5) mask_rest(const __grid_constant__ Args a) {
    extern __shared__ u64 sums[];
    u32 lane = lane_id(), warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    u64 tests = 0, exact_tests = 0;
    bool go_on = false;
    const float limit = covering(a.above);
    for (u64 row = a.first_row + blockIdx.x; row < a.end_row; row += gridDim.x) {
        if (!takes_masks(a, row / MASK_ROWS)) continue;
        u32 x = (u32)row;
        u64 offset = a.offset[x];
        u32 d = (u32)(a.offset[x + 1] - offset);
        const Range larger = larger_of(a, x);
        for (u64 e = larger.from + blockIdx.y * warps + warp; e < larger.to; e += gridDim.y * warps) {
            u32 place = (u32)(e - offset), y = a.list[e];
            u32 verdict = a.verdict[offset + place];
            if (verdict >= UNTESTED || !(verdict & PENDING)) continue;
            Found none{1.0, 0.0, FULL, 2.0, 0, 0};
            Walked walked{KEPT, false, none, none, 0, 0};
            double known = 3.0;
            if (verdict & WHOLE) walk(a, x, y, verdict & ~(PENDING | WHOLE), limit, walked);
            else known = smallest_among(a, x, y, (verdict & ~PENDING) * MASK_DEPTH);
            exact_tests += walked.exact_tests;
            u32 found = walked.first;
            double r = 3.0;
            if (found != KEPT) {
                tests += members_up_to(a.graph + x * a.words, found) - (y < found);
                r = separating(a, x, y, found);
            } else {
                tests += d - 1;
                bool whole = verdict & WHOLE;
                r = whole ? smallest(a, x, y, walked.of_x) : known;
                Side side = side_of(a, y, x);
                go_on |= side.d > 2;
                if (__any_sync(FULL, walked.second)) {
                    // Rare: the list gives the first candidate that separates, and the counts up to it.
                    Found f = none;
                    found = run(a, side, a.graph + x * a.words, f);
                    tests += f.tests;
                    exact_tests += f.exact_tests;
                    r = separating(a, y, x, found);
                    found |= SECOND;
                } else {
                    tests += side.d - 1 - (a.fast ? common_neighbours(a, x, y) : 0);
                    exact_tests += walked.of_y.exact_tests;
                    if (whole) r = fmin(r, smallest(a, y, x, walked.of_y));
                }
            }
            if (lane == 0) {
                if (r <= 1.5) *packed(a, x, y) = r;
                else if (found == KEPT) found = UNTESTED;
                a.verdict[offset + place] = found;
            }
        }
    }
    report_singles(a, sums, tests, exact_tests, go_on);
}
