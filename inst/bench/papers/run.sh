#!/usr/bin/env bash
# On a GPU machine: repeats the papers' experiments with what `make papers` packed beside this script, and writes OUT/ (default ./papers-out): run.sh [OUT] [PAPER ...].
# Each paper has the seconds that are written here; all need 24 minutes at most, half of that where there are two cards: CUDA_VISIBLE_DEVICES=0 run.sh OUT cupc dissertation
# beside CUDA_VISIBLE_DEVICES=1 run.sh OUT cmiknn, each into a folder of its own, then run.sh OUT gpupc cuda-jmi. PAPERS_SECONDS bounds each in their place, PAPERS_LIMIT each run.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-./papers-out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cp "$here/version" "$out/version"
declare -A seconds=([cupc]=330 [gpupc]=200 [dissertation]=300 [cmiknn]=450 [cuda-jmi]=150)
papers=("${@:2}")
if [ ${#papers[@]} = 0 ]; then papers=(cupc gpupc dissertation cmiknn cuda-jmi); fi
for paper in "${papers[@]}"; do
  # What an earlier call into this folder said of the paper.
  for file in left-out seconds; do if [ -f "$out/$file" ]; then sed -i "/\(^\| \)$paper\//d" "$out/$file"; fi; done
  PAPERS_SECONDS=${PAPERS_SECONDS:-${seconds[$paper]}} "$here/$paper.sh" "$here/bin" "$here/data" "$out"
done
cat "$out/left-out" 2>/dev/null
exit 0
