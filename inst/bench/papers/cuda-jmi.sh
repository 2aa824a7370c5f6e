#!/usr/bin/env bash
# CUDA-JMI (Gonzalez-Dominguez and others 2019): selections on data of the shapes of its five sets, by its own scheme and ours.
. "$(dirname "$0")/common.sh"

for shape in "24481 97 2" "27679 90 43" "47236 20242 2" "62061 15935 20" "3072 531131 10"; do
  # shellcheck disable=SC2086
  run "tables-4-to-6--${shape// /x}" selection $shape 64 200 repeats=2
done
# shellcheck disable=SC2086
run "tables-4-to-6--24481x97x2--joined" selection 24481 97 2 64 200 repeats=2 joined=8
