#!/usr/bin/env bash
# gpuPC (Hagedorn and Huegle 2021): table 3 by every strategy, and the sweeps of table 2 on problems whose edges all stay at level 1 (see discrete_cuda's
# `circle`; a degree d makes 2 (d - 1) tests of an edge), where the paper forces numbers of tests and of edges; numbers of threads; alphas and levels.
. "$(dirname "$0")/common.sh"

all=shared,gpucsl:1:2:64,edge:2:32
# discrete SECONDS NAME SOURCE ALPHA STRATEGIES REPEATS LAST
discrete() { run_within "$1" "$2" discrete_cuda "$3" chi2 "$4" "$5" "$6" "$7" no; }

for name in andes-20000 alarm-200000 link-20000; do discrete 20 "table-3--$name" "$data/$name.csv.gz" 0.01 $all 3 inf; done

# N:samples:levels:degree, one of which varies.
for shape in 1000:10000:4:16 1000:10000:2:16 1000:10000:8:16 50:10000:4:16 50:100000:4:16 50:1000000:4:16 200:10000:4:2 200:10000:4:10 200:10000:4:16 200:10000:4:66 \
  4000:10000:4:16 1000:10000:10:16 1000:10000:20:16 50:500000:4:16 50:50000:4:16 2000:10000:4:16 8000:10000:4:16 200:10000:4:4; do
  discrete 45 "table-2--$shape" "circle:$shape" 0.01 shared,$all 4 inf
done

# The numbers of edges, tests and threads of gpuPC, which the paper tuned on settings that it does not name; other alphas and last levels.
numbers=
for triple in 1:1:32 1:1:64 1:1:128 1:1:256 1:2:32 1:2:128 1:4:32 1:4:64 1:8:32 2:1:64 2:2:64 2:4:32 4:1:64; do numbers+=,gpucsl:$triple; done
discrete 12 "numbers--andes-20000" "$data/andes-20000.csv.gz" 0.01 shared,gpucsl:1:2:64$numbers 2 inf
for alpha in 0.001 0.05 0.1; do discrete 10 "alphas--andes-20000--$alpha" "$data/andes-20000.csv.gz" $alpha $all 2 inf; done
for last in 0 1 2 3; do discrete 10 "levels--andes-20000--$last" "$data/andes-20000.csv.gz" 0.01 $all 2 $last; done

discrete 40 "table-3--munin-20000" "$data/munin-20000.csv.gz" 0.01 shared,shared,gpucsl:1:2:64,edge:2:32 1 inf
