// Levels 2 and up, strategy "shared": a set S from the neighbours of x is tested for all pairs (x, y) of x at once.
//
// Sets are visited in lexicographic order, depth first over prefixes. Given the prefix S' (S without its last member s), the covariances of
// x, y and s take one Cholesky row per pivot. A test is then one more elimination step, a dozen operations at every level:
//   cov(x, y | S) = cov(x, y | S') - cov(x, s | S') cov(s, y | S') / var(s | S'), and so on.
// A warp takes a range of ranks of one row; its lanes take 32 of the row's neighbours y. All ranks refer to the row's whole list. Leaving
// out the sets with y keeps the order of the others, so minima can be taken among them. `settle` turns the smallest rank into the pair's
// own rank.
//
// Rows with many neighbours (`Args::wide_degree`) are run by blocks. All warps of a block share x and the y, whose correlations with the
// row's neighbours lie in shared memory in single precision. Single precision shows that nearly all sets neither separate nor have the
// smallest |r| (coarse.cuh). The other sets are tested as in any row.
#pragma once
#include "gauss/coarse.cuh"
#include "gauss/slots.cuh"

// Sets whose covariances are fetched at a time, so that the loads overlap.
constexpr u32 AHEAD = 16;

constexpr u32 SPECIAL = 8;    // host: largest size of sets with a kernel of its own, which keeps Cholesky rows in registers

// Returns a warp's working memory in doubles: the size of `Work`.
__host__ __device__ constexpr u64 shared_doubles(u64 l) {
    u64 groups = l > SPECIAL ? 1 : l <= 2 ? 32 : 4;
    u64 rows = l > SPECIAL ? 32 * l : 0;
    u64 words = groups + l + groups * l;
    return l * l + 2 * l + groups * exact_apart(l) + (l + 1) * 32 + AHEAD * 32 + 48 + rows + groups + words / 2 + 1;
}

// Returns the working memory, in doubles, of a warp of a block for rows with many neighbours: `Work` with four exact tests at a time. In
// place of covariances fetched ahead, it holds the numbers that single precision needs of 32 last members.
__host__ __device__ constexpr u64 wide_doubles(u64 l) {
    u64 words = 4 + l + 4 * l;
    return l * l + 2 * l + 4 * exact_apart(l) + (l + 1) * 32 + 16 * coarse_floats(l) + 48 + 192 + 4 + words / 2 + 2;
}

template <int L, bool WIDE = false> struct Work {
    // Lanes of a group that decides one exact test, and the number of groups in a warp.
    static constexpr int GROUP = L == 0 ? 32 : L <= 2 && !WIDE ? 1 : 8;
    static constexpr int GROUPS = WARP / GROUP;
    double *factor, *along_x, *scale, *exact, *members, *ahead, *known, *row, *best;
    u64* key;
    u32 *near, *owner, *places, *set;

    __device__ Work(const Args& a, u32 l) {
        factor = working_memory(a);         // [j][m]: Cholesky row of pivot j against the pivots before it
        along_x = factor + l * l;           // Cholesky row of x
        scale = along_x + l;                // 1 / root of the pivots
        exact = scale + l;
        members = exact + GROUPS * exact_apart(l);    // [m][lane]: Cholesky rows of 32 last members; then cov with x, variance
        ahead = members + (l + 1) * 32;     // [set][lane]: covariances of the last members with the lanes' y; or the numbers of `make_coarse`
        if (WIDE) ahead += (u64)ahead / 8 % 2;    // a multiple of 16 bytes
        known = ahead + (WIDE ? 16 * coarse_floats(l) : AHEAD * 32);    // [lane]: smallest |r| so far by the exact formula; 2: none
        near = (u32*)(known + 32);          // [lane]: number of tests whose r the quick form does not give to all digits
        row = known + 48;                   // [m][lane]: Cholesky rows of the lanes' y, if registers do not hold them
        best = row + (L ? 0 : l * 32);      // `Smallest`; then [lane]: correlations of x and y, y and y, x and x
        key = (u64*)(best + (WIDE ? 192 : 0));    // [suspect]: rank, in the pair's own order if common candidates come last
        owner = (u32*)(key + GROUPS);       // [suspect]: lane
        places = owner + GROUPS;            // the set's places in the row's list
        set = places + l;                   // [suspect][member]
    }
};

// Cholesky rows of the lanes' own y: in registers for the common levels.
template <int L> struct Row {
    double u[L];
    __device__ Row(double*) {}
    __device__ double& at(u32 m) { return u[m]; }
};

template <> struct Row<0> {
    double* u;
    __device__ Row(double* memory) : u(memory + lane_id()) {}
    __device__ double& at(u32 m) { return u[m * WARP]; }
};

// The smallest r² of a lane's tests that do not separate, as a fraction, and the rank of its set: in registers, or in shared memory if it
// is seldom read.
template <bool WIDE> struct Smallest {
    double own_num = 1.0, own_den = 0.0;
    u64 own_rank = NEVER;
    __device__ Smallest(double*) {}
    __device__ double& num() { return own_num; }
    __device__ double& den() { return own_den; }
    __device__ u64& rank() { return own_rank; }
};

template <> struct Smallest<true> {
    double* memory;
    __device__ Smallest(double* at) : memory(at + lane_id()) {
        num() = 1.0;
        den() = 0.0;
        rank() = NEVER;
    }
    __device__ double& num() { return memory[0]; }
    __device__ double& den() { return memory[WARP]; }
    __device__ u64& rank() { return ((u64*)memory)[2 * WARP]; }
};

// Runs one item: `left_ranks` ranks from `rank` on of row x, which has d neighbours, the first `from` of them candidates. Each lane tests
// the pair of x and its neighbour at `place`; d: no pair. WIDE: only sets whose last member is among `columns`.
template <int L, bool WIDE>
__device__ __forceinline__ void item(
    const Args& a, const Work<L, WIDE>& work, u32 x, u32 d, u32 from, u32 place, u64 rank, u32 left_ranks, const Columns& columns
) {
    const u32 l = L ? L : (u32)a.size;
    const u32 pivots = l - 1;
    const u32 lane = lane_id();
    const u64 offset = a.offset[x];
    const u32* list = a.list + offset;
    const bool narrow = !WIDE && d <= WARP;
    const bool by_common = a.fast && a.second;
    GaussSlot* slot = slots_of(a) + offset + (place < d ? place : 0);
    bool active = place < d && takes_part(a, slots_of(a), x, offset + place);
    // Ranks from here on are not needed. All are needed if common candidates come last, as ranks then follow another order.
    u64 limit = by_common || !active ? NEVER : stop_of(slot) >> 1;
    if (!__any_sync(FULL, active && rank < limit)) return;

    const u32 y = list[place < d ? place : 0];
    const double* cx = a.c + (u64)x * a.pitch;
    const double* cy = a.c + (u64)y * a.pitch;
    double xy = cx[y], yy = cy[y], xx = cx[x];
    if (WIDE) {
        double* own = work.best + 3 * WARP + lane;
        own[0] = xy;
        own[WARP] = yy;
        own[2 * WARP] = xx;
    }
    Row<L> row(work.row);
    Smallest<WIDE> best(work.best);
    auto learn = [&] {
        if (!active) return;
        u64 bits = *(const volatile u64*)&slot->exact_r;
        work.known[lane] = bits == NEVER ? 2.0 : __longlong_as_double((long long)bits);
        u64 stop = stop_of(slot) >> 1;
        if (!by_common && stop < limit) limit = stop;
    };
    work.near[lane] = 0;
    learn();
    // The bound for single precision, from the smallest r² so far of this warp or of others.
    Bound bound(0.0);
    auto tighten = [&] {
        if (!WIDE || !active) return;
        double known = fmin(volatile_q(slot), best.den() > 0.0 ? best.num() / best.den() : 2.0);
        bound = Bound(fmax(known, a.above));
    };
    tighten();

    // Tests for the exact formula wait until every group of lanes has one: each takes long, and they run side by side.
    u32 suspects = 0;
    auto settle_suspects = [&] {
        constexpr u32 GROUP = Work<L, WIDE>::GROUP;
        __syncwarp();
        u32 group = lane / GROUP;
        // A group without a test repeats the first group's test.
        u32 own = group < suspects ? group : 0, lane_of = work.owner[own];
        u32 other = __shfl_sync(FULL, y, lane_of), at = __shfl_sync(FULL, place, lane_of);
        Exact found = exact_by<GROUP, L>(a, x, other, work.set + own * l, l, work.exact + group * exact_apart(l));
        if (lane % GROUP == 0 && group < suspects) {
            GaussSlot* of_pair = slots_of(a) + offset + at;
            if (found.separates) atomicMin(&of_pair->stop, 2 * work.key[own] + 1); else enter_exact(of_pair, found);
        }
        suspects = 0;
        __threadfence();
        __syncwarp();
        learn();
    };

    if (lane == 0) unrank(a, from, l, rank, work.places);
    __syncwarp();
    u32 fresh = 0;
    while (true) {
        const u32 first = work.places[l - 1];
        const u32 last = from - first < left_ranks ? from : first + left_ranks;
        const u32 from_place = WIDE && columns.first > first ? columns.first : first;
        const u32 to_place = WIDE && columns.end < last ? columns.end : last;
        bool done = false;
        // Moves to the next prefix, by the last place of this one that can move. Returns false if the item is done.
        auto goes_on = [&] {
            rank += last - first;
            left_ranks -= last - first;
            if (done || left_ranks == 0) return false;
            u32 moved = l - 1;
            do moved--; while (work.places[moved] >= from - l + moved);
            u32 to = work.places[moved] + 1;
            __syncwarp();
            for (u32 j = moved + lane; j < l; j += WARP) work.places[j] = to + (j - moved);
            fresh = fresh < moved ? fresh : moved;
            __syncwarp();
            return true;
        };
        if (WIDE && from_place >= to_place) {
            if (!goes_on()) break;
            continue;
        }
        // Now and then, see what other warps have found.
        const bool looks = fresh + 2 < l || (l == 2 && first % 4 == 0);
        // Bring the prefix up to date.
        bool sound = true;
        double smallest = 1.0;
#pragma unroll
        for (u32 j = 0; j < pivots; j++) {
            if (j < fresh) {
                double scale = work.scale[j];
                smallest = fmin(smallest, 1.0 / (scale * scale));
            }
            if (j < fresh || !sound) continue;
            u32 pivot = list[work.places[j]];
            const double* cp = a.c + (u64)pivot * a.pitch;
            double left = cp[pivot], with_x = cp[x];
            double* own = work.factor + j * l;
            // Forward substitution of the pivot, lanes over the remaining rows.
            for (u32 m = lane; m < j; m += WARP) own[m] = cp[list[work.places[m]]];
            __syncwarp();
            for (u32 i = 0; i < j; i++) {
                double u = own[i] * work.scale[i];
                __syncwarp();
                for (u32 m = i + 1 + lane; m < j; m += WARP) own[m] = fma(-work.factor[m * l + i], u, own[m]);
                if (lane == 0) own[i] = u;
                left = fma(-u, u, left);
                with_x = fma(-u, work.along_x[i], with_x);
                __syncwarp();
            }
            if (!(left > a.bounded)) {
                sound = false;
                fresh = j;
                continue;
            }
            smallest = fmin(smallest, left);
            double scale = 1.0 / sqrt(left);
            if (lane == 0) {
                work.scale[j] = scale;
                work.along_x[j] = with_x * scale;
            }
            double value = cp[y];
#pragma unroll
            for (u32 m = 0; m < j; m++) value = fma(-own[m], row.at(m), value);
            row.at(j) = value * scale;
            __syncwarp();
        }
        if (sound) fresh = l - 1;
        if (WIDE) {
            // Read again rather than held in registers.
            const volatile double* own = work.best + 3 * WARP + lane;
            xy = own[0];
            yy = own[WARP];
            xx = own[2 * WARP];
        }
        double x_left = xx, y_left = yy, both = xy;
        bool member = false, all_common = by_common;
#pragma unroll
        for (u32 m = 0; m < pivots; m++) {
            member |= work.places[m] == place;
            if (by_common) all_common = all_common && is_common(a, y, list[work.places[m]]);
            if (!sound) continue;
            double along = work.along_x[m], u = row.at(m);
            x_left = fma(-along, along, x_left);
            y_left = fma(-u, u, y_left);
            both = fma(-along, u, both);
        }
        sound = sound && x_left > 0.0;

        float coarse_row[WIDE ? L : 1];
        float coarse_both = 0.0f, coarse_left = 0.0f;
        if constexpr (WIDE) {
#pragma unroll
            for (int m = 0; m < L - 1; m++) coarse_row[m] = (float)row.at(m);
            coarse_both = sound && smallest >= COARSE_PIVOT ? (float)both : nanf("");
            coarse_left = (float)(y_left - COARSE_LEFT);
            if (looks) {
                learn();
                tighten();
                done = !__any_sync(FULL, active && rank < limit);
            }
        }
        // Tests the set with the last member s if `wanted`; `cov` is the covariance of s with the lane's y.
        auto test = [&](u32 s, u32 base, bool wanted, double cov) {
            const u64 own_rank = rank + (s - first);
            bool valid = wanted && active && !member && place != s && own_rank < limit;
            if (by_common) valid = valid && !(all_common && is_common(a, y, list[s]));
            bool separates = false, depends = false, near = false;
            if (sound) {
                const double* u = work.members + (s - base);
                double with_x = u[(l - 1) * WARP], left = u[l * WARP];
#pragma unroll
                for (u32 m = 0; m < pivots; m++) cov = fma(-u[m * WARP], row.at(m), cov);
                double num = fma(both, left, -(with_x * cov));
                double den_x = fma(x_left, left, -(with_x * with_x));
                double den_y = fma(y_left, left, -(cov * cov));
                double square = num * num, den = den_x * den_y;
                // den_x = var(x | S) var(s | S'), and den_y = var(y | S) var(s | S').
                double condition = fmin(smallest, left) * fmin(den_x, den_y);
                bool trusted = left > a.trusted && condition > a.trusted * left && square < COLLINEAR * den;
                separates = valid && trusted && square < a.below * den;
                depends = valid && trusted && square > a.above * den;
                if (depends && square * best.den() < best.num() * den) {
                    best.num() = square;
                    best.den() = den;
                    best.rank() = own_rank;
                    tighten();
                }
                if (valid && !separates && !depends && left > a.bounded && den_x > 0.0 && den_y > 0.0) {
                    near = true;
                    // r is not good to all digits, but a bound on its error usually decides.
                    double r = sqrt(square / den);
                    double product = fmin(den_x, den_y) * (1.0 - r * r);
                    for (u32 m = 0; m < pivots; m++) product /= work.scale[m] * work.scale[m];
                    double error = a.slack / fmin(product, a.trusted);
                    if (product > a.bounded) {
                        separates = r + error < fmin(a.critical, a.critical_neg);
                        // Tests that do not separate need the exact formula only if their p may be the largest.
                        double low = r - error;
                        depends = low > fmax(a.critical, a.critical_neg)
                                  && (low > work.known[lane] || (best.den() > 0.0 && low * low * best.den() > best.num()));
                    }
                }
            }
            bool suspect = valid && !separates && !depends;
            // Counted whether or not the bound decides, as that depends on what other warps have found.
            if (near || suspect) work.near[lane]++;
            if (!__any_sync(FULL, suspect || separates)) return;

            if (lane == 0) work.places[l - 1] = s;
            __syncwarp();
            u64 key = own_rank;
            if (by_common && (suspect || separates)) {
                // Only a set that comes before the one found so far matters.
                key = WIDE && columns.masked ? rank_by_masks(a, masks_of(a, columns.values) + lane, from, place, work.places)
                                             : rank_common_last(a, list, from, place, work.places, 1);
                bool matters = key < stop_of(slot) >> 1;
                suspect = suspect && matters;
                separates = separates && matters;
            }
            if (separates) {
                atomicMin(&slot->stop, 2 * key);
                if (!by_common) limit = own_rank;
            }
            for (u32 waiting = __ballot_sync(FULL, suspect); waiting;) {
                u32 at = suspects + lanes_before(waiting);
                bool enters = waiting >> lane & 1 && at < Work<L, WIDE>::GROUPS;
                if (enters) {
                    write_set(a, list, y, work.places, 1, work.set + at * l);
                    work.key[at] = key;
                    work.owner[at] = lane;
                }
                u32 entered = __ballot_sync(FULL, enters);
                waiting &= ~entered;
                suspects += __popc(entered);
                if (suspects == Work<L, WIDE>::GROUPS) settle_suspects();
            }
            __syncwarp();
            if (lane == 0) work.places[l - 1] = first;
            __syncwarp();
            done = !__any_sync(FULL, active && own_rank < limit);
        };

        u32 base = narrow ? 0 : from_place;
        for (; base < to_place && !done; base += WARP) {
            // The last members of 32 sets, a lane each; in a row of up to 32 neighbours they are the lanes' y.
            __syncwarp();
            if (sound) {
                u32 at = base + lane;
                u32 s = list[at < from ? at : from - 1];
                const double* cs = a.c + (u64)s * a.pitch;
                double with_x = cs[x], left = cs[s];
#pragma unroll
                for (u32 m = 0; m < pivots; m++) {
                    double u;
                    if (narrow) {
                        u = row.at(m);
                    } else {
                        u = cs[list[work.places[m]]];
                        for (u32 i = 0; i < m; i++) u = fma(-work.factor[m * l + i], work.members[i * WARP + lane], u);
                        u *= work.scale[m];
                    }
                    work.members[m * WARP + lane] = u;
                    with_x = fma(-u, work.along_x[m], with_x);
                    left = fma(-u, u, left);
                }
                work.members[(l - 1) * WARP + lane] = with_x;
                work.members[l * WARP + lane] = left;
            }
            __syncwarp();
            const u32 begin = base > from_place ? base : from_place, to = base + WARP < to_place ? base + WARP : to_place;
            if constexpr (WIDE) {
                float* coarse = (float*)work.ahead;
                if (sound) {
                    const double* of_lane = work.members + lane;
                    make_coarse<L>(coarse + lane * coarse_floats(L), x_left, of_lane[(l - 1) * WARP], of_lane[l * WARP], of_lane);
                }
                __syncwarp();
                u32 asked = FULL;
                if (sound) {
                    const float* column = columns.values + (base - columns.first) * WARP + lane;
                    asked = asked_of<L>(coarse, column, to - base, coarse_row, coarse_both, coarse_left, bound);
                }
                // The sets whose ranks are needed, except the one whose last member is y.
                u64 needed = limit > rank ? limit - rank : 0;
                u32 stop = needed < to - first ? first + (u32)needed : to;
                asked = active && !member && stop > base ? asked & FULL >> (32 - (stop - base)) : 0;
                if (place - base < WARP) asked &= ~(1u << (place - base));
                for (u32 any = warp_join(asked, [](u32 s, u32 t) { return s | t; }); any && !done; any &= any - 1) {
                    u32 i = __ffs(any) - 1;
                    bool wanted = asked >> i & 1;
                    test(base + i, base, wanted, wanted ? a.c[(u64)list[base + i] * a.pitch + y] : 0.0);
                }
            } else {
                for (u32 s = begin; s < to && !done; s++) {
                    if ((s - begin) % AHEAD == 0 && sound) {
                        __syncwarp();
                        bool ahead = active && rank + (s - first) < limit;
#pragma unroll
                        for (u32 i = 0; i < AHEAD; i++) {
                            if (ahead && s + i < to) work.ahead[i * WARP + lane] = a.c[(u64)list[s + i] * a.pitch + y];
                        }
                    }
                    test(s, base, true, work.ahead[(s - begin) % AHEAD * WARP + lane]);
                }
            }
        }
        if (!goes_on()) break;
    }
    if (suspects) settle_suspects();
    if (work.near[lane]) atomicAdd(&slot->exact, work.near[lane]);
    enter_smallest(slot, best.den() > 0.0 ? best.num() / best.den() : 2.0, best.rank(), active && best.den() > 0.0);
}

template <int L> __device__ __forceinline__ void decide(const Args& a) {
    const u64 l = L ? L : a.size;
    Work<L, false> work(a, (u32)l);
    const u64 began = nanoseconds();
    const u64 total = a.report->items, least = a.report->chunk;
    if (a.second && !first_is_done(a.report)) return;
    u64* next = a.second ? &a.report->next_second : &a.report->next_first;
    while (true) {
        u64 at = 0;
        if (lane_id() == 0) at = nanoseconds() - began > a.budget ? NEVER : atomicAdd(next, 1ull);
        at = __shfl_sync(FULL, at, 0);
        if (at >= total) break;
        u32 x = row_of(a.first_item, a.p, at);
        u32 d = (u32)(a.offset[x + 1] - a.offset[x]), from = candidates_of(a, x, d);
        const Items row = items_of(a, d, from, least);
        const u64 within = at - a.first_item[x];
        const u32 place = row.tile(within) * WARP + lane_id();
        item<L, false>(a, work, x, d, from, place, row.rank(within), (u32)row.ranks(within), Columns{});
        __syncwarp();
    }
}

// Each size has its own file, as the driver compiles a module when it is first needed. BLOCKS blocks share a multiprocessor: as many as its
// registers allow.
#define SHARED_KERNEL(name, L, BLOCKS) \
    extern "C" __global__ void __launch_bounds__(DECIDING_THREADS, BLOCKS) name(const __grid_constant__ Args a) { decide<L>(a); }
