#!/usr/bin/env bash
# Shared by the programs of this folder, which source it: PROGRAM.sh PROGRAMS DATA OUT. PROGRAMS has the core's programs (search_times and others), DATA what data.R
# wrote; each run leaves OUT/PAPER/NAME.log, with _ for : and , in NAME, which logs.R reads. A run with several strategies leaves what it had where its time is over.
set -uo pipefail
programs=$1 data=$2 out=$3
paper=$(basename "$0" .sh)
mkdir -p "$out/$paper"
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader >"$out/$paper/machine" 2>&1 || echo "no nvidia-smi" >"$out/$paper/machine"
# What was run by which commit.
if [ -z "${PAPERS_ONLY:-}" ]; then rm -f "$out/$paper/version"; fi
echo "${PAPERS_ONLY:-all}: $(paste -sd ';' "$(dirname "$0")/version" | sed 's/;/; /g')" >>"$out/$paper/version"
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
  echo "# $*" >"$out/$paper/$name.log"
  timeout "$((left < limit ? left : limit))" "$programs/$1" "${@:2}" >>"$out/$paper/$name.log" 2>&1
  status=$?
  if [ $status != 0 ]; then leave_out "$name" "ended with $status"; fi
  echo "$((SECONDS - began)) $paper/$name" >>"$out/seconds"
}
run() { run_within 10 "$@"; }
