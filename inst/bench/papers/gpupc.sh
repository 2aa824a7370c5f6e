#!/usr/bin/env bash
# gpuPC (Hagedorn and Huegle 2021): table 3 by every strategy, and the sweeps of table 2 on problems whose edges all stay at level 1 (see discrete_cuda's
# `circle`); the paper forces numbers of tests and of edges instead.
. "$(dirname "$0")/common.sh"

repeats=$((${PAPERS_REPEATS:-3} + 1))
discrete() { run "$1" discrete_cuda "$2" chi2 "$3" "$4" "$5" "$6" no; }

for name in alarm-200000 andes-20000 link-20000 munin-20000; do
  for strategy in shared edge:2:32 gpucsl:1:2:64; do
    discrete "table-3--$name--$strategy" "$data/$name.csv.gz" 0.01 $strategy "$repeats" inf
  done
done

# N:samples:levels:degree, one of which varies.
for shape in 1000:10000:4:32 2000:10000:4:32 4000:10000:4:32 8000:10000:4:32 1000:10000:2:32 1000:10000:8:32 1000:10000:10:32 1000:10000:20:32 \
  200:50000:4:32 200:100000:4:32 200:500000:4:32 200:1000000:4:32 1000:10000:4:2 1000:10000:4:6 1000:10000:4:16 1000:10000:4:128; do
  for strategy in shared edge:2:32 gpucsl:1:2:64; do
    discrete "table-2--circle:$shape--$strategy" "circle:$shape" 0.01 $strategy 3 inf
  done
done

# The numbers of threads, tests and edges of gpuPC, which the paper tuned on settings that it does not name.
for numbers in 1:1:32 1:1:64 1:1:128 1:1:256 1:2:32 1:2:128 1:4:32 1:4:64 1:8:32 2:1:64 2:2:64 2:4:32 4:1:64; do
  discrete "numbers--link-20000--gpucsl:$numbers" "$data/link-20000.csv.gz" 0.01 gpucsl:$numbers 2 inf
done
