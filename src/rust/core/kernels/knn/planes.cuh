// The nearest-neighbour test on whole numbers: points are counted by the bits of planes.
//
// Samples are in the order of one column, the guide: a column of S or, if S is empty, y. A plane is another column as rows of bits. Row t,
// for t from 0 to n, has a bit for each place, which is set if the value is below t. So the points within a distance in all columns are a
// window of places, intersected with the difference (xor) of two rows of each plane. The distance to the k-th neighbour is found by
// counting them: a count reads a word for each 32 places of the window and plane, whatever k is. Planes of columns that are not permuted
// are made once for a block of tests. That of a permuted x is made in shared memory, or in device memory if it is too large.
#pragma once
#include "knn/test.cuh"
#include "knn/pairs.cuh"

// Returns the words of a plane's row that hold places, in groups of four.
__host__ __device__ constexpr u64 plane_words(u64 n) { return div_ceil(n, 128) * 4; }

// Returns the words from row to row of a plane: an odd number of groups of four, so that rows begin in different banks of shared memory.
__host__ __device__ constexpr u64 plane_stride(u64 n) { return 4 * (plane_words(n) / 4 / 2 * 2 + 1); }

// Returns the bytes of a plane in shared memory. A team that counts there also has x by place, and guesses. x has a spare word after each
// 32, so that a warp that reads every 32nd place meets no bank twice.
__host__ __device__ constexpr u64 team_plane_bytes(u64 n) { return 4 * plane_stride(n) * (n + 1); }

__host__ __device__ constexpr u64 team_values_bytes(u64 n) { return div_ceil(plane_words(n) * 68, 16) * 16; }
__host__ __device__ constexpr u64 team_bytes(u64 n) {
    return team_plane_bytes(n) + team_values_bytes(n) + div_ceil(2 * n, 16) * 16;
}

// Returns the most threads of a block that counts in shared memory, by the number of planes of a test.
__host__ __device__ constexpr u64 most_team_threads(u64 dims) { return dims <= 1 ? 1024 : 512; }

struct Bounds { u32 low, high; };

// Returns the values low, .., high - 1 within a distance of a value: two rows of a plane. `cap` is the distance of two levels, 0 for a
// continuous column.
__device__ inline Bounds within(u32 value, u32 distance, u32 cap, u32 n) {
    if (cap) return distance >= cap ? Bounds{0, n} : Bounds{value, value + 1};
    return Bounds{value > distance ? value - distance : 0, min(value + distance + 1, n)};
}

__device__ inline u32 cap_of(const KnnArgs &args, u32 column) {
    return ((const float *)args.caps)[column] < largest_finite<float>() ? (u32)args.mismatch : 0;
}

// Returns the places of the values between two bounds, in the order of their column.
__device__ inline Bounds places_of(const KnnArgs &args, u32 column, Bounds bounds) {
    if (args.plain) return bounds;
    const u16 *below = (const u16 *)args.below + (u64)column * (args.n + 1);
    return Bounds{below[bounds.low], below[bounds.high]};
}

// Writes word `task % words` of the rows in range `task / words` of a plane; tasks are 0, .., words * ranges - 1. Calls `value(place)` for
// places below n.
template <class Value>
__device__ inline void make_rows(u32 *rows, u32 stride, u32 n, u32 words, u32 ranges, u32 task, Value value) {
    u32 word = task % words, each = (n + ranges) / ranges;
    u32 start = task / words * each, end = min(start + each, n + 1);
    if (start >= end) return;
    for (u32 t = start; t < end; t++) rows[(u64)t * stride + word] = 0;
    u32 row = 0;
    for (u32 bit = 0; bit < 32; bit++) {
        u32 place = 32 * word + bit;
        if (place >= n) break;
        u32 v = value(place);
        if (v < start) row |= 1u << bit;
        else if (v + 1 < end) rows[(u64)(v + 1) * stride + word] |= 1u << bit;
    }
    for (u32 t = start; t < end; t++) {
        row |= rows[(u64)t * stride + word];
        rows[(u64)t * stride + word] = row;
    }
}

// Makes planes of columns, with samples in the order of their guides. blockIdx.y is the plane, from `first_task` on; threads take tasks.
__device__ inline void make_planes(const KnnArgs &args, u32 ranges) {
    u32 n = (u32)args.n, words = (u32)plane_words(args.n);
    u32 plane = (u32)args.first_task + blockIdx.y, task = blockIdx.x * blockDim.x + threadIdx.x;
    if (task >= words * ranges) return;
    const u16 *values = (const u16 *)args.whole + (u64)((const u32 *)args.plane_column)[plane] * n;
    const u16 *order = (const u16 *)args.sorted + (u64)((const u32 *)args.plane_guide)[plane] * n;
    u32 *rows = (u32 *)((char *)args.planes + plane * args.plane_bytes);
    make_rows(rows, (u32)args.plane_stride, n, words, ranges, task, [&](u32 place) { return (u32)values[order[place]]; });
}

// Makes planes of permuted x, from permutation `first_task` on, in device memory.
__device__ inline void make_slots(const KnnArgs &args, u32 ranges) {
    u32 n = (u32)args.n, words = (u32)plane_words(args.n), task = blockIdx.x * blockDim.x + threadIdx.x;
    if (task >= words * ranges) return;
    const u16 *values = (const u16 *)args.permuted + (args.first_task + blockIdx.y) * args.permuted_stride;
    u32 *rows = (u32 *)((char *)args.slots + blockIdx.y * args.plane_bytes);
    make_rows(rows, (u32)args.plane_stride, n, words, ranges, task, [&](u32 place) { return (u32)values[place]; });
}

// Returns a word with ones from bit `start` on.
__device__ inline u32 ones_from(int start) { return start <= 0 ? ~0u : start >= 32 ? 0 : ~0u << start; }

__device__ inline u32 ones_between(u32 word, Bounds places) {
    int at = 32 * (int)word;
    return ones_from((int)places.low - at) & ~ones_from((int)places.high - at);
}

struct Rows { const uint4 *low, *high; };

__device__ inline uint4 lay_over(uint4 bits, Rows rows, u32 group) {
    uint4 low = rows.low[group], high = rows.high[group];
    return uint4{bits.x & (low.x ^ high.x), bits.y & (low.y ^ high.y), bits.z & (low.z ^ high.z), bits.w & (low.w ^ high.w)};
}

__device__ inline u32 ones_in(uint4 bits) { return __popc(bits.x) + __popc(bits.y) + __popc(bits.z) + __popc(bits.w); }

// A sample of a test and permutation. DIMS is the number of the test's planes, or -1 if it is not known at compile time. The first plane is
// of y, the others are of S without the guide. If S is empty, the guide is y, and there are no planes.
template <int DIMS> struct Point {
    static constexpr int KEPT = DIMS > 0 ? DIMS : 1;
    const KnnArgs &args;
    u32 guide, guide_value, guide_cap;
    u32 x_column, x_value, x_cap;
    const u32 *x_plane;
    u32 sample;
    const u32 *numbers;
    u32 value[KEPT], cap[KEPT];

    __device__ inline Point(const KnnArgs &args, u32 test, u32 place, u32 x_value, const u32 *x_plane)
        : args(args), x_value(x_value), x_plane(x_plane) {
        guide = ((const u32 *)args.test_guide)[test];
        sample = ((const u16 *)args.sorted)[(u64)guide * args.n + place];
        guide_value = ((const u16 *)args.whole)[(u64)guide * args.n + sample];
        guide_cap = cap_of(args, guide);
        x_column = ((const u32 *)args.test_x)[test];
        x_cap = cap_of(args, x_column);
        numbers = (const u32 *)args.plane_list + ((const u32 *)args.test_planes)[test];
        #pragma unroll
        for (int d = 0; d < DIMS; d++) {
            u32 column = ((const u32 *)args.plane_column)[numbers[d]];
            value[d] = ((const u16 *)args.whole)[(u64)column * args.n + sample];
            cap[d] = cap_of(args, column);
        }
    }

    __device__ inline Rows rows(const u32 *plane, u32 value, u32 distance, u32 cap) const {
        Bounds bounds = within(value, distance, cap, (u32)args.n);
        return Rows{(const uint4 *)(plane + (u64)bounds.low * args.plane_stride),
                    (const uint4 *)(plane + (u64)bounds.high * args.plane_stride)};
    }

    __device__ inline Rows rows_of(u32 d, u32 distance) const {
        const u32 *plane = (const u32 *)((const char *)args.planes + numbers[d] * args.plane_bytes);
        if (DIMS >= 0) return rows(plane, value[DIMS > 0 ? d : 0], distance, cap[DIMS > 0 ? d : 0]);
        u32 column = ((const u32 *)args.plane_column)[numbers[d]];
        return rows(plane, ((const u16 *)args.whole)[(u64)column * args.n + sample], distance, cap_of(args, column));
    }

    __device__ inline Bounds window(u32 distance) const {
        return places_of(args, guide, within(guide_value, distance, guide_cap, (u32)args.n));
    }

    // Visits the window within a distance, in groups of 128 places: calls each(bits in S, rows of y, rows of x, group).
    template <class Each> __device__ inline void go_over(u32 distance, Each each) const {
        Bounds places = window(distance);
        Rows x = rows(x_plane, x_value, distance, x_cap);
        Rows others[KEPT];
        #pragma unroll
        for (int d = 0; d < DIMS; d++) others[d] = rows_of(d, distance);
        Rows y = DIMS > 0 ? others[0] : DIMS < 0 ? rows_of(0, distance) : x;
        u32 last = (places.high - 1) / 128;
        for (u32 group = places.low / 128; group <= last; group++) {
            uint4 bits = {~0u, ~0u, ~0u, ~0u};
            if (128 * group < places.low || 128 * group + 128 > places.high) {
                u32 word = 4 * group;
                bits = uint4{ones_between(word, places), ones_between(word + 1, places), ones_between(word + 2, places),
                             ones_between(word + 3, places)};
            }
            #pragma unroll
            for (int d = 1; d < DIMS; d++) bits = lay_over(bits, others[d], group);
            if (DIMS < 0) {
                for (u32 d = 1; d < (u32)args.dims; d++) bits = lay_over(bits, rows_of(d, distance), group);
            }
            each(bits, y, x, group);
        }
    }

    // Returns the number of points within a distance in (x, y, S).
    __device__ inline u32 count(u32 distance) const {
        u32 found = 0;
        go_over(distance, [&](uint4 bits, Rows y, Rows x, u32 group) {
            if (DIMS) bits = lay_over(bits, y, group);
            found += ones_in(lay_over(bits, x, group));
        });
        return found;
    }

    // Returns the distance to the `which`-th point, the sample itself being the first. The search starts at a guess. `within` becomes the
    // number of points within that distance.
    __device__ inline u32 select(u32 which, u32 guess, u32 &within) const {
        u32 n = (u32)args.n;
        // Distances below `above` hold too few points: `under` at the last. `high` holds enough, `up_to`, as n does.
        u32 above = 0, high = n, under = 0, up_to = n, distance = min(guess, n - 1);
        for (u32 step = 0; above < high; step++) {
            u32 found = count(distance);
            if (found >= which) {
                high = distance;
                up_to = found;
            } else {
                above = distance + 1;
                under = found;
            }
            if (high == n) {
                // No distance was enough so far. If a second step is needed, the points are not spread evenly: at least double.
                float factor = fminf(sqrtf((float)which / (float)max(found, 1u)), 4.0f);
                float grown = (float)(distance + 1) * (step ? fmaxf(factor, 2.0f) : factor);
                distance = max(above, min((u32)grown, n - 1));
            } else if (step % 3 == 2) {
                distance = above + (high - above) / 2;
            } else {
                float share = ((float)which - 0.5f - (float)under) / (float)(up_to - under);
                distance = min(above + (u32)((float)(high - above) * share), high - 1);
                distance = max(distance, above);
            }
        }
        within = up_to;
        return high;
    }

    // Returns the sample's term of the estimate, from the distance to its k-th neighbour and the number of points within it.
    __device__ inline i64 term(u32 rho, u32 joint) const {
        u32 radius = (u32)radius_of<float>((u32)args.estimator, (float)rho);
        u32 near_x = 0, near_y = 0, near_s = 0;
        if (DIMS == 0) {
            Bounds of_x = places_of(args, x_column, within(x_value, radius, x_cap, (u32)args.n));
            Bounds of_y = window(radius);
            near_x = of_x.high - of_x.low;
            near_y = of_y.high - of_y.low;
        } else {
            go_over(radius, [&](uint4 bits, Rows y, Rows x, u32 group) {
                near_s += ones_in(bits);
                near_y += ones_in(lay_over(bits, y, group));
                near_x += ones_in(lay_over(bits, x, group));
            });
        }
        return term_of(args, rho > 0, joint, near_x, near_y, near_s, DIMS == 0);
    }
};

// Returns a first guess at the distance to the k-th neighbour: what it would be if the points were spread evenly.
__device__ inline u32 usual_distance(const KnnArgs &args, u32 dims) {
    float n = (float)args.n, share = (float)(args.k + 1) / n;
    return (u32)(n / 2 * powf(share, 1.0f / (float)(dims == 0 ? 2 : dims + 2)));
}

// Sums the terms of permutations, with x's planes in shared memory. A block takes some permutations of a test. A team of its threads, a
// multiple of a warp, takes one permutation at a time.
template <int DIMS> __device__ inline void sums_in_shared(const KnnArgs &args, char *shared) {
    u32 n = (u32)args.n, stride = (u32)args.plane_stride, count = (u32)args.permutations, teams = (u32)args.teams;
    u32 threads = blockDim.x / teams, team = threadIdx.x / threads, thread = threadIdx.x % threads;
    u32 each = (u32)args.permutations_a_block, blocks = (count + each - 1) / each;
    u64 block = args.first_task + blockIdx.x;
    u32 test = (u32)(block / blocks), first = (u32)(block % blocks) * each;
    u32 words = (u32)plane_words(n), ranges = max(threads / words, 1u);
    char *own = shared + team * (u32)team_bytes(n);
    u32 *rows = (u32 *)own;
    u16 *values = (u16 *)(own + (u32)team_plane_bytes(n)), *guesses = (u16 *)((char *)values + (u32)team_values_bytes(n));
    u32 usual = usual_distance(args, (u32)args.dims);
    for (u32 place = thread; place < n; place += threads) guesses[place] = (u16)usual;
    for (u32 at = 0; at < each; at += teams) {
        u32 m = first + at + team;
        bool active = at + team < each && m < count;
        u64 permutation = (u64)test * count + m;
        if (active) {
            const u16 *from = (const u16 *)args.permuted + permutation * args.permuted_stride;
            for (u32 place = thread; place < n; place += threads) values[place + place / 32 * 2] = from[place];
        }
        __syncthreads();
        if (active) {
            for (u32 task = thread; task < words * ranges; task += threads) {
                make_rows(rows, stride, n, words, ranges, task, [&](u32 place) { return (u32)values[place + place / 32 * 2]; });
            }
        }
        __syncthreads();
        if (active) {
            i64 sum = 0;
            for (u32 place = thread; place < n; place += threads) {
                Point<DIMS> point(args, test, place, values[place + place / 32 * 2], rows);
                u32 joint, rho = point.select((u32)args.k + 1, guesses[place], joint);
                guesses[place] = (u16)rho;
                sum += point.term(rho, joint);
            }
            sum = warp_sum(sum);
            if (thread % 32 == 0) atomicAdd((u64 *)args.sums + permutation, (u64)sum);
        }
        __syncthreads();
    }
}

// Sums the terms of permutations, with x's planes in device memory; a thread takes a place of a permutation.
template <int DIMS> __device__ inline void sums_in_slots(const KnnArgs &args) {
    u32 n = (u32)args.n, place = blockIdx.x * blockDim.x + threadIdx.x;
    u64 permutation = args.first_task + blockIdx.y;
    u32 test = (u32)(permutation / args.permutations);
    i64 sum = 0;
    if (place < n) {
        const u32 *rows = (const u32 *)((const char *)args.slots + blockIdx.y * args.plane_bytes);
        Point<DIMS> point(args, test, place, ((const u16 *)args.permuted)[permutation * args.permuted_stride + place], rows);
        u32 joint, rho = point.select((u32)args.k + 1, usual_distance(args, (u32)args.dims), joint);
        sum = point.term(rho, joint);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd((u64 *)args.sums + permutation, (u64)sum);
}

// Writes permuted x by place.
__device__ inline void permute_by_place(const KnnArgs &args) {
    by_places(args, [&](u32 permutation, u32 place) {
        u32 test = permutation / (u32)args.permutations;
        const u16 *x = (const u16 *)args.whole + (u64)((const u32 *)args.test_x)[test] * args.n;
        u32 sample = ((const u16 *)args.sorted)[(u64)((const u32 *)args.test_guide)[test] * args.n + place];
        ((u16 *)args.permuted)[(u64)permutation * args.permuted_stride + place] = x[drawn_for<u16>(args, permutation, sample)];
    });
}
