#!/usr/bin/env bash
# On a GPU machine: repeats the papers' experiments with what `make papers` packed beside this script, and writes OUT/ (default ./papers-out): run.sh [OUT] [PAPER ...].
# Each paper has the seconds that are written here, some 40 minutes in all; whole runs took half an hour on one card. Where there are two cards, half of that, with half of the
# cores for each: CUDA_VISIBLE_DEVICES=0 taskset -c 0-15 run.sh OUT-0 cupc dissertation beside CUDA_VISIBLE_DEVICES=1 taskset -c 16-31 run.sh OUT-1 cmiknn, then
# run.sh OUT gpupc cuda-jmi, and what takes both cards, PAPERS_ONLY=cards run.sh OUT dissertation. table.R takes one OUT after the other. What R does is run where
# `.gpu/gpu-check.sh --only ""` of `make gpu-bundle` has unpacked R and the package. PAPERS_SECONDS bounds each paper in place of those seconds, PAPERS_LIMIT each run;
# PAPERS_ONLY, a regular expression, has only the runs PAPER/NAME that it matches, and leaves the others' logs as they are. Ends with 1 where a run failed, but not where its
# time was over.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-./papers-out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
declare -A seconds=([cupc]=330 [gpupc]=200 [dissertation]=980 [cmiknn]=800 [cuda-jmi]=200)
papers=("${@:2}")
if [ ${#papers[@]} = 0 ]; then papers=(cupc gpupc dissertation cmiknn cuda-jmi); fi
for paper in "${papers[@]}"; do
  PAPERS_SECONDS=${PAPERS_SECONDS:-${seconds[$paper]}} "$here/$paper.sh" "$here/bin" "$here/data" "$out"
done
cat "$out/left-out" 2>/dev/null
! grep -qs 'ended with' <(grep -vs 'ended with 124$' "$out/left-out")
