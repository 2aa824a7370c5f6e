// The nearest-neighbour test by planes: see knn/planes.cuh.
#include "knn/planes.cuh"

extern "C" __global__ void __launch_bounds__(DRAWING_THREADS) knn_draw_p(const KnnArgs args) {
    extern __shared__ uint4 shared[];
    draw_permutations<u16>(args, (u64 *)shared);
}

extern "C" __global__ void __launch_bounds__(KNN_THREADS) knn_permute_p(const KnnArgs args) { permute_by_place(args); }

extern "C" __global__ void __launch_bounds__(KNN_THREADS) knn_planes(const KnnArgs args) { make_planes(args, (u32)args.ranges); }

extern "C" __global__ void __launch_bounds__(KNN_THREADS) knn_slots(const KnnArgs args) { make_slots(args, (u32)args.ranges); }

#define SUMS(DIMS, SHARED, SLOTS)                                                                             \
    extern "C" __global__ void __launch_bounds__(most_team_threads((u64)DIMS), 1) SHARED(const KnnArgs args) {\
        extern __shared__ uint4 shared[];                                                                     \
        sums_in_shared<DIMS>(args, (char *)shared);                                                           \
    }                                                                                                         \
    extern "C" __global__ void __launch_bounds__(SLOT_THREADS, 1) SLOTS(const KnnArgs args) { sums_in_slots<DIMS>(args); }

SUMS(0, knn_shared_0, knn_slots_0)
SUMS(1, knn_shared_1, knn_slots_1)
SUMS(2, knn_shared_2, knn_slots_2)
SUMS(3, knn_shared_3, knn_slots_3)
SUMS(-1, knn_shared_more, knn_slots_more)
