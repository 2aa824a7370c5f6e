// The graph after level 0.
#pragma once
#include "search/args.cuh"

// The verdict of a test given the empty set. If neither holds, the edge goes, and there is no separating set.
struct Marginal {
    bool separates, depends;
};

// A warp's counts of pairs that were tested, and of tested pairs that the graph lacks, in its first lane.
struct Counts { u64 tested, removed; };

// Makes word w of the bit row of y, and sets p_max of untested pairs to `mark`. A lane takes one of 32 vertices x below y, and the warp's
// ballot is the word. `judge(y, x, p_max)` judges a tested pair, and writes its p unless `p_max` is null.
template <class Judge> __device__ __forceinline__ void make_word(const Args& a, u64 y, u64 w, Counts& counts, Judge judge) {
    const u32 lane = lane_id();
    const u64 at = y * a.words + w, x = 32 * w + lane;
    if (32 * w > y) {
        if (lane == 0) a.empty[at] = 0;
        return;
    }
    const bool below = x < y;
    const u32 may = a.start ? a.start[at] : FULL, fix = a.fixed ? a.fixed[at] : 0;
    const bool tested = below && (may & ~fix) >> lane & 1;
    double* cell = a.p_max ? a.p_max + y * (y - 1) / 2 + x : nullptr;
    Marginal found{false, false};
    if (tested) found = judge(y, x, cell);
    else if (below && cell) *cell = a.mark;
    u32 tested_word = __ballot_sync(FULL, tested), empty_word = __ballot_sync(FULL, found.separates);
    u32 kept = __ballot_sync(FULL, found.depends), in_triangle = __ballot_sync(FULL, below);
    if (lane == 0) {
        // A fixed edge of "stable.fast" stays even if a gap was requested for its pair.
        a.graph[at] = kept | (fix & in_triangle & (a.fast ? FULL : may));
        a.empty[at] = empty_word;
        counts.tested += __popc(tested_word);
        counts.removed += __popc(tested_word & ~kept);
    }
}

__device__ __forceinline__ void report_counts(const Args& a, const Counts& counts) {
    if (lane_id() == 0 && counts.tested) {
        atomicAdd(&a.report->tests, counts.tested);
        atomicAdd(&a.report->removed, counts.removed);
    }
}

// Makes the lower triangle of the graph, rows first_row to end_row - 1.
template <class Judge> __device__ __forceinline__ void make_graph(const Args& a, Judge judge) {
    Counts counts{0, 0};
    const u64 first = a.first_row * a.words;
    for (u64 i : by_warp((a.end_row - a.first_row) * a.words)) {
        make_word(a, (first + i) / a.words, (first + i) % a.words, counts, judge);
    }
    report_counts(a, counts);
}
