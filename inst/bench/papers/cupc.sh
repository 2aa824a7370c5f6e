#!/usr/bin/env bash
# cuPC (Zarebavani and others 2020): table 2 by every strategy; the configurations of figures 7 and 8; growth with variables, samples and density as in figure 10.
. "$(dirname "$0")/common.sh"

repeats=${PAPERS_REPEATS:-3}
search() { run "$1" search_times "$2" "$3" stable "$4" cuda "$5"; }

for name in nci60 mcc dream5 saureus; do
  for strategy in shared edge:2:32 gpucsl:64 set:64:2; do
    times=$repeats
    # Ten seconds each on an H200.
    if [ $name-$strategy = saureus-set:64:2 ]; then times=1; fi
    search "table-2--$name--$strategy" "$data/$name.csv.gz" 0.05 "$times" $strategy
  done
done

# The paper's own models take hours: theirs are dense, ours have so many neighbours in the mean.
for shape in 1000,500,3 2000,500,3 4000,500,3 1000,2000,3 1000,8000,3 1000,500,6; do
  for strategy in shared edge:2:32 set:64:2 gpucsl:64; do
    search "figure-10--sim:$shape--$strategy" "sim:$shape,1" 0.01 2 $strategy
  done
done

for name in nci60 mcc; do
  for beta in 1 2 4 8 16 32 64 128 256; do
    for gamma in 1 2 4 8 16 32 64 128 256; do
      if [ $((beta * gamma)) -lt 32 ] || [ $((beta * gamma)) -gt 256 ]; then continue; fi
      search "figure-7--$name--edge:$beta:$gamma" "$data/$name.csv.gz" 0.05 2 edge:$beta:$gamma
    done
  done
  for theta in 32 64 128 256; do
    for delta in 1 2 4 8; do
      search "figure-8--$name--set:$theta:$delta" "$data/$name.csv.gz" 0.05 2 set:$theta:$delta
    done
  done
done
