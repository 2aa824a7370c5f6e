#!/usr/bin/env bash
# Repeats the papers' experiments on a GPU machine with the files that `make papers` packed next to this script, and writes OUT/ (default ./papers-out): run.sh [OUT] [PAPER ...].
#
# On one GPU each paper has the seconds that are written here, some 55 minutes in all. PAPERS_CARDS=4 starts four workers, each with a GPU and its share of the cores. A worker
# that is free takes the next run, and all end within PAPERS_SECONDS (540). Runs on several GPUs at once need a call of their own:
# `PAPERS_ONLY=cards run.sh OUT cuda-jmi dissertation`. table.R reads one OUT after the other. Runs of R need R and the package, as `.gpu/gpu-check.sh --only ""` of
# `make gpu-bundle` unpacks them.
#
# PAPERS_SECONDS bounds each paper, or with PAPERS_CARDS all of them; PAPERS_LIMIT bounds each run. PAPERS_ONLY, a regular expression, makes only the runs PAPER/NAME that it
# matches, and keeps the logs of the others. OUT/left-out names the runs that did not end, OUT/seconds the time of each run. Ends with 1 if a run failed, but not if its time was
# over.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-./papers-out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
declare -A seconds=([cupc]=330 [gpupc]=200 [dissertation]=1080 [cmiknn]=1200 [cuda-jmi]=200)
papers=("${@:2}")

# Runs the programs of all papers one after the other; then once more, for late runs.
child=
run_papers() {
  local paper late allowed
  trap 'if [ -n "$child" ]; then kill "$child"; wait "$child"; fi; exit 143' INT TERM HUP
  for late in 0 1; do
    for paper in "${papers[@]}"; do
      allowed=${PAPERS_SECONDS:-${seconds[$paper]}}
      if [ -n "${PAPERS_CARDS:-}" ]; then allowed=$((${PAPERS_SECONDS:-540} - SECONDS)); fi
      PAPERS_LATE=$late PAPERS_SECONDS=$allowed "$here/$paper.sh" "$here/bin" "$here/data" "$out" &
      child=$!
      wait "$child"
      child=
    done
  done
}

# Prints the cores that this process may use, sorted by processor and core.
cores_here() {
  local range allowed=" "
  for range in $(taskset -pc $$ | sed 's/^.*: //; s/,/ /g'); do allowed+="$(seq -s ' ' "${range%-*}" "${range#*-}") "; done
  lscpu -p=CPU,NODE,CORE | grep -v '^#' | sort -t, -k2,2n -k3,3n -k1,1n | while IFS=, read -r core _; do
    if [[ $allowed == *" $core "* ]]; then echo "$core"; fi
  done
}

workers=()
if [ -z "${PAPERS_CARDS:-}" ]; then
  if [ ${#papers[@]} = 0 ]; then papers=(cupc gpupc dissertation cmiknn cuda-jmi); fi
  run_papers &
  workers+=($!)
else
  # The longest papers begin first.
  if [ ${#papers[@]} = 0 ]; then papers=(cmiknn dissertation cupc gpupc cuda-jmi); fi
  PAPERS_TAKEN=$(mktemp -d)
  export PAPERS_TAKEN
  IFS=, read -ra cards <<<"${CUDA_VISIBLE_DEVICES:-$(seq -s , 0 $((PAPERS_CARDS - 1)))}"
  mapfile -t cores < <(cores_here)
  share=$((${#cores[@]} / PAPERS_CARDS))
  for ((worker = 0; worker < PAPERS_CARDS; worker++)); do
    (
      if [ $share -gt 0 ]; then taskset -pc "$(IFS=,; echo "${cores[*]:worker * share:share}")" "$BASHPID" >/dev/null; fi
      export CUDA_VISIBLE_DEVICES=${cards[worker]}
      run_papers
    ) &
    workers+=($!)
  done
fi

# Writes the runs that did not end, and the time of each run.
tell() {
  if [ -n "${PAPERS_TAKEN:-}" ]; then rm -rf "$PAPERS_TAKEN"; fi
  find "$out" -mindepth 2 -name '*.left-out' -printf '%P\n' | sort | while read -r file; do echo "${file%.left-out}: $(cat "$out/$file")"; done >"$out/left-out"
  find "$out" -mindepth 2 -name '*.log' -printf '%P\n' | while read -r file; do
    sed -n "s|^# took: \([0-9]*\) s\$|\1 ${file%.log}|p" "$out/$file"
  done | sort -rn >"$out/seconds"
  cat "$out/left-out"
}
trap 'kill "${workers[@]}" 2>/dev/null; wait; tell; exit 143' INT TERM HUP
wait
tell
! grep -qs 'ended with' <(grep -vs 'ended with 124$' "$out/left-out")
