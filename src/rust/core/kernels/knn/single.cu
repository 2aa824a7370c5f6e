// The nearest-neighbour test in single precision, which holds whole numbers exactly: see knn/pairs.cuh.
#include "knn/pairs.cuh"

extern "C" __global__ void __launch_bounds__(KNN_THREADS) knn_neighbours_f(const KnnArgs args) { neighbours_of<float>(args); }

extern "C" __global__ void __launch_bounds__(DRAWING_THREADS) knn_draw(const KnnArgs args) {
    extern __shared__ uint4 shared[];
    draw_permutations<u32>(args, (u64 *)shared);
}

extern "C" __global__ void __launch_bounds__(KNN_THREADS) knn_vote(const KnnArgs args) { vote(args); }

extern "C" __global__ void __launch_bounds__(KNN_THREADS) knn_permute_f(const KnnArgs args) { permute<float>(args); }

extern "C" __global__ void __launch_bounds__(PAPER_THREADS) knn_paper_f(const KnnArgs args) { paper_sums<float, LISTED>(args); }

extern "C" __global__ void __launch_bounds__(PAPER_THREADS) knn_paper_long_f(const KnnArgs args) { paper_sums<float, LONG_LISTED>(args); }
