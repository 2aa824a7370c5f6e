#!/usr/bin/env bash
# Shared by the programs of this folder, which source it: PROGRAM.sh PROGRAMS DATA OUT. PROGRAMS has the core's programs (search_times and others), DATA what data.R
# wrote; each run leaves OUT/PAPER/NAME.log, with _ for : and , in NAME, which logs.R reads: the call, what it was made on, and what it printed. A run with several
# strategies leaves what it had where its time is over.
set -uo pipefail
programs=$1 data=$2 out=$3
paper=$(basename "$0" .sh)
mkdir -p "$out/$paper"
# The cards of the machine, its CPU, and the cores of it that a run may use, as `taskset` allows.
cards_there=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null) || cards_there=
processor=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -n 1)
# Each log says so, as calls into one folder may differ in cores and commit; and, behind what table.R tells of it, where on the machine it was run.
made_on() {
  if [ -n "$cards_there" ]; then
    sort <<<"$cards_there" | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /' | paste -sd ';' | sed "s/^/# machine: /; s/\$/${PAPERS_TAKEN:+, a run on each}/"
  fi
  echo "# processor: $processor"
  echo "# cores: $(nproc)"
  sed 's/^/# /' "$(dirname "$0")/version"
  echo "# on cards: ${CUDA_VISIBLE_DEVICES:-all}, cores $(taskset -pc $$ 2>/dev/null | sed 's/^.*: //')"
}
# Seconds that the whole program may take; a run that is not begun in time, or does not end in the seconds that `run_within` gives it, has a file NAME.left-out, which says so.
ends=$((SECONDS + ${PAPERS_SECONDS:-150}))
# Cards that this program may use.
if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then cards=$(tr , '\n' <<<"$CUDA_VISIBLE_DEVICES" | wc -l); else cards=$(nvidia-smi -L 2>/dev/null | wc -l); fi

# is_wanted NAME: whether this call is to make this run: PAPERS_ONLY, a regular expression of PAPER/NAME, asks for it; its turn is now (run_late); and of several workers that
# share the runs, as run.sh has them for several cards, no other has taken it. What an earlier call into this folder said of it is forgotten.
is_wanted() {
  [[ $paper/$1 =~ ${PAPERS_ONLY:-.} ]] || return 1
  [ "${late:-0}" = "${PAPERS_LATE:-0}" ] || return 1
  if [ -n "${PAPERS_TAKEN:-}" ]; then mkdir "$PAPERS_TAKEN/$paper--$1" 2>/dev/null || return 1; fi
  rm -f "$out/$paper/$1.left-out"
}

leave_out() { echo "$2" >"$out/$paper/$1.left-out"; }

# What a signal ends keeps the word that it was interrupted, which is written before anything is run; so does what is killed.
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
# What comes when all else is done: run.sh calls the programs once more for it, with PAPERS_LATE=1.
run_late() { late=1 run_within "$@"; }
