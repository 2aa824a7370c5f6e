#!/usr/bin/env bash
# cuPC (Zarebavani and others 2020): table 2 by every strategy, whose levels are figure 6; the numbers of rows in which sets are tested, figure 9; figure 10, on the paper's own model;
# the configurations of figures 7 and 8, two of which are figure 5's other programs.
. "$(dirname "$0")/common.sh"

all=shared,edge:2:32,gpucsl:64,set:64:2
for name in nci60 mcc saureus dream5 br51; do run_within 15 "table-2--$name" search_times "$data/$name.csv.gz" 0.05 stable 3 cuda $all; done
run_within 30 "table-2--scerevisiae" search_times "$data/scerevisiae.csv.gz" 0.05 stable 2 cuda $all

# The graph that level 2 begins with.
for name in dream5 nci60 mcc saureus; do run "figure-9--$name" search_times "$data/$name.csv.gz" 0.05 stable 0 cuda shared 1 redundant; done

# N,samples,density. The paper does not give its alpha.
for shape in 1000,10000,0.1 2000,10000,0.1 1000,2000,0.1 1000,10000,0.5 3000,10000,0.1 1000,6000,0.1 1000,10000,0.3 4000,10000,0.1 1000,4000,0.1 1000,8000,0.1 \
  1000,10000,0.2 1000,10000,0.4; do
  run_within 60 "figure-10--$shape" search_times "cupc:$shape,1" 0.05 stable 1 cuda $all
done

edges=
for product in 32 64 128 256; do
  for ((beta = 1; beta <= product; beta *= 2)); do edges+=,edge:$beta:$((product / beta)); done
done
sets=
for theta in 32 64 128 256; do
  for delta in 1 2 4 8; do sets+=,set:$theta:$delta; done
done
run_within 15 "figure-7--nci60" search_times "$data/nci60.csv.gz" 0.05 stable 2 cuda shared,shared$edges
run_within 15 "figure-8--nci60" search_times "$data/nci60.csv.gz" 0.05 stable 1 cuda shared,shared$sets
# The configurations that the paper discusses.
run_within 15 "figure-7--dream5" search_times "$data/dream5.csv.gz" 0.05 stable 0 cuda shared,shared,set:64:2,edge:2:32,edge:4:64,edge:4:8,edge:1:256,edge:1:128,edge:256:1
run_within 15 "figure-7--br51" search_times "$data/br51.csv.gz" 0.05 stable 0 cuda shared,shared$edges
run_within 15 "figure-8--br51" search_times "$data/br51.csv.gz" 0.05 stable 0 cuda shared,shared$sets
run_within 25 "figure-7--mcc" search_times "$data/mcc.csv.gz" 0.05 stable 0 cuda shared,shared$edges
run_within 25 "figure-8--mcc" search_times "$data/mcc.csv.gz" 0.05 stable 0 cuda shared,shared$sets
run_within 30 "figure-7--saureus" search_times "$data/saureus.csv.gz" 0.05 stable 0 cuda shared,shared$edges
run_within 15 "figure-8--saureus" search_times "$data/saureus.csv.gz" 0.05 stable 0 cuda shared,shared$sets
run_within 15 "figure-8--dream5" search_times "$data/dream5.csv.gz" 0.05 stable 0 cuda shared,shared$sets
run_within 30 "figure-7--scerevisiae" search_times "$data/scerevisiae.csv.gz" 0.05 stable 0 cuda shared,shared,edge:2:32,edge:256:1,edge:1:256,edge:1:32,edge:32:1,edge:8:32
run_within 15 "figure-8--scerevisiae" search_times "$data/scerevisiae.csv.gz" 0.05 stable 0 cuda shared,shared,set:64:2,set:32:1,set:32:8,set:256:1,set:256:8
