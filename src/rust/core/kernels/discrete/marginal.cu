// Level 0 of discrete variables.
#include "discrete/strata.cuh"
#include "search/marginal.cuh"

// Returns the codes of SAMPLES_AT_A_TIME samples, a byte each, from BITS bits each: sample j has bits BITS j to BITS (j + 1) - 1.
template <u32 BITS> __device__ __forceinline__ uint4 unpacked(const u8* from) {
    u32 packed[(BITS + 1) / 2];
    if constexpr (BITS == 1) {
        packed[0] = *(const u16*)from;
    } else {
#pragma unroll
        for (u32 i = 0; i < BITS / 2; i++) packed[i] = ((const u32*)from)[i];
    }
    u32 codes[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        codes[i] = 0;
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const u32 bit = (4 * i + j) * BITS;
            codes[i] |= (packed[bit / 32] >> bit % 32 & ((1u << BITS) - 1)) << 8 * j;
        }
    }
    uint4 found;
    found.x = codes[0], found.y = codes[1], found.z = codes[2], found.w = codes[3];
    return found;
}

// Makes codes and bit planes from packed codes, which it reads from host memory; a thread takes SAMPLES_AT_A_TIME samples of a variable. It
// makes no codes if d.codes is null, and no planes of variables that have none in d.plane.
extern "C" __global__ void dis_unpack(const __grid_constant__ Discrete d) {
    const u64 pieces = d.plane_size * (PLANE_SAMPLES / SAMPLES_AT_A_TIME), known = (d.n + SAMPLES_AT_A_TIME - 1) / SAMPLES_AT_A_TIME;
    for (u64 at : by_thread(d.a.p * pieces)) {
        const u64 v = at / pieces, k = at % pieces, packed = d.packed[v];
        const u8* from = (const u8*)(packed & ~15ull);
        uint4 found{0, 0, 0, 0};
        if (k < known) {
            uint4* to = (uint4*)(d.codes + (d.column[v] & ~1ull));
            switch (packed & 15) {
                case 0: found = unpacked<1>(from + 2 * k); break;
                case 1: found = unpacked<2>(from + 4 * k); break;
                case 2: found = unpacked<4>(from + 8 * k); break;
                case 3: found = ((const uint4*)from)[k]; break;
                default:
                    to[2 * k] = ((const uint4*)from)[2 * k];
                    to[2 * k + 1] = ((const uint4*)from)[2 * k + 1];
                    continue;
            }
            if (d.codes) to[k] = found;
        }
        if (d.plane[v] == NEVER) continue;
        const u64 first = SAMPLES_AT_A_TIME * k, samples = first < d.n ? d.n - first : 0;
        const u32 codes[4] = {found.x, found.y, found.z, found.w}, levels = levels_of(d, (u32)v);
        for (u32 level = 0; level < levels; level++) {
            u32 bits = 0;
#pragma unroll
            for (u32 j = 0; j < SAMPLES_AT_A_TIME; j++) bits |= (u32)((codes[j / 4] >> 8 * (j % 4) & 0xff) == level) << j;
            if (samples < SAMPLES_AT_A_TIME) bits &= (1u << samples) - 1;
            ((u16*)(d.planes + d.plane[v] + level * d.plane_size))[k] = (u16)bits;
        }
    }
}

// Makes bit planes from codes: a warp takes 32 samples of a variable.
extern "C" __global__ void dis_planes(const __grid_constant__ Discrete d) {
    const u64 words = 4 * d.plane_size;
    for (u64 at : by_warp(d.a.p * words)) {
        const u32 v = (u32)(at / words);
        if (d.plane[v] == NEVER) continue;
        const u64 word = at % words, sample = 32 * word + lane_id();
        const u32 levels = levels_of(d, v), code = sample < d.n ? code_at(d, v, sample) : levels;
        for (u32 level = 0; level < levels; level++) {
            u32 bits = __ballot_sync(FULL, code == level);
            if (lane_id() == 0) ((u32*)(d.planes + d.plane[v] + level * d.plane_size))[word] = bits;
        }
    }
}

// Starts the clock of the launch that follows.
extern "C" __global__ void dis_begin(const __grid_constant__ Discrete d) {
    if (threadIdx.x == 0) d.a.report->clock_start = nanoseconds();
}

// Tests the pairs of a row y and `tile` vertices x < y, by a block. Writes p of the tested pairs, and notes tests for the CPU.
extern "C" __global__ void __launch_bounds__(COUNTING_THREADS, COUNTING_BLOCKS) dis_marginal(const __grid_constant__ Discrete d) {
    const Args& a = d.a;
    const u64 tiles = (a.p + d.tile - 1) / d.tile;
    Bench b(d);
    while (true) {
        u64 at = take(d, b.item());
        if (at == NEVER) break;
        const u32 y = (u32)(at / tiles);
        const u64 first = at % tiles * d.tile;
        if (first >= y) continue;
        if (threadIdx.x < WARP) {
            u64 x = first + lane_id();
            bool tested = lane_id() < d.tile && x < y && (!a.start || has(a.start, a.words, y, (u32)x)) && is_tested(a, y, (u32)x);
            u32 mask = __ballot_sync(FULL, tested);
            if (tested) b.other()[lanes_before(mask)] = (u32)x;
            if (lane_id() == 0) b.flags()[0] = __popc(mask);
        }
        __syncthreads();
        const u32 others = b.flags()[0];
        if (others == 0) continue;
        count_all<true>(d, b, y, 0, others);
        if (threadIdx.x < others) {
            Judgement found = judge_other(d, b, y, 0, threadIdx.x);
            if (found.says == UNSURE) {
                ask(d, y, b.other()[threadIdx.x], 0, 0);
            } else {
                *packed(a, y, b.other()[threadIdx.x]) = found.p;
            }
        }
    }
}

// Makes the graph from the p-values.
extern "C" __global__ void dis_removal(const __grid_constant__ Discrete d) {
    make_graph(d.a, [&](u64, u64, const double* p) {
        bool separates = *p >= d.alpha;
        return Marginal{separates, !separates};
    });
}
