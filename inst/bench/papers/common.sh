# Shared by the programs of this folder, which source it: PROGRAM.sh PROGRAMS DATA OUT. PROGRAMS has the core's programs (search_times and others), DATA what data.R
# wrote; each run leaves OUT/PAPER/NAME.log, with _ for : and , in NAME, which table.R reads.
set -uo pipefail
programs=$1 data=$2 out=$3
paper=$(basename "$0" .sh)
mkdir -p "$out/$paper"
# Seconds that a run may take, and that the whole program may; a run that is not begun in time is named in OUT/left-out.
limit=${PAPERS_LIMIT:-30}
ends=$((SECONDS + ${PAPERS_SECONDS:-100}))

# run NAME PROGRAM ARGUMENT...
run() {
  local name=${1//[:,]/_} status left=$((ends + 5 - SECONDS))
  shift
  if [ "$SECONDS" -ge "$ends" ]; then
    echo "$paper/$name: no time left" >>"$out/left-out"
    return
  fi
  echo "# $*" >"$out/$paper/$name.log"
  timeout "$((left < limit ? left : limit))" "$programs/$1" "${@:2}" >>"$out/$paper/$name.log" 2>&1
  status=$?
  if [ $status != 0 ]; then echo "$paper/$name: ended with $status" >>"$out/left-out"; fi
}
