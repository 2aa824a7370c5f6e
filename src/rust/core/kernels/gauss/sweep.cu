// The Gaussian test of a pair given all subsets of its candidates, as in engine/cpu/gauss/sweep.rs. The remaining covariances are one
// elimination step from those of the set without its last member. Candidates are eliminated in the CPU's order, so that q is the CPU's bit
// for bit. The last three come first, and differ between eight neighbouring threads; then come the others.
//
// A block takes the subsets of the last `OF_BLOCK` of the others. It works in shared memory up to the last `OF_THREADS`. Of these, those
// before the last `OF_TREE` are in or out by thread. A thread takes all subsets of the last `OF_TREE`, in registers.
#include "gpu/threads.cuh"

constexpr u32 SWEEP_THREADS = 128;    // host: threads of a block of `sweep`
constexpr u64 OF_LANES = 3;           // host: candidates that are eliminated first; neighbouring threads take all subsets of them
constexpr u64 OF_TREE = 5;
constexpr u64 OF_MIDDLE = 4;
constexpr u64 OF_THREADS = OF_MIDDLE + OF_TREE;
constexpr u64 OF_BLOCK = 13;          // host: other candidates whose subsets a block takes, if there are this many
constexpr u64 LEAST_CANDIDATES = OF_LANES + OF_THREADS;    // host: least number of candidates of a sweep
constexpr u64 SWEEP_SIZES = 64;       // host: number of set sizes, from 0 on

constexpr u32 EIGHT = 1 << OF_LANES;
static_assert(SWEEP_THREADS == EIGHT << OF_MIDDLE && LEAST_CANDIDATES > OF_THREADS);

// The same as in gauss/test.cuh.
constexpr double COLLINEAR = 1.0 - 1e-5;

// Returns the number of cells of the upper triangle of n rows.
__device__ constexpr u64 triangle(u64 n) { return n * (n + 1) / 2; }

// Returns where the i-th of n rows begins.
__device__ constexpr u64 row_of(u64 n, u64 i) { return i * n - triangle(i) + i; }

constexpr u64 SIZE_DOUBLES = 8 * 5 + SWEEP_SIZES;

// Returns the doubles of shared memory of a block: covariances at the beginning, or by depth, for each subset of the last three; then
// `SIZE_DOUBLES`.
__host__ __device__ constexpr u64 sweep_doubles(u64 candidates) {
    return candidates > 27 ? 4 * (candidates + 2) * (candidates + 3) + SIZE_DOUBLES : 3680 + SIZE_DOUBLES;
}

// A pair and its sets, `SweepTask` in Rust.
struct SweepTask {
    u64 first_block;  // number of the task's first block
    u64 cells;        // where its correlations begin: a square matrix of its candidates, x and y
    u64 candidates;
    u64 least, most;  // smallest and largest size of sets
};

// The results for the sets of a size, `SweepOutcome` in Rust.
struct SweepOutcome {
    double smallest;       // the smallest q that certainly says dependent; infinity: none
    u64 smallest_set;
    double end;            // q of the first set that certainly separates
    double end_condition;  // its smallest pivot, times the smaller remaining variance
    u64 end_set;           // 0: none
    u64 lock;
};

// The kernel's arguments, `SweepArgs` in Rust.
struct Sweep {
    u64 tasks;
    u64 first_block;        // first block of this launch
    const SweepTask* task;
    const double* cells;
    const double* below;    // by size: q below which a set separates
    const double* above;    // by size: q above which a set does not separate
    const double* trusted;  // by size: conditions above which either is certain
    SweepOutcome* outcome;  // by sweep and size
    u64* limit;             // by sweep: size above which sets no longer matter
    u64* doubted;           // sweep and set of each test that the CPU decides
    u64* doubts;            // number of these tests
    u64 room;               // number of these tests that there is room for
};

// Eliminates the A-th of N variables from the upper triangle of those behind it; `from(i)` is the i-th cell. Nothing is fused: -fmad=false.
template <int N, int A, class From>
__device__ __forceinline__ void eliminate(From from, double (&to)[triangle(N - A - 1)]) {
    const int first = row_of(N, A);
    double row[N - A];
#pragma unroll
    for (int i = 0; i < N - A; i++) row[i] = from(first + i);
    double inverse = 1.0 / row[0];
#pragma unroll
    for (int i = 1; i < N - A; i++) {
        double weight = row[i] * inverse;
#pragma unroll
        for (int j = i; j < N - A; j++) {
            const int at = row_of(N - A - 1, i - 1) + j - i;
            to[at] = from(first + N - A + at) - weight * row[j];
        }
    }
}

// Returns the smaller number, or `b` if either is NaN.
__device__ __forceinline__ double smaller(double a, double b) { return a < b ? a : b; }

// The limits for the sets of a thread's tree.
struct Bounds {
    // By number of members from the tree: q above which a set no longer matters.
    double look[OF_TREE + 1];
    double trusted;
};

// Returns the bit of a set if it must be looked at closely, otherwise 0.
template <u32 SET>
__device__ __forceinline__ u32 doubt(double xx, double xy, double yy, double smallest, const Bounds& bounds) {
    constexpr int MEMBERS = (SET & 1) + (SET >> 1 & 1) + (SET >> 2 & 1) + (SET >> 3 & 1) + (SET >> 4 & 1);
    double scale = xx * yy, square = xy * xy, left = smaller(xx, yy);
    bool clear = square > bounds.look[MEMBERS] * scale && COLLINEAR * scale > square && left > 0 && smallest * left > bounds.trusted;
    return clear ? 0 : 1u << SET;
}

template <int N, u32 SET>
__device__ __forceinline__ u32 tree(const double (&c)[triangle(N + 2)], double smallest, const Bounds& bounds);

// Returns the doubtful sets whose next member is the A-th of the N remaining candidates, or a later one. `SET` has a bit for each candidate
// of the tree.
template <int N, int A, u32 SET>
__device__ __forceinline__ u32 branches(const double (&c)[triangle(N + 2)], double smallest, const Bounds& bounds) {
    if constexpr (A < N) {
        constexpr u32 WITH = SET | 1u << (OF_TREE - N + A);
        double left[triangle(N + 1 - A)];
        eliminate<N + 2, A>([&](int i) { return c[i]; }, left);
        double of_left = smaller(smallest, c[row_of(N + 2, A)]);
        u32 doubts = tree<N - A - 1, WITH>(left, of_left, bounds);
        return doubts | branches<N, A + 1, SET>(c, smallest, bounds);
    } else {
        return 0;
    }
}

// Returns the doubtful ones of a set and all sets that begin with it.
template <int N, u32 SET>
__device__ __forceinline__ u32 tree(const double (&c)[triangle(N + 2)], double smallest, const Bounds& bounds) {
    constexpr int END = triangle(N + 2);
    return doubt<SET>(c[END - 3], c[END - 2], c[END - 1], smallest, bounds) | branches<N, 0, SET>(c, smallest, bounds);
}

// Eliminates the first of N variables if this thread has it.
template <int N, class From>
__device__ __forceinline__ void eliminate_if(bool has, From from, double (&to)[triangle(N - 1)], double& smallest) {
    if (has) {
        smallest = smaller(smallest, from(0));
        eliminate<N, 0>(from, to);
    } else {
#pragma unroll
        for (int i = 0; i < (int)triangle(N - 1); i++) to[i] = from(N + i);
    }
}

// Returns whether a set comes before another set of its size.
__device__ __forceinline__ bool comes_before(u64 set, u64 other) {
    u64 apart = set ^ other;
    return (set & (apart & (0 - apart))) != 0;
}

// Enters the results of a set.
__device__ __noinline__ void enter(const Sweep& a, u64 task, u32 size, u64 set, double q, double condition, bool separates) {
    SweepOutcome* of = a.outcome + task * SWEEP_SIZES + size;
    if (separates) atomicMin(a.limit + task, (u64)size);
    for (bool open = true; open;) {
        if (atomicCAS(&of->lock, 0ull, 1ull)) continue;
        __threadfence();
        volatile SweepOutcome* now = of;
        if (separates && (now->end_set == 0 || comes_before(set, now->end_set))) {
            now->end = q;
            now->end_condition = condition;
            now->end_set = set;
        }
        if (!separates && (q < now->smallest || (q == now->smallest && comes_before(set, now->smallest_set)))) {
            now->smallest = q;
            now->smallest_set = set;
        }
        __threadfence();
        atomicExch(&of->lock, 0ull);
        open = false;
    }
}

// Looks closely at some sets of a thread, which are computed again. `cells` are the thread's cells in shared memory, `chosen` are the
// members of `OF_MIDDLE` that it has.
__device__ __noinline__ void look(const Sweep& a, u64 task, const double* cells, double given, u32 chosen, u32 doubts, u64 set, u64 from) {
    constexpr int N = OF_THREADS + 2;
    u64 limit = *(volatile u64*)(a.limit + task), least = a.task[task].least;
    for (; doubts; doubts &= doubts - 1) {
        u32 tree = __ffs(doubts) - 1, mine = chosen | tree << OF_MIDDLE;
        u64 whole = set | (u64)mine << from;
        u32 size = __popcll(whole);
        if (size < least || size > limit) continue;
        double c[triangle(N)], smallest = given;
        for (int i = 0; i < (int)triangle(N); i++) c[i] = cells[i * EIGHT];
        for (int v = 0; v < (int)OF_THREADS; v++) {
            if (!(mine >> v & 1)) continue;
            int row = row_of(N, v), at = row + N - v;
            smallest = smaller(smallest, c[row]);
            double inverse = 1.0 / c[row];
            for (int i = 1; i < N - v; i++) {
                double weight = c[row + i] * inverse;
                for (int j = i; j < N - v; j++) c[at++] -= weight * c[row + j];
            }
        }
        double xx = c[triangle(N) - 3], xy = c[triangle(N) - 2], yy = c[triangle(N) - 1];
        double q = xy * xy / (xx * yy), condition = smallest * smaller(xx, yy);
        bool certain = condition > a.trusted[size] && xx > 0 && yy > 0 && q < COLLINEAR;
        const volatile SweepOutcome* of = a.outcome + task * SWEEP_SIZES + size;
        if (certain && q > a.above[size]) {
            if (q <= of->smallest) enter(a, task, size, whole, q, condition, false);
        } else if (certain && q < a.below[size]) {
            enter(a, task, size, whole, q, condition, true);
        } else {
            u64 at = atomicAdd(a.doubts, 1ull);
            if (at < a.room) {
                a.doubted[2 * at] = task;
                a.doubted[2 * at + 1] = whole;
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(SWEEP_THREADS) sweep(const __grid_constant__ Sweep a) {
    extern __shared__ double memory[];
    u64 block = a.first_block + blockIdx.x, task = 0;
    for (u64 end = a.tasks; end - task > 1;) {
        u64 middle = task + (end - task) / 2;
        (a.task[middle].first_block <= block ? task : end) = middle;
    }
    const SweepTask of = a.task[task];
    u64 others = of.candidates - OF_LANES;
    u64 of_blocks = others > OF_BLOCK ? others - OF_BLOCK : 0;
    u32 of_block = others - of_blocks - OF_THREADS;
    u64 part = block - of.first_block;
    u32 chosen = __popcll(part);
    u32 lane = threadIdx.x % EIGHT, mine = threadIdx.x / EIGHT;
    double* smallest_of = memory + sweep_doubles(of.candidates) - SIZE_DOUBLES;
    double* looks = smallest_of + 8 * 5;
    // One thread decides for all.
    if (threadIdx.x == 0) {
        bool ends = chosen > *(volatile u64*)(a.limit + task) || *(volatile u64*)a.doubts > a.room;
        looks[0] = ends || chosen + others - of_blocks + OF_LANES < of.least ? 1.0 : 0.0;
    }
    __syncthreads();
    if (looks[0] != 0.0) return;

    // Shared memory holds covariances, then the values of each size. First are the pivots: those of the last three that the lane has, then
    // those of the block.
    u32 pivots = OF_LANES + chosen, n = pivots + of_block + OF_THREADS + 2, width = of.candidates + 2;
    auto vertex = [&](u32 i) {
        if (i < OF_LANES) return (u32)others + i;
        if (i >= pivots) return i + 2 < n ? (u32)of_blocks + i - pivots : (u32)of.candidates + i + 2 - n;
        u64 rest = part;
        for (u32 at = OF_LANES; at < i; at++) rest &= rest - 1;
        return (u32)__ffsll(rest) - 1;
    };
    const double* cells = a.cells + of.cells;
    for (u32 i = mine; i < n; i += SWEEP_THREADS / EIGHT) {
        const double* row = cells + (u64)vertex(i) * width;
        for (u32 j = i; j < n; j++) memory[(row_of(n, i) + j - i) * EIGHT + lane] = row[vertex(j)];
    }
    __syncthreads();
    double smallest = 1.0;
    for (u32 v = 0; v < pivots; v++) {
        const double* row = memory + row_of(n, v) * EIGHT + lane;
        if (v >= OF_LANES || lane >> v & 1) {
            double pivot = row[0], inverse = 1.0 / pivot;
            smallest = isnan(pivot) ? -1.0 : smaller(smallest, pivot);
            for (u32 i = v + 1 + mine; i < n; i += SWEEP_THREADS / EIGHT) {
                double weight = row[(i - v) * EIGHT] * inverse;
                double* to = memory + row_of(n, i) * EIGHT + lane;
                for (u32 j = i; j < n; j++) to[(j - i) * EIGHT] -= weight * row[(j - v) * EIGHT];
            }
        }
        __syncthreads();
    }
    // Move the rest to the front.
    constexpr u32 MOST = triangle(OF_BLOCK + 2), EACH = (MOST * EIGHT + SWEEP_THREADS - 1) / SWEEP_THREADS;
    u32 size = n - pivots;
    double kept[EACH];
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
        u32 at = threadIdx.x + i * SWEEP_THREADS;
        if (at < triangle(size) * EIGHT) kept[i] = memory[row_of(n, pivots) * EIGHT + at];
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
        u32 at = threadIdx.x + i * SWEEP_THREADS;
        if (at < triangle(size) * EIGHT) memory[at] = kept[i];
    }
    if (mine == 0) smallest_of[lane] = smallest;

    // Visit the subsets of the block's candidates. Each comes after the set without its last member, whose covariances are still there.
    for (u32 mask = 0; mask < 1u << of_block; mask++) {
        u64 limit = *(volatile u64*)(a.limit + task);
        for (u32 s = threadIdx.x; s < SWEEP_SIZES; s += SWEEP_THREADS) {
            bool wanted = s >= of.least && s <= limit;
            looks[s] = wanted ? *(volatile double*)&a.outcome[task * SWEEP_SIZES + s].smallest : -1.0;
        }
        u32 depth = __popc(mask), at = 0, left = size;
        for (u32 d = 0; d < depth; d++) at += triangle(size - d);
        if (mask) {
            // The members are the bits from the highest down.
            u32 before = mask & (mask - 1), member = of_block - __ffs(mask);
            u32 next = before ? of_block - __ffs(before) + 1 : 0;
            left = size - member - 1;
            u32 rows = size - next, v = member - next;
            const double* row = memory + (at - triangle(size - depth + 1) + row_of(rows, v)) * EIGHT + lane;
            const double* from = row + (rows - v) * EIGHT;
            double* to = memory + at * EIGHT + lane;
            double pivot = row[0], inverse = 1.0 / pivot;
            for (u32 i = mine; i < left; i += SWEEP_THREADS / EIGHT) {
                double weight = row[(i + 1) * EIGHT] * inverse;
                for (u32 j = i, k = row_of(left, i); j < left; j++, k++) {
                    to[k * EIGHT] = from[k * EIGHT] - weight * row[(j + 1) * EIGHT];
                }
            }
            if (mine == 0) smallest_of[depth * EIGHT + lane] = smaller(smallest_of[(depth - 1) * EIGHT + lane], pivot);
        }
        __syncthreads();

        constexpr int N = OF_THREADS + 2;
        const double* own = memory + (at + triangle(left) - triangle(N)) * EIGHT + lane;
        double given = smallest_of[depth * EIGHT + lane];
        u32 members = chosen + depth + __popc(threadIdx.x);
        if (members <= limit) {
            Bounds bounds;
            for (u32 i = 0; i <= OF_TREE; i++) bounds.look[i] = looks[members + i];
            bounds.trusted = a.trusted[of.most];
            double c1[triangle(N - 1)], c2[triangle(N - 2)], c3[triangle(N - 3)], c4[triangle(N - 4)];
            // The first two are in or out for a warp as a whole.
            double least = given;
            eliminate_if<N>(mine >> 3 & 1, [&](int i) { return own[i * EIGHT]; }, c1, least);
            eliminate_if<N - 1>(mine >> 2 & 1, [&](int i) { return c1[i]; }, c2, least);
            eliminate_if<N - 2>(mine >> 1 & 1, [&](int i) { return c2[i]; }, c3, least);
            eliminate_if<N - 3>(mine & 1, [&](int i) { return c3[i]; }, c4, least);
            u32 doubts = tree<(int)OF_TREE, 0>(c4, least, bounds);
            if (doubts) {
                u32 of_middle = (mine >> 3 & 1) | (mine >> 1 & 2) | (mine << 1 & 4) | (mine << 3 & 8);
                u64 set = part | (u64)lane << others;
                for (u32 i = 0; i < of_block; i++) set |= (u64)(mask >> (of_block - 1 - i) & 1) << (of_blocks + i);
                look(a, task, own, given, of_middle, doubts, set, of_blocks + of_block);
            }
        }
        __syncthreads();
    }
}
