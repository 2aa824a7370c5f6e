// The nearest-neighbour test in double precision: see knn/pairs.cuh.
#include "knn/pairs.cuh"

extern "C" __global__ void __launch_bounds__(KNN_THREADS) knn_neighbours_d(const KnnArgs args) { neighbours_of<double>(args); }

extern "C" __global__ void __launch_bounds__(KNN_THREADS) knn_permute_d(const KnnArgs args) { permute<double>(args); }

// Bounds for twice the threads make the compiler keep to fewer registers.
#define SUMS(NAME, ITEMS)                                                                       \
    extern "C" __global__ void __launch_bounds__(2 * KNN_THREADS, 1) NAME(const KnnArgs args) { \
        extern __shared__ i64 shared[];                                                         \
        sums_of<double, ITEMS>(args, shared);                                                   \
    }

SUMS(knn_sums_d2, 2)
SUMS(knn_sums_d8, 8)
SUMS(knn_sums_d16, 16)
SUMS(knn_sums_d32, 32)
SUMS(knn_sums_d0, 0)

extern "C" __global__ void __launch_bounds__(PAPER_THREADS) knn_paper_d(const KnnArgs args) { paper_sums<double, LISTED>(args); }

extern "C" __global__ void __launch_bounds__(PAPER_THREADS) knn_paper_long_d(const KnnArgs args) { paper_sums<double, LONG_LISTED>(args); }
