#!/usr/bin/env bash
# On a GPU machine: repeats the papers' experiments with what `make papers` packed beside this script, and writes OUT/ (default ./papers-out): run.sh [OUT] [PAPER ...].
# PAPERS_SECONDS bounds each paper's runs.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-./papers-out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader >"$out/machine" 2>&1 || echo "no nvidia-smi" >"$out/machine"
cp "$here/version" "$out/version"
for paper in "${@:2}"; do
  "$here/$paper.sh" "$here/bin" "$here/data" "$out"
done
if [ $# -lt 2 ]; then
  for paper in cupc gpupc dissertation cmiknn cuda-jmi; do "$here/$paper.sh" "$here/bin" "$here/data" "$out"; done
fi
cat "$out/left-out" 2>/dev/null
exit 0
