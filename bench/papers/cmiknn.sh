#!/usr/bin/env bash
# GPU_CMIknn (Hagedorn and others 2022): single tests by neighbours, permutations, members of S and samples; searches on sparse graphs of 100 to 1,000 variables and real
# data, on denser ones of 10 to 50, on mixed data; and how far graphs are from the truth by k.
. "$(dirname "$0")/common.sh"

# 20 tests a point.
for part in "k 40" "permutations 80" "sets 45" "n 110"; do
  read -r name seconds <<<"$part"
  run_within "$seconds" "tests--$name" knn_cuda tests "$name"
done
# Single tests that would take longer, by their own estimate, are left out, with that time.
run_within 260 "table-5" knn_graphs time p=10,20,30,40,50 k=7,20,200 graphs=1 limit=20 strategies=shared,parallel,single
run_within 320 "table-6.16" knn_graphs time p=20 k=7 share=0,0.2,0.4,0.6,0.8,1 graphs=1 limit=25 strategies=shared,parallel,single
# The worst cases of tests--n by theirs: from half a minute to minutes a test, as many as half a minute takes.
run_within 250 "tests--long-10000" knn_cuda tests long 10000
run_within 90 "tests--long-5000" knn_cuda tests long 5000
for shape in 100 250 500 750 1000; do run_within 25 "table-10--$shape" knn_cuda search synthetic:$shape:1000 7 100 15 0.01; done
for name in nci60 mcc br51; do run_within 15 "table-10--$name" knn_cuda search "$data/$name.csv.gz" 7 100 15 0.01; done
run_within 110 "figure-1" knn_graphs quality p=20 k=7,20,30,50,75,100,150,200 graphs=50 strategies=shared
# Theirs, where they take a minute at most.
for shape in 100 250; do run_within 80 "table-10--$shape--parallel" knn_cuda search synthetic:$shape:1000 7 100 15 0.01 strategy=parallel; done
run_within 60 "table-10--100--single" knn_cuda search synthetic:100:1000 7 100 15 0.01 strategy=single
for name in nci60 br51 mcc; do run_within 90 "table-10--$name--parallel" knn_cuda search "$data/$name.csv.gz" 7 100 15 0.01 strategy=parallel; done
# The CPU alone. Ours, which counts the tests, comes first. A search that would take more than PAPERS_CPU seconds, by its single tests, is left out.
cpu=${PAPERS_CPU:-65}
for share in 0 0.2 0.4 0.6 0.8 1; do
  run_late $((cpu + 25)) "table-6.16--cpu-$share" knn_graphs time p=20 k=7 "share=$share" graphs=1 "limit=$cpu" strategies=shared,cpu
done
for k in 7 20 200; do run_late $((4 * cpu)) "table-5--cpu-$k" knn_graphs time p=10,20,30,40,50 "k=$k" graphs=1 "limit=$cpu" strategies=shared,cpu; done
