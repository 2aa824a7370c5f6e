#!/usr/bin/env bash
# Functions that the programs of this folder share, which source this file: PROGRAM.sh PROGRAMS DATA OUT. PROGRAMS has the core's programs (search_times and others). DATA has
# the files that data.R wrote. Each run leaves OUT/PAPER/NAME.log, with _ for : and , in NAME, for logs.R: the call, the machine, and the output. A run with several strategies
# leaves what it has when its time is over.
set -uo pipefail
programs=$1 data=$2 out=$3
paper=$(basename "$0" .sh)
mkdir -p "$out/$paper"
# The GPUs of the machine, its CPU, and the cores that a run may use, as `taskset` allows.
cards_there=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null) || cards_there=
processor=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -n 1)
# Each log names them, because calls into one folder may differ in cores and commit. The last line, which table.R does not show, has the place on the machine.
made_on() {
  if [ -n "$cards_there" ]; then
    sort <<<"$cards_there" | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /' | paste -sd ';' | sed "s/^/# machine: /; s/\$/${PAPERS_TAKEN:+, a run on each}/"
  fi
  echo "# processor: $processor"
  echo "# cores: $(nproc)"
  sed 's/^/# /' "$(dirname "$0")/version"
  echo "# on cards: ${CUDA_VISIBLE_DEVICES:-all}, cores $(taskset -pc $$ 2>/dev/null | sed 's/^.*: //')"
}
# Seconds that the whole program may take. A run that does not begin in time, or does not end in the seconds that `run_within` gives it, has a file NAME.left-out with the reason.
ends=$((SECONDS + ${PAPERS_SECONDS:-150}))
# GPUs that this program may use.
if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then cards=$(tr , '\n' <<<"$CUDA_VISIBLE_DEVICES" | wc -l); else cards=$(nvidia-smi -L 2>/dev/null | wc -l); fi

# is_wanted NAME: whether this call should make this run. PAPERS_ONLY, a regular expression of PAPER/NAME, must match; its turn must be now (run_late); and no other worker may
# have taken it, if several share the runs (run.sh has a worker for each GPU). Removes the message of an earlier call into this folder.
is_wanted() {
  [[ $paper/$1 =~ ${PAPERS_ONLY:-.} ]] || return 1
  [ "${late:-0}" = "${PAPERS_LATE:-0}" ] || return 1
  if [ -n "${PAPERS_TAKEN:-}" ]; then mkdir "$PAPERS_TAKEN/$paper--$1" 2>/dev/null || return 1; fi
  rm -f "$out/$paper/$1.left-out"
}

leave_out() { echo "$2" >"$out/$paper/$1.left-out"; }

# A run that ends by a signal, or is killed, keeps the message "interrupted", which is written before the run begins.
child=
trap 'if [ -n "$child" ]; then kill "$child" 2>/dev/null; fi; exit 143' INT TERM HUP

# run_within SECONDS NAME PROGRAM ARGUMENT...
run_within() {
  local limit=${PAPERS_LIMIT:-$1} name=${2//[:,]/_} status began=$SECONDS left=$((ends + 5 - SECONDS))
  shift 2
  is_wanted "$name" || return 0
  if [ "$SECONDS" -ge "$ends" ]; then
    leave_out "$name" "no time left"
    return
  fi
  leave_out "$name" "interrupted"
  { echo "# $*"; made_on; } >"$out/$paper/$name.log"
  timeout "$((left < limit ? left : limit))" "$programs/$1" "${@:2}" >>"$out/$paper/$name.log" 2>&1 &
  child=$!
  wait "$child"
  status=$?
  child=
  if [ $status = 0 ]; then rm "$out/$paper/$name.left-out"; else leave_out "$name" "ended with $status"; fi
  echo "# took: $((SECONDS - began)) s" >>"$out/$paper/$name.log"
}
run() { run_within 10 "$@"; }
# Makes a run after all others: run.sh calls the programs once more for it, with PAPERS_LATE=1.
run_late() { late=1 run_within "$@"; }
