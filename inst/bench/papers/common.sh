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
echo "${cards_there:-no nvidia-smi}" >"$out/$paper/machine"
processor=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | head -n 1)
nproc >"$out/$paper/cores"
# Each log says so, as calls into one folder may differ in cores and commit.
made_on() {
  if [ -n "$cards_there" ]; then sort <<<"$cards_there" | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /' | paste -sd ';' | sed 's/^/# machine: /'; fi
  echo "# processor: $processor"
  echo "# cores: $(cat "$out/$paper/cores")"
  sed 's/^/# /' "$(dirname "$0")/version"
}
# Seconds that the whole program may take; a run that is not begun in time, or does not end in the seconds that `run_within` gives it, is named in OUT/left-out.
ends=$((SECONDS + ${PAPERS_SECONDS:-150}))
# Cards that this program may use.
if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then cards=$(tr , '\n' <<<"$CUDA_VISIBLE_DEVICES" | wc -l); else cards=$(nvidia-smi -L 2>/dev/null | wc -l); fi

# is_wanted NAME: whether PAPERS_ONLY, a regular expression of PAPER/NAME, asks for it; what an earlier call into this folder said of it is forgotten.
is_wanted() {
  local file
  if ! [[ $paper/$1 =~ ${PAPERS_ONLY:-.} ]]; then return 1; fi
  for file in left-out seconds; do if [ -f "$out/$file" ]; then sed -i "\\#\(^\| \)$paper/$1\(:\|\$\)#d" "$out/$file"; fi; done
}

leave_out() { echo "$paper/$1: $2" >>"$out/left-out"; }

# run_within SECONDS NAME PROGRAM ARGUMENT...
run_within() {
  local limit=${PAPERS_LIMIT:-$1} name=${2//[:,]/_} status began=$SECONDS left=$((ends + 5 - SECONDS))
  shift 2
  is_wanted "$name" || return 0
  if [ "$SECONDS" -ge "$ends" ]; then
    leave_out "$name" "no time left"
    return
  fi
  { echo "# $*"; made_on; } >"$out/$paper/$name.log"
  timeout "$((left < limit ? left : limit))" "$programs/$1" "${@:2}" >>"$out/$paper/$name.log" 2>&1
  status=$?
  if [ $status != 0 ]; then leave_out "$name" "ended with $status"; fi
  echo "$((SECONDS - began)) $paper/$name" >>"$out/seconds"
}
run() { run_within 10 "$@"; }
