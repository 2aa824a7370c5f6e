#!/usr/bin/env bash
# On a GPU machine: repeats the papers' experiments with what `make papers` packed beside this script, and writes OUT/ (default ./papers-out): run.sh [OUT] [PAPER ...].
# Each paper has the seconds that are written here; all need twenty minutes at most. PAPERS_SECONDS bounds each in their place, PAPERS_LIMIT each run.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-./papers-out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cp "$here/version" "$out/version"
declare -A seconds=([cupc]=280 [gpupc]=200 [dissertation]=110 [cmiknn]=450 [cuda-jmi]=90)
papers=("${@:2}")
if [ ${#papers[@]} = 0 ]; then papers=(cupc gpupc dissertation cmiknn cuda-jmi); fi
for paper in "${papers[@]}"; do
  # What an earlier call into this folder said of the paper.
  for file in left-out seconds; do if [ -f "$out/$file" ]; then sed -i "/\(^\| \)$paper\//d" "$out/$file"; fi; done
  PAPERS_SECONDS=${PAPERS_SECONDS:-${seconds[$paper]}} "$here/$paper.sh" "$here/bin" "$here/data" "$out"
done
cat "$out/left-out" 2>/dev/null
exit 0
