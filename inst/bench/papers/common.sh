#!/usr/bin/env bash
# Shared by the programs of this folder, which source it: PROGRAM.sh PROGRAMS DATA OUT. PROGRAMS has the core's programs (search_times and others), DATA what data.R
# wrote; each run leaves OUT/PAPER/NAME.log, with _ for : and , in NAME, which logs.R reads. A run with several strategies leaves what it had where its time is over.
set -uo pipefail
programs=$1 data=$2 out=$3
paper=$(basename "$0" .sh)
mkdir -p "$out/$paper"
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader >"$out/$paper/machine" 2>&1 || echo "no nvidia-smi" >"$out/$paper/machine"
# Seconds that the whole program may take; a run that is not begun in time, or does not end in the seconds that `run_within` gives it, is named in OUT/left-out.
ends=$((SECONDS + ${PAPERS_SECONDS:-150}))

# run_within SECONDS NAME PROGRAM ARGUMENT...
run_within() {
  local limit=${PAPERS_LIMIT:-$1} name=${2//[:,]/_} status began=$SECONDS left=$((ends + 5 - SECONDS))
  shift 2
  if [ "$SECONDS" -ge "$ends" ]; then
    echo "$paper/$name: no time left" >>"$out/left-out"
    return
  fi
  echo "# $*" >"$out/$paper/$name.log"
  timeout "$((left < limit ? left : limit))" "$programs/$1" "${@:2}" >>"$out/$paper/$name.log" 2>&1
  status=$?
  if [ $status != 0 ]; then echo "$paper/$name: ended with $status" >>"$out/left-out"; fi
  echo "$((SECONDS - began)) $paper/$name" >>"$out/seconds"
}
run() { run_within 10 "$@"; }
