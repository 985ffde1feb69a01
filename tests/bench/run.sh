#!/usr/bin/env bash
# Measures every budget of the project, each against its reference in the same run, and fills README.md beside
# this file. Not part of the tests; takes about an hour and some 35 GB in build/bench.
#
#   bash tests/bench/run.sh                 everything
#   bash tests/bench/run.sh --only NAME     one script: native, open, ... (may be given more than once)
#   bash tests/bench/run.sh --small         inputs of a thirtieth of the size, to try the scripts; README stays
#
# A measurement is a script tests/bench/NAME.py or NAME.mjs that prints JSON lines; see README.md. Inputs come
# from inputs.py. ../shared/tools/gen_snapshot.py must be there.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../site/setup.sh"
cd "$root" || exit 1

order=(native trace trace_view alloc calls whatif fit open served_open view state serve fleet)
names=()
small=
while (($#)); do
  case $1 in
    --only) names+=("${2:?--only needs a name}"); shift ;;
    --small) small=--small ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done
((${#names[@]})) || names=("${order[@]}")
[[ -e ../shared/tools/gen_snapshot.py ]] || { echo "../shared/tools/gen_snapshot.py is not here" >&2; exit 77; }

need_for_native
need_for_tests
need_for_wasm
need_for_browser
install_needed && setup_node || exit
out=build/bench
mkdir -p "$out"
for preset in native-release wasm; do # as they are shipped
  echo "== build $preset"
  { cmake --preset $preset -DGPUSTRATA_TESTS=$([[ $preset == wasm ]] && echo OFF || echo ON) && cmake --build --preset $preset &&
    { [[ $preset == wasm ]] || cmake --build --preset $preset --target benchmarks; }; } >"$out/$preset.log" 2>&1 ||
    { tail -30 "$out/$preset.log"; exit 1; }
done
[[ -d tests/node_modules ]] || npm ci --prefix tests --no-audit --no-fund --loglevel=error || exit

export GPUSTRATA_BENCH_INPUTS=$root/$out/inputs
status=0
for name in "${names[@]}"; do
  echo "== $name"
  results=$out/$name.jsonl
  if [[ -e tests/bench/$name.py ]]; then
    python3 "tests/bench/$name.py" $small >"$results"
  else
    node "tests/bench/$name.mjs" $small >"$results"
  fi || { echo "$name ended with an error" >&2; status=1; }
  cat "$results"
done
# Results of earlier runs of the other scripts stay in the table, with their date.
[[ -n $small ]] || python3 tests/bench/report.py "$out" tests/bench/README.md
exit $status
