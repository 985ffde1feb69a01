#!/usr/bin/env bash
# Installs what is missing, builds native and WebAssembly, runs the tests, ends with the counts.
#
#   bash tests/run.sh                 the groups that need no large download: about 15 minutes on 2 cores from nothing
#   bash tests/run.sh --only NAME     one group, or one folder of tests/ that CTest knows (may be given more than once)
#   bash tests/run.sh --ci            what only .ci/run runs, after the command above; the counts are of both
#   bash tests/run.sh --list          the groups
#
# GPUSTRATA_FUZZ_SECONDS: time for each fuzz target (60). GPUSTRATA_FUZZ_SEED: of its inputs (0 = any).
# GPUSTRATA_TORCH: versions of PyTorch for the group torch ("2.5.1 2.15.0": the oldest and the newest that are tried).
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../site/setup.sh"
cd "$root" || exit 1

# A group has the name of a folder of tests/ or of a preset of CMake.
declare -A about=(
  [web]="modules of the page in Node, before anything is compiled: tests/web"
  [native-checked]="CTest with the optimised build: tests/{unit,property,golden,cli,capture,python,fleet,install,layers}"
  [wasm]="the WebAssembly build in Node: tests/wasm"
  [package]="the npm package, serve and mcp: tests/package"
  [browser]="the page in Chromium: tests/browser"
  [real]="CTest with the optimised build, what is labelled ci_only: every real file against the slow references"
  [bench]="the benchmarks on small input, for their answers: tests/bench"
  [native-debug]="CTest with AddressSanitizer and UndefinedBehaviorSanitizer, kept and changed inputs of the fuzz targets too"
  [lint]="clang-format, clang-tidy, ESLint, Prettier, TypeScript"
  [guard]="counted instructions of reading and drawing, growth of work: tests/guard"
  [alone]="every file of engine/ and capture/ compiled alone"
  [native-thread]="CTest of capture and of serve with many clients, with ThreadSanitizer"
  [fuzz]="libFuzzer targets, each for a short time: tests/fuzz"
  [firefox]="the page, from the disk and served, and the examples in Firefox: tests/firefox"
  [release]="all files of a release, made twice and used; the wheel in empty environments: tests/release"
  [torch]="the recorder and the profilers with a real PyTorch, downloaded (several GB): tests/torch"
  [spark]="facts on a real Spark and Ray against DuckDB and a plain loop (1.2 GB are downloaded): tests/spark"
  [peers]="the originals, installed from the Python registry (large downloads): tests/peers"
  [faults]="planted faults, one at a time: does a test turn red? (hours): tests/faults"
)
default=(web native-checked wasm package browser)
ci=(real bench native-debug lint guard)
by_name=(alone native-thread fuzz firefox release torch spark peers faults)
labels=(unit property golden cli capture python fleet install layers) # folders that CTest runs

groups=() filter=() more=0
while (($#)); do
  case $1 in
    --only)
      name=${2:?--only needs a group}
      shift
      if [[ " ${labels[*]} " == *" $name "* ]]; then
        filter+=("$name")
        name=native-checked
      fi
      [[ -n ${about[$name]:-} ]] || { echo "no group '$name'; see --list" >&2; exit 2; }
      groups+=("$name")
      ;;
    --ci)
      groups+=("${ci[@]}")
      more=1
      ;;
    --list)
      for name in "${default[@]}" "${ci[@]}" "${by_name[@]}"; do printf '%-16s%s\n' "$name" "${about[$name]}"; done
      exit 0
      ;;
    *) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done
((${#groups[@]})) || groups=("${default[@]}")
wanted() { local name; for name; do [[ " ${groups[*]} " == *" $name "* ]] && return 0; done; return 1; }

results=$root/build/test-results
((more)) || rm -rf "$results"
mkdir -p "$results"
# What git would take of this checkout; nothing outside of one.
taken() { git status --porcelain --untracked-files=all 2>/dev/null; }
before=$(taken)

began=$SECONDS
title() { printf '\n== %s (%d:%02d)\n' "$*" $(((SECONDS - began) / 60)) $(((SECONDS - began) % 60)); }
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
  [[ $(taken) == "$before" ]]
  step prepare "the run leaves nothing that git would take" test $? == 0 || diff <(echo "$before") <(taken)
  title "Results"
  python3 tests/results.py "$results"
  exit
}

# configure PRESET, build PRESET [OPTION...]
configure() {
  local python=()
  [[ ! -x $python_env/bin/python ]] || python=(-DPython3_EXECUTABLE="$python_env/bin/python")
  cmake --preset "$1" "${python[@]}" >"build/configure-$1.log" 2>&1 || { tail -40 "build/configure-$1.log"; return 1; }
}
build() { configure "$1" && cmake --build --preset "$@"; }

install_all() {
  need_for_native
  need_for_tests
  need_for_wasm
  ! wanted browser || need_for_browser
  ! wanted firefox || need_for_firefox
  ! wanted lint || need_for_lint
  ! wanted fuzz || need_for_fuzz
  ! wanted guard || need valgrind valgrind
  ! wanted spark || need java openjdk-17-jre-headless
  install_needed && setup_node && mkdir -p build
}
needed "set up" install_all || finish
[[ -d ../shared/data ]] || echo "../shared/data is not here: tests on real snapshots are skipped"

# What is downloaded comes while the processors work: background NAME COMMAND..., await NAME.
declare -A jobs=()
background() {
  local name=$1
  shift
  "$@" >"build/$name.log" 2>&1 &
  jobs[$name]=$!
}
await() {
  [[ -z ${jobs[$1]:-} ]] || wait "${jobs[$1]}" || { cat "build/$1.log"; return 1; }
  unset "jobs[$1]"
}
python_env=$root/build/python-env
python_packages() {
  cmp -s tests/requirements.txt "$python_env/requirements.txt" && return
  [[ -x $python_env/bin/python ]] || python3 -m venv "$python_env" || return
  "$python_env/bin/pip" install -q --disable-pip-version-check -r tests/requirements.txt &&
    cp tests/requirements.txt "$python_env/"
}
! wanted native-checked real bench native-debug lint alone native-thread release || background python-packages python_packages
needed "packages of the page" npm_ci "$root/web" || finish
! wanted wasm package browser firefox lint || background test-packages npm_ci "$root/tests"

# node_tests GROUP FILE...: Node's own runner.
node_tests() {
  local name=$1
  shift
  run_tests "$name" node --test --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=junit --test-reporter-destination="$results/$name.xml" "$@"
}
# A runner that ends badly without a failed test in its results must not go unnoticed.
run_tests() {
  local name=$1
  shift
  title "$name"
  "$@" && return
  grep -qsE '<failure|<error|status="fail"' "$results/$name.xml" || result "$name" "$name ended with an error" 1
}
# ctest_run NAME PRESET OPTION...: counts each case that a program of CTest wrote down in build/PRESET/junit.
ctest_run() {
  local name=$1 preset=$2
  shift 2
  rm -rf "build/$preset/junit"
  mkdir -p "build/$preset/junit"
  run_tests "$name" ctest --preset "$preset" -j"$(nproc)" --output-junit "$results/$name.xml" "$@"
  rm -rf "$results/$name"
  cp -r "build/$preset/junit" "$results/$name"
}

if wanted web; then
  run_tests web node tests/web/run.mjs
fi
if wanted native-checked real bench native-debug lint alone native-thread release; then
  needed "packages of Python" await python-packages || finish
fi
if wanted native-checked real bench wasm package browser firefox guard torch spark peers; then
  targets=(gpustrata session_answers) # what the others compare with
  ! wanted native-checked real bench || targets=(all)
  ! wanted bench || targets+=(benchmarks)
  ! wanted guard || targets+=(guarded_work)
  ! wanted torch || targets+=(gpustrata_capture gpustrata_file fake_cuda)
  ! wanted spark || targets+=(gpustrata_file)
  needed "build native-checked" build native-checked --target "${targets[@]}" || finish
fi
if wanted native-checked; then
  ctest_run native-checked native-checked -LE 'ci_only|bench' ${filter:+-L "^($(IFS='|'; echo "${filter[*]}"))\$"}
  ((${#filter[@]})) ||
    step native-checked "the driver's declarations against CUDA 12 and 13" bash tests/capture/cuda_headers.sh build/cuda-headers
fi
! wanted real || ctest_run real native-checked -L ci_only
! wanted bench || ctest_run bench native-checked -L bench

if wanted wasm package browser firefox; then
  needed "build wasm and the page" build wasm || finish
  needed "packages of the tests" await test-packages || finish
fi
! wanted wasm || node_tests wasm tests/wasm/*.test.mjs
if wanted package browser firefox wasm && needed "build the npm package" node site/package.mjs; then
  ! wanted package || node_tests package tests/package/*.test.mjs
  ! wanted browser || run_tests browser tests/node_modules/.bin/playwright test --config tests/browser/playwright.config.ts
  ! wanted firefox || node_tests firefox tests/firefox/*.test.mjs
fi

if wanted native-debug lint; then # clang-tidy reads its compile commands
  if needed "build native-debug" build native-debug && wanted native-debug; then
    ctest_run native-debug native-debug -LE 'optimised_only|ci_only|bench|layers'
  fi
fi
if wanted native-thread && needed "build native-thread" build native-thread --target \
  capture_tests capture_unit_tests capture_python_tests journal_tests gpu_random gpustrata; then
  # Where the kernel places memory as the sanitizer cannot have it, setarch helps.
  ctest_run native-thread native-thread -L 'capture|threads'
fi
if wanted lint && needed "packages of the tests" await test-packages; then
  sources() { # sources FOLDER... -- SUFFIX...
    local folders=() names=()
    while [[ $1 != -- ]]; do folders+=("$1"); shift; done
    shift
    for suffix; do names+=(-o -name "*.$suffix"); done
    find "${folders[@]}" -name node_modules -prune -o -type f \( "${names[@]:1}" \) -print 2>/dev/null
  }
  mapfile -t cpp < <(sources engine wasm capture tests -- h cpp)
  mapfile -t scripts < <(sources engine web site tests -- ts js mjs css html)
  step lint clang-format clang-format --dry-run -Werror "${cpp[@]}"
  step lint clang-tidy run-clang-tidy -quiet -j"$(nproc)" -p build/native-debug "^$root/(build/native-debug/engine/.*/Unity/|engine/.*\.cpp|capture/.*\.cpp)"
  step lint eslint web/node_modules/.bin/eslint --config web/eslint.config.js --max-warnings 0 engine web site tests
  step lint prettier web/node_modules/.bin/prettier --check "${scripts[@]}"
  step lint "types of the browser tests" tests/node_modules/.bin/tsc --noEmit -p tests
fi
if wanted alone && needed "configure native-debug" configure native-debug; then
  step alone "every file compiles alone" bash tests/layers/stands_alone.sh build/native-debug
fi
if wanted guard; then
  step guard "instructions of reading and drawing" python3 tests/guard/instructions.py
  step guard "growth of work" python3 tests/guard/growth.py
fi
if wanted release; then
  step release "files of a release, made twice" bash site/release.sh --twice
  run_tests release "$python_env/bin/python" -m pytest -s --junitxml="$results/release.xml" tests/release/release_test.py tests/release/wheel_test.py
fi
if wanted torch; then
  step torch "a real PyTorch without a GPU" bash tests/torch/run.sh build/native-checked ${GPUSTRATA_TORCH:-2.5.1 2.15.0}
fi
if wanted spark; then
  step spark "Spark and Ray" bash tests/spark/run.sh build/native-checked
fi
if wanted peers; then
  install_peers() {
    [[ -x build/peers/bin/python ]] || python3 -m venv build/peers || return 1
    build/peers/bin/pip install -q -r tests/peers/requirements.txt
  }
  if needed "install the originals" install_peers; then
    step peers profilers build/peers/bin/python tests/peers/profilers.py build/native-checked/bin/gpustrata
  fi
fi
if wanted fuzz; then
  title fuzz
  GPUSTRATA_FUZZ_SEED=${GPUSTRATA_FUZZ_SEED:-0} \
    bash tests/fuzz/run.sh "${GPUSTRATA_FUZZ_SECONDS:-60}" "$results/fuzz.tsv"
fi
! wanted faults || step faults "planted faults" python3 tests/faults/plant.py
finish
