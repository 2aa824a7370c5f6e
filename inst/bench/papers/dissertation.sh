#!/usr/bin/env bash
# C. Hagedorn's dissertation (2023), chapter 6, what is in no other paper: table 6.6 by numbers of threads (with 64 cupc.sh runs it), table 6.9, and levels 0 and 1 of
# figure 6.2 by number of variables.
. "$(dirname "$0")/common.sh"

repeats=${PAPERS_REPEATS:-3}

for name in nci60 mcc saureus dream5; do
  for strategy in shared gpucsl:32 gpucsl:128; do
    run "table-6.6--$name--$strategy" search_times "$data/$name.csv.gz" 0.05 stable "$repeats" cuda $strategy
  done
done

for name in alarm-10000 link-20000 munin-20000; do
  last=inf
  # The paper's program goes no further there.
  if [ $name = munin-20000 ]; then last=3; fi
  for strategy in shared gpucsl:1:2:64; do
    run "table-6.9--$name--$strategy" discrete_cuda "$data/$name.csv.gz" chi2 0.05 $strategy 3 $last no
  done
done

# alpha = 1: all edges stay at level 0.
for p in 100 300 1000 2000; do
  for strategy in shared gpucsl:64; do
    run "figure-6.2--dense:$p--$strategy" search_times "dense:$p,100,0.5,1" 1 stable 2 cuda $strategy 1
  done
done
