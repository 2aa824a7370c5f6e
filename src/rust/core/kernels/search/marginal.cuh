// The graph after level 0.
#pragma once
#include "search/args.cuh"

// The verdict of a test given the empty set. If neither holds, the edge goes, and there is no separating set.
struct Marginal {
    bool separates, depends;
};

// Counts of pairs that were tested, and of tested pairs that the graph lacks.
struct Counts { u64 tested, removed; };

// The pairs of y with the vertices of a word: the smaller ones, those that may be adjacent at all, and those that are never tested.
struct WordPairs {
    u32 below, may, fix;
    __device__ __forceinline__ u32 tested() const { return below & may & ~fix; }
};

__device__ __forceinline__ WordPairs pairs_of_word(const Args& a, u64 y, u64 w) {
    const u64 at = y * a.words + w;
    const u32 below = 32 * w >= y ? 0 : y - 32 * w >= 32 ? FULL : (1u << (y - 32 * w)) - 1;
    return {below, a.start ? a.start[at] : FULL, a.fixed ? a.fixed[at] : 0};
}

// Writes word w of the bit rows of y: of the tested pairs, the empty set separates some, and some stay.
__device__ __forceinline__ void write_word(const Args& a, u64 y, u64 w, WordPairs pairs, u32 separated, u32 kept, Counts& counts) {
    const u64 at = y * a.words + w;
    // A fixed edge of "stable.fast" stays even if a gap was requested for its pair.
    a.graph[at] = kept | (pairs.fix & pairs.below & (a.fast ? FULL : pairs.may));
    a.empty[at] = separated;
    counts.tested += __popc(pairs.tested());
    counts.removed += __popc(pairs.tested() & ~kept);
}

// Makes word w of the bit row of y, and sets p_max of untested pairs to `mark`. A lane takes one of 32 vertices x below y, and the warp's
// ballot is the word. `judge(y, x, p_max)` judges a tested pair, and writes its p unless `p_max` is null.
template <class Judge> __device__ __forceinline__ void make_word(const Args& a, u64 y, u64 w, Counts& counts, Judge judge) {
    const u32 lane = lane_id();
    const u64 x = 32 * w + lane;
    if (32 * w > y) {
        if (lane == 0) a.empty[y * a.words + w] = 0;
        return;
    }
    const WordPairs pairs = pairs_of_word(a, y, w);
    const bool tested = pairs.tested() >> lane & 1;
    double* cell = a.p_max ? a.p_max + y * (y - 1) / 2 + x : nullptr;
    Marginal found{false, false};
    if (tested) found = judge(y, x, cell);
    else if (x < y && cell) *cell = a.mark;
    const u32 separated = __ballot_sync(FULL, found.separates), kept = __ballot_sync(FULL, found.depends);
    if (lane == 0) write_word(a, y, w, pairs, separated, kept, counts);
}

// Adds the counts of all lanes to the report; all lanes call it.
__device__ __forceinline__ void report_counts(const Args& a, const Counts& counts) {
    const u64 tested = warp_sum(counts.tested), removed = warp_sum(counts.removed);
    if (lane_id() == 0 && tested) {
        atomicAdd(&a.report->tests, tested);
        atomicAdd(&a.report->removed, removed);
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
