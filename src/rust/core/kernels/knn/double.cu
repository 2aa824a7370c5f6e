// The nearest-neighbour test in double precision: see knn/pairs.cuh.
#include "knn/pairs.cuh"

extern "C" __global__ void __launch_bounds__(128) knn_neighbours_d(const KnnArgs args) { neighbours_of<double>(args); }

extern "C" __global__ void __launch_bounds__(128) knn_permute_d(const KnnArgs args) { permute<double>(args); }

#define SUMS(NAME, ITEMS, THREADS)                                               \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) NAME(const KnnArgs args) { \
        extern __shared__ i64 shared[];                                          \
        sums_of<double, ITEMS>(args, shared);                                       \
    }

SUMS(knn_sums_d2, 2, 256)
SUMS(knn_sums_d8, 8, 256)
SUMS(knn_sums_d16, 16, 256)
SUMS(knn_sums_d32, 32, 256)
SUMS(knn_sums_d0, 0, 256)

extern "C" __global__ void __launch_bounds__(32) knn_paper_d(const KnnArgs args) { paper_sums<double>(args); }
