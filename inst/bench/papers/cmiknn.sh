#!/usr/bin/env bash
# GPU_CMIknn (Hagedorn and others 2022): single tests by neighbours, permutations, members of S and samples, by every strategy; searches on sparse graphs.
. "$(dirname "$0")/common.sh"

for part in k permutations sets n; do run "tests--$part" knn_cuda tests $part; done
for p in 100 250; do run "search--synthetic:$p" knn_cuda search synthetic:$p:1000 7 100 15 0.01; done
