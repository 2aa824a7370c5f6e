// The kernels of a step of a feature selection: joint states of the partner and the class, counts in tables that shared memory
// holds, and the features' modes.
#include "selection/counts.cuh"

extern "C" __global__ void __launch_bounds__(1024) count_8(const Selection a) { count_features<8, Place::SHARED, u16, u32>(a); }
extern "C" __global__ void __launch_bounds__(1024) count_16(const Selection a) { count_features<16, Place::SHARED, u16, u32>(a); }
extern "C" __global__ void __launch_bounds__(1024) count_32(const Selection a) { count_features<32, Place::SHARED, u16, u32>(a); }

// The joint states of g and y: row g * class_count + y, group g. `Row` is as wide as the kernel that reads them wants.
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

// The number of samples of each row, counted in shared memory first where that holds them.
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

// Notes the level that more than half of the samples have. A block takes a feature; one with more levels than there are
// counters (`shared_counters`) gets no mode.
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
