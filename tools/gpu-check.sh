#!/usr/bin/env bash
# Tests and times pcgpu on a machine with an NVIDIA GPU and its driver, from what tools/gpu-bundle packed next to this script. Run it as
# root, on Ubuntu 24.04 or anything with a C library as new:
#
#   gpu-check.sh [--only PART,...] [--out FOLDER] [--limit PART=SECONDS]...
#
# Parts, and the most seconds that each takes:
#   rust-tests 400   the core's tests, among them those of the CUDA engine.
#   r-tests    400   tests/testthat with the GPU tests switched on.
#   sanitize   200   compute-sanitizer's four tools on small searches and selections, if installed.
#   sanitize-machines 200   the same tools on teams, blocks, budgets and unified memory, if installed.
#   profile     50   Nsight Compute on the kernels of a search, if installed.
#   bench      300   times on this GPU and CPU, with a comparison of the answers.
#   first      150   first calls of a process, with an empty cache of compiled kernels.
#   selection   40   times of feature selection on simulated data of the shapes of CUDA-JMI's.
#   neighbours 240   times of the nearest-neighbour tests, as in the tables of GPU_CMIknn, and of searches with them.
#   versus     550   times compared with an earlier package, if its bundle's pcgpu.tar.xz is next to this script as before.tar.xz.
#
# It writes FOLDER/report.md (default: $OUT, else ./gpu-report), one log for each part, and rows for bench/results.csv and bench/gpu-runs.csv in
# files of these names. It exits with 1 if a test failed, a tool found something, or a part ran out of time.
set -uo pipefail

bundle=$(cd "$(dirname "$0")" && pwd)
home=/opt/pcgpu-check
out=${OUT:-./gpu-report}
parts="rust-tests r-tests sanitize sanitize-machines profile bench first selection neighbours versus"
declare -A limit=([rust-tests]=400 [r-tests]=400 [sanitize]=200 [sanitize-machines]=200 [profile]=50 [bench]=300 [first]=150 [selection]=40 [neighbours]=240 [versus]=550)
only=$parts

usage() {
  sed -n '2,/^set /p' "$0" | sed -n 's/^# \{0,1\}//p' >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    --only) only=${2//,/ }; shift ;;
    --out) out=$2; shift ;;
    --help | -h) usage ;;
    --limit) limit[${2%%=*}]=${2##*=}; shift ;;
    *) usage ;;
  esac
  shift || usage
done
for part in $only "${!limit[@]}"; do
  case " $parts " in *" $part "*) ;; *) echo "gpu-check.sh: there is no part '$part'" >&2; usage ;; esac
done

mkdir -p "$out"
out=$(cd "$out" && pwd)
report=$out/report.md
: >"$report"
failures=0

tell() { printf '%s\n' "$*" | tee -a "$report"; }
failed() { failures=$((failures + 1)); tell "**FAILED: $***"; tell ""; }

# Appends a row of gpu-runs.csv: part, passed, failed, skipped, note.
keep_run() {
  if [ ! -s "$out/gpu-runs.csv" ]; then echo date,machine,driver,commit,part,passed,failed,skipped,note >"$out/gpu-runs.csv"; fi
  printf '%s,"%s",%s,%s,%s,%s,%s,%s,"%s"\n' "$(date -u +%F)" "$machine" "$driver" "$PCGPU_COMMIT" "$1" "$2" "$3" "$4" "$5" >>"$out/gpu-runs.csv"
}
# The number before a word of a line, as in "608 passed, 0 failed".
count_of() { grep -oE "[0-9]+ $1" <<<"$2" | grep -oE '^[0-9]+'; }

# Runs a command for what is left of the current part's time; its output goes to the part's log. Exits as the command does, or with 124 when
# the time is over.
within() {
  local left=$((deadline - SECONDS))
  if [ "$left" -le 0 ]; then
    echo "no time left for: $*" >>"$log"
    return 124
  fi
  timeout --kill-after=5 "$left" "$@" >>"$log" 2>&1
}
outcome() {
  case $1 in
    0) echo passed ;;
    124 | 137) echo "out of time" ;;
    *) echo "FAILED (exit status $1)" ;;
  esac
}

# Makes $2 a link to $1, unless it is there.
link() {
  if [ ! -e "$2" ]; then
    mkdir -p "$(dirname "$2")"
    ln -s "$1" "$2"
  fi
}

unpack() {
  if command -v Rscript >/dev/null 2>&1 && [ ! -e /opt/r-libs/PACKED ]; then
    echo "gpu-check.sh: R is installed here, and unpacking another over it would break it. Use a container or a machine" \
      "without R, for instance: docker run --gpus all -v \$PWD:/bundle ubuntu:24.04 /bundle/gpu-check.sh" >&2
    exit 2
  fi
  rm -rf "$home"
  mkdir -p "$home"
  if [ ! -e /opt/r-libs/PACKED ]; then tar -C / -xf "$bundle/r.tar.xz" || exit 2; fi
  tar -C "$home" -xf "$bundle/pcgpu.tar.xz" || exit 2
  if [ -f "$bundle/data.tar" ]; then
    mkdir -p "$home/data"
    tar -C "$home/data" -xf "$bundle/data.tar" || exit 2
  fi
  # The Rust tests look for recorded answers in the folders that they were compiled in: the crate's, and the package's three above it.
  local core
  core=$(cat "$home/compiled-at")
  link "$home/core/tests/golden" "$core/tests/golden"
  link "$home/tests/testthat/golden" "${core%/*/*/*}/tests/testthat/golden"
}

export LD_LIBRARY_PATH="/opt/r-libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export R_LIBS="$home/lib" PCGPU_TEST_CUDA=1 PCGPU_TEST_DRIVER="$home/driver" PCGPU_BENCH_DATA="$home/data" LC_ALL=C.UTF-8
started=$SECONDS
unpack
PCGPU_COMMIT=$(sed -n 's/^commit: //p' "$home/version")
export PCGPU_COMMIT
# The machine as bench/program.R names it.
gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | wc -l)
machine="$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sed -n '1s/ [0-9]*GB.*//;1p'), $(nproc) cores"
if [ "$gpus" -gt 1 ]; then machine="$gpus $machine"; fi
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)

tell "# pcgpu on a GPU"
tell ""
sed 's/^/- /' "$home/version" | tee -a "$report"
tell "- date: $(date -u '+%Y-%m-%d %H:%M UTC')"
tell "- CPU: $(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) cores; kernel $(uname -r)"
if command -v nvidia-smi >/dev/null 2>&1; then
  nvidia-smi --query-gpu=name,driver_version,memory.total,memory.used --format=csv,noheader |
    sed 's/^/- GPU: /' | tee -a "$report"
fi
tell ""
tell '```'
Rscript -e 'library(pcgpu); pcgpu_info(); pcgpu_devices()' 2>&1 | tee -a "$report"
tell '```'
tell ""

rust_tests() {
  local run status result
  tell "| program | outcome | tests | seconds |"
  tell "|---|---|---|---|"
  # Tests that must notice an interrupt within a given time run alone, at the end.
  for run in "pcgpu_core" "core --include-ignored --skip interrupt --skip layers" "core --ignored --test-threads=1 interrupt"; do
    local begun=$SECONDS at
    at=$(stat -c %s "$log")
    echo "== $run" >>"$log"
    # shellcheck disable=SC2086
    within "$home"/bin/tests/$run
    status=$?
    result=$(tail -c +"$at" "$log" | sed -n 's/^test result: [a-zA-Z]*\. \(.*\); 0 measured.*/\1/p' | tail -n 1)
    tell "| $run | $(outcome $status) | $result | $((SECONDS - begun)) |"
    keep_run "rust-tests" "$(count_of passed "$result")" "$(count_of failed "$result")" "$(count_of ignored "$result")" "$run: $(outcome $status), $((SECONDS - begun)) s"
    if [ $status != 0 ]; then failures=$((failures + 1)); fi
  done
  tell ""
}

r_tests() {
  (cd "$home" && within Rscript tools/run-testthat.R plot_cpdag)
  # (Drawing needs a cairo library, which is not packed.)
  local status=$?
  if [ $status != 0 ]; then failed "R tests: $(outcome $status)"; fi
  local result
  result=$(grep -E '^[0-9]+ passed, ' "$log" | tail -n 1)
  tell "$result"
  keep_run r-tests "$(count_of passed "$result")" "$(count_of failed "$result")" "$(count_of skipped "$result")" "$(outcome $status)"
  tell ""
}

has_sanitizer() {
  if ! command -v compute-sanitizer >/dev/null 2>&1; then
    tell "compute-sanitizer is not on this machine: not run."
    tell ""
    return 1
  fi
  tell "| tool | program | outcome | seconds | summary |"
  tell "|---|---|---|---|---|"
}

# Runs a program, with its arguments, under one of the tools, while others run. Its output goes to the part's log once it has ended.
sanitized() {
  local tool=$1 own status begun=$SECONDS summary
  shift
  own=$(mktemp "$out/sanitized.XXXXXX")
  echo "== $tool $* ${PCGPU_TEST_PROBLEMS:+($PCGPU_TEST_PROBLEMS)}" >"$own"
  (log=$own; within compute-sanitizer --tool "$tool" --error-exitcode 9 "$home/bin/$1" "${@:2}")
  status=$?
  summary=$(grep -E '=+ (ERROR|RACECHECK) SUMMARY' "$own" | tail -n 1 | tr -d '=')
  tell "| $tool | $* ${PCGPU_TEST_PROBLEMS:-} | $(outcome $status) | $((SECONDS - begun)) | $summary |"
  cat "$own" >>"$log"
  rm "$own"
  return $status
}

# Waits for the programs that run in parallel, and counts failures.
sanitizers_end() {
  local job
  for job in $(jobs -p); do
    wait "$job" || failures=$((failures + 1))
  done
}

# Runs in parallel: one after the other, the tools would not finish in time, as racecheck takes longest by far. racecheck gets single
# searches, as all small ones take it more than 5 minutes.
sanitize() {
  local tool program
  # The Gaussian test's searches, feature selection, and those of the other tests that use all kernels.
  local programs=("selection --check-small" "tests/core --ignored discrete_cuda::questions_of" "tests/core --ignored discrete_cuda::little"
    "tests/core --ignored papers_cuda::tables" "tests/core --ignored knn_cuda::memory_stays")
  local searches=("search_times dense:300,100,0.3,1 0.01 stable 1 cuda shared,lists,columns,masks 1" "search_times sim:400,60,2,1 0.01 stable.fast 1 cuda shared 99"
    "search_times sim:1000,100,2,1 0.01 stable.fast 0 cuda shared 99 compact memory=1/8")
  has_sanitizer || return
  for tool in memcheck synccheck initcheck; do
    for program in "search_times --check-small" "${programs[@]}"; do
      # shellcheck disable=SC2086
      sanitized "$tool" $program &
    done
  done
  sanitizers_end
  for program in "${searches[@]}" "${programs[@]}"; do
    # shellcheck disable=SC2086
    sanitized racecheck $program &
  done
  sanitizers_end
  tell ""
}

# Checks every machine that has a GPU, on the problems of an emulated one: memcheck on all, the other tools on some, racecheck on each by
# itself. memcheck runs alone: with eight other tools on the GPU it reports "Error in printing record", then a launch failure.
sanitize_machines() {
  local tool problem few="gauss-p8,dense 3,data 23,dis-p6,neighbours Gao,simulated Jmi"
  has_sanitizer || return
  export PCGPU_TEST_LITTLE=1
  sanitized memcheck tests/core --ignored one_answer_cuda || failures=$((failures + 1))
  for tool in synccheck initcheck; do
    PCGPU_TEST_PROBLEMS=$few sanitized $tool tests/core --ignored one_answer_cuda &
  done
  while read -r -d , problem; do
    PCGPU_TEST_PROBLEMS=$problem sanitized racecheck tests/core --ignored one_answer_cuda &
  done <<<"$few,"
  sanitizers_end
  unset PCGPU_TEST_LITTLE
  tell ""
}

profile() {
  if ! command -v ncu >/dev/null 2>&1; then
    tell "Nsight Compute (ncu) is not on this machine: not run."
    tell ""
    return
  fi
  local metrics=gpu__time_duration.sum,launch__registers_per_thread,sm__warps_active.avg.pct_of_peak_sustained_active
  metrics+=,sm__throughput.avg.pct_of_peak_sustained_elapsed,dram__throughput.avg.pct_of_peak_sustained_elapsed
  metrics+=,lts__throughput.avg.pct_of_peak_sustained_elapsed,sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active
  # S. aureus has work at all levels from 1 to 5. The GPU's clocks are left as they are, as others may use it, too.
  local matrix=sim:2000,150,4,1
  if [ -d "$home/data" ]; then
    matrix=$home/profile.bin
    within Rscript "$home/bench/matrix.R" saureus "$matrix"
  fi
  within ncu --clock-control none --csv --page raw --metrics "$metrics" \
    "$home/bin/search_times" "$matrix" 0.05 stable.fast 0 cuda
  local status=$?
  tell "$matrix, alpha 0.05:"
  tell ""
  if [ $status != 0 ]; then failed "ncu: $(outcome $status)"; fi
  # The longest launch of each kernel.
  Rscript - "$log" <<'R' | tee -a "$report"
lines <- grep("^\"", readLines(commandArgs(TRUE)[1]), value = TRUE)
if (length(lines) > 2) {
  names <- c(time = "gpu__time_duration.sum", registers = "launch__registers_per_thread",
             warps = "sm__warps_active", sm = "sm__throughput", fp64 = "sm__inst_executed_pipe_fp64",
             dram = "dram__throughput", l2 = "lts__throughput")
  table <- utils::read.csv(text = lines, check.names = FALSE, colClasses = "character")
  units <- table[1, ]
  table <- table[-1, ]
  number <- function(name) as.numeric(gsub(",", "", table[[grep(name, names(table), fixed = TRUE)[1]]]))
  values <- as.data.frame(lapply(names, number))
  values$kernel <- table[["Kernel Name"]]
  longest <- do.call(rbind, lapply(split(values, values$kernel), function(rows) {
    cbind(rows[which.max(rows$time), ], launches = nrow(rows), total = sum(rows$time))
  }))
  longest <- longest[order(-longest$total), ]
  unit <- units[[grep(names[["time"]], names(units), fixed = TRUE)[1]]]
  cat(sprintf("| kernel | launches | total %s | longest %s | registers | active warps %% | SM %% | double %% | DRAM %% | L2 %% |\n",
              unit, unit), "|---|---|---|---|---|---|---|---|---|---|\n", sep = "")
  with(longest, cat(sprintf("| `%s` | %d | %.4g | %.4g | %.0f | %.1f | %.1f | %.1f | %.1f | %.1f |\n",
                            kernel, launches, total, time, registers, warps, sm, fp64, dram, l2), sep = ""))
}
R
  tell ""
}

bench() {
  (cd "$home" && within Rscript bench/gpu.R --out="$out" --seconds="$((deadline - SECONDS - 5))" --csv="$out/results.csv")
  local status=$?
  if [ $status != 0 ]; then failed "benchmark: $(outcome $status)"; fi
  if [ -f "$out/bench.md" ]; then cat "$out/bench.md" >>"$report"; fi
  tell ""
}

first() {
  local status
  tell '```'
  within "$home/bin/first_call"
  status=$?
  if [ $status != 0 ]; then failed "first_call: $(outcome $status)"; fi
  tee -a "$report" <"$log"
  tell '```'
  tell ""
}

# The shapes of CUDA-JMI's data, 200 features by JMI.
selection() {
  local shape status
  tell '```'
  for shape in "24481 97 2" "27679 90 43" "47236 20242 2" "62061 15935 20" "3072 531131 10"; do
    # shellcheck disable=SC2086
    within "$home/bin/selection" $shape 64 200 repeats=3
    status=$?
    if [ $status != 0 ]; then failed "selection $shape: $(outcome $status)"; fi
  done
  grep -E '^(==|GPU|floor)' "$log" | tee -a "$report"
  tell '```'
  tell ""
}

neighbours() {
  local search status
  tell '```'
  for search in "synthetic:1000:1000 7 100 15 0.01" "$home/data/expression/NCI-60.csv.gz 7 100 15 0.01"; do
    if [ "${search#/}" != "$search" ] && [ ! -d "$home/data" ]; then continue; fi
    # shellcheck disable=SC2086
    within "$home/bin/knn_cuda" search $search
    status=$?
    if [ $status != 0 ]; then failed "knn_cuda search $search: $(outcome $status)"; fi
  done
  within "$home/bin/knn_cuda" tests
  status=$?
  if [ $status != 0 ]; then failed "knn_cuda tests: $(outcome $status)"; fi
  if grep -q DIFFERENT "$log"; then failed "the CPU's or another strategy's answer differs"; fi
  tee -a "$report" <"$log"
  tell '```'
  tell ""
}

versus() {
  if [ ! -f "$bundle/before.tar.xz" ]; then
    tell "There is no earlier package (before.tar.xz): not run."
    tell ""
    return
  fi
  mkdir -p "$home/before"
  tar -C "$home/before" -xf "$bundle/before.tar.xz" ./lib || exit 2
  (cd "$home" && within Rscript bench/versus.R "$home/before/lib" "$home/lib" --device=cuda --processes=2 --row-seconds=15 \
    --seconds="$((deadline - SECONDS - 60))" --csv="$out/results.csv")
  local status=$?
  if [ $status != 0 ]; then failed "versus: $(outcome $status)"; fi
  cat "$log" >>"$report"
  tell ""
}

for part in $parts; do
  case " $only " in *" $part "*) ;; *) continue ;; esac
  log=$out/$part.log
  : >"$log"
  begun=$SECONDS
  failed_before=$failures
  deadline=$((SECONDS + limit[$part]))
  tell "## $part"
  tell ""
  "${part//-/_}"
  case $part in rust-tests | r-tests) ;; *) keep_run "$part" "" $((failures - failed_before)) "" "$((SECONDS - begun)) s" ;; esac
  tell "$part took $((SECONDS - begun)) s of at most ${limit[$part]}; log: $(basename "$log")"
  tell ""
done

tell "All parts: $((SECONDS - started)) s, $failures failed."
[ "$failures" = 0 ]
