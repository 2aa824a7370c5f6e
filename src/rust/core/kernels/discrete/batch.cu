// p-values of arbitrary questions (x, y, S) of discrete variables, for the conservative and majority rules.
#include "discrete/strata.cuh"

// Answers the questions, a block each. The answer is -1 if the CPU must decide.
extern "C" __global__ void __launch_bounds__(COUNTING_THREADS, COUNTING_BLOCKS) dis_batch(const __grid_constant__ Discrete d) {
    const Args& a = d.a;
    Bench b(d);
    for (u64 i = blockIdx.x; i < a.count; i += gridDim.x) {
        const u64 start = i ? a.set_ends[i - 1] : 0;
        const u32 l = (u32)(a.set_ends[i] - start), x = a.pairs[2 * i];
        __syncthreads();
        for (u32 m = threadIdx.x; m < l; m += COUNTING_THREADS) b.set()[m] = a.sets[start + m];
        if (threadIdx.x == 0) b.other()[0] = a.pairs[2 * i + 1];
        __syncthreads();
        count_all<false>(d, b, x, l, 1);
        if (threadIdx.x == 0) {
            Judgement found = judge_other(d, b, x, l, 0);
            a.answers[i] = found.says == UNSURE ? -1.0 : found.p;
        }
    }
}
