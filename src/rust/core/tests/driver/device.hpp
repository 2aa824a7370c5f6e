// CUDA C++ on the CPU, for tests: the parts of the language beyond C++ that the kernels of ../../kernels use. It is included before a
// kernel's source. A thread of a block is a fiber. Between the calls that join them, lanes of a warp run independently, in any order, as
// they may on a GPU. A call that not all of its lanes make ends the process with a message. Blocks run on the threads of the CPU.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#define __global__
#define __device__
#define __host__
// Inlined, so that what one file compiles in its own way is never used in place of another file's.
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __constant__ static const
#define __launch_bounds__(...)
// All of it is dynamic here: `extern __shared__ T name[]`. The driver defines each name.
#define __shared__ __thread

struct uint2 { unsigned x, y; };
struct uint3 { unsigned x, y, z; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) float4 { float x, y, z, w; };
struct dim3 { unsigned x, y, z; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

namespace emulated {

enum Call { SYNC, SHUFFLE, BALLOT, MATCH };

// The driver's side.
extern __thread uint3 thread_index, block_index;
extern __thread dim3 block_size, grid_size;
uint64_t warp_call(Call call, unsigned mask, uint64_t value, unsigned from);
void block_barrier();
extern __thread bool said_in_block;
void yield();
uint64_t nanoseconds();
void enter(const char* name, size_t args, void (*run)(void (*)(), const void*), void (*kernel)());

// A kernel that the driver may launch.
struct Kernel {
    template <class A> Kernel(const char* name, void (*kernel)(A)) {
        enter(name, sizeof(A), [](void (*f)(), const void* args) { ((void (*)(A))f)(*(const A*)args); }, (void (*)())kernel);
    }
};

template <class T> uint64_t bits(T value) {
    static_assert(sizeof(T) <= 8);
    uint64_t all = 0;
    memcpy(&all, &value, sizeof(T));
    return all;
}

template <class T> T value_of(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof(T));
    return value;
}

template <class T> T changed(T* at, T change(T, T), T by) {
    T old, fresh;
    __atomic_load(at, &old, __ATOMIC_SEQ_CST);
    do fresh = change(old, by);
    while (!__atomic_compare_exchange(at, &old, &fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return old;
}

template <class T> struct Same { typedef T type; };

// Two numbers in half precision, in 32 bits: see kernels/gauss/halves.cuh.
inline unsigned halves(float first, float second) {
    return bits((_Float16)first) | (unsigned)bits((_Float16)second) << 16;
}
inline float single(unsigned short half) { return (float)value_of<_Float16>(half); }
inline unsigned minus_halves(unsigned c, unsigned a, unsigned b) {
    auto half = [](unsigned both, int shift) { return (double)value_of<_Float16>(both >> shift & 0xffff); };
    auto left = [&](int shift) { return (unsigned)bits((_Float16)std::fma(-half(a, shift), half(b, shift), half(c, shift))) << shift; };
    return left(0) | left(16);
}

}  // namespace emulated

#define threadIdx emulated::thread_index
#define blockIdx emulated::block_index
#define blockDim emulated::block_size
#define gridDim emulated::grid_size

inline void __syncthreads() { emulated::block_barrier(); }
inline int __syncthreads_or(int said) {
    if (said) emulated::said_in_block = true;
    __syncthreads();
    int any = emulated::said_in_block;
    __syncthreads();
    // No thread may begin the next call before all have read the result.
    emulated::said_in_block = false;
    __syncthreads();
    return any;
}
inline void __syncwarp(unsigned mask = ~0u) { emulated::warp_call(emulated::SYNC, mask, 0, 0); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

template <class T> T __shfl_sync(unsigned mask, T value, int lane) {
    return emulated::value_of<T>(emulated::warp_call(emulated::SHUFFLE, mask, emulated::bits(value), lane & 31));
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int by) { return __shfl_sync(mask, value, (threadIdx.x & 31) ^ by); }
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned by) {
    unsigned lane = threadIdx.x & 31;
    return __shfl_sync(mask, value, lane < by ? lane : lane - by);
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned by) {
    unsigned lane = threadIdx.x & 31;
    return __shfl_sync(mask, value, lane + by > 31 ? lane : lane + by);
}
inline unsigned __ballot_sync(unsigned mask, int said) { return emulated::warp_call(emulated::BALLOT, mask, said != 0, 0); }
inline int __any_sync(unsigned mask, int said) { return __ballot_sync(mask, said) != 0; }
inline int __all_sync(unsigned mask, int said) { return __ballot_sync(mask, !said) == 0; }
template <class T> unsigned __match_any_sync(unsigned mask, T value) {
    return emulated::warp_call(emulated::MATCH, mask, emulated::bits(value), 0);
}

template <class T> T atomicAdd(T* at, typename emulated::Same<T>::type by) {
    return emulated::changed<T>(at, [](T a, T b) { return (T)(a + b); }, by);
}
template <class T> T atomicMin(T* at, typename emulated::Same<T>::type by) {
    return emulated::changed<T>(at, [](T a, T b) { return a < b ? a : b; }, by);
}
template <class T> T atomicMax(T* at, typename emulated::Same<T>::type by) {
    return emulated::changed<T>(at, [](T a, T b) { return a > b ? a : b; }, by);
}
template <class T> T atomicAnd(T* at, typename emulated::Same<T>::type by) {
    return emulated::changed<T>(at, [](T a, T b) { return (T)(a & b); }, by);
}
template <class T> T atomicOr(T* at, typename emulated::Same<T>::type by) {
    return emulated::changed<T>(at, [](T a, T b) { return (T)(a | b); }, by);
}
template <class T> T atomicExch(T* at, typename emulated::Same<T>::type by) {
    return emulated::changed<T>(at, [](T, T b) { return b; }, by);
}
// A thread that waits for a lock yields to its owner.
template <class T> T atomicCAS(T* at, typename emulated::Same<T>::type expected, typename emulated::Same<T>::type fresh) {
    T known = expected;
    if (!__atomic_compare_exchange(at, &known, &fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) emulated::yield();
    return known;
}

inline unsigned __byte_perm(unsigned low, unsigned high, unsigned places) {
    uint64_t bytes = (uint64_t)high << 32 | low;
    unsigned all = 0;
    for (int k = 0; k < 4; k++) all |= (unsigned)(bytes >> 8 * (places >> 4 * k & 7) & 0xff) << 8 * k;
    return all;
}
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __clz(int v) { return v ? __builtin_clz(v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
inline long long __double_as_longlong(double v) { return emulated::value_of<long long>(emulated::bits(v)); }
inline double __longlong_as_double(long long v) { return emulated::value_of<double>(emulated::bits(v)); }
inline unsigned __float_as_uint(float v) { return emulated::value_of<unsigned>(emulated::bits(v)); }
inline float __uint_as_float(unsigned v) { return emulated::value_of<float>(emulated::bits(v)); }
inline float __double2float_ru(double v) { return (float)v < v ? std::nextafterf((float)v, INFINITY) : (float)v; }
inline float __double2float_rd(double v) { return (float)v > v ? std::nextafterf((float)v, -INFINITY) : (float)v; }

template <class A, class B> auto min(A a, B b) -> decltype(a + b) { return a < b ? a : b; }
template <class A, class B> auto max(A a, B b) -> decltype(a + b) { return a > b ? a : b; }
using std::fabs, std::floor, std::ceil, std::sqrt, std::log, std::exp, std::erfc, std::fma, std::isnan, std::isinf;
