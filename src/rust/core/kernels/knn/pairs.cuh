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

// The random orders of a permutation, as src/ci/knn/local.rs has them: the samples claim neighbours, each in its own order, and an earlier
// sample has the neighbour that a later one claims, too.
constexpr u64 FREE = ~0ull;

struct Orders {
    uint2 samples, neighbours;

    __device__ inline Orders(uint2 key, u32 m) {
        Words words = philox(m, 0, 0, FOR_LOCAL, key);
        samples = uint2{words.w[0], words.w[1]};
        neighbours = uint2{words.w[2], words.w[3]};
    }

    __device__ inline u64 claim(u32 sample) const { return (u64)scramble(samples, sample, 0) << 32 | sample; }

    __device__ inline u32 place(u32 sample, u32 neighbour) const { return scramble(neighbours, sample, neighbour); }

    // Returns the first place from `from` on in a sample's list, or a number above all places. Earlier places wrap around behind all others.
    __device__ inline u64 first(u32 sample, const u32 *list, u32 k_perm, u64 from) const {
        u32 ahead = ~0u;
        for (u32 at = 0; at < k_perm; at++) ahead = min(ahead, place(sample, list[at]) - (u32)from);
        return from + ahead;
    }
};

// Shuffles all samples into `order`.
__device__ inline void shuffle(u32 n, uint2 key, u32 m, u32 *order) {
    for (u32 sample = 0; sample < n; sample++) order[sample] = sample;
    Words words = {};
    for (u32 step = 0; step < n; step++) {
        if (step % 4 == 0) words = philox(step / 4, m, 0, FOR_PLAIN, key);
        u32 other = step + below(word_of(words, step % 4), n - step), from = order[other];
        order[other] = order[step];
        order[step] = from;
    }
}

// Draws permutations: writes by sample the sample that it takes x from. A block takes permutations of a draw in turn; permutation 0 is the
// data. Its threads take the samples, as in algorithm 3 of Hagedorn et al. (2022), where the first thread that claims a neighbour has it.
template <class Index> __device__ inline void draw_permutations(const KnnArgs &args, u64 *shared) {
    u32 n = (u32)args.n, k_perm = (u32)args.k_perm;
    u64 *claims = args.claims ? (u64 *)args.claims + (u64)blockIdx.x * n : shared;
    for (u64 id = args.first_task + blockIdx.x; id < args.end_task; id += gridDim.x) {
        u32 draw = (u32)(id / args.permutations), number = (u32)(id % args.permutations + args.first_permutation);
        if (number == 0) continue;
        u32 set = ((const u32 *)args.draw_set)[draw];
        uint2 key = ((const uint2 *)args.draw_key)[draw];
        Index *out = (Index *)args.drawn + id * n;
        if (set == NO_SET) {
            u32 *order = (u32 *)claims;
            if (threadIdx.x == 0) shuffle(n, key, number - 1, order);
            __syncthreads();
            for (u32 sample = threadIdx.x; sample < n; sample += blockDim.x) out[sample] = (Index)order[sample];
            __syncthreads();
            continue;
        }
        const u32 *neighbours = (const u32 *)args.neighbours + (u64)set * n * k_perm;
        const Orders orders(key, number - 1);
        for (u32 sample = threadIdx.x; sample < n; sample += blockDim.x) claims[sample] = FREE;
        __syncthreads();
        for (u32 nth = threadIdx.x; nth < n; nth += blockDim.x) {
            u32 sample = nth, neighbour = 0;
            u64 claim = orders.claim(sample), from = 0;
            for (;;) {
                u64 place = orders.first(sample, neighbours + (u64)sample * k_perm, k_perm, from);
                if (place >> 32) {
                    // An earlier sample has the last neighbour in the list: both take it.
                    out[sample] = (Index)neighbour;
                    break;
                }
                neighbour = unscramble(orders.neighbours, sample, (u32)place);
                u64 held = atomicMin(claims + neighbour, claim);
                if (held == FREE) break;
                if (held > claim) {
                    // The sample that had the neighbour goes on through its list.
                    claim = held;
                    sample = (u32)held;
                    place = orders.place(sample, neighbour);
                }
                from = place + 1;
            }
        }
        __syncthreads();
        for (u32 neighbour = threadIdx.x; neighbour < n; neighbour += blockDim.x) {
            u64 claim = claims[neighbour];
            if (claim != FREE) out[(u32)claim] = (Index)neighbour;
        }
        __syncthreads();
    }
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

// Writes whether the sums of permutations are at least those of the data. A warp makes a word.
__device__ inline void vote(const KnnArgs &args) {
    u64 task = args.first_task + (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (task >= args.end_task) return;
    u32 count = (u32)args.permutations, words = (count + 31) / 32, test = (u32)(task / words);
    u32 m = 32 * (u32)(task % words) + lane_id();
    const i64 *sums = (const i64 *)args.sums + (u64)test * count;
    i64 *kept = (i64 *)args.own_sums + test;
    i64 own = args.first_permutation ? *kept : sums[0];
    u32 bits = __ballot_sync(FULL, m < count && sums[m] >= own);
    if (lane_id() == 0) ((u32 *)args.votes)[task] = bits;
    if (m == 0 && !args.first_permutation) *kept = own;
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
