#!/usr/bin/env bash
# GPU_CMIknn (Hagedorn and others 2022): single tests by neighbours, permutations, members of S and samples; searches on sparse graphs of 100 to 1,000 variables and real
# data, on denser ones of 10 to 50, on mixed data; and how far graphs are from the truth by k.
. "$(dirname "$0")/common.sh"

for part in k permutations sets n; do run_within 30 "tests--$part" knn_cuda tests $part; done
run_within 120 "table-5" knn_graphs time p=10,20,30,40,50 k=7,20,200 graphs=1 limit=13 strategies=shared,parallel,single,cpu
for shape in 100 250 500; do run "table-10--$shape" knn_cuda search synthetic:$shape:1000 7 100 15 0.01; done
for name in nci60 mcc; do run "table-10--$name" knn_cuda search "$data/$name.csv.gz" 7 100 15 0.01; done
run_within 110 "figure-1" knn_graphs quality p=20 k=7,20,30,50,75,100,150,200 graphs=50 strategies=shared
run_within 50 "table-6.16" knn_graphs time p=20 k=7 share=0,0.2,0.4,0.6,0.8,1 graphs=1 limit=7 strategies=shared,parallel,single,cpu
run_within 25 "table-10--1000" knn_cuda search synthetic:1000:1000 7 100 15 0.01
run_within 20 "table-10--100--parallel" knn_cuda search synthetic:100:1000 7 100 15 0.01 strategy=parallel
run_within 20 "table-10--750" knn_cuda search synthetic:750:1000 7 100 15 0.01
run_within 60 "table-10--100--single" knn_cuda search synthetic:100:1000 7 100 15 0.01 strategy=single
