// Counts in tables that do not fit in shared memory: slice by slice, or in device memory. (8-bit counters need no slices: up to 255 samples
// have few rows.)
#include "selection/counts.cuh"

extern "C" __global__ void __launch_bounds__(1024) slices_16(const Selection a) { count_features<16, Place::SLICES, u16, u32>(a); }
extern "C" __global__ void __launch_bounds__(1024) slices_32(const Selection a) { count_features<32, Place::SLICES, u16, u32>(a); }
extern "C" __global__ void __launch_bounds__(512) count_device(const Selection a) { count_features<32, Place::DEVICE, u32, u64>(a); }
