// The nearest-neighbour test in single precision: see knn_body.cuh.
#include "knn_body.cuh"

extern "C" __global__ void __launch_bounds__(128) knn_neighbours_f(const KnnArgs args) { neighbours_of<float>(args); }

extern "C" __global__ void __launch_bounds__(128) knn_permute_f(const KnnArgs args) { permute<float>(args); }

#define SUMS(NAME, ITEMS, THREADS)                                               \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) NAME(const KnnArgs args) { \
        extern __shared__ i64 shared[];                                          \
        sums_of<float, ITEMS>(args, shared);                                       \
    }

SUMS(knn_sums_f2, 2, 256)
SUMS(knn_sums_f8, 8, 256)
SUMS(knn_sums_f16, 16, 256)
SUMS(knn_sums_f32, 32, 256)
SUMS(knn_sums_f0, 0, 256)

extern "C" __global__ void __launch_bounds__(32) knn_paper_f(const KnnArgs args) { paper_sums<float>(args); }
