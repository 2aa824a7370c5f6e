#!/usr/bin/env bash
# On a GPU machine: repeats the papers' experiments with what `make papers` packed beside this script, and writes OUT/ (default ./papers-out): run.sh [OUT] [PAPER ...].
# Each paper has the seconds that are written here; all took half an hour on one card. Where there are two, half of that: CUDA_VISIBLE_DEVICES=0 run.sh OUT cupc dissertation
# beside CUDA_VISIBLE_DEVICES=1 run.sh OUT cmiknn, each into a folder of its own, then run.sh OUT gpupc cuda-jmi, and what takes both cards,
# PAPERS_ONLY=cards run.sh OUT dissertation. What R does is run where `.gpu/gpu-check.sh --only ""` of `make gpu-bundle` has unpacked R and the package. PAPERS_SECONDS bounds
# each paper in their place, PAPERS_LIMIT each run; PAPERS_ONLY, a regular expression, has only the runs PAPER/NAME that it matches, and leaves the others' logs as they are.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-./papers-out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
declare -A seconds=([cupc]=330 [gpupc]=200 [dissertation]=900 [cmiknn]=800 [cuda-jmi]=200)
papers=("${@:2}")
if [ ${#papers[@]} = 0 ]; then papers=(cupc gpupc dissertation cmiknn cuda-jmi); fi
for paper in "${papers[@]}"; do
  PAPERS_SECONDS=${PAPERS_SECONDS:-${seconds[$paper]}} "$here/$paper.sh" "$here/bin" "$here/data" "$out"
done
cat "$out/left-out" 2>/dev/null
exit 0
