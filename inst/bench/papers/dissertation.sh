#!/usr/bin/env bash
# C. Hagedorn's dissertation (2023), chapter 6, what is in no other paper: table 6.6 by numbers of threads (with 64 cupc.sh runs it), table 6.9, levels 0 and 1 of figures
# 6.2 and 6.3, and table 6.17: blocks and unified memory, by size, all within the card's memory.
. "$(dirname "$0")/common.sh"

for name in nci60 mcc saureus dream5 br51 scerevisiae; do
  run "table-6.6--$name" search_times "$data/$name.csv.gz" 0.05 stable 2 cuda shared,gpucsl:128,gpucsl:32
  run "figure-6.3--$name" search_times "$data/$name.csv.gz" 0.01 stable 3 cuda shared,gpucsl:64 1
done

run "table-6.9--alarm-10000" discrete_cuda "$data/alarm-10000.csv.gz" chi2 0.05 shared,gpucsl:1:2:64 4 inf no
run "table-6.9--link-20000" discrete_cuda "$data/link-20000.csv.gz" chi2 0.05 shared,gpucsl:1:2:64 2 inf no
# The paper's program goes no further there than level 3.
run_within 25 "table-6.9--munin-20000" discrete_cuda "$data/munin-20000.csv.gz" chi2 0.05 shared,gpucsl:1:2:64 2 3 no

# Data like those of gene expression, two thirds of whose pairs stay at level 0: the matrix as a whole, in blocks, in managed memory. 12.8 GB are the largest.
sizes() {
  local p last
  for p in "$@"; do
    for last in 0 1; do
      run_within 40 "table-6.17--$p--$last--unified" search_times "dense:$p,100,0.5,1" 0.01 stable 1 cuda shared $last compact unified
      run_within 40 "table-6.17--$p--$last--blocks" search_times "dense:$p,100,0.5,1" 0.01 stable 1 cuda shared $last compact block=2048
    done
  done
}
sizes 5000 10000 20000

# alpha = 1: all edges stay at level 0.
for p in 100 300 1000; do run "figure-6.2--$p--1" search_times "dense:$p,100,0.5,1" 1 stable 2 cuda shared,gpucsl:64 1; done
for p in 100 1000 3000 10000; do run "figure-6.2--$p--0" search_times "dense:$p,100,0.5,1" 1 stable 2 cuda shared,gpucsl:64 0; done

# What takes longest comes last.
sizes 30000 40000
