#!/usr/bin/env bash
# C. Hagedorn's dissertation (2023), experiments that no other paper has:
# - tables 4.2, from R, and 4.3;
# - table 6.6 by numbers of threads (cupc.sh runs it with 64) and table 6.9, both also from R;
# - levels 0 and 1 of figures 6.2 to 6.4, and how busy their kernels keep the GPU;
# - tables 6.17 and 6.18: blocks and unified memory, by size and on data of TCGA's shape, all within the GPU's memory. They run on one GPU, and on up to four if there are several.
. "$(dirname "$0")/common.sh"

for name in nci60 mcc saureus br51 scerevisiae; do run "table-4.3--$name" search_times "$data/$name.csv.gz" 0.01 stable.fast 2 cuda shared; done
for name in nci60 mcc saureus dream5 br51 scerevisiae; do
  run "table-6.6--$name" search_times "$data/$name.csv.gz" 0.05 stable 2 cuda shared,gpucsl:128,gpucsl:32
  run "figure-6.3--$name" search_times "$data/$name.csv.gz" 0.01 stable 3 cuda shared,gpucsl:64 1
done

run "table-6.9--alarm-10000" discrete_cuda "$data/alarm-10000.csv.gz" chi2 0.05 shared,gpucsl:1:2:64 4 inf no
run "table-6.9--link-20000" discrete_cuda "$data/link-20000.csv.gz" chi2 0.05 shared,gpucsl:1:2:64 2 inf no
# The paper's program stops there after level 3.
run_within 25 "table-6.9--munin-20000" discrete_cuda "$data/munin-20000.csv.gz" chi2 0.05 shared,gpucsl:1:2:64 2 3 no

# pc() and orient() from R; and the numbers of tests, on the CPU, from correlations by R's cor(), as in the thesis. The correlations of five pairs of equal columns of MCC are 1 or
# nearly so. search_times rounds them in another way, and makes 21,897,790 tests instead of 21,950,296. These runs need no GPU.
if "$programs/end_to_end" --there; then
  for name in nci60 mcc saureus br51 scerevisiae; do run_within 60 "table-4.2--$name" end_to_end "$data/$name.csv.gz" counts 0.01 inf; done
  for name in nci60 mcc saureus dream5 br51 scerevisiae; do run_within 40 "end-to-end--$name" end_to_end "$data/$name.csv.gz" gauss 0.05 inf; done
  for name in alarm-10000 link-20000; do run_within 60 "end-to-end--$name" end_to_end "$data/$name.csv.gz" chi2 0.05 inf; done
  run_within 90 "end-to-end--munin-20000" end_to_end "$data/munin-20000.csv.gz" chi2 0.05 3
elif is_wanted "end-to-end"; then
  leave_out "end-to-end" "no R with pcgpu here: tables 4.2, 6.6 and 6.9 from R are not run (CONTRIBUTING.md says how it gets here)"
fi

# Data like those of gene expression, a quarter of whose pairs stay at level 0: the matrix as a whole, in managed memory, in blocks. The times at which levels began tell level 0
# from level 1. With 80,000 variables the matrix has 51 GB, and level 1 some 78 in all.
for p in 5000 10000 20000 30000 40000; do
  run_within 50 "table-6.17--$p" search_times "dense:$p,100,0.5,1" 0.01 stable 1 cuda shared,managed,rows=2048 1 compact
done

# alpha = 1: all edges stay at level 0.
for p in 10 100 300 1000 3000; do run "figure-6.2--$p--1" search_times "dense:$p,100,0.5,1" 1 stable 2 cuda shared,gpucsl:64 1; done
run_within 60 "figure-6.2--10000--1" search_times "dense:10000,100,0.5,1" 1 stable 1 cuda shared,gpucsl:64 1
for p in 10 100 1000 3000 10000 25000; do run_within 25 "figure-6.2--$p--0" search_times "dense:$p,100,0.5,1" 1 stable 2 cuda shared,gpucsl:64 0; done

# The figures of section 6.2.1 for sm_efficiency: 45 tests at level 0, 99,681 and 499,500; level 1 of 100 variables.
if "$programs/sm_efficiency" --there; then
  for shape in 10--0 447--0 1000--0 100--1; do
    for strategy in gpucsl:64 shared; do run_within 20 "sm-efficiency--$shape--${strategy%:*}" sm_efficiency "${shape%--*}" "${shape#*--}" $strategy; done
  done
elif is_wanted "sm-efficiency"; then
  leave_out "sm-efficiency" "no Nsight Compute (ncu) here: how busy kernels keep the GPU is not measured"
fi

# The longest runs come last. By the cube of the variables, level 1 of 25,000 takes ours half a minute, and theirs four.
run_within 90 "figure-6.2--25000--1" search_times "dense:25000,100,0.5,1" 1 stable 0 cuda shared 1
# With data of TCGA's shape, two thirds of the pairs stay at level 0.
for p in 50000 60000 70000 80000; do
  run_within 120 "table-6.17--$p" search_times "dense:$p,100,0.5,1" 0.01 stable 0 cuda shared,shared,managed,rows=2048 1 compact
done
run_within 220 "table-6.18--tcga" search_times dense:55572,3189,0.3,1 0.01 stable 0 cuda shared,managed,rows=2048 1 compact

# On two and more GPUs: each has the whole matrix, or they share managed memory or blocks. TCGA's shape, for which the thesis has one GPU and four, comes first, and the longest
# runs come last. 80,000 variables take more managed memory than a GPU of 80 GB has.
memory=$(nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits 2>/dev/null | sort -n | head -n 1)
on_cards() {
  local count device
  for ((count = cards; count >= 2; count--)); do
    device=cuda:$(seq -s + 0 $((count - 1)))
    run_within "$1" "$2--$count-cards" search_times "$3" 0.01 stable "$4" "$device" shared,managed,rows=2048 1 compact together ready
  done
}
on_cards 120 "table-6.18--tcga" dense:55572,3189,0.3,1 0
for p in 5000 10000 20000 30000 40000; do on_cards 40 "table-6.17--$p" "dense:$p,100,0.5,1" 1; done
for p in 50000 60000 70000; do on_cards 110 "table-6.17--$p" "dense:$p,100,0.5,1" 0; done
if [ "${memory:-0}" -gt 100000 ]; then on_cards 110 "table-6.17--80000" dense:80000,100,0.5,1 0; fi
