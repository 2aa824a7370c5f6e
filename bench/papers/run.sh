#!/usr/bin/env bash
# On a GPU machine: repeats the papers' experiments with what `make papers` packed beside this script, and writes OUT/ (default ./papers-out): run.sh [OUT] [PAPER ...].
#
# On one card each paper has the seconds that are written here, some 55 minutes in all. PAPERS_CARDS=4 has four workers, each with a card and its share of the cores; whichever
# is free takes the next run, and all end within PAPERS_SECONDS (540). What takes several cards at once is left for a call of its own:
# PAPERS_ONLY=cards run.sh OUT cuda-jmi dissertation. table.R takes one OUT after the other. What R does is run where `.gpu/gpu-check.sh --only ""` of `make gpu-bundle` has
# unpacked R and the package.
#
# PAPERS_SECONDS bounds each paper in place of those seconds, or with PAPERS_CARDS all of them; PAPERS_LIMIT each run; PAPERS_ONLY, a regular expression, has only the runs
# PAPER/NAME that it matches, and leaves the others' logs as they are. OUT/left-out names what did not end, OUT/seconds what took how long. Ends with 1 where a run failed, but
# not where its time was over.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-./papers-out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
declare -A seconds=([cupc]=330 [gpupc]=200 [dissertation]=1080 [cmiknn]=1200 [cuda-jmi]=200)
papers=("${@:2}")

# The programs of all papers one after the other; then once more, for what comes late.
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

# The cores that this process may use, those of a processor and of a core side by side.
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
  # What takes longest begins first.
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

# What did not end, and what took how long.
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
