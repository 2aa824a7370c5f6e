// The kernels of the nearest-neighbour test, for single or double precision. Ranks and codes are whole numbers, which single precision
// holds exactly.
#pragma once
#include "knn/test.cuh"

// Writes the distances of all samples from sample a in the columns of a set: the largest over the columns, or 0 without a set.
template <class T, int ITEMS, class Row>
__device__ inline void distances_in(const KnnArgs &args, u32 set, u32 a, u32 lane, const Items<T, ITEMS> &items, Row &row) {
    const T *values = (const T *)args.values, *caps = (const T *)args.caps;
    const u32 *members = (const u32 *)args.set_members;
    u32 n = (u32)args.n;
    const T beyond = 2 * largest_finite<T>();
    items.each([&](int i) { row.set(i, 32 * i + lane < n ? (T)0 : beyond); });
    u32 start = 0, end = 0;
    if (set != NO_SET) {
        start = ((const u32 *)args.set_start)[set];
        end = ((const u32 *)args.set_start)[set + 1];
    }
    for (u32 member = start; member < end; member++) {
        const T *column = values + (u64)members[member] * n;
        T own = column[a], cap = caps[members[member]];
        items.each([&](int i) {
            u32 b = 32 * i + lane;
            if (b < n) row.set(i, larger(row.get(i), apart(column[b], own, cap)));
        });
    }
}

// Writes the k_perm neighbours of each sample in each set, in ascending order of their numbers. All samples nearer than the last neighbour
// are chosen. Of those as far as the last, the sample itself comes first, then the smallest scrambled pairs. A warp takes a sample of a
// set.
template <class T> __device__ inline void neighbours_of(const KnnArgs &args) {
    u32 lane = lane_id(), warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    u32 n = (u32)args.n, k_perm = (u32)args.k_perm;
    Items<T, 0> items{(int)((n + 31) / 32)};
    Memory<T> row{(T *)args.rows + (u64)warp * args.row_values_a_warp + lane};
    for (u64 nth : by_warp(args.end_task - args.first_task)) {
        u64 task = args.first_task + nth;
        u32 set = (u32)(task / n), a = (u32)(task % n);
        uint2 key = ((const uint2 *)args.set_key)[set];
        distances_in(args, set, a, lane, items, row);
        T most = largest_within(items, row, largest_finite<T>());
        u32 within = n;
        T last = select(items, row, k_perm, most, within);
        u32 free = k_perm - count_below(items, row, last);
        u32 ties = within - (k_perm - free);
        // The largest scrambled pair that is chosen among the samples as far as the last.
        u64 cut = ~0ull;
        if (ties > free) {
            // (Halved ranks have the same order: samples 2 j and 2 j + 1 never have the same scrambled word.)
            i64 before = -1;
            for (u32 place = 0; place < free; place++) {
                u64 best = ~0ull;
                for (int i = 0; i < items.count; i++) {
                    u32 b = 32 * i + lane;
                    if (row.get(i) != last) continue;
                    u64 rank = (u64)(b == a ? 0 : scramble(key, a, b) | 1) << 32 | b;
                    if ((i64)(rank >> 1) > before && rank < best) best = rank;
                }
                cut = best = warp_join(best, [](u64 s, u64 t) { return s < t ? s : t; });
                before = (i64)(best >> 1);
            }
        }
        u32 *out = (u32 *)args.neighbours + ((u64)set * n + a) * k_perm;
        u32 done = 0;
        for (int i = 0; i < items.count; i++) {
            u32 b = 32 * i + lane;
            T d = row.get(i);
            bool chosen = d < last;
            if (d == last) chosen = ((u64)(b == a ? 0 : scramble(key, a, b) | 1) << 32 | b) <= cut;
            u32 votes = __ballot_sync(FULL, chosen);
            if (chosen) out[done + lanes_before(votes)] = b;
            done += __popc(votes);
        }
    }
}

__device__ inline u32 word_of(const Words &words, u32 at) {
    return at == 0 ? words.w[0] : at == 1 ? words.w[1] : at == 2 ? words.w[2] : words.w[3];
}

// Draws permutation `m` of a test: calls give(sample, the sample that it takes its x from) for each. The samples, in random order, each
// take the first of their neighbours, in random order, that no other has taken, or else the last. Without a set, all are shuffled. `order`
// holds n numbers, `apart` from one to the next. `own` holds k_perm numbers and `taken` n bits, `stride` from one number or word to the
// next. So permutations drawn side by side share lines of memory.
template <class Index, class Give>
__device__ inline void draw_permutation(
    const KnnArgs &args, u32 set, uint2 key, u32 m, Index *order, u64 apart, Index *own, u32 *taken, u64 stride, Give give
) {
    u32 n = (u32)args.n, k_perm = (u32)args.k_perm;
    for (u32 a = 0; a < n; a++) order[a * apart] = (Index)a;
    if (set == NO_SET) {
        Words words = {};
        for (u32 step = 0; step < n; step++) {
            if (step % 4 == 0) words = philox(step / 4, m, 0, FOR_PLAIN, key);
            u32 other = step + below(word_of(words, step % 4), n - step);
            u32 from = order[other * apart];
            order[other * apart] = order[step * apart];
            give(step, from);
        }
        return;
    }
    for (u32 word = 0; word < (n + 31) / 32; word++) taken[word * stride] = 0;
    const u32 *neighbours = (const u32 *)args.neighbours + (u64)set * n * k_perm;
    // A step's sample does not depend on earlier choices, so its list is fetched while the step before chooses.
    constexpr u32 AHEAD = 8;
    u32 ahead[AHEAD];
    Words drawn_words = {};
    auto draw = [&](u32 step) {
        drawn_words = philox(step, m, 0, FOR_LOCAL, key);
        u32 other = step + below(drawn_words.w[0], n - step);
        u32 drawn = order[other * apart];
        order[other * apart] = order[step * apart];
        const u32 *list = neighbours + (u64)drawn * k_perm;
#pragma unroll
        for (u32 at = 0; at < AHEAD; at++) ahead[at] = at < k_perm ? list[at] : 0;
        return drawn;
    };
    u32 next = draw(0);
    for (u32 step = 0; step < n; step++) {
        const u32 sample = next;
        const Words words = drawn_words;
#pragma unroll
        for (u32 at = 0; at < AHEAD; at++)
            if (at < k_perm) own[at * stride] = (Index)ahead[at];
        for (u32 at = AHEAD; at < k_perm; at++) own[at * stride] = (Index)neighbours[(u64)sample * k_perm + at];
        if (step + 1 < n) next = draw(step + 1);
        // The random order of the list is drawn only as far as needed.
        u32 chosen = 0;
        Words more = {};
        for (u32 at = 0; at < k_perm; at++) {
            chosen = own[at * stride];
            if (at + 1 == k_perm) break;
            u32 draw = at < 3 ? at + 1 : (at - 3) % 4;
            if (at >= 3 && draw == 0) more = philox(step, m, 1 + (at - 3) / 4, FOR_LOCAL, key);
            u32 from = at + below(at < 3 ? word_of(words, draw) : word_of(more, draw), k_perm - at);
            u32 drawn = own[from * stride];
            own[from * stride] = (Index)chosen;
            chosen = drawn;
            if (!(taken[chosen / 32 * stride] >> chosen % 32 & 1)) break;
        }
        taken[chosen / 32 * stride] |= 1u << chosen % 32;
        give(sample, chosen);
    }
}

// Draws permutations in device memory: writes by sample the sample that it takes x from. A thread takes a permutation of a draw; permutation
// 0 is the data.
__device__ inline void draw_in_memory(const KnnArgs &args) {
    u64 id = args.first_task + (u64)blockIdx.x * blockDim.x + threadIdx.x, all = args.draws * args.permutations;
    if (id >= args.end_task) return;
    u32 draw = (u32)(id / args.permutations), number = (u32)(id % args.permutations + args.first_permutation);
    if (number == 0) return;
    u32 *out = (u32 *)args.drawn + id * args.n;
    auto give = [&](u32 sample, u32 from) { out[sample] = from; };
    u32 set = ((const u32 *)args.draw_set)[draw];
    uint2 key = ((const uint2 *)args.draw_key)[draw];
    u32 *order = (u32 *)args.order + id, *own = (u32 *)args.lists + id, *taken = (u32 *)args.taken + id;
    draw_permutation(args, set, key, number - 1, order, all, own, taken, all, give);
}

// Calls give(permutation, place) for the places of the launch's permutations, and clears the sums of these. The threads of the grid take the
// places in turn.
template <class Give> __device__ inline void by_places(const KnnArgs &args, Give give) {
    // A launch has fewer than 2^32 places, and divisions of 32 bits are quicker.
    u32 n = (u32)args.n;
    for (u64 at : by_thread((args.end_task - args.first_task) * n)) {
        u32 permutation = (u32)args.first_task + (u32)at / n, place = (u32)at % n;
        if (place == 0) ((u64 *)args.sums)[permutation] = 0;
        give(permutation, place);
    }
}

// Returns the sample that a sample takes x from in a permutation of a test.
template <class Index> __device__ inline u32 drawn_for(const KnnArgs &args, u32 permutation, u32 sample) {
    u32 number = permutation % (u32)args.permutations;
    if (number + args.first_permutation == 0) return sample;
    u64 draw = ((const u32 *)args.test_draw)[permutation / (u32)args.permutations];
    return ((const Index *)args.drawn)[(draw * args.permutations + number) * args.n + sample];
}

// Writes permuted x by sample.
template <class T> __device__ inline void permute(const KnnArgs &args) {
    by_places(args, [&](u32 permutation, u32 sample) {
        const T *x = (const T *)args.values + (u64)((const u32 *)args.test_x)[permutation / (u32)args.permutations] * args.n;
        ((T *)args.permuted)[(u64)permutation * args.n + sample] = x[drawn_for<u32>(args, permutation, sample)];
    });
}

// Returns the radius within which points count, given the distance rho to the k-th neighbour. For floats, which are whole numbers here, it
// is rounded down.
template <class T> __device__ inline T radius_of(u32 estimator, T rho) {
    double radius = estimator == FRENZEL_POMPE ? rho * 0.999999999
        : estimator == MESNER_SHALIZI ? (double)rho
        : rho == 0 ? 1e-15 : rho - 1e-15;
    return floor_of(radius, rho);
}

// Returns a sample's term of the estimate. `apart` is whether its k-th neighbour lies apart from it, and `joint` the number of points
// within that distance. `near_x`, `near_y` and `near_s` are the points within the radius in x, y and S. `alone`: S is empty.
__device__ inline i64 term_of(const KnnArgs &args, bool apart, u32 joint, u32 near_x, u32 near_y, u32 near_s, bool alone) {
    const i64 *own_terms = (const i64 *)args.own_terms, *joint_terms = (const i64 *)args.joint_terms;
    i64 term = (u32)args.estimator == GAO && apart ? own_terms[args.k] : joint_terms[joint];
    return term + (alone ? args.all_term : own_terms[near_s]) - own_terms[near_x] - own_terms[near_y];
}

template <class T, int ITEMS>
__device__ inline void place_rows(const KnnArgs &, u32, u32, Registers<T, ITEMS> &, Registers<T, ITEMS> &, Registers<T, ITEMS> &) {}

template <class T>
__device__ inline void place_rows(const KnnArgs &args, u32 warp, u32 lane, Memory<T> &of_s, Memory<T> &of_y, Memory<T> &joint) {
    u64 padded = args.row_values_a_warp / 3;
    of_s.at = (T *)args.rows + warp * args.row_values_a_warp + lane;
    of_y.at = of_s.at + padded;
    joint.at = of_y.at + padded;
}

// Sums the terms of each permutation. A block takes a tile of samples of one test, and a warp a sample at a time with all permutations. The
// distances in S and in (y, S), which do not depend on x, stay in the warp's registers.
template <class T, int ITEMS> __device__ inline void sums_of(const KnnArgs &args, i64 *shared) {
    typedef typename RowOf<T, ITEMS>::Type Row;
    u32 lane = lane_id(), warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    u32 n = (u32)args.n, count = (u32)args.permutations, which = (u32)args.k + 1;
    u64 block = args.first_task + blockIdx.x;
    u32 test = (u32)(block / args.tiles), tile = (u32)(block % args.tiles);
    u32 set = ((const u32 *)args.test_set)[test];
    u32 x = ((const u32 *)args.test_x)[test], y = ((const u32 *)args.test_y)[test];
    const T *caps = (const T *)args.caps;
    const T *y_values = (const T *)args.values + (u64)y * n;
    T cap_x = caps[x], cap_y = caps[y];
    const T *permuted = (const T *)args.permuted + (u64)test * count * n;
    for (u32 m = threadIdx.x; m < warps * count; m += blockDim.x) shared[m] = 0;
    __syncthreads();

    Items<T, ITEMS> items{(int)((n + 31) / 32)};
    Row of_s, of_y, joint;
    place_rows(args, blockIdx.x * warps + warp, lane, of_s, of_y, joint);
    T guess = 0;
    u32 first = (tile * warps + warp) * (u32)args.samples_a_warp;
    for (u32 a = first; a < first + (u32)args.samples_a_warp && a < n; a++) {
        distances_in(args, set, a, lane, items, of_s);
        T own_y = y_values[a];
        items.each([&](int i) {
            u32 b = 32 * i + lane;
            of_y.set(i, b < n ? larger(of_s.get(i), apart(y_values[b], own_y, cap_y)) : of_s.get(i));
        });
        for (u32 m = 0; m < count; m++) {
            const T *x_values = permuted + (u64)m * n;
            T own_x = x_values[a];
            T most = 0;
            u32 near = 0;
            items.each([&](int i) {
                u32 b = 32 * i + lane;
                T d = of_y.get(i);
                if (b < n) {
                    d = larger(d, apart(x_values[b], own_x, cap_x));
                    most = larger(most, d);
                }
                joint.set(i, d);
                near += d <= guess;
            });
            u32 within = warp_sum(near);
            T bound = guess;
            if (within < which) {
                bound = warp_largest(most);
                within = n;
            }
            T rho = select(items, joint, which, bound, within);
            guess = rho + rho / 4;
            T radius = radius_of<T>((u32)args.estimator, rho);
            u32 near_x = 0, near_y = 0, near_s = 0;
            items.each([&](int i) {
                u32 b = 32 * i + lane;
                if (b < n) {
                    T s = of_s.get(i);
                    near_s += s <= radius;
                    near_y += of_y.get(i) <= radius;
                    near_x += larger(s, apart(x_values[b], own_x, cap_x)) <= radius;
                }
            });
            near_x = warp_sum(near_x);
            near_y = warp_sum(near_y);
            near_s = warp_sum(near_s);
            if (lane == 0) shared[warp * count + m] += term_of(args, rho > 0, within, near_x, near_y, near_s, set == NO_SET);
        }
    }
    __syncthreads();
    for (u32 m = threadIdx.x; m < count; m += blockDim.x) {
        i64 sum = 0;
        for (u32 w = 0; w < warps; w++) sum += shared[w * count + m];
        atomicAdd((u64 *)args.sums + (u64)test * count + m, (u64)sum);
    }
}

// The kernel of Hagedorn et al. (2022), algorithm 4: a thread takes a sample of a permutation of a test, keeps a sorted list of its k
// nearest, and counts in a second pass. Here the list has distances to other samples. The driver reserves the longest list for every thread
// that the GPU can hold, whatever k is. So a small k has its own kernel with a short list.
constexpr u64 LISTED = 512;          // host: most neighbours that the paper's kernel with the short list lists
constexpr u64 LONG_LISTED = 2048;    // host: most neighbours that the paper's kernel with the long list lists

template <class T, u64 ROOM> __device__ inline void paper_sums(const KnnArgs &args) {
    u32 n = (u32)args.n, k = (u32)args.k, count = (u32)args.permutations;
    u64 permutation = args.first_task + blockIdx.y;
    u32 test = (u32)(permutation / count), m = (u32)(permutation % count), a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= n) return;
    u32 set = ((const u32 *)args.test_set)[test], x = ((const u32 *)args.test_x)[test], y = ((const u32 *)args.test_y)[test];
    const T *values = (const T *)args.values, *caps = (const T *)args.caps;
    const T *x_values = (const T *)args.permuted + ((u64)test * count + m) * n, *y_values = values + (u64)y * n;
    const u32 *members = (const u32 *)args.set_members, *starts = (const u32 *)args.set_start;
    u32 start = set == NO_SET ? 0 : starts[set], end = set == NO_SET ? 0 : starts[set + 1];
    T cap_x = caps[x], cap_y = caps[y], own_x = x_values[a], own_y = y_values[a];
    auto in_set = [&](u32 b) {
        T d = 0;
        for (u32 member = start; member < end; member++) {
            const T *column = values + (u64)members[member] * n;
            d = larger(d, apart(column[b], column[a], caps[members[member]]));
        }
        return d;
    };
    T nearest[ROOM];
    u32 listed = 0;
    for (u32 b = 0; b < n; b++) {
        if (b == a) continue;
        T d = larger(in_set(b), larger(apart(x_values[b], own_x, cap_x), apart(y_values[b], own_y, cap_y)));
        if (listed == k && d >= nearest[k - 1]) continue;
        u32 at = listed < k ? listed++ : k - 1;
        for (; at > 0 && nearest[at - 1] > d; at--) nearest[at] = nearest[at - 1];
        nearest[at] = d;
    }
    T rho = nearest[k - 1];
    T radius = radius_of<T>((u32)args.estimator, rho);
    u32 near_x = 0, near_y = 0, near_s = 0, within = 0;
    for (u32 b = 0; b < n; b++) {
        T s = in_set(b), dx = larger(s, apart(x_values[b], own_x, cap_x)), dy = larger(s, apart(y_values[b], own_y, cap_y));
        near_s += s <= radius;
        near_x += dx <= radius;
        near_y += dy <= radius;
        within += larger(dx, dy) <= rho;
    }
    i64 term = term_of(args, rho > 0, within, near_x, near_y, near_s, set == NO_SET);
    atomicAdd((u64 *)args.sums + (u64)test * count + m, (u64)term);
}
