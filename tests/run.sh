#!/usr/bin/env bash
# Installs what is missing, builds native and WebAssembly, runs the tests, ends with the counts.
#
#   bash tests/run.sh                 the groups debug, release, wasm, browser
#   bash tests/run.sh --only NAME     one group (may be given more than once)
#   bash tests/run.sh --ci            all but release, which repeats debug; lint and guard too
#   bash tests/run.sh --list          the groups
#
# MEMSTRATA_FUZZ_SECONDS: time for each fuzz target (60). MEMSTRATA_FUZZ_SEED: of its inputs (0 = any).
# MEMSTRATA_TORCH: versions of PyTorch for the group torch ("2.5.1 2.15.0": the oldest and the newest that are tried).
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../site/setup.sh"
cd "$root" || exit 1

declare -A about=(
  [debug]="CTest with AddressSanitizer and UndefinedBehaviorSanitizer: unit, property, golden, layers, kept inputs of the fuzz targets"
  [release]="CTest with the optimised build, without the label layers"
  [wasm]="the WebAssembly build in Node, the npm package, serve and mcp: tests/wasm, tests/package/*.test.mjs"
  [browser]="the page in Chromium: tests/browser/*.spec.ts"
  [firefox]="the page, from the disk and served, and the examples in Firefox: tests/firefox/*.test.mjs"
  [lint]="clang-format, clang-tidy, ESLint, Prettier, TypeScript"
  [fuzz]="libFuzzer targets, each for a short time"
  [python]="the Python package as a wheel in empty environments; needs a network: tests/python/wheel_test.py"
  [torch]="the recorder and the profilers with a real PyTorch and with headers of CUDA, downloaded (several GB)"
  [guard]="instructions of reading and drawing against tests/bench/instructions.json"
  [fleet]="facts on a real Spark and Ray against DuckDB and a plain loop (1.2 GB are downloaded): tests/fleet"
  [peers]="the originals, installed from the Python registry (large downloads): tests/peers"
)
order=(debug release wasm browser firefox lint fuzz guard python torch fleet peers)
groups=()
while (($#)); do
  case $1 in
    --only) groups+=("${2:?--only needs a group}"); shift ;;
    --ci)
      groups=(debug wasm browser lint guard) # in about 45 minutes on 2 cores
      ;;
    --list) for name in "${order[@]}"; do printf '%-9s%s\n' "$name" "${about[$name]}"; done; exit 0 ;;
    *) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done
((${#groups[@]})) || groups=(debug release wasm browser)
for name in "${groups[@]}"; do
  [[ -n ${about[$name]:-} ]] || { echo "no group '$name'; see --list" >&2; exit 2; }
done
wanted() { [[ " ${groups[*]} " == *" $1 "* ]]; }

results=$root/build/test-results
rm -rf "$results"
mkdir -p "$results"
title() { printf '\n== %s\n' "$*"; }
# result GROUP NAME STATUS: one line of the counts.
result() { python3 tests/results.py "$results" --add "$1" "$2" "$([[ $3 == 0 ]] && echo OK || echo FAIL)"; }
# step GROUP NAME COMMAND...: a command that counts as one test.
step() {
  local group=$1 name=$2 status
  shift 2
  title "$name"
  "$@"
  status=$?
  result "$group" "$name" $status
  return $status
}
# needed NAME COMMAND...: preparation; counts only when it fails.
needed() {
  local name=$1
  shift
  title "$name"
  "$@" || { result prepare "$name" 1; return 1; }
}
finish() {
  title "Results"
  python3 tests/results.py "$results"
  exit
}

build() {
  cmake --preset "$1" >"build/configure-$1.log" 2>&1 || { tail -40 "build/configure-$1.log"; return 1; }
  cmake --build --preset "$1" "${@:2}"
}

install_all() {
  need_for_native
  need_for_wasm
  ! wanted browser || need_for_browser
  ! wanted firefox || need_for_firefox
  ! wanted lint || need_for_lint
  ! wanted fuzz || need_for_fuzz
  ! wanted guard || need valgrind valgrind
  ! wanted fleet || need java openjdk-17-jre-headless
  install_needed && setup_node
}
needed "set up" install_all || finish
[[ -d ../shared/data ]] || echo "../shared/data is not here: tests on real snapshots are skipped"

ctest_preset() { ctest --preset "$1" -j2 --output-junit "$results/$1.xml" "${@:2}"; }
# A runner that ends badly without a failed test in its results must not go unnoticed.
run_tests() {
  local name=$1
  shift
  title "$name"
  "$@" && return
  grep -qsE '<failure|<error|status="fail"' "$results/$name.xml" || result "$name" "$name ended with an error" 1
}

if wanted debug || wanted lint; then # clang-tidy reads its compile commands
  if needed "build native-debug" build native-debug && wanted debug; then
    run_tests native-debug ctest_preset native-debug -LE optimised_only
  fi
fi
if wanted release || wanted browser || wanted firefox || wanted wasm || wanted guard || wanted torch || wanted fleet || wanted peers; then # the others compare with its command line tool
  targets=()
  wanted release || targets=(--target memstrata guarded_work session_answers)
  wanted release || ! wanted torch || targets+=(memstrata_capture fake_cuda)
  wanted release || ! wanted fleet || targets+=(memstrata_file)
  if needed "build native-release" build native-release "${targets[@]}" && wanted release; then
    run_tests native-release ctest_preset native-release -LE layers
  fi
fi
if wanted wasm || wanted browser || wanted firefox || wanted lint; then
  needed "build wasm and the page" build wasm
fi

if wanted wasm && compgen -G 'tests/wasm/*.test.mjs' >/dev/null; then
  run_tests wasm node --test --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=junit --test-reporter-destination="$results/wasm.xml" tests/wasm/*.test.mjs
fi
if { wanted wasm || wanted browser || wanted firefox; } && needed "build the npm package" node site/package.mjs && wanted wasm &&
  needed "test packages" npm_ci "$root/tests"; then
  run_tests package node --test --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=junit --test-reporter-destination="$results/package.xml" tests/package/*.test.mjs
fi
if wanted browser && needed "browser test packages" npm_ci "$root/tests"; then
  run_tests browser tests/node_modules/.bin/playwright test --config tests/browser/playwright.config.ts
fi
if wanted firefox && needed "browser test packages" npm_ci "$root/tests"; then
  run_tests firefox node --test --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=junit --test-reporter-destination="$results/firefox.xml" tests/firefox/*.test.mjs
fi
if wanted lint && needed "lint packages" npm_ci "$root/web" && needed "test packages" npm_ci "$root/tests"; then
  sources() { # sources FOLDER... -- SUFFIX...
    local folders=() names=()
    while [[ $1 != -- ]]; do folders+=("$1"); shift; done
    shift
    for suffix; do names+=(-o -name "*.$suffix"); done
    find "${folders[@]}" -name node_modules -prune -o -type f \( "${names[@]:1}" \) -print 2>/dev/null
  }
  mapfile -t cpp < <(sources engine wasm capture tests -- h cpp)
  mapfile -t scripts < <(sources web site tests -- ts js mjs css html)
  step lint clang-format clang-format --dry-run -Werror "${cpp[@]}"
  step lint clang-tidy run-clang-tidy -quiet -j2 -p build/native-debug "^$root/(build/native-debug/engine/.*/Unity/|engine/.*\.cpp|capture/.*\.cpp)"
  step lint eslint web/node_modules/.bin/eslint --config web/eslint.config.js --max-warnings 0 web site tests
  step lint prettier web/node_modules/.bin/prettier --check "${scripts[@]}"
  step lint "types of the browser tests" tests/node_modules/.bin/tsc --noEmit -p tests
fi
if wanted guard; then
  title "instructions of reading and drawing"
  python3 tests/bench/guard.py
  case $? in
    0) result guard "instructions of reading and drawing" 0 ;;
    77) echo "skipped" ;;
    *) result guard "instructions of reading and drawing" 1 ;;
  esac
  title "growth of work"
  python3 tests/bench/growth.py
  case $? in
    0) result guard "growth of work" 0 ;;
    77) echo "skipped" ;;
    *) result guard "growth of work" 1 ;;
  esac
fi
if wanted python; then
  step python "the Python package as a wheel" python3 tests/python/wheel_test.py build/python
fi
if wanted torch; then
  step torch "the driver's declarations against CUDA 12 and 13" bash tests/capture/cuda_headers.sh build/cuda-headers
  step torch "a real PyTorch without a GPU" bash tests/torch/run.sh build/native-release ${MEMSTRATA_TORCH:-2.5.1 2.15.0}
fi
if wanted fleet; then
  step fleet "Spark and Ray" bash tests/fleet/run.sh build/native-release
fi
if wanted peers; then
  install_peers() {
    [[ -x build/peers/bin/python ]] || python3 -m venv build/peers || return 1
    build/peers/bin/pip install -q -r tests/peers/requirements.txt
  }
  if needed "install the originals" install_peers; then
    step peers profilers build/peers/bin/python tests/peers/profilers.py build/native-release/bin/memstrata
    step peers mem_tracker build/peers/bin/python tests/peers/mem_tracker.py build/native-release/bin/memstrata
  fi
fi
if wanted fuzz; then
  title fuzz
  MEMSTRATA_FUZZ_SEED=${MEMSTRATA_FUZZ_SEED:-0} \
    bash tests/fuzz/run.sh "${MEMSTRATA_FUZZ_SECONDS:-60}" "$results/fuzz.tsv"
fi
finish
