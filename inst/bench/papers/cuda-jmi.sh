#!/usr/bin/env bash
# CUDA-JMI (Gonzalez-Dominguez and others 2020): selections on data of the shapes of its five sets, by its own scheme (CPUs join, the card counts), ours and the CPU alone;
# maps in shared and in global memory; by bins, samples and features; on two cards where there are two.
. "$(dirname "$0")/common.sh"

# select_features SECONDS NAME FEATURES SAMPLES CLASSES BINS CHOSEN [WORD ...]
select_features() { run_within "$1" "$2" selection "${@:3}"; }

for of in "breastcancer 24481 97 2" "ecml 27679 90 43"; do
  read -r name features samples classes <<<"$of"
  select_features 15 "table-5--$name" "$features" "$samples" "$classes" 64 200 repeats=3 joined=16 cpu=16
  select_features 10 "figure-6--$name" "$features" "$samples" "$classes" 64 200 repeats=3 shared=0
done
for of in "rcv1train 47236 20242 2" "news20 62061 15935 20" "svhn 3072 531131 10"; do
  read -r name features samples classes <<<"$of"
  select_features 15 "table-5--$name" "$features" "$samples" "$classes" 64 200 repeats=2
done
for of in "rcv1train 47236 20242 2" "svhn 3072 531131 10"; do
  read -r name features samples classes <<<"$of"
  select_features 15 "chosen-20--$name" "$features" "$samples" "$classes" 64 20 repeats=2 joined=16 cpu=16
done
select_features 10 "figure-6--rcv1train" 47236 20242 2 64 20 repeats=2 shared=0
for bins in 128 256; do select_features 10 "bins--$bins" 24481 97 2 $bins 200 repeats=3; done
for features in 10000 20000 40000; do select_features 10 "features--$features" $features 1000 2 64 50 repeats=3; done
for samples in 1000 10000 100000; do select_features 10 "samples--$samples" 3072 $samples 2 64 50 repeats=3; done

if [ "$(nvidia-smi -L | wc -l)" -ge 2 ]; then
  for of in "breastcancer 24481 97 2" "ecml 27679 90 43" "rcv1train 47236 20242 2" "news20 62061 15935 20" "svhn 3072 531131 10"; do
    read -r name features samples classes <<<"$of"
    select_features 20 "cards--$name" "$features" "$samples" "$classes" 64 200 repeats=3 cards=0,1
  done
fi
