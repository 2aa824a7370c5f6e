// The kernels of a step of a feature selection: joint states of the partner and the class, counts in tables that fit in shared memory, and
// the features' modes.
#include "selection/counts.cuh"

extern "C" __global__ void __launch_bounds__(1024) count_8(const Selection a) { count_features<8, Place::SHARED, u16, u32>(a); }
extern "C" __global__ void __launch_bounds__(1024) count_16(const Selection a) { count_features<16, Place::SHARED, u16, u32>(a); }
extern "C" __global__ void __launch_bounds__(1024) count_32(const Selection a) { count_features<32, Place::SHARED, u16, u32>(a); }

extern "C" __global__ void __launch_bounds__(256) warps_8(const Selection a) { count_by_warps<8>(a); }
extern "C" __global__ void __launch_bounds__(256) warps_16(const Selection a) { count_by_warps<16>(a); }

// Writes the joint states of g and y: row g * class_count + y, group g. `Row` is as wide as the kernel that reads them needs.
template <typename Row>
__device__ void join(const Selection& a) {
    for (u64 i : by_thread(a.n)) {
        u32 g = !a.partner ? 0 : a.partner_wide ? ((const u16*)a.partner)[i] : a.partner[i];
        ((Row*)a.groups)[i] = (Row)g;
        ((Row*)a.rows)[i] = (Row)(g * a.class_count + a.classes[i]);
    }
    for (u64 g : by_thread(a.group_count + 1)) a.starts[g] = (u32)(g * a.class_count);
    for (u64 row : by_thread(a.row_count)) a.totals[row] = 0;
}

extern "C" __global__ void join_16(const Selection a) { join<u16>(a); }
extern "C" __global__ void join_32(const Selection a) { join<u32>(a); }

// Counts the samples of each row, first in shared memory if the counters fit.
template <typename Row>
__device__ void total(const Selection& a) {
    u32* counts = (u32*)shared;
    bool few = a.row_count <= a.shared_counters;
    if (few) {
        for (u64 row = threadIdx.x; row < a.row_count; row += blockDim.x) counts[row] = 0;
        __syncthreads();
    }
    u32* to = few ? counts : a.totals;
    for (u64 i : by_thread(a.n)) atomicAdd(to + ((const Row*)a.rows)[i], 1u);
    if (few) {
        __syncthreads();
        for (u64 row = threadIdx.x; row < a.row_count; row += blockDim.x) {
            if (counts[row]) atomicAdd(a.totals + row, counts[row]);
        }
    }
}

extern "C" __global__ void total_16(const Selection a) { total<u16>(a); }
extern "C" __global__ void total_32(const Selection a) { total<u32>(a); }

// Notes the level that more than half of the samples have. A block takes a feature. A feature with more levels than there are counters
// (`shared_counters`) gets no mode.
extern "C" __global__ void modes(const Selection a) {
    u32* counts = (u32*)shared;
    for (u64 k = blockIdx.x; k < a.count; k += gridDim.x) {
        Feature* f = a.features + a.first + k;
        u32 levels = f->levels;
        if (levels > a.shared_counters) continue;
        for (u32 code = threadIdx.x; code < levels; code += blockDim.x) counts[code] = 0;
        __syncthreads();
        for (u64 i = threadIdx.x; i < a.n; i += blockDim.x) {
            u32 code = f->wide ? ((const u16*)(a.data + f->at))[i] : a.data[f->at + i];
            atomicAdd(counts + code, 1u);
        }
        __syncthreads();
        for (u32 code = threadIdx.x; code < levels; code += blockDim.x) {
            if (2 * (u64)counts[code] > a.n) f->mode = code;
        }
        __syncthreads();
    }
}

// `unpack` turns the packed codes of features that are not left out into bytes, two each for codes of 16 bits. A warp takes
// UNPACKED_SAMPLES of them, by way of shared memory. The grid is (pieces of a feature, features).
constexpr u32 UNPACKED_SAMPLES = 1024;    // host: samples that a warp of `unpack` takes; packed codes are padded to a multiple of it
extern "C" __global__ void __launch_bounds__(256) unpack(const Selection a) {
    constexpr u32 EACH = UNPACKED_SAMPLES / WARP;
    const u32 lane = lane_id(), warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    u32* words = (u32*)shared + warp * WARP * 8;
    for (u64 k = blockIdx.y; k < a.count; k += gridDim.y) {
        const Feature f = a.features[a.first + k];
        if (!f.levels) continue;
        const u32 bits = (u32)(f.packed & 127);
        const u32* from = (const u32*)(f.packed & ~127ull);
        u8* to = (u8*)a.data + f.at;
        const u64 bytes = (a.n * (f.wide ? 2 : 1) + 15) / 16 * 16;
        for (u64 piece = blockIdx.x * warps + warp; piece * UNPACKED_SAMPLES < a.n; piece += gridDim.x * warps) {
            if (bits == 16) {
                const uint4* fours = (const uint4*)from;
                for (u64 i = lane; i < UNPACKED_SAMPLES / 8; i += WARP) {
                    const u64 at = piece * (UNPACKED_SAMPLES / 8) + i;
                    if (16 * at < bytes) ((uint4*)to)[at] = fours[at];
                }
                continue;
            }
            for (u32 i = 0; i < bits; i++) words[i * WARP + lane] = from[(piece * bits + i) * WARP + lane];
            __syncwarp();
            // This lane's codes: as many words as a code has bits.
            const u32* own = words + lane * bits;
            const u32 mask = (1u << bits) - 1;
            for (u32 half = 0; half < 2; half++) {
                u32 four[4];
#pragma unroll
                for (u32 w = 0; w < 4; w++) {
                    four[w] = 0;
#pragma unroll
                    for (u32 j = 0; j < 4; j++) {
                        const u32 bit = (half * EACH / 2 + 4 * w + j) * bits, shift = bit % 32;
                        u32 code = own[bit / 32] >> shift;
                        if (shift + bits > 32) code |= own[bit / 32 + 1] << (32 - shift);
                        four[w] |= (code & mask) << (8 * j);
                    }
                }
                const u64 at = piece * UNPACKED_SAMPLES + lane * EACH + half * EACH / 2;
                if (at < bytes) *(uint4*)(to + at) = make_uint4(four[0], four[1], four[2], four[3]);
            }
            __syncwarp();
        }
    }
}
