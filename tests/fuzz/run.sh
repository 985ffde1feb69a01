#!/usr/bin/env bash
# Builds the fuzz targets and runs each for SECONDS, two at a time.
#
#   bash tests/fuzz/run.sh [SECONDS=60] [RESULTS=build/fuzz/results.tsv]
#
# GPUSTRATA_FUZZ_FLAGS: of the compiler ("-O1 -g1"); "-O0 -g1" builds in half the time, for a run that is short anyway.
# GPUSTRATA_FUZZ_SEED: another seed, other inputs; 0 or none = any. With one, a run repeats as far as its time goes.
# tests/fuzz/corpus/<target>/ holds the kept inputs, also those that once failed, and tests/fuzz/<target>.dict,
# where present, the words of the format. New inputs gather in build/fuzz/corpus/<target>/, inputs that fail in
# build/fuzz/failed/. Every target has the mutator of tests/fuzz/mutator. Run one by hand:
#   build/fuzz/bin/<target> build/fuzz/failed/<target>-crash-...
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
seconds=${1:-60}
out=build/fuzz
results=${2:-$out/results.tsv}
mkdir -p "$out/failed"
: >"$results"

if ! compgen -G 'tests/fuzz/*.cpp' >/dev/null; then
  echo "no fuzz targets yet"
  exit 0
fi
if ! { cmake --preset fuzz -DCMAKE_CXX_FLAGS_DEBUG="${GPUSTRATA_FUZZ_FLAGS:--O1 -g1}" >"$out/configure.log" && cmake --build --preset fuzz; }; then
  printf 'failed\tbuild of the fuzz targets\n' >>"$results"
  exit 1
fi

run_one() {
  local target=$1 seconds=$2 out=$3 results=$4 kept=tests/fuzz/corpus/$1
  mkdir -p "$out/corpus/$target"
  [[ -d $kept ]] || kept=
  local words=tests/fuzz/$target.dict
  [[ -e $words ]] || words=
  # A hostile file must not take more than this memory or time, whatever it says.
  if "$out/bin/$target" -seed="${GPUSTRATA_FUZZ_SEED:-0}" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
    ${words:+-dict="$words"} -print_final_stats=1 -artifact_prefix="$out/failed/$target-" "$out/corpus/$target" ${kept:+"$kept"} \
    >"$out/$target.log" 2>&1; then
    echo "fuzz $target: $(grep -o 'number_of_executed_units: .*' "$out/$target.log")"
    printf 'passed\t%s\n' "$target" >>"$results"
  else
    tail -60 "$out/$target.log"
    echo "fuzz $target: FAILED, see $out/$target.log"
    printf 'failed\t%s\n' "$target" >>"$results"
  fi
}
export -f run_one
for source in tests/fuzz/*.cpp; do basename "$source" .cpp; done |
  xargs -P2 -I{} bash -c 'run_one "$@"' _ {} "$seconds" "$out" "$results"
! grep -q ^failed "$results"
